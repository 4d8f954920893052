//! The end of the recording: count, times, trailing bytes, and keys that are still pressed.

use crate::formats::revent::check::device::Device;
use crate::formats::revent::check::scan::Scan;
use crate::formats::revent::check::{Context, format_micros, times};
use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::event::name_code;
use crate::formats::revent::decode::time::Time;
use crate::formats::revent::layout::{BUFFER, GAP, Generation, LEAD, LEAD_FROM_ZERO, kind};
use crate::formats::revent::limits::RELEASED;
use crate::formats::revent::options::{ReleaseMode, release_mode};
use crate::formats::revent::recover::extent::{Ending, EnterPair};
use crate::formats::revent::recover::recording::Recording;
use crate::formats::revent::repair::ending::{
    Closing, close_fix, drop_gaps_fix, drop_trailing_fix,
};
use crate::formats::revent::repair::release::{Held, Release, release_events};
use crate::formats::revent::rules;
use crate::kit::holes::describe_trailing;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words;
use crate::model::edit::Fix;
use crate::model::rule::common;
use crate::model::{Finding, Report};

/// Pressed keys and contacts that a message names.
const HELD_SHOWN: usize = 8;

/// Judges how the recording ends.
pub(super) fn check(context: &Context<'_, '_>, scan: &Scan<'_>, report: &mut Report) {
    let Context { recording, .. } = context;
    let extent = &recording.extent;
    let release = find_release(context, scan);
    if extent.ending != Ending::CountZero {
        times::check(recording, scan, report);
    }
    if let Some(finding) = describe_ending(recording) {
        report.push(finding.fix_if(ending_fix(recording, scan, &release)));
    }
    check_trailing(recording, report);
    check_alignment(recording, report);
    if let Some(pair) = extent.pair {
        check_enter_pair(recording, &pair, report);
    }
    if extent.count == 0 {
        let at = recording.head.events.min(recording.file_len());
        let span = Span::new(FILE, at, at);
        report.push(Finding::new(&rules::NO_EVENTS, span, "events", "missing events: 0 events"));
    }
    let mut fix = release_fix(context, &release);
    check_pressed(recording, scan, &mut fix, report);
    check_open_frames(recording, scan, &mut fix, report);
    if release.is_over_limit {
        push_release_limit(context, report);
    }
}

/// Returns the events that a repair adds, if it is asked to release what is pressed.
fn find_release(context: &Context<'_, '_>, scan: &Scan<'_>) -> Release {
    let Context { recording, options } = context;
    let is_wanted = match release_mode(options) {
        ReleaseMode::Never => false,
        ReleaseMode::Auto => recording.extent.tail_lost,
        ReleaseMode::Always => true,
    };
    if !is_wanted {
        return Release::default();
    }
    let pair = recording.extent.pair;
    let held = (0_i32..).zip(&scan.devices).map(|(index, device)| Held {
        device: index,
        slot: device.slot,
        contacts: device.contacts().map(|(slot, _)| slot).collect(),
        keys: pressed_keys(device, index, pair).collect(),
        last_time: device.last_time,
        has_open_frame: device.open_frame.is_some(),
    });
    release_events(held, scan.last_time, options.limits.of(&RELEASED))
}

/// Returns the keys that are pressed, without the one that the recorder's own pair releases.
fn pressed_keys(
    device: &Device,
    index: i32,
    pair: Option<EnterPair>,
) -> impl Iterator<Item = u16> + '_ {
    device.pressed_keys().filter(move |key| !pair.is_some_and(|pair| pair.releases(index, *key)))
}

/// Returns the fix that only releases what is pressed, or the option that makes it apply. A fix for
/// a lost end releases it, too.
fn release_fix(context: &Context<'_, '_>, release: &Release) -> Option<Fix> {
    let Context { recording, options } = context;
    let extent = &recording.extent;
    if extent.tail_lost || extent.ending != Ending::Complete {
        return None;
    }
    if release_mode(options) == ReleaseMode::Auto {
        let summary = "release what is pressed at the time of the last event";
        return Some(Fix::manual(summary).option("--release always"));
    }
    let closing = Closing { times: None, dropped: 0, release, is_count_proven: true };
    (!release.events.is_empty()).then(|| close_fix(recording, &closing)).flatten()
}

fn push_release_limit(context: &Context<'_, '_>, report: &mut Report) {
    let extent = &context.recording.extent;
    let end = extent.all.offset(extent.framed);
    let max = context.options.limits.of(&RELEASED);
    let message = format!(
        "limit reached: releasing what is pressed needs more than {max} events; --release never \
         adds none"
    );
    let span = Span::new(FILE, end, end);
    report.push(Finding::new(&common::LIMIT_REACHED, span, "events", message));
}

/// Returns the finding for a count that is wrong, or for an end that was lost.
fn describe_ending(recording: &Recording<'_>) -> Option<Finding> {
    let (head, extent) = (&recording.head, &recording.extent);
    let field = Span::sized(FILE, head.prefix, 8);
    let stored = head.count.unwrap_or(0);
    let len = recording.file_len();
    let events = words::plural(extent.count, "complete event");
    let count = |rule, message| Finding::new(rule, field, "num_events", message);
    let finding = match extent.ending {
        Ending::Complete => return None,
        Ending::CountZero => {
            let verb = words::agree(extent.count, "follows", "follow");
            count(&rules::COUNT_ZERO, format!("num_events is 0, but {events} {verb}"))
        }
        Ending::CountTooLarge => {
            let message = format!("num_events is {stored}, but the file holds {events}");
            let finding = count(&rules::COUNT_TOO_LARGE, message);
            let end = Span::new(FILE, len.saturating_sub(1), len);
            let is_cut = extent.tail_lost && extent.all.gaps().is_empty();
            if is_cut { finding.related(end, "the end of the file") } else { finding }
        }
        Ending::CountTooSmall => {
            let message = format!("num_events is {stored}, but {events} follow one another");
            count(&rules::COUNT_TOO_SMALL, message)
        }
        Ending::Truncated => {
            let last = Span::new(FILE, extent.all.end(), len);
            let stride = head.generation.layout().event;
            let message =
                format!("truncated event: {} of {stride} bytes after {events}", last.len());
            Finding::new(&rules::TRUNCATED_EVENT, last, "events", message)
        }
        Ending::FullBuffers => {
            let buffers = len.checked_div(BUFFER).unwrap_or(0);
            let message = format!(
                "file length is {len} bytes ({buffers} x {BUFFER}): the recorder was killed"
            );
            Finding::new(&rules::FULL_BUFFERS, Span::new(FILE, 0, len), "file", message)
        }
    };
    let unframed = extent.count.saturating_sub(extent.framed);
    let finding = match describe_full_buffers(recording) {
        Some(note) => finding.note(note),
        None => finding,
    };
    if unframed == 0 {
        return Some(finding);
    }
    let span = extent.all.span(extent.framed, extent.count);
    let message = format!("{} after the last complete frame", words::plural(unframed, "event"));
    Some(finding.related(span, message))
}

/// Returns the note that the length of the file shows a killed recorder.
fn describe_full_buffers(recording: &Recording<'_>) -> Option<String> {
    let Recording { head, extent, .. } = recording;
    if !extent.tail_lost || !extent.full_buffers || extent.ending == Ending::FullBuffers {
        return None;
    }
    let header = if head.generation >= Generation::V2 { "16 + " } else { "" };
    let buffers = recording.file_len().checked_div(BUFFER).unwrap_or(0);
    let len = format!("{header}{buffers} x {BUFFER} bytes");
    Some(format!("the recorder was killed: the file ends with a full buffer ({len})"))
}

/// Returns the fix that completes the recording.
fn ending_fix(recording: &Recording<'_>, scan: &Scan<'_>, release: &Release) -> Option<Fix> {
    // Some of the releases would end the recording, and nothing would show that others are missing.
    if release.is_over_limit {
        return None;
    }
    let extent = &recording.extent;
    let keeps_end = extent.pair.is_some() || !extent.tail_lost;
    let framed_end = extent.all.offset(extent.framed);
    let dropped = if keeps_end { 0 } else { recording.file_len().saturating_sub(framed_end) };
    let stored = recording.head.times.map(|stored| stored.map(Time::narrowed));
    let times = stored.zip(scan.times());
    // The recorder writes count and times together: a killed one wrote none of them.
    let near = if extent.ending == Ending::CountZero { [LEAD_FROM_ZERO; 2] } else { [LEAD, GAP] };
    let times = times.map(|(stored, events)| times::fitting_times(stored, events, near));
    // Nothing proves a count: events that a copy doubled or lost would fit as well.
    close_fix(recording, &Closing { times, dropped, release, is_count_proven: false })
}

fn check_trailing(recording: &Recording<'_>, report: &mut Report) {
    let Some(trailing) = recording.extent.trailing else { return };
    let place = format!("after {}", words::plural(recording.extent.count, "event"));
    let message = describe_trailing(trailing.span.len(), trailing.is_tail, &place);
    let fix = drop_trailing_fix(trailing.span);
    report.push(Finding::new(&rules::TRAILING_BYTES, trailing.span, "events", message).fix(fix));
}

/// Reports bytes between the events that are not events.
fn check_alignment(recording: &Recording<'_>, report: &mut Report) {
    let gaps = recording.extent.all.gaps();
    if let Some(first) = gaps.first() {
        let bytes = gaps.iter().fold(0, |sum: u64, gap| sum.saturating_add(gap.len()));
        let message = format!(
            "{} at {} between the events: the events after them are not in their places",
            words::byte_count(bytes),
            words::plural(to_u64(gaps.len()), "place")
        );
        let finding = Finding::new(&rules::MISALIGNED, *first, "events", message);
        report.push(finding.fix(drop_gaps_fix(gaps, bytes)));
    }
    if let Some(at) = recording.extent.all.search_end {
        let span = Span::new(FILE, at, recording.file_len());
        let message = "the search for events after damage reached its limit: the rest is read as \
                       if it were in its place";
        report.push(Finding::new(&common::SEARCH_ENDED, span, "events", message));
    }
}

fn check_enter_pair(recording: &Recording<'_>, pair: &EnterPair, report: &mut Report) {
    let span = pair.span(&recording.extent.all);
    let path = format!("events[{}]", pair.index);
    let counted = if pair.counted { "counted" } else { "not counted" };
    let device = recording.device_name(pair.event.device);
    let message = format!("the recorder added {}, {counted} ({device})", pair.event.describe());
    report.push(Finding::new(&rules::ENTER_PAIR, span, path.clone(), message));
    if let Some(distance) = pair.distance {
        let message = format!(
            "the events that the recorder added are {} from the one before: they are on another \
             clock",
            format_micros(distance)
        );
        report.push(Finding::new(&rules::GAP, span, path, message));
    }
}

/// Reports keys and contacts that are still pressed; the first finding gets the fix.
fn check_pressed(
    recording: &Recording<'_>,
    scan: &Scan<'_>,
    fix: &mut Option<Fix>,
    report: &mut Report,
) {
    let extent = &recording.extent;
    let last = extent.framed.saturating_sub(1);
    let end = extent.all.span(last, extent.framed);
    for (index, device) in (0_i32..).zip(&scan.devices) {
        let contacts = device.contacts().map(|(slot, id)| format!("contact {id} in slot {slot}"));
        let keys = pressed_keys(device, index, extent.pair).map(|key| name_code(kind::KEY, key));
        let pressed: Vec<String> = contacts.chain(keys).collect();
        if pressed.is_empty() {
            continue;
        }
        let count = to_u64(pressed.len());
        let message = format!(
            "{} {} still pressed at the end ({})",
            words::list(&pressed, HELD_SHOWN, count),
            words::agree(count, "is", "are"),
            recording.device_name(index)
        );
        let finding = Finding::new(&rules::STILL_PRESSED, end, format!("events[{last}]"), message);
        report.push(finding.fix_if(fix.take()));
    }
}

/// Reports frames without an end; the first finding gets the fix if it is still there.
fn check_open_frames(
    recording: &Recording<'_>,
    scan: &Scan<'_>,
    fix: &mut Option<Fix>,
    report: &mut Report,
) {
    for (index, device) in (0_i32..).zip(&scan.devices) {
        let Some((first, event)) = device.open_frame else { continue };
        let span = recording.extent.all.event_span(first);
        let name = recording.device_name(index);
        let message =
            format!("missing SYN_REPORT after event {first}, {} ({name})", event.describe());
        let finding = Finding::new(&rules::FRAME_OPEN, span, format!("events[{first}]"), message);
        report.push(finding.fix_if(fix.take()));
    }
}
