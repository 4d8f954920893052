//! The shared parts of the tests of tracemend: the [`forge`] that builds recordings byte by byte
//! and the [`judge`]s, the formats' own tools.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::print_stderr,
    reason = "test support: a failure here should stop the test at once"
)]

#[cfg(feature = "command-line")]
pub mod book;
#[cfg(feature = "command-line")]
pub mod broken;
#[cfg(feature = "command-line")]
pub mod code_tables;
pub mod dictionary;
pub mod forge;
pub mod judge;
pub mod known_originals;
pub mod ledger;
pub mod mended;
pub mod notice;
pub mod properties;
pub mod specimens;
pub mod sweep;
pub mod toy;
pub mod transport;
