//! Options that formats own, as data, and the values that a user chose.
//!
//! The command line builds its arguments and their help from an [`OptionSpec`], and the library
//! checks a value against it. A format reads its own options through a typed view in its folder
//! (`formats/*/options.rs`).

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use crate::kit::text::Untrusted;

/// An option that a format owns.
#[derive(Debug)]
#[non_exhaustive]
pub struct OptionSpec {
    /// The name, on the command line after `--`.
    pub name: &'static str,
    /// The values it takes.
    pub value: OptionValue,
    /// The effect, as one sentence without a full stop. Formats that share a name each have
    /// theirs.
    pub help: &'static str,
    /// The name of an option that cannot be given besides.
    pub excludes: Option<&'static str>,
    /// Whether a text can also be the path of a file: the caller opens it, and passes its bytes
    /// with [`FileSet::with_donor`](crate::FileSet::with_donor).
    pub may_be_file: bool,
}

impl OptionSpec {
    /// Declares an option.
    pub const fn new(name: &'static str, value: OptionValue, help: &'static str) -> Self {
        Self { name, value, help, excludes: None, may_be_file: false }
    }

    /// Takes the path of a file as well.
    #[must_use]
    pub const fn or_file(mut self) -> Self {
        self.may_be_file = true;
        self
    }

    /// Names an option that cannot be given besides.
    #[must_use]
    pub const fn without(mut self, name: &'static str) -> Self {
        self.excludes = Some(name);
        self
    }
}

/// The values that an option takes.
#[derive(Debug)]
#[non_exhaustive]
pub enum OptionValue {
    /// None: the option is given or not.
    Flag,
    /// A path of another recording; the caller opens it and passes its bytes with
    /// [`FileSet::with_donor`](crate::FileSet::with_donor).
    File,
    /// Text of a form that the function checks; it returns the form that was expected.
    Text {
        /// The placeholder for the value in a help text, as in `X.Y`.
        placeholder: &'static str,
        /// Whether a text has the form.
        check: fn(&str) -> Result<(), &'static str>,
    },
    /// One of a few words.
    OneOf {
        /// The placeholder for the value in a help text, as in `WAY`.
        placeholder: &'static str,
        /// The words, each with what it means.
        words: &'static [(&'static str, &'static str)],
        /// The word that is meant if the option is not given.
        default: Option<&'static str>,
    },
}

impl OptionValue {
    fn check(&self, value: &str) -> Result<(), String> {
        match self {
            Self::Flag | Self::File => Ok(()),
            Self::Text { check, .. } => check(value).map_err(ToString::to_string),
            Self::OneOf { words, .. } if words.iter().any(|(word, _)| *word == value) => Ok(()),
            Self::OneOf { words, .. } => {
                let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
                Err(words.join(", "))
            }
        }
    }
}

/// Checks that a text is a number, for [`OptionValue::Text`].
pub(crate) fn check_number(text: &str) -> Result<(), &'static str> {
    parse_number(text).map(drop).ok_or("a number, such as 7 or 0x1f")
}

/// Returns the number that a text is: decimal, or hexadecimal after `0x`.
pub(crate) fn parse_number(text: &str) -> Option<u64> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match text.strip_prefix("0x") {
        Some(hex) if digits(hex) => u64::from_str_radix(hex, 16).ok(),
        None if digits(text) => text.parse().ok(),
        _ => None,
    }
}

/// Checks that a text is a range of numbers, for [`OptionValue::Text`].
pub(crate) fn check_range(text: &str) -> Result<(), &'static str> {
    parse_range(text).map(drop).ok_or("a range A..B, such as 3..9, 3.. or 0x30..0x38")
}

/// Returns the range `A..B` of numbers from A up to B, without B; either end may be missing.
pub(crate) fn parse_range(text: &str) -> Option<Range<u64>> {
    let (start, end) = text.split_once("..")?;
    let start = if start.is_empty() { Some(0) } else { parse_number(start) }?;
    let end = if end.is_empty() { Some(u64::MAX) } else { parse_number(end) }?;
    (start <= end).then_some(start..end)
}

/// Checks that a text is a range of seconds, for [`OptionValue::Text`].
pub(crate) fn check_times(text: &str) -> Result<(), &'static str> {
    parse_times(text).map(drop).ok_or("a range of seconds A..B, such as 1.5..2 or 10..")
}

/// Returns the range `A..B` of seconds in nanoseconds, from A up to B, without B; either end may be
/// missing.
pub(crate) fn parse_times(text: &str) -> Option<Range<u64>> {
    let (start, end) = text.split_once("..")?;
    let start = if start.is_empty() { Some(0) } else { parse_seconds(start) }?;
    let end = if end.is_empty() { Some(u64::MAX) } else { parse_seconds(end) }?;
    (start <= end).then_some(start..end)
}

/// Returns decimal seconds, with at most nine digits after the point, in nanoseconds.
fn parse_seconds(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_decimal = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_decimal(whole) || !is_decimal(part) || part.len() > 9 {
        return None;
    }
    let nanos: u64 = format!("{part:0<9}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(nanos)
}

/// Values of options that formats own, by name.
///
/// Every value fits the option of at least one format. An option that the format of a recording
/// does not have, or that the called function does not read, is ignored by the library;
/// [`Choices::foreign`] lists those.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    values: BTreeMap<&'static str, String>,
}

impl Choices {
    /// Sets the option called `name`, which is one of `specs`; a flag takes any value.
    pub(crate) fn set_one_of(
        &mut self,
        specs: &[&OptionSpec],
        name: &str,
        value: &str,
    ) -> Result<(), ChoiceError> {
        let Some(known) = specs.first() else {
            return Err(ChoiceError::Unknown { name: name.to_string() });
        };
        let results: Vec<_> = specs.iter().map(|spec| spec.value.check(value)).collect();
        if results.iter().all(Result::is_err) {
            let mut expected: Vec<_> = results.into_iter().filter_map(Result::err).collect();
            // A check and a dump may share an option.
            expected.dedup();
            return Err(ChoiceError::Value {
                name: known.name,
                value: value.to_string(),
                expected: expected.join(", "),
            });
        }
        self.values.insert(known.name, value.to_string());
        Ok(())
    }

    /// Sets the options that are set in `over`.
    pub fn extend(&mut self, over: &Self) {
        self.values.extend(over.values.iter().map(|(name, value)| (*name, value.clone())));
    }

    /// Returns the value of an option, if it is set.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Returns whether an option is set.
    pub fn is_set(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns the options that are set and that are not among `specs`, or not with this value.
    /// `specs` are the options of a format: [`FormatId::options`](crate::FormatId::options) or
    /// [`FormatId::dump_options`](crate::FormatId::dump_options).
    pub fn foreign(&self, specs: &[OptionSpec]) -> Vec<&'static str> {
        let fits = |name: &str, value: &str| {
            specs.iter().any(|spec| spec.name == name && spec.value.check(value).is_ok())
        };
        let set = self.values.iter().filter(|(name, value)| !fits(name, value));
        set.map(|(name, _)| *name).collect()
    }
}

/// An option of a format that cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChoiceError {
    /// No format has the option.
    Unknown {
        /// The name that was given.
        name: String,
    },
    /// No format takes the value.
    Value {
        /// The option.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// The expected values, in words.
        expected: String,
    },
}

impl fmt::Display for ChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name } => {
                write!(f, "unknown option `{}`", Untrusted(name.as_bytes()))
            }
            Self::Value { name, value, expected } => {
                write!(f, "--{name} is `{}`, expected {expected}", Untrusted(value.as_bytes()))
            }
        }
    }
}

impl std::error::Error for ChoiceError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges_have_one_form() {
        assert_eq!((parse_number("0x1f"), parse_number("10")), (Some(31), Some(10)));
        assert_eq!(parse_range("3..0x9"), Some(3..9));
        assert_eq!(parse_range(".."), Some(0..u64::MAX));
        assert_eq!(parse_times("1.5..2"), Some(1_500_000_000..2_000_000_000));
        assert_eq!(parse_times("0.000000001.."), Some(1..u64::MAX));
        for wrong in ["", "-1", "+1", "0x", "0x+1", "1 ", "18446744073709551616"] {
            assert_eq!(parse_number(wrong), None, "{wrong}");
            assert!(check_range(&format!("{wrong}..{wrong}x")).is_err(), "{wrong}");
        }
        let wrong = ["", "1", "2..1", "1.5", "1...2.", "1.0000000001..", "1e3..", "99999999999.."];
        for wrong in wrong.into_iter().chain(["+1..", "1.+5.."]) {
            assert!(check_times(wrong).is_err(), "{wrong}");
        }
    }
}
