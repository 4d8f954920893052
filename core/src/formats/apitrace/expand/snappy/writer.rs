//! Writes chunks.

use crate::formats::apitrace::expand::units::Units;
use crate::formats::apitrace::layout::CHUNK_EXPANDED;
use crate::kit::num::{leb128, to_u64, to_usize};

/// The tag of a literal whose length less one is in the three bytes after it: a full chunk has
/// 1 MiB.
const LITERAL_OF_3: u8 = 62 << 2;

/// Writes chunks of at most 1 MiB of the stream.
pub(in crate::formats::apitrace::expand) fn writer() -> Units {
    Units::new(to_usize(CHUNK_EXPANDED), |bytes, out| {
        // Compression fails only on inputs of 4 GiB.
        let block = snap::raw::Encoder::new().compress_vec(bytes).unwrap_or_default();
        let len = u32::try_from(block.len()).unwrap_or(u32::MAX);
        out.extend(len.to_le_bytes());
        out.extend(block);
    })
}

/// Returns what comes before the bytes of a chunk that holds `len` of them, 1 MiB at most, as they
/// are: its length, and a block of one literal.
pub(in crate::formats::apitrace::expand) fn plain_header(len: u64) -> Vec<u8> {
    let mut block = leb128(len);
    block.push(LITERAL_OF_3);
    block.extend(len.saturating_sub(1).to_le_bytes().iter().take(3));
    let stored = to_u64(block.len()).saturating_add(len);
    let stored = u32::try_from(stored).unwrap_or(u32::MAX);
    [stored.to_le_bytes().as_slice(), &block].concat()
}
