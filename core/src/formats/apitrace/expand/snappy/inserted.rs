//! Where bytes were inserted into a block, if without them all its elements follow one another to
//! the stated end.
//!
//! The bytes after the place are moved, so that elements of chance follow until one is that no
//! writer makes. The place lies before it. Inside a literal every place leaves the same elements.

use std::ops::RangeInclusive;

use super::block::stated_len;
use super::regular::{Judge, element};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::steps;

/// Places that are tried, back from the first element that no writer makes.
const TRIED: usize = 4_096;
/// Bytes of elements that are walked for all places.
const WALKED: usize = 16 << 20;
/// Elements from the place on that show where the bytes after it belong: of a block of one literal,
/// any bytes may be left out.
const FOLLOWING: usize = 4;
/// Bytes of the longest element before its literal: a tag and four bytes.
const HEAD: usize = 5;

/// Returns the places at which `len` bytes may have been inserted into a block.
pub fn find(block: &[u8], len: usize) -> Option<RangeInclusive<usize>> {
    let (expanded, skip) = stated_len(block)?;
    let written = block.len().checked_sub(len)?;
    let bounds = walk(block, skip);
    let (failed, _) = bounds.last()?;
    let last = failed.saturating_add(HEAD).min(written);
    let first = skip.max(last.saturating_sub(TRIED));
    let mut spliced = [block.get(..last)?, block.get(last.checked_add(len)?..)?].concat();
    let (mut found, mut walked): (Option<(usize, usize)>, _) = (None, 0);
    for place in (first..=last).rev() {
        if place < last {
            *spliced.get_mut(place)? = *block.get(place.checked_add(len)?)?;
        }
        let before = bounds.partition_point(|(at, _)| *at <= place).checked_sub(1)?;
        let (at, judge) = bounds.get(before)?;
        if is_whole(&spliced, *at, judge.clone(), to_usize(expanded), &mut walked) {
            found = Some((place, found.map_or(place, |(_, last)| last)));
        } else if found.is_some_and(|(first, _)| first.saturating_sub(place) > HEAD) {
            break;
        }
        if walked > WALKED {
            return None;
        }
    }
    steps::count(to_u64(walked));
    found.map(|(first, last)| first..=last)
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

/// Whether the elements from `at` on are those of a writer, up to the end of the block, and expand
/// to its length.
fn is_whole(
    block: &[u8],
    mut at: usize,
    mut judge: Judge,
    expanded: usize,
    walked: &mut usize,
) -> bool {
    let (start, mut elements) = (at, 0_usize);
    while let Some(one) = element(block, at) {
        if !judge.passes(one) || judge.place > expanded {
            break;
        }
        (at, elements) = (one.end, elements.saturating_add(1));
    }
    *walked = walked.saturating_add(at.saturating_sub(start)).saturating_add(1);
    at == block.len() && judge.place == expanded && elements >= FOLLOWING
}

#[cfg(test)]
mod tests {
    use super::super::regular::tests::words;
    use super::*;

    #[test]
    fn inserted_bytes_are_found_where_they_are_and_none_in_a_sound_block() {
        let bytes = words(4_000);
        let sound = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
        let (mut found, mut right) = (0, 0);
        let noise =
            |len: u32| (0..len).map(|i| (i.wrapping_mul(0x9e37_79b1) >> 13).to_le_bytes()[0]);
        for at in (10..sound.len() - 10).step_by(sound.len() / 37) {
            for len in [1, 7, 40, 700] {
                let inserted: Vec<u8> = noise(len).collect();
                let block = [&sound[..at], &inserted, &sound[at..]].concat();
                let Some(places) = find(&block, inserted.len()) else { continue };
                found += 1;
                right += usize::from(places.contains(&at));
            }
        }
        assert!(found > 100 && right * 100 >= found * 98, "{right} of {found}");
        // Without bytes of a sound block the rest is not its length.
        assert_eq!(find(&sound, 7), None);
    }
}
