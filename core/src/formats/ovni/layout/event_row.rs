//! One event of one model: its code, payload, versions and effect.

use crate::formats::ovni::layout::{ThreadStep, Version};

/// Bytes after the header of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Exactly this many.
    Exact(u8),
    /// A size and that many bytes, of which the first ones are fields.
    Jumbo(u8),
}

/// A stack of open states. Each thread has one of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stack {
    /// Activity of nOS-V.
    NosvSubsystem = 0,
    /// Activity of Nanos6.
    Nanos6Subsystem = 1,
    /// Kind of the Nanos6 thread.
    Nanos6Thread = 2,
    /// Activity of NODES.
    Nodes = 3,
    /// Activity of TAMPI.
    Tampi = 4,
    /// MPI function that runs.
    Mpi = 5,
    /// Activity of the OpenMP runtime.
    OpenmpSubsystem = 6,
}

/// Number of [`Stack`]s.
pub const STACK_COUNT: usize = 7;

impl Stack {
    /// All stacks, innermost runtime first: the order in which a truncated thread is closed.
    pub const ALL: [Self; STACK_COUNT] = [
        Self::Mpi,
        Self::Tampi,
        Self::Nodes,
        Self::OpenmpSubsystem,
        Self::Nanos6Subsystem,
        Self::Nanos6Thread,
        Self::NosvSubsystem,
    ];

    /// Returns the stack's index in an array of all stacks.
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

    /// Whether a value may be pushed on top of itself.
    pub const fn allows_repeat(self) -> bool {
        matches!(self, Self::NosvSubsystem | Self::OpenmpSubsystem)
    }

    /// Whether the linter requires it to be empty at the end.
    pub const fn is_linted(self) -> bool {
        !matches!(self, Self::Nanos6Thread)
    }

    /// Returns the stack's name in messages.
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

    /// Returns the first byte of the codes of its events.
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

/// A step of a task's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStep {
    /// Starts to run, on top of the thread's other bodies.
    Execute,
    /// Ends; the body below it is on top again.
    End,
    /// Stops running and stays on top.
    Pause,
    /// Runs again.
    Resume,
}

impl TaskStep {
    /// Returns the value of its event: the third character.
    pub const fn value(self) -> u8 {
        match self {
            Self::Execute => b'x',
            Self::End => b'e',
            Self::Pause => b'p',
            Self::Resume => b'r',
        }
    }
}

/// A step of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkStep {
    /// OM[.
    Push,
    /// OM].
    Pop,
    /// OM=.
    Set,
}

/// Effect of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing that the emulator follows.
    Ignore,
    /// Moves the thread's state machine.
    Thread(ThreadStep),
    /// Moves the thread to another CPU.
    AffinitySet,
    /// Moves another thread to another CPU.
    AffinityRemote,
    /// Starts (or ends) writing the buffer to disk.
    Flush(bool),
    /// Starts (or ends) a region of events out of order.
    Region(bool),
    /// Changes a mark.
    Mark(MarkStep),
    /// Takes the thread off its CPU (or back).
    Kernel(bool),
    /// Opens a state.
    Push(Stack),
    /// Closes a state.
    Pop(Stack),
    /// Sets the idle state.
    Idle,
    /// Defines a type of tasks.
    Type,
    /// Creates a task; a parallel one has many bodies.
    Create(bool),
    /// Moves the body of a task.
    Task(TaskStep),
    /// Starts (or ends) a worksharing.
    Work(bool),
    /// Records the values of the hardware counters.
    Counters,
}

/// One event of one model in some of its versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// Model, category and value.
    pub code: [u8; 3],
    /// The code and its fields, in the notation of the event lists of ovni.
    pub signature: &'static str,
    /// Bytes after the header.
    pub payload: Payload,
    /// First version of the model with this event.
    pub since: Version,
    /// Last version of the model with this event.
    pub until: Version,
    /// Its effect.
    pub effect: Effect,
    /// The event that undoes it, or that it undoes; three spaces without one.
    pub partner: [u8; 3],
    /// State that it pushes or pops: category and value of the event that opens it.
    pub state: u16,
}

/// State on a subsystem stack while the body of a task runs.
pub const TASK_BODY: u16 = 0;

/// Builds one row of the table in [`events`](super::events).
pub const fn row(
    signature: &'static str,
    payload: Payload,
    since: Version,
    until: Version,
    effect: Effect,
    partner: &[u8; 3],
) -> EventRow {
    let code = match signature.as_bytes() {
        [model, category, value, ..] => [*model, *category, *value],
        _ => [0; 3],
    };
    let opener = match effect {
        Effect::Pop(_) => *partner,
        _ => code,
    };
    let [model, category, value] = opener;
    // Both ways to serve the scheduler are one state: VSn closes the state that VS[ opened.
    let value = match (model, category, value) {
        (b'V', b'S', b'N') => b'[',
        _ => value,
    };
    let state = u16::from_be_bytes([category, value]);
    EventRow { code, signature, payload, since, until, effect, partner: *partner, state }
}
