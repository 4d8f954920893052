//! One line about a recording, and the table about all of them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tracemend::words::{list, plural, seconds_short};
use tracemend::{FormatId, Report, Severity, Tally, Verdict};

use crate::files::skipped::{SkipReason, Skipped};
use crate::kit::figures::{count, duration, size};
use crate::kit::look::{Ink, Look, wrap};
use crate::show::group::{Group, count_severities};

/// Paths that are named in a line of the table.
const PATHS_SHOWN: usize = 3;
/// Items of a list that a fact shows.
const ITEMS_SHOWN: usize = 32;
/// Characters of the first column, codes and their names included.
const NAME_LEAST: usize = 10;

/// One line about a recording: `start` (its path, escaped already), the verdict, and what was
/// counted.
pub(crate) fn describe_recording(start: &str, report: &Report, look: Look) -> String {
    let counts = count_severities(report);
    let (mut verdict, ink) = match report.verdict() {
        Verdict::Clean if counts.is_empty() => ("clean".to_string(), Ink::Good),
        Verdict::Clean => (format!("clean, {}", counts.join(", ")), Ink::Good),
        Verdict::Incomplete => {
            let counts: Vec<String> =
                counts.into_iter().map(|count| format!(", {count}")).collect();
            (format!("a limit was reached{}", counts.concat()), Ink::Error)
        }
        _ if report.has_errors() => (counts.join(", "), Ink::Error),
        _ => (counts.join(", "), Ink::Warning),
    };
    let found = sum(report.counts());
    let groups = Group::all_of(report, |_| true).len();
    if u64::try_from(groups).is_ok_and(|groups| groups > 0 && groups < found) {
        verdict += &format!(" in {}", plural(u64::try_from(groups).unwrap_or(found), "group"));
    }
    let suppressed = sum(report.suppressed());
    if suppressed > 0 {
        verdict += &format!(", {suppressed} suppressed");
    }
    let mut parts: Vec<String> =
        report.format.map(|format| format.to_string()).into_iter().collect();
    parts.push(size(report.length));
    if report.format.is_some() {
        parts.extend(describe_tally(report));
    }
    let text = format!("{verdict}; {}", parts.join(", "));
    let drawn = wrap(&text, look.width, start, 2);
    drawn.replacen(&verdict, &look.paint(ink, &verdict), 1)
}

fn sum(counts: &BTreeMap<&'static str, u64>) -> u64 {
    counts.values().fold(0, |sum: u64, count| sum.saturating_add(*count))
}

/// Returns how the format of a report calls a record, and a record that carries a measurement.
pub(crate) fn nouns(format: Option<FormatId>) -> [&'static str; 2] {
    format.map_or(["record", "sample"], FormatId::nouns)
}

/// Records, samples and the time of a recording: how long it took if it is clean, else from when to
/// when, for a reader who compares it with what should be there.
fn describe_tally(report: &Report) -> Vec<String> {
    let Tally { records, samples, first_time, last_time, .. } = report.tally;
    let [record, sample] = nouns(report.format);
    let mut parts = vec![count(records, record)];
    if record != sample {
        parts.push(count(samples, sample));
    }
    if let (Some(first), Some(last)) = (first_time, last_time) {
        parts.push(match report.verdict() {
            Verdict::Clean => duration(last.saturating_sub(first)),
            _ => describe_time(first, last),
        });
    }
    parts
}

/// Returns a range of time stamps in nanoseconds as seconds: `1.000 s to 2.500 s`.
pub(crate) fn describe_time(first: u64, last: u64) -> String {
    let [first, last] = [first, last].map(|time| seconds_short(time).replace(' ', "\u{a0}"));
    if first == last { first } else { format!("{first} to {last}") }
}

/// Facts about a recording, one per line.
pub(crate) fn list_facts(report: &Report, look: Look) -> String {
    let line = |(name, value): &(Cow<'static, str>, String)| {
        let first = format!("  {name}: ");
        wrap(&shorten_list(value), look.width, &first, 4)
    };
    report.facts.iter().map(line).collect()
}

/// Returns the first items of a long list.
fn shorten_list(value: &str) -> Cow<'_, str> {
    let more = value.split(", ").count().saturating_sub(ITEMS_SHOWN);
    if more == 0 {
        return value.into();
    }
    let first: Vec<&str> = value.split(", ").take(ITEMS_SHOWN).collect();
    format!("{} and {more} more, which --format json lists", first.join(", ")).into()
}

/// Recordings of one format.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    recordings: u64,
    clean: u64,
    errors: u64,
    warnings: u64,
}

/// Findings of one code in all recordings.
#[derive(Clone, Debug)]
struct CodeRow {
    name: &'static str,
    severity: Severity,
    findings: u64,
    recordings: u64,
    /// Of the first recordings, escaped.
    paths: Vec<String>,
}

/// All recordings of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    formats: Vec<(Option<FormatId>, Row)>,
    codes: BTreeMap<&'static str, CodeRow>,
    suppressed: BTreeMap<&'static str, u64>,
    unlisted: u64,
}

/// Returns the number of findings of a report that are counted and not listed.
pub(crate) fn count_unlisted(report: &Report) -> u64 {
    let listed = u64::try_from(report.findings().len()).unwrap_or(u64::MAX);
    sum(report.counts()).saturating_sub(listed)
}

impl Totals {
    /// Counts the recording at `path`, which is escaped already.
    pub(crate) fn add(&mut self, path: &str, report: &Report) {
        let known = self.formats.iter().position(|(format, _)| *format == report.format);
        let index = known.unwrap_or_else(|| {
            self.formats.push((report.format, Row::default()));
            self.formats.len() - 1
        });
        if let Some((_, row)) = self.formats.get_mut(index) {
            row.recordings += 1;
            match report.verdict() {
                Verdict::Clean => row.clean += 1,
                _ if report.worst() == Some(Severity::Warning) => row.warnings += 1,
                _ => row.errors += 1,
            }
        }
        self.unlisted = self.unlisted.saturating_add(count_unlisted(report));
        for (code, count) in report.suppressed() {
            let sum = self.suppressed.entry(code).or_default();
            *sum = sum.saturating_add(*count);
        }
        for (code, count) in report.counts().iter().filter(|(_, count)| **count > 0) {
            let Some(rule) = tracemend::rule(code) else { continue };
            let row = self.codes.entry(code).or_insert_with(|| CodeRow {
                name: rule.name,
                severity: rule.severity,
                findings: 0,
                recordings: 0,
                paths: Vec::new(),
            });
            row.findings = row.findings.saturating_add(*count);
            row.recordings += 1;
            if row.paths.len() < PATHS_SHOWN {
                row.paths.push(path.to_string());
            }
        }
    }

    /// Returns how many recordings there are.
    pub(crate) fn recordings(&self) -> u64 {
        self.formats.iter().fold(0, |sum, (_, row)| sum + row.recordings)
    }

    /// Returns how many findings were counted and not listed.
    pub(crate) fn unlisted(&self) -> u64 {
        self.unlisted
    }

    /// Returns how often each code was found, the most frequent first.
    pub(crate) fn statistics(&self, look: Look) -> String {
        let mut rows: Vec<(&&str, &CodeRow)> = self.codes.iter().collect();
        rows.sort_by_key(|(code, row)| (std::cmp::Reverse(row.findings), **code));
        let digits = rows.iter().map(|(_, row)| row.findings.to_string().len()).max().unwrap_or(0);
        let line = |(code, row): &(&&str, &CodeRow)| {
            let fix = tracemend::rule(code).is_some_and(|rule| rule.has_fix());
            let fix = if fix { "fix" } else { "-  " };
            let recordings = plural(row.recordings, "recording");
            let CodeRow { name, severity, findings, .. } = row;
            let code = look.paint(ink_of(*severity), code);
            let severity = severity.name();
            format!("{findings:>digits$}  {code}  {severity:7}  {fix}  {name} in {recordings}\n")
        };
        let mut text: String = rows.iter().map(line).collect();
        for (code, count) in &self.suppressed {
            text += &format!("{count:>digits$}  {code}  suppressed\n");
        }
        text
    }

    /// Returns the table that ends a run over several recordings.
    pub(crate) fn table(&self, skipped: &Skipped, next: Option<&str>, look: Look) -> String {
        let mut text = self.format_table(skipped, look);
        text += &self.code_lines(look);
        if !self.suppressed.is_empty() {
            let counts = self.suppressed.iter().map(|(code, count)| format!("{count} {code}"));
            let counts: Vec<String> = counts.collect();
            text += &wrap(&counts.join(", "), look.width, "suppressed: ", 12);
        }
        text += &list_skipped(skipped, look);
        let worst = self.codes.iter().max_by_key(|(_, row)| row.severity);
        if let Some((code, _)) = worst.filter(|(_, row)| row.severity > Severity::Info) {
            let explain = format!("tracemend explain {code}");
            for command in next.into_iter().chain([explain.as_str()]) {
                text += &format!("{} {command}\n", look.paint(Ink::Strong, "next:"));
            }
        }
        text
    }

    fn format_table(&self, skipped: &Skipped, look: Look) -> String {
        let mut rows: Vec<(String, Row)> = Vec::new();
        let mut total = Row::default();
        let known = FormatId::ALL.iter().copied().map(Some).chain([None]);
        for format in known {
            let found = self.formats.iter().find(|(one, _)| *one == format);
            let Some((_, row)) = found else { continue };
            let name = format.map_or_else(|| "unknown".to_string(), |format| format.to_string());
            total.recordings += row.recordings;
            total.clean += row.clean;
            total.errors += row.errors;
            total.warnings += row.warnings;
            rows.push((name, *row));
        }
        let width = NAME_LEAST;
        let heading = "recordings   clean   errors   warnings   skipped";
        let heading = format!("{:width$}  {heading}", "");
        let mut text = look.paint(Ink::Strong, &heading) + "\n";
        let line = |name: &str, row: &Row, skipped: &str| {
            let Row { recordings, clean, errors, warnings } = row;
            format!(
                "{name:width$}  {recordings:>10}   {clean:>5}   {errors:>6}   {warnings:>8}   \
                 {skipped:>7}\n"
            )
        };
        for (name, row) in &rows {
            text += &line(name, row, "-");
        }
        text + &line("total", &total, &skipped.count().to_string())
    }

    /// How often each code was found, and where.
    fn code_lines(&self, look: Look) -> String {
        let label = |code: &str, row: &CodeRow| format!("{code} {}", row.name);
        let names = self.codes.iter().map(|(code, row)| label(code, row).len()).max().unwrap_or(0);
        let counts = self.codes.values().map(|row| row.findings.to_string().len()).max();
        let digits = counts.unwrap_or(0);
        let line = |(code, row): (&&str, &CodeRow)| {
            let first = format!("{:names$}  {:>digits$}  ", label(code, row), row.findings);
            let places = list(&row.paths, PATHS_SHOWN, row.recordings);
            let indent = first.chars().count();
            let drawn = wrap(&places, look.width, &first, indent);
            drawn.replacen(*code, &look.paint(ink_of(row.severity), code), 1)
        };
        self.codes.iter().map(line).collect()
    }
}

const fn ink_of(severity: Severity) -> Ink {
    match severity {
        Severity::Error => Ink::Error,
        Severity::Warning => Ink::Warning,
        Severity::Info => Ink::Note,
    }
}

/// Files of walked directories that are not recordings, by reason, and paths that could not be
/// read.
pub(crate) fn list_skipped(skipped: &Skipped, look: Look) -> String {
    let mut text = String::new();
    for reason in SkipReason::ALL {
        let (count, paths) = skipped.of(reason);
        if count > 0 {
            let first = format!("skipped ({}): ", reason.name());
            let indent = first.chars().count();
            text += &wrap(&list(paths, PATHS_SHOWN, count), look.width, &first, indent);
        }
    }
    let (count, unread) = skipped.unread();
    if count > 0 {
        let paths: Vec<String> =
            unread.iter().take(PATHS_SHOWN).map(|(path, _)| path.clone()).collect();
        text += &wrap(&list(&paths, PATHS_SHOWN, count), look.width, "could not be read: ", 19);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_table_counts_every_recording_once() {
        let mut totals = Totals::default();
        let options = tracemend::Options::default();
        for name in ["a", "b", "c", "d"] {
            let files = tracemend::FileSet::single(name, b"unknown");
            totals.add(name, &tracemend::check(&files, &options));
        }
        let mut skipped = Skipped::default();
        skipped.add(SkipReason::Link, Path::new("x\u{1b}"));
        let table = totals.table(&skipped, Some("tracemend repair a b"), Look::PLAIN);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(
            lines,
            [
                "            recordings   clean   errors   warnings   skipped",
                "unknown              4       0        4          0         -",
                "total                4       0        4          0         1",
                "CM0002 unknown-format  4  a, b, c and 1 more",
                "skipped (symbolic link): x\\x1b",
                "next: tracemend repair a b",
                "next: tracemend explain CM0002",
            ]
        );
    }
}
