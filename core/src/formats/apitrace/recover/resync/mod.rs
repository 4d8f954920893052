//! Whether the stream continues at a place after damage.
//!
//! A place is believed if events follow one another from it for a while, with valid names, indices
//! below the counts, and leaves whose numbers fit the enters. Leaves carry the number of their
//! call, enters do not: so the leaves show how many calls were lost.
//!
//! A decoder that goes on after a flipped bit copies the damage into what follows, again and again.
//! So a shorter run of calls up to further damage is believed, too, if few calls were lost before.
//!
//! Ids whose definition was lost look like ids that are defined here. Both readings are tried, the
//! definition first; of a lost struct every number of members. Where the first one that fits ends
//! in a definition that is cut off, or at further damage, the one with the most events wins.
//!
//! - `probe_sink`: the events from a place, under one reading of the unknown ids
//! - `readings`: how the unknown ids are read
//! - `numbering`: the call number of the first of these events

mod numbering;
mod probe_sink;
mod readings;

use crate::formats::apitrace::decode::calls::Calls;
use crate::formats::apitrace::decode::definitions::Definitions;
use crate::formats::apitrace::decode::grammar::{Parser, Space};
use crate::formats::apitrace::decode::tracker::lost::LostCalls;
use crate::kit::num::to_u64;
use crate::kit::steps;
use numbering::{find_first_number, find_first_number_of_overlap, find_first_number_of_run};
use probe_sink::ProbeSink;
use readings::Readings;

/// Events after which a place is believed.
const EVENTS: usize = 60;
/// Events up to further damage among which calls that overlap are looked for.
const OVERLAP_EVENTS: usize = 6;
/// Readings of ids that are tried at one place.
const READINGS: usize = 24;
/// The same close to where the search begins: where a chunk begins after a lost one, many ids are
/// unknown at once.
const READINGS_CLOSE: usize = 500;
/// Steps that finding the call number takes from the budget.
const NUMBERING_STEPS: u64 = 1_000;
/// Steps that a reading takes, besides one per 16 bytes of it.
const READING_STEPS: u64 = 8;
/// Bytes of the shortest call: an enter without arguments takes four, its leave three.
pub const CALL_LEN: u64 = 7;
/// Members that a lost struct has at most.
const MEMBERS_MAX: u64 = 48;

/// The stream before the damage, which a place has to fit.
#[derive(Clone, Copy, Debug)]
pub struct ProbeContext<'a> {
    /// The definitions.
    pub definitions: &'a Definitions,
    /// The calls; the next one is the first that may be lost.
    pub calls: &'a Calls,
    /// Calls that were lost.
    pub lost_calls: &'a LostCalls,
    /// The version of the stream.
    pub version: u64,
    /// Levels of values inside values.
    pub depth_max: u64,
    /// The definitions of a donor, for the members of structs.
    pub donor: Option<&'a Definitions>,
    /// Where the damage begins in the stream.
    pub damage: u64,
    /// Whether all bytes since then have the places that they were written to.
    pub is_in_place: bool,
}

impl ProbeContext<'_> {
    /// Whether the damage up to a place has room for so many calls, and those after it are at their
    /// places, or bytes in it stand for lost ones: then they are no copies from elsewhere.
    fn has_room(&self, calls: u64, place: u64) -> bool {
        let last = place.saturating_sub(1);
        let len = place.saturating_sub(self.damage);
        let is_placed = self.is_in_place || self.lost_calls.made_up.has_any_of(self.damage, last);
        len > 0 && calls <= len / CALL_LEN && is_placed
    }

    /// Whether a call began and ended before the damage.
    fn is_over(&self, call: u64) -> bool {
        call < self.calls.next && !self.calls.is_open(call) && !self.lost_calls.contains(call)
    }
}

/// A place from which the stream continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncPoint {
    /// The number of the first enter.
    pub next: u64,
    /// Ids that are used and were never defined.
    pub lost: Vec<LostId>,
    /// The calls that are entered from there on, as far as the probe went.
    pub entered: u64,
    /// Where the last leave ends that the probe saw.
    pub last_leave_end: u64,
}

/// An id that is used and was never defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostId {
    /// Its namespace.
    pub space: Space,
    /// The id.
    pub id: u64,
    /// Where its definition belongs in the stream.
    pub at: u64,
    /// The number of members, for structs.
    pub members: u64,
}

/// The conditions that a place has to meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// Many definitions may be lost: the damage ends hereabouts.
    Close,
    /// Some definitions may be lost.
    Far,
    /// As close by, and the number of the first thread may be high: nothing else was found.
    Thorough,
}

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeResult {
    /// The stream continues here.
    Sync(SyncPoint),
    /// It does not.
    Rejected,
    /// The events up to this offset are a copy of earlier ones, or out of order.
    Stale(u64),
    /// More bytes are needed to decide.
    NeedsMore,
}

/// Tries the place at the beginning of `bytes.0`, which is `bytes.1` of the stream.
///
/// `at_end`: whether the stream ends with the bytes; `budget`: steps that may still be taken.
pub fn probe_position(
    context: &ProbeContext<'_>,
    bytes: (&[u8], u64),
    tolerance: Tolerance,
    at_end: bool,
    budget: &mut u64,
) -> ProbeResult {
    let (bytes, start) = bytes;
    // A reading may go on to the end of the bytes: without steps, none is begun.
    if bytes.first().is_none_or(|tag| *tag > 1) || *budget == 0 {
        return ProbeResult::Rejected;
    }
    let mut readings = Readings::default();
    let tries = match tolerance {
        Tolerance::Far => READINGS,
        Tolerance::Close | Tolerance::Thorough => READINGS_CLOSE,
    };
    let mut best = Best::default();
    for _ in 0..tries {
        let tried = try_reading(context, (bytes, start), &mut readings, tolerance, at_end, budget);
        if *budget == 0 {
            return ProbeResult::Rejected;
        }
        match tried {
            Tried::NeedsMore => return ProbeResult::NeedsMore,
            Tried::Fits { sync, events, is_sure: true } if events >= best.events => {
                return ProbeResult::Sync(sync);
            }
            Tried::Fits { sync, events, .. } => best.offer(sync, events),
            Tried::Fails => {}
        }
        if !readings.advance() {
            break;
        }
    }
    best.sync.map_or(ProbeResult::Rejected, ProbeResult::Sync)
}

/// The result of one reading of a place.
enum Tried {
    /// The stream continues here.
    Fits {
        sync: SyncPoint,
        /// Events that were read.
        events: usize,
        /// Whether no other reading can be better.
        is_sure: bool,
    },
    /// It does not.
    Fails,
    /// More bytes are needed to decide.
    NeedsMore,
}

/// The reading that is taken if no other one has more events.
#[derive(Default)]
struct Best {
    events: usize,
    sync: Option<SyncPoint>,
}

impl Best {
    fn offer(&mut self, sync: SyncPoint, events: usize) {
        if events > self.events || self.sync.is_none() {
            *self = Self { events, sync: Some(sync) };
        }
    }
}

/// Tries one reading of a place, like [`probe_position`].
fn try_reading(
    context: &ProbeContext<'_>,
    (bytes, start): (&[u8], u64),
    readings: &mut Readings,
    tolerance: Tolerance,
    at_end: bool,
    budget: &mut u64,
) -> Tried {
    let mut parser = Parser::new(context.depth_max);
    parser.turn_to_event(context.version);
    let mut sink = ProbeSink::new(*context, readings, tolerance);
    let (read, result) = parser.run(bytes, start, &mut sink);
    let taken = to_u64(read / 16).saturating_add(READING_STEPS);
    steps::count(taken);
    *budget = if steps::is_spent() { 0 } else { budget.saturating_sub(taken) };
    let is_enough = sink.is_done;
    let is_complete = result.is_ok() && parser.is_between_events() && read == bytes.len();
    let ran_out = result.is_ok() && !is_enough;
    let lost: Vec<LostId> = sink.readings.lost().collect();
    let mut first = None;
    if is_enough || (ran_out && at_end) {
        *budget = budget.saturating_sub(NUMBERING_STEPS);
        // Nothing shows that the last event is a call if its function is not known, or it does not
        // look like one.
        let is_whole = !sink.doubts.is_joined && !sink.is_bare_with_arguments();
        let may_be_last = is_complete && lost.is_empty() && is_whole;
        first = find_first_number(&sink.events, context, is_enough, may_be_last);
    } else if ran_out && !sink.doubts.has_huge_string {
        return Tried::NeedsMore;
    }
    let (entered, last_leave_end) = (sink.entered(), sink.last_leave_end);
    // Where the stream ends in what is read as a definition, it may go on if the id was lost.
    let may_go_on = ran_out && !is_complete && sink.defining.is_in_latest_event;
    let events = sink.events;
    let mut run = find_first_number_of_run(&events, context, start, !lost.is_empty());
    if first.or(run).is_none() && lost.is_empty() && events.len() > OVERLAP_EVENTS {
        run = find_first_number_of_overlap(&events, context, start, budget);
    }
    // Where a run ends, another reading of what was lost may lead on.
    let is_sure = !may_go_on && (first.is_some() || lost.is_empty());
    match first.or(run) {
        Some(next) => {
            let sync = SyncPoint { next, lost, entered, last_leave_end };
            Tried::Fits { sync, events: events.len(), is_sure }
        }
        None => Tried::Fails,
    }
}
