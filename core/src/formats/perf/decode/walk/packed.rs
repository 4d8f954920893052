//! A compressed record whose header is damaged: its zstd blocks show where it ends, since each has
//! its length in its first bytes.

use super::{Reach, Walker};
use crate::formats::perf::decode::expand::{Wrapper, begins_frame};
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::frame::{Frame, any_frame};
use crate::formats::perf::decode::record;
use crate::formats::perf::layout::{RECORD_HEADER, record::ANY_BODY};
use crate::kit::expand::zstd::block_ends;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::resync::{Proof, follow};

/// The least size of a record of another type that is taken for a compressed one: blocks of one
/// byte look like many records.
const LEAST: u64 = RECORD_HEADER + 8;

impl<'a> Walker<'a> {
    /// Reads the record at the position as a compressed one with another header: its blocks do not
    /// end with it, or it has a type whose fields it does not have.
    #[inline]
    pub(super) fn read_as_packed(&mut self, record: &Record<'a>) -> Option<Record<'a>> {
        let wrapper = self.expected_wrapper(&record.bytes)?;
        let is_filled = is_filled(&record.bytes, wrapper);
        match Wrapper::of(record.frame.kind) == Some(wrapper) {
            true if is_filled => None,
            true => self.with_packed_size(record),
            false if is_filled => self.with_packed_type(record, wrapper),
            false => None,
        }
    }

    /// If another record follows it, bytes of the last block may be lost, so that the block seems
    /// to end after that record.
    #[cold]
    fn with_packed_size(&mut self, record: &Record<'_>) -> Option<Record<'a>> {
        let packed = self.read_packed(self.at)?;
        let is_shorter = packed.frame.size < record.frame.size;
        (is_shorter || !self.is_followed_by_any(record)).then_some(packed)
    }

    #[cold]
    fn with_packed_type(&self, record: &Record<'a>, wrapper: Wrapper) -> Option<Record<'a>> {
        let found = record.frame;
        // No other record begins a zstd frame; other bytes may look like a block.
        let is_doubtful = self.past.packed.is_some()
            && record::name(found.kind).is_some()
            && !ANY_BODY.contains(&found.kind);
        let is_own = || self.evidence().fits(&record.view(self.layer, 0));
        if found.size < LEAST || is_doubtful && is_own() {
            return None;
        }
        let frame = Frame { kind: wrapper.kind(), misc: self.packed_misc(), ..found };
        Some(Record { frame, found: Some(found), outside: 0, ..record.clone() })
    }

    /// Returns the end of a damaged FINISHED_ROUND at `start`, if a compressed record with a
    /// damaged header follows it.
    pub(super) fn find_packed_after(&mut self, start: u64) -> Option<u64> {
        let at = start.saturating_add(RECORD_HEADER);
        self.read_packed(at).map(|packed| packed.offset)
    }

    /// Reads a record at `at` as a compressed one, whatever its header is: its blocks end where
    /// other records begin.
    #[cold]
    pub(super) fn read_packed(&mut self, at: u64) -> Option<Record<'a>> {
        let most = at.saturating_add(u16::MAX.into()).min(self.end);
        let room = self.source.read(at.min(most), most);
        let wrapper = self.expected_wrapper(&room)?;
        let mut sizes = sizes(&room, wrapper);
        let size = sizes.find(|size| self.begins_records(at.saturating_add(*size)))?;
        let frame = Frame { kind: wrapper.kind(), misc: self.packed_misc(), size };
        let found = any_frame(&room, self.dialect.order)?;
        let bytes = self.source.read(at, at.saturating_add(size));
        let record = Record { frame, found: Some(found), offset: at, bytes, outside: 0 };
        (found != frame).then_some(record)
    }

    /// Returns the type of the compressed records: that of the last one, or of the one in `bytes`
    /// if a zstd frame begins in it.
    #[inline]
    fn expected_wrapper(&self, bytes: &[u8]) -> Option<Wrapper> {
        let begins =
            |wrapper: &Wrapper| bytes.get(to_usize(wrapper.head_len())..).is_some_and(begins_frame);
        match self.past.packed {
            Some(packed) => Wrapper::of(packed.kind),
            None => [Wrapper::Compressed, Wrapper::Compressed2].into_iter().find(begins),
        }
    }

    /// perf writes the same `misc` into all compressed records.
    fn packed_misc(&self) -> u16 {
        self.past.packed.map_or(0, |packed| packed.misc)
    }

    /// Whether records follow one another from `at` on.
    fn begins_records(&mut self, at: u64) -> bool {
        let (mut budget, reach) = (self.budget, Reach::Few);
        let step = |seen, at| self.step((seen, at), reach);
        let proof = follow(at, reach.most_records(), 0, &mut budget, step);
        self.budget = budget;
        proof == Proof::Valid
    }
}

/// Returns the sizes that a compressed record in `bytes` can have: a block ends there.
fn sizes(bytes: &[u8], wrapper: Wrapper) -> impl Iterator<Item = u64> {
    let data = bytes.get(to_usize(wrapper.head_len())..).unwrap_or_default();
    let ends = block_ends(data, !begins_frame(data));
    ends.map(move |end| wrapper.size_with(to_u64(end)))
}

/// Whether the last block of a compressed record ends with it.
fn is_filled(record: &[u8], wrapper: Wrapper) -> bool {
    sizes(record, wrapper).any(|size| size == to_u64(record.len()))
}
