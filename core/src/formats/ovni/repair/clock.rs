//! Edits of clocks.

use crate::formats::ovni::decode::event_walk::EventWalk;
use crate::formats::ovni::recover::clock_shift::ClockShift;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::model::edit::Edit;

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
    /// One edit for all shifts that adjoin: events that follow one another are written together.
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
    for run in shifts.chunk_by(|a, b| a.until == b.from) {
        out.add(walk, run);
    }
    Some(out)
}

impl ShiftedClocks {
    /// Adds the edit of shifts that adjoin.
    fn add(&mut self, walk: &EventWalk<'_, '_>, run: &[ClockShift]) {
        let [first, ..] = run else { return };
        let until = run.last().map_or(first.until, |last| last.until);
        let start = first.from.saturating_add(CLOCK_OFFSET);
        let mut bytes = walk.bytes(Span::new(walk.layer(), start, until)).into_owned();
        let mut end = 0;
        for shift in run {
            let mut events = walk.restarted(shift.from);
            while events.offset() < shift.until {
                let Some(Item::Record(event)) = events.next() else { break };
                let from = to_usize(event.at.saturating_sub(first.from));
                end = from.saturating_add(to_usize(CLOCK_LEN));
                let clock = shift.apply(event.clock).to_le_bytes();
                if let Some(field) = bytes.get_mut(from..end) {
                    field.copy_from_slice(&clock);
                }
                self.events = self.events.saturating_add(1);
            }
        }
        // The payload of the last event stays as it is.
        bytes.truncate(end);
        bytes.shrink_to_fit();
        let span = Span::sized(walk.layer(), start, to_u64(bytes.len()));
        self.edits.push(Edit::replace(span, bytes));
    }
}
