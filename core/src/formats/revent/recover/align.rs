//! The places of the events, found again after bytes that were inserted, doubled or lost.
//!
//! An event has no marks, but its fields are narrow: a listed device, a time since 1970 or since
//! boot, microseconds below a million, a known type and code. Two in a row within an hour of each
//! other do not occur by chance.

use crate::formats::revent::decode::event::{Event, narrow_if};
use crate::formats::revent::decode::stretch::Stretch;
use crate::formats::revent::layout::GAP;
use crate::formats::revent::recover::pieces::Pieces;
use crate::formats::revent::recover::shape::Shape;
use crate::formats::revent::recover::sound::are_all_sound;
use crate::kit::num::to_usize;
use crate::kit::resync::{Budget, Proof, Resync, Search, Step, follow};
use crate::kit::source::Source;

/// Events in a row that prove a place.
const CHAIN: u64 = 2;
/// Bytes that are searched before the rest of the file is read.
const NEAR: u64 = 4096;
/// Steps of the proofs per byte that is searched.
const STEPS_PER_PLACE: u64 = 4;

impl Shape {
    /// Finds the next events after one that is not sound, at `bad`; those before `good` are.
    fn find_after(
        &self,
        source: &Source<'_>,
        (good, bad): (u64, u64),
        before: Option<Event>,
        budget: &mut Budget,
    ) -> Resync {
        // Usually the next event is in its place. Else bytes are missing or too many; if they are
        // missing, they may have ended the event before.
        let next = bad.saturating_add(self.stride());
        let first = next.saturating_sub(self.stride().saturating_mul(2)).saturating_add(1);
        let first = first.max(good);
        let near = first.saturating_add(NEAR);
        let areas = [(next, next.saturating_add(1)), (first, near), (near, source.len())];
        for area in areas {
            match self.find(source, area, before, budget) {
                Resync::NotFound => {}
                found => return found,
            }
        }
        Resync::NotFound
    }

    /// Finds the first place from `from` to `until` at which events follow one another. Fewer than
    /// [`CHAIN`] at the end of the file have to be within an hour of `before`.
    pub fn find(
        &self,
        source: &Source<'_>,
        (from, until): (u64, u64),
        before: Option<Event>,
        budget: &mut Budget,
    ) -> Resync {
        let stride = self.stride();
        let search = Search {
            source,
            area: from..until.min(source.len()),
            stride: 1,
            header_len: to_usize(stride),
        };
        let step = |last: Option<Event>, at: u64| {
            let bytes = source.read(at, at.saturating_add(stride));
            if crate::kit::num::to_u64(bytes.len()) < stride {
                return Step::End;
            }
            match self.parse(&bytes) {
                Some(event) if last.is_none_or(|last| can_follow(&last, &event)) => {
                    Step::Item { end: at.saturating_add(stride), state: Some(event) }
                }
                _ => Step::Invalid,
            }
        };
        search.find(
            budget,
            |bytes| self.parse(bytes).is_some(),
            |at, budget| {
                let is_long = source.len().saturating_sub(at) >= stride.saturating_mul(CHAIN);
                let before = before.filter(|_| !is_long);
                if !is_long && before.is_none() {
                    return Proof::Invalid;
                }
                follow(at, CHAIN, before, budget, step)
            },
        )
    }
}

/// Returns whether an event follows another one within an hour. Equal ones show a pattern in the
/// bytes, not events.
fn can_follow(one: &Event, two: &Event) -> bool {
    two.micros().saturating_sub(one.micros()).saturating_abs() <= GAP && one != two
}

/// Returns the budget for the searches of a recording.
pub const fn budget(places: u64) -> Budget {
    Budget::new(places, places.saturating_mul(STEPS_PER_PLACE))
}

/// Finds the events from `start` to the end of the file.
pub fn align(source: &Source<'_>, shape: &Shape, start: u64, budget: &mut Budget) -> Pieces {
    let stride = shape.stride();
    let mut pieces = Pieces::new(shape.generation, start);
    let count = source.len().saturating_sub(start).checked_div(stride).unwrap_or(0);
    let all = Stretch { generation: shape.generation, start, count };
    if are_all_sound(source, &all, shape) {
        pieces.add(count);
        return pieces;
    }
    let mut from = start;
    // The events from `from` on continue the run; those before `good` need no further look.
    let mut good = start;
    'runs: loop {
        let count = source.len().saturating_sub(good).checked_div(stride).unwrap_or(0);
        let stretch = Stretch { generation: shape.generation, start: good, count };
        let rest = source.len().saturating_sub(from).checked_div(stride).unwrap_or(0);
        let mut before = None;
        for (index, event) in stretch.events(source) {
            let event = narrow_if(event, shape.widened);
            let at = stretch.offset(index);
            if shape.is_sound(&event) {
                before = Some(event).filter(|event| event.sec > 0).or(before);
                continue;
            }
            if at < good {
                continue;
            }
            let found = match shape.find_after(source, (good, at), before, budget) {
                Resync::Found(found) => found,
                Resync::NotFound => break,
                Resync::LimitReached(end) => {
                    pieces.search_end = Some(end);
                    break;
                }
            };
            good = found.saturating_add(stride);
            let run = found.saturating_sub(from);
            if run.checked_rem(stride) != Some(0) {
                let whole = at.min(found).saturating_sub(from).checked_div(stride).unwrap_or(0);
                pieces.add(whole);
                pieces.resume(found);
                from = found;
                continue 'runs;
            }
        }
        pieces.add(rest);
        return pieces;
    }
}
