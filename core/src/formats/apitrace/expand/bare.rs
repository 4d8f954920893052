//! A stream without a container: a browser or a proxy unpacked the gzip around it (apitrace's issue
//! 518).

use super::snappy::plain_header;
use super::{Block, STEP, stored};
use crate::formats::apitrace::layout::{CHUNK_EXPANDED, SNAPPY_MAGIC};
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::model::edit::Edit;

/// The pieces of a file: the places of the stream are those of the file.
pub(super) struct Pieces<'a> {
    source: Source<'a>,
    at: u64,
}

impl<'a> Pieces<'a> {
    /// From the first byte on.
    pub(super) fn new(source: &Source<'a>) -> Self {
        Self { source: source.clone(), at: 0 }
    }

    /// Goes on at `at`.
    pub(super) fn turn_to(&mut self, at: u64) {
        self.at = at;
    }

    /// The next block.
    pub(super) fn next(&mut self, reuse: Vec<u8>) -> Option<Block> {
        let (start, mut bytes) = (self.at, reuse);
        bytes.clear();
        bytes.extend_from_slice(&self.source.read(start, start.saturating_add(to_u64(STEP))));
        self.at = start.saturating_add(to_u64(bytes.len()));
        let stored = Some(stored(start, self.at));
        (!bytes.is_empty()).then_some(Block {
            start,
            bytes,
            stored,
            unit: (start, start),
            ..Block::default()
        })
    }
}

/// Returns the edits that make snappy chunks of a stream of `len` bytes, each of which stays:
/// snappy can store bytes as they are.
pub fn add_chunks(len: u64) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut at = 0;
    while at < len {
        let header = plain_header(len.saturating_sub(at).min(CHUNK_EXPANDED));
        let magic: &[u8] = if at == 0 { &SNAPPY_MAGIC } else { &[] };
        edits.push(Edit::replace(stored(at, at), [magic, &header].concat()));
        at = at.saturating_add(CHUNK_EXPANDED);
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::super::Container;
    use super::super::tests::expand_all;
    use super::*;
    use crate::kit::num::to_usize;

    #[test]
    fn the_chunks_of_every_length_hold_the_stream() {
        let full = to_usize(CHUNK_EXPANDED);
        for len in [1, 59, 60, 61, 256, 257, 65_536, 65_537, full - 1, full, full + 1, 3 * full] {
            let stream: Vec<u8> = (0..len).map(|at| at.to_le_bytes()[0]).collect();
            let mut file = Vec::new();
            let mut at = 0;
            for edit in add_chunks(to_u64(len)) {
                file.extend(&stream[at..to_usize(edit.span.start)]);
                file.extend(&edit.insert);
                at = to_usize(edit.span.start);
            }
            file.extend(&stream[at..]);
            assert!(expand_all(&file, Container::Snappy) == (stream.clone(), vec![]), "{len}");
            assert_eq!(snap_len(&file), Some(len.min(full)), "{len}");
            assert!(expand_all(&stream, Container::Bare) == (stream, vec![]), "{len}");
        }
    }

    /// The length of the first chunk, by the decoder of another author.
    fn snap_len(file: &[u8]) -> Option<usize> {
        let (len, rest) = file.get(2..)?.split_first_chunk()?;
        let block = rest.get(..usize::try_from(u32::from_le_bytes(*len)).ok()?)?;
        snap::raw::Decoder::new().decompress_vec(block).ok().map(|bytes| bytes.len())
    }
}
