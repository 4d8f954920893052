//! The places at which parts of a stream may follow one another.
//!
//! A border between two parts lies between events or inside them. Where, is found by joining the
//! parts in another order: events have to follow one another over each joint.

use std::ops::Range;

use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::layout::{DAY_NS, STREAM_HEADER};
use crate::kit::source::Source;
use crate::kit::span::Layer;
use crate::kit::steps;
use crate::kit::walk::Item;

/// Bytes in which a border is looked for: the events on both sides, and cut ones between them.
pub(super) const BORDER_MAX: u64 = 96;
/// Bytes of the events that are read over a joint, at most: each place of a border reads them.
const JOINT_MAX: u64 = 512;
/// Bytes of a stream that is searched: the places and clocks of its events, and a copy of it, take
/// up to 3.7 times as much memory.
pub(super) const STREAM_MAX: u64 = 16 << 20;
/// Damaged places that are passed over: each of the four borders of an exchange may cut two events,
/// and other damage may lie between them.
const DAMAGES: u32 = 256;

/// The place and clock of an event. Offsets are below [`STREAM_MAX`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    at: u32,
    end: u32,
    pub(super) clock: u64,
}

impl Point {
    /// The place of an event; `None` beyond [`STREAM_MAX`].
    fn of(event: &Event<'_>) -> Option<Self> {
        let (at, end) = (u32::try_from(event.at).ok()?, u32::try_from(event.end()).ok()?);
        Some(Self { at, end, clock: event.clock })
    }

    pub(super) fn at(&self) -> u64 {
        self.at.into()
    }

    pub(super) fn end(&self) -> u64 {
        self.end.into()
    }
}

/// Reads the events of a stream; `None` if it has more damage than such blocks can cause. Events
/// whose clocks a border cuts are left out: those far from all others, and lone ones out of order.
pub(super) fn read_points(source: &Source<'_>, layer: Layer, resync: u64) -> Option<Vec<Point>> {
    let mut walk = EventWalk::new(source, layer, STREAM_HEADER);
    let (mut all, mut damages): (Vec<Point>, u32) = (Vec::new(), 0);
    while let Some(item) = walk.next() {
        match item {
            Item::Record(event) => {
                all.push(Point::of(&event)?);
            }
            Item::Damage(damage) => {
                damages = damages.saturating_add(1);
                // Two events near the others in time are enough: a part may be short. A clock of 0
                // would stand for none.
                let near = |first: &Point| first.clock.saturating_sub(DAY_NS / 2).max(1);
                let first = all.first().map_or(0, near);
                let found = walk.resync(damage.at, first, resync);
                let found = found.or_else(|| walk.resync(damage.at, 0, resync));
                if damages > DAMAGES {
                    return None;
                }
                if found.is_none() {
                    break;
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

/// The bytes among which a border between two parts lies: those of the last event of one and the
/// first of the other, and what is between them.
pub(super) fn border(left: &[Point], right: &[Point], len: u64) -> Range<u64> {
    let start = left.last().map_or(STREAM_HEADER, Point::at);
    let end = right.first().map_or(len, Point::end).saturating_add(1);
    start..end.min(start.saturating_add(BORDER_MAX))
}

/// Two parts that follow one another.
pub(super) struct Joint<'j, 'a> {
    source: &'j Source<'a>,
    layer: Layer,
    /// The last event of the left part, and the first two of the right one.
    from: u64,
    to: u64,
    clocks: Range<u64>,
}

impl<'j, 'a> Joint<'j, 'a> {
    pub(super) fn new(
        source: &'j Source<'a>,
        layer: Layer,
        left: &[Point],
        right: &[Point],
    ) -> Self {
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
    pub(super) fn holds(&self, end: u64, start: u64) -> bool {
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
