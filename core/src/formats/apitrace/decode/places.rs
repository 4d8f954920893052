//! Places of the stream in the file: the units that hold its bytes, and the calls that begin there.

use std::collections::VecDeque;

use crate::formats::apitrace::expand::{Block, Parts};
use crate::kit::layer::{LayerMap, Segment};
use crate::kit::span::Span;

/// Blocks whose first calls are remembered.
const BLOCKS_KEPT: usize = 4_096;

/// The units that hold a stretch of the stream: the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The unit that holds the first byte.
    pub head: Segment,
    /// The unit that holds the last byte.
    pub tail: Segment,
}

/// A block that was begun.
#[derive(Clone, Copy, Debug)]
struct BlockStart {
    /// Where it begins in the stream.
    start: u64,
    /// The number of the first call in it.
    call: u64,
    /// Its unit, whose end in the stream may not be known yet.
    unit: Segment,
}

/// From the stream, as far as it was expanded, to the stored file.
#[derive(Debug, Default)]
pub struct StreamPlaces {
    map: LayerMap,
    blocks: VecDeque<BlockStart>,
    /// The places of the last block.
    pub last: Option<Segment>,
    /// Length of the stream as far as it was expanded.
    pub end: u64,
    /// The parts of the last block's unit, and where that begins.
    parts: Option<(Parts, u64)>,
}

impl StreamPlaces {
    /// Adds a block, whose first call is `call`; returns its segment if it was not seen before.
    pub fn add_block(&mut self, block: &Block, call: u64) -> Option<Segment> {
        let is_new = block.start >= self.end || self.last.is_none();
        let segment = block.segment().filter(|_| is_new);
        if let Some(segment) = segment {
            self.map.push(segment);
            self.last = Some(segment);
        }
        self.end = self.end.max(block.end());
        self.parts = block.parts.map(|parts| (parts, block.unit.1));
        if let Some(unit) = block.unit_segment() {
            self.begin_block(block.start, call, unit);
        }
        segment
    }

    fn begin_block(&mut self, start: u64, call: u64, unit: Segment) {
        let known = self.blocks.partition_point(|block| block.start <= start);
        let last = known.checked_sub(1).and_then(|index| self.blocks.get(index));
        let is_known = last
            .is_some_and(|last| last.start == start && last.unit.stored.start == unit.stored.start);
        if is_known {
            return;
        }
        if self.blocks.len() >= BLOCKS_KEPT {
            self.blocks.pop_front();
        }
        self.blocks.push_back(BlockStart { start, call, unit });
    }

    fn block_at(&self, at: u64) -> Option<&BlockStart> {
        let after = self.blocks.partition_point(|block| block.start <= at);
        self.blocks.get(after.checked_sub(1)?)
    }

    /// Returns the unit that holds the byte at `at` of the stream.
    pub fn unit_at(&self, at: u64) -> Option<Segment> {
        self.block_at(at).map(|block| block.unit)
    }

    /// Returns how far a damage reaches that ends at `at`, in the last block, if its unit has
    /// parts.
    pub fn reach(&self, at: u64) -> Option<u64> {
        let (Parts { len, certain_from }, _) = self.parts?;
        let into = at.checked_sub(self.unit_at(at)?.expanded.start)?.checked_rem(len)?;
        Some(at.checked_add(len.checked_sub(into)?)?.max(certain_from))
    }

    /// Whether the bytes from `at` of the stream to the end of the last block have the places that
    /// they were written to: the length of their unit shows these.
    pub fn is_in_place(&self, at: u64) -> bool {
        self.parts.is_some_and(|(_, start)| start <= at)
    }

    /// Returns the unit of the latest block.
    pub fn latest_unit(&self) -> Option<Segment> {
        self.blocks.back().map(|block| block.unit)
    }

    /// Returns the number of the first call in the block that holds `at`.
    pub fn first_call_at(&self, at: u64) -> u64 {
        self.block_at(at).map_or(0, |block| block.call)
    }

    /// Sets the first call of the latest block if it begins at `start` or after it: calls before it
    /// were lost.
    pub fn set_first_call(&mut self, start: u64, call: u64) {
        if let Some(block) = self.blocks.back_mut().filter(|block| block.start >= start) {
            block.call = call;
        }
    }

    /// Returns the units that hold `start..end` of the stream.
    pub fn place(&self, start: u64, end: u64) -> Option<Place> {
        let head = self.unit_at(start)?;
        let tail = self.unit_at(end.saturating_sub(1).max(start))?;
        Some(Place { head, tail })
    }

    /// Returns the stored bytes of a span of the stream, as far as they are still known.
    pub fn stored(&self, span: Span) -> Option<Span> {
        self.map.stored(span)
    }

    /// Returns the segment that holds the byte at `at` of the stream.
    pub fn segment(&self, at: u64) -> Option<Segment> {
        self.map.segment(at)
    }
}
