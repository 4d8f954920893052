//! Events that occur again later in their stream: a process that forks writes what its parent had
//! collected, and a buffer may be written twice.

use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::layout::{EVENT_HEADER, STREAM_HEADER};
use crate::kit::num::to_u64;
use crate::kit::reading::Reading;
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::kit::steps;
use crate::kit::walk::Item;

/// Bytes before the clock of an event.
const CLOCK: u64 = 4;
/// Events of a copy, at least: one alone may be equal to an earlier one.
const EVENTS: usize = 2;

/// Returns the reading of the events from the one with the clock at `clock` on, where the clocks
/// go back, if the same events are earlier in the stream. It ends with the last equal event.
pub fn find(source: &Source<'_>, clock: Span) -> Option<Reading> {
    let copy = clock.start.checked_sub(CLOCK)?;
    let header = source.read(copy, copy.saturating_add(EVENT_HEADER));
    let walk = EventWalk::new(source, clock.layer, STREAM_HEADER);
    let mut earlier = walk.clone().map_while(Item::record).take_while(|event| event.end() <= copy);
    let is_equal =
        |event: &Event<'_>| source.read(event.at, event.at.saturating_add(EVENT_HEADER)) == header;
    let first = earlier.find(is_equal)?.at;
    let (mut events, mut copies) = (walk.restarted(first), walk.restarted(copy));
    let (mut len, mut count) = (0_u64, 0_usize);
    while let (Some(Item::Record(event)), Some(Item::Record(again))) =
        (events.next(), copies.next())
    {
        let (one, two) = (bytes_of(&walk, &event), bytes_of(&walk, &again));
        steps::count(to_u64(one.len()));
        if event.end() > copy || one != two {
            break;
        }
        len = again.end().saturating_sub(copy);
        count = count.saturating_add(1);
    }
    (count >= EVENTS).then(|| Reading::copied(clock.layer.file, first, copy, len))
}

fn bytes_of<'a>(walk: &EventWalk<'_, 'a>, event: &Event<'_>) -> std::borrow::Cow<'a, [u8]> {
    walk.bytes(Span::new(walk.layer(), event.at, event.end()))
}
