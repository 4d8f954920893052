//! Which layouts a log may have: every possible one reads it, and the one that doubts last wins.
//!
//! A wrong layout meets an unknown id within a few events, or, where only payloads differ, loses
//! its way at the first such payload. It may find back: a log of 7.2 with keys reads as one of 11.1
//! up to END. What betrays it are the doubts on the way, so that lanes are compared by where they
//! doubt first, doubts in common apart.

use std::cmp::Ordering;

use crate::formats::qemu::check::lane::{Lane, Stop};
use crate::formats::qemu::layout::{HEADER_LEN, LAYOUTS, Layouts};
use crate::kit::source::Source;

/// Findings that all lanes together hold; the fix belongs to the first of a lane.
const FINDINGS: usize = 1024;
/// Findings that any lane holds.
const FINDINGS_MIN: usize = 64;
/// Bytes that all lanes read before the best of them go on.
const HEAT: u64 = 256 << 10;

/// The lanes that are left.
#[derive(Debug)]
pub struct Race<'a> {
    /// Those that doubt last, all alike, oldest layouts first; never empty.
    pub best: Vec<Lane<'a>>,
    /// What speaks against the layouts that lost.
    pub lost: Vec<Lost>,
}

/// Layouts that a log does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Which.
    pub layouts: Layouts,
    /// Where they are doubted first.
    pub at: u64,
    /// By which rule.
    pub name: &'static str,
}

impl Race<'_> {
    /// The layouts that are left.
    pub fn layouts(&self) -> Layouts {
        self.best.iter().fold(Layouts::default(), |set, lane| set.or(lane.layouts))
    }
}

/// Lets `layouts` read the log up to `until`.
pub fn race<'a>(source: &'a Source<'a>, layouts: Layouts, until: u64, capacity: usize) -> Race<'a> {
    let mut race = Race { best: lanes(source, layouts, capacity), lost: Vec::new() };
    for until in [HEADER_LEN.saturating_add(HEAT).min(until), until] {
        let mut waiting = std::mem::take(&mut race.best);
        waiting.reverse();
        let mut ran: Vec<Lane<'a>> = Vec::new();
        while let Some(mut lane) = waiting.pop() {
            lane.advance(until, &mut waiting);
            ran.push(lane);
        }
        ran.sort_by_key(|lane| lane.layouts.iter().next().map(|(number, _)| number));
        race.keep_best(ran);
    }
    race
}

/// One lane for each set of layouts with the same ids.
fn lanes<'a>(source: &'a Source<'a>, layouts: Layouts, capacity: usize) -> Vec<Lane<'a>> {
    let mut sets: Vec<Layouts> = Vec::new();
    for (number, layout) in layouts.iter() {
        let same = |set: &&mut Layouts| {
            set.first().is_some_and(|first| {
                first.groups == layout.groups && first.async_kinds == layout.async_kinds
            })
        };
        match sets.iter_mut().find(same) {
            Some(set) => *set = set.with(number),
            None => sets.push(Layouts::default().with(number)),
        }
    }
    if sets.is_empty() {
        sets.push(Layouts::default().with(LAYOUTS.len().saturating_sub(1)));
    }
    let share = FINDINGS.checked_div(sets.len()).unwrap_or(0).max(FINDINGS_MIN).min(capacity);
    sets.into_iter().map(|set| Lane::new(source, set, share)).collect()
}

impl<'a> Race<'a> {
    fn keep_best(&mut self, ran: Vec<Lane<'a>>) {
        let mut worse: Vec<Lane<'a>> = Vec::new();
        for lane in ran {
            match self.best.first().map(|first| compare(&lane, first)) {
                None | Some(Ordering::Equal) => self.best.push(lane),
                Some(Ordering::Greater) => {
                    worse.append(&mut self.best);
                    self.best.push(lane);
                }
                Some(Ordering::Less) => worse.push(lane),
            }
        }
        let Some(best) = self.best.first() else { return };
        let lost = worse.iter().filter_map(|lane| {
            let (at, rule) = lane.doubts.get(shared(lane, best)).or(lane.doubts.last())?;
            Some(Lost { layouts: lane.layouts, at: *at, name: rule.name })
        });
        self.lost.extend(lost);
        self.lost.sort_by_key(|lost| lost.layouts.iter().next().map(|(number, _)| number));
    }
}

/// How many doubts two lanes have in common.
fn shared(a: &Lane<'_>, b: &Lane<'_>) -> usize {
    a.doubts.iter().zip(&b.doubts).take_while(|(a, b)| a.0 == b.0).count()
}

/// Greater is better: the first doubt that the other does not share comes later.
fn compare(a: &Lane<'_>, b: &Lane<'_>) -> Ordering {
    let shared = shared(a, b);
    next_doubt(a, shared).cmp(&next_doubt(b, shared))
}

/// The doubt behind the shared ones. A lane that is lost doubts everything from there on.
fn next_doubt(lane: &Lane<'_>, shared: usize) -> u64 {
    match (lane.doubts.get(shared), &lane.stop) {
        (Some((at, _)), _) => *at,
        (None, Some(Stop::Lost(fault))) => fault.start,
        (None, _) => u64::MAX,
    }
}
