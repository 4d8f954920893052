//! Pages of zeros that were inserted among the events.
//!
//! ```text
//!  | event | first part | 0 0 0 ... 0 | rest of it | event |
//!                       ^ multiple of 4,096
//! ```
//!
//! A file system or a copy that works in pages inserts a multiple of 4,096 bytes at a multiple of
//! 4,096. In most layouts the number of events, or the size of an event, shows that nothing is
//! missing without them. In those of 32 bytes per event and no count, pages of zeros that replace
//! events look the same, and the times around them decide.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::event::{Event, parse_event};
use crate::formats::revent::layout::BUFFER;
use crate::formats::revent::recover::recording::Recording;
use crate::kit::cursor::{Cursor, Order};
use crate::kit::reading::Reading;
use crate::kit::source::Source;
use crate::kit::span::Span;

/// Areas that are tried: each takes a check of the recording.
const AREAS: usize = 4;
/// The time across inserted bytes is at most this part of that of as many bytes of events.
const SHARE: i64 = 2;

/// Returns the readings of a recording without pages of zeros.
pub fn find_zero_pages(source: &Source<'_>, recording: &Recording<'_>) -> Vec<Reading> {
    let areas = find_areas(source, recording.head.events);
    let readings = areas.into_iter().filter_map(|area| read_without(source, recording, area));
    readings.collect()
}

/// Returns the runs of pages of zeros after `from`.
fn find_areas(source: &Source<'_>, from: u64) -> Vec<Span> {
    let mut areas: Vec<Span> = Vec::new();
    let first = from.next_multiple_of(BUFFER);
    let starts = (0..).map_while(|page: u64| first.checked_add(page.checked_mul(BUFFER)?));
    let starts = starts.take_while(|start| start.saturating_add(BUFFER) <= source.len());
    for start in starts {
        let end = start.saturating_add(BUFFER);
        if !source.slices(start, end).all(|slice| slice.iter().all(|byte| *byte == 0)) {
            continue;
        }
        let count = areas.len();
        match areas.last_mut().filter(|area| area.end == start) {
            Some(area) => area.end = end,
            None if count < AREAS => areas.push(Span::new(FILE, start, end)),
            None => break,
        }
    }
    areas
}

/// Returns the reading without an area, if it can have been inserted.
fn read_without(source: &Source<'_>, recording: &Recording<'_>, area: Span) -> Option<Reading> {
    let head = &recording.head;
    let reading = Reading::inserted(0, area.start..area.end);
    if head.count.is_some() {
        let field = Span::sized(FILE, head.prefix, 8);
        return Some(reading.witness(field, "the number of events, which fits without them"));
    }
    let cut = Cut { source, area, stride: head.generation.layout().event };
    let before = cut.area.start.checked_sub(head.events)?.checked_div(cut.stride)?;
    let pages = area.len().checked_div(cut.stride)?;
    if area.len().checked_rem(cut.stride) != Some(0) {
        let rest = Span::sized(FILE, head.events, area.start.saturating_sub(head.events));
        return Some(reading.witness(rest, "the events, which go on in their places without them"));
    }
    let time = |index: u64| {
        let at = head.events.saturating_add(index.checked_mul(cut.stride)?);
        let event = cut.event(at, recording)?;
        event.has_time().then(|| event.micros())
    };
    let lasts = |from: u64, to: u64| Some(time(to)?.saturating_sub(time(from)?));
    // The event that the area tears apart has a part of each side.
    let across = lasts(before.checked_sub(1)?, before.checked_add(1)?)?;
    let earlier = before.checked_sub(pages.saturating_add(1));
    let earlier = earlier.and_then(|from| lasts(from, before.saturating_sub(1)));
    let later = lasts(before.saturating_add(1), before.saturating_add(pages).saturating_add(1));
    // In a recording with less events, as many as it has.
    let all = || {
        let last = recording.extent.count.checked_sub(pages.saturating_add(1))?;
        let [sides, events] = [
            lasts(0, before.saturating_sub(1))?
                .saturating_add(lasts(before.saturating_add(1), last)?),
            i64::try_from(last).ok()?,
        ];
        sides.saturating_mul(i64::try_from(pages).ok()?).checked_div(events)
    };
    let usual = earlier.into_iter().chain(later).min().or_else(all)?;
    (across >= 0 && across.saturating_mul(SHARE) <= usual).then_some(reading)
}

/// A source without an area.
struct Cut<'s, 'a> {
    source: &'s Source<'a>,
    area: Span,
    stride: u64,
}

impl Cut<'_, '_> {
    /// Returns the event at an offset of the bytes that are left.
    fn event(&self, at: u64, recording: &Recording<'_>) -> Option<Event> {
        let end = at.saturating_add(self.stride);
        let before = self.source.read(at.min(self.area.start), end.min(self.area.start));
        let moved = |at: u64| at.max(self.area.start).saturating_add(self.area.len());
        let after = self.source.read(moved(at), moved(end));
        let bytes = [&before[..], &after[..]].concat();
        let mut cursor = Cursor::new(&bytes, FILE, at, Order::Little);
        parse_event(&mut cursor, recording.head.generation).ok()
    }
}
