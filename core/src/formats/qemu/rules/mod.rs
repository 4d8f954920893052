//! The rules of QEMU logs: one file per level, the first digit of the code.

pub mod event;
pub mod framing;
pub mod header;
pub mod order;

use std::sync::LazyLock;

pub use event::{
    ASYNC_CHECKPOINT, AUDIO_RANGE, CHAR_WRITE_RANGE, DEVICE_RANGE, DOWN_RANGE, FILTER_RANGE,
    FULL_RING, INPUT_KIND, INSTRUCTION_RANGE, INSTRUCTION_ZERO, KEY_KIND, KEY_RANGE, NET_FLAGS,
    POINTER_RANGE, RANDOM_RESULT, READ_ERROR_SIGN,
};
pub use framing::{
    BYTES_AFTER_END, END_DUPLICATE, END_INSIDE, END_MISSING, LENGTH_PAST_END, UNKNOWN_EVENT,
};
pub use header::{
    CHOICE_CONTRADICTED, HEADER_RESERVED, HEADER_TRUNCATED, NEWER_VERSION, UNFINISHED,
    UNKNOWN_VERSION,
};
pub use order::{
    CHECKPOINT_MISMATCH, CLOCK_BACKWARDS, CLOCK_MISSING, INIT_LATE, INPUT_SYNC_MISSING,
    INSTRUCTION_MISSING, INSTRUCTION_TWICE, SHUTDOWN_MISSING,
};

use crate::report::{Remedy, Rule};

/// Returns every rule of the format, in the order of the codes.
pub fn all() -> &'static [&'static Rule] {
    static ALL: LazyLock<Vec<&'static Rule>> =
        LazyLock::new(|| [header::RULES, framing::RULES, event::RULES, order::RULES].concat());
    &ALL
}

/// The advice for damage in the middle of a log.
const KEEP_PREFIX: Remedy = Remedy::Next(
    "Use another copy of the log if there is one. Otherwise \
    keep the part before the damage:\n\
    \x20 tracemend repair boot.log --strategy prefix -o prefix.log\n\
    Class: lossy. Cost: everything after the damage. The result is structurally closed \
    (SHUTDOWN+HOST_SIGNAL and END, or END alone before 5.1); QEMU, the guest and the command \
    line decide whether it replays.",
);

/// The advice for events that are unusual but can be read.
const COMPARE_COPY: Remedy = Remedy::Next(
    "Nothing has to be done if the log replays. If it does \
    not, damage probably begins here. Compare the log with another copy if there is one:\n\
    \x20 cmp boot.log other.log",
);
