//! Damage of records inside compressed records: the fix that writes all of them as they are.

use super::file::can_records_move;
use crate::formats::perf::decode::attrs;
use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::recording::{RecordFile, Recording};
use crate::formats::perf::layout::HEADER_SIZE_PIPE;
use crate::formats::perf::repair::{self, Unpacked};
use crate::formats::perf::rules;
use crate::kit::num::to_u64;
use crate::kit::words::plural;
use crate::model::edit::{Fix, Safety};
use crate::model::limits::Limits;
use crate::model::{Finding, Report, Severity};

/// Gives an error inside the compressed records of a file with sections the fix, if the places of
/// the records are right. The files of a directory have compressed records of their own.
pub(super) fn offer(recording: &Recording<'_>, limits: &Limits, report: &mut Report) {
    let has_damage = |file: &RecordFile<'_>| report.findings().iter().any(|one| is_in(file, one));
    let files = [&recording.file].into_iter().chain(&recording.parts);
    let damaged: Vec<&RecordFile<'_>> = files.filter(|file| has_damage(file)).collect();
    if damaged.is_empty() {
        return;
    }
    let data = recording.body.data;
    let (events, table) = attrs::read_table(recording, limits);
    let is_ended = data.size > 0 && data.fits(recording.length());
    for file in damaged {
        let area = match file.index() {
            0 if is_ended && can_records_move(recording, &table.id_sections()) => {
                (data.offset, data.end().unwrap_or(data.offset))
            }
            0 => continue,
            _ => (0, file.length()),
        };
        offer_file(file, area, &events, limits, report);
    }
}

/// The same for a pipe.
pub(super) fn offer_pipe(file: &RecordFile<'_>, limits: &Limits, report: &mut Report) {
    if report.findings().iter().any(|finding| is_in(file, finding)) {
        let events = attrs::gather_events(file, Events::new(file.order()), limits);
        offer_file(file, (HEADER_SIZE_PIPE, file.length()), &events, limits, report);
    }
}

/// Whether a finding is an error inside the compressed records of a file.
fn is_in(file: &RecordFile<'_>, finding: &Finding) -> bool {
    finding.severity == Severity::Error && finding.span.layer == file.layer().expanded()
}

fn offer_file(
    file: &RecordFile<'_>,
    area: (u64, u64),
    events: &Events,
    limits: &Limits,
    report: &mut Report,
) {
    // Its own fix drops everything that follows.
    let is_broken = |finding: &Finding| *finding.rule == rules::EXPANDED_BROKEN;
    let lacks_fix = |finding: &Finding| finding.fix.as_ref().is_none_or(|fix| fix.edits.is_empty());
    let mut inside = report.findings().iter().filter(|finding| is_in(file, finding));
    let has_broken = inside.clone().any(is_broken);
    if !has_broken && !inside.any(lacks_fix) {
        return;
    }
    let expanded = &mut report.tally.expanded;
    let Some(unpacked) = repair::unpack(file, area, expanded, events, limits) else { return };
    let fix = write_unpacked(unpacked);
    report.offer(fix, |finding| {
        is_in(file, finding) && if has_broken { is_broken(finding) } else { lacks_fix(finding) }
    });
}

/// Writes the records that are believed instead of the compressed ones.
fn write_unpacked(unpacked: Unpacked) -> Fix {
    let Unpacked { edits, records, dropped, doubtful } = unpacked;
    let mut summary = format!(
        "write the {} in {} as they are",
        plural(records, "record"),
        plural(to_u64(edits.len()), "compressed record")
    );
    if dropped > 0 {
        let others = plural(dropped, "record");
        summary.push_str(&format!(", drop {others} that the others contradict"));
    }
    if doubtful > 0 {
        let samples = plural(doubtful, "kept sample");
        summary.push_str(&format!("; {samples} may have wrong values"));
    }
    let fix = Fix::new(Safety::Lossy, summary, edits);
    Fix { records_lost: dropped, ..fix }
}
