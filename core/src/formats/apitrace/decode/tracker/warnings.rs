//! Unusual things in sound events.

use std::collections::VecDeque;

use super::uint_len;
use crate::formats::apitrace::decode::calls::OpenCall;
use crate::formats::apitrace::decode::grammar::TokenWarning;
use crate::formats::apitrace::decode::places::Place;
use crate::formats::apitrace::decode::usage::results::Conversion;
use crate::model::Excerpt;

/// Events after which a warning stands for itself and does not announce damage.
const EVENTS_TO_SETTLE: u64 = 64;

/// The kind of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarningKind {
    /// About a token by itself.
    Token(TokenWarning),
    /// An argument's index is out of range.
    ArgumentIndex {
        /// The index.
        index: u64,
        /// Arguments of the function.
        count: u64,
        /// The only one of these that the event lacks, if nothing else in it is unusual.
        missing: Option<u64>,
    },
    /// An argument follows one with the same or a higher index; its index.
    ArgumentOrder(u64),
    /// A leave of a call that never began; its number.
    NeverEntered(u64),
    /// A leave of a call that is over; its number.
    LeftTwice(u64),
    /// A leave whose number is damaged.
    WrongNumber {
        /// The number in the leave.
        found: u64,
        /// The number of the call that it ends.
        expected: u64,
        /// Whether no other leave may be the damaged one.
        is_certain: bool,
    },
    /// A result that apitrace cannot convert.
    Result(Conversion),
    /// A property is not text.
    Property,
    /// A text that stands for the bytes of a blob.
    BlobText,
    /// A text that is not UTF-8 or holds a NUL.
    InvalidText,
}

impl WarningKind {
    /// Whether it concerns an event as a whole.
    pub const fn is_leave(self) -> bool {
        matches!(self, Self::NeverEntered(_) | Self::LeftTwice(_))
    }

    /// Whether the event contradicts those before it.
    pub(super) const fn is_contradiction(self) -> bool {
        !matches!(
            self,
            Self::InvalidText
                | Self::BlobText
                | Self::ArgumentOrder(_)
                | Self::Result(_)
                | Self::Token(TokenWarning::Unlisted(..))
        )
    }
}

/// Warnings about one event: an array may have a fault per element, and none is shown before the
/// event ends.
pub(super) const WARNINGS_OF_EVENT: usize = 256;

/// A warning that waits for the events after it: they may show that damage begins there.
#[derive(Clone, Debug)]
pub struct PendingWarning {
    /// The kind.
    pub kind: WarningKind,
    /// Offset of the first byte in the stream.
    pub at: u64,
    /// Offset after the last byte.
    pub end: u64,
    /// The call, and the index of the argument if it concerns one.
    pub call: (u64, Option<u64>),
    /// Where the event begins.
    pub event: u64,
    /// The bytes that a repair can drop.
    pub part: Option<(u64, u64)>,
    /// Calls that were open when a leave belonged to none of them, one per thread.
    pub owners: Vec<OpenCall>,
    /// The bytes around it.
    pub excerpt: Option<Excerpt>,
    /// The units that hold it.
    pub place: Option<Place>,
    /// Complete events before it.
    pub(super) events_before: u64,
}

/// The warnings so far.
#[derive(Debug, Default)]
pub struct Warnings {
    /// Those that stand for themselves.
    pub ready: Vec<PendingWarning>,
    /// How many of these have a place.
    placed: usize,
    pub(super) pending: VecDeque<PendingWarning>,
    /// Where the event of the latest one begins, and how many it has.
    latest: (u64, usize),
}

impl Warnings {
    /// Whether warnings wait for the events after them.
    #[inline(always)]
    pub(super) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Whether a leave has a number that belongs to no open call.
    pub fn has_misnumbered_leave(&self) -> bool {
        let is_one =
            |kind: WarningKind| kind.is_leave() || matches!(kind, WarningKind::WrongNumber { .. });
        self.ready.iter().any(|warning| is_one(warning.kind))
    }

    /// Adds a warning, unless its event has too many.
    pub(super) fn push(&mut self, warning: PendingWarning) {
        let (event, count) = self.latest;
        let before = if event == warning.event { count } else { 0 };
        if before < WARNINGS_OF_EVENT {
            self.latest = (warning.event, before.saturating_add(1));
            self.pending.push_back(warning);
        }
    }

    /// Returns the call that the leave at `event` may belong to: the only one that is open.
    pub(super) fn owner(&self, event: u64) -> Option<OpenCall> {
        let mut of_event = self.pending.iter().rev().take_while(|warning| warning.event == event);
        of_event.find_map(|warning| match warning.owners.as_slice() {
            [owner] => Some(*owner),
            _ => None,
        })
    }

    /// Returns where the number of the leave at `event` ends if it takes more bytes than it needs.
    /// Its warning waits beside that of the leave.
    pub(super) fn end_of_long_number(&self, event: u64, at: u64) -> Option<u64> {
        let is_long = |kind| matches!(kind, WarningKind::Token(TokenWarning::Overlong(_)));
        let mut of_event = self.pending.iter().take_while(|warning| warning.event == event);
        let long = of_event.find(|warning| is_long(warning.kind) && warning.at == at);
        long.map(|warning| warning.end)
    }

    /// Gives the new warnings the bytes around them, which `excerpt` cuts out.
    pub fn set_excerpts(&mut self, excerpt: impl Fn(u64) -> Excerpt) {
        let pending = self.pending.iter_mut().rev();
        for warning in pending.take_while(|warning| warning.excerpt.is_none()) {
            warning.excerpt = Some(excerpt(warning.at));
        }
        for warning in self.ready.iter_mut().skip(self.placed) {
            warning.excerpt.get_or_insert_with(|| excerpt(warning.at));
        }
    }

    /// Gives the new warnings their places while the units are known.
    pub fn set_places(&mut self, place: impl Fn(u64, u64) -> Option<Place>) {
        for warning in self.ready.iter_mut().skip(self.placed) {
            let (start, end) = warning.part.unwrap_or((warning.at, warning.end));
            warning.place = place(start, end);
        }
        self.placed = self.ready.len();
    }

    /// Takes the first warning that waited long enough, after `events` events.
    pub(super) fn pop_settled(&mut self, events: u64) -> Option<PendingWarning> {
        let first = self.pending.front()?;
        let is_settled = first.events_before.saturating_add(EVENTS_TO_SETTLE) < events;
        if is_settled { self.pending.pop_front() } else { None }
    }

    /// Removes the pending warnings about events from `start` on.
    pub(super) fn take_back(&mut self, start: u64) {
        self.pending.retain(|warning| warning.event < start);
        self.latest = (u64::MAX, 0);
    }

    /// Ends a detail that begins at `detail_at`: parts that reach to its end are known now.
    #[cold]
    pub(super) fn end_detail(&mut self, event: u64, detail_at: u64, end: u64) {
        // Those of earlier details lie before it.
        let is_recent =
            |warning: &&mut PendingWarning| warning.event == event && warning.at >= detail_at;
        for warning in self.pending.iter_mut().rev().take_while(is_recent) {
            let Some(part) = &mut warning.part else { continue };
            let is_open = part.0 == part.1 && part.0 == detail_at;
            if is_open && !warning.kind.is_leave() {
                part.1 = end;
            }
        }
    }

    /// Ends the event `start..end`; `missing`: the only argument that it lacks.
    #[cold]
    pub(super) fn end_event(&mut self, start: u64, end: u64, missing: Option<u64>) {
        let mut of_event = self.pending.iter_mut().rev().take_while(|w| w.event == start);
        if let (Some(warning), None) = (of_event.next(), of_event.next())
            && let WarningKind::ArgumentIndex { index, missing: found, .. } = &mut warning.kind
            && missing.is_some()
        {
            *found = missing;
            let at = warning.at.saturating_add(1);
            warning.part = Some((at, at.saturating_add(uint_len(*index))));
        }
        let of_event = self.pending.iter_mut().rev().take_while(|w| w.event == start);
        for warning in of_event.filter(|warning| warning.kind.is_leave()) {
            warning.part = Some((start, end));
            warning.end = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_detail_ends_only_the_parts_that_begin_with_it_and_have_no_end() {
        let warning = |part: (u64, u64)| PendingWarning {
            kind: WarningKind::ArgumentOrder(1),
            at: part.0,
            end: part.1,
            call: (0, None),
            event: 5,
            part: Some(part),
            owners: Vec::new(),
            excerpt: None,
            place: None,
            events_before: 0,
        };
        let mut warnings = Warnings::default();
        warnings.pending.extend([(10, 10), (20, 20), (20, 22)].map(warning));
        warnings.end_detail(5, 20, 25);
        let parts: Vec<_> = warnings.pending.iter().filter_map(|warning| warning.part).collect();
        assert_eq!(parts, [(10, 10), (20, 25), (20, 22)]);
    }
}
