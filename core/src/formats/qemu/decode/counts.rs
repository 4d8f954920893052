//! Counts of the events on the slow path; the fast loop counts in its slots.

use crate::formats::qemu::decode::event::{Event, Value};
use crate::formats::qemu::layout::{Async, KINDS, Kind};

/// First and largest time of a clock in nanoseconds, if it was seen.
pub type ClockRange = Option<[i64; 2]>;

/// Counts of a log.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Events by number of the kind.
    kinds: Vec<u64>,
    /// Events of all kinds.
    pub events: u64,
    /// Events that are zeros.
    pub zeros: u64,
    /// Instructions.
    pub instructions: u64,
    /// Packets and their bytes.
    pub packets: [u64; 2],
    /// Keys pressed and released.
    pub keys: [u64; 2],
    /// The host clock and the virtual real-time clock.
    clocks: [ClockRange; 2],
}

impl Default for Counts {
    fn default() -> Self {
        let kinds = vec![0; KINDS.len()];
        Self {
            kinds,
            events: 0,
            zeros: 0,
            instructions: 0,
            packets: [0; 2],
            keys: [0; 2],
            clocks: [None; 2],
        }
    }
}

impl Counts {
    /// Returns the events of a kind.
    pub fn of(&self, kind: Kind) -> u64 {
        self.kinds.get(kind.number()).copied().unwrap_or(0)
    }

    /// Returns first and largest time of a clock on the slow path.
    pub fn clock(&self, kind: Kind) -> ClockRange {
        *self.clocks.get(clock_index(kind))?
    }

    /// Adds INSTRUCTION events that are zeros.
    pub fn add_zeros(&mut self, events: u64) {
        self.add_empty(Kind::Instruction, events);
        self.zeros = self.zeros.saturating_add(events);
    }

    /// Adds events that have nothing but their kind.
    fn add_empty(&mut self, kind: Kind, events: u64) {
        if let Some(count) = self.kinds.get_mut(kind.number()) {
            *count = count.saturating_add(events);
            self.events = self.events.saturating_add(events);
        }
    }

    /// Adds an event. `last` is the last time of its clock, if the event is one.
    pub fn add(&mut self, event: &Event, last: Option<i64>) {
        self.add_empty(event.kind, 1);
        self.zeros = self.zeros.saturating_add(u64::from(event.is_zeros()));
        self.instructions = self.instructions.saturating_add(event.instructions());
        if event.kind == Kind::Async(Async::Net) {
            let [packets, bytes] = &mut self.packets;
            *packets = packets.saturating_add(1);
            *bytes = bytes.saturating_add(event.value.array().unwrap_or(0));
        }
        if let Value::Input("key", _, [_, down, ..]) = event.value {
            let [pressed, released] = &mut self.keys;
            let keys = if down == 0 { released } else { pressed };
            *keys = keys.saturating_add(1);
        }
        if let Some(time) = event.time()
            && let Some(clock) = self.clocks.get_mut(clock_index(event.kind))
        {
            let [first, largest] = clock.unwrap_or([time; 2]);
            *clock = Some([first, largest.max(last.unwrap_or(time))]);
        }
    }
}

fn clock_index(kind: Kind) -> usize {
    usize::from(kind == Kind::ClockVirtualRt)
}
