//! A reading of the feature table, and what other facts say about it.

use crate::formats::perf::decode::header::{Flags, Section};
use crate::formats::perf::layout::SECTION_SIZE;
use crate::kit::num::to_u64;

/// Weight of a stored number that supports a boundary.
pub(super) const NUMBER: u64 = 3;
/// Weight of a section whose content ends where the boundary is.
pub(super) const CONTENT: u64 = 2;

/// A feature table and its sections as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableReading {
    /// Offset of the first entry.
    pub(super) at: u64,
    /// The sections in the order of the entries.
    pub(super) sections: Vec<Section>,
    /// The distance by which all offsets in the table are too small, as a wrapping number.
    pub(super) shift: u64,
    /// Whether only the sections after some place have moved.
    pub(super) is_parted: bool,
    /// Support by the stored numbers and the contents.
    pub(super) score: u64,
}

impl TableReading {
    /// The end of the last section.
    pub(super) fn end(&self) -> u64 {
        self.sections.last().and_then(|section| section.end()).unwrap_or(self.at)
    }

    /// Offset of entry number `index`.
    pub(super) fn entry_at(&self, index: usize) -> u64 {
        self.at.saturating_add(to_u64(index).saturating_mul(SECTION_SIZE))
    }

    /// Whether most entries agree with the path in both of their numbers.
    pub(super) fn is_supported(&self) -> bool {
        let count = to_u64(self.sections.len());
        let full = count.saturating_mul(2 * NUMBER + CONTENT);
        count >= 2 && self.score >= full.div_ceil(2).max(3 * NUMBER)
    }
}

/// What other facts say about the table.
#[derive(Clone, Debug)]
pub(super) struct Hints {
    /// The places where it is expected, the most reliable first.
    pub(super) places: Vec<u64>,
    /// The first place at which it can lie.
    pub(super) from: u64,
    /// Bytes at the end of the file in which it is searched.
    pub(super) most: u64,
    /// The number of features that the header flags.
    pub(super) count: u64,
    /// The features that the header flags.
    pub(super) flags: Flags,
    /// The end of the records by the header.
    pub(super) declared: Option<u64>,
}
