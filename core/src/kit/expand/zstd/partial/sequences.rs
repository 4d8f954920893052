//! The sequences section of a block (RFC 8878, section 3.1.1.3.2).

use std::sync::LazyLock;

use super::bits::BackwardBits;
use super::fse::{FseLimits, FseTable};
use crate::kit::expand::zstd::frame::number;

/// Base and extra bits of a literal length, for the codes from 16 on.
const LITERAL_LENGTHS: [(u64, u32); 20] = [
    (16, 1),
    (18, 1),
    (20, 1),
    (22, 1),
    (24, 2),
    (28, 2),
    (32, 3),
    (40, 3),
    (48, 4),
    (64, 6),
    (128, 7),
    (256, 8),
    (512, 9),
    (1024, 10),
    (2048, 11),
    (4096, 12),
    (8192, 13),
    (16_384, 14),
    (32_768, 15),
    (65_536, 16),
];

/// Base and extra bits of a match length, for the codes from 32 on.
const MATCH_LENGTHS: [(u64, u32); 21] = [
    (35, 1),
    (37, 1),
    (39, 1),
    (41, 1),
    (43, 2),
    (47, 2),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 5),
    (131, 7),
    (259, 8),
    (515, 9),
    (1027, 10),
    (2051, 11),
    (4099, 12),
    (8195, 13),
    (16_387, 14),
    (32_771, 15),
    (65_539, 16),
];

/// The greatest code of an offset that is looked at.
const OFFSET_CODE_MAX: u8 = 31;

/// Predefined counts (section 3.1.1.3.2.2).
const LITERAL_LENGTH_COUNTS: [i64; 36] = [
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1,
    -1, -1, -1, -1,
];
const MATCH_LENGTH_COUNTS: [i64; 53] = [
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
];
const OFFSET_COUNTS: [i64; 29] =
    [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1];

/// The meaning of the codes of a table.
#[derive(Clone, Copy)]
struct Codes {
    limits: FseLimits,
    predefined: &'static Predefined,
}

/// A table that a block may use without its description. It is built once: where a frame is
/// damaged, sequences are looked for at every place.
type Predefined = LazyLock<Option<FseTable>>;

static LITERAL_LENGTHS_PREDEFINED: Predefined =
    LazyLock::new(|| FseTable::of_counts(&LITERAL_LENGTH_COUNTS, 6));
static OFFSETS_PREDEFINED: Predefined = LazyLock::new(|| FseTable::of_counts(&OFFSET_COUNTS, 5));
static MATCH_LENGTHS_PREDEFINED: Predefined =
    LazyLock::new(|| FseTable::of_counts(&MATCH_LENGTH_COUNTS, 6));

const LITERAL_LENGTH: Codes = Codes {
    limits: FseLimits { log_max: 9, symbols: 36 },
    predefined: &LITERAL_LENGTHS_PREDEFINED,
};
const OFFSET: Codes =
    Codes { limits: FseLimits { log_max: 8, symbols: 32 }, predefined: &OFFSETS_PREDEFINED };
const MATCH_LENGTH: Codes =
    Codes { limits: FseLimits { log_max: 9, symbols: 53 }, predefined: &MATCH_LENGTHS_PREDEFINED };

/// The tables of a frame so far.
#[derive(Clone, Default)]
pub(super) struct Tables {
    literal_length: Option<FseTable>,
    offset: Option<FseTable>,
    match_length: Option<FseTable>,
}

/// Literals, then a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sequence {
    pub(super) literals: u64,
    pub(super) copied: u64,
    /// Offset_Value: 1 to 3 stand for offsets that were used before.
    pub(super) offset: u64,
}

/// Reads the sequences of the section that begins with `bytes`, up to the first fault; the flag is
/// whether there was none.
pub(super) fn read_sequences(bytes: &[u8], tables: &mut Tables) -> (Vec<Sequence>, bool) {
    let mut found = Vec::new();
    let is_sound = read_all(bytes, tables, &mut found).is_some();
    (found, is_sound)
}

fn read_all(bytes: &[u8], tables: &mut Tables, found: &mut Vec<Sequence>) -> Option<()> {
    let (count, stream) = read_head(bytes, tables)?;
    if count == 0 {
        return stream.is_empty().then_some(());
    }
    let reader = tables.reader()?;
    let mut bits = BackwardBits::new(stream)?;
    let mut states = reader.first(&mut bits)?;
    for index in 1..=count {
        found.push(reader.sequence(states, &mut bits)?);
        if index < count {
            states = reader.next(states, &mut bits)?;
        }
    }
    (bits.is_empty() && !has_reserved_bits(bytes)).then_some(())
}

/// Whether a bit is set in the section that RFC 8878 reserves: libzstd 1.5.7 refuses it, and
/// 1.5.4 reads over it.
pub(super) fn has_reserved_bits(mut section: &[u8]) -> bool {
    let count = read_count(&mut section).unwrap_or(0);
    count > 0 && section.first().is_some_and(|modes| modes & 3 != 0)
}

/// Reads the number of sequences and their tables; returns the bits of the sequences as well, which
/// are empty without a sequence.
pub(super) fn read_head<'a>(bytes: &'a [u8], tables: &mut Tables) -> Option<(u64, &'a [u8])> {
    let mut rest = bytes;
    let count = read_count(&mut rest)?;
    if count == 0 {
        return Some((0, rest));
    }
    let modes = rest.split_off_first()?;
    read_table(modes >> 6, LITERAL_LENGTH, &mut rest, &mut tables.literal_length)?;
    read_table(modes >> 4 & 3, OFFSET, &mut rest, &mut tables.offset)?;
    read_table(modes >> 2 & 3, MATCH_LENGTH, &mut rest, &mut tables.match_length)?;
    Some((count, rest))
}

impl Tables {
    /// The reader of sequences by these tables; `None` if one is missing.
    pub(super) fn reader(&self) -> Option<Reader<'_>> {
        let lengths = self.literal_length.as_ref()?;
        let (offsets, matches) = (self.offset.as_ref()?, self.match_length.as_ref()?);
        Some(Reader { lengths, offsets, matches })
    }
}

/// Reads sequences one by one.
pub(super) struct Reader<'a> {
    lengths: &'a FseTable,
    offsets: &'a FseTable,
    matches: &'a FseTable,
}

/// The states of the three tables.
#[derive(Clone, Copy)]
pub(super) struct States {
    length: u64,
    offset: u64,
    copied: u64,
}

impl Reader<'_> {
    /// Reads the states of the first sequence.
    pub(super) fn first(&self, bits: &mut BackwardBits<'_>) -> Option<States> {
        let length = self.lengths.first(bits)?;
        let offset = self.offsets.first(bits)?;
        Some(States { length, offset, copied: self.matches.first(bits)? })
    }

    /// Reads the sequence of these states.
    pub(super) fn sequence(&self, states: States, bits: &mut BackwardBits<'_>) -> Option<Sequence> {
        let code = self.offsets.symbol(states.offset).filter(|code| *code <= OFFSET_CODE_MAX)?;
        let base = 1_u64.checked_shl(u32::from(code))?;
        let offset = bits.read(u32::from(code))?.checked_add(base)?;
        let copied = self.matches.symbol(states.copied)?;
        let copied = read_length(copied, (32, 3), &MATCH_LENGTHS, bits)?;
        let literals = self.lengths.symbol(states.length)?;
        let literals = read_length(literals, (16, 0), &LITERAL_LENGTHS, bits)?;
        Some(Sequence { literals, copied, offset })
    }

    /// Reads the states of the next sequence.
    pub(super) fn next(&self, states: States, bits: &mut BackwardBits<'_>) -> Option<States> {
        let length = self.lengths.next(states.length, bits)?;
        let copied = self.matches.next(states.copied, bits)?;
        Some(States { length, copied, offset: self.offsets.next(states.offset, bits)? })
    }
}

/// Reads Number_of_Sequences.
fn read_count(rest: &mut &[u8]) -> Option<u64> {
    let first = u64::from(*rest.split_off_first()?);
    let more = |rest: &mut &[u8], len: usize| rest.split_off(..len).map(number);
    match first {
        0..=127 => Some(first),
        128..=254 => {
            let low = u64::from(*rest.split_off_first()?);
            Some(first.saturating_sub(128) << 8 | low)
        }
        _ => more(rest, 2)?.checked_add(0x7f00),
    }
}

/// Reads a table, or keeps the one before.
fn read_table(
    mode: u8,
    codes: Codes,
    rest: &mut &[u8],
    table: &mut Option<FseTable>,
) -> Option<()> {
    match mode & 3 {
        0 => table.clone_from(codes.predefined),
        1 => *table = Some(FseTable::of_one(*rest.split_off_first()?)),
        2 => {
            *table = None;
            let (read, len) = FseTable::read(rest, codes.limits)?;
            *table = Some(read);
            rest.split_off(..len)?;
        }
        _ => {}
    }
    table.as_ref().map(|_| ())
}

/// Reads the length that a code stands for: the codes below `direct.0` are lengths less
/// `direct.1`, the others are in `table`.
fn read_length(
    code: u8,
    direct: (u8, u64),
    table: &[(u64, u32)],
    bits: &mut BackwardBits<'_>,
) -> Option<u64> {
    match code.checked_sub(direct.0) {
        None => u64::from(code).checked_add(direct.1),
        Some(index) => {
            let (base, extra) = *table.get(usize::from(index))?;
            bits.read(extra)?.checked_add(base)
        }
    }
}
