//! Payloads, flags and codes that are not in the table of events.

use super::reported::is_first;
use super::{ThreadCheck, TraceContext};
use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::layout::{
    self, EVENT_HEADER, Effect, EventRow, EventSummary, JUMBO_CODE, MODELS, Payload,
    RESERVED_FLAGS, TaskStep, model, task_table,
};
use crate::formats::ovni::repair::{build_fix, drop_event};
use crate::formats::ovni::rules;
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::kit::words::byte_count;
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::{Finding, Rule, Severity};

/// Events of an unknown model that are damage. More of them are a private model.
const STRAY_MAX: usize = 4;

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
            let required = self.terms.required.get(usize::from(model::NOSV)).copied().flatten();
            // In a trace of version 2 it is damage, and added events have the payload of version 2.
            if required.is_none_or(|(major, ..)| major < 2) {
                self.usage.has_old_nosv = true;
                self.check_and_apply(event, summary, old, context);
                return;
            }
        }
        let message = describe_payload(event, row);
        let is_harmless = has_all_fields(event, summary, row) || has_no_needed_field(row);
        if is_harmless {
            let mut finding = self.build_finding(&rules::PAYLOAD_SIZE, event, "payload", message);
            finding.severity = Severity::Warning;
            self.log.push(finding);
            self.check_and_apply(event, summary, row, context);
        } else {
            self.report_unknown_code(&rules::PAYLOAD_SIZE, event, message, context);
        }
    }

    #[cold]
    pub(super) fn check_flags(&mut self, event: &Event<'_>) {
        if let Some(wrong) = event.wrong_flags {
            self.report_wrong_flags(event, wrong);
        }
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
            self.take_unknown_model(event, first, context);
            return;
        };
        let index = usize::from(model);
        let place = self.place_of(event);
        if let Some(used) = self.usage.first.get_mut(index) {
            used.get_or_insert(place);
        }
        let name = MODELS.get(index).map_or("", |model| model.name);
        let message = format!("unknown event {}: model {name} does not define it", event.name());
        let is_ignored = model == model::OVNI && matches!(event.code, [_, b'U' | b'B', _]);
        let is_enabled = context.enabled.get(index).copied().unwrap_or(false);
        if is_ignored || context.has_metadata && !is_enabled {
            let mut finding = self.build_finding(&rules::UNKNOWN_EVENT, event, "", message);
            finding.severity = Severity::Info;
            self.log.push(finding);
            return;
        }
        self.report_unknown_code(&rules::UNKNOWN_EVENT, event, message, context);
    }

    /// The next event shows where this one ends, so its code gives the flags.
    #[cold]
    fn report_wrong_flags(&mut self, event: &Event<'_>, wrong: u8) {
        let (code, flags) = (event.name(), event.flags);
        let message = format!(
            "flags of {code} are {wrong:#04x}, expected {flags:#04x}: the next event begins after \
             {} of payload",
            byte_count(event.payload_len())
        );
        let finding = self.build_finding(&rules::PAYLOAD_SIZE, event, "flags", message);
        let layer = self.layer();
        let edit = Edit::replace(Span::sized(layer, event.at, 1), [flags]);
        // A copy of the event before it took the flags of the next one: a block was doubled.
        let len = event.end().saturating_sub(event.at);
        let (first, end) = (event.at.saturating_add(1), event.end());
        let one = self.events.bytes(Span::new(layer, first, end));
        let before = Span::new(layer, first.saturating_sub(len), end.saturating_sub(len));
        let is_copy = self.events.bytes(before) == one;
        // Flags of another event are its own if a block was lost between them and the code.
        let is_cut = layout::is_written(wrong);
        let safety = if is_copy || is_cut { Safety::Lossy } else { Safety::Exact };
        let fix = Fix::new(safety, format!("set the flags to {flags:#04x}"), vec![edit]);
        let fix =
            fix.altered(1).witness(Span::sized(layer, event.at.saturating_add(1), 3), "the code");
        let next = Span::sized(layer, event.end(), EVENT_HEADER);
        let has_next = next.end <= self.events.stream_len();
        let fix = if has_next { fix.witness(next, "the next event") } else { fix };
        self.log.push(finding.fix(fix));
    }

    /// Reports an event whose code is unknown or does not match its payload. If one flipped bit
    /// explains it, the event counts as the one that it was.
    #[cold]
    fn report_unknown_code(
        &mut self,
        rule: &'static Rule,
        event: &Event<'_>,
        message: String,
        context: &TraceContext,
    ) {
        let Some((code, row)) = self.find_flipped_code(event, context) else {
            self.report_wrong_event((rule, ""), event, message);
            return;
        };
        let finding = self.build_finding(rule, event, "", message);
        let span = Span::sized(self.layer(), event.at.saturating_add(1), 3);
        let edit = Edit::replace(span, code);
        let name = layout::display_code(code);
        let summary = format!("set the code to {name}, the only one that one flipped bit explains");
        self.log.push(finding.fix(build_fix(summary, vec![edit]).altered(1)));
        let event = Event { code, row: Some(row), ..event.clone() };
        let (row, summary) = (layout::row_at(row), layout::find_summary(row));
        if let (Some(row), Some(summary)) = (row, summary) {
            self.record_use(&event, summary.model);
            self.check_and_apply(&event, summary, row, context);
        }
    }

    /// Returns the only code that differs by one bit, has this payload, and is possible now. The
    /// end of what is open is preferred.
    fn find_flipped_code(
        &self,
        event: &Event<'_>,
        context: &TraceContext,
    ) -> Option<([u8; 3], u16)> {
        let codes = layout::near_codes(event.code);
        let possible = codes.filter_map(|code| Some((code, layout::row_index(code)?)));
        let possible = possible.filter(|(_, row)| {
            let summary = layout::find_summary(*row);
            summary.is_some_and(|summary| self.is_possible(event, summary, context))
        });
        let possible: Vec<([u8; 3], u16)> = possible.collect();
        let is_end = |row: u16| {
            let effect = layout::find_summary(row).map(|summary| summary.effect);
            matches!(effect, Some(Effect::Pop(_) | Effect::Task(TaskStep::End)))
        };
        let mut ends = possible.iter().filter(|(_, row)| is_end(*row));
        match (possible.as_slice(), ends.next(), ends.next()) {
            ([only], ..) | (_, Some(only), None) => Some(*only),
            _ => None,
        }
    }

    /// Whether an event with this code could come now.
    fn is_possible(
        &self,
        event: &Event<'_>,
        summary: &EventSummary,
        context: &TraceContext,
    ) -> bool {
        let model = usize::from(summary.model);
        let is_enabled = context.enabled.get(model).copied().unwrap_or(false);
        let has_payload = match summary.flags {
            0xff => event.is_jumbo(),
            flags => event.flags == flags,
        };
        let is_active = summary.states & self.status.state.bit() != 0;
        if !has_payload || !is_active || !is_enabled && context.has_metadata {
            return false;
        }
        let task = event.u32_at(0);
        match summary.effect {
            Effect::Pop(stack) => self.status.stack(stack).last() == Some(&summary.state),
            Effect::Push(stack) => {
                stack.allows_repeat() || self.status.stack(stack).last() != Some(&summary.state)
            }
            Effect::Thread(step) => self.status.state.allows(step),
            Effect::Flush(opens) => self.status.is_flushing != opens,
            Effect::Kernel(leaves) => self.status.is_off_cpu != leaves,
            Effect::Mark(_) => context.marks.contains_key(&event.i32_at(8)),
            Effect::Task(TaskStep::Execute) => task != 0,
            Effect::Task(_) => {
                let bodies = task_table(summary.model).map(|table| self.status.bodies(table));
                let top = bodies.and_then(<[_]>::last);
                top.is_some_and(|body| body.task == task)
            }
            _ => true,
        }
    }

    /// An event of a model that is not in the table.
    fn take_unknown_model(&mut self, event: &Event<'_>, first: u8, context: &TraceContext) {
        let has_room = self.reported.unknown_models.len() < context.limits.kinds;
        let is_foreign = context.requires_unknown || !context.has_metadata;
        if is_foreign && layout::is_printable(event.code) {
            if has_room && self.reported.unknown_models.insert(first, Vec::new()).is_none() {
                let model = Untrusted(&[first]).to_string();
                let message = format!("unknown model `{model}`; its events are kept");
                let mut finding = self.build_finding(&rules::UNKNOWN_MODEL, event, "", message);
                finding.severity = Severity::Info;
                self.log.push(finding);
            }
            return;
        }
        if self.find_flipped_code(event, context).is_some() {
            let message = format!("unknown event {}: no thread requires its model", event.name());
            self.report_unknown_code(&rules::UNKNOWN_MODEL, event, message, context);
        } else if has_room || self.reported.unknown_models.contains_key(&first) {
            let place = self.place_of(event);
            let places = self.reported.unknown_models.entry(first).or_default();
            if places.len() <= STRAY_MAX {
                places.push(place);
            }
        }
    }

    /// Reports unknown models that no thread requires, once the stream has ended. A few events are
    /// damage; more are a model of their own.
    pub(super) fn report_unknown_models(&mut self) {
        for (model, places) in std::mem::take(&mut self.reported.unknown_models) {
            let is_stray = places.len() <= STRAY_MAX;
            for place in places.iter().take(if is_stray { STRAY_MAX } else { 1 }) {
                let span = place.span(self.layer());
                let model = Untrusted(&[model]).to_string();
                let message = format!("unknown model `{model}`, which no thread requires");
                let path = format!("event[{}]", place.number);
                let mut finding = Finding::new(&rules::UNKNOWN_MODEL, span, path, message);
                if is_stray {
                    finding = finding.fix(drop_event(span));
                }
                self.log.push(finding);
            }
        }
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
