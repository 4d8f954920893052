//! A brotli stream (RFC 7932).
//!
//! It has no magic: a file is taken for one if it decodes to the beginning of a trace. The decoder
//! accepts windows of at most 16 MiB, the most in the RFC. The writer uses meta-blocks without
//! compression: `apitrace repack`, which made the trace, can compress the repaired one again.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use super::{Block, Fault, STEP, stored};
use crate::kit::num::to_u64;
use crate::kit::source::Source;

/// Stored bytes that the decoder is fed at a time.
const INPUT: u64 = 64 << 10;

type State = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

/// The stream of a file.
pub(super) struct Stream<'a> {
    source: Source<'a>,
    at: u64,
    expanded: u64,
    state: State,
    ended: bool,
}

impl<'a> Stream<'a> {
    /// From the first byte on.
    pub(super) fn new(source: &Source<'a>) -> Self {
        let alloc = StandardAlloc::default;
        Self {
            source: source.clone(),
            at: 0,
            expanded: 0,
            state: State::new_strict(alloc(), alloc(), alloc()),
            ended: false,
        }
    }

    /// The next block.
    pub(super) fn next(&mut self, reuse: Vec<u8>) -> Option<Block> {
        let len = self.source.len();
        if self.ended {
            let (from, left) = (self.at, self.at < len);
            self.at = len;
            let fault = Some(Fault::Trailing);
            let stored = Some(stored(from, len));
            let (start, bytes, unit) = (self.expanded, Vec::new(), (from, self.expanded));
            return left.then_some(Block { start, bytes, stored, unit, fault });
        }
        let mut bytes = reuse;
        bytes.clear();
        bytes.resize(STEP, 0);
        let (mut made, mut room, mut total) = (0, bytes.len(), 0);
        let mut fault = None;
        while room > 0 {
            // The output of a damaged stream depends on the pieces it is fed in, so these do not
            // depend on how the file lies in memory.
            let run = self.source.read(self.at, self.at.saturating_add(INPUT));
            let (mut available, mut used) = (run.len(), 0);
            let result = BrotliDecompressStream(
                &mut available,
                &mut used,
                &run,
                &mut room,
                &mut made,
                &mut bytes,
                &mut total,
                &mut self.state,
            );
            self.at = self.at.saturating_add(to_u64(used));
            match result {
                BrotliResult::ResultSuccess => self.ended = true,
                BrotliResult::NeedsMoreOutput => {}
                BrotliResult::NeedsMoreInput if self.at < len => continue,
                BrotliResult::NeedsMoreInput => fault = Some(Fault::Truncated { stated: None }),
                BrotliResult::ResultFailure => {
                    let detail = "invalid brotli data".to_string();
                    fault = Some(Fault::Corrupt { detail });
                }
            }
            break;
        }
        bytes.truncate(made);
        if fault.is_some() {
            self.ended = true;
            self.at = len;
        }
        let start = self.expanded;
        // How far the decoder reads ahead depends on how the file lies in memory.
        let stored = Some(stored(0, len));
        let block = Block { start, bytes, stored, unit: (0, 0), fault };
        self.expanded = block.end();
        Some(block)
    }
}

/// Writes a stream of meta-blocks without compression.
#[derive(Default)]
pub(super) struct Writer {
    out: Vec<u8>,
    pending: Vec<u8>,
}

/// Bytes of a meta-block: its length takes 16 bits.
const META_BLOCK: usize = 1 << 16;

impl Writer {
    /// Adds bytes; returns how many are stored so far.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> usize {
        while !bytes.is_empty() {
            let room = META_BLOCK.saturating_sub(self.pending.len());
            let (now, later) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
            self.pending.extend_from_slice(now);
            bytes = later;
            if self.pending.len() == META_BLOCK {
                self.flush();
            }
        }
        self.out.len()
    }

    // Section 9.2. ISLAST 0, MNIBBLES 0 (four), MLEN - 1, ISUNCOMPRESSED 1, zeros to the next byte.
    // The stream begins with WBITS: the bit 0, a window of 16 bits.
    fn flush(&mut self) {
        let Some(length) = self.pending.len().checked_sub(1) else { return };
        let length = u32::try_from(length).unwrap_or_default();
        let header = length << 3 | 1 << 19;
        let bits = if self.out.is_empty() { header << 1 } else { header };
        self.out.extend(bits.to_le_bytes().iter().take(3));
        self.out.append(&mut self.pending);
    }

    /// The stream.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.flush();
        // ISLAST 1, ISLASTEMPTY 1; after WBITS if nothing was written.
        let last = if self.out.is_empty() { 6 } else { 3 };
        self.out.push(last);
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that compress a little.
    fn noise(len: u32) -> Vec<u8> {
        (0..len).map(|i| i.wrapping_mul(i).to_le_bytes()[1] & 0x3f).collect()
    }

    fn read(file: &[u8]) -> (Vec<u8>, Vec<Fault>) {
        let source = Source::new(file);
        let mut stream = Stream::new(&source);
        let (mut bytes, mut faults) = (Vec::new(), Vec::new());
        while let Some(block) = stream.next(Vec::new()) {
            bytes.extend(block.bytes);
            faults.extend(block.fault);
        }
        (bytes, faults)
    }

    #[test]
    fn what_is_written_is_read_again_and_a_cut_keeps_the_beginning() {
        for len in [0, 1, 65_535, 65_536, 65_537, 700_000_u32] {
            let bytes = noise(len);
            let mut writer = Writer::default();
            bytes.chunks(1000).for_each(|piece| _ = writer.push(piece));
            let file = writer.finish();
            assert_eq!(read(&file), (bytes.clone(), vec![]), "{len} bytes");
            let (prefix, faults) = read(&file[..file.len() / 2]);
            assert!(bytes.starts_with(&prefix));
            assert_eq!(faults.len(), 1);
        }
    }
}
