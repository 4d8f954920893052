//! A zstd stream, block by block.
//!
//! ```text
//! stream    := (frame | skippable)*
//! frame     := magic FD2FB528, descriptor, [window], [dictionary id], [content size],
//!              block+, [check sum: 4 bytes]
//! block     := header: 3 bytes (last: 1 bit, type: 2 bits, size: 21 bits), content
//! skippable := magic 184D2A5x, size: u32, that many bytes
//! ```
//!
//! Source: RFC 8878, section 3.1. `perf record -z` writes one such stream in pieces, a COMPRESSED
//! record each (tools/perf/util/zstd.c): a block may lie in two records, and the last frame is
//! never finished when the recorder was killed. So the expander takes bytes as they come, counts
//! what each block holds, and keeps what came before a fault.
//!
//! The blocks are found and measured here and decoded by the crate ruzstd, which sees a frame of
//! our own making: its stated window is the largest block that the real frame allows (the one use
//! that ruzstd 0.9.1 makes of it while it decodes), and its first block is empty and marked as the
//! last one. From then on ruzstd takes further blocks as before, counts in `can_collect` every byte
//! it holds and hands out as many as it is asked for, instead of holding a window back until the
//! end of the frame, which may never come. The window is held back here. Not done instead: priming
//! the decoder with a window of zero bytes, since an offset before the frame's first byte would
//! then read zeros and not be found.
//!
//! Not checked: a frame's check sum. perf writes none.

use std::error::Error;
use std::fmt;
use std::io::Read;

use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::kit::num::{to_u64, to_usize};

/// Magic_Number, RFC 8878 section 3.1.1.
const FRAME_MAGIC: u32 = 0xfd2f_b528;

/// Magic_Number of a skippable frame without its low four bits, RFC 8878 section 3.1.2.
const SKIPPABLE_MAGIC: u32 = 0x184d_2a50;

/// Magic number and size of a skippable frame.
const SKIPPABLE_HEADER_LEN: usize = 8;

/// Magic number and descriptor, the part of a frame header that every frame has.
const FRAME_START_LEN: usize = 5;

/// Block_Header, RFC 8878 section 3.1.1.2.
const BLOCK_HEADER_LEN: usize = 3;

/// Content_Checksum, RFC 8878 section 3.1.1.
const CHECK_SUM_LEN: usize = 4;

/// Upper bound of Block_Maximum_Size, RFC 8878 section 3.1.1.2.4.
const BLOCK_MAX: u64 = 128 << 10;

/// Bytes that may wait to be taken before a block is decoded. With the block that is 256 KiB less
/// one byte over the window, exactly what ruzstd's buffer has beyond a power of two.
const ROOM: u64 = 128 << 10;

/// An empty raw block, marked as the frame's last.
const LAST_BLOCK: [u8; BLOCK_HEADER_LEN] = [1, 0, 0];

/// Expands a zstd stream that comes in pieces.
///
/// Memory: the window rounded up to a power of two, 256 KiB of expanded bytes, a block of at most
/// 128 KiB + 3 bytes, and ruzstd's tables. While the buffer grows, the old one is held beside it.
pub struct Expander {
    window_max: u64,
    decoder: FrameDecoder,
    frame: Frame,
    expect: Expect,
    /// The first bytes of a unit (see [`Expect`]) that is not whole yet.
    partial: Vec<u8>,
    /// Bytes in the decoder that belong to good blocks and were not taken.
    held: u64,
    is_finished: bool,
    failed: Option<ExpandError>,
}

/// What a call of [`Expander::feed`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fed {
    /// Stored bytes that were taken in.
    pub stored: usize,
    /// Expanded bytes that the blocks hold which this call completed.
    pub expanded: u64,
}

/// A stream that cannot be expanded further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub error: ExpandError,
    /// What the same call did before. `stored` ends where the last good header or block ends, so
    /// that the faulty one begins there; if it is 0, the faulty one may have begun
    /// [`pending`](Expander::pending) bytes before what this call was fed.
    pub good: Fed,
}

/// Why a stream cannot be expanded further.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpandError {
    /// Neither a zstd frame nor a skippable one begins here.
    NotZstd {
        /// The four bytes in place of the magic number, least significant first.
        magic: u32,
    },
    /// The frame header has a bit set that RFC 8878 reserves for a later format.
    ReservedBit {
        /// Frame_Header_Descriptor.
        descriptor: u8,
    },
    /// The frame needs a larger window than is allowed.
    WindowTooLarge {
        /// Bytes that the frame header asks for.
        window: u64,
        /// Bytes that are allowed.
        max: u64,
    },
    /// The frame needs a dictionary.
    Dictionary {
        /// Its id.
        id: u64,
    },
    /// The block is of the reserved type 3.
    ReservedBlock,
    /// The block is larger, as stored or as expanded, than the frame's window and 128 KiB.
    BlockTooLarge {
        /// Bytes of the block: stored ones, or expanded ones if those are too many.
        size: u64,
        /// The lower of window and 128 KiB.
        max: u64,
    },
    /// The frame's blocks hold another number of bytes than its header states.
    ContentSize {
        /// Bytes that the header states.
        stated: u64,
        /// Bytes that the blocks hold.
        found: u64,
    },
    /// The block does not decode.
    Corrupt {
        /// The innermost message of ruzstd.
        detail: String,
    },
}

/// The unit of the stream that comes next.
#[derive(Clone, Copy)]
enum Expect {
    /// A frame header or the header of a skippable frame.
    Header,
    /// What is `left` of a skippable frame of which `passed` bytes were seen.
    Skip { left: u64, passed: u64 },
    /// A block.
    Block,
    /// What follows a frame's last block: a check sum or nothing.
    Trailer,
}

/// What a frame header says, and how much its blocks held so far.
#[derive(Clone, Copy, Default)]
struct Frame {
    window: u64,
    stated: Option<u64>,
    has_check_sum: bool,
    found: u64,
}

impl Expander {
    /// An expander that refuses frames with a window of more than `window_max` bytes.
    pub fn new(window_max: u64) -> Self {
        Self {
            window_max,
            decoder: FrameDecoder::new(),
            frame: Frame::default(),
            expect: Expect::Header,
            partial: Vec::new(),
            held: 0,
            is_finished: false,
            failed: None,
        }
    }

    /// Takes the next stored bytes, as many as there is room for.
    ///
    /// Returns early when 128 KiB can be taken or when a further frame begins before everything of
    /// the last one was taken: four stored bytes may hold 128 KiB, so that the length of `stored`
    /// bounds nothing. Feed the rest after [`take`](Self::take). If nothing can be taken, all of
    /// `stored` goes in. After [`finish`](Self::finish) nothing goes in any more.
    /// So a caller loops:
    ///
    /// ```
    /// # use tracemend::kit::expand::zstd::{Expander, Fault};
    /// # fn all(expander: &mut Expander, stored: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    /// let mut rest = stored;
    /// while !rest.is_empty() {
    ///     let fed = expander.feed(rest)?;
    ///     rest = rest.get(fed.stored..).unwrap_or_default();
    ///     expander.take(out, usize::MAX);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The first fault; every later call returns the same with nothing good before it. The blocks
    /// that came before remain to be taken.
    pub fn feed(&mut self, stored: &[u8]) -> Result<Fed, Fault> {
        let mut good = Fed::default();
        if let Some(error) = self.failed.clone() {
            return Err(Fault { error, good });
        }
        let mut rest = stored;
        let mut begun_earlier = self.partial.len();
        while !self.is_finished && !self.is_full() {
            match self.unit(&mut rest) {
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

    /// Moves at most `max` bytes to the end of `out`, as far as no further block can refer to them.
    ///
    /// Returns how many.
    pub fn take(&mut self, out: &mut Vec<u8>, max: usize) -> usize {
        let wanted = self.takeable().min(to_u64(max));
        if wanted == 0 {
            return 0;
        }
        out.reserve(to_usize(wanted));
        // Reading from memory into memory does not fail; what was read is counted either way.
        let before = out.len();
        let _ = Read::by_ref(&mut self.decoder).take(wanted).read_to_end(out);
        let taken = out.len().saturating_sub(before);
        self.held = self.held.saturating_sub(to_u64(taken));
        taken
    }

    /// Declares that nothing follows, at the end of the input or after a fault.
    ///
    /// From now on [`take`](Self::take) hands out all that was counted in [`Fed::expanded`].
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Stored bytes at the end of what was fed that belong to a header, block, check sum or
    /// skippable frame of which a part is missing. After a fault: see [`Fault::good`].
    pub fn pending(&self) -> u64 {
        let passed = match self.expect {
            Expect::Skip { passed, .. } => passed,
            Expect::Header | Expect::Block | Expect::Trailer => 0,
        };
        passed.saturating_add(to_u64(self.partial.len()))
    }

    /// Whether a frame header was read and the frame's end was not.
    pub fn frame_open(&self) -> bool {
        matches!(self.expect, Expect::Block | Expect::Trailer)
    }

    /// Bytes that no further block can refer to.
    fn takeable(&self) -> u64 {
        match self.expect {
            Expect::Block if !self.is_finished => self.held.saturating_sub(self.frame.window),
            _ => self.held,
        }
    }

    /// Whether something has to be taken before the next unit.
    fn is_full(&self) -> bool {
        match self.expect {
            Expect::Block => self.takeable() >= ROOM,
            // A new frame clears the decoder.
            Expect::Header => self.held > 0,
            Expect::Skip { .. } | Expect::Trailer => false,
        }
    }

    /// Completes the next unit from `rest` and returns how many bytes it expands to; `None` if
    /// `rest` ends before, and then all of it was kept.
    fn unit(&mut self, rest: &mut &[u8]) -> Result<Option<u64>, ExpandError> {
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
            Expect::Header | Expect::Skip { .. } => self.open()?,
            Expect::Block => self.block()?,
            Expect::Trailer => self.close()?,
        };
        self.partial.clear();
        Ok(Some(expanded))
    }

    /// Length of the unit in `partial`, as far as its bytes tell: at least that many are needed.
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

    /// Passes over the content of a skippable frame.
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
    fn open(&mut self) -> Result<u64, ExpandError> {
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
        self.decoder.init(frame.header_for_ruzstd().as_slice()).map_err(corrupt)?;
        self.decode(&LAST_BLOCK)?;
        self.frame = frame;
        self.expect = Expect::Block;
        Ok(0)
    }

    /// Decodes the block in `partial`.
    fn block(&mut self) -> Result<u64, ExpandError> {
        let block = std::mem::take(&mut self.partial);
        let decoded = self.decode(&block);
        self.partial = block;
        decoded?;
        let expanded = to_u64(self.decoder.can_collect()).saturating_sub(self.held);
        // ruzstd measures sequences alone; the literals after them can be up to 1 MiB.
        let max = self.frame.block_max();
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

    /// Ends the frame.
    fn close(&mut self) -> Result<u64, ExpandError> {
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
            .map_err(corrupt)
    }
}

/// Length of the header of a frame or skippable frame, as far as its first bytes tell.
fn header_len(first: &[u8]) -> Result<usize, ExpandError> {
    let magic_len = size_of::<u32>();
    if first.len() < magic_len {
        return Ok(magic_len);
    }
    match magic(first) {
        magic if is_skippable(magic) => Ok(SKIPPABLE_HEADER_LEN),
        FRAME_MAGIC => {
            let descriptor = first.get(magic_len).map(|byte| Descriptor(*byte));
            Ok(descriptor.map_or(FRAME_START_LEN, Descriptor::header_len))
        }
        magic => Err(ExpandError::NotZstd { magic }),
    }
}

fn magic(header: &[u8]) -> u32 {
    header.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn is_skippable(magic: u32) -> bool {
    magic & !0xf == SKIPPABLE_MAGIC
}

/// An unsigned number of up to eight bytes, least significant first.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte))
}

/// Frame_Header_Descriptor, RFC 8878 section 3.1.1.1.1.
#[derive(Clone, Copy)]
struct Descriptor(u8);

impl Descriptor {
    fn is_single_segment(self) -> bool {
        self.0 & 0x20 != 0
    }

    fn is_reserved(self) -> bool {
        self.0 & 0x08 != 0
    }

    fn has_check_sum(self) -> bool {
        self.0 & 0x04 != 0
    }

    fn window_len(self) -> usize {
        usize::from(!self.is_single_segment())
    }

    fn dictionary_len(self) -> usize {
        match self.0 & 3 {
            0 => 0,
            1 => 1,
            2 => 2,
            _ => 4,
        }
    }

    fn content_len(self) -> usize {
        match self.0 >> 6 {
            0 => usize::from(self.is_single_segment()),
            1 => 2,
            2 => 4,
            _ => 8,
        }
    }

    fn header_len(self) -> usize {
        [FRAME_START_LEN, self.window_len(), self.dictionary_len(), self.content_len()].iter().sum()
    }
}

impl Frame {
    /// Reads a whole frame header, RFC 8878 section 3.1.1.1.
    fn parse(header: &[u8]) -> Result<Self, ExpandError> {
        let [_, _, _, _, descriptor, fields @ ..] = header else {
            return Err(ExpandError::NotZstd { magic: magic(header) });
        };
        let descriptor = Descriptor(*descriptor);
        if descriptor.is_reserved() {
            return Err(ExpandError::ReservedBit { descriptor: descriptor.0 });
        }
        let mut fields = fields;
        let mut field = |len: usize| fields.split_off(..len).map_or(0, number);
        let window = window(field(descriptor.window_len()));
        // The id 0 stands for none: RFC 8878 section 3.1.1.1.3.
        let dictionary = field(descriptor.dictionary_len());
        if dictionary != 0 {
            return Err(ExpandError::Dictionary { id: dictionary });
        }
        let content = field(descriptor.content_len());
        let stated = match descriptor.content_len() {
            0 => None,
            2 => Some(content.saturating_add(256)),
            _ => Some(content),
        };
        Ok(Self {
            window: stated.filter(|_| descriptor.is_single_segment()).unwrap_or(window),
            stated,
            has_check_sum: descriptor.has_check_sum(),
            found: 0,
        })
    }

    /// Block_Maximum_Size, RFC 8878 section 3.1.1.2.4.
    fn block_max(&self) -> u64 {
        self.window.min(BLOCK_MAX)
    }

    /// A header that makes ruzstd hold blocks to `block_max`: of a single segment, whose size is
    /// four bytes, without check sum. ruzstd does not hold the content to that size.
    fn header_for_ruzstd(&self) -> Vec<u8> {
        let window = u32::try_from(self.block_max()).unwrap_or(u32::MAX);
        let mut header = FRAME_MAGIC.to_le_bytes().to_vec();
        header.push(0xa0);
        header.extend(window.to_le_bytes());
        header
    }
}

/// Window_Size for a Window_Descriptor, RFC 8878 section 3.1.1.1.2: 1 KiB to 3.75 TiB.
fn window(descriptor: u64) -> u64 {
    let base = 1024_u64 << ((descriptor >> 3) & 0x1f);
    (base >> 3).saturating_mul(descriptor & 7).saturating_add(base)
}

/// Block_Header, RFC 8878 section 3.1.1.2.
struct BlockHeader {
    is_last: bool,
    kind: u64,
    size: u64,
}

impl BlockHeader {
    /// The header that `block` begins with, if it is whole.
    fn first(block: &[u8]) -> Option<Self> {
        let bits = block.get(..BLOCK_HEADER_LEN).map(number)?;
        Some(Self { is_last: bits & 1 != 0, kind: (bits >> 1) & 3, size: bits >> 3 })
    }

    /// Length of header and content.
    fn unit_len(&self, max: u64) -> Result<usize, ExpandError> {
        if self.kind == 3 {
            return Err(ExpandError::ReservedBlock);
        }
        if self.size > max {
            return Err(ExpandError::BlockTooLarge { size: self.size, max });
        }
        // The size of a run (type 1) is that of its one byte repeated.
        let content = if self.kind == 1 { 1 } else { self.size };
        Ok(to_usize(content.saturating_add(to_u64(BLOCK_HEADER_LEN))))
    }
}

/// ruzstd's error: the message of the innermost cause, the others being its path.
fn corrupt(error: FrameDecoderError) -> ExpandError {
    let mut cause: &dyn Error = &error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let message = cause.to_string();
    let line = message.lines().next().unwrap_or_default().trim_end_matches(['.', '!']);
    // Some messages hold a table of up to 256 numbers.
    let mut chars = line.chars().take(160);
    let first = chars.next().map(|first| first.to_ascii_lowercase());
    ExpandError::Corrupt { detail: first.into_iter().chain(chars).collect() }
}

impl fmt::Display for ExpandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotZstd { magic } => {
                write!(f, "magic number {magic:#010x} is neither that of a zstd frame, ")?;
                write!(f, "{FRAME_MAGIC:#010x}, nor that of a skippable one")
            }
            Self::ReservedBit { descriptor } => {
                write!(f, "zstd frame descriptor {descriptor:#04x} has the reserved bit 0x08 set")
            }
            Self::WindowTooLarge { window, max } => {
                write!(f, "zstd frame needs a window of {window} bytes, {max} are allowed")
            }
            Self::Dictionary { id } => write!(f, "zstd frame needs dictionary {id}"),
            Self::ReservedBlock => f.write_str("zstd block has the reserved type 3"),
            Self::BlockTooLarge { size, max } => {
                write!(f, "zstd block holds {size} bytes, its frame allows {max}")
            }
            Self::ContentSize { stated, found } => {
                write!(f, "zstd frame header states {stated} bytes, its blocks hold {found}")
            }
            Self::Corrupt { detail } => write!(f, "zstd block does not decode: {detail}"),
        }
    }
}

impl Error for ExpandError {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// What libzstd's level 3 asks for.
    const WINDOW_MAX: u64 = 2 * MIB;

    /// Made by libzstd 1.5.7, level 3: [`lines`] 0 to 11 and 12 to 19, flushed after each.
    const REAL: [&str; 3] = [
        "28b52ffd0058",
        "24030044037265636f72642030206f66207468652072696e672c2063707520303b2031313232333034313532\
         36303731383239303131323b201600272b016c67b2120385007fa060c00b280e78060a01fe40c18017501cf0\
         0c1402fc8182012fa038e059205379",
        "a401009872313031313132313031313132313031313b201040012f2b41e1b212142d2b41c1b212142b2b41a1\
         b21214292b4181b2d20002",
    ];

    fn lines(range: std::ops::Range<u32>) -> Vec<u8> {
        let line = |i| format!("record {i} of the ring, cpu {}; ", i % 3);
        range.map(line).collect::<String>().into_bytes()
    }

    fn real(parts: std::ops::Range<usize>) -> Vec<u8> {
        let hex = REAL[parts].concat();
        let byte = |digits: &[u8]| u8::from_str_radix(str::from_utf8(digits).unwrap(), 16).unwrap();
        hex.as_bytes().chunks(2).map(byte).collect()
    }

    /// The header of a frame without stated size, its window descriptor being `window`.
    fn frame(window: u8) -> Vec<u8> {
        [FRAME_MAGIC.to_le_bytes().as_slice(), &[0, window]].concat()
    }

    fn block(kind: u32, size: u32, last: bool, content: &[u8]) -> Vec<u8> {
        let header = (u32::from(last) | kind << 1 | size << 3).to_le_bytes();
        [&header[..3], content].concat()
    }

    fn raw(content: &[u8], last: bool) -> Vec<u8> {
        block(0, content.len().try_into().unwrap(), last, content)
    }

    fn run(byte: u8, len: u32, last: bool) -> Vec<u8> {
        block(1, len, last, &[byte])
    }

    /// Feeds and takes until `stored` is used up.
    fn feed_all(expander: &mut Expander, stored: &[u8], out: &mut Vec<u8>) -> Result<u64, Fault> {
        let (mut rest, mut expanded) = (stored, 0);
        while !rest.is_empty() {
            let fed = expander.feed(rest)?;
            let taken = expander.take(out, 1000);
            assert!(fed.stored > 0 || taken > 0, "no progress");
            rest = &rest[fed.stored..];
            expanded += fed.expanded;
        }
        Ok(expanded)
    }

    /// Everything that `stored` expands to, and the expander after that.
    fn expand(pieces: &[&[u8]]) -> (Vec<u8>, Expander) {
        let (mut expander, mut out, mut expanded) = (Expander::new(WINDOW_MAX), Vec::new(), 0);
        for piece in pieces {
            expanded += feed_all(&mut expander, piece, &mut out).unwrap();
        }
        expander.finish();
        while expander.take(&mut out, 1000) > 0 {}
        assert_eq!(to_u64(out.len()), expanded);
        (out, expander)
    }

    fn error(stored: &[u8]) -> String {
        feed_all(&mut Expander::new(WINDOW_MAX), stored, &mut Vec::new()).unwrap_err().to_string()
    }

    #[test]
    fn raw_blocks_and_runs_expand() {
        let stored = [frame(0), raw(b"abc", false), run(b'x', 5, false), raw(b"", true)].concat();
        let (out, expander) = expand(&[&stored]);
        assert_eq!(out, b"abcxxxxx");
        assert_eq!((expander.frame_open(), expander.pending()), (false, 0));
    }

    #[test]
    fn what_libzstd_compressed_expands_to_what_it_was() {
        let (out, expander) = expand(&[&real(0..3)]);
        assert_eq!(out, lines(0..20));
        assert!(expander.frame_open());
    }

    #[test]
    fn a_stream_may_be_cut_at_every_byte() {
        let skippable = [0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        let checked = [0x28, 0xb5, 0x2f, 0xfd, 0x24, 2, 0x11, 0, 0, b'h', b'i', 9, 9, 9, 9];
        let stored = [&checked, skippable.as_slice(), &real(0..3), &raw(b"", true)].concat();
        let whole = expand(&[&stored]).0;
        assert_eq!(whole, [b"hi".as_slice(), &lines(0..20)].concat());
        for cut in 0..=stored.len() {
            let (first, second) = stored.split_at(cut);
            let (out, expander) = expand(&[first, second]);
            assert_eq!(out, whole, "cut at {cut}");
            assert_eq!((expander.frame_open(), expander.pending()), (false, 0));
        }
        let bytes: Vec<_> = stored.chunks(1).collect();
        assert_eq!(expand(&bytes).0, whole);
    }

    #[test]
    fn an_unfinished_stream_gives_its_whole_blocks_and_counts_the_rest() {
        let header = real(0..1).len();
        let second = real(0..2).len();
        let stored = real(0..3);
        for end in 0..stored.len() {
            let (out, expander) = expand(&[&stored[..end]]);
            let begin = [second, header, 0].into_iter().find(|begin| *begin <= end).unwrap();
            assert_eq!(expander.pending(), to_u64(end - begin), "cut at {end}");
            assert_eq!(expander.frame_open(), end >= header);
            assert_eq!(out, if end < second { Vec::new() } else { lines(0..12) });
        }
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2];
        assert_eq!(expand(&[&skippable]).1.pending(), 10);
    }

    #[test]
    fn what_the_window_needs_stays_until_the_end() {
        let mut expander = Expander::new(WINDOW_MAX);
        let stored = [frame(0), run(b'a', 1000, false), run(b'b', 1000, false)].concat();
        assert_eq!(expander.feed(&stored), Ok(Fed { stored: 14, expanded: 2000 }));
        let mut out = Vec::new();
        assert_eq!((expander.take(&mut out, 900), expander.take(&mut out, 900)), (900, 76));
        expander.finish();
        assert_eq!((expander.take(&mut out, 900), expander.take(&mut out, 900)), (900, 124));
        assert_eq!(out, [[b'a'; 1000], [b'b'; 1000]].concat());
    }

    #[test]
    fn runs_wait_until_there_is_room() {
        let runs = run(b'z', 128 << 10, false).repeat(1000);
        let stored = [frame(10 << 3), runs].concat();
        let mut expander = Expander::new(WINDOW_MAX);
        let fed = expander.feed(&stored).unwrap();
        assert_eq!(fed, Fed { stored: 6 + 4 * 9, expanded: 9 * (128 << 10) });
        assert_eq!(expander.feed(&stored[fed.stored..]), Ok(Fed::default()));
        let (mut expander, mut out, mut rest) =
            (Expander::new(WINDOW_MAX), Vec::new(), &stored[..]);
        let mut taken = 0;
        while !rest.is_empty() {
            rest = &rest[expander.feed(rest).unwrap().stored..];
            assert!(expander.held <= MIB + 2 * ROOM);
            taken += expander.take(&mut out, usize::MAX);
            out.clear();
        }
        expander.finish();
        assert_eq!(taken + expander.take(&mut out, usize::MAX), 1000 * (128 << 10));
    }

    #[test]
    fn a_new_frame_waits_for_the_last_one_to_be_taken() {
        let one = [frame(0), run(b'1', 10, true)].concat();
        let two = [frame(8), run(b'2', 10, true)].concat();
        let mut expander = Expander::new(WINDOW_MAX);
        let stored = [one.clone(), two].concat();
        let fed = expander.feed(&stored).unwrap();
        assert_eq!(fed, Fed { stored: one.len(), expanded: 10 });
        assert!(!expander.frame_open());
        assert_eq!(expand(&[&stored]).0, b"11111111112222222222");
    }

    #[test]
    fn what_came_before_a_corrupt_block_survives() {
        let good = [real(0..2), raw(b"last words", false)].concat();
        let bad = block(2, 4, false, &[0xff; 4]);
        let stored = [good.clone(), bad].concat();
        let expanded = to_u64(lines(0..12).len() + 10);
        for cut in 0..stored.len() {
            let (mut expander, mut out) = (Expander::new(WINDOW_MAX), Vec::new());
            let before = expander.feed(&stored[..cut]).unwrap();
            let fault = expander.feed(&stored[cut..]).unwrap_err();
            assert!(matches!(fault.error, ExpandError::Corrupt { .. }));
            // Where the faulty block begins, from either side of the cut.
            let place = to_u64(cut + fault.good.stored) - expander.pending();
            assert_eq!(place, to_u64(good.len()), "cut at {cut}");
            assert_eq!(before.expanded + fault.good.expanded, expanded);
            let again = expander.feed(&stored[cut..]).unwrap_err();
            assert_eq!(again, Fault { error: fault.error, good: Fed::default() });
            expander.finish();
            assert_eq!(to_u64(expander.take(&mut out, usize::MAX)), expanded);
            assert_eq!(out, [lines(0..12), b"last words".to_vec()].concat());
        }
    }

    #[test]
    fn an_offset_before_the_first_byte_is_corrupt() {
        let message = error(&[real(0..1), real(2..3)].concat());
        assert!(message.starts_with("zstd block does not decode: "), "{message}");
        assert!(message.contains("dictionary"), "{message}");
    }

    #[test]
    fn a_window_above_the_limit_is_refused_with_the_frame_header() {
        let at_limit = [frame(11 << 3), raw(b"", true)].concat();
        assert_eq!(expand(&[&at_limit]).0, b"");
        let above = "zstd frame needs a window of 2359296 bytes, 2097152 are allowed";
        assert_eq!(error(&frame(11 << 3 | 1)), above);
        let widest = "zstd frame needs a window of 4123168604160 bytes, 2097152 are allowed";
        assert_eq!(error(&frame(0xff)), widest);
        let single = [&FRAME_MAGIC.to_le_bytes()[..], &[0xe0], &[0xff; 8]].concat();
        assert!(error(&single).contains("18446744073709551615 bytes"));
    }

    #[test]
    fn what_a_frame_may_not_say_is_refused() {
        let magic = FRAME_MAGIC.to_le_bytes();
        let header = |fields: &[u8]| [magic.as_slice(), fields].concat();
        assert_eq!(error(&header(&[3, 0, 1, 2, 0, 0])), "zstd frame needs dictionary 513");
        assert_eq!(expand(&[&header(&[1, 0, 0, 1, 0, 0])]).0, b"");
        let reserved = "zstd frame descriptor 0x08 has the reserved bit 0x08 set";
        assert_eq!(error(&header(&[8, 0])), reserved);
        assert!(error(b"PERF").starts_with("magic number 0x46524550 is neither"));
        let stated = [header(&[0x20, 3]), raw(b"ab", true)].concat();
        assert_eq!(error(&stated), "zstd frame header states 3 bytes, its blocks hold 2");
    }

    #[test]
    fn what_a_block_may_not_be_is_refused() {
        let after_header = |block: Vec<u8>| error(&[frame(0), block].concat());
        assert_eq!(after_header(vec![6, 0, 0]), "zstd block has the reserved type 3");
        let too_large = "zstd block holds 1025 bytes, its frame allows 1024";
        for kind in 0..3 {
            assert_eq!(after_header(block(kind, 1025, false, &[])), too_large);
        }
        // Literals_Section_Header of a run (1) whose size has 20 bits (3 << 2), no sequences.
        let [a, b, c, _] = (1025_u32 << 4 | 3 << 2 | 1).to_le_bytes();
        assert_eq!(after_header(block(2, 5, false, &[a, b, c, b'x', 0])), too_large);
        let empty = after_header(block(2, 0, false, &[]));
        assert!(empty.starts_with("zstd block does not decode: "), "{empty}");
    }
}
