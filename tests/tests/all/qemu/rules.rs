//! The rules of QEMU logs in combination. Each single one has a specimen (`specimens/qemu.rs`).

use std::collections::BTreeMap;

use tracemend::formats::qemu::rules;
use tracemend::{FileSet, FormatId, Options, Outcome, check};
use tracemend_tests::forge::qemu::Log;
use tracemend_tests::known_originals::Dice;
use tracemend_tests::mended::mended_as;
use tracemend_tests::specimens::qemu::{header, log};
use tracemend_tests::sweep::is_left_to_the_gate;

/// Options with at most one choice.
fn options(choice: Option<(&str, &str)>) -> Options {
    let options = Options { format: Some(FormatId::QEMU), ..Options::default() };
    choice
        .into_iter()
        .fold(options, |options, (name, value)| options.with_choice(name, value).unwrap())
}

#[test]
fn a_log_from_between_two_releases_is_never_given_another_version() {
    for word in [0x03, 0x05, 0x0b] {
        let bytes = header(|bytes| bytes[3] = word);
        let (repair, target) = mended_as("log", &bytes, &options(Some(("qemu-version", "11.0"))));
        assert_eq!(repair.outcome, Outcome::CannotRepair);
        assert_eq!(target, bytes);
    }
}

#[test]
fn a_choice_that_the_log_contradicts_changes_nothing() {
    let log = log("11.0");
    let killed = log.killed(log.bytes.len());
    assert!(Options::default().with_choice("qemu-version", "no release").is_err());
    for release in ["2.5", "5.2", "7.1"] {
        let options = options(Some(("qemu-version", release)));
        let (repair, target) = mended_as("log", &killed, &options);
        assert_eq!(repair.outcome, Outcome::CannotRepair, "{release}");
        assert_eq!(repair.before.count(&rules::CHOICE_CONTRADICTED), 1, "{release}");
        assert_eq!(target, killed, "{release}");
    }
}

#[test]
fn what_a_prefix_loses_is_counted() {
    let mut log = log("11.0");
    let kept = log.bytes.len();
    log.instruction(0).host();
    for number in 0..20 {
        log.tick(number);
    }
    log.close();
    let (repair, target) = mended_as("log", &log.bytes, &options(None));
    assert!(log.is_mended_before(kept, &target));
    let left = log.marks.iter().filter(|mark| mark.end + 2 <= target.len()).count();
    // Neither the END nor the INSTRUCTION of zeros.
    let dropped = log.marks.len() - 2 - left;
    assert_eq!(repair.records_lost(), u64::try_from(dropped).unwrap());
    let fix = repair.applied[0].fix().unwrap();
    assert!(fix.summary.contains(&format!("with {dropped} events")), "{}", fix.summary);
    assert!(fix.summary.contains("structurally closed"), "{}", fix.summary);
}

#[test]
fn equal_events_in_a_row_are_counted_as_if_each_were_read() {
    if is_left_to_the_gate("equal events in a row are counted as if each were read") {
        return;
    }
    // Long enough that most of them are skipped at once, and ends of runs at other events.
    const MANY: usize = 100_003;
    type Push = fn(&mut Log);
    // QEMU writes no INSTRUCTION of zeros, so they are not events.
    let rows: [(Push, &str, u64); 5] = [
        (|log| _ = log.interrupt(), "QR3006", 1),
        (|log| _ = log.exception(), "QR3006", 1),
        (|log| _ = log.checkpoint("CP_INIT"), "QR3009", 1),
        (|log| _ = log.instruction(0), "QR2009", 0),
        (|log| _ = log.instruction(0), "QR3003", 0),
    ];
    for (push, code, event) in rows {
        let mut log = log("11.0");
        push(&mut log);
        let count = |log: &Log| {
            let mut whole = log.clone();
            for number in 0..20 {
                whole.tick(number);
            }
            whole.close();
            let report = check(&FileSet::single("log", &whole.bytes), &options(None));
            (report.tally.records, report.counts().get(code).copied().unwrap_or(0))
        };
        let (events, defects) = count(&log);
        (0..MANY).for_each(|_| push(&mut log));
        let many = u64::try_from(MANY).unwrap();
        assert_eq!(count(&log), (events + many * event, defects + many), "{code}");
    }
}

#[test]
fn events_out_of_order_are_counted_as_if_each_were_read() {
    type Push = fn(&mut Log);
    let kinds: [(&str, Push); 5] = [
        ("instruction", |log| _ = log.instruction(7)),
        ("interrupt", |log| _ = log.interrupt()),
        ("exception", |log| _ = log.exception()),
        ("reset", |log| _ = log.checkpoint("CP_RESET")),
        ("clock", |log| _ = log.checkpoint("CP_CLOCK_VIRTUAL_RT")),
    ];
    for seed in 0..8 {
        let mut dice = Dice::seeded(seed);
        // Long enough that most of them are only counted.
        let mut log = log("11.0");
        let mut expected = BTreeMap::from([("QR3003", 0), ("QR3004", 0), ("QR3006", 0)]);
        // The first events of a log end with a checkpoint.
        let mut last = "reset";
        for _ in 0..10_000 {
            let (name, push) = kinds[dice.below(kinds.len())];
            push(&mut log);
            let code = match (last, name) {
                ("clock", _) => "QR3004",
                ("instruction", "instruction") => "QR3003",
                ("interrupt" | "exception", "interrupt" | "exception") => "QR3006",
                ("reset", "exception") => "QR3006",
                _ => "",
            };
            expected.entry(code).and_modify(|count| *count += 1_u64);
            last = name;
        }
        log.close();
        let report = check(&FileSet::single("log", &log.bytes), &options(None));
        for (code, count) in expected {
            assert_eq!(report.counts().get(code).copied(), Some(count), "{code}, seed {seed}");
        }
    }
}
