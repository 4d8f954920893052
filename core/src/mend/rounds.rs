//! The rounds of a repair: check, choose fixes, patch, check again, until nothing is left to fix.
//!
//! The target of every round is a view of the source and the inserted bytes; nothing is written. A
//! round that makes any rule fire more often is rejected, and the state before it is the result.
//! All rounds compose into one patch per file.

use std::collections::BTreeMap;

use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words::{byte_count, plural};
use crate::limits::{FINDINGS, FIXES, INSERTED, ROUNDS};
use crate::mend::edit::{Edit, Fix, Safety};
use crate::mend::patch::Patch;
use crate::options::{Allow, Options};
use crate::recording::{File, FileSet};
use crate::report::{Finding, Report, Severity};
use crate::{check, registry};

/// The outcome of a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing had to be repaired; every patch is the identity.
    Clean,
    /// No error is left, and no fix dropped recorded bytes.
    Repaired,
    /// No error is left, but a fix dropped recorded bytes.
    RepairedWithLoss,
    /// Errors are left.
    CannotRepair,
    /// A limit was reached.
    Incomplete,
}

/// A fix that was applied, with its finding.
#[derive(Clone, Debug)]
pub struct Applied {
    /// Number of the round, from 1.
    pub round: usize,
    /// The finding; its spans refer to the state before that round.
    pub finding: Finding,
    /// The places of the edits in the source.
    pub places: Vec<Span>,
}

impl Applied {
    /// Returns the fix.
    pub fn fix(&self) -> Option<&Fix> {
        self.finding.fix.as_ref()
    }
}

/// The result of a repair.
#[derive(Clone, Debug)]
pub struct Repair {
    /// The outcome.
    pub outcome: Outcome,
    /// One patch per file, in the order of the file set.
    pub patches: Vec<Patch>,
    /// The fixes that were applied, in order.
    pub applied: Vec<Applied>,
    /// The report of the source.
    pub before: Report,
    /// The report of the target.
    pub after: Report,
    /// The reason why the last round was rejected, if one was.
    pub refused: Option<String>,
}

impl Repair {
    /// Returns the riskiest class of the fixes that were applied.
    pub fn safety(&self) -> Option<Safety> {
        self.applied.iter().filter_map(|applied| applied.fix().map(|fix| fix.safety)).max()
    }

    /// Returns the number of complete records that the applied fixes dropped.
    pub fn records_lost(&self) -> u64 {
        let lost = self.applied.iter().filter_map(|applied| applied.fix());
        lost.fold(0, |sum: u64, fix| sum.saturating_add(fix.records_lost))
    }

    /// Returns the recording as the repair leaves it: a view of `files` and the added bytes.
    ///
    /// `files` is the recording that was repaired. If [`Repair::outcome`] is
    /// [`Outcome::CannotRepair`], the view has the fixes that apply and still has errors.
    pub fn output<'a>(&'a self, files: &FileSet<'a>) -> FileSet<'a> {
        view(files, &self.patches)
    }

    /// Returns whether any file changes.
    pub fn changes(&self) -> bool {
        self.patches.iter().any(|patch| !patch.is_identity())
    }
}

/// Repairs a recording with fixes of the classes that [`Options::allow`] permits.
pub fn repair(files: &FileSet<'_>, options: &Options) -> Repair {
    let mut options = options.clone();
    // A round has to see more fixes than a person wants to read findings.
    let most = options.limits.of(&FINDINGS).max(options.limits.of(&FIXES));
    options.limits.set(&FINDINGS, most);
    // The target has the format of the source.
    options.format = options.format.or_else(|| registry::sniff(files, &options));

    let before = check(files, &options);
    let identity = files.files().iter().map(|file| Patch::unchanged(&file.bytes)).collect();
    let mut result = Repair {
        outcome: Outcome::Clean,
        patches: identity,
        applied: Vec::new(),
        after: before.clone(),
        before,
        refused: None,
    };
    result.refused = run_rounds(files, &options, &mut result);
    let too_large = find_too_large_fix(result.after.findings(), &options);
    if let (None, Some(size)) = (&result.refused, too_large) {
        let limit = options.limits.of(&INSERTED);
        let size = byte_count(size);
        let reason = format!("limit reached: a fix would insert {size}, the limit is {limit}");
        result.refused = Some(reason);
        result.outcome = Outcome::Incomplete;
        return result;
    }
    result.outcome = judge_outcome(&result);
    result
}

/// Runs rounds until no fix is left, and returns the reason if they end before.
fn run_rounds(files: &FileSet<'_>, options: &Options, result: &mut Repair) -> Option<String> {
    for round in 1..=options.limits.count_of(&ROUNDS) {
        let chosen = choose(result.after.findings(), options);
        if chosen.is_empty() {
            return None;
        }
        let (patches, after, settled) = match take_round(files, options, result, &chosen) {
            Ok(taken) => taken,
            Err(reason) => return Some(reason),
        };
        let settled = map_to_source(&settled, &result.patches);
        let applied = chosen.into_iter().map(|finding| {
            let edits = finding.fix.iter().flat_map(|fix| &fix.edits);
            let mut places = map_to_source(edits, &result.patches);
            if changes_length(&finding) {
                places.extend(&settled);
            }
            Applied { round, finding, places }
        });
        result.applied.extend(applied);
        result.patches = patches;
        result.after = after;
    }
    if choose(result.after.findings(), options).is_empty() {
        return None;
    }
    let rounds = plural(options.limits.of(&ROUNDS), "round");
    Some(format!("the repair did not end within {rounds}"))
}

/// Returns the largest number of bytes that a usable fix inserts, if it is over the limit of a
/// round.
fn find_too_large_fix(findings: &[Finding], options: &Options) -> Option<u64> {
    let usable = findings.iter().filter(|finding| has_usable_fix(finding, options.allow));
    let sizes = usable.filter_map(|finding| finding.fix.as_ref()).map(count_inserted);
    sizes.filter(|size| *size > options.limits.of(&INSERTED)).max()
}

/// Returns whether a finding has a fix that may be applied automatically.
fn has_usable_fix(finding: &Finding, allow: Allow) -> bool {
    let applies = |fix: &Fix| allow.permits(fix.safety) && !fix.edits.is_empty();
    finding.severity >= Severity::Warning && finding.fix.as_ref().is_some_and(applies)
}

/// Returns the number of bytes that a fix inserts.
fn count_inserted(fix: &Fix) -> u64 {
    fix.edits.iter().fold(0, |sum: u64, edit| sum.saturating_add(to_u64(edit.insert.len())))
}

/// Derives the outcome from the report of the target and the applied fixes.
fn judge_outcome(result: &Repair) -> Outcome {
    if result.after.incomplete() {
        Outcome::Incomplete
    } else if result.after.has_errors() {
        Outcome::CannotRepair
    } else if result.safety() == Some(Safety::Lossy) {
        Outcome::RepairedWithLoss
    } else if result.changes() {
        Outcome::Repaired
    } else {
        Outcome::Clean
    }
}

/// Chooses the fixes of one round: of an allowed class, without overlaps, within the limits.
///
/// Fixes are taken in the order of the report. A fix that overlaps another one waits for the next
/// round, in which it may not be needed any more.
fn choose(findings: &[Finding], options: &Options) -> Vec<Finding> {
    let mut chosen: Vec<Finding> = Vec::new();
    let mut taken: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    let mut inserted = 0_u64;
    for finding in findings {
        let Some(fix) = &finding.fix else { continue };
        if !has_usable_fix(finding, options.allow)
            || chosen.len() >= options.limits.count_of(&FIXES)
        {
            continue;
        }
        let size = count_inserted(fix);
        if inserted.saturating_add(size) > options.limits.of(&INSERTED) {
            continue;
        }
        if fix.edits.iter().any(|edit| !edit.span.layer.is_stored() || is_overlapping(&taken, edit))
        {
            continue;
        }
        inserted = inserted.saturating_add(size);
        for edit in &fix.edits {
            taken.insert((edit.span.layer.file, edit.span.start), edit.span.end);
        }
        chosen.push(finding.clone());
    }
    chosen
}

/// Returns whether an edit shares a byte, or its position, with one that was taken.
fn is_overlapping(taken: &BTreeMap<(u32, u64), u64>, edit: &Edit) -> bool {
    let (file, span) = (edit.span.layer.file, edit.span);
    let before = taken.range(..(file, span.start)).next_back();
    let inside = taken.range((file, span.start)..=(file, span.end.max(span.start))).next();
    before.is_some_and(|((of, _), end)| *of == file && *end > span.start)
        || inside.is_some_and(|((_, start), _)| *start < span.end || *start == span.start)
}

/// Applies one more round and returns the patches, the report and the settled edits.
///
/// # Errors
///
/// If the edits overlap, or a rule fires more often than before.
fn take_round(
    files: &FileSet<'_>,
    options: &Options,
    current: &Repair,
    chosen: &[Finding],
) -> Result<(Vec<Patch>, Report, Vec<Edit>), String> {
    let fixes = chosen.iter().filter_map(|finding| finding.fix.as_ref());
    let mut edits: Vec<Edit> = fixes.flat_map(|fix| &fix.edits).cloned().collect();
    edits.sort_by_key(|edit| (edit.span.layer.file, edit.span.start, edit.span.end));
    let format = options.format;
    let now = view(files, &current.patches);
    let settled =
        format.map_or_else(Vec::new, |format| format.format().settle(&now, &edits, options));
    edits.extend(settled.iter().cloned());
    edits.sort_by_key(|edit| (edit.span.layer.file, edit.span.start, edit.span.end));
    let mut patches = Vec::new();
    for (index, patch) in (0_u32..).zip(&current.patches) {
        let from = edits.partition_point(|edit| edit.span.layer.file < index);
        let to = edits.partition_point(|edit| edit.span.layer.file <= index);
        let mine = edits.get(from..to).unwrap_or_default();
        let next = Patch::from_edits(patch.target_len(), mine).map_err(|e| e.to_string())?;
        // An absent file exists as soon as an edit adds to it.
        let absent = patch.target_absent();
        let mut renames = chosen.iter().filter_map(|finding| finding.fix.as_ref());
        let renamed = renames.find_map(|fix| fix.renames.iter().find(|(file, _)| *file == index));
        let next = next
            .between(absent, absent && mine.is_empty())
            .under(renamed.map(|(_, name)| name.clone()));
        patches.push(patch.then(&next));
    }
    let after = check(&view(files, &patches), options);
    let worse = after.counts().iter().find(|(code, count)| {
        let before = current.after.counts().get(*code).copied().unwrap_or(0);
        **count > before && registry::rule(code).is_some_and(|r| r.severity > Severity::Info)
    });
    if let Some((code, count)) = worse {
        let before = current.after.counts().get(code).copied().unwrap_or(0);
        let (now, before) = (plural(*count, "time"), plural(before, "time"));
        return Err(format!("{code} would fire {now}, but fired {before} before"));
    }
    Ok((patches, after, settled))
}

/// Maps edits to places of the source through the patches of the rounds before.
fn map_to_source<'a>(edits: impl IntoIterator<Item = &'a Edit>, patches: &[Patch]) -> Vec<Span> {
    let place = |edit: &Edit| {
        let patch =
            usize::try_from(edit.span.layer.file).ok().and_then(|file| patches.get(file))?;
        let (start, end) =
            (patch.source_offset(edit.span.start), patch.source_offset(edit.span.end));
        Some(Span::new(edit.span.layer, start, end))
    };
    edits.into_iter().filter_map(place).collect()
}

/// Returns whether a fix moves the bytes after it.
fn changes_length(finding: &Finding) -> bool {
    let mut edits = finding.fix.iter().flat_map(|fix| &fix.edits);
    edits.any(|edit| edit.span.len() != to_u64(edit.insert.len()))
}

/// Returns the files after `patches`, without a copy.
pub fn view<'a>(files: &FileSet<'a>, patches: &'a [Patch]) -> FileSet<'a> {
    let patched = files.files().iter().zip(patches).map(|(file, patch)| {
        let name = patch.renamed().unwrap_or(&file.name).to_string();
        File { name, bytes: patch.view(&file.bytes) }
    });
    FileSet::new(patched.collect()).with_donor(files.donor().cloned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::Layer;
    use crate::report::rule::common;

    const FILE: Layer = Layer::stored(0);

    fn finding(safety: Safety, edits: &[(u64, u64, &[u8])]) -> Finding {
        let edit = |(start, end, new): &(u64, u64, &[u8])| {
            Edit::replace(Span::new(FILE, *start, *end), *new)
        };
        let fix = Fix::new(safety, "a fix", edits.iter().map(edit).collect());
        Finding::new(&common::UNKNOWN_FORMAT, Span::new(FILE, 0, 1), "file", "1 byte").fix(fix)
    }

    fn chosen(findings: &[Finding], allow: Allow, options: &Options) -> Vec<usize> {
        let chosen = choose(findings, &options.clone().with_allow(allow));
        let index = |finding: &Finding| findings.iter().position(|one| one == finding).unwrap();
        chosen.iter().map(index).collect()
    }

    #[test]
    fn fixes_are_taken_by_class_and_never_if_manual_or_of_a_note() {
        let mut note = finding(Safety::Exact, &[(8, 9, b"x")]);
        note.severity = Severity::Info;
        let findings = [
            finding(Safety::Exact, &[(0, 1, b"x")]),
            finding(Safety::Synthetic, &[(2, 2, b"x")]),
            finding(Safety::Lossy, &[(4, 5, b"")]),
            finding(Safety::Manual, &[(6, 7, b"x")]),
            note,
            Finding::new(&common::EMPTY_FILE, Span::new(FILE, 0, 0), "file", "no fix"),
        ];
        let options = Options::default();
        assert_eq!(chosen(&findings, Allow::Exact, &options), [0]);
        assert_eq!(chosen(&findings, Allow::Synthetic, &options), [0, 1]);
        assert_eq!(chosen(&findings, Allow::Lossy, &options), [0, 1, 2]);
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
        assert_eq!(chosen(&findings, Allow::Exact, &Options::default()), [0, 2, 5, 7]);
    }

    #[test]
    fn a_round_stays_within_its_limits() {
        let findings: Vec<Finding> =
            (0..8).map(|at| finding(Safety::Exact, &[(at * 2, at * 2 + 1, b"four")])).collect();
        let mut options = Options::default();
        options.limits.set(&INSERTED, 13);
        assert_eq!(chosen(&findings, Allow::Exact, &options), [0, 1, 2]);
        options.limits.set(&FIXES, 2);
        assert_eq!(chosen(&findings, Allow::Exact, &options), [0, 1]);
        let mut expanded = finding(Safety::Exact, &[(0, 1, b"")]);
        expanded.fix.as_mut().unwrap().edits[0].span.layer = FILE.expanded();
        assert_eq!(choose(&[expanded], &options.clone().with_allow(Allow::Exact)), []);
    }

    #[test]
    fn a_round_that_makes_a_rule_fire_more_often_is_rejected() {
        let files = FileSet::single("x", b"no recording");
        let options = Options::default();
        let current = repair(&files, &options);
        assert_eq!(current.outcome, Outcome::CannotRepair);
        assert!(!current.changes() && current.applied.is_empty());
        let all = [finding(Safety::Lossy, &[(0, 12, b"")])];
        let refused = take_round(&files, &options, &current, &all).unwrap_err();
        assert_eq!(refused, "CM0001 would fire 1 time, but fired 0 times before");
        let outside = [finding(Safety::Lossy, &[(11, 13, b"")])];
        assert!(take_round(&files, &options, &current, &outside).is_err());
        let harmless = [finding(Safety::Exact, &[(0, 2, b"NO"), (12, 12, b"!")])];
        let (patches, ..) = take_round(&files, &options, &current, &harmless).unwrap();
        let target = view(&files, &patches);
        assert_eq!(target.bytes(0).pieces().collect::<Vec<_>>().concat(), b"NO recording!");
    }

    #[test]
    fn the_outcome_follows_from_the_errors_left_and_the_class_of_the_fixes() {
        let files = FileSet::single("x", b"no recording");
        let mut repair = repair(&files, &Options::default());
        let apply = |safety| {
            vec![Applied { round: 1, finding: finding(safety, &[(0, 1, b"N")]), places: vec![] }]
        };
        assert_eq!(judge_outcome(&repair), Outcome::CannotRepair);
        repair.after = Report::default();
        assert_eq!(judge_outcome(&repair), Outcome::Clean);
        let edits = [Edit::replace(Span::new(FILE, 0, 1), *b"N")];
        repair.patches = vec![Patch::from_edits(12, &edits).unwrap()];
        repair.applied = apply(Safety::Synthetic);
        assert_eq!(judge_outcome(&repair), Outcome::Repaired);
        repair.applied = apply(Safety::Lossy);
        assert_eq!(judge_outcome(&repair), Outcome::RepairedWithLoss);
        repair.after = Report::new(None, 12, 1);
        repair.after.push(Finding::new(
            &common::LIMIT_REACHED,
            Span::new(FILE, 0, 0),
            "file",
            "1 of 1",
        ));
        assert_eq!(judge_outcome(&repair), Outcome::Incomplete);
    }
}
