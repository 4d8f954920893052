//! The state of one device while its events are followed: keys, contacts and the open frame.

use crate::formats::revent::decode::event::Event;
use crate::formats::revent::layout::KEY_MAX;
use crate::kit::num::to_u64;

/// The state of one device. Its size depends on keys and slots, not on the number of events.
#[derive(Clone, Debug)]
pub(super) struct Device {
    /// Time of the last event in microseconds; -1 before the first.
    pub(super) last_time: i64,
    /// Number and first event of a frame that has not ended.
    pub(super) open_frame: Option<(u64, Event)>,
    /// Bits of the keys that are pressed.
    keys: [u64; 12],
    /// Slot of the events that follow. The kernel leaves out the first ABS_MT_SLOT if it is 0.
    pub(super) slot: i32,
    /// Tracking ids by slot; negative if there is no contact.
    contacts: Vec<i32>,
    /// Whether contacts have no slots (protocol A); they are not followed.
    pub(super) is_unslotted: bool,
    /// Whether events were dropped, so that the state is not known.
    pub(super) is_uncertain: bool,
}

impl Default for Device {
    fn default() -> Self {
        Self {
            last_time: -1,
            open_frame: None,
            keys: [0; 12],
            slot: 0,
            contacts: Vec::new(),
            is_unslotted: false,
            is_uncertain: false,
        }
    }
}

impl Device {
    /// Returns the keys that are pressed, ascending.
    pub(super) fn pressed_keys(&self) -> impl Iterator<Item = u16> + '_ {
        (0..=KEY_MAX).filter(|key| {
            let word = self.keys.get(usize::from(key >> 6)).copied().unwrap_or(0);
            word >> (key & 63) & 1 == 1
        })
    }

    /// Returns the slots with a contact, each with its tracking id.
    pub(super) fn contacts(&self) -> impl Iterator<Item = (i32, i32)> + '_ {
        let slots = (0..).zip(self.contacts.iter().copied());
        slots.filter(|(_, id)| *id >= 0 && !self.is_unslotted)
    }

    /// Follows the time and the frame of an event; returns the time of the event before it.
    #[inline]
    pub(super) fn advance(&mut self, index: u64, event: &Event, time: i64) -> i64 {
        if event.is_report() {
            self.open_frame = None;
        } else if self.open_frame.is_none() {
            self.open_frame = Some((index, *event));
        }
        std::mem::replace(&mut self.last_time, time)
    }

    /// Presses or releases a key; returns whether it was pressed.
    pub(super) fn set_key(&mut self, key: u16, is_pressed: bool) -> bool {
        let Some(word) = self.keys.get_mut(usize::from(key >> 6)) else { return !is_pressed };
        let mask = 1_u64 << (key & 63);
        let was_pressed = *word & mask != 0;
        if is_pressed {
            *word |= mask;
        } else {
            *word &= !mask;
        }
        was_pressed
    }

    /// Returns whether another slot than the current one has the contact.
    pub(super) fn has_contact(&self, id: i32) -> bool {
        self.contacts().any(|(slot, other)| other == id && slot != self.slot)
    }

    /// Sets the contact of the current slot; returns whether there was one, or `None` if the slot
    /// is not below `slots`.
    pub(super) fn set_contact(&mut self, id: i32, slots: u64) -> Option<bool> {
        let slot = usize::try_from(self.slot).ok().filter(|slot| to_u64(*slot) < slots)?;
        while self.contacts.len() <= slot {
            self.contacts.push(-1);
        }
        let contact = self.contacts.get_mut(slot)?;
        let had_contact = *contact >= 0;
        *contact = id;
        Some(had_contact)
    }
}
