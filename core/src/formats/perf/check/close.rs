//! Recordings whose header does not state where the records end.

use super::event_desc::describe_several;
use super::faults::describe;
use super::feature_check::{RecordFacts, title};
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::decode::tracing::Names;
use crate::formats::perf::decode::walk::Damage;
use crate::formats::perf::layout::{feature, field};
use crate::formats::perf::recover::end::End;
use crate::formats::perf::repair::{self, NewFeature, Seam};
use crate::formats::perf::rules;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::words::{agree, byte_count, join_and, plural};
use crate::model::edit::{Fix, Safety};
use crate::model::limits::Limits;
use crate::model::{Finding, Report};

const FILE: Layer = Layer::stored(0);

/// The last complete record of an open recording.
#[derive(Debug)]
pub(super) struct OpenEnd {
    /// The end of the complete records.
    pub(super) seam: Seam,
    /// The damage after them, if it extends to the end of the file.
    pub(super) damage: Option<Damage>,
    /// Whether attrs and ids lie before that end.
    pub(super) keeps_attrs: bool,
}

/// Reports that `data.size` does not match the end of the records at `end`.
pub(super) fn push_moved_end(recording: &Recording<'_>, end: u64, report: &mut Report) {
    let data = recording.body.data;
    let size = end.saturating_sub(data.offset);
    let message = format!(
        "data.size is {}, but the records have {} and end at {end:#x}",
        data.size,
        byte_count(size)
    );
    let edit = repair::header_u64(field::DATA_SIZE, size, recording.order());
    let rule = &rules::DATA_SIZE_WRONG;
    let table = recording.table(end);
    let summary = format!("set data.size to {size}");
    // Offsets of sections that are where they were show that no byte of the records is missing.
    let fix = if table.is_tight(recording.length()) {
        Fix::new(Safety::Exact, summary, vec![edit])
            .witness(table.span, "feature table, which follows the records")
    } else {
        Fix::new(Safety::Lossy, summary, vec![edit])
    };
    let finding = Finding::new(rule, repair::size_field(), "header.data.size", message)
        .related(Span::sized(FILE, end, 0), "end of the records");
    report.push(finding.fix(fix));
}

/// Reports a recording that was not finished, or was truncated. The fix closes it after its last
/// complete record, unless attrs or ids lie after it.
pub(super) fn push_open_end(
    recording: &Recording<'_>,
    end: End,
    open: OpenEnd,
    facts: &RecordFacts,
    limits: &Limits,
    report: &mut Report,
) {
    let mut finding = describe_open_end(recording, end, &open);
    // Without a complete record there is nothing to close.
    if open.keeps_attrs && open.seam.end > recording.body.data.offset {
        let add = match recording.header.has_feature_bits() {
            true => lost_features(recording, facts, limits),
            false => Vec::new(),
        };
        finding = finding.fix(close(recording, end, open.seam, add));
    }
    report.push(finding);
}

/// Builds the features that the records need, and EVENT_DESC if it was planned or no feature was:
/// then the header is that of a donor.
fn lost_features(
    recording: &Recording<'_>,
    facts: &RecordFacts,
    limits: &Limits,
) -> Vec<NewFeature> {
    let order = recording.order();
    let mut add = facts.needed_features(order, |_| false);
    let flags = recording.body.flags;
    if flags.has(feature::EVENT_DESC) || flags.count() == 0 {
        // TRACING_DATA, which has the names of tracepoints, is lost as well.
        add.extend(describe_several(recording, &Names::new(), limits));
    }
    repair::with_hostname(add, order, |_| false)
}

fn describe_open_end(recording: &Recording<'_>, end: End, open: &OpenEnd) -> Finding {
    let body = &recording.body;
    let (rule, mut message) = if end == End::Truncated {
        let present = recording.length().saturating_sub(body.data.offset);
        let message = format!("truncated records: {present} of {}", byte_count(body.data.size));
        (&rules::DATA_PAST_END, message)
    } else {
        let present = open.seam.end.saturating_sub(body.data.offset);
        let message = format!("data.size is 0, but {} of records follow", byte_count(present));
        (&rules::DATA_SIZE_ZERO, message)
    };
    let flagged = body.flags.count();
    if flagged > 0 {
        let flagged_features = plural(flagged, "flagged feature");
        let verb = agree(flagged, "is", "are");
        message.push_str(&format!("; {flagged_features} {verb} missing"));
    }
    let mut finding = Finding::new(rule, repair::size_field(), "header.data.size", message);
    if flagged > 0 {
        let names: Vec<String> = body.flags.bits().map(title).collect();
        let flags = format!("flags of {}", join_and(&names));
        finding = finding.related(Span::sized(FILE, field::FLAGS, 32), flags);
    }
    if let Some(damage) = &open.damage {
        let (_, what) = describe(damage.fault, damage.span);
        finding = finding.related(damage.span, what);
    }
    finding
}

/// Builds the fix that closes a recording at `seam` and adds features.
fn close(recording: &Recording<'_>, end: End, seam: Seam, add: Vec<NewFeature>) -> Fix {
    let dropped = recording.length().saturating_sub(seam.end);
    let kept = seam.end.saturating_sub(recording.body.data.offset);
    let size = kept.saturating_add(to_u64(seam.padding.len()));
    let mut summary = format!("set data.size to {size}");
    let flagged = recording.body.flags.count();
    if flagged > 0 {
        summary.push_str(&format!(", clear {}", plural(flagged, "feature bit")));
    }
    for (bit, _) in &add {
        summary.push_str(&format!(", build {}", title(*bit)));
    }
    if dropped > 0 {
        summary.push_str(&format!(", drop {} after the last complete record", byte_count(dropped)));
    }
    // perf record writes data.size and the final feature bits when it exits; in a file that was
    // truncated later, they are facts about the part that is lost.
    let is_unfinished = end == End::Unfinished;
    // The size of a truncated last record is a recorded value, which it loses.
    let alters = dropped > 0 || !seam.edits.is_empty();
    let safety = match alters || !is_unfinished {
        true => Safety::Lossy,
        false => Safety::Synthetic,
    };
    Fix::new(safety, summary, repair::close(recording, seam, add, is_unfinished))
}
