//! The content of a trace for an audit: names of hosts, ids of processes, labels and metadata.

use super::decode::files::{StreamFiles, TraceFiles};
use super::decode::json::{self, Item, Json, Kind};
use crate::audit::filler::Filler;
use crate::audit::rules::sender;
use crate::audit::{Auditor, Excerpt, NamePart, Place};
use crate::formats::{Format, Tile, TileKind};
use crate::kit::field_log::FieldValue;
use crate::kit::span::{Layer, Span};
use crate::options::Options;
use crate::recording::FileSet;

/// Faults on which ovnidump may crash.
pub(super) const HAZARDS: &[&str] = &["OV1001", "OV1005"];

/// Members of metadata that the format needs.
const KNOWN: &[&str] = &[
    "version", "ovni", "nosv", "nanos6", "openmp", "mpi", "tampi", "app_id", "rank", "nranks",
    "cpus",
];

/// Beginning of the name of the folder of a loom.
const LOOM: &str = "loom.";

/// Passes the trace to `auditor`.
pub(super) fn audit(
    format: &dyn Format,
    files: &FileSet<'_>,
    options: &Options,
    auditor: &mut Auditor<'_>,
) {
    let is_wanted = |tile: &Tile| tile.kind == TileKind::Record;
    auditor.tiles(format, options, is_wanted, &mut |auditor, _, noted| {
        for field in &noted.fields {
            let FieldValue::Bytes(bytes) = &field.value else { continue };
            // Only the payload of a jumbo event has a length of its own: a label or a blob.
            let is_jumbo = noted.fields.iter().any(|field| field.label == "size");
            if field.label == "payload" && is_jumbo {
                let (place, text) = (Place::from(field.span), bytes.get(4..).unwrap_or_default());
                let place = place.of_part(bytes, text);
                let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
                auditor.text("payload", text, place);
                auditor.argument("payload", text, place);
                auditor.blob("payload", bytes, place);
            }
        }
    });
    let trace = TraceFiles::sort_out(files);
    let streams: Vec<u32> = trace.streams.iter().filter_map(|s| s.obs).map(|f| f.index).collect();
    let first = |stream: &StreamFiles| stream.json.or(stream.obs).map(|file| file.index);
    let firsts: Vec<u32> = trace.streams.iter().filter_map(first).collect();
    for (index, file) in (0_u32..).zip(files.files()) {
        // Both files of a stream lie in the folder, which is one sighting.
        audit_folder(auditor, index, &file.name, u64::from(firsts.contains(&index)));
        if !streams.contains(&index) {
            let text = file.bytes.read(0, file.bytes.len());
            if let Ok(json) = json::parse(text, &options.limits) {
                Metadata { json: &json, layer: Layer::stored(index) }.audit(auditor);
            }
        }
    }
}

/// Judges the folder of a loom in the path of a file.
fn audit_folder(auditor: &mut Auditor<'_>, file: u32, path: &str, count: u64) {
    let mut at = 0_usize;
    for name in path.split('/') {
        let start = at.saturating_add(LOOM.len());
        at = at.saturating_add(name.len()).saturating_add(1);
        let Some(host) = name.strip_prefix(LOOM).map(host_of) else { continue };
        let (Some(before), Some(after)) =
            (path.get(..start), path.get(start.saturating_add(host.len())..))
        else {
            continue;
        };
        let part = NamePart { file, part: host, before, after };
        auditor.hide_name(&sender::HOST_NAME, ("folder name", "host name"), count, part);
        return;
    }
}

/// Returns the name of the host in the name of a loom: the part before the number of the process.
fn host_of(loom: &str) -> &str {
    loom.rsplit_once('.').map_or(loom, |(host, _)| host)
}

/// A file of metadata.
struct Metadata<'j, 'a> {
    json: &'j Json<'a>,
    layer: Layer,
}

impl Metadata<'_, '_> {
    fn place(&self, item: &Item<'_, '_>) -> Place {
        let span = item.span();
        Span::new(self.layer, span.start, span.end).into()
    }

    /// Returns the text of a string with its place between the quotes.
    fn text(&self, item: &Item<'_, '_>) -> (String, Place) {
        let (span, text) = (item.span(), item.text().unwrap_or_default());
        let inner = span.start.saturating_add(1)..span.end.saturating_sub(1);
        let place = Place::from(Span::new(self.layer, inner.start, inner.end));
        let is_verbatim = self.json.slice(&inner) == text.as_bytes();
        (text, if is_verbatim { place } else { place.unescaped() })
    }

    /// Judges the members.
    fn audit(&self, auditor: &mut Auditor<'_>) {
        let root = self.json.root();
        for member in root.items() {
            let key = member.key();
            auditor.text("metadata", key.as_bytes(), self.place(&member));
            if !KNOWN.contains(&key.as_str()) {
                self.audit_additional(auditor, &member, &key);
            }
        }
        if let Some(loom) = root.path("ovni.loom") {
            let (name, place) = self.text(&loom);
            let host = host_of(&name).as_bytes();
            let (subject, excerpt) = (("ovni.loom", "host name"), Excerpt::Text(name.as_bytes()));
            let private = place.of_part(name.as_bytes(), host).private(host, Filler::Name);
            auditor.hide(&sender::HOST_NAME, subject, 1, private, excerpt);
        }
        for (path, noun) in [("ovni.pid", "process id"), ("ovni.tid", "thread id")] {
            let Some(id) = root.path(path) else { continue };
            auditor.see(&sender::PROCESS, (path, noun), self.place(&id), Excerpt::None);
        }
        self.audit_texts(auditor);
    }

    /// Judges a member that the format does not need. Its key stays; texts in it can be replaced.
    fn audit_additional(&self, auditor: &mut Auditor<'_>, member: &Item<'_, '_>, key: &str) {
        let subject = ("metadata", "additional member");
        let excerpt = Excerpt::Text(key.as_bytes());
        if member.kind() == Kind::String {
            let (text, place) = self.text(member);
            let private = place.private(text.as_bytes(), Filler::Name);
            auditor.hide(&sender::EXTRA_METADATA, subject, 1, private, excerpt);
        } else {
            auditor.see(&sender::EXTRA_METADATA, subject, self.place(member), excerpt);
        }
    }

    /// Judges every text. Nothing recurses: a recording decides how deep values nest.
    fn audit_texts(&self, auditor: &mut Auditor<'_>) {
        let mut left = vec![self.json.root()];
        while let Some(item) = left.pop() {
            match item.kind() {
                Kind::String => {
                    let (text, place) = self.text(&item);
                    auditor.argument("metadata", text.as_bytes(), place);
                }
                Kind::Object | Kind::Array => left.extend(item.items()),
                _ => {}
            }
        }
    }
}
