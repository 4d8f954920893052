//! The kinds of events: names of `replay/replay-internal.h`, fields, and what they hold.
//!
//! A new kind is one entry of [`KINDS`] and a member of [`Kind`], and its place in the groups of
//! `table`. The decoder, the map, the dump and the audit read its fields here.

use Async::{Bh, BhOneshot, Block, CharRead, Input, InputSync, Net};
use Cause::{
    GuestPanic, GuestReset, GuestShutdown, HostError, HostQmp, HostQmpQuit, HostQmpSystemReset,
    HostSignal, HostUi, SnapshotLoad, SubsystemReset,
};
use Checkpoint::{
    ClockHost, ClockVirtual, ClockVirtualRt, ClockWarp, ClockWarpAccount, ClockWarpStart, Init,
    Reset, ResetRequested, SuspendRequested,
};
use Form::{I32, I64, U8, U32, U64};

/// The cause of a shutdown or reset: `ShutdownCause` of `qapi/run-state.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Through 2.9, which records no cause.
    Any,
    /// `none`.
    None,
    /// `host-error`.
    HostError,
    /// `host-qmp`, through 3.1.
    HostQmp,
    /// `host-qmp-quit`.
    HostQmpQuit,
    /// `host-qmp-system-reset`.
    HostQmpSystemReset,
    /// `host-signal`: the cause that a recorder writes at its end, whatever ended it.
    HostSignal,
    /// `host-ui`.
    HostUi,
    /// `guest-shutdown`.
    GuestShutdown,
    /// `guest-reset`.
    GuestReset,
    /// `guest-panic`.
    GuestPanic,
    /// `subsystem-reset`.
    SubsystemReset,
    /// `snapshot-load`.
    SnapshotLoad,
}

/// An asynchronous event: it happens beside the guest's instructions and is replayed at the same
/// instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Async {
    /// A bottom half.
    Bh,
    /// A bottom half that runs once.
    BhOneshot,
    /// Key, button or pointer.
    Input,
    /// The end of a group of inputs.
    InputSync,
    /// Bytes that reached a character device.
    CharRead,
    /// A block request that is done.
    Block,
    /// A packet that reached the guest.
    Net,
}

/// A point at which QEMU synchronises its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Checkpoint {
    /// Only in 2.5.
    ClockWarp,
    /// Since 2.6.
    ClockWarpStart,
    /// Since 2.6.
    ClockWarpAccount,
    /// Before a reset.
    ResetRequested,
    /// Before a suspend.
    SuspendRequested,
    /// Timers of the virtual clock.
    ClockVirtual,
    /// Timers of the host clock.
    ClockHost,
    /// Timers of the virtual real-time clock.
    ClockVirtualRt,
    /// The machine was created.
    Init,
    /// A reset.
    Reset,
}

/// A kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Instructions since the last event.
    Instruction,
    /// An interrupt was taken.
    Interrupt,
    /// An exception was taken.
    Exception,
    /// Through 7.0, the one id of all asynchronous events: u8 checkpoint and u8 kind follow.
    AsyncGroup,
    /// An asynchronous event.
    Async(Async),
    /// A shutdown or reset was requested.
    Shutdown(Cause),
    /// The id after the causes, which is never written.
    Reserved,
    /// Result of a write to a character device.
    CharWrite,
    /// Bytes that a read from a character device returned.
    CharReadAll,
    /// The error of a failed read from a character device.
    CharReadAllError,
    /// Number of samples played.
    AudioOut,
    /// Samples recorded.
    AudioIn,
    /// Random bytes that the guest got.
    Random,
    /// The host's clock was read.
    ClockHost,
    /// The virtual real-time clock was read.
    ClockVirtualRt,
    /// A checkpoint was passed.
    Checkpoint(Checkpoint),
    /// The end of the log.
    End,
}

/// A kind of events with its name, its payload, and what an audit takes it for.
#[derive(Clone, Copy, Debug)]
pub struct EventKind {
    /// The kind.
    pub kind: Kind,
    /// Its name in `replay-internal.h` without the prefix, with the cause or the checkpoint.
    pub name: &'static str,
    /// The fields after its id.
    pub payload: Payload,
    /// The content that an audit judges.
    pub holds: Holds,
}

/// The fields after the id of an event.
#[derive(Clone, Copy, Debug)]
pub enum Payload {
    /// Fields that follow one another, at most [`FIELDS_MAX`].
    Row(&'static [Field]),
    /// The number of a kind of input, and one of the rows of [`input`].
    Input,
    /// A count whose size depends on the layout.
    AudioOut,
    /// The same, and samples that a full ring leaves out.
    AudioIn,
}

/// Most fields of a row.
pub const FIELDS_MAX: usize = 5;

/// A field of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in a map and in messages.
    pub label: &'static str,
    /// Its name in a dump.
    pub name: &'static str,
    /// Its form.
    pub form: Form,
}

/// The form of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A number of one byte.
    U8,
    /// A number of four bytes.
    U32,
    /// The same with a sign.
    I32,
    /// A number of eight bytes.
    U64,
    /// The same with a sign.
    I64,
    /// A length of four bytes, and as many bytes: the last field.
    Array,
}

/// The content of an event, as an audit takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Facts about the run.
    Facts,
    /// A packet of the network.
    Packet,
    /// Bytes of a character device.
    Read,
    /// A sound recording.
    Sound,
    /// Random numbers.
    Random,
    /// A key stroke, or a movement of the pointer.
    Input,
}

/// All kinds. [`Kind::number`] is the index in this table.
pub static KINDS: [EventKind; 44] = [
    kind(Kind::Instruction, "INSTRUCTION").row(&[field("count", U32)]),
    kind(Kind::Interrupt, "INTERRUPT"),
    kind(Kind::Exception, "EXCEPTION"),
    kind(Kind::AsyncGroup, "ASYNC"),
    kind(Kind::Async(Bh), "ASYNC_BH").row(ID),
    kind(Kind::Async(BhOneshot), "ASYNC_BH_ONESHOT").row(ID),
    kind(Kind::Async(Input), "ASYNC_INPUT").payload(Payload::Input).holds(Holds::Input),
    kind(Kind::Async(InputSync), "ASYNC_INPUT_SYNC"),
    kind(Kind::Async(CharRead), "ASYNC_CHAR_READ")
        .row(&[field("device", U8), ARRAY])
        .holds(Holds::Read),
    kind(Kind::Async(Block), "ASYNC_BLOCK").row(ID),
    kind(Kind::Async(Net), "ASYNC_NET")
        .row(&[field("filter", U8), field("flags", U32), ARRAY])
        .holds(Holds::Packet),
    kind(Kind::Shutdown(Cause::Any), "SHUTDOWN"),
    kind(Kind::Shutdown(Cause::None), "SHUTDOWN+NONE"),
    kind(Kind::Shutdown(HostError), "SHUTDOWN+HOST_ERROR"),
    kind(Kind::Shutdown(HostQmp), "SHUTDOWN+HOST_QMP"),
    kind(Kind::Shutdown(HostQmpQuit), "SHUTDOWN+HOST_QMP_QUIT"),
    kind(Kind::Shutdown(HostQmpSystemReset), "SHUTDOWN+HOST_QMP_SYSTEM_RESET"),
    kind(Kind::Shutdown(HostSignal), "SHUTDOWN+HOST_SIGNAL"),
    kind(Kind::Shutdown(HostUi), "SHUTDOWN+HOST_UI"),
    kind(Kind::Shutdown(GuestShutdown), "SHUTDOWN+GUEST_SHUTDOWN"),
    kind(Kind::Shutdown(GuestReset), "SHUTDOWN+GUEST_RESET"),
    kind(Kind::Shutdown(GuestPanic), "SHUTDOWN+GUEST_PANIC"),
    kind(Kind::Shutdown(SubsystemReset), "SHUTDOWN+SUBSYSTEM_RESET"),
    kind(Kind::Shutdown(SnapshotLoad), "SHUTDOWN+SNAPSHOT_LOAD"),
    kind(Kind::Reserved, "SHUTDOWN_LAST"),
    kind(Kind::CharWrite, "CHAR_WRITE")
        .row(&[field("result", I32), field("offset", U32).dumped("written")]),
    kind(Kind::CharReadAll, "CHAR_READ_ALL").row(&[ARRAY]).holds(Holds::Read),
    kind(Kind::CharReadAllError, "CHAR_READ_ALL_ERROR").row(&[field("error", I32)]),
    kind(Kind::AudioOut, "AUDIO_OUT").payload(Payload::AudioOut),
    kind(Kind::AudioIn, "AUDIO_IN").payload(Payload::AudioIn).holds(Holds::Sound),
    kind(Kind::Random, "RANDOM").row(&[field("result", I32), ARRAY]).holds(Holds::Random),
    kind(Kind::ClockHost, "CLOCK_HOST").row(CLOCK),
    kind(Kind::ClockVirtualRt, "CLOCK_VIRTUAL_RT").row(CLOCK),
    kind(Kind::Checkpoint(ClockWarp), "CP_CLOCK_WARP"),
    kind(Kind::Checkpoint(ClockWarpStart), "CP_CLOCK_WARP_START"),
    kind(Kind::Checkpoint(ClockWarpAccount), "CP_CLOCK_WARP_ACCOUNT"),
    kind(Kind::Checkpoint(ResetRequested), "CP_RESET_REQUESTED"),
    kind(Kind::Checkpoint(SuspendRequested), "CP_SUSPEND_REQUESTED"),
    kind(Kind::Checkpoint(ClockVirtual), "CP_CLOCK_VIRTUAL"),
    kind(Kind::Checkpoint(ClockHost), "CP_CLOCK_HOST"),
    kind(Kind::Checkpoint(ClockVirtualRt), "CP_CLOCK_VIRTUAL_RT"),
    kind(Kind::Checkpoint(Init), "CP_INIT"),
    kind(Kind::Checkpoint(Reset), "CP_RESET"),
    kind(Kind::End, "END"),
];

/// The rows of the kinds of input.
pub mod input {
    use super::{Field, I64, U8, U32, U64, field};

    const DOWN: Field = field("down", U8);
    const AXIS: Field = field("axis", U32);
    const VALUE: Field = field("value", I64);

    /// A key, by its number.
    pub const KEY_NUMBER: &[Field] = &[field("key number", U64).dumped("number_of_key"), DOWN];
    /// A key, by its qcode.
    pub const QCODE: &[Field] = &[field("qcode", U32), DOWN];
    /// A key, by its Linux keycode.
    pub const KEYCODE: &[Field] = &[field("keycode", U32), DOWN];
    /// A pointer button.
    pub const BUTTON: &[Field] = &[field("button", U32), DOWN];
    /// A relative or absolute pointer position: 0 for x, 1 for y.
    pub const POINTER: &[Field] = &[AXIS, VALUE];
    /// A touch: 0 to 4 for begin, update, end, cancel, data.
    pub const TOUCH: &[Field] = &[
        field("touch kind", U32).dumped("type"),
        field("slot", I64),
        field("tracking id", I64).dumped("tracking_id"),
        AXIS,
        VALUE,
    ];
}

const ARRAY: Field = field("array length", Form::Array).dumped("size");
const ID: &[Field] = &[field("id", U64)];
const CLOCK: &[Field] = &[field("clock", I64)];

/// A kind without a payload.
const fn kind(kind: Kind, name: &'static str) -> EventKind {
    EventKind { kind, name, payload: Payload::Row(&[]), holds: Holds::Facts }
}

/// A field that a dump names like a map.
const fn field(label: &'static str, form: Form) -> Field {
    Field { label, name: label, form }
}

impl EventKind {
    const fn row(self, fields: &'static [Field]) -> Self {
        self.payload(Payload::Row(fields))
    }

    const fn payload(self, payload: Payload) -> Self {
        Self { payload, ..self }
    }

    const fn holds(self, holds: Holds) -> Self {
        Self { holds, ..self }
    }
}

impl Field {
    const fn dumped(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Returns its size in bytes, without the bytes of an array.
    pub const fn size(&self) -> usize {
        match self.form {
            U8 => 1,
            U32 | I32 | Form::Array => 4,
            U64 | I64 => 8,
        }
    }
}

impl Kind {
    /// Returns the index in [`KINDS`].
    pub fn number(self) -> usize {
        KINDS.iter().position(|row| row.kind == self).unwrap_or_default()
    }

    /// Returns the name in `replay-internal.h` without its prefix, with the cause or the
    /// checkpoint.
    pub fn name(self) -> &'static str {
        KINDS.get(self.number()).map_or("", |row| row.name)
    }

    /// Returns the fields after the id.
    pub fn payload(self) -> Payload {
        KINDS.get(self.number()).map_or(Payload::Row(&[]), |row| row.payload)
    }

    /// Whether it is a reading of a clock.
    pub const fn is_clock(self) -> bool {
        matches!(self, Self::ClockHost | Self::ClockVirtualRt)
    }
}
