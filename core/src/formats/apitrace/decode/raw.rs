//! The bytes of a definition, as they are stored after its id.

use crate::kit::num::to_usize;

/// The unread bytes of a definition.
pub struct Raw<'a>(pub &'a [u8]);

impl<'a> Raw<'a> {
    /// Reads a byte.
    pub fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    /// Reads the lowest 64 bits of an integer.
    pub fn uint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        let mut shift = 0_u32;
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or_default();
            shift = shift.saturating_add(7);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    }

    /// Reads a name: its length, and its bytes.
    pub fn name(&mut self) -> Option<&'a [u8]> {
        let len = self.uint()?;
        let (name, rest) = self.0.split_at_checked(to_usize(len))?;
        self.0 = rest;
        Some(name)
    }
}
