//! Records and names that zeros or other bytes replaced.

use std::path::Path;

use tracemend::model::edit::Fix;
use tracemend::{FileSet, Options, Outcome, Report, Safety, Severity, check};
use tracemend_tests::forge::perf::{Built, Clean, RecordSpan, clean};
use tracemend_tests::mended::mended_as;

const SAMPLE: u32 = 9;

fn corpus(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean");
    std::fs::read(folder.join(name)).unwrap()
}

fn report(bytes: &[u8]) -> Report {
    check(&FileSet::single("perf.data", bytes), &Options::default())
}

fn u64_at(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// Offset, type and size of each record of a file.
fn records(bytes: &[u8]) -> Vec<(usize, u32, usize)> {
    let (mut at, end) = (u64_at(bytes, 40), u64_at(bytes, 40) + u64_at(bytes, 48));
    let mut found = Vec::new();
    while at < end {
        let kind = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let size = u16::from_le_bytes(bytes[at + 6..at + 8].try_into().unwrap()).into();
        found.push((at, kind, size));
        at += size;
    }
    found
}

const RECORDINGS: [&str; 4] = ["plain.data", "group.data", "callgraph.data", "wide.data"];

#[test]
fn a_record_without_its_size_gets_it_back() {
    let (mut restored, mut all) = (0, 0);
    for name in RECORDINGS {
        let whole = corpus(name);
        let records = records(&whole);
        for (at, kind, _) in &records[..records.len() - 1] {
            let mut damaged = whole.clone();
            damaged[at + 6..at + 8].fill(0);
            let (repair, target) = mended_as("perf.data", &damaged, &Options::default());
            if repair.safety() == Some(Safety::Exact) {
                assert!(target == whole, "{name}: a record of type {kind} at {at:#x}");
            }
            if *kind == SAMPLE {
                restored += usize::from(target == whole);
                all += 1;
            }
        }
    }
    assert!(all > 20 && restored == all, "{restored} of {all} samples were restored");
}

/// Zeros in the place of a record's size, and of the header of a later one.
fn without_headers(built: &Built, record: &RecordSpan, later: &RecordSpan) -> Vec<u8> {
    let mut bytes = built.bytes.clone();
    bytes[later.offset..later.offset + 8].fill(0);
    let size = record.offset + 6;
    bytes[record.offset..size].copy_from_slice(&built.bytes[record.offset..size]);
    bytes[size..size + 2].fill(0);
    bytes
}

/// The size that a record at `start` gets exactly.
fn exact_size(report: &Report, start: usize) -> Option<usize> {
    let mut findings = report
        .findings()
        .iter()
        .filter(|finding| finding.rule.code == "PD1002" && finding.span.start() == start as u64);
    let is_exact = |fix: &Fix| fix.safety == Safety::Exact;
    let found = findings.find(|finding| finding.fix.as_ref().is_some_and(is_exact))?;
    Some(found.span.len() as usize)
}

#[test]
fn a_record_without_its_size_covers_no_other_exactly() {
    let (mut exact, mut wrong) = (0, Vec::new());
    for Clean { name, built, .. } in clean() {
        let is_stored = |record: &&RecordSpan| {
            built.bytes.get(record.offset..record.offset + 4) == Some(&record.kind.to_le_bytes())
        };
        let records: Vec<&RecordSpan> = built.records.iter().filter(is_stored).collect();
        // Without the header of one of the next records, another one may seem to be the next.
        let pairs = records.windows(4).flat_map(|run| run.iter().map(|later| (run[0], *later)));
        for (record, later) in pairs {
            let report = report(&without_headers(&built, record, later));
            let Some(size) = exact_size(&report, record.offset) else { continue };
            exact += 1;
            if size != record.len {
                let (kind, at, lost) = (record.kind, record.offset, later.offset);
                wrong.push(format!("{name}: {kind} at {at:#x}, lost {lost:#x}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(exact > 100, "{exact} sizes came back");
}

#[test]
fn a_sample_without_its_header_stays() {
    let (mut restored, mut all) = (0, 0);
    for name in RECORDINGS {
        let whole = corpus(name);
        let records = records(&whole);
        for (at, ..) in records[..records.len() - 1].iter().filter(|(_, kind, _)| *kind == SAMPLE) {
            let mut damaged = whole.clone();
            damaged[*at..at + 8].fill(0);
            let (repair, target) = mended_as("perf.data", &damaged, &Options::default());
            assert_ne!(repair.safety(), Some(Safety::Exact), "misc is made up");
            assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{name} {at:#x}");
            let same = whole
                .iter()
                .zip(&target)
                .enumerate()
                .all(|(offset, (was, is))| was == is || (at + 4..at + 6).contains(&offset));
            restored += usize::from(same && whole.len() == target.len());
            all += 1;
        }
    }
    assert!(all > 20 && restored == all, "{restored} of {all} samples were restored");
}

#[test]
fn a_sample_of_zeros_is_an_error() {
    let mut all = 0;
    for name in RECORDINGS {
        let whole = corpus(name);
        let samples = report(&whole).tally.samples;
        for (at, _, size) in records(&whole).into_iter().filter(|(_, kind, _)| *kind == SAMPLE) {
            let mut damaged = whole.clone();
            damaged[at + 8..at + size].fill(0);
            let counts = report(&damaged).counts().clone();
            assert_eq!(counts.get("PD2001"), Some(&1), "{name} {at:#x}: {counts:?}");
            let (repair, target) = mended_as("perf.data", &damaged, &Options::default());
            assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{name} {at:#x}");
            assert_eq!(report(&target).tally.samples, samples - 1, "{name} {at:#x}");
            all += 1;
        }
    }
    assert!(all > 20, "{all}");
}

#[test]
fn a_name_without_an_end_in_event_desc_is_an_error_and_built_again() {
    let name = b"cpu-clock\0";
    // Of several events, and of a single one.
    for whole in ["group.data", "callgraph.data"].map(corpus) {
        let at = whole.windows(name.len()).rposition(|window| window == name).unwrap();
        let mut damaged = whole.clone();
        damaged[at..at + 64].fill(b'A');
        let found = report(&damaged);
        let is_error = |one: &&tracemend::Finding| one.severity == Severity::Error;
        let errors: Vec<&str> =
            found.findings().iter().filter(is_error).map(|f| f.rule.code).collect();
        assert_eq!(errors, ["PD2004"]);
        let (repair, target) = mended_as("perf.data", &damaged, &Options::default());
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
        assert!(!report(&target).has_errors());
        assert!(target.windows(name.len()).any(|window| window == name));
        // A name that is only longer than before has an end.
        let mut longer = whole.clone();
        longer[at..at + 60].fill(b'A');
        assert!(!report(&longer).has_errors());
    }
}
