//! What the rules of perf.data do together. Each by itself has a specimen (`specimens/perf.rs`).

use tracemend::{FormatId, Options, Outcome};
use tracemend_tests::forge::perf::{Built, RecordSpan, by_name};
use tracemend_tests::mended::{mended, mended_as};

#[test]
fn ids_outside_of_the_file_are_restored_by_what_surrounds_them() {
    let built = by_name("two_events_by_identifier").built;
    let (repair, target) = mended(&built.ids_section_outside(0));
    assert_eq!(repair.before.counts().keys().collect::<Vec<_>>(), [&"PD0022"]);
    assert_eq!(target, built.bytes);
}

/// Returns the samples of a sound recording that a target holds.
fn held_samples(built: &Built, target: &[u8]) -> Vec<usize> {
    let samples = built.records.iter().filter(|record| record.kind == 9);
    let is_held = |record: &RecordSpan| {
        let bytes = &built.bytes[record.range()];
        target.windows(bytes.len()).any(|window| window == bytes)
    };
    let held = samples.enumerate().filter(|(_, record)| is_held(record));
    held.map(|(index, _)| index).collect()
}

#[test]
fn samples_after_lost_bytes_are_found_inside_the_record_that_lost_them() {
    let built = by_name("sample_usual").built;
    let samples: Vec<_> = built.records.iter().filter(|record| record.kind == 9).collect();
    let hit = samples[0];
    // Of more, the bytes after the record may look like a header by chance.
    for lost in 1..10 {
        let mut bytes = built.bytes.clone();
        let at = hit.offset + 8;
        bytes.drain(at..at + lost);
        let (repair, target) = mended(&bytes);
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{lost} bytes");
        let all: Vec<usize> = (1..samples.len()).collect();
        assert_eq!(held_samples(&built, &target), all, "{lost} bytes");
    }
}

#[test]
fn a_recording_without_a_usable_header_is_rebuilt_from_its_records() {
    for name in ["plain", "few_features", "two_events_by_identifier", "big_plain"] {
        let built = by_name(name).built;
        let mut bytes = built.zeroed(16..72);
        // What lies before the ids and attrs has moved them, too.
        bytes.splice(72..72, [0; 5]);
        let (repair, target) = mended(&bytes);
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{name}");
        let samples = built.records.iter().filter(|record| record.kind == 9).count();
        assert_eq!(held_samples(&built, &target).len(), samples, "{name}");
    }
}

#[test]
fn a_malformed_feature_in_a_pipe_is_an_error_and_is_dropped() {
    let built = by_name("pipe_features").built;
    let feature = built.records.iter().find(|record| record.kind == 80).unwrap();
    // The length of the first string, after the header and the number of the feature.
    let (repair, target) = mended(&built.with_byte(feature.offset + 17, 0x70));
    assert_eq!(repair.before.counts().keys().collect::<Vec<_>>(), [&"PD2003"]);
    assert_eq!(target.len(), built.bytes.len() - feature.len);
}

#[test]
fn a_lost_magic_is_restored_if_the_user_names_the_format() {
    for name in ["plain", "big_plain", "pipe"] {
        let built = by_name(name).built;
        let options = Options::default().with_format(FormatId::PERF);
        let (repair, target) = mended_as("perf.data", &built.zeroed(0..8), &options);
        assert_eq!(repair.before.counts().keys().collect::<Vec<_>>(), [&"PD0021"], "{name}");
        assert_eq!(target, built.bytes, "{name}");
    }
}
