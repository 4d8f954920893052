//! Fixes of the header and of a gamepad's description.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::gamepad::Gamepad;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::mend::edit::{Edit, Fix, Safety};

/// Writes `bytes` at `offset`.
pub(in crate::formats::revent) fn write_fix(offset: u64, bytes: &[u8], summary: String) -> Fix {
    let span = Span::sized(FILE, offset, to_u64(bytes.len()));
    Fix::new(Safety::Exact, summary, vec![Edit::replace(span, bytes)])
}

/// Swaps the bitmaps of axes and keys.
pub(in crate::formats::revent) fn swap_bitmaps_fix(gamepad: &Gamepad) -> Fix {
    let [first, last] = gamepad.swapped_spans();
    let edits = vec![Edit::replace(first, gamepad.key), Edit::replace(last, gamepad.abs)];
    Fix::new(Safety::Exact, "swap abs_bits and key_bits", edits)
}
