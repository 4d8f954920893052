//! Options of a check or a repair, those that formats own among them.
//!
//! An option that belongs to a format is data ([`OptionSpec`]): the command line builds its
//! arguments and their help from it, and the library checks a value against it. A format reads its
//! own options through a typed view in its folder (`formats/*/options.rs`).

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use crate::kit::text::Untrusted;
use crate::limits::Limits;
use crate::mend::edit::Safety;
use crate::registry::FormatId;

/// Options of [`check`](crate::check) and [`repair`](crate::repair).
#[derive(Clone, Debug, Default)]
#[cfg_attr(not(feature = "testing"), non_exhaustive)]
pub struct Options {
    /// The limits of the run.
    pub limits: Limits,
    /// The format of the recording; recognised by its bytes if it is `None`.
    pub format: Option<FormatId>,
    /// The riskiest class of fixes that a repair applies.
    pub allow: Allow,
    /// Values of the options that formats own.
    pub choices: Choices,
    /// Threads that may work in parallel; as many as the machine has if it is `None`. The result is
    /// the same with any number.
    pub jobs: Option<NonZeroUsize>,
}

impl Options {
    /// Returns the options with the format set, so that the recording is not sniffed.
    #[must_use]
    pub const fn with_format(mut self, format: FormatId) -> Self {
        self.format = Some(format);
        self
    }

    /// Returns the options with fixes allowed up to this class.
    #[must_use]
    pub const fn with_allow(mut self, allow: Allow) -> Self {
        self.allow = allow;
        self
    }

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

/// The riskiest class of fixes that a repair applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Allow {
    /// Only values that other bytes determine.
    Exact,
    /// Also what the format requires and was never recorded.
    Synthetic,
    /// Also fixes that drop or replace recorded bytes.
    #[default]
    Lossy,
}

impl Allow {
    /// All of them, the strictest first.
    pub const ALL: [Self; 3] = [Self::Exact, Self::Synthetic, Self::Lossy];

    /// Returns the word on the command line.
    pub const fn name(self) -> &'static str {
        self.highest().name()
    }

    /// Returns whether a fix of this class may be applied; one that is manual never is.
    pub fn permits(self, safety: Safety) -> bool {
        safety <= self.highest()
    }

    const fn highest(self) -> Safety {
        match self {
            Self::Exact => Safety::Exact,
            Self::Synthetic => Safety::Synthetic,
            Self::Lossy => Safety::Lossy,
        }
    }
}

impl FromStr for Allow {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|allow| allow.name() == word);
        found.ok_or_else(|| {
            let word = Untrusted(word.as_bytes());
            format!("unknown class `{word}`, expected exact, synthetic or lossy")
        })
    }
}

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
}

impl OptionSpec {
    /// Declares an option.
    pub const fn new(name: &'static str, value: OptionValue, help: &'static str) -> Self {
        Self { name, value, help }
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

/// Values of options that formats own, by name.
///
/// Every value fits the option of at least one format. An option that the format of a recording
/// does not have is ignored by the library; [`Choices::foreign`] lists those.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    values: BTreeMap<&'static str, String>,
}

impl Choices {
    /// Sets the option called `name`; a flag takes any value.
    ///
    /// # Errors
    ///
    /// If no format has the option, or none takes the value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ChoiceError> {
        let specs = || {
            let formats = FormatId::ALL.iter().flat_map(|format| format.options());
            formats.filter(|spec| spec.name == name)
        };
        let Some(known) = specs().next() else {
            return Err(ChoiceError::Unknown { name: name.to_string() });
        };
        let results: Vec<_> = specs().map(|spec| spec.value.check(value)).collect();
        if results.iter().all(Result::is_err) {
            let expected: Vec<_> = results.into_iter().filter_map(Result::err).collect();
            return Err(ChoiceError::Value {
                name: known.name,
                value: value.to_string(),
                expected: expected.join(", "),
            });
        }
        self.values.insert(known.name, value.to_string());
        Ok(())
    }

    /// Returns the value of an option, if it is set.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Returns whether an option is set.
    pub fn is_set(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Returns the options that are set and that `format` does not have, or not with this value.
    pub fn foreign(&self, format: FormatId) -> Vec<&'static str> {
        let fits = |name: &str, value: &str| {
            let mut specs = format.options().iter();
            specs.any(|spec| spec.name == name && spec.value.check(value).is_ok())
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
    fn a_choice_has_to_fit_a_format() {
        let mut choices = Choices::default();
        choices.set("strategy", "prefix").unwrap();
        assert_eq!(choices.value("strategy"), Some("prefix"));
        assert_eq!(choices.foreign(FormatId::QEMU), [""; 0]);
        assert_eq!(choices.foreign(FormatId::OVNI), ["strategy"]);
        let error = choices.set("strategy", "x\u{1b}").unwrap_err().to_string();
        assert!(error.starts_with("--strategy is `x\\x1b`, expected "), "{error}");
        assert_eq!(
            choices.set("colour", "red").unwrap_err().to_string(),
            "unknown option `colour`"
        );
    }

    #[test]
    fn nothing_permits_a_manual_fix() {
        for allow in Allow::ALL {
            assert!(!allow.permits(Safety::Manual));
            assert_eq!(allow.name().parse(), Ok(allow));
        }
        assert!(Allow::Exact.permits(Safety::Exact) && !Allow::Exact.permits(Safety::Lossy));
    }
}
