//! Samples inside of damaged records.

use tracemend::{Outcome, Safety};
use tracemend_tests::forge::perf::feature::{
    TRACEPOINT_NAME, TRACEPOINT_NUMBER, tracepoint_raw, tracing_data,
};
use tracemend_tests::forge::perf::{
    Attr, Built, Order, RecordSpan, Recording, Value, by_name, read_format, sample_type,
};
use tracemend_tests::mended::mended;

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
fn a_sample_inside_one_whose_counter_values_have_an_unknown_id_is_kept() {
    let values = sample_type::IDENTIFIER | sample_type::IP | sample_type::READ;
    let group = read_format::GROUP | read_format::ID;
    let attr = || Attr::cpu_clock(values).with_read_format(group);
    let attrs = vec![attr().with_ids(&[0x451]), attr().with_ids(&[0x452])];
    let mut recording = Recording::new(Order::Little, attrs);
    let mut maker = recording.maker(0);
    for value in 0..5 {
        recording.push(maker.sample_with(|sample| {
            // The end of the id and the ip look like the header of a record of 65,280 bytes.
            sample.ip = 0xff;
            sample.values = [0x451, 0x452].map(|id| Value { value, id, lost: 0 }).to_vec();
        }));
    }
    let built = recording.build();
    let end = built.records[built.first_of(9).unwrap()].range().end;
    let mut bytes = built.bytes.clone();
    bytes.drain(end - 9..end);
    let (repair, target) = mended(&bytes);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    assert_eq!(held_samples(&built, &target), [1, 2, 3, 4]);
}

/// Returns the bytes of a recording with a record whose size covers the `count` records after it.
fn joined(built: &Built, index: usize, count: usize) -> Vec<u8> {
    let records = &built.records[index..=index + count];
    let size: usize = records.iter().map(|record| record.len).sum();
    let mut bytes = built.bytes.clone();
    let at = records[0].offset + 6;
    bytes[at..at + 2].copy_from_slice(&u16::try_from(size).unwrap().to_le_bytes());
    bytes
}

#[test]
fn a_sample_whose_size_covers_the_next_ones_gets_its_size_back() {
    for (name, count) in [("sample_usual", 1), ("sample_usual", 2), ("sample_callchain", 1)] {
        let built = by_name(name).built;
        let (repair, target) = mended(&joined(&built, built.first_of(9).unwrap(), count));
        assert_eq!(repair.before.counts().keys().collect::<Vec<_>>(), [&"PD2002"], "{name}");
        assert_eq!(repair.outcome, Outcome::Repaired, "{name}");
        assert_eq!(repair.safety(), Some(Safety::Exact), "{name}");
        assert!(target == built.bytes, "{name}");
    }
}

#[test]
fn samples_in_the_size_of_another_record_are_kept() {
    let built = by_name("sample_usual").built;
    let map = built.first_of(9).unwrap() - 1;
    assert_eq!(built.records[map].kind, 10);
    let (repair, target) = mended(&joined(&built, map, 2));
    let all: Vec<usize> = (0..built.samples()).collect();
    assert_eq!(held_samples(&built, &target), all, "{:?}", repair.before.findings());
}

/// Returns a pipe with a record and five samples after it.
fn before_samples(attrs: Vec<Attr>, mut push: impl FnMut(&mut Recording)) -> Built {
    let mut recording = Recording::pipe(Order::Little, attrs);
    push(&mut recording);
    let mut maker = recording.maker(0);
    for _ in 0..5 {
        recording.push(maker.sample_with(|sample| sample.raw = tracepoint_raw(Order::Little)));
    }
    recording.build()
}

#[test]
fn samples_in_the_size_of_a_malformed_feature_are_kept() {
    let usual = sample_type::IP | sample_type::TID | sample_type::TIME;
    let built = before_samples(vec![Attr::cpu_clock(usual)], |recording| {
        recording.features([3]);
    });
    let feature = built.first_of(80).unwrap();
    let mut bytes = joined(&built, feature, 2);
    // The length of the host name.
    bytes[built.records[feature].offset + 17] = 0x70;
    let (repair, target) = mended(&bytes);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    assert_eq!(held_samples(&built, &target), [0, 1, 2, 3, 4]);
}

#[test]
fn samples_that_took_the_place_of_lost_tracing_data_are_kept() {
    let raw = sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::RAW;
    let attr = Attr::tracepoint(raw, TRACEPOINT_NUMBER, TRACEPOINT_NAME);
    let built = before_samples(vec![attr.with_ids(&[61])], |recording| {
        let record = recording.maker(0).tracing_data(&tracing_data(Order::Little));
        recording.push(record);
    });
    let sample = &built.records[built.first_of(9).unwrap()];
    let mut bytes = built.bytes.clone();
    // The payload now ends in the second sample.
    let lost = sample.offset - sample.len - 12 - 100..sample.offset - 100;
    bytes.drain(lost);
    let (repair, target) = mended(&bytes);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    assert_eq!(held_samples(&built, &target), [0, 1, 2, 3, 4]);
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
