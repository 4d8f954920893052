//! The options of perf.data.

use crate::options::{OptionSpec, OptionValue};

/// All options of the format.
pub static OPTIONS: &[OptionSpec] = &[OptionSpec::new(
    "donor",
    OptionValue::File,
    "Take lost TRACING_DATA from FILE, a recording of the same kernel and tracepoints",
)];
