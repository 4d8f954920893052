//! Recordings with traces of a processor in which one field of a record about them is hostile: the
//! least and the largest values of its width, the borders of signs and of 32 bits, and neighbours.
//!
//! ```text
//!  TIME_CONV  AUXTRACE_INFO  ITRACE_START  AUX_OUTPUT_HW_ID  AUX  AUXTRACE  AUXTRACE_ERROR
//! ```

use super::recording::{Built, RecordSpan};
use super::trace::{Tracer, event, of_records};
use super::{Maker, Order, Record};

/// A recording with one hostile field, or without one record.
#[derive(Clone, Debug)]
pub struct Hostile {
    /// The record, the place in it, and the value.
    pub name: String,
    /// The recording.
    pub bytes: Vec<u8>,
}

/// Bytes of the widths of the fields of a record after its header; the last one repeats to the end
/// of the record.
const fn widths(kind: u32) -> &'static [usize] {
    match kind {
        11 => &[8, 8, 8, 4, 4, 8, 4],
        12 => &[4, 4, 4, 4, 8, 4],
        21 => &[8, 4, 4, 8, 4],
        70 => &[4, 4, 8],
        71 => &[8, 8, 8, 4],
        72 => &[4, 4, 4, 4, 4, 4, 8],
        79 => &[8, 8, 8, 8, 8, 1],
        _ => &[],
    }
}

/// The records of a recording with every record about traces.
pub fn records(tracer: Tracer) -> Vec<Record> {
    let mut maker = Maker::new(Order::Little, &event());
    let mut records = vec![maker.time_conv(), maker.tracer(tracer)];
    records.extend([maker.comm("forge"), maker.itrace_start()]);
    // For Intel PT perf looks up the event of the id.
    if tracer != Tracer::IntelPt {
        records.push(maker.aux_output_hw_id());
    }
    records.push(maker.sample());
    let mut offset = 0;
    for trace in [tracer.trace(16), tracer.trace(8)] {
        let len = trace.len() as u64;
        records.push(maker.aux_of(offset, len, 0));
        records.extend([maker.auxtrace_of(offset, &trace), maker.sample()]);
        offset += len;
    }
    records.push(maker.auxtrace_error());
    records
}

/// The sound recording.
pub fn sound(tracer: Tracer) -> Built {
    of_records(records(tracer), None)
}

/// Every recording with one hostile field of the sound one, and those without a record.
pub fn hostile(tracer: Tracer) -> Vec<Hostile> {
    let built = sound(tracer);
    let mut made = Vec::new();
    let mut seen = Vec::new();
    for record in built.records.iter().filter(|record| !widths(record.kind).is_empty()) {
        if !seen.contains(&record.kind) {
            seen.push(record.kind);
            made.extend(of_record(&built, record));
        }
    }
    made.extend(without_a_record(tracer));
    made
}

fn of_record(built: &Built, record: &RecordSpan) -> Vec<Hostile> {
    let mut made = Vec::new();
    let (mut at, end) = (record.offset + 8, record.offset + record.len);
    let mut widths = widths(record.kind).iter().copied();
    let mut width = 8;
    while at < end {
        width = widths.next().unwrap_or(width);
        let field = at..(at + width).min(end);
        for value in values(&built.bytes[field.clone()]) {
            let mut bytes = built.bytes.clone();
            let name = format!("{}+{} = {value:#x}", record.kind, at - record.offset);
            bytes[field.clone()].copy_from_slice(&value.to_le_bytes()[..field.len()]);
            made.push(Hostile { name, bytes });
        }
        at = field.end;
    }
    made
}

/// The hostile values for a field.
fn values(field: &[u8]) -> Vec<u64> {
    let mut word = [0; 8];
    word[..field.len()].copy_from_slice(field);
    let old = u64::from_le_bytes(word);
    let all = u64::MAX >> (64 - 8 * field.len());
    let mut values = vec![0, 1, 2, old.wrapping_add(1), old.wrapping_sub(1), all >> 1];
    values.extend([(all >> 1) + 1, all, all - 1, 1 << 31, (1 << 31) - 1, (1 << 32) - 1, 1 << 32]);
    values.retain(|value| *value <= all && *value != old);
    values.sort_unstable();
    values.dedup();
    values
}

fn without_a_record(tracer: Tracer) -> Vec<Hostile> {
    let records = records(tracer);
    let kinds = [79, 70, 12, 21, 11, 71, 72];
    let without = kinds.into_iter().filter_map(|kind| {
        let mut left = records.clone();
        left.remove(left.iter().position(|record| record.kind == kind)?);
        Some(Hostile { name: format!("without {kind}"), bytes: of_records(left, None).bytes })
    });
    let mut made: Vec<Hostile> = without.collect();
    let mut swapped = records.clone();
    swapped.swap(0, 1);
    made.push(Hostile { name: "79 after 70".into(), bytes: of_records(swapped, None).bytes });
    let mut short = records;
    short[0] = Maker::new(Order::Little, &event()).time_conv_short();
    made.push(Hostile { name: "79 short".into(), bytes: of_records(short, None).bytes });
    made
}
