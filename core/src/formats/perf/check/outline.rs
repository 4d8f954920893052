//! Header, attrs and ids: what has to be known before the first record.

use crate::limits::WINDOW;
use crate::formats::perf::limits::IDS;
use crate::formats::perf::limits::ATTRS;
use crate::formats::perf::check::records::Events;
use crate::formats::perf::decode::attr::{self, Attr};
use crate::formats::perf::decode::header::{Body, Header, Section};
use crate::formats::perf::layout::{self, SECTION_SIZE, field};
use crate::formats::perf::{repair, rules};
use crate::kit::cursor::Cursor;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::limits::Limits;
use crate::mend::edit::{Fix, Safety};
use crate::report::rule::common;
use crate::report::{Finding, Report};

const FILE: Layer = Layer::stored(0);

/// Reads the attrs of a file and reports what is wrong with header, attrs and ids.
///
/// Returns the events and the sections of their ids.
pub fn events(
    source: &Source<'_>,
    header: &Header,
    body: &Body,
    limits: &Limits,
    report: &mut Report,
) -> (Events, Vec<Section>) {
    let mut events = Events::default();
    let mut id_sections = Vec::new();
    let attrs = body.attrs;
    if !attrs.fits(source.len()) {
        let message = format!(
            "attrs of {} bytes at {:#x} lie outside the {} bytes of the file",
            attrs.size,
            attrs.offset,
            source.len()
        );
        let span = Span::sized(FILE, field::ATTRS, SECTION_SIZE);
        report.push(Finding::new(&rules::SECTION_OUTSIDE, span, "header.attrs", message));
        return (events, id_sections);
    }
    if attrs.size > limits.of(&WINDOW) {
        let message = format!("attrs of {} bytes, {} are the limit", attrs.size, limits.of(&WINDOW));
        report.push(Finding::new(&common::LIMIT_REACHED, attrs.span(0), "attrs", message));
        return (events, id_sections);
    }
    let bytes = source.read(attrs.offset, attrs.end().unwrap_or(u64::MAX));
    let mut cursor = Cursor::new(&bytes, FILE, attrs.offset, header.order);
    let entry = entry_size(&mut cursor.clone());
    attr_size(header, body, entry, report);
    let mut index = 0_u64;
    while cursor.left() >= layout::ATTR_SIZE_VER0.saturating_add(SECTION_SIZE) {
        let start = cursor.position();
        let torn = |why: String| {
            let span = Span::new(FILE, start, attrs.end().unwrap_or(start));
            Finding::new(&rules::ATTR_TORN, span, format!("attrs[{index}]"), why)
        };
        if index >= limits.of(&ATTRS) {
            let message = format!("more than {} attrs", limits.of(&ATTRS));
            report.push(Finding::new(&common::LIMIT_REACHED, attrs.span(0), "attrs", message));
            events.mark_partial();
            return (events, id_sections);
        }
        let attr = match attr::attr(&mut cursor, header.order) {
            Ok(attr) => attr,
            Err(error) => {
                report.push(torn(error.to_string()));
                events.mark_partial();
                return (events, id_sections);
            }
        };
        let ids = match Section::read(&mut cursor) {
            Ok(ids) => ids,
            Err(error) => {
                report.push(torn(error.to_string()));
                events.mark_partial();
                return (events, id_sections);
            }
        };
        let span = Span::new(FILE, start, cursor.position());
        judge(&attr, span, &format!("attrs[{index}]"), report);
        let ids = event_ids(source, header, ids, &events, limits, (span, index), report);
        if let Some((section, ids)) = ids {
            id_sections.push(section);
            events.push(attr, ids);
        } else {
            events.push(attr, []);
            events.mark_partial();
        }
        index = index.saturating_add(1);
    }
    if !cursor.is_empty() {
        let message = format!("{} bytes follow the last of {index} attrs", cursor.left());
        report.push(Finding::new(
            &rules::ATTRS_SIZE_ODD,
            cursor.ahead(),
            "header.attrs.size",
            message,
        ));
    }
    if index == 0 {
        let span = Span::sized(FILE, field::ATTRS, SECTION_SIZE);
        let message = format!("attrs of {} bytes hold no entry", attrs.size);
        report.push(Finding::new(&rules::NO_ATTRS, span, "attrs", message));
    }
    (events, id_sections)
}

/// Size of the first entry by its own `size` field, with its ids section.
fn entry_size(cursor: &mut Cursor<'_>) -> Option<u64> {
    cursor.skip(1, 4, "attr.type").ok()?;
    let size = u64::from(cursor.u32("attr.size").ok()?);
    let size = if size == 0 { layout::ATTR_SIZE_VER0 } else { size };
    Some(size.saturating_add(SECTION_SIZE))
}

/// perf divides by `header.attr_size`; the entries themselves say their size.
fn attr_size(header: &Header, body: &Body, entry: Option<u64>, report: &mut Report) {
    // An entry that passes its section is torn, and says nothing of the others.
    let readable = |entry: &u64| *entry <= body.attrs.size || body.attr_size == 0;
    let wrong = |entry: &u64| *entry != body.attr_size && readable(entry);
    let Some(entry) = entry.filter(wrong) else { return };
    let span = Span::sized(FILE, field::ATTR_SIZE, 8);
    let message = format!("attr_size is {}, the first entry has {entry} bytes", body.attr_size);
    let mut finding = Finding::new(&rules::ATTR_SIZE_WRONG, span, "header.attr_size", message);
    let plausible = entry <= body.attrs.size && body.attrs.size.checked_rem(entry) == Some(0);
    if plausible {
        let edit = repair::header_u64(field::ATTR_SIZE, entry, header.order);
        finding = finding.fix(Fix::new(Safety::Exact, format!("writes {entry}"), vec![edit]));
    }
    report.push(finding);
}

/// What can be said of one attr by itself.
pub fn judge(attr: &Attr, span: Span, path: &str, report: &mut Report) {
    if attr.extra_nonzero || !attr.layout_known() {
        let message = format!(
            "attr of {} bytes; fields behind byte {} or sample_type bits {:#x} are unknown here",
            attr.size,
            layout::ATTR_SIZES.last().copied().unwrap_or_default(),
            attr.unknown_sample_bits()
        );
        report.push(Finding::new(&rules::ATTR_NEWER, span, path.to_string(), message));
    } else if attr.size != 0 && !layout::ATTR_SIZES.contains(&attr.size) {
        let message = format!("attr.size is {}", attr.size);
        let path = format!("{path}.size");
        report.push(Finding::new(&rules::ATTR_SIZE_UNPUBLISHED, span, path, message));
    }
}

/// The ids of one attr.
fn event_ids(
    source: &Source<'_>,
    header: &Header,
    section: Section,
    events: &Events,
    limits: &Limits,
    (span, index): (Span, u64),
    report: &mut Report,
) -> Option<(Section, Vec<u64>)> {
    let path = format!("attrs[{index}].ids");
    if !section.fits(source.len()) {
        let message = format!(
            "ids of {} bytes at {:#x} lie outside the {} bytes of the file",
            section.size,
            section.offset,
            source.len()
        );
        report.push(Finding::new(&rules::SECTION_OUTSIDE, span, path, message));
        return None;
    }
    if section.size & 7 != 0 {
        let message = format!("ids of {} bytes", section.size);
        report.push(Finding::new(&rules::IDS_ODD, section.span(0), path.clone(), message));
    }
    let count = section.size >> 3;
    if events.id_count().saturating_add(count) > limits.of(&IDS) {
        if report.count(&common::LIMIT_REACHED) == 0 {
            let message = format!("more than {} event ids", limits.of(&IDS));
            report.push(Finding::new(&common::LIMIT_REACHED, section.span(0), path, message));
        }
        return None;
    }
    // Every event has ids of its own: more of them than the file holds means that events share
    // them, and a small file could ask for any amount of memory.
    let total = events.id_count().saturating_add(count).saturating_mul(8);
    if total > source.len() {
        if report.count(&rules::SECTIONS_OVERLAP) == 0 {
            let message =
                format!("ids of {total} bytes in a file of {} bytes share bytes", source.len());
            report.push(Finding::new(&rules::SECTIONS_OVERLAP, section.span(0), path, message));
        }
        return None;
    }
    let bytes = source.read(section.offset, section.end().unwrap_or(u64::MAX));
    let mut cursor = Cursor::new(&bytes, FILE, section.offset, header.order);
    let mut ids = Vec::new();
    while let Ok(id) = cursor.u64("id") {
        ids.push(id);
    }
    Some((section, ids))
}
