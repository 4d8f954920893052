//! Edits of clocks.

use crate::formats::ovni::decode::clock_shift::ClockShift;
use crate::formats::ovni::decode::event_walk::EventWalk;
use crate::kit::num::to_usize;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::mend::edit::Edit;

/// Offset of the clock in an event.
const CLOCK_OFFSET: u64 = 4;
/// Bytes of a clock.
const CLOCK_LEN: u64 = 8;

/// Returns the span of the clock of the event at offset `at`.
pub const fn clock_span(layer: Layer, at: u64) -> Span {
    Span::sized(layer, at.saturating_add(CLOCK_OFFSET), CLOCK_LEN)
}

/// Sets the clock of the event at offset `at`.
pub fn set_clock(layer: Layer, at: u64, clock: u64) -> Edit {
    Edit::replace(clock_span(layer, at), clock.to_le_bytes())
}

/// Edits that shift clocks.
#[derive(Clone, Debug, Default)]
pub struct ShiftedClocks {
    /// One edit per shift: events that follow one another are written together.
    pub edits: Vec<Edit>,
    /// Number of events with another clock.
    pub events: u64,
}

/// Returns the edits of some shifts; `None` if they have more than `max` bytes together.
pub fn shift_clocks(
    walk: &EventWalk<'_, '_>,
    shifts: &[ClockShift],
    max: u64,
) -> Option<ShiftedClocks> {
    let lengths = shifts.iter().map(|shift| shift.until.saturating_sub(shift.from));
    if lengths.fold(0, u64::saturating_add) > max {
        return None;
    }
    let mut out = ShiftedClocks::default();
    for shift in shifts {
        let mut events = walk.restarted(shift.from);
        let start = shift.from.saturating_add(CLOCK_OFFSET);
        let mut bytes = walk.bytes(Span::new(walk.layer(), start, shift.until)).into_owned();
        let mut end = 0;
        while events.offset() < shift.until {
            let Some(Item::Record(event)) = events.next() else { break };
            let from = to_usize(event.at.saturating_sub(shift.from));
            end = from.saturating_add(to_usize(CLOCK_LEN));
            let clock = shift.apply(event.clock).to_le_bytes();
            if let Some(field) = bytes.get_mut(from..end) {
                field.copy_from_slice(&clock);
            }
            out.events = out.events.saturating_add(1);
        }
        // The payload of the last event stays as it is.
        bytes.truncate(end);
        let len = crate::kit::num::to_u64(bytes.len());
        out.edits.push(Edit::replace(Span::sized(walk.layer(), start, len), bytes));
    }
    Some(out)
}
