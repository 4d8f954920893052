//! Findings as a person sees them: a [`ReportHandler`] of miette with the order of tracemend.
//!
//! ```text
//!  night.data: error[PD0004]: data.size is 0, but 24288 bytes of records follow    place, defect
//!    perf report shows no samples and exits 0                                      impact, notes
//!       ╭─[ header.data.size, 0x30..0x38 of 0x6000 ]                               bytes
//!    30 │ 00 00 00 00 00 00 00 00
//!       ╰─
//!    fix (lossy): set data.size to 24288, clear 21 feature bits                    fix, its cost
//!    next: tracemend repair night.data -o repaired.data                            next command
//! ```

use std::fmt::{self, Write};

use miette::{Diagnostic, LabeledSpan, ReportHandler};

use crate::kit::look::{Ink, Look, wrap};

/// Columns before everything but the first line.
const INDENT: usize = 2;
/// Rows of a window; the library gives two at most.
pub(crate) const ROWS: usize = 8;
/// Columns of a title that are always shown.
const TITLE_LEAST: usize = 20;

/// The start of a line after the bytes, and the layout of the rest.
#[derive(Clone, Debug)]
pub(crate) enum Advice {
    /// Wrapped after the label.
    Text { label: String, text: String },
    /// A command, which is kept in one line so that it can be pasted.
    Command(String),
}

/// Draws one diagnostic, and what is known about it besides.
#[derive(Clone, Debug)]
pub(crate) struct FindingHandler {
    pub(crate) look: Look,
    /// Path of the recording, escaped.
    pub(crate) path: String,
    /// Lines between the defect and the bytes.
    pub(crate) notes: Vec<String>,
    /// Lines after the bytes.
    pub(crate) advice: Vec<Advice>,
}

/// Characters of a box.
struct Frame {
    corner: &'static str,
    bar: &'static str,
    end: &'static str,
}

const UNICODE: Frame = Frame { corner: "╭─[", bar: "│", end: "╰─" };
const ASCII: Frame = Frame { corner: ",-[", bar: "|", end: "`-" };

impl FindingHandler {
    /// Returns `diagnostic` as text of several lines.
    pub(crate) fn draw(&self, diagnostic: &dyn Diagnostic) -> String {
        struct Drawn<'a>(&'a FindingHandler, &'a dyn Diagnostic);
        impl fmt::Debug for Drawn<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.debug(self.1, f)
            }
        }
        format!("{:?}", Drawn(self, diagnostic))
    }

    fn headline(&self, diagnostic: &dyn Diagnostic) -> String {
        let (word, ink) = match diagnostic.severity() {
            Some(miette::Severity::Warning) => ("warning", Ink::Warning),
            Some(miette::Severity::Advice) => ("note", Ink::Note),
            _ => ("error", Ink::Error),
        };
        let code = diagnostic.code().map(|code| code.to_string()).unwrap_or_default();
        let code = code.split(' ').next().unwrap_or_default();
        let kind = format!("{word}[{code}]:");
        let text = format!("{} {diagnostic}", kind);
        let first = format!("{}: ", self.path);
        let drawn = wrap(&text, self.look.width, &first, INDENT);
        let (before, after) = drawn.split_once(&kind).unwrap_or((&drawn, ""));
        format!("{before}{}{after}", self.look.paint(ink, &kind))
    }

    /// The bytes of the label, or its place alone if there are none.
    fn window(&self, diagnostic: &dyn Diagnostic) -> String {
        let label = diagnostic.labels().and_then(|mut labels| labels.next());
        let Some(label) = label else { return String::new() };
        // The line before the label is asked for, or the first row would begin at the label.
        let window = diagnostic
            .source_code()
            .and_then(|source| source.read_span(label.inner(), 1, ROWS).ok());
        let Some(window) = window else {
            let place = label.label().unwrap_or_default();
            // A file without bytes, or the name of one, has no place in it.
            if place.contains(", 0x0..0x0 of ") {
                return String::new();
            }
            return wrap(&format!("at {place}"), self.look.width, "  ", INDENT);
        };
        let rows = String::from_utf8_lossy(window.data()).into_owned();
        self.draw_rows(window.name().unwrap_or_default(), &rows, &label)
    }

    fn draw_rows(&self, title: &str, rows: &str, label: &LabeledSpan) -> String {
        let look = self.look;
        let frame = if look.unicode { UNICODE } else { ASCII };
        let digits = rows.lines().map(|row| split_row(row).0.len()).max().unwrap_or(0);
        let margin = " ".repeat(INDENT + digits + 1);
        let title_columns = look.width.saturating_sub(margin.len() + 6).max(TITLE_LEAST);
        let title = shorten_middle(title, title_columns);
        let corner = look.paint(Ink::Faint, frame.corner);
        let mut text = format!("{margin}{corner} {title} {}\n", look.paint(Ink::Faint, "]"));
        let mut labelled = label.len().saturating_add(1) / 3;
        for row in rows.lines() {
            let (offset, cells) = split_row(row);
            let offset = look.paint(Ink::Faint, &format!("{offset:>digits$}"));
            let bar = look.paint(Ink::Faint, frame.bar);
            let cells = self.paint_cells(cells, &mut labelled);
            let _infallible = writeln!(text, "  {offset} {bar} {cells}");
        }
        let _infallible = writeln!(text, "{margin}{}", look.paint(Ink::Faint, frame.end));
        text
    }

    /// Paints the first `labelled` cells of a row, and counts them off.
    fn paint_cells(&self, cells: &str, labelled: &mut usize) -> String {
        let (first, rest) = split_labelled(cells, labelled);
        format!("{}{rest}", self.look.paint(Ink::Bytes, first))
    }
}

/// Splits a row after the first `labelled` cells, and counts them off.
pub(crate) fn split_labelled<'r>(cells: &'r str, labelled: &mut usize) -> (&'r str, &'r str) {
    let hex = cells.split_once("  ").map_or(cells, |(hex, _)| hex);
    let count = (hex.len() + 1) / 3;
    let split = count.min(*labelled);
    *labelled -= split;
    let end = (split * 3).saturating_sub(1);
    cells.split_at_checked(end).unwrap_or((cells, ""))
}

/// The offset of a row and its cells.
pub(crate) fn split_row(row: &str) -> (&str, &str) {
    row.trim_start().split_once("  ").unwrap_or(("", row))
}

/// Returns `text` with `...` for its middle if it has more than `max` characters.
pub(crate) fn shorten_middle(text: &str, max: usize) -> String {
    let count = text.chars().count();
    if count <= max {
        return text.to_string();
    }
    let kept = max.saturating_sub(3);
    // The end of a place, its offsets, tells more than its beginning.
    let (head, tail) = (kept / 3, kept - kept / 3);
    let first: String = text.chars().take(head).collect();
    let last: String = text.chars().skip(count - tail).collect();
    format!("{first}...{last}")
}

impl ReportHandler for FindingHandler {
    fn debug(&self, diagnostic: &dyn Diagnostic, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline(diagnostic))?;
        for note in self.notes.iter().filter(|note| !note.is_empty()) {
            f.write_str(&wrap(note, self.look.width, "  ", INDENT))?;
        }
        f.write_str(&self.window(diagnostic))?;
        for advice in &self.advice {
            match advice {
                Advice::Text { label, text } => {
                    let first = format!("  {label}");
                    let columns = first.chars().count();
                    let drawn = wrap(text, self.look.width, &first, columns);
                    let rest = drawn.strip_prefix(first.trim_end()).unwrap_or(&drawn);
                    let label = self.look.paint(Ink::Strong, label.trim_end());
                    write!(f, "  {label}{rest}")?;
                }
                Advice::Command(command) => {
                    writeln!(f, "  {} {command}", self.look.paint(Ink::Strong, "next:"))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_title_keeps_its_offsets() {
        assert_eq!(shorten_middle("short", 10), "short");
        let title = "a-long-file-name.json: ovni.finished, 0x20..0xfa of 0xfc";
        let short = shorten_middle(title, 40);
        assert_eq!(short.len(), 40);
        assert!(short.ends_with("0x20..0xfa of 0xfc"), "{short}");
    }

    #[test]
    fn a_row_is_an_offset_and_cells() {
        assert_eq!(split_row(" c  0c 0d"), ("c", "0c 0d"));
        assert_eq!(split_row("968  40 10  @."), ("968", "40 10  @."));
    }
}
