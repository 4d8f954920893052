//! Findings as single lines: for editors and scripts (`oneline`), and for GitHub (`github`).

use std::fmt::Write as _;
use std::path::Path;

use tracemend::words::plural;
use tracemend::{FileSet, Finding, Report, Severity, Untrusted};

use crate::group::Group;
use crate::input::shown;

/// The path of the file that a finding is in, escaped, and the offset of its first stored byte.
fn place(path: &Path, finding: &Finding, files: &FileSet<'_>) -> (String, u64) {
    let span = finding.stored.unwrap_or(finding.span);
    let index = usize::try_from(span.layer().file).unwrap_or(usize::MAX);
    let name = files.files().get(index).map(|file| Untrusted(file.name.as_bytes()).to_string());
    let file = match name.filter(|_| path.is_dir()) {
        Some(name) => format!("{}/{name}", shown(path)),
        None => shown(path),
    };
    (file, span.start())
}

/// `PATH:OFFSET: SEVERITY[CODE] MESSAGE`, one line per finding.
pub(super) fn oneline(path: &Path, report: &Report, files: &FileSet<'_>) -> String {
    let mut text = String::new();
    for finding in report.findings() {
        let (file, offset) = place(path, finding, files);
        let Finding { rule, severity, message, .. } = finding;
        let _infallible = writeln!(text, "{file}:{offset:#x}: {severity}[{}] {message}", rule.code);
    }
    let listed = u64::try_from(report.findings().len()).unwrap_or(u64::MAX);
    let more = report.counts().values().fold(0, |sum: u64, count| sum.saturating_add(*count));
    if let Some(more) = more.checked_sub(listed).filter(|more| *more > 0) {
        let _infallible = writeln!(text, "{}: {} not listed", shown(path), plural(more, "finding"));
    }
    text
}

/// A workflow command of GitHub for each code of a recording. A workflow shows only the first ten
/// of each severity.
pub(super) fn github(path: &Path, report: &Report, files: &FileSet<'_>) -> String {
    let mut text = String::new();
    for group in Group::all_of(report, |_| true) {
        let Some(finding) = group.findings.first() else { continue };
        let (file, offset) = place(path, finding, files);
        let more = match group.count.checked_sub(1).filter(|more| *more > 0) {
            Some(more) => format!("; and {more} more"),
            None => String::new(),
        };
        let message = format!("{} at {offset:#x}: {}{more}", finding.path, finding.message);
        let title = format!("{} {}", finding.rule.code, finding.rule.name);
        text += &github_command(finding.severity, &file, &title, &message);
    }
    text
}

/// `::error file=...,title=...::message`. The texts are escaped: none of them can end the line or
/// begin another command.
pub(super) fn github_command(severity: Severity, file: &str, title: &str, message: &str) -> String {
    let command = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    format!("::{command} file={},title={}::{}\n", property(file), property(title), data(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_add_a_property_or_a_command() {
        let hostile = "a,title=b::c%0A\r\n::error::x";
        let command = github_command(Severity::Info, hostile, hostile, hostile);
        assert_eq!(command.matches('\n').count(), 1);
        let (head, message) =
            command.trim_end().split_once("::").unwrap().1.split_once("::").unwrap();
        assert_eq!(head.matches(',').count(), 1, "{head}");
        assert_eq!(message, "a,title=b::c%250A%0D%0A::error::x");
    }
}
