//! The names in the definitions of all builds.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::TABLES;
use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::decode::raw::Raw;

/// The names that tracers write.
#[derive(Debug, Default)]
pub struct KnownNames {
    /// Functions and methods, and the constants of enums and bitmasks.
    pub calls: BTreeSet<&'static [u8]>,
    /// Arguments, structs and their members.
    pub parts: BTreeSet<&'static [u8]>,
}

static NAMES: LazyLock<KnownNames> = LazyLock::new(|| {
    let mut names = KnownNames::default();
    for (space, raw) in TABLES.definitions() {
        names.add(space, raw).unwrap_or_default();
    }
    names
});

/// Returns the names in all built-in signatures.
pub fn known_names() -> &'static KnownNames {
    &NAMES
}

impl KnownNames {
    /// Adds the names of a definition, as a stream stores it after its id.
    fn add(&mut self, space: Space, raw: &'static [u8]) -> Option<()> {
        let mut reader = Raw(raw);
        match space {
            Space::Function => _ = self.calls.insert(reader.name()?),
            Space::Struct => _ = self.parts.insert(reader.name()?),
            Space::Enum | Space::Bitmask | Space::Frame => {}
        }
        for _ in 0..reader.uint()? {
            let name = reader.name()?;
            match space {
                Space::Function | Space::Struct => _ = self.parts.insert(name),
                // The kind of the number, and the number.
                Space::Enum => _ = (self.calls.insert(name), reader.uint()?, reader.uint()?),
                Space::Bitmask | Space::Frame => _ = (self.calls.insert(name), reader.uint()?),
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_kind_are_known() {
        let known = known_names();
        for name in ["glFlush", "ID3D11Device::Release", "memcpy", "GL_RGBA", "EGL_WINDOW_BIT"] {
            assert!(known.calls.contains(name.as_bytes()), "{name}");
        }
        for name in ["target", "BufferCount", "D3D10_BOX", "GUID"] {
            assert!(known.parts.contains(name.as_bytes()), "{name}");
        }
        assert!(known.calls.len() > 13_000 && known.parts.len() > 3_000);
    }
}
