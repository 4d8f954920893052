//! The reading of a whole file: one cause that explains the faults of a check better than they
//! explain themselves.
//!
//! The stored bytes and each candidate are hypotheses of one race ([`crate::kit::race`]). A
//! candidate is a view of the files, and its evidence is the check of the format itself: what is
//! left to report contradicts it. The winner becomes one finding at the cause. The faults that it
//! explains are not reported, and those that are left have their places in the stored files.
//!
//! Nothing is searched unless a check reports errors, or warnings that the format names as signs
//! ([`crate::model::description::DamageSigns`]).

use std::collections::HashSet;

use crate::catalogue;
use crate::check::check_into;
use crate::format::Format;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::race::{Candidate, Decision, Evidence, decide};
use crate::kit::reading::repeats::{self, Allowance, Repeat};
use crate::kit::reading::{Cause, CopyProofs, Hints, Reading};
use crate::kit::source::Source;
use crate::kit::span::Layer;
use crate::kit::steps;
use crate::mend::arrival::{with_loss, with_undone};
use crate::mend::beginning::{read_prefix, recognise};
use crate::mend::cause::with_causes;
use crate::mend::explained::{LARGE, Read, describe, describe_tie, edits_of, is_reading};
use crate::mend::view::view;
use crate::model::edit::{Edit, Safety};
use crate::model::limits::{FINDINGS, READING_BYTES, READING_STEPS, READINGS};
use crate::model::options::Options;
use crate::model::patch::Patch;
use crate::model::recording::{File, FileSet};
use crate::model::{Finding, Report, Severity, Verdict};

/// Contradiction of an error. One with an exact fix is as good as explained: it contradicts as much
/// as the fix has edits.
const ERROR: u64 = 8;
/// Contradiction of a warning.
const WARNING: u64 = 2;
/// Contradictions that a reading has to explain, beyond half of those of the stored bytes: more
/// than one fault with an exact fix of its own.
const LEAD: u64 = 2;
/// Costs of a cause are less than this, which is the cost of what a reading leaves.
const COSTS: u64 = 4;
/// Faults near which a doubled block of a usual size is looked for.
const FAULTS: usize = 4;
/// Sizes of the blocks in which files are written and copied.
const BLOCKS: [u64; 5] = [512, 1_024, 2_048, 4_096, 8_192];
/// Lengths of the file that the search for a block at a third place reads: all may begin like it.
const ELSEWHERE: u64 = 4;
/// Records that no conversion of other bytes gives by chance.
const RECORDS_MIN: u64 = 16;
/// Bytes that are compared at a time.
const COMPARED: u64 = 64 << 10;
/// The limit of the bytes that candidates read is divided by this where no record can be read.
const UNREADABLE: u64 = 128;

/// Checks a recording without a reading.
pub(crate) type Check<'c> = &'c dyn Fn(&FileSet<'_>) -> Report;

/// Returns the reading among findings, if there is one: of a tie, none is.
pub(crate) fn find_reading(findings: &[Finding]) -> Option<&Finding> {
    let has_edits =
        |finding: &Finding| finding.fix.as_ref().is_some_and(|fix| !fix.edits.is_empty());
    findings.iter().find(|finding| is_reading(finding.rule) && has_edits(finding))
}

/// Checks one recording, see [`crate::check()`].
pub(crate) fn check(files: &FileSet<'_>, options: &Options) -> Report {
    let format = recognise(files, options);
    let most = options.limits.count_of(&FINDINGS);
    let plain =
        |files: &FileSet<'_>| check_into(files, options, Report::new(format, files.len(), most));
    let report = explain(files, options, plain(files), &plain);
    with_undone(files, with_causes(files, options, with_loss(files, report)))
}

/// Returns whether the faults of a report have one cause, without which the report would be
/// `other`.
pub(crate) fn explains(stored: &Report, other: impl FnOnce() -> Report) -> bool {
    let format = stored.format.and_then(catalogue::format);
    let has_faults = format.is_none_or(|format| has_sign(format, stored) && weigh(stored) >= LEAD);
    let other = if has_faults { other() } else { return false };
    if other.format != stored.format {
        // Another format recognises it by chance, or none at all.
        return other.tally.records > 0 && !other.has_errors() && !other.incomplete();
    }
    let is_less = other.has_errors() && hides_data(Cause::Inserted, stored, &other);
    // Faults that both have, such as those of another file, prove nothing.
    let shared = weigh_shared(stored, &other);
    let without = |report: &Report| {
        let mut evidence = Evidence::default();
        evidence.refute(weigh(report).saturating_sub(shared));
        evidence
    };
    let is_ahead = is_clearly_ahead(&without(&other), &without(stored));
    is_ahead && !is_less && !other.incomplete()
}

/// Returns whether some files of a recording have fewer faults in `other`: what they had there has
/// one cause, whatever other files have.
pub(crate) fn explains_files(stored: &Report, other: &Report, files: &[u32]) -> bool {
    let weigh = |report: &Report| {
        let is_inside = |finding: &&Finding| files.contains(&finding.span.layer.file);
        let findings = report.findings().iter().filter(is_inside);
        let weights = findings.map(|finding| weigh_finding(finding).1);
        let mut evidence = Evidence::default();
        evidence.refute(weights.fold(0, u64::saturating_add));
        evidence
    };
    let is_less = hides_data(Cause::Inserted, stored, other);
    let is_same = stored.format == other.format && !is_less && !other.incomplete();
    is_same && is_clearly_ahead(&weigh(other), &weigh(stored))
}

/// Returns whether a conversion that was undone leaves less that contradicts the recording, and
/// more than twice the records: the beginning was converted, so that nothing after it was read.
/// Where nothing at all was read, one fault may stand for all that other damage left.
pub(crate) fn reads_further(stored: &Report, other: &Report) -> bool {
    let (with, without) = (stored.tally.records, other.tally.records);
    let is_less = weigh(other) < weigh(stored) || with == 0 && without >= RECORDS_MIN;
    without > with.saturating_mul(2)
        && other.format == stored.format
        && is_less
        && !other.incomplete()
}

/// Returns whether a reading leaves at most half of what contradicts another one.
fn is_clearly_ahead(one: &Evidence<()>, other: &Evidence<()>) -> bool {
    let (one, other) = (one.contradicted(), other.contradicted());
    other.saturating_sub(one) >= LEAD && one.saturating_mul(2) <= other
}

/// Returns `stored`, the report of a check, or that of the reading which explains it.
pub(crate) fn explain(
    files: &FileSet<'_>,
    options: &Options,
    stored: Report,
    check: Check<'_>,
) -> Report {
    let Some(format) = stored.format.and_then(catalogue::format) else { return stored };
    if !has_sign(format, &stored) || weigh(&stored) < LEAD {
        return stored;
    }
    let hints = format.reading_hints(files, options, &stored);
    let is_moved = hints.readings.iter().any(moves_beginning);
    if let Some(reading) = (!is_moved).then(|| read_prefix(files, options)).flatten() {
        // Bytes with which no recording begins are no other reading.
        let proofs = Proofs { known: &[], codes: CopyProofs::default(), signs: &[], most: 0 };
        let read = read(files, reading, (&stored, &proofs), check);
        // Records before it are of the recording: its beginning was moved, and nothing inserted.
        let holds_records = |read: &Read| stored.tally.records > read.report.tally.records;
        let describe = |read: &Read| describe(read, &stored, files, holds_records(read));
        return read.as_ref().map_or_else(|| stored.clone(), describe);
    }
    let mut candidates = gather(files, options, &hints, &stored);
    let signs = format.description().damage.signs_of_reading;
    let most = options.limits.of(&READING_BYTES);
    let proofs = Proofs {
        known: &hints.excess,
        codes: format.description().damage.proofs_of_copy,
        signs,
        most,
    };
    let steps = Steps { rest: steps::rest(), most: options.limits.of(&READING_STEPS) };
    // Each file has its own cause. What is wrong elsewhere contradicts none of its readings.
    let mut tie = None;
    let mut indices: Vec<u32> = candidates.iter().map(|reading| reading.file).collect();
    indices.sort_unstable();
    indices.dedup();
    for index in indices {
        let of_file: Vec<Reading> =
            candidates.extract_if(.., |reading| reading.file == index).collect();
        let of_file = of_file.into_iter().take_while(|_| steps.are_left());
        let decision = race(files, index, of_file, (&stored, &proofs), check);
        match decision.winner() {
            Some(winner @ Candidate { reading: Some(read), .. }) => {
                let has_rival = decision.beaten.iter().any(|one| is_rival(files, winner, one));
                return describe(read, &stored, files, has_rival);
            }
            Some(_) => {}
            None => tie = tie.or(Some(decision)),
        }
    }
    match tie {
        Some(decision) => describe_tie(stored, &decision),
        None => stored,
    }
}

/// Returns whether the first block is in the place of another one, instead of after other bytes.
fn moves_beginning(reading: &Reading) -> bool {
    reading.cause == Cause::Exchanged && reading.file == 0 && reading.range().start == 0
}

/// Returns whether the faults of a report may have one cause.
fn has_sign(format: &dyn Format, report: &Report) -> bool {
    let signs = format.description().damage.signs_of_reading;
    let is_sign = |code: &&'static str| signs.contains(code);
    !report.incomplete() && (report.has_errors() || report.counts().keys().any(is_sign))
}

/// Returns the candidates, at most as many as the limits allow: those of the format first, then
/// the longest blocks.
fn gather(files: &FileSet<'_>, options: &Options, hints: &Hints, stored: &Report) -> Vec<Reading> {
    let limits = &options.limits;
    let (mut allowance, mut repeats) = (Allowance(limits.of(&READING_BYTES)), Vec::new());
    for span in stored.faults().filter(|span| span.layer.is_stored()).take(FAULTS) {
        let source = files.bytes(span.layer.file);
        let near = BLOCKS.map(|len| repeats::find_near(&source, span.start, len, &mut allowance));
        repeats.extend(near.into_iter().flatten().map(|repeat| (span.layer.file, repeat)));
    }
    for (index, file) in (0_u32..).zip(files.files()) {
        for (_, len) in hints.excess.iter().filter(|(file, _)| *file == index) {
            let found = repeats::find_at_distance(&file.bytes, *len, &mut allowance);
            repeats.extend(found.into_iter().map(|repeat| (index, repeat)));
        }
        let found = repeats::find(&file.bytes, &mut allowance);
        repeats.extend(found.into_iter().map(|repeat| (index, repeat)));
    }
    // A distance that a format knows comes first; so do long blocks.
    let is_known = |(file, repeat): &(u32, Repeat)| hints.excess.contains(&(*file, repeat.len));
    repeats
        .sort_by_key(|one| (!is_known(one), u64::MAX.saturating_sub(one.1.len), one.0, one.1.at));
    repeats.dedup_by(|two, one| is_same_block(one, two));
    let doubled = repeats.iter().map(|(file, one)| Reading::doubled(*file, one.at, one.len));
    let all = hints.readings.iter().cloned().chain(doubled);
    // Each candidate is a check of the whole recording, and of what it expands to.
    let share = if stored.tally.records == 0 { UNREADABLE } else { 1 };
    let bytes = files.len().max(stored.tally.expanded).saturating_mul(share);
    let most = limits.of(&READING_BYTES).checked_div(bytes).unwrap_or(0).max(1);
    all.take(limits.count_of(&READINGS).min(to_usize(most))).collect()
}

/// Returns whether two repeats leave the same bytes when one block of each is dropped.
fn is_same_block(one: &(u32, Repeat), two: &(u32, Repeat)) -> bool {
    let reaches = |one: &Repeat, two: &Repeat| {
        one.at <= two.at && two.at <= one.at.saturating_add(one.run).saturating_sub(one.len)
    };
    let is_near = reaches(&one.1, &two.1) || reaches(&two.1, &one.1);
    one.0 == two.0 && one.1.len == two.1.len && is_near
}

/// A reading, or the stored bytes, in the race.
type Contestant = Candidate<Option<Read>, ()>;

/// The knowledge that tells a copy from bytes that a recording holds twice.
struct Proofs<'h> {
    /// Lengths by which a file is too long.
    known: &'h [(u32, u64)],
    codes: CopyProofs,
    /// Warnings that may have one cause, like errors.
    signs: &'static [&'static str],
    /// Bytes that the search for a block at a third place may read.
    most: u64,
}

impl Proofs<'_> {
    /// Returns whether a reading leaves fewer errors, or fewer of the signs.
    fn are_fewer(&self, stored: &Report, report: &Report) -> bool {
        let count = |report: &Report, code: &str| report.counts().get(code).copied().unwrap_or(0);
        report.count_of(Severity::Error) < stored.count_of(Severity::Error)
            || self.signs.iter().any(|code| count(report, code) < count(stored, code))
    }

    /// Returns whether a size or a count shows the length of a copy.
    fn show_length(&self, reading: &Reading, stored: &Report, report: &Report) -> bool {
        let len = reading.sizes().0;
        let mut sizes = self.codes.sizes.iter();
        let is_known = self.known.contains(&(reading.file, len));
        is_known || len >= LARGE && sizes.any(|code| vanishes(code, stored, report))
    }

    /// Returns whether `report`, that of a reading of `source`, lacks faults that only its cause
    /// explains.
    fn hold(
        &self,
        (reading, source): (&Reading, &Source<'_>),
        stored: &Report,
        report: &Report,
    ) -> bool {
        if reading.cause != Cause::Doubled || self.show_length(reading, stored, report) {
            return true;
        }
        let copy = reading.range();
        let is_inside = |finding: &&Finding| {
            let span = finding.stored.unwrap_or(finding.span);
            span.layer == Layer::stored(reading.file) && copy.contains(&span.start)
        };
        let mut inside = stored.findings().iter().filter(is_inside);
        let returns = |finding: &Finding| {
            let code = finding.rule.code;
            self.codes.returns.contains(&code) && vanishes(code, stored, report)
        };
        // A loss in a loop moves its passes against one another, which looks like a copy of a part
        // of a pass.
        let is_elsewhere = || {
            let places = [reading.original().unwrap_or(copy.start), copy.start];
            let most = source.len().saturating_mul(ELSEWHERE).min(self.most);
            repeats::is_elsewhere(source, places, reading.sizes().0, &mut Allowance(most))
        };
        inside.any(returns) && !is_elsewhere()
    }
}

/// Returns whether a check of the stored bytes reports a code, and that of a reading does not.
fn vanishes(code: &str, stored: &Report, report: &Report) -> bool {
    let count = |report: &Report| report.counts().get(code).copied().unwrap_or(0);
    count(stored) > 0 && count(report) == 0
}

/// The steps that all readings of a recording may take.
struct Steps {
    /// Steps that were left to the thread before the first one.
    rest: u64,
    most: u64,
}

impl Steps {
    /// Returns whether another reading may begin: at least one may.
    fn are_left(&self) -> bool {
        self.rest.saturating_sub(steps::rest()) < self.most
    }
}

/// Runs the check over the view of each candidate of a file and compares all with the stored bytes.
fn race(
    files: &FileSet<'_>,
    file: u32,
    candidates: impl Iterator<Item = Reading>,
    (stored, proofs): (&Report, &Proofs<'_>),
    check: Check<'_>,
) -> Decision<Option<Read>, ()> {
    let elsewhere = weigh_elsewhere(stored, file);
    let evidence_of = |report: &Report| {
        let mut evidence = Evidence::default();
        evidence.refute(weigh(report).saturating_sub(elsewhere));
        evidence
    };
    let all = candidates.filter_map(|reading| {
        let read = read(files, reading, (stored, proofs), check)?;
        // Of two readings that explain nearly as much, the one that leaves less to correct.
        let left = weigh(&read.report).saturating_mul(COSTS);
        let cost = cost_of(read.reading.cause).saturating_add(left);
        let evidence = evidence_of(&read.report);
        Some(Candidate { reading: Some(read), cost, evidence })
    });
    let unread = Candidate { reading: None, cost: 0, evidence: evidence_of(stored) };
    decide(std::iter::once(unread).chain(all), is_clearly_ahead)
}

/// Returns what the findings in other files contradict.
fn weigh_elsewhere(report: &Report, file: u32) -> u64 {
    let is_other = |finding: &&Finding| finding.span.layer.file != file;
    let weights = report.findings().iter().filter(is_other);
    weights.map(|finding| weigh_finding(finding).1).fold(0, u64::saturating_add)
}

/// Returns whether a dearer reading explains as much as the winner and leaves other bytes: only the
/// cost decides between them, which proves nothing.
fn is_rival(files: &FileSet<'_>, winner: &Contestant, other: &Contestant) -> bool {
    let (Some(read), Some(rival)) = (&winner.reading, &other.reading) else { return false };
    let (file, one, two) = (read.reading.file, patch(files, &read.reading), &rival.reading);
    let (Some(one), Some(two)) = (one, patch(files, two)) else { return false };
    other.evidence.contradicted() <= winner.evidence.contradicted()
        && (rival.reading.file != file
            || !is_equal(&view(files, &one).bytes(file), &view(files, &two).bytes(file)))
}

fn is_equal(one: &Source<'_>, two: &Source<'_>) -> bool {
    let places = (0..one.len()).step_by(to_usize(COMPARED));
    let mut places = places.map(|at| (at, at.saturating_add(COMPARED)));
    one.len() == two.len() && places.all(|(at, end)| one.read(at, end) == two.read(at, end))
}

/// Runs the check over the view of a reading; `None` if the cause does not fit.
fn read(
    files: &FileSet<'_>,
    reading: Reading,
    (stored, proofs): (&Report, &Proofs<'_>),
    check: Check<'_>,
) -> Option<Read> {
    let patches = patch(files, &reading)?;
    let report = check(&view(files, &patches));
    let source = files.bytes(reading.file);
    let is_explained = !report.has_errors() && proofs.hold((&reading, &source), stored, &report);
    let is_doubled = reading.cause == Cause::Doubled;
    let is_small = reading.sizes().0 < LARGE && is_doubled;
    let is_blank = reading.drops_zeros(&source) && report.verdict() != Verdict::Unreadable;
    // A loop that lost some bytes reads like one with a block that is repeated, and in zeros any
    // length is repeated: then a known one may be that of bytes that were inserted elsewhere.
    let is_loop = is_doubled && repeats::is_loop(&source, reading.range().start, reading.sizes().0);
    if is_small && (weigh(&report) > 0 || !is_explained)
        || is_loop && !proofs.show_length(&reading, stored, &report)
        || report.incomplete()
        || !proofs.are_fewer(stored, &report)
        || hides_data(reading.cause, stored, &report) && !is_blank
    {
        return None;
    }
    let file = to_usize(reading.file.into());
    let offsets = patches.get(file)?.source_offsets();
    Some(Read { reading, offsets, report, is_proven: is_explained && !is_loop })
}

/// Returns the patches of all files by which a recording is read.
fn patch(files: &FileSet<'_>, reading: &Reading) -> Option<Vec<Patch>> {
    let edits: Vec<Edit> = edits_of(reading);
    let patch = |(index, file): (u32, &File<'_>)| {
        if index == reading.file {
            Patch::from_edits(file.bytes.len(), &edits).ok()
        } else {
            Some(Patch::unchanged(&file.bytes))
        }
    };
    (0_u32..).zip(files.files()).map(patch).collect()
}

/// Returns the cost of a cause: the one that assumes least is the cheapest.
const fn cost_of(cause: Cause) -> u64 {
    match cause {
        Cause::Doubled => 1,
        Cause::Inserted => 2,
        Cause::Missing => 3,
        Cause::Exchanged => 2,
    }
}

/// Returns what a report contradicts.
fn weigh(report: &Report) -> u64 {
    let errors = report.count_of(Severity::Error).saturating_mul(ERROR);
    let warnings = report.count_of(Severity::Warning).saturating_mul(WARNING);
    let determined = report.findings().iter().map(|finding| {
        let (weight, left) = weigh_finding(finding);
        weight.saturating_sub(left)
    });
    errors.saturating_add(warnings).saturating_sub(determined.fold(0, u64::saturating_add))
}

/// Returns what a finding contradicts, as a fault and with its fix.
fn weigh_finding(finding: &Finding) -> (u64, u64) {
    let weight = match finding.severity {
        Severity::Error => ERROR,
        Severity::Warning => WARNING,
        Severity::Info => 0,
    };
    // Each edit is a correction of its own.
    let fix = finding.fix.as_ref().filter(|fix| fix.safety == Safety::Exact);
    let edits = fix.map_or(0, |fix| to_u64(fix.edits.len()));
    (weight, if edits == 0 { weight } else { weight.min(edits) })
}

/// Returns what the findings contradict that two reports have at the same places.
fn weigh_shared(one: &Report, other: &Report) -> u64 {
    let place = |finding: &Finding| (finding.rule.code, finding.span, finding.severity);
    let others: HashSet<_> = other.findings().iter().map(place).collect();
    let shared = one.findings().iter().filter(|finding| others.contains(&place(finding)));
    shared.map(|finding| weigh_finding(finding).1).fold(0, u64::saturating_add)
}

/// Returns whether fewer faults are left because less can be read, or other errors instead.
fn hides_data(cause: Cause, stored: &Report, report: &Report) -> bool {
    let is_unread = report.verdict() == Verdict::Unreadable;
    let (before, after) = (stored.tally.records, report.tally.records);
    let has_new_errors = cause == Cause::Doubled && has_new_errors(stored, report);
    is_unread || after.saturating_mul(2) < before || has_new_errors
}

/// Returns whether a rule fires more often than before, as an error.
fn has_new_errors(before: &Report, after: &Report) -> bool {
    let is_error =
        |code: &str| catalogue::rule(code).is_none_or(|rule| rule.severity == Severity::Error);
    let count = |code: &str| before.counts().get(code).copied().unwrap_or(0);
    after.counts().iter().any(|(code, now)| is_error(code) && *now > count(code))
}
