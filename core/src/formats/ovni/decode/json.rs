//! JSON with the place of every key and value.
//!
//! Strict, as RFC 8259 has it, with the two exceptions that the emulator's reader makes: comments
//! (`//` and `/* */`) are white space, and what follows the value is not looked at. Values stand in
//! one list, in the order of their first bytes; nothing recurses.

use std::collections::btree_map::Entry;
use std::ops::Range;

use crate::kit::num::to_u64;

/// Nesting that is followed. The emulator's reader follows 2048; libovni writes 5.
pub const DEPTH_MAX: usize = 64;
/// Bytes of a `stream.json`. Labels of marks make some hundred KiB at most.
pub const TEXT_MAX: u64 = 4 << 20;
/// Values of one text. Each takes some 100 bytes of memory.
pub const VALUES_MAX: usize = 1 << 18;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `{}`.
    Object,
    /// `[]`.
    Array,
    /// A string; its text is decoded when it is asked for.
    String,
    /// A number.
    Number(f64),
    /// `true` or `false`.
    Bool(bool),
    /// `null`.
    Null,
}

impl Kind {
    /// The word for it in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::Array => "an array",
            Self::String => "a string",
            Self::Number(_) => "a number",
            Self::Bool(_) => "a boolean",
            Self::Null => "null",
        }
    }
}

#[derive(Clone, Debug)]
struct Value {
    kind: Kind,
    /// With its quotes, for members of objects.
    key: Option<Range<usize>>,
    span: Range<usize>,
    /// Number of the value after the last one inside this one.
    after: usize,
}

/// A text and its values.
#[derive(Clone, Debug)]
pub struct Json<'a> {
    text: &'a [u8],
    values: Vec<Value>,
    /// Keys that stand twice in one object.
    pub duplicates: Vec<Duplicate>,
    /// Where something follows the value.
    pub trailing: Option<u64>,
}

/// A member whose key stands before it in the same object. Numbers are for [`Json::item`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The member.
    pub second: usize,
    /// The first one with its key.
    pub first: usize,
    /// The member directly before it.
    pub before: usize,
}

/// Why a text is no JSON, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Offset of the byte at fault.
    pub at: u64,
    /// What was expected there.
    pub expected: &'static str,
    /// A limit of this reader, and no fault of the text.
    pub limit: bool,
}

/// A value of a text.
#[derive(Clone, Copy, Debug)]
pub struct Item<'j, 'a> {
    json: &'j Json<'a>,
    number: usize,
}

/// Reads one JSON text.
///
/// # Errors
///
/// The first byte that does not fit.
pub fn parse(text: &[u8]) -> Result<Json<'_>, JsonError> {
    if to_u64(text.len()) > TEXT_MAX {
        return Err(JsonError { at: 0, expected: "at most 4 MiB", limit: true });
    }
    let mut reader = Reader { text, at: 0, values: Vec::new(), open: Vec::new() };
    if text.starts_with(b"\xef\xbb\xbf") {
        reader.at = 3;
    }
    reader.document()?;
    let after = reader.at;
    reader.space()?;
    let trailing = (reader.at < text.len()).then_some(to_u64(after));
    let mut json = Json { text, values: reader.values, duplicates: Vec::new(), trailing };
    json.duplicates = json.find_duplicates();
    Ok(json)
}

impl<'a> Json<'a> {
    /// The value that the text is.
    pub fn root(&self) -> Item<'_, 'a> {
        Item { json: self, number: 0 }
    }

    /// The value with this number.
    pub fn item(&self, number: usize) -> Item<'_, 'a> {
        Item { json: self, number }
    }

    /// How many objects and arrays hold a value.
    pub fn depth(&self, item: &Item<'_, '_>) -> usize {
        let holds =
            |(index, value): &(usize, &Value)| *index < item.number && item.number < value.after;
        self.values.iter().enumerate().filter(holds).count()
    }

    /// Whether a member begins on a line of its own.
    pub fn own_line(&self, item: &Item<'_, '_>) -> bool {
        let start = item.value().map(|value| value.key.as_ref().unwrap_or(&value.span).start);
        let before = start.and_then(|start| self.text.get(..start)).unwrap_or_default();
        before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) == Some(&b'\n')
    }

    fn find_duplicates(&self) -> Vec<Duplicate> {
        let mut found = Vec::new();
        for (number, value) in self.values.iter().enumerate() {
            if value.kind != Kind::Object {
                continue;
            }
            let mut seen = std::collections::BTreeMap::new();
            let mut before = number;
            for member in self.item(number).items() {
                let second = member.number;
                match seen.entry(member.key()) {
                    Entry::Vacant(place) => {
                        place.insert(second);
                    }
                    Entry::Occupied(first) => {
                        found.push(Duplicate { second, first: *first.get(), before });
                    }
                }
                before = second;
            }
        }
        found
    }
}

impl<'j, 'a> Item<'j, 'a> {
    fn value(&self) -> Option<&'j Value> {
        self.json.values.get(self.number)
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.value().map_or(Kind::Null, |value| value.kind)
    }

    /// Its bytes, with the quotes of a string and the brackets of an object.
    pub fn span(&self) -> Range<u64> {
        let span = self.value().map(|value| value.span.clone()).unwrap_or_default();
        to_u64(span.start)..to_u64(span.end)
    }

    /// The bytes of its key.
    pub fn key_span(&self) -> Option<Range<u64>> {
        let key = self.value()?.key.clone()?;
        Some(to_u64(key.start)..to_u64(key.end))
    }

    /// Its key, decoded; empty for what is no member.
    pub fn key(&self) -> String {
        let key = self.value().and_then(|value| value.key.clone());
        key.and_then(|key| self.json.text.get(key)).map(decoded).unwrap_or_default()
    }

    /// The members of an object, or the values of an array, in order.
    pub fn items(self) -> impl Iterator<Item = Self> {
        let json = self.json;
        let end = self.value().map_or(0, |value| value.after);
        let mut next = self.number.saturating_add(1);
        std::iter::from_fn(move || {
            let value = json.values.get(next).filter(|_| next < end)?;
            let item = Self { json, number: next };
            next = value.after;
            Some(item)
        })
    }

    /// The first member with this key.
    pub fn member(self, key: &str) -> Option<Self> {
        if self.kind() != Kind::Object {
            return None;
        }
        self.items().find(|item| item.key() == key)
    }

    /// The member at the end of a path of keys between dots, as the emulator looks them up.
    pub fn path(self, path: &str) -> Option<Self> {
        path.split('.').try_fold(self, |item, key| item.member(key))
    }

    /// The text of a string.
    pub fn text(&self) -> Option<String> {
        let value = self.value().filter(|value| value.kind == Kind::String)?;
        self.json.text.get(value.span.clone()).map(decoded)
    }

    /// The value of a number.
    pub fn number(&self) -> Option<f64> {
        match self.kind() {
            Kind::Number(number) => Some(number),
            _ => None,
        }
    }
}

/// A string with its quotes, without quotes and escapes. Bytes that are no UTF-8 are replaced.
fn decoded(quoted: &[u8]) -> String {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    let text = String::from_utf8_lossy(inner);
    if !text.contains('\\') {
        return text.into_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    let mut high: Option<u32> = None;
    while let Some(character) = rest.next() {
        let character = match character {
            '\\' => match rest.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('u') => {
                    let digits: String = rest.by_ref().take(4).collect();
                    let unit = u32::from_str_radix(&digits, 16).unwrap_or(0xfffd);
                    match (high.take(), unit) {
                        (_, 0xd800..=0xdbff) => {
                            high = Some(unit);
                            continue;
                        }
                        (Some(high), 0xdc00..=0xdfff) => {
                            let pair = (high & 0x3ff) << 10 | (unit & 0x3ff);
                            char::from_u32(pair.saturating_add(0x1_0000)).unwrap_or('\u{fffd}')
                        }
                        (_, unit) => char::from_u32(unit).unwrap_or('\u{fffd}'),
                    }
                }
                Some(other) => other,
                None => '\\',
            },
            other => other,
        };
        out.push(character);
    }
    out
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    values: Vec<Value>,
    /// Numbers of the objects and arrays that are open.
    open: Vec<usize>,
}

impl Reader<'_> {
    fn expected(&self, expected: &'static str) -> JsonError {
        JsonError { at: to_u64(self.at), expected, limit: false }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at = self.at.saturating_add(usize::from(found));
        found
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips white space and comments.
    fn space(&mut self) -> Result<(), JsonError> {
        loop {
            while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
                self.at = self.at.saturating_add(1);
            }
            let rest = self.rest();
            let len = if rest.starts_with(b"//") {
                rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
            } else if rest.starts_with(b"/*") {
                let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
                match end {
                    Some(end) => end.saturating_add(4),
                    None => return Err(self.expected("the end of a comment")),
                }
            } else {
                return Ok(());
            };
            self.at = self.at.saturating_add(len);
        }
    }

    fn document(&mut self) -> Result<(), JsonError> {
        self.space()?;
        self.value(None)?;
        while let Some(parent) = self.open.last().copied() {
            let kind = self.values.get(parent).map_or(Kind::Null, |value| value.kind);
            let first = self.values.len() == parent.saturating_add(1);
            self.space()?;
            let close = if kind == Kind::Object { b'}' } else { b']' };
            if self.take(close) {
                self.close(parent);
                continue;
            }
            if !first && !self.take(b',') {
                return Err(self.expected("`,` or a closing bracket"));
            }
            self.space()?;
            let key = if kind == Kind::Object {
                let start = self.at;
                self.string()?;
                let key = start..self.at;
                self.space()?;
                if !self.take(b':') {
                    return Err(self.expected("`:`"));
                }
                self.space()?;
                Some(key)
            } else {
                None
            };
            self.value(key)?;
        }
        Ok(())
    }

    fn close(&mut self, parent: usize) {
        let after = self.values.len();
        if let Some(value) = self.values.get_mut(parent) {
            value.span.end = self.at;
            value.after = after;
        }
        self.open.pop();
    }

    /// One value; an object or an array is only opened.
    fn value(&mut self, key: Option<Range<usize>>) -> Result<(), JsonError> {
        if self.values.len() >= VALUES_MAX {
            return Err(JsonError { limit: true, ..self.expected("fewer values") });
        }
        let (start, number) = (self.at, self.values.len());
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
            if self.open.len() >= DEPTH_MAX {
                return Err(JsonError { limit: true, ..self.expected("less nesting") });
            }
            self.at = self.at.saturating_add(1);
            self.open.push(number);
        }
        let span = start..self.at;
        self.values.push(Value { kind, key, span, after: number.saturating_add(1) });
        Ok(())
    }

    fn word(&mut self, word: &[u8]) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at = self.at.saturating_add(word.len());
        }
        found
    }

    fn string(&mut self) -> Result<(), JsonError> {
        if !self.take(b'"') {
            return Err(self.expected("`\"`"));
        }
        loop {
            match self.peek() {
                None => return Err(self.expected("the end of a string")),
                Some(0..0x20) => return Err(self.expected("no control character in a string")),
                Some(b'"') => {
                    self.at = self.at.saturating_add(1);
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at = self.at.saturating_add(1);
                    match self.peek() {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
                        Some(b'u') => {
                            let digits = self.rest().get(1..5).unwrap_or_default();
                            if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                                return Err(self.expected("four hexadecimal digits"));
                            }
                            self.at = self.at.saturating_add(4);
                        }
                        _ => return Err(self.expected("an escape")),
                    }
                    self.at = self.at.saturating_add(1);
                }
                Some(_) => self.at = self.at.saturating_add(1),
            }
        }
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at = self.at.saturating_add(1);
        }
        if self.at == start { Err(self.expected("a digit")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<f64, JsonError> {
        let start = self.at;
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
        let text = self.text.get(start..self.at).unwrap_or_default();
        let parsed = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        parsed.ok_or_else(|| self.expected("a number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::source::Source;

    #[test]
    fn every_key_and_value_has_its_place() {
        let text = br#" { "a": {"b" : [1, -2.5e1, "x\u00e9\n"]}, /* no */ "c": true } // end"#;
        let json = parse(text).unwrap();
        let place = |item: Item<'_, '_>| {
            let span = item.span();
            let text = Source::new(text);
            String::from_utf8_lossy(&text.read(span.start, span.end)).into_owned()
        };
        let list = json.root().path("a.b").unwrap();
        assert_eq!(place(list), r#"[1, -2.5e1, "x\u00e9\n"]"#);
        let items: Vec<_> = list.items().collect();
        assert_eq!((items.len(), items[1].number()), (3, Some(-25.0)));
        assert_eq!(items[2].text().unwrap(), "x\u{e9}\n");
        assert_eq!(place(json.root().member("c").unwrap()), "true");
        assert_eq!(json.root().member("c").unwrap().key_span(), Some(51..54));
        assert!(json.root().path("a.c").is_none() && json.trailing.is_none());
        assert!(json.duplicates.is_empty());
    }

    #[test]
    fn what_is_no_json_says_where_and_what_was_expected() {
        for (text, at, expected) in [
            ("", 0, "a value"),
            ("{", 1, "`\"`"),
            ("{\"a\" 1}", 5, "`:`"),
            ("[1 2]", 3, "`,` or a closing bracket"),
            ("[1,]", 3, "a value"),
            ("\"a", 2, "the end of a string"),
            ("\"\\q\"", 2, "an escape"),
            ("\"\n\"", 1, "no control character in a string"),
            ("[/* ", 1, "the end of a comment"),
            ("[01]", 2, "`,` or a closing bracket"),
            ("-", 1, "a digit"),
            ("{\"a\":\"\\u12g4\"}", 7, "four hexadecimal digits"),
        ] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert_eq!((error.at, error.expected, error.limit), (at, expected, false), "{text}");
        }
        assert!(parse("[".repeat(65).as_bytes()).unwrap_err().limit);
        assert!(parse("[".repeat(64).as_bytes()).is_err_and(|error| !error.limit));
    }

    #[test]
    fn duplicate_keys_and_trailing_bytes_are_found() {
        let json = parse(br#"{"a":1,"b":{"c":1,"c":2},"\u0061":3} x"#).unwrap();
        let keys: Vec<_> = json.duplicates.iter().map(|d| json.item(d.second).key()).collect();
        assert_eq!(keys, ["a", "c"]);
        assert_eq!(json.trailing, Some(36));
    }
}
