//! Stretches of the stream that come from another place, such as a block written to a wrong one.
//!
//! Events from further on look like what follows lost calls. The calls after them then seem to be
//! repeats, yet nobody has read them: they count among those that were lost. Where these are more
//! than the events that were believed, the stretch is refused, and the stream is read again.

use crate::formats::apitrace::decode::stretch::Stretch;
use crate::formats::apitrace::recover::resync::SyncPoint;

/// Lost calls that turn up later, beyond twice those that were believed instead of them: fewer may
/// be left of a block that stands behind its place.
const CALLS_MIN: u64 = 128;

/// A place from which the stream was read on although calls before it seemed to be lost.
#[derive(Clone, Copy, Debug)]
struct Jump {
    /// The first call that seemed to be lost.
    first: u64,
    /// The call at the place.
    next: u64,
    /// The place in the stream.
    place: u64,
    /// Calls that were taken for lost and turned up after all.
    found: u64,
    /// Whether these are so many that the stretch at the place is foreign.
    is_foreign: bool,
}

/// The foreign stretches of a stream, as far as they are recognised.
#[derive(Debug, Default)]
pub(super) struct ForeignStretches {
    /// From these, no event is read. In order, without a common byte.
    refused: Vec<Stretch>,
    /// Those that were read here before they were recognised.
    recognised: Vec<Stretch>,
    jumps: Vec<Jump>,
}

impl ForeignStretches {
    /// Those that an earlier reading recognised.
    pub(super) fn refused(mut stretches: Vec<Stretch>) -> Self {
        stretches.sort_unstable_by_key(|stretch| stretch.start);
        let mut refused: Vec<Stretch> = Vec::new();
        for stretch in stretches {
            match refused.last_mut().filter(|last| stretch.start <= last.end) {
                Some(last) => last.end = last.end.max(stretch.end),
                None => refused.push(stretch),
            }
        }
        Self { refused, ..Self::default() }
    }

    /// Returns those that were refused and those that have to be refused in another reading, if
    /// there are new ones.
    pub(super) fn to_refuse(&self) -> Option<Vec<Stretch>> {
        let is_new = !self.recognised.is_empty();
        is_new.then(|| [self.refused.as_slice(), &self.recognised].concat())
    }

    /// Whether no event is to be read from `place`.
    pub(super) fn refuses(&self, place: u64) -> bool {
        let after = self.refused.partition_point(|stretch| stretch.start <= place);
        let last = after.checked_sub(1).and_then(|index| self.refused.get(index));
        last.is_some_and(|stretch| place < stretch.end)
    }

    /// Notes that the stream is read on from `place` with the call `next`, as if the calls from
    /// `first` on were lost.
    pub(super) fn add_jump(&mut self, first: u64, next: u64, place: u64) {
        self.jumps.push(Jump { first, next, place, found: 0, is_foreign: false });
    }

    /// Notes calls that are taken for repeats in the damage that begins at `damage`; `next`: the
    /// number of the call that is expected there.
    pub(super) fn add_repeats(&mut self, calls: &SyncPoint, damage: u64, next: u64) {
        let after = self.jumps.partition_point(|jump| jump.first <= calls.next);
        let jump = after.checked_sub(1).and_then(|index| self.jumps.get_mut(index));
        let end = calls.next.saturating_add(calls.entered);
        let Some(jump) = jump.filter(|jump| end <= jump.next) else { return };
        jump.found = jump.found.saturating_add(calls.entered);
        let believed = next.saturating_sub(jump.next);
        let is_foreign = jump.found > believed.saturating_mul(2).saturating_add(CALLS_MIN);
        if is_foreign && !jump.is_foreign && damage > jump.place {
            jump.is_foreign = true;
            self.recognised.push(Stretch { start: jump.place, end: damage });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Repeats of 30 calls, as a probe sees them.
    fn add_repeats(stretches: &mut ForeignStretches, from: u64) {
        let calls = SyncPoint { next: from, lost: Vec::new(), entered: 30, last_leave_end: 0 };
        stretches.add_repeats(&calls, 5_000, 9_100);
    }

    #[test]
    fn a_stretch_is_foreign_if_more_than_twice_its_calls_turn_up_among_the_lost() {
        let mut stretches = ForeignStretches::default();
        stretches.add_jump(100, 9_000, 4_000);
        // Calls that were read before the jump, or reach beyond it, are repeats.
        (0..100).for_each(|_| add_repeats(&mut stretches, 10));
        (0..100).for_each(|_| add_repeats(&mut stretches, 8_971));
        // 100 calls were believed: 328 others may turn up.
        (0..10).for_each(|index| add_repeats(&mut stretches, 100 + 30 * index));
        assert_eq!(stretches.to_refuse(), None);
        add_repeats(&mut stretches, 400);
        let stretch = Stretch { start: 4_000, end: 5_000 };
        assert_eq!(stretches.to_refuse(), Some(vec![stretch]));
        add_repeats(&mut stretches, 430);
        assert_eq!(stretches.to_refuse(), Some(vec![stretch]), "it is recognised once");
    }

    #[test]
    fn another_reading_refuses_all_places_of_the_stretches() {
        let stretch = |start, end| Stretch { start, end };
        let all = vec![stretch(7_000, 7_001), stretch(4_000, 4_500), stretch(4_400, 5_000)];
        let stretches = ForeignStretches::refused(all);
        let places = [3_999, 4_000, 4_450, 4_999, 5_000, 6_999, 7_000, 7_001];
        let refused: Vec<u64> = places.into_iter().filter(|at| stretches.refuses(*at)).collect();
        assert_eq!(refused, [4_000, 4_450, 4_999, 7_000]);
        assert_eq!(stretches.to_refuse(), None, "nothing new");
    }
}
