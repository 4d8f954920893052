//! The defect of an event at its place: facts that only the events before it show.

use crate::formats::qemu::decode::decoder::{RingAbove, ring_above};
use crate::formats::qemu::decode::defect::Defect;
use crate::formats::qemu::decode::defect_log::{Anchor, Damage};
use crate::formats::qemu::decode::event::Event;
use crate::formats::qemu::layout::{Async, Checkpoint, HEADER_LEN, Kind, range};
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
    /// How often events were decoded again because a clock went back.
    pub looks_back: u32,
    /// The defects of the last event, if it and the one before it are INSTRUCTION events and it has
    /// zeros only.
    pub zero_defects: [Option<Defect>; 3],
}

/// The asynchronous requests of a log: their ids count up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requests {
    /// The block id after the largest one so far.
    next_block: u64,
    /// The block ids below it that were seen: bit N stands for the id that is N + 1 smaller.
    blocks_done: u64,
    /// Network filters from index 0 on that have a packet.
    filters: u64,
    /// Place after the last block request.
    last_block: Option<Damage>,
    /// Block requests that are skipped and not done yet.
    gap: Option<Gap>,
    /// The most requests that overtook a skipped one.
    overtaken: u64,
}

/// Block requests that are skipped: done later, or lost.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    /// Id of the first of them.
    pub id: u64,
    /// Number of those that are not done.
    left: u64,
    /// Number of requests that are done after them.
    pub later: u64,
    /// Number and bytes of the event that skips them.
    pub event: (u64, Span),
    /// The place after the last request before them: if they are lost, the damage lies between.
    pub start: Damage,
}

impl Context {
    /// Takes event `number` into account; `before` is a place to walk from.
    pub fn add(&mut self, event: &Event, number: u64, before: Anchor) {
        let kind = event.kind;
        self.ring = ring_above(self.ring, &event.value);
        self.checkpoint = event.checkpoint;
        self.array = event.value.array().map(|_| event.span());
        self.has_init |= kind == Kind::Checkpoint(Checkpoint::Init);
        self.requests.add(event, number, before);
        if kind == Kind::End {
            self.before_end = self.previous;
        }
        self.previous = Some(kind);
    }
}

impl Requests {
    fn add(&mut self, event: &Event, number: u64, before: Anchor) {
        match (event.kind, event.numbers()) {
            (Kind::Async(Async::Block), [id, ..]) if self.find_block(id).is_none() => {
                self.follow_gap(id, event, number);
                self.last_block = Some(Damage { at: event.end, before });
                let next = self.next_block.max(id.saturating_add(1));
                let step = next.saturating_sub(self.next_block);
                let shift = |bits: u64, by: u64| {
                    u32::try_from(by).ok().and_then(|by| bits.checked_shl(by)).unwrap_or(0)
                };
                let back = next.saturating_sub(id).saturating_sub(1);
                self.blocks_done = shift(self.blocks_done, step) | shift(1, back);
                self.next_block = next;
            }
            (Kind::Async(Async::Net), [filter, ..]) if filter == self.filters => {
                self.filters = self.filters.saturating_add(1);
            }
            _ => {}
        }
    }

    /// Opens, fills or closes the gap at a block request.
    fn follow_gap(&mut self, id: u64, event: &Event, number: u64) {
        let next = self.next_block;
        let Some(gap) = &mut self.gap else {
            let first = Damage { at: HEADER_LEN, before: Anchor::START };
            let start = self.last_block.unwrap_or(first);
            let event = (number, event.span());
            let left = id.saturating_sub(next);
            let gap = Gap { id: next, left, later: 1, event, start };
            self.gap = Some(gap).filter(|gap| gap.left > 0);
            return;
        };
        if id >= next {
            gap.later = gap.later.saturating_add(1);
            return;
        }
        gap.left = gap.left.saturating_sub(1);
        if gap.left == 0 {
            self.overtaken = self.overtaken.max(gap.later);
            self.gap = None;
        }
    }

    /// Returns the block requests that are skipped and not done yet.
    pub const fn gap(&self) -> Option<Gap> {
        self.gap
    }

    /// Returns whether more requests are done after those of the gap than ever overtook another
    /// one, so that they are lost rather than late.
    pub const fn is_gap_certain(&self, gap: &Gap) -> bool {
        gap.later >= range::BLOCK_LATER.saturating_add(self.overtaken.saturating_mul(4))
    }

    /// Returns whether requests are done in their order, so that a gap is unusual at once.
    pub const fn is_serial(&self) -> bool {
        self.overtaken == 0
    }

    /// Returns the defect of an id or an index. `instructions`: those before the event.
    pub fn find_defect(&self, event: &Event, instructions: u64) -> Option<Defect> {
        match (event.kind, event.numbers()) {
            (Kind::Async(Async::Bh | Async::BhOneshot), [id, ..]) if id > instructions => {
                Some(Defect::BottomHalfId { id, instructions })
            }
            (Kind::Async(Async::Block), [id, ..]) => self.find_block(id),
            (Kind::Async(Async::Net), [filter, ..]) if filter > self.filters => {
                Some(Defect::FilterGap { filter, next: self.filters })
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
