//! Since which version a code exists, and since which it is an error (`history.txt`).
//!
//! ```text
//!  PD0004 0.1.0 error                  an error from its first version on
//!  PD2012 0.1.0 info 0.3.0 error       a note that became an error
//! ```

use std::fmt;
use std::str::FromStr;

use tracemend::{Rule, Severity};

/// A line for each code. `BLESS=1 cargo test` adds what is new with the version of the workspace.
const HISTORY: &str = include_str!("history.txt");

/// A version of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version([u64; 3]);

impl Version {
    /// The version of this program.
    pub(crate) fn own() -> Self {
        env!("CARGO_PKG_VERSION").parse().unwrap_or(Self([0; 3]))
    }
}

impl FromStr for Version {
    type Err = String;

    /// Reads up to three numbers, such as `0.1.0`, `v0.1` or `1`; others are 0.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || "expected a version such as 0.1.0".to_string();
        let mut version = Self([0; 3]);
        let mut places = version.0.iter_mut();
        for part in text.strip_prefix('v').unwrap_or(text).split('.') {
            let is_number = !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
            let number = part.parse().ok().filter(|_| is_number);
            *places.next().ok_or_else(wrong)? = number.ok_or_else(wrong)?;
        }
        Ok(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// The history of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct History {
    /// The first version with the code.
    pub(crate) since: Version,
    /// The version in which it became an error, if it was none before.
    pub(crate) error_since: Option<Version>,
}

impl History {
    /// Returns the history of a rule. A rule without one is new.
    pub(crate) fn of(rule: &Rule) -> Self {
        let line = HISTORY.lines().find_map(|line| line.strip_prefix(rule.code)?.strip_prefix(' '));
        let known = line.and_then(parse);
        known.unwrap_or_else(|| Self { since: Version::own(), error_since: None })
    }
}

/// Versions, each with the severity from it on.
fn parse(line: &str) -> Option<History> {
    let words: Vec<&str> = line.split(' ').collect();
    let (pairs, rest) = words.as_chunks::<2>();
    let mut steps = Vec::new();
    for [version, severity] in pairs {
        steps.push((version.parse::<Version>().ok()?, severity.parse::<Severity>().ok()?));
    }
    let is_error = |step: &&(Version, Severity)| step.1 == Severity::Error;
    // The last run of errors counts: it may have been one before, too.
    let run = steps.iter().rev().take_while(is_error).last();
    let (since, first) = steps.first().copied().filter(|_| rest.is_empty())?;
    let error_since = run.map(|(version, _)| *version);
    let became = error_since.filter(|version| *version != since || first != Severity::Error);
    Some(History { since, error_since: became })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn versions_are_numbers_in_order() {
        assert!(version("0.2") > version("0.1.9") && version("v1") > version("0.99.0"));
        assert_eq!(version("1.2.3").to_string(), "1.2.3");
        for wrong in ["", "1.", "1.2.3.4", "a", "+1", "1.0-rc1"] {
            assert!(wrong.parse::<Version>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_code_is_new_or_becomes_an_error() {
        let history = |line: &str| {
            let found = parse(line).unwrap();
            (found.since.to_string(), found.error_since.map(|version| version.to_string()))
        };
        let became = |version: &str| Some(version.to_string());
        assert_eq!(history("0.1.0 error"), ("0.1.0".into(), None));
        assert_eq!(history("0.1.0 info 0.3.0 error"), ("0.1.0".into(), became("0.3.0")));
        let back = "0.1.0 error 0.2.0 warning 0.4.0 error";
        assert_eq!(history(back), ("0.1.0".into(), became("0.4.0")));
        assert_eq!(history("0.1.0 info 0.3.0 warning"), ("0.1.0".into(), None));
        assert_eq!([parse("0.1.0"), parse("0.1.0 bad"), parse("")], [None; 3]);
    }
}
