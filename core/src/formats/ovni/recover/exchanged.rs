//! Two blocks of a stream that changed places, perhaps several times.
//!
//! Clocks show it: they go back once or twice, and with the blocks in the other order they ascend.
//!
//! ```text
//!  stored    | a | D | c | B | e |      D is later than c, and B is earlier
//!  reading   | a | B | c | D | e |
//! ```
//!
//! The borders of the blocks lie between events or inside them. Where, is found by joining the
//! blocks in the other order: events have to follow one another over each joint.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::formats::ovni::recover::joint::{
    BORDER_MAX, Joint, Point, STREAM_MAX, border, read_points,
};
use crate::formats::ovni::recover::reordered;
use crate::kit::reading::{Change, Reading};
use crate::kit::source::Source;
use crate::kit::span::Layer;

/// Bytes that a block has at most.
const BLOCK_MAX: u64 = 1 << 20;
/// Readings of one stream that are tried.
const MOST: usize = 4;
/// Runs of ascending clocks, at most: an exchange makes clocks go back twice.
const RUNS_MAX: usize = 3;

/// Returns the readings of a stream in which blocks of equal length changed places. A search after
/// damage looks at `resync` bytes.
pub fn find(source: &Source<'_>, layer: Layer, resync: u64) -> Vec<Reading> {
    if source.len() > STREAM_MAX {
        return Vec::new();
    }
    let Some(points) = read_points(source, layer, resync) else { return Vec::new() };
    let readings = match *find_runs(&points).as_slice() {
        [second, end] => find_between(source, layer, &points, [0, second, second, end]),
        [second, third, end] => find_between(source, layer, &points, [0, second, third, end]),
        _ => Vec::new(),
    };
    if readings.is_empty() {
        return reordered::find(source, layer, points).into_iter().collect();
    }
    readings
}

/// Returns where the runs of ascending clocks end, up to one more than an exchange makes.
fn find_runs(points: &[Point]) -> Vec<usize> {
    let is_back = |pair: &[Point]| matches!(pair, [one, two] if two.clock < one.clock);
    let backs = points.windows(2).enumerate().filter(|(_, pair)| is_back(pair));
    let ends = backs.map(|(index, _)| index.saturating_add(1)).chain([points.len()]);
    ends.take(RUNS_MAX.saturating_add(1)).collect()
}

/// Returns the readings in which a block of one run and one of another changed places: the first
/// run is from the first index to the second, the other one from the third to the last.
fn find_between(
    source: &Source<'_>,
    layer: Layer,
    points: &[Point],
    [start, second, third, end]: [usize; 4],
) -> Vec<Reading> {
    // An event that a border cuts may have a clock that fits on its side. It is left out.
    for cut in 0..16_usize {
        let trim = |bit: u32| cut >> bit & 1;
        let before = points.get(start..second.saturating_sub(trim(0)));
        let between = points.get(second.saturating_add(trim(1))..third.saturating_sub(trim(2)));
        let after = points.get(third.saturating_add(trim(3))..end);
        let between = if second == third { Some(&[][..]) } else { between };
        let (Some(before), Some(between), Some(after)) = (before, between, after) else { continue };
        let Some(blocks) = Blocks::of([before, between, after], source.len()) else { continue };
        let readings = blocks.readings(source, layer);
        if !readings.is_empty() {
            return readings;
        }
    }
    Vec::new()
}

/// Where the parts of a stream in the order of the file begin and end: a D c B e.
struct Blocks<'p> {
    a: &'p [Point],
    late: &'p [Point],
    between: &'p [Point],
    early: &'p [Point],
    e: &'p [Point],
    len: u64,
}

impl<'p> Blocks<'p> {
    /// Divides runs of ascending clocks into parts; `None` if these are not in order when two of
    /// them change places.
    fn of([before, between, after]: [&'p [Point]; 3], len: u64) -> Option<Self> {
        let lowest = between.first().or(after.first())?.clock;
        let (a, late) = before.split_at(before.partition_point(|point| point.clock <= lowest));
        let first_late = late.first()?.clock;
        let (early, e) = after.split_at(after.partition_point(|point| point.clock < first_late));
        let parts = [a, early, between, late, e];
        let order = parts.iter().flat_map(|part| [part.first(), part.last()]).flatten();
        let is_block = !early.is_empty() && order.is_sorted_by_key(|point| point.clock);
        let is_alike = count_bytes(late).abs_diff(count_bytes(early)) <= 4 * BORDER_MAX;
        (is_block && is_alike).then_some(Self { a, late, between, early, e, len })
    }

    fn readings(&self, source: &Source<'_>, layer: Layer) -> Vec<Reading> {
        let found = if self.between.is_empty() {
            self.find_adjoining(source, layer)
        } else {
            self.find_apart(source, layer)
        };
        let mut readings: Vec<([Range<u64>; 2], Reading)> = Vec::new();
        for blocks in found {
            let is_same =
                |(other, _): &([Range<u64>; 2], Reading)| is_equal(source, other, &blocks);
            if readings.len() < MOST && !readings.iter().any(is_same) {
                let reading = exchange(source, layer, &blocks);
                readings.push((blocks, reading));
            }
        }
        readings.into_iter().map(|(_, reading)| reading).collect()
    }

    /// Finds blocks with events between them.
    fn find_apart(&self, source: &Source<'_>, layer: Layer) -> Vec<[Range<u64>; 2]> {
        let joint = |left, right| Joint::new(source, layer, left, right);
        let starts =
            [border(self.a, self.late, self.len), border(self.between, self.early, self.len)];
        let ends =
            [border(self.late, self.between, self.len), border(self.early, self.e, self.len)];
        let (one, two) = (joint(self.a, self.early), joint(self.between, self.late));
        let starts = pairs(&starts, |late, early| one.holds(late, early) && two.holds(early, late));
        let (one, two) = (joint(self.early, self.between), joint(self.late, self.e));
        let ends = pairs(&ends, |late, early| one.holds(early, late) && two.holds(late, early));
        let mut found = Vec::new();
        for (distance, starts) in &starts {
            // From the shortest block on: those with equal bytes around it say the same.
            for (start, end) in starts.iter().rev().flat_map(|start| {
                ends.get(distance).into_iter().flatten().map(move |end| (*start, *end))
            }) {
                let len = end.saturating_sub(start);
                let early = start.saturating_add(*distance);
                if (1..=BLOCK_MAX.min(*distance)).contains(&len) {
                    found.push([start..end, early..early.saturating_add(len)]);
                }
            }
        }
        found
    }

    /// Finds blocks of which one follows the other.
    fn find_adjoining(&self, source: &Source<'_>, layer: Layer) -> Vec<[Range<u64>; 2]> {
        let joint = |left, right| Joint::new(source, layer, left, right);
        let starts = [border(self.a, self.late, self.len), border(self.late, self.early, self.len)];
        let ends = border(self.early, self.e, self.len);
        let (one, two, three) =
            (joint(self.a, self.early), joint(self.early, self.late), joint(self.late, self.e));
        let starts = pairs(&starts, |start, middle| {
            let end = middle.saturating_add(middle.saturating_sub(start));
            ends.contains(&end)
                && one.holds(start, middle)
                && two.holds(end, start)
                && three.holds(middle, end)
        });
        let blocks = starts.into_iter().filter(|(len, _)| *len <= BLOCK_MAX);
        let blocks = blocks.flat_map(|(len, starts)| {
            let middle = move |start: u64| start.saturating_add(len);
            starts
                .into_iter()
                .map(move |start| [start..middle(start), middle(start)..middle(middle(start))])
        });
        blocks.collect()
    }
}

/// Returns the bytes from the first event of a part to the end of the last one.
fn count_bytes(part: &[Point]) -> u64 {
    let end = part.last().map_or(0, Point::end);
    part.first().map_or(0, |first| end.saturating_sub(first.at()))
}

/// Returns the pairs of two places that fit, by their distance.
fn pairs([one, two]: &[Range<u64>; 2], fits: impl Fn(u64, u64) -> bool) -> BTreeMap<u64, Vec<u64>> {
    let mut found: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for start in one.clone() {
        for other in two.clone().filter(|other| *other > start && fits(start, *other)) {
            found.entry(other.saturating_sub(start)).or_default().push(start);
        }
    }
    found
}

/// Whether two pairs of blocks leave the same bytes when they change places. The first is inside
/// the other, or at another distance.
fn is_equal(source: &Source<'_>, one: &[Range<u64>; 2], two: &[Range<u64>; 2]) -> bool {
    let ([a, b], [c, d]) = (one, two);
    let same = |x: Range<u64>, y: Range<u64>| {
        source.read(x.start.min(x.end), x.end.max(x.start))
            == source.read(y.start.min(y.end), y.end.max(y.start))
    };
    a.start.abs_diff(b.start) == c.start.abs_diff(d.start)
        && same(a.start..c.start, b.start..d.start)
        && same(a.end..c.end, b.end..d.end)
}

fn exchange(source: &Source<'_>, layer: Layer, [one, two]: &[Range<u64>; 2]) -> Reading {
    let change = |range: &Range<u64>, from: &Range<u64>| {
        let insert = source.read(from.start, from.end).into_owned();
        Change { range: range.clone(), insert }
    };
    Reading::exchanged(layer.file, vec![change(one, two), change(two, one)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::num::to_usize;
    use crate::kit::steps;

    fn event(code: &[u8; 3], clock: u64) -> Vec<u8> {
        [&[0][..], code, &clock.to_le_bytes()].concat()
    }

    /// Two blocks of 20 events in each other's places, with an event of `len` bytes in each part.
    fn exchanged(len: usize) -> Vec<u8> {
        let part = |clock: u64| {
            let size = u32::try_from(len).unwrap().to_le_bytes();
            let jumbo = [&[0x13][..], b"VYc", &(clock + 1).to_le_bytes(), &size, &vec![b'a'; len]];
            let events = (2..20).flat_map(|n| event(b"OB.", clock + n));
            event(b"OB.", clock)
                .into_iter()
                .chain(jumbo.concat())
                .chain(events)
                .collect::<Vec<u8>>()
        };
        [b"ovni\x01\0\0\0".to_vec(), part(0), part(300), part(200), part(100), part(400)].concat()
    }

    fn readings(bytes: &[u8]) -> (Vec<Reading>, u64) {
        steps::take();
        let found = find(&Source::new(bytes), Layer::stored(0), 1 << 20);
        (found, steps::take())
    }

    #[test]
    fn blocks_are_found_and_long_events_at_their_borders_are_not_read_for_each_place() {
        assert_eq!(readings(&exchanged(8)).0.len(), 1);
        let (found, steps) = readings(&exchanged(1 << 20));
        // Their borders are taken from the events alone.
        assert!(found.len() == 1 && !found[0].is_determined && steps < 2_000_000, "{steps}");
    }

    #[test]
    fn exchanges_across_one_another_are_undone() {
        let events = (0..200).flat_map(|n| event(b"OB.", (1 << 50) + n));
        let sound = [b"ovni\x01\0\0\0".to_vec(), events.collect()].concat();
        let mut bytes = sound.clone();
        for (one, two, len) in [(300, 1_500, 250), (700, 2_000, 130)] {
            (0..len).for_each(|at| bytes.swap(one + at, two + at));
        }
        let (found, _) = readings(&bytes);
        for Change { range, insert } in &found[0].changes {
            bytes[to_usize(range.start)..to_usize(range.end)].copy_from_slice(insert);
        }
        assert_eq!(bytes, sound);
    }

    #[test]
    fn a_stream_beyond_the_limit_is_not_searched() {
        let mut bytes = exchanged(8);
        bytes.resize(usize::try_from(STREAM_MAX).unwrap() + 1, 0);
        assert!(readings(&bytes).0.is_empty());
    }
}
