//! AUXTRACE_INFO: what a tracer of the processor needs to be known for its trace to be read.
//!
//! ```text
//!  u32 type, u32 0, u64 words of the tracer
//!
//!  CoreSight:  version, PMU type << 32 | CPUs, snapshot, and for each CPU
//!              magic, CPU, number of parameters (since version 1), parameters
//!  Arm SPE:    PMU type, mappings; since version 2: version, words of this head, PMU type, CPUs,
//!              and for each CPU as many words, of which the first is a magic
//!  Intel PT:   16 words, length of a filter, its text, padded
//! ```
//!
//! Source: `*_process_auxtrace_info` of `tools/perf/util`. perf refuses the recording (exit 234) or
//! crashes where a word contradicts the others. Newer versions may know more types.

use super::rest;
use super::tracer_words::log_words;
use crate::formats::perf::decode::body::BodyError;
use crate::formats::perf::layout::tracers::{
    self, ARM_SPE, ARM_SPE_MAGIC, BTS, CORESIGHT, CPUMSF, PT, SPE, TRACE_UNITS,
};
use crate::kit::cursor::Cursor;
use crate::kit::num::to_u64;
use crate::kit::row::row_size;

/// The last type that a newer perf may have.
const LAST_FUTURE: u32 = 15;
/// Last version of the words of CoreSight.
const CORESIGHT_VERSION: u64 = 2;

/// Reads the fields.
pub(super) fn fields(own: &mut Cursor<'_>) -> Result<(), BodyError> {
    let mut head = own.part(8, "auxtrace_info.type")?;
    let start = head.position();
    let kind = head.u32("auxtrace_info.type")?;
    let span = head.since(start);
    head.skip(1, 4, "auxtrace_info.reserved")?;
    if kind == 0 {
        return Err(BodyError::Zero { label: "auxtrace_info.type", span });
    }
    if let Some(right) = type_by_words(kind, own) {
        let (label, value) = ("auxtrace_info.type", kind.into());
        return Err(BodyError::Differs { label, value, right: right.into(), span });
    }
    if kind > LAST_FUTURE {
        let (label, value, most) = ("auxtrace_info.type", kind.into(), tracers::LAST.into());
        return Err(BodyError::TooLarge { label, value, most, span });
    }
    let needed = tracers::words(kind).map_or(0, |words| row_size(words.needed));
    own.unlogged().skip(1, needed, "auxtrace_info.priv")?;
    match kind {
        CORESIGHT => coresight(own.unlogged())?,
        SPE => spe(own.unlogged())?,
        BTS => bts(own.unlogged())?,
        PT => pt(own.unlogged())?,
        _ => {}
    }
    if own.has_log() {
        // The words fit, since they were read above.
        _ = log_words(own, kind);
    }
    rest(own);
    Ok(())
}

/// Returns the type of another tracer, whose words show that the type is damaged.
fn type_by_words(kind: u32, words: &Cursor<'_>) -> Option<u32> {
    if kind != CORESIGHT && coresight(words.unlogged()).is_ok() {
        return Some(CORESIGHT);
    }
    let is_other = kind == CPUMSF || kind > LAST_FUTURE;
    if is_other && words.left() == row_size(ARM_SPE) {
        return Some(SPE);
    }
    let has_filter =
        |words: Cursor<'_>| words.left() >> 3 > before_filter() >> 3 && pt(words).is_ok();
    (is_other && has_filter(words.unlogged())).then_some(PT)
}

/// Reads a word, which is at most `most`.
fn word(cursor: &mut Cursor<'_>, label: &'static str, most: u64) -> Result<u64, BodyError> {
    let start = cursor.position();
    let value = cursor.u64(label)?;
    if value <= most {
        return Ok(value);
    }
    Err(BodyError::TooLarge { label, value, most, span: cursor.since(start) })
}

/// The words of Intel BTS: perf divides by the multiplier (SIGFPE).
fn bts(mut words: Cursor<'_>) -> Result<(), BodyError> {
    words.skip(2, 8, "auxtrace_info.priv")?;
    let (start, label) = (words.position(), "auxtrace_info.time_mult");
    match words.u64(label)? {
        0 => Err(BodyError::Zero { label, span: words.since(start) }),
        _ => Ok(()),
    }
}

/// The words of CoreSight: the CPUs fill the record.
fn coresight(mut words: Cursor<'_>) -> Result<(), BodyError> {
    let version = word(&mut words, "auxtrace_info.version", CORESIGHT_VERSION)?;
    let start = words.position();
    let value = words.u64("auxtrace_info.cpus")?;
    let (pmu, cpus) = (value & !u64::from(u32::MAX), value & u64::from(u32::MAX));
    let counted = words.since(start);
    words.skip(1, 8, "auxtrace_info.snapshot")?;
    let mut found = 0_u64;
    while !words.is_empty() {
        coresight_cpu(&mut words, version, cpus == 1)?;
        found = found.saturating_add(1);
    }
    if found == cpus && cpus > 0 {
        return Ok(());
    }
    let label = "auxtrace_info.cpus";
    Err(BodyError::Differs { label, value, right: pmu | found, span: counted })
}

/// The words of a CPU of CoreSight; those of the only CPU fill the record.
fn coresight_cpu(words: &mut Cursor<'_>, version: u64, is_only: bool) -> Result<(), BodyError> {
    let start = words.position();
    let magic = words.u64("auxtrace_info.magic")?;
    let nearest = TRACE_UNITS.iter().min_by_key(|unit| (unit.magic ^ magic).count_ones());
    let unknown = BodyError::Differs {
        label: "auxtrace_info.magic",
        value: magic,
        right: nearest.map_or(0, |unit| unit.magic),
        span: words.since(start),
    };
    let unit = nearest.filter(|unit| unit.magic == magic).ok_or(unknown)?;
    words.skip(1, 8, "auxtrace_info.cpu")?;
    let parameters = match version {
        0 => unit.in_version_0.ok_or(unknown)?,
        _ if is_only => only_parameters(words)?,
        _ => word(words, "auxtrace_info.parameters", words.left() >> 3)?,
    };
    Ok(words.skip(parameters, 8, "auxtrace_info.parameters")?)
}

/// Reads the number of parameters of the only CPU.
fn only_parameters(words: &mut Cursor<'_>) -> Result<u64, BodyError> {
    let (start, label) = (words.position(), "auxtrace_info.parameters");
    let value = words.u64(label)?;
    let right = words.left() >> 3;
    let span = words.since(start);
    if value == right { Ok(value) } else { Err(BodyError::Differs { label, value, right, span }) }
}

/// The words of Arm SPE.
fn spe(mut words: Cursor<'_>) -> Result<(), BodyError> {
    if words.left() == row_size(ARM_SPE) {
        return Ok(());
    }
    words.skip(1, 8, "auxtrace_info.version")?;
    let most = words.left() >> 3;
    let head = word(&mut words, "auxtrace_info.head", most)?;
    words.skip(1, 8, "auxtrace_info.pmu_type")?;
    let start = words.position();
    let cpus = words.u64("auxtrace_info.cpus")?;
    let span = words.since(start);
    words.skip(head.saturating_sub(4), 8, "auxtrace_info.head")?;
    let left = words.left() >> 3;
    let each = left.checked_div(cpus).filter(|each| each.checked_mul(cpus) == Some(left));
    let Some(each) = each.filter(|each| *each > 0) else {
        let label = "auxtrace_info.cpus";
        return Err(BodyError::Differs { label, value: cpus, right: count_magics(&words), span });
    };
    while !words.is_empty() {
        let start = words.position();
        let mut cpu = words.window(each.saturating_mul(8), "auxtrace_info.cpu")?;
        let value = cpu.u64("auxtrace_info.magic")?;
        if value != ARM_SPE_MAGIC {
            let (label, span) = ("auxtrace_info.magic", cpu.since(start));
            return Err(BodyError::Differs { label, value, right: ARM_SPE_MAGIC, span });
        }
    }
    Ok(())
}

fn count_magics(words: &Cursor<'_>) -> u64 {
    let mut words = words.unlogged();
    let all = std::iter::from_fn(|| words.u64("auxtrace_info.magic").ok());
    to_u64(all.filter(|word| *word == ARM_SPE_MAGIC).count())
}

/// Returns the size of the words of Intel PT before the length of its filter.
fn before_filter() -> u64 {
    let words = tracers::words(PT);
    words.map_or(0, |pt| row_size(pt.needed).saturating_add(row_size(pt.more)))
}

/// The words of Intel PT: a filter is inside the record and has a NUL.
fn pt(mut words: Cursor<'_>) -> Result<(), BodyError> {
    if words.skip(1, before_filter(), "auxtrace_info.priv").is_err() || words.is_empty() {
        return Ok(());
    }
    let start = words.position();
    let len = words.u64("auxtrace_info.filter")?;
    let span = words.since(start);
    let room = words.left();
    let padded = len.checked_add(1).and_then(|len| len.checked_next_multiple_of(8));
    match padded {
        _ if len == 0 => Ok(()),
        Some(padded) if padded <= room => Ok(()),
        _ => Err(BodyError::Count {
            label: "auxtrace_info.filter",
            value: len,
            most: room.saturating_sub(1),
            span,
        }),
    }
}
