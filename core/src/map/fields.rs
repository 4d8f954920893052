//! The fields of one tile as a tree that covers it.
//!
//! A decoder reads a window and then what is in it, looks ahead, and tries a second layout if the
//! first does not fit. So reads nest, and one that goes back replaces those after its place.

use super::{Region, RegionKind, describe_unused};
use crate::kit::field_log::{self, Field, FieldLog, FieldValue, Noted};
use crate::kit::span::Span;
use crate::kit::text::{Untrusted, hex};
use crate::kit::words::plural;
use crate::model::limits::{Limits, MAP_FIELDS};
use crate::model::recording::FileSet;
use crate::model::tile::Fields;

/// First bytes of a field that are shown.
const BYTES_SHOWN: usize = 16;

/// Reads the fields of the tile at `span`. Returns them, and a remark about the tile: its stored
/// bytes, or that fields were left out.
pub(super) fn read(
    files: &FileSet<'_>,
    span: Span,
    fields: Fields<'_>,
    limits: &Limits,
) -> (Vec<Region>, Option<String>) {
    let log = FieldLog::new(limits.of(&MAP_FIELDS)).with_entries();
    fields(&log);
    let Noted { fields: noted, left_out, stored } = log.into_noted();
    let is_inside = |field: &Field| {
        let own = field.span;
        own.layer == span.layer && span.start <= own.start && own.end <= span.end
    };
    let kept = field_log::resolve(noted.into_iter().filter(is_inside));
    let mut remarks: Vec<String> =
        stored.iter().map(|stored| format!("expanded from {stored} of the file")).collect();
    if left_out > 0 {
        remarks.push(format!("{} more", plural(left_out, "field")));
    }
    let remark = (!remarks.is_empty()).then(|| remarks.join("; "));
    (nest(files, span, kept), remark)
}

/// Nests fields in the fields that hold them, and fills the bytes between them.
fn nest(files: &FileSet<'_>, span: Span, mut fields: Vec<Field>) -> Vec<Region> {
    fields.sort_by_key(|field| (field.span.start, std::cmp::Reverse(field.span.end)));
    // The regions that are open, the outermost first; the first one stands for the tile.
    let mut open = vec![region(span, RegionKind::Record, "")];
    for field in fields {
        while open.len() > 1 && open.last().is_some_and(|last| last.span.end <= field.span.start) {
            close(files, &mut open);
        }
        if open.last().is_some_and(|last| field.span.end <= last.span.end) {
            open.push(describe(field));
        }
    }
    while open.len() > 1 {
        close(files, &mut open);
    }
    let mut root = open.swap_remove(0);
    // A tile without fields has no children at all.
    if !root.children.is_empty() {
        fill(files, &mut root);
    }
    root.children
}

/// Ends the innermost region.
fn close(files: &FileSet<'_>, open: &mut Vec<Region>) {
    let Some(mut region) = open.pop() else { return };
    if !region.children.is_empty() {
        fill(files, &mut region);
    }
    if let Some(outer) = open.last_mut() {
        outer.children.push(region);
    }
}

/// Adds gaps between the children and after the last one.
fn fill(files: &FileSet<'_>, outer: &mut Region) {
    let mut at = outer.span.start;
    let mut children = Vec::with_capacity(outer.children.len());
    for child in std::mem::take(&mut outer.children) {
        push_gap(files, &mut children, Span::new(child.span.layer, at, child.span.start));
        at = at.max(child.span.end);
        children.push(child);
    }
    push_gap(files, &mut children, Span::new(outer.span.layer, at, outer.span.end));
    outer.children = children;
}

fn push_gap(files: &FileSet<'_>, children: &mut Vec<Region>, span: Span) {
    if !span.is_empty() {
        let value = span.layer.is_stored().then(|| describe_unused(files, span));
        children.push(Region { value, ..region(span, RegionKind::Gap, "gap") });
    }
}

fn region(span: Span, kind: RegionKind, name: &'static str) -> Region {
    Region { span, kind, name: name.into(), meaning: None, value: None, children: Vec::new() }
}

fn describe(field: Field) -> Region {
    let value = match field.value {
        FieldValue::Number(number @ 0..=9) | FieldValue::Hex(number @ 0..=9) => number.to_string(),
        FieldValue::Number(number) | FieldValue::Hex(number) => format!("{number} ({number:#x})"),
        FieldValue::Text(text) => text,
        FieldValue::Bytes(bytes) => describe_bytes(&bytes, field.span.len()),
    };
    let name = match field.label {
        // Keys of a recording are its author's.
        std::borrow::Cow::Owned(text) => Untrusted(text.as_bytes()).to_string().into(),
        label => label,
    };
    Region { value: Some(value), name, ..region(field.span, RegionKind::Field, "") }
}

/// Describes the first bytes of a field of `len` bytes: text, with NULs at its end, or numbers.
fn describe_bytes(bytes: &[u8], len: u64) -> String {
    let is_cut = u64::try_from(bytes.len()).is_ok_and(|held| held < len);
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
    let text = bytes.get(..end).unwrap_or(bytes);
    let is_text = text.len() > 1 && text.iter().all(|byte| matches!(byte, b' '..=b'~'));
    let more = |is_more: bool| if is_more { "..." } else { "" };
    if text.is_empty() {
        return format!("{} of 0{}", plural(len, "byte"), more(is_cut));
    }
    if is_text {
        return format!("\"{}{}\"", Untrusted(text), more(is_cut));
    }
    let shown = bytes.get(..BYTES_SHOWN).unwrap_or(bytes);
    format!("{}{}", hex(shown), more(is_cut || shown.len() < bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::cursor::{Cursor, Order};
    use crate::kit::span::Layer;

    fn names(regions: &[Region]) -> Vec<String> {
        let name = |region: &Region| {
            let inner = names(&region.children).join(" ");
            let inner = if inner.is_empty() { inner } else { format!("({inner})") };
            format!("{}@{}+{}{inner}", region.name, region.span.start, region.span.len())
        };
        regions.iter().map(name).collect()
    }

    #[test]
    fn fields_nest_and_cover_the_tile_and_a_second_try_replaces_the_first() {
        let bytes = [7; 40];
        let files = FileSet::single("x", &bytes);
        let layer = Layer::stored(0);
        let decode = |log: &FieldLog| {
            let mut cursor = Cursor::new(&bytes, layer, 0, Order::Little).with_log(log);
            let _ = cursor.u32("type");
            let mut window = cursor.window(16, "window").unwrap();
            let retry = window.clone();
            let _ = (window.u64("wrong"), window.u32("wrong"));
            window = retry;
            let _ = (window.u32("right"), window.u8("last"));
            let _ = (cursor.skip(0, 8, "none"), cursor.bytes(4, "end"));
        };
        let (regions, remark) = read(&files, Span::new(layer, 0, 30), &decode, &Limits::default());
        assert_eq!(
            names(&regions),
            ["type@0+4", "window@4+16(right@4+4 last@8+1 gap@9+11)", "end@20+4", "gap@24+6"]
        );
        assert_eq!(remark, None);
        let mut limits = Limits::default();
        limits.set(&MAP_FIELDS, 1);
        let (_, remark) = read(&files, Span::new(layer, 0, 30), &decode, &limits);
        assert_eq!(remark.as_deref(), Some("7 fields more"));
    }

    #[test]
    fn values_are_numbers_or_text_that_is_safe_to_print() {
        assert_eq!(describe_bytes(b"perf\0\0", 6), "\"perf\"");
        assert_eq!(describe_bytes(b"\x1b[2J", 4), "1b5b324a");
        assert_eq!(describe_bytes(&[0; 3], 3), "3 bytes of 0");
        assert_eq!(describe_bytes(&[b'a'; 64], 90), format!("\"{}...\"", "a".repeat(64)));
    }
}
