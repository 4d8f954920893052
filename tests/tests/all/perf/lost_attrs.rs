//! A pipe that lost the HEADER_ATTR record of an event, which its EVENT_DESC still describes: every
//! sample stays under its event.

use tracemend::formats::perf::layout::{HEADER_SIZE_PIPE, record};
use tracemend::formats::perf::rules;
use tracemend::{FileSet, Options, Outcome, check};
use tracemend_tests::forge::perf::clean::USUAL;
use tracemend_tests::forge::perf::{Attr, Order, Recording, sample_type};
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::mended::mended_as;

/// Bit of EVENT_DESC.
const EVENT_DESC: u32 = 12;

/// A pipe of three events, each with two ids.
fn piped(order: Order) -> Vec<u8> {
    let attrs = vec![
        Attr::cpu_clock(USUAL | sample_type::IDENTIFIER).with_ids(&[11, 12]),
        Attr::page_faults(USUAL | sample_type::IDENTIFIER).with_ids(&[21, 22]),
        Attr::cpu_clock(USUAL | sample_type::IDENTIFIER).with_ids(&[31, 32]),
    ];
    let mut recording = Recording::pipe(order, attrs);
    recording.feature(EVENT_DESC);
    let mut maker = recording.maker(0);
    recording.push(maker.id_index()).push(maker.comm("forge"));
    for event in 0..3 {
        let mut maker = recording.maker(event);
        recording.extend((0..5).map(|_| maker.sample()));
    }
    recording.build().bytes
}

/// The places of the HEADER_ATTR records.
fn attrs(bytes: &[u8], order: Order) -> Vec<std::ops::Range<usize>> {
    let (mut at, mut found) = (usize::try_from(HEADER_SIZE_PIPE).unwrap(), Vec::new());
    while at + 8 <= bytes.len() {
        let (kind, size) = (&bytes[at..at + 4], &bytes[at + 6..at + 8]);
        let (kind, size) = match order {
            Order::Little => {
                let kind = u32::from_le_bytes(kind.try_into().unwrap());
                (kind, u16::from_le_bytes(size.try_into().unwrap()))
            }
            Order::Big => {
                let kind = u32::from_be_bytes(kind.try_into().unwrap());
                (kind, u16::from_be_bytes(size.try_into().unwrap()))
            }
        };
        let end = at + usize::from(size);
        found.extend((kind == record::HEADER_ATTR).then_some(at..end));
        at = end;
    }
    found
}

#[test]
fn a_lost_attr_of_a_pipe_is_that_of_event_desc() {
    let perf = Perf::find_or_skip();
    let folder = tempfile::tempdir().unwrap();
    for order in [Order::Little, Order::Big] {
        let bytes = piped(order);
        assert!(!check(&FileSet::single("pipe", &bytes), &Options::default()).has_errors());
        let places = attrs(&bytes, order);
        assert_eq!(places.len(), 3);
        for (number, place) in places.iter().enumerate() {
            let dropped = [&bytes[..place.start], &bytes[place.end..]].concat();
            let mut zeroed = bytes.clone();
            zeroed[place.clone()].fill(0);
            for (damage, damaged) in [("dropped", &dropped), ("zeroed", &zeroed)] {
                let case = format!("{order:?}, attr {number} {damage}");
                let report = check(&FileSet::single("pipe", damaged), &Options::default());
                assert_eq!(report.count(&rules::NO_ATTRS), 1, "{case}: {report:#?}");
                let (repair, output) = mended_as("pipe", damaged, &Options::default());
                let lossless = [Outcome::Repaired, Outcome::RepairedWithLoss];
                let wanted = lossless[usize::from(damage == "zeroed")];
                assert_eq!(repair.outcome, wanted, "{case}: {repair:#?}");
                // EVENT_DESC has the attr and its ids, in the order of the records.
                assert_eq!(output, bytes, "{case}");
                let Some(perf) = &perf else { continue };
                let path = folder.path().join("pipe.data");
                std::fs::write(&path, &bytes).unwrap();
                let samples = perf.samples_by_event(&path);
                std::fs::write(&path, &output).unwrap();
                assert_eq!(samples.len(), 15, "{case}");
                assert_eq!(perf.samples_by_event(&path), samples, "{case}");
            }
        }
    }
}

#[test]
fn an_event_desc_that_reaches_past_its_record_describes_nothing() {
    let bytes = piped(Order::Little);
    let places = attrs(&bytes, Order::Little);
    let mut damaged = bytes[..places[0].start].to_vec();
    damaged.extend(&bytes[places[0].end..]);
    let count = |bytes: &[u8]| {
        let report = check(&FileSet::single("pipe", bytes), &Options::default());
        report.count(&rules::NO_ATTRS)
    };
    assert_eq!(count(&damaged), 1);
    // The ids of the last event: their number stands before its name.
    let ids = [31_u64.to_le_bytes(), 32_u64.to_le_bytes()].concat();
    let last = damaged.windows(16).rposition(|window| window == ids).unwrap();
    let name = damaged[..last].windows(9).rposition(|window| window == b"cpu-clock").unwrap();
    assert_eq!(damaged[name - 8..name - 4], 2_u32.to_le_bytes());
    damaged[name - 8..name - 4].copy_from_slice(&9_u32.to_le_bytes());
    assert_eq!(count(&damaged), 0);
}

#[test]
fn samples_are_not_under_a_name_that_nobody_can_type() {
    let perf = Perf::find_or_skip();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    for order in [Order::Little, Order::Big] {
        let ids = USUAL | sample_type::ID;
        let mut recording = Recording::new(order, vec![Attr::cpu_clock(ids).with_ids(&[11])]);
        let mut maker = recording.maker(0);
        recording.extend((0..5).map(|_| maker.sample()));
        let bytes = recording.feature(EVENT_DESC).build().bytes;
        let name = bytes.windows(9).rposition(|window| window == b"cpu-clock").unwrap();
        for damage in [&[0][..], b"\t", b"cpu\rclock"] {
            let mut damaged = bytes.clone();
            damaged[name..name + damage.len()].copy_from_slice(damage);
            let (repair, output) = mended_as("perf.data", &damaged, &Options::default());
            let case = format!("{order:?} {damage:?}: {:?}", repair.before.findings());
            assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{case}");
            // Without HOSTNAME perf swaps the flags of a big-endian file in another way.
            assert!(output == bytes || order == Order::Big, "{case}");
            let Some(perf) = &perf else { continue };
            std::fs::write(&path, &output).unwrap();
            let samples = perf.samples_by_event(&path);
            assert!(samples.len() == 5 && samples[0].event.starts_with("cpu-clock"), "{case}");
        }
    }
}
