//! The byte of a damaged block that was changed.
//!
//! A changed byte in the bits of the sequences, or in the headers before them, spoils all that
//! follows: lengths, offsets and the place of the next code. So nearly every other value of the
//! byte, and of every other byte, contradicts itself within a few sequences: more literals than
//! there are, a copy from before the first byte, bits that are left over. The values that do not
//! are returned; the expanded bytes tell which of them is right.

use std::collections::BTreeSet;
use std::ops::Range;

use super::bits::BackwardBits;
use super::literals::{Literals, read_literals};
use super::sequences::{
    Reader, Sequence, States, Tables, has_reserved_bits, read_head, read_sequences,
};
use super::{BLOCK_HEADER_LEN, BLOCK_MAX, BlockHeader, PartialExpander, offsets_after};
use crate::kit::num::to_u64;
use crate::kit::steps;

/// Bytes of the headers of a block and of its literals.
const HEADERS_MAX: usize = BLOCK_HEADER_LEN + 5;
/// Bytes that describe the tables of the sequences, at most: those of 36, 32 and 53 symbols, and
/// four before them.
const TABLES_MAX: usize = 128;
/// Steps of a test of a whole block, besides those of its sequences: its tables are built.
const TABLE_STEPS: u64 = 256;

/// Other values that a byte has, for each of its bits.
const VALUES_A_BIT: u64 = 32;

/// Changes without a fault that are worth expanding. A block of a recording has up to some dozens.
const FOUND_MAX: usize = 1_024;

/// Another value of a byte of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Offset of the byte from the header of the block.
    pub at: usize,
    /// The value.
    pub value: u8,
}

/// The sequences so far, while they are followed without copying.
#[derive(Clone, Copy)]
struct Course {
    offsets: [u64; 3],
    /// Literals that no sequence took.
    literals: u64,
    /// Bytes of the block and of the window before it.
    reach: u64,
    /// Bytes of the block.
    made: u64,
}

impl Course {
    /// Follows a sequence; `None` if it cannot be.
    fn follow(self, sequence: Sequence) -> Option<Self> {
        let literals = self.literals.checked_sub(sequence.literals)?;
        let offsets = offsets_after(self.offsets, sequence)?;
        let [offset, ..] = offsets;
        let reach = self.reach.checked_add(sequence.literals)?;
        reach.checked_sub(offset)?;
        let reach = reach.checked_add(sequence.copied)?;
        let made = self.made.checked_add(sequence.literals)?.checked_add(sequence.copied)?;
        (made <= to_u64(BLOCK_MAX)).then_some(Self { offsets, literals, reach, made })
    }
}

/// A place between two sequences.
#[derive(Clone, Copy)]
struct Place {
    states: States,
    /// Bits that were not read.
    left: usize,
    course: Course,
    /// Number of sequences before it.
    index: u64,
}

/// The sequences of a block whose bits may be wrong.
struct Run<'a> {
    reader: Reader<'a>,
    count: u64,
    course: Course,
}

impl Run<'_> {
    fn begin(&self, stream: &[u8]) -> Option<Place> {
        let mut bits = BackwardBits::new(stream)?;
        let states = self.reader.first(&mut bits)?;
        Some(Place { states, left: bits.left(), course: self.course, index: 0 })
    }

    /// Reads the sequence at a place and moves on; `None` at the first contradiction. Returns
    /// whether it was the last one.
    fn pass(&self, stream: &[u8], place: &mut Place) -> Option<bool> {
        let mut bits = BackwardBits::resume(stream, place.left);
        let sequence = self.reader.sequence(place.states, &mut bits)?;
        let course = place.course.follow(sequence)?;
        let index = place.index.checked_add(1)?;
        let is_last = index >= self.count;
        if is_last {
            bits.is_empty().then_some(())?;
        } else {
            place.states = self.reader.next(place.states, &mut bits)?;
        }
        (place.left, place.course, place.index) = (bits.left(), course, index);
        Some(is_last)
    }

    /// Whether the sequences from a place on contradict nothing. Adds them to `steps`.
    fn is_sound_from(&self, stream: &[u8], mut place: Place, steps: &mut u64) -> bool {
        loop {
            *steps = steps.saturating_add(1);
            match self.pass(stream, &mut place) {
                None => return false,
                Some(true) => return true,
                Some(false) => {}
            }
        }
    }
}

impl PartialExpander {
    /// Returns the changes of one byte after which the blocks in `stored` have no fault: the first
    /// block of it, and the headers of those after it, up to its end. Takes about `allowance`
    /// steps, and subtracts what it took; if all values of all bytes take more, only single bits
    /// are changed, and all values of the bytes of which one bit gives no fault: a value near
    /// the right one can give none, either. Returns nothing if more than [`FOUND_MAX`] have no
    /// fault. Coded literals are not searched: what they lost, nothing shows.
    pub fn find_changes(&self, stored: &[u8], allowance: &mut u64) -> Vec<Change> {
        let opened = Opened::read(self, stored);
        let search = |values, places, most| {
            let (found, steps) = (Vec::new(), 0);
            let mut search = Search { expander: self, places, found, steps, most };
            search.try_block(stored, opened.as_ref(), values);
            steps::count(search.steps);
            search
        };
        let bits = search(Values::Bits, None, *allowance);
        *allowance = allowance.saturating_sub(bits.steps);
        // What is found is expanded and judged.
        let most = allowance.saturating_sub(*allowance / 8);
        let all = bits.steps.saturating_mul(VALUES_A_BIT);
        if all <= most {
            let all = search(Values::All, None, most);
            *allowance = allowance.saturating_sub(all.steps);
            if !all.is_over() {
                return all.found;
            }
        }
        if bits.is_over() {
            return Vec::new();
        }
        let places = bits.found.iter().map(|change| change.at).collect();
        let near = search(Values::All, Some(places), allowance.saturating_sub(*allowance / 8));
        *allowance = allowance.saturating_sub(near.steps);
        if near.is_over() { Vec::new() } else { near.found }
    }

    fn course(&self, literals: usize) -> Course {
        let reach = to_u64(self.history.len().min(self.window));
        Course { offsets: self.offsets, literals: to_u64(literals), reach, made: 0 }
    }
}

/// The values of a byte that are tried.
#[derive(Clone, Copy)]
enum Values {
    All,
    Bits,
}

impl Values {
    fn of(self, found: u8) -> impl Iterator<Item = u8> {
        let all = (1..=u8::MAX).filter(move |mask| match self {
            Self::All => true,
            Self::Bits => mask.is_power_of_two(),
        });
        all.map(move |mask| found ^ mask)
    }
}

struct Search<'a> {
    expander: &'a PartialExpander,
    /// The bytes that are changed; all without it.
    places: Option<BTreeSet<usize>>,
    found: Vec<Change>,
    steps: u64,
    most: u64,
}

impl Search<'_> {
    /// Whether the steps are used up, or so much has no fault that nothing is determined.
    const fn is_over(&self) -> bool {
        self.steps > self.most || self.found.len() > FOUND_MAX
    }

    fn is_place(&self, at: usize) -> bool {
        self.places.as_ref().is_none_or(|places| places.contains(&at))
    }

    /// Tries the bytes of a block of which the literals may have no fault.
    fn try_block(&mut self, stored: &[u8], opened: Option<&Opened<'_>>, values: Values) {
        let Some(opened) = opened else {
            self.try_bytes(stored, 0..HEADERS_MAX.min(stored.len()), None, values);
            return;
        };
        self.try_sequences(opened, values);
        let start = opened.start_of_tables();
        let end = match &opened.head {
            Some((_, stream)) => stored.len().saturating_sub(stream.len()),
            None => start.saturating_add(TABLES_MAX).min(stored.len()),
        };
        self.try_bytes(stored, start..end, Some(opened), values);
        let first = BLOCK_HEADER_LEN.saturating_add(opened.literals.header_len);
        self.try_bytes(stored, 0..first, None, values);
    }

    /// Tries the bytes of headers and of descriptions of tables. Those of the tables of the
    /// sequences leave the literals as they were `opened`.
    fn try_bytes(
        &mut self,
        stored: &[u8],
        places: Range<usize>,
        opened: Option<&Opened<'_>>,
        values: Values,
    ) {
        let mut changed = stored.to_vec();
        for at in places {
            let Some(found) = stored.get(at).copied().filter(|_| self.is_place(at)) else {
                continue;
            };
            for value in values.of(found) {
                if self.is_over() {
                    return;
                }
                set(&mut changed, at, value);
                let literals =
                    opened.map(|opened| (opened.literals.len, opened.literals.bytes.len()));
                if self.is_sound(&changed, literals).is_some() {
                    self.found.push(Change { at, value });
                }
            }
            set(&mut changed, at, found);
        }
    }

    /// Returns something if the first block has no fault, and the others end with `stored`. The
    /// length of the literals section and the number of literals may be known.
    fn is_sound(&mut self, stored: &[u8], literals: Option<(usize, usize)>) -> Option<()> {
        self.steps = self.steps.saturating_add(1);
        let Some(content) = first_of_blocks(stored, &mut self.steps)? else { return Some(()) };
        let expander = self.expander;
        self.steps = self.steps.saturating_add(TABLE_STEPS);
        let (len, count) = match literals {
            Some(known) => known,
            None => {
                let mut huffman = expander.huffman.clone();
                let literals = read_literals(content, BLOCK_MAX, &mut huffman)?;
                self.steps = self.steps.saturating_add(to_u64(literals.bytes.len()));
                literals.is_sound().then_some((literals.len, literals.bytes.len()))?
            }
        };
        let mut tables = expander.tables.clone();
        let (sequences, is_sound) = read_sequences(content.get(len..)?, &mut tables);
        self.steps = self.steps.saturating_add(to_u64(sequences.len()));
        let mut sequences = sequences.iter();
        sequences.try_fold(expander.course(count), |course, one| course.follow(*one))?;
        is_sound.then_some(())
    }

    fn try_sequences(&mut self, opened: &Opened<'_>, values: Values) {
        let Some((count, stream)) = opened.head.filter(|(count, _)| *count > 0) else { return };
        let Some(reader) = opened.tables.reader() else { return };
        let course = self.expander.course(opened.literals.bytes.len());
        let start = opened.content.len().saturating_sub(stream.len());
        let start = start.saturating_add(BLOCK_HEADER_LEN);
        self.try_stream(&Run { reader, count, course }, stream, start, values);
    }

    /// Tries the bytes of which bits were read before the contradiction, from the first one on.
    fn try_stream(&mut self, run: &Run<'_>, stream: &[u8], start: usize, values: Values) {
        /// Bytes that the sequence with the contradiction may reach.
        const NEXT: usize = 12;
        let Some(mut place) = run.begin(stream) else { return };
        let mut places = vec![place];
        while let Some(false) = run.pass(stream, &mut place) {
            places.push(place);
        }
        let least = (place.left / 8).saturating_sub(NEXT);
        let mut changed = stream.to_vec();
        for at in (least..stream.len()).rev() {
            let place = start.saturating_add(at);
            let Some(found) = stream.get(at).copied().filter(|_| self.is_place(place)) else {
                continue;
            };
            // The last place before which no bit of the byte was read; the padding of the last byte
            // tells where the first bit is.
            let unread = at.saturating_add(1).saturating_mul(8);
            let before = places.partition_point(|place| place.left >= unread);
            let known = before.checked_sub(1).and_then(|last| places.get(last)).copied();
            for value in values.of(found) {
                if self.is_over() {
                    return;
                }
                set(&mut changed, at, value);
                let Some(begin) = known.or_else(|| run.begin(&changed)) else { continue };
                if run.is_sound_from(&changed, begin, &mut self.steps) {
                    self.found.push(Change { at: place, value });
                }
            }
            set(&mut changed, at, found);
        }
    }
}

/// A block whose literals have no fault.
struct Opened<'a> {
    content: &'a [u8],
    literals: Literals,
    tables: Tables,
    /// The number of sequences and their bits.
    head: Option<(u64, &'a [u8])>,
}

impl<'a> Opened<'a> {
    fn read(expander: &PartialExpander, stored: &'a [u8]) -> Option<Self> {
        let content = first_of_blocks(stored, &mut 0)??;
        let literals = read_literals(content, BLOCK_MAX, &mut expander.huffman.clone())?;
        let mut tables = expander.tables.clone();
        let section = content.get(literals.len..)?;
        let head = literals.is_sound().then(|| read_head(section, &mut tables))?;
        let head = head.filter(|_| !has_reserved_bits(section));
        Some(Self { content, literals, tables, head })
    }

    fn start_of_tables(&self) -> usize {
        BLOCK_HEADER_LEN.saturating_add(self.literals.len)
    }
}

fn set(bytes: &mut [u8], at: usize, value: u8) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte = value;
    }
}

/// Returns the content of the first block if it is compressed. `None` if the blocks do not end with
/// `stored`. Adds their number to `steps`.
#[expect(clippy::option_option, reason = "no block, or one that cannot have a fault")]
fn first_of_blocks<'a>(stored: &'a [u8], steps: &mut u64) -> Option<Option<&'a [u8]>> {
    let mut rest = stored;
    let mut first = None;
    while !rest.is_empty() {
        *steps = steps.saturating_add(1);
        let header = BlockHeader::first(rest)?;
        let unit = rest.split_off(..header.unit_len(to_u64(BLOCK_MAX)).ok()?)?;
        let is_plain = header.is_raw() || header.is_run();
        first.get_or_insert_with(|| unit.get(BLOCK_HEADER_LEN..).filter(|_| !is_plain));
    }
    first
}
