//! Options of a check, a repair or a dump.

use std::num::NonZeroUsize;
use std::str::FromStr;

use crate::kit::text::Untrusted;
use crate::model::choice::Choices;
use crate::model::description::FormatId;
use crate::model::edit::Safety;
use crate::model::limits::Limits;

/// Options of [`check`](crate::check), [`repair`](crate::repair) and [`dump`](crate::dump).
#[derive(Clone, Debug, Default)]
#[cfg_attr(not(feature = "testing"), non_exhaustive)]
pub struct Options {
    /// The limits of the run.
    pub limits: Limits,
    /// The format of the recording; recognised by its bytes if it is `None`.
    pub format: Option<FormatId>,
    /// The riskiest class of fixes that a repair applies.
    pub allow: Allow,
    /// Whether a repair also applies lossy fixes of warnings. Without it nothing is dropped for a
    /// fault that the tools of the format read over.
    pub lossy_warnings: bool,
    /// Values of the options that formats own.
    pub choices: Choices,
    /// Whether a check leaves out the bytes of a gzip stream that a fix stores anew: to compress
    /// them takes longer than the check. Such an edit inserts nothing; all else about the fix is
    /// the same. For a report that does not show edits; calls other than a check ignore it.
    pub outline: bool,
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

    /// Returns the options of a check that has no use for the bytes of fixes.
    pub(crate) fn in_outline(&self) -> Self {
        Self { outline: true, ..self.clone() }
    }

    /// Returns the options with fixes allowed up to this class.
    #[must_use]
    pub const fn with_allow(mut self, allow: Allow) -> Self {
        self.allow = allow;
        self
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_permits_a_manual_fix() {
        for allow in Allow::ALL {
            assert!(!allow.permits(Safety::Manual));
            assert_eq!(allow.name().parse(), Ok(allow));
        }
        assert!(Allow::Exact.permits(Safety::Exact) && !Allow::Exact.permits(Safety::Lossy));
    }
}
