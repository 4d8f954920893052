//! Two traces in one file of chunks, whose parts no magic separates.
//!
//! ```text
//!  fork     P P | P C P C C     both processes continue the stream that they share
//!  mixed    A B A A B           each process writes a stream of its own
//!  hole     A A 0000 B B        one truncated the file, and the other went on after its end
//! ```

use crate::formats::apitrace::decode::tracker::overlaps::Overlap;
use crate::formats::apitrace::expand::{Container, Expansion};
use crate::formats::apitrace::layout::{CHUNK_EXPANDED, MAGIC_LEN, SNAPPY_MAGIC};
use crate::formats::apitrace::recover::arrangement::{Search, list_units};
use crate::formats::apitrace::recover::beginning::is_beginning_of_stream;
use crate::kit::layer::Segment;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::model::limits::Limits;

/// Zeros from which on they are a hole.
const HOLE_MIN: u64 = 64;
/// Zeros that are compared at a time.
const PIECE: u64 = 64 << 10;

/// The units of two traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The units in the file.
    pub units: Vec<Segment>,
    /// Those of the first trace, as indices.
    pub first: Vec<usize>,
    /// Those of the second one, with those that it shares with the first.
    pub second: Vec<usize>,
    /// The zeros between the two.
    pub hole: Option<Span>,
}

impl Parts {
    /// Returns how many units both traces have.
    pub fn count_shared(&self) -> usize {
        self.second.iter().filter(|unit| self.first.contains(unit)).count()
    }

    /// Returns the stored bytes that are not those of the first or of the second trace, in order.
    /// The magic stays.
    pub fn others(&self, is_second: bool, file_len: u64) -> Vec<Span> {
        let kept = if is_second { &self.second } else { &self.first };
        let spans = self.units.iter().enumerate().filter(|(unit, _)| !kept.contains(unit));
        let mut others: Vec<Span> = Vec::new();
        for (_, segment) in spans {
            let span = segment.stored;
            match others.last_mut().filter(|last| last.end == span.start) {
                Some(last) => last.end = span.end,
                None => others.push(span),
            }
        }
        // A hole ends before the magic of the second trace, if it has one.
        if let (false, Some(hole), Some(last)) = (is_second, self.hole, others.last_mut()) {
            (last.start, last.end) = (hole.start, file_len);
        }
        others
    }
}

/// Returns the parts of a file that holds two traces.
pub fn find_parts(source: &Source<'_>, limits: &Limits, overlap: Overlap) -> Option<Parts> {
    let units = list_units(source, Container::Snappy, limits)?;
    let finder = Finder { source, limits, units: &units, overlap };
    let (first, second, hole) = finder.split_at_hole().or_else(|| finder.split_mixed())?;
    Some(Parts { units, first, second, hole })
}

/// The units of both parts, and the hole between them.
type Split = (Vec<usize>, Vec<usize>, Option<Span>);

struct Finder<'s, 'a> {
    source: &'s Source<'a>,
    limits: &'s Limits,
    units: &'s [Segment],
    overlap: Overlap,
}

impl<'s, 'a> Finder<'s, 'a> {
    fn stream(&self) -> Search<'s, 'a> {
        let container = Container::Snappy;
        let mut search = Search::new(self.source, container, self.limits, self.units, Vec::new());
        search.stream.tracker.calls.overlap = self.overlap;
        search
    }

    /// Splits the file at zeros between two chunks: the first trace ends before them.
    fn split_at_hole(&self) -> Option<Split> {
        let is_inside = |unit: usize| unit > 0 && unit.saturating_add(1) < self.units.len();
        let hole = (0..self.units.len()).find(|unit| is_inside(*unit) && self.is_hole(*unit))?;
        let next = hole.saturating_add(1);
        if self.is_full(hole.saturating_sub(1)) {
            return None;
        }
        let mut stream = self.stream();
        let is_read = (0..hole).all(|unit| stream.read_unit(unit));
        let is_over = stream.stream.tail.is_empty();
        if !is_read || !is_over || stream.continues(next) {
            return None;
        }
        let span = self.units.get(hole)?.stored;
        Some(((0..hole).collect(), (next..self.units.len()).collect(), Some(span)))
    }

    /// Whether a unit is nothing but zeros, up to the magic of the next one.
    fn is_hole(&self, unit: usize) -> bool {
        let Some(span) = self.units.get(unit).map(|unit| unit.stored) else { return false };
        let magic = self.source.read(span.end.saturating_sub(MAGIC_LEN), span.end);
        let len = if magic.as_ref() == SNAPPY_MAGIC { MAGIC_LEN } else { 0 };
        let end = span.end.saturating_sub(len);
        let pieces = (span.start..end).step_by(to_usize(PIECE));
        let is_zero = |from: u64| {
            let piece = self.source.read(from, end.min(from.saturating_add(PIECE)));
            piece.iter().all(|byte| *byte == 0)
        };
        end.saturating_sub(span.start) >= HOLE_MIN && pieces.into_iter().all(is_zero)
    }

    /// Whether a unit is as long as the buffer of its writer: then it is not the last one.
    fn is_full(&self, unit: usize) -> bool {
        let len = |unit: &Segment| unit.expanded.len();
        let Some(own) = self.units.get(unit).map(len) else { return true };
        own >= CHUNK_EXPANDED || self.units.iter().filter(|unit| len(unit) == own).count() > 1
    }

    /// Whether all units are sound: what is left of a damaged one may continue any stream.
    fn is_whole(&self) -> bool {
        let mut blocks = Expansion::new(self.source, Container::Snappy, self.limits);
        blocks.all(|block| block.fault.is_none_or(|fault| !fault.loses_bytes()))
    }

    /// Tells the units of two processes apart: those of each continue its stream.
    fn split_mixed(&self) -> Option<Split> {
        if !self.is_whole() {
            return None;
        }
        let mut stream = self.stream();
        let (mut first, mut rest) = (vec![0], Vec::new());
        if !is_beginning_of_stream(&stream.head(0)) || !stream.read_unit(0) {
            return None;
        }
        for unit in 1..self.units.len() {
            if !stream.continues(unit) {
                rest.push(unit);
            } else if stream.read_unit(unit) {
                first.push(unit);
            } else {
                return None;
            }
        }
        let begin = *rest.first()?;
        let (mut other, shared) = match is_beginning_of_stream(&stream.head(begin)) {
            true => (self.stream(), Vec::new()),
            false => self.find_fork(&first, begin)?,
        };
        let is_other = |unit: &usize| {
            let follows = *unit == begin || other.continues(*unit);
            follows && other.read_unit(*unit)
        };
        let is_whole = rest.iter().all(is_other);
        // A unit that was written twice is a copy, not the beginning of another stream.
        let repeats = |unit: &usize| {
            stream.is_beginning_of(*unit, begin) || stream.is_beginning_of(begin, *unit)
        };
        let is_known = first.iter().any(repeats);
        let second = [shared.as_slice(), &rest].concat();
        (is_whole && !is_known).then_some((first, second, None))
    }

    /// Returns the stream up to the fork after which `unit` continues it, and its units.
    fn find_fork(&self, first: &[usize], unit: usize) -> Option<(Search<'s, 'a>, Vec<usize>)> {
        let mut stream = self.stream();
        for (index, one) in first.iter().enumerate().filter(|(_, one)| **one < unit) {
            if !stream.read_unit(*one) {
                return None;
            }
            if stream.continues(unit) {
                return Some((stream, first.get(..=index)?.to_vec()));
            }
        }
        None
    }
}

/// Returns the number of units as it is counted in files.
pub fn count(units: &[usize]) -> u64 {
    to_u64(units.len())
}
