//! Pipes that lost their header, and maybe their first records.

use tracemend::{FileSet, Options, Outcome, Safety, check};
use tracemend_tests::forge::perf::feature::{
    TRACEPOINT_NAME, TRACEPOINT_NUMBER, tracepoint_raw, tracing_data,
};
use tracemend_tests::forge::perf::{Attr, Built, Order, Record, Recording, by_name, sample_type};
use tracemend_tests::known_originals::Dice;
use tracemend_tests::mended::mended;
use tracemend_tests::notice;

const SEED: u64 = 66;
/// Cases per byte order.
const CASES: usize = 60;
/// Samples of the recording.
const SAMPLES: u64 = 12;

/// A pipe of a clock and a tracepoint, with EVENT_DESC and TRACING_DATA.
fn traced(order: Order) -> Built {
    let fields = sample_type::IDENTIFIER | sample_type::IP | sample_type::TID | sample_type::TIME;
    let raw = fields | sample_type::CPU | sample_type::RAW;
    let attrs = vec![
        Attr::cpu_clock(raw).with_ids(&[11, 12]),
        Attr::tracepoint(raw, TRACEPOINT_NUMBER, TRACEPOINT_NAME).with_ids(&[61, 62]),
    ];
    let mut recording = Recording::pipe(order, attrs);
    recording.features([3, 5, 6, 7, 11, 12]);
    let tracing = recording.maker(1).tracing_data(&tracing_data(order));
    recording.push(tracing);
    let mut maker = recording.maker(0);
    for index in 0..SAMPLES {
        recording.push(maker.sample_with(|sample| {
            sample.id = if index % 2 == 0 { 12 } else { 62 };
            sample.raw = tracepoint_raw(order);
        }));
    }
    recording.build()
}

/// The end of the last HEADER_ATTR: EVENT_DESC has what is before it.
fn attrs_end(built: &Built) -> usize {
    let attrs = built.records.iter().filter(|record| record.kind == 64);
    attrs.map(|record| record.range().end).max().unwrap()
}

fn damaged(whole: &[u8], len: usize, dice: &mut Dice<'_>) -> (&'static str, Vec<u8>) {
    let rest = &whole[len..];
    match dice.below(4) {
        0 => ("cut", rest.to_vec()),
        1 => ("zeros", [&vec![0; len], rest].concat()),
        2 => ("noise", [&dice.noise(len), rest].concat()),
        _ => ("other bytes", [&vec![0xff; dice.below(300)], rest].concat()),
    }
}

#[test]
fn a_pipe_of_tracepoints_without_its_beginning_stays_a_pipe_with_all_samples() {
    let (mut cases, mut given_back) = (0, 0);
    for (number, order) in (0_u64..).zip([Order::Little, Order::Big]) {
        let built = traced(order);
        let whole = check(&FileSet::single("perf.data", &built.bytes), &Options::default());
        assert!(!whole.has_errors(), "{:?}", whole.findings());
        let mut dice = Dice::seeded(SEED.wrapping_mul(1 << 20).wrapping_add(number));
        for _ in 0..CASES {
            let len = 8 + dice.below(attrs_end(&built) - 8);
            let (how, bytes) = damaged(&built.bytes, len, &mut dice);
            let (repair, target) = mended(&bytes);
            let case = format!("{order:?}, {len} bytes, {how}: {:?}", repair.before.counts());
            assert_eq!(repair.outcome, Outcome::RepairedWithLoss, "{case}");
            assert!(repair.safety() != Some(Safety::Exact), "{case}");
            let after = check(&FileSet::single("perf.data", &target), &Options::default());
            assert!(!after.has_errors(), "{case}: {:?}", after.findings());
            assert_eq!(after.tally.samples, SAMPLES, "{case}");
            cases += 1;
            given_back += usize::from(target == built.bytes);
        }
    }
    notice::say(&format!(
        "pipes without their beginning, seed {SEED}: {given_back} of {cases} given back"
    ));
    assert!(given_back * 10 >= cases * 9, "{given_back} of {cases}");
}

#[test]
fn a_pipe_whose_header_lost_its_magic_alone_is_given_back_exactly() {
    for order in [Order::Little, Order::Big] {
        let built = traced(order);
        let (repair, target) = mended(&built.bytes[8..]);
        assert!(target == built.bytes, "{:?}", repair.before.findings());
        assert_eq!(repair.safety(), Some(Safety::Exact), "{order:?}");
    }
}

#[test]
fn tracing_data_in_a_record_of_a_file_is_an_error() {
    // perf 6.1, 6.12 and 7.2 end there without a sample, whether its content follows or not.
    let mut recording = Recording::new(
        Order::Little,
        vec![Attr::cpu_clock(sample_type::IP | sample_type::TID | sample_type::TIME)],
    );
    let mut maker = recording.maker(0);
    recording.push(maker.sample()).push(Record::new(66, 0, vec![0; 8])).push(maker.sample());
    let (repair, target) = mended(&recording.build().bytes);
    assert!(repair.before.has_errors(), "{:?}", repair.before.findings());
    let after = check(&FileSet::single("perf.data", &target), &Options::default());
    assert_eq!((after.has_errors(), after.tally.samples), (false, 2));
    // simpleperf has it in its files, and a pipe everywhere.
    let piped = by_name("pipe_tracepoint").built.bytes;
    assert!(!check(&FileSet::single("perf.data", &piped), &Options::default()).has_errors());
}
