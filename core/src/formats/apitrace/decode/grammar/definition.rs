//! Definitions of ids, stack frames and the header of the stream: tokens that are rare.

use super::parser::{Defined, Parser, State, read_count, read_uint};
use super::tokens::{Read, ReadFailure, Tokens};
use super::value::{read_id, read_symbol};
use super::{CountField, Space, StreamError, TokenSink, TokenWarning, ValueToken};
use crate::formats::apitrace::decode::names::{NameForm, is_function_name, name_form};
use crate::formats::apitrace::layout::{VERSION_PROPERTIES, frame, kind};

impl Parser {
    pub(super) fn read_rare_token<S: TokenSink>(
        &mut self,
        tokens: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        match self.state {
            State::Event | State::Detail | State::Value => Ok(()),
            State::LongString { left } => self.read_long_string(left, tokens, sink),
            State::WideString { left } => self.read_wide_string(left, tokens, sink),
            State::EnumValue { id, at } => self.read_enum_value((id, at), tokens, sink),
            State::BitmaskValue { id } => {
                let symbol = read_symbol((Space::Bitmask, id), false, tokens, sink)?;
                sink.value(ValueToken::Bitmask(symbol));
                self.end_value(tokens.position(), sink);
                Ok(())
            }
            State::Frames { left } => self.read_frame(left, tokens, sink),
            State::FrameDetail { id, left } => self.read_frame_detail(id, left, tokens, sink),
            State::DefinitionName(defined) => {
                let from = *tokens;
                read_name(defined.space, true, tokens, sink)?;
                sink.part(tokens.since(from));
                self.state = State::DefinitionCount(defined);
                Ok(())
            }
            State::DefinitionCount(defined) => {
                let from = *tokens;
                let count = read_count(CountField::SignatureItems, tokens, sink)?;
                sink.part(tokens.since(from));
                let defined = Defined { count, ..defined };
                self.state = State::DefinitionItems { defined, left: count };
                Ok(())
            }
            State::DefinitionItems { defined, left: 0 } => {
                self.end_definition(defined, tokens.position(), sink)
            }
            State::DefinitionItems { defined, left } => {
                self.read_definition_item(defined, left, tokens, sink)
            }
            State::Version => self.read_version(tokens, sink),
            State::Property { is_name } => self.read_property(is_name, tokens, sink),
        }
    }

    fn read_frame<S: TokenSink>(
        &mut self,
        left: u64,
        tokens: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        if left == 0 {
            self.state = State::Detail;
            return Ok(());
        }
        let id = read_id(tokens, Space::Frame, sink)?;
        self.state = if sink.known(Space::Frame, id)?.is_some() {
            sink.frame(id);
            State::Frames { left: left.saturating_sub(1) }
        } else {
            sink.define(Space::Frame, id, tokens.position());
            State::FrameDetail { id, left }
        };
        Ok(())
    }

    fn read_frame_detail<S: TokenSink>(
        &mut self,
        id: u64,
        left: u64,
        tokens: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        let from = *tokens;
        let tag = tokens.byte()?;
        if frame::TEXTS.contains(&tag) {
            read_name(Space::Frame, false, tokens, sink)?;
        } else if frame::NUMBERS.contains(&tag) {
            read_uint(tokens, sink)?;
        } else if tag != frame::END {
            return Err(StreamError::FrameTag(tag).into());
        }
        sink.part(tokens.since(from));
        if tag == frame::END {
            sink.defined(Space::Frame, id, 0)?;
            sink.frame(id);
            self.state = State::Frames { left: left.saturating_sub(1) };
        }
        Ok(())
    }

    fn end_definition<S: TokenSink>(
        &mut self,
        defined: Defined,
        here: u64,
        sink: &mut S,
    ) -> Read<()> {
        let Defined { space, id, count } = defined;
        sink.defined(space, id, count)?;
        match space {
            Space::Function | Space::Frame => self.state = State::Detail,
            Space::Struct => {
                sink.value(ValueToken::Struct(id));
                self.nest(count, here, sink)?;
            }
            Space::Enum => self.expect_enum_value((id, here), here, sink),
            Space::Bitmask => self.state = State::BitmaskValue { id },
        }
        Ok(())
    }

    fn read_definition_item<S: TokenSink>(
        &mut self,
        defined: Defined,
        left: u64,
        tokens: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        let from = *tokens;
        read_name(defined.space, false, tokens, sink)?;
        let at = tokens.position();
        match defined.space {
            Space::Enum => {
                let tag = tokens.byte()?;
                if !matches!(tag, kind::SINT | kind::UINT) {
                    return Err(StreamError::EnumType(tag).into());
                }
                read_uint(tokens, sink)?;
            }
            Space::Bitmask => {
                if read_uint(tokens, sink)? == 0 && left < defined.count {
                    sink.warn(TokenWarning::ZeroFlag, at, tokens.position());
                }
            }
            Space::Function | Space::Struct | Space::Frame => {}
        }
        sink.part(tokens.since(from));
        self.state = State::DefinitionItems { defined, left: left.saturating_sub(1) };
        Ok(())
    }

    fn read_version<S: TokenSink>(&mut self, tokens: &mut Tokens<'_>, sink: &mut S) -> Read<()> {
        let at = tokens.position();
        let (version, _) = tokens.uint()?;
        self.version = version;
        if version < VERSION_PROPERTIES {
            sink.version(version, None, at, tokens.position())?;
            self.state = State::Event;
        } else {
            let (semantic, _) = tokens.uint()?;
            sink.version(version, Some(semantic), at, tokens.position())?;
            self.state = State::Property { is_name: true };
        }
        Ok(())
    }

    fn read_property<S: TokenSink>(
        &mut self,
        is_name: bool,
        tokens: &mut Tokens<'_>,
        sink: &mut S,
    ) -> Read<()> {
        let at = tokens.position();
        let (text, _) = tokens.name(None)?;
        sink.property(text, is_name, at, tokens.position())?;
        self.state = match is_name && text.is_empty() {
            true => State::Event,
            false => State::Property { is_name: !is_name },
        };
        Ok(())
    }
}

/// Reads a name inside a definition.
fn read_name<S: TokenSink>(
    space: Space,
    own: bool,
    tokens: &mut Tokens<'_>,
    sink: &mut S,
) -> Read<()> {
    let at = tokens.position();
    let (text, warning) = tokens.name(Some(space))?;
    // The sink gets nothing of an item that is truncated: its value may be missing.
    let is_complete = match space {
        Space::Enum => tokens.has_uint_after(1),
        Space::Bitmask => tokens.has_uint_after(0),
        Space::Function | Space::Struct | Space::Frame => true,
    };
    if !is_complete {
        return Err(ReadFailure::Truncated);
    }
    let end = tokens.position();
    if let Some(warning) = warning {
        sink.warn(warning, at, end);
    }
    match name_form(text) {
        NameForm::Plain if own && space == Space::Function && !is_function_name(text) => {
            sink.warn(TokenWarning::NameNotIdentifier, at, end);
        }
        NameForm::Plain => {}
        NameForm::NotUtf8 => sink.warn(TokenWarning::NameNotUtf8(space), at, end),
        NameForm::Control => sink.warn(TokenWarning::NameControl(space), at, end),
    }
    Ok(sink.name(space, text, own)?)
}
