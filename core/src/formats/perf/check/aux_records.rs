//! The records about traces of the processor against each other, and the traces themselves.
//!
//! ```text
//!  AUXTRACE_INFO  ->  AUX: the tracer wrote these bytes  ->  AUXTRACE: the recorder read them
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::frame::{Place, RecordView};
use crate::formats::perf::decode::record::aux::{Aux, AuxTrace, flag, tracer_type};
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::decode::trace::{FRAME, Tracer, find_damage};
use crate::formats::perf::layout::record as kind;
use crate::formats::perf::limits::AUX_RECORDS;
use crate::formats::perf::rules;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::words::{byte_count, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::limits::Limits;
use crate::model::rule::common;
use crate::model::{Finding, Report};

/// The CPU of a buffer that belongs to a thread.
const ANY_CPU: u32 = u32::MAX;

/// The buffer into which a tracer writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Buffer {
    Cpu(u32),
    Thread(u32),
}

/// Bytes of which an AUX record tells, and which should be in an AUXTRACE.
struct Written {
    span: Span,
    place: Place,
    aux: Aux,
    cpu: u32,
    tid: u32,
}

/// The records about traces.
#[derive(Default)]
pub(super) struct AuxRecords {
    /// The `type` of the AUXTRACE_INFO.
    tracer: Option<u32>,
    /// The AUXTRACE records, in their order.
    traces: Vec<(AuxTrace, Place)>,
    written: Vec<Written>,
    /// The flags of all AUX records together.
    flags: u64,
    /// Records that are kept.
    most: usize,
    is_full: bool,
}

impl AuxRecords {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { most: limits.count_of(&AUX_RECORDS), ..Self::default() }
    }

    /// The AUXTRACE records of the file with the header, as the index lists them; `None` if not all
    /// are known.
    pub(super) fn listed(&self) -> Option<Vec<Span>> {
        let spans = self.traces.iter().map(|(trace, _)| trace.span);
        let listed = spans.filter(|span| span.layer == Layer::stored(0));
        (!self.is_full).then(|| listed.collect())
    }

    fn has_room(&mut self) -> bool {
        self.is_full |= self.traces.len().saturating_add(self.written.len()) >= self.most;
        !self.is_full
    }

    /// Notes a record about traces.
    #[cold]
    pub(super) fn note(&mut self, record: &RecordView<'_>, events: &Events) {
        let order = events.order();
        match record.frame.kind {
            kind::AUXTRACE_INFO => self.tracer = tracer_type(record, order),
            kind::AUXTRACE if record.place.layer.is_stored() => {
                if let Some(trace) = AuxTrace::read(record, order).filter(|_| self.has_room()) {
                    self.traces.push((trace, record.place));
                }
            }
            kind::AUX => {
                let Some(aux) = Aux::read(record, order) else { return };
                self.flags |= aux.flags;
                let origin = events.origin_of(record);
                let origin = origin.and_then(|origin| origin.cpu.zip(origin.tid));
                let is_judged = aux.size > 0 && aux.flags & flag::OVERWRITE == 0;
                if let Some((cpu, tid)) = origin.filter(|_| is_judged && self.has_room()) {
                    let (span, place) = (record.span(), record.place);
                    self.written.push(Written { span, place, aux, cpu, tid });
                }
            }
            _ => {}
        }
    }
}

/// Checks the records about traces, and the traces in `files`. `is_complete` tells whether no
/// record is missing for another reason.
pub(super) fn check(
    (aux, can_drop): (&AuxRecords, bool),
    files: &[&RecordFile<'_>],
    is_complete: bool,
    report: &mut Report,
) {
    let Some((first, _)) = aux.traces.first() else {
        return push_missing(aux, is_complete, report);
    };
    if aux.is_full {
        let most = plural(to_u64(aux.most), "record");
        let message = format!("more than {most} about traces: the traces are not checked");
        report.push(Finding::new(&common::SEARCH_ENDED, first.span, "data", message));
    } else if aux.tracer.is_none() {
        push_without_info(aux, can_drop, report);
    } else {
        push_missing(aux, is_complete, report);
        push_damage(aux, files, report);
    }
}

/// Reports traces of an unknown tracer, at which perf ends.
fn push_without_info(aux: &AuxRecords, can_drop: bool, report: &mut Report) {
    let traces = &aux.traces;
    let Some((first, place)) = traces.first() else { return };
    let count = to_u64(traces.len());
    let size = traces.iter().fold(0_u64, |sum, (trace, _)| sum.saturating_add(trace.size));
    let message = format!(
        "missing AUXTRACE_INFO: {} of {} without it",
        plural(count, "trace"),
        byte_count(size)
    );
    let whole = |trace: &AuxTrace| Span::new(trace.span.layer, trace.span.start, trace.trace().end);
    let edits = traces.iter().map(|(trace, _)| Edit::drop(whole(trace)));
    let edits = if can_drop { edits.collect() } else { Vec::new() };
    let summary = format!("drop {}", plural(count, "trace"));
    let fix = Fix { records_lost: count, ..Fix::new(Safety::Lossy, summary, edits) };
    let finding = Finding::new(&rules::TRACER_UNKNOWN, first.span, place.path(""), message);
    report.push(finding.fix(fix));
}

/// Reports bytes of which AUX records tell and which no AUXTRACE has.
fn push_missing(aux: &AuxRecords, is_complete: bool, report: &mut Report) {
    if !is_complete || aux.is_full || aux.tracer.and_then(Tracer::of).is_none() {
        return;
    }
    let buffers = aux.find_buffers();
    let missing = || aux.written.iter().filter(|written| !is_read(written, &buffers));
    let Some(first) = missing().next() else { return };
    let count = to_u64(missing().count());
    let size = missing().fold(0_u64, |sum, one| sum.saturating_add(one.aux.size));
    let message = format!(
        "missing AUXTRACE: {} of {}; the first at aux_offset {} of CPU {}",
        byte_count(size),
        plural(count, "AUX record"),
        first.aux.offset,
        first.cpu
    );
    let path = first.place.path(".aux_offset");
    report.push(Finding::new(&rules::TRACE_MISSING, first.span, path, message));
}

/// The bytes of each buffer that AUXTRACE records have, sorted; those that adjoin are one range.
type Buffers = BTreeMap<Buffer, Vec<Range<u64>>>;

impl AuxRecords {
    fn find_buffers(&self) -> Buffers {
        let mut buffers = Buffers::new();
        for (trace, _) in &self.traces {
            let buffer = match trace.cpu {
                ANY_CPU => Buffer::Thread(trace.tid),
                cpu => Buffer::Cpu(cpu),
            };
            let end = trace.offset.saturating_add(trace.size);
            buffers.entry(buffer).or_default().push(trace.offset..end);
        }
        for ranges in buffers.values_mut() {
            ranges.sort_unstable_by_key(|range| range.start);
            ranges.dedup_by(|next, last| {
                let adjoins = next.start <= last.end;
                last.end = if adjoins { last.end.max(next.end) } else { last.end };
                adjoins
            });
        }
        buffers
    }

    /// Whether the bytes of a trace can be judged: none was lost or written over, and frames are
    /// complete.
    fn is_judged(&self, tracer: Tracer, trace: &AuxTrace) -> bool {
        match tracer {
            Tracer::IntelPt | Tracer::ArmSpe => self.flags == 0,
            Tracer::CoreSight => {
                let is_framed = |number: u64| number.is_multiple_of(FRAME);
                let frames = |one: &Written| is_framed(one.aux.offset) && is_framed(one.aux.size);
                self.flags & !flag::TRUNCATED == 0
                    && is_framed(trace.size)
                    && self.written.iter().all(frames)
            }
        }
    }
}

/// Whether an AUXTRACE has the bytes of which an AUX record tells. The thread of a record that the
/// kernel writes at the end of a thread may be unknown.
fn is_read(written: &Written, buffers: &Buffers) -> bool {
    let of_cpu = buffers.get(&Buffer::Cpu(written.cpu));
    let ranges = of_cpu.or_else(|| buffers.get(&Buffer::Thread(written.tid)));
    let Some(ranges) = ranges else {
        return buffers.keys().any(|buffer| matches!(buffer, Buffer::Thread(_)));
    };
    let Aux { offset, size, .. } = written.aux;
    let index = ranges.partition_point(|range| range.start <= offset);
    let range = index.checked_sub(1).and_then(|index| ranges.get(index));
    range.is_some_and(|range| offset.saturating_add(size) <= range.end)
}

/// Reports the stretches of traces that their tracer cannot have written.
fn push_damage(aux: &AuxRecords, files: &[&RecordFile<'_>], report: &mut Report) {
    let Some(tracer) = aux.tracer.and_then(Tracer::of) else { return };
    for (trace, place) in aux.traces.iter().filter(|(trace, _)| aux.is_judged(tracer, trace)) {
        let span = trace.trace();
        let Some(file) = files.iter().find(|file| file.layer() == span.layer) else { continue };
        for stretch in find_damage(tracer, file.source(), span.range()) {
            let rule = &rules::TRACE_DAMAGED;
            report.push_with(rule, rule.severity, || {
                let span = Span::new(span.layer, stretch.range.start, stretch.range.end);
                let (name, size) = (tracer.name(), byte_count(span.len()));
                let message = format!("damaged {name} trace: {}; {size}", stretch.sign);
                Finding::new(rule, span, place.path(".trace"), message)
            });
        }
    }
}
