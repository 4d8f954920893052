//! Headers of frames and blocks.

use super::ExpandError;
use crate::kit::num::{to_u64, to_usize};

/// Magic_Number, RFC 8878 section 3.1.1.
pub(super) const FRAME_MAGIC: u32 = 0xfd2f_b528;

/// Magic_Number of a skippable frame without its low four bits, RFC 8878 section 3.1.2.
const SKIPPABLE_MAGIC: u32 = 0x184d_2a50;

/// Length of magic number and size of a skippable frame.
pub(super) const SKIPPABLE_HEADER_LEN: usize = 8;

/// Length of magic number and descriptor, which every frame header has.
const FRAME_START_LEN: usize = 5;

/// Block_Header, RFC 8878 section 3.1.1.2.
pub(super) const BLOCK_HEADER_LEN: usize = 3;

/// Content_Checksum, RFC 8878 section 3.1.1.
pub(super) const CHECK_SUM_LEN: usize = 4;

/// Upper bound of Block_Maximum_Size, RFC 8878 section 3.1.1.2.4.
const BLOCK_MAX: u64 = 128 << 10;

/// The fields of a frame header, and the number of bytes in the blocks so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Frame {
    pub(super) window: u64,
    pub(super) stated: Option<u64>,
    pub(super) has_check_sum: bool,
    pub(super) found: u64,
}

/// Returns the length of the header of a frame or skippable frame: the least that its first bytes
/// allow, until all of them are known.
pub(super) fn header_len(first: &[u8]) -> Result<usize, ExpandError> {
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

pub(super) fn magic(header: &[u8]) -> u32 {
    header.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

pub(super) fn is_skippable(magic: u32) -> bool {
    magic & !0xf == SKIPPABLE_MAGIC
}

/// Reads an unsigned number of up to eight bytes, least significant first.
pub(super) fn number(bytes: &[u8]) -> u64 {
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
    /// Reads a complete frame header, RFC 8878 section 3.1.1.1.
    pub(super) fn parse(header: &[u8]) -> Result<Self, ExpandError> {
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
        // The id 0 means no dictionary: RFC 8878 section 3.1.1.1.3.
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

    /// Returns Block_Maximum_Size, RFC 8878 section 3.1.1.2.4.
    pub(super) fn block_max(&self) -> u64 {
        self.window.min(BLOCK_MAX)
    }

    /// Returns a header for libzstd: the smallest window descriptor that covers the window, no
    /// content size and no checksum.
    pub(super) fn header_for_libzstd(&self) -> Vec<u8> {
        let descriptor = (0..=u8::MAX).find(|byte| window((*byte).into()) >= self.window);
        let mut header = FRAME_MAGIC.to_le_bytes().to_vec();
        header.extend([0, descriptor.unwrap_or(u8::MAX)]);
        header
    }
}

/// Returns Window_Size for a Window_Descriptor, RFC 8878 section 3.1.1.1.2: 1 KiB to 3.75 TiB.
fn window(descriptor: u64) -> u64 {
    let base = 1024_u64 << ((descriptor >> 3) & 0x1f);
    (base >> 3).saturating_mul(descriptor & 7).saturating_add(base)
}

/// Block_Header, RFC 8878 section 3.1.1.2.
pub(super) struct BlockHeader {
    pub(super) is_last: bool,
    kind: u64,
    size: u64,
}

impl BlockHeader {
    /// Returns the header that `block` begins with, if it is complete.
    pub(super) fn first(block: &[u8]) -> Option<Self> {
        let bits = block.get(..BLOCK_HEADER_LEN).map(number)?;
        Some(Self { is_last: bits & 1 != 0, kind: (bits >> 1) & 3, size: bits >> 3 })
    }

    /// Whether the content is stored as it is.
    pub(super) const fn is_raw(&self) -> bool {
        self.kind == 0
    }

    /// Whether the content is a repeated byte.
    pub(super) const fn is_run(&self) -> bool {
        self.kind == 1
    }

    /// Returns Block_Size.
    pub(super) const fn size(&self) -> u64 {
        self.size
    }

    /// Returns the length of header and content.
    pub(super) fn unit_len(&self, max: u64) -> Result<usize, ExpandError> {
        if self.kind == 3 {
            return Err(ExpandError::ReservedBlock);
        }
        if self.size > max {
            return Err(ExpandError::BlockTooLarge { size: self.size, max });
        }
        // A run (type 1) stores one byte, and its size counts the repetitions.
        let content = if self.kind == 1 { 1 } else { self.size };
        Ok(to_usize(content.saturating_add(to_u64(BLOCK_HEADER_LEN))))
    }
}

/// Returns the number of literals that a compressed block states, RFC 8878 section 3.1.1.3.1.1.
pub(super) fn literals_len(block: &[u8]) -> Option<u64> {
    let is_compressed = BlockHeader::first(block).is_some_and(|header| header.kind == 2);
    let content = block.get(BLOCK_HEADER_LEN..).filter(|_| is_compressed)?;
    let first = content.first()?;
    let field = |len: usize| content.get(..len).map(number);
    match (first & 3, first >> 2 & 3) {
        (0 | 1, 0 | 2) => Some(u64::from(first >> 3)),
        (0 | 1, 1) => field(2).map(|bits| bits >> 4),
        (0 | 1, _) => field(3).map(|bits| bits >> 4),
        (_, 0 | 1) => field(3).map(|bits| bits >> 4 & 0x3ff),
        (_, 2) => field(4).map(|bits| bits >> 4 & 0x3fff),
        (_, _) => field(5).map(|bits| bits >> 4 & 0x3_ffff),
    }
}
