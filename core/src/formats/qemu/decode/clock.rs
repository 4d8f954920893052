//! Clocks that go back, and the clock after an event.
//!
//! A host may set its clock back; then it stays back. Damage of one reading shows in two ways: the
//! reading jumps ahead and the next one is back, or it drops and the next one is ahead again.

use crate::formats::qemu::decode::decoder::Decoder;
use crate::formats::qemu::decode::defect_log::Anchor;
use crate::formats::qemu::decode::event::Event;
use crate::formats::qemu::decode::walk::Walker;
use crate::formats::qemu::layout::Kind;
use crate::kit::walk::Item;

/// Events that are looked at to find the next reading of a clock.
const LOOK_AHEAD: usize = 64;
/// Time in nanoseconds that a clock can be set back without being behind at its next reading.
const SHORT: i64 = 1_000_000;

/// A clock that goes back, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The clock.
    pub kind: Kind,
    /// The reading before.
    pub before: i64,
    /// The reading now.
    pub now: i64,
}

/// Returns the next reading of clock `kind` from `at` on.
pub fn find_next(decoder: Decoder<'_>, at: u64, kind: Kind) -> Option<i64> {
    let events = Walker::new(decoder, at, 0).take(LOOK_AHEAD).map_while(Item::record);
    events.into_iter().find_map(|event| time_of(&event, kind))
}

/// Returns the offset of the wrong reading if `event` goes back by `step`, or `None` if the clock
/// was set back. `from` is a place before it.
pub fn find_wrong(decoder: Decoder<'_>, from: Anchor, event: &Event, step: Step) -> Option<u64> {
    let Step { kind, before, now } = step;
    let mut readings: [Option<(u64, i64)>; 2] = [None; 2];
    for earlier in Walker::new(decoder, from.at, from.ring).map_while(Item::record) {
        if earlier.start >= event.start {
            break;
        }
        if let Some(time) = time_of(&earlier, kind) {
            let [_, last] = readings;
            readings = [last, Some((earlier.start, time))];
        }
    }
    if let [Some((_, older)), Some((at, time))] = readings
        && time == before
        && older <= now
    {
        return Some(at);
    }
    let returns = find_next(decoder, event.end, kind).is_some_and(|next| next >= before);
    let is_short = before.checked_sub(now).is_some_and(|back| back < SHORT);
    (returns && !is_short).then_some(event.start)
}

/// Returns the time of an event, if it is a reading of clock `kind`.
pub fn time_of(event: &Event, kind: Kind) -> Option<i64> {
    event.time().filter(|_| event.kind == kind)
}
