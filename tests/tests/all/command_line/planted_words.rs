//! `redact` of records that are mostly numbers: the words of tracers, and descriptions of programs.

use tracemend_tests::forge::perf::worded::programs;
use tracemend_tests::forge::perf::{Maker, Order};

use super::planted::{Fate, Left, WORD, attr, judge_file, judge_word, left_of, perf_with};
use super::*;
use tracemend_tests::sweep::is_left_to_the_gate;

const BPF_PROG_INFO: u32 = 25;
/// The first description in the section of `programs`, and its place.
const INFO: std::ops::Range<usize> = 20..252;

fn with_programs(section: Vec<u8>) -> Vec<u8> {
    perf_with(attr(), |recording, _| _ = recording.feature_with(BPF_PROG_INFO, section))
}

/// What `redact` writes.
fn redacted(bytes: &[u8]) -> Vec<u8> {
    let folder = folder(&[("a.data", bytes)]);
    let output = folder.path().join("output");
    let ran = run!("redact", folder.path().join("a.data"), "-o", &output);
    assert!(ran.code <= 1, "{}", ran.err);
    fs::read(&output).unwrap()
}

#[test]
fn a_word_in_any_word_of_a_tracer_is_gone_or_named() {
    if is_left_to_the_gate("a word in any word of a tracer is gone or named") {
        return;
    }
    let mut named = 0;
    for record in Maker::new(Order::Little, &attr()).every_tracer() {
        // Arm SPE needs a TIME_CONV before it.
        let with = |record| {
            perf_with(attr(), |recording, maker| {
                recording.push(maker.time_conv()).push(record);
            })
        };
        // Numbers are plain facts, and paths are replaced.
        assert_eq!(left_of("a.data", &with(record.clone())), Some(Left::new()), "{record:?}");
        for at in (0..record.body.len().saturating_sub(7)).step_by(4) {
            let mut planted = record.clone();
            planted.body[at..at + 8].copy_from_slice(WORD);
            let fate = judge_file("a.data", &with(planted), &Left::new());
            assert!(!matches!(fate, Fate::Hidden(_)), "{:?} at {at}: {fate:?}", record.body[0]);
            named += u32::from(fate == Fate::Named);
        }
    }
    assert!(named > 100, "{named} words were named");
}

#[test]
fn a_word_in_a_description_of_a_program_is_gone_or_named() {
    // Without arrays, each of which is named.
    let head = [1_u32, 232, 0, 0, 0].map(u32::to_le_bytes).concat();
    let section = [head, programs(Order::Little)[INFO].to_vec()].concat();
    assert_eq!(left_of("a.data", &with_programs(section.clone())), Some(Left::new()));
    let fates = INFO.step_by(4).take(57).map(|at| {
        let mut planted = section.clone();
        planted[at..at + 8].copy_from_slice(WORD);
        let fate = judge_file("a.data", &with_programs(planted), &Left::new());
        assert!(!matches!(fate, Fate::Hidden(_)), "at {at}: {fate:?}");
        (at - INFO.start, fate)
    });
    let gone: Vec<usize> =
        fates.filter(|(_, fate)| *fate == Fate::Gone).map(|(at, _)| at).collect();
    // Its tag, places of arrays, and its name.
    for at in [8, 24, 32, 56, 64, 72, 112, 120, 136, 152, 160, 184] {
        assert!(gone.contains(&at), "at {at}: {gone:?}");
    }
}

#[test]
fn names_and_tags_of_programs_are_replaced_once_and_their_numbers_stay() {
    let section = programs(Order::Little);
    let bytes = with_programs(section.clone());
    let once = redacted(&bytes);
    assert_eq!(redacted(&once), once);
    let at = bytes.windows(section.len()).position(|part| part == section).unwrap();
    let after = &once[at..at + section.len()];
    let (mut expected, found) = (section[INFO].to_vec(), &after[INFO]);
    expected[8..16].fill(0);
    assert_ne!(found[64..80], expected[64..80]);
    expected[64..80].copy_from_slice(&found[64..80]);
    assert_eq!(found, expected);
    // The arrays are named as left.
    assert_eq!(after[INFO.end..INFO.end + 136], section[INFO.end..INFO.end + 136]);
}

#[test]
fn the_names_of_a_probe_are_replaced_and_a_word_elsewhere_in_its_format_is_named() {
    let sound = perf::clean().into_iter().find(|one| one.name == "tracepoint").unwrap().built.bytes;
    let mut probe = sound;
    for (old, new) in [
        ("sched\0", "group\0"),
        ("sched_switch\n", "hunter2_pass\n"),
        ("common_pid;", "__probe_ip;"),
        ("prev_pid", "SECRETXY"),
    ] {
        let places = probe.windows(old.len()).enumerate().filter(|(_, at)| *at == old.as_bytes());
        let places: Vec<usize> = places.map(|(at, _)| at).collect();
        assert!(!places.is_empty(), "{old}");
        for at in places {
            probe[at..at + old.len()].copy_from_slice(new.as_bytes());
        }
    }
    let base = left_of("a.data", &probe).unwrap();
    assert!(base.keys().all(|(_, field)| field != "TRACING_DATA"), "{base:?}");
    assert_eq!(judge_file("a.data", &probe, &base), Fate::Gone);
    let format = probe.windows(6).position(|part| part == b"format").unwrap();
    let end = probe.windows(4).position(|part| part == b"REC-").unwrap();
    let mut named = 0;
    for at in (format..end).step_by(7) {
        let mut planted = probe.clone();
        planted[at..at + 8].copy_from_slice(b"SECRETZZ");
        let folder = folder(&[("a.data", planted.as_slice())]);
        let fate = judge_word(&folder.path().join("a.data"), &base, b"SECRETZZ");
        assert!(!matches!(fate, Fate::Hidden(_)), "{at}: {fate:?}");
        named += u32::from(fate == Fate::Named);
    }
    assert!(named > 20, "{named}");
}
