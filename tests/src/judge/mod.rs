//! The formats' own tools as judges of what the check and the repair give.
//!
//! A missing judge skips the tests that need it, and the output of `cargo test` names it: a line
//! where the first test misses it, and the list of all judges at the end (`tests/tests/judges.rs`).
//! `TRACEMEND_REQUIRE_JUDGES=perf,apitrace` makes a missing judge a failure, as in `.ci/run`.

pub mod apitrace;
pub mod chromium;
pub mod input;
pub mod kubernetes;
pub mod mdbook;
pub mod ovni;
pub mod perf;
pub mod qemu;
pub mod readers;
pub mod revent;
pub mod screenshot;
pub mod slurm;
pub mod xml;

use crate::notice;

/// A tool that tests ask.
#[derive(Debug)]
pub struct Judge {
    /// Its name, as in `TRACEMEND_REQUIRE_JUDGES`.
    pub name: &'static str,
    /// How to get it.
    pub install: &'static str,
    /// Returns its version, or the reason why it cannot be asked.
    pub probe: fn() -> Result<String, String>,
}

/// Every judge, by name.
pub static ALL: [&Judge; 15] = [
    &apitrace::JUDGE,
    &chromium::JUDGE,
    &input::EVEMU,
    &kubernetes::JUDGE,
    &input::LIBINPUT,
    &mdbook::JUDGE,
    &ovni::JUDGE,
    &perf::JUDGE,
    &perf::NEWER,
    &qemu::JUDGE,
    &input::REVENT,
    &slurm::JUDGE,
    &revent::JUDGE,
    &apitrace::SCREEN,
    &xml::JUDGE,
];

impl Judge {
    /// Returns whether `TRACEMEND_REQUIRE_JUDGES` names it.
    pub fn is_required(&self) -> bool {
        let named = std::env::var("TRACEMEND_REQUIRE_JUDGES").unwrap_or_default();
        named.split(',').any(|name| name.trim() == self.name)
    }

    /// Describes a missing judge: its name, the reason and the cure.
    pub fn describe_missing(&self, reason: &str) -> String {
        format!("judge {} ({reason}; {})", self.name, self.install)
    }

    /// Writes that the judge is missing, once per process.
    ///
    /// # Panics
    ///
    /// If the judge is required.
    pub fn skip(&self, reason: &str) {
        let missing = self.describe_missing(reason);
        assert!(!self.is_required(), "TRACEMEND_REQUIRE_JUDGES names a missing {missing}");
        notice::say(&format!("skipped: {missing}"));
    }

    /// Returns what was found, or `None` after [`Judge::skip`].
    pub fn or_skip<T>(&self, found: Result<T, String>) -> Option<T> {
        found.inspect_err(|reason| self.skip(reason)).ok()
    }
}
