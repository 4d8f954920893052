//! Writes chunks.

use crate::formats::apitrace::layout::CHUNK_EXPANDED;
use crate::kit::num::{leb128, to_u64, to_usize};

/// The tag of a literal whose length less one is in the three bytes after it: a full chunk has
/// 1 MiB.
const LITERAL_OF_3: u8 = 62 << 2;

/// Writes chunks of at most 1 MiB of the stream.
#[derive(Default)]
pub(in crate::formats::apitrace::expand) struct Writer {
    pending: Vec<u8>,
    out: Vec<u8>,
}

impl Writer {
    /// Adds bytes of the stream; returns how many bytes are stored so far.
    pub(in crate::formats::apitrace::expand) fn push(&mut self, mut bytes: &[u8]) -> usize {
        let full = to_usize(CHUNK_EXPANDED);
        while !bytes.is_empty() {
            let room = full.saturating_sub(self.pending.len());
            let (now, later) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
            self.pending.extend_from_slice(now);
            bytes = later;
            if self.pending.len() == full {
                self.flush();
            }
        }
        self.out.len()
    }

    fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        // Compression fails only on inputs of 4 GiB.
        let block = snap::raw::Encoder::new().compress_vec(&self.pending).unwrap_or_default();
        self.pending.clear();
        let len = u32::try_from(block.len()).unwrap_or(u32::MAX);
        self.out.extend(len.to_le_bytes());
        self.out.extend(block);
    }

    /// Returns all chunks.
    pub(in crate::formats::apitrace::expand) fn finish(mut self) -> Vec<u8> {
        self.flush();
        self.out
    }
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
