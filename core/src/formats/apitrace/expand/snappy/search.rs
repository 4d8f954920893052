//! Where the next chunk begins after one whose length is wrong.

use super::block::{self, expanded_max, stated_len};
use super::{CHUNKS_MAX, Chunks, chunk_len};
use crate::formats::apitrace::layout::{
    CHUNK_EXPANDED, CHUNK_HEADER_LEN, CHUNK_STORED_MAX, FULL_CHUNK, MAGIC_LEN, SNAPPY_MAGIC,
    VERSION_MAX,
};
use crate::kit::num::to_u64;
use crate::kit::resync::{Proof, Resync, Search};
use crate::kit::source::Source;
use crate::model::limits::Limits;

/// The third byte of a length of at most 1,223,370, the fourth being zero.
const LENGTH_THIRD_MAX: u8 = 0x12;

impl Chunks<'_> {
    /// Whether a chunk, a second trace or the end of the file is at `at`.
    pub(super) fn is_followed_at(&self, at: u64) -> bool {
        at == self.source.len() || self.is_sound_at(at) || is_second_trace(&self.source, at)
    }

    /// Whether a chunk begins at `at`: a sound one, or by its form, since two in a row may be
    /// damaged.
    pub(super) fn is_chunk_at(&self, at: u64) -> bool {
        self.is_followed_at(at) || self.has_form_at(at)
    }

    /// Whether a chunk that may be damaged begins at `at`: it states to be a full one, or it ends
    /// where the file does. Of 2^32 places in random bytes, less than one has this form.
    fn has_form_at(&self, at: u64) -> bool {
        let begin = at.saturating_add(CHUNK_HEADER_LEN);
        let head = self.source.read(begin, begin.saturating_add(to_u64(FULL_CHUNK.len())));
        let len = chunk_len(&self.source, at).unwrap_or(0);
        let is_last = begin.saturating_add(len) == self.source.len();
        (head.as_ref() == FULL_CHUNK || is_last) && self.is_plausible_at(at)
    }

    /// Whether the chunk at `at` looks sound by its length and the length that its block states.
    fn is_plausible_at(&self, at: u64) -> bool {
        let len = plausible_len(&self.source, at);
        let next = len.and_then(|len| at.checked_add(CHUNK_HEADER_LEN)?.checked_add(len));
        next.is_some_and(|next| next <= self.source.len())
    }

    /// Whether a sound chunk begins at `at`.
    fn is_sound_at(&self, at: u64) -> bool {
        let len = chunk_len(&self.source, at).filter(|_| self.is_plausible_at(at));
        let Some(len) = len else { return false };
        let begin = at.saturating_add(CHUNK_HEADER_LEN);
        let block = self.source.read(begin, begin.saturating_add(len));
        block::expand(&block, &mut Vec::new())
    }

    /// Searches for a chunk from `from` on.
    pub(super) fn find_chunk(&mut self, from: u64) -> Resync {
        self.find(from, |chunks, at| chunks.is_sound_at(at) || chunks.has_form_at(at))
    }

    /// Searches from `from` on for a place that is a chunk.
    fn find(&mut self, from: u64, is_chunk: impl Fn(&Self, u64) -> bool) -> Resync {
        let mut budget = self.budget;
        let end = self.source.len().saturating_sub(CHUNK_HEADER_LEN);
        let search = Search { source: &self.source, area: from..end, stride: 1, header_len: 5 };
        let found = search.find(
            &mut budget,
            // A chunk is not empty: zeros are none, of which a disk may add gigabytes.
            |header| {
                matches!(header, [first, second, third, 0, _]
                if *third <= LENGTH_THIRD_MAX && [*first, *second, *third] != [0; 3])
            },
            |at, _| if is_chunk(self, at) { Proof::Valid } else { Proof::Invalid },
        );
        self.budget = budget;
        found
    }
}

/// Whether a complete trace begins at `at`: magic, a chunk that decodes, a version.
pub(super) fn is_second_trace(source: &Source<'_>, at: u64) -> bool {
    let head = source.read(at, at.saturating_add(MAGIC_LEN));
    if head.as_ref() != SNAPPY_MAGIC {
        return false;
    }
    let first = at.saturating_add(MAGIC_LEN);
    let Some(len) = chunk_len(source, first).filter(|len| *len <= CHUNK_STORED_MAX) else {
        return false;
    };
    let begin = first.saturating_add(CHUNK_HEADER_LEN);
    let block = source.read(begin, begin.saturating_add(len));
    let mut bytes = Vec::new();
    to_u64(block.len()) == len
        && block::expand(&block, &mut bytes)
        && bytes.first().is_some_and(|version| u64::from(*version) <= VERSION_MAX)
}

/// Returns the compressed length of the chunk at `at` if the length that its block states fits it.
pub fn plausible_len(source: &Source<'_>, at: u64) -> Option<u64> {
    let len = chunk_len(source, at).filter(|len| (2..=CHUNK_STORED_MAX).contains(len))?;
    let begin = at.saturating_add(CHUNK_HEADER_LEN);
    let (expanded, skip) = stated_len(&source.read(begin, begin.saturating_add(5)))?;
    let body = len.saturating_sub(to_u64(skip));
    // A block is at most a sixth longer than its bytes.
    let most = expanded.saturating_add(expanded / 6).saturating_add(32);
    let fits = (1..=CHUNK_EXPANDED).contains(&expanded) && body <= most;
    (fits && expanded <= expanded_max(body)).then_some(len)
}

/// Whether chunks follow the place of the magic: one that decodes, or two of which the first is
/// plausible; or one that decodes somewhere in the first bytes.
pub(in crate::formats::apitrace::expand) fn has_chunks(source: &Source<'_>) -> bool {
    let chunks = Chunks::new(source, &Limits::default());
    let len = chunk_len(source, MAGIC_LEN);
    let next = MAGIC_LEN.saturating_add(CHUNK_HEADER_LEN).saturating_add(len.unwrap_or(0));
    // The first chunk may be lost: the second one has to be in the first bytes.
    let start = Source::from_pieces(source.slices(0, CHUNKS_MAX));
    let finds_chunk =
        || Chunks::new(&start, &Limits::default()).find(MAGIC_LEN, Chunks::is_sound_at).found();
    chunks.is_sound_at(MAGIC_LEN)
        || (chunks.is_plausible_at(MAGIC_LEN)
            && next < source.len()
            && chunks.is_plausible_at(next))
        || finds_chunk().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_plausible_up_to_a_sixth_more_than_its_bytes() {
        let is_plausible = |body: u16| {
            // The block states 600 bytes.
            let len = (u32::from(body) + 2).to_le_bytes();
            let file = [len.as_slice(), &[0xd8, 0x04], &vec![0; body.into()]].concat();
            Chunks::new(&Source::new(&file), &Limits::default()).is_plausible_at(0)
        };
        assert!(is_plausible(600 + 100 + 32));
        assert!(!is_plausible(600 + 100 + 33));
    }
}
