//! Findings for reviewdog: one document in its format of diagnostics (rdjson).

use serde::Serialize;
use serde_json::{Value, json};
use tracemend::Severity;

use super::{Checked, Closing, describe_writer_failure, place};
use crate::files::paths::shown;
use crate::kit::exit::Failure;

pub(super) const HEAD: &str = "{\"source\":{\"name\":\"tracemend\"},\"diagnostics\":[";
pub(super) const END: &str = "\n]}\n";

#[derive(Serialize)]
struct Diagnostic {
    message: String,
    location: Value,
    severity: &'static str,
    code: Value,
}

/// A recording has no lines: every finding is at the first, and its message names the offset.
fn location(path: &str) -> Value {
    json!({ "path": path, "range": { "start": { "line": 1, "column": 1 } } })
}

/// The findings of one recording.
pub(super) fn diagnostics(checked: &Checked<'_>) -> Result<String, Failure> {
    let diagnostic = |finding: &tracemend::Finding| {
        let span = place::stored(finding);
        Diagnostic {
            message: format!("{} at {:#x}: {}", finding.path, span.start(), finding.message),
            location: location(&shown(&place::relative(&place::file(checked, span.layer())))),
            severity: match finding.severity {
                Severity::Error => "ERROR",
                Severity::Warning => "WARNING",
                Severity::Info => "INFO",
            },
            code: json!({ "value": finding.rule.code }),
        }
    };
    list(checked.report.findings().iter().map(diagnostic))
}

/// The paths that could not be read.
pub(super) fn unread(closing: &Closing<'_>) -> Result<String, Failure> {
    let unread = closing.skipped.unread().1.iter();
    list(unread.map(|(path, message)| Diagnostic {
        message: format!("could not be read: {message}"),
        location: location(path),
        severity: "ERROR",
        code: json!({ "value": "unread" }),
    }))
}

fn list(diagnostics: impl Iterator<Item = Diagnostic>) -> Result<String, Failure> {
    let line = |one: Diagnostic| Ok(format!("\n  {}", serde_json::to_string(&one)?));
    let lines: serde_json::Result<Vec<String>> = diagnostics.map(line).collect();
    Ok(lines.map_err(describe_writer_failure)?.join(","))
}
