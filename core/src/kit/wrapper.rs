//! Recognises a file that was compressed, packed or converted to text as a whole.
//!
//! ```text
//!  packed       gzip zstd xz bzip2 lz4 zip tar 7z rar   by the magic
//!  text         base64, a hex dump                      by the alphabet of the first lines
//!  converted    UTF-8, CR LF                            binary data with the marks of a conversion
//! ```
//!
//! Further ways (`core/src/transport`) are tried only if a recording comes out.
//!
//! Bytes of a recorder are not valid UTF-8 over thousands of bytes, so all but CR LF is certain.
//! Line ends explain damage; a short recording may have only such ones by chance.

use crate::kit::num::to_u64;
use crate::kit::source::Source;

/// Bytes at the beginning in which the marks of a conversion are counted.
const CONVERTED_WINDOW: u64 = 64 << 10;
/// Bytes at the beginning that have to be of the alphabet of a text.
const TEXT_WINDOW: u64 = 4 << 10;
/// Marks of a conversion that are not there by chance: each has a chance of 1 in 64 at most.
const MARKS: u64 = 8;
/// Control characters that text does not have.
const CONTROLS: u64 = 8;
/// Characters of a text of digits or of base64.
const DIGITS: usize = 64;
/// Bytes of the longest magic.
const MAGIC_MAX: u64 = 8;
/// Place of the magic of a tar archive.
const TAR_MAGIC: u64 = 257;

/// The way in which a whole file was compressed, packed or converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrapper {
    /// A member of gzip.
    Gzip,
    /// A frame of zstd.
    Zstd,
    /// A stream of xz.
    Xz,
    /// A stream of bzip2.
    Bzip2,
    /// A zip archive.
    Zip,
    /// A tar archive.
    Tar,
    /// A frame of LZ4.
    Lz4,
    /// A 7z archive.
    SevenZip,
    /// A RAR archive.
    Rar,
    /// Lines of base64.
    Base64,
    /// Lines of hexadecimal digits, with or without offsets.
    HexDump,
    /// Quoted-printable text.
    QuotedPrintable,
    /// Lines of uuencode.
    Uuencode,
    /// The numbers of an array in C.
    Array,
    /// A string with escapes: JSON, Python, C.
    Escaped,
    /// Bytes that were taken for Latin-1 and converted to UTF-8.
    Utf8,
    /// Bytes that were taken for Windows code page 1252 and converted to UTF-8.
    Windows1252,
    /// Bytes that were taken for code page 437 and converted to UTF-8.
    CodePage437,
    /// Bytes that were taken for Mac OS Roman and converted to UTF-8.
    MacRoman,
    /// Bytes that were taken for UTF-8, and replaced where they are not.
    Utf8Lossy,
    /// Binary data whose line feeds all follow a carriage return.
    CrLf,
    /// The two bytes of each word are exchanged.
    Swapped16,
    /// The four bytes of each word are in the opposite order.
    Swapped32,
    /// Each line has a time stamp before it.
    Stamped,
    /// Lines of text, or the mark of a byte order, are before a recording.
    TextBefore,
    /// Lines of text are after a recording.
    TextAfter,
}

/// Magics at the beginning.
const MAGICS: [(&[u8], Wrapper); 9] = [
    (b"\x1f\x8b", Wrapper::Gzip),
    (b"\x28\xb5\x2f\xfd", Wrapper::Zstd),
    (b"\xfd7zXZ\0", Wrapper::Xz),
    (b"BZh", Wrapper::Bzip2),
    (b"PK\x03\x04", Wrapper::Zip),
    (b"PK\x05\x06", Wrapper::Zip),
    (b"\x04\x22\x4d\x18", Wrapper::Lz4),
    (b"7z\xbc\xaf\x27\x1c", Wrapper::SevenZip),
    (b"Rar!\x1a\x07", Wrapper::Rar),
];

impl Wrapper {
    /// Returns the wrapper of a file; none if it has no mark of one.
    pub fn of(source: &Source<'_>) -> Option<Self> {
        Self::find_packed(source).or_else(|| find_conversion(source))
    }

    /// Returns the wrapper of a file that leaves none of its records readable.
    pub fn certain(source: &Source<'_>) -> Option<Self> {
        Self::of(source).filter(|wrapper| *wrapper != Self::CrLf)
    }

    fn find_packed(source: &Source<'_>) -> Option<Self> {
        let first = source.read(0, TEXT_WINDOW);
        Self::by_magic(source)
            .or_else(|| is_hex_dump(&first).then_some(Self::HexDump))
            .or_else(|| is_base64(&first).then_some(Self::Base64))
    }

    /// Returns the wrapper of a file that was compressed or packed.
    pub fn by_magic(source: &Source<'_>) -> Option<Self> {
        let first = source.read(0, MAGIC_MAX);
        let magic = MAGICS.iter().find(|(magic, _)| first.starts_with(magic));
        let is_tar = || *source.read(TAR_MAGIC, TAR_MAGIC.saturating_add(5)) == *b"ustar";
        magic.map(|(_, wrapper)| *wrapper).or_else(|| is_tar().then_some(Self::Tar))
    }

    /// Every way, in the order of their declaration.
    pub const ALL: &[Self] = &[
        Self::Gzip,
        Self::Zstd,
        Self::Xz,
        Self::Bzip2,
        Self::Zip,
        Self::Tar,
        Self::Lz4,
        Self::SevenZip,
        Self::Rar,
        Self::Base64,
        Self::HexDump,
        Self::QuotedPrintable,
        Self::Uuencode,
        Self::Array,
        Self::Escaped,
        Self::Utf8,
        Self::Windows1252,
        Self::CodePage437,
        Self::MacRoman,
        Self::Utf8Lossy,
        Self::CrLf,
        Self::Swapped16,
        Self::Swapped32,
        Self::Stamped,
        Self::TextBefore,
        Self::TextAfter,
    ];

    /// Returns the word for it in plans.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
            Self::Zip => "zip",
            Self::Tar => "tar",
            Self::Lz4 => "lz4",
            Self::SevenZip => "7z",
            Self::Rar => "rar",
            Self::Base64 => "base64",
            Self::HexDump => "hex-dump",
            Self::QuotedPrintable => "quoted-printable",
            Self::Uuencode => "uuencode",
            Self::Array => "c-array",
            Self::Escaped => "escapes",
            Self::Utf8 => "latin-1-to-utf-8",
            Self::Windows1252 => "windows-1252-to-utf-8",
            Self::CodePage437 => "code-page-437-to-utf-8",
            Self::MacRoman => "mac-roman-to-utf-8",
            Self::Utf8Lossy => "lossy-utf-8",
            Self::CrLf => "lf-to-crlf",
            Self::Swapped16 => "swapped-16",
            Self::Swapped32 => "swapped-32",
            Self::Stamped => "time-stamps",
            Self::TextBefore => "text-before",
            Self::TextAfter => "text-after",
        }
    }

    /// Describes the file: `the file is ...`.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Gzip => "compressed with gzip",
            Self::Zstd => "compressed with zstd",
            Self::Xz => "compressed with xz",
            Self::Bzip2 => "compressed with bzip2",
            Self::Zip => "a zip archive",
            Self::Tar => "a tar archive",
            Self::Lz4 => "compressed with LZ4",
            Self::SevenZip => "a 7z archive",
            Self::Rar => "a RAR archive",
            Self::Base64 => "base64 text",
            Self::HexDump => "a hex dump",
            Self::QuotedPrintable => "quoted-printable text",
            Self::Uuencode => "text of uuencode",
            Self::Array => "an array in C",
            Self::Escaped => "a string with escapes",
            Self::Utf8 => "binary data that was converted from Latin-1 to UTF-8",
            Self::Windows1252 => "binary data that was converted from Windows-1252 to UTF-8",
            Self::CodePage437 => "binary data that was converted from code page 437 to UTF-8",
            Self::MacRoman => "binary data that was converted from Mac OS Roman to UTF-8",
            Self::Utf8Lossy => "binary data whose bytes were replaced where they are not UTF-8",
            Self::CrLf => "binary data whose line ends were converted to CR LF",
            Self::Swapped16 => "binary data whose bytes are exchanged in words of two",
            Self::Swapped32 => "binary data whose bytes are reversed in words of four",
            Self::Stamped => "binary data with a time stamp before each line",
            Self::TextBefore => "a recording after other text",
            Self::TextAfter => "a recording before other text",
        }
    }

    /// Returns what to do next, with the command if one gives the bytes back.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Gzip => "unpack the file, for example: gzip -dc FILE > OUT",
            Self::Zstd => "unpack the file, for example: zstd -dc FILE > OUT",
            Self::Xz => "unpack the file, for example: xz -dc FILE > OUT",
            Self::Bzip2 => "unpack the file, for example: bzip2 -dc FILE > OUT",
            Self::Lz4 => "unpack the file, for example: lz4 -dc FILE > OUT",
            Self::Zip => "unpack the file, for example: unzip -p FILE > OUT",
            Self::Tar => "unpack the file, for example: tar -xOf FILE > OUT",
            Self::SevenZip => "unpack the file, for example: 7z x -so FILE > OUT",
            Self::Rar => "unpack the file, for example: bsdtar -xOf FILE > OUT",
            Self::Base64 => "decode the file, for example: base64 -d FILE > OUT",
            Self::Uuencode => "decode the file, for example: uudecode -o OUT FILE",
            Self::HexDump => {
                "convert the file to binary, for example: xxd -r FILE > OUT (-r -p without offsets)"
            }
            Self::Utf8 => {
                "convert the file back, for example: iconv -f UTF-8 -t ISO-8859-1 FILE > OUT"
            }
            Self::Windows1252 => {
                "convert the file back, for example: iconv -f UTF-8 -t WINDOWS-1252 FILE > OUT"
            }
            Self::CodePage437 => {
                "convert the file back, for example: iconv -f UTF-8 -t IBM437 FILE > OUT"
            }
            Self::MacRoman => {
                "convert the file back, for example: iconv -f UTF-8 -t MACINTOSH FILE > OUT"
            }
            Self::QuotedPrintable
            | Self::Array
            | Self::Escaped
            | Self::Utf8Lossy
            | Self::CrLf
            | Self::Swapped16
            | Self::Swapped32
            | Self::Stamped
            | Self::TextBefore
            | Self::TextAfter => "copy the recording again from its source, as binary data",
        }
    }
}

/// A conversion of binary data that loses bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Bytes that are not UTF-8 became U+FFFD.
    Replaced,
    /// No byte has its highest bit.
    SevenBit,
    /// Bytes that are not ASCII became question marks.
    QuestionMarks,
    /// No byte is 0.
    Zeros,
}

/// Bytes other than 0 of a recording, of which at least one has its highest bit.
const SEVEN_BIT_LEAST: usize = 8 << 10;
/// Bytes of a recording, of which at least one is 0.
const ZEROS_LEAST: usize = 2 << 10;
/// One byte in so many is a question mark if bytes became them.
const QUESTION_MARKS: usize = 20;

impl Loss {
    /// Returns the loss of a recording, by its first bytes.
    pub fn of(source: &Source<'_>) -> Option<Self> {
        let first = source.read(0, CONVERTED_WINDOW);
        let count = |is_such: fn(u8) -> bool| first.iter().filter(|byte| is_such(**byte)).count();
        let filled = count(|byte| byte != 0);
        let is_control = |byte: u8| byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r');
        if to_u64(count(is_control)) < CONTROLS {
            // Text, such as JSON, has no such bytes.
            return None;
        }
        if find_utf8(&first) == Some(Wrapper::Utf8Lossy) {
            Some(Self::Replaced)
        } else if filled >= SEVEN_BIT_LEAST && first.is_ascii() {
            let marks = count(|byte| byte == b'?');
            let are_marks = marks.saturating_mul(QUESTION_MARKS) >= filled;
            Some(if are_marks { Self::QuestionMarks } else { Self::SevenBit })
        } else {
            (first.len() >= ZEROS_LEAST && filled == first.len()).then_some(Self::Zeros)
        }
    }

    /// Describes the loss: `... on the way`.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Replaced => "bytes that are not UTF-8 were replaced by U+FFFD",
            Self::SevenBit => "the highest bit of each byte was lost",
            Self::QuestionMarks => "bytes that are not ASCII were replaced by question marks",
            Self::Zeros => "all bytes of the value 0 were removed",
        }
    }
}

/// Returns whether text begins like a dump of xxd, hexdump or od, or has digits alone.
fn is_hex_dump(first: &[u8]) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_hexdigit();
    let is_plain = |byte: &u8| is_digit(byte) || matches!(byte, b'\n' | b'\r' | b' ');
    let digits = first.iter().filter(|byte| is_digit(byte)).count();
    if digits >= DIGITS && first.iter().all(is_plain) {
        return true;
    }
    let line = first.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let offset = words.next().unwrap_or_default();
    let offset = offset.strip_suffix(b":").unwrap_or(offset);
    let is_offset = offset.len() >= 6 && offset.iter().all(|byte| *byte == b'0');
    let is_group = |word: &&[u8]| {
        word.len().is_multiple_of(2) && word.iter().all(is_digit)
            || word.len() == 6 && word.iter().all(u8::is_ascii_digit)
    };
    is_offset && words.take_while(is_group).count() >= 4
}

/// Returns whether text has lines of base64, all of one length but for the last.
fn is_base64(first: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let mut lines = first.split(|byte| *byte == b'\n');
    let mut lines_of = || lines.next().map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let length = match lines_of() {
        Some(line) if line.iter().all(is_letter) => line.len(),
        _ => return false,
    };
    let mut is_last = false;
    while let Some(line) = lines_of() {
        if !line.iter().all(is_letter) || is_last && !line.is_empty() {
            return false;
        }
        is_last = line.len() < length;
    }
    length >= DIGITS
}

/// Finds the marks of a conversion in binary data.
fn find_conversion(source: &Source<'_>) -> Option<Wrapper> {
    let first = source.read(0, CONVERTED_WINDOW);
    let converted = find_utf8(&first);
    let lines = to_u64(first.iter().filter(|byte| **byte == b'\n').count());
    let pairs = to_u64(first.windows(2).filter(|pair| pair == b"\r\n").count());
    let has_line_ends = lines >= MARKS && lines == pairs;
    let converted = converted.or_else(|| has_line_ends.then_some(Wrapper::CrLf))?;
    let is_control = |byte: &&u8| **byte < b' ' && !matches!(**byte, b'\t' | b'\n' | b'\r');
    let is_binary = to_u64(first.iter().filter(is_control).count()) >= CONTROLS;
    is_binary.then_some(converted)
}

fn find_utf8(first: &[u8]) -> Option<Wrapper> {
    let text = match std::str::from_utf8(first) {
        Ok(text) => text,
        // The window may end within a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(first.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    let (mut latin, mut replaced, mut other) = (0_u64, 0_u64, 0_u64);
    for character in text.chars().filter(|character| !character.is_ascii()) {
        let count = match character {
            '\u{80}'..='\u{ff}' => &mut latin,
            char::REPLACEMENT_CHARACTER => &mut replaced,
            _ => &mut other,
        };
        *count = count.saturating_add(1);
    }
    if replaced >= MARKS {
        Some(Wrapper::Utf8Lossy)
    } else {
        (latin >= MARKS && replaced == 0 && other == 0).then_some(Wrapper::Utf8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Option<Wrapper> {
        Wrapper::of(&Source::new(bytes))
    }

    /// Binary data with every byte, in lines.
    fn binary() -> Vec<u8> {
        (0..4096_u32).map(|number| number.wrapping_mul(0x9e37_79b9).to_be_bytes()[0]).collect()
    }

    #[test]
    fn text_that_stands_for_bytes_is_recognised() {
        let base64 = [&b"UEVSRklMRTJo".repeat(6)[..], b"\n"].concat().repeat(3);
        assert_eq!(of(&base64), Some(Wrapper::Base64));
        assert_eq!(of(&[base64, b"UEU=\n".to_vec()].concat()), Some(Wrapper::Base64));
        assert_eq!(of(&b"5045 5246 494c 4532 ".repeat(9)), Some(Wrapper::HexDump));
        for line in [
            &b"00000000: 5045 5246 494c 4532 6800 0000  PERFILE2h...\n"[..],
            b"00000000  50 45 52 46 49 4c 45 32  68 00 00 00 |PERFILE2h...|\n",
            b"0000000 042520 043122 046111 031105 000150\n",
        ] {
            assert_eq!(of(line), Some(Wrapper::HexDump));
        }
        for text in [&b"The first line of a text file.\n"[..], b"", b"0000000\n", b"abc\n"] {
            assert_eq!(of(text), None);
        }
    }

    #[test]
    fn a_conversion_of_binary_data_is_recognised() {
        let bytes = binary();
        assert_eq!(of(&bytes), None);
        let latin: String = bytes.iter().copied().map(char::from).collect();
        assert_eq!(of(latin.as_bytes()), Some(Wrapper::Utf8));
        let lossy = String::from_utf8_lossy(&bytes);
        assert_eq!(of(lossy.as_bytes()), Some(Wrapper::Utf8Lossy));
        let lines = bytes.iter().flat_map(|byte| match byte {
            b'\n' => vec![b'\r', b'\n'],
            other => vec![*other],
        });
        assert_eq!(of(&lines.collect::<Vec<u8>>()), Some(Wrapper::CrLf));
    }

    #[test]
    fn packed_files_are_recognised_by_their_magic() {
        for (magic, wrapper) in MAGICS {
            assert_eq!(of(&[magic, &[0; 9]].concat()), Some(wrapper));
        }
        let mut archive = [0; 512];
        archive[257..262].copy_from_slice(b"ustar");
        assert_eq!(of(&archive), Some(Wrapper::Tar));
    }
}
