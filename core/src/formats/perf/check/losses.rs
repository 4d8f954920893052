//! Compressed records that cannot be used, and the fault that made them useless.

use crate::formats::perf::rules;
use crate::kit::span::Span;
use crate::kit::words::{byte_count, plural};
use crate::model::Finding;
use crate::model::edit::{Edit, Fix, Safety};

/// The fault that ended the expansion.
#[derive(Clone, Debug)]
enum Cause {
    /// A limit, which has been reported.
    Limit,
    /// A fault in the zstd stream or in the expanded records.
    Fault(Box<Finding>),
}

/// The compressed records that one fault makes useless.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    cause: Option<Cause>,
    /// Stored bytes that cannot be used.
    spans: Vec<Span>,
    /// Number of complete records among them.
    records: u64,
}

impl Losses {
    /// Whether the expansion has ended.
    pub(super) const fn has_cause(&self) -> bool {
        self.cause.is_some()
    }

    /// Notes that a limit ended the expansion.
    pub(super) fn set_limit(&mut self) {
        self.cause.get_or_insert(Cause::Limit);
    }

    /// Notes the fault that ended the expansion, unless an earlier one did.
    pub(super) fn set_fault(&mut self, finding: Finding) {
        self.cause.get_or_insert_with(|| Cause::Fault(Box::new(finding)));
    }

    /// Whether a new zstd frame can be expanded although the expansion has ended. Expanded records
    /// that are invalid cast doubt on everything after them.
    pub(super) fn allows_restart(&self) -> bool {
        match &self.cause {
            Some(Cause::Fault(finding)) => *finding.rule == rules::ZSTD_BROKEN,
            Some(Cause::Limit) | None => true,
        }
    }

    /// Adds stored bytes that are not a complete record.
    pub(super) fn add_bytes(&mut self, stored: Span) {
        self.spans.push(stored);
    }

    /// Adds a compressed record. Records that adjoin take one span; at most `max` spans are kept.
    pub(super) fn add_record(&mut self, stored: Span, max: usize) {
        self.records = self.records.saturating_add(1);
        let has_room = self.spans.len() < max;
        match self.spans.last_mut() {
            Some(last) if last.end == stored.start => last.end = stored.end,
            _ if has_room => self.spans.push(stored),
            _ => {}
        }
    }

    /// Adds compressed records that adjoin.
    pub(super) fn add_records(&mut self, stored: Span, count: u64) {
        self.records = self.records.saturating_add(count.saturating_sub(1));
        self.add_record(stored, usize::MAX);
    }

    /// Takes the finding with the fix that drops all losses; `None` without a fault. Afterwards
    /// there are no losses.
    pub(super) fn take_finding(&mut self, can_drop: bool) -> Option<Finding> {
        // Losses before the first fault cannot be; those of a limit are not dropped.
        let losses = self.cause.is_some().then(|| std::mem::take(self))?;
        let Some(Cause::Fault(finding)) = losses.cause else { return None };
        let mut finding = *finding;
        let spans = merge_spans(losses.spans);
        let bytes = spans.iter().fold(0_u64, |sum, span| sum.saturating_add(span.len()));
        let mut edits = finding.fix.take().map(|fix| fix.edits).unwrap_or_default();
        edits.retain(|edit| !spans.iter().any(|span| span.overlaps(&edit.span)));
        edits.extend(spans.into_iter().map(Edit::drop));
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        let bytes = byte_count(bytes);
        let records = match losses.records {
            0 => String::new(),
            records => format!(", {} among them", plural(records, "complete compressed record")),
        };
        let summary = format!("drop {bytes} of compressed data that cannot be expanded{records}");
        let edits = if can_drop { edits } else { Vec::new() };
        let fix = Fix::new(Safety::Lossy, summary, edits);
        finding.fix = Some(Fix { records_lost: losses.records, ..fix });
        Some(finding)
    }
}

/// Sorts spans and merges those that overlap or adjoin.
fn merge_spans(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.layer == last.layer && span.start <= last.end => {
                last.end = last.end.max(span.end);
            }
            _ => merged.push(span),
        }
    }
    merged
}
