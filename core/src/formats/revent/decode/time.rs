//! Start and end of a recording, as version 3 stores them.

use std::fmt;

use crate::formats::revent::layout::{MICROS, SECONDS_END};
use crate::kit::cursor::{Cursor, ReadError};

/// A point in time: `u64` seconds and `u64` microseconds, 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// Seconds.
    pub sec: u64,
    /// Microseconds.
    pub usec: u64,
}

/// Reads start and end of the recording.
///
/// # Errors
///
/// The first field that lies past the end of the window.
pub fn parse_times(cursor: &mut Cursor<'_>) -> Result<[Time; 2], ReadError> {
    let start = Time { sec: cursor.u64("start_sec")?, usec: cursor.u64("start_usec")? };
    let end = Time { sec: cursor.u64("end_sec")?, usec: cursor.u64("end_usec")? };
    Ok([start, end])
}

impl Time {
    /// Returns whether a recorder can have written the time.
    pub const fn is_sane(self) -> bool {
        self.sec < SECONDS_END.unsigned_abs() && self.usec < MICROS.unsigned_abs()
    }

    /// Returns whether the recorder did not write the time: its clock counts from the boot, and it
    /// runs later.
    pub const fn is_zero(self) -> bool {
        self.sec == 0 && self.usec == 0
    }

    /// Returns the microseconds from this time to a later one.
    pub fn micros_until(self, later: Self) -> Option<i64> {
        later.micros().checked_sub(self.micros()).filter(|micros| *micros >= 0)
    }

    /// Returns whether the high half of the seconds holds the nanoseconds.
    ///
    /// 32-bit recorders of 2017 and 2018 wrote eight bytes from the address of the four-byte
    /// seconds. The microseconds confirm it: they are a thousandth of the nanoseconds. Microseconds
    /// that are 0 confirm nothing.
    pub const fn is_widened(self) -> bool {
        let nanos = self.sec >> 32;
        self.usec != 0 && nanos / 1_000 == self.usec && self.usec < MICROS.unsigned_abs()
    }

    /// Returns the time without nanoseconds in the high half of its seconds.
    #[must_use]
    pub const fn narrowed(self) -> Self {
        if self.is_widened() { Self { sec: self.sec & 0xffff_ffff, ..self } } else { self }
    }

    /// Returns the time in microseconds, saturating.
    pub fn micros(self) -> i64 {
        let micros = self.sec.saturating_mul(MICROS.unsigned_abs()).saturating_add(self.usec);
        i64::try_from(micros).unwrap_or(i64::MAX)
    }

    /// Returns the time that is `micros` microseconds, without the sign.
    pub fn from_micros(micros: i64) -> Self {
        let micros = micros.unsigned_abs();
        let second = MICROS.unsigned_abs();
        Self {
            sec: micros.checked_div(second).unwrap_or_default(),
            usec: micros.checked_rem(second).unwrap_or_default(),
        }
    }

    /// Returns the 16 bytes of the time.
    pub fn encode(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let (sec, usec) = (self.sec.to_le_bytes(), self.usec.to_le_bytes());
        for (slot, byte) in bytes.iter_mut().zip(sec.into_iter().chain(usec)) {
            *slot = byte;
        }
        bytes
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06} s", self.sec, self.usec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_that_are_0_do_not_confirm_nanoseconds() {
        let widened =
            |nanos: u64, usec| Time { sec: nanos << 32 | 1_500_000_000, usec }.is_widened();
        assert!(widened(2_000, 2) && widened(999_999_999, 999_999));
        assert!(!widened(2_000, 3) && !widened(2, 0) && !widened(0, 0));
    }
}
