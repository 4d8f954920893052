//! A damaged JSON text, made valid by small edits.
//!
//! ```text
//!  "tid": 3\x97,      drop the bytes             "loom": "node0,   end the string
//!  "pid" 7,           insert what is missing     ?p"p_idx: {],     drop the line
//! ```
//!
//! At the first byte that does not fit, the edit wins after which most of the text that follows is
//! valid, for the bytes that it costs. libovni writes one member per line, so a line is what is
//! dropped at worst.

use std::ops::Range;

use crate::formats::ovni::decode::json::{self, Kind};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::{Layer, Span};
use crate::model::edit::Edit;
use crate::model::limits::Limits;

/// Length of a text that is repaired: every edit that is tried parses it again.
const TEXT_MAX: usize = 32 << 10;
/// Edits of one text.
const STEPS_MAX: usize = 48;
/// The characters that are inserted.
const MARKS: &[u8; 7] = b"\",:{}[]";
/// Valid bytes that one dropped byte has to be worth.
const DROP_COST: usize = 2;

/// A text, and for each byte its offset in the damaged one.
#[derive(Clone)]
struct Draft {
    bytes: Vec<u8>,
    origins: Vec<Option<usize>>,
}

/// A change of a draft: the bytes of a range become others.
struct Change {
    range: Range<usize>,
    insert: Option<u8>,
}

/// Returns the edits that make a text valid JSON. `None` if they do not keep most of it.
pub fn restore_syntax(text: &[u8], layer: Layer, limits: &Limits) -> Option<Vec<Edit>> {
    if text.len() > TEXT_MAX {
        return None;
    }
    let mut draft = Draft { bytes: text.to_vec(), origins: (0..text.len()).map(Some).collect() };
    for _ in 0..STEPS_MAX {
        let Some((at, expected)) = draft.find_error(limits) else { break };
        draft = if at < draft.bytes.len() {
            draft.improve(at, limits)?
        } else {
            draft.close(expected, limits)?
        };
    }
    let parsed = json::parse((&draft.bytes).into(), limits).ok()?;
    let kept = draft.origins.iter().flatten().count();
    let is_most = kept.saturating_mul(2) > text.len();
    (is_most && parsed.root().kind() == Kind::Object).then(|| draft.edits(layer, text.len()))
}

/// Returns the bytes of a text after such edits.
pub fn apply_edits(text: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut from = 0;
    for edit in edits {
        let (start, end) = (to_usize(edit.span.start), to_usize(edit.span.end));
        out.extend_from_slice(text.get(from..start).unwrap_or_default());
        out.extend_from_slice(&edit.insert);
        from = end;
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
    out
}

impl Draft {
    /// Returns the offset of the first byte that does not fit, and what is expected there.
    fn find_error(&self, limits: &Limits) -> Option<(usize, &'static str)> {
        let error = json::parse((&self.bytes).into(), limits).err()?;
        Some((to_usize(error.at).min(self.bytes.len()), error.expected))
    }

    /// Returns a truncated text after one step towards its end: a string or a bracket is closed, or
    /// a member that is not complete is dropped.
    fn close(&self, expected: &str, limits: &Limits) -> Option<Self> {
        let end = self.bytes.len();
        let insert = |mark: u8| Change { range: end..end, insert: Some(mark) };
        let drop = |start: usize| Change { range: start..end, insert: None };
        if let Some(start) = self.find_open_element() {
            return Some(self.changed(&drop(start)));
        }
        let line = self.line(end);
        let line = if line.is_empty() { self.line(end.saturating_sub(1)) } else { line };
        let text = self.bytes.trim_ascii_end();
        let changes = match expected {
            "the end of a string" => vec![insert(b'"')],
            "`,` or a closing bracket" => vec![insert(b'}'), insert(b']')],
            _ if text.ends_with(b",") => vec![drop(text.len().saturating_sub(1))],
            _ => vec![drop(line.start)],
        };
        let mut drafts = changes.iter().map(|change| self.changed(change));
        drafts.find(|draft| {
            draft.find_error(limits).is_none_or(|(error, _)| error == draft.bytes.len())
        })
    }

    /// Returns the start of an element of an array that is an object and has no end: without all of
    /// its members it would be another one.
    fn find_open_element(&self) -> Option<usize> {
        let mut open: Vec<(u8, usize)> = Vec::new();
        let (mut in_string, mut is_escaped) = (false, false);
        for (at, byte) in self.bytes.iter().enumerate() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if in_string => is_escaped = true,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'{' | b'[' => open.push((*byte, at)),
                b'}' | b']' => drop(open.pop()),
                _ => {}
            }
        }
        open.windows(2).rev().find_map(|pair| match pair {
            [(b'[', _), (b'{', at)] => Some(*at),
            _ => None,
        })
    }

    /// Returns the draft after the best change at an offset; `None` if none makes it better.
    fn improve(&self, at: usize, limits: &Limits) -> Option<Self> {
        let left = self.bytes.len().saturating_sub(at);
        let mut best: Option<(isize, Self)> = None;
        for change in self.changes(at) {
            let dropped = change.range.len();
            let changed = self.changed(&change);
            let error = changed.find_error(limits);
            let ends = error.map_or(0, |(error, _)| changed.bytes.len().saturating_sub(error));
            let is_better = error.is_none() || ends < left;
            // Without an error, everything that is left is won.
            let won = left.saturating_sub(ends).saturating_add(usize::from(error.is_none()));
            let cost = dropped.saturating_mul(DROP_COST.saturating_add(1));
            let won = isize::try_from(won).ok()?.saturating_sub(isize::try_from(cost).ok()?);
            if is_better && best.as_ref().is_none_or(|(most, _)| won > *most) {
                best = Some((won, changed));
            }
        }
        best.map(|(_, draft)| draft)
    }

    /// The changes that are tried at an offset, the cheapest first.
    fn changes(&self, at: usize) -> Vec<Change> {
        let bytes = &self.bytes;
        let line = self.line(at);
        let mut changes = Vec::new();
        let mut put = |range: Range<usize>, insert: Option<u8>| {
            changes.push(Change { range, insert });
        };
        MARKS.iter().for_each(|mark| put(at..at, Some(*mark)));
        // The end of a string that runs to the end of the line.
        let text = bytes.get(line.clone()).unwrap_or_default().trim_ascii_end();
        if text.ends_with(b",") {
            let comma = line.start.saturating_add(text.len()).saturating_sub(1);
            put(comma..comma, Some(b'"'));
        }
        put(at..at.saturating_add(1), None);
        MARKS.iter().for_each(|mark| put(at..at.saturating_add(1), Some(*mark)));
        // A quotation mark that made a string of the bytes before one.
        let before = bytes.get(..at).unwrap_or_default();
        let mut marks = before.iter().enumerate().rev().filter(|(_, byte)| **byte == b'"');
        if let Some((mark, _)) = marks.nth(1) {
            put(mark..mark.saturating_add(1), None);
        }
        // A comma before a closing bracket.
        let before = bytes.get(..at).unwrap_or_default().trim_ascii_end();
        if let Some((b',', rest)) = before.split_last() {
            put(rest.len()..before.len(), None);
        }
        let is_plain = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
        let after = bytes.get(at..).unwrap_or_default();
        let strange = after.iter().take_while(|byte| !is_plain(byte)).count();
        put(at..at.saturating_add(strange), None);
        // Noise up to the next word, with the mark that it hit or without one.
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"\",{}[]".contains(byte);
        let noise = after.iter().skip(1).take_while(|byte| !is_end(byte)).count();
        let noise = at..at.saturating_add(noise).saturating_add(1).min(bytes.len());
        put(noise.clone(), None);
        MARKS.iter().for_each(|mark| put(noise.clone(), Some(*mark)));
        put(at..line.end, None);
        put(line.start..at, None);
        put(line.start..line.end, None);
        // The line before, if the error shows only here.
        let previous = self.line(line.start.saturating_sub(1));
        put(previous.start..previous.end, None);
        put(previous.start..line.end, None);
        changes
    }

    /// The line around an offset, with its line feed.
    fn line(&self, at: usize) -> Range<usize> {
        let before = self.bytes.get(..at).unwrap_or_default();
        let start = before.iter().rposition(|byte| *byte == b'\n');
        let after = self.bytes.get(at..).unwrap_or_default();
        let len = after.iter().position(|byte| *byte == b'\n').map(|len| len.saturating_add(1));
        let end = at.saturating_add(len.unwrap_or(after.len()));
        start.map_or(0, |start| start.saturating_add(1))..end
    }

    fn changed(&self, change: &Change) -> Self {
        let mut draft = self.clone();
        draft.bytes.splice(change.range.clone(), change.insert);
        draft.origins.splice(change.range.clone(), change.insert.map(|_| None));
        draft
    }

    /// Returns the edits that make the draft of the damaged text.
    fn edits(&self, layer: Layer, len: usize) -> Vec<Edit> {
        let mut edits = Vec::new();
        let (mut next, mut insert) = (0_usize, Vec::new());
        let kept = self.bytes.iter().zip(&self.origins);
        let kept = kept.map(|(byte, origin)| (Some(*byte), *origin));
        for (byte, origin) in kept.chain([(None, Some(len))]) {
            let Some(origin) = origin else {
                insert.extend(byte);
                continue;
            };
            if origin > next || !insert.is_empty() {
                let span = Span::new(layer, to_u64(next), to_u64(origin));
                edits.push(Edit::replace(span, std::mem::take(&mut insert)));
            }
            next = origin.saturating_add(1);
        }
        edits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{\n    \"version\": 3,\n    \"ovni\": {\n        \"tid\": 7,\n        \
                        \"loom\": \"node.0\",\n        \"list\": [\n            {\n                \
                        \"index\": 0\n            }\n        ]\n    }\n}";

    fn restored(damaged: &[u8]) -> Option<String> {
        let edits = restore_syntax(damaged, Layer::stored(0), &Limits::default())?;
        Some(dense(&String::from_utf8_lossy(&apply_edits(damaged, &edits))))
    }

    /// The text without white space.
    fn dense(text: &str) -> String {
        text.split_whitespace().collect()
    }

    #[test]
    fn inserted_and_lost_bytes_are_found() {
        for (from, to) in [
            ("\"tid\": 7", "\"tid\": 7\u{97}"),
            ("\"tid\":", "\"tid\""),
            ("7,", "7"),
            ("        ]\n", "        \n"),
            ("\"node.0\",", "\"node.0,"),
            ("\"tid\"", "tid\""),
            ("    \"tid\"", "\"   \"tid\""),
        ] {
            let damaged = TEXT.replacen(from, to, 1);
            assert_ne!(damaged, TEXT);
            assert_eq!(restored(damaged.as_bytes()), Some(dense(TEXT)), "{to}");
        }
    }

    #[test]
    fn noise_in_the_place_of_a_comma_and_a_line_feed_costs_no_member() {
        let damaged = TEXT.replacen("7,\n", "7=\x17\u{2b}", 1);
        assert_eq!(restored(damaged.as_bytes()), Some(dense(TEXT)));
    }

    #[test]
    fn a_line_that_cannot_be_read_is_dropped() {
        let damaged = TEXT.replacen("\"tid\": 7", "\0\0\0]\0\0{7", 1);
        let expected = TEXT.replacen("        \"tid\": 7,\n", "", 1);
        assert_eq!(restored(damaged.as_bytes()), Some(dense(&expected)));
    }

    #[test]
    fn a_truncated_text_is_closed() {
        for len in 60..TEXT.len() {
            let text = restored(&TEXT.as_bytes()[..len]);
            assert!(text.is_some_and(|text| text.starts_with("{\"version\":3,")), "{len}");
        }
    }

    #[test]
    fn an_element_of_a_list_that_is_not_complete_is_dropped() {
        let second = "},{\n                \"index\": 1,\n                \"phyid";
        let at = TEXT.find("}\n        ]").unwrap();
        let (first, _) = TEXT.split_at(at);
        let text = restored(format!("{first}{second}").as_bytes()).unwrap();
        assert!(text.ends_with("\"list\":[{\"index\":0}]}}"), "{text}");
    }

    #[test]
    fn bytes_that_are_no_json_are_left_alone() {
        assert_eq!(restored(&[0xff; 300]), None);
        assert_eq!(restored(b"\"text\""), None);
    }

    #[test]
    fn a_bracket_after_an_escaped_quotation_mark_belongs_to_the_string() {
        let at = TEXT.find("}\n        ]").unwrap();
        let (first, _) = TEXT.split_at(at);
        let second = r#"},{"index": 1, "name": "\"}", "phyid"#;
        let text = restored(format!("{first}{second}").as_bytes()).unwrap();
        assert!(text.ends_with("\"list\":[{\"index\":0}]}}"), "{text}");
    }
}
