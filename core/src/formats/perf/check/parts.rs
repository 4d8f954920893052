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
use crate::kit::words::byte_count;
use crate::limits::{Limits, RESYNC};
use crate::mend::edit::{Edit, Fix, Safety};
use crate::report::{Finding, Report, Severity};

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
