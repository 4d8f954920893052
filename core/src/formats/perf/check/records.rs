//! The judgement of one record, stored or expanded.

use super::aux_records::AuxRecords;
use super::counters::Counters;
use super::odd_samples::SampleEvidence;
use super::rounds::Rounds;
use super::times::SampleTimes;
use crate::formats::perf::decode::attr_record;
use crate::formats::perf::decode::body::BodyError;
use crate::formats::perf::decode::event::{Events, SampleRead};
use crate::formats::perf::decode::feature::{self, Machine};
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::decode::header::Flags;
use crate::formats::perf::decode::record;
use crate::formats::perf::decode::sample::{PlainSample, Sample};
use crate::formats::perf::layout::feature::{PIPE_END, PIPE_END_NEWEST};
use crate::formats::perf::layout::{MOST_CPUS, record as kind, versions};
use crate::formats::perf::{repair, rules};
use crate::kit::layer::LayerMap;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words::{byte_count, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::limits::Limits;
use crate::model::{Excerpt, Finding, Report, Rule, Severity};

/// Bytes of an expanded record that a finding keeps to show.
const EXCERPT_BYTES: usize = 96;

/// Offset of `size` in the header of a record.
const SIZE_AT: u64 = 6;

/// The smallest and the largest size of the raw data in an event's samples, in bytes.
pub(super) type RawSizes = Option<(u32, u32)>;

/// Judges records, and keeps the facts about them that later checks need.
pub(super) struct RecordCheck {
    /// The events, by which records are read.
    pub(super) events: Events,
    /// Whether a record can be dropped from the file in this round.
    pub(super) can_drop: bool,
    /// Sizes of raw data by event, if a donor has to be compared; otherwise empty.
    pub(super) raw_sizes: Vec<RawSizes>,
    pub(super) rounds: Rounds,
    /// The counts of `perf stat` against their maps.
    pub(super) counters: Counters,
    /// The times of the samples against SAMPLE_TIME.
    pub(super) times: SampleTimes,
    /// The evidence of the values of samples.
    pub(super) samples: SampleEvidence,
    /// The records about traces of the processor.
    pub(super) aux: AuxRecords,
    /// The machine as the features describe it: those of a pipe so far, VERSION of a file.
    pub(super) machine: Machine,
    /// Parts of the recording that the records showed.
    pub(super) seen: Seen,
}

/// Parts of a recording that its records show.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Number of records of `perf stat`.
    pub(super) stat_records: u64,
    /// The features that HEADER_FEATURE records hold, in a pipe or in what perf inject made of one.
    pub(super) features: Flags,
    /// The type of records that only newer versions of perf read, of several the newest.
    pub(super) newest_kind: Option<u32>,
    /// The highest number of a feature in a record, besides that of the end mark.
    pub(super) last_feature: Option<u32>,
    /// A HEADER_ATTR in a file repeats an event of the attr table.
    pub(super) has_attr_in_file: bool,
}

impl Seen {
    /// Notes a type of records that perf 6.12 does not read.
    pub(super) fn note_kind(&mut self, kind: u32) {
        let since = versions::of_record(kind);
        if self.newest_kind.is_none_or(|newest| versions::of_record(newest) < since) {
            self.newest_kind = Some(kind);
        }
    }
}

impl RecordCheck {
    /// Creates a check of the records of these events.
    pub(super) fn new(events: Events, limits: &Limits) -> Self {
        Self {
            events,
            can_drop: true,
            raw_sizes: Vec::new(),
            rounds: Rounds::default(),
            counters: Counters::new(limits),
            times: SampleTimes::default(),
            samples: SampleEvidence::default(),
            aux: AuxRecords::new(limits),
            machine: Machine::default(),
            seen: Seen::default(),
        }
    }

    /// Checks a record. `map` leads from the expanded layer to the stored bytes.
    #[inline]
    pub(super) fn check(&mut self, record: &RecordView<'_>, map: &LayerMap, report: &mut Report) {
        report.tally.records = report.tally.records.saturating_add(1);
        match record.frame.kind {
            kind::SAMPLE => {
                report.tally.samples = report.tally.samples.saturating_add(1);
                let is_quick = self.raw_sizes.is_empty() && !self.seen.has_attr_in_file;
                match self.events.read_plain(record).filter(|_| is_quick) {
                    Some(values) => self.observe_sample(&values, record, map, report),
                    None => self.check_sample(record, map, report),
                }
            }
            kind::FINISHED_ROUND => {
                self.rounds.finish_round();
                self.check_alignment(record, map, report);
            }
            other if record::name(other).is_none() => {
                if other > kind::USER_LAST {
                    self.seen.note_kind(other);
                }
                self.check_unknown(record, map, report);
            }
            other => {
                let is_stat = (kind::STAT_CONFIG..=kind::STAT_ROUND).contains(&other);
                let seen = &mut self.seen;
                seen.stat_records = seen.stat_records.saturating_add(is_stat.into());
                if other > kind::last_old(other) {
                    seen.note_kind(other);
                }
                self.samples.odd.note(record, self.events.order());
                if AuxRecords::KINDS.contains(&other) {
                    self.aux.note(record, &self.events);
                }
                self.check_fields(record, map, report);
            }
        }
    }

    // Inlined, its many values would take the registers of the short way for plain samples.
    #[inline(never)]
    fn check_sample(&mut self, record: &RecordView<'_>, map: &LayerMap, report: &mut Report) {
        let mut sample = Sample::default();
        let read = self.events.read_sample(record, &mut sample);
        if let SampleRead::NoLayout = read {
            return;
        }
        self.check_alignment(record, map, report);
        match read {
            SampleRead::NoLayout => {}
            SampleRead::UnknownId => self.push_unknown_id(record, map, report),
            SampleRead::Malformed(error) => {
                self.push_malformed(&rules::SAMPLE_MALFORMED, &error, record, map, report);
            }
            SampleRead::Complete { .. } if is_zeroed(record, &sample) => {
                self.push_zeroed(record, map, report);
            }
            SampleRead::Complete { attr, trailing } => {
                if trailing > 0 {
                    self.push_trailing(record, trailing, map, report);
                }
                if !self.raw_sizes.is_empty() {
                    self.note_raw_size(&sample, attr);
                }
                if self.lacks_event_of_sample(&sample) {
                    self.push_unknown_id(record, map, report);
                } else if !self.events.has_ids_of_values(record, &sample, attr) {
                    self.push_unknown_value(record, map, report);
                } else if !sample.is_cpu_possible() {
                    self.push_impossible_cpu(&sample, record, map, report);
                } else if !self.has_data_of_tracepoint((&sample, attr), record, map, report) {
                    // perf does not show it.
                } else {
                    let values = self.events.values_of(&sample, attr);
                    self.observe_sample(&values, record, map, report);
                }
            }
        }
    }

    fn check_fields(&mut self, record: &RecordView<'_>, map: &LayerMap, report: &mut Report) {
        if self.is_sample_of_other_type(record) {
            self.push_sample_of_other_type(record, map, report);
            return;
        }
        if self.is_too_new(record.frame.kind) {
            self.push_too_new(record, map, report);
            return;
        }
        if attr_record::is_damaged_feature(record, self.events.order()) {
            self.push_feature_of_other_type(record, map, report);
            return;
        }
        self.check_alignment(record, map, report);
        match record.frame.kind {
            kind::HEADER_ATTR if self.machine.is_in_file() => {
                self.check_attr_in_file(record, map, report);
            }
            kind::TRACING_DATA if self.machine.is_in_file() => {
                self.check_tracing_in_file(record, map, report);
            }
            kind::ID_INDEX => self.check_id_index(record, map, report),
            _ => {}
        }
        if self.lacks_event_of(record) {
            self.push_unknown_id(record, map, report);
            return;
        }
        if record.frame.kind == kind::HEADER_FEATURE {
            self.check_feature(record, map, report);
        }
        match self.events.judge_fields(record) {
            Ok(Some(time)) => self.observe_time(time, record, map, report),
            Ok(None) => self.counters.observe(record, self.events.order()),
            Err(error) => {
                self.push_malformed(&rules::RECORD_MALFORMED, &error, record, map, report);
            }
        }
    }

    // The values of each sample would go through memory otherwise.
    #[inline(always)]
    fn observe_sample(
        &mut self,
        values: &PlainSample,
        record: &RecordView<'_>,
        map: &LayerMap,
        report: &mut Report,
    ) {
        self.samples.odd.observe(values, &self.events, record, map);
        if let Some(time) = values.time {
            self.observe_time(time, record, map, report);
        }
    }

    #[inline]
    fn observe_time(
        &mut self,
        time: u64,
        record: &RecordView<'_>,
        map: &LayerMap,
        report: &mut Report,
    ) {
        // util/ordered-events.c: perf delivers records with these times at once.
        if time == 0 || time == u64::MAX {
            return;
        }
        if record.frame.kind == kind::SAMPLE {
            report.tally.observe_time(time);
            self.times.observe_sample(time, record, map);
        }
        self.times.observe_any(time);
        self.rounds.observe_time(time, record);
    }

    /// Checks the content of a feature in a pipe: perf fails at one that it cannot read.
    fn check_feature(&mut self, record: &RecordView<'_>, map: &LayerMap, report: &mut Report) {
        let (bit, error) = match feature::of_record(record, self.events.order(), self.machine) {
            Ok((bit, contents)) => {
                self.check_refusal(record, map, report);
                self.machine.note(&contents);
                self.seen.features = self.seen.features.with(bit);
                match bit {
                    0..=PIPE_END | u32::MAX => {}
                    ..=PIPE_END_NEWEST => {
                        self.seen.last_feature = self.seen.last_feature.max(Some(bit));
                    }
                    _ => push_newer_feature(record, bit, map, report),
                }
                return;
            }
            Err(fault) => fault,
        };
        let rule = &rules::RECORD_MALFORMED;
        report.push_with(rule, rule.severity, || {
            let name = feature::name(bit).map_or_else(String::new, |name| format!("{name}: "));
            let message = format!("malformed HEADER_FEATURE: {name}{error}");
            let finding = Finding::new(rule, record.span(), record.place.path(".data"), message);
            with_place(finding, record, map).fix(self.drop_record(record))
        });
    }

    /// Checks that every id of an ID_INDEX belongs to an attr: perf refuses the file otherwise.
    fn check_id_index(&self, record: &RecordView<'_>, map: &LayerMap, report: &mut Report) {
        // Without an attr, a pipe has them at its end or not at all.
        if self.events.is_partial() || self.events.attrs().is_empty() {
            return;
        }
        let unknown = self.events.unknown_in_index(record);
        let Some(first) = unknown.first() else { return };
        let rule = &rules::ID_INDEX_WRONG;
        report.push_with(rule, rule.severity, || {
            let count = to_u64(unknown.len());
            let message = format!(
                "ID_INDEX has {} that no attr has; the first is {first}",
                plural(count, "id")
            );
            let finding = Finding::new(rule, record.span(), record.place.path(".id"), message);
            with_place(finding, record, map).fix(self.drop_record(record))
        });
    }

    #[cold]
    fn note_raw_size(&mut self, sample: &Sample, attr: usize) {
        let attr = self.events.attr_of(sample, attr);
        let slot = attr.and_then(|attr| self.raw_sizes.get_mut(attr));
        let size = sample.raw.size;
        if let Some(slot) = slot {
            let (least, most) = slot.unwrap_or((size, size));
            *slot = Some((least.min(size), most.max(size)));
        }
    }

    #[cold]
    fn push_unknown_id(&self, record: &RecordView<'_>, map: &LayerMap, report: &mut Report) {
        if self.events.is_partial() {
            return;
        }
        let rule = &rules::UNKNOWN_EVENT_ID;
        report.push_with(rule, rule.severity, || {
            let message = format!(
                "unknown event id: not among {} of {}",
                plural(self.events.id_count(), "id"),
                plural(to_u64(self.events.attrs().len()), "event")
            );
            let path = record.place.path(".id");
            let finding = Finding::new(rule, record.span(), path, message);
            with_place(finding, record, map).fix(self.drop_record(record))
        });
    }

    #[cold]
    fn push_impossible_cpu(
        &self,
        sample: &Sample,
        record: &RecordView<'_>,
        map: &LayerMap,
        report: &mut Report,
    ) {
        let rule = &rules::SAMPLE_CPU_IMPOSSIBLE;
        report.push_with(rule, rule.severity, || {
            let cpu = sample.origin.cpu.unwrap_or(0);
            let message = format!("cpu is {cpu}, expected less than {MOST_CPUS}");
            let finding = Finding::new(rule, record.span(), record.place.path(".cpu"), message);
            with_place(finding, record, map).fix(self.drop_record(record))
        });
    }

    /// Reports a counter value of an event that no attr lists. The ids of a single event can be
    /// those that the samples name, so no sample is dropped for them.
    #[cold]
    fn push_unknown_value(&self, record: &RecordView<'_>, map: &LayerMap, report: &mut Report) {
        if self.events.attrs().len() > 1 {
            self.push_unknown_id(record, map, report);
            return;
        }
        let rule = &rules::UNKNOWN_EVENT_ID;
        report.push_with(rule, rule.severity, || {
            let ids = plural(self.events.id_count(), "id");
            let message = format!("unknown id of a counter value: not among {ids} of 1 event");
            let path = record.place.path(".read.id");
            with_place(Finding::new(rule, record.span(), path, message), record, map)
        });
    }

    #[cold]
    fn push_malformed(
        &self,
        rule: &'static Rule,
        error: &BodyError,
        record: &RecordView<'_>,
        map: &LayerMap,
        report: &mut Report,
    ) {
        report.push_with(rule, rule.severity, || {
            let name = record::name(record.frame.kind).unwrap_or("record");
            let message = format!("malformed {name} of {}: {error}", byte_count(record.frame.size));
            let path = record.place.path(&format!(".{}", error.label()));
            let finding = Finding::new(rule, record.span(), path, message);
            let fix = self.set_value(record, error).unwrap_or_else(|| self.drop_record(record));
            with_place(finding, record, map).fix(fix)
        });
    }

    #[cold]
    fn push_zeroed(&self, record: &RecordView<'_>, map: &LayerMap, report: &mut Report) {
        let rule = &rules::SAMPLE_MALFORMED;
        report.push_with(rule, rule.severity, || {
            let size = byte_count(record.frame.size);
            let message = format!("zeroed sample of {size}: every field is 0, also its time");
            let finding = Finding::new(rule, record.span(), record.place.path(".time"), message);
            with_place(finding, record, map).fix(self.drop_record(record))
        });
    }

    #[cold]
    fn push_trailing(
        &self,
        record: &RecordView<'_>,
        trailing: u64,
        map: &LayerMap,
        report: &mut Report,
    ) {
        let rule = &rules::SAMPLE_TRAILING_BYTES;
        if let Some(joined) = self.events.find_joined(record, trailing) {
            report.push_with(rule, Severity::Error, || {
                with_place(self.describe_joined(record, joined), record, map)
            });
            return;
        }
        report.push_with(rule, Severity::Warning, || {
            let size = byte_count(record.frame.size);
            let rest = plural(trailing, "trailing byte");
            let message = format!("sample of {size} has {rest} after its last field");
            let end = record.span().end;
            let span = Span::new(record.place.layer, end.saturating_sub(trailing), end);
            with_place(Finding::new(rule, span, record.place.path(""), message), record, map)
        });
    }

    /// Describes a sample whose size also covers the records after it.
    fn describe_joined(&self, record: &RecordView<'_>, joined: Span) -> Finding {
        let size = joined.start.saturating_sub(record.place.offset);
        let message = format!(
            "header.size is {}, but the sample has {} and other records follow it",
            record.frame.size,
            byte_count(size)
        );
        let (rule, path) = (&rules::SAMPLE_TRAILING_BYTES, record.place.path(".header.size"));
        let mut finding = Finding::new(rule, record.span(), path, message);
        finding.severity = Severity::Error;
        let Some(size) = u16::try_from(size).ok().filter(|_| record.place.layer.is_stored()) else {
            return finding;
        };
        let field = Span::sized(joined.layer, record.place.offset.saturating_add(SIZE_AT), 2);
        let edit = Edit::replace(field, repair::u16_bytes(size, self.events.order()));
        let fix = Fix::new(Safety::Exact, format!("set header.size to {size}"), vec![edit]);
        finding.fix(fix.witness(joined, "complete records after the last field"))
    }

    pub(super) fn drop_record(&self, record: &RecordView<'_>) -> Fix {
        if !record.place.layer.is_stored() {
            // A zstd block cannot lose bytes: later blocks refer to earlier ones by distance.
            return Fix::manual("a record inside compressed records cannot be dropped");
        }
        let summary = format!("drop the record of {}", byte_count(record.frame.size));
        let edits = if self.can_drop { vec![Edit::drop(record.span())] } else { Vec::new() };
        Fix { records_lost: 1, ..Fix::new(Safety::Lossy, summary, edits) }
    }

    /// Checks all files of the recording together, after the last record.
    pub(super) fn finish(&mut self, map: &LayerMap, report: &mut Report) {
        Self::doubt_types(report);
        self.samples.tracepoints.finish(report);
        self.samples.odd.finish(self.times.is_stated(), report);
        self.times.finish(self.events.order(), self.events.time_at(), report);
        self.counters.finish(self.can_drop, self.events.order(), report);
        let Some((first, count)) = self.rounds.late() else { return };
        let stream = if first.span.layer.is_stored() { "data" } else { "expanded" };
        let message = format!(
            "{} older than a finished round; the first has time {}, {} ns before the end of the \
             round at {}",
            plural(count, "record"),
            first.time,
            first.bound.saturating_sub(first.time),
            first.bound,
        );
        let path = format!("{stream}.record[{}].time", first.index);
        let mut finding = Finding::new(&rules::TIME_BEFORE_ROUND, first.span, path, message);
        finding.stored = map.stored(first.span).filter(|_| !first.span.layer.is_stored());
        report.push(finding);
    }
}

/// Whether all fields of a sample are 0: no clock of a kernel is, and no other field is read.
fn is_zeroed(record: &RecordView<'_>, sample: &Sample) -> bool {
    sample.origin.time == Some(0) && record.body().iter().all(|byte| *byte == 0)
}

/// Adds the stored place and the bytes to a finding in an expanded record.
pub(super) fn with_place(mut finding: Finding, record: &RecordView<'_>, map: &LayerMap) -> Finding {
    if !record.place.layer.is_stored() {
        finding.stored = map.stored(finding.span);
        let shown = record.bytes.get(..EXCERPT_BYTES).unwrap_or(record.bytes).to_vec();
        finding.excerpt = Some(Excerpt { start: record.place.offset, bytes: shown });
    }
    finding
}

/// Reports a feature in a pipe that perf 6.1 does not know.
#[cold]
fn push_newer_feature(record: &RecordView<'_>, bit: u32, map: &LayerMap, report: &mut Report) {
    let rule = &rules::UNKNOWN_FEATURE;
    report.push_with(rule, Severity::Info, || {
        let message =
            format!("HEADER_FEATURE {bit}: perf report 7.2 reads a pipe up to {PIPE_END_NEWEST}");
        let finding = Finding::new(rule, record.span(), record.place.path(".feat_id"), message);
        with_place(finding, record, map)
    });
}
