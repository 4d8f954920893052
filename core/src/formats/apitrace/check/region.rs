//! Damages with one cause: a bad region of the file.
//!
//! Reading may stop often in a unit that is at fault, and the events between two stops may be
//! unusual: copies of wrong bytes look like events, and leaves carry wrong numbers. All of it is
//! one finding with the cause, and one fix.

use std::collections::BTreeSet;

use super::TraceCheck;
use crate::formats::apitrace::decode::damage::{Damage, DamageCause};
use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::decode::tracker::warnings::PendingWarning;
use crate::formats::apitrace::repair::StreamEdit;

/// Damages that belong together, and the warnings between them.
pub(super) struct Region {
    pub(super) damages: Vec<Damage>,
    /// Where the first one begins.
    pub(super) start: u64,
    /// Where nothing is in doubt any more.
    end: u64,
    /// The unit that holds the last one.
    unit: Option<u64>,
    pub(super) warnings: Vec<(PendingWarning, StreamEdit)>,
}

impl Region {
    fn of(damage: Damage, end: u64, unit: Option<u64>) -> Self {
        let start = damage.start;
        Self { damages: vec![damage], start, end, unit, warnings: Vec::new() }
    }

    /// Returns the damage that explains the others.
    pub(super) fn cause(&self) -> Option<&Damage> {
        let is_unit = |damage: &&Damage| matches!(damage.cause, DamageCause::Unit(_));
        self.damages.iter().find(is_unit).or(self.damages.first())
    }

    /// Returns the last damage if no sound event follows it.
    pub(super) fn open(&self) -> Option<&Damage> {
        self.damages.last().filter(|damage| damage.is_open)
    }

    /// Returns how many bytes of the stream are damaged.
    pub(super) fn count_damaged_bytes(&self) -> u64 {
        self.damages.iter().map(Damage::len).fold(0, u64::saturating_add)
    }

    /// Returns how many bytes of the stream a repair drops, apart from an open end.
    pub(super) fn count_dropped_bytes(&self) -> u64 {
        let closed = self.damages.iter().filter(|damage| !damage.is_open);
        closed.map(Damage::len).fold(0, u64::saturating_add)
    }

    /// Returns how many calls were lost.
    pub(super) fn count_lost_calls(&self) -> u64 {
        self.damages.iter().map(Damage::lost_calls).fold(0, u64::saturating_add)
    }

    /// Returns the numbers of the calls that were lost: first and last of each range.
    pub(super) fn lost_calls(&self) -> Vec<(u64, u64)> {
        let with_lost = self.damages.iter().filter(|damage| damage.lost_calls() > 0);
        with_lost.map(|damage| (damage.calls.first, damage.last_lost_call())).collect()
    }

    /// Returns the definitions that were lost, each once.
    pub(super) fn definitions(&self) -> BTreeSet<(Space, u64)> {
        self.damages.iter().flat_map(|damage| &damage.definitions).copied().collect()
    }

    /// Returns the numbers of the calls that may be wrong, without those that were lost.
    pub(super) fn suspects(&self) -> Vec<(u64, u64)> {
        let all = || self.damages.iter().filter_map(Damage::suspects);
        let first = all().map(|(from, _)| from).min();
        let last = all().map(|(_, to)| to).max();
        let (Some(mut from), Some(last)) = (first, last) else { return Vec::new() };
        let mut ranges = Vec::new();
        for (lost_from, lost_to) in self.lost_calls() {
            if lost_from > from && lost_from <= last {
                ranges.push((from, lost_from.saturating_sub(1)));
            }
            from = from.max(lost_to.saturating_add(1));
        }
        if from <= last {
            ranges.push((from, last));
        }
        ranges
    }
}

impl TraceCheck<'_, '_> {
    /// Groups the damages by cause, with the warnings among the events that they put in doubt.
    pub(super) fn take_regions(&mut self) -> Vec<Region> {
        let mut regions: Vec<Region> = Vec::new();
        for damage in std::mem::take(&mut self.trace.faults.damages) {
            let unit = self.unit_of(&damage);
            let end = if damage.is_open { u64::MAX } else { damage.calls.doubt_end };
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
                None => regions.push(Region::of(damage, end, unit)),
            }
        }
        let mut alone = Vec::new();
        for warning in std::mem::take(&mut self.trace.tracker.warnings.ready) {
            let after = regions.partition_point(|region| region.start <= warning.at);
            let region = after.checked_sub(1).and_then(|index| regions.get_mut(index));
            let region = region.filter(|region| warning.at < region.end);
            // A warning without a fix remains, and stands for itself before and after a repair.
            match (region, self.warning_edit(&warning)) {
                (Some(region), Some(edit)) => region.warnings.push((warning, edit)),
                _ => alone.push(warning),
            }
        }
        self.trace.tracker.warnings.ready = alone;
        regions
    }

    /// Returns where the unit begins that a damage was seen in.
    fn unit_of(&self, damage: &Damage) -> Option<u64> {
        if !self.trace.container.has_units() {
            return None;
        }
        let unit = match &damage.cause {
            DamageCause::Unit(_) => damage.units.at_fault,
            DamageCause::Stream(_) => self.trace.places.unit_at(damage.seen),
        };
        unit.map(|unit| unit.stored.start)
    }
}
