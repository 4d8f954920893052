//! Fillers: bytes of the same length that take the place of private ones, and how they are known
//! again.
//!
//! ```text
//!  Name     vm-build/a  ->  _______1/_       a name by its number, right-aligned after `_`
//!  Spaces   void main() ->  (spaces)         sources: every parser takes them
//!  Zeros    memory, packets, positions
//!  Blank    damage: one byte again and again, which no decoder takes for a record
//!  Value    bytes that the format chose: a value without a meaning, a moved address
//! ```
//!
//! An audit does not report a filler, so that the audit of a redacted recording shows what is left.

use crate::kit::num::to_usize;

/// Bytes that can take the place of damage. Ones are not an event of any format without frames;
/// formats whose records have sizes read them as a long record, and zeros as none.
pub const BLANKS: [u8; 2] = [0xff, 0];

/// How private bytes can be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filler<'v> {
    /// A pseudonym for each part between `/`, and zeros after the end of the text.
    Name,
    /// Spaces.
    Spaces,
    /// Zeros.
    Zeros,
    /// A byte again and again; see [`BLANKS`].
    Blank,
    /// These bytes, which fit exactly.
    Value(&'v [u8]),
}

impl Filler<'_> {
    /// Returns whether bytes are this filler already.
    pub fn recognises(self, bytes: &[u8]) -> bool {
        match self {
            Self::Name => {
                let (text, rest) = split_text(bytes);
                let mut parts = text.split(|byte| *byte == b'/');
                parts.all(is_pseudonym) && rest.iter().all(|byte| *byte == 0)
            }
            Self::Spaces => bytes.iter().all(|byte| *byte == b' '),
            Self::Zeros => bytes.iter().all(|byte| *byte == 0),
            Self::Blank => BLANKS.iter().any(|blank| bytes.iter().all(|byte| byte == blank)),
            Self::Value(value) => bytes == value,
        }
    }

    /// Returns `len` bytes of the filler for the private `bytes`, whose names `name` replaces;
    /// `blank` is the byte in the place of damage.
    pub fn fill(
        self,
        (bytes, len): (&[u8], u64),
        blank: u8,
        name: &mut dyn FnMut(&[u8]) -> Vec<u8>,
    ) -> Vec<u8> {
        let mut filled = match self {
            Self::Name => {
                let (text, _) = split_text(bytes);
                let parts = text.split(|byte| *byte == b'/');
                let parts: Vec<Vec<u8>> = parts.map(name).collect();
                parts.join(&b'/')
            }
            Self::Spaces | Self::Zeros | Self::Blank => Vec::new(),
            Self::Value(value) => value.to_vec(),
        };
        let rest = match self {
            Self::Spaces => b' ',
            Self::Blank => blank,
            _ => 0,
        };
        filled.resize(to_usize(len), rest);
        filled
    }
}

/// Splits a field into its text and the bytes from the first NUL on.
fn split_text(bytes: &[u8]) -> (&[u8], &[u8]) {
    let len = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    bytes.split_at_checked(len).unwrap_or((bytes, &[]))
}

/// Whether a part of a text is empty or a pseudonym: `_`, then digits.
fn is_pseudonym(part: &[u8]) -> bool {
    let digits = part.iter().skip_while(|byte| **byte == b'_');
    part.first().is_none_or(|byte| *byte == b'_') && digits.into_iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filler_has_the_length_asked_for_and_is_known_again() {
        let mut name = |part: &[u8]| vec![b'_'; part.len()];
        for (filler, private, filled) in [
            (Filler::Name, &b"/usr/bin\0ab"[..], &b"/___/___\0\0\0"[..]),
            (Filler::Name, b"vm", b"__"),
            (Filler::Spaces, b"void", b"    "),
            (Filler::Zeros, b"\x01\0", b"\0\0"),
            (Filler::Blank, b"\xff\0", b"\xff\xff"),
            (Filler::Value(b"\x04\0"), b"\x01\0", b"\x04\0"),
        ] {
            assert!(!filler.recognises(private), "{private:?}");
            let len = u64::try_from(private.len()).unwrap();
            let made = filler.fill((private, len), 0xff, &mut name);
            assert_eq!(made, filled);
            assert!(filler.recognises(&made), "{made:?}");
        }
    }

    #[test]
    fn names_that_programs_have_are_not_pseudonyms() {
        for text in [&b"x1"[..], b"_start", b"7", b"__1a", b"_1/a", b"_1\0a", b"-"] {
            assert!(!Filler::Name.recognises(text), "{text:?}");
        }
        for text in [&b""[..], b"_", b"__12", b"/_1//__", b"_1\0\0"] {
            assert!(Filler::Name.recognises(text), "{text:?}");
        }
    }
}
