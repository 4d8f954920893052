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

/// A command in the log of a platform.
type Command = fn(Severity, &str, [&str; 2], &str) -> String;

/// A workflow command of GitHub for each code of a recording. A workflow shows only the first ten
/// of each severity.
pub(super) fn github(checked: &Checked<'_>) -> String {
    commands(checked, github_command)
}

/// A logging command of Azure Pipelines for each code of a recording; it has none for notes.
pub(super) fn azure(checked: &Checked<'_>) -> String {
    commands(checked, azure_command)
}

fn commands(checked: &Checked<'_>, command: Command) -> String {
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
        let title = [finding.rule.code, finding.rule.name];
        text += &command(finding.severity, &file, title, &message);
    }
    text
}

/// The paths that could not be read.
pub(super) fn github_unread(closing: &Closing<'_>) -> String {
    unread(closing, github_command)
}

/// The paths that could not be read.
pub(super) fn azure_unread(closing: &Closing<'_>) -> String {
    unread(closing, azure_command)
}

fn unread(closing: &Closing<'_>, command: Command) -> String {
    let unread = closing.skipped.unread().1.iter();
    let title = ["could not", "be read"];
    unread.map(|(path, message)| command(Severity::Error, path, title, message)).collect()
}

/// `::error file=...,title=...::message`. The texts are escaped: none of them can end the line or
/// begin another command.
fn github_command(
    severity: Severity,
    file: &str,
    [code, name]: [&str; 2],
    message: &str,
) -> String {
    let command = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let title = property(&format!("{code} {name}"));
    format!("::{command} file={},title={title}::{}\n", property(file), data(message))
}

/// `##vso[task.logissue type=error;sourcepath=...;code=...]message`, escaped as Azure reads it.
fn azure_command(severity: Severity, file: &str, [code, name]: [&str; 2], message: &str) -> String {
    let kind = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => return String::new(),
    };
    let data = |text: &str| text.replace('%', "%AZP25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(';', "%3B").replace(']', "%5D");
    let (path, code, text) = (property(file), property(code), data(message));
    format!("##vso[task.logissue type={kind};sourcepath={path};code={code}]{name}: {text}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_add_a_property_or_a_command() {
        let hostile = "a,title=b::c%0A\r\n::error::x";
        let command = azure_command(Severity::Error, hostile, [hostile, "name"], hostile);
        assert_eq!((command.matches('\n').count(), command.matches(';').count()), (1, 2));
        let command = github_command(Severity::Info, hostile, [hostile, "name"], hostile);
        assert_eq!(command.matches('\n').count(), 1);
        let (head, message) =
            command.trim_end().split_once("::").unwrap().1.split_once("::").unwrap();
        assert_eq!(head.matches(',').count(), 1, "{head}");
        assert_eq!(message, "a,title=b::c%250A%0D%0A::error::x");
    }
}
