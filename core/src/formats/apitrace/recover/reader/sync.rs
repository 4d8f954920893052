//! Continues after damage.

use super::StreamReader;
use crate::formats::apitrace::decode::damage::DamageCause;
use crate::formats::apitrace::decode::definitions::KnownId;
use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::decode::tracker::events::{EventEffect, RecentEvent, has_open_call};
use crate::formats::apitrace::decode::tracker::lost::LostDefinition;
use crate::formats::apitrace::recover::resync::{CALL_LEN, SyncPoint};

/// Recorded traces have 25 to 84 bytes per call: where one has more on average, by its blobs, the
/// calls that were lost may have been as short as half of these.
const CALL_LEN_MAX: u64 = 40;
/// Bytes of the stream that damage may take besides those at its place, since stored bytes that are
/// lost or changed expand to fewer than they would have: two blocks of a zstd frame.
const HIDDEN_LEN: u64 = 256 << 10;
/// Bytes after the beginning of a unit in which damage may be all units that are missing there.
const NEAR: u64 = 64 << 10;
/// Bytes of the stream that a lost zstd frame holds, the largest unit.
const UNIT_LEN: u64 = 2 << 20;

/// Bytes of the stream that stored ones expand to, where these are lost: traces of games are packed
/// to a tenth, and loops to less.
const EXPANSION: u64 = 32;

/// The bytes of the stream that calls may have been lost with.
struct LostBytes {
    /// Those before the damage, and the calls in them.
    before: (u64, u64),
    /// Those at its place.
    gap: u64,
    /// Whether whole units may be missing.
    may_lose_units: bool,
    /// Stored bytes between the unit with the damage and the one in which the stream goes on.
    stored: u64,
}

impl LostBytes {
    /// Returns how many calls they held at most: more are a damaged number.
    fn most_calls(&self) -> u64 {
        let (before, calls) = self.before;
        let mean = before.checked_div(calls).unwrap_or(0);
        let call_len = (mean / 2).clamp(CALL_LEN, CALL_LEN_MAX);
        let stored = self.stored.saturating_mul(EXPANSION);
        let hidden = match self.may_lose_units {
            true => UNIT_LEN.max(before).max(stored),
            false => HIDDEN_LEN,
        };
        self.gap.saturating_add(hidden).checked_div(call_len).unwrap_or(0)
    }
}

impl StreamReader<'_> {
    /// Continues at `place`, unless that would gain nothing or contradict what was read.
    pub(super) fn accept(&mut self, place: u64, sync: &SyncPoint) -> bool {
        let Some(damage) = self.faults.damages.last() else { return false };
        let start = damage.start;
        let is_gap = matches!(damage.cause, DamageCause::Unit(_));
        let unit_start = self.places.unit_at(place).map_or(0, |unit| unit.expanded.start);
        let is_near = start.saturating_sub(unit_start) < NEAR;
        let next = self.tracker.calls.next;
        let gains_nothing = sync.next == next && sync.lost.is_empty();
        if place == start && gains_nothing && !is_gap {
            return false;
        }
        let lost = LostBytes {
            before: (start, next),
            gap: place.saturating_sub(start),
            may_lose_units: is_gap || damage.has_header || is_near,
            stored: self.stored_between(start, place),
        };
        if sync.next.saturating_sub(next) > lost.most_calls() {
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

    /// Returns how many stored bytes lie between the unit before a place of the stream and that of
    /// a later one.
    fn stored_between(&self, start: u64, place: u64) -> u64 {
        let before = start.checked_sub(1).and_then(|last| self.places.unit_at(last));
        let after = self.places.unit_at(place);
        let ends = before.zip(after).map(|(before, after)| (before.stored.end, after.stored.start));
        ends.map_or(0, |(before, after)| after.saturating_sub(before))
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
    fn no_more_lost_calls_are_believed_than_the_lost_bytes_can_hold() {
        let most = |before, gap, may_lose_units| {
            LostBytes { before, gap, may_lose_units, stored: 0 }.most_calls()
        };
        // A number of 328,470 lost calls in 723,928 bytes of a gzip stream.
        assert_eq!(most((2_860_598, 31_852), 723_928, false), (723_928 + HIDDEN_LEN) / 40);
        // A lost chunk of a short trace of short calls, and several of a long one.
        assert_eq!(most((40_000, 2_000), 0, true), UNIT_LEN / 10);
        assert_eq!(most((70_000_000, 1_000_000), 0, true), 2_000_000);
        // A hole of 679,567 bytes between two chunks, in which 90,397 calls were lost.
        let hole =
            LostBytes { before: (114_000, 571), gap: 7, may_lose_units: true, stored: 679_567 };
        assert!((90_397..600_000).contains(&hole.most_calls()));
        // Nothing was read before.
        assert_eq!(most((0, 0), 700, false), (700 + HIDDEN_LEN) / CALL_LEN);
    }
}
