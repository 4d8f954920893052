//! Records of perf itself, types 64 and up, as far as their fields are not declared.

use super::{Detail, auxtrace, build_id_size, list, padding, rest, simpleperf, string, terminated};
use crate::formats::perf::decode::attr::{attr, stated_size};
use crate::formats::perf::decode::body::{BodyError, COUNT64, CountField, skip_counted, skip_rows};
use crate::formats::perf::decode::event_name::is_name;
use crate::formats::perf::layout::records::{
    AUXTRACE, AUXTRACE_ERROR, AUXTRACE_ERROR_GUEST, BPF_METADATA, ID_INDEX, ID_INDEX_GUESTS,
    SCHEDSTAT_DOMAIN, SCHEDSTAT_UNKNOWN,
};
use crate::formats::perf::layout::schedstat::domain_counts;
use crate::formats::perf::layout::{ATTR_SIZE_VER0, MISC_BUILD_ID_SIZE};
use crate::kit::cursor::{Cursor, ReadError};
use crate::kit::num::to_u64;
use crate::kit::row::{Form, Row, row_size};
use crate::kit::span::Span;

/// The ids of an attr.
const IDS: &Row = &[("ids[]", Form::U64)];
/// Most bytes of a TRACING_DATA record of perf after its header: its size, and padding.
const TRACING_HEAD: u64 = 8;
/// Bytes of the text of an AUXTRACE_ERROR, if more fields follow it.
const ERROR_TEXT: u64 = 64;

/// The CPUs of a CPU_MAP: a list of them, masks of both sizes, and a range.
const CPUS: &Row = &[("cpu_map.cpus[]", Form::U16)];
const MASKS32: &Row = &[("cpu_map.mask[]", Form::Hex32)];
const MASKS64: &Row = &[("cpu_map.mask[]", Form::Hex64)];
const CPU_RANGE: &Row = &[
    ("cpu_map.any_cpu", Form::U8),
    ("cpu_map.pad", Form::U8),
    ("cpu_map.start_cpu", Form::U16),
    ("cpu_map.end_cpu", Form::U16),
];

/// The types of a CPU_MAP that are not a list: a mask, and the last one, a range.
const CPU_MAP_MASK: u64 = 1;
const CPU_MAP_RANGE: u64 = 2;

/// Reads what follows the declared fields of a type.
pub(super) fn end(kind: u32, misc: u16, own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    match kind {
        64 => return header_attr(own),
        65 => return Ok(event_type(own)?),
        // The first versions of simpleperf have the content in the record.
        66 if own.left() > TRACING_HEAD => simpleperf::tracing_data(own)?,
        66 => {
            let size = own.u32("tracing_data.size")?;
            // Writers since 5.18 pad the record to 16 bytes.
            rest(own);
            return Ok(Detail::Outside(size.into()));
        }
        67 => return build_id(misc, own),
        69 => {
            let nr = list(own, ID_INDEX, "id_index.nr")?;
            if nr.checked_mul(row_size(ID_INDEX_GUESTS)) == Some(own.left()) {
                own.rows(nr, ID_INDEX_GUESTS)?;
            }
        }
        70 => auxtrace::fields(own)?,
        71 => {
            let size = own.u64("auxtrace.size")?;
            own.row(AUXTRACE)?;
            return Ok(Detail::Outside(size));
        }
        72 => auxtrace_error(own)?,
        74 => cpu_map_record(own)?,
        78 => return event_update(own),
        80 => {
            let id = own.u64("feature.feat_id")?;
            return Ok(Detail::Feature { id, data: rest(own) });
        }
        81 => return Ok(Detail::Compressed(rest(own))),
        83 => return compressed2(own),
        84 => bpf_metadata(own)?,
        86 => schedstat_domain(own)?,
        _ => return Ok(Detail::Unknown),
    }
    Ok(Detail::Plain)
}

/// HEADER_ATTR: an attr of the size that it states, and u64 ids.
fn header_attr(own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    let start = own.position();
    let size = u64::from(stated_size(own)?).max(ATTR_SIZE_VER0);
    let mut inner = own.clone();
    own.skip(1, size, "attr")?;
    if inner.has_entries() {
        let order = inner.order();
        // A fault of the attr is no fault of the record.
        let _attr = attr(&mut inner, order);
    }
    let attr = own.since(start);
    let start = own.position();
    own.rows(own.left() >> 3, IDS)?;
    Ok(Detail::Attr { attr, ids: own.since(start) })
}

/// HEADER_EVENT_TYPE after its id: a name, which may lack its NUL.
fn event_type(own: &mut Cursor<'_>) -> Result<Detail, ReadError> {
    let start = own.position();
    own.bytes(to_u64(own.until_nul().len()), "event_type.name")?;
    let name = own.since(start);
    rest(own);
    Ok(Detail::Name(name))
}

/// BUILD_ID after its process: { u8 build_id[20], u8 size, u8, u16, filename }. A `sample_id` may
/// follow the name in what `perf inject` writes.
fn build_id(misc: u16, own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    own.skip(1, 20, "build_id.build_id")?;
    if misc & MISC_BUILD_ID_SIZE == 0 {
        own.skip(1, 4, "build_id.size")?;
    } else {
        build_id_size(own, "build_id.size")?;
        own.skip(1, 3, "build_id.reserved")?;
    }
    string(own, "build_id.filename")
}

/// AUXTRACE_ERROR: { type code cpu pid tid fmt, u64 ip, u64 time if fmt > 0, msg, machine_pid vcpu
/// if fmt > 1 }. perf 6.1 reads a table of names at a type, which is signed.
fn auxtrace_error(own: &mut Cursor<'_>) -> Result<(), BodyError> {
    let start = own.position();
    let (label, most) = ("auxtrace_error.type", u64::from(u32::MAX >> 1));
    let value = own.u32(label)?.into();
    if value > most {
        return Err(BodyError::TooLarge { label, value, most, span: own.since(start) });
    }
    own.row(AUXTRACE_ERROR)?;
    let fmt = own.u32("auxtrace_error.fmt")?;
    own.hex64("auxtrace_error.ip")?;
    if fmt > 0 {
        own.u64("auxtrace_error.time")?;
    }
    let label = "auxtrace_error.msg";
    if fmt > 1 && own.left() >= row_size(AUXTRACE_ERROR_GUEST).saturating_add(ERROR_TEXT) {
        string(&mut own.part(ERROR_TEXT, label)?, label)?;
        return Ok(own.row(AUXTRACE_ERROR_GUEST)?);
    }
    string(own, label).map(drop)
}

/// A record CPU_MAP. perf 6.1 ends with status 244 at one of another type, or of a range whose
/// first CPU is above its last, perf 6.12 also at one of no CPU or of words of another size, and
/// perf 7.2 at one of no CPU; they ignore each in EVENT_UPDATE.
fn cpu_map_record(own: &mut Cursor<'_>) -> Result<(), BodyError> {
    let mut ahead = own.unlogged();
    let start = ahead.position();
    let (value, most) = (ahead.u16("cpu_map.type")?.into(), CPU_MAP_RANGE);
    if value > most {
        let span = ahead.since(start);
        return Err(BodyError::TooLarge { label: "cpu_map.type", value, most, span });
    }
    let start = ahead.position();
    if value == 0 && ahead.unlogged().u16("cpu_map.nr")? == 0 {
        let mut field = ahead.unlogged();
        field.skip(1, 2, "cpu_map.nr")?;
        return Err(BodyError::Zero { label: "cpu_map.nr", span: field.since(start) });
    }
    if value == CPU_MAP_MASK {
        check_mask(ahead.unlogged())?;
    }
    if value == CPU_MAP_RANGE {
        ahead.skip(1, 2, "cpu_map.any_cpu")?;
        let start = ahead.position();
        let value = ahead.u16("cpu_map.start_cpu")?.into();
        let span = ahead.since(start);
        let most = ahead.u16("cpu_map.end_cpu")?.into();
        if value > most {
            return Err(BodyError::TooLarge { label: "cpu_map.start_cpu", value, most, span });
        }
    }
    cpu_map(own)
}

/// Checks a mask of CPUs: words of 4 or 8 bytes, of which one has a bit.
fn check_mask(mut mask: Cursor<'_>) -> Result<(), BodyError> {
    let nr = mask.u16("cpu_map.nr")?;
    let start = mask.position();
    let value = mask.u16("cpu_map.long_size")?.into();
    if ![4, 8].contains(&value) {
        let (label, span) = ("cpu_map.long_size", mask.since(start));
        return Err(BodyError::Differs { label, value, right: 8, span });
    }
    if value == 8 {
        mask.skip(1, 4, "cpu_map.pad")?;
    }
    let start = mask.position();
    let words = (0..nr).map_while(|_| match value {
        8 => mask.u64("cpu_map.mask").ok(),
        _ => mask.u32("cpu_map.mask").ok().map(u64::from),
    });
    match words.fold(0, |all, word| all | word) {
        0 => Err(BodyError::Zero { label: "cpu_map.mask", span: mask.since(start) }),
        _ => Ok(()),
    }
}

/// CPU_MAP: { u16 type, and: 0 { u16 nr, u16 each }; 1 { u16 nr, u16 long_size, masks, for a
/// long_size of 8 after 4 bytes of padding }; 2 { u8 any, u8, u16 first, u16 last } }, padded to 8.
fn cpu_map(own: &mut Cursor<'_>) -> Result<(), BodyError> {
    match own.u16("cpu_map.type")? {
        0 => {
            let nr = own.u16("cpu_map.nr")?;
            let count = CountField { before: 2, size: 2 };
            skip_rows(own, nr.into(), CPUS, "cpu_map.nr", count)?;
        }
        1 => {
            let nr = u64::from(own.u16("cpu_map.nr")?);
            let long_size = u64::from(own.u16("cpu_map.long_size")?);
            let mut before = 4;
            if long_size == 8 {
                own.skip(1, 4, "cpu_map.pad")?;
                before = 8;
            }
            let count = CountField { before, size: 2 };
            match long_size {
                8 => skip_rows(own, nr, MASKS64, "cpu_map.nr", count)?,
                4 => skip_rows(own, nr, MASKS32, "cpu_map.nr", count)?,
                _ => skip_counted(own, nr, long_size, "cpu_map.nr", count)?,
            }
        }
        2 => own.row(CPU_RANGE)?,
        _ => {
            rest(own);
        }
    }
    padding(own);
    Ok(())
}

/// EVENT_UPDATE: { u64 type, u64 id, and: 0 unit, a string; 1 scale, a double; 2 name, a string; 3
/// a CPU map }. Writers reserve room for the longest kind; the rest is zeros.
fn event_update(own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    let kind = own.u64("event_update.type")?;
    own.u64("event_update.id")?;
    let mut detail = Detail::Plain;
    match kind {
        0 => detail = Detail::Name(terminated(own, "event_update.unit")?),
        1 => own.skip(1, 8, "event_update.scale")?,
        2 => detail = Detail::Name(event_name(own)?),
        3 => cpu_map(own)?,
        _ => drop(rest(own)),
    }
    if own.rest().iter().all(|byte| *byte == 0) {
        rest(own);
    }
    Ok(detail)
}

/// The name in an EVENT_UPDATE. perf shows the samples of the event under it.
fn event_name(own: &mut Cursor<'_>) -> Result<Span, BodyError> {
    let (label, text) = ("event_update.name", own.until_nul());
    let span = terminated(own, label)?;
    if is_name(text) { Ok(span) } else { Err(BodyError::NoName { label, span }) }
}

/// COMPRESSED2: { u64 data_size, as many bytes }, padded to 8.
fn compressed2(own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    let size = own.u64("compressed2.data_size")?;
    let start = own.position();
    skip_counted(own, size, 1, "compressed2.data_size", COUNT64)?;
    let data = own.since(start);
    padding(own);
    Ok(Detail::Compressed(data))
}

/// BPF_METADATA: { prog_name, u64 nr, nr * { key[64], value[256] } }. The name has `KSYM_NAME_LEN`
/// bytes of the kernel headers that perf was built with, 256 or 512; at most one of them fits the
/// count.
fn bpf_metadata(own: &mut Cursor<'_>) -> Result<(), BodyError> {
    let mut long = own.unlogged();
    let is_long = long.skip(1, 512, "bpf_metadata.prog_name").is_ok()
        && list(&mut long, BPF_METADATA, "bpf_metadata.nr_entries").is_ok()
        && long.is_empty();
    own.skip(1, if is_long { 512 } else { 256 }, "bpf_metadata.prog_name")?;
    list(own, BPF_METADATA, "bpf_metadata.nr_entries").map(drop)
}

/// SCHEDSTAT_DOMAIN: { u64 timestamp, u32 cpu, u16 version, u16 domain, u32 counts }. perf 7.2
/// reserves room for the counts of the version that has the most.
fn schedstat_domain(own: &mut Cursor<'_>) -> Result<(), BodyError> {
    own.row(SCHEDSTAT_DOMAIN)?;
    let version = own.u16("schedstat.version")?;
    own.u16("schedstat.domain")?;
    let known = domain_counts(version);
    known.iter().for_each(|row| own.fitting(row));
    if known.is_empty() {
        own.rows(own.left() >> 2, SCHEDSTAT_UNKNOWN)?;
    }
    rest(own);
    Ok(())
}
