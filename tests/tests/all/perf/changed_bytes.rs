//! Changed bytes in the zstd blocks of `perf record -z`: the value that a check sets is the right
//! one, or the check tells that samples may be wrong.

use tracemend::{FileSet, Options, check};
use tracemend_tests::forge::perf::{Attr, Order, Recording, Wrapper, feature_bit, sample_type};
use tracemend_tests::sweep::{Share, is_left_to_the_gate};

use super::zstd_blocks::compress;

const TYPE: u64 = sample_type::IP | sample_type::TID | sample_type::TIME | sample_type::PERIOD;

/// A pipe with one compressed record of libzstd, and the place of its data.
fn packed() -> (Vec<u8>, usize) {
    let mut recording = Recording::pipe(Order::Little, vec![Attr::cpu_clock(TYPE).with_ids(&[11])]);
    recording.feature(feature_bit::COMPRESSED);
    let mut maker = recording.maker(0);
    recording.push(maker.comm("forge"));
    recording.push(maker.mmap());
    let samples = (0..600_u64).map(|number| {
        maker.sample_with(|sample| {
            sample.ip = 0x50_0000 + number.wrapping_mul(0x9e37_79b9) % 0x1000;
            sample.time += number.wrapping_mul(0x85eb_ca6b) % 977;
        })
    });
    let samples = samples.collect();
    recording.pack(Wrapper::Compressed, samples, &[]);
    let built = recording.build();
    let place = built.records.iter().find(|record| record.kind == 81).unwrap();
    let (header, block) = compress(&built.expanded, 1);
    let size = u16::try_from(8 + header.len() + block.len()).unwrap();
    let head = [&81_u32.to_le_bytes()[..], &[0; 2], &size.to_le_bytes()].concat();
    let start = place.offset + 8 + header.len() + 3;
    let before = &built.bytes[..place.offset];
    let after = &built.bytes[place.range().end..];
    ([before, &head, &header, &block, after].concat(), start)
}

#[test]
fn a_value_that_is_set_is_right_or_said_to_be_doubtful() {
    if is_left_to_the_gate("a value that is set is right or said to be doubtful") {
        return;
    }
    let (bytes, start) = packed();
    let report = |bytes: &[u8]| check(&FileSet::single("perf.data", bytes), &Options::default());
    assert!(!report(&bytes).has_errors(), "{:?}", report(&bytes).findings());
    let masks = [0b11_u8, 0b1001_0000, 0b110_1000, 0x5b, 1, 0x40];
    let places = start..bytes.len().min(start + 6_000);
    let cases = places.flat_map(|at| masks.map(|mask| (at, mask)));
    let (mut set, mut wrong) = (0, Vec::new());
    for (at, mask) in Share::one_in(8).of(cases) {
        let mut damaged = bytes.clone();
        damaged[at] ^= mask;
        for finding in report(&damaged).findings() {
            let Some(fix) = finding.fix.as_ref().filter(|_| finding.rule.code == "PD8001") else {
                continue;
            };
            let [edit] = fix.edits.as_slice() else { continue };
            if !fix.summary.starts_with("set the byte") {
                continue;
            }
            set += 1;
            let is_right = edit.span.start() == at as u64 && edit.insert == [bytes[at]];
            if !is_right && !fix.summary.contains("may have wrong values") {
                wrong.push(format!("{mask:#x} at {at:#x}: {}", fix.summary));
            }
        }
    }
    assert!(wrong.is_empty() && set > 0, "{} of {set}: {}", wrong.len(), wrong.join("\n"));
}
