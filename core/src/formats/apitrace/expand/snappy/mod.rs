//! Chunks of raw snappy blocks.
//!
//! Source: apitrace's `lib/trace/trace_file_snappy.cpp` and `trace_ostream_snappy.cpp`. There is no
//! checksum: a chunk is believed if it expands to exactly the length that its block states. Where a
//! chunk's length is wrong the next chunk is found by its form: full ones state 1 MiB, which is
//! `80 80 40`.
//!
//! - `block`: the block of a chunk
//! - `elements`: the elements of a block, one after the other
//! - `regular`: the rules of elements, and what breaks them
//! - `parts`: the parts of a damaged block between its damages
//! - `chains`: elements that follow one another, from each byte on
//! - `repeated`: stretches of a block that are there twice
//! - `place`: where the bytes of a part belong
//! - `work`: the work that all of these may do
//! - `known`: what was found before
//! - `leaves`: which of two readings of a block keeps more calls
//! - `search`: where the next chunk begins after a wrong length
//! - `writer`: writes chunks

mod block;
mod chains;
mod elements;
mod inserted;
mod judge;
mod known;
mod leaves;
mod parts;
mod place;
mod regular;
mod repeated;
mod search;
mod work;
mod writer;

pub use self::inserted::find as find_insertion;
pub use self::search::plausible_len as plausible_chunk_len;

pub(super) use writer::{plain_header, writer};

use super::blank::Blank;
use super::{Block, Fault, Parts, stored};
use crate::formats::apitrace::layout::{
    CHUNK_EXPANDED, CHUNK_HEADER_LEN, CHUNK_PLAUSIBLE, CHUNK_STORED_MAX, MAGIC_LEN,
};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::field_log::FieldLog;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::ranges::Ranges;
use crate::kit::resync::{Budget, Resync};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::model::limits::Limits;
pub(super) use search::has_chunks;
use search::is_second_trace;

/// The greatest length of two chunks.
const CHUNKS_MAX: u64 = 2 * CHUNK_STORED_MAX;

/// Returns where the chunk in `unit` stores the bytes at `at` of its block, if replacing them by
/// `bytes` there changes nothing else.
pub fn find_stored(source: &Source<'_>, unit: Span, at: u64, bytes: &[u8]) -> Option<u64> {
    let begin = unit.start.saturating_add(CHUNK_HEADER_LEN);
    let is_one = chunk_len(source, unit.start)? == unit.end.checked_sub(begin)?;
    let block = source.read(begin, unit.end);
    let place = block::find_literal(&block, to_usize(at), bytes).filter(|_| is_one)?;
    Some(begin.saturating_add(to_u64(place)))
}

/// Notes the fields of the chunk in `unit`.
pub(super) fn log_fields(source: &Source<'_>, unit: Span, log: &FieldLog) {
    let bytes = source.read(unit.start, unit.end);
    let cursor = Cursor::new(&bytes, unit.layer, unit.start, Order::Little);
    let mut cursor = cursor.with_log(log);
    let _length = cursor.u32("chunk.compressed_length");
    let _block = cursor.bytes(cursor.left(), "chunk.block");
}

/// Returns the compressed length of the chunk at `at`: a little-endian u32.
pub(super) fn chunk_len(source: &Source<'_>, at: u64) -> Option<u64> {
    let bytes = source.read(at, at.saturating_add(CHUNK_HEADER_LEN));
    let mut cursor = Cursor::new(&bytes, Layer::stored(0), at, Order::Little);
    cursor.u32("chunk.compressed_length").ok().map(u64::from)
}

/// The chunks of a file.
pub(super) struct Chunks<'a> {
    source: Source<'a>,
    at: u64,
    blank: Blank,
    expanded: u64,
    /// The work that searches for the next chunk may still do.
    budget: Budget,
    /// Damaged chunks so far.
    damaged: usize,
    /// Whether a damaged chunk is only read up to its fault.
    ends_at_fault: bool,
    /// The bytes after the fault inside the chunk that was given last.
    after_fault: Option<Block>,
}

impl<'a> Chunks<'a> {
    /// The chunks from the first one on.
    pub(super) fn new(source: &Source<'a>, limits: &Limits) -> Self {
        Self {
            source: source.clone(),
            at: MAGIC_LEN,
            blank: Blank::of(source),
            expanded: 0,
            budget: super::search_budget(limits),
            damaged: 0,
            ends_at_fault: false,
            after_fault: None,
        }
    }

    /// Reads no further than the first fault, and searches for nothing.
    pub(super) fn end_at_fault(&mut self) {
        self.ends_at_fault = true;
    }

    /// Continues with the chunk at `stored`, whose first byte is `expanded` of the stream.
    pub(super) fn turn_to(&mut self, stored: u64, expanded: u64) {
        (self.at, self.expanded, self.after_fault) = (stored, expanded, None);
    }

    /// Returns the next chunk, or a fault without one.
    pub(super) fn next(&mut self, reuse: Vec<u8>) -> Option<Block> {
        if let Some(block) = self.after_fault.take() {
            return Some(block);
        }
        let (start, end) = (self.at, self.source.len());
        if start >= end {
            return None;
        }
        let mut bytes = reuse;
        bytes.clear();
        let begin = start.saturating_add(CHUNK_HEADER_LEN);
        let Some(stated) = chunk_len(&self.source, start) else {
            return Some(self.block(bytes, end, Some(Fault::Trailing)));
        };
        if begin > self.blank.start {
            let fault = self.blank.fault_after_end(start);
            return Some(self.block(bytes, end, Some(fault)));
        }
        let stated_end = begin.saturating_add(stated);
        // Where no chunk follows, the length is damaged, or the zeros are a hole.
        if stated == 0 && self.is_followed_at(begin) {
            return Some(self.block(bytes, begin, Some(Fault::Empty)));
        }
        let is_written = stated_end <= end && !self.blank.cuts(stated_end);
        if stated > 0 && is_written && stated <= CHUNK_PLAUSIBLE {
            let block = self.source.read(begin, stated_end);
            if block::expand(&block, &mut bytes) {
                let fault = match to_u64(bytes.len()) {
                    0 => Some(Fault::Empty),
                    len if len > CHUNK_EXPANDED || stated > CHUNK_STORED_MAX => {
                        Some(Fault::TooLarge)
                    }
                    _ => None,
                };
                return Some(self.block(bytes, stated_end, fault));
            }
        }
        Some(self.damaged_block(bytes, stated, stated_end))
    }

    /// Returns whether the sound chunk at an offset has most bytes of a damaged block in their
    /// places: it holds all that the damaged one lost.
    fn is_copied_at(&self, at: u64, damaged: &[u8]) -> bool {
        let begin = at.saturating_add(CHUNK_HEADER_LEN);
        let len = to_u64(damaged.len());
        if chunk_len(&self.source, at) != Some(len) {
            return false;
        }
        let block = self.source.read(begin, begin.saturating_add(len));
        let equal = damaged.iter().zip(block.iter()).filter(|(a, b)| a == b).count();
        equal > damaged.len().wrapping_shr(1) && block::expand(&block, &mut Vec::new())
    }

    fn block(&mut self, bytes: Vec<u8>, end: u64, fault: Option<Fault>) -> Block {
        let block = Block {
            start: self.expanded,
            stored: Some(stored(self.at, end)),
            unit: (self.at, self.expanded),
            fault,
            bytes,
            parts: Some(Parts { len: to_u64(judge::FRAGMENT), certain_from: self.expanded }),
            made_up: Ranges::default(),
        };
        self.expanded = block.end();
        self.at = end;
        block
    }

    /// Returns a chunk that does not decode, or whose length leads out of the file.
    fn damaged_block(&mut self, mut bytes: Vec<u8>, stated: u64, stated_end: u64) -> Block {
        let (start, end) = (self.at, self.source.len());
        let begin = start.saturating_add(CHUNK_HEADER_LEN);
        if is_second_trace(&self.source, start) {
            return self.block(Vec::new(), end, Some(Fault::SecondTrace));
        }
        // Where nothing is wrong with the bytes that are left, a search finds damage in blobs.
        let data_end = self.blank.start;
        let may_be_cut = (begin..stated_end).contains(&data_end);
        if may_be_cut && stated <= CHUNK_PLAUSIBLE {
            let block = self.source.read(begin, data_end);
            if block::expand_cut(&block, &mut bytes) {
                return self.block(bytes, end, Some(Fault::Truncated { stated: Some(stated) }));
            }
        }
        if self.ends_at_fault {
            let stop = stated_end.min(end).min(begin.saturating_add(CHUNK_STORED_MAX));
            let detail = block::expand_sound(&self.source.read(begin, stop), &mut bytes);
            return self.block(bytes, end, Some(Fault::Corrupt { detail }));
        }
        let is_right = stated > 0 && stated_end <= end && self.is_chunk_at(stated_end);
        let search = if is_right { Resync::Found(stated_end) } else { self.find_chunk(begin) };
        let next = search.found();
        let stop = next.unwrap_or(end);
        // The header of the chunk after it may be lost, too.
        let longest = begin.saturating_add(CHUNKS_MAX);
        let block = self.source.read(begin, stop.min(longest).min(data_end));
        let found = stop.saturating_sub(begin);
        let is_other = found != stated && block::expand(&block, &mut bytes);
        if is_other && to_u64(bytes.len()) <= CHUNK_EXPANDED {
            // All chunks that apitrace 11.1 recorded for us are encoded so.
            let encoded = snap::raw::Encoder::new().compress_vec(&bytes).ok();
            let is_proven = encoded == Some(block.into());
            let fault = Fault::Length { stated, found, whole: true, is_proven };
            return self.block(bytes, stop, Some(fault));
        }
        bytes.clear();
        let mut after_fault = Vec::new();
        let has_end = next.is_some() || stated_end <= data_end;
        self.damaged = self.damaged.saturating_add(1);
        let effort = block::Effort::of(self.damaged, begin, &block, has_end);
        let salvaged = block::salvage(&block, &mut bytes, &mut after_fault, effort);
        if next.is_some_and(|next| self.is_copied_at(next, &block)) {
            after_fault.clear();
        }
        let fault = match next {
            None if matches!(search, Resync::LimitReached(_)) => Fault::SearchEnded,
            // The last chunk, and the file ends before it does.
            None if stated_end > data_end && after_fault.is_empty() => {
                Fault::Truncated { stated: Some(stated) }
            }
            _ if is_right || next.is_none() => Fault::Corrupt { detail: salvaged.detail.clone() },
            _ => Fault::Length { stated, found, whole: false, is_proven: false },
        };
        let block = self.block(bytes, stop, Some(fault));
        if !after_fault.is_empty() {
            self.give_after_fault(&block, after_fault, salvaged);
        }
        block
    }

    /// Gives the bytes after the fault in `block` next.
    fn give_after_fault(&mut self, block: &Block, bytes: Vec<u8>, salvaged: block::Salvaged) {
        let start = self.expanded;
        self.expanded = start.saturating_add(to_u64(bytes.len()));
        let (stored, unit) = (block.stored, block.unit);
        let parts = salvaged.certain_from.map(|from| Parts {
            len: to_u64(judge::FRAGMENT),
            certain_from: unit.1.saturating_add(to_u64(from)),
        });
        let (fault, made_up) = (None, salvaged.made_up.moved(start));
        self.after_fault = Some(Block { start, bytes, stored, unit, fault, parts, made_up });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::block::START_SEARCHES;
    use super::work::SEARCHED;
    use super::*;

    /// A file of these bytes, and where its chunks begin; the last place is its end.
    fn file_of(bytes: &[u8]) -> (Vec<u8>, Vec<u64>) {
        let mut writer = writer();
        writer.push(bytes);
        let file = [b"at".as_slice(), &writer.finish()].concat();
        let mut starts = vec![MAGIC_LEN];
        while let Some(len) = chunk_len(&Source::new(&file), starts[starts.len() - 1]) {
            starts.push(starts[starts.len() - 1] + CHUNK_HEADER_LEN + len);
        }
        (file, starts)
    }

    #[test]
    fn chunks_that_are_written_hold_at_most_a_mebibyte_and_are_read_again() {
        let sample: Vec<u8> = (0..5000_u32).flat_map(|i| (i / 7 % 251).to_le_bytes()).collect();
        let bytes = sample.repeat(120);
        let mut writer = writer();
        bytes.chunks(777_777).for_each(|piece| _ = writer.push(piece));
        let file = [b"at".as_slice(), &writer.finish()].concat();
        let source = Source::new(&file);
        let mut chunks = Chunks::new(&source, &Limits::default());
        let mut again = Vec::new();
        while let Some(block) = chunks.next(Vec::new()) {
            assert_eq!(block.fault, None);
            assert!(block.bytes.len() <= 1 << 20);
            again.extend(block.bytes);
        }
        assert!(again == bytes);
    }

    #[test]
    fn of_two_damaged_chunks_in_a_row_each_keeps_its_place() {
        // Words of a few hundred, so that most elements are short copies.
        let word = |i: u32| u64::from(i.wrapping_mul(i).wrapping_mul(0x9e37_79b1) >> 24);
        let words = (0..450_000_u32).map(|i| word(i).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let (mut file, starts) = file_of(&bytes);
        assert_eq!(starts.len(), 5);
        for start in &starts[..2] {
            let at = to_usize(*start) + 100_000;
            file[at..at + 3_000].fill(0xff);
        }
        let source = Source::new(&file);
        let mut chunks = Chunks::new(&source, &Limits::default());
        let mut found: Vec<(u64, bool)> = Vec::new();
        while let Some(block) = chunks.next(Vec::new()) {
            found.push((block.unit.0, block.fault.is_some()));
        }
        found.dedup_by_key(|(start, _)| *start);
        let expected = starts.iter().zip([true, true, false, false]);
        assert_eq!(found, expected.map(|(start, fault)| (*start, fault)).collect::<Vec<_>>());
    }

    #[test]
    fn a_look_at_the_beginning_ends_at_the_first_fault() {
        let words = (0..300_000_u32).map(|i| u64::from(i / 3).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (mut file, starts) = file_of(&words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>());
        let at = to_usize(starts[1]) + 100_000;
        file[at..at + 3_000].fill(0xff);
        let source = Source::new(&file);
        let mut chunks = Chunks::new(&source, &Limits::default());
        chunks.end_at_fault();
        let blocks: Vec<Block> = std::iter::from_fn(|| chunks.next(Vec::new())).collect();
        let faults: Vec<bool> = blocks.iter().map(|block| block.fault.is_some()).collect();
        assert_eq!(faults, [false, true]);
        let sound = &blocks[1].bytes;
        assert!((50_000..1 << 20).contains(&sound.len()), "{}", sound.len());
    }

    #[test]
    fn a_chunk_whose_header_is_lost_is_read_after_the_one_before_it() {
        let call = |i: u32| [&[0_u8, 7, 3][..], &i.to_le_bytes(), b"glVertex", &[1; 9]].concat();
        let bytes: Vec<u8> = (0..150_000_u32).flat_map(call).collect();
        let (file, starts) = file_of(&bytes);
        // The last chunk is not full.
        assert_eq!(starts.len(), 5);
        for chunk in [1, 3] {
            let header = to_usize(starts[chunk]);
            let damaged = [&file[..header - 1_500], &file[header + 2_500..]].concat();
            let source = Source::new(&damaged);
            let mut chunks = Chunks::new(&source, &Limits::default());
            let mut blocks: Vec<Vec<u8>> = Vec::new();
            while let Some(block) = chunks.next(Vec::new()) {
                blocks.push(block.bytes);
            }
            // Only fragments beside the damage are lost.
            let lost_max = 3 << 16;
            let begin = chunk << 20;
            let end = bytes.len().min(begin + (1 << 20));
            let (before, after) = (&blocks[chunk - 1], &blocks[chunk]);
            assert!(before.starts_with(&bytes[begin - (1 << 20)..begin - lost_max]));
            assert!(after.ends_with(&bytes[begin + lost_max..end]), "{}", after.len());
        }
    }

    #[test]
    fn a_damaged_chunk_is_found_by_its_form_after_one_whose_header_is_lost() {
        let words = (0..450_000_u32).map(|i| u64::from(i / 3).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let (file, starts) = file_of(&bytes);
        // Chunks 1 and 2 are full; the last one is not, and ends where the file does.
        assert_eq!(starts.len(), 5);
        for lost in [1, 2] {
            let mut damaged = file.clone();
            let header = to_usize(starts[lost]);
            damaged[header - 1_000..header + 1_000].fill(0xff);
            let inside = to_usize(starts[lost + 1]) + 2_000;
            damaged[inside..inside + 1_000].fill(0xff);
            let source = Source::new(&damaged);
            let mut chunks = Chunks::new(&source, &Limits::default());
            let mut found = Vec::new();
            while let Some(block) = chunks.next(Vec::new()) {
                found.push(block.unit.0);
            }
            assert!(!found.contains(&starts[lost]), "{found:?}");
            assert!(found.contains(&starts[lost + 1]), "{found:?}");
        }
    }

    #[test]
    fn shifts_are_searched_for_in_the_first_bytes_of_a_file() {
        // A copy of which a flipped bit adds bytes, so that all elements after it are moved.
        let bytes = regular::tests::words(5_000);
        let sound = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
        let chunk =
            |block: &[u8]| [&u32::try_from(block.len()).unwrap().to_le_bytes(), block].concat();
        let other = chunk(&snap::raw::Encoder::new().compress_vec(&bytes[250..]).unwrap());
        let expanded = |file: &[u8]| {
            let source = Source::new(file);
            let mut chunks = Chunks::new(&source, &Limits::default());
            let mut units = BTreeMap::<u64, Vec<u8>>::new();
            while let Some(block) = chunks.next(Vec::new()) {
                units.entry(block.unit.0).or_default().extend(block.bytes);
            }
            units.into_values().map(|one| one == bytes).collect::<Vec<bool>>()
        };
        let flipped = (1_500..).find_map(|at| {
            let mut block = sound.clone();
            block[at] |= 1 << 5;
            let file = [b"at", chunk(&block).as_slice(), &other].concat();
            (block != sound && expanded(&file) == [true, false]).then_some(block)
        });
        let damaged = chunk(&flipped.unwrap());
        // The chunk after a damaged one has to be sound.
        let pair = [damaged, other].concat();
        let searched = SEARCHED / pair.len() + 1;
        let file = [b"at", pair.repeat(searched + 2).as_slice()].concat();
        let is_right = expanded(&file);
        let firsts: Vec<bool> = is_right.into_iter().step_by(2).collect();
        assert_eq!(firsts.len(), searched + 2);
        // Blocks as short as these have work enough in the first mebibyte.
        let first = firsts.iter().position(|right| !right);
        let range = (1 << 20) / pair.len()..=searched;
        assert!(first.is_some_and(|first| range.contains(&first)), "{first:?}, {range:?}");
        assert!(!firsts[searched]);
    }

    #[test]
    fn the_first_element_of_the_first_blocks_without_a_beginning_is_searched() {
        let call = |number: u32| {
            let [[low, ..], [high, ..]] = [0x80 | number & 0x7f, number >> 7].map(u32::to_le_bytes);
            [&[1, low, high][..], b"call\0"].concat()
        };
        let bytes: Vec<u8> = (256..9_000_u32).flat_map(call).collect();
        let mut block = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
        let chunk =
            |block: &[u8]| [&u32::try_from(block.len()).unwrap().to_le_bytes(), block].concat();
        let sound = chunk(&snap::raw::Encoder::new().compress_vec(&bytes[500..]).unwrap());
        // No length, and a literal that reaches over most of the block.
        let long = u16::try_from(block.len() - 100).unwrap().to_le_bytes();
        block[..8].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xf4, long[0], long[1]]);
        let pair = [chunk(&block), sound].concat();
        let file = [b"at", pair.repeat(START_SEARCHES + 1).as_slice()].concat();
        let source = Source::new(&file);
        let mut chunks = Chunks::new(&source, &Limits::default());
        let mut units = BTreeMap::<u64, usize>::new();
        while let Some(block) = chunks.next(Vec::new()) {
            *units.entry(block.unit.0).or_default() += block.bytes.len();
        }
        let lens: Vec<usize> = units.into_values().step_by(2).collect();
        let is_found = |len: &&usize| **len > bytes.len() / 4 * 3;
        assert_eq!(lens.len(), START_SEARCHES + 1);
        assert_eq!(lens.iter().take_while(is_found).count(), START_SEARCHES, "{lens:?}");
    }

    #[test]
    fn a_chunk_with_more_stored_bytes_than_apitrace_reads_is_too_large() {
        let fault = |count: u32| {
            // Every byte is a literal of its own, so they take twice their number.
            let len = [0x80 | count & 0x7f, 0x80 | count >> 7 & 0x7f, count >> 14];
            let len = len.map(|part| u8::try_from(part).unwrap());
            let block = [&len[..], &b"\0a".repeat(to_usize(count.into()))].concat();
            let stored = u32::try_from(block.len()).unwrap().to_le_bytes();
            let file = [b"at".as_slice(), &stored, &block].concat();
            let source = Source::new(&file);
            let block = Chunks::new(&source, &Limits::default()).next(Vec::new()).unwrap();
            assert_eq!(block.bytes.len(), to_usize(count.into()));
            block.fault
        };
        assert_eq!(fault(600_000), None);
        assert_eq!(fault(700_000), Some(Fault::TooLarge));
    }
}
