//! The defect of an event at its place: facts that only the events before it show.

use crate::formats::qemu::decode::decoder::{RingAbove, ring_above};
use crate::formats::qemu::decode::defect::Defect;
use crate::formats::qemu::decode::event::{Event, Value};
use crate::formats::qemu::layout::{Async, Checkpoint, Kind, range};
use crate::kit::span::Span;

/// The events before the next one, as far as they matter to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context {
    /// Kind of the last event.
    pub previous: Option<Kind>,
    /// Kind of the event before END.
    pub before_end: Option<Kind>,
    /// The last event, if its length depends on a length field.
    pub array: Option<Span>,
    /// Number of the checkpoint that the last event names.
    pub checkpoint: Option<u8>,
    /// Whether CP_INIT was seen.
    pub has_init: bool,
    /// The known lower bound of the size of the audio ring.
    pub ring: RingAbove,
    /// The requests that are done.
    pub requests: Requests,
    /// How often events were decoded ahead.
    pub looks: u32,
}

/// The asynchronous requests of a log: their ids count up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requests {
    /// The block id after the largest one so far.
    next_block: u64,
    /// The block ids below it that were seen: bit N stands for the id that is N + 1 smaller.
    blocks_done: u64,
    /// Network filters from index 0 on that have a packet.
    filters: u8,
}

impl Context {
    /// Takes an event into account.
    pub fn add(&mut self, event: &Event) {
        let kind = event.kind;
        self.ring = ring_above(self.ring, &event.value);
        self.checkpoint = event.checkpoint;
        self.array = event.value.has_array().then(|| event.span());
        self.has_init |= kind == Kind::Checkpoint(Checkpoint::Init);
        self.requests.add(event);
        if kind == Kind::End {
            self.before_end = self.previous;
        }
        self.previous = Some(kind);
    }
}

impl Requests {
    fn add(&mut self, event: &Event) {
        match (event.kind, &event.value) {
            (Kind::Async(Async::Block), Value::Id(id)) if self.find_block(*id).is_none() => {
                let next = self.next_block.max(id.saturating_add(1));
                let step = next.saturating_sub(self.next_block);
                let shift = |bits: u64, by: u64| {
                    u32::try_from(by).ok().and_then(|by| bits.checked_shl(by)).unwrap_or(0)
                };
                let back = next.saturating_sub(*id).saturating_sub(1);
                self.blocks_done = shift(self.blocks_done, step) | shift(1, back);
                self.next_block = next;
            }
            (_, Value::Net { filter, .. }) if *filter == self.filters => {
                self.filters = self.filters.saturating_add(1);
            }
            _ => {}
        }
    }

    /// Returns the defect of an id or an index. `instructions`: those before the event.
    pub fn find_defect(&self, event: &Event, instructions: u64) -> Option<Defect> {
        match (event.kind, &event.value) {
            (Kind::Async(Async::Bh | Async::BhOneshot), Value::Id(id)) if *id > instructions => {
                Some(Defect::BottomHalfId { id: *id, instructions })
            }
            (Kind::Async(Async::Block), Value::Id(id)) => self.find_block(*id),
            (_, Value::Net { filter, .. }) if *filter > self.filters => {
                Some(Defect::FilterGap { filter: *filter, next: self.filters })
            }
            _ => None,
        }
    }

    fn find_block(&self, id: u64) -> Option<Defect> {
        let next = self.next_block;
        if id >= next.saturating_add(range::BLOCK_REQUESTS) {
            return Some(Defect::BlockId { id, next });
        }
        let back = u32::try_from(next.checked_sub(id)?.checked_sub(1)?).ok()?;
        let is_done = self.blocks_done.checked_shr(back)? & 1 == 1;
        is_done.then_some(Defect::BlockTwice(id))
    }
}
