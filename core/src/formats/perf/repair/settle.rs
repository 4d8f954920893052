//! Updates sizes and offsets after the fixes of a round.

use super::aux_index::move_index;
use super::close::{header_u64, size_field};
use super::features::section_bytes;
use crate::formats::perf::decode::header::{Body, Section};
use crate::formats::perf::decode::recording::{Opened, open};
use crate::formats::perf::layout::{SECTION_SIZE, feature, field};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::model::edit::Edit;
use crate::model::limits::WINDOW;
use crate::model::recording::FileSet;

/// Returns the edits that follow from edits inside the records: data.size, the offsets of the
/// feature sections, and those of the AUXTRACE records in their index.
///
/// The fix of a record edits only the bytes of that record; sizes and offsets are updated once for
/// all fixes of a round.
pub fn settle(files: &FileSet<'_>, edits: &[Edit]) -> Vec<Edit> {
    let Ok(Opened::Sections(recording)) = open(files) else { return Vec::new() };
    let (body, order) = (&recording.body, recording.order());
    let Some(end) = body.data.end() else { return Vec::new() };
    let stored = || edits.iter().filter(|edit| edit.span.layer == Layer::stored(0));
    let inside = || {
        stored().filter(|edit| {
            edit.span.start >= body.data.offset
                // An insertion at the very end is the feature table.
                && edit.span.start < end
                && edit.span.end <= end
        })
    };
    let is_settled = stored().any(|edit| edit.span.overlaps(&size_field()));
    let dropped = inside().fold(0_u64, |sum, edit| sum.saturating_add(edit.span.len()));
    let added = inside().fold(0_u64, |sum, e| sum.saturating_add(to_u64(e.insert.len())));
    if is_settled || dropped == added || end > recording.length() {
        return Vec::new();
    }
    let moved = |offset: u64| offset.saturating_sub(dropped).saturating_add(added);
    let mut settled = vec![header_u64(field::DATA_SIZE, moved(body.data.size), order)];
    // `perf inject` writes the attrs of a pipe after the records.
    let is_after = |section: Section| {
        section.offset >= end && section.end().is_some_and(|end| end <= recording.length())
    };
    if is_after(body.attrs) {
        settled.push(header_u64(field::ATTRS, moved(body.attrs.offset), order));
    }
    let ids = id_sections(&files.bytes(0), body, order).into_iter();
    let ids = ids.filter(|(_, ids)| ids.size > 0 && is_after(*ids));
    settled.extend(ids.map(|(at, ids)| header_u64(at, moved(ids.offset), order)));
    let table = recording.table(end);
    if table.entries.is_empty() {
        return settled;
    }
    let sections = table.entries.iter().map(|(_, s)| Section { offset: moved(s.offset), ..*s });
    let bytes: Vec<u8> = sections.flat_map(|section| section_bytes(section, order)).collect();
    settled.push(Edit::replace(table.span, bytes));
    // A fix that writes the index knows the records as they were.
    let is_kept = |span: Span| !edits.iter().any(|edit| edit.span.overlaps(&span));
    // A check reads no longer index either.
    let index = table.section(feature::AUXTRACE).filter(|index| index.size <= WINDOW.default);
    let index = index.filter(|index| is_kept(index.span(0)));
    if let Some(index) = index.filter(|_| !recording.file.is_simpleperf()) {
        settled.extend(move_index(&recording, index, &inside().collect::<Vec<_>>()));
    }
    settled
}

/// Returns the sections of ids, each with the place of its offset in an attr entry.
fn id_sections(source: &Source<'_>, body: &Body, order: Order) -> Vec<(u64, Section)> {
    let within = body.attrs.end().is_some_and(|end| end <= source.len());
    let entry = body.attr_size;
    let count = body.attrs.size.checked_div(entry).filter(|_| within && entry > SECTION_SIZE);
    let sections = (1..=count.unwrap_or(0)).filter_map(|number| {
        let end = body.attrs.offset.checked_add(entry.checked_mul(number)?)?;
        let at = end.checked_sub(SECTION_SIZE)?;
        let bytes = source.read(at, end);
        let mut cursor = Cursor::new(&bytes, Layer::stored(0), at, order);
        let section =
            Section { offset: cursor.u64("ids.offset").ok()?, size: cursor.u64("ids.size").ok()? };
        Some((at, section))
    });
    sections.collect()
}
