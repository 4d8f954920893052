//! The fixes that touch a place of the source.

use std::collections::BTreeSet;

use crate::kit::span::{Layer, Span};
use crate::mend::applied::Applied;

/// The places of the source that applied fixes touch.
pub(super) struct TouchedPlaces<'r> {
    applied: &'r [Applied],
    /// Each place with the number of its fix, ordered by the start of the place.
    places: Vec<(Span, usize)>,
    /// For each place, the greatest end of the places of its file up to it.
    reach: Vec<u64>,
}

impl<'r> TouchedPlaces<'r> {
    /// Collects the places of all applied fixes.
    pub(super) fn new(applied: &'r [Applied]) -> Self {
        let of_one = |(number, applied): (usize, &'r Applied)| {
            applied.places.iter().map(move |place| (*place, number))
        };
        let mut places: Vec<_> = applied.iter().enumerate().flat_map(of_one).collect();
        places.sort_by_key(|(place, _)| (place.layer, place.start));
        let mut reach = Vec::new();
        let mut furthest = (Layer::stored(0), 0_u64);
        for (place, _) in &places {
            let before = if furthest.0 == place.layer { furthest.1 } else { 0 };
            furthest = (place.layer, before.max(place.end));
            reach.push(furthest.1);
        }
        Self { applied, places, reach }
    }

    /// Returns the fixes with a place in, or at the edge of, `span` of the source, in the order in
    /// which they were applied.
    pub(super) fn find_fixes_at(&self, span: Span) -> impl Iterator<Item = &'r Applied> {
        let end = (span.layer, span.end);
        let end = self.places.partition_point(|(place, _)| (place.layer, place.start) <= end);
        let near = self.places.iter().zip(&self.reach).take(end).rev();
        let near = near
            .take_while(|((place, _), reach)| place.layer == span.layer && **reach >= span.start);
        let touching = near.filter(|((place, _), _)| place.end >= span.start);
        let numbers: BTreeSet<usize> = touching.map(|((_, number), _)| *number).collect();
        numbers.into_iter().filter_map(|number| self.applied.get(number))
    }
}
