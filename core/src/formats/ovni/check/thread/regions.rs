//! Regions of events out of order, from OU[ to OU].

use std::collections::VecDeque;

use super::{ThreadCheck, TraceContext};
use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::layout::STREAM_HEADER;
use crate::formats::ovni::repair::build_fix;
use crate::formats::ovni::repair::region::{self, ClosedRegion};
use crate::formats::ovni::rules;
use crate::formats::ovni::state::thread::EventPlace;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words::byte_count;
use crate::model::Finding;
use crate::model::edit::{Edit, Fix, Safety};

/// Offsets of OU[ that are remembered as places to sort from.
const OPENED_MAX: usize = 1024;

/// The regions of a stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Regions {
    open: Option<Region>,
    /// Clocks and offsets of the latest OU[.
    opened: VecDeque<(u64, u64)>,
    /// Bytes that were read again to sort regions.
    sorted_bytes: u64,
    /// Offset of an OU[ whose region has no end.
    unclosed: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Region {
    place: EventPlace,
    /// The clock before it.
    before: u64,
    /// Lowest clock inside it that is out of order.
    lowest: Option<u64>,
}

impl Regions {
    /// An OU[ at this offset, or after it, opens no region.
    pub(super) const fn ignore_from(&mut self, unclosed: Option<u64>) {
        self.unclosed = unclosed;
    }

    /// The number of places that are remembered.
    pub(super) fn opened(&self) -> usize {
        self.opened.len()
    }

    /// Takes a clock out of order; returns whether a region is open.
    pub(super) fn lower(&mut self, clock: u64) -> bool {
        let Some(region) = &mut self.open else { return false };
        region.lowest = Some(region.lowest.map_or(clock, |lowest| lowest.min(clock)));
        true
    }
}

impl ThreadCheck<'_, '_> {
    /// OU[ and OU].
    pub(super) fn take_region(&mut self, event: &Event<'_>, opens: bool, context: &TraceContext) {
        if opens == self.regions.open.is_some() {
            let message = if opens {
                "unexpected OU[: a region is open already"
            } else {
                "unexpected OU]: no region is open"
            };
            self.push_finding(&rules::REGION_ORDER, event, "", message);
        }
        let region = self.regions.open.take();
        if opens && self.regions.unclosed.is_some_and(|at| event.at >= at) {
            return;
        }
        if opens {
            let lowest = region.and_then(|region| region.lowest);
            let (place, before) = (self.place_of(event), self.timeline.before_last);
            self.regions.open = Some(Region { place, before, lowest });
            if self.regions.opened.len() >= OPENED_MAX {
                self.regions.opened.pop_front();
            }
            self.regions.opened.push_back((self.timeline.clock, event.at));
        } else if let Some(region) = region
            && let Some(lowest) = region.lowest
        {
            self.report_unsorted(&region, lowest, event, context);
            // Events later than the end of the region are put in order with it.
            let end = region.before.max(event.clock);
            self.timeline.clock = self.timeline.clock.min(end);
        }
    }

    /// Reports a region whose clocks go back to `lowest`.
    #[cold]
    fn report_unsorted(
        &mut self,
        region: &Region,
        lowest: u64,
        close: &Event<'_>,
        context: &TraceContext,
    ) {
        let span = Span::new(self.layer(), region.place.at, close.end());
        let now = self.timeline.clock;
        let message = format!("unsorted region: clock goes back from {now} to {lowest}");
        let path = format!("event[{}].OU[", region.place.number);
        let mut finding = Finding::new(&rules::UNSORTED_REGION, span, path, message);
        let closed = ClosedRegion {
            open_at: region.place.at,
            close_at: close.at,
            close_clock: close.clock,
            before: region.before,
            now,
        };
        let corrected = region::correct_clocks(&self.events, &closed, context.limits.region_bytes);
        if !corrected.is_empty() {
            let summary = "set the clocks that do not fit between OU[ and OU]";
            let count = to_u64(corrected.len());
            finding = finding.fix(build_fix(summary, corrected).altered(count));
        } else if let Some(edit) = self.sort_region(lowest, close.end(), context) {
            let bytes = byte_count(edit.span.len());
            let summary = format!("sort {bytes} of events by their clocks");
            let end = edit.span.end;
            let mut fix = Fix::new(Safety::Lossy, summary, vec![edit]);
            if end <= close.at {
                // The clocks give the order, and the end of the region where it has to hold.
                let end = Span::sized(self.layer(), close.at, close.len);
                fix = Fix { safety: Safety::Exact, ..fix }.witness(end, "the end of the region");
            }
            finding = finding.fix(fix);
        }
        self.log.push(finding);
    }

    /// Sorts the events before `end`, from a place before which none is later than `lowest`.
    fn sort_region(&mut self, lowest: u64, end: u64, context: &TraceContext) -> Option<Edit> {
        let opened = &self.regions.opened;
        let before = opened.partition_point(|(clock, _)| *clock <= lowest);
        let from = before.checked_sub(1).and_then(|place| opened.get(place));
        let from = from.map_or(STREAM_HEADER, |(_, at)| *at);
        let sorted_bytes = self.regions.sorted_bytes.saturating_add(end.saturating_sub(from));
        if sorted_bytes > context.limits.sort_bytes {
            return None;
        }
        self.regions.sorted_bytes = sorted_bytes;
        region::sort_events(&self.events, from, lowest, (end, context.limits.region_bytes))
    }
}
