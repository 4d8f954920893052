//! One reading of a log: the events as some of the layouts have them.
//!
//! Layouts with the same ids share a lane until an event comes whose payload they read differently;
//! there the lane forks. A lane remembers what it doubted, in order, so that the lanes can be
//! compared when they end ([`race`](super::race)).

use std::collections::BTreeMap;

use crate::formats::qemu::check::judge::{self, Broken};
use crate::formats::qemu::check::regular;
use crate::formats::qemu::decode::event::{
    Decoder, Event, FILE, Fault, Input, RingAbove, Value, What,
};
use crate::formats::qemu::decode::skim::{Skim, Table};
use crate::formats::qemu::decode::walk::ring_above;
use crate::formats::qemu::layout::{
    Async, Checkpoint, HEADER_LEN, KINDS, Kind, LAYOUTS, Layout, Layouts,
};
use crate::formats::qemu::rules;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::source::Source;
use crate::kit::span::Span;
use crate::report::{Finding, Related, Rule, Severity};

/// Doubts that a lane remembers: two lanes differ within the first few.
const DOUBTS: usize = 64;
/// Bytes between two anchors.
const ANCHOR_BYTES: u64 = 32 << 10;
/// Events between two anchors: more than a back-off ever takes.
const ANCHOR_EVENTS: u64 = 256;
/// Events in which CP_INIT is expected.
const INIT_EVENTS: u64 = 3;

/// Bytes between two findings of one fault, where the reading loses its way in the end.
const NEAR: u64 = 256;
/// Findings that are named beside the last of them.
const RELATED: usize = 4;

/// Where a lane ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// At END, which begins here.
    End(u64),
    /// At the end of the file, behind a whole event.
    Over,
    /// In an event that the file does not hold to its end.
    Torn(Fault),
    /// At bytes that are no event.
    Lost(Fault),
}

/// A place to walk from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Offset of an event.
    pub at: u64,
    /// What was known of the ring there.
    pub ring: RingAbove,
    /// Events before it.
    pub events: u64,
    /// Instructions before it.
    pub instructions: u64,
}

impl Anchor {
    /// The first event.
    pub const START: Self = Self { at: HEADER_LEN, ring: 0, events: 0, instructions: 0 };
}

/// The first damage of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Offset of the event.
    pub at: u64,
    /// A place to walk from.
    pub before: Anchor,
}

/// What was counted.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Events by number of the kind, those of the fast loop apart.
    kinds: Vec<u64>,
    /// Instructions in events of the slow path.
    instructions: u64,
    /// Packets and their bytes.
    pub packets: [u64; 2],
    /// Keys pressed and released.
    pub keys: [u64; 2],
    /// First and greatest time of the host's and of the virtual clock.
    clocks: [Option<[i64; 2]>; 2],
}

/// One reading of a log.
#[derive(Clone, Debug)]
pub struct Lane<'a> {
    /// The layouts that read it so.
    pub layouts: Layouts,
    source: &'a Source<'a>,
    table: &'static Table,
    skim: Box<Skim>,
    /// Offset of the next event.
    pub at: u64,
    /// Kind of the last event.
    pub previous: Option<Kind>,
    /// Kind of the event before END.
    pub before_end: Option<Kind>,
    /// The last event, if its length is its own.
    array: Option<Span>,
    /// Number of the checkpoint that the last event names.
    checkpoint: Option<u8>,
    init_seen: bool,
    ring: RingAbove,
    counted: Counted,
    anchors: [Anchor; 2],
    /// Where it doubted, and why.
    pub doubts: Vec<(u64, &'static Rule)>,
    /// The first damage.
    pub damage: Option<Damage>,
    found: Vec<Finding>,
    /// Findings that were not kept.
    more: BTreeMap<&'static str, (&'static Rule, u64)>,
    capacity: usize,
    /// Where it ended, if it did.
    pub stop: Option<Stop>,
}

/// How an event reads.
type Reading = (Result<Event, Fault>, Option<Broken>);

impl<'a> Lane<'a> {
    /// A lane from another place on.
    #[must_use]
    pub fn from(mut self, at: u64) -> Self {
        let anchor = Anchor { at, ..Anchor::START };
        (self.at, self.anchors, self.init_seen) = (at, [anchor; 2], true);
        self
    }

    /// A lane from the first event on, for layouts of the same ids.
    pub fn new(source: &'a Source<'a>, layouts: Layouts, capacity: usize) -> Self {
        let [.., last] = &LAYOUTS;
        let (number, layout) = layouts.iter().next().unwrap_or((LAYOUTS.len(), last));
        let anchor = Anchor::START;
        Self {
            layouts,
            source,
            table: regular::table(number),
            skim: Box::new(regular::start(layout)),
            at: HEADER_LEN,
            previous: None,
            before_end: None,
            array: None,
            checkpoint: None,
            init_seen: false,
            ring: 0,
            counted: Counted { kinds: vec![0; KINDS.len()], ..Counted::default() },
            anchors: [anchor; 2],
            doubts: Vec::new(),
            damage: None,
            found: Vec::new(),
            more: BTreeMap::new(),
            capacity,
            stop: None,
        }
    }

    /// The layout that stands for the others, with a decoder of it.
    pub fn decoder(&self) -> Decoder<'a> {
        let number = self.layouts.iter().next().map_or(usize::MAX, |(number, _)| number);
        Decoder::new(self.source, number)
    }

    /// The layout that stands for the others.
    pub fn layout(&self) -> &'static Layout {
        self.decoder().layout()
    }

    /// Reads the events that begin before `until`; lanes that fork off go to `forks`.
    pub fn advance(&mut self, until: u64, forks: &mut Vec<Self>) {
        let until = until.min(self.source.len());
        while self.stop.is_none() {
            if self.at >= until {
                if self.at >= self.source.len() {
                    self.stop = Some(Stop::Over);
                }
                return;
            }
            self.anchor();
            // The first events are looked at one by one.
            if self.counted.kinds.iter().sum::<u64>() >= INIT_EVENTS {
                let run = self.source.run(self.at);
                let len = to_usize(until.saturating_sub(self.at).min(ANCHOR_BYTES));
                let run = run.get(..len).unwrap_or(run);
                let passed = self.skim.pass(self.table, run);
                if passed > 0 {
                    self.at = self.at.saturating_add(to_u64(passed));
                    let last = self.table.kinds.get(usize::from(self.skim.last));
                    self.previous = last.copied().flatten();
                    if self.at >= until {
                        continue;
                    }
                }
            }
            self.step(forks);
        }
    }

    fn anchor(&mut self) {
        let [_, newer] = self.anchors;
        if self.at < newer.at.saturating_add(ANCHOR_BYTES) {
            return;
        }
        let events = self.events();
        if events >= newer.events.saturating_add(ANCHOR_EVENTS) {
            let instructions = self.instructions();
            let next = Anchor { at: self.at, ring: self.ring, events, instructions };
            self.anchors = [newer, next];
        }
    }

    /// A place from which some hundred events, or all of them, lie before the end.
    pub const fn before(&self) -> Anchor {
        let [older, _] = self.anchors;
        older
    }

    /// One event.
    fn step(&mut self, forks: &mut Vec<Self>) {
        let (mut layouts, mut reading) = (self.layouts, self.read(self.layout(), self.decoder()));
        let kind = match &reading.0 {
            Ok(event) => Some(event.kind),
            Err(fault) => fault.kind,
        };
        let contested =
            matches!(kind, Some(Kind::Async(Async::Input) | Kind::AudioIn | Kind::AudioOut));
        if contested && layouts.len() > 1 {
            let mut parts = self.parts().into_iter();
            if let Some((mine, read)) = parts.next() {
                (layouts, reading) = (mine, read);
            }
            for (others, read) in parts {
                let mut fork = Self { layouts: others, ..self.clone() };
                fork.take(read);
                forks.push(fork);
            }
        }
        self.layouts = layouts;
        self.take(reading);
    }

    fn read(&self, layout: &Layout, decoder: Decoder<'a>) -> Reading {
        let read = decoder.event(self.at, self.ring);
        let broken = match &read {
            Ok(event) => judge::event(event, layout),
            Err(fault) => judge::fault(fault),
        };
        (read, broken)
    }

    /// The layouts by how they read the event, the first layout's reading first.
    fn parts(&self) -> Vec<(Layouts, Reading)> {
        let mut parts: Vec<(Layouts, Reading)> = Vec::new();
        for (number, layout) in self.layouts.iter() {
            let read = self.read(layout, Decoder::new(self.source, number));
            let same = |other: &Reading| {
                let ends = match (&other.0, &read.0) {
                    (Ok(a), Ok(b)) => a.end == b.end,
                    (Err(a), Err(b)) => a == b,
                    _ => false,
                };
                ends && other.1.as_ref().map(|b| b.rule) == read.1.as_ref().map(|b| b.rule)
            };
            match parts.iter_mut().find(|(_, other)| same(other)) {
                Some((layouts, _)) => *layouts = layouts.with(number),
                None => parts.push((Layouts::default().with(number), read)),
            }
        }
        parts
    }

    fn take(&mut self, (read, broken): Reading) {
        match read {
            Ok(event) => self.event(&event, broken),
            Err(fault) => {
                let start = fault.start;
                self.stop = Some(match broken {
                    None => Stop::Torn(fault),
                    Some(broken) => {
                        self.found_broken(span_of(&fault, self.source.len()), fault.kind, broken);
                        self.gather();
                        Stop::Lost(fault)
                    }
                });
                self.at = start;
            }
        }
    }

    fn event(&mut self, event: &Event, broken: Option<Broken>) {
        let kind = event.kind;
        let order = self.previous.and_then(|previous| {
            let rule = regular::broken(previous, kind)?;
            let message = format!("{} follows {}", kind.name(), previous.name());
            Some(Broken::new(rule, "id", message))
        });
        // What is wrong with the event itself may be why it is out of place.
        let place = if broken.is_some() { None } else { self.out_of_place(event) };
        for broken in [order, place, broken].into_iter().flatten() {
            self.found_broken(event.span(), Some(kind), broken);
        }
        self.count(event);
        self.ring = ring_above(self.ring, &event.value);
        self.checkpoint = event.checkpoint;
        self.array = event.value.has_array().then(|| event.span());
        self.init_seen |= kind == Kind::Checkpoint(Checkpoint::Init);
        self.skim.followers = regular::followers(kind);
        if kind == Kind::End {
            self.stop = Some(Stop::End(event.start));
            if event.end < self.source.len() {
                self.doubt(event.start, &rules::BYTES_AFTER_END);
            }
            self.before_end = self.previous;
        }
        self.previous = Some(kind);
        self.at = event.end;
    }

    /// What is wrong with an event at its place: clocks, checkpoints, the ring.
    fn out_of_place(&self, event: &Event) -> Option<Broken> {
        let kind = event.kind;
        let ends = matches!(kind, Kind::Shutdown(_) | Kind::End);
        let third = self.events().saturating_add(1) == INIT_EVENTS;
        let init = self.init_seen || kind == Kind::Checkpoint(Checkpoint::Init);
        if third && !init && !ends && self.layout().measured {
            let message = format!("{} is the third event, CP_INIT is not among them", kind.name());
            return Some(Broken::new(&rules::INIT_LATE, "id", message));
        }
        // Of what the fast loop passes over, only the last event is known.
        let behind = match self.previous {
            Some(Kind::Async(_)) => self.checkpoint,
            Some(previous) => judge::checkpoint_number(previous, self.layout()),
            None => None,
        };
        match (&event.value, event.checkpoint, behind) {
            (Value::Time(time), ..) => {
                let before = self.last_time(kind).filter(|before| before > time)?;
                let message = format!("{} is {time} after {before}", kind.name());
                Some(Broken::new(&rules::CLOCK_BACKWARDS, "clock", message))
            }
            (Value::AudioIn { recorded, full_ring: true, .. }, ..) => {
                let message = format!("{recorded} samples are counted, none is written");
                Some(Broken::new(&rules::FULL_RING, "samples", message))
            }
            (_, Some(named), Some(last)) if named != last => {
                let message = format!("checkpoint {named} behind checkpoint {last}");
                Some(Broken::new(&rules::CHECKPOINT_OTHER, "checkpoint", message))
            }
            _ => None,
        }
    }

    /// The last time of a clock, if it was seen.
    fn last_time(&self, kind: Kind) -> Option<i64> {
        let index = usize::from(kind == Kind::ClockVirtualRt);
        (*self.counted.clocks.get(index)?)?;
        let slot = self.skim.slots.get(usize::from(self.layout().id(kind)?))?;
        Some(slot.floor.cast_signed())
    }

    fn count(&mut self, event: &Event) {
        let last = self.last_time(event.kind);
        let id = self.layout().id(event.kind).unwrap_or(u8::MAX);
        if let Some(count) = self.counted.kinds.get_mut(event.kind.number()) {
            *count = count.saturating_add(1);
        }
        let counted = &mut self.counted;
        match &event.value {
            Value::Instructions(count) => {
                counted.instructions = counted.instructions.saturating_add((*count).into());
            }
            Value::Net { len, .. } => {
                let [packets, bytes] = &mut counted.packets;
                *packets = packets.saturating_add(1);
                *bytes = bytes.saturating_add((*len).into());
            }
            Value::Input(Input::Key { down, .. }) => {
                let [pressed, released] = &mut counted.keys;
                let which = if *down == 0 { released } else { pressed };
                *which = which.saturating_add(1);
            }
            Value::Time(time) => {
                let index = usize::from(event.kind == Kind::ClockVirtualRt);
                if let Some(clock) = counted.clocks.get_mut(index) {
                    let [first, greatest] = clock.unwrap_or([*time; 2]);
                    *clock = Some([first, greatest.max(last.unwrap_or(*time))]);
                }
                if let Some(slot) = self.skim.slots.get_mut(usize::from(id)) {
                    slot.floor = time.cast_unsigned();
                    slot.end = i64::MIN.cast_unsigned();
                }
            }
            _ => {}
        }
    }

    /// Events so far.
    pub fn events(&self) -> u64 {
        let fast = self.skim.slots.iter().map(|slot| slot.count);
        fast.chain(self.counted.kinds.iter().copied()).fold(0, u64::saturating_add)
    }

    /// Events of one kind so far.
    pub fn events_of(&self, kind: Kind) -> u64 {
        let slow = self.counted.kinds.get(kind.number()).copied().unwrap_or(0);
        let id = self.layout().id(kind);
        let fast = id.and_then(|id| self.skim.slots.get(usize::from(id)));
        slow.saturating_add(fast.map_or(0, |slot| slot.count))
    }

    /// Instructions so far.
    pub fn instructions(&self) -> u64 {
        let id = self.layout().id(Kind::Instruction);
        let fast = id.and_then(|id| self.skim.slots.get(usize::from(id)));
        self.counted.instructions.saturating_add(fast.map_or(0, |slot| slot.sum))
    }

    /// First and greatest time of a clock, in nanoseconds.
    pub fn clock(&self, kind: Kind) -> Option<[i64; 2]> {
        let index = usize::from(kind == Kind::ClockVirtualRt);
        let [first, greatest] = (*self.counted.clocks.get(index)?)?;
        Some([first, greatest.max(self.last_time(kind)?)])
    }

    /// What else was counted.
    pub const fn counted(&self) -> &Counted {
        &self.counted
    }

    fn doubt(&mut self, at: u64, rule: &'static Rule) {
        if self.doubts.len() < DOUBTS {
            self.doubts.push((at, rule));
        }
    }

    fn found_broken(&mut self, span: Span, kind: Option<Kind>, broken: Broken) {
        let Broken { rule, field, message } = broken;
        // A clock that was set back says nothing about the layout, nor does a full ring.
        let doubtful = rule.severity > Severity::Info && *rule != rules::CLOCK_BACKWARDS;
        if doubtful {
            self.doubt(span.start, rule);
        }
        if rule.severity == Severity::Error {
            let here = Damage { at: span.start, before: self.before() };
            self.damage = self.damage.or(Some(here));
        }
        if self.found.len() < self.capacity {
            let name = kind.map_or("", Kind::name);
            let dot = if name.is_empty() { "" } else { "." };
            let path = format!("event[{}].{name}{dot}{field}", self.events());
            self.found.push(Finding::new(rule, span, path, message));
        } else {
            let entry = self.more.entry(rule.code).or_insert((rule, 0));
            entry.1 = entry.1.saturating_add(1);
        }
    }

    /// Where the reading lost its way, what it found shortly before belongs to the same fault: a
    /// wrong length shows in what is read next. It becomes part of the last finding.
    fn gather(&mut self) {
        let Some(mut last) = self.found.pop().filter(|_| self.more.is_empty()) else { return };
        let mut start = last.span.start;
        while let Some(earlier) = self.found.pop() {
            let near = earlier.span.start.saturating_add(NEAR) >= start;
            if !near || earlier.severity == Severity::Info {
                self.found.push(earlier);
                break;
            }
            start = earlier.span.start;
            last.related.push(Related { span: earlier.span, message: earlier.message });
        }
        // A wrong length shows where the next event should begin.
        if let Some(array) = self.array.filter(|array| array.end == start) {
            start = array.start;
            let message = "the length in the event before may be wrong".to_string();
            last.related.push(Related { span: array, message });
        }
        let whole = self.damage.filter(|damage| damage.at < start);
        let before = Some(self.before()).filter(|anchor| anchor.at <= start);
        let here = Damage { at: start, before: before.unwrap_or(Anchor::START) };
        self.damage = whole.or(Some(here));
        // The earliest is the likeliest cause.
        last.related.reverse();
        last.related.truncate(RELATED);
        self.found.push(last);
    }

    /// The findings that were kept, and how often a rule fired beyond them.
    pub fn into_findings(self) -> (Vec<Finding>, Vec<(&'static Rule, u64)>) {
        (self.found, self.more.into_values().collect())
    }
}

/// The bytes that a fault is about: the id and what was read behind it.
fn span_of(fault: &Fault, len: u64) -> Span {
    let bytes = match fault.what {
        What::Id(_) => 1,
        What::AsyncKind(_) => 3,
        _ => 13,
    };
    Span::new(FILE, fault.start, fault.start.saturating_add(bytes).min(len))
}
