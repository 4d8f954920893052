//! Reports for users: what they make of findings, and how findings are written and read again.

#[cfg(feature = "json")]
pub mod baseline;
#[cfg(feature = "miette")]
pub mod diagnostic;
#[cfg(feature = "json")]
pub mod fingerprint;
#[cfg(feature = "miette")]
pub mod hexdump;
#[cfg(feature = "json")]
pub mod json;
pub mod policy;
#[cfg(feature = "json")]
pub mod reread;
