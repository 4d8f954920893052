//! The feature of each section, by the shapes of the contents.
//!
//! The sections lie in the order of the feature bits. Of all ways to give every section a bit in
//! ascending order whose shape it has, the one nearest to the stored bits is taken.

use super::peek::Peek;
use super::shape;
use crate::formats::perf::decode::header::{Flags, Section};
use crate::formats::perf::layout::FEATURE_BITS;
use crate::formats::perf::layout::feature::LAST_OLD;
use crate::formats::perf::layout::features::Trait;
use crate::kit::num::to_u64;

/// Cost of a bit that differs from the stored one.
const FLIPPED: u32 = 2;
/// Cost of a section of an unknown feature: its content proves nothing.
const UNKNOWN: u32 = 1;
/// Cost of a section of a feature that is newer than the recorder.
const FROM_THE_FUTURE: u32 = 6;
/// Cost of a section without the shape of its stored bit: its content may be damaged, too.
const MISFIT: u32 = 6;

/// The features that the records need or exclude.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Demand {
    /// Features that must be there.
    pub(super) needed: Flags,
    /// Features that must not be there.
    pub(super) excluded: Flags,
    /// Whether the recorder is older than the features of unknown shape.
    pub(super) is_old: bool,
}

/// The cheapest ways to give bits to the first sections.
#[derive(Clone, Copy, Debug)]
struct Assignment {
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
    let mut ways: Vec<Option<Assignment>> = vec![None; sections.len().saturating_add(1)];
    let start = Assignment { cost: 0, flags: Flags::default(), is_tied: false };
    if let Some(first) = ways.first_mut() {
        *first = Some(start);
    }
    for bit in 0..FEATURE_BITS {
        let is_stored = stored.has(bit);
        if !demand.knows(bit) && !is_stored {
            continue;
        }
        let mut next: Vec<Option<Assignment>> = ways
            .iter()
            .map(|way| {
                let way = (*way)?;
                let cost = if is_stored { FLIPPED } else { 0 };
                (!demand.needed.has(bit))
                    .then(|| Assignment { cost: way.cost.saturating_add(cost), ..way })
            })
            .collect();
        for (count, section) in sections.iter().enumerate() {
            let Some(way) = ways.get(count).copied().flatten() else { continue };
            let Some(cost) = cost_of(peek, bit, *section, is_stored, demand) else { continue };
            let cost = way.cost.saturating_add(cost);
            let taken = Assignment { cost, flags: way.flags.with(bit), ..way };
            if let Some(slot) = next.get_mut(count.saturating_add(1)) {
                *slot = Some(slot.map_or(taken, |other| better(other, taken)));
            }
        }
        ways = next;
    }
    let best = ways.last().copied().flatten()?;
    (!best.is_tied).then_some(best.flags)
}

/// Whether the contents alone give the sections the bits of `flags`: no other ascending bits have
/// the same shapes, whatever the header stores. Bits of unknown features, of which no content is
/// proof, are taken from `trusted`.
pub(super) fn is_only_way(
    peek: Peek<'_>,
    sections: &[Section],
    (flags, trusted): (Flags, Flags),
    demand: &Demand,
) -> bool {
    // ways[n]: in how many ways the bits so far took the first n sections.
    let mut ways = vec![0_u64; sections.len().saturating_add(1)];
    if let Some(first) = ways.first_mut() {
        *first = 1;
    }
    for bit in 1..FEATURE_BITS {
        let is_known = demand.knows(bit);
        if demand.excluded.has(bit) || !is_known && !trusted.has(bit) {
            continue;
        }
        let is_needed = !is_known || demand.needed.has(bit);
        let mut next = if is_needed { vec![0; ways.len()] } else { ways.clone() };
        for ((section, count), slot) in sections.iter().zip(&ways).zip(next.iter_mut().skip(1)) {
            if !is_known || demand.allows(peek, bit, *section) {
                *slot = slot.saturating_add(*count);
            }
        }
        ways = next;
    }
    let mut pairs = flags.bits().zip(sections);
    let has_shapes = pairs.all(|(bit, section)| match demand.knows(bit) {
        true => demand.allows(peek, bit, *section),
        false => trusted.has(bit),
    });
    has_shapes && flags.count() == to_u64(sections.len()) && ways.last() == Some(&1)
}

/// Returns the cost of giving `section` the feature `bit`; `None` if it cannot have it.
fn cost_of(
    peek: Peek<'_>,
    bit: u32,
    section: Section,
    is_stored: bool,
    demand: &Demand,
) -> Option<u32> {
    if bit == 0 || demand.excluded.has(bit) {
        return None;
    }
    if !demand.knows(bit) {
        return Some(if demand.is_old { FROM_THE_FUTURE } else { UNKNOWN });
    }
    match (demand.allows(peek, bit, section), is_stored) {
        (true, true) => Some(0),
        (true, false) => Some(FLIPPED),
        (false, true) => Some(MISFIT),
        (false, false) => None,
    }
}

/// Returns the cheaper of two ways.
fn better(one: Assignment, other: Assignment) -> Assignment {
    match one.cost.cmp(&other.cost) {
        std::cmp::Ordering::Less => one,
        std::cmp::Ordering::Greater => other,
        std::cmp::Ordering::Equal => Assignment { is_tied: true, ..one },
    }
}

impl Demand {
    /// Whether the content of a section shows that it is one of the feature `bit`: its shape is
    /// known, and the recorder may have had the feature.
    pub(super) fn knows(&self, bit: u32) -> bool {
        shape::is_known(bit) && (bit <= LAST_OLD || !self.is_old)
    }

    /// Whether a section has the shape that the recorder gives the feature `bit`.
    fn allows(&self, peek: Peek<'_>, bit: u32, section: Section) -> bool {
        let is_left_out = self.is_old && shape::is_empty(peek, bit, section, Trait::EmptyIsLeftOut);
        shape::resembles(peek, bit, section) && !is_left_out
    }

    /// Notes whether the recording has to have the feature `bit`.
    pub(super) fn set(&mut self, bit: u32, is_needed: bool) {
        let flags = if is_needed { &mut self.needed } else { &mut self.excluded };
        *flags = flags.with(bit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::perf::layout::feature;
    use crate::kit::cursor::Order;
    use crate::kit::source::Source;

    /// The shape of a host name, and of the model of a CPU.
    const TEXT: &[u8] = b"\x08\0\0\0forge\0\0\0";

    #[test]
    fn contents_prove_bits_only_if_no_other_bits_have_their_shapes() {
        let source = Source::new(TEXT);
        let peek = Peek { source: &source, order: Order::Little };
        let sections = [Section { offset: 0, size: to_u64(TEXT.len()) }];
        let flags = Flags::default().with(feature::HOSTNAME);
        let is_only =
            |demand: &Demand| is_only_way(peek, &sections, (flags, Flags::default()), demand);
        assert!(!is_only(&Demand::default()));
        let mut demand = Demand::default();
        demand.set(8, false);
        assert!(is_only(&demand));
    }

    #[test]
    fn an_unknown_feature_needs_a_word_of_bits_that_is_not_damaged() {
        let source = Source::new(TEXT);
        let peek = Peek { source: &source, order: Order::Little };
        let sections = [Section { offset: 0, size: to_u64(TEXT.len()) }];
        let flags = Flags::default().with(200);
        let demand = Demand::default();
        assert!(!is_only_way(peek, &sections, (flags, Flags::default()), &demand));
        assert!(is_only_way(peek, &sections, (flags, flags), &demand));
    }
}
