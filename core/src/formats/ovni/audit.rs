//! The content of a trace for an audit: names of hosts, ids of processes, labels and metadata.

use super::decode::files::TraceFiles;
use super::decode::json::{self, Item, Kind};
use crate::audit::rules::sender;
use crate::audit::{Auditor, Excerpt, Place};
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
                let place = Place::from(field.span);
                let text = bytes.get(4..).unwrap_or_default();
                let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
                auditor.text("payload", text, place);
                auditor.argument("payload", text, place);
                auditor.blob("payload", bytes, place);
            }
        }
    });
    let trace = TraceFiles::sort_out(files);
    let streams: Vec<u32> = trace.streams.iter().filter_map(|s| s.obs).map(|f| f.index).collect();
    for stream in &trace.streams {
        let file = stream.json.or(stream.obs).map_or(0, |file| file.index);
        let place = Place::from(Span::new(Layer::stored(file), 0, 0));
        if let Some(loom) = &stream.path_identity.loom {
            let subject = ("folder name", "host name");
            let excerpt = Excerpt::Text(loom.as_bytes());
            auditor.see(&sender::HOST_NAME, subject, place, excerpt);
        }
    }
    for (index, file) in (0_u32..).zip(files.files()) {
        if !streams.contains(&index) {
            let text = file.bytes.read(0, file.bytes.len());
            if let Ok(json) = json::parse(text, &options.limits) {
                audit_metadata(auditor, json.root(), Layer::stored(index));
            }
        }
    }
}

/// Judges the members of a file of metadata.
fn audit_metadata(auditor: &mut Auditor<'_>, root: Item<'_, '_>, layer: Layer) {
    for member in root.items() {
        let key = member.key();
        let place = place_of(&member, layer);
        auditor.text("metadata", key.as_bytes(), place);
        if !KNOWN.contains(&key.as_str()) {
            let subject = ("metadata", "additional member");
            let excerpt = Excerpt::Text(key.as_bytes());
            auditor.see(&sender::EXTRA_METADATA, subject, place, excerpt);
        }
    }
    if let Some(loom) = root.path("ovni.loom") {
        let name = loom.text().unwrap_or_default();
        let (subject, excerpt) = (("ovni.loom", "host name"), Excerpt::Text(name.as_bytes()));
        auditor.see(&sender::HOST_NAME, subject, place_of(&loom, layer), excerpt);
    }
    for (path, noun) in [("ovni.pid", "process id"), ("ovni.tid", "thread id")] {
        let Some(id) = root.path(path) else { continue };
        auditor.see(&sender::PROCESS, (path, noun), place_of(&id, layer), Excerpt::None);
    }
    audit_texts(auditor, root, layer);
}

/// Judges every text below a value. Nothing recurses: a recording decides how deep values nest.
fn audit_texts(auditor: &mut Auditor<'_>, root: Item<'_, '_>, layer: Layer) {
    let mut left = vec![root];
    while let Some(item) = left.pop() {
        match item.kind() {
            Kind::String => {
                let text = item.text().unwrap_or_default();
                auditor.argument("metadata", text.as_bytes(), place_of(&item, layer));
            }
            Kind::Object | Kind::Array => left.extend(item.items()),
            _ => {}
        }
    }
}

fn place_of(item: &Item<'_, '_>, layer: Layer) -> Place {
    let span = item.span();
    Span::new(layer, span.start, span.end).into()
}
