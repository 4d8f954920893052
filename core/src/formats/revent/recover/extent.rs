//! The number of events, and how the recording ends.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::event::{Event, narrow_if};
use crate::formats::revent::decode::head::Head;
use crate::formats::revent::decode::stretch::Stretch;
use crate::formats::revent::decode::time::Time;
use crate::formats::revent::layout::{
    BUFFER, EPOCH_FROM, GAP, Generation, HEADER, LEAD_FROM_ZERO, code, kind, names,
};
use crate::formats::revent::limits::{OPEN_FRAME, SEARCHED};
use crate::formats::revent::recover::align;
use crate::formats::revent::recover::pieces::Pieces;
use crate::formats::revent::recover::shape::Shape;
use crate::kit::holes::find_tail;
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::model::limits::Limits;

/// Events that show whether times are widened, and whether the bytes after the head are events.
const SAMPLE: u64 = 64;

/// How a recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As a recorder ends it.
    Complete,
    /// The count is 0, but events follow.
    CountZero,
    /// The count is more than the file holds.
    CountTooLarge,
    /// The count is less than the file holds.
    CountTooSmall,
    /// The last event is truncated (layouts without a count).
    Truncated,
    /// The last event is complete, but the length is a multiple of the recorder's buffer (layouts
    /// without a count).
    FullBuffers,
}

/// The release of the return key and its frame, which the recorder adds when return ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnterPair {
    /// Number of its first event.
    pub index: u64,
    /// Its first event.
    pub event: Event,
    /// Whether it belongs to the events that are counted.
    pub counted: bool,
    /// Microseconds from the event before it, if it is on another clock.
    pub distance: Option<i64>,
}

impl EnterPair {
    /// Returns the bytes of both events.
    pub fn span(&self, all: &Pieces) -> Span {
        all.span(self.index, self.index.saturating_add(2))
    }

    /// Returns whether the pair releases `key` of `device`.
    pub const fn releases(&self, device: i32, key: u16) -> bool {
        key == code::KEY_ENTER && self.event.device == device
    }
}

/// Bytes after the last event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trailing {
    /// The bytes.
    pub span: Span,
    /// Whether they are the preallocated tail of the file.
    pub is_tail: bool,
}

/// The events of a recording, and how they end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// All complete events after the head.
    pub all: Pieces,
    /// Number of those that belong to the recording.
    pub count: u64,
    /// Number of those up to the last complete frame, if the end of the recording was lost.
    pub framed: u64,
    /// How the recording ends.
    pub ending: Ending,
    /// Whether events at the end were lost: the recorder was killed, or the file was truncated.
    pub tail_lost: bool,
    /// Whether the file has the length of full buffers after the part that is not buffered.
    pub full_buffers: bool,
    /// The events that the recorder added at the end.
    pub pair: Option<EnterPair>,
    /// Bytes after the last event.
    pub trailing: Option<Trailing>,
    /// Whether the times of the events are widened (see [`Event::is_widened`]).
    pub widened: bool,
    /// Whether start and end of the recording fit its events.
    pub times_fit: bool,
}

/// Returns whether the file has the length of full buffers after the part that is not buffered.
fn has_full_buffers(len: u64, generation: Generation) -> bool {
    let unbuffered = if generation >= Generation::V2 { HEADER } else { 0 };
    let buffered = len.saturating_sub(unbuffered);
    buffered > 0 && buffered.checked_rem(BUFFER) == Some(0)
}

/// Finds the number of events, and how the recording ends.
pub fn find_extent(source: &Source<'_>, head: &Head, limits: &Limits) -> Extent {
    let widened = head.generation == Generation::V2 && has_widened_times(source, head);
    let shape = Shape { generation: head.generation, devices: head.device_count(), widened };
    let mut budget = align::budget(limits.of(&SEARCHED));
    let all = align::align(source, &shape, head.events, &mut budget);
    let count = all.count;
    let mut extent = Extent {
        all,
        count,
        framed: count,
        ending: Ending::Complete,
        tail_lost: false,
        full_buffers: has_full_buffers(source.len(), head.generation),
        pair: None,
        trailing: None,
        widened,
        times_fit: true,
    };
    match head.count {
        Some(stored) => find_counted_end(source, head, stored, &mut extent),
        None => find_uncounted_end(source, &mut extent),
    }
    extent.framed = extent.count;
    // After full buffers nothing shows that an event was cut, and all of them stay.
    if extent.tail_lost && extent.ending != Ending::FullBuffers {
        let max = limits.of(&OPEN_FRAME);
        extent.framed = find_last_frame_end(source, &extent, max).unwrap_or(extent.count);
    }
    extent
}

/// Returns whether the times of the first events are widened.
fn has_widened_times(source: &Source<'_>, head: &Head) -> bool {
    let first = Stretch { generation: head.generation, start: head.events, count: SAMPLE };
    let (mut seen, mut wide) = (0_u64, 0_u64);
    for (_, event) in first.events(source) {
        let is_wide = event.is_widened() && (event.sec >> 32 != 0 || event.usec >> 32 != 0);
        seen = seen.saturating_add(1);
        wide = wide.saturating_add(u64::from(is_wide));
    }
    wide.saturating_mul(2) > seen
}

/// Returns the pair that begins with event number `index`, if these two events are one.
fn find_pair(source: &Source<'_>, extent: &Extent, index: u64) -> Option<EnterPair> {
    let event = narrow_if(extent.all.event(source, index)?, extent.widened);
    let next = narrow_if(extent.all.event(source, index.checked_add(1)?)?, extent.widened);
    let is_pair = event.kind == kind::KEY
        && event.code == code::KEY_ENTER
        && event.value == 0
        && next.is_report()
        && next.value == 0
        && next.device == event.device
        && event.has_time()
        && next.has_time();
    is_pair.then_some(EnterPair { index, event, counted: false, distance: None })
}

/// Finds the end of the events in a layout with a count.
fn find_counted_end(source: &Source<'_>, head: &Head, stored: u64, extent: &mut Extent) {
    let all = extent.all.clone();
    let is_aligned = all.end() == source.len();
    let last_two = all.count.checked_sub(2).filter(|_| is_aligned);
    let last_pair = last_two.and_then(|index| find_pair(source, extent, index));
    // The pair is never counted: a count that reaches into it counts events that are lost, and so
    // does one that reaches to its end where bytes between the events are damaged.
    let held = last_pair.map_or(all.count, |pair| pair.index);
    let is_within = |stored: u64| stored < all.count || !all.gaps().is_empty();
    let counts_pair = (held.saturating_add(1)..=all.count).contains(&stored) && is_within(stored);
    if !counts_pair && (stored == all.count || (stored == held && is_aligned)) {
        extent.count = stored;
        extent.pair = last_pair.filter(|pair| pair.index == stored);
        extent.trailing = find_trailing(source, all.end());
        extent.times_fit = do_times_fit(source, head, extent);
        return;
    }
    let count_lost = stored == 0 && held > 0 && begins_with_events(source, head, extent);
    if stored > all.count || counts_pair || count_lost {
        extent.count = held;
        extent.pair = last_pair;
        extent.ending = if stored == 0 { Ending::CountZero } else { Ending::CountTooLarge };
        extent.times_fit = do_times_fit(source, head, extent);
        // A recorder writes the times at its end.
        let has_ended = extent.pair.is_some()
            || (count_lost && head.times.is_some() && extent.times_fit && is_aligned);
        // Bytes that are missing between events explain a count that is too large.
        let is_explained = is_aligned && !all.gaps().is_empty() && !count_lost;
        extent.tail_lost = !has_ended && !is_explained;
        return;
    }
    extent.count = stored;
    extent.pair = find_pair(source, extent, stored);
    extent.times_fit = do_times_fit(source, head, extent);
    let is_count_damaged = extent.pair.is_none()
        && stored > 0
        && is_aligned
        && do_events_continue(source, head, extent, held);
    if is_count_damaged {
        extent.count = held;
        extent.pair = last_pair;
        extent.ending = Ending::CountTooSmall;
        extent.times_fit = do_times_fit(source, head, extent);
    } else {
        let end = extent.pair.map_or(all.offset(stored), |pair| pair.span(&all).end);
        extent.trailing = find_trailing(source, end);
    }
}

/// Returns the bytes from `start` to the end of the file, if there are any.
fn find_trailing(source: &Source<'_>, start: u64) -> Option<Trailing> {
    let end = source.len();
    let is_tail = || find_tail(source) <= start;
    (start < end).then(|| Trailing { span: Span::new(FILE, start, end), is_tail: is_tail() })
}

/// Finds the end of the events in a layout without a count: the end of the file.
fn find_uncounted_end(source: &Source<'_>, extent: &mut Extent) {
    let all = extent.all.clone();
    if all.end() < source.len() {
        extent.ending = Ending::Truncated;
        extent.tail_lost = true;
        return;
    }
    let pair = all.count.checked_sub(2).and_then(|index| find_pair(source, extent, index));
    let Some(pair) = pair else {
        if all.count > 0 && extent.full_buffers {
            extent.ending = Ending::FullBuffers;
            extent.tail_lost = true;
        }
        return;
    };
    // The event before the pair and the first one: one damaged time does not put the pair on
    // another clock.
    let others = [pair.index.checked_sub(1), (pair.index > 0).then_some(0)];
    let others = others.into_iter().flatten().filter_map(|index| all.event(source, index));
    let others: Vec<Event> = others.filter(Event::has_time).collect();
    // Time since 1970, or time since boot.
    let is_since_1970 = |event: &Event| event.sec >= EPOCH_FROM;
    let is_away = others.iter().all(|event| is_since_1970(event) != is_since_1970(&pair.event));
    let before = others.first().filter(|_| is_away);
    let distance = before.map(|event| pair.event.micros().saturating_sub(event.micros()));
    let pair = EnterPair { counted: distance.is_none(), distance, ..pair };
    if !pair.counted {
        extent.count = pair.index;
    }
    extent.pair = Some(pair);
}

/// Returns whether the bytes after the head are events.
fn begins_with_events(source: &Source<'_>, head: &Head, extent: &Extent) -> bool {
    let (mut seen, mut good) = (0_u64, 0_u64);
    for (_, event) in extent.all.events(source, 0, SAMPLE) {
        let event = narrow_if(event, extent.widened);
        let is_sane = event.is_sane(head.device_count()) && event.micros() > 0;
        seen = seen.saturating_add(1);
        good = good.saturating_add(u64::from(is_sane && event.kind <= kind::LAST));
    }
    // Events showed where a lost head ends. What took it may have taken others after it.
    let least = if head.is_recovered { 2 } else { 3 };
    good > 0 && good.saturating_mul(4) >= seen.saturating_mul(least)
}

/// Returns whether the events from the counted ones to number `until` continue the counted ones.
fn do_events_continue(source: &Source<'_>, head: &Head, extent: &Extent, until: u64) -> bool {
    let (all, widened) = (&extent.all, extent.widened);
    let Some(last) = extent.count.checked_sub(1).and_then(|index| all.event(source, index)) else {
        return false;
    };
    let mut before = narrow_if(last, widened);
    let end = head.times.filter(|times| times.iter().all(|time| time.narrowed().is_sane()));
    let end = end.map(|[_, end]| end.narrowed().micros());
    // An end that is damaged, or long before the events, is not evidence.
    let end = end.filter(|end| extent.times_fit && *end >= before.micros());
    if !before.has_time() || until <= extent.count {
        return false;
    }
    let mut rest = all.events(source, extent.count, until);
    rest.all(|(_, event)| {
        let event = narrow_if(event, widened);
        let away = event.micros().saturating_sub(before.micros());
        before = event;
        event.is_sane(head.device_count())
            && names::is_known(event.kind, event.code)
            && away.saturating_abs() <= GAP
            && end.is_none_or(|end| event.micros() <= end)
    })
}

/// Returns whether a recorder can have written start and end: they are in order, not apart from all
/// events, and the start is not a 0 long before them.
fn do_times_fit(source: &Source<'_>, head: &Head, extent: &Extent) -> bool {
    let Some(times) = head.times else { return true };
    let [start, end] = times.map(Time::narrowed);
    if !start.is_sane() || !end.is_sane() || start > end {
        return false;
    }
    let is_sane = |event: &Event| event.is_sane(head.device_count()) && event.micros() > 0;
    let event_at = |index: Option<u64>| {
        index.and_then(|index| extent.all.event(source, index)).filter(is_sane)
    };
    let (first, last) = (event_at(Some(0)), event_at(extent.count.checked_sub(1)));
    let is_unwritten = |first: &Event| start.is_zero() && first.micros() > LEAD_FROM_ZERO;
    extent.count == 0
        || (first.is_none_or(|first| end.micros() >= first.micros() && !is_unwritten(&first))
            && last.is_none_or(|last| start.micros() <= last.micros()))
}

/// Returns the number of events up to the last one that ends a frame, which is among the last
/// `max`.
fn find_last_frame_end(source: &Source<'_>, extent: &Extent, max: u64) -> Option<u64> {
    let from = extent.count.saturating_sub(max);
    let events = extent.all.events(source, from, extent.count);
    let last = events.filter(|(_, event)| event.is_report() && !event.is_zero()).last();
    last.and_then(|(index, _)| index.checked_add(1))
}
