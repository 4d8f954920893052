//! The ways in which a file may have been wrapped or converted, and the bytes that were there
//! before.

use std::io::Read;

use super::converted::{
    CharacterSet, FromCrLf, FromUtf8, Swapped, ToCrLf, ToUtf8, Unstamped, find_stamp,
};
use super::escaped::{FromEscapes, find_string};
use super::hexdump::{self, FromDump};
use super::packed;
use super::reader::{Converted, SourceReader, head_of};
use super::text::{
    FromArray, FromBase64, FromQuoted, FromUuencode, find_array, find_base64, find_uuencode,
    is_quoted,
};
use crate::catalogue;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::wrapper::Wrapper;

/// Bytes at the beginning that show the way.
pub(super) const HEAD: u64 = 16 << 10;
/// Bytes with which a recording or a packed file begins, at most; the magic of tar is the last.
const FIRST: u64 = 512;
/// Bytes at the beginning in which a conversion of all bytes shows.
const WINDOW: u64 = 64 << 10;
/// Lines before a recording.
const LINES_MAX: usize = 64;
/// Bytes of text after a recording, at least: a recording ends in some by chance.
const ENDING_LEAST: usize = 16;
/// Bytes of a recording before that text that may be characters.
const STRAY_MAX: usize = 8;
/// Marks of the order of bytes in UTF-8 and UTF-16.
const MARKS: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
/// Characters that are not ASCII, at least, of a file that was converted to UTF-8.
const CHARACTERS_LEAST: usize = 8;
/// Bytes by which a file is longer in UTF-8, at least, if it shows by itself that it was converted:
/// names in a recording have fewer such characters.
const CHARACTERS_SURE: u64 = 128;
/// Line feeds that show by themselves that line ends were converted, if each of them follows a
/// carriage return.
const LINE_ENDS_SURE: u64 = 2;

/// Returns whether bytes are those with which recordings of a format or packed files begin. It is a
/// comparison: trial decoding of each file of a folder would take longer than its check.
pub(super) fn begins(first: &[u8]) -> bool {
    catalogue::begins(first) || Wrapper::by_magic(&Source::new(first)).is_some()
}

/// Returns the ways in which a file may have been wrapped or converted, by its first bytes. A way
/// is likely only if a recording comes out.
pub(super) fn find(source: &Source<'_>) -> Vec<Wrapper> {
    let first = source.read(0, HEAD);
    if is_text(&first) {
        return find_texts(&first);
    }
    let mut ways: Vec<Wrapper> = Wrapper::by_magic(source).into_iter().collect();
    ways.extend(find_changes(source));
    let swapped = |way: &Wrapper| {
        let start = source.read(0, FIRST);
        let head = open(*way, &Source::new(&start)).map(|stream| head_of(stream, FIRST));
        head.is_some_and(|head| begins(&head))
    };
    ways.extend([Wrapper::Swapped16, Wrapper::Swapped32].into_iter().filter(swapped));
    ways
}

/// Returns the changes of binary data: text in it, and conversions of all bytes.
fn find_changes(source: &Source<'_>) -> Vec<Wrapper> {
    let mut ways = Vec::new();
    if find_start(source).is_some() {
        ways.push(Wrapper::TextBefore);
    }
    if find_stamp(&source.read(0, WINDOW)).is_some() {
        ways.push(Wrapper::Stamped);
    }
    // Characters that are not ASCII need no escape in JSON.
    if find_string(&source.read(0, HEAD)).is_some() {
        ways.push(Wrapper::Escaped);
    }
    ways.extend(find_conversions(source));
    if find_end(source).is_some() {
        ways.push(Wrapper::TextAfter);
    }
    ways
}

fn is_text(first: &[u8]) -> bool {
    !first.is_empty() && first.iter().all(|byte| is_text_byte(*byte))
}

const fn is_text_byte(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t' | b'\r' | b'\n')
}

/// Returns the texts that bytes may be.
fn find_texts(first: &[u8]) -> Vec<Wrapper> {
    let found = [
        (Wrapper::Uuencode, find_uuencode(first).is_some()),
        (Wrapper::HexDump, hexdump::find_style(first).is_some()),
        (Wrapper::Array, find_array(first).is_some()),
        (Wrapper::QuotedPrintable, is_quoted(first)),
        (Wrapper::Escaped, find_string(first).is_some()),
        (Wrapper::Base64, find_base64(first).is_some()),
    ];
    found.into_iter().filter(|(_, fits)| *fits).map(|(way, _)| way).collect()
}

/// Returns where a recording begins after a mark of a byte order or after lines of text: after the
/// first of them that the beginning of a recording or of a packed file follows.
fn find_start(source: &Source<'_>) -> Option<u64> {
    let first = source.read(0, HEAD);
    let marks = MARKS.iter().filter(|mark| first.starts_with(mark)).map(|mark| mark.len());
    let text = first.iter().take_while(|byte| is_text_byte(**byte)).count();
    let line_ends = memchr::memchr_iter(b'\n', &first).map(|at| at.saturating_add(1));
    let line_ends = line_ends.take_while(|at| *at <= text).take(LINES_MAX);
    let follows = |at: &usize| begins(first.get(*at..).unwrap_or_default());
    // A recording that begins with its magic has a line end in it by chance.
    let start = marks.chain(line_ends).find(follows).filter(|_| !begins(&first));
    start.map(to_u64)
}

/// Returns where a recording ends before lines of text, if it does.
fn find_end(source: &Source<'_>) -> Option<u64> {
    let from = source.len().saturating_sub(HEAD);
    let last = source.read(from, source.len());
    let text = last.iter().rev().take_while(|byte| is_text_byte(**byte)).count();
    let text = last.get(last.len().saturating_sub(text)..).unwrap_or_default();
    // END of QEMU and the last byte of a number are characters as well.
    let mut starts = (0..=STRAY_MAX).filter_map(|stray| text.get(stray..));
    let text = starts.find(|text| is_line_start(text)).unwrap_or(text);
    let has_lines = text.ends_with(b"\n") && text.len() >= ENDING_LEAST;
    let letters = text.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let is_end = has_lines && letters.saturating_mul(2) > text.len() && text.len() < last.len();
    is_end.then(|| source.len().saturating_sub(to_u64(text.len())))
}

/// Returns whether text begins with a word, or with a sign before which lines have nothing.
fn is_line_start(text: &[u8]) -> bool {
    let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let signs: [&[u8]; 7] = [b"[", b"* ", b"--", b"<", b"#", b"\n", b"\r\n"];
    letters >= 2 || signs.iter().any(|sign| text.starts_with(sign))
}

/// Returns the conversions of all bytes that may leave the first ones as they are.
fn find_conversions(source: &Source<'_>) -> Vec<Wrapper> {
    let first = source.read(0, WINDOW);
    let mut ways = find_character_sets(&first);
    let mut line_ends = memchr::memchr_iter(b'\n', &first).peekable();
    let follows_cr = |at: usize| at.checked_sub(1).and_then(|at| first.get(at)) == Some(&b'\r');
    if line_ends.peek().is_some() && line_ends.all(follows_cr) {
        ways.push(Wrapper::CrLf);
    }
    ways
}

/// Returns the character sets for which all bytes may have been taken.
fn find_character_sets(first: &[u8]) -> Vec<Wrapper> {
    let text = match std::str::from_utf8(first) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            let valid = first.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(valid).unwrap_or_default()
        }
        Err(_) => return Vec::new(),
    };
    let high: Vec<char> = text.chars().filter(|character| !character.is_ascii()).collect();
    if high.len() < CHARACTERS_LEAST {
        return Vec::new();
    }
    let ways = [Wrapper::Utf8, Wrapper::Windows1252, Wrapper::CodePage437, Wrapper::MacRoman];
    let fits = |way: &Wrapper| {
        character_set(*way).is_some_and(|set| {
            let all = set.high();
            high.iter().all(|character| all.contains(character))
        })
    };
    ways.into_iter().filter(fits).collect()
}

const fn character_set(way: Wrapper) -> Option<CharacterSet> {
    match way {
        Wrapper::Utf8 => Some(CharacterSet::Latin1),
        Wrapper::Windows1252 => Some(CharacterSet::Windows1252),
        Wrapper::CodePage437 => Some(CharacterSet::CodePage437),
        Wrapper::MacRoman => Some(CharacterSet::MacRoman),
        _ => None,
    }
}

/// Returns whether all bytes were taken for characters and converted to UTF-8.
pub(super) const fn is_of_characters(way: Wrapper) -> bool {
    character_set(way).is_some()
}

/// Returns how many bytes a conversion has to have added to show by itself.
pub(super) const fn least_dropped(way: Wrapper) -> u64 {
    if is_of_characters(way) { CHARACTERS_SURE } else { LINE_ENDS_SURE }
}

/// Returns whether a way leaves no doubt about the bytes that were there before, and has a way
/// back: the same bytes give the same file again.
pub(super) const fn is_conversion(way: Wrapper) -> bool {
    matches!(way, Wrapper::CrLf | Wrapper::Swapped16 | Wrapper::Swapped32) || is_of_characters(way)
}

/// Returns whether a tool may have changed the recording in this way and in another one: line ends
/// that were CR LF before stay so in some conversions, and become LF in quoted-printable.
pub(super) const fn needs_proof(way: Wrapper) -> bool {
    matches!(way, Wrapper::CrLf | Wrapper::QuotedPrintable)
}

/// Returns the bytes that were there before a file was wrapped or converted; `None` if it is an
/// archive, if the way has no way back, or if the file does not begin so.
pub(super) fn open<'s>(way: Wrapper, source: &Source<'s>) -> Option<Box<dyn Read + 's>> {
    let first = || source.read(0, HEAD);
    let from = |at: usize| SourceReader::new(source.clone(), to_u64(at));
    let swapped = |width| Converted::new(from(0), Swapped { width, word: Vec::new() });
    if let Some(set) = character_set(way) {
        return Some(Box::new(Converted::new(from(0), FromUtf8::new(set))));
    }
    Some(match way {
        Wrapper::Gzip => Box::new(packed::gzip(source.clone())),
        Wrapper::Zstd => Box::new(packed::zstd(source.clone())),
        Wrapper::Xz => Box::new(packed::xz(source.clone())),
        Wrapper::Bzip2 => Box::new(packed::bzip2(source.clone())),
        Wrapper::Lz4 => Box::new(packed::lz4(source.clone())),
        Wrapper::Base64 => {
            Box::new(Converted::new(from(find_base64(&first())?), FromBase64::default()))
        }
        Wrapper::HexDump => {
            Box::new(Converted::new(from(0), FromDump::new(hexdump::find_style(&first())?)))
        }
        Wrapper::QuotedPrintable => Box::new(Converted::new(from(0), FromQuoted::default())),
        Wrapper::Uuencode => {
            Box::new(Converted::new(from(find_uuencode(&first())?), FromUuencode::default()))
        }
        Wrapper::Array => {
            Box::new(Converted::new(from(find_array(&first())?), FromArray::default()))
        }
        Wrapper::Escaped => {
            let (start, quote) = find_string(&first())?;
            Box::new(Converted::new(from(start), FromEscapes::new(quote)))
        }
        Wrapper::CrLf => Box::new(Converted::new(from(0), FromCrLf::default())),
        Wrapper::Swapped16 => Box::new(swapped(2)),
        Wrapper::Swapped32 => Box::new(swapped(4)),
        Wrapper::Stamped => {
            Box::new(Converted::new(from(0), Unstamped::new(find_stamp(&source.read(0, WINDOW))?)))
        }
        Wrapper::TextBefore => Box::new(SourceReader::new(source.clone(), find_start(source)?)),
        Wrapper::TextAfter => Box::new(from(0).take(find_end(source)?)),
        _ => return None,
    })
}

/// Returns a file as it arrives in a way; `None` if the way has no way back.
pub(super) fn close<'s>(way: Wrapper, source: &Source<'s>) -> Option<Box<dyn Read + 's>> {
    let input = SourceReader::new(source.clone(), 0);
    if let Some(set) = character_set(way) {
        return Some(Box::new(Converted::new(input, ToUtf8(set.high()))));
    }
    match way {
        Wrapper::CrLf => Some(Box::new(Converted::new(input, ToCrLf))),
        Wrapper::Swapped16 | Wrapper::Swapped32 => open(way, source),
        _ => None,
    }
}
