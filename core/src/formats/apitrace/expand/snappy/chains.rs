//! Elements that follow one another, from each byte of a block on.

use super::judge::{Element, FRAGMENT, Stated, element};
use super::regular::is_regular_at;
use crate::kit::num::to_usize;

/// Elements that follow one another from an offset on.
#[derive(Clone, Copy, Default)]
struct Chain {
    /// Number of them; 0 if there is no chain.
    count: u32,
    /// Where they end, or the bytes that they expand to.
    sum: u32,
}

/// The chains of the bytes of a block from an offset on: eight bytes for each.
struct Chains {
    start: usize,
    chains: Vec<Chain>,
}

impl Chains {
    /// Goes back from the end of a block: `chain` returns the one from an offset on, by those after
    /// it.
    fn of(block: &[u8], start: usize, chain: impl Fn(&Self, Element) -> Option<Chain>) -> Self {
        let len = block.len().saturating_sub(start);
        let mut found = Self { start, chains: vec![Chain::default(); len] };
        for at in (start..block.len()).rev() {
            let Some(one) = element(block, at) else { continue };
            let Some(next) = chain(&found, one) else { continue };
            if let Some(cell) = found.chains.get_mut(at.saturating_sub(start)) {
                *cell = next;
            }
        }
        found
    }

    fn at(&self, at: usize) -> Chain {
        let index = at.checked_sub(self.start);
        index.and_then(|index| self.chains.get(index)).copied().unwrap_or_default()
    }
}

/// Elements that follow one another, whatever their places are.
pub(super) struct Runs(Chains);

impl Runs {
    pub(super) fn of(block: &[u8], start: usize) -> Self {
        Self(Chains::of(block, start, |found, one| {
            let may_be_written = match one.distance {
                Some(distance) => (1..FRAGMENT).contains(&distance),
                None => one.len <= FRAGMENT && block.get(one.end).is_none_or(|tag| tag & 3 != 0),
            };
            let after = found.at(one.end);
            let end = u32::try_from(one.end).unwrap_or(u32::MAX);
            let sum = if after.count == 0 { end } else { after.sum };
            may_be_written.then(|| Chain { count: after.count.saturating_add(1), sum })
        }))
    }

    /// Returns the number of elements from an offset on, and where they end.
    pub(super) fn at(&self, at: usize) -> (u32, usize) {
        let Chain { count, sum } = self.0.at(at);
        (count, to_usize(sum.into()))
    }
}

/// Elements that a writer makes and that lead to the end of the block.
pub(super) struct Tails(Chains);

impl Tails {
    pub(super) fn of(block: &[u8], stated: Stated) -> Self {
        let Stated { start, len, has_end } = stated;
        let start = if has_end { start } else { block.len() };
        Self(Chains::of(block, start, |found, one| {
            let after = found.at(one.end);
            let sum = after.sum.checked_add(u32::try_from(one.len).ok()?)?;
            let place = len.checked_sub(to_usize(sum.into()))?;
            let is_last = one.end >= block.len();
            let is_regular = (is_last || after.count > 0) && is_regular_at(block, one, place);
            is_regular.then(|| Chain { count: after.count.saturating_add(1), sum })
        }))
    }

    /// Returns the number of elements from an offset on, and how many bytes they expand to.
    pub(super) fn at(&self, at: usize) -> (u32, usize) {
        let Chain { count, sum } = self.0.at(at);
        (count, to_usize(sum.into()))
    }
}
