//! The fixes of one round: of an allowed class, without overlaps, within the limits.

use std::collections::BTreeMap;

use crate::kit::num::to_u64;
use crate::mend::reading::find_reading;
use crate::model::edit::{Edit, Fix};
use crate::model::limits::{FIXES, INSERTED};
use crate::model::options::{Allow, Options};
use crate::model::{Finding, Severity};

/// Places that edits of a round take: start by file and offset, and end.
type Taken = BTreeMap<(u32, u64), u64>;

/// Returns the fixes of one round, in the order of the report, that `is_wanted` accepts.
///
/// A fix that overlaps another one waits for the next round, in which it may not be needed any
/// more. A reading of a whole file has a round of its own.
pub(super) fn choose(
    findings: &[Finding],
    options: &Options,
    is_wanted: impl Fn(&Finding) -> bool,
) -> Vec<Finding> {
    if let Some(reading) = find_reading(findings) {
        // The other fixes are of the bytes as it reads them.
        let is_usable = has_usable_fix(reading, options) && is_wanted(reading);
        return is_usable.then(|| reading.clone()).into_iter().collect();
    }
    let mut chosen: Vec<Finding> = Vec::new();
    let mut taken = Taken::new();
    let mut inserted = 0_u64;
    for finding in findings {
        let Some(fix) = &finding.fix else { continue };
        if chosen.len() >= options.limits.count_of(&FIXES) {
            break;
        }
        if !has_usable_fix(finding, options) || !is_wanted(finding) {
            continue;
        }
        let size = count_inserted(fix);
        if inserted.saturating_add(size) > options.limits.of(&INSERTED) {
            continue;
        }
        if fix.edits.iter().any(|edit| !edit.span.layer.is_stored() || is_taken(&taken, edit)) {
            continue;
        }
        inserted = inserted.saturating_add(size);
        take(&mut taken, &fix.edits);
        chosen.push(finding.clone());
    }
    chosen
}

/// Leaves out fixes that share a byte with an edit of `settled`: they wait for the next round.
pub(super) fn leave_out_overlapping<'f>(
    fixes: &[&'f Finding],
    settled: &[Edit],
) -> Vec<&'f Finding> {
    let mut taken = Taken::new();
    take(&mut taken, settled);
    let is_free = |finding: &&&Finding| {
        finding.fix.iter().flat_map(|fix| &fix.edits).all(|edit| !is_taken(&taken, edit))
    };
    fixes.iter().filter(is_free).copied().collect()
}

/// Leaves out the edits of `settled` that share a byte with an edit of a fix.
pub(super) fn without_overlaps(settled: Vec<Edit>, edits: &[Edit]) -> Vec<Edit> {
    let mut taken = Taken::new();
    take(&mut taken, edits);
    settled.into_iter().filter(|edit| !is_taken(&taken, edit)).collect()
}

/// Returns whether a finding has a fix that may be applied automatically.
///
/// Nothing is dropped for a warning unless the user asks for it: the tools of the format read over
/// the fault.
pub(super) fn has_usable_fix(finding: &Finding, options: &Options) -> bool {
    let highest = match finding.severity {
        Severity::Info => return false,
        Severity::Warning if !options.lossy_warnings => options.allow.min(Allow::Synthetic),
        Severity::Warning | Severity::Error => options.allow,
    };
    let applies = |fix: &Fix| {
        highest.permits(fix.safety) && !(fix.edits.is_empty() && fix.renames.is_empty())
    };
    finding.fix.as_ref().is_some_and(applies)
}

/// Returns the largest number of bytes that a usable fix inserts, if it is over the limit of a
/// round.
pub(super) fn find_too_large_fix(findings: &[Finding], options: &Options) -> Option<u64> {
    let usable = findings.iter().filter(|finding| has_usable_fix(finding, options));
    let sizes = usable.filter_map(|finding| finding.fix.as_ref()).map(count_inserted);
    sizes.filter(|size| *size > options.limits.of(&INSERTED)).max()
}

/// Returns the number of bytes that a fix inserts.
fn count_inserted(fix: &Fix) -> u64 {
    fix.edits.iter().fold(0, |sum: u64, edit| sum.saturating_add(to_u64(edit.insert.len())))
}

fn take(taken: &mut Taken, edits: &[Edit]) {
    for edit in edits {
        taken.insert((edit.span.layer.file, edit.span.start), edit.span.end);
    }
}

/// Returns whether an edit shares a byte, or its position, with one that was taken.
fn is_taken(taken: &Taken, edit: &Edit) -> bool {
    let (file, span) = (edit.span.layer.file, edit.span);
    let before = taken.range(..(file, span.start)).next_back();
    let inside = taken.range((file, span.start)..=(file, span.end.max(span.start))).next();
    before.is_some_and(|((of, _), end)| *of == file && *end > span.start)
        || inside.is_some_and(|((_, start), _)| *start < span.end || *start == span.start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::{Layer, Span};
    use crate::model::edit::Safety;
    use crate::model::rule::common;

    const FILE: Layer = Layer::stored(0);

    fn finding(safety: Safety, edits: &[(u64, u64, &[u8])]) -> Finding {
        let edit = |(start, end, new): &(u64, u64, &[u8])| {
            Edit::replace(Span::new(FILE, *start, *end), *new)
        };
        let fix = Fix::new(safety, "a fix", edits.iter().map(edit).collect());
        Finding::new(&common::UNKNOWN_FORMAT, Span::new(FILE, 0, 1), "file", "1 byte").fix(fix)
    }

    fn chosen(findings: &[Finding], options: &Options) -> Vec<usize> {
        let chosen = choose(findings, options, |_| true);
        let index = |finding: &Finding| findings.iter().position(|one| one == finding).unwrap();
        chosen.iter().map(index).collect()
    }

    #[test]
    fn fixes_are_taken_by_class_and_never_if_manual_or_of_a_note() {
        let mut note = finding(Safety::Exact, &[(8, 9, b"x")]);
        note.severity = Severity::Info;
        let mut warning = finding(Safety::Lossy, &[(10, 11, b"")]);
        warning.severity = Severity::Warning;
        let findings = [
            finding(Safety::Exact, &[(0, 1, b"x")]),
            finding(Safety::Synthetic, &[(2, 2, b"x")]),
            finding(Safety::Lossy, &[(4, 5, b"")]),
            finding(Safety::Manual, &[(6, 7, b"x")]),
            note,
            Finding::new(&common::EMPTY_FILE, Span::new(FILE, 0, 0), "file", "no fix"),
            warning,
        ];
        let mut options = Options::default();
        assert_eq!(chosen(&findings, &options.clone().with_allow(Allow::Exact)), [0]);
        assert_eq!(chosen(&findings, &options.clone().with_allow(Allow::Synthetic)), [0, 1]);
        assert_eq!(chosen(&findings, &options), [0, 1, 2]);
        options.lossy_warnings = true;
        assert_eq!(chosen(&findings, &options), [0, 1, 2, 6]);
    }

    #[test]
    fn a_fix_that_shares_a_byte_or_a_position_waits() {
        let findings = [
            finding(Safety::Exact, &[(10, 20, b"")]),
            finding(Safety::Exact, &[(0, 1, b"a"), (19, 21, b"")]),
            finding(Safety::Exact, &[(0, 1, b"b")]),
            finding(Safety::Exact, &[(15, 15, b"b")]),
            finding(Safety::Exact, &[(10, 10, b"b")]),
            finding(Safety::Exact, &[(20, 22, b"b")]),
            finding(Safety::Exact, &[(5, 11, b"b")]),
            finding(Safety::Exact, &[(5, 10, b"b")]),
        ];
        assert_eq!(chosen(&findings, &Options::default()), [0, 2, 5, 7]);
    }

    #[test]
    fn a_round_stays_within_its_limits() {
        let findings: Vec<Finding> =
            (0..8).map(|at| finding(Safety::Exact, &[(at * 2, at * 2 + 1, b"four")])).collect();
        let mut options = Options::default();
        options.limits.set(&FIXES, 3);
        assert_eq!(chosen(&findings, &options), [0, 1, 2]);
        options.limits.set(&INSERTED, 9);
        assert_eq!(chosen(&findings, &options), [0, 1]);
        options.limits.set(&INSERTED, 3);
        assert_eq!(chosen(&findings, &options), [0_usize; 0]);
        assert_eq!(find_too_large_fix(&findings, &options), Some(4));
        options.limits.set(&INSERTED, 4);
        assert_eq!(find_too_large_fix(&findings, &options), None);
    }
}
