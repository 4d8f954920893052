//! Where the damage began that the first irregular event shows.
//!
//! Zeros, noise, and bytes that are missing or too many show at once, or within two events: of 240
//! such damages, 204 in the event itself, 30 in the next one, and 5 in the one after that. So the
//! last two events before the irregular one may be damaged, unless they are vouched for. A block
//! of events in the wrong place reads well, and where it began it may fit as well by chance; only
//! where it ends an event is broken.
//!
//! ```text
//!  events | a block from elsewhere | events
//!         ^ may fit                ^ the first irregular event: events follow at once
//! ```
//!
//! The clocks tell how far back the events belong to those that follow. A block from a later place
//! has readings ahead of the next one. A block from an earlier place has readings that go back,
//! which is irregular by itself; a copy of the block before it repeats its bytes. Two blocks that
//! changed places leave a second irregular event, so a log whose rest is sound has none. Else a
//! block lies after the last event that is vouched for: a reading that goes on from the one before,
//! or an event with the value of one shortly before it, as the passes of a loop have them.
//!
//! One inverted bit that makes all of it events explains more than a block that fits where it
//! began, has no reading, and ends in other bytes.

use std::collections::VecDeque;

use crate::formats::qemu::decode::clock;
use crate::formats::qemu::decode::decoder::Decoder;
use crate::formats::qemu::decode::defect_log::Damage;
use crate::formats::qemu::decode::event::{Event, FILE};
use crate::formats::qemu::decode::walk::Walker;
use crate::formats::qemu::layout::{Kind, range};
use crate::formats::qemu::recover::cut::{EVENTS_SURE, find_events};
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::walk::Item;
use crate::model::edit::Edit;
use crate::model::patch::Patch;

/// Bytes after the first irregular event in which events follow again if a block ends there: an
/// event of fixed size takes up to 39.
const JOINT: u64 = 64;
/// Events that show that they do.
const EVENTS_AFTER: u64 = 16;
/// Bytes of the largest block that is moved: a page, or a block of a disk.
pub const BLOCK: u64 = 4096;
/// Events of a pass of a loop, at most.
const PASS: usize = 16;
/// Bytes of the smallest event with a value: an INSTRUCTION.
const VALUE: u64 = 5;
/// Nanoseconds between two readings of a clock, at most: a minute. Bytes that are read as a clock
/// by chance have a time that is far away.
const STEP: i64 = 60_000_000_000;

/// Bytes before the first irregular event in which an inverted bit may make it irregular: the event
/// gets another length, and those after it are read from wrong places.
const BIT_BEFORE: u64 = 64;
/// Bytes of an event in which a bit is inverted: its id, and a length or a count.
const BIT_BYTES: u64 = 9;
/// Events that an inverted bit has to make of the bytes: those of `BIT_BEFORE`, and as many after.
const BIT_EVENTS: u64 = EVENTS_SURE.saturating_mul(2);

/// Events in which the next reading of a clock is looked for.
const EVENTS_TO_CLOCK: usize = 4096;

/// Returns the damage with the place where it may have begun.
pub fn find_start(decoder: Decoder<'_>, damage: Damage) -> Damage {
    let first = damage.at.saturating_add(1);
    let joint = first..first.saturating_add(JOINT);
    let after = find_events(decoder, joint, EVENTS_AFTER);
    let next = after.and_then(|after| find_next_reading(decoder, after));
    let mut before = Before::read(decoder, damage, next.map(|next| next.time));
    let has_rest =
        |after: u64| find_events(decoder, after..after.saturating_add(1), u64::MAX).is_some();
    let start =
        match (before.known, next, after) {
            (Some(known), Some(next), _) if before.is_ahead && known.time == next.time => {
                find_copy(decoder, known.span, next.span)
            }
            (Some(known), ..) if before.is_ahead => before.vouched.max(known.span.end),
            (.., None) => before.local(),
            (.., Some(after)) => find_inverted(decoder, before.near.make_contiguous())
                .unwrap_or_else(|| match before.vouched {
                    _ if has_rest(after) => before.local(),
                    vouched => vouched.max(damage.at.saturating_sub(BLOCK)),
                }),
        };
    Damage { at: start.min(damage.at), ..damage }
}

/// The events before the first irregular one.
struct Before {
    /// The ends of those within `BIT_BEFORE`, after the start of the first.
    near: VecDeque<u64>,
    /// The starts of the last two.
    starts: [u64; 2],
    /// The place up to which events are vouched for, before the first reading that is ahead.
    vouched: u64,
    /// The last reading that is not ahead of the next one.
    known: Option<Reading>,
    /// Whether the last reading is ahead of it.
    is_ahead: bool,
}

impl Before {
    fn read(decoder: Decoder<'_>, damage: Damage, next: Option<i64>) -> Self {
        let at = damage.before.at;
        let near = VecDeque::from([at]);
        let mut before = Self { near, starts: [at; 2], vouched: at, known: None, is_ahead: false };
        let mut vouching = Vouching::default();
        let events = Walker::new(decoder, at, damage.before.ring);
        for event in events.map_while(Item::record).take_while(|event| event.end <= damage.at) {
            before.add(damage.at, &event);
            if let Some((next, reading)) = next.zip(read_clock(&event)) {
                // A next reading before all others is damaged itself.
                before.is_ahead = reading.time > next && before.known.is_some();
                if reading.time <= next {
                    before.known = Some(reading);
                }
            }
            let vouched = vouching.add(decoder, &event).filter(|_| !before.is_ahead);
            before.vouched = vouched.unwrap_or(before.vouched);
        }
        before
    }

    fn add(&mut self, at: u64, event: &Event) {
        let [_, last] = self.starts;
        self.starts = [last, event.start];
        self.near.push_back(event.end);
        while self.near.get(1).is_some_and(|next| next.saturating_add(BIT_BEFORE) < at) {
            self.near.pop_front();
        }
    }

    /// Returns where damage begins that shows at once.
    fn local(&self) -> u64 {
        let [first, ..] = self.starts;
        self.vouched.max(first)
    }
}

/// Which events are vouched for.
#[derive(Default)]
struct Vouching {
    /// The last time of each clock.
    times: Vec<(Kind, i64)>,
    /// The last events, as a pass of a loop may have them.
    pass: VecDeque<Vec<u8>>,
}

impl Vouching {
    /// Returns the place up to which an event shows that those before it are sound.
    fn add(&mut self, decoder: Decoder<'_>, event: &Event) -> Option<u64> {
        if self.goes_on(event) {
            // Its last bytes may be damaged.
            return Some(event.start);
        }
        // Events without a value are not read: a log may have nothing else.
        let has_value = event.end.saturating_sub(event.start) >= VALUE;
        let end = if has_value { event.end } else { event.start };
        let bytes = decoder.source().read(event.start, end).into_owned();
        let is_equal = has_value && self.pass.contains(&bytes);
        self.pass.push_back(bytes);
        if self.pass.len() > PASS {
            self.pass.pop_front();
        }
        is_equal.then_some(event.end)
    }

    /// Returns whether an event is the first reading of a clock, or goes on from the one before.
    fn goes_on(&mut self, event: &Event) -> bool {
        let Some(time) = event.time() else { return false };
        let Some((_, last)) = self.times.iter_mut().find(|(kind, _)| *kind == event.kind) else {
            self.times.push((event.kind, time));
            return true;
        };
        let step = time.saturating_sub(*last);
        *last = time;
        (0..STEP).contains(&step)
    }
}

/// Returns the first of some adjoining events in which one inverted bit makes events of bytes that
/// are none. The first of them stays as it is.
fn find_inverted(decoder: Decoder<'_>, starts: &[u64]) -> Option<u64> {
    let (first, others) = starts.split_first()?;
    let area = *first..first.saturating_add(1);
    if find_events(decoder, area.clone(), BIT_EVENTS).is_some() {
        return None;
    }
    let source = decoder.source();
    let is_event = |start: u64, byte: u64, bit: u8| {
        let span = Span::sized(FILE, byte, 1);
        let inverted = source.read(byte, span.end).first()? ^ 1_u8.checked_shl(bit.into())?;
        let edit = Edit::replace(span, [inverted]);
        let patch = Patch::from_edits(source.len(), &[edit]).ok()?;
        let view = patch.view(source);
        let inverted = decoder.of(&view);
        // A count that few events have is still damaged.
        let event = inverted.event(start, u64::MAX).ok()?;
        let is_usual = event.instructions() < range::INSTRUCTIONS_USUAL;
        find_events(inverted, area.clone(), BIT_EVENTS).filter(|_| is_usual)
    };
    let ends = others.iter().skip(1).copied().chain([u64::MAX]);
    let has_bit = |(start, end): &(&u64, u64)| {
        let bytes = **start..start.saturating_add(BIT_BYTES).min(*end);
        bytes.into_iter().any(|byte| (0..8).any(|bit| is_event(**start, byte, bit).is_some()))
    };
    others.iter().zip(ends).find(has_bit).map(|(start, _)| *start)
}

/// A reading of the virtual clock, which nobody sets back.
#[derive(Clone, Copy, Debug)]
struct Reading {
    span: Span,
    time: i64,
}

fn read_clock(event: &Event) -> Option<Reading> {
    let time = clock::time_of(event, Kind::ClockVirtualRt)?;
    Some(Reading { span: event.span(), time })
}

/// Returns the next reading from `at` on.
fn find_next_reading(decoder: Decoder<'_>, at: u64) -> Option<Reading> {
    let events = Walker::new(decoder, at, 0).take(EVENTS_TO_CLOCK).map_while(Item::record);
    events.into_iter().find_map(|event| read_clock(&event))
}

/// Returns where the copy of a block begins: `copy` in it repeats `original`, and so do the bytes
/// before it, back to its start.
fn find_copy(decoder: Decoder<'_>, original: Span, copy: Span) -> u64 {
    let before = |at: u64| decoder.source().read(at.saturating_sub(BLOCK), at);
    let (one, two) = (before(original.start), before(copy.start));
    let same = one.iter().rev().zip(two.iter().rev()).take_while(|(one, two)| one == two).count();
    copy.start.saturating_sub(to_u64(same))
}
