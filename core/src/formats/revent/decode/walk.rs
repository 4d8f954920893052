//! The events of a recording, each a record or damage.

use crate::formats::revent::decode::event::{Event, narrow_if};
use crate::kit::walk::Item;

/// A complete event with a device and a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Number of the event.
    pub index: u64,
    /// The event, without the high halves of widened times.
    pub event: Event,
    /// Whether the stored times are widened (see [`Event::is_widened`]).
    pub widened: bool,
}

/// An event that cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The event as far as it can be read.
    pub record: Record,
    /// The field that is out of range.
    pub cause: DamageCause,
}

/// The reason why an event cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DamageCause {
    /// The device is not in the list.
    UnknownDevice,
    /// Seconds or microseconds are out of range.
    InvalidTime,
    /// Time, type, code and value are zero.
    Zeros,
}

/// Iterates over the events of a recording.
#[derive(Debug)]
pub struct Walk<I> {
    events: I,
    devices: i32,
    widened: bool,
}

impl<I> Walk<I> {
    /// Walks over `events` of a recording with `devices` devices; `widened` if their times have the
    /// following fields in their high halves.
    pub const fn new(events: I, devices: i32, widened: bool) -> Self {
        Self { events, devices, widened }
    }
}

impl<I: Iterator<Item = (u64, Event)>> Iterator for Walk<I> {
    type Item = Item<Record, Damage>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (index, stored) = self.events.next()?;
        Some(sort(index, stored, self.devices, self.widened))
    }

    #[inline]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, mut step: F) -> B {
        let Self { events, devices, widened } = self;
        events.fold(init, |folded, (index, stored)| {
            step(folded, sort(index, stored, devices, widened))
        })
    }
}

/// Returns a stored event as a record or as damage.
#[inline]
fn sort(index: u64, stored: Event, devices: i32, widened: bool) -> Item<Record, Damage> {
    let event = narrow_if(stored, widened);
    let record = Record { index, event, widened: widened && event != stored };
    let cause = if !event.has_device(devices) {
        DamageCause::UnknownDevice
    } else if !event.has_time() {
        DamageCause::InvalidTime
    } else if event.is_zero() {
        DamageCause::Zeros
    } else {
        return Item::Record(record);
    };
    Item::Damage(Damage { record, cause })
}
