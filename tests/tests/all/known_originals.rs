//! Damaged recordings whose originals are known: the labels of their repairs are true and untouched
//! records survive, within the bounds of each format (`tests/src/known_originals`).

use std::sync::Mutex;

use tracemend_tests::known_originals::{CASES, SEED, SUBJECTS, Subject, Tally, set};
use tracemend_tests::notice;
use tracemend_tests::sweep::Share;

/// Runs a share of the cases of a format and compares the counts with its bounds.
fn keeps_its_bounds(name: &str) {
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == name).unwrap();
    let numbers: Vec<usize> = Share::one_in(8).of(0..CASES).collect();
    let tally = Mutex::new(Tally::default());
    subject.run_all(SEED, &numbers, |case| tally.lock().unwrap().add(&case));
    let tally = tally.into_inner().unwrap();
    notice::say(&format!("known originals of {name}, seed {SEED}: {}", tally.line()));
    let broken = tally.broken_bounds(&subject.bounds);
    assert!(broken.is_empty(), "{name}, seed {SEED}\n{}", broken.join("\n"));
}

#[test]
fn perf_labels_are_true_and_untouched_records_survive() {
    keeps_its_bounds("perf");
}

#[test]
fn apitrace_labels_are_true_and_untouched_records_survive() {
    keeps_its_bounds("apitrace");
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
