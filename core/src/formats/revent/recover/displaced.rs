//! Bytes that were inserted among the events, or are missing there.
//!
//! All events of a layout have one size, and the head counts them, so the length of the file is
//! known. If the events after a place are not in their places, by as many bytes as the length is
//! wrong, or by multiples of an event more, these are the bytes.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::recover::recording::Recording;
use crate::kit::reading::{Cause, Displacement};
use crate::kit::span::Span;

/// Most bytes that are inserted or missing: a count that differs by more is damaged itself.
const MOST: u64 = 1 << 20;

/// Returns the bytes, with the events around them.
pub fn find(recording: &Recording<'_>) -> Option<Displacement> {
    let Recording { head, extent, .. } = recording;
    let (first, last) = (extent.all.gaps().first()?, extent.all.gaps().last()?);
    let count = head.count.filter(|count| *count > 0)?;
    let stride = head.generation.layout().event;
    let added = if extent.pair.is_some_and(|pair| !pair.counted) { 2 } else { 0 };
    let events = count.checked_add(added)?.checked_mul(stride)?;
    let (written, stored) = (head.events.checked_add(events)?, recording.file_len());
    let between = extent.all.gaps().iter().fold(0_u64, |sum, gap| sum.saturating_add(gap.len()));
    let is_between = |len: u64| len.checked_rem(stride) == between.checked_rem(stride);
    let inserted = stored.checked_sub(written).filter(|len| *len > 0 && is_between(*len));
    let missing = written.checked_sub(stored);
    let missing = missing.filter(|len| len.saturating_add(between).is_multiple_of(stride));
    let found = inserted.map(|len| (Cause::Inserted, len));
    let (cause, len) = found.or_else(|| missing.map(|len| (Cause::Missing, len)))?;
    if len == 0 || len > MOST {
        return None;
    }
    // An event beside the bytes may be read although a part of it is not its own.
    let start = first.start.saturating_sub(stride).max(head.events.min(first.start));
    let end = last.end.saturating_add(stride).min(stored);
    let witnesses = vec![(Span::sized(FILE, head.prefix, 8), "the number of the events")];
    Some(Displacement { range: Span::new(FILE, start, end), cause, len, witnesses })
}
