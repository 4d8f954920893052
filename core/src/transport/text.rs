//! Bytes that stand in a text: base64, quoted-printable, uuencode, an array in C.

use std::io;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::reader::{Converter, malformed};

/// Letters of a line of base64, at least: words of other texts are shorter.
const LETTERS_LEAST: usize = 24;
/// Letters of base64 in a string or an element, at least: names and paths are shorter.
const INNER_LETTERS_LEAST: usize = 64;
/// Letters that stand for three bytes.
const GROUP: usize = 4;
/// Groups that are decoded at a time.
const GROUPS: usize = 1_024;
/// Escapes of quoted-printable in the first bytes, at least.
const ESCAPES_LEAST: usize = 8;

/// Base64 with or without padding.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn is_printable(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' '..=b'~') || is_space(*byte))
}

/// Returns where base64 begins: at its first line, after those of a mail or of `uuencode -m`, after
/// the head of a `data:` address, or in a string of JSON or an element of XML.
pub(super) fn find_base64(first: &[u8]) -> Option<usize> {
    let text = first.split(|byte| *byte == b'\n').next()?;
    if text.starts_with(b"data:") {
        let comma = text.iter().position(|byte| *byte == b',')?;
        return text.get(..comma)?.ends_with(b";base64").then_some(comma.saturating_add(1));
    }
    let mut at = 0_usize;
    for line in first.split(|byte| *byte == b'\n') {
        let text = line.strip_suffix(b"\r").unwrap_or(line);
        let letters = text.iter().take_while(|byte| is_letter(**byte)).count();
        let padding = text.get(letters..).unwrap_or_default();
        if letters >= LETTERS_LEAST
            && padding.len() < GROUP
            && padding.iter().all(|one| *one == b'=')
        {
            return Some(at);
        }
        if !is_printable(line) {
            return None;
        }
        if let Some(start) = find_inner_base64(line) {
            return Some(at.saturating_add(start));
        }
        at = at.saturating_add(line.len()).saturating_add(1);
    }
    None
}

/// Returns where base64 begins after a quote or a tag in a line.
fn find_inner_base64(line: &[u8]) -> Option<usize> {
    let mut starts = memchr::memchr3_iter(b'"', b'\'', b'>', line).map(|at| at.saturating_add(1));
    starts.find(|start| {
        let rest = line.get(*start..).unwrap_or_default();
        rest.iter().take_while(|byte| is_letter(**byte)).count() >= INNER_LETTERS_LEAST
    })
}

/// Decodes base64 of both alphabets, up to its padding or the first line of something else.
#[derive(Default)]
pub(super) struct FromBase64 {
    letters: Vec<u8>,
    /// Whether the byte before is a line end.
    begins_line: bool,
    /// A dash that begins a line: with another one, it is the end of a part of a mail.
    has_dash: bool,
}

impl FromBase64 {
    fn decode(&mut self, until: usize, out: &mut Vec<u8>) -> io::Result<()> {
        let letters: Vec<u8> = self.letters.drain(..until).collect();
        ENGINE.decode_vec(letters, out).map_err(|_| malformed("the base64 is cut"))
    }
}

impl Converter for FromBase64 {
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        for byte in input {
            if std::mem::take(&mut self.has_dash) {
                if *byte == b'-' {
                    return self.finish(out).map(|()| false);
                }
                self.letters.push(b'+');
            }
            match byte {
                b'-' if self.begins_line => self.has_dash = true,
                b'-' => self.letters.push(b'+'),
                b'_' => self.letters.push(b'/'),
                byte if is_letter(*byte) => self.letters.push(*byte),
                byte if is_space(*byte) => {}
                _ => return self.finish(out).map(|()| false),
            }
            self.begins_line = *byte == b'\n';
            if self.letters.len() == GROUP.saturating_mul(GROUPS) {
                self.decode(self.letters.len(), out)?;
            }
        }
        Ok(true)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.decode(self.letters.len(), out)
    }
}

/// Returns whether the first bytes of a text are quoted-printable.
pub(super) fn is_quoted(first: &[u8]) -> bool {
    let is_escape = |at: usize| {
        let digits = first.get(at.saturating_add(1)..at.saturating_add(3)).unwrap_or_default();
        digits.len() == 2
            && digits.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
    };
    let signs = first.iter().enumerate().filter(|(_, byte)| **byte == b'=').map(|(at, _)| at);
    is_printable(first) && signs.filter(|at| is_escape(*at)).count() >= ESCAPES_LEAST
}

/// Decodes quoted-printable.
#[derive(Default)]
pub(super) struct FromQuoted {
    /// A sign of equality and what follows it.
    escape: Vec<u8>,
}

impl Converter for FromQuoted {
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        for byte in input {
            if self.escape.is_empty() && *byte != b'=' {
                out.push(*byte);
                continue;
            }
            self.escape.push(*byte);
            match *self.escape.as_slice() {
                [_] | [_, b'\r'] => continue,
                // A line goes on.
                [_, b'\n'] | [_, b'\r', b'\n'] => {}
                [_, one] if one.is_ascii_hexdigit() => continue,
                [_, one, two] => out.push(byte_of(one, two)?),
                _ => return Err(malformed("an escape has no two digits")),
            }
            self.escape.clear();
        }
        Ok(true)
    }
}

/// Returns the byte of two hexadecimal digits.
pub(super) fn byte_of(high: u8, low: u8) -> io::Result<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = digit(high).zip(digit(low)).map(|(high, low)| high << 4 | low);
    byte.ok_or_else(|| malformed("two digits are not hexadecimal"))
}

/// Returns where the first line after `begin MODE NAME` begins.
pub(super) fn find_uuencode(first: &[u8]) -> Option<usize> {
    let mut at = 0_usize;
    for line in first.split(|byte| *byte == b'\n') {
        at = at.saturating_add(line.len()).saturating_add(1);
        let mode = line.strip_prefix(b"begin ").and_then(|rest| rest.get(..3));
        if mode.is_some_and(|mode| mode.iter().all(u8::is_ascii_digit)) {
            return (at < first.len()).then_some(at);
        }
        if !is_printable(line) {
            return None;
        }
    }
    None
}

/// Decodes lines of uuencode.
#[derive(Default)]
pub(super) struct FromUuencode {
    line: Vec<u8>,
}

/// Characters of a line of uuencode: its length, and four for each three of 63 bytes.
const UU_LINE_MAX: usize = 96;

impl FromUuencode {
    /// Decodes a line, and returns whether another one follows.
    fn decode(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        // A space and a grave accent both stand for 0.
        let value = |byte: u8| byte.wrapping_sub(b' ') & 0x3f;
        let Some((count, letters)) = line.split_first() else { return Ok(true) };
        let count = usize::from(value(*count));
        if count == 0 || line == b"end" {
            return Ok(false);
        }
        let mut bytes = Vec::new();
        for group in letters.chunks(GROUP) {
            // Spaces at the end of a line get lost.
            let letter = |at: usize| u32::from(group.get(at).map_or(0, |byte| value(*byte)));
            let word = letter(0) << 18 | letter(1) << 12 | letter(2) << 6 | letter(3);
            bytes.extend_from_slice(word.to_be_bytes().get(1..).unwrap_or_default());
        }
        let bytes = bytes.get(..count).ok_or_else(|| malformed("a line is too short"))?;
        out.extend_from_slice(bytes);
        Ok(true)
    }
}

impl Converter for FromUuencode {
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        for byte in input {
            match byte {
                b'\n' if !self.decode(out)? => return Ok(false),
                b'\n' => {}
                _ if self.line.len() < UU_LINE_MAX => self.line.push(*byte),
                _ => return Err(malformed("a line is too long")),
            }
        }
        Ok(true)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.decode(out).map(drop)
    }
}

/// Returns where the numbers of an array in C begin.
pub(super) fn find_array(first: &[u8]) -> Option<usize> {
    let brace = first.iter().position(|byte| *byte == b'{')?;
    let (head, body) = first.split_at_checked(brace)?;
    let number = body.iter().skip(1).find(|byte| !is_space(**byte))?;
    (head.contains(&b'[') && is_printable(head) && number.is_ascii_digit())
        .then(|| brace.saturating_add(1))
}

/// Decodes the numbers of an array in C.
#[derive(Default)]
pub(super) struct FromArray {
    number: Vec<u8>,
}

/// Characters of a number: `0x` and two digits.
const NUMBER_MAX: usize = 4;

impl FromArray {
    fn decode(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let text = String::from_utf8(std::mem::take(&mut self.number)).unwrap_or_default();
        if text.is_empty() {
            return Ok(());
        }
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let number =
            digits.map_or_else(|| text.parse().ok(), |text| u8::from_str_radix(text, 16).ok());
        out.push(number.ok_or_else(|| malformed("a number of the array is not a byte"))?);
        Ok(())
    }
}

impl Converter for FromArray {
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        for byte in input {
            match byte {
                b'}' => return self.decode(out).map(|()| false),
                b',' => self.decode(out)?,
                byte if is_space(*byte) => {}
                byte if byte.is_ascii_alphanumeric() && self.number.len() < NUMBER_MAX => {
                    self.number.push(*byte);
                }
                _ => return Err(malformed("a number of the array is not a byte")),
            }
        }
        Ok(true)
    }

    fn finish(&mut self, _out: &mut Vec<u8>) -> io::Result<()> {
        Err(malformed("the array has no end"))
    }
}
