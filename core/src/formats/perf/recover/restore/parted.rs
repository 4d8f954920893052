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

use super::peek::Peek;
use super::shape;
use super::table_reading::{Hints, TableReading};
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::layout::SECTION_SIZE;
use crate::kit::num::to_u64;

/// Moved sections that prove that bytes were lost or added before them.
const LEAST_MOVED: usize = 2;

/// Finds the sections of the table at `at`, which has an entry for each flagged bit, if some of
/// them moved by the distance between the end of the last one and that of the file.
pub(super) fn find(peek: Peek<'_>, at: u64, hints: &Hints) -> Option<TableReading> {
    let bits: Vec<u32> = hints.flags.bits().collect();
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
    // Lists without an entry fit anywhere among one another.
    let proven = (to..bits.len()).filter(|index| stays.get(*index) == Some(&false)).count();
    if proven < LEAST_MOVED || from >= to {
        return None;
    }
    let start = entries.get(from)?.offset;
    let stop = moved.get(to)?.offset;
    let damaged = divide(entries.get(from..to)?, start, stop)?;
    let sections = entries.iter().take(from).chain(&damaged).chain(moved.iter().skip(to));
    let sections = sections.copied().collect();
    let held = from.saturating_add(after);
    Some(TableReading { at, sections, shift, is_parted: true, score: to_u64(held) })
}

/// Whether a section may be that of the feature `bit`.
fn is_fitting(peek: Peek<'_>, bit: u32, section: Section) -> bool {
    let is_right = !shape::is_known(bit) || shape::resembles(peek, bit, section);
    section.fits(peek.len()) && is_right
}

/// Divides the bytes from `start` to `stop` among damaged sections: each has its size, as far as
/// there are bytes, and the last one the rest.
fn divide(sections: &[Section], start: u64, stop: u64) -> Option<Vec<Section>> {
    let mut offset = start;
    let mut divided = Vec::new();
    let last = sections.len().checked_sub(1)?;
    for (index, section) in sections.iter().enumerate() {
        let left = stop.checked_sub(offset)?;
        let size = if index == last { left } else { section.size.min(left) };
        divided.push(Section { offset, size });
        offset = offset.saturating_add(size);
    }
    Some(divided)
}
