use super::*;
use crate::formats::perf::decode::attr::Attr;
use crate::formats::perf::layout::attr::{branch_sample_type, flag, read_format};
use crate::formats::perf::layout::record;
use crate::kit::span::Span;

fn layout(sample_type: u64) -> SampleLayout {
    SampleLayout::new(&Attr { sample_type, ..Attr::default() })
}

/// The words' bytes, little-endian.
fn body(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Reads `words` as a body at offset 0x100; also returns the number of unread bytes.
fn parse(words: &[u64], layout: &SampleLayout) -> (Result<Sample, BodyError>, u64) {
    let bytes = body(words);
    let mut cursor = Cursor::new(&bytes, Layer::stored(0), 0x100, Order::Little);
    let mut read = Sample::default();
    let result = sample(&mut cursor, layout, &mut read).map(|()| read);
    (result, cursor.left())
}

/// Reads `words`, which the sample must consume completely.
fn whole(words: &[u64], layout: &SampleLayout) -> Sample {
    let (sample, left) = parse(words, layout);
    assert_eq!(left, 0);
    sample.unwrap()
}

#[test]
fn the_identifier_comes_first_and_the_rest_in_the_order_of_the_parser() {
    let head = whole(&[1, 2, 4 << 32 | 3, 5, 6, 1, 8, 9, 10], &layout(HEAD));
    assert_eq!((head.origin.id, head.ip), (Some(1), Some(2)));
    assert_eq!((head.origin.pid, head.origin.tid), (Some(3), Some(4)));
    assert_eq!((head.origin.time, head.origin.cpu, head.period), (Some(5), Some(9), Some(10)));
}

#[test]
fn fields_that_are_not_recorded_are_none() {
    let origin = SampleId { time: Some(7), ..SampleId::default() };
    assert_eq!(whole(&[7], &layout(bit::TIME)), Sample { origin, ..Sample::default() });
}

#[test]
fn a_field_that_does_not_fit_is_named() {
    let (sample, _) = parse(&[7], &layout(bit::IP | bit::TIME));
    let error = sample.unwrap_err();
    assert_eq!(error.to_string(), "truncated time: 0 of 8 bytes at 0x108");
    assert_eq!((error.label(), error.span().start), ("time", 0x108));
}

#[test]
fn bytes_after_the_last_field_are_left() {
    assert_eq!(parse(&[7, 8, 9], &layout(bit::TIME)).1, 16);
}

#[test]
fn a_count_that_is_too_large_is_an_error_at_its_place() {
    let (sample, _) = parse(&[1, 3, 0, 0], &layout(bit::IP | bit::CALLCHAIN));
    let error = sample.unwrap_err();
    assert_eq!(error.to_string(), "callchain.nr is 3, but the record has room for 2");
    assert_eq!(error.span(), Span::new(Layer::stored(0), 0x108, 0x110));
}

#[test]
fn a_count_whose_product_overflows_is_too_large() {
    let (sample, _) = parse(&[1 << 61, 0], &layout(bit::CALLCHAIN));
    assert!(matches!(sample, Err(BodyError::Count { most: 1, .. })));
}

#[test]
fn values_of_one_event_follow_the_read_format() {
    for (read_format, words) in [(0, 1), (1, 2), (3, 3), (7, 4), (23, 5)] {
        let attr = Attr { sample_type: bit::READ, read_format, ..Attr::default() };
        assert_eq!(whole(&vec![0; words], &SampleLayout::new(&attr)).values, 1);
    }
}

#[test]
fn values_of_a_group_are_counted() {
    let all = read_format::KNOWN;
    let attr = Attr { sample_type: bit::READ, read_format: all, ..Attr::default() };
    let group = SampleLayout::new(&attr);
    assert_eq!(whole(&[2, 0, 0, 1, 1, 1, 2, 2, 2], &group).values, 2);
    let error = parse(&[3, 0, 0, 1, 1, 1, 2, 2, 2], &group).0.unwrap_err();
    assert_eq!(error.to_string(), "read.nr is 3, but the record has room for 2");
    assert_eq!(error.span().range(), 0x100..0x108);
    // The leader of a group has a value.
    let error = parse(&[0, 0, 0], &group).0.unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.label()),
        ("read.nr is 0, expected at least 1", "read.nr")
    );
    assert_eq!(error.span().range(), 0x100..0x108);
}

#[test]
fn raw_data_and_its_size_are_whole_words_together() {
    let after = layout(bit::RAW | bit::DATA_SRC);
    assert_eq!(whole(&[12, 0, 0], &after).raw.size, 12);
    let error = parse(&[21, 0, 0], &after).0.unwrap_err();
    assert_eq!(error.to_string(), "raw.size is 21, but the record has room for 20");
    assert_eq!(error.span().len(), 4);
}

/// A layout of branches and one register after them.
fn branches(branch_sample_type: u64) -> SampleLayout {
    SampleLayout::new(&Attr {
        sample_type: bit::BRANCH_STACK | bit::REGS_INTR,
        branch_sample_type,
        sample_regs_intr: 1,
        ..Attr::default()
    })
}

#[test]
fn branches_have_an_index_before_and_counters_after_them() {
    let sample = whole(&[1, 11, 12, 13, 2, 0], &branches(0));
    assert_eq!((sample.branches, sample.regs.intr), (1, 2));
    let both = branches(branch_sample_type::HW_INDEX | branch_sample_type::COUNTERS);
    assert_eq!(whole(&[1, 10, 11, 12, 13, 14, 2, 0], &both).regs.intr, 2);
}

#[test]
fn a_bare_count_of_no_branches_is_read() {
    let index = branches(branch_sample_type::HW_INDEX);
    assert_eq!(whole(&[0, 2, 5], &index).regs.intr, 2);
    assert_eq!(whole(&[0, u64::MAX, 2, 5], &index).regs.intr, 2);
}

#[test]
fn counters_of_another_event_of_the_group_are_found() {
    let words = [2, 1, 2, 3, 4, 5, 6, 13, 14, 2, 0];
    assert_eq!(parse(&words, &branches(0)).1, 16);
    assert_eq!(whole(&words, &branches(0).with_likely_counters()).regs.intr, 2);
}

#[test]
fn registers_are_present_unless_the_abi_is_0() {
    let attr = Attr { sample_type: bit::REGS_USER, sample_regs_user: 0b1011, ..Attr::default() };
    let regs = SampleLayout::new(&attr);
    assert_eq!(whole(&[0], &regs).regs.user, 0);
    assert_eq!(whole(&[2, 0, 0, 0], &regs).regs.user, 2);
    assert_eq!(parse(&[2, 0, 0], &regs).0.unwrap_err().label(), "regs_user.regs");
}

#[test]
fn a_stack_of_no_bytes_has_no_size_in_use() {
    let stack = layout(bit::STACK_USER | bit::WEIGHT_STRUCT);
    assert_eq!(whole(&[0, 1], &stack).stack.recorded, 0);
    let sample = whole(&[16, 0, 0, 9, 1], &stack);
    assert_eq!((sample.stack.recorded, sample.stack.used), (16, 9));
    assert_eq!(parse(&[16, 0, 0], &stack).0.unwrap_err().label(), "stack_user.dyn_size");
}

#[test]
fn the_hardware_trace_comes_last() {
    let pages = bit::PHYS_ADDR | bit::CGROUP | bit::DATA_PAGE_SIZE | bit::CODE_PAGE_SIZE;
    let words = [1, 2, 3, 4, 5, 6, 7, 8, 0];
    let weighty = bit::WEIGHT | bit::DATA_SRC | bit::TRANSACTION;
    assert_eq!(whole(&words, &layout(weighty | pages | bit::AUX)).aux_size, 8);
}

#[test]
fn a_trailer_is_read_from_the_end() {
    let attr = Attr { sample_type: HEAD, flags: flag::SAMPLE_ID_ALL, ..Attr::default() };
    let layout = SampleLayout::new(&attr);
    let bytes = body(&[99, 99, 2 << 32 | 1, 3, 4, 5, 6, 4]);
    assert_eq!(layout.trailer_len(), 48);
    let id = trailer(&bytes, &layout, Order::Little).unwrap();
    assert_eq!((id.pid, id.tid, id.time), (Some(1), Some(2), Some(3)));
    assert_eq!((id.id, id.cpu), (Some(4), Some(6)));
    assert_eq!(trailer(&bytes[..40], &layout, Order::Little), None);
}

#[test]
fn without_sample_id_all_there_is_no_trailer() {
    let plain = layout(HEAD);
    assert_eq!(plain.trailer_len(), 0);
    assert_eq!(trailer(&body(&[0; 8]), &plain, Order::Little), None);
    assert_eq!(event_id(&body(&[0; 8]), 1, &plain, Order::Little), None);
}

#[test]
fn the_event_id_lies_where_perf_looks_for_it() {
    let bytes = body(&[0, 1, 2, 3, 4, 5, 6, 7]);
    let ids = |sample_type| {
        let layout =
            SampleLayout::new(&Attr { sample_type, flags: flag::SAMPLE_ID_ALL, ..Attr::default() });
        [record::SAMPLE, 1].map(|kind| event_id(&bytes, kind, &layout, Order::Little))
    };
    assert_eq!(ids(HEAD), [Some(0), Some(7)]);
    assert_eq!(ids(HEAD & !bit::IDENTIFIER), [Some(4), Some(5)]);
    assert_eq!(ids(bit::ID | bit::TIME | bit::CPU), [Some(1), Some(6)]);
    assert_eq!(ids(bit::TIME), [None, None]);
}

#[test]
fn a_big_endian_sample_is_read_as_one() {
    let bytes = [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3];
    let mut cursor = Cursor::new(&bytes, Layer::stored(0), 0, Order::Big);
    let mut read = Sample::default();
    sample(&mut cursor, &layout(bit::TID | bit::TIME), &mut read).unwrap();
    assert_eq!((read.origin.pid, read.origin.tid, read.origin.time), (Some(1), Some(2), Some(3)));
}

/// What the short way makes of a complete sample, by the long one.
fn plain_by_fields(words: &[u64], layout: &SampleLayout) -> Option<PlainSample> {
    let (read, left) = parse(words, layout);
    let complete = read.ok().filter(|sample| left == 0 && sample.is_cpu_possible());
    complete.map(|sample| {
        let thread = sample.origin.pid.zip(sample.origin.tid);
        PlainSample { time: sample.origin.time, ip: sample.ip, thread, attr: None }
    })
}

fn plain(words: &[u64], layout: &SampleLayout) -> Option<PlainSample> {
    layout.read_plain(&body(words), Order::Little)
}

#[test]
fn a_plain_sample_is_one_that_is_read_without_a_byte_left_over() {
    let optional = [bit::IDENTIFIER, bit::IP, bit::TID, bit::TIME, bit::ADDR, bit::STREAM_ID];
    let optional = [&optional[..], &[bit::CPU, bit::PERIOD, bit::CALLCHAIN]].concat();
    for chosen in 0_usize..1 << optional.len() {
        let fields = (0..).zip(&optional).filter(|(at, _)| chosen >> at & 1 == 1);
        let fields = fields.fold(0, |fields, (_, field)| fields | field);
        for layout in [layout(fields), layout(fields & !bit::IDENTIFIER | bit::ID)] {
            for len in 0..12 {
                // Each word is the count of a chain that ends with the body, or none.
                for word in [0, 1, 2, 3, u64::from(MOST_CPUS), u64::from(u32::MAX)] {
                    let words = vec![word; len];
                    let read = plain(&words, &layout);
                    // One without a time may be zeros, which is looked at closer.
                    let by_fields = plain_by_fields(&words, &layout);
                    let expected = by_fields.filter(|one| one.time != Some(0));
                    assert_eq!(read, expected, "{fields:#x} {words:?}");
                }
            }
        }
    }
}

#[test]
fn a_sample_with_a_chain_is_plain_if_the_count_fills_the_body() {
    let fields = HEAD & !bit::IDENTIFIER;
    let chained = layout(fields | bit::CALLCHAIN);
    for nr in [0, 1, 2, 3, 4, 1 << 61, u64::MAX] {
        let words = [1, 2, 3, 4, 5, 6, 7, 8, nr, 10, 11, 12];
        let read = plain_by_fields(&words, &chained);
        assert_eq!(plain(&words, &chained), read, "{nr}");
        let swapped: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        assert_eq!(chained.read_plain(&swapped, Order::Big).is_some(), read.is_some(), "{nr}");
    }
    let sound = body(&[1, 2, 3, 4, 5, 6, 7, 8, 1, 10]);
    let read = |len: usize| chained.read_plain(&sound[..len], Order::Little);
    assert_eq!(
        read(sound.len()),
        Some(PlainSample { time: Some(3), ip: Some(1), thread: Some((2, 0)), attr: None })
    );
    assert!((0..sound.len()).all(|len| read(len).is_none()));
}

#[test]
fn samples_with_two_ids_or_other_fields_are_not_plain() {
    let words = [0; 12];
    for other in [bit::READ, bit::RAW, bit::BRANCH_STACK, bit::WEIGHT, bit::REGS_INTR, bit::AUX] {
        let layout = layout(bit::IP | bit::TIME | other);
        assert!((0..12).all(|len| plain(&words[..len], &layout).is_none()), "{other:#x}");
    }
    assert!((0..12).all(|len| plain(&words[..len], &layout(HEAD)).is_none()));
}
