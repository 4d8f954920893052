//! Facts of the format: sizes, models, versions, and where an event stands in the table.
//!
//! ```text
//!  event    flags u8 | model u8 | category u8 | value u8 | clock u64 | payload
//!  flags    0..4 payload code: 0 -> none, v -> v + 1 bytes   4 jumbo   5..8 reserved, 0
//!  jumbo    size u32, then that many bytes
//! ```

pub mod events;

use events::EVENTS;

/// What a stream begins with.
pub const MAGIC: &[u8; 4] = b"ovni";
/// The only version of streams that there ever was.
pub const STREAM_VERSION: u32 = 1;
/// Bytes of a stream's header: magic and version.
pub const STREAM_HEADER: u64 = 8;
/// Bytes of an event before its payload.
pub const EVENT_HEADER: u64 = 12;
/// Flag of an event with a sized payload.
pub const JUMBO: u8 = 0x10;
/// Flags that no version has given a meaning.
pub const RESERVED_FLAGS: u8 = 0xe0;
/// Payload code that libovni writes for jumbo events: four bytes of size.
pub const JUMBO_CODE: u8 = 3;

/// Version of `stream.json` that the emulator reads.
pub const METADATA_VERSION: i64 = 3;
/// Values that a stack of the emulator holds (`MAX_CHAN_STACK`).
pub const STACK_MAX: usize = 512;
/// Bytes of a label, a title or a name with its NUL (`MAX_PCF_LABEL`).
pub const LABEL_MAX: usize = 512;
/// Types of marks, and hardware counters, are numbered below this.
pub const MARK_TYPES: i64 = 100;
/// How far apart the first clocks of two streams may be: one hour.
pub const CLOCK_GATE_NS: u64 = 3_600_000_000_000;

/// `major.minor.patch`.
pub type Version = (u32, u32, u32);

/// A model: who emits events with its character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// First byte of its events' codes.
    pub code: u8,
    /// Its key in `ovni.require`.
    pub name: &'static str,
    /// Newest version that the emulator 1.14.0 knows.
    pub newest: Version,
    /// What state a thread has to be in.
    pub needs: Needs,
}

/// State that a thread has to be in for the events of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Any.
    Nothing,
    /// Running, cooling or warming.
    Active,
    /// Running.
    Running,
}

/// Number of models in [`MODELS`].
pub const MODEL_COUNT: usize = 8;

/// The models that the emulator knows.
pub static MODELS: [Model; MODEL_COUNT] = [
    Model { code: b'O', name: "ovni", newest: (1, 1, 0), needs: Needs::Nothing },
    Model { code: b'6', name: "nanos6", newest: (1, 1, 0), needs: Needs::Active },
    Model { code: b'V', name: "nosv", newest: (2, 7, 0), needs: Needs::Active },
    Model { code: b'D', name: "nodes", newest: (1, 0, 0), needs: Needs::Running },
    Model { code: b'T', name: "tampi", newest: (1, 0, 0), needs: Needs::Running },
    Model { code: b'M', name: "mpi", newest: (1, 0, 0), needs: Needs::Running },
    Model { code: b'K', name: "kernel", newest: (1, 0, 0), needs: Needs::Nothing },
    Model { code: b'P', name: "openmp", newest: (1, 2, 1), needs: Needs::Running },
];

/// Index of a model in [`MODELS`].
pub mod model {
    /// ovni.
    pub const OVNI: u8 = 0;
    /// nanos6.
    pub const NANOS6: u8 = 1;
    /// nosv.
    pub const NOSV: u8 = 2;
    /// openmp.
    pub const OPENMP: u8 = 7;
}

/// Bytes that follow an event's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// This many.
    Exact(u8),
    /// A size and that many bytes, of which the first ones are fields.
    Jumbo(u8),
}

/// What a stack of open states is about. Each thread has one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stack {
    /// What nOS-V does.
    NosvSubsystem = 0,
    /// What Nanos6 does.
    Nanos6Subsystem = 1,
    /// What kind of thread Nanos6 runs.
    Nanos6Thread = 2,
    /// What NODES does.
    Nodes = 3,
    /// What TAMPI does.
    Tampi = 4,
    /// Which function of MPI runs.
    Mpi = 5,
    /// What the OpenMP runtime does.
    OpenmpSubsystem = 6,
}

/// Number of [`Stack`]s.
pub const STACK_COUNT: usize = 7;

impl Stack {
    /// All of them, innermost runtime first: the order in which a cut thread is closed.
    pub const ALL: [Self; STACK_COUNT] = [
        Self::Mpi,
        Self::Tampi,
        Self::Nodes,
        Self::OpenmpSubsystem,
        Self::Nanos6Subsystem,
        Self::Nanos6Thread,
        Self::NosvSubsystem,
    ];

    /// Its place in an array of all stacks.
    pub const fn index(self) -> usize {
        match self {
            Self::NosvSubsystem => 0,
            Self::Nanos6Subsystem => 1,
            Self::Nanos6Thread => 2,
            Self::Nodes => 3,
            Self::Tampi => 4,
            Self::Mpi => 5,
            Self::OpenmpSubsystem => 6,
        }
    }

    /// Whether the same value may be pushed on itself.
    pub const fn repeats(self) -> bool {
        matches!(self, Self::NosvSubsystem | Self::OpenmpSubsystem)
    }

    /// Whether the linter wants it empty at the end.
    pub const fn linted(self) -> bool {
        !matches!(self, Self::Nanos6Thread)
    }

    /// Name of the stack in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NosvSubsystem => "nosv subsystem",
            Self::Nanos6Subsystem => "nanos6 subsystem",
            Self::Nanos6Thread => "nanos6 thread type",
            Self::Nodes => "nodes subsystem",
            Self::Tampi => "tampi subsystem",
            Self::Mpi => "mpi function",
            Self::OpenmpSubsystem => "openmp subsystem",
        }
    }

    /// First byte of the codes of its events.
    pub const fn model_code(self) -> u8 {
        match self {
            Self::NosvSubsystem => b'V',
            Self::Nanos6Subsystem | Self::Nanos6Thread => b'6',
            Self::Nodes => b'D',
            Self::Tampi => b'T',
            Self::Mpi => b'M',
            Self::OpenmpSubsystem => b'P',
        }
    }
}

/// A step of the thread machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// OHx.
    Execute,
    /// OHe.
    End,
    /// OHp.
    Pause,
    /// OHr.
    Resume,
    /// OHc.
    Cool,
    /// OHw.
    Warm,
}

/// A step of a task's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStep {
    /// Begins to run, on top of the thread's bodies.
    Execute,
    /// Ends; the one below is on top again.
    End,
    /// Stops running and stays on top.
    Pause,
    /// Runs again.
    Resume,
}

/// What a mark event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkStep {
    /// OM[.
    Push,
    /// OM].
    Pop,
    /// OM=.
    Set,
}

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Nothing that the emulator keeps track of.
    Ignore,
    /// Moves the thread machine.
    Thread(Step),
    /// Moves the thread to another CPU.
    AffinitySet,
    /// Moves another thread to another CPU.
    AffinityRemote,
    /// Begins (or ends) writing the buffer to disk.
    Flush(bool),
    /// Begins (or ends) a region of events out of order.
    Region(bool),
    /// Changes a mark.
    Mark(MarkStep),
    /// Takes the thread off its CPU (or back).
    Kernel(bool),
    /// Opens a state.
    Push(Stack),
    /// Closes a state.
    Pop(Stack),
    /// Sets how idle the thread is.
    Idle,
    /// Defines a type of tasks.
    Type,
    /// Creates a task; a parallel one has many bodies.
    Create(bool),
    /// Moves a task's body.
    Task(TaskStep),
    /// Begins (or ends) a worksharing.
    Work(bool),
    /// Gives the values of the hardware counters.
    Counters,
}

/// One event of one model in some of its versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// Model, category and value.
    pub code: [u8; 3],
    /// The code and its fields, as the event lists write it.
    pub signature: &'static str,
    /// What follows the header.
    pub payload: Payload,
    /// First version of the model that has it.
    pub since: Version,
    /// Last version of the model that has it.
    pub until: Version,
    /// What it does.
    pub act: Act,
    /// The event that undoes it, or that it undoes; spaces if there is none.
    pub partner: [u8; 3],
    /// What it pushes or pops: category and value of the event that opens the state.
    pub state: u16,
}

/// State on a subsystem stack while a task's body runs.
pub const TASK_BODY: u16 = 0;

/// One row of the table; see [`events`].
pub const fn row(
    signature: &'static str,
    payload: Payload,
    since: Version,
    until: Version,
    act: Act,
    partner: &[u8; 3],
) -> EventRow {
    let code = match signature.as_bytes() {
        [model, category, value, ..] => [*model, *category, *value],
        _ => [0; 3],
    };
    let opener = match act {
        Act::Pop(_) => *partner,
        _ => code,
    };
    let [model, category, value] = opener;
    // Both ways to serve the scheduler are one state: VSn closes what VS[ opened.
    let value = match (model, category, value) {
        (b'V', b'S', b'N') => b'[',
        _ => value,
    };
    let state = u16::from_be_bytes([category, value]);
    EventRow { code, signature, payload, since, until, act, partner: *partner, state }
}

/// What is looked at for every event, in a few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hot {
    /// What the event does.
    pub act: Act,
    /// What it pushes or pops.
    pub state: u16,
    /// The flags of an event with exactly the payload of the newest version; none for jumbo events.
    pub flags: u8,
    /// Number of its model.
    pub model: u8,
    /// Bit of each state of the thread in which it may come.
    pub states: u8,
    /// It must not come while the thread is off its CPU.
    pub on_cpu: bool,
    /// Version that it came with: major times 16 and minor.
    pub rank: u8,
}

/// The rank of version 1.1, which every model's first events have at most.
pub const FIRST_RANK: u8 = 0x11;
/// Flags that no event has: those of jumbo events are looked at one by one.
const NO_FLAGS: u8 = 0xff;
/// Bits of the states, by the order of [`State`](crate::formats::ovni::check::thread::State).
const ANY_STATE: u8 = 0b11_1111;
const ACTIVE: u8 = 0b01_0110;
const RUNNING: u8 = 0b00_0010;

static HOT: [Hot; EVENTS.len()] = hot_rows();

#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler, which refuses a bad index")]
#[allow(clippy::as_conversions, reason = "const functions have no other conversion; all are small")]
#[allow(clippy::arithmetic_side_effects, reason = "evaluated by the compiler")]
const fn hot_rows() -> [Hot; EVENTS.len()] {
    let nothing = Hot {
        act: Act::Ignore,
        state: 0,
        flags: NO_FLAGS,
        model: 0,
        states: ANY_STATE,
        on_cpu: false,
        rank: 0,
    };
    let mut rows = [nothing; EVENTS.len()];
    let mut at = 0;
    while at < EVENTS.len() {
        let row = EVENTS[at];
        let mut number = 0;
        while MODELS[number].code != row.code[0] {
            number += 1;
        }
        rows[at].act = row.act;
        rows[at].state = row.state;
        rows[at].flags = match row.payload {
            Payload::Exact(0) => 0,
            Payload::Exact(len) => len - 1,
            Payload::Jumbo(_) => NO_FLAGS,
        };
        rows[at].model = number as u8;
        rows[at].states = match MODELS[number].needs {
            Needs::Nothing => ANY_STATE,
            Needs::Active => ACTIVE,
            Needs::Running => RUNNING,
        };
        let code = row.code[0];
        rows[at].on_cpu = code == b'O' || code == b'V';
        let (major, minor, _) = row.since;
        rows[at].rank = (major * 16 + minor) as u8;
        at += 1;
    }
    rows
}

const SLOTS: usize = MODEL_COUNT << 14;
/// Index of no row.
const NONE: u16 = u16::MAX;

/// Row number of each code: of events with several versions the newest.
static INDEX: [u16; SLOTS] = index();

/// Model number of each first byte.
static MODEL_OF: [u8; 256] = models();

#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler, which refuses a bad index")]
#[allow(clippy::as_conversions, reason = "const functions have no other conversion; all are small")]
#[allow(clippy::arithmetic_side_effects, reason = "evaluated by the compiler")]
const fn index() -> [u16; SLOTS] {
    let mut index = [NONE; SLOTS];
    let mut at = 0;
    while at < EVENTS.len() {
        let [code, category, value] = EVENTS[at].code;
        let mut model = 0;
        while MODELS[model].code != code {
            model += 1;
        }
        index[(model << 14) | ((category as usize) << 7) | value as usize] = at as u16;
        at += 1;
    }
    index
}

#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler, which refuses a bad index")]
#[allow(clippy::as_conversions, reason = "const functions have no other conversion; all are small")]
#[allow(clippy::arithmetic_side_effects, reason = "evaluated by the compiler")]
const fn models() -> [u8; 256] {
    let mut models = [u8::MAX; 256];
    let mut at = 0;
    while at < MODEL_COUNT {
        models[MODELS[at].code as usize] = at as u8;
        at += 1;
    }
    models
}

/// The number of the model with this character.
#[inline]
pub fn model_of(code: u8) -> Option<u8> {
    MODEL_OF.get(usize::from(code)).copied().filter(|model| *model != u8::MAX)
}

/// The event with this code, in its newest version.
#[inline]
pub fn event(model: u8, category: u8, value: u8) -> Option<&'static EventRow> {
    if (category | value) & 0x80 != 0 {
        return None;
    }
    let slot = (usize::from(model) << 14) | (usize::from(category) << 7) | usize::from(value);
    let number = INDEX.get(slot).copied().unwrap_or(NONE);
    EVENTS.get(usize::from(number))
}

/// The number of the row of a code, in its newest version.
#[inline]
pub fn number(code: [u8; 3]) -> Option<u16> {
    let [first, category, value] = code;
    let model = MODEL_OF.get(usize::from(first)).copied().unwrap_or(u8::MAX);
    if (category | value | model) & 0x80 != 0 {
        return None;
    }
    let slot = (usize::from(model) << 14) | (usize::from(category) << 7) | usize::from(value);
    INDEX.get(slot).copied().filter(|number| *number != NONE)
}

/// What is looked at first of a row.
#[inline]
pub fn hot(number: u16) -> Option<&'static Hot> {
    HOT.get(usize::from(number))
}

/// A row by its number.
pub fn numbered(number: u16) -> Option<&'static EventRow> {
    EVENTS.get(usize::from(number))
}

/// The event with this code that carries `payload`, in whatever version.
pub fn older(code: [u8; 3], payload: u64) -> Option<&'static EventRow> {
    EVENTS.iter().find(|row| {
        row.code == code && matches!(row.payload, Payload::Exact(len) if u64::from(len) == payload)
    })
}

/// The event with this code.
pub fn by_code(code: [u8; 3]) -> Option<&'static EventRow> {
    let [first, category, value] = code;
    event(model_of(first)?, category, value)
}

/// The event that closes a state of a stack.
pub fn closer(stack: Stack, state: u16) -> Option<&'static EventRow> {
    let [category, value] = state.to_be_bytes();
    let opener = by_code([stack.model_code(), category, value])?;
    by_code(opener.partner)
}

/// `VTx`: a code as text. Codes of the table are printable.
pub fn shown(code: [u8; 3]) -> String {
    crate::kit::text::Untrusted(&code).to_string()
}

/// Whether three bytes can be a code: all of ovni's are printable.
#[inline]
pub fn printable(code: [u8; 3]) -> bool {
    code.iter().all(|byte| (0x21..0x7f).contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_found_by_its_code_and_pairs_close_each_other() {
        for row in &EVENTS {
            let found = by_code(row.code).unwrap();
            assert_eq!(
                (found.code, found.until),
                (
                    row.code,
                    MODELS.iter().find(|model| { model.code == row.code[0] }).unwrap().newest
                )
            );
            match row.act {
                Act::Push(stack) => {
                    let closer = closer(stack, row.state).unwrap();
                    assert_eq!((closer.act, closer.state), (Act::Pop(stack), row.state), "{row:?}");
                }
                Act::Pop(stack) => {
                    let opener = by_code(row.partner).unwrap();
                    assert_eq!((opener.act, opener.state), (Act::Push(stack), row.state));
                }
                _ => assert_eq!(&row.partner, b"   "),
            }
        }
    }

    #[test]
    fn the_counts_are_those_of_the_emulator() {
        let newest = |model: &Model| {
            let mine = EVENTS.iter().filter(|row| row.code[0] == model.code);
            mine.filter(|row| row.until == model.newest).count()
        };
        let counts: Vec<usize> = MODELS.iter().map(newest).collect();
        assert_eq!(counts, [18, 67, 72, 16, 24, 98, 2, 68]);
        assert_eq!(older(*b"VTx", 4).unwrap().until, (1, 1, 0));
        assert!(by_code(*b"VT?").is_none() && by_code(*b"t01").is_none());
        assert!(event(2, 0xff, b'x').is_none());
    }

    #[test]
    fn both_ways_to_serve_close_each_other() {
        let state = |code: &[u8; 3]| by_code(*code).unwrap().state;
        assert_eq!(state(b"VS["), state(b"VSn"));
        assert_eq!(state(b"VSN"), state(b"VS]"));
        assert_eq!(closer(Stack::NosvSubsystem, state(b"VSN")).unwrap().code, *b"VS]");
    }
}
