//! Every recording of the corpus gives what is written beside it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use tracemend::FormatId;
use tracemend::kit::source::Source;
use tracemend::{File, FileSet, Options, Outcome, Severity};
use tracemend_tests::mended::mended_as;

/// The formats, how their recordings end, and how many sound and crashed ones there are at least.
const FORMATS: [(&str, &str, usize, usize); 4] = [
    ("apitrace", "trace", 6, 12),
    ("perf", "data", 7, 4),
    ("qemu", "log", 4, 5),
    ("revent", "revent", 6, 7),
];

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

#[test]
fn clean_recordings_give_no_warning_and_are_left_alone() {
    for (format, _, least, _) in FORMATS {
        clean_recordings(format, least);
    }
}

fn clean_recordings(format: &str, least: usize) {
    let mut seen = 0;
    for path in files_below(&corpus().join(format).join("clean")) {
        if path.is_dir() {
            continue;
        }
        let (repair, target, bytes) = read_and_mended(&path);
        assert_eq!(repair.before.format.map(FormatId::name), Some(format), "{}", path.display());
        let findings = repair.before.findings();
        assert!(
            findings.iter().all(|finding| finding.severity == Severity::Info),
            "{}: {findings:?}",
            path.display()
        );
        assert_eq!(repair.outcome, Outcome::Clean);
        assert_eq!(target, bytes);
        seen += 1;
    }
    assert!(seen >= least, "only {seen} recordings of {format}");
}

#[test]
fn a_clean_directory_gives_no_warning_and_its_samples_are_counted() {
    let paths = files_below(&corpus().join("perf/clean/threads.data"));
    let held: Vec<(String, Vec<u8>)> = paths
        .iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_string();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    let files = held
        .iter()
        .map(|(name, bytes)| File { name: name.clone(), bytes: Source::new(bytes) })
        .collect();
    let report = tracemend::check(&FileSet::new(files), &Options::default());
    assert!(report.findings().is_empty(), "{:?}", report.findings());
    assert!(report.tally.samples > 0);
}

#[test]
fn crashed_recordings_are_mended_as_written_beside_them() {
    for (format, extension, _, least) in FORMATS {
        crashed_recordings(format, extension, least);
    }
}

fn crashed_recordings(format: &str, extension: &str, least: usize) {
    let bless = std::env::var_os("BLESS").is_some();
    let mut seen = 0;
    for path in files_below(&corpus().join(format).join("crashed")) {
        if path.extension().is_none_or(|found| found != extension) {
            continue;
        }
        let found = expectation(&path);
        let beside = path.with_extension("expect");
        if bless {
            std::fs::write(&beside, &found).unwrap();
        }
        let wanted = std::fs::read_to_string(&beside).unwrap_or_default();
        assert_eq!(found, wanted, "{}", path.display());
        seen += 1;
    }
    assert!(seen >= least, "only {seen} recordings of {format}");
}

/// The repair of a file under its own name, what it gives, and what the file holds.
fn read_and_mended(path: &Path) -> (tracemend::Repair, Vec<u8>, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let (repair, target) = mended_as(name, &bytes, &Options::default());
    (repair, target, bytes)
}

/// Describes the result of a repair, to be read and compared.
fn expectation(path: &Path) -> String {
    let (repair, target, _) = read_and_mended(path);
    let mut text = String::new();
    for finding in repair.before.findings() {
        writeln!(text, "{} {} {}", finding.rule.code, finding.span, finding.message).unwrap();
    }
    for applied in &repair.applied {
        let fix = applied.fix().unwrap();
        writeln!(text, "round {}: {} {}", applied.round, fix.safety, fix.summary).unwrap();
    }
    let tally = repair.after.tally;
    writeln!(text, "{:?}: {} records, {} samples", repair.outcome, tally.records, tally.samples)
        .unwrap();
    writeln!(text, "{} bytes, crc {}", target.len(), tracemend::mend::plan::crc32(&[&target]))
        .unwrap();
    text
}
