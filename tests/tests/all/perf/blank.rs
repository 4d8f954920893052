//! The last file of a `perf record --switch-output` that was killed: zeros instead of a header.

use tracemend::kit::source::Source;
use tracemend::{FileSet, FormatId, Options, Outcome, Verdict};
use tracemend_tests::forge::perf::{
    Attr, Clean, Mode, Order, Recording, by_name, clean, sample_type,
};
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::mended::{mended, mended_from};
use tracemend_tests::properties::recording::repaired_with;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// Recordings whose header, ids and attrs lie before the records, with at least three records.
fn switched() -> impl Iterator<Item = Clean> {
    clean().into_iter().filter(|clean| {
        let built = &clean.built;
        let is_aligned = built.data.start % 8 == 0;
        clean.judged()
            && built.mode == Mode::File
            && built.records.len() >= 3
            && is_aligned
            && built.attr_spans[0].end <= built.data.start
    })
}

#[test]
fn the_file_before_it_gives_header_ids_and_attrs() {
    if is_left_to_the_gate("the file before it gives header ids and attrs") {
        return;
    }
    let perf = Perf::find_or_skip();
    let folder = tempfile::tempdir().unwrap();
    let text = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        perf.as_ref().map(|perf| perf.script_text(&path).stdout.replace(":HG:", ":"))
    };
    let mut count = 0;
    for Clean { name, built, .. } in switched() {
        let (repair, target) = mended_from(&built.blank(), &built.bytes, &Options::default());
        assert_eq!(repair.outcome, Outcome::Repaired, "{name}: {:?}", repair.after.findings());
        let codes: Vec<_> = repair.before.findings().iter().map(|one| one.rule.code).collect();
        assert!(codes.contains(&"PD0034") && codes.contains(&"PD0004"), "{name}: {codes:?}");
        assert_eq!(target[..48], built.bytes[..48], "{name}");
        assert_eq!(target[104..built.data.end], built.bytes[104..built.data.end], "{name}");
        assert_eq!(text("again", &target), text("whole", &built.bytes), "{name}");
        count += 1;
    }
    assert!(count >= 20, "{count} recordings");
}

#[test]
fn without_a_donor_nothing_is_made_up() {
    for Clean { name, built, .. } in switched() {
        let (repair, target) = mended(&built.blank());
        assert_eq!(repair.outcome, Outcome::CannotRepair, "{name}");
        assert_eq!(target, built.blank(), "{name}");
        let codes: Vec<_> = repair.after.findings().iter().map(|one| one.rule.code).collect();
        assert_eq!(codes, ["PD0034"], "{name}");
        assert_eq!(repair.after.verdict(), Verdict::Unreadable, "{name}");
    }
}

/// A recording of an event with these ids, whose samples have fields of this type.
fn recorded(order: Order, ids: &[u64], sample_type: u64) -> Recording {
    let attrs = vec![
        Attr::cpu_clock(sample_type).with_ids(&ids[..1]),
        Attr::page_faults(sample_type).with_ids(&ids[1..]),
    ];
    let mut recording = Recording::new(order, attrs);
    let mut maker = recording.maker(0);
    recording.push(maker.id_index());
    recording.extend(vec![maker.comm("forge"), maker.sample(), maker.sample()]);
    recording
}

#[test]
fn a_donor_of_other_events_is_refused_with_the_reason() {
    use sample_type::{ADDR, ID, IP, TID, TIME};
    let order = Order::Little;
    let built = recorded(order, &[11, 12], ID | TID | TIME).build();
    let other = |ids: &[u64], sample_type: u64| recorded(order, ids, sample_type).build();
    let longer = recorded(order, &[11, 12, 13], ID | TID | TIME).build();
    let mut torn = built.bytes.clone();
    // attrs.offset
    torn[30] = 0xff;
    let cases = [
        (by_name("pipe").built.bytes, "it is not a perf.data file with a header of sections"),
        (built.blank(), "it is not a perf.data file with a header of sections"),
        (b"perf".to_vec(), "it is not a perf.data file with a header of sections"),
        (
            recorded(Order::Big, &[11, 12], ID | TID | TIME).build().bytes,
            "it has the other byte order",
        ),
        (longer.bytes, "so its events are others"),
        (other(&[21, 12], ID | TID | TIME).bytes, "its events have other ids"),
        (
            other(&[11, 12], ID | TID | TIME | ADDR | IP).bytes,
            "its events fit 2 of the first 4 records",
        ),
        (torn, "its attrs are damaged: repair the donor first"),
    ];
    for (donor, why) in cases {
        let (repair, target) = mended_from(&built.blank(), &donor, &Options::default());
        assert_eq!(repair.outcome, Outcome::CannotRepair, "{why}");
        assert_eq!(target, built.blank(), "{why}");
        let summary = &repair.after.findings()[0].fix.as_ref().unwrap().summary;
        assert!(summary.starts_with("the donor cannot be used: "), "{summary}");
        assert!(summary.contains(why), "{summary} instead of {why}");
    }
}

#[test]
fn a_damaged_donor_or_file_never_ends_in_errors() {
    let built = by_name("two_events_by_id").built;
    let options = Options { format: Some(FormatId::PERF), ..Options::default() };
    let (mut used, mut refused) = (0, 0);
    let mut judge = |blank: &[u8], donor: &[u8]| {
        let files = FileSet::single("recording", blank).with_donor(Some(Source::new(donor)));
        repaired_with(&files, &options).unwrap();
        match mended_from(blank, donor, &options).0.outcome {
            Outcome::CannotRepair => refused += 1,
            Outcome::Repaired | Outcome::RepairedWithLoss => used += 1,
            other => panic!("{other:?}"),
        }
    };
    for at in Share::one_in(5).of(0..built.data.end) {
        for bit in [1, 0x80] {
            let mut donor = built.bytes.clone();
            donor[at] ^= bit;
            judge(&built.blank(), &donor);
        }
    }
    for at in Share::one_in(5).of(built.data.start..built.data.end) {
        let mut blank = built.blank();
        blank[at] ^= 1;
        judge(&blank, &built.bytes);
    }
    assert!(used > 0 && refused > 0, "{used} used, {refused} refused");
}

#[test]
fn zeros_alone_are_no_recording_of_perf() {
    let built = by_name("every_feature").built;
    let sniffed = |bytes: &[u8]| {
        tracemend::check(&FileSet::single("some", bytes), &Options::default()).format
    };
    let blank = built.blank();
    assert_eq!(sniffed(&blank), Some(FormatId::PERF));
    let second = built.records[2].range().start;
    assert_eq!(sniffed(&blank[..second]), None, "two records");
    assert_eq!(sniffed(&vec![0; 4096]), None);
    assert_eq!(sniffed(&[&vec![0; 300 << 10], &blank[built.data.start..]].concat()), None);
    assert_eq!(
        sniffed(&[&vec![0; 200 << 10], &blank[built.data.start..]].concat()),
        Some(FormatId::PERF)
    );
    // Features after the records: the header was there.
    let lost = [&vec![0; built.data.start][..], &built.bytes[built.data.start..]].concat();
    assert!(lost.len() > blank.len());
    assert_eq!(sniffed(&lost), None);
    let no_room = [&[0; 64][..], &blank[built.data.start..]].concat();
    assert_eq!(sniffed(&no_room), None);
}
