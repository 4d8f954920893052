//! The parts of a damaged block that can be read, each at its place.
//!
//! ```text
//!  stored    | elements | damage | elements | damage | elements |
//!  expanded  | part     |   ?    | part     |   ?    | part     |
//!            0                   ^ by what it copies ^ by the stated length
//! ```
//!
//! After each damage elements that a writer makes follow one another. Where they lead to the end of
//! the block, their place is counted from there. Others have the place at which a writer copies the
//! bytes before the damage that they copy. A stretch that is there twice is left out first: then
//! nothing is missing.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;

use super::chains::{Runs, Tails};
use super::elements::{Elements, MISSING};
use super::judge::{Element, FRAGMENT, Judge, Placed, Stated, element};
use super::leaves::count_leaves;
use super::place::{Known, Unplaced, find_place};
use super::regular::find_shift;
use super::repeated::Repeated;
use super::work::Work;
use crate::kit::num::to_u64;

/// Parts of a block, and elements that are passed although they break a rule, at most.
const PARTS_MAX: usize = 64;
const PASSED_MAX: usize = 16;
/// Bytes per call of a block of which calls are left: recorded traces have 25 to 84, and damage
/// takes some. Of other bytes, fewer look like leaves of calls by chance.
const CALL_LEN: usize = 256;
/// Elements in a row that are believed to be those of a writer, and those that lead to the end.
const RUN: u32 = 32;
const TAIL: u32 = 12;
/// First elements of a part that may be damaged ones by chance, at most.
const UNSURE_FIRST: u32 = 16;
/// Last elements of a part that may be, and the same where the next part goes on in step: there the
/// damage shows late.
const UNSURE: usize = 8;
const UNSURE_IN_STEP: usize = 32;
/// Damage stands for so many times the bytes that the block expands to on average, and some more.
const USUAL_TIMES: usize = 2;
const USUAL_BYTES: usize = 128;
/// Copies that keep the last rule before one that breaks it: else another writer made them all.
const COPIES_BEFORE: usize = 32;
/// Elements, back from the first that no writer makes, before which bytes may be lost or added. Of
/// 200 flipped lengths of copies in five recorded traces, half show 4 elements later, 180 within
/// 60, and all within 352; those beyond this number keep a part of the shift.
const RECENT: usize = 256;
/// Stretches that are left out of a block at most. To read a block once more is so much work per
/// byte.
const REPEATED_MAX: usize = 16;
const READ_WORK: u64 = 8;

/// Elements that follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// Where they are stored.
    at: usize,
    end: usize,
    /// The place of their bytes.
    place: usize,
}

/// A reading of a block part by part.
struct Reading<'a> {
    block: &'a [u8],
    len: usize,
    known: Known,
    /// Where the elements of the part begin.
    part: Placed,
    /// Copies so far that keep the last rule.
    copies: usize,
    /// The latest elements of the part.
    recent: VecDeque<Placed>,
    runs: Runs,
    tails: Tails,
    /// Stretches that are there twice, if they are looked for.
    repeated: Option<Repeated>,
}

/// The bytes of a damaged block that are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// Stretches that are left out before, one after the other.
    left_out: Vec<Range<usize>>,
    parts: Vec<Part>,
    /// Bytes that the block expands to.
    len: usize,
}

impl Parts {
    /// Finds the parts of a block: those that a search places, if they hold as many calls as those
    /// that are placed by the end of the block alone.
    pub(super) fn find(block: &[u8], stated: Stated, mut work: Work) -> Self {
        let mut none = Work::NONE;
        let plain = Self::read(block, stated, &mut none);
        if !work.is_left() {
            return plain;
        }
        let searched = Self::read(block, stated, &mut work);
        let calls = |parts: &Self| count_leaves(&parts.expand(block, MISSING));
        if searched == plain {
            return plain;
        }
        let [most, found] = [&plain, &searched].map(calls);
        let holds_calls = most.saturating_mul(CALL_LEN) > stated.len;
        if holds_calls && found < most { plain } else { searched }
    }

    fn read(block: &[u8], stated: Stated, work: &mut Work) -> Self {
        let mut block = Cow::Borrowed(block);
        let mut found = Self { left_out: Vec::new(), parts: Vec::new(), len: stated.len };
        for left in (0..=REPEATED_MAX).rev() {
            let is_searched = left > 0 && work.spend(to_u64(block.len()).saturating_mul(READ_WORK));
            let repeated = is_searched.then(|| Repeated::of(&block, stated.len));
            match Reading::of(&block, stated, work.is_left(), repeated).read_parts(work) {
                Ok(parts) => {
                    found.parts = parts;
                    break;
                }
                Err(stretch) => {
                    drop(block.to_mut().drain(stretch.clone()));
                    found.left_out.push(stretch);
                }
            }
        }
        found
    }

    /// Whether nothing is known but where the elements begin.
    pub(super) const fn is_plain(&self) -> bool {
        self.left_out.is_empty() && self.parts.len() < 2
    }

    /// Returns how many bytes are before the place of the second part, if there is one.
    pub(super) fn first_len(&self) -> Option<usize> {
        self.parts.get(1).map(|part| part.place)
    }

    /// Returns the place of the last part.
    pub(super) fn last_place(&self) -> usize {
        self.parts.last().map_or(0, |part| part.place)
    }

    /// Expands the parts; `missing` stands for the bytes between them.
    pub(super) fn expand(&self, block: &[u8], missing: u8) -> Vec<u8> {
        let mut block = Cow::Borrowed(block);
        for stretch in &self.left_out {
            drop(block.to_mut().drain(stretch.clone()));
        }
        let mut bytes = Vec::new();
        for part in &self.parts {
            bytes.resize(part.place, missing);
            let missing = Some(missing);
            let mut elements = Elements { block: &block, at: part.at, len: self.len, missing };
            while elements.at < part.end && elements.step(&mut bytes).is_some() {}
        }
        bytes
    }
}

impl<'a> Reading<'a> {
    /// A reading of a block; `is_searched`: whether the places of parts may be searched.
    fn of(block: &'a [u8], stated: Stated, is_searched: bool, repeated: Option<Repeated>) -> Self {
        let Stated { start, len, .. } = stated;
        let runs = Runs::of(block, if is_searched { start } else { block.len() });
        let tails = Tails::of(block, stated);
        let (known, recent) = (Known::default(), VecDeque::new());
        let part = Placed { at: start, place: 0 };
        Self { block, len, known, part, copies: 0, recent, runs, tails, repeated }
    }

    /// Returns the parts, or a stretch of the block that is there twice.
    fn read_parts(mut self, work: &mut Work) -> Result<Vec<Part>, Range<usize>> {
        let mut parts: Vec<Part> = Vec::new();
        let (mut from, mut passed, mut is_passed) = (self.part.at, 0_usize, false);
        loop {
            let stop = self.read(from, is_passed, work.is_left());
            if let Some(stretch) = self.find_repeated(stop) {
                return Err(stretch);
            }
            let (end, next) = self.turn_from(stop, work);
            let Placed { at, place } = self.part;
            // Where nothing follows, or another writer made the block, it is read as it is.
            let is_worth = work.is_left() || parts.is_empty();
            let is_left = is_worth && parts.len() < PARTS_MAX && passed < PASSED_MAX;
            let Some(next) = next.filter(|_| is_left) else {
                parts.push(Part { at, end: self.block.len(), place });
                return Ok(parts);
            };
            from = next.at;
            is_passed = next == stop;
            if is_passed {
                // Nothing is wrong but this element.
                passed = passed.saturating_add(1);
                self.copies = 0;
                continue;
            }
            parts.push(Part { at, end: end.at, place });
            self.known.turn_to(end.place);
            self.known.turn_to(next.place);
            self.part = next;
        }
    }

    /// Reads the elements from `at` on, up to one that no writer makes there. `is_passed`: whether
    /// the first one is read in any case. `is_strict`: whether a copy that could go on is a stop.
    fn read(&mut self, at: usize, is_passed: bool, is_strict: bool) -> Placed {
        let mut elements = Elements::lenient(self.block, at, self.len);
        let mut judge = Judge { place: self.known.bytes.len(), is_after_literal: false };
        let mut before: Option<(Element, Placed)> = None;
        self.recent.clear();
        loop {
            let placed = Placed { at: elements.at, place: self.known.bytes.len() };
            let Some(one) = element(self.block, elements.at) else { return placed };
            let passes = judge.passes(one) && judge.place <= self.len;
            let is_first = is_passed && placed.at == at;
            if !(passes || is_first) || elements.step(&mut self.known.bytes).is_none() {
                return placed;
            }
            self.known.note(one.distance.is_some());
            let judged = before.take().filter(|(_, copied)| !(is_passed && copied.at == at));
            match judged
                .and_then(|(copy, copied)| Some((self.is_short(copy, one, placed)?, copied)))
            {
                Some((true, copied)) if is_strict && self.copies >= COPIES_BEFORE => {
                    self.known.turn_to(copied.place);
                    self.recent.pop_back();
                    return copied;
                }
                Some((false, _)) => self.copies = self.copies.saturating_add(1),
                _ => {}
            }
            before = one.distance.map(|_| (one, placed));
            self.recent.push_back(placed);
            if self.recent.len() > RECENT {
                self.recent.pop_front();
            }
        }
    }

    /// Whether a copy could go on where the next element begins; `None` if that is unknown.
    fn is_short(&self, copy: Element, next: Element, placed: Placed) -> Option<bool> {
        let end = placed.place;
        let after = self.known.bytes.get(end.checked_sub(copy.distance?)?)?;
        let byte = self.known.bytes.get(end)?;
        let is_known = *after != MISSING && *byte != MISSING;
        (is_known && copy.is_ended_by(next, end)).then_some(after == byte)
    }

    /// Returns a stretch before a stop that is there twice.
    fn find_repeated(&self, stop: Placed) -> Option<Range<usize>> {
        let repeated = self.repeated.as_ref()?;
        let long = repeated.find(self.block, self.part, stop);
        long.or_else(|| repeated.find_short(self.block, &self.recent))
    }

    /// Returns where the elements up to a stop end, since they may be damaged before it shows, and
    /// where the next part begins.
    fn turn_from(&mut self, stop: Placed, work: &mut Work) -> (Placed, Option<Placed>) {
        if stop.at >= self.block.len() {
            return (stop, None);
        }
        match self.find_next(stop, work) {
            // Only the place is another one, since an element before.
            Some(next) if next.at == stop.at && next != stop && work.is_left() => {
                let bytes = &self.known.bytes;
                match find_shift(self.block, &self.recent, (stop, next.place), bytes, work) {
                    Some((end, next)) => (end, Some(next)),
                    None => (stop, Some(next)),
                }
            }
            next => (stop, next),
        }
    }

    /// Returns where the next part after the elements up to a stop begins.
    fn find_next(&self, stop: Placed, work: &mut Work) -> Option<Placed> {
        let mut from = stop.at;
        while let Some((at, end)) = self.find_run(from).filter(|_| work.is_left()) {
            let mut tail = at;
            for _ in 0..UNSURE_FIRST {
                if let Some(placed) = self.tail_at(tail, TAIL) {
                    return Some(self.without_overlap(placed, stop));
                }
                let Some(one) = element(self.block, tail) else { break };
                tail = one.end;
            }
            if let Some(found) = self.find_place(stop, at, work) {
                return Some(self.without_overlap(found, stop));
            }
            work.spend(to_u64(end.saturating_sub(from)));
            from = end;
        }
        let at = (stop.at..self.block.len()).rev().max_by_key(|at| self.tails.at(*at).0)?;
        let tail = self.tail_at(at, 1)?;
        let is_far = at.saturating_sub(stop.at) > self.block.len().wrapping_shr(1);
        let is_believed = !is_far || self.len.saturating_sub(tail.place) >= FRAGMENT;
        is_believed.then(|| self.without_overlap(tail, stop))
    }

    /// Returns the place of the elements from `at` on, after those up to a stop.
    fn find_place(&self, stop: Placed, at: usize, work: &mut Work) -> Option<Placed> {
        let is_in_step = at == stop.at;
        let unsure = if is_in_step { UNSURE_IN_STEP } else { UNSURE };
        let unsure = self.recent.len().saturating_sub(unsure);
        let sure = self.recent.get(unsure).map_or(stop.place, |one| one.place);
        let (count, _) = self.runs.at(at);
        let last = self.len.saturating_sub(self.expanded(at, count));
        let damage = at.saturating_sub(stop.at).saturating_mul(self.len);
        let damage = damage.checked_div(self.block.len()).unwrap_or(0).saturating_mul(USUAL_TIMES);
        let usual = stop.place.saturating_add(damage).saturating_add(USUAL_BYTES);
        let overlap = if is_in_step { 0 } else { self.expanded(at, UNSURE_FIRST) };
        let least = sure.saturating_sub(overlap);
        let unplaced = Unplaced { start: at, sure, least, usual, last, len: self.len };
        let place = find_place(self.block, &self.known, unplaced, work)?;
        Some(Placed { at, place })
    }

    /// Returns how many bytes so many elements from an offset on expand to.
    fn expanded(&self, at: usize, count: u32) -> usize {
        let mut one = Placed { at, place: 0 };
        for _ in 0..count {
            let Some(next) = one.next(self.block) else { break };
            one = next;
        }
        one.place
    }

    /// Returns the elements that lead to the end of the block, if they are at least `least`.
    fn tail_at(&self, at: usize, least: u32) -> Option<Placed> {
        let (count, expanded) = self.tails.at(at);
        let place = self.len.checked_sub(expanded)?;
        (count >= least).then_some(Placed { at, place })
    }

    /// Finds the elements from `from` on that follow one another to the nearest end, the most of
    /// them: a chain by chance begins with a long literal, and so skips elements or damage.
    fn find_run(&self, from: usize) -> Option<(usize, usize)> {
        let (mut found, mut most) = (None, 0);
        let mut nearest = self.block.len();
        for at in from..self.block.len() {
            let (count, end) = self.runs.at(at);
            if at >= nearest {
                break;
            }
            let is_better = end < nearest || (end == nearest && count > most);
            if count >= RUN && is_better {
                (found, most, nearest) = (Some(at), count, end);
            }
        }
        Some((found?, nearest))
    }

    /// Leaves out the first elements of a chain that stand where the elements before the damage do:
    /// some bytes of the damage look like elements. Where many do, the damage began before it
    /// showed, and the chain is right.
    fn without_overlap(&self, chain: Placed, stop: Placed) -> Placed {
        if chain.at == stop.at {
            return chain;
        }
        let mut one = chain;
        for _ in 0..UNSURE_FIRST {
            if one.place >= stop.place {
                return one;
            }
            let Some(next) = one.next(self.block) else { break };
            one = next;
        }
        chain
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::stated_len;
    use super::super::regular::tests::words;
    use super::*;
    use crate::kit::num::to_usize;

    /// The bytes that are found of a damaged block.
    fn found(block: &[u8]) -> Vec<u8> {
        let (len, start) = stated_len(block).unwrap();
        let stated = Stated { start, len: to_usize(len), has_end: true };
        Parts::find(block, stated, Work::of(0, block.len())).expand(block, MISSING)
    }

    /// Numbers that look random, from a seed.
    fn numbers(mut state: u64) -> impl FnMut(usize) -> usize {
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            to_usize((state >> 33) % to_u64(below))
        }
    }

    fn byte(number: usize) -> u8 {
        number.to_le_bytes()[0]
    }

    #[test]
    fn parts_between_several_damages_are_at_their_places() {
        let bytes = words(60_000);
        let sound = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
        let (mut at_places, mut kept, mut all) = (0, 0, 0);
        for seed in 0..8 {
            let mut number = numbers(seed);
            let mut block = sound.clone();
            // From the back, so that bytes that move are those behind.
            for part in (1..5).rev() {
                let at = sound.len() * part / 5 + number(2_000);
                let len = 1 + number(60);
                match number(4) {
                    0 => block[at..at + len].fill(0),
                    1 => block[at..at + len].fill_with(|| byte(number(256))),
                    2 => drop(block.drain(at..at + len)),
                    _ => drop(block.splice(at..at, (0..len).map(|_| byte(number(256))))),
                }
            }
            let found = found(&block);
            all += bytes.len();
            at_places += usize::from(found.len() == bytes.len());
            kept += found.iter().zip(&bytes).filter(|(a, b)| a == b).count();
        }
        let share = kept * 100 / all;
        assert!(share > 80 && at_places > 6, "seeds 0 to 7: {share} %, {at_places} whole");
    }

    #[test]
    fn stretches_that_are_there_twice_are_left_out() {
        let bytes = words(60_000);
        let sound = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
        let mut whole = 0;
        for seed in 0..6 {
            let mut number = numbers(seed);
            let mut block = sound.clone();
            for part in (1..4).rev() {
                let at = sound.len() * part / 4 + number(2_000);
                let again = block[at..at + 20 + number(900)].to_vec();
                drop(block.splice(at..at, again));
            }
            whole += usize::from(found(&block) == bytes);
        }
        assert!(whole > 4, "seeds 0 to 5: {whole} of 6");
    }

    #[test]
    fn a_limited_number_of_stretches_is_left_out() {
        let mut block = snap::raw::Encoder::new().compress_vec(&words(100_000)).unwrap();
        let parts = REPEATED_MAX + 4;
        for part in (1..parts).rev() {
            let at = block.len() * part / parts;
            let again = block[at..at + 100].to_vec();
            drop(block.splice(at..at, again));
        }
        let (len, start) = stated_len(&block).unwrap();
        let stated = Stated { start, len: to_usize(len), has_end: true };
        let found = Parts::find(&block, stated, Work::of(0, block.len()));
        assert_eq!(found.left_out.len(), REPEATED_MAX);
    }
}
