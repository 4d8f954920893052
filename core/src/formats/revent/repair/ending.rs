//! Fixes of the end: count, times, a truncated tail, releases, trailing bytes.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::head::Head;
use crate::formats::revent::decode::time::Time;
use crate::formats::revent::recover::extent::Ending;
use crate::formats::revent::recover::recording::Recording;
use crate::formats::revent::repair::release::Release;
use crate::formats::revent::repair::write_count;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words;
use crate::model::edit::{Edit, Fix, Safety};

/// Added events that a summary lists.
const ADDED_SHOWN: usize = 16;

/// Returns start and end as they are stored, with their new values, where those differ.
fn changed_times(prefix: u64, stored: [Time; 2], times: [Time; 2]) -> Vec<(Span, Time)> {
    let first = prefix.saturating_add(8);
    let fields = [first, first.saturating_add(16)].map(|at| Span::sized(FILE, at, 16));
    let changed = fields.into_iter().zip(stored.into_iter().zip(times));
    changed.filter(|(_, (stored, new))| stored != new).map(|(span, (_, new))| (span, new)).collect()
}

/// Writes start and end of the recording. The events show values that fit, not the ones that the
/// recorder wrote or would have written.
pub(in crate::formats::revent) fn write_times_fix(
    head: &Head,
    stored: [Time; 2],
    times: [Time; 2],
) -> Fix {
    let [start, end] = times;
    let summary = format!("set start to {start} and end to {end}");
    let fix = Fix::new(Safety::Lossy, summary, time_edits(head, stored, times));
    let safety = fix.class_by_edits();
    Fix { safety, ..fix }
}

/// The edits that write start and end, which follow the count. A time of 0 is one that the recorder
/// had not written yet, unless its place is in doubt.
fn time_edits(head: &Head, stored: [Time; 2], times: [Time; 2]) -> Vec<Edit> {
    let first = head.prefix.saturating_add(8);
    let changed = changed_times(head.prefix, stored, times).into_iter();
    let edit = |(span, time): (Span, Time)| {
        let [start, end] = stored;
        let old = if span.start == first { start } else { end };
        let fills = old.is_zero() && head.has_recorded_devices();
        Edit { fills, ..Edit::replace(span, time.encode()) }
    };
    changed.map(edit).collect()
}

/// Clears the high halves of the seconds of start and end, where they hold nanoseconds.
pub(in crate::formats::revent) fn narrow_bounds_fix(prefix: u64, stored: [Time; 2]) -> Fix {
    let [start, end] = stored.map(Time::narrowed);
    let summary = format!("set start to {start} and end to {end}");
    let changed = changed_times(prefix, stored, [start, end]);
    let seconds = changed.iter().map(|(span, _)| span.start());
    let high = seconds.clone().map(|at| Span::sized(FILE, at.saturating_add(4), 4));
    let edits = high.map(|span| Edit::replace(span, [0; 4])).collect();
    seconds.fold(Fix::new(Safety::Exact, summary, edits), |fix, at| {
        let micros = Span::sized(FILE, at.saturating_add(8), 8);
        fix.witness(micros, "the microseconds, a thousandth of the nanoseconds")
    })
}

/// Drops bytes between the events, `bytes` in all.
pub(in crate::formats::revent) fn drop_gaps_fix(gaps: &[Span], bytes: u64) -> Fix {
    let summary = format!("drop {} between the events", words::byte_count(bytes));
    Fix::new(Safety::Lossy, summary, gaps.iter().copied().map(Edit::drop).collect())
}

/// Drops the bytes after the last event.
pub(in crate::formats::revent) fn drop_trailing_fix(span: Span) -> Fix {
    let summary = format!("drop {}", words::plural(span.len(), "trailing byte"));
    Fix::new(Safety::Lossy, summary, vec![Edit::drop(span)])
}

/// The changes that complete a recording.
#[derive(Debug)]
pub(in crate::formats::revent) struct Closing<'r> {
    /// Start and end that fit the events.
    pub(in crate::formats::revent) times: Option<[Time; 2]>,
    /// Bytes to drop after the last complete frame.
    pub(in crate::formats::revent) dropped: u64,
    /// Events to add there.
    pub(in crate::formats::revent) release: &'r Release,
    /// Whether the events alone determine the count.
    pub(in crate::formats::revent) is_count_proven: bool,
}

/// Completes a recording: writes count and times, drops bytes after the last complete frame, and
/// adds events. Returns `None` if nothing changes.
pub(in crate::formats::revent) fn close_fix(
    recording: &Recording<'_>,
    closing: &Closing<'_>,
) -> Option<Fix> {
    let (head, extent) = (&recording.head, &recording.extent);
    let &Closing { times, dropped, release, is_count_proven } = closing;
    let mut edits = Vec::new();
    let mut parts = Vec::new();
    let added = to_u64(release.events.len());
    let count = extent.framed.saturating_add(added);
    // A killed recorder has written neither count nor times. After a path that no recorder writes,
    // their places are in doubt: they may be those of recorded bytes.
    let is_unfinished = extent.ending == Ending::CountZero;
    let is_placeholder = is_unfinished && head.has_recorded_devices();
    if let Some(edit) = write_count(head, count).filter(|_| head.count != Some(count)) {
        edits.push(Edit { fills: is_placeholder, ..edit });
        parts.push(format!("set num_events to {count}"));
    }
    let has_wrong_times = is_unfinished && !extent.times_fit;
    if let (true, Some(stored), Some(times)) = (has_wrong_times, head.times, times) {
        edits.extend(time_edits(head, stored, times));
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
    let mut fix = Fix::new(Safety::Lossy, parts.join(", "), edits);
    fix.records_lost = lost;
    if is_count_proven && dropped == 0 {
        let events = extent.all.span(0, extent.framed);
        fix = fix.witness(events, "the events, which the count counts");
    }
    let shown = fix.class_by_edits();
    fix.safety = if added > 0 { shown.max(Safety::Synthetic) } else { shown };
    Some(fix)
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
