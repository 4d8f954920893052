//! The options of QEMU record/replay logs.

use crate::formats::qemu::layout::release;
use crate::options::{OptionSpec, OptionValue, Options};

/// All of them.
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
        "How a log that did not end, or is damaged, is closed",
    ),
    OptionSpec::new(
        "qemu-version",
        OptionValue::Text { placeholder: "X.Y", check: check_version },
        "The release of QEMU that wrote the log, if the log fits several",
    ),
];

/// A release whose layout is known.
fn check_version(text: &str) -> Result<(), &'static str> {
    let known = release(text).is_some();
    if known { Ok(()) } else { Err("a release from 2.5 to 11.1, such as 7.2") }
}

/// Whether only the part before the first damage is kept.
pub fn has_prefix(options: &Options) -> bool {
    options.choices.value("strategy") == Some("prefix")
}

/// The release of QEMU that the user named.
pub fn qemu_version(options: &Options) -> Option<&str> {
    options.choices.value("qemu-version")
}
