//! The metadata of a stream or process: names, ids, versions, and members that programs add.

use std::ops::Range;

use super::host_of;
use crate::formats::ovni::decode::json::{Item, Json, Kind};
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::sight::filler::Filler;
use crate::sight::rules::sender;
use crate::sight::{Auditor, Excerpt, Place, harmless};

/// Members that libovni and the runtimes write, by their paths; `*` stands for any key that is a
/// number or the name of a model.
const KNOWN: &[&str] = &[
    "version",
    "app_id",
    "rank",
    "nranks",
    "cpus",
    "cpus[]",
    "cpus[].index",
    "cpus[].phyid",
    "ovni",
    "ovni.lib",
    "ovni.lib.version",
    "ovni.lib.commit",
    "ovni.part",
    "ovni.tid",
    "ovni.pid",
    "ovni.loom",
    "ovni.app_id",
    "ovni.rank",
    "ovni.nranks",
    "ovni.finished",
    "ovni.require",
    "ovni.require.*",
    "ovni.loom_cpus",
    "ovni.loom_cpus[]",
    "ovni.loom_cpus[].index",
    "ovni.loom_cpus[].phyid",
    "ovni.mark",
    "ovni.mark.*",
    "ovni.mark.*.title",
    "ovni.mark.*.chan_type",
    "ovni.mark.*.labels",
    "ovni.mark.*.labels.*",
    "nosv",
    "nosv.can_breakdown",
    "nosv.lib",
    "nosv.lib.version",
    "nosv.lib.commit",
    "nanos6",
    "nanos6.can_breakdown",
    "nodes",
    "openmp",
    "mpi",
    "mpi.rank",
    "mpi.nranks",
    "tampi",
    "kernel",
];

/// Names of models.
const MODELS: &[&str] = &["ovni", "nosv", "nanos6", "nodes", "kernel", "mpi", "tampi", "openmp"];

/// Texts that libovni writes by itself.
const WORDS: &[&[u8]] = &[b"thread", b"single", b"stack", b"unknown"];

/// A file of metadata.
pub(super) struct Metadata<'j, 'a> {
    pub(super) json: &'j Json<'a>,
    pub(super) layer: Layer,
}

impl Metadata<'_, '_> {
    fn place(&self, item: &Item<'_, '_>) -> Place {
        let span = item.span();
        Span::new(self.layer, span.start, span.end).into()
    }

    /// Returns the text of a string with its place between the quotes.
    fn text(&self, item: &Item<'_, '_>) -> (String, Place) {
        let text = item.text().unwrap_or_default();
        let place = self.inner(&item.span(), &text);
        (text, place)
    }

    /// Returns the place of a text between its quotes.
    fn inner(&self, span: &Range<u64>, text: &str) -> Place {
        let inner = span.start.saturating_add(1)..span.end.saturating_sub(1);
        let place = Place::from(Span::new(self.layer, inner.start, inner.end));
        if self.json.slice(&inner) == text.as_bytes() { place } else { place.unescaped() }
    }

    /// Judges the members and the bytes between them.
    pub(super) fn audit(&self, auditor: &mut Auditor<'_>) {
        // Nothing recurses: a recording decides how deep values nest.
        let mut left = vec![(self.json.root(), String::new(), true)];
        let mut claimed: Vec<Range<u64>> = Vec::new();
        while let Some((item, path, is_known)) = left.pop() {
            claimed.extend(item.key_span());
            if !is_known {
                self.audit_additional(auditor, &item);
            }
            match item.kind() {
                Kind::Object | Kind::Array => {
                    let is_array = item.kind() == Kind::Array;
                    for member in item.items() {
                        let inner = join(&path, &member.key(), is_array);
                        // An unknown member is judged with all that it holds.
                        let is_inside = is_known && KNOWN.contains(&inner.as_str());
                        left.push((member, inner, is_inside));
                    }
                }
                Kind::String => {
                    claimed.push(item.span());
                    if is_known {
                        self.audit_text(auditor, &item, &path);
                    }
                }
                Kind::Number(_) | Kind::Bool(_) | Kind::Null => claimed.push(item.span()),
            }
        }
        for (path, noun) in [("ovni.pid", "process id"), ("ovni.tid", "thread id")] {
            let Some(id) = self.json.root().path(path) else { continue };
            auditor.see(&sender::PROCESS, (path, noun), self.place(&id), Excerpt::None);
        }
        claimed.sort_by_key(|range| range.start);
        self.audit_between(auditor, &claimed);
    }

    /// Judges a member that the format does not need: its key, and its value if it is a text. The
    /// meaning of other values is not known.
    fn audit_additional(&self, auditor: &mut Auditor<'_>, member: &Item<'_, '_>) {
        let (key, subject) = (member.key(), ("metadata", "additional member"));
        let excerpt = Excerpt::Text(key.as_bytes());
        auditor.text("metadata", key.as_bytes(), self.place(member));
        if let Some(span) = member.key_span() {
            let private = self.inner(&span, &key).private(key.as_bytes(), Filler::Name);
            let subject = ("metadata", "additional key");
            auditor.hide(&sender::EXTRA_METADATA, subject, 1, private, excerpt);
        }
        match member.kind() {
            Kind::String => {
                let (text, place) = self.text(member);
                auditor.argument("metadata", text.as_bytes(), place);
                let private = place.private(text.as_bytes(), Filler::Name);
                auditor.hide(&sender::EXTRA_METADATA, subject, 1, private, excerpt);
            }
            Kind::Object | Kind::Array => {}
            Kind::Number(_) | Kind::Bool(_) | Kind::Null => {
                auditor.see(&sender::EXTRA_METADATA, subject, self.place(member), excerpt);
            }
        }
    }

    /// Judges a text of a member that the format has.
    fn audit_text(&self, auditor: &mut Auditor<'_>, item: &Item<'_, '_>, path: &str) {
        let (text, place) = self.text(item);
        let text = text.as_bytes();
        auditor.argument("metadata", text, place);
        if path == "ovni.loom" {
            let name = String::from_utf8_lossy(text).into_owned();
            let host = text.get(..host_of(&name).len()).unwrap_or(text);
            let private = place.of_part(text, host).private(host, Filler::Name);
            let subject = ("ovni.loom", "host name");
            auditor.hide(&sender::HOST_NAME, subject, 1, private, Excerpt::Text(text));
        } else if !harmless::is_number(text) && !WORDS.contains(&text) {
            let (rule, noun) = match path.ends_with(".commit") || path.ends_with(".version") {
                true => (&sender::SYSTEM, "version"),
                false => (&sender::CHOSEN_NAME, "chosen name"),
            };
            let private = place.private(text, Filler::Name);
            auditor.hide(rule, ("metadata", noun), 1, private, Excerpt::Text(text));
        }
    }

    /// Judges the bytes between keys and values: comments, and what follows the last one.
    fn audit_between(&self, auditor: &mut Auditor<'_>, claimed: &[Range<u64>]) {
        let end = self.json.text_len();
        let starts = [0].into_iter().chain(claimed.iter().map(|range| range.end));
        let ends = claimed.iter().map(|range| range.start).chain([end]);
        for (start, end) in starts.zip(ends) {
            let bytes = self.json.slice(&(start..end));
            let is_plain = |byte: &u8| b" \t\r\n{}[]:,".contains(byte);
            let Some(first) = bytes.iter().position(|byte| !is_plain(byte)) else { continue };
            let last = bytes.iter().rposition(|byte| !is_plain(byte)).unwrap_or(first);
            // A comment begins and ends with its signs.
            let part = bytes.get(first..=last).unwrap_or_default();
            let at = start.saturating_add(to_u64(first));
            let place = Place::from(Span::sized(self.layer, at, to_u64(part.len())));
            let (subject, excerpt) = (("metadata", "comment"), Excerpt::Text(part));
            let private = place.private(part, Filler::Spaces);
            auditor.hide(&sender::UNKNOWN_CONTENT, subject, 1, private, excerpt);
        }
    }
}

/// Returns the path of a member.
fn join(path: &str, key: &str, is_array: bool) -> String {
    if is_array {
        return format!("{path}[]");
    }
    let is_number = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
    // Only models are required.
    let is_any = if path == "ovni.require" { MODELS.contains(&key) } else { is_number };
    let key = if is_any { "*" } else { key };
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}
