//! The records of the kernel about traces: perf ends at those that it cannot place.

use std::collections::BTreeSet;

use super::aux_records::{ANY, AuxRecords, Told};
use crate::formats::perf::decode::record;
use crate::formats::perf::decode::trace::Tracer;
use crate::formats::perf::layout::{MOST_CPUS, record as kind};
use crate::formats::perf::{repair, rules};
use crate::kit::cursor::Order;
use crate::kit::span::Span;
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::{Finding, Report};

/// The bits of `aux.flags` that kernels set: four flags, and the format of the PMU.
const FLAGS: u64 = 0xff0f;
/// Offset of `aux.flags` in the record.
const FLAGS_AT: u64 = 24;
/// The first bit of the version of `hw_id`, of which there is 0.
const VERSION_BIT: u32 = 60;

/// Checks the records. Returns whether perf reads them.
pub(super) fn check(aux: &AuxRecords, can_edit: bool, order: Order, report: &mut Report) -> bool {
    let Some(tracer) = aux.tracer() else { return true };
    let cpus = aux.info.iter().flat_map(|(info, _)| &info.cpus);
    let cpus: BTreeSet<u64> = cpus.map(|(cpu, _)| *cpu).collect();
    let mut is_read = true;
    for told in &aux.told {
        let fault = match tracer {
            Tracer::CoreSight => find_fault(&cpus, told),
            Tracer::IntelPt => find_impossible_cpu(told),
            Tracer::ArmSpe => None,
        };
        let Some((field, defect)) = fault else { continue };
        is_read = false;
        let rule = &rules::RECORD_MALFORMED;
        report.push_with(rule, rule.severity, || {
            let name = record::name(told.kind).unwrap_or("record");
            let message = format!("malformed {name} of {}: {field} {defect}", tracer.name());
            let path = told.place.path(&format!(".{field}"));
            let fix = build_fix(told, can_edit, order);
            Finding::new(rule, told.span, path, message).fix(fix)
        });
    }
    is_read
}

/// Returns the CPU of a record by which perf notes the thread that is traced.
fn find_impossible_cpu(told: &Told) -> Option<(&'static str, String)> {
    let is_start = !matches!(told.kind, kind::AUX | kind::AUX_OUTPUT_HW_ID);
    let cpu = told.cpu.filter(|cpu| is_start && *cpu != ANY)?;
    Some(("cpu", format!("is {cpu}, expected less than {MOST_CPUS}")))
}

/// Returns the field of CoreSight that perf does not read, and its defect; `cpus`: those of
/// AUXTRACE_INFO.
fn find_fault(cpus: &BTreeSet<u64>, told: &Told) -> Option<(&'static str, String)> {
    if told.kind == kind::AUX {
        let unknown = told.value & !FLAGS;
        return (unknown != 0).then(|| ("flags", format!("has unknown bits {unknown:#x}")));
    }
    if told.kind != kind::AUX_OUTPUT_HW_ID {
        return None;
    }
    let version = told.value >> VERSION_BIT;
    if version > 0 {
        return Some(("hw_id", format!("has version {version}, expected 0")));
    }
    let cpu = told.cpu?;
    let is_known = cpus.is_empty() || cpus.contains(&cpu.into());
    (!is_known).then(|| ("cpu", format!("is {cpu}, which is not among those of AUXTRACE_INFO")))
}

/// Clears the flags, or drops the record.
fn build_fix(told: &Told, can_edit: bool, order: Order) -> Fix {
    let (summary, edit) = match told.kind {
        kind::AUX => {
            let at = told.span.start.saturating_add(FLAGS_AT);
            // Beside several unknown flags, the known ones are not those of a kernel either.
            let is_one = (told.value & !FLAGS).count_ones() == 1;
            let flags = if is_one { told.value & FLAGS } else { 0 };
            let field = Span::sized(told.span.layer, at, 8);
            let edit = Edit::replace(field, repair::u64_bytes(flags, order));
            (format!("set aux.flags to {flags:#x}"), edit)
        }
        _ => ("drop the record".to_string(), Edit::drop(told.span)),
    };
    let is_drop = told.kind != kind::AUX;
    let edits = if can_edit { vec![edit] } else { Vec::new() };
    let fix = Fix::new(Safety::Lossy, summary, edits);
    if is_drop { Fix { records_lost: 1, ..fix } } else { fix.altered(1) }
}
