//! Start and end of the recording, if the recorder wrote them (version 3).

use crate::formats::revent::check::format_micros;
use crate::formats::revent::check::scan::Scan;
use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::time::Time;
use crate::formats::revent::layout::{GAP, LEAD, LEAD_FROM_ZERO};
use crate::formats::revent::recover::recording::Recording;
use crate::formats::revent::repair::ending::{narrow_bounds_fix, write_times_fix};
use crate::formats::revent::rules;
use crate::kit::span::Span;
use crate::model::{Finding, Report};

/// Judges start and end of the recording.
pub(super) fn check(recording: &Recording<'_>, scan: &Scan<'_>, report: &mut Report) {
    let head = &recording.head;
    let Some(stored) = head.times else { return };
    let span = Span::sized(FILE, head.prefix.saturating_add(8), 32);
    let narrowed = stored.map(Time::narrowed);
    if stored.iter().any(|time| time.is_widened()) {
        let message =
            format!("{}: the high halves of the seconds hold nanoseconds", describe(stored));
        let finding = Finding::new(&rules::TIMES_WIDENED, span, "start_time", message);
        report.push(finding.fix(narrow_bounds_fix(head.prefix, stored)));
    }
    let fits = recording.extent.times_fit;
    let events = scan.times();
    let finding = match events {
        Some(events) if fits => match find_wait(narrowed, events) {
            Some(wait) => Finding::new(&rules::TIMES_MISMATCH, span, "start_time", wait),
            None => return,
        },
        None if fits => return,
        Some(events) if are_unwritten(narrowed) => describe_unwritten(span, narrowed, events),
        _ => describe_mismatch(span, stored, scan.range),
    };
    let fix = events
        .map(|events| write_times_fix(head, stored, fitting_times(narrowed, events, [LEAD, GAP])));
    report.push(finding.fix_if(fix));
}

/// Returns whether a time is 0, and the other one can be right.
fn are_unwritten(times: [Time; 2]) -> bool {
    times.iter().all(|time| time.is_sane()) && times.iter().any(|time| time.is_zero())
}

/// Returns the finding for times that the recorder did not write.
fn describe_unwritten(span: Span, times: [Time; 2], [first, last]: [Time; 2]) -> Finding {
    let message = match times.map(Time::is_zero) {
        [true, true] => format!("start and end are 0, but the first event is at {first}"),
        [true, false] => format!("start is 0, but the first event is at {first}"),
        _ => format!("end is 0, but the last event is at {last}"),
    };
    Finding::new(&rules::TIMES_UNWRITTEN, span, "start_time", message)
}

/// Returns the finding for times that are out of range, or do not fit the events.
fn describe_mismatch(span: Span, stored: [Time; 2], range: Option<(i64, i64)>) -> Finding {
    if stored.iter().any(|time| !time.narrowed().is_sane()) {
        let message = format!("{}: a time is out of range", describe(stored));
        return Finding::new(&rules::TIMES_IMPLAUSIBLE, span, "start_time", message);
    }
    let events = range.map_or_else(String::new, |(first, last)| {
        format!(", but the events are from {} to {}", format_micros(first), format_micros(last))
    });
    let message = format!("{}{events}", describe(stored));
    Finding::new(&rules::TIMES_MISMATCH, span, "start_time", message)
}

/// Returns why a replay pauses for long before the first event or after the last one.
fn find_wait([start, end]: [Time; 2], [first, last]: [Time; 2]) -> Option<String> {
    let lead = start.micros_until(first).filter(|micros| *micros > LEAD);
    let rest = last.micros_until(end).filter(|micros| *micros > GAP);
    if let Some(micros) = lead {
        let wait = Time::from_micros(micros);
        return Some(format!("start is {start}, {wait} before the first event"));
    }
    let wait = Time::from_micros(rest?);
    Some(format!("end is {end}, {wait} after the last event"))
}

fn describe([start, end]: [Time; 2]) -> String {
    format!("start is {start} and end is {end}")
}

/// Returns start and end, of which one may be right, or else the times of the first and last event.
/// The last argument has the most microseconds from the start to the first event, and from the last
/// event to the end.
pub(super) fn fitting_times(
    [start, end]: [Time; 2],
    [first, last]: [Time; 2],
    [lead, rest]: [i64; 2],
) -> [Time; 2] {
    let is_near = |micros: Option<i64>, max: i64| micros.is_some_and(|micros| micros <= max);
    let end_fits = end.is_sane() && is_near(last.micros_until(end), rest);
    // A start of 0 is a time only beside an end.
    let lead = match (start.is_zero(), end_fits) {
        (true, true) => lead.min(LEAD_FROM_ZERO),
        (true, false) => 0,
        _ => lead,
    };
    let start_fits = start.is_sane() && is_near(start.micros_until(first), lead);
    [if start_fits { start } else { first }, if end_fits { end } else { last }]
}
