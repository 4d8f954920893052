//! Recordings with a header of sections.
//!
//! ```text
//!  header -> outline (attrs, ids, end) -> records -> data.N files -> features or the open end
//! ```

use super::close::{OpenEnd, push_moved_end, push_open_end};
use super::feature_check::{FeatureCheck, RecordFacts, Settled};
use super::records::{RecordCheck, Seen};
use super::stream::Stream;
use super::times::SampleTimes;
use super::tracing::MissingTracing;
use super::{attrs, aux_traces, header, machine, parts, pipe};
use crate::formats::perf::decode::feature::Machine;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::decode::simpleperf;
use crate::formats::perf::layout::versions::{self, FIRST_STRICT, Version};
use crate::formats::perf::layout::{SECTION_SIZE, feature};
use crate::formats::perf::options::asked_version;
use crate::formats::perf::recover::end::End;
use crate::formats::perf::recover::outline::Outline;
use crate::formats::perf::recover::tracepoints::traced;
use crate::formats::perf::repair::{self, Seam};
use crate::formats::perf::rules;
use crate::kit::walk::Item;
use crate::model::limits::{Limits, RESYNC};
use crate::model::options::Options;
use crate::model::{Finding, Report};

/// The walk over the records of the file with the header.
struct Walked {
    open: OpenEnd,
    /// Whether there is damage before the end.
    is_damaged: bool,
}

/// Checks a recording with sections.
///
/// `can_move` tells whether fixes may move records and features in this round. Returns the parts of
/// the recording that its records show.
pub(super) fn check(
    recording: &Recording<'_>,
    can_move: bool,
    options: &Options,
    report: &mut Report,
) -> Seen {
    let limits = &options.limits;
    header::check_size(recording, report);
    if !header::check_data_start(recording, report) {
        return Seen::default();
    }
    let outline = Outline::gather(recording, limits);
    attrs::check_table(recording, &outline.attrs, limits, report);
    let ids = outline.attrs.id_sections();
    header::check_overlaps(recording, &ids, report);
    if !header::check_data_inside(recording, report) {
        return Seen::default();
    }
    let end = outline.end;
    let missing_tracing = MissingTracing::find(recording, &outline, limits);
    let mut records = RecordCheck::new(outline.events, limits);
    records.times = SampleTimes::new(outline.sample_time);
    let recorder =
        outline.recorder.read_by(asked_version(options).or_else(|| only_strict(recording)));
    records.machine = recorder.in_file();
    if let Some(missing) = &missing_tracing {
        records.raw_sizes = missing.raw_sizes(records.events.attrs());
    }
    // Fixes inside the records wait until the header is right.
    records.can_drop =
        can_move && matches!(end, End::Declared(_)) && can_records_move(recording, &ids);
    let mut stream = Stream::new(records, recording.file.dialect(), report.length, limits);
    let mut walked = walk_records(recording, end, &mut stream, limits, report);
    walked.is_damaged |= !can_move;
    walked.open.keeps_attrs = has_all_attrs_before(recording, &ids, walked.open.seam.end);
    parts::check(recording, &mut stream, limits, report);
    stream.finish(report);
    let is_complete = matches!(end, End::Declared(_)) && !walked.is_damaged && !report.has_errors();
    let files: Vec<_> = std::iter::once(&recording.file).chain(&recording.parts).collect();
    aux_traces::check(&stream.records, &files, is_complete, report);
    let mut facts = gather_facts(recording, &stream, &ids, recorder);
    facts.traces = facts.traces.filter(|_| !walked.is_damaged);
    let settled = check_end(recording, end, walked, &facts, limits, report);
    if let Some(missing) = missing_tracing {
        let events = (stream.records.events.attrs(), stream.records.raw_sizes.as_slice());
        missing.push(recording, events, settled, limits, report);
    } else {
        machine::push_missing(recording, settled, limits, report);
    }
    facts.seen
}

/// Checks the records of the file with the header.
fn walk_records(
    recording: &Recording<'_>,
    end: End,
    stream: &mut Stream<'_>,
    limits: &Limits,
    report: &mut Report,
) -> Walked {
    let file = &recording.file;
    let area_end = end.area_end(recording.length());
    let seam = Seam { end: area_end, ..Seam::default() };
    let mut walked =
        Walked { open: OpenEnd { seam, damage: None, keeps_attrs: true }, is_damaged: false };
    let events = stream.records.events.sample_copy();
    let mut items = file.records((recording.body.data.offset, area_end), limits.of(&RESYNC));
    if let Some(events) = &events {
        items = items.judged_by(events);
    }
    for item in items {
        match item {
            Item::Record(record) => stream.check_record(&record, report),
            // The end of an open recording is part of the same crash, and of the same finding.
            Item::Damage(damage) if !damage.resumes && end.is_open() => {
                let seam = pipe::find_seam(file, stream, &damage, report);
                walked.open.seam = seam;
                walked.open.damage = Some(damage);
            }
            Item::Damage(damage) => {
                walked.is_damaged = true;
                stream.push_damage(&damage, report);
            }
        }
    }
    stream.end_file(report);
    walked
}

/// Gathers the facts about the records that the features must match.
fn gather_facts(
    recording: &Recording<'_>,
    stream: &Stream<'_>,
    ids: &[Section],
    recorder: Machine,
) -> RecordFacts {
    let sections = ids.iter().chain([&recording.body.attrs]);
    RecordFacts {
        compressed: stream.expansion.totals().parameters(),
        has_parts: !recording.parts.is_empty(),
        attrs_end: sections.filter_map(|section| section.end()).max().unwrap_or(0),
        tracepoints: traced(stream.records.events.attrs()),
        recorder,
        events: stream.records.events.attrs().len(),
        seen: stream.records.seen,
        traces: stream.records.aux.listed(),
    }
}

/// Checks the end of the records, and the features after them. Returns the end and the features if
/// no fix moves them.
fn check_end(
    recording: &Recording<'_>,
    end: End,
    walked: Walked,
    facts: &RecordFacts,
    limits: &Limits,
    report: &mut Report,
) -> Option<Settled> {
    match end {
        End::Declared(end) => {
            if recording.body.data.size == 0 && recording.parts.is_empty() {
                let message = "data.size is 0: the file has no records";
                let (rule, span) = (&rules::DATA_SIZE_ZERO, repair::size_field());
                report.push(Finding::new(rule, span, "header.data.size", message));
            }
            let can_fix = !walked.is_damaged;
            let features = FeatureCheck { recording, facts, end, can_fix, limits };
            return features.check(report);
        }
        End::Elsewhere(end) => push_moved_end(recording, end, report),
        End::Unfinished | End::Truncated => {
            push_open_end(recording, end, walked.open, facts, limits, report);
        }
    }
    None
}

fn ends_before(section: Section, limit: u64) -> bool {
    section.size == 0 || section.end().is_some_and(|end| end <= limit)
}

/// Whether attrs and ids end before `limit`.
fn has_all_attrs_before(recording: &Recording<'_>, ids: &[Section], limit: u64) -> bool {
    let mut sections = ids.iter().chain([&recording.body.attrs]);
    sections.all(|section| ends_before(*section, limit))
}

/// Whether everything that contains absolute offsets lies before the records or is moved with them
/// after a fix ([`settle`](repair::settle)), so that the records can move.
pub(super) fn can_records_move(recording: &Recording<'_>, ids: &[Section]) -> bool {
    let body = &recording.body;
    let start = body.data.offset;
    // `perf inject` writes the attrs of a pipe after the records.
    let is_after = |section: &Section| {
        let follows = body.data.end().is_some_and(|end| section.offset >= end);
        follows && section.fits(recording.length())
    };
    let mut sections = ids.iter().chain([&body.attrs]);
    // simpleperf has an index of traces of its own kind.
    let has_other_index = body.flags.has(feature::AUXTRACE) && simpleperf::is_recorder(body);
    sections.all(|section| ends_before(*section, start) || is_after(section))
        && ends_before(body.event_types, start)
        && !has_other_index
}

/// Returns the first perf that is strict if no other one reads the attrs. The perf that wrote the
/// file may not be the one that recorded: `perf inject` leaves VERSION as it is.
fn only_strict(recording: &Recording<'_>) -> Option<Version> {
    let since = versions::of_attr(recording.body.attr_size.saturating_sub(SECTION_SIZE))?;
    // Attrs last grew in the version before perf became strict.
    (since >= versions::LAST_GROWN).then_some(FIRST_STRICT)
}
