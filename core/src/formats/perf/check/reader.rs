//! Records that perf 7 refuses, and earlier versions read: those of a size that is not a multiple
//! of 8, and features of a pipe whose numbers contradict one another.
//!
//! The perf that recorded decides. If it is perf 7 or unknown, this is an error; otherwise it is
//! information for those who read the recording with perf 7.

use super::records::{RecordCheck, with_place};
use crate::formats::perf::decode::attr_record;
use crate::formats::perf::decode::body::BodyError;
use crate::formats::perf::decode::feature::{self, FeatureError, Refusal};
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::layout::record as kind;
use crate::formats::perf::{repair, rules};
use crate::kit::layer::LayerMap;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::Span;
use crate::kit::words::byte_count;
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::{Finding, Report, Severity};

/// Sizes of records are multiples of it in bytes.
const WORD: u64 = 8;
/// Offset of `size` in the header of a record.
const SIZE_AT: u64 = 6;

impl RecordCheck {
    /// Checks that the size of a record is a multiple of 8.
    #[inline]
    pub(super) fn check_alignment(
        &self,
        record: &RecordView<'_>,
        map: &LayerMap,
        report: &mut Report,
    ) {
        // perf 7.2 reads these of any size (perf_session__process_event).
        if record.frame.size & 7 != 0 && !kind::ANY_SIZE.contains(&record.frame.kind) {
            self.push_misaligned(record, map, report);
        }
    }

    #[cold]
    fn push_misaligned(&self, record: &RecordView<'_>, map: &LayerMap, report: &mut Report) {
        let is_strict = self.machine.is_recorder_strict();
        let (rule, severity) = match record.frame.is_kernel() {
            _ if is_strict => (&rules::RECORD_UNALIGNED, Severity::Error),
            true => (&rules::RECORD_UNALIGNED, Severity::Warning),
            false => (&rules::NEWER_REFUSES, Severity::Info),
        };
        report.push_with(rule, severity, || {
            let size = record.frame.size;
            let message = format!("misaligned record: size is {size}, expected a multiple of 8");
            let path = record.place.path(".header.size");
            let finding = with_place(Finding::new(rule, record.span(), path, message), record, map);
            let finding = Finding { severity, ..finding };
            match is_strict {
                true => finding.fix(self.align(record)),
                false => finding,
            }
        });
    }

    /// Builds the fix of a record of perf whose size is not a multiple of 8: zeros after its
    /// fields. The fields of the kernel are read from the end, and the ids of an attr fill the
    /// record, so that these cannot grow.
    fn align(&self, record: &RecordView<'_>) -> Fix {
        let (span, frame) = (record.span(), record.frame);
        let wanted = frame.size.next_multiple_of(WORD);
        let is_stored = record.place.layer.is_stored();
        let size = u16::try_from(wanted).ok().filter(|_| is_stored);
        let Some(size) = size.filter(|_| !frame.is_kernel() && frame.kind != kind::HEADER_ATTR)
        else {
            return self.drop_record(record);
        };
        let missing = wanted.saturating_sub(frame.size);
        let field = Span::sized(span.layer, span.start.saturating_add(SIZE_AT), 2);
        let end = Span::sized(span.layer, span.end, 0);
        let edits = match self.can_drop {
            true => vec![
                Edit::replace(field, repair::u16_bytes(size, self.events.order())),
                Edit::replace(end, vec![0; to_usize(missing)]),
            ],
            false => Vec::new(),
        };
        let summary = format!("set header.size to {size}, add {missing} zero bytes");
        Fix::new(Safety::Lossy, summary, edits).altered(1)
    }

    /// Builds the fix that writes the only value that the neighbours of a field allow.
    pub(super) fn set_value(&self, record: &RecordView<'_>, error: &BodyError) -> Option<Fix> {
        let BodyError::Differs { label, right, span, .. } = *error else { return None };
        let order = self.events.order();
        let bytes = match u32::try_from(right).ok().filter(|_| span.len() == 4) {
            Some(word) => repair::u32_bytes(word, order).to_vec(),
            None => repair::u64_bytes(right, order).to_vec(),
        };
        let is_stored = record.place.layer.is_stored() && to_u64(bytes.len()) == span.len();
        let summary = format!("set {label} to {right:#x}");
        is_stored
            .then(|| Fix::new(Safety::Lossy, summary, vec![Edit::replace(span, bytes)]).altered(1))
    }

    /// Checks that a HEADER_ATTR in a file, which perf takes for a further event, contradicts no
    /// other event.
    pub(super) fn check_attr_in_file(
        &mut self,
        record: &RecordView<'_>,
        map: &LayerMap,
        report: &mut Report,
    ) {
        let Some((attr, ids)) = attr_record::read_record(record, self.events.order()) else {
            return;
        };
        let others = ids.iter().filter_map(|id| self.events.find(*id));
        self.seen.has_attr_in_file |= others.clone().count() == ids.len();
        if others.filter_map(|index| self.events.attrs().get(index)).all(|other| *other == attr) {
            return;
        }
        let rule = &rules::ATTR_IN_FILE;
        report.push_with(rule, rule.severity, || {
            let message = "HEADER_ATTR in a file has an id of another event";
            let finding = Finding::new(rule, record.span(), record.place.path(".attr"), message);
            with_place(finding, record, map).fix(self.drop_record(record))
        });
    }

    /// Reports a TRACING_DATA in a file, after which perf reads on at another place, and stops.
    pub(super) fn check_tracing_in_file(
        &self,
        record: &RecordView<'_>,
        map: &LayerMap,
        report: &mut Report,
    ) {
        // simpleperf has the data inside the record, and reads them itself.
        if self.events.dialect.is_simpleperf {
            return;
        }
        let rule = &rules::RECORD_MALFORMED;
        report.push_with(rule, rule.severity, || {
            let message = "unexpected TRACING_DATA: only pipes have it as a record";
            let finding = Finding::new(rule, record.span(), record.place.path(""), message);
            with_place(finding, record, map).fix(self.drop_record(record))
        });
    }

    /// Whether perf looks up the event of a record that is not a sample and does not find it. To
    /// perf, a HEADER_ATTR in a file is one event more, so it looks up those of a single attr, too.
    pub(super) fn lacks_event_of(&self, record: &RecordView<'_>) -> bool {
        let is_looked_up = self.seen.has_attr_in_file;
        self.events.lacks_event_of(record)
            || is_looked_up && self.events.names_unknown_event(record)
    }

    /// Whether perf looks up the event of a sample and does not find it.
    #[inline]
    pub(super) fn lacks_event_of_sample(&self, sample: &Sample) -> bool {
        let is_unknown = |id: u64| id != 0 && self.events.find(id).is_none();
        !self.events.has_id_of(sample)
            || self.seen.has_attr_in_file && sample.origin.id.is_some_and(is_unknown)
    }

    /// Checks whether a reader refuses the feature of a HEADER_FEATURE record.
    pub(super) fn check_refusal(
        &self,
        record: &RecordView<'_>,
        map: &LayerMap,
        report: &mut Report,
    ) {
        let (order, events) = (self.events.order(), self.events.attrs().len());
        let refused = feature::refuse_record(record, order, &self.machine, events);
        let Err((bit, refusal)) = refused else { return };
        let (rule, error) = match refusal {
            Refusal::All(error) => (&rules::RECORD_MALFORMED, error),
            Refusal::Newer(error) if self.machine.is_recorder_strict() => {
                (&rules::RECORD_MALFORMED, error)
            }
            Refusal::Newer(error) => (&rules::NEWER_REFUSES, error),
        };
        report.push_with(rule, rule.severity, || {
            let name = feature::name(bit).map_or_else(String::new, |name| format!("{name}: "));
            let message = format!("malformed HEADER_FEATURE: {name}{error}");
            let finding = Finding::new(rule, record.span(), record.place.path(".data"), message);
            let finding = with_place(finding, record, map);
            match *rule == rules::RECORD_MALFORMED {
                true => finding.fix(self.build_cpus(record, &error)),
                false => finding,
            }
        });
    }

    /// Builds the NRCPUS that CPU_TOPOLOGY needs and determines; otherwise drops the record.
    fn build_cpus(&self, record: &RecordView<'_>, error: &FeatureError) -> Fix {
        let order = self.events.order();
        let needed = matches!(error, FeatureError::NeedsCpus { .. });
        let cpus = feature::cpus_of_record(record, order).filter(|_| needed);
        let built = cpus.and_then(|cpus| {
            let content = repair::cpu_counts(cpus, order);
            repair::feature_record(crate::formats::perf::layout::feature::NRCPUS, &content, order)
        });
        let Some(built) = built.filter(|_| record.place.layer.is_stored() && self.can_drop) else {
            return self.drop_record(record);
        };
        let span = record.span();
        let place = Span::sized(span.layer, span.start, 0);
        let size = byte_count(to_u64(built.len()));
        let summary = format!("add a HEADER_FEATURE record of NRCPUS, {size}");
        Fix::new(Safety::Synthetic, summary, vec![Edit::replace(place, built)])
    }
}
