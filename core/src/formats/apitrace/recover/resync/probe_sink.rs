//! The events from a place that is tried.

use std::collections::BTreeMap;

use super::readings::{IdReading, Readings};
use super::{EVENTS, ProbeContext, Tolerance};
use crate::formats::apitrace::decode::grammar::{
    CountField, Space, StreamError, TokenSink, TokenWarning,
};
use crate::formats::apitrace::decode::names;
use crate::formats::apitrace::layout::{THREAD_MAX, event};
use crate::formats::apitrace::recover::signatures;
use crate::kit::num::to_u64;

/// The longest string in a place that has to be proven.
const STRING_MAX: u64 = 64 << 20;
/// Arguments of a function that is defined there.
const ARGUMENTS_MAX: u64 = 64;
/// First events of a place, in which every token has its usual form.
const FIRST_EVENTS: usize = 2;
/// By how many the number of a thread may exceed those seen.
const NEW_THREADS: u64 = 2;
/// The same in a thorough search: the beginning of the stream may be lost.
const NEW_THREADS_MAX: u64 = 32;

/// An event from the place on.
#[derive(Clone, Copy, Debug)]
pub(super) enum ProbeEvent {
    /// A call begins.
    Enter {
        /// Its thread.
        thread: u64,
    },
    /// A call ends.
    Leave {
        /// Its number.
        call: u64,
        /// Whether ids are defined in it.
        defines: bool,
    },
}

/// The numbers that threads may have.
struct ThreadBound {
    /// Numbers seen so far: all are below this.
    seen: u64,
    /// By how many a number may exceed them.
    new: u64,
}

pub(super) struct ProbeSink<'a> {
    context: ProbeContext<'a>,
    readings: &'a mut Readings,
    /// The latest definition.
    pub(super) defining: Defining,
    /// Ids that are defined from the place on.
    local: BTreeMap<(Space, u64), u64>,
    threads: ThreadBound,
    /// Arguments of the present call.
    argument_count: Option<u64>,
    pub(super) events: Vec<ProbeEvent>,
    /// Where the latest leave ends.
    pub(super) last_leave_end: u64,
    /// Whether enough events follow one another.
    pub(super) is_done: bool,
    pub(super) doubts: Doubts,
}

/// The id whose definition was read last.
#[derive(Debug, Default)]
pub(super) struct Defining {
    id: Option<(Space, u64)>,
    /// Whether it is read as defined in the latest event.
    pub(super) is_in_latest_event: bool,
}

/// What no tracer writes.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    /// A string that is longer than all that were seen.
    pub(super) has_huge_string: bool,
    /// A token of the first events in an unusual form: the place may be inside a token.
    is_unusual: bool,
    /// The first event is an enter of function 0 in thread 0: three zeros, which end many events.
    begins_with_zeros: bool,
    /// The first event is an enter without details by a thread that was not seen, whose number is
    /// the tag of a leave: the function's number is that of the call that the leave ends.
    may_be_leave: Option<u64>,
    /// The first event may be the end of one, or the head of one joined to the tail of another: no
    /// other place was found.
    may_be_joined: bool,
}

/// Ends a run that has seen enough.
const ENOUGH: StreamError = StreamError::InconsistentCalls;

impl<'a> ProbeSink<'a> {
    pub(super) fn new(
        context: ProbeContext<'a>,
        readings: &'a mut Readings,
        tolerance: Tolerance,
    ) -> Self {
        Self {
            context,
            readings,
            defining: Defining::default(),
            local: BTreeMap::new(),
            threads: ThreadBound {
                seen: context.calls.threads,
                new: match tolerance {
                    Tolerance::Strict => 0,
                    Tolerance::Close | Tolerance::Far => NEW_THREADS,
                    Tolerance::Thorough => NEW_THREADS_MAX,
                },
            },
            argument_count: None,
            events: Vec::new(),
            last_leave_end: 0,
            is_done: false,
            doubts: Doubts { may_be_joined: tolerance == Tolerance::Thorough, ..Doubts::default() },
        }
    }

    /// Returns how many calls were entered.
    pub(super) fn entered(&self) -> u64 {
        let is_enter = |event: &&ProbeEvent| matches!(event, ProbeEvent::Enter { .. });
        to_u64(self.events.iter().filter(is_enter).count())
    }

    /// Returns the name that a donor has for the function or struct that is being defined.
    fn donated_name(&self) -> Option<&[u8]> {
        let (space, id) = self.defining.id?;
        let raw = self.context.donor?.raw(space, id)?;
        // Names of less than 128 bytes, whose length takes a byte.
        let (len, rest) = raw.split_first().filter(|(len, _)| **len < 0x80)?;
        rest.get(..usize::from(*len))
    }

    /// Whether the first event is only the end of one: zeros, which nothing defines as a call.
    fn is_end_of_event(&self) -> bool {
        let is_lost = |reading: &IdReading| reading.lost.is_some();
        self.doubts.begins_with_zeros
            && !self.doubts.may_be_joined
            && self.readings.get(Space::Function, 0).is_some_and(is_lost)
    }

    /// Whether the first event is the leave of a call that is read one byte too early.
    fn is_early_leave(&self) -> bool {
        let is_lost = |function| {
            let reading = self.readings.get(Space::Function, function);
            reading.is_some_and(|reading| reading.lost.is_some())
        };
        self.doubts.may_be_leave.is_some_and(is_lost)
    }
}

impl TokenSink for ProbeSink<'_> {
    fn known(&mut self, space: Space, id: u64) -> Result<Option<u64>, StreamError> {
        let definitions = self.context.definitions;
        if let Some(known) = definitions.known(space, id) {
            return Ok(Some(known.count));
        }
        if let Some(count) = self.local.get(&(space, id)) {
            return Ok(Some(*count));
        }
        // Stack frames are recorded from the beginning on, or never.
        if space == Space::Frame && !definitions.is_empty() && !definitions.has_frames() {
            return Err(StreamError::Id(space, id));
        }
        Ok(self.readings.get(space, id).and_then(|reading| reading.lost))
    }

    fn define(&mut self, space: Space, id: u64, at: u64) {
        self.defining = Defining { id: Some((space, id)), is_in_latest_event: true };
        if self.readings.get(space, id).is_some() {
            return;
        }
        let donated = self.context.donor.and_then(|donor| donor.known(space, id));
        let donated_members = donated.map(|known| known.count);
        let is_struct = space == Space::Struct && donated_members.is_none();
        let usual_members = is_struct.then(|| signatures::count_members(id)).flatten();
        let reading = IdReading { space, id, at, lost: None, donated_members, usual_members };
        self.readings.push(reading);
    }

    fn name(&mut self, space: Space, name: &[u8], own: bool) -> Result<(), StreamError> {
        let is_other = own && self.donated_name().is_some_and(|donated| donated != name);
        match names::is_believable(space, name) && !is_other {
            true => Ok(()),
            false => Err(StreamError::Name(space)),
        }
    }

    fn defined(&mut self, space: Space, id: u64, count: u64) -> Result<(), StreamError> {
        if space == Space::Function {
            self.argument_count = Some(count);
            if count > ARGUMENTS_MAX {
                return Err(StreamError::Count(CountField::SignatureItems, count));
            }
        }
        self.local.insert((space, id), count);
        if let Some(ProbeEvent::Leave { defines, .. }) = self.events.last_mut() {
            *defines = true;
        }
        Ok(())
    }

    fn enter(&mut self, _at: u64, thread: u64, function: u64) -> Result<(), StreamError> {
        let most = self.threads.seen.saturating_add(self.threads.new);
        if (thread >= most && thread > 0) || thread > THREAD_MAX {
            return Err(StreamError::Thread(thread));
        }
        self.threads.seen = self.threads.seen.max(thread.saturating_add(1));
        let known = self.context.definitions.known(Space::Function, function);
        self.argument_count = match known {
            Some(known) if known.lost => None,
            Some(known) => Some(known.count),
            None => self.local.get(&(Space::Function, function)).copied(),
        };
        self.doubts.begins_with_zeros |= self.events.is_empty() && thread == 0 && function == 0;
        let is_new = thread == u64::from(event::LEAVE) && thread >= self.context.calls.threads;
        self.doubts.may_be_leave =
            (self.events.is_empty() && is_new && known.is_none()).then_some(function);
        self.events.push(ProbeEvent::Enter { thread });
        Ok(())
    }

    fn leave(&mut self, _at: u64, call: u64) -> Result<(), StreamError> {
        self.argument_count = None;
        self.events.push(ProbeEvent::Leave { call, defines: false });
        Ok(())
    }

    fn detail(&mut self, _at: u64, index: Option<u64>) -> Result<(), StreamError> {
        self.doubts.may_be_leave = None;
        // The result is in the leave: the place joins the head of one event to the tail of another.
        let is_first = matches!(self.events.as_slice(), [ProbeEvent::Enter { .. }]);
        if index.is_none() && is_first && !self.doubts.may_be_joined {
            return Err(StreamError::InconsistentCalls);
        }
        let most = self.argument_count.unwrap_or(ARGUMENTS_MAX);
        match index {
            Some(index) if index >= most => {
                Err(StreamError::Count(CountField::ArgumentIndex, index))
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, end: u64) -> Result<(), StreamError> {
        if let Some(ProbeEvent::Leave { .. }) = self.events.last() {
            self.last_leave_end = end;
        }
        if self.doubts.is_unusual || self.is_end_of_event() || self.is_early_leave() {
            return Err(StreamError::InconsistentCalls);
        }
        self.defining.is_in_latest_event = false;
        self.is_done = self.events.len() >= EVENTS;
        if self.is_done { Err(ENOUGH) } else { Ok(()) }
    }

    fn warn(&mut self, warning: TokenWarning, _at: u64, _end: u64) {
        let is_form = matches!(
            warning,
            TokenWarning::Overlong(_) | TokenWarning::Oversized(_) | TokenWarning::Flags(_)
        );
        self.doubts.is_unusual |= is_form && self.events.len() <= FIRST_EVENTS;
    }

    fn long_string(&mut self, len: u64, _at: u64) {
        self.doubts.has_huge_string |= len > STRING_MAX;
    }
}
