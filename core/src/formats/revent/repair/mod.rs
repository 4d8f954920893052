//! The edits of fixes. Decides nothing about policy.
//!
//! A fix that changes the number of events writes the count itself. Two such fixes overlap, so that
//! a round applies only one of them: neither would know the count that the other leaves.

pub(super) mod ending;
pub(super) mod events;
pub(super) mod head;
pub(super) mod release;
pub(super) mod upgrade;

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::head::Head;
use crate::kit::span::Span;
use crate::model::edit::Edit;

/// Returns the edit that writes the event count, or `None` in layouts without one.
fn write_count(head: &Head, count: u64) -> Option<Edit> {
    head.count?;
    Some(Edit::replace(Span::sized(FILE, head.prefix, 8), count.to_le_bytes()))
}
