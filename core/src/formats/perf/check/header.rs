//! The judgement of the file header: its size, its magic, and the sections that it names.

use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::layout::{HEADER_SIZE, HEADER_SIZE_OLD, SECTION_SIZE, field};
use crate::formats::perf::rules;
use crate::kit::span::{Layer, Span};
use crate::kit::words::byte_count;
use crate::model::{Finding, Report};

const FILE: Layer = Layer::stored(0);

/// Checks the magic and `header.size`.
pub(super) fn check_size(recording: &Recording<'_>, report: &mut Report) {
    let header = &recording.header;
    if header.version1 {
        let span = Span::sized(FILE, 0, 8);
        let message = "magic is PERFFILE (version 1), expected PERFILE2";
        report.push(Finding::new(&rules::VERSION_1, span, "header.magic", message));
    }
    if header.size == HEADER_SIZE || header.size == HEADER_SIZE_OLD {
        return;
    }
    let message = format!("header.size is {}, expected {HEADER_SIZE}", header.size);
    let span = Span::sized(FILE, field::SIZE, 8);
    report.push(Finding::new(&rules::HEADER_SIZE, span, "header.size", message));
}

/// Checks that the records do not begin inside the header. Returns whether the recording can be
/// read.
pub(super) fn check_data_start(recording: &Recording<'_>, report: &mut Report) -> bool {
    let (start, header_len) = (recording.body.data.offset, recording.header.length());
    if start >= header_len {
        return true;
    }
    let span = Span::sized(FILE, field::DATA, SECTION_SIZE);
    let header_len = byte_count(header_len);
    let message = format!("data.offset is {start:#x}, inside the header of {header_len}");
    report.push(Finding::new(&rules::SECTIONS_OVERLAP, span, "header.data.offset", message));
    report.mark_unreadable();
    false
}

/// Checks that the records begin inside the file. Returns whether the recording can be read.
pub(super) fn check_data_inside(recording: &Recording<'_>, report: &mut Report) -> bool {
    let (start, len) = (recording.body.data.offset, recording.length());
    if start <= len {
        return true;
    }
    let span = Span::sized(FILE, field::DATA, SECTION_SIZE);
    let message = format!("data.offset is {start:#x}, but the file has {}", byte_count(len));
    report.push(Finding::new(&rules::SECTION_OUTSIDE, span, "header.data.offset", message));
    report.mark_unreadable();
    false
}

/// Checks that no two sections share bytes. Reports the first pair that does.
pub(super) fn check_overlaps(recording: &Recording<'_>, ids: &[Section], report: &mut Report) {
    let len = recording.length();
    let mut last: Option<(&str, Section)> = None;
    for (name, section) in named_sections(recording, ids) {
        if let Some((other, before)) = last {
            let shares = before.end().is_none_or(|end| end > section.offset);
            if shares && before != section {
                let message = format!(
                    "overlapping sections: {other} ({} at {:#x}) and {name} ({} at {:#x})",
                    byte_count(before.size),
                    before.offset,
                    byte_count(section.size),
                    section.offset
                );
                // A section may end after the end of the file; a span that is shown may not.
                let shown =
                    |s: Section| Span::new(FILE, s.offset, s.end().unwrap_or(u64::MAX).min(len));
                let finding = Finding::new(&rules::SECTIONS_OVERLAP, shown(section), name, message);
                report.push(finding.related(shown(before), other));
                return;
            }
        }
        last = Some((name, section));
    }
}

/// Returns the sections that the header and the attrs name, in the order of their places.
fn named_sections(recording: &Recording<'_>, ids: &[Section]) -> Vec<(&'static str, Section)> {
    // The rest after complete entries has a finding of its own.
    let complete = |s: Section, entry_len: u64| {
        let rest = s.size.checked_rem(entry_len).unwrap_or(0);
        Section { size: s.size.saturating_sub(rest), ..s }
    };
    let body = &recording.body;
    let mut named = vec![
        ("header", Section { offset: 0, size: HEADER_SIZE_OLD }),
        ("attrs", complete(body.attrs, body.attr_size)),
        ("data", body.data),
        ("event_types", body.event_types),
    ];
    named.extend(ids.iter().map(|section| ("ids", complete(*section, 8))));
    named.retain(|(_, section)| section.size > 0 && section.offset < recording.length());
    named.sort_by_key(|(_, section)| (section.offset, section.size));
    named
}
