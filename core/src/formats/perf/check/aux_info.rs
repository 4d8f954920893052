//! The words of AUXTRACE_INFO against the events and the traces.

use std::collections::BTreeSet;

use super::aux_records::ANY;
use super::records::RecordCheck;
use crate::formats::perf::decode::record::aux::AuxTrace;
use crate::formats::perf::decode::record::tracer::{PtClock, TracerInfo};
use crate::formats::perf::decode::trace::Tracer;
use crate::formats::perf::layout::tracers::LAST;
use crate::formats::perf::{repair, rules};
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words::{byte_count, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::{Finding, Report};

/// The first number of a PMU; those before it are types of events that the kernel defines.
const FIRST_PMU: u64 = 6;

/// Checks the words. Returns whether perf reads them.
pub(super) fn check(records: &RecordCheck, report: &mut Report) -> bool {
    let Some((info, place)) = &records.aux.info else { return true };
    let order = records.events.order();
    let fault = find_wrong_type(records, info)
        .or_else(|| find_wrong_pmu(records, info, order))
        .or_else(|| find_wrong_clock(records, info, order))
        .or_else(|| find_wrong_cpu(records, info, order));
    let Some((field, defect, fix)) = fault else { return true };
    let size = byte_count(info.span.len());
    let message = format!("malformed AUXTRACE_INFO of {size}: auxtrace_info.{field} {defect}");
    let path = place.path(&format!(".auxtrace_info.{field}"));
    let fix = if records.can_drop { fix } else { Fix { edits: Vec::new(), ..fix } };
    report.push(Finding::new(&rules::RECORD_MALFORMED, info.span, path, message).fix(fix));
    false
}

/// A field, its defect, and the fix.
type Fault = (&'static str, String, Fix);

/// A type that no perf up to the one that recorded knows.
fn find_wrong_type(records: &RecordCheck, info: &TracerInfo) -> Option<Fault> {
    let is_unknown = info.kind > LAST && !records.machine.may_be_newer();
    let defect = format!("is {}, expected at most {LAST}", info.kind);
    is_unknown.then(|| ("type", defect, drop_info(info)))
}

/// A PMU that is not the tracer's: perf 6.1 ends at CoreSight without an event of the PMU, and
/// takes the samples of an event of the kernel for those of Arm SPE.
fn find_wrong_pmu(records: &RecordCheck, info: &TracerInfo, order: Order) -> Option<Fault> {
    let (found, field) = info.pmu?;
    let events = &records.events;
    if events.is_partial() || events.attrs().is_empty() {
        return None;
    }
    let kinds: BTreeSet<u64> = events.attrs().iter().map(|attr| attr.kind.into()).collect();
    let is_wrong = match records.aux.tracer() {
        Some(Tracer::CoreSight) => !kinds.contains(&found),
        _ => found < FIRST_PMU && kinds.contains(&found),
    };
    if !is_wrong {
        return None;
    }
    let mut others = kinds.iter().filter(|kind| **kind >= FIRST_PMU || kinds.len() == 1);
    let fix = match (others.next(), others.next()) {
        (Some(right), None) if *right != found => set_word("pmu_type", *right, field, order),
        _ => drop_info(info),
    };
    Some(("pmu_type", format!("is {found}, which is not the PMU of an event of the tracer"), fix))
}

/// A clock of Intel PT by which perf divides by 0. TIME_CONV has the same words.
fn find_wrong_clock(records: &RecordCheck, info: &TracerInfo, order: Order) -> Option<Fault> {
    let clock = info.clock.filter(PtClock::is_zero)?;
    let [shift, mult] = clock.words;
    let defect = format!("is {mult} and time_shift {shift}: less than 50 MHz");
    let words = records.aux.clock.map(|(conv, _)| (conv.span, [conv.shift, conv.mult]));
    let words = words.filter(|(_, words)| !PtClock { words: *words, ..clock }.is_zero());
    let fix = words.map(|(witness, words)| {
        let bytes: Vec<u8> =
            words.into_iter().flat_map(|word| repair::u64_bytes(word, order)).collect();
        let summary = "set the clock of AUXTRACE_INFO to that of TIME_CONV";
        let edits = vec![Edit::replace(clock.span, bytes)];
        Fix::new(Safety::Lossy, summary, edits).altered(1).witness(witness, "TIME_CONV")
    });
    Some(("time_mult", defect, fix.unwrap_or_else(|| drop_info(info))))
}

/// A CPU of CoreSight that has traces, but no words: perf 7.2 ends at its first trace.
fn find_wrong_cpu(records: &RecordCheck, info: &TracerInfo, order: Order) -> Option<Fault> {
    let (first, _) = info.cpus.first()?;
    let known: BTreeSet<u64> = info.cpus.iter().map(|(cpu, _)| *cpu).collect();
    let traces = records.aux.traces.iter().map(|(trace, _)| trace);
    let of_cpus = || traces.clone().filter(|trace| trace.buffer.cpu != ANY);
    let is_wild = |trace: &&AuxTrace| !known.contains(&trace.buffer.cpu.into());
    let wild: Vec<&AuxTrace> = of_cpus().filter(is_wild).collect();
    let missing: BTreeSet<u32> = wild.iter().map(|trace| trace.buffer.cpu).collect();
    let cpu = missing.first()?;
    let used: BTreeSet<u64> = of_cpus().map(|trace| trace.buffer.cpu.into()).collect();
    let is_unused = |cpu: u64| !used.contains(&cpu);
    let mut unused = info.cpus.iter().filter(|(known, _)| is_unused(*known));
    let fix = match (unused.next(), unused.next()) {
        (Some((_, field)), None) if missing.len() == 1 => {
            set_word("cpu", (*cpu).into(), *field, order)
        }
        _ => drop_traces(&wild),
    };
    let defect = format!("is {first} and others, but CPU {cpu} has traces and is not among them");
    Some(("cpu", defect, fix))
}

fn set_word(name: &str, value: u64, field: Span, order: Order) -> Fix {
    let bytes = match u32::try_from(value) {
        Ok(word) if field.len() == 4 => repair::u32_bytes(word, order).to_vec(),
        _ => repair::u64_bytes(value, order).to_vec(),
    };
    let summary = format!("set auxtrace_info.{name} to {value}");
    Fix::new(Safety::Lossy, summary, vec![Edit::replace(field, bytes)]).altered(1)
}

fn drop_info(info: &TracerInfo) -> Fix {
    let summary = format!("drop the record of {}", byte_count(info.span.len()));
    let edits = vec![Edit::drop(info.span)];
    Fix { records_lost: 1, ..Fix::new(Safety::Lossy, summary, edits) }
}

fn drop_traces(traces: &[&AuxTrace]) -> Fix {
    let count = to_u64(traces.len());
    let edits = traces.iter().map(|trace| Edit::drop(trace.whole())).collect();
    let summary = format!("drop {}", plural(count, "trace"));
    Fix { records_lost: count, ..Fix::new(Safety::Lossy, summary, edits) }
}
