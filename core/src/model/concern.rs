//! Whom a finding of an audit concerns.

use std::fmt;
use std::str::FromStr;

use crate::model::rule::Rule;

/// Whom a finding of an audit concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Concern {
    /// Content that can harm whoever opens the recording.
    Recipient,
    /// Private content of whoever made the recording.
    Sender,
}

impl Concern {
    /// Returns the concern of a rule; `None` for rules that are not of an audit.
    pub fn of(rule: &Rule) -> Option<Self> {
        Self::of_code(rule.code)
    }

    /// Returns the concern of a code: codes of one concern begin alike.
    pub(crate) fn of_code(code: &str) -> Option<Self> {
        match code.get(..3) {
            Some("AU0") => Some(Self::Recipient),
            Some("AU1") => Some(Self::Sender),
            _ => None,
        }
    }

    /// Returns the word that every output format uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recipient => "recipient",
            Self::Sender => "sender",
        }
    }
}

impl fmt::Display for Concern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Concern {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = [Self::Recipient, Self::Sender].into_iter().find(|one| one.name() == word);
        found.ok_or_else(|| {
            let word = crate::kit::text::Untrusted(word.as_bytes());
            format!("unknown concern `{word}`, expected recipient or sender")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rule::common;

    #[test]
    fn codes_of_one_concern_begin_alike() {
        assert_eq!(Concern::of_code("AU0001"), Some(Concern::Recipient));
        assert_eq!(Concern::of_code("AU1001"), Some(Concern::Sender));
        assert_eq!(Concern::of(&common::EMPTY_FILE), None);
        assert_eq!("sender".parse(), Ok(Concern::Sender));
        assert!("a\u{1b}".parse::<Concern>().unwrap_err().contains("a\\x1b"));
    }
}
