//! The options of revent recordings.

use std::ops::Range;

use crate::model::choice::{
    OptionSpec, OptionValue, check_number, check_range, check_times, parse_number, parse_range,
    parse_times,
};
use crate::model::options::Options;

/// The options of a check and a repair.
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
    OptionSpec::new(
        "target",
        OptionValue::Text { placeholder: "MODEL|FILE", check: check_target },
        "Compare with the device of a replay: its model, or a file with its input devices, as \
         `getevent -lp` or /proc/bus/input/devices list them",
    )
    .or_file(),
];

/// Checks that a text can be a model: it is the beginning of a file name.
fn check_target(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        Err("the model of a device, or a list of its input devices")
    } else {
        Ok(())
    }
}

/// Returns the model, or the path of the list, of the device of a replay.
pub fn target(options: &Options) -> Option<&str> {
    options.choices.value("target")
}

/// The options of a dump.
pub static DUMP: &[OptionSpec] = &[
    OptionSpec::new(
        "device",
        OptionValue::Text { placeholder: "N", check: check_number },
        "Only the events of device N, counted from 0",
    ),
    OptionSpec::new(
        "range",
        OptionValue::Text { placeholder: "A..B", check: check_range },
        "Only the events from number A up to B, counted from 0, without B",
    ),
    OptionSpec::new(
        "time",
        OptionValue::Text { placeholder: "A..B", check: check_times },
        "Only the events from second A up to B, as the dump shows them, without B",
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

/// The events that a dump shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Number of the only device, if there is one.
    pub device: Option<u64>,
    /// Numbers of events.
    pub numbers: Range<u64>,
    /// Times in nanoseconds.
    pub times: Range<u64>,
}

/// Returns the events that a dump shows.
pub fn filter(options: &Options) -> Filter {
    let all = 0..u64::MAX;
    let value = |name| options.choices.value(name);
    Filter {
        device: value("device").and_then(parse_number),
        numbers: value("range").and_then(parse_range).unwrap_or(all.clone()),
        times: value("time").and_then(parse_times).unwrap_or(all),
    }
}
