//! The unread bytes of a stream, and the integers and names in them.

use super::{CountField, Space, StreamError, TokenWarning};
use crate::formats::apitrace::layout::{ID_MAX, NAME_MAX, UINT_LEN, UINT_LEN_MAX};
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

    /// Moves past an integer; false if it is truncated or there is a warning about it.
    #[inline(always)]
    pub(super) fn skip_plain_uint(&mut self) -> bool {
        matches!(self.uint(), Ok((_, None)))
    }

    /// Moves past `len` bytes; false if there are fewer.
    #[inline(always)]
    pub(super) fn skip(&mut self, len: usize) -> bool {
        let after = self.rest.get(len..);
        self.rest = after.unwrap_or_default();
        after.is_some()
    }

    /// An id without a warning that readers have room for.
    #[inline(always)]
    pub(super) fn plain_id(&mut self) -> Option<u64> {
        match self.uint() {
            Ok((id, None)) if id <= ID_MAX => Some(id),
            _ => None,
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
