//! The pixels of a screenshot: PNG as Chromium writes it, 8 bits per channel and not interlaced.

use std::io::Read as _;
use std::path::Path;

/// The pixels of a picture, in rows from the top.
#[derive(Debug)]
pub struct Screenshot {
    /// Pixels per row.
    pub width: usize,
    /// Red, green and blue.
    pub pixels: Vec<[u8; 3]>,
}

impl Screenshot {
    /// Reads a picture.
    ///
    /// # Panics
    ///
    /// If it is not a PNG of this kind.
    pub fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).expect("the picture exists");
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "the magic");
        let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        let (mut at, mut packed) = (8, Vec::new());
        while at < bytes.len() {
            let length = word(at) as usize;
            if &bytes[at + 4..at + 8] == b"IDAT" {
                packed.extend(&bytes[at + 8..at + 8 + length]);
            }
            at += 12 + length;
        }
        let width = word(16) as usize;
        let channels = if bytes[25] == 6 { 4 } else { 3 };
        assert_eq!((bytes[24], bytes[28]), (8, 0), "depth and interlace");
        let mut raw = Vec::new();
        flate2::read::ZlibDecoder::new(&packed[..]).read_to_end(&mut raw).expect("zlib");
        let mut above = vec![0; width * channels];
        let mut pixels = Vec::new();
        for row in raw.chunks(1 + width * channels) {
            let row = unfilter(row, &above, channels);
            pixels.extend(row.chunks(channels).map(|pixel| [pixel[0], pixel[1], pixel[2]]));
            above = row;
        }
        Self { width, pixels }
    }

    /// The places, x and y, of all pixels of a colour.
    pub fn places(&self, colour: [u8; 3]) -> Vec<(usize, usize)> {
        let found = self.pixels.iter().enumerate().filter(|(_, pixel)| **pixel == colour);
        found.map(|(at, _)| (at % self.width, at / self.width)).collect()
    }
}

/// Undoes the filter of a row, which its first byte names.
fn unfilter(row: &[u8], above: &[u8], channels: usize) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(above.len());
    for (at, byte) in row[1..].iter().enumerate() {
        let left = at.checked_sub(channels).map_or(0, |at| out[at]);
        let corner = at.checked_sub(channels).map_or(0, |at| above[at]);
        let up = above[at];
        let predicted = match row[0] {
            0 => 0,
            1 => left,
            2 => up,
            3 => ((u16::from(left) + u16::from(up)) / 2) as u8,
            _ => {
                let distance = |one: u8| {
                    (i32::from(left) + i32::from(up) - i32::from(corner) - i32::from(one)).abs()
                };
                let candidates = [left, up, corner];
                candidates.into_iter().min_by_key(|one| distance(*one)).unwrap_or(0)
            }
        };
        out.push(byte.wrapping_add(predicted));
    }
    out
}
