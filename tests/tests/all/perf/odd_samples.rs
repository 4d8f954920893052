//! Samples with one value that the rest of the recording contradicts.

use tracemend::{FileSet, Options, Report, Severity, check};
use tracemend_tests::forge::perf::{Attr, Built, Order, Recording, sample_type};
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

const TYPE: u64 = sample_type::IDENTIFIER
    | sample_type::IP
    | sample_type::TID
    | sample_type::TIME
    | sample_type::PERIOD;
/// Where fields of a sample are, from its header on.
const MISC: usize = 4;
const ID: usize = 8;
const TID: usize = 28;
const TIME: usize = 32;

/// A recording of many samples, and of lost records before them.
fn recording(is_lossy: bool) -> Built {
    let clock = Attr::cpu_clock(TYPE).with_ids(&[11]);
    let mut dummy = Attr::cpu_clock(TYPE).with_ids(&[12]);
    dummy.config = 9;
    let mut recording = Recording::new(Order::Little, vec![clock, dummy]);
    let mut maker = recording.maker(0);
    recording.push(maker.comm("forge"));
    if is_lossy {
        recording.push(maker.lost());
    }
    recording.extend((0..100).map(|_| maker.sample()).collect::<Vec<_>>());
    recording.build()
}

fn report(bytes: &[u8]) -> Report {
    check(&FileSet::single("perf.data", bytes), &Options::default())
}

fn is_odd(bytes: &[u8]) -> bool {
    let report = report(bytes);
    let mut found = report.findings().iter().filter(|one| one.rule.code == "PD2017");
    found.any(|one| one.severity == Severity::Warning)
}

#[test]
fn one_changed_field_of_a_sample_is_found() {
    let built = recording(false);
    assert_eq!(report(&built.bytes).counts().keys().count(), 0);
    let samples: Vec<_> = built.records.iter().filter(|record| record.kind == 9).collect();
    for index in Share::one_in(1).of(1..samples.len() - 1) {
        let at = samples[index].offset;
        let changed = |place: usize, bytes: &[u8]| {
            let mut damaged = built.bytes.clone();
            damaged[at + place..at + place + bytes.len()].copy_from_slice(bytes);
            is_odd(&damaged)
        };
        assert!(changed(ID, &[12]), "sample {index} of dummy");
        for mode in [0, 3, 4, 5, 6, 7] {
            assert!(changed(MISC, &[mode]), "sample {index} with mode {mode}");
        }
        let time = u64::from_le_bytes(built.bytes[at + TIME..at + TIME + 8].try_into().unwrap());
        assert!(changed(TIME, &(time ^ 1 << 45).to_le_bytes()), "sample {index} with another time");
        assert!(!changed(TIME, &(time + 1).to_le_bytes()), "sample {index} a nanosecond later");
    }
}

#[test]
fn a_thread_that_nothing_names_is_odd_only_if_no_record_was_lost() {
    for is_lossy in [false, true] {
        let built = recording(is_lossy);
        let sample = built.records.iter().rfind(|record| record.kind == 9).unwrap();
        let mut bytes = built.bytes.clone();
        bytes[sample.offset + TID + 1] ^= 0x20;
        assert_eq!(is_odd(&bytes), !is_lossy);
    }
}

#[test]
fn a_mode_of_several_samples_is_not_odd() {
    let built = recording(false);
    let mut bytes = built.bytes.clone();
    for sample in built.records.iter().filter(|record| record.kind == 9).take(2) {
        bytes[sample.offset + MISC] = 5;
    }
    assert!(!is_odd(&bytes));
}

#[test]
fn of_more_threads_than_are_remembered_none_is_odd() {
    if is_left_to_the_gate("of more threads than are remembered none is odd") {
        return;
    }
    let clock = Attr::cpu_clock(TYPE).with_ids(&[11]);
    for (threads, is_found) in [(1_000_u32, true), ((1 << 16) + 1, false)] {
        let mut recording = Recording::new(Order::Little, vec![clock.clone()]);
        let mut maker = recording.maker(0);
        for tid in 0..threads {
            let mut comm = maker.comm("forge");
            comm.body[..4].copy_from_slice(&7_u32.to_le_bytes());
            comm.body[4..8].copy_from_slice(&tid.to_le_bytes());
            recording.push(comm);
        }
        for tid in 0..=threads {
            recording.push(maker.sample_with(|sample| (sample.pid, sample.tid) = (7, tid)));
        }
        assert_eq!(is_odd(&recording.build().bytes), is_found, "{threads} threads");
    }
}
