//! The event of a pipe whose HEADER_ATTR record is lost: its attr, found by its shape.

use super::super::peek::Peek;
use super::attrs::{Reading, attr_size_at, finish};
use super::mend;
use crate::formats::perf::decode::attrs::StoredEvent;
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::layout::{ATTR_SIZES, HEADER_SIZE_PIPE, RECORD_HEADER, record};
use crate::kit::num::to_u64;
use crate::model::limits::Limits;

/// Bytes from the start of the file in which the attr is searched.
const SEARCHED: u64 = 1 << 14;
/// Records by which the attr that is found is judged.
const MOST_RECORDS: usize = 512;
/// Most attrs that are compared.
const MOST_ATTRS: usize = 16;

/// Finds the attr by which the samples of a pipe can be read; `None` if there is none. Its id is
/// not needed: without another event perf ignores ids.
pub fn salvage_pipe(file: &RecordFile<'_>, limits: &Limits) -> Option<StoredEvent> {
    let peek = Peek { source: file.source(), order: file.order() };
    let order = file.order();
    let area = (HEADER_SIZE_PIPE, file.length());
    let mut all = mend::gather(file, area, MOST_RECORDS, limits);
    if all.iter().any(|record| record.frame.kind == record::SAMPLE) {
        all.retain(|record| record.frame.kind == record::SAMPLE);
    }
    let evidence = all.get(..mend::EVIDENCE).unwrap_or(&all);
    let last = SEARCHED.min(file.length());
    let found = (HEADER_SIZE_PIPE..last).filter_map(|at| Some((at, attr_size_at(peek, at)?)));
    let mut places: Vec<(u64, u64)> = found.take(MOST_ATTRS).collect();
    // perf writes the attr first; its size may be lost.
    let first = HEADER_SIZE_PIPE.saturating_add(RECORD_HEADER);
    places.extend(ATTR_SIZES.iter().map(|size| (first, u64::from(*size))));
    let readings = places.into_iter().filter_map(|(at, size)| {
        let attr = peek.bytes(at, at.saturating_add(size)).into_owned();
        let is_whole = to_u64(attr.len()) == size;
        finish(peek, vec![StoredEvent { attr, ids: Vec::new() }], size).filter(|_| is_whole)
    });
    let mut best: Option<(mend::Score, Reading)> = None;
    let mut effort = mend::Effort::new(limits);
    for reading in readings {
        let mended = mend::mend(&reading, evidence, order, &mut effort);
        for reading in [Some(reading), mended].into_iter().flatten() {
            let score = mend::score(&reading, evidence, order);
            // Noise becomes the attr of any samples with a few other bits.
            let is_timed = score.1 > score.0.saturating_add(score.0 >> 1);
            if reading.unknown > 0 && !is_timed {
                continue;
            }
            if best.as_ref().is_none_or(|(most, _)| score > *most) {
                best = Some((score, reading));
            }
        }
    }
    let (_, reading) = best?;
    // The first ones may fit by chance: a layout of single words fits many of the same size.
    let (explained, ..) = mend::score(&reading, &all, order);
    let is_known = explained.saturating_mul(4) > to_u64(all.len()).saturating_mul(3);
    reading.events.into_iter().next().filter(|_| is_known)
}
