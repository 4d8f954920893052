//! JSON with the span of every key and value.
//!
//! Strict as RFC 8259, with the two exceptions that the emulator's reader (parson) makes: comments
//! (`//` and `/* */`) are white space, and bytes after the value are ignored. The values are in one
//! list, in the order of their first bytes; nothing recurses.

mod damaged_keys;
mod parser;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use crate::kit::field_log::{FieldLog, FieldValue};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;

pub use parser::parse;

/// Kind of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `{}`.
    Object,
    /// `[]`.
    Array,
    /// A string. [`Item::text`] decodes it.
    String,
    /// A number.
    Number(f64),
    /// `true` or `false`.
    Bool(bool),
    /// `null`.
    Null,
}

impl Kind {
    /// Returns the kind in messages.
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
    /// Key with its quotes, for members of objects.
    key: Option<Range<u64>>,
    span: Range<u64>,
    /// Number of the first value after the last one inside this one.
    after: usize,
}

/// A text and its values.
#[derive(Clone, Debug)]
pub struct Json<'a> {
    text: Cow<'a, [u8]>,
    values: Vec<Value>,
    /// Keys that occur twice in one object.
    pub duplicates: Vec<Duplicate>,
    /// Members whose keys damage has changed, each with its number and the key that it had,
    /// by number. [`Item::key`] returns these.
    pub damaged_keys: Vec<(usize, &'static str)>,
    /// Offset of the first byte after the value, if bytes other than white space follow.
    pub trailing: Option<u64>,
}

/// A member whose key occurs before it in the same object. Numbers are for [`Json::item`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The member.
    pub second: usize,
    /// The first one with its key.
    pub first: usize,
    /// The member directly before it.
    pub before: usize,
}

/// Why and where a text is not valid JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Offset of the first byte that does not fit.
    pub at: u64,
    /// The token that is expected there.
    pub expected: &'static str,
    /// The text exceeds a limit of this parser; it may be valid.
    pub limit: bool,
}

/// A value of a text.
#[derive(Clone, Copy, Debug)]
pub struct Item<'j, 'a> {
    json: &'j Json<'a>,
    number: usize,
}

impl<'a> Json<'a> {
    /// Returns the outermost value.
    pub fn root(&self) -> Item<'_, 'a> {
        Item { json: self, number: 0 }
    }

    /// Returns the value with this number.
    pub fn item(&self, number: usize) -> Item<'_, 'a> {
        Item { json: self, number }
    }

    /// Notes every value with its key.
    pub fn log_fields(&self, layer: Layer, log: &FieldLog) {
        for number in 0..self.values.len() {
            let item = self.item(number);
            let span = item.span();
            let start = item.key_span().map_or(span.start, |key| key.start);
            let text = match item.kind() {
                Kind::Object | Kind::Array => item.kind().name().to_string(),
                _ => Untrusted(self.slice(&span)).to_string(),
            };
            let key = item.key();
            let label = if key.is_empty() { "value".to_string() } else { key };
            log.push(label, Span::new(layer, start, span.end), FieldValue::Text(text));
        }
    }

    /// Returns how many objects and arrays contain a value.
    pub fn depth(&self, item: &Item<'_, '_>) -> usize {
        let holds =
            |(index, value): &(usize, &Value)| *index < item.number && item.number < value.after;
        self.values.iter().enumerate().filter(holds).count()
    }

    /// Whether a member begins on a line of its own.
    pub fn is_on_own_line(&self, item: &Item<'_, '_>) -> bool {
        let start = item.value().map(|value| value.key.as_ref().unwrap_or(&value.span).start);
        let before = start.and_then(|start| self.text.get(..to_usize(start))).unwrap_or_default();
        before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) == Some(&b'\n')
    }

    /// Returns the bytes of a range, or an empty slice if it lies outside the text.
    pub fn slice(&self, range: &Range<u64>) -> &[u8] {
        self.text.get(to_usize(range.start)..to_usize(range.end)).unwrap_or_default()
    }

    /// The byte order mark before the value; `None` if there is none.
    pub fn byte_order_mark(&self) -> Option<Range<u64>> {
        let len = to_u64(parser::BYTE_ORDER_MARK.len());
        self.text.starts_with(parser::BYTE_ORDER_MARK).then_some(0..len)
    }

    /// Returns the length of the text in bytes.
    pub fn text_len(&self) -> u64 {
        to_u64(self.text.len())
    }

    /// Whether keys of `ovni` lie in another object.
    pub fn has_displaced_keys(&self) -> bool {
        damaged_keys::has_displaced_keys(self)
    }

    fn find_duplicates(&self) -> Vec<Duplicate> {
        let mut found = Vec::new();
        for (number, value) in self.values.iter().enumerate() {
            if value.kind != Kind::Object {
                continue;
            }
            let mut seen = BTreeMap::new();
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

    /// Returns its kind.
    pub fn kind(&self) -> Kind {
        self.value().map_or(Kind::Null, |value| value.kind)
    }

    /// Returns its byte range, with the quotes of a string and the brackets of an object.
    pub fn span(&self) -> Range<u64> {
        self.value().map(|value| value.span.clone()).unwrap_or_default()
    }

    /// Returns the byte range of its key, with the quotes.
    pub fn key_span(&self) -> Option<Range<u64>> {
        self.value()?.key.clone()
    }

    /// Returns its key, decoded and as it was before it was damaged; empty if it is not a member of
    /// an object.
    pub fn key(&self) -> String {
        let damaged = &self.json.damaged_keys;
        let place = damaged.binary_search_by_key(&self.number, |(number, _)| *number).ok();
        if let Some((_, key)) = place.and_then(|place| damaged.get(place)) {
            return (*key).to_string();
        }
        let key = self.value().and_then(|value| value.key.clone());
        key.map(|key| decode_string(self.json.slice(&key))).unwrap_or_default()
    }

    /// Returns the members of an object, or the values of an array, in order.
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

    /// Returns the first member with this key.
    pub fn member(self, key: &str) -> Option<Self> {
        if self.kind() != Kind::Object {
            return None;
        }
        self.items().find(|item| item.key() == key)
    }

    /// Returns the member at a path of keys joined by dots, as the emulator looks it up.
    pub fn path(self, path: &str) -> Option<Self> {
        path.split('.').try_fold(self, |item, key| item.member(key))
    }

    /// Returns the text of a string, decoded.
    pub fn text(&self) -> Option<String> {
        let value = self.value().filter(|value| value.kind == Kind::String)?;
        Some(decode_string(self.json.slice(&value.span)))
    }

    /// Returns the value of a number.
    pub fn number(&self) -> Option<f64> {
        match self.kind() {
            Kind::Number(number) => Some(number),
            _ => None,
        }
    }
}

/// Decodes a quoted string. Bytes that are not valid UTF-8 are replaced.
fn decode_string(quoted: &[u8]) -> String {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    let text = String::from_utf8_lossy(inner);
    if !text.contains('\\') {
        return text.into_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    let mut high: Option<u32> = None;
    while let Some(character) = rest.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        out.push(match rest.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('u') => {
                let digits: String = rest.by_ref().take(4).collect();
                let unit = u32::from_str_radix(&digits, 16).unwrap_or(0xfffd);
                if matches!(unit, 0xd800..=0xdbff) {
                    high = Some(unit);
                    continue;
                }
                join_surrogates(high.take(), unit)
            }
            Some(other) => other,
            None => '\\',
        });
    }
    out
}

/// The character of a UTF-16 unit and the high surrogate before it.
fn join_surrogates(high: Option<u32>, unit: u32) -> char {
    let code = match (high, unit) {
        (Some(high), 0xdc00..=0xdfff) => {
            ((high & 0x3ff) << 10 | (unit & 0x3ff)).saturating_add(0x1_0000)
        }
        (_, unit) => unit,
    };
    char::from_u32(code).unwrap_or('\u{fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::limits::Limits;

    fn parsed(text: Cow<'_, [u8]>) -> Result<Json<'_>, JsonError> {
        parse(text, &Limits::default())
    }

    #[test]
    fn every_key_and_value_has_a_span() {
        let text = br#" { "a": {"b" : [1, -2.5e1, "x\u00e9\n"]}, /* no */ "c": true } // end"#;
        let json = parsed(text.into()).unwrap();
        let place = |item: Item<'_, '_>| {
            let span = item.span();
            String::from_utf8_lossy(json.slice(&span)).into_owned()
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
    fn an_invalid_text_gives_the_place_and_the_expected_token() {
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
            let error = parsed(text.as_bytes().into()).unwrap_err();
            assert_eq!((error.at, error.expected, error.limit), (at, expected, false), "{text}");
        }
        assert!(parsed("[".repeat(65).as_bytes().into()).unwrap_err().limit);
        assert!(parsed("[".repeat(64).as_bytes().into()).is_err_and(|error| !error.limit));
    }

    #[test]
    fn duplicate_keys_and_trailing_bytes_are_found() {
        let json = parsed(br#"{"a":1,"b":{"c":1,"c":2},"\u0061":3} x"#.into()).unwrap();
        let keys: Vec<_> = json.duplicates.iter().map(|d| json.item(d.second).key()).collect();
        assert_eq!(keys, ["a", "c"]);
        assert_eq!(json.trailing, Some(36));
    }

    #[test]
    fn a_map_shows_the_text_of_a_value_and_the_kind_of_an_object() {
        let json = parsed(br#"{"a": [1, "x"], "b": {}}"#[..].into()).unwrap();
        let log = FieldLog::new(10);
        json.log_fields(Layer::stored(0), &log);
        let fields = log.into_noted().fields.into_iter();
        let fields: Vec<_> = fields.map(|field| (field.label.to_string(), field.value)).collect();
        let texts = [
            ("value", "an object"),
            ("a", "an array"),
            ("value", "1"),
            ("value", "\"x\""),
            ("b", "an object"),
        ];
        let texts = texts.map(|(key, text)| (key.to_string(), FieldValue::Text(text.to_string())));
        assert_eq!(fields, texts);
    }

    #[test]
    fn a_key_of_ovni_in_another_object_is_displaced() {
        let is_displaced =
            |text: &str| parsed(text.as_bytes().into()).unwrap().has_displaced_keys();
        assert!(!is_displaced(r#"{"version": 3, "ovni": {"tid": 1, "lib": {"version": "1"}}}"#));
        assert!(is_displaced(r#"{"version": 3, "tid": 1, "ovni": {}}"#));
        assert!(is_displaced(r#"{"version": 3, "ovni": {"lib": {"version": "1", "tid": 1}}}"#));
    }
}
