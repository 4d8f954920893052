//! Expands a zstd stream block by block.
//!
//! ```text
//! stream    := (frame | skippable)*
//! frame     := magic FD2FB528, descriptor, [window], [dictionary id], [content size],
//!              block+, [checksum: 4 bytes]
//! block     := header: 3 bytes (last: 1 bit, type: 2 bits, size: 21 bits), content
//! skippable := magic 184D2A5x, size: u32, that many bytes
//! ```
//!
//! Source: RFC 8878, section 3.1. `perf record -z` writes one such stream in pieces, one per
//! COMPRESSED record (tools/perf/util/zstd.c). A block may lie in two records, and a killed
//! recorder leaves the last frame unfinished. The expander therefore accepts pieces of any length,
//! counts the bytes of each block, and keeps everything before a fault.
//!
//! This module finds and measures the blocks; the crate ruzstd decodes them. ruzstd gets a frame
//! header of our own: its window is the largest block that the real frame allows (ruzstd 0.9.1 uses
//! it for nothing else while it decodes), and its first block is empty and marked as the last one.
//! From then on ruzstd decodes further blocks as before, but counts every byte that it holds in
//! `can_collect` and returns as many as requested. Otherwise it would hold back a window until the
//! end of the frame, which may be missing. This module holds the window back instead. A decoder
//! that begins with a window of zero bytes would not do: an offset before the first byte of the
//! frame would read zeros, and the fault would go unnoticed.
//!
//! The checksum of a frame is not compared. perf writes none.

mod error;
mod frame;
mod measure;
mod partial;
#[cfg(test)]
mod tests;

use std::io::Read;

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

pub use error::{ExpandError, Fault};
pub use measure::OpenUnit;
pub use partial::PartialExpander;

use crate::kit::num::{to_u64, to_usize};
use error::to_corrupt;
use frame::{
    BLOCK_HEADER_LEN, BlockHeader, CHECK_SUM_LEN, Frame, SKIPPABLE_HEADER_LEN, header_len,
    is_skippable, literals_len, magic, number,
};

/// Bytes that may wait for [`Expander::take`] before a block is decoded.
///
/// With the block that is 256 KiB less one byte over the window, exactly the room that the buffer
/// of ruzstd has beyond a power of two.
const ROOM: u64 = 128 << 10;

/// Bytes that ruzstd's buffer has beyond a power of two.
const SLACK: u64 = 256 << 10;

/// An empty raw block, marked as the last of its frame.
const LAST_BLOCK: [u8; BLOCK_HEADER_LEN] = [1, 0, 0];

/// Expands a zstd stream that arrives in pieces.
///
/// Memory: the window rounded up to a power of two, 256 KiB of expanded bytes, a block of at most
/// 128 KiB + 3 bytes, and the tables of ruzstd. While the buffer grows, the old one is held as
/// well.
pub struct Expander {
    window_max: u64,
    decoder: FrameDecoder,
    frame: Frame,
    expect: Expect,
    /// The first bytes of a unit (see [`Expect`]) that is not complete yet.
    partial: Vec<u8>,
    /// Bytes of good blocks in the decoder that were not taken.
    held: u64,
    /// Capacity of ruzstd's buffer for which there was memory.
    capacity: u64,
    is_finished: bool,
    failed: Option<ExpandError>,
}

/// The work of one call of [`Expander::feed`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fed {
    /// Number of stored bytes that were accepted.
    pub stored: usize,
    /// Number of expanded bytes in the blocks that this call completed.
    pub expanded: u64,
}

/// The unit of the stream that comes next.
#[derive(Clone, Copy)]
enum Expect {
    /// A frame header or the header of a skippable frame.
    Header,
    /// The `left` bytes of a skippable frame, after `passed` bytes of it.
    Skip { left: u64, passed: u64 },
    /// A block.
    Block,
    /// The bytes after the last block of a frame: a checksum or nothing.
    Trailer,
}

impl Expander {
    /// Creates an expander that refuses frames with a window of more than `window_max` bytes.
    pub fn new(window_max: u64) -> Self {
        Self {
            window_max,
            decoder: FrameDecoder::new(),
            frame: Frame::default(),
            expect: Expect::Header,
            partial: Vec::new(),
            held: 0,
            capacity: 0,
            is_finished: false,
            failed: None,
        }
    }

    /// Accepts the next stored bytes, as many as there is room for.
    ///
    /// Returns early if 128 KiB can be taken, or if another frame begins before all bytes of the
    /// last one were taken: four stored bytes can expand to 128 KiB, so the length of `stored` is
    /// not a bound. Feed the rest after [`take`](Self::take). If nothing can be taken, all of
    /// `stored` is accepted. After [`finish`](Self::finish) nothing is accepted.
    ///
    /// A caller loops:
    ///
    /// ```text
    /// let mut rest = stored;
    /// while !rest.is_empty() {
    ///     let fed = expander.feed(rest)?;
    ///     rest = rest.get(fed.stored..).unwrap_or_default();
    ///     expander.take(out, usize::MAX);
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// The first fault; every later call returns the same one, with an empty `good`. The blocks
    /// before the fault can still be taken.
    pub fn feed(&mut self, stored: &[u8]) -> Result<Fed, Fault> {
        let mut good = Fed::default();
        if let Some(error) = self.failed.clone() {
            return Err(Fault { error, good });
        }
        let mut rest = stored;
        let mut begun_earlier = self.partial.len();
        while !self.is_finished && !self.is_full() {
            match self.complete_unit(&mut rest) {
                Ok(Some(expanded)) => {
                    begun_earlier = 0;
                    good.stored = stored.len().saturating_sub(rest.len());
                    good.expanded = good.expanded.saturating_add(expanded);
                }
                Ok(None) => {
                    good.stored = stored.len();
                    break;
                }
                Err(error) => {
                    self.partial.truncate(begun_earlier);
                    self.failed = Some(error.clone());
                    return Err(Fault { error, good });
                }
            }
        }
        Ok(good)
    }

    /// Moves at most `max` bytes to which no later block can refer to the end of `out`, and returns
    /// their number.
    pub fn take(&mut self, out: &mut Vec<u8>, max: usize) -> usize {
        let wanted = self.takeable().min(to_u64(max));
        if wanted == 0 {
            return 0;
        }
        out.reserve(to_usize(wanted));
        // Reading from memory into memory does not fail; the bytes that were read are counted
        // anyway.
        let before = out.len();
        let _ = Read::by_ref(&mut self.decoder).take(wanted).read_to_end(out);
        let taken = out.len().saturating_sub(before);
        self.held = self.held.saturating_sub(to_u64(taken));
        taken
    }

    /// Ends the stream, at the end of the input or after a fault.
    ///
    /// From now on [`take`](Self::take) returns every byte that was counted in [`Fed::expanded`].
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Returns the number of expanded bytes that were not taken.
    pub const fn held(&self) -> u64 {
        self.held
    }

    /// Returns the number of stored bytes at the end of the input so far that belong to an
    /// incomplete header, block, checksum or skippable frame. After a fault: see [`Fault::good`].
    pub fn pending(&self) -> u64 {
        let passed = match self.expect {
            Expect::Skip { passed, .. } => passed,
            Expect::Header | Expect::Block | Expect::Trailer => 0,
        };
        passed.saturating_add(to_u64(self.partial.len()))
    }

    /// Returns whether a frame header was read, but not yet the end of the frame.
    #[cfg(test)]
    pub fn is_frame_open(&self) -> bool {
        matches!(self.expect, Expect::Block | Expect::Trailer)
    }

    /// Returns the number of bytes to which no later block can refer.
    fn takeable(&self) -> u64 {
        match self.expect {
            Expect::Block if !self.is_finished => self.held.saturating_sub(self.frame.window),
            _ => self.held,
        }
    }

    /// Returns whether bytes have to be taken before the next unit.
    fn is_full(&self) -> bool {
        match self.expect {
            Expect::Block => self.takeable() >= ROOM,
            // A new frame clears the decoder.
            Expect::Header => self.held > 0,
            Expect::Skip { .. } | Expect::Trailer => false,
        }
    }

    /// Completes the next unit from `rest` and returns the number of bytes that it expands to;
    /// `None` if `rest` ends before, and then all of it was kept.
    fn complete_unit(&mut self, rest: &mut &[u8]) -> Result<Option<u64>, ExpandError> {
        if let Expect::Skip { left, passed } = self.expect {
            return Ok(self.skip(rest, left, passed));
        }
        loop {
            let missing = self.unit_len()?.saturating_sub(self.partial.len());
            if missing == 0 {
                break;
            }
            let Some(piece) = rest.split_off(..missing.min(rest.len())).filter(|p| !p.is_empty())
            else {
                return Ok(None);
            };
            self.partial.extend_from_slice(piece);
        }
        let expanded = match self.expect {
            Expect::Header | Expect::Skip { .. } => self.open_frame()?,
            Expect::Block => self.decode_block()?,
            Expect::Trailer => self.close_frame()?,
        };
        self.partial.clear();
        Ok(Some(expanded))
    }

    /// Returns the length of the unit in `partial`: the least that its bytes allow, until all of
    /// its header is known.
    fn unit_len(&self) -> Result<usize, ExpandError> {
        match self.expect {
            Expect::Header => header_len(&self.partial),
            Expect::Block => match BlockHeader::first(&self.partial) {
                Some(header) => header.unit_len(self.frame.block_max()),
                None => Ok(BLOCK_HEADER_LEN),
            },
            Expect::Trailer if self.frame.has_check_sum => Ok(CHECK_SUM_LEN),
            Expect::Trailer | Expect::Skip { .. } => Ok(0),
        }
    }

    /// Skips the content of a skippable frame.
    fn skip(&mut self, rest: &mut &[u8], left: u64, passed: u64) -> Option<u64> {
        if left == 0 {
            self.expect = Expect::Header;
            return Some(0);
        }
        let piece = rest.split_off(..to_usize(left).min(rest.len())).unwrap_or_default();
        let len = to_u64(piece.len());
        self.expect =
            Expect::Skip { left: left.saturating_sub(len), passed: passed.saturating_add(len) };
        (len > 0).then_some(0)
    }

    /// Starts the frame whose header is in `partial`.
    fn open_frame(&mut self) -> Result<u64, ExpandError> {
        if is_skippable(magic(&self.partial)) {
            let size = number(self.partial.get(4..).unwrap_or_default());
            self.expect = Expect::Skip { left: size, passed: to_u64(SKIPPABLE_HEADER_LEN) };
            return Ok(0);
        }
        let frame = Frame::parse(&self.partial)?;
        if frame.window > self.window_max {
            let (window, max) = (frame.window, self.window_max);
            return Err(ExpandError::WindowTooLarge { window, max });
        }
        self.decoder.init(frame.header_for_ruzstd().as_slice()).map_err(to_corrupt)?;
        self.decode(&LAST_BLOCK)?;
        self.frame = frame;
        self.expect = Expect::Block;
        Ok(0)
    }

    /// Decodes the block in `partial`.
    fn decode_block(&mut self) -> Result<u64, ExpandError> {
        let max = self.frame.block_max();
        // ruzstd reserves room for the literals, up to 1 MiB, before it compares their length.
        if let Some(size) = literals_len(&self.partial).filter(|size| *size > max) {
            return Err(ExpandError::BlockTooLarge { size, max });
        }
        self.try_capacity()?;
        let block = std::mem::take(&mut self.partial);
        let decoded = self.decode(&block);
        self.partial = block;
        decoded?;
        let expanded = to_u64(self.decoder.can_collect()).saturating_sub(self.held);
        // ruzstd limits sequences only; the literals after them can be up to 1 MiB long.
        if expanded > max {
            return Err(ExpandError::BlockTooLarge { size: expanded, max });
        }
        self.held = self.held.saturating_add(expanded);
        self.frame.found = self.frame.found.saturating_add(expanded);
        if BlockHeader::first(&self.partial).is_some_and(|header| header.is_last) {
            self.expect = Expect::Trailer;
        }
        Ok(expanded)
    }

    /// Tests whether there is memory for the buffer of ruzstd, which panics otherwise.
    ///
    /// The buffer doubles as it fills, and the old one is held meanwhile.
    fn try_capacity(&mut self) -> Result<(), ExpandError> {
        let filled = self.held.saturating_add(self.frame.block_max()).saturating_add(1);
        let beyond = filled.saturating_sub(SLACK).next_power_of_two();
        let needed = beyond.saturating_add(SLACK).saturating_add(1);
        if needed > self.capacity {
            let mut test: Vec<u8> = Vec::new();
            if test.try_reserve_exact(to_usize(needed)).is_err() {
                return Err(ExpandError::NoMemory { needed });
            }
            self.capacity = needed;
        }
        Ok(())
    }

    /// Ends the frame.
    fn close_frame(&mut self) -> Result<u64, ExpandError> {
        let found = self.frame.found;
        if let Some(stated) = self.frame.stated.filter(|stated| *stated != found) {
            return Err(ExpandError::ContentSize { stated, found });
        }
        self.expect = Expect::Header;
        Ok(0)
    }

    fn decode(&mut self, block: &[u8]) -> Result<(), ExpandError> {
        self.decoder
            .decode_blocks(block, BlockDecodingStrategy::UptoBlocks(1))
            .map(drop)
            .map_err(to_corrupt)
    }
}
