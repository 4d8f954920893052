//! Shifts of clocks, and bytes between events that do not count.

use crate::formats::ovni::layout::CLOCK_MAX;
use crate::kit::span::Span;

/// Consecutive events whose clocks are shifted by the same amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockShift {
    /// Offset of the first event.
    pub from: u64,
    /// Offset after the last event.
    pub until: u64,
    /// Number of the first event.
    pub number: u64,
    /// Number of events.
    pub events: u64,
    /// Nanoseconds to add.
    pub by: i128,
    /// The part of the shift that only these events have: 0 if they are shifted with the part
    /// of the stream that they lie in.
    pub own: i128,
    /// If the clocks before and after leave no choice: the offset of the event before.
    pub determined_by: Option<u64>,
}

impl ClockShift {
    /// Whether a whole part of the stream is shifted.
    pub const fn is_part(&self) -> bool {
        self.by != self.own
    }

    /// Returns the shifted clock.
    pub fn apply(&self, clock: u64) -> u64 {
        let shifted = i128::from(clock).saturating_add(self.by);
        u64::try_from(shifted.clamp(0, i128::from(CLOCK_MAX))).unwrap_or(CLOCK_MAX)
    }
}

/// Bytes between two events that do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Offset of the first byte.
    pub from: u64,
    /// Offset of the next event that counts.
    pub to: u64,
    /// If they are a copy: bytes that stay as the only one.
    pub copy_of: Option<Span>,
}

/// A clock that goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepBack {
    /// Offset of the event.
    pub at: u64,
    /// Number of the event.
    pub number: u64,
    /// Clock before it.
    pub before: u64,
    /// Its clock.
    pub clock: u64,
}

/// The outline of a stream; empty if nothing is unusual.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Shifts, in order.
    pub shifts: Vec<ClockShift>,
    /// Gaps, in order.
    pub gaps: Vec<Gap>,
    /// The first place where the clock goes back from one part to the next.
    pub first_step: Option<StepBack>,
    /// Number of such places.
    pub steps: u64,
    /// Offset of the last OU[, if clocks go back after it and no OU] follows: it opens no region.
    pub unclosed_region: Option<u64>,
    /// Where the outline ends, if the stream has more shifts, parts and gaps than it may hold.
    pub ends_at: Option<u64>,
}
