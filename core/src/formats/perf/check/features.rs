//! The features behind the records: their table, their sections, and what they say of the records.

use crate::limits::WINDOW;
use crate::formats::perf::decode::feature::{self, Contents};
use crate::formats::perf::decode::header::{Body, Header, Section};
use crate::formats::perf::layout::{SECTION_SIZE, feature as bit, field};
use crate::formats::perf::repair::{self, Features};
use crate::formats::perf::rules;
use crate::kit::cursor::{Cursor, Order};
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::limits::Limits;
use crate::mend::edit::{Edit, Fix, Safety};
use crate::report::rule::common;
use crate::report::{Finding, Report};

const FILE: Layer = Layer::stored(0);

/// What the records of a recording tell about its features.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// Longest expansion of a compressed record, and ratio.
    pub compressed: Option<(u64, u64)>,
    /// Whether there are records of `perf stat`.
    pub stat: bool,
    /// Whether there are `data.N` files.
    pub directory: bool,
    /// Where the attrs and their ids end; perf inject writes them behind the records.
    pub attrs_end: u64,
    /// Earliest and latest time of a sample.
    pub time: Option<(u64, u64)>,
}

impl Found {
    /// The features that the records need, but for those in `kept`.
    pub fn needed(&self, order: Order, kept: impl Fn(u32) -> bool) -> Vec<repair::NewFeature> {
        repair::needed(self.compressed, self.stat, self.directory, order, kept)
    }
}

/// Name of a feature, or its number.
pub fn title(bit: u32) -> String {
    feature::name(bit).map_or_else(|| format!("feature {bit}"), str::to_string)
}

/// Whether the table at `at` is one: every section lies behind it and inside the file, in order.
///
/// perf reserves room for features that it then leaves out, so that there may be a hole behind the
/// table, but never a section before its end.
pub fn table_is_sound(source: &Source<'_>, header: &Header, body: &Body, at: u64) -> bool {
    let (place, entries) = repair::table(source, body, at, header.order);
    let all = entries.len() == usize::try_from(body.flags.count()).unwrap_or(usize::MAX);
    let mut last = place.end;
    all && entries.iter().all(|(_, section)| {
        let sound = section.fits(source.len())
            && (section.size == 0 && section.offset == 0 || section.offset >= last);
        last = last.max(section.offset);
        sound
    })
}

/// Checks the features of a recording whose records end rightly at `end`.
///
/// Gives those that there are if no fix moves them, so that another one may.
#[expect(
    clippy::too_many_arguments,
    reason = "the recording's parts, and what was learned of them"
)]
pub fn check(
    source: &Source<'_>,
    header: &Header,
    body: &Body,
    end: u64,
    found: &Found,
    fixable: bool,
    limits: &Limits,
    report: &mut Report,
) -> Option<Features> {
    let (table, entries) = repair::table(source, body, end, header.order);
    let mut keep: Vec<(u32, Section)> = Vec::new();
    let mut outside = Vec::new();
    for bit in body.flags.bits() {
        let entry = entries.iter().find(|(of, _)| *of == bit).map(|(_, section)| *section);
        match entry {
            Some(section)
                if section.fits(source.len())
                    && (section.offset >= table.end || section.size == 0) =>
            {
                keep.push((bit, section));
            }
            _ => outside.push((bit, entry)),
        }
    }
    let mut cpus = None;
    let mut malformed: Vec<Finding> = Vec::new();
    let mut readable: Vec<(u32, Section)> = Vec::new();
    for (bit, section) in &keep {
        if feature::name(*bit).is_none() {
            let message = format!("feature {bit} of {} bytes", section.size);
            let path = format!("features[{bit}]");
            report.push(Finding::new(&rules::UNKNOWN_FEATURE, section.span(0), path, message));
            readable.push((*bit, *section));
            continue;
        }
        let contents = contents(source, header, (*bit, *section), cpus, limits, report);
        match contents {
            Read::Sound(contents) => {
                cpus = cpus.or(contents.nr_cpus);
                judge(header, (*bit, *section), &contents, found, report);
            }
            Read::Malformed(finding) => {
                malformed.push(*finding);
                continue;
            }
            Read::PassedOver => {}
        }
        readable.push((*bit, *section));
    }
    let whole = Features { keep: keep.clone(), add: Vec::new() };
    if !outside.is_empty() {
        let mut features = whole;
        let kept = |bit| features.keep.iter().any(|(kept, _)| *kept == bit);
        features.add = found.needed(header.order, kept);
        let edits = match fixable {
            true => repair::rewrite(header, body, source.len(), end, &features, true),
            false => Vec::new(),
        };
        lost(source, &table, &outside, &features.add, edits, report);
        return None;
    }
    let sound = malformed.is_empty();
    if let Some((first, others)) = malformed.split_first() {
        let add = found.needed(header.order, |bit| readable.iter().any(|(kept, _)| *kept == bit));
        let features = Features { keep: readable, add };
        let edits = match fixable {
            true => repair::rewrite(header, body, source.len(), end, &features, true),
            false => Vec::new(),
        };
        // One rewritten table for all of them.
        let summary = format!("drops {} features that cannot be read", malformed.len());
        report.push(first.clone().fix(Fix::new(Safety::Lossy, summary, edits)));
        others.iter().for_each(|finding| report.push(finding.clone()));
    }
    let complete = missing(source, header, body, end, &whole, found, fixable && sound, report);
    // Only one fix of a round may move what lies behind the records.
    let droppable = fixable && sound && complete;
    let ends = trailing(source, &table, &keep, end.max(found.attrs_end), droppable, report);
    (droppable && ends && repair::has_feature_bits(header)).then_some(whole)
}

enum Read {
    Sound(Box<Contents>),
    Malformed(Box<Finding>),
    PassedOver,
}

/// Reads one feature's section.
fn contents(
    source: &Source<'_>,
    header: &Header,
    (bit, section): (u32, Section),
    cpus: Option<u32>,
    limits: &Limits,
    report: &mut Report,
) -> Read {
    let path = format!("features.{}", title(bit));
    // Tracepoint formats and build ids may be many MB; their outline is at the start.
    let held = section.size.min(limits.of(&WINDOW));
    if held < section.size && bit != bit::TRACING_DATA {
        let message = format!("{} of {} bytes, {held} are looked at", title(bit), section.size);
        report.push(Finding::new(&common::LIMIT_REACHED, section.span(0), path, message));
        return Read::PassedOver;
    }
    let bytes = source.read(section.offset, section.offset.saturating_add(held));
    let mut cursor = Cursor::new(&bytes, FILE, section.offset, header.order);
    match feature::body(bit, &mut cursor, cpus) {
        Ok(contents) => Read::Sound(Box::new(contents)),
        Err(error) => {
            let message = format!("{} of {} bytes: {error}", title(bit), section.size);
            let span = section.span(0);
            Read::Malformed(Box::new(Finding::new(&rules::FEATURE_MALFORMED, span, path, message)))
        }
    }
}

/// What a feature says of the records, against the records.
fn judge(
    header: &Header,
    (bit, section): (u32, Section),
    contents: &Contents,
    found: &Found,
    report: &mut Report,
) {
    let order = header.order;
    if let (Some((first, last)), Some((earliest, latest))) = (contents.sample_time, found.time) {
        // Recorded without build ids the samples are never looked at: both times are 0.
        if bit == bit::SAMPLE_TIME && (first, last) != (0, 0) && (first > earliest || last < latest)
        {
            let message =
                format!("SAMPLE_TIME is {first}..{last}, the samples are {earliest}..{latest}");
            let bytes =
                [repair::u64_bytes(earliest, order), repair::u64_bytes(latest, order)].concat();
            let edit = Edit::replace(Span::sized(FILE, section.offset, 16), bytes);
            let summary = format!("writes {earliest} and {latest}");
            let path = "features.SAMPLE_TIME";
            let finding = Finding::new(&rules::SAMPLE_TIME_WRONG, section.span(0), path, message);
            report.push(finding.fix(Fix::new(Safety::Exact, summary, vec![edit])));
        }
    }
    if let (Some(parameters), Some((longest, _))) = (&contents.compressed, found.compressed)
        && u64::from(parameters.mmap_len) < longest
    {
        let wanted = repair::mmap_len(longest);
        let message = format!(
            "mmap_len is {}, a compressed record expands to {longest} bytes",
            parameters.mmap_len
        );
        let span = Span::sized(FILE, section.offset.saturating_add(16), 4);
        let edit = Edit::replace(span, repair::u32_bytes(wanted, order));
        let path = "features.COMPRESSED.mmap_len";
        let finding = Finding::new(&rules::MMAP_LEN_SMALL, span, path, message);
        let summary = format!("writes {wanted}");
        report.push(finding.fix(Fix::new(Safety::Exact, summary, vec![edit])));
    }
}

/// Features whose sections are cut off or lie where none can.
fn lost(
    source: &Source<'_>,
    table: &Span,
    outside: &[(u32, Option<Section>)],
    add: &[repair::NewFeature],
    edits: Vec<Edit>,
    report: &mut Report,
) {
    let names: Vec<String> = outside.iter().map(|(bit, _)| title(*bit)).collect();
    let message = format!(
        "{} of the flagged features lie outside the {} bytes of the file: {}",
        outside.len(),
        source.len(),
        names.join(" ")
    );
    let dropped = edits
        .iter()
        .filter(|edit| edit.span.end == source.len())
        .fold(0_u64, |sum, edit| sum.saturating_add(edit.span.len()));
    let mut summary = format!("clears their bits, drops {dropped} bytes of what is left of them");
    for (bit, _) in add {
        summary.push_str(&format!(", builds {}", title(*bit)));
    }
    let span = if table.is_empty() { Span::sized(FILE, field::FLAGS, 32) } else { *table };
    let finding = Finding::new(&rules::FEATURE_OUTSIDE, span, "features", message);
    report.push(finding.fix(Fix::new(Safety::Lossy, summary, edits)));
}

/// Features that the records need and the header does not name; true if there is none.
#[expect(
    clippy::too_many_arguments,
    reason = "the recording's parts, and what was learned of them"
)]
fn missing(
    source: &Source<'_>,
    header: &Header,
    body: &Body,
    end: u64,
    whole: &Features,
    found: &Found,
    fixable: bool,
    report: &mut Report,
) -> bool {
    let add = found.needed(header.order, |bit| body.flags.has(bit));
    if add.is_empty() {
        return true;
    }
    let names: Vec<String> = add.iter().map(|(bit, _)| title(*bit)).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    let mut message = format!("the records need {}, which {verb} not flagged", names.join(" and "));
    if !repair::has_feature_bits(header) {
        message.push_str(&format!("; a header of {} bytes has no room for flags", header.size));
    }
    let span = Span::sized(FILE, field::FLAGS, 32);
    let mut finding = Finding::new(&rules::FEATURE_MISSING, span, "header.flags", message);
    if fixable && repair::has_feature_bits(header) {
        let features = Features { add, ..whole.clone() };
        let edits = repair::rewrite(header, body, source.len(), end, &features, false);
        let summary = format!("builds {}", names.join(" and "));
        finding = finding.fix(Fix::new(Safety::Synthetic, summary, edits));
    }
    report.push(finding);
    false
}

/// Bytes behind everything that the header and the table name; true if there are none.
fn trailing(
    source: &Source<'_>,
    table: &Span,
    keep: &[(u32, Section)],
    end: u64,
    droppable: bool,
    report: &mut Report,
) -> bool {
    let sections = keep.iter().filter(|(_, section)| section.size > 0);
    let last = sections.filter_map(|(_, section)| section.end()).max().unwrap_or(end);
    // perf reserves a table entry for features that it then leaves out.
    let reserved = if keep.is_empty() { 0 } else { SECTION_SIZE.saturating_mul(32) };
    let after = last.max(table.end).max(end);
    let left = source.len().saturating_sub(after);
    if left == 0 || (last <= table.end && left <= reserved) {
        return true;
    }
    let span = Span::new(FILE, after, source.len());
    let message = format!("{left} bytes follow the last section");
    let summary = format!("drops the {left} bytes");
    let edits = if droppable { vec![Edit::drop(span)] } else { Vec::new() };
    let fix = Fix::new(Safety::Lossy, summary, edits);
    report.push(Finding::new(&rules::TRAILING_BYTES, span, "file", message).fix(fix));
    false
}
