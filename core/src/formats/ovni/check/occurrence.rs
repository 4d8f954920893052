//! A shared event at its place in the trace.

use crate::formats::ovni::check::shared_event::SharedEvent;
use crate::formats::ovni::decode::event_walk::EventWalk;
use crate::kit::span::{Layer, Span};
use crate::model::edit::Fix;
use crate::model::{Finding, Rule};

/// A shared event and its stream.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence<'e, 's, 'a> {
    /// Number of the stream.
    pub stream: usize,
    /// The stream.
    pub layer: Layer,
    /// The event.
    pub event: &'e SharedEvent,
    /// Its clock in the time of the trace.
    pub time: i128,
    /// The events of the stream.
    pub walk: &'e EventWalk<'s, 'a>,
    /// The fix if the labels that the event compares differ.
    pub label_fix: Option<&'e Fix>,
}

impl Occurrence<'_, '_, '_> {
    /// Returns the span of the event.
    pub fn span(&self) -> Span {
        Span::sized(self.layer, self.event.at, u64::from(self.event.len))
    }

    /// Returns the number of the event in its stream, from 0.
    pub const fn number(&self) -> u64 {
        self.event.number.saturating_sub(1)
    }

    /// Builds a finding about the event.
    pub fn finding(&self, rule: &'static Rule, message: impl Into<String>) -> Finding {
        Finding::new(rule, self.span(), format!("event[{}]", self.number()), message)
    }
}
