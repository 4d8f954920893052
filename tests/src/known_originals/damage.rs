//! Independent damages of a recording, and the bytes of the original that they spare.
//!
//! Each byte of the damaged recording knows its offset in the original, or that it is foreign.
//! Damages are applied one after another, so a later one may hit the bytes of an earlier one.

use std::ops::Range;

use super::{Dice, Files};

/// Greatest number of damages of a recording.
const STEPS_MAX: usize = 8;
/// Greatest number of bytes that a damage touches, except a cut.
const BLOCK_MAX: usize = 4096;
/// Origin of a byte that the original does not have.
const FOREIGN: u64 = u64::MAX;

/// A kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One bit is inverted.
    Bit,
    /// One to eight bytes have other values.
    Bytes,
    /// A run of zeros replaces bytes.
    Zeros,
    /// A run of 0xff replaces bytes.
    Ones,
    /// A run of random bytes replaces bytes.
    Noise,
    /// An aligned page is zero.
    Page,
    /// A block is missing.
    Drop,
    /// A block is there twice.
    Double,
    /// Two blocks of one length have changed places.
    Swap,
    /// A block of random bytes is inserted.
    Insert,
    /// The end is missing: at most half of the file.
    Cut,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::Bit,
        Self::Bytes,
        Self::Zeros,
        Self::Ones,
        Self::Noise,
        Self::Page,
        Self::Drop,
        Self::Double,
        Self::Swap,
        Self::Insert,
        Self::Cut,
    ];
}

/// A damage that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The kind.
    pub kind: Kind,
    /// Index of the file.
    pub file: usize,
    /// Offset in the file as the damages before left it.
    pub at: usize,
    /// Ranges of the original that it touched; an empty range is a place between two bytes.
    pub touched: Vec<Range<usize>>,
}

/// Adjoining bytes of the original that adjoin in the damaged file as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Offset in the damaged file.
    pub at: usize,
    /// Place in the original.
    pub original: Range<usize>,
}

/// A damaged recording.
#[derive(Clone, Debug, Default)]
pub struct Damaged {
    /// The files.
    pub files: Files,
    /// The spared segments of each file, in order.
    pub segments: Vec<Vec<Segment>>,
    /// The damages.
    pub steps: Vec<Step>,
}

impl Damaged {
    fn of(original: &Files, files: Vec<Tracked>, steps: Vec<Step>) -> Self {
        let segments = files.iter().map(Tracked::segments).collect();
        let named = original.iter().zip(files);
        let files = named.map(|((name, _), file)| (name.clone(), file.bytes)).collect();
        Self { files, segments, steps }
    }

    /// Returns whether all bytes of a range of the original are still there, side by side.
    pub fn spares(&self, file: usize, range: &Range<usize>) -> bool {
        let segments = &self.segments[file];
        let next = segments.partition_point(|segment| segment.original.start <= range.start);
        let held = next.checked_sub(1).and_then(|place| segments.get(place));
        held.is_some_and(|segment| segment.original.end >= range.end)
    }

    /// Returns the offset in the original of a byte of a damaged file.
    pub fn origin(&self, file: usize, at: usize) -> Option<usize> {
        let segments = &self.segments[file];
        let next = segments.partition_point(|segment| segment.at <= at);
        let held = segments.get(next.checked_sub(1)?)?;
        let origin = held.original.start + (at - held.at);
        (origin < held.original.end).then_some(origin)
    }

    /// Returns the first offset of a file at which it differs from the original.
    pub fn first_damage(&self, file: usize) -> usize {
        let first = self.segments[file].first();
        let first = first.filter(|segment| segment.at == 0 && segment.original.start == 0);
        first.map_or(0, |segment| segment.original.end)
    }

    /// Describes the damages in one line.
    pub fn describe(&self) -> String {
        let step = |step: &Step| {
            let ranges: Vec<String> = step
                .touched
                .iter()
                .map(|range| format!("{:#x}..{:#x}", range.start, range.end))
                .collect();
            format!("{:?} file {} {}", step.kind, step.file, ranges.join(" "))
        };
        self.steps.iter().map(step).collect::<Vec<_>>().join("; ")
    }
}

/// A file with the origin of each byte.
struct Tracked {
    bytes: Vec<u8>,
    origins: Vec<u64>,
}

/// Damages a recording: every other time by one damage, else by up to eight.
pub fn damage(original: &Files, dice: &mut Dice<'_>) -> Damaged {
    let mut files: Vec<Tracked> = original.iter().map(Tracked::new).collect();
    let count = if dice.below(2) == 0 { 1 } else { 1 + dice.below(STEPS_MAX) };
    let mut steps = Vec::new();
    // A damage may happen to change nothing: zeros over zeros.
    for _ in 0..4 * STEPS_MAX {
        if steps.len() == count {
            break;
        }
        let kind = Kind::ALL[dice.below(Kind::ALL.len())];
        let file = dice.below(files.len());
        if let Some((at, touched)) = files[file].apply(kind, dice) {
            steps.push(Step { kind, file, at, touched });
        }
    }
    Damaged::of(original, files, steps)
}

/// Attempts per damage to find a place where it changes a byte.
const TRIES: usize = 64;

/// Damages a recording by one step after another, each of a kind, at places that the dice choose: a
/// file gets its share of them by its size. `None` if a step changes no byte in any of 64 places.
pub fn damage_by(original: &Files, kinds: &[Kind], dice: &mut Dice<'_>) -> Option<Damaged> {
    let mut files: Vec<Tracked> = original.iter().map(Tracked::new).collect();
    let mut steps = Vec::new();
    for kind in kinds {
        let step = (0..TRIES).find_map(|_| {
            let file = file_at(&files, dice);
            let (at, touched) = files[file].apply(*kind, dice)?;
            Some(Step { kind: *kind, file, at, touched })
        });
        steps.push(step?);
    }
    Some(Damaged::of(original, files, steps))
}

/// Returns the file of a byte that the dice choose.
fn file_at(files: &[Tracked], dice: &mut Dice<'_>) -> usize {
    let mut at = dice.below(files.iter().map(|file| file.bytes.len()).sum());
    let holds = |file: &Tracked| {
        let is_here = at < file.bytes.len();
        at = at.saturating_sub(file.bytes.len());
        is_here
    };
    files.iter().position(holds).unwrap_or(0)
}

/// Damages one file of a recording once, `len` bytes at `at`; `None` if no byte changes.
pub fn damage_once(
    original: &Files,
    kind: Kind,
    file: usize,
    place: (usize, usize),
    dice: &mut Dice<'_>,
) -> Option<Damaged> {
    damage_at(original, &[(kind, file, place)], dice)
}

/// Damages a recording by one step after another, each of a kind, in a file, `len` bytes at `at`;
/// `None` if one of them changes no byte.
pub fn damage_at(
    original: &Files,
    steps: &[(Kind, usize, (usize, usize))],
    dice: &mut Dice<'_>,
) -> Option<Damaged> {
    let mut files: Vec<Tracked> = original.iter().map(Tracked::new).collect();
    let apply = |(kind, file, (at, len)): &(Kind, usize, (usize, usize))| {
        let (at, touched) = files[*file].apply_at(*kind, *at, *len, dice)?;
        Some(Step { kind: *kind, file: *file, at, touched })
    };
    let steps = steps.iter().map(apply).collect::<Option<Vec<Step>>>()?;
    Some(Damaged::of(original, files, steps))
}

impl Tracked {
    fn new((_, bytes): &(String, Vec<u8>)) -> Self {
        Self { bytes: bytes.clone(), origins: (0..bytes.len() as u64).collect() }
    }

    /// Applies a damage; returns its place and what it touched, or `None` if no byte changed.
    fn apply(&mut self, kind: Kind, dice: &mut Dice<'_>) -> Option<(usize, Vec<Range<usize>>)> {
        let len = self.bytes.len();
        if len < 2 {
            return None;
        }
        // A small recording gets small damage: eight of them leave half of it.
        let block = 1 + dice.below(BLOCK_MAX.min(len / 16).max(1));
        let at = dice.below(len - block + 1);
        self.apply_at(kind, at, block, dice)
    }

    /// Applies a damage of `block` bytes at `at`.
    fn apply_at(
        &mut self,
        kind: Kind,
        at: usize,
        block: usize,
        dice: &mut Dice<'_>,
    ) -> Option<(usize, Vec<Range<usize>>)> {
        let len = self.bytes.len();
        match kind {
            Kind::Bit => {
                let byte = self.bytes[at] ^ (1 << dice.below(8));
                self.overwrite(at, &[byte])
            }
            Kind::Bytes => {
                let new = dice.noise(block.min(8));
                self.overwrite(at, &new)
            }
            Kind::Zeros => self.overwrite(at, &vec![0; block]),
            Kind::Ones => self.overwrite(at, &vec![0xff; block]),
            Kind::Noise => {
                let new = dice.noise(block);
                self.overwrite(at, &new)
            }
            Kind::Page => {
                let page = BLOCK_MAX.min((len / 8).next_power_of_two() / 2).max(1);
                let at = at / page * page;
                self.overwrite(at, &vec![0; page.min(len - at)])
            }
            Kind::Drop => self.splice(at..at + block, &[]),
            Kind::Double => {
                let again = self.bytes[at..at + block].to_vec();
                self.splice(at + block..at + block, &again)
            }
            Kind::Swap => self.swap(at, dice.below(len - block + 1), block),
            Kind::Insert => {
                let new = dice.noise(block);
                self.splice(at..at, &new)
            }
            Kind::Cut => self.splice(len - 1 - dice.below(len / 2)..len, &[]),
        }
    }

    fn overwrite(&mut self, at: usize, new: &[u8]) -> Option<(usize, Vec<Range<usize>>)> {
        let old = &self.bytes[at..at + new.len()];
        let first = old.iter().zip(new).position(|(old, new)| old != new)?;
        let last = old.iter().zip(new).rposition(|(old, new)| old != new)?;
        let range = at + first..at + last + 1;
        let touched = self.touched(range.clone());
        self.bytes[range.clone()].copy_from_slice(&new[first..=last]);
        self.origins[range].fill(FOREIGN);
        Some((at + first, touched))
    }

    fn splice(&mut self, range: Range<usize>, new: &[u8]) -> Option<(usize, Vec<Range<usize>>)> {
        let touched = self.touched(range.clone());
        self.bytes.splice(range.clone(), new.iter().copied());
        self.origins.splice(range.clone(), new.iter().map(|_| FOREIGN));
        Some((range.start, touched))
    }

    fn swap(&mut self, one: usize, two: usize, len: usize) -> Option<(usize, Vec<Range<usize>>)> {
        let (one, two) = (one.min(two), one.max(two));
        let (first, second) = (one..one + len, two..two + len);
        if first.end > second.start || self.bytes[first.clone()] == self.bytes[second.clone()] {
            return None;
        }
        let touched = [self.touched(first.clone()), self.touched(second.clone())].concat();
        let (before, after) = self.bytes.split_at_mut(two);
        before[first.clone()].swap_with_slice(&mut after[..len]);
        self.origins[first].fill(FOREIGN);
        self.origins[second].fill(FOREIGN);
        Some((one, touched))
    }

    /// Returns the ranges of the original that a range of the file holds.
    fn touched(&self, range: Range<usize>) -> Vec<Range<usize>> {
        if range.is_empty() {
            let before = self.origins[..range.start].iter().rev().find(|from| **from != FOREIGN);
            let place = before.map_or(0, |from| *from as usize + 1);
            return std::iter::once(place..place).collect();
        }
        runs(&self.origins[range]).into_iter().map(|segment| segment.original).collect()
    }

    fn segments(&self) -> Vec<Segment> {
        runs(&self.origins)
    }
}

/// Returns the runs of ascending origins.
fn runs(origins: &[u64]) -> Vec<Segment> {
    let mut found: Vec<Segment> = Vec::new();
    for (at, origin) in origins.iter().enumerate() {
        if *origin == FOREIGN {
            continue;
        }
        let origin = *origin as usize;
        match found.last_mut() {
            Some(last) if last.original.end == origin && last.at + last.original.len() == at => {
                last.original.end = origin + 1;
            }
            _ => found.push(Segment { at, original: origin..origin + 1 }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tracked() -> Tracked {
        Tracked { bytes: (0..20).collect(), origins: (0..20).collect() }
    }

    fn one(range: Range<usize>) -> Vec<Range<usize>> {
        std::iter::once(range).collect()
    }

    fn places(file: &Tracked) -> Vec<(usize, Range<usize>)> {
        file.segments().into_iter().map(|segment| (segment.at, segment.original)).collect()
    }

    #[test]
    fn segments_are_the_bytes_that_no_damage_touched_and_where_they_are_now() {
        let mut file = tracked();
        assert_eq!(file.overwrite(3, &[3, 99, 5, 98, 7]), Some((4, one(4..7))));
        assert_eq!(file.splice(10..12, &[]), Some((10, one(10..12))));
        assert_eq!(file.splice(12..12, &[1, 2, 3]), Some((12, one(14..14))));
        assert_eq!(places(&file), [(0, 0..4), (7, 7..10), (10, 12..14), (15, 14..20)]);
        let mut file = tracked();
        assert_eq!(file.swap(12, 2, 3), Some((2, vec![2..5, 12..15])));
        assert_eq!(places(&file), [(0, 0..2), (5, 5..12), (15, 15..20)]);
        assert_eq!(file.overwrite(0, &[0, 1]), None);
    }

    #[test]
    fn a_range_is_spared_if_one_segment_holds_it() {
        let mut file = tracked();
        file.splice(10..10, &[7]);
        file.splice(15..16, &[]);
        let segments = vec![file.segments()];
        let damaged = Damaged { segments, ..Damaged::default() };
        let spared = [0..10, 10..14, 15..20].map(|range| damaged.spares(0, &range));
        assert_eq!(spared, [true; 3]);
        let touched = [9..11, 13..15, 14..15, 14..16].map(|range| damaged.spares(0, &range));
        assert_eq!(touched, [false; 4]);
        assert_eq!(damaged.first_damage(0), 10);
        let origins = [9, 10, 11, 15, 16].map(|at| damaged.origin(0, at));
        assert_eq!(origins, [Some(9), None, Some(10), Some(15), Some(16)]);
    }

    #[test]
    fn the_same_seed_gives_the_same_damage_and_every_kind_occurs() {
        let original = vec![("a".to_string(), (0..=255).cycle().take(3_000).collect())];
        let mut kinds = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let one = damage(&original, &mut Dice::seeded(seed));
            let two = damage(&original, &mut Dice::seeded(seed));
            assert_eq!((&one.files, &one.steps), (&two.files, &two.steps));
            assert!((1..=STEPS_MAX).contains(&one.steps.len()));
            kinds.extend(one.steps.iter().map(|step| step.kind));
        }
        assert_eq!(kinds.len(), Kind::ALL.len());
    }
}
