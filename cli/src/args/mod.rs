//! Arguments that several commands share: the options that formats own, and limits.

pub(crate) mod format_options;
pub(crate) mod intent;
pub(crate) mod limiting;
