//! Counts the steps of a run in builds with debug assertions; a release build counts nothing.
//!
//! A step is a field that a cursor reads, a request to a source, a byte that a source copies, a
//! place that a search tries, or a byte of a fast path that does without a cursor (the grammar of
//! apitrace, the skim of QEMU logs). A test counts the steps of recordings of two lengths: work
//! that grows with the square of the length shows without a clock (`tests/tests/all/steps.rs`).
//!
//! The count belongs to a thread. A thread that works for another one returns its own with
//! [`take`], and the other one adds it with [`count`]. A loop that reads none of the above, such as
//! one over items in memory, calls [`count`] itself.

use std::cell::Cell;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Whether this build counts.
pub const IS_COUNTED: bool = cfg!(debug_assertions);

/// Adds steps of this thread.
#[inline]
pub fn count(steps: u64) {
    if IS_COUNTED {
        STEPS.set(STEPS.get().saturating_add(steps));
    }
}

/// Returns the steps of this thread since the last call; 0 in a build that does not count.
pub fn take() -> u64 {
    if IS_COUNTED { STEPS.take() } else { 0 }
}
