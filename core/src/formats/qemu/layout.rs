//! The 15 layouts and what their ids mean: facts, no code but look-ups.
//!
//! A layout is a list of groups of events; the ids count through them from 0. Between releases
//! events were added in the middle, so every id behind moved, and the version word did not always
//! change with it: the shutdown causes are an enum of the QMP schema that grew by itself.
//!
//! Sources: the enums of `replay/replay-internal.h`, `include/sysemu/replay.h`, `qapi/run-state.json`
//! and `qapi/ui.json` in the releases 2.5.0 to 11.1, and logs of 5.2, 7.2, 10.0 and 11.1.

use Async::{Bh, BhOneshot, Block, CharRead, Input, InputSync, Net};
use Cause::{
    GuestPanic, GuestReset, GuestShutdown, HostError, HostQmp, HostQmpQuit, HostQmpSystemReset,
    HostSignal, HostUi, SnapshotLoad, SubsystemReset,
};
use Checkpoint::{
    ClockHost, ClockVirtual, ClockVirtualRt, ClockWarp, ClockWarpAccount, ClockWarpStart, Init,
    Reset, ResetRequested, SuspendRequested,
};

/// Bytes of the header: u32 version, 8 bytes that nothing uses.
pub const HEADER_LEN: u64 = 12;
/// Bytes of the version word.
pub const VERSION_LEN: u64 = 4;
/// What all version words have in their upper three bytes.
pub const VERSION_FAMILY: u32 = 0x00e0_2000;

/// Why the machine was shut down or reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Through 2.9 there are no causes.
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
    /// `host-signal`: what a recorder writes when it ends, whatever ended it.
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

/// What happens beside the guest's instructions and is replayed at the same instruction.
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

/// A place where the threads of QEMU are brought into step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Checkpoint {
    /// 2.5 alone.
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
    /// The machine was made.
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
    /// Through 7.0 one id for all asynchronous events: u8 checkpoint and u8 kind follow.
    AsyncGroup,
    /// An asynchronous event.
    Async(Async),
    /// A shutdown or reset was asked for.
    Shutdown(Cause),
    /// The id behind the causes: never written.
    Reserved,
    /// Result of a write to a character device.
    CharWrite,
    /// What a read from a character device gave.
    CharReadAll,
    /// That it failed.
    CharReadAllError,
    /// Samples that were played.
    AudioOut,
    /// Samples that were recorded.
    AudioIn,
    /// Random bytes that the guest got.
    Random,
    /// The host's clock was read.
    ClockHost,
    /// The virtual real-time clock was read.
    ClockVirtualRt,
    /// A checkpoint was passed.
    Checkpoint(Checkpoint),
    /// The log ends.
    End,
}

/// Kinds there are. They are numbered by their places here.
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
    /// Its name in `replay-internal.h`, without the prefix, and with the cause or the checkpoint.
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

    /// Its place in [`KINDS`].
    pub fn number(self) -> usize {
        KINDS.iter().position(|kind| *kind == self).unwrap_or_default()
    }
}

/// How keys are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// u32 value kind, then u64 number or u32 qcode; there are so many qcodes.
    Values {
        /// Qcodes of the newest release of the layout.
        qcodes: u32,
    },
    /// u32 keycode of Linux.
    Linux,
}

/// How audio is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audio {
    /// u32 counts, u32 write position.
    Narrow,
    /// u64 counts, u64 write position.
    Wide,
    /// u64 counts, no write position.
    Unplaced,
}

/// One layout.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// The version word.
    pub version: u32,
    /// First and last release that wrote it, as major and minor number.
    pub releases: [(u8, u8); 2],
    /// The events: ids count through the groups from 0.
    pub groups: &'static [&'static [Kind]],
    /// Kinds of the async event, by number, where one id stands for all.
    pub async_kinds: &'static [Async],
    /// How keys are written.
    pub keys: Keys,
    /// Kinds of input: key, button, relative, absolute, and since 8.1 touch.
    pub inputs: u32,
    /// Pointer buttons.
    pub buttons: u32,
    /// How audio is written.
    pub audio: Audio,
    /// The writer ends a log with SHUTDOWN+HOST_SIGNAL and END, not with END alone.
    pub pair: bool,
    /// Clean logs of the layout were at hand, so that its regularities are known.
    pub measured: bool,
}

const HEAD: &[Kind] = &[Kind::Instruction, Kind::Interrupt, Kind::Exception];
const ASYNC_GROUP: &[Kind] = &[Kind::AsyncGroup];
const ASYNC_IDS: &[Kind] = &[
    Kind::Async(Bh),
    Kind::Async(BhOneshot),
    Kind::Async(Input),
    Kind::Async(InputSync),
    Kind::Async(CharRead),
    Kind::Async(Block),
    Kind::Async(Net),
];
const ASYNC_2_5: &[Async] = &[Bh, Input, InputSync];
const ASYNC_2_6: &[Async] = &[Bh, Input, InputSync, CharRead, Block];
const ASYNC_2_9: &[Async] = &[Bh, Input, InputSync, CharRead, Block, Net];
const ASYNC_4_2: &[Async] = &[Bh, BhOneshot, Input, InputSync, CharRead, Block, Net];
const SHUTDOWN_2_5: &[Kind] = &[Kind::Shutdown(Cause::Any)];
const SHUTDOWN_2_10: &[Kind] = &[
    Kind::Shutdown(Cause::None),
    Kind::Shutdown(HostError),
    Kind::Shutdown(HostQmp),
    Kind::Shutdown(HostSignal),
    Kind::Shutdown(HostUi),
    Kind::Shutdown(GuestShutdown),
    Kind::Shutdown(GuestReset),
    Kind::Shutdown(GuestPanic),
];
const SHUTDOWN_4_0: &[Kind] = &[
    Kind::Shutdown(Cause::None),
    Kind::Shutdown(HostError),
    Kind::Shutdown(HostQmpQuit),
    Kind::Shutdown(HostQmpSystemReset),
    Kind::Shutdown(HostSignal),
    Kind::Shutdown(HostUi),
    Kind::Shutdown(GuestShutdown),
    Kind::Shutdown(GuestReset),
    Kind::Shutdown(GuestPanic),
    Kind::Shutdown(SubsystemReset),
];
const SUBSYSTEM_RESET: &[Kind] = &[Kind::Shutdown(SubsystemReset)];
const SNAPSHOT_LOAD: &[Kind] = &[Kind::Shutdown(SnapshotLoad)];
const RESERVED: &[Kind] = &[Kind::Reserved];
const CHARS: &[Kind] = &[Kind::CharWrite, Kind::CharReadAll, Kind::CharReadAllError];
const AUDIO: &[Kind] = &[Kind::AudioOut, Kind::AudioIn];
const RANDOM: &[Kind] = &[Kind::Random];
const CLOCKS: &[Kind] = &[Kind::ClockHost, Kind::ClockVirtualRt];
const CHECKPOINTS_2_5: &[Kind] = &[
    Kind::Checkpoint(ClockWarp),
    Kind::Checkpoint(ResetRequested),
    Kind::Checkpoint(SuspendRequested),
    Kind::Checkpoint(ClockVirtual),
    Kind::Checkpoint(ClockHost),
    Kind::Checkpoint(ClockVirtualRt),
    Kind::Checkpoint(Init),
    Kind::Checkpoint(Reset),
];
const CHECKPOINTS: &[Kind] = &[
    Kind::Checkpoint(ClockWarpStart),
    Kind::Checkpoint(ClockWarpAccount),
    Kind::Checkpoint(ResetRequested),
    Kind::Checkpoint(SuspendRequested),
    Kind::Checkpoint(ClockVirtual),
    Kind::Checkpoint(ClockHost),
    Kind::Checkpoint(ClockVirtualRt),
    Kind::Checkpoint(Init),
    Kind::Checkpoint(Reset),
];
const END: &[Kind] = &[Kind::End];

const IDS_2_10: &[&[Kind]] =
    &[HEAD, ASYNC_GROUP, SHUTDOWN_2_10, RESERVED, CHARS, AUDIO, CLOCKS, CHECKPOINTS, END];
const IDS_4_0: &[&[Kind]] =
    &[HEAD, ASYNC_GROUP, SHUTDOWN_4_0, RESERVED, CHARS, AUDIO, CLOCKS, CHECKPOINTS, END];
const IDS_5_0: &[&[Kind]] =
    &[HEAD, ASYNC_GROUP, SHUTDOWN_4_0, RESERVED, CHARS, AUDIO, RANDOM, CLOCKS, CHECKPOINTS, END];
const IDS_7_2: &[&[Kind]] = &[
    HEAD,
    ASYNC_IDS,
    SHUTDOWN_4_0,
    SNAPSHOT_LOAD,
    RESERVED,
    CHARS,
    AUDIO,
    RANDOM,
    CLOCKS,
    CHECKPOINTS,
    END,
];

/// What the layouts since 7.2 share; each says what is different.
const SINCE_7_2: Layout = Layout {
    version: 0x00e0_200c,
    releases: [(7, 2), (8, 0)],
    groups: IDS_7_2,
    async_kinds: &[],
    keys: Keys::Values { qcodes: 162 },
    inputs: 4,
    buttons: 9,
    audio: Audio::Wide,
    pair: true,
    measured: true,
};

/// What the layouts before 4.2 share; each says what is different.
const BEFORE_4_2: Layout = Layout {
    version: 0x00e0_2006,
    releases: [(2, 10), (2, 11)],
    groups: IDS_2_10,
    async_kinds: ASYNC_2_9,
    keys: Keys::Values { qcodes: 146 },
    inputs: 4,
    buttons: 7,
    audio: Audio::Narrow,
    pair: false,
    measured: false,
};

/// Every layout, oldest first.
pub static LAYOUTS: [Layout; 15] = [
    Layout {
        version: 0x00e0_2002,
        releases: [(2, 5), (2, 5)],
        groups: &[HEAD, ASYNC_GROUP, SHUTDOWN_2_5, CLOCKS, CHECKPOINTS_2_5, END],
        async_kinds: ASYNC_2_5,
        keys: Keys::Values { qcodes: 123 },
        buttons: 5,
        ..BEFORE_4_2
    },
    Layout {
        version: 0x00e0_2004,
        releases: [(2, 6), (2, 8)],
        groups: &[HEAD, ASYNC_GROUP, SHUTDOWN_2_5, CHARS, CLOCKS, CHECKPOINTS, END],
        async_kinds: ASYNC_2_6,
        keys: Keys::Values { qcodes: 125 },
        buttons: 5,
        ..BEFORE_4_2
    },
    Layout {
        version: 0x00e0_2006,
        releases: [(2, 9), (2, 9)],
        groups: &[HEAD, ASYNC_GROUP, SHUTDOWN_2_5, CHARS, AUDIO, CLOCKS, CHECKPOINTS, END],
        keys: Keys::Values { qcodes: 128 },
        ..BEFORE_4_2
    },
    BEFORE_4_2,
    Layout {
        version: 0x00e0_2007,
        releases: [(2, 12), (2, 12)],
        keys: Keys::Values { qcodes: 148 },
        ..BEFORE_4_2
    },
    Layout {
        version: 0x00e0_2007,
        releases: [(3, 0), (3, 1)],
        groups: &[
            HEAD,
            ASYNC_GROUP,
            SHUTDOWN_2_10,
            SUBSYSTEM_RESET,
            RESERVED,
            CHARS,
            AUDIO,
            CLOCKS,
            CHECKPOINTS,
            END,
        ],
        keys: Keys::Values { qcodes: 148 },
        ..BEFORE_4_2
    },
    Layout {
        version: 0x00e0_2007,
        releases: [(4, 0), (4, 1)],
        groups: IDS_4_0,
        keys: Keys::Values { qcodes: 148 },
        ..BEFORE_4_2
    },
    Layout {
        version: 0x00e0_2008,
        releases: [(4, 2), (4, 2)],
        groups: IDS_4_0,
        async_kinds: ASYNC_4_2,
        keys: Keys::Values { qcodes: 148 },
        audio: Audio::Wide,
        ..BEFORE_4_2
    },
    Layout {
        version: 0x00e0_2009,
        releases: [(5, 0), (5, 0)],
        groups: IDS_5_0,
        async_kinds: ASYNC_4_2,
        keys: Keys::Values { qcodes: 148 },
        audio: Audio::Wide,
        ..BEFORE_4_2
    },
    Layout {
        version: 0x00e0_200a,
        releases: [(5, 1), (7, 0)],
        groups: IDS_5_0,
        async_kinds: ASYNC_4_2,
        keys: Keys::Values { qcodes: 150 },
        ..SINCE_7_2
    },
    Layout {
        releases: [(7, 1), (7, 1)],
        groups: &[
            HEAD,
            ASYNC_IDS,
            SHUTDOWN_4_0,
            RESERVED,
            CHARS,
            AUDIO,
            RANDOM,
            CLOCKS,
            CHECKPOINTS,
            END,
        ],
        keys: Keys::Values { qcodes: 150 },
        ..SINCE_7_2
    },
    SINCE_7_2,
    Layout { releases: [(8, 1), (10, 2)], inputs: 5, buttons: 10, ..SINCE_7_2 },
    Layout {
        version: 0x00e0_200d,
        releases: [(11, 0), (11, 0)],
        inputs: 5,
        buttons: 10,
        audio: Audio::Unplaced,
        ..SINCE_7_2
    },
    Layout {
        version: 0x00e0_200e,
        releases: [(11, 1), (11, 1)],
        keys: Keys::Linux,
        inputs: 5,
        buttons: 10,
        audio: Audio::Unplaced,
        ..SINCE_7_2
    },
];

impl Layout {
    /// What an id means; nothing for one that the layout does not have.
    pub fn kind(&self, id: u8) -> Option<Kind> {
        self.groups.iter().copied().flatten().nth(usize::from(id)).copied()
    }

    /// The id of a kind; nothing for one that the layout does not have.
    pub fn id(&self, kind: Kind) -> Option<u8> {
        let place = self.groups.iter().copied().flatten().position(|one| *one == kind)?;
        u8::try_from(place).ok()
    }

    /// The releases in words, as in `7.2 to 8.0`.
    pub fn shown(&self) -> String {
        let [(major, minor), last] = self.releases;
        if last == (major, minor) {
            format!("{major}.{minor}")
        } else {
            format!("{major}.{minor} to {}.{}", last.0, last.1)
        }
    }

    /// How the layout's own writer ends a log.
    pub fn closing(&self) -> Vec<u8> {
        let signal = self.id(Kind::Shutdown(HostSignal)).filter(|_| self.pair);
        signal.into_iter().chain(self.id(Kind::End)).collect()
    }
}

/// The number of the layout that a release writes, as in `7.2` or `7.2.22`.
pub fn release(text: &str) -> Option<usize> {
    let mut parts = text.split('.').map(|part| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u8>().ok().filter(|_| digits)
    });
    let wanted = (parts.next()??, parts.next()??);
    let patch_sound = parts.next().is_none_or(|patch| patch.is_some()) && parts.next().is_none();
    let known = RELEASES.contains(&wanted) && patch_sound;
    let within = |layout: &Layout| {
        let [first, last] = layout.releases;
        known && first <= wanted && wanted <= last
    };
    LAYOUTS.iter().position(within)
}

/// The releases that wrote logs.
pub const RELEASES: [(u8, u8); 33] = [
    (2, 5),
    (2, 6),
    (2, 7),
    (2, 8),
    (2, 9),
    (2, 10),
    (2, 11),
    (2, 12),
    (3, 0),
    (3, 1),
    (4, 0),
    (4, 1),
    (4, 2),
    (5, 0),
    (5, 1),
    (5, 2),
    (6, 0),
    (6, 1),
    (6, 2),
    (7, 0),
    (7, 1),
    (7, 2),
    (8, 0),
    (8, 1),
    (8, 2),
    (9, 0),
    (9, 1),
    (9, 2),
    (10, 0),
    (10, 1),
    (10, 2),
    (11, 0),
    (11, 1),
];

/// Some of the layouts: bit N stands for number N of [`LAYOUTS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layouts(u16);

impl Layouts {
    /// Those that `holds` is true for.
    pub fn of(holds: impl Fn(usize, &Layout) -> bool) -> Self {
        let numbers = LAYOUTS.iter().enumerate().filter(|(number, one)| holds(*number, one));
        numbers.fold(Self::default(), |set, (number, _)| set.with(number))
    }

    /// With one more.
    #[must_use]
    pub fn with(self, number: usize) -> Self {
        let bit = u32::try_from(number).ok().and_then(|number| 1_u16.checked_shl(number));
        Self(self.0 | bit.unwrap_or(0))
    }

    /// Those of either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a layout is among them.
    pub fn contains(self, number: usize) -> bool {
        Self::default().with(number).0 & self.0 != 0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Numbers and layouts, oldest first.
    pub fn iter(self) -> impl Iterator<Item = (usize, &'static Layout)> {
        LAYOUTS.iter().enumerate().filter(move |(number, _)| self.contains(*number))
    }

    /// The oldest.
    pub fn first(self) -> Option<&'static Layout> {
        self.iter().next().map(|(_, layout)| layout)
    }

    /// In words: version words with their releases.
    pub fn shown(self) -> String {
        let mut text = String::new();
        let mut version = None;
        for (_, layout) in self.iter() {
            if version == Some(layout.version) {
                text += &format!(" or {}", layout.shown());
                continue;
            }
            if version.is_some() {
                text += ", ";
            }
            text += &format!("{:#x} of {}", layout.version, layout.shown());
            version = Some(layout.version);
        }
        text
    }
}

/// Values that an event cannot have, by what was ever written or by what QEMU survives.
pub mod range {
    /// Instructions between two events: the reader counts down in an `int`.
    pub const INSTRUCTIONS: u32 = i32::MAX.unsigned_abs();
    /// Character devices, and filters of packets, on one command line: replay takes the index for
    /// one of those that there are. QEMU has at most 4 serial ports; the rest is added one by one.
    pub const DEVICES: u8 = 64;
    /// Bytes of an array: a packet has at most 69,632, a read of a character device 4,096.
    pub const ARRAY: u32 = 1 << 20;
    /// Samples of one audio event: the ring holds a second or two at 192 kHz.
    pub const SAMPLES: u64 = 1 << 20;
    /// Flags of a packet: `QEMU_NET_PACKET_FLAG_RAW`.
    pub const NET_FLAGS: u32 = 1;
    /// Keycodes of Linux: `KEY_CNT`.
    pub const LINUX_KEYS: u32 = 0x300;
    /// Numbers of keys: scancodes with their prefix.
    pub const KEY_NUMBERS: u64 = 0x1_0000;
    /// Axes of a pointer.
    pub const AXES: u32 = 2;
    /// Kinds of touch event.
    pub const TOUCHES: u32 = 5;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SHUTDOWN first and last, CHAR_WRITE, AUDIO_OUT, RANDOM, CLOCK_HOST, first and last checkpoint,
    /// END, closing: by hand from the releases' enums.
    #[test]
    fn ids_are_those_of_the_releases() {
        let first_shutdown = |layout: &Layout| {
            let kinds = layout.groups.iter().copied().flatten();
            kinds.clone().position(|kind| matches!(kind, Kind::Shutdown(_)))
        };
        let row = |layout: &Layout| {
            let checkpoint = |kind| layout.id(Kind::Checkpoint(kind));
            (
                first_shutdown(layout),
                layout.id(Kind::CharWrite),
                layout.id(Kind::AudioOut),
                layout.id(Kind::Random),
                layout.id(Kind::ClockHost),
                checkpoint(ClockWarp).or(checkpoint(ClockWarpStart)),
                checkpoint(Reset),
                layout.closing(),
            )
        };
        let rows: Vec<_> = LAYOUTS.iter().map(row).collect();
        let wanted = |shutdown, char, audio, random, clock, first, last, closing: &[u8]| {
            (
                Some(shutdown),
                char,
                audio,
                random,
                Some(clock),
                Some(first),
                Some(last),
                closing.to_vec(),
            )
        };
        assert_eq!(
            rows,
            [
                wanted(4, None, None, None, 5, 7, 14, &[15]),
                wanted(4, Some(5), None, None, 8, 10, 18, &[19]),
                wanted(4, Some(5), Some(8), None, 10, 12, 20, &[21]),
                wanted(4, Some(13), Some(16), None, 18, 20, 28, &[29]),
                wanted(4, Some(13), Some(16), None, 18, 20, 28, &[29]),
                wanted(4, Some(14), Some(17), None, 19, 21, 29, &[30]),
                wanted(4, Some(15), Some(18), None, 20, 22, 30, &[31]),
                wanted(4, Some(15), Some(18), None, 20, 22, 30, &[31]),
                wanted(4, Some(15), Some(18), Some(20), 21, 23, 31, &[32]),
                wanted(4, Some(15), Some(18), Some(20), 21, 23, 31, &[8, 32]),
                wanted(10, Some(21), Some(24), Some(26), 27, 29, 37, &[14, 38]),
                wanted(10, Some(22), Some(25), Some(27), 28, 30, 38, &[14, 39]),
                wanted(10, Some(22), Some(25), Some(27), 28, 30, 38, &[14, 39]),
                wanted(10, Some(22), Some(25), Some(27), 28, 30, 38, &[14, 39]),
                wanted(10, Some(22), Some(25), Some(27), 28, 30, 38, &[14, 39]),
            ]
        );
    }

    #[test]
    fn a_release_has_one_layout_and_others_are_refused() {
        for (major, minor) in RELEASES {
            let number = release(&format!("{major}.{minor}")).unwrap();
            let [first, last] = LAYOUTS[number].releases;
            assert!(first <= (major, minor) && (major, minor) <= last);
        }
        assert_eq!(release("7.2.22"), release("7.2"));
        for text in ["", "7", "7.3", "2.4", "12.0", "7.2.", "7.2.x", "7.2.1.1", "v7.2", "+7.2"] {
            assert_eq!(release(text), None, "{text}");
        }
    }

    #[test]
    fn kinds_are_numbered_apart_and_ids_lead_back() {
        for (number, kind) in KINDS.into_iter().enumerate() {
            assert_eq!(kind.number(), number);
        }
        for layout in &LAYOUTS {
            for id in 0..=u8::MAX {
                let back = layout.kind(id).and_then(|kind| layout.id(kind));
                assert_eq!(back, layout.kind(id).map(|_| id));
            }
        }
    }
}
