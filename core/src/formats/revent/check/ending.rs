//! How the recording ends: count, times, trailing bytes, what is still held.

use crate::formats::revent::limits::RELEASED;
use crate::formats::revent::options::{self, Release};
use crate::formats::revent::check::pass::{Device, Pass};
use crate::formats::revent::check::{Recording, shown};
use crate::formats::revent::decode::event::code_name;
use crate::formats::revent::decode::extent::{Ending, EnterPair, is_whole_pages};
use crate::formats::revent::decode::head::{FILE, Time};
use crate::formats::revent::layout::{BUFFER, Generation, kind};
use crate::formats::revent::repair::{self, Tail};
use crate::formats::revent::rules;
use crate::kit::span::Span;
use crate::mend::edit::{Fix, Safety};
use crate::report::rule::common;
use crate::report::{Finding, Report, Rule};

/// Held keys and contacts that a message names.
const HELD_SHOWN: usize = 8;

/// Judges how the recording ends.
pub(super) fn check(recording: &Recording<'_, '_>, pass: &Pass<'_, '_, '_>, report: &mut Report) {
    let let_go = let_go(recording, pass);
    if recording.extent.ending != Ending::CountZero {
        times(recording, pass, report);
    }
    tail(recording, pass, &let_go, report);
    trailing(recording, report);
    if let Some(pair) = recording.extent.pair {
        enter_pair(recording, &pair, report);
    }
    if recording.extent.kept == 0 {
        let at = recording.head.events.min(recording.source.len());
        let message = "0 events";
        report.push(Finding::new(&rules::NO_EVENTS, Span::new(FILE, at, at), "events", message));
    }
    unfinished(recording, pass, &let_go, report);
    if let_go.over {
        let end = recording.extent.all.offset(recording.extent.cut);
        let max = recording.options.limits.of(&RELEASED);
        let message = format!(
            "letting go of what is held adds more than {max} events; --release=never adds none"
        );
        let span = Span::new(FILE, end, end);
        report.push(Finding::new(&common::LIMIT_REACHED, span, "events", message));
    }
}

/// What a repair lets go of, if it is asked to: in the tail's fix where the tail was lost.
fn let_go(recording: &Recording<'_, '_>, pass: &Pass<'_, '_, '_>) -> Tail {
    let wanted = match options::release(recording.options) {
        Release::Never => false,
        Release::Auto => recording.extent.tail_lost,
        Release::Always => true,
    };
    if wanted { repair::let_go(recording, &pass.devices, pass.last) } else { Tail::default() }
}

/// Start and end of the recording, where the recorder wrote them.
fn times(recording: &Recording<'_, '_>, pass: &Pass<'_, '_, '_>, report: &mut Report) {
    let Recording { head, extent, .. } = recording;
    let Some([start, end]) = head.times else { return };
    let at = head.prefix.saturating_add(8);
    let span = Span::sized(FILE, at, 32);
    let (narrow_start, narrow_end) = (start.narrowed(), end.narrowed());
    if start.is_wide() || end.is_wide() {
        let message = format!("start {start}, end {end}: the nanoseconds stand in the high words");
        let edits = repair::times(at, [start, end], [narrow_start, narrow_end]);
        let summary = format!("writes start {narrow_start} and end {narrow_end}");
        let fix = Fix::new(Safety::Exact, summary, edits);
        report.push(Finding::new(&rules::TIMES_WIDE, span, "start_time", message).fix(fix));
    }
    if extent.times_fit {
        return;
    }
    let (rule, message): (&'static Rule, String) =
        if !narrow_start.is_sane() || !narrow_end.is_sane() {
            (&rules::TIMES_IMPLAUSIBLE, format!("start {start}, end {end}"))
        } else {
            let range = pass.range.map_or_else(String::new, |(first, last)| {
                format!("; the events are of {} to {}", shown(first), shown(last))
            });
            (&rules::START_AFTER_END, format!("start {start}, end {end}{range}"))
        };
    let mut finding = Finding::new(rule, span, "start_time", message);
    if let Some([first, last]) = pass.times() {
        // One of them may be right.
        let fits = |time: Time| time.is_sane();
        let start = if fits(narrow_start) && narrow_start <= first { narrow_start } else { first };
        let near = |end: Time| {
            end >= last
                && end.micros().saturating_sub(last.micros()) <= crate::formats::revent::layout::GAP
        };
        let end = if fits(narrow_end) && near(narrow_end) { narrow_end } else { last };
        let edits = repair::times(at, head.times.unwrap_or_default(), [start, end]);
        let summary = format!("writes start {start} and end {end}");
        finding = finding.fix(Fix::new(Safety::Exact, summary, edits));
    }
    report.push(finding);
}

/// A count that is wrong, or an end that was lost.
fn tail(
    recording: &Recording<'_, '_>,
    pass: &Pass<'_, '_, '_>,
    let_go: &Tail,
    report: &mut Report,
) {
    let Recording { source, head, extent, .. } = recording;
    let field = Span::sized(FILE, head.prefix, 8);
    let stored = head.count.unwrap_or(0);
    let end = source.len();
    let partial = end.saturating_sub(extent.all.end());
    let cut = extent.kept.saturating_sub(extent.cut);
    let pages = if extent.tail_lost && is_whole_pages(source, head) {
        let past = if head.generation >= Generation::V2 { "16 + " } else { "" };
        let buffers = end.checked_div(BUFFER).unwrap_or(0);
        format!("; the file has {past}{buffers} * {BUFFER} bytes: the recorder was killed")
    } else {
        String::new()
    };
    let last = Span::new(FILE, extent.all.end(), end);
    let (rule, span, path, message): (&'static Rule, Span, &'static str, String) = match extent
        .ending
    {
        Ending::Whole => return,
        Ending::CountZero => (
            &rules::COUNT_ZERO,
            field,
            "num_events",
            format!("num_events is 0, {} whole events follow{pages}", extent.kept),
        ),
        Ending::CountTooLarge => (
            &rules::COUNT_TOO_LARGE,
            field,
            "num_events",
            format!("num_events is {stored}, the file holds {}{pages}", extent.kept),
        ),
        Ending::CountTooSmall => (
            &rules::COUNT_TOO_SMALL,
            field,
            "num_events",
            format!("num_events is {stored}, {} follow each other", extent.kept),
        ),
        Ending::Torn => {
            let stride = head.generation.layout().event;
            let message = format!(
                "{partial} bytes of an event of {stride} follow {} whole events{pages}",
                extent.kept
            );
            (&rules::TORN_EVENT, last, "events", message)
        }
        Ending::WholePages => {
            let buffers = end.checked_div(BUFFER).unwrap_or(0);
            let message = format!("{end} bytes are {buffers} * {BUFFER}: the recorder was killed");
            (&rules::WHOLE_PAGES, Span::new(FILE, 0, end), "file", message)
        }
    };
    let mut finding = Finding::new(rule, span, path, message);
    if cut > 0 {
        let from = extent.all.offset(extent.cut);
        let span = Span::new(FILE, from, extent.all.offset(extent.kept));
        finding = finding.related(span, format!("{cut} events behind the last whole frame"));
    }
    let kept = extent.pair.is_some() || !extent.tail_lost;
    let dropped = if kept { 0 } else { end.saturating_sub(extent.all.offset(extent.cut)) };
    // Half of what is asked for would end the recording without a word about the rest.
    let fix = repair::tail(recording, pass.times(), dropped, let_go).filter(|_| !let_go.over);
    if let Some(fix) = fix {
        finding = finding.fix(fix);
    }
    report.push(finding);
}

fn trailing(recording: &Recording<'_, '_>, report: &mut Report) {
    let Some(span) = recording.extent.trailing else { return };
    let bytes = recording.source.slices(span.start, span.end);
    let zeros = bytes.into_iter().all(|slice| slice.iter().all(|byte| *byte == 0));
    let what = if zeros { "zeros" } else { "bytes" };
    let message = format!("{} {what} follow the {} events", span.len(), recording.extent.kept);
    let summary = format!("drops {} bytes behind the last event", span.len());
    let fix = Fix::new(Safety::Lossy, summary, vec![crate::mend::edit::Edit::drop(span)]);
    report.push(Finding::new(&rules::TRAILING_BYTES, span, "events", message).fix(fix));
}

fn enter_pair(recording: &Recording<'_, '_>, pair: &EnterPair, report: &mut Report) {
    let all = recording.extent.all;
    let start = all.offset(pair.index);
    let span = Span::new(FILE, start, all.offset(pair.index.saturating_add(2)));
    let path = format!("events[{}]", pair.index);
    let counted = if pair.counted { "counted" } else { "not counted" };
    let message =
        format!("{} of {}, {counted}", pair.event.named(), recording.device(pair.event.device));
    report.push(Finding::new(&rules::ENTER_PAIR, span, path.clone(), message));
    if let Some(away) = pair.stray {
        let message = format!(
            "the recorder's own last events are {} after the one before them: they are on another clock",
            if away < 0 { format!("-{}", shown(away)) } else { shown(away) }
        );
        report.push(Finding::new(&rules::GAP, span, path, message));
    }
}

/// Frames that do not end and what is held, with the fix where none goes with the tail's.
fn unfinished(
    recording: &Recording<'_, '_>,
    pass: &Pass<'_, '_, '_>,
    let_go: &Tail,
    report: &mut Report,
) {
    let extent = recording.extent;
    let own = !extent.tail_lost && extent.ending == Ending::Whole;
    let mut fix = (own && !let_go.events.is_empty())
        .then(|| repair::tail(recording, None, 0, let_go))
        .flatten();
    let last = extent.cut.saturating_sub(1);
    let end = Span::new(FILE, extent.all.offset(last), extent.all.offset(extent.cut));
    for (index, device) in (0_i32..).zip(&pass.devices) {
        let held = held(recording, index, device);
        if held.is_empty() {
            continue;
        }
        let count = held.len();
        let first: Vec<String> = held.into_iter().take(HELD_SHOWN).collect();
        let more = count.saturating_sub(first.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let name = recording.device(index);
        let message = format!("{name} still holds {}{more}", first.join(", "));
        let mut finding = Finding::new(&rules::HELD, end, format!("events[{last}]"), message);
        finding.fix = fix.take();
        report.push(finding);
    }
    for (index, device) in (0_i32..).zip(&pass.devices) {
        let Some((first, event)) = device.open else { continue };
        let span =
            Span::new(FILE, extent.all.offset(first), extent.all.offset(first.saturating_add(1)));
        let name = recording.device(index);
        let message = format!("{name}: no SYN_REPORT follows {}", event.named());
        let mut finding =
            Finding::new(&rules::FRAME_OPEN, span, format!("events[{first}]"), message);
        finding.fix = fix.take();
        report.push(finding);
    }
}

/// What a device holds, for a message. The return key that the recorder itself lets go of is not held.
fn held(recording: &Recording<'_, '_>, index: i32, device: &Device) -> Vec<String> {
    let keys = device.keys().filter(|key| !repair::is_paired(recording, index, *key));
    let keys = keys.map(|key| code_name(kind::KEY, key));
    let contacts = device.contacts();
    contacts.map(|(slot, id)| format!("contact {id} in slot {slot}")).chain(keys).collect()
}
