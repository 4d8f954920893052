//! What tells recordings without a magic from other files, and their layouts from each other.
//!
//! A recording from before 2016-07 begins with a small number and as many paths, each behind its
//! length. No other format does; zeros, text and random bytes do not come near. Which of four
//! layouts the events have shows in the events: read with a wrong stride, hardly one in ten has a
//! device that there is, microseconds below a million and a type that there is.

use std::fmt;
use std::ops::ControlFlow;

use crate::formats::revent::decode::event::{Event, Stretch};
use crate::formats::revent::decode::head::{self, Devices, Head};
use crate::formats::revent::layout::{DEVICES_WRITTEN, EVENT_PAD, Generation, kind, names};
use crate::kit::source::Source;

/// Bytes of events that a layout is tried on.
const SAMPLE: u64 = 64 << 10;
/// Events in a hundred that make a layout sure.
pub const SURE: u64 = 90;
/// Events that outweigh a path that is damaged.
const EVENTS_ENOUGH: u64 = 8;

/// What speaks for a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The layout.
    pub generation: Generation,
    /// How many devices are listed, and how many of them as the recorder writes them.
    pub paths: [u64; 2],
    /// Events that were looked at, and how many of them are plausible.
    pub events: [u64; 2],
    /// The best of the other layouts, and how many events in a hundred it explains.
    pub second: Option<(Generation, u64)>,
}

impl Evidence {
    /// How many events in a hundred are plausible.
    pub fn share(&self) -> u64 {
        let [all, plausible] = self.events;
        plausible.saturating_mul(100).checked_div(all).unwrap_or(0)
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([paths, good], [events, plausible]) = (self.paths, self.events);
        write!(f, "{good} of {paths} device paths")?;
        if events == 0 {
            return f.write_str("; there is no event to tell the layout by");
        }
        write!(f, ", {plausible} of the first {events} events")?;
        match self.second {
            Some((generation, share)) => {
                write!(f, " ({}, the next best: {share} %)", generation.layout().name)
            }
            None => f.write_str(", no other layout has its device count"),
        }
    }
}

/// Whether an event is one that a recorder can have written.
fn is_plausible(event: &Event, devices: i32) -> bool {
    let narrowed = if event.is_wide() { event.narrowed() } else { *event };
    narrowed.is_sane(devices)
        && (narrowed.sec, narrowed.usec) != (0, 0)
        && narrowed.kind <= kind::LAST
        && names::is_known(narrowed.kind, narrowed.code)
}

/// How many of the first events are plausible, and how many there are.
fn plausible(source: &Source<'_>, head: &Head) -> [u64; 2] {
    let layout = head.generation.layout();
    let rest = source.len().saturating_sub(head.events).min(SAMPLE);
    let count = rest.checked_div(layout.event).unwrap_or(0);
    let stretch = Stretch { generation: head.generation, start: head.events, count };
    let devices = head.device_count();
    let mut good = 0_u64;
    stretch.batches(source, &mut |_, events| {
        for event in events {
            let padded = !layout.padded || head.generation == Generation::V1;
            let pad = padded || event.pad == EVENT_PAD || event.pad == 0;
            good = good.saturating_add(u64::from(pad && is_plausible(event, devices)));
        }
        ControlFlow::Continue(())
    });
    [count, good]
}

/// How many in a hundred of the first events are plausible.
pub fn share(source: &Source<'_>, head: &Head) -> u64 {
    let [count, good] = plausible(source, head);
    good.saturating_mul(100).checked_div(count).unwrap_or(0)
}

/// What speaks for a recording without magic; `None` if too little does.
pub fn elder(source: &Source<'_>) -> Option<Evidence> {
    let word = |at: u64| -> Option<u32> {
        let bytes = source.read(at, at.saturating_add(4));
        bytes.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes))
    };
    let (first, second) = (word(0)?, word(4)?);
    if first == 0 || u64::from(first) > DEVICES_WRITTEN {
        return None;
    }
    // A count of eight bytes ends in zeros, where else the length of a path stands.
    let layouts: &[Generation] = match second {
        0 => &[Generation::P28],
        _ => &[Generation::P20, Generation::P24, Generation::P32],
    };
    let mut tried: Vec<Evidence> = Vec::new();
    for generation in layouts.iter().copied() {
        let head = head::with_layout(source, generation, None).ok()?;
        let Devices::Paths(paths) = &head.devices else { return None };
        let good = paths.iter().filter(|path| head::is_event_device(source, **path)).count();
        let paths = [paths.len(), good].map(crate::kit::num::to_u64);
        let events = plausible(source, &head);
        tried.push(Evidence { generation, paths, events, second: None });
    }
    // What a layout explains counts in bytes, so that none wins by having fewer, larger events.
    let explained = |one: &Evidence| {
        let [_, good] = one.events;
        good.saturating_mul(one.generation.layout().event)
    };
    // Where none explains an event, the one that has none to explain: its first event is cut.
    let wrong = |one: &Evidence| {
        let [all, good] = one.events;
        std::cmp::Reverse(all.saturating_sub(good))
    };
    let rank = |one: &Evidence| (explained(one), wrong(one), std::cmp::Reverse(one.generation));
    tried.sort_by_key(|one| std::cmp::Reverse(rank(one)));
    let mut ranked = tried.into_iter();
    let best = ranked.next()?;
    let second = ranked.next().map(|next| (next.generation, next.share()));
    let [paths, good] = best.paths;
    let [_, plausible] = best.events;
    let by_events = plausible >= EVENTS_ENOUGH && best.share() >= SURE && good > 0;
    (good == paths || by_events).then_some(Evidence { second, ..best })
}
