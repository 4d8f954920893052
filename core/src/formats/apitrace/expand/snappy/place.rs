//! The place of the bytes of elements between two damages.
//!
//! A writer notes where it is: at each byte of a literal, and at the first and the last byte of a
//! copy. It copies from the latest such place that has the same four bytes, and as far as the bytes
//! are equal. Of 28,412 copies in five traces, 13 break this rule. So the elements after a damage
//! show their place by the bytes before it that they copy.

use std::cmp::Reverse;

use super::elements::{Elements, MISSING};
use super::judge::{FRAGMENT, element};
use super::regular::{Shift, count_short_copies};
use super::work::Work;
use crate::kit::num::to_u64;

/// Elements that are looked at, and those of them that copy bytes from before the damage.
const ELEMENTS: usize = 3_000;
const RULES_MAX: usize = 96;
/// First elements that may be damaged, although a writer makes such.
const UNSURE: usize = 3;
/// Bytes that a writer compares to find a copy.
const KEY: usize = 4;
/// Places that are remembered by their bytes.
const TABLE_BITS: u32 = 16;
/// Places that are weighed, those from which the most copies lead to a source.
const LIKELY: usize = 64;
/// Places that are compared by all copies after them, if they weigh at least nearly as much.
const COMPARED: usize = 4;
const NEARLY: i32 = 4;
/// Places from the least one on that are all weighed.
const WINDOW: usize = 4 << 10;

/// The weights of a copy that a writer makes at a place, one that it does not make, and one that is
/// left out: the first ones may be damaged, and further damage may follow.
const FOR: i32 = 2;
const AGAINST: i32 = -4;
const LEFT_OUT: i32 = 1;
/// Against a place at which an element extends over the end of a fragment, at which the elements
/// give too many bytes, or before which more bytes are missing than the damage seems to have had.
const OVER_FRAGMENT: i32 = 8;
const OVER_END: i32 = 8;
const UNUSUAL: i32 = 6;

/// The bytes before a damage.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub(super) bytes: Vec<u8>,
    /// Whether a writer noted the place.
    is_noted: Vec<bool>,
}

impl Known {
    /// Adds what a writer notes of an element, whose bytes were added.
    pub(super) fn note(&mut self, is_copy: bool) {
        let (begin, end) = (self.is_noted.len(), self.bytes.len());
        self.is_noted.resize(end, !is_copy);
        for at in [begin, end.saturating_sub(1)] {
            if let Some(noted) = self.is_noted.get_mut(at) {
                *noted = true;
            }
        }
    }

    /// Removes the bytes from a place on, or adds missing ones up to there.
    pub(super) fn turn_to(&mut self, place: usize) {
        self.bytes.resize(place, MISSING);
        self.is_noted.resize(place, true);
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied().filter(|byte| *byte != MISSING)
    }

    /// Returns the bytes at a place that a writer compares, if all are known.
    fn key(&self, at: usize) -> Option<[u8; KEY]> {
        let key = self.bytes.get(at..at.saturating_add(KEY))?.try_into().ok()?;
        Some(key).filter(|key: &[u8; KEY]| !key.contains(&MISSING))
    }

    /// Returns for each place from `from` to `to` up to where a writer copies from there: up to the
    /// next place that it noted with the same bytes. `None`: their bytes are not known.
    fn sources(&self, from: usize, to: usize) -> Vec<Option<usize>> {
        let mut latest = vec![usize::MAX; 1 << TABLE_BITS];
        let mut sources = vec![None; to.saturating_sub(from)];
        for at in from..to {
            let Some(key) = self.key(at) else { continue };
            let is_noted = self.is_noted.get(at) == Some(&true);
            if let Some(source) = sources.get_mut(at.saturating_sub(from)) {
                *source = Some(if is_noted { usize::MAX } else { 0 });
            }
            let hash = u32::from_le_bytes(key).wrapping_mul(0x9e37_79b1);
            let hash = usize::try_from(hash >> (u32::BITS - TABLE_BITS)).unwrap_or(0);
            let Some(cell) = latest.get_mut(hash).filter(|_| is_noted) else { continue };
            let before = std::mem::replace(cell, at);
            if let Some(source) = sources.get_mut(before.wrapping_sub(from))
                && self.key(before) == Some(key)
            {
                *source = Some(at);
            }
        }
        sources
    }
}

/// A copy of bytes from before the elements.
struct Rule {
    /// So many bytes before the elements the copied bytes begin.
    from: usize,
    /// Whether the copy does not only continue the one before it.
    is_first: bool,
    /// The byte after the copy, and so many bytes before the elements the one after those that are
    /// copied: a writer copies up to where they differ.
    after: Option<(usize, u8)>,
}

impl Rule {
    /// Weighs the copy at a place in its fragment, by the bytes of the fragment up to `sure`.
    fn weigh(&self, place: &Place<'_>) -> i32 {
        let Some(from) = place.inside.checked_sub(self.from) else { return AGAINST };
        let is_short = self.after.is_some_and(|(after, byte)| {
            let at = place.at.saturating_sub(after);
            at < place.sure && place.known.byte(at) == Some(byte)
        });
        let source = place.sources.get(from).copied().flatten();
        let is_before = place.at.saturating_sub(self.from) < place.sure;
        match source.filter(|_| self.is_first && is_before) {
            _ if is_short => AGAINST,
            None => 0,
            Some(until) if until >= place.at => FOR,
            Some(_) => AGAINST,
        }
    }
}

/// A place that is tried.
struct Place<'a> {
    at: usize,
    /// Bytes of its fragment before it.
    inside: usize,
    known: &'a Known,
    sources: &'a [Option<usize>],
    sure: usize,
}

/// The copies of bytes from before some elements.
struct Rules {
    rules: Vec<Rule>,
    /// Where the elements end.
    ends: Vec<usize>,
}

impl Rules {
    fn of(block: &[u8], start: usize) -> Self {
        let mut own = Vec::new();
        let mut elements = Elements::lenient(block, start, FRAGMENT);
        let mut found = Self { rules: Vec::new(), ends: Vec::new() };
        let mut before = None;
        for number in 0..ELEMENTS {
            let begin = own.len();
            let next = element(block, elements.at);
            let Some(one) = next.filter(|_| begin < FRAGMENT && found.rules.len() < RULES_MAX)
            else {
                break;
            };
            if elements.step(&mut own).is_none() {
                break;
            }
            let is_first = before != Some(one.distance);
            // The copy before this element ends at its first byte.
            if let Some(Rule { after: Some((_, byte)), .. }) = found.rules.last_mut()
                && found.ends.last() == Some(&begin)
                && *byte == MISSING
                && is_first
            {
                *byte = own.get(begin).copied().unwrap_or(MISSING);
            }
            before = Some(one.distance);
            found.ends.push(own.len());
            let Some(distance) = one.distance.filter(|_| number >= UNSURE) else { continue };
            if let Some(from) = distance.checked_sub(begin).filter(|from| *from > 0) {
                let after = distance.checked_sub(own.len()).filter(|after| *after > 0);
                found.rules.push(Rule { from, is_first, after: after.map(|at| (at, MISSING)) });
            }
        }
        let is_known = |after: &(usize, u8)| after.1 != MISSING;
        found.rules.iter_mut().for_each(|rule| rule.after = rule.after.filter(is_known));
        found
    }

    /// Returns the places from `from` to `to` at which the most copies are from a source.
    fn likely(
        &self,
        sources: &[Option<usize>],
        from: usize,
        to: usize,
        work: &mut Work,
    ) -> Vec<usize> {
        let mut votes = vec![0_u16; to.saturating_sub(from).saturating_add(1)];
        let sources: Vec<(usize, usize)> = (from..)
            .zip(sources)
            .filter_map(|(at, until)| until.filter(|until| *until > 0).map(|until| (at, until)))
            .collect();
        for rule in self.rules.iter().filter(|rule| rule.is_first) {
            work.spend(to_u64(sources.len()));
            for (at, until) in &sources {
                let place = at.saturating_add(rule.from);
                let vote = votes.get_mut(place.saturating_sub(from));
                if let Some(vote) = vote.filter(|_| place <= *until) {
                    *vote = vote.saturating_add(1);
                }
            }
        }
        let mut places: Vec<(u16, usize)> = votes.into_iter().zip(from..).collect();
        let last = places.len().saturating_sub(1);
        places.select_nth_unstable_by_key(LIKELY.min(last), |(votes, _)| Reverse(*votes));
        places.into_iter().take(LIKELY).map(|(_, place)| place).collect()
    }

    /// Weighs a place by the stretch of copies that fits it best.
    fn weigh(&self, place: &Place<'_>) -> i32 {
        let count = i32::try_from(self.rules.len()).unwrap_or(i32::MAX);
        let (mut sum, mut most) = (0_i32, count.saturating_mul(-LEFT_OUT));
        for (skipped, rule) in (0..count).zip(&self.rules) {
            sum = sum.max(skipped.saturating_mul(-LEFT_OUT)).saturating_add(rule.weigh(place));
            let left = count.saturating_sub(skipped).saturating_sub(1);
            most = most.max(sum.saturating_sub(left.saturating_mul(LEFT_OUT)));
        }
        let border = FRAGMENT.saturating_sub(place.inside);
        let is_over = self.ends.last().is_some_and(|end| *end > border)
            && self.ends.binary_search(&border).is_err();
        if is_over { most.saturating_sub(OVER_FRAGMENT) } else { most }
    }
}

/// Elements whose place is searched.
#[derive(Clone, Copy)]
pub(super) struct Unplaced {
    /// Where they begin in the block.
    pub(super) start: usize,
    /// Up to where the bytes before them are surely not damaged.
    pub(super) sure: usize,
    /// The least place.
    pub(super) least: usize,
    /// Up to where the place is if the damage has the bytes of the elements that were there.
    pub(super) usual: usize,
    /// The place at which their last byte is the last one of the block.
    pub(super) last: usize,
    /// Bytes of the block.
    pub(super) len: usize,
}

/// Returns the place of the bytes of some elements, in the fragment of the last known byte; `None`
/// if their copies fit none.
pub(super) fn find_place(
    block: &[u8],
    known: &Known,
    unplaced: Unplaced,
    work: &mut Work,
) -> Option<usize> {
    let Unplaced { start, sure, least, usual, last, len } = unplaced;
    let rules = Rules::of(block, start);
    let end = known.bytes.len();
    let from = end.saturating_sub(end.checked_rem(FRAGMENT).unwrap_or(0));
    let to = len.min(from.saturating_add(FRAGMENT).saturating_sub(1)).max(from);
    let sources = known.sources(from, sure);
    work.spend(to_u64(to.saturating_sub(from)));
    let near = least.max(from)..=usual.min(to).min(least.saturating_add(WINDOW));
    let likely = match usual.min(to) > *near.end() {
        true => rules.likely(&sources, from, to, work),
        false => Vec::new(),
    };
    let far = likely.into_iter().filter(|at| at > near.end());
    let mut found: Vec<(i32, usize, usize)> = Vec::new();
    for at in far.chain(near.clone()).chain([end]) {
        if !work.spend(to_u64(rules.rules.len())) {
            return None;
        }
        let inside = at.saturating_sub(from);
        let place = Place { at, inside, known, sources: &sources, sure: sure.min(at) };
        let against = match at {
            _ if at > last => OVER_END,
            _ if at > usual => UNUSUAL,
            _ => 0,
        };
        let weight = rules.weigh(&place).saturating_sub(against);
        found.push((weight.saturating_neg(), at.abs_diff(end), at));
    }
    // Of equals the one that loses the fewest bytes.
    found.sort_unstable();
    let most = found.first().map_or(0, |(weight, ..)| weight.saturating_neg());
    let is_near = |(weight, ..): &&(i32, usize, usize)| weight.saturating_add(most) <= NEARLY;
    let nearly = found.iter().take(COMPARED).take_while(is_near);
    let best = nearly.min_by_key(|(weight, _, place)| {
        let shift = Shift { at: start, before: (*place).min(sure), place: *place };
        (count_short_copies(block, shift, &known.bytes, work), *weight)
    });
    let floor = i32::try_from(rules.rules.len()).unwrap_or(i32::MAX).saturating_mul(-LEFT_OUT);
    let fits = rules.rules.is_empty() || most > floor;
    best.map(|(.., place)| *place).filter(|_| fits)
}
