//! The unread bytes of a stream, and the integers and names in them.

use super::{CountField, Space, StreamError, TokenWarning};
use crate::formats::apitrace::layout::{NAME_MAX, UINT_LEN, UINT_LEN_MAX};
use crate::kit::num::{to_u64, to_usize};

/// Why a token cannot be read.
pub(super) enum ReadFailure {
    /// The bytes end inside it; more may follow.
    Truncated,
    /// It is invalid.
    Invalid(StreamError),
}

impl From<StreamError> for ReadFailure {
    fn from(error: StreamError) -> Self {
        Self::Invalid(error)
    }
}

pub(super) type Read<T> = Result<T, ReadFailure>;

/// An integer, and a warning if it is not written in its shortest form.
pub(super) type Uint = (u64, Option<TokenWarning>);

/// The unread slice, and what turns its length into an offset of the stream.
///
/// The tokenizer's own cursor. A token is read from a copy, which is dropped if the token is not
/// complete, and a short read carries no label, since it is the ordinary end of every block. In a
/// loop over 64 MB of events, [`Cursor`](crate::kit::cursor::Cursor) took 3.6 to 5.4 times as long.
#[derive(Clone, Copy)]
pub(super) struct Tokens<'a> {
    rest: &'a [u8],
    end: u64,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(bytes: &'a [u8], start: u64) -> Self {
        Self { rest: bytes, end: start.saturating_add(to_u64(bytes.len())) }
    }

    /// Offset of the next byte in the stream.
    #[inline(always)]
    pub(super) fn position(&self) -> u64 {
        self.end.saturating_sub(to_u64(self.rest.len()))
    }

    /// Unread bytes.
    #[inline(always)]
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    /// The unread bytes.
    #[inline(always)]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn first(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// The bytes between `from`, an earlier state, and here.
    pub(super) fn since(&self, from: Self) -> &'a [u8] {
        from.rest.get(..from.left().saturating_sub(self.left())).unwrap_or_default()
    }

    #[inline(always)]
    pub(super) fn byte(&mut self) -> Read<u8> {
        match self.rest.split_first() {
            Some((byte, after)) => {
                self.rest = after;
                Ok(*byte)
            }
            None => Err(ReadFailure::Truncated),
        }
    }

    #[inline(always)]
    pub(super) fn bytes(&mut self, len: u64) -> Read<&'a [u8]> {
        match self.rest.split_at_checked(to_usize(len)) {
            Some((bytes, after)) => {
                self.rest = after;
                Ok(bytes)
            }
            None => Err(ReadFailure::Truncated),
        }
    }

    /// Moves past at most `len` bytes; returns how many.
    pub(super) fn skip_at_most(&mut self, len: u64) -> u64 {
        let skipped = len.min(to_u64(self.rest.len()));
        self.rest = self.rest.get(to_usize(skipped)..).unwrap_or_default();
        skipped
    }

    /// An integer in groups of 7 bits, the lowest first (LEB128).
    #[inline(always)]
    pub(super) fn uint(&mut self) -> Read<Uint> {
        match self.rest.split_first() {
            Some((byte, after)) if *byte < 0x80 => {
                self.rest = after;
                Ok((u64::from(*byte), None))
            }
            Some(_) => self.long_uint(),
            None => Err(ReadFailure::Truncated),
        }
    }

    fn long_uint(&mut self) -> Read<Uint> {
        let mut value = 0_u64;
        let mut lost = false;
        for (index, byte) in self.rest.iter().enumerate().take(UINT_LEN_MAX) {
            let group = u64::from(byte & 0x7f);
            let shift = u32::try_from(index).unwrap_or(u32::MAX).saturating_mul(7);
            match group.checked_shl(shift) {
                Some(shifted) => {
                    lost |= shifted >> shift != group;
                    value |= shifted;
                }
                None => lost |= group != 0,
            }
            if byte & 0x80 == 0 {
                let len = index.saturating_add(1);
                self.rest = self.rest.get(len..).unwrap_or_default();
                let warning = if lost {
                    Some(TokenWarning::Oversized(len))
                } else if *byte == 0 || len > UINT_LEN {
                    Some(TokenWarning::Overlong(len))
                } else {
                    None
                };
                return Ok((value, warning));
            }
        }
        match self.rest.len() >= UINT_LEN_MAX {
            true => Err(StreamError::UnterminatedInteger.into()),
            false => Err(ReadFailure::Truncated),
        }
    }

    /// A name short enough to be held; of a property if it has no namespace.
    pub(super) fn name(&mut self, space: Option<Space>) -> Read<(&'a [u8], Option<TokenWarning>)> {
        let (len, warning) = self.uint()?;
        if len > NAME_MAX {
            let field = match space {
                Some(_) => CountField::NameLength,
                None => CountField::PropertyLength,
            };
            return Err(StreamError::Count(field, len).into());
        }
        Ok((self.bytes(len)?, warning))
    }

    /// Whether an integer ends in the unread bytes after the first `skipped`.
    pub(super) fn has_uint_after(&self, skipped: usize) -> bool {
        let rest = self.rest.get(skipped..).unwrap_or_default();
        self.left() > UINT_LEN_MAX || rest.iter().any(|byte| *byte < 0x80)
    }
}

/// Reads an integer without a warning from the beginning of `bytes`, up to 8 bytes at once; returns
/// also its length.
#[inline(always)]
pub(super) fn plain_uint(bytes: &[u8]) -> Option<(u64, usize)> {
    let word = bytes.first_chunk().map_or(u64::MAX, |bytes| u64::from_le_bytes(*bytes));
    // The last byte of an integer is the first without its high bit.
    let ends = !word & 0x8080_8080_8080_8080;
    if ends == 0 {
        return plain_uint_by_bytes(bytes);
    }
    let last_bit = ends.trailing_zeros();
    let groups = word.wrapping_shl(63_u32.wrapping_sub(last_bit));
    let is_overlong = groups.leading_zeros() > 7 && last_bit > 7;
    let groups = groups.wrapping_shr(63_u32.wrapping_sub(last_bit)) & 0x7f7f_7f7f_7f7f_7f7f;
    // Groups of 7 bits are joined to those of 14, these of 28, and these of 56.
    let value = (groups & 0x007f_007f_007f_007f) | ((groups & 0x7f00_7f00_7f00_7f00) >> 1);
    let value = (value & 0x0000_3fff_0000_3fff) | ((value & 0x3fff_0000_3fff_0000) >> 2);
    let value = (value & 0x0000_0000_0fff_ffff) | ((value & 0x0fff_ffff_0000_0000) >> 4);
    let len = to_usize(u64::from(last_bit / 8)).wrapping_add(1);
    (!is_overlong).then_some((value, len))
}

/// As [`plain_uint`], for the last bytes at hand and for long integers.
#[cold]
fn plain_uint_by_bytes(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut tokens = Tokens::new(bytes, 0);
    let (value, warning) = tokens.uint().ok()?;
    warning.is_none().then_some((value, bytes.len().saturating_sub(tokens.left())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_is_plain_if_there_is_no_warning_about_it() {
        let mut encoded: Vec<Vec<u8>> = Vec::new();
        for bits in 0..64 {
            for value in [1_u64 << bits, u64::MAX >> bits, 0x5a5a_5a5a_a5a5_a5a5 >> bits] {
                let groups = (0..10).map(|group| (value >> (7 * group)).to_le_bytes()[0] & 0x7f);
                let len = to_usize(u64::from((64 - value.leading_zeros()).div_ceil(7).max(1)));
                let mut bytes: Vec<u8> = groups.take(len).collect();
                let last = bytes.len() - 1;
                bytes[..last].iter_mut().for_each(|byte| *byte |= 0x80);
                encoded.push(bytes.clone());
                // The same in more bytes than it needs.
                bytes[last] |= 0x80;
                encoded.push([bytes, vec![0]].concat());
            }
        }
        for (bytes, after) in encoded.iter().flat_map(|bytes| [(bytes, 0), (bytes, 1), (bytes, 9)])
        {
            let bytes = [bytes.as_slice(), &[0xff; 9][..after]].concat();
            let mut any = Tokens::new(&bytes, 0);
            let expected = any.uint().ok().filter(|(_, warning)| warning.is_none());
            let expected = expected.map(|(value, _)| (value, bytes.len() - any.left()));
            assert_eq!(plain_uint(&bytes), expected, "{bytes:x?}");
        }
    }
}
