//! The feature table, by the places where the records end.

use super::peek::Peek;
use super::table;
use super::table_reading::{Hints, TableReading};
use crate::formats::perf::decode::header::Body;
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::decode::table::may_follow;
use crate::formats::perf::layout::HEADER_SIZE;
use crate::kit::walk::Item;
use crate::model::limits::{Limits, RESYNC, WINDOW};

/// The records of a recording, as far as the outline needs them.
pub(super) struct Records<'a> {
    pub(super) recording: &'a Recording<'a>,
    /// Bytes that a walk may search after damage.
    pub(super) budget: u64,
}

impl Records<'_> {
    /// Walks the records from `from` to `to`, or to the end of the file. Returns whether they end
    /// exactly there, and how many come before the first damage.
    pub(super) fn reach(&self, from: u64, to: Option<u64>) -> (bool, u64) {
        let end = to.unwrap_or(self.recording.length());
        let mut first = 0_u64;
        let mut is_damaged = false;
        let mut ends = false;
        for item in self.recording.file.records((from, end), self.budget) {
            ends = matches!(item, Item::Record(_));
            is_damaged |= !ends;
            if !is_damaged {
                first = first.saturating_add(1);
            }
        }
        (ends && first > 0 && to.is_some(), first)
    }

    /// Returns where the records from `from` on end without damage.
    pub(super) fn chain_end(&self, from: u64) -> Option<u64> {
        let mut end = None;
        for item in self.recording.file.records((from, self.recording.length()), 0) {
            let Item::Record(record) = item else { break };
            end = Some(record.end());
        }
        end
    }

    /// Returns the types of the records from `from` to `to`, as a set of bits.
    pub(super) fn kinds(&self, from: u64, to: u64) -> u128 {
        let items = self.recording.file.records((from, to), self.budget);
        items.fold(0, |kinds, item| match item {
            Item::Record(record) => kinds | 1_u128.checked_shl(record.frame.kind).unwrap_or(0),
            Item::Damage(_) => kinds,
        })
    }
}

/// Finds the table: where the header has it, where the records end, or by its structure.
pub(super) fn find_table(recording: &Recording<'_>, limits: &Limits) -> Option<TableReading> {
    let peek = Peek { source: recording.file.source(), order: recording.order() };
    let records = Records { recording, budget: limits.of(&RESYNC) };
    let body = &records.recording.body;
    let declared = body.data.end().filter(|end| *end <= peek.len());
    let starts = [body.data.offset, body.attrs.end().unwrap_or(0)];
    let starts = starts.into_iter().filter(|start| (HEADER_SIZE..peek.len()).contains(start));
    let mut hints: Vec<u64> = declared.into_iter().collect();
    hints.extend(starts.filter_map(|start| records.chain_end(start)));
    let hints = Hints {
        places: hints,
        from: HEADER_SIZE,
        most: limits.of(&WINDOW),
        count: body.flags.count(),
        flags: body.flags,
        declared: body.data.end(),
    };
    let found = table::find(peek, &hints).filter(|reading| !overlaps_attrs(body, reading));
    found.filter(|reading| !is_elsewhere(peek, body, reading))
}

/// Whether a table states that it follows the records where the header has their end, in a file of
/// this length, but lies in another place: it was moved there, and says nothing about the records.
fn is_elsewhere(peek: Peek<'_>, body: &Body, reading: &TableReading) -> bool {
    let Some(declared) = body.data.end().filter(|end| *end != reading.at) else { return false };
    let last = reading.sections.len().checked_sub(1).map(|last| reading.entry_at(last));
    let ends_with_file =
        || last.and_then(|at| peek.section(at)).and_then(|last| last.end()) == Some(peek.len());
    let follows = peek.u64(reading.at).is_some_and(|first| may_follow(declared, first));
    follows && ends_with_file()
}

/// Whether entries of a table lie among the attrs: the place and size of ids look like an entry.
fn overlaps_attrs(body: &Body, reading: &TableReading) -> bool {
    let is_whole = body.attr_size > 0 && body.attrs.size.is_multiple_of(body.attr_size);
    let end = body.attrs.end().filter(|_| is_whole).unwrap_or(0);
    reading.at < end && reading.entry_at(reading.sections.len()) > body.attrs.offset
}
