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
//! This module finds and measures the blocks; libzstd, which perf uses as well, decodes them. It
//! gets each block by itself, after a frame header of our own without content size and checksum,
//! and returns all bytes of the block at once: bytes before a fault are known even if the end of
//! the frame is missing.
//!
//! A checksum that differs from that of the bytes does not end the stream: they were decoded, and
//! it does not show which of them are wrong. perf and apitrace write none.

mod error;
mod frame;
mod measure;
mod partial;
#[cfg(test)]
mod tests;
mod xxh64;

use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

pub use error::{ExpandError, Fault};
pub use measure::{DataEnd, OpenUnit, block_ends};
pub use partial::{Change, PartialExpander, PartialStream};

use crate::kit::num::{to_u64, to_usize};
use error::to_error;
use frame::{
    BLOCK_HEADER_LEN, BlockHeader, CHECK_SUM_LEN, Frame, SKIPPABLE_HEADER_LEN, header_len,
    is_skippable, literals_len, magic, number,
};
use xxh64::Xxh64;

/// Bytes that may wait for [`Expander::take`] before a block is decoded.
const ROOM: u64 = 128 << 10;

/// The bits of a hash that a frame stores.
const LOW_HALF: u64 = 0xffff_ffff;

/// Bytes that libzstd holds besides the window: two blocks, and its tables.
const SLACK: u64 = 512 << 10;

/// Largest window that libzstd decodes, as a power of two (`ZSTD_WINDOWLOG_MAX`).
const WINDOW_LOG_MAX: u32 = if usize::BITS < 64 { 30 } else { 31 };

/// Expands a zstd stream that arrives in pieces.
///
/// Memory: the window, 512 KiB in libzstd, and 256 KiB of expanded bytes. libzstd allocates by
/// itself; an allocator of Rust does not see that part.
pub struct Expander {
    window_max: u64,
    decoder: Option<DCtx<'static>>,
    frame: Frame,
    expect: Expect,
    /// The first bytes of a unit (see [`Expect`]) that is not complete yet.
    partial: Vec<u8>,
    /// Bytes of good blocks; the first `taken` ones were taken.
    expanded: Vec<u8>,
    taken: usize,
    is_finished: bool,
    failed: Option<ExpandError>,
    check_sum: CheckSum,
}

/// The checksum of the frame so far, and the last one that did not match.
#[derive(Default)]
struct CheckSum {
    hash: Xxh64,
    wrong: Option<WrongCheckSum>,
}

/// A checksum that differs from that of the bytes of its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongCheckSum {
    /// The stored value.
    pub stated: u32,
    /// The value of the expanded bytes.
    pub found: u32,
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
            decoder: None,
            frame: Frame::default(),
            expect: Expect::Header,
            partial: Vec::new(),
            expanded: Vec::new(),
            taken: 0,
            is_finished: false,
            failed: None,
            check_sum: CheckSum::default(),
        }
    }

    /// Begins another stream in the memory of this one: a decoder of libzstd takes longer to make
    /// than a short frame to decode.
    pub fn restart(&mut self) {
        let (mut partial, mut expanded) =
            (std::mem::take(&mut self.partial), std::mem::take(&mut self.expanded));
        partial.clear();
        expanded.clear();
        let decoder = self.decoder.take();
        *self = Self { decoder, partial, expanded, ..Self::new(self.window_max) };
    }

    /// Accepts the next stored bytes, as many as there is room for.
    ///
    /// Returns early if 128 KiB can be taken: four stored bytes can expand to 128 KiB, so the
    /// length of `stored` is not a bound. Feed the rest after [`take`](Self::take). If nothing can
    /// be taken, all of `stored` is accepted. After [`finish`](Self::finish) nothing is accepted.
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
        while !self.is_finished && (self.held() < ROOM || self.ends_without_check_sum()) {
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

    /// Moves at most `max` bytes to the end of `out`, and returns their number.
    pub fn take(&mut self, out: &mut Vec<u8>, max: usize) -> usize {
        let rest = self.expanded.get(self.taken..).unwrap_or_default();
        let now = rest.get(..max).unwrap_or(rest);
        out.extend_from_slice(now);
        let count = now.len();
        self.taken = self.taken.saturating_add(count);
        if self.taken >= self.expanded.len() {
            self.expanded.clear();
            self.taken = 0;
        }
        count
    }

    /// Ends the stream, at the end of the input or after a fault.
    pub const fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Takes the last checksum that did not match; `None` if none did since the last call.
    pub const fn take_wrong_check_sum(&mut self) -> Option<WrongCheckSum> {
        self.check_sum.wrong.take()
    }

    /// Returns the number of expanded bytes that were not taken.
    pub fn held(&self) -> u64 {
        to_u64(self.expanded.len().saturating_sub(self.taken))
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

    /// Returns whether the frame ends here: its end takes neither stored bytes nor room, and no
    /// further call may come.
    const fn ends_without_check_sum(&self) -> bool {
        matches!(self.expect, Expect::Trailer) && !self.frame.has_check_sum
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
        self.begin_frame(&frame)?;
        self.frame = frame;
        self.check_sum.hash = Xxh64::default();
        self.expect = Expect::Block;
        Ok(0)
    }

    /// Decodes the block in `partial`.
    fn decode_block(&mut self) -> Result<u64, ExpandError> {
        let max = self.frame.block_max();
        if let Some(size) = literals_len(&self.partial).filter(|size| *size > max) {
            return Err(ExpandError::BlockTooLarge { size, max });
        }
        let before = self.expanded.len();
        let block = std::mem::take(&mut self.partial);
        let decoded = self.decode(&block);
        self.partial = block;
        let expanded = to_u64(self.expanded.len().saturating_sub(before));
        let is_too_large = expanded > max;
        if decoded.is_err() || is_too_large {
            self.expanded.truncate(before);
        }
        decoded?;
        // The header that libzstd gets rounds the window up.
        if is_too_large {
            return Err(ExpandError::BlockTooLarge { size: expanded, max });
        }
        self.frame.found = self.frame.found.saturating_add(expanded);
        if self.frame.has_check_sum {
            self.check_sum.hash.update(self.expanded.get(before..).unwrap_or_default());
        }
        if BlockHeader::first(&self.partial).is_some_and(|header| header.is_last) {
            self.expect = Expect::Trailer;
        }
        Ok(expanded)
    }

    /// Gives libzstd the header of a frame.
    fn begin_frame(&mut self, frame: &Frame) -> Result<(), ExpandError> {
        let needed = frame.window.saturating_add(SLACK);
        if self.decoder.is_none() {
            let mut decoder = DCtx::try_create().ok_or(ExpandError::NoMemory { needed })?;
            let most = DParameter::WindowLogMax(WINDOW_LOG_MAX);
            decoder.set_parameter(most).map_err(|code| to_error(code, needed))?;
            self.decoder = Some(decoder);
        }
        let Some(decoder) = &mut self.decoder else { return Ok(()) };
        decoder.reset(ResetDirective::SessionOnly).map_err(|code| to_error(code, needed))?;
        let header = frame.header_for_libzstd();
        self.decode(&header)
    }

    /// Gives libzstd a header or a block; its bytes are added to the expanded ones.
    fn decode(&mut self, unit: &[u8]) -> Result<(), ExpandError> {
        let needed = self.frame.window.saturating_add(SLACK);
        let Some(decoder) = &mut self.decoder else { return Ok(()) };
        let mut input = InBuffer::around(unit);
        loop {
            let filled = self.expanded.len();
            let room = to_usize(ROOM);
            self.expanded.try_reserve(room).map_err(|_| ExpandError::NoMemory { needed })?;
            let mut output = OutBuffer::around_pos(&mut self.expanded, filled);
            decoder
                .decompress_stream(&mut output, &mut input)
                .map_err(|code| to_error(code, needed))?;
            let made = output.pos().saturating_sub(filled);
            if input.pos() >= unit.len() && made < room {
                return Ok(());
            }
        }
    }

    /// Ends the frame.
    fn close_frame(&mut self) -> Result<u64, ExpandError> {
        let found = self.frame.found;
        if let Some(stated) = self.frame.stated.filter(|stated| *stated != found) {
            return Err(ExpandError::ContentSize { stated, found });
        }
        if self.frame.has_check_sum {
            let halves = [number(&self.partial), self.check_sum.hash.digest()];
            let [stated, found] = halves.map(|half| u32::try_from(half & LOW_HALF).unwrap_or(0));
            if stated != found {
                self.check_sum.wrong = Some(WrongCheckSum { stated, found });
            }
        }
        self.expect = Expect::Header;
        Ok(0)
    }
}
