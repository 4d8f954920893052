//! Laws of a repair with a donor: a crashed recording of tracepoints, and a donor with any
//! descriptions.

use tracemend::FormatId;
use tracemend::kit::source::Source;
use tracemend::{FileSet, Options, Outcome};

use super::{Held, ensure, recording};
use crate::forge::perf::feature::{TRACEPOINT_NAME, TRACEPOINT_NUMBER, tracepoint_raw};
use crate::forge::perf::{Attr, Built, Order, Recording, feature_bit, sample_type as bit};
use crate::mended::mended_from;

/// Builds two samples of a tracepoint with `tracing` as its description.
pub fn traced(order: Order, tracing: Vec<u8>) -> Built {
    let sample_type = bit::TID | bit::TIME | bit::ID | bit::RAW;
    let attr = Attr::tracepoint(sample_type, TRACEPOINT_NUMBER, TRACEPOINT_NAME);
    let mut recording = Recording::new(order, vec![attr.with_ids(&[61, 62])]);
    let mut maker = recording.maker(0);
    for _ in 0..2 {
        recording.push(maker.sample_with(|sample| sample.raw = tracepoint_raw(order)));
    }
    recording.feature_with(feature_bit::TRACING_DATA, tracing);
    recording.build()
}

/// Builds a sample on a machine with these features whose kernel lies at an address.
pub fn on_machine(features: &[u32], kernel: u64) -> Built {
    let attr = Attr::cpu_clock(bit::IP | bit::TID | bit::TIME).with_ids(&[11]);
    let mut recording = Recording::new(Order::Little, vec![attr]);
    let mut maker = recording.maker(0);
    let records = [maker.kernel_map(kernel), maker.comm("forge"), maker.mmap2(), maker.sample()];
    recording.extend(records).features(features.iter().copied());
    recording.build()
}

/// Features of a machine.
pub const MACHINE: &[u32] = &[2, 3, 4, 6, 7, 8, 9, 10, 13, 14, 16, 20, 22, 28, 30, 31];

/// Tests that a repair with any donor keeps the laws of a repair, and takes its descriptions
/// completely or not at all.
pub fn holds(tracing: &[u8]) -> Held {
    let donor = traced(Order::Little, tracing.to_vec());
    let crashed = donor.crashed();
    let donated = Some(Source::new(&donor.bytes));
    let files = FileSet::single("recording", &crashed).with_donor(donated);
    let options = Options { format: Some(FormatId::PERF), ..Options::default() };
    recording::repaired_with(&files, &options)?;
    let (repair, target) = mended_from(&crashed, &donor.bytes, &options);
    // An entry of the table, and the section.
    let grown = target.len() == crashed.len() + 16 + tracing.len() && target.ends_with(tracing);
    let right = match repair.outcome {
        Outcome::Repaired => grown,
        Outcome::CannotRepair => target.len() == crashed.len(),
        _ => false,
    };
    ensure(right, "descriptions are taken completely or not at all", || {
        format!("{:?} with {} bytes of {}", repair.outcome, target.len(), crashed.len())
    })
}
