//! Bytes that were inserted into the beginning of a file, or are missing there.
//!
//! The feature table stores the length of the file: its last section ends there. All bytes before
//! the records are stored twice: EVENT_DESC has a copy of each attr and of its ids, and the fields
//! of the header follow from their number and size. So the beginning as perf wrote it is known, up
//! to the feature bits, and the first byte that differs from it is the place.
//!
//! ```text
//!  written   | header | ids | attrs | records ... | table | features |
//!  stored    | header | i + k bytes + ds | attrs | records ... | table | features |
//!                        ^ differs        ^ agrees again, k bytes later
//! ```
//!
//! With several changes, the length of the file shows none of them. Those before the attrs show by
//! the attrs themselves, which EVENT_DESC has as well: they are not where the ids have to end.

mod features;
mod piped;
mod place;

pub use self::place::find as find_range;
use super::described;
use super::exchanged;
use super::find_headless;
use super::headless;
use super::mixed;
use super::peek::Peek;
use super::shape;
use crate::formats::perf::decode::header::{self, Flags, Section};
use crate::formats::perf::layout::{
    FEATURE_BITS, HEADER_SIZE, MAGIC_BIG, MAGIC_LITTLE, RECORD_HEADER, SECTION_SIZE, feature,
    field, is_published,
};
use crate::kit::cursor::Order;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::reading::repeats::BLOCK_MIN;
use crate::kit::reading::{Change, Hints, Reading};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::model::limits::{Limits, READING_BYTES, WINDOW};

/// Entries that adjoin one another, so that they are a table.
const LEAST_ENTRIES: usize = 3;
/// Most bytes that are inserted or missing, and of an EVENT_DESC.
const MOST: u64 = 1 << 20;
/// Bytes after the ids in which the attrs are searched.
const SEARCHED: u64 = 64 << 10;
/// The meaning of the table as a witness.
const TABLE: &str = "the feature table, whose last section ends with the file";
/// The meaning of EVENT_DESC as a witness.
const DESCRIBED: &str = "EVENT_DESC, which has the attrs and their ids";
/// Places that differ only in the feature bits.
const PLACES: usize = 6;

/// Returns the length by which a file is too long, and the readings that explain a wrong length.
pub fn find(source: &Source<'_>, limits: &Limits) -> Hints {
    let most_headers = limits.of(&READING_BYTES) / RECORD_HEADER;
    let readings = exchanged::find_first(source, most_headers);
    if !readings.is_empty() {
        return Hints { readings, ..Hints::default() };
    }
    // The magic may be among the missing bytes.
    let orders = match header::magic(&source.read(0, 8)) {
        Some((order, _)) => [Some(order), None],
        None => [Some(Order::Little), Some(Order::Big)],
    };
    let hints = orders.into_iter().flatten().map(|order| find_in(Peek { source, order }, limits));
    let mut found = hints.filter(|hints| !hints.excess.is_empty() || !hints.readings.is_empty());
    let mut hints = found.next().unwrap_or_default();
    if hints.readings.is_empty() {
        hints.readings = piped::find(source);
    }
    if hints.readings.is_empty() {
        let headless = find_headless(source, limits);
        hints.readings.extend(headless.and_then(|found| headless::read(source, found)));
    }
    if hints.readings.is_empty() {
        hints.readings = exchanged::find(source, most_headers);
    }
    if hints.readings.is_empty() {
        hints.readings = mixed::find(source);
    }
    hints
}

/// Whether a file has a feature table.
pub(super) fn has_table(peek: Peek<'_>, limits: &Limits) -> bool {
    find_entries(peek, limits.of(&WINDOW)).is_some()
}

fn find_in(peek: Peek<'_>, limits: &Limits) -> Hints {
    let mut hints = Hints::default();
    let Some(table) = find_entries(peek, limits.of(&WINDOW)) else { return hints };
    let shift = Shift::between(table.end, peek.len());
    if let Some(Shift::Inserted(len @ BLOCK_MIN..)) = shift {
        hints.excess.push((0, len));
    }
    hints.readings = shift.map(|shift| find_one(peek, &table, shift)).unwrap_or_default();
    if hints.readings.is_empty() {
        let described = EventDesc::find(peek, &table, shift);
        let beginnings = described.map(|described| described.beginnings(peek, &table));
        hints.readings = beginnings.iter().flatten().flat_map(Beginning::readings).collect();
    }
    hints
}

/// Returns the readings of a single shift, by which the whole file is too long or too short.
fn find_one(peek: Peek<'_>, table: &Entries, shift: Shift) -> Vec<Reading> {
    let declared = peek.u64(field::DATA).zip(peek.u64(field::DATA_SIZE));
    if declared.and_then(|(at, size)| at.checked_add(size)) == Some(table.at) {
        let inserted = matches!(shift, Shift::Inserted(_));
        let found = inserted.then(|| features::find(peek, table, shift.len())).flatten();
        // Bytes at the end move nothing.
        return found.into_iter().filter(|one| one.range().end < peek.len()).collect();
    }
    let beginnings = [true, false]
        .into_iter()
        .filter_map(|is_ids_first| Beginning::build(peek, table, shift, is_ids_first));
    beginnings.flat_map(|beginning| beginning.readings()).collect()
}

/// The entries of a feature table, as they are stored.
struct Entries {
    /// Offset of the first entry in the file.
    at: u64,
    sections: Vec<Section>,
    /// The end of the last section, which is the length of the file as perf wrote it.
    end: u64,
}

impl Entries {
    fn read(peek: Peek<'_>, at: u64) -> Self {
        let sections = row(peek, at);
        let end = sections.last().and_then(|last| last.end()).unwrap_or(0);
        Self { at, sections, end }
    }

    /// More entries are the table, or those that end nearer to the end of the file.
    fn rank(&self, len: u64) -> (usize, u64) {
        (self.sections.len(), u64::MAX.saturating_sub(self.end.abs_diff(len)))
    }

    fn span(&self) -> Span {
        let len = to_u64(self.sections.len()).saturating_mul(SECTION_SIZE);
        Span::sized(Layer::stored(0), self.at, len)
    }
}

/// Adds the table as a witness.
fn witnessed(reading: Reading, table: &Entries) -> Reading {
    reading.witness(table.span(), TABLE)
}

/// Finds the longest row of entries of which each begins where the one before ends.
fn find_entries(peek: Peek<'_>, most: u64) -> Option<Entries> {
    let start = peek.len().saturating_sub(most).max(HEADER_SIZE.min(peek.len()));
    let bytes = peek.bytes(start, peek.len());
    let mut found: Option<Entries> = None;
    let mut next = start;
    for (at, window) in (start..).zip(bytes.windows(40)) {
        if at < next || !adjoin(peek, window) {
            continue;
        }
        // Numbers whose low bytes are 0 also adjoin if they are read some bytes too early.
        let rows = (at..at.saturating_add(8)).map(|at| Entries::read(peek, at));
        let Some(best) = rows.max_by_key(|row| row.rank(peek.len())) else { continue };
        next = best.span().end;
        let least = (LEAST_ENTRIES, 0);
        let rank = found.as_ref().map_or(least, |found| found.rank(peek.len()));
        if best.rank(peek.len()) > rank {
            found = Some(best);
        }
    }
    found
}

/// Whether 40 bytes are two entries and the offset of a third one, which adjoin.
fn adjoin(peek: Peek<'_>, window: &[u8]) -> bool {
    let number = |index: usize| window.get(index..).map_or(0, |bytes| peek.number(bytes));
    let (first, size, second) = (number(0), number(8), number(16));
    first >= HEADER_SIZE
        && first < peek.len().saturating_add(MOST)
        && first.checked_add(size) == Some(second)
        && size > 0
        && second.checked_add(number(24)) == Some(number(32))
}

/// Returns the entries from `at` on, as long as they adjoin.
fn row(peek: Peek<'_>, at: u64) -> Vec<Section> {
    let most = u64::from(FEATURE_BITS);
    let places = (0..most).map(|index| at.saturating_add(index.saturating_mul(SECTION_SIZE)));
    let mut sections: Vec<Section> = Vec::new();
    for section in places.map_while(|place| peek.section(place)) {
        if sections.last().is_some_and(|last| last.end() != Some(section.offset)) {
            break;
        }
        sections.push(section);
    }
    sections
}

/// The change of the length of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shift {
    /// So many bytes were inserted.
    Inserted(u64),
    /// So many bytes are missing.
    Missing(u64),
}

impl Shift {
    fn between(written: u64, stored: u64) -> Option<Self> {
        let (longer, shorter) = (stored.checked_sub(written), written.checked_sub(stored));
        let inserted = longer.map(Self::Inserted);
        let shift = inserted.or_else(|| shorter.map(Self::Missing))?;
        (1..=MOST).contains(&shift.len()).then_some(shift)
    }

    const fn len(self) -> u64 {
        match self {
            Self::Inserted(len) | Self::Missing(len) => len,
        }
    }

    /// Returns the stored place of what was written at `offset`, after the shift.
    const fn stored(self, offset: u64) -> Option<u64> {
        match self {
            Self::Inserted(len) => offset.checked_add(len),
            Self::Missing(len) => offset.checked_sub(len),
        }
    }

    /// Returns the place at which what is stored at `offset`, after the shift, was written.
    const fn written(self, offset: u64) -> Option<u64> {
        match self {
            Self::Inserted(len) => offset.checked_sub(len),
            Self::Missing(len) => offset.checked_add(len),
        }
    }
}

/// By how much feature bits are wrong; fewer is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct WrongBits {
    /// Bits more or fewer than the table has entries.
    count: u64,
    /// Bits that no perf sets.
    unknown: usize,
}

/// The beginning of a file as perf wrote it, and the stored bytes.
struct Beginning {
    written: Vec<u8>,
    stored: Vec<u8>,
    order: Order,
    shift: Shift,
    /// Number of features.
    features: u64,
    /// The stored table.
    table: Span,
    /// The stored EVENT_DESC.
    described: Section,
}

impl Beginning {
    /// Builds the beginning from EVENT_DESC and the place of the table.
    ///
    /// perf writes the ids before the attrs, simpleperf after them.
    fn build(peek: Peek<'_>, table: &Entries, shift: Shift, is_ids_first: bool) -> Option<Self> {
        let described = EventDesc::find(peek, table, Some(shift))?;
        let data_len = shift.written(table.at)?.checked_sub(described.records_at()?)?;
        let written = described.write(peek, data_len, is_ids_first)?;
        Some(Self::of(peek, (written, table), shift, described.section))
    }

    fn of(
        peek: Peek<'_>,
        (written, table): (Vec<u8>, &Entries),
        shift: Shift,
        described: Section,
    ) -> Self {
        let features = to_u64(table.sections.len());
        let stored_len = to_u64(written.len()).saturating_add(shift.len());
        let stored = peek.bytes(0, stored_len).into_owned();
        let (order, table) = (peek.order, table.span());
        Self { written, stored, order, shift, features, table, described }
    }

    /// Returns the readings of one place, or of several that differ in the feature bits.
    fn readings(&self) -> Vec<Reading> {
        let Some((lower, upper)) = self.places() else { return Vec::new() };
        // A complete magic is not the end of other fields.
        let lower = if upper >= field::SIZE { lower.max(field::SIZE) } else { lower };
        let (first, last) = (field::FLAGS.saturating_sub(self.shift.len()), HEADER_SIZE);
        let among_flags = first.max(lower)..=last.min(upper);
        let mut places: Vec<(u64, Flags)> = Vec::new();
        for place in std::iter::once(upper).chain(among_flags).chain(std::iter::once(lower)) {
            let flags = self.flags(place);
            if places.iter().all(|(_, known)| *known != flags) {
                places.push((place, flags));
            }
        }
        // Bits of the right number are those of the features; of those, bits that a perf sets.
        let least = places.iter().map(|(_, flags)| self.wrong_bits(*flags)).min();
        let least = least.unwrap_or_default();
        places.retain(|(_, flags)| self.wrong_bits(*flags) == least);
        let is_complete = places.len() <= PLACES;
        let has_right_bits = least == WrongBits::default();
        let readings = places.iter().take(PLACES).map(|(at, _)| self.reading(*at, has_right_bits));
        let readings = readings.map(|reading| {
            let is_determined = reading.is_determined && is_complete;
            Reading { is_determined, ..reading }
        });
        readings.collect()
    }

    /// Returns the first and the last place at which the shift can be.
    fn places(&self) -> Option<(u64, u64)> {
        let len = self.shift.len();
        let end = to_u64(self.written.len());
        let agrees = |at: u64, stored: Option<u64>| {
            let of = |bytes: &[u8], at: u64| bytes.get(to_usize(at)).copied();
            let byte = stored.and_then(|at| of(&self.stored, at));
            (field::FLAGS..HEADER_SIZE).contains(&at) || byte == of(&self.written, at)
        };
        let upper = (0..end).find(|at| !agrees(*at, Some(*at)))?;
        let from = match self.shift {
            Shift::Inserted(_) => 0,
            Shift::Missing(_) => len.min(end),
        };
        let differing = (from..end).rev().find(|at| !agrees(*at, self.shift.stored(*at)));
        let agreeing = differing.map_or(from, |at| at.saturating_add(1));
        let lower = match self.shift {
            Shift::Inserted(_) => agreeing,
            Shift::Missing(_) => agreeing.saturating_sub(len),
        };
        (lower <= upper).then_some((lower, upper))
    }

    /// Returns what is wrong with feature bits.
    fn wrong_bits(&self, flags: Flags) -> WrongBits {
        WrongBits {
            count: flags.count().abs_diff(self.features),
            unknown: flags.bits().filter(|bit| !shape::is_known(*bit)).count(),
        }
    }

    /// Returns the feature bits if the shift is at `place`; lost ones are 0.
    fn flags(&self, place: u64) -> Flags {
        let stored = |at: u64| match self.shift {
            _ if at < place => Some(at),
            Shift::Missing(len) if at < place.saturating_add(len) => None,
            _ => self.shift.stored(at),
        };
        let byte = |at| stored(at).and_then(|at| self.stored.get(to_usize(at)).copied());
        Flags([0, 8, 16, 24].map(|word| {
            let first = field::FLAGS.saturating_add(word);
            let bytes = [0, 1, 2, 3, 4, 5, 6, 7].map(|at| byte(first.saturating_add(at)));
            self.order.u64(bytes.map(Option::unwrap_or_default))
        }))
    }

    /// Returns the reading of a shift at `at`.
    fn reading(&self, at: u64, has_right_bits: bool) -> Reading {
        let len = self.shift.len();
        let end = at.saturating_add(len);
        let reading = match self.shift {
            Shift::Inserted(_) => {
                let reading = Reading::inserted(0, at..end);
                Reading { is_determined: has_right_bits, ..reading }
            }
            Shift::Missing(_) => {
                let known = self.written.get(to_usize(at)..to_usize(end).min(self.written.len()));
                let mut insert = known.unwrap_or_default().to_vec();
                insert.resize(to_usize(len), 0);
                // Of ids and attrs EVENT_DESC is the only copy, and may be damaged itself. Of lost
                // feature bits only the number is known.
                let has_flags = end <= field::FLAGS || at >= field::FLAGS.saturating_add(8);
                let is_known = end <= HEADER_SIZE && has_flags && has_right_bits;
                Reading::lost(0, Change { range: at..at, insert }, is_known)
            }
        };
        let span = self.described.span(0);
        let reading = reading.witness(self.table, TABLE);
        reading.witness(span, DESCRIBED)
    }
}

/// The section of the attrs' copies and of their ids.
struct EventDesc {
    section: Section,
    /// Size of an attr.
    size: u64,
    events: Vec<described::Described>,
}

impl EventDesc {
    /// Finds the section, which moved as the end of the file did.
    fn find(peek: Peek<'_>, table: &Entries, shift: Option<Shift>) -> Option<Self> {
        let moved = |section: &Section| {
            let offset = shift.map_or(Some(section.offset), |one| one.stored(section.offset))?;
            Some(Section { offset, size: section.size })
        };
        let sections = table.sections.iter().filter(|one| one.size <= MOST).filter_map(moved);
        let mut described = sections.filter_map(|section| {
            let size = peek.u32(section.offset.checked_add(4)?)?;
            let is_shaped = shape::resembles(peek, feature::EVENT_DESC, section);
            let (size, events) = described::events(peek, section).filter(|_| is_published(size))?;
            (is_shaped && !events.is_empty()).then_some(Self { section, size, events })
        });
        described.next()
    }

    fn ids_len(&self) -> u64 {
        self.events.iter().fold(0_u64, |sum, event| sum.saturating_add(event.ids.size))
    }

    /// Returns the size of all attrs with the sections of their ids.
    fn attrs_len(&self) -> Option<u64> {
        to_u64(self.events.len()).checked_mul(self.size.checked_add(SECTION_SIZE)?)
    }

    /// Returns where the records begin.
    fn records_at(&self) -> Option<u64> {
        HEADER_SIZE.checked_add(self.ids_len())?.checked_add(self.attrs_len()?)
    }

    /// Returns the beginnings in which bytes before the attrs are missing or too many, whatever
    /// happened to the bytes after them: the attrs are not where they have to be after the ids.
    fn beginnings(&self, peek: Peek<'_>, table: &Entries) -> Vec<Beginning> {
        let ids_end = HEADER_SIZE.saturating_add(self.ids_len());
        let found = self.find_attrs(peek, table.at.min(ids_end.saturating_add(SEARCHED)));
        let Some(shift) = found.and_then(|at| Shift::between(ids_end, at)) else {
            return Vec::new();
        };
        // data.size may lie before the change, or after it.
        let sizes = [Some(field::DATA_SIZE), shift.stored(field::DATA_SIZE)];
        let sizes = sizes.into_iter().flatten().filter_map(|at| peek.u64(at));
        let beginning = |size: u64| {
            let mut written = self.write(peek, size, true)?;
            written.truncate(to_usize(ids_end));
            Some(Beginning::of(peek, (written, table), shift, self.section))
        };
        sizes.filter_map(beginning).collect()
    }

    /// Returns where the attrs begin, by the first of them that is as its copy.
    fn find_attrs(&self, peek: Peek<'_>, end: u64) -> Option<u64> {
        let bytes = peek.bytes(0, end);
        let entry = self.size.saturating_add(SECTION_SIZE);
        (0..).zip(&self.events).find_map(|(index, event): (u64, _)| {
            let attr = peek.bytes(event.attr, event.attr.saturating_add(self.size));
            let at = to_u64(memchr::memmem::find(&bytes, &attr)?);
            at.checked_sub(entry.saturating_mul(index))
        })
    }

    /// Writes header, ids and attrs as a recorder does; the feature bits are left 0.
    fn write(&self, peek: Peek<'_>, data_len: u64, is_ids_first: bool) -> Option<Vec<u8>> {
        let word = |value: u64| peek.order.bytes(value);
        let (ids_len, attrs_len) = (self.ids_len(), self.attrs_len()?);
        let entry = self.size.checked_add(SECTION_SIZE)?;
        let (attrs_at, mut ids_at) = match is_ids_first {
            true => (HEADER_SIZE.checked_add(ids_len)?, HEADER_SIZE),
            false => (HEADER_SIZE, HEADER_SIZE.checked_add(attrs_len)?),
        };
        let data = self.records_at()?;
        let (mut ids, mut attrs) = (Vec::new(), Vec::new());
        for event in &self.events {
            ids.extend_from_slice(&peek.bytes(event.ids.offset, event.ids.end()?));
            attrs.extend_from_slice(&peek.bytes(event.attr, event.attr.checked_add(self.size)?));
            attrs.extend(word(ids_at));
            attrs.extend(word(event.ids.size));
            ids_at = ids_at.checked_add(event.ids.size)?;
        }
        let fields = [HEADER_SIZE, entry, attrs_at, attrs_len, data, data_len, 0, 0, 0, 0, 0, 0];
        let stored = peek.bytes(0, 8);
        let magic: &[u8] = match peek.order {
            _ if header::magic(&stored).is_some() => &stored,
            Order::Little => MAGIC_LITTLE,
            Order::Big => MAGIC_BIG,
        };
        let (first, second) = if is_ids_first { (ids, attrs) } else { (attrs, ids) };
        Some([magic, fields.map(word).as_flattened(), &first, &second].concat())
    }
}
