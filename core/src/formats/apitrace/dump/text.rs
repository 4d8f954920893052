//! Values as apitrace prints them (`lib/trace/trace_dump.cpp`), token by token.

use std::fmt::Write as _;

use super::guids::{self, Guid};
use super::names::{Names, Signature, signed};
use super::number::{DOUBLE_DIGITS, FLOAT_DIGITS, widen, write_number};
use crate::formats::apitrace::decode::grammar::{SymbolUse, ValueToken};
use crate::kit::num::to_usize;

/// A value that holds others, or whose bytes come in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    /// An array; an array of one value is printed as a reference to it.
    Array { is_single: bool, count: u64 },
    /// A struct; the members of one without a name are printed as those of the one around it.
    Struct { id: u64, member: u64, has_text: bool, is_flat: bool },
    /// Two forms of one value, of which the first one is printed.
    Repr { is_second: bool },
    /// A string; it ends with the first NUL.
    String { has_ended: bool },
    /// A blob, whose bytes are not printed.
    Blob,
}

/// The text of one value.
#[derive(Debug, Default)]
pub(super) struct ValueText {
    /// The text so far.
    pub(super) text: String,
    /// Bytes that the text may have.
    pub(super) max: usize,
    /// Whether text was left out.
    pub(super) is_cut: bool,
    is_literal: bool,
    levels: Vec<Level>,
    /// The number of levels around the value that is not printed.
    muted: Option<usize>,
    /// The GUID that is being read.
    guid: Option<Guid>,
}

impl ValueText {
    /// No value; `is_literal`: whether line ends and tabs in strings are printed as they are.
    pub(super) fn new(is_literal: bool) -> Self {
        Self { is_literal, ..Self::default() }
    }

    /// Begins a value.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.levels.clear();
        (self.muted, self.is_cut, self.guid) = (None, false, None);
    }

    /// Returns a string as apitrace prints it.
    pub(super) fn of_string(bytes: &[u8]) -> String {
        let mut value = Self { max: usize::MAX, is_literal: true, ..Self::default() };
        let names = Names::default();
        for token in [ValueToken::String, ValueToken::Bytes(bytes), ValueToken::End] {
            value.add(token, &names);
        }
        value.text
    }

    /// Adds a token of the value.
    pub(super) fn add(&mut self, token: ValueToken<'_>, names: &Names) {
        match token {
            ValueToken::Bytes(bytes) => self.add_bytes(bytes),
            ValueToken::Character(character) => {
                let character = u32::try_from(character).unwrap_or(u32::MAX);
                self.add_character(character);
            }
            ValueToken::End => self.end_level(),
            ValueToken::Array(count) => {
                let is_single = count == 1;
                self.begin_level(Level::Array { is_single, count: 0 }, names);
            }
            ValueToken::Struct(id) => {
                let is_flat = self.is_nameless_member(names);
                let has_text = match self.levels.last() {
                    Some(Level::Struct { has_text, .. }) if is_flat => *has_text,
                    _ => false,
                };
                self.begin_level(Level::Struct { id, member: 0, has_text, is_flat }, names);
                self.begin_guid(id, names);
            }
            ValueToken::Repr => self.begin_level(Level::Repr { is_second: false }, names),
            ValueToken::String | ValueToken::WideString => {
                self.begin_level(Level::String { has_ended: false }, names);
                if token == ValueToken::WideString {
                    self.push("L");
                }
                self.push("\"");
            }
            ValueToken::Blob(len) => {
                self.begin_level(Level::Blob, names);
                self.push_fmt(format_args!("blob({len})"));
            }
            simple => {
                if let (Some(guid), ValueToken::Unsigned(number)) = (&mut self.guid, simple) {
                    guid.push(number);
                }
                self.begin_value(names);
                self.push_simple(simple, names);
                self.end_value();
            }
        }
    }

    fn push(&mut self, text: &str) {
        if self.muted.is_some() {
            return;
        }
        match self.text.len().saturating_add(text.len()) <= self.max {
            true => self.text.push_str(text),
            false => self.is_cut = true,
        }
    }

    fn push_fmt(&mut self, text: std::fmt::Arguments<'_>) {
        self.push_with(|out| _ = out.write_fmt(text));
    }

    /// Appends what `write` appends, or nothing if that is too much.
    fn push_with(&mut self, write: impl FnOnce(&mut String)) {
        if self.muted.is_some() {
            return;
        }
        let len = self.text.len();
        write(&mut self.text);
        if self.text.len() > self.max {
            self.text.truncate(len);
            self.is_cut = true;
        }
    }

    /// Whether the next value is a member without a name.
    fn is_nameless_member(&self, names: &Names) -> bool {
        self.muted.is_none() && self.next_member(names).is_some_and(str::is_empty)
    }

    fn next_member<'n>(&self, names: &'n Names) -> Option<&'n str> {
        let Some(Level::Struct { id, member, .. }) = self.levels.last() else { return None };
        let items = &names.structure(*id)?.items;
        Some(items.get(to_usize(*member)).map(String::as_str).unwrap_or("?"))
    }

    /// Begins a value: separates it from the one before, and names it.
    fn begin_value(&mut self, names: &Names) {
        let member = self.next_member(names);
        let depth = self.levels.len();
        let before = match self.levels.last_mut() {
            Some(Level::Array { is_single: true, .. }) => "&",
            Some(Level::Array { count, .. }) => {
                *count = count.saturating_add(1);
                if *count > 1 { ", " } else { "" }
            }
            Some(Level::Struct { member: index, has_text, .. }) => {
                *index = index.saturating_add(1);
                match member {
                    Some("") => {
                        self.muted.get_or_insert(depth);
                        ""
                    }
                    _ if std::mem::replace(has_text, true) => ", ",
                    _ => "",
                }
            }
            Some(Level::Repr { is_second }) => {
                if std::mem::replace(is_second, true) {
                    self.muted.get_or_insert(depth);
                }
                ""
            }
            Some(Level::String { .. } | Level::Blob) | None => "",
        };
        self.push(before);
        if let Some(member) = member {
            self.push_fmt(format_args!("{member} = "));
        }
    }

    fn end_value(&mut self) {
        if self.muted == Some(self.levels.len()) {
            self.muted = None;
        }
    }

    fn begin_level(&mut self, level: Level, names: &Names) {
        if let Level::Struct { is_flat: true, .. } = level {
            if let Some(Level::Struct { member, .. }) = self.levels.last_mut() {
                *member = member.saturating_add(1);
            }
        } else {
            self.begin_value(names);
        }
        self.levels.push(level);
        if matches!(
            level,
            Level::Array { is_single: false, .. } | Level::Struct { is_flat: false, .. }
        ) {
            self.push("{");
        }
    }

    /// Notes that a GUID begins with the level that was begun last.
    fn begin_guid(&mut self, id: u64, names: &Names) {
        let is_guid = |structure: &Signature| {
            structure.name == "GUID" && structure.items.len() == guids::MEMBERS
        };
        let is_shown = self.muted.is_none() && names.structure(id).is_some_and(is_guid);
        if let Some(before) = self.text.strip_suffix('{').filter(|_| is_shown) {
            self.guid = Some(Guid::new(before.len(), self.levels.len()));
        }
    }

    /// Replaces the members of a GUID by its name.
    fn end_guid(&mut self) {
        let Some(guid) = self.guid.take_if(|guid| guid.depth > self.levels.len()) else { return };
        if let Some(text) = guid.text() {
            self.text.truncate(guid.start);
            self.push(&text);
        }
    }

    fn end_level(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        match level {
            Level::Array { is_single: false, .. } | Level::Struct { is_flat: false, .. } => {
                self.push("}");
            }
            Level::Struct { has_text: inner, .. } => {
                if let Some(Level::Struct { has_text, .. }) = self.levels.last_mut() {
                    *has_text |= inner;
                }
            }
            Level::String { .. } => self.push("\""),
            Level::Array { .. } | Level::Repr { .. } | Level::Blob => {}
        }
        self.end_guid();
        self.end_value();
    }

    fn push_simple(&mut self, token: ValueToken<'_>, names: &Names) {
        match token {
            ValueToken::Null => self.push("NULL"),
            ValueToken::Bool(value) => self.push(if value { "true" } else { "false" }),
            ValueToken::Negative(magnitude) => {
                self.push_fmt(format_args!("{}", signed(true, magnitude)));
            }
            ValueToken::Unsigned(value) => self.push_fmt(format_args!("{value}")),
            ValueToken::Float(value) => {
                self.push_with(|out| write_number(widen(value), FLOAT_DIGITS, out));
            }
            ValueToken::Double(value) => {
                self.push_with(|out| write_number(value, DOUBLE_DIGITS, out));
            }
            ValueToken::Opaque(value) => self.push_fmt(format_args!("{value:#x}")),
            ValueToken::Enum(id, symbol) => self.push_enum(id, symbol, names),
            ValueToken::Bitmask(symbol) => self.push_flags(symbol, names),
            _ => {}
        }
    }

    fn push_enum(&mut self, id: u64, symbol: Option<SymbolUse>, names: &Names) {
        let values = names.enumeration(id);
        let value = match symbol {
            Some(symbol) => signed(symbol.is_negative, symbol.value),
            None => values.and_then(|values| values.first).unwrap_or_default(),
        };
        match values.and_then(|values| values.names.get(&value)) {
            Some(name) => self.push(name),
            None => self.push_fmt(format_args!("{value}")),
        }
    }

    fn push_flags(&mut self, symbol: SymbolUse, names: &Names) {
        let mut left = symbol.value;
        let mut between = "";
        for (flag, name) in names.flags(symbol.id) {
            let is_set = match flag {
                0 => left == 0,
                flag => left & flag == *flag,
            };
            if is_set {
                self.push(between);
                self.push(name);
                left &= !flag;
                between = " | ";
            }
            if left == 0 {
                break;
            }
        }
        if left != 0 || between.is_empty() {
            self.push_fmt(format_args!("{between}0x{left:x}"));
        }
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        if self.muted.is_some() {
            return;
        }
        let Some(Level::String { has_ended: false }) = self.levels.last() else { return };
        for byte in bytes {
            // C takes a byte from 0x80 on for a negative number.
            self.add_character(i32::from(byte.cast_signed()).cast_unsigned());
        }
    }

    fn add_character(&mut self, character: u32) {
        let Some(Level::String { has_ended }) = self.levels.last_mut() else { return };
        *has_ended |= character == 0;
        if *has_ended {
            return;
        }
        match u8::try_from(character) {
            Ok(b'"') => self.push("\\\""),
            Ok(b'\\') => self.push("\\\\"),
            Ok(plain @ 0x20..=0x7e) => self.push(char::from(plain).encode_utf8(&mut [0; 4])),
            Ok(b'\t') if self.is_literal => self.push("\t"),
            Ok(b'\n') if self.is_literal => self.push("\n"),
            Ok(b'\t') => self.push("\\t"),
            Ok(b'\n') => self.push("\\n"),
            Ok(b'\r') => {}
            _ => self.push_octal(character),
        }
    }

    /// Pushes another character. apitrace prints its middle digit for the first one, too.
    fn push_octal(&mut self, character: u32) {
        let (low, middle) = (character & 7, character >> 3 & 7);
        match middle {
            0 => self.push_fmt(format_args!("\\{low}")),
            _ => self.push_fmt(format_args!("\\{middle}{middle}{low}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_form_of_a_value_is_left_out_to_its_end() {
        let tokens = [
            ValueToken::Array(2),
            ValueToken::Repr,
            ValueToken::Unsigned(1),
            ValueToken::Array(2),
            ValueToken::Unsigned(2),
            ValueToken::Unsigned(3),
            ValueToken::End,
            ValueToken::End,
            ValueToken::Unsigned(4),
            ValueToken::End,
        ];
        let mut value = ValueText { max: usize::MAX, ..ValueText::new(false) };
        tokens.into_iter().for_each(|token| value.add(token, &Names::default()));
        assert_eq!(value.text, "{1, 4}");
    }
}
