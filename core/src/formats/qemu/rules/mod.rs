//! The rules of QEMU logs: one file per level, the first digit of the code.

pub mod event;
pub mod framing;
pub mod header;
pub mod order;

use std::sync::LazyLock;

pub use event::{
    ASYNC_CHECKPOINT, AUDIO_RANGE, CHAR_WRITE_RANGE, CHAR_WRITE_RESULT, DEVICE_RANGE, DOWN_RANGE,
    FILTER_RANGE, FULL_RING, INPUT_KIND, INSTRUCTION_RANGE, INSTRUCTION_ZERO, KEY_KIND, KEY_RANGE,
    NET_FLAGS, POINTER_RANGE, RANDOM_RESULT, READ_ERROR_SIGN,
};
pub use framing::{
    BYTES_AFTER_END, END_DUPLICATE, END_INSIDE, END_MISSING, LENGTH_PAST_END, UNKNOWN_EVENT,
};
pub use header::{
    CHOICE_CONTRADICTED, HEADER_RESERVED, HEADER_TRUNCATED, NEWER_VERSION, UNFINISHED,
    UNKNOWN_VERSION,
};
pub use order::{
    BLOCK_ID, BLOCK_MISSING, BOTTOM_HALF_ID, CHECKPOINT_MISMATCH, CLOCK_BACKWARDS, CLOCK_MISSING,
    FILTER_GAP, INIT_LATE, INIT_TWICE, INPUT_SYNC_MISSING, INSTRUCTION_MISSING,
    INSTRUCTION_PATTERN, INSTRUCTION_RATE, INSTRUCTION_TWICE, NOTHING_RAN, SHUTDOWN_MISSING,
    TURN_LEFT_OUT,
};

use crate::model::{Remedy, Rule};

/// Returns every rule of the format, in the order of the codes.
pub fn all() -> &'static [&'static Rule] {
    static ALL: LazyLock<Vec<&'static Rule>> =
        LazyLock::new(|| [header::RULES, framing::RULES, event::RULES, order::RULES].concat());
    &ALL
}

/// The remedy for damage in the middle of a log.
const KEEP_PREFIX: Remedy = Remedy::Fix(
    "Closes the log 64 bytes before its first irregular event, as damage may give valid events \
    before it shows; if valid events follow at once, before the block of events that may be in \
    the wrong place: at most 4096 bytes, or as far as the virtual clock is ahead. Drops the rest, \
    and adds the events with which this release ends a log. \
    With --strategy close the log is left as it is.\n\
    Class: lossy. Cost: every event after the cut; the report counts them, with their \
    instructions and time. The log is structurally closed; QEMU, the guest and the command line \
    decide whether it replays to its end. A complete copy of the file is better.\n\
    Run:\n\
    \x20 tracemend repair boot.log -o repaired.log\n\
    Replay the result with the command line of the recording, the same build, images, firmware \
    and devices, and rr=replay,rrfile=repaired.log instead of rr=record. It ends at the cut.",
);

/// The advice for events that are unusual but can be read.
const COMPARE_COPY: Remedy = Remedy::Next(
    "Nothing has to be done if the log replays. If it does \
    not, damage probably begins here. Compare the log with another copy if there is one:\n\
    \x20 cmp boot.log other.log",
);
