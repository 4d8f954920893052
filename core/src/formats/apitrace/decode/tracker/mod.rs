//! The meaning of the tokens: ids, calls, and warnings about them.
//!
//! ```text
//!  parser --tokens--> StreamTracker   sink     takes the tokens
//!                        |            events   the latest ones, which can be taken back
//!                        |            warnings unusual things in sound events
//!                        +----------> lost     calls and definitions that damage took
//! ```

pub mod events;
pub mod lost;
mod sink;
pub mod warnings;

use events::{EventEffect, History};
use lost::{LostCalls, LostDefinitions};
use warnings::{PendingWarning, WarningKind, Warnings};

use super::calls::Calls;
use super::definitions::Definitions;
use super::grammar::Space;
use crate::formats::apitrace::layout::PLACEHOLDER_ID;
use crate::formats::apitrace::limits::{DEFINITIONS, LOST_LEAVES, OPEN_CALLS};
use crate::limits::Limits;

/// Header of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Header {
    /// The version and, from version 6 on, the semantic one.
    pub version: Option<(u64, Option<u64>)>,
    /// Where the two begin and end in the stream.
    pub span: (u64, u64),
    /// Properties.
    pub properties: u64,
}

/// The limits of the user that every event is compared with.
#[derive(Clone, Copy, Debug)]
struct Caps {
    definitions: u64,
    open_calls: u64,
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
    /// The bytes of the definition that is being read, after its id, if they are kept.
    open_definition: Vec<u8>,
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
            open_definition: Vec::new(),
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
        self.warnings.pending.push_back(PendingWarning {
            kind,
            at,
            end,
            call: (call, argument),
            event,
            part,
            excerpt: None,
            place: None,
            events_before: self.history.count,
        });
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
        self.lost_calls.take_back(start);
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
