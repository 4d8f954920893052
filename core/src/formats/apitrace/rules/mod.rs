//! The rules of apitrace traces: one file per part of a trace, in the order of the codes.

pub mod call;
pub mod container;
pub mod event;
pub mod header;
pub mod nesting;
pub mod stream;
pub mod usage;

use std::sync::LazyLock;

pub use call::{
    CALLS_OPEN, DONOR_DIFFERS, LEAVE_NEVER_ENTERED, LEAVE_NUMBER_WRONG, LEAVE_TWICE, PLACEHOLDERS,
};
pub use container::{
    CHECKSUM_WRONG, CHUNK_CORRUPT, CHUNK_EMPTY, CHUNK_LENGTH_WRONG, CHUNK_REPEATED,
    CHUNK_TOO_LARGE, CHUNKS_OUT_OF_ORDER, SEEK_TABLE_WRONG, TRAILING_BYTES, TRUNCATED_UNIT,
};
pub use event::{
    ARGUMENT_INDEX, BLOB_AS_TEXT, COUNT_RANGE, DEFINITION_DIFFERS, ENUM_VALUE, FLAGS_UNKNOWN,
    ID_RANGE, INTEGER_OVERLONG, INTEGER_OVERSIZED, NAME_INVALID, TEXT_NOT_UTF8, THREAD_DETAIL,
    VALUE_IMPOSSIBLE, VALUE_RARE, VALUE_UNLISTED, ZERO_FLAG,
};
pub use header::{
    CONTAINER_MISSING, HEADER_TRUNCATED, MAGIC_WRONG, NOTHING_RECORDED, PROPERTY_CONTROL,
    SEMANTIC_VERSION, VERSION_UNKNOWN,
};
pub use nesting::NESTING_TOO_DEEP;
pub use stream::{
    CALLS_MISSING, DEFINITION_MISSING, SECOND_TRACE, STREAM_DAMAGED, TRUNCATED_EVENT,
};
pub use usage::{ARGUMENT_ORDER, ARGUMENTS_UNUSUAL, RESULT_TYPE};

use crate::model::Rule;

/// Returns every rule of the format, in the order of the codes.
pub fn all() -> &'static [&'static Rule] {
    static ALL: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
        let parts = [
            header::RULES,
            stream::RULES,
            event::RULES,
            usage::RULES,
            call::RULES,
            container::RULES,
            nesting::RULES,
        ];
        parts.concat()
    });
    &ALL
}
