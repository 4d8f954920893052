//! Bytes that were inserted among the features: the sections after them have their shapes later.

use std::borrow::Cow;

use super::super::described;
use super::super::peek::Peek;
use super::super::shape;
use super::{Entries, witnessed};
use crate::formats::perf::decode::header::{Flags, Section};
use crate::formats::perf::layout::{feature, field};
use crate::kit::num::to_u64;
use crate::kit::reading::Reading;
use crate::kit::source::Source;

/// Bytes of the largest section in which the place is looked for byte by byte.
const TRIED: u64 = 4096;

/// Returns the reading of `len` bytes that were inserted after the feature table, which is where
/// the header places it.
pub(super) fn find(peek: Peek<'_>, table: &Entries, len: u64) -> Option<Reading> {
    let flags = [0, 8, 16, 24].map(|at| peek.u64(field::FLAGS.saturating_add(at)).unwrap_or(0));
    let bits: Vec<u32> = Flags(flags).bits().collect();
    if bits.len() != table.sections.len() {
        return None;
    }
    let pairs = || bits.iter().copied().zip(table.sections.iter().copied());
    let moved = |section: Section| {
        let offset = section.offset.saturating_add(len);
        Section { offset, ..section }
    };
    let has_shape = |bit: u32, section: Section| {
        bit > shape::LAST || section.size == 0 || shape::resembles(peek, bit, section)
    };
    let in_place = pairs().take_while(|(bit, section)| has_shape(*bit, *section)).count();
    let after = pairs().rev().take_while(|(bit, section)| has_shape(*bit, moved(*section))).count();
    let first_moved = bits.len().saturating_sub(after);
    // The bytes are in the middle of the first section without its shape, and nothing else is
    // damaged; or they are before the first moved one, if not at the end of the one before.
    let index = if first_moved <= in_place { first_moved.checked_sub(1) } else { Some(in_place) };
    match index {
        Some(index) if first_moved <= index.saturating_add(1) => {
            Some(inside(peek, table, pairs().nth(index)?, len))
        }
        Some(_) => None,
        None => {
            let at = table.sections.first()?.offset;
            Some(witnessed(Reading::inserted(0, at..at.saturating_add(len)), table))
        }
    }
}

/// Returns the reading of bytes that were inserted into a section: at the place that gives it its
/// shape and, for EVENT_DESC, the fewest differences from the attr table. If there are several or
/// none, its content is not determined.
fn inside(peek: Peek<'_>, table: &Entries, (bit, section): (u32, Section), len: u64) -> Reading {
    let end = section.end().unwrap_or(section.offset);
    let mut found: Vec<(u64, u64, Vec<u8>)> = Vec::new();
    let first = if section.size <= TRIED { section.offset } else { end };
    for at in (first..=end).rev() {
        let rest = at.saturating_add(len);
        let pieces = peek.source.slices(0, at).chain(peek.source.slices(rest, peek.len()));
        let source = Source::from_pieces(pieces);
        let without = Peek { source: &source, order: peek.order };
        if !shape::resembles(without, bit, section) {
            continue;
        }
        let bytes = without.bytes(section.offset, end).into_owned();
        let differences = match bit {
            feature::EVENT_DESC => count_differences(without, section),
            _ => 0,
        };
        let least = found.first().map_or(u64::MAX, |(least, ..)| *least);
        if differences < least {
            found.clear();
        }
        let is_new = found.iter().all(|(_, _, known)| *known != bytes);
        if differences <= least && is_new && found.len() < 2 {
            found.push((differences, at, bytes));
        }
    }
    let at = found.first().map_or(end, |(_, at, _)| *at);
    let mut reading = Reading::inserted(0, at..at.saturating_add(len));
    reading.is_determined = matches!(found.as_slice(), [(0, ..)]);
    witnessed(reading, table)
}

/// Counts the bytes of attrs and ids in EVENT_DESC that differ from those of the attr table.
fn count_differences(peek: Peek<'_>, section: Section) -> u64 {
    let table = peek.u64(field::ATTR_SIZE).zip(peek.u64(field::ATTRS));
    let (Some((entry, mut at)), Some((size, events))) = (table, described::events(peek, section))
    else {
        return u64::MAX;
    };
    let mut differences = 0_u64;
    for event in events {
        let ids = peek.section(at.saturating_add(size)).unwrap_or_default();
        for (one, two, len) in [(event.attr, at, size), (event.ids.offset, ids.offset, ids.size)] {
            let (one, two) = (bytes_of(peek, one, len), bytes_of(peek, two, len));
            let equal = one.iter().zip(two.iter()).filter(|(one, two)| one == two).count();
            differences = differences.saturating_add(len.saturating_sub(to_u64(equal)));
        }
        at = at.saturating_add(entry);
    }
    differences
}

fn bytes_of(peek: Peek<'_>, at: u64, len: u64) -> Cow<'_, [u8]> {
    peek.bytes(at, at.saturating_add(len.min(TRIED)))
}
