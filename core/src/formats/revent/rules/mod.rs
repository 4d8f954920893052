//! The rules of revent recordings: one file per part of a recording, in the order of the codes.

pub mod description;
pub mod ending;
pub mod events;
pub mod head;
pub mod sequence;
pub mod target;

use std::sync::LazyLock;

pub use description::{
    ABSINFO_BITS, ABSINFO_CODE, ABSINFO_COUNT, FILE_NAME, GAMEPAD_NAME, OLD_LAYOUT,
    TIMES_IMPLAUSIBLE, TIMES_MISMATCH, TIMES_UNWRITTEN, TIMES_WIDENED,
};
pub use ending::{
    COUNT_TOO_LARGE, COUNT_TOO_SMALL, COUNT_ZERO, ENTER_PAIR, FULL_BUFFERS, MISALIGNED, NO_EVENTS,
    TRAILING_BYTES, TRUNCATED_EVENT,
};
pub use events::{
    CODE_UNKNOWN, CONTACT_TWICE, EVENT_PAD, EVENT_TIMES_WIDENED, GAMEPAD_CODE, GAMEPAD_RANGE,
    KEY_VALUE, SLOT_OUT_OF_RANGE, TIME_IMPLAUSIBLE, UNKNOWN_DEVICE, ZERO_EVENT,
};
pub use head::{
    DEVICE_COUNT, DEVICE_PATH, DEVICE_PATH_OUTSIDE, DUPLICATE_PATH, HEAD_DAMAGED, HEADER_ONLY,
    HEADER_PAD, HEADER_TRUNCATED, MODE_UNKNOWN, NO_MAGIC, PATH_LENGTH, TOO_MANY_DEVICES,
    VERSION_UNKNOWN, VERSION_ZERO,
};
pub use sequence::{
    CLOCK, EVENT_OUTSIDE, EVENTS_DROPPED, FRAME_OPEN, GAP, RELEASE_UNPRESSED, STILL_PRESSED,
    TIME_BACK,
};

pub use target::{TARGET_DEVICE, TARGET_EVENT, TARGET_MODEL};

use crate::model::Rule;

/// Returns every rule of the format, in the order of the codes.
pub fn all() -> &'static [&'static Rule] {
    static ALL: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
        let groups = [head::RULES, description::RULES, ending::RULES, events::RULES];
        [&groups[..], &[sequence::RULES, target::RULES]].concat().concat()
    });
    &ALL
}
