//! TRACING_DATA, the descriptions of tracepoints. A recording that lost it gets that of a donor, or
//! one that describes its tracepoints without their fields.

use super::event_desc::describe_several;
use super::feature_check::{Settled, title};
use super::records::RawSizes;
use crate::formats::perf::decode::attr::Attr;
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::payload::payload_len;
use crate::formats::perf::decode::recording::{RecordFile, Recording};
use crate::formats::perf::decode::tracing::WantedTracepoints;
use crate::formats::perf::decode::tracing::{Tracing, names};
use crate::formats::perf::layout::attr::sample_type;
use crate::formats::perf::layout::{HEADER_SIZE_PIPE, feature, field};
use crate::formats::perf::recover::donor::Donated;
use crate::formats::perf::recover::outline::Outline;
use crate::formats::perf::recover::tracepoints::{self, Tracepoint, traced};
use crate::formats::perf::repair::{self, NewFeature};
use crate::formats::perf::rules;
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::kit::words::{byte_count, list, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::limits::{Limits, WINDOW};
use crate::model::{Finding, Report};

/// Names of tracepoints that a summary lists.
const NAMES_LISTED: usize = 4;

/// A recording of tracepoints without TRACING_DATA, and the offer of the donor.
pub(super) struct MissingTracing {
    donated: Option<Result<Donated, String>>,
}

impl MissingTracing {
    /// Reads the donor if the recording has tracepoints but no TRACING_DATA; otherwise `None`.
    pub(super) fn find(
        recording: &Recording<'_>,
        outline: &Outline,
        limits: &Limits,
    ) -> Option<Self> {
        let attrs = outline.events.attrs();
        let is_simpleperf = recording.file.is_simpleperf();
        let is_present = recording.body.flags.has(feature::TRACING_DATA)
            || is_simpleperf && outline.has_tracing_record(recording, limits);
        // simpleperf describes only tracepoints whose samples have data.
        let has_data = |attr: &Attr| !is_simpleperf || attr.samples(sample_type::RAW);
        let is_missing = outline.end.is_open() || !is_present;
        let mut tracepoints = attrs.iter().filter(|attr| attr.is_tracepoint());
        let needs = is_missing && tracepoints.any(has_data);
        let donor = recording.donor.as_ref();
        needs.then(|| Self { donated: Donated::take(donor, recording.order(), attrs, limits) })
    }

    /// Returns room for the sizes of raw data per event, if they have to be compared with the
    /// donor.
    pub(super) fn raw_sizes(&self, attrs: &[Attr]) -> Vec<RawSizes> {
        raw_sizes(self.donated.is_some(), attrs)
    }

    /// Reports that TRACING_DATA is missing. `settled` is the end of the records and the features,
    /// if no other fix moves them.
    pub(super) fn push(
        self,
        recording: &Recording<'_>,
        (attrs, raw_sizes): (&[Attr], &[RawSizes]),
        settled: Option<Settled>,
        limits: &Limits,
        report: &mut Report,
    ) {
        let span = Span::sized(Layer::stored(0), field::FLAGS, 8);
        let message = "missing TRACING_DATA: the events are tracepoints";
        let rule = &rules::TRACING_DATA_MISSING;
        let finding = Finding::new(rule, span, "header.flags", message);
        let donated = self.donated.map(|donated| fitting(donated, attrs, raw_sizes));
        let fix = match donated {
            Some(Ok(donated)) if recording.header.has_feature_bits() => {
                let mut summary = describe(&donated);
                let safety = class_of(settled.as_ref(), attrs);
                let edits = settled.map(|settled| {
                    let traced = traced(attrs);
                    add(recording, settled, donated.bytes, (&traced, limits), &mut summary)
                });
                // The features have no place until the header has the right end of the records.
                let attrs = recording.body.attrs.span(0);
                Fix::new(safety, summary, edits.unwrap_or_default())
                    .witness(attrs, "attrs of the tracepoints that the donor describes")
            }
            Some(Err(why)) => Fix::manual(format!("the donor cannot be used: {why}")),
            None if recording.header.has_feature_bits() => {
                build_from_rest(recording, attrs, settled, limits)
            }
            // The description of a donor has no place either.
            Some(Ok(_)) | None => {
                let size = byte_count(recording.header.length());
                Fix::manual(format!("record again: a header of {size} has no feature bits"))
            }
        };
        report.push(finding.fix(fix));
    }
}

/// TRACING_DATA of a pipe: a record after those of the attrs, with its content as payload.
pub(super) struct PipeTracing<'d> {
    /// The tracepoints of the first attrs.
    traced: WantedTracepoints,
    donor: Option<&'d Source<'d>>,
    is_present: bool,
    /// The first record that does not describe the tracepoints, and what is left in it.
    fault: Option<(Span, String, Vec<Tracepoint>)>,
    /// Offset after the last attr.
    pub(super) attrs_end: u64,
}

impl<'d> PipeTracing<'d> {
    /// Creates a check for a pipe with these tracepoints.
    pub(super) const fn new(traced: WantedTracepoints, donor: Option<&'d Source<'d>>) -> Self {
        Self { traced, donor, is_present: false, fault: None, attrs_end: HEADER_SIZE_PIPE }
    }

    /// Returns room for the sizes of raw data per event, if they have to be compared with the
    /// donor.
    pub(super) fn raw_sizes(&self, attrs: &[Attr]) -> Vec<RawSizes> {
        raw_sizes(self.donor.is_some(), attrs)
    }

    /// Checks a TRACING_DATA record.
    pub(super) fn check(
        &mut self,
        file: &RecordFile<'_>,
        record: &Record<'_>,
        limits: &Limits,
        report: &mut Report,
    ) {
        self.is_present = true;
        let traced = &self.traced;
        if record.outside > limits.of(&WINDOW) {
            return;
        }
        let stated = payload_len(&record.bytes, record.frame, file.order());
        let fault = match file.read_tracing(record, |id| traced.contains_key(&id)) {
            _ if record.outside < stated => {
                let (found, stated) = (byte_count(record.outside), byte_count(stated));
                Some(format!("truncated TRACING_DATA: records follow {found} of {stated}"))
            }
            Ok(tracing) => find_undescribed(traced, &tracing),
            Err(error) => Some(format!("malformed TRACING_DATA: {error}")),
        };
        let Some(message) = fault else { return };
        let span = Span::new(file.layer(), record.offset, record.end());
        if self.fault.is_some() {
            // perf writes one; its fix waits for a later round.
            report.push(fault_in(span, message));
            return;
        }
        let left = file.payload(record, limits.of(&WINDOW));
        self.fault = Some((span, message, tracepoints::list(traced, &left, |_| None)));
    }

    /// Reports records that do not describe the tracepoints, or that none does.
    pub(super) fn push(
        self,
        order: Order,
        (attrs, raw_sizes): (&[Attr], &[RawSizes]),
        limits: &Limits,
        report: &mut Report,
    ) {
        let traced = traced(attrs);
        let is_missing = !self.is_present && !traced.is_empty();
        if self.fault.is_none() && !is_missing {
            return;
        }
        let donated = Donated::take(self.donor, order, attrs, limits);
        let donated = donated.map(|donated| fitting(donated, attrs, raw_sizes));
        let build = |span: Span, safety: Safety, left: &[Tracepoint]| {
            let (summary, content) = match &donated {
                Some(Ok(donated)) => (describe(donated), donated.bytes.clone()),
                Some(Err(why)) => {
                    return Fix::manual(format!("the donor cannot be used: {why}"));
                }
                None => (describe_built(left), repair::tracing_data(left, order)),
            };
            let record = repair::tracing_record(&content, order);
            Fix::new(safety, summary, vec![Edit::replace(span, record)])
        };
        if let Some((span, message, left)) = self.fault {
            report.push(fault_in(span, message).fix(build(span, Safety::Lossy, &left)));
        }
        if is_missing {
            let span = Span::sized(Layer::stored(0), self.attrs_end, 0);
            let left = tracepoints::list(&traced, &[], |_| None);
            let fix = build(span, Safety::Synthetic, &left);
            let message = "missing TRACING_DATA record: the events are tracepoints";
            let rule = &rules::TRACING_DATA_MISSING;
            report.push(Finding::new(rule, span, "data", message).fix(fix));
        }
    }
}

/// Returns the finding that a TRACING_DATA record does not describe the tracepoints.
fn fault_in(span: Span, message: String) -> Finding {
    Finding::new(&rules::FEATURE_FATAL, span, "data.TRACING_DATA", message)
}

/// Returns room for the sizes of raw data per event, if a donor describes tracepoints.
fn raw_sizes(has_donor: bool, attrs: &[Attr]) -> Vec<RawSizes> {
    let has_raw = |a: &Attr| a.is_tracepoint() && a.sample_type & sample_type::RAW != 0;
    if has_donor && attrs.iter().any(has_raw) { vec![None; attrs.len()] } else { Vec::new() }
}

/// Returns what the donor has, if it describes these attrs.
fn fitting(
    donated: Result<Donated, String>,
    attrs: &[Attr],
    raw_sizes: &[RawSizes],
) -> Result<Donated, String> {
    let donated = donated?;
    check_fit(&donated, attrs, raw_sizes)?;
    Ok(donated)
}

/// A recording that can be a donor, and how it is made.
const DONOR: &str = "a complete recording of the same kernel and events (perf record -e EVENTS \
                     -o donor.data -- true)";

/// Builds the fix that adds a TRACING_DATA of what is left of each tracepoint.
fn build_from_rest(
    recording: &Recording<'_>,
    attrs: &[Attr],
    settled: Option<Settled>,
    limits: &Limits,
) -> Fix {
    let safety = class_of(settled.as_ref(), attrs);
    let traced = &traced(attrs);
    let features = settled.as_ref().map_or(&[][..], |settled| &settled.features.keep);
    let tracepoints = tracepoints::gather(recording, traced, features, limits);
    let mut summary = describe_built(&tracepoints);
    let edits = settled.map(|settled| {
        let content = repair::tracing_data(&tracepoints, recording.order());
        add(recording, settled, content, (traced, limits), &mut summary)
    });
    Fix::new(safety, summary, edits.unwrap_or_default())
        .witness(recording.body.attrs.span(0), "attrs of the tracepoints")
}

/// Builds TRACING_DATA from the formats that are left of a damaged one, which `sections` has.
pub(super) fn rebuild(
    recording: &Recording<'_>,
    traced: &WantedTracepoints,
    sections: &[(u32, Section)],
    limits: &Limits,
) -> Option<(NewFeature, String)> {
    let has_donor = recording.donor.is_some();
    let is_damaged = sections.iter().any(|(bit, _)| *bit == feature::TRACING_DATA);
    if has_donor || !is_damaged || traced.is_empty() {
        return None;
    }
    let tracepoints = tracepoints::gather(recording, traced, sections, limits);
    let content = repair::tracing_data(&tracepoints, recording.order());
    Some(((feature::TRACING_DATA, content), describe_built(&tracepoints)))
}

/// Describes a TRACING_DATA that is built.
pub(super) fn describe_built(tracepoints: &[Tracepoint]) -> String {
    let count = to_u64(tracepoints.len());
    let left = to_u64(tracepoints.iter().filter(|one| one.format.is_some()).count());
    let all = plural(count, "tracepoint");
    match count.saturating_sub(left) {
        0 => format!("build TRACING_DATA from the formats of {all}"),
        _ if left == 0 => format!(
            "build TRACING_DATA for {all} without fields; for the fields, add --donor with {DONOR}"
        ),
        lost => format!("build TRACING_DATA for {all}, {lost} of them without fields"),
    }
}

/// Describes a tracepoint that TRACING_DATA lacks; `None` if it has all.
pub(super) fn find_undescribed(traced: &WantedTracepoints, tracing: &Tracing) -> Option<String> {
    let is_missing = |(id, _): &(&u64, &usize)| !tracing.descriptions.contains_key(*id);
    let (id, index) = traced.iter().find(is_missing)?;
    Some(format!("TRACING_DATA does not describe tracepoint {id} of attrs[{index}]"))
}

/// Returns the class of a fix that adds a feature. Sections may lie where no flag leads; the new
/// table takes their place. A tracepoint has an id, and perf records its raw data: otherwise the
/// type of the attr may be damaged.
fn class_of(settled: Option<&Settled>, attrs: &[Attr]) -> Safety {
    let is_sure = |attr: &Attr| attr.config > 0 && attr.samples(sample_type::RAW);
    let is_sure = attrs.iter().filter(|attr| attr.is_tracepoint()).all(is_sure);
    match settled {
        Some(Settled { is_tight: false, .. }) => Safety::Lossy,
        _ if is_sure => Safety::Synthetic,
        _ => Safety::Lossy,
    }
}

/// Adds TRACING_DATA with this content to the features of a recording. If EVENT_DESC is lost too,
/// adds one with the names in it, and mentions that in the summary.
fn add(
    recording: &Recording<'_>,
    settled: Settled,
    content: Vec<u8>,
    (traced, limits): (&WantedTracepoints, &Limits),
    summary: &mut String,
) -> Vec<Edit> {
    let Settled { end, mut features, .. } = settled;
    let mut add = Vec::new();
    if !features.keeps(feature::EVENT_DESC) {
        add.extend(describe_several(recording, &names(&content, traced), limits));
        add.iter().for_each(|(bit, _)| summary.insert_str(0, &format!("build {}, ", title(*bit))));
    }
    add.push((feature::TRACING_DATA, content));
    features.add = repair::with_hostname(add, recording.order(), |bit| features.keeps(bit));
    repair::rewrite(recording, end, &features, false)
}

/// Compares the descriptions with the attrs and with the sizes of the samples.
///
/// The ids of tracepoints differ between kernels, and where an id has another meaning the sizes
/// mostly differ too. The names of the fields cannot be verified.
fn check_fit(donated: &Donated, attrs: &[Attr], raw_sizes: &[RawSizes]) -> Result<(), String> {
    let sizes = raw_sizes.iter().copied().chain(std::iter::repeat(None));
    let traced = attrs.iter().enumerate().zip(sizes).filter(|((_, a), _)| a.is_tracepoint());
    for ((index, attr), sizes) in traced {
        let id = attr.config;
        let Some(description) = donated.tracing.descriptions.get(&id) else {
            return Err(format!("it does not describe tracepoint {id} of attrs[{index}]"));
        };
        let Some((least, most)) = sizes else { continue };
        let (wanted, at_most) = description.raw_size();
        if u64::from(least) < wanted || u64::from(most) > at_most {
            let sizes =
                if least == most { least.to_string() } else { format!("{least} to {most}") };
            return Err(format!(
                "its tracepoint {id} is {:?} of size {wanted}, but samples of attrs[{index}] \
                 have {sizes}",
                Untrusted(&description.name),
            ));
        }
    }
    Ok(())
}

/// Describes the part of the donor that is taken.
fn describe(donated: &Donated) -> String {
    let descriptions = &donated.tracing.descriptions;
    let names = descriptions.values().map(|d| Untrusted(&d.name).to_string());
    let names: Vec<String> = names.take(NAMES_LISTED).collect();
    let names = list(&names, NAMES_LISTED, to_u64(descriptions.len()));
    let len = byte_count(to_u64(donated.bytes.len()));
    format!("add TRACING_DATA of the donor, {len}: {names}")
}
