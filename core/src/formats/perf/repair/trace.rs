//! Shortens an AUXTRACE to the part of its trace that is present.

use super::close::Seam;
use super::encode::u64_bytes;
use crate::formats::perf::layout::RECORD_HEADER;
use crate::kit::cursor::Order;
use crate::kit::span::Span;
use crate::model::edit::Edit;

/// perf writes traces in multiples of this many bytes.
const ALIGNMENT: u64 = 8;

/// Ends the AUXTRACE record of `size` bytes at the start of `present` with the last complete word
/// of its trace. `None` if it has none.
pub fn truncate_trace(present: Span, size: u64, order: Order) -> Option<Seam> {
    let left = present.len().checked_sub(size)?;
    let kept = left.saturating_sub(left.checked_rem(ALIGNMENT)?);
    let field = Span::sized(present.layer, present.start.saturating_add(RECORD_HEADER), 8);
    let edits = vec![Edit::replace(field, u64_bytes(kept, order))];
    let end = present.start.saturating_add(size).saturating_add(kept);
    (kept > 0 && size >= field.end.saturating_sub(present.start)).then(|| Seam {
        end,
        edits,
        padding: Vec::new(),
    })
}
