//! Fixes of events: damaged ones are dropped, widened times are narrowed.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::event::narrow_if;
use crate::formats::revent::layout::Generation;
use crate::formats::revent::recover::recording::Recording;
use crate::formats::revent::repair::write_count;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words;
use crate::model::edit::{Edit, Fix, Safety};

/// Drops runs of events; `defect` describes them in the summary.
pub(in crate::formats::revent) fn drop_events_fix(
    recording: &Recording<'_>,
    runs: &[(u64, u64)],
    defect: &str,
) -> Fix {
    let len = |(first, end): &(u64, u64)| end.saturating_sub(*first);
    let count = runs.iter().map(len).fold(0, u64::saturating_add);
    let (head, extent) = (&recording.head, &recording.extent);
    let stored = head.count.map(|stored| stored.saturating_sub(count));
    let mut edits: Vec<Edit> =
        stored.and_then(|count| write_count(head, count)).into_iter().collect();
    edits.extend(runs.iter().map(|(first, end)| Edit::drop(extent.all.span(*first, *end))));
    let summary = format!("drop {} {defect}", words::plural(count, "event"));
    Fix { records_lost: count, ..Fix::new(Safety::Lossy, summary, edits) }
}

/// Offsets of the high halves of seconds and microseconds in a widened event, and of the fields
/// that they repeat.
const HALVES: [(u64, u64, &str); 2] = [
    (6, 10, "the microseconds, which are repeated"),
    (14, 18, "type and code, which are repeated"),
];

/// Clears the high halves of the times of the events, the recorder's own pair included.
///
/// # Errors
///
/// The number of bytes to write, if it is more than `max`.
pub(in crate::formats::revent) fn narrow_times_fix(
    recording: &Recording<'_>,
    max: u64,
) -> Result<Fix, u64> {
    let extent = &recording.extent;
    let pair = extent.pair.map_or(extent.framed, |pair| pair.index.saturating_add(2));
    let count = pair.max(extent.framed);
    let bytes = count.saturating_mul(8);
    if bytes > max {
        return Err(bytes);
    }
    let widened = recording.stored_events(count).filter(|(_, event)| event.is_widened());
    let starts: Vec<u64> = widened.map(|(index, _)| extent.all.offset(index)).collect();
    let half = |start: &u64, at: u64| Span::sized(FILE, start.saturating_add(at), 4);
    let edits = starts
        .iter()
        .flat_map(|start| HALVES.map(|(high, ..)| Edit::replace(half(start, high), [0; 4])))
        .collect();
    let events = words::plural(to_u64(starts.len()), "event");
    let summary = format!("clear the high halves of the times of {events}");
    let fix = Fix::new(Safety::Exact, summary, edits);
    // Every event has its own witnesses; those of the first show where they are.
    let first = starts.first().into_iter();
    let witnesses = first.flat_map(|start| HALVES.map(|(_, low, name)| (half(start, low), name)));
    Ok(witnesses.fold(fix, |fix, (span, name)| fix.witness(span, name)))
}

/// Returns the first `count` events, with narrowed times, as bytes of a layout.
pub(super) fn encode_events(
    recording: &Recording<'_>,
    count: u64,
    generation: Generation,
) -> Vec<u8> {
    let widened = recording.extent.widened;
    let events = recording.stored_events(count);
    events.flat_map(|(_, event)| narrow_if(event, widened).encode(generation)).collect()
}
