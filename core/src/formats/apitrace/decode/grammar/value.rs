//! The values of arguments and results.

use super::parser::{Defined, Parser, State, read_count, read_uint};
use super::tokens::{Read, ReadFailure, Tokens};
use super::{CountField, Space, StreamError, SymbolUse, TokenSink, TokenWarning, ValueToken};
use crate::formats::apitrace::decode::repeats::Number;
use crate::formats::apitrace::layout::{ID_MAX, TEXT_LOOKED_AT, VERSION_ENUM_SETS, kind};
use crate::kit::num::to_u64;

impl Parser {
    pub(super) fn read_value<S: TokenSink>(
        &mut self,
        tokens: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        // The value of an argument is shown from its type on, any other enum from its number on.
        let is_argument = self.stack.is_empty() && !self.is_result;
        let at = is_argument.then(|| tokens.position());
        let tag = tokens.byte()?;
        if self.stack.is_empty() && tag != kind::ENUM {
            sink.value_type(tag, 0);
        }
        match tag {
            kind::NULL..=kind::DOUBLE => self.read_number(tag, tokens, sink)?,
            kind::OPAQUE => self.read_number(kind::OPAQUE, tokens, sink)?,
            kind::STRING | kind::BLOB => self.read_string(tag, tokens, sink)?,
            kind::ENUM => self.read_enum(at, tokens, sink)?,
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
            kind::STRUCT => self.read_struct(tokens, sink)?,
            kind::ARRAY => {
                let count = read_count(CountField::ArrayLength, tokens, sink)?;
                sink.value(ValueToken::Array(count));
                self.nest(count, tokens.position(), sink)?;
            }
            kind::REPR => {
                sink.value(ValueToken::Repr);
                self.nest(2, tokens.position(), sink)?;
            }
            kind::WSTRING => {
                let left = read_count(CountField::WideStringLength, tokens, sink)?;
                sink.value(ValueToken::WideString);
                self.state = State::WideString { left };
            }
            other => return Err(StreamError::ValueType(other).into()),
        }
        Ok(())
    }

    /// Reads a value that is a number, an address, a boolean or none.
    fn read_number<S: TokenSink>(
        &mut self,
        tag: u8,
        tokens: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        let at = tokens.position();
        let token = match tag {
            kind::SINT => ValueToken::Negative(read_uint(tokens, sink)?),
            kind::UINT => ValueToken::Unsigned(read_uint(tokens, sink)?),
            kind::OPAQUE => {
                let value = read_uint(tokens, sink)?;
                sink.address(value, at, tokens.position());
                ValueToken::Opaque(value)
            }
            kind::FLOAT => {
                let bytes = tokens.bytes(4)?.first_chunk().copied().unwrap_or_default();
                ValueToken::Float(f32::from_le_bytes(bytes))
            }
            kind::DOUBLE => {
                let bytes = tokens.bytes(8)?.first_chunk().copied().unwrap_or_default();
                ValueToken::Double(f64::from_le_bytes(bytes))
            }
            kind::FALSE | kind::TRUE => ValueToken::Bool(tag == kind::TRUE),
            _ => ValueToken::Null,
        };
        if matches!(self.stack.as_slice(), [] | [1]) {
            let number = match token {
                ValueToken::Unsigned(value) => Some(Number::Unsigned(value)),
                ValueToken::Float(value) => Some(Number::Float(value.to_bits())),
                ValueToken::Double(value) => Some(Number::Double(value.to_bits())),
                _ => None,
            };
            number.into_iter().for_each(|number| sink.number(number, at, tokens.position()));
        }
        sink.value(token);
        self.end_value(tokens.position(), sink);
        Ok(())
    }

    fn read_struct<S: TokenSink>(&mut self, tokens: &mut Tokens<'_>, sink: &mut S) -> Read<()> {
        let id = read_id(tokens, Space::Struct, sink)?;
        match sink.known(Space::Struct, id)? {
            Some(count) => {
                sink.value(ValueToken::Struct(id));
                self.nest(count, tokens.position(), sink)
            }
            None => {
                sink.define(Space::Struct, id, tokens.position());
                let defined = Defined { space: Space::Struct, id, count: 0 };
                self.state = State::DefinitionName(defined);
                Ok(())
            }
        }
    }

    fn read_string<S: TokenSink>(
        &mut self,
        tag: u8,
        tokens: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        let len = read_count(CountField::StringLength, tokens, sink)?;
        let at = tokens.position();
        let is_short = tag == kind::STRING && len <= TEXT_LOOKED_AT;
        let before = *tokens;
        let bytes = match tokens.bytes(len) {
            Err(truncated) if is_short => return Err(truncated),
            bytes => bytes.ok(),
        };
        sink.value(if tag == kind::STRING { ValueToken::String } else { ValueToken::Blob(len) });
        sink.bytes_begin(at);
        let Some(bytes) = bytes else {
            sink.long_string(len, at);
            let skipped = tokens.skip_at_most(len);
            sink.value(ValueToken::Bytes(tokens.since(before)));
            self.state = State::LongString { left: len.saturating_sub(skipped) };
            return Ok(());
        };
        if is_short {
            sink.text(bytes, at);
        }
        sink.value(ValueToken::Bytes(bytes));
        sink.value(ValueToken::End);
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
        let before = *tokens;
        let skipped = tokens.skip_at_most(left);
        sink.value(ValueToken::Bytes(tokens.since(before)));
        self.state = State::LongString { left: left.saturating_sub(skipped) };
        if skipped == left {
            sink.value(ValueToken::End);
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
            sink.value(ValueToken::End);
            self.end_value(tokens.position(), sink);
            return Ok(());
        }
        let character = read_uint(tokens, sink)?;
        sink.value(ValueToken::Character(character));
        self.state = State::WideString { left: left.saturating_sub(1) };
        Ok(())
    }

    /// Reads the signature of an enum that is shown from `at` on.
    fn read_enum<S: TokenSink>(
        &mut self,
        at: Option<u64>,
        tokens: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        let space = Space::Enum;
        let id = read_id(tokens, space, sink)?;
        if self.stack.is_empty() {
            sink.value_type(kind::ENUM, id);
        }
        if sink.known(space, id)?.is_some() {
            let here = tokens.position();
            self.expect_enum_value((id, at.unwrap_or(here)), here, sink);
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

    /// Continues after the signature of an enum that is shown from `at` on: with its number, which
    /// old versions do not write.
    pub(super) fn expect_enum_value<S: TokenSink>(
        &mut self,
        (id, at): (u64, u64),
        here: u64,
        sink: &mut S,
    ) {
        if self.version >= VERSION_ENUM_SETS {
            self.state = State::EnumValue { id, at };
        } else {
            sink.value(ValueToken::Enum(id, None));
            self.end_value(here, sink);
        }
    }

    pub(super) fn read_enum_value<S: TokenSink>(
        &mut self,
        (id, value_at): (u64, u64),
        tokens: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        let at = tokens.position();
        match tokens.first() {
            None => return Err(ReadFailure::Truncated),
            Some(tag @ (kind::SINT | kind::UINT)) => {
                tokens.byte()?;
                let symbol = read_symbol((Space::Enum, id), tag == kind::SINT, tokens, sink)?;
                // A number that is not listed is shown alone, as the warning about it is.
                let shown_at = if sink.judge(symbol).is_none() { value_at } else { at };
                sink.symbol(symbol, shown_at, tokens.position());
                sink.value(ValueToken::Enum(id, Some(symbol)));
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
            sink.value(ValueToken::End);
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
            sink.value(ValueToken::End);
        }
        self.state = State::Detail;
        sink.detail_end(here);
    }
}

/// Reads the value of an enum or bitmask and returns it.
pub(super) fn read_symbol<S: TokenSink>(
    (space, id): (Space, u64),
    is_negative: bool,
    tokens: &mut Tokens<'_>,
    sink: &mut S,
) -> Read<SymbolUse> {
    let at = tokens.position();
    let value = read_uint(tokens, sink)?;
    let symbol = SymbolUse { space, id, is_negative, value };
    if let Some(unlisted) = sink.judge(symbol) {
        sink.warn(TokenWarning::Unlisted(symbol, unlisted), at, tokens.position());
    }
    Ok(symbol)
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
