//! A run of events of one layout, and the iterator over it.
//!
//! Events have a fixed size, so that each has its place and no search is needed after damage.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::event::{Event, parse_event};
use crate::formats::revent::layout::Generation;
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::Span;

/// Events that are decoded at once: 20 KiB, which fit the first-level cache.
const BATCH: usize = 512;

/// A run of events of one layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Layout of the events.
    pub generation: Generation,
    /// Offset of the first event.
    pub start: u64,
    /// Number of events.
    pub count: u64,
}

impl Stretch {
    /// Returns the offset of event number `index`.
    pub fn offset(&self, index: u64) -> u64 {
        self.start.saturating_add(index.saturating_mul(self.generation.layout().event))
    }

    /// Returns the bytes of the events `first..end`.
    pub fn span(&self, first: u64, end: u64) -> Span {
        Span::new(FILE, self.offset(first), self.offset(end))
    }

    /// Returns the bytes of event number `index`.
    pub fn event_span(&self, index: u64) -> Span {
        self.span(index, index.saturating_add(1))
    }

    /// Returns event number `index`, or `None` if it lies outside the stretch or the source.
    pub fn event(&self, source: &Source<'_>, index: u64) -> Option<Event> {
        if index >= self.count {
            return None;
        }
        let span = self.event_span(index);
        let bytes = source.read(span.start, span.end);
        let mut cursor = Cursor::new(&bytes, FILE, span.start, Order::Little);
        parse_event(&mut cursor, self.generation).ok()
    }

    /// Returns the events with their numbers, up to the end of the stretch or of the source.
    pub fn events<'s, 'a>(&self, source: &'s Source<'a>) -> Events<'s, 'a> {
        let batch = vec![Event::default(); BATCH.min(to_usize(self.count))];
        Events { source, stretch: *self, batch, next: 0, len: 0, index: 0 }
    }
}

/// The events of a stretch, each with its number.
#[derive(Debug)]
pub struct Events<'s, 'a> {
    source: &'s Source<'a>,
    stretch: Stretch,
    batch: Vec<Event>,
    /// Index in `batch` of the event that comes next.
    next: usize,
    /// Events in `batch`.
    len: usize,
    /// Number of the event that comes next.
    index: u64,
}

impl Iterator for Events<'_, '_> {
    type Item = (u64, Event);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.len && !self.fill() {
            return None;
        }
        let event = *self.batch.get(self.next)?;
        let index = self.index;
        self.next = self.next.saturating_add(1);
        self.index = index.saturating_add(1);
        Some((index, event))
    }

    // A pass over a whole recording goes this way: the state stays in registers for a batch.
    #[inline]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(mut self, init: B, mut step: F) -> B {
        let mut folded = init;
        loop {
            let batch = self.batch.get(self.next..self.len).unwrap_or_default();
            for (index, event) in (self.index..).zip(batch) {
                folded = step(folded, (index, *event));
            }
            self.index = self.index.saturating_add(to_u64(batch.len()));
            self.next = self.len;
            if !self.fill() {
                return folded;
            }
        }
    }
}

impl Events<'_, '_> {
    /// Decodes the next batch; returns whether there is an event in it.
    #[inline(never)]
    fn fill(&mut self) -> bool {
        self.next = 0;
        // One copy of the decoder per layout, with its widths as constants.
        self.len = match self.stretch.generation {
            Generation::P20 => self.decode::<20>(Generation::P20),
            Generation::P24 => self.decode::<24>(Generation::P24),
            Generation::P28 => self.decode::<28>(Generation::P28),
            Generation::P32 | Generation::V1 => self.decode::<32>(Generation::P32),
            Generation::V2 | Generation::V3 => self.decode::<26>(Generation::V2),
        };
        self.len > 0
    }

    /// Decodes events of `N` bytes into the batch and returns their number.
    #[inline(always)]
    fn decode<const N: usize>(&mut self, generation: Generation) -> usize {
        let left = to_usize(self.stretch.count.saturating_sub(self.index));
        let left = left.min(self.batch.len());
        let at = self.stretch.offset(self.index);
        let run = self.source.run(at);
        let wanted = left.saturating_mul(N);
        let (mut chunks, _) = run.get(..wanted).unwrap_or(run).as_chunks::<N>();
        let copy;
        if chunks.is_empty() && left > 0 {
            // The event lies in two pieces of the source.
            copy = self.source.read(at, at.saturating_add(to_u64(N)));
            chunks = copy.as_chunks::<N>().0;
        }
        for (slot, chunk) in self.batch.iter_mut().zip(chunks) {
            let mut cursor = Cursor::new(chunk, FILE, at, Order::Little);
            // A chunk has the length of an event, so that no field is missing.
            *slot = parse_event(&mut cursor, generation).unwrap_or_default();
        }
        chunks.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::revent::layout::LAYOUTS;

    fn event(value: i32) -> Event {
        Event { sec: 7, usec: 999_999, device: 3, value, pad: 0, kind: 3, code: 0x39 }
    }

    #[test]
    fn events_are_read_from_sources_in_pieces() {
        for layout in &LAYOUTS {
            let bytes: Vec<u8> =
                (0..600).flat_map(|value| event(value).encode(layout.generation)).collect();
            let stretch = Stretch { generation: layout.generation, start: 0, count: 600 };
            let wanted: Vec<_> = (0_u64..).zip((0..600).map(event)).collect();
            for source in [Source::new(&bytes), Source::from_pieces(bytes.chunks(77))] {
                assert_eq!(stretch.events(&source).collect::<Vec<_>>(), wanted, "{}", layout.name);
                let mut events = stretch.events(&source);
                assert_eq!(events.next().as_ref(), wanted.first());
                let folded = events.fold(Vec::new(), |mut seen, event| {
                    seen.push(event);
                    seen
                });
                assert_eq!(folded, wanted[1..]);
                assert_eq!(stretch.event(&source, 599), Some(event(599)));
                assert_eq!(stretch.event(&source, 600), None);
            }
        }
    }

    #[test]
    fn a_truncated_event_ends_the_events() {
        let bytes = [event(1).encode(Generation::V3), vec![0; 25]].concat();
        let stretch = Stretch { generation: Generation::V3, start: 0, count: 2 };
        let source = Source::new(&bytes);
        assert_eq!(stretch.events(&source).collect::<Vec<_>>(), [(0, event(1))]);
        assert_eq!(stretch.event(&source, 1), None);
    }
}
