//! The fields of 8 bytes, and how they are read.

use crate::formats::perf::layout::attr::sample_type as bit;
use crate::kit::cursor::Order;

/// Fields before READ: 8 bytes each.
pub(super) const HEAD: u64 = bit::IDENTIFIER
    | bit::IP
    | bit::TID
    | bit::TIME
    | bit::ADDR
    | bit::ID
    | bit::STREAM_ID
    | bit::CPU
    | bit::PERIOD;

/// Counts the bits of `mask` that are set in `word`.
pub(super) fn count_bits(word: u64, mask: u64) -> u64 {
    (word & mask).count_ones().into()
}

/// Reads the u64 at offset `at` of a body.
#[inline]
pub(super) fn word(body: &[u8], at: usize, order: Order) -> Option<u64> {
    let bytes = *body.get(at..)?.first_chunk()?;
    Some(match order {
        Order::Little => u64::from_le_bytes(bytes),
        Order::Big => u64::from_be_bytes(bytes),
    })
}

/// Reads the u32 at offset `at` of a body.
#[inline]
pub(super) fn half_word(body: &[u8], at: usize, order: Order) -> Option<u32> {
    let bytes = *body.get(at..)?.first_chunk()?;
    Some(match order {
        Order::Little => u32::from_le_bytes(bytes),
        Order::Big => u32::from_be_bytes(bytes),
    })
}
