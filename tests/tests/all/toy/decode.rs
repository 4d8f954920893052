//! Bytes to items. Names no rule.

use tracemend::kit::cursor::{Cursor, Order, ReadError};
use tracemend::kit::source::Source;
use tracemend::kit::walk::Item;
use tracemend::{Layer, Span};

use super::layout::{COUNT_AT, HEADER_LEN, ITEM_MAX};

/// Reads the number of items in the header.
pub(super) fn count(source: &Source<'_>) -> Result<u32, ReadError> {
    let bytes = source.read(COUNT_AT, HEADER_LEN);
    Cursor::new(&bytes, Layer::stored(0), COUNT_AT, Order::Little).u32("count")
}

/// Walks over the items, which tile the bytes after the header. Damage ends the walk.
pub(super) struct Walker<'s, 'a> {
    source: &'s Source<'a>,
    at: u64,
}

impl<'s, 'a> Walker<'s, 'a> {
    /// Creates a walker over all items of `source`.
    pub(super) const fn new(source: &'s Source<'a>) -> Self {
        Self { source, at: HEADER_LEN }
    }
}

impl Iterator for Walker<'_, '_> {
    type Item = Item<Span, Span>;

    fn next(&mut self) -> Option<Self::Item> {
        let layer = Layer::stored(0);
        let bytes = self.source.read(self.at, self.at + ITEM_MAX);
        let mut cursor = Cursor::new(&bytes, layer, self.at, Order::Little);
        let start = cursor.position();
        let len = cursor.u8("length").ok()?;
        if cursor.bytes(len.into(), "data").is_err() {
            self.at = self.source.len();
            return Some(Item::Damage(Span::new(layer, start, self.at)));
        }
        self.at = cursor.position();
        Some(Item::Record(cursor.since(start)))
    }
}

/// Returns the length of the item at the start of `span`, as its first byte has it.
pub(super) fn needed(source: &Source<'_>, span: Span) -> u64 {
    source.read(span.start, span.end).first().map_or(0, |len| u64::from(*len) + 1)
}
