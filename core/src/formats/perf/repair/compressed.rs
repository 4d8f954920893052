//! Shortens a compressed record to its valid blocks.

use super::close::Seam;
use super::encode::{u16_bytes, u64_bytes};
use crate::formats::perf::decode::expand::Wrapper;
use crate::formats::perf::layout::RECORD_HEADER;
use crate::kit::cursor::Order;
use crate::kit::num::{align8, to_u64, to_usize};
use crate::kit::span::{Layer, Span};
use crate::model::edit::Edit;

/// The part of a compressed record that [`drop_after`] drops.
pub struct Tail {
    /// The edits of the fields and of the padding before it.
    pub edits: Vec<Edit>,
    /// Its bytes.
    pub span: Span,
}

/// Offset of `header.size` in a record.
const SIZE_FIELD: u64 = 6;
/// Offset of `data_size` in a COMPRESSED2 record.
const DATA_SIZE_FIELD: u64 = 8;

/// Ends the compressed record at `offset` of file `layer.file` after `valid` bytes of its zstd
/// data. `None` if a record cannot have that size.
pub fn truncate_record(
    (layer, offset): (Layer, u64),
    wrapper: Wrapper,
    valid: u64,
    order: Order,
) -> Option<Seam> {
    let has_padding = wrapper == Wrapper::Compressed2;
    let size = valid.saturating_add(wrapper.head_len());
    let padded = if has_padding { align8(size) } else { size };
    let size_bytes = u16_bytes(u16::try_from(padded).ok()?, order);
    let span = Span::sized(layer, offset.saturating_add(SIZE_FIELD), 2);
    let mut edits = vec![Edit::replace(span, size_bytes)];
    if has_padding {
        edits.push(write_data_size(Span::sized(layer, offset, size), valid, order));
    }
    let padding = vec![0; to_usize(padded.saturating_sub(size))];
    Some(Seam { end: offset.saturating_add(size), edits, padding })
}

/// Ends a complete compressed record after `valid` bytes of its zstd data. `None` if nothing of the
/// record would be left.
pub fn drop_after(record: Span, wrapper: Wrapper, valid: u64, order: Order) -> Option<Tail> {
    let seam = truncate_record((record.layer, record.start), wrapper, valid, order)?;
    let padded = seam.end.saturating_add(to_u64(seam.padding.len()));
    if valid == 0 || padded > record.end {
        return None;
    }
    let mut edits = seam.edits;
    if !seam.padding.is_empty() {
        edits.push(Edit::replace(Span::new(record.layer, seam.end, padded), seam.padding));
    }
    Some(Tail { edits, span: Span::new(record.layer, padded, record.end) })
}

/// Joins two COMPRESSED records. `None` if they do not adjoin, or a record cannot have that size.
pub fn join_records(first: Span, next: Span, order: Order) -> Option<Vec<Edit>> {
    let size = next.end.checked_sub(first.start)?.checked_sub(RECORD_HEADER)?;
    let size = u16_bytes(u16::try_from(size).ok()?, order);
    let field = Span::sized(first.layer, first.start.saturating_add(SIZE_FIELD), 2);
    let header = Span::sized(next.layer, next.start, RECORD_HEADER);
    let edits = vec![Edit::replace(field, size), Edit::drop(header)];
    (first.layer == next.layer && first.end == next.start).then_some(edits)
}

/// Writes `data_size` of the COMPRESSED2 record at `record`.
pub fn write_data_size(record: Span, size: u64, order: Order) -> Edit {
    let span = Span::sized(record.layer, record.start.saturating_add(DATA_SIZE_FIELD), 8);
    Edit::replace(span, u64_bytes(size, order))
}
