//! Metadata in UTF-16: editors and shells of Windows store text like that.

use crate::formats::ovni::decode::json::{self, Kind};
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::model::edit::Edit;
use crate::model::limits::Limits;

/// Returns the edit that makes UTF-8 of a text in UTF-16, if it is a JSON object then.
pub fn restore_encoding(text: &[u8], layer: Layer, limits: &Limits) -> Option<Edit> {
    let decoded = decode_utf16(text)?;
    let parsed = json::parse(decoded.as_bytes().into(), limits).ok()?;
    let whole = Span::new(layer, 0, to_u64(text.len()));
    (parsed.root().kind() == Kind::Object).then(|| Edit::replace(whole, decoded))
}

/// The order of the bytes of a unit.
type Order = fn([u8; 2]) -> u16;

/// Decodes UTF-16, in the order of its mark or, without one, of its first character: JSON begins
/// with one of ASCII.
fn decode_utf16(text: &[u8]) -> Option<String> {
    let (text, unit): (&[u8], Order) = match text {
        [0xff, 0xfe, rest @ ..] => (rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => (rest, u16::from_be_bytes),
        [first, 0, ..] if *first != 0 => (text, u16::from_le_bytes),
        [0, second, ..] if *second != 0 => (text, u16::from_be_bytes),
        _ => return None,
    };
    let (pairs, rest) = text.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let decoded: Result<String, _> = char::decode_utf16(units).collect();
    decoded.ok().filter(|_| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_either_order_is_decoded_with_and_without_a_mark() {
        let text = "{\"loom\": \"nod\u{e9} \u{1f600}\"}\r\n";
        let encode = |start: &str, order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            format!("{start}{text}").encode_utf16().flat_map(order).collect()
        };
        for start in ["", "\u{feff}"] {
            for order in [u16::to_le_bytes, u16::to_be_bytes] {
                let bytes = encode(start, order);
                let edit = restore_encoding(&bytes, Layer::stored(0), &Limits::default()).unwrap();
                assert_eq!(edit.insert, text.as_bytes());
                let cut = bytes.get(..bytes.len() - 1).unwrap();
                assert_eq!(restore_encoding(cut, Layer::stored(0), &Limits::default()), None);
            }
        }
        for other in [text.as_bytes(), b"", b"\0\0{}", b"[\0]\0"] {
            assert_eq!(restore_encoding(other, Layer::stored(0), &Limits::default()), None);
        }
    }
}
