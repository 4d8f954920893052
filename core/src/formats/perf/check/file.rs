//! Recordings with a header of sections: where the records end is the question that a crash leaves.

use crate::limits::RESYNC;
use crate::formats::perf::check::donor::{self, Donated};
use crate::formats::perf::check::features::{self, Found};
use crate::formats::perf::check::outline;
use crate::formats::perf::check::pipe::{is_torn, torn_seam};
use crate::formats::perf::check::records::Stream;
use crate::formats::perf::decode::header::{Body, Header, Section};
use crate::formats::perf::decode::walk::{FrameFault, Item, Walker};
use crate::formats::perf::layout::{self, HEADER_SIZE, HEADER_SIZE_OLD, SECTION_SIZE, field};
use crate::formats::perf::repair::{self, Features, Seam};
use crate::formats::perf::rules;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::mend::edit::{Edit, Fix, Safety};
use crate::report::{Finding, Report, Rule};
use crate::{FileSet, Options};

const FILE: Layer = Layer::stored(0);

/// Where the records end, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// As the header says.
    Declared(u64),
    /// The recorder never wrote data.size: the last whole record tells.
    Unfinished,
    /// The file ends before the records do.
    Cut,
    /// At another place, which the features' table (or the end of the file) tells.
    Elsewhere(u64),
}

/// Checks a recording with sections.
pub fn check(
    files: &FileSet<'_>,
    header: &Header,
    body: &Body,
    options: &Options,
    report: &mut Report,
) {
    let source = files.bytes(0);
    header_size(&source, header, body, report);
    let limits = &options.limits;
    let header_len = if header.size == HEADER_SIZE_OLD { HEADER_SIZE_OLD } else { HEADER_SIZE };
    if body.data.offset < header_len {
        let span = Span::sized(FILE, field::DATA, SECTION_SIZE);
        let message = format!(
            "the records begin at {:#x}, inside the {header_len} bytes of the header",
            body.data.offset
        );
        report.push(Finding::new(&rules::SECTIONS_OVERLAP, span, "header.data.offset", message));
        report.mark_unreadable();
        return;
    }
    let (events, ids) = outline::events(&source, header, body, limits, report);
    overlaps(&source, body, &ids, report);
    if body.data.offset > source.len() {
        let span = Span::sized(FILE, field::DATA, SECTION_SIZE);
        let message = format!(
            "the records begin at {:#x}, the file has {} bytes",
            body.data.offset,
            source.len()
        );
        report.push(Finding::new(&rules::SECTION_OUTSIDE, span, "header.data.offset", message));
        report.mark_unreadable();
        return;
    }
    let end = find_end(&source, header, body);
    let area_end = match end {
        End::Declared(end) | End::Elsewhere(end) => end,
        End::Unfinished | End::Cut => source.len(),
    };
    let mut stream = Stream::new(header.order, 0, report.length, limits);
    stream.events = events;
    let traced = stream.events.attrs().iter().any(donor::is_tracepoint)
        && (end == End::Unfinished
            || end == End::Cut
            || !body.flags.has(layout::feature::TRACING_DATA));
    let attrs = stream.events.attrs();
    let donated = files.donor().filter(|_| traced);
    let donated = donated.map(|donor| Donated::take(donor, header.order, attrs, limits));
    if donated.is_some() {
        stream.raw_sizes = donor::raw_sizes(attrs);
    }
    // Fixes inside the records wait until the header around them is right.
    stream.droppable = matches!(end, End::Declared(_)) && ids_before(body, &ids);
    let area = (body.data.offset, area_end);
    let open = matches!(end, End::Unfinished | End::Cut);
    let walker = Walker::new(&source, 0, header.order, false, area).resyncing(limits.of(&RESYNC));
    let mut seam = Seam { end: area_end, ..Seam::default() };
    let mut torn = None;
    let mut damaged = false;
    for item in walker {
        match item {
            Item::Record(record) => stream.stored_record(&record, report),
            // The end of an unfinished recording: one crash, one finding.
            Item::Damage { span, fault, resumes: false } if open => {
                seam = torn_seam(&source, &mut stream, header, span, fault, report);
                torn = Some((span, fault));
            }
            Item::Damage { span, fault, resumes } => {
                damaged = true;
                stream.damage(span, fault, resumes, report);
            }
        }
    }
    stream.finish(report);
    directory(files, &mut stream, header, options, report);
    stream.summarise(report);

    let found = Found {
        compressed: stream.compressed.parameters(),
        stat: stream.stat,
        directory: files.files().len() > 1,
        attrs_end: ids.iter().chain([&body.attrs]).filter_map(|s| s.end()).max().unwrap_or(0),
        time: report.tally.first_time.zip(report.tally.last_time),
    };
    let mut settled = None;
    match end {
        End::Declared(end) => {
            let whole =
                features::check(&source, header, body, end, &found, !damaged, limits, report);
            settled = whole.map(|features| (end, features));
        }
        End::Elsewhere(end) => elsewhere(header, body, end, report),
        End::Unfinished | End::Cut => {
            let rule = if end == End::Cut { &rules::DATA_PAST_END } else { &rules::DATA_SIZE_ZERO };
            let attrs_kept =
                before(body.attrs, seam.end) && ids.iter().all(|s| before(*s, seam.end));
            close(&source, header, body, rule, seam, torn, &found, attrs_kept, report);
        }
    }
    if traced {
        let donated = donated.map(|donated| {
            let donated = donated?;
            donated.fits(stream.events.attrs(), &stream.raw_sizes)?;
            Ok(donated)
        });
        tracing_data(&source, header, body, donated, settled, report);
    }
}

/// Tracepoints without their descriptions, which only a donor has.
fn tracing_data(
    source: &Source<'_>,
    header: &Header,
    body: &Body,
    donated: Option<Result<Donated, String>>,
    settled: Option<(u64, Features)>,
    report: &mut Report,
) {
    let span = Span::sized(FILE, field::FLAGS, 8);
    let message = "tracepoint events, and no TRACING_DATA";
    let mut finding = Finding::new(&rules::TRACING_DATA_MISSING, span, "header.flags", message);
    match donated {
        Some(Ok(donated)) if repair::has_feature_bits(header) => {
            let summary = donor::summary(&donated);
            let edits = settled.map(|(end, mut features)| {
                let kept = |bit| features.keep.iter().any(|(kept, _)| *kept == bit);
                let add = vec![(layout::feature::TRACING_DATA, donated.bytes)];
                features.add = repair::with_hostname(add, header.order, kept);
                repair::rewrite(header, body, source.len(), end, &features, false)
            });
            // Until the records end where the header says, the features have no place.
            finding = finding.fix(Fix::new(Safety::Synthetic, summary, edits.unwrap_or_default()));
        }
        Some(Err(why)) => {
            let why = format!("nothing is taken from the donor: {why}");
            finding = finding.fix(Fix::manual(why));
        }
        _ => {
            finding = finding.fix(Fix::manual(
                "only a whole recording of the same kernel and events holds what is missing \
                 (perf record -e EVENTS -- true): give it with repair --donor FILE",
            ));
        }
    }
    report.push(finding);
}

fn before(section: Section, end: u64) -> bool {
    section.size == 0 || section.end().is_some_and(|section_end| section_end <= end)
}

/// Whether nothing that holds absolute offsets lies behind the start of the records.
fn ids_before(body: &Body, ids: &[Section]) -> bool {
    let start = body.data.offset;
    before(body.attrs, start)
        && before(body.event_types, start)
        && ids.iter().all(|section| before(*section, start))
        && !body.flags.has(18)
}

fn header_size(source: &Source<'_>, header: &Header, body: &Body, report: &mut Report) {
    if header.version1 {
        let message = "the magic is PERFFILE";
        let span = Span::sized(FILE, 0, 8);
        report.push(Finding::new(&rules::VERSION_1, span, "header.magic", message));
    }
    if header.size == HEADER_SIZE || header.size == HEADER_SIZE_OLD {
        return;
    }
    let message = format!("header.size is {}", header.size);
    let span = Span::sized(FILE, field::SIZE, 8);
    let mut finding = Finding::new(&rules::HEADER_SIZE, span, "header.size", message);
    let plausible =
        [body.attrs, body.data].iter().all(|s| s.offset >= HEADER_SIZE && s.offset <= source.len())
            && body.attrs.fits(source.len());
    if plausible {
        let edit = repair::header_u64(field::SIZE, HEADER_SIZE, header.order);
        let summary = format!("writes {HEADER_SIZE}, behind which all sections lie");
        finding = finding.fix(Fix::new(Safety::Exact, summary, vec![edit]));
    }
    report.push(finding);
}

/// Sections of the header that share bytes.
fn overlaps(source: &Source<'_>, body: &Body, ids: &[Section], report: &mut Report) {
    let header = Section { offset: 0, size: HEADER_SIZE_OLD };
    // What is left over behind whole entries is a finding of its own.
    let whole = |s: Section, entry: u64| {
        let rest = s.size.checked_rem(entry).unwrap_or(0);
        Section { size: s.size.saturating_sub(rest), ..s }
    };
    let attrs = whole(body.attrs, body.attr_size);
    let mut named: Vec<(&str, Section)> = vec![("header", header), ("attrs", attrs)];
    named.push(("data", body.data));
    named.push(("event_types", body.event_types));
    named.extend(ids.iter().map(|section| ("ids", whole(*section, 8))));
    named.retain(|(_, section)| section.size > 0 && section.offset < source.len());
    named.sort_by_key(|(_, section)| (section.offset, section.size));
    let mut last: Option<(&str, Section)> = None;
    for (name, section) in named {
        if let Some((other, before)) = last {
            let shared = before.end().is_none_or(|end| end > section.offset);
            if shared && before != section {
                let message = format!(
                    "{other} ({} bytes at {:#x}) and {name} ({} bytes at {:#x}) share bytes",
                    before.size, before.offset, section.size, section.offset
                );
                // A section may reach behind the end of the file; what is shown may not.
                let shown = |s: Section| {
                    Span::new(FILE, s.offset, s.end().unwrap_or(u64::MAX).min(source.len()))
                };
                let finding = Finding::new(&rules::SECTIONS_OVERLAP, shown(section), name, message);
                report.push(finding.related(shown(before), other));
                return;
            }
        }
        last = Some((name, section));
    }
}

/// Where the records end.
fn find_end(source: &Source<'_>, header: &Header, body: &Body) -> End {
    let Some(declared) = body.data.end().filter(|end| *end <= source.len()) else {
        return End::Cut;
    };
    if body.flags.count() > 0 && features::table_is_sound(source, header, body, declared) {
        return End::Declared(declared);
    }
    if body.data.size == 0 {
        return End::Unfinished;
    }
    if body.flags.count() == 0 && (declared == source.len() || header.size == HEADER_SIZE_OLD) {
        return End::Declared(declared);
    }
    search_end(source, header, body, declared)
}

/// Looks for a place behind a whole record where the features' table would be right.
fn search_end(source: &Source<'_>, header: &Header, body: &Body, declared: u64) -> End {
    let area = (body.data.offset, source.len());
    let mut end = body.data.offset;
    let mut on_boundary = end == declared;
    for item in Walker::new(source, 0, header.order, false, area) {
        let Item::Record(record) = item else { break };
        end = record.end();
        on_boundary |= end == declared;
        if body.flags.count() > 0 && features::table_is_sound(source, header, body, end) {
            return End::Elsewhere(end);
        }
    }
    // Without features nothing but the records themselves can tell: to the end of the file.
    if body.flags.count() == 0 && end == source.len() && !on_boundary {
        return End::Elsewhere(end);
    }
    End::Declared(declared)
}

/// data.size is not where the features are.
fn elsewhere(header: &Header, body: &Body, end: u64, report: &mut Report) {
    let size = end.saturating_sub(body.data.offset);
    let message =
        format!("data.size is {}, the records end after {size} bytes at {end:#x}", body.data.size);
    let edit = repair::header_u64(field::DATA_SIZE, size, header.order);
    let finding =
        Finding::new(&rules::DATA_SIZE_WRONG, repair::size_field(), "header.data.size", message)
            .related(Span::sized(FILE, end, 0), "the features' table")
            .fix(Fix::new(Safety::Exact, format!("writes {size}"), vec![edit]));
    report.push(finding);
}

/// A recording that was never finished, or was cut: closes it behind its last whole record.
#[expect(clippy::too_many_arguments, reason = "everything that was learned on the way to the end")]
fn close(
    source: &Source<'_>,
    header: &Header,
    body: &Body,
    rule: &'static Rule,
    seam: Seam,
    torn: Option<(Span, FrameFault)>,
    found: &Found,
    attrs_kept: bool,
    report: &mut Report,
) {
    let names: Vec<String> = body.flags.bits().map(features::title).collect();
    let end = seam.end;
    let dropped = source.len().saturating_sub(end);
    let mut message = match *rule == rules::DATA_PAST_END {
        true => format!(
            "the records should have {} bytes, the file ends after {}",
            body.data.size,
            source.len().saturating_sub(body.data.offset)
        ),
        false => format!(
            "data.size is 0, {} bytes of records follow",
            end.saturating_sub(body.data.offset)
        ),
    };
    if !names.is_empty() {
        message.push_str(&format!("; {} features are flagged and not there", names.len()));
    }
    let mut finding = Finding::new(rule, repair::size_field(), "header.data.size", message);
    if !names.is_empty() {
        let span = Span::sized(FILE, field::FLAGS, 32);
        finding = finding.related(span, "flags");
    }
    if let Some((span, fault)) = torn {
        let (_, what) = super::records::describe(fault, span);
        let label = if is_torn(fault) { format!("torn: {what}") } else { what };
        finding = finding.related(span, label);
    }
    if !attrs_kept || end <= body.data.offset {
        // Without a whole record there is nothing to close.
        report.push(finding);
        return;
    }
    let add = match repair::has_feature_bits(header) {
        true => found.needed(header.order, |_| false),
        false => Vec::new(),
    };
    let size = end.saturating_sub(body.data.offset).saturating_add(to_u64(seam.padding.len()));
    let mut summary = format!("writes data.size {size}");
    if !names.is_empty() {
        summary.push_str(&format!(", clears {} feature bits", names.len()));
    }
    for (bit, _) in &add {
        summary.push_str(&format!(", builds {}", features::title(*bit)));
    }
    if dropped > 0 {
        summary.push_str(&format!(", drops {dropped} bytes that make no whole record"));
    }
    let safety = match (dropped > 0, add.is_empty()) {
        (true, _) => Safety::Lossy,
        (false, false) => Safety::Synthetic,
        (false, true) => Safety::Exact,
    };
    let edits = repair::close(header, body, source.len(), seam, add);
    report.push(finding.fix(Fix::new(safety, summary, edits)));
}

/// The `data.N` files of `perf record --threads`: records without a header.
fn directory(
    files: &FileSet<'_>,
    stream: &mut Stream<'_>,
    header: &Header,
    options: &Options,
    report: &mut Report,
) {
    for (index, file) in (0_u32..).zip(files.files()).skip(1) {
        stream.next_file(index);
        stream.droppable = true;
        let area = (0, file.bytes.len());
        let walker = Walker::new(&file.bytes, index, header.order, false, area);
        for item in walker.resyncing(options.limits.of(&RESYNC)) {
            match item {
                Item::Record(record) => stream.stored_record(&record, report),
                Item::Damage { span, fault, resumes: false } if is_torn(fault) => {
                    let (_, message) = super::records::describe(fault, span);
                    let summary = format!("drops the {} bytes of the cut record", span.len());
                    let fix = Fix::new(Safety::Lossy, summary, vec![Edit::drop(span)]);
                    let path = format!("data.{}", index.saturating_sub(1));
                    report.push(Finding::new(&rules::TORN_RECORD, span, path, message).fix(fix));
                }
                Item::Damage { span, fault, resumes } => {
                    stream.damage(span, fault, resumes, report);
                }
            }
        }
        stream.finish(report);
    }
}
