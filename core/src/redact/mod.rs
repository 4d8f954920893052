//! Replaces private content by fillers of the same length.
//!
//! ```text
//!  check (no errors) -> audit, each sighting to a Collector -> edits -> Patch
//!    v
//!  check again: no fault more, as many records          audit again: nothing left to replace
//!    v
//!  Repair, as that of any repair, and the sightings that have no filler
//! ```
//!
//! - `collect`: sightings to edits
//! - `names`: pseudonyms
//!
//! A format passes what is private to the audit; nothing else looks for it. So whatever an audit
//! reports is either replaced or listed as left.

mod collect;
mod names;

use std::collections::BTreeMap;
use std::fmt;

use crate::audit::sight;
use crate::catalogue;
use crate::format::{Format, StoreError};
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::kit::words::{byte_count, plural};
use crate::mend::applied::Applied;
use crate::mend::beginning::recognise;
use crate::mend::reading::check;
use crate::mend::rounds::{Outcome, Repair, view};
use crate::mend::trial::find_harm;
use crate::mend::view::patch_files;
use crate::model::edit::{Edit, Safety};
use crate::model::limits::REDACTED;
use crate::model::options::Options;
use crate::model::patch::Patch;
use crate::model::recording::FileSet;
use crate::model::{Finding, Report, Rule, Severity};
use crate::sight::rules::{recipient, sender};
use collect::{Collector, Kinds, Replaced, sort};

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

/// The reason why a recording was not redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedactError {
    /// No format recognises the recording.
    UnknownFormat,
    /// The recording has this many errors: bytes that cannot be decoded may be private.
    Damaged(u64),
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
            Self::Damaged(errors) => {
                let errors = plural(*errors, "error");
                write!(f, "the recording has {errors}: damaged bytes may be private, too")
            }
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

/// Redacts a recording, see [`crate::redact()`].
pub(crate) fn redact(
    files: &FileSet<'_>,
    options: &Options,
    request: &RedactRequest,
) -> Result<Redaction, RedactError> {
    let mut options = options.clone();
    options.format = recognise(files, &options);
    let before = check(files, &options);
    let format = before.format.filter(|_| !files.is_empty()).and_then(catalogue::format);
    let format = format.ok_or(RedactError::UnknownFormat)?;
    refuse_damaged(&before)?;
    let attempt = |left: &[&'static Rule]| {
        Attempt { files, options: &options, format, request, left }.run(&before)
    };
    let mut result = attempt(&[]);
    // Nothing is known about some bytes: a reader may need them. Addresses are in every sample, and
    // the rest can do without their edits.
    for left in LEFT_IF_NEEDED {
        let helps = match result {
            Err(RedactError::Harm(_) | RedactError::Stored(_)) => true,
            Err(RedactError::Limit(_)) => left.contains(&&sender::ADDRESS),
            _ => return result,
        };
        let is_named = left.iter().any(|rule| request.only.contains(rule));
        if helps && !(is_named && left.contains(&&sender::ADDRESS)) {
            result = attempt(left);
        }
    }
    result
}

/// Kinds that are left, and named, if the recording would be worse without them, or if all edits
/// take more than the limit.
const LEFT_IF_NEEDED: [&[&Rule]; 4] = [
    &[&sender::UNKNOWN_CONTENT],
    &[&sender::UNKNOWN_CONTENT, &sender::CHOSEN_NAME, &sender::EXTRA_METADATA],
    &[&sender::ADDRESS, &sender::KERNEL_ADDRESS],
    &[
        &sender::ADDRESS,
        &sender::KERNEL_ADDRESS,
        &sender::UNKNOWN_CONTENT,
        &sender::CHOSEN_NAME,
        &sender::EXTRA_METADATA,
    ],
];

/// A way to redact a recording.
struct Attempt<'a> {
    files: &'a FileSet<'a>,
    options: &'a Options,
    format: &'static dyn Format,
    request: &'a RedactRequest,
    /// The kinds that stay.
    left: &'a [&'static Rule],
}

impl Attempt<'_> {
    fn run(&self, before: &Report) -> Result<Redaction, RedactError> {
        let Self { files, options, format, request, left } = *self;
        let max = options.limits.of(&REDACTED);
        let mut collector = Collector::new(request, left, max);
        sight(files, options, format, &mut collector);
        if collector.is_full() {
            let max = byte_count(max);
            let limit = format!("CM9001 limit-reached: fillers and names take more than {max}");
            return Err(RedactError::Limit(format!("{limit} (limit {})", REDACTED.name)));
        }
        let [redacted, kept] = collector.sightings();
        let shared_names = collector.shared_names();
        let (patches, applied, records_gone) = patch(files, options, format, collector)?;
        let after = check(&view(files, &patches), options);
        let (outcome, before) = (Outcome::Clean, before.clone());
        let mut repair = Repair { outcome, patches, applied, before, after, refused: None };
        if repair.changes() {
            repair.outcome = Outcome::RepairedWithLoss;
        }
        refuse_harm(&repair, records_gone)?;
        self.refuse_left(&repair.output(files))?;
        Ok(Redaction { repair, redacted, left: kept, shared_names })
    }

    /// Fails if an audit of the result still finds what was to be replaced.
    fn refuse_left(&self, output: &FileSet<'_>) -> Result<(), RedactError> {
        let max = self.options.limits.of(&REDACTED);
        let mut again = Collector::new(self.request, self.left, max);
        sight(output, self.options, self.format, &mut again);
        let [redacted, _] = again.sightings();
        let is_left = again.is_full() || !again.replaced.is_empty() || !again.renamed.is_empty();
        match redacted.first() {
            Some(one) => Err(RedactError::Harm(format!("a second audit finds {one}"))),
            None if is_left => Err(RedactError::Harm("a second audit finds more".to_string())),
            None => Ok(()),
        }
    }
}

fn refuse_damaged(report: &Report) -> Result<(), RedactError> {
    if report.incomplete() {
        let message = "a limit was reached before the whole recording was read";
        return Err(RedactError::Limit(message.to_string()));
    }
    match report.count_of(Severity::Error) {
        0 => Ok(()),
        errors => Err(RedactError::Damaged(errors)),
    }
}

/// Builds the patches, and the entry of each kind of content. Also returns the number of stored
/// records that only held expanded bytes and are no longer there.
fn patch(
    files: &FileSet<'_>,
    options: &Options,
    format: &'static dyn Format,
    collector: Collector<'_>,
) -> Result<(Vec<Patch>, Vec<Applied>, u64), RedactError> {
    let Collector { replaced, renamed, .. } = collector;
    let mut places: BTreeMap<&'static str, (&'static Rule, Vec<Span>)> = BTreeMap::new();
    let (stored, expanded): (Vec<Replaced>, Vec<Replaced>) =
        sort(replaced).into_iter().partition(|one| one.edit.span.layer.is_stored());
    let mut edits: Vec<Edit> = Vec::with_capacity(stored.len());
    for Replaced { edit, kinds } in stored {
        for rule in kinds.rules() {
            places.entry(rule.code).or_insert_with(|| (rule, Vec::new())).1.push(edit.span);
        }
        edits.push(edit);
    }
    let mut records_gone = 0;
    if !expanded.is_empty() {
        let kinds = expanded.iter().fold(Kinds::default(), |all, one| all.with(one.kinds));
        let inner: Vec<Edit> = expanded.into_iter().map(|one| one.edit).collect();
        let stored = format.store(files, &inner, options).map_err(RedactError::from)?;
        let outer = stored.edits;
        records_gone = stored.records_gone;
        for rule in kinds.rules() {
            let spans = &mut places.entry(rule.code).or_insert_with(|| (rule, Vec::new())).1;
            spans.extend(outer.iter().map(|edit| edit.span));
        }
        edits.extend(outer);
        edits.sort_by_key(|edit| (edit.span.layer.file, edit.span.start));
    }
    for one in &renamed {
        let span = Span::new(Layer::stored(one.file), 0, 0);
        places.entry(one.rule.code).or_insert_with(|| (one.rule, Vec::new())).1.push(span);
    }
    let name_of = |file| renamed.iter().find(|one| one.file == file).map(|one| one.name.clone());
    let patches = patch_files(files, &edits, name_of)
        .map_err(|error| RedactError::Harm(error.to_string()))?;
    Ok((patches, places.into_values().map(describe).collect(), records_gone))
}

/// The entry of a kind of content, with the places of its edits.
fn describe((rule, places): (&'static Rule, Vec<Span>)) -> Applied {
    let span = places.first().copied();
    let span = span.unwrap_or_else(|| Span::new(Layer::stored(0), 0, 0));
    let message = format!("replaced in {}", plural(to_u64(places.len()), "place"));
    let mut applied = Applied::new(1, Finding::new(rule, span, rule.name, message), places);
    applied.class = Safety::Lossy;
    applied
}

/// Fails if the result has a fault that the recording does not have, or other records than it has
/// without the `records_gone`.
fn refuse_harm(repair: &Repair, records_gone: u64) -> Result<(), RedactError> {
    if let Some(harm) = find_harm(&repair.before, &repair.after, records_gone) {
        return Err(RedactError::Harm(harm));
    }
    refuse_damaged(&repair.after)?;
    let count = |report: &Report, gone: u64| {
        (report.tally.records.saturating_add(gone), report.tally.samples)
    };
    if count(&repair.before, 0) != count(&repair.after, records_gone) {
        return Err(RedactError::Harm("the number of records would change".to_string()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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
