//! Counted entries and strings, the building blocks of most features.

use super::error::FeatureError;
use crate::kit::cursor::Cursor;
use crate::kit::span::Span;

/// Size of the smallest string in bytes: its length and a NUL.
pub(super) const STRING_MIN: u64 = 5;

/// Checks a count of entries of at least `min` bytes against the `left` bytes of the section.
pub(super) fn count(
    value: u64,
    min: u64,
    left: u64,
    label: &'static str,
    span: Span,
) -> Result<u64, FeatureError> {
    if value.checked_mul(min).is_some_and(|bytes| bytes <= left) {
        return Ok(value);
    }
    Err(FeatureError::CountTooLarge { label, value, left, span })
}

/// Reads a u32 count, then calls `entry` as often. Each entry has at least `min` bytes.
pub(in crate::formats::perf::decode) fn repeated<'a>(
    cursor: &mut Cursor<'a>,
    label: &'static str,
    min: u64,
    mut entry: impl FnMut(&mut Cursor<'a>) -> Result<(), FeatureError>,
) -> Result<(), FeatureError> {
    let start = cursor.position();
    let value = cursor.u32(label)?.into();
    let nr = count(value, min, cursor.left(), label, cursor.since(start))?;
    (0..nr).try_for_each(|_| entry(cursor))
}

/// Reads a u32 length and a string with a NUL.
pub(super) fn string(cursor: &mut Cursor<'_>, label: &'static str) -> Result<(), FeatureError> {
    let start = cursor.position();
    let len = u64::from(cursor.u32(label)?);
    let bytes = cursor.bytes(len, label)?;
    if bytes.contains(&0) {
        return Ok(());
    }
    Err(FeatureError::StringWithoutNul { label, len, span: cursor.since(start) })
}

/// Reads a counted list of strings.
pub(super) fn strings(
    cursor: &mut Cursor<'_>,
    nr: &'static str,
    label: &'static str,
) -> Result<(), FeatureError> {
    repeated(cursor, nr, STRING_MIN, |cursor| string(cursor, label))
}

/// Reads a counted list of pairs of strings.
pub(super) fn pairs(cursor: &mut Cursor<'_>, nr: &'static str) -> Result<(), FeatureError> {
    repeated(cursor, nr, 2 * STRING_MIN, |cursor| {
        string(cursor, "name")?;
        string(cursor, "value")
    })
}
