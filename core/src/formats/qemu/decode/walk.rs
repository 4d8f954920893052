//! The events of a log of a known layout, one after the other.

use crate::formats::qemu::decode::event::{Decoder, Event, Fault, RingAbove, Value};
use crate::formats::qemu::layout::Kind;

/// What the walk comes upon.
#[derive(Clone, Debug)]
pub enum Item {
    /// A whole event.
    Event(Event),
    /// No event begins here; the walk is over.
    Fault(Fault),
}

/// Walks events up to END, the end of the file or the first bytes that are no event.
#[derive(Clone, Debug)]
pub struct Walker<'a> {
    decoder: Decoder<'a>,
    at: u64,
    ring: RingAbove,
    over: bool,
}

impl<'a> Walker<'a> {
    /// A walk from `at` on, where the ring of AUDIO_IN is known to hold more than `ring` samples.
    pub const fn new(decoder: Decoder<'a>, at: u64, ring: RingAbove) -> Self {
        Self { decoder, at, ring, over: false }
    }

    /// Offset of the next item.
    pub const fn position(&self) -> u64 {
        self.at
    }
}

impl Iterator for Walker<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        if self.over || self.at >= self.decoder.source().len() {
            return None;
        }
        match self.decoder.event(self.at, self.ring) {
            Ok(event) => {
                self.at = event.end;
                self.ring = ring_above(self.ring, &event.value);
                self.over = event.kind == Kind::End;
                Some(Item::Event(event))
            }
            Err(fault) => {
                self.over = true;
                Some(Item::Fault(fault))
            }
        }
    }
}

/// What is known of the ring's size after an event.
pub fn ring_above(known: RingAbove, value: &Value) -> RingAbove {
    match value {
        // With its samples written, fewer were recorded than the ring holds.
        Value::AudioIn { recorded, position, full_ring: false } => {
            known.max(*recorded).max(position.unwrap_or(0))
        }
        // The ring holds just so many.
        Value::AudioIn { recorded, full_ring: true, .. } => known.max(recorded.saturating_sub(1)),
        _ => known,
    }
}
