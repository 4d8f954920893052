//! Two blocks of a file that changed places.
//!
//! The sizes of records chain them from the first one to the feature table. In a block that lies in
//! a wrong place the chain breaks, or where that block ends. So the place of the first break is in
//! one of the two, or right after it. The other one is any block after it with which the chain
//! reaches its end.
//!
//! ```text
//!  stored    | a | D | c | B | e | table |      breaks in D
//!  reading   | a | B | c | D | e | table |      a B c D e are records, up to the table
//! ```
//!
//! Without the first block, the magic shows the place of that block.
//!
//! The chain shows that the headers of records are in each other's places, but not which bytes
//! between two headers are: a block may begin at any of them. The sizes of blocks on disks make a
//! border likely and prove none, so a reading is lossy. The check of the format does not replace
//! that proof: it accepts most bodies whose first or last bytes are those of another record.

use std::ops::Range;

use super::peek::Peek;
use crate::formats::perf::decode::frame::frame;
use crate::formats::perf::decode::header;
use crate::formats::perf::decode::table::may_follow;
use crate::formats::perf::layout::{
    HEADER_SIZE, HEADER_SIZE_PIPE, RECORD_HEADER, SECTION_SIZE, field, record,
};
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::kit::reading::{Change, Reading};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};

/// Sizes of the blocks in which disks, file systems and transfers move files.
pub(super) const SIZES: [u64; 8] = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536];
/// The meaning of the place of the records as a witness.
const CHAIN: &str = "the records follow one another to their end";
/// Bytes of the file for each header that may be read, as a power of two: a pair that does not fit
/// costs three headers or so, and records have 40 bytes.
const PER_HEADER: u32 = 2;
/// Headers that may always be read.
const HEADERS_LEAST: u64 = 64 << 10;
/// Blocks of one size that may be the first one.
const MOST_PLACES: u64 = 1 << 10;
/// Readings of one size that are tried: a chain fits two pairs of blocks only by chance.
const MOST: usize = 2;

/// Returns the pairs of blocks with which the records follow one another to their end. At most
/// `most` headers of records are read, and no more than the file may have.
pub(super) fn find(source: &Source<'_>, most: u64) -> Vec<Reading> {
    let mut most = most.min((source.len() >> PER_HEADER).saturating_add(HEADERS_LEAST));
    let mut readings = Vec::new();
    let Some(chain) = Chain::of(source) else { return readings };
    let stored = chain.walk(source, chain.start, &mut most);
    let Err(Some(broken)) = stored else { return readings };
    let cost = cost_of_pair(source);
    for len in SIZES {
        let enough = readings.len().saturating_add(MOST);
        let last = number_of(broken, len);
        for first in [last, last.saturating_sub(1)] {
            // The first block has the header.
            if first == 0 || first < number_of(chain.start, len) {
                continue;
            }
            let from = chain.last_before(source, first.saturating_mul(len), &mut most);
            // Records of one size break at other bytes only: at those after their end.
            let next = first.saturating_add(1);
            let after = number_of(chain.end, len).max(next);
            for second in (after..number_of(source.len(), len)).chain(next..after) {
                if most == 0 || readings.len() == enough {
                    break;
                }
                let pair = Pair(block(first, len), block(second, len));
                most = most.saturating_sub(cost);
                if chain.walk(&pair.exchanged(source), from, &mut most).is_ok() {
                    readings.push(pair.reading(source, (chain.stated, CHAIN)));
                }
            }
        }
    }
    readings
}

/// Returns the pairs of the first block and of one that begins with the magic, with which the
/// records follow one another to their end.
pub(super) fn find_first(source: &Source<'_>, most: u64) -> Vec<Reading> {
    let mut most = most.min((source.len() >> PER_HEADER).saturating_add(HEADERS_LEAST));
    let mut readings = Vec::new();
    if header::magic(&source.read(0, 8)).is_some() {
        return readings;
    }
    let cost = cost_of_pair(source);
    for len in SIZES {
        for number in 1..number_of(source.len(), len).min(MOST_PLACES) {
            let pair = Pair(block(0, len), block(number, len));
            if header::magic(&source.read(pair.1.start, pair.1.start.saturating_add(8))).is_none() {
                continue;
            }
            if most <= cost {
                return readings;
            }
            most = most.saturating_sub(cost);
            let whole = pair.exchanged(source);
            let Some(chain) = Chain::of(&whole) else { continue };
            if chain.walk(&whole, chain.start, &mut most).is_ok() {
                let magic = Span::sized(Layer::stored(0), pair.1.start, 8);
                let reading = pair.reading(source, (chain.stated, CHAIN));
                readings.push(reading.witness(magic, "the magic, which begins the file"));
            }
        }
    }
    readings
}

/// Returns the number of pieces that an exchange copies: an edited file has thousands.
pub(super) fn cost_of_pair(source: &Source<'_>) -> u64 {
    to_u64(source.pieces().count())
}

/// Returns the number of the block of `len` bytes that holds the byte at `at`.
pub(super) fn number_of(at: u64, len: u64) -> u64 {
    at.checked_div(len).unwrap_or(0)
}

/// Returns block number `number`.
pub(super) fn block(number: u64, len: u64) -> Range<u64> {
    let start = number.saturating_mul(len);
    start..start.saturating_add(len)
}

/// Two blocks, the earlier one first.
pub(super) struct Pair(pub(super) Range<u64>, pub(super) Range<u64>);

impl Pair {
    /// Returns the file with the blocks in each other's places.
    pub(super) fn exchanged<'s>(&self, source: &Source<'s>) -> Source<'s> {
        let Self(one, two) = self;
        let (start, between, end) = (0..one.start, one.end..two.start, two.end..source.len());
        let parts = [start, two.clone(), between, one.clone(), end];
        let slices = parts.into_iter().flat_map(|part| source.slices(part.start, part.end));
        Source::from_pieces(slices)
    }

    /// Returns the reading, with the bytes that show it and their meaning.
    pub(super) fn reading(
        &self,
        source: &Source<'_>,
        (shown_by, meaning): (Span, &'static str),
    ) -> Reading {
        let change = |range: &Range<u64>, from: &Range<u64>| {
            let insert = source.read(from.start, from.end).into_owned();
            Change { range: range.clone(), insert }
        };
        let Self(one, two) = self;
        let reading = Reading::exchanged(0, vec![change(one, two), change(two, one)]);
        // The borders are only likely, see the module.
        let reading = Reading { is_determined: false, ..reading };
        reading.witness(shown_by, meaning)
    }
}

/// The place of the records of a file.
struct Chain {
    order: Order,
    start: u64,
    end: u64,
    /// Whether a feature table follows.
    has_table: bool,
    /// The fields that state start and end.
    stated: Span,
}

impl Chain {
    fn of(source: &Source<'_>) -> Option<Self> {
        let (order, is_old) = header::magic(&source.read(0, 8))?;
        let peek = Peek { source, order };
        let size = peek.u64(field::SIZE)?;
        if size == HEADER_SIZE_PIPE && !is_old {
            let stated = Span::new(Layer::stored(0), 0, HEADER_SIZE_PIPE);
            let (start, end) = (HEADER_SIZE_PIPE, source.len());
            return Some(Self { order, start, end, has_table: false, stated });
        }
        let (start, len) = (peek.u64(field::DATA)?, peek.u64(field::DATA_SIZE)?);
        let end = start.checked_add(len).filter(|end| *end <= source.len())?;
        let has_table = (field::FLAGS..HEADER_SIZE).step_by(8).any(|at| peek.u64(at) != Some(0));
        let stated = Span::sized(Layer::stored(0), field::DATA, SECTION_SIZE);
        let is_file = size == HEADER_SIZE && start >= HEADER_SIZE && len > 0;
        is_file.then_some(Self { order, start, end, has_table, stated })
    }

    /// Follows the records of a file from `at` on. Fails with the place where they break, or with
    /// none at the limit.
    fn walk(&self, file: &Source<'_>, mut at: u64, most: &mut u64) -> Result<(), Option<u64>> {
        while at < self.end {
            *most = most.checked_sub(1).ok_or(None)?;
            let next = self.next(file, at).filter(|next| *next <= self.end);
            at = next.ok_or(Some(at))?;
        }
        let peek = Peek { source: file, order: self.order };
        let has_table = || peek.u64(at).is_some_and(|first| may_follow(at, first));
        if !self.has_table || has_table() { Ok(()) } else { Err(Some(at)) }
    }

    /// Returns the place after the record at `at`, if there is one.
    fn next(&self, file: &Source<'_>, at: u64) -> Option<u64> {
        let frame = frame(&file.read(at, at.checked_add(RECORD_HEADER)?), self.order).ok()?;
        // Data without a header follows these.
        let is_alone = ![record::AUXTRACE, record::TRACING_DATA].contains(&frame.kind);
        (is_alone && !frame.is_misaligned()).then(|| at.saturating_add(frame.size))
    }

    /// Returns the last place up to `limit` at which a record begins.
    fn last_before(&self, file: &Source<'_>, limit: u64, most: &mut u64) -> u64 {
        let mut at = self.start;
        while let Some(next) = self.next(file, at).filter(|next| *next <= limit && *most > 0) {
            *most = most.saturating_sub(1);
            at = next;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pair_that_was_exchanged_is_found() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus/perf/clean/plain.data");
        let whole = std::fs::read(path).unwrap();
        let find_all = |bytes: &[u8]| find(&Source::new(bytes), 1 << 20);
        assert!(find_all(&whole).is_empty());
        // Records and the feature table change places.
        let mut damaged = whole;
        let (one, two) = damaged.split_at_mut(0x800);
        one[0x400..0x600].swap_with_slice(&mut two[..0x200]);
        let found = find_all(&damaged);
        let ranges = found[0].changes.iter().map(|change| change.range.clone());
        assert_eq!(ranges.collect::<Vec<_>>(), [0x400..0x600, 0x800..0xa00]);
        assert_eq!(found.len(), 1);
        assert!(!found[0].is_determined);
        // The search has an end.
        assert!(find(&Source::new(&damaged), 40).is_empty());
    }

    #[test]
    fn records_of_one_size_cost_no_walk_for_each_block() {
        let record = [&68_u32.to_le_bytes()[..], &[0, 0, 64, 0], &[0; 56]].concat();
        let (count, start) = (20_000, HEADER_SIZE);
        let len = count * 64;
        let words = [HEADER_SIZE, 144, HEADER_SIZE, 0, start, len, 0, 0, 2, 0, 0, 0];
        let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let table = [start + len + SECTION_SIZE, 700].map(u64::to_le_bytes).concat();
        let records = record.repeat(usize::try_from(count).unwrap());
        let mut file = [b"PERFILE2", &words[..], &records, &table, &[0xff; 700]].concat();
        let after = file.len() - 700;
        let border = after / 512 * 512;
        let (one, two) = file.split_at_mut(border);
        one[1_024..1_536].swap_with_slice(&mut two[..512]);
        let found = find(&Source::new(&file), u64::MAX);
        let starts = found.iter().map(|reading| reading.changes.last().unwrap().range.start);
        assert!(starts.collect::<Vec<u64>>().contains(&u64::try_from(border).unwrap()));
    }
}
