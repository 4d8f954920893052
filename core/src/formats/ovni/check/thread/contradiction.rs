//! Events that cannot come now.
//!
//! Two explanations are considered: the events that lead to this one were lost, or the event itself
//! is wrong. Lost events can be added without a loss, so an event is dropped only if it repeats the
//! one before it byte by byte, or if no other event makes it possible. The check goes on as the
//! repair will leave the stream, so that one fault gives one finding.

use super::ThreadCheck;
use crate::formats::ovni::check::shared_event::SharedEffect;
use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::layout::{ThreadState, ThreadStep};
use crate::formats::ovni::repair::encode::EventWriter;
use crate::formats::ovni::repair::{build_fix, drop_event};
use crate::kit::span::Span;
use crate::kit::walk::Item;
use crate::kit::words::plural;
use crate::model::Rule;
use crate::model::edit::{Edit, Fix};

/// Events after one that are looked at.
const NEAR: usize = 64;

impl ThreadCheck<'_, '_> {
    /// Returns a writer of events right before the event that was taken last.
    pub(super) fn writer(&self) -> EventWriter {
        EventWriter::new(self.timeline.clock, self.usage.has_old_nosv)
    }

    /// Reports an event that cannot come now, and returns whether the check goes on as if `lost`
    /// had come before it. Otherwise the event does not count.
    #[cold]
    pub(super) fn report_contradiction(
        &mut self,
        (rule, field): (&'static Rule, &str),
        event: &Event<'_>,
        message: impl Into<String>,
        lost: EventWriter,
    ) -> bool {
        let finding = self.build_finding(rule, event, field, message);
        if lost.out.count == 0 || self.repeats_last(event) {
            self.log.push(finding.fix(self.drop_event(event)));
            return false;
        }
        let place = Span::new(self.layer(), event.at, event.at);
        let count = plural(lost.out.count, "event");
        let summary = format!("add {count} before it, as if lost");
        let edit = Edit::replace(place, lost.out.bytes);
        self.log.push(finding.fix(build_fix(summary, vec![edit])));
        true
    }

    /// Reports an event that is wrong by itself.
    #[cold]
    pub(super) fn report_wrong_event(
        &mut self,
        rule: (&'static Rule, &str),
        event: &Event<'_>,
        message: impl Into<String>,
    ) {
        self.report_contradiction(rule, event, message, EventWriter::default());
    }

    pub(super) fn drop_event(&self, event: &Event<'_>) -> Fix {
        drop_event(Span::sized(self.layer(), event.at, event.len))
    }

    /// Whether an event has the same bytes as those before it.
    pub(super) fn repeats_last(&self, event: &Event<'_>) -> bool {
        let layer = self.layer();
        let Some(start) = event.at.checked_sub(event.len) else { return false };
        let before = self.events.bytes(Span::new(layer, start, event.at));
        before == self.events.bytes(Span::new(layer, event.at, event.end()))
    }

    /// Whether the thread starts with one of the next events.
    fn starts_after(&self, event: &Event<'_>) -> bool {
        let mut next = self.events.restarted(event.end()).take(NEAR);
        next.any(|item| matches!(item, Item::Record(event) if event.code == *b"OHx"))
    }

    /// Moves the thread as added steps do.
    pub(super) fn apply_steps(&mut self, event: &Event<'_>, steps: &[ThreadStep]) {
        for step in steps {
            self.status.state = step.next_state();
            let effect = match step {
                ThreadStep::Execute => SharedEffect::Start(-1),
                ThreadStep::Resume => SharedEffect::Run,
                ThreadStep::Pause | ThreadStep::Cool => SharedEffect::Stop,
                ThreadStep::End | ThreadStep::Warm => continue,
            };
            self.status.end = None;
            self.queue_event(event, 0, effect);
        }
    }

    /// Reports an event in the wrong state of its thread; returns whether it counts.
    #[cold]
    pub(super) fn bridge_state(
        &mut self,
        (rule, expected): (&'static Rule, &str),
        event: &Event<'_>,
        steps: &'static [ThreadStep],
    ) -> bool {
        let state = self.status.state.name();
        let message =
            format!("unexpected {}: the thread is {state}, expected {expected}", event.name());
        let has_not_started = self.status.state == ThreadState::Unknown;
        // An event before a start that exists is out of place.
        let is_stray = has_not_started && self.starts_after(event);
        let steps = if is_stray { &[] } else { steps };
        let mut lost = self.writer();
        for step in steps {
            lost.put_step(*step);
        }
        let counts = self.report_contradiction((rule, ""), event, message, lost);
        if counts {
            self.apply_steps(event, steps);
        }
        counts
    }
}
