//! The limits of QEMU record/replay logs.

use crate::model::limits::Limit;

/// All limits of the format.
pub static LIMITS: &[&Limit] = &[&DEFECTS, &HEAT, &SNIFFED, &STEP_BACK, &RESYNC];

/// Defects that all readings of a log keep together.
pub static DEFECTS: Limit = Limit::new(
    "qemu-defects",
    1024,
    "defects",
    "up to 11 readings run side by side and any may win; each keeps at least 64, and further ones \
     are only counted",
);

/// Bytes that every possible layout reads before the best of them go on.
pub static HEAT: Limit = Limit::new(
    "qemu-heat",
    256 << 10,
    "bytes",
    "a wrong layout meets an unknown id within some hundred bytes, unless it differs only in keys \
     or audio",
);

/// Bytes of events that the recognition of a log without a version looks at.
pub static SNIFFED: Limit = Limit::new(
    "qemu-sniff",
    4096,
    "bytes",
    "some hundred events; a clean log has clocks and checkpoints among its first ten",
);

/// Events before a cut that are remembered to step back.
pub static STEP_BACK: Limit = Limit::new(
    "qemu-step-back",
    64,
    "events",
    "two or three events in a row demand the next one; 64 are more than any log has",
);

/// Bytes after damage in which the next valid events are looked for, to count the dropped ones.
pub static RESYNC: Limit = Limit::new(
    "qemu-resync",
    64 << 10,
    "bytes",
    "the largest packet has 69,632 bytes and damage is mostly a page; only a count depends on it",
);
