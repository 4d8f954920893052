//! How the stream ends, and the calls that are open then.

use super::{TraceCheck, stream_span};
use crate::formats::apitrace::decode::calls::OpenCall;
use crate::formats::apitrace::decode::damage::{TruncatedEvent, UnitFault};
use crate::formats::apitrace::expand::{Fault, stored};
use crate::formats::apitrace::layout::CHUNK_HEADER_LEN;
use crate::formats::apitrace::repair::fixes::FixPlan;
use crate::formats::apitrace::repair::{StreamEdit, encode};
use crate::formats::apitrace::{options, rules};
use crate::kit::num::to_u64;
use crate::kit::words::{byte_count, plural};
use crate::model::edit::Safety;
use crate::model::{Finding, Rule, Severity};

impl TraceCheck<'_, '_> {
    pub(super) fn check_ending(&mut self) {
        let truncated = self.trace.faults.truncated.clone();
        let tail = self.trace.faults.tail.clone();
        let is_truncated = truncated.is_some() || tail.is_some();
        // An empty stream is a finding of its own.
        if is_truncated && !self.trace.is_empty() {
            if truncated.as_ref().is_some_and(|event| event.is_header) {
                self.add_truncated_header();
            } else {
                self.add_truncated_end(truncated.as_ref(), tail.as_ref());
            }
        }
        self.check_open_calls();
    }

    fn add_truncated_header(&mut self) {
        let end = self.trace.places.end;
        let message = format!("truncated header: the stream ends after {}", byte_count(end));
        let span = stream_span(0, end);
        let mut finding = Finding::new(&rules::HEADER_TRUNCATED, span, "header", message);
        finding.stored = self.stored_of(span, self.trace.place(0, end));
        self.add(finding);
    }

    fn add_truncated_end(&mut self, event: Option<&TruncatedEvent>, tail: Option<&UnitFault>) {
        let end = self.trace.places.end;
        let start = event.map_or(end, |event| event.start);
        let call = event.map_or(self.trace.tracker.calls.next, |event| event.call);
        let (rule, message) = self.describe_end(event, tail);
        let span = stream_span(start, end);
        let place = self.trace.place(start, end);
        let mut finding = Finding::new(rule, span, format!("call[{call}]"), message);
        finding.stored = match tail {
            Some(tail) => Some(tail.segment.stored),
            None => self.stored_of(span, place),
        };
        let tracker = &self.trace.tracker;
        let is_unreadable =
            start == 0 || tracker.header.version.is_none() || tracker.history.count == 0;
        if is_unreadable {
            self.add(finding);
            return;
        }
        let summary = match end.saturating_sub(start) {
            0 => format!("rewrite the {}", self.trace.container.unit()),
            dropped => format!("drop {} of a truncated event", byte_count(dropped)),
        };
        let edit = place.map(|place| {
            let edit = self.editor.edit(start, u64::MAX, Vec::new(), place);
            self.extend_to_end(edit, start, tail)
        });
        self.add_with_plan(finding, FixPlan::of_stream(Safety::Lossy, summary, edit));
    }

    fn describe_end(
        &self,
        event: Option<&TruncatedEvent>,
        tail: Option<&UnitFault>,
    ) -> (&'static Rule, String) {
        let unit = self.trace.container.unit();
        let tail = tail.map(|UnitFault { fault, segment }| match fault {
            Fault::Truncated { stated: Some(stated) } => {
                let end = self.editor.written_end().min(segment.stored.end);
                let there = end.saturating_sub(segment.stored.start);
                let there = there.saturating_sub(CHUNK_HEADER_LEN);
                let zeros = match segment.stored.end.saturating_sub(end) {
                    0 => String::new(),
                    zeros => format!(", then {}", plural(zeros, "zero")),
                };
                format!("truncated {unit}: {there} of {}{zeros}", byte_count(*stated))
            }
            _ => format!("truncated {unit}: the file ends inside it"),
        });
        let event = event.map(|event| {
            let len = byte_count(event.end.saturating_sub(event.start));
            format!("the stream ends after {len} of an event of call {}", event.call)
        });
        match (tail, event) {
            (Some(tail), Some(event)) => (&rules::TRUNCATED_UNIT, format!("{tail}; {event}")),
            (Some(tail), None) => (&rules::TRUNCATED_UNIT, tail),
            (None, event) => {
                let event = event.unwrap_or_default();
                (&rules::TRUNCATED_EVENT, format!("truncated event: {event}"))
            }
        }
    }

    /// Extends the edit that cuts the stream at `start` over all units up to the end.
    fn extend_to_end(
        &self,
        mut edit: StreamEdit,
        start: u64,
        tail: Option<&UnitFault>,
    ) -> StreamEdit {
        let units_end = self.units_end();
        edit.stored = stored(edit.stored.start, units_end.max(edit.stored.end));
        // A unit of which nothing was expanded lies after the one that holds `start`. The last
        // block of a unit may be empty, too.
        let is_alone = |tail: &&UnitFault| {
            start == self.trace.places.end
                && self.trace.container.has_units()
                && tail.segment.expanded.is_empty()
                && tail.segment.stored.start > edit.stored.start
        };
        if let Some(tail) = tail.filter(is_alone) {
            edit.stored = stored(tail.segment.stored.start, units_end);
            edit.base = tail.segment.expanded.start;
        }
        edit
    }

    fn check_open_calls(&mut self) {
        let mut open = self.trace.tracker.calls.open_calls();
        let closes = options::has_close_calls(self.options);
        if !closes {
            // A call next to damage has lost its leave to it.
            let is_suspect = |number: u64| {
                let mut ranges = self.losses.iter().filter_map(|loss| loss.suspects);
                ranges.any(|(from, to)| (from..=to).contains(&number))
            };
            open.retain(|open| !is_suspect(open.number));
        }
        let (Some(first), Some(last)) = (open.first(), open.last()) else { return };
        let message = match open.len() {
            1 => format!("call {} has no leave", first.number),
            count => format!("{count} calls have no leave: {} to {}", first.number, last.number),
        };
        let end = self.trace.faults.truncated.as_ref();
        let end = end.map_or(self.trace.places.end, |event| event.start);
        let span = stream_span(end, end);
        let path = format!("call[{}]", first.number);
        let mut finding = Finding::new(&rules::CALLS_OPEN, span, path, message);
        let place = self.trace.place(end.saturating_sub(1), end);
        finding.stored = self.stored_of(span, place);
        // Where reading was given up the stream does not end.
        if !closes || self.trace.faults.limit.is_some() {
            self.add(finding);
            return;
        }
        finding.severity = Severity::Warning;
        let leave = |open: &OpenCall| encode::leave(open.number);
        let leaves: Vec<u8> = open.iter().flat_map(leave).collect();
        let summary = format!("add {}", plural(to_u64(open.len()), "empty leave"));
        let edit = place.map(|place| self.editor.edit(end, end, leaves, place));
        self.add_with_plan(finding, FixPlan::of_stream(Safety::Synthetic, summary, edit));
    }
}
