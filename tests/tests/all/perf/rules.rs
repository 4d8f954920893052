//! The rules of perf.data together. Each by itself has a specimen (`specimens/perf.rs`).

use std::path::Path;

use tracemend::{File, FileSet, FormatId, Options, Outcome, Safety, Severity, check};
use tracemend_tests::forge::perf::feature::{section, tracepoint_raw};
use tracemend_tests::forge::perf::{
    Attr, Built, Order, RecordSpan, Recording, by_name, directory, sample_type,
};
use tracemend_tests::mended::{mended, mended_as};

#[test]
fn ids_outside_of_the_file_are_restored_by_what_surrounds_them() {
    let built = by_name("two_events_by_identifier").built;
    let (repair, target) = mended(&built.ids_section_outside(0));
    assert_eq!(repair.before.counts().keys().collect::<Vec<_>>(), [&"PD0022"]);
    assert_eq!(target, built.bytes);
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
fn a_feature_in_a_pipe_has_a_number_that_perf_has_or_may_get() {
    let built = by_name("pipe_features").built;
    let feature = built.records.iter().find(|record| record.kind == 80).unwrap();
    for (number, codes) in [(34, vec!["PD0035"]), (53, vec!["PD0012"])] {
        let bytes = built.with_u64(feature.offset + 8, number);
        let report = check(&FileSet::single("perf.data", &bytes), &Options::default());
        assert_eq!(report.counts().keys().copied().collect::<Vec<_>>(), codes, "{number}");
        assert!(!report.has_errors(), "{number}");
    }
    // 32 ends the features of perf 6.1, with nothing in it: the domains of perf 7 are no text.
    for number in [0, 32, 54, 1 << 40] {
        let (repair, target) = mended(&built.with_u64(feature.offset + 8, number));
        assert_eq!(repair.before.counts().keys().collect::<Vec<_>>(), [&"PD2003"], "{number}");
        assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{number}");
        assert_eq!(target.len(), built.bytes.len() - feature.len, "{number}");
    }
}

#[test]
fn a_feature_in_a_pipe_that_its_perf_did_not_have_is_an_error() {
    let built = by_name("pipe_features").built;
    let is_feature = |record: &RecordSpan, number: u8| {
        record.kind == 80 && built.bytes[record.offset + 8] == number
    };
    let find = |number| built.records.iter().find(|record| is_feature(record, number)).unwrap();
    let (end, version) = (find(32), find(5));
    for (text, codes) in [("6.12.3", ["PD2003"]), ("7.1.0", ["PD0012"])] {
        let mut bytes = built.with_u64(end.offset + 8, 36);
        let at = version.offset + 20;
        bytes[at..at + text.len() + 1].copy_from_slice(format!("{text}\0").as_bytes());
        let report = check(&FileSet::single("perf.data", &bytes), &Options::default());
        assert_eq!(report.counts().keys().copied().collect::<Vec<_>>(), codes, "{text}");
    }
}

#[test]
fn a_topology_in_a_pipe_is_read_by_the_number_of_cpus_before_it() {
    let pipe = |numbers: &[u32], cut: usize| {
        let attrs = vec![Attr::cpu_clock(sample_type::IP | sample_type::TID)];
        let mut topology = section(13, Order::Little, &attrs);
        topology.truncate(topology.len() - cut);
        let mut recording = Recording::pipe(Order::Little, attrs);
        let sample = recording.maker(0).sample();
        recording.features(numbers.iter().copied());
        recording.feature_with(13, topology).push(sample).build()
    };
    let codes = |built: &Built| {
        let report = check(&FileSet::single("perf.data", &built.bytes), &Options::default());
        report.counts().keys().copied().collect::<Vec<_>>()
    };
    assert!(codes(&pipe(&[7], 0)).is_empty());
    // The die of the last CPU is truncated.
    let cut = pipe(&[7], 4);
    assert_eq!(codes(&cut), ["PD2003"]);
    let topology = cut.records.iter().rfind(|record| record.kind == 80).unwrap();
    let (repair, target) = mended(&cut.bytes);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    assert_eq!(target.len(), cut.bytes.len() - topology.len);
    // Without NRCPUS the number of dies is unknown, and perf 7, which may have recorded, fails.
    assert_eq!(codes(&pipe(&[], 4)), ["PD2003"]);
    assert_eq!(codes(&pipe(&[5], 4)), ["PD2012"]);
}

#[test]
fn a_topology_in_a_pipe_without_the_number_of_cpus_goes_on_with_the_dies() {
    // perf 6.1 stops at it: it takes the number of CPUs for 0, and a core for the number of dies.
    let attrs = vec![Attr::cpu_clock(sample_type::IP | sample_type::TID)];
    let mut topology = section(13, Order::Little, &attrs);
    let number = |at: usize| u32::from_le_bytes(topology[at..at + 4].try_into().unwrap()) as usize;
    let mut end = 0;
    for _list in ["cores", "threads"] {
        let strings = number(end);
        end += 4;
        for _string in 0..strings {
            end += 4 + number(end);
        }
    }
    topology[end..].fill(0x77);
    let mut recording = Recording::pipe(Order::Little, attrs);
    let sample = recording.maker(0).sample();
    recording.features([5]);
    let built = recording.feature_with(13, topology).push(sample).build();
    let (repair, _) = mended(&built.bytes);
    let codes: Vec<_> = repair.before.counts().keys().copied().collect();
    assert_eq!((codes, repair.outcome), (vec!["PD2003"], Outcome::RepairedWithLoss));
}

#[test]
fn a_socket_in_a_pipe_is_at_most_the_number_of_cpus() {
    let codes = |features: &[u32], arch: &[u8], socket: u32| {
        let attrs = vec![Attr::cpu_clock(sample_type::IP | sample_type::TID)];
        let mut topology = section(13, Order::Little, &attrs);
        // Before the dies of the two CPUs, and the list of dies, as long as that of the cores.
        let text = u32::from_le_bytes(topology[4..8].try_into().unwrap());
        let at = topology.len() - 8 - (8 + usize::try_from(text).unwrap()) - 4;
        topology[at..at + 4].copy_from_slice(&socket.to_le_bytes());
        let mut recording = Recording::pipe(Order::Little, attrs);
        let sample = recording.maker(0).sample();
        let len = u32::try_from(arch.len()).unwrap();
        recording.feature_with(6, [&len.to_le_bytes(), arch].concat());
        recording.features(features.iter().copied());
        let built = recording.feature_with(13, topology).push(sample).build();
        let report = check(&FileSet::single("perf.data", &built.bytes), &Options::default());
        report.counts().keys().copied().collect::<Vec<_>>()
    };
    for socket in [0, 2, u32::MAX] {
        assert!(codes(&[7], b"x86_64\0", socket).is_empty(), "{socket}");
    }
    assert_eq!(codes(&[7], b"x86_64\0", 3), ["PD2003"]);
    for arch in [b"s390x\0".as_slice(), b"aarch64\0"] {
        assert!(codes(&[7], arch, 1 << 22).is_empty());
    }
    assert_eq!(codes(&[5], b"x86_64\0", 3), ["PD2012"]);
}

#[test]
fn a_bitmap_of_more_bits_than_an_int_counts_is_an_error_and_is_dropped() {
    let codes = |bits: u64| {
        let mut recording = Recording::new(Order::Little, vec![Attr::cpu_clock(sample_type::IP)]);
        let sample = recording.maker(0).sample();
        let words = [1, 1 << 27, 1, 0, bits, bits, 0];
        let section = words.iter().flat_map(|word: &u64| word.to_le_bytes()).collect();
        recording.push(sample).features([3, 5]).feature_with(22, section);
        let repair = mended(&recording.build().bytes).0;
        assert!(!repair.after.has_errors());
        repair.before.counts().keys().copied().collect::<Vec<_>>()
    };
    assert!(codes(64).is_empty());
    assert_eq!((codes(128), codes(1 << 30)), (vec!["PD2004"], vec!["PD2004"]));
    assert_eq!(codes(1 << 33), ["PD2006"]);
}

#[test]
fn a_text_without_bytes_is_information_if_no_bytes_are_missing() {
    let usual = sample_type::IP | sample_type::TID | sample_type::TIME;
    let mut recording = Recording::new(Order::Little, vec![Attr::cpu_clock(usual)]);
    let sample = recording.maker(0).sample();
    recording.push(sample).features([3, 5]).feature_with(8, Vec::new()).feature(11);
    let built = recording.build();
    let severities = |bytes: &[u8]| {
        let report = check(&FileSet::single("perf.data", bytes), &Options::default());
        report.findings().iter().map(|one| (one.rule.code, one.severity)).collect::<Vec<_>>()
    };
    assert_eq!(severities(&built.bytes), [("PD2004", Severity::Info)]);
    // The bytes of a section whose size was lost lie between the others.
    let sized = built.section_size_off_by(11, -4);
    assert!(severities(&sized).iter().any(|(_, severity)| *severity > Severity::Info));
}

#[test]
fn a_text_without_bytes_is_information_too_if_attrs_are_those_of_an_old_perf_without_a_version() {
    let code = |size| {
        let attr = Attr { size, ..Attr::cpu_clock(sample_type::IP | sample_type::TID) };
        let mut recording = Recording::new(Order::Little, vec![attr]);
        let sample = recording.maker(0).sample();
        let version = vec![4, 0, 0, 0, 0, 0, 0, 0];
        recording.push(sample).feature(3).feature_with(5, version).feature_with(8, Vec::new());
        let built = recording.feature(11).build();
        let report = check(&FileSet::single("perf.data", &built.bytes), &Options::default());
        report.findings().iter().map(|one| (one.rule.code, one.severity)).collect::<Vec<_>>()
    };
    assert_eq!(code(96), [("PD2004", Severity::Info)]);
    assert_eq!(code(128), [("PD2004", Severity::Info)]);
    // The perf that recorded may refuse it.
    assert_eq!(code(136), [("PD2006", Severity::Error)]);
    assert_eq!(code(144), [("PD2006", Severity::Error)]);
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

/// A recording with a section of event types between attrs and records, as perf 3.4 and 3.8 write.
fn with_event_types(bytes: &[u8], count: u64) -> Vec<u8> {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let (data, size) = (word(40), word(48));
    let flags: u32 = bytes[72..104].iter().map(|byte| byte.count_ones()).sum();
    let table = usize::try_from(data + size).unwrap();
    let len = 72 * count;
    let mut out = bytes.to_vec();
    // All features move by the length of the section.
    for at in (table..).step_by(16).take(flags as usize) {
        let moved = (word(at) + len).to_le_bytes();
        out[at..at + 8].copy_from_slice(&moved);
    }
    for (at, value) in [(40, data + len), (56, data), (64, len)] {
        out[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
    }
    let mut section = Vec::new();
    for _ in 0..count {
        section.extend(7_u64.to_le_bytes());
        section.extend([b"cycles".as_slice(), &[0; 58]].concat());
    }
    let at = usize::try_from(data).unwrap();
    out.splice(at..at, section);
    out
}

#[test]
fn the_event_types_of_old_versions_are_sound() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean/plain.data");
    let plain = std::fs::read(path).unwrap();
    for count in [1, 6] {
        let bytes = with_event_types(&plain, count);
        let (repair, target) = mended(&bytes);
        let found: Vec<&str> = repair.before.counts().keys().copied().collect();
        assert_eq!(found, [""; 0], "{count} event types");
        assert_eq!(target, bytes);
    }
    // A size that is not that of whole entries is damage.
    let mut bytes = with_event_types(&plain, 1);
    bytes[64] ^= 1;
    let (repair, _) = mended(&bytes);
    assert!(repair.before.counts().contains_key("PD0025"));
}

#[test]
fn an_attr_of_a_version_to_come_is_not_a_warning() {
    // The size 68 was never one; 152 is a multiple of 8 above the newest.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/rules/PD0017.data");
    let mut bytes = std::fs::read(path).unwrap();
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let attr = usize::try_from(word(&bytes, 24)).unwrap();
    bytes[attr + 4] = 152;
    for at in [16, 32, 40] {
        let moved = word(&bytes, at) + 84;
        bytes[at..at + 8].copy_from_slice(&moved.to_le_bytes());
    }
    bytes.splice(attr + 68..attr + 68, [0; 84]);
    let (repair, _) = mended(&bytes);
    let found: Vec<&str> = repair.before.counts().keys().copied().collect();
    assert_eq!(found, ["PD0016"]);
}

/// Reads a recording of the corpus.
fn corpus(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/perf/clean");
    std::fs::read(folder.join(name)).unwrap()
}

fn number(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()).try_into().unwrap()
}

#[test]
fn an_attr_gets_the_values_back_that_its_copy_and_the_rest_of_the_file_agree_on() {
    let sound = corpus("plain.data");
    let attr = number(&sound, 24);
    // Type, config, sample_period, read_format, inherit_stat's neighbours in the flags,
    // wakeup_events, config1, aux_action.
    let bits = [(1, 3), (8, 1), (17, 2), (32, 1), (41, 5), (42, 0), (43, 0), (50, 2), (59, 4)];
    for (byte, bit) in bits.into_iter().chain([(118, 3)]) {
        let mut bytes = sound.clone();
        bytes[attr + byte] ^= 1 << bit;
        // A proven fault nearby makes the attr worth a repair: reserved bits are set.
        bytes[attr + 31] ^= 1 << 5;
        let (_, target) = mended(&bytes);
        assert!(target == sound, "bit {bit} of byte {byte}");
    }
}

#[test]
fn a_feature_bit_that_was_cleared_at_the_end_is_restored() {
    let sound = corpus("plain.data");
    let last = (0..256).rev().filter(|bit| sound[72 + bit / 8] >> (bit % 8) & 1 == 1);
    for bit in last.take(3) {
        let mut bytes = sound.clone();
        bytes[72 + bit / 8] ^= 1 << (bit % 8);
        let (_, target) = mended(&bytes);
        assert!(target == sound, "feature {bit}");
    }
}

#[test]
fn a_directory_without_one_of_its_files_has_a_finding() {
    let report = |names: &[&str]| {
        let files = directory();
        let named = names.iter().enumerate().map(|(index, name)| {
            let of = if name.starts_with("data.") { "data.0" } else { name };
            let (_, bytes) = files.iter().find(|(known, _)| *known == of).unwrap();
            // No two of them are alike: FINISHED_ROUND records end them.
            let rounds = [68, 0, 0, 0, 0, 0, 8, 0].repeat(index);
            (*name, if *name == of { bytes.clone() } else { [bytes.as_slice(), &rounds].concat() })
        });
        let named: Vec<(&str, Vec<u8>)> = named.collect();
        let named = named.iter().map(|(name, bytes)| File::new(*name, bytes.as_slice()));
        check(&FileSet::new(named.collect()), &Options::default())
    };
    let found = |names: &[&str]| -> Vec<(Severity, String)> {
        let report = report(names);
        let parts = report.findings().iter().filter(|finding| finding.rule.code == "PD0032");
        parts.map(|finding| (finding.severity, finding.message.to_string())).collect()
    };
    assert!(found(&["data", "data.0"]).is_empty());
    assert!(found(&["data", "data.0", "data.1", "data.2"]).is_empty());
    let alone = "missing data.0: the records of the threads lie in files beside this one";
    assert_eq!(found(&["data"]), [(Severity::Error, alone.to_string())]);
    for (names, message) in [
        (&["data", "data.1"][..], "missing data.0: the next file is data.1"),
        (&["data", "data.0", "data.2", "data.7"], "missing data.1: the next file is data.2"),
        (&["data", "data.0", "data.old"], "data.old has no number, but perf reads it as records"),
    ] {
        assert_eq!(found(names), [(Severity::Warning, message.to_string())]);
    }
}

#[test]
fn no_sample_is_changed_if_all_contradict_the_tracepoint_of_their_event() {
    let built = by_name("tracepoint").built;
    let samples: Vec<_> = built.records.iter().filter(|record| record.kind == 9).collect();
    assert!(samples.len() > 1);
    let damaged = |count: usize| {
        let mut bytes = built.bytes.clone();
        for sample in samples.iter().take(count) {
            bytes[sample.range().end - tracepoint_raw(Order::Little).len()] ^= 0x80;
        }
        bytes
    };
    let (repair, _) = mended(&damaged(samples.len() - 1));
    assert_eq!(repair.before.counts()["PD2010"], u64::try_from(samples.len() - 1).unwrap());
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    let (repair, target) = mended(&damaged(samples.len()));
    assert_eq!(repair.before.counts()["PD2010"], u64::try_from(samples.len()).unwrap());
    assert_eq!(repair.outcome, Outcome::CannotRepair);
    assert_eq!(target, damaged(samples.len()));
}

/// Whether the record of a type is repaired to the original if the bit of `flip` changes, and the
/// class of the repair.
fn repair_of_type(name: &str, kind: u32, flip: u32) -> (Vec<(&'static str, Severity)>, bool) {
    let built = by_name(name).built;
    let bytes = built.record_type(built.first_of(kind).unwrap(), kind ^ flip);
    let (repair, target) = mended(&bytes);
    let found = repair.before.findings().iter().map(|one| (one.rule.code, one.severity));
    let found = found.filter(|(code, _)| code.starts_with("PD1")).collect();
    (found, target == built.bytes)
}

#[test]
fn a_type_that_will_not_exist_for_years_is_set_to_the_only_known_one_that_fits() {
    let damaged = vec![("PD1007", Severity::Error)];
    for (name, kind, flip) in [
        ("sample_usual", 9, 32),
        ("every_kernel_record", 3, 32),
        ("every_kernel_record", 7, 32),
        ("every_user_record", 68, 32),
        ("every_user_record", 78, 32),
        ("every_user_record", 82, 32),
    ] {
        assert_eq!(repair_of_type(name, kind, flip), (damaged.clone(), true), "{kind} of {name}");
    }
}

#[test]
fn a_sample_with_the_type_of_another_record_gets_its_type_back() {
    let built = by_name("sample_usual").built;
    let last = built.records.iter().rposition(|record| record.kind == 9).unwrap();
    // AUX, LOST_SAMPLES and MMAP. READ may have any body.
    for kind in [11, 13, 1] {
        let (repair, target) = mended(&built.record_type(last, kind));
        assert_eq!(repair.before.counts().keys().collect::<Vec<_>>(), [&"PD1007"], "{kind}");
        assert_eq!(repair.safety(), Some(Safety::Exact), "{kind}");
        assert!(target == built.bytes, "{kind}");
    }
}

#[test]
fn a_type_that_may_be_a_new_one_is_kept_and_one_that_fits_no_known_type_is_dropped() {
    let built = by_name("sample_usual").built;
    let comm = built.first_of(3).unwrap();
    for (kind, code, outcome) in [
        (34, "PD1005", Outcome::Clean),
        (35, "PD1007", Outcome::RepairedWithLoss),
        (63, "PD1007", Outcome::RepairedWithLoss),
        (98, "PD1005", Outcome::Clean),
        (99, "PD1007", Outcome::RepairedWithLoss),
        (127, "PD1007", Outcome::RepairedWithLoss),
    ] {
        let (repair, target) = mended(&built.record_type(comm, kind));
        assert!(repair.before.counts().contains_key(code), "{kind}");
        assert_eq!(repair.outcome, outcome, "{kind}");
        let is_kept = target.len() == built.bytes.len();
        assert_eq!(is_kept, outcome == Outcome::Clean || kind == 35, "{kind}");
    }
}

#[test]
fn a_sample_on_a_cpu_that_no_machine_has_is_dropped() {
    let built = by_name("sample_usual").built;
    let last = built.records.iter().rposition(|record| record.kind == 9).unwrap();
    for (cpu, outcome) in [
        ((1 << 16) - 1, Outcome::Clean),
        (1 << 16, Outcome::RepairedWithLoss),
        (u64::from(u32::MAX) - 1, Outcome::RepairedWithLoss),
        (u64::from(u32::MAX), Outcome::Clean),
    ] {
        let (repair, target) = mended(&built.sample_field(last, "cpu", cpu));
        let is_found = repair.before.counts().contains_key("PD2011");
        assert_eq!((repair.outcome, is_found), (outcome, outcome != Outcome::Clean), "{cpu}");
        let lost = if is_found { built.records[last].len } else { 0 };
        assert_eq!(target.len(), built.bytes.len() - lost, "{cpu}");
    }
}

#[test]
fn context_switches_show_which_copy_of_an_attr_is_damaged() {
    for has_switches in [true, false] {
        let usual = sample_type::IP | sample_type::TID | sample_type::TIME;
        let mut attr = Attr::cpu_clock(usual).with_ids(&[11]);
        attr.flags |= u64::from(has_switches) << 26;
        let mut recording = Recording::new(Order::Little, vec![attr]);
        let mut maker = recording.maker(0);
        recording.extend([maker.comm("forge"), maker.sample()]);
        if has_switches {
            recording.push(maker.switch());
        }
        let built = recording.feature(12).build();
        let mut bytes = built.bytes.clone();
        let attr = built.attr_spans[0].start;
        bytes[attr + 43] ^= 1 << 2;
        // A proven fault nearby makes the attr worth a repair: reserved bits are set.
        bytes[attr + 31] ^= 1 << 5;
        assert!(mended(&bytes).1 == built.bytes, "{has_switches}");
    }
}
