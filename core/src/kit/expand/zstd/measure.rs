//! Units of a zstd stream, measured by their headers without decoding them.

use std::borrow::Cow;

use super::frame::{
    BLOCK_HEADER_LEN, BlockHeader, CHECK_SUM_LEN, Frame, header_len, is_skippable, magic, number,
};
use super::{Expander, Expect};
use crate::kit::num::{to_u64, to_usize};

/// Most bytes of padding that follow zstd data, up to a multiple of 8.
const PADDING_MAX: usize = 7;

/// The unit at the end of the input so far that is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenUnit {
    /// The name of the unit: `block`.
    pub name: &'static str,
    /// Its length in bytes, or the least that its first bytes allow.
    pub size: u64,
    /// Whether its content is stored as it is, so that other decoders return a part of it.
    pub is_raw: bool,
}

impl Expander {
    /// Returns the unit that the end of the input truncates; `None` if the input ends with a unit.
    pub fn open_unit(&self) -> Option<OpenUnit> {
        let size = match self.expect {
            Expect::Skip { left: 0, .. } => return None,
            Expect::Skip { left, passed } => left.saturating_add(passed),
            _ if self.partial.is_empty() => return None,
            _ => to_u64(self.unit_len().ok()?),
        };
        let name = match self.expect {
            Expect::Header => "frame header",
            Expect::Skip { .. } => "skippable frame",
            Expect::Block => "block",
            Expect::Trailer => "checksum",
        };
        let is_block = matches!(self.expect, Expect::Block);
        let header = BlockHeader::first(&self.partial).filter(|_| is_block);
        Some(OpenUnit { name, size, is_raw: header.is_some_and(|header| header.is_raw()) })
    }

    /// Returns where the units of `stored`, the next input, end before up to 7 bytes of padding;
    /// `None` if the last one is not complete, or other bytes follow it.
    ///
    /// Zeros are also the header of an empty block. An encoder that is flushed without new data
    /// writes nothing, so such blocks at the end are padding. Padding with a flipped bit may look
    /// like a block, too, so `stated`, the length that another field has, is believed if a unit
    /// with content ends there.
    pub fn find_padding(&self, stored: &[u8], stated: u64) -> Option<DataEnd> {
        let begun = self.partial.len();
        let bytes = match begun {
            0 => Cow::Borrowed(stored),
            _ => Cow::Owned([self.partial.as_slice(), stored].concat()),
        };
        let mut units = Units::new(&bytes, self.expect, self.frame);
        let mut end = 0;
        while let Some(is_empty) = units.pass() {
            if is_empty {
                continue;
            }
            end = bytes.len().saturating_sub(units.rest.len());
            let len = end.checked_sub(begun).filter(|len| to_u64(*len) == stated);
            let len = len.filter(|_| units.rest.len() <= PADDING_MAX);
            if let Some(len) = len {
                return Some(DataEnd { len: to_u64(len), is_raw: units.is_raw });
            }
        }
        let padding = bytes.get(end..).unwrap_or_default();
        let is_padding = padding.len() <= PADDING_MAX && padding.iter().all(|byte| *byte == 0);
        let len = to_u64(end.checked_sub(begun).filter(|_| is_padding)?);
        Some(DataEnd { len, is_raw: units.is_raw })
    }
}

/// Where zstd data end that padding follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataEnd {
    /// Their length in bytes.
    pub len: u64,
    /// Whether the last block is stored as it is: it may end in zeros, like the padding.
    pub is_raw: bool,
}

/// A walk over the units of a stream.
struct Units<'a> {
    rest: &'a [u8],
    expect: Expect,
    frame: Frame,
    /// Whether the content of the last block that is not empty is stored as it is.
    is_raw: bool,
}

/// Returns the offsets in `stored` at which its blocks end, up to the first bytes that are not a
/// unit, and to the first empty block. It begins with a block if `is_in_frame`, or with the header
/// of a frame.
pub fn block_ends(stored: &[u8], is_in_frame: bool) -> impl Iterator<Item = usize> {
    let expect = if is_in_frame { Expect::Block } else { Expect::Header };
    // The window of the frame is not known here; a block has at most 128 KiB.
    let frame = Frame { window: u64::MAX, ..Frame::default() };
    let mut units = Units::new(stored, expect, frame);
    std::iter::from_fn(move || {
        let is_block = matches!(units.expect, Expect::Block);
        units.pass().filter(|is_empty| !is_empty)?;
        Some((is_block, stored.len().saturating_sub(units.rest.len())))
    })
    .filter_map(|(is_block, end)| is_block.then_some(end))
}

impl<'a> Units<'a> {
    const fn new(rest: &'a [u8], expect: Expect, frame: Frame) -> Self {
        Self { rest, expect, frame, is_raw: false }
    }

    /// Passes one unit, and returns whether it is an empty block that is not the last one; `None`
    /// if the rest is not a complete unit.
    fn pass(&mut self) -> Option<bool> {
        if self.rest.is_empty() {
            return None;
        }
        let mut is_empty = false;
        match self.expect {
            Expect::Header => {
                let len = header_len(self.rest)
                    .and_then(|least| header_len(self.rest.get(..least).unwrap_or(self.rest)));
                let header = self.take(len.ok()?)?;
                if is_skippable(magic(header)) {
                    let left = number(header.get(4..).unwrap_or_default());
                    self.expect = Expect::Skip { left, passed: 0 };
                } else {
                    self.frame = Frame::parse(header).ok()?;
                    self.expect = Expect::Block;
                }
            }
            Expect::Skip { left, .. } => {
                self.take(to_usize(left))?;
                self.expect = Expect::Header;
            }
            Expect::Block => {
                let header = BlockHeader::first(self.rest)?;
                let block = self.take(header.unit_len(self.frame.block_max()).ok()?)?;
                is_empty = block.len() == BLOCK_HEADER_LEN && !header.is_last;
                if !is_empty {
                    self.is_raw = header.is_raw() || header.is_run();
                }
                if header.is_last {
                    self.expect = Expect::Trailer;
                }
            }
            Expect::Trailer => {
                self.take(if self.frame.has_check_sum { CHECK_SUM_LEN } else { 0 })?;
                self.expect = Expect::Header;
            }
        }
        Some(is_empty)
    }

    fn take(&mut self, len: usize) -> Option<&[u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }
}
