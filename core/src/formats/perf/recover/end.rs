//! The end of the records, and the evidence for it.

use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::recording::Recording;
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

/// Finds the end of the records. `events` are those of the attr table; a search after damage reads
/// at most `budget` bytes.
pub fn find_end(recording: &Recording<'_>, events: &Events, budget: u64) -> End {
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
    match has_features {
        true => search_table(recording, declared),
        false => search_last_record(recording, declared, events, budget),
    }
}

/// Searches for a complete record after which the feature table is valid.
fn search_table(recording: &Recording<'_>, declared: u64) -> End {
    let area = (recording.body.data.offset, recording.length());
    for item in recording.file.records(area, 0) {
        let Item::Record(record) = item else { break };
        let is_table = recording.has_table_at(record.end());
        if is_table && recording.table(record.end()).is_followed() {
            return End::Elsewhere(record.end());
        }
    }
    End::Declared(declared)
}

/// Searches for the last record. Without features only the records themselves can contradict the
/// header: if they fill the file, and none ends where the header has the end, or damage before that
/// end may have moved them.
fn search_last_record(
    recording: &Recording<'_>,
    declared: u64,
    events: &Events,
    budget: u64,
) -> End {
    let (start, len) = (recording.body.data.offset, recording.length());
    let (mut end, mut is_boundary, mut is_damaged) = (start, start == declared, false);
    let events = events.sample_copy();
    let mut items = recording.file.records((start, len), budget);
    if let Some(events) = &events {
        items = items.judged_by(events);
    }
    for item in items {
        match item {
            Item::Record(record) => {
                end = record.end();
                is_boundary |= end == declared;
            }
            Item::Damage(damage) => is_damaged |= damage.span.end <= declared,
        }
    }
    let is_moved = end == len && (is_damaged || !is_boundary);
    if is_moved { End::Elsewhere(end) } else { End::Declared(declared) }
}
