//! Bytes that were inserted into a snappy chunk, or are missing there.
//!
//! The header of a chunk has its length, and the next chunk begins after it, or the file ends. If
//! the block cannot be expanded, the length is not what is wrong: bytes of the block are missing,
//! or others were put into it.

use crate::formats::apitrace::expand::{find_insertion, plausible_chunk_len};
use crate::formats::apitrace::layout::CHUNK_HEADER_LEN;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::reading::{Cause, Displacement, Reading};
use crate::kit::source::Source;
use crate::kit::span::Span;

/// Bytes that are looked for at most: a block has up to 1,223,370.
const INSERTED_MAX: u64 = 1 << 20;
/// Returns the reading of a chunk without the inserted bytes.
pub fn reading(source: &Source<'_>, found: &Displacement) -> Option<Reading> {
    let Displacement { range, len, witnesses, .. } = found;
    let end = range.start.checked_add(*len).filter(|_| found.cause == Cause::Inserted)?;
    let last = range.end.checked_sub(*len)?;
    let is_determined = source.read(range.start, last) == source.read(end, range.end);
    let among = (!is_determined).then_some(*range);
    let reading = Reading { is_determined, among, ..Reading::inserted(0, range.start..end) };
    Some(witnesses.iter().fold(reading, |reading, (span, meaning)| reading.witness(*span, meaning)))
}

/// Returns the bytes by which a damaged chunk is too long or too short.
pub fn find(source: &Source<'_>, chunk: Span) -> Option<Displacement> {
    let header = Span::sized(chunk.layer, chunk.start, CHUNK_HEADER_LEN);
    let stated = plausible_chunk_len(source, chunk.start)?;
    let found = chunk.end.checked_sub(header.end)?;
    let witnesses = vec![(header, "the length of the chunk")];
    if let Some(len) = stated.checked_sub(found).filter(|len| *len > 0) {
        return Some(Displacement { range: chunk, cause: Cause::Missing, len, witnesses });
    }
    // The next chunk may be damaged, too: only a block that is whole without the bytes shows them.
    let len = found.checked_sub(stated).filter(|len| (1..=INSERTED_MAX).contains(len))?;
    let block = source.read(header.end, chunk.end);
    let places = find_insertion(&block, to_usize(len))?;
    let place = |at: usize| header.end.saturating_add(to_u64(at));
    let end = place(*places.end()).saturating_add(len);
    let range = Span::new(chunk.layer, place(*places.start()), end);
    Some(Displacement { range, cause: Cause::Inserted, len, witnesses })
}
