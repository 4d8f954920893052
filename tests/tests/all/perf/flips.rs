//! Flipped bits in the type of a record, and in the feature bits of a perf that is newer than 6.12.

use tracemend::{Outcome, Safety, Severity};
use tracemend_tests::forge::perf::{
    Attr, Built, Order, Record, Recording, by_name, clean, sample_type,
};
use tracemend_tests::mended::mended;

/// Bits above those of the known types.
const HIGH_BITS: [u32; 7] = [7, 8, 12, 15, 16, 23, 31];

/// Returns the first record of each type that has a name.
fn one_of_each(built: &Built) -> Vec<(usize, u32)> {
    let mut kinds: Vec<u32> = built.records.iter().map(|record| record.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.retain(|kind| matches!(kind, 1..=22 | 64..=86));
    kinds.into_iter().filter_map(|kind| Some((built.first_of(kind)?, kind))).collect()
}

#[test]
fn a_bit_above_the_known_types_is_flipped_back_in_every_record() {
    let (mut cases, mut kinds, mut wrong) = (0, Vec::new(), Vec::new());
    // perf writes a HEADER_ATTR in pipes only, and records of types that events do not describe
    // fully prove no record before them. What follows the records is not moved while one is wrong.
    let is_left_out = |name: &str, kind: u32| {
        matches!((name, kind), ("every_user_record", 64))
            || matches!(name, "newer_user_records" | "attrs_after_data")
    };
    for (number, clean) in clean().into_iter().enumerate() {
        let built = clean.built;
        let name = clean.name;
        for (index, kind) in one_of_each(&built).into_iter().filter(|(_, k)| !is_left_out(name, *k))
        {
            let bit = HIGH_BITS[(number + index) % HIGH_BITS.len()];
            let (repair, target) = mended(&built.record_type(index, kind | 1 << bit));
            cases += 1;
            kinds.push(kind);
            if target != built.bytes || repair.before.counts().get("PD1007") != Some(&1) {
                wrong.push((name, kind, bit, repair.outcome));
            }
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    assert!(wrong.is_empty(), "{} of {cases}: {wrong:?}", wrong.len());
    assert!(cases > 200 && kinds.len() > 35, "{cases} cases, types {kinds:?}");
}

#[test]
fn the_type_of_a_sample_is_restored_although_bytes_in_samples_look_like_records() {
    // From its second byte on, the id is the header of a COMM, as long as two samples.
    let fields = sample_type::IP
        | sample_type::TID
        | sample_type::TIME
        | sample_type::ID
        | sample_type::CPU
        | sample_type::PERIOD
        | sample_type::RAW;
    let attr = || vec![Attr::cpu_clock(fields).with_ids(&[0x3dd])];
    for mut recording in
        [Recording::pipe(Order::Little, attr()), Recording::new(Order::Little, attr())]
    {
        let mut maker = recording.maker(0);
        for _ in 0..12 {
            recording.push(maker.sample_with(|sample| {
                (sample.id, sample.cpu, sample.raw) = (0x3dd, 1, vec![7; 68]);
            }));
        }
        let built = recording.build();
        let samples: Vec<_> = built.records.iter().filter(|record| record.kind == 9).collect();
        assert!(samples.len() == 12 && samples.iter().all(|sample| sample.len == 128));
        for sample in samples {
            let mut damaged = built.bytes.clone();
            damaged[sample.offset] ^= 1 << 5;
            let (repair, target) = mended(&damaged);
            assert!(target == built.bytes, "{:?}", repair.before.findings());
        }
    }
}

#[test]
fn such_a_type_is_exact_and_samples_stay_with_their_event() {
    for (name, kind) in [("pipe", 64), ("pipe_features", 80), ("compressed2", 83), ("pipe", 9)] {
        let built = by_name(name).built;
        let index = built.first_of(kind).unwrap();
        let (repair, target) = mended(&built.record_type(index, kind | 1 << 9));
        assert_eq!(repair.outcome, Outcome::Repaired, "{name}");
        assert_eq!(repair.safety(), Some(Safety::Exact), "{name}");
        assert!(target == built.bytes, "{name}");
    }
}

#[test]
fn a_type_of_another_tool_is_not_taken_for_a_known_one() {
    let built = by_name("sample_usual").built;
    let comm = built.first_of(3).unwrap();
    // simpleperf has types from 32768 on. The body is that of COMM, and not of these.
    for kind in [32_768 + 7, 32_768 + 10, 32_768 + 4, 32_768 + 69] {
        let (repair, _) = mended(&built.record_type(comm, kind));
        let codes: Vec<_> = repair.before.counts().keys().copied().collect();
        assert!(codes.contains(&"PD1004") && !codes.contains(&"PD1007"), "{kind}: {codes:?}");
    }
}

/// Features as perf 7.2 writes them: four lists without an entry, and two features after PMU_CAPS.
const LATER: [u32; 11] = [3, 4, 5, 7, 22, 25, 26, 28, 31, 33, 34];

fn later() -> Built {
    let usual = sample_type::IP | sample_type::TID | sample_type::TIME;
    let mut recording = Recording::new(Order::Little, vec![Attr::cpu_clock(usual)]);
    let sample = recording.maker(0).sample();
    recording.push(sample);
    for number in LATER {
        match number {
            5 => {
                let mut text = [&64_u32.to_le_bytes()[..], b"7.2.13"].concat();
                text.resize(68, 0);
                recording.feature_with(5, text)
            }
            22 => recording.feature_with(22, [1_u64, 1 << 27, 0].map(u64::to_le_bytes).concat()),
            25 | 26 | 28 | 31 => recording.feature_with(number, vec![0; 4]),
            33 => recording.feature_with(33, 62_u64.to_le_bytes().to_vec()),
            34 => recording.feature_with(34, 64_u32.to_le_bytes().to_vec()),
            _ => recording.feature(number),
        };
    }
    recording.build()
}

#[test]
fn an_unknown_feature_bit_is_cleared_and_no_other_one() {
    let built = later();
    for bit in (32..256).filter(|bit| !LATER.contains(bit)) {
        let mut bits = LATER.to_vec();
        bits.push(bit);
        let (repair, target) = mended(&built.flags(&bits));
        let found: Vec<_> =
            repair.before.findings().iter().map(|one| (one.rule.code, one.severity)).collect();
        // perf 7.2 does not look at a feature that it does not know.
        let severity = if bit == 32 { Severity::Error } else { Severity::Warning };
        assert!(found.contains(&("PD0023", severity)), "{bit}: {found:?}");
        assert_eq!(repair.outcome, Outcome::Repaired, "{bit}");
        assert!(target == built.bytes, "{bit}");
    }
}

#[test]
fn a_missing_feature_bit_of_a_later_perf_is_set_again() {
    let built = later();
    for missing in [5, 7, 22, 28, 33, 34] {
        let bits: Vec<u32> = LATER.into_iter().filter(|bit| *bit != missing).collect();
        let (repair, target) = mended(&built.flags(&bits));
        assert!(repair.before.counts().contains_key("PD0023"), "{missing}");
        assert!(target == built.bytes, "{missing}");
    }
}

#[test]
fn an_id_that_one_bit_made_that_of_another_event_is_restored_in_every_copy() {
    let usual = sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::ID;
    let attrs =
        [Attr::cpu_clock(usual).with_ids(&[16, 17]), Attr::page_faults(usual).with_ids(&[18, 19])];
    let mut recording = Recording::new(Order::Little, attrs.to_vec());
    let entries = (16..20_u64).flat_map(|id| [id, id - 16, id & 1, u64::MAX]);
    let body: Vec<u8> = [4].into_iter().chain(entries).flat_map(u64::to_le_bytes).collect();
    recording.push(Record::new(69, 0, body));
    // Samples name the ids 17, 18 and 19, but not 16.
    for (attr, id) in [(0, 17), (1, 18), (1, 19)] {
        let mut maker = recording.maker(attr);
        let sample = maker.sample_with(|sample| sample.id = id);
        recording.push(sample);
    }
    let built = recording.features([3, 12]).build();
    let id = 16_u64.to_le_bytes();
    let places: Vec<usize> = (104..built.bytes.len() - 8)
        .filter(|at| built.bytes[*at..*at + 8] == id)
        .filter(|at| built.bytes[*at..*at + 16] != [id, id].concat())
        .collect();
    let mut restored = 0;
    for at in places {
        for bit in [0, 1] {
            let (repair, target) = mended(&built.with_byte(at, 16 ^ 1 << bit));
            let codes: Vec<_> = repair.before.counts().keys().copied().collect();
            if codes.iter().any(|code| ["PD0027", "PD2007", "PD2008"].contains(code)) {
                assert!(target == built.bytes, "bit {bit} at {at:#x}: {codes:?}");
                restored += 1;
            }
        }
    }
    assert_eq!(restored, 6, "three copies");
}

#[test]
fn a_type_of_no_pmu_is_an_error_and_its_byte_is_cleared() {
    for order in [Order::Little, Order::Big] {
        let mut recording =
            Recording::new(order, vec![Attr::cpu_clock(sample_type::TIME).with_ids(&[7])]);
        let sample = recording.maker(0).sample();
        recording.push(sample);
        let built = recording.build();
        let at = built.attr_spans[0].start;
        for bit in 0..32_u32 {
            let index = if order == Order::Little { bit / 8 } else { 3 - bit / 8 };
            let at = at + usize::try_from(index).unwrap();
            let damaged = built.with_byte(at, built.bytes[at] ^ 1 << (bit % 8));
            let (repair, target) = mended(&damaged);
            // The kernel may have a PMU of a smaller number.
            let is_found = repair.before.counts().contains_key("PD0038");
            assert_eq!(is_found, bit >= 12, "bit {bit}");
            let is_lossy = repair.outcome == Outcome::RepairedWithLoss;
            assert_eq!(is_lossy && target == built.bytes, bit >= 12, "bit {bit}");
        }
    }
}
