//! Which damage can be blanked: what is left would make the recording worse.
//!
//! All damage is blanked together. If that does harm, it is halved until the places that do it are
//! found, as a repair does with its fixes; they are left, and named.

use std::collections::BTreeSet;

use super::{RedactError, Redaction};
use crate::kit::span::Span;
use crate::model::Rule;
use crate::sight::filler::BLANKS;

/// Attempts to find the damage that does harm, for each byte that takes its place: one place among
/// a thousand is found by ten.
const ATTEMPTS_MAX: u64 = 32;
/// Bytes that these attempts read: each redacts the whole recording, which takes a second for some
/// 10 MiB. What was not tried is left.
const ATTEMPTS_BYTES: u64 = 64 << 20;

/// The bytes that take the place of damage.
#[derive(Clone, Debug, Default)]
pub(super) struct Blanks {
    /// The byte for all damage that is not listed; `None` if that is left.
    pub(super) all: Option<u8>,
    /// The byte for these places, in order.
    places: Vec<(Span, u8)>,
}

impl Blanks {
    /// Replaces all damage by one byte.
    pub(super) fn all(blank: u8) -> Self {
        Self { all: Some(blank), places: Vec::new() }
    }

    fn at(mut places: Vec<(Span, u8)>) -> Self {
        places.sort_unstable();
        Self { all: None, places }
    }

    /// Returns the byte for a place; `None` if it is left.
    pub(super) fn of(&self, span: Span) -> Option<u8> {
        let next = self
            .places
            .partition_point(|(place, _)| (place.layer, place.start) <= (span.layer, span.start));
        let place = next.checked_sub(1).and_then(|last| self.places.get(last));
        let holds = |place: &Span| place.layer == span.layer && span.end <= place.end;
        place.filter(|(place, _)| holds(place)).map_or(self.all, |(_, blank)| Some(*blank))
    }
}

/// Selected content that stays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left<'a> {
    /// Kinds without a filler that works.
    pub(super) kinds: &'a [&'static Rule],
    /// The damage that does not stay.
    pub(super) blanks: &'a Blanks,
}

/// Returns the number of attempts for a recording of `len` bytes.
fn count_attempts(len: u64) -> u64 {
    ATTEMPTS_BYTES.checked_div(len).unwrap_or(ATTEMPTS_MAX).clamp(1, ATTEMPTS_MAX)
}

/// Redacts a recording of `len` bytes with as much of the damage in `places` blanked as does no
/// harm.
pub(super) fn blank_most(
    (places, len): (&[Span], u64),
    attempt: impl Fn(&Blanks) -> Result<Redaction, RedactError>,
) -> Result<Redaction, RedactError> {
    let mut best = attempt(&Blanks::default())?;
    let mut good: Vec<(Span, u8)> = Vec::new();
    for blank in BLANKS {
        let done: BTreeSet<Span> = good.iter().map(|(place, _)| *place).collect();
        let open: Vec<Span> =
            places.iter().filter(|place| !done.contains(place)).copied().collect();
        let mut parts = vec![open.as_slice()];
        for _ in 0..count_attempts(len) {
            let Some(part) = parts.pop() else { break };
            let together = good.iter().copied().chain(part.iter().map(|place| (*place, blank)));
            let together: Vec<(Span, u8)> = together.collect();
            match attempt(&Blanks::at(together.clone())) {
                Ok(redaction) => (best, good) = (redaction, together),
                Err(_) if part.len() <= 1 => {}
                Err(_) => {
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                }
            }
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::span::Layer;

    #[test]
    fn the_longer_a_recording_the_fewer_attempts_it_gets() {
        let lengths = [0, 1, 2 << 20, 16 << 20, 1 << 40];
        assert_eq!(lengths.map(count_attempts), [32, 32, 32, 4, 1]);
    }

    #[test]
    fn a_place_has_the_byte_of_the_listed_place_around_it() {
        let span = |start, end| Span::new(Layer::stored(0), start, end);
        let blanks = Blanks::at(vec![(span(8, 16), 0), (span(0, 4), 0xff)]);
        let of = |start, end| blanks.of(span(start, end));
        assert_eq!([of(0, 4), of(1, 3), of(8, 12)], [Some(0xff), Some(0xff), Some(0)]);
        assert_eq!([of(4, 8), of(3, 9), of(12, 17)], [None; 3]);
        assert_eq!(Blanks::all(7).of(span(3, 9)), Some(7));
    }
}
