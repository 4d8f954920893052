//! One finding for each region of damage.

use std::collections::BTreeSet;

use super::describe::{describe_error, describe_warning};
use super::region::Region;
use super::{Loss, TraceCheck, stream_span};
use crate::formats::apitrace::decode::damage::{Damage, DamageCause};
use crate::formats::apitrace::decode::definitions::Definitions;
use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::expand::{Fault, stored};
use crate::formats::apitrace::limits::PLACEHOLDERS;
use crate::formats::apitrace::recover::signatures::Evidence;
use crate::formats::apitrace::repair::damage::{DamageRepair, DonorOrigin};
use crate::formats::apitrace::repair::fixes::FixPlan;
use crate::formats::apitrace::rules;
use crate::kit::num::to_u64;
use crate::kit::ranges::{HELD, count_numbers};
use crate::kit::words::{byte_count, list, plural, range};
use crate::model::edit::{Fix, Safety};
use crate::model::{Finding, Rule};

/// Places besides the first one that a finding names.
const RELATED: usize = 4;
/// Ranges of calls that a note lists; a fact lists more.
const RANGES_SHOWN: usize = 3;

impl<'r> TraceCheck<'r, '_> {
    pub(super) fn check_damages(&mut self) {
        let units_end = self.units_end();
        let mut repair = DamageRepair::new(self.editor, &self.trace, self.definitions(), units_end);
        let leaves = std::mem::take(&mut self.trace.tracker.lost_calls.leaves);
        // Bytes that stand for lost ones are written with the first region, at least one per call.
        let mut incomplete = count_numbers(self.trace.tracker.lost_calls.incomplete.at_most(HELD));
        let regions = self.take_regions();
        let mut starts: Vec<u64> = regions.iter().map(|region| region.start).skip(1).collect();
        starts.push(u64::MAX);
        for (region, until) in regions.into_iter().zip(starts) {
            self.losses.extend(region.damages.iter().map(|damage| Loss {
                first: damage.calls.first,
                lost: damage.lost_calls(),
                suspects: damage.suspects(),
            }));
            let finding = self.region_finding(&region);
            if let Some(why) = self.describe_obstacle(&region) {
                self.add(finding.fix(Fix::manual(why)));
                continue;
            }
            // Without an event nothing is left that were worth a trace.
            let is_empty = self.trace.tracker.history.count == 0;
            if region.open().is_some_and(|damage| damage.start == 0 || is_empty) {
                self.add(finding);
                continue;
            }
            let mut edits = Vec::new();
            for damage in &region.damages {
                edits.extend(repair.edits(damage, &self.trace));
            }
            // A leave whose enter was lost would contradict the placeholder of its call.
            let of_region = leaves.iter().filter(|one| (region.start..until).contains(&one.start));
            let drops = of_region.filter_map(|leave| {
                Some(self.editor.edit(leave.start, leave.end, Vec::new(), leave.place?))
            });
            let before = edits.len();
            edits.extend(drops);
            let dropped_leaves = to_u64(edits.len().saturating_sub(before));
            let summary = self.region_summary(&region);
            let is_chosen = self.donor.is_some_and(|donor| donor.origin == DonorOrigin::Chosen);
            let has_placeholders = !is_chosen && self.count_made_up(&region.definitions()) > 0;
            let wrong_leaves =
                region.warnings.iter().filter(|(warning, _)| warning.kind.is_leave()).count();
            let wrong_leaves = to_u64(wrong_leaves);
            let altered = to_u64(region.warnings.len()).saturating_sub(wrong_leaves);
            edits.extend(region.warnings.into_iter().map(|(_, edit)| edit));
            // Even if it only adds to the stream: the damaged unit is written again, and bytes that
            // nobody knows to be sound are stored as if they were.
            let mut plan = FixPlan::of_stream(Safety::Lossy, summary, edits);
            plan.events_lost = dropped_leaves.saturating_add(wrong_leaves);
            plan.events_altered = altered.saturating_add(std::mem::take(&mut incomplete));
            plan.option = has_placeholders.then_some("--donor other.trace");
            self.add_with_plan(finding, plan);
        }
    }

    /// Returns why a region is not repaired, if it is not.
    fn describe_obstacle(&self, region: &Region) -> Option<String> {
        let (lost, most) = (region.count_lost_calls(), self.options.limits.of(&PLACEHOLDERS));
        if lost > most {
            return Some(format!(
                "limit reached: {lost} calls need placeholders, at most {most} are added; a number \
                 of that size is probably damaged itself"
            ));
        }
        let is_given_up = region.open().is_some() && self.trace.faults.limit.is_some();
        is_given_up.then(|| "bytes that were not checked are not dropped".to_string())
    }

    fn damage_rule(&self, damage: &Damage) -> (&'static Rule, String) {
        let unit = self.trace.container.unit();
        match &damage.cause {
            DamageCause::Unit(Fault::Length { stated, found, .. }) => (
                &rules::CHUNK_LENGTH_WRONG,
                format!(
                    "compressed_length is {stated}, but the next chunk begins after {found} bytes"
                ),
            ),
            DamageCause::Unit(Fault::Corrupt { detail }) => {
                (&rules::CHUNK_CORRUPT, format!("{unit} cannot be decoded: {detail}"))
            }
            DamageCause::Unit(_) => (&rules::CHUNK_CORRUPT, format!("{unit} cannot be decoded")),
            DamageCause::Stream(_) if damage.is_empty() && damage.calls.lost > 0 => (
                &rules::CALLS_MISSING,
                "inconsistent call numbers: the leaves show that calls are missing".to_string(),
            ),
            DamageCause::Stream(_) if damage.is_empty() => {
                let undefined = plural(to_u64(damage.definitions.len()), "id");
                (&rules::DEFINITION_MISSING, format!("missing definition: {undefined} undefined"))
            }
            DamageCause::Stream(error) => describe_error(*error),
        }
    }

    fn region_finding(&self, region: &Region) -> Finding {
        let (rule, mut message) = match region.cause() {
            Some(cause) => self.damage_rule(cause),
            None => (&rules::STREAM_DAMAGED, String::new()),
        };
        let damaged = region.count_damaged_bytes();
        if damaged > 0 {
            message += &format!("; {} cannot be decoded", byte_count(damaged));
        }
        if region.open().is_some() {
            message += "; no valid event found after them";
        }
        let call = region.damages.first().map_or(0, |damage| damage.calls.first);
        let end = region.damages.last().map_or(region.start, |damage| damage.end);
        let span = stream_span(region.start, end.max(region.start));
        let mut finding = Finding::new(rule, span, format!("call[{call}]"), message);
        finding.notes = self.region_notes(region);
        self.add_places(finding, region)
    }

    /// Returns lines about the calls and definitions that a region affects.
    fn region_notes(&self, region: &Region) -> Vec<String> {
        let mut notes = Vec::new();
        let lost = region.count_lost_calls();
        if lost > 0 {
            let calls = plural(lost, "call");
            notes.push(format!("{calls} lost: {}", list_ranges(&region.lost_calls())));
        } else if region.open().is_none() {
            notes.push(match self.is_followed(region) {
                true => "all calls are kept".to_string(),
                false => {
                    "no complete call follows: how many calls were lost is unknown".to_string()
                }
            });
        }
        let definitions = region.definitions();
        if !definitions.is_empty() {
            let lost = plural(to_u64(definitions.len()), "definition");
            notes.push(match self.count_made_up(&definitions) {
                0 => format!("{lost} lost; found in {}", self.donor_name()),
                _ => format!("{lost} lost: calls that use them may be wrong"),
            });
        }
        let suspects = region.suspects();
        if !suspects.is_empty() {
            let calls = plural(count_numbers(suspects.iter().copied()), "call");
            let numbers = list_ranges(&suspects);
            notes.push(format!("{calls} may have wrong arguments: {numbers}"));
        }
        notes
    }

    /// Returns whether a complete call follows a region: its number shows whether calls were lost.
    fn is_followed(&self, region: &Region) -> bool {
        let Some(last) = region.damages.last() else { return false };
        let calls = &self.trace.tracker.calls;
        let first = last.calls.first.saturating_add(last.calls.lost);
        let open = calls.open_calls().iter().filter(|open| open.number >= first).count();
        calls.next.saturating_sub(first) > to_u64(open)
    }

    /// Adds the stored bytes of a region, and the places that belong to its cause.
    fn add_places(&self, mut finding: Finding, region: &Region) -> Finding {
        let Some(cause) = region.cause() else { return finding };
        let units = cause
            .units
            .at_fault
            .map(|unit| stored(unit.stored.start, unit.stored.end.max(cause.units.stored_end)));
        finding.stored = match &cause.cause {
            DamageCause::Unit(_) => units,
            DamageCause::Stream(_) => self.stored_of(finding.span, cause.units.place).or(units),
        };
        let excerpt = region.damages.first().and_then(|damage| damage.excerpt.clone());
        finding.excerpt = excerpt.or_else(|| cause.excerpt.clone());
        let others = region.damages.iter().filter(|damage| !std::ptr::eq(*damage, cause));
        for damage in others.take(RELATED) {
            let span = stream_span(damage.start, damage.end);
            finding = finding.related(span, self.damage_rule(damage).1);
        }
        for (warning, _) in region.warnings.iter().take(RELATED) {
            let span = stream_span(warning.at, warning.end);
            finding = finding.related(span, describe_warning(warning.kind).1);
        }
        finding
    }

    fn definitions(&self) -> Option<&'r Definitions> {
        self.donor.map(|donor| donor.definitions)
    }

    fn donor_name(&self) -> String {
        let Some(donor) = self.donor else { return "the donor".to_string() };
        match donor.origin {
            DonorOrigin::Chosen => "the donor".to_string(),
            DonorOrigin::Build(Evidence::Definitions) => {
                format!("the signatures of {}", donor.name)
            }
            DonorOrigin::Build(Evidence::Calls) => {
                format!("the signatures of {}, which the calls fit", donor.name)
            }
        }
    }

    /// Returns how many of the definitions the donor does not have.
    fn count_made_up(&self, definitions: &BTreeSet<(Space, u64)>) -> usize {
        let is_made_up = |(space, id): &&(Space, u64)| {
            self.definitions().is_none_or(|donor| donor.raw(*space, *id).is_none())
        };
        definitions.iter().filter(is_made_up).count()
    }

    fn region_summary(&self, region: &Region) -> String {
        let mut parts = Vec::new();
        let dropped = region.count_dropped_bytes();
        if dropped > 0 {
            parts.push(format!("drop {} of the stream", byte_count(dropped)));
        }
        if region.open().is_some() {
            parts.push("cut the trace after the last valid event".to_string());
        }
        if region.damages.iter().any(|damage| damage.has_header) {
            let is_whole = region.start == 0;
            let added = if is_whole { "add a header" } else { "end the properties before it" };
            parts.push(added.to_string());
        }
        let lost = region.count_lost_calls();
        if lost > 0 {
            parts.push(format!("add {}", plural(lost, "placeholder call")));
        }
        let definitions = region.definitions();
        let made_up = to_u64(self.count_made_up(&definitions));
        let donated = to_u64(definitions.len()).saturating_sub(made_up);
        if donated > 0 {
            let (lost, name) = (plural(donated, "definition"), self.donor_name());
            parts.push(format!("take {lost} from {name}"));
        }
        if made_up > 0 {
            parts.push(format!("add {}", plural(made_up, "placeholder definition")));
        }
        if !region.warnings.is_empty() {
            let faults = plural(to_u64(region.warnings.len()), "smaller fault");
            parts.push(format!("repair {faults} there"));
        }
        if parts.is_empty() {
            parts.push(format!("rewrite the {}", self.trace.container.unit()));
        }
        parts.join(", ")
    }
}

fn list_ranges(ranges: &[(u64, u64)]) -> String {
    let texts: Vec<String> = ranges.iter().map(|(first, last)| range(*first, *last)).collect();
    list(&texts, RANGES_SHOWN, to_u64(texts.len()))
}
