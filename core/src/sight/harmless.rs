//! Words that are no secret: numbers, and words of a list.
//!
//! A text that nobody knows is private. So a format names the words that its recorders write, and
//! every other text is replaced or named.

/// Most digits of a number or version that may stay: longer ones may be those of an account, of a
/// date or of an address.
const DIGITS_MAX: usize = 6;
/// Most numbers of a version: an address has four.
const VERSION_PARTS_MAX: usize = 3;
/// More CPUs than Linux supports.
const CPUS: u32 = 1 << 13;

/// Returns whether a text is empty, a short number with or without a unit, a version, or a list of
/// CPUs: `32K`, `1.14.0`, `0-3,7`.
pub fn is_number(text: &[u8]) -> bool {
    let size = text.strip_suffix(b"K").or_else(|| text.strip_suffix(b"M"));
    let size = size.map(|size| size.strip_suffix(b" ").unwrap_or(size));
    text.is_empty() || is_version(size.unwrap_or(text)) || is_cpu_list(text)
}

/// Returns whether a text is a few numbers with dots between them, of a few digits in all.
fn is_version(text: &[u8]) -> bool {
    let mut parts = text.split(|byte| *byte == b'.');
    let is_part = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let dots = text.iter().filter(|byte| **byte == b'.').count();
    parts.all(is_part) && dots < VERSION_PARTS_MAX && text.len() <= DIGITS_MAX.saturating_add(dots)
}

/// Returns whether a text lists CPUs as Linux prints them: in order, without a zero in front.
fn is_cpu_list(text: &[u8]) -> bool {
    let mut last = None;
    let mut is_next = |number: &str| {
        let cpu = number.parse().ok().filter(|cpu: &u32| *cpu < CPUS && cpu.to_string() == number);
        let is_after = cpu > last;
        last = cpu;
        is_after
    };
    std::str::from_utf8(text).is_ok_and(|text| {
        text.split(',').all(|range| match range.split_once('-') {
            Some((first, last)) => is_next(first) && is_next(last),
            None => is_next(range),
        })
    })
}

/// Returns whether a text is such a number, or consists of known words and short numbers with
/// `is_separator` between them, which have a few digits in all.
pub fn has_only(
    text: &[u8],
    is_separator: fn(u8) -> bool,
    is_known: impl Fn(&[u8]) -> bool,
) -> bool {
    let mut room = DIGITS_MAX;
    let mut is_short = |word: &[u8]| {
        let left = room.checked_sub(word.len());
        room = left.unwrap_or(0);
        left.is_some() && is_number(word)
    };
    let mut words = text.split(|byte| is_separator(*byte));
    is_number(text) || words.all(|word| is_known(word) || is_short(word))
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
        for text in [&b""[..], b"0-3,7", b"0-63,128-191", b"1.14.0", b"32K", b"16 M", b"262144"] {
            assert!(is_number(text), "{text:?}");
        }
        for text in [&b"a"[..], b"K2", b"0x1f", b"node0", b"1\0", b".", b"K"] {
            assert!(!is_number(text), "{text:?}");
        }
        let is_known = |word: &[u8]| word == b"cycles" || word == b"u";
        let is_separator = |byte: u8| matches!(byte, b':' | b'{' | b'}' | b',');
        assert!(has_only(b"{cycles:u,cycles}", is_separator, is_known));
        assert!(!has_only(b"{cycles:u,secret}", is_separator, is_known));
        assert!(holds("cycles  faults", b"faults") && !holds("cycles faults", b"fault"));
        let is_space = |byte: u8| byte == b' ';
        assert!(has_only(b"16 384", is_space, |_| false));
        assert!(!has_only(b"4111 1111", is_space, |_| false));
        assert!(has_word(b"\0abc\0") && !has_word(b"ab\0cd\x01e"));
    }

    #[test]
    fn numbers_that_may_name_somebody_are_not_harmless() {
        for text in [
            &b"4111111111111111"[..],
            b"4111-1111-1111-1111",
            b"1234567",
            b"10.20.30.41",
            b"2027.03.01",
            b"7-3",
            b"0123-4567",
            b"1-2-3",
            b"0-9000",
        ] {
            assert!(!is_number(text), "{text:?}");
        }
    }
}
