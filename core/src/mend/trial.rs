//! One round of a repair: fixes are tried together, and those that do harm are left out alone.
//!
//! A trial applies fixes to a view of the recording and checks it; nothing is written.

use crate::catalogue;
use crate::kit::words::plural;
use crate::mend::choice::{leave_out_overlapping, without_overlaps};
use crate::mend::explained::is_reading;
use crate::mend::reading::explain;
use crate::mend::view::{check_plain, view};
use crate::model::edit::Edit;
use crate::model::limits::TRIALS;
use crate::model::options::Options;
use crate::model::patch::{Patch, PatchError};
use crate::model::recording::FileSet;
use crate::model::{Finding, Report, Severity};

/// A recording after some rounds: the patches of its files, and the report.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) patches: Vec<Patch>,
    pub(super) report: Report,
}

/// A round that was applied.
pub(super) struct Round<'f> {
    pub(super) next: State,
    /// The findings whose fixes were applied.
    pub(super) applied: Vec<&'f Finding>,
    /// Edits of counts and offsets that followed from them.
    pub(super) settled: Vec<Edit>,
}

/// A fix that was left out, with the reason.
pub(super) struct LeftOut<'f> {
    pub(super) finding: &'f Finding,
    pub(super) reason: String,
}

/// The trials of a repair.
pub(super) struct Trials<'t, 'a> {
    files: &'t FileSet<'a>,
    options: &'t Options,
    /// Trials that are left to find the fixes that do harm.
    left: u64,
    /// Fixes that do harm are applied, too.
    pub(super) takes_all: bool,
}

impl<'t, 'a> Trials<'t, 'a> {
    pub(super) fn new(files: &'t FileSet<'a>, options: &'t Options) -> Self {
        Self { files, options, left: options.limits.of(&TRIALS), takes_all: false }
    }

    /// Returns the report of a state, or that of the reading which explains it.
    pub(super) fn explain(&self, state: &State) -> Report {
        let now = view(self.files, &state.patches);
        explain_for_repair(&now, self.options, state.report.clone())
    }

    /// Applies all of `chosen` that do no harm, and lists the others.
    ///
    /// A part that does harm is halved until the fixes that do it are found.
    pub(super) fn apply<'f>(
        &mut self,
        state: &State,
        chosen: &[&'f Finding],
    ) -> (Option<Round<'f>>, Vec<LeftOut<'f>>) {
        let mut best: Option<Round<'f>> = None;
        let mut left_out = Vec::new();
        let mut good: Vec<&'f Finding> = Vec::new();
        let mut parts = vec![chosen];
        while let Some(part) = parts.pop() {
            let together: Vec<&'f Finding> = good.iter().chain(part).copied().collect();
            match self.attempt(state, &together) {
                Ok(round) => {
                    good = together;
                    best = Some(round);
                }
                Err(reason) if part.len() <= 1 || self.left == 0 => {
                    let of = |finding: &&'f Finding| LeftOut { finding, reason: reason.clone() };
                    left_out.extend(part.iter().map(of));
                }
                Err(_) => {
                    self.left = self.left.saturating_sub(1);
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                }
            }
        }
        (best, left_out)
    }

    /// Applies fixes together.
    ///
    /// # Errors
    ///
    /// If they do harm, or their edits overlap.
    fn attempt<'f>(&self, state: &State, fixes: &[&'f Finding]) -> Result<Round<'f>, String> {
        let (applied, edits, settled) = self.settle(state, fixes);
        let patches = compose(state, &applied, &edits).map_err(|error| error.to_string())?;
        let now = view(self.files, &patches);
        let is_reading = applied.iter().any(|finding| is_reading(finding.rule));
        let report = match is_reading {
            true => check_for_repair(&now, self.options),
            false => check_plain(&now, self.options),
        };
        let lost = applied.iter().filter_map(|finding| finding.fix.as_ref());
        let lost = lost.fold(0, |sum: u64, fix| sum.saturating_add(fix.records_lost));
        match find_harm(&state.report, &report, lost) {
            Some(harm) if !self.takes_all => Err(harm),
            _ => Ok(Round { next: State { patches, report }, applied, settled }),
        }
    }

    /// Collects the edits of fixes and what follows from them. A fix that overlaps with what
    /// follows from the others waits for the next round.
    fn settle<'f>(
        &self,
        state: &State,
        fixes: &[&'f Finding],
    ) -> (Vec<&'f Finding>, Vec<Edit>, Vec<Edit>) {
        let now = view(self.files, &state.patches);
        // A reading gives the bytes that the stored sizes and offsets describe.
        let is_reading = fixes.iter().any(|finding| is_reading(finding.rule));
        let settle = |edits: &[Edit]| match self.options.format.and_then(catalogue::format) {
            Some(format) if !is_reading => format.settle(&now, edits, self.options),
            _ => Vec::new(),
        };
        let mut fixes = fixes.to_vec();
        let mut edits = sort(fixes.iter().copied().flat_map(Finding::edits).cloned().collect());
        let mut settled = settle(&edits);
        let free = leave_out_overlapping(&fixes, &settled);
        if !free.is_empty() && free.len() < fixes.len() {
            fixes = free;
            edits = sort(fixes.iter().copied().flat_map(Finding::edits).cloned().collect());
            settled = settle(&edits);
        }
        let settled = without_overlaps(settled, &edits);
        (fixes, sort(edits.into_iter().chain(settled.iter().cloned()).collect()), settled)
    }
}

/// Checks a recording for a repair, and looks for a reading of a whole file.
pub(super) fn check_for_repair(files: &FileSet<'_>, options: &Options) -> Report {
    explain_for_repair(files, options, check_plain(files, options))
}

/// Returns the report of a recording, or that of the reading which explains it.
pub(super) fn explain_for_repair(files: &FileSet<'_>, options: &Options, report: Report) -> Report {
    explain(files, options, report, &|files| check_plain(files, options))
}

fn sort(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| (edit.span.layer.file, edit.span.start, edit.span.end));
    edits
}

/// Adds the edits of one round to the patches of the rounds before.
fn compose(state: &State, applied: &[&Finding], edits: &[Edit]) -> Result<Vec<Patch>, PatchError> {
    let mut patches = Vec::new();
    for (index, patch) in (0_u32..).zip(&state.patches) {
        let from = edits.partition_point(|edit| edit.span.layer.file < index);
        let to = edits.partition_point(|edit| edit.span.layer.file <= index);
        let mine = edits.get(from..to).unwrap_or_default();
        let next = Patch::from_edits(patch.target_len(), mine)?;
        // An absent file exists as soon as an edit adds to it.
        let absent = patch.target_absent();
        let mut renames = applied.iter().filter_map(|finding| finding.fix.as_ref());
        let renamed = renames.find_map(|fix| fix.renames.iter().find(|(file, _)| *file == index));
        let next = next
            .between(absent, absent && mine.is_empty())
            .under(renamed.map(|(_, name)| name.clone()));
        patches.push(patch.then(&next));
    }
    Ok(patches)
}

/// Returns how a round made a recording worse, if it did.
///
/// A rule may fire more often if there are fewer errors than before, or if data came
/// to light: damage had hidden those faults.
pub(crate) fn find_harm(before: &Report, after: &Report, records_lost: u64) -> Option<String> {
    let count = |report: &Report, code: &str| report.counts().get(code).copied().unwrap_or(0);
    let (code, now) = after.counts().iter().find(|(code, now)| {
        let is_fault = catalogue::rule(code).is_some_and(|rule| rule.severity > Severity::Info);
        **now > count(before, code) && is_fault
    })?;
    let errors = |report: &Report| report.count_of(Severity::Error);
    let records = after.tally.records.saturating_add(records_lost);
    let came_to_light =
        records > before.tally.records || after.tally.expanded > before.tally.expanded;
    if errors(after) < errors(before) || came_to_light {
        return None;
    }
    let (now, was) = (plural(*now, "time"), plural(count(before, code), "time"));
    Some(format!("{code} would fire {now}, but fired {was} before"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::{Layer, Span};
    use crate::model::edit::{Fix, Safety};
    use crate::model::rule::common;

    const FILE: Layer = Layer::stored(0);

    fn fixes(edits: &[(u64, u64, &[u8])]) -> Vec<Finding> {
        let of = |(start, end, new): &(u64, u64, &[u8])| {
            let span = Span::new(FILE, *start, *end);
            let fix = Fix::new(Safety::Lossy, "a fix", vec![Edit::replace(span, *new)]);
            Finding::new(&common::UNKNOWN_FORMAT, span, "file", "1 byte").fix(fix)
        };
        edits.iter().map(of).collect()
    }

    fn start(files: &FileSet<'_>, options: &Options) -> State {
        let patches = files.files().iter().map(|file| Patch::unchanged(&file.bytes)).collect();
        State { patches, report: check_for_repair(files, options) }
    }

    #[test]
    fn a_fix_that_does_harm_is_left_out_alone() {
        let files = FileSet::single("x", b"no recording");
        let options = Options::default();
        let state = start(&files, &options);
        // An empty file is another error than an unknown format.
        let harm = fixes(&[(0, 12, b"")]);
        let mut trials = Trials::new(&files, &options);
        let all: Vec<&Finding> = harm.iter().collect();
        let (round, left_out) = trials.apply(&state, &all);
        assert!(round.is_none());
        assert_eq!(left_out[0].reason, "CM0001 would fire 1 time, but fired 0 times before");
        // Out of range: the edit alone is left out.
        let mixed = fixes(&[(0, 2, b"NO"), (11, 13, b""), (12, 12, b"!")]);
        let all: Vec<&Finding> = mixed.iter().collect();
        let (round, left_out) = trials.apply(&state, &all);
        assert_eq!(left_out.len(), 1);
        assert!(left_out[0].reason.starts_with("overlapping or out of range edit"));
        let target = round.unwrap().next.patches;
        let target = view(&files, &target);
        assert_eq!(target.bytes(0).pieces().collect::<Vec<_>>().concat(), b"NO recording!");
    }

    #[test]
    fn all_is_taken_if_harm_is_no_reason() {
        let files = FileSet::single("x", b"no recording");
        let options = Options::default();
        let harm = fixes(&[(0, 12, b"")]);
        let mut trials = Trials::new(&files, &options);
        trials.takes_all = true;
        let all: Vec<&Finding> = harm.iter().collect();
        let (round, left_out) = trials.apply(&start(&files, &options), &all);
        assert!(left_out.is_empty());
        assert_eq!(round.unwrap().next.report.count(&common::EMPTY_FILE), 1);
    }

    #[test]
    fn the_search_for_harm_ends_at_its_limit() {
        let files = FileSet::single("x", b"no recording");
        let mut options = Options::default();
        options.limits.set(&TRIALS, 0);
        let mixed = fixes(&[(0, 2, b"NO"), (11, 13, b"")]);
        let all: Vec<&Finding> = mixed.iter().collect();
        let mut trials = Trials::new(&files, &options);
        let (round, left_out) = trials.apply(&start(&files, &options), &all);
        assert!(round.is_none());
        assert_eq!(left_out.len(), 2);
    }
}
