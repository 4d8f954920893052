//! Text from files.
//!
//! Names, paths and strings in a recording come from its author. They pass through one type, whose
//! `Display` escapes everything that a terminal or a log could act on.

use std::fmt::{self, Write};

/// Number of characters that are shown of one text before it is cut.
pub const TEXT_SHOWN: usize = 200;

/// Text from an untrusted file (or the name of one), escaped when shown.
///
/// Control characters (C0, DEL, C1), bidirectional and zero-width characters, and bytes that are
/// not UTF-8 become `\x1b` or `\u{202e}` escapes, as does the backslash itself, and the `#` of
/// `##[` and `##vso[`, which are commands wherever they stand in a line of a CI log (GitHub and
/// Azure); text longer than 200 characters ends in `…` and its length in bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Untrusted<'a>(pub &'a [u8]);

impl fmt::Display for Untrusted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = 0_usize;
        for chunk in self.0.utf8_chunks() {
            for (at, character) in chunk.valid().char_indices() {
                if shown == TEXT_SHOWN {
                    return write!(f, "… ({} bytes)", self.0.len());
                }
                shown = shown.saturating_add(1);
                match character {
                    '\\' => f.write_str("\\\\")?,
                    '#' if begins_command(chunk.valid(), at) => f.write_str("\\x23")?,
                    c if c.is_ascii() && c.is_control() => write!(f, "\\x{:02x}", u32::from(c))?,
                    c if is_hidden(c) => write!(f, "\\u{{{:x}}}", u32::from(c))?,
                    c => f.write_char(c)?,
                }
            }
            for byte in chunk.invalid() {
                if shown == TEXT_SHOWN {
                    return write!(f, "… ({} bytes)", self.0.len());
                }
                shown = shown.saturating_add(1);
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// Whether a command of a CI log begins at a place of a text.
fn begins_command(text: &str, at: usize) -> bool {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    let begins = |command: &[u8]| {
        rest.get(..command.len()).is_some_and(|rest| rest.eq_ignore_ascii_case(command))
    };
    begins(b"##[") || begins(b"##vso[")
}

impl fmt::Debug for Untrusted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

/// A path, escaped when shown. Each of its names is an [`Untrusted`], so a long name is cut, but
/// not a long path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UntrustedPath<'a>(pub &'a [u8]);

impl fmt::Display for UntrustedPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = "";
        for name in self.0.split(|byte| *byte == b'/') {
            write!(f, "{between}{}", Untrusted(name))?;
            between = "/";
        }
        Ok(())
    }
}

/// Returns the bytes that an escaped text stands for: the reverse of [`Untrusted`], but for texts
/// that were cut. A backslash that begins no escape stands for itself.
pub fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let escape = read_escape(after);
        let (escaped, next) = escape.unwrap_or_else(|| (b"\\".to_vec(), after));
        bytes.extend(escaped);
        rest = next;
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// The bytes of the escape after a backslash, and the text after it.
fn read_escape(text: &str) -> Option<(Vec<u8>, &str)> {
    if let Some(next) = text.strip_prefix('\\') {
        return Some((b"\\".to_vec(), next));
    }
    if let Some((digits, next)) = text.strip_prefix('x').and_then(|text| text.split_at_checked(2)) {
        return Some((vec![u8::from_str_radix(digits, 16).ok()?], next));
    }
    let (digits, next) = text.strip_prefix("u{")?.split_once('}')?;
    let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    Some((character.to_string().into_bytes(), next))
}

/// Returns bytes as pairs of hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

/// Returns whether a character changes how the text around it is read without being visible.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Returns whether a character may reach a terminal, a log or a report unescaped.
pub fn is_safe(character: char) -> bool {
    !is_hidden(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        let hostile = "a\u{1b}[2Jb\u{9b}c\u{202e}d\u{200b}e\\\u{7f}".as_bytes();
        let shown = Untrusted(hostile).to_string();
        assert_eq!(shown, "a\\x1b[2Jb\\u{9b}c\\u{202e}d\\u{200b}e\\\\\\x7f");
        assert_eq!(Untrusted(b"\xff\x00ok\xc3").to_string(), "\\xff\\x00ok\\xc3");
        let command = Untrusted(b"a##vso[task.x]###[error]#b##c").to_string();
        assert_eq!(command, "a\\x23#vso[task.x]#\\x23#[error]#b##c");
    }

    #[test]
    fn an_escaped_text_gives_its_bytes_back() {
        for bytes in
            [&b"a\x1b[2J\xff\\x1b\\\\##[x"[..], "\u{202e}\u{9b}e\u{301}".as_bytes(), b"", b"\\u{}"]
        {
            let shown = Untrusted(bytes).to_string();
            assert_eq!(unescape(&shown), bytes, "{shown}");
        }
        assert_eq!(unescape("\\q\\x1"), b"\\q\\x1");
    }

    #[test]
    fn long_text_is_cut_and_its_length_shown() {
        let shown = Untrusted(&[b'x'; 5000]).to_string();
        assert!(shown.ends_with("… (5000 bytes)") && shown.len() < 230);
    }

    #[test]
    fn a_path_is_escaped_name_by_name_and_not_cut() {
        let path = format!("/{}/b\u{1b}", vec!["x".repeat(150); 3].join("/"));
        let shown = UntrustedPath(path.as_bytes()).to_string();
        assert_eq!(shown, path.replace('\u{1b}', "\\x1b"));
        assert_eq!(UntrustedPath(b"a//\xffb/").to_string(), "a//\\xffb/");
    }
}
