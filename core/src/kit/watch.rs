//! How far walks over the bytes of a file have come, for those who wait.
//!
//! ```text
//!  block   0      1      2      3            a walk takes the longest slice that is there, again
//!          |------|------|------|--          and again; a source ends it where a block may end
//!                 ^      ^      ^
//!                 passed: the block that is next, after the last one the first again
//! ```
//!
//! Between two records a decoder may read a table somewhere else, which is not the next block and
//! counts nothing. Walks know how to go on at the end of a piece, so none of them has to report
//! anything, and the loops inside a block cost the same with a watch as without one.

use std::sync::atomic::{AtomicU64, Ordering};

/// Blocks that a file is divided into, at most: more would not be seen.
const BLOCKS_MAX: u64 = 1024;
/// Bytes of a block of a source, as a power of two: a contiguous slice ends with its block. Walks
/// know how to go on there, and a walk whose steps are spent ends there. The blocks of a watch have
/// as many bytes or more.
pub(super) const BLOCK_SHIFT: u32 = 18;
/// The longest one.
const SHIFT_MOST: u32 = 63;

/// Counts the bytes of one file that walks have passed.
#[derive(Debug)]
pub struct Watch {
    len: u64,
    /// The length of a block is 2 to the power of this.
    shift: u32,
    /// The block that a walk comes to next.
    next: AtomicU64,
    /// Blocks that walks have come to. It counts, and orders nothing.
    passed: AtomicU64,
}

impl Watch {
    /// Creates a watch for a file of `len` bytes.
    pub fn new(len: u64) -> Self {
        let is_fine = |shift: &u32| len.checked_shr(*shift).unwrap_or(0) < BLOCKS_MAX;
        let shift = (BLOCK_SHIFT..SHIFT_MOST).find(is_fine).unwrap_or(SHIFT_MOST);
        Self { len, shift, next: AtomicU64::new(1), passed: AtomicU64::new(0) }
    }

    /// Returns the length of the file in bytes.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether the file has no bytes.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes that walks have passed, a multiple of the length of a block: those of a
    /// second walk, too, so that there may be more than the file has. The last block of a walk does
    /// not count, since nothing shows where it ended.
    pub fn passed(&self) -> u64 {
        self.passed.load(Ordering::Relaxed).checked_shl(self.shift).unwrap_or(u64::MAX)
    }

    /// Returns the bytes that one walk over the whole file adds.
    pub fn walk_len(&self) -> u64 {
        self.last_block().checked_shl(self.shift).unwrap_or(u64::MAX)
    }

    fn last_block(&self) -> u64 {
        self.len.saturating_sub(1).checked_shr(self.shift).unwrap_or(0)
    }

    /// Notes a request for the bytes from `at` on.
    #[inline]
    pub(super) fn note(&self, at: u64) {
        let block = at.checked_shr(self.shift).unwrap_or(0);
        if block == self.next.load(Ordering::Relaxed) {
            self.pass(block);
        }
    }
}

impl Watch {
    /// Counts a block, once if several threads come to it.
    #[cold]
    fn pass(&self, block: u64) {
        let after = if block < self.last_block() { block.saturating_add(1) } else { 1 };
        let order = Ordering::Relaxed;
        if self.next.compare_exchange(block, after, order, order).is_ok() {
            self.passed.fetch_add(1, order);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::num::to_u64;
    use crate::kit::source::Source;

    #[test]
    fn a_walk_passes_every_block_and_reads_elsewhere_none() {
        let bytes = vec![7; (5 << BLOCK_SHIFT) + 3];
        let watch = Watch::new(to_u64(bytes.len()));
        let source = Source::new(&bytes).watched(&watch);
        let mut at = 0;
        let mut runs = 0;
        while at < source.len() {
            at += to_u64(source.run(at).len());
            runs += 1;
            // A table at the beginning, and one near the end.
            assert_eq!((source.read(0, 8).len(), source.run(source.len() - 1).len()), (8, 1));
        }
        assert_eq!((at, runs), (source.len(), 6));
        assert_eq!((watch.passed(), watch.walk_len()), (5 << BLOCK_SHIFT, 5 << BLOCK_SHIFT));
        // Headers and tables are read at other places; slices and copies are as long as without a
        // watch.
        for far in [0, 4 << BLOCK_SHIFT, 2 << BLOCK_SHIFT] {
            assert_eq!(source.read(far, far + 8).len(), 8);
        }
        assert_eq!(watch.passed(), 5 << BLOCK_SHIFT);
        assert_eq!(source.read(0, source.len()).len(), bytes.len());
        assert_eq!(source.slices(0, source.len()).count(), 1);
        let _again = (source.run(1 << BLOCK_SHIFT), source.run(2 << BLOCK_SHIFT));
        assert_eq!(watch.passed(), 7 << BLOCK_SHIFT);
        // A walk that begins again counts when it comes to what is new.
        let _again = (source.run(1 << BLOCK_SHIFT), source.run(2 << BLOCK_SHIFT));
        assert_eq!(watch.passed(), 7 << BLOCK_SHIFT);
    }

    #[test]
    fn blocks_are_few_and_of_any_file() {
        for len in [0, 1, 1 << 20, (1 << 40) + 1, u64::MAX] {
            let watch = Watch::new(len);
            assert!(watch.walk_len() <= len && watch.len() == len && watch.passed() == 0);
            assert!(len >> watch.shift < BLOCKS_MAX);
            watch.note(len);
        }
    }
}
