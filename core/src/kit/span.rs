//! Positions: a range of bytes in a layer of a file.

use std::fmt;
use std::ops::Range;

/// A layer of one file of the recording.
///
/// Depth 0 is the file on disk. Depth 1 is expanded from it: the records in zstd-compressed perf
/// records, or the stream in the chunks of apitrace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Layer {
    /// Index of the file in its [`FileSet`](crate::FileSet).
    pub file: u32,
    /// 0 for the stored bytes, 1 for the bytes that they expand to.
    pub depth: u32,
}

impl Layer {
    /// Returns the layer of the stored bytes of file number `file`.
    pub const fn stored(file: u32) -> Self {
        Self { file, depth: 0 }
    }

    /// Returns the layer that is expanded from this one.
    pub const fn expanded(self) -> Self {
        Self { file: self.file, depth: self.depth.saturating_add(1) }
    }

    /// Returns whether the layer is stored on disk.
    pub const fn is_stored(self) -> bool {
        self.depth == 0
    }
}

/// A range of bytes in a layer: `start` is the first byte, `end` the one after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The layer that the offsets refer to.
    pub(crate) layer: Layer,
    /// Offset of the first byte.
    pub(crate) start: u64,
    /// Offset after the last byte; at least `start`.
    pub(crate) end: u64,
}

impl Span {
    /// Returns the layer that the offsets refer to.
    pub const fn layer(&self) -> Layer {
        self.layer
    }

    /// Returns the offset of the first byte.
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// Returns the offset after the last byte; it is at least [`Span::start`].
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Creates the span `start..end`; it is empty if `end` is less than `start`.
    pub const fn new(layer: Layer, start: u64, end: u64) -> Self {
        Self { layer, start, end: if end < start { start } else { end } }
    }

    /// Creates the span of `len` bytes from `start`, saturating at `u64::MAX`.
    pub const fn sized(layer: Layer, start: u64, len: u64) -> Self {
        Self::new(layer, start, start.saturating_add(len))
    }

    /// Returns the length in bytes.
    pub const fn len(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Returns whether the length is 0.
    pub const fn is_empty(&self) -> bool {
        self.end <= self.start
    }

    /// Returns whether two spans share a byte of the same layer, or an empty one lies inside the
    /// other: between two of its bytes.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.layer == other.layer && self.start < other.end && other.start < self.end
    }

    /// Returns the offsets as a range.
    pub const fn range(&self) -> Range<u64> {
        self.start..self.end
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}..{:#x}", self.start, self.end)
    }
}
