//! Builds the edits that findings carry. Decides nothing about policy.
//!
//! A fix that changes the number of events writes the count itself, so that no two of them go into
//! one round: what the one makes of the count the other would not know.

use crate::limits::INSERTED;
use crate::formats::revent::limits::RELEASED;
use std::ops::ControlFlow;

use crate::formats::revent::check::{Device, Recording};
use crate::formats::revent::decode::event::Event;
use crate::formats::revent::decode::extent::{Ending, meant};
use crate::formats::revent::decode::head::{FILE, Time};
use crate::formats::revent::layout::{EVENT_PAD, Generation, HEADER, MAGIC, MICROS, code, kind};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::Span;
use crate::mend::edit::{Edit, Fix, Safety};

/// What is added at the end of a recording: the release of everything that is held.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    /// The events, frame by frame.
    pub(super) events: Vec<Event>,
    /// Whether there would be more than a repair adds; then there is none.
    pub(super) over: bool,
}

/// Whether the recorder itself lets go of a key: the return key, in the pair that is not counted.
pub(super) fn is_paired(recording: &Recording<'_, '_>, device: i32, key: u16) -> bool {
    let pair = recording.extent.pair;
    key == code::KEY_ENTER && pair.is_some_and(|pair| pair.event.device == device)
}

/// The events that let go of everything: contacts and keys of each device, then its SYN_REPORT, at
/// the last event's time. Positions are never invented. Nothing if there would be too many.
pub(super) fn let_go(recording: &Recording<'_, '_>, devices: &[Device], last: Option<i64>) -> Tail {
    let mut events = Vec::new();
    for (index, device) in (0_i32..).zip(devices) {
        let time = last.unwrap_or(0).max(device.last);
        if time <= 0 {
            // A SYN_REPORT without a time would say nothing.
            continue;
        }
        let (sec, usec) =
            (time.checked_div(MICROS).unwrap_or(0), time.checked_rem(MICROS).unwrap_or(0));
        let at = |kind, code, value| Event {
            sec,
            usec,
            device: index,
            value,
            pad: EVENT_PAD,
            kind,
            code,
        };
        let before = events.len();
        let mut slot = device.slot;
        for (held, _) in device.contacts() {
            if held != slot {
                events.push(at(kind::ABS, code::ABS_MT_SLOT, held));
                slot = held;
            }
            events.push(at(kind::ABS, code::ABS_MT_TRACKING_ID, -1));
        }
        for key in device.keys().filter(|key| !is_paired(recording, index, *key)) {
            events.push(at(kind::KEY, key, 0));
        }
        if events.len() > before || device.open.is_some() {
            events.push(at(kind::SYN, code::SYN_REPORT, 0));
        }
        if to_u64(events.len()) > recording.options.limits.of(&RELEASED) {
            return Tail { events: Vec::new(), over: true };
        }
    }
    Tail { events, over: false }
}

/// Writes the event count.
fn count_edit(recording: &Recording<'_, '_>, count: u64) -> Option<Edit> {
    recording.head.count?;
    let span = Span::sized(FILE, recording.head.prefix, 8);
    Some(Edit::replace(span, count.to_le_bytes()))
}

/// Writes start and end of the recording, each only if it changes.
pub(super) fn times(at: u64, stored: [Time; 2], times: [Time; 2]) -> Vec<Edit> {
    let fields =
        (0_u64..).map(|index| Span::sized(FILE, at.saturating_add(index.saturating_mul(16)), 16));
    let changed = fields.zip(stored.into_iter().zip(times));
    changed
        .filter(|(_, (stored, new))| stored != new)
        .map(|(span, (_, new))| Edit::replace(span, new.encode()))
        .collect()
}

/// Brings a recording to its end: count, times, `dropped` bytes, and what is let go of. `None` if there
/// is nothing to do.
pub(super) fn tail(
    recording: &Recording<'_, '_>,
    range: Option<[Time; 2]>,
    dropped: u64,
    let_go: &Tail,
) -> Option<Fix> {
    let Recording { source, head, extent, .. } = recording;
    let mut edits = Vec::new();
    let mut parts = Vec::new();
    let added = to_u64(let_go.events.len());
    let count = extent.cut.saturating_add(added);
    if head.count != Some(count)
        && let Some(edit) = count_edit(recording, count)
    {
        edits.push(edit);
        parts.push(format!("writes num_events {count}"));
    }
    let wrong = extent.ending == Ending::CountZero && !extent.times_fit;
    if let (true, Some(stored), Some(times)) = (wrong, head.times, range) {
        edits.extend(self::times(head.prefix.saturating_add(8), stored, times));
        let [start, end] = times;
        parts.push(format!("start {start} and end {end}"));
    }
    let at = extent.all.offset(extent.cut);
    let bytes: Vec<u8> =
        let_go.events.iter().flat_map(|event| event.encode(head.generation)).collect();
    let end = at.saturating_add(dropped).min(source.len());
    if dropped > 0 || added > 0 {
        edits.push(Edit::replace(Span::new(FILE, at, end), bytes));
    }
    let lost = if dropped > 0 { extent.kept.saturating_sub(extent.cut) } else { 0 };
    if dropped > 0 {
        let events = match lost {
            0 => String::new(),
            1 => " with 1 whole event behind the last whole frame".to_string(),
            lost => format!(" with {lost} whole events behind the last whole frame"),
        };
        parts.push(format!("drops {dropped} bytes at the end{events}"));
    }
    if added > 0 {
        let listed: Vec<String> = let_go
            .events
            .iter()
            .map(|event| format!("{} {}", recording.device(event.device), event.named()))
            .collect();
        parts.push(format!("adds {added} events that were not recorded: {}", listed.join(", ")));
    }
    if edits.is_empty() {
        return None;
    }
    let safety = match (dropped, added) {
        (0, 0) => Safety::Exact,
        (0, _) => Safety::Synthetic,
        _ => Safety::Lossy,
    };
    let fix = Fix::new(safety, parts.join("; "), edits);
    Some(Fix { records_lost: lost, ..fix })
}

/// Drops runs of events, `count` in all.
pub(super) fn drop_events(
    recording: &Recording<'_, '_>,
    runs: &[(u64, u64)],
    count: u64,
    what: &str,
) -> Fix {
    let extent = recording.extent;
    let stored = recording.head.count.map(|stored| stored.saturating_sub(count));
    let mut edits: Vec<Edit> =
        stored.and_then(|count| count_edit(recording, count)).into_iter().collect();
    let runs = runs.iter().map(|(start, end)| {
        Edit::drop(Span::new(FILE, extent.all.offset(*start), extent.all.offset(*end)))
    });
    edits.extend(runs);
    let summary = format!("drops {count} {what}");
    Fix { records_lost: count, ..Fix::new(Safety::Lossy, summary, edits) }
}

/// Writes the events with times without what lies in their high words.
///
/// # Errors
///
/// The number of bytes, if that is more than one round may write.
pub(super) fn narrow(recording: &Recording<'_, '_>) -> Result<Fix, u64> {
    let judged = recording.extent.judged();
    let span = Span::new(FILE, judged.start, judged.end());
    if span.len() > recording.options.limits.of(&INSERTED) {
        return Err(span.len());
    }
    let bytes = encoded(recording, recording.extent.cut, judged.generation);
    let summary = format!("clears the high words of the times of {} events", judged.count);
    Ok(Fix::new(Safety::Exact, summary, vec![Edit::replace(span, bytes)]))
}

/// The first `count` events as they were meant, as bytes of a layout.
fn encoded(recording: &Recording<'_, '_>, count: u64, generation: Generation) -> Vec<u8> {
    let (all, wide) = (recording.extent.all, recording.extent.wide);
    let mut bytes = Vec::new();
    all.part(0, count).batches(recording.source, &mut |_, events| {
        for event in events {
            bytes.extend(meant(*event, wide).encode(generation));
        }
        ControlFlow::Continue(())
    });
    bytes
}

/// Writes the recording as version 3, with every event.
///
/// # Errors
///
/// The number of bytes, if that is more than one round may write.
pub(super) fn upgrade(
    recording: &Recording<'_, '_>,
    range: Option<(i64, i64)>,
) -> Result<Fix, u64> {
    let Recording { source, head, extent, options } = recording;
    let version = Generation::V3.layout().version.unwrap_or_default().to_le_bytes();
    let [start, end] = range.map_or([Time::default(); 2], |(first, last)| {
        [Time::from_micros(first), Time::from_micros(last)]
    });
    let times = [start.encode(), end.encode()].concat();
    let mut edits = Vec::new();
    if head.generation == Generation::V2 {
        edits.push(Edit::replace(Span::new(FILE, 6, 8), version));
        edits.push(Edit::replace(Span::new(FILE, head.events, head.events), times));
    } else {
        // With what the recorder added behind them, counted or not.
        let written = extent.pair.map_or(extent.kept, |pair| pair.index.saturating_add(2));
        let stride = Generation::V3.layout().event;
        let len = written.max(extent.kept).saturating_mul(stride);
        if len > options.limits.of(&INSERTED) {
            return Err(len);
        }
        match head.generation {
            Generation::V1 => {
                // Version, mode and padding.
                let bytes = [version.as_slice(), &[0; 8]].concat();
                edits.push(Edit::replace(Span::new(FILE, 6, 8), bytes));
            }
            _ => {
                let width = head.generation.layout().device_count;
                let mut bytes = [MAGIC.as_slice(), &version].concat();
                bytes.resize(to_usize(HEADER), 0);
                bytes.extend(u32::try_from(head.device_count()).unwrap_or(0).to_le_bytes());
                edits.push(Edit::replace(Span::new(FILE, 0, width), bytes));
            }
        }
        let mut bytes = extent.kept.to_le_bytes().to_vec();
        bytes.extend(times);
        bytes.extend(encoded(recording, written.max(extent.kept), Generation::V3));
        edits.push(Edit::replace(Span::new(FILE, head.events, source.len()), bytes));
    }
    let summary =
        format!("writes version 3 with {} events, start {start} and end {end}", extent.kept);
    Ok(Fix::new(Safety::Exact, summary, edits))
}
