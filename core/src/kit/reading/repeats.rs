//! Blocks that are repeated right after themselves, found by their bytes.
//!
//! A rolling hash selects places by their content, so both copies of a block have them at the same
//! bytes. A place whose hash was seen at most [`BLOCK_MAX`] bytes before is compared byte by byte
//! at that distance, and counts if as many bytes in a row are equal as they are apart. Bytes with a
//! period below [`BLOCK_MIN`], such as zeros, find themselves at their period, which is too short;
//! a distance that is known from elsewhere is looked for on its own ([`find_at_distance`],
//! [`find_near`]).

use std::collections::BTreeMap;

use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::steps;

/// Bytes of the smallest block: less is equal by chance too often.
pub const BLOCK_MIN: u64 = 64;
/// Bytes of the largest block that is found by its content alone.
pub const BLOCK_MAX: u64 = 1 << 20;
/// Blocks that are kept; a file with more has repeats of its own.
pub const REPEATS_KEPT: usize = 256;

/// One of so many places is selected by its hash. The hash covers 32 bytes, so the smallest block
/// has two such places.
const SELECTED: u64 = 16;
/// Places that are remembered at most: those of the last [`BLOCK_MAX`] bytes.
const PLACES_MAX: u64 = BLOCK_MAX / SELECTED;
/// Bytes between a fault and the copy that causes it.
const NEAR: u64 = 64;
/// Bytes of a block that are compared at every place.
const NEEDLE: u64 = 32;
/// Bytes that are read at a time.
const STEP: u64 = 4 << 10;

/// A block of `len` bytes at `at`, which is followed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Offset of the first of both.
    pub at: u64,
    /// Length of one.
    pub len: u64,
    /// Bytes in a row that are equal at this distance: at least `len`. Any block of `len` bytes
    /// among them is followed by itself, and dropping it leaves the same bytes.
    pub run: u64,
}

/// The bytes that a search may still read.
#[derive(Clone, Copy, Debug)]
pub struct Allowance(pub u64);

impl Allowance {
    const fn spend(&mut self, bytes: u64) {
        self.0 = self.0.saturating_sub(bytes);
    }

    fn is_spent(&self) -> bool {
        self.0 == 0 || steps::is_spent()
    }
}

/// Returns the blocks of at least [`BLOCK_MIN`] bytes that are followed by themselves, by offset.
pub fn find(source: &Source<'_>, allowance: &mut Allowance) -> Vec<Repeat> {
    let mut search = Search::new(source);
    let mut hash = 0_u64;
    let mut at = 0_u64;
    for piece in source.pieces() {
        for part in piece.chunks(to_usize(STEP)) {
            if allowance.is_spent() || search.found.len() >= REPEATS_KEPT {
                return search.found;
            }
            allowance.spend(to_u64(part.len()));
            steps::count(to_u64(part.len()));
            for byte in part {
                // Each step moves a byte's influence up by two bits, and out after 32 bytes.
                hash = (hash << 2).wrapping_add(mix(*byte));
                at = at.saturating_add(1);
                if hash >> 60 == 0 {
                    search.select(hash, at, allowance);
                }
            }
        }
    }
    search.found
}

/// Returns the runs of bytes that are followed by themselves at a distance of `len`, and are at
/// least as long.
pub fn find_at_distance(source: &Source<'_>, len: u64, allowance: &mut Allowance) -> Vec<Repeat> {
    let (mut found, mut at) = (Vec::new(), 0_u64);
    let last = source.len().saturating_sub(len.saturating_mul(2));
    while len > 0 && at <= last && !allowance.is_spent() && found.len() < REPEATS_KEPT {
        let run = count_equal(source, at, at.saturating_add(len), u64::MAX, allowance);
        if run >= len {
            found.push(Repeat { at, len, run });
        }
        at = at.saturating_add(run).saturating_add(1);
    }
    found
}

/// Returns the block of `len` bytes whose copy begins near `at`, where a fault shows. Such a block
/// may have a short period: its copy breaks the period.
pub fn find_near(
    source: &Source<'_>,
    at: u64,
    len: u64,
    allowance: &mut Allowance,
) -> Option<Repeat> {
    // Inside the copy, if it begins up to so many bytes after the fault.
    let after = at.saturating_add(NEAR);
    let before = after.checked_sub(len)?;
    let most = len.saturating_add(NEAR);
    let left = count_equal_before(source, before, after, most, allowance);
    let right = count_equal(source, before, after, most, allowance);
    let (at, run) = (before.saturating_sub(left), left.saturating_add(right));
    (run >= len).then_some(Repeat { at, len, run })
}

/// Returns whether `len` bytes at `at` repeat a shorter piece of themselves, at least twice: the
/// passes of a loop. Where bytes are lost of more passes, a block is followed by itself as well, so
/// that equal bytes do not tell the two apart. A block longer than [`BLOCK_MAX`] is judged by its
/// beginning.
pub fn is_loop(source: &Source<'_>, at: u64, len: u64) -> bool {
    let block = source.read(at, at.saturating_add(len.min(BLOCK_MAX)));
    steps::count(to_u64(block.len()));
    // Knuth, Morris and Pratt: of each beginning, the longest end that is a beginning as well.
    let mut borders: Vec<usize> = Vec::with_capacity(block.len());
    let mut border = 0_usize;
    for (index, byte) in block.iter().enumerate() {
        while border > 0 && block.get(border) != Some(byte) {
            border = borders.get(border.saturating_sub(1)).copied().unwrap_or(0);
        }
        if index > 0 && block.get(border) == Some(byte) {
            border = border.saturating_add(1);
        }
        borders.push(border);
    }
    // The period is the rest of the block.
    border.saturating_mul(2) >= block.len()
}

/// Returns whether a block that is at two places is also at a third one. Such bytes repeat by
/// nature, like the passes of a loop: the second ones need not be a copy of the first. If the
/// search may not read all bytes, a block counts as such.
pub fn is_elsewhere(
    source: &Source<'_>,
    [at, copy]: [u64; 2],
    len: u64,
    allowance: &mut Allowance,
) -> bool {
    let needle = source.read(at, at.saturating_add(len.min(NEEDLE)));
    let size = to_u64(needle.len());
    if size == 0 || needle.len() < to_usize(len.min(NEEDLE)) {
        return true;
    }
    let mut start = 0_u64;
    while start.saturating_add(len) <= source.len() {
        if allowance.is_spent() {
            return true;
        }
        let end = start.saturating_add(STEP);
        let window = source.read(start, end.saturating_add(size).saturating_sub(1));
        allowance.spend(to_u64(window.len()));
        steps::count(to_u64(window.len()));
        for (place, bytes) in (start..end).zip(window.windows(needle.len())) {
            let is_known = place == at || place == copy;
            if !is_known
                && bytes == &*needle
                && count_equal(source, at, place, len, allowance) >= len
            {
                return true;
            }
        }
        start = end;
    }
    false
}

/// Spreads the values of a byte over a word (the constant is that of `SplitMix64`).
const fn mix(byte: u8) -> u64 {
    let word = u64::from_le_bytes([byte, 1, 0, 0, 0, 0, 0, 0]).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (word ^ (word >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// The places that were selected, and the blocks that were found.
struct Search<'s, 'a> {
    source: &'s Source<'a>,
    /// Hash and offset of selected places; a later one replaces an earlier one.
    places: Vec<(u64, u64)>,
    /// The end of what was compared, by distance.
    compared: BTreeMap<u64, u64>,
    found: Vec<Repeat>,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(source: &'s Source<'a>) -> Self {
        let places = (source.len() / SELECTED).clamp(64, PLACES_MAX).next_power_of_two();
        let (places, compared) = (vec![(0, 0); to_usize(places)], BTreeMap::new());
        Self { source, places, compared, found: Vec::new() }
    }

    /// Notes the place `at`, and compares it with the last one of the same hash.
    fn select(&mut self, hash: u64, at: u64, allowance: &mut Allowance) {
        let mask = to_u64(self.places.len()).saturating_sub(1);
        let Some(slot) = self.places.get_mut(to_usize((hash >> 20) & mask)) else { return };
        let (other, before) = std::mem::replace(slot, (hash, at));
        let distance = at.saturating_sub(before);
        if other != hash || before == 0 || !(BLOCK_MIN..=BLOCK_MAX).contains(&distance) {
            return;
        }
        if self.compared.get(&distance).is_none_or(|end| *end < at) {
            self.compare(before, distance, allowance);
        }
    }

    /// Compares the bytes around `before` with those at `distance` from them.
    fn compare(&mut self, before: u64, distance: u64, allowance: &mut Allowance) {
        let after = before.saturating_add(distance);
        let left = count_equal_before(self.source, before, after, distance, allowance);
        let right = count_equal(self.source, before, after, distance, allowance);
        self.compared.insert(distance, after.saturating_add(right));
        let (at, run) = (before.saturating_sub(left), left.saturating_add(right));
        if run < distance {
            return;
        }
        match self.found.iter_mut().rev().find(|one| one.len == distance) {
            Some(one) if at <= one.at.saturating_add(one.run) => {
                one.run = at.saturating_add(run).saturating_sub(one.at);
            }
            _ => self.found.push(Repeat { at, len: distance, run }),
        }
    }
}

/// Counts the equal bytes from two offsets on, up to `most`.
fn count_equal(
    source: &Source<'_>,
    one: u64,
    two: u64,
    most: u64,
    allowance: &mut Allowance,
) -> u64 {
    let mut count = 0_u64;
    while count < most && !allowance.is_spent() {
        let len = STEP.min(most.saturating_sub(count));
        let read = |at: u64| {
            let at = at.saturating_add(count);
            source.read(at, at.saturating_add(len))
        };
        let (one, two) = (read(one), read(two));
        let equal = to_u64(one.iter().zip(two.iter()).take_while(|(one, two)| one == two).count());
        allowance.spend(equal.saturating_add(1));
        count = count.saturating_add(equal);
        if equal < len {
            break;
        }
    }
    count
}

/// Counts the equal bytes before two offsets, up to `most`.
fn count_equal_before(
    source: &Source<'_>,
    one: u64,
    two: u64,
    most: u64,
    allowance: &mut Allowance,
) -> u64 {
    let (mut count, most) = (0_u64, most.min(one));
    while count < most && !allowance.is_spent() {
        let len = STEP.min(most.saturating_sub(count));
        let read = |at: u64| {
            let end = at.saturating_sub(count);
            source.read(end.saturating_sub(len), end)
        };
        let (one, two) = (read(one), read(two));
        let pairs = one.iter().rev().zip(two.iter().rev());
        let equal = to_u64(pairs.take_while(|(one, two)| one == two).count());
        allowance.spend(equal.saturating_add(1));
        count = count.saturating_add(equal);
        if equal < len {
            break;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes without a period.
    fn noise(len: usize) -> Vec<u8> {
        let mut state = 7_u64;
        let next = |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        };
        (0..len).map(next).collect()
    }

    fn found(bytes: &[u8]) -> Vec<Repeat> {
        find(&Source::new(bytes), &mut Allowance(u64::MAX))
    }

    fn doubled(bytes: &[u8], at: usize, len: usize) -> Vec<u8> {
        [&bytes[..at + len], &bytes[at..]].concat()
    }

    #[test]
    fn a_block_is_a_loop_if_it_has_two_passes() {
        let pass = noise(1_000);
        let has_passes = |bytes: &[u8]| is_loop(&Source::new(bytes), 0, to_u64(bytes.len()));
        assert!(!has_passes(&pass));
        assert!(!has_passes(&[&pass[..], &pass[..999]].concat()));
        assert!(has_passes(&[&pass[..], &pass[..]].concat()));
        assert!(has_passes(&[&pass[..], &pass[..], &pass[..7]].concat()));
        assert!(has_passes(&pass[..6].repeat(86)[..512]));
        assert!(has_passes(&[0; 512]));
    }

    #[test]
    fn a_doubled_block_of_any_length_is_found_at_any_place() {
        let bytes = noise(20_000);
        assert_eq!(found(&bytes), []);
        for (at, len) in [(0, 512), (1, 513), (777, 4_096), (12_001, 7_999), (3, 10_000)] {
            let twice = doubled(&bytes, at, len);
            let [one] = found(&twice)[..] else { panic!("{at} {len}: {:?}", found(&twice)) };
            let (start, end) = (to_usize(one.at), to_usize(one.at + one.len));
            assert_eq!(to_usize(one.len), len);
            assert_eq!([&twice[..start], &twice[end..]].concat(), bytes, "{at} {len}");
        }
    }

    #[test]
    fn bytes_of_a_short_period_are_not_blocks_unless_the_distance_is_known() {
        let zeros = vec![0; 9_000];
        assert_eq!(found(&zeros), []);
        let repeats = |len| find_at_distance(&Source::new(&zeros), len, &mut Allowance(u64::MAX));
        assert_eq!(repeats(512), [Repeat { at: 0, len: 512, run: 9_000 - 512 }]);
        assert_eq!(repeats(4_501), []);
        assert_eq!(repeats(0), []);
    }

    #[test]
    fn a_copy_that_breaks_a_period_is_found_by_its_place() {
        let period: Vec<u8> = b"abcdef".iter().copied().cycle().take(3_000).collect();
        let twice = doubled(&period, 1_000, 512);
        assert_eq!(found(&twice), []);
        let near = |at| find_near(&Source::new(&twice), at, 512, &mut Allowance(u64::MAX));
        let repeat = Repeat { at: 1_000, len: 512, run: 512 };
        assert_eq!([1_500, 1_512, 1_600].map(near), [Some(repeat); 3]);
        assert_eq!([300, 2_300].map(near), [None; 2]);
    }

    #[test]
    fn a_block_that_is_repeated_many_times_is_one_run() {
        let bytes = [noise(300), noise(300), noise(300), noise(300)].concat();
        assert_eq!(found(&bytes), [Repeat { at: 0, len: 300, run: 900 }]);
    }

    #[test]
    fn a_block_of_a_loop_is_also_elsewhere() {
        let is_loop = |bytes: &[u8], at, len| {
            is_elsewhere(&Source::new(bytes), [at, at + len], len, &mut Allowance(u64::MAX))
        };
        assert!(!is_loop(&doubled(&noise(20_000), 4_000, 512), 4_000, 512));
        assert!(is_loop(&[&noise(512)[..]; 3].concat(), 0, 512));
        // A pass of 600 bytes lost 90: the 510 before are also after them.
        let passes = [&noise(600)[..]; 4].concat();
        let lost = [&passes[..1_000], &passes[1_090..]].concat();
        assert_eq!(found(&lost).iter().filter(|one| one.len == 510).count(), 1);
        assert!(is_loop(&lost, 490, 510));
        let apart = [noise(4_000), vec![1; 5_000], noise(4_000)].concat();
        assert!(is_loop(&doubled(&apart, 100, 512), 100, 512));
        assert!(is_elsewhere(&Source::new(&noise(99)), [9, 29], 20, &mut Allowance(0)));
    }

    #[test]
    fn the_search_reads_no_more_than_it_may() {
        let bytes = doubled(&noise(20_000), 9_000, 4_096);
        let mut allowance = Allowance(5_000);
        assert_eq!(find(&Source::new(&bytes), &mut allowance), []);
        assert_eq!(allowance.0, 0);
    }
}
