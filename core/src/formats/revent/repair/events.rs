//! Fixes of events: damaged ones are dropped, widened times are narrowed.

use crate::formats::revent::decode::event::narrow_if;
use crate::formats::revent::decode::recording::Recording;
use crate::formats::revent::layout::Generation;
use crate::formats::revent::repair::write_count;
use crate::kit::words;
use crate::mend::edit::{Edit, Fix, Safety};

/// Drops runs of events, `count` in all; `defect` describes them in the summary.
pub(in crate::formats::revent) fn drop_events_fix(
    recording: &Recording<'_>,
    runs: &[(u64, u64)],
    count: u64,
    defect: &str,
) -> Fix {
    let (head, extent) = (&recording.head, &recording.extent);
    let stored = head.count.map(|stored| stored.saturating_sub(count));
    let mut edits: Vec<Edit> =
        stored.and_then(|count| write_count(head, count)).into_iter().collect();
    edits.extend(runs.iter().map(|(first, end)| Edit::drop(extent.all.span(*first, *end))));
    let summary = format!("drop {} {defect}", words::plural(count, "event"));
    Fix { records_lost: count, ..Fix::new(Safety::Lossy, summary, edits) }
}

/// Clears the high halves of the events' times.
///
/// # Errors
///
/// The number of bytes to write, if it is more than `max`.
pub(in crate::formats::revent) fn narrow_times_fix(
    recording: &Recording<'_>,
    max: u64,
) -> Result<Fix, u64> {
    let extent = &recording.extent;
    let span = extent.all.span(0, extent.framed);
    if span.len() > max {
        return Err(span.len());
    }
    let bytes = encode_events(recording, extent.framed, recording.head.generation);
    let events = words::plural(extent.framed, "event");
    let summary = format!("clear the high halves of the times of {events}");
    Ok(Fix::new(Safety::Exact, summary, vec![Edit::replace(span, bytes)]))
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
