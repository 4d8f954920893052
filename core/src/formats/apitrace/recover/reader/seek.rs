//! Looks for the place from which the stream continues after damage.

use super::{Flow, Mode, StreamReader, bytes_from, end_of};
use crate::formats::apitrace::limits::{NESTING, REWINDS, SEEK_WINDOW};
use crate::formats::apitrace::recover::resync::{
    ProbeContext, ProbeResult, Tolerance, probe_position,
};
use crate::kit::num::{to_u64, to_usize};
use crate::model::limits::{Limits, RESYNC};

/// How close to the beginning of a search the end of the damage is expected, in bytes.
const CLOSE: u64 = 64;
/// Steps that searches may take in the smallest stream, if the limit allows them. A step takes
/// about a microsecond.
const STEPS_AT_FIRST: u64 = 2 << 20;
/// Further steps for every byte of a longer one.
const STEPS_PER_BYTE: u64 = 4;
/// Steps that searches may take before an event was read: bytes that are not a stream at all take
/// no more, in each of up to three readings.
const STEPS_UNEARNED: u64 = 512 << 10;
/// Further steps that every event earns.
const STEPS_PER_EVENT: u64 = 8 << 10;
/// Equal bytes in a row, of which only the last ones are tried: no event begins with so many, but
/// one can follow them.
const EQUAL_TRIED: usize = 64;
/// Bytes of the stream that count for a stored one: a search through a mebibyte that a few hundred
/// bytes expand to would take seconds.
const EXPANSION_MAX: u64 = 256;
/// Of so many steps one is kept, and of the kept ones a unit may take the same share.
const RESERVED: u64 = 4;

/// A search for the place where the stream continues.
#[derive(Debug)]
pub(super) struct Seek {
    window: Vec<u8>,
    /// Where the window begins.
    start: u64,
    /// The next place to try.
    pub(super) next: u64,
    /// Where the search began.
    from: u64,
}

impl Seek {
    /// A search from `at` on.
    pub(super) const fn from(at: u64) -> Self {
        Self { window: Vec::new(), start: at, next: at, from: at }
    }

    /// Whether every place of the bytes at hand was tried.
    pub(super) const fn is_exhausted(&self) -> bool {
        self.window.is_empty()
    }
}

/// The steps that searches may take: the longer the stream, the more, as far as its events earn
/// them, and up to a limit. A part of them is kept for the units after one in which a search took
/// all others.
#[derive(Debug)]
pub(super) struct SearchBudget {
    pub(super) left: u64,
    /// Steps that are kept.
    reserve: u64,
    granted: u64,
    /// Steps that are due by the length of the stream.
    due: u64,
    max: u64,
}

impl SearchBudget {
    /// The steps for a stream of which nothing was read.
    pub(super) fn new(limits: &Limits) -> Self {
        let mut budget = Self { left: 0, reserve: 0, granted: 0, due: 0, max: 0 };
        budget.earn(limits, 0);
        budget.grant(STEPS_AT_FIRST);
        budget
    }

    /// Gives the steps that are due and that `events`, all that were read, earn.
    pub(super) fn earn(&mut self, limits: &Limits, events: u64) {
        let earned = STEPS_UNEARNED.saturating_add(events.saturating_mul(STEPS_PER_EVENT));
        self.max = limits.of(&RESYNC).min(earned).max(self.max);
        self.grant(0);
    }

    /// The steps that are left, without further ones for the same stream.
    pub(super) const fn rest(&self) -> Self {
        Self { granted: self.max, ..*self }
    }

    /// Adds the steps for `len` further bytes of the stream, stored up to an offset of the file.
    pub(super) fn grow(&mut self, len: u64, stored_end: u64) {
        let counted = stored_end.saturating_mul(EXPANSION_MAX);
        let most = STEPS_AT_FIRST.saturating_add(counted.saturating_mul(STEPS_PER_BYTE));
        let most = most.saturating_sub(self.due);
        self.grant(len.saturating_mul(STEPS_PER_BYTE).min(most));
    }

    fn grant(&mut self, steps: u64) {
        self.due = self.due.saturating_add(steps);
        let steps = self.due.min(self.max).saturating_sub(self.granted);
        let kept = steps / RESERVED;
        self.granted = self.granted.saturating_add(steps);
        self.reserve = self.reserve.saturating_add(kept);
        self.left = self.left.saturating_add(steps.saturating_sub(kept));
    }

    /// Adds a part of the steps that are kept, if none are left: a unit begins.
    pub(super) const fn refill(&mut self) {
        if self.left == 0 {
            self.left = self.reserve / RESERVED;
            self.reserve = self.reserve.saturating_sub(self.left);
        }
    }
}

impl StreamReader<'_> {
    /// Continues seeking with the blocks that come; the places before `next` were tried already.
    pub(super) fn begin_seek(&mut self, window: Vec<u8>, next: u64) -> Flow {
        self.carry.bytes.clear();
        let from = self.faults.damages.last().map_or(next, |damage| damage.start);
        self.mode = Mode::Seek(Seek { window, start: next, next, from });
        if self.budget.left == 0 {
            self.end_search(next);
        }
        Flow::NextBlock
    }

    /// Seeks again from `from`, which lies in an earlier block.
    pub(super) fn rewind(&mut self, from: u64) -> Flow {
        self.attempts.rewinds = self.attempts.rewinds.saturating_add(1);
        self.carry.bytes.clear();
        if self.attempts.rewinds > self.limits.of(&REWINDS) || self.places.segment(from).is_none() {
            // The bytes up to here are not searched.
            self.mode = Mode::Seek(Seek::from(from));
            self.end_search(from);
            return Flow::NextBlock;
        }
        self.mode = Mode::Seek(Seek::from(from));
        Flow::Rewind(from)
    }

    /// Seeks on with further bytes.
    pub(super) fn seek(&mut self, bytes: &[u8], start: u64, at_end: bool) -> Flow {
        let Mode::Seek(seek) = &mut self.mode else { return Flow::NextBlock };
        seek.window.extend_from_slice(bytes_from(bytes, start, end_of(&seek.window, seek.start)));
        let mut window = std::mem::take(&mut seek.window);
        let (base, next, from) = (seek.start, seek.next, seek.from);
        match self.find_sync(bytes_from(&window, base, next), next, from, at_end) {
            Ok(place) => {
                self.mode = Mode::Read;
                self.read(bytes_from(&window, base, place), place)
            }
            Err(place) if self.budget.left == 0 => {
                self.mode = Mode::Seek(Seek { window, start: base, next: place, from });
                self.end_search(place);
                Flow::NextBlock
            }
            Err(next) => {
                let tried = to_usize(next.saturating_sub(base)).min(window.len());
                window.drain(..tried);
                self.mode = Mode::Seek(Seek { window, start: next, next, from });
                Flow::NextBlock
            }
        }
    }

    /// Ends the search at `place`, where its steps are used up: the bytes at hand count as damage,
    /// and it continues with those that follow.
    fn end_search(&mut self, place: u64) {
        let Mode::Seek(seek) = &mut self.mode else { return };
        let end = end_of(&seek.window, seek.start).max(self.places.end);
        *seek = Seek { window: Vec::new(), start: end, next: end, from: seek.from };
        match self.faults.ended_searches.last_mut().filter(|(_, last)| *last >= place) {
            Some((_, last)) => *last = end,
            None => self.faults.ended_searches.push((place, end)),
        }
    }

    /// Returns the first place in `bytes`, which begin at `base`, from which the stream continues;
    /// otherwise the place to continue seeking from. The search began at `origin`.
    pub(super) fn find_sync(
        &mut self,
        bytes: &[u8],
        base: u64,
        origin: u64,
        at_end: bool,
    ) -> Result<u64, u64> {
        // Where an event began may be sound, and only a definition be lost.
        if base == origin && self.try_sync(bytes, base, Tolerance::Close, at_end).is_ok() {
            return Ok(base);
        }
        let window_max = self.limits.count_of(&SEEK_WINDOW);
        let is_thorough = self.attempts.searched_thoroughly.is_some()
            && self.attempts.searched_thoroughly == self.faults.damages.last().map(|one| one.start);
        let mut next = 0;
        while next < bytes.len() {
            if self.budget.left == 0 {
                return Err(bytes_at(bytes, base, next).1);
            }
            let Some(index) = find_tag(bytes, next) else { break };
            next = index.saturating_add(1);
            let (rest, place) = bytes_at(bytes, base, index);
            let is_close =
                place.saturating_sub(base.max(origin)) < CLOSE || self.begins_unit(place);
            let tolerance = match (is_thorough, is_close) {
                (true, _) => Tolerance::Thorough,
                (false, true) => Tolerance::Close,
                (false, false) => Tolerance::Far,
            };
            match self.try_sync(rest, place, tolerance, at_end) {
                Ok(()) => return Ok(place),
                Err(ProbeResult::NeedsMore) if !at_end && rest.len() < window_max => {
                    return Err(place);
                }
                Err(ProbeResult::Stale(end)) => {
                    next = next.max(to_usize(end.saturating_sub(base)));
                }
                Err(_) => {}
            }
        }
        Err(end_of(bytes, base))
    }

    /// Whether a unit begins at `place` or close before it: where one begins after a lost one, the
    /// damage ends, and many definitions may be lost with it.
    fn begins_unit(&self, place: u64) -> bool {
        let unit = self.places.unit_at(place);
        unit.is_some_and(|unit| place.saturating_sub(unit.expanded.start) < CLOSE)
    }

    /// Continues at `place` if the stream can be read from there.
    pub(super) fn try_sync(
        &mut self,
        bytes: &[u8],
        place: u64,
        tolerance: Tolerance,
        at_end: bool,
    ) -> Result<(), ProbeResult> {
        if self.attempts.foreign.refuses(place) {
            return Err(ProbeResult::Rejected);
        }
        let mut budget = self.budget.left;
        let context = self.probe_context();
        let result = probe_position(&context, (bytes, place), tolerance, at_end, &mut budget);
        self.budget.left = budget;
        match result {
            ProbeResult::Sync(sync) if self.accept(place, &sync) => Ok(()),
            // Only earlier calls: none of these events is searched for.
            ProbeResult::Sync(sync)
                if sync.next.saturating_add(sync.entered) < self.tracker.calls.next =>
            {
                let damage = self.faults.damages.last().map_or(place, |damage| damage.start);
                self.attempts.foreign.add_repeats(&sync, damage, self.tracker.calls.next);
                Err(ProbeResult::Stale(sync.last_leave_end))
            }
            other => Err(other),
        }
    }

    fn probe_context(&self) -> ProbeContext<'_> {
        let damage = self.faults.damages.last().map_or(0, |damage| damage.start);
        ProbeContext {
            definitions: &self.tracker.definitions,
            calls: &self.tracker.calls,
            lost_calls: &self.tracker.lost_calls,
            version: self.parser.version(),
            depth_max: self.limits.of(&NESTING),
            donor: self.donor,
            damage,
            is_in_place: self.places.is_in_place(damage),
        }
    }
}

/// Finds the next byte from `from` on that can be the tag of an event, 0 or 1: of a run of equal
/// ones one of the last.
fn find_tag(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let tag = memchr::memchr2(0, 1, rest)?;
    let equal = count_equal(rest.get(tag..)?);
    Some(from.saturating_add(tag).saturating_add(equal.saturating_sub(EQUAL_TRIED)))
}

/// The number of bytes at the beginning that are equal.
fn count_equal(bytes: &[u8]) -> usize {
    let first = bytes.first().copied().unwrap_or_default();
    bytes.iter().position(|byte| *byte != first).unwrap_or(bytes.len())
}

/// The part of `bytes`, which begin at `base` of the stream, from `index` on, and its offset there.
fn bytes_at(bytes: &[u8], base: u64, index: usize) -> (&[u8], u64) {
    (bytes.get(index..).unwrap_or_default(), base.saturating_add(to_u64(index)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of a stream of which many events were read.
    fn earned() -> SearchBudget {
        let limits = Limits::default();
        let mut budget = SearchBudget::new(&limits);
        budget.earn(&limits, u64::MAX);
        budget
    }

    #[test]
    fn steps_grow_with_the_stream_but_not_with_bytes_that_expand_to_many() {
        let granted = |len: u64, stored: u64| {
            let mut budget = earned();
            budget.grow(len, stored);
            budget.left + budget.reserve
        };
        let first = STEPS_AT_FIRST;
        assert_eq!(granted(1_000, 500), first + 1_000 * STEPS_PER_BYTE);
        assert_eq!(granted(256_000, 1_000), first + 256_000 * STEPS_PER_BYTE);
        assert_eq!(granted(256_001, 1_000), first + 256_000 * STEPS_PER_BYTE);
        assert_eq!(granted(u64::MAX, u64::MAX), Limits::default().of(&RESYNC));
        let mut rest = earned().rest();
        rest.grow(1_000, 1_000);
        assert_eq!(rest.left + rest.reserve, first);
    }

    #[test]
    fn events_earn_the_steps_of_a_long_stream() {
        let limits = Limits::default();
        let sum = |budget: &SearchBudget| budget.left + budget.reserve;
        let mut budget = SearchBudget::new(&limits);
        budget.grow(100_000, 50_000);
        assert_eq!(sum(&budget), STEPS_UNEARNED);
        budget.earn(&limits, 10);
        assert_eq!(sum(&budget), STEPS_UNEARNED + 10 * STEPS_PER_EVENT);
        let mut rest = budget.rest();
        rest.earn(&limits, 10);
        assert_eq!(sum(&rest), sum(&budget));
        budget.earn(&limits, 1_000);
        assert_eq!(sum(&budget), STEPS_AT_FIRST + 100_000 * STEPS_PER_BYTE);
        // Events that are taken back earned their steps.
        budget.earn(&limits, 0);
        assert_eq!(sum(&budget), STEPS_AT_FIRST + 100_000 * STEPS_PER_BYTE);
    }

    #[test]
    fn equal_bytes_are_counted_up_to_another_one() {
        assert_eq!([&b""[..], b"a", b"aab", b"baa"].map(count_equal), [0, 1, 2, 1]);
    }

    #[test]
    fn of_a_run_of_tags_the_last_ones_are_tried() {
        let bytes = [vec![7], vec![0; 100], vec![1, 7]].concat();
        let first = 101 - EQUAL_TRIED;
        let found = [0, first, first + 1, 100, 101, 102].map(|from| find_tag(&bytes, from));
        let expected = [Some(first), Some(first), Some(first + 1), Some(100), Some(101), None];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_part_of_the_steps_is_kept_for_further_units() {
        let mut budget = earned();
        let (left, kept) = (STEPS_AT_FIRST / 4 * 3, STEPS_AT_FIRST / 4);
        budget.refill();
        assert_eq!((budget.left, budget.reserve), (left, kept));
        for _ in 0..1_000 {
            budget.left = 0;
            let before = budget.reserve;
            budget.refill();
            assert_eq!((budget.left, budget.left + budget.reserve), (before / 4, before));
        }
        assert!(budget.left == 0 && budget.reserve < RESERVED);
    }
}
