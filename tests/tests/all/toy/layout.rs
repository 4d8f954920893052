//! Facts of the toy format.

/// The first bytes of every recording.
pub(super) const MAGIC: &[u8] = b"TOY1";

/// Length of the header in bytes.
pub(super) const HEADER_LEN: u64 = 8;

/// Offset of the number of items, a u32.
pub(super) const COUNT_AT: u64 = 4;

/// Length in bytes of the longest item, with its length byte.
pub(super) const ITEM_MAX: u64 = 256;
