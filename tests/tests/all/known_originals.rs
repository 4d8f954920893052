//! Damaged recordings whose originals are known: the labels of their repairs are true and untouched
//! records survive, within the bounds of each format (`tests/src/known_originals`).

use std::sync::Mutex;

use tracemend_tests::known_originals::apitrace;
use tracemend_tests::known_originals::{CASES, Case, Files, SEED, SUBJECTS, Subject, Tally, set};
use tracemend_tests::notice;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// Runs a share of the cases of a format and compares the counts with its bounds.
fn keeps_its_bounds(name: &str) {
    run(name, |_| {});
}

/// As [`keeps_its_bounds`]; passes each case to `each`, too.
fn run(name: &str, each: impl Fn(&Case) + Sync) {
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == name).unwrap();
    let numbers: Vec<usize> = Share::one_in(12).of(0..CASES).collect();
    let tally = Mutex::new(Tally::default());
    subject.run_all(SEED, &numbers, |case| {
        each(&case);
        tally.lock().unwrap().add(&case);
    });
    let tally = tally.into_inner().unwrap();
    notice::say(&format!("known originals of {name}, seed {SEED}: {}", tally.line()));
    let broken = tally.broken_bounds(&subject.bounds);
    assert!(broken.is_empty(), "{name}, seed {SEED}\n{}", broken.join("\n"));
}

#[test]
fn perf_labels_are_true_and_untouched_records_survive() {
    keeps_its_bounds("perf");
}

/// Cases that perf judges in an exhaustive run: a run of perf takes longer than all else.
const JUDGED: usize = 8;

#[test]
fn perf_reads_what_was_repaired_with_all_its_samples() {
    if is_left_to_the_gate("perf reads what was repaired with all its samples") {
        return;
    }
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == "perf").unwrap();
    let Some(readable) = subject.readable_originals() else { return };
    let numbers: Vec<usize> = Share::one_in(9).of((0..CASES).step_by(JUDGED)).collect();
    let outputs = Mutex::new(Vec::new());
    subject.run_all(SEED, &numbers, |case| {
        if readable.contains(&case.original) && !case.judgement.gave_up() {
            outputs.lock().unwrap().push((case.number, case.output));
        }
    });
    let (numbers, outputs): (Vec<usize>, Vec<_>) =
        outputs.into_inner().unwrap().into_iter().unzip();
    let answers = subject.judge.and_then(|judge| judge(&outputs)).unwrap();
    let refused = numbers.iter().zip(answers).filter_map(|(number, answer)| {
        answer.err().map(|reason| format!("case {number}: {reason}"))
    });
    let refused: Vec<String> = refused.collect();
    let (judged, count) = (outputs.len(), refused.len());
    notice::say(&format!(
        "known originals of perf, seed {SEED}: perf reads all but {count} of {judged}"
    ));
    // Of seed 1, perf refuses 8 of 177: attrs whose fields differ from one another, or have READ
    // without the ids of the values, and samples of which it checks more than their layout.
    assert!(count <= 2 + judged / 25, "{}", refused.join("\n"));
}

#[test]
fn apitrace_labels_are_true_untouched_records_survive_and_apitrace_reads_the_outputs() {
    let outputs: Mutex<Vec<(String, Files)>> = Mutex::default();
    run("apitrace", |case| {
        if !case.judgement.gave_up() {
            let name = format!("case {} of {}", case.number, case.original);
            outputs.lock().unwrap().push((name, case.output.clone()));
        }
    });
    let subject = &apitrace::SUBJECT;
    // apitrace itself does not read a few of the originals, which are legal.
    let originals = &subject.originals;
    let files: Vec<Files> = originals.iter().map(|original| original.files.clone()).collect();
    let Some(answers) = subject.judge.and_then(|judge| judge(&files)) else { return };
    let unread = originals.iter().zip(&answers).filter(|(_, answer)| answer.is_err());
    let unread: Vec<String> =
        unread.map(|(original, _)| format!(" of {}", original.name)).collect();
    let mut outputs = outputs.into_inner().unwrap();
    outputs.retain(|(name, _)| unread.iter().all(|original| !name.ends_with(original)));
    let (names, outputs): (Vec<String>, Vec<Files>) = outputs.into_iter().unzip();
    let answers = subject.judge.and_then(|judge| judge(&outputs)).unwrap_or_default();
    let refused: Vec<String> = names
        .iter()
        .zip(&answers)
        .filter_map(|(name, answer)| Some(format!("{name}: {}", answer.as_ref().err()?)))
        .collect();
    notice::say(&format!(
        "known originals of apitrace, seed {SEED}: apitrace reads {} of {} repaired traces; it \
         does not read {} of {} originals, whose cases are left out",
        answers.len() - refused.len(),
        answers.len(),
        unread.len(),
        originals.len()
    ));
    assert!(refused.is_empty(), "seed {SEED}\n{}", refused.join("\n"));
}

#[test]
fn ovni_labels_are_true_and_untouched_records_survive() {
    keeps_its_bounds("ovni");
}

#[test]
fn qemu_labels_are_true_and_untouched_records_survive() {
    keeps_its_bounds("qemu");
}

#[test]
fn revent_labels_are_true_and_untouched_records_survive() {
    keeps_its_bounds("revent");
}

/// Returns the originals that are not sound, or have no records.
fn unsound(subject: &Subject) -> Vec<String> {
    let mut wrong = Vec::new();
    for original in subject.originals.iter() {
        let report = tracemend::check(&set(&original.files), &tracemend::Options::default());
        let is_right = report.format == Some(subject.format) && !report.has_errors();
        let records = (subject.records)(original, &original.files).len();
        if !is_right || records == 0 {
            wrong.push(format!("{}: {records} records, {:?}", original.name, report.counts()));
        }
    }
    wrong
}

#[test]
fn the_originals_are_sound_and_have_records() {
    let wrong: Vec<String> = SUBJECTS.iter().flat_map(|subject| unsound(subject)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
