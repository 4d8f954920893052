//! Elements that follow one another, from each byte of a block on.

use super::judge::{Element, element};

/// Elements that follow one another from an offset on.
#[derive(Clone, Copy, Default)]
pub(super) struct Chain {
    /// Bytes that they expand to.
    pub(super) expanded: u32,
    /// Number of them; 0 if there is no chain.
    pub(super) count: u32,
    /// Where they end.
    pub(super) end: u32,
}

impl Chain {
    /// An element before a chain.
    fn after(one: Element, chain: Self) -> Self {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            expanded: chain.expanded.saturating_add(number(one.len)),
            count: chain.count.saturating_add(1),
            end: if chain.count == 0 { number(one.end) } else { chain.end },
        }
    }
}

/// The chains of a block from an offset on.
pub(super) struct Chains {
    start: usize,
    chains: Vec<Chain>,
}

impl Chains {
    /// The chains of elements for which `is_regular`, by the bytes that the element and those after
    /// it expand to; only those that lead to the end if `is_whole`.
    pub(super) fn of(
        block: &[u8],
        start: usize,
        is_whole: bool,
        is_regular: impl Fn(Element, u32) -> bool,
    ) -> Self {
        let mut found =
            Self { start, chains: vec![Chain::default(); block.len().saturating_sub(start)] };
        for at in (start..block.len()).rev() {
            let Some(one) = element(block, at) else { continue };
            let after = found.at(one.end);
            if is_whole && after.count == 0 && one.end < block.len() {
                continue;
            }
            let chain = Chain::after(one, after);
            if is_regular(one, chain.expanded)
                && let Some(cell) = found.chains.get_mut(at.saturating_sub(start))
            {
                *cell = chain;
            }
        }
        found
    }

    /// Returns the elements from an offset on.
    pub(super) fn at(&self, at: usize) -> Chain {
        let index = at.checked_sub(self.start);
        index.and_then(|index| self.chains.get(index)).copied().unwrap_or_default()
    }
}
