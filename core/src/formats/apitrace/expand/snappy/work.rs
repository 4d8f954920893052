//! The work that the search for the parts of a damaged block may do.
//!
//! It depends on where the block is in the file and how long it is, so that a block that is read
//! again gives the same bytes, and a file of damaged blocks takes a limited time. A unit of work is
//! a copy that is weighed at a place, or eight bytes that are expanded: about 5 ns.

use crate::kit::num::to_u64;
use crate::kit::steps;

/// Bytes of the file in which damage is searched for. Of blocks after them, only the elements up to
/// the end of the block are placed.
pub(super) const SEARCHED: usize = 8 << 20;
/// Work per stored byte up to so many bytes of the file.
const WORK: [(usize, u64); 4] = [(16 << 10, 256), (64 << 10, 128), (1 << 20, 64), (SEARCHED, 8)];
/// Bytes of the shortest block as to its work.
const SHORTEST: u64 = 1 << 10;
/// Units of work that are one step.
const STEP: u64 = 32;

/// The work that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Work(u64);

impl Work {
    /// None at all.
    pub(super) const NONE: Self = Self(0);

    /// The work for a block of `len` bytes at an offset of the file.
    pub(super) fn of(at: u64, len: usize) -> Self {
        let end = at.saturating_add(to_u64(len).max(SHORTEST));
        let (mut work, mut from) = (0_u64, 0);
        for (to, per_byte) in WORK {
            let to = to_u64(to);
            let bytes = end.min(to).saturating_sub(at.max(from));
            work = work.saturating_add(bytes.saturating_mul(per_byte));
            from = to;
        }
        Self(work)
    }

    /// Does some work; `false` if none is left.
    pub(super) fn spend(&mut self, work: u64) -> bool {
        let is_left = self.is_left();
        if is_left {
            steps::count(work / STEP);
        }
        self.0 = self.0.saturating_sub(work);
        is_left
    }

    pub(super) const fn is_left(self) -> bool {
        self.0 > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_with_the_bytes_that_are_searched_and_is_spent() {
        let Work(first) = Work::of(6, 1_000);
        assert_eq!(first, 256 * SHORTEST);
        // 90 bytes in the first zone, the rest in the second one.
        assert_eq!(Work::of((16 << 10) - 90, 4_000), Work(90 * 256 + 3_910 * 128));
        assert_eq!(Work::of(to_u64(SEARCHED), 1 << 20), Work::NONE);
        let most = u64::MAX;
        assert!(Work::of(most, 1 << 20) == Work::NONE);
        let mut work = Work(40);
        assert_eq!([work.spend(40), work.is_left(), work.spend(1)], [true, false, false]);
    }
}
