//! Replaces private content by fillers of the same length.
//!
//! ```text
//!  check -> audit, each sighting to a Collector -> edits -> Patch
//!    v
//!  check again: no fault more, as many records          audit again: nothing left to replace
//!    v
//!  Repair, as that of any repair, and the sightings that have no filler
//! ```
//!
//! - `collect`: sightings to edits
//! - `names`: pseudonyms
//! - `attempt`: one way to redact a recording, and whether it does harm
//! - `damage`: which damage can be blanked
//! - `rounds`: a recording with errors, until nothing changes
//!
//! A format passes what is private to the audit; nothing else looks for it. So whatever an audit
//! reports is either replaced or listed as left.

mod attempt;
mod collect;
mod damage;
mod names;
mod rounds;

use std::fmt;

use crate::format::StoreError;
use crate::kit::text::Untrusted;
use crate::kit::words::plural;
use crate::mend::rounds::Repair;
use crate::model::Rule;
use crate::sight::rules::{recipient, sender};
pub(crate) use rounds::redact;

/// The kinds of content to replace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedactRequest {
    /// The rules of the only kinds to replace; all if it is empty.
    pub only: Vec<&'static Rule>,
    /// The rules of the kinds to leave as they are.
    pub keep: Vec<&'static Rule>,
}

impl RedactRequest {
    /// Adds a kind to those that are replaced; without any, all are.
    #[must_use]
    pub fn with_only(mut self, kind: &'static Rule) -> Self {
        self.only.push(kind);
        self
    }

    /// Adds a kind that is left as it is.
    #[must_use]
    pub fn with_kept(mut self, kind: &'static Rule) -> Self {
        self.keep.push(kind);
        self
    }

    /// Returns the kinds that can be named: the rules about private content, and unclaimed bytes,
    /// which can hold anything.
    pub fn kinds() -> impl Iterator<Item = &'static Rule> {
        sender::RULES.iter().copied().chain([&recipient::UNCLAIMED_BYTES])
    }

    /// Returns the kind with this name or code.
    ///
    /// # Errors
    ///
    /// A sentence with the kinds that exist.
    pub fn kind(word: &str) -> Result<&'static Rule, String> {
        let found = Self::kinds().find(|rule| rule.name == word || rule.code == word);
        found.ok_or_else(|| {
            let kinds: Vec<&str> = Self::kinds().map(|rule| rule.name).collect();
            let word = Untrusted(word.as_bytes());
            format!("unknown kind `{word}`, expected one of: {}", kinds.join(", "))
        })
    }

    fn selects(&self, rule: &'static Rule) -> bool {
        // Codes are compared: two equal rules are equal in each of their texts.
        let is_kind = Self::kinds().any(|kind| kind.code == rule.code);
        let has = |list: &[&'static Rule]| {
            let is_all = |one: &Rule| one.code == sender::ADDRESS.code && is_address(rule);
            list.iter().any(|one| one.code == rule.code || is_all(one))
        };
        is_kind && (self.only.is_empty() || has(&self.only)) && !has(&self.keep)
    }
}

/// Whether a kind is one of addresses. Those of the kernel can be selected alone.
fn is_address(rule: &Rule) -> bool {
    [sender::ADDRESS.code, sender::KERNEL_ADDRESS.code].contains(&rule.code)
}

/// Private content of a kind in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sighting {
    /// The rule of the kind.
    pub rule: &'static Rule,
    /// The field or section.
    pub field: &'static str,
    /// The noun for what the field has, in the singular.
    pub noun: &'static str,
    /// The number of places.
    pub count: u64,
}

impl Sighting {
    /// Returns why the content is left as it is.
    pub fn reason(&self) -> &'static str {
        match self.rule {
            rule if is_address(rule) => {
                "it lies in no map that can be moved, or is looked up as it is"
            }
            rule if *rule == sender::PROCESS => "the recording is laid out by these ids",
            rule if *rule == sender::UNKNOWN_CONTENT => "its meaning is not known",
            rule if *rule == sender::DAMAGE => {
                "it was to be kept, or the recording would be worse without it"
            }
            _ => "no filler of the same length is valid there",
        }
    }
}

impl fmt::Display for Sighting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {} ({})", plural(self.count, self.noun), self.field, self.rule.code)
    }
}

/// A recording with fillers in the place of private content.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Redaction {
    /// The edits, with the reports before and after, as those of any repair.
    ///
    /// A [`Plan`](crate::Plan) of it holds the private bytes.
    pub repair: Repair,
    /// The content that was replaced.
    pub redacted: Vec<Sighting>,
    /// The selected content that is left.
    pub left: Vec<Sighting>,
    /// The number of names that have a pseudonym in common with another one, because they are too
    /// short for a number: readers take them for one.
    pub shared_names: u64,
}

impl Redaction {
    /// Returns whether bytes of damage were replaced.
    pub fn has_blanked_damage(&self) -> bool {
        self.redacted.iter().any(|one| *one.rule == sender::DAMAGE)
    }
}

/// The reason why a recording was not redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedactError {
    /// No format recognises the recording.
    UnknownFormat,
    /// No record can be read: nothing would be left.
    Unreadable,
    /// A limit was reached.
    Limit(String),
    /// The format cannot store the expanded bytes anew.
    Stored(&'static str),
    /// The recording would be worse, or private content would be left.
    Harm(String),
}

impl fmt::Display for RedactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFormat => f.write_str("unknown format"),
            Self::Unreadable => f.write_str(
                "no record can be read: all bytes are damaged, so nothing would be left",
            ),
            Self::Limit(limit) => f.write_str(limit),
            Self::Stored(reason) => f.write_str(reason),
            Self::Harm(harm) => write!(f, "the redacted recording would be worse: {harm}"),
        }
    }
}

impl std::error::Error for RedactError {}

impl From<StoreError> for RedactError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Limit(reason) => Self::Limit(reason.to_string()),
            StoreError::Unsupported(reason) => Self::Stored(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::collect::Kinds;
    use super::*;

    #[test]
    fn a_sighting_that_is_left_has_the_reason_of_its_rule() {
        let reason = |rule| Sighting { rule, field: "sample", noun: "place", count: 1 }.reason();
        assert!(reason(&sender::KERNEL_ADDRESS).contains("map"));
        assert!(reason(&sender::PROCESS).contains("ids"));
        assert!(reason(&sender::COMMAND_LINE).contains("filler"));
    }

    #[test]
    fn every_kind_has_a_bit() {
        let all = RedactRequest::kinds().fold(Kinds::default(), |all, kind| all.with(kind.into()));
        assert_eq!(all.rules().collect::<Vec<_>>(), RedactRequest::kinds().collect::<Vec<_>>());
    }
}
