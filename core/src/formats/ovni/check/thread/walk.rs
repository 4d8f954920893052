//! From one event to the next: clocks, damage, and whether an event may come now.

use super::ThreadCheck;
use super::TraceContext;
use crate::formats::ovni::check::shared_event::SharedEffect;
use crate::formats::ovni::decode::event_walk::{Damage, DamageCause, Event};
use crate::formats::ovni::layout::{
    self, CLOCK_MAX, EVENT_HEADER, Effect, EventRow, EventSummary, JUMBO, Payload, RESERVED_FLAGS,
    STACK_MAX, ThreadState,
};
use crate::formats::ovni::recover::clock_shift::Gap;
use crate::formats::ovni::state::thread::{Ending, StreamEnd};
use crate::kit::walk::Item;

impl ThreadCheck<'_, '_> {
    /// Walks on until the stream ends or `capacity` events wait in the queue.
    pub fn fill_queue(&mut self, context: &TraceContext, capacity: usize) {
        self.prepare(context);
        while self.end.is_none() && self.queue.len() < capacity {
            if !context.queues_all {
                self.skim_states();
            }
            self.step(context);
        }
    }

    /// Looks at the stream before its first event, if that is required.
    pub(super) fn prepare(&mut self, context: &TraceContext) {
        if self.timeline.first.is_none() && !self.timeline.has_corrections() && self.end.is_none() {
            self.begin(context);
        }
    }

    /// Takes the next event, the next damage, or the end of the stream.
    #[inline]
    pub(super) fn step(&mut self, context: &TraceContext) {
        match self.events.next() {
            Some(Item::Record(mut event)) => {
                if self.timeline.has_corrections() {
                    if self.pass_gap(event.at) {
                        return;
                    }
                    self.correct_clock(&mut event);
                }
                if !self.timeline.flips.is_empty() {
                    self.correct_bits(&mut event);
                }
                if let Some(ending) = self.take_event(&event, context) {
                    self.end_stream(event.at, ending);
                } else if context.queues_all
                    && self.queue.back().is_none_or(|last| last.at != event.at)
                {
                    self.queue_event(&event, 0, SharedEffect::Nothing);
                }
            }
            Some(Item::Damage(damage)) => self.take_damage(damage, context),
            None => self.end_stream(self.events.stream_len(), Ending::Complete),
        }
    }

    fn end_stream(&mut self, at: u64, ending: Ending) {
        self.end = Some(StreamEnd { ending, at });
        self.report_unknown_models();
    }

    pub(super) fn is_dead(&self) -> bool {
        self.status.state == ThreadState::Dead
    }

    /// Takes events that only open and close states, as long as nothing about them is unusual. Most
    /// events of most streams are taken here.
    #[inline]
    fn skim_states(&mut self) {
        let is_usual = self.timeline.is_settled
            && !self.timeline.has_corrections()
            && self.timeline.flips.is_empty();
        if !is_usual || self.status.is_off_cpu || self.status.end.is_some() {
            return;
        }
        let Self { events, timeline, status, usage, terms, .. } = self;
        let (state, ceiling) = (status.state.bit(), terms.ceiling);
        let (mut clock, mut before) = (timeline.clock, timeline.before_last);
        let mut count = timeline.events;
        let stacks = &mut status.stacks;
        let passed = events.skim(|summary, now| {
            let is_usual = summary.states & state != 0
                && usage.has(summary.model)
                && now >= clock
                && now <= ceiling
                && u64::from(summary.rank) <= usage.rank(summary.model);
            if !is_usual || !move_state(stacks, summary) {
                return false;
            }
            (before, clock) = (clock, now);
            count = count.saturating_add(1);
            true
        });
        if passed {
            (timeline.clock, timeline.before_last, timeline.events) = (clock, before, count);
        }
    }

    /// Takes an event. Returns how the stream ends, if it ends before this event.
    #[inline]
    fn take_event(&mut self, event: &Event<'_>, context: &TraceContext) -> Option<Ending> {
        let Some(summary) = event.row.and_then(layout::find_summary) else {
            return self.take_unusual(event, context);
        };
        let timeline = &mut self.timeline;
        let is_in_order = event.clock >= timeline.clock
            && event.clock <= self.terms.ceiling
            && timeline.is_settled;
        let is_plain = event.flags == summary.flags
            && event.wrong_flags.is_none()
            && summary.states & self.status.state.bit() != 0;
        let is_known = self.usage.has(summary.model)
            && u64::from(summary.rank) <= self.usage.rank(summary.model);
        if !(is_in_order && is_plain && is_known) || self.status.is_off_cpu {
            return self.take_unusual(event, context);
        }
        timeline.advance(event.clock);
        timeline.events = timeline.events.saturating_add(1);
        self.apply_effect(event, summary, context);
        None
    }

    /// Takes an event that has to be looked at more closely.
    #[cold]
    fn take_unusual(&mut self, event: &Event<'_>, context: &TraceContext) -> Option<Ending> {
        let goes_back = event.clock < self.timeline.clock || event.clock > CLOCK_MAX;
        if goes_back && self.look_back(context) {
            return Some(Ending::Stale);
        }
        if let Some(ending) = self.take_clock(event) {
            return Some(ending);
        }
        self.timeline.events = self.timeline.events.saturating_add(1);
        if self.timeline.first.is_none() {
            self.timeline.first = Some(self.timeline.clock);
            self.timeline.before_last = self.timeline.clock;
        }
        self.timeline.is_settled = true;
        if event.flags & (RESERVED_FLAGS | JUMBO) != 0 || event.wrong_flags.is_some() {
            self.check_flags(event);
        }
        let row = event.row.and_then(layout::row_at);
        let summary = event.row.and_then(layout::find_summary);
        let (Some(row), Some(summary)) = (row, summary) else {
            self.check_unknown_event(event, context);
            return None;
        };
        self.record_use(event, summary.model);
        if has_expected_payload(event, row) {
            self.check_and_apply(event, summary, row, context);
        } else {
            self.check_payload_size(event, summary, row, context);
        }
        None
    }

    /// Takes the clock of an event. Returns how the stream ends, if it ends before this event.
    fn take_clock(&mut self, event: &Event<'_>) -> Option<Ending> {
        if event.clock < self.timeline.clock || event.clock > CLOCK_MAX {
            return self.take_backwards(event);
        }
        if event.clock > self.terms.ceiling {
            return Some(Ending::Cut);
        }
        self.timeline.advance(event.clock);
        None
    }

    pub(super) fn record_use(&mut self, event: &Event<'_>, model: u8) {
        if self.usage.has(model) {
            return;
        }
        self.usage.bits |= 1_u8.checked_shl(u32::from(model)).unwrap_or(0);
        let place = self.place_of(event);
        if let Some(first) = self.usage.first.get_mut(usize::from(model)) {
            first.get_or_insert(place);
        }
    }

    /// Bytes that are not an event: the rest of an earlier run, damage, or a truncated event.
    #[cold]
    fn take_damage(&mut self, damage: Damage, context: &TraceContext) {
        if self.look_back(context)
            || self.is_dead()
            || self.precedes_rerun(damage.at, context.limits.resync)
        {
            self.end_stream(damage.at, Ending::Stale);
            return;
        }
        if self.pass_gap(damage.at) {
            return;
        }
        let resumed = self.events.resync(damage.at, self.timeline.clock, context.limits.resync);
        if let Some(to) = resumed {
            self.report_gap(Gap { from: damage.at, to, copy_of: None });
            return;
        }
        let left = self.events.stream_len().saturating_sub(damage.at);
        let needed = match damage.cause {
            DamageCause::Truncated(needed) => needed,
            DamageCause::InvalidCode => left.saturating_add(1),
        };
        self.end_stream(damage.at, Ending::Truncated(needed));
    }
}

/// Opens or closes a state without a finding; returns whether it could.
#[inline]
fn move_state(stacks: &mut [Vec<u16>], summary: &EventSummary) -> bool {
    match summary.effect {
        Effect::Push(stack) => {
            let Some(open) = stacks.get_mut(stack.index()) else { return false };
            let is_repeated = open.last() == Some(&summary.state) && !stack.allows_repeat();
            if is_repeated || open.len() >= STACK_MAX {
                return false;
            }
            open.push(summary.state);
            true
        }
        Effect::Pop(stack) => {
            let Some(open) = stacks.get_mut(stack.index()) else { return false };
            let matches = open.last() == Some(&summary.state);
            if matches {
                open.pop();
            }
            matches
        }
        Effect::Ignore => true,
        _ => false,
    }
}

/// Whether the payload is the one of the newest version of the event.
fn has_expected_payload(event: &Event<'_>, row: &EventRow) -> bool {
    match row.payload {
        Payload::Exact(len) => {
            !event.is_jumbo() && event.len == EVENT_HEADER.saturating_add(u64::from(len))
        }
        Payload::Jumbo(len) => event.is_jumbo() && event.payload_len() >= u64::from(len),
    }
}
