//! TRACING_DATA: the descriptions of all tracepoints by the kernel that was traced.
//!
//! ```text
//!  head               see `feature` (magic, byte order, formats of the ring buffer)
//!  u32 count, each    u64 size, text        formats of ftrace's own events
//!  u32 count, each    system, NUL, u32 count, each u64 size, text
//!  ...                symbols, printk formats and command lines, which samples do not need
//! ```
//!
//! Each text is the content of `events/SYSTEM/EVENT/format` in tracefs. Sources: perf's
//! `util/trace-event-info.c` (writer) and `util/trace-event-read.c` (reader).

use std::collections::{BTreeMap, BTreeSet};

use super::format;
use super::trace_field::{self, TraceField};
use crate::formats::perf::decode::feature::error::FeatureError;
use crate::formats::perf::decode::feature::lists::repeated;
use crate::formats::perf::decode::feature::sections::tracing_head;
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::{align8, to_u64};
use crate::kit::span::{Layer, Span};

/// Size of the smallest format in bytes: its size field.
const FORMAT_MIN: u64 = 8;
/// Size of the smallest system in bytes: the NUL after its name, and a count.
const SYSTEM_MIN: u64 = 5;

/// Most bytes of the name of a system; those of the kernel have up to 30.
const NAME_MOST: usize = 256;
/// Most fields of a tracepoint: a probe has 128 arguments at most (`MAX_TRACE_ARGS`), and each has
/// some that all events have. Each sample is read by all of them.
const FIELDS_MOST: usize = 256;

/// The ids of the tracepoints of a recording, each with the index of its first attr.
pub type WantedTracepoints = BTreeMap<u64, usize>;

/// The descriptions of the requested tracepoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracing {
    /// Byte order of the traced kernel.
    pub order: Order,
    /// Descriptions by tracepoint id, the value of `attr.config`.
    pub descriptions: BTreeMap<u64, Description>,
}

/// A tracepoint with the fields of its data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Name of its system; empty for ftrace's own events, which have none, and if it is too long.
    pub system: Vec<u8>,
    /// Name within its system.
    pub name: Vec<u8>,
    /// The fields of its data.
    pub fields: Vec<TraceField>,
}

impl Description {
    /// Returns the smallest and the largest size of the raw data of a sample in bytes.
    ///
    /// The kernel rounds the size of raw.size and the fields up to a multiple of 8; before that, a
    /// compiler may have rounded the fields up to their alignment.
    pub fn raw_size(&self) -> (u64, u64) {
        let rounded = |end: u64| align8(end.saturating_add(4)).saturating_sub(4);
        let end = self.fields.iter().map(TraceField::end).max().unwrap_or(0);
        // Strings or arrays may follow the fields.
        let is_dynamic = self.fields.iter().any(TraceField::is_dynamic);
        let most = if is_dynamic { u64::MAX } else { rounded(align8(end)) };
        (rounded(end), most)
    }
}

/// Reads TRACING_DATA, which is the rest of `cursor`, up to the last format. Keeps the descriptions
/// of tracepoints for whose id `wanted` holds.
///
/// # Errors
///
/// The first field that does not fit.
pub fn tracing(
    cursor: &mut Cursor<'_>,
    wanted: impl Fn(u64) -> bool,
) -> Result<Tracing, FeatureError> {
    let (order, mut rest) = tracing_head(cursor)?;
    let mut tracing = Tracing { order, descriptions: BTreeMap::new() };
    formats(&mut rest, wanted, &mut tracing)?;
    Ok(tracing)
}

/// Reads the formats of ftrace's own events and of all systems.
fn formats(
    rest: &mut Cursor<'_>,
    wanted: impl Fn(u64) -> bool,
    tracing: &mut Tracing,
) -> Result<(), FeatureError> {
    repeated(rest, "tracing.ftrace.nr", FORMAT_MIN, |cursor| {
        read_format(cursor, &[], &wanted, tracing)
    })?;
    repeated(rest, "tracing.systems.nr", SYSTEM_MIN, |cursor| {
        let system = cursor.until_nul();
        cursor.skip(1, to_u64(system.len()), "tracing.system")?;
        cursor.u8("tracing.system")?;
        repeated(cursor, "tracing.events.nr", FORMAT_MIN, |cursor| {
            read_format(cursor, system, &wanted, tracing)
        })
    })
}

/// Names of tracepoints by id, as `system:name`.
pub type Names = BTreeMap<u64, Vec<u8>>;

/// Returns the names of these tracepoints in TRACING_DATA; none if it is malformed.
pub fn names(bytes: &[u8], traced: &WantedTracepoints) -> Names {
    // The numbers of TRACING_DATA have the byte order of its own head.
    let mut cursor = Cursor::new(bytes, Layer::stored(0), 0, Order::Little);
    let descriptions =
        tracing(&mut cursor, |id| traced.contains_key(&id)).map(|tracing| tracing.descriptions);
    let named = descriptions.unwrap_or_default().into_iter();
    let named = named.filter(|(_, of)| !of.system.is_empty());
    named.map(|(id, of)| (id, [of.system.as_slice(), b":", &of.name].concat())).collect()
}

/// Reads TRACING_DATA, which is the rest of `cursor`, to its end as perf does.
///
/// # Errors
///
/// The first field that does not fit.
pub fn walk(cursor: &mut Cursor<'_>) -> Result<(), FeatureError> {
    let version = version_of(cursor.rest());
    let (order, mut rest) = tracing_head(cursor)?;
    let mut tracing = Tracing { order, descriptions: BTreeMap::new() };
    formats(&mut rest, |_| false, &mut tracing)?;
    for label in ["tracing.kallsyms", "tracing.printk"] {
        let size = rest.u32(label)?;
        rest.skip(1, size.into(), label)?;
    }
    if version >= Some(b"0.6".as_slice()) {
        let size = rest.u64("tracing.cmdlines")?;
        rest.skip(1, size, "tracing.cmdlines")?;
    }
    // The rest belongs to nobody; the caller sees it.
    cursor.part(cursor.left().saturating_sub(rest.left()), "tracing")?;
    Ok(())
}

/// Returns the version after the magic.
fn version_of(bytes: &[u8]) -> Option<&[u8]> {
    /// Bytes before the version: the magic.
    const MAGIC_LEN: usize = 10;
    bytes.get(MAGIC_LEN..)?.split(|byte| *byte == 0).next()
}

/// Reads a format of an event of `system`.
fn read_format(
    cursor: &mut Cursor<'_>,
    system: &[u8],
    wanted: &impl Fn(u64) -> bool,
    tracing: &mut Tracing,
) -> Result<(), FeatureError> {
    let size = cursor.u64("tracing.format.size")?;
    let start = cursor.position();
    let text = cursor.bytes(size, "tracing.format")?;
    // The kernel writes text, and perf ends or crashes at another structure.
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let control = text.iter().position(is_control).map(to_u64);
    if let Some(at) = control.or_else(|| format::find_fault(text)) {
        let span = Span::new(cursor.ahead().layer, start, start.saturating_add(at));
        return Err(FeatureError::Text { label: "tracing.format", span });
    }
    let Some((id, name)) = read_head(text).filter(|(id, _)| wanted(*id)) else { return Ok(()) };
    // All formats of a system have a copy of its name.
    let system = Some(system).filter(|name| name.len() <= NAME_MOST).unwrap_or_default();
    let (system, name) = (system.to_vec(), name.to_vec());
    let mut description = Description { system, name, ..Description::default() };
    let declared = text.split(|byte| *byte == b'\n').filter_map(trace_field::parse);
    let mut names = BTreeSet::new();
    // Members of an object have different names.
    let named = declared.filter(|field| names.insert(field.name.clone()));
    description.fields = named.take(FIELDS_MOST).collect();
    tracing.descriptions.insert(id, description);
    Ok(())
}

/// Reads the first lines of a format, without which perf does not know the tracepoint:
/// `name: EVENT`, `ID: NUMBER` and `format:`. Returns the id and the name.
pub fn read_head(text: &[u8]) -> Option<(u64, &[u8])> {
    /// Most bytes of a line of the head.
    const LINE_MOST: usize = 256;
    let mut rest = text;
    let mut line = || {
        let held = rest.get(..LINE_MOST).unwrap_or(rest);
        let end = held.iter().position(|byte| *byte == b'\n')?;
        let (line, after) = rest.split_at(end);
        rest = after.get(1..)?;
        Some(line)
    };
    let name = line()?.strip_prefix(b"name: ")?;
    let id = line()?.strip_prefix(b"ID: ").and_then(number)?;
    (line()? == b"format:" && !name.is_empty()).then_some((id, name))
}

/// Parses a decimal number.
fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SWITCH: &str = "name: switch\nID: 7\nformat:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n
\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";
    const EXEC: &str = "name: exec\nID: 8\nformat:\n
\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n";
    const PRINT: &str = "name: print\nID: 5\nformat:\n
\tfield:char buf[];\toffset:16;\tsize:0;\n\nprint fmt: \"\"\n";

    fn text(out: &mut Vec<u8>, text: &str) {
        out.extend(u64::try_from(text.len()).unwrap().to_le_bytes());
        out.extend(text.as_bytes());
    }

    fn data() -> Vec<u8> {
        let mut out = b"\x17\x08\x44tracing0.6\0\x00\x08\x00\x10\x00\x00".to_vec();
        for name in ["header_page", "header_event"] {
            out.extend(name.as_bytes());
            out.push(0);
            text(&mut out, "field");
        }
        out.extend(1_u32.to_le_bytes());
        text(&mut out, PRINT);
        out.extend(2_u32.to_le_bytes());
        for (system, formats) in [("empty", vec![]), ("sched", vec![SWITCH, EXEC])] {
            out.extend(system.as_bytes());
            out.push(0);
            out.extend(u32::try_from(formats.len()).unwrap().to_le_bytes());
            formats.iter().for_each(|format| text(&mut out, format));
        }
        out
    }

    fn read(bytes: &[u8], wanted: impl Fn(u64) -> bool) -> Result<Tracing, FeatureError> {
        tracing(&mut Cursor::new(bytes, Layer::stored(0), 0, Order::Big), wanted)
    }

    #[test]
    fn a_format_has_so_many_fields_at_most_each_with_a_name_of_its_own() {
        let field =
            |number: usize| format!("\tfield:int a{number};\toffset:8;\tsize:4;\tsigned:1;\n");
        for names in [10, FIELDS_MOST - 1, FIELDS_MOST, 1_000] {
            let lines: String = (0..10).chain(0..names).map(field).collect();
            let mut bytes = Vec::new();
            text(
                &mut bytes,
                &SWITCH.replace("\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n", &lines),
            );
            let mut cursor = Cursor::new(&bytes, Layer::stored(0), 0, Order::Little);
            let mut tracing = Tracing { order: Order::Little, descriptions: BTreeMap::new() };
            read_format(&mut cursor, b"sched", &|_| true, &mut tracing).unwrap();
            assert_eq!(tracing.descriptions[&7].fields.len(), FIELDS_MOST.min(names + 1));
        }
    }

    #[test]
    fn the_formats_of_all_systems_are_read() {
        let tracing = read(&data(), |_| true).unwrap();
        assert_eq!(tracing.order, Order::Little);
        let names: Vec<_> = tracing.descriptions.iter().map(|(id, d)| (*id, &*d.name)).collect();
        assert_eq!(names, [(5, b"print".as_slice()), (7, b"switch"), (8, b"exec")]);
        let traced = WantedTracepoints::from([(7, 0), (5, 1)]);
        let named = Names::from([(7, b"sched:switch".to_vec())]);
        assert_eq!(super::names(&data(), &traced), named, "8 is not wanted, 5 has no system");
        assert_eq!(super::names(&data()[1..], &traced), Names::new());
        // 12 bytes of fields and 4 of raw.size are two words; a compiler may round them up to 16
        // bytes.
        assert_eq!(tracing.descriptions[&7].raw_size(), (12, 20));
        assert_eq!(tracing.descriptions[&8].raw_size(), (12, u64::MAX));
        assert_eq!(tracing.descriptions[&5].raw_size(), (20, u64::MAX));
    }

    #[test]
    fn a_system_with_a_name_that_is_too_long_has_none() {
        for (len, is_kept) in [(NAME_MOST, true), (NAME_MOST + 1, false)] {
            let mut bytes = data();
            let at = bytes.windows(6).position(|window| window == b"sched\0").unwrap();
            bytes.splice(at..at + 5, vec![b's'; len]);
            let system = &read(&bytes, |_| true).unwrap().descriptions[&7].system;
            assert_eq!((system.len() == len, system.is_empty()), (is_kept, !is_kept));
        }
    }

    #[test]
    fn only_wanted_descriptions_are_kept() {
        assert_eq!(read(&data(), |id| id == 8).unwrap().descriptions.len(), 1);
    }

    #[test]
    fn truncation_anywhere_is_an_error() {
        let whole = data();
        for len in 0..whole.len() {
            assert!(read(&whole[..len], |_| true).is_err(), "{len}");
        }
    }

    #[test]
    fn a_format_is_text() {
        let mut bytes = data();
        let at = bytes.len() - EXEC.len() - 100;
        bytes[at] = 0;
        let error = read(&bytes, |_| false).unwrap_err().to_string();
        assert!(error.ends_with(&format!("is malformed at {at:#x}")), "{error}");
    }

    #[test]
    fn a_format_has_the_words_that_perf_expects() {
        let mut bytes = data();
        let at = bytes.len() - EXEC.len() + "name: exec\nID: 8\nformat:\n\n\t".len();
        bytes[at] ^= 1;
        let error = read(&bytes, |_| false).unwrap_err().to_string();
        assert!(error.ends_with(&format!("is malformed at {at:#x}")), "{error}");
    }

    #[test]
    fn a_count_that_is_too_large_is_named() {
        let mut bytes = data();
        let at = bytes.len() - EXEC.len() - SWITCH.len() - 16 - 4;
        bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        let error = read(&bytes, |_| true).unwrap_err().to_string();
        assert!(error.starts_with("tracing.events.nr is"), "{error}");
    }
}
