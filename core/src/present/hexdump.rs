//! Findings with the bytes that they are about, as miette reads them.
//!
//! ```text
//!   title   header.data.size, 0x30..0x38 of 0x6000
//!   row     30  00 00 00 00 00 00 00 00
//! ```
//!
//! miette's own sources are text and are scanned from the first byte. This one renders the few
//! bytes that begin at a finding's span, in rows of fixed width, so that an offset maps to row and
//! column by arithmetic, whatever the size of the file.

use std::fmt::{self, Write};

use miette::{Diagnostic, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan};

use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::text::Untrusted;
use crate::model::finding::Finding;
use crate::model::recording::FileSet;

/// Bytes shown of a span that is not longer: a field of a header or of a record.
const FIELD_BYTES: u64 = 8;
/// Rows shown of a longer span.
const ROWS_MAX: u64 = 2;
/// Length in bytes of the longest span whose bytes are shown. A few bytes explain a field; of a
/// chunk or of a lost page they explain nothing.
const SPAN_BYTES_MAX: u64 = 256;

/// A few rows of bytes as text.
#[derive(Clone, Debug)]
struct Window {
    title: String,
    text: String,
    /// Place of the span's bytes in the first row of `text`.
    label: SourceSpan,
}

/// A finding with the bytes that it is about.
///
/// As a [`Diagnostic`] it carries one label. With a source code, the label lies in the rows that
/// the source code holds, and the name of the source code is the title of the window. Without one,
/// the label's text is that title.
#[derive(Debug)]
pub struct Shown<'a> {
    finding: &'a Finding,
    title: String,
    window: Option<Window>,
}

impl<'a> Shown<'a> {
    /// Renders the bytes of `finding`, at most `cells` per row.
    pub fn new(finding: &'a Finding, files: &FileSet<'_>, cells: u64) -> Self {
        let cells = cells.max(1);
        let title = describe_place(finding, files);
        let window = read_window(finding, files, cells).map(|(bytes, wanted)| {
            let (text, label) = render_rows(&bytes, finding.span.start, cells, wanted);
            Window { title: title.clone(), text, label }
        });
        Self { finding, title, window }
    }
}

/// The field, its range and what the range counts in: `header.data.size, 0x30..0x38 of 0x6000`.
fn describe_place(finding: &Finding, files: &FileSet<'_>) -> String {
    let span = finding.span;
    let file = usize::try_from(span.layer.file).ok().and_then(|index| files.files().get(index));
    let mut title = String::new();
    if let Some(file) = file.filter(|_| files.files().len() > 1) {
        let _infallible = write!(title, "{}: ", Untrusted(file.name.as_bytes()));
    }
    // Formats of several files begin a field with the last part of the file's name.
    let leaf = file.and_then(|file| file.name.rsplit('/').next()).unwrap_or_default();
    let field = finding.path.strip_prefix(leaf).and_then(|rest| rest.strip_prefix(':'));
    let field = field.filter(|_| !title.is_empty()).unwrap_or(&finding.path);
    let _infallible = write!(title, "{field}, {span}");
    match (span.layer.is_stored(), finding.stored) {
        // Bytes before the file was unwrapped, of which only these are kept.
        (true, _) if finding.excerpt.is_some() => {}
        (true, _) => {
            let end = file.map_or(0, |file| file.bytes.len());
            let _infallible = write!(title, " of {end:#x}");
        }
        (false, Some(stored)) => {
            let _infallible = write!(title, " of the decompressed stream (stored in {stored})");
        }
        (false, None) => title.push_str(" of the decompressed stream"),
    }
    title
}

/// The bytes to show and how many of them belong to the span; `None` if they explain nothing.
fn read_window(finding: &Finding, files: &FileSet<'_>, cells: u64) -> Option<(Vec<u8>, u64)> {
    let span = finding.span;
    if span.is_empty() || span.len() > SPAN_BYTES_MAX {
        return None;
    }
    let wanted = if span.len() <= FIELD_BYTES {
        FIELD_BYTES.min(cells)
    } else {
        span.len().min(cells.saturating_mul(ROWS_MAX))
    };
    let end = span.start.saturating_add(wanted);
    let bytes = match &finding.excerpt {
        None if span.layer.is_stored() => {
            files.bytes(span.layer.file).read(span.start, end).into_owned()
        }
        Some(excerpt) => {
            let from = span.start.checked_sub(excerpt.start)?;
            let bytes = Source::new(&excerpt.bytes);
            bytes.read(from, from.saturating_add(wanted)).into_owned()
        }
        None => return None,
    };
    (!bytes.is_empty()).then_some((bytes, span.len()))
}

/// Rows of `bytes`, which begin at offset `start`, and the place of the first `wanted` cells.
///
/// The characters of the bytes follow where most of them are readable.
fn render_rows(bytes: &[u8], start: u64, cells: u64, wanted: u64) -> (String, SourceSpan) {
    let printable = |byte: &u8| (0x20..0x7f).contains(byte);
    let readable = bytes.iter().filter(|byte| printable(byte)).count();
    let with_text = readable.saturating_mul(2) > bytes.len();
    let end = start.saturating_add(to_u64(bytes.len()));
    let digits = format!("{end:x}").len();
    let row_cells = to_usize(cells).min(bytes.len().max(1));
    let mut text = String::new();
    let mut offset = start;
    for row in bytes.chunks(row_cells) {
        let line: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
        let line = line.join(" ");
        let _infallible = write!(text, "{offset:digits$x}  {line}");
        if with_text {
            let pad = row_cells.saturating_mul(3).saturating_sub(1).saturating_sub(line.len());
            let shown = row.iter().map(|b| if printable(b) { char::from(*b) } else { '.' });
            let _infallible = write!(text, "{:pad$}  {}", "", shown.collect::<String>());
        }
        text.push('\n');
        offset = offset.saturating_add(to_u64(row.len()));
    }
    let first = to_usize(wanted).min(row_cells).min(bytes.len());
    let len = first.saturating_mul(3).saturating_sub(1);
    (text, (digits.saturating_add(2), len).into())
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
            self.title.clone(),
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
        self.finding.help()
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        let window: &dyn SourceCode = self.window.as_ref()?;
        Some(window)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = match &self.window {
            Some(window) => {
                let path = self.finding.path.to_string();
                LabeledSpan::new_primary_with_span(Some(path), window.label)
            }
            None => LabeledSpan::new_primary_with_span(Some(self.title.clone()), 0),
        };
        Some(Box::new(std::iter::once(label)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::string_slice, reason = "the rows are ASCII")]

    use super::*;
    use crate::kit::span::{Layer, Span};
    use crate::model::finding::Excerpt;
    use crate::model::rule::common::UNKNOWN_FORMAT;

    fn finding(layer: Layer, start: u64, end: u64) -> Finding {
        Finding::new(&UNKNOWN_FORMAT, Span::new(layer, start, end), "field", "message")
    }

    /// Title, rows and the labelled part of them for a file of `len` bytes, 0, 1, 2 ...
    fn shown(start: u64, end: u64, len: usize, cells: u64) -> (String, String, String) {
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(len).collect();
        let files = FileSet::single("a\u{1b}b", &bytes);
        let finding = finding(Layer::stored(0), start, end);
        let shown = Shown::new(&finding, &files, cells);
        let text = shown.window.clone().map_or_else(String::new, |window| window.text);
        let label = shown.labels().unwrap().next().unwrap();
        let labelled = text.get(label.offset()..label.offset() + label.len()).unwrap().to_string();
        (shown.title, text, labelled)
    }

    #[test]
    fn a_field_is_shown_with_the_bytes_after_it() {
        let (title, rows, labelled) = shown(0x102, 0x106, 0x1000, 16);
        assert_eq!(title, "field, 0x102..0x106 of 0x1000");
        assert_eq!(rows, "102  02 03 04 05 06 07 08 09\n");
        assert_eq!(labelled, "02 03 04 05");
    }

    #[test]
    fn a_longer_span_has_two_rows_and_its_text_if_it_is_readable() {
        let (_, rows, labelled) = shown(0x141, 0x165, 0x1000, 16);
        let lines: Vec<&str> = rows.lines().collect();
        assert_eq!(
            lines,
            [
                "141  41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f 50  ABCDEFGHIJKLMNOP",
                "151  51 52 53 54 55 56 57 58 59 5a 5b 5c 5d 5e 5f 60  QRSTUVWXYZ[\\]^_`",
            ]
        );
        assert_eq!(labelled, &lines[0][5..52]);
        assert!(lines.iter().all(|line| line.len() <= 74), "they fit 80 columns");
        let (_, rows, _) = shown(0x4, 0x10, 0x1000, 8);
        assert_eq!(rows, " 4  04 05 06 07 08 09 0a 0b\n c  0c 0d 0e 0f\n");
    }

    #[test]
    fn places_without_bytes_have_a_title_and_no_window() {
        for (start, end) in [(0, 0), (0x20, 0x20), (0x40, 0x50), (u64::MAX, u64::MAX), (0, 0x101)] {
            let (title, rows, labelled) = shown(start, end, 0x20, 16);
            assert_eq!((rows.as_str(), labelled.as_str()), ("", ""), "{title}");
            assert!(title.starts_with(&format!("field, {start:#x}..{end:#x}")), "{title}");
        }
        assert_eq!(shown(0x1f, 0x20, 0x20, 16).1, "1f  1f\n");
        assert_eq!(shown(0, 4, 0, 16).1, "");
    }

    #[test]
    fn a_place_in_an_expanded_layer_is_marked_and_shows_its_excerpt() {
        let files = FileSet::single("a", b"stored");
        let mut finding = finding(Layer::stored(0).expanded(), 0x1000, 0x1004);
        let title = |finding: &Finding| Shown::new(finding, &files, 16).title;
        assert_eq!(title(&finding), "field, 0x1000..0x1004 of the decompressed stream");
        assert!(Shown::new(&finding, &files, 16).window.is_none());
        finding.stored = Some(Span::new(Layer::stored(0), 2, 6));
        finding.excerpt = Some(Excerpt { start: 0xff0, bytes: (0..0x20).collect() });
        assert_eq!(
            title(&finding),
            "field, 0x1000..0x1004 of the decompressed stream (stored in 0x2..0x6)"
        );
        let shown = Shown::new(&finding, &files, 16);
        assert_eq!(shown.window.unwrap().text, "1000  10 11 12 13 14 15 16 17\n");
    }

    #[test]
    fn a_recording_of_several_files_names_the_file() {
        let file = |name: &str| crate::model::recording::File::new(name, Source::new(b"12345678"));
        let files = FileSet::new(vec![file("data"), file("data\u{1b}.0")]);
        let finding = finding(Layer::stored(1), 0, 4);
        let title = Shown::new(&finding, &files, 16).title;
        assert_eq!(title, "data\\x1b.0: field, 0x0..0x4 of 0x8");
        let file = |name: &str| crate::model::recording::File::new(name, Source::new(b"12345678"));
        let files = FileSet::new(vec![file("a/s.json"), file("b/s.json")]);
        let span = Span::new(Layer::stored(1), 0, 4);
        let finding = Finding::new(&UNKNOWN_FORMAT, span, "s.json:key", "message");
        let title = Shown::new(&finding, &files, 16).title;
        assert_eq!(title, "b/s.json: key, 0x0..0x4 of 0x8");
    }
}
