//! Complete events of plain values, read in one go.
//!
//! Nearly all events are such: their ids are defined, and their values are numbers, texts, or
//! arrays of these. A sink takes such an event as a whole, so that its state is not written and
//! read again between two tokens. An event with anything else is left to the tokens, which begin it
//! anew: nothing was changed until then.

use super::parser::{Parser, State};
use super::tokens::Tokens;
use super::{CountField, Space, SymbolUse, TokenSink};
use crate::formats::apitrace::decode::usage::shapes::Shape;
use crate::formats::apitrace::layout::{TEXT_LOOKED_AT, VERSION_THREADS, detail, event, kind};

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
        sink: &mut S,
    ) {
        let is_here = self.state == State::Event && self.version >= VERSION_THREADS;
        // An array is a level of values.
        if !S::TAKES_EVENTS || !is_here || self.depth_max == 0 {
            return;
        }
        loop {
            uses.clear();
            let mut scan = Scan { tokens: *tokens, uses: &mut *uses, sink: &*sink };
            let Some(event) = scan.event() else { return };
            let ahead = scan.tokens;
            if !sink.event(&event, uses) {
                return;
            }
            self.event = event.start;
            *tokens = ahead;
        }
    }
}

/// Reads one event. Its functions return `None` for an event that is not plain.
struct Scan<'s, 'a, S> {
    tokens: Tokens<'a>,
    uses: &'s mut Vec<PlainUse<'a>>,
    sink: &'s S,
}

impl<'a, S: TokenSink> Scan<'_, 'a, S> {
    #[inline(always)]
    fn event(&mut self) -> Option<PlainEvent> {
        let start = self.tokens.position();
        let head = match self.tokens.byte().ok()? {
            event::ENTER => {
                let thread = self.tokens.plain_uint()?;
                PlainHead::Enter { thread, function: self.tokens.plain_id()? }
            }
            event::LEAVE => PlainHead::Leave { number: self.tokens.plain_uint()? },
            _ => return None,
        };
        let mut shape = Shape::default();
        loop {
            let argument = match self.tokens.byte().ok()? {
                detail::END => break,
                detail::ARG => Some(self.tokens.plain_uint()?),
                detail::RET => None,
                _ => return None,
            };
            if !Shape::holds(argument) || !shape.add(argument) {
                return None;
            }
            let (tag, id) = self.value(argument)?;
            shape.set_type(argument, tag, id);
        }
        Some(PlainEvent { start, end: self.tokens.position(), head, shape })
    }

    /// Moves past a value; returns its type and the id of its enum.
    #[inline(always)]
    fn value(&mut self, argument: Option<u64>) -> Option<(u8, u64)> {
        let at = argument.map(|_| self.tokens.position());
        let tag = self.tokens.byte().ok()?;
        let id = match tag {
            kind::ARRAY => self.array(argument)?,
            _ => self.single(tag, argument, at)?,
        };
        Some((tag, id))
    }

    fn array(&mut self, argument: Option<u64>) -> Option<u64> {
        let count = self.tokens.plain_uint()?;
        if count > CountField::ArrayLength.max() {
            return None;
        }
        for _ in 0..count {
            let tag = self.tokens.byte().ok()?;
            self.single(tag, argument, None)?;
        }
        Some(0)
    }

    /// Moves past a value without parts; returns the id of its enum. As the tokens do, it shows the
    /// enum of an argument from its type on, which lies at `at`, and others from their number on.
    #[inline(always)]
    fn single(&mut self, tag: u8, argument: Option<u64>, at: Option<u64>) -> Option<u64> {
        match tag {
            kind::NULL | kind::FALSE | kind::TRUE => {}
            kind::UINT => {
                // A result that is as large may not be converted.
                let value = self.tokens.plain_uint()?;
                if argument.is_none() && i64::try_from(value).is_err() {
                    return None;
                }
            }
            kind::SINT if argument.is_some() => _ = self.tokens.plain_uint()?,
            kind::FLOAT => _ = self.tokens.bytes(4).ok()?,
            kind::DOUBLE => _ = self.tokens.bytes(8).ok()?,
            kind::OPAQUE => {
                let at = self.tokens.position();
                let address = self.tokens.plain_uint()?;
                self.push(argument, at, UsedValue::Address(address))?;
            }
            kind::ENUM => return self.symbol(argument, at),
            kind::BITMASK => _ = self.listed(Space::Bitmask)?,
            kind::STRING => self.text(argument)?,
            kind::BLOB => {
                let len = self.tokens.plain_uint()?;
                if len > CountField::StringLength.max() {
                    return None;
                }
                self.tokens.bytes(len).ok()?;
            }
            _ => return None,
        }
        Some(0)
    }

    #[inline(always)]
    fn symbol(&mut self, argument: Option<u64>, at: Option<u64>) -> Option<u64> {
        let (symbol, number_at) = self.listed(Space::Enum)?;
        self.push(argument, at.unwrap_or(number_at), UsedValue::Symbol(symbol))?;
        Some(symbol.id)
    }

    /// Moves past the id of an enum or bitmask and a number that it may list; returns where that
    /// begins, too.
    #[inline(always)]
    fn listed(&mut self, space: Space) -> Option<(SymbolUse, u64)> {
        let id = self.tokens.plain_id()?;
        let at = self.tokens.position();
        let is_negative = match space {
            Space::Enum => match self.tokens.byte().ok()? {
                kind::SINT => true,
                kind::UINT => false,
                _ => return None,
            },
            _ => false,
        };
        let symbol = SymbolUse { space, id, is_negative, value: self.tokens.plain_uint()? };
        let is_sound = self.sink.is_defined(space, id) && self.sink.judge(symbol).is_none();
        is_sound.then_some((symbol, at))
    }

    fn text(&mut self, argument: Option<u64>) -> Option<()> {
        let len = self.tokens.plain_uint()?;
        if len > CountField::StringLength.max() {
            return None;
        }
        let at = self.tokens.position();
        let text = self.tokens.bytes(len).ok()?;
        match len <= TEXT_LOOKED_AT {
            true => self.push(argument, at, UsedValue::Text(text)),
            false => Some(()),
        }
    }

    #[inline(always)]
    fn push(&mut self, argument: Option<u64>, at: u64, value: UsedValue<'a>) -> Option<()> {
        if self.uses.len() >= USES_MAX {
            return None;
        }
        self.uses.push(PlainUse { argument, at, end: self.tokens.position(), value });
        Some(())
    }
}
