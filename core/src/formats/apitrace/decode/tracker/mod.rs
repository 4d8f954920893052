//! The meaning of the tokens: ids, calls, and warnings about them.
//!
//! ```text
//!  parser --tokens--> StreamTracker   sink     takes the tokens
//!                        |            matching leaves and the open calls
//!                        |            plain    takes complete events
//!                        |            events   the latest ones, which can be taken back
//!                        |            warnings unusual things in sound events
//!                        |            overlaps calls of threads that are not known
//!                        +----------> lost     calls and definitions that damage took
//! ```

pub mod events;
pub mod lost;
mod matching;
pub mod overlaps;
mod plain;
mod sink;
pub mod warnings;

use std::collections::BTreeSet;

use events::{EventEffect, History};
use lost::{LostCalls, LostDefinitions};
use warnings::{PendingWarning, WarningKind, Warnings};

use super::calls::{Calls, OpenCall};
use super::definitions::Definitions;
use super::grammar::Space;
use super::repeats::Repeats;
use super::symbols::Symbols;
use super::usage::Usage;
use crate::formats::apitrace::layout::PLACEHOLDER_ID;
use crate::formats::apitrace::limits::{DEFINITIONS, LOST_LEAVES, OPEN_CALLS};
use crate::model::limits::Limits;

/// Bytes of an integer in its shortest form.
fn uint_len(value: u64) -> u64 {
    let bits = 64_u32.saturating_sub(value.leading_zeros());
    u64::from(bits.div_ceil(7).max(1))
}

/// Header of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Header {
    /// The version and, from version 6 on, the semantic one.
    pub version: Option<(u64, Option<u64>)>,
    /// Where the two begin and end in the stream.
    pub span: (u64, u64),
    /// Properties.
    pub properties: u64,
    /// Where the properties end that are text.
    pub sound_end: u64,
    /// Whether all properties so far are text.
    pub has_sound_properties: bool,
}

/// The limits of the user that every event is compared with.
#[derive(Clone, Copy, Debug)]
struct Caps {
    definitions: u64,
    open_calls: u64,
}

/// The values of a trace that are compared with one another.
#[derive(Debug, Default)]
pub struct ValueUses {
    /// The values that signatures list.
    listed: Symbols,
    /// Unlisted values that there was a warning about.
    unlisted: BTreeSet<(Space, u64, u64)>,
    /// Addresses and words.
    pub repeats: Repeats,
    /// How calls use their functions.
    pub usage: Usage,
}

/// A definition that is being read.
#[derive(Debug, Default)]
struct OpenDefinition {
    /// Its bytes after its id, if they are kept.
    raw: Vec<u8>,
    /// Where these begin in the stream.
    at: u64,
}

/// The state of a stream up to a place.
#[derive(Debug)]
pub struct StreamTracker {
    caps: Caps,
    /// The header.
    pub header: Header,
    /// Ids that are defined.
    pub definitions: Definitions,
    /// Calls that are open.
    pub calls: Calls,
    /// Events.
    pub history: History,
    /// Calls that were lost.
    pub lost_calls: LostCalls,
    /// Definitions that were lost.
    pub lost_definitions: LostDefinitions,
    /// Warnings.
    pub warnings: Warnings,
    /// Values.
    pub values: ValueUses,
    /// The definition that is being read.
    open_definition: OpenDefinition,
}

impl StreamTracker {
    /// A tracker at the beginning of a stream; `keep_raw`: keeps the stored bytes of definitions.
    pub fn new(limits: &Limits, keep_raw: bool) -> Self {
        let definitions = if keep_raw { Definitions::with_raw() } else { Definitions::default() };
        Self {
            caps: Caps { definitions: limits.of(&DEFINITIONS), open_calls: limits.of(&OPEN_CALLS) },
            header: Header::default(),
            definitions,
            calls: Calls::default(),
            history: History::default(),
            lost_calls: LostCalls::new(limits.count_of(&LOST_LEAVES)),
            lost_definitions: LostDefinitions::default(),
            warnings: Warnings::default(),
            values: ValueUses::default(),
            open_definition: OpenDefinition::default(),
        }
    }

    /// Returns the number of the call that the present event belongs to.
    pub fn current_call(&self) -> u64 {
        match self.history.current.map(|current| current.event.effect) {
            Some(EventEffect::Enter(open)) => open.number,
            Some(EventEffect::Leave { number, .. }) => number,
            None => self.calls.next,
        }
    }

    fn warn_about(&mut self, kind: WarningKind, at: u64, end: u64, part: Option<(u64, u64)>) {
        let call = self.current_call();
        let (event, argument) = match &mut self.history.current {
            Some(current) => {
                current.event.has_warning |= kind.is_contradiction();
                (current.event.start, current.argument)
            }
            None => (at, None),
        };
        self.warnings.push(PendingWarning {
            kind,
            at,
            end,
            call: (call, argument),
            event,
            part,
            owners: Vec::new(),
            excerpt: None,
            place: None,
            events_before: self.history.count,
        });
    }

    /// Makes the warnings ready that waited for enough events; all of them `at_end` of the stream.
    #[cold]
    pub fn settle_warnings(&mut self, at_end: bool) {
        let events = if at_end { u64::MAX } else { self.history.count };
        while let Some(mut warning) = self.warnings.pop_settled(events) {
            self.find_owner(&mut warning);
            self.warnings.ready.push(warning);
        }
    }

    /// Finds the call of a leave with a damaged number: the only one that was open then and was not
    /// left since.
    fn find_owner(&mut self, warning: &mut PendingWarning) {
        let (WarningKind::NeverEntered(found) | WarningKind::LeftTwice(found)) = warning.kind
        else {
            return;
        };
        warning.owners.retain(|open| self.calls.is_open(open.number));
        if warning.owners.len() > 1 && !self.calls.overlap.is_free() {
            // A thread that waits in a call enters no other one.
            let went_on = |open: &OpenCall| self.history.has_later_enter(*open);
            let moved: Vec<OpenCall> = warning.owners.iter().copied().filter(went_on).collect();
            if !moved.is_empty() {
                warning.owners = moved;
            }
        }
        if let [owner] = warning.owners.as_slice() {
            let at = warning.event.saturating_add(1);
            let is_certain = matches!(warning.kind, WarningKind::NeverEntered(_))
                || self.history.shows_no_leave_inside(*owner, found, warning.event);
            let expected = owner.number;
            warning.kind = WarningKind::WrongNumber { found, expected, is_certain };
            let end = self.warnings.end_of_long_number(warning.event, at);
            let end = end.unwrap_or_else(|| at.saturating_add(uint_len(found)));
            warning.part = Some((at, end));
            self.calls.leave(owner.number);
        }
    }

    /// Takes back the event that is being read.
    pub fn take_back_current(&mut self) {
        self.lost_definitions.clear_use();
        if let Some(current) = self.history.current.take() {
            self.undo(current.event.effect, current.event.definitions_before);
            self.warnings.take_back(current.event.start);
        }
    }

    /// Takes back the events from `start` of the stream on, the present one included.
    pub fn take_back(&mut self, start: u64) {
        self.take_back_current();
        while let Some(event) = self.history.pop_from(start) {
            self.undo(event.effect, event.definitions_before);
        }
        self.warnings.take_back(start);
        self.lost_calls.take_back(self.calls.next, start);
        for (space, id) in self.lost_definitions.take_back(self.calls.next, start) {
            self.definitions.remove(space, id);
        }
        self.history.reset_runs();
    }

    fn undo(&mut self, effect: EventEffect, definitions_before: usize) {
        match effect {
            EventEffect::Enter(open) => {
                self.calls.leave(open.number);
                self.calls.next = open.number;
                if open.function == PLACEHOLDER_ID {
                    self.calls.placeholders = self.calls.placeholders.saturating_sub(1);
                }
            }
            EventEffect::Leave { open: Some(open), .. } => self.calls.put(open),
            EventEffect::Leave { open: None, .. } => {}
        }
        self.definitions.take_back(definitions_before);
    }

    /// Continues after damage: the events before it are final.
    pub fn settle_damage(&mut self) {
        self.history.is_after_damage = true;
        self.history.settle();
    }

    /// Returns the number of definitions in each namespace.
    pub fn count_definitions(&self) -> [(Space, usize); 5] {
        Space::ALL.map(|space| (space, self.definitions.count(space)))
    }
}
