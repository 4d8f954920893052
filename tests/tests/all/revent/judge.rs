//! Workload Automation's own reader judges what the repair of revent recordings gives.

use std::path::Path;

use tracemend::FormatId;
use tracemend::{Choices, Outcome};
use tracemend_tests::forge::revent::{Built, Layout, Recording, clean, play, session};
use tracemend_tests::judge::revent::{Read, Wlauto};
use tracemend_tests::mended::mended_with;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

fn upgrading() -> Choices {
    let mut choices = Choices::default();
    choices.set("upgrade", "").unwrap();
    choices
}

/// The fields of every event as the forge made them.
fn fields(recording: &Recording) -> Vec<[i64; 6]> {
    let field = |event: &tracemend_tests::forge::revent::Event| {
        let (sec, usec) = (event.time / 1_000_000, event.time % 1_000_000);
        let (kind, code) = (i64::from(event.kind), i64::from(event.code));
        [i64::from(event.device), sec, usec, kind, code, i64::from(event.value)]
    };
    recording.events.iter().map(field).collect()
}

/// Repairs each recording with `choices`, and compares the judge's count with the report's.
fn agrees(judge: &Wlauto, named: &[(String, Vec<u8>)], choices: &Choices) -> usize {
    let mut expected = Vec::new();
    let mut targets = Vec::new();
    for (name, bytes) in named {
        let (repair, target) = mended_with(bytes, choices.clone());
        let success = matches!(
            repair.outcome,
            Outcome::Clean | Outcome::Repaired | Outcome::RepairedWithLoss
        );
        if success && repair.after.format == Some(FormatId::REVENT) {
            expected.push((name, repair.after.tally.records));
            targets.push(target);
        }
    }
    let read = judge.read(&targets);
    let mut wrong = Vec::new();
    for ((name, count), read) in expected.iter().zip(&read) {
        match read {
            Ok(read) if u64::try_from(read.events.len()) == Ok(*count) => {}
            Ok(read) => wrong.push(format!("{name}: {} read, {count} reported", read.events.len())),
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    targets.len()
}

#[test]
fn every_field_of_every_event_is_what_the_forge_made() {
    if is_left_to_the_gate("every field of every event is what the forge made") {
        return;
    }
    let Some(judge) = Wlauto::find_or_skip() else { return };
    for recording in [session, play] {
        for layout in Layout::ALL {
            if layout < Layout::V2 && recording(layout).gamepad.is_some() {
                continue;
            }
            let recording = recording(layout);
            let (_, target) = mended_with(&recording.build().bytes, upgrading());
            let read = judge.read(&[target]).remove(0).unwrap();
            let events = fields(&recording);
            assert_eq!(read.events, events, "{layout:?}");
            let paths: Vec<String> = match recording.gamepad {
                Some(_) => vec!["[GAMEPAD]".to_string()],
                None => recording
                    .paths
                    .iter()
                    .map(|path| String::from_utf8(path.clone()).unwrap())
                    .collect(),
            };
            let axes = recording.gamepad.map(|pad| {
                pad.axes.iter().map(|axis| axis.map(i64::from).to_vec()).collect::<Vec<_>>()
            });
            let wanted = Read {
                version: 3,
                num_events: u64::try_from(events.len()).ok(),
                events,
                paths,
                axes,
            };
            assert_eq!(read, wanted, "{layout:?}");
        }
    }
}

#[test]
fn old_layouts_are_read_by_nobody_before_and_by_the_judge_after() {
    let Some(judge) = Wlauto::find_or_skip() else { return };
    let old: Vec<(String, Built)> =
        clean().into_iter().filter(|(_, built)| built.layout < Layout::V1).collect();
    let before: Vec<Vec<u8>> = old.iter().map(|(_, built)| built.bytes.clone()).collect();
    for ((name, _), read) in old.iter().zip(judge.read(&before)) {
        assert!(read.is_err(), "{name} is read as it is");
    }
    let named: Vec<_> = old.into_iter().map(|(name, built)| (name, built.bytes)).collect();
    assert_eq!(agrees(&judge, &named, &upgrading()), named.len());
}

#[test]
fn what_is_left_of_a_cut_recording_is_read_with_the_count_that_the_report_states() {
    let Some(judge) = Wlauto::find_or_skip() else { return };
    let mut named = Vec::new();
    let mut with_events = 0;
    for (name, built) in clean() {
        for len in Share::one_in(8).of(0..=built.bytes.len()) {
            named.push((format!("{name} cut at {len}"), built.cut(len)));
            with_events += usize::from(len > built.events);
        }
        for buffer in [1, 7, 16, 64] {
            named.push((format!("{name} killed at {buffer}"), built.killed(buffer)));
        }
    }
    let read = agrees(&judge, &named, &upgrading());
    assert!(read >= with_events, "{read} of {with_events} cuts with events were repaired");
}

#[test]
fn a_recording_with_a_flipped_byte_is_read_with_the_count_that_the_report_states() {
    let Some(judge) = Wlauto::find_or_skip() else { return };
    let built = clean();
    let places =
        built.iter().flat_map(|one| (0..one.1.bytes.len()).step_by(3).map(move |at| (one, at)));
    let flipped = Share::one_in(8).of(places).map(|((name, built), at)| {
        (format!("{name} flipped at {at}"), built.with(at, &[built.bytes[at] ^ 0xff]))
    });
    let named: Vec<_> = flipped.collect();
    let read = agrees(&judge, &named, &upgrading());
    assert!(read * 10 >= named.len() * 9, "{read} of {} were repaired", named.len());
}

#[test]
fn the_corpus_is_read_with_the_count_that_the_report_states() {
    let Some(judge) = Wlauto::find_or_skip() else { return };
    let mut named = Vec::new();
    for folder in ["clean", "crashed"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/revent").join(folder);
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "revent") {
                let name = path.file_name().unwrap().display().to_string();
                named.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    assert!(named.len() >= 10, "{} recordings", named.len());
    // Nothing was recorded in one of them.
    assert_eq!(agrees(&judge, &named, &upgrading()), named.len() - 1);
}
