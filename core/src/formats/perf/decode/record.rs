//! The bodies of all records but samples.
//!
//! ```text
//!  kernel, types 1 to 63:   | own fields | padding, newer fields | sample_id: trailer_len |
//!  perf, types 64 and up:   | own fields | newer fields |
//! ```
//!
//! Sources: `include/uapi/linux/perf_event.h`, `tools/lib/perf/include/perf/event.h`, and for the
//! least sizes that any writer made, `perf_event__min_size` of perf's `util/session.c`.

use super::sample::{BodyError, COUNT64, CountField, counted};
use crate::formats::perf::layout::{ATTR_SIZE_VER0, record};
use crate::kit::cursor::{Cursor, ReadError};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::Span;

/// `misc` of an MMAP2: it has a build id in place of device and inode.
const MISC_MMAP_BUILD_ID: u16 = 1 << 14;
/// `misc` of a BUILD_ID: it has the size of its id.
const MISC_BUILD_ID_SIZE: u16 = 1 << 15;
/// Longest build id, in bytes.
const BUILD_ID_MAX: u64 = 20;

/// A type of record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    name: &'static str,
    /// Bytes of body that any writer gave it, without the `sample_id`.
    least: u64,
}

const fn kind(name: &'static str, least: u64) -> Kind {
    Kind { name, least }
}

/// Types 1 and up: the kernel's.
static KERNEL: [Kind; 22] = [
    kind("MMAP", 33),
    kind("LOST", 16),
    kind("COMM", 9),
    kind("EXIT", 24),
    kind("THROTTLE", 24),
    kind("UNTHROTTLE", 24),
    kind("FORK", 24),
    kind("READ", 16),
    kind("SAMPLE", 0),
    kind("MMAP2", 65),
    kind("AUX", 24),
    kind("ITRACE_START", 8),
    kind("LOST_SAMPLES", 8),
    kind("SWITCH", 0),
    kind("SWITCH_CPU_WIDE", 8),
    kind("NAMESPACES", 16),
    kind("KSYMBOL", 17),
    kind("BPF_EVENT", 16),
    kind("CGROUP", 9),
    kind("TEXT_POKE", 12),
    kind("AUX_OUTPUT_HW_ID", 8),
    kind("CALLCHAIN_DEFERRED", 16),
];

/// Types 64 and up: perf's own.
static USER: [Kind; 23] = [
    kind("HEADER_ATTR", 64),
    // Early writers cut the name's 64 bytes to its length.
    kind("HEADER_EVENT_TYPE", 8),
    kind("HEADER_TRACING_DATA", 4),
    kind("HEADER_BUILD_ID", 29),
    kind("FINISHED_ROUND", 0),
    kind("ID_INDEX", 8),
    kind("AUXTRACE_INFO", 8),
    kind("AUXTRACE", 40),
    kind("AUXTRACE_ERROR", 33),
    kind("THREAD_MAP", 8),
    kind("CPU_MAP", 4),
    kind("STAT_CONFIG", 8),
    kind("STAT", 40),
    kind("STAT_ROUND", 16),
    kind("EVENT_UPDATE", 17),
    kind("TIME_CONV", 24),
    kind("HEADER_FEATURE", 8),
    kind("COMPRESSED", 0),
    kind("FINISHED_INIT", 0),
    kind("COMPRESSED2", 8),
    kind("BPF_METADATA", 264),
    kind("SCHEDSTAT_CPU", 16),
    kind("SCHEDSTAT_DOMAIN", 16),
];

fn entry(kind: u32) -> Option<&'static Kind> {
    let (table, first) =
        if kind < record::USER_FIRST { (&KERNEL[..], 1) } else { (&USER[..], record::USER_FIRST) };
    table.get(to_usize(kind.checked_sub(first)?.into()))
}

/// Name of a type, without `PERF_RECORD_`.
pub fn name(kind: u32) -> Option<&'static str> {
    entry(kind).map(|entry| entry.name)
}

/// Bytes of body that a record of a known type has at least, without the `sample_id`.
pub fn least_body(kind: u32) -> Option<u64> {
    entry(kind).map(|entry| entry.least)
}

/// Whether records of the type end in a `sample_id` where attrs have `sample_id_all`: all that the
/// kernel writes but samples.
#[inline]
pub const fn has_trailer(kind: u32) -> bool {
    kind < record::USER_FIRST && kind != record::SAMPLE
}

/// What a check needs of a record's own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing but that its fields are there.
    Plain,
    /// A type that is not known: nothing was read.
    Unknown,
    /// A name or path, without its NUL: MMAP, MMAP2, COMM, KSYMBOL, CGROUP, BUILD_ID, EVENT_UPDATE.
    Name(Span),
    /// LOST and LOST_SAMPLES: what the kernel could not record.
    Lost(u64),
    /// HEADER_ATTR.
    Attr {
        /// For [`attr`](super::attr::attr) to read.
        attr: Span,
        /// u64 each.
        ids: Span,
    },
    /// AUXTRACE and TRACING_DATA: bytes that follow the record, not counted in its size.
    Outside(u64),
    /// HEADER_FEATURE.
    Feature {
        /// Its bit.
        id: u64,
        /// As in the file's feature section, without the section's table.
        data: Span,
    },
    /// COMPRESSED and COMPRESSED2: zstd data.
    Compressed(Span),
}

/// A record's own fields, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body {
    /// What they say.
    pub detail: Detail,
    /// Bytes between them and the `sample_id` or the end, such as the fields of a newer kernel.
    /// The padding of strings is not among them.
    pub extra: u64,
}

/// Reads the body of a record that is no sample. The cursor holds the body and nothing else; in
/// any case it ends up before the last `trailer_len` bytes, or stays where they are not there.
/// Types without a `sample_id` ([`has_trailer`]) take no notice of `trailer_len`.
pub fn body(
    kind: u32,
    misc: u16,
    cursor: &mut Cursor<'_>,
    trailer_len: u64,
) -> Result<Body, BodyError> {
    let trailer_len = if has_trailer(kind) { trailer_len } else { 0 };
    let Some(own_len) = cursor.left().checked_sub(trailer_len) else {
        return Err(
            ReadError { label: "sample_id", left: cursor.ahead(), needed: trailer_len }.into()
        );
    };
    let mut own = cursor.window(own_len, "body")?;
    let detail = if kind < record::USER_FIRST {
        kernel(kind, misc, &mut own)?
    } else {
        user(kind, misc, &mut own)?
    };
    Ok(Body { detail, extra: own.left() })
}

/// The fields of types that the kernel defines, by their numbers in [`KERNEL`].
fn kernel(kind: u32, misc: u16, own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    match kind {
        1 => {
            own.skip(4, 8, "mmap.addr")?;
            return string(own, "mmap.filename");
        }
        2 => {
            own.skip(1, 8, "lost.id")?;
            return Ok(Detail::Lost(own.u64("lost.lost")?));
        }
        3 => {
            own.skip(1, 8, "comm.pid")?;
            return string(own, "comm.comm");
        }
        4 | 7 => own.skip(3, 8, "fork.time")?,
        5 | 6 => own.skip(3, 8, "throttle.time")?,
        8 => {
            // The values are as the attr's read_format says, which is not at hand.
            own.skip(2, 8, "read.value")?;
            rest(own);
        }
        10 => return mmap2(misc, own),
        11 => own.skip(3, 8, "aux.aux_offset")?,
        12 => own.skip(1, 8, "itrace_start.pid")?,
        13 => return Ok(Detail::Lost(own.u64("lost_samples.lost")?)),
        14 => {}
        15 => own.skip(1, 8, "switch.next_prev_pid")?,
        16 => {
            own.skip(1, 8, "namespaces.pid")?;
            list(own, 16, "namespaces.nr_namespaces")?;
        }
        17 => {
            own.skip(2, 8, "ksymbol.addr")?;
            return string(own, "ksymbol.name");
        }
        18 => own.skip(2, 8, "bpf_event.type")?,
        19 => {
            own.skip(1, 8, "cgroup.id")?;
            return string(own, "cgroup.path");
        }
        20 => text_poke(own)?,
        21 => own.skip(1, 8, "aux_output_hw_id.hw_id")?,
        22 => {
            own.skip(1, 8, "callchain_deferred.cookie")?;
            list(own, 8, "callchain_deferred.nr")?;
        }
        _ => return Ok(Detail::Unknown),
    }
    Ok(Detail::Plain)
}

/// The fields of types that perf defines, by their numbers in [`USER`].
fn user(kind: u32, misc: u16, own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    match kind {
        64 => return header_attr(own),
        65 => {
            own.skip(1, 8, "event_type.event_id")?;
            rest(own);
        }
        66 => {
            let size = own.u32("tracing_data.size")?;
            // Writers since 5.18 pad the record to 16 bytes.
            rest(own);
            return Ok(Detail::Outside(size.into()));
        }
        67 => return build_id(misc, own),
        69 => {
            let nr = list(own, 32, "id_index.nr")?;
            // Writers since 5.20 add u64 machine_pid and u64 vcpu per entry.
            if nr.checked_mul(16) == Some(own.left()) {
                rest(own);
            }
        }
        70 => {
            own.skip(1, 8, "auxtrace_info.type")?;
            rest(own);
        }
        71 => {
            let size = own.u64("auxtrace.size")?;
            own.skip(4, 8, "auxtrace.offset")?;
            return Ok(Detail::Outside(size));
        }
        72 => auxtrace_error(own)?,
        73 => drop(list(own, 24, "thread_map.nr")?),
        74 => cpu_map(own)?,
        75 => drop(list(own, 16, "stat_config.nr")?),
        76 => own.skip(5, 8, "stat.id")?,
        77 => own.skip(2, 8, "stat_round.type")?,
        78 => return event_update(own),
        79 => {
            own.skip(3, 8, "time_conv.time_shift")?;
            // Writers since 5.10 add three words.
            rest(own);
        }
        80 => {
            let id = own.u64("feature.feat_id")?;
            return Ok(Detail::Feature { id, data: rest(own) });
        }
        81 => return Ok(Detail::Compressed(rest(own))),
        83 => return compressed2(own),
        84 => bpf_metadata(own)?,
        85 | 86 => {
            // Then the fields of the kernel's schedstat version.
            own.skip(2, 8, "schedstat.timestamp")?;
            rest(own);
        }
        68 | 82 => {}
        _ => return Ok(Detail::Unknown),
    }
    Ok(Detail::Plain)
}

/// All that is left.
fn rest(own: &mut Cursor<'_>) -> Span {
    let span = own.ahead();
    // What is left is there.
    own.bytes(own.left(), "rest").map_or(Span::sized(span.layer, span.start, 0), |_| span)
}

/// A string that a NUL ends, and its padding: all that is left.
fn string(own: &mut Cursor<'_>, label: &'static str) -> Result<Detail, BodyError> {
    let span = terminated(own, label)?;
    rest(own);
    Ok(Detail::Name(span))
}

/// A string with a NUL after it, and no further.
fn terminated(own: &mut Cursor<'_>, label: &'static str) -> Result<Span, BodyError> {
    let start = own.position();
    let unterminated = BodyError::Unterminated { label, span: own.ahead() };
    own.bytes(to_u64(own.until_nul().len()), label)?;
    let span = own.since(start);
    own.u8(label).map_err(|_| unterminated)?;
    Ok(span)
}

/// u64 nr, and as many entries of `size` bytes.
fn list(own: &mut Cursor<'_>, size: u64, label: &'static str) -> Result<u64, BodyError> {
    let nr = own.u64(label)?;
    counted(own, nr, size, label, COUNT64)?;
    Ok(nr)
}

/// { pid tid addr len pgoff, { maj min ino ino_generation } or { u8 build_id_size, u8, u16,
/// build_id[20] }, prot flags, filename }
fn mmap2(misc: u16, own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    own.skip(4, 8, "mmap2.addr")?;
    if misc & MISC_MMAP_BUILD_ID == 0 {
        own.skip(3, 8, "mmap2.ino")?;
    } else {
        build_id_size(own, "mmap2.build_id_size")?;
        own.skip(1, 23, "mmap2.build_id")?;
    }
    own.skip(2, 4, "mmap2.prot")?;
    string(own, "mmap2.filename")
}

fn build_id_size(own: &mut Cursor<'_>, label: &'static str) -> Result<(), BodyError> {
    let start = own.position();
    let size = u64::from(own.u8(label)?);
    if size > BUILD_ID_MAX {
        let span = own.since(start);
        return Err(BodyError::Count { label, value: size, most: BUILD_ID_MAX, span });
    }
    Ok(())
}

/// { u64 addr, u16 old_len, u16 new_len, bytes of both }, padded to 8.
fn text_poke(own: &mut Cursor<'_>) -> Result<(), BodyError> {
    own.skip(1, 8, "text_poke.addr")?;
    let old_len = u64::from(own.u16("text_poke.old_len")?);
    let new_len = u64::from(own.u16("text_poke.new_len")?);
    let both = old_len.saturating_add(new_len);
    counted(own, both, 1, "text_poke.old_len", CountField { before: 4, size: 4 })?;
    padding(own);
    Ok(())
}

/// Fewer bytes than make a word.
fn padding(own: &mut Cursor<'_>) {
    if own.left() < 8 {
        rest(own);
    }
}

/// An attr, framed by its own size, and u64 ids.
fn header_attr(own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    let start = own.position();
    let mut head = own.clone();
    head.skip(1, 4, "attr.type")?;
    let size = u64::from(head.u32("attr.size")?).max(ATTR_SIZE_VER0);
    own.skip(1, size, "attr")?;
    let attr = own.since(start);
    let start = own.position();
    own.skip(own.left() >> 3, 8, "ids")?;
    Ok(Detail::Attr { attr, ids: own.since(start) })
}

/// { i32 pid, u8 build_id[20], u8 size, u8, u16, filename }. A `sample_id` may follow the name in
/// what `perf inject` writes.
fn build_id(misc: u16, own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    own.skip(1, 24, "build_id.build_id")?;
    if misc & MISC_BUILD_ID_SIZE == 0 {
        own.skip(1, 4, "build_id.size")?;
    } else {
        build_id_size(own, "build_id.size")?;
        own.skip(1, 3, "build_id.reserved")?;
    }
    string(own, "build_id.filename")
}

/// { type code cpu pid tid fmt, u64 ip, u64 time if fmt > 0, msg, machine_pid vcpu if fmt > 1 }
fn auxtrace_error(own: &mut Cursor<'_>) -> Result<(), BodyError> {
    own.skip(5, 4, "auxtrace_error.type")?;
    let fmt = own.u32("auxtrace_error.fmt")?;
    own.skip(if fmt > 0 { 2 } else { 1 }, 8, "auxtrace_error.ip")?;
    string(own, "auxtrace_error.msg").map(drop)
}

/// { u16 type, and: 0 { u16 nr, u16 each }; 1 { u16 nr, u16 long_size, masks, for a long_size of 8
/// after 4 bytes of padding }; 2 { u8 any, u8, u16 first, u16 last } }, padded to 8.
fn cpu_map(own: &mut Cursor<'_>) -> Result<(), BodyError> {
    match own.u16("cpu_map.type")? {
        0 => {
            let nr = own.u16("cpu_map.nr")?;
            counted(own, nr.into(), 2, "cpu_map.nr", CountField { before: 2, size: 2 })?;
        }
        1 => {
            let nr = u64::from(own.u16("cpu_map.nr")?);
            let long_size = u64::from(own.u16("cpu_map.long_size")?);
            let mut before = 4;
            if long_size == 8 {
                own.skip(1, 4, "cpu_map.pad")?;
                before = 8;
            }
            counted(own, nr, long_size, "cpu_map.nr", CountField { before, size: 2 })?;
        }
        2 => own.skip(3, 2, "cpu_map.range")?,
        _ => {
            rest(own);
        }
    }
    padding(own);
    Ok(())
}

/// { u64 type, u64 id, and: 0 unit, a string; 1 scale, a double; 2 name, a string; 3 a CPU map }.
/// Writers give some of them room for the longest kind: what follows is padding.
fn event_update(own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    let kind = own.u64("event_update.type")?;
    own.skip(1, 8, "event_update.id")?;
    match kind {
        0 => return string(own, "event_update.unit"),
        1 => own.skip(1, 8, "event_update.scale")?,
        2 => return string(own, "event_update.name"),
        3 => cpu_map(own)?,
        _ => {}
    }
    rest(own);
    Ok(Detail::Plain)
}

/// { u64 data_size, as many bytes }, padded to 8.
fn compressed2(own: &mut Cursor<'_>) -> Result<Detail, BodyError> {
    let size = own.u64("compressed2.data_size")?;
    let start = own.position();
    counted(own, size, 1, "compressed2.data_size", COUNT64)?;
    let data = own.since(start);
    padding(own);
    Ok(Detail::Compressed(data))
}

/// { prog_name, u64 nr, nr * { key[64], value[256] } }. The name has the bytes of the builder's
/// `KSYM_NAME_LEN`, 256 or 512; no count fits both.
fn bpf_metadata(own: &mut Cursor<'_>) -> Result<(), BodyError> {
    let mut long = own.clone();
    let exact = long.skip(1, 512, "bpf_metadata.prog_name").is_ok()
        && list(&mut long, 320, "bpf_metadata.nr_entries").is_ok()
        && long.is_empty();
    if exact {
        *own = long;
        return Ok(());
    }
    own.skip(1, 256, "bpf_metadata.prog_name")?;
    list(own, 320, "bpf_metadata.nr_entries").map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::cursor::Order;
    use crate::kit::span::Layer;

    fn read(kind: u32, misc: u16, bytes: &[u8], trailer_len: u64) -> Result<Body, BodyError> {
        let mut cursor = Cursor::new(bytes, Layer::stored(0), 0, Order::Little);
        body(kind, misc, &mut cursor, trailer_len)
    }

    /// The detail of a body all bytes of which belong to fields.
    fn whole(kind: u32, misc: u16, bytes: &[u8]) -> Detail {
        let body = read(kind, misc, bytes, 0).unwrap();
        assert_eq!(body.extra, 0);
        body.detail
    }

    fn error(kind: u32, misc: u16, bytes: &[u8]) -> String {
        read(kind, misc, bytes, 0).unwrap_err().to_string()
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn span(start: u64, end: u64) -> Span {
        Span::new(Layer::stored(0), start, end)
    }

    /// `zeros` bytes, then `bytes`.
    fn after(zeros: usize, bytes: &[u8]) -> Vec<u8> {
        let mut all = vec![0; zeros];
        all.extend_from_slice(bytes);
        all
    }

    #[test]
    fn every_type_has_its_name() {
        let named = [(1, "MMAP"), (9, "SAMPLE"), (22, "CALLCHAIN_DEFERRED"), (64, "HEADER_ATTR")];
        for (kind, expected) in named {
            assert_eq!(name(kind), Some(expected));
        }
        assert_eq!(name(record::COMPRESSED), Some("COMPRESSED"));
        assert_eq!(name(record::USER_LAST), Some("SCHEDSTAT_DOMAIN"));
        assert_eq!([0, 23, 63, 87, u32::MAX].map(name), [None; 5]);
    }

    #[test]
    fn a_body_of_the_least_size_is_read_and_a_shorter_one_is_not() {
        for kind in (1..=22).chain(64..=86).filter(|kind| *kind != record::SAMPLE) {
            let least = usize::try_from(least_body(kind).unwrap()).unwrap();
            assert!(read(kind, 0, &vec![0; least], 0).is_ok(), "{:?}", name(kind));
            if least > 0 {
                assert!(read(kind, 0, &vec![0; least - 1], 0).is_err(), "{:?}", name(kind));
            }
        }
    }

    #[test]
    fn the_trailer_is_not_the_records_own() {
        let comm = after(8, b"true\0\0\0\0........");
        assert_eq!(
            read(3, 0, &comm, 8).unwrap(),
            Body { detail: Detail::Name(span(8, 12)), extra: 0 }
        );
        let bare = read(3, 0, &after(8, b"comm\0\0\0\0"), 8).unwrap_err();
        assert_eq!(bare.to_string(), "comm.comm has no NUL in its 0 bytes");
        let short = read(14, 0, &[0; 4], 8).unwrap_err();
        assert_eq!(short.to_string(), "sample_id needs 8 bytes at 0x0, 4 are left");
    }

    #[test]
    fn the_cursor_stops_before_the_trailer_even_after_a_fault() {
        let bytes = [1; 24];
        let mut cursor = Cursor::new(&bytes, Layer::stored(0), 0, Order::Little);
        assert!(body(3, 0, &mut cursor, 8).is_err());
        assert_eq!(cursor.position(), 16);
    }

    #[test]
    fn perfs_own_records_and_samples_have_no_trailer() {
        assert_eq!(
            [1, 9, 22, 40, 64, 86].map(has_trailer),
            [true, false, true, true, false, false]
        );
        assert_eq!(read(76, 0, &[0; 40], 8).unwrap().extra, 0);
    }

    #[test]
    fn fields_of_a_newer_kernel_are_extra() {
        assert_eq!(read(4, 0, &[0; 40], 8).unwrap(), Body { detail: Detail::Plain, extra: 8 });
        assert_eq!(read(23, 0, &[0; 40], 8).unwrap(), Body { detail: Detail::Unknown, extra: 32 });
        assert_eq!(read(87, 0, &[0; 40], 8).unwrap(), Body { detail: Detail::Unknown, extra: 40 });
    }

    #[test]
    fn a_name_without_nul_is_told() {
        assert_eq!(whole(1, 0, &after(32, b"/bin/ls\0")), Detail::Name(span(32, 39)));
        assert_eq!(error(1, 0, &after(32, b"/bin/lss")), "mmap.filename has no NUL in its 8 bytes");
    }

    #[test]
    fn a_build_id_in_place_of_the_inode_has_at_most_20_bytes() {
        let mut mmap2 = after(64, b"x\0");
        mmap2[32] = 20;
        assert_eq!(whole(10, MISC_MMAP_BUILD_ID, &mmap2), Detail::Name(span(64, 65)));
        mmap2[32] = 21;
        assert_eq!(
            error(10, MISC_MMAP_BUILD_ID, &mmap2),
            "mmap2.build_id_size is 21, at most 20 can be"
        );
        assert_eq!(whole(10, 0, &mmap2), Detail::Name(span(64, 65)));
    }

    #[test]
    fn a_build_id_record_has_a_size_if_misc_says_so() {
        let mut build_id = after(28, b"[kernel]\0\0\0\0");
        build_id[24] = 20;
        assert_eq!(whole(67, MISC_BUILD_ID_SIZE, &build_id), Detail::Name(span(28, 36)));
        build_id[24] = 255;
        assert_eq!(
            error(67, MISC_BUILD_ID_SIZE, &build_id),
            "build_id.size is 255, at most 20 can be"
        );
        assert_eq!(whole(67, 0, &build_id), Detail::Name(span(28, 36)));
    }

    #[test]
    fn lists_are_bounded_by_what_is_left() {
        for (kind, before, size) in [(16, 1, 2), (22, 1, 1), (69, 0, 4), (73, 0, 3), (75, 0, 2)] {
            let mut list = vec![0; before];
            list.push(2);
            list.resize(before + 1 + 2 * size, 7);
            assert_eq!(whole(kind, 0, &words(&list)), Detail::Plain);
            list.pop();
            let error = read(kind, 0, &words(&list), 0).unwrap_err();
            let at = u64::try_from(before * 8).unwrap();
            assert!(matches!(error, BodyError::Count { value: 2, most: 1, .. }), "{error}");
            assert_eq!(error.span(), span(at, at + 8));
        }
    }

    #[test]
    fn an_id_index_may_have_machines_after_its_entries() {
        assert_eq!(whole(69, 0, &words(&[1, 0, 0, 0, 0, 9, 9])), Detail::Plain);
        assert_eq!(read(69, 0, &words(&[1, 0, 0, 0, 0, 9]), 0).unwrap().extra, 8);
    }

    #[test]
    fn changed_text_is_old_bytes_and_new_ones() {
        let mut text_poke = after(8, &[1, 0, 2, 0, 0xcc, 0x90, 0x90, 0]);
        assert_eq!(whole(20, 0, &text_poke), Detail::Plain);
        text_poke[8] = 3;
        assert_eq!(error(20, 0, &text_poke), "text_poke.old_len is 5, at most 4 can be");
    }

    #[test]
    fn an_attr_is_framed_by_its_size_and_ids_follow() {
        let mut attr = after(72 + 16, &[]);
        attr[4] = 72;
        let ids = Detail::Attr { attr: span(0, 72), ids: span(72, 88) };
        assert_eq!(whole(64, 0, &attr), ids);
        attr[4] = 96;
        assert_eq!(error(64, 0, &attr), "attr needs 96 bytes at 0x0, 88 are left");
    }

    #[test]
    fn payload_outside_the_record_is_told() {
        assert_eq!(whole(71, 0, &words(&[4096, 0, 0, 0, 0])), Detail::Outside(4096));
        assert_eq!(whole(66, 0, &[0, 1, 0, 0]), Detail::Outside(256));
        assert_eq!(whole(66, 0, &[0, 1, 0, 0, 0, 0, 0, 0]), Detail::Outside(256));
    }

    #[test]
    fn a_feature_has_a_number_and_data() {
        let feature = whole(80, 0, &after(0, b"\x03\0\0\0\0\0\0\0host"));
        assert_eq!(feature, Detail::Feature { id: 3, data: span(8, 12) });
    }

    #[test]
    fn compressed_data_is_told_without_its_padding() {
        assert_eq!(whole(81, 0, &[1, 2, 3]), Detail::Compressed(span(0, 3)));
        assert_eq!(whole(83, 0, &words(&[3, 0])), Detail::Compressed(span(8, 11)));
        assert_eq!(error(83, 0, &words(&[9, 0])), "compressed2.data_size is 9, at most 8 can be");
    }

    #[test]
    fn cpu_maps_are_lists_masks_or_ranges() {
        assert_eq!(whole(74, 0, &[0, 0, 2, 0, 0, 0, 1, 0]), Detail::Plain);
        assert_eq!(whole(74, 0, &[1, 0, 1, 0, 4, 0, 3, 0, 0, 0, 0, 0]), Detail::Plain);
        let wide = [1, 0, 1, 0, 8, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(whole(74, 0, &wide), Detail::Plain);
        assert_eq!(whole(74, 0, &[2, 0, 0, 0, 0, 0, 3, 0]), Detail::Plain);
        let error = read(74, 0, &[0, 0, 9, 0, 0, 0, 1, 0], 0).unwrap_err();
        assert_eq!(error.to_string(), "cpu_map.nr is 9, at most 2 can be");
        assert_eq!(error.span(), span(2, 4));
    }

    #[test]
    fn updates_of_an_event_go_by_their_type() {
        assert_eq!(whole(78, 0, &words(&[0, 1, 0x736d])), Detail::Name(span(16, 18)));
        assert_eq!(whole(78, 0, &words(&[1, 1, 0])), Detail::Plain);
        assert_eq!(
            error(78, 0, &words(&[1, 1])),
            "event_update.scale needs 8 bytes at 0x10, 0 are left"
        );
        assert_eq!(whole(78, 0, &words(&[3, 1, 0x1_0000])), Detail::Plain);
    }

    #[test]
    fn a_trace_error_says_where_its_message_begins() {
        let old = after(32, b"lost\0\0\0\0");
        assert_eq!(whole(72, 0, &old), Detail::Plain);
        let mut new = after(40, b"lost\0\0\0\0");
        new[20] = 1;
        assert_eq!(whole(72, 0, &new), Detail::Plain);
        new.truncate(40);
        assert_eq!(error(72, 0, &new), "auxtrace_error.msg has no NUL in its 0 bytes");
    }

    #[test]
    fn a_program_name_has_256_or_512_bytes() {
        for name_len in [256, 512] {
            let mut metadata = after(name_len, &words(&[1]));
            metadata.resize(name_len + 8 + 320, 0);
            assert_eq!(whole(84, 0, &metadata), Detail::Plain);
        }
    }
}
