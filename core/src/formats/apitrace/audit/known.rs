//! Texts of a trace that are no secret: words of the APIs.

use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::decode::names::is_blob_text;
use crate::sight::harmless::is_number;

/// Properties that apitrace writes.
pub(super) const PROPERTIES: &[&[u8]] =
    &[b"process.name", b"process.commandLine", b"os.name", b"os.version"];

/// Beginnings of the names of functions and methods; an upper-case letter follows.
const FUNCTIONS: &[&str] = &[
    "gl",
    "glX",
    "egl",
    "wgl",
    "CGL",
    "X",
    "D3D",
    "D3D10",
    "D3D11",
    "D3D12",
    "DXGI",
    "Direct3D",
    "DirectDraw",
    "DDraw",
    "I",
    "ID3D",
    "IDXGI",
    "IDirect",
    "IDWrite",
    "Create",
    "Get",
    "Set",
    "Swap",
    "Choose",
    "Describe",
    "Share",
    "Use",
];
/// Functions of the tracer and of C.
const OTHER_FUNCTIONS: &[&str] = &["memcpy", "fake_glClear", "glXUnused"];

/// Beginnings of the names of constants.
const CONSTANTS: &[&str] = &[
    "GL_", "GLX_", "EGL_", "WGL_", "GLU_", "CGL", "D3D", "DXGI_", "DD", "DWRITE_", "WS_", "PFD_",
    "TRUE", "FALSE", "S_", "E_", "ERROR_", "WM_", "LOCALE_", "kCGL", "None", "True", "False",
];

/// Returns whether a text of a call is a number, or names of extensions and functions.
pub(super) fn is_harmless(text: &[u8]) -> bool {
    let mut words = text.split(|byte| *byte == b' ');
    is_blob_text(text)
        || words.all(|word| is_number(word) || is_extension(word) || is_function(word))
}

/// Returns whether a word names an extension: `GL_ARB_debug_output`.
fn is_extension(word: &[u8]) -> bool {
    let mut parts = word.split(|byte| *byte == b'_');
    let is_api = matches!(parts.next(), Some(b"GL" | b"GLX" | b"EGL" | b"WGL" | b"WGL1" | b"GLU"));
    let is_vendor = |part: &[u8]| {
        let is_part = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        (2..=8).contains(&part.len()) && part.iter().all(is_part)
    };
    let has_vendor = parts.next().is_some_and(is_vendor);
    let mut rest = parts.peekable();
    // `texture3D`, `sRGB`, `s3tc`: never a long word in upper case.
    let is_part = |part: &[u8]| {
        let is_mixed = part.iter().any(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        (is_mixed || part.len() <= 4) && part.iter().all(u8::is_ascii_alphanumeric)
    };
    is_api && has_vendor && rest.peek().is_some() && rest.all(is_part)
}

/// Returns whether a word names a function of an API.
fn is_function(word: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'~');
    let begins = |prefix: &&str| {
        let rest = word.strip_prefix(prefix.as_bytes());
        rest.and_then(|rest| rest.first()).is_some_and(|byte| byte.is_ascii_uppercase())
    };
    let is_other = OTHER_FUNCTIONS.iter().any(|name| name.as_bytes() == word);
    word.iter().all(is_name) && (is_other || FUNCTIONS.iter().any(begins))
}

/// Returns whether a name of a definition is one of an API.
pub(super) fn is_definition(space: Space, name: &[u8], is_own: bool) -> bool {
    let begins =
        |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix.as_bytes()));
    let is_parameter = name.first().is_none_or(|byte| byte.is_ascii_lowercase() || *byte == b'_')
        || name.len() <= 2
        || begins(CONSTANTS);
    match space {
        Space::Function if is_own => is_function(name) || name.len() <= 2,
        Space::Function | Space::Struct => is_parameter || is_member(name),
        Space::Enum | Space::Bitmask => is_parameter,
        Space::Frame => name.is_empty(),
    }
}

/// Returns whether a name is one of a member or type as Windows writes it: `BufferCount`, `GUID`.
fn is_member(name: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_[]*&. ->:".contains(byte);
    let has_lower = name.iter().any(u8::is_ascii_lowercase);
    let uppers = name.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    name.iter().all(is_name) && (has_lower && uppers <= 3 || TYPES.contains(&name))
}

/// Types of Windows in upper case.
const TYPES: &[&[u8]] =
    &[b"GUID", b"RECT", b"POINT", b"SIZE", b"LUID", b"LARGE_INTEGER", b"RGNDATA"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_extensions_and_functions_are_harmless_and_other_texts_are_not() {
        for text in [
            &b"GL_ARB_debug_output GL_EXT_texture3D"[..],
            b"glTexImage2D",
            b"eglGetProcAddress",
            b"",
            b"4.6",
            b"blob(64)",
        ] {
            assert!(is_harmless(text), "{text:?}");
        }
        for text in
            [&b"a secret"[..], b"global", b"u_color", b"Mesa Intel", b":0", b"GL_ARB_SECRET"]
        {
            assert!(!is_harmless(text), "{text:?}");
        }
    }

    #[test]
    fn definitions_of_apis_are_known() {
        assert!(is_definition(Space::Function, b"glFlush", true));
        assert!(is_definition(Space::Function, b"ID3D11Device::Release", true));
        assert!(is_definition(Space::Function, b"target", false));
        assert!(is_definition(Space::Enum, b"GL_RGBA", false));
        assert!(is_definition(Space::Struct, b"BufferCount", false));
        for (space, name, is_own) in [
            (Space::Function, &b"SECRETcall"[..], true),
            (Space::Struct, b"SECRETmember", false),
            (Space::Enum, b"SECRET", false),
            (Space::Frame, b"/src/secret.c", true),
        ] {
            assert!(!is_definition(space, name, is_own), "{name:?}");
        }
    }
}
