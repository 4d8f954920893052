//! Damaged flags, table entries and attrs: what is restored, and how severe each fault is.

use std::path::Path;
use tracemend_tests::sweep::is_left_to_the_gate;

use tracemend::{FileSet, Options, Outcome, Safety, Severity};
use tracemend_tests::forge::perf::damage::FLAGS_AT;
use tracemend_tests::forge::perf::feature::{section, tracing_data};
use tracemend_tests::forge::perf::{
    Attr, Built, Order, RecordSpan, Recording, by_name, sample_type,
};
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::mended::mended;
use tracemend_tests::properties::donor::traced;

/// Host, versions of kernel and perf, and two features whose content is a count of 0.
fn recording(features: &[u32]) -> Built {
    let usual = sample_type::IP | sample_type::TID | sample_type::TIME;
    let mut recording = Recording::new(Order::Little, vec![Attr::cpu_clock(usual)]);
    let sample = recording.maker(0).sample();
    recording.push(sample);
    for number in features {
        match number {
            17 | 25 | 26 | 31 => recording.feature_with(*number, vec![0; 4]),
            22 => recording.feature_with(22, memory()),
            _ => recording.feature(*number),
        };
    }
    recording.build()
}

/// MEM_TOPOLOGY with one node of 64 blocks.
fn memory() -> Vec<u8> {
    [1_u64, 1 << 27, 1, 0, 64, 64, 0].map(u64::to_le_bytes).concat()
}

/// Returns the findings of a damaged file as codes with severities, and the repaired file.
fn repaired(bytes: &[u8]) -> (Vec<(&'static str, Severity)>, Outcome, Vec<u8>) {
    let (repair, target) = mended(bytes);
    let findings = repair.before.findings().iter().map(|one| (one.rule.code, one.severity));
    (findings.collect(), repair.outcome, target)
}

#[test]
fn a_feature_that_is_newer_than_the_recorder_is_damage() {
    let built = recording(&[3, 4, 5, 7, 22]);
    // One bit more.
    let (found, outcome, target) = repaired(&built.flags(&[3, 4, 5, 7, 22, 38]));
    assert_eq!((found, outcome), (vec![("PD0023", Severity::Warning)], Outcome::Repaired));
    assert!(target == built.bytes);
    // As many bits as sections.
    let (found, outcome, target) = repaired(&built.flags(&[3, 4, 5, 7, 38]));
    assert_eq!((found, outcome), (vec![("PD0023", Severity::Error)], Outcome::Repaired));
    assert!(target == built.bytes);
    // The contents alone could be those of other features: bits above 31 go, with a lossy fix.
    let built = recording(&[3, 4, 5, 7, 25, 26, 31]);
    let (found, outcome, target) = repaired(&built.flags(&[3, 4, 5, 7, 25, 26, 31, 38]));
    assert_eq!((found, outcome), (vec![("PD0023", Severity::Error)], Outcome::RepairedWithLoss));
    assert!(target == built.bytes);
}

#[test]
fn a_feature_that_is_not_newer_than_the_recorder_is_kept() {
    // Without the versions nobody knows.
    let built = recording(&[3, 11, 25, 26, 31]);
    let (found, outcome, _) = repaired(&built.flags(&[3, 11, 25, 31, 38]));
    assert_eq!((found, outcome), (vec![("PD0012", Severity::Info)], Outcome::Clean));
}

#[test]
fn a_section_whose_size_the_feature_cannot_have_shows_the_bit() {
    let built = recording(&[3, 4, 5, 7, 22]);
    for wrong in [21, 23, 24, 27] {
        let (found, outcome, target) = repaired(&built.flags(&[3, 4, 5, 7, wrong]));
        assert_eq!((found, outcome), (vec![("PD0023", Severity::Error)], Outcome::Repaired));
        assert!(target == built.bytes, "{wrong}");
    }
}

#[test]
fn the_flags_of_perf_stat_come_back_with_a_group_description_without_groups() {
    let built = recording(&[3, 4, 5, 7, 17, 22, 25, 26, 31]);
    let mut bytes = built.bytes.clone();
    bytes[FLAGS_AT..FLAGS_AT + 32].fill(0);
    let (_, outcome, target) = repaired(&bytes);
    assert_eq!(outcome, Outcome::Repaired);
    assert!(target == built.bytes);
}

#[test]
fn a_wrong_size_of_a_feature_that_ends_by_itself_is_a_warning() {
    let built = recording(&[3, 4, 5, 11, 22]);
    for (feature, by, severity) in [
        (5, -4, Severity::Warning),
        (5, 4, Severity::Warning),
        // perf needs room for all of CMDLINE.
        (11, -4, Severity::Error),
        (11, 4, Severity::Warning),
        (11, 1 << 20, Severity::Warning),
        (11, 1 << 24, Severity::Error),
        (11, 1 << 40, Severity::Error),
    ] {
        let (found, outcome, target) = repaired(&built.section_size_off_by(feature, by));
        assert_eq!((found, outcome), (vec![("PD0024", severity)], Outcome::Repaired));
        assert!(target == built.bytes, "{feature}");
    }
}

/// A recording with CPU_TOPOLOGY of two CPUs without its last bytes.
fn with_topology(missing: usize, number_of_cpus: Option<u32>) -> Built {
    let usual = sample_type::IP | sample_type::TID | sample_type::TIME;
    let mut recording = Recording::new(Order::Little, vec![Attr::cpu_clock(usual)]);
    let sample = recording.maker(0).sample();
    let mut topology = section(13, Order::Little, &[]);
    topology.truncate(topology.len() - missing);
    recording.push(sample).features([3, 4, 5]).features(number_of_cpus);
    recording.feature_with(13, topology).feature_with(22, memory());
    recording.build()
}

#[test]
fn a_size_of_cpu_topology_by_which_perf_finds_the_same_lists_is_a_warning() {
    /// The list of dies, and the die of each CPU.
    const DIES: usize = 4 + 4 + 64 + 2 * 4;
    /// The core and the socket of each CPU.
    const CORES: usize = 2 * 8;
    for (missing, cpus, by, severity) in [
        (0, Some(7), 4, Severity::Warning),
        (0, Some(7), -4, Severity::Warning),
        (0, Some(7), -i64::try_from(DIES).unwrap(), Severity::Error),
        // perf inject copies the bytes of the section, which are not there.
        (0, Some(7), 1 << 20, Severity::Error),
        // By the number of CPUs perf knows where the list of dies is.
        (0, None, 4, Severity::Error),
        // The older forms end before: perf would read what follows.
        (DIES, Some(7), 4, Severity::Error),
        (DIES + CORES, Some(7), 4, Severity::Error),
    ] {
        let built = with_topology(missing, cpus);
        let (found, outcome, target) = repaired(&built.section_size_off_by(13, by));
        let mut codes = vec![("PD0024", severity)];
        if cpus.is_none() {
            // perf 7 does not read CPU_TOPOLOGY without NRCPUS.
            codes.insert(0, ("PD2012", Severity::Info));
        }
        let expected = (codes, Outcome::Repaired);
        assert_eq!((found, outcome), expected, "{missing} bytes less, size off by {by}");
        assert!(target == built.bytes, "{missing} bytes less, size off by {by}");
    }
}

#[test]
fn reserved_bits_of_an_attr_are_a_warning_and_fields_that_perf_evlist_prints_are_errors() {
    let built = by_name("every_feature").built;
    let attr = built.attr_spans[0].start;
    // Reserved flags and fields, sample_type, and wakeup_events, which only the kernel reads.
    let reserved = [47, 110, 119].map(|at| (at, Severity::Warning));
    for (at, severity) in reserved.into_iter().chain([30, 48].map(|at| (at, Severity::Error))) {
        let mut bytes = built.bytes.clone();
        bytes[attr + at] ^= 0x20;
        let (mut found, ..) = repaired(&bytes);
        found.retain(|(code, _)| *code == "PD0026");
        assert_eq!(found, [("PD0026", severity)], "byte {at}");
    }
}

#[test]
fn an_empty_list_whose_offset_lies_outside_the_file_or_at_zeros_is_a_warning() {
    let built = recording(&[3, 4, 5, 7, 25, 26, 31]);
    // In a table of seven: 25 and 31 outside the file, 31 at zeros inside it, and NRCPUS.
    for (entry, byte, severity) in [
        (4, 7, Severity::Warning),
        (6, 3, Severity::Warning),
        (6, 0, Severity::Warning),
        (3, 7, Severity::Error),
    ] {
        let mut bytes = built.bytes.clone();
        bytes[built.data.end + 16 * entry + byte] ^= 0x40;
        let (found, _, target) = repaired(&bytes);
        assert_eq!(found, [("PD0024", severity)], "entry {entry}, byte {byte}");
        assert!(target == built.bytes);
    }
}

#[test]
fn an_entry_by_which_perf_reads_no_list_is_a_warning() {
    let built = recording(&[3, 4, 5, 7, 25, 26, 29, 31]);
    // Offset 1 << 63 of 25 is skipped; CLOCK_DATA (29) is not read after 1 << 62. Only the last
    // list may lie at 0. 25 may lie where 26 does, which is another list without an entry.
    let at = built.data.end + 16 * 5;
    let of_26 = u64::from_le_bytes(built.bytes[at..at + 8].try_into().unwrap());
    for (entry, offset, severity) in [
        (4, 1_u64 << 63, Severity::Warning),
        (4, of_26, Severity::Warning),
        (4, of_26 + 4, Severity::Error),
        (4, 1 << 62, Severity::Error),
        (5, 0, Severity::Error),
        (7, 0, Severity::Warning),
    ] {
        let at = built.data.end + 16 * entry;
        let mut bytes = built.bytes.clone();
        bytes[at..at + 8].copy_from_slice(&offset.to_le_bytes());
        let (found, _, target) = repaired(&bytes);
        assert_eq!(found, [("PD0024", severity)], "entry {entry}, offset {offset:#x}");
        assert!(target == built.bytes);
    }
}

#[test]
fn a_number_of_ids_that_perf_reads_alike_is_a_warning() {
    let built = by_name("every_feature").built;
    let at = built.attr_spans[0].end - 8;
    // perf divides the size of the ids by 8 and keeps 32 bits.
    for (byte, severity) in [(4, Severity::Warning), (7, Severity::Warning), (2, Severity::Error)] {
        let mut bytes = built.bytes.clone();
        bytes[at + byte] ^= 0x08;
        let (mut found, outcome, target) = repaired(&bytes);
        found.retain(|(code, _)| *code == "PD0022");
        assert_eq!((found, outcome), (vec![("PD0022", severity)], Outcome::Repaired), "{byte}");
        assert!(target == built.bytes);
    }
}

#[test]
fn an_attr_size_that_gives_the_right_number_of_attrs_is_a_warning() {
    let built = by_name("two_events_by_identifier").built;
    let size = u64::try_from(built.attr_spans[0].len()).unwrap();
    for (wrong, severity) in [
        (size - 16, Severity::Warning),
        (size * 2 / 3 + 1, Severity::Warning),
        (size * 2 / 3, Severity::Error),
        (size + 1, Severity::Error),
        (0, Severity::Error),
    ] {
        let (found, outcome, target) = repaired(&built.header_attr_size(wrong));
        assert_eq!((found, outcome), (vec![("PD0003", severity)], Outcome::Repaired), "{wrong}");
        assert!(target == built.bytes, "{wrong}");
    }
}

#[test]
fn a_size_of_attrs_that_gives_the_right_number_of_them_is_a_warning() {
    let built = by_name("two_events_by_identifier").built;
    let entry = u64::try_from(built.attr_spans[0].len()).unwrap();
    for (wrong, severity) in [
        (2 * entry + 1, Severity::Warning),
        (3 * entry - 1, Severity::Warning),
        (2 * entry - 1, Severity::Error),
        (3 * entry, Severity::Error),
    ] {
        let (found, outcome, target) = repaired(&built.with_u64(32, wrong));
        assert_eq!((found, outcome), (vec![("PD0022", severity)], Outcome::Repaired), "{wrong}");
        assert!(target == built.bytes, "{wrong}");
    }
}

#[test]
fn a_size_at_which_perf_7_refuses_the_file_is_an_error_of_what_it_wrote() {
    let usual = sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::IDENTIFIER;
    let attrs = vec![
        Attr::cpu_clock(usual).with_ids(&[11, 12]),
        Attr::page_faults(usual).with_ids(&[21, 22]),
    ];
    for (version, severity) in [("6.1.0", Severity::Warning), ("7.2.13", Severity::Error)] {
        let mut text = [&64_u32.to_le_bytes()[..], version.as_bytes()].concat();
        text.resize(68, 0);
        let mut recording = Recording::new(Order::Little, attrs.clone());
        let samples = [0, 1].map(|event| recording.maker(event).sample());
        recording.extend(samples.to_vec()).features([3, 4]).feature_with(5, text);
        let built = recording.feature(12).build();
        let mut ids = built.bytes.clone();
        ids[built.attr_spans[0].end - 4] ^= 0x08;
        let size = u64::try_from(2 * built.attr_spans[0].len() + 1).unwrap();
        for bytes in [built.with_u64(32, size), ids] {
            let (found, outcome, target) = repaired(&bytes);
            assert_eq!((found, outcome), (vec![("PD0022", severity)], Outcome::Repaired));
            assert!(target == built.bytes, "{version}");
        }
    }
}

#[test]
fn the_size_in_the_only_entry_of_a_table_comes_back_from_its_section() {
    for number in [3, 4, 7, 22, 27] {
        let built = recording(&[number]);
        for bit in 8 * 8..16 * 8 {
            let mut bytes = built.bytes.clone();
            bytes[built.data.end + bit / 8] ^= 1 << (bit % 8);
            let (found, outcome, target) = repaired(&bytes);
            let case = format!("bit {bit} of the entry of feature {number}: {found:?}");
            assert!(target == built.bytes && outcome == Outcome::Repaired, "{case}");
        }
        // Half of the section: no size fits.
        let cut = &built.bytes[..built.bytes.len() - 2];
        assert_eq!(repaired(cut).1, Outcome::RepairedWithLoss, "feature {number}");
    }
}

/// A recording of samples of one event with two ids; each sample names one.
fn with_ids(table: [u64; 2], named: &[u64]) -> Vec<u8> {
    let ids = sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::ID;
    let mut recording = Recording::new(Order::Little, vec![Attr::cpu_clock(ids).with_ids(&table)]);
    let mut maker = recording.maker(0);
    for id in named {
        recording.push(maker.sample_with(|sample| sample.id = *id));
    }
    recording.build().bytes
}

#[test]
fn an_id_that_one_sample_names_with_a_flipped_bit_is_not_the_id_of_another_counter() {
    let codes = |table: [u64; 2], named: &[u64]| -> Vec<&'static str> {
        repaired(&with_ids(table, named)).0.iter().map(|(code, _)| *code).collect()
    };
    // Without a sample of 12, the sample may be one of 11, of which one bit is flipped.
    assert_eq!(codes([11, 12], &[11, 11, 0x1000b]), [""; 0]);
    // Two samples agree, or only the id in the table has one bit more, or the kernel counts so.
    assert_eq!(codes([11, 12], &[11, 11, 0x1000b, 0x1000b]), ["PD0027"]);
    assert_eq!(codes([11, 0x1000c], &[11, 11, 12]), ["PD0027"]);
    assert_eq!(codes([10, 0x7000d], &[10, 10, 11]), ["PD0027"]);
}

#[test]
fn an_unknown_id_is_an_error_if_a_record_repeats_the_only_event() {
    let perf = Perf::find_or_skip();
    let kind = sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::ID;
    // The last field of COMM and of the sample is the id.
    for (repeats, damaged) in [(false, 0), (false, 1), (true, 0), (true, 1)] {
        let attr = Attr::cpu_clock(kind).with_ids(&[11]);
        let mut recording = Recording::new(Order::Little, vec![attr]);
        let mut maker = recording.maker(0);
        if repeats {
            recording.push(maker.header_attr(&maker.attr.clone()));
        }
        recording.push(maker.comm("forge")).push(maker.sample());
        let built = recording.build();
        let record = built.records[usize::from(repeats) + damaged].range();
        let mut bytes = built.bytes.clone();
        bytes[record.end - 5] ^= 1;
        let (found, _, target) = repaired(&bytes);
        let expected: &[&str] = if repeats { &["PD2005"] } else { &[] };
        let found: Vec<&str> = found.iter().map(|(code, _)| *code).collect();
        assert_eq!(found, expected, "{repeats} {damaged}");
        let folder = tempfile::tempdir().unwrap();
        for (bytes, succeeds) in [(&bytes, !repeats), (&target, true)] {
            let path = folder.path().join("judged.data");
            std::fs::write(&path, bytes).unwrap();
            let shown = perf.as_ref().map(|perf| perf.script_text(&path));
            assert!(shown.is_none_or(|one| one.is_success() == succeeds), "{repeats} {damaged}");
        }
    }
}

/// Returns a recording of a tracepoint, and the offset of `config` of its attr.
fn with_config(order: Order, tracing: Vec<u8>) -> (Built, usize) {
    let built = traced(order, tracing);
    let at = built.attr_spans[0].start + 8;
    (built, at)
}

#[test]
fn config_of_a_tracepoint_is_that_of_its_samples_if_its_format_is_there() {
    for order in [Order::Little, Order::Big] {
        let (built, at) = with_config(order, tracing_data(order));
        let samples = built.records.iter().filter(|record: &&RecordSpan| record.kind == 9).count();
        assert!(samples > 1);
        let mut bytes = built.bytes.clone();
        bytes[at + 1] ^= 0x10;
        bytes[at + 6] ^= 0x10;
        let (repair, target) = mended(&bytes);
        assert!(repair.before.counts().contains_key("PD0026"), "{order:?}");
        assert_eq!(repair.outcome, Outcome::Repaired, "{order:?}");
        assert_eq!(repair.safety(), Some(Safety::Exact), "{order:?}");
        assert!(target == built.bytes, "{order:?}");
    }
}

#[test]
fn a_record_of_a_kernel_that_perf_does_not_ask_for_has_a_damaged_type() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean/plain.data");
    let sound = std::fs::read(corpus).unwrap();
    let report = tracemend::check(&FileSet::single("perf.data", &sound), &Options::default());
    assert!(!report.has_errors());
    // The first MMAP2 with a time: type 10, flipped to types that no kernel has yet.
    let start = usize::try_from(u64::from_le_bytes(sound[40..48].try_into().unwrap())).unwrap();
    let mut at = start;
    while sound[at..at + 4] != 10_u32.to_le_bytes() {
        at += usize::from(u16::from_le_bytes([sound[at + 6], sound[at + 7]]));
    }
    for (bit, found) in [(16, 26), (32, 42)] {
        let mut damaged = sound.clone();
        damaged[at] ^= bit;
        let (repair, target) = mended(&damaged);
        let first = &repair.before.findings()[0];
        assert_eq!(first.rule.code, "PD1007", "{found}");
        assert!(first.message.contains(&format!("unknown record type {found}")), "{first:?}");
        assert_eq!(target, sound, "{found}");
    }
}

#[test]
fn a_build_id_that_is_too_long_for_perf_is_an_error() {
    let built = |size: u8| {
        let usual = sample_type::IP | sample_type::TID | sample_type::TIME;
        let mut recording = Recording::new(Order::Little, vec![Attr::cpu_clock(usual)]);
        let sample = recording.maker(0).sample();
        recording.push(sample);
        // Type 0, misc with the bit of a size, size 44; pid, id, size of the id, padding, name.
        let head = [&[0, 0, 0, 0, 2, 0x80, 44, 0][..], &[0xff; 4], &[7; 20]].concat();
        recording.feature_with(2, [&head[..], &[size, 0, 0, 0], b"forge\0\0\0"].concat());
        recording.build().bytes
    };
    for (size, code) in [(20, None), (21, Some("PD2006")), (255, Some("PD2006"))] {
        let (repair, _) = mended(&built(size));
        assert_eq!(repair.before.findings().first().map(|one| one.rule.code), code, "{size}");
        assert!(!repair.after.has_errors(), "{size}");
    }
}

#[test]
fn bytes_lost_among_the_records_leave_all_features() {
    if is_left_to_the_gate("bytes lost among the records leave all features") {
        return;
    }
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/events/four.data");
    let sound = std::fs::read(corpus).unwrap();
    let number = |bytes: &[u8], at: usize| {
        usize::try_from(u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap()
    };
    let place = |bytes: &[u8]| number(bytes, 40) + number(bytes, 48);
    let middle = number(&sound, 40) + number(&sound, 48) / 2;
    // As long as some entries of the table: then a later one lies where the header places it.
    for lost in (1..=32).map(|entries| entries * 16).chain([4, 24, 1000]) {
        let mut damaged = sound.clone();
        damaged.drain(middle..middle + lost);
        let (repair, target) = mended(&damaged);
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{lost}");
        assert_eq!(target[FLAGS_AT..][..32], sound[FLAGS_AT..][..32], "{lost}");
        // The sections follow the table, each with the bytes that it had.
        let (table, first) = (place(&target), place(&sound));
        let sections = |bytes: &[u8], table: usize| bytes[number(bytes, table)..].to_vec();
        assert!(sections(&target, table) == sections(&sound, first), "{lost}");
    }
}
