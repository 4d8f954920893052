//! Blocks of a stream that changed places several times, perhaps one across the other.
//!
//! ```text
//!  stored    | 1 | 4 | 3 | 2 | 6 | 5 | 7 |     parts, with the order of their clocks
//!  reading   | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
//! ```
//!
//! The parts are those in which events follow one another in the order of all clocks. Each border
//! ends one part and begins the next, so it belongs to two joints of the reading. Borders that
//! depend on one another in this way form circles, and in each of them every joint has to hold.
//! Where other damage does not let them, the events at the borders are lost.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::formats::ovni::layout::STREAM_HEADER;
use crate::formats::ovni::recover::joint::{BORDER_MAX, Joint, Point, border};
use crate::kit::reading::{Change, Reading};
use crate::kit::source::Source;
use crate::kit::span::Layer;

/// Parts of a stream, at most: each exchange makes four borders, and eight are undone. Each border
/// takes some ten thousand steps.
const PARTS_MAX: usize = 4 * 8 + 1;
/// Parts that stay where they are, at least: those before, between and after two blocks of equal
/// length. Late clocks alone move all that follows.
const UNMOVED_MIN: usize = 3;
/// Times that lone events are left out: without one, those around it may be alone.
const LONE_ROUNDS: usize = 3;

/// The parts of a stream in the order of the file, as indices of their points.
struct Parts {
    ranges: Vec<Range<usize>>,
    /// Their numbers in the order of clocks.
    order: Vec<usize>,
}

/// Returns the reading in which the parts of a stream are in the order of their clocks.
pub(super) fn find(source: &Source<'_>, layer: Layer, mut points: Vec<Point>) -> Option<Reading> {
    for _ in 0..LONE_ROUNDS {
        // A border may cut an event so that it has a clock of another part.
        let lone = Parts::of(&points).ranges.into_iter().filter(|range| range.len() == 1);
        let mut lone = lone.map(|range| range.start).peekable();
        let mut index = 0_usize..;
        points.retain(|_| lone.next_if_eq(&index.next().unwrap_or(usize::MAX)).is_none());
    }
    let parts = Parts::of(&points).with_ends();
    if !(3..=PARTS_MAX).contains(&parts.ranges.len()) {
        return None;
    }
    let borders = Borders::of(source, layer, &points, &parts)?;
    let (places, is_only) = borders.place()?;
    let ends = || places.iter().copied().chain([source.len()]);
    let starts = [0].into_iter().chain(places.iter().copied());
    let spans: Vec<Range<u64>> = starts.zip(ends()).map(|(start, end)| start..end).collect();
    let (mut changes, mut unmoved): (Vec<Change>, usize) = (Vec::new(), 0);
    let mut at = 0_u64;
    for part in &parts.order {
        let span = spans.get(*part)?.clone();
        let end = at.saturating_add(span.end.checked_sub(span.start)?);
        let most = if is_only { 0 } else { BORDER_MAX };
        let has_events = parts.ranges.get(*part).is_some_and(|range| !range.is_empty());
        unmoved =
            unmoved.saturating_add(usize::from(has_events && span.start.abs_diff(at) <= most));
        if span.start != at && !span.is_empty() {
            let insert = source.read(span.start, span.end);
            match changes.last_mut().filter(|last| last.range.end == at) {
                Some(last) => {
                    last.range.end = end;
                    last.insert.extend_from_slice(&insert);
                }
                None => changes.push(Change { range: at..end, insert: insert.into_owned() }),
            }
        }
        at = end;
    }
    let reading = Reading::exchanged(layer.file, changes);
    let is_exchange = unmoved >= UNMOVED_MIN && !reading.changes.is_empty();
    is_exchange.then_some(Reading { is_determined: is_only, ..reading })
}

impl Parts {
    /// Divides points where the next one in the order of the file is not the next in time.
    fn of(points: &[Point]) -> Self {
        let mut sorted: Vec<usize> = (0..points.len()).collect();
        sorted.sort_by_key(|index| points.get(*index).map(|point| point.clock));
        let mut starts: Vec<usize> = vec![0, points.len()];
        for pair in sorted.windows(2) {
            let [one, two] = *pair else { continue };
            let next = one.saturating_add(1);
            if next != two {
                starts.extend([next, two]);
            }
        }
        starts.sort_unstable();
        starts.dedup();
        let ranges = starts.windows(2).filter_map(|pair| Some(*pair.first()?..*pair.last()?));
        let ranges: Vec<Range<usize>> = ranges.collect();
        let mut order: Vec<usize> = (0..ranges.len()).collect();
        let first = |part: &usize| points.get(ranges.get(*part)?.start).map(|point| point.clock);
        order.sort_by_key(first);
        Self { ranges, order }
    }

    /// Adds a part without events before the others, and one after them, where the first or the
    /// last one changed its place.
    fn with_ends(mut self) -> Self {
        let last = self.ranges.len().saturating_sub(1);
        if self.order.last() != Some(&last) {
            let end = self.ranges.last().map_or(0, |range| range.end);
            self.order.push(self.ranges.len());
            self.ranges.push(end..end);
        }
        if self.order.first() != Some(&0) {
            self.ranges.insert(0, 0..0);
            self.order.iter_mut().for_each(|part| *part = part.saturating_add(1));
            self.order.insert(0, 0);
        }
        self
    }
}

/// The joints of a reading, by the border at which its left part ends.
struct Borders {
    /// The border at which the right part of each joint begins.
    next: Vec<usize>,
    /// For each place of the first border those of the other one with which the joint holds.
    fitting: Vec<BTreeMap<u64, Vec<u64>>>,
    /// Where the last event of the part before each border ends.
    ends: Vec<u64>,
}

impl Borders {
    /// Tries every place of both borders of each joint.
    fn of(source: &Source<'_>, layer: Layer, points: &[Point], parts: &Parts) -> Option<Self> {
        let part = |number: usize| points.get(parts.ranges.get(number)?.clone());
        let range =
            |left: usize| Some(border(part(left)?, part(left.saturating_add(1))?, source.len()));
        let count = parts.ranges.len().saturating_sub(1);
        let last = |number: usize| part(number).and_then(|part| part.last());
        let ends = (0..count).map(|left| last(left).map_or(STREAM_HEADER, Point::end));
        let (next, fitting) = (vec![0; count], vec![BTreeMap::new(); count]);
        let mut borders = Self { next, fitting, ends: ends.collect() };
        for pair in parts.order.windows(2) {
            let [left, right] = *pair else { continue };
            let start = right.checked_sub(1)?;
            let joint = Joint::new(source, layer, part(left)?, part(right)?);
            let starts = range(start)?;
            let fitting = range(left)?.filter_map(|end| {
                let holds = |start: &u64| joint.holds(end, *start);
                let starts: Vec<u64> = starts.clone().filter(holds).collect();
                (!starts.is_empty()).then_some((end, starts))
            });
            *borders.fitting.get_mut(left)? = fitting.collect();
            *borders.next.get_mut(left)? = start;
        }
        Some(borders)
    }

    /// Returns a place of each border, and whether no other places fit.
    fn place(&self) -> Option<(Vec<u64>, bool)> {
        let mut places: Vec<Option<u64>> = vec![None; self.next.len()];
        let mut is_only = true;
        for first in 0..self.next.len() {
            if places.get(first)?.is_some() {
                continue;
            }
            let mut circle = vec![first];
            while let Some(next) = circle.last().and_then(|last| self.next.get(*last).copied())
                && next != first
                && circle.len() < self.next.len()
            {
                circle.push(next);
            }
            let mut found =
                self.fitting.get(first)?.keys().filter_map(|place| self.follow(&circle, *place));
            // Without a place for all, the bytes between the events are damage after the border.
            let ends = || circle.iter().filter_map(|border| self.ends.get(*border).copied());
            let chosen = found.next();
            is_only &= chosen.is_some() && found.next().is_none();
            let chosen = chosen.unwrap_or_else(|| ends().collect());
            for (border, place) in circle.iter().zip(chosen) {
                *places.get_mut(*border)? = Some(place);
            }
        }
        let places: Option<Vec<u64>> = places.into_iter().collect();
        match places.filter(|places| places.is_sorted()) {
            Some(places) => Some((places, is_only)),
            None => Some((self.ends.clone(), false)),
        }
    }

    /// Returns the places of the borders of a circle, if one at which the first lies leads back to
    /// it.
    fn follow(&self, circle: &[usize], first: u64) -> Option<Vec<u64>> {
        // The place before each one that is reached, border by border.
        let mut reached: Vec<BTreeMap<u64, u64>> = vec![BTreeMap::from([(first, first)])];
        for border in circle {
            let fitting = self.fitting.get(*border)?;
            let mut next = BTreeMap::new();
            for place in reached.last()?.keys() {
                for to in fitting.get(place).into_iter().flatten() {
                    next.entry(*to).or_insert(*place);
                }
            }
            reached.push(next);
        }
        let mut place = first;
        let mut places = Vec::with_capacity(circle.len());
        for reached in reached.iter().skip(1).rev() {
            place = *reached.get(&place)?;
            places.push(place);
        }
        places.reverse();
        Some(places)
    }
}
