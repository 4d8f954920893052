//! Expanded bytes, and the records in them.

use crate::formats::perf::decode::frame::{Dialect, FrameFault, Place, RecordView};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::walk::Item;

/// Consecutive bytes of the expanded layer.
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    pub(super) place: Place,
    pub(super) dialect: Dialect,
}

impl Chunk {
    /// The place after the last byte, which no record number counts.
    pub(super) fn end(&self) -> Place {
        let offset = self.place.offset.saturating_add(to_u64(self.bytes.len()));
        Place { offset, ..self.place }
    }

    /// Walks the complete records. The walk ends at the first incomplete one, or after damage.
    pub(super) fn records(&self) -> ChunkRecords<'_> {
        ChunkRecords { rest: &self.bytes, place: self.place, dialect: self.dialect, is_over: false }
    }
}

/// Walks the complete records of a [`Chunk`].
pub(super) struct ChunkRecords<'a> {
    rest: &'a [u8],
    place: Place,
    dialect: Dialect,
    is_over: bool,
}

/// Expanded bytes that are not a record. The format has no way to find the next one.
#[derive(Clone, Copy, Debug)]
pub struct ExpandedDamage<'a> {
    /// Their place.
    pub place: Place,
    /// The fault at the first byte.
    pub fault: FrameFault,
    /// The rest of the chunk.
    pub bytes: &'a [u8],
}

impl ChunkRecords<'_> {
    /// The place of the next record.
    pub(super) const fn place(&self) -> Place {
        self.place
    }
}

impl<'a> Iterator for ChunkRecords<'a> {
    type Item = Item<RecordView<'a>, ExpandedDamage<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over || self.rest.is_empty() {
            return None;
        }
        let frame = match self.dialect.frame(self.rest) {
            Ok(frame) => frame,
            Err(FrameFault::HeaderTruncated) => return None,
            Err(fault) => {
                self.is_over = true;
                let (place, bytes) = (self.place, self.rest);
                return Some(Item::Damage(ExpandedDamage { place, fault, bytes }));
            }
        };
        let (bytes, rest) = self.rest.split_at_checked(to_usize(frame.size))?;
        let view = RecordView { frame, place: self.place, bytes };
        self.rest = rest;
        self.place.offset = self.place.offset.saturating_add(frame.size);
        self.place.index = self.place.index.saturating_add(1);
        Some(Item::Record(view))
    }
}
