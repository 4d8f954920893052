//! The limits of revent recordings.

use crate::model::limits::Limit;

/// The limits that the format owns.
pub static LIMITS: &[&Limit] =
    &[&INPUT_SLOTS, &RELEASED, &LAYOUT_SAMPLE, &OPEN_FRAME, &SEARCHED, &DEVICE_LIST];

/// Slots that are followed on one device.
pub static INPUT_SLOTS: Limit = Limit::new(
    "revent-slots",
    128,
    "slots",
    "touch screens have ten slots, the largest tables some dozens",
);

/// Events that a repair adds to release what is still pressed at the end.
pub static RELEASED: Limit = Limit::new(
    "revent-released",
    1_024,
    "events",
    "ten fingers, a mouse and a keyboard need fifty",
);

/// Bytes of events that each layout reads if the file has no magic.
pub static LAYOUT_SAMPLE: Limit = Limit::new(
    "revent-sample",
    64 << 10,
    "bytes",
    "two thousand events; a wrong layout is contradicted by nine of the first ten",
);

/// Events after the last complete frame that are taken for a truncated frame.
pub static OPEN_FRAME: Limit = Limit::new(
    "revent-open-frame",
    4_096,
    "events",
    "the kernel buffers some dozens of events per device; a recording without frames keeps all",
);

/// Bytes in which events are searched for after damage, in one recording together.
pub static SEARCHED: Limit = Limit::new(
    "revent-searched",
    64 << 20,
    "bytes",
    "a hundred times the longest published recording; a search takes a second for 64 MiB",
);

/// Length of a list of input devices.
pub static DEVICE_LIST: Limit = Limit::new(
    "revent-device-list",
    1 << 20,
    "bytes",
    "a device with all 768 keys has a list of 20 KiB, and a machine some dozens of devices",
);
