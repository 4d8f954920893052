//! Recordings as tests of the Test Anything Protocol, version 14: one point each, with its findings
//! as a block of YAML.

use serde_json::json;
use tracemend::words::plural;

use super::{Checked, Closing, place};
use crate::files::paths::shown;
use crate::kit::exit::Exit;
use crate::show::summary::count_unlisted;

pub(super) const HEAD: &str = "TAP version 14\n";

/// One recording, without the number of its point.
#[derive(Debug)]
pub(in crate::commands::check) struct Point {
    is_ok: bool,
    name: String,
    /// Lines of YAML: a string of JSON is one of YAML, too.
    findings: Vec<String>,
}

impl Point {
    pub(super) fn of(checked: &Checked<'_>) -> Self {
        let finding = |finding: &tracemend::Finding| {
            let (code, severity) = (finding.rule.code, finding.severity.name());
            let offset = place::stored(finding).start();
            json!(format!(
                "{severity}[{code}] {} at {offset:#x}: {}",
                finding.path, finding.message
            ))
            .to_string()
        };
        let mut findings: Vec<String> = checked.report.findings().iter().map(finding).collect();
        let more = count_unlisted(checked.report);
        if more > 0 {
            findings.push(json!(format!("{} not listed", plural(more, "finding"))).to_string());
        }
        let name = shown(&place::relative(checked.path));
        Self { is_ok: checked.exit == Exit::Clean, name, findings }
    }

    /// Returns the lines of the point with this number.
    pub(super) fn draw(&self, number: u64) -> String {
        let state = if self.is_ok { "ok" } else { "not ok" };
        let name = self.name.replace('\\', "\\\\").replace('#', "\\#");
        let mut text = format!("{state} {number} - {name}\n");
        if !self.findings.is_empty() {
            let lines = self.findings.iter().map(|line| format!("    - {line}\n"));
            text += &format!("  ---\n  findings:\n{}  ...\n", lines.collect::<String>());
        }
        text
    }
}

/// The paths that could not be read.
pub(super) fn unread(closing: &Closing<'_>) -> Vec<Point> {
    let point = |(path, message): &(String, String)| Point {
        is_ok: false,
        name: path.clone(),
        findings: vec![json!(format!("could not be read: {message}")).to_string()],
    };
    closing.skipped.unread().1.iter().map(point).collect()
}
