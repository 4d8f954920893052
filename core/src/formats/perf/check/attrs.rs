//! The judgement of the attr table, its attrs and their ids.

use crate::formats::perf::decode::attr::Attr;
use crate::formats::perf::decode::attrs::{AttrEntry, AttrTable, IdsFault, TableStop};
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::layout::attr::{at, read_format};
use crate::formats::perf::layout::{
    ATTR_SIZE_KNOWN, SECTION_SIZE, feature, field, is_event_type, is_published,
};
use crate::formats::perf::limits::{ATTRS, IDS};
use crate::formats::perf::{repair, rules};
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::words::{byte_count, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::limits::{Limits, WINDOW};
use crate::model::rule::{Severity, common};
use crate::model::{Finding, Report};

const FILE: Layer = Layer::stored(0);

/// Checks the attr table of a file.
pub(super) fn check_table(
    recording: &Recording<'_>,
    table: &AttrTable,
    limits: &Limits,
    report: &mut Report,
) {
    if let Some(first_len) = table.first_len {
        check_attr_size(recording, first_len, report);
    }
    for (index, (entry, fault)) in table.entries.iter().enumerate() {
        let path = format!("attrs[{index}]");
        let place = (entry.span.start, recording.order());
        check_attr(&entry.attr, place, entry.span, &path, report);
        check_ids(recording, entry, *fault, format!("{path}.ids"), limits, report);
    }
    check_id_places(recording, table, report);
    let count = table.entries.len();
    if let Some(stop) = &table.stop {
        push_stop(recording, stop, count, limits, report);
        return;
    }
    if let Some(span) = table.trailing {
        let message = format!(
            "attrs has {} after the last of {}",
            plural(span.len(), "trailing byte"),
            plural(to_u64(count), "entry")
        );
        report.push(Finding::new(
            &rules::ATTRS_SIZE_MISALIGNED,
            span,
            "header.attrs.size",
            message,
        ));
    }
    if count == 0 {
        let span = Span::sized(FILE, field::ATTRS, SECTION_SIZE);
        let message = format!("missing attrs: attrs.size is {}", recording.body.attrs.size);
        report.push(Finding::new(&rules::NO_ATTRS, span, "attrs", message));
    }
}

/// Reports why the table was not read to its end.
fn push_stop(
    recording: &Recording<'_>,
    stop: &TableStop,
    count: usize,
    limits: &Limits,
    report: &mut Report,
) {
    let attrs = recording.body.attrs;
    let limit =
        |message: String| Finding::new(&common::LIMIT_REACHED, attrs.span(0), "attrs", message);
    report.push(match stop {
        TableStop::Outside => {
            let message = format!(
                "attrs lie outside the file: {} at {:#x}, but the file has {}",
                byte_count(attrs.size),
                attrs.offset,
                byte_count(recording.length())
            );
            let span = Span::sized(FILE, field::ATTRS, SECTION_SIZE);
            Finding::new(&rules::SECTION_OUTSIDE, span, "header.attrs", message)
        }
        TableStop::SizeLimit => limit(format!(
            "attrs of {}, more than the limit of {}",
            byte_count(attrs.size),
            limits.of(&WINDOW)
        )),
        TableStop::CountLimit => limit(format!("more than {}", plural(limits.of(&ATTRS), "attr"))),
        TableStop::Damage(damage) => {
            let path = format!("attrs[{count}]");
            Finding::new(&rules::ATTR_TRUNCATED, damage.span, path, damage.error.to_string())
        }
    });
}

/// Checks `header.attr_size`, by which perf divides; each entry also states its own size.
fn check_attr_size(recording: &Recording<'_>, first_len: u64, report: &mut Report) {
    let body = &recording.body;
    // An entry longer than its section is itself damaged, and no evidence about the others.
    let is_readable = first_len <= body.attrs.size || body.attr_size == 0;
    if first_len == body.attr_size || !is_readable {
        return;
    }
    let span = Span::sized(FILE, field::ATTR_SIZE, 8);
    let message = format!("attr_size is {}, but the first entry has {first_len}", body.attr_size);
    let mut finding = Finding::new(&rules::ATTR_SIZE_WRONG, span, "header.attr_size", message);
    let divides = body.attrs.size.checked_rem(first_len) == Some(0);
    if first_len <= body.attrs.size && divides {
        let edit = repair::header_u64(field::ATTR_SIZE, first_len, recording.order());
        let summary = format!("set attr_size to {first_len}");
        let fix = Fix::new(Safety::Exact, summary, vec![edit]);
        let size = Span::sized(FILE, body.attrs.offset.saturating_add(at::SIZE), 4);
        finding = finding.fix(fix.witness(size, "attr.size"));
    }
    report.push(finding);
}

/// Checks that all attrs place the id of a record alike. perf stat writes no samples.
fn check_id_places(recording: &Recording<'_>, table: &AttrTable, report: &mut Report) {
    let mut entries = table.entries.iter().map(|(entry, _)| entry);
    let is_impossible = entries.clone().any(|entry| entry.attr.is_impossible());
    if is_impossible || recording.body.flags.has(feature::STAT) {
        return;
    }
    let Some(AttrEntry { attr: first, span, .. }) = entries.next() else { return };
    let mut others = (1..).zip(entries);
    let Some((index, other)) = others.find(|(_, one)| !one.attr.places_ids_like(first)) else {
        return;
    };
    let describe = |attr: &Attr| {
        let all = if attr.sample_id_all() { "with" } else { "without" };
        format!("sample_type {:#x} {all} sample_id_all", attr.sample_type)
    };
    let (one, two) = (describe(first), describe(&other.attr));
    let message = format!("different places of the id: attrs[{index}] has {two}, attrs[0] {one}");
    let path = format!("attrs[{index}].sample_type");
    let finding = Finding::new(&rules::ATTRS_MISMATCHED, other.span, path, message);
    report.push(finding.related(*span, "attrs[0]"));
}

/// Checks the type of the event whose attr has this place and byte order.
fn check_type(kind: u32, (start, order): (u64, Order), path: &str, report: &mut Report) {
    if is_event_type(kind) {
        return;
    }
    let span = Span::sized(FILE, start.saturating_add(at::TYPE), 4);
    let message = format!("type is {kind}, expected the number of a PMU");
    let mut finding =
        Finding::new(&rules::ATTR_TYPE_UNKNOWN, span, format!("{path}.type"), message);
    let cleared = [0x00ff_ffff_u32, 0xff00_ffff, 0xffff_00ff].map(|kept| kind & kept);
    let fix = cleared.into_iter().find(|kind| is_event_type(*kind)).map(|kind| {
        let edit = Edit::replace(span, repair::u32_bytes(kind, order));
        Fix::new(Safety::Lossy, format!("set attr.type to {kind}"), vec![edit])
    });
    // The samples are shown nevertheless: a repair must not give them up for a name.
    if fix.is_none() {
        finding.severity = Severity::Warning;
    }
    report.push(Finding { fix, ..finding });
}

/// Checks one attr by itself; `place` is its offset and byte order.
pub(super) fn check_attr(
    attr: &Attr,
    place: (u64, Order),
    span: Span,
    path: &str,
    report: &mut Report,
) {
    if attr.is_impossible() {
        let message = format!(
            "impossible bits: sample_type {:#x}, read_format {:#x}, branch_sample_type {:#x}",
            attr.sample_type, attr.read_format, attr.branch_sample_type
        );
        report.push(Finding::new(&rules::ATTR_IMPOSSIBLE, span, path.to_string(), message));
        return;
    }
    check_type(attr.kind, place, path, report);
    if attr.reads_without_id() {
        let message = format!(
            "read_format is {:#x}, expected bit {:#x} (ID), since samples have READ",
            attr.read_format,
            read_format::ID
        );
        let path = format!("{path}.read_format");
        report.push(Finding::new(&rules::READ_WITHOUT_ID, span, path, message));
    }
    // Every version so far is a multiple of 8, and larger than the one before.
    let is_newer = attr.size > ATTR_SIZE_KNOWN && attr.size.is_multiple_of(8);
    if is_newer || attr.extra_nonzero || !attr.layout_known() {
        let message = format!(
            "unknown fields in an attr of {}: after byte {ATTR_SIZE_KNOWN}, or sample_type {:#x}",
            byte_count(attr.size.into()),
            attr.unknown_sample_bits()
        );
        report.push(Finding::new(&rules::ATTR_NEWER, span, path.to_string(), message));
    } else if attr.size != 0 && !is_published(attr.size) {
        let message = format!("attr.size is {}, which no kernel uses", attr.size);
        let path = format!("{path}.size");
        report.push(Finding::new(&rules::ATTR_SIZE_UNPUBLISHED, span, path, message));
    }
}

/// Checks the section of an attr's ids.
fn check_ids(
    recording: &Recording<'_>,
    entry: &AttrEntry,
    fault: Option<IdsFault>,
    path: String,
    limits: &Limits,
    report: &mut Report,
) {
    let (section, len) = (entry.ids, recording.length());
    if fault == Some(IdsFault::Outside) {
        let message = format!(
            "ids lie outside the file: {} at {:#x}, but the file has {}",
            byte_count(section.size),
            section.offset,
            byte_count(len)
        );
        report.push(Finding::new(&rules::SECTION_OUTSIDE, entry.span, path, message));
        return;
    }
    if section.size & 7 != 0 {
        let message = format!("ids have {}, expected a multiple of 8", byte_count(section.size));
        report.push(Finding::new(&rules::IDS_MISALIGNED, section.span(0), path.clone(), message));
    }
    let (rule, message) = match fault {
        Some(IdsFault::Limit) => {
            (&common::LIMIT_REACHED, format!("more than {}", plural(limits.of(&IDS), "event id")))
        }
        Some(IdsFault::Overlap(total)) => {
            let (total, len) = (byte_count(total), byte_count(len));
            let message = format!("overlapping ids: {total} of ids in a file of {len}");
            (&rules::SECTIONS_OVERLAP, message)
        }
        Some(IdsFault::Outside) | None => return,
    };
    if report.count(rule) == 0 {
        report.push(Finding::new(rule, section.span(0), path, message));
    }
}
