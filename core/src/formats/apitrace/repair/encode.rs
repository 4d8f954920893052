//! Bytes of the stream that a repair adds.

use crate::formats::apitrace::decode::grammar::Space;
use crate::formats::apitrace::layout::{
    FLAG_FAKE, PLACEHOLDER_ARG, PLACEHOLDER_NAME, VERSION_ENUM_SETS, VERSION_PROPERTIES,
    VERSION_THREADS, detail, event, frame, kind,
};
pub use crate::kit::num::leb128 as uint;
use crate::kit::num::to_u64;

fn string(text: &[u8]) -> Vec<u8> {
    let mut bytes = uint(to_u64(text.len()));
    bytes.extend_from_slice(text);
    bytes
}

fn numbered_name(prefix: &str, number: u64) -> Vec<u8> {
    string(format!("{prefix}{number}").as_bytes())
}

/// Encodes the version and, if it has one, the semantic version.
pub fn versions(version: u64) -> Vec<u8> {
    let mut bytes = uint(version);
    if version >= VERSION_PROPERTIES {
        bytes.extend(uint(version));
    }
    bytes
}

/// Encodes the header of a stream without properties.
pub fn header(version: u64) -> Vec<u8> {
    let mut bytes = versions(version);
    if version >= VERSION_PROPERTIES {
        bytes.push(0);
    }
    bytes
}

/// Encodes the empty name that ends the properties.
pub fn properties_end() -> Vec<u8> {
    vec![0]
}

/// Encodes the calls `first..first + count` as placeholders: calls of the function `id` with an
/// argument named `lost_call`, flagged as made up. The first one defines the
/// function if `defines`.
pub fn placeholders(version: u64, id: u64, first: u64, count: u64, defines: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for index in 0..count {
        bytes.push(event::ENTER);
        if version >= VERSION_THREADS {
            bytes.push(0);
        }
        bytes.extend(uint(id));
        if defines && index == 0 {
            bytes.extend(string(PLACEHOLDER_NAME));
            bytes.extend(uint(1));
            bytes.extend(string(PLACEHOLDER_ARG));
        }
        bytes.push(detail::FLAGS);
        bytes.extend(uint(FLAG_FAKE));
        bytes.push(detail::END);
        bytes.extend(leave(first.saturating_add(index)));
    }
    bytes
}

/// Encodes a leave without arguments and result.
pub fn leave(call: u64) -> Vec<u8> {
    let mut bytes = vec![event::LEAVE];
    bytes.extend(uint(call));
    bytes.push(detail::END);
    bytes
}

/// Encodes a definition that was lost, which follows the first use of its id.
pub fn definition(version: u64, space: Space, id: u64, items: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    match space {
        Space::Function | Space::Struct => {
            let (name, item) = match space {
                Space::Function => ("lost_signature_", "arg"),
                _ => ("lost_struct_", "member"),
            };
            bytes.extend(numbered_name(name, id));
            bytes.extend(uint(items));
            for index in 0..items {
                bytes.extend(numbered_name(item, index));
            }
        }
        Space::Enum if version < VERSION_ENUM_SETS => {
            bytes.extend(numbered_name("lost_enum_", id));
            bytes.extend([kind::UINT, 0]);
        }
        Space::Enum | Space::Bitmask => bytes.push(0),
        Space::Frame => bytes.push(frame::END),
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_encoded_in_their_shortest_form() {
        assert_eq!(uint(0), [0]);
        assert_eq!(uint(127), [127]);
        assert_eq!(uint(128), [0x80, 1]);
        assert_eq!(uint(u64::MAX).len(), 10);
    }
}
