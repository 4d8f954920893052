//! The rules of ovni traces, one file per level: the first digit of the code.
//!
//! Impacts were measured with `ovniemu`, `ovniemu -l` (the linter), `ovnidump` and `ovnisort` of
//! ovni
//! 1.14.0 on recorded, crashed and forged traces.

pub mod event;
pub mod files;
pub mod framing;
pub mod thread;
pub mod trace;

use std::sync::LazyLock;

pub use event::{
    BAD_ARGUMENT, COUNTERS_SIZE, EVENT_NEWER, FLIPPED_BIT, LABEL_TOO_LONG, LABEL_UNTERMINATED,
    MODEL_NOT_REQUIRED, NO_CPU, PAYLOAD_SIZE, UNKNOWN_EVENT, UNKNOWN_MODEL,
};
pub use files::{
    BAD_VALUE, DAMAGED_KEY, FOLDER_DIFFERS, FOREIGN_ORDER, JSON_DUPLICATE_KEY, JSON_SYNTAX,
    JSON_TRAILING, LIB_MIXED, LINK_OUTSIDE, METADATA_VERSION, MISSING_KEY, NRANKS_DIFFER,
    OLD_LAYOUT, RANK_TWICE, RESERVED_FLAGS, STREAM_HEADER_TRUNCATED, STREAM_MAGIC, STREAM_VERSION,
    TOLERATED_VALUE, UNFINISHED_STREAM, UNKNOWN_PART, UNSAFE_NAME, UNSUPPORTED_MODEL,
};
pub use framing::{
    CLOCK_BACKWARDS, DAMAGED_BYTES, EVENT_TRUNCATED, JUMBO_CODE, REPEATED_BYTES, STALE_TAIL,
    UNSORTED_REGION,
};
pub use thread::{
    EVENT_AFTER_END, EVENT_STATE, FLUSH_ORDER, LEFT_OPEN, MARK_KIND, MARK_LEFT_OPEN, NOT_ENDED,
    OUT_OF_CPU, REGION_ORDER, SAME_IDLE, STACK_MISMATCH, TASK_STEP, THREAD_STATE, UNDEFINED_MARK,
};
pub use trace::{
    BODY_STATE, CLOCK_GATE, CLOCK_OFFSETS, COUNTERS_UNDEFINED, CPU_CONFLICT, CPU_HANDOVER,
    DUPLICATE_THREAD, EMPTY_TRACE, JSON_MISSING, LOOM_CPUS, LOST_DEFINITION, METADATA_CONFLICT,
    OBS_MISSING, RANK_MISSING, REMOTE_TARGET, TASK_REDEFINED, THREAD_WITHOUT_STREAM,
    USE_BEFORE_DEFINITION,
};

use crate::model::{Finding, Remedy, Rule};

/// Returns every rule of the format, in the order of the codes.
pub fn all() -> &'static [&'static Rule] {
    static ALL: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
        [files::RULES, framing::RULES, event::RULES, thread::RULES, trace::RULES].concat()
    });
    &ALL
}

/// Whether a finding says that an event cannot be what it is, or cannot come now.
pub fn is_contradiction(finding: &Finding) -> bool {
    let codes = [
        &PAYLOAD_SIZE,
        &UNKNOWN_EVENT,
        &UNKNOWN_MODEL,
        &BAD_ARGUMENT,
        &EVENT_STATE,
        &THREAD_STATE,
        &STACK_MISMATCH,
        &TASK_STEP,
        &SAME_IDLE,
        &FLUSH_ORDER,
        &OUT_OF_CPU,
        &MARK_KIND,
        &REGION_ORDER,
        &TASK_REDEFINED,
        &BODY_STATE,
    ];
    codes.iter().any(|rule| rule.code == finding.rule.code)
}

/// Advice for metadata that contradicts the format.
const CORRECT_METADATA: Remedy = Remedy::Next(
    "The intended value is not in the trace. Correct \
    the key in a copy of the trace with an editor, then check it again:\n\
    \x20 cp -r trace/ corrected/\n\
    \x20 tracemend check corrected/",
);

/// Fix of events that cannot come now.
const ADD_OR_DROP: Remedy = Remedy::Fix(
    "Adds the fewest events that make this one and those after it possible, at its clock: they \
    were lost. Drops the event if it repeats the one before it, if the events after it need fewer \
    without it, or if no other event makes it possible.\n\
    Class: synthetic; lossy if the event is dropped. Cost: none; else the event.\n\
    Run:\n\
    \x20 tracemend repair trace/ -o repaired/\n\
    If the program calls libovni itself, correct the call that emits the event.",
);

/// Fix of events that are wrong by themselves.
const DROP: Remedy = Remedy::Fix(
    "Drops the event.\n\
    Class: lossy. Cost: the event.\n\
    Run:\n\
    \x20 tracemend repair trace/ -o repaired/\n\
    If the program calls libovni itself, correct the call that emits the event.",
);

/// Advice for events that the program or its runtime emitted in the wrong order.
const COMPARE_EVENTS: Remedy = Remedy::Next(
    "List the events before this position:\n\
    \x20 ovnidump trace/\n\
    If the program calls libovni itself, correct the call that emits the event. Otherwise events \
    were lost or damaged: use another copy of the trace if there is one.",
);

/// Advice for unusual content that every tool accepts.
const NOTHING_REQUIRED: Remedy = Remedy::Next(
    "Nothing has to be done if the tools read the trace. \
    If the trace was copied, compare it with the original: a difference here is damage:\n\
    \x20 diff -r trace/ original/",
);
