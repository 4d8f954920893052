//! The defects of a lane in order, and the place where its damage begins.

use crate::formats::qemu::decode::decoder::RingAbove;
use crate::formats::qemu::decode::defect::{Defect, Located};
use crate::formats::qemu::layout::HEADER_LEN;
use crate::kit::race::Evidence;
use crate::kit::span::Span;

/// Bytes between two defects of one cause, where the reading loses its way in the end.
const NEAR: u64 = 256;
/// Earlier defects that are kept with the last one.
const EARLIER_MAX: usize = 4;

/// A place to walk from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Offset of an event.
    pub at: u64,
    /// The known lower bound of the ring size there.
    pub ring: RingAbove,
    /// Events before it.
    pub events: u64,
    /// Instructions before it.
    pub instructions: u64,
}

impl Anchor {
    /// The first event.
    pub const START: Self = Self { at: HEADER_LEN, ring: 0, events: 0, instructions: 0 };
}

/// The place where the damage of a log begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset of the event.
    pub at: u64,
    /// A place to walk from.
    pub before: Anchor,
}

/// The defects of a lane, in order.
#[derive(Clone, Debug, Default)]
pub struct Defects {
    /// The first ones, up to `capacity`.
    pub found: Vec<Located>,
    /// How many others there are, by kind of defect.
    pub more: Vec<(Defect, u64)>,
    /// The first irregular event: damage that shows as an error later begins here at the latest.
    pub irregular: Option<Damage>,
    /// Whether there is an error.
    pub has_error: bool,
    /// The contradictions of the layouts.
    pub evidence: Evidence<Defect>,
    capacity: usize,
}

impl Defects {
    /// An empty log of defects that keeps up to `capacity` of them.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, ..Self::default() }
    }

    /// Notes a defect; `start` is the place where damage may have begun.
    pub fn note(&mut self, located: Located, start: Option<Damage>) {
        let defect = located.defect;
        if defect.contradicts_layout() {
            self.evidence.contradict(located.span.start, defect);
        }
        self.irregular = self.irregular.or(start);
        // The first error has the fix, so it is kept.
        let is_first_error = defect.is_damage() && !self.has_error;
        self.has_error |= defect.is_damage();
        if self.found.len() < self.capacity || is_first_error {
            self.found.push(located);
            return;
        }
        match self.more.iter_mut().find(|(other, _)| other.is_same_kind(&defect)) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => self.more.push((defect, 1)),
        }
    }

    /// Whether defects of this kind are only counted by now.
    pub fn is_counted(&self, defect: &Defect) -> bool {
        let is_full = self.found.len() >= self.capacity;
        is_full && self.more.iter().any(|(other, _)| other.is_same_kind(defect))
    }

    /// Counts defects as often again, if they are of kinds that are only counted by now. Returns
    /// whether they are.
    pub fn repeat(&mut self, defects: &[Defect], times: u64) -> bool {
        if !defects.iter().all(|defect| self.is_counted(defect)) {
            return false;
        }
        for defect in defects {
            let same = self.more.iter_mut().find(|(other, _)| other.is_same_kind(defect));
            if let Some((_, count)) = same {
                *count = count.saturating_add(times);
            }
            self.evidence.refute(times);
        }
        true
    }

    /// Joins the defects shortly before the last one with it: a wrong length shows in the next
    /// events, so they have one cause. The damage then begins at the earliest of them.
    pub fn gather(&mut self, array: Option<Span>, before: Anchor) {
        if !self.more.is_empty() {
            // The last defect was only counted.
            return;
        }
        let Some(mut last) = self.found.pop() else { return };
        let mut start = last.span.start;
        while let Some(earlier) = self.found.pop() {
            let is_near = earlier.span.start.saturating_add(NEAR) >= start;
            if !is_near || matches!(earlier.defect, Defect::FullRing(_)) {
                self.found.push(earlier);
                break;
            }
            start = earlier.span.start;
            last.earlier.push(earlier);
        }
        // A wrong length shows where the next event should begin.
        if let Some(array) = array.filter(|array| array.end == start) {
            start = array.start;
            let defect = Defect::DoubtfulLength;
            let number = last.number;
            let length = Located { number, kind: None, span: array, defect, earlier: Vec::new() };
            last.earlier.push(length);
        }
        let first = self.irregular.filter(|damage| damage.at < start);
        let before = if before.at <= start { before } else { Anchor::START };
        self.irregular = first.or(Some(Damage { at: start, before }));
        // The earliest is the most likely cause.
        last.earlier.reverse();
        last.earlier.truncate(EARLIER_MAX);
        self.found.push(last);
    }
}
