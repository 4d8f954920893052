//! One event, in any layout, and a pass over many.

use std::ops::ControlFlow;

use crate::formats::revent::layout::{Generation, MICROS, SECONDS_END, code, kind, names};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;

/// Events that are decoded before any is looked at: 20 KiB, which stay in the first cache.
const BATCH: usize = 512;

/// An event as it is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Seconds.
    pub sec: i64,
    /// Microseconds.
    pub usec: i64,
    /// Index of the device.
    pub device: i32,
    /// What the code is set to.
    pub value: i32,
    /// The padding behind the device, where there is one.
    pub pad: u32,
    /// Type: what the code counts.
    pub kind: u16,
    /// Which key, axis or mark.
    pub code: u16,
}

impl Event {
    /// Whether the device and the time can be what a recorder wrote.
    #[inline]
    pub fn is_sane(&self, devices: i32) -> bool {
        self.device >= 0 && self.device < devices && self.has_time()
    }

    /// Whether the time can be what a recorder wrote.
    #[inline]
    pub const fn has_time(&self) -> bool {
        self.sec >= 0 && self.sec < SECONDS_END && self.usec >= 0 && self.usec < MICROS
    }

    /// Microseconds; only of a sane event.
    #[inline]
    pub const fn micros(&self) -> i64 {
        self.sec.saturating_mul(MICROS).saturating_add(self.usec)
    }

    /// Whether it ends a frame.
    #[inline]
    pub const fn is_report(&self) -> bool {
        self.kind == kind::SYN && self.code == code::SYN_REPORT
    }

    /// What reading a device that is gone leaves: no time, no type, no code, no value.
    #[inline]
    pub const fn is_nothing(&self) -> bool {
        self.sec == 0 && self.usec == 0 && self.kind == 0 && self.code == 0 && self.value == 0
    }

    /// Whether type and code lie in the high words of the times, as a 32-bit recorder of 2016 stored
    /// them: it wrote eight bytes where four are the number.
    #[inline]
    pub fn is_wide(&self) -> bool {
        let behind = i64::from(self.kind) | i64::from(self.code) << 16;
        self.sec >> 32 == self.usec & 0xffff_ffff && (self.usec >> 32) & 0xffff_ffff == behind
    }

    /// The event without what lies in the high words of its times.
    #[inline]
    #[must_use]
    pub const fn narrowed(self) -> Self {
        Self { sec: self.sec & 0xffff_ffff, usec: self.usec & 0xffff_ffff, ..self }
    }

    /// The event as bytes of a layout.
    pub fn encode(&self, generation: Generation) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(32);
        match generation {
            Generation::V2 | Generation::V3 => {
                bytes.extend(u16::try_from(self.device).unwrap_or(u16::MAX).to_le_bytes());
            }
            _ => bytes.extend(self.device.to_le_bytes()),
        }
        if generation.layout().padded {
            bytes.extend(self.pad.to_le_bytes());
        }
        match generation {
            Generation::P20 | Generation::P24 => {
                bytes.extend(i32::try_from(self.sec).unwrap_or(i32::MAX).to_le_bytes());
                bytes.extend(i32::try_from(self.usec).unwrap_or(i32::MAX).to_le_bytes());
            }
            _ => {
                bytes.extend(self.sec.to_le_bytes());
                bytes.extend(self.usec.to_le_bytes());
            }
        }
        bytes.extend(self.kind.to_le_bytes());
        bytes.extend(self.code.to_le_bytes());
        bytes.extend(self.value.to_le_bytes());
        bytes
    }

    /// As people name it: `EV_ABS ABS_MT_TRACKING_ID 1334`.
    pub fn named(&self) -> String {
        format!("{} {} {}", kind_name(self.kind), code_name(self.kind, self.code), self.value)
    }
}

/// The name of a type, or its number.
pub fn kind_name(number: u16) -> String {
    names::kind(number).map_or_else(|| format!("type {number:#x}"), str::to_string)
}

/// The name of a code, or its number.
pub fn code_name(kind: u16, number: u16) -> String {
    names::code(kind, number).map_or_else(|| format!("code {number:#x}"), str::to_string)
}

fn p20(bytes: &[u8; 20]) -> Event {
    let [d0, d1, d2, d3, s0, s1, s2, s3, u0, u1, u2, u3, t0, t1, c0, c1, v0, v1, v2, v3] = *bytes;
    Event {
        sec: i64::from(i32::from_le_bytes([s0, s1, s2, s3])),
        usec: i64::from(i32::from_le_bytes([u0, u1, u2, u3])),
        device: i32::from_le_bytes([d0, d1, d2, d3]),
        value: i32::from_le_bytes([v0, v1, v2, v3]),
        pad: 0,
        kind: u16::from_le_bytes([t0, t1]),
        code: u16::from_le_bytes([c0, c1]),
    }
}

fn p24(bytes: &[u8; 24]) -> Event {
    let [
        d0,
        d1,
        d2,
        d3,
        p0,
        p1,
        p2,
        p3,
        s0,
        s1,
        s2,
        s3,
        u0,
        u1,
        u2,
        u3,
        t0,
        t1,
        c0,
        c1,
        v0,
        v1,
        v2,
        v3,
    ] = *bytes;
    Event {
        sec: i64::from(i32::from_le_bytes([s0, s1, s2, s3])),
        usec: i64::from(i32::from_le_bytes([u0, u1, u2, u3])),
        device: i32::from_le_bytes([d0, d1, d2, d3]),
        value: i32::from_le_bytes([v0, v1, v2, v3]),
        pad: u32::from_le_bytes([p0, p1, p2, p3]),
        kind: u16::from_le_bytes([t0, t1]),
        code: u16::from_le_bytes([c0, c1]),
    }
}

fn p28(bytes: &[u8; 28]) -> Event {
    let [
        d0,
        d1,
        d2,
        d3,
        s0,
        s1,
        s2,
        s3,
        s4,
        s5,
        s6,
        s7,
        u0,
        u1,
        u2,
        u3,
        u4,
        u5,
        u6,
        u7,
        t0,
        t1,
        c0,
        c1,
        v0,
        v1,
        v2,
        v3,
    ] = *bytes;
    Event {
        sec: i64::from_le_bytes([s0, s1, s2, s3, s4, s5, s6, s7]),
        usec: i64::from_le_bytes([u0, u1, u2, u3, u4, u5, u6, u7]),
        device: i32::from_le_bytes([d0, d1, d2, d3]),
        value: i32::from_le_bytes([v0, v1, v2, v3]),
        pad: 0,
        kind: u16::from_le_bytes([t0, t1]),
        code: u16::from_le_bytes([c0, c1]),
    }
}

fn p32(bytes: &[u8; 32]) -> Event {
    let [
        d0,
        d1,
        d2,
        d3,
        p0,
        p1,
        p2,
        p3,
        s0,
        s1,
        s2,
        s3,
        s4,
        s5,
        s6,
        s7,
        u0,
        u1,
        u2,
        u3,
        u4,
        u5,
        u6,
        u7,
        t0,
        t1,
        c0,
        c1,
        v0,
        v1,
        v2,
        v3,
    ] = *bytes;
    Event {
        sec: i64::from_le_bytes([s0, s1, s2, s3, s4, s5, s6, s7]),
        usec: i64::from_le_bytes([u0, u1, u2, u3, u4, u5, u6, u7]),
        device: i32::from_le_bytes([d0, d1, d2, d3]),
        value: i32::from_le_bytes([v0, v1, v2, v3]),
        pad: u32::from_le_bytes([p0, p1, p2, p3]),
        kind: u16::from_le_bytes([t0, t1]),
        code: u16::from_le_bytes([c0, c1]),
    }
}

#[inline]
fn v2(bytes: &[u8; 26]) -> Event {
    let [
        d0,
        d1,
        s0,
        s1,
        s2,
        s3,
        s4,
        s5,
        s6,
        s7,
        u0,
        u1,
        u2,
        u3,
        u4,
        u5,
        u6,
        u7,
        t0,
        t1,
        c0,
        c1,
        v0,
        v1,
        v2,
        v3,
    ] = *bytes;
    Event {
        sec: i64::from_le_bytes([s0, s1, s2, s3, s4, s5, s6, s7]),
        usec: i64::from_le_bytes([u0, u1, u2, u3, u4, u5, u6, u7]),
        device: i32::from(u16::from_le_bytes([d0, d1])),
        value: i32::from_le_bytes([v0, v1, v2, v3]),
        pad: 0,
        kind: u16::from_le_bytes([t0, t1]),
        code: u16::from_le_bytes([c0, c1]),
    }
}

/// A stretch of events of one layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// How they lie.
    pub generation: Generation,
    /// Offset of the first byte.
    pub start: u64,
    /// How many.
    pub count: u64,
}

impl Stretch {
    /// Offset of event number `index`.
    pub fn offset(&self, index: u64) -> u64 {
        self.start.saturating_add(index.saturating_mul(self.generation.layout().event))
    }

    /// Offset after the last event.
    pub fn end(&self) -> u64 {
        self.offset(self.count)
    }

    /// The events from number `from` on, at most `count` of them.
    #[must_use]
    pub fn part(&self, from: u64, count: u64) -> Self {
        let from = from.min(self.count);
        let count = count.min(self.count.saturating_sub(from));
        Self { start: self.offset(from), count, ..*self }
    }

    /// Event number `index`, if there is one.
    pub fn event(&self, source: &Source<'_>, index: u64) -> Option<Event> {
        let mut found = None;
        self.part(index, 1).batches(source, &mut |_, events| {
            found = events.first().copied();
            ControlFlow::Break(())
        });
        found
    }

    /// Gives the events in batches, each with the number of its first one, until `each` breaks or
    /// the source ends.
    pub fn batches(
        &self,
        source: &Source<'_>,
        each: &mut dyn FnMut(u64, &[Event]) -> ControlFlow<()>,
    ) {
        match self.generation {
            Generation::P20 => self.decode(source, p20, each),
            Generation::P24 => self.decode(source, p24, each),
            Generation::P28 => self.decode(source, p28, each),
            Generation::P32 | Generation::V1 => self.decode(source, p32, each),
            Generation::V2 | Generation::V3 => self.decode(source, v2, each),
        }
    }

    fn decode<const N: usize>(
        &self,
        source: &Source<'_>,
        decode: impl Fn(&[u8; N]) -> Event,
        each: &mut dyn FnMut(u64, &[Event]) -> ControlFlow<()>,
    ) {
        let mut batch = [Event::default(); BATCH];
        let mut done = 0_u64;
        let end = self.end().min(source.len());
        while done < self.count {
            let at = self.offset(done);
            let wanted = to_usize(end.saturating_sub(at)).min(BATCH.saturating_mul(N));
            let run = source.run(at);
            let run = run.get(..wanted).unwrap_or(run);
            let (mut whole, _) = run.as_chunks::<N>();
            // An event that lies in two pieces is put together.
            let copy;
            if whole.is_empty() {
                copy = source.read(at, at.saturating_add(to_u64(N)).min(end));
                whole = copy.as_chunks::<N>().0;
            }
            if whole.is_empty() {
                return;
            }
            for (slot, bytes) in batch.iter_mut().zip(whole) {
                *slot = decode(bytes);
            }
            let events = batch.get(..whole.len().min(BATCH)).unwrap_or_default();
            if each(done, events).is_break() {
                return;
            }
            done = done.saturating_add(to_u64(events.len()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> Event {
        Event { sec: 7, usec: 999_999, device: 3, value: -2, pad: 9, kind: 3, code: 0x39 }
    }

    #[test]
    fn every_layout_reads_what_it_wrote() {
        for layout in &super::super::super::layout::LAYOUTS {
            let pad = if layout.padded { 9 } else { 0 };
            let event = Event { pad, ..event() };
            let bytes = event.encode(layout.generation);
            assert_eq!(to_u64(bytes.len()), layout.event);
            let stretch = Stretch { generation: layout.generation, start: 0, count: 1 };
            assert_eq!(stretch.event(&Source::new(&bytes), 0), Some(event), "{}", layout.name);
            assert_eq!(stretch.event(&Source::new(&bytes), 1), None);
            let halves = Source::from_pieces(bytes.chunks(5));
            assert_eq!(stretch.event(&halves, 0), Some(event), "{}", layout.name);
        }
    }

    #[test]
    fn a_wide_event_tells_itself_and_is_narrowed_to_what_was_meant() {
        let meant = event();
        let wide = Event {
            sec: meant.sec | meant.usec << 32,
            usec: meant.usec | (i64::from(meant.kind) | i64::from(meant.code) << 16) << 32,
            ..meant
        };
        assert!(wide.is_wide() && !wide.is_sane(9) && !meant.is_wide());
        assert_eq!(wide.narrowed(), meant);
    }

    #[test]
    fn messages_name_events_as_the_header_does() {
        let event = Event { value: 1334, ..event() };
        assert_eq!(event.named(), "EV_ABS ABS_MT_TRACKING_ID 1334");
        let odd = Event { kind: 0x1e, code: 0x70, value: 0, ..event };
        assert_eq!(odd.named(), "type 0x1e code 0x70 0");
    }
}
