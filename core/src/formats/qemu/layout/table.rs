//! The 15 layouts as data. The ids of a layout count through its groups from 0.

use crate::formats::qemu::layout::kind::Async::{
    Bh, BhOneshot, Block, CharRead, Input, InputSync, Net,
};
use crate::formats::qemu::layout::kind::Cause::{
    GuestPanic, GuestReset, GuestShutdown, HostError, HostQmp, HostQmpQuit, HostQmpSystemReset,
    HostSignal, HostUi, SnapshotLoad, SubsystemReset,
};
use crate::formats::qemu::layout::kind::Checkpoint::{
    ClockHost, ClockVirtual, ClockVirtualRt, ClockWarp, ClockWarpAccount, ClockWarpStart, Init,
    Reset, ResetRequested, SuspendRequested,
};
use crate::formats::qemu::layout::kind::{Async, Cause, Kind};
use crate::formats::qemu::layout::{Audio, Keys, Layout};

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
const IDS_7_1: &[&[Kind]] =
    &[HEAD, ASYNC_IDS, SHUTDOWN_4_0, RESERVED, CHARS, AUDIO, RANDOM, CLOCKS, CHECKPOINTS, END];
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

/// The values that the layouts since 7.2 share. Each layout lists those that differ.
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

/// The values that the layouts since 8.1 share.
const SINCE_8_1: Layout =
    Layout { releases: [(8, 1), (10, 2)], inputs: 5, buttons: 10, ..SINCE_7_2 };

/// The values that the layouts before 4.2 share. Each layout lists those that differ.
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
        groups: IDS_7_1,
        keys: Keys::Values { qcodes: 150 },
        ..SINCE_7_2
    },
    SINCE_7_2,
    SINCE_8_1,
    Layout {
        version: 0x00e0_200d,
        releases: [(11, 0), (11, 0)],
        audio: Audio::Unplaced,
        ..SINCE_8_1
    },
    Layout {
        version: 0x00e0_200e,
        releases: [(11, 1), (11, 1)],
        keys: Keys::Linux,
        audio: Audio::Unplaced,
        ..SINCE_8_1
    },
];
