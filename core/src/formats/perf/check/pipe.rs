//! Recordings written to a pipe: a 16-byte header, and records that contain attrs and features.

use super::attrs::check_attr;
use super::aux_traces;
use super::faults::describe;
use super::late_attrs::LateAttrs;
use super::missing_attrs::MissingAttrs;
use super::records::{RecordCheck, Seen};
use super::stream::Stream;
use super::tracing::PipeTracing;
use crate::formats::perf::decode::attr_record::read_record;
use crate::formats::perf::decode::attrs::{gather_events, has_room};
use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::expand::Wrapper;
use crate::formats::perf::decode::feature::{self, Machine};
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::decode::frame::{FrameFault, Record};
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::decode::walk::Damage;
use crate::formats::perf::layout::feature::COMPRESSED;
use crate::formats::perf::layout::{HEADER_SIZE_PIPE, RECORD_HEADER, record};
use crate::formats::perf::limits::{ATTRS, IDS};
use crate::formats::perf::options::asked_version;
use crate::formats::perf::recover::outline::recorder_of_pipe;
use crate::formats::perf::recover::tracepoints::traced;
use crate::formats::perf::repair::{self, Seam};
use crate::formats::perf::rules;
use crate::kit::cursor::Order;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::kit::words::{byte_count, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::limits::{Limits, RESYNC};
use crate::model::options::Options;
use crate::model::rule::common;
use crate::model::{Finding, Report};

const FILE: Layer = Layer::stored(0);

/// Checks a pipe recording. Returns the parts of it that its records show.
pub(super) fn check(
    file: &RecordFile<'_>,
    donor: Option<&Source<'_>>,
    options: &Options,
    report: &mut Report,
) -> Seen {
    let limits = &options.limits;
    let missing = MissingAttrs::find(file, limits);
    let known = MissingAttrs::events(missing.as_ref(), file.order());
    let gathered = gather_events(file, known.clone(), limits);
    let mut tracing = PipeTracing::new(traced(gathered.attrs()), donor);
    let mut records = RecordCheck::new(known, limits);
    records.machine = recorder_of_pipe(file, limits).read_by(asked_version(options));
    records.raw_sizes = tracing.raw_sizes(gathered.attrs());
    let mut stream = Stream::new(records, file.dialect(), file.length(), limits);
    let mut compressed = PipeCompression::default();
    let mut late = LateAttrs::default();
    let events = gathered.sample_copy();
    let mut items = file.records((HEADER_SIZE_PIPE, file.length()), limits.of(&RESYNC));
    if let Some(events) = &events {
        items = items.judged_by(events);
    }
    for item in items {
        match item {
            Item::Record(item) => {
                compressed.observe(&item, file.order());
                late.observe(&item, !stream.records.events.attrs().is_empty());
                match item.frame.kind {
                    record::HEADER_ATTR => {
                        add_event(&item.view(FILE, 0), &mut stream.records.events, limits, report);
                        tracing.attrs_end = item.end();
                    }
                    record::TRACING_DATA => tracing.check(file, &item, limits, report),
                    _ => {}
                }
                stream.check_record(&item, report);
            }
            Item::Damage(damage) if !damage.resumes && damage.fault.is_truncation() => {
                push_truncated_end(file, &mut stream, &damage, report);
            }
            Item::Damage(damage) => stream.push_damage(&damage, report),
        }
    }
    finish(&mut stream, file, report);
    late.push(report);
    missing.iter().for_each(|missing| missing.push(file.order(), report));
    let header_end = HEADER_SIZE_PIPE.min(file.length());
    let attrs = stream.records.events.attrs();
    if attrs.is_empty() {
        let span = Span::new(FILE, header_end, file.length());
        let records = plural(report.tally.records, "record");
        let message = format!("missing HEADER_ATTR: none in {records}");
        report.push(Finding::new(&rules::NO_ATTRS, span, "data", message));
    }
    let raw_sizes = stream.records.raw_sizes.as_slice();
    tracing.push(file.order(), (attrs, raw_sizes), limits, report);
    compressed.push_missing(stream.expansion.totals().parameters(), file.order(), report);
    stream.records.seen
}

/// Ends the records.
fn finish(stream: &mut Stream<'_>, file: &RecordFile<'_>, report: &mut Report) {
    stream.end_file(report);
    stream.finish(report);
    let is_complete = !report.has_errors();
    aux_traces::check(&stream.records, &[file], is_complete, report);
}

/// The HEADER_FEATURE record of COMPRESSED, without which perf cannot expand compressed records.
#[derive(Default)]
struct PipeCompression {
    has_feature: bool,
    /// Offset of the first compressed record.
    first: Option<u64>,
}

impl PipeCompression {
    fn observe(&mut self, record: &Record<'_>, order: Order) {
        if Wrapper::of(record.frame.kind).is_some() {
            self.first.get_or_insert(record.offset);
        } else if record.frame.kind == record::HEADER_FEATURE && self.first.is_none() {
            let read = feature::of_record(&record.view(FILE, 0), order, Machine::default());
            self.has_feature |= read.is_ok_and(|(bit, _)| bit == COMPRESSED);
        }
    }

    /// Reports that the feature is missing. `parameters` are those of the compressed records.
    fn push_missing(&self, parameters: Option<(u64, u64)>, order: Order, report: &mut Report) {
        let Some(first) = self.first.filter(|_| !self.has_feature) else { return };
        let add = repair::needed(parameters, false, false, order, |bit| bit != COMPRESSED);
        let edits = add.iter().filter_map(|(bit, content)| {
            let record = repair::feature_record(*bit, content, order)?;
            Some(Edit::replace(Span::sized(FILE, first, 0), record))
        });
        let fix = Fix::new(
            Safety::Synthetic,
            "add a HEADER_FEATURE record of COMPRESSED",
            edits.collect(),
        );
        let message = "missing feature: the records need COMPRESSED";
        let span = Span::sized(FILE, first, 0);
        report.push(Finding::new(&rules::FEATURE_MISSING, span, "data", message).fix(fix));
    }
}

/// Reports a truncated record at the end. Of a compressed one, the complete blocks stay.
fn push_truncated_end(
    file: &RecordFile<'_>,
    stream: &mut Stream<'_>,
    damage: &Damage,
    report: &mut Report,
) {
    let span = damage.span;
    let seam = find_seam(file, stream, damage, report);
    let (_, message) = describe(damage.fault, span);
    let mut edits = seam.edits;
    let dropped = span.end.saturating_sub(seam.end);
    edits.push(Edit::replace(Span::new(span.layer, seam.end, span.end), seam.padding));
    let summary = if dropped == span.len() {
        format!("drop {} of the truncated record", byte_count(dropped))
    } else {
        let kept = match damage.fault {
            FrameFault::PayloadPastEnd(..) => "beginning of the truncated trace",
            _ => "complete blocks of the truncated compressed record",
        };
        format!("keep the {kept}, drop its last {}", byte_count(dropped))
    };
    let finding = Finding::new(&rules::TRUNCATED_RECORD, span, "data.record[last]", message);
    report.push(finding.fix(Fix::new(Safety::Lossy, summary, edits)));
}

/// Returns the end of the complete records: before the truncated one, or inside it after its last
/// complete block, or after its last complete word of a trace.
pub(super) fn find_seam(
    file: &RecordFile<'_>,
    stream: &mut Stream<'_>,
    damage: &Damage,
    report: &mut Report,
) -> Seam {
    if let FrameFault::PayloadPastEnd(frame, _) = damage.fault
        && frame.kind == record::AUXTRACE
        && let Some(seam) = repair::truncate_trace(damage.span, frame.size, file.order())
    {
        return seam;
    }
    let record = file.truncated_record(damage);
    let seam = record.and_then(|record| stream.expand_truncated(&record, report));
    seam.unwrap_or_else(|| Seam { end: damage.span.start, ..Seam::default() })
}

/// Adds the event of a HEADER_ATTR record.
fn add_event(record: &RecordView<'_>, events: &mut Events, limits: &Limits, report: &mut Report) {
    let span = record.span();
    let ids = events.id_count().saturating_add(record.frame.size >> 3);
    if !has_room(events.attrs().len(), ids, limits) {
        if !events.is_partial() {
            let attrs = plural(limits.of(&ATTRS), "attr");
            let ids = plural(limits.of(&IDS), "id");
            let message = format!("more than {attrs} or {ids}");
            report.push(Finding::new(&common::LIMIT_REACHED, span, "data", message));
        }
        events.mark_partial();
        return;
    }
    // The check of the record reports a body that is not an attr.
    let Some((attr, ids)) = read_record(record, events.order()) else { return };
    let place = (span.start.saturating_add(RECORD_HEADER), events.order());
    check_attr(&attr, place, span, &format!("data.attr[{}]", events.attrs().len()), report);
    events.push(attr, ids);
}
