//! Whether the units of a file are in the order in which they were written.
//!
//! A unit continues the one before it if the event that the first one ends in goes on in the
//! second, and the leaves after it have the numbers that follow. Where the next unit does not
//! continue the stream, another one may; a process that forks leaves a copy of its buffer, which
//! is the beginning of a neighbour.

use crate::formats::apitrace::decode::damage::Damage;
use crate::formats::apitrace::decode::grammar::Parser;
use crate::formats::apitrace::decode::places::StreamPlaces;
use crate::formats::apitrace::decode::tracker::StreamTracker;
use crate::formats::apitrace::decode::tracker::overlaps::Overlap;
use crate::formats::apitrace::expand::{Container, Expansion, Fault, unit_bytes};
use crate::formats::apitrace::limits::NESTING;
use crate::formats::apitrace::recover::beginning::is_beginning_of_stream;
use crate::formats::apitrace::recover::resync::{
    ProbeContext, ProbeResult, Tolerance, probe_position,
};
use crate::kit::layer::Segment;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::model::limits::Limits;

/// Units of a file that are compared with one another.
const UNITS_MAX: usize = 4 << 10;
/// Units that may follow one whose own neighbour does not.
const CANDIDATES_MAX: usize = 256;
/// Bytes of a unit that have to continue the stream.
const HEAD_LEN: usize = 64 << 10;
/// Bytes of the event that a unit ends in.
const TAIL_MAX: usize = 8 << 20;
/// The shortest unit that is taken for a copy.
const COPY_MIN: usize = 32;
/// Copies whose originals follow them.
const COPIES_MAX: usize = 16;
/// Steps of one comparison.
const STEPS: u64 = 1 << 20;
/// Bytes around the beginning of a unit in which damage is a reason to look at the order.
const NEAR: u64 = 64 << 10;

/// The units of a file as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrangement {
    /// The units in the file.
    pub units: Vec<Segment>,
    /// Which unit belongs in each place of the file, without the copies.
    pub order: Vec<usize>,
    /// Units that repeat the beginning of another one, and that one.
    pub copies: Vec<(usize, usize)>,
    /// Whether each unit continues the one before it, and all can be read. Otherwise damaged units
    /// may continue others by chance.
    pub is_whole: bool,
}

impl Arrangement {
    /// Whether units are in another place than they belong.
    pub fn is_out_of_order(&self) -> bool {
        !self.order.is_sorted()
    }

    /// Returns the file with its units in order.
    pub fn view<'a>(&self, source: &Source<'a>) -> Source<'a> {
        let mut pieces: Vec<&'a [u8]> = Vec::new();
        let mut at = 0;
        for (place, unit) in self.units.iter().zip(&self.order) {
            let unit = self.units.get(*unit).map_or(place.stored, |unit| unit.stored);
            pieces.extend(source.slices(at, place.stored.start));
            pieces.extend(source.slices(unit.start, unit.end));
            at = place.stored.end;
        }
        pieces.extend(source.slices(at, source.len()));
        Source::from_pieces(pieces)
    }
}

/// Whether a damage may come from the order of the units: it begins where a unit does.
pub fn is_suspect(damages: &[Damage], places: &StreamPlaces) -> bool {
    let begins_unit = |damage: &Damage| {
        let unit = places.unit_at(damage.seen).or(damage.units.at_fault);
        unit.is_some_and(|unit| unit.expanded.start.abs_diff(damage.start) < NEAR)
    };
    damages.iter().any(begins_unit)
}

/// Returns the arrangement of the units, if it is proven to be another one than that of the file.
pub fn find_arrangement(
    source: &Source<'_>,
    container: Container,
    limits: &Limits,
    overlap: Overlap,
) -> Option<Arrangement> {
    let units = list_units(source, container, limits)?;
    let mut copies: Vec<(usize, usize)> = Vec::new();
    // A copy before its original is seen after it was read: then all is read again without it.
    for _ in 0..COPIES_MAX {
        let mut search = Search::new(source, container, limits, &units, copies.clone());
        search.stream.tracker.calls.overlap = overlap;
        search.run();
        copies = search.copies;
        if search.is_outdated {
            continue;
        }
        let (order, is_whole) = (search.order, search.is_whole);
        let found = Arrangement { units, order, copies, is_whole };
        let is_other = found.is_out_of_order() || !found.copies.is_empty();
        return is_other.then_some(found);
    }
    None
}

pub(super) fn list_units(
    source: &Source<'_>,
    container: Container,
    limits: &Limits,
) -> Option<Vec<Segment>> {
    let mut units: Vec<Segment> = Vec::new();
    for block in Expansion::new(source, container, limits) {
        let unit = block.unit_segment()?;
        if let Some(Fault::Trailing | Fault::Zeros | Fault::SecondTrace | Fault::Limit { .. }) =
            block.fault
        {
            break;
        }
        match units.last_mut().filter(|last| last.stored.start == unit.stored.start) {
            Some(last) => *last = unit,
            None => units.push(unit),
        }
    }
    (2..=UNITS_MAX).contains(&units.len()).then_some(units)
}

/// A stream that is built up unit by unit.
pub(super) struct Search<'s, 'a> {
    source: &'s Source<'a>,
    container: Container,
    limits: &'s Limits,
    units: &'s [Segment],
    order: Vec<usize>,
    rest: Vec<usize>,
    copies: Vec<(usize, usize)>,
    /// Whether a unit in the order turned out to be a copy.
    is_outdated: bool,
    /// Whether all units are in the order, and could be read.
    is_whole: bool,
    pub(super) stream: StreamState,
}

/// The stream up to the end of a unit.
pub(super) struct StreamState {
    parser: Parser,
    pub(super) tracker: StreamTracker,
    /// The bytes of the event that the unit ends in.
    pub(super) tail: Vec<u8>,
}

impl<'s, 'a> Search<'s, 'a> {
    pub(super) fn new(
        source: &'s Source<'a>,
        container: Container,
        limits: &'s Limits,
        units: &'s [Segment],
        copies: Vec<(usize, usize)>,
    ) -> Self {
        let is_copy = |unit: &usize| copies.iter().any(|(copy, _)| copy == unit);
        let rest = (0..units.len()).filter(|unit| !is_copy(unit)).collect();
        let stream = StreamState {
            parser: Parser::new(limits.of(&NESTING)),
            tracker: StreamTracker::new(limits, false),
            tail: Vec::new(),
        };
        Self {
            source,
            container,
            limits,
            units,
            order: Vec::new(),
            rest,
            copies,
            is_outdated: false,
            is_whole: false,
            stream,
        }
    }

    fn run(&mut self) {
        let mut is_read = true;
        while let Some(next) = self.find_next().filter(|_| is_read) {
            self.rest.retain(|unit| *unit != next);
            self.order.push(next);
            is_read = self.read_unit(next);
        }
        self.is_whole = is_read && self.rest.is_empty();
        // The others stay where they are.
        self.order.append(&mut self.rest);
    }

    /// Returns the unit that continues the stream: the next one in the file, if it does.
    fn find_next(&mut self) -> Option<usize> {
        let Some(last) = self.order.last().copied() else {
            let mut candidates = self.rest.iter().copied().take(CANDIDATES_MAX);
            return candidates.find(|unit| is_beginning_of_stream(&self.head(*unit)));
        };
        let after = self.rest.iter().copied().find(|unit| *unit > last);
        let natural = after.or(self.rest.first().copied())?;
        if self.continues(natural) {
            return Some(natural);
        }
        if self.is_beginning_of(natural, last) {
            self.copies.push((natural, last));
            self.rest.retain(|unit| *unit != natural);
            return self.find_next();
        }
        if self.is_beginning_of(last, natural) {
            self.copies.push((last, natural));
            self.is_outdated = true;
            return None;
        }
        let others = self.rest.iter().copied().filter(|unit| *unit != natural);
        let others: Vec<usize> = others.take(CANDIDATES_MAX).collect();
        others.into_iter().find(|unit| self.continues(*unit))
    }

    fn bytes(&self, unit: usize, most: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let Some(segment) = self.units.get(unit) else { return bytes };
        unit_bytes(self.source, self.container, *segment, self.limits, &mut |piece, _| {
            let room = most.saturating_sub(bytes.len());
            bytes.extend_from_slice(piece.get(..room).unwrap_or(piece));
            bytes.len() < most
        });
        bytes
    }

    pub(super) fn head(&self, unit: usize) -> Vec<u8> {
        self.bytes(unit, HEAD_LEN)
    }

    /// Whether all bytes of `copy` are the first ones of `unit`.
    pub(super) fn is_beginning_of(&self, copy: usize, unit: usize) -> bool {
        let len = |unit: usize| self.units.get(unit).map_or(0, |unit| unit.expanded.len());
        let most = len(copy);
        if most < to_u64(COPY_MIN) || most > len(unit) || self.head(unit).len() < COPY_MIN {
            return false;
        }
        let most = to_usize(most);
        self.bytes(copy, most) == self.bytes(unit, most)
    }

    /// Whether a unit continues the stream.
    pub(super) fn continues(&self, unit: usize) -> bool {
        let head = self.head(unit);
        let at_end = head.len() < HEAD_LEN;
        let bytes = [self.stream.tail.as_slice(), &head].concat();
        let tracker = &self.stream.tracker;
        let context = ProbeContext {
            definitions: &tracker.definitions,
            calls: &tracker.calls,
            lost_calls: &tracker.lost_calls,
            version: self.stream.parser.version(),
            depth_max: self.limits.of(&NESTING),
            donor: None,
            damage: 0,
            is_in_place: false,
        };
        let mut steps = STEPS;
        let probe = probe_position(&context, (&bytes, 0), Tolerance::Far, at_end, &mut steps);
        match probe {
            ProbeResult::Sync(sync) => sync.next == tracker.calls.next && sync.lost.is_empty(),
            // A long string goes on.
            ProbeResult::NeedsMore => self.stream.tail.len() > HEAD_LEN,
            ProbeResult::Rejected | ProbeResult::Stale(_) => false,
        }
    }

    /// Reads a unit that continues the stream; `false` if it cannot be read to its end.
    pub(super) fn read_unit(&mut self, unit: usize) -> bool {
        let Some(segment) = self.units.get(unit).copied() else { return false };
        let stream = &mut self.stream;
        let mut is_sound = true;
        unit_bytes(self.source, self.container, segment, self.limits, &mut |piece, _| {
            is_sound = stream.read(piece);
            is_sound
        });
        is_sound
    }
}

impl StreamState {
    /// Reads further bytes: all events that are complete.
    fn read(&mut self, piece: &[u8]) -> bool {
        let mut bytes = std::mem::take(&mut self.tail);
        bytes.extend_from_slice(piece);
        let (read, result) = self.parser.run(&bytes, 0, &mut self.tracker);
        if result.is_err() {
            return false;
        }
        let is_header = self.parser.is_in_header();
        let event =
            if self.parser.is_between_events() { to_u64(read) } else { self.parser.event() };
        self.tracker.take_back_current();
        self.tracker.warnings.ready.clear();
        self.parser.turn_to_event(self.parser.version());
        bytes.drain(..to_usize(event).min(bytes.len()));
        self.tail = bytes;
        !is_header && self.tail.len() <= TAIL_MAX
    }
}
