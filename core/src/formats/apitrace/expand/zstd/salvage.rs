//! The bytes of a damaged frame that can still be expanded.
//!
//! Each header of a block leads to the next block, and the last one to the end of the frame: a
//! chain of 22 bits that fit by chance once in millions. So the first block is found without the
//! header of the frame, and the next one after a damaged header of a block.

use std::ops::Range;

use super::frame::{
    BLOCK_HEADER_LEN, CHECKSUM_LEN, HEADER_MAX, believable_end, first_block, is_compressed, is_run,
};
use crate::kit::expand::zstd::PartialExpander;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;

/// Bytes of the stream that are kept of a damaged frame: apitrace writes frames of 2 MiB.
const SALVAGED_MAX: usize = 8 << 20;
/// Headers of blocks that are looked at to find the blocks of a frame, at most.
const HEADERS_MAX: u64 = 1 << 20;
/// The same for each byte of a frame: a search looks at two or three per byte and damaged block.
const HEADERS_PER_BYTE: u64 = 16;
/// The same for the smallest frame.
const HEADERS_MIN: u64 = 1 << 10;
/// Blocks that follow one another although the last of them does not lead to the end.
const BLOCKS_PROVEN: u64 = 2;
/// Length of magic, descriptor and window: the header of a frame as streams have it.
const STREAM_HEADER_LEN: u64 = 6;

/// The rest of a damaged frame.
#[derive(Debug, Default)]
pub(super) struct Salvage {
    /// Bytes before the first fault.
    pub(super) sound: Vec<u8>,
    /// Bytes after it.
    pub(super) after_fault: Vec<u8>,
    /// Whether the blocks lead to the end of the frame.
    pub(super) is_complete: bool,
}

/// Expands the frame in `frame` of the file without its first `given` bytes. `is_truncated`: the
/// file may end inside its last block.
pub(super) fn salvage_frame(
    source: &Source<'_>,
    frame: Range<u64>,
    window: u64,
    given: u64,
    is_truncated: bool,
) -> Salvage {
    let left = headers_max(frame.end.saturating_sub(frame.start));
    let mut chain = Chain { source, end: frame.end, left };
    let mut expander = PartialExpander::new(window);
    let mut salvage = Salvage::default();
    let (mut at, mut skip, mut is_faulty) = (chain.find_first(frame.start), given, false);
    while at < frame.end && !salvage.is_complete {
        // A damaged block breaks the chain of the sound one before it.
        let mut is_sound = |stated: &u64| {
            is_compressed(source, at) && expander.is_sound(&source.read(at, *stated))
        };
        let found = chain.find_next(at);
        let stated = chain.stated_end(at).filter(|stated| found != Some(*stated));
        let next = stated.filter(&mut is_sound).or(found);
        salvage.is_complete = next.is_some_and(|next| chain.is_end(next));
        let Some(next) = next.or((!is_truncated).then_some(frame.end)) else { break };
        let mut block = expander.expand(&source.read(at, next));
        at = next;
        let passed = to_usize(skip).min(block.sound.len());
        skip = skip.saturating_sub(to_u64(passed));
        block.sound.drain(..passed);
        if !is_faulty {
            salvage.sound.append(&mut block.sound);
            is_faulty = block.is_faulty;
        }
        salvage.after_fault.append(&mut block.sound);
        salvage.after_fault.append(&mut block.after_fault);
        if salvage.sound.len().saturating_add(salvage.after_fault.len()) > SALVAGED_MAX {
            break;
        }
    }
    salvage
}

/// Headers that are looked at in a frame of `len` bytes.
fn headers_max(len: u64) -> u64 {
    len.saturating_mul(HEADERS_PER_BYTE).clamp(HEADERS_MIN, HEADERS_MAX)
}

/// The headers of the blocks of a frame.
struct Chain<'s, 'a> {
    source: &'s Source<'a>,
    /// Where the frame ends.
    end: u64,
    /// Headers that may still be looked at.
    left: u64,
}

impl Chain<'_, '_> {
    /// Whether the frame may end with the block that ends at `at`.
    fn is_end(&self, at: u64) -> bool {
        at == self.end || at.saturating_add(CHECKSUM_LEN) == self.end
    }

    /// Follows the blocks from `at` on; returns how many follow one another, and whether they lead
    /// to the end.
    fn follow(&mut self, mut at: u64) -> (u64, bool) {
        let mut blocks = 0_u64;
        while self.left > 0 {
            self.left = self.left.saturating_sub(1);
            match believable_end(self.source, at).filter(|(next, _)| *next <= self.end) {
                Some((next, true)) => return (blocks, self.is_end(next)),
                Some((next, false)) => at = next,
                None => break,
            }
            blocks = blocks.saturating_add(1);
        }
        (blocks, false)
    }

    fn leads_to_end(&mut self, at: u64) -> bool {
        self.follow(at).1
    }

    /// Returns where the block at `at` ends by its header, unless it is the last one.
    fn stated_end(&self, at: u64) -> Option<u64> {
        let stated = believable_end(self.source, at);
        stated.filter(|(next, is_last)| *next < self.end && !is_last).map(|(next, _)| next)
    }

    /// Returns where the first block begins.
    fn find_first(&mut self, start: u64) -> u64 {
        let by_header = first_block(self.source, start);
        let usual = start.saturating_add(STREAM_HEADER_LEN);
        let others = start..start.saturating_add(HEADER_MAX).min(self.end);
        let mut candidates = by_header.into_iter().chain([usual]).chain(others);
        let found = candidates.find(|at| self.leads_to_end(*at));
        found.or(by_header).unwrap_or(usual).min(self.end)
    }

    /// Returns the first of some places from which blocks lead to the end.
    fn find_chain(&mut self, places: Range<u64>) -> Option<u64> {
        for at in places {
            if self.left == 0 {
                break;
            }
            self.left = self.left.saturating_sub(1);
            // The header of a run fits one place in eight: its size is that of no stored bytes.
            if !is_run(self.source, at) && self.leads_to_end(at) {
                return Some(at);
            }
        }
        None
    }

    /// Returns where the block at `at` ends: by its header, or where the next chain begins; `None`
    /// if it is the last one and the file ends first.
    fn find_next(&mut self, at: u64) -> Option<u64> {
        let stated = believable_end(self.source, at).filter(|(next, _)| *next <= self.end);
        let is_proven = stated.is_some_and(|(next, is_last)| match is_last {
            true => self.is_end(next),
            false => {
                let (blocks, is_end) = self.follow(next);
                is_end || blocks >= BLOCKS_PROVEN
            }
        });
        if is_proven {
            return stated.map(|(next, _)| next);
        }
        let from = at.saturating_add(BLOCK_HEADER_LEN);
        let proven = self.find_chain(from..self.end.saturating_sub(BLOCK_HEADER_LEN));
        // A last block that does not end with the frame is longer than it states.
        let stated = stated.filter(|(_, is_last)| !is_last);
        proven.or(stated.map(|(next, _)| next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::apitrace::expand::zstd::frame::{block_end, end_without_magic};

    #[test]
    fn a_small_frame_gets_fewer_headers_than_a_large_one() {
        assert_eq!(headers_max(0), HEADERS_MIN);
        assert_eq!(headers_max(1_000), 16_000);
        assert_eq!(headers_max(4 << 20), HEADERS_MAX);
    }

    #[test]
    fn without_headers_left_no_place_is_looked_at() {
        // Blocks of one byte each.
        let blocks = [8, 0, 0, 0].repeat(1_500);
        let source = Source::new(&blocks);
        let mut chain = Chain { source: &source, end: 6_000, left: 0 };
        assert_eq!(chain.find_chain(0..6_000), None);
        // The last block of a frame, with no bytes, and the checksum after it.
        let last = [&blocks, &[1, 0, 0][..], &[0; 4]].concat();
        let source = Source::new(&last);
        let mut chain = Chain { source: &source, end: 6_007, left: headers_max(6_007) };
        let left = chain.left;
        assert_eq!(chain.find_chain(1..6_000), Some(4));
        assert!(chain.left < left - 1_400, "{}", left - chain.left);
        // Zeros are empty blocks, which lead nowhere.
        let zeros = [&[0; 6_000][..], &[1, 0, 0], &[0; 4]].concat();
        let source = Source::new(&zeros);
        let mut chain = Chain { source: &source, end: 6_007, left: headers_max(6_007) };
        assert_eq!(chain.find_chain(1..6_000), None);
    }

    #[test]
    fn zeros_are_no_blocks_that_follow_one_another() {
        let zeros = [0; 3_000];
        let source = Source::new(&zeros);
        let chain = Chain { source: &source, end: 3_000, left: 0 };
        // A decoder takes each for an empty block.
        assert_eq!(block_end(&source, 0), Some((3, false)));
        assert_eq!((chain.stated_end(0), end_without_magic(&source, 0)), (None, None));
    }
}
