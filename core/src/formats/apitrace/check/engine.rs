//! From blocks of the stream to damages: reads, and where reading stops, seeks.
//!
//! ```text
//!            stop: no event, or a unit that lost bytes
//!   read --------------------------------------------> seek: try every place
//!    ^                                                   |
//!    +---------------------------------------------------+ sync: numbers and lost ids are known
//! ```

use crate::limits::RESYNC;
use crate::limits::FIXES;
use crate::formats::apitrace::limits::NESTING;
use std::borrow::Cow;
use std::collections::VecDeque;

use super::definitions::{Definitions, Known};
use super::judge::{Done, Judge, Lost, Place, What};
use super::probe::{Before, Lenience, Sync, Tried, probe};
use crate::formats::apitrace::decode::machine::{Cause, Machine, Space, Stop};
use crate::formats::apitrace::expand::{Block, Fault};
use crate::formats::apitrace::layout::VERSION_MAX;
use crate::kit::layer::{LayerMap, Segment};
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::Span;
use crate::limits::Limits;
use crate::report::Excerpt;

/// Bytes that are held while a place is sought.
const WINDOW_MAX: usize = 4 << 20;
/// Bytes of a block that are looked at first together with what was left of the one before.
const BRIDGE: usize = 4 << 10;
/// How close to the beginning of a search the end of the damage is expected.
const CLOSE: u64 = 64;
/// How often a stream may be read again from an earlier place.
const REWINDS_MAX: u32 = 64;
/// Bytes of a string behind the end of the stream from which its length is doubted.
const LONG: u64 = 64 << 10;
/// A version that there will not be.
const VERSION_WILD: u64 = 64;
/// Events that the middle of a stream may be taken for by one who looks for a header.
const FEW: u64 = 64;
/// Bytes around something odd that are shown.
const EXCERPT: u64 = 48;
/// As many lost calls are believed, and one for each byte of the stream: more are a damaged number.
const LOST_ALWAYS: u64 = 1 << 16;
/// What searches may spend in the smallest stream.
const SEARCH_FIRST: u64 = 1 << 20;
/// And for every byte of a longer one.
const SEARCH_MORE: u64 = 64;
/// Blocks whose first calls are remembered.
const BLOCKS_KEPT: usize = 4_096;

/// Why a stretch of the stream is damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The bytes are no events.
    Cause(Cause),
    /// A unit lost bytes.
    Fault(Fault),
}

/// A stretch of the stream that is no sequence of events, or that is missing.
#[derive(Clone, Debug)]
pub struct Damage {
    /// Why.
    pub why: Why,
    /// Where it was seen.
    pub seen: u64,
    /// Where the sound events before it end.
    pub start: u64,
    /// Where sound events begin again; for an open one, where the stream ends.
    pub end: u64,
    /// Whether nothing sound follows.
    pub open: bool,
    /// The number of the first call that was lost.
    pub call: u64,
    /// How many calls were lost.
    pub lost: u64,
    /// Numbers of calls that may be wrong.
    pub suspects: (u64, u64),
    /// Where the stretch ends in which what is odd is a consequence.
    pub doubt_end: u64,
    /// The unit that is at fault, or the one that holds the damage.
    pub unit: Option<Segment>,
    /// Where the units at fault end in the file.
    pub units_end: u64,
    /// Definitions that were lost.
    pub definitions: Vec<(Space, u64)>,
    /// The units that hold the stretch.
    pub place: Option<Place>,
    /// Whether the header of the stream is among what was lost.
    pub header: bool,
    /// The bytes there.
    pub excerpt: Option<Excerpt>,
    /// Blocks that have ended since, until the suspects are known.
    settled: bool,
}

/// A unit with a fault that loses nothing of the stream.
#[derive(Clone, Debug)]
pub struct UnitFault {
    /// What is wrong.
    pub fault: Fault,
    /// Where.
    pub segment: Segment,
}

/// The event that the stream ends in.
#[derive(Clone, Debug)]
pub struct TornEvent {
    /// Where it begins.
    pub start: u64,
    /// Where the stream ends.
    pub end: u64,
    /// The call it belongs to, and whether it is an enter.
    pub call: u64,
    /// Whether the stream ends in its header.
    pub header: bool,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Give the next block.
    Go,
    /// Begin again with the block that holds this offset.
    Rewind(u64),
    /// Nothing more is to be read.
    Stop,
}

enum Mode {
    Read,
    Seek(Seek),
    Over,
}

/// A search for the place where the stream goes on.
struct Seek {
    window: Vec<u8>,
    /// Where the window begins.
    start: u64,
    /// The next place to try.
    next: u64,
    /// Where the search began.
    from: u64,
}

/// Reads a stream as it is expanded.
pub struct Engine<'a> {
    limits: Limits,
    machine: Machine,
    /// What the tokens meant.
    pub judge: Judge,
    /// From the stream to what is stored.
    pub map: LayerMap,
    /// Stretches that are no events.
    pub damages: Vec<Damage>,
    /// Units with faults.
    pub faults: Vec<UnitFault>,
    /// The event that the stream ends in.
    pub torn: Option<TornEvent>,
    /// The fault of the last unit, if the file ends inside it.
    pub tail: Option<UnitFault>,
    /// A limit that was reached: where and which.
    pub limit: Option<(u64, String)>,
    /// Where the stream ends, as far as it was expanded.
    pub end: u64,
    /// The last block's places.
    pub last: Option<Segment>,
    donor: Option<&'a Definitions>,
    mode: Mode,
    carry: Vec<u8>,
    carry_start: u64,
    blocks: VecDeque<Begun>,
    resolved: usize,
    ghosts_resolved: usize,
    reported: u64,
    rewinds: u32,
    /// Damages before this one are settled.
    settled: usize,
    /// What searches may still spend.
    search: u64,
    /// What they were given in all: the longer the stream, the more, up to the limit.
    granted: u64,
    zero_at: Option<u64>,
    doubted: Option<u64>,
}

/// A block that was begun.
#[derive(Clone, Copy, Debug)]
struct Begun {
    /// Where it begins in the stream.
    start: u64,
    /// The number of the first call in it.
    call: u64,
    /// Its unit, whose end in the stream may not be known yet.
    unit: Segment,
}

enum Next {
    Sync(u64),
    Seek(u64),
    Rewind(u64),
    Over,
}

impl<'a> Engine<'a> {
    /// At the beginning of a stream.
    pub fn new(limits: &Limits, keep_raw: bool, donor: Option<&'a Definitions>) -> Self {
        Self {
            limits: limits.clone(),
            machine: Machine::new(limits.of(&NESTING)),
            judge: Judge::new(limits, keep_raw),
            map: LayerMap::default(),
            damages: Vec::new(),
            faults: Vec::new(),
            torn: None,
            tail: None,
            limit: None,
            end: 0,
            last: None,
            donor,
            mode: Mode::Read,
            carry: Vec::new(),
            carry_start: 0,
            blocks: VecDeque::new(),
            resolved: 0,
            ghosts_resolved: 0,
            reported: 0,
            rewinds: 0,
            settled: 0,
            search: limits.of(&RESYNC).min(SEARCH_FIRST),
            granted: limits.of(&RESYNC).min(SEARCH_FIRST),
            zero_at: None,
            doubted: None,
        }
    }

    /// At the beginning of a stream whose header is gone: it begins somewhere in its middle.
    pub fn without_header(limits: &Limits, keep_raw: bool, donor: Option<&'a Definitions>) -> Self {
        let mut engine = Self::new(limits, keep_raw, donor);
        engine.open_damage(0, Why::Cause(Cause::Header), 0);
        if let Some(damage) = engine.damages.last_mut() {
            damage.header = true;
        }
        engine.mode = Mode::Seek(Seek { window: Vec::new(), start: 0, next: 0, from: 0 });
        engine
    }

    /// Whether next to nothing was read from the beginning on.
    pub fn makes_no_sense(&self) -> bool {
        // The next version would be 7.
        let wild = self.judge.header.version.is_some_and(|(version, _)| version > VERSION_WILD);
        let few = self.judge.events < FEW && self.end > LONG;
        (wild || !self.damages.is_empty()) && few && self.limit.is_none()
    }

    /// The version of the stream.
    pub const fn version(&self) -> u64 {
        self.machine.version()
    }

    /// The next block.
    pub fn block(&mut self, block: &Block) -> Flow {
        let fresh = block.start >= self.end || self.last.is_none();
        if let Some(segment) = block.segment().filter(|_| fresh) {
            self.map.push(segment);
            self.last = Some(segment);
            let left = self.limits.of(&RESYNC).saturating_sub(self.granted);
            let more = segment.expanded.len().saturating_mul(SEARCH_MORE).min(left);
            self.granted = self.granted.saturating_add(more);
            self.search = self.search.saturating_add(more);
        }
        self.end = self.end.max(block.end());
        if let Some(unit) = block.whole() {
            self.begin(block.start, unit);
        }
        let flow = match &self.mode {
            Mode::Over => return Flow::Stop,
            Mode::Read => self.read(&block.bytes, block.start),
            Mode::Seek(_) => self.seek(&block.bytes, block.start, false),
        };
        if flow != Flow::Go {
            return flow;
        }
        self.settle_suspects(false);
        self.resolve();
        match (&block.fault, block.segment()) {
            (Some(fault), Some(segment)) => self.fault(fault, segment),
            _ => Flow::Go,
        }
    }

    /// Notes where a block begins.
    fn begin(&mut self, start: u64, unit: Segment) {
        let call = self.judge.calls.next;
        let known = self.blocks.partition_point(|block| block.start <= start);
        let last = known.checked_sub(1).and_then(|index| self.blocks.get(index));
        let again = last
            .is_some_and(|last| last.start == start && last.unit.stored.start == unit.stored.start);
        if again {
            return;
        }
        if self.blocks.len() >= BLOCKS_KEPT {
            self.blocks.pop_front();
        }
        self.blocks.push_back(Begun { start, call, unit });
    }

    fn begun(&self, at: u64) -> Option<&Begun> {
        let after = self.blocks.partition_point(|block| block.start <= at);
        self.blocks.get(after.checked_sub(1)?)
    }

    /// The units that hold `start..end` of the stream.
    pub fn place(&self, start: u64, end: u64) -> Option<Place> {
        let head = self.begun(start)?.unit;
        let tail = self.begun(end.saturating_sub(1).max(start))?.unit;
        Some(Place { head, tail })
    }

    /// Looks up the units of what was noted since the last time, while they are known.
    fn resolve(&mut self) {
        let from = self.resolved.min(self.judge.ready.len());
        self.resolved = self.judge.ready.len();
        let mut ready = std::mem::take(&mut self.judge.ready);
        for noted in ready.iter_mut().skip(from) {
            let (start, end) = noted.part.unwrap_or((noted.at, noted.end));
            noted.place = self.place(start, end);
        }
        self.judge.ready = ready;
        let from = self.ghosts_resolved.min(self.judge.ghosts.len());
        self.ghosts_resolved = self.judge.ghosts.len();
        let mut ghosts = std::mem::take(&mut self.judge.ghosts);
        for ghost in ghosts.iter_mut().skip(from) {
            ghost.2 = self.place(ghost.0, ghost.1);
        }
        self.judge.ghosts = ghosts;
    }

    /// Nothing follows.
    pub fn finish(&mut self) -> Flow {
        while let Mode::Seek(seek) = &self.mode {
            // What is found may be followed by further damage.
            if seek.next >= self.end && seek.window.is_empty() {
                break;
            }
            match self.seek(&[], self.end, true) {
                Flow::Go => {}
                other => return other,
            }
        }
        match self.mode {
            Mode::Read => {
                let inside = !self.machine.is_between_events() || !self.carry.is_empty();
                if inside && self.doubts_length() {
                    let from = self.machine.event().saturating_add(1);
                    self.doubted = Some(self.machine.event());
                    let stop = Stop {
                        at: self.machine.event(),
                        cause: Cause::Count("bytes of a string", self.machine.skips()),
                    };
                    self.open_damage(self.machine.event(), Why::Cause(stop.cause), stop.at);
                    return self.rewind(from);
                }
                if inside {
                    self.tear();
                }
            }
            Mode::Seek(_) | Mode::Over => {
                let end = self.end;
                if let Some(damage) = self.damages.last().filter(|damage| damage.open) {
                    let held = self.place(damage.start, end);
                    if let Some(damage) = self.damages.last_mut() {
                        damage.end = end;
                        damage.place = held;
                    }
                }
            }
        }
        self.settle_suspects(true);
        self.judge.settle();
        self.resolve();
        Flow::Stop
    }

    /// Whether the stream ends in a string whose length may be wrong.
    fn doubts_length(&self) -> bool {
        let event = self.machine.event();
        self.machine.skips() > 0
            && self.tail.is_none()
            && self.doubted != Some(event)
            && self.end.saturating_sub(event) > LONG
    }

    fn tear(&mut self) {
        let header = self.machine.is_in_header();
        let between = self.machine.is_between_events();
        let start = match (header, between) {
            (true, _) => 0,
            (false, true) => self.carry_start,
            (false, false) => self.machine.event(),
        };
        let call = self.judge.call();
        self.judge.take_back_current();
        self.torn = Some(TornEvent { start, end: self.end, call, header });
    }

    /// Reads `bytes` behind what was left of the block before.
    fn read(&mut self, bytes: &[u8], start: u64) -> Flow {
        let (mut data, mut base) = (Cow::Borrowed(bytes), start);
        let mut at = 0;
        let mut stopped = None;
        if !self.carry.is_empty() {
            let mut joint = std::mem::take(&mut self.carry);
            let carried = joint.len();
            let (mut taken, mut read, mut step) = (0, 0, BRIDGE);
            loop {
                let more = bytes.get(taken..).unwrap_or_default();
                let more = more.get(..step).unwrap_or(more);
                joint.extend_from_slice(more);
                taken = taken.saturating_add(more.len());
                let place = self.carry_start.saturating_add(to_u64(read));
                let rest = joint.get(read..).unwrap_or_default();
                let (now, result) = self.machine.run(rest, place, &mut self.judge);
                self.show(joint.get(read..).unwrap_or_default(), place);
                read = read.saturating_add(now);
                if let Err(stop) = result {
                    joint.extend_from_slice(bytes.get(taken..).unwrap_or_default());
                    (data, base) = (Cow::Owned(joint), self.carry_start);
                    stopped = Some(stop);
                    break;
                }
                if read >= carried {
                    at = read.saturating_sub(carried);
                    break;
                }
                if taken >= bytes.len() {
                    self.carry_start = self.carry_start.saturating_add(to_u64(read));
                    joint.drain(..read.min(joint.len()));
                    self.carry = joint;
                    return Flow::Go;
                }
                step = step.saturating_mul(8);
            }
        }
        loop {
            let stop = match stopped.take() {
                Some(stop) => stop,
                None => {
                    let rest = data.get(at..).unwrap_or_default();
                    let place = base.saturating_add(to_u64(at));
                    let (read, result) = self.machine.run(rest, place, &mut self.judge);
                    self.show(rest, place);
                    match result {
                        Err(stop) => stop,
                        Ok(()) => {
                            let left = rest.get(read..).unwrap_or_default();
                            self.carry.clear();
                            self.carry.extend_from_slice(left);
                            self.carry_start = place.saturating_add(to_u64(read));
                            return Flow::Go;
                        }
                    }
                }
            };
            match self.stop(stop, &data, base) {
                Next::Sync(place) => at = to_usize(place.saturating_sub(base)),
                Next::Seek(from) => {
                    let window = data.get(to_usize(from.saturating_sub(base))..);
                    let window = window.unwrap_or_default().to_vec();
                    return self.begin_seek(window, from);
                }
                Next::Rewind(from) => return self.rewind(from),
                Next::Over => return self.over(),
            }
        }
    }

    fn over(&mut self) -> Flow {
        self.mode = Mode::Over;
        Flow::Stop
    }

    fn rewind(&mut self, from: u64) -> Flow {
        self.rewinds = self.rewinds.saturating_add(1);
        self.carry.clear();
        if self.rewinds > REWINDS_MAX || self.map.segment(from).is_none() {
            return self.over();
        }
        self.mode = Mode::Seek(Seek { window: Vec::new(), start: from, next: from, from });
        Flow::Rewind(from)
    }

    /// Goes on seeking with the blocks that come; `next` places were tried in `window` already.
    fn begin_seek(&mut self, window: Vec<u8>, next: u64) -> Flow {
        self.carry.clear();
        let from = self.damages.last().map_or(next, |damage| damage.start);
        self.mode = Mode::Seek(Seek { window, start: next, next, from });
        Flow::Go
    }

    /// Shows the bytes of what is odd, while they are there.
    fn show(&mut self, bytes: &[u8], start: u64) {
        for noted in self.judge.waiting_mut() {
            noted.excerpt = Some(excerpt(bytes, start, noted.at));
        }
        for noted in self.judge.ready.iter_mut().skip(self.resolved) {
            let show = || excerpt(bytes, start, noted.at);
            noted.excerpt = Some(noted.excerpt.take().unwrap_or_else(show));
        }
    }

    /// The bytes at `stop` are no event: finds where the damage begins and looks for its end in
    /// `data`, which begins at `base`.
    fn stop(&mut self, stop: Stop, data: &[u8], base: u64) -> Next {
        match stop.cause {
            Cause::Limit(what, max) => {
                self.limit = Some((stop.at, format!("more than {max} {what}")));
                return Next::Over;
            }
            Cause::Version(_) => return Next::Over,
            _ => {}
        }
        if self.damages.len() >= self.limits.count_of(&FIXES) {
            self.limit = Some((stop.at, format!("more than {} damages", self.limits.count_of(&FIXES))));
            return Next::Over;
        }
        let event = self.machine.event();
        let header = self.machine.is_in_header();
        let herald = self.judge.herald();
        let long = self.judge.recent().next_back().is_some_and(|done| done.long);
        let start = match stop.cause {
            _ if header => 0,
            Cause::Incoherent => {
                let run = match self.judge.is_enter() {
                    true => self.judge.crowded(),
                    false => self.judge.unmatched(),
                };
                [run, herald, Some(event)].into_iter().flatten().min().unwrap_or(event)
            }
            _ if long && herald.is_none() => event,
            _ => herald.unwrap_or(event).min(event),
        };
        let is_long = self.judge.is_long();
        self.open_damage(start, Why::Cause(stop.cause), stop.at);
        if let Some(damage) = self.damages.last_mut() {
            damage.excerpt = Some(excerpt(data, base, stop.at));
            damage.header = header;
        }
        // The length of a long string in the event itself may be what is wrong.
        let again = self.zero_at == Some(start) || header;
        let from = if is_long || again { start.saturating_add(1) } else { start };
        if from < base {
            return Next::Rewind(from);
        }
        let bytes = data.get(to_usize(from.saturating_sub(base))..).unwrap_or_default();
        match self.find(bytes, from, from, start, false) {
            Ok(place) => Next::Sync(place),
            Err(next) => Next::Seek(next),
        }
    }

    /// A damage begins at `start`.
    fn open_damage(&mut self, start: u64, why: Why, seen: u64) {
        let first = self.judge.recent().find_map(|done| match done.what {
            What::Enter(open) => Some(open.number),
            What::Leave { .. } => None,
        });
        let block = self.begun(start).map_or(0, |begun| begun.call);
        self.judge.take_back(start);
        self.machine.turn_to_event(match self.judge.header.version {
            Some((version, _)) => version,
            None => VERSION_MAX,
        });
        let call = self.judge.calls.next;
        let unit = self.begun(start.saturating_sub(1)).map(|begun| begun.unit).or(self.last);
        self.damages.push(Damage {
            why,
            seen,
            start,
            end: start,
            open: true,
            call,
            lost: 0,
            suspects: (block.max(first.unwrap_or(block)).min(call), call),
            doubt_end: start,
            unit,
            units_end: unit.map_or(0, |unit| unit.stored.end),
            definitions: Vec::new(),
            place: None,
            header: false,
            excerpt: None,
            settled: false,
        });
    }

    /// Seeks on with further bytes.
    fn seek(&mut self, bytes: &[u8], start: u64, at_end: bool) -> Flow {
        let Mode::Seek(seek) = &mut self.mode else { return Flow::Go };
        let skip =
            to_usize(seek.start.saturating_add(to_u64(seek.window.len())).saturating_sub(start));
        seek.window.extend_from_slice(bytes.get(skip..).unwrap_or_default());
        let window = std::mem::take(&mut seek.window);
        let (base, next, from) = (seek.start, seek.next, seek.from);
        let rest = window.get(to_usize(next.saturating_sub(base))..).unwrap_or_default();
        match self.find(rest, next, next, from, at_end) {
            Ok(place) => {
                self.mode = Mode::Read;
                let bytes = window.get(to_usize(place.saturating_sub(base))..).unwrap_or_default();
                self.read(bytes, place)
            }
            Err(place) if self.search == 0 => {
                let message = format!(
                    "the search for sound events was given up after {} steps: what follows may be sound",
                    self.granted
                );
                self.limit = Some((place, message));
                self.over()
            }
            Err(next) => {
                let mut window = window;
                let tried = to_usize(next.saturating_sub(base)).min(window.len());
                window.drain(..tried);
                self.mode = Mode::Seek(Seek { window, start: next, next, from });
                Flow::Go
            }
        }
    }

    /// The first place in `bytes`, which begin at `base`, from which the stream goes on; else the
    /// place to go on seeking from.
    fn find(
        &mut self,
        bytes: &[u8],
        base: u64,
        from: u64,
        origin: u64,
        at_end: bool,
    ) -> Result<u64, u64> {
        let close = base.saturating_sub(from.max(origin)) == 0;
        if base == origin {
            // Where an event began may be sound, and only a definition be lost.
            if let Tried::Sync(sync) = self.try_at(bytes, base, Lenience::Close, at_end)
                && self.accept(base, &sync)
            {
                return Ok(base);
            }
        }
        let first = bytes.len().min(to_usize(CLOSE));
        for index in 0..if close { first } else { 0 } {
            let rest = bytes.get(index..).unwrap_or_default();
            let place = base.saturating_add(to_u64(index));
            if let Tried::Sync(sync) = self.try_at(rest, place, Lenience::Strict, at_end)
                && self.accept(place, &sync)
            {
                return Ok(place);
            }
        }
        for index in 0..bytes.len() {
            let rest = bytes.get(index..).unwrap_or_default();
            let place = base.saturating_add(to_u64(index));
            if self.search == 0 {
                return Err(place);
            }
            if rest.first().is_none_or(|tag| *tag > 1) {
                continue;
            }
            let close = place.saturating_sub(from.max(origin)) < CLOSE;
            let how = if close { Lenience::Close } else { Lenience::Far };
            match self.try_at(rest, place, how, at_end) {
                Tried::Sync(sync) if self.accept(place, &sync) => return Ok(place),
                Tried::Short if !at_end && rest.len() < WINDOW_MAX => return Err(place),
                _ => {}
            }
        }
        Err(base.saturating_add(to_u64(bytes.len())))
    }

    fn try_at(&mut self, bytes: &[u8], place: u64, how: Lenience, at_end: bool) -> Tried {
        let mut budget = self.search;
        let tried = probe(&self.before(), bytes, place, how, at_end, &mut budget);
        self.search = budget;
        tried
    }

    fn before(&self) -> Before<'_> {
        Before {
            definitions: &self.judge.definitions,
            next: self.judge.calls.next,
            calls: &self.judge.calls,
            lost: &self.judge.lost_calls,
            threads: self.judge.threads,
            version: self.machine.version(),
            depth_max: self.limits.of(&NESTING),
            donor: self.donor,
        }
    }

    /// Goes on at `place`, unless that would bring nothing or contradict what was read.
    fn accept(&mut self, place: u64, sync: &Sync) -> bool {
        let Some(mut start) = self.damages.last().map(|damage| damage.start) else { return false };
        let nothing = sync.next == self.judge.calls.next && sync.lost.is_empty();
        let is_gap = matches!(self.damages.last().map(|d| &d.why), Some(Why::Fault(_)));
        if place == start && nothing && !is_gap {
            return false;
        }
        if sync.next.saturating_sub(self.judge.calls.next) > self.end.max(LOST_ALWAYS) {
            return false;
        }
        if sync.next < self.judge.calls.next {
            // Events were read that are none.
            let first = self
                .judge
                .recent()
                .find(|done| matches!(done.what, What::Enter(open) if open.number == sync.next));
            let Some(first) = first.map(|done| done.start) else { return false };
            // A leave that fits its call by number is proof of both: then what follows is a copy.
            let proven = |done: &Done| {
                matches!(done.what, What::Leave { open: Some(_), .. })
                    && done.start >= first
                    && !done.odd
                    && !done.inside_out
            };
            if self.judge.recent().any(proven) {
                return false;
            }
            start = start.min(first);
            self.judge.take_back(start);
        }
        self.zero_at = (place == start).then_some(place);
        let call = self.judge.calls.next;
        let lost = sync.next.saturating_sub(call);
        if lost > 0 {
            self.judge.lost_calls.push((call, sync.next));
        }
        self.judge.calls.next = sync.next;
        // The block that was begun in the meantime begins with another call.
        if let Some(begun) = self.blocks.back_mut().filter(|begun| begun.start >= start) {
            begun.call = sync.next;
        }
        let mut definitions = Vec::new();
        for (space, id, at, count) in &sync.lost {
            let place = self.place(at.saturating_sub(1), *at);
            self.judge.definitions.add(*space, *id, Known { count: *count, lost: true });
            let donated = self.donor.is_some_and(|donor| donor.raw(*space, *id).is_some());
            let lost = Lost { at: *at, place, items: *count, donated };
            self.judge.lost.insert((*space, *id), lost);
            definitions.push((*space, *id));
        }
        self.judge.damaged = true;
        self.judge.settle_events();
        self.machine.turn_to_event(self.machine.version());
        // What only lacks definitions belongs to the damage that lost them.
        let only_ids = place == start && lost == 0 && !is_gap && self.damages.len() > 1;
        if only_ids {
            self.damages.pop();
            if let Some(damage) = self.damages.last_mut() {
                damage.definitions.extend(definitions);
            }
            return true;
        }
        let held = self.place(start, place);
        if let Some(damage) = self.damages.last_mut() {
            damage.open = false;
            damage.start = start;
            damage.place = held;
            damage.end = place;
            damage.call = call;
            damage.lost = lost;
            damage.suspects = (damage.suspects.0.min(call), sync.next);
            damage.doubt_end = place;
            damage.definitions = definitions;
            // Behind the unit at fault nothing is in doubt.
            let unit_end = damage.unit.map_or(place, |unit| unit.expanded.end);
            let within = self
                .map
                .segment(place)
                .is_some_and(|segment| segment.stored.start < damage.units_end);
            damage.settled = match damage.why {
                Why::Fault(_) => !within,
                Why::Cause(_) => place >= unit_end,
            };
        }
        true
    }

    /// A block is over: calls up to here may be wrong if it is damaged.
    fn settle_suspects(&mut self, at_end: bool) {
        let next = self.judge.calls.next;
        let from = self.settled.min(self.damages.len());
        for damage in self.damages.iter_mut().skip(from).filter(|damage| !damage.settled) {
            if !damage.open {
                damage.suspects.1 = next;
                damage.doubt_end = self.end;
                damage.settled = true;
            } else if at_end {
                damage.settled = true;
            }
        }
        let open = self.damages.last().is_some_and(|damage| !damage.settled);
        self.settled = self.damages.len().saturating_sub(usize::from(open));
    }

    /// A unit has a fault behind the bytes that it gave.
    fn fault(&mut self, fault: &Fault, segment: Segment) -> Flow {
        let known = segment.stored.start < self.reported;
        self.reported = self.reported.max(segment.stored.end);
        let noted = UnitFault { fault: fault.clone(), segment };
        if !fault.loses() {
            if !known {
                self.faults.push(noted);
            }
            return Flow::Go;
        }
        match fault {
            Fault::Torn { .. } => {
                self.tail = Some(noted);
                return Flow::Go;
            }
            Fault::Limit { message } => {
                self.limit = Some((segment.expanded.end, message.clone()));
                return self.over();
            }
            _ => {}
        }
        let end = segment.expanded.end;
        match &mut self.mode {
            Mode::Over => return Flow::Stop,
            // Read again, and known: the search goes on behind it.
            Mode::Seek(seek) if end < seek.next => {}
            Mode::Seek(seek) => {
                // What was sought lies in the unit that lost bytes.
                *seek = Seek { window: Vec::new(), start: end, next: end, from: end };
                if let Some(damage) = self.damages.last_mut() {
                    damage.why = Why::Fault(fault.clone());
                    damage.units_end = segment.stored.end;
                    damage.unit = damage.unit.or(self.blocks.back().map(|begun| begun.unit));
                }
            }
            Mode::Read => {
                let header = self.machine.is_in_header();
                let between = self.machine.is_between_events();
                // An empty unit shares its place in the stream with what follows.
                let unit = self.blocks.back().map(|begun| begun.unit);
                let start = match (header, between) {
                    (true, _) => 0,
                    (false, true) if self.carry.is_empty() => end,
                    (false, true) => self.carry_start,
                    (false, false) => self.machine.event(),
                };
                self.open_damage(start, Why::Fault(fault.clone()), end);
                if let Some(damage) = self.damages.last_mut() {
                    damage.header = header;
                    damage.unit = unit;
                    damage.units_end = segment.stored.end;
                }
                self.carry.clear();
                let seek = Seek { window: Vec::new(), start: end, next: end, from: end };
                self.mode = Mode::Seek(seek);
            }
        }
        Flow::Go
    }

    /// The stored bytes of a span of the stream.
    pub fn stored(&self, span: Span) -> Option<Span> {
        self.map.stored(span)
    }
}

/// The bytes of `bytes`, which begin at `start`, around `at`.
fn excerpt(bytes: &[u8], start: u64, at: u64) -> Excerpt {
    let first = at.saturating_sub(16).max(start);
    let from = to_usize(first.saturating_sub(start));
    let to = from.saturating_add(to_usize(EXCERPT));
    let shown = bytes.get(from..to.min(bytes.len())).unwrap_or_default();
    Excerpt { start: first, bytes: shown.to_vec() }
}
