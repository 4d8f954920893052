//! Bytes that occur twice in a row: a block that was written or copied twice.

use std::ops::Range;

use crate::formats::ovni::decode::event_walk::EventWalk;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::steps;

/// Bytes of a block that is compared.
const BLOCK_MAX: u64 = 16 << 20;

/// Bytes that are compared at a time.
const STEP: u64 = 4 << 10;

/// Returns the bytes that remain as the only copy once `from..to` is dropped, if dropping them
/// removes one of two equal blocks in a row. The blocks need not begin at `from`: any other bytes
/// of the same length within both blocks leave the same stream. Bytes of one value are no block:
/// damage that wrote them looks the same.
pub fn find_repeat(walk: &EventWalk<'_, '_>, from: u64, to: u64) -> Option<Span> {
    compare_repeat(walk, from..to, to.saturating_sub(from)).0
}

/// Like [`find_repeat`] for a block that is `distance` bytes after the one that it repeats; also
/// returns how many bytes it compared.
pub fn compare_repeat(
    walk: &EventWalk<'_, '_>,
    block: Range<u64>,
    distance: u64,
) -> (Option<Span>, u64) {
    let Range { start: from, end: to } = block;
    let Some(len) = to.checked_sub(from).filter(|len| (1..=BLOCK_MAX).contains(len)) else {
        return (None, 0);
    };
    let same = count_equal(walk, from, from.saturating_add(1), len.saturating_sub(1));
    if same == len.saturating_sub(1) {
        steps::count(same);
        return (None, same);
    }
    let before = to.saturating_sub(distance);
    let left = count_equal_before(walk, before, to, len);
    let right = count_equal(walk, from, to, len.saturating_sub(left));
    let compared = left.saturating_add(right);
    steps::count(compared);
    if compared < len {
        return (None, compared);
    }
    // A part of the other copy that the drop does not touch.
    let rest = if left > 0 {
        Span::new(walk.layer(), before.saturating_sub(left), before)
    } else {
        Span::new(walk.layer(), to, to.saturating_add(right))
    };
    (Some(rest), compared)
}

/// Counts the equal bytes from two offsets on, up to `max`.
pub fn count_equal(walk: &EventWalk<'_, '_>, a: u64, b: u64, max: u64) -> u64 {
    let read =
        |from: u64, len: u64| walk.bytes(Span::new(walk.layer(), from, from.saturating_add(len)));
    let mut count = 0_u64;
    while count < max {
        let len = STEP.min(max.saturating_sub(count));
        let (a, b) = (read(a.saturating_add(count), len), read(b.saturating_add(count), len));
        let equal = to_u64(a.iter().zip(b.iter()).take_while(|(a, b)| a == b).count());
        count = count.saturating_add(equal);
        if equal < len {
            break;
        }
    }
    count
}

/// Counts the equal bytes before two offsets, up to `max`.
fn count_equal_before(walk: &EventWalk<'_, '_>, a: u64, b: u64, max: u64) -> u64 {
    let read = |until: u64, len: u64| {
        walk.bytes(Span::new(walk.layer(), until.saturating_sub(len), until))
    };
    let max = max.min(a);
    let mut count = 0_u64;
    while count < max {
        let len = STEP.min(max.saturating_sub(count));
        let (a, b) = (read(a.saturating_sub(count), len), read(b.saturating_sub(count), len));
        let equal = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
        count = count.saturating_add(to_u64(equal));
        if to_u64(equal) < len {
            break;
        }
    }
    count
}
