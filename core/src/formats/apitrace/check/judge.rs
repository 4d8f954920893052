//! What the tokens mean: ids, calls, and what is odd about them.
//!
//! The latest events are remembered with what they changed, so that they can be taken back when
//! what follows shows that they were no events at all: damage is seen later than it begins.

use crate::formats::apitrace::limits::OPEN_CALLS;
use crate::formats::apitrace::limits::DEFINITIONS;
use std::collections::{BTreeMap, VecDeque};

use super::calls::{Calls, Open};
use super::definitions::{Definitions, Known};
use super::ranges::Ranges;
use crate::formats::apitrace::decode::machine::{Cause, Sign, Sink, Space};
use crate::formats::apitrace::decode::text;
use crate::formats::apitrace::layout::{PLACEHOLDER_ID, THREAD_MAX, VERSION_MAX};
use crate::kit::layer::Segment;
use crate::kit::num::to_u64;
use crate::limits::Limits;
use crate::report::Excerpt;

/// Events that can be taken back.
const TAKEN_BACK_MAX: usize = 512;
/// Events after which something odd stands for itself and is no herald of damage.
const HERALD: u64 = 64;
/// Leaves in a row that belong to no call before the stream counts as damaged.
const ORPHANS_MAX: u32 = 3;
/// Enters in a row, beyond four a thread, before the stream counts as damaged.
const ENTERS_MAX: u64 = 32;
/// Indices of arguments that are believed where the signature is lost.
const LOST_ARGUMENTS: u64 = 256;
/// Leaves of lost calls that are remembered.
const GHOSTS_MAX: usize = 65_536;

/// What an event did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A call began.
    Enter(Open),
    /// A call ended, if it was open.
    Leave {
        /// Its number.
        number: u64,
        /// The call.
        open: Option<Open>,
    },
}

/// An event that can be taken back.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// Where it begins.
    pub start: u64,
    /// What it did.
    pub what: What,
    /// Whether something about it was odd.
    pub odd: bool,
    /// Whether the thread had an open call when this one began.
    pub nested: bool,
    /// Whether the call left had one inside it that was open still.
    pub inside_out: bool,
    /// Whether a string in it was longer than what is held at once.
    pub long: bool,
    /// How many definitions there were before it.
    mark: usize,
}

/// The kind of something odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// What the grammar alone sees.
    Sign(Sign),
    /// An argument's index is not below the number of arguments.
    ArgumentIndex {
        /// The index.
        index: u64,
        /// The number.
        count: u64,
    },
    /// A leave of a call that never began.
    NeverEntered(u64),
    /// A leave of a call that is over.
    LeftTwice(u64),
    /// A property is not text.
    Property,
    /// A text that says how long a blob was.
    BlobText,
    /// A text that is not UTF-8 or holds a NUL.
    OddText,
}

impl Oddity {
    /// Whether it is a whole event.
    pub const fn is_leave(self) -> bool {
        matches!(self, Self::NeverEntered(_) | Self::LeftTwice(_))
    }
}

/// Something odd that does not end the reading.
#[derive(Clone, Debug)]
pub struct Noted {
    /// What.
    pub oddity: Oddity,
    /// Where it begins.
    pub at: u64,
    /// Where it ends.
    pub end: u64,
    /// The number of the call.
    pub call: u64,
    /// The index of the argument; `None` for the value returned and for what is no detail.
    pub argument: Option<u64>,
    /// Where the event begins.
    pub event: u64,
    /// What a repair can take out.
    pub part: Option<(u64, u64)>,
    /// The bytes there.
    pub excerpt: Option<Excerpt>,
    /// The units that hold it.
    pub place: Option<Place>,
    number: u64,
}

/// Units that hold a stretch of the stream: the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The one that holds the first byte.
    pub head: Segment,
    /// The one that holds the last byte.
    pub tail: Segment,
}

/// A definition that was lost, as far as it can be found out.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Where the definition has to stand: behind the first use of the id.
    pub at: u64,
    /// The unit there.
    pub place: Option<Place>,
    /// Arguments or members that are used.
    pub items: u64,
    /// Whether a donor has it.
    pub donated: bool,
}

/// Calls that use definitions that were lost.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// Those of which a definition has to be made up.
    pub made_up: Ranges,
    /// Those of which a donor, if it is taken, has all definitions.
    pub donated: Ranges,
}

/// What of lost definitions the present event uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Used {
    /// None.
    None,
    /// Such as a donor has.
    Donated,
    /// One that has to be made up.
    MadeUp,
}

/// Header of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Header {
    /// The version and, from version 6 on, the semantic one.
    pub version: Option<(u64, Option<u64>)>,
    /// Where the two begin and end.
    pub span: (u64, u64),
    /// Properties.
    pub properties: u64,
}

#[derive(Clone, Copy, Debug)]
struct Current {
    start: u64,
    what: What,
    count: Option<u64>,
    lost: bool,
    odd: bool,
    nested: bool,
    long: bool,
    mark: usize,
    detail: u64,
    argument: Option<u64>,
    bad: Option<u64>,
}

/// The state of a stream that is judged.
pub struct Judge {
    limits: Limits,
    /// What was defined.
    pub definitions: Definitions,
    /// The calls.
    pub calls: Calls,
    /// Numbers of threads that were seen: all below this.
    pub threads: u64,
    /// Events so far.
    pub events: u64,
    /// What the header says.
    pub header: Header,
    /// Ranges of numbers of calls that were lost.
    pub lost_calls: Vec<(u64, u64)>,
    /// Definitions that were lost.
    pub lost: BTreeMap<(Space, u64), Lost>,
    /// Calls that use them.
    pub uses: Uses,
    /// Leaves of lost calls, as places in the stream: where they begin and end.
    pub ghosts: Vec<(u64, u64, Option<Place>)>,
    /// Odd things that stand for themselves.
    pub ready: Vec<Noted>,
    /// Calls that a repair put in the place of lost ones.
    pub placeholders: u64,
    /// Calls made up by the tracer, and flagged so.
    pub damaged: bool,
    waiting: VecDeque<Noted>,
    recent: VecDeque<Done>,
    current: Option<Current>,
    used: Used,
    enters: u64,
    orphans: u32,
    definition: Vec<u8>,
    own_name: Vec<u8>,
}

impl Judge {
    /// At the beginning of a stream.
    pub fn new(limits: &Limits, keep_raw: bool) -> Self {
        let definitions = if keep_raw { Definitions::with_raw() } else { Definitions::default() };
        Self {
            limits: limits.clone(),
            definitions,
            calls: Calls::default(),
            threads: 0,
            events: 0,
            header: Header::default(),
            lost_calls: Vec::new(),
            lost: BTreeMap::new(),
            uses: Uses::default(),
            ghosts: Vec::new(),
            ready: Vec::new(),
            placeholders: 0,
            damaged: false,
            waiting: VecDeque::new(),
            recent: VecDeque::with_capacity(TAKEN_BACK_MAX),
            current: None,
            used: Used::None,
            enters: 0,
            orphans: 0,
            definition: Vec::new(),
            own_name: Vec::new(),
        }
    }

    /// The number of the call that the present event belongs to.
    pub fn call(&self) -> u64 {
        match self.current.map(|current| current.what) {
            Some(What::Enter(open)) => open.number,
            Some(What::Leave { number, .. }) => number,
            None => self.calls.next,
        }
    }

    /// Whether the present event is an enter.
    pub fn is_enter(&self) -> bool {
        matches!(self.current.map(|current| current.what), Some(What::Enter(_)))
    }

    /// Whether the present event has a string that is longer than what is held at once.
    pub fn is_long(&self) -> bool {
        self.current.is_some_and(|current| current.long)
    }

    fn note(&mut self, oddity: Oddity, at: u64, end: u64, part: Option<(u64, u64)>) {
        let call = self.call();
        let (event, argument) = match &mut self.current {
            Some(current) => {
                current.odd |= !matches!(oddity, Oddity::OddText | Oddity::BlobText);
                (current.start, current.argument)
            }
            None => (at, None),
        };
        let number = self.events;
        let noted = Noted {
            oddity,
            at,
            end,
            call,
            argument,
            event,
            part,
            excerpt: None,
            place: None,
            number,
        };
        self.waiting.push_back(noted);
    }

    /// The odd things that wait for what comes after them.
    pub fn waiting_mut(&mut self) -> impl Iterator<Item = &mut Noted> {
        self.waiting.iter_mut().rev().take_while(|noted| noted.excerpt.is_none())
    }

    /// Nothing follows: what waits stands for itself.
    pub fn settle(&mut self) {
        self.ready.extend(self.waiting.drain(..));
    }

    /// The latest events, the newest last; the present one is not among them.
    pub fn recent(&self) -> impl DoubleEndedIterator<Item = &Done> {
        self.recent.iter()
    }

    /// Where the earliest event that contradicts those before it begins, if one of the latest does.
    pub fn herald(&self) -> Option<u64> {
        let latest = self.recent.iter().rev().take(usize::try_from(HERALD).unwrap_or(usize::MAX));
        latest.filter(|done| done.odd).map(|done| done.start).min()
    }

    /// Where the enters or leaves begin that have no partner, the latest partner lying before them.
    pub fn unmatched(&self) -> Option<u64> {
        let matched = |done: &&Done| {
            matches!(done.what, What::Leave { open: Some(_), .. }) && !done.inside_out
        };
        let run = self.recent.iter().rev().take_while(|done| !matched(done));
        run.last().map(|done| done.start)
    }

    /// Where the first enter of the unmatched ones begins whose thread was busy.
    pub fn crowded(&self) -> Option<u64> {
        let matched = |done: &&Done| matches!(done.what, What::Leave { open: Some(_), .. });
        let run = self.recent.iter().rev().take_while(|done| !matched(done));
        run.filter(|done| done.nested).last().map(|done| done.start)
    }

    /// Takes back the event that is being read.
    pub fn take_back_current(&mut self) {
        self.used = Used::None;
        if let Some(current) = self.current.take() {
            self.undo(current.what, current.mark);
            self.forget(current.start);
        }
    }

    /// Takes back the events from `start` on, the present one included.
    pub fn take_back(&mut self, start: u64) {
        self.take_back_current();
        while let Some(done) = self.recent.back().copied().filter(|done| done.start >= start) {
            self.recent.pop_back();
            self.events = self.events.saturating_sub(1);
            self.undo(done.what, done.mark);
        }
        self.uses.made_up.forget(self.calls.next);
        self.uses.donated.forget(self.calls.next);
        self.forget(start);
        self.ghosts.retain(|ghost| ghost.0 < start);
        // Where their definitions were to stand goes as well.
        let gone: Vec<_> =
            self.lost.iter().filter(|(_, lost)| lost.at >= start).map(|(key, _)| *key).collect();
        for (space, id) in gone {
            self.lost.remove(&(space, id));
            self.definitions.remove(space, id);
        }
        self.enters = 0;
        self.orphans = 0;
    }

    fn undo(&mut self, what: What, mark: usize) {
        match what {
            What::Enter(open) => {
                self.calls.leave(open.number);
                self.calls.next = open.number;
                if open.function == PLACEHOLDER_ID {
                    self.placeholders = self.placeholders.saturating_sub(1);
                }
            }
            What::Leave { open: Some(open), .. } => self.calls.put(open),
            What::Leave { open: None, .. } => {}
        }
        self.definitions.take_back(mark);
    }

    fn forget(&mut self, start: u64) {
        self.waiting.retain(|noted| noted.event < start);
    }

    /// Forgets which events could be taken back: they are settled.
    pub fn settle_events(&mut self) {
        self.recent.clear();
        self.enters = 0;
        self.orphans = 0;
    }

    fn is_lost_call(&self, number: u64) -> bool {
        // Ranges of numbers ascend as they are lost.
        let after = self.lost_calls.partition_point(|(from, _)| *from <= number);
        let range = after.checked_sub(1).and_then(|index| self.lost_calls.get(index));
        range.is_some_and(|(_, to)| number < *to)
    }
}

impl Sink for Judge {
    #[inline]
    fn known(&mut self, space: Space, id: u64) -> Result<Option<u64>, Cause> {
        let known = self.definitions.known(space, id);
        if known.is_some_and(|known| known.lost) {
            self.use_lost(space, id);
        }
        Ok(known.map(|known| known.count))
    }

    fn version(
        &mut self,
        version: u64,
        semantic: Option<u64>,
        at: u64,
        end: u64,
    ) -> Result<(), Cause> {
        self.header.version = Some((version, semantic));
        self.header.span = (at, end);
        if version > VERSION_MAX { Err(Cause::Version(version)) } else { Ok(()) }
    }

    fn property(&mut self, text: &[u8], is_name: bool, at: u64) {
        self.header.properties = self.header.properties.saturating_add(u64::from(is_name));
        let odd = text.contains(&0) || (is_name && text::look(text) == text::Look::Wild);
        if odd {
            let end = at.saturating_add(to_u64(text.len()));
            self.note(Oddity::Property, at, end, None);
        }
    }

    #[inline]
    fn enter(&mut self, at: u64, thread: u64, function: u64) -> Result<(), Cause> {
        if thread >= self.threads {
            if thread > THREAD_MAX {
                return Err(Cause::Thread(thread));
            }
            // Threads are numbered as they come; a trimmed trace may leave some out.
            let odd = thread > self.threads.saturating_add(1) && self.damaged;
            if odd {
                return Err(Cause::Thread(thread));
            }
            self.threads = thread.saturating_add(1);
        }
        let known = self.definitions.known(Space::Function, function);
        let nested = self.calls.is_busy(thread);
        let mark = self.definitions.mark();
        let open = self.calls.enter(thread, function);
        self.placeholders = self.placeholders.saturating_add(u64::from(function == PLACEHOLDER_ID));
        self.enters = self.enters.saturating_add(1);
        self.current = Some(Current {
            start: at,
            what: What::Enter(open),
            count: known.map(|known| known.count),
            lost: known.is_some_and(|known| known.lost),
            odd: false,
            nested,
            long: false,
            mark,
            detail: at,
            argument: None,
            bad: None,
        });
        if self.enters > ENTERS_MAX.saturating_add(self.threads.saturating_mul(4)) {
            return Err(Cause::Incoherent);
        }
        if self.calls.open() > self.limits.of(&OPEN_CALLS) {
            return Err(Cause::Limit("open calls", self.limits.of(&OPEN_CALLS)));
        }
        Ok(())
    }

    #[inline]
    fn leave(&mut self, at: u64, number: u64) -> Result<(), Cause> {
        let open = self.calls.leave(number);
        let known = open.and_then(|open| self.definitions.known(Space::Function, open.function));
        let (count, lost) = (known.map(|known| known.count), known.is_some_and(|k| k.lost));
        self.current = Some(Current {
            start: at,
            what: What::Leave { number, open },
            count,
            lost,
            odd: false,
            nested: false,
            long: false,
            mark: self.definitions.mark(),
            detail: at,
            argument: None,
            bad: None,
        });
        if let Some(open) = open {
            self.enters = 0;
            // A thread leaves its calls from the inside out.
            if self.calls.open() > 0 && self.calls.is_inside(open) {
                self.orphans = self.orphans.saturating_add(1);
                if self.orphans >= ORPHANS_MAX {
                    return Err(Cause::Incoherent);
                }
            } else {
                self.orphans = 0;
            }
            return Ok(());
        }
        if !self.is_lost_call(number) {
            self.orphans = self.orphans.saturating_add(1);
            let entered = number < self.calls.next;
            let oddity = match entered {
                true => Oddity::LeftTwice(number),
                false => Oddity::NeverEntered(number),
            };
            self.note(oddity, at, at, Some((at, at)));
            if self.orphans >= ORPHANS_MAX {
                return Err(Cause::Incoherent);
            }
        }
        Ok(())
    }

    #[inline]
    fn detail(&mut self, at: u64, index: Option<u64>) -> Result<(), Cause> {
        let Some(current) = &mut self.current else { return Ok(()) };
        current.detail = at;
        current.argument = index;
        let (Some(index), Some(count)) = (index, current.count) else { return Ok(()) };
        if current.lost {
            return self.lost_argument(index);
        }
        if index >= count {
            current.bad = Some(index);
        }
        Ok(())
    }

    #[inline]
    fn detail_end(&mut self, end: u64) {
        let Some(current) = &mut self.current else { return };
        if let Some(index) = current.bad.take() {
            let (at, count) = (current.detail, current.count.unwrap_or(0));
            self.note(Oddity::ArgumentIndex { index, count }, at, end, Some((at, end)));
        }
        if !self.waiting.is_empty() {
            self.close_part(end);
        }
        if let Some(current) = &mut self.current {
            current.argument = None;
        }
    }

    #[inline]
    fn end(&mut self, end: u64) -> Result<(), Cause> {
        let Some(current) = &self.current else { return Ok(()) };
        let Current { start, what, odd, nested, long, mark, .. } = *current;
        // The leave of no call goes in a repair, and what it defines would go with it.
        if let What::Leave { number, open: None } = what {
            if self.definitions.mark() > mark {
                return Err(Cause::Incoherent);
            }
            if self.is_lost_call(number) && self.ghosts.len() < GHOSTS_MAX {
                self.ghosts.push((start, end, None));
            }
        }
        self.current = None;
        if !self.waiting.is_empty() {
            self.close_event(start, end);
        }
        if self.used != Used::None {
            self.mark_use(what);
        }
        self.events = self.events.saturating_add(1);
        if self.recent.len() >= TAKEN_BACK_MAX {
            self.recent.pop_front();
        }
        let inside_out = self.orphans > 0 && matches!(what, What::Leave { open: Some(_), .. });
        self.recent.push_back(Done { start, what, odd, nested, inside_out, long, mark });
        Ok(())
    }

    fn define(&mut self, _space: Space, _id: u64, _at: u64) {
        self.definition.clear();
        self.own_name.clear();
    }

    fn part(&mut self, raw: &[u8]) {
        if self.definitions.keeps_raw() {
            self.definition.extend_from_slice(raw);
        }
    }

    fn name(&mut self, space: Space, name: &[u8], own: bool) -> Result<(), Cause> {
        if own && space == Space::Function {
            self.own_name.clear();
            self.own_name.extend_from_slice(name);
        }
        let believed = match space {
            Space::Frame => text::look(name) != text::Look::Wild,
            _ => text::is_identifier(name),
        };
        if self.damaged && !believed { Err(Cause::Name(space)) } else { Ok(()) }
    }

    fn defined(&mut self, space: Space, id: u64, count: u64) -> Result<(), Cause> {
        if self.definitions.len() >= self.limits.of(&DEFINITIONS) {
            return Err(Cause::Limit("definitions", self.limits.of(&DEFINITIONS)));
        }
        self.definitions.add(space, id, Known { count, lost: false });
        if space == Space::Function {
            self.definitions.add_name(id, &self.own_name);
            if let Some(current) = &mut self.current {
                current.count = Some(count);
            }
        }
        if self.definitions.keeps_raw() {
            let raw = std::mem::take(&mut self.definition);
            self.definitions.add_raw(space, id, raw);
        }
        Ok(())
    }

    fn sign(&mut self, sign: Sign, at: u64, end: u64) {
        let part = match (sign, &self.current) {
            (Sign::ThreadDetail, _) => Some((at, end)),
            (Sign::EnumValue(_), Some(current)) => Some((current.detail, current.detail)),
            _ => None,
        };
        self.note(Oddity::Sign(sign), at, end, part);
    }

    fn text(&mut self, text: &[u8], at: u64) {
        let end = at.saturating_add(to_u64(text.len()));
        if text::is_blob_text(text) {
            self.note(Oddity::BlobText, at, end, None);
        } else if text.contains(&0) || str::from_utf8(text).is_err() {
            self.note(Oddity::OddText, at, end, None);
        }
    }

    fn long(&mut self, _len: u64, _at: u64) {
        if let Some(current) = &mut self.current {
            current.long = true;
        }
    }
}

impl Judge {
    /// The event that begins, or the present one, uses a definition that was lost.
    #[cold]
    fn use_lost(&mut self, space: Space, id: u64) {
        let donated = self.lost.get(&(space, id)).is_some_and(|lost| lost.donated);
        self.used = self.used.max(if donated { Used::Donated } else { Used::MadeUp });
    }

    /// The event that ends used one.
    #[cold]
    fn mark_use(&mut self, what: What) {
        let used = std::mem::replace(&mut self.used, Used::None);
        let number = match what {
            What::Enter(open) | What::Leave { open: Some(open), .. } => open.number,
            What::Leave { open: None, .. } => return,
        };
        match used {
            Used::None => {}
            Used::Donated => self.uses.donated.add(number, number),
            Used::MadeUp => self.uses.made_up.add(number, number),
        }
    }

    #[cold]
    fn lost_argument(&mut self, index: u64) -> Result<(), Cause> {
        if index >= LOST_ARGUMENTS {
            return Err(Cause::Count("argument index", index));
        }
        let function = match self.current.map(|current| current.what) {
            Some(What::Enter(open)) | Some(What::Leave { open: Some(open), .. }) => open.function,
            _ => return Ok(()),
        };
        if let Some(lost) = self.lost.get_mut(&(Space::Function, function)) {
            lost.items = lost.items.max(index.saturating_add(1));
        }
        Ok(())
    }

    /// A detail ended: parts that reach to its end are known now.
    #[cold]
    fn close_part(&mut self, end: u64) {
        let Some(current) = self.current else { return };
        for noted in self.waiting.iter_mut().rev().take_while(|n| n.event == current.start) {
            if let Some(part) = &mut noted.part {
                let open = part.0 == part.1 && part.0 == current.detail;
                let is_leave =
                    matches!(noted.oddity, Oddity::NeverEntered(_) | Oddity::LeftTwice(_));
                if open && !is_leave {
                    part.1 = end;
                }
            }
        }
    }

    /// An event ended: what waited long enough stands for itself.
    #[cold]
    fn close_event(&mut self, start: u64, end: u64) {
        for noted in self.waiting.iter_mut().rev().take_while(|n| n.event == start) {
            if matches!(noted.oddity, Oddity::NeverEntered(_) | Oddity::LeftTwice(_)) {
                noted.part = Some((start, end));
                noted.end = end;
            }
        }
        while self
            .waiting
            .front()
            .is_some_and(|noted| noted.number.saturating_add(HERALD) < self.events)
        {
            self.ready.extend(self.waiting.pop_front());
        }
    }
}
