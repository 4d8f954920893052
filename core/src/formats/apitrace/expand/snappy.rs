//! Chunks of raw snappy blocks.
//!
//! Source: apitrace's `lib/trace/trace_file_snappy.cpp` and `trace_ostream_snappy.cpp`; the block
//! format as snappy's `format_description.txt` gives it. There is no check sum, so that a chunk is
//! believed if it decodes to exactly the length that its block states, and where a length is wrong
//! the next chunk is looked for: full ones state 1 MiB, which is `80 80 40`.

use crate::limits::RESYNC;
use super::{Block, Fault, stored};
use crate::formats::apitrace::layout::{
    CHUNK_EXPANDED, CHUNK_HEADER_LEN, CHUNK_PLAUSIBLE, CHUNK_STORED_MAX, MAGIC_LEN, SNAPPY_MAGIC,
};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::limits::Limits;

/// The u32 at `at`.
pub fn length(source: &Source<'_>, at: u64) -> Option<u64> {
    let bytes = source.read(at, at.saturating_add(4));
    let array: [u8; 4] = bytes.as_ref().try_into().ok()?;
    Some(u64::from(u32::from_le_bytes(array)))
}

/// The length that a block states, and how many bytes state it.
pub fn stated(block: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for (index, byte) in block.iter().take(5).enumerate() {
        let shift = u32::try_from(index.saturating_mul(7)).ok()?;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            let small = value <= u64::from(u32::MAX);
            return small.then_some((value, index.saturating_add(1)));
        }
    }
    None
}

/// What `stored` bytes can expand to at most: a copy of 64 bytes takes three.
const fn expanded_max(stored: u64) -> u64 {
    stored.saturating_mul(22).saturating_add(64)
}

/// In place of bytes that are copied from before the block: no event, detail or type of a value.
const NOT_THERE: u8 = 0x7f;

/// Why the elements of a block end, and where.
#[derive(Debug, PartialEq, Eq)]
struct Broken {
    /// In words.
    detail: String,
    /// The element, as an offset in the block; `None` if nothing follows.
    element: Option<usize>,
}

/// Decodes as many elements as are sound. Returns why it stopped, if that was not the end.
///
/// `block` begins with the stated length; no more than that many bytes are made.
pub fn prefix(block: &[u8], out: &mut Vec<u8>) -> Option<String> {
    let Some((len, skip)) = stated(block) else {
        return Some("the block has no length".to_string());
    };
    elements(block, skip, to_usize(len), false, out).map(|broken| broken.detail)
}

/// Decodes the elements from `from` on until `out` holds `len` bytes.
///
/// `lenient`: copies of what is not there are [`NOT_THERE`], and what is too long is cut.
fn elements(
    block: &[u8],
    from: usize,
    len: usize,
    lenient: bool,
    out: &mut Vec<u8>,
) -> Option<Broken> {
    let mut rest = block.get(from..).unwrap_or_default();
    while let Some((tag, after)) = rest.split_first() {
        let place = block.len().saturating_sub(rest.len());
        let short = || {
            let detail = format!("the element at {place} of the block is cut");
            Some(Broken { detail, element: None })
        };
        let broken = |detail| Some(Broken { detail, element: Some(place) });
        let room = len.saturating_sub(out.len());
        if lenient && room == 0 {
            return None;
        }
        let (kind, high) = (tag & 3, usize::from(tag >> 2));
        let number = |count: usize| -> Option<usize> {
            let bytes = after.get(..count)?;
            Some(bytes.iter().rev().fold(0, |sum: usize, byte| sum << 8 | usize::from(*byte)))
        };
        let (copied, offset, used) = match kind {
            0 => {
                let extra = high.saturating_sub(59);
                let stated = if extra == 0 { Some(high) } else { number(extra) };
                let Some(stated) = stated else { return short() };
                let size = stated.saturating_add(1);
                let end = extra.saturating_add(size);
                let Some(literal) = after.get(extra..end) else {
                    // What is there of a cut literal is as good as the rest.
                    let tail = after.get(extra..).unwrap_or_default();
                    out.extend_from_slice(tail.get(..room).unwrap_or(tail));
                    return short();
                };
                if literal.len() > room && !lenient {
                    return broken(format!(
                        "the literal at {place} of the block reaches behind its {len} bytes"
                    ));
                }
                out.extend_from_slice(literal.get(..room).unwrap_or(literal));
                rest = after.get(end..).unwrap_or_default();
                continue;
            }
            1 => {
                let Some(low) = number(1) else { return short() };
                ((high & 7).saturating_add(4), usize::from(tag >> 5) << 8 | low, 1)
            }
            2 => match number(2) {
                Some(offset) => (high.saturating_add(1), offset, 2),
                None => return short(),
            },
            _ => match number(4) {
                Some(offset) => (high.saturating_add(1), offset, 4),
                None => return short(),
            },
        };
        if copied > room && !lenient {
            return broken(format!(
                "the copy at {place} of the block reaches behind its {len} bytes"
            ));
        }
        let copied = copied.min(room);
        match out.len().checked_sub(offset).filter(|_| offset > 0) {
            Some(from) => {
                for at in from..from.saturating_add(copied) {
                    let byte = out.get(at).copied().unwrap_or_default();
                    out.push(byte);
                }
            }
            None if lenient => out.resize(out.len().saturating_add(copied), NOT_THERE),
            None => {
                return broken(format!(
                    "the copy at {place} of the block goes back {offset} of {} bytes",
                    out.len()
                ));
            }
        }
        rest = after.get(used..).unwrap_or_default();
    }
    (out.len() != len && !lenient).then(|| Broken {
        detail: format!("the block states {len} bytes and holds {}", out.len()),
        element: None,
    })
}

/// Expands a block whole, or not at all.
fn whole(block: &[u8], out: &mut Vec<u8>) -> bool {
    let Some((len, _)) = stated(block) else { return false };
    // Bounded before it is reserved.
    if len > CHUNK_PLAUSIBLE || len > expanded_max(to_u64(block.len())) {
        return false;
    }
    out.clear();
    out.resize(to_usize(len), 0);
    let decoded = snap::raw::Decoder::new().decompress(block, out);
    decoded == Ok(to_usize(len))
}

/// The chunks of a file.
pub struct Chunks<'a> {
    source: Source<'a>,
    at: u64,
    expanded: u64,
    /// Bytes that may still be searched.
    search: u64,
    /// What follows the fault inside the chunk that was given last.
    behind: Option<Block>,
}

impl<'a> Chunks<'a> {
    /// From the first chunk on.
    pub fn new(source: &Source<'a>, limits: &Limits) -> Self {
        Self {
            source: source.clone(),
            at: MAGIC_LEN,
            expanded: 0,
            search: limits.of(&RESYNC),
            behind: None,
        }
    }

    /// Goes on with the chunk at `stored`, whose first byte is `expanded` of the stream.
    pub fn turn_to(&mut self, stored: u64, expanded: u64) {
        (self.at, self.expanded, self.behind) = (stored, expanded, None);
    }

    /// The next chunk, or a fault without one.
    pub fn next(&mut self, reuse: Vec<u8>) -> Option<Block> {
        if let Some(block) = self.behind.take() {
            return Some(block);
        }
        let (start, end) = (self.at, self.source.len());
        if start >= end {
            return None;
        }
        let mut bytes = reuse;
        bytes.clear();
        let begin = start.saturating_add(CHUNK_HEADER_LEN);
        let Some(claimed) = length(&self.source, start) else {
            return Some(self.block(bytes, end, Some(Fault::Trailing)));
        };
        let claimed_end = begin.saturating_add(claimed);
        // More than one length of zero is a hole.
        if claimed == 0 && length(&self.source, begin) != Some(0) {
            return Some(self.block(bytes, begin, Some(Fault::Empty)));
        }
        if claimed > 0 && claimed_end <= end && claimed <= CHUNK_PLAUSIBLE {
            let block = self.source.read(begin, claimed_end);
            if whole(&block, &mut bytes) {
                let size = to_u64(bytes.len());
                let fault = match size {
                    0 => Some(Fault::Empty),
                    _ if size > CHUNK_EXPANDED || claimed > CHUNK_STORED_MAX => {
                        Some(Fault::TooLarge)
                    }
                    _ => None,
                };
                return Some(self.block(bytes, claimed_end, fault));
            }
        }
        Some(self.damaged(bytes, claimed, claimed_end))
    }

    fn block(&mut self, bytes: Vec<u8>, end: u64, fault: Option<Fault>) -> Block {
        let block = Block {
            start: self.expanded,
            stored: Some(stored(self.at, end)),
            unit: (self.at, self.expanded),
            fault,
            bytes,
        };
        self.expanded = block.end();
        self.at = end;
        block
    }

    /// A chunk that does not decode, or whose length leads out of the file.
    fn damaged(&mut self, mut bytes: Vec<u8>, claimed: u64, claimed_end: u64) -> Block {
        let (start, end) = (self.at, self.source.len());
        let begin = start.saturating_add(CHUNK_HEADER_LEN);
        if is_second_trace(&self.source, start) {
            return self.block(Vec::new(), end, Some(Fault::SecondTrace));
        }
        let holds = claimed > 0 && claimed_end <= end && self.leads(claimed_end);
        let next = if holds { Some(claimed_end) } else { self.search(begin) };
        let stop = next.unwrap_or(end);
        let longest = begin.saturating_add(CHUNK_STORED_MAX);
        let block = self.source.read(begin, stop.min(longest));
        let found = stop.saturating_sub(begin);
        if found != claimed && whole(&block, &mut bytes) && to_u64(bytes.len()) <= CHUNK_EXPANDED {
            let fault = Fault::Length { said: claimed, found, whole: true };
            return self.block(bytes, stop, Some(fault));
        }
        bytes.clear();
        let mut behind = Vec::new();
        let detail = salvage(&block, &mut bytes, &mut behind);
        let fault = match next {
            None if !holds && self.search == 0 => super::search_ended(start),
            // The last chunk, and the file ends before it does.
            None if claimed_end > end && behind.is_empty() => {
                Fault::Torn { claimed: Some(claimed) }
            }
            _ if holds || next.is_none() => Fault::Corrupt { detail },
            _ => Fault::Length { said: claimed, found, whole: false },
        };
        let block = self.block(bytes, stop, Some(fault));
        if !behind.is_empty() {
            let start = self.expanded;
            self.expanded = start.saturating_add(to_u64(behind.len()));
            let (stored, unit) = (block.stored, block.unit);
            self.behind = Some(Block { start, bytes: behind, stored, unit, fault: None });
        }
        block
    }

    /// Whether a chunk, a second trace or the end of the file is at `at`.
    fn leads(&self, at: u64) -> bool {
        at == self.source.len() || self.decodes(at) || is_second_trace(&self.source, at)
    }

    /// Whether the chunk at `at` looks sound, by its length, its block's and what follows.
    fn plausible(&self, at: u64) -> bool {
        let (Some(claimed), end) = (length(&self.source, at), self.source.len()) else {
            return false;
        };
        let begin = at.saturating_add(CHUNK_HEADER_LEN);
        let next = begin.saturating_add(claimed);
        if !(2..=CHUNK_STORED_MAX).contains(&claimed) || next > end {
            return false;
        }
        let head = self.source.read(begin, begin.saturating_add(5));
        stated(&head).is_some_and(|(len, skip)| {
            let body = claimed.saturating_sub(to_u64(skip));
            // A block is at most a sixth longer than what it holds.
            let most = len.saturating_add(len / 6).saturating_add(32);
            (1..=CHUNK_EXPANDED).contains(&len) && body <= most && len <= expanded_max(body)
        })
    }

    fn decodes(&self, at: u64) -> bool {
        let Some(claimed) = length(&self.source, at).filter(|_| self.plausible(at)) else {
            return false;
        };
        let begin = at.saturating_add(CHUNK_HEADER_LEN);
        let block = self.source.read(begin, begin.saturating_add(claimed));
        whole(&block, &mut Vec::new())
    }

    /// The first place from `from` on at which a sound chunk begins.
    fn search(&mut self, from: u64) -> Option<u64> {
        const STEP: u64 = 64 << 10;
        let end = self.source.len();
        let mut at = from;
        while at.saturating_add(CHUNK_HEADER_LEN) < end && self.search > 0 {
            let window = self.source.read(at, at.saturating_add(STEP).saturating_add(9));
            for (index, bytes) in window.windows(5).enumerate().take(to_usize(STEP)) {
                let place = at.saturating_add(to_u64(index));
                // A length of at most 1,223,370 has nothing in its high byte.
                let &[_, _, third, 0, _] = bytes else { continue };
                if third <= 0x12 && self.plausible(place) && self.decodes(place) {
                    return Some(place);
                }
            }
            self.search = self.search.saturating_sub(STEP);
            at = at.saturating_add(STEP);
        }
        None
    }
}

/// As [`prefix`], for a block that may state any length: no more than a chunk holds is made. What
/// follows an element that cannot be right goes to `behind`.
fn salvage(block: &[u8], out: &mut Vec<u8>, behind: &mut Vec<u8>) -> String {
    let most = to_usize(CHUNK_EXPANDED);
    let Some((stated, skip)) = stated(block) else {
        return "the block has no length".to_string();
    };
    let len = to_usize(stated);
    if len == 0 {
        return "the block states 0 bytes".to_string();
    }
    // The elements may be sound where the length is not.
    let broken = elements(block, skip, len.min(most), false, out);
    let element = broken.as_ref().and_then(|broken| broken.element);
    if let Some(element) = element {
        // Copies reach back to what is before them.
        let sound = out.len();
        drop(elements(block, element, most, true, out));
        behind.extend(out.drain(sound..));
    }
    match broken {
        _ if len > most => format!("the block states {len} bytes"),
        Some(broken) => broken.detail,
        None => "the block holds other bytes than its length says".to_string(),
    }
}

/// Whether a whole trace begins at `at`: magic, a chunk that decodes, a version.
pub fn is_second_trace(source: &Source<'_>, at: u64) -> bool {
    let head = source.read(at, at.saturating_add(MAGIC_LEN));
    if head.as_ref() != SNAPPY_MAGIC {
        return false;
    }
    let first = at.saturating_add(MAGIC_LEN);
    let Some(claimed) = length(source, first).filter(|len| *len <= CHUNK_STORED_MAX) else {
        return false;
    };
    let begin = first.saturating_add(CHUNK_HEADER_LEN);
    let block = source.read(begin, begin.saturating_add(claimed));
    let mut bytes = Vec::new();
    to_u64(block.len()) == claimed
        && whole(&block, &mut bytes)
        && bytes.first().is_some_and(|version| *version <= 6)
}

/// Writes chunks of at most 1 MiB.
#[derive(Default)]
pub struct Writer {
    pending: Vec<u8>,
    out: Vec<u8>,
}

impl Writer {
    /// Adds bytes; returns how many are stored so far.
    pub fn push(&mut self, mut bytes: &[u8]) -> usize {
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
        // Fails on inputs of 4 GiB alone.
        let block = snap::raw::Encoder::new().compress_vec(&self.pending).unwrap_or_default();
        self.pending.clear();
        let len = u32::try_from(block.len()).unwrap_or(u32::MAX);
        self.out.extend(len.to_le_bytes());
        self.out.extend(block);
    }

    /// All chunks.
    pub fn finish(mut self) -> Vec<u8> {
        self.flush();
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        (0..5000_u32).flat_map(|i| (i / 7 % 251).to_le_bytes()).collect()
    }

    #[test]
    fn a_prefix_of_a_block_is_a_prefix_of_what_it_holds() {
        let bytes = sample();
        let block = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
        let mut out = Vec::new();
        assert_eq!(prefix(&block, &mut out), None);
        assert_eq!(out, bytes);
        let mut longest = 0;
        for end in 0..block.len() {
            out.clear();
            assert!(prefix(&block[..end], &mut out).is_some());
            assert!(bytes.starts_with(&out) && out.len() >= longest);
            longest = out.len();
        }
        assert!(longest + 64 > bytes.len());
    }

    #[test]
    fn a_block_that_claims_more_than_it_can_hold_is_refused_before_any_memory() {
        let mut out = Vec::new();
        assert!(!whole(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0, 1], &mut out));
        assert!(!whole(&[0x80, 0x80, 0x40, 0, 1], &mut out));
        assert_eq!(out.capacity(), 0);
    }

    #[test]
    fn what_is_written_is_read_in_chunks_of_at_most_a_mebibyte() {
        let bytes = sample().repeat(120);
        let mut writer = Writer::default();
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
}
