//! Puts a valid recording together from the parts that can be trusted.
//!
//! ```text
//!  new:  header | ids | attrs | records ... | table | sections of features ...
//!  old:  anything             | records ... |       | sections of features ...
//! ```

use super::close::size_field;
use super::encode::{record_bytes, u64_bytes};
use super::event_desc::{event_desc, tracepoints_of};
use super::features::{flag_bytes, keep_cpus, section_bytes, with_hostname};
use super::tracing::tracing_data;
use crate::formats::perf::decode::attrs::StoredEvent;
use crate::formats::perf::decode::header::{FlagWords, Flags, Section};
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::decode::tracing::names;
use crate::formats::perf::layout::{
    HEADER_SIZE, HEADER_SIZE_PIPE, MAGIC_BIG, MAGIC_LITTLE, SECTION_SIZE, feature, field, record,
};
use crate::formats::perf::recover::restore::Salvage;
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::model::edit::Edit;

const FILE: Layer = Layer::stored(0);

/// Most bytes of TRACING_DATA that are read for names: it has about 1 MiB.
const MOST_NAMED: u64 = 16 << 20;

/// A part of the new file.
enum Part {
    /// Bytes of the old file.
    Keep(u64, u64),
    /// New bytes.
    New(Vec<u8>),
}

/// Builds the edits that leave nothing but the parts of `salvage` and what leads to them.
pub fn rebuild(recording: &Recording<'_>, salvage: &Salvage) -> Vec<Edit> {
    let order = recording.order();
    let data_len = salvage
        .ranges
        .iter()
        .fold(0_u64, |sum, (start, end)| sum.saturating_add(end.saturating_sub(*start)));
    let contents = contents_of(recording, salvage);
    let bits = contents.iter().fold(Flags::default(), |flags, (bit, _)| flags.with(*bit));
    let head = head_bytes(&salvage.events, data_len, bits, order);
    let table_at = to_u64(head.len()).saturating_add(data_len);
    let mut parts = vec![Part::New(head)];
    parts.extend(salvage.ranges.iter().map(|(start, end)| Part::Keep(*start, *end)));
    parts.extend(feature_parts(contents, table_at, order));
    edits_of(recording.file.source(), parts)
}

/// Builds the HEADER_FEATURE record of a feature in a pipe; `None` if a record cannot have that
/// size.
pub fn feature_record(bit: u32, content: &[u8], order: Order) -> Option<Vec<u8>> {
    let body = [&u64_bytes(bit.into(), order)[..], content].concat();
    record_bytes(record::HEADER_FEATURE, &body, order)
}

/// Builds the edit that puts a HEADER_ATTR record before all other records of a pipe; `None` if a
/// record cannot have that size.
pub fn add_event(event: &StoredEvent, order: Order) -> Option<Edit> {
    let record = event_record(event, order)?;
    Some(Edit::replace(Span::sized(FILE, HEADER_SIZE_PIPE, 0), record))
}

/// Builds the HEADER_ATTR record of an event; `None` if a record cannot have that size.
pub fn event_record(event: &StoredEvent, order: Order) -> Option<Vec<u8>> {
    let ids = event.ids.iter().flat_map(|id| u64_bytes(*id, order));
    let body: Vec<u8> = event.attr.iter().copied().chain(ids).collect();
    record_bytes(record::HEADER_ATTR, &body, order)
}

/// Returns the features with their contents, in ascending order.
fn contents_of(recording: &Recording<'_>, salvage: &Salvage) -> Vec<(u32, Part)> {
    let mut features = salvage.features.clone();
    let cpus = keep_cpus(recording, &mut features);
    let kept = |bit: u32| features.iter().any(|(of, _)| *of == bit);
    let end = |section: &Section| section.end().unwrap_or(section.offset);
    let mut contents: Vec<(u32, Part)> = features
        .iter()
        .map(|(bit, section)| (*bit, Part::Keep(section.offset, end(section))))
        .collect();
    contents.extend(cpus.map(|(bit, bytes)| (bit, Part::New(bytes))));
    contents.sort_by_key(|(bit, _)| *bit);
    let left = tracing_data(&salvage.tracepoints, recording.order());
    if !salvage.tracepoints.is_empty() {
        contents.push((feature::TRACING_DATA, Part::New(left.clone())));
        contents.sort_by_key(|(bit, _)| *bit);
    }
    let had_features = recording.body.flags.has(feature::EVENT_DESC) || !contents.is_empty();
    if had_features && !kept(feature::EVENT_DESC) {
        let traced = tracepoints_of(&salvage.events, recording.order());
        let names = match salvage.tracepoints.is_empty() {
            true => recording.tracepoint_names(&salvage.features, MOST_NAMED, &traced),
            false => names(&left, &traced),
        };
        let described = event_desc(&salvage.events, &names, recording.order());
        contents.extend(described.map(|(bit, bytes)| (bit, Part::New(bytes))));
        contents.sort_by_key(|(bit, _)| *bit);
    }
    if recording.order() == Order::Big && !contents.is_empty() && !kept(feature::HOSTNAME) {
        let added = with_hostname(vec![(feature::STAT, Vec::new())], Order::Big, kept);
        let host = added.into_iter().filter(|(bit, _)| *bit == feature::HOSTNAME);
        contents.extend(host.map(|(bit, bytes)| (bit, Part::New(bytes))));
        contents.sort_by_key(|(bit, _)| *bit);
    }
    contents
}

/// Builds the header, the ids and the attr table.
fn head_bytes(events: &[StoredEvent], data_len: u64, bits: Flags, order: Order) -> Vec<u8> {
    let ids = events.iter().flat_map(|event| &event.ids);
    let ids: Vec<u8> = ids.flat_map(|id| u64_bytes(*id, order)).collect();
    let mut table = Vec::new();
    let mut ids_at = HEADER_SIZE;
    for event in events {
        let size = to_u64(event.ids.len()).saturating_mul(8);
        table.extend_from_slice(&event.attr);
        table.extend(section_bytes(Section { offset: ids_at, size }, order));
        ids_at = ids_at.saturating_add(size);
    }
    let attr_len = events.first().map_or(0, |event| to_u64(event.attr.len()));
    let attrs = Section { offset: ids_at, size: to_u64(table.len()) };
    let data = Section { offset: ids_at.saturating_add(attrs.size), size: data_len };
    let mut head = match order {
        Order::Little => MAGIC_LITTLE.to_vec(),
        Order::Big => MAGIC_BIG.to_vec(),
    };
    head.extend(u64_bytes(HEADER_SIZE, order));
    head.extend(u64_bytes(attr_len.saturating_add(SECTION_SIZE), order));
    head.extend(section_bytes(attrs, order));
    debug_assert_eq!(to_u64(head.len()), field::DATA);
    head.extend(section_bytes(data, order));
    debug_assert_eq!(to_u64(head.len()), size_field().end);
    head.extend(section_bytes(Section::default(), order));
    head.extend(flag_bytes(bits, FlagWords::U64, order));
    [head, ids, table].concat()
}

/// Builds the table of the features at `table_at`, and lists their sections after it.
fn feature_parts(contents: Vec<(u32, Part)>, table_at: u64, order: Order) -> Vec<Part> {
    let table_len = to_u64(contents.len()).saturating_mul(SECTION_SIZE);
    let mut at = table_at.saturating_add(table_len);
    let mut table = Vec::new();
    let mut sections = Vec::new();
    for (_, part) in contents {
        let size = match &part {
            Part::Keep(start, end) => end.saturating_sub(*start),
            Part::New(bytes) => to_u64(bytes.len()),
        };
        table.extend(section_bytes(Section { offset: at, size }, order));
        at = at.saturating_add(size);
        sections.push(part);
    }
    std::iter::once(Part::New(table)).chain(sections).collect()
}

/// Returns the edits that leave `parts` of a file, whose kept parts are in order.
fn edits_of(source: &Source<'_>, parts: Vec<Part>) -> Vec<Edit> {
    let (mut at, mut new) = (0_u64, Vec::new());
    let mut edits = Vec::new();
    for part in parts {
        match part {
            Part::New(bytes) => new.extend(bytes),
            Part::Keep(start, end) if start < end => {
                edits.extend(replace(source, (at, start), std::mem::take(&mut new)));
                at = end;
            }
            Part::Keep(..) => {}
        }
    }
    edits.extend(replace(source, (at, source.len()), new));
    edits
}

/// Replaces a range by other bytes; returns the edits of those that differ.
fn replace(source: &Source<'_>, (start, end): (u64, u64), new: Vec<u8>) -> Vec<Edit> {
    let len = end.saturating_sub(start);
    if to_u64(new.len()) != len {
        return vec![Edit::replace(Span::new(FILE, start, end), new)];
    }
    let old = source.read(start, end);
    let mut edits: Vec<Edit> = Vec::new();
    for (at, (byte, _)) in
        (start..).zip(new.iter().zip(old.iter())).filter(|(_, (new, old))| new != old)
    {
        match edits.last_mut().filter(|edit| edit.span.end == at) {
            Some(edit) => {
                edit.span.end = at.saturating_add(1);
                edit.insert.push(*byte);
            }
            None => edits.push(Edit::replace(Span::sized(FILE, at, 1), vec![*byte])),
        }
    }
    edits
}
