//! What names and texts of a trace look like.

/// How a name looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// As tracers write it.
    Plain,
    /// Readable for a C program, but not as every reader expects: not UTF-8.
    Odd,
    /// Holds control characters: a NUL ends it early, and no tracer writes any.
    Wild,
}

/// How a name looks.
pub fn look(name: &[u8]) -> Look {
    if name.iter().all(|byte| (0x20..0x7f).contains(byte)) {
        Look::Plain
    } else if name.iter().any(|byte| *byte < 0x20 || *byte == 0x7f) {
        Look::Wild
    } else if str::from_utf8(name).is_ok() {
        Look::Plain
    } else {
        Look::Odd
    }
}

/// Whether a name is what a header file can hold: of a function, an argument, a member, a value.
///
/// `type::method`, `a->b`, `T *`, `x[0]` occur in the tracers of other APIs.
pub fn is_identifier(name: &[u8]) -> bool {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:~<>,*&.() -[]+|".contains(byte);
    let starts =
        name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || b"_~<(*".contains(byte));
    starts && name.len() <= 512 && name.iter().all(fits)
}

/// Whether a text is what a tool that cannot copy blobs leaves in their place: `blob(N)`.
pub fn is_blob_text(text: &[u8]) -> bool {
    let inner = text.strip_prefix(b"blob(").and_then(|rest| rest.strip_suffix(b")"));
    inner.is_some_and(|digits| {
        (1..=19).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_real_tracers_are_plain_identifiers() {
        for name in ["glFlush", "ID3D11Device::CreateBuffer", "_", "pDesc->Usage", "D3DRS_ZENABLE"]
        {
            assert!(look(name.as_bytes()) == Look::Plain && is_identifier(name.as_bytes()));
        }
        assert_eq!(look(b"a\0b"), Look::Wild);
        assert_eq!(look(b"\xff\xfe"), Look::Odd);
        assert_eq!(look("größe".as_bytes()), Look::Plain);
        assert!(!is_identifier(b"") && !is_identifier(b"\x01\x00\x04"));
    }

    #[test]
    fn a_blob_that_became_a_text_is_known_by_its_form() {
        assert!(is_blob_text(b"blob(1048576)"));
        assert!(!is_blob_text(b"blob()") && !is_blob_text(b"blob(12") && !is_blob_text(b"blob(x)"));
    }
}
