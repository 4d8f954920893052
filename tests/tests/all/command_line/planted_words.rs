//! `redact` of records that are mostly numbers: the words of tracers, and descriptions of programs.

use tracemend_tests::forge::perf::worded::programs;
use tracemend_tests::forge::perf::{Maker, Order};

use super::planted::{Fate, Left, WORD, attr, judge_file, left_of, perf_with};
use super::*;

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
