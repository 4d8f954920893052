//! The records about traces of the processor against each other, and the traces themselves.
//!
//! ```text
//!  AUXTRACE_INFO  ->  AUX: the tracer wrote these bytes  ->  AUXTRACE: the recorder read them
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use super::records::RecordCheck;
use super::{aux_buffers, aux_clock, aux_info, aux_told};
use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::frame::{Place, RecordView};
use crate::formats::perf::decode::record::aux::{Aux, AuxTrace, TimeConv, flag};
use crate::formats::perf::decode::record::tracer::TracerInfo;
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::decode::trace::{FRAME, Tracer, find_damage};
use crate::formats::perf::layout::versions::FIRST_WITH_CLOCK;
use crate::formats::perf::layout::{MOST_CPUS, record as kind};
use crate::formats::perf::limits::AUX_RECORDS;
use crate::formats::perf::{repair, rules};
use crate::kit::cursor::Order;
use crate::kit::num::{align8, to_u64};
use crate::kit::span::{Layer, Span};
use crate::kit::words::{byte_count, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::limits::Limits;
use crate::model::rule::common;
use crate::model::{Finding, Report};

/// The CPU of a buffer that belongs to a thread, or the thread of one that belongs to a CPU.
pub(super) const ANY: u32 = u32::MAX;

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

/// A record of the kernel that perf reads for some tracers only: an AUX_OUTPUT_HW_ID, an AUX with
/// unknown flags, or another one of a CPU that cannot exist.
pub(super) struct Told {
    pub(super) kind: u32,
    pub(super) span: Span,
    pub(super) place: Place,
    /// `hw_id` or `flags`.
    pub(super) value: u64,
    pub(super) cpu: Option<u32>,
}

/// The records about traces.
#[derive(Default)]
pub(super) struct AuxRecords {
    /// The AUXTRACE_INFO.
    pub(super) info: Option<(TracerInfo, Place)>,
    /// The last TIME_CONV before the AUXTRACE_INFO, or the first one after it.
    pub(super) clock: Option<(TimeConv, Place)>,
    /// The AUXTRACE records, in their order.
    pub(super) traces: Vec<(AuxTrace, Place)>,
    written: Vec<Written>,
    pub(super) told: Vec<Told>,
    /// The flags of all AUX records together.
    flags: u64,
    /// Records that are kept.
    most: usize,
    is_full: bool,
}

impl AuxRecords {
    /// Their types.
    pub(super) const KINDS: [u32; 8] = [
        kind::AUX,
        kind::ITRACE_START,
        kind::SWITCH,
        kind::SWITCH_CPU_WIDE,
        kind::AUX_OUTPUT_HW_ID,
        kind::AUXTRACE_INFO,
        kind::AUXTRACE,
        kind::TIME_CONV,
    ];

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

    fn note_told(&mut self, record: &RecordView<'_>, value: Option<u64>, events: &Events) {
        if let Some(value) = value.filter(|_| self.has_room()) {
            let cpu = events.origin_of(record).and_then(|origin| origin.cpu);
            let (kind, span, place) = (record.frame.kind, record.span(), record.place);
            self.told.push(Told { kind, span, place, value, cpu });
        }
    }

    /// Corrects the size of the last trace, whose record is at `offset`, to that of its bytes.
    pub(super) fn correct_size(&mut self, offset: u64, size: u64) {
        if let Some((trace, _)) =
            self.traces.last_mut().filter(|(last, _)| last.span.start == offset)
            && trace.size != size
        {
            trace.stored_size = Some(trace.size);
            trace.size = size;
        }
    }

    /// Whether a record tells that the tracer wrote bytes up to the end of a trace.
    fn is_written(&self, trace: &AuxTrace) -> bool {
        let ends = self.written.iter().map(|one| one.aux.offset.saturating_add(one.aux.size));
        let mut sizes = ends.filter_map(|end| end.checked_sub(trace.offset)).map(align8);
        sizes.any(|size| size == trace.size)
    }

    /// Reports the sizes of traces that the bytes contradict.
    fn push_sizes(&self, can_edit: bool, order: Order, report: &mut Report) {
        let mut later = self.traces.iter();
        while let Some((trace, place)) = later.next() {
            let Some(stored) = trace.stored_size else { continue };
            let next = later.clone().find(|(next, _)| next.buffer == trace.buffer);
            let end = trace.offset.saturating_add(trace.size);
            let is_continued = next.is_some_and(|(next, _)| next.offset == end);
            let safety = match is_continued || self.is_written(trace) {
                true => Safety::Exact,
                false => Safety::Lossy,
            };
            let rule = &rules::TRACE_SIZE_WRONG;
            report.push_with(rule, rule.severity, || {
                let size = trace.size;
                let after = byte_count(size);
                let message =
                    format!("auxtrace.size is {stored}, but a record follows after {after}");
                let field = Span::sized(trace.span.layer, trace.span.start.saturating_add(8), 8);
                let edit = Edit::replace(field, repair::u64_bytes(size, order));
                let edits = if can_edit { vec![edit] } else { Vec::new() };
                let fix = Fix::new(safety, format!("set auxtrace.size to {size}"), edits);
                let fix = fix.witness(trace.trace(), "the bytes up to the next record");
                Finding::new(rule, trace.span, place.path(".size"), message).fix(fix)
            });
        }
    }

    /// The tracer, if its traces can be judged.
    pub(super) fn tracer(&self) -> Option<Tracer> {
        self.info.as_ref().and_then(|(info, _)| Tracer::of(info.kind))
    }

    fn has_room(&mut self) -> bool {
        let kept = self.traces.len().saturating_add(self.written.len());
        self.is_full |= kept.saturating_add(self.told.len()) >= self.most;
        !self.is_full
    }

    /// Notes a record about traces.
    #[cold]
    pub(super) fn note(&mut self, record: &RecordView<'_>, events: &Events) {
        let order = events.order();
        match record.frame.kind {
            kind::AUXTRACE_INFO => {
                let info = TracerInfo::read(record, order);
                self.info = info.map(|info| (info, record.place));
            }
            kind::TIME_CONV if self.info.is_none() || self.clock.is_none() => {
                self.clock = TimeConv::read(record, order).map(|clock| (clock, record.place));
            }
            kind::AUXTRACE if record.place.layer.is_stored() => {
                if let Some(trace) = AuxTrace::read(record, order).filter(|_| self.has_room()) {
                    self.traces.push((trace, record.place));
                }
            }
            kind::ITRACE_START | kind::SWITCH | kind::SWITCH_CPU_WIDE => {
                let cpu = events.origin_of(record).and_then(|origin| origin.cpu);
                if cpu.is_some_and(|cpu| cpu >= MOST_CPUS) {
                    self.note_told(record, Some(0), events);
                }
            }
            kind::AUX_OUTPUT_HW_ID => {
                let hw_id = record.cursor(order).u64("aux_output_hw_id.hw_id").ok();
                self.note_told(record, hw_id, events);
            }
            kind::AUX => {
                let Some(aux) = Aux::read(record, order) else { return };
                self.flags |= aux.flags;
                if aux.flags > u64::from(u16::MAX) {
                    self.note_told(record, Some(aux.flags), events);
                }
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
    records: &RecordCheck,
    files: &[&RecordFile<'_>],
    is_complete: bool,
    report: &mut Report,
) {
    let (aux, can_edit, order) = (&records.aux, records.can_drop, records.events.order());
    let is_recorder_old = records.machine.is_recorder_before(FIRST_WITH_CLOCK);
    aux.push_sizes(can_edit, order, report);
    aux_clock::check(aux, is_recorder_old, can_edit, order, report);
    let Some((first, _)) = aux.traces.first() else {
        return push_missing(aux, is_complete, report);
    };
    if aux.is_full {
        let most = plural(to_u64(aux.most), "record");
        let message = format!("more than {most} about traces: the traces are not checked");
        report.push(Finding::new(&common::SEARCH_ENDED, first.span, "data", message));
    } else if aux.info.is_none() {
        push_without_info(aux, can_edit, report);
    } else {
        let has_buffers = aux_buffers::check(&aux.traces, can_edit, order, report);
        // Of a CPU that cannot exist, AUXTRACE_INFO has no words.
        let is_read = has_buffers
            && aux_info::check(records, report)
            && aux_told::check(aux, can_edit, order, report);
        push_missing(aux, is_complete && is_read, report);
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
    let edits = traces.iter().map(|(trace, _)| Edit::drop(trace.whole()));
    let edits = if can_drop { edits.collect() } else { Vec::new() };
    let summary = format!("drop {}", plural(count, "trace"));
    let fix = Fix { records_lost: count, ..Fix::new(Safety::Lossy, summary, edits) };
    let finding = Finding::new(&rules::TRACER_UNKNOWN, first.span, place.path(""), message);
    report.push(finding.fix(fix));
}

/// Reports bytes of which AUX records tell and which no AUXTRACE has.
fn push_missing(aux: &AuxRecords, is_complete: bool, report: &mut Report) {
    if !is_complete || aux.is_full || aux.tracer().is_none() {
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
            let buffer = match trace.buffer.cpu {
                ANY => Buffer::Thread(trace.buffer.tid),
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
    let Some(tracer) = aux.tracer() else { return };
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
