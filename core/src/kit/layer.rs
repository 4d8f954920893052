//! Maps positions in an expanded layer to the stored bytes.
//!
//! A map receives one segment at a time, in order, while the layer is expanded. It keeps only the
//! latest ones, so its memory is bounded. A span is therefore resolved when its finding is created,
//! while its segments are still known.

use std::collections::VecDeque;

use crate::kit::span::Span;

/// Number of segments that a map keeps.
///
/// A perf record spans two or three segments; 4096 allow for the delay of a decoder's window, at 32
/// bytes each.
pub const SEGMENTS_KEPT: usize = 4096;

/// Bytes of an expanded layer and the stored bytes that they come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The bytes in the expanded layer.
    pub expanded: Span,
    /// The bytes in the layer below that expand to them, and that an edit has to rewrite.
    pub stored: Span,
}

/// The latest segments of an expanded layer.
#[derive(Clone, Debug, Default)]
pub struct LayerMap {
    segments: VecDeque<Segment>,
}

impl LayerMap {
    /// Appends the segment that follows the last one.
    pub fn push(&mut self, segment: Segment) {
        if self.segments.len() >= SEGMENTS_KEPT {
            self.segments.pop_front();
        }
        self.segments.push_back(segment);
    }

    /// Returns the stored bytes that `span` of the expanded layer comes from, or the part of them
    /// that is still known.
    pub fn stored(&self, span: Span) -> Option<Span> {
        let first = self.segments.partition_point(|segment| segment.expanded.end <= span.start);
        let mut stored: Option<Span> = None;
        for segment in self.segments.iter().skip(first) {
            let touches = segment.expanded.start < span.end
                || (span.is_empty() && segment.expanded.start <= span.start);
            if !touches {
                break;
            }
            let start = stored.map_or(segment.stored.start, |known| known.start);
            stored = Some(Span::new(segment.stored.layer, start, segment.stored.end));
        }
        stored
    }

    /// Returns the segment that contains the byte at `offset` of the expanded layer.
    pub fn segment(&self, offset: u64) -> Option<Segment> {
        let index = self.segments.partition_point(|segment| segment.expanded.end <= offset);
        self.segments.get(index).copied().filter(|segment| segment.expanded.start <= offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::Layer;

    #[test]
    fn a_span_over_two_segments_resolves_to_both() {
        let file = Layer::stored(0);
        let mut map = LayerMap::default();
        for (expanded, stored) in [(0..10, 100..104), (10..30, 110..120), (30..31, 120..128)] {
            map.push(Segment {
                expanded: Span::new(file.expanded(), expanded.start, expanded.end),
                stored: Span::new(file, stored.start, stored.end),
            });
        }
        let stored = |start, end| map.stored(Span::new(file.expanded(), start, end));
        assert_eq!(stored(2, 8), Some(Span::new(file, 100, 104)));
        assert_eq!(stored(8, 12), Some(Span::new(file, 100, 120)));
        assert_eq!(stored(30, 31), Some(Span::new(file, 120, 128)));
        assert_eq!(stored(31, 40), None);
        assert_eq!(map.segment(29).map(|s| s.stored.start), Some(110));
    }

    #[test]
    fn an_empty_span_resolves_to_the_segment_around_it() {
        let file = Layer::stored(0);
        let mut map = LayerMap::default();
        for (start, stored) in [(0, 100), (10, 110), (20, 120)] {
            map.push(Segment {
                expanded: Span::sized(file.expanded(), start, 10),
                stored: Span::sized(file, stored, 10),
            });
        }
        let stored = |at| map.stored(Span::new(file.expanded(), at, at));
        assert_eq!(stored(5), Some(Span::sized(file, 100, 10)));
        assert_eq!(stored(10), Some(Span::sized(file, 110, 10)));
        assert_eq!(stored(30), None);
    }
}
