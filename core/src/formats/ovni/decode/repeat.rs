//! Bytes that occur twice in a row: a block that was written or copied twice.

use crate::formats::ovni::decode::event_walk::EventWalk;
use crate::kit::num::to_usize;
use crate::kit::span::Span;

/// Bytes of a block that is compared.
const BLOCK_MAX: u64 = 16 << 20;

/// Returns the bytes that remain as the only copy once `from..to` is dropped, if dropping them
/// removes one of two equal blocks in a row. The blocks need not begin at `from`: any other bytes
/// of the same length within both blocks leave the same stream.
pub fn find_repeat(walk: &EventWalk<'_, '_>, from: u64, to: u64) -> Option<Span> {
    let len = to.checked_sub(from).filter(|len| (1..=BLOCK_MAX).contains(len))?;
    let layer = walk.layer();
    let start = from.saturating_sub(len);
    let before = walk.bytes(Span::new(layer, start, from));
    let block = walk.bytes(Span::new(layer, from, to));
    let after = walk.bytes(Span::new(layer, to, to.saturating_add(len)));
    let equal_before = before.iter().rev().zip(block.iter().rev()).take_while(|(a, b)| a == b);
    let equal_after = block.iter().zip(after.iter()).take_while(|(a, b)| a == b);
    let (left, right) = (equal_before.count(), equal_after.count());
    if left.saturating_add(right) < to_usize(len) {
        return None;
    }
    // A part of the other copy that the drop does not touch.
    let left = crate::kit::num::to_u64(left);
    if left > 0 {
        return Some(Span::new(layer, from.saturating_sub(left), from));
    }
    Some(Span::new(layer, to, to.saturating_add(crate::kit::num::to_u64(right))))
}
