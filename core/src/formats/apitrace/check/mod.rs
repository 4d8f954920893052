//! Findings of a trace. Reads no bytes: it judges a [`Trace`] that was read to its end.
//!
//! - `arrangement`: the order of the stored units
//! - `parts`: two traces in one file
//! - `header`, `units`: the header of the stream and the stored units
//! - `region`, `damage`: damages of one cause, as one finding
//! - `definitions`: definitions that differ from those of a known build
//! - `warning`: unusual things in sound events
//! - `repeats`: values that differ in one bit from one that repeats
//! - `usage`: calls that use their function as no sound call does
//! - `ending`: how the stream ends, and the calls that are open then
//! - `facts`: counts for the report

mod arrangement;
mod damage;
mod definitions;
mod describe;
mod ending;
mod facts;
mod header;
mod parts;
mod region;
mod repeats;
mod units;
mod usage;
mod warning;

use super::decode::places::Place;
use super::expand::stored;
use super::repair::StreamEditor;
use super::repair::damage::{Donor, DonorOrigin};
use super::repair::fixes::{FixPlan, build_fixes};
use super::rules;
use crate::formats::apitrace::recover::arrangement::Arrangement;
use crate::formats::apitrace::recover::parts::Parts;
use crate::formats::apitrace::recover::signatures::compare;
use crate::formats::apitrace::recover::trace::Trace;
use crate::kit::span::{Layer, Span};
use crate::kit::words::byte_count;
use crate::model::options::Options;
use crate::model::rule::common;
use crate::model::{Finding, Report, Severity};

/// A trace, the findings about it so far, and what a repair would do about each.
struct TraceCheck<'r, 'a> {
    trace: Trace,
    options: &'r Options,
    editor: StreamEditor<'r, 'a>,
    /// The donor, if it is of the same build.
    donor: Option<Donor<'r>>,
    findings: Vec<(Finding, Option<FixPlan>)>,
    /// Lost and doubtful calls of each damage.
    losses: Vec<Loss>,
    /// Where a second trace begins in the file.
    second_trace: Option<u64>,
}

/// The calls that a damage affects.
#[derive(Clone, Copy, Debug)]
struct Loss {
    /// The first that was lost.
    first: u64,
    /// How many were lost.
    lost: u64,
    /// First and last of those that may be wrong.
    suspects: Option<(u64, u64)>,
}

/// Adds the findings of a trace to the report.
pub fn check_trace(
    trace: Trace,
    donor: Option<Donor<'_>>,
    editor: StreamEditor<'_, '_>,
    options: &Options,
    report: &mut Report,
) {
    let mut check = TraceCheck::new(trace, editor, options);
    check.tally(report);
    check.check_donor(donor);
    check.check_header(report);
    check.check_units();
    check.check_damages();
    check.check_definitions();
    check.check_warnings();
    check.check_repeats();
    check.check_usage();
    check.check_ending();
    check.check_container();
    check.add_facts(report);
    check.push_findings(report);
}

/// Adds the findings of a trace whose units are not in their order, and no others: the faults that
/// follow from the order cannot be told from those that remain.
pub fn check_arrangement(
    trace: Trace,
    found: &Arrangement,
    editor: StreamEditor<'_, '_>,
    options: &Options,
    report: &mut Report,
) {
    let mut check = TraceCheck::new(trace, editor, options);
    check.tally(report);
    check.add_arrangement(found);
    check.add_facts(report);
    check.push_findings(report);
}

/// Adds the finding that a file holds two traces, and no others: each trace has its own.
pub fn check_parts(
    trace: Trace,
    found: &Parts,
    editor: StreamEditor<'_, '_>,
    options: &Options,
    report: &mut Report,
) {
    let mut check = TraceCheck::new(trace, editor, options);
    check.tally(report);
    check.add_parts(found);
    check.add_facts(report);
    check.push_findings(report);
}

/// Returns a span of the stream.
const fn stream_span(start: u64, end: u64) -> Span {
    Span::new(Layer::stored(0).expanded(), start, end)
}

impl<'r, 'a> TraceCheck<'r, 'a> {
    fn new(trace: Trace, editor: StreamEditor<'r, 'a>, options: &'r Options) -> Self {
        let (findings, losses) = (Vec::new(), Vec::new());
        Self { trace, options, editor, donor: None, findings, losses, second_trace: None }
    }

    /// Uses the donor if it is of the same build: ids that both define have to agree.
    fn check_donor(&mut self, donor: Option<Donor<'r>>) {
        let Some(donor) = donor else { return };
        let definitions = &self.trace.tracker.definitions;
        let found = compare(definitions, donor.definitions);
        let differing = found.damaged.saturating_add(found.differing);
        let shared = found.agreeing.saturating_add(differing);
        if differing == 0 || donor.origin != DonorOrigin::Chosen {
            self.donor = Some(donor);
            return;
        }
        let message = format!(
            "donor does not match: {differing} of {shared} shared ids have another definition"
        );
        let span = stream_span(0, 0);
        self.add(Finding::new(&rules::DONOR_DIFFERS, span, "donor", message));
    }

    fn add(&mut self, finding: Finding) {
        self.findings.push((finding, None));
    }

    fn add_with_plan(&mut self, finding: Finding, plan: FixPlan) {
        self.findings.push((finding, Some(plan)));
    }

    /// Returns the stored bytes of a span of the stream, or the units of `place`.
    fn stored_of(&self, span: Span, place: Option<Place>) -> Option<Span> {
        let known = self.trace.places.stored(span);
        let units = place.map(|place| stored(place.head.stored.start, place.tail.stored.end));
        known.or(units).filter(|stored| !stored.is_empty())
    }

    /// Returns where the units of the trace end in the file: before a seek table or a second trace.
    fn units_end(&self) -> u64 {
        self.second_trace.unwrap_or_else(|| self.editor.units_end())
    }

    /// Builds the fixes and gives each to its finding.
    fn push_findings(self, report: &mut Report) {
        if let Some((at, message)) = &self.trace.faults.limit {
            let span = stream_span(*at, *at);
            let mut finding = Finding::new(&common::LIMIT_REACHED, span, "stream", message.clone());
            finding.stored = self.stored_of(span, self.trace.place(*at, *at));
            report.push(finding);
        }
        for (from, to) in &self.trace.faults.ended_searches {
            let span = stream_span(*from, *to);
            let message = format!(
                "no valid event found: the search ended, and {} count as damage",
                byte_count(span.len())
            );
            let mut finding = Finding::new(&common::SEARCH_ENDED, span, "stream", message);
            finding.stored = self.stored_of(span, self.trace.place(*from, *to));
            report.push(finding);
        }
        let (findings, plans): (Vec<_>, Vec<_>) = self.findings.into_iter().unzip();
        let is_error = |finding: &Finding| finding.severity == Severity::Error;
        let are_errors: Vec<bool> = findings.iter().map(is_error).collect();
        let fixes = build_fixes(&self.editor, plans, &are_errors);
        for (mut finding, fix) in findings.into_iter().zip(fixes) {
            // A finding without a plan may have a manual fix already.
            if let Some(fix) = fix {
                finding = finding.fix(fix);
            }
            report.push(finding);
        }
    }
}
