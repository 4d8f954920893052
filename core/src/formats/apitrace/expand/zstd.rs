//! zstd frames (RFC 8878), at times with a table to seek by.
//!
//! apitrace writes frames of 2 MiB of the stream, without check sums, and a skippable frame with
//! the table at the end (`trace_ostream_zstd.cpp`, zstd's `contrib/seekable_format`); a crashed
//! program leaves the frames alone. The frames are found by their blocks' headers, so that each
//! can be expanded, and written anew, by itself.

use crate::limits::ZSTD_WINDOW;
use crate::limits::RESYNC;
use super::{Block, Fault, STEP, stored};
use crate::formats::apitrace::layout::{ZSTD_MAGIC, ZSTD_SEEKABLE_MAGIC};
use crate::kit::expand::zstd::{ExpandError, Expander};
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::limits::Limits;

/// Expanded bytes of a frame that apitrace writes.
const FRAME_EXPANDED: usize = 2 << 20;
/// Magic of the skippable frame that holds the table.
const TABLE_MAGIC: [u8; 4] = [0x5e, 0x2a, 0x4d, 0x18];
/// Entry without check sum: compressed and expanded length.
const TABLE_ENTRY: u64 = 8;
/// Number of frames, descriptor, magic.
const TABLE_FOOTER: u64 = 9;

/// The frames of a file.
pub struct Frames<'a> {
    source: Source<'a>,
    at: u64,
    expanded: u64,
    window_max: u64,
    search: u64,
    /// The frame that is being expanded: its expander and where it ends.
    open: Option<(Expander, u64)>,
    fed: u64,
    frames: u64,
    /// Where the frame begins in the stream.
    unit: u64,
    /// Whether the frames were counted from the first one on.
    counted: bool,
    fault: Option<Fault>,
}

/// Where the frame at `at` ends, by its headers alone; `None` if it is none or cut.
fn frame_end(source: &Source<'_>, at: u64) -> Option<u64> {
    let head = source.read(at, at.saturating_add(18));
    if !head.starts_with(&ZSTD_MAGIC) {
        return skippable_end(source, at);
    }
    let descriptor = *head.get(4)?;
    let single = descriptor & 0x20 != 0;
    let dictionary = match descriptor & 3 {
        0 => 0,
        1 => 1,
        2 => 2,
        _ => 4_u64,
    };
    let content = match descriptor >> 6 {
        0 => u64::from(single),
        1 => 2,
        2 => 4,
        _ => 8,
    };
    let window = u64::from(!single);
    let mut at = at.saturating_add(5).saturating_add(window);
    at = at.saturating_add(dictionary).saturating_add(content);
    loop {
        let header = source.read(at, at.saturating_add(3));
        let &[low, middle, high] = header.as_ref() else { return None };
        let bits = u64::from(low) | u64::from(middle) << 8 | u64::from(high) << 16;
        let size = if bits >> 1 & 3 == 1 { 1 } else { bits >> 3 };
        if bits >> 1 & 3 == 3 || size > 128 << 10 {
            return None;
        }
        at = at.saturating_add(3).saturating_add(size);
        if at > source.len() {
            return None;
        }
        if bits & 1 != 0 {
            break;
        }
    }
    let end = at.saturating_add(if descriptor & 4 != 0 { 4 } else { 0 });
    (end <= source.len()).then_some(end)
}

/// Where the skippable frame at `at` ends.
fn skippable_end(source: &Source<'_>, at: u64) -> Option<u64> {
    let head = source.read(at, at.saturating_add(8));
    let [a, b, c, d, size @ ..] = head.as_ref() else { return None };
    let size: [u8; 4] = size.try_into().ok()?;
    let skippable = a & 0xf0 == 0x50 && [*b, *c, *d] == [0x2a, 0x4d, 0x18];
    let end = at.saturating_add(8).saturating_add(u64::from(u32::from_le_bytes(size)));
    (skippable && end <= source.len()).then_some(end)
}

impl<'a> Frames<'a> {
    /// From the first frame on.
    pub fn new(source: &Source<'a>, limits: &Limits) -> Self {
        Self {
            source: source.clone(),
            at: 0,
            expanded: 0,
            window_max: limits.of(&ZSTD_WINDOW),
            search: limits.of(&RESYNC),
            open: None,
            fed: 0,
            frames: 0,
            unit: 0,
            counted: true,
            fault: None,
        }
    }

    /// Goes on with the frame at `stored`, whose first byte is `expanded` of the stream.
    pub fn turn_to(&mut self, stored: u64, expanded: u64) {
        (self.at, self.expanded, self.counted) = (stored, expanded, stored == 0);
    }

    /// The next block.
    pub fn next(&mut self, reuse: Vec<u8>) -> Option<Block> {
        let mut bytes = reuse;
        bytes.clear();
        if self.open.is_none() {
            if self.at >= self.source.len() {
                return None;
            }
            if let Some(end) = skippable_end(&self.source, self.at) {
                let fault = self.table(end);
                return Some(self.block(bytes, end, fault));
            }
            let end = match frame_end(&self.source, self.at) {
                Some(end) => end,
                None => {
                    let from = self.at.saturating_add(1);
                    let next = self.search(from);
                    let exhausted = self.search == 0;
                    self.fault = Some(match next {
                        None if exhausted => super::search_ended(self.at),
                        None => Fault::Torn { claimed: None },
                        Some(_) => {
                            let detail = "its blocks do not lead to the next frame".to_string();
                            Fault::Corrupt { detail }
                        }
                    });
                    next.unwrap_or(self.source.len())
                }
            };
            self.open = Some((Expander::new(self.window_max), end));
            self.fed = self.at;
            self.unit = self.expanded;
            self.frames = self.frames.saturating_add(1);
        }
        let done = self.expand(&mut bytes);
        let (_, end) = self.open.as_ref()?;
        let end = *end;
        let fault = if done { self.fault.take() } else { None };
        let start = self.expanded;
        let unit = (self.at, self.unit);
        let block = Block { start, bytes, stored: Some(stored(self.at, end)), unit, fault };
        self.expanded = block.end();
        if done {
            self.open = None;
            self.at = end;
        }
        Some(block)
    }

    /// Fills `bytes`; true if the frame is done.
    fn expand(&mut self, bytes: &mut Vec<u8>) -> bool {
        let Some((expander, end)) = &mut self.open else { return true };
        loop {
            let room = STEP.saturating_sub(bytes.len());
            if room == 0 {
                return false;
            }
            if expander.take(bytes, room) > 0 {
                continue;
            }
            let slice = self.source.slices(self.fed, *end).next().unwrap_or_default();
            if slice.is_empty() {
                expander.finish();
                if expander.take(bytes, room) > 0 {
                    continue;
                }
                return true;
            }
            match expander.feed(slice) {
                Ok(fed) => self.fed = self.fed.saturating_add(to_u64(fed.stored)),
                Err(fault) => {
                    self.fed = *end;
                    let torn = matches!(self.fault, Some(Fault::Torn { .. }));
                    if let ExpandError::WindowTooLarge { .. } = fault.error {
                        self.fault = Some(Fault::Limit { message: fault.to_string() });
                    } else if !torn {
                        self.fault = Some(Fault::Corrupt { detail: fault.to_string() });
                    }
                }
            }
        }
    }

    fn block(&mut self, bytes: Vec<u8>, end: u64, fault: Option<Fault>) -> Block {
        let (stored, unit) = (Some(stored(self.at, end)), (self.at, self.expanded));
        self.at = end;
        Block { start: self.expanded, bytes, stored, unit, fault }
    }

    /// What is wrong with a table to seek by that ends at `end`.
    fn table(&self, end: u64) -> Option<Fault> {
        let head = self.source.read(self.at, self.at.saturating_add(4));
        let footer = self.source.read(end.saturating_sub(TABLE_FOOTER), end);
        let is_table = head.as_ref() == TABLE_MAGIC && footer.ends_with(&ZSTD_SEEKABLE_MAGIC);
        let count: [u8; 4] = footer.get(..4)?.try_into().ok()?;
        let said = u64::from(u32::from_le_bytes(count));
        (is_table && self.counted && said != self.frames)
            .then_some(Fault::SeekTable { said, found: self.frames })
    }

    /// The next frame from `from` on.
    fn search(&mut self, from: u64) -> Option<u64> {
        let mut at = from;
        while at < self.source.len() && self.search > 0 {
            let window = self.source.read(at, at.saturating_add(to_u64(STEP)));
            let found =
                window.windows(4).position(|four| four == ZSTD_MAGIC || four == TABLE_MAGIC);
            if let Some(index) = found {
                let place = at.saturating_add(to_u64(index));
                if frame_end(&self.source, place).is_some() {
                    return Some(place);
                }
                at = place.saturating_add(1);
                self.search = self.search.saturating_sub(to_u64(index));
            } else {
                at = at.saturating_add(to_u64(STEP).saturating_sub(3));
                self.search = self.search.saturating_sub(to_u64(STEP));
            }
        }
        None
    }
}

/// The table to seek by at the end of a file, rebuilt from the frames before it.
///
/// `frames` are compressed and expanded length of each.
pub fn table(frames: &[(u64, u64)]) -> Vec<u8> {
    let size = to_u64(frames.len()).saturating_mul(TABLE_ENTRY).saturating_add(TABLE_FOOTER);
    let word = |value: u64| u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes();
    let mut table = TABLE_MAGIC.to_vec();
    table.extend(word(size));
    for (compressed, expanded) in frames {
        table.extend(word(*compressed));
        table.extend(word(*expanded));
    }
    table.extend(word(to_u64(frames.len())));
    table.push(0);
    table.extend(ZSTD_SEEKABLE_MAGIC);
    table
}

/// The table at the end of a file, if there is one.
pub fn table_span(source: &Source<'_>) -> Option<crate::kit::span::Span> {
    let len = source.len();
    let footer = source.read(len.checked_sub(TABLE_FOOTER)?, len);
    let count: [u8; 4] = footer.get(..4)?.try_into().ok()?;
    let entry = if footer.get(4)? & 0x80 != 0 { 12 } else { TABLE_ENTRY };
    let entries = u64::from(u32::from_le_bytes(count)).saturating_mul(entry);
    let size = entries.saturating_add(TABLE_FOOTER).saturating_add(8);
    let start = len.checked_sub(size).filter(|_| footer.ends_with(&ZSTD_SEEKABLE_MAGIC))?;
    (skippable_end(source, start) == Some(len)).then(|| stored(start, len))
}

/// Writes frames of at most 2 MiB.
#[derive(Default)]
pub struct Writer {
    pending: Vec<u8>,
    out: Vec<u8>,
}

impl Writer {
    /// Adds bytes; returns how many are stored so far.
    pub fn push(&mut self, mut bytes: &[u8]) -> usize {
        while !bytes.is_empty() {
            let room = FRAME_EXPANDED.saturating_sub(self.pending.len());
            let (now, later) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
            self.pending.extend_from_slice(now);
            bytes = later;
            if self.pending.len() == FRAME_EXPANDED {
                self.flush();
            }
        }
        self.out.len()
    }

    fn flush(&mut self) {
        if !self.pending.is_empty() {
            let level = ruzstd::encoding::CompressionLevel::Fastest;
            self.out.extend(ruzstd::encoding::compress_to_vec(self.pending.as_slice(), level));
            self.pending.clear();
        }
    }

    /// All frames.
    pub fn finish(mut self) -> Vec<u8> {
        self.flush();
        self.out
    }
}

/// Compressed and expanded lengths of the frames in `source`.
pub fn frame_lengths(source: &Source<'_>, limits: &Limits) -> Vec<(u64, u64)> {
    let mut frames = Frames::new(source, limits);
    let mut lengths: Vec<(u64, u64)> = Vec::new();
    let (mut seen, mut reuse) = (0, Vec::new());
    while let Some(block) = frames.next(reuse) {
        if frames.frames > seen {
            seen = frames.frames;
            lengths.push((block.stored.map_or(0, |stored| stored.len()), 0));
        }
        if let Some((_, sum)) = lengths.last_mut() {
            *sum = sum.saturating_add(to_u64(block.bytes.len()));
        }
        reuse = block.bytes;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that compress a little.
    fn noise(len: u32) -> Vec<u8> {
        (0..len).map(|i| i.wrapping_mul(i).to_le_bytes()[1] & 0x3f).collect()
    }

    #[test]
    fn frames_are_written_read_and_found_again() {
        let bytes = noise(5_000_000_u32);
        let mut writer = Writer::default();
        bytes.chunks(123_456).for_each(|piece| _ = writer.push(piece));
        let mut file = writer.finish();
        let lengths = frame_lengths(&Source::new(&file), &Limits::default());
        assert_eq!(
            lengths.iter().map(|(_, len)| *len).collect::<Vec<_>>(),
            [2 << 20, 2 << 20, 5_000_000 - (4 << 20)]
        );
        assert_eq!(lengths.iter().map(|(len, _)| *len).sum::<u64>(), to_u64(file.len()));
        file.extend(table(&lengths));
        let source = Source::new(&file);
        assert!(table_span(&source).is_some());
        let mut frames = Frames::new(&source, &Limits::default());
        let mut again = Vec::new();
        while let Some(block) = frames.next(Vec::new()) {
            assert_eq!(block.fault, None);
            again.extend(block.bytes);
        }
        assert!(again == bytes);
        // Damage in the second frame leaves the third.
        let second = crate::kit::num::to_usize(lengths[0].0);
        file[second + 6..second + 40].fill(0xff);
        let source = Source::new(&file);
        let mut frames = Frames::new(&source, &Limits::default());
        let (mut faults, mut last) = (Vec::new(), 0);
        while let Some(block) = frames.next(Vec::new()) {
            faults.extend(block.fault);
            last = block.bytes.last().copied().unwrap_or(last);
        }
        assert!(matches!(faults[..], [Fault::Corrupt { .. }]), "{faults:?}");
        assert_eq!(Some(&last), bytes.last());
    }
}
