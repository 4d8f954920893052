//! `stream.json`: every key that the emulator reads, by its own rules.

use std::ops::Range;

use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::check::thread::version;
use crate::formats::ovni::decode::json::{self, Item, Json, Kind};
use crate::formats::ovni::layout::{
    LABEL_MAX, MARK_TYPES, METADATA_VERSION, MODEL_COUNT, MODELS, Version,
};
use crate::formats::ovni::rules;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::mend::edit::{Edit, Fix, Safety};
use crate::report::rule::common;
use crate::report::{Finding, Rule};

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<T> {
    /// The value.
    pub value: T,
    /// Its bytes.
    pub span: Span,
}

/// One CPU of a loom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Logical number, from 0.
    pub index: i64,
    /// Number that the system gave it.
    pub phyid: i64,
    /// The entry.
    pub span: Span,
}

/// A type of marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkType {
    /// Its number.
    pub kind: i32,
    /// What it is called.
    pub title: String,
    /// Values are stacked.
    pub stack: bool,
    /// Names of values.
    pub labels: Vec<(i64, String, Span)>,
    /// The definition.
    pub span: Span,
}

/// A hardware counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Its number.
    pub index: i64,
    /// What it is called.
    pub name: String,
    /// The definition.
    pub span: Span,
}

/// What a stream's metadata says. What could not be read is not there.
#[derive(Clone, Debug, Default)]
pub struct Meta {
    /// It is JSON, and an object.
    pub readable: bool,
    /// Bytes of it.
    pub len: u64,
    /// It is of version 3.
    pub version: bool,
    /// `finished` is exactly 1.
    pub finished: bool,
    /// What stands there in its place.
    pub finished_span: Option<Span>,
    /// `ovni` is an object.
    pub has_ovni: bool,
    /// `ovni.part`.
    pub part: Option<String>,
    /// `ovni.tid`.
    pub tid: Option<Found<i64>>,
    /// `ovni.pid`.
    pub pid: Option<Found<i64>>,
    /// `ovni.loom`.
    pub loom: Option<Found<String>>,
    /// `ovni.app_id`.
    pub app_id: Option<Found<i64>>,
    /// `ovni.rank`.
    pub rank: Option<Found<i64>>,
    /// `ovni.nranks`.
    pub nranks: Option<Found<i64>>,
    /// `ovni.require` is an object.
    pub has_require: bool,
    /// Known models in it.
    pub require: [Option<Version>; MODEL_COUNT],
    /// `ovni.loom_cpus`.
    pub cpus: Vec<Cpu>,
    /// `ovni.mark`.
    pub marks: Vec<MarkType>,
    /// `nosv.hwc`, if it names any.
    pub counters: Option<Vec<Counter>>,
    /// `ovni.lib.version`.
    pub lib: Option<String>,
    /// `ovni.lib.commit`.
    pub commit: bool,
    /// Mandatory keys that are missing and that nothing else is said about.
    pub missing: Vec<&'static str>,
    /// The object `ovni`, or the whole text.
    pub object: Option<Span>,
}

struct Reader<'r, 'a> {
    json: &'r Json<'a>,
    layer: Layer,
    log: &'r mut Log,
    meta: Meta,
}

/// Reads the metadata in file number `file`.
pub fn read(source: &Source<'_>, file: u32, log: &mut Log) -> Meta {
    let layer = Layer::stored(file);
    let text = source.read(0, source.len().min(json::TEXT_MAX.saturating_add(1)));
    let unread = Meta { len: source.len(), ..Meta::default() };
    let json = match json::parse(&text) {
        Ok(json) => json,
        Err(error) => {
            let at = error.at.min(source.len());
            let span = Span::new(layer, at, at.saturating_add(1).min(source.len()));
            let message = format!("{} was expected at {at:#x}", error.expected);
            if error.limit {
                let message = format!("stream.json: {message}");
                log.push(Finding::new(&common::LIMIT_REACHED, span, "stream.json", message));
            }
            return unread;
        }
    };
    if json.root().kind() != Kind::Object {
        return unread;
    }
    let mut reader = Reader { json: &json, layer, log, meta: unread };
    reader.all(&text);
    reader.meta
}

/// Where and why a text is no JSON object, for the finding about it.
pub fn fault(source: &Source<'_>, file: u32) -> (Span, String) {
    let layer = Layer::stored(file);
    let text = source.read(0, source.len().min(json::TEXT_MAX.saturating_add(1)));
    match json::parse(&text) {
        Err(error) => {
            let at = error.at.min(source.len());
            let span = Span::new(layer, at, at.saturating_add(1).min(source.len()));
            (span, format!("{} was expected at {at:#x}", error.expected))
        }
        Ok(json) => {
            let kind = json.root().kind().name();
            let span = json.root().span();
            (Span::new(layer, span.start, span.end), format!("{kind} in place of an object"))
        }
    }
}

impl Reader<'_, '_> {
    fn span(&self, range: Range<u64>) -> Span {
        Span::new(self.layer, range.start, range.end)
    }

    fn told(&mut self, rule: &'static Rule, range: Range<u64>, path: &str, message: String) {
        let path = format!("stream.json:{}", Untrusted(path.as_bytes()));
        let finding = Finding::new(rule, self.span(range), path, message);
        self.log.push(finding);
    }

    fn bad(&mut self, item: Item<'_, '_>, path: &str, wanted: &str) {
        let found = match item.kind() {
            Kind::Number(number) => format!("{number}"),
            Kind::String => format!("{:?}", Untrusted(item.text().unwrap_or_default().as_bytes())),
            kind => kind.name().to_string(),
        };
        self.told(&rules::BAD_VALUE, item.span(), path, format!("{found} in place of {wanted}"));
    }

    fn all(&mut self, text: &[u8]) {
        let root = self.json.root();
        self.meta.readable = true;
        self.duplicates(text);
        if let Some(at) = self.json.trailing {
            let end = to_u64(text.len());
            let message = format!("{} bytes follow the value", end.saturating_sub(at));
            self.told(&rules::JSON_TRAILING, at..end, "", message);
        }
        self.version(root);
        let ovni = root.member("ovni");
        let object = ovni.filter(|ovni| ovni.kind() == Kind::Object);
        self.meta.has_ovni = object.is_some();
        self.meta.object = Some(self.span(object.unwrap_or(root).span()));
        if let Some(ovni) = ovni.filter(|ovni| ovni.kind() != Kind::Object) {
            self.bad(ovni, "ovni", "an object");
        }
        match root.path("ovni.part") {
            None => self.meta.missing.push("part"),
            Some(part) => match part.text() {
                None => self.bad(part, "ovni.part", "a string"),
                Some(part) => self.meta.part = Some(part),
            },
        }
        if self.meta.part.as_deref().is_some_and(|part| part != "thread") {
            return;
        }
        self.meta.tid = self.positive(root, "ovni.tid", Some("tid"));
        self.meta.pid = self.positive(root, "ovni.pid", Some("pid"));
        self.meta.app_id = self.positive(root, "ovni.app_id", None);
        self.rank(root);
        self.loom(root);
        self.finished(root);
        self.lib(root);
        self.require(root);
        self.cpus(root);
        self.marks(root);
        self.counters(root);
        if let Some(item) = root.path("nosv.can_breakdown")
            && !matches!(item.kind(), Kind::Bool(_))
        {
            let message = format!("{} in place of a boolean", item.kind().name());
            self.told(&rules::ODD_VALUE, item.span(), "nosv.can_breakdown", message);
        }
    }

    fn duplicates(&mut self, text: &[u8]) {
        for duplicate in &self.json.duplicates {
            let (item, first) = (self.json.item(duplicate.second), self.json.item(duplicate.first));
            let key = item.key_span().unwrap_or_else(|| item.span());
            let name = item.key();
            let place = key.start..item.span().end;
            let message = format!("key {:?} stands twice", Untrusted(name.as_bytes()));
            let path = format!("stream.json:{}", Untrusted(name.as_bytes()));
            let mut finding =
                Finding::new(&rules::JSON_DUPLICATE_KEY, self.span(place.clone()), path, message)
                    .related(self.span(first.span()), "the first one");
            let bytes = |range: Range<u64>| {
                let from = usize::try_from(range.start).unwrap_or(usize::MAX);
                text.get(from..usize::try_from(range.end).unwrap_or(usize::MAX))
            };
            if bytes(first.span()) == bytes(item.span()) {
                // From the end of the value before it, so that the comma goes too.
                let start = self.json.item(duplicate.before).span().end;
                let edit = Edit::drop(self.span(start..place.end));
                finding = finding.fix(Fix::new(Safety::Exact, "drops the second one", vec![edit]));
            }
            self.log.push(finding);
        }
    }

    fn version(&mut self, root: Item<'_, '_>) {
        let Some(item) = root.member("version") else {
            let span = root.span();
            let message = "the key is missing".to_string();
            let mut finding = Finding::new(
                &rules::METADATA_VERSION,
                self.span(span.start..span.end.min(span.start.saturating_add(1))),
                "stream.json:version",
                message,
            );
            if root.path("ovni.part").is_some() {
                let adds = vec![crate::formats::ovni::repair::json::version()];
                let edits = crate::formats::ovni::repair::json::add(self.json, self.layer, adds);
                finding = finding.fix(Fix::new(Safety::Synthetic, "writes version 3", edits));
            }
            self.log.push(finding);
            return;
        };
        match item.number() {
            Some(3.0) => self.meta.version = true,
            Some(number) if number.trunc() == 3.0 => {
                self.meta.version = true;
                let message = format!("{number} is taken for {METADATA_VERSION}");
                self.told(&rules::ODD_VALUE, item.span(), "version", message);
            }
            _ => {
                let found = match item.number() {
                    Some(number) => format!("{number}"),
                    None => item.kind().name().to_string(),
                };
                let message = format!("{found} in place of {METADATA_VERSION}");
                self.told(&rules::METADATA_VERSION, item.span(), "version", message);
            }
        }
    }

    /// A number as the emulator casts it.
    fn int(&mut self, item: Item<'_, '_>, path: &str) -> Option<i64> {
        let number = item.number()?;
        if !(-2_147_483_648.0..=2_147_483_647.0).contains(&number) {
            return None;
        }
        if number.fract() != 0.0 {
            let message = format!("{number} is cut to {}", number.trunc());
            self.told(&rules::ODD_VALUE, item.span(), path, message);
        }
        // In range: the text of a whole number reads back as one.
        format!("{:.0}", number.trunc()).parse().ok()
    }

    fn positive(
        &mut self,
        root: Item<'_, '_>,
        path: &str,
        mandatory: Option<&'static str>,
    ) -> Option<Found<i64>> {
        let Some(item) = root.path(path) else {
            self.meta.missing.extend(mandatory);
            return None;
        };
        match self.int(item, path) {
            Some(value) if value > 0 => Some(Found { value, span: self.span(item.span()) }),
            _ => {
                self.bad(item, path, "a number above 0");
                None
            }
        }
    }

    fn rank(&mut self, root: Item<'_, '_>) {
        let Some(item) = root.path("ovni.rank") else { return };
        let rank = self.int(item, "ovni.rank").filter(|rank| *rank >= 0);
        let Some(rank) = rank else {
            self.bad(item, "ovni.rank", "a number of at least 0");
            return;
        };
        self.meta.rank = Some(Found { value: rank, span: self.span(item.span()) });
        let Some(item) = root.path("ovni.nranks") else {
            let message = "ovni.rank is there and ovni.nranks is not".to_string();
            self.told(&rules::MISSING_KEY, item.span(), "ovni.nranks", message);
            return;
        };
        match self.int(item, "ovni.nranks") {
            Some(nranks) if nranks > rank => {
                self.meta.nranks = Some(Found { value: nranks, span: self.span(item.span()) });
            }
            _ => self.bad(item, "ovni.nranks", &format!("a number above rank {rank}")),
        }
    }

    fn loom(&mut self, root: Item<'_, '_>) {
        let Some(item) = root.path("ovni.loom") else {
            self.meta.missing.push("loom");
            return;
        };
        let Some(name) = item.text() else {
            self.bad(item, "ovni.loom", "a string");
            return;
        };
        if is_unsafe(&name) || name.contains('/') {
            self.unsafe_name(item, "ovni.loom", &name);
        }
        self.meta.loom = Some(Found { value: name, span: self.span(item.span()) });
    }

    fn unsafe_name(&mut self, item: Item<'_, '_>, path: &str, name: &str) {
        let message =
            format!("the name {:?} leads to another directory", Untrusted(name.as_bytes()));
        let path = format!("stream.json:{path}");
        let fix = Fix::manual("rename it by hand, and do not run the tools before");
        let finding = Finding::new(&rules::UNSAFE_NAME, self.span(item.span()), path, message);
        self.log.push(finding.fix(fix));
    }

    fn finished(&mut self, root: Item<'_, '_>) {
        let item = root.path("ovni.finished");
        self.meta.finished = item.and_then(|item| item.number()) == Some(1.0);
        self.meta.finished_span = item.map(|item| self.span(item.span()));
    }

    fn lib(&mut self, root: Item<'_, '_>) {
        for (path, key) in [("ovni.lib.version", "lib.version"), ("ovni.lib.commit", "lib.commit")]
        {
            match root.path(path) {
                None => self.meta.missing.push(key),
                Some(item) => match item.text() {
                    None => self.bad(item, path, "a string"),
                    Some(text) if key == "lib.version" => self.meta.lib = Some(text),
                    Some(_) => self.meta.commit = true,
                },
            }
        }
    }

    fn require(&mut self, root: Item<'_, '_>) {
        let Some(item) = root.path("ovni.require") else {
            self.meta.missing.push("require");
            return;
        };
        if item.kind() != Kind::Object {
            self.bad(item, "ovni.require", "an object");
            return;
        }
        self.meta.has_require = true;
        for (index, model) in MODELS.iter().enumerate() {
            let Some(item) = item.member(model.name) else { continue };
            let path = format!("ovni.require.{}", model.name);
            let Some(text) = item.text() else {
                // The emulator takes what is no string for nothing.
                let message = format!("{} is passed over", item.kind().name());
                self.told(&rules::ODD_VALUE, item.span(), &path, message);
                continue;
            };
            let Some(wanted) = parse_version(&text) else {
                self.bad(item, &path, "a version x.y.z");
                continue;
            };
            let (major, minor, _) = model.newest;
            if wanted.0 != major || wanted.1 > minor {
                let message = format!(
                    "version {} of {} is required, the emulator knows {}",
                    version(wanted),
                    model.name,
                    version(model.newest)
                );
                self.told(&rules::UNSUPPORTED_MODEL, item.span(), &path, message);
            }
            if let Some(required) = self.meta.require.get_mut(index) {
                *required = Some(wanted);
            }
        }
    }

    fn cpus(&mut self, root: Item<'_, '_>) {
        const PATH: &str = "ovni.loom_cpus";
        let Some(list) = root.path(PATH) else { return };
        if list.kind() != Kind::Array {
            let message = format!("{} is passed over", list.kind().name());
            self.told(&rules::ODD_VALUE, list.span(), PATH, message);
            return;
        }
        if list.items().next().is_none() {
            let message = "an empty array is refused".to_string();
            self.told(&rules::BAD_VALUE, list.span(), PATH, message);
        }
        for item in list.items() {
            if item.kind() != Kind::Object {
                self.bad(item, PATH, "an object with index and phyid");
                continue;
            }
            let mut numbers = [0, 0];
            let mut sound = true;
            for (key, number) in ["index", "phyid"].into_iter().zip(&mut numbers) {
                let member = item.member(key);
                match member.map(|member| self.int(member, PATH)) {
                    Some(Some(value)) if value >= 0 => *number = value,
                    Some(Some(_)) => {
                        sound = false;
                        self.bad(member.unwrap_or(item), PATH, "a number of at least 0");
                    }
                    _ => {
                        let message = format!("a CPU without {key} is taken for {key} 0");
                        self.told(&rules::ODD_VALUE, item.span(), PATH, message);
                    }
                }
            }
            let [index, phyid] = numbers;
            if sound {
                let span = self.span(item.span());
                self.meta.cpus.push(Cpu { index, phyid, span });
            }
        }
    }

    fn marks(&mut self, root: Item<'_, '_>) {
        let Some(list) = root.path("ovni.mark").filter(|list| list.kind() == Kind::Object) else {
            return;
        };
        for item in list.items() {
            let key = item.key();
            let path = format!("ovni.mark.{}", Untrusted(key.as_bytes()));
            let kind = key.parse::<i64>().ok().filter(|kind| (0..MARK_TYPES).contains(kind));
            let Some(kind) = kind.and_then(|kind| i32::try_from(kind).ok()) else {
                let message = "a type of marks is numbered 0 to 99".to_string();
                self.told(&rules::BAD_VALUE, item.span(), &path, message);
                continue;
            };
            let title = item.member("title").and_then(|title| title.text());
            let chan = item.member("chan_type").and_then(|chan| chan.text());
            let (Some(title), Some(chan)) = (title, chan) else {
                let message = "a type of marks has the strings title and chan_type".to_string();
                self.told(&rules::BAD_VALUE, item.span(), &path, message);
                continue;
            };
            if !matches!(chan.as_str(), "single" | "stack") {
                let chan = Untrusted(chan.as_bytes());
                let message = format!("chan_type is {chan:?}, not single or stack");
                self.told(&rules::BAD_VALUE, item.span(), &path, message);
                continue;
            }
            if is_unsafe(&title) {
                self.unsafe_name(item, &path, &title);
            }
            if title.len() >= LABEL_MAX {
                let message = format!("the title has {} bytes", title.len());
                self.told(&rules::LABEL_TOO_LONG, item.span(), &path, message);
            }
            let labels = self.labels(item, &path);
            let span = self.span(item.span());
            let stack = chan == "stack";
            self.meta.marks.push(MarkType { kind, title, stack, labels, span });
        }
    }

    fn labels(&mut self, mark: Item<'_, '_>, path: &str) -> Vec<(i64, String, Span)> {
        let mut found = Vec::new();
        let Some(labels) = mark.member("labels") else { return found };
        if labels.kind() != Kind::Object {
            self.bad(labels, path, "an object of labels");
            return found;
        }
        for item in labels.items() {
            let (value, label) = (item.key().trim_start().parse::<i64>(), item.text());
            let (Ok(value), Some(label)) = (value, label) else {
                let message = "a label is a string under a number".to_string();
                self.told(&rules::BAD_VALUE, item.span(), path, message);
                continue;
            };
            if is_unsafe(&label) {
                self.unsafe_name(item, path, &label);
            }
            if label.len() >= LABEL_MAX {
                let message = format!("the label of {value} has {} bytes", label.len());
                self.told(&rules::LABEL_TOO_LONG, item.span(), path, message);
            }
            found.push((value, label, self.span(item.span())));
        }
        found
    }

    fn counters(&mut self, root: Item<'_, '_>) {
        let Some(list) = root.path("nosv.hwc").filter(|list| list.kind() == Kind::Object) else {
            return;
        };
        let count = i64::try_from(list.items().count()).unwrap_or(i64::MAX);
        let mut counters = Vec::new();
        for item in list.items() {
            let key = item.key();
            let path = format!("nosv.hwc.{}", Untrusted(key.as_bytes()));
            let index = key.parse::<i64>().ok();
            let index = index.filter(|index| (0..count.min(MARK_TYPES)).contains(index));
            let name = item.member("name").and_then(|name| name.text());
            let (Some(index), Some(name)) = (index, name) else {
                let message = format!("{count} counters are numbered 0 to n-1 and have a name");
                self.told(&rules::BAD_VALUE, item.span(), &path, message);
                continue;
            };
            if is_unsafe(&name) || name.contains('/') {
                self.unsafe_name(item, &path, &name);
            }
            counters.push(Counter { index, name, span: self.span(item.span()) });
        }
        if count > 0 {
            self.meta.counters = Some(counters);
        }
    }
}

/// Whether a name, used in a path, would lead out of its directory.
fn is_unsafe(name: &str) -> bool {
    name.starts_with('/')
        || name.contains("../")
        || name.contains("/..")
        || name == ".."
        || name.contains('\0')
}

/// `x.y.z`, with anything behind a `-`.
fn parse_version(text: &str) -> Option<Version> {
    let mut parts = text.splitn(3, '.');
    let (major, minor, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let patch = rest.split(['.', '-']).next()?;
    Some((major.parse().ok()?, minor.parse().ok()?, patch.parse().ok()?))
}
