//! Edits of clocks.

use crate::kit::span::{Layer, Span};
use crate::mend::edit::Edit;

/// Offset of the clock in an event.
const CLOCK_OFFSET: u64 = 4;

/// Sets the clock of the event at offset `at`.
pub fn set_clock(layer: Layer, at: u64, clock: u64) -> Edit {
    let field = Span::sized(layer, at.saturating_add(CLOCK_OFFSET), 8);
    Edit::replace(field, clock.to_le_bytes())
}
