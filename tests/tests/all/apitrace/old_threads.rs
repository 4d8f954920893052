//! Traces of versions before 4, whose enters carry no thread: calls of several threads interleave.

use tracemend::formats::apitrace::rules;
use tracemend::{FileSet, FormatId, Options, Outcome, Safety, Severity};
use tracemend_tests::forge::apitrace::{Container, Stream, old_threads};
use tracemend_tests::judge::apitrace::Apitrace;
use tracemend_tests::judge::apitrace::survival::{Damaged, Numbers, Original, damage};
use tracemend_tests::known_originals::damage::{Kind, damage_by};
use tracemend_tests::known_originals::{self, Dice, SUBJECTS, set};
use tracemend_tests::mended::mended;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// Traces with four doubled blocks.
const DOUBLED: u64 = 24;

/// Numbers of threads.
const THREADS: [usize; 7] = [1, 2, 3, 5, 9, 40, 100];
/// Kinds of damage that leave most of a trace.
const KINDS: [&str; 3] = ["bit flipped", "512 bytes random", "chunk dropped"];

/// Fails if a trace is not clean or a repair changes it.
fn assert_sound(name: &str, bytes: &[u8]) {
    let report = tracemend::check(&FileSet::single(name, bytes), &Options::default());
    let loud = report.findings().iter().filter(|found| found.severity > Severity::Info);
    let loud: Vec<String> = loud.map(|one| format!("{} {}", one.rule.code, one.message)).collect();
    assert!(loud.is_empty(), "{name}: {}", loud.join("\n"));
    let (repair, target) = mended(bytes);
    assert_eq!((repair.outcome, target == bytes), (Outcome::Clean, true), "{name}");
}

#[test]
fn calls_of_threads_without_numbers_interleave_in_sound_traces() {
    if is_left_to_the_gate("calls of threads without numbers interleave in sound traces") {
        return;
    }
    for (index, threads) in THREADS.into_iter().enumerate() {
        for version in Share::one_in(3).of(0..4) {
            let stream = old_threads(version, threads, 700, 7 * version + threads as u64);
            let container = Container::ALL[(index + version as usize) % Container::ALL.len()];
            let name = format!("version {version}, {threads} threads, {container:?}");
            assert_sound(&name, &container.file(&stream.bytes));
            // The process was killed between two events, with calls open.
            let cut = stream.events[1_111];
            assert_sound(&name, &Container::Snappy.file(&stream.bytes[..cut]));
        }
    }
}

#[test]
fn threads_that_enter_one_after_the_other_are_no_damage() {
    for threads in [2, 7, 50] {
        let mut stream = Stream::new(2);
        for _ in 0..20 {
            let calls: Vec<u64> = (0..threads).map(|_| stream.enter(0, 3, 0, &[])).collect();
            calls.into_iter().for_each(|call| _ = stream.leave(call, &[]));
        }
        assert_sound(&format!("{threads} at once"), &Container::Snappy.file(&stream.bytes));
        // Each call ends after the next one has begun.
        let mut stream = Stream::new(1);
        let mut before = stream.enter(0, 3, 0, &[]);
        for _ in 0..threads * 10 {
            let next = stream.enter(0, 3, 0, &[]);
            stream.leave(before, &[]);
            before = next;
        }
        stream.leave(before, &[]);
        assert_sound(&format!("{threads} overlaps"), &Container::Gzip.file(&stream.bytes));
    }
}

#[test]
fn short_traces_of_several_threads_can_be_cut_after_any_event() {
    let (mut cuts, mut false_alarms) = (0, 0);
    for (index, threads) in [2, 3, 5, 9, 20].into_iter().enumerate() {
        for seed in 0..4 {
            let stream = old_threads(seed % 4, threads, 30, 31 * seed + threads as u64);
            let container = Container::ALL[(index + seed as usize) % Container::ALL.len()];
            // The first place is that before the first call.
            for cut in &stream.events[1..] {
                let file = container.file(&stream.bytes[..*cut]);
                let report = tracemend::check(&FileSet::single("app", &file), &Options::default());
                (cuts, false_alarms) = (cuts + 1, false_alarms + u64::from(report.has_errors()));
            }
        }
    }
    eprintln!("{false_alarms} of {cuts} cuts are called damage");
    assert_eq!(false_alarms, 0);
}

#[test]
fn an_enter_that_damage_adds_to_a_single_thread_is_damage_still() {
    let stream = old_threads(3, 1, 200, 9);
    let mut found = 0;
    // The number of the call becomes the id of a function that has no arguments.
    for call in [43_u64, 44] {
        let enter = stream.left.iter().find(|(left, _)| *left == call).map(|(_, end)| *end);
        let begin = stream.events.iter().rev().find(|at| **at < enter.unwrap()).unwrap();
        let mut bytes = stream.bytes.clone();
        assert_eq!(bytes[*begin], 1);
        bytes[*begin] = 0;
        let file = Container::Snappy.file(&bytes);
        let report = tracemend::check(&FileSet::single("app", &file), &Options::default());
        assert!(report.has_errors(), "call {call}");
        found += 1;
    }
    assert_eq!(found, 2);
}

#[test]
fn damage_costs_traces_of_several_threads_little_more_than_those_of_one() {
    if is_left_to_the_gate("damage costs traces of several threads little more than those of one") {
        return;
    }
    let Some(judge) = Apitrace::find_or_skip() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut shares = Vec::new();
    for threads in [1, 2, 4] {
        let stream = old_threads(threads as u64 % 4, threads, 9_000, 11).bytes;
        let original = Original::of(&judge, format!("{threads} threads"), stream, folder.path());
        let (mut right, mut calls) = (0, 0);
        // Of four cases, chance decides.
        for case in Share::one_in(2).of(0..24) {
            let mut numbers = Numbers::of(case as u64);
            let mut bytes = Damaged::of(&original, "snappy");
            let done = damage(KINDS[case % KINDS.len()], &mut bytes, &mut numbers);
            let survival = original.judge(&judge, &bytes, &Options::default(), folder.path());
            assert!(!survival.is_refused, "{threads} threads, {done}: {survival:?}");
            (right, calls) = (right + survival.right, calls + survival.calls);
        }
        shares.push(1000 * right / calls);
    }
    eprintln!("of a thousand calls survive, with 1, 2 and 4 threads: {shares:?}");
    assert!(shares.iter().all(|share| share + 100 >= shares[0]), "{shares:?}");
}

/// In doubled blocks no chunk left its place. A damaged chunk that happens to continue another one
/// must not be called out of order, exactly.
#[test]
fn chunks_beside_damage_are_not_put_in_another_order_exactly() {
    if is_left_to_the_gate("chunks beside damage are not put in another order exactly") {
        return;
    }
    let subject = SUBJECTS.iter().find(|subject| subject.format == FormatId::APITRACE).unwrap();
    let is_old =
        |original: &&known_originals::Original| original.name.starts_with("old_threads_long");
    let originals: Vec<_> = subject.originals.iter().filter(is_old).collect();
    assert!(!originals.is_empty());
    let mut counts = [0; 2];
    for case in 0..DOUBLED {
        let mut dice = Dice::seeded(case);
        let original = originals[dice.below(originals.len())];
        let kinds = [Kind::Double; 4];
        let Some(damaged) = damage_by(&original.files, &kinds, &mut dice) else { continue };
        let report = tracemend::check(&set(&damaged.files), &Options::default());
        let rule = &rules::CHUNKS_OUT_OF_ORDER;
        for finding in report.findings().iter().filter(|one| one.rule == rule) {
            let fix = finding.fix.as_ref().unwrap();
            counts[usize::from(fix.safety == Safety::Exact)] += 1;
        }
    }
    eprintln!("{} of {DOUBLED} cases with other orders, {} exactly", counts[0], counts[1]);
    assert_eq!(counts[1], 0);
}
