//! How a recording arrived, in its report: ways that were undone, and bytes that were lost.

use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::words::list;
use crate::kit::wrapper::Loss;
use crate::model::arrival::rules;
use crate::model::edit::Fix;
use crate::model::recording::FileSet;
use crate::model::{Finding, Report};

/// Bytes that a finding about lost bytes shows.
const SHOWN: u64 = 16;
/// Codes that it names.
const CODES_SHOWN: usize = 6;
/// Bytes of a recording for each record that can be read, at least, if a conversion took bytes from
/// all of it.
const RECORD: u64 = 1_024;

/// Adds the findings about the ways in which a recording arrived.
pub(crate) fn with_undone(files: &FileSet<'_>, mut report: Report) -> Report {
    if !files.undone().is_empty() {
        files.undone().iter().for_each(|undone| report.lead(undone.finding.clone()));
        report.finish();
    }
    report
}

/// Returns a report of lost bytes instead of one whose faults are their effects.
pub(super) fn with_loss(files: &FileSet<'_>, report: Report) -> Report {
    let Some(finding) = find_loss(files, &report) else { return report };
    let mut lost = Report::new(report.format, report.length, 1);
    (lost.tally, lost.facts) = (report.tally, report.facts);
    lost.push(finding);
    lost.finish();
    lost
}

/// Returns the finding about the first file that a conversion took bytes from, if the faults of a
/// report can be its effects.
pub(super) fn find_loss(files: &FileSet<'_>, report: &Report) -> Option<Finding> {
    if report.format.is_none() || !report.has_errors() || report.incomplete() {
        return None;
    }
    let found = (0_u32..).zip(files.files());
    let mut found = found.filter_map(|(index, file)| Some((index, Loss::of(&file.bytes)?)));
    let is_unreadable = report.tally.records.saturating_mul(RECORD) < files.len();
    let (index, loss) = found.find(|(_, loss)| is_unreadable || *loss == Loss::Replaced)?;
    let span = Span::new(Layer::stored(index), 0, SHOWN.min(files.bytes(index).len()));
    let message = format!("bytes were lost on the way: {}", loss.description());
    let codes: Vec<&str> = report.counts().keys().copied().collect();
    let note = format!("explains {}", list(&codes, CODES_SHOWN, to_u64(codes.len())));
    let fix = Fix::manual("copy the recording again from its source, as binary data");
    Some(Finding::new(&rules::BYTES_LOST, span, "file", message).note(note).fix(fix))
}
