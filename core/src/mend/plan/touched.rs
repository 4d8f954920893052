//! The fixes that touch a place of the source.

use std::collections::BTreeSet;

use crate::kit::span::{Layer, Span};
use crate::mend::applied::Applied;

/// The places of the source that applied fixes touch, for edits that are asked about in ascending
/// order, so that a fix with many places is passed once and not once per edit.
pub(super) struct TouchedPlaces<'r> {
    applied: &'r [Applied],
    /// The places that start after the edits so far, each with the number of its fix; the next one
    /// is the last.
    ahead: Vec<(Span, usize)>,
    /// End and fix of the places that start before the end of the last edit and may reach the next.
    open: BTreeSet<(Layer, u64, usize)>,
}

impl<'r> TouchedPlaces<'r> {
    /// Collects the places of all applied fixes.
    pub(super) fn new(applied: &'r [Applied]) -> Self {
        let of_one = |(number, applied): (usize, &'r Applied)| {
            applied.places.iter().map(move |place| (*place, number))
        };
        let mut ahead: Vec<_> = applied.iter().enumerate().flat_map(of_one).collect();
        ahead.sort_by_key(|(place, _)| std::cmp::Reverse((place.layer, place.start)));
        Self { applied, ahead, open: BTreeSet::new() }
    }

    /// Returns the fixes with a place in, or at the edge of, `span` of the source, in the order in
    /// which they were applied.
    ///
    /// `span` starts where the span of the call before it ends, or after it.
    pub(super) fn find_fixes_at(&mut self, span: Span) -> impl Iterator<Item = &'r Applied> {
        let end = (span.layer, span.end);
        while let Some((place, number)) =
            self.ahead.pop_if(|(place, _)| (place.layer, place.start) <= end)
        {
            self.open.insert((place.layer, place.end, number));
        }
        self.open = self.open.split_off(&(span.layer, span.start, 0));
        let numbers: BTreeSet<usize> = self.open.iter().map(|(_, _, number)| *number).collect();
        let applied = self.applied;
        numbers.into_iter().filter_map(|number| applied.get(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Finding;
    use crate::model::rule::common;

    fn span((file, start, end): (u32, u64, u64)) -> Span {
        Span::new(Layer::stored(file), start, end)
    }

    /// Fixes of which each has the places given, all in one round.
    fn applied(places: &[&[(u32, u64, u64)]]) -> Vec<Applied> {
        let one = |(round, places): (usize, &&[(u32, u64, u64)])| {
            let finding = Finding::new(&common::UNKNOWN_FORMAT, span((0, 0, 1)), "file", "1 byte");
            Applied::new(round, finding, places.iter().copied().map(span).collect())
        };
        places.iter().enumerate().map(one).collect()
    }

    #[test]
    fn a_fix_is_found_at_each_of_its_places_and_their_edges() {
        let applied = applied(&[
            &[(0, 0, 100), (1, 4, 4)],
            &[(0, 40, 50), (0, 10, 20), (1, 0, 8)],
            &[(0, 20, 20), (1, 9, 12)],
        ]);
        let mut touched = TouchedPlaces::new(&applied);
        let mut fixes_at = |place| -> Vec<usize> {
            touched.find_fixes_at(span(place)).map(|applied| applied.round).collect()
        };
        assert_eq!(fixes_at((0, 0, 9)), [0]);
        assert_eq!(fixes_at((0, 9, 10)), [0, 1], "the edit ends where a place starts");
        assert_eq!(fixes_at((0, 20, 30)), [0, 1, 2], "the edit starts where a place ends");
        assert_eq!(fixes_at((0, 30, 39)), [0]);
        assert_eq!(fixes_at((0, 60, 60)), [0], "a place that contains an insertion");
        assert!(fixes_at((0, 101, 200)).is_empty());
        assert_eq!(fixes_at((1, 0, 1)), [1], "places of the file before do not count");
        assert_eq!(fixes_at((1, 4, 4)), [0, 1]);
        assert_eq!(fixes_at((1, 8, 9)), [1, 2]);
        assert!(fixes_at((2, 0, 100)).is_empty());
    }
}
