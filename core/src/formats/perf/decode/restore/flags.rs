//! The feature of each section, by the shapes of the contents.
//!
//! The sections lie in the order of the feature bits. Of all ways to give every section a bit in
//! ascending order whose shape it has, the one nearest to the stored bits is taken.

use super::peek::Peek;
use super::shape;
use crate::formats::perf::decode::header::{Flags, Section};
use crate::formats::perf::layout::FEATURE_BITS;

/// Cost of a bit that differs from the stored one.
const FLIPPED: u32 = 2;
/// Cost of a section of an unknown feature: its content proves nothing.
const UNKNOWN: u32 = 1;
/// Cost of a section without the shape of its stored bit: its content may be damaged, too.
const MISFIT: u32 = 6;

/// The features that the records need or exclude.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Demand {
    /// Features that must be there.
    pub(super) needed: Flags,
    /// Features that must not be there.
    pub(super) excluded: Flags,
}

/// The cheapest ways to give bits to the first sections.
#[derive(Clone, Copy, Debug)]
struct Way {
    cost: u32,
    flags: Flags,
    /// Whether another way has the same cost.
    is_tied: bool,
}

/// Returns the feature bits of the sections; `None` if no way or more than one is nearest.
pub(super) fn assign(
    peek: Peek<'_>,
    sections: &[Section],
    stored: Flags,
    demand: &Demand,
) -> Option<Flags> {
    // ways[n]: the cheapest way in which the bits so far took the first n sections.
    let mut ways: Vec<Option<Way>> = vec![None; sections.len().saturating_add(1)];
    let start = Way { cost: 0, flags: Flags::default(), is_tied: false };
    if let Some(first) = ways.first_mut() {
        *first = Some(start);
    }
    for bit in 0..FEATURE_BITS {
        let is_stored = stored.has(bit);
        if bit > shape::LAST && !is_stored {
            continue;
        }
        let mut next: Vec<Option<Way>> = ways
            .iter()
            .map(|way| {
                let way = (*way)?;
                let cost = if is_stored { FLIPPED } else { 0 };
                (!demand.needed.has(bit))
                    .then(|| Way { cost: way.cost.saturating_add(cost), ..way })
            })
            .collect();
        for (count, section) in sections.iter().enumerate() {
            let Some(way) = ways.get(count).copied().flatten() else { continue };
            let Some(cost) = cost_of(peek, bit, *section, is_stored, demand) else { continue };
            let cost = way.cost.saturating_add(cost);
            let taken = Way { cost, flags: way.flags.with(bit), ..way };
            if let Some(slot) = next.get_mut(count.saturating_add(1)) {
                *slot = Some(slot.map_or(taken, |other| better(other, taken)));
            }
        }
        ways = next;
    }
    let best = ways.last().copied().flatten()?;
    (!best.is_tied).then_some(best.flags)
}

/// Returns the cost of giving `section` the feature `bit`; `None` if it cannot have it.
fn cost_of(
    peek: Peek<'_>,
    bit: u32,
    section: Section,
    is_stored: bool,
    demand: &Demand,
) -> Option<u32> {
    if bit > shape::LAST {
        return Some(UNKNOWN);
    }
    if bit == 0 || demand.excluded.has(bit) {
        return None;
    }
    match (shape::resembles(peek, bit, section), is_stored) {
        (true, true) => Some(0),
        (true, false) => Some(FLIPPED),
        (false, true) => Some(MISFIT),
        (false, false) => None,
    }
}

/// Returns the cheaper of two ways.
fn better(one: Way, other: Way) -> Way {
    match one.cost.cmp(&other.cost) {
        std::cmp::Ordering::Less => one,
        std::cmp::Ordering::Greater => other,
        std::cmp::Ordering::Equal => Way { is_tied: true, ..one },
    }
}

impl Demand {
    /// Notes whether the recording has to have the feature `bit`.
    pub(super) fn set(&mut self, bit: u32, is_needed: bool) {
        let flags = if is_needed { &mut self.needed } else { &mut self.excluded };
        *flags = flags.with(bit);
    }
}
