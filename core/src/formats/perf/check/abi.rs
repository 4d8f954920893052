//! Attrs that are larger than the user asks for.

use crate::formats::perf::decode::attrs::read_table;
use crate::formats::perf::decode::recording::{RecordFile, Recording};
use crate::formats::perf::options::AskedAttrs;
use crate::formats::perf::recover::restore::{LargeAttr, LargeAttrs, Obstacle};
use crate::formats::perf::{options, repair, rules};
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::words::{byte_count, plural};
use crate::model::edit::Fix;
use crate::model::options::{Allow, Options};
use crate::model::{Finding, Report, Severity};

/// Reports the attrs of a file if they are larger than asked for.
pub(super) fn check_sections(recording: &Recording<'_>, options: &Options, report: &mut Report) {
    let Some(asked) = options::asked_attrs(options) else { return };
    let (_, table) = read_table(recording, &options.limits);
    let large = LargeAttrs::of_sections(recording, &table, asked.size.into());
    let fix = |large: &LargeAttrs| repair::shrink_sections(recording, &table, large, asked.size);
    let is_refused = options::asked_version(options).is_some();
    let severity = if is_refused { Severity::Error } else { rules::ATTR_LARGER.severity };
    push((&asked, options), severity, large, fix, report);
}

/// Reports the attrs of a pipe if they are larger than asked for. perf 6.1 does not refuse them
/// there, but takes the ids from the place at which they begin in its own.
pub(super) fn check_pipe(file: &RecordFile<'_>, options: &Options, report: &mut Report) {
    let Some(asked) = options::asked_attrs(options) else { return };
    let large = LargeAttrs::of_pipe(file, asked.size.into(), &options.limits);
    let fix = |large: &LargeAttrs| repair::shrink_records(large, asked.size, file.order());
    push((&asked, options), rules::ATTR_LARGER.severity, large, fix, report);
}

fn push(
    (asked, options): (&AskedAttrs, &Options),
    severity: Severity,
    large: Result<LargeAttrs, Obstacle>,
    fix: impl FnOnce(&LargeAttrs) -> Fix,
    report: &mut Report,
) {
    let large = match large {
        Ok(large) => large,
        Err(obstacle) => return report.push(refuse(asked, obstacle)),
    };
    let Some(LargeAttr { at, size: found }) = large.attrs.first().copied() else { return };
    let count = plural(to_u64(large.attrs.len()), "attr");
    let (found_size, most) = (byte_count(found), byte_count(asked.size.into()));
    let option = &asked.option;
    let message = format!("{count} of {found_size}, more than the {most} asked for with {option}");
    let span = Span::sized(Layer::stored(0), at, found);
    let finding = Finding::new(&rules::ATTR_LARGER, span, "attrs", message);
    let finding = Finding { severity, ..finding };
    report.push(if has_other_work(options, report) { finding } else { finding.fix(fix(&large)) });
}

/// Whether something else is to be repaired first: what the user asks for besides moves everything.
/// A warning whose fix is lossy stays, unless the user asks for such fixes.
pub(super) fn has_other_work(options: &Options, report: &Report) -> bool {
    let most = if options.lossy_warnings { Allow::Lossy } else { Allow::Synthetic };
    let most = options.allow.min(most);
    report.has_errors()
        || report.findings().iter().any(|finding| {
            let is_applied =
                |fix: &Fix| finding.severity != Severity::Info && most.permits(fix.safety);
            finding.fix.as_ref().is_some_and(is_applied)
        })
}

/// Reports why the attrs stay as they are.
fn refuse(asked: &AskedAttrs, obstacle: Obstacle) -> Finding {
    let option = &asked.option;
    let (span, path, message) = match obstacle {
        Obstacle::Used(field) => {
            let message = format!(
                "{} is {:#x}: an attr of {} ({option}) has no room for it",
                field.name,
                field.value,
                byte_count(asked.size.into())
            );
            (field.span, format!("attr.{}", field.name), message)
        }
        Obstacle::Uneven => {
            let message = "attrs of different sizes, or of a size that attr_size contradicts";
            (header_span(), "attrs".to_owned(), format!("{message}: {option} cannot apply"))
        }
        Obstacle::HasAuxTrace => {
            let message = format!("AUXTRACE stores offsets of records, which {option} would move");
            (header_span(), "features.AUXTRACE".to_owned(), message)
        }
    };
    let finding = Finding::new(&rules::ATTR_LARGER, span, path, message);
    Finding { severity: Severity::Error, ..finding }
}

/// The magic and the size of the header, which pipes have as well.
pub(super) const fn header_span() -> Span {
    Span::sized(Layer::stored(0), 0, 16)
}
