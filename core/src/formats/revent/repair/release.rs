//! The events that release pressed keys and contacts at the end of a recording.

use crate::formats::revent::decode::event::Event;
use crate::formats::revent::layout::{EVENT_PAD, MICROS, code, kind};
use crate::kit::num::to_u64;

/// Keys and contacts of one device that are pressed at the end.
#[derive(Debug)]
pub(in crate::formats::revent) struct Held {
    /// Index of the device.
    pub(in crate::formats::revent) device: i32,
    /// Slot of the last contact event.
    pub(in crate::formats::revent) slot: i32,
    /// Slots with a contact.
    pub(in crate::formats::revent) contacts: Vec<i32>,
    /// Pressed keys.
    pub(in crate::formats::revent) keys: Vec<u16>,
    /// Time of its last event in microseconds; -1 without events.
    pub(in crate::formats::revent) last_time: i64,
    /// Whether its last frame has not ended.
    pub(in crate::formats::revent) has_open_frame: bool,
}

/// Events that a repair adds at the end.
#[derive(Clone, Debug, Default)]
pub(in crate::formats::revent) struct Release {
    /// The events, frame by frame.
    pub(in crate::formats::revent) events: Vec<Event>,
    /// Whether more events than the limit are needed; the list is empty then.
    pub(in crate::formats::revent) is_over_limit: bool,
}

/// Returns the events that release everything: contacts and keys of each device, then its
/// SYN_REPORT, at the time of the last event. No position is invented.
pub(in crate::formats::revent) fn release_events(
    held: impl Iterator<Item = Held>,
    last_time: Option<i64>,
    max: u64,
) -> Release {
    let mut events = Vec::new();
    for device in held {
        let time = last_time.unwrap_or(0).max(device.last_time);
        // A SYN_REPORT at time 0 would be an event of zeros.
        if time > 0 {
            release_device(&device, time, &mut events);
        }
        if to_u64(events.len()) > max {
            return Release { events: Vec::new(), is_over_limit: true };
        }
    }
    Release { events, is_over_limit: false }
}

fn release_device(held: &Held, time: i64, events: &mut Vec<Event>) {
    let sec = time.checked_div(MICROS).unwrap_or(0);
    let usec = time.checked_rem(MICROS).unwrap_or(0);
    let event = |kind, code, value| Event {
        sec,
        usec,
        device: held.device,
        value,
        pad: EVENT_PAD,
        kind,
        code,
    };
    let before = events.len();
    let mut slot = held.slot;
    for contact in &held.contacts {
        if *contact != slot {
            events.push(event(kind::ABS, code::ABS_MT_SLOT, *contact));
            slot = *contact;
        }
        events.push(event(kind::ABS, code::ABS_MT_TRACKING_ID, -1));
    }
    for key in &held.keys {
        events.push(event(kind::KEY, *key, 0));
    }
    if events.len() > before || held.has_open_frame {
        events.push(event(kind::SYN, code::SYN_REPORT, 0));
    }
}
