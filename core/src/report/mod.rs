//! Rules, findings, the report of one recording, and its renderings.

#[cfg(feature = "json")]
pub mod baseline;
pub mod concern;
#[cfg(feature = "miette")]
pub mod diagnostic;
pub mod finding;
#[cfg(feature = "json")]
pub mod fingerprint;
#[cfg(feature = "miette")]
pub mod hexdump;
#[cfg(feature = "json")]
pub mod json;
pub mod policy;
#[cfg(feature = "json")]
pub mod reread;
pub mod rule;
pub mod verdict;

pub use concern::Concern;
pub use finding::{Excerpt, Finding, Related};
pub use policy::{Level, Policy, Selector, UnknownSelector};
pub use rule::{Remedy, Rule, Severity};
pub use verdict::{Report, Suppression, Tally, Verdict};
