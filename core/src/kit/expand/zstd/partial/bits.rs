//! Bits of a block: forward in the headers of tables, backward in entropy-coded streams.

use crate::kit::expand::zstd::frame::number;

/// Returns `count` bits from bit `at` on, at most 56; bits after the last byte are zero.
fn bits_at(bytes: &[u8], at: usize, count: u32) -> u64 {
    let (first, shift) = (at / 8, u32::try_from(at % 8).unwrap_or_default());
    let window = bytes.get(first..).unwrap_or_default();
    let window = window.get(..8).unwrap_or(window);
    let mask = 1_u64.checked_shl(count).map_or(u64::MAX, |bit| bit.wrapping_sub(1));
    number(window) >> shift & mask
}

fn bit_count(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Reads bits from the first byte on, the lowest first (RFC 8878, section 4.1.1).
pub(super) struct ForwardBits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> ForwardBits<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Reads a number of `count` bits; `None` after the last byte.
    pub(super) fn read(&mut self, count: u32) -> Option<u64> {
        if self.at / 8 >= self.bytes.len() {
            return None;
        }
        let value = bits_at(self.bytes, self.at, count);
        self.at = self.at.saturating_add(bit_count(count));
        Some(value)
    }

    /// Takes the last bit back.
    pub(super) const fn unread_bit(&mut self) {
        self.at = self.at.saturating_sub(1);
    }

    /// Returns the number of bytes of which bits were read.
    pub(super) const fn bytes_read(&self) -> usize {
        self.at.div_ceil(8)
    }
}

/// Reads bits from the end of a stream on (RFC 8878, section 4.1): the highest set bit of the last
/// byte is padding.
pub(super) struct BackwardBits<'a> {
    bytes: &'a [u8],
    /// Bits that were not read.
    left: usize,
}

impl<'a> BackwardBits<'a> {
    /// The bits of a stream; `None` if it has no padding bit.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let last = bytes.last().filter(|last| **last != 0)?;
        let padding = bit_count(last.leading_zeros()).saturating_add(1);
        Some(Self { bytes, left: bytes.len().saturating_mul(8).saturating_sub(padding) })
    }

    /// The bits of a stream of which `left` were not read.
    pub(super) const fn resume(bytes: &'a [u8], left: usize) -> Self {
        Self { bytes, left }
    }

    /// Number of bits that were not read.
    pub(super) const fn left(&self) -> usize {
        self.left
    }

    /// Reads a number of `count` bits; `None` if fewer are left.
    pub(super) fn read(&mut self, count: u32) -> Option<u64> {
        self.left = self.left.checked_sub(bit_count(count))?;
        Some(bits_at(self.bytes, self.left, count))
    }

    /// Returns the next `count` bits; those before the first byte are zero.
    pub(super) fn peek(&self, count: u32) -> u64 {
        match self.left.checked_sub(bit_count(count)) {
            Some(from) => bits_at(self.bytes, from, count),
            None => {
                let left = u32::try_from(self.left).unwrap_or_default();
                let missing = count.saturating_sub(left);
                bits_at(self.bytes, 0, left).checked_shl(missing).unwrap_or_default()
            }
        }
    }

    /// Whether every bit was read.
    pub(super) const fn is_empty(&self) -> bool {
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_read_from_both_ends() {
        let mut forward = ForwardBits::new(&[0b1010_0110, 0b11]);
        assert_eq!((forward.read(4), forward.read(5)), (Some(0b0110), Some(0b1_1010)));
        forward.unread_bit();
        assert_eq!((forward.bytes_read(), forward.read(2)), (1, Some(0b11)));
        assert_eq!((forward.read(8), forward.read(1)), (Some(0), None));
        let mut backward = BackwardBits::new(&[0b1010_0110, 0b101]).unwrap();
        assert_eq!((backward.peek(3), backward.read(3)), (0b011, Some(0b011)));
        assert_eq!((backward.read(6), backward.peek(3)), (Some(0b01_0011), 0));
        assert_eq!((backward.read(2), backward.is_empty()), (None, false));
        assert!(BackwardBits::new(&[1, 0]).is_none() && BackwardBits::new(&[]).is_none());
    }
}
