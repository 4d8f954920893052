//! Clocks of a stream that go back, and the smallest shift that puts them in order.
//!
//! ```text
//!  10 20 99 30 40      spike   events that are too late are shifted to the clock after them
//!  10 20  3 30 40      dip     events that are too early are shifted to the clock before them
//!  10 20  5 15 25      step    everything after the step is shifted by what is missing
//!  10 20 10 20 30      copy    the same bytes again: the second copy does not count
//!  10 20 23 ~~ 21      noise   a few events days too late get the clock before them
//! ```
//!
//! A spike or a dip has to fit between the clocks around it with all its intervals. The explanation
//! that shifts fewer events wins. After all steps are known, the longest part keeps its clocks, and
//! the others are shifted. Sound streams need no outline; [`EventWalk::is_regular`] recognises them
//! by a quick pass.

mod copies;
mod cut_events;
mod late;
mod searches;

use std::collections::{BTreeMap, VecDeque};

use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::layout::{CLOCK_MAX, EVENT_HEADER};
use crate::formats::ovni::recover::clock_shift::{ClockShift, Gap, Outline, StepBack};
use crate::formats::ovni::recover::repeat::find_repeat;
use crate::kit::num::to_u64;
use crate::kit::walk::Item;

use searches::Searches;

/// Events that a spike or a dip has at most. Longer ones are steps.
const GROUP_MAX: usize = 1_024;
/// Events that are looked at ahead for each event, on average, and that are saved up at most. They
/// keep the work linear.
const LOOKS: usize = 4;
const LOOKS_MAX: usize = 1 << 20;
/// Bytes of a copy that begins inside an event: shorter ones occur by chance.
const COPY_MIN: u64 = 24;

/// WalkTerms of an outline.
#[derive(Clone, Copy, Debug, Default)]
pub struct OutlineTerms {
    /// The file can hold events of an earlier run: a clock before the first one begins them.
    pub can_hold_rerun: bool,
    /// Bytes that a search for the next valid event looks at.
    pub resync: u64,
    /// Lowest clock that is not negative on the clock of the trace.
    pub floor: u64,
    /// Shifts, parts and gaps that the outline holds at most.
    pub places: usize,
}

/// An event with its clock as far as it is explained.
#[derive(Clone, Copy, Debug)]
struct Point {
    at: u64,
    end: u64,
    number: u64,
    /// Clock with the shifts of its part and its own.
    key: i128,
    /// Its own shift.
    by: i128,
    /// If the clocks before and after determine it: the offset of the event before.
    determined_by: Option<u64>,
}

/// A part between two steps.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Shift against the first part.
    offset: i128,
    events: u64,
}

/// Result of a look at the events from a dip on.
enum Dip {
    /// The events of the dip, shifted.
    Fits(Vec<Point>),
    /// The stream ends within this many events.
    Ends(u64),
    /// The clocks do not come back to where they were.
    Open,
}

impl Dip {
    /// Whether it has at least as many events, or no end that is known.
    fn is_longer(&self, count: usize) -> bool {
        match self {
            Self::Fits(points) => count <= points.len(),
            Self::Ends(left) => to_u64(count) <= *left,
            Self::Open => true,
        }
    }
}

/// Outlines a stream from its first event.
pub fn outline_clocks(walk: &EventWalk<'_, '_>, terms: OutlineTerms) -> Outline {
    let first = walk.clone().next().and_then(Item::record);
    if first.is_none_or(|first| first.clock >= terms.floor) && walk.is_regular() {
        return Outline::default();
    }
    outline_irregular(walk, terms)
}

/// Outlines a stream that is known to have damage or clocks that go back.
pub fn outline_irregular(walk: &EventWalk<'_, '_>, terms: OutlineTerms) -> Outline {
    let mut pass = Pass::new(walk, terms, None);
    while pass.step().is_some() {}
    if let Some(at) = pass.unclosed_region() {
        // Without OU] nothing puts the events after OU[ in order.
        pass = Pass::new(walk, terms, Some(at));
        while pass.step().is_some() {}
    }
    match pass.out.ends_at {
        Some(_) => Outline { ends_at: pass.out.ends_at, ..Outline::default() },
        None => {
            let mut outline = pass.finish();
            cut_events::drop_cut_events(walk, &mut outline);
            outline
        }
    }
}

/// The state of the stream that decides whether its clocks may go back.
#[derive(Default)]
struct StreamState {
    /// The region of events out of order.
    region: Option<Region>,
    /// The last step of the thread was its end.
    is_dead: bool,
}

/// A region of events out of order.
struct Region {
    /// Offset of OU[.
    at: u64,
    /// The highest key before it.
    before: i128,
    /// A clock in it goes back.
    goes_back: bool,
}

struct Pass<'s, 'a> {
    walk: EventWalk<'s, 'a>,
    terms: OutlineTerms,
    out: Outline,
    /// The latest events, in the order of their keys.
    recent: VecDeque<Point>,
    parts: Vec<Part>,
    /// Key of the first event, on the clock of the first part.
    lowest: Option<i128>,
    number: u64,
    /// The highest key.
    last: i128,
    state: StreamState,
    searches: Searches,
}

impl<'s, 'a> Pass<'s, 'a> {
    /// A pass from the first event. `unclosed`: offset of the last OU[, if its region has no end.
    fn new(walk: &EventWalk<'s, 'a>, terms: OutlineTerms, unclosed: Option<u64>) -> Self {
        Self {
            walk: walk.clone(),
            terms,
            out: Outline { unclosed_region: unclosed, ..Outline::default() },
            recent: VecDeque::new(),
            parts: vec![Part { offset: 0, events: 0 }],
            lowest: None,
            number: 0,
            last: i128::from(terms.floor),
            state: StreamState::default(),
            searches: Searches::new(terms.resync, walk.stream_len()),
        }
    }

    /// Returns the offset of OU[ if its region has no end and clocks in it go back.
    fn unclosed_region(&self) -> Option<u64> {
        self.state.region.as_ref().filter(|region| region.goes_back).map(|region| region.at)
    }

    /// Takes the next event; `None` at the end.
    fn step(&mut self) -> Option<()> {
        let places = self.out.shifts.len().saturating_add(self.out.gaps.len());
        if places.saturating_add(self.parts.len()) > self.terms.places {
            self.out.ends_at = Some(self.walk.offset());
            return None;
        }
        match self.walk.next()? {
            Item::Record(event) => self.take(&event),
            Item::Damage(damage) => {
                if self.state.is_dead {
                    return None;
                }
                if let Some(gap) = self.find_inside(damage.at) {
                    self.pass(gap);
                    return Some(());
                }
                let to = self.resume(damage.at)?;
                let is_long = to.saturating_sub(damage.at) >= COPY_MIN;
                let copy_of = is_long.then(|| find_repeat(&self.walk, damage.at, to)).flatten();
                self.out.gaps.push(Gap { from: damage.at, to, copy_of });
                Some(())
            }
        }
    }

    /// Resumes the walk at the next events after damage, and returns their offset.
    fn resume(&mut self, at: u64) -> Option<u64> {
        let next = self.searches.find_next(&self.walk, at);
        let near = next.map(|to| self.walk.restarted(to));
        let to = if near.is_some_and(|near| self.follows_late_events(&near)) {
            next
        } else {
            let clock = u64::try_from(self.last.saturating_sub(self.offset())).unwrap_or(0);
            // The clock before the damage can be wrong.
            self.searches.find_later(&self.walk, at, clock).or(next)
        };
        self.walk = self.walk.restarted(to?);
        to
    }

    fn offset(&self) -> i128 {
        self.parts.last().map_or(0, |part| part.offset)
    }

    fn key(&self, event: &Event<'_>) -> i128 {
        i128::from(event.clock).saturating_add(self.offset())
    }

    fn take(&mut self, event: &Event<'_>) -> Option<()> {
        let key = self.key(event);
        self.follow_state(event, key);
        let point = Point {
            at: event.at,
            end: event.end(),
            number: self.number,
            key,
            by: 0,
            determined_by: None,
        };
        if key >= self.last {
            self.push(point);
            return Some(());
        }
        if let Some(region) = &mut self.state.region {
            region.goes_back = true;
            self.push(Point { key: self.last, ..point });
            return Some(());
        }
        if let Some(gap) = self.find_copy(event, None).or_else(|| self.find_copy_after(event)) {
            self.pass(gap);
            return Some(());
        }
        if self.state.is_dead {
            return None;
        }
        self.explain(event, point)
    }

    /// Follows the regions of events out of order, and whether the thread has ended.
    fn follow_state(&mut self, event: &Event<'_>, key: i128) {
        match &event.code {
            b"OHe" if key >= self.last => self.state.is_dead = true,
            b"OHx" | b"OHr" | b"OHp" | b"OHc" | b"OHw" if key >= self.last => {
                self.state.is_dead = false
            }
            b"OU[" if self.out.unclosed_region.is_none_or(|at| event.at < at) => {
                let region = Region { at: event.at, before: self.last, goes_back: false };
                self.state.region.get_or_insert(region);
            }
            b"OU]" => {
                if let Some(Region { before, .. }) = self.state.region.take() {
                    // Events later than the end of the region are put in order with it.
                    self.last = self.last.min(before.max(key));
                    let last = self.last;
                    let late = self.recent.iter_mut().rev().take_while(|point| point.key > last);
                    late.for_each(|point| point.key = last);
                }
            }
            _ => {}
        }
    }

    /// Adds an event that is in order.
    fn push(&mut self, point: Point) {
        self.lowest.get_or_insert(point.key);
        self.last = point.key;
        self.number = self.number.saturating_add(1);
        self.searches.looks = self.searches.looks.saturating_add(LOOKS).min(LOOKS_MAX);
        if let Some(part) = self.parts.last_mut() {
            part.events = part.events.saturating_add(1);
        }
        self.recent.push_back(point);
        if self.recent.len() > GROUP_MAX
            && let Some(oldest) = self.recent.pop_front()
        {
            self.settle(&oldest);
        }
    }

    /// Explains an event whose clock goes back.
    fn explain(&mut self, event: &Event<'_>, point: Point) -> Option<()> {
        let dip = self.look_ahead(event, point);
        let spike = self.find_spike(point.key);
        let is_rerun = self.terms.can_hold_rerun
            && self.number > 1
            && self.lowest.is_some_and(|lowest| point.key < lowest);
        if is_rerun && !matches!(dip, Dip::Fits(_)) {
            return None;
        }
        // The end of an event before damage may be damaged: its time is nearer to the one before.
        let adjoins = self.recent.back().is_some_and(|last| last.end == event.at);
        let noise = self.count_noise(point.key).filter(|_| spike.is_none() || !adjoins);
        if let Some(count) = noise.filter(|count| dip.is_longer(*count)) {
            self.lower_noise(count);
            if point.key < self.last {
                return self.explain(event, point);
            }
            self.push(point);
            return Some(());
        }
        match (spike, dip) {
            (Some(count), Dip::Fits(points)) if count <= points.len() => {
                self.shift_spike(count, point);
            }
            (_, Dip::Fits(points)) => self.push_dip(points),
            (Some(count), Dip::Ends(left)) if to_u64(count) <= left => {
                self.shift_spike(count, point);
            }
            (Some(count), Dip::Open) => self.shift_spike(count, point),
            _ => self.add_step(event, point),
        }
        Some(())
    }

    /// Looks at the events from a dip on, until their clocks are as high as before it.
    fn look_ahead(&mut self, event: &Event<'_>, first: Point) -> Dip {
        let mut walk = self.walk.restarted(event.at);
        let (mut by, mut previous) = (self.last.saturating_sub(first.key), first.key);
        let mut points: Vec<Point> = Vec::new();
        loop {
            let number = self.number.saturating_add(to_u64(points.len()));
            let next = match walk.next() {
                Some(Item::Record(next)) => next,
                Some(Item::Damage(damage)) => {
                    // The event before the damage may have lost a part of its clock.
                    let clock = u64::try_from(self.last.saturating_sub(self.offset())).unwrap_or(0);
                    if self.pass_damage(&mut walk, damage.at, clock) {
                        continue;
                    }
                    return Dip::Open;
                }
                None => return Dip::Ends(to_u64(points.len())),
            };
            let key = self.key(&next);
            let top = points.last().map_or(self.last, |point| point.key);
            if key >= self.last {
                if key < top {
                    return Dip::Open;
                }
                self.place_dip(&mut points, key);
                return Dip::Fits(points);
            }
            if points.len() >= GROUP_MAX || self.searches.looks == 0 {
                return Dip::Open;
            }
            self.searches.looks = self.searches.looks.saturating_sub(1);
            if key < previous {
                by = top.saturating_sub(key);
            }
            previous = key;
            let key = key.saturating_add(by);
            let (at, end) = (next.at, next.end());
            points.push(Point { at, end, number, key, by, determined_by: None });
        }
    }

    /// Moves a look ahead past damage, to events whose clocks are at least `clock`.
    fn pass_damage(&mut self, walk: &mut EventWalk<'_, '_>, at: u64, clock: u64) -> bool {
        let limit = self.terms.resync.min(to_u64(self.searches.looks));
        let found = walk.resync(at, clock, limit);
        let looked_at = found.map_or(limit, |to| to.saturating_sub(at));
        self.searches.looks =
            self.searches.looks.saturating_sub(usize::try_from(looked_at).unwrap_or(usize::MAX));
        found.is_some()
    }

    /// Chooses the clock of a lone event by the bit that was flipped, if one explains it.
    fn place_dip(&self, points: &mut [Point], next: i128) {
        let before = self.recent.back().map(|point| point.at);
        let determined_by = before.filter(|_| self.last == next);
        if let [point] = points {
            let recorded = point.key.saturating_sub(point.by);
            let by = self.flip_bit(recorded, self.last, next).unwrap_or(point.by);
            *point = Point { key: recorded.saturating_add(by), by, ..*point };
        }
        for point in points {
            point.determined_by = determined_by;
        }
    }

    fn push_dip(&mut self, points: Vec<Point>) {
        if let Some(last) = points.last() {
            self.walk = self.walk.restarted(last.end);
        }
        for point in points {
            self.push(point);
        }
    }

    fn add_step(&mut self, event: &Event<'_>, point: Point) {
        self.note_step(event, &point);
        self.out.steps = self.out.steps.saturating_add(1);
        let offset = self.last.saturating_sub(i128::from(event.clock));
        self.parts.push(Part { offset, events: 0 });
        self.state.region = None;
        let latest: Vec<Point> = self.recent.drain(..).collect();
        for point in latest {
            self.settle_in(&point, self.parts.len().saturating_sub(2));
        }
        self.push(Point { key: self.last, ..point });
    }

    fn note_step(&mut self, event: &Event<'_>, point: &Point) {
        let before = self.last.saturating_sub(self.offset());
        self.out.first_step.get_or_insert(StepBack {
            at: point.at,
            number: point.number,
            before: u64::try_from(before).unwrap_or(0),
            clock: event.clock,
        });
    }

    fn settle(&mut self, point: &Point) {
        self.settle_in(point, self.parts.len().saturating_sub(1));
    }

    /// Adds an event of a part. Its shift is against the first part until [`Pass::finish`].
    fn settle_in(&mut self, point: &Point, part: usize) {
        let offset = self.parts.get(part).map_or(0, |part| part.offset);
        let by = point.by.saturating_add(offset);
        if let Some(last) = self.out.shifts.last_mut()
            && (last.by, last.own, last.until) == (by, point.by, point.at)
            && last.determined_by.is_some() == point.determined_by.is_some()
        {
            last.until = point.end;
            last.events = last.events.saturating_add(1);
            return;
        }
        self.out.shifts.push(ClockShift {
            from: point.at,
            until: point.end,
            number: point.number,
            events: 1,
            by,
            own: point.by,
            determined_by: point.determined_by,
        });
    }

    /// Events at the end of the stream whose clocks are out of range get the last clock in range.
    fn lower_last_clocks(&mut self) {
        let max = i128::from(CLOCK_MAX).saturating_add(self.offset());
        let first = self.recent.partition_point(|point| point.key <= max);
        let before = first.checked_sub(1).and_then(|index| self.recent.get(index));
        let before = before.map_or(0, |point| point.key);
        for point in self.recent.iter_mut().skip(first) {
            point.by = point.by.saturating_add(before.saturating_sub(point.key));
            point.key = before;
        }
    }

    /// Lets the longest part keep its clocks.
    fn finish(mut self) -> Outline {
        self.lower_last_clocks();
        let latest: Vec<Point> = self.recent.drain(..).collect();
        for point in latest {
            self.settle(&point);
        }
        let lowest = self.lowest.unwrap_or(0);
        let mut events: BTreeMap<i128, u64> = BTreeMap::new();
        for part in &self.parts {
            let sum = events.entry(part.offset).or_default();
            *sum = sum.saturating_add(part.events);
        }
        // No clock becomes negative.
        let floor = i128::from(self.terms.floor);
        let usable = events.iter().filter(|(offset, _)| lowest.saturating_sub(floor) >= **offset);
        let base = usable.max_by_key(|(offset, count)| (**count, std::cmp::Reverse(**offset)));
        let base = base.map_or(0, |(offset, _)| *offset);
        for shift in &mut self.out.shifts {
            shift.by = shift.by.saturating_sub(base);
        }
        self.out.shifts.retain(|shift| shift.by != 0);
        self.out
    }
}
