//! One reading of a log: the events as some of the layouts have them.
//!
//! Layouts with the same ids share a lane up to an event whose payload they read differently; there
//! the lane forks. A lane notes its defects in order, so that lanes can be compared ([`race`]).
//!
//! [`race`]: crate::formats::qemu::recover::race

mod place;

use crate::formats::qemu::decode::clock;
use crate::formats::qemu::decode::counts::{ClockRange, Counts};
use crate::formats::qemu::decode::decoder::Decoder;
use crate::formats::qemu::decode::defect::{self, Defect, Located};
use crate::formats::qemu::decode::defect_log::{Anchor, Damage, Defects};
use crate::formats::qemu::decode::event::{Event, Fault};
use crate::formats::qemu::decode::pattern::Place;
use crate::formats::qemu::decode::place::{Context, Gap};
use crate::formats::qemu::decode::regular;
use crate::formats::qemu::decode::skim::{RUN, Skim};
use crate::formats::qemu::decode::turns::{LeftOut, Turns};
use crate::formats::qemu::decode::walk::Walker;
use crate::formats::qemu::layout::{
    Async, Checkpoint, HEADER_LEN, Kind, LAYOUTS, Layout, Layouts, Payload,
};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::kit::walk::Item;

/// Bytes between two anchors.
const ANCHOR_BYTES: u64 = 32 << 10;
/// Events between two anchors: more than a step back ever takes.
const ANCHOR_EVENTS: u64 = 256;
/// Number of events in which CP_INIT is expected.
const INIT_EVENTS: u64 = 3;
/// How often a log may ask for the clock after a large count.
const LOOKS_MAX: u32 = 4096;
/// How often the events between an anchor and a clock that goes back are read again. A host sets
/// its clock back a few times.
const LOOKS_BACK_MAX: u32 = 64;
/// Length in bytes of an INSTRUCTION; its id is 0 in every layout.
const ZERO_LEN: u64 = 5;
/// Events of zeros that are worth skipping.
const ZERO_EVENTS: u64 = 16;

/// The end of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// END, which begins here.
    End(u64),
    /// The end of the file, after a complete event.
    EndOfFile,
    /// A truncated event.
    Truncated(Fault),
    /// Bytes that are not an event.
    Lost(Fault),
}

/// One reading of a log.
#[derive(Clone, Debug)]
pub struct Lane<'a> {
    /// The layouts that read it so.
    pub layouts: Layouts,
    /// A decoder of the layout that stands for the others.
    decoder: Decoder<'a>,
    /// Offset of the next event.
    pub at: u64,
    skim: Box<Skim>,
    context: Context,
    turns: Turns,
    counts: Counts,
    anchors: [Anchor; 2],
    /// The defects so far.
    pub defects: Defects,
    /// The end, if it was reached.
    pub stop: Option<Stop>,
}

/// The result of reading one event: the event or its fault, and its defect.
type Reading = (Result<Event, Fault>, Option<Defect>);

impl<'a> Lane<'a> {
    /// A lane from the first event on, for layouts with the same ids, that keeps up to `capacity`
    /// defects.
    pub fn new(source: &'a Source<'a>, layouts: Layouts, capacity: usize) -> Self {
        let [.., last] = &LAYOUTS;
        let (number, layout) = layouts.iter().next().unwrap_or((LAYOUTS.len(), last));
        Self {
            layouts,
            decoder: Decoder::new(source, number),
            at: HEADER_LEN,
            skim: Box::new(regular::start(number, layout)),
            context: Context::default(),
            turns: Turns::default(),
            counts: Counts::default(),
            anchors: [Anchor::START; 2],
            defects: Defects::new(capacity),
            stop: None,
        }
    }

    /// Moves a new lane to another start.
    #[must_use]
    pub fn starting_at(mut self, at: u64) -> Self {
        self.at = at;
        self.anchors = [Anchor { at, ..Anchor::START }; 2];
        self.skim.pattern.start_at(at);
        self.context.has_init = true;
        self
    }

    /// Returns a decoder of the layout that stands for the others.
    pub const fn decoder(&self) -> Decoder<'a> {
        self.decoder
    }

    /// Returns the layout that stands for the others.
    pub const fn layout(&self) -> &'static Layout {
        self.decoder.layout()
    }

    const fn source(&self) -> &'a Source<'a> {
        self.decoder.source()
    }

    /// Leaves some of the layouts.
    fn set_layouts(&mut self, layouts: Layouts) {
        let number = layouts.iter().next().map_or(usize::MAX, |(number, _)| number);
        self.decoder = Decoder::new(self.source(), number);
        self.layouts = layouts;
    }

    /// Returns the kind of the event before END.
    pub const fn before_end(&self) -> Option<Kind> {
        self.context.before_end
    }

    /// Reads the events that begin before `until`. Lanes that fork off are added to `forks`.
    pub fn advance(&mut self, until: u64, forks: &mut Vec<Self>) {
        let until = until.min(self.source().len());
        while self.stop.is_none() && self.at < until {
            self.drop_anchor();
            // The first events are checked one by one.
            if self.counts.events >= INIT_EVENTS {
                self.skip_regular(until);
                self.note_breaks();
                if self.at >= until {
                    continue;
                }
            }
            self.step(forks);
            if self.stop.is_none() && self.context.zero_defects != [None; 3] {
                self.skip_zeros(until);
            }
        }
        if self.stop.is_none() && self.at >= self.source().len() {
            self.stop = Some(Stop::EndOfFile);
        }
        self.count_misfits();
    }

    /// Skips INSTRUCTION events of zeros after two of them: they have the defects of the last one.
    /// A disk may add gigabytes of zeros.
    fn skip_zeros(&mut self, until: u64) {
        let most = to_usize(until.saturating_sub(self.at).min(ANCHOR_BYTES));
        let run = self.source().run(self.at);
        let zeros = run.iter().take(most).take_while(|byte| **byte == 0).count();
        let events = to_u64(zeros).checked_div(ZERO_LEN).unwrap_or(0);
        let defects: Vec<Defect> = self.context.zero_defects.into_iter().flatten().collect();
        if events >= ZERO_EVENTS && self.defects.repeat(&defects, events) {
            self.counts.add_zeros(events);
            self.at = self.at.saturating_add(events.saturating_mul(ZERO_LEN));
            self.skim.pattern.restart(self.place());
        }
    }

    /// Adds the defects of the events that the fast loop only counted.
    fn count_misfits(&mut self) {
        for (kind, events) in self.skim.take_misfits() {
            if let Some(defect) = regular::find_misfit(self.layout(), kind) {
                self.defects.repeat(&[defect], events);
            }
        }
    }

    /// Skips regular events by the fast loop.
    fn skip_regular(&mut self, until: u64) {
        self.drop_mark();
        let run = self.source().run(self.at);
        let len = to_usize(until.saturating_sub(self.at)).min(RUN);
        let skipped = self.skim.skip_regular(run.get(..len).unwrap_or(run));
        if skipped > 0 {
            self.at = self.at.saturating_add(to_u64(skipped));
            let last = self.skim.table.kinds.get(usize::from(self.skim.last));
            self.context.previous = last.copied().flatten();
        }
    }

    fn place(&self) -> Place {
        Place { at: self.at, ring: self.context.ring, events: self.events() }
    }

    fn drop_mark(&mut self) {
        if self.skim.pattern.wants_mark(self.at) {
            self.skim.pattern.mark(self.place());
        }
    }

    /// Notes counts of instructions that break a row: they are known a few counts later.
    fn note_breaks(&mut self) {
        while let Some(found) = self.skim.pattern.find_break() {
            let place = self.skim.pattern.locate(self.decoder(), found.index);
            // A finding about the value has the same cause.
            let is_known = |span: Span| self.defects.found.iter().any(|one| one.span == span);
            let Some((number, span)) = place.filter(|(_, span)| !is_known(*span)) else { continue };
            let (count, expected) = (found.count.into(), found.expected.into());
            let (defect, earlier) = (Defect::InstructionPattern { count, expected }, Vec::new());
            let kind = Some(Kind::Instruction);
            self.defects.note(Located { number, kind, span, defect, earlier }, None);
        }
    }

    fn drop_anchor(&mut self) {
        let [_, newer] = self.anchors;
        if self.at < newer.at.saturating_add(ANCHOR_BYTES) {
            return;
        }
        let events = self.events();
        if events >= newer.events.saturating_add(ANCHOR_EVENTS) {
            let (ring, instructions) = (self.context.ring, self.instructions());
            self.anchors = [newer, Anchor { at: self.at, ring, events, instructions }];
        }
    }

    /// Returns a place that lies some hundred events before the end, or the first event.
    pub const fn anchor_before_end(&self) -> Anchor {
        let [older, _] = self.anchors;
        older
    }

    /// Reads one event by the slow path.
    fn step(&mut self, forks: &mut Vec<Self>) {
        let mut reading = self.read(self.decoder());
        let kind = reading.0.as_ref().map_or_else(|fault| fault.kind, |event| Some(event.kind));
        let is_row = |kind: Kind| matches!(kind.payload(), Payload::Row(_));
        let is_contested = kind.is_some_and(|kind| !is_row(kind));
        if is_contested && self.layouts.count() > 1 {
            let mut parts = self.read_by_all().into_iter();
            let first = parts.next();
            for (layouts, reading) in parts {
                let mut fork = self.clone();
                fork.set_layouts(layouts);
                fork.take(reading);
                forks.push(fork);
            }
            if let Some((layouts, first)) = first {
                reading = first;
                if layouts != self.layouts {
                    self.set_layouts(layouts);
                }
            }
        }
        self.take(reading);
    }

    fn read(&self, decoder: Decoder<'a>) -> Reading {
        let read = decoder.event(self.at, self.context.ring);
        let defect = match &read {
            Ok(event) => defect::find_in_event(event, decoder.layout()),
            Err(fault) => defect::find_in_fault(fault),
        };
        (read, defect)
    }

    /// Reads the event by all layouts and groups them by how they read it; the group of the first
    /// layout comes first.
    fn read_by_all(&self) -> Vec<(Layouts, Reading)> {
        let mut parts: Vec<(Layouts, Reading)> = Vec::new();
        for (number, _) in self.layouts.iter() {
            let reading = self.read(Decoder::new(self.source(), number));
            match parts.iter_mut().find(|(_, other)| are_alike(other, &reading)) {
                Some((layouts, _)) => *layouts = layouts.with(number),
                None => parts.push((Layouts::default().with(number), reading)),
            }
        }
        parts
    }

    fn take(&mut self, (read, defect): Reading) {
        match read {
            Ok(event) => self.take_event(&event, defect),
            Err(fault) => {
                self.at = fault.start;
                let Some(defect) = defect else {
                    self.stop = Some(Stop::Truncated(fault));
                    return;
                };
                let (number, span) = (self.events(), fault.span(self.source().len()));
                let kind = fault.kind;
                let located = Located { number, kind, span, defect, earlier: Vec::new() };
                self.note_at(located, Some(fault.start));
                self.defects.gather(self.context.array, self.anchor_before_end());
                self.defects.evidence.lose(fault.start);
                self.stop = Some(Stop::Lost(fault));
            }
        }
    }

    fn take_event(&mut self, event: &Event, defect: Option<Defect>) {
        let (kind, layout) = (event.kind, self.layout());
        let id = layout.id(kind);
        let order = self.context.previous.and_then(|one| regular::find_in_order(layout, one, kind));
        // A defect of the event itself may be the reason why it does not fit its place.
        let place = if defect.is_some() { None } else { self.find_in_place(event) };
        let defects = [order, place, defect];
        for defect in defects.into_iter().flatten() {
            self.note(event, defect);
        }
        if order.is_some_and(|defect| self.defects.is_counted(&defect)) {
            self.skim.count_misfits_after_last();
        }
        let is_zero = self.context.previous == Some(kind) && event.is_zeros();
        self.context.zero_defects = if is_zero { defects } else { [None; 3] };
        let number = self.events();
        if let Some(id) = id {
            self.take_turn(event, number, id);
        }
        self.count(event, id);
        self.skim.follow(id);
        self.context.add(event, number, self.anchor_before_end());
        if kind == Kind::End {
            self.note_lost_requests();
            self.note_turn_left_out();
            self.stop = Some(Stop::End(event.start));
            if event.end < self.source().len() {
                self.defects.evidence.contradict(event.start, Defect::BytesAfterEnd);
            }
        }
        self.at = event.end;
    }

    /// Notes block requests that are never done.
    fn note_lost_requests(&mut self) {
        let requests = &self.context.requests;
        let is_certain = |gap: &Gap| self.layout().measured && requests.is_gap_certain(gap);
        let Some(gap) = requests.gap().filter(is_certain) else { return };
        let defect = Defect::BlockMissing { id: gap.id, later: gap.later };
        let ((number, span), kind) = (gap.event, Some(Kind::Async(Async::Block)));
        let located = Located { number, kind, span, defect, earlier: Vec::new() };
        self.defects.note(located, None);
    }

    /// Notes that an event came out of turn, if it did.
    fn take_turn(&mut self, event: &Event, number: u64, id: u8) {
        if !self.skim.is_turn(id) {
            self.turns.add(LeftOut { number, kind: event.kind, span: event.span() });
            if self.turns.are_free() {
                self.skim.free = u64::MAX;
            }
        }
    }

    /// Notes a turn that was left out, although the log keeps to them.
    fn note_turn_left_out(&mut self) {
        let passes = self.events_of(Kind::Checkpoint(Checkpoint::ClockVirtualRt));
        let Some(LeftOut { number, kind, span }) = self.turns.left_out(passes) else { return };
        let (kind, defect) = (Some(kind), Defect::TurnLeftOut(kind));
        // The turn was due after the event of this kind before. Only the end shows whether a log
        // keeps to the turns, so the anchors lie after it.
        let events = Walker::new(self.decoder(), HEADER_LEN, 0).map_while(Item::record);
        let before = events.take_while(|event| event.start < span.start);
        let before = before.filter(|event| Some(event.kind) == kind).last();
        let at = before.map_or(span.start, |event| event.start);
        let start = Damage { at, before: Anchor::START };
        self.defects.note(Located { number, kind, span, defect, earlier: Vec::new() }, Some(start));
    }

    /// Returns where block requests were lost before the first irregular event.
    pub fn find_lost_request(&self) -> Option<Damage> {
        let requests = &self.context.requests;
        let gap = requests.gap()?;
        let (_, span) = gap.event;
        let is_first = self.defects.irregular.is_none_or(|damage| span.start <= damage.at);
        let is_lost = requests.is_serial() || requests.is_gap_certain(&gap);
        Some(gap.start).filter(|_| is_first && is_lost && self.layout().measured)
    }

    /// The last time of a clock, if it was seen.
    fn last_time(&self, kind: Kind) -> Option<i64> {
        self.counts.clock(kind)?;
        Some(self.skim.slot(self.layout().id(kind)?)?.floor.cast_signed())
    }

    fn count(&mut self, event: &Event, id: Option<u8>) {
        let last = event.time().and_then(|_| self.last_time(event.kind));
        self.counts.add(event, last);
        if event.kind == Kind::Instruction {
            let count = u32::try_from(event.instructions()).unwrap_or(u32::MAX);
            self.skim.pattern.add(count);
        }
        let slot = id.and_then(|id| self.skim.slots.get_mut(usize::from(id)));
        if let (Some(time), Some(slot)) = (event.time(), slot) {
            slot.floor = time.cast_unsigned();
            slot.end = i64::MIN.cast_unsigned();
        }
    }

    /// Notes a defect of an event.
    fn note(&mut self, event: &Event, defect: Defect) {
        let start = match defect {
            _ if self.defects.irregular.is_some() => None,
            Defect::ClockBackwards { .. } if self.context.looks_back >= LOOKS_BACK_MAX => None,
            Defect::ClockBackwards { before, now } => {
                self.context.looks_back = self.context.looks_back.saturating_add(1);
                let step = clock::Step { kind: event.kind, before, now };
                let wrong =
                    clock::find_wrong(self.decoder(), self.anchor_before_end(), event, step);
                // Nobody sets the virtual clock back.
                wrong.or((event.kind == Kind::ClockVirtualRt).then_some(event.start))
            }
            _ => defect.is_irregular().then_some(event.start),
        };
        let (number, span) = (self.events(), event.span());
        let located = Located { number, kind: Some(event.kind), span, defect, earlier: Vec::new() };
        self.note_at(located, start);
    }

    /// Notes a defect; damage may have begun at `start`.
    fn note_at(&mut self, located: Located, start: Option<u64>) {
        let before = self.anchor_before_end();
        self.defects.note(located, start.map(|at| Damage { at, before }));
    }

    /// Returns the events so far.
    pub const fn events(&self) -> u64 {
        self.counts.events.saturating_add(self.skim.events)
    }

    /// Returns the events so far that QEMU wrote: zeros that are read as INSTRUCTION are not
    /// events.
    pub const fn written(&self) -> u64 {
        self.events().saturating_sub(self.counts.zeros)
    }

    /// Returns the events of one kind so far, without zeros.
    pub fn events_of(&self, kind: Kind) -> u64 {
        let fast = self.layout().id(kind).and_then(|id| self.skim.slot(id));
        let zeros = if kind == Kind::Instruction { self.counts.zeros } else { 0 };
        let events = self.counts.of(kind).saturating_add(fast.map_or(0, |slot| slot.count));
        events.saturating_sub(zeros)
    }

    /// Returns the instructions so far.
    pub fn instructions(&self) -> u64 {
        let fast = self.layout().id(Kind::Instruction).and_then(|id| self.skim.slot(id));
        self.counts.instructions.saturating_add(fast.map_or(0, |slot| slot.sum))
    }

    /// Returns first and largest time of a clock so far, in nanoseconds.
    pub fn clock(&self, kind: Kind) -> ClockRange {
        let [first, largest] = self.counts.clock(kind)?;
        Some([first, largest.max(self.last_time(kind)?)])
    }

    /// Returns the counts of the slow path, which is the only one for packets and keys.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }
}

/// Whether two layouts read an event alike, as far as the events after it are concerned.
fn are_alike((a, a_defect): &Reading, (b, b_defect): &Reading) -> bool {
    let end_alike = match (a, b) {
        (Ok(a), Ok(b)) => a.end == b.end,
        (Err(a), Err(b)) => a == b,
        _ => false,
    };
    end_alike
        && match (a_defect, b_defect) {
            (Some(a), Some(b)) => a.is_same_kind(b),
            (None, None) => true,
            _ => false,
        }
}
