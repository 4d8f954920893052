//! Bounds on the memory of a check.
//!
//! The global allocator counts it, which has to be [`Counting`] in the program that measures: a
//! fuzz target, or a test that is alone in its program, because other threads are counted as well.
//!
//! Measured on x86-64; a list that grows counts twice while it is copied:
//!
//! | recording | peak |
//! |---|---|
//! | forge and corpus | 0.13 MiB |
//! | 1,000 findings, and more that are only counted | 0.6 MiB |
//! | 100 to 4,000,000 event ids | 3.0 to 3.3 bytes per byte of the file |
//! | 100 to 60,000 attrs | 3.5 to 5.3 bytes per byte of the file |
//! | zstd blocks of one byte, window of 128 MiB | 1.5 times their expansion; 192.5 MiB |

use tracemend::FormatId;
use tracemend::{FileSet, Options};

use super::{Held, ensure};

/// The allocator: `#[global_allocator] static ALLOCATOR: Counting = Counting;`.
pub use peak_alloc::PeakAlloc as Counting;

/// Bytes that every check may hold.
pub const CONSTANT: u64 = 4 << 20;
/// Bytes per byte of the recording, for its events and their ids.
pub const MULTIPLE: u64 = 6;
/// Bytes per byte of expanded records, until their window is full.
pub const MULTIPLE_EXPANDED: u64 = 3;
/// Bytes for a window of compressed records: the largest that the limits allow, and half of it
/// while it grows.
pub const WINDOW: u64 = 200 << 20;

/// Bytes for the window of a brotli stream (16 MiB, RFC 7932) and the tables of the decoder. Brotli
/// has no magic, so the decoder gets every file without a known magic.
pub const BROTLI: u64 = 18 << 20;

/// Bytes for every apitrace trace besides its definitions: blocks between the two threads, and the
/// decoder.
pub const TRACE: u64 = 32 << 20;

/// Returns the peak of allocated bytes during `work`, beyond those before it.
pub fn peak_during<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = Counting.current_usage();
    Counting.reset_peak_usage();
    let result = work();
    (result, Counting.peak_usage().saturating_sub(before) as u64)
}

/// Tests that a check stays within the bounds above.
pub fn bounded(bytes: &[u8]) -> Held {
    let files = FileSet::single("recording", bytes);
    let (report, peak) = peak_during(|| tracemend::check(&files, &Options::default()));
    let (len, expanded) = (bytes.len() as u64, report.tally.expanded);
    let window = WINDOW.min(MULTIPLE_EXPANDED * expanded);
    let brotli = if report.format == Some(FormatId::PERF) { 0 } else { BROTLI };
    let allowed = CONSTANT + MULTIPLE * len + window + brotli;
    ensure(peak <= allowed, "a check holds a bounded amount of memory", || {
        format!("peak is {peak} for {len} bytes that expand to {expanded}, limit {allowed}")
    })
}
