//! The parser: one pass, a list of values, a stack of the objects and arrays that are open.

use std::borrow::Cow;
use std::ops::Range;

use super::damaged_keys::find_damaged_keys;
use super::{Json, JsonError, Kind, Value};
use crate::formats::ovni::limits::{JSON_BYTES, JSON_DEPTH, JSON_VALUES};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::to_u64;
use crate::kit::span::Layer;
use crate::model::limits::Limits;

/// U+FEFF in UTF-8, which editors write at the start of a text. The emulator refuses it.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Parses one JSON text.
///
/// # Errors
///
/// The first byte that does not fit, or a limit that the text exceeds.
pub fn parse<'a>(text: Cow<'a, [u8]>, limits: &Limits) -> Result<Json<'a>, JsonError> {
    if to_u64(text.len()) > limits.of(&JSON_BYTES) {
        return Err(JsonError { at: 0, expected: "a shorter text", limit: true });
    }
    let cursor = Cursor::new(&text, Layer::stored(0), 0, Order::Little);
    let mut parser = Parser {
        cursor,
        values: Vec::new(),
        open: Vec::new(),
        values_max: limits.count_of(&JSON_VALUES),
        depth_max: limits.count_of(&JSON_DEPTH),
    };
    if text.starts_with(BYTE_ORDER_MARK) {
        parser.advance(BYTE_ORDER_MARK.len());
    }
    parser.document()?;
    let after = parser.position();
    parser.white_space()?;
    let trailing = (!parser.cursor.is_empty()).then_some(after);
    let values = parser.values;
    let (duplicates, damaged_keys) = (Vec::new(), Vec::new());
    let mut json = Json { text, values, duplicates, damaged_keys, trailing };
    json.duplicates = json.find_duplicates();
    json.damaged_keys = find_damaged_keys(&json);
    Ok(json)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    values: Vec<Value>,
    /// Numbers of the objects and arrays that are open.
    open: Vec<usize>,
    values_max: usize,
    depth_max: usize,
}

impl Parser<'_> {
    fn expected(&self, expected: &'static str) -> JsonError {
        JsonError { at: self.position(), expected, limit: false }
    }

    fn position(&self) -> u64 {
        self.cursor.position()
    }

    fn peek(&self) -> Option<u8> {
        self.cursor.rest().first().copied()
    }

    /// Moves past `count` bytes; the callers have looked at them.
    fn advance(&mut self, count: usize) {
        let moved = self.cursor.skip(to_u64(count), 1, "text");
        debug_assert!(moved.is_ok());
    }

    /// Moves past `byte` if it is the next one.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.advance(usize::from(found));
        found
    }

    /// Moves past white space and comments.
    fn white_space(&mut self) -> Result<(), JsonError> {
        loop {
            let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
            let spaces = self.cursor.rest().iter().take_while(is_space).count();
            self.advance(spaces);
            let rest = self.cursor.rest();
            let len = if rest.starts_with(b"//") {
                rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
            } else if rest.starts_with(b"/*") {
                let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
                let end = end.ok_or_else(|| self.expected("the end of a comment"))?;
                end.saturating_add(4)
            } else {
                return Ok(());
            };
            self.advance(len);
        }
    }

    /// The outermost value and everything inside it.
    fn document(&mut self) -> Result<(), JsonError> {
        self.white_space()?;
        self.value(None)?;
        while let Some(parent) = self.open.last().copied() {
            let kind = self.values.get(parent).map_or(Kind::Null, |value| value.kind);
            let is_first = self.values.len() == parent.saturating_add(1);
            self.white_space()?;
            let close = if kind == Kind::Object { b'}' } else { b']' };
            if self.take(close) {
                self.close(parent);
                continue;
            }
            if !is_first && !self.take(b',') {
                return Err(self.expected("`,` or a closing bracket"));
            }
            self.white_space()?;
            let key = if kind == Kind::Object { Some(self.key()?) } else { None };
            self.value(key)?;
        }
        Ok(())
    }

    /// A key, its colon, and the white space around it.
    fn key(&mut self) -> Result<Range<u64>, JsonError> {
        let start = self.position();
        self.string()?;
        let key = start..self.position();
        self.white_space()?;
        if !self.take(b':') {
            return Err(self.expected("`:`"));
        }
        self.white_space()?;
        Ok(key)
    }

    fn close(&mut self, parent: usize) {
        let (end, after) = (self.position(), self.values.len());
        if let Some(value) = self.values.get_mut(parent) {
            value.span.end = end;
            value.after = after;
        }
        self.open.pop();
    }

    /// One value. An object or an array is only opened.
    fn value(&mut self, key: Option<Range<u64>>) -> Result<(), JsonError> {
        if self.values.len() >= self.values_max {
            return Err(JsonError { limit: true, ..self.expected("fewer values") });
        }
        let (start, number) = (self.position(), self.values.len());
        let kind = match self.peek() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => {
                self.string()?;
                Kind::String
            }
            Some(b'-' | b'0'..=b'9') => Kind::Number(self.number()?),
            _ if self.word(b"true") => Kind::Bool(true),
            _ if self.word(b"false") => Kind::Bool(false),
            _ if self.word(b"null") => Kind::Null,
            _ => return Err(self.expected("a value")),
        };
        if matches!(kind, Kind::Object | Kind::Array) {
            if self.open.len() >= self.depth_max {
                return Err(JsonError { limit: true, ..self.expected("less nesting") });
            }
            self.advance(1);
            self.open.push(number);
        }
        let span = start..self.position();
        self.values.push(Value { kind, key, span, after: number.saturating_add(1) });
        Ok(())
    }

    /// Moves past `word` if it is next.
    fn word(&mut self, word: &[u8]) -> bool {
        let found = self.cursor.rest().starts_with(word);
        if found {
            self.advance(word.len());
        }
        found
    }

    fn string(&mut self) -> Result<(), JsonError> {
        if !self.take(b'"') {
            return Err(self.expected("`\"`"));
        }
        loop {
            let is_plain = |byte: &&u8| !matches!(byte, 0..0x20 | b'"' | b'\\');
            let plain = self.cursor.rest().iter().take_while(is_plain).count();
            self.advance(plain);
            match self.peek() {
                None => return Err(self.expected("the end of a string")),
                Some(b'"') => {
                    self.advance(1);
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(self.expected("no control character in a string")),
            }
        }
    }

    /// A backslash and the characters that belong to it.
    fn escape(&mut self) -> Result<(), JsonError> {
        self.advance(1);
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
            Some(b'u') => {
                let digits = self.cursor.rest().get(1..5).unwrap_or_default();
                if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err(self.expected("four hexadecimal digits"));
                }
                self.advance(4);
            }
            _ => return Err(self.expected("an escape")),
        }
        self.advance(1);
        Ok(())
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let count = self.cursor.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.expected("a digit"));
        }
        self.advance(count);
        Ok(())
    }

    fn number(&mut self) -> Result<f64, JsonError> {
        let before = self.cursor.clone();
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        let len = before.rest().len().saturating_sub(self.cursor.rest().len());
        let text = before.rest().get(..len).unwrap_or_default();
        let parsed = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        parsed.ok_or_else(|| self.expected("a number"))
    }
}
