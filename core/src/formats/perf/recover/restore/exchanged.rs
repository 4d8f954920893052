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

use super::peek::Peek;
use crate::formats::perf::decode::header;
use crate::formats::perf::layout::{
    FEATURE_BITS, HEADER_SIZE, HEADER_SIZE_PIPE, RECORD_HEADER, SECTION_SIZE, field, record,
};
use crate::kit::reading::{Change, Reading};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::steps;

/// Sizes of the blocks in which disks, file systems and transfers move files.
const SIZES: [u64; 8] = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536];
/// Bytes of the file for each header that may be read, as a power of two: a pair that does not fit
/// costs three headers or so, and records have 40 bytes.
const PER_HEADER: u32 = 2;
/// Headers that may always be read.
const HEADERS_LEAST: u64 = 64 << 10;
/// Readings of one size that are tried: a chain fits two pairs of blocks only by chance.
const MOST: usize = 2;
/// The highest type of a record that perf or simpleperf may come to write.
const TYPE_MAX: u64 = 127;

/// Returns the pairs of blocks with which the records follow one another to their end. At most
/// `most` headers of records are read, and no more than the file may have.
pub(super) fn find(source: &Source<'_>, most: u64) -> Vec<Reading> {
    let mut most = most.min((source.len() >> PER_HEADER).saturating_add(HEADERS_LEAST));
    let mut readings = Vec::new();
    let Some(chain) = Chain::of(source) else { return readings };
    let Err(Some(broken)) = chain.walk(chain.start, None, &mut most) else { return readings };
    // Records before this place are those of the recorder, whichever blocks are exchanged.
    for len in SIZES {
        let enough = readings.len().saturating_add(MOST);
        let last = number_of(broken, len);
        for first in [last, last.saturating_sub(1)] {
            // The first block has the header.
            if first == 0 || first < number_of(chain.start, len) {
                continue;
            }
            let from = chain.last_before(first.saturating_mul(len), &mut most);
            let blocks = number_of(source.len(), len);
            for second in first.saturating_add(1)..blocks {
                if most == 0 || readings.len() == enough {
                    break;
                }
                let pair = Pair { first, second, len };
                if chain.walk(from, Some(pair), &mut most).is_ok() {
                    readings.push(chain.reading(pair));
                }
            }
        }
    }
    readings
}

/// Returns the number of the block of `len` bytes that holds the byte at `at`.
fn number_of(at: u64, len: u64) -> u64 {
    at.checked_div(len).unwrap_or(0)
}

/// Two blocks, by their numbers and their length.
#[derive(Clone, Copy)]
struct Pair {
    first: u64,
    second: u64,
    len: u64,
}

impl Pair {
    const fn start(self, block: u64) -> u64 {
        block.saturating_mul(self.len)
    }

    /// Returns the stored place of a byte of the recorder.
    fn stored(self, at: u64) -> u64 {
        let inside = at.checked_rem(self.len).unwrap_or(0);
        match at.checked_div(self.len) {
            Some(block) if block == self.first => self.start(self.second).saturating_add(inside),
            Some(block) if block == self.second => self.start(self.first).saturating_add(inside),
            _ => at,
        }
    }
}

/// The records of a file, by their sizes.
struct Chain<'s> {
    peek: Peek<'s>,
    start: u64,
    end: u64,
    /// Whether a feature table follows.
    has_table: bool,
    /// The fields that state start and end.
    stated: Span,
}

impl<'s> Chain<'s> {
    fn of(source: &'s Source<'s>) -> Option<Self> {
        let (order, is_old) = header::magic(&source.read(0, 8))?;
        let peek = Peek { source, order };
        let size = peek.u64(field::SIZE)?;
        if size == HEADER_SIZE_PIPE && !is_old {
            let stated = Span::new(Layer::stored(0), 0, HEADER_SIZE_PIPE);
            let (start, end) = (HEADER_SIZE_PIPE, source.len());
            return Some(Self { peek, start, end, has_table: false, stated });
        }
        let (start, len) = (peek.u64(field::DATA)?, peek.u64(field::DATA_SIZE)?);
        let end = start.checked_add(len).filter(|end| *end <= source.len())?;
        let has_table = (field::FLAGS..HEADER_SIZE).step_by(8).any(|at| peek.u64(at) != Some(0));
        let stated = Span::sized(Layer::stored(0), field::DATA, SECTION_SIZE);
        let is_file = size == HEADER_SIZE && start >= HEADER_SIZE && len > 0;
        is_file.then_some(Self { peek, start, end, has_table, stated })
    }

    /// Follows the records from `at` on. Fails with the place where they break, or with none at the
    /// limit.
    fn walk(&self, mut at: u64, pair: Option<Pair>, most: &mut u64) -> Result<(), Option<u64>> {
        while at < self.end {
            *most = most.checked_sub(1).ok_or(None)?;
            steps::count(1);
            let next = self.next(at, pair).filter(|next| *next <= self.end);
            at = next.ok_or(Some(at))?;
        }
        let is_end = at == self.end && (!self.has_table || self.is_table(at, pair));
        if is_end { Ok(()) } else { Err(Some(at)) }
    }

    /// Returns the place after the record at `at`, if there is one.
    fn next(&self, at: u64, pair: Option<Pair>) -> Option<u64> {
        let word = self.word(at, pair)?;
        let bytes = self.peek.order.bytes(word);
        let [a, b, c, d, _, _, e, f] = bytes;
        let kind = u64::from(u32::from_le_bytes(self.ordered([a, b, c, d])));
        let size = u64::from(u16::from_le_bytes(self.ordered([e, f])));
        let is_record = (1..=TYPE_MAX).contains(&kind)
            && size >= RECORD_HEADER
            // Records of perf itself, such as COMPRESSED, may end anywhere.
            && (size.is_multiple_of(8) || kind >= u64::from(record::USER_FIRST))
            // Data without a header follows these.
            && kind != u64::from(record::AUXTRACE)
            && kind != u64::from(record::TRACING_DATA);
        is_record.then(|| at.saturating_add(size))
    }

    /// Returns the bytes of a number in little-endian order.
    fn ordered<const N: usize>(&self, mut bytes: [u8; N]) -> [u8; N] {
        if self.peek.order == crate::kit::cursor::Order::Big {
            bytes.reverse();
        }
        bytes
    }

    /// Returns the eight bytes at `at` of the recorder's file as a number.
    fn word(&self, at: u64, pair: Option<Pair>) -> Option<u64> {
        let Some(pair) = pair else { return self.peek.u64(at) };
        let inside = at.checked_rem(pair.len).unwrap_or(0);
        if inside <= pair.len.saturating_sub(8) {
            return self.peek.u64(pair.stored(at));
        }
        let bytes = (at..at.saturating_add(8)).map(|at| {
            let at = pair.stored(at);
            self.peek.bytes(at, at.saturating_add(1)).first().copied()
        });
        let bytes: Option<Vec<u8>> = bytes.collect();
        Some(self.peek.number(&bytes?))
    }

    /// Returns whether a feature table begins at `at`: its first section follows it. It has room
    /// for features that perf then did not write.
    fn is_table(&self, at: u64, pair: Option<Pair>) -> bool {
        let first = self.word(at, pair).and_then(|first| first.checked_sub(at));
        let most = u64::from(FEATURE_BITS).saturating_mul(SECTION_SIZE);
        first.is_some_and(|len| (1..=most).contains(&len) && len.is_multiple_of(SECTION_SIZE))
    }

    /// Returns the last place before `limit` at which a record begins, in the stored chain.
    fn last_before(&self, limit: u64, most: &mut u64) -> u64 {
        let mut at = self.start;
        while let Some(next) = self.next(at, None).filter(|next| *next <= limit && *most > 0) {
            *most = most.saturating_sub(1);
            at = next;
        }
        at
    }

    fn reading(&self, pair: Pair) -> Reading {
        let block = |number: u64| {
            let start = pair.start(number);
            start..start.saturating_add(pair.len)
        };
        let change = |range: std::ops::Range<u64>, from: std::ops::Range<u64>| {
            let insert = self.peek.bytes(from.start, from.end).into_owned();
            Change { range, insert }
        };
        let (one, two) = (block(pair.first), block(pair.second));
        let changes = [change(one.clone(), two.clone()), change(two, one)];
        Reading::exchanged(0, changes)
            .witness(self.stated, "the records follow one another to their end")
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
        // The search has an end.
        assert!(find(&Source::new(&damaged), 40).is_empty());
    }
}
