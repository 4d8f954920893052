//! Writes frames.

/// Expanded bytes of a frame that apitrace writes.
const FRAME_EXPANDED: usize = 2 << 20;

/// Writes frames of at most 2 MiB of the stream.
#[derive(Default)]
pub(in crate::formats::apitrace::expand) struct Writer {
    pending: Vec<u8>,
    out: Vec<u8>,
}

impl Writer {
    /// Adds bytes of the stream; returns how many bytes are stored so far.
    pub(in crate::formats::apitrace::expand) fn push(&mut self, mut bytes: &[u8]) -> usize {
        while !bytes.is_empty() {
            let room = FRAME_EXPANDED.saturating_sub(self.pending.len());
            let (now, later) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
            self.pending.extend_from_slice(now);
            bytes = later;
            if self.pending.len() == FRAME_EXPANDED {
                self.flush();
            }
        }
        self.out.len()
    }

    fn flush(&mut self) {
        if !self.pending.is_empty() {
            let level = ruzstd::encoding::CompressionLevel::Fastest;
            self.out.extend(ruzstd::encoding::compress_to_vec(self.pending.as_slice(), level));
            self.pending.clear();
        }
    }

    /// Returns all frames.
    pub(in crate::formats::apitrace::expand) fn finish(mut self) -> Vec<u8> {
        self.flush();
        self.out
    }
}
