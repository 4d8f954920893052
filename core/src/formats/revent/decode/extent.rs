//! How many events there are, and how the recording ends.

use std::ops::ControlFlow;

use crate::formats::revent::decode::event::{Event, Stretch};
use crate::formats::revent::decode::head::{Head, Time};
use crate::formats::revent::layout::{BUFFER, GAP, Generation, HEADER, code, kind, names};
use crate::kit::source::Source;
use crate::kit::span::Span;

use super::head::FILE;

/// Events behind the last whole frame that are taken for a frame that was cut. The kernel's own
/// buffer holds some dozens of events a device; a recording without frames keeps its events.
const FRAME_MAX: u64 = 4096;
/// Events that tell whether words are wide, and whether what follows is events at all.
const SAMPLE: u64 = 64;

/// How a recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As a recorder ends it.
    Whole,
    /// The count is 0, but events follow.
    CountZero,
    /// The count is more than the file holds.
    CountTooLarge,
    /// The count is less than the file holds.
    CountTooSmall,
    /// The last event is cut (layouts without a count).
    Torn,
    /// Nothing is cut, but the length is that of whole buffers (layouts without a count).
    WholePages,
}

/// The release of the return key and its frame, which the recorder adds when it is ended by return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnterPair {
    /// Number of its first event.
    pub index: u64,
    /// Its first event.
    pub event: Event,
    /// Whether it belongs to the events that are counted.
    pub counted: bool,
    /// How many microseconds it is away from the event before it, if it is on another clock.
    pub stray: Option<i64>,
}

/// How many events there are, and how the recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// All whole events behind the head.
    pub all: Stretch,
    /// How many of them are the recording's.
    pub kept: u64,
    /// How many stay if an unfinished frame at the end goes.
    pub cut: u64,
    /// How it ends.
    pub ending: Ending,
    /// Whether events at the end were lost, because the recorder was killed or the file was cut.
    pub tail_lost: bool,
    /// What the recorder added at the end.
    pub pair: Option<EnterPair>,
    /// Bytes that belong to nothing.
    pub trailing: Option<Span>,
    /// Whether the events' times have type and code in their high words.
    pub wide: bool,
    /// Whether start and end of the recording fit its events.
    pub times_fit: bool,
}

impl Extent {
    /// The events that a sound reading has.
    pub fn judged(&self) -> Stretch {
        self.all.part(0, self.cut)
    }
}

/// An event as it was meant.
#[inline]
pub fn meant(event: Event, wide: bool) -> Event {
    if wide && event.is_wide() { event.narrowed() } else { event }
}

/// Whether a file has the length of whole buffers behind what is written past them.
pub fn is_whole_pages(source: &Source<'_>, head: &Head) -> bool {
    let past = if head.generation >= Generation::V2 { HEADER } else { 0 };
    let behind = source.len().saturating_sub(past);
    behind > 0 && behind.checked_rem(BUFFER) == Some(0)
}

/// How many events there are, and how the recording ends.
pub fn extent(source: &Source<'_>, head: &Head) -> Extent {
    let stride = head.generation.layout().event;
    let rest = source.len().saturating_sub(head.events);
    let count = rest.checked_div(stride).unwrap_or(0);
    let all = Stretch { generation: head.generation, start: head.events, count };
    let wide = head.generation == Generation::V2 && is_wide(source, &all);
    let mut extent = Extent {
        all,
        kept: count,
        cut: count,
        ending: Ending::Whole,
        tail_lost: false,
        pair: None,
        trailing: None,
        wide,
        times_fit: true,
    };
    match head.count {
        Some(stored) => counted(source, head, stored, &mut extent),
        None => uncounted(source, head, &mut extent),
    }
    extent.cut = extent.kept;
    if extent.tail_lost {
        extent.cut = last_frame_end(source, &all.part(0, extent.kept)).unwrap_or(extent.kept);
    }
    extent
}

/// Whether the first events have type and code in the high words of their times.
fn is_wide(source: &Source<'_>, all: &Stretch) -> bool {
    let (mut each, mut any) = (true, false);
    all.part(0, SAMPLE).batches(source, &mut |_, events| {
        for event in events {
            each &= event.is_wide();
            any |= event.sec >> 32 != 0 || event.usec >> 32 != 0;
        }
        ControlFlow::Continue(())
    });
    each && any
}

/// The pair at number `index`, if one is there.
fn pair_at(source: &Source<'_>, all: &Stretch, index: u64, wide: bool) -> Option<EnterPair> {
    let event = meant(all.event(source, index)?, wide);
    let behind = meant(all.event(source, index.checked_add(1)?)?, wide);
    let is_pair = event.kind == kind::KEY
        && event.code == code::KEY_ENTER
        && event.value == 0
        && behind.is_report()
        && behind.value == 0
        && behind.device == event.device
        && event.has_time()
        && behind.has_time();
    is_pair.then_some(EnterPair { index, event, counted: false, stray: None })
}

fn counted(source: &Source<'_>, head: &Head, stored: u64, extent: &mut Extent) {
    let (all, wide) = (extent.all, extent.wide);
    let end = source.len();
    let last_two = all.count.checked_sub(2);
    let at_end = last_two.filter(|_| all.end() == end).and_then(|i| pair_at(source, &all, i, wide));
    // What the file holds, without the pair that is never counted.
    let held = at_end.map_or(all.count, |pair| pair.index);
    if stored == all.count || (stored == held && all.end() == end) {
        extent.kept = stored;
        extent.pair = at_end.filter(|pair| pair.index == stored);
        extent.trailing = trailing(all.offset(all.count), end);
        extent.times_fit = times_fit(source, head, extent);
        return;
    }
    if stored > all.count || (stored == 0 && held > 0 && begins_with_events(source, head, &all)) {
        extent.kept = held;
        extent.pair = at_end;
        extent.ending = if stored == 0 { Ending::CountZero } else { Ending::CountTooLarge };
        extent.times_fit = times_fit(source, head, extent);
        // Who writes the times has also seen the end.
        let ended = extent.pair.is_some()
            || (extent.ending == Ending::CountZero
                && head.times.is_some()
                && extent.times_fit
                && all.end() == end);
        extent.tail_lost = !ended;
        return;
    }
    extent.kept = stored;
    extent.pair = pair_at(source, &all, stored, wide);
    extent.times_fit = times_fit(source, head, extent);
    let behind = extent.pair.map_or(stored, |pair| pair.index.saturating_add(2));
    let goes_on = extent.pair.is_none()
        && stored > 0
        && all.end() == end
        && continues(source, head, extent, held);
    if goes_on {
        extent.kept = held;
        extent.pair = at_end;
        extent.ending = Ending::CountTooSmall;
        extent.times_fit = times_fit(source, head, extent);
    } else {
        extent.trailing = trailing(all.offset(behind), end);
    }
}

fn trailing(start: u64, end: u64) -> Option<Span> {
    (start < end).then(|| Span::new(FILE, start, end))
}

fn uncounted(source: &Source<'_>, head: &Head, extent: &mut Extent) {
    let all = extent.all;
    if all.end() < source.len() {
        extent.ending = Ending::Torn;
        extent.tail_lost = true;
        return;
    }
    let index = all.count.checked_sub(2);
    extent.pair = index.and_then(|index| pair_at(source, &all, index, false)).map(|pair| {
        let before = pair.index.checked_sub(1).and_then(|index| all.event(source, index));
        let before = before.filter(Event::has_time);
        let away = before.map_or(0, |before| pair.event.micros().saturating_sub(before.micros()));
        let stray = (away.saturating_abs() > GAP).then_some(away);
        EnterPair { counted: stray.is_none(), stray, ..pair }
    });
    match extent.pair {
        Some(pair) if !pair.counted => extent.kept = pair.index,
        Some(_) => {}
        None if all.count > 0 && is_whole_pages(source, head) => {
            extent.ending = Ending::WholePages;
            extent.tail_lost = true;
        }
        None => {}
    }
}

/// Whether what follows the head is events rather than anything else.
fn begins_with_events(source: &Source<'_>, head: &Head, all: &Stretch) -> bool {
    let (mut seen, mut good) = (0_u64, 0_u64);
    let wide = head.generation == Generation::V2 && is_wide(source, all);
    all.part(0, SAMPLE).batches(source, &mut |_, events| {
        for event in events {
            let event = meant(*event, wide);
            let sane = event.is_sane(head.device_count()) && event.micros() > 0;
            seen = seen.saturating_add(1);
            good = good.saturating_add(u64::from(sane && event.kind <= kind::LAST));
        }
        ControlFlow::Continue(())
    });
    good > 0 && good.saturating_mul(4) >= seen.saturating_mul(3)
}

/// Whether the events behind the counted ones go on where those end.
fn continues(source: &Source<'_>, head: &Head, extent: &Extent, until: u64) -> bool {
    let (all, wide) = (extent.all, extent.wide);
    let Some(last) = extent.kept.checked_sub(1).and_then(|index| all.event(source, index)) else {
        return false;
    };
    let mut before = meant(last, wide);
    let end = head.times.filter(|times| times.iter().all(|time| time.narrowed().is_sane()));
    let end = end.map(|[_, end]| end.narrowed().micros());
    // An end that is garbage, or long before the events, tells nothing.
    let end = end.filter(|end| extent.times_fit && *end >= before.micros());
    let mut goes_on = before.has_time() && until > extent.kept;
    all.part(extent.kept, until.saturating_sub(extent.kept)).batches(source, &mut |_, events| {
        for event in events {
            let event = meant(*event, wide);
            let away = event.micros().saturating_sub(before.micros());
            goes_on &= event.is_sane(head.device_count())
                && names::is_known(event.kind, event.code)
                && away.saturating_abs() <= GAP
                && end.is_none_or(|end| event.micros() <= end);
            before = event;
            if !goes_on {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    });
    goes_on
}

/// Whether start and end can be those of the recorder: in order, and not apart from all events.
fn times_fit(source: &Source<'_>, head: &Head, extent: &Extent) -> bool {
    let Some(times) = head.times else { return true };
    let [start, end] = times.map(Time::narrowed);
    if !start.is_sane() || !end.is_sane() || start > end {
        return false;
    }
    let sane = |event: &Event| event.is_sane(head.device_count()) && event.micros() > 0;
    let at =
        |index: Option<u64>| index.and_then(|index| extent.all.event(source, index)).filter(sane);
    let (first, last) = (at(Some(0)), at(extent.kept.checked_sub(1)));
    extent.kept == 0
        || (first.is_none_or(|first| end.micros() >= first.micros())
            && last.is_none_or(|last| start.micros() <= last.micros()))
}

/// The number of events up to the last one that ends a frame.
fn last_frame_end(source: &Source<'_>, kept: &Stretch) -> Option<u64> {
    let from = kept.count.saturating_sub(FRAME_MAX);
    let mut found = None;
    kept.part(from, FRAME_MAX).batches(source, &mut |first, events| {
        for (index, event) in (from.saturating_add(first)..).zip(events) {
            if event.is_report() && !event.is_nothing() {
                found = index.checked_add(1);
            }
        }
        ControlFlow::Continue(())
    });
    found
}
