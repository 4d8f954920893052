//! Sizes, codes and names of the format.
//!
//! Sources: the recorder's C source through its history (Workload Automation, `revent.c`), the
//! files that its builds of 2012 to 2018 wrote, `include/uapi/linux/input-event-codes.h`.

pub mod names;

/// First bytes of a recording since 2016-07.
pub const MAGIC: &[u8; 6] = b"REVENT";
/// Padding of every event by the recorders of P24, P32 and v1.
pub const EVENT_PAD: u32 = 0xdead_beef;

/// A layout of the file, by the time of its recorders; older ones come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// Without magic, 20-byte events: 32-bit recorders to 2015-03.
    P20,
    /// Without magic, 24-byte events: 32-bit recorders of 2015-03 to 2016-07.
    P24,
    /// Without magic, 28-byte events: 64-bit recorders to 2015-03.
    P28,
    /// Without magic, 32-byte events: 64-bit recorders of 2015-03 to 2016-07.
    P32,
    /// Version 1, 2016-07 to 2016-10.
    V1,
    /// Version 2, 2016-10 to 2017-09.
    V2,
    /// Version 3, since 2017-09.
    V3,
}

/// Sizes of one layout, in bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// The layout that has them.
    pub generation: Generation,
    /// Name in messages.
    pub name: &'static str,
    /// Version after the magic.
    pub version: Option<u16>,
    /// Header: magic, version, mode and padding.
    pub header: u64,
    /// Number of devices.
    pub device_count: u64,
    /// Fields before the events: nothing, their count, or their count and two times.
    pub prefix: u64,
    /// One event.
    pub event: u64,
    /// Index of the device in an event.
    pub device_id: u64,
    /// Whether a padding of four bytes follows the device of an event.
    pub padded: bool,
    /// Seconds and microseconds of an event.
    pub time: u64,
}

/// Every layout, in the order of [`Generation`].
pub static LAYOUTS: [Layout; 7] = [
    Layout {
        generation: Generation::P20,
        name: "P20",
        version: None,
        header: 0,
        device_count: 4,
        prefix: 0,
        event: 20,
        device_id: 4,
        padded: false,
        time: 8,
    },
    Layout {
        generation: Generation::P24,
        name: "P24",
        version: None,
        header: 0,
        device_count: 4,
        prefix: 0,
        event: 24,
        device_id: 4,
        padded: true,
        time: 8,
    },
    Layout {
        generation: Generation::P28,
        name: "P28",
        version: None,
        header: 0,
        device_count: 8,
        prefix: 0,
        event: 28,
        device_id: 4,
        padded: false,
        time: 16,
    },
    Layout {
        generation: Generation::P32,
        name: "P32",
        version: None,
        header: 0,
        device_count: 4,
        prefix: 0,
        event: 32,
        device_id: 4,
        padded: true,
        time: 16,
    },
    Layout {
        generation: Generation::V1,
        name: "v1",
        version: Some(1),
        header: 8,
        device_count: 4,
        prefix: 0,
        event: 32,
        device_id: 4,
        padded: true,
        time: 16,
    },
    Layout {
        generation: Generation::V2,
        name: "v2",
        version: Some(2),
        header: 16,
        device_count: 4,
        prefix: 8,
        event: 26,
        device_id: 2,
        padded: false,
        time: 16,
    },
    Layout {
        generation: Generation::V3,
        name: "v3",
        version: Some(3),
        header: 16,
        device_count: 4,
        prefix: 40,
        event: 26,
        device_id: 2,
        padded: false,
        time: 16,
    },
];

impl Generation {
    /// Returns the sizes of the layout.
    #[inline]
    pub const fn layout(self) -> &'static Layout {
        let [p20, p24, p28, p32, v1, v2, v3] = &LAYOUTS;
        match self {
            Self::P20 => p20,
            Self::P24 => p24,
            Self::P28 => p28,
            Self::P32 => p32,
            Self::V1 => v1,
            Self::V2 => v2,
            Self::V3 => v3,
        }
    }
}

/// Size of the recorder's output buffer: a killed recorder leaves a multiple of it.
pub const BUFFER: u64 = 4096;
/// Size of the header, which the recorder writes directly, not through its buffer.
pub const HEADER: u64 = 16;
/// Number of devices that the recorder opens at most.
pub const DEVICES_WRITTEN: u64 = 16;
/// Number of input devices that Linux supports (INPUT_MAX_CHAR_DEVICES).
pub const DEVICES_MAX: u64 = 1024;
/// Prefix of every path that the recorder writes; a number follows.
pub const DEVICE_PREFIX: &[u8] = b"/dev/input/event";
/// Folder of all paths that the recorder writes.
pub const DEVICE_FOLDER: &[u8] = b"/dev/input/";
/// Longest path that a system opens (PATH_MAX).
pub const PATH_MAX: u64 = 4096;
/// Longest name of a gamepad: the readers have a buffer of 255 bytes.
pub const NAME_MAX: u64 = 254;
/// Longest name of a gamepad after which the other fields are still read.
pub const NAME_READ: u64 = 4096;
/// Size of each bitmap of axes, relative axes and keys of a gamepad.
pub const CODE_BITS: u64 = 96;
/// Number of axis descriptions that the readers have room for.
pub const ABSINFO_MAX: u64 = 64;
/// Size of an axis description: code, value, minimum, maximum, fuzz, flat, resolution.
pub const ABSINFO: u64 = 28;
/// Highest code of an absolute axis.
pub const ABS_MAX: u16 = 0x3f;
/// Slots of the largest touch tables; touch screens have about ten.
pub const SLOTS_USUAL: u64 = 64;
/// Highest code of a key.
pub const KEY_MAX: u16 = 0x2ff;

/// Microseconds per second.
pub const MICROS: i64 = 1_000_000;
/// First second that no recorder writes: year 2242.
pub const SECONDS_END: i64 = 1 << 33;
/// First second that is taken for a time since 1970 and not since boot: year 2001.
pub const EPOCH_FROM: i64 = 978_307_200;
/// Longest pause, in microseconds, that is not suspicious: an hour.
pub const GAP: i64 = 3_600 * MICROS;
/// Longest time, in microseconds, from the start to the first event that is not suspicious: ten
/// minutes. Recorders that were measured have some seconds.
pub const LEAD: i64 = 600 * MICROS;
/// Longest time, in microseconds, between the boot that is the start 0 and the first event: a
/// minute. A writer that is not the recorder may count from 0; the recorder runs after the boot.
pub const LEAD_FROM_ZERO: i64 = 60 * MICROS;

/// Types of events that the check follows.
pub mod kind {
    /// Marks between events.
    pub const SYN: u16 = 0;
    /// Keys and buttons.
    pub const KEY: u16 = 1;
    /// Relative axes.
    pub const REL: u16 = 2;
    /// Absolute axes.
    pub const ABS: u16 = 3;
    /// Numbers of keys, serial numbers and times.
    pub const MSC: u16 = 4;
    /// Switches.
    pub const SWITCH: u16 = 5;
    /// Lamps.
    pub const LED: u16 = 0x11;
    /// Delay and period of a repeat, in milliseconds.
    pub const REP: u16 = 0x14;
    /// Highest type.
    pub const LAST: u16 = 0x1f;
}

/// Codes that the check follows.
pub mod code {
    /// `EV_SYN`: the end of a frame.
    pub const SYN_REPORT: u16 = 0;
    /// `EV_SYN`: end of a contact in protocol A, which has no slots.
    pub const SYN_MT_REPORT: u16 = 2;
    /// `EV_SYN`: the kernel's buffer overflowed.
    pub const SYN_DROPPED: u16 = 3;
    /// `EV_KEY`: the return key, which ends a recording.
    pub const KEY_ENTER: u16 = 28;
    /// `EV_ABS`: slot of the contact that the next events describe.
    pub const ABS_MT_SLOT: u16 = 0x2f;
    /// `EV_ABS`: a contact begins or, if the value is -1, ends.
    pub const ABS_MT_TRACKING_ID: u16 = 0x39;
}

/// Longest head: header, as many devices as Linux supports with the longest paths, count and times.
pub const HEAD_MAX: u64 = HEADER + 8 + DEVICES_MAX * (4 + PATH_MAX) + 40;

/// Stages of a workload: the second part of a file name.
pub static STAGES: [&str; 4] = ["setup", "run", "extract_results", "teardown"];
/// Extension of a file name.
pub const EXTENSION: &str = "revent";
