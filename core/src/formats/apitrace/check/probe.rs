//! Where the stream goes on after damage.
//!
//! A place is believed if events follow one another from it for a while, with names that look like
//! names, indices below the counts, and leaves whose numbers fit the enters. Leaves carry the
//! number of their call, enters do not: so the leaves tell how many calls were lost.
//!
//! Ids whose definition was lost look like ids that are defined here. Both readings are tried, the
//! definition first; of a lost struct every number of members.

use std::collections::BTreeMap;

use super::calls::Calls;
use super::definitions::Definitions;
use crate::formats::apitrace::decode::machine::{Cause, Machine, Sink, Space};
use crate::formats::apitrace::decode::text;
use crate::formats::apitrace::layout::THREAD_MAX;
use crate::kit::num::to_u64;

/// Events after which a place is believed.
const EVENTS: usize = 60;
/// Events of the older half of which as many leaves as this have to fit their calls.
const MATCHES: usize = 8;
/// Readings of ids that are tried at one place.
const READINGS: usize = 24;
/// The same close to where the search begins: where a chunk begins after a lost one, many ids are
/// unknown at once.
const READINGS_CLOSE: usize = 500;
/// What it costs to find the numbers that fit.
const NUMBERING: u64 = 1_000;
/// What a reading costs, beside one for every 16 bytes of it.
const READING: u64 = 8;
/// Members of a lost struct.
const MEMBERS_MAX: u64 = 48;
/// Longest string that is believed in a place that has to be proven.
const STRING_MAX: u64 = 64 << 20;

/// What a place has to fit to.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// The definitions before the damage.
    pub definitions: &'a Definitions,
    /// The number of the next call, were nothing lost.
    pub next: u64,
    /// The calls before the damage.
    pub calls: &'a Calls,
    /// Ranges of numbers of calls that were lost before.
    pub lost: &'a [(u64, u64)],
    /// Numbers of threads that were seen.
    pub threads: u64,
    /// The version of the stream.
    pub version: u64,
    /// Levels of values inside values.
    pub depth_max: u64,
    /// Structs that a donor knows: their numbers of members.
    pub donor: Option<&'a Definitions>,
}

impl Before<'_> {
    /// Whether a call began and ended before the damage.
    fn is_over(&self, call: u64) -> bool {
        let lost = |(from, to): &(u64, u64)| *from <= call && call < *to;
        call < self.next && !self.calls.is_open(call) && !self.lost.iter().any(lost)
    }
}

/// A place from which the stream goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sync {
    /// The number of the first enter.
    pub next: u64,
    /// Ids that are used and were never defined: where their definition should stand, and the
    /// number of members of structs.
    pub lost: Vec<(Space, u64, u64, u64)>,
}

/// What is believed of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lenience {
    /// No definition was lost, and no thread is new.
    Strict,
    /// Many definitions may be lost: the damage ends hereabouts.
    Close,
    /// Some definitions may be lost.
    Far,
}

/// What came of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tried {
    /// It is one.
    Sync(Sync),
    /// It is none.
    No,
    /// More bytes are needed to tell.
    Short,
}

/// How an unknown id is read.
#[derive(Clone, Copy, Debug)]
struct Reading {
    space: Space,
    id: u64,
    /// Where the id ends.
    at: u64,
    /// `None`: its definition follows. Else it was lost, with so many members.
    lost: Option<u64>,
    /// Members as a donor knows them.
    members: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// Of a thread.
    Enter(u64),
    /// Of a call, and whether ids are defined in it.
    Leave(u64, bool),
}

struct Trial<'a> {
    before: Before<'a>,
    readings: &'a mut Vec<Reading>,
    local: BTreeMap<(Space, u64), u64>,
    threads: u64,
    /// By how many the number of a thread may be higher than those seen.
    threads_more: u64,
    events: Vec<Event>,
    /// Arguments of the present call.
    count: Option<u64>,
    done: bool,
    too_long: bool,
}

/// Tries the place at the beginning of `bytes`, which is `start` of the stream.
///
/// `at_end`: whether nothing follows `bytes`; `budget`: what may still be spent.
pub fn probe(
    before: &Before<'_>,
    bytes: &[u8],
    start: u64,
    how: Lenience,
    at_end: bool,
    budget: &mut u64,
) -> Tried {
    if bytes.first().is_none_or(|tag| *tag > 1) {
        return Tried::No;
    }
    let mut readings: Vec<Reading> = Vec::new();
    let tries = match how {
        Lenience::Strict | Lenience::Far => READINGS,
        Lenience::Close => READINGS_CLOSE,
    };
    for _ in 0..tries {
        let mut machine = Machine::new(before.depth_max);
        machine.turn_to_event(before.version);
        let mut trial = Trial {
            before: *before,
            readings: &mut readings,
            local: BTreeMap::new(),
            threads: before.threads,
            events: Vec::new(),
            count: None,
            threads_more: if how == Lenience::Strict { 0 } else { 2 },
            done: false,
            too_long: false,
        };
        let (read, result) = machine.run(bytes, start, &mut trial);
        *budget = budget.saturating_sub(to_u64(read / 16).saturating_add(READING));
        if *budget == 0 {
            return Tried::No;
        }
        let enough = trial.done;
        let whole = result.is_ok() && machine.is_between_events() && read == bytes.len();
        let ran_out = result.is_ok() && !enough;
        if enough || (ran_out && at_end) {
            *budget = budget.saturating_sub(NUMBERING);
            let numbered = number(&trial.events, before, enough, whole);
            if let Some(next) = numbered {
                let lost = trial.readings.iter().filter_map(|reading| {
                    Some((reading.space, reading.id, reading.at, reading.lost?))
                });
                return Tried::Sync(Sync { next, lost: lost.collect() });
            }
        } else if ran_out && !trial.too_long {
            return Tried::Short;
        }
        if how == Lenience::Strict || !next_reading(&mut readings) {
            return Tried::No;
        }
    }
    Tried::No
}

/// Reads the latest id another way; `false` if all ways were tried.
fn next_reading(readings: &mut Vec<Reading>) -> bool {
    while let Some(last) = readings.last_mut() {
        match (last.lost, last.space) {
            (None, _) => {
                last.lost = Some(last.members.unwrap_or(0));
                return true;
            }
            (Some(members), Space::Struct) if last.members.is_none() && members < MEMBERS_MAX => {
                last.lost = Some(members.saturating_add(1));
                return true;
            }
            _ => drop(readings.pop()),
        }
    }
    false
}

/// The number of the first enter among `events`, if the leaves agree on one.
///
/// A leave belongs to an enter before it, or to a call that was open before the damage or began in
/// it.
fn number(events: &[Event], before: &Before<'_>, enough: bool, whole: bool) -> Option<u64> {
    let expected = before.next;
    let mut candidates = vec![expected];
    let mut entered = 0_u64;
    for event in events {
        match event {
            Event::Enter(_) => entered = entered.saturating_add(1),
            Event::Leave(call, _) => {
                for back in 1..=entered.min(16) {
                    candidates.extend(call.checked_sub(entered.saturating_sub(back)));
                }
            }
        }
        if candidates.len() > 400 {
            break;
        }
    }
    candidates.sort_unstable();
    candidates.dedup();
    let best = candidates
        .into_iter()
        .filter_map(|next| Some((matches(events, next, before, enough)?, next)));
    // Of equals the one closest to what was expected.
    let best =
        best.max_by_key(|(matches, next)| (*matches, std::cmp::Reverse(next.abs_diff(expected))));
    let (matches, next) = best?;
    let fits = match enough {
        true => matches >= MATCHES,
        false => matches > 0 || (whole && events.len() <= 2 && !events.is_empty()),
    };
    fits.then_some(next)
}

/// How many leaves fit an enter if the first enter has the number `first`; `None` if one
/// contradicts it. `enough`: whether the calls had time to end.
fn matches(events: &[Event], first: u64, before: &Before<'_>, enough: bool) -> Option<usize> {
    let mut open: Vec<(u64, u64)> = Vec::new();
    let mut gone: Vec<u64> = Vec::new();
    let (mut next, mut matches) = (first, 0_usize);
    let mut strays = 0_usize;
    for event in events {
        match event {
            Event::Enter(thread) => {
                // A thread that enters again and again without leaving is none.
                if open.iter().filter(|(_, of)| of == thread).count() > 4 {
                    return None;
                }
                open.push((next, *thread));
                next = next.saturating_add(1);
            }
            Event::Leave(call, _) if *call >= next => return None,
            Event::Leave(call, defines) => match open.iter().position(|(number, _)| number == call)
            {
                Some(index) => {
                    // A thread leaves its calls from the inside out.
                    let (_, thread) = open.remove(index);
                    if open.iter().skip(index).any(|(_, of)| *of == thread) {
                        return None;
                    }
                    matches = matches.saturating_add(1);
                    gone.push(*call);
                }
                None if *call >= first || gone.contains(call) => return None,
                // It is over since before the damage.
                None if *defines || before.is_over(*call) => return None,
                None => {
                    gone.push(*call);
                    strays = strays.saturating_add(1);
                }
            },
        }
    }
    // A first call that stays open while its thread goes on is what zeros look like.
    if let (true, Some(Event::Enter(thread))) = (enough, events.first())
        && open.first().is_some_and(|(number, _)| *number == first)
        && events.iter().skip(1).any(|event| matches!(event, Event::Enter(of) if of == thread))
    {
        return None;
    }
    (strays <= matches.saturating_add(2)).then_some(matches)
}

impl Trial<'_> {
    fn reading(&self, space: Space, id: u64) -> Option<&Reading> {
        self.readings.iter().find(|reading| reading.space == space && reading.id == id)
    }
}

/// Ends a trial that has seen enough.
const ENOUGH: Cause = Cause::Incoherent;

impl Sink for Trial<'_> {
    fn known(&mut self, space: Space, id: u64) -> Result<Option<u64>, Cause> {
        if let Some(known) = self.before.definitions.known(space, id) {
            return Ok(Some(known.count));
        }
        if let Some(count) = self.local.get(&(space, id)) {
            return Ok(Some(*count));
        }
        // Stack frames are recorded from the beginning on, or never.
        let known = self.before.definitions;
        if space == Space::Frame && !known.is_empty() && !known.has_frames() {
            return Err(Cause::Id(space, id));
        }
        Ok(match self.reading(space, id) {
            Some(reading) => reading.lost,
            None => None,
        })
    }

    fn define(&mut self, space: Space, id: u64, at: u64) {
        if self.reading(space, id).is_some() {
            return;
        }
        let donated = self.before.donor.and_then(|donor| donor.known(space, id));
        let members = donated.map(|known| known.count);
        self.readings.push(Reading { space, id, at, lost: None, members });
    }

    fn name(&mut self, space: Space, name: &[u8], _own: bool) -> Result<(), Cause> {
        let believed = match space {
            Space::Frame => text::look(name) != text::Look::Wild,
            _ => text::is_identifier(name),
        };
        if believed { Ok(()) } else { Err(Cause::Name(space)) }
    }

    fn defined(&mut self, space: Space, id: u64, count: u64) -> Result<(), Cause> {
        if space == Space::Function {
            self.count = Some(count);
            if count > 64 {
                return Err(Cause::Count("arguments", count));
            }
        }
        self.local.insert((space, id), count);
        if let Some(Event::Leave(_, defines)) = self.events.last_mut() {
            *defines = true;
        }
        Ok(())
    }

    fn enter(&mut self, _at: u64, thread: u64, function: u64) -> Result<(), Cause> {
        let most = self.threads.saturating_add(self.threads_more);
        if (thread >= most && thread > 0) || thread > THREAD_MAX {
            return Err(Cause::Thread(thread));
        }
        self.threads = self.threads.max(thread.saturating_add(1));
        let known = self.before.definitions.known(Space::Function, function);
        self.count = match known {
            Some(known) if known.lost => None,
            Some(known) => Some(known.count),
            None => self.local.get(&(Space::Function, function)).copied(),
        };
        self.events.push(Event::Enter(thread));
        Ok(())
    }

    fn leave(&mut self, _at: u64, call: u64) -> Result<(), Cause> {
        self.count = None;
        self.events.push(Event::Leave(call, false));
        Ok(())
    }

    fn detail(&mut self, _at: u64, index: Option<u64>) -> Result<(), Cause> {
        match index {
            Some(index) if index >= self.count.unwrap_or(64) => {
                Err(Cause::Count("argument index", index))
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, _end: u64) -> Result<(), Cause> {
        self.done = self.events.len() >= EVENTS;
        if self.done { Err(ENOUGH) } else { Ok(()) }
    }

    fn long(&mut self, len: u64, _at: u64) {
        self.too_long |= len > STRING_MAX;
    }
}
