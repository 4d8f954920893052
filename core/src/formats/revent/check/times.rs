//! Start and end of the recording, if the recorder wrote them (version 3).

use crate::formats::revent::check::format_micros;
use crate::formats::revent::check::scan::Scan;
use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::recording::Recording;
use crate::formats::revent::decode::time::Time;
use crate::formats::revent::layout::GAP;
use crate::formats::revent::repair::ending::{narrow_bounds_fix, write_times_fix};
use crate::formats::revent::rules;
use crate::kit::span::Span;
use crate::report::{Finding, Report};

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
    if recording.extent.times_fit {
        return;
    }
    let mut finding = if narrowed.iter().all(|time| time.is_sane()) {
        let events = scan.range.map_or_else(String::new, |(first, last)| {
            format!(", but the events are from {} to {}", format_micros(first), format_micros(last))
        });
        let message = format!("{}{events}", describe(stored));
        Finding::new(&rules::TIMES_MISMATCH, span, "start_time", message)
    } else {
        let message = format!("{}: a time is out of range", describe(stored));
        Finding::new(&rules::TIMES_IMPLAUSIBLE, span, "start_time", message)
    };
    if let Some(events) = scan.times() {
        let times = fitting_times(narrowed, events);
        finding = finding.fix(write_times_fix(head.prefix, stored, times));
    }
    report.push(finding);
}

fn describe([start, end]: [Time; 2]) -> String {
    format!("start is {start} and end is {end}")
}

/// Returns start and end, of which one may be right, or else the times of the first and last event.
pub(super) fn fitting_times([start, end]: [Time; 2], [first, last]: [Time; 2]) -> [Time; 2] {
    let is_near =
        |one: Time, two: Time| one <= two && two.micros().saturating_sub(one.micros()) <= GAP;
    [
        if start.is_sane() && is_near(start, first) { start } else { first },
        if end.is_sane() && is_near(last, end) { end } else { last },
    ]
}
