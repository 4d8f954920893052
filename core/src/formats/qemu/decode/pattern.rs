//! Counts of instructions that repeat, and one that does not.
//!
//! A guest that waits runs the same few loops: its counts of instructions repeat one by one, or in
//! turns of a few. A count that breaks such a row, which goes on after it as before, and that the
//! log has not had for long, is the damage of one event: an inverted bit turns 293 into 268435749,
//! and the replay hangs.
//!
//! ```text
//!   99 350 67 99 350 67 99 350 67 | 99 | 4194654 | 67 | 99 350 67 99 350 67
//!   `------ repeats -------------'        350       `----- repeats ------'
//! ```
//!
//! Measured on 9 sound logs of 5.2 to 11.1 (boot sectors, iPXE): 39 to 89 % of the counts stand in
//! such a row, and one sound count of 18,000 breaks one.

use crate::formats::qemu::decode::decoder::{Decoder, RingAbove};
use crate::formats::qemu::decode::walk::Walker;
use crate::formats::qemu::layout::{HEADER_LEN, Kind};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::Span;
use crate::kit::walk::Item;

/// Counts that are kept: more than the fast loop adds at a time, and those around one of them.
const RING: usize = 4096;
const MASK: usize = RING - 1;
/// Longest row that repeats.
const PERIOD_MAX: usize = 8;
/// Pairs of counts, one row apart, that are equal on either side.
const REPEATS: usize = 6;
/// Counts before and after one that decide about it.
const AROUND: usize = PERIOD_MAX + REPEATS - 1;
/// Counts before a break that do not have it.
const RECENT: usize = 2048;
/// Counts of which one is looked at first: each break has one of them among the pairs before it.
const GROUP: usize = REPEATS - 1;
/// Counts of one log that are named: further ones show that the log does not keep to a row.
const NAMED_MAX: usize = 16;

/// Counts between two marks: more than are read before one is judged.
const MARK_COUNTS: usize = 64;
/// Bytes between two marks.
const MARK_BYTES: u64 = 4 << 10;

/// A place of the log.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Offset of an event.
    pub at: u64,
    /// The known lower bound of the ring size there.
    pub ring: RingAbove,
    /// Events before it.
    pub events: u64,
}

impl Place {
    const START: Self = Self { at: HEADER_LEN, ring: 0, events: 0 };
}

/// A count that breaks a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Break {
    /// Its number among the counts of the log, from 0.
    pub index: usize,
    /// The count.
    pub count: u32,
    /// The count that the row has there.
    pub expected: u32,
}

/// The counts of instructions so far.
#[derive(Clone, Debug)]
pub struct Pattern {
    ring: [u32; RING],
    /// Counts so far.
    len: usize,
    /// Counts that were judged, in order.
    judged: usize,
    named: usize,
    /// The last two places that were marked, each with the counts before it.
    marks: [(Place, usize); 2],
}

/// The end of the counts, while the fast loop adds some.
#[derive(Debug)]
pub struct Counts<'p> {
    ring: &'p mut [u32; RING],
    /// Counts so far.
    pub len: u64,
}

impl Counts<'_> {
    /// Adds a count if `is_count` is 1; does nothing if it is 0.
    #[inline]
    pub fn add(&mut self, count: u32, is_count: u32) {
        if let Some(cell) = self.ring.get_mut(to_usize(self.len) & MASK) {
            *cell = count;
        }
        self.len = self.len.wrapping_add(is_count.into());
    }
}

impl Default for Pattern {
    fn default() -> Self {
        Self { ring: [0; RING], len: 0, judged: AROUND, named: 0, marks: [(Place::START, 0); 2] }
    }
}

impl Pattern {
    /// Begins at another place than the first event.
    pub const fn start_at(&mut self, at: u64) {
        self.marks = [(Place { at, ..Place::START }, 0); 2];
    }

    /// Begins anew after events that were skipped.
    pub const fn restart(&mut self, place: Place) {
        self.judged = self.len.saturating_add(AROUND);
        self.marks = [(place, self.len); 2];
    }

    /// Returns whether the last mark lies many counts before `at`.
    pub const fn wants_mark(&self, at: u64) -> bool {
        let [_, (place, counts)] = self.marks;
        let is_far = at >= place.at.saturating_add(MARK_BYTES);
        is_far && self.len >= counts.saturating_add(MARK_COUNTS)
    }

    /// Marks the place of the next event.
    pub const fn mark(&mut self, place: Place) {
        let [_, newer] = self.marks;
        self.marks = [newer, (place, self.len)];
    }

    /// Returns the number and the bytes of the event with a count that was judged just now.
    pub fn locate(&self, decoder: Decoder<'_>, index: usize) -> Option<(u64, Span)> {
        let [older, newer] = self.marks;
        let (place, counts) = if newer.1 <= index { newer } else { older };
        let mut left = index.checked_sub(counts)?;
        let events = Walker::new(decoder, place.at, place.ring).map_while(Item::record);
        for (number, event) in (place.events..).zip(events) {
            match (event.kind, left) {
                (Kind::Instruction, 0) => return Some((number, event.span())),
                (Kind::Instruction, _) => left = left.saturating_sub(1),
                _ => {}
            }
        }
        None
    }

    /// Adds a count.
    pub fn add(&mut self, count: u32) {
        let mut counts = self.open();
        counts.add(count, 1);
        let len = counts.len;
        self.close(len);
    }

    /// Returns the end of the counts, to add those of a run of events: not more than [`RING`] less
    /// twice [`AROUND`] may be added before they are judged. [`close`](Self::close) takes the new
    /// length.
    pub fn open(&mut self) -> Counts<'_> {
        Counts { ring: &mut self.ring, len: to_u64(self.len) }
    }

    /// Takes the length that [`Counts`] has in the end.
    pub fn close(&mut self, len: u64) {
        self.len = to_usize(len);
    }

    /// Returns the next count that breaks a row, among those that have enough counts after them.
    pub fn find_break(&mut self) -> Option<Break> {
        while self.judged.saturating_add(AROUND) < self.len {
            let index = self.judged;
            self.judged = index.saturating_add(1);
            if index.is_multiple_of(GROUP) && !self.repeats_earlier(index.wrapping_sub(1)) {
                self.judged = index.saturating_add(GROUP);
                continue;
            }
            if self.named == NAMED_MAX || self.repeats_earlier(index) {
                continue;
            }
            let count = self.at(index);
            if let Some(expected) = self.expect(index).filter(|_| !self.is_known(index, count)) {
                self.named = self.named.saturating_add(1);
                return Some(Break { index, count, expected });
            }
        }
        None
    }

    fn at(&self, index: usize) -> u32 {
        self.ring.get(index & MASK).copied().unwrap_or(0)
    }

    /// Whether the log had a count shortly before.
    fn is_known(&self, index: usize, count: u32) -> bool {
        (1..=RECENT.min(index)).any(|by| self.at(index.wrapping_sub(by)) == count)
    }

    /// Whether a count is one of those before it, as each one in a row is.
    fn repeats_earlier(&self, index: usize) -> bool {
        let count = self.at(index);
        (1..=PERIOD_MAX).any(|by| self.at(index.wrapping_sub(by)) == count)
    }

    /// Returns the count that a row has at `index`, if the counts around it repeat.
    fn expect(&self, index: usize) -> Option<u32> {
        let period = (1..=PERIOD_MAX).find(|period| self.repeats(index, *period))?;
        let expected = self.at(index.wrapping_sub(period));
        (expected != self.at(index)).then_some(expected)
    }

    /// Whether the counts on both sides of `index` repeat, and go on there as before.
    fn repeats(&self, index: usize, period: usize) -> bool {
        let (before, after) = (index.wrapping_sub(period), index.wrapping_add(period));
        let is_pair = |at: usize| self.at(at) == self.at(at.wrapping_add(period));
        let is_pair_before = |by: usize| is_pair(before.wrapping_sub(by));
        self.at(before) == self.at(after)
            && (1..REPEATS).all(|by| is_pair_before(by) && is_pair(index.wrapping_add(by)))
            // The counts of one row around the one in question.
            && (1..period).all(|by| is_pair(before.wrapping_add(by)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The breaks of a log with these counts.
    fn breaks(counts: impl IntoIterator<Item = u32>) -> Vec<(usize, u32, u32)> {
        let (mut pattern, mut found) = (Pattern::default(), Vec::new());
        for count in counts {
            let mut counts = pattern.open();
            counts.add(7, 0);
            counts.add(count, 1);
            let len = counts.len;
            pattern.close(len);
            while let Some(Break { index, count, expected }) = pattern.find_break() {
                found.push((index, count, expected));
            }
        }
        found
    }

    fn row(period: usize, len: usize) -> Vec<u32> {
        (0..len).map(|at| 100 + u32::try_from(at % period).unwrap()).collect()
    }

    #[test]
    fn one_changed_count_in_a_row_of_any_period_is_found() {
        for period in 1..=PERIOD_MAX {
            let whole = row(period, 200);
            assert_eq!(breaks(whole.clone()), [], "{period}");
            for at in AROUND..200 - AROUND {
                let mut counts = whole.clone();
                counts[at] ^= 1 << 28;
                assert_eq!(breaks(counts), [(at, whole[at] | 1 << 28, whole[at])], "{period} {at}");
            }
        }
        let longer = row(PERIOD_MAX + 1, 200).into_iter().enumerate();
        let longer = longer.map(|(at, count)| if at == 100 { 5 } else { count });
        assert_eq!(breaks(longer), []);
    }

    #[test]
    fn a_row_that_ends_or_changes_is_none_and_a_known_count_neither() {
        let other = [row(1, 100), vec![7; 100]].concat();
        assert_eq!(breaks(other), []);
        // A lost count moves the row.
        let mut lost = row(3, 200);
        lost.remove(100);
        assert_eq!(breaks(lost), []);
        let mut known = row(1, 300);
        (known[50], known[200]) = (7, 7);
        assert_eq!(breaks(known), [(50, 7, 100)]);
    }

    #[test]
    fn a_log_that_breaks_its_rows_all_the_time_is_named_a_few_times() {
        let counts = (0..50_000_u32).map(|at| if at % 40 == 0 { at } else { 100 });
        assert_eq!(breaks(counts).len(), NAMED_MAX);
    }
}
