//! The content of a trace for an audit: names of hosts, ids of processes, labels and metadata.

mod metadata;

use super::decode::files::{CLOCK_OFFSETS, StreamFiles, TraceFiles};
use super::decode::json;
use super::layout::event_row::Payload;
use super::layout::{EVENT_HEADER, lookup};
use crate::kit::field_log::{Field, FieldValue};
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::tile::{Tile, TileKind, Walk};
use crate::sight::filler::Filler;
use crate::sight::rules::sender;
use crate::sight::{Auditor, Excerpt, Knowledge, NamePart, Place, TileReader};

/// Faults on which ovnidump may crash.
pub(super) const HAZARDS: &[&str] = &["OV1001", "OV1005"];

/// Words of the first line of the table of clock offsets.
const OFFSET_WORDS: &[&[u8]] =
    &[b"rank", b"hostname", b"offset_median", b"offset_mean", b"offset_std"];

/// The column with the name of the host.
const HOST_COLUMN: usize = 1;

/// Names of files in a trace.
const FILES: &[&str] = &["stream.json", "stream.obs", "metadata.json", CLOCK_OFFSETS];

/// Most digits of the number of a process or thread (Linux: `PID_MAX_LIMIT`).
const PID_DIGITS: usize = 7;

/// Returns whether a text is the number of a process or thread.
fn is_pid(text: &str) -> bool {
    (1..=PID_DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Beginning of the name of the folder of a loom.
const LOOM: &str = "loom.";

/// Passes the trace to `auditor`.
pub(super) fn audit(
    tiles: Walk<'_>,
    files: &FileSet<'_>,
    options: &Options,
    auditor: &mut Auditor<'_>,
) {
    let reader = TileReader { knowledge, ..TileReader::of(|tile| tile.kind == TileKind::Record) };
    auditor.tiles(tiles, options, reader, &mut |auditor, tile, noted| {
        audit_event(auditor, tile, &noted.fields);
    });
    let trace = TraceFiles::sort_out(files);
    let streams: Vec<u32> = trace.streams.iter().filter_map(|s| s.obs).map(|f| f.index).collect();
    let first = |stream: &StreamFiles| stream.json.or(stream.obs).map(|file| file.index);
    let firsts: Vec<u32> = trace.streams.iter().filter_map(first).collect();
    for (index, file) in (0_u32..).zip(files.files()) {
        // Both files of a stream lie in the folder, which is one sighting.
        audit_folder(auditor, index, &file.name, u64::from(firsts.contains(&index)));
        if streams.contains(&index) {
            continue;
        }
        let (layer, text) = (Layer::stored(index), file.bytes.read(0, file.bytes.len()));
        if file.name == CLOCK_OFFSETS {
            audit_offsets(auditor, layer, &text);
        } else if let Ok(json) = json::parse(text, &options.limits) {
            metadata::Metadata { json: &json, layer }.audit(auditor);
        } else {
            let all = Span::new(layer, 0, file.bytes.len());
            auditor.damaged("metadata", (&file.bytes.read(0, all.len()), all.len()), all.into());
        }
    }
}

/// Returns what is known about a field of an event: a payload without a size of its own is numbers.
fn knowledge(tile: &Tile, field: &Field) -> Knowledge {
    let is_small = tile.span.len() == EVENT_HEADER.saturating_add(field.span.len());
    match field.label.as_ref() {
        "payload" if is_small => Knowledge::Numbers,
        _ => Knowledge::Known,
    }
}

/// Judges an event: a jumbo event has a label, or bytes that only its program knows; an event that
/// the format does not have may hold anything.
fn audit_event(auditor: &mut Auditor<'_>, tile: &Tile, fields: &[Field]) {
    let of = |label: &str| fields.iter().find(|field| field.label == label);
    let Some(payload) = of("payload") else { return };
    let FieldValue::Bytes(bytes) = &payload.value else { return };
    let code = of("mcv").and_then(|field| match &field.value {
        FieldValue::Bytes(code) => code.first_chunk::<3>().copied(),
        FieldValue::Text(code) => code.as_bytes().first_chunk::<3>().copied(),
        FieldValue::Number(_) | FieldValue::Hex(_) => None,
    });
    let row = code.and_then(lookup::by_code);
    let known = match row.map(|row| row.payload) {
        Some(Payload::Exact(len)) if of("size").is_none() => usize::from(len),
        Some(Payload::Jumbo(len)) if of("size").is_some() => usize::from(len),
        _ => 0,
    };
    let end = if of("size").is_some() { tile.span.end } else { payload.span.end };
    let rest = bytes.get(known..).unwrap_or_default();
    let all = Span::new(payload.span.layer, payload.span.start, end);
    let start = all.start.saturating_add(to_u64(known)).min(end);
    let place = Place::from(Span::new(all.layer, start, end));
    if start >= end {
        return;
    }
    let text = rest.split(|byte| *byte == 0).next().unwrap_or_default();
    auditor.text("payload", text, place);
    auditor.blob("payload", bytes, all.into());
    if known > 0 && of("size").is_some() {
        let (rule, subject) = (&sender::CHOSEN_NAME, ("payload", "label"));
        auditor.hide(rule, subject, 1, place.private(rest, Filler::Name), Excerpt::Text(text));
    } else {
        let (rule, subject) = (&sender::UNKNOWN_CONTENT, ("payload", "unknown payload"));
        let excerpt = Excerpt::Bytes(rest, place.span.len());
        auditor.hide(rule, subject, 1, place.private(rest, Filler::Zeros), excerpt);
    }
}

/// Judges the table of clock offsets: each line has a rank, a host and numbers.
fn audit_offsets(auditor: &mut Auditor<'_>, layer: Layer, text: &[u8]) {
    let whole = Place::from(Span::new(layer, 0, to_u64(text.len())));
    for line in text.split(|byte| *byte == b'\n') {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        for (column, word) in words.enumerate() {
            let is_fact = OFFSET_WORDS.contains(&word)
                || column != HOST_COLUMN && column < OFFSET_WORDS.len() && is_offset(word);
            if !is_fact {
                let subject = ("clock-offsets", "host name");
                let private = whole.of_part(text, word).private(word, Filler::Name);
                auditor.hide(&sender::HOST_NAME, subject, 1, private, Excerpt::Text(word));
            }
        }
    }
}

/// Returns whether a word is a finite number, such as `-1.5e+06`.
fn is_offset(word: &[u8]) -> bool {
    let number = std::str::from_utf8(word).ok().and_then(|word| word.parse::<f64>().ok());
    number.is_some_and(f64::is_finite)
}

/// Judges the names in the path of a file.
fn audit_folder(auditor: &mut Auditor<'_>, file: u32, path: &str, count: u64) {
    let mut at = 0_usize;
    let mut is_renamed = false;
    for name in path.split('/') {
        let start = at.saturating_add(LOOM.len());
        at = at.saturating_add(name.len()).saturating_add(1);
        let host = name.strip_prefix(LOOM).filter(|_| !is_renamed).map(host_of);
        if let (Some(host), Some(before)) = (host, path.get(..start))
            && let Some(after) = path.get(start.saturating_add(host.len())..)
        {
            let part = NamePart { file, part: host, before, after };
            auditor.hide_name(&sender::HOST_NAME, ("folder name", "host name"), count, part);
            is_renamed = true;
        } else if !is_plain_name(name) {
            let (rule, subject) = (&sender::CHOSEN_NAME, ("folder name", "chosen name"));
            let place = Span::new(Layer::stored(file), 0, 0);
            auditor.see(rule, subject, place, Excerpt::Text(name.as_bytes()));
        }
    }
}

/// Returns whether libovni gives this name to a file or folder.
fn is_plain_name(name: &str) -> bool {
    let stem = name.strip_suffix(".obs").or_else(|| name.strip_suffix(".json")).unwrap_or(name);
    let number = stem.strip_prefix("proc.").or_else(|| stem.strip_prefix("thread."));
    number.is_some_and(is_pid) || name.is_empty() || FILES.contains(&name)
}

/// Returns the name of the host in the name of a loom: the part before the number of the process.
fn host_of(loom: &str) -> &str {
    loom.rsplit_once('.').filter(|(_, pid)| is_pid(pid)).map_or(loom, |(host, _)| host)
}
