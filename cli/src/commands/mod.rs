//! One file or folder for each subcommand. `batch` is shared by those that write many outputs.

pub(crate) mod apply;
pub(crate) mod batch;
pub(crate) mod check;
pub(crate) mod codes;
pub(crate) mod completions;
pub(crate) mod cut;
pub(crate) mod diff;
pub(crate) mod dump;
pub(crate) mod explain;
pub(crate) mod formats;
pub(crate) mod man;
pub(crate) mod map;
pub(crate) mod redact;
pub(crate) mod repair;
pub(crate) mod self_test;
pub(crate) mod verify;
