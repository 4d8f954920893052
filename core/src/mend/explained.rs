//! The finding of a reading of a whole file, and its fix.

use crate::catalogue;
use crate::kit::num::to_u64;
use crate::kit::race::Decision;
use crate::kit::reading::{Cause, Change, Reading};
use crate::kit::span::{Layer, Span};
use crate::kit::words::{agree, byte_count, join_and, list};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::patch::SourceOffsets;
use crate::model::recording::FileSet;
use crate::model::rule::common;
use crate::model::{Finding, Report, Rule, Severity};

/// Codes that a finding names.
const CODES_SHOWN: usize = 6;
/// Bytes of a block that is not repeated by chance. A smaller one is a copy only if it is proven.
pub(super) const LARGE: u64 = 512;

/// A candidate other than the stored bytes, with its check.
pub(super) struct Read {
    pub(super) reading: Reading,
    pub(super) offsets: SourceOffsets,
    pub(super) report: Report,
    /// Whether more than equal bytes shows the cause, and no error is left.
    pub(super) is_proven: bool,
}

/// Returns the edits that give the bytes of the recorder.
pub(super) fn edits_of(reading: &Reading) -> Vec<Edit> {
    let layer = Layer::stored(reading.file);
    let edit = |change: &Change| {
        let span = Span::new(layer, change.range.start, change.range.end);
        Edit::replace(span, change.insert.clone())
    };
    reading.changes.iter().map(edit).collect()
}

/// Returns the report of a reading, with its finding, in places of the stored files.
///
/// A reading with a rival is not proven.
pub(super) fn describe(
    read: &Read,
    stored: &Report,
    files: &FileSet<'_>,
    has_rival: bool,
) -> Report {
    let Read { reading, offsets, is_proven, .. } = read;
    let mut report = read.report.clone();
    report.length = files.len();
    report.move_spans(|span| {
        let is_moved = span.layer == Layer::stored(reading.file);
        if is_moved { offsets.of_span(span) } else { span }
    });
    let explained = stored.counts().iter().filter(|(code, count)| {
        let left = report.counts().get(*code).copied().unwrap_or(0);
        let is_fault = catalogue::rule(code).is_some_and(|rule| rule.severity > Severity::Info);
        left < **count && is_fault
    });
    let codes: Vec<&str> = explained.map(|(code, _)| *code).collect();
    let total = to_u64(codes.len());
    let note = format!("explains {}", list(&codes, CODES_SHOWN, total));
    let mut finding = build_finding(reading).note(note);
    // Where no size or count shows a length, lost bytes among similar ones look like a small copy.
    let ends = stored.format.is_some_and(|format| format.description().damage.ends_recording);
    let is_small = reading.cause == Cause::Doubled && reading.sizes().0 < LARGE && ends;
    finding = finding.fix(build_fix(reading, *is_proven && !has_rival && !is_small));
    for (span, meaning) in &reading.witnesses {
        finding = finding.related(*span, *meaning);
    }
    report.lead(finding);
    report.finish();
    report
}

/// Returns the report of the stored bytes, with a finding that names the number of readings that
/// fit equally.
pub(super) fn describe_tie(stored: Report, decision: &Decision<Option<Read>, ()>) -> Report {
    let mut stored = stored;
    let leaders = decision.leaders.iter().filter_map(|one| Some(&one.reading.as_ref()?.reading));
    let Some(first) = leaders.clone().next() else { return stored };
    let lengths = leaders.map(|reading| {
        let (dropped, added) = reading.sizes();
        byte_count(dropped.max(added))
    });
    let lengths = join_and(&lengths.collect::<Vec<_>>());
    let fix = Fix::manual(format!("several readings fit equally: {lengths}; none is applied"));
    stored.lead(build_finding(first).fix(fix));
    stored.finish();
    stored
}

/// Returns whether a rule is about a reading of a whole file.
pub(crate) fn is_reading(rule: &Rule) -> bool {
    let rules = [
        &common::DOUBLED_BLOCK,
        &common::INSERTED_BYTES,
        &common::MISSING_BYTES,
        &common::EXCHANGED_BLOCKS,
    ];
    rules.contains(&rule)
}

fn build_finding(reading: &Reading) -> Finding {
    let (dropped, added) = reading.sizes();
    let range = match (reading.cause, reading.changes.first()) {
        (Cause::Exchanged, Some(first)) => first.range.clone(),
        _ => reading.range(),
    };
    let span = Span::new(Layer::stored(reading.file), range.start, range.end);
    let (rule, message) = match reading.cause {
        Cause::Doubled => {
            let first = reading.original().unwrap_or(span.start);
            let size = byte_count(dropped);
            (&common::DOUBLED_BLOCK, format!("duplicate block: {size} at {first:#x} are repeated"))
        }
        Cause::Inserted => {
            let (size, were) = (byte_count(dropped), agree(dropped, "was", "were"));
            let place = match reading.among {
                Some(among) => format!("between {:#x} and {:#x}", among.start, among.end),
                None => format!("at {:#x}", span.start),
            };
            (&common::INSERTED_BYTES, format!("{size} {were} inserted {place}"))
        }
        Cause::Missing => {
            let (size, are) = (byte_count(added), agree(added, "is", "are"));
            (&common::MISSING_BYTES, format!("{size} {are} missing at {:#x}", span.start))
        }
        Cause::Exchanged => {
            let starts = reading.changes.iter().map(|change| format!("{:#x}", change.range.start));
            let starts: Vec<String> = starts.collect();
            let size = match starts.len() {
                2 => format!("of {} ", byte_count(span.len())),
                _ => String::new(),
            };
            let message = format!("blocks {size}are exchanged: {}", join_and(&starts));
            (&common::EXCHANGED_BLOCKS, message)
        }
    };
    Finding::new(rule, reading.among.unwrap_or(span), "file", message)
}

/// Returns the fix of a reading. It is exact if the reading is proven.
fn build_fix(reading: &Reading, is_proven: bool) -> Fix {
    let (dropped, added) = reading.sizes();
    let (safety, summary) = match reading.cause {
        Cause::Doubled => (Safety::Exact, format!("drop the copy of {}", byte_count(dropped))),
        Cause::Inserted => (Safety::Exact, format!("drop {}", byte_count(dropped))),
        Cause::Exchanged if reading.changes.len() == 2 => {
            (Safety::Exact, "exchange the two blocks again".to_string())
        }
        Cause::Exchanged => (Safety::Exact, "exchange the blocks again".to_string()),
        Cause::Missing if reading.is_determined => {
            (Safety::Exact, format!("insert {} as their copies have them", byte_count(added)))
        }
        Cause::Missing => {
            (Safety::Lossy, format!("insert {}, zeros where nothing tells them", byte_count(added)))
        }
    };
    let is_exact = is_proven && reading.is_determined && !reading.witnesses.is_empty();
    let safety = if is_exact { safety } else { Safety::Lossy };
    let fix = Fix::new(safety, summary, edits_of(reading));
    let witnesses = reading.witnesses.iter().cloned();
    witnesses.fold(fix, |fix, (span, meaning)| fix.witness(span, meaning))
}
