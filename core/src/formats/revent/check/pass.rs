//! One pass over the events: what every device holds, and what is wrong, counted.
//!
//! A fault that many events share is one finding with the first of them and their number. What the
//! pass holds is bounded by the devices, their keys and their slots, not by the events.

use crate::limits::FIXES;
use crate::formats::revent::limits::INPUT_SLOTS;
use std::ops::ControlFlow;

use crate::formats::revent::check::Recording;
use crate::formats::revent::decode::event::Event;
use crate::formats::revent::decode::extent::meant;
use crate::formats::revent::decode::head::{Gamepad, Time, bit};
use crate::formats::revent::layout::{EVENT_PAD, GAP, KEY_MAX, code, kind, names};
use crate::kit::num::to_u64;

/// A kind of fault that the pass counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats::revent) enum Fault {
    DeviceOutside,
    TimeImplausible,
    WordsWide,
    Nothing,
    CodeUnknown,
    KeyValue,
    EventPad,
    GamepadCode,
    GamepadRange,
    SlotOutside,
    TimeBack,
    BeforeStart,
    AfterEnd,
    Gap,
    Dropped,
    Unpressed,
}

/// How many kinds there are.
const FAULTS: usize = 16;

/// The first event with a fault, and how many have it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::formats::revent) struct Seen {
    pub(in crate::formats::revent) count: u64,
    pub(in crate::formats::revent) index: u64,
    pub(in crate::formats::revent) event: Event,
    /// What the message needs besides: a time before it, a bound.
    pub(in crate::formats::revent) detail: i64,
}

/// Numbers of events, as runs.
#[derive(Clone, Debug, Default)]
pub(in crate::formats::revent) struct Runs {
    /// First and one after the last of each.
    pub(in crate::formats::revent) runs: Vec<(u64, u64)>,
    /// Whether there are more runs than are held.
    pub(in crate::formats::revent) more: bool,
}

impl Runs {
    fn add(&mut self, index: u64, max: usize) {
        let full = self.runs.len() >= max;
        match self.runs.last_mut() {
            Some((_, end)) if *end == index => *end = index.saturating_add(1),
            _ if full => self.more = true,
            _ => self.runs.push((index, index.saturating_add(1))),
        }
    }
}

/// What one device holds.
#[derive(Clone, Debug)]
pub(in crate::formats::revent) struct Device {
    /// Time of its last event; -1 before the first.
    pub(in crate::formats::revent) last: i64,
    /// The first event of a frame that has not ended.
    pub(in crate::formats::revent) open: Option<(u64, Event)>,
    /// Bits of the keys that are down.
    keys: [u64; 12],
    /// The slot that events are about. The kernel leaves out the first ABS_MT_SLOT if it is 0.
    pub(in crate::formats::revent) slot: i32,
    /// Tracking ids by slot; -1 is none.
    contacts: Vec<i32>,
    /// Contacts have no slots (protocol A): none are followed.
    unslotted: bool,
    /// Events of it were dropped: what it holds is not known.
    unsure: bool,
}

impl Default for Device {
    fn default() -> Self {
        Self {
            last: -1,
            open: None,
            keys: [0; 12],
            slot: 0,
            contacts: Vec::new(),
            unslotted: false,
            unsure: false,
        }
    }
}

impl Device {
    /// The keys that are down, ascending.
    pub(in crate::formats::revent) fn keys(&self) -> impl Iterator<Item = u16> + '_ {
        (0..=KEY_MAX).filter(|key| {
            let word = self.keys.get(usize::from(key >> 6)).copied().unwrap_or(0);
            word >> (key & 63) & 1 == 1
        })
    }

    /// The slots with a contact, and its tracking id.
    pub(in crate::formats::revent) fn contacts(&self) -> impl Iterator<Item = (i32, i32)> + '_ {
        let slots = (0..).zip(self.contacts.iter().copied());
        slots.filter(|(_, id)| *id >= 0 && !self.unslotted)
    }

    /// Sets a key, and gives whether it was down.
    fn set_key(&mut self, key: u16, down: bool) -> bool {
        let Some(word) = self.keys.get_mut(usize::from(key >> 6)) else { return !down };
        let mask = 1_u64 << (key & 63);
        let was = *word & mask != 0;
        if down {
            *word |= mask;
        } else {
            *word &= !mask;
        }
        was
    }

    /// Sets the contact of the slot, and gives whether there was one; `None` outside the slots.
    fn set_contact(&mut self, id: i32, slots: u64) -> Option<bool> {
        let slot = usize::try_from(self.slot).ok().filter(|slot| to_u64(*slot) < slots)?;
        while self.contacts.len() <= slot {
            self.contacts.push(-1);
        }
        let contact = self.contacts.get_mut(slot)?;
        let was = *contact >= 0;
        *contact = id;
        Some(was)
    }
}

/// A gamepad with its bitmaps as they are meant: a repair puts them right, and what is left has to
/// be judged the same.
struct Meant<'m> {
    pad: &'m Gamepad,
    abs: &'m [u8; 96],
    key: &'m [u8; 96],
}

/// What a pass over the events knows.
pub(in crate::formats::revent) struct Pass<'p, 'r, 'a> {
    recording: &'p Recording<'r, 'a>,
    seen: [Seen; FAULTS],
    pub(in crate::formats::revent) devices: Vec<Device>,
    /// Frames that ended.
    pub(in crate::formats::revent) frames: u64,
    /// Earliest and latest time, in microseconds.
    pub(in crate::formats::revent) range: Option<(i64, i64)>,
    /// Time of the last event.
    pub(in crate::formats::revent) last: Option<i64>,
    /// Events that say nothing.
    pub(in crate::formats::revent) nothing: Runs,
    /// Events of devices that there are not.
    pub(in crate::formats::revent) outside: Runs,
    /// Events without a time.
    pub(in crate::formats::revent) timeless: Runs,
    bounds: (i64, i64),
}

impl<'p, 'r, 'a> Pass<'p, 'r, 'a> {
    /// Passes over the events that a sound reading has.
    pub(in crate::formats::revent) fn over(recording: &'p Recording<'r, 'a>) -> Self {
        let times = recording.head.times.filter(|_| recording.extent.times_fit);
        let bounds = times.map_or((i64::MIN, i64::MAX), |[start, end]| {
            (start.narrowed().micros(), end.narrowed().micros())
        });
        let mut pass = Self {
            recording,
            seen: [Seen::default(); FAULTS],
            devices: Vec::new(),
            frames: 0,
            range: None,
            last: None,
            nothing: Runs::default(),
            outside: Runs::default(),
            timeless: Runs::default(),
            bounds,
        };
        let count = recording.head.device_count();
        pass.devices.resize_with(usize::try_from(count).unwrap_or(0), Device::default);
        let padded = recording.head.generation.layout().padded;
        let wide = recording.extent.wide;
        let gamepad = recording.head.gamepad().and_then(|pad| {
            let (abs, key) = pad.meant_bits()?;
            Some(Meant { pad, abs, key })
        });
        recording.extent.judged().batches(recording.source, &mut |first, events| {
            for (index, event) in (first..).zip(events) {
                if padded && event.pad != EVENT_PAD {
                    pass.note(Fault::EventPad, index, event, 0);
                }
                let event = if wide { pass.narrowed(index, event) } else { *event };
                pass.event(index, &event, count, gamepad.as_ref());
            }
            ControlFlow::Continue(())
        });
        pass
    }

    /// The first event with a fault, and how many have it.
    pub(in crate::formats::revent) fn seen(&self, fault: Fault) -> Option<Seen> {
        self.seen.get(slot(fault)).copied().filter(|seen| seen.count > 0)
    }

    #[cold]
    fn note(&mut self, fault: Fault, index: u64, event: &Event, detail: i64) {
        if let Some(seen) = self.seen.get_mut(slot(fault)) {
            if seen.count == 0 {
                *seen = Seen { count: 0, index, event: *event, detail };
            }
            seen.count = seen.count.saturating_add(1);
        }
    }

    fn narrowed(&mut self, index: u64, event: &Event) -> Event {
        let meant = meant(*event, true);
        if meant != *event {
            self.note(Fault::WordsWide, index, event, 0);
        }
        meant
    }

    /// One event. What is not sane has no effect on what the devices hold: a repair drops it, and
    /// what is left has to be judged the same.
    #[inline]
    fn event(&mut self, index: u64, event: &Event, count: i32, gamepad: Option<&Meant<'_>>) {
        if !event.is_sane(count) {
            self.insane(index, event, count);
            return;
        }
        if event.is_nothing() {
            let max = self.recording.options.limits.count_of(&FIXES);
            self.nothing.add(index, max);
            self.note(Fault::Nothing, index, event, 0);
            return;
        }
        let time = event.micros();
        self.time(index, event, time);
        match event.kind {
            kind::SYN => self.mark(index, event),
            kind::KEY => self.key(index, event),
            kind::ABS => self.axis(index, event),
            _ => {}
        }
        if !names::is_known(event.kind, event.code) {
            self.note(Fault::CodeUnknown, index, event, 0);
        }
        if let Some(gamepad) = gamepad {
            self.gamepad(index, event, gamepad);
        }
    }

    #[cold]
    fn insane(&mut self, index: u64, event: &Event, count: i32) {
        let max = self.recording.options.limits.count_of(&FIXES);
        if event.device < 0 || event.device >= count {
            self.outside.add(index, max);
            self.note(Fault::DeviceOutside, index, event, i64::from(count));
        } else {
            self.timeless.add(index, max);
            self.note(Fault::TimeImplausible, index, event, 0);
        }
    }

    #[inline]
    fn time(&mut self, index: u64, event: &Event, time: i64) {
        if let Some(last) = self.last
            && time.saturating_sub(last) > GAP
        {
            self.note(Fault::Gap, index, event, last);
        }
        self.last = Some(time);
        let (first, last) = self.range.unwrap_or((time, time));
        self.range = Some((first.min(time), last.max(time)));
        let (start, end) = self.bounds;
        if time < start {
            self.note(Fault::BeforeStart, index, event, start);
        } else if time > end {
            self.note(Fault::AfterEnd, index, event, end);
        }
        let Some(device) = self.device(event) else { return };
        let before = std::mem::replace(&mut device.last, time);
        let ends = event.is_report();
        if !ends && device.open.is_none() {
            device.open = Some((index, *event));
        } else if ends {
            device.open = None;
        }
        self.frames = self.frames.saturating_add(u64::from(ends));
        if time < before {
            self.note(Fault::TimeBack, index, event, before);
        }
    }

    #[inline]
    fn device(&mut self, event: &Event) -> Option<&mut Device> {
        usize::try_from(event.device).ok().and_then(|index| self.devices.get_mut(index))
    }

    fn mark(&mut self, index: u64, event: &Event) {
        match event.code {
            code::SYN_DROPPED => {
                if let Some(device) = self.device(event) {
                    device.unsure = true;
                }
                self.note(Fault::Dropped, index, event, 0);
            }
            code::SYN_MT_REPORT => {
                if let Some(device) = self.device(event) {
                    device.unslotted = true;
                }
            }
            _ => {}
        }
    }

    fn key(&mut self, index: u64, event: &Event) {
        if !(0..=2).contains(&event.value) {
            self.note(Fault::KeyValue, index, event, 0);
        }
        let Some(device) = self.device(event).filter(|_| event.code <= KEY_MAX) else { return };
        let down = event.value != 0;
        let was = device.set_key(event.code, down);
        // A recording is begun and ended by the return key, on a keyboard that is recorded.
        let known = device.unsure || event.code == code::KEY_ENTER;
        if !down && !was && !known {
            self.note(Fault::Unpressed, index, event, 0);
        }
    }

    fn axis(&mut self, index: u64, event: &Event) {
        let slots = self.recording.options.limits.of(&INPUT_SLOTS);
        let Some(device) = self.device(event) else { return };
        match event.code {
            code::ABS_MT_SLOT => {
                device.slot = event.value;
                if u64::try_from(event.value).map_or(true, |slot| slot >= slots) {
                    self.note(Fault::SlotOutside, index, event, 0);
                }
            }
            code::ABS_MT_TRACKING_ID => {
                let known = device.unsure || device.unslotted;
                let was = device.set_contact(event.value, slots);
                if event.value < 0 && was == Some(false) && !known {
                    self.note(Fault::Unpressed, index, event, 0);
                }
            }
            _ => {}
        }
    }

    fn gamepad(&mut self, index: u64, event: &Event, gamepad: &Meant<'_>) {
        let bits = match event.kind {
            kind::KEY => gamepad.key,
            kind::ABS => gamepad.abs,
            kind::REL => &gamepad.pad.rel,
            _ => return,
        };
        if !bit(bits, event.code) {
            self.note(Fault::GamepadCode, index, event, 0);
            return;
        }
        let axis = gamepad.pad.axis(event.code).filter(|_| event.kind == kind::ABS);
        if axis.is_some_and(|axis| event.value < axis.min || event.value > axis.max) {
            self.note(Fault::GamepadRange, index, event, 0);
        }
    }

    /// The times that the recording would have by its events.
    pub(in crate::formats::revent) fn times(&self) -> Option<[Time; 2]> {
        self.range.map(|(first, last)| [Time::from_micros(first), Time::from_micros(last)])
    }
}

/// Where a kind of fault is counted.
const fn slot(fault: Fault) -> usize {
    match fault {
        Fault::DeviceOutside => 0,
        Fault::TimeImplausible => 1,
        Fault::WordsWide => 2,
        Fault::Nothing => 3,
        Fault::CodeUnknown => 4,
        Fault::KeyValue => 5,
        Fault::EventPad => 6,
        Fault::GamepadCode => 7,
        Fault::GamepadRange => 8,
        Fault::SlotOutside => 9,
        Fault::TimeBack => 10,
        Fault::BeforeStart => 11,
        Fault::AfterEnd => 12,
        Fault::Gap => 13,
        Fault::Dropped => 14,
        Fault::Unpressed => 15,
    }
}
