//! The words that formats and engines share: what a recording is, and what is said about it.
//!
//! Nothing here knows a format. A [`FormatId`](description::FormatId) names one by its description;
//! `catalogue` lists them and finds the behaviour that belongs to it.

pub mod arrival;
pub mod choice;
pub mod concern;
pub mod cut;
pub mod description;
pub mod difference;
pub mod directory;
pub mod dump;
pub mod edit;
pub mod finding;
pub mod limits;
pub mod options;
pub mod patch;
pub mod recording;
pub mod report;
#[cfg(feature = "json")]
pub mod row;
pub mod rule;
pub mod tile;

pub use concern::Concern;
pub use finding::{Excerpt, Finding, Related};
pub use report::{Report, Suppression, Tally, Verdict};
pub use rule::{Remedy, Rule, Severity};
