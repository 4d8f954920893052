//! Shortens a compressed record to its valid blocks.

use super::close::Seam;
use super::encode::{u16_bytes, u64_bytes};
use crate::formats::perf::decode::expand::Wrapper;
use crate::kit::cursor::Order;
use crate::kit::num::{align8, to_usize};
use crate::kit::span::{Layer, Span};
use crate::mend::edit::Edit;

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
        let span = Span::sized(layer, offset.saturating_add(DATA_SIZE_FIELD), 8);
        edits.push(Edit::replace(span, u64_bytes(valid, order)));
    }
    let padding = vec![0; to_usize(padded.saturating_sub(size))];
    Some(Seam { end: offset.saturating_add(size), edits, padding })
}
