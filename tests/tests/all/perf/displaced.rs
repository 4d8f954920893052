//! Bytes that were inserted into the beginning of a recording of several events, or are missing
//! there: every sample stays under its event.

use std::collections::BTreeMap;
use std::path::Path;

use tracemend::{Options, Outcome};
use tracemend_tests::judge::perf::{Perf, Sample};
use tracemend_tests::known_originals::damage::{Kind, damage_once};
use tracemend_tests::known_originals::{Dice, Files};
use tracemend_tests::mended::mended_as;
use tracemend_tests::notice;
use tracemend_tests::sweep::Share;

/// Seed of the sweep.
const SEED: u64 = 44;
/// Cases of an exhaustive run.
const CASES: usize = 160;
/// Bytes that are inserted or lost.
const SIZES: [usize; 12] = [1, 2, 4, 7, 8, 16, 24, 64, 96, 104, 144, 512];

/// A recording of four events, and the samples that perf shows of it.
fn original(perf: &Perf) -> (Files, Vec<Sample>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/events/four.data");
    let bytes = std::fs::read(&path).unwrap();
    (vec![("four.data".to_string(), bytes)], perf.samples_by_event(&path))
}

fn data_offset(bytes: &[u8]) -> usize {
    u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize
}

/// Counts samples, so that lists can be compared whatever their order.
fn counts(samples: &[Sample]) -> BTreeMap<&Sample, u64> {
    let mut counts = BTreeMap::new();
    samples.iter().for_each(|sample| *counts.entry(sample).or_default() += 1);
    counts
}

#[test]
fn samples_stay_under_their_events_after_a_shift_of_the_beginning() {
    let Some(perf) = Perf::find_or_skip() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (files, samples) = original(&perf);
    let wanted = counts(&samples);
    let (mut shown, mut cases, mut same, mut refused) = (0, 0, 0, Vec::new());
    for number in Share::one_in(8).of(0..CASES) {
        let mut dice = Dice::seeded(SEED.wrapping_mul(1 << 20).wrapping_add(number as u64));
        let kind = if dice.below(2) == 0 { Kind::Insert } else { Kind::Drop };
        let len = SIZES[dice.below(SIZES.len())];
        let at = dice.below(data_offset(&files[0].1));
        let Some(damaged) = damage_once(&files, kind, 0, (at, len), &mut dice) else { continue };
        let case = format!("case {number}, {len} bytes: {}", damaged.describe());
        let (repair, output) = mended_as("four.data", &damaged.files[0].1, &Options::default());
        cases += 1;
        if repair.outcome == Outcome::CannotRepair {
            refused.push(case);
            continue;
        }
        let is_same = output == files[0].1;
        assert!(is_same || repair.outcome == Outcome::RepairedWithLoss, "{case}: exit 0");
        same += u64::from(is_same);
        let path = folder.path().join("output.data");
        std::fs::write(&path, &output).unwrap();
        let found = perf.samples_by_event(&path);
        for (sample, count) in counts(&found) {
            let most = wanted.get(sample).copied().unwrap_or(0);
            assert!(count <= most, "{case}: {sample:?} is shown {count} times, expected {most}");
        }
        shown += found.len();
    }
    let all = cases as usize * samples.len();
    notice::say(&format!(
        "shifted beginnings of perf, seed {SEED}: {shown} of {all} samples under their events, \
         {same} of {cases} originals, {} refused",
        refused.len()
    ));
    assert!(refused.len() * 60 <= cases as usize, "{refused:#?}");
    assert!(shown * 100 >= all * 98, "{shown} of {all} samples");
}
