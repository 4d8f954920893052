//! Events that are too late, and clocks that are noise.

use super::{EventWalk, Item, Pass, Point};
use crate::formats::ovni::layout::DAY_NS;

/// Events with clocks of noise that are shifted one by one.
pub(super) const NOISE_MAX: usize = 8;
/// Events after damage that have to be earlier for the events before it to be too late.
const RESUMED_MIN: usize = 4;
/// Damaged places among them: the border of another block that was exchanged.
const DAMAGES_MAX: usize = 1;

impl Pass<'_, '_> {
    /// Whether the events before the damage are too late, not those after it too early: at least as
    /// many events follow as would have to be shifted.
    pub(super) fn follows_late_events(&mut self, near: &EventWalk<'_, '_>) -> bool {
        let mut walk = near.clone();
        let (mut late, mut count, mut damages) = (0, 0_usize, 0..DAMAGES_MAX);
        while let Some(item) = walk.next() {
            let event = match item {
                Item::Record(event) => event,
                Item::Damage(damage) => {
                    let is_near = damages.next().is_some();
                    if is_near && self.pass_damage(&mut walk, damage.at, 0) {
                        continue;
                    }
                    break;
                }
            };
            let key = self.key(&event);
            if count == 0 {
                let Some(found) = self.count_late(key).filter(|_| key < self.last) else { break };
                late = found.max(RESUMED_MIN);
            }
            count = count.saturating_add(1);
            if event.row.is_none() || key >= self.last || self.searches.looks == 0 {
                break;
            }
            if count >= late {
                return true;
            }
            self.searches.looks = self.searches.looks.saturating_sub(1);
        }
        false
    }

    /// Returns the number of latest events that are too late, if they fit before `key`.
    pub(super) fn find_spike(&self, key: i128) -> Option<usize> {
        let first = self.recent.partition_point(|point| point.key <= key);
        let (start, last) = (self.recent.get(first)?, self.recent.back()?);
        let before = match first.checked_sub(1) {
            Some(index) => self.recent.get(index)?.key,
            None if start.number == 0 => i128::from(self.terms.floor),
            None => return None,
        };
        let room = key.saturating_sub(before);
        let fits = last.key.saturating_sub(start.key) <= room;
        let count = self.recent.len().saturating_sub(first);
        // Noise that reads as events: nothing about their clocks is worth keeping.
        let is_noise = count <= NOISE_MAX && start.key.saturating_sub(key) > i128::from(DAY_NS);
        (fits || is_noise).then_some(count)
    }

    /// Returns the number of latest events that are later than `key`, if an event before them is
    /// not.
    pub(super) fn count_late(&self, key: i128) -> Option<usize> {
        let first = self.recent.partition_point(|point| point.key <= key);
        let is_all = first == 0 && self.recent.front().is_some_and(|point| point.number > 0);
        let count = self.recent.len().saturating_sub(first);
        (count > 0 && !is_all).then_some(count)
    }

    /// Returns the number of latest events whose clocks are noise if the one after them has `key`.
    pub(super) fn count_noise(&self, key: i128) -> Option<usize> {
        let low = key.saturating_add(i128::from(DAY_NS));
        let first = self.recent.partition_point(|point| point.key <= low);
        let count = self.recent.len().saturating_sub(first);
        (first > 0 && (1..=NOISE_MAX).contains(&count)).then_some(count)
    }

    /// Gives the latest events the clock before them.
    pub(super) fn lower_noise(&mut self, count: usize) {
        let first = self.recent.len().saturating_sub(count);
        let before = first.checked_sub(1).and_then(|index| self.recent.get(index));
        let before = before.map_or(self.last, |point| point.key);
        for point in self.recent.iter_mut().skip(first) {
            point.by = point.by.saturating_add(before.saturating_sub(point.key));
            point.key = before;
        }
        self.last = before;
    }

    /// Shifts the latest events so that the last of them has the clock of `next`.
    pub(super) fn shift_spike(&mut self, count: usize, next: Point) {
        let first = self.recent.len().saturating_sub(count);
        let before = first.checked_sub(1).and_then(|index| self.recent.get(index));
        let before = before.map_or(i128::from(self.terms.floor), |point| point.key);
        let index = first.checked_sub(1);
        let before_at = index.and_then(|index| self.recent.get(index)).map(|point| point.at);
        let adjoins = self.recent.back().is_some_and(|point| point.end == next.at);
        let determined_by = before_at.filter(|_| before == next.key && adjoins);
        let (last, is_first) = self.recent.back().map_or((next.key, true), |p| (p.key, p.by == 0));
        let mut by = next.key.saturating_sub(last);
        if count == 1 && is_first {
            by = self.flip_bit(last, before, next.key).unwrap_or(by);
        }
        for point in self.recent.iter_mut().skip(first) {
            // Events that do not fit together come with the next one.
            let is_noise = point.key.saturating_add(by) < before;
            let by = if is_noise { next.key.saturating_sub(point.key) } else { by };
            point.key = point.key.saturating_add(by);
            point.by = point.by.saturating_add(by);
            point.determined_by = determined_by;
        }
        if first == 0 {
            self.lowest = self.recent.front().map(|point| point.key);
        }
        self.push(next);
    }

    /// Returns the shift that one flipped bit explains, if it is the only one that fits.
    pub(super) fn flip_bit(&self, key: i128, low: i128, high: i128) -> Option<i128> {
        let offset = self.offset();
        let raw = u64::try_from(key.saturating_sub(offset)).ok()?;
        let flipped = (0..64).filter_map(|bit| 1_u64.checked_shl(bit)).map(|bit| raw ^ bit);
        let mut fitting = flipped
            .map(|raw| i128::from(raw).saturating_add(offset))
            .filter(|key| (low..=high).contains(key));
        let only = fitting.next()?;
        fitting.next().is_none().then(|| only.saturating_sub(key))
    }
}
