//! Causes that explain errors of a report and that nothing undoes: they are named beside them.

use std::collections::BTreeSet;

use crate::catalogue;
use crate::kit::controls::LostControls;
use crate::kit::holes::{BLOCK, HoleSearch, SLACK, find_tail};
use crate::kit::num::to_u64;
use crate::kit::reading::{Cause, Displacement};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::words::{agree, byte_count, list, plural};
use crate::mend::explained::is_reading;
use crate::model::arrival::rules;
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::rule::common;
use crate::model::{Finding, Report, Severity};

/// Bytes that a finding about a whole file shows.
const SHOWN: u64 = 16;
/// Codes and places that a note names.
const NAMED: usize = 6;

/// Adds the causes of the errors and warnings of a report.
pub(crate) fn with_causes(files: &FileSet<'_>, options: &Options, mut report: Report) -> Report {
    if report.format.is_none() || report.worst() < Some(Severity::Warning) {
        return report;
    }
    let controls = if report.has_errors() { find_controls(files) } else { None };
    let displaced = find_displacement(files, options, &report);
    let unwritten = find_unwritten(files, &report);
    let causes = controls.into_iter().chain(unwritten).chain(displaced);
    let causes: Vec<Finding> = causes.collect();
    if !causes.is_empty() {
        causes.into_iter().for_each(|cause| report.lead(cause));
        report.finish();
    }
    report
}

/// Returns the finding about control characters that a terminal took from the first file that lost
/// some. A repair keeps the records that lost none.
fn find_controls(files: &FileSet<'_>) -> Option<Finding> {
    let mut found = (0_u32..).zip(files.files());
    let (index, LostControls { lost, others }) =
        found.find_map(|(index, file)| Some((index, LostControls::of(&file.bytes)?)))?;
    let span = Span::new(Layer::stored(index), 0, SHOWN.min(files.bytes(index).len()));
    let named: Vec<String> =
        lost.iter().map(|(byte, name)| format!("{byte:#04x} ({name})")).collect();
    let message = format!("control characters were lost on the way: {}", named.join(", "));
    let note = format!(
        "no byte of the file is one of them; each other byte up to 0x20 is there {} or more",
        plural(others, "time")
    );
    let advice = "copy the recording again as binary data; a repair keeps what lost none";
    Some(Finding::new(&rules::CONTROLS_LOST, span, "file", message).note(note).note(advice))
}

/// Returns the finding about bytes that were inserted or are missing, if no reading of the whole
/// file says where.
fn find_displacement(files: &FileSet<'_>, options: &Options, report: &Report) -> Option<Finding> {
    if !report.has_errors() || report.findings().iter().any(|one| is_reading(one.rule)) {
        return None;
    }
    let format = report.format.and_then(catalogue::format)?;
    let Displacement { range, cause, len, witnesses } =
        format.displacement(files, options, report)?;
    let (rule, defect) = match cause {
        Cause::Missing => (&common::MISSING_BYTES, agree(len, "is missing", "are missing")),
        _ => (&common::INSERTED_BYTES, agree(len, "was inserted", "were inserted")),
    };
    let place = format!("between {:#x} and {:#x}", range.start, range.end);
    let message = format!("{} {defect} {place}", byte_count(len));
    let note =
        "the findings in these bytes, and those about offsets, sizes and counts, follow from it";
    let finding = Finding::new(rule, range, "file", message).note(note);
    let related = |finding: Finding, (span, meaning)| finding.related(span, meaning);
    Some(witnesses.into_iter().fold(finding, related))
}

/// Zeros that never reached the disk, and the findings that lie in them or beside them.
#[derive(Default)]
struct Unwritten {
    spans: BTreeSet<Span>,
    explained: BTreeSet<(Severity, &'static str)>,
}

impl Unwritten {
    fn add(&mut self, span: Span, finding: &Finding) {
        self.spans.insert(span);
        self.explained.insert((finding.severity, finding.rule.code));
    }

    /// Returns the finding about the zeros, which are a `name` at a place in the file; it is as
    /// severe as those that it explains.
    fn into_finding(self, name: &str, place: &str) -> Option<Finding> {
        let first = *self.spans.first()?;
        let zeros = self.spans.iter().map(Span::len).fold(0, u64::saturating_add);
        let others = match self.spans.len() {
            1 => String::new(),
            count => format!(" in {}", plural(to_u64(count), name)),
        };
        let message = format!("{name}: {} of zeros{others} {place}", byte_count(zeros));
        let codes: BTreeSet<&str> = self.explained.iter().map(|(_, code)| *code).collect();
        let codes: Vec<&str> = codes.into_iter().collect();
        let note = format!("explains {}", list(&codes, NAMED, to_u64(codes.len())));
        let mut finding = Finding::new(&common::HOLE, first, "file", message).note(note);
        finding.severity = self.explained.last().map_or(Severity::Error, |(severity, _)| *severity);
        let further = self.spans.iter().skip(1).take(NAMED);
        Some(
            further
                .fold(finding, |finding, span| finding.related(*span, format!("another {name}"))),
        )
    }
}

/// Returns the findings about the holes and the preallocated tails that errors or warnings lie in
/// or beside.
fn find_unwritten(files: &FileSet<'_>, report: &Report) -> Vec<Finding> {
    if report.findings().iter().any(|finding| is_reading(finding.rule)) {
        // A reading of the whole file knows what the zeros are.
        return Vec::new();
    }
    let (mut holes, mut tails) = (Unwritten::default(), Unwritten::default());
    for (index, file) in (0_u32..).zip(files.files()) {
        let (source, layer) = (&file.bytes, Layer::stored(index));
        let mut search = HoleSearch::new(source);
        let mut tail = None;
        for finding in report.findings().iter().filter(|one| one.severity >= Severity::Warning) {
            let span = finding.stored.unwrap_or(finding.span);
            if span.layer != layer {
                continue;
            }
            let tail = *tail.get_or_insert_with(|| find_long_tail(source));
            let begins_before = tail.is_none_or(|tail| span.start < tail);
            if let Some((start, end)) = search.find(span.start, span.end).filter(|_| begins_before)
            {
                holes.add(Span::new(layer, start, end), finding);
            } else if let Some(tail) = tail.filter(|tail| reaches(*tail, span, source.len())) {
                tails.add(Span::new(layer, tail, source.len()), finding);
            }
        }
    }
    let holes = holes.into_finding("hole", "between borders of disk blocks");
    let tails = tails.into_finding("preallocated tail", "up to the end of the file");
    holes.into_iter().chain(tails).collect()
}

/// Whether a finding lies in the tail of a file of `len` bytes, or beside it. One about all that
/// follows the end of a recording names the tail itself.
const fn reaches(tail: u64, span: Span, len: u64) -> bool {
    let is_named =
        span.start >= tail && span.start <= tail.saturating_add(SLACK) && span.end == len;
    span.end.saturating_add(BLOCK) > tail && !is_named
}

/// Returns where the tail of a file begins, if it is longer than a block, and begins or ends at a
/// border.
fn find_long_tail(source: &Source<'_>) -> Option<u64> {
    let (start, len) = (find_tail(source), source.len());
    // The zeros may adjoin a few of the recording.
    let begins = start.next_multiple_of(BLOCK).saturating_sub(start) <= SLACK;
    let is_long = len.saturating_sub(start) >= BLOCK;
    (is_long && (begins || len.is_multiple_of(BLOCK))).then_some(start)
}
