//! What was found: rules, findings, the report of one recording, and its renderings.

pub mod finding;
pub mod hexdump;
pub mod json;
pub mod rule;
pub mod verdict;

pub use finding::{Excerpt, Finding, Related};
pub use rule::{Rule, Severity};
pub use verdict::{Report, Tally, Verdict};
