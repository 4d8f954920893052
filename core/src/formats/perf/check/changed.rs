//! Damaged zstd blocks: the fix that sets the byte that was changed, or that writes the records
//! that are known although a block is damaged.

use super::file::can_records_move;
use crate::formats::perf::decode::attrs;
use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::recording::{RecordFile, Recording};
use crate::formats::perf::decode::walk::Damage;
use crate::formats::perf::layout::{HEADER_SIZE_PIPE, record as kind};
use crate::formats::perf::recover::changed::{self, ChangedByte, DamagedBlock};
use crate::formats::perf::recover::end::End;
use crate::formats::perf::recover::outline::Outline;
use crate::formats::perf::recover::partly::{self, PartlyKnown};
use crate::formats::perf::{repair, rules};
use crate::kit::num::to_u64;
use crate::kit::walk::Item;
use crate::kit::words::{join_and, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::limits::{Limits, RESYNC};
use crate::model::{Finding, Report};

/// Gives an invalid block in a file with sections the fix, if there is one.
/// `can_move` tells whether records may move in this round.
pub(super) fn offer(
    recording: &Recording<'_>,
    can_move: bool,
    limits: &Limits,
    report: &mut Report,
) {
    let files = [&recording.file].into_iter().chain(&recording.parts);
    let damaged: Vec<&RecordFile<'_>> = files.filter(|file| has_damage(file, report)).collect();
    if damaged.is_empty() {
        return;
    }
    let Outline { attrs, events, end, .. } = Outline::gather(recording, limits);
    let is_settled = can_move
        && matches!(end, End::Declared(_))
        && can_records_move(recording, &attrs.id_sections());
    for file in damaged {
        let area = match file.index() {
            0 => (recording.body.data.offset, end.area_end(recording.length())),
            _ => (0, file.length()),
        };
        let can_move = is_settled || file.index() > 0;
        Blocks { file, area, events: &events, limits }.offer(can_move, report);
    }
}

/// The same for a pipe.
pub(super) fn offer_pipe(file: &RecordFile<'_>, limits: &Limits, report: &mut Report) {
    if has_damage(file, report) {
        let events = attrs::gather_events(file, Events::new(file.order()), limits);
        let area = (HEADER_SIZE_PIPE, file.length());
        Blocks { file, area, events: &events, limits }.offer(true, report);
    }
}

fn has_damage(file: &RecordFile<'_>, report: &Report) -> bool {
    report.findings().iter().any(|finding| is_block(file, finding))
}

/// Whether a finding is an invalid or an incomplete block of a file.
fn is_block(file: &RecordFile<'_>, finding: &Finding) -> bool {
    let is_rule = *finding.rule == rules::ZSTD_BROKEN || *finding.rule == rules::ZSTD_TRUNCATED;
    is_rule && finding.span.layer == file.layer()
}

/// The compressed records of a file.
struct Blocks<'a> {
    file: &'a RecordFile<'a>,
    area: (u64, u64),
    events: &'a Events,
    limits: &'a Limits,
}

impl Blocks<'_> {
    fn offer(&self, can_move: bool, report: &mut Report) {
        let (file, area) = (self.file, self.area);
        let room = repair::room_of(file, self.limits);
        let block = changed::find(file, area, room, self.events, self.limits);
        if let Some(found) = block.as_ref().and_then(DamagedBlock::changed_byte) {
            // A changed length of a block shows in the record after it.
            let fix = set_byte(&found);
            report.offer(fix, |one| is_block(file, one) && one.span.end > found.record.start);
        } else if let Some(known) = self.expand_known(block, can_move, report) {
            let fix = write_known(known);
            let fix = if can_move {
                fix
            } else {
                Fix::manual(format!("{}, when the other errors are fixed", fix.summary))
            };
            report.offer(fix, |finding| is_block(file, finding));
        }
    }

    fn expand_known(
        &self,
        block: Option<DamagedBlock>,
        can_move: bool,
        report: &mut Report,
    ) -> Option<PartlyKnown> {
        let (file, area) = (self.file, self.area);
        let mut items = file.records(area, self.limits.of(&RESYNC));
        // Fixes of the bytes between records come first, and of AUX data the places are listed.
        let is_in_the_way = |item: Item<Record<'_>, Damage>| match item {
            Item::Record(record) => record.frame.kind == kind::AUXTRACE,
            Item::Damage(damage) => damage.resumes || can_move,
        };
        if items.any(is_in_the_way) {
            return None;
        }
        let room = repair::room_of(file, self.limits);
        let known = partly::expand(file, area, room, block?, (self.events, self.limits))?;
        report.tally.expanded = report.tally.expanded.max(known.expanded);
        Some(known)
    }
}

fn set_byte(found: &ChangedByte) -> Fix {
    let (span, value) = (found.span, found.value);
    let mut summary = format!(
        "set the byte at {:#x} to {value:#04x}: with this value the block expands, and {} follow \
         one another",
        span.start,
        plural(found.records, "record")
    );
    if found.doubtful > 0 {
        let samples = plural(found.doubtful, "sample");
        summary.push_str(&format!("; {samples} may have wrong values"));
    }
    Fix::new(Safety::Lossy, summary, vec![Edit::replace(span, vec![value])])
}

/// Writes the known records instead of the compressed ones.
fn write_known(known: PartlyKnown) -> Fix {
    let PartlyKnown { packed, kept, dropped, lost, .. } = known;
    let mut gone = Vec::new();
    if dropped > 0 {
        gone.push(format!("{} with unknown bytes", plural(dropped, "record")));
    }
    if lost > 0 {
        gone.push(format!("{} that cannot be expanded", plural(lost, "compressed record")));
    }
    let gone = match gone.is_empty() {
        true => String::new(),
        false => format!(", drop {}", join_and(&gone)),
    };
    let summary = format!(
        "write the {} that are known in {} as they are{gone}",
        plural(kept, "record"),
        plural(to_u64(packed.len()), "compressed record")
    );
    let edits = packed.into_iter().map(|(span, records)| Edit::replace(span, records)).collect();
    let fix = Fix::new(Safety::Lossy, summary, edits);
    Fix { records_lost: dropped.saturating_add(lost), ..fix }
}
