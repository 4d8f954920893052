//! A table whose later sections moved: bytes among the sections were lost, or were added.
//!
//! ```text
//!  stored   |  0  |  1  |  2  |  3  |     each section adjoins the next one
//!  file     |  0  |  1  :2 |  3  |        3 lies before its place, and the file ends earlier
//! ```
//!
//! All sections before the place have the shapes of their features where the table has them, and
//! all sections after it where they moved to. Those between are damaged; if there are none, the
//! last section before the place is.

use std::ops::Range;

use super::peek::Peek;
use super::shape;
use super::table_reading::TableReading;
use crate::formats::perf::decode::header::{Flags, Section};
use crate::formats::perf::layout::SECTION_SIZE;
use crate::kit::num::to_u64;

/// Moved sections that prove that bytes were lost or added before them.
const LEAST_MOVED: usize = 2;
/// Bytes of a section that are looked at: a value is among the first ones.
const LOOKED_AT: u64 = 4_096;

/// The sections of a table of which the later ones moved.
pub(super) struct Parted {
    /// The sections as the table has them.
    entries: Vec<Section>,
    /// All sections, moved by the distance.
    moved: Vec<Section>,
    /// The distance, as a wrapping number.
    shift: u64,
    /// The damaged sections, by their index.
    damaged: Range<usize>,
}

impl Parted {
    /// Finds the sections of the table at `at`, which has an entry for each flagged bit, if some of
    /// them moved by the distance between the end of the last one and that of the file.
    pub(super) fn find(peek: Peek<'_>, at: u64, flags: &Flags) -> Option<Self> {
        let bits: Vec<u32> = flags.bits().collect();
        let place = |index: usize| at.saturating_add(to_u64(index).saturating_mul(SECTION_SIZE));
        let entries: Vec<Section> =
            (0..bits.len()).map_while(|index| peek.section(place(index))).collect();
        let adjoin = |pair: &[Section]| match pair {
            [one, next] => one.end() == Some(next.offset),
            _ => false,
        };
        let end = entries.last()?.end()?;
        if entries.len() != bits.len() || !entries.windows(2).all(adjoin) || end == peek.len() {
            return None;
        }
        let shift = peek.len().wrapping_sub(end);
        let moved: Vec<Section> = entries
            .iter()
            .map(|entry| Section { offset: entry.offset.wrapping_add(shift), ..*entry })
            .collect();
        let fits = |sections: &[Section]| -> Vec<bool> {
            let pairs = bits.iter().zip(sections);
            pairs.map(|(bit, section)| is_fitting(peek, *bit, *section)).collect()
        };
        let (stays, moves) = (fits(&entries), fits(&moved));
        let fit = stays.iter().take_while(|fits| **fits).count();
        let after = moves.iter().rev().take_while(|fits| **fits).count();
        let to = bits.len().checked_sub(after)?;
        // The beginning of a long section shows no damage inside it.
        let from = if fit == to { fit.checked_sub(1)? } else { fit };
        // Lists without an entry fit anywhere among one another. If the file is cut, the last
        // sections are not in it, and zeros elsewhere look like some of them.
        let is_proof = |index: &usize| {
            let (entry, moved) = (entries.get(*index), moved.get(*index));
            let is_inside = entry.is_some_and(|entry| entry.fits(peek.len()));
            let is_told_apart = moved.is_some_and(|moved| holds_a_value(peek, *moved));
            stays.get(*index) == Some(&false) && (is_inside || is_told_apart)
        };
        if (to..bits.len()).filter(is_proof).count() < LEAST_MOVED || from >= to {
            return None;
        }
        Some(Self { entries, moved, shift, damaged: from..to })
    }

    /// The stored bytes of the damaged sections.
    fn damaged_bytes(&self) -> Option<Range<u64>> {
        let start = self.entries.get(self.damaged.start)?.offset;
        Some(start..self.moved.get(self.damaged.end)?.offset)
    }

    /// The stored bytes in which some were lost or added. A section may have its shape although
    /// its end is damaged, so the one before the damaged ones is among them.
    pub(super) fn range(&self) -> Option<Range<u64>> {
        let before = self.entries.get(self.damaged.start.saturating_sub(1))?.offset;
        Some(before..self.damaged_bytes()?.end)
    }

    /// Returns the table as its sections lie in the file.
    pub(super) fn read(&self, at: u64) -> Option<TableReading> {
        let (entries, Range { start, end }) = (&self.entries, self.damaged.clone());
        let damaged = divide(entries.get(start..end)?, &self.damaged_bytes()?)?;
        let moved = self.moved.iter().skip(end);
        let sections = entries.iter().take(start).chain(&damaged).chain(moved);
        let sections = sections.copied().collect();
        let held = entries.len().saturating_sub(damaged.len());
        let (shift, score) = (self.shift, to_u64(held));
        Some(TableReading { at, sections, shift, is_parted: true, score })
    }
}

/// Whether a byte of a section is not 0.
fn holds_a_value(peek: Peek<'_>, section: Section) -> bool {
    let end = section.end().unwrap_or(section.offset);
    let last = end.min(section.offset.saturating_add(LOOKED_AT));
    peek.bytes(section.offset, last).iter().any(|byte| *byte != 0)
}

/// Whether a section may be that of the feature `bit`.
fn is_fitting(peek: Peek<'_>, bit: u32, section: Section) -> bool {
    let is_right = !shape::is_known(bit) || shape::resembles(peek, bit, section);
    section.fits(peek.len()) && is_right
}

/// Divides the bytes of a range among damaged sections: each has its size, as far as there are
/// bytes, and the last one the rest.
fn divide(sections: &[Section], range: &Range<u64>) -> Option<Vec<Section>> {
    let mut offset = range.start;
    let mut divided = Vec::new();
    let last = sections.len().checked_sub(1)?;
    for (index, section) in sections.iter().enumerate() {
        let left = range.end.checked_sub(offset)?;
        let size = if index == last { left } else { section.size.min(left) };
        divided.push(Section { offset, size });
        offset = offset.saturating_add(size);
    }
    Some(divided)
}
