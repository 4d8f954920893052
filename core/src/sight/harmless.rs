//! Words that are no secret: numbers, and words of a list.
//!
//! A text that nobody knows is private. So a format names the words that its recorders write, and
//! every other text is replaced or named.

/// Returns whether a text is empty, or numbers with signs between them: `0-3,7`, `1.14.0`, `32K`.
pub fn is_number(text: &[u8]) -> bool {
    let number = text.strip_suffix(b"K").or_else(|| text.strip_suffix(b"M")).unwrap_or(text);
    number.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b',' | b'.' | b' '))
}

/// Returns whether a text consists of such words, with `is_separator` between them.
pub fn has_only(
    text: &[u8],
    is_separator: fn(u8) -> bool,
    is_known: impl Fn(&[u8]) -> bool,
) -> bool {
    let mut words = text.split(|byte| is_separator(*byte));
    words.all(|word| is_number(word) || is_known(word))
}

/// Returns whether a list of words with spaces between them has this one.
pub fn holds(list: &str, word: &[u8]) -> bool {
    list.split_ascii_whitespace().any(|one| one.as_bytes() == word)
}

/// Returns whether bytes that should be numbers have three letters in a row.
pub fn has_word(bytes: &[u8]) -> bool {
    bytes.windows(3).any(|part| part.iter().all(u8::is_ascii_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_known_words_are_harmless() {
        for text in [&b""[..], b"0-3,7", b"1.14.0", b"32K", b"16 M"] {
            assert!(is_number(text), "{text:?}");
        }
        for text in [&b"a"[..], b"K2", b"0x1f", b"node0", b"1\0"] {
            assert!(!is_number(text), "{text:?}");
        }
        let is_known = |word: &[u8]| word == b"cycles" || word == b"u";
        let is_separator = |byte: u8| matches!(byte, b':' | b'{' | b'}' | b',');
        assert!(has_only(b"{cycles:u,cycles}", is_separator, is_known));
        assert!(!has_only(b"{cycles:u,secret}", is_separator, is_known));
        assert!(holds("cycles  faults", b"faults") && !holds("cycles faults", b"fault"));
        assert!(has_word(b"\0abc\0") && !has_word(b"ab\0cd\x01e"));
    }
}
