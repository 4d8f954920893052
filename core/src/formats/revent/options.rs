//! The options of revent recordings.

use crate::options::{OptionSpec, OptionValue, Options};

/// The options that the format owns.
pub static OPTIONS: &[OptionSpec] = &[
    OptionSpec::new("upgrade", OptionValue::Flag, "Also convert the recording to version 3"),
    OptionSpec::new(
        "release",
        OptionValue::OneOf {
            placeholder: "WHEN",
            words: &[
                ("auto", "only if the end of the recording was lost"),
                ("always", "in every recording"),
                ("never", "in no recording"),
            ],
            default: Some("auto"),
        },
        "Release keys and contacts that are still pressed at the end",
    ),
];

/// The recordings in which a repair releases keys and contacts that are still pressed at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseMode {
    /// Those of which the end was lost.
    Auto,
    /// All.
    Always,
    /// None.
    Never,
}

/// Returns the recordings in which keys and contacts are released.
pub fn release_mode(options: &Options) -> ReleaseMode {
    match options.choices.value("release") {
        Some("always") => ReleaseMode::Always,
        Some("never") => ReleaseMode::Never,
        _ => ReleaseMode::Auto,
    }
}

/// Returns whether the recording is also converted to version 3.
pub fn has_upgrade(options: &Options) -> bool {
    options.choices.is_set("upgrade")
}
