//! Lines that reach the terminal from inside a passing test.
//!
//! The harness captures what `print!` and `eprintln!` write and drops it if the test passes, so a
//! test that skips its claim would look like one that holds. A write to the handle itself is not
//! captured.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};

/// Lines that this process has written.
static WRITTEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Writes a line to standard error, past the harness; once per process.
pub fn say(line: &str) {
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    if written.insert(line.to_owned()) {
        // One write, so that lines of other threads stay apart. A closed stderr fails no test.
        _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
    }
}

/// Writes that `claim` is not tested in this run, and why.
pub fn skip(claim: &str, why: &str) {
    say(&format!("skipped: {claim} ({why})"));
}
