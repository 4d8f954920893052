//! The limits of QEMU logs, lowered until a small log reaches them.

use tracemend::format::Format;
use tracemend::formats::qemu::QEMU;
use tracemend::formats::qemu::limits::{DEFECTS, HEAT, RESYNC, SNIFFED, STEP_BACK};
use tracemend::{FileSet, FormatId, Limit, Options};
use tracemend_tests::forge::qemu::{Log, ids};
use tracemend_tests::mended::mended_as;

/// A log of 11.0, without its closing events.
fn unfinished() -> Log {
    let mut log = Log::new(ids::of("11.0"));
    log.start();
    for number in 0..20 {
        log.tick(number);
    }
    log
}

/// Options with some limits set to 0.
fn without(limits: &[&'static Limit]) -> Options {
    let mut options = Options { format: Some(FormatId::QEMU), ..Options::default() };
    limits.iter().for_each(|limit| options.limits.set(limit, 0));
    options
}

#[test]
fn a_repair_gives_the_same_bytes_without_defects_heat_and_search() {
    let mut log = unfinished();
    let kept = log.bytes.len();
    log.event("damage", &[99]);
    for number in 0..90 {
        log.tick(number);
    }
    log.close();
    let lost = |options: &Options| {
        let (repair, target) = mended_as("log", &log.bytes, options);
        let findings = repair.after.findings();
        assert!(log.is_mended_before(kept, &target), "{findings:?}");
        repair.records_lost()
    };
    let all = lost(&without(&[]));
    assert!(all > 90, "{all}");
    assert_eq!(lost(&without(&[&DEFECTS, &HEAT])), all);
    // Without a search, the events after the damage are not counted.
    let few = lost(&without(&[&RESYNC]));
    assert!(few + 90 < all, "{few} of {all}");
}

#[test]
fn stepping_back_ends_at_its_limit() {
    let mut log = unfinished();
    log.host().checkpoint("CP_CLOCK_VIRTUAL").instruction(5);
    let demanded = log.bytes.len();
    let cut = |options: &Options| {
        let (_, target) = mended_as("log", &log.bytes, options);
        target.len() - log.closing().len()
    };
    let steps = demanded - cut(&without(&[]));
    assert_eq!(steps, 6, "CP_CLOCK_VIRTUAL and INSTRUCTION");
    assert_eq!(demanded - cut(&without(&[&STEP_BACK])), 5, "INSTRUCTION only");
}

#[test]
fn a_log_without_a_version_needs_events_to_be_recognised() {
    let log = unfinished();
    let killed = log.killed(log.bytes.len());
    let files = FileSet::single("log", &killed);
    assert!(QEMU.sniff(&files, &without(&[])).is_some());
    assert!(QEMU.sniff(&files, &without(&[&SNIFFED])).is_none());
}
