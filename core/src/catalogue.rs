//! The formats that this version knows.

mod deleted;

use std::fmt;
use std::str::FromStr;

pub use self::deleted::{DeletedRule, deleted_rule, deleted_rules};
use crate::format::{Confidence, Format};
use crate::formats::{apitrace, ovni, perf, qemu, revent};
use crate::kit::text::Untrusted;
use crate::model::arrival;
use crate::model::choice::{ChoiceError, Choices};
use crate::model::description::FormatId;
use crate::model::limits::{self, Limit, Limits, UnknownLimit};
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::rule::common;
use crate::model::{Report, Rule};
use crate::sight;

/// Every format, in the order of [`FormatId::ALL`].
static FORMATS: [&dyn Format; 5] =
    [&perf::PERF, &apitrace::APITRACE, &ovni::OVNI, &qemu::QEMU, &revent::REVENT];

impl FormatId {
    /// Linux `perf.data`.
    pub const PERF: Self = Self::of(&perf::DESCRIPTION);
    /// apitrace traces.
    pub const APITRACE: Self = Self::of(&apitrace::DESCRIPTION);
    /// ovni runtime traces.
    pub const OVNI: Self = Self::of(&ovni::DESCRIPTION);
    /// QEMU record/replay logs.
    pub const QEMU: Self = Self::of(&qemu::DESCRIPTION);
    /// Workload Automation's `revent` recordings.
    pub const REVENT: Self = Self::of(&revent::DESCRIPTION);

    /// Every format. The command line, the renderers and the tests iterate over this.
    pub const ALL: &[Self] = &[Self::PERF, Self::APITRACE, Self::OVNI, Self::QEMU, Self::REVENT];

    /// Returns why one of the chosen options does not apply to the recording whose check gave
    /// `report`, although it is an option of the format.
    pub fn find_misapplied(self, choices: &Choices, report: &Report) -> Option<String> {
        format(self)?.find_misapplied(choices, report)
    }
}

/// Returns the identity of a format.
pub fn id(format: &dyn Format) -> FormatId {
    FormatId::of(format.description())
}

/// Returns the behaviour of a format; `None` only for one that a test has not added.
pub fn format(id: FormatId) -> Option<&'static dyn Format> {
    let found = FORMATS.iter().copied().find(|format| format.description().name == id.name());
    #[cfg(feature = "testing")]
    let found = found.or_else(|| added::find(id));
    found
}

/// Formats that exist only in tests.
#[cfg(feature = "testing")]
pub mod added {
    use std::sync::{Mutex, PoisonError};

    use super::{Format, FormatId, id};

    static ADDED: Mutex<Vec<&'static dyn Format>> = Mutex::new(Vec::new());

    /// Adds a format that is not one of [`FormatId::ALL`], and is never sniffed.
    pub fn add(format: &'static dyn Format) -> FormatId {
        let id = id(format);
        let mut added = ADDED.lock().unwrap_or_else(PoisonError::into_inner);
        if !added.iter().any(|one| one.description().name == id.name()) {
            added.push(format);
        }
        id
    }

    pub(super) fn find(id: FormatId) -> Option<&'static dyn Format> {
        let added = ADDED.lock().unwrap_or_else(PoisonError::into_inner);
        added.iter().copied().find(|format| format.description().name == id.name())
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

/// Returns every rule: the common ones, those about ways to a reader, then each format's, then
/// those of an audit.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let formats = FormatId::ALL.iter().flat_map(|format| format.rules());
    common::RULES
        .iter()
        .chain(arrival::rules::RULES)
        .chain(formats)
        .copied()
        .chain(sight::rules::all())
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

impl Choices {
    /// Sets the option called `name`; a flag takes any value.
    ///
    /// # Errors
    ///
    /// If no format has the option, or none takes the value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ChoiceError> {
        let all = |format: &FormatId| {
            format.options().iter().chain(format.dump_options()).chain(format.cut_options())
        };
        let specs = FormatId::ALL.iter().flat_map(all).filter(|spec| spec.name == name);
        self.set_one_of(&specs.collect::<Vec<_>>(), name, value)
    }
}

impl Options {
    /// Returns the options with one option of a format set, as on the command line without dashes.
    ///
    /// # Errors
    ///
    /// If no format has the option, or none takes the value.
    ///
    /// ```
    /// use tracemend::Options;
    ///
    /// let options = Options::default().with_choice("strategy", "prefix")?;
    /// assert!(Options::default().with_choice("strategy", "guess").is_err());
    /// # Ok::<(), tracemend::ChoiceError>(())
    /// ```
    pub fn with_choice(mut self, name: &str, value: &str) -> Result<Self, ChoiceError> {
        self.choices.set(name, value)?;
        Ok(self)
    }
}

/// Returns the format that recognises the recording with the most confidence; the first one in
/// [`FormatId::ALL`] if two are equally sure.
pub fn sniff(files: &FileSet<'_>, options: &Options) -> Option<FormatId> {
    let mut likely: Option<usize> = None;
    for (place, format) in in_order_of_cost() {
        match format.sniff(files, options) {
            // No format can be surer, and trial decoding by the others costs time and memory.
            Some(Confidence::Certain) => return Some(id(format)),
            // Of several likely formats the first one in the list.
            Some(Confidence::Evidence) => {
                likely = Some(likely.map_or(place, |other| other.min(place)));
            }
            None => {}
        }
    }
    likely.and_then(|place| FORMATS.get(place)).map(|format| id(*format))
}

/// Returns whether bytes are those with which recordings or files of a format begin.
pub fn begins(first: &[u8]) -> bool {
    let signs = FormatId::ALL.iter().map(|format| &format.description().signs);
    let mut all = signs.flat_map(|signs| signs.magics.iter().chain(signs.beginnings));
    all.any(|beginning| first.starts_with(beginning))
}

/// Returns the magics of all formats.
pub fn magics() -> impl Iterator<Item = &'static [u8]> + Clone {
    FormatId::ALL.iter().flat_map(|format| format.description().signs.magics).copied()
}

/// Returns the formats of which a file without its beginning may hold records.
pub fn held_in<'a>(
    files: &'a FileSet<'_>,
    options: &'a Options,
) -> impl Iterator<Item = &'static dyn Format> + 'a {
    FORMATS.iter().copied().filter(|format| format.may_hold_records(files, options))
}

/// Returns the formats with their places in the list, those that are recognised by trial last.
fn in_order_of_cost() -> impl Iterator<Item = (usize, &'static dyn Format)> {
    let of_cost = |by_trial| {
        let all = FORMATS.iter().copied().enumerate();
        all.filter(move |(_, format)| format.description().signs.is_sniffed_by_trial == by_trial)
    };
    of_cost(false).chain(of_cost(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::limits::ROUNDS;

    #[test]
    fn a_limit_is_set_by_its_name() {
        let mut limits = Limits::default();
        limits.set_by_name("rounds", 3).unwrap();
        assert_eq!(limits.of(&ROUNDS), 3);
        let unknown = limits.set_by_name("round\u{1b}", 3).unwrap_err();
        assert_eq!(unknown.to_string(), "unknown limit `round\\x1b`");
    }

    #[test]
    fn a_choice_has_to_fit_a_format() {
        let mut choices = Choices::default();
        choices.set("strategy", "prefix").unwrap();
        assert_eq!(choices.value("strategy"), Some("prefix"));
        assert_eq!(choices.foreign(FormatId::QEMU.options()), [""; 0]);
        assert_eq!(choices.foreign(FormatId::OVNI.options()), ["strategy"]);
        assert_eq!(choices.foreign(FormatId::QEMU.dump_options()), ["strategy"]);
        let error = choices.set("strategy", "x\u{1b}").unwrap_err().to_string();
        assert!(error.starts_with("--strategy is `x\\x1b`, expected "), "{error}");
        assert_eq!(
            choices.set("colour", "red").unwrap_err().to_string(),
            "unknown option `colour`"
        );
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
