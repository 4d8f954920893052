//! A merge in the order in which the emulator plays events, for traces in which the order of equal
//! clocks matters.
//!
//! If the emulator takes a CPU, a task or a type before another thread releases or defines it at
//! the same clock, it refuses the trace. The check goes on as the repair will leave the stream: the
//! event, and those of its stream at this clock, come one nanosecond later.

use std::num::NonZeroUsize;

use crate::formats::ovni::check::merge::{Merge, fill_queues, queue_capacity};
use crate::formats::ovni::check::shared_event::{SharedEffect, SharedEvent};
use crate::formats::ovni::check::task_book::Need;
use crate::formats::ovni::check::thread::{ThreadCheck, TraceContext};
use crate::formats::ovni::layout::CLOCK_MAX;
use crate::formats::ovni::recover::play_order::PlayOrder;
use crate::formats::ovni::repair::build_fix;
use crate::formats::ovni::repair::clock::set_clock;
use crate::formats::ovni::rules;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words::plural;
use crate::model::edit::Edit;
use crate::model::{Finding, Rule};

/// Streams that are looked at, all in all, for what an event waits for.
const LOOKS_MAX: usize = 1 << 22;

impl Merge<'_> {
    /// Walks all streams. `order` is that of their paths.
    pub(super) fn run_played(
        &mut self,
        threads: &mut [ThreadCheck<'_, '_>],
        context: &TraceContext,
        (order, jobs): (&[usize], NonZeroUsize),
    ) {
        let capacity = queue_capacity(threads.len());
        let mut play = PlayOrder::default();
        let mut looks = LOOKS_MAX;
        fill_queues(threads, context, capacity, jobs);
        for number in order {
            self.queue_next(*number, threads, &mut play);
        }
        while let Some((now, number)) = play.take() {
            if self.must_wait(number, threads, now, &mut looks) {
                self.queue_next(number, threads, &mut play);
                continue;
            }
            let Some(thread) = threads.get_mut(number) else { continue };
            let at = thread.queue.front().map(|event| event.at);
            while thread.queue.front().map(|event| event.at) == at
                && let Some(event) = thread.queue.pop_front()
            {
                self.take(number, thread, &event);
            }
            if thread.queue.is_empty() && thread.end.is_none() {
                fill_queues(threads, context, capacity, jobs);
            }
            self.queue_next(number, threads, &mut play);
        }
    }

    fn queue_next(&self, number: usize, threads: &[ThreadCheck<'_, '_>], play: &mut PlayOrder) {
        let next = threads.get(number).and_then(|thread| thread.queue.front());
        if let Some(next) = next {
            play.add(self.time(number, next), number);
        }
    }

    /// Reports the next event of a stream, and delays it, if the emulator plays it before an event
    /// of the same clock that makes it possible.
    fn must_wait(
        &mut self,
        number: usize,
        threads: &mut [ThreadCheck<'_, '_>],
        now: i128,
        looks: &mut usize,
    ) -> bool {
        let Some(event) = threads.get(number).and_then(|thread| thread.queue.front()).copied()
        else {
            return false;
        };
        let Some((rule, message)) = self.find_cause(number, &event, threads, now, looks) else {
            return false;
        };
        let Some(thread) = threads.get_mut(number) else { return false };
        let Some(edits) = delay(thread, event.clock) else { return false };
        let layer = thread.events().layer();
        let span = Span::sized(layer, event.at, u64::from(event.len));
        let path = format!("event[{}].clock", event.number.saturating_sub(1));
        let altered = to_u64(edits.len());
        let summary = format!("add 1 ns to the clock of {}", plural(altered, "event"));
        let fix = build_fix(summary, edits).altered(altered);
        self.log.push(Finding::new(rule, span, path, message).fix(fix));
        true
    }

    /// Returns why an event cannot come before the other ones of its clock, if one of those makes
    /// it possible.
    fn find_cause(
        &mut self,
        number: usize,
        event: &SharedEvent,
        threads: &[ThreadCheck<'_, '_>],
        now: i128,
        looks: &mut usize,
    ) -> Option<(&'static Rule, String)> {
        if let Some(other) = self.placement.find_runner(number, event.effect) {
            let releases = |event: &SharedEvent| {
                use SharedEffect::{End, EndOfStream, Move, Stop};
                matches!(event.effect, Stop | End | Move(_) | EndOfStream)
            };
            self.has_event(other, threads, now, releases).then_some(())?;
            let message = "CPU is taken at the clock at which another thread leaves it, and \
                           ovniemu takes it first";
            return Some((&rules::CPU_HANDOVER, message.to_string()));
        }
        let need: Need = self.tasks.find_need(number, event)?;
        *looks = looks.checked_sub(threads.len())?;
        let mut others = (0..threads.len()).filter(|other| *other != number);
        others.find(|other| {
            self.has_event(*other, threads, now, |event| self.tasks.gives(*other, event, &need))
        })?;
        let message = "task or type is used at the clock at which another thread defines or ends \
                       it, and ovniemu plays the use first";
        Some((&rules::USE_BEFORE_DEFINITION, message.to_string()))
    }

    /// Whether one of the next events of a stream at this clock is wanted.
    fn has_event(
        &self,
        stream: usize,
        threads: &[ThreadCheck<'_, '_>],
        now: i128,
        is_wanted: impl Fn(&SharedEvent) -> bool,
    ) -> bool {
        let events = threads.get(stream).into_iter().flat_map(|thread| &thread.queue);
        let mut events = events.take_while(|event| self.time(stream, event) == now);
        events.any(is_wanted)
    }
}

/// Adds a nanosecond to the clocks of the next events of a stream at this clock, and returns the
/// edits. `None` if the queue does not hold all of them.
fn delay(thread: &mut ThreadCheck<'_, '_>, clock: u64) -> Option<Vec<Edit>> {
    let later = clock.checked_add(1).filter(|later| *later <= CLOCK_MAX)?;
    let same = thread.queue.iter().take_while(|event| event.clock == clock).count();
    if same == thread.queue.len() && thread.end.is_none() {
        return None;
    }
    let layer = thread.events().layer();
    let mut edits: Vec<Edit> = Vec::new();
    for event in thread.queue.iter_mut().take(same) {
        event.clock = later;
        let edit = set_clock(layer, event.at, later);
        let is_new = edits.last().is_none_or(|last| last.span != edit.span);
        if event.effect != SharedEffect::EndOfStream && is_new {
            edits.push(edit);
        }
    }
    Some(edits)
}
