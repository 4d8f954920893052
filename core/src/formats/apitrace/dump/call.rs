//! The calls of a stream, from the tokens of their enters and leaves.

use std::collections::BTreeMap;

use super::feed::StreamReader;
use super::names::{Known, Names};
use super::text::ValueText;
use crate::formats::apitrace::decode::grammar::{Space, StreamError, TokenSink, ValueToken};
use crate::formats::apitrace::layout::{FLAG_FAKE, LOST_ARGUMENT_MAX};
use crate::kit::num::to_usize;

/// The blobs among the arguments of a call.
#[derive(Debug, Default)]
pub(super) struct Blobs {
    /// The index of the argument and the length.
    pub(super) places: Vec<(u64, u64)>,
    /// CRC-32 of their bytes, and of those of strings.
    pub(super) crc: crc32fast::Hasher,
}

/// A call with its values as text.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// Its number.
    pub(super) number: u64,
    /// The number of its thread.
    pub(super) thread: u64,
    /// The id of its function.
    pub(super) function: u64,
    /// Where its enter begins and ends in the stream; the end is 0 until it is complete.
    pub(super) enter: (u64, u64),
    /// Whether it was left.
    pub(super) is_complete: bool,
    /// Whether the tracer made it up.
    pub(super) is_fake: bool,
    /// Its arguments; `None` for one that was not recorded.
    pub(super) arguments: Vec<Option<String>>,
    /// Its result.
    pub(super) result: Option<String>,
    /// The blobs among its arguments.
    pub(super) blobs: Blobs,
    /// The ids of the frames of its backtrace.
    pub(super) backtrace: Option<Vec<u64>>,
}

impl Call {
    /// Returns the bytes of text that it holds.
    fn text_len(&self) -> usize {
        let texts = self.arguments.iter().flatten().chain(&self.result);
        texts.map(String::len).fold(0, usize::saturating_add)
    }
}

/// Takes the properties and the calls of a trace.
pub(super) trait CallSink {
    /// Takes a property of the header.
    fn property(&mut self, name: &[u8], value: &[u8]);
    /// Takes a call that is over, with the definitions up to it; false if no more is wanted.
    fn call(&mut self, call: &Call, names: &Names) -> bool;
}

/// The value that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Argument(u64),
    Result,
}

/// The value that is being read, and its text.
struct OpenValue {
    slot: Slot,
    text: ValueText,
}

/// Calls that were entered and not left.
struct OpenCalls {
    calls: BTreeMap<u64, Call>,
    /// Bytes of text that they hold.
    text: usize,
    /// Bytes of text that they may hold.
    text_max: usize,
}

impl OpenCalls {
    fn add(&mut self, call: Call) {
        self.text = self.text.saturating_add(call.text_len());
        self.calls.insert(call.number, call);
    }

    fn take(&mut self, number: u64) -> Option<Call> {
        let call = self.calls.remove(&number)?;
        self.text = self.text.saturating_sub(call.text_len());
        Some(call)
    }
}

/// Makes calls from the tokens of a stream.
pub(super) struct CallReader<'c> {
    /// The number of the next call.
    next: u64,
    /// Values of which text was left out.
    pub(super) cut: u64,
    /// Whether no more calls are wanted.
    is_done: bool,
    known: Known,
    open: OpenCalls,
    current: Option<Call>,
    value: OpenValue,
    /// The name of the property whose value comes next.
    property: Vec<u8>,
    sink: &'c mut dyn CallSink,
}

impl<'c> CallReader<'c> {
    /// A reader that passes calls to `sink` and holds at most `text_max` bytes of their text.
    pub(super) fn new(text_max: usize, is_literal: bool, sink: &'c mut dyn CallSink) -> Self {
        Self {
            next: 0,
            cut: 0,
            is_done: false,
            known: Known::new(),
            open: OpenCalls { calls: BTreeMap::new(), text: 0, text_max },
            current: None,
            value: OpenValue { slot: Slot::Result, text: ValueText::new(is_literal) },
            property: Vec::new(),
            sink,
        }
    }

    fn pass(&mut self, call: &Call) {
        self.is_done |= !self.sink.call(call, &self.known.names);
    }

    fn begin_value(&mut self, slot: Slot) {
        self.value.slot = slot;
        self.value.text.clear();
        self.value.text.max = self.open.text_max.saturating_sub(self.open.text);
    }

    fn end_value(&mut self) {
        let Some(call) = &mut self.current else { return };
        self.cut = self.cut.saturating_add(u64::from(self.value.text.is_cut));
        let text = std::mem::take(&mut self.value.text.text);
        match self.value.slot {
            Slot::Result => call.result = Some(text),
            Slot::Argument(index) if index > LOST_ARGUMENT_MAX => {}
            Slot::Argument(index) => {
                let index = to_usize(index);
                if call.arguments.len() <= index {
                    call.arguments.resize(index.saturating_add(1), None);
                }
                if let Some(cell) = call.arguments.get_mut(index) {
                    *cell = Some(text);
                }
            }
        }
    }
}

impl StreamReader for CallReader<'_> {
    fn add_lost(&mut self, space: Space, id: u64, count: u64, raw: &[u8]) {
        self.known.add_lost((space, id), count, raw);
    }

    fn set_version(&mut self, version: u64) {
        self.known.version = version;
    }

    fn skip_to(&mut self, next: u64) {
        // Of an event that is not complete only the enter before it is left.
        if let Some(call) = self.current.take().filter(|call| call.enter.1 > 0) {
            self.open.add(Call { is_complete: false, ..call });
        }
        self.next = next;
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    /// Passes the calls that were never left.
    fn finish(&mut self) {
        self.current = None;
        while let Some((_, call)) = self.open.calls.pop_first() {
            if self.is_done {
                return;
            }
            self.pass(&call);
        }
    }
}

impl TokenSink for CallReader<'_> {
    fn known(&mut self, space: Space, id: u64) -> Result<Option<u64>, StreamError> {
        Ok(self.known.item_count(space, id))
    }

    fn version(
        &mut self,
        version: u64,
        _semantic: Option<u64>,
        _at: u64,
        _end: u64,
    ) -> Result<(), StreamError> {
        self.known.version = version;
        Ok(())
    }

    fn property(
        &mut self,
        text: &[u8],
        is_name: bool,
        _at: u64,
        _end: u64,
    ) -> Result<(), StreamError> {
        match is_name {
            true => self.property = text.to_vec(),
            false => self.sink.property(&self.property, text),
        }
        Ok(())
    }

    fn enter(&mut self, at: u64, thread: u64, function: u64) -> Result<(), StreamError> {
        let call = Call { number: self.next, thread, function, enter: (at, 0), ..Call::default() };
        self.next = self.next.saturating_add(1);
        self.current = Some(call);
        Ok(())
    }

    fn leave(&mut self, _at: u64, number: u64) -> Result<(), StreamError> {
        let call = self.open.take(number);
        self.current = call.map(|call| Call { is_complete: true, ..call });
        Ok(())
    }

    fn detail(&mut self, _at: u64, index: Option<u64>) -> Result<(), StreamError> {
        self.begin_value(index.map_or(Slot::Result, Slot::Argument));
        Ok(())
    }

    fn detail_end(&mut self, _end: u64) {
        self.end_value();
    }

    fn end(&mut self, end: u64) -> Result<(), StreamError> {
        let Some(mut call) = self.current.take() else { return Ok(()) };
        if call.is_complete {
            self.pass(&call);
        } else {
            call.enter.1 = end;
            self.open.add(call);
        }
        // Any error ends the run.
        if self.is_done { Err(StreamError::InconsistentCalls) } else { Ok(()) }
    }

    fn define(&mut self, _space: Space, _id: u64, _at: u64) {
        self.known.raw.clear();
    }

    fn part(&mut self, raw: &[u8]) {
        self.known.raw.extend_from_slice(raw);
    }

    fn defined(&mut self, space: Space, id: u64, _count: u64) -> Result<(), StreamError> {
        self.known.add(space, id);
        Ok(())
    }

    fn value(&mut self, token: ValueToken<'_>) {
        if let (ValueToken::Blob(len), Some(call), Slot::Argument(index)) =
            (token, &mut self.current, self.value.slot)
        {
            call.blobs.places.push((index, len));
        }
        if let (ValueToken::Bytes(bytes), Some(call)) = (token, &mut self.current) {
            call.blobs.crc.update(bytes);
        }
        self.value.text.add(token, &self.known.names);
    }

    fn flags(&mut self, flags: u64) {
        if let Some(call) = &mut self.current {
            call.is_fake |= flags & FLAG_FAKE != 0;
        }
    }

    fn frame(&mut self, id: u64) {
        if let Some(call) = &mut self.current {
            call.backtrace.get_or_insert_default().push(id);
        }
    }
}
