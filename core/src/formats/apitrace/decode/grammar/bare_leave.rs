//! The leave of the next call, without a value, as its bytes.
//!
//! Calls are numbered as they are entered, so the bytes of the next leave are known before they are
//! read: one comparison takes the place of an integer that is decoded.

use crate::formats::apitrace::layout::{detail, event};
use crate::kit::num::to_usize;

/// Numbers from this on take more bytes than are compared.
const CALLS_END: u64 = 1 << 42;

/// The bytes of a leave without a value, the first one lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BareLeave {
    /// The number of its call.
    call: u64,
    word: u64,
    /// The bits of the bytes that the leave has; none if its number is too high.
    mask: u64,
    len: usize,
}

impl BareLeave {
    /// The leave of a call.
    #[cold]
    pub(super) fn of(call: u64) -> Self {
        let (mut word, mut shift, mut left) = (u64::from(event::LEAVE), 8_u32, call);
        while left >= 0x80 {
            word |= (left & 0x7f | 0x80).wrapping_shl(shift);
            (shift, left) = (shift.wrapping_add(8), left >> 7);
        }
        word |= left.wrapping_shl(shift);
        shift = shift.wrapping_add(8);
        word |= u64::from(detail::END).wrapping_shl(shift);
        let bits = shift.wrapping_add(8);
        let mask = u64::MAX.wrapping_shr(u64::BITS.saturating_sub(bits));
        let mask = if call < CALLS_END { mask } else { 0 };
        Self { call, word, mask, len: to_usize(u64::from(bits / 8)) }
    }

    /// Turns to another call, which is mostly the next one: then only the lowest bits differ.
    #[inline(always)]
    pub(super) fn turn_to(&mut self, call: u64) {
        if call == self.call.wrapping_add(1) && !call.is_multiple_of(0x80) {
            self.word = self.word.wrapping_add(1 << 8);
            self.call = call;
        } else if call != self.call {
            *self = Self::of(call);
        }
    }

    /// Returns the length of the leave if `bytes` begin with it and have some more.
    #[inline(always)]
    pub(super) fn find(&self, bytes: &[u8]) -> Option<usize> {
        let word = u64::from_le_bytes(*bytes.first_chunk()?);
        (word & self.mask == self.word).then_some(self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a leave, and some more.
    fn bytes(call: u64) -> Vec<u8> {
        let groups = (0..10).map(|group| (call >> (7 * group)).to_le_bytes()[0] | 0x80);
        let len = to_usize(u64::from((64 - call.leading_zeros()).div_ceil(7).max(1)));
        let mut number: Vec<u8> = groups.take(len).collect();
        number[len - 1] &= 0x7f;
        [&[1], number.as_slice(), &[0], &[0xff; 8]].concat()
    }

    #[test]
    fn the_leave_of_each_call_is_found_by_its_bytes() {
        let mut leave = BareLeave::of(0);
        let ends = (0..64).map(|bit| 1_u64 << bit).flat_map(|end| end - 1..=end);
        for call in (0..70_000).chain(ends).chain([5, 4, 4, 6, u64::MAX, 0]) {
            leave.turn_to(call);
            let found = (call < CALLS_END).then(|| bytes(call).len() - 8);
            assert_eq!(leave.find(&bytes(call)), found, "{call}");
            assert_eq!(leave.find(&bytes(call ^ 1)), None, "{call}");
            assert_eq!(leave.find(&bytes(call ^ 0x4000)), None, "{call}");
        }
    }

    #[test]
    fn a_leave_in_another_form_or_with_a_value_is_another_one() {
        let leave = BareLeave::of(3);
        assert_eq!(leave.find(b"\x01\x03\x00\x00\x00\x01\x00\x05"), Some(3));
        assert_eq!(leave.find(b"\x01\x03\x02\x00\x00\x01\x00\x05"), None);
        assert_eq!(leave.find(b"\x01\x83\x00\x00\x00\x01\x00\x05"), None);
        assert_eq!(leave.find(b"\x00\x03\x00\x00\x00\x01\x00\x05"), None);
        assert_eq!(leave.find(b"\x01\x03\x00\x00\x00\x01\x00"), None);
    }
}
