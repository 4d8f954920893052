//! From damages to findings: what one bad region of the file did is one finding.
//!
//! Reading may stop often in a unit that is at fault, and what it gives between two stops may be odd:
//! copies of wrong bytes look like events, and leaves carry wrong numbers. All that is told with the
//! cause and mended with it.

use crate::formats::apitrace::limits::PLACEHOLDERS;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::engine::{Damage, Why};
use super::file::{Judgement, Loss, calls, describe, describe_cause, joined};
use super::judge::{Noted, Place};
use crate::formats::apitrace::decode::machine::Space;
use crate::formats::apitrace::expand::{Container, Fault, stored};
use crate::formats::apitrace::layout::{PLACEHOLDER_ID, VERSION_PROPERTIES};
use crate::formats::apitrace::repair::{self, StreamEdit};
use crate::formats::apitrace::rules;
use crate::kit::num::to_u64;
use crate::mend::edit::{Fix, Safety};
use crate::report::{Finding, Rule};

/// Ids that are tried for the function that stands in for lost calls.
const PLACEHOLDER_IDS: u64 = 64;
/// Places beside the first one that a finding names.
const RELATED: usize = 4;
/// Ranges of lost calls that a message lists; a fact lists more.
const LOST_SHOWN: usize = 3;

/// Damages that belong together, and what is odd between them.
struct Region {
    damages: Vec<Damage>,
    /// Where the first one begins.
    start: u64,
    /// Where nothing is in doubt any more.
    end: u64,
    /// The unit that holds the last one.
    unit: Option<u64>,
    odd: Vec<(Noted, StreamEdit)>,
}

/// What a repair puts for lost calls and definitions, as far as it has been put.
struct Invented {
    placeholder: u64,
    defined: bool,
    named: BTreeSet<(Space, u64)>,
}

impl Region {
    /// The damage that explains the others.
    fn cause(&self) -> Option<&Damage> {
        let fault = self.damages.iter().find(|damage| matches!(damage.why, Why::Fault(_)));
        fault.or(self.damages.first())
    }

    fn open(&self) -> Option<&Damage> {
        self.damages.last().filter(|damage| damage.open)
    }

    fn sum(&self, count: impl Fn(&Damage) -> u64) -> u64 {
        self.damages.iter().fold(0, |sum, damage| sum.saturating_add(count(damage)))
    }

    /// Bytes of the stream that are no events.
    fn gone(&self) -> u64 {
        self.sum(|damage| damage.end.saturating_sub(damage.start))
    }

    fn lost(&self) -> u64 {
        self.sum(|damage| if damage.open { 0 } else { damage.lost })
    }

    /// Definitions that were lost, each once.
    fn definitions(&self) -> BTreeSet<(Space, u64)> {
        self.damages.iter().flat_map(|damage| &damage.definitions).copied().collect()
    }

    /// First and last of the calls that may be wrong.
    fn suspects(&self) -> Option<(u64, u64)> {
        let all = || self.damages.iter().filter_map(suspects);
        Some((all().map(|(from, _)| from).min()?, all().map(|(_, to)| to).max()?))
    }
}

impl Judgement<'_, '_> {
    /// The id of the function that stands in for lost calls: one that is used nowhere.
    fn placeholder(&self) -> u64 {
        let ids = PLACEHOLDER_ID..PLACEHOLDER_ID.saturating_add(PLACEHOLDER_IDS);
        let unused = |id: &u64| self.engine.judge.definitions.known(Space::Function, *id).is_none();
        ids.into_iter().find(unused).unwrap_or(PLACEHOLDER_ID)
    }

    /// Stretches that are no events.
    pub(super) fn damages(&mut self) {
        let mut invented =
            Invented { placeholder: self.placeholder(), defined: false, named: BTreeSet::new() };
        let ghosts = std::mem::take(&mut self.engine.judge.ghosts);
        let regions = self.regions();
        let mut starts: Vec<u64> = regions.iter().map(|region| region.start).skip(1).collect();
        starts.push(u64::MAX);
        for (region, until) in regions.into_iter().zip(starts) {
            for damage in &region.damages {
                let lost = if damage.open { 0 } else { damage.lost };
                self.losses.push(Loss { call: damage.call, lost, suspects: suspects(damage) });
            }
            let finding = self.region_finding(&region);
            if let Some(why) = self.unmendable(&region) {
                self.add(finding.fix(Fix::manual(why)));
                continue;
            }
            if region.open().is_some_and(|damage| damage.start == 0) {
                self.add(finding);
                continue;
            }
            let mut stream = Vec::new();
            for damage in &region.damages {
                self.mend_damage(damage, &mut invented, &mut stream);
            }
            let after = |at: u64| region.start <= at && at < until;
            for (start, end, place) in ghosts.iter().filter(|ghost| after(ghost.0)) {
                stream.extend(place.map(|place| self.edit(*start, *end, Vec::new(), place)));
            }
            let summary = self.region_summary(&region);
            let invents =
                |damage: &Damage| damage.start == damage.end && matches!(damage.why, Why::Cause(_));
            let nothing_goes = region.odd.is_empty() && region.damages.iter().all(invents);
            let safety = if nothing_goes { Safety::Synthetic } else { Safety::Lossy };
            let leaves = region.odd.iter().filter(|(noted, _)| noted.oddity.is_leave()).count();
            stream.extend(region.odd.into_iter().map(|(_, edit)| edit));
            self.mend(finding, safety, summary, stream);
            if let Some(mend) = self.mends.last_mut() {
                mend.events_lost = to_u64(leaves);
            }
        }
    }

    /// The damages, those of one cause together, with what is odd among what they put in doubt.
    fn regions(&mut self) -> Vec<Region> {
        let mut regions: Vec<Region> = Vec::new();
        for damage in std::mem::take(&mut self.engine.damages) {
            let unit = self.unit_of(&damage);
            let end = if damage.open { u64::MAX } else { damage.doubt_end };
            let joins = |region: &&mut Region| {
                // An event that was cut at the end of the bad unit ends in the next one.
                damage.start <= region.end || (unit.is_some() && unit == region.unit)
            };
            match regions.last_mut().filter(joins) {
                Some(region) => {
                    region.end = region.end.max(end);
                    region.unit = unit;
                    region.damages.push(damage);
                }
                None => regions.push(Region {
                    start: damage.start,
                    end,
                    unit,
                    damages: vec![damage],
                    odd: Vec::new(),
                }),
            }
        }
        let mut alone = Vec::new();
        for noted in std::mem::take(&mut self.engine.judge.ready) {
            let after = regions.partition_point(|region| region.start <= noted.at);
            let region = after.checked_sub(1).and_then(|index| regions.get_mut(index));
            let region = region.filter(|region| noted.at < region.end);
            // What nothing mends stays, and stands for itself before and after.
            match (region, self.odd_edit(&noted)) {
                (Some(region), Some(edit)) => region.odd.push((noted, edit)),
                _ => alone.push(noted),
            }
        }
        self.engine.judge.ready = alone;
        regions
    }

    /// Where the unit begins that a damage was seen in.
    fn unit_of(&self, damage: &Damage) -> Option<u64> {
        let unit = match &damage.why {
            _ if !self.has_units() => None,
            Why::Fault(_) => damage.unit,
            Why::Cause(_) => self.engine.place(damage.seen, damage.seen).map(|place| place.head),
        };
        unit.map(|unit| unit.stored.start)
    }

    /// Why nothing is done about a region, if nothing is.
    fn unmendable(&self, region: &Region) -> Option<String> {
        let (lost, most) = (region.lost(), self.options.limits.of(&PLACEHOLDERS));
        if lost > most {
            return Some(format!(
                "{lost} calls would need placeholders, {most} are the limit: a number of that size is \
                 likelier damaged than right"
            ));
        }
        let given_up = region.open().is_some() && self.engine.limit.is_some();
        given_up.then(|| "nothing is dropped that was not looked at".to_string())
    }

    /// The edits for one damage.
    fn mend_damage(&self, damage: &Damage, invented: &mut Invented, stream: &mut Vec<StreamEdit>) {
        let version = self.engine.version();
        let mut insert = Vec::new();
        if damage.header {
            insert.extend(repair::uint(version));
            if version >= VERSION_PROPERTIES {
                insert.extend(repair::uint(version));
                insert.push(0);
            }
        }
        if damage.lost > 0 && !damage.open {
            let (id, first, count) = (invented.placeholder, damage.call, damage.lost);
            insert.extend(repair::placeholders(version, id, first, count, !invented.defined));
            invented.defined = true;
        }
        let place = damage.place.or_else(|| self.engine.place(damage.start, damage.end));
        stream.extend(place.map(|place| self.damage_edit(damage, insert, place)));
        for (space, id) in &damage.definitions {
            let Some(lost) = self.engine.judge.lost.get(&(*space, *id)).copied() else { continue };
            if !invented.named.insert((*space, *id)) {
                continue;
            }
            let known = self.donor.and_then(|donor| donor.raw(*space, *id));
            let bytes = match known {
                Some(raw) => raw.to_vec(),
                None => repair::definition(version, *space, *id, lost.items),
            };
            stream.extend(lost.place.map(|place| self.edit(lost.at, lost.at, bytes, place)));
        }
    }

    fn damage_edit(&self, damage: &Damage, insert: Vec<u8>, place: Place) -> StreamEdit {
        let mut edit = self.edit(damage.start, damage.end, insert, place);
        if let (Why::Fault(_), Some(unit)) = (&damage.why, damage.unit) {
            if matches!(self.container, Container::Snappy | Container::Zstd)
                && unit.stored.start < edit.stored.start
            {
                edit.stored = stored(unit.stored.start, edit.stored.end);
                edit.base = unit.expanded.start;
            }
            let end = edit.stored.end.max(damage.units_end);
            edit.stored = stored(edit.stored.start, end);
        }
        if damage.open {
            edit.end = u64::MAX;
            edit.stored = stored(edit.stored.start, self.first_part_end());
        }
        edit
    }

    fn damage_rule(&self, damage: &Damage) -> (&'static Rule, String) {
        let at_once = damage.start == damage.end;
        match &damage.why {
            Why::Fault(Fault::Length { said, found, .. }) => (
                &rules::CHUNK_LENGTH_WRONG,
                format!("the chunk's length is {said}, the next chunk begins after {found} bytes"),
            ),
            Why::Fault(Fault::Corrupt { detail }) => (
                &rules::CHUNK_CORRUPT,
                format!("the {} does not decode: {detail}", self.container.unit()),
            ),
            Why::Fault(_) => (&rules::CHUNK_CORRUPT, "bytes between two chunks".to_string()),
            Why::Cause(_) if at_once && damage.lost > 0 => (
                &rules::CALLS_MISSING,
                "the leaves' numbers say that calls are missing".to_string(),
            ),
            Why::Cause(_) if at_once => {
                (&rules::DEFINITION_MISSING, "ids are used that nothing defines".to_string())
            }
            Why::Cause(cause) => describe_cause(*cause),
        }
    }

    fn region_finding(&self, region: &Region) -> Finding {
        let (rule, mut message) = region
            .cause()
            .map_or((&rules::STREAM_DAMAGED, String::new()), |cause| self.damage_rule(cause));
        let gone = region.gone();
        if gone > 0 {
            let _infallible = write!(message, "; {gone} bytes of the stream are no events");
        }
        let lost = region.lost();
        if region.open().is_some() {
            message += "; nothing sound was found behind them";
        }
        if lost > 0 {
            let ranges = region.damages.iter().filter(|damage| damage.lost > 0 && !damage.open);
            let ranges = ranges.map(|damage| {
                let last = damage.call.saturating_add(damage.lost).saturating_sub(1);
                format!("{} to {last}", damage.call)
            });
            let _infallible =
                write!(message, "; {} lost: {}", calls(lost), joined(ranges, LOST_SHOWN));
        } else if region.open().is_none() {
            message += "; no call is lost";
        }
        let definitions = region.definitions();
        if !definitions.is_empty() {
            let _infallible = match definitions.len() {
                1 => write!(message, "; 1 definition is lost"),
                count => write!(message, "; {count} definitions are lost"),
            };
            if self.made_up(&definitions) > 0 {
                message += ", and calls that use them may be wrong";
            }
        }
        if let Some((from, to)) = region.suspects() {
            let _infallible = write!(message, "; calls {from} to {to} may be wrong");
        }
        let call = region.damages.first().map_or(0, |damage| damage.call);
        let end = region.damages.last().map_or(region.start, |damage| damage.end);
        let span = Self::span(region.start, end.max(region.start));
        let finding = Finding::new(rule, span, format!("call[{call}]"), message);
        self.shown(finding, region)
    }

    /// With the places of a region: those stored, and those that go along with the cause.
    fn shown(&self, mut finding: Finding, region: &Region) -> Finding {
        let Some(cause) = region.cause() else { return finding };
        let units =
            cause.unit.map(|unit| stored(unit.stored.start, unit.stored.end.max(cause.units_end)));
        finding.stored = match &cause.why {
            Why::Fault(_) => units,
            Why::Cause(_) => self.stored_of(finding.span, cause.place).or(units),
        };
        let excerpt = region.damages.first().and_then(|damage| damage.excerpt.clone());
        finding.excerpt = excerpt.or_else(|| cause.excerpt.clone());
        let also = region.damages.iter().filter(|damage| !std::ptr::eq(*damage, cause));
        for damage in also.take(RELATED) {
            let span = Self::span(damage.start, damage.end);
            finding = finding.related(span, self.damage_rule(damage).1);
        }
        for (noted, _) in region.odd.iter().take(RELATED) {
            let span = Self::span(noted.at, noted.end);
            finding = finding.related(span, describe(noted).1);
        }
        finding
    }

    /// How many of the definitions no donor has.
    fn made_up(&self, definitions: &BTreeSet<(Space, u64)>) -> usize {
        let has = |(space, id): &&(Space, u64)| {
            self.donor.is_none_or(|donor| donor.raw(*space, *id).is_none())
        };
        definitions.iter().filter(has).count()
    }

    fn region_summary(&self, region: &Region) -> String {
        let mut parts = Vec::new();
        let plural = |count: u64, one: &str| match count {
            1 => format!("1 {one}"),
            count => format!("{count} {one}s"),
        };
        let open = region.open();
        let gone = region.sum(|damage| match damage.open {
            true => 0,
            false => damage.end.saturating_sub(damage.start),
        });
        if gone > 0 {
            parts.push(format!("drops {gone} bytes of the stream"));
        }
        if open.is_some() {
            parts.push("cuts the trace behind the last sound event".to_string());
        }
        if region.damages.iter().any(|damage| damage.header) {
            parts.push("writes a header".to_string());
        }
        let lost = region.lost();
        if lost > 0 {
            let what = plural(lost, "placeholder");
            parts
                .push(format!("puts {what} in their place, so that all others keep their numbers"));
        }
        let definitions = region.definitions();
        let made_up = to_u64(self.made_up(&definitions));
        let donated = to_u64(definitions.len()).saturating_sub(made_up);
        if donated > 0 {
            parts.push(format!("takes {} from the donor", plural(donated, "definition")));
        }
        if made_up > 0 {
            parts.push(format!("makes up {}", plural(made_up, "definition")));
        }
        if !region.odd.is_empty() {
            let odd = plural(to_u64(region.odd.len()), "odd leave, argument or integer");
            let odd = odd.replace("leave, argument or integers", "leaves, arguments or integers");
            parts.push(format!("mends {odd} there"));
        }
        if parts.is_empty() {
            parts.push(format!("writes the {} anew", self.container.unit()));
        }
        parts.join(", ")
    }
}

/// The calls around a damage that may be wrong: first and last.
fn suspects(damage: &Damage) -> Option<(u64, u64)> {
    let (from, to) = damage.suspects;
    // What was lost is not among them, unless it lies between.
    let (from, to) = if from >= damage.call {
        (from.max(damage.call.saturating_add(damage.lost)), to)
    } else if to <= damage.call.saturating_add(damage.lost) {
        (from, damage.call)
    } else {
        (from, to)
    };
    (from < to).then(|| (from, to.saturating_sub(1)))
}
