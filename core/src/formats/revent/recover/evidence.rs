//! Evidence for the layout of a recording without a magic.
//!
//! A recording from before 2016-07 begins with a small number and as many paths, each after its
//! length. No other format does; zeros, text and random bytes differ in the first bytes. The events
//! decide between the four layouts, in a race ([`race`]): read with a wrong stride, hardly one in
//! ten has a listed device, microseconds below a million and a known type.

use std::cmp::Reverse;

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::event::Event;
use crate::formats::revent::decode::head::{DevicePath, Devices, Evidence, Head, parse_head_as};
use crate::formats::revent::decode::stretch::Stretch;
use crate::formats::revent::layout::{DEVICES_WRITTEN, EVENT_PAD, Generation, kind, names};
use crate::formats::revent::limits::LAYOUT_SAMPLE;
use crate::kit::cursor::{Cursor, Order};
use crate::kit::num::to_u64;
use crate::kit::race::{self, Candidate};
use crate::kit::source::Source;
use crate::model::limits::Limits;

/// Plausible events per hundred that make a layout certain.
const CERTAIN_PERCENT: u64 = 90;
/// Plausible events that outweigh a damaged path.
const EVENTS_ENOUGH: u64 = 8;

/// Returns how many percent of all events are plausible.
fn percent([all, plausible]: [u64; 2]) -> u64 {
    plausible.saturating_mul(100).checked_div(all).unwrap_or(0)
}

/// Returns whether a recorder can have written the event.
fn is_plausible(event: &Event, devices: i32) -> bool {
    let narrowed = if event.is_widened() { event.narrowed() } else { *event };
    narrowed.is_sane(devices)
        && (narrowed.sec, narrowed.usec) != (0, 0)
        && narrowed.kind <= kind::LAST
        && names::is_known(narrowed.kind, narrowed.code)
}

/// Returns whether the padding of the event fits a layout from before the magic.
fn has_plausible_pad(event: &Event, generation: Generation) -> bool {
    let has_known_pad = generation.layout().padded && generation != Generation::V1;
    !has_known_pad || event.pad == EVENT_PAD || event.pad == 0
}

/// Reads the first events and gathers the evidence for their layout: plausible events explain their
/// bytes, so that no layout wins with fewer, larger events.
fn gather_evidence(source: &Source<'_>, head: &Head, limits: &Limits) -> race::Evidence<()> {
    let mut evidence = race::Evidence::default();
    let sample = sample(source, head, limits.of(&LAYOUT_SAMPLE));
    for (index, event) in sample.events(source) {
        // Zeros took it, in whichever layout.
        if event.is_zero() {
            continue;
        }
        if has_plausible_pad(&event, head.generation) && is_plausible(&event, head.device_count()) {
            evidence.explain(head.generation.layout().event);
        } else {
            evidence.contradict(sample.offset(index), ());
        }
    }
    evidence
}

/// Returns the events that the evidence is gathered from.
fn sample(source: &Source<'_>, head: &Head, max: u64) -> Stretch {
    let stride = head.generation.layout().event;
    let rest = source.len().saturating_sub(head.events).min(max);
    let count = rest.checked_div(stride).unwrap_or(0);
    Stretch { generation: head.generation, start: head.events, count }
}

/// Returns the number of events that were read, and of those that are plausible.
fn count_plausible(generation: Generation, evidence: &race::Evidence<()>) -> [u64; 2] {
    let stride = generation.layout().event;
    let plausible = evidence.explained().checked_div(stride).unwrap_or(0);
    [plausible.saturating_add(evidence.contradicted()), plausible]
}

/// Returns whether the layout of the head explains the events that follow it.
pub fn explains_events(source: &Source<'_>, head: &Head, limits: &Limits) -> bool {
    let evidence = gather_evidence(source, head, limits);
    percent(count_plausible(head.generation, &evidence)) >= CERTAIN_PERCENT
}

/// Returns whether the head has no events to explain, or at least half of the first ones.
pub fn explains_half(source: &Source<'_>, head: &Head, limits: &Limits) -> bool {
    let evidence = gather_evidence(source, head, limits);
    let counted = count_plausible(head.generation, &evidence);
    counted == [0, 0] || percent(counted) >= 50
}

/// Returns the layouts that the first bytes allow.
fn possible_layouts(source: &Source<'_>) -> &'static [Generation] {
    let first = source.read(0, 8);
    let mut cursor = Cursor::new(&first, FILE, 0, Order::Little);
    let (Ok(count), Ok(next)) = (cursor.u32("devices.num"), cursor.u32("path_len")) else {
        return &[];
    };
    if count == 0 || u64::from(count) > DEVICES_WRITTEN {
        return &[];
    }
    // The high half of an eight-byte count is 0; the length of a path is not.
    match next {
        0 => &[Generation::P28],
        _ => &[Generation::P20, Generation::P24, Generation::P32],
    }
}

/// Returns the layout of a recording without a magic, or `None` if the evidence is too weak.
pub fn detect_layout_without_magic(source: &Source<'_>, limits: &Limits) -> Option<Evidence> {
    let mut candidates = Vec::new();
    for (cost, generation) in (0_u64..).zip(possible_layouts(source)) {
        let head = parse_head_as(source, *generation, None).ok()?;
        let evidence = gather_evidence(source, &head, limits);
        candidates.push(Candidate { reading: head, cost, evidence });
    }
    let decision = race::decide(candidates, |a, b| a.explains_more(b, 1));
    let best = decision.winner()?;
    let generation = best.reading.generation;
    let Devices::Paths(devices) = &best.reading.devices else { return None };
    let good = to_u64(devices.iter().filter(|path| path.is_event_device()).count());
    let paths = [to_u64(devices.len()), good];
    let events = count_plausible(generation, &best.evidence);
    let beaten = decision.beaten.iter();
    let second =
        beaten.min_by_key(|one| (Reverse(one.evidence.explained()), one.evidence.contradicted()));
    let second = second.map(|one| {
        let generation = one.reading.generation;
        (generation, percent(count_plausible(generation, &one.evidence)))
    });
    let [_, plausible] = events;
    let by_events = plausible >= EVENTS_ENOUGH && percent(events) >= CERTAIN_PERCENT && good > 0;
    let by_paths = devices.iter().all(DevicePath::is_event_device);
    (by_paths || by_events).then_some(Evidence { generation, paths, events, second })
}
