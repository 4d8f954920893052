//! Compares what a reader shows of a repaired recording with what it showed of the sound one.
//!
//! Records are aligned in the order of their lane, by their labels. A record that is shown and was
//! not in the original lies between two that were. If a damage lies there as well, it is counted as
//! shown inside the damage; else, or if its bytes are those of an undamaged record that had another
//! label, it is false.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::damage::Broken;
use super::readers::{Left, Reading, Shown, Sound};

/// Time for the alignment of a lane.
const ALIGN_MAX: Duration = Duration::from_secs(10);

/// The records of a repaired recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Records that are due, and those of them that are shown as they were.
    pub due: [u64; 2],
    /// Records whose own bytes are undamaged, and those of them that are shown as they were.
    pub spared: [u64; 2],
    /// Records that are shown away from every damage and are not in the original.
    pub false_records: u64,
    /// Records that are shown where a damage lies and are not in the original.
    pub inside: u64,
    /// The label of a false record.
    pub example: Option<String>,
}

/// The records of a lane: indices of those of the original and of those shown now.
#[derive(Default)]
struct Lane {
    before: Vec<usize>,
    now: Vec<usize>,
}

/// A comparison.
struct Comparison<'a> {
    sound: &'a Sound,
    broken: &'a Broken,
    left: &'a [Left],
    /// The labels of undamaged records by their bytes.
    known: BTreeMap<&'a [u8], BTreeSet<&'a str>>,
}

/// Scores a reading. `None` counts as a reading of nothing.
pub fn score(sound: &Sound, broken: &Broken, reading: Option<&Reading>) -> Score {
    let left = sound.left(broken);
    let none = Vec::new();
    let now = reading.map_or(&none, |reading| &reading.shown);
    let mut lanes: BTreeMap<&str, Lane> = BTreeMap::new();
    for (index, shown) in sound.shown.iter().enumerate() {
        lanes.entry(&shown.lane).or_default().before.push(index);
    }
    for (index, shown) in now.iter().enumerate() {
        lanes.entry(&shown.lane).or_default().now.push(index);
    }
    let spared = sound.shown.iter().zip(&left).filter(|(_, left)| left.is_spared);
    let mut known: BTreeMap<&[u8], BTreeSet<&str>> = BTreeMap::new();
    for (shown, _) in spared {
        if let Some(bytes) = &shown.bytes {
            known.entry(bytes).or_default().insert(&shown.label);
        }
    }
    let comparison = Comparison { sound, broken, left: &left, known };
    let mut score = Score::default();
    for left in &left {
        score.due[0] += u64::from(left.is_due);
        score.spared[0] += u64::from(left.is_spared);
    }
    for lane in lanes.values() {
        comparison.lane(lane, now, &mut score);
    }
    score
}

impl Comparison<'_> {
    fn lane(&self, lane: &Lane, now: &[Shown], score: &mut Score) {
        let before: Vec<&str> = labels(&lane.before, &self.sound.shown);
        let after: Vec<&str> = labels(&lane.now, now);
        let deadline = Some(Instant::now() + ALIGN_MAX);
        let steps = capture_diff_slices_deadline(Algorithm::Myers, &before, &after, deadline);
        for step in &steps {
            if let DiffOp::Equal { old_index, len, .. } = *step {
                for index in &lane.before[old_index..old_index + len] {
                    score.due[1] += u64::from(self.left[*index].is_due);
                    score.spared[1] += u64::from(self.left[*index].is_spared);
                }
            }
        }
        for (number, step) in steps.iter().enumerate() {
            if matches!(step, DiffOp::Equal { .. } | DiffOp::Delete { .. }) {
                continue;
            }
            let gap = gap(&steps, number, before.len());
            let is_damaged = self.is_damaged(lane, &gap);
            for index in &lane.now[step.new_range()] {
                let shown = &now[*index];
                if is_damaged && !self.is_relabelled(shown) {
                    score.inside += 1;
                } else {
                    score.false_records += 1;
                    score.example.get_or_insert_with(|| shown.label.clone());
                }
            }
        }
    }

    /// Returns whether a record has the bytes of undamaged ones, but none of their labels.
    fn is_relabelled(&self, shown: &Shown) -> bool {
        let known = shown.bytes.as_ref().and_then(|bytes| self.known.get(bytes.as_slice()));
        known.is_some_and(|labels| !labels.contains(shown.label.as_str()))
    }

    /// Returns whether a damage lies in the gap between two records of a lane.
    fn is_damaged(&self, lane: &Lane, gap: &Range<usize>) -> bool {
        // A record whose description is damaged may be shown under a name that stands for it.
        let is_lost = |index: &usize| !self.left[*index].is_due;
        let first = gap.start.checked_sub(1).map(|index| lane.before[index]);
        let last = lane.before.get(gap.end).copied();
        // The records beside the gap may be damaged, and shown as they were nevertheless.
        let mut near = first.iter().chain(&last).chain(&lane.before[gap.clone()]);
        if near.any(is_lost) {
            return true;
        }
        if self.sound.places.is_empty() {
            return false;
        }
        let place = |index: usize| &self.sound.places[index].own;
        let first = first.map(place);
        let last = last.map(place);
        let Some((file, _)) = first.or(last) else { return true };
        let start = first.map_or(0, |(_, range)| range.end);
        let end = last.map_or(usize::MAX, |(_, range)| range.start);
        self.broken.touches(*file, &(start..end))
    }
}

fn labels<'a>(indices: &[usize], shown: &'a [Shown]) -> Vec<&'a str> {
    indices.iter().map(|index| shown[*index].label.as_str()).collect()
}

/// Returns the records of the original between those that are shown before and after a step.
fn gap(steps: &[DiffOp], number: usize, len: usize) -> Range<usize> {
    let is_equal = |step: &&DiffOp| matches!(step, DiffOp::Equal { .. });
    let before = steps[..number].iter().rev().find(is_equal);
    let after = steps[number..].iter().find(is_equal);
    let start = before.map_or(0, |step| step.old_range().end);
    start..after.map_or(len, |step| step.old_range().start)
}
