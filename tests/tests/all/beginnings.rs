//! Recordings that other bytes precede, or whose beginning is lost: the format is found all the
//! same, and never in bytes that are no recording.

use std::collections::BTreeSet;
use std::path::Path;

use tracemend::{FileSet, FormatId, Options, Outcome, Verdict, check, common, recognise, repair};
use tracemend_tests::known_originals::{Dice, Files, Original, SUBJECTS, Subject, set};
use tracemend_tests::notice;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// Seed of the noise.
const SEED: u64 = 44;
/// Records of an original that are enough to find it by them.
const RECORDS: usize = 16;
/// Type of the first record that perf writes itself; those before it are of the kernel.
const FIRST_OF_PERF: u8 = 64;
/// Originals of a format.
const ORIGINALS: usize = 12;

/// Bytes that tools write before a recording: a mark of the byte order, lines of a bridge to a
/// device, and an empty line.
const PREFIXES: [&[u8]; 5] = [
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\n",
    b"* daemon not running; starting now at tcp:5037\n* daemon started successfully\n",
    b"Warning: the clock of the device is 3 s behind\r\n",
];

/// Runs `each` for originals of one file, of every format that has such.
fn for_each(mut each: impl FnMut(&Subject, &Original)) -> usize {
    let mut count = 0;
    for subject in SUBJECTS {
        let single = subject.originals.iter().filter(|original| original.files.len() == 1);
        for original in single.take(ORIGINALS) {
            each(subject, original);
            count += 1;
        }
    }
    count
}

fn with_bytes(original: &Original, bytes: Vec<u8>) -> Files {
    vec![(original.files[0].0.clone(), bytes)]
}

#[test]
fn a_recording_after_other_bytes_is_found_and_given_back() {
    if is_left_to_the_gate("a recording after other bytes is found and given back") {
        return;
    }
    let options = Options::default();
    for prefix in PREFIXES {
        let count = for_each(|subject, original| {
            let case = format!("{} {} after {prefix:?}", subject.format, original.name);
            let bytes = &original.files[0].1;
            let files = with_bytes(original, [prefix, bytes].concat());
            let files = set(&files);
            let report = check(&files, &options);
            assert_eq!(report.count(&common::INSERTED_BYTES), 1, "{case}: {report:#?}");
            let repair = repair(&files, &options);
            assert_eq!(repair.outcome, Outcome::Repaired, "{case}: {repair:#?}");
            assert!(repair.output(&files).bytes(0).to_vec() == *bytes, "{case}");
        });
        assert!(count >= 40, "{count} recordings");
    }
}

#[test]
fn a_perf_recording_without_its_beginning_keeps_records_of_the_original() {
    let subject = SUBJECTS.iter().find(|subject| subject.format == FormatId::PERF).unwrap();
    let identities = |original: &Original, files: &Files| -> BTreeSet<Vec<u8>> {
        let records = (subject.records)(original, files).into_iter();
        // The others describe the recording: a repair makes them up, and says so.
        let records = records.map(|record| record.identity);
        records.filter(|bytes| bytes[..4].iter().all(|byte| *byte < FIRST_OF_PERF)).collect()
    };
    let (mut repaired, mut cases) = (0, 0);
    // A few records may be there by chance.
    let has_many = |one: &&Original| {
        one.files.len() == 1 && (subject.records)(one, &one.files).len() >= RECORDS
    };
    for original in Share::one_in(6).of(subject.originals.iter().filter(has_many)) {
        let bytes = &original.files[0].1;
        for lost in [16, 104, 512].into_iter().filter(|lost| bytes.len() > 8 * lost) {
            let zeroed = [&vec![0; lost], &bytes[lost..]].concat();
            for damaged in [zeroed, bytes[lost..].to_vec()] {
                let files = with_bytes(original, damaged);
                let source = set(&files);
                let case = format!("{} without {lost} bytes", original.name);
                cases += 1;
                if recognise(&source, &Options::default()) != Some(FormatId::PERF) {
                    continue;
                }
                let repair = repair(&source, &Options::default());
                if !matches!(repair.outcome, Outcome::Repaired | Outcome::RepairedWithLoss) {
                    continue;
                }
                let output = with_bytes(original, repair.output(&source).bytes(0).to_vec());
                let (kept, all) =
                    (identities(original, &output), identities(original, &original.files));
                let foreign = kept.difference(&all).count();
                assert_eq!(foreign, 0, "{case}: of {} records", kept.len());
                repaired += usize::from(!kept.is_empty());
            }
        }
    }
    assert!(repaired * 10 >= cases * 7, "{repaired} of {cases} were repaired");
}

/// A beginning that is lost: zeros, noise, or nothing in its place.
fn lose_beginning(bytes: &[u8], lost: usize, dice: &mut Dice<'_>) -> [Vec<u8>; 3] {
    let noise: Vec<u8> = (0..lost).map(|_| u8::try_from(dice.below(256)).unwrap()).collect();
    let rest = &bytes[lost..];
    [[&vec![0; lost], rest].concat(), [&noise, rest].concat(), rest.to_vec()]
}

#[test]
fn a_recording_of_revent_without_its_beginning_is_found_by_its_events() {
    if is_left_to_the_gate("a recording of revent without its beginning is found by its events") {
        return;
    }
    let subject = SUBJECTS.iter().find(|subject| subject.format == FormatId::REVENT).unwrap();
    let mut dice = Dice::seeded(SEED);
    let [mut cases, mut repaired] = [0; 2];
    for original in subject.originals.iter() {
        let count = (subject.records)(original, &original.files).len();
        for lost in [1, 6, 16, 30, 400].into_iter().filter(|_| count >= RECORDS) {
            if lost * 8 > original.files[0].1.len() {
                continue;
            }
            for damaged in lose_beginning(&original.files[0].1, lost, &mut dice) {
                let files = with_bytes(original, damaged);
                let source = set(&files);
                cases += 1;
                if recognise(&source, &Options::default()) != Some(FormatId::REVENT) {
                    continue;
                }
                let repair = repair(&source, &Options::default());
                let output = with_bytes(original, repair.output(&source).bytes(0).to_vec());
                let kept = (subject.records)(original, &output).len();
                repaired +=
                    usize::from(repair.outcome != Outcome::CannotRepair && kept * 2 >= count);
            }
        }
    }
    notice::say(&format!("revent without a beginning, seed {SEED}: {repaired} of {cases}"));
    assert!(repaired * 10 >= cases * 7, "{repaired} of {cases} were repaired");
}

/// Bytes that a trace loses at its beginning.
const LOST_OF_TRACE: [usize; 4] = [16, 64, 512, 4_096];

#[test]
fn a_trace_in_snappy_without_its_beginning_is_found_by_the_names_in_it() {
    if is_left_to_the_gate("a trace in snappy without its beginning is found by the names in it") {
        return;
    }
    let mut dice = Dice::seeded(SEED);
    let [mut cases, mut repaired] = [0; 2];
    for name in ["eglinfo.trace", "es2tri.trace"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/apitrace/clean");
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let whole = check(&FileSet::single(name, &bytes), &Options::default());
        for lost in LOST_OF_TRACE {
            for damaged in lose_beginning(&bytes, lost, &mut dice) {
                cases += 1;
                let files = FileSet::single(name, &damaged);
                let repair = repair(&files, &Options::default());
                if repair.outcome != Outcome::RepairedWithLoss {
                    continue;
                }
                let after = check(&repair.output(&files), &Options::default());
                assert_eq!(after.format, Some(FormatId::APITRACE), "{name} without {lost} bytes");
                repaired += usize::from(after.tally.samples * 2 >= whole.tally.samples);
            }
        }
    }
    notice::say(&format!("traces without a beginning, seed {SEED}: {repaired} of {cases}"));
    // Noise may read as an element that hides most of a chunk.
    assert!(repaired * 10 >= cases * 8, "{repaired} of {cases} were repaired");
}

#[test]
fn no_format_is_found_in_other_files() {
    let mut dice = Dice::seeded(SEED);
    let noise: Vec<u8> = (0..40_000).map(|_| u8::try_from(dice.below(256)).unwrap()).collect();
    let source = include_bytes!("beginnings.rs");
    let names = (0..4_000).map(|number| format!("glVertex{number}\0\0\x01\0"));
    let others: [(&str, Vec<u8>); 7] = [
        ("names of functions", names.collect::<String>().into_bytes()),
        ("zeros", vec![0; 40_000]),
        ("ones", vec![0xff; 40_000]),
        ("noise", noise.clone()),
        ("noise after a line", [&b"noise\n"[..], &noise].concat()),
        ("a source", source.to_vec()),
        ("words", b"at home, the REVENT and the PERFILE2 are words\n".repeat(200)),
    ];
    for (name, bytes) in others {
        let files = FileSet::single(name, &bytes);
        let report = check(&files, &Options::default());
        assert_eq!((report.format, report.verdict()), (None, Verdict::Unreadable), "{name}");
        assert_eq!(report.count(&common::UNKNOWN_FORMAT), 1, "{name}");
    }
}

#[test]
fn a_gap_after_the_magic_of_perf_begins_there_whatever_the_magic_reads_as() {
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == "perf").unwrap();
    let mut seen = 0;
    for original in subject.originals.iter().filter(|original| original.files.len() == 1) {
        let bytes = &original.files[0].1;
        // All fields of the header up to the feature bits, or these as well.
        for end in [72, 88, 104] {
            let files = with_bytes(original, [&bytes[..8], &bytes[end..]].concat());
            let report = check(&set(&files), &Options::default());
            let gaps = report.findings().iter().filter(|one| *one.rule == common::MISSING_BYTES);
            for gap in gaps {
                let case = format!("{} without 8..{end}: {}", original.name, gap.message);
                assert!(gap.span.start() >= 8, "{case}");
                seen += 1;
            }
        }
    }
    assert!(seen > 0);
}
