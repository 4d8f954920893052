//! Contradictions that one inverted bit explains.
//!
//! One bit of a code or an id makes an event another one, and many after it cannot come: explained
//! one by one, hundreds of them would be added or dropped. So the stream is walked once more, and
//! at each contradiction the bits of the events before it are tried: the right one is that with
//! which the walk goes on without another contradiction.
//!
//! ```text
//!  recorded   Tx 73   Tp 73   Tc 74   Tx 10   Tp 74   Tr 74   Te 74 ..
//!                                     ^ the task has ended
//!  tried                              11: no such task   8: has ended   74: fits up to the end
//! ```

use super::{ThreadCheck, TraceContext};
use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::check::shared_event::SharedEffect;
use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::layout::{self, EVENT_HEADER, Effect, STREAM_HEADER, Stack};
use crate::formats::ovni::recover::flips::{Flip, FlippedField, flips_of};
use crate::formats::ovni::recover::sequences::{Between, Sequences};
use crate::formats::ovni::recover::task_ids::TaskIds;
use crate::formats::ovni::repair::build_fix;
use crate::formats::ovni::rules;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::steps;
use crate::kit::walk::Item;
use crate::model::Finding;
use crate::model::edit::Edit;

/// Events before a contradiction of which each bit is tried, at least.
const NEAR: u64 = 12;
/// Events after a contradiction that have to fit, and those up to the end of the stream.
const FIT: u64 = 16;
const FIT_UP_TO_END: u64 = 4;
/// Events after a contradiction up to which two bits are compared.
const FAR: u64 = 512;
/// Contradictions of a stream that are looked at. Where more bits are inverted, few stretches
/// between them are long enough to tell.
const SEARCHES: usize = 64;
/// Contradictions in a row that no bit explains, after which the stream has other damage.
const VAIN: usize = 2;
/// Events far before a contradiction that are tried, the last ones of each kind.
const PLACES: usize = 16;
/// Events that are looked at for each that the stream can hold.
const LOOKS: u64 = 4;
/// Events that are looked at beyond these in a stream, and in all streams of a trace.
const SPARE: u64 = 1 << 17;
const SPARE_OF_TRACE: u64 = 1 << 20;
/// Open states, or other values of a walk, that are copied in the time of a look at an event.
const COPIED: u64 = 8;

/// A contradiction.
struct Fault {
    /// Offset of the event that contradicts those before it.
    at: u64,
    /// Offset after it.
    end: u64,
    /// Why it does.
    cause: Cause,
}

/// Why an event contradicts others.
enum Cause {
    /// It cannot come now.
    Order,
    /// It ends the thread, and something is open.
    LeftOpen,
    /// By the id of a task or a type; one of the events at these offsets is wrong.
    Ids(Vec<u64>),
}

/// The search for the inverted bits of the streams of a trace.
#[derive(Debug)]
pub struct FlipSearch<'c> {
    context: &'c TraceContext,
    spare: u64,
}

impl<'c> FlipSearch<'c> {
    /// Begins with a trace.
    pub const fn new(context: &'c TraceContext) -> Self {
        Self { context, spare: SPARE_OF_TRACE }
    }

    /// Finds the inverted bits of a stream. `start` has walked none of its events; `is_alone`: no
    /// other stream belongs to its process.
    pub fn find(&mut self, mut start: ThreadCheck<'_, '_>, is_alone: bool) -> Vec<Flip> {
        start.prepare(self.context);
        // An outline may be one finding with an edit for each event, and each bit that is tried
        // copies the walk.
        start.log.take_contradiction();
        let spare = self.spare.min(SPARE);
        let events = start.events.stream_len() / EVENT_HEADER;
        let looks = events.saturating_mul(LOOKS).saturating_add(spare);
        let mut search = Search {
            start: &start,
            context: self.context,
            is_alone,
            ids: None,
            sequences: None,
            looks,
            flips: Vec::new(),
        };
        search.find_all();
        let used = spare.saturating_sub(search.looks);
        self.spare = self.spare.saturating_sub(used);
        search.flips
    }
}

/// The search for inverted bits.
struct Search<'c, 's, 'a> {
    start: &'c ThreadCheck<'s, 'a>,
    context: &'c TraceContext,
    is_alone: bool,
    /// Once they were needed.
    ids: Option<TaskIds>,
    sequences: Option<Sequences>,
    /// Events that may still be looked at.
    looks: u64,
    /// The bits that were found, in order.
    flips: Vec<Flip>,
}

/// An event of which each bit is tried.
struct Place<'s, 'a> {
    /// The walk before it.
    walk: ThreadCheck<'s, 'a>,
    event: Event<'a>,
    around: Option<Between>,
}

/// How well a bit explains a contradiction, the most important first.
type Rating = (u64, u64, u64);

impl<'s, 'a> Search<'_, 's, 'a> {
    fn find_all(&mut self) {
        let mut walk = self.copy(self.start);
        let (mut earlier, mut later) = (self.copy(&walk), self.copy(&walk));
        let (mut searches, mut vain) = (0, 0);
        while walk.end.is_none() && searches < SEARCHES && vain < VAIN && self.may_look() {
            if walk.progress().0 >= later.progress().0.saturating_add(NEAR) {
                earlier = std::mem::replace(&mut later, self.copy(&walk));
            }
            let Some(fault) = self.step(&mut walk) else { continue };
            searches = searches.saturating_add(1);
            vain = vain.saturating_add(1);
            let Some((flip, before)) = self.explain(&fault, &earlier) else { continue };
            vain = 0;
            if let Some(old) = self.event_at(&before, flip.at) {
                let mut new = old.clone();
                flip.apply(&mut new);
                self.ids().0.replace(&old, &new);
            }
            let place = self.flips.partition_point(|known| *known < flip);
            self.flips.insert(place, flip);
            let ahead = std::mem::take(&mut walk.timeline.ahead);
            walk = before;
            walk.timeline.ahead = ahead;
            walk.set_flips(self.flips.clone());
            (earlier, later) = (self.copy(&walk), self.copy(&walk));
        }
    }

    fn ids(&mut self) -> (&mut TaskIds, &mut u64) {
        let Self { start, is_alone, ids, looks, .. } = self;
        let find =
            |looks: &mut u64| TaskIds::find(start.events.reopened(STREAM_HEADER), *is_alone, looks);
        let ids = match ids {
            Some(ids) => ids,
            None => ids.insert(find(looks)),
        };
        (ids, looks)
    }

    fn sequences(&mut self) -> (&Sequences, &mut u64) {
        let Self { start, sequences, looks, .. } = self;
        let sequences = match sequences {
            Some(sequences) => sequences,
            None => sequences.insert(Sequences::find(start.events.reopened(STREAM_HEADER), looks)),
        };
        (sequences, looks)
    }

    fn copy(&mut self, walk: &ThreadCheck<'s, 'a>) -> ThreadCheck<'s, 'a> {
        let cost = to_u64(walk.values()) / COPIED;
        steps::count(cost);
        self.looks = self.looks.saturating_sub(cost);
        walk.clone()
    }

    fn may_look(&self) -> bool {
        self.looks > 0 && !steps::is_spent()
    }

    /// Takes an event; returns the contradiction, if it makes one.
    fn step(&mut self, walk: &mut ThreadCheck<'s, 'a>) -> Option<Fault> {
        let at = walk.events.offset();
        let (cause, names_task) = self.take(walk);
        let end = walk.events.offset();
        let cause = match cause {
            None if names_task => {
                let event = self.event_at(walk, at)?;
                Cause::Ids(self.ids().0.find_contradiction(&event)?)
            }
            cause => cause?,
        };
        Some(Fault { at, end, cause })
    }

    /// Takes an event; returns why it cannot come now, and whether it defines a type, or creates or
    /// starts a task.
    fn take(&mut self, walk: &mut ThreadCheck<'s, 'a>) -> (Option<Cause>, bool) {
        self.looks = self.looks.saturating_sub(1);
        let has_ended = walk.status.end.is_some();
        walk.step(self.context);
        let (mut compares, mut names_task) = (false, false);
        for event in walk.queue.drain(..) {
            use SharedEffect::{CompareLabels, CreateTask, DefineType, StartBody, UseType};
            compares |= matches!(event.effect, CompareLabels(..));
            names_task |= matches!(
                event.effect,
                CreateTask(..) | DefineType(..) | StartBody(..) | UseType(_)
            );
        }
        let is_contradiction = walk.log.take_contradiction() || compares;
        let ends = walk.status.end.is_some() && !has_ended;
        let cause = if is_contradiction {
            Some(Cause::Order)
        } else if ends && has_open(walk) {
            Some(Cause::LeftOpen)
        } else {
            None
        };
        (cause, names_task)
    }

    /// Returns the event at an offset, with the bits that are known.
    fn event_at(&self, walk: &ThreadCheck<'s, 'a>, at: u64) -> Option<Event<'a>> {
        let mut event = walk.events.restarted(at).next().and_then(Item::record)?;
        let known = self.flips.iter().filter(|flip| flip.at == at);
        known.for_each(|flip| flip.apply(&mut event));
        Some(event)
    }

    /// Whether an event is wrong by itself, whatever the others are.
    fn is_unknown(&self, walk: &ThreadCheck<'s, 'a>, at: u64) -> bool {
        self.event_at(walk, at).is_some_and(|event| event.row.is_none())
    }

    /// Returns the inverted bit that explains a contradiction, and the walk before it.
    fn explain(
        &mut self,
        fault: &Fault,
        earlier: &ThreadCheck<'s, 'a>,
    ) -> Option<(Flip, ThreadCheck<'s, 'a>)> {
        if matches!(fault.cause, Cause::Order) {
            let near = self.places_near(fault, earlier);
            let found = self.find_best(fault, near);
            if found.is_some() {
                return found;
            }
        }
        let places = match &fault.cause {
            Cause::Order => self.places_of_task(fault, earlier),
            Cause::LeftOpen => {
                let events = self.start.events.reopened(STREAM_HEADER);
                let (sequences, looks) = self.sequences();
                sequences.find_odd(events, fault.at, PLACES, looks)
            }
            Cause::Ids(places) => places.clone(),
        };
        let places = self.walk_to(places);
        self.find_best(fault, places)
    }

    /// Returns the events from where `earlier` is up to the contradiction.
    fn places_near(&mut self, fault: &Fault, earlier: &ThreadCheck<'s, 'a>) -> Vec<Place<'s, 'a>> {
        let events = earlier.events.clone().map_while(Item::record);
        let events: Vec<Event<'_>> = events.take_while(|event| event.at < fault.end).collect();
        let mut before = None;
        let mut places = Vec::new();
        for event in events {
            let around = self.around(before.replace(event.code), &event);
            if self.flips.iter().all(|flip| flip.at != event.at) {
                places.push(Place { walk: self.copy(earlier), event, around });
            }
        }
        places
    }

    fn around(&self, before: Option<[u8; 3]>, event: &Event<'_>) -> Option<Between> {
        let after = self.start.events.restarted(event.end()).next().and_then(Item::record)?;
        Some(Between { before: before?, after: after.code })
    }

    /// Returns the last events before `earlier` that name the task of the contradiction, or one
    /// whose id differs by a bit.
    fn places_of_task(&mut self, fault: &Fault, earlier: &ThreadCheck<'s, 'a>) -> Vec<u64> {
        let event = self.event_at(earlier, fault.at).filter(|event| event.payload.len() >= 4);
        let Some(event) = event else { return Vec::new() };
        let task = event.u32_at(0);
        let mut places = Vec::new();
        let events = self.start.events.reopened(STREAM_HEADER).map_while(Item::record);
        for event in events.take_while(|event| event.at < earlier.events.offset()) {
            if !self.may_look() {
                break;
            }
            self.looks = self.looks.saturating_sub(1);
            let differs = event.u32_at(0) ^ task;
            if event.payload.len() >= 4 && !event.is_jumbo() && differs.count_ones() <= 1 {
                places.push(event.at);
            }
        }
        places
    }

    /// Walks to the last ones of some places.
    fn walk_to(&mut self, mut places: Vec<u64>) -> Vec<Place<'s, 'a>> {
        places.sort_unstable();
        places.dedup();
        let mut walk = self.copy(self.start);
        walk.set_flips(self.flips.clone());
        let (mut before, mut found) = (None, Vec::new());
        for place in places.split_off(places.len().saturating_sub(PLACES)) {
            while walk.end.is_none() && walk.events.offset() < place && self.may_look() {
                before = Some(walk.events.offset());
                self.take(&mut walk);
            }
            let is_known = self.flips.iter().any(|flip| flip.at == place);
            let event = walk.events.restarted(place).next().and_then(Item::record);
            let is_here = walk.events.offset() == place && !is_known;
            if let Some(event) = event.filter(|_| is_here) {
                let code = before.and_then(|at| self.event_at(&walk, at)).map(|event| event.code);
                let around = self.around(code, &event);
                found.push(Place { walk: self.copy(&walk), event, around });
            }
        }
        found
    }

    /// Tries the bits of some events. Returns the one that explains a contradiction best, if no
    /// other one is as good.
    fn find_best(
        &mut self,
        fault: &Fault,
        places: Vec<Place<'s, 'a>>,
    ) -> Option<(Flip, ThreadCheck<'s, 'a>)> {
        let mut best: Option<(Rating, Option<(Flip, ThreadCheck<'s, 'a>)>)> = None;
        for place in &places {
            for flip in flips_of(&place.event) {
                let Some(rating) = self.rate(fault, place, flip) else { continue };
                let most = best.as_ref().map(|(most, _)| *most);
                if most.is_none_or(|most| rating > most) {
                    best = Some((rating, Some((flip, self.copy(&place.walk)))));
                } else if most == Some(rating) {
                    best = Some((rating, None));
                }
            }
        }
        best?.1
    }

    /// Rates a bit; `None` if it does not explain the contradiction.
    fn rate(&mut self, fault: &Fault, place: &Place<'s, 'a>, flip: Flip) -> Option<Rating> {
        let mut other = place.event.clone();
        flip.apply(&mut other);
        let (ids, looks) = self.ids();
        let gain = ids.gain(&place.event, &other, looks)?;
        if self.looks == 0 || matches!(fault.cause, Cause::Ids(_)) && gain == 0 {
            return None;
        }
        let reach = self.reach(&place.walk, flip, fault)?;
        let is_usual = place.around.map_or(0, |around| self.sequences().0.rate(other.code, around));
        Some((gain, reach, is_usual))
    }

    /// Returns the offset up to which the stream fits with a bit inverted, if that is far enough
    /// after the contradiction.
    fn reach(&mut self, from: &ThreadCheck<'s, 'a>, flip: Flip, fault: &Fault) -> Option<u64> {
        let mut walk = self.copy(from);
        walk.explain_nothing();
        let mut flips = self.flips.clone();
        flips.insert(flips.partition_point(|known| *known < flip), flip);
        walk.set_flips(flips);
        let mut fitting = 0_u64;
        while walk.end.is_none() && self.may_look() && fitting < FAR {
            let at = walk.events.offset();
            if self.take(&mut walk).0.is_some() && !self.is_unknown(&walk, at) {
                return (fitting > FIT).then_some(at);
            }
            fitting = fitting.saturating_add(u64::from(at >= fault.end));
        }
        let is_short = matches!(fault.cause, Cause::Order) && fitting < FIT_UP_TO_END;
        let reach = if walk.end.is_some() { u64::MAX } else { walk.events.offset() };
        (!is_short).then_some(reach)
    }
}

/// Whether something is open that a thread closes before it ends.
fn has_open(walk: &ThreadCheck<'_, '_>) -> bool {
    let mut stacks = Stack::ALL.into_iter().filter(|stack| stack.is_linted());
    stacks.any(|stack| !walk.status.stack(stack).is_empty()) || !walk.status.labels.is_empty()
}

/// The inverted bits of a stream, and how many of them were passed.
#[derive(Clone, Debug, Default)]
pub(super) struct Flips {
    list: Vec<Flip>,
    next: usize,
}

impl Flips {
    /// Whether any is left.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.next >= self.list.len()
    }
}

impl ThreadCheck<'_, '_> {
    /// Takes the inverted bits of the stream, in order.
    pub fn set_flips(&mut self, list: Vec<Flip>) {
        let next = list.partition_point(|flip| flip.at < self.events.offset());
        self.timeline.flips = Flips { list, next };
    }

    /// The number of values that a copy of the walk holds.
    fn values(&self) -> usize {
        let opened = self.regions.opened().saturating_add(self.usage.undefined_marks.len());
        opened.saturating_add(self.status.values())
    }

    /// Only whether events contradict each other is of interest from here on.
    fn explain_nothing(&mut self) {
        self.timeline.ahead.close();
        self.log = Log::new(1);
    }

    /// Whether an event contradicts those before it, or the thread ends with something open.
    pub fn has_contradiction(&self) -> bool {
        self.log.has_contradiction() || self.status.end.is_some() && has_open(self)
    }

    /// Reports the inverted bit of an event, and inverts it again.
    #[cold]
    pub(super) fn correct_bits(&mut self, event: &mut Event<'_>) {
        while let Some(flip) = self.timeline.flips.list.get(self.timeline.flips.next).copied()
            && flip.at <= event.at
        {
            self.timeline.flips.next = self.timeline.flips.next.saturating_add(1);
            if flip.at == event.at {
                self.correct_bit(event, flip);
            }
        }
    }

    fn correct_bit(&mut self, event: &mut Event<'_>, flip: Flip) {
        let old = event.clone();
        flip.apply(event);
        let (field, stored, right) = match flip.field(event) {
            FlippedField::Code => ("code", old.name(), event.name()),
            FlippedField::Id(place) => {
                let field = field_name(event, place);
                (field, old.u32_at(place).to_string(), event.u32_at(place).to_string())
            }
        };
        let span = Span::sized(self.layer(), flip.at.saturating_add(flip.byte), 1);
        let path = format!("event[{}].{}.{field}", self.timeline.events, event.name());
        let message = format!(
            "{field} is {stored}, expected {right}: one inverted bit, without which the events \
             around this one fit it"
        );
        let bytes = self.events.bytes(span);
        let byte = bytes.first().copied().unwrap_or(0) ^ flip.mask;
        let edit = Edit::replace(span, [byte]);
        let fix = build_fix(format!("set the {field} to {right}"), vec![edit]).altered(1);
        let finding = Finding::new(&rules::FLIPPED_BIT, span, path, message);
        self.log.push(finding.fix(fix));
    }
}

/// Returns the name of the id at an offset of the payload.
fn field_name(event: &Event<'_>, place: usize) -> &'static str {
    let effect = event.row.and_then(layout::row_at).map(|row| row.effect);
    match (effect, place) {
        (Some(Effect::Type | Effect::Work(_)), _) | (Some(Effect::Create(_)), 4) => "typeid",
        (_, 4) => "bodyid",
        _ => "taskid",
    }
}
