//! The formats that this version knows.

use std::fmt;
use std::str::FromStr;

use crate::FileSet;
use crate::audit;
use crate::formats::{Confidence, DirectoryShape, Format, apitrace, ovni, perf, qemu, revent};
use crate::kit::text::Untrusted;
use crate::limits::{self, Limit, Limits, UnknownLimit};
use crate::options::{Choices, OptionSpec, Options};
use crate::report::rule::common;
use crate::report::{Report, Rule};

/// A format, and everything that it declares about itself.
#[derive(Clone, Copy)]
pub struct FormatId(&'static dyn Format);

/// One line per format, here and in [`FormatId::ALL`].
impl FormatId {
    /// Linux `perf.data`.
    pub const PERF: Self = Self(&perf::PERF);
    /// apitrace traces.
    pub const APITRACE: Self = Self(&apitrace::APITRACE);
    /// ovni runtime traces.
    pub const OVNI: Self = Self(&ovni::OVNI);
    /// QEMU record/replay logs.
    pub const QEMU: Self = Self(&qemu::QEMU);
    /// Workload Automation's `revent` recordings.
    pub const REVENT: Self = Self(&revent::REVENT);

    /// Every format. The command line, the renderers and the tests iterate over this.
    pub const ALL: &[Self] = &[Self::PERF, Self::APITRACE, Self::OVNI, Self::QEMU, Self::REVENT];
}

impl FormatId {
    /// Wraps a format that is not one of [`FormatId::ALL`], for tests.
    #[cfg(feature = "testing")]
    pub const fn of(format: &'static dyn Format) -> Self {
        Self(format)
    }

    pub(crate) const fn format(self) -> &'static dyn Format {
        self.0
    }

    /// Returns the format itself, for tests.
    #[cfg(feature = "testing")]
    pub const fn definition(self) -> &'static dyn Format {
        self.0
    }

    /// Returns the short name, for example `perf`; [`FromStr`] reads it.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns one line about the parts that are read and the faults that can be repaired.
    pub fn summary(self) -> &'static str {
        self.0.summary()
    }

    /// Returns the singular nouns of the format for a record, and for one with a measurement.
    pub fn nouns(self) -> [&'static str; 2] {
        self.0.nouns()
    }

    /// Returns every rule of the format, by code.
    pub fn rules(self) -> &'static [&'static Rule] {
        self.0.rules()
    }

    /// Returns the options of a check and a repair that the format owns.
    pub fn options(self) -> &'static [OptionSpec] {
        self.0.options()
    }

    /// Returns the options of a dump that the format owns.
    pub fn dump_options(self) -> &'static [OptionSpec] {
        self.0.dump_options()
    }

    /// Returns the options of a comparison that the format owns.
    pub fn diff_options(self) -> &'static [OptionSpec] {
        self.0.diff_options()
    }

    /// Returns the limits that the format owns.
    pub fn limits(self) -> &'static [&'static Limit] {
        self.0.limits()
    }

    /// Returns whether a file of this name should be a recording of the format.
    pub fn claims_name(self, name: &str) -> bool {
        self.0.file_names().iter().any(|pattern| match pattern.strip_prefix('*') {
            Some(end) => name.ends_with(end),
            None => *pattern == name,
        })
    }

    /// Returns the shape of a recording that is a directory; `None` if a recording is always one
    /// file.
    pub fn directory(self) -> Option<&'static dyn DirectoryShape> {
        self.0.directory()
    }

    /// Returns why one of the chosen options does not apply to the recording whose check gave
    /// `report`, although it is an option of the format.
    pub fn find_misapplied(self, choices: &Choices, report: &Report) -> Option<String> {
        self.0.find_misapplied(choices, report)
    }

    /// Returns the styles of a dump with their purpose, the default first; empty if the format has
    /// no dump.
    pub fn dump_styles(self) -> &'static [(&'static str, &'static str)] {
        self.0.dump_styles()
    }
}

impl PartialEq for FormatId {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for FormatId {}

impl fmt::Debug for FormatId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for FormatId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FormatId {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().copied().find(|format| format.name() == name);
        found.ok_or_else(|| UnknownFormat { name: name.to_string() })
    }
}

/// A format name that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownFormat {
    /// The name that was given.
    pub name: String,
}

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<_> = FormatId::ALL.iter().map(|format| format.name()).collect();
        let name = Untrusted(self.name.as_bytes());
        write!(f, "unknown format `{name}`, expected {}", known.join(", "))
    }
}

impl std::error::Error for UnknownFormat {}

/// Returns every rule: the common ones, then each format's, then those of an audit.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let formats = FormatId::ALL.iter().flat_map(|format| format.rules());
    common::RULES.iter().chain(formats).copied().chain(audit::rules::all())
}

/// Returns the rule with this code, or with this name.
pub fn rule(code: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.code.eq_ignore_ascii_case(code) || rule.name == code)
}

/// Returns every limit: the common ones, then each format's.
pub fn limits() -> impl Iterator<Item = &'static Limit> {
    let formats = FormatId::ALL.iter().flat_map(|format| format.limits());
    limits::COMMON.iter().chain(formats).copied()
}

impl Limits {
    /// Changes the limit called `name` to `value`.
    ///
    /// # Errors
    ///
    /// If no limit has this name; [`FormatId::limits`] and [`COMMON`](limits::COMMON) list them.
    pub fn set_by_name(&mut self, name: &str, value: u64) -> Result<(), UnknownLimit> {
        let limit = limits().find(|limit| limit.name == name);
        let limit = limit.ok_or_else(|| UnknownLimit { name: name.to_string() })?;
        self.set(limit, value);
        Ok(())
    }
}

/// Returns the format that recognises the recording with the most confidence; the first one in
/// [`FormatId::ALL`] if two are equally sure.
pub fn sniff(files: &FileSet<'_>, options: &Options) -> Option<FormatId> {
    let mut likely: Option<usize> = None;
    for (place, format) in in_order_of_cost() {
        match format.0.sniff(files, options) {
            // No format can be surer, and trial decoding by the others costs time and memory.
            Some(Confidence::Certain) => return Some(format),
            // Of several likely formats the first one in the list.
            Some(Confidence::Evidence) => {
                likely = Some(likely.map_or(place, |other| other.min(place)));
            }
            None => {}
        }
    }
    likely.and_then(|place| FormatId::ALL.get(place).copied())
}

/// Returns the magics of all formats.
pub fn magics() -> impl Iterator<Item = &'static [u8]> + Clone {
    FormatId::ALL.iter().flat_map(|format| format.0.magics()).copied()
}

/// Returns the formats with their places in the list, those that are recognised by trial last.
fn in_order_of_cost() -> impl Iterator<Item = (usize, FormatId)> {
    let of_cost = |by_trial| {
        let all = FormatId::ALL.iter().copied().enumerate();
        all.filter(move |(_, format)| format.0.is_sniffed_by_trial() == by_trial)
    };
    of_cost(false).chain(of_cost(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::ROUNDS;

    #[test]
    fn a_limit_is_set_by_its_name() {
        let mut limits = Limits::default();
        limits.set_by_name("rounds", 3).unwrap();
        assert_eq!(limits.of(&ROUNDS), 3);
        let unknown = limits.set_by_name("round\u{1b}", 3).unwrap_err();
        assert_eq!(unknown.to_string(), "unknown limit `round\\x1b`");
    }

    #[test]
    fn names_of_limits_are_unique() {
        let mut names: Vec<_> = limits().map(|limit| limit.name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn a_format_describes_itself_and_claims_the_names_of_its_files() {
        let names = [
            ("kernel.perf.data", FormatId::PERF),
            ("stream.obs", FormatId::OVNI),
            ("replay.bin", FormatId::QEMU),
            ("touch.run.revent", FormatId::REVENT),
        ];
        for format in FormatId::ALL {
            assert!(format.summary().split(' ').count() > 10, "{format}: {}", format.summary());
            for (file, own) in names {
                assert_eq!(format.claims_name(file), *format == own, "{format} and {file}");
            }
        }
    }
}
