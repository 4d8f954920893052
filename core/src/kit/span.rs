//! Where something is: a range of bytes in a layer of a file.

use std::fmt;
use std::ops::Range;

/// A layer of one file of the recording.
///
/// Depth 0 is the file as it lies on disk; depth 1 is what was expanded from it (the records inside
/// zstd-compressed perf records, the stream inside apitrace's chunks).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Layer {
    /// Index of the file in its [`FileSet`](crate::FileSet).
    pub file: u32,
    /// 0 for the stored bytes, 1 for what they expand to.
    pub depth: u32,
}

impl Layer {
    /// The stored bytes of file number `file`.
    pub const fn stored(file: u32) -> Self {
        Self { file, depth: 0 }
    }

    /// What is expanded from this layer.
    pub const fn expanded(self) -> Self {
        Self { file: self.file, depth: self.depth.saturating_add(1) }
    }

    /// Whether the layer is bytes on disk.
    pub const fn is_stored(self) -> bool {
        self.depth == 0
    }
}

/// A range of bytes in a layer: `start` is the first byte, `end` the one after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The layer the offsets count in.
    pub layer: Layer,
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte; never below `start`.
    pub end: u64,
}

impl Span {
    /// The bytes `start..end`; an `end` below `start` gives an empty span at `start`.
    pub const fn new(layer: Layer, start: u64, end: u64) -> Self {
        Self { layer, start, end: if end < start { start } else { end } }
    }

    /// `len` bytes from `start`, saturating at the end of the number range.
    pub const fn sized(layer: Layer, start: u64, len: u64) -> Self {
        Self::new(layer, start, start.saturating_add(len))
    }

    /// Length in bytes.
    pub const fn len(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether the span holds no byte.
    pub const fn is_empty(&self) -> bool {
        self.end <= self.start
    }

    /// Whether two spans share a byte of the same layer.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.layer == other.layer && self.start < other.end && other.start < self.end
    }

    /// The offsets as a range.
    pub const fn range(&self) -> Range<u64> {
        self.start..self.end
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}..{:#x}", self.start, self.end)
    }
}
