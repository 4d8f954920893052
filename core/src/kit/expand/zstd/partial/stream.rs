//! A zstd stream in pieces of whole blocks, as an encoder writes that is flushed.

use super::super::frame::{FRAME_MAGIC, Frame, header_len, magic};
use super::{BLOCK_MAX, BlockHeader, Change, PartialExpander};
use crate::kit::num::to_u64;

/// Expands the pieces of a stream up to the first fault.
#[derive(Clone)]
pub struct PartialStream {
    window_max: u64,
    /// `None` before the first frame.
    expander: Option<PartialExpander>,
}

impl PartialStream {
    /// A stream before its first frame. Frames with a window of more than `window_max` bytes are
    /// not opened.
    pub const fn new(window_max: u64) -> Self {
        Self { window_max, expander: None }
    }

    /// Returns the most bytes that the stream keeps for later copies.
    pub fn window(&self) -> usize {
        self.expander.as_ref().map_or(0, |expander| expander.window)
    }

    /// Returns the number of bytes that the stream keeps for later copies.
    pub fn held(&self) -> usize {
        self.expander.as_ref().map_or(0, |expander| expander.history.len())
    }

    /// Expands the next piece to the end of `out`. Returns the number of its bytes before the first
    /// block that has a fault or is not complete, or before which `out` has at least `most` bytes:
    /// all of them if there is none. The stream then is at that block.
    pub fn feed(&mut self, piece: &[u8], out: &mut Vec<u8>, most: usize) -> usize {
        let mut rest = piece;
        if magic(rest) == FRAME_MAGIC && self.open_frame(&mut rest).is_none() {
            return 0;
        }
        while let Some((unit, after)) = split_unit(rest).filter(|_| out.len() < most) {
            let Some(expander) = &mut self.expander else { break };
            let before = (expander.huffman.clone(), expander.tables.clone(), expander.offsets);
            let block = expander.expand_block(unit);
            if block.is_faulty {
                (expander.huffman, expander.tables, expander.offsets) = before;
                break;
            }
            expander.remember(&block.sound);
            out.extend_from_slice(&block.sound);
            rest = after;
        }
        piece.len().saturating_sub(rest.len())
    }

    /// Expands the block at the beginning of `rest`, and stays before it; `None` if it has a fault.
    pub fn peek(&mut self, rest: &[u8]) -> Option<Vec<u8>> {
        let (unit, _) = split_unit(rest)?;
        let expander = self.expander.as_mut()?;
        let before = (expander.huffman.clone(), expander.tables.clone(), expander.offsets);
        let block = expander.expand_block(unit);
        (expander.huffman, expander.tables, expander.offsets) = before;
        (!block.is_faulty).then_some(block.sound)
    }

    /// Expands the block at the beginning of `rest`, of which the literals are damaged, with
    /// `filler` for each of them, to the end of `out`. Returns the rest after it; `None` if more is
    /// damaged.
    pub fn fill<'a>(&mut self, rest: &'a [u8], filler: u8, out: &mut Vec<u8>) -> Option<&'a [u8]> {
        let (unit, after) = split_unit(rest)?;
        let expander = self.expander.as_mut()?;
        let before = (expander.huffman.clone(), expander.tables.clone(), expander.offsets);
        let filled = expander.expand_filled(unit, filler);
        if filled.is_none() {
            (expander.huffman, expander.tables, expander.offsets) = before;
        }
        let filled = filled?;
        expander.remember(&filled);
        out.extend_from_slice(&filled);
        Some(after)
    }

    /// Returns the changes of one byte of `rest`, the bytes of a piece from a faulty block on,
    /// after which it has no fault. Takes about `most` steps, and subtracts what it took.
    pub fn find_changes(&self, rest: &[u8], most: &mut u64) -> Vec<Change> {
        self.expander.as_ref().map_or_else(Vec::new, |expander| expander.find_changes(rest, most))
    }

    fn open_frame(&mut self, rest: &mut &[u8]) -> Option<()> {
        let least = header_len(rest).ok()?;
        let len = header_len(rest.get(..least)?).ok()?;
        let frame = Frame::parse(rest.get(..len)?).ok()?;
        *rest = rest.get(len..)?;
        let is_allowed = frame.window <= self.window_max && !frame.has_check_sum;
        self.expander = is_allowed.then(|| PartialExpander::new(frame.window));
        self.expander.as_ref().map(|_| ())
    }
}

/// Splits the first block off.
fn split_unit(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let header = BlockHeader::first(bytes)?;
    bytes.split_at_checked(header.unit_len(to_u64(BLOCK_MAX)).ok()?)
}
