//! An AUXTRACE with a damaged `size`: the trace ends where the next record begins.
//!
//! ```text
//!  AUX aux_offset + aux_size = end   AUXTRACE offset, size | trace | ...   AUXTRACE offset = end
//! ```

use super::{Reach, Walker};
use crate::formats::perf::decode::frame::{FrameFault, Record};
use crate::formats::perf::decode::record::aux::{Aux, AuxTrace};
use crate::formats::perf::layout::record as kind;
use crate::kit::num::align8;
use crate::kit::source::Source;

/// Records after a trace among which the next one of the same buffer is sought.
const RECORDS_AHEAD: usize = 4096;
/// The step of a search: perf writes traces in multiples of 8 bytes.
const STRIDE: u64 = 8;

/// The ends of the last bytes that tracers wrote, by the AUX records.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written([u64; 8]);

impl Written {
    fn note(&mut self, end: u64) {
        self.0.rotate_right(1);
        let [first, ..] = &mut self.0;
        *first = end;
    }

    /// Whether one of them is the end of a trace of `size` bytes from `offset` on.
    fn has(&self, offset: u64, size: u64) -> bool {
        let sizes = self.0.iter().filter_map(|end| end.checked_sub(offset));
        size > 0 && sizes.map(align8).any(|written| written == size)
    }
}

impl<'a> Walker<'a> {
    /// Notes the bytes of which an AUX record tells.
    #[cold]
    pub(super) fn note_written(&mut self, record: &Record<'_>) {
        if let Some(aux) = Aux::read(&record.view(self.layer, 0), self.dialect.order) {
            self.past.written.note(aux.offset.saturating_add(aux.size));
        }
    }

    /// Corrects the size of a trace that no record follows, if the bytes up to the next record are
    /// those that the tracer wrote.
    #[cold]
    pub(super) fn fit_trace(&mut self, mut record: Record<'a>) -> Record<'a> {
        if record.end() >= self.end || self.is_followed_by_any(&record) {
            return record;
        }
        let Some(trace) = self.trace_of(&record) else { return record };
        let payload = trace.span.end;
        let Some(next) = self.find_after_trace(payload) else { return record };
        let size = next.saturating_sub(payload);
        if !self.is_witnessed(&trace, trace.size, next) && self.is_witnessed(&trace, size, next) {
            record.outside = size;
        }
        record
    }

    /// Reads an AUXTRACE whose trace would end after the file, although records follow it.
    #[cold]
    pub(super) fn read_long_trace(&mut self, fault: FrameFault) -> Option<Record<'a>> {
        let FrameFault::PayloadPastEnd(frame, _) = fault else { return None };
        if frame.kind != kind::AUXTRACE {
            return None;
        }
        let payload = self.at.saturating_add(frame.size);
        let next = self.find_after_trace(payload)?;
        let source: &'a Source<'a> = self.source;
        let bytes = source.read(self.at, payload);
        let outside = next.saturating_sub(payload);
        Some(Record { frame, found: None, offset: self.at, bytes, outside })
    }

    fn trace_of(&self, record: &Record<'_>) -> Option<AuxTrace> {
        AuxTrace::read(&record.view(self.layer, 0), self.dialect.order)
    }

    /// Returns the first place from `payload` on at which records begin.
    fn find_after_trace(&mut self, payload: u64) -> Option<u64> {
        let mut budget = self.budget;
        let next = self.search((payload..self.end, STRIDE), Reach::Few, &mut budget);
        self.budget = budget;
        next.filter(|next| *next > payload)
    }

    /// Whether an AUX record before the trace, or the next AUXTRACE of its buffer from `next` on,
    /// shows that the trace has this size.
    fn is_witnessed(&self, trace: &AuxTrace, size: u64, next: u64) -> bool {
        if self.past.written.has(trace.offset, size) {
            return true;
        }
        let mut probe = Self { at: next, run: &[], ..self.clone() };
        for _ in 0..RECORDS_AHEAD {
            let Ok(record) = probe.read_record() else { return false };
            let later = probe.trace_of(&record).filter(|_| record.frame.kind == kind::AUXTRACE);
            if let Some(later) = later.filter(|later| later.buffer == trace.buffer) {
                return trace.offset.checked_add(size) == Some(later.offset);
            }
            probe.at = record.end();
            probe.run = &[];
        }
        false
    }
}
