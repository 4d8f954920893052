//! Containers of a stream.

use std::io::Write;

use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// A container of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// Chunks of 1 MiB.
    Snappy,
    /// Chunks of 300 bytes: legal, and small enough to have many.
    SmallChunks,
    /// gzip.
    Gzip,
    /// zstd frames of 2 MiB with a seek table.
    Seekable,
    /// zstd frames of 300 bytes without a seek table.
    Zstd,
    /// brotli, stored.
    Brotli,
}

impl Container {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Snappy, Self::SmallChunks, Self::Gzip, Self::Seekable, Self::Zstd, Self::Brotli];

    /// Returns the file of a stream.
    pub fn file(self, stream: &[u8]) -> Vec<u8> {
        match self {
            Self::Snappy => snappy(stream, 1 << 20),
            Self::SmallChunks => snappy(stream, 300),
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::new(6));
                encoder.write_all(stream).unwrap();
                encoder.finish().unwrap()
            }
            Self::Seekable => zstd(stream, 2 << 20, true),
            Self::Zstd => zstd(stream, 300, false),
            Self::Brotli => brotli(stream),
        }
    }
}

/// A chunk: length and block.
pub fn chunk(bytes: &[u8]) -> Vec<u8> {
    let block = snap::raw::Encoder::new().compress_vec(bytes).unwrap();
    [(block.len() as u32).to_le_bytes().as_slice(), &block].concat()
}

/// Chunks that hold these pieces.
pub fn snappy_of(pieces: &[&[u8]]) -> Vec<u8> {
    let mut file = b"at".to_vec();
    pieces.iter().for_each(|piece| file.extend(chunk(piece)));
    file
}

/// Chunks of at most `size` bytes of the stream.
pub fn snappy(stream: &[u8], size: usize) -> Vec<u8> {
    snappy_of(&stream.chunks(size).collect::<Vec<_>>())
}

/// Returns where the length of each chunk begins and where its block ends, in a sound file.
pub fn chunks(file: &[u8]) -> Vec<(usize, usize)> {
    let (mut at, mut found) = (2, Vec::new());
    while let Some(length) = file.get(at..at + 4) {
        let end = at + 4 + u32::from_le_bytes(length.try_into().unwrap()) as usize;
        found.push((at, end));
        at = end;
    }
    found
}

/// zstd frames of `size` bytes of the stream, with or without a seek table.
pub fn zstd(stream: &[u8], size: usize, seekable: bool) -> Vec<u8> {
    let (mut file, mut table) = (Vec::new(), Vec::new());
    for piece in stream.chunks(size) {
        let frame = compress_to_vec(piece, CompressionLevel::Fastest);
        table.extend((frame.len() as u32).to_le_bytes());
        table.extend((piece.len() as u32).to_le_bytes());
        file.extend(frame);
    }
    if seekable {
        let frames = table.len() as u32 / 8;
        file.extend([0x5e, 0x2a, 0x4d, 0x18]);
        file.extend((table.len() as u32 + 9).to_le_bytes());
        file.extend(table);
        file.extend(frames.to_le_bytes());
        file.extend([0, 0xb1, 0xea, 0x92, 0x8f]);
    }
    file
}

/// Meta-blocks without compression (RFC 7932, section 9.2).
fn brotli(stream: &[u8]) -> Vec<u8> {
    let mut file: Vec<u8> = Vec::new();
    for piece in stream.chunks(1 << 16) {
        // ISLAST 0, four nibbles of length, ISUNCOMPRESSED 1; WBITS 0 before the first.
        let header = (piece.len() as u32 - 1) << 3 | 1 << 19;
        let bits = if file.is_empty() { header << 1 } else { header };
        file.extend(&bits.to_le_bytes()[..3]);
        file.extend(piece);
    }
    file.push(3);
    file
}
