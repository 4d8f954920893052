//! The grammar of the stream, one token at a time, without recursion.
//!
//! ```text
//! stream   := version [semantic version, (name value)*, ""] event*
//! event    := 00 [thread] function detail* 00  |  01 call detail* 00
//! function := id [name, count, argument name*]               the bracket at the first occurrence
//! detail   := 01 index value | 02 value | 03 thread | 04 count frame* | 05 flags
//! value    := 00 | 01 | 02 | 03 uint | 04 uint | 05 f32 | 06 f64 | 07 string | 08 string
//!           | 09 enum value | 0a bitmask uint | 0b count value* | 0c struct value* | 0d uint
//!           | 0e value value | 0f count uint*
//! enum     := id [count, (name (03|04) uint)*]               version >= 3: then (03|04) uint
//!           | id [name (03|04) uint]                         version < 3, and nothing follows
//! bitmask  := id [count, (name uint)*]        struct := id [name, count, member name*]
//! frame    := id [(01..03 string | 04..05 uint)*, 00]
//! ```
//!
//! [`Parser`] takes a token whole or not at all, so that the bytes may come in pieces of any size;
//! it counts down strings that are too long to be held. It passes the tokens to a [`TokenSink`],
//! which knows the ids that were defined before: the grammar depends on them.
//!
//! - `tokens`: the unread bytes and the integers in them
//! - `parser`: events and their details
//! - `plain`: complete events of the commonest values, for sinks that take them
//! - `bare_leave`: the bytes of the leave that most enters are followed by
//! - `value`, `definition`: the values of details, and definitions with the header of the stream
//!
//! Sources: the user's document; apitrace's `lib/trace/trace_parser.cpp` and `trace_writer.cpp`.
//! Where they disagree the writer wins: values of an enum signature are typed, those of a bitmask
//! are not.

mod bare_leave;
mod definition;
mod parser;
mod plain;
mod tokens;
mod value;

pub use parser::{ParseStop, Parser};
pub use plain::{PlainEvent, PlainHead, PlainUse, UsedValue};

use super::repeats::Number;
use crate::formats::apitrace::layout::{
    BYTES_MAX, COUNT_MAX, ITEMS_MAX, LOST_ARGUMENT_MAX, NAME_MAX,
};
use crate::model::limits::Limit;

/// The namespaces of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// Functions.
    Function,
    /// Structures.
    Struct,
    /// Enumerations.
    Enum,
    /// Bit masks.
    Bitmask,
    /// Stack frames.
    Frame,
}

impl Space {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Function, Self::Struct, Self::Enum, Self::Bitmask, Self::Frame];

    /// Returns the word for messages and paths.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Bitmask => "bitmask",
            Self::Frame => "frame",
        }
    }
}

/// Why the bytes cannot be a stream from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamError {
    /// The tag of an event is neither 0 nor 1.
    EventTag(u8),
    /// Unknown tag of a call's detail.
    DetailTag(u8),
    /// Unknown type of a value.
    ValueType(u8),
    /// Unknown tag of a stack frame's detail.
    FrameTag(u8),
    /// The value of a name in an enum signature is not an integer but of this type.
    EnumType(u8),
    /// A count, a length or an index is out of range; its value.
    Count(CountField, u64),
    /// A string is longer than the rest of the stream, by so many bytes.
    StringPastEnd(u64),
    /// An id that no reader has room for.
    Id(Space, u64),
    /// An integer without a last byte.
    UnterminatedInteger,
    /// Values inside values, deeper than this limit.
    Depth(u64),
    /// Unknown version of the stream.
    Version(u64),
    /// The properties of the header are not text, too long or too many.
    Properties,
    /// The stream has no header: it begins somewhere in its middle.
    MissingHeader,
    /// A thread's number is out of range.
    Thread(u64),
    /// More items than a limit of the user allows, and its value.
    Limit(&'static Limit, u64),
    /// Invalid name in a definition.
    Name(Space),
    /// Several events in a row contradict those before.
    InconsistentCalls,
    /// Zeros, which look like a call of function 0 by thread 0, without its arguments.
    Zeros,
}

/// A count, a length or an index with a highest value that readers have room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountField {
    /// Bytes of a name in a definition.
    NameLength,
    /// Bytes of a name or a value of a property.
    PropertyLength,
    /// Bytes of a string or a blob.
    StringLength,
    /// Characters of a wide string.
    WideStringLength,
    /// Values of an array.
    ArrayLength,
    /// Frames of a backtrace.
    FrameCount,
    /// Arguments, members, values or flags of a signature.
    SignatureItems,
    /// Index of an argument whose function has a lost definition.
    ArgumentIndex,
}

impl CountField {
    /// Returns the words for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NameLength => "name length",
            Self::PropertyLength => "property length",
            Self::StringLength => "string length",
            Self::WideStringLength => "wide string length",
            Self::ArrayLength => "array length",
            Self::FrameCount => "frame count",
            Self::SignatureItems => "signature item count",
            Self::ArgumentIndex => "argument index",
        }
    }

    /// Returns the highest value.
    pub const fn max(self) -> u64 {
        match self {
            Self::NameLength | Self::PropertyLength => NAME_MAX,
            Self::StringLength => BYTES_MAX,
            Self::WideStringLength | Self::ArrayLength | Self::FrameCount => COUNT_MAX,
            Self::SignatureItems => ITEMS_MAX,
            Self::ArgumentIndex => LOST_ARGUMENT_MAX,
        }
    }
}

/// Something unusual about one token, which can be read nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenWarning {
    /// An integer in more bytes than it needs; its length.
    Overlong(usize),
    /// An integer of more than 64 bits; its length.
    Oversized(usize),
    /// The value of an enum is not an integer but of this type.
    EnumValue(u8),
    /// A name is not UTF-8.
    NameNotUtf8(Space),
    /// A name holds control characters.
    NameControl(Space),
    /// A zero flag of a bitmask is not the first one.
    ZeroFlag,
    /// The thread as a detail of the call.
    ThreadDetail,
    /// Flags that no version knows.
    Flags(u64),
    /// The name of a function is not an identifier.
    NameNotIdentifier,
    /// The value of an enum or bitmask is not among those of its signature.
    Unlisted(SymbolUse, Unlisted),
}

/// How an unlisted value is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted {
    /// No sound trace has it.
    Impossible,
    /// Few sound traces have it.
    Unusual,
}

/// A value of an enum or a bitmask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolUse {
    /// Its namespace.
    pub space: Space,
    /// The id of its signature.
    pub id: u64,
    /// Whether the value is negative.
    pub is_negative: bool,
    /// Its magnitude.
    pub value: u64,
}

/// A value of an argument or a result, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueToken<'a> {
    /// No value.
    Null,
    /// A boolean.
    Bool(bool),
    /// The magnitude of an integer that is negative or 0.
    Negative(u64),
    /// An integer.
    Unsigned(u64),
    /// A number of 32 bits.
    Float(f32),
    /// A number of 64 bits.
    Double(f64),
    /// An address.
    Opaque(u64),
    /// The value of an enum; that of its definition in versions that write no other.
    Enum(u64, Option<SymbolUse>),
    /// The value of a bitmask.
    Bitmask(SymbolUse),
    /// Begins a string, whose [`Bytes`](Self::Bytes) follow.
    String,
    /// Begins a blob of this length, whose [`Bytes`](Self::Bytes) follow.
    Blob(u64),
    /// Begins a string of wide characters, which follow.
    WideString,
    /// Begins an array of this length.
    Array(u64),
    /// Begins the members of the struct with this id.
    Struct(u64),
    /// Begins two forms of one value: for people, and for programs.
    Repr,
    /// Bytes of a string or blob.
    Bytes(&'a [u8]),
    /// A wide character.
    Character(u64),
    /// Ends the value that began last and has not ended.
    End,
}

/// Receives the tokens of a stream and knows the ids in it. Offsets count in the stream.
pub trait TokenSink {
    /// Whether it takes complete events.
    const TAKES_EVENTS: bool = false;

    /// Takes a complete event instead of its tokens; returns false, with nothing changed, if it
    /// needs the tokens.
    #[inline(always)]
    fn event(&mut self, _event: &PlainEvent, _uses: &[PlainUse<'_>]) -> bool {
        false
    }
    /// Takes a call that is left at `leave.0..leave.1`, right after it was entered and without a
    /// value; returns false, with nothing changed, if it needs the two events one by one.
    #[inline(always)]
    fn call(&mut self, _enter: &PlainEvent, _leave: (u64, u64), _uses: &[PlainUse<'_>]) -> bool {
        false
    }
    /// Returns the number of the next call.
    #[inline(always)]
    fn next_call(&self) -> u64 {
        0
    }
    /// Whether it looks at values of enums that are passed to a function.
    #[inline(always)]
    fn takes_symbols(&self, _function: u64) -> bool {
        true
    }
    /// Whether it looks at numbers that are passed to a function.
    #[inline(always)]
    fn takes_numbers(&self, _function: u64) -> bool {
        true
    }
    /// Whether the definition of an id was read.
    #[inline(always)]
    fn is_defined(&self, _space: Space, _id: u64) -> bool {
        false
    }

    /// Returns the number of arguments or members of `id`, or `None` if it is not defined yet.
    fn known(&mut self, space: Space, id: u64) -> Result<Option<u64>, StreamError>;
    /// Takes the version, which lies at `at..end`.
    fn version(
        &mut self,
        _version: u64,
        _semantic: Option<u64>,
        _at: u64,
        _end: u64,
    ) -> Result<(), StreamError> {
        Ok(())
    }
    /// Takes a name or a value of a property, which lies at `at..end`; an empty name ends the
    /// header.
    fn property(
        &mut self,
        _text: &[u8],
        _is_name: bool,
        _at: u64,
        _end: u64,
    ) -> Result<(), StreamError> {
        Ok(())
    }
    /// Begins an enter at `at`.
    fn enter(&mut self, at: u64, thread: u64, function: u64) -> Result<(), StreamError>;
    /// Begins a leave at `at`.
    fn leave(&mut self, at: u64, call: u64) -> Result<(), StreamError>;
    /// Begins a detail other than the end at `at`; an argument has an index.
    fn detail(&mut self, at: u64, index: Option<u64>) -> Result<(), StreamError>;
    /// Ends the detail.
    fn detail_end(&mut self, _end: u64) {}
    /// Ends the event.
    fn end(&mut self, end: u64) -> Result<(), StreamError>;
    /// Begins the definition of an id that ends at `at`.
    fn define(&mut self, _space: Space, _id: u64, _at: u64) {}
    /// Takes a part of the definition, as stored.
    fn part(&mut self, _raw: &[u8]) {}
    /// Takes a name in the definition; `own`: of the definition, not of an item of it.
    fn name(&mut self, _space: Space, _name: &[u8], _own: bool) -> Result<(), StreamError> {
        Ok(())
    }
    /// Ends the definition.
    fn defined(&mut self, space: Space, id: u64, count: u64) -> Result<(), StreamError>;
    /// Judges a value that its signature may not list.
    fn judge(&self, _symbol: SymbolUse) -> Option<Unlisted> {
        None
    }
    /// Takes a warning about the bytes `at..end`.
    fn warn(&mut self, _warning: TokenWarning, _at: u64, _end: u64) {}
    /// Takes a text of at most [`TEXT_LOOKED_AT`](crate::formats::apitrace::layout::TEXT_LOOKED_AT)
    /// bytes.
    fn text(&mut self, _text: &[u8], _at: u64) {}
    /// Takes the type of the value of an argument or result, and for an enum the id of its
    /// signature.
    #[inline(always)]
    fn value_type(&mut self, _tag: u8, _id: u64) {}
    /// Takes an address, whose bytes lie at `at..end`.
    #[inline(always)]
    fn address(&mut self, _value: u64, _at: u64, _end: u64) {}
    /// Takes a value of an enum, whose bytes lie at `at..end`.
    #[inline(always)]
    fn symbol(&mut self, _symbol: SymbolUse, _at: u64, _end: u64) {}
    /// Takes a number whose bytes lie at `at..end`: a value, or the last part of one.
    #[inline(always)]
    fn number(&mut self, _number: Number, _at: u64, _end: u64) {}
    /// Takes the place of the bytes of the string or blob that was begun.
    #[inline(always)]
    fn bytes_begin(&mut self, _at: u64) {}
    /// Announces a string that is longer than the bytes at hand.
    fn long_string(&mut self, _len: u64, _at: u64) {}
    /// Takes a value or a part of one, if it takes values.
    #[inline(always)]
    fn value(&mut self, _token: ValueToken<'_>) {}
    /// Takes the flags of the call.
    #[inline(always)]
    fn flags(&mut self, _flags: u64) {}
    /// Takes the id of a frame of the call's backtrace, after its definition.
    #[inline(always)]
    fn frame(&mut self, _id: u64) {}
}
