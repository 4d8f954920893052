//! Several recordings in one file.

use crate::formats::perf::options::part;
use crate::formats::perf::recover::joined::{is_pipe, take};
use crate::formats::perf::rules;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::Span;
use crate::kit::words::{byte_count, list, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::{Finding, Report};

/// The name of the fact about the number of recordings in a file.
pub(super) const RECORDINGS: &str = "recordings";
/// Recordings that a message describes.
const SHOWN: usize = 4;

/// Checks the first of the recordings `all` of a file, and reports that there are others. All are
/// recordings of their own, so the others are checked when they are alone.
pub(super) fn check(
    files: &FileSet<'_>,
    all: &[Span],
    check_one: impl Fn(&FileSet<'_>, &mut Report),
    options: &Options,
    report: &mut Report,
) {
    let (Some(first), Some(second)) = (all.first(), all.get(1)) else { return };
    let count = to_u64(all.len());
    report.fact(RECORDINGS, count.to_string());
    let kinds: Vec<String> = all.iter().take(SHOWN).map(|one| describe(files, *one)).collect();
    let kinds = list(&kinds, SHOWN, count);
    let message = format!("{} one after the other: {kinds}", plural(count, "recording"));
    let finding = Finding::new(&rules::SEVERAL_RECORDINGS, *second, "file", message);
    let Some(number) = part(&options.choices) else {
        check_one(&take(files, *first), report);
        let how = "keep one recording; repair again with --part 2 and so on to get the others";
        report.push(finding.fix(Fix::manual(how).option("--part 1")));
        return;
    };
    let index = to_usize(number).checked_sub(1);
    let Some(kept) = index.and_then(|index| all.get(index)) else {
        return report.push(finding);
    };
    let end = all.last().map_or(kept.end, |last| last.end);
    let around = [Span { end: kept.start, ..*first }, Span { start: kept.end, end, ..*kept }];
    let around = around.into_iter().filter(|span| !span.is_empty());
    let edits: Vec<Edit> = around.map(Edit::drop).collect();
    let dropped = edits.iter().fold(0_u64, |sum, edit| sum.saturating_add(edit.span.len()));
    let summary = format!("keep recording {number} of {count}, drop {}", byte_count(dropped));
    report.push(finding.fix(Fix::new(Safety::Lossy, summary, edits)));
}

/// Refuses the number of a recording, of `count` in a file, that does not exist or is alone.
pub(super) fn refuse(number: u64, count: u64) -> Result<(), String> {
    if count > 1 && (1..=count).contains(&number) {
        return Ok(());
    }
    let found = plural(count, "recording");
    let were = if count == 1 { "was" } else { "were" };
    Err(format!("--part {number} does not apply: {found} {were} found"))
}

/// A recording as a noun: `a pipe of 6760 bytes`.
fn describe(files: &FileSet<'_>, one: Span) -> String {
    let kind = if is_pipe(files, one) { "a pipe" } else { "a file" };
    format!("{kind} of {}", byte_count(one.len()))
}
