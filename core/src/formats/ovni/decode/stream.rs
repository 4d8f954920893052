//! One `stream.obs`: its header, and a walk over its events.

use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::layout::{JUMBO, MAGIC, STREAM_HEADER, STREAM_VERSION};
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::field_log::FieldLog;
use crate::kit::source::Source;
use crate::kit::span::Layer;
use crate::kit::walk::Item;

/// Bytes of an event whose fields a map shows: a jumbo payload may be as long as the stream.
const EVENT_SHOWN: u64 = 4096;

/// The first eight bytes of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Valid.
    Valid,
    /// Truncated: the stream has this many bytes.
    Truncated(u64),
    /// Another magic.
    Magic([u8; 4]),
    /// Another version.
    Version(u32),
    /// Version 1 in the other byte order.
    OtherByteOrder,
}

/// A stream and its header.
#[derive(Clone, Debug)]
pub struct Stream<'a> {
    source: Source<'a>,
    layer: Layer,
    header: Header,
}

impl<'a> Stream<'a> {
    /// Reads the header of a stream.
    pub fn open(source: Source<'a>, layer: Layer) -> Self {
        let head = source.read(0, STREAM_HEADER);
        let mut cursor = Cursor::new(&head, layer, 0, Order::Little);
        let header = read_header(&mut cursor).unwrap_or(Header::Truncated(source.len()));
        Self { source, layer, header }
    }

    /// Notes the fields of the header.
    pub fn log_header(&self, log: &FieldLog) {
        let head = self.source.read(0, STREAM_HEADER);
        let cursor = Cursor::new(&head, self.layer, 0, Order::Little);
        let _header = read_header(&mut cursor.with_log(log));
    }

    /// Notes the fields of an event, which the walk reads at once.
    pub fn log_event(&self, event: &Event<'_>, log: &FieldLog) {
        let shown = event.end().min(event.at.saturating_add(EVENT_SHOWN));
        let bytes = self.source.read(event.at, shown);
        let cursor = Cursor::new(&bytes, self.layer, event.at, Order::Little);
        let _read = log_fields(&mut cursor.with_log(log), event);
    }

    /// Returns the header.
    pub const fn header(&self) -> Header {
        self.header
    }

    /// Returns the file and depth of the stream.
    pub const fn layer(&self) -> Layer {
        self.layer
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        self.source.len()
    }

    /// Whether the stream is empty.
    pub fn is_empty(&self) -> bool {
        self.source.is_empty()
    }

    /// Returns a walk over the events from offset `at`.
    pub fn events(&self, at: u64) -> EventWalk<'_, 'a> {
        EventWalk::new(&self.source, self.layer, at)
    }

    /// Whether a known event follows the header.
    pub fn has_first_event(&self) -> bool {
        let first = self.events(STREAM_HEADER).next();
        matches!(first, Some(Item::Record(event)) if event.row.is_some())
    }

    /// Whether events can be read after the header: it is valid, or its magic or version is wrong
    /// but known events follow. A search for them looks at `resync` bytes.
    pub fn is_readable(&self, resync: u64) -> bool {
        match self.header {
            Header::Valid => true,
            Header::Truncated(_) | Header::OtherByteOrder => false,
            Header::Magic(_) | Header::Version(_) => {
                let mut events = self.events(STREAM_HEADER);
                self.has_first_event() || events.resync(STREAM_HEADER, 0, resync).is_some()
            }
        }
    }

    /// Counts the complete events from offset `at`. After damage, a search for the next valid event
    /// looks at `resync` bytes.
    pub fn count_events(&self, at: u64, resync: u64) -> u64 {
        let mut walk = self.events(at);
        let mut count = 0_u64;
        while let Some(item) = walk.next() {
            match item {
                Item::Record(_) => count = count.saturating_add(1),
                Item::Damage(damage) => {
                    walk.resync(damage.at, 0, resync);
                }
            }
        }
        count
    }
}

fn log_fields(cursor: &mut Cursor<'_>, event: &Event<'_>) -> Result<(), ReadError> {
    cursor.u8("flags")?;
    cursor.bytes(3, "mcv")?;
    cursor.u64("clock")?;
    if event.flags & JUMBO != 0 {
        cursor.u32("size")?;
    }
    cursor.bytes(cursor.left(), "payload").map(drop)
}

/// The header: magic and version.
fn read_header(cursor: &mut Cursor<'_>) -> Result<Header, ReadError> {
    let magic = cursor.array::<4>("magic")?;
    let version = cursor.u32("version")?;
    Ok(match version {
        _ if magic != *MAGIC => Header::Magic(magic),
        STREAM_VERSION => Header::Valid,
        _ if version.swap_bytes() == STREAM_VERSION => Header::OtherByteOrder,
        version => Header::Version(version),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_header_is_recognised() {
        let header =
            |bytes: &'static [u8]| Stream::open(Source::new(bytes), Layer::stored(0)).header();
        assert_eq!(header(b"ovni\x01\0\0\0"), Header::Valid);
        assert_eq!(header(b"ovni\0\0\0\x01"), Header::OtherByteOrder);
        assert_eq!(header(b"ovni\x02\0\0\0"), Header::Version(2));
        assert_eq!(header(b"avni\x01\0\0\0"), Header::Magic(*b"avni"));
        assert_eq!(header(b"ovni\x01\0\0"), Header::Truncated(7));
    }
}
