//! Clocks of a stream, and the events whose clock is out of order.

use super::{ThreadCheck, TraceContext};
use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::layout::CLOCK_MAX;
use crate::formats::ovni::repair::clock::set_clock;
use crate::formats::ovni::rules;
use crate::formats::ovni::state::thread::{Ending, EventPlace};
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words::plural;
use crate::mend::edit::{Edit, Fix, Safety};
use crate::report::Finding;

/// Events and clocks so far.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    /// Number of complete events.
    pub(super) events: u64,
    /// Clock of the first event.
    pub(super) first: Option<u64>,
    /// Clock of the last event that is in order.
    pub(super) clock: u64,
    /// Clock of the event in order before that.
    pub(super) before_last: u64,
    /// Offset of the last event that is in order.
    pub(super) last_at: u64,
    /// There was a first event, and no clock is out of order now.
    pub(super) is_settled: bool,
    backwards: Option<Backwards>,
}

impl Timeline {
    /// Takes an event whose clock is in order.
    #[inline]
    pub(super) const fn advance(&mut self, at: u64, clock: u64) {
        self.before_last = self.clock;
        self.clock = clock;
        self.last_at = at;
    }

    /// Whether the last events were out of order.
    pub(super) const fn is_backwards(&self) -> bool {
        self.backwards.is_some()
    }
}

/// Consecutive events whose clock is lower than the one before them.
#[derive(Debug)]
struct Backwards {
    /// The first of them.
    place: EventPlace,
    /// Its clock.
    clock: u64,
    /// The clock before it.
    before: u64,
    events: u64,
    edits: Vec<Edit>,
}

impl ThreadCheck<'_, '_> {
    /// Takes an event with a lower clock than the one before it, or with a clock of more than 63
    /// bits. Returns how the stream ends before it, if the event is left over from an earlier run.
    #[cold]
    pub(super) fn take_backwards(
        &mut self,
        event: &Event<'_>,
        context: &TraceContext,
    ) -> Option<Ending> {
        if self.regions.lower(event.clock) {
            return None;
        }
        let is_before_first = self.timeline.first.is_some_and(|first| event.clock < first);
        let is_rerun = self.terms.is_unfinished && is_before_first && self.timeline.events > 1;
        if self.is_dead() || is_rerun {
            return Some(Ending::Stale);
        }
        let place = EventPlace { at: event.at, len: event.len, number: self.timeline.events };
        let run = Backwards {
            place,
            clock: event.clock,
            before: self.timeline.clock,
            events: 0,
            edits: Vec::new(),
        };
        if self.timeline.backwards.is_none() && self.is_last_alone_late(event) {
            self.correct_late_event(event, run);
            return None;
        }
        let layer = self.layer();
        let clock = self.timeline.clock;
        let run = self.timeline.backwards.get_or_insert(run);
        run.events = run.events.saturating_add(1);
        if run.edits.len() < context.limits.set_clocks {
            run.edits.push(set_clock(layer, event.at, clock));
        }
        None
    }

    /// Whether the last event alone is too late: without it the events around it are in order.
    fn is_last_alone_late(&self, event: &Event<'_>) -> bool {
        let has_top_bit = event.clock >> 63 != 0;
        !has_top_bit && event.clock >= self.timeline.before_last && self.timeline.events > 1
    }

    /// Gives the last event, which is too late, the clock before it, and takes `event`.
    fn correct_late_event(&mut self, event: &Event<'_>, mut run: Backwards) {
        let (last_at, earlier) = (self.timeline.last_at, self.timeline.before_last);
        run.edits.push(set_clock(self.layer(), last_at, earlier));
        run.events = 1;
        if let Some(queued) = self.queue.back_mut().filter(|queued| queued.at == last_at) {
            queued.clock = earlier;
        }
        self.timeline.clock = event.clock;
        self.timeline.last_at = event.at;
        self.timeline.backwards = Some(run);
        self.report_backwards();
    }

    /// Reports the events that were out of order.
    #[cold]
    pub(super) fn report_backwards(&mut self) {
        let Some(run) = self.timeline.backwards.take() else { return };
        let Backwards { place, clock, before, events, edits } = run;
        let span = Span::sized(self.layer(), place.at.saturating_add(4), 8);
        let count = plural(events, "event");
        let message = if clock > CLOCK_MAX {
            format!("clock {clock} is out of range, expected at most {CLOCK_MAX}; {count} affected")
        } else {
            format!("clock goes back from {before} to {clock}; {count} out of order")
        };
        let path = format!("event[{}].clock", place.number);
        let mut finding = Finding::new(&rules::CLOCK_BACKWARDS, span, path, message);
        if to_u64(edits.len()) == events {
            let summary = match edits.as_slice() {
                [one] if one.span.start < place.at => {
                    "set the clock of the event before it, which alone is too late, to the clock \
                     before that"
                        .to_string()
                }
                _ => format!("set the clock of {count} to the last clock in order"),
            };
            finding = finding.fix(Fix::new(Safety::Synthetic, summary, edits));
        }
        self.log.push(finding);
    }
}
