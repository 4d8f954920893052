//! Bytes in pieces: a file on disk, or the result of a patch.
//!
//! A source is a rope of borrowed slices. A mapped file is one piece; a patched file consists of
//! the kept ranges of the original and the inserted bytes between them. The target of a repair can
//! therefore be checked at any size without a copy, before a byte of it is written.

use std::borrow::Cow;
use std::sync::Arc;

use crate::kit::num::{to_u64, to_usize};
use crate::kit::steps;
use crate::kit::watch::{BLOCK_SHIFT, Watch};

/// Pieces from which on a source has an index of them.
const MANY_PIECES: usize = 64;

/// A read-only sequence of bytes, possibly in several pieces, which a clone shares: a redaction has
/// a million.
#[derive(Clone, Debug, Default)]
pub struct Source<'a> {
    /// Offset of the first byte of each piece, and the piece. Pieces adjoin, and none is empty.
    pieces: Arc<[(u64, &'a [u8])]>,
    /// The way to a piece, if there are many.
    index: Option<Arc<BlockIndex>>,
    len: u64,
    absent: bool,
    /// Counts what is read, if somebody waits for it.
    watch: Option<&'a Watch>,
}

impl<'a> Source<'a> {
    /// Creates a source of one piece.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self::from_pieces([bytes])
    }

    /// Creates the concatenation of `pieces`.
    pub fn from_pieces(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let pieces = pieces.into_iter();
        let (mut len, mut placed) = (0_u64, Vec::with_capacity(pieces.size_hint().0));
        for piece in pieces.filter(|piece| !piece.is_empty()) {
            placed.push((len, piece));
            len = len.saturating_add(to_u64(piece.len()));
        }
        let index = BlockIndex::of(&placed, len).map(Arc::new);
        Self { pieces: Arc::from(placed), index, len, ..Self::default() }
    }

    /// Creates the source of a file that does not exist and that a repair may create.
    pub fn absent() -> Self {
        Self { absent: true, ..Self::default() }
    }

    /// Returns the source with a watch, which counts the bytes that walks over it pass.
    #[must_use]
    pub const fn watched(mut self, watch: &'a Watch) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Returns the source with the watch of another one, if it has one.
    #[must_use]
    pub const fn watched_as(mut self, other: &Self) -> Self {
        self.watch = other.watch;
        self
    }

    /// Returns whether the file does not exist; an empty file exists.
    pub const fn is_absent(&self) -> bool {
        self.absent
    }

    /// Returns the length in bytes; 0 to work whose steps are spent, so that its loops end.
    pub fn len(&self) -> u64 {
        if steps::is_spent() { 0 } else { self.len }
    }

    /// Returns whether the length is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the pieces in order.
    pub fn pieces(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.pieces.iter().map(|(_, bytes)| *bytes)
    }

    /// Returns a contiguous slice that begins at `at`, up to the end of the piece or of a block; an
    /// empty one at and after the end of the source.
    pub fn run(&self, at: u64) -> &'a [u8] {
        self.note(at);
        let run = self.rest_of_piece(at);
        let block = (at >> BLOCK_SHIFT).saturating_add(1) << BLOCK_SHIFT;
        run.get(..to_usize(block.saturating_sub(at))).unwrap_or(run)
    }

    /// Returns the longest contiguous slice that begins at `at`.
    fn rest_of_piece(&self, at: u64) -> &'a [u8] {
        steps::count(1);
        if steps::is_spent() {
            return &[];
        }
        let piece = self.index_of(at).and_then(|index| self.pieces.get(index));
        piece
            .and_then(|(start, bytes)| bytes.get(to_usize(at.saturating_sub(*start))..))
            .unwrap_or_default()
    }

    /// Returns the bytes `start..end`, clipped to the source; copied only if they cross pieces.
    ///
    /// The caller bounds the length: a copy is as large as the range.
    pub fn read(&self, start: u64, end: u64) -> Cow<'a, [u8]> {
        let end = end.min(self.len);
        let len = to_usize(end.saturating_sub(start));
        self.note(start);
        if let Some(slice) = self.rest_of_piece(start).get(..len) {
            return Cow::Borrowed(slice);
        }
        steps::count(to_u64(len));
        let mut copy = Vec::with_capacity(len);
        self.slices(start, end).for_each(|slice| copy.extend_from_slice(slice));
        Cow::Owned(copy)
    }

    /// Returns all bytes as one piece of memory.
    pub fn to_vec(&self) -> Vec<u8> {
        self.pieces().collect::<Vec<_>>().concat()
    }

    /// Returns the slices that make up `start..end`, in order, without a copy.
    pub fn slices(&self, start: u64, end: u64) -> impl Iterator<Item = &'a [u8]> + '_ {
        let end = end.min(self.len);
        self.note(start);
        let is_read = !steps::is_spent();
        let first = self.index_of(start).filter(|_| is_read).unwrap_or(self.pieces.len());
        let pieces = self.pieces.get(first..).unwrap_or_default();
        pieces.iter().take_while(move |(at, _)| *at < end).filter_map(move |(at, bytes)| {
            let from = to_usize(start.saturating_sub(*at));
            let until = to_usize(end.saturating_sub(*at)).min(bytes.len());
            bytes.get(from..until).filter(|slice| !slice.is_empty())
        })
    }

    /// Notes where it is read.
    fn note(&self, at: u64) {
        if let Some(watch) = self.watch {
            watch.note(at);
        }
    }

    /// Returns the index of the piece that holds offset `at`.
    fn index_of(&self, at: u64) -> Option<usize> {
        let (from, until) = match &self.index {
            Some(index) => index.near(at),
            None => (0, self.pieces.len()),
        };
        let pieces = self.pieces.get(from..until.min(self.pieces.len()))?;
        let after = pieces.partition_point(|(start, _)| *start <= at);
        from.saturating_add(after).checked_sub(1)
    }
}

/// For blocks of a source, the pieces that begin before them. A redaction has a million of pieces,
/// and a search among all of them for each record would take a third of its time.
#[derive(Clone, Debug)]
struct BlockIndex {
    /// Bytes of a block, as a power of two.
    shift: u32,
    /// For each block, and after the last one, how many pieces begin before it.
    before: Vec<usize>,
}

impl BlockIndex {
    /// The index of a source of many pieces: with as many blocks as pieces, or half of that.
    fn of(pieces: &[(u64, &[u8])], len: u64) -> Option<Self> {
        let count = pieces.len();
        let mean = len.checked_div(to_u64(count))?;
        let shift = mean.checked_ilog2()?.saturating_add(1);
        if count < MANY_PIECES {
            return None;
        }
        let mut before = Vec::with_capacity(count.saturating_add(2));
        for (index, (start, _)) in pieces.iter().enumerate() {
            before.resize(before.len().max(to_usize(start >> shift).saturating_add(1)), index);
        }
        before.push(count);
        Some(Self { shift, before })
    }

    /// Returns the range of pieces among which the last one lies that does not begin after `at`.
    fn near(&self, at: u64) -> (usize, usize) {
        let block = to_usize(at >> self.shift);
        let count = self.before.last().copied().unwrap_or_default();
        let after = |block: usize| self.before.get(block).copied().unwrap_or(count);
        (after(block).saturating_sub(1), after(block.saturating_add(1)))
    }
}

impl<'a> From<&'a [u8]> for Source<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::new(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_across_pieces_is_the_concatenation() {
        let source = Source::from_pieces([b"abc".as_slice(), b"", b"de", b"fgh"]);
        assert_eq!(source.len(), 8);
        for start in 0..9 {
            for end in start..10 {
                let clipped = &b"abcdefgh"[start.min(8)..end.min(8)];
                let (start, end) = (to_u64(start), to_u64(end));
                assert_eq!(&*source.read(start, end), clipped);
                assert_eq!(source.slices(start, end).collect::<Vec<_>>().concat(), clipped);
            }
        }
        assert!(matches!(source.read(3, 5), Cow::Borrowed(b"de")));
        assert!(source.run(8).is_empty() && source.run(u64::MAX).is_empty());
    }

    #[test]
    fn each_byte_of_many_pieces_is_found_whatever_their_lengths() {
        let lens = (0..500_usize).map(|number| match number % 7 {
            0 => number * 3,
            1 => 4_000 / (number + 1),
            _ => number % 3,
        });
        let bytes: Vec<u8> = (0..200_000_u32).map(|number| number.to_le_bytes()[1]).collect();
        let mut rest = bytes.as_slice();
        let mut pieces: Vec<&[u8]> = Vec::new();
        for len in lens {
            let (piece, after) = rest.split_at(len);
            pieces.push(piece);
            rest = after;
        }
        let source = Source::from_pieces(pieces);
        assert!(source.index.is_some());
        let all = source.to_vec();
        for at in 0..all.len() + 3 {
            let expected = all.get(at).copied();
            assert_eq!(source.run(to_u64(at)).first().copied(), expected, "{at}");
            assert_eq!(source.read(to_u64(at), to_u64(at + 1)).first().copied(), expected, "{at}");
        }
    }
}
