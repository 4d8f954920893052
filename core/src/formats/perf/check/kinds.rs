//! Records of unknown type: those of a newer kernel or perf, and known ones whose type is damaged;
//! and records whose damaged type is a known one.

use super::records::{RecordCheck, with_place};
use crate::formats::perf::decode::attr_record;
use crate::formats::perf::decode::expand::Wrapper;
use crate::formats::perf::decode::feature::{self, Machine};
use crate::formats::perf::decode::frame::{Frame, RecordView};
use crate::formats::perf::decode::record;
use crate::formats::perf::layout::{RECORD_HEADER, is_event_type, record as kind};
use crate::formats::perf::{repair, rules};
use crate::kit::layer::LayerMap;
use crate::kit::span::Span;
use crate::kit::words::byte_count;
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::{Finding, Report, Severity};

/// The evidence that a record is a sample, as `Events::weigh` weighs it.
const SURE: u64 = 4;
/// Bits of a type: the walk accepts no type above 127.
const TYPE_BITS: u32 = 7;
/// Zeros after a size of 0 that may be damage as well: few records begin with so many, such as AUX
/// at the start of its buffer.
const ZEROS: usize = 8;
/// So many that they are damage: none of 17,766 records in 94 recordings begins with them.
const ONLY_ZEROS: usize = 16;

impl RecordCheck {
    /// Reports a record of unknown type: as information, unless the type is damaged.
    #[cold]
    pub(super) fn check_unknown(
        &self,
        record: &RecordView<'_>,
        map: &LayerMap,
        report: &mut Report,
    ) {
        if self.is_sample_inside(record) {
            self.push_damaged_type(record, Some((kind::SAMPLE, Safety::Exact)), map, report);
        } else if may_be_new(record.frame.kind) && !self.is_too_new(record.frame.kind) {
            push_unknown_type(record, report);
        } else {
            self.push_too_new(record, map, report);
        }
    }

    /// Whether the perf that recorded, by its VERSION, had no record of this type. The kernel
    /// writes only types that perf asks for.
    pub(super) const fn is_too_new(&self, kind: u32) -> bool {
        kind > kind::last_old(kind) && self.machine.is_recorder_old()
    }

    /// Reports a record of a type that the perf that recorded did not have.
    #[cold]
    pub(super) fn push_too_new(
        &self,
        record: &RecordView<'_>,
        map: &LayerMap,
        report: &mut Report,
    ) {
        let likely = self.find_kind(record).map(|kind| (kind, Safety::Lossy));
        self.push_damaged_type(record, likely, map, report);
    }

    /// Reports a record whose stored header, `found`, the walk corrected. Returns whether the
    /// record is one of that type: a time from another day is not a time.
    #[cold]
    pub(super) fn check_header(
        &self,
        (record, found): (&RecordView<'_>, Frame),
        map: &LayerMap,
        report: &mut Report,
    ) -> bool {
        let origin = self.events.origin_of(record);
        let time = origin.and_then(|origin| origin.time).filter(|time| *time != 0);
        let is_right = time.is_none_or(|time| self.times.is_same_day(time));
        if found.size != record.frame.size {
            if Wrapper::of(record.frame.kind).is_none() {
                // Bytes of other records rarely have a time near that of the record before.
                let is_timed = time.is_none_or(|time| self.times.is_near(time));
                let is_sample =
                    record.frame.kind == kind::SAMPLE && self.events.weigh(record) >= SURE;
                let weight = if is_sample || is_timed { Safety::Exact } else { Safety::Lossy };
                self.push_lost_size((record, found), is_right.then_some(weight), report);
                return is_right;
            }
            self.push_packed_size((record, found), report);
            return true;
        }
        let found = found.kind;
        // Damage sets a type to 0 without regard to its bits. The body fits a type that has any.
        let is_only = match found {
            0 => (1..1 << TYPE_BITS)
                .all(|kind| kind == record.frame.kind || !self.has_fields_of(record, kind)),
            found => {
                let is_flipped = (found ^ record.frame.kind).count_ones() == 1;
                is_flipped && !kind::ANY_BODY.contains(&found)
            }
        };
        // Noise in the type of a sample can be one bit from a type that fits its body as well.
        let may_be_sample = record.frame.kind != kind::SAMPLE
            && self.events.weigh(&as_kind(record, kind::SAMPLE)) >= SURE;
        let shows_itself = !kind::FITS_NEARLY_ALL.contains(&record.frame.kind)
            && !may_be_sample
            && self.is_of_event(record);
        let safety = if is_only && shows_itself { Safety::Exact } else { Safety::Lossy };
        let likely = is_right.then_some((record.frame.kind, safety));
        self.push_damaged_type(&as_kind(record, found), likely, map, report);
        is_right
    }

    /// Reports a record with a damaged size, or a header that is lost, which is `found`. Without a
    /// class it is not a record of this type.
    fn push_lost_size(
        &self,
        (record, found): (&RecordView<'_>, Frame),
        class: Option<Safety>,
        report: &mut Report,
    ) {
        let is_longer = found.size > record.frame.size;
        let rule = if is_longer { &rules::RECORD_PAST_END } else { &rules::RECORD_TOO_SMALL };
        report.push_with(rule, rule.severity, || {
            let (frame, span) = (record.frame, record.span());
            let message = format!("record size is {}, expected {}", found.size, frame.size);
            let path = record.place.path(".header.size");
            let finding = Finding::new(rule, span, path, message);
            let is_zeroed = |byte: &&u8| found.size == 0 && **byte == 0;
            let zeros = record.body().iter().take_while(is_zeroed).count();
            let Some(class) = class.filter(|_| zeros < ONLY_ZEROS) else {
                return finding.fix(self.drop_record(record));
            };
            let header = Span::sized(span.layer, span.start, RECORD_HEADER);
            let bytes = repair::header_bytes(frame, self.events.order());
            // Of a header with its type nothing is claimed but the size: `misc` may be damaged.
            let is_size = found.kind == frame.kind;
            let size_at = Span::new(span.layer, span.start.saturating_add(6), header.end);
            let edit = |bytes: [u8; 8]| match bytes {
                [.., low, high] if is_size => Edit::replace(size_at, [low, high]),
                all => Edit::replace(header, all),
            };
            let edits = bytes.map(edit).into_iter().collect();
            let name = record::name(frame.kind).unwrap_or("record");
            let summary = match is_size {
                true => format!("set header.size to {}", frame.size),
                false => format!("set the header to {name} of {}", byte_count(frame.size)),
            };
            // `misc` is lost with the type, and some fields fit bytes of other records as well.
            // The records that follow may not be the next ones: content that ends before them shows
            // that others lie between.
            let shows_itself = !kind::FITS_NEARLY_ALL.contains(&frame.kind)
                && zeros < ZEROS
                && (found.size < RECORD_HEADER || !self.events.fits_other_sizes(record))
                && self.events.ends_with_content(record);
            let safety = if is_size && shows_itself { class } else { Safety::Lossy };
            let fields = Span::new(span.layer, header.end, span.end);
            let fix = Fix::new(safety, summary, edits);
            finding.fix(fix.witness(fields, "fields up to the next record"))
        });
    }

    /// Reports a compressed record with a damaged header, which its zstd blocks show.
    fn push_packed_size(&self, (record, found): (&RecordView<'_>, Frame), report: &mut Report) {
        let rule = &rules::DATA_LEN_WRONG;
        report.push_with(rule, rule.severity, || {
            let (frame, span) = (record.frame, record.span());
            let show = |frame: Frame| format!("type {} and size {}", frame.kind, frame.size);
            let message = match found.kind == frame.kind {
                true => format!("header.size is {}, expected {}", found.size, frame.size),
                false => format!("header has {}, expected {}", show(found), show(frame)),
            };
            let header = Span::sized(span.layer, span.start, RECORD_HEADER);
            let blocks = Span::new(span.layer, header.end, span.end);
            let bytes = repair::header_bytes(frame, self.events.order());
            let edits = bytes.map(|bytes| Edit::replace(header, bytes)).into_iter().collect();
            let name = record::name(frame.kind).unwrap_or("record");
            let summary = format!("set the header to {name} of {}", byte_count(frame.size));
            let fix = Fix::new(Safety::Exact, summary, edits);
            let path = record.place.path(".header");
            let finding = Finding::new(rule, header, path, message);
            finding.fix(fix.witness(blocks, "complete zstd blocks, and the records after them"))
        });
    }

    /// Reports a sample whose damaged type is that of another kind of record.
    #[cold]
    pub(super) fn push_sample_of_other_type(
        &self,
        record: &RecordView<'_>,
        map: &LayerMap,
        report: &mut Report,
    ) {
        self.push_damaged_type(record, Some((kind::SAMPLE, Safety::Exact)), map, report);
    }

    /// Reports a feature of a pipe whose damaged type is HEADER_ATTR.
    #[cold]
    pub(super) fn push_feature_of_other_type(
        &self,
        record: &RecordView<'_>,
        map: &LayerMap,
        report: &mut Report,
    ) {
        self.push_damaged_type(record, Some((kind::HEADER_FEATURE, Safety::Lossy)), map, report);
    }

    /// Whether a record of a known type is a sample with one wrong bit in its type: the fields of
    /// its type do not fit it, or give it a time far from that of the record before.
    #[inline]
    pub(super) fn is_sample_of_other_type(&self, record: &RecordView<'_>) -> bool {
        if !is_near_sample(record.frame.kind) || !self.is_sample_inside(record) {
            return false;
        }
        let time = self.events.origin_of(record).and_then(|origin| origin.time);
        !self.events.fits(record) || time.is_some_and(|time| !self.times.is_near(time))
    }

    /// Whether one bit of the type of a record was flipped: its body is a sample without a byte
    /// left over, of an event that exists, at the time of the record before it. A later kernel
    /// cannot add such a type: the body would have to contain an address or an id as its time.
    fn is_sample_inside(&self, record: &RecordView<'_>) -> bool {
        if !is_near_sample(record.frame.kind) {
            return false;
        }
        let sample = as_kind(record, kind::SAMPLE);
        let time = self.events.origin_of(&sample).and_then(|origin| origin.time);
        let is_near = |time: u64| self.times.is_near(time);
        self.events.weigh(&sample) >= SURE && time.is_some_and(is_near)
    }

    /// Finds the only known type whose fields the record has and that differs from its type in one
    /// bit.
    fn find_kind(&self, record: &RecordView<'_>) -> Option<u32> {
        let flipped = (0..TYPE_BITS).map(|bit| record.frame.kind ^ (1 << bit));
        let mut kinds = flipped.filter(|kind| self.has_fields_of(record, *kind));
        kinds.next().filter(|_| kinds.next().is_none())
    }

    /// Whether a record is not a HEADER_ATTR of an event that no kernel has: the number of a
    /// damaged HEADER_FEATURE reads as type and size of an attr.
    fn is_of_event(&self, record: &RecordView<'_>) -> bool {
        record.frame.kind != kind::HEADER_ATTR
            || attr_record::read_record(record, self.events.order())
                .is_some_and(|(attr, _)| is_event_type(attr.kind))
    }

    /// Whether a record can be one of a known type: its body has the fields and ends with them, its
    /// event exists, and its time follows that of the record before. perf itself writes 0 as the
    /// time of records about processes that ran before.
    fn has_fields_of(&self, record: &RecordView<'_>, kind: u32) -> bool {
        let likely = as_kind(record, kind);
        let origin = self.events.origin_of(&likely);
        let time = origin.and_then(|origin| origin.time).filter(|time| *time != 0);
        let is_feature = kind == kind::HEADER_FEATURE;
        let is_read = !is_feature
            || feature::of_record(&likely, self.events.order(), Machine::default()).is_ok();
        record::name(kind).is_some()
            && !kind::ANY_BODY.contains(&kind)
            && !self.is_too_new(kind)
            && is_read
            && self.is_of_event(&likely)
            && self.events.weigh(&likely) > 0
            && time.is_none_or(|time| self.times.may_follow(time))
    }

    /// Reports a record whose type is damaged. The fix sets the likely type or drops the record.
    fn push_damaged_type(
        &self,
        record: &RecordView<'_>,
        likely: Option<(u32, Safety)>,
        map: &LayerMap,
        report: &mut Report,
    ) {
        let rule = &rules::RECORD_TYPE_DAMAGED;
        report.push_with(rule, rule.severity, || {
            let found = record.frame.kind;
            let reason = match likely.and_then(|(kind, _)| record::name(kind).zip(Some(kind))) {
                Some((name, kind)) => format!("but the record has the fields of {name} ({kind})"),
                None if self.is_too_new(found) => {
                    format!(
                        "which perf 6.12 and older do not have (last: {})",
                        kind::last_old(found)
                    )
                }
                None => format!("far above the last known one ({})", last_known(found)),
            };
            let title = match record::name(found) {
                Some(name) => format!("record type {found} ({name})"),
                None => format!("unknown record type {found}"),
            };
            let message = format!("{title}, {reason}");
            let (span, path) = (record.span(), record.place.path(".header.type"));
            let finding = with_place(Finding::new(rule, span, path, message), record, map);
            match likely {
                Some(likely) => finding.fix(self.set_kind(record, likely)),
                None => finding.fix(self.drop_record(record)),
            }
        });
    }

    /// Calls no corrected header exact unless there are samples, and all have the fields of their
    /// event: one flipped bit of `sample_type` makes some records of other types fit samples.
    pub(super) fn doubt_types(report: &mut Report) {
        let misfits = [&rules::SAMPLE_TRAILING_BYTES, &rules::SAMPLE_MALFORMED];
        if report.tally.samples == 0 || misfits.iter().any(|rule| report.count(rule) > 0) {
            report.doubt_fixes(&rules::RECORD_TYPE_DAMAGED);
            report.doubt_fixes(&rules::RECORD_TOO_SMALL);
            report.doubt_fixes(&rules::RECORD_PAST_END);
        }
        // The block that ends where a data_size was set is damaged itself: what it holds is not
        // whole.
        let cuts = [&rules::EXPANDED_TRUNCATED, &rules::EXPANDED_BROKEN];
        if cuts.iter().any(|rule| report.count(rule) > 0) {
            report.doubt_fixes(&rules::DATA_LEN_WRONG);
        }
    }

    fn set_kind(&self, record: &RecordView<'_>, (kind, safety): (u32, Safety)) -> Fix {
        if !record.place.layer.is_stored() {
            return Fix::manual("the record is inside compressed records");
        }
        let span = record.span();
        let header = Span::sized(span.layer, span.start, 4);
        let rest = Span::new(span.layer, span.start.saturating_add(6), span.end);
        let bytes = repair::u32_bytes(kind, self.events.order());
        let edits = vec![Edit::replace(header, bytes)];
        let name = record::name(kind).unwrap_or("record");
        let fix = Fix::new(safety, format!("set the type to {name} ({kind})"), edits);
        match safety {
            Safety::Exact => {
                fix.witness(rest, "size and body of the record, which are those of its type")
            }
            _ => fix.altered(1),
        }
    }
}

/// Whether a type differs from that of a sample in one bit.
const fn is_near_sample(found: u32) -> bool {
    (found ^ kind::SAMPLE).count_ones() == 1
}

/// Whether a type that is not known yet may be one of the next years.
const fn may_be_new(found: u32) -> bool {
    found <= if found < kind::USER_FIRST { kind::KERNEL_NEXT } else { kind::USER_NEXT }
}

/// Returns the last known type of the same writer, the kernel or perf.
const fn last_known(found: u32) -> u32 {
    if found < kind::USER_FIRST { kind::KERNEL_LAST } else { kind::USER_LAST }
}

/// Returns the record as one of another type.
const fn as_kind<'a>(record: &RecordView<'a>, kind: u32) -> RecordView<'a> {
    RecordView { frame: Frame { kind, ..record.frame }, ..*record }
}

#[cold]
fn push_unknown_type(record: &RecordView<'_>, report: &mut Report) {
    let rule = &rules::UNKNOWN_RECORD;
    report.push_with(rule, Severity::Info, || {
        let message = format!("unknown record type {}", record.frame.kind);
        Finding::new(rule, record.span(), record.place.path(".header.type"), message)
    });
}
