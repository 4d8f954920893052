//! A glimpse of what an audit found, masked unless the user wants to see it.

use crate::kit::num::to_u64;
use crate::kit::text::Untrusted;
use crate::kit::words::byte_count;

/// A glimpse of what was found.
#[derive(Clone, Copy, Debug)]
pub enum Excerpt<'a> {
    /// Nothing that would help.
    None,
    /// A text that is private: its first and last character and its length.
    Text(&'a [u8]),
    /// The first of private bytes, and their number.
    Bytes(&'a [u8], u64),
    /// A private number, with its name.
    Number(&'static str, u64),
    /// Not private, and safe to print.
    Fact(&'a str),
}

impl Excerpt<'_> {
    /// Returns the excerpt as a line that is safe to print.
    pub(super) fn describe(&self, show: bool) -> Option<String> {
        Some(match self {
            Self::None => return None,
            Self::Fact(fact) => (*fact).to_string(),
            Self::Text(bytes) | Self::Bytes(bytes, _) if show => {
                format!("the first is `{}`", Untrusted(bytes))
            }
            Self::Number(name, number) if show => format!("the first is {name} {number}"),
            Self::Text(text) => format!("the first is {}", mask(text)),
            Self::Bytes(_, len) => format!("the first has {}", byte_count(*len)),
            Self::Number(..) => return None,
        })
    }
}

/// Returns the first and the last character of a text, and its length.
fn mask(text: &[u8]) -> String {
    let len = byte_count(to_u64(text.len()));
    let characters = || str::from_utf8(text).into_iter().flat_map(str::chars);
    let is_plain = |c: &char| !c.is_whitespace() && crate::kit::text::is_safe(*c);
    let ends = characters().next().zip(characters().next_back());
    match ends.filter(|(first, last)| is_plain(first) && is_plain(last)) {
        // Of a short text, the ends are most of it.
        Some((first, last)) if characters().count() > 3 => format!("{first}…{last} ({len})"),
        _ if text.is_empty() => "empty".to_string(),
        _ => format!("… ({len})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_text_is_masked_unless_it_is_wanted() {
        let describe = |excerpt: Excerpt<'_>| [false, true].map(|show| excerpt.describe(show));
        let line = |text: &str| Some(text.to_string());
        let name = describe(Excerpt::Text(b"hostname"));
        assert_eq!(name, [line("the first is h…e (8 bytes)"), line("the first is `hostname`")]);
        let short = describe(Excerpt::Text(b"vm1"));
        assert_eq!(short[0], line("the first is … (3 bytes)"));
        let hostile = describe(Excerpt::Text(b"\x1b[2Jx\xff"));
        assert_eq!(hostile[0], line("the first is … (6 bytes)"));
        assert_eq!(hostile[1], line("the first is `\\x1b[2Jx\\xff`"));
        let packet = describe(Excerpt::Bytes(b"\0\x01", 2));
        assert_eq!(packet, [line("the first has 2 bytes"), line("the first is `\\x00\\x01`")]);
        assert_eq!(describe(Excerpt::Number("code", 30)), [None, line("the first is code 30")]);
    }
}
