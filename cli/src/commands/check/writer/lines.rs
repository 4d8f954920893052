//! Findings as single lines: for editors and scripts (`oneline`), and for GitHub (`github`).

use std::fmt::Write as _;

use tracemend::words::plural;
use tracemend::{Finding, Severity};

use super::{Checked, Closing, place};
use crate::files::paths::shown;
use crate::show::group::Group;
use crate::show::summary::count_unlisted;

/// `PATH:OFFSET: SEVERITY[CODE] MESSAGE`, one line per finding.
pub(super) fn oneline(checked: &Checked<'_>) -> String {
    let mut text = String::new();
    for finding in checked.report.findings() {
        let (file, offset) = (place::name(checked, finding), place::stored(finding).start());
        let Finding { rule, severity, message, .. } = finding;
        let _infallible = writeln!(text, "{file}:{offset:#x}: {severity}[{}] {message}", rule.code);
    }
    let more = count_unlisted(checked.report);
    if more > 0 {
        let _infallible =
            writeln!(text, "{}: {} not listed", checked.name, plural(more, "finding"));
    }
    text
}

/// A workflow command of GitHub for each code of a recording. A workflow shows only the first ten
/// of each severity.
pub(super) fn github(checked: &Checked<'_>) -> String {
    let mut text = String::new();
    for group in Group::all_of(checked.report, |_| true) {
        let Some(finding) = group.findings.first() else { continue };
        let span = place::stored(finding);
        let file = shown(&place::relative(&place::file(checked, span.layer())));
        let more = match group.count.checked_sub(1).filter(|more| *more > 0) {
            Some(more) => format!("; and {more} more"),
            None => String::new(),
        };
        let message = format!("{} at {:#x}: {}{more}", finding.path, span.start(), finding.message);
        let title = format!("{} {}", finding.rule.code, finding.rule.name);
        text += &github_command(finding.severity, &file, &title, &message);
    }
    text
}

/// The paths that could not be read.
pub(super) fn github_unread(closing: &Closing<'_>) -> String {
    let command = |(path, message): &(String, String)| {
        github_command(Severity::Error, path, "could not be read", message)
    };
    closing.skipped.unread().1.iter().map(command).collect()
}

/// `::error file=...,title=...::message`. The texts are escaped: none of them can end the line or
/// begin another command.
fn github_command(severity: Severity, file: &str, title: &str, message: &str) -> String {
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
