//! The place before which a damaged log is closed: before the damage began, not where it shows.

use std::ops::Range;

use tracemend::{FormatId, Options, Outcome};
use tracemend_tests::forge::qemu::{Log, ids, long};
use tracemend_tests::known_originals::damage::{Kind, damage_once};
use tracemend_tests::known_originals::{Dice, Files};
use tracemend_tests::mended::mended_as;
use tracemend_tests::notice;
use tracemend_tests::sweep::is_left_to_the_gate;

/// No event has this id; a log with clocks that go back has no error without it.
const UNKNOWN: u8 = 200;

/// Damages that show where they are, if they show.
const LOCAL: [Kind; 5] = [Kind::Bit, Kind::Noise, Kind::Zeros, Kind::Drop, Kind::Insert];
/// Cases of the test of all of them.
const CASES: u64 = 120;

/// A log whose guest works without a reading of a clock from 6,000 to 9,000.
fn log() -> Log {
    let mut log = long(ids::of("7.2"), 6_000);
    log.bytes.truncate(log.bytes.len() - 2);
    log.marks.truncate(log.marks.len() - 2);
    while log.bytes.len() < 9_000 {
        log.instruction(99).checkpoint("CP_CLOCK_WARP_ACCOUNT");
    }
    for number in 0..1_000 {
        log.tick(number);
    }
    log.close();
    log
}

/// Offset of the first event from `at` on with a name.
fn find(log: &Log, name: &str, at: usize) -> usize {
    log.marks.iter().find(|mark| mark.start >= at && mark.name == name).unwrap().start
}

/// The release of the log is known: its events alone fit several.
fn options() -> Options {
    let options = Options { format: Some(FormatId::QEMU), ..Options::default() };
    options.with_choice("qemu-version", "7.2").unwrap()
}

/// Closes a damaged log and returns how many bytes of the original it kept.
fn kept(log: &Log, damaged: &[u8]) -> usize {
    let (repair, target) = mended_as("log", damaged, &options());
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    let kept = target.len() - 2;
    assert_eq!(target[kept..], log.closing());
    assert_eq!(target[..kept], log.bytes[..kept], "damage was kept");
    kept
}

/// The blocks, the later one first.
fn swapped(log: &Log, one: Range<usize>, two: Range<usize>) -> Vec<u8> {
    let bytes = &log.bytes;
    let parts = [0..one.start, two.clone(), one.end..two.start, one, two.end..bytes.len()];
    parts.map(|part| bytes[part].to_vec()).concat()
}

#[test]
fn a_block_from_a_later_place_is_dropped_although_its_start_fits() {
    let log = log();
    // It begins with the event that it replaces, so that only its end is irregular.
    let (one, two) = (find(&log, "CP_CLOCK_HOST", 3_000), find(&log, "CP_CLOCK_HOST", 10_000));
    for len in [150, 300, 700] {
        let mut damaged = swapped(&log, one..one + len, two..two + len);
        damaged[find(&log, "CP_CLOCK_HOST", 11_500)] = UNKNOWN;
        let kept = kept(&log, &damaged);
        assert!(kept <= one + 1 && kept + 256 > one, "{len} bytes: {kept} of {one}");
    }
}

#[test]
fn a_block_without_a_clock_is_dropped_from_the_place_where_it_breaks_a_loop() {
    let log = log();
    let one = find(&log, "CP_CLOCK_WARP_ACCOUNT", 6_600);
    for len in 200..206 {
        let damaged = swapped(&log, one..one + len, one + 1_000..one + 1_000 + len);
        if damaged != log.bytes {
            let kept = kept(&log, &damaged);
            assert!(kept <= one && kept + 32 > one, "{len} bytes: {kept} of {one}");
        }
    }
}

#[test]
fn a_copy_of_a_block_is_dropped_and_the_block_stays() {
    let log = log();
    let (start, end) = (find(&log, "CP_CLOCK_HOST", 3_000), find(&log, "CP_CLOCK_HOST", 3_600));
    let mut damaged = [&log.bytes[..end], &log.bytes[start..]].concat();
    damaged[find(&log, "CP_CLOCK_HOST", 9_500) + end - start] = UNKNOWN;
    let kept = kept(&log, &damaged);
    assert!(kept <= end && kept + 96 > end, "{kept} of {end}");
}

#[test]
fn before_noise_all_but_the_last_events_stay() {
    let log = log();
    for at in [3_000, 7_000, 8_000, 10_000] {
        let mut damaged = log.bytes.clone();
        damaged[at..at + 512].fill(0xff);
        let kept = kept(&log, &damaged);
        assert!(kept <= at && kept + 128 > at, "{kept} of {at}");
    }
}

#[test]
fn few_events_before_damage_are_given_up_and_none_after_it_is_kept() {
    if is_left_to_the_gate("few events before damage are given up and none after it is kept") {
        return;
    }
    let log = log();
    let original: Files = vec![("log".to_string(), log.bytes.clone())];
    let [mut cases, mut near, mut past] = [0; 3];
    for seed in 0..CASES {
        let mut dice = Dice::seeded(seed);
        let kind = LOCAL[dice.below(LOCAL.len())];
        let at = 1_000 + dice.below(log.bytes.len() - 2_000);
        let place = (at, 1 + dice.below(200));
        let Some(damaged) = damage_once(&original, kind, 0, place, &mut dice) else { continue };
        let bytes = &damaged.files[0].1;
        let (repair, target) = mended_as("log", bytes, &options());
        // A value that another one replaced may be right, so not all damage is found.
        if repair.outcome != Outcome::RepairedWithLoss {
            continue;
        }
        let (first, kept) = (damaged.first_damage(0), target.len() - 2);
        cases += 1;
        near += usize::from(kept + 32 > first);
        past += usize::from(target[..kept] != log.bytes[..kept]);
    }
    notice::say(&format!("damage: {near} of {cases} closed near it, {past} after it"));
    assert!(cases >= 50, "{cases} cases");
    assert!(near * 100 >= cases * 95, "{near} of {cases}");
    assert!(past * 100 <= cases * 5, "{past} of {cases}");
}

#[test]
fn a_log_without_one_turn_is_closed_before_the_turn_and_not_where_it_shows() {
    let mut log = Log::new(ids::of("7.2"));
    log.start();
    for number in 0..1_500 {
        log.tick(number);
    }
    log.close();
    for name in ["CP_CLOCK_HOST", "CP_CLOCK_VIRTUAL_RT"] {
        for from in [2_000, 5_000, 9_000] {
            let at = find(&log, name, from);
            let mut damaged = log.bytes.clone();
            damaged.remove(at);
            let kept = kept(&log, &damaged);
            assert!(kept <= at && kept + 256 > at, "{name}: {kept} of {at}");
        }
    }
}
