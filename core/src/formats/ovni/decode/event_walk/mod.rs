//! Events of a stream, one after the other.
//!
//! Sizes are counted in 64 bits. The walk takes the window of an event first; a malformed payload
//! cannot move the next event. At damage the walk stops, and [`EventWalk::resync`] resumes it.

mod quick;

use std::borrow::Cow;

use crate::formats::ovni::layout::{
    self, EVENT_HEADER, JUMBO, JUMBO_CODE, JUMBO_SIZE, RESERVED_FLAGS,
};
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;

/// Bytes of a payload that are decoded if it lies in several pieces. No field lies further in.
const PAYLOAD_MAX: u64 = 64 << 10;

/// One event.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// Offset of its first byte.
    pub at: u64,
    /// Length in bytes, header included.
    pub len: u64,
    /// Flags; those that the code demands if the stored ones are wrong.
    pub flags: u8,
    /// The stored flags, if the next event shows that they are wrong.
    pub wrong_flags: Option<u8>,
    /// Model, category, value.
    pub code: [u8; 3],
    /// Number of its row in the table of events; `None` for an event of an unknown code.
    pub row: Option<u16>,
    /// Nanoseconds of the machine's monotonic clock.
    pub clock: u64,
    /// The payload; for a jumbo event the bytes after its size. If they lie in several pieces, at
    /// most the first 64 KiB.
    pub payload: Cow<'a, [u8]>,
}

impl Event<'_> {
    /// Whether its payload begins with a size.
    #[inline]
    pub const fn is_jumbo(&self) -> bool {
        self.flags & JUMBO != 0
    }

    /// Returns the length of the payload in bytes, without the size of a jumbo event.
    pub const fn payload_len(&self) -> u64 {
        let size = if self.is_jumbo() { JUMBO_SIZE } else { 0 };
        self.len.saturating_sub(EVENT_HEADER.saturating_add(size))
    }

    /// Whether its flags make the payload of its code, in any version.
    pub fn has_expected_flags(&self) -> bool {
        let is_newest = self.row.is_some_and(|row| !has_other_flags(row, self.flags));
        let older = || layout::row_with_payload(self.code, self.payload_len());
        self.wrong_flags.is_none() && (is_newest || !self.is_jumbo() && older().is_some())
    }

    /// Returns the offset after its last byte.
    #[inline]
    pub const fn end(&self) -> u64 {
        self.at.saturating_add(self.len)
    }

    /// Returns the code, safe to print: `VTx`.
    pub fn name(&self) -> String {
        layout::display_code(self.code)
    }

    /// Returns the little-endian u32 at offset `at` of the payload, or 0 if it is too short.
    #[inline]
    pub fn u32_at(&self, at: usize) -> u32 {
        let field = self.payload.get(at..).and_then(|rest| rest.first_chunk::<4>());
        field.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// Returns the little-endian i32 at offset `at` of the payload, or 0 if it is too short.
    #[inline]
    pub fn i32_at(&self, at: usize) -> i32 {
        i32::from_le_bytes(self.u32_at(at).to_le_bytes())
    }

    /// Returns the little-endian i64 at offset `at` of the payload, or 0 if it is too short.
    #[inline]
    pub fn i64_at(&self, at: usize) -> i64 {
        let field = self.payload.get(at..).and_then(|rest| rest.first_chunk::<8>());
        field.map_or(0, |bytes| i64::from_le_bytes(*bytes))
    }
}

/// Bytes that are not an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset of the first byte.
    pub at: u64,
    /// Why they are not an event.
    pub cause: DamageCause,
}

/// Why bytes are not an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DamageCause {
    /// The stream ends first. The event needs this many bytes, at least its header.
    Truncated(u64),
    /// No event has this code.
    InvalidCode,
}

/// A walk over the events of a stream.
#[derive(Clone, Debug)]
pub struct EventWalk<'s, 'a> {
    source: &'s Source<'a>,
    layer: Layer,
    /// Unread bytes of one piece of the source.
    cursor: Cursor<'a>,
    /// Bit of each first byte that is the character of an unknown model.
    unknown_models: u128,
}

impl<'s, 'a> EventWalk<'s, 'a> {
    /// Starts at offset `at`.
    pub fn new(source: &'s Source<'a>, layer: Layer, at: u64) -> Self {
        let cursor = open_piece(source, layer, at);
        Self { source, layer, cursor, unknown_models: 0 }
    }

    /// Returns a walk of the same stream from `at` that accepts the same unknown models.
    #[must_use]
    pub fn restarted(&self, at: u64) -> Self {
        Self { cursor: open_piece(self.source, self.layer, at), ..self.clone() }
    }

    /// Returns a walk of the same stream from `at` that has seen nothing yet.
    #[must_use]
    pub fn reopened(&self, at: u64) -> Self {
        Self::new(self.source, self.layer, at)
    }

    /// Returns the offset of the next event.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.cursor.position()
    }

    /// Returns the stream.
    pub const fn source(&self) -> &'s Source<'a> {
        self.source
    }

    /// Returns the length of the stream in bytes.
    pub fn stream_len(&self) -> u64 {
        self.source.len()
    }

    /// Returns the file and depth of the stream.
    pub const fn layer(&self) -> Layer {
        self.layer
    }

    /// Returns the stored bytes of a span of the stream.
    pub fn bytes(&self, span: Span) -> Cow<'a, [u8]> {
        self.source.read(span.start, span.end)
    }

    /// Whether the stream consists of complete events with printable codes and ascending clocks.
    ///
    /// A quick pass over the headers: it builds no [`Event`] and looks nothing up.
    pub fn is_regular(&self) -> bool {
        let mut walk = self.clone();
        let mut last = 0_u64;
        loop {
            while let Some(clock) = skim_header(&mut walk.cursor) {
                if clock < last {
                    return false;
                }
                last = clock;
            }
            match walk.next() {
                Some(Item::Record(event)) if event.clock >= last => last = event.clock,
                Some(_) => return false,
                None => return last <= layout::CLOCK_MAX,
            }
        }
    }

    /// Reads any event, or finds damage or the end of the stream.
    #[inline(never)]
    fn next_unusual(&mut self) -> Option<Item<Event<'a>, Damage>> {
        let mut cursor = self.cursor.clone();
        let event = match read_event(&mut cursor) {
            Ok(event) => {
                self.cursor = cursor;
                event
            }
            Err(_) => match self.next_across_pieces()? {
                Ok(event) => event,
                Err(damage) => match self.restore_flags(damage.at, None) {
                    Some(event) => event,
                    None => return Some(self.stop(damage)),
                },
            },
        };
        let event = match event.row.filter(|row| has_other_flags(*row, event.flags)) {
            None => event,
            Some(_) => self.restore_flags(event.at, Some(event.end())).unwrap_or(event),
        };
        if event.row.is_none() && !self.is_plausible(&event) {
            let damage = Damage { at: event.at, cause: DamageCause::InvalidCode };
            return Some(self.stop(damage));
        }
        Some(Item::Record(event))
    }

    /// Reads an event that does not lie in one piece, or finds that the stream ends.
    #[cold]
    fn next_across_pieces(&mut self) -> Option<Result<Event<'a>, Damage>> {
        let at = self.offset();
        let left = self.source.len().saturating_sub(at);
        if left == 0 {
            return None;
        }
        let truncated =
            |needed: u64| Some(Err(Damage { at, cause: DamageCause::Truncated(needed) }));
        let bytes =
            self.source.read(at, at.saturating_add(EVENT_HEADER).saturating_add(JUMBO_SIZE));
        let mut head = Cursor::new(&bytes, self.layer, at, Order::Little);
        let Ok((flags, code, clock)) = read_header(&mut head) else {
            return truncated(EVENT_HEADER);
        };
        let len = if flags & JUMBO == 0 {
            plain_len(flags)
        } else {
            match head.u32("size") {
                Ok(size) => u64::from(size),
                Err(_) => return truncated(EVENT_HEADER.saturating_add(JUMBO_SIZE)),
            }
        };
        let start = head.position();
        let start = if flags & JUMBO == 0 { at.saturating_add(EVENT_HEADER) } else { start };
        let end = start.saturating_add(len);
        let needed = end.saturating_sub(at);
        if needed > left {
            return truncated(needed);
        }
        let payload = self.source.read(start, end.min(start.saturating_add(PAYLOAD_MAX)));
        self.cursor = open_piece(self.source, self.layer, end);
        let row = layout::row_index(code);
        Some(Ok(Event { at, len: needed, flags, wrong_flags: None, code, row, clock, payload }))
    }

    /// Reads an event with the flags that its code demands, if the next event begins where these
    /// flags end it, and not at `stored_end`, where the stored flags end it.
    #[cold]
    fn restore_flags(&mut self, at: u64, stored_end: Option<u64>) -> Option<Event<'a>> {
        let (flags, code, clock) = self.peek_header(at)?;
        let row = layout::row_index(code)?;
        let wanted = expected_flags(row);
        let is_older =
            flags & JUMBO == 0 && layout::row_with_payload(code, plain_len(flags)).is_some();
        if !has_other_flags(row, flags) || is_older || flags & RESERVED_FLAGS != 0 {
            return None;
        }
        let mut start = at.saturating_add(EVENT_HEADER);
        let mut len = plain_len(wanted);
        if wanted & JUMBO != 0 {
            let size = self.source.read(start, start.saturating_add(JUMBO_SIZE));
            len = u64::from(u32::from_le_bytes(*size.first_chunk::<4>()?));
            start = start.saturating_add(JUMBO_SIZE);
        }
        let end = start.saturating_add(len);
        let is_next = |at: u64| {
            let next = self.peek_header(at).filter(|(.., next)| *next >= clock);
            let next = next.and_then(|(flags, code, _)| Some((layout::row_index(code)?, flags)));
            next.is_some_and(|(row, flags)| !has_other_flags(row, flags))
        };
        let ends_here = end == self.source.len() || is_next(end);
        if !ends_here || stored_end.is_some_and(|end| end == self.source.len() || is_next(end)) {
            return None;
        }
        let payload = self.source.read(start, end.min(start.saturating_add(PAYLOAD_MAX)));
        self.cursor = open_piece(self.source, self.layer, end);
        let (len, row) = (end.saturating_sub(at), Some(row));
        let wrong_flags = Some(flags);
        Some(Event { at, len, flags: wanted, wrong_flags, code, row, clock, payload })
    }

    /// Reads a header anywhere.
    fn peek_header(&self, at: u64) -> Option<(u8, [u8; 3], u64)> {
        let bytes = self.source.read(at, at.saturating_add(EVENT_HEADER));
        read_header(&mut Cursor::new(&bytes, self.layer, at, Order::Little)).ok()
    }

    /// Whether an event of an unknown code can be an event at all.
    ///
    /// Its code is printable, and its model is known, or was seen before, or another code follows:
    /// bytes that are read from a wrong offset can look like the event of an unknown model.
    #[cold]
    fn is_plausible(&mut self, event: &Event<'_>) -> bool {
        let [first, ..] = event.code;
        let model = 1_u128.checked_shl(u32::from(first)).unwrap_or(0);
        if !layout::is_printable(event.code) {
            return self.is_flipped(event);
        }
        if layout::model_index(first).is_some() || self.unknown_models & model != 0 {
            return true;
        }
        let next = self.source.read(event.end(), event.end().saturating_add(4));
        let followed = match *next {
            [_, model, category, value] => layout::is_printable([model, category, value]),
            _ => true,
        };
        if followed {
            self.unknown_models |= model;
        }
        followed
    }

    /// Whether one inverted bit makes the code of an event with this payload, and the next event
    /// begins after it.
    fn is_flipped(&self, event: &Event<'_>) -> bool {
        let fits = |code: [u8; 3], flags: u8| {
            layout::row_index(code).is_some_and(|row| !has_other_flags(row, flags))
        };
        let next = self.peek_header(event.end());
        let is_next =
            next.is_some_and(|(flags, code, clock)| clock >= event.clock && fits(code, flags));
        let is_followed = is_next || event.end() == self.source.len();
        is_followed && layout::near_codes(event.code).any(|code| fits(code, event.flags))
    }

    /// Stops the walk: without a resync it yields nothing more.
    #[cold]
    fn stop(&mut self, damage: Damage) -> Item<Event<'a>, Damage> {
        self.cursor = open_piece(self.source, self.layer, self.source.len());
        Item::Damage(damage)
    }
}

impl<'a> Iterator for EventWalk<'_, 'a> {
    type Item = Item<Event<'a>, Damage>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match quick::next_usual(&mut self.cursor) {
            Some(event) => Some(Item::Record(event)),
            None => self.next_unusual(),
        }
    }
}

/// Opens the piece of `source` that holds offset `at`.
fn open_piece<'a>(source: &Source<'a>, layer: Layer, at: u64) -> Cursor<'a> {
    Cursor::new(source.run(at), layer, at, Order::Little)
}

/// One event header: flags, code, clock.
#[inline]
fn read_header(cursor: &mut Cursor<'_>) -> Result<(u8, [u8; 3], u64), ReadError> {
    let [flags, model, category, value, clock @ ..] = cursor.array::<12>("event")?;
    Ok((flags, [model, category, value], u64::from_le_bytes(clock)))
}

/// Passes over an event of one piece without a jumbo payload, and returns its clock. Leaves other
/// events, and codes that are not printable, to [`EventWalk::next`].
#[inline]
fn skim_header(cursor: &mut Cursor<'_>) -> Option<u64> {
    let mut ahead = cursor.clone();
    let (flags, code, clock) = read_header(&mut ahead).ok()?;
    if flags & JUMBO != 0 || !layout::is_printable(code) {
        return None;
    }
    if flags != 0 {
        ahead.bytes(plain_len(flags), "payload").ok()?;
    }
    *cursor = ahead;
    Some(clock)
}

/// One event: 12 bytes, then the payload.
#[inline]
fn read_event<'a>(cursor: &mut Cursor<'a>) -> Result<Event<'a>, ReadError> {
    let at = cursor.position();
    let (flags, code, clock) = read_header(cursor)?;
    let (len, head) = if flags & JUMBO == 0 {
        (plain_len(flags), EVENT_HEADER)
    } else {
        (u64::from(cursor.u32("size")?), EVENT_HEADER.saturating_add(JUMBO_SIZE))
    };
    let payload = Cow::Borrowed(cursor.bytes(len, "payload")?);
    let row = layout::row_index(code);
    let len = head.saturating_add(len);
    Ok(Event { at, len, flags, wrong_flags: None, code, row, clock, payload })
}

/// The flags that the code of an event demands.
#[inline]
fn expected_flags(row: u16) -> u8 {
    let flags = layout::find_summary(row).map_or(0, |summary| summary.flags);
    if flags & JUMBO == 0 { flags } else { JUMBO | JUMBO_CODE }
}

/// Whether the flags of an event make another payload than its code demands.
#[inline]
fn has_other_flags(row: u16, flags: u8) -> bool {
    let wanted = expected_flags(row);
    let mask = if wanted & JUMBO == 0 { JUMBO | 0x0f } else { JUMBO };
    (flags ^ wanted) & mask != 0
}

/// Bytes of a plain payload by the payload code.
const PLAIN_LEN: [u64; 16] = [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

#[inline]
fn plain_len(flags: u8) -> u64 {
    PLAIN_LEN.get(usize::from(flags & 0x0f)).copied().unwrap_or(0)
}

#[cfg(test)]
pub(in crate::formats::ovni) mod tests {
    use super::*;

    fn event(flags: u8, code: &[u8; 3], clock: u64, rest: &[u8]) -> Vec<u8> {
        [&[flags][..], code, &clock.to_le_bytes(), rest].concat()
    }

    /// A stream of four events.
    pub(in crate::formats::ovni) fn stream() -> Vec<u8> {
        [
            &b"ovni\x01\0\0\0"[..],
            &event(0, b"OU[", 1, b""),
            &event(3, b"OAs", 2, &[0; 4]),
            &event(0x13, b"VYc", 3, b"\x06\0\0\0\x01\0\0\0a\0"),
            &event(0x0f, b"OHx", 4, &[0; 16]),
        ]
        .concat()
    }

    fn walk_all(source: &Source<'_>) -> Vec<(u64, u64, u64, Vec<u8>)> {
        let walk = EventWalk::new(source, Layer::stored(0), 8);
        let records = walk.map_while(|item| match item {
            Item::Record(event) => Some(event),
            Item::Damage(_) => None,
        });
        records.map(|event| (event.at, event.len, event.clock, event.payload.to_vec())).collect()
    }

    #[test]
    fn events_in_pieces_equal_those_of_the_whole_stream() {
        let bytes = stream();
        let whole = walk_all(&Source::new(&bytes));
        let sizes: Vec<u64> = whole.iter().map(|event| event.1).collect();
        assert_eq!(sizes, [12, 16, 22, 28]);
        for size in 1..bytes.len() {
            let pieces = Source::from_pieces(bytes.chunks(size));
            assert_eq!(walk_all(&pieces), whole, "pieces of {size}");
        }
    }

    #[test]
    fn a_size_after_the_end_is_damage_and_never_wraps() {
        for size in [7_u32, 0x8000_0000, 0xffff_fff0, u32::MAX] {
            let bytes = event(0x13, b"VYc", 3, &[&size.to_le_bytes()[..], b"123456"].concat());
            let source = Source::new(&bytes);
            let mut walk = EventWalk::new(&source, Layer::stored(0), 0);
            let cause = DamageCause::Truncated(16 + u64::from(size));
            assert!(
                matches!(walk.next(), Some(Item::Damage(Damage { at: 0, cause: c })) if c == cause)
            );
            assert!(walk.next().is_none(), "a walk stops at damage");
        }
    }
}
