//! A thread, as far as its stream was walked.

use std::collections::BTreeMap;

use crate::formats::ovni::decode::body::Body;
use crate::formats::ovni::layout::{
    self, FIRST_RANK, MODEL_COUNT, STACK_COUNT, Stack, TASK_BODY, TASK_MODELS, ThreadState, Version,
};
use crate::kit::span::{Layer, Span};

/// Place of an event in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventPlace {
    /// Offset.
    pub at: u64,
    /// Length in bytes.
    pub len: u64,
    /// Number of the event, from 0.
    pub number: u64,
}

impl EventPlace {
    /// Returns the span of the event.
    pub fn span(&self, layer: Layer) -> Span {
        Span::sized(layer, self.at, self.len)
    }
}

/// Task or worksharing whose label an OpenMP thread shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelSource {
    /// The task with this id.
    Task(u32),
    /// A worksharing of this type.
    Work(u32),
}

/// State of a thread, and everything that it has open.
#[derive(Clone, Debug)]
pub struct ThreadStatus {
    /// State of the state machine.
    pub state: ThreadState,
    /// The kernel has taken the thread off its CPU.
    pub is_off_cpu: bool,
    /// A flush is open.
    pub is_flushing: bool,
    /// Value of the last idle event of each task model.
    pub idle: [u8; TASK_MODELS],
    /// Open states of each stack, outermost first.
    pub stacks: [Vec<u16>; STACK_COUNT],
    /// Open bodies of each task table, outermost first.
    pub bodies: [Vec<Body>; TASK_MODELS],
    /// Open tasks and worksharings of OpenMP, outermost first.
    pub labels: Vec<LabelSource>,
    /// Values of each mark that is a stack.
    pub marks: BTreeMap<i32, Vec<i64>>,
    /// The last OHe, unless OHx followed.
    pub end: Option<ThreadEnd>,
}

impl Default for ThreadStatus {
    fn default() -> Self {
        Self {
            state: ThreadState::Unknown,
            is_off_cpu: false,
            is_flushing: false,
            // Threads start as progressing.
            idle: [b'p'; TASK_MODELS],
            stacks: Default::default(),
            bodies: Default::default(),
            labels: Vec::new(),
            marks: BTreeMap::new(),
            end: None,
        }
    }
}

impl ThreadStatus {
    /// Returns the open states of a stack, outermost first.
    pub fn stack(&self, stack: Stack) -> &[u16] {
        self.stacks.get(stack.index()).map_or(&[], Vec::as_slice)
    }

    /// Returns how many states, bodies, labels and values of marks are open.
    pub fn values(&self) -> usize {
        let states = self.stacks.iter().map(Vec::len);
        let bodies = self.bodies.iter().map(Vec::len);
        let marks = self.marks.values().map(|values| values.len().saturating_add(1));
        states.chain(bodies).chain(marks).fold(self.labels.len(), usize::saturating_add)
    }

    /// Returns the open bodies of a task table, outermost first.
    pub fn bodies(&self, table: usize) -> &[Body] {
        self.bodies.get(table).map_or(&[], Vec::as_slice)
    }
}

/// The end of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadEnd {
    /// Offset of OHe.
    pub at: u64,
    /// Its clock.
    pub clock: u64,
    /// State before it.
    pub state: ThreadState,
    /// Nothing that was open has changed since.
    pub is_final: bool,
}

/// Models and definitions that the events of a thread use.
#[derive(Clone, Debug)]
pub struct ModelUse {
    /// Bit of each model that was used.
    pub bits: u8,
    /// First event of each model.
    pub first: [Option<EventPlace>; MODEL_COUNT],
    /// Highest rank of an event of each model, one byte per model.
    pub ranks: u64,
    /// Newest version that introduced an event of each model, if above 1.1.0.
    pub newest: [Option<Version>; MODEL_COUNT],
    /// nosv events have the payload of nosv version 1.
    pub has_old_nosv: bool,
    /// Mark types that were used and are not defined.
    pub undefined_marks: BTreeMap<i32, MarkUse>,
    /// First event with hardware counters that are not defined, and their number.
    pub undefined_counters: Option<(EventPlace, u64)>,
}

impl Default for ModelUse {
    fn default() -> Self {
        Self {
            bits: 0,
            first: [None; MODEL_COUNT],
            ranks: u64::from_le_bytes([FIRST_RANK; MODEL_COUNT]),
            newest: [None; MODEL_COUNT],
            has_old_nosv: false,
            undefined_marks: BTreeMap::new(),
            undefined_counters: None,
        }
    }
}

impl ModelUse {
    /// Whether a model was used.
    #[inline]
    pub const fn has(&self, model: u8) -> bool {
        self.bits >> (model & 7) & 1 != 0
    }

    /// Returns the highest rank of an event of a model.
    #[inline]
    pub fn rank(&self, model: u8) -> u64 {
        self.ranks >> u32::from(model).saturating_mul(8) & 0xff
    }

    /// Returns the first event of a model.
    pub fn first_of(&self, model: usize) -> Option<EventPlace> {
        self.first.get(model).copied().flatten()
    }
}

/// First use of a mark type that is not defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkUse {
    /// The event.
    pub place: EventPlace,
    /// The event uses it as a stack.
    pub is_stack: bool,
}

/// End of the events of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamEnd {
    /// How they end.
    pub ending: Ending,
    /// Offset after the last event that counts.
    pub at: u64,
}

/// How the events of a stream end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a complete event.
    Complete,
    /// Inside an event that needs this many bytes.
    Truncated(u64),
    /// With bytes left over from an earlier run.
    Stale,
    /// Where `--strategy cut` ends the trace.
    Cut,
    /// Without an event: the header cannot be read, or the file does not exist.
    Unreadable,
}

/// A thread after its stream was walked.
#[derive(Clone, Debug)]
pub struct ThreadSummary {
    /// State, and everything that is open.
    pub status: ThreadStatus,
    /// Models and definitions that its events use.
    pub usage: ModelUse,
    /// End of its stream.
    pub end: StreamEnd,
    /// Number of complete events.
    pub events: u64,
    /// Clock of the first event.
    pub first_clock: Option<u64>,
    /// Clock of the last event that is in order.
    pub last_clock: u64,
}

/// Formats the event that opened a state.
pub fn display_state(stack: Stack, state: u16) -> String {
    if state == TASK_BODY {
        return "the body of a task".to_string();
    }
    let [category, value] = state.to_be_bytes();
    layout::display_code([stack.model_code(), category, value])
}
