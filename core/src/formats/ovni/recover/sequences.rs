//! Which codes follow each other in a stream: a runtime repeats the same few sequences.

use std::collections::HashMap;

use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::recover::flips::flips_of;
use crate::kit::walk::Item;

/// Pairs of codes that are remembered: some 2 MB. A real stream has some hundreds.
const PAIRS_MAX: usize = 1 << 16;

type Code = [u8; 3];

/// How often a code follows another one in a stream.
#[derive(Debug, Default)]
pub struct Sequences {
    pairs: HashMap<(Code, Code), u64>,
}

/// An event between two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// Code of the event before.
    pub before: Code,
    /// Code of the event after.
    pub after: Code,
}

impl Sequences {
    /// Reads a stream up to its first damage. Takes each event from `looks`.
    pub fn find(walk: EventWalk<'_, '_>, looks: &mut u64) -> Self {
        let mut sequences = Self::default();
        let mut before = None;
        for event in walk.map_while(Item::record) {
            let Some(left) = looks.checked_sub(1) else { break };
            *looks = left;
            if let Some(before) = before.filter(|_| sequences.pairs.len() < PAIRS_MAX) {
                let count = sequences.pairs.entry((before, event.code)).or_default();
                *count = count.saturating_add(1);
            }
            before = Some(event.code);
        }
        sequences
    }

    fn count(&self, first: Code, second: Code) -> u64 {
        self.pairs.get(&(first, second)).copied().unwrap_or(0)
    }

    /// Returns how usual a code is at a place where the stream has another one: of the pairs that
    /// it makes with its neighbours, the rarer one.
    pub fn rate(&self, code: Code, place: Between) -> u64 {
        self.count(place.before, code).min(self.count(code, place.after))
    }

    /// Returns the last `most` events before `until` that follow or precede another one as no other
    /// event of the stream does, and with another bit would be usual.
    pub fn find_odd(
        &self,
        walk: EventWalk<'_, '_>,
        until: u64,
        most: usize,
        looks: &mut u64,
    ) -> Vec<u64> {
        let mut places = Vec::new();
        let mut last: [Option<Event<'_>>; 2] = [None, None];
        for event in walk.map_while(Item::record).take_while(|event| event.at < until) {
            let Some(left) = looks.checked_sub(1) else { break };
            *looks = left;
            if let [Some(before), Some(odd)] = &last {
                let place = Between { before: before.code, after: event.code };
                let is_odd = self.rate(odd.code, place) <= 1;
                if is_odd && self.has_usual(odd, place) {
                    places.push(odd.at);
                }
            }
            let [_, before] = last;
            last = [before, Some(event)];
        }
        places.split_off(places.len().saturating_sub(most))
    }

    /// Whether an event would be usual with another bit.
    fn has_usual(&self, event: &Event<'_>, place: Between) -> bool {
        flips_of(event).any(|flip| {
            let mut other = event.clone();
            flip.apply(&mut other);
            other.code != event.code && self.rate(other.code, place) > 1
        })
    }
}
