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
/// The same in a thorough search, or if none was seen: the beginning of the stream may be lost.
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
    pub(super) readings: &'a mut Readings,
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
    /// The present event has no details so far.
    is_bare: bool,
    /// The present event is an enter of function 0 in thread 0: zeros, if it is bare.
    may_be_zeros: bool,
    /// The first event is an enter by a thread whose number is the tag of a leave: the function's
    /// number may be that of the call that the leave ends.
    may_be_leave: Option<LeaveLikeEnter>,
    /// The function of the first event, if that is an enter without details.
    first_bare: Option<u64>,
    /// The first event may be the end of one, or the head of one joined to the tail of another: no
    /// other place was found.
    may_be_joined: bool,
    /// The first event is an enter with a result: the head of one joined to the tail of another.
    pub(super) is_joined: bool,
}

/// An enter that may be a leave.
#[derive(Clone, Copy, Debug)]
struct LeaveLikeEnter {
    function: u64,
    /// Whether its thread was not seen before.
    is_new_thread: bool,
    /// Whether a call that may end here has the number of its function.
    is_call_number: bool,
}

/// Ends a run that has seen enough.
const ENOUGH: StreamError = StreamError::InconsistentCalls;

impl<'a> ProbeSink<'a> {
    pub(super) fn new(
        context: ProbeContext<'a>,
        readings: &'a mut Readings,
        tolerance: Tolerance,
    ) -> Self {
        let is_begun = context.calls.threads > 0;
        Self {
            context,
            readings,
            defining: Defining::default(),
            local: BTreeMap::new(),
            threads: ThreadBound {
                seen: context.calls.threads,
                new: match tolerance {
                    Tolerance::Close | Tolerance::Far if is_begun => NEW_THREADS,
                    Tolerance::Close | Tolerance::Far | Tolerance::Thorough => NEW_THREADS_MAX,
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

    /// Whether the definition of a function is read as lost.
    fn is_lost_function(&self, function: u64) -> bool {
        let reading = self.readings.get(Space::Function, function);
        reading.is_some_and(|reading| reading.lost.is_some())
    }

    /// Whether the first event is read as a call without details of a function that takes some.
    fn is_bare_without_reason(&self) -> bool {
        let first = self.doubts.first_bare.filter(|_| self.events.len() == 1);
        first.is_some_and(|first| self.is_lost_function(first) && !signatures::may_take_none(first))
    }

    /// Whether the present event is an enter without details of a function that has arguments.
    pub(super) fn is_bare_with_arguments(&self) -> bool {
        self.doubts.is_bare && self.argument_count.is_some_and(|count| count > 0)
    }

    /// Whether the first event is the leave of a call that is read one byte too early.
    fn is_early_leave(&self) -> bool {
        let Some(enter) = self.doubts.may_be_leave else { return false };
        let is_lost = self.is_lost_function(enter.function);
        let signs = [is_lost, enter.is_new_thread, enter.is_call_number];
        // The leave may have details, and so may a call.
        let least = if self.doubts.is_bare { 2 } else { signs.len() };
        signs.into_iter().filter(|has_sign| *has_sign).count() >= least
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
        // Nothing shows that the first event is a call: neither a definition, a detail nor a leave.
        if self.events.len() == 1
            && self.doubts.first_bare.is_some_and(|first| self.is_lost_function(first))
        {
            return Err(StreamError::InconsistentCalls);
        }
        if self.events.is_empty() {
            self.doubts.first_bare = Some(function);
        }
        self.doubts.begins_with_zeros |= self.events.is_empty() && thread == 0 && function == 0;
        (self.doubts.is_bare, self.doubts.may_be_zeros) = (true, thread == 0 && function == 0);
        let calls = self.context.calls;
        let may_be_leave = self.events.is_empty() && thread == u64::from(event::LEAVE);
        self.doubts.may_be_leave = may_be_leave.then_some(LeaveLikeEnter {
            function,
            is_new_thread: thread >= calls.threads,
            is_call_number: function >= calls.next || calls.is_open(function),
        });
        self.events.push(ProbeEvent::Enter { thread });
        Ok(())
    }

    fn leave(&mut self, _at: u64, call: u64) -> Result<(), StreamError> {
        self.argument_count = None;
        self.doubts.is_bare = false;
        self.events.push(ProbeEvent::Leave { call, defines: false });
        Ok(())
    }

    fn detail(&mut self, _at: u64, index: Option<u64>) -> Result<(), StreamError> {
        let is_first_detail = std::mem::take(&mut self.doubts.is_bare);
        if self.events.len() == 1 {
            self.doubts.first_bare = None;
        }
        // The result is in the leave: the place joins the head of one event to the tail of another.
        let is_first = matches!(self.events.as_slice(), [ProbeEvent::Enter { .. }]);
        if index.is_none() && is_first {
            self.doubts.is_joined = true;
            if !self.doubts.may_be_joined {
                return Err(StreamError::InconsistentCalls);
            }
        }
        // The place is inside an enter: bytes of its arguments are read as its head.
        let lacks_first = is_first_detail && index.is_some_and(|index| index > 0);
        let is_enter = matches!(self.events.last(), Some(ProbeEvent::Enter { .. }));
        let is_early = is_enter && self.events.len() <= FIRST_EVENTS;
        if lacks_first && is_early && self.argument_count.is_none() {
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
        let is_zeros =
            self.doubts.is_bare && self.doubts.may_be_zeros && self.argument_count != Some(0);
        if self.is_bare_without_reason() {
            return Err(StreamError::InconsistentCalls);
        }
        if self.doubts.is_unusual || is_zeros || self.is_end_of_event() || self.is_early_leave() {
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
