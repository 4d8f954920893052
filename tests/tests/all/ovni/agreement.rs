//! A share of the campaign over damaged traces: `tests/tools/ovni_campaign.rs` runs any number.

use tracemend::Options;
use tracemend_tests::forge::ovni::damage::Damage;
use tracemend_tests::forge::ovni::values;
use tracemend_tests::judge::ovni::Ovniemu;
use tracemend_tests::properties::ovni::{Case, Results, judge_case};
use tracemend_tests::sweep::Share;

/// Cases of an exhaustive run.
const CASES: usize = 1_600;

#[test]
fn damaged_traces_are_repaired_and_the_emulator_agrees() {
    let emulator = Ovniemu::find_or_skip();
    let mut results = Results::default();
    for number in Share::one_in(16).of(0..CASES) {
        let kind = (number % 2 == 0).then(|| Damage::ALL[number / 2 % Damage::ALL.len()]);
        let seed = u64::try_from(number).unwrap();
        results.merge(&judge_case(&Case::new(seed, kind), emulator.as_ref()));
    }
    assert!(results.broken.is_empty(), "{:?}", results.broken);
    let (repaired, refused) = (results.of("repaired"), results.of("refused"));
    assert!(repaired * 100 >= refused * 85, "{repaired} of {refused}: {:?}", results.given_up);
}

/// The only value that the emulator accepts and the check refuses: the emulator writes a file under
/// the path that it is.
const STRICTER: (&str, &str) = ("/nosv/hwc/0/name", "\"a/b\"");

#[test]
fn the_emulator_and_the_check_agree_about_unusual_metadata() {
    let Some(emulator) = Ovniemu::find_or_skip() else { return };
    let all = values::all();
    let mut refused = 0;
    for number in Share::one_in(16).of(0..all.len()) {
        let unusual = &all[number];
        let (key, value) = (unusual.key, unusual.value.as_str());
        if (key, value) == STRICTER {
            continue;
        }
        let verdict = emulator.lint(&unusual.trace);
        let report = tracemend::check(&unusual.trace.set(), &Options::default());
        let counts = report.counts();
        assert_eq!(verdict.accepted, !report.has_errors(), "{key} {value}: {verdict:?} {counts:?}");
        refused += usize::from(!verdict.accepted);
    }
    assert!(refused > 0, "no value is refused");
}
