//! Bytes that were inserted into a log.
//!
//! Up to the place every event is as it was recorded, and so is every event after the bytes: the
//! beginning of the event that they tear apart, and the end of it, read as one event.
//!
//! ```text
//!  recorded   | event | event | event | event |
//!  stored     | event | eve .. 4096 zeros .. nt | event | event |
//!                       ^ joint
//! ```
//!
//! But bytes that were overwritten, instead of inserted, may leave ends that fit as well. Then
//! events are lost, and the clock tells: across the joint of inserted bytes much less time passes
//! than in as many bytes anywhere else. A log whose clock does not show that has no such reading,
//! and is closed before the damage instead.

use std::collections::VecDeque;

use crate::formats::qemu::decode::clock;
use crate::formats::qemu::decode::decoder::Decoder;
use crate::formats::qemu::decode::defect;
use crate::formats::qemu::decode::defect_log::Damage;
use crate::formats::qemu::decode::event::{Event, FILE};
use crate::formats::qemu::decode::regular;
use crate::formats::qemu::decode::walk::Walker;
use crate::formats::qemu::layout::{HEADER_LEN, Kind, LAYOUTS, range};
use crate::formats::qemu::recover::cut::EVENTS_SURE;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::reading::Reading;
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::kit::walk::Item;

/// Bytes around the first irregular event in which the joint lies: an event of fixed size takes up
/// to 39, and some may be read out of what was inserted.
const NEAR: u64 = 64;
/// The fewest zeros that are a run of their own: the payloads of two events have fewer.
const ZEROS_MIN: u64 = 64;
/// The most inserted bytes.
const MOST: u64 = 64 << 10;
/// Zeros next to the inserted ones that may belong to the event: those of a packet.
const OWN_ZEROS: u64 = 2048;
/// Files are copied in blocks of this size.
const BLOCK: u64 = 512;
/// The most blocks of other bytes than zeros.
const BLOCKS: u64 = 16;
/// Bytes after the joint that have to be events.
const AFTER: u64 = 2048;
/// Readings that differ only in the event at the joint.
const READINGS: usize = 8;
/// So many times less time passes across the joint than in as many bytes elsewhere, at least.
const FASTER: i64 = 4;
/// Bytes between the joint and the readings of the clock around it, at most: readings are 18 bytes
/// apart, except in loops without any, which take less time than their bytes show.
const AROUND: u64 = 128;
/// Spans of time with which the one across the joint is compared, at least.
const WINDOWS: u64 = 16;

/// Returns the readings of a log, of the layout of `decoder`, that has damage.
pub fn find(decoder: Decoder<'_>, damage: Damage) -> Vec<Reading> {
    let number = LAYOUTS.iter().position(|layout| std::ptr::eq(layout, decoder.layout()));
    let Some(joint) = number.and_then(|number| Joint::find(decoder, number, damage)) else {
        return Vec::new();
    };
    let (fits, is_unique): (Vec<Fit>, bool) = match joint.zeros {
        Some((at, len)) => {
            let least = len.saturating_sub(OWN_ZEROS).max(ZEROS_MIN);
            let fits: Vec<Fit> =
                (least..=len).filter_map(|len| joint.try_without(at, len)).collect();
            let is_unique = fits.len() == 1;
            // Bytes that some tool or disk adds are blocks.
            (fits.into_iter().filter(|fit| fit.len.is_multiple_of(BLOCK)).collect(), is_unique)
        }
        None => (joint.try_blocks(), false),
    };
    if fits.is_empty() || fits.len() > READINGS || joint.zeros.is_some() && fits.len() > 1 {
        return Vec::new();
    }
    let timely = fits.iter().filter(|fit| is_timely(decoder, fit));
    timely.map(|fit| fit.reading(is_unique)).collect()
}

/// Bytes without which the events around them fit.
#[derive(Clone, Debug)]
struct Fit {
    at: u64,
    len: u64,
    /// The bytes that are left around them.
    left: Vec<u8>,
    /// The last reading of the clock before them, and the first one after them, as stored.
    clocks: [(Span, i64); 2],
}

impl Fit {
    fn reading(&self, is_unique: bool) -> Reading {
        let reading = Reading::inserted(0, self.at..self.at.saturating_add(self.len));
        if !is_unique {
            return reading;
        }
        let [(before, _), (after, _)] = self.clocks;
        reading
            .witness(before, "the clock before the inserted bytes")
            .witness(after, "the clock after them, which goes on without a gap")
    }
}

/// The place where inserted bytes may begin.
struct Joint<'a> {
    source: &'a Source<'a>,
    /// Number of the layout.
    number: usize,
    /// An event shortly before the place; it and those up to the place are sound.
    start: u64,
    /// The last reading of the clock before `start`.
    clock: Option<(Span, i64)>,
    /// The first irregular event.
    at: u64,
    /// The run of zeros at the place.
    zeros: Option<(u64, u64)>,
}

impl<'a> Joint<'a> {
    fn find(decoder: Decoder<'a>, number: usize, damage: Damage) -> Option<Self> {
        let source = decoder.source();
        let zeros = find_zeros(source, damage.at);
        let first = zeros.map_or_else(|| damage.at.saturating_sub(NEAR), |(at, _)| at);
        let (mut start, mut clock) = (damage.before.at, None);
        let mut earlier = None;
        let events = Walker::new(decoder, damage.before.at, damage.before.ring);
        for event in events.map_while(Item::record).take_while(|event| event.end <= first) {
            start = event.start;
            // Of the event at `start` itself the reading is found again.
            clock = earlier.or(clock);
            let time = clock::time_of(&event, Kind::ClockVirtualRt);
            earlier = time.map(|time| (event.span(), time));
        }
        (start <= first).then_some(Self { source, number, start, clock, at: damage.at, zeros })
    }

    /// Tries to leave out whole blocks at any place near the irregular event.
    fn try_blocks(&self) -> Vec<Fit> {
        let mut fits: Vec<Fit> = Vec::new();
        for len in (1..=BLOCKS).map(|blocks| blocks.saturating_mul(BLOCK)) {
            let from = self.at.saturating_sub(NEAR).max(self.start);
            for at in from..=self.at.saturating_add(NEAR) {
                let fit = self.try_without(at, len);
                let is_other = |fit: &Fit| fits.iter().all(|other| other.left != fit.left);
                fits.extend(fit.filter(is_other));
                if fits.len() > READINGS {
                    return fits;
                }
            }
        }
        fits
    }

    /// Returns the fit of the log without `len` bytes at `at`, if regular events follow.
    fn try_without(&self, at: u64, len: u64) -> Option<Fit> {
        let end = at.checked_add(len)?;
        if at < self.start || end >= self.source.len() {
            return None;
        }
        let until = end.saturating_add(AFTER);
        let mut left = self.source.read(self.start, at).into_owned();
        left.extend_from_slice(&self.source.read(end, until));
        let source = Source::new(&left);
        let decoder = Decoder::new(&source, self.number);
        let joint = at.saturating_sub(self.start);
        // The span of an event where it is stored.
        let stored = |span: Span| {
            let moved = if span.start < joint { 0 } else { len };
            let at = |at: u64| self.start.saturating_add(at).saturating_add(moved);
            Span::new(FILE, at(span.start), at(span.end))
        };
        let is_end = until >= self.source.len();
        let (mut place, mut previous, mut events) = (0, None, 0_u64);
        let (mut before, mut after) = (self.clock, None);
        while place < source.len() {
            let Ok(event) = decoder.event(place, u64::MAX) else {
                // The last one that was copied is truncated.
                let is_truncated = !is_end && source.len().saturating_sub(place) < AFTER / 2;
                return self.fit((at, len), &left, (before?, after?), is_truncated, events);
            };
            let order =
                previous.and_then(|one| regular::find_in_order(decoder.layout(), one, event.kind));
            let is_joint = event.start < joint && joint < event.end;
            if order.is_some()
                || defect::find_in_event(&event, decoder.layout()).is_some()
                || is_joint && is_unusual(&event)
            {
                return None;
            }
            if let Some(time) = clock::time_of(&event, Kind::ClockVirtualRt) {
                let reading = Some((stored(event.span()), time));
                // One at the joint has bytes of two readings, if bytes were overwritten.
                if event.end <= joint {
                    before = reading;
                } else if event.start >= joint {
                    after = after.or(reading);
                }
            }
            events = events.saturating_add(u64::from(event.end > joint));
            (place, previous) = (event.end, Some(event.kind));
            if event.kind == Kind::End {
                let is_whole = is_end && place == source.len();
                return self.fit((at, len), &left, (before?, after?), is_whole, EVENTS_SURE);
            }
        }
        self.fit((at, len), &left, (before?, after?), !is_end, events)
    }

    fn fit(
        &self,
        (at, len): (u64, u64),
        left: &[u8],
        (before, after): ((Span, i64), (Span, i64)),
        fits: bool,
        events: u64,
    ) -> Option<Fit> {
        let shown = to_usize(AFTER / 2).min(left.len());
        let left = left.get(..shown).unwrap_or_default().to_vec();
        let fit = Fit { at, len, left, clocks: [before, after] };
        (fits && events >= EVENTS_SURE).then_some(fit)
    }
}

/// Returns whether an event has a count that few have: some of its bytes may be inserted ones.
fn is_unusual(event: &Event) -> bool {
    event.instructions() >= range::INSTRUCTIONS_USUAL
}

/// Returns the run of zeros that begins near `at`: place and length.
fn find_zeros(source: &Source<'_>, at: u64) -> Option<(u64, u64)> {
    let from = at.saturating_sub(NEAR).max(HEADER_LEN);
    let bytes = source.read(from, from.saturating_add(MOST).saturating_add(NEAR * 3));
    let is_run = |window: &[u8]| window.iter().all(|byte| *byte == 0);
    let first = bytes.windows(to_usize(ZEROS_MIN)).take(to_usize(NEAR * 2)).position(is_run)?;
    let run = bytes.get(first..)?;
    let len = to_u64(run.iter().take_while(|byte| **byte == 0).count());
    // A run that goes on to the end of what was read is longer than any that is looked for.
    let is_whole = to_usize(len) < run.len();
    (is_whole && len <= MOST).then(|| (from.saturating_add(to_u64(first)), len))
}

/// Returns whether much less time passes across a joint than ever in as many bytes of the log.
fn is_timely(decoder: Decoder<'_>, fit: &Fit) -> bool {
    let [(before, last), (after, next)] = fit.clocks;
    let Some(gap) = next.checked_sub(last).filter(|gap| *gap >= 0) else { return false };
    let end = fit.at.saturating_add(fit.len);
    let around = fit.at.saturating_sub(before.end).saturating_add(after.start.saturating_sub(end));
    if around > AROUND {
        return false;
    }
    let sides = [(HEADER_LEN, before.end), (after.start, decoder.source().len())];
    let mut windows = Windows { len: fit.len, least: i64::MAX, count: 0 };
    for (from, to) in sides {
        windows.add(decoder, from, to);
    }
    windows.count >= WINDOWS && gap.saturating_mul(FASTER) < windows.least
}

/// The time that passes in some bytes.
struct Windows {
    /// The number of bytes.
    len: u64,
    /// The least time that passes in them.
    least: i64,
    /// Number of times that were compared.
    count: u64,
}

impl Windows {
    /// Adds the times between the events of a part of a log.
    fn add(&mut self, decoder: Decoder<'_>, from: u64, to: u64) {
        let mut readings: VecDeque<(u64, i64)> = VecDeque::new();
        let events = Walker::new(decoder, from, 0).map_while(Item::record);
        for event in events.take_while(|event| event.end <= to) {
            let Some(time) = clock::time_of(&event, Kind::ClockVirtualRt) else { continue };
            readings.push_back((event.start, time));
            let is_apart = |(at, _): &(u64, i64)| event.start.saturating_sub(*at) >= self.len;
            // The nearest one of those that are as many bytes apart.
            while readings.get(1).is_some_and(is_apart) {
                readings.pop_front();
            }
            if let Some((_, earlier)) = readings.front().filter(|one| is_apart(one)) {
                self.count = self.count.saturating_add(1);
                self.least = self.least.min(time.saturating_sub(*earlier));
            }
        }
    }
}
