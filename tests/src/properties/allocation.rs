//! What a check may hold in memory: a constant and a small multiple of the recording.
//!
//! The numbers are counted by the global allocator, which has to be [`Counting`] in the program
//! that asks: a test binary or a fuzz target of its own. A test binary must hold this one test, as
//! other threads are counted as well.
//!
//! Measured over forge, corpus and a fuzzer's inputs (x86-64): TODO.

use tracemend::{FileSet, Options};

use super::{Held, ensure};

/// The allocator: `#[global_allocator] static ALLOCATOR: Counting = Counting;`.
pub use peak_alloc::PeakAlloc as Counting;

/// Bytes that a check may hold at once whatever the recording: the window of a compressed stream
/// is what takes the most.
pub const CONSTANT: usize = 24 << 20;
/// Bytes for each byte of the recording, on top of [`CONSTANT`].
pub const MULTIPLE: usize = 2;

/// The most bytes that were held at once during `work`, beyond those held before.
pub fn peak_during<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = Counting.current_usage();
    Counting.reset_peak_usage();
    let result = work();
    (result, Counting.peak_usage().saturating_sub(before))
}

/// A check holds no more than [`CONSTANT`] and [`MULTIPLE`] times the recording.
pub fn bounded(bytes: &[u8]) -> Held {
    let files = FileSet::single("recording", bytes);
    let (_, peak) = peak_during(|| tracemend::check(&files, &Options::default()));
    let allowed = CONSTANT + MULTIPLE * bytes.len();
    ensure(peak <= allowed, "a check holds a bounded amount of memory", || {
        format!("{peak} bytes at once for a recording of {}, {allowed} are allowed", bytes.len())
    })
}
