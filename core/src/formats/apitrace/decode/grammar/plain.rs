//! Complete events of plain values, read in one go.
//!
//! Nearly all events are such: their ids are defined, and their values are numbers, texts, or
//! arrays of these. A sink takes such an event as a whole, so that its state is not written and
//! read again between two tokens. An event with anything else is left to the tokens, which begin it
//! anew: nothing was changed until then. Most calls are left right after they were entered, and
//! without a value: the sink takes such a call as a whole, so that it never counts as open.

use super::bare_leave::BareLeave;
use super::parser::{Parser, State};
use super::tokens::{Tokens, plain_uint};
use super::{CountField, Space, SymbolUse, TokenSink};
use crate::formats::apitrace::decode::repeats::Number;
use crate::formats::apitrace::decode::usage::shape::{Shape, type_of};
use crate::formats::apitrace::layout::{
    ID_MAX, TEXT_LOOKED_AT, VERSION_THREADS, detail, event, kind,
};
use crate::kit::num::{to_u64, to_usize};

/// Values of an event that are passed with it; an event with more is read token by token.
const USES_MAX: usize = 256;

/// The beginning of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainHead {
    /// A call begins.
    Enter {
        /// Its thread.
        thread: u64,
        /// The id of its function.
        function: u64,
    },
    /// A call ends.
    Leave {
        /// Its number.
        number: u64,
    },
}

/// An event without its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainEvent {
    /// Where it begins in the stream.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
    /// Its beginning.
    pub head: PlainHead,
    /// Its arguments, which ascend.
    pub shape: Shape,
    /// The highest index of an argument and one, or 0 without arguments.
    pub index_end: u64,
}

/// A value of an event that may repeat, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainUse<'a> {
    /// The index of the argument; `None` for the result.
    pub argument: Option<u64>,
    /// Where its bytes begin in the stream.
    pub at: u64,
    /// Where they end.
    pub end: u64,
    /// The value.
    pub value: UsedValue<'a>,
}

/// A value that may repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsedValue<'a> {
    /// An address.
    Address(u64),
    /// A value of an enum, which its signature may list.
    Symbol(SymbolUse),
    /// A number.
    Number(Number),
    /// A text of at most [`TEXT_LOOKED_AT`] bytes.
    Text(&'a [u8]),
}

impl Parser {
    /// Reads as many plain events as follow one another and the sink takes.
    #[inline(always)]
    pub(super) fn read_plain_events<'a, S: TokenSink>(
        &mut self,
        tokens: &mut Tokens<'a>,
        uses: &mut Vec<PlainUse<'a>>,
        next_leave: &mut BareLeave,
        sink: &mut S,
    ) {
        let is_here = self.state == State::Event && self.version >= VERSION_THREADS;
        // An array is a level of values.
        if !S::TAKES_EVENTS || !is_here || self.depth_max == 0 {
            return;
        }
        let (bytes, start) = (tokens.rest(), tokens.position());
        let mut scan = Scan { bytes, at: 0, start, function: None, uses };
        loop {
            let before = scan.at;
            let Some(latest) = scan.take(next_leave, sink) else {
                _ = tokens.skip_at_most(to_u64(before));
                return;
            };
            self.event = latest;
        }
    }
}

/// Reads events. Its functions return `None` for an event that is not plain.
struct Scan<'s, 'a> {
    bytes: &'a [u8],
    /// The index of the next byte, at most the number of bytes: adding to it never wraps.
    at: usize,
    /// Where the bytes begin in the stream.
    start: u64,
    /// The function that the event enters.
    function: Option<u64>,
    uses: &'s mut Vec<PlainUse<'a>>,
}

impl<'a> Scan<'_, 'a> {
    /// Reads an event, or an enter and a leave, and passes them on; returns where the last of them
    /// begins.
    #[inline(always)]
    fn take<S: TokenSink>(&mut self, next_leave: &mut BareLeave, sink: &mut S) -> Option<u64> {
        self.uses.clear();
        let event = self.event(sink)?;
        if self.function.is_some() {
            let enter_end = self.at;
            next_leave.turn_to(sink.next_call());
            let leave = self.bare_leave(next_leave);
            if let Some(leave) = leave.filter(|leave| sink.call(&event, *leave, self.uses)) {
                return Some(leave.0);
            }
            self.at = enter_end;
        }
        sink.event(&event, self.uses).then_some(event.start)
    }

    #[inline(always)]
    fn event<S: TokenSink>(&mut self, sink: &S) -> Option<PlainEvent> {
        let start = self.position();
        let head = match self.byte()? {
            event::ENTER => {
                let (thread, function) = (self.uint()?, self.id()?);
                self.function = Some(function);
                PlainHead::Enter { thread, function }
            }
            event::LEAVE => {
                self.function = None;
                PlainHead::Leave { number: self.uint()? }
            }
            _ => return None,
        };
        let (mut shape, mut index_end) = (Shape::default(), 0);
        loop {
            match self.byte()? {
                detail::END => break,
                detail::ARG => {
                    // An index of several bytes is not plain.
                    let index = u64::from(self.byte()?);
                    if index < index_end || !Shape::holds(index) {
                        return None;
                    }
                    index_end = index.wrapping_add(1);
                    let value_type = self.value(Some(index), sink)?;
                    shape.push(index, value_type);
                }
                detail::RET => {
                    let value_type = self.value(None, sink)?;
                    shape.push_result(value_type);
                }
                _ => return None,
            }
        }
        Some(PlainEvent { start, end: self.position(), head, shape, index_end })
    }

    /// Reads the leave of a call without a value; returns where it begins and ends.
    #[inline(always)]
    fn bare_leave(&mut self, expected: &BareLeave) -> Option<(u64, u64)> {
        let start = self.position();
        let len = expected.find(self.bytes.get(self.at..)?)?;
        self.at = self.at.wrapping_add(len);
        Some((start, self.position()))
    }

    /// Moves past a value; returns its type.
    #[inline(always)]
    fn value<S: TokenSink>(&mut self, argument: Option<u64>, sink: &S) -> Option<u64> {
        let at = argument.map(|_| self.position());
        match self.byte()? {
            kind::ARRAY => {
                let mut aside = self.aside();
                let value_type = aside.array(argument, sink)?;
                self.at = aside.at;
                Some(value_type)
            }
            tag => self.single(tag, (argument, true), at, sink),
        }
    }

    /// A copy at the same place, for functions that are not inlined: the index of a scan that they
    /// never see stays in a register.
    #[inline(always)]
    fn aside(&mut self) -> Scan<'_, 'a> {
        let Self { bytes, at, start, function, .. } = *self;
        Scan { bytes, at, start, function, uses: &mut *self.uses }
    }

    #[inline(never)]
    fn array<S: TokenSink>(&mut self, argument: Option<u64>, sink: &S) -> Option<u64> {
        let count = self.uint()?;
        if count > CountField::ArrayLength.max() {
            return None;
        }
        for left in (0..count).rev() {
            let tag = self.byte()?;
            self.single(tag, (argument, left == 0), None, sink)?;
        }
        Some(type_of(kind::ARRAY, 0))
    }

    /// Moves past a value without parts; returns its type. As the tokens do, it shows the enum of
    /// an argument from its type on, which lies at `at`, and others from their number on, and
    /// numbers only if the value `is_last` in its array.
    #[inline(always)]
    fn single<S: TokenSink>(
        &mut self,
        tag: u8,
        (argument, is_last): (Option<u64>, bool),
        at: Option<u64>,
        sink: &S,
    ) -> Option<u64> {
        // Each arm names its type, so that the type is not looked at twice.
        match tag {
            kind::FLOAT => {
                let read = |bytes| Number::Float(u32::from_le_bytes(bytes));
                self.fraction(read, (argument, is_last), sink).map(|()| type_of(tag, 0))
            }
            kind::UINT => {
                // A result that is as large may not be converted.
                let before = self.at;
                let value = self.uint()?;
                if is_last && self.takes_numbers(sink) {
                    let len = self.at.wrapping_sub(before);
                    self.push_number(argument, len, Number::Unsigned(value))?;
                }
                let is_large = argument.is_none() && i64::try_from(value).is_err();
                (!is_large).then_some(type_of(kind::UINT, 0))
            }
            kind::SINT if argument.is_some() => self.uint().map(|_| type_of(kind::SINT, 0)),
            kind::ENUM => {
                let (symbol, number_at) = self.listed(Space::Enum, sink)?;
                if self.function.is_none_or(|function| sink.takes_symbols(function)) {
                    let at = at.unwrap_or(number_at);
                    self.push(argument, at, UsedValue::Symbol(symbol))?;
                }
                Some(type_of(kind::ENUM, symbol.id))
            }
            kind::BITMASK => {
                self.listed(Space::Bitmask, sink)?;
                Some(type_of(kind::BITMASK, 0))
            }
            kind::OPAQUE => {
                let at = self.position();
                let address = self.uint()?;
                self.push(argument, at, UsedValue::Address(address))?;
                Some(type_of(kind::OPAQUE, 0))
            }
            kind::DOUBLE => {
                let read = |bytes| Number::Double(u64::from_le_bytes(bytes));
                self.fraction(read, (argument, is_last), sink).map(|()| type_of(tag, 0))
            }
            kind::NULL | kind::FALSE | kind::TRUE => Some(type_of(tag, 0)),
            kind::STRING | kind::BLOB => {
                let mut aside = self.aside();
                let value_type = aside.bytes_value(tag, argument)?;
                self.at = aside.at;
                Some(value_type)
            }
            _ => None,
        }
    }

    /// Moves past a fraction of `N` bytes; `None` if it is cut.
    #[inline(always)]
    fn fraction<S: TokenSink, const N: usize>(
        &mut self,
        read: impl Fn([u8; N]) -> Number,
        (argument, is_last): (Option<u64>, bool),
        sink: &S,
    ) -> Option<()> {
        let start = self.at;
        self.skip(N)?;
        if is_last && self.takes_numbers(sink) {
            let bytes = *self.bytes.get(start..)?.first_chunk()?;
            self.push_number(argument, N, read(bytes))?;
        }
        Some(())
    }

    /// Moves past a string or a blob; returns its type.
    #[inline(never)]
    fn bytes_value(&mut self, tag: u8, argument: Option<u64>) -> Option<u64> {
        let len = self.uint()?;
        if len > CountField::StringLength.max() {
            return None;
        }
        let at = self.position();
        let bytes = self.bytes.get(self.at..)?.get(..to_usize(len))?;
        self.at = self.at.wrapping_add(bytes.len());
        if tag == kind::STRING && len <= TEXT_LOOKED_AT {
            self.push(argument, at, UsedValue::Text(bytes))?;
        }
        Some(type_of(tag, 0))
    }

    /// Moves past the id of an enum or bitmask and a number that it may list; returns where that
    /// begins, too.
    #[inline(always)]
    fn listed<S: TokenSink>(&mut self, space: Space, sink: &S) -> Option<(SymbolUse, u64)> {
        let id = self.id()?;
        let at = self.position();
        let is_negative = match space {
            Space::Enum => match self.byte()? {
                kind::SINT => true,
                kind::UINT => false,
                _ => return None,
            },
            _ => false,
        };
        let symbol = SymbolUse { space, id, is_negative, value: self.uint()? };
        let is_sound = sink.is_defined(space, id) && sink.judge(symbol).is_none();
        is_sound.then_some((symbol, at))
    }

    #[inline(always)]
    fn takes_numbers<S: TokenSink>(&self, sink: &S) -> bool {
        self.function.is_none_or(|function| sink.takes_numbers(function))
    }

    /// Passes a number on, whose `len` bytes end here.
    #[inline(never)]
    fn push_number(&mut self, argument: Option<u64>, len: usize, number: Number) -> Option<()> {
        let at = self.position().wrapping_sub(to_u64(len));
        self.push(argument, at, UsedValue::Number(number))
    }

    #[inline(always)]
    fn push(&mut self, argument: Option<u64>, at: u64, value: UsedValue<'a>) -> Option<()> {
        if self.uses.len() >= USES_MAX {
            return None;
        }
        let end = self.position();
        self.uses.push(PlainUse { argument, at, end, value });
        Some(())
    }

    /// Offset of the next byte in the stream.
    #[inline(always)]
    fn position(&self) -> u64 {
        self.start.wrapping_add(to_u64(self.at))
    }

    #[inline(always)]
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at = self.at.wrapping_add(1);
        Some(byte)
    }

    #[inline(always)]
    fn skip(&mut self, len: usize) -> Option<()> {
        let at = self.at.wrapping_add(len);
        self.at = at;
        (at <= self.bytes.len()).then_some(())
    }

    /// An integer without a warning.
    #[inline(always)]
    fn uint(&mut self) -> Option<u64> {
        let byte = *self.bytes.get(self.at)?;
        if byte < 0x80 {
            self.at = self.at.wrapping_add(1);
            return Some(u64::from(byte));
        }
        let (value, len) = plain_uint(self.bytes.get(self.at..)?)?;
        self.at = self.at.wrapping_add(len);
        Some(value)
    }

    /// An id without a warning that readers have room for.
    #[inline(always)]
    fn id(&mut self) -> Option<u64> {
        self.uint().filter(|id| *id <= ID_MAX)
    }
}
