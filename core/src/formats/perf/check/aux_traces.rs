//! The records about traces of the processor against each other, and the traces themselves.
//!
//! ```text
//!  AUXTRACE_INFO  ->  AUX: the tracer wrote these bytes  ->  AUXTRACE: the recorder read them
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::aux_records::{ANY, AuxRecords, Written};
use super::records::RecordCheck;
use super::{aux_buffers, aux_clock, aux_info, aux_told};
use crate::formats::perf::decode::record::aux::{Aux, AuxTrace, flag};
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::decode::trace::{FRAME, Tracer, find_damage};
use crate::formats::perf::layout::versions::FIRST_WITH_CLOCK;
use crate::formats::perf::{repair, rules};
use crate::kit::cursor::Order;
use crate::kit::num::{align8, to_u64};
use crate::kit::span::Span;
use crate::kit::words::{byte_count, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::rule::common;
use crate::model::{Finding, Report};

/// The buffer into which a tracer writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Buffer {
    Cpu(u32),
    Thread(u32),
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
    /// Returns for each trace whether its size is certain: where it ends, bytes end of which an AUX
    /// record tells, or the next trace of its buffer begins.
    fn find_certain_sizes(&self) -> Vec<bool> {
        let ends = self.written.iter().map(|one| one.aux.offset.saturating_add(one.aux.size));
        let ends: BTreeSet<u64> = ends.collect();
        let mut next = BTreeMap::new();
        let mut are_certain = Vec::new();
        for (trace, _) in self.traces.iter().rev() {
            let end = trace.offset.saturating_add(trace.size);
            // The recorder pads a trace to a multiple of 8 bytes.
            let is_padded = align8(trace.size) == trace.size;
            let is_written = is_padded && ends.range(end.saturating_sub(7)..=end).next().is_some();
            let is_continued = next.insert(trace.buffer, trace.offset) == Some(end);
            are_certain.push(is_written || is_continued);
        }
        are_certain.reverse();
        are_certain
    }

    /// Reports the sizes of traces that the bytes contradict.
    fn push_sizes(&self, can_edit: bool, order: Order, report: &mut Report) {
        if self.traces.iter().all(|(trace, _)| trace.stored_size.is_none()) {
            return;
        }
        for ((trace, place), is_certain) in self.traces.iter().zip(self.find_certain_sizes()) {
            let Some(stored) = trace.stored_size else { continue };
            let safety = if is_certain { Safety::Exact } else { Safety::Lossy };
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
        // Threads are the last ones.
        return buffers.keys().next_back().is_some_and(|last| matches!(last, Buffer::Thread(_)));
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
