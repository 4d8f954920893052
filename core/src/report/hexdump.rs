//! Findings on bytes, as miette shows them.
//!
//! miette's own sources are text and are scanned from the first byte. This one renders the few rows
//! around a finding's spans, each of fixed width, so that an offset maps to row and column by
//! arithmetic, whatever the size of the file.

use std::fmt::{self, Write};

use miette::{Diagnostic, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan};

use crate::FileSet;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::report::finding::Finding;

/// Rows of context before and after a span.
const CONTEXT_ROWS: u64 = 1;
/// Rows of a span that are shown at the most; a longer one has its first row underlined.
const SPAN_ROWS: u64 = 4;

/// A window of a layer, rendered.
#[derive(Clone, Debug)]
struct Window {
    /// Title: file, range, length.
    name: String,
    text: String,
}

/// A finding with the bytes it is about.
#[derive(Debug)]
pub struct Shown<'a> {
    finding: &'a Finding,
    window: Option<Window>,
    labels: Vec<LabeledSpan>,
}

/// How a row is laid out: `00000100  10 00 …  |..|`.
#[derive(Clone, Copy)]
struct Rows {
    cells: u64,
    /// Characters of a whole row with its line end.
    width: u64,
}

/// `xxxxxxxx` and two spaces; offsets of 4 GiB and more are written with twelve digits.
const fn offset_width(end: u64) -> u64 {
    if end > 0xffff_ffff { 12 } else { 8 }
}

impl Rows {
    fn new(cells: u64, end: u64) -> Self {
        // offset, 2 spaces, 3 per cell, 1 space, bar, 1 per cell, bar, line end
        let width = offset_width(end).saturating_add(cells.saturating_mul(4)).saturating_add(6);
        Self { cells, width }
    }

    /// Where byte `offset` begins in text whose first row holds `first`.
    fn column(self, first: u64, offset: u64, end: u64) -> u64 {
        let index = offset.saturating_sub(first);
        let row = index.checked_div(self.cells).unwrap_or(0);
        let cell = index.checked_rem(self.cells).unwrap_or(0);
        row.saturating_mul(self.width)
            .saturating_add(offset_width(end).saturating_add(2))
            .saturating_add(cell.saturating_mul(3))
    }
}

impl<'a> Shown<'a> {
    /// Renders the bytes around `finding`, `cells` to a row (16 need 84 columns, 8 need 60).
    pub fn new(finding: &'a Finding, files: &FileSet<'_>, cells: u64) -> Self {
        let cells = cells.max(1);
        let mut shown = Self { finding, window: None, labels: Vec::new() };
        let span = finding.span;
        let name = usize::try_from(span.layer.file).ok().and_then(|i| files.files().get(i));
        let name = name.map_or_else(String::new, |f| Untrusted(f.name.as_bytes()).to_string());
        let (layer_start, layer_end) = match (&finding.excerpt, span.layer.is_stored()) {
            (Some(excerpt), false) => {
                (excerpt.start, excerpt.start.saturating_add(to_u64(excerpt.bytes.len())))
            }
            (None, false) => return shown,
            (_, true) => (0, files.bytes(span.layer.file).len()),
        };
        if layer_end == layer_start || span.start > layer_end {
            return shown;
        }
        let align = |offset: u64| offset.saturating_sub(offset.checked_rem(cells).unwrap_or(0));
        let context = CONTEXT_ROWS.saturating_mul(cells);
        let start = align(span.start.min(layer_end.saturating_sub(1)));
        let rows_end = start.saturating_add(SPAN_ROWS.saturating_mul(cells));
        let first = align(start.saturating_sub(context)).max(align(layer_start));
        let last = align(span.end.saturating_sub(1)).saturating_add(cells).saturating_add(context);
        let end = last.min(rows_end.saturating_add(context)).min(layer_end);
        let read = |from: u64, to: u64| -> Vec<u8> {
            match &finding.excerpt {
                Some(excerpt) if !span.layer.is_stored() => {
                    let from = to_usize(from.saturating_sub(excerpt.start));
                    let to = to_usize(to.saturating_sub(excerpt.start));
                    excerpt.bytes.get(from..to).unwrap_or_default().to_vec()
                }
                _ => files.bytes(span.layer.file).read(from, to).into_owned(),
            }
        };
        let rows = Rows::new(cells, end);
        let bytes = read(first.max(layer_start), end);
        let lead = to_usize(layer_start.saturating_sub(first));
        let text = render(&bytes, lead, first, rows, end);
        let of = match (span.layer.is_stored(), finding.stored) {
            (false, Some(stored)) => format!("expanded from {stored} of {name}"),
            (false, None) => format!("expanded from {name}"),
            (true, _) => name,
        };
        let total =
            if span.layer.is_stored() { format!(" of {layer_end:#x}") } else { String::new() };
        let name = format!("{of} @ {first:#x}..{end:#x}{total}");
        let place = |span: Span| -> Option<SourceSpan> {
            // A span that leaves its row (or the window) is underlined to the end of that row.
            let row_end = align(span.start).saturating_add(cells);
            let to = span.end.min(row_end).min(end);
            if span.start < first || span.start >= end {
                return None;
            }
            let from = rows.column(first, span.start, end);
            let len = to.saturating_sub(span.start).saturating_mul(3).saturating_sub(1);
            Some((to_usize(from), to_usize(len)).into())
        };
        let described = |text: &str, span: Span| {
            let long = align(span.start) != align(span.end.saturating_sub(1).max(span.start));
            if long { format!("{text} ({span}, {} bytes)", span.len()) } else { text.to_string() }
        };
        if let Some(at) = place(span) {
            let label = described(&finding.path, span);
            shown.labels.push(LabeledSpan::new_primary_with_span(Some(label), at));
        }
        for related in finding.related.iter().filter(|r| r.span.layer == span.layer) {
            if let Some(at) = place(related.span) {
                let label = described(&related.message, related.span);
                shown.labels.push(LabeledSpan::new_with_span(Some(label), at));
            }
        }
        shown.window = Some(Window { name, text });
        shown
    }

    /// Places that belong to the finding but lie outside the rendered window.
    fn elsewhere(&self) -> Vec<String> {
        let shown: Vec<&str> = self.labels.iter().filter_map(LabeledSpan::label).collect();
        let main = (&*self.finding.path, self.finding.span);
        let related = self.finding.related.iter().map(|r| (r.message.as_str(), r.span));
        std::iter::once(main)
            .chain(related)
            .filter(|(text, _)| !shown.iter().any(|label| label.starts_with(text)))
            .map(|(text, span)| format!("{text} at {span}"))
            .collect()
    }
}

/// The rows of `bytes`, the first of which stands `lead` cells into its row.
fn render(bytes: &[u8], lead: usize, first: u64, rows: Rows, end: u64) -> String {
    let cells = to_usize(rows.cells);
    let padded: Vec<Option<u8>> =
        std::iter::repeat_n(None, lead).chain(bytes.iter().copied().map(Some)).collect();
    let mut text = String::new();
    let mut offset = first;
    for row in padded.chunks(cells) {
        let digits = to_usize(offset_width(end));
        let _infallible = write!(text, "{offset:0digits$x}  ");
        for cell in 0..cells {
            let _infallible = match row.get(cell).copied().flatten() {
                Some(byte) => write!(text, "{byte:02x} "),
                None => write!(text, "   "),
            };
        }
        text.push_str(" |");
        for cell in 0..cells {
            text.push(match row.get(cell).copied().flatten() {
                Some(byte) if (0x20..0x7f).contains(&byte) => char::from(byte),
                Some(_) => '.',
                None => ' ',
            });
        }
        text.push_str("|\n");
        offset = offset.saturating_add(rows.cells);
    }
    text
}

impl SourceCode for Window {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        context_before: usize,
        context_after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, MietteError> {
        // The text is a few rows: miette's own reader of strings does the rest.
        let inner = self.text.as_str().read_span(span, context_before, context_after)?;
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            inner.data(),
            *inner.span(),
            inner.line(),
            inner.column(),
            inner.line_count(),
        )))
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.finding, f)
    }
}

impl std::error::Error for Shown<'_> {}

impl Diagnostic for Shown<'_> {
    fn code<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        self.finding.code()
    }

    fn severity(&self) -> Option<miette::Severity> {
        self.finding.severity()
    }

    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        let mut lines = self.elsewhere();
        lines.extend(self.finding.help().map(|help| help.to_string()));
        if lines.is_empty() { None } else { Some(Box::new(lines.join("\n"))) }
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        let window: &dyn SourceCode = self.window.as_ref()?;
        Some(window)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::string_slice, reason = "the rows are ASCII")]

    use super::*;
    use crate::kit::span::Layer;
    use crate::report::rule::common::UNKNOWN_FORMAT;

    fn shown(start: u64, end: u64, len: usize, cells: u64) -> (String, Vec<(usize, usize)>) {
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(len).collect();
        let files = FileSet::single("a\u{1b}b", &bytes);
        let span = Span::new(Layer::stored(0), start, end);
        let finding = Finding::new(&UNKNOWN_FORMAT, span, "field", "message");
        let shown = Shown::new(&finding, &files, cells);
        let window = shown.window.clone();
        let labels = shown.labels.iter().map(|label| (label.offset(), label.len())).collect();
        (
            window.map_or_else(String::new, |window| format!("{}\n{}", window.name, window.text)),
            labels,
        )
    }

    #[test]
    fn a_span_is_underlined_by_arithmetic() {
        let (text, labels) = shown(0x102, 0x106, 0x1000, 16);
        let (title, rows) = text.split_once('\n').unwrap();
        assert_eq!(title, "a\\x1bb @ 0xf0..0x120 of 0x1000");
        let underlined: Vec<&str> =
            labels.iter().map(|(start, len)| &rows[*start..start + len]).collect();
        assert_eq!(underlined, ["02 03 04 05"]);
        assert_eq!(rows.lines().count(), 3);
        assert!(rows.lines().all(|row| row.len() == rows.lines().next().unwrap().len()));
    }

    #[test]
    fn a_long_span_has_its_first_row_underlined() {
        let (text, labels) = shown(0x104, 0x900, 0x1000, 8);
        let (_, rows) = text.split_once('\n').unwrap();
        let (start, len) = labels[0];
        assert_eq!(&rows[start..start + len], "04 05 06 07");
        assert!(rows.lines().count() <= 6);
    }

    #[test]
    fn places_at_and_behind_the_end_do_not_fail() {
        for (start, end) in [(0, 0), (0x20, 0x20), (0x1f, 0x20), (0x40, 0x50), (u64::MAX, u64::MAX)]
        {
            let (text, labels) = shown(start, end, 0x20, 16);
            let rows = text.split_once('\n').map_or("", |(_, rows)| rows);
            assert!(labels.iter().all(|(start, len)| start + len <= rows.len()), "{start:#x}");
        }
        assert_eq!(shown(0, 4, 0, 16).0, "");
    }
}
