//! The options of ovni traces.

use crate::options::{OptionSpec, OptionValue, Options};

/// All of them.
pub static OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(
        "strategy",
        OptionValue::OneOf {
            placeholder: "WAY",
            words: &[
                ("close", "add the missing end to each stream"),
                ("cut", "end all streams at the earliest last clock"),
            ],
            default: Some("close"),
        },
        "How a trace that did not end is closed",
    ),
    OptionSpec::new("upgrade", OptionValue::Flag, "Also convert the trace to the newest layout"),
];

/// How a trace that did not end is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Add the missing end to each stream.
    Close,
    /// End all streams at the earliest last clock.
    Cut,
}

/// How a trace that did not end is closed; `None` if the user left it open.
pub fn strategy(options: &Options) -> Option<Strategy> {
    match options.choices.value("strategy")? {
        "close" => Some(Strategy::Close),
        "cut" => Some(Strategy::Cut),
        _ => None,
    }
}

/// Whether the trace is also converted to the newest layout.
pub fn has_upgrade(options: &Options) -> bool {
    options.choices.is_set("upgrade")
}
