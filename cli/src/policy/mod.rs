//! The verdicts that a user accepts: configuration files, and the severity that fails a check.

pub(crate) mod config;
pub(crate) mod fail_on;
