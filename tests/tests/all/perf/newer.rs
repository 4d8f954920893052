//! perf 7 and other versions judge what they wrote.

use tracemend_tests::judge::perf::Perf;
use tracemend_tests::judge::perf::agreement::{Agreement, recordings};
use tracemend_tests::notice::skip;
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

/// Changed recordings of each version that an ordinary run judges.
const CASES: u64 = 24;

#[test]
fn nothing_that_the_perf_that_recorded_refuses_is_without_an_error() {
    if is_left_to_the_gate("changed recordings of newer versions of perf, judged by them") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut agreement = Agreement::default();
    for perf in Perf::newer_or_skip() {
        let made = match recordings(&perf, folder.path()) {
            Ok(made) => made,
            Err(why) => {
                skip("recordings of a newer perf", &why);
                continue;
            }
        };
        for recording in &made {
            let all = tracemend_tests::judge::perf::changes::changes(&recording.1).len() as u64;
            let share = Share::one_in(all * made.len() as u64 / CASES);
            agreement.judge(&perf, recording, share, folder.path());
        }
    }
    let is_empty = agreement.silent.is_empty() && agreement.unread.is_empty();
    assert!(is_empty, "{}", agreement.describe());
}
