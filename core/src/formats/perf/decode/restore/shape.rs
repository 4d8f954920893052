//! The shape of a feature's content: whether a section can be that of a feature.
//!
//! Stricter than [`feature::body`], which accepts everything that readers survive: here the content
//! has to end with the section and to look as every known writer writes it. The shapes tell which
//! feature a section belongs to if the bits in the header do not.

use std::borrow::Cow;

use super::peek::Peek;
use crate::formats::perf::decode::feature;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::layout::MOST_CPUS;
use crate::formats::perf::layout::feature::{CLN_SIZE, CPU_DOMAIN_INFO, CPU_PMU_CAPS, E_MACHINE};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::to_u64;
use crate::kit::span::Layer;

/// Highest bit of perf 6.12.
pub(super) const LAST: u32 = 31;
/// Highest bit whose shape is known.
const LAST_KNOWN: u32 = CLN_SIZE;
/// Bytes in a cache line of the machine with the longest, with room for longer ones.
const LONGEST_LINE: u32 = 4096;
/// Bytes of a section that are read; only TRACING_DATA and build ids are ever longer.
const MOST_BYTES: u64 = 1 << 20;

/// Whether the shape of the feature `bit` is known. That of CPU_DOMAIN_INFO was never seen.
pub(super) const fn is_known(bit: u32) -> bool {
    bit <= LAST_KNOWN && bit != CPU_DOMAIN_INFO
}

/// Whether the section has the shape of any feature.
pub(super) fn is_any(peek: Peek<'_>, section: Section) -> bool {
    let bytes = held_bytes(peek, section).filter(|_| section.size > 0);
    bytes.is_some_and(|bytes| (1..=LAST).any(|bit| is_content(peek, bit, section, &bytes)))
}

/// Whether the section has the shape of the feature `bit`.
pub(super) fn resembles(peek: Peek<'_>, bit: u32, section: Section) -> bool {
    // Flags without content.
    if matches!(bit, 15 | 19) {
        return section.size == 0;
    }
    held_bytes(peek, section).is_some_and(|bytes| is_content(peek, bit, section, &bytes))
}

/// Returns the bytes of a section, of a long one the first; `None` if it ends after the file.
fn held_bytes<'a>(peek: Peek<'a>, section: Section) -> Option<Cow<'a, [u8]>> {
    let end = section.end().filter(|end| *end <= peek.len())?;
    let held = end.min(section.offset.saturating_add(MOST_BYTES));
    Some(peek.bytes(section.offset, held))
}

/// Whether the bytes of a section have the shape of the feature `bit`, which has content.
fn is_content(peek: Peek<'_>, bit: u32, section: Section, bytes: &[u8]) -> bool {
    match bit {
        15 | 19 => false,
        3 | 8 => is_text(bytes, peek.order, |text| !text.is_empty()),
        4 | 5 => is_text(bytes, peek.order, is_version),
        6 => is_text(bytes, peek.order, is_machine),
        9 => is_text(bytes, peek.order, is_cpu_id),
        7 => is_cpu_count(bytes, peek.order),
        10 => is_memory_size(bytes, peek.order),
        21 => {
            let times = [0, 8].map(|at| peek.u64(section.offset.saturating_add(at)));
            section.size == 16 && times.is_sorted()
        }
        23 => section.size == 8 && peek.u64(section.offset).is_some_and(|ns| ns <= 1_000_000_000),
        // A directory has it, and its `data` file only.
        24 => section.size == 8 && peek.u64(section.offset) == Some(1),
        // CLOCK_DATA begins with its version.
        29 => section.size == 24 && peek.u32(section.offset) == Some(1),
        27 => section.size == 20 && is_compression(bytes, peek.order),
        // perf stat writes GROUP_DESC (17) also without groups.
        11..=14 | 16 | 20 | 30 => has_entries(bytes) && ends_exactly(peek, bit, section, bytes),
        E_MACHINE => section.size == 8 && (1..=0xffff).contains(&word(bytes, peek.order)),
        CLN_SIZE => section.size == 4 && is_line_size(word(bytes, peek.order)),
        CPU_DOMAIN_INFO.. => false,
        _ => section.size > 0 && ends_exactly(peek, bit, section, bytes),
    }
}

/// Whether a section of the feature `bit` can have this size, whatever its content: damage of the
/// content changes no size.
pub(super) const fn can_have_size(bit: u32, size: u64) -> bool {
    match bit {
        15 | 19 => size == 0,
        7 | 10 | 23 | 24 => size == 8,
        21 => size == 16,
        27 => size == 20,
        29 => size == 24,
        E_MACHINE => size == 8,
        CLN_SIZE => size == 4,
        // A text after its length, or a count that is not 0. Others may have a count of 0, such as
        // CPU_PMU_CAPS (28) of a machine without them.
        3..=6 | 8 | 9 | 11..=13 => size > 4,
        _ => true,
    }
}

/// Whether the section is a list of BPF programs, of their types, or of PMUs, without an entry.
pub(super) fn is_empty(peek: Peek<'_>, bit: u32, section: Section) -> bool {
    matches!(bit, 25 | 26 | 31) && section.size == 4 && peek.u32(section.offset) == Some(0)
}

/// Whether the section is a CPU_PMU_CAPS without an entry, which perf 6.12 and older leave out.
pub(super) fn is_empty_caps(peek: Peek<'_>, bit: u32, section: Section) -> bool {
    bit == CPU_PMU_CAPS && section.size == 4 && peek.u32(section.offset) == Some(0)
}

/// Whether perf reads the feature `bit` by the size of its section. The others end by themselves.
pub(super) const fn uses_size(bit: u32) -> bool {
    matches!(bit, 1 | 2 | 11 | 13 | 18) || bit > LAST
}

/// Whether VERSION, the version of perf, is from before the features above [`LAST`]. It is the
/// second of two versions, after OSRELEASE.
pub(super) fn is_recorder_old<'a>(
    peek: Peek<'_>,
    sections: impl IntoIterator<Item = &'a Section>,
) -> bool {
    let mut is_after_version = false;
    let mut found = None;
    for section in sections {
        let is_version = resembles(peek, 5, *section);
        if is_version && is_after_version {
            found = Some(section);
        }
        is_after_version = is_version;
    }
    found.is_some_and(|section| {
        let end = section.end().unwrap_or(0);
        let text = peek.bytes(section.offset.saturating_add(4), end);
        feature::is_old(&text)
    })
}

/// Whether the content of the feature ends with the section. Of long sections only the beginning is
/// read.
fn ends_exactly(peek: Peek<'_>, bit: u32, section: Section, bytes: &[u8]) -> bool {
    let mut cursor = Cursor::new(bytes, Layer::stored(0), section.offset, peek.order);
    let read = feature::body(bit, &mut cursor, None);
    match read {
        Ok(_) => cursor.is_empty(),
        Err(_) => to_u64(bytes.len()) < section.size && bit == 2,
    }
}

/// Whether the bytes are a length and a text of that length that is padded with NUL, for whose
/// characters `is_right` holds.
fn is_text(bytes: &[u8], order: Order, is_right: impl Fn(&[u8]) -> bool) -> bool {
    let mut cursor = Cursor::new(bytes, Layer::stored(0), 0, order);
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

fn is_cpu_count(bytes: &[u8], order: Order) -> bool {
    let mut cursor = Cursor::new(bytes, Layer::stored(0), 0, order);
    let counts = (cursor.u32("nr_cpus_available"), cursor.u32("nr_cpus_online"));
    let (Ok(available), Ok(online)) = counts else { return false };
    cursor.is_empty() && (1..=available).contains(&online) && available <= MOST_CPUS
}

fn is_memory_size(bytes: &[u8], order: Order) -> bool {
    let mut cursor = Cursor::new(bytes, Layer::stored(0), 0, order);
    let kilobytes = cursor.u64("total_mem").unwrap_or(0);
    cursor.is_empty() && (1..1 << 42).contains(&kilobytes) && !is_cpu_count(bytes, order)
}

/// Returns the u32 at the start; 0 if it is truncated.
fn word(bytes: &[u8], order: Order) -> u32 {
    Cursor::new(bytes, Layer::stored(0), 0, order).u32("word").unwrap_or(0)
}

/// Whether a number is the size of a cache line in bytes.
const fn is_line_size(bytes: u32) -> bool {
    bytes.is_power_of_two() && bytes <= LONGEST_LINE
}

/// Whether the bytes are version 0, no compression or zstd, and three more numbers.
fn is_compression(bytes: &[u8], order: Order) -> bool {
    let mut cursor = Cursor::new(bytes, Layer::stored(0), 0, order);
    let head = (cursor.u32("compressed.version"), cursor.u32("compressed.type"));
    matches!(head, (Ok(0), Ok(0 | 1)))
}

/// Whether the count at the start is not 0.
fn has_entries(bytes: &[u8]) -> bool {
    bytes.first_chunk::<4>().is_some_and(|count| *count != [0; 4])
}
