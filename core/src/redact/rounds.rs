//! The rounds of a redaction: a recording with errors is redacted until nothing changes, because
//! blanked bytes can bring further damage to light.

use super::attempt::{Attempt, refuse_unread};
use super::damage::{Blanks, Left, blank_most};
use super::{RedactError, RedactRequest, Redaction, Sighting};
use crate::catalogue;
use crate::format::Format;
use crate::mend::applied::Applied;
use crate::mend::beginning::recognise;
use crate::mend::reading::{check, find_reading};
use crate::mend::rounds::{Outcome, Repair, view};
use crate::mend::view::patch_files;
use crate::model::limits::ROUNDS;
use crate::model::options::Options;
use crate::model::patch::Patch;
use crate::model::recording::FileSet;
use crate::model::{Report, Rule};
use crate::sight::filler::BLANKS;
use crate::sight::rules::sender;

/// Kinds that are left, and named, if the recording would be worse without them, or if all edits
/// take more than the limit.
const LEFT_IF_NEEDED: [&[&Rule]; 4] = [
    &[&sender::UNKNOWN_CONTENT],
    &[&sender::UNKNOWN_CONTENT, &sender::CHOSEN_NAME, &sender::EXTRA_METADATA],
    &[&sender::ADDRESS, &sender::KERNEL_ADDRESS],
    &[
        &sender::ADDRESS,
        &sender::KERNEL_ADDRESS,
        &sender::UNKNOWN_CONTENT,
        &sender::CHOSEN_NAME,
        &sender::EXTRA_METADATA,
    ],
];

/// Redacts a recording, see [`crate::redact()`].
pub(crate) fn redact(
    files: &FileSet<'_>,
    options: &Options,
    request: &RedactRequest,
) -> Result<Redaction, RedactError> {
    let mut options = Options { outline: false, ..options.clone() };
    options.format = recognise(files, &options);
    let before = check(files, &options);
    let format = before.format.filter(|_| !files.is_empty()).and_then(catalogue::format);
    let format = format.ok_or(RedactError::UnknownFormat)?;
    refuse_unread(&before)?;
    let rounds = Rounds { options: &options, format, request };
    if !before.has_errors() {
        return rounds.redact_once(files, &before);
    }
    let read = rounds.drop_damage(files, &before).map(|first| rounds.finish(files, first));
    match read {
        Some(Ok(redaction)) => Ok(redaction),
        _ => rounds.finish(files, unchanged(files, before)),
    }
}

/// The redaction of a recording as it is.
fn unchanged(files: &FileSet<'_>, report: Report) -> Redaction {
    let patches = files.files().iter().map(|file| Patch::unchanged(&file.bytes)).collect();
    let (outcome, applied, after) = (Outcome::Clean, Vec::new(), report.clone());
    let repair = Repair { outcome, patches, applied, before: report, after, refused: None };
    Redaction { repair, redacted: Vec::new(), left: Vec::new(), shared_names: 0 }
}

/// The request and the format of all rounds.
struct Rounds<'a> {
    options: &'a Options,
    format: &'static dyn Format,
    request: &'a RedactRequest,
}

impl Rounds<'_> {
    /// Redacts a recording with errors after `first`, until nothing changes.
    fn finish(&self, files: &FileSet<'_>, first: Redaction) -> Result<Redaction, RedactError> {
        let mut all = first;
        for _ in 0..self.options.limits.of(&ROUNDS) {
            let next = self.redact_once(&all.repair.output(files), &all.repair.after)?;
            let is_last = !next.repair.changes();
            all = join(all, next);
            if is_last {
                return Ok(all);
            }
        }
        Err(RedactError::Harm("each round finds more damage".to_string()))
    }

    /// Drops the bytes that do not belong to the recording if one reading explains its errors.
    fn drop_damage(&self, files: &FileSet<'_>, before: &Report) -> Option<Redaction> {
        let finding =
            find_reading(before.findings()).filter(|_| self.request.selects(&sender::DAMAGE))?;
        let edits = &finding.fix.as_ref()?.edits;
        let patches = patch_files(files, edits, |_| None).ok()?;
        let after = check(&view(files, &patches), self.options);
        refuse_unread(&after).ok()?;
        let count = edits.iter().fold(0, |sum: u64, edit| sum.saturating_add(edit.span.len()));
        let (rule, field, noun) = (&sender::DAMAGE, "file", "dropped byte");
        let places = edits.iter().map(|edit| edit.span).collect();
        let mut redaction = unchanged(files, before.clone());
        redaction.repair.applied = vec![Applied::new(1, finding.clone(), places)];
        (redaction.repair.patches, redaction.repair.after) = (patches, after);
        redaction.repair.outcome = Outcome::RepairedWithLoss;
        redaction.redacted = vec![Sighting { rule, field, noun, count }];
        Some(redaction)
    }

    /// Redacts a recording with this report once.
    fn redact_once(&self, files: &FileSet<'_>, before: &Report) -> Result<Redaction, RedactError> {
        let all = BLANKS.map(Blanks::all);
        let attempt =
            |left: &[&'static Rule], blanks: &Blanks| self.attempt(files, left, blanks).run(before);
        let [first, second] = &all;
        let mut result = attempt(&[], first);
        let mut damage = first;
        let none = Blanks::default();
        if before.has_errors() {
            if is_harm(&result) {
                result = attempt(&[], second);
            }
            if is_harm(&result) {
                let places = self.attempt(files, &[], first).damage(before);
                result = blank_most((&places, files.len()), |blanks| attempt(&[], blanks));
            }
            damage = &none;
        }
        // Nothing is known about some bytes: a reader may need them. Addresses are in every sample,
        // and the rest can do without their edits.
        for left in LEFT_IF_NEEDED {
            let helps = match result {
                Err(RedactError::Limit(_)) => left.contains(&&sender::ADDRESS),
                Err(_) if is_harm(&result) => true,
                _ => return result,
            };
            let is_named = left.iter().any(|rule| self.request.only.contains(rule));
            if helps && !(is_named && left.contains(&&sender::ADDRESS)) {
                result = attempt(left, damage);
            }
        }
        result
    }

    fn attempt<'t>(
        &'t self,
        files: &'t FileSet<'t>,
        kinds: &'t [&'static Rule],
        blanks: &'t Blanks,
    ) -> Attempt<'t> {
        let left = Left { kinds, blanks };
        let Self { options, format, request } = *self;
        Attempt { files, options, format, request, left }
    }
}

/// Returns whether a recording would be worse, or could not be stored.
const fn is_harm(result: &Result<Redaction, RedactError>) -> bool {
    matches!(result, Err(RedactError::Harm(_) | RedactError::Stored(_)))
}

/// Joins the redactions of two rounds; the last one knows what is left.
fn join(all: Redaction, next: Redaction) -> Redaction {
    let Redaction { mut repair, mut redacted, shared_names, .. } = all;
    let offsets: Vec<_> = repair.patches.iter().map(Patch::source_offsets).collect();
    let round = repair.applied.last().map_or(1, |last| last.round.saturating_add(1));
    for mut applied in next.repair.applied {
        for place in &mut applied.places {
            let of_file = usize::try_from(place.layer.file).ok().and_then(|file| offsets.get(file));
            *place = of_file.map_or(*place, |offsets| offsets.of_span(*place));
        }
        applied.round = round;
        repair.applied.push(applied);
    }
    let pairs = repair.patches.iter().zip(&next.repair.patches);
    repair.patches = pairs.map(|(patch, next)| patch.then(next)).collect();
    repair.after = next.repair.after;
    if next.repair.outcome != Outcome::Clean {
        repair.outcome = next.repair.outcome;
    }
    for more in next.redacted {
        let key = |one: &Sighting| (one.rule.code, one.field, one.noun);
        match redacted.iter_mut().find(|one| key(one) == key(&more)) {
            Some(one) => one.count = one.count.saturating_add(more.count),
            None => redacted.push(more),
        }
    }
    redacted.sort_by_key(|one| (one.rule.code, one.field));
    let shared_names = shared_names.saturating_add(next.shared_names);
    Redaction { repair, redacted, left: next.left, shared_names }
}
