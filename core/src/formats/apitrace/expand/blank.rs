//! Zeros at the end of a file: a file system reserves blocks, and a crash leaves them unwritten.
//!
//! Decoders make something of zeros: bytes of zeros, or whatever is frequent. A unit that reaches
//! into them is therefore read as if the file ended before them.

use super::Fault;
use crate::kit::holes::{TAIL_MIN, find_tail};
use crate::kit::source::Source;

/// The zeros that a file ends in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blank {
    /// Where they begin; the end of the file without any.
    pub(super) start: u64,
    end: u64,
}

impl Blank {
    /// Finds the zeros at the end of a file.
    pub(super) fn of(source: &Source<'_>) -> Self {
        Self { start: find_tail(source), end: source.len() }
    }

    /// Whether a unit that ends at `end` was not written to its end.
    pub(super) const fn cuts(self, end: u64) -> bool {
        end > self.start.saturating_add(TAIL_MIN)
    }

    /// Returns the fault of bytes at `at`, after the last unit.
    pub(super) const fn fault_after_end(self, at: u64) -> Fault {
        if at >= self.start && at < self.end { Fault::Zeros } else { Fault::Trailing }
    }
}
