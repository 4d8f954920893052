//! Recordings of simpleperf, the recorder of Android: sound ones are left alone, and damage is
//! found.

use tracemend::{AuditRequest, FileSet, Options, Outcome, RedactRequest, Report, Safety, Severity};
use tracemend_tests::forge::perf::simpleperf::{self, DEVICE, PATH, SYMBOL};
use tracemend_tests::forge::perf::{self as forge};
use tracemend_tests::mended::mended;

fn check(bytes: &[u8]) -> Report {
    tracemend::check(&FileSet::single("perf.data", bytes), &Options::default())
}

fn errors(bytes: &[u8]) -> u64 {
    check(bytes).count_of(Severity::Error)
}

fn named(name: &str) -> Vec<u8> {
    let found = simpleperf::all().into_iter().find(|(of, _)| *of == name);
    found.unwrap_or_else(|| panic!("no recording {name}")).1
}

fn number(bytes: &[u8], at: usize) -> usize {
    usize::try_from(u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap()
}

fn table(bytes: &[u8]) -> usize {
    number(bytes, 40) + number(bytes, 48)
}

fn entries(bytes: &[u8]) -> usize {
    bytes[72..104].iter().map(|byte| usize::try_from(byte.count_ones()).unwrap()).sum()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn every_trait_is_sound() {
    for (name, bytes) in simpleperf::all() {
        let (repair, target) = mended(&bytes);
        let found = repair.before.findings().iter().filter(|one| one.severity > Severity::Info);
        let found: Vec<_> = found.map(|one| (one.rule.code, one.message.clone())).collect();
        assert_eq!(found, [], "{name}");
        assert_eq!(repair.outcome, Outcome::Clean, "{name}");
        assert!(target == bytes, "{name}");
    }
}

#[test]
fn one_damaged_number_of_the_table_gets_the_value_that_fills_the_file() {
    for name in ["files", "messages", "aux"] {
        let bytes = named(name);
        let table = table(&bytes);
        for entry in 0..entries(&bytes) {
            for bit in [0, 3, 9, 33, 62, 64, 67, 73, 97] {
                let mut damaged = bytes.clone();
                damaged[table + entry * 16 + bit / 8] ^= 1 << (bit % 8);
                let (repair, target) = mended(&damaged);
                let codes: Vec<_> = repair.before.counts().keys().copied().collect();
                assert_eq!(codes, ["PD0024"], "{name}, entry {entry}, bit {bit}");
                assert_eq!(repair.safety(), Some(Safety::Exact), "{name}, {entry}, {bit}");
                assert!(target == bytes, "{name}, entry {entry}, bit {bit}");
            }
        }
    }
}

#[test]
fn a_damaged_count_or_text_in_a_feature_is_found() {
    let files = named("files");
    let path = files.windows(PATH.len()).position(|part| part == PATH.as_bytes()).unwrap();
    let messages = named("messages");
    let text = messages.windows(PATH.len()).position(|part| part == PATH.as_bytes()).unwrap();
    // The size of the first file, its number of symbols, and the length of a text.
    let places = [(&files, path - 4), (&files, path + PATH.len() + 1 + 12), (&messages, text - 1)];
    for (bytes, at) in places {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        let report = check(&damaged);
        let codes: Vec<_> = report.counts().keys().copied().collect();
        assert_eq!(codes, ["PD2004"], "byte {at:#x}");
    }
}

#[test]
fn a_damaged_count_in_a_record_is_found() {
    let bytes = named("records");
    let at = number(&bytes, 40);
    let mut place = at;
    let mut seen = 0;
    while place < table(&bytes) {
        let kind = u32::from_le_bytes(bytes[place..place + 4].try_into().unwrap());
        let size = usize::from(u16::from_le_bytes(bytes[place + 6..place + 8].try_into().unwrap()));
        // The places of the counts: kallsyms, events, entries of the chain, bytes of the stack.
        let count = [(32_769, 8), (32_774, 8), (32_775, 32), (32_776, 88)];
        if let Some((_, at)) = count.iter().find(|(of, at)| *of == kind && at + 8 <= size) {
            let mut damaged = bytes.clone();
            damaged[place + at + 1] ^= 0x10;
            let report = check(&damaged);
            assert!(report.count_of(Severity::Error) > 0, "record of type {kind} at {place:#x}");
            seen += 1;
        }
        place += size;
    }
    assert!(seen >= 4, "{seen} counts");
}

#[test]
fn its_types_are_damage_in_a_recording_of_perf() {
    let clean = forge::by_name("plain").built;
    let bytes = &clean.bytes;
    assert_eq!(errors(bytes), 0);
    for record in clean.records.iter().filter(|record| record.kind == 9 || record.kind == 3) {
        let mut damaged = bytes.clone();
        damaged[record.offset + 1] ^= 0x80;
        assert!(errors(&damaged) > 0, "record at {:#x}", record.offset);
    }
}

#[test]
fn names_of_its_features_and_records_are_replaced_or_named() {
    for (name, bytes) in simpleperf::all() {
        let files = FileSet::single("perf.data", &bytes);
        let redaction =
            tracemend::redact(&files, &Options::default(), &RedactRequest::default()).unwrap();
        let output = redaction.repair.output(&files).bytes(0).read(0, u64::MAX).into_owned();
        // Compressed records are stored anew, in another length.
        assert!(output.len() == bytes.len() || name == "compressed", "{name}");
        for text in [SYMBOL, PATH, DEVICE] {
            assert!(!contains(&output, text), "{name}: {text}");
        }
        assert_eq!(errors(&output), 0, "{name}");
        // The parts of a record cannot be replaced, so they are named.
        let is_named = redaction.left.iter().any(|left| left.field == "SIMPLEPERF_SPLIT");
        assert_eq!(is_named, name == "split");
        let again = tracemend::audit(
            &FileSet::single("perf.data", &output),
            &Options::default(),
            &AuditRequest::default(),
        );
        let again = again.findings().iter().filter(|one| one.message.contains("unclaimed"));
        assert_eq!(again.count(), 0, "{name}");
    }
}
