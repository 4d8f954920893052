//! Searches for the next events after damage, none of which reads the same bytes again and again.

use super::{EVENT_HEADER, EventWalk, GROUP_MAX};

/// Searches for events with a clock that may find nothing: each can read the rest of the stream.
/// A stream with damage has at most a few parts whose clocks are too late.
const FAILURES: u32 = 16;
/// Bytes that the search for copies compares, and those for each byte of the stream.
const COMPARED: [u64; 2] = [64 << 10, 8];

/// The results of earlier searches, and the work that is left for further ones.
#[derive(Debug)]
pub(super) struct Searches {
    /// Bytes that a search looks at.
    limit: u64,
    /// No events begin from the offset of the last search up to this one.
    empty_until: u64,
    /// The next place at which events begin with any clock.
    next: Option<u64>,
    /// Lowest clock that no later events have.
    too_late: u64,
    /// Searches for events with a clock that may still find nothing.
    failures: u32,
    /// Events that may still be looked at ahead.
    pub(super) looks: usize,
    /// Bytes that the search for copies may still compare.
    pub(super) compared: u64,
}

impl Searches {
    pub(super) const fn new(limit: u64, stream_len: u64) -> Self {
        let [always, per_byte] = COMPARED;
        Self {
            limit,
            empty_until: 0,
            next: None,
            too_late: u64::MAX,
            failures: FAILURES,
            looks: GROUP_MAX,
            compared: stream_len.saturating_mul(per_byte).saturating_add(always),
        }
    }

    /// Finds the next events after `at`, with any clock. The offsets of the searches ascend.
    pub(super) fn find_next(&mut self, walk: &EventWalk<'_, '_>, at: u64) -> Option<u64> {
        if self.next.is_some_and(|next| next > at) {
            return self.next;
        }
        let until = walk.stream_len().min(at.saturating_add(self.limit));
        // A search looks from the byte after its start, and needs room for a header.
        let known = self.empty_until.saturating_sub(EVENT_HEADER);
        let start = at.max(known);
        self.next = walk.clone().resync(start, 0, until.saturating_sub(start));
        self.empty_until = self.next.unwrap_or(until);
        self.next
    }

    /// Finds the next events after `at` whose clocks are at least `clock`.
    pub(super) fn find_later(
        &mut self,
        walk: &EventWalk<'_, '_>,
        at: u64,
        clock: u64,
    ) -> Option<u64> {
        if clock >= self.too_late || self.failures == 0 {
            return None;
        }
        let found = walk.clone().resync(at, clock, self.limit);
        if found.is_none() {
            self.too_late = clock;
            self.failures = self.failures.saturating_sub(1);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::source::Source;
    use crate::kit::span::Layer;

    const LIMIT: u64 = 1 << 20;

    /// Events of 12 bytes with these clocks.
    fn events(clocks: impl IntoIterator<Item = u64>) -> Vec<u8> {
        let event = |clock: u64| [b"\0OB.".as_slice(), &clock.to_le_bytes()].concat();
        clocks.into_iter().flat_map(event).collect()
    }

    #[test]
    fn a_place_is_found_once_for_all_damage_before_it() {
        let bytes = [vec![0xff; 64], events(5..9), vec![0xff; 64]].concat();
        let source = Source::new(&bytes);
        let walk = EventWalk::new(&source, Layer::stored(0), 0);
        let mut searches = Searches::new(LIMIT, u64::MAX);
        assert_eq!(searches.find_next(&walk, 0), Some(64));
        assert_eq!(searches.find_next(&walk, 40), Some(64));
        assert_eq!(searches.find_next(&walk, 64), None);
        assert_eq!(searches.empty_until, walk.stream_len());
        assert_eq!(searches.find_next(&walk, 90), None);
    }

    #[test]
    fn searches_for_later_events_end_after_16_failures() {
        let bytes = events([1; 8].into_iter().chain([100; 8]));
        let source = Source::new(&bytes);
        let walk = EventWalk::new(&source, Layer::stored(0), 0);
        let mut searches = Searches::new(LIMIT, u64::MAX);
        assert_eq!(searches.find_later(&walk, 0, 50), Some(96));
        for failure in 0..u64::from(FAILURES) {
            assert_eq!(searches.find_later(&walk, 0, 1_000 - failure), None);
            // Nothing can be later still.
            assert_eq!(searches.find_later(&walk, 0, 1_000), None);
            assert_eq!(u64::from(searches.failures), u64::from(FAILURES) - failure - 1);
        }
        assert_eq!(searches.find_later(&walk, 0, 50), None);
    }
}
