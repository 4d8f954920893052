//! Payloads, flags and codes that are not in the table of events.

use super::reported::is_first;
use super::{ThreadCheck, TraceContext};
use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::layout::{
    self, Effect, EventRow, EventSummary, JUMBO_CODE, MODELS, Payload, RESERVED_FLAGS, ThreadStep,
    model,
};
use crate::formats::ovni::rules;
use crate::kit::text::Untrusted;
use crate::kit::words::byte_count;
use crate::report::Severity;

impl ThreadCheck<'_, '_> {
    /// Checks an event whose payload is not the one of the newest version.
    #[cold]
    pub(super) fn check_payload_size(
        &mut self,
        event: &Event<'_>,
        summary: &EventSummary,
        row: &EventRow,
        context: &TraceContext,
    ) {
        if !event.is_jumbo()
            && summary.model == model::NOSV
            && let Some(old) = layout::row_with_payload(event.code, event.payload_len())
        {
            self.usage.has_old_nosv = true;
            let required = self.terms.required.get(usize::from(model::NOSV)).copied().flatten();
            if required.is_none_or(|(major, ..)| major < 2) {
                self.check_and_apply(event, summary, old, context);
                return;
            }
        }
        let message = describe_payload(event, row);
        let mut finding = self.build_finding(&rules::PAYLOAD_SIZE, event, "payload", message);
        let is_harmless = has_all_fields(event, summary, row) || has_no_needed_field(row);
        if is_harmless {
            finding.severity = Severity::Warning;
        }
        self.log.push(finding);
        let is_start = matches!(row.effect, Effect::Thread(ThreadStep::Execute));
        if is_start && !is_harmless {
            self.move_thread(event, ThreadStep::Execute);
        } else if is_harmless || matches!(row.effect, Effect::Thread(_)) {
            self.check_and_apply(event, summary, row, context);
        }
    }

    #[cold]
    pub(super) fn check_flags(&mut self, event: &Event<'_>) {
        if event.flags & RESERVED_FLAGS != 0 && is_first(&mut self.reported.flags) {
            let message = format!(
                "{} has flags {:#04x}, expected bits 5 to 7 to be 0",
                event.name(),
                event.flags
            );
            self.push_finding(&rules::RESERVED_FLAGS, event, "flags", message);
        }
        let code = event.flags & 0x0f;
        if event.is_jumbo() && code != JUMBO_CODE && is_first(&mut self.reported.jumbo_code) {
            let message = format!(
                "{} has payload code {code}, expected {JUMBO_CODE} for a jumbo event",
                event.name()
            );
            self.push_finding(&rules::JUMBO_CODE, event, "flags", message);
        }
    }

    /// An event whose code is not in the table.
    #[cold]
    pub(super) fn check_unknown_event(&mut self, event: &Event<'_>, context: &TraceContext) {
        let [first, ..] = event.code;
        let Some(model) = layout::model_index(first) else {
            let models = &mut self.reported.unknown_models;
            if models.len() < context.limits.kinds && models.insert(first) {
                let message =
                    format!("unknown model `{}`; its events are kept", Untrusted(&[first]));
                self.push_finding(&rules::UNKNOWN_MODEL, event, "", message);
            }
            return;
        };
        let index = usize::from(model);
        let place = self.place_of(event);
        if let Some(used) = self.usage.first.get_mut(index) {
            used.get_or_insert(place);
        }
        let name = MODELS.get(index).map_or("", |model| model.name);
        let message = format!("unknown event {}: model {name} does not define it", event.name());
        let mut finding = self.build_finding(&rules::UNKNOWN_EVENT, event, "", message);
        let is_ignored = model == model::OVNI && matches!(event.code, [_, b'U' | b'B', _]);
        let is_enabled = context.enabled.get(index).copied().unwrap_or(false);
        if is_ignored || context.has_metadata && !is_enabled {
            finding.severity = Severity::Info;
        }
        self.log.push(finding);
    }
}

/// Whether an event has all fields, and only bytes after them that the tools ignore.
fn has_all_fields(event: &Event<'_>, summary: &EventSummary, row: &EventRow) -> bool {
    // The tools check only the size of these events, or read fields that do not exist.
    let is_exact = matches!(row.effect, Effect::AffinitySet | Effect::AffinityRemote)
        || matches!(row.effect, Effect::Mark(_))
        || matches!(row.effect, Effect::Create(_)) && summary.model != model::NOSV;
    match row.payload {
        Payload::Exact(fields) => {
            !event.is_jumbo() && event.payload_len() >= u64::from(fields) && !is_exact
        }
        Payload::Jumbo(_) => false,
    }
}

/// Whether no tool reads a field of the event.
fn has_no_needed_field(row: &EventRow) -> bool {
    row.payload == Payload::Exact(0) || row.effect == Effect::Ignore
}

fn describe_payload(event: &Event<'_>, row: &EventRow) -> String {
    let expected = match row.payload {
        Payload::Exact(fields) => format!("{fields}"),
        Payload::Jumbo(fields) => format!("a jumbo payload of at least {fields}"),
    };
    let jumbo = if event.is_jumbo() { "jumbo " } else { "" };
    let (code, bytes) = (event.name(), byte_count(event.payload_len()));
    format!("{code} has {bytes} of {jumbo}payload, expected {expected} ({})", row.signature)
}
