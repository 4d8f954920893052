//! The logs of the forge are valid, and truncated at any byte they are closed as the forge closes
//! them.

use std::collections::BTreeSet;

use tracemend::FormatId;
use tracemend::format::{Confidence, Format};
use tracemend::formats::qemu::QEMU;
use tracemend::formats::qemu::layout::{KINDS, LAYOUTS, release as release_number};
use tracemend::model::rule::common;
use tracemend::{FileSet, Options, Outcome, Severity};
use tracemend_tests::forge::qemu::clean::keys;
use tracemend_tests::forge::qemu::{Log, all, every, ids, long};
use tracemend_tests::judge::qemu::events;
use tracemend_tests::mended::mended_as;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

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
fn a_valid_log_has_no_warning_and_all_events_are_counted() {
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
fn packets_and_keys_are_counted_in_the_facts() {
    let facts = |log: &Log| {
        let files = FileSet::single("log", &log.bytes);
        let report = tracemend::check(&files, &Options::default());
        ["packets", "keys"].map(|name| fact(&report, name).to_string())
    };
    let ids = ids::of("7.2");
    assert_eq!(facts(&every(ids))[0], "2, 63 bytes");
    assert_eq!(facts(&keys(ids)), ["", "6 pressed, 6 released"]);
}

#[test]
fn some_layout_writes_every_event_of_the_core() {
    let written: BTreeSet<&str> = ids::all()
        .into_iter()
        .flat_map(|ids| every(ids).marks.into_iter().map(|mark| mark.name))
        .collect();
    let never = ["ASYNC", "SHUTDOWN_LAST"];
    let known: BTreeSet<&str> =
        KINDS.iter().map(|kind| kind.name).filter(|name| !never.contains(name)).collect();
    assert_eq!(written, known);
}

#[test]
fn the_events_decide_between_the_layouts_of_one_version() {
    for release in ["2.9", "2.10", "3.0", "4.0", "7.1", "10.0"] {
        let log = every(ids::of(release));
        let report = tracemend::check(&FileSet::single("log", &log.bytes), &Options::default());
        let shown = LAYOUTS[release_number(release).unwrap()].describe_releases();
        assert!(fact(&report, "layout").ends_with(&shown), "{release}: {:?}", report.facts);
    }
    // Only a touch distinguishes 10.0 from 7.2.
    let log = every(ids::of("7.2"));
    let report = tracemend::check(&FileSet::single("log", &log.bytes), &Options::default());
    assert_eq!(fact(&report, "candidates"), "0xe0200c of 7.2 to 8.0 or 8.1 to 10.2");
}

#[test]
fn a_log_of_7_2_with_keys_does_not_fit_11_1() {
    let log = every(ids::of("7.2"));
    let report =
        tracemend::check(&FileSet::single("log", &log.killed(log.bytes.len() - 3)), &options(None));
    assert_eq!(fact(&report, "candidates"), "0xe0200c of 7.2 to 8.0 or 8.1 to 10.2");
    assert!(fact(&report, "excluded").contains("11.1"), "{:?}", report.facts);
}

#[test]
fn an_unfinished_log_truncated_anywhere_is_closed_as_the_forge_closes_it() {
    for (name, log) in all() {
        for len in Share::one_in(8).of(0..=log.bytes.len()) {
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

/// The bytes that a repair with `--qemu-version` writes, if it writes any.
fn closed_as(log: &[u8], release: &str) -> Option<Vec<u8>> {
    let (repair, target) = mended_as("log", log, &options(Some(release)));
    (repair.outcome != Outcome::CannotRepair).then_some(target)
}

/// Of a log without a version, the newest release that fits is assumed where the others give the
/// same log but for the version; else the user is asked, and each answer that is named repairs it.
#[test]
fn an_unfinished_log_is_closed_without_the_name_of_its_release() {
    for (name, log) in all() {
        for len in Share::one_in(64).of(12..=log.bytes.len()) {
            let killed = log.killed(len);
            let (repair, target) = mended_as("log", &killed, &options(None));
            let fix_of = |finding: &tracemend::Finding| finding.fix.clone();
            let (fixes, is_closed) = match repair.outcome {
                Outcome::CannotRepair => (repair.after.findings().iter().filter_map(fix_of), false),
                _ => (repair.before.findings().iter().filter_map(fix_of), true),
            };
            let named: Vec<String> = fixes.flat_map(|fix| fix.options).collect();
            assert!(named.len() <= 3, "{name} at {len}: {named:?}");
            let others: Vec<Vec<u8>> = named
                .iter()
                .map(|option| option.rsplit(' ').next().unwrap_or_default())
                .map(|release| closed_as(&killed, release).expect("an answer repairs the log"))
                .collect();
            if !is_closed {
                assert_eq!(target, killed, "{name} at {len}");
                assert!(others.len() >= 2, "{name} at {len}: {named:?}");
                continue;
            }
            // The log is that of the release but for the version, and so are the other answers.
            assert_eq!(target[4..], log.mended(len)[4..], "{name} at {len}");
            assert!(target[..4] >= log.mended(len)[..4], "{name} at {len}");
            for other in &others {
                assert!(other[..4] < target[..4] && other[4..] == target[4..], "{name} at {len}");
            }
            let is_assumed = target[..4] != log.mended(len)[..4];
            assert!(!is_assumed || !others.is_empty(), "{name} at {len}");
        }
    }
}

#[test]
fn a_finished_log_truncated_anywhere_is_closed_or_the_release_is_asked_for() {
    for (name, log) in all() {
        for len in Share::one_in(8).of(12..log.bytes.len()) {
            let cut = &log.bytes[..len];
            let (repair, target) = mended_as("log", cut, &options(Some(log.ids.release)));
            assert_eq!(target, log.mended(len), "{name} at {len}: {:?}", repair.after.findings());
            // Without the release: the same bytes, or a request to name it.
            let (repair, target) = mended_as("log", cut, &options(None));
            if repair.outcome == Outcome::CannotRepair {
                assert_eq!(target, cut, "{name} at {len}");
                let manual = repair.after.findings().iter().filter_map(|f| f.fix.as_ref());
                let named = manual.flat_map(|fix| fix.options.clone()).collect::<String>();
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
fn a_log_with_damage_in_the_middle_is_closed_before_it() {
    if is_left_to_the_gate("a log with damage in the middle is closed before it") {
        return;
    }
    for (name, log) in all() {
        // Directly after a full ring, damage looks like samples.
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
            // The length of an array before the damage may be wrong.
            let before = number.checked_sub(1).map(|before| &log.marks[before]);
            let array = before.filter(|before| arrays.contains(&before.name));
            let at = mark.start;
            let start = array.unwrap_or(mark).start;
            // If events follow at once, a block before it may be in the wrong place.
            let mut places = [start, log.last_clock_before(start)].into_iter();
            let is_mended = places.any(|at| log.is_mended_before(at, &target));
            assert!(is_mended, "{name} at {at}: {:#?}", repair.after.findings());
            // Of a log that is damaged at its beginning, no event is left.
            let is_refused = repair.after.count(&common::LITTLE_KEPT) > 0;
            let is_none = log.is_mended_before(log.marks[0].start, &target);
            assert!(!is_refused || is_none, "{name} at {at}: {repair:#?}");
            let refused = [Outcome::RepairedWithLoss, Outcome::CannotRepair];
            assert_eq!(repair.outcome, refused[usize::from(is_refused)], "{name} at {at}");
            let mut asked = chosen;
            asked.choices.set("strategy", "close").unwrap();
            let (repair, target) = mended_as("log", &damaged, &asked);
            assert_eq!(repair.outcome, Outcome::CannotRepair, "{name} at {at}");
            assert_eq!(target, damaged, "{name} at {at}");
        }
    }
}

#[test]
fn a_log_longer_than_an_anchor_distance_is_closed_as_well() {
    let log = long(ids::of("7.2"), 200_000);
    for len in Share::one_in(16).of((log.bytes.len() - 3000..log.bytes.len()).step_by(7)) {
        let (_, target) = mended_as("log", &log.killed(len), &options(Some("7.2")));
        assert_eq!(target, log.mended(len), "at {len}");
    }
}

#[test]
fn a_log_without_a_version_is_recognised_by_its_events() {
    let sniff = |bytes: &[u8]| QEMU.sniff(&FileSet::single("log", bytes), &Options::default());
    for (name, log) in all() {
        assert_eq!(sniff(&log.bytes), Some(Confidence::Certain), "{name}");
        let enough = log.marks.len() > 20;
        let killed = log.killed(log.bytes.len() - log.closing().len());
        assert_eq!(sniff(&killed).is_some(), enough, "{name} killed");
    }
    for (_, bytes) in tracemend_tests::forge::perf::all() {
        assert_eq!(sniff(&bytes), None);
        // After the header of an unfinished log.
        assert_eq!(sniff(&[&[0; 12][..], &bytes].concat()), None);
    }
    let text = "The quick brown fox jumps over the lazy dog. ".repeat(100);
    assert_eq!(sniff(text.as_bytes()), None);
}

/// Samples of a ring, 16 bytes each.
const RING: u64 = 24;

#[test]
fn a_full_ring_is_one_although_an_event_begins_where_its_samples_would_end() {
    for release in ["2.9", "4.0", "5.2", "7.2", "10.0"] {
        let mut aligned = 0;
        for size in 1..=8 {
            let mut log = Log::new(ids::of(release));
            log.start().instruction(5).checkpoint("CP_CLOCK_VIRTUAL").audio_out(9);
            log.audio_in(RING, 8, 0);
            let end = log.bytes.len() + RING as usize * 16;
            for number in 0..size {
                log.instruction(number + 1).host();
            }
            for number in 0..200 {
                log.tick(number);
            }
            log.close();
            aligned += u32::from(log.marks.iter().any(|mark| mark.start == end));
            let report =
                tracemend::check(&FileSet::single("log", &log.bytes), &options(Some(release)));
            let codes: Vec<_> = report.counts().keys().copied().collect();
            assert_eq!(codes, ["QR2012"], "{release} {size}: {:#?}", report.findings());
        }
        assert!(aligned > 0, "{release}: no event begins at the place");
    }
}

#[test]
fn the_following_events_show_a_full_ring() {
    for release in ["2.9", "4.0", "5.2", "7.2", "10.0"] {
        for rest in 0..6 {
            let mut log = Log::new(ids::of(release));
            log.start().instruction(5).checkpoint("CP_CLOCK_VIRTUAL").audio_out(9);
            log.audio_in(24, 8, 0);
            // If the next one is read with samples, the rest of the log is lost.
            log.checkpoint("CP_CLOCK_VIRTUAL").audio_out(9).audio_in(24, 8, 0);
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
