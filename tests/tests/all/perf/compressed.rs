//! Compressed records that lost bytes, or state a wrong length.

use std::path::Path;

use tracemend::{FileSet, Options, Outcome, Report, check};
use tracemend_tests::forge::perf::{Built, RecordSpan, by_name};
use tracemend_tests::mended::mended;

fn report(bytes: &[u8]) -> Report {
    check(&FileSet::single("perf.data", bytes), &Options::default())
}

fn codes(bytes: &[u8]) -> Vec<&'static str> {
    report(bytes).counts().keys().copied().collect()
}

fn packed(built: &Built) -> Vec<RecordSpan> {
    let records = built.records.iter().filter(|record| matches!(record.kind, 81 | 83));
    records.cloned().collect()
}

/// Ends a pipe recording with `len` bytes of the data of its last compressed record.
fn end_with(built: &Built, len: usize) -> Vec<u8> {
    let last = packed(built).pop().unwrap();
    let mut bytes = built.cut(last.offset + 8 + len);
    let size = u16::try_from(8 + len).unwrap();
    bytes[last.offset + 6..last.offset + 8].copy_from_slice(&size.to_le_bytes());
    bytes
}

/// Takes all but `len` bytes of the data out of a compressed record of a pipe.
fn shorten(bytes: &[u8], record: &RecordSpan, len: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.drain(record.offset + 8 + len..record.range().end);
    let size = u16::try_from(8 + len).unwrap();
    bytes[record.offset + 6..record.offset + 8].copy_from_slice(&size.to_le_bytes());
    bytes
}

#[test]
fn data_that_end_inside_a_block_are_an_error_at_every_length() {
    let built = by_name("compressed_pipe").built;
    let last = packed(&built).pop().unwrap();
    for len in 0..last.len - 8 {
        let bytes = end_with(&built, len);
        assert_eq!(codes(&bytes), ["PD8004"], "{len} bytes");
        let (repair, target) = mended(&bytes);
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{len} bytes");
        // The record before has the first half of one that continued in the lost bytes.
        assert_eq!(codes(&target), ["PD8003"], "{len} bytes");
    }
    assert!(!report(&built.bytes).has_errors());
}

#[test]
fn a_block_that_the_next_record_does_not_continue_is_dropped_with_it() {
    let built = by_name("compressed_pipe").built;
    let first = packed(&built).remove(0);
    for len in 0..first.len - 8 {
        let bytes = shorten(&built.bytes, &first, len);
        assert!(report(&bytes).has_errors(), "{len} bytes");
        let (repair, target) = mended(&bytes);
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{len} bytes");
        assert!(!report(&target).has_errors(), "{len} bytes: {:?}", codes(&target));
    }
}

#[test]
fn a_data_size_that_does_not_match_the_blocks_is_restored() {
    for name in ["compressed2", "compressed2_spanning"] {
        let built = by_name(name).built;
        for record in packed(&built) {
            let at = record.offset + 8;
            let right = u64::from_le_bytes(built.bytes[at..at + 8].try_into().unwrap());
            let most = u64::try_from(record.len).unwrap() + 16;
            for wrong in (0..most).chain([u64::MAX, 1 << 32]).filter(|size| *size != right) {
                let bytes = built.with_u64(at, wrong);
                assert_eq!(codes(&bytes), ["PD8005"], "{name}: {wrong} for {right}");
                let (repair, target) = mended(&bytes);
                // The blocks are stored as they are: their last zeros may be padding.
                let room = &built.bytes[at + 8..record.range().end];
                let is_possible = (room.len().saturating_sub(7)..=room.len())
                    .contains(&usize::try_from(wrong).unwrap_or(usize::MAX));
                let [from, to] = [wrong.min(right), right].map(|at| usize::try_from(at).unwrap());
                let has_proof = !is_possible || room[from..to].iter().any(|byte| *byte != 0);
                let outcome = if has_proof { Outcome::Repaired } else { Outcome::RepairedWithLoss };
                assert_eq!(repair.outcome, outcome, "{name}: {wrong} for {right}");
                assert_eq!(target, built.bytes, "{name}: {wrong} for {right}");
            }
        }
    }
}

#[test]
fn a_flipped_bit_in_the_padding_is_no_fault_of_the_length() {
    let mut flipped = 0;
    for name in ["compressed2", "compressed2_spanning"] {
        let built = by_name(name).built;
        for record in packed(&built) {
            let at = record.offset + 8;
            let len = u64::from_le_bytes(built.bytes[at..at + 8].try_into().unwrap());
            let padding = at + 8 + usize::try_from(len).unwrap()..record.range().end;
            for bit in padding.start * 8..padding.end * 8 {
                let mut bytes = built.bytes.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                // Older versions of perf have no such records.
                assert_eq!(codes(&bytes), ["PD0035"], "{name}: bit {bit}");
                flipped += 1;
            }
        }
    }
    assert!(flipped > 0);
}

#[test]
fn a_real_block_cut_anywhere_is_an_error() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean/zstd.data");
    let bytes = std::fs::read(path).unwrap();
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let [start, size] = [40, 48].map(|at| usize::try_from(number(at)).unwrap());
    let mut at = start;
    while bytes[at] != 81 {
        at += usize::from(u16::from_le_bytes([bytes[at + 6], bytes[at + 7]]));
    }
    let len = usize::from(u16::from_le_bytes([bytes[at + 6], bytes[at + 7]])) - 8;
    for cut in (0..len).step_by(7) {
        // The features would have to move; without them the feature COMPRESSED is missing.
        let mut bytes = bytes[..start + size].to_vec();
        bytes[72..104].fill(0);
        bytes.drain(at + 8 + cut..at + 8 + len);
        bytes[at + 6..at + 8].copy_from_slice(&u16::try_from(8 + cut).unwrap().to_le_bytes());
        let size = u64::try_from(size - (len - cut)).unwrap();
        bytes[48..56].copy_from_slice(&size.to_le_bytes());
        assert!(codes(&bytes).contains(&"PD8004"), "{cut} of {len} bytes: {:?}", codes(&bytes));
    }
}

/// Finds the first sample of the expanded stream that lies in the file as it is, in a raw block.
fn raw_sample(built: &Built) -> usize {
    let samples = built.expanded_records.iter().filter(|record| record.kind == 9);
    let mut places = samples.filter_map(|record| {
        let wanted = &built.expanded[record.offset..record.offset + record.len];
        built.bytes.windows(wanted.len()).position(|bytes| bytes == wanted)
    });
    places.next().unwrap()
}

/// Moves the only attr and its ids to the end of a file, where `perf inject` writes those of a
/// pipe.
fn with_attrs_at_the_end(bytes: &[u8]) -> Vec<u8> {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let section = |at: usize| {
        let start = usize::try_from(word(at)).unwrap();
        start..start + usize::try_from(word(at + 8)).unwrap()
    };
    let attrs = section(24);
    let ids = section(attrs.end - 16);
    let mut moved = [bytes, &bytes[ids.clone()], &bytes[attrs.clone()]].concat();
    let start = bytes.len() + ids.len();
    moved[24..32].copy_from_slice(&(start as u64).to_le_bytes());
    let ids_at = start + attrs.len() - 16;
    moved[ids_at..ids_at + 8].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
    moved
}

#[test]
fn a_bad_record_inside_compressed_records_costs_that_record_alone() {
    let built = by_name("compressed_spanning").built;
    let at = raw_sample(&built);
    for sound in [built.bytes.clone(), with_attrs_at_the_end(&built.bytes)] {
        let samples = report(&sound).tally.samples;
        assert!(!report(&sound).has_errors());
        // The type, and the size.
        for (field, bit) in [(0, 1 << 5), (6, 1 << 3)] {
            let mut bytes = sound.clone();
            bytes[at + field] ^= bit;
            assert!(report(&bytes).has_errors(), "byte {field}");
            let (repair, target) = mended(&bytes);
            assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "byte {field}");
            let after = report(&target);
            assert!(!after.has_errors(), "byte {field}");
            assert!(after.tally.samples + 1 >= samples, "byte {field}: {}", after.tally.samples);
        }
    }
}

#[test]
fn a_feature_that_compressed_records_need_and_that_cannot_be_read_is_an_error() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean/zstd.data");
    let sound = std::fs::read(path).unwrap();
    let number = |at: usize| u64::from_le_bytes(sound[at..at + 8].try_into().unwrap()) as usize;
    let flags = u64::from_le_bytes(sound[72..80].try_into().unwrap());
    let index = (flags & ((1 << 27) - 1)).count_ones() as usize;
    let size = number(40) + number(48) + 16 * index + 8;
    for len in [0_u8, 3] {
        let mut damaged = sound.clone();
        damaged[size] = len;
        // Then it has the bytes of the next feature.
        let (start, less) = (number(size - 8) + usize::from(len), 20 - usize::from(len));
        damaged.splice(start..start + less, []);
        let later = (flags >> 28).count_ones() as usize;
        for at in (1..=later).map(|entry| size - 8 + 16 * entry) {
            damaged[at..at + 8].copy_from_slice(&((number(at) - less) as u64).to_le_bytes());
        }
        assert!(codes(&damaged).contains(&"PD0011"), "{len}: {:?}", codes(&damaged));
        assert!(report(&damaged).has_errors());
        assert!(!report(&mended(&damaged).1).has_errors(), "{len}");
    }
}
