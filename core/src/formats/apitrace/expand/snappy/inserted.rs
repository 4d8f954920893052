//! Where bytes were inserted into a block, if without them all its elements follow one another to
//! the stated end.
//!
//! ```text
//!  written   | element | element | element | element |
//!  stored    | element | ele | bytes | ment | element | element |
//!                        ^ before            ^ after: elements lead from here to the end
//! ```
//!
//! From each byte the elements are followed to the end of the block once, so that a place costs one
//! element: that in which the bytes lie. Inside a literal every place leaves the same elements.

use std::ops::RangeInclusive;

use super::block::stated_len;
use super::judge::{Element, Judge, element, head_of};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::steps;

/// Bytes of elements that are walked to see whether a writer made them: so many, and so many times
/// the block.
const WALKED: usize = 64 << 10;
const WALKED_TIMES: usize = 16;
/// Elements from the place on that show where the bytes after it belong: of a block of one literal,
/// any bytes may be left out.
const FOLLOWING: u32 = 4;
/// Bytes of the longest element before its literal: a tag and four bytes.
const HEAD: usize = 5;

/// The elements from a byte to the end of the block.
#[derive(Clone, Copy, Default)]
struct Tail {
    /// Number of elements; 0 if they do not lead to the end.
    elements: u32,
    /// Bytes that they expand to.
    expanded: usize,
}

/// Returns the places at which `len` bytes may have been inserted into a block.
pub fn find(block: &[u8], len: usize) -> Option<RangeInclusive<usize>> {
    let (expanded, skip) = stated_len(block)?;
    let written = block.len().checked_sub(len)?;
    let bounds = walk(block, skip);
    let (failed, _) = bounds.last()?;
    let tails = tails(block);
    steps::count(to_u64(block.len()));
    let mut found: Option<(usize, usize)> = None;
    let mut left = block.len().saturating_mul(WALKED_TIMES).saturating_add(WALKED);
    let mut bounds = bounds.iter().peekable();
    let mut before = bounds.next()?;
    let mut judged: Option<((usize, usize), bool)> = None;
    for place in skip..=failed.saturating_add(HEAD).min(written) {
        while let Some(next) = bounds.next_if(|(next, _)| *next <= place) {
            before = next;
        }
        let (at, judge) = before;
        let spliced = Spliced { block, place, len };
        let Some((next, held)) = spliced.leads_to(*at, judge.place, &tails) else { continue };
        if held != to_usize(expanded) {
            continue;
        }
        // Places in one literal leave the same elements.
        if judged.is_none_or(|(known, _)| known != (*at, next)) {
            let (is_whole, walked) = spliced.is_whole(*at, judge.clone(), held);
            judged = Some(((*at, next), is_whole));
            steps::count(to_u64(walked));
            left = left.checked_sub(walked)?;
        }
        if judged.is_some_and(|(_, is_whole)| is_whole) {
            found = Some((found.map_or(place, |(first, _)| first), place));
        }
    }
    found.map(|(first, last)| first..=last)
}

/// Returns the elements from each byte to the end of a block.
fn tails(block: &[u8]) -> Vec<Tail> {
    let mut tails = vec![Tail::default(); block.len().saturating_add(1)];
    for at in (0..block.len()).rev() {
        let Some(one) = element(block, at) else { continue };
        let next = tails.get(one.end).copied().unwrap_or_default();
        if one.end < block.len() && next.elements == 0 {
            continue;
        }
        if let Some(tail) = tails.get_mut(at) {
            tail.elements = next.elements.saturating_add(1);
            tail.expanded = next.expanded.saturating_add(one.len);
        }
    }
    tails
}

/// A block without `len` bytes at a place.
struct Spliced<'a> {
    block: &'a [u8],
    place: usize,
    len: usize,
}

impl Spliced<'_> {
    /// Returns where what follows `at` is stored.
    const fn stored(&self, at: usize) -> usize {
        if at < self.place { at } else { at.saturating_add(self.len) }
    }

    /// Returns the element at an offset, and where the next one is.
    fn element(&self, at: usize) -> Option<(Element, usize)> {
        let mut head = [0; HEAD];
        for (index, byte) in head.iter_mut().enumerate() {
            let from = self.stored(at.saturating_add(index));
            *byte = self.block.get(from).copied().unwrap_or_default();
        }
        let one = head_of(&head)?;
        let end = at.checked_add(one.end)?;
        let written = self.block.len().checked_sub(self.len)?;
        (end <= written).then_some((one, end))
    }

    /// Returns where the elements after the place begin, if they lead to the end, and the bytes
    /// that all elements expand to.
    fn leads_to(&self, at: usize, before: usize, tails: &[Tail]) -> Option<(usize, usize)> {
        let (held, next) = match at == self.place {
            true => (0, at),
            false => self.element(at).map(|(one, end)| (one.len, end))?,
        };
        // A short element may end before the place: then the bytes are not in it.
        let tail = tails.get(self.stored(next)).filter(|_| next >= self.place)?;
        let is_shown = tail.elements >= FOLLOWING;
        is_shown.then(|| (next, before.saturating_add(held).saturating_add(tail.expanded)))
    }

    /// Whether a writer makes all elements from `at` on. Returns the bytes that were walked, too.
    fn is_whole(&self, mut at: usize, mut judge: Judge, expanded: usize) -> (bool, usize) {
        let (start, written) = (at, self.block.len().saturating_sub(self.len));
        while let Some((one, end)) = self.element(at) {
            if !judge.passes(one) || judge.place > expanded {
                break;
            }
            at = end;
        }
        let is_whole = at == written && judge.place == expanded;
        (is_whole, at.saturating_sub(start).saturating_add(1))
    }
}

/// Returns the beginnings of the elements up to the first one that no writer makes, each with what
/// was before it.
fn walk(block: &[u8], skip: usize) -> Vec<(usize, Judge)> {
    let (mut at, mut judge, mut bounds) = (skip, Judge::default(), Vec::new());
    loop {
        bounds.push((at, judge.clone()));
        let Some(one) = element(block, at) else { return bounds };
        if !judge.passes(one) {
            return bounds;
        }
        at = one.end;
    }
}

#[cfg(test)]
mod tests {
    use super::super::regular::tests::words;
    use super::*;

    #[test]
    fn inserted_bytes_are_among_the_places_and_a_sound_block_has_none() {
        let bytes = words(4_000);
        let sound = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
        let mut found = 0;
        let noise =
            |len: u32| (0..len).map(|i| (i.wrapping_mul(0x9e37_79b1) >> 13).to_le_bytes()[0]);
        for at in (10..sound.len() - 10).step_by(sound.len() / 37) {
            for len in [1, 7, 40, 700] {
                let inserted: Vec<u8> = noise(len).collect();
                let block = [&sound[..at], &inserted, &sound[at..]].concat();
                let Some(places) = find(&block, inserted.len()) else { continue };
                found += 1;
                assert!(places.contains(&at), "{at} {len} {places:?}");
            }
        }
        assert!(found > 140, "{found}");
        // Without bytes of a sound block the rest is not its length.
        assert_eq!(find(&sound, 7), None);
    }
}
