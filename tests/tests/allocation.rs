//! What a check may hold in memory. The only test of its program: other threads would be counted.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::as_conversions,
    reason = "tests"
)]

use tracemend::{FileSet, Options};
use tracemend_tests::forge::perf;
use tracemend_tests::properties::allocation::{self, Counting};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_check_holds_a_bounded_amount_of_memory() {
    let (probe, counted) = allocation::peak_during(|| vec![0_u8; 1 << 20]);
    assert!(counted >= probe.len(), "the allocator counts {counted}");
    let mut most = (0, "");
    for (name, bytes) in perf::all() {
        let step = bytes.len() / 64 + 1;
        for position in (0..bytes.len()).step_by(step) {
            let mut flipped = bytes.clone();
            flipped[position] ^= 0xff;
            for input in [&bytes[..position], &flipped, &bytes] {
                let held = allocation::bounded(input);
                held.unwrap_or_else(|broken| panic!("{name} at {position}: {broken}"));
            }
        }
        let files = FileSet::single(name, &bytes);
        let (_, peak) = allocation::peak_during(|| tracemend::check(&files, &Options::default()));
        most = most.max((peak, name));
    }
    eprintln!("at most {} bytes, for {}", most.0, most.1);
}
