use std::borrow::Cow;

use super::*;
use crate::formats::perf::layout::MISC_BUILD_ID_SIZE;
use crate::formats::perf::layout::MISC_MMAP_BUILD_ID;
use crate::kit::cursor::Order;
use crate::kit::field_log::{Field, FieldLog, FieldValue};
use crate::kit::span::Layer;

/// Sizes of the smallest bodies that any writer made: util/session.c, `perf_event__min_size`. Early
/// writers truncated the name of an EVENT_TYPE (65) to its length.
const KERNEL_LEAST: [usize; 22] =
    [33, 16, 9, 24, 24, 24, 24, 16, 0, 65, 24, 8, 8, 0, 8, 16, 17, 16, 9, 12, 8, 16];
const USER_LEAST: [usize; 23] =
    [64, 8, 4, 29, 0, 8, 8, 40, 33, 8, 6, 8, 40, 16, 17, 24, 8, 0, 0, 8, 264, 16, 16];

fn read(kind: u32, misc: u16, bytes: &[u8], trailer_len: u64) -> Result<Body, BodyError> {
    let mut cursor = Cursor::new(bytes, Layer::stored(0), 0, Order::Little);
    body(kind, misc, &mut cursor, trailer_len)
}

/// Reads a body whose bytes all belong to fields.
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

/// The numbers among the fields of a body.
fn numbers(kind: u32, bytes: &[u8]) -> Vec<(&'static str, u64)> {
    let log = FieldLog::new(1_000).with_entries();
    let cursor = Cursor::new(bytes, Layer::stored(0), 0, Order::Little);
    body(kind, 0, &mut cursor.with_log(&log), 0).unwrap();
    let number = |field: Field| match (field.label, field.value) {
        (Cow::Borrowed(label), FieldValue::Number(value) | FieldValue::Hex(value)) => {
            Some((label, value))
        }
        _ => None,
    };
    log.into_noted().fields.into_iter().filter_map(number).collect()
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
    let kernel = (1..).zip(KERNEL_LEAST);
    for (kind, least) in kernel.chain((64..).zip(USER_LEAST)).filter(|(kind, _)| *kind != 9) {
        let mut smallest = vec![0; least];
        if kind == 70 {
            // The type of s390, which needs no data.
            smallest[0] = 5;
        }
        if kind == 74 {
            // A list of one CPU.
            smallest[2] = 1;
        }
        assert!(read(kind, 0, &smallest, 0).is_ok(), "{:?}", name(kind));
        if least > 0 {
            assert!(read(kind, 0, &vec![0; least - 1], 0).is_err(), "{:?}", name(kind));
        }
    }
}

#[test]
fn the_trailer_does_not_belong_to_the_fields() {
    let comm = after(8, b"true\0\0\0\0........");
    assert_eq!(
        read(3, 0, &comm, 8).unwrap(),
        Body { detail: Detail::Name(span(8, 12)), extra: 0, after_name: 0 }
    );
    let bare = read(3, 0, &after(8, b"comm\0\0\0\0"), 8).unwrap_err();
    assert_eq!(bare.to_string(), "comm.comm is unterminated: no NUL in 0 bytes");
    let short = read(14, 0, &[0; 4], 8).unwrap_err();
    assert_eq!(short.to_string(), "truncated sample_id: 4 of 8 bytes at 0x0");
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
    assert_eq!([1, 9, 22, 40, 64, 86].map(has_trailer), [true, false, true, true, false, false]);
    assert_eq!(read(76, 0, &[0; 40], 8).unwrap().extra, 0);
}

#[test]
fn fields_of_a_newer_kernel_are_extra() {
    assert_eq!(
        read(4, 0, &[0; 40], 8).unwrap(),
        Body { detail: Detail::Plain, extra: 8, after_name: 0 }
    );
    assert_eq!(
        read(23, 0, &[0; 40], 8).unwrap(),
        Body { detail: Detail::Unknown, extra: 32, after_name: 0 }
    );
    assert_eq!(
        read(87, 0, &[0; 40], 8).unwrap(),
        Body { detail: Detail::Unknown, extra: 40, after_name: 0 }
    );
}

#[test]
fn an_unterminated_name_is_an_error() {
    assert_eq!(whole(1, 0, &after(32, b"/bin/ls\0")), Detail::Name(span(32, 39)));
    assert_eq!(
        error(1, 0, &after(32, b"/bin/lss")),
        "mmap.filename is unterminated: no NUL in 8 bytes"
    );
}

#[test]
fn a_build_id_instead_of_the_inode_has_at_most_20_bytes() {
    let mut mmap2 = after(64, b"x\0");
    mmap2[32] = 20;
    assert_eq!(whole(10, MISC_MMAP_BUILD_ID, &mmap2), Detail::Name(span(64, 65)));
    mmap2[32] = 21;
    assert_eq!(
        error(10, MISC_MMAP_BUILD_ID, &mmap2),
        "mmap2.build_id_size is 21, expected at most 20"
    );
    assert_eq!(whole(10, 0, &mmap2), Detail::Name(span(64, 65)));
}

#[test]
fn a_build_id_record_has_a_size_if_misc_has_the_bit() {
    let mut build_id = after(28, b"[kernel]\0\0\0\0");
    build_id[24] = 20;
    assert_eq!(whole(67, MISC_BUILD_ID_SIZE, &build_id), Detail::Name(span(28, 36)));
    build_id[24] = 255;
    assert_eq!(
        error(67, MISC_BUILD_ID_SIZE, &build_id),
        "build_id.size is 255, expected at most 20"
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
fn a_tracer_has_a_type_and_the_words_that_perf_reads_of_it() {
    for (kind, least) in [(1, 9), (2, 5), (3, 3), (4, 2), (5, 0), (6, 1), (7, 1), (15, 0)] {
        let body = |count: usize| [&[kind][..], &vec![0; count]].concat();
        if ![2, 3].contains(&kind) {
            assert_eq!(whole(70, 0, &words(&body(least))), Detail::Plain, "{kind}");
        }
        if let Some(fewer) = least.checked_sub(1) {
            let error = error(70, 0, &words(&body(fewer)));
            assert!(error.starts_with("truncated auxtrace_info.priv"), "{kind}: {error}");
        }
    }
    assert_eq!(error(70, 0, &words(&[0, 1])), "auxtrace_info.type is 0, expected at least 1");
    // A newer perf may have a few more.
    assert_eq!(error(70, 0, &words(&[16])), "auxtrace_info.type is 16, expected at most 7");
    // perf divides by the multiplier of Intel BTS.
    assert_eq!(whole(70, 0, &words(&[2, 0, 0, 1, 0, 0])), Detail::Plain);
    let zero = error(70, 0, &words(&[2, 6, 0, 0, 1, 1]));
    assert_eq!(zero, "auxtrace_info.time_mult is 0, expected at least 1");
    // The CPUs of CoreSight are counted: one of version 0, with a magic, a number and four words.
    let coresight = |cpus| words(&[3, 0, cpus, 0, 0x3030_3030_3030_3030, 0, 0, 0, 0, 0]);
    assert_eq!(whole(70, 0, &coresight(1)), Detail::Plain);
    assert_eq!(error(70, 0, &coresight(2)), "auxtrace_info.cpus is 0x2, expected 0x1");
}

#[test]
fn padding_of_a_name_is_zeros_and_less_than_a_word() {
    let extra =
        |kind, before, text: &[u8]| read(kind, 0, &after(before, text), 8).unwrap().after_name;
    assert_eq!(extra(3, 8, b"comm\0\0\0\0........"), 0);
    assert_eq!(extra(3, 8, b"comm\0\0x\0........"), 3);
    assert_eq!(extra(3, 8, b"commcom\0\0\0\0\0\0\0\0\0........"), 8);
    // perf reserves room for the longest name.
    assert_eq!(extra(67, 28, b"vdso\0\0\0\0\0\0\0\0\0\0\0\0"), 0);
}

#[test]
fn changed_text_is_old_bytes_and_new_ones() {
    let mut text_poke = after(8, &[1, 0, 2, 0, 0xcc, 0x90, 0x90, 0]);
    assert_eq!(whole(20, 0, &text_poke), Detail::Plain);
    text_poke[8] = 3;
    assert_eq!(error(20, 0, &text_poke), "text_poke.old_len is 5, but the record has room for 4");
}

#[test]
fn an_attr_is_framed_by_its_size_and_ids_follow() {
    let mut attr = after(72 + 16, &[]);
    attr[4] = 72;
    let ids = Detail::Attr { attr: span(0, 72), ids: span(72, 88) };
    assert_eq!(whole(64, 0, &attr), ids);
    attr[4] = 96;
    assert_eq!(error(64, 0, &attr), "truncated attr: 88 of 96 bytes at 0x0");
}

#[test]
fn payload_outside_the_record_is_reported() {
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
fn compressed_data_excludes_its_padding() {
    assert_eq!(whole(81, 0, &[1, 2, 3]), Detail::Compressed(span(0, 3)));
    assert_eq!(whole(83, 0, &words(&[3, 0])), Detail::Compressed(span(8, 11)));
    assert_eq!(
        error(83, 0, &words(&[9, 0])),
        "compressed2.data_size is 9, but the record has room for 8"
    );
}

#[test]
fn cpu_maps_are_lists_masks_or_ranges() {
    let none = error(74, 0, &[1, 0, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(none, "cpu_map.mask is 0, expected at least 1");
    let odd = error(74, 0, &[1, 0, 1, 0, 5, 0, 3, 0, 0, 0, 0, 0]);
    assert_eq!(odd, "cpu_map.long_size is 0x5, expected 0x8");
    assert_eq!(whole(74, 0, &[0, 0, 2, 0, 0, 0, 1, 0]), Detail::Plain);
    assert_eq!(whole(74, 0, &[1, 0, 1, 0, 4, 0, 3, 0, 0, 0, 0, 0]), Detail::Plain);
    let wide = [1, 0, 1, 0, 8, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(whole(74, 0, &wide), Detail::Plain);
    assert_eq!(whole(74, 0, &[2, 0, 0, 0, 0, 0, 3, 0]), Detail::Plain);
    let error = read(74, 0, &[0, 0, 9, 0, 0, 0, 1, 0], 0).unwrap_err();
    assert_eq!(error.to_string(), "cpu_map.nr is 9, but the record has room for 2");
    assert_eq!(error.span(), span(2, 4));
    let error = read(74, 0, &[3, 0, 0, 0, 0, 0, 0, 0], 0).unwrap_err();
    assert_eq!(error.to_string(), "cpu_map.type is 3, expected at most 2");
    assert_eq!(error.span(), span(0, 2));
    assert_eq!(whole(74, 0, &[2, 0, 0, 0, 3, 0, 3, 0]), Detail::Plain);
    let error = read(74, 0, &[2, 0, 0, 0, 4, 0, 3, 0], 0).unwrap_err();
    assert_eq!(error.to_string(), "cpu_map.start_cpu is 4, expected at most 3");
    assert_eq!(error.span(), span(4, 6));
    // In EVENT_UPDATE, perf goes on without it.
    assert_eq!(whole(78, 0, &words(&[3, 1, 3])), Detail::Plain);
    assert_eq!(whole(78, 0, &words(&[3, 1, 0x0003_0004_0000_0002])), Detail::Plain);
}

#[test]
fn updates_of_an_event_go_by_their_type() {
    assert_eq!(whole(78, 0, &words(&[0, 1, 0x736d])), Detail::Name(span(16, 18)));
    assert_eq!(whole(78, 0, &words(&[2, 1, 0x736d])), Detail::Name(span(16, 18)));
    for name in [0, 0x7309, 0x7f] {
        let unnamed = "event_update.name is empty or has control characters";
        assert_eq!(error(78, 0, &words(&[2, 1, name])), unnamed);
    }
    assert_eq!(whole(78, 0, &words(&[1, 1, 0])), Detail::Plain);
    assert_eq!(error(78, 0, &words(&[1, 1])), "truncated event_update.scale: 0 of 8 bytes at 0x10");
    assert_eq!(whole(78, 0, &words(&[3, 1, 0x1_0000])), Detail::Plain);
}

#[test]
fn the_format_of_a_trace_error_determines_where_its_message_begins() {
    let old = after(32, b"lost\0\0\0\0");
    assert_eq!(whole(72, 0, &old), Detail::Plain);
    let mut new = after(40, b"lost\0\0\0\0");
    new[20] = 1;
    assert_eq!(whole(72, 0, &new), Detail::Plain);
    new.truncate(40);
    assert_eq!(error(72, 0, &new), "auxtrace_error.msg is unterminated: no NUL in 0 bytes");
    // Machine 7 and its CPU 3 follow a text of 64 bytes.
    let mut guest = after(40, b"lost");
    guest.resize(104, 0);
    guest.extend(words(&[3 << 32 | 7]));
    guest[20] = 2;
    let machine = [("auxtrace_error.machine_pid", 7), ("auxtrace_error.vcpu", 3)];
    assert_eq!(numbers(72, &guest)[9..], machine);
}

#[test]
fn fields_of_newer_writers_are_read_where_they_are() {
    let old = words(&[1, 2, 3]);
    assert_eq!(numbers(79, &old).len(), 3);
    let new = words(&[1, 2, 3, 4, 5, 0x0106]);
    let flags = [("time_conv.cap_user_time_zero", 6), ("time_conv.cap_user_time_short", 1)];
    assert_eq!(numbers(79, &new)[5..], flags);
    // A part of them is none, and what follows them is not read.
    assert_eq!(numbers(79, &new[..40]).len(), 3);
    assert_eq!(numbers(79, &[&new[..], &old].concat()).len(), 7);
    let counts = |kind: u32, bytes: u64| numbers(kind, &words(&(0..bytes / 8).collect::<Vec<_>>()));
    assert_eq!([16, 56, 64].map(|bytes| counts(85, bytes).len()), [3, 3, 12]);
    assert_eq!(counts(85, 64)[11], ("schedstat.pcount", 7));
    assert_eq!([16, 160, 196].map(|bytes| counts(86, bytes).len()), [4, 40, 48]);
}

#[test]
fn the_cpus_of_a_map_are_read_one_by_one() {
    let list = [0, 0, 2, 0, 7, 0, 9, 0];
    let cpus =
        [("cpu_map.type", 0), ("cpu_map.nr", 2), ("cpu_map.cpus[]", 7), ("cpu_map.cpus[]", 9)];
    assert_eq!(numbers(74, &list), cpus);
    let range = [2, 0, 1, 0, 4, 0, 6, 0];
    assert_eq!(numbers(74, &range)[3..], [("cpu_map.start_cpu", 4), ("cpu_map.end_cpu", 6)]);
    for long_size in [4, 8] {
        let mut mask = vec![1, 0, 1, 0, long_size, 0];
        mask.resize(if long_size == 8 { 10 } else { 6 }, 0);
        mask.push(0x0f);
        mask.resize(mask.len() + usize::from(long_size) - 1, 0);
        assert_eq!(numbers(74, &mask).last(), Some(&("cpu_map.mask[]", 15)), "{long_size}");
    }
}

#[test]
fn a_program_name_has_256_or_512_bytes() {
    for name_len in [256, 512] {
        let mut metadata = after(name_len, &words(&[1]));
        metadata.resize(name_len + 8 + 320, 0);
        assert_eq!(whole(84, 0, &metadata), Detail::Plain);
    }
}

#[test]
fn a_cpu_map_lists_its_cpus_in_every_encoding() {
    let set = |bytes: &[u8]| cpu_set(bytes, Order::Little);
    let listed = |bytes: &[u8]| {
        let set = set(bytes);
        (0..=u16::MAX).filter(|cpu| set.has(*cpu)).collect::<Vec<_>>()
    };
    assert_eq!(listed(&[0, 0, 3, 0, 1, 0, 255, 255, 4, 0]), [1, 4, 65535]);
    assert_eq!(listed(&[1, 0, 2, 0, 4, 0, 5, 0, 0, 0, 1, 0, 0, 0]), [0, 2, 32]);
    let mask = [&[1, 0, 2, 0, 8, 0, 0, 0, 0, 0][..], &words(&[2, 1 << 63])].concat();
    assert_eq!(listed(&mask), [1, 127]);
    assert_eq!(listed(&[2, 0, 1, 0, 3, 0, 5, 0]), [3, 4, 5, 65535]);
    assert_eq!(listed(&[2, 0, 0, 0, 3, 0, 3, 0]), [3]);
    assert_eq!([set(&[9, 0, 1, 0]), set(&[0, 0, 2, 0, 1, 0])], [CpuSet::Unknown, CpuSet::Unknown]);
}
