//! Writes frames.

use crate::formats::apitrace::expand::units::Units;

/// Expanded bytes of a frame that apitrace writes.
const FRAME_EXPANDED: usize = 2 << 20;

/// Writes frames of at most 2 MiB of the stream.
pub(in crate::formats::apitrace::expand) const fn writer() -> Units {
    Units::new(FRAME_EXPANDED, |bytes, out| {
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        out.extend(ruzstd::encoding::compress_to_vec(bytes, level));
    })
}
