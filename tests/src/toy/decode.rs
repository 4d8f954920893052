//! Bytes to records and damage. Knows no rule.

use tracemend::kit::cursor::{Cursor, Order, ReadError};
use tracemend::kit::walk::Item;
use tracemend::{Source, Span};

use super::layout::{FILE, HEADER, MAGIC, checksum};

/// A recording: its header, and the bytes of its records.
pub(super) struct Recording {
    pub(super) header: Span,
    pub(super) has_magic: bool,
    /// The stored number of records; `None` if the header is truncated.
    pub(super) count: Option<u16>,
    records: Vec<u8>,
}

/// A complete record.
pub(super) struct Record {
    pub(super) span: Span,
    /// Milliseconds.
    pub(super) time: u32,
}

/// Bytes that are not a record.
pub(super) struct Damage {
    pub(super) span: Span,
    pub(super) cause: DamageCause,
}

/// The reason why bytes are not a record.
pub(super) enum DamageCause {
    /// The file ends inside the record.
    Truncated(ReadError),
    /// The checksum does not match.
    Checksum { stored: u8, expected: u8 },
    /// The body is too short for its fields.
    Body(ReadError),
}

impl Recording {
    /// Reads the header. A format with large recordings keeps the source and reads windows of it.
    pub(super) fn read(source: &Source<'_>) -> Self {
        let bytes = source.read(0, source.len());
        let mut cursor = Cursor::new(&bytes, FILE, 0, Order::Little);
        let has_magic = cursor.array("magic").is_ok_and(|magic: [u8; 4]| magic == *MAGIC);
        let count = cursor.u16("count").ok();
        let header = Span::new(FILE, 0, source.len().min(HEADER));
        Self { header, has_magic, count, records: source.read(HEADER, source.len()).into_owned() }
    }

    /// Returns the records and the damage, which together cover everything after the header.
    pub(super) fn walk(&self) -> Walk<'_> {
        Walk { cursor: Cursor::new(&self.records, FILE, self.header.end(), Order::Little) }
    }
}

/// Iterates over the records of a recording.
pub(super) struct Walk<'a> {
    cursor: Cursor<'a>,
}

impl Iterator for Walk<'_> {
    type Item = Item<Record, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.cursor.is_empty() {
            return None;
        }
        let rest = self.cursor.ahead();
        // A record that is cut off is the last one: nothing is left after it.
        Some(parse_record(&mut self.cursor).unwrap_or_else(|error| {
            self.cursor = Cursor::new(&[], FILE, rest.end(), Order::Little);
            Item::Damage(Damage { span: rest, cause: DamageCause::Truncated(error) })
        }))
    }
}

/// Reads one record: the frame first, then its body, so that a bad body costs one record.
fn parse_record(cursor: &mut Cursor<'_>) -> Result<Item<Record, Damage>, ReadError> {
    let start = cursor.position();
    let len = u64::from(cursor.u8("length")?);
    let mut body = cursor.window(len, "body")?;
    let stored = cursor.u8("checksum")?;
    let span = cursor.since(start);
    let expected = checksum(body.rest());
    Ok(if stored != expected {
        Item::Damage(Damage { span, cause: DamageCause::Checksum { stored, expected } })
    } else {
        match body.u32("time") {
            Ok(time) => Item::Record(Record { span, time }),
            Err(error) => Item::Damage(Damage { span, cause: DamageCause::Body(error) }),
        }
    })
}
