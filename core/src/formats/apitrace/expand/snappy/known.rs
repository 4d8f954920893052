//! The parts of damaged blocks that were found before.
//!
//! A damaged trace is read many times (the first chunk of one with 20 damages 55 times): by a
//! reader that turns back, and once for each way in which its other bytes may be repaired. The
//! parts of a block depend on its bytes and the work that they are worth alone, so they are
//! searched for once, whoever reads it. The steps of the search count each time: what was read
//! before depends on other recordings and threads.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::judge::Stated;
use super::parts::Parts;
use super::work::Work;
use crate::kit::steps;

/// Blocks that are remembered at most: each takes up to 4 KiB. Then all are forgotten.
const BLOCKS_MAX: usize = 512;

/// A block, by a hash with a key of its own in each process.
type Key = (u64, usize, Stated, Work);

/// The parts of a block, and the steps that the search for them took.
type Found = (Parts, u64);

static KNOWN: LazyLock<(RandomState, Mutex<HashMap<Key, Found>>)> = LazyLock::new(Default::default);

/// Returns the parts of a block.
pub(super) fn parts(block: &[u8], stated: Stated, work: Work) -> Parts {
    let (hasher, known) = &*KNOWN;
    let key = (hasher.hash_one(block), block.len(), stated, work);
    let lock = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((parts, steps)) = lock().get(&key).cloned() {
        steps::count(steps);
        return parts;
    }
    let rest = steps::rest();
    let parts = Parts::find(block, stated, work);
    // A search that a limit ended found less than another one would.
    if !steps::is_spent() {
        let mut known = lock();
        if known.len() >= BLOCKS_MAX {
            known.clear();
        }
        known.insert(key, (parts.clone(), rest.saturating_sub(steps::rest())));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::regular::tests::words;
    use super::*;

    #[test]
    fn a_block_that_is_read_again_has_the_same_parts_and_counts_the_same_steps() {
        let mut block = snap::raw::Encoder::new().compress_vec(&words(30_000)).unwrap();
        let middle = block.len() / 2;
        block[middle..middle + 50].fill(0xff);
        let stated = Stated { start: 3, len: 30_000, has_end: true };
        let read = |work: Work| {
            let rest = steps::rest();
            (parts(&block, stated, work), rest - steps::rest())
        };
        let first = read(Work::of(0, block.len()));
        assert!(!first.0.is_plain() && first.1 > 0);
        assert_eq!(read(Work::of(0, block.len())), first);
        assert_ne!(read(Work::NONE).1, first.1);
    }

    #[test]
    fn a_limited_number_of_blocks_is_remembered() {
        let block = snap::raw::Encoder::new().compress_vec(&words(500)).unwrap();
        let read = |number: usize| {
            let block = [block.as_slice(), &number.to_le_bytes()].concat();
            let stated = Stated { start: 2, len: 500, has_end: true };
            drop(parts(&block, stated, Work::NONE));
            KNOWN.1.lock().unwrap_or_else(PoisonError::into_inner).len()
        };
        let most = (0..2 * BLOCKS_MAX).map(read).max();
        assert!(most.is_some_and(|most| (2..=BLOCKS_MAX).contains(&most)), "{most:?}");
    }
}
