//! An audit as text for people: one page for each recording.

use tracemend::{Concern, Finding, Untrusted};

use super::{Checked, Piece};
use crate::kit::figures::size;
use crate::kit::look::{Ink, Look, wrap};

/// Columns before the lines of a finding.
const INDENT: usize = 4;

/// Every finding of a recording, by concern, and the risk.
pub(super) fn describe(checked: &Checked<'_>, wanted: Option<Concern>, look: Look) -> Piece {
    let Checked { name, report, .. } = checked;
    let format = report.format.map_or("unknown format", |format| format.name());
    let mut text = format!("{name}: {format}, {}\n", size(report.length));
    for finding in report.findings().iter().filter(|one| Concern::of(one.rule).is_none()) {
        text += &line(checked, finding, look);
    }
    let mut risks = Vec::new();
    for (concern, heading, risk) in [
        (Concern::Recipient, "for a recipient", "risk for a recipient"),
        (Concern::Sender, "private to the sender", "private to the sender"),
    ] {
        if wanted.is_some_and(|wanted| wanted != concern) {
            continue;
        }
        let of_concern = |one: &&Finding| Concern::of(one.rule) == Some(concern);
        let mut found: Vec<&Finding> = report.findings().iter().filter(of_concern).collect();
        found.sort_by_key(|finding| finding.rule.code);
        if !found.is_empty() {
            text += &format!("{}\n", look.paint(Ink::Strong, heading));
        }
        for finding in &found {
            text += &line(checked, finding, look);
        }
        risks.push(format!("{risk}: {}", list_kinds(&found)));
    }
    text += &wrap(&risks.join("; "), look.width, "", INDENT);
    Piece::Text(text)
}

/// The kinds of findings, each once.
fn list_kinds(found: &[&Finding]) -> String {
    let mut kinds: Vec<String> =
        found.iter().map(|finding| finding.rule.name.replace('-', " ")).collect();
    kinds.dedup();
    if kinds.is_empty() { "nothing found".to_string() } else { kinds.join(", ") }
}

/// One finding: its code, what was found, where, and a glimpse of it.
fn line(checked: &Checked<'_>, finding: &Finding, look: Look) -> String {
    let ink = match finding.severity {
        tracemend::Severity::Error => Ink::Error,
        tracemend::Severity::Warning => Ink::Warning,
        tracemend::Severity::Info => Ink::Note,
    };
    let (code, message) = (finding.rule.code, &finding.message);
    let mut text = format!("{code} {}: {message}{}", finding.rule.name, place(checked, finding));
    for note in &finding.notes {
        text += &format!("; {note}");
    }
    wrap(&text, look.width, "  ", INDENT).replacen(code, &look.paint(ink, code), 1)
}

/// The place of a finding, with the file if there are several.
fn place(checked: &Checked<'_>, finding: &Finding) -> String {
    let span = finding.span;
    let layer = span.layer();
    let files = checked.files.files();
    let mut text = String::new();
    if !span.is_empty() {
        text += &format!(", first at {span}");
    }
    if !layer.is_stored() {
        text += " of the expanded bytes";
    }
    if files.len() > 1 {
        let file = usize::try_from(layer.file).ok().and_then(|index| files.get(index));
        let name = file.map(|file| Untrusted(file.name.as_bytes()).to_string());
        text += &format!(" of {}", name.unwrap_or_default());
    }
    text
}
