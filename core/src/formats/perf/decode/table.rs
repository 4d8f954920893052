//! The feature table: one section per flagged feature, in ascending order, right after the records.

use super::feature;
use super::header::{Body, Section};
use crate::formats::perf::layout::SECTION_SIZE;
use crate::kit::cursor::{Cursor, Order};
use crate::kit::field_log::FieldLog;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};

/// Entries of a table, at most, with those for features that perf then did not write: it knows
/// fewer.
const ENTRIES_MAX: u64 = 64;
/// Bytes of a table, at most.
const BYTES_MAX: u64 = ENTRIES_MAX * SECTION_SIZE;

/// Whether a section at `first` may be the first one after a table at `at`. If the table was moved,
/// it is not.
pub fn may_follow(at: u64, first: u64) -> bool {
    let len = first.checked_sub(at).filter(|len| (1..=BYTES_MAX).contains(len));
    len.is_some_and(|len| len.is_multiple_of(SECTION_SIZE))
}

/// Length of a complete table in bytes.
fn length(body: &Body) -> u64 {
    body.flags.count().saturating_mul(SECTION_SIZE)
}

/// A feature table as far as the file contains it.
#[derive(Clone, Debug)]
pub struct Table {
    /// The bytes of the entries.
    pub span: Span,
    /// Feature bits and their sections.
    pub entries: Vec<(u32, Section)>,
    /// Bytes after these entries that are zero, as entries that perf reserved and did not use.
    zeros: u64,
    /// Bytes after these entries that may be further ones, of features whose bits are lost.
    unclaimed: u64,
}

impl Table {
    /// Reads the entries of all features that `body` flags, from `at` on. Ends early if the file
    /// does.
    pub fn read(source: &Source<'_>, body: &Body, at: u64, order: Order) -> Self {
        let bytes = source.read(at, at.saturating_add(length(body)));
        let table = Self::parse(Cursor::new(&bytes, Layer::stored(0), at, order), body);
        let end = table.span.end;
        let reserved = source.read(end, end.saturating_add(BYTES_MAX));
        let zeros = to_u64(reserved.iter().take_while(|byte| **byte == 0).count());
        let mut cursor = Cursor::new(&reserved, Layer::stored(0), end, order);
        let mut unclaimed: u64 = 0;
        while let Ok(section) = Section::read(&mut cursor)
            && section.fits(source.len())
        {
            unclaimed = unclaimed.saturating_add(SECTION_SIZE);
        }
        Self { zeros, unclaimed, ..table }
    }

    /// Notes the fields of a table.
    pub fn log_fields(source: &Source<'_>, body: &Body, (at, order): (u64, Order), log: &FieldLog) {
        let bytes = source.read(at, at.saturating_add(length(body)));
        let _table =
            Self::parse(Cursor::new(&bytes, Layer::stored(0), at, order).with_log(log), body);
    }

    fn parse(mut cursor: Cursor<'_>, body: &Body) -> Self {
        let at = cursor.position();
        let mut entries = Vec::new();
        for bit in body.flags.bits() {
            let name = feature::name(bit).unwrap_or("unknown feature");
            let Ok(mut entry) = cursor.window(SECTION_SIZE, name) else { break };
            let Ok(section) = Section::read(&mut entry) else { break };
            entries.push((bit, section));
        }
        Self { span: cursor.since(at), entries, zeros: 0, unclaimed: 0 }
    }

    /// Returns the section of a feature.
    pub fn section(&self, bit: u32) -> Option<Section> {
        self.entries.iter().find(|(of, _)| *of == bit).map(|(_, section)| *section)
    }

    /// Whether the sections adjoin in the order of their places, begin after the table and the
    /// entries that the recorder may have reserved after it, and end with a file of `file_len`
    /// bytes. The offsets are those of the original file then: no byte before or between the
    /// sections was lost or added. Reserved entries are zero; other bytes may be those of records.
    pub fn is_tight(&self, file_len: u64) -> bool {
        self.tiled_end() == Some(file_len)
            && self.reserved().is_some_and(|reserved| reserved <= self.zeros)
    }

    /// Whether the first section follows the table and the entries that the recorder may have
    /// reserved after it.
    pub fn is_followed(&self) -> bool {
        self.reserved().is_some_and(|reserved| reserved <= self.unclaimed)
            && self.first().is_some_and(|first| may_follow(self.span.start, first))
    }

    /// Returns the offset of the first section.
    fn first(&self) -> Option<u64> {
        let used = self.entries.iter().filter(|(_, section)| section.size > 0);
        used.map(|(_, section)| section.offset).min()
    }

    /// Returns the number of bytes between the entries and the first section.
    fn reserved(&self) -> Option<u64> {
        self.first()?.checked_sub(self.span.end)
    }

    /// Returns the end of the last section if the sections adjoin in the order of their places, and
    /// begin after the table and the entries that the recorder may have reserved after it.
    pub fn tiled_end(&self) -> Option<u64> {
        let mut used: Vec<Section> = self.entries.iter().map(|(_, section)| *section).collect();
        used.retain(|section| section.size > 0);
        used.sort_unstable_by_key(|section| section.offset);
        let adjoin = |pair: &[Section]| match pair {
            [one, next] => one.end() == Some(next.offset),
            _ => true,
        };
        let is_tiled = self.is_followed() && used.windows(2).all(adjoin);
        used.last().and_then(|last| last.end()).filter(|_| is_tiled)
    }

    /// Whether the table is complete and all sections lie after it, in order, inside a file of
    /// `file_len` bytes; or in another order, in which they adjoin.
    ///
    /// perf reserves entries for features that it then drops, so a hole may follow the table, but
    /// no section begins before its end. simpleperf writes the sections in the order in which it
    /// has their contents.
    pub fn is_valid(&self, body: &Body, file_len: u64) -> bool {
        let mut last = self.span.end;
        let is_ordered = self.entries.iter().all(|(_, section)| {
            let is_unused = section.size == 0 && section.offset == 0;
            let is_valid = section.fits(file_len) && (is_unused || section.offset >= last);
            last = last.max(section.offset);
            is_valid
        });
        to_u64(self.entries.len()) == body.flags.count()
            && (is_ordered || self.tiled_end().is_some_and(|end| end <= file_len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::perf::decode::header::{FlagWords, Flags};

    #[test]
    fn entries_that_the_recorder_reserved_are_zero() {
        let none = Section { offset: 0, size: 0 };
        let body = Body {
            attr_size: 0,
            attrs: none,
            data: none,
            event_types: none,
            flags: Flags([1 << 3, 0, 0, 0]),
            words: FlagWords::U64,
        };
        // One entry, two reserved ones, and its section of 8 bytes.
        let mut bytes = [3 * SECTION_SIZE, 8, 0, 0, 0, 0, 1].map(u64::to_le_bytes).concat();
        let is_tight = |bytes: &[u8]| {
            let table = Table::read(&Source::new(bytes), &body, 0, Order::Little);
            table.is_tight(to_u64(bytes.len()))
        };
        let is_followed =
            |bytes: &[u8]| Table::read(&Source::new(bytes), &body, 0, Order::Little).is_followed();
        assert!(is_tight(&bytes) && is_followed(&bytes));
        // An entry whose bit is lost.
        bytes[40] = 1;
        assert!(!is_tight(&bytes) && is_followed(&bytes));
        // No entry.
        bytes[40] = 0xff;
        assert!(!is_tight(&bytes) && !is_followed(&bytes));
    }
}
