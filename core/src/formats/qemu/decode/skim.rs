//! Runs of regular events, fast.
//!
//! A Linux boot has three bytes an event, so dispatch is all: the common events, whose payload is
//! nothing, a count or a clock, are passed over by one loop without a branch on the kind. What is
//! regular is data: a [`Table`] says for each id how long it is, which values it may have and which
//! events may follow. The loop stops before the first event that is not regular, or that the table
//! leaves to others.

use crate::formats::qemu::layout::Kind;

/// Bytes that the loop looks at: an id and the longest payload.
const WINDOW: usize = 9;

/// What is regular of one id.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Bytes with the id; 0 leaves the event to others.
    pub len: usize,
    /// By how many bits the eight bytes behind the id are shifted to give the value.
    pub shift: u32,
    /// And masked.
    pub mask: u64,
    /// All ones if a value is the least that the next one of the id may have.
    pub rises: u64,
    /// The bit of the kind among the successors of another.
    pub bit: u64,
    /// The kinds that may follow.
    pub followers: u64,
}

impl Entry {
    /// Of an id that is left to others.
    pub const NONE: Self = Self { len: 0, shift: 0, mask: 0, rises: 0, bit: 0, followers: 0 };
}

/// What is regular, by id.
#[derive(Clone, Debug)]
pub struct Table {
    /// Kinds by id.
    pub kinds: [Option<Kind>; 256],
    /// Entries by id.
    pub entries: [Entry; 256],
}

/// What was seen of one id, and what may come next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    /// Events.
    pub count: u64,
    /// Sum of the values, modulo 2^64.
    pub sum: u64,
    /// Least value that is regular.
    pub floor: u64,
    /// The one behind the greatest; that of a signed value is 2^63, so that a difference between
    /// two of them that is itself no signed number misleads nobody. None is regular at `floor`.
    pub end: u64,
}

/// The state between two runs.
#[derive(Clone, Debug)]
pub struct Skim {
    /// By id.
    pub slots: [Slot; 256],
    /// The kinds that may follow the last event.
    pub followers: u64,
    /// Id of the last event.
    pub last: u8,
}

impl Skim {
    /// Passes over regular events of `run` and returns their bytes.
    ///
    /// Stops up to eight bytes before the end of the run.
    pub fn pass(&mut self, table: &Table, run: &[u8]) -> usize {
        let (mut rest, mut followers, mut last) = (run, self.followers, self.last);
        while let Some(window) = rest.first_chunk::<WINDOW>() {
            let [id, a, b, c, d, e, f, g, h] = *window;
            let Some(entry) = table.entries.get(usize::from(id)) else { break };
            let Some(slot) = self.slots.get_mut(usize::from(id)) else { break };
            let payload = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
            let value = payload.wrapping_shr(entry.shift) & entry.mask;
            let regular = value.wrapping_sub(slot.floor) < slot.end.wrapping_sub(slot.floor);
            let Some(next) = rest.get(entry.len..) else { break };
            if !regular | (followers & entry.bit == 0) | (entry.len == 0) {
                break;
            }
            slot.count = slot.count.wrapping_add(1);
            slot.sum = slot.sum.wrapping_add(value);
            slot.floor = (value & entry.rises) | (slot.floor & !entry.rises);
            followers = entry.followers;
            last = id;
            rest = next;
        }
        self.followers = followers;
        self.last = last;
        run.len().saturating_sub(rest.len())
    }
}
