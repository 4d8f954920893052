//! Collects the sightings of private content as edits.

use std::collections::BTreeMap;

use super::damage::Left;
use super::names::Names;
use super::{RedactRequest, Sighting};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::Span;
use crate::model::Rule;
use crate::model::edit::Edit;
use crate::sight::filler::Filler;
use crate::sight::rules::sender;
use crate::sight::{NamePart, Private, PrivateSink, Subject};

/// Bytes of memory that an edit takes besides the bytes that it inserts.
const EDIT_COST: u64 = 64;

/// An edit, and the kinds of content that it replaces.
#[derive(Debug)]
pub(super) struct Replaced {
    pub(super) edit: Edit,
    pub(super) kinds: Kinds,
}

/// A set of kinds: a bit for each that a request can name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds(u32);

impl From<&'static Rule> for Kinds {
    fn from(rule: &'static Rule) -> Self {
        let bits = (0..u32::BITS).zip(RedactRequest::kinds());
        Self(
            bits.filter(|(_, kind)| kind.code == rule.code).fold(0, |all, (bit, _)| all | 1 << bit),
        )
    }
}

impl Kinds {
    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the rules of the kinds.
    pub(super) fn rules(self) -> impl Iterator<Item = &'static Rule> {
        let bits = (0..u32::BITS).zip(RedactRequest::kinds());
        bits.filter(move |(bit, _)| self.0 & 1 << bit != 0).map(|(_, kind)| kind)
    }
}

/// A file that gets another name.
#[derive(Debug)]
pub(super) struct Renamed {
    pub(super) file: u32,
    pub(super) name: String,
    pub(super) rule: &'static Rule,
}

/// The number of sightings of a kind in a field.
type Counts = BTreeMap<(&'static str, Subject), (&'static Rule, u64)>;

/// The content that a redaction replaces, and that it has to leave.
#[derive(Debug)]
pub(super) struct Collector<'r> {
    request: &'r RedactRequest,
    left: Left<'r>,
    /// The places of the damage that is replaced.
    pub(super) damage: Vec<Span>,
    names: Names,
    pub(super) replaced: Vec<Replaced>,
    pub(super) renamed: Vec<Renamed>,
    redacted: Counts,
    kept: Counts,
    /// Bytes that the edits take.
    held: u64,
    max: u64,
}

impl<'r> Collector<'r> {
    /// Collects what `request` selects, as long as it takes at most `max` bytes; what is `left` is
    /// only counted.
    pub(super) fn new(request: &'r RedactRequest, left: Left<'r>, max: u64) -> Self {
        Self {
            request,
            left,
            damage: Vec::new(),
            names: Names::default(),
            replaced: Vec::new(),
            renamed: Vec::new(),
            redacted: Counts::new(),
            kept: Counts::new(),
            held: 0,
            max,
        }
    }

    /// Whether the limit was reached, so that sightings are missing.
    pub(super) fn is_full(&self) -> bool {
        self.held.saturating_add(self.names.held) > self.max
    }

    /// Returns the number of names that have a pseudonym in common with another one.
    pub(super) fn shared_names(&self) -> u64 {
        self.names.shared()
    }

    /// Returns the kinds that are replaced and those that are left.
    pub(super) fn sightings(&self) -> [Vec<Sighting>; 2] {
        [&self.redacted, &self.kept].map(|counts| {
            // A release of a key is not a sighting, but it is replaced, too.
            let seen = counts.iter().filter(|(_, (_, count))| *count > 0);
            seen.map(|(&(_, (field, noun)), &(rule, count))| Sighting { rule, field, noun, count })
                .collect()
        })
    }

    fn count(counts: &mut Counts, rule: &'static Rule, subject: Subject, count: u64) {
        let (_, sum) = counts.entry((rule.code, subject)).or_insert((rule, 0));
        *sum = sum.saturating_add(count);
    }
}

impl PrivateSink for Collector<'_> {
    fn take(&mut self, rule: &'static Rule, subject: Subject, count: u64, private: &Private<'_>) {
        let blank = self.left.blanks.of(private.place.span);
        let is_damage = *rule == sender::DAMAGE;
        if self.left.kinds.contains(&rule) || is_damage && blank.is_none() {
            self.keep(rule, subject, count);
            return;
        }
        let also = private.also.filter(|also| !self.left.kinds.contains(also));
        let mut kinds = [rule].into_iter().chain(also);
        let Some(rule) = kinds.find(|rule| self.request.selects(rule)) else {
            // Other kinds that are kept may be a part of it.
            if is_damage {
                Self::count(&mut self.kept, rule, subject, count);
            }
            return;
        };
        if self.is_full() {
            return;
        }
        let (span, filler) = (private.place.span, private.filler);
        let last = self.replaced.last();
        let is_joined = last.is_some_and(|last| can_join(last.edit.span, span));
        let cost = if is_joined { 0 } else { EDIT_COST };
        self.held = self.held.saturating_add(cost).saturating_add(span.len());
        if self.is_full() {
            return;
        }
        Self::count(&mut self.redacted, rule, subject, count);
        if is_damage {
            match self.damage.last_mut().filter(|last| can_join(**last, span)) {
                Some(last) => last.end = span.end,
                None => self.damage.push(span),
            }
        }
        let is_cut = to_u64(private.bytes.len()) < span.len() && !private.bytes.contains(&0);
        let insert = if filler == Filler::Name && is_cut {
            vec![b'_'; to_usize(span.len())]
        } else {
            let names = &mut self.names;
            let bytes = (private.bytes, span.len());
            filler.fill(bytes, blank.unwrap_or_default(), &mut |name| names.pseudonym(name))
        };
        let kinds = Kinds::from(rule);
        match self.replaced.last_mut().filter(|_| is_joined) {
            _ if span.is_empty() => {}
            Some(last) => {
                last.edit.span.end = span.end;
                last.edit.insert.extend(insert);
                last.kinds = last.kinds.with(kinds);
            }
            None => self.replaced.push(Replaced { edit: Edit::replace(span, insert), kinds }),
        }
    }

    fn keep(&mut self, rule: &'static Rule, subject: Subject, count: u64) {
        if self.request.selects(rule) || *rule == sender::DAMAGE {
            Self::count(&mut self.kept, rule, subject, count);
        }
    }

    fn rename(&mut self, rule: &'static Rule, subject: Subject, count: u64, part: NamePart<'_>) {
        if !self.request.selects(rule) || self.is_full() {
            return;
        }
        let NamePart { file, part, before, after } = part;
        let name = self.names.pseudonym(part.as_bytes());
        let name = format!("{before}{}{after}", String::from_utf8_lossy(&name));
        Self::count(&mut self.redacted, rule, subject, count);
        self.renamed.push(Renamed { file, name, rule });
    }
}

/// Whether a place begins where another one ends, so that one edit can replace both.
fn can_join(last: Span, next: Span) -> bool {
    last.layer == next.layer && last.end == next.start
}

/// Sorts edits, and leaves out those inside of others. One that overlaps another one is shortened
/// to the bytes after it.
pub(super) fn sort(mut replaced: Vec<Replaced>) -> Vec<Replaced> {
    replaced.sort_by_key(|one| {
        let span = one.edit.span;
        (span.layer, span.start, std::cmp::Reverse(span.end))
    });
    let mut last: Option<Span> = None;
    replaced.retain_mut(|one| {
        let span = one.edit.span;
        let taken = last.filter(|last| last.layer == span.layer).map_or(0, |last| last.end);
        if span.end <= taken {
            return false;
        }
        if span.start < taken {
            let cut = to_usize(taken.saturating_sub(span.start)).min(one.edit.insert.len());
            one.edit.insert.drain(..cut);
            one.edit.span = Span::new(span.layer, taken, span.end);
        }
        last = Some(span);
        true
    });
    replaced
}
