//! The literals section of a block (RFC 8878, section 3.1.1.3.1).

use std::ops::Range;

use super::huffman::HuffmanTable;
use crate::kit::expand::zstd::frame::number;
use crate::kit::num::to_usize;

/// The type of literals that are stored as they are.
const STORED: u8 = 0;
/// Bytes of the lengths of the first three streams.
const JUMP_LEN: usize = 6;

/// The literals of a block.
#[derive(Debug, Default)]
pub(super) struct Literals {
    pub(super) bytes: Vec<u8>,
    /// Literals before the first stream that does not end as it should.
    pub(super) sound: usize,
    /// Those of each such stream.
    lost: Vec<Range<usize>>,
    /// Streams that end as they should.
    sound_streams: usize,
    /// Bytes of the section.
    pub(super) len: usize,
    /// Bytes of its header.
    pub(super) header_len: usize,
    /// Whether they are stored as they are.
    pub(super) is_stored: bool,
}

impl Literals {
    /// Whether all streams end as they should.
    pub(super) const fn is_sound(&self) -> bool {
        self.sound >= self.bytes.len()
    }

    /// Takes the literals up to `end` of the block: bytes were lost or added among them, so that
    /// it is not known which are sound.
    pub(super) fn move_end(&mut self, block: &[u8], end: usize) {
        let count = self.bytes.len();
        let stored = block.get(self.header_len..end).unwrap_or_default();
        self.bytes.clear();
        self.bytes.extend_from_slice(stored.get(..count).unwrap_or(stored));
        self.bytes.resize(count, 0);
        self.len = end;
    }
}

struct Header {
    kind: u8,
    /// Bytes of the header.
    len: usize,
    /// Literals.
    count: usize,
    /// Stored bytes after the header.
    stored: usize,
    streams: usize,
}

impl Header {
    fn read(block: &[u8]) -> Option<Self> {
        let first = *block.first()?;
        let (kind, format) = (first & 3, first >> 2 & 3);
        let bits = |len: usize| block.get(..len).map(number);
        let is_coded = kind >= 2;
        let (len, shift, width) = match (is_coded, format) {
            (false, 0 | 2) => (1, 3, 5),
            (false, 1) => (2, 4, 12),
            (false, _) => (3, 4, 20),
            (true, 0 | 1) => (3, 4, 10),
            (true, 2) => (4, 4, 14),
            (true, _) => (5, 4, 18),
        };
        let bits = bits(len)? >> shift;
        let mask = 1_u64.checked_shl(width)?.checked_sub(1)?;
        let count = to_usize(bits & mask);
        let stored = match kind {
            STORED => count,
            1 => 1,
            _ => to_usize(bits >> width & mask),
        };
        let streams = if is_coded && format != 0 { 4 } else { 1 };
        Some(Self { kind, len, count, stored, streams })
    }
}

/// Reads the literals of a block: all of them, or none if the section is invalid. The tree stays in
/// `huffman` for the next block.
pub(super) fn read_literals(
    block: &[u8],
    most: usize,
    huffman: &mut Option<HuffmanTable>,
) -> Option<Literals> {
    let header = Header::read(block).filter(|header| header.count <= most)?;
    let end = header.len.checked_add(header.stored)?;
    let is_stored = header.kind == STORED;
    // Bytes of a block that is too short were lost, or its length is wrong.
    let stored =
        block.get(header.len..end).or_else(|| block.get(header.len..).filter(|_| is_stored))?;
    let mut literals = Literals {
        sound: header.count,
        len: end.min(block.len()),
        header_len: header.len,
        is_stored,
        ..Literals::default()
    };
    match header.kind {
        STORED => literals.bytes.extend_from_slice(stored),
        1 => literals.bytes.resize(header.count, *stored.first()?),
        kind => {
            let mut streams = stored;
            if kind == 2 {
                *huffman = None;
                let (table, len) = HuffmanTable::read(stored)?;
                *huffman = Some(table);
                streams = stored.get(len..)?;
            }
            let huffman = huffman.as_ref()?;
            decode_streams(huffman, streams, &header, &mut literals)?;
        }
    }
    Some(literals)
}

/// Returns the coded literals of a block, each one that is lost as `filler`: those of the one
/// stream that does not end as it should, or all if more do not: then the tree may be damaged.
/// `None` if they are not coded.
pub(super) fn fill_literals(
    block: &[u8],
    most: usize,
    filler: u8,
    huffman: &mut Option<HuffmanTable>,
) -> Option<Literals> {
    /// By a wrong tree, few streams end with their last literal: those without the codes that are
    /// wrong.
    const PROVEN: usize = 3;
    let header = Header::read(block).filter(|header| header.count <= most && header.kind >= 2)?;
    let literals = read_literals(block, most, huffman);
    if let Some(mut literals) = literals.filter(|literals| literals.sound_streams >= PROVEN) {
        for lost in std::mem::take(&mut literals.lost) {
            literals.bytes.get_mut(lost)?.fill(filler);
        }
        literals.sound = header.count;
        return Some(literals);
    }
    *huffman = None;
    let len = header.len.checked_add(header.stored).filter(|len| *len <= block.len())?;
    Some(Literals {
        bytes: vec![filler; header.count],
        sound: header.count,
        len,
        header_len: header.len,
        ..Literals::default()
    })
}

/// Decodes the streams one by one to the bytes of `literals`, and notes those that are unsound.
fn decode_streams(
    huffman: &HuffmanTable,
    stored: &[u8],
    header: &Header,
    literals: &mut Literals,
) -> Option<()> {
    let mut rest = stored;
    let jumps = if header.streams == 4 { rest.split_off(..JUMP_LEN)? } else { &[] };
    let share = header.count.div_ceil(header.streams);
    for index in 0..header.streams {
        let begin = index.saturating_mul(share).min(header.count);
        let count = header.count.saturating_sub(begin).min(share);
        let len = jumps.chunks(2).nth(index).map(|jump| to_usize(number(jump)));
        let len = len.unwrap_or(rest.len()).min(rest.len());
        let stream = rest.split_off(..len).unwrap_or_default();
        if huffman.decode(stream, count, &mut literals.bytes) {
            literals.sound_streams = literals.sound_streams.saturating_add(1);
            continue;
        }
        // Those of the next stream keep their places.
        let end = begin.saturating_add(count);
        literals.bytes.resize(end, 0);
        literals.sound = literals.sound.min(begin);
        literals.lost.push(begin..end);
    }
    Some(())
}
