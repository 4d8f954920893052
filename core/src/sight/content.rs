//! The likely content of bytes, by their first bytes and their entropy.

use std::fmt;

use crate::kit::num::{to_u64, to_usize};

/// First bytes that are looked at.
pub const LOOKED_AT: usize = 4096;
/// Bytes below which entropy shows nothing: even random bytes repeat few values.
const ENTROPY_LEAST: usize = 1024;
/// Bits per byte from which on bytes count as random; compressed data has more than 7.5.
const ENTROPY_HIGH: f64 = 7.2;
/// Characters of readable text in a row from which on bytes count as text.
const TEXT_LEAST: usize = 8;

/// The likely content of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A program or a script, with its name.
    Executable(&'static str),
    /// An archive or a document, with its name.
    Archive(&'static str),
    /// Readable text.
    Text,
    /// Random bytes: compressed or encrypted.
    HighEntropy,
    /// Anything else.
    Binary,
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Executable(name) | Self::Archive(name) => name,
            Self::Text => "text",
            Self::HighEntropy => "compressed or encrypted data (high entropy)",
            Self::Binary => "binary data",
        })
    }
}

/// Programs and scripts by their first bytes.
const EXECUTABLES: &[(&[u8], &str)] = &[
    (b"\x7fELF", "an ELF program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"\xca\xfe\xba\xbe\0\0\0", "a Mach-O program or Java class"),
    (b"\0asm\x01\0\0\0", "a WebAssembly module"),
    (b"#!/", "a script"),
    (b"#! /", "a script"),
    (b"<script", "a script"),
    (b"<?php", "a script"),
];

/// Archives and documents by their first bytes.
const ARCHIVES: &[(&[u8], &str)] = &[
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "a zip archive"),
    (b"\x1f\x8b\x08", "gzip data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"Rar!\x1a\x07", "a rar archive"),
    (b"!<arch>\n", "an ar archive"),
    (b"%PDF-", "a PDF document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an OLE document"),
    (b"SQLite format 3\0", "an SQLite database"),
];

/// Place of the magic of a tar archive.
const TAR_AT: usize = 257;
/// Place of the offset of the header of a PE program.
const PE_AT: usize = 0x3c;
/// Length of the last structure of a zip archive without a comment.
const ZIP_END_LEN: usize = 22;

/// Returns what bytes look like, of which [`LOOKED_AT`] are looked at.
pub fn look_at(bytes: &[u8]) -> Content {
    let bytes = bytes.get(..LOOKED_AT).unwrap_or(bytes);
    let find = |table: &[(&[u8], &'static str)]| {
        let found = table.iter().find(|(magic, _)| bytes.starts_with(magic));
        found.map(|(_, name)| *name)
    };
    if let Some(name) = find(EXECUTABLES) {
        return Content::Executable(name);
    }
    if is_pe(bytes) {
        return Content::Executable("a PE program");
    }
    if let Some(name) = find(ARCHIVES) {
        return Content::Archive(name);
    }
    if bytes.get(TAR_AT..).is_some_and(|rest| rest.starts_with(b"ustar")) {
        return Content::Archive("a tar archive");
    }
    match bytes {
        _ if is_text(bytes) => Content::Text,
        _ if bytes.len() >= ENTROPY_LEAST && entropy(bytes) >= ENTROPY_HIGH => Content::HighEntropy,
        _ => Content::Binary,
    }
}

/// Returns the length of the end of a zip archive, if the bytes end with one: readers of zip look
/// for it at the end of a file, whatever the file begins with.
pub fn find_zip_end(bytes: &[u8]) -> Option<u64> {
    let found = bytes.windows(ZIP_END_LEN).rposition(|window| {
        window.starts_with(b"PK\x05\x06") && window.get(4..8) == Some(&[0; 4])
    })?;
    let end = bytes.get(found..)?;
    let comment: [u8; 2] = end.get(20..22)?.try_into().ok()?;
    let len = ZIP_END_LEN.saturating_add(usize::from(u16::from_le_bytes(comment)));
    (len == end.len()).then(|| to_u64(len))
}

fn is_pe(bytes: &[u8]) -> bool {
    let place = bytes.get(PE_AT..).and_then(|rest| rest.first_chunk::<4>());
    let header = place.map(|place| to_usize(u64::from(u32::from_le_bytes(*place))));
    let header = header.and_then(|at| bytes.get(at..)).unwrap_or_default();
    bytes.starts_with(b"MZ") && header.starts_with(b"PE\0\0")
}

fn is_text(bytes: &[u8]) -> bool {
    let is_readable = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e | 0x80..);
    let len = bytes.iter().take_while(|byte| is_readable(byte)).count();
    let rest = bytes.get(len..).unwrap_or_default();
    let head = bytes.get(..len).unwrap_or_default();
    let is_utf8 = match str::from_utf8(head) {
        Ok(_) => true,
        // The last character may be cut.
        Err(error) => error.error_len().is_none(),
    };
    len >= TEXT_LEAST && is_utf8 && rest.iter().all(|byte| *byte == 0)
}

/// Returns the entropy of the values of bytes, in bits per byte.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count = count.saturating_add(1);
        }
    }
    let sum = f64::from(counts.iter().fold(0_u32, |sum, count| sum.saturating_add(*count)));
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / sum);
    shares.map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_recognised_by_their_magic() {
        let mut pe = vec![0; 0x80];
        pe[..2].copy_from_slice(b"MZ");
        pe[PE_AT] = 0x40;
        pe[0x40..0x44].copy_from_slice(b"PE\0\0");
        assert_eq!(look_at(&pe), Content::Executable("a PE program"));
        assert_eq!(look_at(b"MZ no program, only two letters"), Content::Text);
        assert_eq!(look_at(b"#!/bin/sh\n"), Content::Executable("a script"));
        assert_eq!(look_at(b"#version 330 core\n"), Content::Text);
        assert_eq!(look_at(b"PK\x03\x04\x14\0"), Content::Archive("a zip archive"));
        let mut tar = vec![0; 512];
        tar[TAR_AT..TAR_AT + 5].copy_from_slice(b"ustar");
        assert_eq!(look_at(&tar), Content::Archive("a tar archive"));
        assert_eq!(look_at(&[0, 1, 2, 3]), Content::Binary);
        assert_eq!(look_at(&[]), Content::Binary);
    }

    #[test]
    fn random_bytes_have_a_high_entropy_and_numbers_do_not() {
        let random = |seed: &mut u32| {
            *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u8::try_from(*seed >> 24).unwrap()
        };
        let mut seed = 7;
        let noise: Vec<u8> = (0..4096).map(|_| random(&mut seed)).collect();
        assert_eq!(look_at(&noise), Content::HighEntropy);
        let numbers: Vec<u8> = (0_u32..1024).flat_map(|number| number.to_le_bytes()).collect();
        assert_eq!(look_at(&numbers), Content::Binary);
    }

    #[test]
    fn the_end_of_a_zip_archive_is_found_with_its_comment() {
        let mut file = b"anything".to_vec();
        assert_eq!(find_zip_end(&file), None);
        file.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0\x10\0\0\0\0\0\0\0\x03\0abc");
        assert_eq!(find_zip_end(&file), Some(25));
        file.push(0);
        assert_eq!(find_zip_end(&file), None);
    }
}
