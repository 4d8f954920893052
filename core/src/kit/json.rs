//! Lines of JSON: one object per record.
//!
//! A dump may have millions of records, so an object is appended to the text that is about to be
//! written instead of being built as a value.

use std::fmt::{Display, Write};

use crate::kit::span::Span;
use crate::kit::text::{Untrusted, is_safe};

/// A JSON object about one record, which is appended to a text.
///
/// ```
/// # #[cfg(feature = "testing")] {
/// use tracemend::kit::json::JsonLine;
/// use tracemend::{Layer, Span};
///
/// let mut text = String::new();
/// let mut line = JsonLine::begin(&mut text, Span::new(Layer::stored(0), 6, 14), "beat");
/// line.number("time", 500);
/// line.text("name", b"tw\x1bo");
/// line.end();
/// let place = r#""offset":6,"length":8,"kind":"beat""#;
/// assert_eq!(text, format!("{{{place},\"time\":500,\"name\":\"tw\\\\x1bo\"}}\n"));
/// # }
/// ```
#[derive(Debug)]
pub struct JsonLine<'t> {
    text: &'t mut String,
}

impl<'t> JsonLine<'t> {
    /// Begins the object of the record at `span`. Offsets in an expanded layer come with its depth
    /// as `layer`.
    pub fn begin(text: &'t mut String, span: Span, kind: &str) -> Self {
        text.push_str("{\"offset\":");
        let mut line = Self { text };
        line.push(span.start());
        line.number("length", span.len());
        line.text("kind", kind.as_bytes());
        if !span.layer().is_stored() {
            line.number("layer", span.layer().depth);
        }
        line
    }

    /// Adds an integer.
    pub fn number(&mut self, name: &'static str, value: impl Into<i128>) {
        self.name(name);
        self.item(value);
    }

    /// Adds a text from a file, escaped as [`Untrusted`] shows it.
    pub fn text(&mut self, name: &'static str, value: &[u8]) {
        self.safe_text(name, &Untrusted(value).to_string());
    }

    /// Adds a text that is safe to print.
    pub fn safe_text(&mut self, name: &'static str, value: &str) {
        self.name(name);
        self.push_string(value);
    }

    /// Adds whether something is so.
    pub fn flag(&mut self, name: &'static str, value: bool) {
        self.name(name);
        self.push(value);
    }

    /// Adds a list of objects with a name and a value, both safe to print.
    pub fn pairs<'p>(
        &mut self,
        name: &'static str,
        pairs: impl Iterator<Item = (&'p str, &'p str)>,
    ) {
        self.name(name);
        self.text.push('[');
        for (index, (name, value)) in pairs.enumerate() {
            self.text.push_str(if index == 0 { "{\"name\":" } else { ",{\"name\":" });
            self.push_string(name);
            self.text.push_str(",\"value\":");
            self.push_string(value);
            self.text.push('}');
        }
        self.text.push(']');
    }

    /// Adds a value, which `add` writes.
    pub fn member(&mut self, name: &'static str, add: impl FnOnce(&mut JsonLine<'_>)) {
        self.name(name);
        add(&mut JsonLine { text: self.text });
    }

    /// Adds an object with members whose names are safe to print and differ; `add` writes the value
    /// of each.
    pub fn members<T>(
        &mut self,
        name: &'static str,
        members: &[(String, T)],
        add: &mut dyn FnMut(&T, &mut JsonLine<'_>),
    ) {
        self.name(name);
        self.text.push('{');
        for (index, (name, value)) in members.iter().enumerate() {
            self.text.push_str(if index == 0 { "" } else { "," });
            self.push_string(name);
            self.text.push(':');
            add(value, &mut JsonLine { text: self.text });
        }
        self.text.push('}');
    }

    /// Adds a list where a value belongs, to which `add` adds each of `values`.
    pub fn items<T>(&mut self, values: &[T], add: &mut dyn FnMut(&T, &mut JsonLine<'_>)) {
        self.text.push('[');
        for (index, value) in values.iter().enumerate() {
            self.text.push_str(if index == 0 { "" } else { "," });
            add(value, &mut JsonLine { text: self.text });
        }
        self.text.push(']');
    }

    /// Adds an integer to a list.
    pub fn item(&mut self, value: impl Into<i128>) {
        let value: i128 = value.into();
        // Numbers of 128 bits take four times as long to write.
        match u64::try_from(value) {
            Ok(value) => self.push(value),
            Err(_) => self.push(value),
        }
    }

    /// Adds a text that is safe to print to a list.
    pub fn text_item(&mut self, value: &str) {
        self.push_string(value);
    }

    /// Adds an object to a list, to which `add` adds its members.
    pub fn object(&mut self, add: impl FnOnce(&mut JsonLine<'_>)) {
        let start = self.text.len();
        add(&mut JsonLine { text: self.text });
        // Members begin with a comma, which the first one has not.
        if self.text.len() == start {
            self.text.push('{');
        } else {
            self.text.replace_range(start..=start, "{");
        }
        self.text.push('}');
    }

    fn push_string(&mut self, value: &str) {
        debug_assert!(value.chars().all(is_safe), "{value:?} is not escaped");
        // No control character is in it, so JSON has two more to escape.
        self.text.push('"');
        for character in value.chars() {
            if matches!(character, '"' | '\\') {
                self.text.push('\\');
            }
            self.text.push(character);
        }
        self.text.push('"');
    }

    /// Ends the object and its line.
    pub fn end(self) {
        self.text.push_str("}\n");
    }

    /// Names are those of fields in the code: letters, digits and `_`.
    fn name(&mut self, name: &'static str) {
        debug_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
        self.text.push_str(",\"");
        self.text.push_str(name);
        self.text.push_str("\":");
    }

    fn push(&mut self, value: impl Display) {
        let _infallible = write!(self.text, "{value}");
    }
}

#[cfg(all(test, feature = "json"))]
mod tests {
    use super::*;
    use crate::kit::span::Layer;

    #[test]
    fn every_line_is_an_object_that_is_safe_to_print() {
        let hostile = "a\"b\\c\n\u{1b}[2J\u{202e}\u{9b}\0\u{7f}é".as_bytes();
        let mut text = String::new();
        for span in
            [Span::new(Layer::stored(0), 1, 3), Span::new(Layer::stored(0).expanded(), 1, 3)]
        {
            let mut line = JsonLine::begin(&mut text, span, "k\"ind");
            line.text("name", hostile);
            line.text("bytes", b"\xff\xfe");
            line.number("low", i64::MIN);
            line.number("high", u64::MAX);
            line.member("list", |line| {
                line.items(&[1_u8, 2, 3], &mut |value, list| match value {
                    1 => list.item(u64::MAX),
                    2 => list.text_item("a\"b"),
                    _ => list.object(|line| line.text("name", hostile)),
                });
            });
            line.member("none", |line| line.items(&[(); 0], &mut |(), _| {}));
            let members = [("a\"".to_string(), 1_u8), ("b".to_string(), 2)];
            line.members("object", &members, &mut |value, line| line.item(*value));
            line.end();
        }
        assert!(text.chars().all(|c| c == '\n' || is_safe(c)), "{text}");
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["name"], Untrusted(hostile).to_string());
        assert_eq!((&lines[0]["offset"], &lines[0]["length"]), (&1.into(), &2.into()));
        assert_eq!(lines[0]["kind"], "k\"ind");
        assert_eq!((&lines[0]["high"], &lines[0]["low"]), (&u64::MAX.into(), &i64::MIN.into()));
        let object = serde_json::json!({ "name": Untrusted(hostile).to_string() });
        assert_eq!(lines[0]["list"], serde_json::json!([u64::MAX, "a\"b", object]));
        assert_eq!(lines[0]["none"], serde_json::json!([]));
        assert_eq!(lines[0]["object"], serde_json::json!({ "a\"": 1, "b": 2 }));
        assert_eq!((&lines[0]["layer"], &lines[1]["layer"]), (&().into(), &1.into()));
    }
}
