//! AUX and AUXTRACE: the bytes that a tracer wrote, and the bytes that the recorder read.
//!
//! ```text
//!  kernel  AUX       { u64 aux_offset, aux_size, flags } sample_id with CPU and thread
//!  perf    AUXTRACE  { u64 size, offset, reference, u32 idx, tid, cpu, 0 } and size bytes after it
//! ```
//!
//! Both offsets count all bytes of a buffer. A buffer belongs to a CPU, or to a thread if `cpu` is
//! -1.

use crate::formats::perf::decode::frame::RecordView;
use crate::kit::cursor::Order;
use crate::kit::span::Span;

/// `flags` of an AUX record.
pub mod flag {
    /// Bytes were lost.
    pub const TRUNCATED: u64 = 1;
    /// The buffer has been written over and over: the offset is the end of the bytes.
    pub const OVERWRITE: u64 = 2;
}

/// An AUX record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aux {
    /// `aux_offset`.
    pub offset: u64,
    /// `aux_size`.
    pub size: u64,
    /// `flags`.
    pub flags: u64,
}

impl Aux {
    /// Reads the fields; `None` if the record is shorter.
    pub fn read(record: &RecordView<'_>, order: Order) -> Option<Self> {
        let mut cursor = record.cursor(order);
        let mut word = || cursor.u64("aux").ok();
        Some(Self { offset: word()?, size: word()?, flags: word()? })
    }
}

/// An AUXTRACE record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuxTrace {
    /// The record, without its trace.
    pub span: Span,
    /// `size`: bytes of the trace, which follows the record.
    pub size: u64,
    /// `size` as stored, if it is damaged.
    pub stored_size: Option<u64>,
    /// `offset`.
    pub offset: u64,
    /// The buffer.
    pub buffer: BufferName,
}

/// The fields of an AUXTRACE that name its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BufferName {
    /// `idx`: the number of the buffer.
    pub idx: u32,
    /// `tid`; -1 is `u32::MAX`.
    pub tid: u32,
    /// `cpu`; -1 is `u32::MAX`.
    pub cpu: u32,
}

impl BufferName {
    /// Offset in the record.
    pub const AT: u64 = 32;

    /// The fields, in the order of the record.
    pub const fn words(self) -> [u32; 3] {
        [self.idx, self.tid, self.cpu]
    }
}

impl AuxTrace {
    /// Reads the fields; `None` if the record is shorter.
    pub fn read(record: &RecordView<'_>, order: Order) -> Option<Self> {
        let mut cursor = record.cursor(order);
        let size = cursor.u64("auxtrace.size").ok()?;
        let offset = cursor.u64("auxtrace.aux_offset").ok()?;
        cursor.skip(1, 8, "auxtrace.reference").ok()?;
        let idx = cursor.u32("auxtrace.idx").ok()?;
        let tid = cursor.u32("auxtrace.tid").ok()?;
        let cpu = cursor.u32("auxtrace.cpu").ok()?;
        let stored_size = None;
        Some(Self {
            span: record.span(),
            size,
            stored_size,
            offset,
            buffer: BufferName { idx, tid, cpu },
        })
    }

    /// The record and its trace.
    pub const fn whole(&self) -> Span {
        Span::new(self.span.layer, self.span.start, self.trace().end)
    }

    /// The bytes of the trace.
    pub const fn trace(&self) -> Span {
        Span::sized(self.span.layer, self.span.end, self.size)
    }
}

/// Returns the `type` of an AUXTRACE_INFO.
pub fn tracer_type(record: &RecordView<'_>, order: Order) -> Option<u32> {
    record.cursor(order).u32("auxtrace_info.type").ok()
}

/// A TIME_CONV: nanoseconds are `time_zero + (ticks * time_mult >> time_shift)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeConv {
    /// The record.
    pub span: Span,
    /// `time_shift`.
    pub shift: u64,
    /// `time_mult`, of which perf takes 32 bits.
    pub mult: u64,
}

impl TimeConv {
    /// Offset of `time_mult` in the record.
    pub const MULT_AT: u64 = 16;

    /// Reads the fields; `None` if the record is shorter.
    pub fn read(record: &RecordView<'_>, order: Order) -> Option<Self> {
        let mut cursor = record.cursor(order);
        let shift = cursor.u64("time_conv.time_shift").ok()?;
        let mult = cursor.u64("time_conv.time_mult").ok()?;
        Some(Self { span: record.span(), shift, mult })
    }

    /// Whether perf divides by 0.
    pub const fn is_zero(&self) -> bool {
        self.mult & 0xffff_ffff == 0
    }
}
