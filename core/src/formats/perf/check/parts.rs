//! The `data.N` files of `perf record --threads`: records without a header.

use super::faults::describe;
use super::stream::Stream;
use crate::formats::perf::decode::recording::{RecordFile, Recording};
use crate::formats::perf::decode::walk::Damage;
use crate::formats::perf::layout::{feature, field};
use crate::formats::perf::rules;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::kit::walk::Item;
use crate::kit::words::{byte_count, join_and};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::limits::{Limits, RESYNC};
use crate::model::{Finding, Report, Severity};

/// Checks all files with records but no header, and whether one is missing.
pub(super) fn check(
    recording: &Recording<'_>,
    stream: &mut Stream<'_>,
    limits: &Limits,
    report: &mut Report,
) {
    check_names(recording, report);
    let parts = &recording.parts;
    let events = stream.records.events.sample_copy().filter(|_| !parts.is_empty());
    for part in parts {
        stream.begin_file(part.index());
        stream.records.can_drop = true;
        let mut items = part.records((0, part.length()), limits.of(&RESYNC));
        if let Some(events) = &events {
            items = items.judged_by(events);
        }
        for item in items {
            match item {
                Item::Record(record) => stream.check_record(&record, report),
                Item::Damage(damage) if !damage.resumes && damage.fault.is_truncation() => {
                    push_truncated(part, &damage, report);
                }
                Item::Damage(damage) => stream.push_damage(&damage, report),
            }
        }
        stream.end_file(report);
    }
    if !parts.is_empty() {
        check_copies(parts, report);
        check_ends(recording, stream, report);
    }
}

/// Parts of one length that are compared with a part.
const MOST_COMPARED: usize = 8;
/// Parts below this length hold no sample.
const LEAST_COPY: u64 = 64;

/// Reports a part that has the bytes of another one: each sample was recorded once.
fn check_copies(parts: &[RecordFile<'_>], report: &mut Report) {
    for (index, part) in parts.iter().enumerate() {
        let before = parts.iter().take(index);
        let alike = before.filter(|other| other.length() == part.length());
        let mut alike = alike.filter(|_| part.length() >= LEAST_COPY).take(MOST_COMPARED);
        let Some(original) = alike.find(|other| other.has_bytes_of(part)) else { continue };
        let [name, other] =
            [part, original].map(|file| Untrusted(file.name().as_bytes()).to_string());
        let message = format!("{name} is a copy of {other}: perf shows its samples twice");
        let span = Span::sized(part.layer(), 0, part.length());
        let mut finding = Finding::new(&rules::PART_MISSING, span, name, message);
        finding.severity = Severity::Warning;
        report.push(finding);
    }
}

/// Reports that the first or the last sample is missing: SAMPLE_TIME has its time. A part without
/// any record is usual, since no event may occur on a CPU.
fn check_ends(recording: &Recording<'_>, stream: &Stream<'_>, report: &mut Report) {
    let Some((side, time)) = stream.records.times.find_lost() else { return };
    if report.has_errors() {
        return;
    }
    let empty: Vec<String> = recording
        .parts
        .iter()
        .filter(|part| part.length() == 0)
        .map(|part| Untrusted(part.name().as_bytes()).to_string())
        .collect();
    let mut message = format!(
        "the records of a thread are missing: no sample has the time of the {side}, {time}"
    );
    if !empty.is_empty() {
        message.push_str(&format!("; empty: {}", join_and(&empty)));
    }
    let span = Span::sized(Layer::stored(0), field::FLAGS, 32);
    let mut finding = Finding::new(&rules::PART_MISSING, span, "features.SAMPLE_TIME", message);
    finding.severity = Severity::Warning;
    report.push(finding);
}

/// Checks that the files are those that the recorder writes: one per thread, numbered from 0.
fn check_names(recording: &Recording<'_>, report: &mut Report) {
    if recording.parts.is_empty() {
        if recording.body.flags.has(feature::DIR_FORMAT) {
            let span = Span::sized(Layer::stored(0), field::FLAGS, 32);
            let message = "missing data.0: the records of the threads lie in files beside this one";
            report.push(Finding::new(&rules::PART_MISSING, span, "header.flags", message));
        }
        return;
    }
    for (expected, part) in (0_u64..).zip(&recording.parts) {
        let name = Untrusted(part.name().as_bytes()).to_string();
        let number = part.name().strip_prefix("data.").and_then(|text| text.parse::<u64>().ok());
        let message = match number {
            Some(number) if number == expected => continue,
            Some(_) => format!("missing data.{expected}: the next file is {name}"),
            None => format!("{name} has no number, but perf reads it as records"),
        };
        let span = Span::sized(part.layer(), 0, 0);
        let mut finding = Finding::new(&rules::PART_MISSING, span, name, message);
        finding.severity = Severity::Warning;
        report.push(finding);
        // Further gaps have the same cause.
        return;
    }
}

fn push_truncated(part: &RecordFile<'_>, damage: &Damage, report: &mut Report) {
    let (_, message) = describe(damage.fault, damage.span);
    let summary = format!("drop {} of the truncated record", byte_count(damage.span.len()));
    let fix = Fix::new(Safety::Lossy, summary, vec![Edit::drop(damage.span)]);
    let name = Untrusted(part.name().as_bytes()).to_string();
    report.push(Finding::new(&rules::TRUNCATED_RECORD, damage.span, name, message).fix(fix));
}
