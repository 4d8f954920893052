//! One thread as its stream tells it: the thread machine, its stacks, its bodies, its marks.
//!
//! ```text
//!  unknown -OHx-> running -OHc-> cooling        running, cooling -OHp-> paused -OHw-> warming
//!  running, cooling -OHe-> dead -OHx-> running  paused, warming -OHr-> running
//! ```
//!
//! What concerns other threads as well (CPUs, definitions, which body runs where) is handed on as
//! [`Cross`], in order, for [`merge`](super::merge) to put together. After a fault the machine goes
//! on as if the event had been right, so that one fault is one finding.

mod effect;
mod tasks;
mod walk;

use std::collections::{BTreeMap, VecDeque};

use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::decode::stream::{Event, Step, Walk, resync};
use crate::formats::ovni::layout::{
    self, Act, EventRow, Hot, LABEL_MAX, MODEL_COUNT, MODELS, MarkStep, Needs, Payload,
    RESERVED_FLAGS, STACK_COUNT, STACK_MAX, STREAM_HEADER, Stack, TASK_BODY, TaskStep, Version,
    model,
};
use crate::formats::ovni::rules;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::mend::edit::{Edit, Fix, Safety};
use crate::report::{Finding, Rule, Severity};

/// Clocks are compared as signed numbers.
pub const CLOCK_MAX: u64 = u64::MAX >> 1;
/// Events with a clock out of order that one fix gives another clock.
const CLAMPED_MAX: usize = 4096;
/// Marks and models of one stream that are remembered.
const KINDS_MAX: usize = 256;
/// Bytes of a region that is sorted.
const SORTED_MAX: u64 = 1 << 20;
/// Bytes of one stream that are walked once more to sort its regions.
const SORT_WORK: u64 = 8 << 20;
/// Beginnings of regions that are remembered as places to walk from.
const OPENED_MAX: usize = 1024;

/// State of the thread machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Before OHx.
    #[default]
    Unknown,
    /// Runs.
    Running,
    /// Runs and is about to pause.
    Cooling,
    /// Does not run.
    Paused,
    /// Does not run and is about to.
    Warming,
    /// After OHe.
    Dead,
}

impl State {
    /// Its bit in [`Hot::states`](layout::Hot::states).
    #[inline]
    pub const fn bit(self) -> u8 {
        match self {
            Self::Unknown => 1,
            Self::Running => 1 << 1,
            Self::Cooling => 1 << 2,
            Self::Paused => 1 << 3,
            Self::Warming => 1 << 4,
            Self::Dead => 1 << 5,
        }
    }

    /// Running, cooling or warming.
    #[inline]
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Running | Self::Cooling | Self::Warming)
    }

    /// The word in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "not begun",
            Self::Running => "running",
            Self::Cooling => "cooling",
            Self::Paused => "paused",
            Self::Warming => "warming",
            Self::Dead => "dead",
        }
    }
}

/// A body of a task on its thread's stack of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// Id of the task.
    pub task: u32,
    /// Id of the body; 0 for tasks with one.
    pub body: u32,
    /// It does not run now.
    pub paused: bool,
}

/// What the label on top of an OpenMP thread comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// A task.
    Task(u32),
    /// A worksharing of this type.
    Work(u32),
}

/// Models with tasks: index of their tables.
pub const TASK_MODELS: usize = 3;

/// Which table of tasks a model has.
pub const fn task_model(model: u8) -> Option<usize> {
    match model {
        model::NANOS6 => Some(0),
        model::NOSV => Some(1),
        model::OPENMP => Some(2),
        _ => None,
    }
}

/// First bytes of the codes of the models with tasks.
pub const TASK_CODES: [u8; TASK_MODELS] = [b'6', b'V', b'P'];

/// What an event means for other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrossKind {
    /// OHx on a CPU.
    Begin(i32),
    /// Runs (again).
    Run,
    /// Does not run any more.
    Stop,
    /// OHe.
    Dead,
    /// OAs.
    Move(i32),
    /// OAr: CPU and thread.
    Remote(i32, i32),
    /// A type: its id and a hash of its label.
    Type(u32, u64),
    /// A task: its id, its type, and whether it has many bodies.
    Create(u32, u32, bool),
    /// A body begins.
    Execute(u32, u32),
    /// A body ends.
    End(u32, u32),
    /// A worksharing of this type begins or ends.
    Work(u32),
    /// The innermost task or worksharing and the one that ends: their labels have to be the same.
    Same(Label, Label),
    /// The stream ends and the thread has not.
    Close,
}

/// An event that concerns other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cross {
    /// Its clock, never lower than the one before it in the stream.
    pub clock: u64,
    /// Offset in the stream.
    pub at: u64,
    /// Number of the event in the stream.
    pub number: u64,
    /// Length in bytes.
    pub len: u32,
    /// Table of tasks, for what concerns tasks.
    pub table: u8,
    /// What it is.
    pub kind: CrossKind,
}

impl Cross {
    /// The end of a stream whose thread has not ended.
    pub fn close(machine: &Machine<'_, '_>) -> Self {
        Self {
            clock: machine.clock,
            at: machine.end,
            number: machine.events,
            len: 0,
            table: 0,
            kind: CrossKind::Close,
        }
    }
}

/// What a machine has to know of the whole trace.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// There is metadata; a stream by itself has none.
    pub known: bool,
    /// Models that some thread requires.
    pub enabled: [bool; MODEL_COUNT],
    /// Types of marks: whether each is a stack.
    pub marks: BTreeMap<i32, bool>,
    /// Number of hardware counters.
    pub counters: Option<u64>,
    /// Bytes that a search behind damage looks at.
    pub resync: u64,
    /// Findings that are held.
    pub findings: usize,
}

/// Where something is in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Offset.
    pub at: u64,
    /// Bytes.
    pub len: u64,
    /// Number of the event.
    pub number: u64,
}

/// How the events of a stream end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a whole event.
    Whole,
    /// Inside an event that needs this many bytes.
    Torn(u64),
    /// With the rest of an older run.
    Stale,
    /// Where `--strategy cut` says.
    Cut,
    /// Nothing behind the header, or the header itself, can be read.
    Unreadable,
}

/// The thread as it was when it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtEnd {
    /// Offset of OHe.
    pub at: u64,
    /// Its clock.
    pub clock: u64,
    /// State before it.
    pub state: State,
    /// Nothing of what is closed at the end has changed since.
    pub last: bool,
}

/// Which events used a type of marks that is not defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkUse {
    /// The first of them.
    pub place: Place,
    /// Used as a stack.
    pub stack: bool,
}

/// The clocks that are out of order now.
#[derive(Clone, Debug, Default)]
struct Backwards {
    first: Option<(Place, u64)>,
    edits: Vec<Edit>,
    events: u64,
    before: u64,
}

#[derive(Clone, Copy, Debug)]
struct Region {
    place: Place,
    /// The clock before it.
    before: u64,
    lowest: Option<u64>,
}

/// A thread while its stream is walked.
#[derive(Debug)]
pub struct Machine<'s, 'a> {
    walk: Walk<'s, 'a>,
    file: Layer,
    /// Where findings go.
    pub log: Log,
    /// What concerns other threads and was not taken yet.
    pub queue: VecDeque<Cross>,
    /// The stream was walked to its end.
    pub ended: Option<Ending>,
    /// Offset after the last event that counts.
    pub end: u64,
    /// The metadata says that the run did not end: an older run's rest is told by its clocks.
    pub unfinished: bool,
    /// Events after this clock are left out (`--strategy cut`); above it no clock is one.
    pub ceiling: u64,
    /// Version that this thread requires of each model.
    pub required: [Option<Version>; MODEL_COUNT],

    /// Whole events.
    pub events: u64,
    /// Clock of the first event.
    pub first: Option<u64>,
    /// Clock of the last event that is in order.
    pub clock: u64,
    before_last: u64,
    /// Offset of the last event that is in order.
    last_at: u64,
    /// There was a first event, and no clock is out of order now.
    calm: bool,
    /// Bit of each model that was used.
    used_bits: u8,
    backwards: Backwards,
    region: Option<Region>,
    /// Where the latest regions begin, and the clock there.
    opened: VecDeque<(u64, u64)>,
    /// Bytes that may still be walked once more.
    sort_work: u64,

    /// State of the thread.
    pub state: State,
    /// The kernel has it off its CPU.
    pub out: bool,
    told_out: bool,
    told_state: bool,
    /// A flush is open.
    pub flushing: bool,
    stacks: [Vec<u16>; STACK_COUNT],
    bodies: [Vec<Body>; TASK_MODELS],
    /// Labels of OpenMP.
    pub labels: Vec<Label>,
    idle: [u8; TASK_MODELS],
    /// Values on each mark that is a stack.
    pub marks: BTreeMap<i32, Vec<i64>>,
    /// The last OHe.
    pub died: Option<AtEnd>,

    /// First event of each model.
    pub used: [Option<Place>; MODEL_COUNT],
    /// nosv events have the payload of version 1.
    pub old_nosv: bool,
    /// Types of marks that were used and are not defined.
    pub undefined_marks: BTreeMap<i32, MarkUse>,
    /// First event with counters that are not defined, and their number.
    pub undefined_counters: Option<(Place, u64)>,
    foreign: BTreeMap<u8, ()>,
    newer: [bool; MODEL_COUNT],
    /// Highest rank of an event of each model that was looked at closely, a byte each.
    ranks: u64,
    /// Newest version that the events of each model came with, where it is above 1.1.0.
    pub seen: [Option<Version>; MODEL_COUNT],
    told_flags: bool,
    told_code: bool,
}

impl<'s, 'a> Machine<'s, 'a> {
    /// A thread whose stream is file number `file`; `source` has a sound header.
    pub fn new(source: &'s Source<'a>, file: u32, shared: &Shared) -> Self {
        Self {
            walk: Walk::new(source, STREAM_HEADER),
            file: Layer::stored(file),
            log: Log::new(shared.findings),
            queue: VecDeque::new(),
            ended: None,
            end: STREAM_HEADER.min(source.len()),
            unfinished: false,
            ceiling: CLOCK_MAX,
            required: [None; MODEL_COUNT],
            events: 0,
            first: None,
            clock: 0,
            before_last: 0,
            last_at: 0,
            calm: false,
            used_bits: 0,
            backwards: Backwards::default(),
            region: None,
            opened: VecDeque::new(),
            sort_work: SORT_WORK,
            state: State::Unknown,
            out: false,
            told_out: false,
            told_state: false,
            flushing: false,
            stacks: Default::default(),
            bodies: Default::default(),
            labels: Vec::new(),
            idle: [b'p'; TASK_MODELS],
            marks: BTreeMap::new(),
            died: None,
            used: [None; MODEL_COUNT],
            old_nosv: false,
            undefined_marks: BTreeMap::new(),
            undefined_counters: None,
            foreign: BTreeMap::new(),
            newer: [false; MODEL_COUNT],
            ranks: u64::from_le_bytes([layout::FIRST_RANK; MODEL_COUNT]),
            seen: [None; MODEL_COUNT],
            told_flags: false,
            told_code: false,
        }
    }

    /// The stream's file.
    pub const fn layer(&self) -> Layer {
        self.file
    }

    /// The stream.
    pub const fn source(&self) -> &'s Source<'a> {
        self.walk.source()
    }

    /// The open states of a stack, outermost first.
    pub fn stack(&self, stack: Stack) -> &[u16] {
        self.stacks.get(stack.index()).map_or(&[], Vec::as_slice)
    }

    /// The open bodies of a model, outermost first.
    pub fn bodies(&self, table: usize) -> &[Body] {
        self.bodies.get(table).map_or(&[], Vec::as_slice)
    }
}

/// `VTx`, safe to print.
pub fn name(event: &Event<'_>) -> String {
    layout::shown(event.code)
}

/// `1.2.0`.
pub fn version((major, minor, patch): Version) -> String {
    format!("{major}.{minor}.{patch}")
}

/// The event that opened a state, as text.
pub fn state_name(stack: Stack, state: u16) -> String {
    if state == TASK_BODY {
        return "a task's body".to_string();
    }
    let [category, value] = state.to_be_bytes();
    layout::shown([stack.model_code(), category, value])
}

#[inline]
pub(super) fn field_u32(event: &Event<'_>, at: usize) -> u32 {
    let field = event.body.get(at..).and_then(|rest| rest.first_chunk::<4>());
    field.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[inline]
pub(super) fn field_i32(event: &Event<'_>, at: usize) -> i32 {
    i32::from_le_bytes(field_u32(event, at).to_le_bytes())
}

#[inline]
pub(super) fn field_i64(event: &Event<'_>, at: usize) -> i64 {
    let field = event.body.get(at..).and_then(|rest| rest.first_chunk::<8>());
    field.map_or(0, |bytes| i64::from_le_bytes(*bytes))
}
