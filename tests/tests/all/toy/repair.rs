//! Builds the edits of fixes. Does not import `check`.

use tracemend::words::byte_count;
use tracemend::{Edit, Fix, Safety, Span};

/// Builds the fix that writes the number of items.
pub(super) fn set_count(span: Span, count: u32) -> Fix {
    let summary = format!("sets the count to {count}");
    Fix::new(Safety::Exact, summary, vec![Edit::replace(span, count.to_le_bytes())])
}

/// Builds the fix that drops a truncated item.
pub(super) fn drop_item(span: Span) -> Fix {
    let summary = format!("drops {} of a truncated item", byte_count(span.len()));
    Fix::new(Safety::Lossy, summary, vec![Edit::drop(span)])
}
