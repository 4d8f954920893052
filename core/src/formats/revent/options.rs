//! The options of revent recordings.

use crate::options::{OptionSpec, OptionValue, Options};

/// All of them.
pub static OPTIONS: &[OptionSpec] = &[
    OptionSpec::new("upgrade", OptionValue::Flag, "Also convert the recording to version 3"),
    OptionSpec::new(
        "release",
        OptionValue::OneOf {
            placeholder: "WHEN",
            words: &[
                ("auto", "only after a killed recorder"),
                ("always", "whenever something is held"),
                ("never", "not at all"),
            ],
            default: Some("auto"),
        },
        "When to release keys and contacts that are held at the end",
    ),
];

/// When keys and contacts that are held at the end are released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Only after a killed recorder.
    Auto,
    /// Whenever something is held.
    Always,
    /// Not at all.
    Never,
}

/// When keys and contacts that are held at the end are released.
pub fn release(options: &Options) -> Release {
    match options.choices.value("release") {
        Some("always") => Release::Always,
        Some("never") => Release::Never,
        _ => Release::Auto,
    }
}

/// Whether the recording is also converted to version 3.
pub fn has_upgrade(options: &Options) -> bool {
    options.choices.is_set("upgrade")
}
