//! zstd frames (RFC 8878), sometimes with a seek table after them.
//!
//! apitrace writes frames of 2 MiB of the stream, without checksums, and a skippable frame with the
//! seek table at the end (`trace_ostream_zstd.cpp`, zstd's `contrib/seekable_format`); a crashed
//! program leaves the frames alone. The frames are found by the headers of their blocks, so that
//! each can be expanded, and written anew, by itself.
//!
//! - `frame`: where a frame ends
//! - `salvage`: the rest of a damaged frame
//! - `seek_table`: the table at the end of a file
//! - `writer`: writes frames

mod frame;
mod salvage;
mod seek_table;
mod writer;

pub use seek_table::{encode_seek_table, seek_table_span};
pub(super) use writer::writer;

use super::blank::Blank;
use super::{Block, Fault, STEP, stored};
use crate::formats::apitrace::layout::{ZSTD_MAGIC, ZSTD_SEEKABLE_MAGIC};
use crate::kit::expand::zstd::{Expander, Fault as ExpandFault};
use crate::kit::num::to_u64;
use crate::kit::resync::{Budget, Proof, Resync, Search};
use crate::kit::source::Source;
use crate::model::limits::{Limits, ZSTD_WINDOW};
pub use frame::begins_frame;
use frame::{end_without_magic, frame_end, has_first_block, skippable_end};
use salvage::{Salvage, salvage_frame};
use seek_table::{TABLE_FOOTER_LEN, TABLE_MAGIC};

/// Stored bytes of a damaged frame that are expanded at once: apitrace's have 2 MiB at most.
const SALVAGED_MAX: u64 = 4 << 20;

/// First bytes of a file in which a frame has to begin.
const FRAMES_WITHIN: u64 = 4 << 20;

/// A frame that is being expanded.
struct OpenFrame {
    expander: Expander,
    /// Where it ends in the file.
    end: u64,
    /// The next byte for the expander.
    fed: u64,
    /// Where it begins in the stream.
    start: u64,
    /// Bytes of the stream that the expander gave.
    given: u64,
    fault: Option<Fault>,
    salvage: Salvage,
}

/// The frames of a file.
pub(super) struct Frames<'a> {
    source: Source<'a>,
    at: u64,
    blank: Blank,
    expanded: u64,
    window_max: u64,
    /// The work that searches for the next frame may still do.
    budget: Budget,
    open: Option<OpenFrame>,
    /// The expander of the last frame.
    spare: Option<Expander>,
    /// The bytes after the fault of the frame that was given last.
    after_fault: Option<Block>,
    /// Frames so far, if they were counted from the first one on.
    frames: Option<u64>,
}

impl<'a> Frames<'a> {
    /// The frames from the first one on.
    pub(super) fn new(source: &Source<'a>, limits: &Limits) -> Self {
        Self {
            source: source.clone(),
            at: 0,
            blank: Blank::of(source),
            expanded: 0,
            window_max: limits.of(&ZSTD_WINDOW),
            budget: super::search_budget(limits),
            open: None,
            spare: None,
            after_fault: None,
            frames: Some(0),
        }
    }

    /// Continues with the frame at `stored`, whose first byte is `expanded` of the stream.
    pub(super) fn turn_to(&mut self, stored: u64, expanded: u64) {
        (self.at, self.expanded) = (stored, expanded);
        self.frames = self.frames.filter(|_| stored == 0);
        (self.open, self.after_fault) = (None, None);
    }

    /// Returns the next block.
    pub(super) fn next(&mut self, reuse: Vec<u8>) -> Option<Block> {
        if let Some(block) = self.after_fault.take() {
            return Some(block);
        }
        let mut bytes = reuse;
        bytes.clear();
        let mut open = match self.open.take() {
            Some(open) => open,
            None => {
                if self.at >= self.source.len() {
                    return None;
                }
                if self.at >= self.blank.start {
                    let fault = self.blank.fault_after_end(self.at);
                    return Some(self.skippable_block(bytes, self.source.len(), Some(fault)));
                }
                let skippable = skippable_end(&self.source, self.at);
                if let Some(end) = skippable.filter(|end| !self.blank.cuts(*end)) {
                    let fault = self.check_seek_table(end);
                    return Some(self.skippable_block(bytes, end, fault));
                }
                self.open_frame()
            }
        };
        let is_done = self.expand_into(&mut open, &mut bytes);
        let block = Block {
            start: self.expanded,
            bytes,
            stored: Some(stored(self.at, open.end)),
            unit: (self.at, open.start),
            fault: if is_done { open.fault.take() } else { None },
            ..Block::default()
        };
        self.expanded = block.end();
        if is_done {
            self.at = open.end;
            self.spare = Some(open.expander);
            self.give_after_fault(&block, open.salvage.after_fault);
        } else {
            self.open = Some(open);
        }
        Some(block)
    }

    /// Gives the bytes after the fault in `block` next, if there are any.
    fn give_after_fault(&mut self, block: &Block, bytes: Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let start = self.expanded;
        self.expanded = start.saturating_add(to_u64(bytes.len()));
        let (stored, unit) = (block.stored, block.unit);
        self.after_fault =
            Some(Block { start, bytes, stored, unit, fault: None, ..Block::default() });
    }

    /// Returns an expander for the next frame.
    fn expander(&mut self) -> Expander {
        let mut expander = self.spare.take().unwrap_or_else(|| Expander::new(self.window_max));
        expander.restart();
        expander
    }

    fn open_frame(&mut self) -> OpenFrame {
        if let Some(open) = self.open_frame_without_magic() {
            return open;
        }
        let end = frame_end(&self.source, self.at).filter(|end| !self.blank.cuts(*end));
        let (end, fault) = match end {
            Some(end) => (end, None),
            None => {
                let next = self.find_frame(self.at.saturating_add(1));
                let fault = match next {
                    Resync::LimitReached(_) => Fault::SearchEnded,
                    Resync::NotFound => Fault::Truncated { stated: None },
                    Resync::Found(_) => {
                        let detail = "its blocks do not lead to the next frame".to_string();
                        Fault::Corrupt { detail }
                    }
                };
                (next.found().unwrap_or(self.source.len()), Some(fault))
            }
        };
        self.frames = self.frames.map(|count| count.saturating_add(1));
        let expander = self.expander();
        let (start, salvage) = (self.expanded, Salvage::default());
        let mut open = OpenFrame { expander, end, fed: self.at, start, given: 0, fault, salvage };
        // A block whose length is wrong may still decode, to other bytes.
        let is_small = end.saturating_sub(self.at) <= SALVAGED_MAX;
        if is_small && matches!(open.fault, Some(Fault::Corrupt { .. })) {
            open.fed = end;
            open.salvage = salvage_frame(&self.source, self.at..end, self.window_max, 0, false);
        }
        open
    }

    /// Opens a frame of which nothing but the magic is wrong.
    fn open_frame_without_magic(&mut self) -> Option<OpenFrame> {
        let magic_len = to_u64(ZSTD_MAGIC.len());
        let data = self.at.saturating_add(magic_len);
        if self.source.read(self.at, data).as_ref() == ZSTD_MAGIC {
            return None;
        }
        let end = end_without_magic(&self.source, self.at)?;
        let mut expander = self.expander();
        expander.feed(&ZSTD_MAGIC).ok()?;
        self.frames = self.frames.map(|count| count.saturating_add(1));
        let (start, salvage) = (self.expanded, Salvage::default());
        let fault = Some(Fault::Header { data });
        Some(OpenFrame { expander, end, fed: data, start, given: 0, fault, salvage })
    }

    /// Fills `bytes` from the frame; `true` if the frame is done.
    fn expand_into(&mut self, open: &mut OpenFrame, bytes: &mut Vec<u8>) -> bool {
        loop {
            let room = STEP.saturating_sub(bytes.len());
            if room == 0 {
                return false;
            }
            let made = open.expander.take(bytes, room);
            open.given = open.given.saturating_add(to_u64(made));
            if made > 0 {
                continue;
            }
            let end = self.written_end(open);
            let slice = self.source.slices(open.fed, end).next().unwrap_or_default();
            if slice.is_empty() {
                open.expander.finish();
                let made = open.expander.take(bytes, room);
                open.given = open.given.saturating_add(to_u64(made));
                if made > 0 {
                    continue;
                }
                // A salvaged frame is small.
                bytes.append(&mut open.salvage.sound);
                return true;
            }
            match open.expander.feed(slice) {
                Ok(fed) => {
                    open.fed = open.fed.saturating_add(to_u64(fed.stored));
                    if let Some(wrong) = open.expander.take_wrong_check_sum() {
                        let (stated, found) = (wrong.stated.into(), wrong.found.into());
                        let fault = Fault::Checksum { what: "checksum", stated, found };
                        open.fault.get_or_insert(fault);
                    }
                }
                Err(fault) => {
                    open.fed = open.end;
                    self.add_fault(open, &fault);
                }
            }
        }
    }

    /// Takes a fault that ends the expander of a frame.
    fn add_fault(&mut self, open: &mut OpenFrame, fault: &ExpandFault) {
        if fault.error.is_limit() {
            open.fault = Some(Fault::Limit { message: fault.to_string() });
            return;
        }
        if open.end > self.blank.start {
            open.fault = Some(Fault::Truncated { stated: None });
        }
        let is_truncated = matches!(open.fault, Some(Fault::Truncated { .. }));
        let given = open.given.saturating_add(open.expander.held());
        // Bytes were added: the frame is longer than its blocks state.
        let is_followed = open.end >= self.source.len() || begins_frame(&self.source, open.end);
        if !is_followed {
            open.end = self.find_frame(open.end).found().unwrap_or(self.source.len());
            open.fed = open.end;
        }
        let frame = self.at..self.written_end(open);
        open.salvage = salvage_frame(&self.source, frame, self.window_max, given, is_truncated);
        if !is_truncated || open.salvage.is_complete {
            open.fault = Some(Fault::Corrupt { detail: fault.to_string() });
        }
    }

    /// Returns where the bytes of a frame end that were written.
    fn written_end(&self, open: &OpenFrame) -> u64 {
        match open.fault {
            Some(Fault::Truncated { .. }) => open.end.min(self.blank.start),
            _ => open.end,
        }
    }

    fn skippable_block(&mut self, bytes: Vec<u8>, end: u64, fault: Option<Fault>) -> Block {
        let (stored, unit) = (Some(stored(self.at, end)), (self.at, self.expanded));
        self.at = end;
        Block { start: self.expanded, bytes, stored, unit, fault, ..Block::default() }
    }

    /// Returns the fault of a seek table that ends at `end`.
    fn check_seek_table(&self, end: u64) -> Option<Fault> {
        let head = self.source.read(self.at, self.at.saturating_add(4));
        let footer = self.source.read(end.saturating_sub(TABLE_FOOTER_LEN), end);
        let is_table = head.as_ref() == TABLE_MAGIC && footer.ends_with(&ZSTD_SEEKABLE_MAGIC);
        let (stated, found) = (seek_table::frame_count(&footer)?, self.frames?);
        (is_table && stated != found).then_some(Fault::SeekTable { stated, found })
    }

    /// Searches for the next frame from `from` on.
    fn find_frame(&mut self, from: u64) -> Resync {
        let source = &self.source;
        let search = Search { source, area: from..source.len(), stride: 1, header_len: 4 };
        search.find(
            &mut self.budget,
            |four| four == ZSTD_MAGIC || four == TABLE_MAGIC,
            |at, _| match has_first_block(source, at) {
                true => Proof::Valid,
                false => Proof::Invalid,
            },
        )
    }
}

/// Whether frames begin somewhere in the first bytes of a file.
pub(super) fn has_frames(source: &Source<'_>) -> bool {
    let start = Source::from_pieces(source.slices(0, FRAMES_WITHIN));
    if end_without_magic(&start, 0).is_some() {
        return true;
    }
    let mut frames = Frames::new(&start, &Limits::default());
    frames.find_frame(0).found().is_some()
}

/// Returns the compressed and expanded length of each frame in `source`.
pub fn frame_lengths(source: &Source<'_>, limits: &Limits) -> Vec<(u64, u64)> {
    let mut frames = Frames::new(source, limits);
    let mut lengths: Vec<(u64, u64)> = Vec::new();
    let (mut seen, mut reuse) = (Some(0), Vec::new());
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
        let mut writer = writer();
        bytes.chunks(123_456).for_each(|piece| _ = writer.push(piece));
        let mut file = writer.finish();
        let lengths = frame_lengths(&Source::new(&file), &Limits::default());
        assert_eq!(
            lengths.iter().map(|(_, len)| *len).collect::<Vec<_>>(),
            [2 << 20, 2 << 20, 5_000_000 - (4 << 20)]
        );
        assert_eq!(lengths.iter().map(|(len, _)| *len).sum::<u64>(), to_u64(file.len()));
        file.extend(encode_seek_table(&lengths));
        let source = Source::new(&file);
        assert!(seek_table_span(&source).is_some());
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

    #[test]
    fn a_block_before_one_of_another_length_is_kept() {
        let bytes = noise(2 << 20);
        let mut writer = writer();
        writer.push(&bytes);
        let file = writer.finish();
        let mut starts = vec![frame::first_block(&Source::new(&file), 0).unwrap()];
        while let Some((next, false)) =
            frame::block_end(&Source::new(&file), starts[starts.len() - 1])
        {
            starts.push(next);
        }
        let third = crate::kit::num::to_usize(starts[2]);
        let (before, after) = file.split_at(third + 2_000);
        let (added, lost) = (b"added".as_slice(), &after[5..]);
        for damaged in [[before, added, after].concat(), [before, lost].concat()] {
            let source = Source::new(&damaged);
            let mut frames = Frames::new(&source, &Limits::default());
            let first = frames.next(Vec::new()).unwrap();
            let mut given = first.bytes;
            while let Some(block) = frames.next(Vec::new()).filter(|_| given.len() < 2 << 17) {
                given.extend(block.bytes);
            }
            assert!(given.len() >= 2 << 17 && given[..2 << 17] == bytes[..2 << 17]);
        }
    }
}
