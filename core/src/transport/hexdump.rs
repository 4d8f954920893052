//! Dumps of bytes as numbers: xxd, hexdump, od, and digits alone.
//!
//! ```text
//!  xxd            00000000: 5045 5246 494c 4532  PERFILE2
//!  hexdump -C     00000000  50 45 52 46 49 4c 45 32  |PERFILE2|
//!  hexdump        0000000 4550 4652 4c49 3245             words of the machine
//!  od             0000000 042520 043122 046111 031105    words of the machine, octal
//!  od -An -tx1     50 45 52 46 49 4c 45 32
//!  xxd -p         504552464c4532
//! ```
//!
//! A line `*` stands for lines like the one before. The last line of hexdump and od is the length.

use std::io;

use super::reader::{Converter, malformed};
use super::text::byte_of;
use crate::kit::num::to_u64;

/// Characters of a line with an offset.
const LINE_MAX: usize = 512;
/// Bytes of a line that are looked at, and of one of `xxd -c 256`.
const BYTES_MAX: usize = 256;
/// Digits of an offset, at least.
const OFFSET_LEAST: usize = 6;
/// Words of the first line, at least.
const WORDS_LEAST: usize = 4;

/// The form of the numbers in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Digits alone, in any groups.
    Digits,
    /// Groups of bytes, after an offset with a colon, before a text after two spaces.
    Groups,
    /// Bytes after an offset.
    Bytes,
    /// Words of two bytes, the low byte first, after an offset.
    Words,
    /// The same in octal.
    OctalWords,
}

/// The way in which a dump is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    form: Form,
    /// Base of the offsets.
    base: u32,
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let parts = line.split(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
    parts.filter(|word| !word.is_empty())
}

fn number(word: &[u8], base: u32) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(word).ok()?, base).ok()
}

/// Returns the style of a dump by its first lines; `None` if they are none.
pub(super) fn find_style(first: &[u8]) -> Option<Style> {
    let mut lines = first.split(|byte| *byte == b'\n');
    let line = lines.next()?;
    let is_hex = |word: &&[u8]| word.iter().all(u8::is_ascii_hexdigit);
    let offset = words(line).next()?;
    let form = if let Some(offset) = offset.strip_suffix(b":") {
        (offset.len() >= OFFSET_LEAST && is_hex(&offset)).then_some(Form::Groups)?
    } else if offset.len() >= OFFSET_LEAST && offset.iter().all(|byte| *byte == b'0') {
        let all: Vec<&[u8]> = words(line).skip(1).take(WORDS_LEAST).collect();
        let is_of = |len: usize| all.iter().all(|word| word.len() == len && is_hex(word));
        match all.len() {
            WORDS_LEAST if is_of(2) => Form::Bytes,
            WORDS_LEAST if is_of(4) => Form::Words,
            WORDS_LEAST if is_of(6) => Form::OctalWords,
            _ => Form::Digits,
        }
    } else {
        Form::Digits
    };
    if form == Form::Digits {
        let is_plain = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b' ' | b'\r' | b'\n');
        let digits = first.iter().filter(|byte| byte.is_ascii_hexdigit()).count();
        let is_dump =
            digits >= OFFSET_LEAST.saturating_mul(WORDS_LEAST) && first.iter().all(is_plain);
        return is_dump.then_some(Style { form, base: 16 });
    }
    let style = |base| Style { form, base };
    let mut bytes = Vec::new();
    style(16).decode(line, &mut bytes).ok()?;
    // The second offset is the number of bytes in the first line, in one of the bases.
    let next = lines.next().and_then(|line| words(line).next());
    let next = next.map(|word| word.strip_suffix(b":").unwrap_or(word));
    let fits = |base: &u32| {
        let next = next.and_then(|next| number(next, *base));
        next == Some(to_u64(bytes.len()))
    };
    // After the first line there may be `*`.
    Some(style([16, 8, 10].into_iter().find(fits).unwrap_or(16)))
}

impl Style {
    /// Appends the bytes of a line, and returns its offset if it has one.
    fn decode(self, line: &[u8], out: &mut Vec<u8>) -> io::Result<Option<u64>> {
        if self.form == Form::Digits {
            return Ok(None);
        }
        let mut all = words(line);
        let Some(offset) = all.next() else { return Ok(None) };
        let offset = offset.strip_suffix(b":").unwrap_or(offset);
        let offset = number(offset, self.base).ok_or_else(|| malformed("a line has no offset"))?;
        // The text begins after two spaces, and after a bar.
        let numbers = match self.form {
            Form::Groups => {
                let start = line.iter().position(|byte| *byte == b':').unwrap_or(0);
                let body = line.get(start.saturating_add(2)..).unwrap_or_default();
                let end = body.windows(2).position(|pair| pair == b"  ").unwrap_or(body.len());
                body.get(..end).unwrap_or_default()
            }
            _ => {
                let start = line.iter().position(|byte| matches!(byte, b' ' | b'\t'));
                let body = line.get(start.unwrap_or(line.len())..).unwrap_or_default();
                body.split(|byte| matches!(byte, b'|' | b'>')).next().unwrap_or_default()
            }
        };
        let before = out.len();
        for word in words(numbers) {
            self.push(word, out)?;
        }
        match out.len().saturating_sub(before) <= BYTES_MAX {
            true => Ok(Some(offset)),
            false => Err(malformed("a line is too long")),
        }
    }

    fn push(self, word: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        match self.form {
            Form::Words | Form::OctalWords => {
                let base = if self.form == Form::Words { 16 } else { 8 };
                let value = number(word, base).and_then(|value| u16::try_from(value).ok());
                let value = value.ok_or_else(|| malformed("a word has no two bytes"))?;
                out.extend(value.to_le_bytes());
            }
            Form::Digits | Form::Groups | Form::Bytes => {
                for pair in word.chunks(2) {
                    let [high, low] = *pair else { return Err(malformed("a byte has one digit")) };
                    out.push(byte_of(high, low)?);
                }
            }
        }
        Ok(())
    }
}

/// Decodes a dump.
pub(super) struct FromDump {
    style: Style,
    /// The line so far; of digits alone, the first of two.
    line: Vec<u8>,
    /// The bytes of the last line, which wait for the next one.
    last: Vec<u8>,
    /// Bytes that were decoded.
    len: u64,
    /// Whether `*` stands for lines up to the next offset.
    repeats: bool,
    /// Bytes that all `*` may still stand for.
    left: u64,
}

impl FromDump {
    pub(super) const fn new(style: Style) -> Self {
        Self {
            style,
            line: Vec::new(),
            last: Vec::new(),
            len: 0,
            repeats: false,
            left: REPEATED_MAX,
        }
    }

    fn decode(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii() == b"*" {
            self.repeats = true;
            return Ok(());
        }
        let mut bytes = Vec::new();
        let Some(offset) = self.style.decode(&line, &mut bytes)? else { return Ok(()) };
        if self.repeats {
            self.repeat(offset, out)?;
        }
        if bytes.is_empty() && self.len.saturating_sub(offset) == 1 && self.last.pop().is_some() {
            // The last word of od has a byte more than the file.
            self.len = offset;
        }
        if self.len != offset {
            return Err(malformed("an offset does not follow the one before"));
        }
        self.len = self.len.saturating_add(to_u64(bytes.len()));
        out.append(&mut std::mem::replace(&mut self.last, bytes));
        Ok(())
    }

    /// Repeats the last line up to an offset.
    fn repeat(&mut self, until: u64, out: &mut Vec<u8>) -> io::Result<()> {
        self.repeats = false;
        let more = self.left.checked_sub(until.saturating_sub(self.len));
        self.left = more.ok_or_else(|| malformed("a line is repeated too often"))?;
        while self.len < until && !self.last.is_empty() {
            out.extend_from_slice(&self.last);
            self.len = self.len.saturating_add(to_u64(self.last.len()));
        }
        Ok(())
    }
}

/// Bytes that all `*` of a dump stand for, at most: they are made at once, and a line takes 11
/// bytes.
const REPEATED_MAX: u64 = 16 << 20;

impl Converter for FromDump {
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        for byte in input {
            if self.style.form == Form::Digits {
                match (byte.is_ascii_hexdigit(), self.line.pop()) {
                    (true, Some(high)) => out.push(byte_of(high, *byte)?),
                    (true, None) => self.line.push(*byte),
                    (false, None) if byte.is_ascii_whitespace() => {}
                    _ => return Err(malformed("two digits are not hexadecimal")),
                }
                continue;
            }
            match byte {
                b'\n' => self.decode(out)?,
                _ if self.line.len() < LINE_MAX => self.line.push(*byte),
                _ => return Err(malformed("a line is too long")),
            }
        }
        Ok(true)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        match self.line.is_empty() {
            false if self.style.form == Form::Digits => {
                return Err(malformed("a byte has one digit"));
            }
            false => self.decode(out)?,
            true => {}
        }
        out.append(&mut self.last);
        Ok(())
    }
}
