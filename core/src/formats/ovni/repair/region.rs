//! Edits of regions of events out of order (OU[ .. OU]).

use crate::formats::ovni::decode::event_walk::EventWalk;
use crate::formats::ovni::layout::CLOCK_MAX;
use crate::formats::ovni::repair::clock::set_clock;
use crate::kit::span::Span;
use crate::kit::walk::Item;
use crate::model::edit::Edit;

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

/// Corrects the clocks of a region with an event later than its OU]: either the one event that is
/// too late, or OU] itself. Empty if no event is too late, if the region is damaged, or if it has
/// more than `max` bytes.
pub fn correct_clocks(walk: &EventWalk<'_, '_>, region: &ClosedRegion, max: u64) -> Vec<Edit> {
    let layer = walk.layer();
    if region.close_at.saturating_sub(region.open_at) > max {
        return Vec::new();
    }
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

/// Offsets and clocks of the events of a region that are later than its OU]; `None` if it is
/// damaged.
fn find_late_events(walk: &EventWalk<'_, '_>, region: &ClosedRegion) -> Option<Vec<(u64, u64)>> {
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

/// Sorts the events from the first one later than `lowest` up to offset `end` by their clocks.
/// Starts to look at offset `from`, before which no event is later than `lowest`. Sorts at most
/// `max` bytes.
pub fn sort_events(
    walk: &EventWalk<'_, '_>,
    from: u64,
    lowest: u64,
    (end, max): (u64, u64),
) -> Option<Edit> {
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
            if end.saturating_sub(start) > max {
                return None;
            }
            events.push((event.clock, event.at, event.end()));
        }
    }
    let start = start?;
    if events.is_sorted() {
        return None;
    }
    let recorded = events.clone();
    events.sort_unstable();
    // Events at the end that stay where they are.
    let same = events.iter().rev().zip(recorded.iter().rev()).take_while(|(a, b)| a == b).count();
    events.truncate(events.len().saturating_sub(same));
    let end = events.iter().map(|(.., end)| *end).max().unwrap_or(end);
    let mut sorted = Vec::new();
    for (_, at, end) in events {
        sorted.extend_from_slice(&walk.bytes(Span::new(layer, at, end)));
    }
    Some(Edit::replace(Span::new(layer, start, end), sorted))
}
