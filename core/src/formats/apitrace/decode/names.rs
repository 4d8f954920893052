//! The form of names and texts in a trace.

use super::grammar::Space;

/// How readable a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameForm {
    /// As tracers write it.
    Plain,
    /// Not UTF-8: readable for a C program, but not for every reader.
    NotUtf8,
    /// Holds control characters: a NUL ends it early, and no tracer writes any.
    Control,
}

/// Classifies the bytes of a name.
pub fn name_form(name: &[u8]) -> NameForm {
    if name.iter().all(|byte| (0x20..0x7f).contains(byte)) {
        NameForm::Plain
    } else if name.iter().any(|byte| *byte < 0x20 || *byte == 0x7f) {
        NameForm::Control
    } else if str::from_utf8(name).is_ok() {
        NameForm::Plain
    } else {
        NameForm::NotUtf8
    }
}

/// Whether a header file can hold the name: of a function, an argument, a member, a value.
///
/// `type::method`, `a->b`, `T *`, `x[0]` occur in the tracers of other APIs.
pub fn is_identifier(name: &[u8]) -> bool {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:~<>,*&.() -[]+|".contains(byte);
    let starts =
        name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || b"_~<(*".contains(byte));
    starts && name.len() <= 512 && name.iter().all(fits)
}

/// Whether the name is one of a function: an identifier, in some APIs with `::`.
pub fn is_function_name(name: &[u8]) -> bool {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:~".contains(byte);
    name.first().is_some_and(|byte| !byte.is_ascii_digit()) && name.iter().all(fits)
}

/// Whether a name that follows damage may be one of a definition.
pub fn is_believable(space: Space, name: &[u8]) -> bool {
    match space {
        Space::Frame => name_form(name) != NameForm::Control,
        Space::Function | Space::Struct | Space::Enum | Space::Bitmask => is_identifier(name),
    }
}

/// The form of a string of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextForm {
    /// Text.
    Plain,
    /// It stands for the bytes of a blob.
    Blob,
    /// Not UTF-8, or it holds a NUL.
    Invalid,
}

/// Classifies the bytes of a string of a call.
pub fn text_form(text: &[u8]) -> TextForm {
    if is_blob_text(text) {
        TextForm::Blob
    } else if text.contains(&0) || str::from_utf8(text).is_err() {
        TextForm::Invalid
    } else {
        TextForm::Plain
    }
}

/// Whether the text is `blob(N)`, which tools that cannot copy blobs write instead of the bytes.
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
            let name = name.as_bytes();
            assert!(name_form(name) == NameForm::Plain && is_identifier(name));
        }
        assert_eq!(name_form(b"a\0b"), NameForm::Control);
        assert_eq!(name_form(b"\xff\xfe"), NameForm::NotUtf8);
        assert_eq!(name_form("größe".as_bytes()), NameForm::Plain);
        assert!(!is_identifier(b"") && !is_identifier(b"\x01\x00\x04"));
    }

    #[test]
    fn a_blob_that_became_a_text_is_recognised_by_its_form() {
        assert!(is_blob_text(b"blob(1048576)"));
        assert!(!is_blob_text(b"blob()") && !is_blob_text(b"blob(12") && !is_blob_text(b"blob(x)"));
    }

    #[test]
    fn a_function_has_the_name_of_a_method_at_most() {
        assert!(is_function_name(b"glFlush") && is_function_name(b"ID3D11Device::~Release"));
        for name in [&b""[..], b"3dfx", b"gl Flush", b"pDesc->Usage", b"T *"] {
            assert!(!is_function_name(name), "{name:?}");
        }
    }
}
