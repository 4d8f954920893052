//! Recordings written to a pipe: a 16-byte header, and records that carry attrs and features.

use crate::limits::RESYNC;
use crate::formats::perf::limits::IDS;
use crate::formats::perf::limits::ATTRS;
use crate::formats::perf::check::outline;
use crate::formats::perf::check::records::Stream;
use crate::formats::perf::decode::attr;
use crate::formats::perf::decode::header::Header;
use crate::formats::perf::decode::walk::{FrameFault, Item, Record, Walker};
use crate::formats::perf::layout::{self, HEADER_SIZE_PIPE, RECORD_HEADER, record};
use crate::formats::perf::{repair, rules};
use crate::kit::cursor::Cursor;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::{Layer, Span};
use crate::limits::Limits;
use crate::mend::edit::{Edit, Fix, Safety};
use crate::report::rule::common;
use crate::report::{Finding, Report};
use crate::{FileSet, Options};

/// Checks a pipe recording.
pub fn check(files: &FileSet<'_>, header: &Header, options: &Options, report: &mut Report) {
    let source = files.bytes(0);
    let limits = &options.limits;
    let mut stream = Stream::new(header.order, 0, source.len(), limits);
    let area = (HEADER_SIZE_PIPE, source.len());
    let walker = Walker::new(&source, 0, header.order, true, area).resyncing(limits.of(&RESYNC));
    let mut tracing = false;
    for item in walker {
        match item {
            Item::Record(item) => {
                match item.frame.kind {
                    record::HEADER_ATTR => event(&item, &mut stream, header, limits, report),
                    record::TRACING_DATA => tracing = true,
                    _ => {}
                }
                stream.stored_record(&item, report);
            }
            Item::Damage { span, fault, resumes: false } if is_torn(fault) => {
                tail(files, &mut stream, header, span, fault, report);
            }
            Item::Damage { span, fault, resumes } => stream.damage(span, fault, resumes, report),
        }
    }
    stream.finish(report);
    stream.summarise(report);
    if stream.events.attrs().is_empty() {
        let span = Span::new(Layer::stored(0), HEADER_SIZE_PIPE.min(source.len()), source.len());
        let message = format!("none of {} records is a HEADER_ATTR", report.tally.records);
        report.push(Finding::new(&rules::NO_ATTRS, span, "data", message));
    }
    let tracepoints = stream.events.attrs().iter().any(|attr| attr.kind == layout::TYPE_TRACEPOINT);
    if tracepoints && !tracing {
        let span = Span::new(Layer::stored(0), 0, HEADER_SIZE_PIPE.min(source.len()));
        let message = "tracepoint events, and no TRACING_DATA record";
        report.push(Finding::new(&rules::TRACING_DATA_MISSING, span, "data", message));
    }
}

/// Whether a fault at the end means that the file was cut.
pub const fn is_torn(fault: FrameFault) -> bool {
    matches!(
        fault,
        FrameFault::HeaderTorn | FrameFault::PastEnd(_) | FrameFault::PayloadPastEnd(..)
    )
}

/// The cut record at the end: of a compressed one, the whole blocks stay.
fn tail(
    files: &FileSet<'_>,
    stream: &mut Stream<'_>,
    header: &Header,
    span: Span,
    fault: FrameFault,
    report: &mut Report,
) {
    let source = files.bytes(0);
    let seam = torn_seam(&source, stream, header, span, fault, report);
    let (_, message) = super::records::describe(fault, span);
    let mut edits = seam.edits;
    let dropped = span.end.saturating_sub(seam.end);
    edits.push(Edit::replace(Span::new(span.layer, seam.end, span.end), seam.padding));
    let summary = match dropped == span.len() {
        true => format!("drops the {dropped} bytes of the cut record"),
        false => format!(
            "keeps the whole blocks of the cut compressed record and drops its last {dropped} bytes"
        ),
    };
    let finding = Finding::new(&rules::TORN_RECORD, span, "data.record[last]", message);
    report.push(finding.fix(Fix::new(Safety::Lossy, summary, edits)));
}

/// Where the records end for good: before the torn one, or inside it behind its last whole block.
pub fn torn_seam(
    source: &crate::kit::source::Source<'_>,
    stream: &mut Stream<'_>,
    header: &Header,
    span: Span,
    fault: FrameFault,
    report: &mut Report,
) -> repair::Seam {
    let plain = repair::Seam { end: span.start, ..repair::Seam::default() };
    let FrameFault::PastEnd(frame) = fault else { return plain };
    let two = frame.kind == record::COMPRESSED2;
    if frame.kind != record::COMPRESSED && !two {
        return plain;
    }
    // A record is below 64 KiB, so that its rest can be held.
    let bytes = source.read(span.start, span.end.min(span.start.saturating_add(frame.size)));
    let good = stream.torn_compressed(span.start, &bytes, two, report);
    good.and_then(|good| repair::cut_compressed(span.start, two, good, header.order))
        .unwrap_or(plain)
}

/// An attr with its ids, from a HEADER_ATTR record.
fn event(
    item: &Record<'_>,
    stream: &mut Stream<'_>,
    header: &Header,
    limits: &Limits,
    report: &mut Report,
) {
    let span = Span::sized(Layer::stored(0), item.offset, item.frame.size);
    if to_u64(stream.events.attrs().len()) >= limits.of(&ATTRS)
        || stream.events.id_count().saturating_add(item.frame.size >> 3) > limits.of(&IDS)
    {
        if !stream.events.partial() {
            let message = format!("more than {} attrs or {} ids", limits.of(&ATTRS), limits.of(&IDS));
            report.push(Finding::new(&common::LIMIT_REACHED, span, "data", message));
        }
        stream.events.mark_partial();
        return;
    }
    let body = item.bytes.get(to_usize(RECORD_HEADER)..).unwrap_or_default();
    let start = item.offset.saturating_add(RECORD_HEADER);
    let mut cursor = Cursor::new(body, Layer::stored(0), start, header.order);
    // A body that is no attr is a finding of the record itself.
    let Ok(attr) = attr::attr(&mut cursor, header.order) else { return };
    let path = format!("data.attr[{}]", stream.events.attrs().len());
    outline::judge(&attr, span, &path, report);
    let mut ids = Vec::new();
    while let Ok(id) = cursor.u64("id") {
        ids.push(id);
    }
    stream.events.push(attr, ids);
}
