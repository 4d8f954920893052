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
/// Regions of one stream that are sorted at once.
const REGIONS_MAX: usize = 16;

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
    /// Offset of the last event.
    last_at: u64,
    /// There was a first event, and no clock is out of order now.
    calm: bool,
    /// Bit of each model that was used.
    used_bits: u8,
    backwards: Backwards,
    region: Option<Region>,
    sorted: usize,

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
    /// Highest CPU that was named.
    pub highest_cpu: Option<(i32, Place)>,
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
            sorted: 0,
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
            highest_cpu: None,
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

    /// Walks on until the stream ends or `capacity` events wait in the queue.
    pub fn fill(&mut self, shared: &Shared, capacity: usize) {
        while self.ended.is_none() && self.queue.len() < capacity {
            // The walk is taken out of the machine while an event of it is looked at.
            let nothing = Walk::new(self.walk.source(), u64::MAX);
            let mut walk = std::mem::replace(&mut self.walk, nothing);
            self.run(&mut walk, shared, capacity);
            self.walk = walk;
        }
    }

    fn run(&mut self, walk: &mut Walk<'s, 'a>, shared: &Shared, capacity: usize) {
        loop {
            self.stride(walk);
            let from = match walk.step() {
                Step::Event(event) => {
                    if self.event(&event, shared) {
                        if self.queue.len() >= capacity {
                            return;
                        }
                        continue;
                    }
                    if self.ended.is_some() {
                        self.end = event.at;
                        self.close_run();
                        return;
                    }
                    // No event: damage.
                    event.at
                }
                Step::Torn { at, needed } => {
                    if self.state == State::Dead {
                        self.stop(at, Ending::Stale);
                    } else if let Some(next) = resync(walk.source(), at, self.clock, shared.resync)
                    {
                        self.damage(at, next);
                        walk.seek(next);
                        continue;
                    } else {
                        self.stop(at, Ending::Torn(needed));
                    }
                    return;
                }
                Step::End => {
                    self.stop(walk.source().len(), Ending::Whole);
                    return;
                }
            };
            match resync(walk.source(), from, self.clock, shared.resync) {
                Some(next) => {
                    self.damage(from, next);
                    walk.seek(next);
                }
                None => {
                    let left = walk.source().len().saturating_sub(from);
                    self.stop(from, Ending::Torn(left.saturating_add(1)));
                    return;
                }
            }
        }
    }

    fn stop(&mut self, at: u64, ending: Ending) {
        self.ended = Some(ending);
        self.end = at;
        self.close_run();
    }

    /// Takes events that do nothing but open and close states, as long as nothing about them is
    /// unusual. Most events of most streams are taken here.
    #[inline]
    fn stride(&mut self, walk: &mut Walk<'s, 'a>) {
        if !self.calm || self.out || self.died.is_some() {
            return;
        }
        let state = self.state.bit();
        let (mut clock, mut before, mut events) = (self.clock, self.before_last, self.events);
        let mut rest = walk.rest();
        while let Some((head, tail)) = rest.split_first_chunk::<12>() {
            let [flags, model, category, value, time @ ..] = *head;
            let now = u64::from_le_bytes(time);
            let hot = layout::number([model, category, value]).and_then(layout::hot);
            let Some(hot) = hot else { break };
            let usual = flags == 0
                && hot.flags == 0
                && hot.states & state != 0
                && self.used_bits >> hot.model & 1 != 0
                && now >= clock
                && now <= self.ceiling
                && u64::from(hot.rank) <= self.rank(hot.model);
            if !usual {
                break;
            }
            match hot.act {
                Act::Push(stack) => {
                    let Some(open) = self.stacks.get_mut(stack.index()) else { break };
                    if open.last() == Some(&hot.state) && !stack.repeats()
                        || open.len() >= STACK_MAX
                    {
                        break;
                    }
                    open.push(hot.state);
                }
                Act::Pop(stack) => {
                    let Some(open) = self.stacks.get_mut(stack.index()) else { break };
                    if open.last() != Some(&hot.state) {
                        break;
                    }
                    open.pop();
                }
                Act::Ignore => {}
                _ => break,
            }
            (before, clock) = (clock, now);
            events = events.saturating_add(1);
            rest = tail;
        }
        if events != self.events {
            (self.clock, self.before_last, self.events) = (clock, before, events);
            walk.go_on(rest);
            self.last_at = walk.at().saturating_sub(layout::EVENT_HEADER);
        }
    }

    #[cold]
    fn damage(&mut self, from: u64, to: u64) {
        let span = Span::new(self.file, from, to);
        let count = span.len();
        let message = format!("{count} bytes are no event; events follow again at {to:#x}");
        let fix = Fix::new(
            Safety::Lossy,
            format!("drops {count} bytes that are no event"),
            vec![Edit::drop(span)],
        );
        self.log.push(Finding::new(&rules::DAMAGED_BYTES, span, "events", message).fix(fix));
    }

    #[cold]
    fn report(&mut self, rule: &'static Rule, event: &Event<'_>, field: &str, message: String) {
        let finding = self.finding(rule, event, field, message);
        self.log.push(finding);
    }

    #[cold]
    fn finding(
        &self,
        rule: &'static Rule,
        event: &Event<'_>,
        field: &str,
        text: String,
    ) -> Finding {
        let span = Span::sized(self.file, event.at, event.len);
        let code = layout::shown(event.code);
        let dot = if field.is_empty() { "" } else { "." };
        let path = format!("event[{}].{code}{dot}{field}", self.events.saturating_sub(1));
        Finding::new(rule, span, path, text)
    }

    fn place(&self, event: &Event<'_>) -> Place {
        Place { at: event.at, len: event.len, number: self.events.saturating_sub(1) }
    }

    #[inline]
    fn cross(&mut self, event: &Event<'_>, table: usize, kind: CrossKind) {
        self.queue.push_back(Cross {
            clock: self.clock,
            at: event.at,
            number: self.events,
            len: u32::try_from(event.len).unwrap_or(u32::MAX),
            table: u8::try_from(table).unwrap_or(0),
            kind,
        });
    }

    /// Takes an event; `false` if it is none, or if the stream ends before it.
    #[inline]
    fn event(&mut self, event: &Event<'_>, shared: &Shared) -> bool {
        let number = layout::number(event.code);
        let Some(hot) = number.and_then(layout::hot) else {
            return self.unusual(event, number, shared);
        };
        let in_order = event.clock >= self.clock && event.clock <= self.ceiling && self.calm;
        let plain = event.flags == hot.flags && hot.states & self.state.bit() != 0;
        let used = self.used_bits >> hot.model & 1 != 0;
        if !(in_order && plain && used) || self.out || u64::from(hot.rank) > self.rank(hot.model) {
            return self.unusual(event, number, shared);
        }
        self.before_last = self.clock;
        self.clock = event.clock;
        self.events = self.events.saturating_add(1);
        self.last_at = event.at;
        self.effect(event, hot, shared);
        true
    }

    /// An event of which something has to be looked at more closely.
    #[cold]
    fn unusual(&mut self, event: &Event<'_>, number: Option<u16>, shared: &Shared) -> bool {
        if number.is_none() && !self.unknown_is_event(event) {
            return false;
        }
        if event.clock < self.clock || event.clock > CLOCK_MAX {
            if !self.backwards(event) {
                return false;
            }
        } else {
            if event.clock > self.ceiling {
                self.ended = Some(Ending::Cut);
                return false;
            }
            if self.backwards.first.is_some() {
                self.close_run();
            }
            self.before_last = self.clock;
            self.clock = event.clock;
        }
        self.events = self.events.saturating_add(1);
        self.last_at = event.at;
        if self.first.is_none() {
            self.first = Some(self.clock);
            self.before_last = self.clock;
        }
        self.calm = self.backwards.first.is_none();
        if event.flags & (RESERVED_FLAGS | layout::JUMBO) != 0 {
            self.flags(event);
        }
        let (Some(row), Some(hot)) =
            (number.and_then(layout::numbered), number.and_then(layout::hot))
        else {
            let [first, ..] = event.code;
            self.unknown(event, layout::model_of(first), shared);
            return true;
        };
        if self.used_bits >> hot.model & 1 == 0 {
            self.used_bits |= 1 << hot.model;
            let place = self.place(event);
            if let Some(used) = self.used.get_mut(usize::from(hot.model)) {
                used.get_or_insert(place);
            }
        }
        let fits = match row.payload {
            Payload::Exact(len) => {
                !event.is_jumbo()
                    && event.len == layout::EVENT_HEADER.saturating_add(u64::from(len))
            }
            Payload::Jumbo(len) => event.is_jumbo() && event.body_len() >= u64::from(len),
        };
        if fits {
            self.act(event, hot, row, shared);
        } else {
            self.misfit(event, hot, row, shared);
        }
        true
    }

    #[inline]
    fn rank(&self, model: u8) -> u64 {
        self.ranks >> u32::from(model).saturating_mul(8) & 0xff
    }

    /// An event whose payload is not what the newest version's signature says.
    #[cold]
    fn misfit(&mut self, event: &Event<'_>, hot: &Hot, row: &'static EventRow, shared: &Shared) {
        let number = hot.model;
        let (sized, len) = (event.is_jumbo(), event.body_len());
        let nosv = self.required.get(usize::from(model::NOSV)).copied().flatten();
        if !sized
            && number == model::NOSV
            && let Some(old) = layout::older(event.code, len)
        {
            self.old_nosv = true;
            if nosv.is_none_or(|(major, ..)| major < 2) {
                self.act(event, hot, old, shared);
                return;
            }
        }
        let (wants, fields) = match row.payload {
            Payload::Exact(fields) => (format!("{fields} bytes"), u64::from(fields)),
            Payload::Jumbo(fields) => {
                (format!("a jumbo payload of at least {fields} bytes"), u64::from(fields))
            }
        };
        let has = if sized { format!("a jumbo payload of {len}") } else { len.to_string() };
        let message = format!("{} has {has} bytes, {} takes {wants}", name(event), row.signature);
        let mut finding = self.finding(&rules::PAYLOAD_SIZE, event, "payload", message);
        // The tools look at the size of these alone, or read fields that are not there.
        let exact = matches!(row.act, Act::AffinitySet | Act::AffinityRemote | Act::Mark(_))
            || matches!(row.act, Act::Create(_)) && number != model::NOSV;
        let plain = matches!(row.payload, Payload::Exact(_)) && !sized;
        let readable = plain && len >= fields && !exact;
        let needless = row.payload == Payload::Exact(0) || row.act == Act::Ignore;
        if readable || needless {
            finding.severity = Severity::Warning;
        }
        self.log.push(finding);
        let follows = matches!(row.act, Act::Thread(_)) && row.code != *b"OHx";
        if readable || needless || follows {
            self.act(event, hot, row, shared);
        } else if row.code == *b"OHx" {
            self.thread(event, layout::Step::Execute);
        }
    }

    #[cold]
    fn flags(&mut self, event: &Event<'_>) {
        if event.flags & RESERVED_FLAGS != 0 && !self.told_flags {
            self.told_flags = true;
            let message =
                format!("{} has flags {:#04x}, bits 5 to 7 are 0", name(event), event.flags);
            self.report(&rules::RESERVED_FLAGS, event, "flags", message);
        }
        if event.is_jumbo() && event.flags & 0x0f != layout::JUMBO_CODE && !self.told_code {
            self.told_code = true;
            let code = event.flags & 0x0f;
            let message =
                format!("the payload code of {} is {code}, libovni writes 3", name(event));
            self.report(&rules::JUMBO_CODE, event, "flags", message);
        }
    }

    /// Whether something that no table knows can be an event at all.
    #[cold]
    fn unknown_is_event(&mut self, event: &Event<'_>) -> bool {
        if layout::printable(event.code) {
            return true;
        }
        if self.state == State::Dead {
            self.ended = Some(Ending::Stale);
        }
        false
    }

    #[cold]
    fn unknown(&mut self, event: &Event<'_>, number: Option<u8>, shared: &Shared) {
        let Some(number) = number else {
            let [first, ..] = event.code;
            if !self.foreign.contains_key(&first) && self.foreign.len() < KINDS_MAX {
                self.foreign.insert(first, ());
                let message = format!(
                    "model `{}` is not known here; its events are kept",
                    Untrusted(&[first])
                );
                self.report(&rules::UNKNOWN_MODEL, event, "", message);
            }
            return;
        };
        let index = usize::from(number);
        let name_of = MODELS.get(index).map_or("", |model| model.name);
        if let Some(used) = self.used.get_mut(index).filter(|used| used.is_none()) {
            let number = self.events.saturating_sub(1);
            *used = Some(Place { at: event.at, len: event.len, number });
        }
        let message = format!("model {name_of} has no event {}", name(event));
        let mut finding = self.finding(&rules::UNKNOWN_EVENT, event, "", message);
        let passed_over = number == model::OVNI && matches!(event.code, [_, b'U' | b'B', _]);
        let enabled = !shared.known || shared.enabled.get(index).copied().unwrap_or(false);
        if passed_over || !enabled {
            finding.severity = Severity::Info;
        }
        self.log.push(finding);
    }

    /// An event with a lower clock than the one before it. `false` if it is an older run's.
    #[cold]
    fn backwards(&mut self, event: &Event<'_>) -> bool {
        if let Some(region) = &mut self.region {
            let lowest = region.lowest.map_or(event.clock, |lowest| lowest.min(event.clock));
            region.lowest = Some(lowest);
            return true;
        }
        let older = self.first.is_some_and(|first| event.clock < first);
        if self.state == State::Dead || self.unfinished && older && self.events > 1 {
            self.ended = Some(Ending::Stale);
            return false;
        }
        let place = Place { at: event.at, len: event.len, number: self.events };
        let layer = self.file;
        let clamp = move |place: &Place, clock: u64| {
            let at = place.at.saturating_add(4);
            Edit::replace(Span::sized(layer, at, 8), clock.to_le_bytes())
        };
        if self.backwards.first.is_none() {
            let top = event.clock >> 63 != 0;
            // One event that is too late by itself: the ones around it are in order without it.
            let single = !top && event.clock >= self.before_last && self.events > 1;
            self.backwards = Backwards {
                first: Some((place, event.clock)),
                before: self.clock,
                ..Backwards::default()
            };
            if single {
                let last = Place { at: self.last_at, ..place };
                let edit = clamp(&last, self.before_last);
                self.backwards.edits.push(edit);
                self.backwards.events = 1;
                if let Some(cross) = self.queue.back_mut().filter(|cross| cross.at == last.at) {
                    cross.clock = self.before_last;
                }
                self.clock = event.clock;
                self.close_run();
                return true;
            }
        }
        self.backwards.events = self.backwards.events.saturating_add(1);
        if self.backwards.edits.len() < CLAMPED_MAX {
            let edit = clamp(&place, self.clock);
            self.backwards.edits.push(edit);
        }
        true
    }

    /// Reports the clocks that were out of order.
    #[cold]
    fn close_run(&mut self) {
        let run = std::mem::take(&mut self.backwards);
        let Some((place, clock)) = run.first else { return };
        let span = Span::sized(self.file, place.at.saturating_add(4), 8);
        let message = format!(
            "clock {clock} follows {}; {} of the events around it out of order",
            run.before,
            if run.events == 1 { "1 is".to_string() } else { format!("{} are", run.events) }
        );
        let path = format!("event[{}].clock", place.number);
        let mut finding = Finding::new(&rules::CLOCK_BACKWARDS, span, path, message);
        if to_u64(run.edits.len()) == run.events {
            let summary = match run.edits.as_slice() {
                [one] if one.span.start < place.at => {
                    "gives the event before it, which is too late by itself, the clock before that"
                        .to_string()
                }
                edits => format!("gives {} events the clock before them", edits.len()),
            };
            finding = finding.fix(Fix::new(Safety::Synthetic, summary, run.edits));
        }
        self.log.push(finding);
    }

    /// Judges whether an event may come now, and takes it.
    fn act(&mut self, event: &Event<'_>, hot: &Hot, row: &EventRow, shared: &Shared) {
        if hot.states & self.state.bit() == 0 {
            let needs = MODELS.get(usize::from(hot.model)).map_or(Needs::Nothing, |m| m.needs);
            self.wrong_state(event, needs);
        }
        if self.out && hot.on_cpu {
            self.off_cpu(event);
        }
        if u64::from(hot.rank) > self.rank(hot.model) {
            self.newer(event, hot, row);
        }
        self.effect(event, hot, shared);
    }

    #[inline]
    fn effect(&mut self, event: &Event<'_>, hot: &Hot, shared: &Shared) {
        let number = hot.model;
        match hot.act {
            Act::Push(stack) => self.push(event, stack, hot.state),
            Act::Pop(stack) => self.pop(event, stack, hot.state),
            Act::Task(step) => self.task(event, number, step),
            Act::Ignore => {}
            Act::Thread(step) => self.thread(event, step),
            Act::AffinitySet => self.affinity_set(event),
            Act::AffinityRemote => {
                let (cpu, tid) = (field_i32(event, 0), field_i32(event, 4));
                self.saw_cpu(event, cpu);
                self.cross(event, 0, CrossKind::Remote(cpu, tid));
            }
            Act::Flush(open) => self.flush(event, open),
            Act::Region(open) => self.region(event, open),
            Act::Mark(step) => self.mark(event, step, shared),
            Act::Kernel(out) => self.kernel(event, out),
            Act::Idle => self.idle(event, number),
            Act::Type => self.define(event, number),
            Act::Create(parallel) => self.create(event, number, parallel),
            Act::Work(open) => self.work(event, number, open),
            Act::Counters => self.counters(event, shared),
        }
    }

    #[cold]
    fn wrong_state(&mut self, event: &Event<'_>, needs: Needs) {
        if std::mem::replace(&mut self.told_state, true) {
            return;
        }
        let wanted = if needs == Needs::Active { "active" } else { "running" };
        let state = self.state.name();
        let message = format!("{} comes while the thread is {state}, not {wanted}", name(event));
        self.report(&rules::EVENT_STATE, event, "", message);
    }

    #[cold]
    fn off_cpu(&mut self, event: &Event<'_>) {
        if !std::mem::replace(&mut self.told_out, true) {
            let message = format!("{} comes between KCO and KCI", name(event));
            self.report(&rules::OUT_OF_CPU, event, "", message);
        }
    }

    #[cold]
    fn newer(&mut self, event: &Event<'_>, hot: &Hot, row: &EventRow) {
        let index = usize::from(hot.model);
        let shift = u32::from(hot.model).saturating_mul(8);
        self.ranks = self.ranks & !(0xff << shift) | u64::from(hot.rank) << shift;
        if let Some(seen) = self.seen.get_mut(index).filter(|seen| **seen < Some(row.since)) {
            *seen = Some(row.since);
        }
        let Some(Some(wanted)) = self.required.get(index).copied() else { return };
        if row.since > wanted && !self.newer.get(index).copied().unwrap_or(true) {
            if let Some(told) = self.newer.get_mut(index) {
                *told = true;
            }
            let message = format!(
                "{} came with version {}, the thread requires {}",
                name(event),
                version(row.since),
                version(wanted)
            );
            self.report(&rules::EVENT_NEWER, event, "", message);
        }
    }

    fn push(&mut self, event: &Event<'_>, stack: Stack, state: u16) {
        let Some(open) = self.stacks.get_mut(stack.index()) else { return };
        let again = open.last() == Some(&state) && !stack.repeats();
        let full = open.len() >= STACK_MAX;
        if !full {
            open.push(state);
        }
        if again || full {
            let message = if full {
                format!("{} opens more than {STACK_MAX} states of {}", name(event), stack.name())
            } else {
                format!("{} opens a {} that is open already", name(event), stack.name())
            };
            self.report(&rules::STACK_MISMATCH, event, "", message);
        }
        self.changed();
    }

    fn pop(&mut self, event: &Event<'_>, stack: Stack, state: u16) {
        let Some(open) = self.stacks.get_mut(stack.index()) else { return };
        if open.last() == Some(&state) {
            open.pop();
        } else {
            self.pop_wrong(event, stack, state);
        }
        self.changed();
    }

    #[cold]
    fn pop_wrong(&mut self, event: &Event<'_>, stack: Stack, state: u16) {
        let Some(open) = self.stacks.get_mut(stack.index()) else { return };
        let top = open.last().copied();
        if let Some(depth) = open.iter().rposition(|value| *value == state) {
            open.truncate(depth);
        }
        let closes = state_name(stack, state);
        let message = match top {
            Some(top) => {
                let top = state_name(stack, top);
                format!("{} closes {closes}, the innermost {} is {top}", name(event), stack.name())
            }
            None => format!("{} closes {closes}, no {} is open", name(event), stack.name()),
        };
        self.report(&rules::STACK_MISMATCH, event, "", message);
    }

    /// Something that is closed at the end has changed.
    #[inline]
    fn changed(&mut self) {
        if let Some(died) = &mut self.died {
            died.last = false;
        }
    }

    fn thread(&mut self, event: &Event<'_>, step: layout::Step) {
        use layout::Step as S;
        let state = self.state;
        let (allowed, next) = match step {
            S::Execute => (matches!(state, State::Unknown | State::Dead), State::Running),
            S::End => (matches!(state, State::Running | State::Cooling), State::Dead),
            S::Pause => (matches!(state, State::Running | State::Cooling), State::Paused),
            S::Resume => (matches!(state, State::Paused | State::Warming), State::Running),
            S::Cool => (state == State::Running, State::Cooling),
            S::Warm => (state == State::Paused, State::Warming),
        };
        if !allowed {
            let message = format!("{} comes while the thread is {}", name(event), state.name());
            self.report(&rules::THREAD_STATE, event, "", message);
        } else if step == S::Execute && state == State::Dead {
            let message = "OHx comes after OHe: the thread begins a second time".to_string();
            self.report(&rules::EVENT_AFTER_END, event, "", message);
        }
        self.state = next;
        self.told_state = false;
        match step {
            S::Execute => {
                let cpu = if event.body.len() >= 4 { field_i32(event, 0) } else { -1 };
                self.saw_cpu(event, cpu);
                self.died = None;
                self.cross(event, 0, CrossKind::Begin(cpu));
            }
            S::End => {
                self.died = Some(AtEnd { at: event.at, clock: self.clock, state, last: true });
                self.cross(event, 0, CrossKind::Dead);
            }
            S::Pause | S::Cool => self.cross(event, 0, CrossKind::Stop),
            S::Resume => self.cross(event, 0, CrossKind::Run),
            S::Warm => {}
        }
    }

    fn saw_cpu(&mut self, event: &Event<'_>, cpu: i32) {
        if cpu >= -1 && self.highest_cpu.is_none_or(|(highest, _)| cpu > highest) {
            self.highest_cpu = Some((cpu, self.place(event)));
        }
    }

    fn affinity_set(&mut self, event: &Event<'_>) {
        let cpu = field_i32(event, 0);
        self.saw_cpu(event, cpu);
        if !self.state.is_active() {
            let message =
                format!("OAs comes while the thread is {}, not active", self.state.name());
            self.report(&rules::THREAD_STATE, event, "", message);
            return;
        }
        self.cross(event, 0, CrossKind::Move(cpu));
    }

    fn flush(&mut self, event: &Event<'_>, open: bool) {
        if self.flushing == open {
            let message = if open { "OF[ comes inside a flush" } else { "OF] ends no flush" };
            self.report(&rules::FLUSH_ORDER, event, "", message.to_string());
        }
        self.flushing = open;
    }

    fn region(&mut self, event: &Event<'_>, open: bool) {
        if open == self.region.is_some() {
            let message = if open { "OU[ comes inside a region" } else { "OU] ends no region" };
            self.report(&rules::REGION_ORDER, event, "", message.to_string());
        }
        let region = self.region.take();
        if open {
            let lowest = region.and_then(|region| region.lowest);
            self.region = Some(Region { place: self.place(event), lowest });
        } else if let Some(Region { place, lowest: Some(lowest) }) = region {
            self.unsorted(&place, lowest, event);
        }
    }

    /// A region whose events go back to `lowest`.
    #[cold]
    fn unsorted(&mut self, opened: &Place, lowest: u64, event: &Event<'_>) {
        let span = Span::new(self.file, opened.at, event.end());
        let message = format!(
            "the region from OU[ to OU] goes back to clock {lowest}, the stream was at {}",
            self.clock
        );
        let path = format!("event[{}].OU[", opened.number);
        let mut finding = Finding::new(&rules::UNSORTED_REGION, span, path, message);
        if self.sorted < REGIONS_MAX {
            self.sorted = self.sorted.saturating_add(1);
            if let Some(edit) = sort(self.walk_source(), self.file, lowest, event.end()) {
                let summary = format!("sorts {} bytes of events by their clocks", edit.span.len());
                finding = finding.fix(Fix::new(Safety::Exact, summary, vec![edit]));
            }
        }
        self.log.push(finding);
    }

    const fn walk_source(&self) -> &'s Source<'a> {
        self.walk.source()
    }

    fn mark(&mut self, event: &Event<'_>, step: MarkStep, shared: &Shared) {
        let (value, kind) = (field_i64(event, 0), field_i32(event, 8));
        if value == 0 {
            let message = format!("{} gives mark {kind} the value 0", name(event));
            self.report(&rules::BAD_ARGUMENT, event, "value", message);
        }
        let stack = step != MarkStep::Set;
        match shared.marks.get(&kind) {
            None if shared.known => {
                let place = self.place(event);
                if self.undefined_marks.len() < KINDS_MAX {
                    self.undefined_marks.entry(kind).or_insert(MarkUse { place, stack });
                }
            }
            Some(defined) if *defined != stack => {
                let defined = if *defined { "a stack" } else { "single" };
                let message = format!("{} is about mark {kind}, which is {defined}", name(event));
                self.report(&rules::MARK_KIND, event, "type", message);
                return;
            }
            _ => {}
        }
        if self.marks.len() >= KINDS_MAX && !self.marks.contains_key(&kind) {
            return;
        }
        let values = self.marks.entry(kind).or_default();
        let wrong = match step {
            MarkStep::Set => None,
            MarkStep::Push if values.len() >= STACK_MAX => {
                Some(format!("OM[ opens more than {STACK_MAX} values of mark {kind}"))
            }
            MarkStep::Push => {
                values.push(value);
                None
            }
            MarkStep::Pop if values.last() == Some(&value) => {
                values.pop();
                None
            }
            MarkStep::Pop => {
                let top = values.last().copied();
                if let Some(depth) = values.iter().rposition(|open| *open == value) {
                    values.truncate(depth);
                }
                Some(match top {
                    Some(top) => {
                        format!("OM] closes {value} of mark {kind}, the innermost is {top}")
                    }
                    None => format!("OM] closes {value} of mark {kind}, nothing is open"),
                })
            }
        };
        if let Some(message) = wrong {
            self.report(&rules::STACK_MISMATCH, event, "value", message);
        }
    }

    fn kernel(&mut self, event: &Event<'_>, out: bool) {
        if self.out == out {
            let where_ = if out { "off its CPU already" } else { "on its CPU" };
            let message = format!("{} comes while the thread is {where_}", name(event));
            self.report(&rules::OUT_OF_CPU, event, "", message);
        }
        self.out = out;
        self.told_out = false;
    }

    fn idle(&mut self, event: &Event<'_>, number: u8) {
        let [.., value] = event.code;
        let Some(idle) = task_model(number).and_then(|table| self.idle.get_mut(table)) else {
            return;
        };
        if std::mem::replace(idle, value) == value {
            let message = format!("{} sets the idle state that is set", name(event));
            self.report(&rules::SAME_IDLE, event, "", message);
        }
    }

    fn define(&mut self, event: &Event<'_>, number: u8) {
        let Some(table) = task_model(number) else { return };
        let id = field_u32(event, 0);
        let label = event.body.get(4..).unwrap_or_default();
        let text = label.split(|byte| *byte == 0).next().unwrap_or_default();
        if id == 0 {
            let message = format!("{} defines type 0", name(event));
            self.report(&rules::BAD_ARGUMENT, event, "typeid", message);
        }
        if text.len() == label.len() && event.body_len() == to_u64(event.body.len()) {
            self.unterminated(event, label);
        }
        if text.len() >= LABEL_MAX {
            let message = format!("the label of type {id} has {} bytes", text.len());
            self.report(&rules::LABEL_TOO_LONG, event, "label", message);
        }
        // Labels are compared, not kept; without one the emulator makes one of the id.
        let hash = if text.is_empty() { u64::from(id) } else { hash(text) };
        self.cross(event, table, CrossKind::Type(id, hash));
    }

    #[cold]
    fn unterminated(&mut self, event: &Event<'_>, label: &[u8]) {
        let message = format!("the label {:?} has no NUL at its end", Untrusted(label));
        let size = u32::try_from(event.body_len()).unwrap_or(u32::MAX).checked_add(1);
        let mut finding = self.finding(&rules::LABEL_UNTERMINATED, event, "label", message);
        if let Some(size) = size {
            let at = event.at.saturating_add(layout::EVENT_HEADER);
            let end = Span::sized(self.file, event.end(), 0);
            let edits = vec![
                Edit::replace(Span::sized(self.file, at, 4), size.to_le_bytes()),
                Edit::replace(end, [0]),
            ];
            finding = finding.fix(Fix::new(Safety::Synthetic, "adds the NUL", edits));
        }
        self.log.push(finding);
    }

    fn create(&mut self, event: &Event<'_>, number: u8, parallel: bool) {
        let Some(table) = task_model(number) else { return };
        let (task, kind) = (field_u32(event, 0), field_u32(event, 4));
        if number == model::OPENMP && (task == 0 || kind == 0) {
            let message = format!("PPc creates task {task} with type {kind}, neither may be 0");
            self.report(&rules::BAD_ARGUMENT, event, "taskid", message);
        }
        self.cross(event, table, CrossKind::Create(task, kind, parallel));
    }

    fn task(&mut self, event: &Event<'_>, number: u8, step: TaskStep) {
        let Some(table) = task_model(number) else { return };
        let task = field_u32(event, 0);
        let body = if event.body.len() >= 8 { field_u32(event, 4) } else { 0 };
        if task == 0 {
            let message = format!("{} is about task 0", name(event));
            self.report(&rules::BAD_ARGUMENT, event, "taskid", message);
        }
        let this = Body { task, body, paused: false };
        let Some(bodies) = self.bodies.get_mut(table) else { return };
        let top = bodies.last().copied();
        let wrong = match step {
            TaskStep::Execute => {
                let nests = number == model::NOSV && top.is_some_and(|top| !top.paused);
                if bodies.len() < STACK_MAX {
                    bodies.push(this);
                }
                nests.then_some("begins over one that runs")
            }
            TaskStep::End if top == Some(this) => {
                bodies.pop();
                None
            }
            TaskStep::Pause if top == Some(this) => {
                if let Some(top) = bodies.last_mut() {
                    top.paused = true;
                }
                (body != 0).then_some("pauses, though it is one of a parallel task")
            }
            TaskStep::Resume if top == Some(Body { paused: true, ..this }) => {
                if let Some(top) = bodies.last_mut() {
                    top.paused = false;
                }
                None
            }
            _ => {
                let mine = |open: &Body| (open.task, open.body) == (task, body);
                let depth = bodies.iter().rposition(mine);
                if step == TaskStep::End {
                    if let Some(depth) = depth {
                        bodies.truncate(depth);
                    }
                } else if let Some(open) = depth.and_then(|depth| bodies.get_mut(depth)) {
                    open.paused = step == TaskStep::Pause;
                }
                Some(match (depth, step) {
                    (None, _) => "moves, but this thread does not run it",
                    (Some(depth), _) if depth.saturating_add(1) < bodies.len() => {
                        "moves, but another one is on top of it"
                    }
                    (_, TaskStep::Resume) => "resumes, but is not paused",
                    (_, TaskStep::Pause) => "pauses, but does not run",
                    _ => "ends, but does not run",
                })
            }
        };
        if let Some(wrong) = wrong {
            let message = format!("{}: task {task} {wrong}", name(event));
            self.report(&rules::TASK_STEP, event, "taskid", message);
        }
        let subsystem = match table {
            0 => Some(Stack::Nanos6Subsystem),
            1 => Some(Stack::NosvSubsystem),
            _ => None,
        };
        match (step, subsystem) {
            (TaskStep::Execute, _) => {
                match subsystem {
                    Some(stack) => self.push(event, stack, TASK_BODY),
                    None if self.labels.len() < STACK_MAX => self.labels.push(Label::Task(task)),
                    None => {}
                }
                self.cross(event, table, CrossKind::Execute(task, body));
            }
            (TaskStep::End, _) => {
                match subsystem {
                    Some(stack) => self.pop(event, stack, TASK_BODY),
                    None => self.pop_label(event, Label::Task(task)),
                }
                self.cross(event, table, CrossKind::End(task, body));
            }
            _ => {}
        }
    }

    fn work(&mut self, event: &Event<'_>, number: u8, open: bool) {
        let Some(table) = task_model(number) else { return };
        let kind = field_u32(event, 0);
        if kind == 0 {
            let message = format!("{} is about type 0", name(event));
            self.report(&rules::BAD_ARGUMENT, event, "typeid", message);
        }
        self.cross(event, table, CrossKind::Work(kind));
        if !open {
            self.pop_label(event, Label::Work(kind));
        } else if self.labels.len() < STACK_MAX {
            self.labels.push(Label::Work(kind));
        }
    }

    /// Tasks and worksharings of OpenMP end in reverse order, but for those whose labels are the same:
    /// the emulator compares labels alone.
    fn pop_label(&mut self, event: &Event<'_>, label: Label) {
        let Some(top) = self.labels.last().copied() else {
            let message = format!("{} ends a task or worksharing, and none is open", name(event));
            self.report(&rules::STACK_MISMATCH, event, "", message);
            return;
        };
        let depth = self.labels.iter().rposition(|open| *open == label);
        let last = self.labels.len().saturating_sub(1);
        self.labels.remove(depth.unwrap_or(last));
        if top != label {
            self.cross(event, 2, CrossKind::Same(top, label));
        }
    }

    fn counters(&mut self, event: &Event<'_>, shared: &Shared) {
        let size = event.body_len();
        match shared.counters {
            None if shared.known => {
                let place = self.place(event);
                self.undefined_counters.get_or_insert((place, size / 8));
            }
            Some(count) if size != count.saturating_mul(8) => {
                let message = format!("VWC holds {size} bytes for {count} counters of 8 bytes");
                self.report(&rules::COUNTERS_SIZE, event, "size", message);
            }
            _ => {}
        }
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
fn field_u32(event: &Event<'_>, at: usize) -> u32 {
    let field = event.body.get(at..).and_then(|rest| rest.first_chunk::<4>());
    field.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[inline]
fn field_i32(event: &Event<'_>, at: usize) -> i32 {
    i32::from_le_bytes(field_u32(event, at).to_le_bytes())
}

#[inline]
fn field_i64(event: &Event<'_>, at: usize) -> i64 {
    let field = event.body.get(at..).and_then(|rest| rest.first_chunk::<8>());
    field.map_or(0, |bytes| i64::from_le_bytes(*bytes))
}

/// FNV-1a: labels are told apart by it, and only where two of them have to be the same.
fn hash(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The events from the first one later than `lowest` up to `end`, sorted by their clocks.
fn sort(source: &Source<'_>, layer: Layer, lowest: u64, end: u64) -> Option<Edit> {
    let mut walk = Walk::new(source, STREAM_HEADER);
    let mut start = None;
    let mut events: Vec<(u64, u64, u64)> = Vec::new();
    while walk.at() < end {
        let Step::Event(event) = walk.step() else { return None };
        if start.is_none() && event.clock > lowest {
            start = Some(event.at);
        }
        if let Some(start) = start {
            if end.saturating_sub(start) > SORTED_MAX {
                return None;
            }
            events.push((event.clock, event.at, event.end()));
        }
    }
    let start = start?;
    events.sort_by_key(|(clock, at, _)| (*clock, *at));
    let mut sorted = Vec::new();
    for (_, at, end) in events {
        sorted.extend_from_slice(&source.read(at, end));
    }
    Some(Edit::replace(Span::new(layer, start, end), sorted))
}
