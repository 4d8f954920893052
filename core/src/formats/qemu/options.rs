//! The options of QEMU record/replay logs.

use crate::formats::qemu::layout::release;
use crate::options::{OptionSpec, OptionValue, Options};

/// All options of the format.
pub static OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(
        "strategy",
        OptionValue::OneOf {
            placeholder: "WAY",
            words: &[
                ("close", "add the missing end"),
                ("prefix", "keep the part before the first damage"),
            ],
            default: Some("close"),
        },
        "How to close a log that is unfinished or damaged",
    ),
    OptionSpec::new(
        "qemu-version",
        OptionValue::Text { placeholder: "X.Y", check: check_version },
        "The release of QEMU that wrote the log, if the log fits several",
    ),
];

/// Checks that the layout of a release is known.
fn check_version(text: &str) -> Result<(), &'static str> {
    let is_known = release(text).is_some();
    if is_known { Ok(()) } else { Err("a release from 2.5 to 11.1, such as 7.2") }
}

/// Returns whether only the part before the first damage is wanted.
pub fn has_prefix(options: &Options) -> bool {
    options.choices.value("strategy") == Some("prefix")
}

/// Returns the release of QEMU that the user named.
pub fn qemu_version(options: &Options) -> Option<&str> {
    options.choices.value("qemu-version")
}
