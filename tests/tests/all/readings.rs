//! Readings of a whole file: repeated blocks, bytes that were inserted or lost.

use std::collections::BTreeMap;
use std::ops::Range;

use tracemend::common;
use tracemend::{FileSet, Options, Outcome, Severity, check, repair};
use tracemend_tests::forge::qemu::{Log, ids};
use tracemend_tests::known_originals::damage::{Kind, damage_once};
use tracemend_tests::known_originals::{Damaged, Dice, Files, Original, SUBJECTS, Subject, set};
use tracemend_tests::notice;
use tracemend_tests::sweep::is_left_to_the_gate;

/// Seed of the sweeps.
const SEED: u64 = 43;
/// Cases per format.
const CASES: u64 = 60;
/// Bytes of a doubled block.
const BLOCK: (usize, usize) = (512, 8_192);

/// Doubles a block of a recording; `None` if no file has room for one.
fn double(original: &Original, dice: &mut Dice<'_>) -> Option<Damaged> {
    let (least, most) = BLOCK;
    let files = &original.files;
    let large: Vec<usize> =
        (0..files.len()).filter(|file| files[*file].1.len() >= 2 * least).collect();
    let file = *large.get(dice.below(large.len().max(1)))?;
    let size = files[file].1.len();
    let len = least + dice.below(most.min(size / 2) - least + 1);
    let at = dice.below(size - len + 1);
    // A copy that is resumed often begins at a sector.
    let at = if dice.below(2) == 0 { at / least * least } else { at };
    // One pass more of a loop that was recorded leaves no trace.
    if is_loop(&files[file].1[at..at + len]) {
        return None;
    }
    damage_once(files, Kind::Double, file, (at, len), dice)
}

/// Whether a block is a whole number of passes of fewer than 64 bytes.
fn is_loop(block: &[u8]) -> bool {
    let is_pass = |len: &usize| {
        block.len().is_multiple_of(*len) && block.windows(len + 1).all(|w| w[0] == w[*len])
    };
    (1..64).any(|len| is_pass(&len))
}

/// Whether a file of a recording has room for a block and something else.
fn has_room(original: &Original) -> bool {
    original.files.iter().any(|(_, bytes)| bytes.len() >= 2 * BLOCK.0)
}

fn bytes_of(original: &Files) -> Vec<&[u8]> {
    original.iter().map(|(_, bytes)| bytes.as_slice()).collect()
}

/// The results of the cases of a format.
#[derive(Debug, Default)]
struct Counts {
    cases: u64,
    given_back: u64,
    unreported: Vec<String>,
    falsely_repaired: Vec<String>,
    others: Vec<String>,
}

#[test]
fn a_doubled_block_is_reported_and_the_original_comes_back() {
    if is_left_to_the_gate("a doubled block is reported and the original comes back") {
        return;
    }
    let mut by_format: BTreeMap<&str, Counts> = BTreeMap::new();
    for subject in SUBJECTS {
        let counts = by_format.entry(subject.format.name()).or_default();
        let large: Vec<&Original> = subject.originals.iter().filter(|one| has_room(one)).collect();
        for number in 0..CASES {
            let mut dice = Dice::seeded(SEED.wrapping_mul(1 << 20).wrapping_add(number));
            let original = large[dice.below(large.len())];
            let Some(damaged) = double(original, &mut dice) else { continue };
            let options = Options::default();
            let files = set(&damaged.files);
            let case = format!("{} case {number}: {}", original.name, damaged.describe());
            counts.cases += 1;
            if check(&files, &options).count_of(Severity::Error) == 0 {
                counts.unreported.push(case);
                continue;
            }
            let repair = repair(&files, &options);
            let output = repair.output(&files);
            let output: Vec<Vec<u8>> =
                output.files().iter().map(|file| file.bytes.to_vec()).collect();
            if output == bytes_of(&original.files) {
                counts.given_back += 1;
            } else if matches!(repair.outcome, Outcome::Repaired | Outcome::Clean) {
                counts.falsely_repaired.push(case);
            } else {
                counts.others.push(case);
            }
        }
    }
    for (format, counts) in &by_format {
        let Counts { cases, given_back, .. } = counts;
        notice::say(&format!("doubled blocks of {format}, seed {SEED}: {given_back} of {cases}"));
    }
    for (format, counts) in &by_format {
        assert!(counts.cases * 10 >= CASES * 9, "{format}: {} cases", counts.cases);
        // A log of QEMU has no sizes and no counts: a block without a clock may leave no trace.
        let most = if *format == "qemu" { CASES / 20 } else { 0 };
        assert!(counts.unreported.len() as u64 <= most, "{format}: {:#?}", counts.unreported);
        assert!(counts.falsely_repaired.is_empty(), "{format}: {:#?}", counts.falsely_repaired);
        assert!(counts.given_back * 10 >= counts.cases * 9, "{format}: {:#?}", counts.others);
    }
}

/// Writes events of a stream a second time, later in it, as a process that forked does; `None` if
/// a file has too few.
fn copy_events(subject: &Subject, original: &Original, dice: &mut Dice<'_>) -> Option<Files> {
    let records = (subject.records)(original, &original.files);
    let of = |file: usize| records.iter().filter(move |one| one.file == file);
    let long: Vec<usize> = (0..original.files.len()).filter(|file| of(*file).count() > 5).collect();
    let file = *long.get(dice.below(long.len().max(1)))?;
    let events: Vec<&Range<usize>> = of(file).map(|one| &one.stored).collect();
    let count = 2 + dice.below(events.len() - 4);
    let first = dice.below(events.len() - count);
    let last = first + count - 1;
    let at = events[last + dice.below(events.len() - last)].end;
    let mut files = original.files.clone();
    let block = files[file].1[events[first].start..events[last].end].to_vec();
    files[file].1.splice(at..at, block);
    Some(files)
}

#[test]
fn events_that_a_fork_wrote_again_are_dropped() {
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == "ovni").unwrap();
    let (mut cases, mut given_back, mut wrong) = (0, 0, Vec::new());
    for number in 0..CASES {
        let mut dice = Dice::seeded(SEED.wrapping_mul(1 << 20).wrapping_add(number));
        let original = &subject.originals[dice.below(subject.originals.len())];
        let Some(damaged) = copy_events(subject, original, &mut dice) else { continue };
        let files = set(&damaged);
        let repair = repair(&files, &Options::default());
        let output = repair.output(&files);
        let is_same = output
            .files()
            .iter()
            .map(|file| file.bytes.to_vec())
            .eq(original.files.iter().map(|(_, bytes)| bytes.clone()));
        cases += 1;
        given_back += u64::from(is_same);
        if !is_same && matches!(repair.outcome, Outcome::Repaired | Outcome::Clean) {
            wrong.push(format!("{} case {number}: {:?}", original.name, repair.before.counts()));
        }
    }
    notice::say(&format!("copied events of ovni, seed {SEED}: {given_back} of {cases}"));
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(cases * 2 > CASES && given_back * 10 >= cases * 9, "{given_back} of {cases}");
}

/// A log that was recorded with the same `len` bytes twice, and the place of the clock between
/// them.
fn log_with_equal_blocks(len: usize) -> (Vec<u8>, Range<usize>) {
    let mut log = Log::new(ids::of("11.0"));
    let mut dice = Dice::seeded(SEED);
    // Two instructions of five bytes each, and an id and a length before the bytes.
    let read: Vec<u8> = (0..len - 15).map(|_| dice.below(256) as u8).collect();
    log.start();
    (0..10).for_each(|number| _ = log.tick(number));
    log.instruction(3).read_all(&read).instruction(3);
    let start = log.bytes.len();
    let end = log.host().bytes.len();
    log.instruction(3).read_all(&read).instruction(3).checkpoint("CP_CLOCK_HOST").host();
    (0..10).for_each(|number| _ = log.tick(number));
    log.close();
    (log.bytes, start..end)
}

#[test]
fn equal_bytes_alone_do_not_prove_a_copy() {
    // Without the clock the blocks follow one another, and the log is sound without one of them.
    for len in [100, 600, 5_000] {
        let (original, clock) = log_with_equal_blocks(len);
        let options = Options::default();
        assert!(check(&FileSet::single("log", &original), &options).findings().is_empty(), "{len}");
        let damaged = [&original[..clock.start], &original[clock.end..]].concat();
        let block = [clock.start - len, clock.start].map(|at| &damaged[at..at + len]);
        assert_eq!(block[0], block[1]);
        let files = FileSet::single("log", &damaged);
        let report = check(&files, &options);
        assert!(report.has_errors(), "{len}");
        // A small block is a copy only if it is proven.
        let is_small = len < BLOCK.0;
        assert_eq!(report.count(&common::DOUBLED_BLOCK) == 0, is_small, "{len}");
        assert_eq!(repair(&files, &options).outcome, Outcome::RepairedWithLoss, "{len}");
    }
}

/// A log with a loop of `passes`, and the bytes of the loop. Each pass has six bytes.
fn log_with_loop(passes: usize) -> (Vec<u8>, Range<usize>) {
    let mut log = Log::new(ids::of("11.0"));
    log.start();
    (0..50).for_each(|number| _ = log.tick(number));
    let start = log.bytes.len();
    (0..passes).for_each(|_| _ = log.checkpoint("CP_CLOCK_WARP_ACCOUNT").instruction(293));
    let end = log.checkpoint("CP_CLOCK_WARP_ACCOUNT").bytes.len();
    (0..50).for_each(|number| _ = log.tick(number));
    log.close();
    (log.bytes, start..end)
}

#[test]
fn a_loop_that_lost_bytes_is_not_read_as_one_with_a_copy() {
    if is_left_to_the_gate("a loop that lost bytes is not read as one with a copy") {
        return;
    }
    let (original, passes) = log_with_loop(3_000);
    let options = Options::default();
    assert!(check(&FileSet::single("log", &original), &options).findings().is_empty());
    let mut reported = 0;
    for lost in 1..120 {
        let at = passes.start + passes.len() / 2 + lost;
        let damaged = [&original[..at], &original[at + lost..]].concat();
        let report = check(&FileSet::single("log", &damaged), &options);
        assert_eq!(report.count(&common::DOUBLED_BLOCK), 0, "{lost} bytes at {at:#x}");
        reported += usize::from(report.has_errors());
    }
    // Where whole passes are lost, nothing shows it.
    assert!(reported > 50, "{reported}");
}

/// Lengths of the blocks of zeros that are inserted into a log, or written over a part of it.
const ZEROS: [usize; 4] = [512, 1_024, 4_096, 8_192];

/// Cases of blocks of zeros.
const ZERO_CASES: u64 = 120;

/// Calls `each` with a log of QEMU, a place and a length of zeros.
fn for_zeros(mut each: impl FnMut(&Original, usize, usize)) {
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == "qemu").unwrap();
    let large: Vec<&Original> =
        subject.originals.iter().filter(|one| one.files[0].1.len() > 20_000).collect();
    for number in 0..ZERO_CASES {
        let mut dice = Dice::seeded(SEED.wrapping_mul(3 << 20).wrapping_add(number));
        let original = large[dice.below(large.len())];
        let len = ZEROS[dice.below(ZEROS.len())];
        let at = 64 + dice.below(original.files[0].1.len() - len - 128);
        each(original, at, len);
    }
}

#[test]
fn zeros_that_were_inserted_into_a_log_are_dropped_or_the_log_is_closed_before_them() {
    if is_left_to_the_gate(
        "zeros that were inserted into a log are dropped or the log is closed before them",
    ) {
        return;
    }
    let (mut given_back, mut exact) = (0, 0);
    for_zeros(|original, at, len| {
        let log = &original.files[0].1;
        let damaged = [&log[..at], &vec![0; len], &log[at..]].concat();
        let files = FileSet::single("log", &damaged);
        let repair = repair(&files, &Options::default());
        let output = repair.output(&files).bytes(0).to_vec();
        let is_original = output == *log;
        let case = format!("{} {len} at {at:#x}", original.name);
        given_back += u64::from(is_original);
        exact += u64::from(repair.outcome == Outcome::Repaired);
        assert!(repair.outcome != Outcome::Repaired || is_original, "{case}");
    });
    notice::say(&format!(
        "inserted zeros of qemu, seed {SEED}: {given_back} of {ZERO_CASES}, {exact} exact"
    ));
    assert!(given_back * 2 >= ZERO_CASES, "{given_back}");
}

#[test]
fn zeros_in_the_place_of_events_are_not_read_as_inserted() {
    if is_left_to_the_gate("zeros in the place of events are not read as inserted") {
        return;
    }
    for_zeros(|original, at, len| {
        let mut damaged = original.files[0].1.clone();
        damaged[at..at + len].fill(0);
        let report = check(&FileSet::single("log", &damaged), &Options::default());
        let count = report.count(&common::INSERTED_BYTES);
        assert_eq!(count, 0, "{} {len} at {at:#x}", original.name);
    });
}
