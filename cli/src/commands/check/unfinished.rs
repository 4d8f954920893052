//! The report about a recording that is still being written.

use tracemend::words::plural;
use tracemend::{Finding, Fix, Layer, Report, Severity, Span, common};

use crate::files::in_use::BeingWritten;

/// Returns a report with one error in the place of the faults that a check found: a recorder that
/// has not ended leaves the same ones as a recorder that was killed.
pub(super) fn report(checked: &Report, sign: &BeingWritten) -> Report {
    let mut report = Report::new(checked.format, checked.length, 1);
    report.tally = checked.tally;
    report.facts = checked.facts.clone();
    report.push(finding(checked, sign));
    report
}

/// Adds the error, so that a policy can judge it.
pub(super) fn finding(checked: &Report, sign: &BeingWritten) -> Finding {
    let faults: Vec<String> = [Severity::Error, Severity::Warning]
        .into_iter()
        .map(|severity| (checked.count_of(severity), severity.name()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| plural(count, name))
        .collect();
    let mut message = sign.sentence().to_string();
    if !faults.is_empty() {
        let faults = faults.join(" and ");
        message += &format!("; not listed: {faults} about the bytes so far");
    }
    let span = Span::new(Layer::stored(0), 0, 0);
    let summary = "wait until the recorder has ended, then check again";
    Finding::new(&common::STILL_BEING_WRITTEN, span, "file", message).fix(Fix::manual(summary))
}
