//! The next place after damage at which events begin.
//!
//! A place is believed if two known events follow one another from it, with the payloads of their
//! codes and with clocks that ascend from the last valid one, or if events lead exactly to the end
//! of the stream. Without a clock before it, a place needs four events.

use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::layout::{self, DAY_NS, EVENT_HEADER, RESERVED_FLAGS};
use crate::kit::resync::{Budget, Search, Step, follow};
use crate::kit::source::Source;
use crate::kit::span::Layer;
use crate::kit::walk::Item;

/// Events that have to follow one another after a known clock, and without one.
const CHAIN: u64 = 2;
const CHAIN_WITHOUT_CLOCK: u64 = 4;
/// Bytes that a chain of jumbo events may span.
const CHAIN_BYTES: u64 = 64 << 20;

impl EventWalk<'_, '_> {
    /// Looks for the next place after `from` at which valid events begin, and resumes there. Looks
    /// at `limit` bytes at most; `last` is the clock of the last valid event, or 0.
    pub fn resync(&mut self, from: u64, last: u64, limit: u64) -> Option<u64> {
        let next = find_events(self.source(), self.layer(), from, last, limit)?;
        *self = self.restarted(next);
        Some(next)
    }
}

/// Returns the first place after `from` at which valid events begin, if it lies within `limit`
/// bytes. `last` is the clock of the last valid event, or 0.
pub fn find_events(
    source: &Source<'_>,
    layer: Layer,
    from: u64,
    last: u64,
    limit: u64,
) -> Option<u64> {
    let end = source.len().min(from.saturating_add(limit));
    // The last place that can be found has room for an event header.
    let area = from.saturating_add(1)..end.saturating_sub(EVENT_HEADER.saturating_sub(1));
    let search = Search { source, area, stride: 1, header_len: 2 };
    // Each place costs at most four steps, so the places bound the steps.
    let mut budget = Budget::new(limit, u64::MAX);
    let chain = if last == 0 { CHAIN_WITHOUT_CLOCK } else { CHAIN };
    let found = search.find(&mut budget, can_begin_event, |place, budget| {
        follow(place, chain, last, budget, |clock, at| {
            if at.saturating_sub(place) > CHAIN_BYTES {
                return Step::Invalid;
            }
            match EventWalk::new(source, layer, at).next() {
                Some(Item::Record(event)) if is_next_event(&event, clock) => {
                    Step::Item { end: event.end(), state: event.clock }
                }
                Some(_) => Step::Invalid,
                None => Step::End,
            }
        })
    });
    found.found()
}

/// Whether two bytes can begin an event: no reserved flags, and the character of a known model.
fn can_begin_event(pair: &[u8]) -> bool {
    match pair {
        [flags, model] => flags & RESERVED_FLAGS == 0 && layout::model_index(*model).is_some(),
        _ => false,
    }
}

/// Whether an event is known and may follow one with this clock.
fn is_next_event(event: &Event<'_>, clock: u64) -> bool {
    let is_near = clock == 0 || event.clock.saturating_sub(clock) < DAY_NS;
    let is_valid = event.has_expected_flags() && event.flags & RESERVED_FLAGS == 0;
    is_valid && is_near && event.clock >= clock
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::ovni::decode::event_walk::tests::stream;

    #[test]
    fn valid_events_after_damage_are_found_wherever_the_pieces_end() {
        let mut bytes = stream();
        bytes.splice(8..8, *b"O\xff\0garbage OHx");
        for size in [1, 2, 3, 5, 7, 64] {
            let source = Source::from_pieces(bytes.chunks(size));
            let find = |last: u64| find_events(&source, Layer::stored(0), 8, last, 1 << 20);
            assert_eq!(find(0), Some(22), "pieces of {size}");
            assert_eq!(find(9), None);
        }
    }

    #[test]
    fn an_event_begins_with_flags_and_a_known_model() {
        assert!(can_begin_event(b"\x00O") && can_begin_event(b"\x13V"));
        assert!(!can_begin_event(&[RESERVED_FLAGS, b'O']) && !can_begin_event(b"\x00\xff"));
        assert!(!can_begin_event(b"\x00"));
    }
}
