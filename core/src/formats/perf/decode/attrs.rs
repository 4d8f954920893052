//! The attr table of a file: attrs with the sections of their ids, and the ids.
//!
//! ```text
//!  | attr, attr.size bytes | ids: section { u64 offset, u64 size } |   each, one after the other
//! ```
//!
//! perf steps through the table by `attr.size` and not by the header's `attr_size`; simpleperf does
//! the opposite, and its `attr.size` may be smaller.

use super::attr::{self, Attr};
use super::attr_record::read_record;
use super::event::Events;
use super::header::Section;
use super::recording::{RecordFile, Recording};
use crate::formats::perf::layout::{
    ATTR_SIZE_VER0, HEADER_SIZE_PIPE, SECTION_SIZE, is_published, record,
};
use crate::formats::perf::limits::{ATTRS, IDS};
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::field_log::FieldLog;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::model::limits::{Limits, RESYNC, WINDOW};

/// An entry of the table.
#[derive(Clone, Copy, Debug)]
pub struct AttrEntry {
    /// Its bytes.
    pub span: Span,
    /// The attr.
    pub attr: Attr,
    /// The section of its ids.
    pub ids: Section,
}

/// An entry that does not fit in the rest of the table.
#[derive(Clone, Copy, Debug)]
pub struct AttrDamage {
    /// The rest of the table.
    pub span: Span,
    /// The first field that does not fit.
    pub error: ReadError,
}

/// Walks the entries of the table. Damage ends the walk: only the entries show where the next
/// begins.
struct Entries<'a> {
    cursor: Cursor<'a>,
    order: Order,
    /// Size of all entries in bytes; `None` if each has its own.
    len: Option<u64>,
    is_over: bool,
}

impl<'a> Entries<'a> {
    fn new(recording: &Recording<'_>, cursor: Cursor<'a>) -> Self {
        let len = common_len(recording);
        Self { cursor, order: recording.order(), len, is_over: false }
    }

    fn read(&mut self) -> Result<AttrEntry, ReadError> {
        let start = self.cursor.position();
        let attr = attr::attr(&mut self.cursor, self.order)?;
        let used = self.cursor.position().saturating_sub(start).saturating_add(SECTION_SIZE);
        let unused = self.len.map_or(0, |len| len.saturating_sub(used));
        self.cursor.skip(1, unused, "attr.unused")?;
        let ids = Section::read(&mut self.cursor)?;
        Ok(AttrEntry { span: self.cursor.since(start), attr, ids })
    }
}

impl Iterator for Entries<'_> {
    type Item = Item<AttrEntry, AttrDamage>;

    fn next(&mut self) -> Option<Self::Item> {
        let least = ATTR_SIZE_VER0.saturating_add(SECTION_SIZE);
        if self.is_over || self.cursor.left() < least {
            return None;
        }
        let span = self.cursor.ahead();
        Some(match self.read() {
            Ok(entry) => Item::Record(entry),
            Err(error) => {
                self.is_over = true;
                Item::Damage(AttrDamage { span, error })
            }
        })
    }
}

/// An event as it is stored: its attr as bytes, and its ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredEvent {
    /// The attr.
    pub attr: Vec<u8>,
    /// The ids.
    pub ids: Vec<u64>,
}

/// The reason why the ids of an attr were not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdsFault {
    /// The section lies outside the file.
    Outside,
    /// The recording has more ids than the limit.
    Limit,
    /// The ids so far take this many bytes, more than the file has, so sections share bytes.
    Overlap(u64),
}

/// The reason why the table was not read to its end.
#[derive(Clone, Copy, Debug)]
pub enum TableStop {
    /// It lies outside the file.
    Outside,
    /// It is larger than the limit on structures that are held as a whole.
    SizeLimit,
    /// It has more entries than the limit.
    CountLimit,
    /// An entry does not fit.
    Damage(AttrDamage),
}

/// The attr table, read.
#[derive(Clone, Debug, Default)]
pub struct AttrTable {
    /// The entries, each with the fault of its ids, if there is one.
    pub entries: Vec<(AttrEntry, Option<IdsFault>)>,
    /// Size of the first entry by its own size field, with the ids section.
    pub first_len: Option<u64>,
    /// The reason why reading stopped early.
    pub stop: Option<TableStop>,
    /// Bytes after the last entry.
    pub trailing: Option<Span>,
}

impl AttrTable {
    /// The sections of the ids that were read.
    pub fn id_sections(&self) -> Vec<Section> {
        let read = self.entries.iter().filter(|(_, fault)| fault.is_none());
        read.map(|(entry, _)| entry.ids).collect()
    }
}

/// Reads the attr table and the ids, and collects the events.
pub fn read_table(recording: &Recording<'_>, limits: &Limits) -> (Events, AttrTable) {
    let order = recording.order();
    let mut events = Events::new(order);
    events.dialect = recording.file.dialect();
    let mut table = AttrTable::default();
    let attrs = recording.body.attrs;
    if !attrs.fits(recording.length()) {
        table.stop = Some(TableStop::Outside);
        return (events, table);
    }
    if attrs.size > limits.of(&WINDOW) {
        table.stop = Some(TableStop::SizeLimit);
        return (events, table);
    }
    let bytes = recording.file.source().read(attrs.offset, attrs.end().unwrap_or(u64::MAX));
    let cursor = Cursor::new(&bytes, Layer::stored(0), attrs.offset, order);
    table.first_len = common_len(recording).or_else(|| first_len(&cursor));
    let mut entries = Entries::new(recording, cursor);
    for item in &mut entries {
        let entry = match item {
            Item::Record(_) if to_u64(table.entries.len()) >= limits.of(&ATTRS) => {
                table.stop = Some(TableStop::CountLimit);
                break;
            }
            Item::Record(entry) => entry,
            Item::Damage(damage) => {
                table.stop = Some(TableStop::Damage(damage));
                break;
            }
        };
        let ids = read_ids(recording, entry.ids, events.id_count(), limits);
        let fault = ids.as_ref().err().copied();
        events.push(entry.attr, ids.unwrap_or_default());
        if fault.is_some() {
            events.mark_partial();
        }
        table.entries.push((entry, fault));
    }
    if table.stop.is_some() {
        events.mark_partial();
    } else if let Err(trailing) = entries.cursor.finish() {
        table.trailing = Some(trailing.span);
    }
    (events, table)
}

/// Reads the events as they are stored; `None` if the table or the ids of an event have a fault.
pub fn stored_events(recording: &Recording<'_>, limits: &Limits) -> Option<Vec<StoredEvent>> {
    let (events, table) = read_table(recording, limits);
    if events.is_partial() {
        return None;
    }
    let source = recording.file.source();
    let stored = table.entries.iter().map(|(entry, _)| {
        let end = entry.span.start.saturating_add(entry.attr.stored_len());
        let attr = source.read(entry.span.start, end).into_owned();
        Some(StoredEvent { attr, ids: read_ids(recording, entry.ids, 0, limits).ok()? })
    });
    stored.collect()
}

/// Notes the fields of the table.
pub fn log_fields(recording: &Recording<'_>, log: &FieldLog) {
    let (order, attrs) = (recording.order(), recording.body.attrs);
    let bytes = recording.file.source().read(attrs.offset, attrs.end().unwrap_or(u64::MAX));
    let cursor = Cursor::new(&bytes, Layer::stored(0), attrs.offset, order).with_log(log);
    Entries::new(recording, cursor).for_each(drop);
}

/// Notes the ids of a section.
pub fn log_ids(recording: &Recording<'_>, section: Section, log: &FieldLog) {
    let bytes = recording.file.source().read(section.offset, section.end().unwrap_or(u64::MAX));
    let cursor = Cursor::new(&bytes, Layer::stored(0), section.offset, recording.order());
    let mut cursor = cursor.with_log(log);
    while cursor.u64("id").is_ok() {}
}

/// Returns the size of all entries by the header, for which simpleperf takes it, if an attr of
/// that size exists and the table has a whole number of them.
fn common_len(recording: &Recording<'_>) -> Option<u64> {
    let len = Some(recording.body.attr_size).filter(|_| recording.file.is_simpleperf())?;
    let is_known = len.checked_sub(SECTION_SIZE).is_some_and(is_published);
    let is_whole = recording.body.attrs.size.checked_rem(len) == Some(0);
    (is_known && is_whole).then_some(len)
}

/// Returns the size of the first entry by its own size field, with the ids section.
fn first_len(cursor: &Cursor<'_>) -> Option<u64> {
    let size = u64::from(attr::stated_size(cursor).ok()?);
    let size = if size == 0 { ATTR_SIZE_VER0 } else { size };
    Some(size.saturating_add(SECTION_SIZE))
}

/// Reads the ids of one attr, after `known` ids of the attrs before it.
fn read_ids(
    recording: &Recording<'_>,
    section: Section,
    known: u64,
    limits: &Limits,
) -> Result<Vec<u64>, IdsFault> {
    if !section.fits(recording.length()) {
        return Err(IdsFault::Outside);
    }
    let count = known.saturating_add(section.size >> 3);
    if count > limits.of(&IDS) {
        return Err(IdsFault::Limit);
    }
    // Every event has ids of its own. More ids than the file has room for mean that sections share
    // bytes, and a small file could then demand any amount of memory.
    let total = count.saturating_mul(8);
    if total > recording.length() {
        return Err(IdsFault::Overlap(total));
    }
    let source = recording.file.source();
    let bytes = source.read(section.offset, section.end().unwrap_or(u64::MAX));
    let mut cursor = Cursor::new(&bytes, Layer::stored(0), section.offset, recording.order());
    Ok(std::iter::from_fn(|| cursor.u64("id").ok()).collect())
}

/// Gathers the events, by which records are recognised after damage: perf writes them first.
pub fn gather_events(file: &RecordFile<'_>, mut events: Events, limits: &Limits) -> Events {
    /// Records that are read; a pipe has some before its events.
    const MOST_RECORDS: usize = 4096;
    let items = file.records((HEADER_SIZE_PIPE, file.length()), limits.of(&RESYNC));
    for record in items.take(MOST_RECORDS).filter_map(Item::record) {
        if record.frame.kind == record::SAMPLE {
            break;
        }
        let attr =
            Some(record.view(file.layer(), 0)).filter(|_| record.frame.kind == record::HEADER_ATTR);
        if let Some((attr, ids)) = attr.and_then(|view| read_record(&view, file.order())) {
            if !has_room(events.attrs().len(), events.id_count(), limits) {
                break;
            }
            events.push(attr, ids);
        }
    }
    events
}

/// Whether `count` attrs and `ids` ids are below the limits.
pub fn has_room(count: usize, ids: u64, limits: &Limits) -> bool {
    to_u64(count) < limits.of(&ATTRS) && ids <= limits.of(&IDS)
}
