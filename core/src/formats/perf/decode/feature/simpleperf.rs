//! The features of simpleperf, from 128 on.
//!
//! ```text
//!  FILE               each: u32 size, path NUL, u32 type, u64 min_vaddr, u32 count of symbols,
//!                     each u64 address, u32 length, name NUL; then offsets, by the type
//!  META_INFO          each: key NUL, value NUL
//!  DEBUG_UNWIND       message of files: path, size
//!  DEBUG_UNWIND_FILE  the files of DEBUG_UNWIND, one after the other
//!  FILE2              each: u32 size, message of a file and its symbols
//!  INIT_MAP           records of maps and names
//!
//!  message            each: key (number << 3 | wire type), value
//! ```
//!
//! Sources: `record_file_format.h`, `record_file.proto` and `record_file_reader.cpp` in
//! `system/extras/simpleperf` of Android, and the encoding of protocol buffers.

use super::error::FeatureError;
use super::lists::count;
use crate::formats::perf::decode::record;
use crate::kit::cursor::Cursor;
use crate::kit::num::to_u64;

/// Size of the smallest symbol in FILE: address, length and the NUL of the name.
const SYMBOL_MIN: u64 = 13;
/// The type of a file with code of the Android runtime.
const DEX_FILE: u32 = 3;
/// Most bytes of a number in a message, of 7 bits each.
const NUMBER_MOST: u32 = 10;

/// Keys of META_INFO whose values may be plain facts, and the labels of these. Values of other
/// keys, such as `app_package_name`, are private.
const META_KEYS: [(&[u8], &str); 14] = [
    (b"simpleperf_version", "meta_info.version"),
    (b"android_sdk_version", "meta_info.plain"),
    (b"android_version", "meta_info.system"),
    (b"app_type", "meta_info.plain"),
    (b"clockid", "meta_info.plain"),
    (b"cpu_usage", "meta_info.plain"),
    (b"event_type_info", "meta_info.events"),
    (b"kernel_symbols_available", "meta_info.plain"),
    (b"kernel_version", "meta_info.system"),
    (b"system_wide_collection", "meta_info.plain"),
    (b"timestamp", "meta_info.time"),
    (b"trace_offcpu", "meta_info.plain"),
    (b"exclude_perf", "meta_info.plain"),
    (b"branch_filtering", "meta_info.plain"),
];

/// The meaning of a field of a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Number,
    /// A text with this label.
    Text(&'static str),
    /// Another message.
    Message(Message),
}

/// The fields of a message, from number 1.
pub(super) type Message = &'static [Kind];

const OFFSETS: Message = &[Kind::Number];
const SYMBOL: Message = &[Kind::Number, Kind::Number, Kind::Text("symbol.name")];
pub(super) const FILE: Message = &[
    Kind::Text("file.path"),
    Kind::Number,
    Kind::Number,
    Kind::Message(SYMBOL),
    Kind::Message(OFFSETS),
    Kind::Message(OFFSETS),
    Kind::Message(OFFSETS),
];
const UNWIND_FILE: Message = &[Kind::Text("file.path"), Kind::Number];
pub(super) const UNWIND: Message = &[Kind::Message(UNWIND_FILE)];

/// Reads entries up to the end.
pub(super) fn each(
    cursor: &mut Cursor<'_>,
    entry: impl Fn(&mut Cursor<'_>) -> Result<(), FeatureError>,
) -> Result<(), FeatureError> {
    while !cursor.is_empty() {
        entry(cursor)?;
    }
    Ok(())
}

/// Reads a u32 size and an entry that has it.
pub(super) fn framed(
    cursor: &mut Cursor<'_>,
    entry: impl Fn(&mut Cursor<'_>) -> Result<(), FeatureError>,
) -> Result<(), FeatureError> {
    let start = cursor.position();
    let size = cursor.u32("file.size")?.into();
    let size = count(size, 1, cursor.left(), "file.size", cursor.since(start))?;
    let mut own = cursor.part(size, "file")?;
    entry(&mut own)?;
    if own.is_empty() {
        return Ok(());
    }
    let (value, range) = (size, (0, size.saturating_sub(own.left())));
    Err(FeatureError::Number { label: "file.size", value, range, span: own.ahead() })
}

/// Reads a text with a NUL, and returns it.
pub(super) fn text<'a>(
    cursor: &mut Cursor<'a>,
    label: &'static str,
) -> Result<&'a [u8], FeatureError> {
    let (found, span) = (cursor.until_nul(), cursor.ahead());
    let len = to_u64(found.len());
    if len == cursor.left() {
        return Err(FeatureError::StringWithoutNul { label, len, span });
    }
    cursor.bytes(len.saturating_add(1), label)?;
    Ok(found)
}

/// Reads a file of FILE and its symbols.
pub(super) fn file(own: &mut Cursor<'_>) -> Result<(), FeatureError> {
    text(own, "file.path")?;
    let kind = own.u32("file.type")?;
    own.skip(1, 8, "file.min_vaddr")?;
    let start = own.position();
    let symbols = own.u32("file.symbol_count")?.into();
    let label = "file.symbol_count";
    for _ in 0..count(symbols, SYMBOL_MIN, own.left(), label, own.since(start))? {
        own.skip(1, 12, "symbol.start_vaddr")?;
        text(own, "symbol.name")?;
    }
    if kind == DEX_FILE {
        let start = own.position();
        let label = "file.dex_file_offset_count";
        let offsets = own.u32(label)?.into();
        let offsets = count(offsets, 8, own.left(), label, own.since(start))?;
        return Ok(own.skip(offsets, 8, "file.dex_file_offsets")?);
    }
    // The first versions had no offset.
    let offset = own.left().min(8);
    Ok(own.skip(1, offset, "file.offset_of_min_vaddr")?)
}

/// Reads a key and its value.
pub(super) fn meta_info(cursor: &mut Cursor<'_>) -> Result<(), FeatureError> {
    let key = text(cursor, "meta_info.key")?;
    let label = META_KEYS.iter().find(|(of, _)| *of == key).map(|(_, label)| *label);
    text(cursor, label.unwrap_or("meta_info.value"))?;
    Ok(())
}

/// Reads a record of INIT_MAP.
pub(super) fn init_map(cursor: &mut Cursor<'_>) -> Result<(), FeatureError> {
    let start = cursor.position();
    let kind = cursor.u32("header.type")?;
    let misc = cursor.u16("header.misc")?;
    let value = u64::from(cursor.u16("header.size")?);
    let most = cursor.left().saturating_add(8);
    let Some(size) = value.checked_sub(8).filter(|size| *size <= cursor.left()) else {
        let (label, span) = ("header.size", cursor.since(start));
        return Err(FeatureError::Number { label, value, range: (8, most), span });
    };
    let mut own = cursor.part(size, "record")?;
    // The section of a file does not tell whether its records have a `sample_id`.
    let _fields = record::body(kind, misc, &mut own, 0);
    Ok(own.skip(1, own.left(), "record.rest")?)
}

/// Reads a message up to the end. A field without a meaning here is a newer one.
pub(super) fn message(cursor: &mut Cursor<'_>, fields: Message) -> Result<(), FeatureError> {
    while !cursor.is_empty() {
        let start = cursor.position();
        let key = number(cursor, "message.key")?;
        let index = usize::try_from((key >> 3).wrapping_sub(1)).unwrap_or(usize::MAX);
        let kind = fields.get(index).copied();
        match key & 7 {
            0 if kind.is_some() => drop(number(cursor, "message.number")?),
            0 => drop(number(cursor, "message.unknown_number")?),
            // simpleperf writes no number of a fixed size.
            1 => cursor.skip(1, 8, "message.unknown")?,
            2 => counted(cursor, kind)?,
            5 => cursor.skip(1, 4, "message.unknown")?,
            value => {
                let (label, span) = ("message.wire_type", cursor.since(start));
                return Err(FeatureError::Number { label, value, range: (0, 5), span });
            }
        }
    }
    Ok(())
}

/// Reads a length, and a text, message or list of numbers that has it.
fn counted(cursor: &mut Cursor<'_>, kind: Option<Kind>) -> Result<(), FeatureError> {
    let start = cursor.position();
    let len = number(cursor, "message.length")?;
    let len = count(len, 1, cursor.left(), "message.length", cursor.since(start))?;
    match kind {
        Some(Kind::Text(label)) => Ok(cursor.skip(1, len, label)?),
        Some(Kind::Message(fields)) => message(&mut cursor.part(len, "message")?, fields),
        Some(Kind::Number) => Ok(cursor.skip(1, len, "message.numbers")?),
        None => Ok(cursor.skip(1, len, "message.unknown")?),
    }
}

/// Reads a number of 7 bits per byte, the lowest first.
pub(super) fn number(cursor: &mut Cursor<'_>, label: &'static str) -> Result<u64, FeatureError> {
    let (start, mut ahead) = (cursor.position(), cursor.unlogged());
    let mut value = 0_u64;
    for index in 0..NUMBER_MOST {
        let byte = ahead.u8(label)?;
        let bits = u64::from(byte & 0x7f);
        value |= bits.checked_shl(index.saturating_mul(7)).unwrap_or(0);
        if byte & 0x80 == 0 {
            cursor.skip(1, ahead.position().saturating_sub(start), label)?;
            return Ok(value);
        }
    }
    let (span, range) = (ahead.since(start), (0, u64::MAX));
    Err(FeatureError::Number { label, value, range, span })
}
