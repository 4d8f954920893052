//! Clocks of a stream: where they go back, which bytes between events do not count, and how a
//! shift puts them in order.

use std::sync::Arc;

use super::bridge::Ahead;
use super::flipped::Flips;
use super::{ThreadCheck, TraceContext};
use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::decode::stream::Stream;
use crate::formats::ovni::layout::{CLOCK_MAX, STREAM_HEADER};
use crate::formats::ovni::recover::clock_outline::{
    OutlineTerms, outline_clocks, outline_irregular,
};
use crate::formats::ovni::recover::clock_shift::{ClockShift, Gap, Outline};
use crate::formats::ovni::repair::build_fix;
use crate::formats::ovni::repair::clock::{ShiftedClocks, clock_span, shift_clocks};
use crate::formats::ovni::rules;
use crate::formats::ovni::state::thread::Ending;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::kit::words::{byte_count, plural};
use crate::model::Finding;
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::rule::common;

/// Events that are out of order by themselves and have a finding of their own.
const LONE_MAX: usize = 64;
/// Shifts that a finding lists.
const LISTED_MAX: usize = 8;

/// Events and clocks so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline {
    /// Number of complete events.
    pub(super) events: u64,
    /// Clock of the first event.
    pub(super) first: Option<u64>,
    /// Clock of the last event.
    pub(super) clock: u64,
    /// Clock of the event before that.
    pub(super) before_last: u64,
    /// There was a first event.
    pub(super) is_settled: bool,
    /// Corrections that were not reached yet.
    corrections: Option<Corrections>,
    /// A clock that goes back and is not explained was reported.
    is_reported: bool,
    look: Look,
    pub(super) ahead: Ahead,
    /// Bits that are inverted from here on.
    pub(super) flips: Flips,
}

/// Whether the stream was looked at as a whole.
///
/// A walk begins without the look. At the first clock that goes back, or the first damage, it looks
/// at all of the stream; if clocks are shifted or bytes do not count, events that it has passed can
/// be among them, and it begins again. So a sound stream is read once, and one that only ends in
/// the middle of an event is not walked twice.
#[derive(Clone, Debug, Default)]
enum Look {
    /// Nothing has required it yet.
    #[default]
    Pending,
    /// It has shown something; the walk has to begin again with it.
    Found(Box<Outline>),
    /// It is done, and the walk knows the result.
    Done,
}

impl Timeline {
    /// Begins a stream.
    pub(super) fn new(stream: &Stream<'_>) -> Self {
        Self { ahead: Ahead::new(stream.events(STREAM_HEADER).stream_len()), ..Self::default() }
    }

    /// Takes an event whose clock is in order.
    #[inline]
    pub(super) const fn advance(&mut self, clock: u64) {
        self.before_last = self.clock;
        self.clock = clock;
    }

    /// Whether the walk has to begin again.
    pub(super) const fn must_restart(&self) -> bool {
        matches!(self.look, Look::Found(_))
    }

    /// Begins with the outline that another walk has found. One that a walk has applied is made
    /// again.
    pub(super) fn take_outline(&mut self, other: Self) {
        if let Look::Found(outline) = other.look {
            self.look = Look::Found(outline);
        }
    }

    /// Returns the bytes that do not count, as far as any are left.
    pub(super) fn gaps(&self) -> &[Gap] {
        self.corrections.as_ref().map_or(&[], |corrections| &corrections.outline.gaps)
    }

    /// Whether clocks are shifted, or bytes passed over, from here on.
    #[inline]
    pub(super) const fn has_corrections(&self) -> bool {
        self.corrections.is_some()
    }
}

/// The outline of the stream, and how much of it was passed.
#[derive(Clone, Debug)]
struct Corrections {
    outline: Arc<Outline>,
    shift: usize,
    gap: usize,
}

impl ThreadCheck<'_, '_> {
    /// Outlines the stream before its first event if its first clock or the context requires it,
    /// and reports clocks that go back.
    pub(super) fn begin(&mut self, context: &TraceContext) {
        let first = || self.events.clone().next().and_then(Item::record);
        let outline = match std::mem::take(&mut self.timeline.look) {
            Look::Found(outline) => *outline,
            Look::Pending
                if context.outlines_first
                    || first().is_some_and(|first| first.clock < self.terms.floor) =>
            {
                outline_clocks(&self.events, self.outline_terms(context))
            }
            look => {
                self.timeline.look = look;
                return;
            }
        };
        self.timeline.look = Look::Done;
        self.apply_outline(outline, context);
    }

    /// Looks at the whole stream because a clock goes back or bytes are damaged, unless that was
    /// done; returns whether the walk has to begin again.
    #[cold]
    pub(super) fn look_back(&mut self, context: &TraceContext) -> bool {
        if !matches!(self.timeline.look, Look::Pending) {
            return false;
        }
        let start = self.events.reopened(STREAM_HEADER);
        let outline = outline_irregular(&start, self.outline_terms(context));
        let is_usual = outline == Outline::default();
        self.timeline.look = if is_usual { Look::Done } else { Look::Found(Box::new(outline)) };
        !is_usual
    }

    fn outline_terms(&self, context: &TraceContext) -> OutlineTerms {
        OutlineTerms {
            can_hold_rerun: self.terms.can_hold_rerun,
            resync: context.limits.resync,
            floor: self.terms.floor,
            places: context.limits.clock_parts,
        }
    }

    /// Reports what the outline shows, and corrects what follows by it.
    fn apply_outline(&mut self, outline: Outline, context: &TraceContext) {
        if let Some(at) = outline.ends_at {
            self.report_limit(at, context.limits.clock_parts);
            return;
        }
        self.regions.ignore_from(outline.unclosed_region);
        if outline == Outline::default() {
            return;
        }
        let lone = outline.shifts.iter().filter(|shift| !shift.is_part()).count();
        if lone <= LONE_MAX {
            let (parts, lone): (Vec<ClockShift>, Vec<ClockShift>) =
                outline.shifts.iter().partition(|shift| shift.is_part());
            for shift in &lone {
                self.report_shift(&outline, std::slice::from_ref(shift), context);
            }
            self.report_shift(&outline, &parts, context);
        } else {
            self.report_shift(&outline, &outline.shifts, context);
        }
        self.timeline.corrections =
            Some(Corrections { outline: Arc::new(outline), shift: 0, gap: 0 });
    }

    /// Reports that clocks go back at too many places: nothing is shifted.
    fn report_limit(&mut self, at: u64, places: usize) {
        let span = Span::sized(self.layer(), at, 0);
        let places = plural(to_u64(places), "place");
        let message = format!(
            "limit reached: clocks go back, or bytes do not count, at more than {places} \
             (ovni-clock-parts)"
        );
        self.log.push(Finding::new(&common::LIMIT_REACHED, span, "events", message));
    }

    /// Reports events whose clocks are shifted.
    fn report_shift(&mut self, outline: &Outline, shifts: &[ClockShift], context: &TraceContext) {
        let Some(first) = shifts.first() else { return };
        let events = shifts.iter().fold(0, |sum: u64, shift| sum.saturating_add(shift.events));
        let count = plural(events, "event");
        let (mut at, mut number) = (first.from, first.number);
        let message = match outline.first_step.filter(|_| shifts.iter().any(ClockShift::is_part)) {
            Some(step) => {
                (at, number) = (step.at, step.number);
                let (before, clock) = (step.before, step.clock);
                if number == 0 {
                    format!(
                        "clock {clock} is negative with the offset of its host; {count} to be \
                             shifted"
                    )
                } else {
                    format!("clock goes back from {before} to {clock}; {count} to be shifted")
                }
            }
            None => format!("clock is out of order: {count} {}", describe_shift(first)),
        };
        let span = Span::sized(self.layer(), at.saturating_add(4), 8);
        let path = format!("event[{number}].clock");
        let mut finding = Finding::new(&rules::CLOCK_BACKWARDS, span, path, message);
        for shift in shifts.iter().take(LISTED_MAX) {
            let last = shift.number.saturating_add(shift.events).saturating_sub(1);
            let by = describe_shift(shift);
            finding = finding.note(format!("events {} to {last}: {by}", shift.number));
        }
        match shift_clocks(&self.events, shifts, context.limits.clock_bytes) {
            Some(shifted) => self.log.push(finding.fix(fix_clocks(self.layer(), shifts, shifted))),
            None => {
                let max = byte_count(context.limits.clock_bytes);
                let note = format!("no fix: the events have more than {max} (ovni-clock-bytes)");
                self.log.push(finding.note(note));
            }
        }
    }

    /// Corrects the clock of an event.
    #[cold]
    pub(super) fn correct_clock(&mut self, event: &mut Event<'_>) {
        let Some(corrections) = &mut self.timeline.corrections else { return };
        let Corrections { outline, shift, gap } = corrections;
        while outline.shifts.get(*shift).is_some_and(|shift| shift.until <= event.at) {
            *shift = shift.saturating_add(1);
        }
        match outline.shifts.get(*shift) {
            Some(shift) if shift.from <= event.at => event.clock = shift.apply(event.clock),
            Some(_) => {}
            None if *gap >= outline.gaps.len() => self.timeline.corrections = None,
            None => {}
        }
    }

    /// Passes over bytes that do not count, and reports them; returns whether any begin at `at`.
    pub(super) fn pass_gap(&mut self, at: u64) -> bool {
        let Some(corrections) = &mut self.timeline.corrections else { return false };
        let gaps = &corrections.outline.gaps;
        while gaps.get(corrections.gap).is_some_and(|gap| gap.from < at) {
            corrections.gap = corrections.gap.saturating_add(1);
        }
        let Some(gap) = gaps.get(corrections.gap).copied().filter(|gap| gap.from == at) else {
            return false;
        };
        self.report_gap(gap);
        self.events = self.events.restarted(gap.to);
        true
    }

    /// Reports bytes between two events that do not count.
    pub(super) fn report_gap(&mut self, gap: Gap) {
        let span = Span::new(self.layer(), gap.from, gap.to);
        let bytes = byte_count(span.len());
        if let Some(other) = gap.copy_of {
            let in_a_row = other.end == gap.from || other.start == gap.to;
            let how = if in_a_row { "in a row" } else { "with other events between them" };
            let message = format!("repeated bytes: {bytes} occur twice {how}");
            let summary = format!("drop the second copy of {bytes}");
            let fix = Fix::new(Safety::Exact, summary, vec![Edit::drop(span)]);
            let fix = fix.witness(other, "the copy that stays");
            let finding = Finding::new(&rules::REPEATED_BYTES, span, "events", message);
            self.log.push(finding.related(other, "the copy that stays").fix(fix));
            return;
        }
        let message =
            format!("invalid event: {bytes} before the next valid event at {:#x}", gap.to);
        let mut summary = format!("drop {bytes} between two events");
        let lost = self.bridge_gap(gap);
        if lost.count != 0 {
            let count = plural(lost.count, "event");
            summary.push_str(&format!(", and add {count} in their place, as if lost"));
        }
        let fix = build_fix(summary, vec![Edit::replace(span, lost.bytes)]);
        self.log.push(Finding::new(&rules::DAMAGED_BYTES, span, "events", message).fix(fix));
    }

    /// Takes an event with a lower clock than the one before it, or with a clock of more than 63
    /// bits. Returns how the stream ends before it, if the event is left over from an earlier run.
    #[cold]
    pub(super) fn take_backwards(&mut self, event: &Event<'_>) -> Option<Ending> {
        if self.regions.lower(event.clock) {
            return None;
        }
        if self.is_dead() || self.is_rerun(event) {
            return Some(Ending::Stale);
        }
        if !std::mem::replace(&mut self.timeline.is_reported, true) {
            let span = Span::sized(self.layer(), event.at.saturating_add(4), 8);
            let (before, clock) = (self.timeline.clock, event.clock);
            let message = if clock > CLOCK_MAX {
                format!("clock {clock} is out of range, expected at most {CLOCK_MAX}")
            } else {
                format!("clock goes back from {before} to {clock}")
            };
            let path = format!("event[{}].clock", self.timeline.events);
            self.log.push(Finding::new(&rules::CLOCK_BACKWARDS, span, path, message));
        }
        None
    }
}

impl ThreadCheck<'_, '_> {
    /// Whether an event is left over from an earlier run: it is before the first one of this run.
    fn is_rerun(&self, event: &Event<'_>) -> bool {
        let is_before_first = self.timeline.first.is_some_and(|first| event.clock < first);
        self.terms.can_hold_rerun && is_before_first && self.timeline.events > 1
    }

    /// Whether damage at `at` is the rest of an event of an earlier run, which this one wrote over.
    pub(super) fn precedes_rerun(&self, at: u64, resync: u64) -> bool {
        let mut events = self.events.clone();
        self.terms.can_hold_rerun
            && events.resync(at, 0, resync).is_some()
            && events.next().and_then(Item::record).is_some_and(|event| self.is_rerun(&event))
    }
}

/// Describes a shift: `shifted by +490 ns`.
fn describe_shift(shift: &ClockShift) -> String {
    let why = if shift.determined_by.is_some() {
        ", as the clocks around require"
    } else if shift.is_part() {
        ", the shorter part"
    } else if shift.by > 0 {
        ", too early"
    } else {
        ", too late"
    };
    format!("shifted by {:+} ns{why}", shift.by)
}

/// The fix of some shifts.
fn fix_clocks(layer: Layer, shifts: &[ClockShift], shifted: ShiftedClocks) -> Fix {
    let count = plural(shifted.events, "event");
    let parts = plural(to_u64(shifts.len()), "group");
    let summary = match shifts {
        [shift] => format!("shift the clock of {count} by {:+} ns", shift.by),
        _ => format!("shift the clocks of {count} in {parts}, each by one amount"),
    };
    let fix = Fix::new(Safety::Lossy, summary, shifted.edits).altered(shifted.events);
    let [ClockShift { until, determined_by: Some(before), .. }] = shifts else { return fix };
    let fix = Fix { safety: Safety::Exact, ..fix };
    let fix = fix.witness(clock_span(layer, *before), "the clock of the event before");
    fix.witness(clock_span(layer, *until), "the clock of the event after")
}
