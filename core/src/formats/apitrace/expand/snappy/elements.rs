//! The elements of a block, one after the other.

use crate::kit::num::to_u64;
use crate::kit::words::{agree, byte_count};

/// Stands for bytes that are copied from before the block: not an event, detail or type of a value.
pub(super) const MISSING: u8 = 0x7f;

/// Why the elements of a block end, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ElementFault {
    pub(super) detail: String,
    /// The offset of an invalid element in the block; `None` if the block ends.
    pub(super) element: Option<usize>,
}

/// The elements of a block from an offset on.
pub(super) struct Elements<'a> {
    pub(super) block: &'a [u8],
    pub(super) at: usize,
    /// Bytes that the block expands to.
    pub(super) len: usize,
    /// What stands for bytes that are copied from before the block; too long elements are cut then.
    /// Otherwise these are faults.
    pub(super) missing: Option<u8>,
}

/// A copy of bytes before it.
struct Copy {
    len: usize,
    distance: usize,
    /// Bytes of the element after its tag.
    extra: usize,
}

impl<'a> Elements<'a> {
    /// The elements from an offset on that give at most `len` bytes, as far as they can be read.
    pub(super) const fn lenient(block: &'a [u8], at: usize, len: usize) -> Self {
        Self { block, at, len, missing: Some(MISSING) }
    }

    /// Expands one element; `None` if it is invalid or the block ends.
    pub(super) fn step(&mut self, out: &mut Vec<u8>) -> Option<()> {
        self.expand_one(out)?.ok()
    }

    fn expand_one(&mut self, out: &mut Vec<u8>) -> Option<Result<(), ElementFault>> {
        let tag = self.block.get(self.at).copied()?;
        Some(match tag & 3 {
            0 => self.expand_literal(tag, out),
            _ => self.expand_copy(tag, out),
        })
    }

    /// Expands the elements until `out` holds all bytes of the block.
    pub(super) fn expand(&mut self, out: &mut Vec<u8>) -> Option<ElementFault> {
        while self.missing.is_none() || out.len() < self.len {
            match self.expand_one(out) {
                Some(Ok(())) => {}
                Some(Err(fault)) => return Some(fault),
                None => break,
            }
        }
        (out.len() != self.len && self.missing.is_none()).then(|| ElementFault {
            detail: format!(
                "the block decodes to {}, expected {}",
                byte_count(to_u64(out.len())),
                self.len
            ),
            element: None,
        })
    }

    /// The little-endian number in the `count` bytes after the tag.
    fn number(&self, count: usize) -> Option<usize> {
        let from = self.at.saturating_add(1);
        let bytes = self.block.get(from..from.saturating_add(count))?;
        Some(bytes.iter().rev().fold(0, |sum: usize, byte| sum << 8 | usize::from(*byte)))
    }

    fn truncated(&self) -> ElementFault {
        let detail = format!("truncated snappy element at {}", self.at);
        ElementFault { detail, element: None }
    }

    const fn invalid(&self, detail: String) -> ElementFault {
        ElementFault { detail, element: Some(self.at) }
    }

    pub(super) fn expand_literal(
        &mut self,
        tag: u8,
        out: &mut Vec<u8>,
    ) -> Result<(), ElementFault> {
        let room = self.len.saturating_sub(out.len());
        let high = usize::from(tag >> 2);
        // A length of 60 to 63 is the number of bytes that hold the length, and 59.
        let extra = high.saturating_sub(59);
        let stated = if extra == 0 { Some(high) } else { self.number(extra) };
        let Some(stated) = stated else { return Err(self.truncated()) };
        let from = self.at.saturating_add(1).saturating_add(extra);
        let end = from.saturating_add(stated).saturating_add(1);
        let Some(literal) = self.block.get(from..end) else {
            // The beginning of a truncated literal is as good as the rest.
            let tail = self.block.get(from..).unwrap_or_default();
            out.extend_from_slice(tail.get(..room).unwrap_or(tail));
            return Err(self.truncated());
        };
        if literal.len() > room && self.missing.is_none() {
            return Err(self.invalid(format!(
                "invalid snappy literal at {}: it exceeds the {} of the block",
                self.at,
                byte_count(to_u64(self.len))
            )));
        }
        out.extend_from_slice(literal.get(..room).unwrap_or(literal));
        self.at = end;
        Ok(())
    }

    fn copy(&self, tag: u8) -> Option<Copy> {
        let high = usize::from(tag >> 2);
        Some(match tag & 3 {
            1 => Copy {
                len: (high & 7).saturating_add(4),
                distance: usize::from(tag >> 5) << 8 | self.number(1)?,
                extra: 1,
            },
            2 => Copy { len: high.saturating_add(1), distance: self.number(2)?, extra: 2 },
            _ => Copy { len: high.saturating_add(1), distance: self.number(4)?, extra: 4 },
        })
    }

    pub(super) fn expand_copy(&mut self, tag: u8, out: &mut Vec<u8>) -> Result<(), ElementFault> {
        let room = self.len.saturating_sub(out.len());
        let Some(Copy { len, distance, extra }) = self.copy(tag) else {
            return Err(self.truncated());
        };
        if len > room && self.missing.is_none() {
            return Err(self.invalid(format!(
                "invalid snappy copy at {}: it exceeds the {} of the block",
                self.at,
                byte_count(to_u64(self.len))
            )));
        }
        let len = len.min(room);
        match (out.len().checked_sub(distance).filter(|_| distance > 0), self.missing) {
            (Some(from), _) => {
                for at in from..from.saturating_add(len) {
                    let byte = out.get(at).copied().unwrap_or_default();
                    out.push(byte);
                }
            }
            (None, Some(missing)) => out.resize(out.len().saturating_add(len), missing),
            (None, None) => {
                return Err(self.invalid(format!(
                    "invalid snappy copy at {}: distance is {distance}, but {} {} it",
                    self.at,
                    byte_count(to_u64(out.len())),
                    agree(to_u64(out.len()), "precedes", "precede")
                )));
            }
        }
        self.at = self.at.saturating_add(1).saturating_add(extra);
        Ok(())
    }
}
