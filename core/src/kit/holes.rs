//! Zeros where bytes never reached the disk: holes between the borders of disk blocks, and the
//! preallocated tail of a file.
//!
//! ```text
//!  records | 0 0 0 ... 0 | records | 0 0 0 ... 0 |
//!          `--- hole ----'         `--- tail ----' end of the file
//! ```
//!
//! All formats take the two words from here.

use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::steps;
use crate::kit::words::{byte_count, plural};

/// The smallest block of a disk; pages and larger blocks are multiples of it.
pub const BLOCK: u64 = 512;
/// Zeros of the recording that may adjoin a hole. Of runs of zeros in records, one in 240 lies
/// between two borders with so few around it.
pub const SLACK: u64 = 32;
/// Blocks that are looked at in one search.
const BLOCKS_MAX: u64 = 1 << 16;
/// Zeros at the end of a file that are not the recorder's: no record ends in so many, only lengths,
/// checksums and literals in a few. Where the file ends at a border of disk blocks, fewer may be
/// unwritten.
pub const TAIL_MIN: u64 = 16;
/// Bytes that the search for a tail reads at a time, and at most: a sparse file has any number of
/// zeros.
const TAIL_STEP: u64 = 64 << 10;
const TAIL_MAX: u64 = 1 << 30;

/// Returns where the preallocated tail of a file begins: its last zeros, which a file system
/// reserved and nobody wrote. It is the end of a file without one.
pub fn find_tail(source: &Source<'_>) -> u64 {
    let (end, mut start) = (source.len(), source.len());
    while start > 0 && end.saturating_sub(start) < TAIL_MAX {
        let piece = source.read(start.saturating_sub(TAIL_STEP), start);
        let zeros = piece.iter().rev().take_while(|byte| **byte == 0).count();
        steps::count(to_u64(zeros));
        start = start.saturating_sub(to_u64(zeros));
        if zeros < piece.len() {
            break;
        }
    }
    let is_tail = end.saturating_sub(start) >= TAIL_MIN || end.is_multiple_of(BLOCK);
    if is_tail { start } else { end }
}

/// Describes bytes at a place after the end of a recording, which are its tail or others.
pub fn describe_trailing(bytes: u64, is_tail: bool, place: &str) -> String {
    if is_tail {
        format!("preallocated tail: {} of zeros {place}", byte_count(bytes))
    } else {
        format!("{} {place}", plural(bytes, "trailing byte"))
    }
}

/// Looks for holes of one file.
pub struct HoleSearch<'s, 'a> {
    source: &'s Source<'a>,
    blocks_left: u64,
}

impl<'s, 'a> HoleSearch<'s, 'a> {
    /// A search in `source`.
    pub const fn new(source: &'s Source<'a>) -> Self {
        Self { source, blocks_left: BLOCKS_MAX }
    }

    /// Returns the first hole in the blocks that hold a byte of `start..end`, or adjoin them.
    pub fn find(&mut self, start: u64, end: u64) -> Option<(u64, u64)> {
        let mut at = start.saturating_sub(BLOCK) & !(BLOCK - 1);
        while at < end.saturating_add(BLOCK).min(self.source.len()) {
            if !self.is_zero(at) {
                at = at.saturating_add(BLOCK);
                self.blocks_left = self.blocks_left.checked_sub(1)?;
                continue;
            }
            let hole = self.extend(at)?;
            if self.has_borders(hole) {
                return Some(hole);
            }
            at = hole.1;
        }
        None
    }

    /// Returns the blocks of zeros around the one at `at`.
    fn extend(&mut self, at: u64) -> Option<(u64, u64)> {
        let (mut start, mut end) = (at, at.saturating_add(BLOCK));
        while start >= BLOCK && self.is_zero(start.saturating_sub(BLOCK)) {
            start = start.saturating_sub(BLOCK);
            self.blocks_left = self.blocks_left.checked_sub(1)?;
        }
        while self.is_zero(end) {
            end = end.saturating_add(BLOCK);
            self.blocks_left = self.blocks_left.checked_sub(1)?;
        }
        Some((start, end.min(self.source.len())))
    }

    /// Whether the block at `at` is in the file and has zeros only.
    fn is_zero(&self, at: u64) -> bool {
        let block = self.source.read(at, at.saturating_add(BLOCK));
        !block.is_empty() && block.iter().all(|byte| *byte == 0)
    }

    /// Whether other bytes begin at both ends, but for a few zeros of the recording.
    fn has_borders(&self, (start, end): (u64, u64)) -> bool {
        let is_filled =
            |from: u64, to: u64| self.source.read(from, to).iter().any(|byte| *byte != 0);
        let begins = start == 0 || is_filled(start.saturating_sub(SLACK), start);
        begins && is_filled(end, end.saturating_add(SLACK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::num::to_usize;

    fn find(bytes: &[u8], start: u64, end: u64) -> Option<(u64, u64)> {
        HoleSearch::new(&Source::new(bytes)).find(start, end)
    }

    #[test]
    fn a_hole_lies_between_two_borders() {
        let mut bytes = vec![7; 8 << 10];
        bytes[0x600..0x1000].fill(0);
        assert_eq!(find(&bytes, 0x800, 0x808), Some((0x600, 0x1000)));
        assert_eq!(find(&bytes, 0x1010, 0x1020), Some((0x600, 0x1000)));
        assert_eq!(find(&bytes, 0x1210, 0x1220), None);
        // A few zeros of the recording adjoin it; more are a run of its own.
        bytes[0x5f0..0x600].fill(0);
        assert_eq!(find(&bytes, 0x800, 0x808), Some((0x600, 0x1000)));
        bytes[0x5d0..0x600].fill(0);
        assert_eq!(find(&bytes, 0x800, 0x808), None);
    }

    #[test]
    fn a_hole_may_begin_the_file_and_does_not_end_it_and_less_than_a_block_is_not_one() {
        let mut bytes = vec![0; 0x500];
        bytes[0x400..].fill(1);
        assert_eq!(find(&bytes, 0, 4), Some((0, 0x400)));
        bytes.reverse();
        bytes[..0x100].fill(1);
        bytes[0x1f0..0x210].fill(1);
        assert_eq!(find(&bytes, 0x100, 0x104), None);
        bytes[0x200..].fill(0);
        assert_eq!(find(&bytes, 0x200, 0x204), None);
    }

    #[test]
    fn a_tail_ends_at_a_border_or_is_longer_than_the_zeros_of_a_record() {
        let tail = |zeros: usize, len: usize| {
            let mut bytes = vec![7; len];
            bytes[len - zeros..].fill(0);
            find_tail(&Source::new(&bytes))
        };
        assert_eq!((tail(15, 1_000), tail(16, 1_000)), (1_000, 984));
        assert_eq!((tail(15, 1_024), tail(0, 1_024)), (1_009, 1_024));
        assert_eq!((tail(200_000, 200_003), tail(3, 3), tail(512, 512)), (3, 3, 0));
    }

    #[test]
    fn a_search_ends() {
        let bytes = vec![0; to_usize((BLOCKS_MAX + 2) * BLOCK)];
        assert_eq!(find(&bytes, 0, 1), None);
        let mut bytes = bytes;
        bytes[to_usize((BLOCKS_MAX - 1) * BLOCK)..].fill(1);
        assert_eq!(find(&bytes, 0, 1), Some((0, (BLOCKS_MAX - 1) * BLOCK)));
    }
}
