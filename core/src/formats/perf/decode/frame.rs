//! The frame of a record: u32 type, u16 misc, u16 size, and `size - 8` bytes of body.

use std::borrow::Cow;

use crate::formats::perf::layout::{RECORD_HEADER, record};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::to_usize;
use crate::kit::span::{Layer, Span};

/// Bits of `misc` that neither the kernel nor perf uses.
const MISC_UNUSED: u16 = 0x0ff8;

/// The header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// `header.type`.
    pub kind: u32,
    /// `header.misc`.
    pub misc: u16,
    /// `header.size`: size of the record in bytes, header included.
    pub size: u64,
}

impl Frame {
    /// Whether the kernel writes records of this type; perf writes the others.
    #[inline]
    pub const fn is_kernel(self) -> bool {
        self.kind < record::USER_FIRST
    }

    /// Whether the type is known, the size fits it, and unused bits of `misc` are 0.
    pub fn is_usual(self) -> bool {
        let is_known = self.kind <= record::KERNEL_LAST
            || (record::USER_FIRST..=record::USER_LAST).contains(&self.kind)
            || record::is_simpleperf(self.kind);
        is_known && !self.is_misaligned() && !self.has_unused_misc()
    }

    /// Whether the size breaks the rule that the kernel writes records in multiples of 8 bytes.
    #[inline]
    pub const fn is_misaligned(self) -> bool {
        self.is_kernel() && self.size & 7 != 0
    }

    /// Whether `misc` has bits that neither the kernel nor perf uses.
    pub const fn has_unused_misc(self) -> bool {
        self.misc & MISC_UNUSED != 0
    }
}

/// The reason why no record begins at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameFault {
    /// Fewer than the 8 bytes of a header remain.
    HeaderTruncated,
    /// `header.size` is below 8.
    TooSmall(Frame),
    /// The type is not one that a kernel or perf writes.
    Type(Frame),
    /// The record ends after the end of the area.
    PastEnd(Frame),
    /// The payload after the record, of this many bytes, ends after the end of the area.
    PayloadPastEnd(Frame, u64),
}

impl FrameFault {
    /// Whether the fault, at the end of an area, is the trace of a truncated file.
    pub const fn is_truncation(self) -> bool {
        matches!(self, Self::HeaderTruncated | Self::PastEnd(_) | Self::PayloadPastEnd(..))
    }
}

/// Reads the frame at the start of `bytes`, which may end before the record does.
///
/// # Errors
///
/// The header is truncated, or its size or type is invalid.
#[inline]
pub fn frame(bytes: &[u8], order: Order) -> Result<Frame, FrameFault> {
    let Some(frame) = any_frame(bytes, order) else { return Err(FrameFault::HeaderTruncated) };
    if frame.size < RECORD_HEADER {
        Err(FrameFault::TooSmall(frame))
    } else if frame.kind == 0 || frame.kind > record::PLAUSIBLE_LAST {
        Err(FrameFault::Type(frame))
    } else {
        Ok(frame)
    }
}

/// Reads the fields of a frame, valid or not; `None` if `bytes` ends in them.
#[inline]
pub(super) fn any_frame(bytes: &[u8], order: Order) -> Option<Frame> {
    let [a, b, c, d, e, f, g, h] = bytes.first_chunk::<8>().copied()?;
    let (kind, misc, size) = match order {
        Order::Little => (
            u32::from_le_bytes([a, b, c, d]),
            u16::from_le_bytes([e, f]),
            u16::from_le_bytes([g, h]),
        ),
        Order::Big => (
            u32::from_be_bytes([a, b, c, d]),
            u16::from_be_bytes([e, f]),
            u16::from_be_bytes([g, h]),
        ),
    };
    Some(Frame { kind, misc, size: u64::from(size) })
}

/// Reads the fields that [`frame`] takes at once.
pub(super) fn log_header(cursor: &mut Cursor<'_>) {
    let _type = cursor.u32("header.type");
    let _misc = cursor.u16("header.misc");
    let _size = cursor.u16("header.size");
}

/// The byte order and the types by which records are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Byte order of the recording.
    pub order: Order,
    /// Whether simpleperf recorded, which has types and longer records of its own.
    pub is_simpleperf: bool,
}

impl From<Order> for Dialect {
    fn from(order: Order) -> Self {
        Self { order, is_simpleperf: false }
    }
}

impl Dialect {
    /// Reads the frame at the start of `bytes`, as [`frame`] does. A record of simpleperf has the
    /// upper half of its size where others have `misc`.
    ///
    /// # Errors
    ///
    /// The header is truncated, or its size or type is invalid.
    #[inline]
    pub fn frame(self, bytes: &[u8]) -> Result<Frame, FrameFault> {
        match frame(bytes, self.order) {
            Err(
                FrameFault::Type(Frame { kind, misc, size })
                | FrameFault::TooSmall(Frame { kind, misc, size }),
            ) if self.is_simpleperf && record::is_simpleperf(kind) => {
                let size = u64::from(misc) << 16 | size;
                let frame = Frame { kind, misc: 0, size };
                if size < RECORD_HEADER { Err(FrameFault::TooSmall(frame)) } else { Ok(frame) }
            }
            other => other,
        }
    }
}

/// The place of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, or its expanded layer.
    pub layer: Layer,
    /// Offset of the first byte in the layer.
    pub offset: u64,
    /// Number of records before it in the layer.
    pub index: u64,
}

impl Place {
    /// The path of a field of the record, which begins with a dot, or of the record itself.
    pub fn path(self, field: &str) -> String {
        let stream = if self.layer.is_stored() { "data" } else { "expanded" };
        format!("{stream}.record[{}]{field}", self.index)
    }
}

/// A complete record, stored or expanded.
#[derive(Clone, Copy, Debug)]
pub struct RecordView<'a> {
    /// Its header.
    pub frame: Frame,
    /// Its place.
    pub place: Place,
    /// All its bytes, header included.
    pub bytes: &'a [u8],
}

impl<'a> RecordView<'a> {
    /// The bytes of the record.
    pub const fn span(&self) -> Span {
        Span::sized(self.place.layer, self.place.offset, self.frame.size)
    }

    /// The bytes after the header.
    #[inline]
    pub fn body(&self) -> &'a [u8] {
        self.bytes.get(to_usize(RECORD_HEADER)..).unwrap_or_default()
    }

    /// Returns `len` bytes at an offset of the layer, if they lie in the record.
    pub fn bytes_at(&self, offset: u64, len: u64) -> Option<&'a [u8]> {
        let start = to_usize(offset.checked_sub(self.place.offset)?);
        self.bytes.get(start..start.checked_add(to_usize(len))?)
    }

    /// A cursor over the body.
    #[inline]
    pub fn cursor(&self, order: Order) -> Cursor<'a> {
        let start = self.place.offset.saturating_add(RECORD_HEADER);
        Cursor::new(self.body(), self.place.layer, start, order)
    }
}

/// A complete record of a file.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// Its header. If the stored one is damaged, the right one.
    pub frame: Frame,
    /// The stored header, if it is damaged.
    pub found: Option<Frame>,
    /// Offset of its first byte.
    pub offset: u64,
    /// All bytes, header included.
    pub bytes: Cow<'a, [u8]>,
    /// Size of the payload after the record in bytes.
    pub outside: u64,
}

impl Record<'_> {
    /// The record as record number `index` of `layer`.
    #[inline]
    pub fn view(&self, layer: Layer, index: u64) -> RecordView<'_> {
        let place = Place { layer, offset: self.offset, index };
        RecordView { frame: self.frame, place, bytes: &self.bytes }
    }

    /// Offset after the record and its payload.
    #[inline]
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.frame.size).saturating_add(self.outside)
    }
}
