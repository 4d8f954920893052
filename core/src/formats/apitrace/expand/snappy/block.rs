//! Raw snappy blocks (snappy's `format_description.txt`), complete or as far as they are sound.
//!
//! ```text
//! block   := expanded length (LEB128), element*
//! element := tag with kind 0, [length], literal bytes
//!          | tag with kind 1 to 3, distance: copies bytes that precede it
//! ```

use super::elements::{Elements, MISSING};
use super::judge::{FRAGMENT, Stated};
use super::known;
use super::leaves::count_leaves;
use super::parts::Parts;
use super::regular::{Second, find_second, is_cut};
use super::work::Work;
use crate::formats::apitrace::layout::{CHUNK_EXPANDED, CHUNK_PLAUSIBLE, CHUNK_STORED_MAX};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::ranges::Ranges;
use crate::kit::words::byte_count;

/// At most one in so many bytes differs where a part of a block was written twice. In doubled parts
/// of 16 to 128 KiB of recorded chunks, 64 of 82 had fewer unequal bytes; the others had up to 37 %
/// (copies reach other bytes), and are taken for a second chunk. In second chunks, compared in the
/// same way, at least 72 % differed; calls that are more alike may differ in fewer.
const UNEQUAL_PART: usize = 64;

/// Bytes after the lost beginning of a block from which elements are read: those that are read from
/// a wrong place meet the right ones within some dozens of bytes, unless one of them is a long
/// literal. Damage ends in a page or two.
const STARTS: [usize; 13] = [0, 1, 2, 3, 5, 8, 13, 21, 512, 4 << 10, 8 << 10, 16 << 10, 32 << 10];

/// A block is not so many times longer than what it expands to, even with the next chunk after it.
const LONGER: u64 = 4;

/// Damaged blocks of a file of which the first element is searched for: each takes up to 80 ms, and
/// a beginning is lost at the beginning of a file, or where bytes were.
pub(super) const START_SEARCHES: usize = 4;

/// The searches that a damaged block is worth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Whether the place is searched from which a block without its beginning is read.
    finds_start: bool,
    /// Whether the file goes on up to the end of the block.
    has_end: bool,
    /// See [`Parts::find`].
    work: Work,
}

impl Effort {
    /// The searches for the last of so many damaged blocks of a file, which is at an offset.
    pub(super) fn of(damaged: usize, at: u64, block: &[u8], has_end: bool) -> Self {
        let finds_start = damaged <= START_SEARCHES;
        Self { finds_start, has_end, work: Work::of(at, block.len()) }
    }
}

/// A damaged block, besides the bytes that it expands to.
pub(super) struct Salvaged {
    /// Its fault.
    pub(super) detail: String,
    /// Where the fragment with the last damage ends, if the bytes after it are at their places.
    pub(super) certain_from: Option<usize>,
    /// See [`Block::made_up`](super::Block::made_up): places among the bytes after the fault.
    pub(super) made_up: Ranges,
}

/// Returns the expanded length that a block states, and how many bytes state it.
pub(super) fn stated_len(block: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for (index, byte) in block.iter().take(5).enumerate() {
        let shift = u32::try_from(index.saturating_mul(7)).ok()?;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            let is_small = value <= u64::from(u32::MAX);
            return is_small.then_some((value, index.saturating_add(1)));
        }
    }
    None
}

/// Returns how many bytes `stored` bytes can expand to at most: a copy of 64 bytes takes three.
pub(super) const fn expanded_max(stored: u64) -> u64 {
    stored.saturating_mul(22).saturating_add(64)
}

/// Expands a complete block; `false` if it is not sound to its end.
pub(super) fn expand(block: &[u8], out: &mut Vec<u8>) -> bool {
    let Some((len, _)) = stated_len(block) else { return false };
    // Bounded before it is reserved.
    if len > CHUNK_PLAUSIBLE || len > expanded_max(to_u64(block.len())) {
        return false;
    }
    // Bytes of an earlier block are overwritten: zeros would be written for nothing.
    out.resize(to_usize(len), 0);
    let expanded = snap::raw::Decoder::new().decompress(block, out);
    expanded == Ok(to_usize(len))
}

/// Expands a block that the file ends in, if nothing is wrong with it but that its last bytes are
/// missing.
pub(super) fn expand_cut(block: &[u8], out: &mut Vec<u8>) -> bool {
    let Some((len, at)) = stated_len(block).filter(|(len, _)| *len <= CHUNK_EXPANDED) else {
        return false;
    };
    out.clear();
    let len = to_usize(len);
    let mut elements = Elements { block, at, len, missing: None };
    let is_sound = is_cut(block, at, to_u64(len))
        && elements.expand(out).is_some_and(|fault| fault.element.is_none());
    is_sound && out.len() < len
}

/// Expands a block up to its first fault, which is returned.
pub(super) fn expand_sound(block: &[u8], out: &mut Vec<u8>) -> String {
    out.clear();
    let (len, at) = stated_len(block).unwrap_or((0, 0));
    let len = to_usize(len.min(CHUNK_EXPANDED));
    let fault = Elements { block, at, len, missing: None }.expand(out);
    fault.map_or_else(String::new, |fault| fault.detail)
}

/// Expands the sound part of a block that may state any length, to at most the bytes of a chunk.
/// The bytes after an invalid element go to `after_fault`, and so do those of a second chunk whose
/// header is lost.
pub(super) fn salvage(
    block: &[u8],
    out: &mut Vec<u8>,
    after_fault: &mut Vec<u8>,
    effort: Effort,
) -> Salvaged {
    let most = to_usize(CHUNK_EXPANDED);
    // The elements may be sound where the length is not: a block of unknown length is read to its
    // end, from the place that leads to most calls.
    let read = stated_len(block);
    let held = to_u64(block.len());
    let holds_block = |len: u64| len.saturating_add(32).saturating_mul(LONGER) > held;
    let (stated, mut skip) =
        read.filter(|(len, _)| *len > 0 && holds_block(*len)).unwrap_or((u64::MAX, 0));
    let len = to_usize(stated);
    if len > most && effort.finds_start {
        skip = find_start(block, skip);
    }
    let mut elements = Elements { block, at: skip, len: len.min(most), missing: None };
    let fault = elements.expand(out);
    let second = find_second(block, skip, stated);
    let (mut certain_from, mut made_up) = (None, Ranges::default());
    if let Some(second) = second.filter(|second| !is_doubled(block, out, len, *second)) {
        out.truncate(second.place);
        let mut rest = Elements::lenient(block, second.resume, most);
        drop(rest.expand(after_fault));
    } else if let Some(element) = fault.as_ref().map(|fault| fault.element) {
        let is_plausible = len <= most && to_u64(block.len()) <= CHUNK_STORED_MAX;
        let stated = Stated { start: skip, len, has_end: effort.has_end };
        let parts = is_plausible.then(|| known::parts(block, stated, effort.work));
        if let Some(parts) = parts.filter(|parts| !parts.is_plain()) {
            made_up = expand_parts(block, &parts, out, after_fault);
            let is_whole = out.len().saturating_add(after_fault.len()) == len;
            certain_from = is_whole.then(|| fragment_end(parts.last_place()));
        } else if let Some(element) = element {
            // Copies reach back to the bytes before them.
            let sound = out.len();
            let mut rest = Elements::lenient(block, element, most);
            drop(rest.expand(out));
            after_fault.extend(out.drain(sound..));
        }
    }
    let detail = match fault {
        _ if read.is_none() => "the block has an invalid length".to_string(),
        _ if stated == u64::MAX => {
            let len = read.map_or(0, |(len, _)| len);
            format!("the block length is {len}, too small for its {}", byte_count(held))
        }
        _ if len > most => format!("the block length is {len}, expected at most {most}"),
        Some(fault) => fault.detail,
        None => "the block decodes to another length than it states".to_string(),
    };
    Salvaged { detail, certain_from, made_up }
}

/// Expands the parts of a block. Bytes up to the first damage are those of `out`, the others go to
/// `after_fault`. Returns which of these stand for lost ones.
fn expand_parts(
    block: &[u8],
    parts: &Parts,
    out: &mut Vec<u8>,
    after_fault: &mut Vec<u8>,
) -> Ranges {
    // A byte that depends on what stands for the missing ones is one of them, or a copy.
    let again = parts.expand(block, !MISSING);
    let found = parts.expand(block, MISSING);
    let pairs = out.iter().zip(&found).zip(&again).take(parts.first_len().unwrap_or(found.len()));
    let sound = pairs.take_while(|((a, b), c)| a == b && b == c).count();
    *out = found;
    *after_fault = out.split_off(sound);
    differing(after_fault, again.get(sound..).unwrap_or_default())
}

/// Returns where the elements of a block without its beginning are read from.
fn find_start(block: &[u8], skip: usize) -> usize {
    // Zeros are elements of one byte each, which hide those after them.
    let zeros = block.iter().take_while(|byte| **byte == 0).count();
    let from = skip.max(zeros);
    let leaves = |start: usize| {
        let mut out = Vec::new();
        drop(Elements::lenient(block, start, to_usize(CHUNK_EXPANDED)).expand(&mut out));
        count_leaves(&out)
    };
    let starts = STARTS.into_iter().map(|distance| from.saturating_add(distance));
    let best = starts.rev().max_by_key(|start| leaves(*start));
    best.unwrap_or(from)
}

/// Returns where the fragment ends that has the byte before a place.
fn fragment_end(place: usize) -> usize {
    place.checked_next_multiple_of(FRAGMENT).unwrap_or(place)
}

/// Returns where two sequences of bytes differ.
fn differing(one: &[u8], other: &[u8]) -> Ranges {
    let (mut ranges, mut from) = (Ranges::default(), None);
    let pairs = one.iter().zip(other).map(|(a, b)| a != b).chain([false]);
    for (at, differs) in pairs.enumerate() {
        match from {
            None if differs => from = Some(at),
            Some(first) if !differs => {
                ranges.add(to_u64(first), to_u64(at.saturating_sub(1)));
                from = None;
            }
            _ => {}
        }
    }
    ranges
}

/// Whether the elements that look like a second chunk give the bytes before them once more: then a
/// part of a block of `len` bytes was written twice.
fn is_doubled(block: &[u8], out: &[u8], len: usize, second: Second) -> bool {
    let Some(from) = len.checked_sub(second.expanded) else { return false };
    let mut again = out.get(..from).unwrap_or_default().to_vec();
    let mut rest = Elements::lenient(block, second.resume, second.place);
    drop(rest.expand(&mut again));
    let pairs = again.iter().zip(out).skip(from);
    let unequal = pairs.filter(|(a, b)| a != b).count();
    unequal <= second.place.saturating_sub(from) / UNEQUAL_PART
}

/// Returns where `block` has a literal with the bytes that expand to those at `at`, if replacing
/// them by `bytes` changes nothing else that it expands to.
pub(super) fn find_literal(block: &[u8], at: usize, bytes: &[u8]) -> Option<usize> {
    let mut expanded = Vec::new();
    if !expand(block, &mut expanded) {
        return None;
    }
    let place = literal_at(block, at, bytes.len())?;
    let mut patched = block.to_vec();
    patched.get_mut(place..place.saturating_add(bytes.len()))?.copy_from_slice(bytes);
    expanded.get_mut(at..at.saturating_add(bytes.len()))?.copy_from_slice(bytes);
    let mut again = Vec::new();
    (expand(&patched, &mut again) && again == expanded).then_some(place)
}

/// Returns where `block` stores the `len` bytes at `at` of what it expands to, if a literal holds
/// them.
fn literal_at(block: &[u8], at: usize, len: usize) -> Option<usize> {
    let (stated, skip) = stated_len(block)?;
    let mut elements = Elements { block, at: skip, len: to_usize(stated), missing: None };
    let mut out = Vec::new();
    while let Some(tag) = block.get(elements.at).copied() {
        let before = out.len();
        let from = elements.at;
        if tag & 3 != 0 {
            elements.expand_copy(tag, &mut out).ok()?;
        } else {
            elements.expand_literal(tag, &mut out).ok()?;
        }
        if out.len() > at {
            let begins = elements.at.checked_sub(out.len().checked_sub(before)?)?;
            let is_held = tag & 3 == 0 && at >= before && at.saturating_add(len) <= out.len();
            let place = begins.saturating_add(at.checked_sub(before)?);
            return (is_held && begins > from).then_some(place);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::regular::tests::words;
    use super::*;

    #[test]
    fn a_prefix_of_a_block_expands_to_a_prefix_of_its_bytes() {
        let bytes: Vec<u8> = (0..5000_u32).flat_map(|i| (i / 7 % 251).to_le_bytes()).collect();
        let block = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
        let expand = |block: &[u8], out: &mut Vec<u8>| {
            let (len, at) = stated_len(block)?;
            Elements { block, at, len: to_usize(len), missing: None }.expand(out)
        };
        let mut out = Vec::new();
        assert_eq!(expand(&block, &mut out), None);
        assert_eq!(out, bytes);
        let mut longest = 0;
        let (_, length_len) = stated_len(&block).unwrap();
        assert!((0..length_len).all(|end| stated_len(&block[..end]).is_none()));
        for end in length_len..block.len() {
            out.clear();
            assert!(expand(&block[..end], &mut out).is_some_and(|fault| fault.element.is_none()));
            assert!(bytes.starts_with(&out) && out.len() >= longest);
            longest = out.len();
        }
        assert!(longest + 64 > bytes.len());
    }

    #[test]
    fn wrong_bytes_after_a_damage_lie_in_its_fragment_and_most_are_said_to_be_lost() {
        let bytes = words(200_000);
        let sound = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
        let (mut said, mut wrong, mut certain) = (0, 0, 0);
        for at in (1_000..sound.len() - 100).step_by(sound.len() / 10) {
            let mut block = sound.clone();
            block[at..at + 40].fill(0xff);
            let (mut out, mut after_fault) = (Vec::new(), Vec::new());
            let salvaged =
                salvage(&block, &mut out, &mut after_fault, Effort::of(1, 0, &block, true));
            let Some(from) = salvaged.certain_from else { continue };
            assert_eq!(out.len() + after_fault.len(), bytes.len());
            for (place, found) in after_fault.iter().enumerate() {
                let (one, in_block) = (to_u64(place), out.len() + place);
                certain += usize::from(in_block >= from);
                if *found != bytes[in_block] {
                    assert!(in_block < from, "damage at {at}, byte {in_block}");
                    said += usize::from(salvaged.made_up.has_any_of(one, one));
                    wrong += 1;
                }
            }
        }
        let counts = format!("{said} of {wrong} wrong bytes said to be lost, {certain} certain");
        assert!(wrong > 1_000 && certain > 100 * wrong && said * 10 > wrong * 9, "{counts}");
    }

    #[test]
    fn a_doubled_part_may_differ_in_a_few_bytes_only() {
        let out: Vec<u8> = (0..4_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        // The last 1,000 bytes again, as a literal, of which one in `step` is another one.
        let is_doubled_with = |step: usize| {
            let mut literal = out[3_000..].to_vec();
            literal.iter_mut().step_by(step).for_each(|byte| *byte ^= 0x55);
            let block = [&[61 << 2, 0xe7, 0x03], literal.as_slice()].concat();
            let second = Second { place: 4_000, resume: 0, expanded: 1_000 };
            is_doubled(&block, &out, 4_000, second)
        };
        assert_eq!([100, 3, 1].map(is_doubled_with), [true, false, false]);
    }

    #[test]
    fn a_block_that_states_more_than_it_can_hold_is_refused_before_any_memory() {
        let mut out = Vec::new();
        assert!(!expand(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0, 1], &mut out));
        assert!(!expand(&[0x80, 0x80, 0x40, 0, 1], &mut out));
        assert_eq!(out.capacity(), 0);
    }
}
