//! The forge's logs are sound, the check says so, and cut anywhere they are closed as by hand.

use std::collections::BTreeSet;

use tracemend::FormatId;
use tracemend::formats::qemu::QEMU;
use tracemend::formats::qemu::layout::{KINDS, LAYOUTS, release as release_number};
use tracemend::formats::{Confidence, Format};
use tracemend::{FileSet, Options, Outcome, Severity};
use tracemend_tests::forge::qemu::{Log, all, every, ids, long};
use tracemend_tests::judge::qemu::events;
use tracemend_tests::mended::mended_as;
use tracemend_tests::sweep::Share;

fn options(release: Option<&str>) -> Options {
    let mut options = Options { format: Some(FormatId::QEMU), ..Options::default() };
    if let Some(release) = release {
        options.choices.set("qemu-version", release).unwrap();
    }
    options
}

fn fact<'r>(report: &'r tracemend::Report, name: &str) -> &'r str {
    report.facts.iter().find(|(one, _)| *one == name).map_or("", |(_, value)| value)
}

#[test]
fn a_sound_log_gives_no_warning_and_all_its_events() {
    for (name, log) in all() {
        let files = FileSet::single("log", &log.bytes);
        let report = tracemend::check(&files, &Options::default());
        let found: Vec<_> =
            report.findings().iter().filter(|f| f.severity > Severity::Info).collect();
        assert!(found.is_empty(), "{name}: {found:#?}");
        assert_eq!(report.format, Some(FormatId::QEMU), "{name}");
        assert_eq!(report.tally.records, u64::try_from(log.marks.len()).unwrap(), "{name}");
        let marks: Vec<_> =
            log.marks.iter().map(|mark| (u64::try_from(mark.start).unwrap(), mark.name)).collect();
        // Names are compared where the version has one layout; others may name shutdowns alike.
        let alone = ids::all().iter().filter(|ids| ids.version == log.ids.version).count() == 1;
        if alone {
            assert_eq!(events(&log.bytes), marks, "{name}");
        }
    }
}

#[test]
fn every_event_of_the_core_is_written_by_some_layout() {
    let written: BTreeSet<&str> = ids::all()
        .into_iter()
        .flat_map(|ids| every(ids).marks.into_iter().map(|mark| mark.name))
        .collect();
    let never = ["ASYNC", "SHUTDOWN_LAST"];
    let known: BTreeSet<&str> =
        KINDS.iter().map(|kind| kind.name()).filter(|name| !never.contains(name)).collect();
    assert_eq!(written, known);
}

#[test]
fn the_log_decides_where_a_version_has_several_layouts() {
    for release in ["2.9", "2.10", "3.0", "4.0", "7.1", "10.0"] {
        let log = every(ids::of(release));
        let report = tracemend::check(&FileSet::single("log", &log.bytes), &Options::default());
        let shown = LAYOUTS[release_number(release).unwrap()].describe_releases();
        assert!(fact(&report, "layout").ends_with(&shown), "{release}: {:?}", report.facts);
    }
    // Without a touch nothing tells 7.2 and 10.0 apart.
    let log = every(ids::of("7.2"));
    let report = tracemend::check(&FileSet::single("log", &log.bytes), &Options::default());
    assert_eq!(fact(&report, "candidates"), "0xe0200c of 7.2 to 8.0 or 8.1 to 10.2");
}

#[test]
fn a_log_of_7_2_with_keys_is_not_taken_for_one_of_11_1() {
    let log = every(ids::of("7.2"));
    let report =
        tracemend::check(&FileSet::single("log", &log.killed(log.bytes.len() - 3)), &options(None));
    assert_eq!(fact(&report, "candidates"), "0xe0200c of 7.2 to 8.0 or 8.1 to 10.2");
    assert!(fact(&report, "excluded").contains("11.1"), "{:?}", report.facts);
}

#[test]
fn any_cut_of_an_unfinished_log_is_closed_as_by_hand() {
    for (name, log) in all() {
        for len in 0..=log.bytes.len() {
            let (repair, target) =
                mended_as("log", &log.killed(len), &options(Some(log.ids.release)));
            if len < 12 {
                assert_eq!(repair.outcome, Outcome::CannotRepair, "{name} at {len}");
                continue;
            }
            assert!(
                matches!(repair.outcome, Outcome::Repaired | Outcome::RepairedWithLoss),
                "{name} at {len}: {:?} {:?} {:?}",
                repair.outcome,
                repair.refused,
                repair.after.findings()
            );
            assert_eq!(target, log.mended(len), "{name} at {len}");
        }
    }
}

#[test]
fn any_cut_of_a_finished_log_is_closed_as_by_hand_or_names_the_candidates() {
    for (name, log) in all() {
        for len in Share::one_in(8).of(12..log.bytes.len()) {
            let cut = &log.bytes[..len];
            let (repair, target) = mended_as("log", cut, &options(Some(log.ids.release)));
            assert_eq!(target, log.mended(len), "{name} at {len}: {:?}", repair.after.findings());
            // Without the choice: the same bytes or none, and then the candidates' names.
            let (repair, target) = mended_as("log", cut, &options(None));
            if repair.outcome == Outcome::CannotRepair {
                assert_eq!(target, cut, "{name} at {len}");
                let manual = repair.after.findings().iter().filter_map(|f| f.fix.as_ref());
                let named = manual.filter_map(|fix| fix.option.clone()).collect::<String>();
                assert!(named.contains("--qemu-version"), "{name} at {len}: {named}");
                let several =
                    ids::all().iter().filter(|i| i.version == log.ids.version).count() > 1;
                assert!(several, "{name} at {len}");
            } else {
                assert_eq!(target, log.mended(len), "{name} at {len}");
            }
        }
    }
}

#[test]
fn damage_in_the_middle_is_cut_on_request_alone() {
    for (name, log) in all() {
        // Right behind a full ring nothing tells damage from samples.
        let ring =
            log.marks.iter().position(|mark| mark.name == "AUDIO_IN" && mark.end - mark.start < 20);
        let near = |number: usize| ring.is_some_and(|ring| ring < number && number <= ring + 16);
        let marks = log.marks[..log.marks.len() - log.closing().len()].iter().enumerate();
        let arrays = ["ASYNC_CHAR_READ", "ASYNC_NET", "CHAR_READ_ALL", "RANDOM", "AUDIO_IN"];
        for (number, mark) in marks.filter(|(number, _)| !near(*number)) {
            // No layout has the id 200.
            let mut damaged = log.bytes.clone();
            damaged[mark.start] = 200;
            let chosen = options(Some(log.ids.release));
            let (repair, target) = mended_as("log", &damaged, &chosen);
            let at = mark.start;
            assert_eq!(repair.outcome, Outcome::CannotRepair, "{name} at {at}");
            assert_eq!(target, damaged, "{name} at {at}");
            let mut asked = chosen;
            asked.choices.set("strategy", "prefix").unwrap();
            let (repair, target) = mended_as("log", &damaged, &asked);
            // The length of an array before it may be what is wrong.
            let before = number.checked_sub(1).map(|before| &log.marks[before]);
            let array = before.filter(|before| arrays.contains(&before.name));
            let wanted = log.mended(array.unwrap_or(mark).start);
            assert_eq!(target, wanted, "{name} at {at}: {:#?}", repair.after.findings());
            assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{name} at {at}");
        }
    }
}

#[test]
fn a_long_log_is_closed_behind_its_last_chunk_too() {
    let log = long(ids::of("7.2"), 200_000);
    for len in Share::one_in(16).of((log.bytes.len() - 3000..log.bytes.len()).step_by(7)) {
        let (_, target) = mended_as("log", &log.killed(len), &options(Some("7.2")));
        assert_eq!(target, log.mended(len), "at {len}");
    }
}

#[test]
fn logs_are_told_from_other_bytes_by_their_events() {
    let sniff = |bytes: &[u8]| QEMU.sniff(&FileSet::single("log", bytes), &Options::default());
    for (name, log) in all() {
        assert_eq!(sniff(&log.bytes), Some(Confidence::Evidence), "{name}");
        let enough = log.marks.len() > 20;
        let killed = log.killed(log.bytes.len() - log.closing().len());
        assert_eq!(sniff(&killed).is_some(), enough, "{name} killed");
    }
    for (_, bytes) in tracemend_tests::forge::perf::all() {
        assert_eq!(sniff(&bytes), None);
        // Behind what an unfinished log begins with.
        assert_eq!(sniff(&[&[0; 12][..], &bytes].concat()), None);
    }
    let text = "The quick brown fox jumps over the lazy dog. ".repeat(100);
    assert_eq!(sniff(text.as_bytes()), None);
}

#[test]
fn a_full_ring_is_told_by_what_follows() {
    for release in ["2.9", "4.0", "5.2", "7.2", "10.0"] {
        for rest in 0..6 {
            let mut log = Log::new(ids::of(release));
            log.start().checkpoint("CP_CLOCK_VIRTUAL").audio_out(9).audio_in(24, 8, 0);
            for number in 0..rest {
                log.tick(number);
            }
            log.close();
            let files = FileSet::single("log", &log.bytes);
            let report = tracemend::check(&files, &options(Some(release)));
            let codes: Vec<_> = report.counts().keys().copied().collect();
            assert_eq!(codes, ["QR2012"], "{release} {rest}: {:#?}", report.findings());
        }
    }
}
