//! Records whose size, type or whole header is damaged. The next record shows where they end.

use std::path::Path;

use tracemend::Safety;
use tracemend_tests::known_originals::Dice;
use tracemend_tests::mended::mended;
use tracemend_tests::notice;

const SEED: u64 = 50;
/// Cases per recording and kind of damage.
const CASES: usize = 16;
const RECORDINGS: [&str; 6] = [
    "clean/plain.data",
    "clean/group.data",
    "clean/callgraph.data",
    "clean/wide.data",
    "clean/pipe.data",
    "events/four.data",
];
const SAMPLE: u32 = 9;
/// Bits of a size: the largest records are shorter.
const SIZE_BITS: usize = 13;

/// Returns place, type and size of each record of the kernel, and of a mark at the end.
fn records(bytes: &[u8]) -> Vec<(usize, u32, u16)> {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let is_pipe = word(8) == 16;
    let (mut at, end) = if is_pipe { (16, bytes.len()) } else { (word(40), word(40) + word(48)) };
    let mut found = Vec::new();
    while at + 8 <= end {
        let kind = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let size = u16::from_le_bytes(bytes[at + 6..at + 8].try_into().unwrap());
        found.push((at, kind, size));
        at += usize::from(size);
    }
    let last = found.last().map_or(0, |last| last.0);
    found.retain(|(at, kind, _)| *kind < 64 || *at == last);
    found
}

/// Damages one record of each kind of damage; returns the number of cases, and of those that are
/// given back. What is called exact is the original.
fn sweep(
    name: &str,
    is_wanted: impl Fn(u32) -> bool,
    damage: impl Fn(&mut [u8], u16, &mut Dice<'_>),
) -> (usize, usize, Vec<String>) {
    let (mut cases, mut given_back, mut others) = (0, 0, Vec::new());
    for (number, recording) in (0_u64..).zip(RECORDINGS) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf").join(recording);
        let whole = std::fs::read(path).unwrap();
        let mut records = records(&whole);
        records.retain(|(_, kind, _)| is_wanted(*kind));
        let mut dice = Dice::seeded(SEED.wrapping_mul(1 << 20).wrapping_add(number));
        for _ in 0..CASES {
            let (at, kind, size) = records[dice.below(records.len())];
            let mut bytes = whole.clone();
            damage(&mut bytes[at..at + 8], size, &mut dice);
            if bytes == whole {
                continue;
            }
            let (repair, target) = mended(&bytes);
            let case = format!("{recording}, {kind} at {at:#x}: {:02x?}", &bytes[at..at + 8]);
            assert!(repair.safety() != Some(Safety::Exact) || target == whole, "{case}");
            cases += 1;
            if target == whole {
                given_back += 1;
            } else {
                others.push(case);
            }
        }
    }
    notice::say(&format!("{name}, seed {SEED}: {given_back} of {cases} given back"));
    (cases, given_back, others)
}

fn flip_size(header: &mut [u8], size: u16, dice: &mut Dice<'_>) {
    header[6..].copy_from_slice(&(size ^ 1 << dice.below(SIZE_BITS)).to_le_bytes());
}

#[test]
fn a_flipped_bit_in_the_size_of_a_record_costs_no_record() {
    for (name, is_sample) in [("size of a sample", true), ("size of another record", false)] {
        let (cases, given_back, others) =
            sweep(name, |kind| (kind == SAMPLE) == is_sample, flip_size);
        assert!(cases >= 80 && given_back * 20 >= cases * 19, "{name}: {others:#?}");
    }
}

#[test]
fn a_sample_of_type_0_is_a_sample() {
    let (cases, given_back, others) =
        sweep("samples of type 0", |kind| kind == SAMPLE, |header, _, _| header[..4].fill(0));
    assert!(cases >= 80 && given_back == cases, "{others:#?}");
}

#[test]
fn a_sample_whose_header_is_noise_is_a_sample() {
    let noise = |header: &mut [u8], _, dice: &mut Dice<'_>| header.copy_from_slice(&dice.noise(8));
    let (cases, given_back, others) = sweep("headers of samples", |kind| kind == SAMPLE, noise);
    assert!(cases >= 80 && given_back * 20 >= cases * 17, "{others:#?}");
}

#[test]
fn a_record_of_type_0_becomes_no_other_one() {
    let (mut cases, mut wrong) = (0, Vec::new());
    for (number, recording) in (0_u64..).zip(RECORDINGS) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf").join(recording);
        let whole = std::fs::read(path).unwrap();
        let records = records(&whole);
        let mut dice = Dice::seeded(SEED.wrapping_mul(1 << 21).wrapping_add(number));
        for _ in 0..CASES {
            let (at, kind, _) = records[dice.below(records.len())];
            let mut bytes = whole.clone();
            bytes[at..at + 4].fill(0);
            let (_, target) = mended(&bytes);
            cases += 1;
            // Given back, or dropped.
            let is_kept = target.len() == whole.len();
            if is_kept && target[at..at + 4] != kind.to_le_bytes() {
                wrong.push(format!("{recording}, {kind} at {at:#x}"));
            }
        }
    }
    assert!(cases > 80 && wrong.is_empty(), "{wrong:#?}");
}
