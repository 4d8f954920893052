//! The features with a structure of their own.

use std::collections::BTreeSet;

use super::Cpus;
use super::error::FeatureError;
use super::lists::{STRING_MIN, count, string, strings};
use crate::formats::perf::decode::event_name::is_name;
use crate::formats::perf::layout::{BUILD_ID_MAX, MISC_BUILD_ID_SIZE, RECORD_HEADER};
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::num::to_u64;
use crate::kit::span::Span;

/// First bytes of TRACING_DATA.
const TRACING_MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// The label of the first text of TRACING_DATA.
const PAGE: &[u8] = b"header_page\0";
/// Most CPUs by which CPU_TOPOLOGY is read to find their number; `MAX_NR_CPUS` of perf.
const TRIED_CPUS: u32 = 4096;
/// Sizes of a long of the kernel in bytes.
const LONG_SIZES: (u64, u64) = (4, 8);

/// Whether bytes begin as those of TRACING_DATA do.
pub fn begins_tracing(bytes: &[u8]) -> bool {
    bytes.starts_with(TRACING_MAGIC)
}

/// Reads the first bytes of TRACING_DATA:
///
/// ```text
///  17 08 44 "tracing", version, NUL, big-endian u8, size of long u8, page size u32,
///  "header_page", NUL, u64 size, text, "header_event", NUL, u64 size, text, ...
/// ```
///
/// Returns the byte order of the traced kernel, and a cursor
/// of that order over the rest.
pub(in crate::formats::perf::decode) fn tracing_head<'a>(
    cursor: &mut Cursor<'a>,
) -> Result<(Order, Cursor<'a>), FeatureError> {
    skip_marker(cursor, TRACING_MAGIC)?;
    let version = cursor.until_nul().len();
    cursor.bytes(u64::try_from(version).unwrap_or(u64::MAX), "tracing.version")?;
    cursor.u8("tracing.version")?;
    let order = if cursor.u8("tracing.bigendian")? == 0 { Order::Little } else { Order::Big };
    let start = cursor.position();
    let value = cursor.u8("tracing.long_size")?.into();
    expect_range("tracing.long_size", value, LONG_SIZES, cursor.since(start))?;
    // The byte above determines the order of the following numbers.
    let mut rest = cursor.in_order(order);
    let start = rest.position();
    let value = rest.u32("tracing.page_size")?.into();
    expect_range("tracing.page_size", value, (1, u32::MAX.into()), rest.since(start))?;
    for label in [PAGE, b"header_event\0"] {
        skip_marker(&mut rest, label)?;
        let size = rest.u64("tracing.size")?;
        let start = rest.position();
        let text = rest.bytes(size, "tracing.format")?;
        // The kernel writes no quotes. perf looks forever for the other one of a pair, and does not
        // read the second text.
        let is_quote = |byte: &u8| label == PAGE && matches!(byte, b'"' | b'\'');
        if let Some(at) = text.iter().position(is_quote) {
            let end = start.saturating_add(to_u64(at));
            let span = Span::new(rest.ahead().layer, start, end);
            return Err(FeatureError::Text { label: "tracing.format", span });
        }
    }
    Ok((order, rest))
}

/// Skips the bytes `expected`.
fn skip_marker(cursor: &mut Cursor<'_>, expected: &'static [u8]) -> Result<(), FeatureError> {
    let start = cursor.position();
    let len = u64::try_from(expected.len()).unwrap_or(u64::MAX);
    let found = cursor.bytes(len, "tracing.magic")?;
    if found == expected {
        return Ok(());
    }
    Err(FeatureError::BadMagic { expected, found: found.to_vec(), span: cursor.since(start) })
}

/// BUILD_ID: `build_id_event`s up to the end of the section, each of the size in its header. Names
/// may end at any byte; the type in the header is 0.
pub(super) fn build_ids(cursor: &mut Cursor<'_>) -> Result<(), FeatureError> {
    while !cursor.is_empty() {
        let start = cursor.position();
        cursor.u32("build_id.header.type")?;
        let misc = cursor.u16("build_id.header.misc")?;
        let size = u64::from(cursor.u16("build_id.header.size")?);
        let Some(len) = size.checked_sub(RECORD_HEADER) else {
            let (label, min, span) = ("build_id.header.size", RECORD_HEADER, cursor.since(start));
            return Err(FeatureError::EntryTooSmall { label, size, min, span });
        };
        let mut body = cursor.window(len, "build_id")?;
        body.skip(1, 4, "build_id.pid")?;
        build_id(&mut body, misc)?;
        if !body.rest().contains(&0) {
            let (label, len, span) = ("build_id.filename", body.left(), body.ahead());
            return Err(FeatureError::StringWithoutNul { label, len, span });
        }
        body.skip(1, body.left(), "build_id.filename")?;
    }
    Ok(())
}

/// u8 build_id[20], u8 size if `misc` has the bit, and padding to 24 bytes.
fn build_id(body: &mut Cursor<'_>, misc: u16) -> Result<(), FeatureError> {
    if misc & MISC_BUILD_ID_SIZE == 0 {
        return Ok(body.skip(1, 24, "build_id.build_id")?);
    }
    body.skip(1, BUILD_ID_MAX, "build_id.build_id")?;
    let start = body.position();
    let size = u64::from(body.u8("build_id.size")?);
    // perf copies as many bytes over a buffer of 20 (util/build-id.c: build_id__init).
    expect_range("build_id.size", size, (0, BUILD_ID_MAX), body.since(start))?;
    Ok(body.skip(1, 3, "build_id.reserved")?)
}

/// EVENT_DESC: a copy of each attr, its name and its ids.
pub(super) fn event_desc(cursor: &mut Cursor<'_>) -> Result<(), FeatureError> {
    let start = cursor.position();
    let nr = cursor.u32("event_desc.nr")?;
    let span = cursor.since(start);
    let attr_size = u64::from(cursor.u32("event_desc.attr_size")?);
    let min = attr_size.saturating_add(4 + STRING_MIN);
    for _ in 0..count(nr.into(), min, cursor.left(), "event_desc.nr", span)? {
        cursor.skip(1, attr_size, "event.attr")?;
        let start = cursor.position();
        let ids = cursor.u32("event.nr_ids")?.into();
        let ids = count(ids, 8, cursor.left(), "event.nr_ids", cursor.since(start))?;
        let (start, bytes) = (cursor.position(), cursor.rest());
        string(cursor, "event.name")?;
        // perf names each event, and shows samples under what stands here.
        let name = bytes.get(4..).and_then(|text| text.split(|byte| *byte == 0).next());
        if !name.is_some_and(is_name) {
            return Err(FeatureError::NoName { label: "event.name", span: cursor.since(start) });
        }
        cursor.skip(ids, 8, "event.ids")?;
    }
    Ok(())
}

/// An event in EVENT_DESC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedEvent {
    /// `attr.type` and `attr.config`.
    pub event: (u32, u64),
    /// Its name.
    pub name: Vec<u8>,
}

/// Reads the events of EVENT_DESC, up to the first field that does not fit.
pub fn described_events(cursor: &mut Cursor<'_>) -> Vec<DescribedEvent> {
    let mut events = Vec::new();
    let mut read = || {
        let nr = cursor.u32("event_desc.nr")?;
        let attr_size = u64::from(cursor.u32("event_desc.attr_size")?);
        for _ in 0..nr {
            let mut attr = cursor.window(attr_size, "event.attr")?;
            let kind = attr.u32("attr.type")?;
            attr.u32("attr.size")?;
            let config = attr.u64("attr.config")?;
            let ids = cursor.u32("event.nr_ids")?;
            let len = cursor.u32("event.name")?;
            let name = cursor.bytes(len.into(), "event.name")?;
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            events.push(DescribedEvent { event: (kind, config), name: name.to_vec() });
            cursor.skip(ids.into(), 8, "event.ids")?;
        }
        Ok::<(), ReadError>(())
    };
    // The events up to the fault are all that is asked for.
    _ = read();
    events
}

/// CPU_TOPOLOGY: lists of cores and of threads; since the second revision the core and socket of
/// each CPU; since the third a list of dies and the die of each CPU.
pub(super) fn cpu_topology(cursor: &mut Cursor<'_>, cpus: Option<u32>) -> Result<(), FeatureError> {
    strings(cursor, "cores.nr", "core")?;
    strings(cursor, "threads.nr", "thread")?;
    if cursor.is_empty() {
        return Ok(());
    }
    let Some(cpus) = cpus else {
        // perf takes the number of CPUs for 0, and the core of the first CPU for that of the dies.
        strings(&mut cursor.unlogged(), "dies.nr", "die")?;
        return Ok(cursor.skip(1, cursor.left(), "cpus")?);
    };
    cursor.skip(cpus.into(), 8, "cpus")?;
    if cursor.is_empty() {
        return Ok(());
    }
    strings(cursor, "dies.nr", "die")?;
    Ok(cursor.skip(cpus.into(), 4, "die_id")?)
}

/// Refuses a socket above the number of CPUs in a CPU_TOPOLOGY that [`cpu_topology`] could read. At
/// one, perf stops reading features (`process_cpu_topology`).
pub(super) fn check_sockets(mut cursor: Cursor<'_>, cpus: Option<u32>) -> Result<(), FeatureError> {
    strings(&mut cursor, "cores.nr", "core")?;
    strings(&mut cursor, "threads.nr", "thread")?;
    if cursor.is_empty() {
        return Ok(());
    }
    let Some(cpus) = cpus else { return Ok(()) };
    for _ in 0..cpus {
        cursor.u32("core_id")?;
        let start = cursor.position();
        let value = cursor.u32("socket_id")?;
        let range = (0, cpus.into());
        // The number of a CPU that is offline.
        if value != u32::MAX {
            expect_range("socket_id", value.into(), range, cursor.since(start))?;
        }
    }
    Ok(())
}

/// Finds the only number of CPUs by which CPU_TOPOLOGY can be read to its last byte, if its lists
/// of threads name as many. The lists name the CPUs that are online.
pub(super) fn cpus_of_topology(mut cursor: Cursor<'_>) -> Option<Cpus> {
    let whole = cursor.clone();
    let _cores = listed_cpus(&mut cursor)?;
    let listed = listed_cpus(&mut cursor)?;
    let most = u32::try_from(cursor.left() >> 3).unwrap_or(u32::MAX).min(TRIED_CPUS);
    let fits = |cpus: &u32| {
        let mut all = whole.clone();
        let is_read = cpu_topology(&mut all, Some(*cpus)).is_ok() && all.is_empty();
        is_read && check_sockets(whole.clone(), Some(*cpus)).is_ok()
    };
    let mut found = (1..=most).filter(fits);
    let available = found.next().filter(|_| found.next().is_none())?;
    let is_last = listed.last().is_some_and(|last| last.checked_add(1) == Some(available));
    let online = u32::try_from(listed.len()).ok()?;
    is_last.then_some(Cpus { available, online })
}

/// Reads a list of texts such as `0-3,8`, and returns the CPUs; `None` if a text is another one, as
/// in zeros.
fn listed_cpus(cursor: &mut Cursor<'_>) -> Option<BTreeSet<u32>> {
    let mut cpus = BTreeSet::new();
    for _ in 0..cursor.u32("nr").ok()? {
        let len = cursor.u32("length").ok()?;
        let text = cursor.bytes(len.into(), "text").ok()?;
        let text =
            text.split(|byte| *byte == 0).next().and_then(|text| str::from_utf8(text).ok())?;
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            if last >= TRIED_CPUS {
                return None;
            }
            cpus.extend(first..=last);
        }
    }
    Some(cpus)
}

/// Whether ARCH names a machine whose numbers of sockets perf does not judge.
pub(super) fn has_free_sockets(cursor: Cursor<'_>) -> bool {
    let machine = text(cursor);
    machine.starts_with(b"s390") || machine.starts_with(b"aarch64")
}

/// Returns the text of a feature that is one string; empty if its length is truncated.
pub(super) fn text(mut cursor: Cursor<'_>) -> &[u8] {
    cursor.skip(1, 4, "string").map_or(&[][..], |()| cursor.until_nul())
}

/// AUXTRACE: `auxtrace_index__write` of `util/auxtrace.c`: a u64 count, then u64 offset and size of
/// each. simpleperf writes no count.
pub(super) fn auxtrace(cursor: &mut Cursor<'_>) -> Result<(), FeatureError> {
    if has_entries_only(cursor.unlogged()) {
        return Ok(cursor.skip(cursor.left() >> 4, 16, "auxtrace.entries")?);
    }
    let start = cursor.position();
    let total = cursor.u64("auxtrace.nr")?;
    let total = count(total, 16, cursor.left(), "auxtrace.nr", cursor.since(start))?;
    Ok(cursor.skip(total, 16, "auxtrace.entries")?)
}

/// Whether an index has entries and no count: each entry has the size of an AUXTRACE record.
fn has_entries_only(mut index: Cursor<'_>) -> bool {
    /// Header and fields of an AUXTRACE record.
    const RECORD_SIZE: u64 = 48;
    let mut entries = 0_u64;
    while index.skip(1, 8, "auxtrace.offset").is_ok()
        && index.u64("auxtrace.size") == Ok(RECORD_SIZE)
    {
        entries = entries.saturating_add(1);
    }
    entries > 0 && index.is_empty()
}

/// Refuses a number outside of a range.
pub(super) fn expect_range(
    label: &'static str,
    value: u64,
    range: (u64, u64),
    span: Span,
) -> Result<(), FeatureError> {
    if (range.0..=range.1).contains(&value) {
        return Ok(());
    }
    Err(FeatureError::Number { label, value, range, span })
}

/// Refuses a version other than 1: perf stops reading the features there.
pub(super) fn expect_version(
    label: &'static str,
    value: u64,
    span: Span,
) -> Result<(), FeatureError> {
    if value == 1 { Ok(()) } else { Err(FeatureError::Version { label, value, span }) }
}

/// Reads a u32 and refuses one outside of a range.
pub(super) fn ranged(
    cursor: &mut Cursor<'_>,
    label: &'static str,
    range: (u64, u64),
) -> Result<u64, FeatureError> {
    let start = cursor.position();
    let value = u64::from(cursor.u32(label)?);
    expect_range(label, value, range, cursor.since(start))?;
    Ok(value)
}
