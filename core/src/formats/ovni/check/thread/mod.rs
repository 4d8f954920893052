//! One thread, from the events of its stream.
//!
//! ```text
//!  walk      one event after the other: clocks, damage, the end of the stream
//!  timeline  events whose clock is out of order         regions   OU[ .. OU] and their order
//!  effects   the state machine, CPU, flushes, marks     stacks    open states
//!  contradiction  events that cannot come now, and what makes them possible
//!  bridge    lost events with which those after a place fit what is open before it
//!  tasks     types, tasks, bodies, worksharings         unusual   payloads, flags, unknown events
//!  flipped   contradictions that one inverted bit explains
//! ```
//!
//! Events that concern other threads as well (CPUs, definitions, bodies) are queued as
//! [`SharedEvent`]s for [`merge`](super::merge). After a fault the thread goes on as if the event
//! had been right, so that one fault gives one finding.

mod bridge;
mod contradiction;
mod effects;
mod flipped;
mod regions;
mod reported;
mod stacks;
mod tasks;
mod timeline;
mod unusual;
mod walk;

use std::collections::{BTreeMap, VecDeque};

pub use self::flipped::FlipSearch;

use self::regions::Regions;
use self::reported::Reported;
use self::timeline::Timeline;
use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::check::shared_event::{SharedEffect, SharedEvent};
use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::decode::stream::Stream;
use crate::formats::ovni::layout::{CLOCK_MAX, MODEL_COUNT, STREAM_HEADER, Version};
use crate::formats::ovni::limits::WalkLimits;
use crate::formats::ovni::recover::flips::Flip;
use crate::formats::ovni::state::thread::{
    Ending, EventPlace, ModelUse, StreamEnd, ThreadStatus, ThreadSummary,
};
use crate::kit::span::{Layer, Span};
use crate::model::edit::Fix;
use crate::model::{Finding, Rule};

/// Facts about the whole trace that a thread is checked against.
#[derive(Clone, Debug, Default)]
pub struct TraceContext {
    /// The trace has metadata; a lone stream has none.
    pub has_metadata: bool,
    /// Models that any thread requires.
    pub enabled: [bool; MODEL_COUNT],
    /// The bits that were inverted, by stream.
    pub flips: Vec<Vec<Flip>>,
    /// A thread requires a model that is not in the table.
    pub requires_unknown: bool,
    /// Mark types, and whether each is a stack.
    pub marks: BTreeMap<i32, bool>,
    /// Number of hardware counters.
    pub counters: Option<u64>,
    /// Every event is queued, because the order of equal clocks matters.
    pub queues_all: bool,
    /// Streams are outlined before they are walked, not when the walk finds a reason.
    pub outlines_first: bool,
    /// Limits of the walk.
    pub limits: WalkLimits,
}

/// Conditions under which a stream is walked.
#[derive(Clone, Copy, Debug)]
pub struct WalkTerms {
    /// The run did not finish.
    pub is_unfinished: bool,
    /// The process was killed, so that events of an earlier run can follow its own. They are
    /// recognised by their clocks.
    pub can_hold_rerun: bool,
    /// Clock of the last event that counts; lower than [`CLOCK_MAX`] with `--strategy cut`.
    pub ceiling: u64,
    /// Lowest clock that is not negative on the clock of the trace.
    pub floor: u64,
    /// Version that this thread requires of each model.
    pub required: [Option<Version>; MODEL_COUNT],
}

impl Default for WalkTerms {
    fn default() -> Self {
        Self {
            is_unfinished: false,
            can_hold_rerun: false,
            ceiling: CLOCK_MAX,
            floor: 0,
            required: [None; MODEL_COUNT],
        }
    }
}

/// A thread while its stream is walked.
#[derive(Clone, Debug)]
pub struct ThreadCheck<'s, 'a> {
    events: EventWalk<'s, 'a>,
    /// Conditions of the walk.
    pub terms: WalkTerms,
    /// Findings about the stream.
    pub log: Log,
    reported: Reported,
    /// Events that concern other threads and were not taken yet.
    pub queue: VecDeque<SharedEvent>,
    /// End of the stream, once it was reached.
    pub end: Option<StreamEnd>,
    timeline: Timeline,
    regions: Regions,
    status: ThreadStatus,
    usage: ModelUse,
}

impl<'s, 'a> ThreadCheck<'s, 'a> {
    /// Prepares the walk of a stream. At most `findings` findings are held.
    pub fn new(stream: &'s Stream<'a>, terms: WalkTerms, findings: usize) -> Self {
        Self {
            events: stream.events(STREAM_HEADER),
            terms,
            log: Log::new(findings),
            reported: Reported::default(),
            queue: VecDeque::new(),
            end: None,
            timeline: Timeline::new(stream),
            regions: Regions::default(),
            status: ThreadStatus::default(),
            usage: ModelUse::default(),
        }
    }

    /// Marks a stream without an event that can be read.
    pub fn set_unreadable(&mut self) {
        self.end = Some(StreamEnd { ending: Ending::Unreadable, at: self.start() });
        self.queue_end_of_stream();
    }

    /// Whether the walk ended because it has to begin again, with the outline that it found.
    pub const fn must_restart(&self) -> bool {
        self.timeline.must_restart()
    }

    /// Takes over the outline that another walk of the same stream has found.
    pub fn take_outline(&mut self, other: Self) {
        self.timeline.take_outline(other.timeline);
    }

    /// Returns the number of complete events so far, and the clock of the last one.
    pub const fn progress(&self) -> (u64, u64) {
        (self.timeline.events, self.timeline.clock)
    }

    /// Takes the fix of the next [`SharedEffect::CompareLabels`] of the queue.
    pub fn take_label_fix(&mut self) -> Option<Fix> {
        self.reported.label_fixes.pop_front()
    }

    /// Returns a walk over the events of the stream.
    pub const fn events(&self) -> &EventWalk<'s, 'a> {
        &self.events
    }

    /// Returns the thread's state and everything that it has open.
    pub const fn status(&self) -> &ThreadStatus {
        &self.status
    }

    /// Ends the check; returns the thread and the findings about it.
    pub fn finish(self) -> (ThreadSummary, Log) {
        let start = StreamEnd { ending: Ending::Complete, at: self.start() };
        let summary = ThreadSummary {
            end: self.end.unwrap_or(start),
            status: self.status,
            usage: self.usage,
            events: self.timeline.events,
            first_clock: self.timeline.first,
            last_clock: self.timeline.clock,
        };
        (summary, self.log)
    }

    /// Offset of the first event.
    fn start(&self) -> u64 {
        STREAM_HEADER.min(self.events.stream_len())
    }

    fn layer(&self) -> Layer {
        self.events.layer()
    }

    /// Queues the end of a stream whose thread has not ended.
    pub fn queue_end_of_stream(&mut self) {
        let event = self.end_of_stream();
        self.queue.push_back(event);
    }

    /// Returns an event at the end of the stream.
    pub fn end_of_stream(&self) -> SharedEvent {
        SharedEvent {
            clock: self.timeline.clock,
            at: self.end.map_or(self.start(), |end| end.at),
            number: self.timeline.events,
            len: 0,
            table: 0,
            effect: SharedEffect::EndOfStream,
        }
    }

    #[inline]
    fn queue_event(&mut self, event: &Event<'_>, table: usize, effect: SharedEffect) {
        self.queue_effect((event.at, event.len), table, effect);
    }

    #[inline]
    fn queue_effect(&mut self, (at, len): (u64, u64), table: usize, effect: SharedEffect) {
        self.queue.push_back(SharedEvent {
            clock: self.timeline.clock,
            at,
            number: self.timeline.events,
            len: u32::try_from(len).unwrap_or(u32::MAX),
            table: u8::try_from(table).unwrap_or(0),
            effect,
        });
    }

    #[cold]
    fn push_finding(
        &mut self,
        rule: &'static Rule,
        event: &Event<'_>,
        field: &str,
        message: impl Into<String>,
    ) {
        let finding = self.build_finding(rule, event, field, message);
        self.log.push(finding);
    }

    #[cold]
    fn build_finding(
        &self,
        rule: &'static Rule,
        event: &Event<'_>,
        field: &str,
        message: impl Into<String>,
    ) -> Finding {
        let span = Span::sized(self.layer(), event.at, event.len);
        let dot = if field.is_empty() { "" } else { "." };
        let number = self.timeline.events.saturating_sub(1);
        let path = format!("event[{number}].{}{dot}{field}", event.name());
        Finding::new(rule, span, path, message)
    }

    /// Place of the event that was counted last.
    fn place_of(&self, event: &Event<'_>) -> EventPlace {
        let number = self.timeline.events.saturating_sub(1);
        EventPlace { at: event.at, len: event.len, number }
    }
}
