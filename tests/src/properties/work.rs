//! Bounds on the work of a check and of a repair, in steps (`core/src/kit/steps.rs`): a loop that
//! takes ever longer breaks them long before a clock would show it.
//!
//! Measured with the recordings of the forge and of `corpus/`, cut and flipped at every byte, and
//! with the inputs that campaigns kept:
//!
//! | | most steps |
//! |---|---|
//! | check of up to 2 KiB | 4,470,000: hypotheses about damaged attrs of perf |
//! | repair of 4 to 32 KiB | 128,000,000: some hundred such checks |
//! | longer recordings | fewer than 64 per byte and expanded byte in a check |
//! | dump of a damaged apitrace trace | 19,240,000 for 36 KB: four searches for the next event |

use tracemend::kit::steps;
use tracemend::{FileSet, Repair, Report};

use super::{Held, ensure};

/// Steps that every check may take, and those per byte: up to four readings of an apitrace trace,
/// with the longest search in each, and other work.
const CHECK: (u64, u64) = (32_000_000, 4 * 64 + 64);
/// The same for a repair: each of up to 256 trials is a check.
const REPAIR: (u64, u64) = (512_000_000, 256 * CHECK.1);

/// Returns the steps that `work` takes.
pub fn steps_during<T>(work: impl FnOnce() -> T) -> (T, u64) {
    steps::take();
    let result = work();
    (result, steps::take())
}

/// Tests that `steps` are within the bounds of a check.
pub fn check_is_bounded(files: &FileSet<'_>, report: &Report, steps: u64) -> Held {
    is_bounded("a check takes a bounded number of steps", CHECK, reach(files, report), steps)
}

/// Tests that `steps` are within the bounds of a repair.
pub fn repair_is_bounded(files: &FileSet<'_>, repair: &Repair, steps: u64) -> Held {
    let bytes = reach(files, &repair.before).max(reach(files, &repair.after));
    is_bounded("a repair takes a bounded number of steps", REPAIR, bytes, steps)
}

/// The bytes that a check reads: stored and expanded ones.
fn reach(files: &FileSet<'_>, report: &Report) -> u64 {
    files.len() + report.tally.expanded
}

fn is_bounded(law: &'static str, (always, per_byte): (u64, u64), bytes: u64, steps: u64) -> Held {
    let allowed = always + per_byte * bytes;
    ensure(steps <= allowed, law, || format!("{steps} steps for {bytes} bytes, {allowed} allowed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemend::Options;

    #[test]
    fn a_check_that_is_made_again_and_again_breaks_its_bound() {
        let bytes = crate::forge::perf::Recording::new(crate::forge::perf::Order::Little, vec![]);
        let bytes = bytes.build().bytes;
        let files = FileSet::single("recording", &bytes);
        let (report, steps) = steps_during(|| tracemend::check(&files, &Options::default()));
        assert!(steps > 0);
        check_is_bounded(&files, &report, steps).unwrap();
        let again = CHECK.0 + CHECK.1 * files.len();
        let (_, steps) = steps_during(|| {
            (0..again / steps + 1).for_each(|_| _ = tracemend::check(&files, &Options::default()));
        });
        check_is_bounded(&files, &report, steps).unwrap_err();
        let repair = tracemend::repair(&files, &Options::default());
        repair_is_bounded(&files, &repair, steps).unwrap();
        repair_is_bounded(&files, &repair, steps * 64).unwrap_err();
    }
}
