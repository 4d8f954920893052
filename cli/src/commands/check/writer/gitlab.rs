//! The report of code quality that GitLab shows in merge requests: one object per finding.
//!
//! GitLab takes findings of equal fingerprints for one, and paths relative to the repository.

use serde::Serialize;
use tracemend::Severity;
use tracemend::words::plural;

use super::{Checked, Closing, describe_writer_failure, place};
use crate::files::paths::shown;
use crate::kit::exit::Failure;
use crate::show::summary::count_unlisted;

pub(super) const HEAD: &str = "[";
pub(super) const END: &str = "\n]\n";

#[derive(Serialize)]
struct Entry {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

/// A recording has no lines: every finding is at the first, and its description names the offset.
#[derive(Serialize)]
struct Lines {
    begin: u64,
}

fn location(path: String) -> Location {
    Location { path, lines: Lines { begin: 1 } }
}

fn list(entries: &[Entry]) -> Result<String, Failure> {
    let line = |entry: &Entry| Ok(format!("\n  {}", serde_json::to_string(entry)?));
    let lines: serde_json::Result<Vec<String>> = entries.iter().map(line).collect();
    Ok(lines.map_err(describe_writer_failure)?.join(","))
}

/// The findings of one recording.
pub(super) fn entries(checked: &Checked<'_>) -> Result<String, Failure> {
    let own = shown(&place::relative(checked.path));
    let mut entries = Vec::new();
    for finding in checked.report.findings() {
        let span = place::stored(finding);
        entries.push(Entry {
            description: format!("{} at {:#x}: {}", finding.path, span.start(), finding.message),
            check_name: format!("{} {}", finding.rule.code, finding.rule.name),
            fingerprint: finding.fingerprint.clone().unwrap_or_default(),
            severity: match finding.severity {
                Severity::Error => "critical",
                Severity::Warning => "minor",
                Severity::Info => "info",
            },
            location: location(shown(&place::relative(&place::file(checked, span.layer())))),
        });
    }
    let more = count_unlisted(checked.report);
    if more > 0 {
        entries.push(Entry {
            description: format!("{} not listed", plural(more, "further finding")),
            check_name: "truncated".to_string(),
            fingerprint: format!("truncated:{own}"),
            severity: "info",
            location: location(own),
        });
    }
    list(&entries)
}

/// The paths that could not be read.
pub(super) fn unread(closing: &Closing<'_>) -> Result<String, Failure> {
    let entry = |(path, message): &(String, String)| Entry {
        description: format!("could not be read: {message}"),
        check_name: "unread".to_string(),
        fingerprint: format!("unread:{path}"),
        severity: "blocker",
        location: location(path.clone()),
    };
    let entries: Vec<Entry> = closing.skipped.unread().1.iter().map(entry).collect();
    list(&entries)
}
