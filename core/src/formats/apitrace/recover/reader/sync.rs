//! Continues after damage.

use super::StreamReader;
use crate::formats::apitrace::decode::damage::DamageCause;
use crate::formats::apitrace::decode::definitions::KnownId;
use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::decode::tracker::events::{EventEffect, RecentEvent, has_open_call};
use crate::formats::apitrace::decode::tracker::lost::LostDefinition;
use crate::formats::apitrace::recover::resync::SyncPoint;

/// As many lost calls are always believed.
const LOST_CALLS_BELIEVED: u64 = 1 << 16;
/// Bytes of the shortest call: an enter without arguments takes four, its leave three.
const CALL_LEN: u64 = 7;
/// Calls that a lost zstd frame may hold, the largest unit: it has 2 MiB.
const CALLS_PER_UNIT: u64 = (2 << 20) / CALL_LEN;

/// Returns how many lost calls are believed in a stream that was read up to `end`: as many as it
/// could hold, and in a short one as many as a lost unit. More are a damaged number.
fn most_lost_calls(end: u64) -> u64 {
    end.min(CALLS_PER_UNIT).max(end / CALL_LEN).max(LOST_CALLS_BELIEVED)
}

impl StreamReader<'_> {
    /// Continues at `place`, unless that would gain nothing or contradict what was read.
    pub(super) fn accept(&mut self, place: u64, sync: &SyncPoint) -> bool {
        let Some(damage) = self.faults.damages.last() else { return false };
        let start = damage.start;
        let is_gap = matches!(damage.cause, DamageCause::Unit(_));
        let next = self.tracker.calls.next;
        let gains_nothing = sync.next == next && sync.lost.is_empty();
        if place == start && gains_nothing && !is_gap {
            return false;
        }
        if sync.next.saturating_sub(next) > most_lost_calls(self.places.end) {
            return false;
        }
        let Some(start) = self.take_back_copies(start, sync.next) else { return false };
        self.attempts.resumed_in_place = (place == start).then_some(place);
        let call = self.tracker.calls.next;
        let lost = sync.next.saturating_sub(call);
        if lost > 0 {
            self.tracker.lost_calls.ranges.push((call, sync.next));
            self.attempts.foreign.add_jump(call, sync.next, place);
        }
        self.tracker.calls.next = sync.next;
        self.places.set_first_call(start, sync.next);
        let definitions = self.add_lost_definitions(sync);
        self.tracker.settle_damage();
        self.parser.turn_to_event(self.parser.version());
        // A place that only lacks definitions belongs to the damage that lost them.
        let is_same_damage =
            place == start && lost == 0 && !is_gap && self.faults.damages.len() > 1;
        if is_same_damage {
            self.faults.damages.pop();
            if let Some(damage) = self.faults.damages.last_mut() {
                damage.definitions.extend(definitions);
            }
            return true;
        }
        self.close_damage(start, place, (call, sync.next), definitions);
        true
    }

    /// Takes back events that were read before `start` and are not events, if the call numbers show
    /// that: the next call is `next`. Returns where the damage begins then.
    fn take_back_copies(&mut self, start: u64, next: u64) -> Option<u64> {
        if next >= self.tracker.calls.next {
            return Some(start);
        }
        let is_first = |event: &RecentEvent| match event.effect {
            EventEffect::Enter(open) => open.number == next,
            EventEffect::Leave { .. } => false,
        };
        let first = self.tracker.history.recent().find(is_first)?.start;
        // A leave that fits its call by number proves both: then the bytes after it are a copy.
        let is_proven = |event: RecentEvent| {
            has_open_call(&event)
                && event.start >= first
                && !event.has_warning
                && !event.is_inside_out
        };
        if self.tracker.history.recent().any(is_proven) {
            return None;
        }
        let start = start.min(first);
        self.tracker.take_back(start);
        Some(start)
    }

    fn add_lost_definitions(&mut self, sync: &SyncPoint) -> Vec<(Space, u64)> {
        let mut definitions = Vec::new();
        for lost in &sync.lost {
            let (space, id, count) = (lost.space, lost.id, lost.members);
            let place = self.places.place(lost.at.saturating_sub(1), lost.at);
            self.tracker.definitions.add(space, id, KnownId { count, lost: true });
            let is_donated = self.donor.is_some_and(|donor| donor.raw(space, id).is_some());
            let lost = LostDefinition { at: lost.at, place, items: count, is_donated };
            self.tracker.lost_definitions.all.insert((space, id), lost);
            definitions.push((space, id));
        }
        definitions
    }

    /// Ends the latest damage, which took the calls `lost.0..lost.1`, at `place`.
    fn close_damage(
        &mut self,
        start: u64,
        place: u64,
        lost: (u64, u64),
        definitions: Vec<(Space, u64)>,
    ) {
        let held = self.places.place(start, place);
        let segment = self.places.segment(place);
        let Some(damage) = self.faults.damages.last_mut() else { return };
        damage.is_open = false;
        damage.start = start;
        damage.end = place;
        damage.units.place = held;
        damage.definitions = definitions;
        damage.calls.first = lost.0;
        damage.calls.lost = lost.1.saturating_sub(lost.0);
        damage.calls.suspects = (damage.calls.suspects.0.min(lost.0), lost.1);
        damage.calls.doubt_end = place;
        // After the unit at fault nothing is in doubt.
        damage.calls.is_settled = match damage.cause {
            DamageCause::Unit(_) => {
                let stored_end = damage.units.stored_end;
                segment.is_none_or(|segment| segment.stored.start >= stored_end)
            }
            DamageCause::Stream(_) => {
                place >= damage.units.at_fault.map_or(place, |unit| unit.expanded.end)
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_lost_calls_are_believed_than_a_stream_or_a_unit_can_hold() {
        assert_eq!(most_lost_calls(0), LOST_CALLS_BELIEVED);
        // The first steps of a frame after a lost one, and whole chunks.
        assert_eq!(most_lost_calls(128 << 10), 128 << 10);
        assert_eq!(most_lost_calls(1 << 20), (2 << 20) / 7);
        // A damaged number of 1,183,095 calls in 2.9 MB.
        assert!(most_lost_calls(2_900_000) < 1_183_095);
        assert_eq!(most_lost_calls(70_000_000), 10_000_000);
    }
}
