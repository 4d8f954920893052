//! The options of perf.data.

use std::ops::Range;
use std::sync::LazyLock;

use crate::formats::perf::layout::versions::{self, NEWEST, OFFERED, OLDEST, Version};
use crate::formats::perf::layout::{ATTR_SIZES, is_published, record};
use crate::model::choice::{
    Choices, OptionSpec, OptionValue, check_number, check_range, check_times, parse_number,
    parse_range, parse_times,
};
use crate::model::options::Options;

/// The recording that a command is about.
const PART: OptionSpec = OptionSpec::new(
    "part",
    OptionValue::Text { placeholder: "N", check: check_number },
    "Take recording N, counted from 1, of a file in which several follow one another",
);

/// The options of commands that show a recording as it is.
pub static VIEW: &[OptionSpec] = &[PART];

/// All options of the format.
pub static OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(
        "donor",
        OptionValue::File,
        "Take lost TRACING_DATA and features of the machine from FILE, a recording of the same \
         kernel",
    ),
    OptionSpec::new(
        "abi",
        OptionValue::Text { placeholder: "BYTES", check: check_attr_size },
        "Also write attrs of at most BYTES, a published size such as 128, for an older perf",
    ),
    OptionSpec::new(
        "for-perf",
        OptionValue::Text { placeholder: "VERSION", check: check_version },
        "Also write what perf VERSION refuses in a way that it reads, or leave it out",
    )
    .without("abi"),
    PART,
];

/// The options of a dump.
pub static DUMP: &[OptionSpec] = &[
    PART,
    OptionSpec::new(
        "range",
        OptionValue::Text { placeholder: "A..B", check: check_range },
        "Only the records from number A up to B, counted from 0, without B",
    ),
    OptionSpec::new(
        "time",
        OptionValue::Text { placeholder: "A..B", check: check_times },
        "Only the records from second A up to B, as the dump shows them, without B",
    ),
    OptionSpec::new(
        "kind",
        OptionValue::Text { placeholder: "NAME", check: check_kind },
        "Only the records of a type, such as MMAP2",
    ),
    OptionSpec::new(
        "event",
        OptionValue::Text { placeholder: "NAME", check: check_event },
        "Only the samples of an event, such as cpu-clock",
    ),
];

/// The options of a cut.
pub static CUT: &[OptionSpec] = &[
    OptionSpec::new(
        "range",
        OptionValue::Text { placeholder: "A..B", check: check_range },
        "Keep the samples among the records from number A up to B, as a dump counts, without B",
    ),
    OptionSpec::new(
        "time",
        OptionValue::Text { placeholder: "A..B", check: check_times },
        "Keep the samples from second A up to B, as a dump shows them, without B",
    ),
];

/// The records that a dump shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter<'o> {
    /// Numbers of records.
    numbers: Range<u64>,
    /// Times in nanoseconds, if only records with a time are shown.
    pub times: Option<Range<u64>>,
    kind: Option<&'o str>,
    event: Option<&'o str>,
}

/// The attrs that the user asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedAttrs {
    /// Their size in bytes, at most.
    pub size: u32,
    /// The option, as it was typed.
    pub option: String,
}

/// Returns the attrs that the user asks for.
pub fn asked_attrs(options: &Options) -> Option<AskedAttrs> {
    let typed = |name| options.choices.value(name).map(|value| format!("--{name} {value}"));
    if let Some(version) = asked_version(options) {
        return Some(AskedAttrs { size: versions::attr_size(version), option: typed("for-perf")? });
    }
    let size = options.choices.value("abi").and_then(parse_attr_size)?;
    Some(AskedAttrs { size, option: typed("abi")? })
}

/// Returns the number of the recording that is kept of several in one file.
pub fn part(choices: &Choices) -> Option<u64> {
    choices.value("part").and_then(parse_number)
}

/// Returns the version of perf that has to read the recording, if the user names one.
pub fn asked_version(options: &Options) -> Option<Version> {
    options.choices.value("for-perf").and_then(versions::parse)
}

/// The versions that can be asked for, as a phrase.
static EXPECTED_VERSION: LazyLock<String> =
    LazyLock::new(|| format!("a version from {OLDEST} to {NEWEST}, such as {OFFERED}"));

/// Checks that results can be promised for a version.
fn check_version(text: &str) -> Result<(), &'static str> {
    if versions::parse(text).is_some() { Ok(()) } else { Err(&EXPECTED_VERSION) }
}

fn parse_attr_size(text: &str) -> Option<u32> {
    let size = text.parse().ok()?;
    is_published(size).then_some(size)
}

/// The published sizes, as a phrase.
static EXPECTED_SIZE: LazyLock<String> = LazyLock::new(|| {
    let [first @ .., last] = ATTR_SIZES.map(|size| size.to_string());
    format!("{} or {last}", first.join(", "))
});

/// Checks that an attr has had the size.
fn check_attr_size(text: &str) -> Result<(), &'static str> {
    let is_known = parse_attr_size(text).is_some();
    if is_known { Ok(()) } else { Err(&EXPECTED_SIZE) }
}

/// Returns the records that a dump shows.
pub fn filter(options: &Options) -> Filter<'_> {
    let value = |name| options.choices.value(name);
    Filter {
        numbers: value("range").and_then(parse_range).unwrap_or(0..u64::MAX),
        times: value("time").and_then(parse_times),
        kind: value("kind"),
        event: value("event"),
    }
}

impl Filter<'_> {
    /// Returns whether a record is shown. `event` is empty for records other than samples.
    pub fn wants(&self, number: u64, kind: u32, time: Option<u64>, event: &str) -> bool {
        let has_time = |times: &Range<u64>| time.is_some_and(|time| times.contains(&time));
        self.numbers.contains(&number)
            && self.times.as_ref().is_none_or(has_time)
            && self.kind.is_none_or(|name| is_kind(kind, name))
            && self.event.is_none_or(|name| event == name)
    }
}

/// Returns whether a record type has the name.
fn is_kind(kind: u32, name: &str) -> bool {
    record::name(kind).is_some_and(|known| known.eq_ignore_ascii_case(name))
}

/// Checks that a record type has the name.
fn check_kind(text: &str) -> Result<(), &'static str> {
    let is_known = (0..128).any(|kind| is_kind(kind, text));
    if is_known { Ok(()) } else { Err("a type of record, such as SAMPLE, MMAP2 or COMM") }
}

/// Checks the name of an event.
fn check_event(text: &str) -> Result<(), &'static str> {
    if text.is_empty() { Err("the name of an event, such as cpu-clock") } else { Ok(()) }
}
