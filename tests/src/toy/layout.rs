//! Sizes and numbers of a tick recording.

use tracemend::{Layer, Span};

/// The only file of a recording.
pub(super) const FILE: Layer = Layer::stored(0);
/// First bytes of a recording.
pub(super) const MAGIC: &[u8; 4] = b"TICK";
/// Bytes of the header: magic and number of records.
pub(super) const HEADER: u64 = 6;
/// Number of records, in the header.
pub(super) const COUNT: Span = Span::new(FILE, 4, HEADER);

/// Returns the checksum of a body: the sum of its bytes.
pub(super) fn checksum(body: &[u8]) -> u8 {
    body.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}
