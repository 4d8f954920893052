//! Huffman-coded literals (RFC 8878, section 4.2).

use super::bits::BackwardBits;
use super::fse::{FseLimits, FseTable};
use crate::kit::num::to_usize;

/// The longest code.
const CODE_MAX: u32 = 11;
/// A header of this value or more counts weights that are stored directly.
const DIRECT: u8 = 128;
/// The table of the weights (section 4.2.1.2).
const WEIGHTS: FseLimits = FseLimits { log_max: 6, symbols: 256 };
/// Weights of a tree, without the last one.
const WEIGHTS_MAX: usize = 255;

/// The symbols of all codes of the greatest length.
#[derive(Clone)]
pub(super) struct HuffmanTable {
    /// Symbol and length of its code.
    codes: Vec<(u8, u32)>,
    /// Bits of the longest code.
    longest: u32,
}

impl HuffmanTable {
    /// Reads the description of a tree; returns its length as well.
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let (header, rest) = bytes.split_first()?;
        let (weights, len) = match header.checked_sub(DIRECT) {
            Some(count) => {
                let count = usize::from(count).checked_add(1)?;
                let len = count.div_ceil(2);
                let nibbles = rest.get(..len)?.iter().flat_map(|byte| [byte >> 4, byte & 15]);
                (nibbles.take(count).collect(), len)
            }
            None => {
                let len = usize::from(*header);
                (read_weights(rest.get(..len)?)?, len)
            }
        };
        Some((Self::of_weights(weights)?, len.checked_add(1)?))
    }

    /// Builds the table; the last weight completes the others to a power of two.
    fn of_weights(mut weights: Vec<u8>) -> Option<Self> {
        let share = |weight: u8| match u32::from(weight).checked_sub(1) {
            Some(shift) => 1_u64.checked_shl(shift).unwrap_or(0),
            None => 0,
        };
        let sum = weights.iter().fold(0_u64, |sum, weight| sum.saturating_add(share(*weight)));
        let longest = sum.checked_ilog2()?.checked_add(1)?;
        let left = 1_u64.checked_shl(longest)?.checked_sub(sum)?;
        if longest > CODE_MAX || !left.is_power_of_two() {
            return None;
        }
        weights.push(u8::try_from(left.ilog2().checked_add(1)?).ok()?);
        // libzstd refuses a tree whose weights could all be smaller by one.
        if !weights.contains(&1) {
            return None;
        }
        let mut codes = Vec::new();
        // Long codes come first, and those of one length in the order of their symbols.
        for weight in 1..=u8::try_from(longest).ok()? {
            let bits = longest.checked_add(1)?.checked_sub(u32::from(weight))?;
            for (symbol, _) in (0..=u8::MAX).zip(&weights).filter(|(_, one)| **one == weight) {
                (0..share(weight)).for_each(|_| codes.push((symbol, bits)));
            }
        }
        (codes.len() == 1_usize.checked_shl(longest)?).then_some(Self { codes, longest })
    }

    /// Decodes `count` literals to the end of `out`; `false` if the stream does not end with the
    /// last of them.
    pub(super) fn decode(&self, stream: &[u8], count: usize, out: &mut Vec<u8>) -> bool {
        let Some(mut bits) = BackwardBits::new(stream) else { return false };
        for _ in 0..count {
            let code = self.codes.get(to_usize(bits.peek(self.longest)));
            let Some((symbol, len)) = code else { return false };
            if bits.read(*len).is_none() {
                return false;
            }
            out.push(*symbol);
        }
        bits.is_empty()
    }
}

/// Decodes weights by two states in turn (section 4.2.1.2).
fn read_weights(bytes: &[u8]) -> Option<Vec<u8>> {
    let (table, len) = FseTable::read(bytes, WEIGHTS)?;
    let mut bits = BackwardBits::new(bytes.get(len..)?)?;
    let mut state = table.first(&mut bits)?;
    let mut other = table.first(&mut bits)?;
    let mut weights = Vec::new();
    while weights.len() < WEIGHTS_MAX {
        weights.push(table.symbol(state)?);
        match table.next(state, &mut bits) {
            Some(next) => (state, other) = (other, next),
            None => {
                weights.push(table.symbol(other)?);
                return Some(weights);
            }
        }
    }
    None
}
