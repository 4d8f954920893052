//! The shape of a feature's content: whether a section can be that of a feature.
//!
//! Stricter than [`contents::body`], which accepts everything that readers survive: here the
//! content has to end with the section and to look as every known writer writes it. The shapes tell
//! which feature a section belongs to if the bits in the header do not.

use std::borrow::Cow;

use super::peek::Peek;
use crate::formats::perf::decode::feature::{self as contents, read_number};
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::layout::MOST_CPUS;
use crate::formats::perf::layout::feature::{BUILD_ID, LAST_OLD, VERSION};
use crate::formats::perf::layout::features::{FEATURES, Feature, Shape, Trait, feature};
use crate::formats::perf::layout::part::{Holds, Part, meanings};
use crate::kit::cursor::Cursor;
use crate::kit::field_log::{FieldLog, FieldValue};
use crate::kit::num::to_u64;
use crate::kit::row::row_size;
use crate::kit::span::Layer;

/// Bytes in a cache line of the machine with the longest, with room for longer ones.
const LONGEST_LINE: u32 = 4096;
/// Bytes of a section that are read; only TRACING_DATA and build ids are ever longer.
const MOST_BYTES: u64 = 1 << 20;
/// Fields of a section that are looked at for texts.
const TEXTS_MAX: u64 = 1 << 12;

/// Whether the shape of the feature `bit` is known.
pub(super) fn is_known(bit: u32) -> bool {
    feature(bit).is_some_and(|feature| feature.shape != Shape::Unknown)
}

/// Whether the section has the shape of any feature of perf 6.12.
pub(super) fn is_any(peek: Peek<'_>, section: Section) -> bool {
    let bytes = held_bytes(peek, section).filter(|_| section.size > 0);
    let mut old = FEATURES.iter().take_while(|feature| feature.number <= LAST_OLD);
    bytes.is_some_and(|bytes| old.any(|feature| is_content(peek, feature, section, &bytes)))
}

/// Whether the section has the shape of the feature `bit`.
pub(super) fn resembles(peek: Peek<'_>, bit: u32, section: Section) -> bool {
    let Some(feature) = feature(bit) else { return false };
    if feature.content.is_empty() {
        return section.size == 0;
    }
    held_bytes(peek, section).is_some_and(|bytes| is_content(peek, feature, section, &bytes))
}

/// Returns the bytes of a section, of a long one the first; `None` if it ends after the file.
fn held_bytes<'a>(peek: Peek<'a>, section: Section) -> Option<Cow<'a, [u8]>> {
    let end = section.end().filter(|end| *end <= peek.len())?;
    let held = end.min(section.offset.saturating_add(MOST_BYTES));
    Some(peek.bytes(section.offset, held))
}

/// Whether the bytes of a section have the shape of a feature with content.
fn is_content(peek: Peek<'_>, feature: &Feature, section: Section, bytes: &[u8]) -> bool {
    let mut cursor = Cursor::new(bytes, Layer::stored(0), section.offset, peek.order);
    if feature.content.is_empty() || !can_have_size(feature.number, section.size) {
        return false;
    }
    let ends = || section.size > 0 && ends_exactly(cursor.clone(), feature.number, section);
    match feature.shape {
        Shape::Unknown => false,
        Shape::Whole => ends(),
        Shape::Entries => has_entries(bytes) && ends(),
        Shape::Within(numbers) => numbers.iter().all(|(form, least, most)| {
            let number = read_number(&mut cursor, &("number", *form));
            number.is_ok_and(|number| (*least..=*most).contains(&number))
        }),
        Shape::Text => is_text(cursor, |text| !text.is_empty()),
        Shape::Version => is_text(cursor, is_version),
        Shape::Machine => is_text(cursor, is_machine),
        Shape::CpuId => is_text(cursor, is_cpu_id),
        Shape::Cpus => is_cpu_count(cursor),
        Shape::Memory => is_memory_size(cursor),
        Shape::Times => [cursor.u64("first").ok(), cursor.u64("last").ok()].is_sorted(),
        Shape::Line => cursor.u32("line").is_ok_and(is_line_size),
    }
}

/// Whether a section of the feature `bit` can have this size, whatever its content: damage of the
/// content changes no size.
pub(super) fn can_have_size(bit: u32, size: u64) -> bool {
    let Some(feature) = feature(bit) else { return true };
    match feature.content {
        [] => size == 0,
        [Part::Fields(row)] => size == row_size(row),
        [Part::Rest(_, row)] if !row.is_empty() => size == row_size(row),
        // A text after its length, or a count that is not 0. Others may have a count of 0, such as
        // CPU_PMU_CAPS of a machine without them.
        _ if feature.is_text() || feature.is(Trait::NeverEmpty) => size > 4,
        _ => true,
    }
}

/// Whether the texts of a section are UTF-8, with zeros up to their ends: no recorder writes other
/// bytes, but a text with damage in it may look like one.
pub(super) fn has_plain_texts(peek: Peek<'_>, bit: u32, section: Section) -> bool {
    let Some(feature) = feature(bit) else { return true };
    let meanings = meanings(feature.content);
    let bytes = held_bytes(peek, section).unwrap_or_default();
    let log = FieldLog::new(TEXTS_MAX).keeping(bytes.len());
    let cursor = Cursor::new(&bytes, Layer::stored(0), section.offset, peek.order);
    let _read = contents::body(bit, &mut cursor.with_log(&log), None);
    log.into_noted().fields.iter().all(|field| {
        let is_text = meanings.get(field.label.as_ref()).is_some_and(|one| *one != Holds::Facts);
        let FieldValue::Bytes(bytes) = &field.value else { return true };
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        let padding = bytes.get(text.len()..).unwrap_or_default();
        let is_plain = std::str::from_utf8(text).is_ok() && padding.iter().all(|byte| *byte == 0);
        !is_text || is_plain
    })
}

/// Whether the section is that of a list without an entry, of a feature with this trait.
pub(super) fn is_empty(peek: Peek<'_>, bit: u32, section: Section, one: Trait) -> bool {
    feature(bit).is_some_and(|feature| feature.is(one))
        && section.size == 4
        && peek.u32(section.offset) == Some(0)
}

/// Whether VERSION, the version of perf, is from before the features after [`LAST_OLD`]. It is the
/// second of two versions, after OSRELEASE.
pub(super) fn is_recorder_old<'a>(
    peek: Peek<'_>,
    sections: impl IntoIterator<Item = &'a Section>,
) -> bool {
    let mut is_after_version = false;
    let mut found = None;
    for section in sections {
        let is_version = resembles(peek, VERSION, *section);
        if is_version && is_after_version {
            found = Some(section);
        }
        is_after_version = is_version;
    }
    found.is_some_and(|section| {
        let end = section.end().unwrap_or(0);
        let text = peek.bytes(section.offset.saturating_add(4), end);
        contents::is_old(&text)
    })
}

/// Whether the content of the feature ends with the section. Of long sections only the beginning is
/// read.
fn ends_exactly(mut cursor: Cursor<'_>, bit: u32, section: Section) -> bool {
    let held = cursor.left();
    match contents::body(bit, &mut cursor, None) {
        Ok(_) => cursor.is_empty(),
        Err(_) => held < section.size && bit == BUILD_ID,
    }
}

/// Whether the bytes are a length and a text of that length that is padded with NUL, for whose
/// characters `is_right` holds.
fn is_text(mut cursor: Cursor<'_>, is_right: impl Fn(&[u8]) -> bool) -> bool {
    let Ok(len) = cursor.u32("string") else { return false };
    let rest = cursor.rest();
    let text = cursor.until_nul();
    let padding = rest.get(text.len()..).unwrap_or_default();
    u64::from(len) == to_u64(rest.len())
        && !padding.is_empty()
        && padding.iter().all(|byte| *byte == 0)
        && text.iter().all(|byte| *byte >= b' ' && *byte != 0x7f)
        && is_right(text)
}

/// Whether a text is a version such as `6.1.0-13-amd64`.
fn is_version(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_digit) && text.contains(&b'.')
}

/// Whether a text is the name of a machine as `uname -m` prints it.
fn is_machine(text: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 16] = [
        b"x86_64",
        b"i386",
        b"i486",
        b"i586",
        b"i686",
        b"aarch64",
        b"arm",
        b"ppc",
        b"s390",
        b"riscv",
        b"mips",
        b"sparc",
        b"loongarch",
        b"alpha",
        b"parisc",
        b"sh",
    ];
    let is_word = text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    is_word && BEGINNINGS.iter().any(|name| text.starts_with(name))
}

/// Whether a text identifies a CPU: `GenuineIntel,6,85,7` or `0x00000000410fd0c0`.
fn is_cpu_id(text: &[u8]) -> bool {
    let is_list = text.rsplit(|byte| *byte == b',').next().is_some_and(|last| {
        last.len() < text.len() && last.first().is_some_and(u8::is_ascii_hexdigit)
    });
    text.starts_with(b"0x") || is_list
}

fn is_cpu_count(mut cursor: Cursor<'_>) -> bool {
    let counts = (cursor.u32("nr_cpus_available"), cursor.u32("nr_cpus_online"));
    let (Ok(available), Ok(online)) = counts else { return false };
    (1..=available).contains(&online) && available <= MOST_CPUS
}

fn is_memory_size(mut cursor: Cursor<'_>) -> bool {
    let is_other = is_cpu_count(cursor.clone());
    cursor.u64("total_mem").is_ok_and(|kilobytes| (1..1 << 42).contains(&kilobytes)) && !is_other
}

/// Whether a number is the size of a cache line in bytes.
const fn is_line_size(bytes: u32) -> bool {
    bytes.is_power_of_two() && bytes <= LONGEST_LINE
}

/// Whether the count at the start is not 0.
fn has_entries(bytes: &[u8]) -> bool {
    bytes.first_chunk::<4>().is_some_and(|count| *count != [0; 4])
}
