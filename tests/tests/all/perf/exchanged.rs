//! Blocks of a file in each other's places.

use std::path::Path;

use tracemend::{FileSet, Options, Safety};
use tracemend_tests::known_originals::Dice;
use tracemend_tests::mended::mended_as;
use tracemend_tests::notice;

const SEED: u64 = 8;
/// Cases per recording.
const CASES: usize = 12;
const RECORDINGS: [&str; 6] =
    ["plain.data", "group.data", "callgraph.data", "wide.data", "zstd.data", "pipe.data"];

/// A recording with two blocks exchanged, the header aside.
fn exchange(whole: &[u8], dice: &mut Dice<'_>) -> Option<(Vec<u8>, String)> {
    let len = [512, 512, 1_024, 2_048][dice.below(4)];
    let blocks = whole.len() / len;
    if blocks < 4 {
        return None;
    }
    let (one, two) = (1 + dice.below(blocks - 1), 1 + dice.below(blocks - 1));
    let (one, two) = (one.min(two) * len, one.max(two) * len);
    let mut damaged = whole.to_vec();
    damaged[one..one + len].copy_from_slice(&whole[two..two + len]);
    damaged[two..two + len].copy_from_slice(&whole[one..one + len]);
    let case = format!("{len} bytes at {one:#x} and {two:#x}");
    (damaged != whole).then_some((damaged, case))
}

#[test]
fn exchanged_blocks_of_records_come_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean");
    let (mut cases, mut named, mut given_back) = (0, 0, 0);
    let mut wrong = Vec::new();
    for (number, name) in (0_u64..).zip(RECORDINGS) {
        let whole = std::fs::read(folder.join(name)).unwrap();
        let mut dice = Dice::seeded(SEED.wrapping_mul(1 << 20).wrapping_add(number));
        for _ in 0..CASES {
            let Some((damaged, case)) = exchange(&whole, &mut dice) else { continue };
            cases += 1;
            let files = FileSet::single(name, &damaged);
            let report = tracemend::check(&files, &Options::default());
            named += usize::from(report.findings().iter().any(|one| one.rule.code == "CM0104"));
            let (repair, target) = mended_as(name, &damaged, &Options::default());
            given_back += usize::from(target == whole);
            // Nothing shows the borders of the blocks.
            if repair.safety() == Some(Safety::Exact) {
                wrong.push(format!("{name}: {case}"));
            }
        }
    }
    notice::say(&format!(
        "exchanged blocks, seed {SEED}: {named} of {cases} named, {given_back} given back"
    ));
    assert!(wrong.is_empty(), "falsely exact: {wrong:#?}");
    // Two blocks of features leave the records as they are.
    assert!(cases > 40 && given_back * 2 > cases, "{given_back} of {cases}");
}

#[test]
fn the_first_block_comes_back_from_the_place_of_another_one() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean");
    let (mut cases, mut others) = (0, Vec::new());
    for (number, name) in (0_u64..).zip(RECORDINGS) {
        let whole = std::fs::read(folder.join(name)).unwrap();
        let mut dice = Dice::seeded(SEED.wrapping_mul(1 << 21).wrapping_add(number));
        for len in [512, 1_024, 2_048, 4_096] {
            let blocks = whole.len() / len;
            if blocks < 2 {
                continue;
            }
            for other in [1, 1 + dice.below(blocks - 1)].map(|block| block * len) {
                let mut damaged = whole.clone();
                damaged[..len].copy_from_slice(&whole[other..other + len]);
                damaged[other..other + len].copy_from_slice(&whole[..len]);
                let (repair, target) = mended_as(name, &damaged, &Options::default());
                cases += 1;
                // Nothing shows the ends of the blocks.
                assert!(repair.safety() != Some(Safety::Exact), "{name}: {len} at {other:#x}");
                if target != whole {
                    others.push(format!("{name}: {len} at {other:#x}"));
                }
            }
        }
    }
    notice::say(&format!(
        "exchanged first blocks, seed {SEED}: {} of {cases} given back",
        cases - others.len()
    ));
    assert!(cases >= 24 && others.len() * 10 <= cases, "{} of {cases}: {others:#?}", others.len());
}

#[test]
fn exchanged_blocks_of_features_come_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf");
    let names = ["clean/plain.data", "clean/group.data", "clean/wide.data", "events/four.data"];
    let (mut cases, mut given_back) = (0, 0);
    for (number, name) in (0_u64..).zip(names) {
        let whole = std::fs::read(folder.join(name)).unwrap();
        let word = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
        let table = word(40) + word(48);
        let mut dice = Dice::seeded(SEED.wrapping_mul(1 << 22).wrapping_add(number));
        for _ in 0..CASES {
            let len = 512;
            let (first, blocks) = (table.div_ceil(len), whole.len() / len);
            if blocks < first + 2 {
                continue;
            }
            let [one, two] = [0, 1].map(|_| (first + dice.below(blocks - first)) * len);
            let mut damaged = whole.clone();
            damaged[one..one + len].copy_from_slice(&whole[two..two + len]);
            damaged[two..two + len].copy_from_slice(&whole[one..one + len]);
            let files = FileSet::single(name, &damaged);
            if damaged == whole || !tracemend::check(&files, &Options::default()).has_errors() {
                continue;
            }

            let (repair, target) = mended_as(name, &damaged, &Options::default());
            cases += 1;
            given_back += usize::from(target == whole);
            assert!(repair.safety() != Some(Safety::Exact) || target == whole, "{name}: {one:#x}");
        }
    }
    notice::say(&format!(
        "exchanged blocks of features, seed {SEED}: {given_back} of {cases} with errors given back"
    ));
    assert!(cases > 8 && given_back * 2 > cases, "{given_back} of {cases}");
}
