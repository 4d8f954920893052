//! Events and their details: the state of the grammar between two tokens.

use super::bare_leave::BareLeave;
use super::tokens::{Read, ReadFailure, Tokens};
use super::{CountField, Space, StreamError, TokenSink, TokenWarning};
use crate::formats::apitrace::layout::{
    FLAG_FAKE, ID_MAX, VERSION_MAX, VERSION_THREADS, detail, event,
};
use crate::kit::num::to_usize;

/// Why a run ended before its bytes did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseStop {
    /// Offset of the token at fault in the stream.
    pub at: u64,
    /// Why it cannot be read.
    pub cause: StreamError,
}

/// A definition that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Defined {
    pub(super) space: Space,
    pub(super) id: u64,
    /// Items of the signature, once they are known.
    pub(super) count: u64,
}

/// The next token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Version,
    Property {
        is_name: bool,
    },
    Event,
    Detail,
    Value,
    /// Bytes of a string that is longer than the bytes at hand.
    LongString {
        left: u64,
    },
    WideString {
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
    DefinitionName(Defined),
    /// The number of its items.
    DefinitionCount(Defined),
    /// Its items.
    DefinitionItems {
        defined: Defined,
        left: u64,
    },
    /// The number after an enum's signature; `at`: where the bytes begin that are shown.
    EnumValue {
        id: u64,
        at: u64,
    },
    /// The value after a bitmask's signature.
    BitmaskValue {
        id: u64,
    },
}

/// The state of the grammar. See the [module](super).
#[derive(Clone, Debug)]
pub struct Parser {
    pub(super) version: u64,
    pub(super) state: State,
    /// Values left at each level around the present one.
    pub(super) stack: Vec<u64>,
    pub(super) depth_max: usize,
    pub(super) event: u64,
    /// Whether the present detail is the result.
    pub(super) is_result: bool,
}

impl Parser {
    /// A parser at the beginning of a stream, for values at most `depth_max` levels deep.
    pub fn new(depth_max: u64) -> Self {
        Self {
            version: VERSION_MAX,
            state: State::Version,
            stack: Vec::new(),
            depth_max: to_usize(depth_max),
            event: 0,
            is_result: false,
        }
    }

    /// Returns the stream's version.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Continues between two events of a stream of `version`.
    pub fn turn_to_event(&mut self, version: u64) {
        self.version = version;
        self.state = State::Event;
        self.stack.clear();
    }

    /// Whether the next token begins an event.
    pub fn is_between_events(&self) -> bool {
        self.state == State::Event
    }

    /// Whether the stream's header is not complete yet.
    pub fn is_in_header(&self) -> bool {
        matches!(self.state, State::Version | State::Property { .. })
    }

    /// Returns the offset of the event that is being read, or that was read last.
    pub const fn event(&self) -> u64 {
        self.event
    }

    /// Returns how many bytes of a long string are still to come.
    pub const fn string_bytes_left(&self) -> u64 {
        match self.state {
            State::LongString { left } => left,
            _ => 0,
        }
    }

    /// Reads tokens from `bytes`, whose first byte is `start` of the stream, as far as they are
    /// complete. Returns how many bytes were read.
    pub fn run<S: TokenSink>(
        &mut self,
        bytes: &[u8],
        start: u64,
        sink: &mut S,
    ) -> (usize, Result<(), ParseStop>) {
        let mut tokens = Tokens::new(bytes, start);
        let (mut uses, mut next_leave) = (Vec::new(), BareLeave::of(sink.next_call()));
        loop {
            self.read_plain_events(&mut tokens, &mut uses, &mut next_leave, sink);
            let before = tokens;
            if let Err(failure) = self.read_token(&mut tokens, sink) {
                let read = bytes.len().saturating_sub(before.left());
                return match failure {
                    ReadFailure::Truncated => (read, Ok(())),
                    ReadFailure::Invalid(cause) => {
                        (read, Err(ParseStop { at: before.position(), cause }))
                    }
                };
            }
        }
    }

    /// Reads one token, or several small ones that belong together.
    #[inline(always)]
    fn read_token<S: TokenSink>(&mut self, tokens: &mut Tokens<'_>, sink: &mut S) -> Read<()> {
        match self.state {
            State::Detail => self.read_detail(tokens, sink),
            State::Event => self.read_event(tokens, sink),
            State::Value => self.read_value(tokens, sink),
            _ => self.read_rare_token(tokens, sink),
        }
    }

    #[inline(always)]
    fn read_detail<S: TokenSink>(&mut self, tokens: &mut Tokens<'_>, sink: &mut S) -> Read<()> {
        let at = tokens.position();
        match tokens.byte()? {
            detail::END => {
                sink.end(tokens.position())?;
                self.state = State::Event;
            }
            detail::ARG => {
                let (index, warning) = tokens.uint()?;
                let index_end = tokens.position();
                sink.detail(at, Some(index))?;
                if let Some(warning) = warning {
                    sink.warn(warning, at.saturating_add(1), index_end);
                }
                self.is_result = false;
                self.state = State::Value;
            }
            detail::RET => {
                sink.detail(at, None)?;
                self.is_result = true;
                self.state = State::Value;
            }
            detail::THREAD if self.version < VERSION_THREADS => {
                read_uint(tokens, sink)?;
                sink.warn(TokenWarning::ThreadDetail, at, tokens.position());
            }
            detail::BACKTRACE => {
                let left = read_count(CountField::FrameCount, tokens, sink)?;
                self.state = State::Frames { left };
            }
            detail::FLAGS => {
                let flags = read_uint(tokens, sink)?;
                sink.flags(flags);
                if flags > FLAG_FAKE {
                    sink.warn(TokenWarning::Flags(flags), at, tokens.position());
                }
            }
            other => return Err(StreamError::DetailTag(other).into()),
        }
        Ok(())
    }

    #[inline(always)]
    fn read_event<S: TokenSink>(&mut self, tokens: &mut Tokens<'_>, sink: &mut S) -> Read<()> {
        let at = tokens.position();
        let mut ahead = *tokens;
        match ahead.byte()? {
            event::ENTER => self.read_enter(at, &mut ahead, sink)?,
            event::LEAVE => {
                let number_at = ahead.position();
                let (call, warning) = ahead.uint()?;
                self.event = at;
                sink.leave(at, call)?;
                if let Some(warning) = warning {
                    sink.warn(warning, number_at, ahead.position());
                }
                self.state = State::Detail;
            }
            other => {
                self.event = at;
                return Err(StreamError::EventTag(other).into());
            }
        }
        *tokens = ahead;
        Ok(())
    }

    #[inline(always)]
    fn read_enter<S: TokenSink>(
        &mut self,
        at: u64,
        ahead: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        let thread_at = ahead.position();
        let (thread, thread_warning) = match self.version >= VERSION_THREADS {
            true => ahead.uint()?,
            false => (0, None),
        };
        let id_at = ahead.position();
        let (id, id_warning) = ahead.uint()?;
        if id > ID_MAX {
            return Err(StreamError::Id(Space::Function, id).into());
        }
        let known = sink.known(Space::Function, id)?;
        self.event = at;
        sink.enter(at, thread, id)?;
        let end = ahead.position();
        for (warning, from, to) in [(thread_warning, thread_at, id_at), (id_warning, id_at, end)] {
            if let Some(warning) = warning {
                sink.warn(warning, from, to);
            }
        }
        self.state = match known {
            Some(_) => State::Detail,
            None => {
                sink.define(Space::Function, id, end);
                State::DefinitionName(Defined { space: Space::Function, id, count: 0 })
            }
        };
        Ok(())
    }
}

/// Reads an integer and passes a warning about it to the sink.
#[inline(always)]
pub(super) fn read_uint<S: TokenSink>(tokens: &mut Tokens<'_>, sink: &mut S) -> Read<u64> {
    let at = tokens.position();
    let (value, warning) = tokens.uint()?;
    if let Some(warning) = warning {
        sink.warn(warning, at, tokens.position());
    }
    Ok(value)
}

/// Reads a count or a length that readers have room for.
#[inline(always)]
pub(super) fn read_count<S: TokenSink>(
    field: CountField,
    tokens: &mut Tokens<'_>,
    sink: &mut S,
) -> Read<u64> {
    let value = read_uint(tokens, sink)?;
    if value > field.max() { Err(StreamError::Count(field, value).into()) } else { Ok(value) }
}
