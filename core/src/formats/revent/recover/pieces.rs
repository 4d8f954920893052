//! The events of a recording as runs of one stride, with damaged bytes between them.
//!
//! ```text
//!  | event 0 | event 1 | damage | event 2 | event 3 | event 4 |
//!  ^ run of 2                   ^ run of 3
//! ```
//!
//! Events have a fixed size, so that most damage leaves the others in their places. Bytes that are
//! inserted, doubled or missing move them; `align` finds them again.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::event::Event;
use crate::formats::revent::decode::stretch::Stretch;
use crate::formats::revent::layout::Generation;
use crate::kit::source::Source;
use crate::kit::span::Span;

/// The events of a recording, numbered across the damage between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces {
    generation: Generation,
    /// Number of the first event of each run, and its offset; never empty.
    runs: Vec<(u64, u64)>,
    /// Number of events.
    pub count: u64,
    /// Damaged bytes before and between the runs.
    gaps: Vec<Span>,
    /// The offset at which the search for events after damage reached its limit.
    pub search_end: Option<u64>,
}

impl Pieces {
    /// Returns no events yet; the first would be at `start`.
    pub(super) fn new(generation: Generation, start: u64) -> Self {
        Self { generation, runs: vec![(0, start)], count: 0, gaps: Vec::new(), search_end: None }
    }

    fn stride(&self) -> u64 {
        self.generation.layout().event
    }

    /// Adds events after the last one.
    pub(super) const fn add(&mut self, count: u64) {
        self.count = self.count.saturating_add(count);
    }

    /// Continues after damage, with the next event at `start`.
    pub(super) fn resume(&mut self, start: u64) {
        self.gaps.push(Span::new(FILE, self.end(), start));
        match self.runs.last_mut() {
            // No event before the damage.
            Some((first, at)) if *first == self.count => *at = start,
            _ => self.runs.push((self.count, start)),
        }
    }

    /// Returns the damaged bytes before and between the events.
    pub fn gaps(&self) -> &[Span] {
        &self.gaps
    }

    /// Returns the offset of event number `index`.
    pub fn offset(&self, index: u64) -> u64 {
        let next = self.runs.partition_point(|(first, _)| *first <= index);
        let run = next.checked_sub(1).and_then(|place| self.runs.get(place));
        let (first, start) = run.copied().unwrap_or_default();
        start.saturating_add(index.saturating_sub(first).saturating_mul(self.stride()))
    }

    /// Returns the offset after the last event.
    pub fn end(&self) -> u64 {
        self.span(0, self.count).end()
    }

    /// Returns the bytes of the events `first..end`, with the damage between them.
    pub fn span(&self, first: u64, end: u64) -> Span {
        let start = self.offset(first);
        let last = end.checked_sub(1).filter(|last| *last >= first);
        let end = last.map(|last| self.offset(last).saturating_add(self.stride()));
        Span::new(FILE, start, end.unwrap_or(start))
    }

    /// Returns the bytes of event number `index`.
    pub fn event_span(&self, index: u64) -> Span {
        Span::sized(FILE, self.offset(index), self.stride())
    }

    /// Returns event number `index`, if there is one.
    pub fn event(&self, source: &Source<'_>, index: u64) -> Option<Event> {
        let start = self.offset(index);
        let one = Stretch { generation: self.generation, start, count: 1 };
        if index < self.count { one.event(source, 0) } else { None }
    }

    /// Returns the events `first..end` with their numbers.
    pub fn events<'s>(
        &self,
        source: &'s Source<'_>,
        first: u64,
        end: u64,
    ) -> impl Iterator<Item = (u64, Event)> + use<'s, '_> {
        let stretches = self.stretches(first, end.min(self.count));
        stretches.into_iter().flat_map(move |(from, stretch)| {
            stretch.events(source).map(move |(index, event)| (from.saturating_add(index), event))
        })
    }

    /// Returns the runs of the events `first..end`, each with the number of its first event.
    fn stretches(&self, first: u64, end: u64) -> Vec<(u64, Stretch)> {
        let ends = self.runs.iter().skip(1).map(|(next, _)| *next).chain([self.count]);
        let runs = self.runs.iter().zip(ends);
        let parts = runs.map(|((from, _), to)| (first.max(*from), end.min(to)));
        let stretch = |(from, to): (u64, u64)| {
            let count = to.saturating_sub(from);
            (from, Stretch { generation: self.generation, start: self.offset(from), count })
        };
        parts.filter(|(from, to)| from < to).map(stretch).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_numbered_across_the_damage_between_them() {
        let mut pieces = Pieces::new(Generation::V3, 100);
        pieces.add(2);
        pieces.resume(160);
        pieces.add(3);
        assert_eq!((pieces.count, pieces.end()), (5, 238));
        assert_eq!(pieces.gaps(), [Span::new(FILE, 152, 160)]);
        assert_eq!([0, 1, 2, 4, 5].map(|index| pieces.offset(index)), [100, 126, 160, 212, 238]);
        assert_eq!(pieces.span(0, 2), Span::new(FILE, 100, 152));
        assert_eq!(pieces.span(1, 3), Span::new(FILE, 126, 186));
        let starts = |first, end| -> Vec<(u64, u64, u64)> {
            let stretches = pieces.stretches(first, end).into_iter();
            stretches.map(|(from, stretch)| (from, stretch.start, stretch.count)).collect()
        };
        assert_eq!(starts(1, 4), [(1, 126, 1), (2, 160, 2)]);
        assert_eq!(starts(2, 2), []);
        let mut late = Pieces::new(Generation::V3, 100);
        late.resume(107);
        late.add(1);
        assert_eq!((late.offset(0), late.gaps().len()), (107, 1));
    }
}
