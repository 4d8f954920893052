//! Edits of regions of events out of order (OU[ .. OU]).

use crate::formats::ovni::decode::Item;
use crate::formats::ovni::decode::event_walk::EventWalk;
use crate::formats::ovni::layout::CLOCK_MAX;
use crate::formats::ovni::repair::clock::set_clock;
use crate::kit::span::Span;
use crate::mend::edit::Edit;

/// Bytes of a region that is sorted.
const SORTED_MAX: u64 = 1 << 20;

/// A region that was closed.
#[derive(Clone, Copy, Debug)]
pub struct ClosedRegion {
    /// Offset of OU[.
    pub open_at: u64,
    /// Offset of OU].
    pub close_at: u64,
    /// Clock of OU].
    pub close_clock: u64,
    /// Clock before the region.
    pub before: u64,
    /// Latest clock in order.
    pub now: u64,
}

/// Corrects the clocks of a region with an event later than its OU]: either the one event that is too
/// late, or OU] itself. Empty if no event is too late, or if the region is damaged.
pub fn correct_clocks(walk: &EventWalk<'_, '_>, region: &ClosedRegion) -> Vec<Edit> {
    let layer = walk.layer();
    let Some(mut late) = find_late_events(walk, region) else { return Vec::new() };
    let beyond = late.iter().filter(|(_, clock)| *clock > CLOCK_MAX).count();
    if region.close_clock > CLOCK_MAX {
        late.push((region.close_at, region.close_clock));
        return late.iter().map(|(at, _)| set_clock(layer, *at, region.now)).collect();
    }
    // With the clock of OU], OU[ would be out of order.
    let opens_late = region.before > region.close_clock
        && late.iter().any(|(at, clock)| *at == region.open_at && *clock <= CLOCK_MAX);
    if opens_late || (late.len() > 1 && late.len() > beyond) {
        return vec![set_clock(layer, region.close_at, region.now)];
    }
    late.iter().map(|(at, _)| set_clock(layer, *at, region.close_clock)).collect()
}

/// Offsets and clocks of the events of a region that are later than its OU]; `None` if it is too long
/// or damaged.
fn find_late_events(walk: &EventWalk<'_, '_>, region: &ClosedRegion) -> Option<Vec<(u64, u64)>> {
    if region.close_at.saturating_sub(region.open_at) > SORTED_MAX {
        return None;
    }
    let mut walk = walk.restarted(region.open_at);
    let mut late = Vec::new();
    while walk.offset() < region.close_at {
        // Damage is repaired first.
        let Some(Item::Record(event)) = walk.next() else { return None };
        if event.end() > region.close_at {
            return None;
        }
        if event.clock > region.close_clock.min(CLOCK_MAX) {
            late.push((event.at, event.clock));
        }
    }
    Some(late)
}

/// Sorts the events from the first one later than `lowest` up to offset `end` by their clocks. Starts
/// to look at offset `from`, before which no event is later than `lowest`.
pub fn sort_events(walk: &EventWalk<'_, '_>, from: u64, lowest: u64, end: u64) -> Option<Edit> {
    let layer = walk.layer();
    let mut walk = walk.restarted(from);
    let mut start = None;
    let mut events: Vec<(u64, u64, u64)> = Vec::new();
    while walk.offset() < end {
        // Damage is repaired first.
        let Some(Item::Record(event)) = walk.next() else { return None };
        if event.end() > end {
            return None;
        }
        if start.is_none() && event.clock > lowest {
            start = Some(event.at);
        }
        if let Some(start) = start {
            if end.saturating_sub(start) > SORTED_MAX {
                return None;
            }
            events.push((event.clock, event.at, event.end()));
        }
    }
    let start = start?;
    if events.is_sorted() {
        return None;
    }
    events.sort_unstable();
    let mut sorted = Vec::new();
    for (_, at, end) in events {
        sorted.extend_from_slice(&walk.bytes(Span::new(layer, at, end)));
    }
    Some(Edit::replace(Span::new(layer, start, end), sorted))
}
