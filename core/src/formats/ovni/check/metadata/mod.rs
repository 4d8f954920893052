//! `stream.json`: every key that the emulator reads, by its own rules.
//!
//! Sources: ovni 1.14.0, src/emu/stream.c, src/emu/thread.c, src/emu/proc.c, src/emu/loom.c and
//! src/emu/model.c.

mod definitions;

use std::fmt::Display;
use std::ops::Range;

use crate::formats::ovni::check::invalid_keys::RENAME;
use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::decode::json::{Duplicate, Item, Json, JsonError, Kind};
use crate::formats::ovni::decode::trace::Document;
use crate::formats::ovni::layout::{
    METADATA_VERSION, MODEL_COUNT, MODELS, Model, Version, display_version,
};
use crate::formats::ovni::repair::build_fix;
use crate::formats::ovni::repair::members::{insert_members, version_member};
use crate::formats::ovni::rules;
use crate::formats::ovni::state::metadata::{Flaw, Identity, InvalidKey, Located, Metadata};
use crate::kit::holes::describe_trailing;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::rule::common;
use crate::model::{Finding, Rule};

/// Checks the metadata of a stream and returns its content. If it is not a JSON object, the finding
/// is left to [`ending`](super::ending), which knows what a repair can write instead.
pub fn check_metadata(document: &Document<'_>, log: &mut Log) -> Metadata {
    let json = match &document.json {
        Ok(json) => json,
        Err(error) => {
            if error.limit {
                let (span, message) = locate_error(document, error);
                let message = format!("limit reached: {message}");
                log.push(Finding::new(&common::LIMIT_REACHED, span, "stream.json", message));
            }
            return Metadata::default();
        }
    };
    if json.root().kind() != Kind::Object {
        return Metadata::default();
    }
    let has_displaced_keys = json.has_displaced_keys();
    let identity = Identity { has_displaced_keys, ..Identity::default() };
    let found = Metadata { is_readable: true, identity, ..Metadata::default() };
    let mut check = MetadataCheck { json, layer: document.layer, log, found };
    check.check_text();
    check.check_keys();
    check.found
}

/// Returns where and why a document is not a JSON object.
pub fn describe_syntax_error(document: &Document<'_>) -> (Span, String) {
    match &document.json {
        Err(error) => locate_error(document, error),
        Ok(json) => {
            let span = json.root().span();
            let kind = json.root().kind().name();
            let span = Span::new(document.layer, span.start, span.end);
            (span, format!("stream.json is {kind}, expected an object"))
        }
    }
}

fn locate_error(document: &Document<'_>, error: &JsonError) -> (Span, String) {
    let at = error.at.min(document.len);
    let span = Span::new(document.layer, at, at.saturating_add(1).min(document.len));
    let truncated = if at == document.len { "truncated" } else { "invalid" };
    let truncated = if error.limit { "oversized" } else { truncated };
    (span, format!("{truncated} JSON: expected {} at {at:#x}", error.expected))
}

/// Range that the emulator's cast of a number to int accepts.
const INT_RANGE: std::ops::RangeInclusive<f64> = -2_147_483_648.0..=2_147_483_647.0;

struct MetadataCheck<'r, 'a> {
    json: &'r Json<'a>,
    layer: Layer,
    log: &'r mut Log,
    found: Metadata,
}

impl MetadataCheck<'_, '_> {
    fn span(&self, range: Range<u64>) -> Span {
        Span::new(self.layer, range.start, range.end)
    }

    fn push_finding(
        &mut self,
        rule: &'static Rule,
        range: Range<u64>,
        path: &str,
        message: impl Into<String>,
    ) {
        let path = format!("stream.json:{}", Untrusted(path.as_bytes()));
        let finding = Finding::new(rule, self.span(range), path, message);
        self.log.push(finding);
    }

    fn push_invalid(&mut self, item: Item<'_, '_>, path: &str, expected: &str) {
        let shown = Untrusted(path.as_bytes());
        let message = format!("`{shown}` is {}, expected {expected}", describe_value(item));
        self.push_finding(&rules::BAD_VALUE, item.span(), path, message);
    }

    /// Notes an invalid value. Whether it can be restored is known once all streams are.
    fn note_invalid(&mut self, item: Item<'_, '_>, key: &'static str, expected: &str) {
        let path = path_of(key);
        let message = format!("`{path}` is {}, expected {expected}", describe_value(item));
        self.note_fault(item, (key, None), Flaw::Refused, message);
    }

    /// Notes a value that the emulator reads as another one.
    fn note_tolerated(&mut self, item: Item<'_, '_>, key: &'static str, read: impl Display) {
        let (path, found) = (path_of(key), describe_value(item));
        let message = format!("`{path}` is {found}, which ovniemu reads as {read}");
        self.note_fault(item, (key, None), Flaw::Tolerated, message);
    }

    fn note_fault(
        &mut self,
        item: Item<'_, '_>,
        (key, model): (&'static str, Option<usize>),
        flaw: Flaw,
        message: String,
    ) {
        let span = self.span(item.span());
        self.found.faults.invalid.push(InvalidKey { key, model, flaw, span, message });
    }

    /// The text as a whole: duplicate keys, trailing bytes, version.
    fn check_text(&mut self) {
        for duplicate in &self.json.duplicates {
            self.report_duplicate(duplicate);
        }
        for (number, key) in &self.json.damaged_keys {
            self.report_damaged_key(self.json.item(*number), key);
        }
        if let Some(mark) = self.json.byte_order_mark() {
            let span = self.span(mark);
            let message = "unexpected byte order mark before the value";
            let fix = Fix::new(Safety::Exact, "drop the byte order mark", vec![Edit::drop(span)]);
            let text = self.span(self.json.root().span());
            let fix = fix.witness(text, "the text, which is UTF-8 as libovni writes it");
            let finding = Finding::new(&rules::JSON_SYNTAX, span, "stream.json", message);
            self.log.push(finding.fix(fix));
        }
        if let Some(at) = self.json.trailing {
            let end = self.json.text_len();
            let is_tail = self.json.slice(&(at..end)).iter().all(|byte| *byte == 0);
            let message = describe_trailing(end.saturating_sub(at), is_tail, "after the value");
            self.push_finding(&rules::JSON_TRAILING, at..end, "", message);
        }
        self.check_version(self.json.root());
    }

    fn report_duplicate(&mut self, duplicate: &Duplicate) {
        let (item, first) = (self.json.item(duplicate.second), self.json.item(duplicate.first));
        let key = item.key_span().unwrap_or_else(|| item.span());
        let name = item.key();
        let range = key.start..item.span().end;
        let message = format!("duplicate key {:?}", Untrusted(name.as_bytes()));
        let path = format!("stream.json:{}", Untrusted(name.as_bytes()));
        let span = self.span(range.clone());
        let mut finding = Finding::new(&rules::JSON_DUPLICATE_KEY, span, path, message)
            .related(self.span(first.span()), "first occurrence");
        if self.json.slice(&first.span()) == self.json.slice(&item.span()) {
            // From the end of the value before it, so that the comma is dropped too.
            let start = self.json.item(duplicate.before).span().end;
            let edit = Edit::drop(self.span(start..range.end));
            finding = finding.fix(build_fix("drop the second one", vec![edit]));
        }
        self.log.push(finding);
    }

    /// Reports a key that damage has changed. The check goes on as if it had not.
    fn report_damaged_key(&mut self, member: Item<'_, '_>, key: &str) {
        let range = member.key_span().unwrap_or_else(|| member.span());
        let stored = self.json.slice(&range);
        let stored = Untrusted(stored.get(1..stored.len().saturating_sub(1)).unwrap_or_default());
        let message = format!("invalid key {stored:?}: `{key}` is missing");
        let span = self.span(range);
        let edit = Edit::replace(span, format!("\"{key}\""));
        let fix = build_fix(format!("set the key to `{key}`"), vec![edit]);
        let finding = Finding::new(&rules::DAMAGED_KEY, span, "stream.json", message);
        self.log.push(finding.fix(fix));
    }

    fn check_version(&mut self, root: Item<'_, '_>) {
        let Some(item) = root.member("version") else {
            self.report_missing_version(root);
            return;
        };
        match item.number() {
            Some(3.0) => {}
            Some(number) if number.trunc() == 3.0 => {
                self.note_tolerated(item, "version", METADATA_VERSION);
            }
            _ => self.note_invalid(item, "version", &METADATA_VERSION.to_string()),
        }
    }

    fn report_missing_version(&mut self, root: Item<'_, '_>) {
        let span = root.span();
        let start = span.start..span.end.min(span.start.saturating_add(1));
        let message = format!("`version` is missing, expected {METADATA_VERSION}");
        let path = "stream.json:version";
        let mut finding = Finding::new(&rules::METADATA_VERSION, self.span(start), path, message);
        if root.path("ovni.part").is_some() {
            let edits = insert_members(self.json, self.layer, vec![version_member()]);
            let summary = format!("add version {METADATA_VERSION}");
            finding = finding.fix(build_fix(summary, edits));
        }
        self.log.push(finding);
    }

    /// The keys of `ovni` and `nosv`.
    fn check_keys(&mut self) {
        let root = self.json.root();
        let ovni = root.member("ovni");
        let object = ovni.filter(|ovni| ovni.kind() == Kind::Object);
        self.found.object = Some(self.span(object.unwrap_or(root).span()));
        if let Some(ovni) = ovni.filter(|ovni| ovni.kind() != Kind::Object) {
            self.push_invalid(ovni, "ovni", "an object");
        }
        self.check_part(root);
        if self.found.is_other_part() {
            return;
        }
        self.found.identity.tid = self.read_positive(root, "tid");
        self.found.identity.pid = self.read_positive(root, "pid");
        self.found.process.app_id = self.read_positive(root, "app_id");
        self.found.process.has_app_id = root.path("ovni.app_id").is_some();
        self.check_rank(root);
        self.check_loom(root);
        self.check_finished(root);
        self.check_lib(root);
        self.check_require(root);
        self.check_cpus(root);
        self.check_marks(root);
        self.check_counters(root);
        self.check_breakdown(root);
    }

    fn check_part(&mut self, root: Item<'_, '_>) {
        match root.path("ovni.part") {
            None => self.found.faults.missing.push("part"),
            Some(part) => match self.read_text(part, "ovni.part") {
                None => self.note_invalid(part, "part", "a string"),
                Some(part) => self.found.identity.part = Some(part),
            },
        }
    }

    /// A text as the emulator reads it: up to the first NUL.
    fn read_text(&mut self, item: Item<'_, '_>, path: &str) -> Option<String> {
        let text = item.text()?;
        let Some((head, _)) = text.split_once('\0') else { return Some(text) };
        let shown = Untrusted(head.as_bytes());
        let message =
            format!("`{}` contains NUL, ovniemu reads {shown:?}", Untrusted(path.as_bytes()));
        self.push_finding(&rules::TOLERATED_VALUE, item.span(), path, message);
        Some(head.to_string())
    }

    /// A number as the emulator casts it to int.
    fn read_int(&mut self, item: Item<'_, '_>, path: &str) -> Option<i64> {
        let number = item.number().filter(|number| INT_RANGE.contains(number))?;
        if number.fract() != 0.0 {
            let message =
                format!("`{path}` is {number}, which ovniemu reads as {}", number.trunc());
            self.push_finding(&rules::TOLERATED_VALUE, item.span(), path, message);
        }
        trunc(number)
    }

    /// The same under a key of `ovni`, whose value the rest of the trace may show.
    fn read_shown(&mut self, item: Item<'_, '_>, key: &'static str) -> Option<i64> {
        let number = item.number().filter(|number| INT_RANGE.contains(number))?;
        if number.fract() != 0.0 {
            self.note_tolerated(item, key, number.trunc());
        }
        trunc(number)
    }

    /// A number above 0 under a key of `ovni`. `app_id` is mandatory in one thread alone.
    fn read_positive(&mut self, root: Item<'_, '_>, key: &'static str) -> Option<Located<i64>> {
        let path = format!("ovni.{key}");
        let Some(item) = root.path(&path) else {
            self.found.faults.missing.extend((key != "app_id").then_some(key));
            return None;
        };
        match self.read_shown(item, key) {
            Some(value) if value > 0 => Some(Located { value, span: self.span(item.span()) }),
            _ => {
                self.note_invalid(item, key, "a number above 0");
                None
            }
        }
    }

    fn check_rank(&mut self, root: Item<'_, '_>) {
        let Some(item) = root.path("ovni.rank") else { return };
        let rank = match item.number() {
            Some(_) => self.read_shown(item, "rank"),
            None => {
                self.note_tolerated(item, "rank", 0);
                Some(0)
            }
        };
        let nranks_item = root.path("ovni.nranks");
        let nranks = nranks_item.and_then(|item| self.read_shown(item, "nranks"));
        let nranks = nranks.filter(|nranks| *nranks > 0);
        let rank = rank.filter(|rank| *rank >= 0);
        if rank.is_none() {
            self.note_invalid(item, "rank", "a number of at least 0");
        }
        match (nranks_item, nranks, rank) {
            (None, ..) => self.found.faults.missing.push("nranks"),
            (Some(item), None, _) => self.note_invalid(item, "nranks", "a number above 0"),
            (Some(item), Some(nranks), Some(rank)) if nranks <= rank => {
                self.note_invalid(item, "nranks", &format!("a number above rank {rank}"));
                self.found.process.contradicting = Some((rank, nranks));
                return;
            }
            (Some(_), Some(_), _) => {}
        }
        let span = self.span(item.span());
        self.found.process.rank = rank.map(|value| Located { value, span });
        let nranks = nranks.zip(nranks_item);
        self.found.process.nranks =
            nranks.map(|(value, item)| Located { value, span: self.span(item.span()) });
    }

    fn check_loom(&mut self, root: Item<'_, '_>) {
        let Some(item) = root.path("ovni.loom") else {
            self.found.faults.missing.push("loom");
            return;
        };
        let Some(name) = self.read_text(item, "ovni.loom") else {
            self.note_invalid(item, "loom", "a string");
            return;
        };
        if is_unsafe(&name) || name.contains('/') {
            let message = describe_unsafe(&name);
            self.note_fault(item, ("loom", None), Flaw::Unsafe, message);
        }
        self.found.identity.loom = Some(Located { value: name, span: self.span(item.span()) });
    }

    fn report_unsafe_name(&mut self, item: Item<'_, '_>, path: &str, name: &str) {
        let message = describe_unsafe(name);
        let path = format!("stream.json:{path}");
        let fix = Fix::manual(RENAME);
        let finding = Finding::new(&rules::UNSAFE_NAME, self.span(item.span()), path, message);
        self.log.push(finding.fix(fix));
    }

    fn check_finished(&mut self, root: Item<'_, '_>) {
        let item = root.path("ovni.finished");
        self.found.is_finished = item.and_then(|item| item.number()) == Some(1.0);
        self.found.finished = item.map(|item| self.span(item.span()));
    }

    fn check_lib(&mut self, root: Item<'_, '_>) {
        for (path, key) in [("ovni.lib.version", "lib.version"), ("ovni.lib.commit", "lib.commit")]
        {
            let Some(item) = root.path(path) else {
                self.found.faults.missing.push(key);
                continue;
            };
            match item.text() {
                None => self.note_invalid(item, key, "a string"),
                Some(text) if key == "lib.version" => self.found.lib = Some(text),
                Some(_) => {}
            }
        }
    }

    fn check_require(&mut self, root: Item<'_, '_>) {
        let Some(item) = root.path("ovni.require") else {
            self.found.faults.missing.push("require");
            return;
        };
        if item.kind() != Kind::Object {
            self.note_invalid(item, "require", "an object");
            return;
        }
        let is_known = |key: &str| MODELS.iter().any(|model| model.name == key);
        self.found.definitions.requires_unknown =
            item.items().any(|member| !is_known(&member.key()) && member.text().is_some());
        let mut versions = [None; MODEL_COUNT];
        for ((number, model), version) in MODELS.iter().enumerate().zip(&mut versions) {
            if let Some(item) = item.member(model.name) {
                *version = self.check_required(item, number, model);
            }
        }
        self.found.require = Some(versions);
    }

    /// The version of one model.
    fn check_required(
        &mut self,
        item: Item<'_, '_>,
        number: usize,
        model: &Model,
    ) -> Option<Version> {
        let path = &format!("ovni.require.{}", model.name);
        let Some(text) = self.read_text(item, path) else {
            // The emulator treats a value that is not a string as missing.
            let kind = item.kind().name();
            let message = format!("`{path}` is {kind}, which ovniemu ignores; expected a string");
            let key = ("require", Some(number));
            self.note_fault(item, key, Flaw::Tolerated, message);
            return None;
        };
        let Some(required) = parse_version(&text) else {
            let message = format!("`{path}` is {}, expected a version x.y.z", describe_value(item));
            self.note_fault(item, ("require", Some(number)), Flaw::Refused, message);
            return None;
        };
        if !model.supports(required) {
            let (major, minor, _) = model.newest;
            let message = format!(
                "unsupported version {} in `{path}`: expected {major}.0 to {major}.{minor}",
                display_version(required),
            );
            let key = ("require", Some(number));
            self.note_fault(item, key, Flaw::Unsupported, message);
        }
        Some(required)
    }

    fn check_breakdown(&mut self, root: Item<'_, '_>) {
        const PATH: &str = "nosv.can_breakdown";
        let Some(item) = root.path(PATH) else { return };
        if !matches!(item.kind(), Kind::Bool(_)) {
            let message = format!("`{PATH}` is {}, expected a boolean", item.kind().name());
            self.push_finding(&rules::TOLERATED_VALUE, item.span(), PATH, message);
        }
    }
}

/// The path of a key of `ovni`, or of the version, which is in the root.
fn path_of(key: &str) -> String {
    if key == "version" { key.to_string() } else { format!("ovni.{key}") }
}

/// The integer of a number in the range of int: its text can be parsed again.
fn trunc(number: f64) -> Option<i64> {
    format!("{:.0}", number.trunc()).parse().ok()
}

fn describe_unsafe(name: &str) -> String {
    format!("unsafe name {:?}: it is a path", Untrusted(name.as_bytes()))
}

fn describe_value(item: Item<'_, '_>) -> String {
    match item.kind() {
        Kind::Number(number) => format!("{number}"),
        Kind::String => format!("{:?}", Untrusted(item.text().unwrap_or_default().as_bytes())),
        kind => kind.name().to_string(),
    }
}

/// Whether a name, used in a path, leads out of its directory.
fn is_unsafe(name: &str) -> bool {
    name.starts_with('/') || name.contains("../") || name.contains("/..") || name == ".."
}

/// Bytes of a version that the emulator's parser has room for.
const VERSION_MAX: usize = 63;

/// Reads `x.y.z`, optionally followed by `.` or `-` and any text, as the emulator does
/// (`src/include/version.h`: `strtok_r` and `strtol`).
fn parse_version(text: &str) -> Option<Version> {
    let (major, rest) = take_number(text, &['.'])?;
    let (minor, rest) = take_number(rest, &['.'])?;
    let (patch, _) = take_number(rest, &['.', '-'])?;
    (text.len() <= VERSION_MAX).then_some((major, minor, patch))
}

/// Reads the number up to one of some delimiters; those before it do not count. Returns the text
/// after it, too.
fn take_number<'t>(text: &'t str, delimiters: &[char]) -> Option<(u32, &'t str)> {
    let text = text.trim_start_matches(delimiters);
    let (number, rest) = text.split_once(delimiters).unwrap_or((text, ""));
    let number = number.trim_ascii_start();
    Some((number.parse().ok()?, rest))
}
