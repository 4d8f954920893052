//! A picture of the run: one row per recording, with the places of its findings.

use tracemend::words::plural;

use super::html::describe_verdict;
use super::{Checked, Closing, Settings, place};
use crate::show::picture::{self, Class, Row, Rows, Stretch};

/// Findings of one recording that are marked.
const MARKS: usize = 100;

/// The row of one recording; the files of a directory follow one another.
pub(super) fn row(checked: &Checked<'_>) -> Row {
    let report = checked.report;
    let files = checked.files.files();
    let start_of = |file: u32| {
        let before = files.iter().take(usize::try_from(file).unwrap_or(usize::MAX));
        before.fold(0_u64, |sum, file| sum.saturating_add(file.bytes.len()))
    };
    let findings = report.findings().iter().take(MARKS);
    let marks = findings.map(|finding| {
        let span = place::stored(finding);
        let start = start_of(span.layer().file);
        let range = (start.saturating_add(span.start()), start.saturating_add(span.end()));
        let title = format!("{} {span}", finding.rule.code);
        Stretch { title, ..Stretch::new(range, Class::from(finding.severity)) }
    });
    let (class, verdict) = describe_verdict(report);
    let worst = match class {
        "error" => Class::Error,
        "warning" => Class::Warning,
        _ => Class::Plain,
    };
    // A report that was merged has a length and no bytes.
    let length = report.length.max(checked.files.len());
    Row::new(&checked.name, &verdict, (worst, length), marks.collect())
}

/// The picture of all rows.
pub(super) fn close(rows: Rows, closing: &Closing<'_>, settings: &Settings) -> String {
    let counts = closing.counts;
    let unread = closing.skipped.unread().0;
    let recordings = plural(counts.recordings, "recording");
    let faulty = [
        (counts.with_errors, "with errors"),
        (counts.with_warnings, "with warnings"),
        (unread, "not read"),
    ];
    let faulty = faulty.into_iter().filter(|(count, _)| *count > 0);
    let faulty: Vec<String> = faulty.map(|(count, word)| format!("{count} {word}")).collect();
    let summary = [format!("{recordings}, {} clean", counts.clean), faulty.join(", ")];
    let title = if settings.audit.is_some() { "tracemend audit" } else { "tracemend check" };
    picture::alone(&rows.draw(title, &summary))
}
