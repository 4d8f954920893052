//! The last resort: a valid recording from the parts that can be trusted.

use super::tracing::describe_built;
use crate::formats::perf::decode::recording::{RecordFile, Recording};
use crate::formats::perf::recover::restore::{Salvage, has_several, salvage, salvage_pipe};
use crate::formats::perf::{repair, rules};
use crate::kit::num::to_u64;
use crate::kit::words::{byte_count, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::options::Options;
use crate::model::rule::common;
use crate::model::{Finding, Report, Severity};

/// Gives the first error a fix that rebuilds the recording, if no error has a fix of its own.
pub(super) fn offer(recording: &Recording<'_>, options: &Options, report: &mut Report) {
    if !report.has_errors() || report.incomplete() {
        return;
    }
    let mut errors = report.findings().iter().filter(|one| one.severity == Severity::Error);
    if errors.clone().any(has_own_fix) || !errors.any(is_rebuilt) {
        return;
    }
    if let Some(fix) = build_fix(recording, options) {
        report.offer(fix, is_rebuilt);
    }
}

/// Returns the first error that a rebuilt recording lacks, with the fix that rebuilds it.
pub(super) fn last_resort(
    recording: &Recording<'_>,
    options: &Options,
    report: &Report,
) -> Option<Finding> {
    let first = report.findings().iter().find(|finding| may_be_rebuilt(finding))?;
    let fix = build_fix(recording, options)?;
    Some(Finding { fix: Some(fix), ..first.clone() })
}

/// Returns the finding that a pipe has no event, with the fix that adds the one whose attr is left.
pub(super) fn restore_event(
    file: &RecordFile<'_>,
    options: &Options,
    report: &Report,
) -> Option<Finding> {
    let missing = report.findings().iter().find(|finding| *finding.rule == rules::NO_ATTRS)?;
    if missing.fix.is_some() {
        return None;
    }
    // perf would show the samples of all events under the only one.
    if has_several(file, &options.limits) {
        return None;
    }
    let event = salvage_pipe(file, &options.limits)?;
    let edit = repair::add_event(&event, file.order())?;
    let summary = "add a HEADER_ATTR record with an attr by which the samples can be read";
    let fix = Fix::new(Safety::Lossy, summary, vec![edit]);
    Some(Finding { fix: Some(fix), ..missing.clone() })
}

fn build_fix(recording: &Recording<'_>, options: &Options) -> Option<Fix> {
    let salvage = salvage(recording, &options.limits)?;
    let edits = repair::rebuild(recording, &salvage);
    (!edits.is_empty()).then(|| describe(&salvage, edits))
}

/// Whether an error has a fix that can be applied.
fn has_own_fix(finding: &Finding) -> bool {
    finding.fix.as_ref().is_some_and(|fix| !fix.edits.is_empty())
}

/// Whether a rebuilt recording lacks the error.
fn may_be_rebuilt(finding: &Finding) -> bool {
    let others = [&rules::TRACING_DATA_MISSING, &rules::PART_MISSING, &common::LIMIT_REACHED];
    finding.severity == Severity::Error
        && finding.span.layer.is_stored()
        && !others.contains(&finding.rule)
}

fn is_rebuilt(finding: &Finding) -> bool {
    may_be_rebuilt(finding) && !has_own_fix(finding)
}

fn describe(salvage: &Salvage, edits: Vec<Edit>) -> Fix {
    let dropped = edits.iter().fold(0_u64, |sum, edit| sum.saturating_add(edit.span.len()));
    let events = plural(to_u64(salvage.events.len()), "event");
    let records = plural(salvage.records, "record");
    let mut summary = format!("rebuild the file from {events} and {records}");
    let kept = to_u64(salvage.features.len());
    if kept > 0 || salvage.flagged > 0 {
        summary.push_str(&format!(", keep {}", plural(kept, "feature")));
    }
    if !salvage.tracepoints.is_empty() {
        summary.push_str(&format!(", {}", describe_built(&salvage.tracepoints)));
    }
    if salvage.is_mended {
        summary.push_str(", set values of attrs by which the records can be read");
    }
    if salvage.unknown > 0 {
        let unknown = plural(salvage.unknown, "event");
        summary.push_str(&format!(", name {unknown} dummy: nothing tells what was counted"));
    }
    summary.push_str(&format!(", replace or drop {}", byte_count(dropped)));
    let fix = Fix::new(Safety::Lossy, summary, edits);
    Fix { records_lost: salvage.lost, ..fix }
}
