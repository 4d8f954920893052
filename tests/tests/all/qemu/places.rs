//! How far before one damage a log is closed.

use tracemend::Outcome;
use tracemend_tests::judge::qemu::damaged::repair_any;
use tracemend_tests::known_originals::damage::Kind;
use tracemend_tests::sweep::is_left_to_the_gate;

/// Damages of the clean logs of the corpus, with the seeds from 1 on.
const CASES: u64 = 240;
/// Bytes before the damage that may be lost with it: a step back, and events that may be damaged.
const NEAR: i64 = 256;

#[test]
fn a_log_is_closed_shortly_before_its_damage_and_never_after_it() {
    if is_left_to_the_gate("a log is closed shortly before its damage and never after it") {
        return;
    }
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus/qemu/clean/");
    let logs = [("guestoff_7.2", "7.2"), ("input_5.2", "5.2"), ("input_11.1", "11.1")];
    let logs = logs
        .map(|(name, release)| (std::fs::read(format!("{corpus}{name}.log")).unwrap(), release));
    let (mut closed, mut far) = (0_u64, Vec::new());
    for seed in 1..=CASES {
        let (log, release) = &logs[(seed % 3) as usize];
        let case = repair_any(log, release, seed);
        // Where a block from elsewhere begins does not always show.
        let is_moved = matches!(case.damaged.steps[0].kind, Kind::Swap | Kind::Double);
        if case.outcome != Outcome::RepairedWithLoss || is_moved {
            continue;
        }
        let (distance, damage) = (case.distance(), case.damaged.describe());
        assert!(distance >= 0, "seed {seed}: closed {distance} bytes past it: {damage}");
        closed += 1;
        if distance > NEAR {
            far.push(format!("seed {seed}: {distance} bytes before it: {damage}"));
        }
    }
    assert!(closed > CASES / 2, "{closed} of {CASES} were closed");
    assert!(far.len() as u64 * 20 <= closed, "of {closed}: {far:#?}");
}
