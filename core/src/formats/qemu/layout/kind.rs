//! The kinds of events, with the names of `replay/replay-internal.h`.

use Async::{Bh, BhOneshot, Block, CharRead, Input, InputSync, Net};
use Cause::{
    GuestPanic, GuestReset, GuestShutdown, HostError, HostQmp, HostQmpQuit, HostQmpSystemReset,
    HostSignal, HostUi, SnapshotLoad, SubsystemReset,
};
use Checkpoint::{
    ClockHost, ClockVirtual, ClockVirtualRt, ClockWarp, ClockWarpAccount, ClockWarpStart, Init,
    Reset, ResetRequested, SuspendRequested,
};

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

/// All kinds. [`Kind::number`] is the index in this list.
pub const KINDS: [Kind; 44] = [
    Kind::Instruction,
    Kind::Interrupt,
    Kind::Exception,
    Kind::AsyncGroup,
    Kind::Async(Bh),
    Kind::Async(BhOneshot),
    Kind::Async(Input),
    Kind::Async(InputSync),
    Kind::Async(CharRead),
    Kind::Async(Block),
    Kind::Async(Net),
    Kind::Shutdown(Cause::Any),
    Kind::Shutdown(Cause::None),
    Kind::Shutdown(HostError),
    Kind::Shutdown(HostQmp),
    Kind::Shutdown(HostQmpQuit),
    Kind::Shutdown(HostQmpSystemReset),
    Kind::Shutdown(HostSignal),
    Kind::Shutdown(HostUi),
    Kind::Shutdown(GuestShutdown),
    Kind::Shutdown(GuestReset),
    Kind::Shutdown(GuestPanic),
    Kind::Shutdown(SubsystemReset),
    Kind::Shutdown(SnapshotLoad),
    Kind::Reserved,
    Kind::CharWrite,
    Kind::CharReadAll,
    Kind::CharReadAllError,
    Kind::AudioOut,
    Kind::AudioIn,
    Kind::Random,
    Kind::ClockHost,
    Kind::ClockVirtualRt,
    Kind::Checkpoint(ClockWarp),
    Kind::Checkpoint(ClockWarpStart),
    Kind::Checkpoint(ClockWarpAccount),
    Kind::Checkpoint(ResetRequested),
    Kind::Checkpoint(SuspendRequested),
    Kind::Checkpoint(ClockVirtual),
    Kind::Checkpoint(ClockHost),
    Kind::Checkpoint(ClockVirtualRt),
    Kind::Checkpoint(Init),
    Kind::Checkpoint(Reset),
    Kind::End,
];

impl Kind {
    /// Returns the name in `replay-internal.h` without its prefix, with the cause or the
    /// checkpoint.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instruction => "INSTRUCTION",
            Self::Interrupt => "INTERRUPT",
            Self::Exception => "EXCEPTION",
            Self::AsyncGroup => "ASYNC",
            Self::Async(Bh) => "ASYNC_BH",
            Self::Async(BhOneshot) => "ASYNC_BH_ONESHOT",
            Self::Async(Input) => "ASYNC_INPUT",
            Self::Async(InputSync) => "ASYNC_INPUT_SYNC",
            Self::Async(CharRead) => "ASYNC_CHAR_READ",
            Self::Async(Block) => "ASYNC_BLOCK",
            Self::Async(Net) => "ASYNC_NET",
            Self::Shutdown(Cause::Any) => "SHUTDOWN",
            Self::Shutdown(Cause::None) => "SHUTDOWN+NONE",
            Self::Shutdown(HostError) => "SHUTDOWN+HOST_ERROR",
            Self::Shutdown(HostQmp) => "SHUTDOWN+HOST_QMP",
            Self::Shutdown(HostQmpQuit) => "SHUTDOWN+HOST_QMP_QUIT",
            Self::Shutdown(HostQmpSystemReset) => "SHUTDOWN+HOST_QMP_SYSTEM_RESET",
            Self::Shutdown(HostSignal) => "SHUTDOWN+HOST_SIGNAL",
            Self::Shutdown(HostUi) => "SHUTDOWN+HOST_UI",
            Self::Shutdown(GuestShutdown) => "SHUTDOWN+GUEST_SHUTDOWN",
            Self::Shutdown(GuestReset) => "SHUTDOWN+GUEST_RESET",
            Self::Shutdown(GuestPanic) => "SHUTDOWN+GUEST_PANIC",
            Self::Shutdown(SubsystemReset) => "SHUTDOWN+SUBSYSTEM_RESET",
            Self::Shutdown(SnapshotLoad) => "SHUTDOWN+SNAPSHOT_LOAD",
            Self::Reserved => "SHUTDOWN_LAST",
            Self::CharWrite => "CHAR_WRITE",
            Self::CharReadAll => "CHAR_READ_ALL",
            Self::CharReadAllError => "CHAR_READ_ALL_ERROR",
            Self::AudioOut => "AUDIO_OUT",
            Self::AudioIn => "AUDIO_IN",
            Self::Random => "RANDOM",
            Self::ClockHost => "CLOCK_HOST",
            Self::ClockVirtualRt => "CLOCK_VIRTUAL_RT",
            Self::Checkpoint(ClockWarp) => "CP_CLOCK_WARP",
            Self::Checkpoint(ClockWarpStart) => "CP_CLOCK_WARP_START",
            Self::Checkpoint(ClockWarpAccount) => "CP_CLOCK_WARP_ACCOUNT",
            Self::Checkpoint(ResetRequested) => "CP_RESET_REQUESTED",
            Self::Checkpoint(SuspendRequested) => "CP_SUSPEND_REQUESTED",
            Self::Checkpoint(ClockVirtual) => "CP_CLOCK_VIRTUAL",
            Self::Checkpoint(ClockHost) => "CP_CLOCK_HOST",
            Self::Checkpoint(ClockVirtualRt) => "CP_CLOCK_VIRTUAL_RT",
            Self::Checkpoint(Init) => "CP_INIT",
            Self::Checkpoint(Reset) => "CP_RESET",
            Self::End => "END",
        }
    }

    /// Returns the index in [`KINDS`].
    pub fn number(self) -> usize {
        KINDS.iter().position(|kind| *kind == self).unwrap_or_default()
    }
}
