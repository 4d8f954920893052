//! Fixes of the end: count, times, a truncated tail, releases, trailing bytes.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::extent::Ending;
use crate::formats::revent::decode::recording::Recording;
use crate::formats::revent::decode::time::Time;
use crate::formats::revent::repair::release::Release;
use crate::formats::revent::repair::write_count;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words;
use crate::mend::edit::{Edit, Fix, Safety};

/// Added events that a summary lists.
const ADDED_SHOWN: usize = 16;

/// Returns the edits that write start and end of the recording, each only if it changes.
fn write_times(prefix: u64, stored: [Time; 2], times: [Time; 2]) -> Vec<Edit> {
    let first = prefix.saturating_add(8);
    let fields = [first, first.saturating_add(16)].map(|at| Span::sized(FILE, at, 16));
    let changed = fields.into_iter().zip(stored.into_iter().zip(times));
    changed
        .filter(|(_, (stored, new))| stored != new)
        .map(|(span, (_, new))| Edit::replace(span, new.encode()))
        .collect()
}

/// Writes start and end of the recording, which follow the count at `prefix`.
pub(in crate::formats::revent) fn write_times_fix(
    prefix: u64,
    stored: [Time; 2],
    times: [Time; 2],
) -> Fix {
    let [start, end] = times;
    let summary = format!("set start to {start} and end to {end}");
    Fix::new(Safety::Exact, summary, write_times(prefix, stored, times))
}

/// Drops the bytes after the last event.
pub(in crate::formats::revent) fn drop_trailing_fix(span: Span) -> Fix {
    let summary = format!("drop {}", words::plural(span.len(), "trailing byte"));
    Fix::new(Safety::Lossy, summary, vec![Edit::drop(span)])
}

/// Completes a recording: writes count and times, drops `dropped` bytes after the last complete
/// frame, and adds the events of `release`. Returns `None` if nothing changes.
///
/// `times` are those of the first and the last event.
pub(in crate::formats::revent) fn close_fix(
    recording: &Recording<'_>,
    times: Option<[Time; 2]>,
    dropped: u64,
    release: &Release,
) -> Option<Fix> {
    let (head, extent) = (&recording.head, &recording.extent);
    let mut edits = Vec::new();
    let mut parts = Vec::new();
    let added = to_u64(release.events.len());
    let count = extent.framed.saturating_add(added);
    if let Some(edit) = write_count(head, count).filter(|_| head.count != Some(count)) {
        edits.push(edit);
        parts.push(format!("set num_events to {count}"));
    }
    let has_wrong_times = extent.ending == Ending::CountZero && !extent.times_fit;
    if let (true, Some(stored), Some(times)) = (has_wrong_times, head.times, times) {
        edits.extend(write_times(head.prefix, stored, times));
        let [start, end] = times;
        parts.push(format!("set start to {start} and end to {end}"));
    }
    let lost = if dropped > 0 { extent.count.saturating_sub(extent.framed) } else { 0 };
    if dropped > 0 || added > 0 {
        let at = extent.all.offset(extent.framed);
        let end = at.saturating_add(dropped).min(recording.file_len());
        let events = release.events.iter();
        let bytes: Vec<u8> = events.flat_map(|event| event.encode(head.generation)).collect();
        edits.push(Edit::replace(Span::new(FILE, at, end), bytes));
        parts.extend(describe_dropped(dropped, lost));
        parts.extend(describe_added(recording, release));
    }
    if edits.is_empty() {
        return None;
    }
    let safety = match (dropped, added) {
        (0, 0) => Safety::Exact,
        (0, _) => Safety::Synthetic,
        _ => Safety::Lossy,
    };
    Some(Fix { records_lost: lost, ..Fix::new(safety, parts.join(", "), edits) })
}

fn describe_dropped(dropped: u64, lost: u64) -> Option<String> {
    let events = words::plural(lost, "complete event");
    let bytes = words::byte_count(dropped);
    match (dropped, lost) {
        (0, _) => None,
        (_, 0) => Some(format!("drop {bytes} of a truncated event")),
        _ => Some(format!("drop {bytes} after the last complete frame ({events})")),
    }
}

fn describe_added(recording: &Recording<'_>, release: &Release) -> Option<String> {
    let total = to_u64(release.events.len());
    let events = release
        .events
        .iter()
        .take(ADDED_SHOWN)
        .map(|event| format!("{} {}", recording.device_name(event.device), event.describe()));
    let events: Vec<String> = events.collect();
    (total > 0).then(|| {
        let list = words::list(&events, ADDED_SHOWN, total);
        format!("add {} that release what is pressed: {list}", words::plural(total, "event"))
    })
}
