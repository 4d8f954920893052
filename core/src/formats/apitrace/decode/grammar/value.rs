//! The values of arguments and results.

use super::parser::{Defined, Parser, State, read_count, read_uint};
use super::tokens::{Read, ReadFailure, Tokens};
use super::{CountField, Space, StreamError, SymbolUse, TokenSink, TokenWarning};
use crate::formats::apitrace::layout::{ID_MAX, TEXT_LOOKED_AT, VERSION_ENUM_SETS, kind};
use crate::kit::num::to_u64;

impl Parser {
    pub(super) fn read_value<S: TokenSink>(
        &mut self,
        tokens: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        match tokens.byte()? {
            kind::NULL | kind::FALSE | kind::TRUE => self.end_value(tokens.position(), sink),
            kind::SINT | kind::UINT | kind::OPAQUE => {
                read_uint(tokens, sink)?;
                self.end_value(tokens.position(), sink);
            }
            kind::FLOAT => self.skip_fixed(tokens, 4, sink)?,
            kind::DOUBLE => self.skip_fixed(tokens, 8, sink)?,
            tag @ (kind::STRING | kind::BLOB) => self.read_string(tag, tokens, sink)?,
            kind::ENUM => self.read_enum(tokens, sink)?,
            kind::BITMASK => {
                let id = read_id(tokens, Space::Bitmask, sink)?;
                self.state = match sink.known(Space::Bitmask, id)? {
                    Some(_) => State::BitmaskValue { id },
                    None => {
                        sink.define(Space::Bitmask, id, tokens.position());
                        State::DefinitionCount(Defined { space: Space::Bitmask, id, count: 0 })
                    }
                };
            }
            kind::STRUCT => {
                let id = read_id(tokens, Space::Struct, sink)?;
                match sink.known(Space::Struct, id)? {
                    Some(count) => self.nest(count, tokens.position(), sink)?,
                    None => {
                        sink.define(Space::Struct, id, tokens.position());
                        let defined = Defined { space: Space::Struct, id, count: 0 };
                        self.state = State::DefinitionName(defined);
                    }
                }
            }
            kind::ARRAY => {
                let count = read_count(CountField::ArrayLength, tokens, sink)?;
                self.nest(count, tokens.position(), sink)?;
            }
            kind::REPR => self.nest(2, tokens.position(), sink)?,
            kind::WSTRING => {
                let left = read_count(CountField::WideStringLength, tokens, sink)?;
                self.state = State::WideString { left };
            }
            other => return Err(StreamError::ValueType(other).into()),
        }
        Ok(())
    }

    fn skip_fixed<S: TokenSink>(
        &mut self,
        tokens: &mut Tokens<'_>,
        len: u64,
        sink: &mut S,
    ) -> Read<()> {
        tokens.bytes(len)?;
        self.end_value(tokens.position(), sink);
        Ok(())
    }

    fn read_string<S: TokenSink>(
        &mut self,
        tag: u8,
        tokens: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        let len = read_count(CountField::StringLength, tokens, sink)?;
        let at = tokens.position();
        if tag == kind::STRING && len <= TEXT_LOOKED_AT {
            sink.text(tokens.bytes(len)?, at);
        } else if tokens.bytes(len).is_err() {
            sink.long_string(len, at);
            let skipped = tokens.skip_at_most(len);
            self.state = State::LongString { left: len.saturating_sub(skipped) };
            return Ok(());
        }
        self.end_value(tokens.position(), sink);
        Ok(())
    }

    pub(super) fn read_long_string<S: TokenSink>(
        &mut self,
        left: u64,
        tokens: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        if tokens.left() == 0 {
            return Err(ReadFailure::Truncated);
        }
        let skipped = tokens.skip_at_most(left);
        self.state = State::LongString { left: left.saturating_sub(skipped) };
        if skipped == left {
            self.end_value(tokens.position(), sink);
        }
        Ok(())
    }

    pub(super) fn read_wide_string<S: TokenSink>(
        &mut self,
        left: u64,
        tokens: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        if left == 0 {
            self.end_value(tokens.position(), sink);
            return Ok(());
        }
        read_uint(tokens, sink)?;
        self.state = State::WideString { left: left.saturating_sub(1) };
        Ok(())
    }

    fn read_enum<S: TokenSink>(&mut self, tokens: &mut Tokens<'_>, sink: &mut S) -> Read<()> {
        let space = Space::Enum;
        let id = read_id(tokens, space, sink)?;
        if sink.known(space, id)?.is_some() {
            self.expect_enum_value(id, tokens.position(), sink);
            return Ok(());
        }
        sink.define(space, id, tokens.position());
        self.state = if self.version >= VERSION_ENUM_SETS {
            State::DefinitionCount(Defined { space, id, count: 0 })
        } else {
            State::DefinitionItems { defined: Defined { space, id, count: 1 }, left: 1 }
        };
        Ok(())
    }

    /// Continues after an enum's signature: with the value, which old versions do not write.
    pub(super) fn expect_enum_value<S: TokenSink>(&mut self, id: u64, here: u64, sink: &mut S) {
        if self.version >= VERSION_ENUM_SETS {
            self.state = State::EnumValue { id };
        } else {
            self.end_value(here, sink);
        }
    }

    pub(super) fn read_enum_value<S: TokenSink>(
        &mut self,
        id: u64,
        tokens: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        let at = tokens.position();
        match tokens.first() {
            None => return Err(ReadFailure::Truncated),
            Some(tag @ (kind::SINT | kind::UINT)) => {
                tokens.byte()?;
                read_symbol((Space::Enum, id), tag == kind::SINT, tokens, sink)?;
                self.end_value(tokens.position(), sink);
            }
            Some(other @ kind::NULL..=kind::WSTRING) => {
                sink.warn(TokenWarning::EnumValue(other), at, at.saturating_add(1));
                self.state = State::Value;
            }
            Some(other) => return Err(StreamError::ValueType(other).into()),
        }
        Ok(())
    }

    /// Continues with `count` values inside the present one.
    pub(super) fn nest<S: TokenSink>(&mut self, count: u64, here: u64, sink: &mut S) -> Read<()> {
        if count == 0 {
            self.end_value(here, sink);
            return Ok(());
        }
        if self.stack.len() >= self.depth_max {
            return Err(StreamError::Depth(to_u64(self.depth_max)).into());
        }
        self.stack.push(count);
        self.state = State::Value;
        Ok(())
    }

    /// Ends a value, and with it perhaps those around it.
    #[inline]
    pub(super) fn end_value<S: TokenSink>(&mut self, here: u64, sink: &mut S) {
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

/// Reads the value of an enum or bitmask.
pub(super) fn read_symbol<S: TokenSink>(
    (space, id): (Space, u64),
    is_negative: bool,
    tokens: &mut Tokens<'_>,
    sink: &mut S,
) -> Read<()> {
    let at = tokens.position();
    let value = read_uint(tokens, sink)?;
    let symbol = SymbolUse { space, id, is_negative, value };
    if let Some(unlisted) = sink.judge(symbol) {
        sink.warn(TokenWarning::Unlisted(symbol, unlisted), at, tokens.position());
    }
    Ok(())
}

#[inline]
pub(super) fn read_id<S: TokenSink>(
    tokens: &mut Tokens<'_>,
    space: Space,
    sink: &mut S,
) -> Read<u64> {
    let id = read_uint(tokens, sink)?;
    if id > ID_MAX { Err(StreamError::Id(space, id).into()) } else { Ok(id) }
}
