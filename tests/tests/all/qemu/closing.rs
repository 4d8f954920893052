//! What follows the last event: an output ends with END, and nothing follows it.

use tracemend::{FileSet, Options, Outcome, Severity, check};
use tracemend_tests::forge::qemu::clean::keys;
use tracemend_tests::forge::qemu::{ids, long};
use tracemend_tests::known_originals::Dice;
use tracemend_tests::mended::mended_as;

#[test]
fn bytes_after_end_are_cut_and_the_log_is_the_original() {
    let mut dice = Dice::seeded(7);
    for ids in ids::all() {
        let log = keys(ids);
        for len in [1, 5, 60, 300] {
            let damaged = [&log.bytes[..], &dice.noise(len)].concat();
            let (repair, target) = mended_as("replay.bin", &damaged, &Options::default());
            let case = format!("{} and {len} bytes", ids.release);
            assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{case}");
            assert!(target == log.bytes, "{case}");
        }
    }
}

#[test]
fn an_event_that_reads_as_end_is_the_end_of_the_output() {
    for ids in ids::all() {
        let log = keys(ids);
        for mark in log.marks.iter().skip(3).step_by(3) {
            let mut damaged = log.bytes.clone();
            damaged[mark.start] = ids.end;
            let (repair, target) = mended_as("replay.bin", &damaged, &Options::default());
            if !matches!(repair.outcome, Outcome::Repaired | Outcome::RepairedWithLoss) {
                continue;
            }
            let case = format!("{} at {:#x}", ids.release, mark.start);
            let report = check(&FileSet::single("replay.bin", &target), &Options::default());
            assert_eq!(report.count_of(Severity::Error), 0, "{case}: {:?}", report.counts());
            assert_eq!(target.last(), Some(&ids.end), "{case}");
        }
    }
}

#[test]
fn a_log_without_end_is_closed_before_a_clock_that_went_back() {
    let log = long(ids::of("11.1"), 6_000);
    let is_clock = |mark: &&tracemend_tests::forge::qemu::Mark| {
        mark.start > 3_000 && mark.name == "CLOCK_VIRTUAL_RT"
    };
    let at = log.marks.iter().find(is_clock).unwrap().start;
    let mut damaged = log.bytes[..5_000].to_vec();
    damaged[at + 1..at + 9].fill(0);
    let (repair, target) = mended_as("replay.bin", &damaged, &Options::default());
    assert_eq!(repair.outcome, Outcome::RepairedWithLoss);
    let kept = target.len() - 2;
    assert!(target[..kept] == log.bytes[..kept] && kept <= at && kept + 32 > at, "{kept} of {at}");
}
