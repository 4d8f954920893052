//! One event, in any layout.

use crate::formats::revent::layout::{Generation, MICROS, SECONDS_END, code, kind, names};
use crate::kit::cursor::{Cursor, ReadError};

/// An event as it is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Seconds.
    pub sec: i64,
    /// Microseconds.
    pub usec: i64,
    /// Index of the device.
    pub device: i32,
    /// New value of the key or axis.
    pub value: i32,
    /// Padding after the device, in layouts that have one.
    pub pad: u32,
    /// Type: the group that the code belongs to.
    pub kind: u16,
    /// Key, axis or mark.
    pub code: u16,
}

/// Reads the next event in the layout of `generation`. It is 20 to 32 bytes long.
///
/// # Errors
///
/// The first field that lies past the end of the window.
// Callers pass a constant layout, and a pass over a recording spends half of its time here:
// inlined, every width is a constant and every bounds check is gone.
#[inline(always)]
pub fn parse_event(cursor: &mut Cursor<'_>, generation: Generation) -> Result<Event, ReadError> {
    let layout = generation.layout();
    let device = match layout.device_id {
        2 => i32::from(cursor.u16("dev_id")?),
        _ => cursor.u32("dev_id")?.cast_signed(),
    };
    let pad = if layout.padded { cursor.u32("padding")? } else { 0 };
    let (sec, usec) = if layout.time == 8 {
        (
            cursor.u32("time.sec")?.cast_signed().into(),
            cursor.u32("time.usec")?.cast_signed().into(),
        )
    } else {
        (cursor.u64("time.sec")?.cast_signed(), cursor.u64("time.usec")?.cast_signed())
    };
    let kind = cursor.u16("type")?;
    let code = cursor.u16("code")?;
    let value = cursor.u32("value")?.cast_signed();
    Ok(Event { sec, usec, device, value, pad, kind, code })
}

impl Event {
    /// Returns whether a recorder with `devices` devices can have written the device and the time.
    #[inline]
    pub fn is_sane(&self, devices: i32) -> bool {
        self.has_device(devices) && self.has_time()
    }

    /// Returns whether the device is one of `devices`.
    #[inline]
    pub const fn has_device(&self, devices: i32) -> bool {
        self.device >= 0 && self.device < devices
    }

    /// Returns whether a recorder can have written the time.
    #[inline]
    pub const fn has_time(&self) -> bool {
        self.sec >= 0 && self.sec < SECONDS_END && self.usec >= 0 && self.usec < MICROS
    }

    /// Returns the time in microseconds. It is meaningful only if [`Self::has_time`].
    #[inline]
    pub const fn micros(&self) -> i64 {
        self.sec.saturating_mul(MICROS).saturating_add(self.usec)
    }

    /// Returns whether the event ends a frame.
    #[inline]
    pub const fn is_report(&self) -> bool {
        self.kind == kind::SYN && self.code == code::SYN_REPORT
    }

    /// Returns whether time, type, code and value are zero: the recorder read from a lost device.
    #[inline]
    pub const fn is_zero(&self) -> bool {
        self.sec == 0 && self.usec == 0 && self.kind == 0 && self.code == 0 && self.value == 0
    }

    /// Returns whether the high halves of the times repeat the fields that follow them.
    ///
    /// 32-bit recorders of 2016 wrote eight bytes from the address of each four-byte number, so
    /// that the microseconds follow the seconds, and type and code follow the microseconds.
    #[inline]
    pub fn is_widened(&self) -> bool {
        let type_and_code = i64::from(self.kind) | i64::from(self.code) << 16;
        self.sec >> 32 == self.usec & 0xffff_ffff
            && (self.usec >> 32) & 0xffff_ffff == type_and_code
    }

    /// Returns the event without the high halves of its times.
    #[inline]
    #[must_use]
    pub const fn narrowed(self) -> Self {
        Self { sec: self.sec & 0xffff_ffff, usec: self.usec & 0xffff_ffff, ..self }
    }

    /// Returns the event with the following fields in the high halves of its times: the opposite of
    /// [`Self::narrowed`].
    #[must_use]
    pub fn widened(self) -> Self {
        let type_and_code = i64::from(self.kind) | i64::from(self.code) << 16;
        Self { sec: self.sec | self.usec << 32, usec: self.usec | type_and_code << 32, ..self }
    }

    /// Returns the bytes of the event in the layout of `generation`.
    pub fn encode(&self, generation: Generation) -> Vec<u8> {
        let layout = generation.layout();
        let mut bytes = Vec::with_capacity(32);
        match layout.device_id {
            2 => bytes.extend(u16::try_from(self.device).unwrap_or(u16::MAX).to_le_bytes()),
            _ => bytes.extend(self.device.to_le_bytes()),
        }
        if layout.padded {
            bytes.extend(self.pad.to_le_bytes());
        }
        for word in [self.sec, self.usec] {
            if layout.time == 8 {
                bytes.extend(i32::try_from(word).unwrap_or(i32::MAX).to_le_bytes());
            } else {
                bytes.extend(word.to_le_bytes());
            }
        }
        bytes.extend(self.kind.to_le_bytes());
        bytes.extend(self.code.to_le_bytes());
        bytes.extend(self.value.to_le_bytes());
        bytes
    }

    /// Returns type, code and value with their names: `EV_ABS ABS_MT_TRACKING_ID 1334`.
    pub fn describe(&self) -> String {
        format!("{} {} {}", name_type(self.kind), name_code(self.kind, self.code), self.value)
    }
}

/// Returns the event that the recorder meant, if its times are known to be widened.
#[inline]
pub fn narrow_if(event: Event, widened: bool) -> Event {
    if widened && event.is_widened() { event.narrowed() } else { event }
}

/// Returns the name of a type, or its number.
pub fn name_type(number: u16) -> String {
    names::type_name(number).map_or_else(|| format!("type {number:#x}"), str::to_string)
}

/// Returns the name of a code, or its number.
pub fn name_code(kind: u16, number: u16) -> String {
    names::code_name(kind, number).map_or_else(|| format!("code {number:#x}"), str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::revent::layout::LAYOUTS;
    use crate::kit::cursor::Order;
    use crate::kit::num::to_u64;
    use crate::kit::span::Layer;

    fn event() -> Event {
        Event { sec: 7, usec: 999_999, device: 3, value: -2, pad: 9, kind: 3, code: 0x39 }
    }

    #[test]
    fn every_layout_reads_the_event_that_it_wrote() {
        for layout in &LAYOUTS {
            let pad = if layout.padded { 9 } else { 0 };
            let event = Event { pad, ..event() };
            let bytes = event.encode(layout.generation);
            assert_eq!(to_u64(bytes.len()), layout.event, "{}", layout.name);
            let mut cursor = Cursor::new(&bytes, Layer::stored(0), 0, Order::Little);
            assert_eq!(parse_event(&mut cursor, layout.generation), Ok(event), "{}", layout.name);
            assert!(cursor.is_empty(), "{}", layout.name);
        }
    }

    #[test]
    fn a_widened_event_is_recognised_and_narrowed() {
        let meant = event();
        let wide = meant.widened();
        assert_eq!((wide.sec >> 32, wide.usec >> 32), (999_999, 0x39_0003));
        assert!(wide.is_widened() && !wide.is_sane(9) && !meant.is_widened());
        assert_eq!(wide.narrowed(), meant);
    }

    #[test]
    fn events_have_the_names_of_the_kernel_header() {
        let event = Event { value: 1334, ..event() };
        assert_eq!(event.describe(), "EV_ABS ABS_MT_TRACKING_ID 1334");
        let unknown = Event { kind: 0x1e, code: 0x70, value: 0, ..event };
        assert_eq!(unknown.describe(), "type 0x1e code 0x70 0");
    }
}
