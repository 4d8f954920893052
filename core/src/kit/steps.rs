//! Counts the steps of the work on a recording, and ends it at the limit `steps`.
//!
//! A step is a field that a cursor reads, a request to a source, a byte that a source copies, a
//! place that a search tries, or a byte of a fast path that does without a cursor (the grammar of
//! apitrace, the skim of QEMU logs). The number depends on the bytes and the options alone, so that
//! a limit ends the same work on every machine. A test counts the steps of recordings of two
//! lengths: work that grows with the square of the length shows without a clock
//! (`tests/tests/all/steps.rs`).
//!
//! ```text
//!  within(most)     the scope: one call of the library, or the calls of a command
//!    count          fields, requests, places
//!    is_spent       sources are empty from here on, and searches end, so that all loops end soon;
//!                   the scope throws their result away
//! ```
//!
//! The count belongs to a thread. A thread that works for another one begins with [`with_rest`],
//! returns its own steps with [`take`], and the other one adds them with [`count`]. A loop that
//! reads none of the above, such as one over items in memory, calls [`count`] itself.

use std::cell::Cell;
use std::fmt;

use crate::kit::words::plural;

thread_local! {
    static COUNTED: Cell<u64> = const { Cell::new(0) };
    /// The count at which the limit is reached.
    static MOST: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Adds steps of this thread.
#[inline]
pub fn count(steps: u64) {
    COUNTED.set(COUNTED.get().saturating_add(steps));
}

/// Returns the steps of this thread since the last call.
pub fn take() -> u64 {
    COUNTED.take()
}

/// Returns whether the limit is exceeded: no result of the work counts any more.
#[inline]
pub fn is_spent() -> bool {
    COUNTED.get() > MOST.get()
}

/// The limit `steps` was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepsSpent {
    /// The limit.
    pub most: u64,
}

impl fmt::Display for StepsSpent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = plural(self.most, "step");
        write!(f, "the work takes more than {most} (raise the limit by --limit steps=N)")
    }
}

impl std::error::Error for StepsSpent {}

/// Runs `work`, which may take `most` steps; inside of another scope, those that are left of it.
///
/// # Errors
///
/// If the work takes more: its result is worthless and thrown away.
pub fn within<T>(most: u64, work: impl FnOnce() -> T) -> Result<T, StepsSpent> {
    let scope = Scope { outer: MOST.get() };
    if scope.outer == u64::MAX {
        MOST.set(COUNTED.get().saturating_add(most));
    }
    let result = work();
    if is_spent() { Err(StepsSpent { most }) } else { Ok(result) }
}

/// Ends with its scope, also if the work panics: the next recording of the thread has its own.
struct Scope {
    outer: u64,
}

impl Drop for Scope {
    fn drop(&mut self) {
        MOST.set(self.outer);
    }
}

/// Returns the steps that are left to this thread.
pub fn rest() -> u64 {
    MOST.get().saturating_sub(COUNTED.get())
}

/// Lets this thread, which works for another one, take the rest of its steps.
pub fn with_rest(rest: u64) {
    COUNTED.set(0);
    MOST.set(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_ends_with_its_steps_and_an_inner_one_shares_them() {
        let spent = Err(StepsSpent { most: 5 });
        assert_eq!(within(5, || count(5)), Ok(()));
        assert_eq!(within(5, || count(6)), spent);
        assert!(!is_spent());
        let both = || {
            count(3);
            within(5, || count(3)).is_err() && is_spent()
        };
        assert_eq!(within(5, || assert!(both())), spent);
        assert_eq!(within(u64::MAX, || count(u64::MAX)), Ok(()));
        std::panic::catch_unwind(|| within(5, || panic!("a fault"))).unwrap_err();
        assert_eq!(rest(), u64::MAX - COUNTED.get());
    }

    #[test]
    fn a_thread_that_helps_has_the_rest_of_the_steps() {
        let helped = |steps: u64| {
            within(5, || {
                count(2);
                let rest = rest();
                let help = move || {
                    with_rest(rest);
                    count(steps);
                    (is_spent(), take())
                };
                let (is_spent, steps) = std::thread::spawn(help).join().unwrap();
                count(steps);
                is_spent
            })
        };
        assert_eq!((helped(3), helped(4)), (Ok(false), Err(StepsSpent { most: 5 })));
    }
}
