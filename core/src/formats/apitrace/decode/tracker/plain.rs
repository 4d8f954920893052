//! Takes complete events of plain values.
//!
//! The result is that of their tokens, which [`sink`](super::sink) takes. An event that is unusual
//! in any way is left to them.

use super::StreamTracker;
use super::events::{EventEffect, RecentEvent, most_unmatched};
use crate::formats::apitrace::decode::calls::OpenCall;
use crate::formats::apitrace::decode::grammar::{
    PlainEvent, PlainHead, PlainUse, Space, UsedValue,
};
use crate::formats::apitrace::decode::names::{TextForm, text_form};
use crate::formats::apitrace::decode::repeats::{FirstUse, Position};
use crate::formats::apitrace::decode::usage::results::Conversion;
use crate::formats::apitrace::layout::PLACEHOLDER_ID;

impl StreamTracker {
    /// Takes an event; returns false, with nothing changed, if it needs its tokens.
    #[inline(always)]
    pub(super) fn add_plain_event(&mut self, event: &PlainEvent, uses: &[PlainUse<'_>]) -> bool {
        let (open, is_leave) = match event.head {
            PlainHead::Enter { thread, function } => {
                (OpenCall { number: self.calls.next, thread, function }, false)
            }
            PlainHead::Leave { number } => match self.calls.latest_in_order() {
                Some(open) if open.number == number && !self.history.overlaps.is_in_row() => {
                    (open, true)
                }
                _ => return false,
            },
        };
        let has_result = is_leave && event.shape.has_result();
        let is_unconverted = has_result && self.needs_conversion(event, open.function);
        let is_usual = !is_unconverted && self.is_usual_event(event, open.function, uses);
        if !is_usual || (!is_leave && !self.is_usual_enter(event, open)) {
            return false;
        }
        self.add_uses((open, is_leave), uses);
        self.end_plain_event(event, (open, is_leave));
        true
    }

    /// Takes a call that is left at `leave.0..leave.1`, right after it was entered and without a
    /// value; returns false, with nothing changed, if it needs the two events one by one.
    #[inline(always)]
    pub(super) fn add_plain_call(
        &mut self,
        enter: &PlainEvent,
        leave: (u64, u64),
        uses: &[PlainUse<'_>],
    ) -> bool {
        let PlainHead::Enter { thread, function } = enter.head else { return false };
        let open = OpenCall { number: self.calls.next, thread, function };
        let is_usual = self.calls.is_next_in_order()
            && !self.warnings.has_pending()
            && !self.history.overlaps.is_in_row()
            && self.is_usual_event(enter, function, uses)
            && self.is_usual_enter(enter, open);
        if !is_usual {
            return false;
        }
        self.add_uses((open, false), uses);
        let is_nested = self.calls.has_open_call(thread);
        let definitions_before = self.definitions.mark();
        self.calls.enter_and_leave();
        self.history.reset_runs();
        let (begun, ended) = (
            EventEffect::Enter(open),
            EventEffect::Leave { number: open.number, open: Some(open) },
        );
        let at = |at, end| FirstUse { call: open.number, argument: None, at, end };
        let (enter_at, leave_at) = (at(enter.start, enter.end), at(leave.0, leave.1));
        let shapes = &mut self.values.usage.shapes;
        let is_partial = shapes.add_bare_call(function, enter.shape, enter_at, leave_at);
        let entered = RecentEvent::usual(enter.start, begun, is_nested, definitions_before);
        self.history.latest_enter = enter.shape;
        self.history.push(RecentEvent { is_partial, ..entered });
        self.history.push(RecentEvent::usual(leave.0, ended, false, definitions_before));
        true
    }

    /// Whether an event of a function needs no tokens, as far as enters and leaves are alike.
    #[inline(always)]
    fn is_usual_event(&self, event: &PlainEvent, function: u64, uses: &[PlainUse<'_>]) -> bool {
        let known = self.definitions.known(Space::Function, function);
        known.is_some_and(|known| !known.lost && event.index_end <= known.count)
            && !self.lost_definitions.is_used()
            && !self.lost_calls.is_made_up(event.start, event.end)
            && are_sound_texts(uses)
    }

    /// Whether the tokens have to show that apitrace can convert the result of a function.
    #[inline(always)]
    fn needs_conversion(&self, event: &PlainEvent, function: u64) -> bool {
        let conversion = self.values.usage.results.conversion(function);
        conversion.is_some_and(|conversion| {
            conversion == Conversion::Address || event.shape.has_result_without_number()
        })
    }

    /// Whether a call that begins is not unusual.
    #[inline(always)]
    fn is_usual_enter(&self, event: &PlainEvent, open: OpenCall) -> bool {
        let is_bare = event.shape.is_empty();
        open.thread < self.calls.threads
            && open.function != PLACEHOLDER_ID
            && self.calls.open_count() < self.caps.open_calls
            && (!is_bare || self.is_usual_bare_enter(open))
    }

    /// The same for a call without details.
    #[inline(always)]
    fn is_usual_bare_enter(&self, open: OpenCall) -> bool {
        let most = most_unmatched(self.calls.threads);
        let known = self.definitions.known(Space::Function, open.function);
        self.history.enters_in_a_row < most
            && !open.may_be_zeros()
            && known.is_some_and(|known| known.count == 0)
    }

    /// Counts the values of an event.
    #[inline(always)]
    fn add_uses(&mut self, (open, is_output): (OpenCall, bool), uses: &[PlainUse<'_>]) {
        let repeats = &mut self.values.repeats;
        for PlainUse { argument, at, end, value } in uses.iter().copied() {
            let first = FirstUse { call: open.number, argument, at, end };
            let position = Position { function: open.function, argument, is_output };
            match value {
                UsedValue::Address(address) => repeats.add_address(position, address, first),
                UsedValue::Symbol(symbol) => {
                    if repeats.takes_symbols(open.function) {
                        repeats.add_symbol(position, symbol.value, first);
                    }
                }
                UsedValue::Number(number) => {
                    if repeats.takes_numbers(open.function) {
                        repeats.add_number(position, number, first);
                    }
                }
                UsedValue::Text(text) => repeats.add_text(text, first),
            }
        }
    }

    #[inline(always)]
    fn end_plain_event(&mut self, event: &PlainEvent, (open, is_leave): (OpenCall, bool)) {
        let PlainEvent { start, end, shape, .. } = *event;
        let is_nested = !is_leave && self.calls.has_open_call(open.thread);
        let effect = if is_leave {
            self.calls.leave_latest();
            self.history.reset_runs();
            EventEffect::Leave { number: open.number, open: Some(open) }
        } else {
            self.calls.enter(open.thread, open.function);
            let bare = u64::from(shape.is_empty());
            self.history.enters_in_a_row = self.history.enters_in_a_row.saturating_add(bare);
            EventEffect::Enter(open)
        };
        let is_partial = self.add_usage(effect, shape, (start, end));
        if self.warnings.has_pending() {
            self.settle_warnings(false);
        }
        let definitions_before = self.definitions.mark();
        let event = RecentEvent::usual(start, effect, is_nested, definitions_before);
        self.history.push(RecentEvent { is_partial, ..event });
    }
}

/// Whether the texts of an event get no warning.
#[inline(always)]
fn are_sound_texts(uses: &[PlainUse<'_>]) -> bool {
    uses.iter().all(|one| match one.value {
        UsedValue::Text(text) => text_form(text) == TextForm::Plain,
        UsedValue::Address(_) | UsedValue::Symbol(_) | UsedValue::Number(_) => true,
    })
}

#[cfg(test)]
mod tests {
    use crate::formats::apitrace::decode::grammar::Parser;
    use crate::formats::apitrace::decode::tracker::StreamTracker;
    use crate::kit::num::to_u64;
    use crate::model::limits::Limits;

    /// A stream of version 6: definitions, and calls of them, some of which are unusual.
    fn stream() -> Vec<u8> {
        let mut bytes = b"\x06\x06\x00".to_vec();
        let mut call = 0_u8;
        let mut add = |enter: &[u8], leave: &[u8]| {
            bytes.extend([&[0, 0], enter, &[0, 1, call], leave, &[0]].concat());
            call += 1;
        };
        let address = b"\x0d\x80\x80\x80\x80\x05";
        let shared = b"\x09\x00\x04\x00";
        let defined = b"\x09\x00\x02\x01T\x04\x01\x01F\x04\x00\x04\x01";
        add(&[b"\x01\x07glClear\x01\x04mask\x01\x00".as_slice(), defined].concat(), b"");
        add(b"\x02\x0aglVertex3f\x03\x01x\x01y\x01z\x01\x00\x05abcd", b"");
        add(b"\x03\x0cglBufferData\x02\x04size\x04data\x01\x00\x04\x03\x01\x01\x08\x02xy", b"");
        for number in 0..20 {
            add(&[b"\x01\x01\x00".as_slice(), shared].concat(), b"");
            add(&[b"\x02\x01\x00".as_slice(), address].concat(), b"\x02\x04\x85\x01");
            add(
                b"\x02\x01\x00\x0b\x02\x05abcd\x06abcdefgh",
                &[b"\x02", shared.as_slice()].concat(),
            );
            add(b"\x02\x01\x00\x07\x0bGL_ARB_sync\x01\x02\x03\x07", b"\x02\x00");
            add(b"\x03\x01\x00\x04\x02\x01\x01\x08\x02xy", b"");
            // An argument twice, an unlisted value, a string that is not text, one too many.
            match number {
                5 => add(b"\x02\x01\x01\x00\x01\x01\x00", b""),
                6 => add(b"\x01\x01\x00\x09\x00\x04\x07", b""),
                7 => add(b"\x01\x01\x00\x07\x02\xff\xfe", b""),
                8 => add(b"\x01\x01\x07\x00", b""),
                _ => {}
            }
        }
        bytes
    }

    /// Reads the stream in pieces of `len` bytes, after those that are left, and shows the result.
    fn read(bytes: &[u8], len: usize) -> Vec<String> {
        let (mut parser, mut tracker) =
            (Parser::new(8), StreamTracker::new(&Limits::default(), true));
        let (mut read, mut end) = (0, 0);
        while end < bytes.len() {
            end = bytes.len().min(end + len);
            let (more, result) = parser.run(&bytes[read..end], to_u64(read), &mut tracker);
            assert_eq!(result, Ok(()));
            read += more;
        }
        assert_eq!(read, bytes.len());
        let StreamTracker { history, calls, values, warnings, .. } = tracker;
        assert_eq!(calls.next, 107);
        let rare = values.repeats.find_rare(std::iter::empty());
        let usage = (values.usage, warnings.ready, warnings.pending);
        let text = format!("{history:#?} {calls:#?} {usage:#?} {rare:#?}");
        // A blob at the end of the bytes at hand counts as a long one.
        text.lines().filter(|line| !line.contains("has_long_string")).map(str::to_string).collect()
    }

    #[test]
    fn a_complete_event_gives_the_same_as_its_tokens() {
        let bytes = stream();
        let by_tokens = read(&bytes, 1);
        for len in [2, 7, 50, bytes.len()] {
            let by_events = read(&bytes, len);
            let same = by_events.iter().zip(&by_tokens);
            let differs = same.enumerate().find(|(_, (one, other))| one != other);
            assert_eq!(differs, None, "pieces of {len}");
            assert_eq!(by_events.len(), by_tokens.len());
        }
    }
}
