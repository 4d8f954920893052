//! The forge's revent recordings are clean; cut and flipped at every byte, they are checked and
//! repaired by the laws.

use tracemend::Allow;
use tracemend::FormatId;
use tracemend::format::Confidence;
use tracemend::format::Format as _;
use tracemend::formats::revent::{REVENT, limits};
use tracemend::{Choices, FileSet, Options, Outcome, Severity};
use tracemend_tests::forge::revent::{Built, Layout, Recording, all, clean, session};
use tracemend_tests::mended::{mended, mended_as, mended_with};
use tracemend_tests::properties::revent::every;
use tracemend_tests::properties::{guarded, recording};
use tracemend_tests::sweep::Share;

fn revent(choices: Choices) -> Options {
    Options { format: Some(FormatId::REVENT), choices, ..Options::default() }
}

#[test]
fn a_sound_recording_gives_no_error_and_no_warning() {
    let mut wrong = Vec::new();
    for (name, bytes) in all() {
        let report = tracemend::check(&FileSet::single(&name, &bytes), &Options::default());
        for finding in report.findings().iter().filter(|f| f.severity > Severity::Info) {
            wrong.push(format!("{name}: {} {}", finding.rule.code, finding.message));
        }
        assert_eq!(report.format, Some(FormatId::REVENT), "{name}");
        let (repair, target) = mended(&bytes);
        assert_eq!((repair.outcome, target == bytes), (Outcome::Clean, true), "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_layout_is_recognised_by_its_magic_or_by_its_events() {
    for layout in Layout::ALL {
        let bytes = session(layout).build().bytes;
        let files = FileSet::single("recording", &bytes);
        let wanted = if layout >= Layout::V1 { Confidence::Certain } else { Confidence::Evidence };
        assert_eq!(REVENT.sniff(&files, &Options::default()), Some(wanted), "{layout:?}");
        let report = tracemend::check(&files, &Options::default());
        let fact = report.facts.iter().find(|(name, _)| *name == "layout").unwrap();
        let fact = fact.1.to_ascii_lowercase();
        assert!(fact.starts_with(layout.name()), "{layout:?}: {fact}");
        assert_eq!(
            fact.contains("2 of 2 device paths, 30 of the first 30 events"),
            layout < Layout::V1
        );
        assert_eq!((report.tally.records, report.tally.samples), (30, 8));
    }
}

#[test]
fn other_files_are_not_taken_for_a_recording_without_magic() {
    let mut state = 1_u64;
    let mut random = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_le_bytes()[7]
    };
    let sniffed = |bytes: &[u8]| REVENT.sniff(&FileSet::single("x", bytes), &Options::default());
    for len in 0..4_000 {
        let bytes: Vec<u8> = (0..len % 400).map(|_| random()).collect();
        assert_eq!(sniffed(&bytes), None, "{bytes:?}");
        // A small number first, like the length of a list.
        let counted: Vec<u8> = [1, 0, 0, 0].into_iter().chain(bytes).collect();
        assert_eq!(sniffed(&counted), None, "{counted:?}");
    }
    for bytes in [vec![0; 4096], vec![0xff; 4096], vec![1; 4096], b"/dev/input/event0 ".repeat(99)]
    {
        assert_eq!(sniffed(&bytes), None);
    }
    for (name, bytes) in tracemend_tests::forge::perf::all() {
        assert_eq!(sniffed(&bytes), None, "{name}");
    }
    // A list of paths of ordinary files.
    let mut paths = Recording::new(Layout::P20);
    paths.paths = vec![b"/usr/lib/libc.so.6".to_vec(), b"/usr/lib/libm.so.6".to_vec()];
    assert_eq!(sniffed(&paths.tap(1).build().bytes), None);
}

#[test]
fn a_damaged_path_does_not_hide_a_recording_without_magic() {
    for layout in [Layout::P20, Layout::P24, Layout::P28, Layout::P32] {
        let built = session(layout).build();
        let at = built.prefix - 5;
        let files = built.with(at, b"?");
        let files = FileSet::single("x", &files);
        assert_eq!(
            REVENT.sniff(&files, &Options::default()),
            Some(Confidence::Evidence),
            "{layout:?}"
        );
    }
}

/// Checks the laws for every change of every recording, and fails with the first few inputs.
fn everywhere(change: impl Fn(&Built, usize) -> Vec<Vec<u8>>) {
    let mut wrong = Vec::new();
    for (name, built) in clean() {
        for at in Share::one_in(16).of(0..built.bytes.len()) {
            for bytes in change(&built, at) {
                if let Err(broken) = guarded(|| every(&bytes)) {
                    wrong.push(format!("{name} at {at}: {broken}"));
                }
            }
        }
    }
    let count = wrong.len();
    wrong.truncate(5);
    assert!(wrong.is_empty(), "{count} times\n{}", wrong.join("\n"));
}

#[test]
fn the_laws_hold_for_recordings_cut_at_every_byte() {
    everywhere(|built, at| vec![built.cut(at)]);
}

#[test]
fn the_laws_hold_for_recordings_with_every_byte_flipped() {
    everywhere(|built, at| {
        [0xff, 1].into_iter().map(|mask| built.with(at, &[built.bytes[at] ^ mask])).collect()
    });
}

#[test]
fn the_laws_hold_with_all_options_and_at_every_safety() {
    for (name, built) in clean() {
        let cuts = Share::one_in(16).of((0..built.bytes.len()).step_by(7));
        let cuts = cuts.map(|at| built.cut(at));
        for bytes in cuts.chain([built.bytes.clone(), built.killed(64)]) {
            for release in ["auto", "always", "never"] {
                for upgrade in [false, true] {
                    assert_laws_with_options(&name, &bytes, release, upgrade);
                }
            }
        }
    }
}

/// Tests the laws of a repair with two options and every class.
fn assert_laws_with_options(name: &str, bytes: &[u8], release: &str, upgrade: bool) {
    let mut choices = Choices::default();
    choices.set("release", release).unwrap();
    if upgrade {
        choices.set("upgrade", "").unwrap();
    }
    let files = FileSet::single("recording", bytes);
    for allow in Allow::ALL {
        let options = revent(choices.clone()).with_allow(allow);
        let held = guarded(|| recording::repaired_with(&files, &options));
        // An option of the user may change a sound recording.
        let asked = upgrade || release == "always";
        let held = held.or_else(|broken| {
            let law = broken.law == "a clean recording stays byte for byte";
            if law && asked { Ok(()) } else { Err(broken) }
        });
        assert_eq!(held, Ok(()), "{name} {release:?} {upgrade} {allow:?}");
    }
}

#[test]
fn every_whole_frame_survives_a_cut_at_every_byte() {
    for (name, built) in clean() {
        for len in Share::one_in(8).of(built.events + 1..built.bytes.len()) {
            let cut = built.cut(len);
            let (repair, target) = mended_as("recording", &cut, &revent(Choices::default()));
            let whole = built.frames.iter().rev().find(|end| **end <= len).copied();
            let whole = whole.unwrap_or(built.events);
            assert!(repair.after.counts().get("RV1002").is_none(), "{name} at {len}");
            assert!(!repair.after.has_errors(), "{name} at {len}: {:?}", repair.after.findings());
            assert_eq!(
                target[built.events..whole],
                built.bytes[built.events..whole],
                "{name} at {len}"
            );
        }
    }
}

#[test]
fn a_killed_recorders_file_keeps_every_whole_frame() {
    for (name, built) in clean() {
        for buffer in [1, 16, 50, 64] {
            let bytes = built.killed(buffer);
            if bytes.len() < built.events + 2 * built.layout.stride() {
                continue;
            }
            let (repair, target) = mended_as("recording", &bytes, &revent(Choices::default()));
            let whole = built.frames.iter().rev().find(|end| **end <= bytes.len()).copied();
            let whole = whole.unwrap_or(built.events);
            assert_eq!(target[built.events..whole], bytes[built.events..whole], "{name} {buffer}");
            assert!(!repair.after.has_errors(), "{name} {buffer}: {:?}", repair.after.findings());
        }
    }
}

#[test]
fn an_upgrade_keeps_every_event_and_is_the_newest_layout() {
    for layout in Layout::ALL {
        let recording = session(layout);
        let old = recording.build();
        let mut choices = Choices::default();
        choices.set("upgrade", "").unwrap();
        let (repair, target) = mended_with(&old.bytes, choices);
        let mut newest = recording.clone();
        newest.layout = Layout::V3;
        let split = |time: i64| {
            let time = time.unsigned_abs();
            (time / 1_000_000, time % 1_000_000)
        };
        let time = |index: usize| split(recording.events[index].time);
        if layout < Layout::V3 {
            newest.times = Some([time(0), time(recording.events.len() - 1)]);
        }
        assert_eq!(target, newest.build().bytes, "{layout:?}");
        let wanted = if layout == Layout::V3 { Outcome::Clean } else { Outcome::Repaired };
        assert_eq!(repair.outcome, wanted);
    }
}

#[test]
fn events_are_found_again_after_inserted_and_missing_bytes_within_the_limit() {
    for (name, built) in clean() {
        let built_with = |insert: &[u8], drop: usize| {
            let mut bytes = built.bytes.clone();
            let at = built.at(3) + 5;
            bytes.splice(at..at + drop, insert.iter().copied());
            bytes
        };
        for bytes in [built_with(b"\xa5\x5a\xa5", 0), built_with(b"", 3)] {
            let (repair, target) = mended_as("a.run.revent", &bytes, &revent(Choices::default()));
            assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{name}");
            let rest = &built.bytes[built.at(5)..];
            assert!(target.ends_with(rest), "{name}");
            let mut options = revent(Choices::default());
            options.limits.set(&limits::SEARCHED, 2);
            let report = tracemend::check(&FileSet::single("a.run.revent", &bytes), &options);
            assert!(report.counts().contains_key("CM9002"), "{name}: {:?}", report.counts());
            assert!(!report.incomplete(), "{name}");
        }
    }
}

#[test]
fn more_damaged_events_than_a_round_drops_are_dropped_by_the_next_rounds() {
    let mut recording = session(Layout::V3);
    for id in 0..20 {
        recording.wait(30_000).tap(100 + id);
    }
    let built = recording.build();
    let mut bytes = built.bytes.clone();
    // Every other event has a device that is not listed.
    let damaged: Vec<usize> = (0..built.count).step_by(2).take(70).collect();
    for index in &damaged {
        bytes[built.events + index * Layout::V3.stride()] = 99;
    }
    let mut options = revent(Choices::default());
    options.limits.set_by_name("fixes", 7).unwrap();
    let (repair, target) = mended_as("recording", &bytes, &options);
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{:?}", repair.refused);
    assert_eq!(repair.records_lost(), damaged.len() as u64);
    assert_eq!(target.len(), bytes.len() - damaged.len() * Layout::V3.stride());
    // One round drops seven at most: a limit of rounds ends the repair.
    options.limits.set_by_name("rounds", 2).unwrap();
    let (repair, _) = mended_as("recording", &bytes, &options);
    assert_eq!(repair.outcome, Outcome::Incomplete);
}
