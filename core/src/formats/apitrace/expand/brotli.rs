//! A brotli stream (RFC 7932).
//!
//! It has no magic: a file is taken for one if it decodes to the beginning of a trace. The decoder
//! accepts windows of at most 16 MiB, the most in the RFC. The writer uses meta-blocks without
//! compression: `apitrace repack`, which made the trace, can compress the repaired one again.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use super::blank::Blank;
use super::units::Units;
use super::{Block, Fault, STEP, stored};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;

/// Zeros that a stream may end in: the rest of its last code.
const LAST_ZEROS: u64 = 4;
/// Room for the bytes that these give.
const LAST_ROOM: usize = 16 << 10;
/// Stored bytes that the decoder is fed at a time.
const INPUT: u64 = 64 << 10;

type State = BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>;

/// The stream of a file.
pub(super) struct Stream<'a> {
    source: Source<'a>,
    blank: Blank,
    decoder: Decoder,
    expanded: u64,
    /// The stream is decoded again up to its fault.
    again: Option<Again>,
    /// Where the next bytes lie that are read as they are stored: nothing can be decoded.
    plain: Option<u64>,
    has_ended: bool,
}

/// The second way through a stream with a fault.
///
/// The decoder drops its buffer, up to the window, with the error. It gives all bytes that it has
/// when it is out of input, so the last pieces are fed byte by byte.
struct Again {
    /// Pieces that end before this place had no fault.
    sound: u64,
    /// Bytes of the stream that were decoded again.
    given: u64,
}

impl Again {
    /// Returns how many of `made` further bytes are among the first `expanded` of the stream.
    fn skip(&mut self, expanded: u64, made: usize) -> usize {
        let skipped = to_usize(expanded.saturating_sub(self.given)).min(made);
        self.given = self.given.saturating_add(to_u64(made));
        skipped
    }
}

/// The decoder and its place in the file.
struct Decoder {
    state: Box<State>,
    at: u64,
    /// Stored bytes that it is fed at a time.
    input: u64,
}

/// Why the decoder returned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pause {
    /// The room is full.
    Full,
    /// The piece was read.
    Hungry,
    /// The stream is complete.
    End,
    /// The file ends inside the stream.
    Truncated,
    /// The data is invalid.
    Invalid,
}

impl Decoder {
    fn new(input: u64) -> Self {
        let alloc = StandardAlloc::default;
        let state = Box::new(State::new_strict(alloc(), alloc(), alloc()));
        Self { state, at: 0, input }
    }

    /// Fills `bytes` from `*made` on by at most one piece of the file, which is written up to
    /// `end`.
    fn run(&mut self, source: &Source<'_>, end: u64, bytes: &mut [u8], made: &mut usize) -> Pause {
        let (mut room, mut total) = (bytes.len().saturating_sub(*made), 0);
        // The output of a damaged stream depends on the pieces it is fed in, so these do not depend
        // on how the file lies in memory.
        let run = source.read(self.at, self.at.saturating_add(self.input).min(end));
        let (mut available, mut used) = (run.len(), 0);
        let result = BrotliDecompressStream(
            &mut available,
            &mut used,
            &run,
            &mut room,
            made,
            bytes,
            &mut total,
            &mut self.state,
        );
        self.at = self.at.saturating_add(to_u64(used));
        match result {
            BrotliResult::ResultSuccess => Pause::End,
            BrotliResult::NeedsMoreOutput => Pause::Full,
            BrotliResult::NeedsMoreInput if room == 0 => Pause::Full,
            BrotliResult::NeedsMoreInput if self.at >= end => Pause::Truncated,
            BrotliResult::NeedsMoreInput => Pause::Hungry,
            BrotliResult::ResultFailure => Pause::Invalid,
        }
    }
}

impl<'a> Stream<'a> {
    /// From the first byte on.
    pub(super) fn new(source: &Source<'a>) -> Self {
        Self {
            source: source.clone(),
            blank: Blank::of(source),
            decoder: Decoder::new(INPUT),
            expanded: 0,
            again: None,
            plain: None,
            has_ended: false,
        }
    }

    /// The next block.
    pub(super) fn next(&mut self, reuse: Vec<u8>) -> Option<Block> {
        if let Some(at) = self.plain {
            return self.next_plain(at, reuse);
        }
        if self.has_ended {
            return self.trailing();
        }
        let mut bytes = reuse;
        bytes.clear();
        bytes.resize(STEP, 0);
        let pause = loop {
            let (pause, made) = self.run(&mut bytes);
            if pause == Pause::Invalid && self.again.is_none() {
                let sound = self.decoder.at.saturating_sub(INPUT);
                self.again = Some(Again { sound, given: 0 });
                self.decoder = Decoder::new(INPUT);
                continue;
            }
            let given = self.again.as_mut().map_or(0, |again| again.skip(self.expanded, made));
            if given < made || pause != Pause::Full {
                bytes.truncate(made);
                drop(bytes.drain(..given));
                break pause;
            }
        };
        if pause == Pause::Invalid && self.expanded == 0 && bytes.is_empty() {
            return Some(self.begin_plain(bytes));
        }
        self.has_ended = pause != Pause::Full;
        let fault = match pause {
            Pause::Full | Pause::Hungry | Pause::End => None,
            Pause::Truncated => Some(Fault::Truncated { stated: None }),
            Pause::Invalid => Some(Fault::Corrupt { detail: "invalid brotli data".to_string() }),
        };
        if fault.is_some() {
            self.decoder.at = self.source.len();
        }
        // How far the decoder reads ahead depends on how the file lies in memory.
        let stored = Some(stored(0, self.source.len()));
        let block =
            Block { start: self.expanded, bytes, stored, unit: (0, 0), fault, ..Block::default() };
        self.expanded = block.end();
        Some(block)
    }

    /// Fills `bytes`; returns how many were made.
    fn run(&mut self, bytes: &mut [u8]) -> (Pause, usize) {
        let mut made = 0;
        loop {
            let at = self.decoder.at;
            if let Some(again) = &self.again {
                let is_close = at.saturating_add(INPUT) > again.sound;
                self.decoder.input = if is_close { 1 } else { INPUT };
            }
            let pause = self.decoder.run(&self.source, self.blank.start, bytes, &mut made);
            if pause == Pause::Truncated {
                return self.end_in_zeros(bytes, made);
            }
            if pause != Pause::Hungry {
                return (pause, made);
            }
        }
    }

    /// Ends the stream where nothing but zeros follows: it is truncated unless the first of them
    /// end it.
    fn end_in_zeros(&mut self, bytes: &mut [u8], made: usize) -> (Pause, usize) {
        let (mut more, end) = (made, self.blank.start.saturating_add(LAST_ZEROS));
        let end = end.min(self.source.len());
        if end == self.blank.start {
            return (Pause::Truncated, made);
        }
        if bytes.len().saturating_sub(made) < LAST_ROOM {
            return (Pause::Full, made);
        }
        match self.decoder.run(&self.source, end, bytes, &mut more) {
            Pause::End => (Pause::End, more),
            _ => (Pause::Truncated, made),
        }
    }

    /// Nothing can be decoded: the header of the first meta-block may be damaged, and its bytes be
    /// stored without compression, as a repair writes them.
    fn begin_plain(&mut self, bytes: Vec<u8>) -> Block {
        let data = META_HEADER_LEN.min(self.source.len());
        self.plain = Some(data);
        let (stored, fault) = (Some(stored(0, data)), Some(Fault::Header { data }));
        Block { start: 0, bytes, stored, unit: (0, 0), fault, ..Block::default() }
    }

    /// Returns the meta-block whose bytes begin at `at`.
    fn next_plain(&mut self, at: u64, mut bytes: Vec<u8>) -> Option<Block> {
        // The last byte ends the stream.
        let len = self.source.len().saturating_sub(1);
        if at >= len {
            return None;
        }
        let end = at.saturating_add(to_u64(META_BLOCK)).min(len);
        bytes.clear();
        bytes.extend_from_slice(&self.source.read(at, end));
        self.plain = Some(end.saturating_add(META_HEADER_LEN));
        let stored = Some(stored(0, self.source.len()));
        let block = Block {
            start: self.expanded,
            bytes,
            stored,
            unit: (0, 0),
            fault: None,
            ..Block::default()
        };
        self.expanded = block.end();
        Some(block)
    }

    /// The bytes after the end of the stream.
    fn trailing(&mut self) -> Option<Block> {
        let (from, len) = (self.decoder.at, self.source.len());
        self.decoder.at = len;
        let (start, unit) = (self.expanded, (from, self.expanded));
        let (stored, fault) = (Some(stored(from, len)), Some(self.blank.fault_after_end(from)));
        (from < len).then_some(Block {
            start,
            bytes: Vec::new(),
            stored,
            unit,
            fault,
            ..Block::default()
        })
    }
}

/// Returns the header of the first meta-block of a file of `len` bytes that is stored without
/// compression.
pub fn encode_first_header(len: u64) -> Vec<u8> {
    let data = to_usize(len.saturating_sub(META_HEADER_LEN).saturating_sub(1)).min(META_BLOCK);
    let mut out = Vec::new();
    store_meta_block(&vec![0; data], &mut out);
    out.truncate(to_usize(META_HEADER_LEN));
    out
}

/// Bytes before the data of a meta-block without compression.
const META_HEADER_LEN: u64 = 3;
/// Bytes of a meta-block: its length takes 16 bits.
const META_BLOCK: usize = 1 << 16;

/// Writes meta-blocks without compression.
pub(super) const fn writer() -> Units {
    Units::new(META_BLOCK, store_meta_block)
}

// Section 9.2. ISLAST 0, MNIBBLES 0 (four), MLEN - 1, ISUNCOMPRESSED 1, zeros to the next byte.
// The stream begins with WBITS: the bit 0, a window of 16 bits.
fn store_meta_block(bytes: &[u8], out: &mut Vec<u8>) {
    let Some(length) = bytes.len().checked_sub(1) else { return };
    let length = u32::try_from(length).unwrap_or_default();
    let header = length << 3 | 1 << 19;
    let bits = if out.is_empty() { header << 1 } else { header };
    out.extend(bits.to_le_bytes().iter().take(3));
    out.extend_from_slice(bytes);
}

/// Ends the stream of these meta-blocks.
pub(super) fn end(mut out: Vec<u8>) -> Vec<u8> {
    // ISLAST 1, ISLASTEMPTY 1; after WBITS if nothing was written.
    let last = if out.is_empty() { 6 } else { 3 };
    out.push(last);
    out
}

#[cfg(test)]
mod tests {
    use super::super::Container;
    use super::super::tests::{expand_all, noise};
    use super::*;

    fn read(file: &[u8]) -> (Vec<u8>, Vec<Fault>) {
        expand_all(file, Container::Brotli)
    }

    #[test]
    fn what_is_written_is_read_again_and_a_cut_keeps_the_beginning() {
        for len in [0, 1, 65_535, 65_536, 65_537, 700_000_u32] {
            let bytes = noise(len);
            let mut writer = writer();
            bytes.chunks(1000).for_each(|piece| _ = writer.push(piece));
            let file = end(writer.finish());
            assert_eq!(read(&file), (bytes.clone(), vec![]), "{len} bytes");
            let (prefix, faults) = read(&file[..file.len() / 2]);
            assert!(bytes.starts_with(&prefix));
            assert_eq!(faults.len(), 1);
        }
    }
}
