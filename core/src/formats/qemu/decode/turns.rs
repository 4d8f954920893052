//! The turns of two checkpoints.
//!
//! Each pass of QEMU's main loop runs the timers of the host clock, and then those of the virtual
//! real-time clock: CP_CLOCK_HOST and CP_CLOCK_VIRTUAL_RT take turns. A clock without a timer has
//! no checkpoint. With `shift=auto` both clocks always have one: the real-time clock of the machine
//! and the timer that adapts the shift. With a fixed shift, turns are left out again and again. So
//! a turn that is left out in a log that keeps to them shows that events were lost or doubled.

use crate::formats::qemu::layout::{Checkpoint, Kind};
use crate::kit::span::Span;

/// Turns left out in a log that keeps to them: one damage leaves out one or two.
pub const LEFT_OUT_MAX: u64 = 2;
/// Passes of the main loop that show that a log keeps to the turns: a boot with a fixed shift
/// leaves out a turn in every fifth.
pub const PASSES: u64 = 256;

/// The turns that were left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turns {
    count: u64,
    first: Option<LeftOut>,
}

/// A turn that was left out: the event that came again.
#[derive(Clone, Copy, Debug)]
pub struct LeftOut {
    /// Its number.
    pub number: u64,
    /// Its kind.
    pub kind: Kind,
    /// Its bytes.
    pub span: Span,
}

impl Turns {
    /// Notes a turn that was left out.
    pub fn add(&mut self, left_out: LeftOut) {
        self.count = self.count.saturating_add(1);
        self.first.get_or_insert(left_out);
    }

    /// Returns whether the log does not keep to the turns.
    pub const fn are_free(&self) -> bool {
        self.count > LEFT_OUT_MAX
    }

    /// Returns the first turn left out of a log that keeps to them, which has `passes` of the main
    /// loop.
    pub fn left_out(&self, passes: u64) -> Option<LeftOut> {
        self.first.filter(|_| !self.are_free() && passes >= PASSES)
    }
}

/// Returns the kind that takes turns with a kind.
pub const fn partner(kind: Kind) -> Option<Kind> {
    match kind {
        Kind::Checkpoint(Checkpoint::ClockHost) => {
            Some(Kind::Checkpoint(Checkpoint::ClockVirtualRt))
        }
        Kind::Checkpoint(Checkpoint::ClockVirtualRt) => {
            Some(Kind::Checkpoint(Checkpoint::ClockHost))
        }
        _ => None,
    }
}
