//! A share of the campaign over damaged traces (`tests/tools/apitrace_campaign.rs`): what
//! survives, and never less than apitrace itself reads.

use tracemend::Options;
use tracemend_tests::forge::apitrace::call_heavy;
use tracemend_tests::judge::apitrace::Apitrace;
use tracemend_tests::judge::apitrace::survival::{
    CHUNK_KINDS, CONTAINERS, Damaged, KINDS, Numbers, Original, damage,
};
use tracemend_tests::sweep::Share;

/// Cases per container in an exhaustive run.
const CASES: usize = 40;

#[test]
fn no_repair_keeps_fewer_calls_than_apitrace_reads_by_itself() {
    let Some(judge) = Apitrace::find_or_skip() else { return };
    let folder = tempfile::tempdir().unwrap();
    let stream = call_heavy(12_000).bytes;
    let original = Original::of(&judge, "calls".to_string(), stream, folder.path());
    let mut wrong = Vec::new();
    for container in CONTAINERS {
        let kinds = match container {
            "snappy" => [&KINDS[..], &CHUNK_KINDS].concat(),
            _ => KINDS.to_vec(),
        };
        let (mut right, mut all) = (0, 0);
        for case in Share::one_in(12).of(0..CASES) {
            let mut numbers = Numbers::of(case as u64);
            let mut bytes = Damaged::of(&original, container);
            let kind = kinds[numbers.below(kinds.len())];
            let done = damage(kind, &mut bytes, &mut numbers);
            let survival = original.judge(&judge, &bytes, &Options::default(), folder.path());
            (right, all) = (right + survival.right, all + survival.calls);
            // Next to the damage apitrace may be right by chance, where a repair has doubts.
            let least = survival.by_apitrace.saturating_sub(survival.calls / 100);
            if survival.is_refused || survival.right < least {
                wrong.push(format!("{container} {case}, {done}: {survival:?}"));
            }
        }
        eprintln!("{container}: {:.1} % of the calls survive", 100.0 * right as f64 / all as f64);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
