//! Numbers at any offset of a file.

use std::borrow::Cow;

use crate::formats::perf::decode::attr_bytes::number;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::layout::attr::at as word;
use crate::kit::cursor::Order;
use crate::kit::source::Source;

/// Reads numbers of a file by their offset, without a walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peek<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) order: Order,
}

impl<'a> Peek<'a> {
    /// Length of the file in bytes.
    pub(super) fn len(&self) -> u64 {
        self.source.len()
    }

    /// Reads the u64 at `at`; `None` if it does not lie inside the file.
    pub(super) fn u64(&self, at: u64) -> Option<u64> {
        let bytes = self.source.read(at, at.checked_add(8)?);
        (bytes.len() == 8).then(|| self.number(&bytes))
    }

    /// Returns the u64 in the first eight bytes; missing ones are 0.
    pub(super) fn number(&self, bytes: &[u8]) -> u64 {
        self.order.u64(bytes.first_chunk::<8>().copied().unwrap_or_default())
    }

    /// Reads the u32 at `at`; `None` if it does not lie inside the file.
    pub(super) fn u32(&self, at: u64) -> Option<u32> {
        let bytes = self.source.read(at, at.checked_add(4)?);
        (bytes.len() == 4).then(|| u32::try_from(number(&bytes, self.order)).ok())?
    }

    /// Reads the size that the attr at `at` states.
    pub(super) fn attr_size(&self, at: u64) -> Option<u32> {
        self.u32(at.checked_add(word::SIZE)?)
    }

    /// Reads the section at `at`.
    pub(super) fn section(&self, at: u64) -> Option<Section> {
        Some(Section { offset: self.u64(at)?, size: self.u64(at.checked_add(8)?)? })
    }

    /// Reads the bytes `start..end`, clipped to the file.
    pub(super) fn bytes(&self, start: u64, end: u64) -> Cow<'a, [u8]> {
        self.source.read(start, end)
    }
}
