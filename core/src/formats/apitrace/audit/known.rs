//! Texts of a trace that are no secret: words of the APIs.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::decode::names::is_blob_text;
use crate::formats::apitrace::recover::signatures::known_names;
use crate::sight::harmless::{has_only, is_number};

/// Properties that apitrace writes.
pub(super) const PROPERTIES: &[&[u8]] =
    &[b"process.name", b"process.commandLine", b"os.name", b"os.version"];

/// Names that no built-in signature has: extensions, functions and constants of the registries of
/// OpenGL, GLX, WGL and EGL, and extensions that Mesa and the tracer have besides.
static REGISTRY: &str = include_str!("registry.txt");

/// Functions that only the tracer and drivers have.
const OTHER: &str = "fake_glClear glXUnused";

/// Names of extensions, functions and constants.
static CALLS: LazyLock<BTreeSet<&[u8]>> = LazyLock::new(|| {
    let listed = [REGISTRY, OTHER].into_iter().flat_map(str::split_ascii_whitespace);
    known_names().calls.iter().copied().chain(listed.map(str::as_bytes)).collect()
});

/// Beginnings of the names that a repair makes up for lost definitions; a number follows.
const MADE_UP: &[&str] = &["lost_signature_", "lost_struct_", "lost_enum_", "arg", "member"];

/// Returns whether a text of a call is a number, or names of extensions and functions.
pub(super) fn is_harmless(text: &[u8]) -> bool {
    let is_separator = |byte: u8| byte == b' ';
    is_blob_text(text) && text.len() <= BLOB_TEXT_MAX
        || has_only(text, is_separator, |word| CALLS.contains(word))
}

/// The longest `blob(N)`, that of 999999 bytes: more digits are no plain number.
const BLOB_TEXT_MAX: usize = 12;

/// Returns whether a name of a definition is one of an API.
pub(super) fn is_definition(space: Space, name: &[u8], is_own: bool) -> bool {
    let is_made_up = || {
        let numbers = MADE_UP.iter().filter_map(|start| name.strip_prefix(start.as_bytes()));
        numbers.filter(|number| !number.is_empty()).any(is_number)
    };
    // Two letters hide nobody.
    let is_short = name.len() <= 2;
    match space {
        Space::Function if is_own => is_short || CALLS.contains(name) || is_made_up(),
        Space::Function | Space::Struct => {
            is_short || known_names().parts.contains(name) || is_made_up()
        }
        Space::Enum | Space::Bitmask => is_short || CALLS.contains(name) || is_made_up(),
        Space::Frame => name.is_empty(),
    }
}

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
        for text in [
            &b"a secret"[..],
            b"global",
            b"u_color",
            b"Mesa Intel",
            b":0",
            b"GL_ARB_SECRET",
            b"GL_ARB_hunter2secret",
            b"glHunter2secret",
            b"CreateHunter2secret",
            b"IHunter2secret",
            b"4111 1111 1111 1111",
            b"blob(4111111111111111)",
        ] {
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
        assert!(is_definition(Space::Struct, b"lost_struct_12", true));
        for (space, name, is_own) in [
            (Space::Function, &b"SECRETcall"[..], true),
            (Space::Struct, b"SECRETmember", false),
            (Space::Function, b"glHunter2secret", true),
            (Space::Function, b"hunter2secret", false),
            (Space::Struct, b"Hunter2Secret", true),
            (Space::Enum, b"SECRET", false),
            (Space::Enum, b"GL_HUNTER2SECRET", false),
            (Space::Bitmask, b"D3D_hunter2secret", false),
            (Space::Enum, b"arg4111111111111111", false),
            (Space::Frame, b"/src/secret.c", true),
        ] {
            assert!(!is_definition(space, name, is_own), "{name:?}");
        }
    }
}
