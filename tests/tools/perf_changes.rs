//! Changes every number that perf itself wrote in recordings of each perf that is here, and lists
//! where the check and that perf disagree:
//!
//! ```sh
//! export TRACEMEND_PERF=/path/to/newer/perf
//! cargo run --release -p tracemend-tools --bin perf_changes -- [ONE_IN]
//! ```
//!
//! With `ONE_IN`, a share of the changes is judged; `TRACEMEND_SEED` chooses it.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a tool for developers: a failure should stop it at once"
)]

use tracemend_tests::judge::perf::Perf;
use tracemend_tests::judge::perf::agreement::{Agreement, recordings};
use tracemend_tests::sweep::Share;

fn main() {
    let one_in = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let folder = tempfile::tempdir().unwrap();
    for perf in Perf::all_or_skip() {
        let mut agreement = Agreement::default();
        match recordings(&perf, folder.path()) {
            Ok(made) => made.iter().for_each(|recording| {
                agreement.judge(&perf, recording, Share::one_in(one_in), folder.path());
            }),
            Err(why) => println!("perf {}: cannot record: {why}", perf.version()),
        }
        println!("perf {}: {}", perf.version(), agreement.describe());
    }
}
