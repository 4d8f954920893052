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
//! A token is taken whole or not at all, so that the bytes may come in pieces of any size; strings
//! too long to be looked at are counted down. What the tokens mean is the [`Sink`]'s to say, above
//! all whether an id was defined before, on which the grammar depends.
//!
//! Sources: the user's document; apitrace's `lib/trace/trace_parser.cpp` and `trace_writer.cpp`.
//! Where they disagree the writer wins: values of an enum signature are typed, those of a bitmask
//! are not.

use crate::formats::apitrace::layout::{
    BYTES_MAX, COUNT_MAX, ID_MAX, ITEMS_MAX, NAME_MAX, TEXT_LOOKED_AT, UINT_LEN, UINT_LEN_MAX,
    VERSION_ENUM_SETS, VERSION_MAX, VERSION_PROPERTIES, VERSION_THREADS, detail, event, frame,
    kind,
};
use crate::kit::num::{to_u64, to_usize};

/// What ids count.
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

    /// For messages and paths.
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
pub enum Cause {
    /// Neither 0 nor 1.
    Event(u8),
    /// No detail of a call.
    Detail(u8),
    /// No type of a value.
    Type(u8),
    /// No detail of a frame.
    FrameDetail(u8),
    /// A value of an enum signature is no integer.
    EnumType(u8),
    /// A count that no reader has room for.
    Count(&'static str, u64),
    /// An id that no reader has room for.
    Id(Space, u64),
    /// An integer that does not end.
    Endless,
    /// Values inside values, deeper than the limit.
    Depth(u64),
    /// A version of the stream that is not known.
    Version(u64),
    /// The stream begins in its middle.
    Header,
    /// A thread's number that cannot be.
    Thread(u64),
    /// More definitions or open calls than the limit.
    Limit(&'static str, u64),
    /// What should be a signature's name is none.
    Name(Space),
    /// Several events in a row that contradict those before.
    Incoherent,
}

/// What is odd, but can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// An integer in more bytes than it needs; its length.
    Overlong(usize),
    /// An integer of more than 64 bits; its length.
    Oversized(usize),
    /// The value of an enum is no integer but of this type.
    EnumValue(u8),
    /// A name is not UTF-8.
    OddName(Space),
    /// A name holds control characters.
    WildName(Space),
    /// A zero flag is not the first one.
    ZeroFlag,
    /// The thread as a detail.
    ThreadDetail,
    /// Flags that no version knows.
    Flags(u64),
}

/// What the machine asks and tells.
pub trait Sink {
    /// Whether `id` was defined: its number of arguments or members.
    fn known(&mut self, space: Space, id: u64) -> Result<Option<u64>, Cause>;
    /// The version was read.
    fn version(
        &mut self,
        _version: u64,
        _semantic: Option<u64>,
        _at: u64,
        _end: u64,
    ) -> Result<(), Cause> {
        Ok(())
    }
    /// A name or value of a property; an empty name is the end of the header.
    fn property(&mut self, _text: &[u8], _is_name: bool, _at: u64) {}
    /// An enter was begun at `at`.
    fn enter(&mut self, at: u64, thread: u64, function: u64) -> Result<(), Cause>;
    /// A leave was begun at `at`; its number begins at `number_at`.
    fn leave(&mut self, at: u64, call: u64) -> Result<(), Cause>;
    /// A detail other than the end begins at `at`; an argument has an index.
    fn detail(&mut self, at: u64, index: Option<u64>) -> Result<(), Cause>;
    /// The detail ended.
    fn detail_end(&mut self, _end: u64) {}
    /// The event is over.
    fn end(&mut self, end: u64) -> Result<(), Cause>;
    /// An id was seen that ends at `at` of the stream, its definition following.
    fn define(&mut self, _space: Space, _id: u64, _at: u64) {}
    /// A part of the definition, as stored.
    fn part(&mut self, _raw: &[u8]) {}
    /// A name in the definition: the first is the definition's own, if it has one.
    fn name(&mut self, _space: Space, _name: &[u8], _own: bool) -> Result<(), Cause> {
        Ok(())
    }
    /// The definition is complete.
    fn defined(&mut self, space: Space, id: u64, count: u64) -> Result<(), Cause>;
    /// Something odd at `at..end`.
    fn sign(&mut self, _sign: Sign, _at: u64, _end: u64) {}
    /// A text of at most [`TEXT_LOOKED_AT`] bytes.
    fn text(&mut self, _text: &[u8], _at: u64) {}
    /// A string of more bytes than are looked at, its bytes beginning at `at`.
    fn long(&mut self, _len: u64, _at: u64) {}
}

/// Why a run ended before its bytes did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Where the token at fault begins.
    pub at: u64,
    /// Why.
    pub cause: Cause,
}

/// What the next token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Version,
    Property {
        is_name: bool,
    },
    Event,
    Detail,
    Value,
    Skip {
        left: u64,
    },
    Wide {
        left: u64,
    },
    Frames {
        left: u64,
    },
    FrameDetail {
        id: u64,
        left: u64,
    },
    /// The name that a definition begins with.
    DefName {
        space: Space,
        id: u64,
    },
    /// The number of its items.
    DefCount {
        space: Space,
        id: u64,
    },
    /// Its items.
    DefItems {
        space: Space,
        id: u64,
        count: u64,
        left: u64,
    },
    /// The value behind an enum's signature.
    EnumValue,
    /// The value behind a bitmask's signature.
    BitmaskValue,
}

/// Where the grammar stands.
#[derive(Clone, Debug)]
pub struct Machine {
    version: u64,
    state: State,
    /// Values that are left at each level around the present one.
    stack: Vec<u64>,
    depth_max: usize,
    event: u64,
}

/// A read that cannot be done.
enum Halt {
    Short,
    Cause(Cause),
}

impl From<Cause> for Halt {
    fn from(cause: Cause) -> Self {
        Self::Cause(cause)
    }
}

type Read<T> = Result<T, Halt>;

#[inline(always)]
fn byte(rest: &mut &[u8]) -> Read<u8> {
    match rest.split_first() {
        Some((byte, after)) => {
            *rest = after;
            Ok(*byte)
        }
        None => Err(Halt::Short),
    }
}

/// An integer, and its length if that is not the shortest one.
#[inline(always)]
fn uint_raw(rest: &mut &[u8]) -> Read<(u64, Option<Sign>)> {
    match rest.split_first() {
        Some((byte, after)) if *byte < 0x80 => {
            *rest = after;
            Ok((u64::from(*byte), None))
        }
        Some(_) => uint_long(rest),
        None => Err(Halt::Short),
    }
}

fn uint_long(rest: &mut &[u8]) -> Read<(u64, Option<Sign>)> {
    let mut value = 0_u64;
    let mut lost = false;
    for (index, byte) in rest.iter().enumerate().take(UINT_LEN_MAX) {
        let group = u64::from(byte & 0x7f);
        let shift = u32::try_from(index).unwrap_or(u32::MAX).saturating_mul(7);
        match group.checked_shl(shift) {
            Some(shifted) => {
                lost |= shifted >> shift != group;
                value |= shifted;
            }
            None => lost |= group != 0,
        }
        if byte & 0x80 == 0 {
            let len = index.saturating_add(1);
            *rest = rest.get(len..).unwrap_or_default();
            let sign = if lost {
                Some(Sign::Oversized(len))
            } else if *byte == 0 || len > UINT_LEN {
                Some(Sign::Overlong(len))
            } else {
                None
            };
            return Ok((value, sign));
        }
    }
    if rest.len() >= UINT_LEN_MAX { Err(Cause::Endless.into()) } else { Err(Halt::Short) }
}

#[inline(always)]
fn uint<S: Sink>(rest: &mut &[u8], end: u64, sink: &mut S) -> Read<u64> {
    let at = end.saturating_sub(to_u64(rest.len()));
    let (value, sign) = uint_raw(rest)?;
    if let Some(sign) = sign {
        sink.sign(sign, at, end.saturating_sub(to_u64(rest.len())));
    }
    Ok(value)
}

/// Moves past an integer, if it is there and nothing about it is odd.
#[inline(always)]
fn is_plain_uint(rest: &mut &[u8]) -> bool {
    matches!(uint_raw(rest), Ok((_, None)))
}

/// Moves past an id, if it is there, and tells whether it was defined and nothing about it is odd.
#[inline(always)]
fn is_known<S: Sink>(rest: &mut &[u8], space: Space, sink: &mut S) -> Result<bool, Cause> {
    match uint_raw(rest) {
        Ok((id, None)) if id <= ID_MAX => Ok(sink.known(space, id)?.is_some()),
        _ => Ok(false),
    }
}

/// Moves past a value, if it is whole and one of the commonest, and nothing about it is odd.
#[inline(always)]
fn plain_value<S: Sink>(version: u64, rest: &mut &[u8], sink: &mut S) -> Result<bool, Cause> {
    let Some((tag, after)) = rest.split_first() else { return Ok(false) };
    *rest = after;
    Ok(match *tag {
        kind::NULL..=kind::TRUE => true,
        kind::UINT | kind::OPAQUE => is_plain_uint(rest),
        kind::FLOAT => skip(rest, 4),
        kind::ENUM if version >= VERSION_ENUM_SETS => {
            is_known(rest, Space::Enum, sink)?
                && matches!(byte(rest), Ok(kind::SINT | kind::UINT))
                && is_plain_uint(rest)
        }
        kind::BITMASK => is_known(rest, Space::Bitmask, sink)? && is_plain_uint(rest),
        _ => false,
    })
}

/// Moves past `len` bytes, if they are there.
#[inline(always)]
fn skip(rest: &mut &[u8], len: usize) -> bool {
    let after = rest.get(len..);
    *rest = after.unwrap_or_default();
    after.is_some()
}

/// A name: short enough to be held.
fn name<'a>(rest: &mut &'a [u8], space: Option<Space>) -> Read<(&'a [u8], Option<Sign>)> {
    let (len, sign) = uint_raw(rest)?;
    if len > NAME_MAX {
        let what = match space {
            Some(_) => "bytes of a name",
            None => "bytes of a property",
        };
        return Err(Cause::Count(what, len).into());
    }
    let Some((text, after)) = rest.split_at_checked(to_usize(len)) else {
        return Err(Halt::Short);
    };
    *rest = after;
    Ok((text, sign))
}

impl Machine {
    /// At the beginning of a stream.
    pub fn new(depth_max: u64) -> Self {
        Self {
            version: VERSION_MAX,
            state: State::Version,
            stack: Vec::new(),
            depth_max: to_usize(depth_max),
            event: 0,
        }
    }

    /// The stream's version.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Between two events, in a stream of `version`.
    pub fn turn_to_event(&mut self, version: u64) {
        self.version = version;
        self.state = State::Event;
        self.stack.clear();
    }

    /// Whether the next token begins an event.
    pub fn is_between_events(&self) -> bool {
        self.state == State::Event
    }

    /// Whether the stream's header was read.
    pub fn is_in_header(&self) -> bool {
        matches!(self.state, State::Version | State::Property { .. })
    }

    /// Where the event begins that is being read, or that was read last.
    pub const fn event(&self) -> u64 {
        self.event
    }

    /// Whether more bytes of a long string are to come than `bytes`.
    pub const fn skips(&self) -> u64 {
        match self.state {
            State::Skip { left } => left,
            _ => 0,
        }
    }

    /// Reads tokens from `bytes`, whose first byte is `start` of the stream, as far as they are
    /// whole. Returns how many bytes were read.
    pub fn run<S: Sink>(
        &mut self,
        bytes: &[u8],
        start: u64,
        sink: &mut S,
    ) -> (usize, Result<(), Stop>) {
        let end = start.saturating_add(to_u64(bytes.len()));
        let mut rest = bytes;
        loop {
            let plain = self.plain(&mut rest, end, sink);
            let before = rest;
            match plain.map_err(Halt::Cause).and_then(|()| self.step(&mut rest, end, sink)) {
                Ok(()) => {}
                Err(halt) => {
                    let read = bytes.len().saturating_sub(before.len());
                    return match halt {
                        Halt::Short => (read, Ok(())),
                        Halt::Cause(cause) => {
                            let at = start.saturating_add(to_u64(read));
                            (read, Err(Stop { at, cause }))
                        }
                    };
                }
            }
        }
    }

    /// As many of the plainest tokens as follow one another: details with small values, ends,
    /// events of functions that are known. Stops, at a token's beginning, before any other one and
    /// before one that is not whole, which [`step`](Self::step) then takes.
    #[inline(always)]
    fn plain<S: Sink>(&mut self, rest: &mut &[u8], end: u64, sink: &mut S) -> Result<(), Cause> {
        let mut in_event = match self.state {
            State::Detail => true,
            State::Event => false,
            _ => return Ok(()),
        };
        let here = |rest: &[u8]| end.saturating_sub(to_u64(rest.len()));
        let mut ahead = *rest;
        let result = loop {
            *rest = ahead;
            let at = here(ahead);
            let Some((tag, after)) = ahead.split_first() else { break Ok(()) };
            ahead = after;
            let done = match (in_event, *tag) {
                (true, detail::END) => sink.end(here(ahead)).map(|()| {
                    in_event = false;
                    true
                }),
                (true, detail::ARG) => match uint_raw(&mut ahead) {
                    Ok((index, None)) => {
                        plain_value(self.version, &mut ahead, sink).and_then(|is_plain| {
                            if is_plain {
                                sink.detail(at, Some(index))?;
                                sink.detail_end(here(ahead));
                            }
                            Ok(is_plain)
                        })
                    }
                    _ => Ok(false),
                },
                (false, event::ENTER) if self.version >= VERSION_THREADS => {
                    match (uint_raw(&mut ahead), uint_raw(&mut ahead)) {
                        (Ok((thread, None)), Ok((id, None))) if id <= ID_MAX => {
                            sink.known(Space::Function, id).and_then(|known| {
                                if known.is_some() {
                                    self.event = at;
                                    sink.enter(at, thread, id)?;
                                    in_event = true;
                                }
                                Ok(known.is_some())
                            })
                        }
                        _ => Ok(false),
                    }
                }
                (false, event::LEAVE) => match uint_raw(&mut ahead) {
                    Ok((call, None)) => {
                        self.event = at;
                        sink.leave(at, call).map(|()| {
                            in_event = true;
                            true
                        })
                    }
                    _ => Ok(false),
                },
                _ => Ok(false),
            };
            match done {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(cause) => break Err(cause),
            }
        };
        self.state = if in_event { State::Detail } else { State::Event };
        result
    }

    /// One token, or several small ones that belong together.
    #[inline(always)]
    fn step<S: Sink>(&mut self, rest: &mut &[u8], end: u64, sink: &mut S) -> Read<()> {
        let here = |rest: &[u8]| end.saturating_sub(to_u64(rest.len()));
        match self.state {
            State::Detail => {
                let at = here(rest);
                match byte(rest)? {
                    detail::END => {
                        sink.end(here(rest))?;
                        self.state = State::Event;
                    }
                    detail::ARG => {
                        let (index, sign) = uint_raw(rest)?;
                        let index_end = here(rest);
                        sink.detail(at, Some(index))?;
                        if let Some(sign) = sign {
                            sink.sign(sign, at.saturating_add(1), index_end);
                        }
                        self.state = State::Value;
                    }
                    detail::RET => {
                        sink.detail(at, None)?;
                        self.state = State::Value;
                    }
                    detail::THREAD if self.version < VERSION_THREADS => {
                        uint(rest, end, sink)?;
                        sink.sign(Sign::ThreadDetail, at, here(rest));
                    }
                    detail::BACKTRACE => {
                        let left = uint(rest, end, sink)?;
                        if left > COUNT_MAX {
                            return Err(Cause::Count("frames", left).into());
                        }
                        self.state = State::Frames { left };
                    }
                    detail::FLAGS => {
                        let flags = uint(rest, end, sink)?;
                        if flags > 1 {
                            sink.sign(Sign::Flags(flags), at, here(rest));
                        }
                    }
                    other => return Err(Cause::Detail(other).into()),
                }
                Ok(())
            }
            State::Event => {
                let at = here(rest);
                let mut ahead = *rest;
                match byte(&mut ahead)? {
                    event::ENTER => {
                        let after_tag = ahead;
                        let thread = match self.version >= VERSION_THREADS {
                            true => uint_raw(&mut ahead)?,
                            false => (0, None),
                        };
                        let after_thread = ahead;
                        let function = uint_raw(&mut ahead)?;
                        let id = function.0;
                        if id > ID_MAX {
                            return Err(Cause::Id(Space::Function, id).into());
                        }
                        let known = sink.known(Space::Function, id)?;
                        self.event = at;
                        sink.enter(at, thread.0, id)?;
                        let thread = (thread.1, after_tag, after_thread);
                        for (sign, from, to) in [thread, (function.1, after_thread, ahead)] {
                            if let Some(sign) = sign {
                                sink.sign(sign, here(from), here(to));
                            }
                        }
                        self.state = match known {
                            Some(_) => State::Detail,
                            None => {
                                sink.define(Space::Function, id, here(ahead));
                                State::DefName { space: Space::Function, id }
                            }
                        };
                    }
                    event::LEAVE => {
                        let after_tag = ahead;
                        let (call, sign) = uint_raw(&mut ahead)?;
                        self.event = at;
                        sink.leave(at, call)?;
                        if let Some(sign) = sign {
                            sink.sign(sign, here(after_tag), here(ahead));
                        }
                        self.state = State::Detail;
                    }
                    other => {
                        self.event = at;
                        return Err(Cause::Event(other).into());
                    }
                }
                *rest = ahead;
                Ok(())
            }
            State::Value => self.value(rest, end, sink),
            _ => self.other(rest, end, sink),
        }
    }

    fn value<S: Sink>(&mut self, rest: &mut &[u8], end: u64, sink: &mut S) -> Read<()> {
        let here = |rest: &[u8]| end.saturating_sub(to_u64(rest.len()));
        match byte(rest)? {
            kind::NULL..=kind::TRUE => self.value_end(here(rest), sink),
            kind::SINT | kind::UINT | kind::OPAQUE => {
                uint(rest, end, sink)?;
                self.value_end(here(rest), sink);
            }
            kind::FLOAT => self.fixed(rest, 4, end, sink)?,
            kind::DOUBLE => self.fixed(rest, 8, end, sink)?,
            tag @ (kind::STRING | kind::BLOB) => {
                let len = uint(rest, end, sink)?;
                if len > BYTES_MAX {
                    return Err(Cause::Count("bytes of a string", len).into());
                }
                let at = here(rest);
                if tag == kind::STRING && len <= TEXT_LOOKED_AT {
                    let Some((text, after)) = rest.split_at_checked(to_usize(len)) else {
                        return Err(Halt::Short);
                    };
                    sink.text(text, at);
                    *rest = after;
                    self.value_end(here(rest), sink);
                } else if let Some(after) = rest.get(to_usize(len)..) {
                    *rest = after;
                    self.value_end(here(rest), sink);
                } else {
                    sink.long(len, at);
                    let left = len.saturating_sub(to_u64(rest.len()));
                    *rest = &[];
                    self.state = State::Skip { left };
                }
            }
            kind::ENUM => {
                let id = self.id(rest, Space::Enum, end, sink)?;
                if sink.known(Space::Enum, id)?.is_some() {
                    self.after_enum(here(rest), sink);
                } else {
                    sink.define(Space::Enum, id, here(rest));
                    let space = Space::Enum;
                    self.state = if self.version >= VERSION_ENUM_SETS {
                        State::DefCount { space, id }
                    } else {
                        State::DefItems { space, id, count: 1, left: 1 }
                    };
                }
            }
            kind::BITMASK => {
                let id = self.id(rest, Space::Bitmask, end, sink)?;
                if sink.known(Space::Bitmask, id)?.is_some() {
                    self.state = State::BitmaskValue;
                } else {
                    sink.define(Space::Bitmask, id, here(rest));
                    self.state = State::DefCount { space: Space::Bitmask, id };
                }
            }
            kind::STRUCT => {
                let id = self.id(rest, Space::Struct, end, sink)?;
                match sink.known(Space::Struct, id)? {
                    Some(count) => self.nest(count, here(rest), sink)?,
                    None => {
                        sink.define(Space::Struct, id, here(rest));
                        self.state = State::DefName { space: Space::Struct, id };
                    }
                }
            }
            kind::ARRAY => {
                let count = uint(rest, end, sink)?;
                if count > COUNT_MAX {
                    return Err(Cause::Count("values of an array", count).into());
                }
                self.nest(count, here(rest), sink)?;
            }
            kind::REPR => self.nest(2, here(rest), sink)?,
            kind::WSTRING => {
                let left = uint(rest, end, sink)?;
                if left > COUNT_MAX {
                    return Err(Cause::Count("characters of a wide string", left).into());
                }
                self.state = State::Wide { left };
            }
            other => return Err(Cause::Type(other).into()),
        }
        Ok(())
    }

    fn other<S: Sink>(&mut self, rest: &mut &[u8], end: u64, sink: &mut S) -> Read<()> {
        let here = |rest: &[u8]| end.saturating_sub(to_u64(rest.len()));
        match self.state {
            State::Event | State::Detail | State::Value => {}
            State::Skip { left } => {
                if rest.is_empty() {
                    return Err(Halt::Short);
                }
                let now = left.min(to_u64(rest.len()));
                *rest = rest.get(to_usize(now)..).unwrap_or_default();
                self.state = State::Skip { left: left.saturating_sub(now) };
                if now == left {
                    self.value_end(here(rest), sink);
                }
            }
            State::Wide { left: 0 } => self.value_end(here(rest), sink),
            State::Wide { left } => {
                uint(rest, end, sink)?;
                self.state = State::Wide { left: left.saturating_sub(1) };
            }
            State::EnumValue => {
                let at = here(rest);
                match rest.first() {
                    None => return Err(Halt::Short),
                    Some(&(kind::SINT | kind::UINT)) => {
                        byte(rest)?;
                        uint(rest, end, sink)?;
                        self.value_end(here(rest), sink);
                    }
                    Some(&other @ kind::NULL..=kind::WSTRING) => {
                        sink.sign(Sign::EnumValue(other), at, at.saturating_add(1));
                        self.state = State::Value;
                    }
                    Some(&other) => return Err(Cause::Type(other).into()),
                }
            }
            State::BitmaskValue => {
                uint(rest, end, sink)?;
                self.value_end(here(rest), sink);
            }
            State::Frames { left: 0 } => self.state = State::Detail,
            State::Frames { left } => {
                let id = self.id(rest, Space::Frame, end, sink)?;
                self.state = if sink.known(Space::Frame, id)?.is_some() {
                    State::Frames { left: left.saturating_sub(1) }
                } else {
                    sink.define(Space::Frame, id, here(rest));
                    State::FrameDetail { id, left }
                };
            }
            State::FrameDetail { id, left } => {
                let from = *rest;
                let tag = byte(rest)?;
                match tag {
                    frame::END => {
                        sink.part(taken(from, rest));
                        sink.defined(Space::Frame, id, 0)?;
                        self.state = State::Frames { left: left.saturating_sub(1) };
                    }
                    _ if frame::TEXTS.contains(&tag) => {
                        self.named(rest, Space::Frame, false, end, sink)?;
                        sink.part(taken(from, rest));
                    }
                    _ if frame::NUMBERS.contains(&tag) => {
                        uint(rest, end, sink)?;
                        sink.part(taken(from, rest));
                    }
                    _ => return Err(Cause::FrameDetail(tag).into()),
                }
            }
            State::DefName { space, id } => {
                let from = *rest;
                self.named(rest, space, true, end, sink)?;
                sink.part(taken(from, rest));
                self.state = State::DefCount { space, id };
            }
            State::DefCount { space, id } => {
                let from = *rest;
                let count = uint(rest, end, sink)?;
                if count > ITEMS_MAX {
                    return Err(Cause::Count("items of a signature", count).into());
                }
                sink.part(taken(from, rest));
                self.state = State::DefItems { space, id, count, left: count };
            }
            State::DefItems { space, id, count, left: 0 } => {
                sink.defined(space, id, count)?;
                match space {
                    Space::Function | Space::Frame => self.state = State::Detail,
                    Space::Struct => self.nest(count, here(rest), sink)?,
                    Space::Enum => self.after_enum(here(rest), sink),
                    Space::Bitmask => self.state = State::BitmaskValue,
                }
            }
            State::DefItems { space, id, count, left } => {
                let from = *rest;
                self.named(rest, space, false, end, sink)?;
                let at = here(rest);
                match space {
                    Space::Enum => {
                        let tag = byte(rest)?;
                        if !matches!(tag, kind::SINT | kind::UINT) {
                            return Err(Cause::EnumType(tag).into());
                        }
                        uint(rest, end, sink)?;
                    }
                    Space::Bitmask => {
                        if uint(rest, end, sink)? == 0 && left < count {
                            sink.sign(Sign::ZeroFlag, at, here(rest));
                        }
                    }
                    Space::Function | Space::Struct | Space::Frame => {}
                }
                sink.part(taken(from, rest));
                self.state = State::DefItems { space, id, count, left: left.saturating_sub(1) };
            }
            State::Version => {
                let at = here(rest);
                let (version, _) = uint_raw(rest)?;
                self.version = version;
                if version < VERSION_PROPERTIES {
                    sink.version(version, None, at, here(rest))?;
                    self.state = State::Event;
                } else {
                    let (semantic, _) = uint_raw(rest)?;
                    sink.version(version, Some(semantic), at, here(rest))?;
                    self.state = State::Property { is_name: true };
                }
            }
            State::Property { is_name } => {
                let at = here(rest);
                let (text, _) = name(rest, None)?;
                sink.property(text, is_name, at);
                self.state = match is_name && text.is_empty() {
                    true => State::Event,
                    false => State::Property { is_name: !is_name },
                };
            }
        }
        Ok(())
    }

    /// A name inside a definition.
    fn named<S: Sink>(
        &mut self,
        rest: &mut &[u8],
        space: Space,
        own: bool,
        end: u64,
        sink: &mut S,
    ) -> Read<()> {
        let at = end.saturating_sub(to_u64(rest.len()));
        let (text, sign) = name(rest, Some(space))?;
        // Nothing is told about a token that is not whole: what follows in it may be short.
        let whole = match space {
            Space::Enum => rest.len() > UINT_LEN_MAX || has_uint(rest.get(1..)),
            Space::Bitmask => rest.len() > UINT_LEN_MAX || has_uint(Some(rest)),
            Space::Function | Space::Struct | Space::Frame => true,
        };
        if !whole {
            return Err(Halt::Short);
        }
        let to = end.saturating_sub(to_u64(rest.len()));
        if let Some(sign) = sign {
            sink.sign(sign, at, to);
        }
        match super::text::look(text) {
            super::text::Look::Plain => {}
            super::text::Look::Odd => sink.sign(Sign::OddName(space), at, to),
            super::text::Look::Wild => sink.sign(Sign::WildName(space), at, to),
        }
        Ok(sink.name(space, text, own)?)
    }

    #[inline]
    fn id<S: Sink>(&self, rest: &mut &[u8], space: Space, end: u64, sink: &mut S) -> Read<u64> {
        let id = uint(rest, end, sink)?;
        if id > ID_MAX { Err(Cause::Id(space, id).into()) } else { Ok(id) }
    }

    fn fixed<S: Sink>(&mut self, rest: &mut &[u8], len: usize, end: u64, sink: &mut S) -> Read<()> {
        let Some(after) = rest.get(len..) else { return Err(Halt::Short) };
        *rest = after;
        self.value_end(end.saturating_sub(to_u64(rest.len())), sink);
        Ok(())
    }

    fn after_enum<S: Sink>(&mut self, here: u64, sink: &mut S) {
        if self.version >= VERSION_ENUM_SETS {
            self.state = State::EnumValue;
        } else {
            self.value_end(here, sink);
        }
    }

    /// `count` values follow inside the present one.
    fn nest<S: Sink>(&mut self, count: u64, here: u64, sink: &mut S) -> Read<()> {
        if count == 0 {
            self.value_end(here, sink);
            return Ok(());
        }
        if self.stack.len() >= self.depth_max {
            return Err(Cause::Depth(to_u64(self.depth_max)).into());
        }
        self.stack.push(count);
        self.state = State::Value;
        Ok(())
    }

    /// A value is over, and with it perhaps those around it.
    #[inline]
    fn value_end<S: Sink>(&mut self, here: u64, sink: &mut S) {
        while let Some(left) = self.stack.last_mut() {
            *left = left.saturating_sub(1);
            if *left > 0 {
                self.state = State::Value;
                return;
            }
            self.stack.pop();
        }
        self.state = State::Detail;
        sink.detail_end(here);
    }
}

fn has_uint(bytes: Option<&[u8]>) -> bool {
    bytes.is_some_and(|bytes| bytes.iter().any(|byte| *byte < 0x80))
}

/// What lies before `rest` in `from`.
fn taken<'a>(from: &'a [u8], rest: &[u8]) -> &'a [u8] {
    from.get(..from.len().saturating_sub(rest.len())).unwrap_or_default()
}
