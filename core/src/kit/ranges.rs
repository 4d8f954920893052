//! Numbers, of calls or places, as ranges. If there are too many ranges, the closest are joined.

use std::collections::BTreeMap;

/// The most ranges that a set holds.
pub const HELD: usize = 4_096;

/// A set of numbers. It may come to hold numbers between those added, and never loses one.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    /// The first number, and the last one.
    all: BTreeMap<u64, u64>,
}

impl Ranges {
    /// Adds `first..=last`.
    pub fn add(&mut self, first: u64, last: u64) {
        if first > last {
            return;
        }
        let (mut first, mut last) = (first, last);
        // The one before, if it reaches here.
        let before = self.all.range(..=first).next_back().map(|(from, to)| (*from, *to));
        if let Some((from, to)) = before.filter(|(_, to)| first <= to.saturating_add(1)) {
            if last <= to {
                return;
            }
            first = from;
        }
        while let Some((from, to)) = self.all.range(first..).next().map(|(from, to)| (*from, *to)) {
            if from > last.saturating_add(1) {
                break;
            }
            self.all.remove(&from);
            last = last.max(to);
        }
        self.all.insert(first, last);
        if self.all.len() > HELD {
            self.all = self.at_most(HELD / 2).into_iter().collect();
        }
    }

    /// Returns the ranges with `distance` added to each number.
    #[must_use]
    pub fn moved(&self, distance: u64) -> Self {
        let moved = |number: &u64| number.saturating_add(distance);
        Self { all: self.all.iter().map(|(first, last)| (moved(first), moved(last))).collect() }
    }

    /// Whether it holds a number of `first..=last`.
    pub fn has_any_of(&self, first: u64, last: u64) -> bool {
        self.all.range(..=last).next_back().is_some_and(|(_, held)| *held >= first)
    }

    /// Adds all of `other`.
    pub fn add_all(&mut self, other: &Self) {
        other.all.iter().for_each(|(first, last)| self.add(*first, *last));
    }

    /// Removes the numbers from `from` on.
    pub fn remove_from(&mut self, from: u64) {
        drop(self.all.split_off(&from));
        if let Some(mut entry) = self.all.last_entry() {
            let last = entry.get_mut();
            *last = (*last).min(from.saturating_sub(1));
        }
    }

    /// Returns at most `most` ranges that hold all its numbers, with the widest gaps between them.
    pub fn at_most(&self, most: usize) -> Vec<(u64, u64)> {
        let mut gaps: Vec<(u64, u64)> = Vec::new();
        for ((_, before), (after, _)) in self.all.iter().zip(self.all.iter().skip(1)) {
            gaps.push((after.saturating_sub(*before), *after));
        }
        gaps.sort_unstable_by(|a, b| b.cmp(a));
        gaps.truncate(most.saturating_sub(1));
        let mut begins: Vec<u64> = gaps.into_iter().map(|(_, after)| after).collect();
        begins.sort_unstable();
        let mut begins = begins.into_iter().peekable();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (first, last) in &self.all {
            let opens = begins.next_if_eq(first).is_some();
            match ranges.last_mut().filter(|_| !opens) {
                Some((_, end)) => *end = *last,
                None => ranges.push((*first, *last)),
            }
        }
        ranges
    }

    /// Whether it holds no number.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// Returns how many numbers are in `ranges`.
pub fn count_numbers(ranges: impl IntoIterator<Item = (u64, u64)>) -> u64 {
    let each = ranges.into_iter().map(|(first, last)| last.saturating_sub(first).saturating_add(1));
    each.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_meet_are_one() {
        let mut ranges = Ranges::default();
        for (first, last) in [(10, 20), (30, 40), (21, 22), (5, 5), (24, 28), (7, 6), (12, 15)] {
            ranges.add(first, last);
        }
        assert_eq!(ranges.at_most(9), [(5, 5), (10, 22), (24, 28), (30, 40)]);
        assert_eq!(count_numbers(ranges.at_most(9)), 30);
        let held = [(4, 5), (6, 9), (23, 23), (15, 16), (0, 99)];
        let held = held.map(|(first, last)| ranges.has_any_of(first, last));
        assert_eq!(held, [true, false, false, true, true]);
        assert_eq!(ranges.moved(100).at_most(2), [(105, 105), (110, 140)]);
        ranges.add(0, 29);
        assert_eq!(ranges.at_most(9), [(0, 40)]);
        ranges.remove_from(33);
        assert_eq!(ranges.at_most(9), [(0, 32)]);
        ranges.remove_from(0);
        assert!(ranges.is_empty());
    }

    #[test]
    fn too_many_ranges_are_joined_where_they_are_closest() {
        let mut ranges = Ranges::default();
        for number in 0..10_000_u64 {
            ranges.add(number * 3, number * 3);
            ranges.add(1_000_000 + number * 2, 1_000_000 + number * 2);
            assert!(ranges.all.len() <= HELD);
        }
        assert_eq!(ranges.at_most(2), [(0, 29_997), (1_000_000, 1_019_998)]);
        assert_eq!(ranges.at_most(1), [(0, 1_019_998)]);
    }
}
