//! The events from a place that is tried.

use std::collections::BTreeMap;

use super::{EVENTS, IdReading, ProbeContext, Tolerance};
use crate::formats::apitrace::decode::grammar::{CountField, Space, StreamError, TokenSink};
use crate::formats::apitrace::decode::names;
use crate::formats::apitrace::layout::THREAD_MAX;

/// The longest string in a place that has to be proven.
const STRING_MAX: u64 = 64 << 20;
/// Arguments of a function that is defined there.
const ARGUMENTS_MAX: u64 = 64;
/// By how many the number of a thread may exceed those seen.
const NEW_THREADS: u64 = 2;

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

pub(super) struct ProbeSink<'a> {
    context: ProbeContext<'a>,
    readings: &'a mut Vec<IdReading>,
    /// Ids that are defined from the place on.
    local: BTreeMap<(Space, u64), u64>,
    /// Numbers of threads seen so far: all are below this.
    threads: u64,
    new_threads: u64,
    /// Arguments of the present call.
    argument_count: Option<u64>,
    pub(super) events: Vec<ProbeEvent>,
    /// Whether enough events follow one another.
    pub(super) is_done: bool,
    pub(super) has_huge_string: bool,
}

/// Ends a run that has seen enough.
const ENOUGH: StreamError = StreamError::InconsistentCalls;

impl<'a> ProbeSink<'a> {
    pub(super) fn new(
        context: ProbeContext<'a>,
        readings: &'a mut Vec<IdReading>,
        tolerance: Tolerance,
    ) -> Self {
        Self {
            context,
            readings,
            local: BTreeMap::new(),
            threads: context.calls.threads,
            new_threads: if tolerance == Tolerance::Strict { 0 } else { NEW_THREADS },
            argument_count: None,
            events: Vec::new(),
            is_done: false,
            has_huge_string: false,
        }
    }

    fn reading(&self, space: Space, id: u64) -> Option<&IdReading> {
        self.readings.iter().find(|reading| reading.space == space && reading.id == id)
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
        Ok(self.reading(space, id).and_then(|reading| reading.lost))
    }

    fn define(&mut self, space: Space, id: u64, at: u64) {
        if self.reading(space, id).is_some() {
            return;
        }
        let donated = self.context.donor.and_then(|donor| donor.known(space, id));
        let donated_members = donated.map(|known| known.count);
        self.readings.push(IdReading { space, id, at, lost: None, donated_members });
    }

    fn name(&mut self, space: Space, name: &[u8], _own: bool) -> Result<(), StreamError> {
        match names::is_believable(space, name) {
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
        let most = self.threads.saturating_add(self.new_threads);
        if (thread >= most && thread > 0) || thread > THREAD_MAX {
            return Err(StreamError::Thread(thread));
        }
        self.threads = self.threads.max(thread.saturating_add(1));
        let known = self.context.definitions.known(Space::Function, function);
        self.argument_count = match known {
            Some(known) if known.lost => None,
            Some(known) => Some(known.count),
            None => self.local.get(&(Space::Function, function)).copied(),
        };
        self.events.push(ProbeEvent::Enter { thread });
        Ok(())
    }

    fn leave(&mut self, _at: u64, call: u64) -> Result<(), StreamError> {
        self.argument_count = None;
        self.events.push(ProbeEvent::Leave { call, defines: false });
        Ok(())
    }

    fn detail(&mut self, _at: u64, index: Option<u64>) -> Result<(), StreamError> {
        let most = self.argument_count.unwrap_or(ARGUMENTS_MAX);
        match index {
            Some(index) if index >= most => {
                Err(StreamError::Count(CountField::ArgumentIndex, index))
            }
            _ => Ok(()),
        }
    }

    fn end(&mut self, _end: u64) -> Result<(), StreamError> {
        self.is_done = self.events.len() >= EVENTS;
        if self.is_done { Err(ENOUGH) } else { Ok(()) }
    }

    fn long_string(&mut self, len: u64, _at: u64) {
        self.has_huge_string |= len > STRING_MAX;
    }
}
