//! One way to redact a recording: the edits, and whether the result is worse.

use std::collections::BTreeMap;

use super::collect::{Collector, Kinds, Replaced, sort};
use super::damage::Left;
use super::{RedactError, RedactRequest, Redaction};
use crate::audit::sight;
use crate::format::Format;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::words::{byte_count, plural};
use crate::mend::applied::Applied;
use crate::mend::reading::check;
use crate::mend::rounds::{Outcome, Repair, view};
use crate::mend::trial::find_harm;
use crate::mend::view::patch_files;
use crate::model::edit::{Edit, Safety};
use crate::model::limits::REDACTED;
use crate::model::options::Options;
use crate::model::patch::Patch;
use crate::model::recording::FileSet;
use crate::model::tile::{Tile, TileKind};
use crate::model::{Finding, Report, Rule, Severity, Verdict};
use crate::sight::rules::sender;

/// A way to redact a recording.
#[derive(Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub(super) files: &'a FileSet<'a>,
    pub(super) options: &'a Options,
    pub(super) format: &'static dyn Format,
    pub(super) request: &'a RedactRequest,
    pub(super) left: Left<'a>,
}

impl<'a> Attempt<'a> {
    /// Redacts a recording with this report.
    pub(super) fn run(&self, before: &Report) -> Result<Redaction, RedactError> {
        let Self { files, options, format, .. } = *self;
        let max = options.limits.of(&REDACTED);
        let collector = self.collect(files, before);
        if collector.is_full() {
            let max = byte_count(max);
            let limit = format!("CM9001 limit-reached: fillers and names take more than {max}");
            return Err(RedactError::Limit(format!("{limit} (limit {})", REDACTED.name)));
        }
        let [redacted, kept] = collector.sightings();
        let shared_names = collector.shared_names();
        let (patches, applied, mut records_gone) = patch(files, options, format, collector)?;
        if before.has_errors() {
            let damage = applied.iter().find(|one| one.finding.rule.code == sender::DAMAGE.code);
            let places = damage.map(|one| one.places.as_slice()).unwrap_or_default();
            records_gone =
                records_gone.saturating_add(count_records(files, options, format, places));
        }
        let after = check(&view(files, &patches), options);
        let (outcome, before) = (Outcome::Clean, before.clone());
        let mut repair = Repair { outcome, patches, applied, before, after, refused: None };
        if repair.changes() {
            repair.outcome = Outcome::RepairedWithLoss;
        }
        refuse_harm(&repair, records_gone)?;
        // A recording with errors has further rounds.
        if !repair.before.has_errors() {
            self.refuse_left(&repair.output(files), &repair.after)?;
        }
        Ok(Redaction { repair, redacted, left: kept, shared_names })
    }

    /// Returns the places of the damage that it replaces.
    pub(super) fn damage(&self, report: &Report) -> Vec<Span> {
        self.collect(self.files, report).damage
    }

    /// Collects the private content of a recording with this report.
    fn collect(&self, files: &FileSet<'_>, report: &Report) -> Collector<'a> {
        let max = self.options.limits.of(&REDACTED);
        let mut collector = Collector::new(self.request, self.left, max);
        sight(files, self.options, self.format, (report, &mut collector));
        collector
    }

    /// Fails if an audit of the result still finds what was to be replaced.
    fn refuse_left(&self, output: &FileSet<'_>, report: &Report) -> Result<(), RedactError> {
        let again = self.collect(output, report);
        let [redacted, _] = again.sightings();
        let is_left = again.is_full() || !again.replaced.is_empty() || !again.renamed.is_empty();
        match redacted.first() {
            Some(one) => Err(RedactError::Harm(format!("a second audit finds {one}"))),
            None if is_left => Err(RedactError::Harm("a second audit finds more".to_string())),
            None => Ok(()),
        }
    }
}

/// Fails if a recording was not read, or not to its end.
pub(super) fn refuse_unread(report: &Report) -> Result<(), RedactError> {
    if report.incomplete() {
        let message = "a limit was reached before the whole recording was read";
        return Err(RedactError::Limit(message.to_string()));
    }
    match report.verdict() {
        Verdict::Unreadable => Err(RedactError::Unreadable),
        _ => Ok(()),
    }
}

/// Returns the number of records that have one of these places.
fn count_records(
    files: &FileSet<'_>,
    options: &Options,
    format: &dyn Format,
    places: &[Span],
) -> u64 {
    let mut places = places.to_vec();
    places.sort_by_key(|place| (place.layer, place.start));
    let mut count = 0_u64;
    format.tile(files, options, &mut |tile: Tile, _| {
        let next = places.partition_point(|place| {
            (place.layer, place.end) <= (tile.span.layer, tile.span.start)
        });
        let is_hit = places.get(next).is_some_and(|place| place.overlaps(&tile.span));
        count = count.saturating_add(u64::from(is_hit && tile.kind == TileKind::Record));
    });
    count
}

/// Builds the patches, and the entry of each kind of content. Also returns the number of stored
/// records that only held expanded bytes and are no longer there.
fn patch(
    files: &FileSet<'_>,
    options: &Options,
    format: &'static dyn Format,
    collector: Collector<'_>,
) -> Result<(Vec<Patch>, Vec<Applied>, u64), RedactError> {
    let Collector { replaced, renamed, .. } = collector;
    let mut places: BTreeMap<&'static str, (&'static Rule, Vec<Span>)> = BTreeMap::new();
    let (stored, expanded): (Vec<Replaced>, Vec<Replaced>) =
        sort(replaced).into_iter().partition(|one| one.edit.span.layer.is_stored());
    let mut edits: Vec<Edit> = Vec::with_capacity(stored.len());
    for Replaced { edit, kinds } in stored {
        for rule in kinds.rules() {
            places.entry(rule.code).or_insert_with(|| (rule, Vec::new())).1.push(edit.span);
        }
        edits.push(edit);
    }
    let mut records_gone = 0;
    if !expanded.is_empty() {
        let kinds = expanded.iter().fold(Kinds::default(), |all, one| all.with(one.kinds));
        let inner: Vec<Edit> = expanded.into_iter().map(|one| one.edit).collect();
        let stored = format.store(files, &inner, options).map_err(RedactError::from)?;
        let place = |span: Span| (span.layer.file, span.start);
        let outer = stored.edits;
        records_gone = stored.records_gone;
        for rule in kinds.rules() {
            let spans = &mut places.entry(rule.code).or_insert_with(|| (rule, Vec::new())).1;
            spans.extend(outer.iter().map(|edit| edit.span));
        }
        // Damage inside a unit that is stored anew is gone.
        let is_inside = |span: Span| {
            let next = outer.partition_point(|new| place(new.span) <= place(span));
            let last = next.checked_sub(1).and_then(|last| outer.get(last));
            last.is_some_and(|new| new.span.layer == span.layer && span.end <= new.span.end)
        };
        edits.retain(|edit| !is_inside(edit.span));
        edits.extend(outer);
        edits.sort_by_key(|edit| place(edit.span));
    }
    for one in &renamed {
        let span = Span::new(Layer::stored(one.file), 0, 0);
        places.entry(one.rule.code).or_insert_with(|| (one.rule, Vec::new())).1.push(span);
    }
    let name_of = |file| renamed.iter().find(|one| one.file == file).map(|one| one.name.clone());
    let patches = patch_files(files, &edits, name_of)
        .map_err(|error| RedactError::Harm(error.to_string()))?;
    Ok((patches, places.into_values().map(describe).collect(), records_gone))
}

/// The entry of a kind of content, with the places of its edits.
fn describe((rule, places): (&'static Rule, Vec<Span>)) -> Applied {
    let span = places.first().copied();
    let span = span.unwrap_or_else(|| Span::new(Layer::stored(0), 0, 0));
    let message = format!("replaced in {}", plural(to_u64(places.len()), "place"));
    let mut applied = Applied::new(1, Finding::new(rule, span, rule.name, message), places);
    applied.class = Safety::Lossy;
    applied
}

/// Fails if the result has a fault that the recording does not have, or other records than it has
/// without the `records_gone`. A recording with errors may get others instead, but no more, and
/// bytes that a decoder took for records may be some no longer.
fn refuse_harm(repair: &Repair, records_gone: u64) -> Result<(), RedactError> {
    let Repair { before, after, .. } = repair;
    refuse_unread(after)?;
    let count = |report: &Report, gone: u64| {
        (report.tally.records.saturating_add(gone), report.tally.samples.saturating_add(gone))
    };
    if before.has_errors() {
        let [was, now] = [before, after].map(|report| report.count_of(Severity::Error));
        if now > was {
            let (now, was) = (plural(now, "error"), plural(was, "error"));
            return Err(RedactError::Harm(format!("{now} instead of {was}")));
        }
        let (was, now) = (count(before, 0), count(after, records_gone));
        let lost = was.0.saturating_sub(now.0).max(was.1.saturating_sub(now.1));
        return match lost {
            0 => Ok(()),
            lost => Err(RedactError::Harm(format!("{} would be lost", plural(lost, "record")))),
        };
    }
    if let Some(harm) = find_harm(before, after, records_gone) {
        return Err(RedactError::Harm(harm));
    }
    if after.has_errors() {
        return Err(RedactError::Harm("it would have errors".to_string()));
    }
    let records = after.tally.records.saturating_add(records_gone);
    if (before.tally.records, before.tally.samples) != (records, after.tally.samples) {
        return Err(RedactError::Harm("the number of records would change".to_string()));
    }
    Ok(())
}
