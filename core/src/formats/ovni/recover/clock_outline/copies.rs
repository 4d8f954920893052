//! A block that was written twice: its events come again, and their clocks go back.
//!
//! ```text
//!  stored    | A | B | B | C |              the second B directly follows the first
//!  stored    | A | B | B | C | B | C | D |  a block inside which another one was doubled
//! ```

use std::ops::Range;

use super::late::NOISE_MAX;
use super::{Event, Gap, Item, Pass};
use crate::formats::ovni::recover::repeat::{compare_repeat, count_equal};

/// Earlier events with the same clock that a copy may begin with.
const ORIGINS: usize = 8;
/// Bytes that are compared in the time in which one is read as a part of an event. A stream needs
/// few of these reads, and its checks are repeated for each reading of the file.
const READ: u64 = 4;
/// Bytes of an event that a copy ends with, at most.
const CUT_MAX: u64 = 4 << 10;
/// Events of a copy that does not directly follow its original, at least: one alone may be equal
/// to an earlier one.
const EVENTS: usize = 2;

impl Pass<'_, '_> {
    /// Returns the bytes of the copy that holds an event, if they are those before it. The copy may
    /// begin inside an event: its first events are then noise, or damage.
    ///
    /// `before` is the offset of an event before it that is not among the latest ones.
    pub(super) fn find_copy(&mut self, event: &Event<'_>, before: Option<u64>) -> Option<Gap> {
        let key = self.key(event);
        let first = self.recent.partition_point(|point| point.key < key);
        let origins = self.recent.iter().skip(first).take(ORIGINS);
        let origins = origins.take_while(|point| point.key == key).map(|point| point.at);
        let origins: Vec<u64> = origins.filter(|origin| *origin < event.at).collect();
        let damage = self.out.gaps.last().map(|gap| gap.from);
        let noise = self.recent.iter().rev().take(NOISE_MAX).map(|point| point.at);
        let starts = std::iter::once(event.at).chain(before).chain(damage);
        let mut starts: Vec<u64> = starts.filter(|from| *from <= event.at).collect();
        let noise: Vec<u64> = noise.filter(|from| *from <= event.at).collect();
        for origin in &origins {
            let distance = event.at.saturating_sub(*origin);
            for from in starts.iter().chain(&noise).filter(|from| *from > origin) {
                let found = self.compare(*from..from.saturating_add(distance), distance)?;
                if found.is_some() {
                    return found;
                }
            }
        }
        // Between a block and its copy may be another copy. The one with most bytes leaves least.
        starts.sort_unstable();
        for origin in origins {
            let Some(to) = self.find_end_of_copy(event.at, origin)? else { continue };
            let distance = event.at.saturating_sub(origin);
            for from in starts.iter().filter(|from| **from > origin) {
                let found = self.compare(*from..to, distance)?;
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// Returns a block as a gap if it repeats the bytes at a distance before it; `None` if nothing
    /// more may be compared.
    fn compare(&mut self, block: Range<u64>, distance: u64) -> Option<Option<Gap>> {
        if block.end > self.walk.stream_len() {
            return Some(None);
        }
        self.searches.compared.checked_sub(1)?;
        let Range { start: from, end: to } = block;
        let (copy_of, compared) = compare_repeat(&self.walk, block, distance);
        self.searches.compared = self.searches.compared.saturating_sub(compared);
        self.searches.looks = self.searches.looks.checked_sub(1)?;
        Some(copy_of.map(|_| Gap { from, to, copy_of }))
    }

    /// Returns where the events from a place on are no longer those from an earlier one on, if
    /// enough of them are; the outer `None` if nothing more may be compared.
    fn find_end_of_copy(&mut self, at: u64, origin: u64) -> Option<Option<u64>> {
        let (mut events, mut copies) = (self.walk.restarted(origin), self.walk.restarted(at));
        let (mut end, mut count) = (at, 0_usize);
        while let (Some(Item::Record(event)), Some(Item::Record(again))) =
            (events.next(), copies.next())
        {
            let cost = again.len.saturating_mul(READ);
            self.searches.compared = self.searches.compared.checked_sub(cost)?;
            let is_equal = event.flags == again.flags
                && (event.code, event.clock) == (again.code, again.clock)
                && event.payload == again.payload;
            if event.end() > at || !is_equal {
                break;
            }
            end = again.end();
            count = count.saturating_add(1);
        }
        if count < EVENTS {
            return Some(None);
        }
        let next = self.walk.restarted(end).next();
        if next.is_none_or(|item| item.record().is_some_and(|next| self.key(&next) >= self.last)) {
            return Some(Some(end));
        }
        // The copy ends inside an event, with another one directly after it.
        let most = self.searches.compared.min(CUT_MAX);
        let after = end.saturating_sub(at).saturating_add(origin);
        let cut = count_equal(&self.walk, after, end, most);
        self.searches.compared = self.searches.compared.saturating_sub(cut);
        Some(Some(end.saturating_add(cut)))
    }

    /// Returns the bytes of the copy that begins inside an event, which thus got a part of another
    /// clock.
    pub(super) fn find_copy_after(&mut self, event: &Event<'_>) -> Option<Gap> {
        let next = self.walk.restarted(event.end()).next().and_then(Item::record)?;
        self.find_copy(&next, Some(event.at))
    }

    /// Passes over bytes that do not count, perhaps with events that did.
    pub(super) fn pass(&mut self, gap: Gap) {
        self.forget_from(gap.from);
        self.out.gaps.push(gap);
        self.walk = self.walk.restarted(gap.to);
    }

    /// Forgets the events and the damage from an offset on.
    fn forget_from(&mut self, from: u64) {
        while self.recent.back().is_some_and(|point| point.at >= from) {
            self.recent.pop_back();
            self.number = self.number.saturating_sub(1);
            if let Some(part) = self.parts.last_mut() {
                part.events = part.events.saturating_sub(1);
            }
        }
        self.last = self.recent.back().map_or(self.last, |point| point.key);
        self.state.region.take_if(|region| region.at >= from);
        while self.out.gaps.last().is_some_and(|gap| gap.from >= from) {
            self.out.gaps.pop();
        }
    }
}
