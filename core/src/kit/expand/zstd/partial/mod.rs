//! Expands damaged blocks as far as their bytes allow.
//!
//! libzstd gives a block completely or not at all. In a damaged one the literals of other streams,
//! and the sequences before the damage, are still right: sequences are read from the end of a block
//! on, so damage in the middle of their bits leaves the first ones.
//!
//! - `bits`: bits from both ends
//! - `fse`, `huffman`: the codes
//! - `literals`, `sequences`: the sections of a block
//! - `change`: the byte of a block that was changed
//! - `stream`: the blocks of a stream
//!
//! Source: RFC 8878, sections 3.1.1 and 4.

mod bits;
mod change;
mod fse;
mod huffman;
mod literals;
mod sequences;
mod stream;

use super::frame::{BLOCK_HEADER_LEN, BlockHeader};
use crate::kit::num::{to_u64, to_usize};
use huffman::HuffmanTable;
use literals::{Literals, fill_literals, read_literals};
use sequences::{Sequence, Tables, read_sequences};

pub use change::Change;
pub use stream::PartialStream;

/// Upper bound of Block_Maximum_Size.
const BLOCK_MAX: usize = 128 << 10;

/// Bytes of a block in which every place is tried for its sequences.
const SCANNED_MAX: usize = 8 << 10;
/// Fewer sequences than this may be sound by chance.
const PROVEN_MIN: usize = 4;
/// The offsets before the first block (section 3.1.1.5).
const FIRST_OFFSETS: [u64; 3] = [1, 4, 8];

/// Expands the blocks of a frame, damaged or not.
#[derive(Clone)]
pub struct PartialExpander {
    window: usize,
    /// The last bytes that were expanded.
    history: Vec<u8>,
    huffman: Option<HuffmanTable>,
    tables: Tables,
    offsets: [u64; 3],
}

/// The bytes of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialBlock {
    /// Those before the first fault.
    pub sound: Vec<u8>,
    /// Those after it: literals, without the copies among them.
    pub after_fault: Vec<u8>,
    /// Whether the block has a fault.
    pub is_faulty: bool,
}

impl PartialExpander {
    /// An expander at the first block of a frame, which refers to at most `window` bytes.
    pub fn new(window: u64) -> Self {
        Self {
            window: to_usize(window),
            history: Vec::new(),
            huffman: None,
            tables: Tables::default(),
            offsets: FIRST_OFFSETS,
        }
    }

    /// Expands the block in `stored`: header and content.
    pub fn expand(&mut self, stored: &[u8]) -> PartialBlock {
        let block = self.expand_block(stored);
        self.remember(&block.sound);
        self.remember(&block.after_fault);
        block
    }

    /// Expands the block in `stored`, which stays out of the window.
    fn expand_block(&mut self, stored: &[u8]) -> PartialBlock {
        let header = BlockHeader::first(stored);
        let content = stored.get(BLOCK_HEADER_LEN..).unwrap_or_default();
        let mut block = match header {
            Some(header) if header.is_raw() => {
                let sound = content.get(..BLOCK_MAX).unwrap_or(content).to_vec();
                PartialBlock { sound, ..PartialBlock::default() }
            }
            Some(header) if header.is_run() => {
                let len = to_usize(header.size()).min(BLOCK_MAX);
                let sound = content.first().map_or(Vec::new(), |byte| vec![*byte; len]);
                PartialBlock { sound, ..PartialBlock::default() }
            }
            header => {
                let stated = header.map_or(content.len(), |header| to_usize(header.size()));
                self.expand_compressed(content, stated)
            }
        };
        block.is_faulty |= !block.after_fault.is_empty();
        block
    }

    /// Whether the compressed block in `stored`, header and content, has no fault. The expander
    /// stays before it, and nothing of the window is copied.
    pub fn is_sound(&mut self, stored: &[u8]) -> bool {
        let before = (self.huffman.clone(), self.tables.clone(), self.offsets);
        let content = stored.get(BLOCK_HEADER_LEN..).unwrap_or_default();
        let block = self.expand_compressed(content, content.len());
        (self.huffman, self.tables, self.offsets) = before;
        !block.is_faulty && block.after_fault.is_empty()
    }

    fn remember(&mut self, bytes: &[u8]) {
        self.history.extend_from_slice(bytes);
        let most = self.window.max(BLOCK_MAX);
        // Twice the window, so that the bytes are moved seldom.
        if self.history.len() > most.saturating_mul(2) {
            let old = self.history.len().saturating_sub(most);
            self.history.drain(..old);
        }
    }

    /// Expands the block in `stored` whose literals are damaged, with `filler` for each that is
    /// lost; `None` if the literals are not coded, or the sequences are damaged, too. Then the
    /// expander has to be restored.
    fn expand_filled(&mut self, stored: &[u8], filler: u8) -> Option<Vec<u8>> {
        let content = stored.get(BLOCK_HEADER_LEN..)?;
        let literals = fill_literals(content, BLOCK_MAX, filler, &mut self.huffman)?;
        let section = content.get(literals.len..)?;
        let (sequences, is_sound) = read_sequences(section, &mut self.tables);
        let mut copier = Copier { literals, used: 0, out: Vec::new(), sound: None };
        let are_valid = sequences.iter().all(|sequence| self.copy(&mut copier, *sequence));
        copier.take_literals(u64::MAX);
        (is_sound && are_valid).then_some(copier.out)
    }

    /// Expands the content of a compressed block that states `stated` bytes.
    fn expand_compressed(&mut self, content: &[u8], stated: usize) -> PartialBlock {
        let mut block = PartialBlock::default();
        let Some(mut literals) = read_literals(content, BLOCK_MAX, &mut self.huffman) else {
            block.is_faulty = true;
            return block;
        };
        let (sequences, is_sound) = self.find_sequences(content, stated, &mut literals);
        let mut copier = Copier { literals, used: 0, out: Vec::new(), sound: None };
        let are_valid = sequences.iter().all(|sequence| self.copy(&mut copier, *sequence));
        if !is_sound || !are_valid {
            copier.mark_fault();
        }
        copier.take_literals(u64::MAX);
        block.is_faulty = copier.sound.is_some();
        block.after_fault = copier.out.split_off(copier.sound.unwrap_or(copier.out.len()));
        block.sound = copier.out;
        block
    }

    /// Reads the sequences after the literals; the flag is whether they have no fault.
    ///
    /// If they have one, bytes may have been lost or added among literals that are stored as they
    /// are: then the section begins earlier or later, and is sound there to its last bit.
    fn find_sequences(
        &mut self,
        content: &[u8],
        stated: usize,
        literals: &mut Literals,
    ) -> (Vec<Sequence>, bool) {
        let section = |at: usize| content.get(at..).unwrap_or_default();
        let mut tables = self.tables.clone();
        let (found, is_sound) = read_sequences(section(literals.len), &mut tables);
        if !is_sound && literals.is_stored {
            let moved = literals.len.saturating_add(content.len()).checked_sub(stated);
            let scanned = if content.len() <= SCANNED_MAX { 0..content.len() } else { 0..0 };
            let places = moved.into_iter().chain(scanned).filter(|at| *at >= literals.header_len);
            for at in places {
                let mut tables = self.tables.clone();
                let (sequences, is_sound) = read_sequences(section(at), &mut tables);
                if is_sound && self.are_possible(&sequences, literals.bytes.len()) {
                    self.tables = tables;
                    literals.move_end(content, at);
                    return (sequences, true);
                }
            }
        }
        self.tables = tables;
        (found, is_sound)
    }

    /// Whether sequences are many, take at most `literals`, and copy only bytes that there are.
    fn are_possible(&self, sequences: &[Sequence], literals: usize) -> bool {
        let mut offsets = self.offsets;
        let mut left = to_u64(literals);
        let mut made = to_u64(self.history.len().min(self.window));
        let is_possible = |sequence: &Sequence| {
            left = left.checked_sub(sequence.literals)?;
            offsets = offsets_after(offsets, *sequence)?;
            made = made.saturating_add(sequence.literals);
            let [offset, ..] = offsets;
            made.checked_sub(offset)?;
            made = made.saturating_add(sequence.copied);
            Some(())
        };
        sequences.len() >= PROVEN_MIN && sequences.iter().map(is_possible).all(|one| one.is_some())
    }

    /// Does what a sequence says; `false` if it refers to bytes that there are not.
    fn copy(&mut self, copier: &mut Copier, sequence: Sequence) -> bool {
        let left = to_u64(copier.literals.bytes.len().saturating_sub(copier.used));
        let made = to_u64(copier.out.len()).saturating_add(sequence.literals);
        let is_small = made.saturating_add(sequence.copied) <= to_u64(BLOCK_MAX);
        if sequence.literals > left || !is_small {
            return false;
        }
        let offsets = offsets_after(self.offsets, sequence);
        copier.take_literals(sequence.literals);
        let Some(offsets) = offsets else { return false };
        let [offset, ..] = offsets;
        let reach = self.history.len().min(self.window).saturating_add(copier.out.len());
        if offset > to_u64(reach) {
            return false;
        }
        for _ in 0..sequence.copied {
            let back = to_usize(offset);
            let byte = match copier.out.len().checked_sub(back) {
                Some(at) => copier.out.get(at),
                None => {
                    let back = back.saturating_sub(copier.out.len());
                    self.history
                        .get(self.history.len().saturating_sub(back)..)
                        .and_then(<[u8]>::first)
                }
            };
            let Some(byte) = byte.copied() else { return false };
            copier.out.push(byte);
        }
        self.offsets = offsets;
        true
    }
}

/// Returns the recent offsets after a sequence, its own first (section 3.1.1.5).
fn offsets_after(offsets: [u64; 3], sequence: Sequence) -> Option<[u64; 3]> {
    let [first, second, third] = offsets;
    if sequence.offset > 3 {
        return Some([sequence.offset.checked_sub(3)?, first, second]);
    }
    match sequence.offset.checked_sub(u64::from(sequence.literals > 0))? {
        0 => Some(offsets),
        1 => Some([second, first, third]),
        2 => Some([third, first, second]),
        _ => Some([first.checked_sub(1).filter(|offset| *offset > 0)?, first, second]),
    }
}

/// The bytes of a block while its sequences are followed.
struct Copier {
    literals: Literals,
    used: usize,
    out: Vec<u8>,
    /// How many bytes precede the first fault.
    sound: Option<usize>,
}

impl Copier {
    fn mark_fault(&mut self) {
        self.sound.get_or_insert(self.out.len());
    }

    fn take_literals(&mut self, count: u64) {
        let end = self.used.saturating_add(to_usize(count)).min(self.literals.bytes.len());
        let sound = self.literals.sound;
        if end > sound {
            let before = sound.saturating_sub(self.used);
            let at = self.out.len().saturating_add(before);
            self.sound.get_or_insert(at);
        }
        self.out.extend_from_slice(self.literals.bytes.get(self.used..end).unwrap_or_default());
        self.used = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_that_were_used_before_move_to_the_front() {
        let after = |literals, offset| {
            offsets_after([10, 20, 30], Sequence { literals, copied: 3, offset })
        };
        assert_eq!(after(1, 1), Some([10, 20, 30]));
        assert_eq!(after(1, 2), Some([20, 10, 30]));
        assert_eq!(after(1, 3), Some([30, 10, 20]));
        assert_eq!(after(1, 4), Some([1, 10, 20]));
        assert_eq!(after(0, 1), Some([20, 10, 30]));
        assert_eq!(after(0, 2), Some([30, 10, 20]));
        assert_eq!(after(0, 3), Some([9, 10, 20]));
        assert_eq!(offsets_after([1, 2, 3], Sequence { literals: 0, copied: 3, offset: 3 }), None);
    }
}
