//! Reports for people.

use miette::{GraphicalReportHandler, GraphicalTheme, ThemeCharacters, ThemeStyles};
use tracemend::{FileSet, Finding, FormatId, Report, Severity, Shown, Tally};

use crate::input::Passed;
use crate::streams::Look;

/// Columns that a row of 16, 8 and 4 cells needs (miette's margin and the text column included).
const CELLS: [(usize, u64); 2] = [(84, 16), (60, 8)];
const CELLS_LEAST: u64 = 4;
/// Every row of the window around a finding is shown.
const CONTEXT_LINES: usize = 8;

/// Findings with the bytes they are about.
pub(crate) fn findings<'f>(
    findings: impl IntoIterator<Item = &'f Finding>,
    files: &FileSet<'_>,
    look: Look,
) -> String {
    let fits = CELLS.into_iter().find(|(width, _)| look.width >= *width);
    let cells = fits.map_or(CELLS_LEAST, |(_, cells)| cells);
    let theme = if look.fancy {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme { characters: ThemeCharacters::ascii(), styles: ThemeStyles::none() }
    };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(look.width)
        .with_links(false)
        .with_context_lines(CONTEXT_LINES);
    let mut text = String::new();
    for finding in findings {
        let before = text.len();
        let shown = Shown::new(finding, files, cells);
        if handler.render_report(&mut text, &shown).is_err() {
            // A view that cannot be drawn must not hide the finding.
            text.truncate(before);
            let place = finding.stored.unwrap_or(finding.span);
            let (code, name) = (finding.rule.code, finding.rule.name);
            text += &format!("{code} {name}\n  {} at {place}\n", finding.message);
        }
        let drawn = text.split_off(before);
        text.extend(drawn.split_inclusive('\n').map(without_line_number));
        text.push('\n');
    }
    text
}

/// miette writes line and column behind a window's title; of hexadecimal rows they say nothing.
fn without_line_number(line: &str) -> String {
    let start = line.trim_start();
    if !start.starts_with(",-[") && !start.starts_with("╭─[") {
        return line.to_string();
    }
    let counts = |c: char| c == ':' || c.is_ascii_digit();
    let (head, bracket) = match line.rsplit_once(']') {
        Some((head, after)) => (head, format!("]{after}")),
        None => return line.to_string(),
    };
    // A style may end between the numbers and the bracket.
    let (head, style) = match head.rsplit_once('\u{1b}') {
        Some((head, "[0m")) => (head, "\u{1b}[0m"),
        _ => (head, ""),
    };
    let mut title = head;
    for _ in 0..2 {
        match title.rsplit_once(':') {
            Some((before, number)) if number.chars().all(counts) => title = before,
            _ => return line.to_string(),
        }
    }
    format!("{title}{style}{bracket}")
}

/// One line about the recording at `path`, which is escaped already.
pub(crate) fn summary(path: &str, report: &Report) -> String {
    let mut parts = vec![report.verdict().name().to_string()];
    parts.extend(report.format.map(|format| format.to_string()));
    parts.push(bytes(report.length));
    if report.format.is_some() {
        parts.push(tally(&report.tally, nouns(report.format)));
    }
    for severity in [Severity::Error, Severity::Warning, Severity::Info] {
        let count = report.count_of(severity);
        if count > 0 || severity != Severity::Info {
            parts.push(plural(count, &severity_noun(severity)));
        }
    }
    let mut line = format!("{path}: {}", parts.join(", "));
    if report.truncated() {
        line += &format!(" ({} shown)", report.findings().len());
    }
    line.push('\n');
    line
}

fn severity_noun(severity: Severity) -> String {
    match severity {
        Severity::Info => "note".to_string(),
        other => other.name().to_string(),
    }
}

/// What the format calls a whole record, and one that carries measurements.
pub(crate) fn nouns(format: Option<FormatId>) -> [&'static str; 2] {
    format.map_or(["record", "sample"], |format| format.nouns())
}

/// What else there is to know about a recording, a line each.
pub(crate) fn facts(report: &Report) -> String {
    report.facts.iter().map(|(name, value)| format!("  {name}: {value}\n")).collect()
}

/// Records, samples and the time they span.
fn tally(tally: &Tally, [record, sample]: [&str; 2]) -> String {
    let mut text = format!("{}, {}", plural(tally.records, record), plural(tally.samples, sample));
    if let (Some(first), Some(last)) = (tally.first_time, tally.last_time) {
        text += &format!(", {}", time_range(first, last));
    }
    text
}

/// `12.000000001 s to 14.5 s`: clock times of the recording, in seconds.
pub(crate) fn time_range(first: u64, last: u64) -> String {
    format!("{} s to {} s", seconds(first), seconds(last))
}

/// Nanoseconds as seconds, all nine digits.
pub(crate) fn seconds(nanoseconds: u64) -> String {
    const BILLION: u64 = 1_000_000_000;
    format!("{}.{:09}", nanoseconds / BILLION, nanoseconds % BILLION)
}

/// The last line of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) recordings: u64,
    pub(crate) clean: u64,
    pub(crate) errors: u64,
    pub(crate) warnings: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, report: &Report) {
        self.recordings += 1;
        self.clean += u64::from(report.verdict() == tracemend::Verdict::Clean);
        self.errors = self.errors.saturating_add(report.count_of(Severity::Error));
        self.warnings = self.warnings.saturating_add(report.count_of(Severity::Warning));
    }

    pub(crate) fn line(&self, passed: Passed) -> String {
        let mut line = format!(
            "{}, {} clean, {}, {}",
            plural(self.recordings, "recording"),
            self.clean,
            plural(self.errors, "error"),
            plural(self.warnings, "warning")
        );
        if passed.files > 0 {
            line +=
                &format!("; {} passed over as no recording", plural(passed.files, "other file"));
        }
        if passed.empty > 0 {
            line += &format!(", {} of them empty", passed.empty);
        }
        line.push('\n');
        line
    }
}

/// `1 byte`, `2 bytes`.
pub(crate) fn bytes(count: u64) -> String {
    plural(count, "byte")
}

/// A count with its noun.
pub(crate) fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_no_line_number() {
        let plain = "   ,-[a:1:b.data @ 0x0..0x18 of 0x18:1:11]\n";
        assert_eq!(without_line_number(plain), "   ,-[a:1:b.data @ 0x0..0x18 of 0x18]\n");
        let row = " 1 | 00000000  2c 2d 5b |,-[:1:11]\n";
        assert_eq!(without_line_number(row), row);
    }

    #[test]
    fn counts_and_times_read_as_a_person_writes_them() {
        assert_eq!(plural(1, "record"), "1 record");
        assert_eq!(plural(0, "record"), "0 records");
        assert_eq!(seconds(1_000_000_001), "1.000000001");
    }
}
