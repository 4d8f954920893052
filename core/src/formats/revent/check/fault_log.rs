//! The faults of events, counted: the first event of each kind, and how many there are.
//!
//! A fault that a million events share is one finding, and costs the memory of one.

use crate::formats::revent::decode::event::Event;
use crate::formats::revent::decode::walk::{Damage, DamageCause, Record};

/// A kind of fault of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The device is not in the list.
    UnknownDevice,
    /// Seconds or microseconds are out of range.
    InvalidTime,
    /// The times are widened.
    WidenedTimes,
    /// Time, type, code and value are zero.
    Zeros,
    /// The kernel's header does not define type and code.
    UnknownCode,
    /// The value of a key is not 0, 1 or 2.
    KeyValue,
    /// The padding is not the recorder's.
    EventPad,
    /// The gamepad does not have the key or axis.
    GamepadCode,
    /// The value of an axis is outside its range.
    GamepadRange,
    /// The slot is higher than any device's.
    SlotOutOfRange,
    /// The time is before the one of the event before.
    TimeBack,
    /// The time is before the start of the recording.
    BeforeStart,
    /// The time is after the end of the recording.
    AfterEnd,
    /// More than an hour passed since the event before.
    Gap,
    /// The kernel dropped events.
    Dropped,
    /// A key or contact is released that was not pressed.
    NotPressed,
    /// Two slots have the same contact.
    ContactTwice,
}

/// Number of kinds.
const FAULTS: usize = 17;

impl Fault {
    /// Returns the index of the kind in a [`FaultLog`].
    const fn index(self) -> usize {
        match self {
            Self::UnknownDevice => 0,
            Self::InvalidTime => 1,
            Self::WidenedTimes => 2,
            Self::Zeros => 3,
            Self::UnknownCode => 4,
            Self::KeyValue => 5,
            Self::EventPad => 6,
            Self::GamepadCode => 7,
            Self::GamepadRange => 8,
            Self::SlotOutOfRange => 9,
            Self::TimeBack => 10,
            Self::BeforeStart => 11,
            Self::AfterEnd => 12,
            Self::Gap => 13,
            Self::Dropped => 14,
            Self::NotPressed => 15,
            Self::ContactTwice => 16,
        }
    }
}

impl From<DamageCause> for Fault {
    fn from(cause: DamageCause) -> Self {
        match cause {
            DamageCause::UnknownDevice => Self::UnknownDevice,
            DamageCause::InvalidTime => Self::InvalidTime,
            DamageCause::Zeros => Self::Zeros,
        }
    }
}

/// All events with one kind of fault.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Occurrences {
    /// Number of events.
    pub(super) count: u64,
    /// Number of the first one.
    pub(super) index: u64,
    /// The first one.
    pub(super) event: Event,
    /// The value that the first one contradicts: a time or a bound.
    pub(super) expected: i64,
}

/// Numbers of events, as runs: the first number, and the number after the last.
pub(super) type Runs = Vec<(u64, u64)>;

/// Adds an event to runs of which at most `max` are kept.
fn add_to_runs(runs: &mut Runs, index: u64, max: usize) {
    let is_full = runs.len() >= max;
    match runs.last_mut() {
        Some((_, end)) if *end == index => *end = index.saturating_add(1),
        _ if is_full => {}
        _ => runs.push((index, index.saturating_add(1))),
    }
}

/// The faults of all events.
#[derive(Debug)]
pub(super) struct FaultLog {
    occurrences: [Occurrences; FAULTS],
    zeros: Runs,
    unknown_device: Runs,
    invalid_time: Runs,
    max_runs: usize,
}

impl FaultLog {
    /// Returns an empty log that keeps at most `max_runs` runs of each kind of damage.
    pub(super) fn new(max_runs: usize) -> Self {
        Self {
            occurrences: [Occurrences::default(); FAULTS],
            zeros: Runs::default(),
            unknown_device: Runs::default(),
            invalid_time: Runs::default(),
            max_runs,
        }
    }

    /// Counts a fault of `record`, which contradicts `expected`.
    #[cold]
    pub(super) fn note(&mut self, fault: Fault, record: &Record, expected: i64) {
        if let Some(seen) = self.occurrences.get_mut(fault.index()) {
            if seen.count == 0 {
                let Record { index, event, .. } = *record;
                *seen = Occurrences { count: 0, index, event, expected };
            }
            seen.count = seen.count.saturating_add(1);
        }
    }

    /// Counts an event that cannot be replayed, and keeps its number for a fix.
    #[cold]
    pub(super) fn note_damage(&mut self, damage: &Damage, devices: i32) {
        let runs = match damage.cause {
            DamageCause::UnknownDevice => &mut self.unknown_device,
            DamageCause::InvalidTime => &mut self.invalid_time,
            DamageCause::Zeros => &mut self.zeros,
        };
        add_to_runs(runs, damage.record.index, self.max_runs);
        self.note(damage.cause.into(), &damage.record, i64::from(devices));
    }

    /// Returns the events with one kind of fault, or `None` without one.
    pub(super) fn occurrences(&self, fault: Fault) -> Option<Occurrences> {
        self.occurrences.get(fault.index()).copied().filter(|seen| seen.count > 0)
    }

    /// Returns the first runs of events with one kind of damage.
    pub(super) const fn runs(&self, cause: DamageCause) -> &Runs {
        match cause {
            DamageCause::UnknownDevice => &self.unknown_device,
            DamageCause::InvalidTime => &self.invalid_time,
            DamageCause::Zeros => &self.zeros,
        }
    }
}
