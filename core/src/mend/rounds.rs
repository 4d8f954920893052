//! The rounds of a repair: check, choose fixes, patch, check again, until nothing is left to fix.
//!
//! The target of every round is a view of the source and the inserted bytes; nothing is written.
//! A fix that makes the recording worse is left out, alone, and the others are applied. If errors
//! are left in the end, the rounds go on with the fixes that were left out, and the better end is
//! the result. All rounds compose into one patch per file.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalogue;
use crate::kit::words::{byte_count, plural};
use crate::mend::applied::{Applied, Origins, classify, record};
use crate::mend::arrival::{find_loss, with_loss, with_undone};
use crate::mend::beginning::recognise;
use crate::mend::cause::with_causes;
use crate::mend::choice::{choose, find_too_large_fix, has_usable_fix};
pub use crate::mend::outcome::{Outcome, Repair};
use crate::mend::reading::find_reading;
use crate::mend::remainder::refuse_little_kept;
use crate::mend::trial::{State, Trials, check_for_repair};
pub use crate::mend::view::view;
use crate::model::edit::Safety;
use crate::model::limits::{FINDINGS, INSERTED, Limit, PARTS, ROUNDS};
use crate::model::options::Options;
use crate::model::patch::Patch;
use crate::model::recording::FileSet;
use crate::model::{Finding, Report, Severity};

/// Repairs a recording, see [`crate::repair()`].
pub(crate) fn repair(files: &FileSet<'_>, options: &Options) -> Repair {
    let mut options = Options { outline: false, ..options.clone() };
    // The target has the format of the source.
    options.format = recognise(files, &options);

    let found = check_for_repair(files, &options);
    let patches: Vec<Patch> =
        files.files().iter().map(|file| Patch::unchanged(&file.bytes)).collect();
    if find_loss(files, &found).is_some() {
        // What a repair keeps would be the part that the conversion happened to spare.
        let after = with_undone(files, with_loss(files, found));
        let (outcome, before) = (Outcome::CannotRepair, after.clone());
        return Repair { outcome, patches, applied: Vec::new(), before, after, refused: None };
    }
    let lacks_fix = lacks_fix(&found);
    let state = State { patches, report: found.clone() };
    // How the recording arrived is undone before the first round.
    let before = with_undone(files, with_causes(files, &options, found));
    let mut start = Rounds::new(state, &options);
    for _ in 0..options.limits.of(&ROUNDS) {
        let mut rounds = start.clone();
        rounds.run(&mut Trials::new(files, &options));
        if rounds.state.report.has_errors() && !rounds.left_out.is_empty() {
            rounds = rounds.go_on_with_all(&mut Trials::new(files, &options));
        }
        if rounds.state.report.has_errors() && rounds.has_returning() {
            rounds = rounds.go_on_with_returning(&mut Trials::new(files, &options));
        }
        if rounds.state.report.has_errors() && rounds.find_limit().is_none() {
            rounds = rounds.try_last_resort(files);
        }
        // A fix may have dropped the bytes by which the rest can be read.
        let has_errors = rounds.state.report.has_errors() && rounds.number > 0;
        let is_doubtful = has_errors || rounds.number > 1 && lacks_fix;
        if is_doubtful && rounds.find_limit().is_none() {
            rounds = rounds.or_fuller(start.clone().try_last_resort(files));
        }
        classify(&mut rounds.applied, &rounds.state.patches);
        // A fix that turns out to be of a class that is not allowed was not to be applied, nor one
        // that does not help.
        let barred = start.barred.len();
        let not_allowed = rounds.find_not_allowed().into_iter().map(|place| (place, NOT_ALLOWED));
        start.barred.extend(not_allowed.chain(rounds.barred.clone()));
        if start.barred.len() == barred {
            return refuse_little_kept(files, rounds.end_of(files, before), &options);
        }
    }
    start.stopped_at = Some(&ROUNDS);
    start.end(before)
}

/// The reason for a fix that is barred because of its class.
const NOT_ALLOWED: &str = "its witnesses change in the repair, and its class is not allowed";

/// The reason for a fix that is barred because it does not help.
const RETURNING: &str = "its finding comes back each time that it is applied";

/// Rounds in a row that may apply nothing but fixes of earlier rounds. Faults that hide one another
/// at one place, such as states that were entered one inside the other, are fewer.
const STALE_ROUNDS: usize = 7;

/// A fix that was left out, in terms of the source: code and place.
type Place = (&'static str, u32, u64, u64);

/// The fixes of a round: each with the end of its last edit in the source.
type Fixes = BTreeSet<(Place, u64)>;

/// Fixes that come back: some may lead to one another in turns.
#[derive(Clone, Default)]
struct Turns {
    /// The fixes of all rounds.
    earlier: Fixes,
    /// Rounds in a row that applied nothing but fixes of earlier ones.
    stale: usize,
    /// The fixes of these rounds.
    returned: Fixes,
}

/// The rounds of a repair so far.
#[derive(Clone)]
struct Rounds<'o> {
    options: &'o Options,
    state: State,
    applied: Vec<Applied>,
    number: usize,
    /// Fixes that did harm, with the number of the round before which they did.
    left_out: BTreeMap<Place, usize>,
    /// The fixes that came back.
    turns: Turns,
    /// Fixes that are not applied at all, with the reasons.
    barred: BTreeMap<Place, &'static str>,
    /// The reason why the last of them was left out.
    reason: Option<String>,
    /// The limit at which the rounds ended.
    stopped_at: Option<&'static Limit>,
}

impl<'o> Rounds<'o> {
    fn new(state: State, options: &'o Options) -> Self {
        let (applied, left_out, barred) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let (turns, reason) = Default::default();
        let (number, stopped_at) = (0, None);
        Self { options, state, applied, number, left_out, turns, barred, reason, stopped_at }
    }

    /// Runs rounds until no fix is left to apply.
    fn run(&mut self, trials: &mut Trials<'_, '_>) {
        loop {
            let origins = Origins::of(&self.state.patches);
            let chosen = self.choose(&origins);
            if chosen.is_empty() {
                if self.has_reading(trials) {
                    continue;
                }
                return;
            }
            self.stopped_at = self.find_end();
            if self.stopped_at.is_some() {
                return;
            }
            self.apply(&chosen, &origins, trials);
        }
    }

    /// Looks for a reading of what the rounds so far leave; the report has it if there is one.
    fn has_reading(&mut self, trials: &Trials<'_, '_>) -> bool {
        if self.number == 0 || find_reading(self.state.report.findings()).is_some() {
            return false;
        }
        self.state.report = trials.explain(&self.state);
        find_reading(self.state.report.findings())
            .is_some_and(|found| has_usable_fix(found, self.options))
    }

    /// Returns the limit that keeps another round from being run.
    fn find_end(&self) -> Option<&'static Limit> {
        let limits = &self.options.limits;
        let parts = self.state.patches.iter().map(|patch| patch.ops().len());
        let parts = parts.fold(0, usize::saturating_add);
        if self.number >= limits.count_of(&ROUNDS) {
            Some(&ROUNDS)
        } else if parts > limits.count_of(&PARTS) {
            Some(&PARTS)
        } else {
            None
        }
    }

    /// Applies fixes as one round, except those that do harm.
    fn apply(&mut self, chosen: &[Finding], origins: &Origins, trials: &mut Trials<'_, '_>) {
        let all: Vec<&Finding> = chosen.iter().collect();
        let (round, left_out) = trials.apply(&self.state, &all);
        for one in left_out {
            self.left_out.insert(place_of(one.finding, origins), self.number);
            self.reason = Some(one.reason);
        }
        let Some(round) = round else { return };
        self.number = self.number.saturating_add(1);
        self.bar_returning(&round.applied, origins);
        let shown = self.options.limits.count_of(&FINDINGS);
        record(&mut self.applied, &round, self.number, origins, shown);
        self.state = round.next;
    }

    /// Bars the fixes of the last rounds if the same ones come back again and again. One that comes
    /// back beside others may belong to them, such as a count in a header.
    fn bar_returning(&mut self, applied: &[&Finding], origins: &Origins) {
        let fixes: Fixes = applied
            .iter()
            .map(|finding| {
                let last = finding.edits().last().and_then(|edit| origins.place(edit.span));
                (place_of(finding, origins), last.map_or(0, |last| last.end))
            })
            .collect();
        let turns = &mut self.turns;
        if fixes.is_subset(&turns.earlier) {
            turns.stale = turns.stale.saturating_add(1);
            turns.returned.extend(fixes);
        } else {
            (turns.stale, turns.returned) = Default::default();
            turns.earlier.extend(fixes);
        }
        if turns.stale >= STALE_ROUNDS {
            self.barred.extend(turns.returned.iter().map(|(place, _)| (*place, RETURNING)));
        }
    }

    /// Chooses the fixes of the next round. One that did harm gets another chance when all others
    /// are applied, because it may not do harm any more.
    fn choose(&self, origins: &Origins) -> Vec<Finding> {
        let findings = self.state.report.findings();
        if self.left_out.is_empty() && self.barred.is_empty() {
            return choose(findings, self.options, |_| true);
        }
        let pick = |may_try: &dyn Fn(usize) -> bool| {
            choose(findings, self.options, |finding| {
                let place = place_of(finding, origins);
                let harm = self.left_out.get(&place);
                !self.barred.contains_key(&place) && harm.is_none_or(|number| may_try(*number))
            })
        };
        let first = pick(&|_| false);
        if first.is_empty() { pick(&|number| number < self.number) } else { first }
    }

    /// Goes on with the fixes that were left out, whatever they do, and returns the better end:
    /// this one, unless the other one has no errors.
    fn go_on_with_all(self, trials: &mut Trials<'_, '_>) -> Self {
        let mut bold = self.clone();
        trials.takes_all = true;
        bold.left_out.clear();
        bold.run(trials);
        self.or_better(bold)
    }

    /// Whether fixes are barred because their findings came back.
    fn has_returning(&self) -> bool {
        self.barred.values().any(|reason| *reason == RETURNING)
    }

    /// Goes on with the fixes that came back, since now all others are applied, and returns the
    /// better end.
    fn go_on_with_returning(self, trials: &mut Trials<'_, '_>) -> Self {
        let mut bold = self.clone();
        bold.barred.retain(|_, reason| *reason != RETURNING);
        bold.turns = Turns::default();
        bold.run(trials);
        self.or_better(bold)
    }

    /// Returns `other` if it has no errors and this one has, or loses more of the source.
    fn or_fuller(self, other: Self) -> Self {
        let dropped = |rounds: &Self| {
            let dropped = rounds.state.patches.iter().map(Patch::dropped);
            dropped.fold(0, u64::saturating_add)
        };
        let has_loss = self.applied.iter().any(|one| one.class == Safety::Lossy);
        let is_fuller = has_loss && dropped(&other) < dropped(&self);
        let is_fuller = is_fuller || self.state.report.has_errors();
        if is_fuller { self.or_better(other) } else { self }
    }

    /// Returns `other` if it has no errors.
    fn or_better(self, other: Self) -> Self {
        let report = &other.state.report;
        let is_better = !report.has_errors() && !report.incomplete() && other.stopped_at.is_none();
        if is_better { Self { reason: None, ..other } } else { self }
    }

    /// Applies the last resort of the format, and goes on from there. Returns the better end.
    fn try_last_resort(self, files: &FileSet<'_>) -> Self {
        if find_reading(self.state.report.findings()).is_some() {
            return self;
        }
        let options = self.options;
        let resort = {
            let now = view(files, &self.state.patches);
            let format = options.format.and_then(catalogue::format);
            format.and_then(|format| format.last_resort(&now, options, &self.state.report))
        };
        let resort: Vec<Finding> = resort.into_iter().collect();
        if choose(&resort, options, |_| true).is_empty() {
            return self;
        }
        let mut bold = self.clone();
        let mut trials = Trials::new(files, options);
        trials.takes_all = true;
        bold.left_out.clear();
        bold.apply(&resort, &Origins::of(&self.state.patches), &mut trials);
        bold.run(&mut trials);
        self.or_better(bold)
    }

    /// Returns the fixes of a class that is not allowed.
    fn find_not_allowed(&self) -> Vec<Place> {
        let is_not_allowed = |one: &&Applied| !self.options.allow.permits(one.class);
        let place = |one: &Applied| {
            let first = one.places.first().copied().unwrap_or(one.finding.span);
            (one.finding.rule.code, first.layer.file, first.start, first.end)
        };
        self.applied.iter().filter(is_not_allowed).map(place).collect()
    }

    /// Names the limit that kept fixes from being applied.
    fn find_limit(&self) -> Option<String> {
        if let Some(limit) = self.stopped_at {
            let (most, noun) = (self.options.limits.of(limit), limit.unit.trim_end_matches('s'));
            let (most, name) = (plural(most, noun), limit.name);
            let message = format!("the repair did not end within {most} (--limit {name}=N)");
            return Some(format!("CM9001 limit-reached: {message}"));
        }
        let size = find_too_large_fix(self.state.report.findings(), self.options)?;
        let (size, limit) = (byte_count(size), self.options.limits.of(&INSERTED));
        Some(format!("CM9001 limit-reached: a fix would insert {size}, the limit is {limit}"))
    }

    /// Ends a repair of a recording that was wrapped or converted, perhaps.
    fn end_of(mut self, files: &FileSet<'_>, before: Report) -> Repair {
        self.applied.splice(0..0, files.undone().iter().map(Applied::undone));
        let is_allowed = self.applied.iter().all(|one| self.options.allow.permits(one.class));
        let options = self.options;
        let mut repair = self.end(before);
        // A check of the target names the causes of what is left in it.
        let after = view(files, &repair.patches);
        repair.after = with_causes(&after, options, repair.after);
        if !is_allowed && repair.outcome != Outcome::Incomplete {
            // A damaged wrapper has lost what is behind the damage.
            repair.after = with_undone(files, repair.after);
            repair.outcome = Outcome::CannotRepair;
        }
        repair
    }

    /// Derives the outcome from the report of the target and the applied fixes.
    fn end(self, before: Report) -> Repair {
        let (limit, barred) = (self.find_limit(), self.barred.values().next().copied());
        let needs_other_class = needs_other_class(&self.state.report, self.options);
        let reasons = self.reason.into_iter().chain(barred.map(str::to_string));
        let reasons: Vec<String> = reasons.collect();
        let State { patches, report: after } = self.state;
        let mut repair = Repair {
            outcome: Outcome::Clean,
            patches,
            applied: self.applied,
            before,
            after,
            refused: (!reasons.is_empty()).then(|| reasons.join("; ")),
        };
        repair.outcome = judge_outcome(&repair);
        if let Some(limit) = limit {
            // Further rounds would not repair these errors.
            if !needs_other_class {
                repair.outcome = Outcome::Incomplete;
            }
            repair.refused = Some(limit);
        }
        repair
    }
}

/// Whether an error has no fix of its own, so that a fix of the whole recording has to repair it.
fn lacks_fix(report: &Report) -> bool {
    let is_error = |finding: &&Finding| finding.severity == Severity::Error;
    let mut errors = report.findings().iter().filter(is_error);
    errors.any(|finding| finding.fix.as_ref().is_none_or(|fix| fix.edits.is_empty()))
}

/// Whether an error has a fix of a class that is not allowed.
fn needs_other_class(report: &Report, options: &Options) -> bool {
    let is_error = |finding: &&Finding| finding.severity == Severity::Error;
    let classes = report.findings().iter().filter(is_error);
    let mut classes = classes.filter_map(|finding| finding.fix.as_ref().map(|fix| fix.safety));
    classes.any(|class| !options.allow.permits(class))
}

/// Returns the place of the first edit of a finding's fix in the source.
fn place_of(finding: &Finding, origins: &Origins) -> Place {
    let first = finding.edits().next().map_or(finding.span, |edit| edit.span);
    let place = origins.place(first).unwrap_or(first);
    (finding.rule.code, place.layer.file, place.start, place.end)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::{Layer, Span};
    use crate::model::edit::{Edit, Fix};
    use crate::model::rule::common;

    const FILE: Layer = Layer::stored(0);

    #[test]
    fn the_outcome_follows_from_the_errors_left_and_the_class_of_the_fixes() {
        let files = FileSet::single("x", b"no recording");
        let mut repair = repair(&files, &Options::default());
        let apply = |safety| {
            let edits = vec![Edit::replace(Span::new(FILE, 0, 1), *b"N")];
            let finding = Finding::new(&common::UNKNOWN_FORMAT, Span::new(FILE, 0, 1), "file", "1");
            vec![Applied::new(1, finding.fix(Fix::new(safety, "a fix", edits)), Vec::new())]
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

    #[test]
    fn a_fix_is_exact_only_if_a_witness_stands() {
        let span = |start, end| Span::new(FILE, start, end);
        let fix = |witness: Span| {
            let edits = vec![Edit::replace(span(0, 4), *b"1234")];
            let fix = Fix::new(Safety::Exact, "a fix", edits).witness(witness, "the copy");
            let finding = Finding::new(&common::UNKNOWN_FORMAT, span(0, 4), "file", "1").fix(fix);
            let mut applied = Applied::new(1, finding, vec![span(0, 4)]);
            applied.witnesses = applied.fix().unwrap().witnesses.clone();
            applied
        };
        let edits = [Edit::replace(span(0, 4), *b"1234"), Edit::drop(span(10, 12))];
        let patches = [Patch::from_edits(20, &edits).unwrap()];
        // Of two witnesses, a round before wrote the bytes of one.
        let mut made_up = fix(span(4, 10));
        let bytes = made_up.finding.fix.as_mut().unwrap();
        *bytes = bytes.clone().witness(span(12, 14), "bytes that a round before wrote");
        let mut applied = [fix(span(4, 10)), fix(span(9, 11)), fix(span(0, 4)), made_up];
        classify(&mut applied, &patches);
        let classes = applied.map(|one| one.class);
        assert_eq!(classes, [Safety::Exact, Safety::Lossy, Safety::Lossy, Safety::Lossy]);
    }
}
