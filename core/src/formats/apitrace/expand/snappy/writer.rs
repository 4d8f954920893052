//! Writes chunks.

use crate::formats::apitrace::layout::CHUNK_EXPANDED;
use crate::kit::num::to_usize;

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
