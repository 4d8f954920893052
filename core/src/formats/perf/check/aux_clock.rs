//! The TIME_CONV by which perf turns the times of samples into the clock of Arm SPE.

use super::aux_records::AuxRecords;
use crate::formats::perf::decode::record::aux::TimeConv;
use crate::formats::perf::decode::record::tracer::TracerInfo;
use crate::formats::perf::decode::trace::Tracer;
use crate::formats::perf::layout::record as kind;
use crate::formats::perf::{repair, rules};
use crate::kit::cursor::Order;
use crate::kit::span::Span;
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::{Finding, Report, Severity};

/// The largest shift of a u32.
const MOST_SHIFT: u64 = 31;
/// Words of a TIME_CONV: shift, multiplier, zero, cycles, mask, and two flags.
const WORDS: [u64; 6] = [0, 1, 0, 0, u64::MAX, 0];

/// Checks the clock of a recording with Arm SPE. `is_recorder_old` tells whether the perf that
/// recorded wrote no TIME_CONV for Arm.
pub(super) fn check(
    aux: &AuxRecords,
    is_recorder_old: bool,
    can_edit: bool,
    order: Order,
    report: &mut Report,
) {
    let Some((TracerInfo { span: info, .. }, place)) = aux.info else { return };
    if aux.tracer() != Some(Tracer::ArmSpe) {
        return;
    }
    let rule = &rules::TRACE_CLOCK_MISSING;
    match aux.clock {
        Some((clock, place)) if clock.is_zero() => {
            let message = match clock.mult {
                0 => "time_conv.time_mult is 0, expected at least 1".to_string(),
                mult => format!("the low 32 bits of time_conv.time_mult, {mult:#x}, are 0"),
            };
            let finding = Finding::new(rule, clock.span, place.path(".time_mult"), message);
            report.push(finding.fix(set_multiplier(&clock, can_edit, order)));
        }
        Some((clock, _)) if clock.span.start < info.start => {}
        late => {
            let message = match late {
                Some((clock, _)) => format!("TIME_CONV at {} follows AUXTRACE_INFO", clock.span),
                None => "missing TIME_CONV before AUXTRACE_INFO".to_string(),
            };
            let mut finding = Finding::new(rule, info, place.path(""), message);
            if is_recorder_old {
                finding.severity = Severity::Warning;
            }
            report.push(finding.fix(add_clock(info, can_edit, order)));
        }
    }
}

/// Sets the multiplier so that a tick is a nanosecond.
fn set_multiplier(clock: &TimeConv, can_edit: bool, order: Order) -> Fix {
    let mult = match u32::try_from(clock.shift) {
        Ok(shift) if clock.shift <= MOST_SHIFT => 1_u64.checked_shl(shift).unwrap_or(1),
        _ => 1,
    };
    let at = clock.span.start.saturating_add(TimeConv::MULT_AT);
    let field = Span::sized(clock.span.layer, at, 8);
    let edit = Edit::replace(field, repair::u64_bytes(mult, order));
    let edits = if can_edit { vec![edit] } else { Vec::new() };
    Fix::new(Safety::Lossy, format!("set time_conv.time_mult to {mult}"), edits).altered(1)
}

/// Adds a TIME_CONV by which a tick is a nanosecond.
fn add_clock(info: Span, can_edit: bool, order: Order) -> Fix {
    let body: Vec<u8> = WORDS.into_iter().flat_map(|word| repair::u64_bytes(word, order)).collect();
    let record = repair::record_bytes(kind::TIME_CONV, &body, order).filter(|_| can_edit);
    let place = Span::sized(info.layer, info.start, 0);
    let edits = record.map(|record| Edit::replace(place, record)).into_iter().collect();
    Fix::new(Safety::Synthetic, "add a TIME_CONV of 1 ns per tick", edits)
}
