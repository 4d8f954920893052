//! Bounded, labelled reading.
//!
//! A cursor is the unread slice and the end of its window, so that position and slice cannot drift
//! apart. Every read names the field it reads. A short read consumes nothing and returns the number
//! of missing bytes.

use std::fmt;

use crate::kit::field_log::{FieldLog, FieldValue};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::{Layer, Span};
use crate::kit::steps;
use crate::kit::words::plural;

/// Byte order of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl Order {
    /// Returns the number in eight bytes of this order.
    pub fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Little => u64::from_le_bytes(bytes),
            Self::Big => u64::from_be_bytes(bytes),
        }
    }

    /// Returns the eight bytes of a number in this order.
    pub const fn bytes(self, number: u64) -> [u8; 8] {
        match self {
            Self::Little => number.to_le_bytes(),
            Self::Big => number.to_be_bytes(),
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Little => "little-endian",
            Self::Big => "big-endian",
        })
    }
}

/// A read that found too few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The field that was to be read.
    pub label: &'static str,
    /// The rest of the window, from the position of the read.
    pub left: Span,
    /// Bytes the field needs.
    pub needed: u64,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { label, left, needed } = self;
        write!(
            f,
            "truncated {label}: {} of {} at {:#x}",
            left.len(),
            plural(*needed, "byte"),
            left.start
        )
    }
}

impl std::error::Error for ReadError {}

/// Bytes that follow the last field of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trailing {
    /// The bytes.
    pub span: Span,
}

impl fmt::Display for Trailing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trailing = plural(self.span.len(), "trailing byte");
        write!(f, "{trailing} at {:#x}", self.span.start)
    }
}

impl std::error::Error for Trailing {}

/// Reads fields from a window of bytes at a known position.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    end: u64,
    layer: Layer,
    order: Order,
    /// Where the fields are noted, if a map is drawn.
    log: Option<&'a FieldLog>,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor over `bytes`, whose first byte is at `start` of `layer`.
    pub fn new(bytes: &'a [u8], layer: Layer, start: u64, order: Order) -> Self {
        let end = start.saturating_add(to_u64(bytes.len()));
        Self { rest: bytes, end, layer, order, log: None }
    }

    /// Returns the cursor with a log that notes every field that it reads.
    #[must_use]
    pub fn with_log<'b>(self, log: &'b FieldLog) -> Cursor<'b>
    where
        'a: 'b,
    {
        Cursor { log: Some(log), ..self }
    }

    /// Returns a copy that notes nothing, for a look ahead.
    #[must_use]
    pub fn unlogged(&self) -> Self {
        Self { log: None, ..self.clone() }
    }

    /// Returns the byte order.
    #[inline]
    pub const fn order(&self) -> Order {
        self.order
    }

    /// Returns a copy that reads numbers in another byte order.
    #[must_use]
    pub fn in_order(&self, order: Order) -> Self {
        Self { order, ..self.clone() }
    }

    /// Returns the absolute offset of the next byte.
    #[inline]
    pub fn position(&self) -> u64 {
        self.end.saturating_sub(to_u64(self.rest.len()))
    }

    /// Returns the number of unread bytes.
    #[inline]
    pub fn left(&self) -> u64 {
        to_u64(self.rest.len())
    }

    /// Returns whether every byte was read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the unread bytes.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the span from `start` to the position.
    pub fn since(&self, start: u64) -> Span {
        Span::new(self.layer, start, self.position())
    }

    /// Returns the span of the unread bytes.
    pub fn ahead(&self) -> Span {
        Span::new(self.layer, self.position(), self.end)
    }

    /// Reads the next `len` bytes.
    #[inline]
    pub fn bytes(&mut self, len: u64, label: &'static str) -> Result<&'a [u8], ReadError> {
        steps::count(1);
        match self.rest.split_at_checked(to_usize(len)) {
            Some((bytes, rest)) => {
                self.rest = rest;
                self.note_bytes(bytes, label);
                Ok(bytes)
            }
            None => Err(ReadError { label, left: self.ahead(), needed: len }),
        }
    }

    /// Reads the next `N` bytes as an array.
    #[inline]
    pub fn array<const N: usize>(&mut self, label: &'static str) -> Result<[u8; N], ReadError> {
        let array = self.take(label)?;
        self.note_bytes(&array, label);
        Ok(array)
    }

    /// Notes the bytes that were just read.
    #[inline]
    fn note_bytes(&self, bytes: &[u8], label: &'static str) {
        if let Some(log) = self.log {
            log.push_bytes(label, self.before(bytes.len()), bytes);
        }
    }

    /// Whether a log notes what is read.
    #[inline]
    pub const fn has_log(&self) -> bool {
        self.log.is_some()
    }

    /// Whether a log notes the entries of long lists.
    #[inline]
    pub fn has_entries(&self) -> bool {
        self.log.is_some_and(FieldLog::has_entries)
    }

    /// Notes the number of `len` bytes that was just read.
    #[inline]
    fn note_number(&self, number: u64, len: usize, label: &'static str) {
        if let Some(log) = self.log {
            log.push(label, self.before(len), FieldValue::Number(number));
        }
    }

    /// Returns the span of the last `len` bytes before the position.
    fn before(&self, len: usize) -> Span {
        Span::new(self.layer, self.position().saturating_sub(to_u64(len)), self.position())
    }

    /// Takes the next `N` bytes.
    #[inline]
    fn take<const N: usize>(&mut self, label: &'static str) -> Result<[u8; N], ReadError> {
        steps::count(1);
        match self.rest.split_first_chunk::<N>() {
            Some((array, rest)) => {
                self.rest = rest;
                Ok(*array)
            }
            None => Err(ReadError { label, left: self.ahead(), needed: to_u64(N) }),
        }
    }

    /// Returns a cursor over the next `len` bytes and moves past them: frame first, then body.
    #[inline]
    pub fn window(&mut self, len: u64, label: &'static str) -> Result<Self, ReadError> {
        let (start, log) = (self.position(), self.log);
        let bytes = self.bytes(len, label)?;
        Ok(Self { log, ..Self::new(bytes, self.layer, start, self.order) })
    }

    /// Returns a cursor as [`Cursor::window`] does, over bytes that are not a field of their own.
    #[inline]
    pub fn part(&mut self, len: u64, label: &'static str) -> Result<Self, ReadError> {
        let part = self.unlogged().window(len, label)?;
        // The bytes were there.
        let (rest, log) = (self.rest.get(to_usize(len)..).unwrap_or_default(), self.log);
        self.rest = rest;
        Ok(Self { log, ..part })
    }

    /// Reads one byte.
    #[inline]
    pub fn u8(&mut self, label: &'static str) -> Result<u8, ReadError> {
        let [byte] = self.take(label)?;
        self.note_number(byte.into(), 1, label);
        Ok(byte)
    }

    /// Reads two bytes in the byte order of the recording.
    #[inline]
    pub fn u16(&mut self, label: &'static str) -> Result<u16, ReadError> {
        let bytes = self.take(label)?;
        let number = match self.order {
            Order::Little => u16::from_le_bytes(bytes),
            Order::Big => u16::from_be_bytes(bytes),
        };
        self.note_number(number.into(), 2, label);
        Ok(number)
    }

    /// Reads four bytes in the byte order of the recording.
    #[inline]
    pub fn u32(&mut self, label: &'static str) -> Result<u32, ReadError> {
        let bytes = self.take(label)?;
        let number = match self.order {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        };
        self.note_number(number.into(), 4, label);
        Ok(number)
    }

    /// Reads eight bytes in the byte order of the recording.
    #[inline]
    pub fn u64(&mut self, label: &'static str) -> Result<u64, ReadError> {
        let bytes = self.take(label)?;
        let number = match self.order {
            Order::Little => u64::from_le_bytes(bytes),
            Order::Big => u64::from_be_bytes(bytes),
        };
        self.note_number(number, 8, label);
        Ok(number)
    }

    /// Reads four bytes that people read in hexadecimal.
    pub fn hex32(&mut self, label: &'static str) -> Result<u32, ReadError> {
        let number = self.unlogged().u32(label)?;
        self.skip_noting(4, label, number.into());
        Ok(number)
    }

    /// Reads eight bytes that people read in hexadecimal.
    pub fn hex64(&mut self, label: &'static str) -> Result<u64, ReadError> {
        let number = self.unlogged().u64(label)?;
        self.skip_noting(8, label, number);
        Ok(number)
    }

    /// Moves past `len` bytes that are there, and notes them as a number.
    fn skip_noting(&mut self, len: usize, label: &'static str, number: u64) {
        self.rest = self.rest.get(len..).unwrap_or_default();
        if let Some(log) = self.log {
            log.push(label, self.before(len), FieldValue::Hex(number));
        }
    }

    /// Moves past `count` items of `size` bytes; a product that overflows is a short read.
    #[inline]
    pub fn skip(&mut self, count: u64, size: u64, label: &'static str) -> Result<(), ReadError> {
        self.bytes(count.saturating_mul(size), label).map(drop)
    }

    /// Checks that every byte of the window was read.
    ///
    /// # Errors
    ///
    /// The span of the bytes that follow the last field.
    pub fn finish(&self) -> Result<(), Trailing> {
        if self.is_empty() { Ok(()) } else { Err(Trailing { span: self.ahead() }) }
    }

    /// Returns the bytes up to the next NUL, without it, or to the end of the window.
    pub fn until_nul(&self) -> &'a [u8] {
        self.rest.split(|byte| *byte == 0).next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_read_consumes_nothing_and_counts_the_missing_bytes() {
        let mut cursor = Cursor::new(&[1, 2, 3], Layer::stored(0), 100, Order::Little);
        assert_eq!(cursor.u8("first"), Ok(1));
        let error = cursor.u32("size").unwrap_err();
        assert_eq!(error.to_string(), "truncated size: 2 of 4 bytes at 0x65");
        assert_eq!(cursor.position(), 101);
        assert_eq!(cursor.u16("both"), Ok(0x0302));
        assert!(cursor.is_empty());
    }

    #[test]
    fn a_structure_is_finished_when_every_byte_is_read() {
        let mut cursor = Cursor::new(&[1, 2], Layer::stored(0), 8, Order::Little);
        assert_eq!(cursor.finish().unwrap_err().to_string(), "2 trailing bytes at 0x8");
        assert_eq!(cursor.u16("both"), Ok(0x0201));
        assert_eq!(cursor.finish(), Ok(()));
    }

    #[test]
    fn a_window_ends_after_its_length() {
        let mut cursor = Cursor::new(&[0, 1, 0, 2, 9], Layer::stored(0), 0, Order::Big);
        let mut window = cursor.window(4, "window").unwrap();
        assert_eq!((window.u16("a"), window.u16("b")), (Ok(1), Ok(2)));
        assert!(window.u8("c").is_err());
        assert_eq!(cursor.position(), 4);
    }

    #[test]
    fn a_product_that_overflows_is_a_short_read() {
        let mut cursor = Cursor::new(&[0; 8], Layer::stored(0), 0, Order::Big);
        assert!(cursor.skip(u64::MAX, 16, "entries").is_err());
        assert_eq!(cursor.left(), 8);
    }
}
