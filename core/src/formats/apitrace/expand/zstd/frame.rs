//! Where a frame ends, by its headers alone.

use crate::formats::apitrace::layout::ZSTD_MAGIC;
use crate::kit::cursor::{Cursor, Order, ReadError};
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::Layer;

/// The longest header of a frame, its magic included.
pub(super) const HEADER_MAX: u64 = 18;
/// Length of a block's header.
pub(super) const BLOCK_HEADER_LEN: u64 = 3;
/// The most bytes of a block.
const BLOCK_MAX: u64 = 128 << 10;
/// Type of a block that is one repeated byte.
const BLOCK_RLE: u64 = 1;
/// Type of a block that is compressed.
const BLOCK_COMPRESSED: u64 = 2;
/// The type that no block has.
const BLOCK_RESERVED: u64 = 3;
/// Bytes of the checksum after the last block.
pub(super) const CHECKSUM_LEN: u64 = 4;

/// Returns where the frame at `at` ends; `None` if it is invalid or truncated.
pub(super) fn frame_end(source: &Source<'_>, at: u64) -> Option<u64> {
    let head = source.read(at, at.saturating_add(HEADER_MAX));
    if !head.starts_with(&ZSTD_MAGIC) {
        return skippable_end(source, at);
    }
    let mut cursor = Cursor::new(&head, Layer::stored(0), at, Order::Little);
    let descriptor = skip_header(&mut cursor).ok()?;
    let end = last_block_end(source, cursor.position(), block_end)?;
    let end = end.saturating_add(if descriptor & 4 != 0 { CHECKSUM_LEN } else { 0 });
    (end <= source.len()).then_some(end)
}

/// Returns where the frame at `at` ends that lost its magic: its blocks lead to the end of the file
/// or to another frame.
pub(super) fn end_without_magic(source: &Source<'_>, at: u64) -> Option<u64> {
    let from = at.saturating_add(to_u64(ZSTD_MAGIC.len()));
    let rest = source.read(from, at.saturating_add(HEADER_MAX));
    let head = [ZSTD_MAGIC.as_slice(), &rest].concat();
    let mut cursor = Cursor::new(&head, Layer::stored(0), at, Order::Little);
    let descriptor = skip_header(&mut cursor).ok()?;
    let end = last_block_end(source, cursor.position(), believable_end)?;
    let end = end.saturating_add(if descriptor & 4 != 0 { CHECKSUM_LEN } else { 0 });
    (end == source.len() || begins_frame(source, end)).then_some(end)
}

/// Whether a frame or a skippable one begins at `at`.
pub fn begins_frame(source: &Source<'_>, at: u64) -> bool {
    let magic = source.read(at, at.saturating_add(to_u64(ZSTD_MAGIC.len())));
    magic.as_ref() == ZSTD_MAGIC || skippable_end(source, at).is_some()
}

/// Whether a frame begins at `at`, by its magic and its first block; it may be damaged after that.
pub(super) fn has_first_block(source: &Source<'_>, at: u64) -> bool {
    let head = source.read(at, at.saturating_add(HEADER_MAX));
    if !head.starts_with(&ZSTD_MAGIC) {
        return skippable_end(source, at).is_some();
    }
    let mut cursor = Cursor::new(&head, Layer::stored(0), at, Order::Little);
    skip_header(&mut cursor).is_ok() && block_end(source, cursor.position()).is_some()
}

/// Returns where the first block of the frame at `at` begins, by the header of the frame.
pub(super) fn first_block(source: &Source<'_>, at: u64) -> Option<u64> {
    let head = source.read(at, at.saturating_add(HEADER_MAX));
    let mut cursor = Cursor::new(&head, Layer::stored(0), at, Order::Little);
    skip_header(&mut cursor).ok().filter(|_| head.starts_with(&ZSTD_MAGIC))?;
    Some(cursor.position())
}

/// Whether the header of a block at `at` is that of a repeated byte.
pub(super) fn is_run(source: &Source<'_>, at: u64) -> bool {
    let first = source.read(at, at.saturating_add(1));
    first.first().is_some_and(|first| u64::from(*first) >> 1 & 3 == BLOCK_RLE)
}

/// Whether the header of a block at `at` is that of a compressed one.
pub(super) fn is_compressed(source: &Source<'_>, at: u64) -> bool {
    let first = source.read(at, at.saturating_add(1));
    first.first().is_some_and(|first| u64::from(*first) >> 1 & 3 == BLOCK_COMPRESSED)
}

/// Moves past the header of a frame and returns its descriptor.
fn skip_header(cursor: &mut Cursor<'_>) -> Result<u8, ReadError> {
    cursor.array::<4>("Magic_Number")?;
    let descriptor = cursor.u8("Frame_Header_Descriptor")?;
    let is_single_segment = descriptor & 0x20 != 0;
    cursor.skip(u64::from(!is_single_segment), 1, "Window_Descriptor")?;
    let dictionary_id = [0, 1, 2, 4].get(usize::from(descriptor & 3)).copied().unwrap_or(0);
    cursor.skip(dictionary_id, 1, "Dictionary_ID")?;
    let content_size = match descriptor >> 6 {
        0 => u64::from(is_single_segment),
        1 => 2,
        2 => 4,
        _ => 8,
    };
    cursor.skip(content_size, 1, "Frame_Content_Size")?;
    Ok(descriptor)
}

/// Returns where the last of the blocks from `at` on ends, of which each ends by `end_of`.
fn last_block_end(
    source: &Source<'_>,
    mut at: u64,
    end_of: fn(&Source<'_>, u64) -> Option<(u64, bool)>,
) -> Option<u64> {
    loop {
        let (end, is_last) = end_of(source, at)?;
        if is_last {
            return Some(end);
        }
        at = end;
    }
}

/// Returns where the block at `at` ends, and whether it is the last one of its frame.
pub(super) fn block_end(source: &Source<'_>, at: u64) -> Option<(u64, bool)> {
    let header = source.read(at, at.saturating_add(BLOCK_HEADER_LEN));
    let &[low, middle, high] = header.as_ref() else { return None };
    let bits = u64::from(low) | u64::from(middle) << 8 | u64::from(high) << 16;
    let (is_last, kind, size) = (bits & 1 != 0, bits >> 1 & 3, bits >> 3);
    let size = if kind == BLOCK_RLE { 1 } else { size };
    let end = at.saturating_add(BLOCK_HEADER_LEN).saturating_add(size);
    let is_valid = kind != BLOCK_RESERVED && size <= BLOCK_MAX && end <= source.len();
    is_valid.then_some((end, is_last))
}

/// The same for a place that need not be one of a block. Encoders write an empty block at the end
/// only, while zeros are empty blocks that lead on and on.
pub(super) fn believable_end(source: &Source<'_>, at: u64) -> Option<(u64, bool)> {
    let is_block =
        |(end, is_last): &(u64, bool)| *is_last || *end > at.saturating_add(BLOCK_HEADER_LEN);
    block_end(source, at).filter(is_block)
}

/// Returns where the skippable frame at `at` ends; `None` if there is none or it is truncated.
pub(super) fn skippable_end(source: &Source<'_>, at: u64) -> Option<u64> {
    let head = source.read(at, at.saturating_add(8));
    let mut cursor = Cursor::new(&head, Layer::stored(0), at, Order::Little);
    let [low, rest @ ..] = cursor.array::<4>("Magic_Number").ok()?;
    let size = cursor.u32("Frame_Size").ok()?;
    let is_skippable = low & 0xf0 == 0x50 && rest == [0x2a, 0x4d, 0x18];
    let end = cursor.position().saturating_add(u64::from(size));
    (is_skippable && end <= source.len()).then_some(end)
}
