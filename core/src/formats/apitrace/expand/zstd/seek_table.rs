//! The seek table at the end of a file: a skippable frame that lists the others.
//!
//! ```text
//! magic, size, (compressed length, expanded length [, checksum])*,
//! number of frames, descriptor, magic
//! ```

use super::frame::skippable_end;
use crate::formats::apitrace::expand::stored;
use crate::formats::apitrace::layout::ZSTD_SEEKABLE_MAGIC;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::Span;

/// Magic of the skippable frame that holds the table.
pub(super) const TABLE_MAGIC: [u8; 4] = [0x5e, 0x2a, 0x4d, 0x18];
/// Magic and size of a skippable frame.
const SKIPPABLE_HEADER_LEN: u64 = 8;
/// Entry without checksum: compressed and expanded length.
const TABLE_ENTRY_LEN: u64 = 8;
/// Entry with checksum.
const TABLE_CHECKSUM_ENTRY_LEN: u64 = 12;
/// Number of frames, descriptor, magic.
pub(super) const TABLE_FOOTER_LEN: u64 = 9;

/// Encodes the seek table for `frames`: the compressed and expanded length of each.
pub fn encode_seek_table(frames: &[(u64, u64)]) -> Vec<u8> {
    let size =
        to_u64(frames.len()).saturating_mul(TABLE_ENTRY_LEN).saturating_add(TABLE_FOOTER_LEN);
    let word = |value: u64| u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes();
    let mut table = TABLE_MAGIC.to_vec();
    table.extend(word(size));
    for (compressed, expanded) in frames {
        table.extend(word(*compressed));
        table.extend(word(*expanded));
    }
    table.extend(word(to_u64(frames.len())));
    table.push(0);
    table.extend(ZSTD_SEEKABLE_MAGIC);
    table
}

/// Returns the number of frames in the footer of a seek table.
pub(super) fn frame_count(footer: &[u8]) -> Option<u64> {
    let count = footer.first_chunk::<4>()?;
    Some(u64::from(u32::from_le_bytes(*count)))
}

/// Returns the span of the seek table at the end of a file, if there is one.
pub fn seek_table_span(source: &Source<'_>) -> Option<Span> {
    let len = source.len();
    let footer = source.read(len.checked_sub(TABLE_FOOTER_LEN)?, len);
    let has_checksums = footer.get(4)? & 0x80 != 0;
    let entry = if has_checksums { TABLE_CHECKSUM_ENTRY_LEN } else { TABLE_ENTRY_LEN };
    let entries = frame_count(&footer)?.saturating_mul(entry);
    let size = entries.saturating_add(TABLE_FOOTER_LEN).saturating_add(SKIPPABLE_HEADER_LEN);
    let start = len.checked_sub(size).filter(|_| footer.ends_with(&ZSTD_SEEKABLE_MAGIC))?;
    (skippable_end(source, start) == Some(len)).then(|| stored(start, len))
}
