//! The events of a log of a known layout, one after the other.

use crate::formats::qemu::decode::decoder::{Decoder, RingAbove, ring_above};
use crate::formats::qemu::decode::event::{Event, Fault};
use crate::formats::qemu::layout::Kind;
use crate::kit::walk::Item;

/// Walks events up to END, to the end of the file, or to the first bytes that are not an event.
///
/// Events have no length field, so damage is the last item: it covers the rest of the file.
#[derive(Clone, Debug)]
pub struct Walker<'a> {
    decoder: Decoder<'a>,
    at: u64,
    ring: RingAbove,
    is_over: bool,
}

impl<'a> Walker<'a> {
    /// A walk from `at`, where the ring of AUDIO_IN is known to hold more than `ring` samples.
    pub const fn new(decoder: Decoder<'a>, at: u64, ring: RingAbove) -> Self {
        Self { decoder, at, ring, is_over: false }
    }
}

impl Iterator for Walker<'_> {
    type Item = Item<Event, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over || self.at >= self.decoder.source().len() {
            return None;
        }
        match self.decoder.event(self.at, self.ring) {
            Ok(event) => {
                self.at = event.end;
                self.ring = ring_above(self.ring, &event.value);
                self.is_over = event.kind == Kind::End;
                Some(Item::Record(event))
            }
            Err(fault) => {
                self.is_over = true;
                Some(Item::Damage(fault))
            }
        }
    }
}
