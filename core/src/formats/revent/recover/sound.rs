//! A quick look at the events of a sound recording: all of them lie in their places.
//!
//! `align` needs three fields of each event only, and nothing of it later. Read in blocks without a
//! batch in between, they cost a fifth of a pass over events.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::event::{narrow_if, parse_event};
use crate::formats::revent::decode::stretch::Stretch;
use crate::formats::revent::layout::Generation;
use crate::formats::revent::recover::shape::Shape;
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;

/// Events after which the look can end.
const BLOCK: usize = 64;

/// Returns whether all events of a stretch are there and sound.
pub fn are_all_sound(source: &Source<'_>, stretch: &Stretch, shape: &Shape) -> bool {
    // One copy of the decoder per layout, with its widths as constants.
    match stretch.generation {
        Generation::P20 => look::<20>(source, stretch, shape, Generation::P20),
        Generation::P24 => look::<24>(source, stretch, shape, Generation::P24),
        Generation::P28 => look::<28>(source, stretch, shape, Generation::P28),
        Generation::P32 | Generation::V1 => look::<32>(source, stretch, shape, Generation::P32),
        Generation::V2 | Generation::V3 => look::<26>(source, stretch, shape, Generation::V2),
    }
}

/// Looks at events of `N` bytes in the layout of `generation`.
#[inline(always)]
fn look<const N: usize>(
    source: &Source<'_>,
    stretch: &Stretch,
    shape: &Shape,
    generation: Generation,
) -> bool {
    let is_sound = |bytes: &[u8; N]| {
        let mut cursor = Cursor::new(bytes, FILE, 0, Order::Little);
        let event = parse_event(&mut cursor, generation);
        event.is_ok_and(|event| shape.is_sound(&narrow_if(event, shape.widened)))
    };
    let mut seen = 0_u64;
    while seen < stretch.count {
        let at = stretch.offset(seen);
        let wanted = to_usize(stretch.count.saturating_sub(seen)).saturating_mul(N);
        let run = source.run(at);
        let (mut chunks, _) = run.get(..wanted).unwrap_or(run).as_chunks::<N>();
        let copy;
        if chunks.is_empty() {
            // The event lies in two pieces of the source, or ends after it.
            copy = source.read(at, at.saturating_add(to_u64(N)));
            chunks = copy.as_chunks::<N>().0;
        }
        let all = |block: &[[u8; N]]| block.iter().fold(true, |all, bytes| all & is_sound(bytes));
        if chunks.is_empty() || !chunks.chunks(BLOCK).all(all) {
            return false;
        }
        seen = seen.saturating_add(to_u64(chunks.len()));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::revent::decode::event::Event;
    use crate::formats::revent::layout::LAYOUTS;

    fn look_at(events: &[Event], shape: &Shape, count: u64) -> [bool; 2] {
        let bytes: Vec<u8> =
            events.iter().flat_map(|event| event.encode(shape.generation)).collect();
        let stretch = Stretch { generation: shape.generation, start: 0, count };
        let sources = [Source::new(&bytes), Source::from_pieces(bytes.chunks(77))];
        sources.map(|source| are_all_sound(&source, &stretch, shape))
    }

    #[test]
    fn one_event_that_is_not_sound_is_found_in_every_layout_and_in_pieces() {
        let usual = Event { sec: 7, usec: 1, device: 3, value: 5, pad: 0, kind: 3, code: 0x39 };
        let zero = Event { device: 3, ..Event::default() };
        let timeless = Event { sec: 0, usec: 0, ..usual };
        let late = Event { usec: 1_000_000, ..usual };
        for layout in &LAYOUTS {
            let shape = Shape { generation: layout.generation, devices: 4, widened: false };
            for place in [0, 63, 64, 149] {
                let mut events = vec![usual; 150];
                events[place] = zero;
                assert_eq!(look_at(&events, &shape, 150), [true; 2], "{}", layout.name);
                for bad in [Event { device: 4, ..usual }, timeless, late] {
                    events[place] = bad;
                    assert_eq!(look_at(&events, &shape, 150), [false; 2], "{}", layout.name);
                }
            }
            assert_eq!(look_at(&[usual; 3], &shape, 4), [false; 2], "a missing event");
        }
    }
}
