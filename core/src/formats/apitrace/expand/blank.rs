//! Zeros at the end of a file: a file system reserves blocks, and a crash leaves them unwritten.
//!
//! Decoders make something of zeros: bytes of zeros, or whatever is frequent. A unit that reaches
//! into them is therefore read as if the file ended before them.

use super::Fault;
use crate::kit::holes;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::steps;

/// Zeros that are not the recorder's: no unit ends in so many, only lengths, checksums and literals
/// in a few. Where the file ends at a border of disk blocks, fewer may be unwritten.
const ZEROS: u64 = 16;
/// Bytes that are read at a time, and at most: a sparse file has any number of them.
const STEP: u64 = 64 << 10;
const MOST: u64 = 1 << 30;

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
        let (end, mut start) = (source.len(), source.len());
        while start > 0 && end.saturating_sub(start) < MOST {
            let piece = source.read(start.saturating_sub(STEP), start);
            let zeros = piece.iter().rev().take_while(|byte| **byte == 0).count();
            steps::count(to_u64(zeros));
            start = start.saturating_sub(to_u64(zeros));
            if zeros < piece.len() {
                break;
            }
        }
        let is_blank = end.saturating_sub(start) >= ZEROS || end.is_multiple_of(holes::BLOCK);
        Self { start: if is_blank { start } else { end }, end }
    }

    /// Whether a unit that ends at `end` was not written to its end.
    pub(super) const fn cuts(self, end: u64) -> bool {
        end > self.start.saturating_add(ZEROS)
    }

    /// Returns the fault of bytes at `at`, after the last unit.
    pub(super) const fn fault_after_end(self, at: u64) -> Fault {
        if at >= self.start && at < self.end { Fault::Zeros } else { Fault::Trailing }
    }
}
