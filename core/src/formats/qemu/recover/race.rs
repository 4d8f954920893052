//! The race of layouts: every possible one reads the log, and the one that is contradicted last
//! wins.
//!
//! A wrong layout meets an unknown id within a few events, or, where only payloads differ, loses
//! its way at the first such payload. It may find back: a log of 7.2 with keys reads as one of 11.1
//! up to END. The contradictions on the way expose it, so lanes are compared by the first one that
//! the other does not share ([`Evidence::is_contradicted_later`]).

use crate::formats::qemu::decode::defect::Defect;
use crate::formats::qemu::layout::{HEADER_LEN, LAYOUTS, Layouts};
use crate::formats::qemu::limits::{DEFECTS, HEAT};
use crate::formats::qemu::recover::lane::Lane;
use crate::kit::race::{Candidate, Evidence, decide};
use crate::kit::source::Source;
use crate::model::limits::{FINDINGS, Limits};

/// Defects that each lane keeps at least: the fix belongs to the first one of a lane.
const DEFECTS_MIN: usize = 64;

/// The result of a race.
#[derive(Debug)]
pub struct Race<'a> {
    /// The lanes that are contradicted last, oldest layouts first: several if the bytes cannot
    /// decide, never none.
    pub best: Vec<Lane<'a>>,
    /// The reason against each of the other layouts.
    pub excluded: Vec<Excluded>,
}

/// Layouts that a log does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excluded {
    /// The layouts.
    pub layouts: Layouts,
    /// Offset of the first contradiction that the winner does not share.
    pub at: u64,
    /// The contradiction.
    pub defect: Defect,
}

impl Race<'_> {
    /// Returns the layouts that are left.
    pub fn layouts(&self) -> Layouts {
        self.best.iter().fold(Layouts::default(), |set, lane| set.or(lane.layouts))
    }
}

/// Lets `layouts` read the log up to `until`.
pub fn run<'a>(source: &'a Source<'a>, layouts: Layouts, until: u64, limits: &Limits) -> Race<'a> {
    let mut race = Race { best: build_lanes(source, layouts, limits), excluded: Vec::new() };
    for until in [HEADER_LEN.saturating_add(limits.of(&HEAT)).min(until), until] {
        let mut waiting = std::mem::take(&mut race.best);
        waiting.reverse();
        let mut ran: Vec<Lane<'a>> = Vec::new();
        while let Some(mut lane) = waiting.pop() {
            lane.advance(until, &mut waiting);
            ran.push(lane);
        }
        ran.sort_by_key(|lane| first_number(lane.layouts));
        race.keep_best(ran);
    }
    race
}

/// One lane for each set of layouts with the same ids.
fn build_lanes<'a>(source: &'a Source<'a>, layouts: Layouts, limits: &Limits) -> Vec<Lane<'a>> {
    let mut sets: Vec<Layouts> = Vec::new();
    for (number, layout) in layouts.iter() {
        let has_same_ids = |set: &&mut Layouts| {
            set.first().is_some_and(|first| {
                first.groups == layout.groups && first.async_kinds == layout.async_kinds
            })
        };
        match sets.iter_mut().find(has_same_ids) {
            Some(set) => *set = set.with(number),
            None => sets.push(Layouts::default().with(number)),
        }
    }
    if sets.is_empty() {
        sets.push(Layouts::default().with(LAYOUTS.len().saturating_sub(1)));
    }
    let share = limits.count_of(&DEFECTS).checked_div(sets.len()).unwrap_or(0);
    let capacity = share.max(DEFECTS_MIN).min(limits.count_of(&FINDINGS));
    sets.into_iter().map(|set| Lane::new(source, set, capacity)).collect()
}

fn first_number(layouts: Layouts) -> Option<usize> {
    layouts.iter().next().map(|(number, _)| number)
}

impl<'a> Race<'a> {
    fn keep_best(&mut self, lanes: Vec<Lane<'a>>) {
        // No layout is cheaper than another: none changes a byte.
        let candidates = lanes.into_iter().map(|mut lane| {
            let evidence = std::mem::take(&mut lane.defects.evidence);
            Candidate { reading: lane, cost: 0, evidence }
        });
        let decision = decide(candidates, Evidence::is_contradicted_later);
        let Some(best) = decision.leaders.first() else { return };
        for beaten in &decision.beaten {
            let reason = beaten.evidence.reason_against(&best.evidence);
            self.excluded.extend(reason.map(|reason| Excluded {
                layouts: beaten.reading.layouts,
                at: reason.at,
                defect: reason.reason,
            }));
        }
        self.excluded.sort_by_key(|excluded| first_number(excluded.layouts));
        self.best.extend(decision.leaders.into_iter().map(|leader| {
            let mut lane = leader.reading;
            lane.defects.evidence = leader.evidence;
            lane
        }));
    }
}
