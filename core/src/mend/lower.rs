//! From edits of an expanded layer to edits of the file.
//!
//! A stored segment (a compressed record, a chunk) is the unit: one that an edit touches is encoded
//! anew with its remaining bytes, one that loses all its bytes goes whole, any other stays byte for
//! byte. The format supplies the encoder.

use crate::kit::layer::Segment;
use crate::kit::num::to_usize;
use crate::mend::edit::Edit;

/// A segment with the expanded bytes it holds.
#[derive(Clone, Debug)]
pub struct Held {
    /// Its place in both layers.
    pub segment: Segment,
    /// What it expands to; may be empty for a segment that an edit drops whole.
    pub bytes: Vec<u8>,
}

/// The edits of the stored layer that bring `edits` of the expanded layer about.
///
/// `held` are the segments that the edits touch, in order; `encode` turns expanded bytes into what
/// is stored for them. Edits outside every segment are left out.
pub fn lower(edits: &[Edit], held: &[Held], encode: impl Fn(&[u8]) -> Vec<u8>) -> Vec<Edit> {
    let mut lowered = Vec::new();
    for Held { segment, bytes } in held {
        let (place, mut kept, mut at) = (segment.expanded, Vec::new(), segment.expanded.start);
        let mut touched = false;
        let part = |from: u64, to: u64| {
            let from = to_usize(from.saturating_sub(place.start));
            let to = to_usize(to.saturating_sub(place.start));
            bytes.get(from..to.min(bytes.len())).unwrap_or_default()
        };
        for edit in edits {
            // An insert belongs to the segment that holds the byte it stands before.
            let inserts = place.start <= edit.span.start && edit.span.start < place.end;
            if !inserts && !edit.span.overlaps(&place) {
                continue;
            }
            touched = true;
            kept.extend_from_slice(part(at, edit.span.start.clamp(at, place.end)));
            if inserts {
                kept.extend_from_slice(&edit.insert);
            }
            at = edit.span.end.clamp(at, place.end);
        }
        if touched {
            kept.extend_from_slice(part(at, place.end));
            let stored = if kept.is_empty() { Vec::new() } else { encode(&kept) };
            lowered.push(Edit::replace(segment.stored, stored));
        }
    }
    lowered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::{Layer, Span};

    #[test]
    fn touched_segments_are_encoded_anew_and_emptied_ones_go() {
        let (file, stream) = (Layer::stored(0), Layer::stored(0).expanded());
        // Stored form: the bytes in brackets.
        let held: Vec<Held> = [(0, b"abc"), (3, b"def"), (6, b"ghi")]
            .into_iter()
            .map(|(start, bytes)| Held {
                segment: Segment {
                    expanded: Span::sized(stream, start, 3),
                    stored: Span::sized(file, start * 2, 5),
                },
                bytes: bytes.to_vec(),
            })
            .collect();
        let encode = |bytes: &[u8]| [b"[", bytes, b"]"].concat();
        let cut = [Edit::drop(Span::new(stream, 4, 9))];
        assert_eq!(
            lower(&cut, &held, encode),
            [Edit::replace(Span::sized(file, 6, 5), *b"[d]"), Edit::drop(Span::sized(file, 12, 5))]
        );
        let insert = [Edit::replace(Span::new(stream, 3, 3), *b"XY")];
        assert_eq!(
            lower(&insert, &held, encode),
            [Edit::replace(Span::sized(file, 6, 5), *b"[XYdef]")]
        );
    }
}
