//! Where a block is damaged, by the elements that no writer makes.
//!
//! Google's snappy, and every port of it, compresses fragments of 64 KiB one by one, so that
//!
//! - no element extends over the end of a fragment,
//! - a copy begins in its own fragment, at most 65,535 bytes back: one with a distance of four
//!   bytes is never written,
//! - a literal follows a literal only where a fragment begins,
//! - a copy goes on as long as the bytes are equal: it never ends before a byte that equals the one
//!   after those it copies.
//!
//! All of 800,000 elements of recorded traces keep these rules (apitrace 11.1; 176,000 copies the
//! last one). A block states the length that it expands to, so elements after the damage have a
//! place, counted from the end. Bytes that were lost or added move all elements up to there, and
//! none of the first three rules may break before the end of a fragment. The last one does: copies
//! reach over the damage to other bytes.

use std::collections::VecDeque;
use std::ops::Range;

use super::elements::{Elements, MISSING};
use super::judge::{Element, FRAGMENT, Judge, Placed, element};
use super::work::Work;
use crate::formats::apitrace::layout::CHUNK_EXPANDED;
use crate::kit::num::{to_u64, to_usize};

/// Of the elements that may be the first ones of a shift one in so many is tried first, and then
/// all around the best.
const SHIFTS_STEP: usize = 16;

/// The elements of a second chunk in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Second {
    /// Where the sound bytes of the first chunk end.
    pub(super) place: usize,
    /// The element where the second one is regular again.
    pub(super) resume: usize,
    /// Bytes that its elements expand to from there on.
    pub(super) expanded: usize,
}

/// Elements that have another place since one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shift {
    /// That element, and its place before and after.
    pub(super) at: usize,
    pub(super) before: usize,
    pub(super) place: usize,
}

/// Finds the element up to `stop`, whose bytes belong to `place`, since which all are moved: the
/// one with the fewest copies after it that end too early. Of equals one after a copy whose length
/// a flipped bit explains. Returns it at the place before and at that after.
pub(super) fn find_shift(
    block: &[u8],
    recent: &VecDeque<Placed>,
    (stop, place): (Placed, usize),
    out: &[u8],
    work: &mut Work,
) -> Option<(Placed, Placed)> {
    let mut shifts = Vec::new();
    let mut last: Option<Element> = None;
    for one in recent.iter().chain([&stop]) {
        if let Some(moved) = one.place.checked_add(place)?.checked_sub(stop.place) {
            let explains = last.is_some_and(|last| last.may_have_len(one.place, moved));
            shifts.push((Shift { at: one.at, before: one.place, place: moved }, explains));
        }
        last = element(block, one.at);
    }
    // Of equals the last one.
    let mut best_of = |range: Range<usize>, step: usize| {
        let tried = range.rev().step_by(step).filter_map(|index| {
            let (shift, explains) = *shifts.get(index)?;
            Some((count_short_copies(block, shift, out, work), !explains, index))
        });
        tried.min_by_key(|(short, others, _)| (*short, *others)).map(|(.., index)| index)
    };
    let near = best_of(0..shifts.len(), SHIFTS_STEP)?;
    let around = near.saturating_sub(SHIFTS_STEP)..near.saturating_add(SHIFTS_STEP);
    let best = best_of(around, 1)?;
    let (Shift { at, before, place }, _) = *shifts.get(best)?;
    Some((Placed { at, place: before }, Placed { at, place }))
}

/// Counts the copies after a shift, in its fragment, that end although the bytes go on equal.
pub(super) fn count_short_copies(block: &[u8], shift: Shift, out: &[u8], work: &mut Work) -> usize {
    let place = shift.place.checked_rem(FRAGMENT).unwrap_or(0);
    let fragment = shift.place.saturating_sub(place);
    let known = out.get(fragment..shift.before.min(out.len())).unwrap_or_default();
    let mut bytes = known.to_vec();
    bytes.resize(place, MISSING);
    let mut elements = Elements::lenient(block, shift.at, FRAGMENT);
    let (mut short, mut expected) = (0_usize, None);
    while let (Some(one), end @ 0..FRAGMENT) = (element(block, elements.at), bytes.len()) {
        if elements.step(&mut bytes).is_none() {
            break;
        }
        let after: Option<(Element, u8)> = expected.take();
        let is_short = after.is_some_and(|(before, byte)| {
            before.is_ended_by(one, end) && byte != MISSING && bytes.get(end) == Some(&byte)
        });
        short = short.saturating_add(usize::from(is_short));
        let next = one.distance.and_then(|distance| bytes.len().checked_sub(distance));
        expected = next.and_then(|from| bytes.get(from)).map(|byte| (one, *byte));
    }
    work.spend(to_u64(bytes.len()) / 8);
    short
}

/// Finds the elements of a second chunk whose header is lost with the end of the first one. Both
/// parts together have to expand to more than a chunk holds.
pub(super) fn find_second(block: &[u8], start: usize, len: u64) -> Option<Second> {
    let (first, place) = find_irregular(block, start, to_usize(len))?;
    // Where the fragments of the second one begin is unknown.
    let (resume, expanded) = find_chain(block, first.saturating_add(1), None)?;
    // One chunk of 1 MiB with 4 KiB lost, zeroed, random or doubled gave at most 1,080,319 bytes in
    // 253 cases. Two chunks whose border was lost gave at least 1,342,397.
    let most = to_usize(CHUNK_EXPANDED).saturating_add(FRAGMENT);
    (place.saturating_add(expanded) > most).then_some(Second { place, resume, expanded })
}

/// Returns the first element that no writer makes, and the place of its bytes.
fn find_irregular(block: &[u8], start: usize, len: usize) -> Option<(usize, usize)> {
    let mut judge = Judge { place: 0, is_after_literal: false };
    let mut first = start;
    loop {
        let place = judge.place;
        if first >= block.len() {
            return None;
        }
        match element(block, first) {
            Some(next) if judge.passes(next) && judge.place <= len => first = next.end,
            _ => return Some((first, place)),
        }
    }
}

/// Whether a file that ends in a block of `len` expanded bytes is only cut there: a writer makes
/// all of its elements from `start` on, and the last one may go on after the end.
pub(super) fn is_cut(block: &[u8], start: usize, len: u64) -> bool {
    let Some((last, place)) = find_irregular(block, start, to_usize(len)) else { return true };
    let rest = block.get(last..).unwrap_or_default();
    let Some(tag) = rest.first().filter(|_| element(block, last).is_none()) else { return false };
    let is_head_cut = match tag & 3 {
        0 => rest.len() <= usize::from(tag >> 2).saturating_sub(59),
        // A copy without its last bytes; one with a distance of four bytes is never written.
        kind => kind < 3,
    };
    // No literal is longer than a fragment.
    let whole = [rest.get(..FRAGMENT).unwrap_or(rest), &[0; FRAGMENT + 3]].concat();
    let passes = |last| Judge { place, is_after_literal: false }.passes(last);
    is_head_cut || (tag & 3 == 0 && element(&whole, 0).is_some_and(passes))
}

/// Elements that follow one another to the end of a block.
#[derive(Clone, Copy, Default)]
struct Chain {
    /// Bytes that they expand to.
    expanded: u32,
    /// Number of them; 0 if there is no chain.
    count: u32,
}

/// Returns the offset from `from` on where the most elements that a writer makes follow one another
/// to the end of the block, and how many bytes they expand to. Goes back from the end, where places
/// are known if the block expands to `len` bytes. A chain by chance begins with a long literal, and
/// so skips elements.
fn find_chain(block: &[u8], from: usize, len: Option<usize>) -> Option<(usize, usize)> {
    let mut chains = vec![Chain::default(); block.len().checked_sub(from)?];
    let (mut found, mut most) = (None, 0);
    for at in (from..block.len()).rev() {
        let Some(element) = element(block, at) else { continue };
        let after = match chains.get(element.end.saturating_sub(from)) {
            Some(Chain { count: 0, .. }) => continue,
            Some(chain) => *chain,
            None => Chain::default(),
        };
        let expanded =
            u32::try_from(element.len).ok().and_then(|len| after.expanded.checked_add(len));
        let Some(expanded) = expanded else { continue };
        let bytes = usize::try_from(expanded).ok()?;
        let is_regular = match len {
            Some(len) => len.checked_sub(bytes).is_some_and(|at| is_regular_at(block, element, at)),
            None => element.distance.is_none_or(|distance| (1..FRAGMENT).contains(&distance)),
        };
        if !is_regular {
            continue;
        }
        let count = after.count.saturating_add(1);
        if let Some(chain) = chains.get_mut(at.saturating_sub(from)) {
            *chain = Chain { expanded, count };
        }
        if count > most {
            (found, most) = (Some((at, bytes)), count);
        }
    }
    found
}

/// Whether a writer makes this element, and the one after it, where its bytes have this place.
pub(super) fn is_regular_at(block: &[u8], element: Element, place: usize) -> bool {
    let is_literal_next = block.get(element.end).is_some_and(|tag| tag & 3 == 0);
    let ends_fragment = place.saturating_add(element.len).is_multiple_of(FRAGMENT);
    let is_followed = !is_literal_next || element.distance.is_some() || ends_fragment;
    is_followed && Judge { place, is_after_literal: false }.passes(element)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::formats::apitrace::expand::snappy::block::{Effort, salvage, stated_len};
    use crate::formats::apitrace::expand::snappy::judge::Stated;
    use crate::formats::apitrace::expand::snappy::parts::Parts;

    /// Bytes like those of a trace: runs and numbers that rise.
    fn calls(len: usize) -> Vec<u8> {
        let one = |i: u32| [&[0_u8, 7, 3][..], &i.to_le_bytes(), b"glVertex", &[1; 9]].concat();
        (0..).flat_map(one).take(len).collect()
    }

    /// Words of 5 to 8 bytes, each out of a few hundred, and small numbers: most elements are
    /// copies, and bytes are equal by chance as often as in a trace.
    pub(in crate::formats::apitrace::expand::snappy) fn words(len: usize) -> Vec<u8> {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33
        };
        let word = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
        let mut bytes = Vec::new();
        while bytes.len() < len {
            let number = 1 + random() % 300;
            let word = word(number).map(|byte| byte & 15);
            bytes.extend(&word[..5 + to_usize(number % 4)]);
            bytes.push(random().to_le_bytes()[0] & 3);
        }
        bytes
    }

    fn is_plain(block: &[u8]) -> bool {
        let (len, start) = stated_len(block).unwrap();
        let stated = Stated { start, len: to_usize(len), has_end: true };
        Parts::find(block, stated, Work::of(0, block.len())).is_plain()
    }

    #[test]
    fn a_sound_block_has_no_damage_and_zeros_and_noise_are_found() {
        for len in [0, 1, 100, 65_535, 65_536, 65_537, 400_000] {
            let block = snap::raw::Encoder::new().compress_vec(&calls(len)).unwrap();
            assert!(is_plain(&block), "{len}");
        }
        let bytes = calls(400_000);
        let sound = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
        for from in (10..sound.len() - 600).step_by(47_981) {
            for noise in [false, true] {
                let mut block = sound.clone();
                for (index, byte) in block[from..from + 500].iter_mut().enumerate() {
                    let number = index.wrapping_add(from).wrapping_mul(0x9e37_79b1);
                    *byte = if noise { number.to_le_bytes()[2] } else { 0 };
                }
                let (mut out, mut after) = (Vec::new(), Vec::new());
                salvage(&block, &mut out, &mut after, Effort::of(1, 0, &block, true));
                let place = bytes.len() - after.len();
                assert!(place <= out.len(), "{from}: {place}, {}", out.len());
                // The later fragments are as they were.
                let next = (bytes.len() - after.len()).next_multiple_of(FRAGMENT) + FRAGMENT;
                if let Some(wanted) = bytes.get(next..) {
                    assert!(after.ends_with(wanted), "{from} {noise}");
                }
            }
        }
    }

    #[test]
    fn a_copy_with_a_flipped_length_moves_nothing_after_it() {
        let bytes = words(30_000);
        let sound = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
        let (_, mut at) = stated_len(&sound).unwrap();
        let (mut place, mut number, mut flips, mut exact, mut close) = (0, 0, 0, 0, 0);
        while let Some(one) = element(&sound, at) {
            number += 1;
            let is_tried = number > 200 && number % 1_013 == 0 && !one.is_near;
            for bit in (2..8).filter(|_| is_tried && one.distance.is_some()) {
                let mut block = sound.clone();
                block[at] ^= 1 << bit;
                let (mut out, mut after) = (Vec::new(), Vec::new());
                salvage(&block, &mut out, &mut after, Effort::of(1, 0, &block, true));
                out.append(&mut after);
                assert_eq!(out.len(), bytes.len());
                // The bytes that a shorter copy lacks are missing, and so are copies of them.
                let is_right = |(a, b): &(&u8, &u8)| a == b || **a == MISSING;
                let right = out.iter().zip(&bytes).filter(is_right).count();
                flips += 1;
                exact += usize::from(right == bytes.len());
                close += usize::from(right * 100 > bytes.len() * 99);
            }
            (at, place) = (one.end, place + one.len);
        }
        assert_eq!(place, bytes.len());
        assert!(
            exact * 100 > flips * 60 && close * 100 > flips * 90,
            "{exact}, {close} of {flips}"
        );
    }

    #[test]
    fn elements_after_each_of_two_damages_are_read() {
        let bytes = calls(900_000);
        let sound = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
        let mut block = sound.clone();
        for from in [sound.len() / 20, sound.len() * 4 / 5] {
            block[from..from + 300].fill(0xff);
        }
        let (mut out, mut after) = (Vec::new(), Vec::new());
        salvage(&block, &mut out, &mut after, Effort::of(1, 0, &block, true));
        // Between them the place of the bytes is unknown, but not that of copies from one another.
        let (between, last) = (&bytes[200_000..600_000], &bytes[800_000..]);
        let is_kept = |part: &[u8]| after.windows(part.len()).any(|window| window == part);
        assert!(is_kept(&between[..1_000]) && is_kept(&between[399_000..]));
        assert!(after.ends_with(last));
        assert_eq!(out.len() + after.len(), bytes.len());
    }

    #[test]
    fn a_block_of_another_writer_has_no_damaged_part() {
        // Two literals in a row all over the block.
        let mut block = vec![0x90, 0x03];
        block.extend([0, b'a'].repeat(400));
        assert!(is_plain(&block));
    }
}
