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

use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::layout::{DAY_NS, STREAM_HEADER};
use crate::kit::num::to_usize;
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
/// Bytes of a stream that is searched: the places and clocks of its events, and a copy of it, take
/// up to 3.7 times as much memory.
const STREAM_MAX: u64 = 16 << 20;
/// Readings of one stream that are tried.
const MOST: usize = 4;
/// Exchanges in one stream that are undone one after the other.
const EXCHANGES_MAX: usize = 8;
/// Runs of ascending clocks, at most: each exchange makes clocks go back twice.
const RUNS_MAX: usize = 2 * EXCHANGES_MAX + 1;
/// Places at which the borders of blocks are looked for, at most: each takes some ten thousand
/// steps.
const ATTEMPTS: u32 = 192;
/// Damaged places that are passed over. Each of the four borders of an exchange may cut two events.
const DAMAGES: u32 = 64;

/// The place and clock of an event. Offsets are below [`STREAM_MAX`].
#[derive(Clone, Copy, Debug)]
struct Point {
    at: u32,
    end: u32,
    clock: u64,
}

impl Point {
    /// The place of an event; `None` beyond [`STREAM_MAX`].
    fn of(event: &Event<'_>) -> Option<Self> {
        let (at, end) = (u32::try_from(event.at).ok()?, u32::try_from(event.end()).ok()?);
        Some(Self { at, end, clock: event.clock })
    }

    fn at(&self) -> u64 {
        self.at.into()
    }

    fn end(&self) -> u64 {
        self.end.into()
    }
}

/// Returns the readings of a stream in which blocks of equal length changed places. A search after
/// damage looks at `resync` bytes.
pub fn find(source: &Source<'_>, layer: Layer, resync: u64) -> Vec<Reading> {
    if source.len() > STREAM_MAX {
        return Vec::new();
    }
    let Some(points) = read_points(source, layer, resync) else { return Vec::new() };
    let runs = find_runs(&points);
    if runs.len() > RUNS_MAX {
        return Vec::new();
    }
    let runs = match *runs.as_slice() {
        [second, end] => Some([0, second, second, end]),
        [second, third, end] => Some([0, second, third, end]),
        _ => None,
    };
    if let Some(runs) = runs {
        return find_between(source, layer, &points, runs, &mut { ATTEMPTS });
    }
    // They are read again without each exchange that is found.
    drop(points);
    find_several(source, layer, resync).into_iter().collect()
}

/// Returns where the runs of ascending clocks end; one more than [`RUNS_MAX`] stands for more.
fn find_runs(points: &[Point]) -> Vec<usize> {
    let is_back = |pair: &[Point]| matches!(pair, [one, two] if two.clock < one.clock);
    let backs = points.windows(2).enumerate().filter(|(_, pair)| is_back(pair));
    let ends = backs.map(|(index, _)| index.saturating_add(1)).chain([points.len()]);
    ends.take(RUNS_MAX.saturating_add(1)).collect()
}

/// Returns every choice of two runs in which blocks may lie, near ones first: where the first run
/// begins and ends, and where the last one does.
fn choose_runs(ends: &[usize]) -> impl Iterator<Item = [usize; 4]> {
    let last = ends.len().saturating_sub(1);
    let pairs = (0..last).flat_map(move |apart| (apart..last).map(move |two| (two, apart)));
    pairs.filter_map(|(two, apart)| {
        let one = two.saturating_sub(apart);
        let start = one.checked_sub(1).and_then(|before| ends.get(before)).copied();
        let after = two.saturating_add(1);
        Some([start.unwrap_or(0), *ends.get(one)?, *ends.get(two)?, *ends.get(after)?])
    })
}

/// Undoes one exchange after the other, as long as one is found. Those that were made one across
/// the other are found in this way as well.
fn find_several(source: &Source<'_>, layer: Layer, resync: u64) -> Option<Reading> {
    let mut bytes = source.to_vec();
    let (mut ranges, mut is_determined): (Vec<Range<u64>>, bool) = (Vec::new(), true);
    let mut attempts = ATTEMPTS;
    for _ in 0..EXCHANGES_MAX {
        let now = Source::new(&bytes);
        let points = read_points(&now, layer, resync)?;
        let found = choose_runs(&find_runs(&points)).find_map(|runs| {
            let found = find_between(&now, layer, &points, runs, &mut attempts);
            let is_only = found.len() == 1;
            found.into_iter().next().map(|reading| (reading, is_only))
        });
        let Some((reading, is_only)) = found else { break };
        is_determined &= is_only;
        for Change { range, insert } in reading.changes {
            let place = to_usize(range.start)..to_usize(range.end);
            let stored = bytes.get_mut(place).filter(|stored| stored.len() == insert.len())?;
            stored.copy_from_slice(&insert);
            ranges.push(range);
        }
    }
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut().filter(|last| last.end >= range.start) {
            Some(last) => last.end = last.end.max(range.end),
            None => joined.push(range),
        }
    }
    let change = |range: Range<u64>| {
        let insert = bytes.get(to_usize(range.start)..to_usize(range.end))?.to_vec();
        Some(Change { range, insert })
    };
    let changes: Option<Vec<Change>> = joined.into_iter().map(change).collect();
    let changes = changes.filter(|changes| !changes.is_empty())?;
    Some(Reading { is_determined, ..Reading::exchanged(layer.file, changes) })
}

/// Returns the readings in which a block of one run and one of another changed places: the first
/// run is from the first index to the second, the other one from the third to the last.
fn find_between(
    source: &Source<'_>,
    layer: Layer,
    points: &[Point],
    [start, second, third, end]: [usize; 4],
    attempts: &mut u32,
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
        let Some(left) = attempts.checked_sub(1) else { break };
        *attempts = left;
        let readings = blocks.readings(source, layer);
        if !readings.is_empty() {
            return readings;
        }
    }
    Vec::new()
}

/// Reads the events of a stream; `None` if it has more damage than such blocks can cause. Events
/// whose clocks a border cuts are left out: those far from all others, and lone ones out of order.
fn read_points(source: &Source<'_>, layer: Layer, resync: u64) -> Option<Vec<Point>> {
    let mut walk = EventWalk::new(source, layer, STREAM_HEADER);
    let (mut all, mut damages): (Vec<Point>, u32) = (Vec::new(), 0);
    while let Some(item) = walk.next() {
        match item {
            Item::Record(event) => {
                all.push(Point::of(&event)?);
            }
            Item::Damage(damage) => {
                damages = damages.saturating_add(1);
                // Two events near the others in time are enough: a part may be short.
                let first = all.first().map_or(0, |first| first.clock.saturating_sub(DAY_NS / 2));
                let found = walk.resync(damage.at, first, resync);
                let found = found.or_else(|| walk.resync(damage.at, 0, resync));
                if damages > DAMAGES || found.is_none() {
                    return None;
                }
            }
        }
    }
    let usual = median(&all)?;
    let mut points: Vec<Point> = Vec::with_capacity(all.len());
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

/// Returns the clock that as many events precede as follow.
fn median(points: &[Point]) -> Option<u64> {
    let mut clocks: Vec<u64> = points.iter().map(|point| point.clock).collect();
    clocks.sort_unstable();
    clocks.get(clocks.len() / 2).copied()
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

/// The bytes among which a border between two parts lies: those of the last event of one and the
/// first of the other, and what is between them.
fn border(left: &[Point], right: &[Point], len: u64) -> Range<u64> {
    let start = left.last().map_or(STREAM_HEADER, Point::at);
    let end = right.first().map_or(len, Point::end).saturating_add(1);
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
        let from = left.last().map_or(STREAM_HEADER, Point::at);
        let first = left.len().checked_sub(2).and_then(|index| left.get(index));
        let second = right.get(1).or(right.first());
        let to = second.map_or(source.len(), Point::end);
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
    Reading::exchanged(layer.file, vec![change(one, two), change(two, one)])
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
