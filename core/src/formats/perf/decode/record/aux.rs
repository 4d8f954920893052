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
    /// `offset`.
    pub offset: u64,
    /// `tid`.
    pub tid: u32,
    /// `cpu`; -1 is `u32::MAX`.
    pub cpu: u32,
}

impl AuxTrace {
    /// Reads the fields; `None` if the record is shorter.
    pub fn read(record: &RecordView<'_>, order: Order) -> Option<Self> {
        let mut cursor = record.cursor(order);
        let size = cursor.u64("auxtrace.size").ok()?;
        let offset = cursor.u64("auxtrace.aux_offset").ok()?;
        cursor.skip(1, 8, "auxtrace.reference").ok()?;
        cursor.skip(1, 4, "auxtrace.idx").ok()?;
        let tid = cursor.u32("auxtrace.tid").ok()?;
        let cpu = cursor.u32("auxtrace.cpu").ok()?;
        Some(Self { span: record.span(), size, offset, tid, cpu })
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
