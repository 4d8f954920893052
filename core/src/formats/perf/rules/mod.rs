//! The rules of perf.data: one file per part of the format.

mod aux;
mod compressed;
mod feature;
mod header;
mod outline;
mod record;

use std::sync::LazyLock;

pub use aux::{
    AUX_INDEX_WRONG, TRACE_BUFFER_IMPOSSIBLE, TRACE_CLOCK_MISSING, TRACE_DAMAGED, TRACE_MISSING,
    TRACE_SIZE_WRONG, TRACER_UNKNOWN,
};
pub use compressed::{
    DATA_LEN_WRONG, EXPANDED_BROKEN, EXPANDED_TRUNCATED, ZSTD_BROKEN, ZSTD_TRUNCATED,
};
pub use feature::{
    FEATURE_FATAL, FEATURE_MALFORMED, FEATURE_MISSING, FEATURE_OUTSIDE, MACHINE_MISSING,
    MMAP_LEN_LARGE, MMAP_LEN_SMALL, NEWER_REFUSES, PART_MISSING, SAMPLE_OUTSIDE_TIME,
    SAMPLE_TIME_WRONG, TRACING_DATA_MISSING, TRAILING_BYTES, UNKNOWN_FEATURE,
};
pub use header::{
    ATTR_LARGER, ATTR_NEWER, ATTR_SIZE_UNPUBLISHED, ATTR_SIZE_WRONG, ATTR_TRUNCATED,
    ATTRS_SIZE_MISALIGNED, DATA_PAST_END, DATA_SIZE_WRONG, DATA_SIZE_ZERO, HEADER_BLANK,
    HEADER_SIZE, HEADER_TRUNCATED, IDS_MISALIGNED, NEWER_NEEDED, NO_ATTRS, RECORDS_NEWER,
    SECTION_OUTSIDE, SECTIONS_OVERLAP, VERSION_1,
};
pub use outline::{
    ATTR_IMPOSSIBLE, ATTR_TYPE_UNKNOWN, ATTR_WRONG, ATTRS_MISMATCHED, EVENT_DESC_WRONG,
    EVENT_TYPES_DAMAGED, FLAGS_WRONG, ID_INDEX_WRONG, ID_WRONG, MAGIC_DAMAGED, READ_WITHOUT_ID,
    SECTION_DISPLACED, SEVERAL_RECORDINGS, TABLE_ENTRY_WRONG,
};
pub use record::{
    ATTR_AFTER_SAMPLES, ATTR_IN_FILE, COUNT_UNLISTED, RECORD_MALFORMED, RECORD_PAST_END,
    RECORD_TOO_SMALL, RECORD_TYPE_DAMAGED, RECORD_TYPE_INVALID, RECORD_UNALIGNED,
    SAMPLE_CPU_IMPOSSIBLE, SAMPLE_MALFORMED, SAMPLE_TRAILING_BYTES, TIME_BEFORE_ROUND,
    TRACEPOINT_DATA_WRONG, TRUNCATED_RECORD, UNKNOWN_EVENT_ID, UNKNOWN_RECORD,
};

use crate::model::Rule;

/// Returns every rule of the format, in the order of the codes.
pub fn all() -> &'static [&'static Rule] {
    static ALL: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
        let parts = [
            header::RULES,
            outline::RULES,
            feature::RULES,
            record::RULES,
            aux::RULES,
            compressed::RULES,
        ];
        let mut rules = parts.concat();
        rules.sort_by_key(|rule| rule.code);
        rules
    });
    &ALL
}
