//! The options of apitrace traces.

use crate::options::{OptionSpec, OptionValue, Options};

/// All of them.
pub static OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(
        "close-calls",
        OptionValue::Flag,
        "Add an empty leave to each call that has none",
    ),
    OptionSpec::new(
        "part",
        OptionValue::OneOf {
            placeholder: "N",
            words: &[("1", "the first trace"), ("2", "the second trace")],
            default: None,
        },
        "Keep trace 1 or 2 of a file that contains two",
    ),
    OptionSpec::new(
        "donor",
        OptionValue::File,
        "Take lost definitions from FILE, a trace by the same build of the tracer",
    ),
];

/// Whether calls without a leave get one.
pub fn has_close_calls(options: &Options) -> bool {
    options.choices.is_set("close-calls")
}

/// Which trace of a file that contains two is kept.
pub fn part(options: &Options) -> Option<u32> {
    options.choices.value("part")?.parse().ok()
}
