//! A log of the fields that a cursor reads.
//!
//! Decoders label every read. A cursor with a log notes label, place and value of each, so that a
//! map of the recording comes from the decoders that the check uses.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::kit::num::to_usize;
use crate::kit::span::Span;

/// First bytes of a longer field that a log keeps, unless it is asked for more.
const BYTES_KEPT: usize = 64;

/// One field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name, as the format's own source has it.
    pub label: Cow<'static, str>,
    /// The bytes.
    pub span: Span,
    /// The value.
    pub value: FieldValue,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// A number in the byte order of the recording.
    Number(u64),
    /// The same, which people read in hexadecimal.
    Hex(u64),
    /// The first bytes of the field.
    Bytes(Vec<u8>),
    /// Text that is safe to print.
    Text(String),
}

/// Collects fields. Readers that hold a log may move between threads.
#[derive(Debug)]
pub struct FieldLog {
    max: usize,
    /// First bytes of a longer field that are kept.
    kept: usize,
    /// Whether the entries of long lists are noted one by one, beside the list as bytes.
    has_entries: bool,
    noted: Mutex<Noted>,
}

/// The content of a log.
#[derive(Clone, Debug, Default)]
pub struct Noted {
    /// The fields in the order in which they were read.
    pub fields: Vec<Field>,
    /// Number of further fields, which were not kept.
    pub left_out: u64,
    /// The stored bytes that the fields were expanded from.
    pub stored: Option<Span>,
}

impl FieldLog {
    /// Creates a log that keeps the first `max` fields.
    pub fn new(max: u64) -> Self {
        let noted = Noted { fields: Vec::new(), left_out: 0, stored: None };
        let noted = Mutex::new(noted);
        Self { max: to_usize(max), kept: BYTES_KEPT, has_entries: false, noted }
    }

    /// Notes the entries of long lists, such as call chains, one by one.
    #[must_use]
    pub fn with_entries(mut self) -> Self {
        self.has_entries = true;
        self
    }

    pub(super) const fn has_entries(&self) -> bool {
        self.has_entries
    }

    /// Keeps the first `kept` bytes of longer fields.
    #[must_use]
    pub fn keeping(mut self, kept: usize) -> Self {
        self.kept = kept;
        self
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a field.
    pub fn push(&self, label: impl Into<Cow<'static, str>>, span: Span, value: FieldValue) {
        let mut noted = self.noted();
        if noted.fields.len() < self.max {
            noted.fields.push(Field { label: label.into(), span, value });
        } else {
            noted.left_out = noted.left_out.saturating_add(1);
        }
    }

    /// Adds a field with its bytes.
    pub fn push_bytes(&self, label: &'static str, span: Span, bytes: &[u8]) {
        let kept = bytes.get(..self.kept).unwrap_or(bytes);
        self.push(label, span, FieldValue::Bytes(kept.to_vec()));
    }

    /// Notes the stored bytes that the fields were expanded from.
    pub fn set_stored(&self, stored: Option<Span>) {
        self.noted().stored = stored;
    }

    /// Returns the content.
    pub fn into_noted(self) -> Noted {
        self.noted.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the fields that a decoder kept, in the order in which it read them.
///
/// A field that was read before at the same place, or that overlaps a later one, was read by a
/// layout that did not fit. The same holds for a number with a later field in it, since a number
/// has no fields.
pub fn resolve(fields: impl IntoIterator<Item = Field>) -> Vec<Field> {
    let inside = fields.into_iter().filter(|field| !field.span.is_empty());
    inside.fold(Vec::new(), keep)
}

/// Adds a field to those that were read before it.
fn keep(mut kept: Vec<Field>, next: Field) -> Vec<Field> {
    while let Some(last) = kept.last() {
        let (old, new) = (last.span, next.span);
        let is_before = old.end <= new.start;
        let holds = |outer: Span, inner: Span| {
            outer.start <= inner.start && inner.end <= outer.end && outer != inner
        };
        let is_number = matches!(last.value, FieldValue::Number(_) | FieldValue::Hex(_));
        if is_before || !is_number && holds(old, new) || holds(new, old) {
            break;
        }
        kept.pop();
    }
    kept.push(next);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::cursor::{Cursor, Order};
    use crate::kit::span::Layer;

    #[test]
    fn a_cursor_notes_what_it_reads_and_an_unlogged_copy_does_not() {
        let log = FieldLog::new(3);
        let layer = Layer::stored(0);
        let mut cursor = Cursor::new(&[1, 2, 0, b'a', b'b', 9, 9], layer, 100, Order::Little);
        cursor = cursor.with_log(&log);
        assert_eq!(cursor.unlogged().u32("look"), Ok(0x6100_0201));
        assert!(cursor.u64("long").is_err());
        let _ = (cursor.u8("kind"), cursor.u16("size"), cursor.bytes(2, "name"), cursor.u8("x"));
        let field = |label: &'static str, start, end, value| Field {
            label: label.into(),
            span: Span::new(layer, start, end),
            value,
        };
        let fields = vec![
            field("kind", 100, 101, FieldValue::Number(1)),
            field("size", 101, 103, FieldValue::Number(2)),
            field("name", 103, 105, FieldValue::Bytes(b"ab".to_vec())),
        ];
        let noted = log.into_noted();
        assert_eq!((noted.fields, noted.left_out), (fields, 1));
    }
}
