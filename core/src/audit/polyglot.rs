//! Files that are a recording and something else at once.
//!
//! ```text
//!  %PDF-        anywhere in the first 1,024 bytes   Adobe's implementation notes to PDF 1.7, 3.4.1
//!  ustar        at 257                              POSIX.1-2017, pax: ustar interchange format
//!  CD001        at 0x8001                           ECMA-119, 8.1: volume descriptor in sector 16
//!  7z BC AF ..  after a program that extracts it    7-Zip, CPP/7zip/Archive/7z/7zIn.cpp
//!  Rar! 1A 07   anywhere in the first 4 MiB         unrar 7, rardefs.hpp: MAXSFXSIZE
//! ```
//!
//! The header of 7z is looked for in the first 4 MiB, too.
//!
//! A recording begins with its own magic or header, so formats that are recognised only at the
//! beginning do not matter. A zip archive is found by its end, see `content`.

use std::fmt;

use crate::kit::num::to_u64;

/// Bytes at the beginning of a file that are looked at.
pub(super) const HEAD_LEN: u64 = 4 << 20;

/// Bytes in which readers of PDF look for the header.
const PDF_HEAD_LEN: usize = 1024;
const PDF_MAGIC: &[u8] = b"%PDF-";
/// Place and length of a header of tar, place of its check sum, and of its magic.
const TAR_LEN: usize = 512;
const TAR_SUM: std::ops::Range<usize> = 148..156;
const TAR_MAGIC: std::ops::Range<usize> = 257..262;
/// Place of the identifier and version of the first volume descriptor.
const ISO_AT: usize = 0x8001;
const ISO_MAGIC: &[u8] = b"CD001\x01";
const SEVEN_ZIP_MAGIC: &[u8] = b"7z\xbc\xaf\x27\x1c\0";
/// The header of a 7z archive: magic, version, CRC-32 of the last 20 bytes.
const SEVEN_ZIP_LEN: usize = 32;
const RAR_MAGICS: [&[u8]; 2] = [b"Rar!\x1a\x07\0", b"Rar!\x1a\x07\x01\0"];

/// Something else that a recording is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Polyglot {
    what: &'static str,
    accepted: &'static str,
    /// Place of the bytes by which it is recognised, and their number.
    pub(super) start: u64,
    pub(super) len: u64,
}

impl fmt::Display for Polyglot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, whose readers accept it {}: the file is both", self.what, self.accepted)
    }
}

/// Returns what a recording with these first bytes is besides.
pub(super) fn find(head: &[u8]) -> impl Iterator<Item = Polyglot> {
    let of = |what, accepted, found: Option<(usize, usize)>| {
        let (start, len) = found.map(|(start, len)| (to_u64(start), to_u64(len)))?;
        Some(Polyglot { what, accepted, start, len })
    };
    let pdf = head.get(..PDF_HEAD_LEN).unwrap_or(head);
    let pdf = find_magic(pdf, PDF_MAGIC).map(|start| (start, PDF_MAGIC.len()));
    let tar = is_tar(head).then_some((0, TAR_LEN));
    let iso = head.get(ISO_AT..).is_some_and(|bytes| bytes.starts_with(ISO_MAGIC));
    let iso = iso.then_some((ISO_AT, ISO_MAGIC.len()));
    let rar = RAR_MAGICS.iter().find_map(|magic| Some((find_magic(head, magic)?, magic.len())));
    let anywhere = "anywhere in the first 4 MiB";
    [
        of("a PDF document", "anywhere in the first 1,024 bytes", pdf),
        of("a tar archive", "with its magic at 257", tar),
        of("an image of a CD (ISO 9660)", "with its magic at 0x8001", iso),
        of("a 7z archive", anywhere, find_seven_zip(head)),
        of("a rar archive", anywhere, rar),
    ]
    .into_iter()
    .flatten()
}

fn find_magic(bytes: &[u8], magic: &[u8]) -> Option<usize> {
    bytes.windows(magic.len()).position(|window| window == magic)
}

/// Whether a header of tar with a valid check sum begins the file. The sum counts its own field as
/// spaces.
fn is_tar(head: &[u8]) -> bool {
    let Some(header) = head.get(..TAR_LEN) else { return false };
    let sum = header.get(TAR_SUM).unwrap_or_default();
    let digits = sum.iter().filter(|byte| byte.is_ascii_digit());
    let stated = digits.fold(0_u64, |value, digit| {
        value.wrapping_mul(8).wrapping_add(u64::from(digit.wrapping_sub(b'0')))
    });
    let total =
        |bytes: &[u8]| bytes.iter().fold(0_u64, |sum, byte| sum.wrapping_add(u64::from(*byte)));
    let spaces = u64::from(b' ').wrapping_mul(to_u64(TAR_SUM.len()));
    let found = total(header).wrapping_sub(total(sum)).wrapping_add(spaces);
    header.get(TAR_MAGIC) == Some(b"ustar") && stated == found
}

/// Finds the header of a 7z archive with a valid check sum.
fn find_seven_zip(head: &[u8]) -> Option<(usize, usize)> {
    let start = head.windows(SEVEN_ZIP_LEN).position(|header| {
        header.starts_with(SEVEN_ZIP_MAGIC) && {
            let stated = header.get(8..12).and_then(|bytes| bytes.first_chunk::<4>());
            let rest = header.get(12..).unwrap_or_default();
            stated.is_some_and(|stated| u32::from_le_bytes(*stated) == crc32fast::hash(rest))
        }
    })?;
    Some((start, SEVEN_ZIP_LEN))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(head: &[u8]) -> Vec<(&'static str, u64)> {
        find(head).map(|one| (one.what, one.start)).collect()
    }

    fn with(at: usize, bytes: &[u8]) -> Vec<u8> {
        let mut head = b"PERFILE2".to_vec();
        head.resize(at, 0);
        head.extend(bytes);
        head
    }

    #[test]
    fn a_document_counts_where_its_readers_look_for_it() {
        assert_eq!(names(&with(1019, b"%PDF-1.4")), [("a PDF document", 1019)]);
        assert_eq!(names(&with(1020, b"%PDF-1.4")), []);
        let image = "an image of a CD (ISO 9660)";
        assert_eq!(names(&with(0x8001, b"CD001\x01")), [(image, 0x8001)]);
        assert_eq!(names(&with(0x8002, b"CD001\x01")), []);
        assert_eq!(names(&with(70_000, b"Rar!\x1a\x07\x01\0")), [("a rar archive", 70_000)]);
        assert_eq!(names(&with(70_000, b"Rar!\x1a\x07 a text")), []);
    }

    #[test]
    fn headers_with_a_check_sum_count_if_it_is_valid() {
        let rest = [7_u8; 20];
        let sum = crc32fast::hash(&rest);
        let header =
            |sum: u32| [&b"7z\xbc\xaf\x27\x1c\0\x04"[..], &sum.to_le_bytes(), &rest].concat();
        assert_eq!(names(&with(5000, &header(sum))), [("a 7z archive", 5000)]);
        assert_eq!(names(&with(5000, &header(sum ^ 1))), []);
        let mut tar = with(512, b"");
        tar[TAR_MAGIC].copy_from_slice(b"ustar");
        tar[TAR_SUM].fill(b' ');
        let sum: u32 = tar.iter().map(|byte| u32::from(*byte)).sum();
        tar[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
        assert_eq!(names(&tar), [("a tar archive", 0)]);
        tar[9] = 1;
        assert_eq!(names(&tar), []);
    }
}
