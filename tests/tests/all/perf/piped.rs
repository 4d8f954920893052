//! Attrs of pipes: HEADER_ATTR records and their copies in EVENT_DESC.

use std::path::{Path, PathBuf};

use tracemend::{FileSet, Options, Outcome, Safety, check};
use tracemend_tests::forge::perf::rot;
use tracemend_tests::forge::perf::{
    Attr, Built, Order, RecordSpan, Recording, by_name, feature_bit, sample_type as bit,
};
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::mended::{mended, mended_as};

const TYPE: u64 = bit::IP | bit::TID | bit::TIME | bit::IDENTIFIER;
/// Types of records.
const HEADER_ATTR: u32 = 64;
const HEADER_FEATURE: u32 = 80;
/// Offsets in an attr.
const SIZE: usize = 4;
const SAMPLE_TYPE: usize = 24;
const FLAGS: usize = 40;

/// Two events with samples, and the features besides.
fn pipe_with(order: Order, features: &[u32]) -> Built {
    let attrs =
        vec![Attr::cpu_clock(TYPE).with_ids(&[11, 12]), Attr::page_faults(TYPE).with_ids(&[21])];
    let mut recording = Recording::pipe(order, attrs);
    recording.features(features.iter().copied());
    for event in [0, 1, 0] {
        let sample = recording.maker(event).sample();
        recording.push(sample);
    }
    recording.build()
}

fn pipe(order: Order) -> Built {
    pipe_with(order, &[3, feature_bit::EVENT_DESC])
}

fn records(built: &Built, kind: u32) -> Vec<&RecordSpan> {
    built.records.iter().filter(|record| record.kind == kind).collect()
}

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean").join(name)
}

fn codes(bytes: &[u8]) -> Vec<&'static str> {
    let report = check(&FileSet::single("perf.data", bytes), &Options::default());
    report.counts().keys().copied().collect()
}

#[test]
fn a_damaged_layout_or_size_of_an_attr_in_a_pipe_gets_the_value_of_event_desc() {
    for order in [Order::Little, Order::Big] {
        let built = pipe(order);
        assert_eq!(codes(&built.bytes), [""; 0]);
        for record in records(&built, HEADER_ATTR) {
            for at in (SIZE..8).chain(SAMPLE_TYPE..SAMPLE_TYPE + 4) {
                let at = record.offset + 8 + at;
                for flipped in [1, 0x10, 0x80] {
                    let (repair, target) = mended(&built.with_byte(at, built.bytes[at] ^ flipped));
                    assert_eq!(codes_of(&repair), ["PD0026"], "byte {at} {flipped:#x}");
                    assert!(target == built.bytes, "byte {at} {flipped:#x}");
                }
            }
        }
    }
}

fn codes_of(repair: &tracemend::mend::rounds::Repair) -> Vec<&'static str> {
    repair.before.counts().keys().copied().collect()
}

#[test]
fn a_damaged_id_of_a_pipe_gets_the_value_that_samples_name() {
    for order in [Order::Little, Order::Big] {
        let built = pipe(order);
        let attr = records(&built, HEADER_ATTR)[1];
        let id = attr.range().end - 8;
        let (repair, target) = mended(&built.with_byte(id + 3, 0x40));
        assert_eq!(codes_of(&repair), ["PD0027"], "{order:?}");
        assert_eq!((repair.outcome, repair.safety()), (Outcome::Repaired, Some(Safety::Exact)));
        assert!(target == built.bytes);
    }
}

#[test]
fn an_attr_that_differs_from_its_copy_is_named_even_if_nothing_shows_which_is_right() {
    /// The flag `exclude_idle`, which no record tells.
    const EXCLUDE_IDLE: u8 = 1 << 7;
    let plain = std::fs::read(corpus("plain.data")).unwrap();
    let place = usize::try_from(u64::from_le_bytes(plain[24..32].try_into().unwrap())).unwrap();
    let built = pipe(Order::Little);
    let piped = records(&built, HEADER_ATTR)[0].offset + 8;
    for (bytes, attr, path) in
        [(&plain, place, "features.EVENT_DESC"), (&built.bytes, piped, "data.EVENT_DESC")]
    {
        let mut damaged = bytes.clone();
        damaged[attr + FLAGS] ^= EXCLUDE_IDLE;
        let (repair, target) = mended(&damaged);
        assert_eq!(codes_of(&repair), ["PD2007"], "{path}");
        let finding = &repair.before.findings()[0];
        assert_eq!(finding.path, path);
        assert!(finding.fix.as_ref().is_some_and(|fix| fix.safety == Safety::Manual));
        assert_eq!(repair.outcome, Outcome::Clean);
        assert!(target == damaged);
    }
}

#[test]
fn an_attr_of_a_pipe_that_gained_or_lost_bytes_is_as_event_desc_has_it() {
    let (mut all, mut exact) = (0, 0);
    let noise: Vec<u8> = (0..200_u32).map(|at| (at * 151 + 90).to_le_bytes()[0]).collect();
    for order in [Order::Little, Order::Big] {
        let built = pipe(order);
        let sound = &built.bytes;
        for record in records(&built, HEADER_ATTR) {
            let record = record.offset..record.offset + record.len;
            for (turn, at) in (record.start + 8..record.end).step_by(5).enumerate() {
                let len = [1, 200, 8, 32, 3][turn % 5];
                let inserted = [&noise[..len], &[0; 200][..len]][turn % 2];
                let damaged = [&sound[..at], inserted, &sound[at..]].concat();
                let (repair, target) = mended(&damaged);
                assert!(target == *sound, "{order:?} {at}: {len} bytes inserted");
                // Bytes before the last id may as well be what damage made of later records.
                let differs = (at..).find(|at| damaged[*at] != sound[*at]).unwrap();
                if len < 8 || record.end.saturating_sub(differs) >= 16 {
                    all += 1;
                    exact += usize::from(repair.outcome == Outcome::Repaired);
                }
                let end = record.end.min(at + len);
                let damaged = [&sound[..at], &sound[end..]].concat();
                assert!(mended(&damaged).1 == *sound, "{order:?} {at}..{end} lost");
            }
        }
    }
    // Eight bytes among the ids are an id that nothing else has.
    assert!(exact * 10 >= all * 9, "{exact} of {all}");
}

#[test]
fn a_feature_that_became_an_attr_is_a_feature_again() {
    let built = by_name("pipe_features").built;
    for feature in records(&built, HEADER_FEATURE) {
        if feature.len <= 16 {
            continue;
        }
        let (repair, target) = mended_as(
            "perf.data",
            &built.with_byte(feature.offset, u8::try_from(HEADER_ATTR).unwrap()),
            &Options::default(),
        );
        assert_eq!(codes_of(&repair), ["PD1007"], "at {:#x}", feature.offset);
        assert!(target == built.bytes, "at {:#x}", feature.offset);
    }
}

#[test]
fn ids_of_a_pipe_begin_where_the_size_of_the_attr_leads() {
    // Without EVENT_DESC, only the ids of the samples show that the size is wrong.
    let built = pipe_with(Order::Little, &[]);
    let size = records(&built, HEADER_ATTR)[0].offset + 8 + SIZE;
    assert_eq!(codes(&built.bytes), [""; 0]);
    // The ids follow one byte after the start of the attr, as perf reads them.
    assert_eq!(codes(&built.with_byte(size, 1)), ["PD0017", "PD2005"]);
}

#[test]
fn a_type_that_the_perf_of_a_pipe_did_not_have_is_damaged() {
    let pipe = std::fs::read(corpus("pipe.data")).unwrap();
    assert_eq!(codes(&pipe), [""; 0]);
    let records = rot::records(&pipe, 16..pipe.len(), true);
    // ID_INDEX as SCHEDSTAT_CPU, whose body may be any, and FINISHED_INIT as an unknown type.
    for (kind, found) in [(69, 85), (82, 90)] {
        let (_, range) = records.iter().find(|(of, _)| *of == kind).unwrap();
        let mut bytes = pipe.clone();
        bytes[range.start] = found;
        let (repair, _) = mended(&bytes);
        assert_eq!(codes_of(&repair), ["PD1007"], "{found}");
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{found}");
    }
}

#[test]
fn a_name_for_another_event_is_not_given_to_the_only_one() {
    const EVENT_UPDATE: u32 = 78;
    let perf = Perf::find_or_skip();
    let folder = tempfile::tempdir().unwrap();
    let shown = |bytes: &[u8]| {
        let path = folder.path().join("perf.data");
        std::fs::write(&path, bytes).unwrap();
        perf.as_ref().map(|perf| perf.samples_by_event(&path))
    };
    let pipe = std::fs::read(corpus("pipe.data")).unwrap();
    let sound = shown(&pipe);
    let records = rot::records(&pipe, 16..pipe.len(), true);
    let updates: Vec<_> = records.iter().filter(|(of, _)| *of == EVENT_UPDATE).collect();
    assert!(updates.len() > 2, "{}", updates.len());
    let mut is_misled = perf.is_none();
    for (_, record) in updates {
        let id = record.start + 16..record.start + 24;
        // A unit or a scale changes no sample.
        for at in id.clone().filter(|_| pipe[record.start + 8] == 2) {
            let mut damaged = pipe.clone();
            damaged[at] ^= 0x41;
            let (repair, target) = mended(&damaged);
            assert_eq!(codes_of(&repair), ["PD2003"], "{at:#x}");
            assert!(target == pipe, "{at:#x}");
        }
        // The unit of the event becomes a name, and its id that of no event.
        let mut damaged = pipe.clone();
        damaged[record.start + 8] = 2;
        damaged[id].fill(0x5d);
        damaged[record.start + 24..record.start + 32].copy_from_slice(b"another\0");
        let (repair, target) = mended(&damaged);
        assert_eq!(codes_of(&repair), ["PD2003"]);
        assert_eq!(target.len() + record.len(), pipe.len());
        assert_eq!(shown(&target), sound);
        is_misled |= shown(&damaged) != sound;
    }
    assert!(is_misled, "perf shows none of the names");
}

#[test]
fn each_of_many_attrs_of_a_pipe_is_read_once() {
    // Each record sorted the ids of all attrs before it: hours.
    let attrs = (0..60_000).map(|id| Attr::cpu_clock(TYPE).with_ids(&[id])).collect();
    let mut recording = Recording::pipe(Order::Little, attrs);
    let sample = recording.maker(59_999).sample();
    recording.push(sample);
    let built = recording.build();
    let report = check(&FileSet::single("perf.data", &built.bytes), &Options::default());
    assert_eq!(report.counts().keys().copied().collect::<Vec<_>>(), [""; 0]);
    assert_eq!(report.tally.records, u64::try_from(built.records.len()).unwrap());
}
