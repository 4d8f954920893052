//! Two blocks of a stream that changed places.
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

use crate::formats::ovni::decode::event_walk::EventWalk;
use crate::formats::ovni::layout::{DAY_NS, STREAM_HEADER};
use crate::kit::reading::{Change, Reading};
use crate::kit::source::Source;
use crate::kit::span::Layer;
use crate::kit::steps;
use crate::kit::walk::Item;

/// Bytes that a block has at most.
const BLOCK_MAX: u64 = 1 << 20;
/// Bytes in which a border is looked for: the events on both sides, and cut ones between them.
const BORDER_MAX: u64 = 96;
/// Bytes of the events that are read over a joint, at most: each place of a border reads them.
const JOINT_MAX: u64 = 512;
/// Bytes of a stream that is searched: the places and clocks of its events take up to 2.7 times as
/// much memory.
const STREAM_MAX: u64 = 16 << 20;
/// Readings of one stream that are tried.
const MOST: usize = 4;
/// Damaged places that are passed over. Each of the four borders may cut two events.
const DAMAGES: u32 = 8;

/// The place and clock of an event.
#[derive(Clone, Copy, Debug)]
struct Point {
    at: u64,
    end: u64,
    clock: u64,
}

/// Returns the readings of a stream in which two blocks of equal length changed places. A search
/// after damage looks at `resync` bytes.
pub fn find(source: &Source<'_>, layer: Layer, resync: u64) -> Vec<Reading> {
    if source.len() > STREAM_MAX {
        return Vec::new();
    }
    let Some(points) = read_points(source, layer, resync) else { return Vec::new() };
    let is_back = |pair: &[Point]| matches!(pair, [one, two] if two.clock < one.clock);
    let backs = points.windows(2).enumerate().filter(|(_, pair)| is_back(pair));
    let backs: Vec<usize> = backs.map(|(index, _)| index.saturating_add(1)).take(3).collect();
    let (second, third) = match *backs.as_slice() {
        [middle] => (middle, middle),
        [second, third] => (second, third),
        _ => return Vec::new(),
    };
    // An event that a border cuts may have a clock that fits on its side. It is left out.
    for cut in 0..16_usize {
        let trim = |bit: u32| cut >> bit & 1;
        let before = points.get(..second.saturating_sub(trim(0)));
        let between = points.get(second.saturating_add(trim(1))..third.saturating_sub(trim(2)));
        let after = points.get(third.saturating_add(trim(3))..);
        let between = if second == third { Some(&[][..]) } else { between };
        let (Some(before), Some(between), Some(after)) = (before, between, after) else { continue };
        let blocks = Blocks::of([before, between, after], source.len());
        let readings = blocks.map(|blocks| blocks.readings(source, layer)).unwrap_or_default();
        if !readings.is_empty() {
            return readings;
        }
    }
    Vec::new()
}

/// Reads the events of a stream; `None` if it has more damage than two blocks can cause. Events
/// whose clocks a border cuts are left out: those far from all others, and lone ones out of order.
fn read_points(source: &Source<'_>, layer: Layer, resync: u64) -> Option<Vec<Point>> {
    let mut walk = EventWalk::new(source, layer, STREAM_HEADER);
    let (mut all, mut damages): (Vec<Point>, u32) = (Vec::new(), 0);
    while let Some(item) = walk.next() {
        match item {
            Item::Record(event) => {
                all.push(Point { at: event.at, end: event.end(), clock: event.clock });
            }
            Item::Damage(damage) => {
                damages = damages.saturating_add(1);
                if damages > DAMAGES || walk.resync(damage.at, 0, resync).is_none() {
                    return None;
                }
            }
        }
    }
    let mut clocks: Vec<u64> = all.iter().map(|point| point.clock).collect();
    clocks.sort_unstable();
    let usual = clocks.get(clocks.len() / 2).copied()?;
    let mut points: Vec<Point> = Vec::new();
    for point in all.into_iter().filter(|point| point.clock.abs_diff(usual) < DAY_NS) {
        if let [.., before, last] = points.as_slice()
            && before.clock <= point.clock
            && !(before.clock..=point.clock).contains(&last.clock)
        {
            points.pop();
        }
        points.push(point);
    }
    Some(points)
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
        is_block.then_some(Self { a, late, between, early, e, len })
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

/// The bytes among which a border between two parts lies: those of the last event of one and the
/// first of the other, and what is between them.
fn border(left: &[Point], right: &[Point], len: u64) -> Range<u64> {
    let start = left.last().map_or(STREAM_HEADER, |last| last.at);
    let end = right.first().map_or(len, |first| first.end).saturating_add(1);
    start..end.min(start.saturating_add(BORDER_MAX))
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

/// Two parts that follow one another.
struct Joint<'j, 'a> {
    source: &'j Source<'a>,
    layer: Layer,
    /// The last event of the left part, and the first two of the right one.
    from: u64,
    to: u64,
    clocks: Range<u64>,
}

impl<'j, 'a> Joint<'j, 'a> {
    fn new(source: &'j Source<'a>, layer: Layer, left: &[Point], right: &[Point]) -> Self {
        let from = left.last().map_or(STREAM_HEADER, |last| last.at);
        let first = left.len().checked_sub(2).and_then(|index| left.get(index));
        let second = right.get(1).or(right.first());
        let to = second.map_or(source.len(), |second| second.end);
        let clocks = first.map_or(0, |first| first.clock)
            ..second.map_or(u64::MAX, |second| second.clock.saturating_add(1));
        Self { source, layer, from, to, clocks }
    }

    /// Whether events follow one another if the left part ends at one place, and the right one
    /// begins at another.
    fn holds(&self, end: u64, start: u64) -> bool {
        let len = end.saturating_sub(self.from).saturating_add(self.to.saturating_sub(start));
        steps::count(1);
        if len > JOINT_MAX {
            return false;
        }
        let left = self.source.read(self.from, end);
        let right = self.source.read(start, self.to);
        let bytes = [left, right].concat();
        let joined = Source::new(&bytes);
        let mut last = self.clocks.start;
        EventWalk::new(&joined, self.layer, 0).all(|item| match item {
            Item::Record(event) => {
                let is_next = event.clock >= last && self.clocks.contains(&event.clock);
                last = event.clock;
                is_next && event.has_expected_flags()
            }
            Item::Damage(_) => false,
        })
    }
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
    Reading::exchanged(layer.file, [change(one, two), change(two, one)])
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(found.is_empty() && steps < 2_000_000, "{steps}");
    }

    #[test]
    fn a_stream_beyond_the_limit_is_not_searched() {
        let mut bytes = exchanged(8);
        bytes.resize(usize::try_from(STREAM_MAX).unwrap() + 1, 0);
        assert!(readings(&bytes).0.is_empty());
    }
}
