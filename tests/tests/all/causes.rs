//! Causes that nothing undoes: control characters that a terminal took, and holes.

use std::ops::Range;
use std::path::Path;

use tracemend::{FileSet, Options, Outcome, Report};
use tracemend_tests::known_originals::{
    CASES, Dice, Files, Original, SEED, SUBJECTS, damaged, set,
};
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// Characters that are taken together: flow control, signals, those of a line.
const TAKEN: [&[u8]; 4] = [b"\x11\x13", b"\x03\x1a", b"\x04", b"\r"];
/// Bytes of a disk block.
const BLOCK: usize = 512;
/// How often each other control character has to be in a recording.
const LEAST: usize = 4;

fn is_named(report: &Report) -> bool {
    report.counts().contains_key("TR0103")
}

/// How often the rarest byte up to the space is in a recording.
fn rarest(bytes: &[u8]) -> usize {
    (0..=b' ').map(|byte| bytes.iter().filter(|one| **one == byte).count()).min().unwrap()
}

#[test]
fn control_characters_that_a_terminal_took_are_named_and_other_records_kept() {
    if is_left_to_the_gate("control characters that a terminal took, in every clean recording") {
        return;
    }
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let (mut named, mut silent) = (0, Vec::new());
    for entry in walkdir::WalkDir::new(corpus).into_iter().map(Result::unwrap) {
        let path = entry.path().display().to_string();
        if !entry.file_type().is_file() || !path.contains("/clean/") {
            continue;
        }
        let bytes = std::fs::read(entry.path()).unwrap();
        if rarest(&bytes) < LEAST {
            continue;
        }
        for taken in TAKEN {
            let mut left = bytes.clone();
            left.retain(|byte| !taken.contains(byte));
            let files = FileSet::single("recording", &left);
            let options = Options::default();
            let report = tracemend::check(&files, &options);
            // A compressed stream is lost as a whole: nothing shows that it was a recording.
            if report.format.is_none() {
                continue;
            }
            if !is_named(&report) {
                silent.push(format!("{path} without {taken:x?}"));
                continue;
            }
            let repair = tracemend::repair(&files, &options);
            let is_clean = !repair.after.has_errors() && !is_named(&repair.after);
            assert!(is_clean || repair.outcome == Outcome::CannotRepair, "{path}");
            named += 1;
        }
    }
    // Bytes that nothing checks may have lost them, too.
    assert!(named >= 20 && silent.len() * 5 <= named, "{named} named, not: {silent:#?}");
}

#[test]
fn damage_is_not_taken_for_lost_control_characters() {
    for subject in SUBJECTS {
        for number in Share::one_in(64).of(0..CASES) {
            let (original, damaged) = damaged(&subject.originals, SEED, number);
            let report = tracemend::check(&set(&damaged.files), &Options::default());
            assert!(!is_named(&report), "{} {}, case {number}", subject.format, original.name);
        }
    }
}

/// The codes of a recording whose longest file has zeros in `range`; none if it has them already.
fn codes_with_zeros(original: &Original, range: Range<usize>) -> Vec<&'static str> {
    let mut files: Files = original.files.clone();
    let (_, bytes) = files.iter_mut().max_by_key(|(_, bytes)| bytes.len()).unwrap();
    if bytes[range.clone()].iter().all(|byte| *byte == 0) {
        return Vec::new();
    }
    bytes[range].fill(0);
    let report = tracemend::check(&set(&files), &Options::default());
    report.counts().keys().copied().collect()
}

/// Ranges of a file of `len` bytes between borders: in its middle, and to its end.
fn holes(len: usize) -> Vec<Range<usize>> {
    let starts = (1..len / BLOCK).take(4).map(|block| block * BLOCK);
    starts.flat_map(|start| [start..start + BLOCK, start..len]).collect()
}

/// The files of a recording whose longest one ends in zeros, up to a border: after its last byte,
/// or after a cut in its second half.
fn with_tails(original: &Original, dice: &mut Dice<'_>) -> [Files; 2] {
    let longest = |files: &Files| files.iter().map(|(_, bytes)| bytes.len()).max().unwrap();
    let len = longest(&original.files);
    [len, len / 2 + dice.below(len / 2)].map(|cut| {
        let mut files = original.files.clone();
        let (_, bytes) = files.iter_mut().find(|(_, bytes)| bytes.len() == len).unwrap();
        bytes.truncate(cut);
        bytes.resize((cut / BLOCK + 3) * BLOCK, 0);
        files
    })
}

#[test]
fn a_preallocated_tail_has_the_same_name_in_all_formats() {
    for subject in SUBJECTS {
        let (mut named, mut others) = (0, Vec::new());
        for (seed, original) in (0..).zip(Share::one_in(16).of(subject.originals.iter())) {
            let mut dice = Dice::seeded(seed);
            for files in with_tails(original, &mut dice) {
                let report = tracemend::check(&set(&files), &Options::default());
                let mut messages = report.findings().iter().map(|finding| &finding.message);
                if messages.any(|message| message.starts_with("preallocated tail: ")) {
                    named += 1;
                } else if report.format.is_some() && !report.findings().is_empty() {
                    others.push(format!("{}, seed {seed}: {:?}", original.name, report.counts()));
                }
            }
        }
        let format = subject.format.name();
        eprintln!("{format}: {named} named, not: {others:#?}");
        assert!(others.len() * 10 <= named, "{format}: {named} named, not: {others:#?}");
    }
}

#[test]
fn a_hole_has_the_same_name_in_all_formats_and_zeros_elsewhere_have_another() {
    for subject in SUBJECTS {
        let (mut named, mut others, mut false_names) = (0, Vec::new(), 0);
        for original in Share::one_in(16).of(subject.originals.iter()) {
            let len = original.files.iter().map(|(_, bytes)| bytes.len()).max().unwrap();
            for hole in holes(len) {
                let apart = codes_with_zeros(original, hole.start - 200..hole.start + 200);
                false_names += usize::from(apart.contains(&"CM0105"));
                let codes = codes_with_zeros(original, hole.clone());
                if codes.contains(&"CM0105") {
                    named += 1;
                } else if !codes.is_empty() && !codes.contains(&"CM0002") {
                    others.push(format!("{} {hole:x?}: {codes:?}", original.name));
                }
            }
        }
        let format = subject.format.name();
        // Zeros that a recorder wrote may lie between two borders, and beside a fault.
        assert!(false_names * 20 <= named, "{format}: {false_names} false in {named}");
        assert!(others.len() * 3 <= named, "{format}: {named} named, not: {others:#?}");
    }
}
