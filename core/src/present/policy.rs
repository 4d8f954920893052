//! What a user makes of findings: which are errors, which are warnings, which are accepted.
//!
//! ```text
//!  layers     of the formats < of the paths < of the command line    the last that names a rule
//!  in each    all < PD < PD2 < PD2004, feature-malformed             the closest selector
//!  of equals  allow < warn < deny                                    the strictest level
//! ```

use std::fmt;
use std::str::FromStr;

use crate::catalogue::{self, DeletedRule};
use crate::kit::text::Untrusted;
use crate::model::Report;
use crate::model::rule::{Rule, Severity};

/// What becomes of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// It is counted as suppressed.
    Allow,
    /// It is a warning.
    Warn,
    /// It is an error.
    Deny,
}

impl Level {
    /// Every level, the mildest first.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Warn, Self::Deny];

    /// Returns the word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Deny => "deny",
        }
    }

    /// Returns the severity of the findings; `None` if they are suppressed.
    pub const fn severity(self) -> Option<Severity> {
        match self {
            Self::Allow => None,
            Self::Warn => Some(Severity::Warning),
            Self::Deny => Some(Severity::Error),
        }
    }
}

/// Rules that a user names together: by a code, the beginning of codes, a name, or `all`.
///
/// ```
/// use tracemend::Selector;
///
/// let selector: Selector = "PD2".parse()?;
/// assert!(selector.selects(tracemend::rule("PD2004").unwrap()));
/// assert!("PX".parse::<Selector>().is_err());
/// # Ok::<(), tracemend::UnknownSelector>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Selector {
    /// The beginning of the codes; empty for all of them.
    prefix: String,
    /// Length of the prefix, and more than any for a whole code.
    closeness: usize,
}

impl Selector {
    /// Returns whether the rule is one of those that are named.
    pub fn selects(&self, rule: &Rule) -> bool {
        self.selects_code(rule.code)
    }

    fn selects_code(&self, code: &str) -> bool {
        code.starts_with(&self.prefix)
    }
}

impl FromStr for Selector {
    type Err = UnknownSelector;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "all" {
            return Ok(Self { prefix: String::new(), closeness: 0 });
        }
        let deleted = || catalogue::deleted_rule(text).map(|rule| rule.code);
        if let Some(code) = catalogue::rule(text).map(|rule| rule.code).or_else(deleted) {
            return Ok(Self { prefix: code.to_string(), closeness: usize::MAX });
        }
        let prefix = text.to_ascii_uppercase();
        if prefix.len() < 2 || !catalogue::rules().any(|rule| rule.code.starts_with(&prefix)) {
            return Err(UnknownSelector { text: text.to_string() });
        }
        Ok(Self { closeness: prefix.len(), prefix })
    }
}

/// A selector that names no rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownSelector {
    /// The text that was given.
    pub text: String,
}

impl fmt::Display for UnknownSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Untrusted(self.text.as_bytes());
        write!(f, "unknown code `{text}`, expected a code, the beginning of codes, a name or all")
    }
}

impl std::error::Error for UnknownSelector {}

/// Levels of rules, in layers.
///
/// ```
/// use tracemend::{FileSet, Level, Options, Policy};
///
/// let files = FileSet::single("x", b"unknown");
/// let mut report = tracemend::check(&files, &Options::default());
/// assert!(report.has_errors());
/// let policy = Policy::default().with("CM0002".parse()?, Level::Allow);
/// report.apply(&policy);
/// assert!(!report.has_errors());
/// assert_eq!(report.suppressed().get("CM0002"), Some(&1));
/// # Ok::<(), tracemend::UnknownSelector>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    layers: Vec<Vec<(Selector, Level)>>,
}

impl Policy {
    /// Returns the policy with a level in its last layer.
    #[must_use]
    pub fn with(mut self, selector: Selector, level: Level) -> Self {
        match self.layers.last_mut() {
            Some(layer) => layer.push((selector, level)),
            None => self.layers.push(vec![(selector, level)]),
        }
        self
    }

    /// Returns the policy with the layers of another one over its own.
    #[must_use]
    pub fn then(mut self, over: &Self) -> Self {
        self.layers.extend(over.layers.iter().cloned());
        self
    }

    /// Returns the level of a rule; `None` if the policy does not name it, so that each finding
    /// keeps its severity.
    pub fn level(&self, rule: &Rule) -> Option<Level> {
        self.level_of_code(rule.code)
    }

    fn level_of_code(&self, code: &str) -> Option<Level> {
        let in_layer = |layer: &Vec<(Selector, Level)>| {
            let selecting = layer.iter().filter(|(selector, _)| selector.selects_code(code));
            let closest = selecting.max_by_key(|(selector, level)| (selector.closeness, *level));
            closest.map(|(_, level)| *level)
        };
        self.layers.iter().rev().find_map(in_layer)
    }

    /// Returns the rules that the policy names although they do not exist any more.
    pub fn deleted(&self) -> impl Iterator<Item = &'static DeletedRule> {
        let selectors = self.layers.iter().flatten().map(|(selector, _)| selector);
        selectors.filter_map(|selector| catalogue::deleted_rule(&selector.prefix))
    }

    /// Returns whether the policy names no rule.
    pub fn is_empty(&self) -> bool {
        self.layers.iter().all(Vec::is_empty)
    }
}

impl Report {
    /// Sets the severity of the findings whose rules the policy names, and suppresses those that it
    /// allows. The verdict of a reached limit and of an unreadable recording stays.
    pub fn apply(&mut self, policy: &Policy) {
        if policy.is_empty() {
            return;
        }
        self.judge_again(|code, severity| match policy.level_of_code(code) {
            Some(level) => level.severity(),
            None => Some(severity),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(entries: &[(&str, Level)]) -> Policy {
        let with = |policy: Policy, (text, level): &(&str, Level)| {
            policy.with(text.parse().unwrap(), *level)
        };
        entries.iter().fold(Policy::default(), with)
    }

    fn level(policy: &Policy, code: &str) -> Option<Level> {
        policy.level(crate::rule(code).unwrap())
    }

    #[test]
    fn the_closest_selector_decides_and_the_strictest_of_equals() {
        let one = policy(&[
            ("all", Level::Deny),
            ("RV", Level::Warn),
            ("rv00", Level::Allow),
            ("gamepad-name", Level::Warn),
            ("RV0012", Level::Deny),
        ]);
        assert_eq!(level(&one, "CM0001"), Some(Level::Deny));
        assert_eq!(level(&one, "RV2010"), Some(Level::Warn));
        assert_eq!(level(&one, "RV0013"), Some(Level::Allow));
        assert_eq!(level(&one, "RV0012"), Some(Level::Deny));
        assert_eq!(level(&Policy::default(), "RV2010"), None);
    }

    #[test]
    fn the_last_layer_that_names_a_rule_decides() {
        let file = policy(&[("PD2004", Level::Allow), ("QR", Level::Warn)]);
        let both = file.then(&policy(&[("PD", Level::Deny)]));
        assert_eq!(level(&both, "PD2004"), Some(Level::Deny));
        assert_eq!(level(&both, "QR3003"), Some(Level::Warn));
        assert_eq!(level(&both, "CM0001"), None);
        assert!(Policy::default().is_empty() && !both.is_empty());
    }

    #[test]
    fn a_selector_that_names_no_rule_is_an_error() {
        for wrong in ["", "P", "ZZ", "PD20045", "al", "-", "x\u{1b}"] {
            let error = wrong.parse::<Selector>().unwrap_err().to_string();
            assert!(error.chars().all(crate::is_safe), "{error:?}");
        }
        let name: Selector = "empty-file".parse().unwrap();
        assert_eq!(Ok(name), "cm0001".parse());
    }

    #[test]
    fn a_deleted_rule_can_be_named_and_is_listed() {
        let policy = policy(&[("at2019", Level::Deny), ("blob-size", Level::Allow)]);
        let deleted: Vec<&str> = policy.deleted().map(|rule| rule.code).collect();
        assert_eq!(deleted, ["AT2019", "AT2020"]);
    }
}
