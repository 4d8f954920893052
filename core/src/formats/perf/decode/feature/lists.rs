//! Counted entries and strings, the building blocks of most features.

use super::error::FeatureError;
use crate::formats::perf::layout::MOST_CPUS;
use crate::kit::cursor::Cursor;
use crate::kit::num::to_u64;
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

/// Reads a u32 length and a string that lists CPUs, such as `0-3,8`; nothing else is in the list of
/// a node without CPUs.
pub(super) fn cpu_list(cursor: &mut Cursor<'_>, label: &'static str) -> Result<(), FeatureError> {
    let text = cursor.ahead().start.saturating_add(4);
    let bytes = cursor.rest();
    string(cursor, label)?;
    let held = bytes.get(4..).unwrap_or_default();
    let held = held.split(|byte| *byte == 0).next().unwrap_or_default();
    match find_fault(held) {
        None => Ok(()),
        Some(at) => {
            let end = text.saturating_add(to_u64(at));
            Err(FeatureError::Text { label, span: Span::new(cursor.ahead().layer, text, end) })
        }
    }
}

/// Returns the place in a list of CPUs at which perf gives up.
///
/// lib/perf/cpumap.c, `perf_cpu_map__new`: numbers and ranges, the first not above the last; after
/// a comma it ignores everything that is not a digit.
fn find_fault(list: &[u8]) -> Option<usize> {
    let mut rest = list;
    let at = |rest: &[u8]| list.len().saturating_sub(rest.len());
    if rest.first().is_some_and(|byte| !byte.is_ascii_digit()) {
        return Some(0);
    }
    while rest.first().is_some_and(u8::is_ascii_digit) {
        let first = number(&mut rest);
        let last = match rest.strip_prefix(b"-") {
            Some(after) => {
                rest = after;
                number(&mut rest)
            }
            None => first,
        };
        // perf would add up to 2^31 CPUs of a range, one by one.
        let is_range = first.is_some() && last >= first && last < Some(MOST_CPUS);
        match rest.split_first() {
            _ if !is_range => return Some(at(rest)),
            None => return None,
            Some((b',', after)) => rest = after,
            Some(_) => return Some(at(rest)),
        }
    }
    None
}

/// Takes a decimal number off `rest`; `None` without one, or with one of more than nine digits.
fn number(rest: &mut &[u8]) -> Option<u32> {
    let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, after) = rest.split_at_checked(len)?;
    *rest = after;
    std::str::from_utf8(digits).ok().filter(|digits| digits.len() < 10)?.parse().ok()
}

/// Reads a counted list of strings.
pub(super) fn strings(
    cursor: &mut Cursor<'_>,
    nr: &'static str,
    label: &'static str,
) -> Result<(), FeatureError> {
    repeated(cursor, nr, STRING_MIN, |cursor| string(cursor, label))
}
