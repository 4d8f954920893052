//! Reasons why a zstd stream cannot be expanded further.

use std::error::Error;
use std::fmt;

use super::Fed;
use super::frame::FRAME_MAGIC;
use crate::kit::words::byte_count;

/// The name that libzstd gives a lack of memory (lib/common/error_private.c).
const NO_MEMORY: &str = "Allocation error : not enough memory";

/// A stream that cannot be expanded further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The reason.
    pub error: ExpandError,
    /// The work of the same call before the fault. `stored` ends after the last good header or
    /// block, where the faulty one begins; if it is 0, the faulty one may have begun
    /// [`pending`](super::Expander::pending) bytes before the input of this call.
    pub good: Fed,
}

/// The reason why a stream cannot be expanded further.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpandError {
    /// Neither a zstd frame nor a skippable one begins here.
    NotZstd {
        /// The four bytes where the magic number should be, least significant first.
        magic: u32,
    },
    /// The frame header has a bit set that RFC 8878 reserves for a later format.
    ReservedBit {
        /// Frame_Header_Descriptor.
        descriptor: u8,
    },
    /// The frame needs a larger window than is allowed.
    WindowTooLarge {
        /// Bytes that the frame header requests.
        window: u64,
        /// Bytes that are allowed.
        max: u64,
    },
    /// The window needs more memory than the machine gives.
    NoMemory {
        /// Bytes that were requested.
        needed: u64,
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
        /// Length of the block in bytes: stored, or expanded if that is too long.
        size: u64,
        /// The lower of window and 128 KiB.
        max: u64,
    },
    /// The number of bytes in the blocks differs from the frame header.
    ContentSize {
        /// Number of bytes in the header.
        stated: u64,
        /// Number of bytes in the blocks.
        found: u64,
    },
    /// The block cannot be decoded.
    Corrupt {
        /// The message of libzstd.
        detail: String,
    },
}

/// Converts an error of libzstd, which had to allocate `needed` bytes.
pub(super) fn to_error(code: usize, needed: u64) -> ExpandError {
    let name = zstd_safe::get_error_name(code);
    if name == NO_MEMORY {
        return ExpandError::NoMemory { needed };
    }
    let mut chars = name.chars();
    let first = chars.next().map(|first| first.to_ascii_lowercase());
    ExpandError::Corrupt { detail: first.into_iter().chain(chars).collect() }
}

impl ExpandError {
    /// Whether the stream may be sound, and a limit or the memory of the machine is too small.
    pub const fn is_limit(&self) -> bool {
        matches!(self, Self::WindowTooLarge { .. } | Self::NoMemory { .. })
    }
}

impl fmt::Display for ExpandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotZstd { magic } => {
                write!(f, "zstd magic number is {magic:#010x}, expected {FRAME_MAGIC:#010x} ")?;
                f.write_str("or that of a skippable frame")
            }
            Self::ReservedBit { descriptor } => {
                write!(f, "zstd frame descriptor {descriptor:#04x} has the reserved bit 0x08 set")
            }
            Self::WindowTooLarge { window, max } => {
                write!(f, "zstd window is {}, more than the limit of {max}", byte_count(*window))
            }
            Self::NoMemory { needed } => {
                write!(f, "zstd window needs {} of memory: out of memory", byte_count(*needed))
            }
            Self::Dictionary { id } => {
                write!(f, "zstd frame requires dictionary {id}, which is not supported")
            }
            Self::ReservedBlock => f.write_str("zstd block has the reserved type 3"),
            Self::BlockTooLarge { size, max } => {
                write!(f, "zstd block has {}, more than the {max} of its frame", byte_count(*size))
            }
            Self::ContentSize { stated, found } => {
                write!(
                    f,
                    "zstd content size is {stated}, but the blocks have {}",
                    byte_count(*found)
                )
            }
            Self::Corrupt { detail } => write!(f, "invalid zstd block: {detail}"),
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
