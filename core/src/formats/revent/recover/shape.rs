//! The events that a recording can have.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::event::{Event, narrow_if, parse_event};
use crate::formats::revent::layout::{Generation, names};
use crate::kit::cursor::{Cursor, Order};

/// The description of the events to find.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Their layout.
    pub generation: Generation,
    /// Number of devices that they may name.
    pub devices: i32,
    /// Whether their times are widened (see [`Event::is_widened`]).
    pub widened: bool,
}

impl Shape {
    pub(super) fn stride(&self) -> u64 {
        self.generation.layout().event
    }

    /// Returns whether the event has a listed device and a time. One of zeros, of a lost device, is
    /// in its place as well.
    #[inline]
    pub(super) fn is_sound(&self, event: &Event) -> bool {
        // Neither is negative, so that one of them above 0 is a time above 0.
        event.is_sane(self.devices) && (event.sec | event.usec != 0 || event.is_zero())
    }

    /// Returns the event in `bytes`, if it is sound and its code is known.
    pub(super) fn parse(&self, bytes: &[u8]) -> Option<Event> {
        let mut cursor = Cursor::new(bytes, FILE, 0, Order::Little);
        let event = narrow_if(parse_event(&mut cursor, self.generation).ok()?, self.widened);
        let is_meant = self.is_sound(&event) && event.sec > 0;
        (is_meant && names::is_known(event.kind, event.code)).then_some(event)
    }
}
