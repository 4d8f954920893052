//! Facts of the format: sizes, models, versions, and the table of events.
//!
//! ```text
//!  event    flags u8 | model u8 | category u8 | value u8 | clock u64 | payload
//!  flags    bits 0 to 3 payload code: 0 is no payload, v is v + 1 bytes
//!           bit 4 jumbo, bits 5 to 7 reserved, written as 0
//!  jumbo    size u32, then that many bytes
//! ```
//!
//! `event_row` describes one event, `events` lists all of them, `lookup` finds one by its code, and
//! `thread_state` is the state machine of a thread.

pub mod event_row;
pub mod events;
pub mod lookup;
pub mod thread_state;

pub use event_row::{
    Effect, EventRow, MarkStep, Payload, STACK_COUNT, Stack, TASK_BODY, TaskStep, row,
};
pub use lookup::{
    EventSummary, FIRST_RANK, closer, display_code, find_summary, is_printable, is_written,
    model_index, near_codes, row_at, row_index, row_with_payload,
};
pub use thread_state::{ThreadState, ThreadStep};

/// First bytes of a stream.
pub const MAGIC: &[u8; 4] = b"ovni";
/// Version of streams. Every release of libovni has written this one.
pub const STREAM_VERSION: u32 = 1;
/// Bytes of a stream's header: magic and version.
pub const STREAM_HEADER: u64 = 8;
/// Bytes of an event before its payload.
pub const EVENT_HEADER: u64 = 12;
/// Bytes of the size field of a jumbo event.
pub const JUMBO_SIZE: u64 = 4;
/// Flag of an event with a sized payload.
pub const JUMBO: u8 = 0x10;
/// Flags without a meaning in any version.
pub const RESERVED_FLAGS: u8 = 0xe0;
/// Payload code that libovni writes for jumbo events: four bytes of size.
pub const JUMBO_CODE: u8 = 3;
/// Highest clock: the emulator compares clocks as signed numbers.
pub const CLOCK_MAX: u64 = u64::MAX >> 1;

/// Version of `stream.json` that the emulator reads.
pub const METADATA_VERSION: i64 = 3;
/// Values that a stack of the emulator holds (`MAX_CHAN_STACK`).
pub const STACK_MAX: usize = 512;
/// Bytes of a label, a title or a name with its NUL (`MAX_PCF_LABEL`).
pub const LABEL_MAX: usize = 512;
/// Mark types and hardware counters are numbered from 0 to one less than this.
pub const MARK_TYPES: i64 = 100;
/// One day, in nanoseconds: clocks of one stream that are further apart are damaged.
pub const DAY_NS: u64 = 86_400_000_000_000;
/// Largest distance between the first clocks of two streams: one hour, in nanoseconds.
pub const CLOCK_GATE_NS: u64 = 3_600_000_000_000;

/// Bytes of events that libovni buffers per thread before it writes them (`OVNI_MAX_EV_BUF`).
pub const BUFFER: u64 = 2 << 20;

/// `major.minor.patch`.
pub type Version = (u32, u32, u32);

/// Formats a version as `1.2.0`.
pub fn display_version((major, minor, patch): Version) -> String {
    format!("{major}.{minor}.{patch}")
}

/// A model: a runtime or library that emits events with its own first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// First byte of its event codes.
    pub code: u8,
    /// Its key in `ovni.require`.
    pub name: &'static str,
    /// Newest version that the emulator 1.14.0 knows.
    pub newest: Version,
    /// State that the thread must be in.
    pub needs: Needs,
}

impl Model {
    /// Whether the emulator 1.14.0 accepts the version.
    pub const fn supports(&self, version: Version) -> bool {
        version.0 == self.newest.0 && version.1 <= self.newest.1
    }
}

/// State that a thread must be in for the events of a model.
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

/// Indices of some models in [`MODELS`].
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

/// Number of models with tasks. Each has a table of tasks of its own.
pub const TASK_MODELS: usize = 3;

/// Returns the index of the task table of a model, if the model has tasks.
pub const fn task_table(model: u8) -> Option<usize> {
    match model {
        model::NANOS6 => Some(0),
        model::NOSV => Some(1),
        model::OPENMP => Some(2),
        _ => None,
    }
}

/// First bytes of the event codes of the models with tasks, by task table.
pub const TASK_CODES: [u8; TASK_MODELS] = [b'6', b'V', b'P'];

/// Stack that shows the bodies of a task table. OpenMP shows labels instead.
pub const TASK_STACKS: [Option<Stack>; TASK_MODELS] =
    [Some(Stack::Nanos6Subsystem), Some(Stack::NosvSubsystem), None];
