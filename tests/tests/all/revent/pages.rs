//! Pages of zeros in a recording, and bytes without their highest bit.

use tracemend::model::arrival::rules::BYTES_LOST;
use tracemend::model::rule::common;
use tracemend::{FileSet, Options, Outcome};
use tracemend_tests::forge::ovni::Random;
use tracemend_tests::forge::revent::{Built, KEY_A, Layout, Recording, X, Y};
use tracemend_tests::mended::mended_as;
use tracemend_tests::notice;
use tracemend_tests::sweep::Share;

/// Bytes of a page.
const PAGE: usize = 4_096;
/// Cases of an exhaustive run.
const CASES: usize = 320;

/// A recording of taps and keys at irregular times, of about four pages.
fn recording(layout: Layout, random: &mut Random) -> Built {
    let mut recording = Recording::new(layout);
    let mut number = |end: usize| i64::try_from(random.below(end)).unwrap();
    for id in 0..90 {
        recording.wait(number(900_000)).tap(id);
        let [x, y] = [0, 1].map(|_| i32::try_from(number(700)).unwrap());
        recording.wait(number(30_000)).frame(1, &[(X, x), (Y, y)]);
        recording.wait(number(300_000)).frame(0, &[(KEY_A, 1)]);
        recording.wait(number(90_000)).frame(0, &[(KEY_A, 0)]);
    }
    recording.build()
}

#[test]
fn pages_of_zeros_that_were_inserted_are_dropped() {
    let mut counts = [0; 3];
    for number in Share::one_in(4).of(0..CASES) {
        let layout = Layout::ALL[number % Layout::ALL.len()];
        let mut random = Random(u64::try_from(number).unwrap() ^ 0x7061_6765);
        random.below(2);
        let sound = recording(layout, &mut random).bytes;
        let at = PAGE * (1 + random.below(sound.len() / PAGE));
        let pages = 1 + random.below(2);
        let zeros = vec![0; PAGE * pages];
        let damaged = [&sound[..at], &zeros, &sound[at..]].concat();
        let (repair, target) = mended_as("a.run.revent", &damaged, &Options::default());
        let is_same = target == sound;
        // Where events of zeros look the same, nothing proves it.
        let is_proven = layout != Layout::V1 && layout.stride() != 32;
        let case = format!("case {number}: {} page {}", layout.name(), at / PAGE);
        assert!(is_same || repair.outcome != Outcome::Repaired, "{case}");
        assert!(!is_proven || is_same, "{case}: {:?}", repair.before.counts());
        assert!(!is_same || repair.before.count(&common::INSERTED_BYTES) == 1, "{case}");
        counts[0] += 1;
        counts[1] += usize::from(is_same);
        counts[2] += usize::from(repair.outcome == Outcome::Repaired);
    }
    let [cases, same, exact] = counts;
    notice::say(&format!("pages of zeros: {same} of {cases} dropped, {exact} exactly"));
    assert!(same * 100 >= cases * 95, "{same} of {cases}");
}

#[test]
fn events_that_zeros_replace_are_not_read_as_inserted() {
    for number in Share::one_in(4).of(0..CASES) {
        let layout = Layout::ALL[number % Layout::ALL.len()];
        let mut random = Random(u64::try_from(number).unwrap() ^ 0x7a65_726f);
        random.below(2);
        let sound = recording(layout, &mut random).bytes;
        let at = PAGE * (1 + random.below(sound.len() / PAGE - 1));
        let mut damaged = sound.clone();
        damaged[at..at + PAGE].fill(0);
        let (repair, _) = mended_as("a.run.revent", &damaged, &Options::default());
        let is_exact = matches!(repair.outcome, Outcome::Repaired | Outcome::Clean)
            && repair.before.count(&common::INSERTED_BYTES) > 0;
        assert!(!is_exact, "case {number}: {} page {}", layout.name(), at / PAGE);
    }
}

#[test]
fn a_recording_without_its_highest_bits_is_an_error() {
    for number in Share::one_in(4).of(0..CASES) {
        let layout = Layout::ALL[number % Layout::ALL.len()];
        let mut random = Random(u64::try_from(number).unwrap() ^ 0x3762_6974);
        random.below(2);
        let sound = recording(layout, &mut random).bytes;
        let report = |bytes: &[u8]| {
            tracemend::check(&FileSet::single("a.run.revent", bytes), &Options::default())
        };
        assert_eq!(report(&sound).count(&BYTES_LOST), 0, "case {number}");
        let stripped: Vec<u8> = sound.iter().map(|byte| byte & 0x7f).collect();
        let found = report(&stripped);
        assert_eq!(found.count(&BYTES_LOST), 1, "case {number}: {:?}", found.counts());
        let (repair, target) = mended_as("a.run.revent", &stripped, &Options::default());
        assert_eq!((repair.outcome, target), (Outcome::CannotRepair, stripped), "case {number}");
    }
}
