//! One pass over the events: the state of every device, and the faults of the events.

use crate::formats::revent::check::Context;
use crate::formats::revent::check::device::Device;
use crate::formats::revent::check::fault_log::{Fault, FaultLog};
use crate::formats::revent::decode::event::Event;
use crate::formats::revent::decode::gamepad::{CodeBits, Gamepad, is_bit_set};
use crate::formats::revent::decode::time::Time;
use crate::formats::revent::decode::walk::{Damage, Record};
use crate::formats::revent::layout::{
    EVENT_PAD, GAP, KEY_MAX, MICROS, SLOTS_USUAL, code, kind, names,
};
use crate::formats::revent::limits::INPUT_SLOTS;
use crate::formats::revent::recover::recording::Recording;
use crate::kit::walk::Item;
use crate::model::limits::FIXES;

/// A gamepad with its bitmaps in the right order: a repair swaps them, and what is left has to be
/// judged the same.
struct GamepadBits<'g> {
    gamepad: &'g Gamepad,
    abs: &'g CodeBits,
    key: &'g CodeBits,
}

/// The result of a pass over the events.
pub(super) struct Scan<'g> {
    /// The faults of the events.
    pub(super) log: FaultLog,
    /// The state of every device at the end.
    pub(super) devices: Vec<Device>,
    /// Number of complete frames.
    pub(super) frames: u64,
    /// Earliest and latest time in microseconds.
    pub(super) range: Option<(i64, i64)>,
    /// Time of the last event in microseconds.
    pub(super) last_time: Option<i64>,
    /// Start and end of the recording in microseconds.
    bounds: (i64, i64),
    /// Slots that are followed on one device.
    slots: u64,
    gamepad: Option<GamepadBits<'g>>,
}

impl<'g> Scan<'g> {
    /// Follows the events up to the last complete frame.
    ///
    /// Damage does not change the state of a device: a repair drops it, and the rest has to be
    /// judged the same.
    pub(super) fn run(context: &Context<'g, '_>) -> Self {
        let recording = context.recording;
        let mut scan = Self::new(context);
        let devices = recording.head.device_count();
        let is_padded = recording.head.generation.layout().padded;
        recording.walk().for_each(|item| {
            let (Item::Record(record) | Item::Damage(Damage { record, .. })) = &item;
            if is_padded && record.event.pad != EVENT_PAD {
                scan.log.note(Fault::EventPad, record, 0);
            }
            if record.widened {
                scan.log.note(Fault::WidenedTimes, record, 0);
            }
            match &item {
                Item::Record(record) => scan.follow(record),
                Item::Damage(damage) => scan.log.note_damage(damage, devices),
            }
        });
        scan
    }

    fn new(context: &Context<'g, '_>) -> Self {
        let Context { recording, options } = context;
        let head = &recording.head;
        let mut devices = Vec::new();
        devices.resize_with(usize::try_from(head.device_count()).unwrap_or(0), Device::default);
        Self {
            log: FaultLog::new(options.limits.count_of(&FIXES)),
            devices,
            frames: 0,
            range: None,
            last_time: None,
            bounds: time_bounds(recording),
            slots: options.limits.of(&INPUT_SLOTS),
            gamepad: head.gamepad().map(|gamepad| {
                let (abs, key) = gamepad.axis_and_key_bits();
                GamepadBits { gamepad, abs, key }
            }),
        }
    }

    #[inline]
    fn follow(&mut self, record: &Record) {
        let event = &record.event;
        self.follow_time(record);
        match event.kind {
            kind::SYN => self.follow_mark(record),
            kind::KEY => self.follow_key(record),
            kind::ABS => self.follow_axis(record),
            _ => {}
        }
        if !names::is_known(event.kind, event.code) {
            self.log.note(Fault::UnknownCode, record, 0);
        }
        if let Some(gamepad) = &self.gamepad {
            check_gamepad(&mut self.log, gamepad, record);
        }
    }

    #[inline]
    fn device(&mut self, event: &Event) -> Option<&mut Device> {
        usize::try_from(event.device).ok().and_then(|index| self.devices.get_mut(index))
    }

    #[inline]
    fn follow_time(&mut self, record: &Record) {
        let time = record.event.micros();
        if let Some(last) = self.last_time
            && time.saturating_sub(last) > GAP
        {
            self.log.note(Fault::Gap, record, last);
        }
        self.last_time = Some(time);
        // The clock counts from the boot, or from 1970: zeros took the seconds.
        if time >= MICROS {
            let (first, last) = self.range.unwrap_or((time, time));
            self.range = Some((first.min(time), last.max(time)));
        }
        let (start, end) = self.bounds;
        if time < start {
            self.log.note(Fault::BeforeStart, record, start);
        } else if time > end {
            self.log.note(Fault::AfterEnd, record, end);
        }
        let Some(device) = self.device(&record.event) else { return };
        let before = device.advance(record.index, &record.event, time);
        self.frames = self.frames.saturating_add(u64::from(record.event.is_report()));
        if time < before {
            self.log.note(Fault::TimeBack, record, before);
        }
    }

    fn follow_mark(&mut self, record: &Record) {
        let Some(device) = self.device(&record.event) else { return };
        match record.event.code {
            code::SYN_DROPPED => {
                device.is_uncertain = true;
                self.log.note(Fault::Dropped, record, 0);
            }
            code::SYN_MT_REPORT => device.is_unslotted = true,
            _ => {}
        }
    }

    fn follow_key(&mut self, record: &Record) {
        let event = &record.event;
        if !(0..=2).contains(&event.value) {
            self.log.note(Fault::KeyValue, record, 0);
        }
        let Some(device) = self.device(event).filter(|_| event.code <= KEY_MAX) else { return };
        let is_pressed = event.value != 0;
        let was_pressed = device.set_key(event.code, is_pressed);
        // The return key starts and ends a recording, on a keyboard that may be recorded itself.
        let is_expected = device.is_uncertain || event.code == code::KEY_ENTER;
        if !is_pressed && !was_pressed && !is_expected {
            self.log.note(Fault::NotPressed, record, 0);
        }
    }

    fn follow_axis(&mut self, record: &Record) {
        let (event, slots) = (&record.event, self.slots);
        let Some(device) = self.device(event) else { return };
        match event.code {
            code::ABS_MT_SLOT => {
                device.slot = event.value;
                if u64::try_from(event.value).map_or(true, |slot| slot >= slots.min(SLOTS_USUAL)) {
                    self.log.note(Fault::SlotOutOfRange, record, 0);
                }
            }
            code::ABS_MT_TRACKING_ID => {
                let is_expected = device.is_uncertain || device.is_unslotted;
                let is_twice = event.value >= 0 && !is_expected && device.has_contact(event.value);
                let had_contact = device.set_contact(event.value, slots);
                if event.value < 0 && had_contact == Some(false) && !is_expected {
                    self.log.note(Fault::NotPressed, record, 0);
                }
                if is_twice {
                    self.log.note(Fault::ContactTwice, record, 0);
                }
            }
            _ => {}
        }
    }

    /// Returns the start and end that the recording would have by its events.
    pub(super) fn times(&self) -> Option<[Time; 2]> {
        self.range.map(|(first, last)| [Time::from_micros(first), Time::from_micros(last)])
    }
}

/// Returns start and end of the recording, or no bounds if they do not fit the events.
fn time_bounds(recording: &Recording<'_>) -> (i64, i64) {
    let times = recording.head.times.filter(|_| recording.extent.times_fit);
    times.map_or((i64::MIN, i64::MAX), |[start, end]| {
        (start.narrowed().micros(), end.narrowed().micros())
    })
}

/// Compares an event with the description of the gamepad.
fn check_gamepad(log: &mut FaultLog, bits: &GamepadBits<'_>, record: &Record) {
    let event = &record.event;
    let allowed = match event.kind {
        kind::KEY => bits.key,
        kind::ABS => bits.abs,
        kind::REL => &bits.gamepad.rel,
        _ => return,
    };
    if !is_bit_set(allowed, event.code) {
        log.note(Fault::GamepadCode, record, 0);
        return;
    }
    let axis = bits.gamepad.axis(event.code).filter(|_| event.kind == kind::ABS);
    if axis.is_some_and(|axis| event.value < axis.min || event.value > axis.max) {
        log.note(Fault::GamepadRange, record, 0);
    }
}
