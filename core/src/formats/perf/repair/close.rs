//! Closes a recording after its last complete record.

use super::encode::u64_bytes;
use super::features::{Features, NewFeature, flags_edit};
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::layout::{SECTION_SIZE, field};
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::model::edit::Edit;

/// The end of the complete records, and the edits that make the last record end there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seam {
    /// Offset after the last byte of the source that belongs to a complete record.
    pub end: u64,
    /// Edits of the header of the last record, if it is truncated.
    pub edits: Vec<Edit>,
    /// Bytes that the last record needs after `end`.
    pub padding: Vec<u8>,
}

/// The field data.size.
pub const fn size_field() -> Span {
    Span::sized(Layer::stored(0), field::DATA_SIZE, 8)
}

/// Writes a u64 of the file header.
pub fn header_u64(offset: u64, value: u64, order: Order) -> Edit {
    Edit::replace(Span::sized(Layer::stored(0), offset, 8), u64_bytes(value, order))
}

/// Closes a recording at `seam`: sets data.size and the feature bits, and replaces everything after
/// the records with a table of the features in `add`. The recorder had not written either field yet
/// if `is_unfinished`.
pub fn close(
    recording: &Recording<'_>,
    seam: Seam,
    add: Vec<NewFeature>,
    is_unfinished: bool,
) -> Vec<Edit> {
    let (order, body) = (recording.order(), &recording.body);
    // The end of the records in the target.
    let data_end = seam.end.saturating_add(to_u64(seam.padding.len()));
    let size = data_end.saturating_sub(body.data.offset);
    let features = Features { keep: Vec::new(), add };
    let mut edits = Vec::new();
    if size != body.data.size {
        edits.push(header_u64(field::DATA_SIZE, size, order));
    }
    edits.extend(flags_edit(body, features.flags(), order));
    edits.iter_mut().for_each(|edit| edit.fills = is_unfinished);
    let table_len = to_u64(features.add.len()).saturating_mul(SECTION_SIZE);
    let (table, contents) = features.table(0, data_end.saturating_add(table_len), order);
    edits.extend(seam.edits);
    let contents = contents.into_iter().flat_map(|(_, content)| content).collect();
    let tail = [seam.padding, table, contents].concat();
    if seam.end < recording.length() || !tail.is_empty() {
        let span = Span::new(Layer::stored(0), seam.end, recording.length());
        edits.push(Edit::replace(span, tail));
    }
    edits
}
