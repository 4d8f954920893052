//! Conversions of all bytes of a file: character sets, line ends, the order of bytes in words, time
//! stamps before lines.

use std::io;

use super::reader::{Converter, malformed};

/// Windows code page 1252, from 80 to 9F; after that it is Latin-1.
const WINDOWS_1252: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";
/// IBM code page 437, from 80 on.
const CODE_PAGE_437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
                             └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";
/// Mac OS Roman, from 80 on.
const MAC_ROMAN: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»\
                         …\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";
/// First byte that is not ASCII.
const HIGH: u8 = 0x80;

/// A set of 256 characters that bytes were taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharacterSet {
    Latin1,
    Windows1252,
    CodePage437,
    MacRoman,
}

impl CharacterSet {
    /// Returns the characters of the bytes from 80 on.
    pub(super) fn high(self) -> Vec<char> {
        let latin = |from: u8| (from..=u8::MAX).map(char::from);
        match self {
            Self::Latin1 => latin(HIGH).collect(),
            Self::Windows1252 => WINDOWS_1252.chars().chain(latin(0xa0)).collect(),
            Self::CodePage437 => CODE_PAGE_437.chars().collect(),
            Self::MacRoman => MAC_ROMAN.chars().collect(),
        }
    }
}

/// Takes UTF-8 back to the bytes that were taken for a character set.
pub(super) struct FromUtf8 {
    /// The characters of the set with their bytes, in order.
    bytes: Vec<(char, u8)>,
    /// A character that is not complete yet.
    partial: Vec<u8>,
}

impl FromUtf8 {
    pub(super) fn new(set: CharacterSet) -> Self {
        let mut bytes: Vec<(char, u8)> = set.high().into_iter().zip(HIGH..=u8::MAX).collect();
        bytes.sort_unstable();
        Self { bytes, partial: Vec::new() }
    }

    fn push(&self, text: &str, out: &mut Vec<u8>) -> io::Result<()> {
        for character in text.chars() {
            if character.is_ascii() {
                out.extend(u8::try_from(character));
                continue;
            }
            let found = self.bytes.binary_search_by_key(&character, |(one, _)| *one);
            let found = found.ok().and_then(|at| self.bytes.get(at));
            let (_, byte) = found.ok_or_else(|| malformed("a character is not in the set"))?;
            out.push(*byte);
        }
        Ok(())
    }
}

impl Converter for FromUtf8 {
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        self.partial.extend_from_slice(input);
        let whole = std::mem::take(&mut self.partial);
        let text = match std::str::from_utf8(&whole) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() => {
                let (text, rest) = whole.split_at_checked(error.valid_up_to()).unwrap_or_default();
                self.partial = rest.to_vec();
                std::str::from_utf8(text).unwrap_or_default()
            }
            Err(_) => return Err(malformed("it is not UTF-8")),
        };
        self.push(text, out).map(|()| true)
    }

    fn finish(&mut self, _out: &mut Vec<u8>) -> io::Result<()> {
        match self.partial.is_empty() {
            true => Ok(()),
            false => Err(malformed("the last character is cut")),
        }
    }
}

/// Takes CR LF back to LF.
#[derive(Default)]
pub(super) struct FromCrLf {
    /// Whether the byte before is a CR that is not written yet.
    has_cr: bool,
}

impl Converter for FromCrLf {
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        for byte in input {
            match (*byte, self.has_cr) {
                (b'\n', false) => return Err(malformed("a line feed has no carriage return")),
                (b'\n', true) | (_, false) => {}
                (_, true) => out.push(b'\r'),
            }
            self.has_cr = *byte == b'\r';
            if !self.has_cr {
                out.push(*byte);
            }
        }
        Ok(true)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        out.extend(self.has_cr.then_some(b'\r'));
        Ok(())
    }
}

/// Swaps the bytes of each word. Bytes after the last whole word stay.
pub(super) struct Swapped {
    pub(super) width: usize,
    pub(super) word: Vec<u8>,
}

impl Converter for Swapped {
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        for byte in input {
            self.word.push(*byte);
            if self.word.len() == self.width {
                out.extend(self.word.drain(..).rev());
            }
        }
        Ok(true)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        out.append(&mut self.word);
        Ok(())
    }
}

/// Most bytes before a line.
const STAMP_MAX: usize = 64;
/// Digits of a time.
const STAMP_DIGITS: usize = 6;
/// Lines by which a stamp is told from the bytes after it.
const STAMPED_LINES: usize = 4;

/// The shape of a byte of a stamp: one digit is like another.
const fn shape(byte: u8) -> u8 {
    if byte.is_ascii_digit() { b'0' } else { byte }
}

/// Returns the shape of the stamps before all lines that begin in `first`, if they have one.
pub(super) fn find_stamp(first: &[u8]) -> Option<Vec<u8>> {
    let mut lines = first.split(|byte| *byte == b'\n');
    let line = lines.next()?;
    let is_printable = |byte: &&u8| matches!(**byte, b' '..=b'~' | b'\t');
    let mut stamp: Vec<u8> =
        line.iter().take(STAMP_MAX).take_while(is_printable).map(|byte| shape(*byte)).collect();
    let digits = |stamp: &[u8]| stamp.iter().filter(|byte| **byte == b'0').count();
    if digits(&stamp) < STAMP_DIGITS {
        return None;
    }
    let mut count = 1_usize;
    // The last one may be cut.
    let last = first.rsplit(|byte| *byte == b'\n').next()?.len();
    for line in lines.filter(|line| line.len() > STAMP_MAX || line.len() != last) {
        let equal = stamp.iter().zip(line).take_while(|(one, two)| **one == shape(**two)).count();
        stamp.truncate(equal);
        count = count.saturating_add(1);
    }
    let end = stamp.iter().rposition(|byte| matches!(byte, b' ' | b'\t' | b']' | b':'))?;
    stamp.truncate(end.saturating_add(1));
    (digits(&stamp) >= STAMP_DIGITS && count >= STAMPED_LINES).then_some(stamp)
}

/// Takes the stamp from the beginning of each line.
pub(super) struct Unstamped {
    stamp: Vec<u8>,
    /// Bytes of the stamp of this line that were read; its length and more in the line itself.
    read: usize,
}

impl Unstamped {
    pub(super) const fn new(stamp: Vec<u8>) -> Self {
        Self { stamp, read: 0 }
    }
}

impl Converter for Unstamped {
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        for byte in input {
            match self.stamp.get(self.read) {
                Some(expected) if shape(*byte) == *expected => {
                    self.read = self.read.saturating_add(1);
                }
                Some(_) => return Err(malformed("a line has no time stamp")),
                None => {
                    out.push(*byte);
                    if *byte == b'\n' {
                        self.read = 0;
                    }
                }
            }
        }
        Ok(true)
    }
}

/// Takes bytes for a character set, and converts them to UTF-8.
pub(super) struct ToUtf8(pub(super) Vec<char>);

impl Converter for ToUtf8 {
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        for byte in input {
            let high = byte.checked_sub(HIGH).and_then(|at| self.0.get(usize::from(at)));
            let character = high.copied().unwrap_or(char::from(*byte));
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Ok(true)
    }
}

/// Puts a CR before each LF.
pub(super) struct ToCrLf;

impl Converter for ToCrLf {
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        for byte in input {
            out.extend((*byte == b'\n').then_some(b'\r'));
            out.push(*byte);
        }
        Ok(true)
    }
}
