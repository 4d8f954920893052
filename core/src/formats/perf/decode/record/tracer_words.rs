//! The words of AUXTRACE_INFO under their names, for people: those that the check has accepted.

use crate::formats::perf::layout::tracers::{
    ARM_SPE, ARM_SPE_CPU, ARM_SPE_HEAD, CORESIGHT, CORESIGHT_COUNT, CORESIGHT_CPU, CORESIGHT_HEAD,
    CORESIGHT_HEAD_BIG, INTEL_PT_LAST, PT, SPE, TRACE_UNITS, words,
};
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::row::row_size;

/// Words that have no name here.
const OTHERS: &str = "auxtrace_info.priv";

/// Notes the words of a tracer, as far as they have names.
pub(super) fn log_words(own: &mut Cursor<'_>, kind: u32) -> Result<(), ReadError> {
    if kind == CORESIGHT {
        return coresight(own);
    }
    if kind == SPE && own.left() != row_size(ARM_SPE) {
        return spe(own);
    }
    let Some(tracer) = words(kind) else { return Ok(()) };
    own.row(tracer.needed)?;
    own.fitting(tracer.more);
    if kind == PT && own.left() >= 8 { pt_filter(own) } else { Ok(()) }
}

/// Intel PT after its words: a filter, with a NUL and padded to 8, and what came later.
fn pt_filter(own: &mut Cursor<'_>) -> Result<(), ReadError> {
    let len = own.u64("auxtrace_info.filter_str_len")?;
    if len > 0 {
        own.skip(1, len, "auxtrace_info.filter")?;
        own.skip(1, 8_u64.saturating_sub(len & 7), "auxtrace_info.padding")?;
    }
    own.fitting(INTEL_PT_LAST);
    Ok(())
}

fn coresight(own: &mut Cursor<'_>) -> Result<(), ReadError> {
    let version = own.unlogged().u64("auxtrace_info.version")?;
    own.row(match own.order() {
        Order::Little => CORESIGHT_HEAD,
        Order::Big => CORESIGHT_HEAD_BIG,
    })?;
    while !own.is_empty() {
        let magic = own.unlogged().u64("auxtrace_info.magic")?;
        own.row(CORESIGHT_CPU)?;
        let unit = TRACE_UNITS.iter().find(|unit| unit.magic == magic);
        let count = match version {
            0 => unit.and_then(|unit| unit.in_version_0).unwrap_or(0),
            _ => own.u64(CORESIGHT_COUNT)?,
        };
        let mut registers = own.part(count.saturating_mul(8), OTHERS)?;
        registers.fitting(unit.map_or(&[], |unit| unit.registers));
        registers.skip(1, registers.left(), OTHERS)?;
    }
    Ok(())
}

/// Arm SPE since version 2: the CPUs share the words after the head.
fn spe(own: &mut Cursor<'_>) -> Result<(), ReadError> {
    let mut ahead = own.unlogged();
    ahead.skip(1, 8, "auxtrace_info.version")?;
    let head = ahead.u64("auxtrace_info.head")?;
    ahead.skip(1, 8, "auxtrace_info.pmu_type")?;
    let cpus = ahead.u64("auxtrace_info.cpus")?;
    own.row(ARM_SPE_HEAD)?;
    own.skip(head.saturating_sub(4), 8, OTHERS)?;
    let each = own.left().checked_div(cpus).unwrap_or(0);
    while each > 0 && own.left() >= each {
        let mut cpu = own.part(each, OTHERS)?;
        cpu.fitting(ARM_SPE_CPU);
        cpu.skip(1, cpu.left(), OTHERS)?;
    }
    Ok(())
}
