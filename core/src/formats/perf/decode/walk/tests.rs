//! Tests of the walk.

use super::*;

fn record(kind: u32, size: u16) -> Vec<u8> {
    let mut bytes = [&kind.to_le_bytes()[..], &[0, 0], &size.to_le_bytes()].concat();
    bytes.resize(usize::from(size.max(8)), 0xaa);
    bytes
}

fn walk(bytes: &[u8], pipe: bool) -> Vec<Item<Record<'static>, Damage>> {
    let held = bytes.to_vec();
    let source = Source::new(&held);
    let area = (0, source.len());
    let walker = Walker::new(&source, 0, Order::Little, pipe, area).resyncing(1 << 20);
    walker
        .map(|item| match item {
            Item::Record(record) => {
                let bytes = Cow::Owned(record.bytes.into_owned());
                Item::Record(Record { bytes, ..record })
            }
            Item::Damage(damage) => Item::Damage(damage),
        })
        .collect()
}

#[test]
fn a_zeroed_page_is_one_damage_and_the_records_after_it_are_found() {
    let sound: Vec<u8> = (0..6).flat_map(|_| record(9, 40)).collect();
    let bytes = [sound.as_slice(), &[0; 4096], &sound].concat();
    let items = walk(&bytes, false);
    assert_eq!(items.len(), 13);
    let Item::Damage(Damage { span, fault, resumes }) = &items[6] else { panic!("{:?}", items[6]) };
    assert_eq!((span.start, span.end, *resumes), (240, 240 + 4096, true));
    assert!(matches!(fault, FrameFault::TooSmall(frame) if frame.size == 0));
}

#[test]
fn a_truncated_record_is_damage_up_to_the_end() {
    let bytes = [record(9, 40), record(9, 40)[..30].to_vec()].concat();
    let items = walk(&bytes, false);
    assert!(matches!(
        items[1],
        Item::Damage(Damage { span, fault: FrameFault::PastEnd(_), resumes: false })
            if span.start == 40 && span.end == 70
    ));
}

#[test]
fn payloads_after_a_record_belong_to_it_and_may_be_truncated() {
    // AUXTRACE has 16 bytes after its 48; TRACING_DATA (pipes only) has 5, padded to 8.
    let mut auxtrace = record(record::AUXTRACE, 48);
    auxtrace[8..16].copy_from_slice(&16_u64.to_le_bytes());
    let mut tracing = record(record::TRACING_DATA, 12);
    tracing[8..12].copy_from_slice(&5_u32.to_le_bytes());
    let bytes = [auxtrace, vec![1; 16], tracing, vec![2; 8], record(9, 16)].concat();
    let outside = |item: &Item<Record<'_>, Damage>| match item {
        Item::Record(record) => record.outside,
        Item::Damage(_) => u64::MAX,
    };
    let items = walk(&bytes, true);
    assert_eq!(items.iter().map(outside).collect::<Vec<_>>(), [16, 8, 0]);
    let cut = walk(&bytes[..60], true);
    assert!(matches!(
        cut[0],
        Item::Damage(Damage { fault: FrameFault::PayloadPastEnd(_, 16), .. })
    ));
}

#[test]
fn records_across_pieces_are_the_same_as_in_one() {
    let bytes: Vec<u8> = (0..4).flat_map(|_| record(9, 24)).collect();
    let whole = walk(&bytes, false).len();
    for cut in 1..bytes.len() {
        let (a, b) = bytes.split_at(cut);
        let source = Source::from_pieces([a, b]);
        let items = Walker::new(&source, 0, Order::Little, false, (0, source.len()));
        let spans: Vec<u64> = items
            .map(|item| match item {
                Item::Record(record) => record.end(),
                Item::Damage(damage) => panic!("{}", damage.span),
            })
            .collect();
        assert_eq!((spans.len(), spans[3]), (whole, 96), "cut at {cut}");
    }
}
