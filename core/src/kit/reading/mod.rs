//! Readings of a whole file: one cause that explains many faults.
//!
//! A block that is repeated moves every byte after it. Each offset, size and count of the file is
//! then wrong by the length of the block, and a check reports each of them. A [`Reading`] names the
//! cause instead: the bytes that were added or lost. It is data, a list of [`Change`]s from the
//! stored bytes to the ones that the recorder wrote, so that a view of them and a map of offsets
//! follow without a copy.
//!
//! ```text
//!  stored    | A | block | block | B |      | A | added | B |      | A | B |
//!  reading   | A | block |         B |      | A |         B |      | A | zeros | B |
//!             doubled                        inserted                missing
//!
//!  stored    | A | two | B | one | C |
//!  reading   | A | one | B | two | C |
//!             exchanged
//! ```
//!
//! Candidates come from witnesses: equal bytes ([`repeats`]), and what a format knows of its
//! offsets, sizes and counts ([`Hints`]). The engine (`core/src/mend/reading.rs`) lets them race
//! against the stored bytes.

pub mod repeats;

use std::ops::Range;

use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};

/// Bytes of a page, in which file systems write.
const PAGE: u64 = 4_096;

/// The cause that a reading names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A block is repeated.
    Doubled,
    /// Bytes were inserted that do not belong to the recording.
    Inserted,
    /// Bytes are missing; their content is unknown.
    Missing,
    /// Two blocks are in each other's places.
    Exchanged,
}

/// Stored bytes and the bytes that the recorder wrote instead of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The stored bytes; an empty range is a place between two bytes.
    pub range: Range<u64>,
    /// The bytes in their place.
    pub insert: Vec<u8>,
}

/// A hypothesis about a file: how the recorder wrote it, and what happened to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Index of the file in its recording.
    pub file: u32,
    /// The cause.
    pub cause: Cause,
    /// The changes, in order and without overlap.
    pub changes: Vec<Change>,
    /// Whether other bytes determine what the changes insert.
    pub is_determined: bool,
    /// The stored bytes among which the changed ones lie, if their place is not determined.
    pub among: Option<Span>,
    /// The bytes that show the cause, with their meaning.
    pub witnesses: Vec<(Span, &'static str)>,
}

impl Reading {
    /// Creates the reading of a block at `at` that is repeated after itself.
    pub fn doubled(file: u32, at: u64, len: u64) -> Self {
        Self::copied(file, at, at.saturating_add(len), len)
    }

    /// Creates the reading of a block at `at` that is repeated later, at `copy`.
    pub fn copied(file: u32, at: u64, copy: u64, len: u64) -> Self {
        let layer = Layer::stored(file);
        let change = Change { range: copy..copy.saturating_add(len), insert: Vec::new() };
        let witnesses = vec![(Span::sized(layer, at, len), "the same bytes before the copy")];
        let cause = Cause::Doubled;
        Self { file, cause, changes: vec![change], is_determined: true, among: None, witnesses }
    }

    /// Returns the place of the block that a copy repeats, if the cause is one.
    pub fn original(&self) -> Option<u64> {
        let (span, _) = self.witnesses.first().filter(|_| self.cause == Cause::Doubled)?;
        Some(span.start)
    }

    /// Creates the reading of bytes that were inserted.
    pub fn inserted(file: u32, range: Range<u64>) -> Self {
        let change = Change { range, insert: Vec::new() };
        let (cause, witnesses) = (Cause::Inserted, Vec::new());
        Self { file, cause, changes: vec![change], is_determined: true, among: None, witnesses }
    }

    /// Creates the reading of missing bytes, which `change` inserts: bytes that others determine,
    /// or zeros.
    pub fn lost(file: u32, change: Change, is_determined: bool) -> Self {
        let (cause, witnesses) = (Cause::Missing, Vec::new());
        Self { file, cause, changes: vec![change], is_determined, among: None, witnesses }
    }

    /// Creates the reading of blocks that are in each other's places: two, or more after several
    /// exchanges.
    pub fn exchanged(file: u32, changes: Vec<Change>) -> Self {
        let (cause, witnesses) = (Cause::Exchanged, Vec::new());
        Self { file, cause, changes, is_determined: true, among: None, witnesses }
    }

    /// Adds bytes that show the cause.
    #[must_use]
    pub fn witness(mut self, span: Span, meaning: &'static str) -> Self {
        self.witnesses.push((span, meaning));
        self
    }

    /// Returns whether pages of `source` were inserted that are all zeros.
    pub fn drops_zeros(&self, source: &Source<'_>) -> bool {
        let range = self.range();
        if !range.start.is_multiple_of(PAGE) || !range.end.is_multiple_of(PAGE) {
            return false;
        }
        let mut slices = source.slices(range.start, range.end);
        self.cause == Cause::Inserted && slices.all(|slice| slice.iter().all(|byte| *byte == 0))
    }

    /// Returns the number of bytes that the changes drop, and that they add.
    pub fn sizes(&self) -> (u64, u64) {
        self.changes.iter().fold((0, 0), |(dropped, added): (u64, u64), change| {
            let len = change.range.end.saturating_sub(change.range.start);
            (dropped.saturating_add(len), added.saturating_add(to_u64(change.insert.len())))
        })
    }

    /// Returns the stored bytes from the first change to the last one.
    pub fn range(&self) -> Range<u64> {
        let start = self.changes.first().map_or(0, |first| first.range.start);
        let end = self.changes.last().map_or(start, |last| last.range.end);
        start..end
    }
}

/// The knowledge of a format about a recording that may have a reading of its own.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    /// Lengths by which a file is too long, as its offsets, sizes or counts show: file and bytes.
    /// Equal bytes at this distance may be a copy even if they are periodic.
    pub excess: Vec<(u32, u64)>,
    /// Readings that the witnesses of the format show.
    pub readings: Vec<Reading>,
}

/// Bytes that were inserted or are missing in a range. Sizes and offsets show how many they are,
/// but no single place, so nothing undoes it: the faults that it causes are repaired one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Displacement {
    /// The stored bytes among which they were inserted or are missing.
    pub range: Span,
    /// [`Cause::Inserted`] or [`Cause::Missing`].
    pub cause: Cause,
    /// The number of bytes.
    pub len: u64,
    /// The bytes that show the number, with their meaning.
    pub witnesses: Vec<(Span, &'static str)>,
}

/// Bytes that may be a copy of those before them: fewer are equal by chance.
const COPIED_MIN: u64 = 16;

impl Displacement {
    /// Returns the number of inserted bytes, if a copy of those before them may be the reason.
    pub fn copied_len(&self) -> Option<u64> {
        (self.cause == Cause::Inserted && self.len >= COPIED_MIN).then_some(self.len)
    }
}

/// The codes of faults that prove a doubled block if it is dropped and they vanish. Equal bytes
/// alone do not: a recording may hold the same bytes twice.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopyProofs {
    /// Clocks and unique numbers that return to earlier values inside the copy.
    pub returns: &'static [&'static str],
    /// Stored sizes, counts and checksums. One of them fits again by chance too easily to prove a
    /// small block.
    pub sizes: &'static [&'static str],
}
