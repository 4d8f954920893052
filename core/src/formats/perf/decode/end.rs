//! The end of the records, and the evidence for it.

use super::recording::Recording;
use crate::formats::perf::layout::HEADER_SIZE_OLD;
use crate::kit::walk::Item;

/// The end of the records and how it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At this offset, as in the header.
    Declared(u64),
    /// After the last complete record: the recorder did not write data.size.
    Unfinished,
    /// Outside the file, which was truncated.
    Truncated,
    /// At this offset, where the feature table or the end of the file is, unlike in the header.
    Elsewhere(u64),
}

impl End {
    /// Returns the end of the area that can hold records, in a file of `file_len` bytes.
    pub const fn area_end(self, file_len: u64) -> u64 {
        match self {
            Self::Declared(end) | Self::Elsewhere(end) => end,
            Self::Unfinished | Self::Truncated => file_len,
        }
    }

    /// Whether only the records themselves show where they end.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Unfinished | Self::Truncated)
    }
}

/// Finds the end of the records.
pub fn find_end(recording: &Recording<'_>) -> End {
    let body = &recording.body;
    let Some(declared) = body.data.end().filter(|end| *end <= recording.length()) else {
        return End::Truncated;
    };
    let has_features = body.flags.count() > 0;
    if has_features && recording.has_table_at(declared) {
        return End::Declared(declared);
    }
    if body.data.size == 0 {
        return End::Unfinished;
    }
    let reaches_end = declared == recording.length() || recording.header.size == HEADER_SIZE_OLD;
    if !has_features && reaches_end {
        return End::Declared(declared);
    }
    search_end(recording, declared)
}

/// Searches for a complete record after which the feature table is valid.
fn search_end(recording: &Recording<'_>, declared: u64) -> End {
    let has_features = recording.body.flags.count() > 0;
    let start = recording.body.data.offset;
    let mut end = start;
    let mut is_boundary = end == declared;
    for item in recording.file.records((start, recording.length()), 0) {
        let Item::Record(record) = item else { break };
        end = record.end();
        is_boundary |= end == declared;
        if has_features && recording.has_table_at(end) {
            return End::Elsewhere(end);
        }
    }
    // Without features only the records themselves can contradict the header, if they fill the
    // file.
    if !has_features && end == recording.length() && !is_boundary {
        return End::Elsewhere(end);
    }
    End::Declared(declared)
}
