//! Readings of the events: where the attrs can lie, and which ids they have.

use super::super::described;
use super::super::identity;
use super::super::odd_values;
use super::super::peek::Peek;
use super::{attr_len, stated_events};
use crate::formats::perf::decode::attr;
use crate::formats::perf::decode::attr_bytes::{AttrBytes, set_word};
use crate::formats::perf::decode::attrs::StoredEvent;
use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::layout::attr::at as word;
use crate::formats::perf::layout::{
    ATTR_SIZE_VER0, ATTR_SIZES, RECORD_HEADER, SECTION_SIZE, feature, field, is_published, record,
};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::Layer;
use crate::kit::walk::Item;

/// Bytes from the start of the file in which attrs are searched.
const SEARCHED: u64 = 1 << 16;
/// Bytes of a HEADER_FEATURE record before the feature: the header and its number.
const FEATURE_HEAD: u64 = RECORD_HEADER + 8;
/// Bytes from the end of the records on in which EVENT_DESC is searched.
const SEARCHED_FEATURES: u64 = 1 << 16;
/// Most readings that race.
const MOST_READINGS: usize = 24;
/// Most events of a reading.
const MOST_EVENTS: u64 = 1024;
/// Most ids of a reading: many events may point to the same ones.
pub(super) const MOST_IDS: u64 = 1 << 16;
/// Bytes of an attr up to the end of its flags: those that decide how records are read.
const LEAST_ATTR: u64 = 48;
/// Most odd values of an attr that is found by its shape.
const MOST_ODD: u64 = 2;

/// One reading of the events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// The events; their attrs have one size.
    pub(super) events: Vec<StoredEvent>,
    /// Whether values of attrs are not those of the file.
    pub(super) is_mended: bool,
    /// Events of which nothing tells what they counted.
    pub(super) unknown: usize,
}

impl Reading {
    /// Returns the events as records are read by them.
    pub(super) fn events(&self, order: Order) -> Option<Events> {
        let events = read_events(&self.events, order)?;
        (!self.events.is_empty()).then_some(events)
    }

    /// Whether an event has this type.
    pub(super) fn has_type(&self, peek: Peek<'_>, kind: u32) -> bool {
        self.events.iter().any(|event| {
            let source = Source::new(&event.attr);
            Peek { source: &source, order: peek.order }.u32(0) == Some(kind)
        })
    }
}

/// Reads stored events; `None` if the layout of the samples of one is not known.
pub fn read_events<'e>(
    stored: impl IntoIterator<Item = &'e StoredEvent>,
    order: Order,
) -> Option<Events> {
    let mut events = Events::new(order);
    for event in stored {
        let mut cursor = Cursor::new(&event.attr, Layer::stored(0), 0, order);
        let attr = attr::attr(&mut cursor, order).ok()?;
        if !attr.layout_known() {
            return None;
        }
        events.push(attr, event.ids.iter().copied());
    }
    Some(events)
}

/// Returns the readings of EVENT_DESC in a record before the samples, where a pipe has it.
fn described_in_pipe(
    recording: &Recording<'_>,
    (start, end): (u64, u64),
) -> impl Iterator<Item = Reading> {
    let area = (start, end.min(start.saturating_add(SEARCHED)));
    let items = recording.file.records(area, SEARCHED).filter_map(Item::record);
    let order = recording.order();
    items.filter_map(move |item| read_described_in(&item, order))
}

/// Reads the EVENT_DESC in a HEADER_FEATURE record; `None` if it is another record, or if the
/// events do not end in it.
fn read_described_in(item: &Record<'_>, order: Order) -> Option<Reading> {
    let source = Source::new(&item.bytes);
    let peek = Peek { source: &source, order };
    let is_feature = item.frame.kind == record::HEADER_FEATURE
        && peek.u64(RECORD_HEADER) == Some(feature::EVENT_DESC.into());
    if is_feature { read_described(peek, FEATURE_HEAD) } else { None }
}

/// Returns the events that a record of a pipe describes; `None` if it is not a HEADER_FEATURE
/// record of EVENT_DESC.
pub fn described_in(item: &Record<'_>, order: Order) -> Option<Vec<StoredEvent>> {
    let reading = read_described_in(item, order).filter(|reading| !reading.is_mended)?;
    Some(reading.events)
}

/// Returns the readings, the most likely first.
pub(super) fn readings(
    peek: Peek<'_>,
    recording: &Recording<'_>,
    sections: &[Section],
    end: u64,
) -> Vec<Reading> {
    let mut readings: Vec<Reading> = Vec::new();
    let mut push = |reading: Option<Reading>| {
        if let Some(reading) = reading
            && !readings.contains(&reading)
            && readings.len() < MOST_READINGS
        {
            readings.push(reading);
        }
    };
    let body = &recording.body;
    let start = recording.header.length();
    let tables = Tables { peek, start, stated: stated_events(recording).unwrap_or(0) };
    if let Some(size) = attr_len(body.attr_size) {
        let count = body.attrs.size.checked_div(body.attr_size).unwrap_or(0);
        tables.read_all((body.attrs.offset, size, count.max(1)), &mut push);
    }
    for section in sections {
        push(read_described(peek, section.offset));
    }
    described_in_pipe(recording, (start, end)).for_each(|reading| push(Some(reading)));
    for table in find_tables(peek, start) {
        tables.read_all(table, &mut push);
    }
    let moved = Tables { start: field::ATTR_SIZE, ..tables };
    for table in find_moved_tables(peek, start) {
        push(moved.read(table, IdsPlace::BeforeAttrs));
    }
    // EVENT_DESC without a table that leads to it.
    if sections.is_empty() {
        let from = end.min(peek.len()).min(body.data.end().unwrap_or(u64::MAX));
        let last = from.saturating_add(SEARCHED_FEATURES).min(peek.len());
        (from..last).for_each(|at| push(read_described(peek, at)));
    }
    for table in find_lone_attrs(peek, recording) {
        tables.read_all(table, &mut push);
    }
    readings
}

/// Finds a single attr between its ids and the records, of which nothing else is known.
fn find_lone_attrs(peek: Peek<'_>, recording: &Recording<'_>) -> Vec<(u64, u64, u64)> {
    let (body, start) = (&recording.body, recording.header.length());
    let mut found = Vec::new();
    for size in ATTR_SIZES.map(u64::from) {
        let entry = size.saturating_add(SECTION_SIZE);
        let ends = [body.data.offset, body.attrs.end().unwrap_or(0)];
        let places = ends.into_iter().filter_map(|end| end.checked_sub(entry));
        let is_placed = |at: &u64| {
            peek.section(at.saturating_add(size)).is_some_and(|ids| {
                let is_usual = ids.offset == start && ids.end() == Some(*at);
                is_usual || ids.size == 8 && attr_len(body.attr_size) == Some(size)
            })
        };
        let placed = places.filter(|at| *at >= start).filter(is_placed);
        found.extend(placed.map(|at| (at, size, 1)));
    }
    found
}

/// Finds places after the header that look like attr tables: entries of one size, one after
/// another, with few odd values. Returns place, size of an attr, and number of entries.
fn find_tables(peek: Peek<'_>, start: u64) -> Vec<(u64, u64, u64)> {
    let mut tables: Vec<(u64, u64, u64)> = Vec::new();
    let mut at = start;
    while at < peek.len().min(SEARCHED) {
        if let Some((size, count)) = table_at(peek, at) {
            let is_inside = |(first, size, count): &(u64, u64, u64)| {
                let entry = size.saturating_add(SECTION_SIZE);
                at < first.saturating_add(entry.saturating_mul(*count))
            };
            if !tables.last().is_some_and(is_inside) {
                tables.push((at, size, count));
            }
        }
        at = at.saturating_add(1);
    }
    tables.truncate(MOST_READINGS);
    tables
}

/// Finds places that look like attr tables where the header should be: bytes of the header are
/// missing, so that everything after it has moved. What is left of the header may look like an attr
/// as well, so tables may overlap.
fn find_moved_tables(peek: Peek<'_>, start: u64) -> Vec<(u64, u64, u64)> {
    let places = field::ATTR_SIZE..start.min(peek.len());
    let tables = places.filter_map(|at| table_at(peek, at).map(|(size, count)| (at, size, count)));
    tables.take(MOST_READINGS).collect()
}

/// Returns the size of the attrs and the number of entries of the attr table at `at`, if the bytes
/// there look like one.
fn table_at(peek: Peek<'_>, at: u64) -> Option<(u64, u64)> {
    let size = attr_size_at(peek, at)?;
    let entry = size.saturating_add(SECTION_SIZE);
    let next = |count: u64| at.saturating_add(entry.saturating_mul(count));
    let follows = |count: &u64| attr_size_at(peek, next(*count)) == Some(size);
    let more = (1..MOST_EVENTS).take_while(follows).count();
    Some((size, to_u64(more).saturating_add(1)))
}

/// Returns the size of the attr at `at`, if the bytes there look like one.
pub(in super::super) fn attr_size_at(peek: Peek<'_>, at: u64) -> Option<u64> {
    let size = peek.attr_size(at).filter(|size| is_published(*size))?;
    let size = u64::from(size);
    let bytes = peek.bytes(at, at.saturating_add(size));
    let attr = AttrBytes { bytes: &bytes, order: peek.order };
    let is_whole = to_u64(bytes.len()) == size;
    // The order of the bits is that of a little-endian machine.
    let odd = if peek.order == Order::Little { odd_values::count(attr) } else { 0 };
    let has_fields = attr.word(word::SAMPLE_TYPE) != 0;
    (is_whole && odd <= MOST_ODD && has_fields).then_some(size)
}

/// The place of the ids of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IdsPlace {
    /// Where the entries have them.
    Stored,
    /// Between the header and the attrs, the same number for each event.
    Equal,
    /// Right before the attrs, in the sizes that the entries have: all of them have moved.
    BeforeAttrs,
}

impl IdsPlace {
    const ALL: [Self; 3] = [Self::Stored, Self::Equal, Self::BeforeAttrs];
}

/// Where attr tables can lie, each given as its place, the size of its attrs and their number.
#[derive(Clone, Copy)]
struct Tables<'s> {
    peek: Peek<'s>,
    /// The end of the header.
    start: u64,
    /// The number of events that the header states; 0 if it states none.
    stated: u64,
}

impl Tables<'_> {
    /// Passes on the readings of a table, with each place of its ids.
    fn read_all(self, table: (u64, u64, u64), push: &mut dyn FnMut(Option<Reading>)) {
        IdsPlace::ALL.into_iter().for_each(|place| push(self.read(table, place)));
    }

    /// Reads a table with its ids.
    fn read(self, (at, size, count): (u64, u64, u64), place: IdsPlace) -> Option<Reading> {
        let (peek, start) = (self.peek, self.start);
        let entry = size.saturating_add(SECTION_SIZE);
        let mut found: Vec<(Vec<u8>, Option<Section>)> = Vec::new();
        let mut is_truncated = false;
        for index in 0..count.min(MOST_EVENTS) {
            let attr = at.saturating_add(index.saturating_mul(entry));
            let after = attr.saturating_add(size);
            let mut bytes = peek.bytes(attr, after).into_owned();
            if attr < start || to_u64(bytes.len()) < LEAST_ATTR {
                break;
            }
            // perf inject writes attrs at the end of the file. A cut one lacks fields that are
            // often 0.
            is_truncated |= to_u64(bytes.len()) < size;
            bytes.resize(to_usize(size), 0);
            found.push((bytes, peek.section(after)));
        }
        let stored = found.iter().map(|(_, ids)| ids.filter(|ids| is_placed(peek, start, ids)));
        let stored: Vec<Option<Section>> = stored.collect();
        // Some of the ids may be those of events whose attrs are lost.
        let is_guess = place != IdsPlace::Stored;
        if is_guess && self.stated > to_u64(found.len()) {
            return None;
        }
        let ids = match place {
            IdsPlace::Stored => stored,
            IdsPlace::Equal if are_before(&stored, start, at) => return None,
            IdsPlace::Equal => split_ids(start, at, found.len())?,
            IdsPlace::BeforeAttrs => move_ids(stored, at)?,
        };
        let mut left = MOST_IDS;
        let event = |((attr, _), ids): ((Vec<u8>, _), Option<Section>)| StoredEvent {
            attr,
            ids: ids.map(|ids| read_ids(peek, ids, &mut left)).unwrap_or_default(),
        };
        let events: Vec<StoredEvent> = found.into_iter().zip(ids).map(event).collect();
        if is_guess && !are_ids(events.iter().flat_map(|event| &event.ids).copied().collect()) {
            return None;
        }
        let mut reading = finish(peek, events, size)?;
        reading.is_mended |= is_truncated;
        Some(reading)
    }
}

/// Whether ids can lie in a section.
fn is_placed(peek: Peek<'_>, start: u64, ids: &Section) -> bool {
    ids.fits(peek.len()) && ids.offset >= start && ids.size & 7 == 0 && ids.size > 0
}

/// Whether all sections of ids adjoin from the end of the header on, before the attrs.
fn are_before(stored: &[Option<Section>], start: u64, attrs: u64) -> bool {
    let mut end = Some(start);
    let adjoin = stored.iter().all(|ids| {
        let follows = ids.filter(|ids| Some(ids.offset) == end);
        end = follows.and_then(|ids| ids.end());
        end.is_some_and(|end| end <= attrs)
    });
    adjoin && !stored.is_empty()
}

/// Whether the ids can be those of events: the kernel counts them from 1, and gives none twice.
pub(in super::super) fn are_ids(mut ids: Vec<u64>) -> bool {
    ids.sort_unstable();
    let is_new = |pair: &[u64]| pair.first() != pair.last();
    ids.first() != Some(&0) && ids.windows(2).all(is_new)
}

/// Moves sections that adjoin so that they end at `attrs`.
fn move_ids(stored: Vec<Option<Section>>, attrs: u64) -> Option<Vec<Option<Section>>> {
    let sections: Vec<Section> = stored.into_iter().collect::<Option<_>>()?;
    let adjoin = sections.windows(2).all(|pair| match pair {
        [one, next] => one.end() == Some(next.offset),
        _ => true,
    });
    let shift = attrs.wrapping_sub(sections.last()?.end()?);
    let moved =
        |section: Section| Section { offset: section.offset.wrapping_add(shift), ..section };
    (adjoin && shift != 0).then(|| sections.into_iter().map(moved).map(Some).collect())
}

/// Divides the bytes between the header and the attrs among `count` events.
fn split_ids(start: u64, attrs: u64, count: usize) -> Option<Vec<Option<Section>>> {
    let len = attrs.checked_sub(start)?;
    let size = len.checked_div(to_u64(count))?;
    let is_whole = size > 0 && size & 7 == 0 && len.checked_rem(to_u64(count)) == Some(0);
    let offset = |index: u64| start.saturating_add(index.saturating_mul(size));
    let section = |index| Some(Section { offset: offset(index), size });
    is_whole.then(|| (0..to_u64(count)).map(section).collect())
}

/// Reads the ids of a section, and at most `left`, which it lowers.
pub(super) fn read_ids(peek: Peek<'_>, section: Section, left: &mut u64) -> Vec<u64> {
    let count = (section.size >> 3).min(*left);
    *left = left.saturating_sub(count);
    let place = |index: u64| section.offset.saturating_add(index.saturating_mul(8));
    (0..count).map_while(|index| peek.u64(place(index))).collect()
}

/// Reads the events of an EVENT_DESC section at `at`, wherever it ends.
fn read_described(peek: Peek<'_>, at: u64) -> Option<Reading> {
    let count = peek.u32(at).filter(|count| (1..=1024).contains(count))?;
    let size = peek.u32(at.checked_add(4)?).filter(|size| is_published(*size))?;
    if peek.attr_size(at.saturating_add(8)) != Some(size) {
        return None;
    }
    let (size, places) = described::first_events(peek, at, (count, size.into()))?;
    let mut left = MOST_IDS;
    let events = places.into_iter().map(|place| StoredEvent {
        attr: peek.bytes(place.attr, place.attr.saturating_add(size)).into_owned(),
        ids: read_ids(peek, place.ids, &mut left),
    });
    let events: Vec<StoredEvent> = events.collect();
    finish(peek, events, size)
}

/// Gives all attrs the size that they have in the table.
pub(super) fn finish(peek: Peek<'_>, mut events: Vec<StoredEvent>, size: u64) -> Option<Reading> {
    let (mut is_mended, mut unknown) = (false, 0_usize);
    for event in &mut events {
        // The size 0 stands for the first version.
        let attr = AttrBytes { bytes: &event.attr, order: peek.order };
        let stored = attr.word(word::SIZE);
        if identity::is_lost(attr, size) {
            identity::forget(&mut event.attr, peek.order);
            unknown = unknown.saturating_add(1);
        }
        if stored != size && (size != ATTR_SIZE_VER0 || stored != 0) {
            set_word(&mut event.attr, word::SIZE, size, peek.order);
            is_mended = true;
        }
    }
    let is_whole = events.iter().all(|event| event.attr.len() == to_usize(size));
    (is_whole && !events.is_empty()).then_some(Reading { events, is_mended, unknown })
}
