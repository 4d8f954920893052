//! Stretches of the stream that are not events, and faults of stored units.

use super::grammar::{Space, StreamError};
use super::places::Place;
use crate::formats::apitrace::expand::Fault;
use crate::kit::layer::Segment;
use crate::model::Excerpt;

/// Why a stretch of the stream is damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DamageCause {
    /// The bytes are not events.
    Stream(StreamError),
    /// A unit lost bytes.
    Unit(Fault),
}

/// The calls that a damage affects.
#[derive(Clone, Copy, Debug)]
pub struct AffectedCalls {
    /// The number of the first call that was lost.
    pub first: u64,
    /// How many calls were lost.
    pub lost: u64,
    /// Numbers of calls that may be wrong, `from..to`; lost ones may be among them.
    pub suspects: (u64, u64),
    /// Where the stretch ends in which warnings are a consequence of the damage.
    pub doubt_end: u64,
    /// Whether the suspects are final: the block with the damage has ended, or the part of it that
    /// was packed by itself.
    pub is_settled: bool,
}

/// The units of a damage.
#[derive(Clone, Copy, Debug)]
pub struct DamagedUnits {
    /// The unit at fault, or the one that holds the damage.
    pub at_fault: Option<Segment>,
    /// Where the units at fault end in the file.
    pub stored_end: u64,
    /// The units that hold the stretch.
    pub place: Option<Place>,
}

/// A stretch of the stream that is not a sequence of events, or that is missing.
#[derive(Clone, Debug)]
pub struct Damage {
    /// Why it is damage.
    pub cause: DamageCause,
    /// Where it was noticed.
    pub seen: u64,
    /// Where the sound events before it end.
    pub start: u64,
    /// Where sound events begin again; for an open one, where the stream ends.
    pub end: u64,
    /// Whether no sound event follows.
    pub is_open: bool,
    /// Whether the header of the stream was lost.
    pub has_header: bool,
    /// Calls that it affects.
    pub calls: AffectedCalls,
    /// Units that hold it.
    pub units: DamagedUnits,
    /// Definitions that were lost.
    pub definitions: Vec<(Space, u64)>,
    /// The bytes where it was noticed.
    pub excerpt: Option<Excerpt>,
}

impl Damage {
    /// Returns how many bytes of the stream it takes.
    pub const fn len(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Whether it takes no byte: events or definitions are missing.
    pub const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Returns how many calls were lost; unknown for an open one.
    pub const fn lost_calls(&self) -> u64 {
        if self.is_open { 0 } else { self.calls.lost }
    }

    /// Returns the number of the last call that was lost.
    pub const fn last_lost_call(&self) -> u64 {
        self.calls.first.saturating_add(self.calls.lost).saturating_sub(1)
    }

    /// Returns the first and last call around it that may be wrong.
    pub fn suspects(&self) -> Option<(u64, u64)> {
        let (from, to) = self.calls.suspects;
        let after = self.calls.first.saturating_add(self.calls.lost);
        // Lost calls are not among them, unless they lie between.
        let (from, to) = if from >= self.calls.first {
            (from.max(after), to)
        } else if to <= after {
            (from, self.calls.first)
        } else {
            (from, to)
        };
        (from < to).then(|| (from, to.saturating_sub(1)))
    }
}

/// A unit with a fault.
#[derive(Clone, Debug)]
pub struct UnitFault {
    /// The fault.
    pub fault: Fault,
    /// Where.
    pub segment: Segment,
}

/// The event that the stream ends in.
#[derive(Clone, Debug)]
pub struct TruncatedEvent {
    /// Where it begins.
    pub start: u64,
    /// Where the stream ends.
    pub end: u64,
    /// The call that it belongs to.
    pub call: u64,
    /// Whether the stream ends in its header.
    pub is_header: bool,
}

/// The faults of a stream and of the units that hold it.
#[derive(Debug, Default)]
pub struct StreamFaults {
    /// Stretches that are not events, in order.
    pub damages: Vec<Damage>,
    /// Units with faults that lose nothing of the stream.
    pub units: Vec<UnitFault>,
    /// The event that the stream ends in.
    pub truncated: Option<TruncatedEvent>,
    /// The fault of the last unit, if the file ends inside it.
    pub tail: Option<UnitFault>,
    /// A limit that was reached: where, and which.
    pub limit: Option<(u64, String)>,
    /// Searches that reached their limit: the first and last byte that were not searched.
    pub ended_searches: Vec<(u64, u64)>,
    /// Damages before this one are settled.
    settled: usize,
}

impl StreamFaults {
    /// Returns the damages whose suspects are not final.
    pub fn unsettled_mut(&mut self) -> impl Iterator<Item = &mut Damage> {
        let from = self.settled.min(self.damages.len());
        self.damages.iter_mut().skip(from).filter(|damage| !damage.calls.is_settled)
    }

    /// Remembers which damages are settled.
    pub fn update_settled(&mut self) {
        let is_open = self.damages.last().is_some_and(|damage| !damage.calls.is_settled);
        self.settled = self.damages.len().saturating_sub(usize::from(is_open));
    }
}
