//! The fields of the tiles of a recording, and the bytes that no known field claims.
//!
//! ```text
//!  tile    |type|misc|size| pid | comm      | rest      |
//!  known   |==============|=====|===========|           |   plain facts, or judged by the format
//!  unknown                                  |===========|   private, unless all bytes are 0
//! ```
//!
//! A byte that no field claims, or a field that the format does not know, may hold anything.

use std::ops::Range;

use crate::kit::field_log::{Field, FieldLog, FieldValue, Noted, resolve};
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::model::limits::MAP_FIELDS;
use crate::model::options::Options;
use crate::model::tile::{Fields, Tile, Walk};
use crate::sight::auditor::Auditor;
use crate::sight::content::LOOKED_AT;
use crate::sight::excerpt::Excerpt;
use crate::sight::filler::Filler;
use crate::sight::place::{Place, Private, find_byte};
use crate::sight::rules::sender;
use crate::sight::text::TEXT_LOOKED_AT;

/// Fields of a tile that are held at a time: those of a table of 400 attrs. What lies after them is
/// named as unknown.
const FIELDS_HELD: u64 = 1 << 14;

/// The knowledge of a format about a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// It is a plain fact, or the format judges it by itself.
    Known,
    /// Its bytes are numbers: plain facts.
    Numbers,
    /// Nothing; zeros can replace it.
    Unknown,
    /// Nothing, and a reader needs it as it is.
    Opaque,
}

/// Which tiles a format looks at, and what it knows about their fields.
#[derive(Clone, Copy, Debug)]
pub struct TileReader {
    /// Whether the format looks at the fields of a tile.
    pub is_wanted: fn(&Tile) -> bool,
    /// Returns the knowledge about a field.
    pub knowledge: fn(&Tile, &Field) -> Knowledge,
    /// Whether readers need the bytes that no known field of a tile claims.
    pub is_needed: fn(&Tile) -> bool,
}

impl TileReader {
    /// Looks at the tiles that `is_wanted` selects, all of whose fields are known.
    pub fn of(is_wanted: fn(&Tile) -> bool) -> Self {
        Self { is_wanted, knowledge: |_, _| Knowledge::Known, is_needed: |_| false }
    }
}

impl Auditor<'_> {
    /// Passes the fields of the tiles of `walk` that `reader` wants to `each`, and judges the bytes
    /// that no tile and no known field claims. `each` may add fields, for bytes that no decoder
    /// reads.
    pub fn tiles(
        &mut self,
        walk: Walk<'_>,
        options: &Options,
        reader: TileReader,
        each: &mut dyn FnMut(&mut Self, &Tile, &mut Noted),
    ) {
        let max = options.limits.of(&MAP_FIELDS).min(FIELDS_HELD);
        walk(&mut |tile: Tile, fields: Fields<'_>| {
            self.tile(&tile, fields);
            if (reader.is_wanted)(&tile) {
                let log = FieldLog::new(max).keeping(TEXT_LOOKED_AT);
                fields(&log);
                let mut noted = log.into_noted();
                let (start, end) = (tile.span.start, tile.span.end);
                noted.fields.retain(|field| start <= field.span.start && field.span.end <= end);
                each(self, &tile, &mut noted);
                self.unknown_parts(&tile, noted, reader);
            }
        });
    }

    /// Judges the bytes of a tile that no known field claims.
    fn unknown_parts(&mut self, tile: &Tile, noted: Noted, reader: TileReader) {
        let Noted { fields, stored, left_out } = noted;
        let mut claimed: Vec<Span> = Vec::with_capacity(fields.len());
        let mut left: Vec<Field> = Vec::new();
        let fields = resolve(fields.into_iter().filter(|one| one.span.layer == tile.span.layer));
        let is_number =
            |one: &Field| matches!(one.value, FieldValue::Number(_) | FieldValue::Hex(_));
        let mut numbers: Vec<Span> = Vec::new();
        for field in fields {
            match (reader.knowledge)(tile, &field) {
                Knowledge::Known if !is_number(&field) => claimed.push(field.span),
                Knowledge::Known | Knowledge::Numbers => {
                    claimed.push(field.span);
                    numbers.push(field.span);
                }
                Knowledge::Unknown => left.push(field),
                Knowledge::Opaque => {
                    claimed.push(field.span);
                    self.opaque_part(tile, &field, stored);
                }
            }
        }
        claimed.sort_by_key(|span| span.start);
        numbers.sort_by_key(|span| span.start);
        self.text_in_numbers(tile, &numbers);
        for gap in gaps(tile.span, &claimed) {
            // Fields beyond the limit were not read.
            if left_out > 0 || (reader.is_needed)(tile) {
                self.needed_part(tile, gap, &left, stored);
            } else if gap.layer.is_stored() {
                self.unknown_stored(tile, gap);
            } else {
                self.unknown_expanded(tile, gap, &left, stored);
            }
        }
    }

    /// Judges the numbers of a recording with errors that hold text: lost or inserted bytes made
    /// them of other fields. Their bytes count as damaged.
    fn text_in_numbers(&mut self, tile: &Tile, numbers: &[Span]) {
        if self.errors().is_empty() || !tile.span.layer.is_stored() {
            return;
        }
        let source = self.bytes(tile.span.layer.file);
        for numbers in numbers.chunk_by(|one, two| one.end == two.start) {
            let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { continue };
            let bytes = source.read(first.start, last.end);
            for text in find_texts(&bytes) {
                let start = first.start.saturating_add(to_u64(text.start));
                let span = Span::sized(first.layer, start, to_u64(text.len()));
                let bytes = bytes.get(text).unwrap_or_default();
                let private = Place::from(span).private(bytes, Filler::Zeros);
                let subject = (tile.name, "damaged byte");
                self.hide(&sender::DAMAGE, subject, span.len(), private, Excerpt::Text(bytes));
            }
        }
    }

    /// Judges a field that nobody may change, though nothing is known about it.
    fn opaque_part(&mut self, tile: &Tile, field: &Field, stored: Option<Span>) {
        let is_empty = match &field.value {
            FieldValue::Bytes(bytes) => bytes.iter().all(|byte| *byte == 0),
            _ => false,
        };
        if !is_empty {
            let place = Place::from(field.span).in_stored(stored);
            let (rule, subject) = (&sender::UNKNOWN_CONTENT, (tile.name, "unknown part"));
            self.see(rule, subject, place, Excerpt::None);
        }
    }

    /// Names unknown bytes that stay; those that are 0 are no content.
    fn needed_part(&mut self, tile: &Tile, gap: Span, left: &[Field], stored: Option<Span>) {
        let is_zero = |field: &Field| match &field.value {
            FieldValue::Bytes(bytes) => bytes.iter().all(|byte| *byte == 0),
            _ => false,
        };
        let is_empty = match gap.layer.is_stored() {
            true => find_byte(&self.bytes(gap.layer.file), gap).is_none(),
            false => left.iter().any(|field| field.span == gap && is_zero(field)),
        };
        if !is_empty {
            let (rule, subject) = (&sender::UNKNOWN_CONTENT, (tile.name, "unknown part"));
            self.see(rule, subject, Place::from(gap).in_stored(stored), Excerpt::None);
        }
    }

    fn unknown_stored(&mut self, tile: &Tile, gap: Span) {
        let source = self.bytes(gap.layer.file);
        let Some(at) = find_byte(&source, gap) else { return };
        let span = Span::new(gap.layer, at, gap.end);
        let bytes = source.read(at, gap.end.min(at.saturating_add(to_u64(LOOKED_AT))));
        self.unknown_part(tile, Place::from(span).private(&bytes, Filler::Zeros));
    }

    /// Judges unknown bytes of an expanded layer: those that fields hold can be replaced.
    fn unknown_expanded(&mut self, tile: &Tile, gap: Span, left: &[Field], stored: Option<Span>) {
        let mut at = gap.start;
        let inside =
            left.iter().filter(|one| gap.start <= one.span.start && one.span.end <= gap.end);
        for field in inside {
            let FieldValue::Bytes(bytes) = &field.value else { continue };
            if field.span.start > at {
                break;
            }
            let place = Place::from(field.span).in_stored(stored);
            let differs_later = to_u64(bytes.len()) < field.span.len();
            let private = place.private(bytes, Filler::Zeros);
            self.unknown_part(tile, Private { differs_later, ..private });
            at = at.max(field.span.end);
        }
        if at < gap.end {
            let place = Place::from(Span::new(gap.layer, at, gap.end)).in_stored(stored);
            let (rule, subject) = (&sender::UNKNOWN_CONTENT, (tile.name, "unknown part"));
            self.see(rule, subject, place, Excerpt::None);
        }
    }

    fn unknown_part(&mut self, tile: &Tile, private: Private<'_>) {
        let excerpt = Excerpt::Bytes(private.bytes, private.place.span.len());
        let (rule, subject) = (&sender::UNKNOWN_CONTENT, (tile.name, "unknown part"));
        self.hide(rule, subject, 1, private, excerpt);
        self.blob(tile.name, private.bytes, private.place);
    }
}

/// Characters in a row that numbers have by chance once in some thousands.
const TEXT_LEAST: usize = 5;

/// Returns the texts among the bytes of numbers.
fn find_texts(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut at = 0_usize;
    let runs = bytes.chunk_by(|one, two| is_text(*one) == is_text(*two));
    let runs = runs.filter_map(|run| {
        let start = at;
        at = at.saturating_add(run.len());
        let is_long = run.len() >= TEXT_LEAST && run.first().is_some_and(|byte| is_text(*byte));
        is_long.then_some(start..at)
    });
    runs.collect()
}

/// Returns whether texts have this byte.
const fn is_text(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// Returns the parts of `whole` that no span of `claimed` covers; these are in order of their
/// starts.
fn gaps(whole: Span, claimed: &[Span]) -> Vec<Span> {
    let mut at = whole.start;
    let mut gaps = Vec::new();
    for span in claimed {
        if span.start > at {
            gaps.push(Span::new(whole.layer, at, span.start));
        }
        at = at.max(span.end);
    }
    if at < whole.end {
        gaps.push(Span::new(whole.layer, at, whole.end));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::Layer;

    #[test]
    fn gaps_are_what_no_span_covers() {
        let span = |start, end| Span::new(Layer::stored(0), start, end);
        let claimed = [span(2, 6), span(3, 4), span(6, 7), span(9, 12)];
        assert_eq!(gaps(span(0, 12), &claimed), [span(0, 2), span(7, 9)]);
        assert_eq!(gaps(span(2, 14), &claimed), [span(7, 9), span(12, 14)]);
        assert_eq!(gaps(span(4, 5), &[]), [span(4, 5)]);
    }
}
