//! Stretches of a damaged block that are there twice, one after the other.
//!
//! ```text
//!  written   | element | element | element | element |
//!  stored    | element | element | elem element | element | element |
//!                      ^ stretch        ^ again   ^ the elements show the damage here or later
//! ```

use std::collections::VecDeque;
use std::ops::Range;

use super::judge::{Judge, Placed, element};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::reading::repeats::{self, Allowance, Repeat};
use crate::kit::source::Source;

/// Bytes that the search for stretches compares, as a multiple of the block.
const COMPARED_TIMES: u64 = 4;
/// Elements that have to follow without the stretch.
const FOLLOWING: usize = 48;
/// A short stretch begins so many elements before the stop. So many of its bytes are looked for, up
/// to so many bytes later.
const BACK: [usize; 6] = [4, 8, 16, 32, 64, 128];
const NEEDLE: usize = 16;
const SHORT_MAX: usize = 8 << 10;

/// The stretches of a block of `len` bytes that are there twice.
pub(super) struct Repeated {
    found: Vec<Repeat>,
    len: usize,
}

impl Repeated {
    /// Finds the stretches of a block, of at least [`repeats::BLOCK_MIN`] bytes. Passes of a loop
    /// follow one another by nature.
    pub(super) fn of(block: &[u8], len: usize) -> Self {
        let source = Source::new(block);
        let most = to_u64(block.len()).saturating_mul(COMPARED_TIMES);
        let mut found = repeats::find(&source, &mut Allowance(most));
        found.retain(|one| !repeats::is_loop(&source, one.at, one.len));
        Self { found, len }
    }

    /// Returns the stretch between the first element of a part and a stop that is there twice, if
    /// elements that a writer makes follow one another without it.
    pub(super) fn find(&self, block: &[u8], part: Placed, stop: Placed) -> Option<Range<usize>> {
        let mut one = part;
        self.found.iter().find_map(|repeat| {
            let [at, len, run] = [repeat.at, repeat.len, repeat.run].map(to_usize);
            let again = at.saturating_add(len);
            if at < part.at || again > stop.at {
                return None;
            }
            while one.at < at {
                one = one.next(block)?;
            }
            let next = Placed { at: one.at.saturating_add(len), place: one.place };
            let is_found = one.at < at.saturating_add(run) && self.leads_on(block, next);
            is_found.then_some(at..again)
        })
    }

    /// Returns a shorter stretch after one of the latest elements before a stop.
    pub(super) fn find_short(
        &self,
        block: &[u8],
        recent: &VecDeque<Placed>,
    ) -> Option<Range<usize>> {
        BACK.into_iter().find_map(|back| {
            let one = *recent.get(recent.len().checked_sub(back)?)?;
            let from = one.at.checked_add(1)?;
            let bytes = block.get(one.at..one.at.checked_add(NEEDLE)?)?;
            let to = from.saturating_add(SHORT_MAX).min(block.len());
            let distance = memchr::memmem::find(block.get(from..to)?, bytes)?;
            let next = Placed { at: from.saturating_add(distance), place: one.place };
            let is_found = are_equal(block, one.at, next.at) && self.leads_on(block, next);
            is_found.then_some(one.at..next.at)
        })
    }

    /// Whether elements that a writer makes follow one another from a place on.
    fn leads_on(&self, block: &[u8], from: Placed) -> bool {
        let mut judge = Judge { place: from.place, is_after_literal: false };
        let mut at = from.at;
        (0..FOLLOWING).all(|_| match element(block, at) {
            Some(one) => {
                at = one.end;
                judge.passes(one) && judge.place <= self.len
            }
            None => at >= block.len() && judge.place == self.len,
        })
    }
}

/// Whether as many bytes around the first offset as lie between both are equal to those around the
/// second one.
fn are_equal(block: &[u8], first: usize, second: usize) -> bool {
    let (before, from) = block.split_at(first.min(block.len()));
    let (until, after) = block.split_at(second.min(block.len()));
    let forward = from.iter().zip(after).take_while(|(a, b)| a == b).count();
    let pairs = before.iter().rev().zip(until.iter().rev());
    let back = pairs.take_while(|(a, b)| a == b).count();
    forward.saturating_add(back) >= second.saturating_sub(first)
}
