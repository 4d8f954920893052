//! The fast loop over regular events.
//!
//! A Linux boot has three bytes per event, so dispatch is all the work there is. The common events,
//! whose payload is empty, a count or a clock, are handled by one loop without a branch on the
//! kind: a [`Table`] lists for each id the length, the usual values and the usual successors. The
//! loop stops before the first event that is not regular, or that the table leaves to the slow
//! path.

use crate::formats::qemu::decode::pattern::Pattern;
use crate::formats::qemu::layout::Kind;
use crate::kit::num::to_u64;
use crate::kit::steps;

/// Bytes that the loop looks at: an id and the longest payload.
const WINDOW: usize = 9;

/// Bytes of a run: the counts of instructions in it are kept until they are judged.
pub const RUN: usize = 8 << 10;

/// The regular events of one id.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Length in bytes with the id; 0 leaves the event to the slow path.
    pub len: usize,
    /// Number of bits by which the eight bytes after the id are shifted right to give the value.
    pub shift: u32,
    /// The bits of the value after the shift.
    pub mask: u64,
    /// All ones if a value is the least regular one of the next event of the id; else 0.
    pub rises: u64,
    /// The bit of the kind in `followers` of another entry.
    pub bit: u64,
    /// The bits of the kinds that may follow.
    pub followers: u64,
    /// The bits of the kinds that take turns with the kind: those whose turn begins, and ends.
    pub opens: u64,
    pub closes: u64,
    /// 1 for a count of instructions; else 0.
    pub counts: u32,
}

impl Entry {
    /// The entry of an id that is left to the slow path.
    pub const NONE: Self = Self {
        len: 0,
        shift: 0,
        mask: 0,
        rises: 0,
        bit: 0,
        followers: 0,
        opens: 0,
        closes: 0,
        counts: 0,
    };
}

/// The regular events of a layout.
#[derive(Clone, Debug)]
pub struct Table {
    /// Kinds by id.
    pub kinds: [Option<Kind>; 256],
    /// Entries by id.
    pub entries: [Entry; 256],
}

/// The events of one id so far, and the regular values of the next one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    /// Number of events.
    pub count: u64,
    /// Sum of the values, modulo 2^64.
    pub sum: u64,
    /// Least regular value.
    pub floor: u64,
    /// The value after the largest regular one; of a signed value 2^63, so that the wrapping
    /// difference to `floor` is right for negative values as well. Equal to `floor`, no value is
    /// regular.
    pub end: u64,
}

/// The state of the loop between two runs.
#[derive(Clone, Debug)]
pub struct Skim {
    /// The regular events.
    pub table: &'static Table,
    /// Slots by id.
    pub slots: [Slot; 256],
    /// The bits of the kinds that may follow the last event.
    pub followers: u64,
    /// The bits of the kinds whose turn it is.
    pub turns: u64,
    /// The bits of the kinds that come out of turn as well.
    pub free: u64,
    /// Id of the last event.
    pub last: u8,
    /// Events that the loop skipped.
    pub events: u64,
    /// The events of kinds that may not follow, by the id before them.
    pub misfits: Misfits,
    /// The counts of instructions.
    pub pattern: Pattern,
}

/// Events that may not follow the one before them, of which a lane keeps no more than the number.
#[derive(Clone, Debug)]
pub struct Misfits {
    /// The bits of the kinds after which they are skipped and counted.
    pub counted: u64,
    /// Their number, by the id before them.
    pub after: [u64; 256],
}

impl Misfits {
    /// Counts an event after one of the id `last`; returns whether it may be skipped.
    #[cold]
    fn count(&mut self, table: &Table, last: u8) -> bool {
        let bit = table.entries.get(usize::from(last)).map_or(0, |entry| entry.bit);
        let Some(count) = self.after.get_mut(usize::from(last)) else { return false };
        let is_counted = self.counted & bit != 0;
        *count = count.saturating_add(u64::from(is_counted));
        is_counted
    }
}

impl Skim {
    /// Skips regular events at the start of `run` and returns their length in bytes.
    ///
    /// Stops up to eight bytes before the end of the run, which has at most [`RUN`] bytes.
    pub fn skip_regular(&mut self, run: &[u8]) -> usize {
        let (mut rest, mut last) = (run, self.last);
        let (mut followers, mut turns) = (self.followers, self.turns);
        let mut events = self.events;
        let mut counts = self.pattern.open();
        while let Some(window) = rest.first_chunk::<WINDOW>() {
            let [id, a, b, c, d, e, f, g, h] = *window;
            let Some(entry) = self.table.entries.get(usize::from(id)) else { break };
            let Some(slot) = self.slots.get_mut(usize::from(id)) else { break };
            let payload = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
            let value = payload.wrapping_shr(entry.shift) & entry.mask;
            let regular = value.wrapping_sub(slot.floor) < slot.end.wrapping_sub(slot.floor);
            let Some(next) = rest.get(entry.len..) else { break };
            if !regular | (turns & entry.bit == 0) | (entry.len == 0) {
                break;
            }
            if followers & entry.bit == 0 && !self.misfits.count(self.table, last) {
                break;
            }
            events = events.wrapping_add(1);
            slot.count = slot.count.wrapping_add(1);
            slot.sum = slot.sum.wrapping_add(value);
            let count = u32::try_from(payload.wrapping_shr(32)).unwrap_or(u32::MAX);
            counts.add(count, entry.counts);
            slot.floor = (value & entry.rises) | (slot.floor & !entry.rises);
            followers = entry.followers;
            turns = (turns & !entry.closes) | entry.opens | self.free;
            last = id;
            rest = next;
        }
        let len = counts.len;
        self.pattern.close(len);
        self.followers = followers;
        self.turns = turns;
        self.last = last;
        self.events = events;
        let skipped = run.len().saturating_sub(rest.len());
        steps::count(to_u64(skipped));
        skipped
    }

    /// Goes on after an event that the loop did not skip. One without an id of its own, an
    /// asynchronous event through 7.0, leaves the next event to the slow path as well.
    pub fn follow(&mut self, id: Option<u8>) {
        self.last = id.unwrap_or(u8::MAX);
        let entry = id.and_then(|id| self.table.entries.get(usize::from(id)));
        self.followers = entry.map_or(0, |entry| entry.followers);
        if let Some(entry) = entry {
            self.turns = (self.turns & !entry.closes) | entry.opens | self.free;
        }
    }

    /// From now on, events that may not follow one of the kind of the last one are only counted.
    pub fn count_misfits_after_last(&mut self) {
        let entry = self.table.entries.get(usize::from(self.last));
        self.misfits.counted |= entry.map_or(0, |entry| entry.bit);
    }

    /// Returns the kinds after which events came that may not follow, and how many, and forgets
    /// them.
    pub fn take_misfits(&mut self) -> Vec<(Kind, u64)> {
        let kinds = self.table.kinds.iter().copied();
        let after = self.misfits.after.iter_mut().map(std::mem::take);
        let counted = kinds.zip(after).filter(|(_, events)| *events > 0);
        counted.filter_map(|(kind, events)| Some((kind?, events))).collect()
    }

    /// Returns whether it is the turn of an id.
    pub fn is_turn(&self, id: u8) -> bool {
        let entry = self.table.entries.get(usize::from(id));
        entry.is_none_or(|entry| self.turns & entry.bit != 0 || entry.closes == 0)
    }

    /// Returns the slot of an id.
    pub fn slot(&self, id: u8) -> Option<&Slot> {
        self.slots.get(usize::from(id))
    }
}
