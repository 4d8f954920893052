//! Takes what a format reads, and judges it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::kit::field_log::{FieldLog, FieldValue};
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::words::plural;
use crate::model::recording::FileSet;
use crate::model::tile::{Fields, Tile, TileKind};
use crate::model::{Concern, Finding, Report, Rule};
use crate::sight::content::{Content, LOOKED_AT, look_at};
use crate::sight::excerpt::Excerpt;
use crate::sight::filler::Filler;
use crate::sight::place::{NamePart, Place, Private, PrivateSink, Subject, find_byte, find_end};
use crate::sight::rules::{recipient, sender};
use crate::sight::text;

/// The options of an audit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditRequest {
    /// Whether excerpts are shown instead of masked.
    pub show: bool,
    /// The concern to look for; both if it is `None`.
    pub concern: Option<Concern>,
}

impl AuditRequest {
    /// Shows excerpts instead of masking them.
    #[must_use]
    pub const fn with_shown(mut self, show: bool) -> Self {
        self.show = show;
        self
    }

    /// Looks for one concern only, if there is one.
    #[must_use]
    pub const fn with_concern(mut self, concern: Option<Concern>) -> Self {
        self.concern = concern;
        self
    }
}

/// All sightings of a rule in a field.
struct Topic {
    rule: &'static Rule,
    noun: &'static str,
    count: u64,
    first: Place,
    notes: Vec<String>,
}

/// Takes what a format reads, and judges it.
pub struct Auditor<'r> {
    request: &'r AuditRequest,
    files: &'r FileSet<'r>,
    topics: BTreeMap<(&'static str, &'static str), Topic>,
    /// The length of each expanded layer.
    expanded: BTreeMap<Layer, u64>,
    /// Whether the argument before announced a secret.
    awaits_secret: bool,
    /// Takes every sighting of private content, if all are wanted.
    sink: Option<&'r mut dyn PrivateSink>,
    /// The places of the errors of a check.
    errors: Vec<Span>,
}

impl<'r> Auditor<'r> {
    /// Creates a judge of a recording, without a sighting.
    pub fn new(request: &'r AuditRequest, files: &'r FileSet<'r>) -> Self {
        let (topics, expanded) = (BTreeMap::new(), BTreeMap::new());
        let errors = Vec::new();
        Self { request, files, topics, expanded, awaits_secret: false, sink: None, errors }
    }

    /// Judges a recording with the errors of `checked`.
    #[must_use]
    pub fn with_errors(mut self, checked: &Report) -> Self {
        self.errors = checked.errors().collect();
        self
    }

    /// Returns the stored places of the errors of the recording, in no particular order.
    pub fn errors(&self) -> &[Span] {
        &self.errors
    }

    /// Passes every sighting of private content to `sink` as well.
    #[must_use]
    pub fn with_sink(mut self, sink: &'r mut dyn PrivateSink) -> Self {
        self.sink = Some(sink);
        self
    }

    /// Returns the bytes of a file of the recording.
    pub fn bytes(&self, file: u32) -> Source<'r> {
        self.files.bytes(file)
    }

    /// Adds `count` sightings; the first one of a rule in a field is described.
    pub fn add(
        &mut self,
        rule: &'static Rule,
        subject: Subject,
        count: u64,
        place: impl Into<Place>,
        excerpt: Excerpt<'_>,
    ) {
        if let Some(sink) = &mut self.sink {
            sink.keep(rule, subject, count);
        }
        self.add_topic(rule, subject, count, place, excerpt);
    }

    /// Adds `count` sightings of private bytes, unless they are a filler already.
    pub fn hide(
        &mut self,
        rule: &'static Rule,
        subject: Subject,
        count: u64,
        private: Private<'_>,
        excerpt: Excerpt<'_>,
    ) {
        if self.is_filled(&private) {
            return;
        }
        // Other fillers do not depend on the bytes, of which there may be many.
        let bytes = self.sink.is_some().then(|| match private.filler {
            Filler::Name => self.read_all(&private),
            _ => Cow::Borrowed(private.bytes),
        });
        if let (Some(sink), Some(bytes)) = (&mut self.sink, bytes) {
            sink.take(rule, subject, count, &Private { bytes: &bytes, ..private });
        }
        if count > 0 {
            self.add_topic(rule, subject, count, private.place, excerpt);
        }
    }

    /// Adds `count` sightings of a private part of the name of a file.
    pub fn hide_name(
        &mut self,
        rule: &'static Rule,
        subject: Subject,
        count: u64,
        name: NamePart<'_>,
    ) {
        if Filler::Name.recognises(name.part.as_bytes()) {
            return;
        }
        if let Some(sink) = &mut self.sink {
            sink.rename(rule, subject, count, name);
        }
        if count > 0 {
            let place = Span::new(Layer::stored(name.file), 0, 0);
            self.add_topic(rule, subject, count, place, Excerpt::Text(name.part.as_bytes()));
        }
    }

    /// Whether private bytes are a filler already.
    fn is_filled(&self, private: &Private<'_>) -> bool {
        let Private { bytes, filler, .. } = private;
        let may_be = !private.differs_later && (bytes.is_empty() || filler.recognises(bytes));
        may_be && filler.recognises(&self.read_all(private))
    }

    /// Returns all private bytes if they lie in a file, and the known ones of an expanded layer.
    fn read_all<'t>(&self, private: &Private<'t>) -> Cow<'t, [u8]> {
        let span = private.place.span;
        if !span.layer.is_stored() || to_u64(private.bytes.len()) >= span.len() {
            return Cow::Borrowed(private.bytes);
        }
        let source = self.files.bytes(span.layer.file);
        Cow::Owned(source.read(span.start, span.end).into_owned())
    }

    fn add_topic(
        &mut self,
        rule: &'static Rule,
        (field, noun): Subject,
        count: u64,
        place: impl Into<Place>,
        excerpt: Excerpt<'_>,
    ) {
        if self.request.concern.is_some_and(|wanted| Concern::of(rule) != Some(wanted)) {
            return;
        }
        let show = self.request.show;
        let topic = self.topics.entry((rule.code, field)).or_insert_with(|| {
            let notes = excerpt.describe(show).into_iter().collect();
            Topic { rule, noun, count: 0, first: place.into(), notes }
        });
        topic.count = topic.count.saturating_add(count);
    }

    /// Adds one sighting.
    pub fn see(
        &mut self,
        rule: &'static Rule,
        subject: Subject,
        place: impl Into<Place>,
        excerpt: Excerpt<'_>,
    ) {
        self.add(rule, subject, 1, place, excerpt);
    }

    /// Judges the characters of a text.
    pub fn text(&mut self, field: &'static str, text: &[u8], place: Place) {
        if text::has_control(text) {
            let subject = (field, "unsafe text");
            self.see(&recipient::CONTROL_CHARACTERS, subject, place, Excerpt::Text(text));
        }
        if text::has_hidden(text) {
            let subject = (field, "deceptive text");
            self.see(&recipient::HIDDEN_CHARACTERS, subject, place, Excerpt::Text(text));
        }
    }

    /// Judges a path that a reader may open.
    pub fn path(&mut self, field: &'static str, path: &[u8], place: Place) {
        self.text(field, path, place);
        if text::climbs(path) {
            let subject = (field, "climbing path");
            self.see(&recipient::PATH_CLIMBS, subject, place, Excerpt::Text(path));
        }
        if text::is_device(path) {
            let subject = (field, "device path");
            self.see(&recipient::DEVICE_PATH, subject, place, Excerpt::Text(path));
        }
        if text::is_file_path(path) {
            let private = place.private(path, Filler::Name);
            let excerpt = Excerpt::Text(path);
            self.hide(&sender::FILE_PATH, (field, "file path"), 1, private, excerpt);
        }
        self.user(field, path, place);
    }

    /// Judges an argument of a command line, or a text that may hold one.
    pub fn argument(&mut self, field: &'static str, text: &[u8], place: Place) {
        self.text(field, text, place);
        self.user(field, text, place);
        let is_awaited = std::mem::replace(&mut self.awaits_secret, text::announces_secret(text));
        let secret = text::find_secret(text).or(is_awaited.then_some(text));
        if let Some(secret) = secret.filter(|secret| !secret.is_empty()) {
            let private = place.of_part(text, secret).private(secret, Filler::Name);
            let excerpt = Excerpt::Text(secret);
            self.hide(&sender::SECRET, (field, "likely secret"), 1, private, excerpt);
        }
    }

    fn user(&mut self, field: &'static str, text: &[u8], place: Place) {
        if let Some(user) = text::find_user(text) {
            let private = place.of_part(text, user).private(user, Filler::Name);
            let excerpt = Excerpt::Text(user);
            self.hide(&sender::USER_NAME, (field, "user name"), 1, private, excerpt);
        }
    }

    /// Judges bytes whose content the format does not define.
    pub fn blob(&mut self, field: &'static str, bytes: &[u8], place: Place) {
        let looks = look_at(bytes);
        let (rule, noun) = match looks {
            Content::Executable(_) => (&recipient::EXECUTABLE_CONTENT, "executable part"),
            Content::Archive(_) => (&recipient::EMBEDDED_FILE, "archive or document"),
            _ => return,
        };
        let content = looks.to_string();
        self.see(rule, (field, noun), place, Excerpt::Fact(&content));
    }

    /// Judges bytes that no structure claims. `len` is their number, `bytes` the first of them.
    pub fn unclaimed(&mut self, field: &'static str, (bytes, len): (&[u8], u64), place: Place) {
        let content = format!("the first bytes look like {}", look_at(bytes));
        let subject = (field, "unclaimed byte");
        let private = place.private(bytes, Filler::Zeros);
        self.hide(&recipient::UNCLAIMED_BYTES, subject, len, private, Excerpt::Fact(&content));
        self.blob(field, bytes, place);
    }

    /// Judges bytes that no decoder can read. `len` is their number, `bytes` the first of them.
    pub fn damaged(&mut self, field: &'static str, (bytes, len): (&[u8], u64), place: Place) {
        let content = format!("the first bytes look like {}", look_at(bytes));
        let (subject, rule) = ((field, "unclaimed byte"), &recipient::UNCLAIMED_BYTES);
        self.add_topic(rule, subject, len, place, Excerpt::Fact(&content));
        let private = place.private(bytes, Filler::Blank);
        let subject = (field, "damaged byte");
        self.hide(&sender::DAMAGE, subject, len, private, Excerpt::None);
        self.blob(field, bytes, place);
    }

    /// Judges the bytes after the end of a text in a field of fixed length.
    pub fn after_text(&mut self, field: &'static str, bytes: &[u8], place: Place) {
        let text_len = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        let rest = bytes.get(text_len..).unwrap_or_default();
        let zeros = rest.iter().take_while(|byte| **byte == 0).count();
        let hidden = rest.get(zeros..).unwrap_or_default();
        if !hidden.is_empty() {
            let place = place.of_part(bytes, hidden);
            self.unclaimed(field, (hidden, to_u64(hidden.len())), place);
        }
    }

    /// Judges a tile without its fields, of which damage has a length at most.
    pub(super) fn tile(&mut self, tile: &Tile, fields: Fields<'_>) {
        let span = tile.span;
        if !span.layer.is_stored() {
            self.expanded.insert(span.layer, span.end);
        }
        let is_unclaimed = match tile.kind {
            TileKind::Damage => true,
            // The recorder's own release of the return key has a place in the format.
            TileKind::Padding => tile.name != "enter pair",
            TileKind::Structure | TileKind::Record => false,
        };
        if !is_unclaimed {
            return;
        }
        let source = self.files.bytes(span.layer.file);
        if !span.layer.is_stored() {
            let subject = (tile.name, "unclaimed byte");
            self.add_topic(&recipient::UNCLAIMED_BYTES, subject, span.len(), span, Excerpt::None);
            let subject = (tile.name, "damaged byte");
            self.add(&sender::DAMAGE, subject, span.len(), span, Excerpt::None);
        } else if tile.kind == TileKind::Damage {
            let start = span.start.saturating_add(length_len(span, fields));
            // Zeros at the end are no content: a disk that lost a page gives them.
            let rest = Span::new(span.layer, start, find_end(&source, span).max(start));
            let bytes = source.read(start, rest.end.min(start.saturating_add(to_u64(LOOKED_AT))));
            if !rest.is_empty() {
                self.damaged(tile.name, (&bytes, rest.len()), rest.into());
            }
        } else if let Some(at) = find_byte(&source, span) {
            let end = span.end.min(at.saturating_add(to_u64(LOOKED_AT)));
            let bytes = source.read(at, end);
            self.unclaimed(tile.name, (&bytes, span.len()), span.into());
        }
    }

    /// Returns the number of topics.
    #[cfg(test)]
    pub(super) fn topic_count(&self) -> usize {
        self.topics.len()
    }

    /// Takes the length of each expanded layer whose tiles were judged.
    pub fn take_expanded(&mut self) -> BTreeMap<Layer, u64> {
        std::mem::take(&mut self.expanded)
    }

    /// Adds the findings to a report.
    pub fn finish(self, report: &mut Report) {
        for ((_, field), topic) in self.topics {
            let Topic { rule, noun, count, first, notes } = topic;
            let message = format!("{} in {field}", plural(count, noun));
            let mut finding = Finding::new(rule, first.span, field, message);
            (finding.stored, finding.notes) = (first.stored, notes);
            report.push(finding);
        }
    }
}

/// Returns the length of the number that damage begins with, if it is the length of the rest: the
/// units after it are found by it.
fn length_len(span: Span, fields: Fields<'_>) -> u64 {
    let log = FieldLog::new(1);
    fields(&log);
    let first = log.into_noted().fields.into_iter().next();
    let len = first.and_then(|field| match field.value {
        FieldValue::Number(rest) if field.span.start == span.start => {
            let len = field.span.len();
            (len.checked_add(rest) == Some(span.len())).then_some(len)
        }
        _ => None,
    });
    len.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sightings_of_one_rule_in_one_field_are_one_finding() {
        let files = FileSet::default();
        let request = AuditRequest::default();
        let mut auditor = Auditor::new(&request, &files);
        let place = Place::from(Span::new(Layer::stored(0), 4, 8));
        for name in [&b"ab\x1bc"[..], b"c\x1bd"] {
            auditor.text("name", name, place);
        }
        auditor.argument("argument", b"--token", place);
        auditor.argument("argument", b"hunter2", place);
        auditor.argument("argument", b"hunter2", place);
        let mut report = Report::new(None, 8, 10);
        auditor.finish(&mut report);
        let lines: Vec<String> =
            report.findings().iter().map(|one| format!("{one} {:?}", one.notes)).collect();
        assert_eq!(
            lines,
            [
                "2 unsafe texts in name [\"the first is a…c (4 bytes)\"]",
                "1 likely secret in argument [\"the first is h…2 (7 bytes)\"]",
            ]
        );
    }

    #[test]
    fn bytes_after_the_end_of_a_text_are_unclaimed() {
        let files = FileSet::default();
        let request = AuditRequest::default().with_shown(true);
        let mut auditor = Auditor::new(&request, &files);
        let place = Place::from(Span::new(Layer::stored(0), 0, 8));
        auditor.after_text("sound", b"vm\0\0\0\0", place);
        auditor.after_text("odd", b"vm\0\0#!/bin/sh", place);
        let codes: Vec<_> = auditor.topics.keys().copied().collect();
        assert_eq!(codes, [("AU0007", "odd"), ("AU0008", "odd")]);
    }
}
