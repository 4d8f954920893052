//! A crashed recording of tracepoints, and a donor of which only the descriptions are at stake.

use tracemend::FormatId;
use tracemend::kit::source::Source;
use tracemend::{FileSet, Options, Outcome};

use super::{Held, ensure, recording};
use crate::forge::perf::feature::{TRACEPOINT_NAME, TRACEPOINT_NUMBER, tracepoint_raw};
use crate::forge::perf::{Attr, Built, Order, Recording, feature_bit, sample_type as bit};
use crate::mended::mended_from;

/// Two samples of a tracepoint, and `tracing` for what describes it.
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

/// Whatever a donor describes: the repair of what lost its descriptions holds what every repair
/// does, and takes them whole or not at all.
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
    ensure(right, "descriptions come whole or not at all", || {
        format!("{:?} with {} bytes of {}", repair.outcome, target.len(), crashed.len())
    })
}
