//! The options of QEMU record/replay logs.

use std::ops::Range;

use crate::formats::qemu::layout::{KINDS, Kind, release};
use crate::model::choice::{
    OptionSpec, OptionValue, check_number, check_range, parse_number, parse_range,
};
use crate::model::options::Options;

/// The options of a check and a repair.
pub static OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(
        "strategy",
        OptionValue::OneOf {
            placeholder: "WAY",
            words: &[
                ("prefix", "keep the part before the first damage, and add the missing end"),
                ("close", "only add the missing end, and leave a damaged log as it is"),
            ],
            default: Some("prefix"),
        },
        "How to close a log that is unfinished or damaged",
    ),
    QEMU_VERSION,
];

/// The options of a dump.
pub static DUMP: &[OptionSpec] = &[
    OptionSpec::new(
        "range",
        OptionValue::Text { placeholder: "A..B", check: check_range },
        "Only the events from number A up to B, counted from 0, without B",
    ),
    OptionSpec::new(
        "from-icount",
        OptionValue::Text { placeholder: "N", check: check_number },
        "Only the events before which the guest had executed N instructions or more",
    ),
    OptionSpec::new(
        "kind",
        OptionValue::Text { placeholder: "NAME", check: check_kind },
        "Only the events of a kind, such as INSTRUCTION, or of several, such as ASYNC or CP",
    ),
    QEMU_VERSION,
];

/// The options of a comparison.
pub static DIFF: &[OptionSpec] = &[QEMU_VERSION];

/// The release, which decides how the bytes are read.
const QEMU_VERSION: OptionSpec = OptionSpec::new(
    "qemu-version",
    OptionValue::Text { placeholder: "X.Y", check: check_version },
    "The release of QEMU that wrote the log, if the log fits several",
);

/// The events that a dump shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter<'o> {
    /// Numbers of events.
    pub numbers: Range<u64>,
    /// Instructions before the event, at least.
    pub from_icount: u64,
    /// The name of a kind or of several, if only those are shown.
    pub kinds: Option<&'o str>,
}

/// Returns the events that a dump shows.
pub fn filter(options: &Options) -> Filter<'_> {
    let value = |name| options.choices.value(name);
    Filter {
        numbers: value("range").and_then(parse_range).unwrap_or(0..u64::MAX),
        from_icount: value("from-icount").and_then(parse_number).unwrap_or(0),
        kinds: value("kind"),
    }
}

/// Returns whether a kind has the name, or a name that begins with it as a word.
pub fn is_kind(kind: Kind, name: &str) -> bool {
    has_name(kind.name(), name)
}

fn has_name(kind: &str, name: &str) -> bool {
    let Some((head, rest)) = kind.split_at_checked(name.len()) else { return false };
    head.eq_ignore_ascii_case(name) && (rest.is_empty() || rest.starts_with(['_', '+']))
}

/// Checks that a kind has the name.
fn check_kind(text: &str) -> Result<(), &'static str> {
    let is_known = !text.is_empty() && KINDS.iter().any(|row| has_name(row.name, text));
    if is_known { Ok(()) } else { Err("a kind of event, such as INSTRUCTION, ASYNC_NET or CP") }
}

/// Checks that the layout of a release is known.
fn check_version(text: &str) -> Result<(), &'static str> {
    let is_known = release(text).is_some();
    if is_known { Ok(()) } else { Err("a release from 2.5 to 11.1, such as 7.2") }
}

/// Returns whether only the part before the first damage is wanted.
pub fn has_prefix(options: &Options) -> bool {
    options.choices.value("strategy") != Some("close")
}

/// Returns the release of QEMU that the user named.
pub fn qemu_version(options: &Options) -> Option<&str> {
    options.choices.value("qemu-version")
}
