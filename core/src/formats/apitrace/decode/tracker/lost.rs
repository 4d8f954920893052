//! Calls and definitions that damage took.

use std::collections::BTreeMap;

use super::events::EventEffect;
use crate::formats::apitrace::decode::grammar::{CountField, Space, StreamError};
use crate::formats::apitrace::decode::places::Place;
use crate::kit::ranges::Ranges;

/// A leave whose enter was lost.
#[derive(Clone, Copy, Debug)]
pub struct LostCallLeave {
    /// Where it begins in the stream.
    pub start: u64,
    /// Where it ends.
    pub end: u64,
    /// The units that hold it.
    pub place: Option<Place>,
}

/// The calls that were lost.
#[derive(Debug, Default)]
pub struct LostCalls {
    /// Their numbers, as ascending ranges `from..to`.
    pub ranges: Vec<(u64, u64)>,
    /// The leaves of such calls.
    pub leaves: Vec<LostCallLeave>,
    /// Places in the stream of bytes that stand for lost ones.
    pub made_up: Ranges,
    /// Calls with such bytes in their events.
    pub incomplete: Ranges,
    /// How many of the leaves have a place.
    placed: usize,
    leaves_max: usize,
}

impl LostCalls {
    /// No call, with room for `leaves_max` leaves.
    pub(super) fn new(leaves_max: usize) -> Self {
        Self { leaves_max, ..Self::default() }
    }

    /// Whether the call of this number was lost.
    pub fn contains(&self, number: u64) -> bool {
        let after = self.ranges.partition_point(|(from, _)| *from <= number);
        let range = after.checked_sub(1).and_then(|index| self.ranges.get(index));
        range.is_some_and(|(_, to)| number < *to)
    }

    /// Returns how many calls were lost.
    pub fn count(&self) -> u64 {
        let sizes = self.ranges.iter().map(|(from, to)| to.saturating_sub(*from));
        sizes.fold(0, u64::saturating_add)
    }

    pub(super) fn add_leave(&mut self, start: u64, end: u64) {
        if self.leaves.len() < self.leaves_max {
            self.leaves.push(LostCallLeave { start, end, place: None });
        }
    }

    /// Takes an event, whose call is incomplete if bytes of it stand for lost ones.
    #[inline(always)]
    pub(super) fn add_event(&mut self, effect: EventEffect, start: u64, end: u64) {
        if let EventEffect::Enter(open) | EventEffect::Leave { open: Some(open), .. } = effect
            && self.is_made_up(start, end)
        {
            self.incomplete.add(open.number, open.number);
        }
    }

    /// Whether bytes from `start` to `end` of the stream stand for lost ones.
    #[inline(always)]
    pub(super) fn is_made_up(&self, start: u64, end: u64) -> bool {
        !self.made_up.is_empty() && self.made_up.has_any_of(start, end.saturating_sub(1))
    }

    /// Removes the leaves from `start` of the stream on, and the calls from `call` on.
    pub(super) fn take_back(&mut self, call: u64, start: u64) {
        self.incomplete.remove_from(call);
        self.leaves.retain(|leave| leave.start < start);
        self.placed = self.placed.min(self.leaves.len());
    }

    /// Gives the new leaves their places while the units are known.
    pub fn set_places(&mut self, place: impl Fn(u64, u64) -> Option<Place>) {
        for leave in self.leaves.iter_mut().skip(self.placed) {
            leave.place = place(leave.start, leave.end);
        }
        self.placed = self.leaves.len();
    }
}

/// A definition that was lost, as far as its uses show it.
#[derive(Clone, Copy, Debug)]
pub struct LostDefinition {
    /// Where the definition belongs: after the first use of the id.
    pub at: u64,
    /// The unit there.
    pub place: Option<Place>,
    /// Arguments or members that are used.
    pub items: u64,
    /// Whether a donor has it.
    pub is_donated: bool,
}

/// The lost definitions that an event uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum LostUse {
    /// None.
    #[default]
    None,
    /// Only definitions that a donor has.
    Donated,
    /// At least one that has to be made up.
    MadeUp,
}

/// The definitions that were lost.
#[derive(Debug, Default)]
pub struct LostDefinitions {
    /// By id.
    pub all: BTreeMap<(Space, u64), LostDefinition>,
    /// Calls with a definition that has to be made up.
    pub made_up_calls: Ranges,
    /// Calls of which a donor, if it is used, has all definitions.
    pub donated_calls: Ranges,
    current: LostUse,
}

impl LostDefinitions {
    /// Notes that the event that begins, or the present one, uses a lost definition.
    #[cold]
    pub(super) fn add_use(&mut self, space: Space, id: u64) {
        let is_donated = self.all.get(&(space, id)).is_some_and(|lost| lost.is_donated);
        let added = if is_donated { LostUse::Donated } else { LostUse::MadeUp };
        self.current = self.current.max(added);
    }

    /// Whether the present event uses a lost definition.
    #[inline(always)]
    pub(super) fn is_used(&self) -> bool {
        self.current != LostUse::None
    }

    /// Forgets the uses of the present event.
    pub(super) fn clear_use(&mut self) {
        self.current = LostUse::None;
    }

    /// Ends an event of `call` that uses lost definitions.
    #[cold]
    pub(super) fn end_use(&mut self, call: Option<u64>) {
        let (Some(call), used) = (call, std::mem::take(&mut self.current)) else { return };
        match used {
            LostUse::None => {}
            LostUse::Donated => self.donated_calls.add(call, call),
            LostUse::MadeUp => self.made_up_calls.add(call, call),
        }
    }

    /// Removes the calls from `call` on and the definitions that belong at `start` or after it;
    /// returns their ids.
    pub(super) fn take_back(&mut self, call: u64, start: u64) -> Vec<(Space, u64)> {
        self.made_up_calls.remove_from(call);
        self.donated_calls.remove_from(call);
        let later = self.all.iter().filter(|(_, lost)| lost.at >= start);
        let removed: Vec<_> = later.map(|(key, _)| *key).collect();
        removed.iter().for_each(|key| _ = self.all.remove(key));
        removed
    }

    /// Notes an argument of a function whose definition was lost.
    #[cold]
    pub(super) fn add_argument(&mut self, function: u64, index: u64) -> Result<(), StreamError> {
        if index > CountField::ArgumentIndex.max() {
            return Err(StreamError::Count(CountField::ArgumentIndex, index));
        }
        if let Some(lost) = self.all.get_mut(&(Space::Function, function)) {
            lost.items = lost.items.max(index.saturating_add(1));
        }
        Ok(())
    }
}
