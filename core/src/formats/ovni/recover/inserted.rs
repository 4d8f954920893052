//! Zeros that were inserted into a stream: blocks of a disk or of a copy.
//!
//! ```text
//!  recorded   | event | event | event | event |
//!  stored     | event | eve .. 4096 zeros .. nt | event | event |
//!                       ^ torn    the hole
//! ```
//!
//! The event that they tear apart is complete without them, and the clocks go on. But zeros that
//! replaced events may leave ends that fit as well. Then the time of these events passes between
//! the ends: across inserted zeros much less time passes than ever in as many bytes of the stream.

use std::collections::VecDeque;

use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::layout::STREAM_HEADER;
use crate::kit::holes::HoleSearch;
use crate::kit::num::to_u64;
use crate::kit::reading::Reading;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;

/// Bytes after the hole that have to be events.
const AFTER: u64 = 4096;
/// The fewest events in them.
const EVENTS: u64 = 16;
/// So many times less time passes across the joint than in as many bytes elsewhere, at least.
const FASTER: u64 = 4;
/// Spans of time with which the one across the joint is compared, at least.
const WINDOWS: u64 = 16;

/// Returns the reading of a stream without the hole near a fault, if the events around it fit.
pub fn find(source: &Source<'_>, fault: Span) -> Option<Reading> {
    let (start, end) = HoleSearch::new(source).find(fault.start, fault.end)?;
    let len = end.saturating_sub(start);
    let mut windows = Windows { len, least: u64::MAX, count: 0, recent: VecDeque::new() };
    let before = find_torn(source, fault.layer, start, &mut windows)?;
    let (torn, rest) = read_joint(source, &before, end)?;
    let whole = EventWalk::new(source, fault.layer, rest).map_while(Item::record);
    windows.recent.clear();
    whole.for_each(|event| windows.add(&event));
    let gap = torn.next.checked_sub(before.clock)?;
    let is_timely = windows.count >= WINDOWS && gap.saturating_mul(FASTER) < windows.least;
    let after = Span::sized(fault.layer, rest, torn.next_len);
    is_timely.then(|| {
        Reading::inserted(fault.layer.file, start..end)
            .witness(before.event, "the last event before the zeros")
            .witness(after, "an event after them, whose clock goes on without a gap")
    })
}

/// The events before the hole.
struct Before {
    /// The last complete one, and its clock.
    event: Span,
    clock: u64,
    /// Offset of the one that the hole tears apart, or of the hole.
    torn: u64,
    /// Offset of the hole.
    hole: u64,
}

/// Walks the events up to the hole.
fn find_torn(
    source: &Source<'_>,
    layer: Layer,
    hole: u64,
    windows: &mut Windows,
) -> Option<Before> {
    let mut last: Option<(Span, u64)> = None;
    for item in EventWalk::new(source, layer, STREAM_HEADER) {
        let torn = match item {
            Item::Record(event) if event.end() <= hole => {
                windows.add(&event);
                last = Some((Span::new(layer, event.at, event.end()), event.clock));
                continue;
            }
            Item::Record(event) => event.at,
            Item::Damage(damage) => damage.at,
        };
        let (event, clock) = last?;
        // Damage before the hole has another cause.
        let is_near = torn <= hole && event.end == torn;
        return is_near.then_some(Before { event, clock, torn, hole });
    }
    None
}

/// The first complete event after the hole.
struct Torn {
    next: u64,
    next_len: u64,
}

/// Reads the events around the hole as if it were not there. Returns the first one that is stored
/// after it, and its offset.
fn read_joint(source: &Source<'_>, before: &Before, end: u64) -> Option<(Torn, u64)> {
    let mut joined = source.read(before.torn, before.hole).into_owned();
    let head = to_u64(joined.len());
    joined.extend_from_slice(&source.read(end, end.saturating_add(AFTER)));
    let joined = Source::new(&joined);
    let mut clock = before.clock;
    let (mut first, mut events) = (None, 0_u64);
    for item in EventWalk::new(&joined, before.event.layer, 0) {
        let event = match item {
            Item::Record(event) => event,
            // The last one may be cut off.
            Item::Damage(damage) if damage.at.saturating_add(AFTER / 2) > joined.len() => break,
            Item::Damage(_) => return None,
        };
        if event.row.is_none() || event.clock < clock {
            return None;
        }
        clock = event.clock;
        events = events.saturating_add(1);
        if event.at >= head && first.is_none() {
            let at = end.saturating_add(event.at.saturating_sub(head));
            first = Some((Torn { next: event.clock, next_len: event.len }, at));
        }
    }
    first.filter(|_| events >= EVENTS)
}

/// The time that passes in some bytes.
struct Windows {
    /// The number of bytes.
    len: u64,
    /// The least time that passes in them.
    least: u64,
    /// Number of times that were compared.
    count: u64,
    /// Offsets and clocks of the events that are not further away.
    recent: VecDeque<(u64, u64)>,
}

impl Windows {
    fn add(&mut self, event: &Event<'_>) {
        let (at, clock) = (event.at, event.clock);
        self.recent.push_back((at, clock));
        let is_apart = |(earlier, _): &(u64, u64)| at.saturating_sub(*earlier) >= self.len;
        // The nearest one of those that are as many bytes apart.
        while self.recent.get(1).is_some_and(is_apart) {
            self.recent.pop_front();
        }
        if let Some((_, earlier)) = self.recent.front().filter(|one| is_apart(one)) {
            self.count = self.count.saturating_add(1);
            self.least = self.least.min(clock.saturating_sub(*earlier));
        }
    }
}
