//! Single changes at which the perf that recorded shows no sample, found by changing every field of
//! fresh recordings (the test of `newer.rs` in an exhaustive run).

use std::path::{Path, PathBuf};

use tracemend::{FileSet, Options, Outcome, Report, check};
use tracemend_tests::forge::perf::{Attr, Order, Recording, sample_type};
use tracemend_tests::mended::mended;

fn report(bytes: &[u8]) -> Report {
    check(&FileSet::single("perf.data", bytes), &Options::default())
}

fn corpus(name: &str) -> Vec<u8> {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean");
    std::fs::read(folder.join(name)).unwrap()
}

fn number(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// Place of the table's entry of a feature.
fn entry(bytes: &[u8], bit: u32) -> usize {
    let flags = u64::from_le_bytes(bytes[72..80].try_into().unwrap());
    let index = (flags & ((1 << bit) - 1)).count_ones() as usize;
    number(bytes, 40) + number(bytes, 48) + 16 * index
}

/// Takes the content of a feature away.
fn emptied(bytes: &[u8], bit: u32) -> Vec<u8> {
    let (at, mut bytes) = (entry(bytes, bit), bytes.to_vec());
    let (start, len) = (number(&bytes, at), number(&bytes, at + 8));
    bytes[at + 8..at + 16].fill(0);
    let flags = u64::from_le_bytes(bytes[72..80].try_into().unwrap());
    let later = (flags >> bit >> 1).count_ones() as usize;
    for at in (1..=later).map(|entry| at + 16 * entry) {
        let moved = number(&bytes, at) - len;
        bytes[at..at + 8].copy_from_slice(&(moved as u64).to_le_bytes());
    }
    bytes.drain(start..start + len);
    bytes
}

#[test]
fn a_text_without_bytes_hides_a_feature_that_compressed_records_need() {
    let plain = emptied(&corpus("plain.data"), 9);
    assert!(!report(&plain).has_errors());
    let packed = emptied(&corpus("zstd.data"), 9);
    assert!(report(&packed).counts().contains_key("PD2006"));
    assert!(!mended(&packed).0.after.has_errors());
}

#[test]
fn a_pipe_has_no_feature_that_only_files_have() {
    for (bit, is_refused) in [(18, true), (24, true), (25, false)] {
        let attrs = vec![Attr::cpu_clock(sample_type::IP | sample_type::TID)];
        let mut recording = Recording::pipe(Order::Little, attrs);
        let sample = recording.maker(0).sample();
        let built = recording.feature_with(bit, vec![0; 16]).push(sample).build();
        let report = report(&built.bytes);
        assert_eq!(report.counts().contains_key("PD2003"), is_refused, "{bit}: {report:?}");
        assert!(!mended(&built.bytes).0.after.has_errors());
    }
}

#[test]
fn the_number_of_events_that_becomes_0_is_an_error() {
    let sound = corpus("plain.data");
    for (count, is_fatal) in [(u32::MAX, true), (u32::MAX - 1, false)] {
        let mut bytes = sound.clone();
        let at = number(&bytes, entry(&bytes, 12));
        bytes[at..at + 4].copy_from_slice(&count.to_le_bytes());
        let (repair, _) = mended(&bytes);
        assert_eq!(repair.before.counts().contains_key("PD2006"), is_fatal, "{count}");
        assert!(!repair.after.has_errors(), "{count}");
    }
}

#[test]
fn a_map_without_a_cpu_is_malformed_and_so_are_words_of_another_size() {
    let map = |body: &[u8]| {
        let attrs = vec![Attr::cpu_clock(sample_type::IP | sample_type::TID)];
        let mut recording = Recording::pipe(Order::Little, attrs);
        let maker = recording.maker(0);
        let (mut record, sample) = (maker.cpu_map(&[0]), recording.maker(0).sample());
        record.body = body.to_vec();
        recording.push(record).push(sample);
        report(&recording.build().bytes).counts().contains_key("PD2003")
    };
    assert!(!map(&[1, 0, 1, 0, 4, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    assert!(map(&[1, 0, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    assert!(map(&[1, 0, 0, 0, 8, 0, 0, 0]));
    assert!(map(&[1, 0, 1, 0, 5, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
}

#[test]
fn features_that_a_new_table_drops_are_a_loss_beside_one_that_is_built() {
    let sound = corpus("zstd.data");
    let table = entry(&sound, 0);
    for at in (table..table + 0x60).step_by(5) {
        let mut damaged = sound.clone();
        damaged[at..at + 85].fill(0xff);
        let (repair, target) = mended(&damaged);
        let is_whole = repair.outcome != Outcome::Repaired || target == sound;
        assert!(is_whole, "{at:#x}: {:?}", repair.before.counts());
    }
}
