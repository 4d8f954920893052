//! Bytes in a string with escapes, as programs print them: JSON, Python, C, a shell.

use std::io;

use super::reader::{Converter, malformed};
use super::text::{byte_of, is_space};

/// Escapes in the first bytes of a string, at least: a path or a message has fewer.
const ESCAPES_LEAST: usize = 8;
/// Digits of an octal escape, at most.
const OCTAL_MAX: usize = 3;

/// Returns where a string with many escapes begins, and the quote that ends it. One without quotes
/// is the whole file.
pub(super) fn find_string(first: &[u8]) -> Option<(usize, Option<u8>)> {
    // The bytes of a recording are looked at up to the first of these. JSON does not escape DEL.
    let is_raw = |byte: &u8| *byte < b' ' && !is_space(*byte);
    if first.iter().any(is_raw) {
        return None;
    }
    let quotes = memchr::memchr2_iter(b'"', b'\'', first);
    let mut at = 0_usize;
    for place in quotes {
        // Those in a string that was looked at are its own.
        if place < at {
            continue;
        }
        let start = place.saturating_add(1);
        let quote = first.get(place).copied();
        let (len, escapes) = measure(first.get(start..).unwrap_or_default(), quote);
        if escapes >= ESCAPES_LEAST {
            return Some((start, quote));
        }
        at = start.saturating_add(len).saturating_add(1);
    }
    let (_, escapes) = measure(first, None);
    (first.starts_with(b"\\") && escapes >= ESCAPES_LEAST).then_some((0, None))
}

/// Returns the length of a string up to its last quote, and the number of its escapes. Strings that
/// only spaces part from it belong to it: the first line of a recording may hold few.
fn measure(text: &[u8], quote: Option<u8>) -> (usize, usize) {
    let (mut escapes, mut is_escaped, mut end) = (0_usize, false, None);
    for (at, byte) in text.iter().enumerate() {
        match (*byte, end) {
            (byte, Some(_)) if Some(byte) == quote => end = None,
            (byte, Some(_)) if is_space(byte) => {}
            (_, Some(end)) => return (end, escapes),
            _ if is_escaped => is_escaped = false,
            (b'\\', None) => {
                is_escaped = true;
                escapes = escapes.saturating_add(1);
            }
            (byte, None) if Some(byte) == quote => end = Some(at),
            _ => {}
        }
    }
    (end.unwrap_or(text.len()), escapes)
}

/// Decodes a string with escapes up to its quote. Strings after it that only spaces part from it
/// belong to it, as in C.
pub(super) struct FromEscapes {
    quote: Option<u8>,
    /// A backslash and what follows it.
    escape: Vec<u8>,
    is_between: bool,
}

/// The meaning of an escape.
enum Escape {
    Open,
    Byte(u8),
    /// It ended before its last character.
    Before(u8),
}

impl FromEscapes {
    pub(super) const fn new(quote: Option<u8>) -> Self {
        Self { quote, escape: Vec::new(), is_between: false }
    }

    /// Takes one character, and returns whether the string goes on.
    fn take(&mut self, byte: u8, out: &mut Vec<u8>) -> io::Result<bool> {
        if self.is_between {
            self.is_between = Some(byte) != self.quote;
            return Ok(!self.is_between || is_space(byte));
        }
        if !self.escape.is_empty() {
            self.escape.push(byte);
            let escape = decode(&self.escape)?;
            if matches!(escape, Escape::Open) {
                return Ok(true);
            }
            self.escape.clear();
            match escape {
                Escape::Before(value) => out.push(value),
                Escape::Byte(value) => {
                    out.push(value);
                    return Ok(true);
                }
                Escape::Open => {}
            }
        }
        match byte {
            b'\\' => self.escape.push(byte),
            b'\r' | b'\n' if self.quote.is_none() => {}
            b'\r' | b'\n' => return Err(malformed("a string has no end")),
            byte if Some(byte) == self.quote => self.is_between = true,
            byte => out.push(byte),
        }
        Ok(true)
    }
}

fn decode(escape: &[u8]) -> io::Result<Escape> {
    let is_octal = |byte: &u8| matches!(byte, b'0'..=b'7');
    Ok(match escape {
        [_, b'x', high, low] => Escape::Byte(byte_of(*high, *low)?),
        [_, b'u', b'0', b'0', high, low] => Escape::Byte(byte_of(*high, *low)?),
        [_, b'u', _, _, _, _] => return Err(malformed("an escape is no byte")),
        [_, b'x' | b'u', ..] => Escape::Open,
        [_, digits @ ..] if digits.iter().all(is_octal) && digits.len() < OCTAL_MAX => Escape::Open,
        [_, digits @ ..] if digits.iter().all(is_octal) => Escape::Byte(octal(digits)?),
        [_, digits @ .., _] if !digits.is_empty() => Escape::Before(octal(digits)?),
        [_, letter] => Escape::Byte(match letter {
            b'a' => 0x07,
            b'b' => 0x08,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 0x0b,
            b'f' => 0x0c,
            b'r' => b'\r',
            b'e' | b'E' => 0x1b,
            b'"' | b'\'' | b'\\' | b'/' | b'?' => *letter,
            _ => return Err(malformed("an escape is unknown")),
        }),
        _ => Escape::Open,
    })
}

fn octal(digits: &[u8]) -> io::Result<u8> {
    let digits = std::str::from_utf8(digits).unwrap_or_default();
    u8::from_str_radix(digits, 8).map_err(|_| malformed("an escape is no byte"))
}

impl Converter for FromEscapes {
    fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> io::Result<bool> {
        for byte in input {
            if !self.take(*byte, out)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        match self.escape.get(1..) {
            None if self.is_between || self.quote.is_none() => Ok(()),
            Some(digits) if self.quote.is_none() => octal(digits).map(|value| out.push(value)),
            _ => Err(malformed("a string has no end")),
        }
    }
}
