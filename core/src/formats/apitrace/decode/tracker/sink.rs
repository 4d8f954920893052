//! Takes the tokens of the parser.

use super::StreamTracker;
use super::events::{CurrentEvent, EventEffect, RecentEvent};
use super::warnings::WarningKind;
use crate::formats::apitrace::decode::definitions::KnownId;
use crate::formats::apitrace::decode::grammar::{
    PlainEvent, PlainUse, Space, StreamError, SymbolUse, TokenSink, TokenWarning, Unlisted,
    ValueToken,
};
use crate::formats::apitrace::decode::names::{self, TextForm};
use crate::formats::apitrace::decode::repeats::{FirstUse, Number, Position};
use crate::formats::apitrace::decode::usage::results::Conversion;
use crate::formats::apitrace::decode::usage::shape::Shape;
use crate::formats::apitrace::layout::{
    PLACEHOLDER_ID, PROPERTIES_MAX, PROPERTY_NAME_MAX, THREAD_MAX, VERSION_MAX, VERSION_PLAUSIBLE,
};
use crate::formats::apitrace::limits::{DEFINITIONS, OPEN_CALLS};
use crate::kit::num::to_u64;

/// Unlisted values that are reported.
const UNLISTED_MAX: usize = 1 << 10;
impl TokenSink for StreamTracker {
    const TAKES_EVENTS: bool = true;

    #[inline(always)]
    fn event(&mut self, event: &PlainEvent, uses: &[PlainUse<'_>]) -> bool {
        self.add_plain_event(event, uses)
    }

    #[inline(always)]
    fn call(&mut self, enter: &PlainEvent, leave: (u64, u64), uses: &[PlainUse<'_>]) -> bool {
        self.add_plain_call(enter, leave, uses)
    }

    #[inline(always)]
    fn next_call(&self) -> u64 {
        self.calls.next
    }

    #[inline(always)]
    fn takes_symbols(&self, function: u64) -> bool {
        self.values.repeats.takes_symbols(function)
    }

    #[inline(always)]
    fn takes_numbers(&self, function: u64) -> bool {
        self.values.repeats.takes_numbers(function)
    }

    #[inline(always)]
    fn is_defined(&self, space: Space, id: u64) -> bool {
        self.definitions.known(space, id).is_some_and(|known| !known.lost)
    }

    #[inline]
    fn known(&mut self, space: Space, id: u64) -> Result<Option<u64>, StreamError> {
        let known = self.definitions.known(space, id);
        if known.is_some_and(|known| known.lost) {
            self.lost_definitions.add_use(space, id);
        }
        Ok(known.map(|known| known.count))
    }

    fn version(
        &mut self,
        version: u64,
        semantic: Option<u64>,
        at: u64,
        end: u64,
    ) -> Result<(), StreamError> {
        self.header.version = Some((version, semantic));
        self.header.span = (at, end);
        (self.header.sound_end, self.header.has_sound_properties) = (end, true);
        // The second of the two versions shows that the first one is damaged.
        let is_damaged = version > VERSION_PLAUSIBLE && semantic == Some(VERSION_MAX);
        let is_known = version <= VERSION_MAX || is_damaged;
        if is_known { Ok(()) } else { Err(StreamError::Version(version)) }
    }

    fn property(
        &mut self,
        text: &[u8],
        is_name: bool,
        at: u64,
        end: u64,
    ) -> Result<(), StreamError> {
        let has_control = names::name_form(text) == names::NameForm::Control;
        if is_name {
            self.header.properties = self.header.properties.saturating_add(1);
            let is_long = to_u64(text.len()) > PROPERTY_NAME_MAX;
            if has_control || is_long || self.header.properties > PROPERTIES_MAX {
                return Err(StreamError::Properties);
            }
            return Ok(());
        }
        if text.contains(&0) {
            self.warn_about(WarningKind::Property, at, end, None);
        }
        if !has_control && self.header.has_sound_properties {
            self.header.sound_end = end;
        } else {
            self.header.has_sound_properties = false;
        }
        Ok(())
    }

    #[inline]
    fn enter(&mut self, at: u64, thread: u64, function: u64) -> Result<(), StreamError> {
        if thread >= self.calls.threads {
            self.add_thread(thread)?;
        }
        let known = self.definitions.known(Space::Function, function);
        let is_nested = self.calls.has_open_call(thread);
        let definitions_before = self.definitions.mark();
        let open = self.calls.enter(thread, function);
        let is_placeholder = u64::from(function == PLACEHOLDER_ID);
        self.calls.placeholders = self.calls.placeholders.saturating_add(is_placeholder);
        let effect = EventEffect::Enter(open);
        self.history.current =
            Some(CurrentEvent::new(at, effect, is_nested, definitions_before, known));
        if self.calls.open_count() > self.caps.open_calls {
            return Err(StreamError::Limit(&OPEN_CALLS, self.caps.open_calls));
        }
        Ok(())
    }

    #[inline]
    fn leave(&mut self, at: u64, number: u64) -> Result<(), StreamError> {
        let open = self.calls.leave(number);
        let known = open.and_then(|open| self.definitions.known(Space::Function, open.function));
        let effect = EventEffect::Leave { number, open };
        let definitions_before = self.definitions.mark();
        self.history.current =
            Some(CurrentEvent::new(at, effect, false, definitions_before, known));
        match open {
            Some(open) => self.leave_open_call(open),
            None => self.leave_unknown_call(at, number),
        }
    }

    #[inline]
    fn detail(&mut self, at: u64, index: Option<u64>) -> Result<(), StreamError> {
        let Some(current) = &mut self.history.current else { return Ok(()) };
        current.detail_at = at;
        current.argument = index;
        if let (None, EventEffect::Leave { open: Some(open), .. }) = (index, current.event.effect) {
            current.conversion = self.values.usage.results.conversion(open.function);
        }
        let is_known = !current.is_lost;
        if let (Some(index), Some(count), true) = (index, current.argument_count, is_known)
            && index >= count
        {
            current.invalid_index = Some(index);
            return Ok(());
        }
        let ascends = current.shape.add(index);
        let (Some(index), Some(_)) = (index, current.argument_count) else { return Ok(()) };
        if current.is_lost {
            return match current.event.effect {
                EventEffect::Enter(open) | EventEffect::Leave { open: Some(open), .. } => {
                    self.lost_definitions.add_argument(open.function, index)
                }
                EventEffect::Leave { open: None, .. } => Ok(()),
            };
        }
        if !ascends && self.values.usage.add_disorder() {
            self.warn_about(WarningKind::ArgumentOrder(index), at, at.saturating_add(2), None);
        }
        Ok(())
    }

    #[inline(always)]
    fn detail_end(&mut self, end: u64) {
        let Some(current) = &mut self.history.current else { return };
        if current.invalid_index.is_some() || self.warnings.has_pending() {
            self.end_unusual_detail(end);
        } else {
            current.argument = None;
        }
    }

    #[inline]
    fn end(&mut self, end: u64) -> Result<(), StreamError> {
        let Some(current) = &self.history.current else { return Ok(()) };
        // Field by field: a copy of the whole would wait for the writes of its parts.
        let RecentEvent {
            start,
            effect,
            has_warning,
            is_nested,
            has_long_string,
            definitions_before,
            ..
        } = current.event;
        let (shape, is_lost) = (current.shape, current.is_lost);
        let argument_count = current.argument_count.filter(|_| !is_lost);
        let defines = self.definitions.mark() > definitions_before;
        let mut is_partial = false;
        // Zeros look like enters without details. Others are legal, however many are never left.
        if let EventEffect::Enter(open) = effect
            && current.detail_at == start
            && !defines
        {
            is_partial = self.add_bare_enter(open, argument_count)?;
        }
        if let EventEffect::Leave { number, open: None } = effect {
            self.end_unknown_leave(number, (start, end), shape, defines)?;
        }
        self.lost_calls.add_event(effect, start, end);
        is_partial |= self.add_usage(effect, shape, (start, end));
        let leaves_call = matches!(effect, EventEffect::Leave { open: Some(_), .. });
        let is_row = self.history.stray_leaves_in_a_row > 0 || self.history.overlaps.is_in_row();
        let is_inside_out = is_row && leaves_call;
        self.history.current = None;
        if self.warnings.has_pending() {
            let missing = self.find_missing_argument(effect, shape, argument_count);
            self.warnings.end_event(start, end, missing);
            self.settle_warnings(false);
        }
        if self.lost_definitions.is_used() {
            self.lost_definitions.end_use(match effect {
                EventEffect::Enter(open) | EventEffect::Leave { open: Some(open), .. } => {
                    Some(open.number)
                }
                EventEffect::Leave { open: None, .. } => None,
            });
        }
        self.history.push(RecentEvent {
            start,
            effect,
            has_warning,
            is_nested,
            is_inside_out,
            has_long_string,
            is_partial,
            definitions_before,
        });
        Ok(())
    }

    fn define(&mut self, _space: Space, _id: u64, at: u64) {
        self.open_definition.raw.clear();
        self.open_definition.at = at;
    }

    fn part(&mut self, raw: &[u8]) {
        if self.definitions.keeps_raw() {
            self.open_definition.raw.extend_from_slice(raw);
        }
    }

    fn name(&mut self, space: Space, name: &[u8], own: bool) -> Result<(), StreamError> {
        // Zeros look like calls of a function without a name.
        let is_nameless = own && space == Space::Function && name.is_empty();
        let is_doubted = self.history.is_after_damage && !names::is_believable(space, name);
        match is_nameless || is_doubted {
            true => Err(StreamError::Name(space)),
            false => Ok(()),
        }
    }

    fn defined(&mut self, space: Space, id: u64, count: u64) -> Result<(), StreamError> {
        if self.definitions.len() >= self.caps.definitions {
            return Err(StreamError::Limit(&DEFINITIONS, self.caps.definitions));
        }
        self.definitions.add(space, id, KnownId { count, lost: false });
        if space == Space::Function
            && let Some(current) = &mut self.history.current
        {
            current.argument_count = Some(count);
        }
        if self.definitions.keeps_raw() {
            let raw = std::mem::take(&mut self.open_definition.raw);
            self.values.listed.add(space, id, &raw);
            if space == Space::Function {
                self.values.usage.add_function(id, &raw);
            }
            self.definitions.add_raw(space, id, raw);
            self.definitions.set_place(space, id, self.open_definition.at);
        }
        Ok(())
    }

    #[inline]
    fn judge(&self, symbol: SymbolUse) -> Option<Unlisted> {
        let SymbolUse { space, id, is_negative, value } = symbol;
        self.values.listed.judge(space, id, is_negative, value)
    }

    fn warn(&mut self, warning: TokenWarning, at: u64, end: u64) {
        // Each value is reported where it is used first.
        if let TokenWarning::Unlisted(symbol, _) = warning {
            let is_new = self.values.unlisted.insert((symbol.space, symbol.id, symbol.value));
            if !is_new || self.values.unlisted.len() > UNLISTED_MAX {
                return;
            }
        }
        let part = match (warning, &self.history.current) {
            (TokenWarning::ThreadDetail, _) => Some((at, end)),
            (TokenWarning::EnumValue(_), Some(current)) => {
                Some((current.detail_at, current.detail_at))
            }
            _ => None,
        };
        self.warn_about(WarningKind::Token(warning), at, end, part);
    }

    fn text(&mut self, text: &[u8], at: u64) {
        let end = at.saturating_add(to_u64(text.len()));
        match names::text_form(text) {
            TextForm::Blob => self.warn_about(WarningKind::BlobText, at, end, None),
            TextForm::Invalid => self.warn_about(WarningKind::InvalidText, at, end, None),
            TextForm::Plain => {
                if let Some((_, first)) = self.use_at(at, end) {
                    self.values.repeats.add_text(text, first);
                }
            }
        }
    }

    #[inline(always)]
    fn value_type(&mut self, tag: u8, id: u64) {
        if let Some(current) = &mut self.history.current {
            current.shape.set_type(current.argument, tag, id);
        }
    }

    #[inline]
    fn address(&mut self, value: u64, at: u64, end: u64) {
        if let Some((position, first)) = self.use_at(at, end) {
            self.values.repeats.add_address(position, value, first);
        }
    }

    #[inline]
    fn symbol(&mut self, symbol: SymbolUse, at: u64, end: u64) {
        let Some((position, first)) = self.use_at(at, end) else { return };
        if self.values.repeats.takes_symbols(position.function) {
            self.values.repeats.add_symbol(position, symbol.value, first);
        }
    }

    #[inline]
    fn number(&mut self, number: Number, at: u64, end: u64) {
        let Some((position, first)) = self.use_at(at, end) else { return };
        if self.values.repeats.takes_numbers(position.function) {
            self.values.repeats.add_number(position, number, first);
        }
    }

    #[inline(always)]
    fn value(&mut self, token: ValueToken<'_>) {
        let conversion = self.history.current.as_mut().and_then(|one| one.conversion.take());
        if let Some(conversion) = conversion.filter(|conversion| !conversion.takes(token)) {
            self.warn_about_result(conversion);
        }
    }

    fn long_string(&mut self, _len: u64, _at: u64) {
        if let Some(current) = &mut self.history.current {
            current.event.has_long_string = true;
        }
    }
}

impl StreamTracker {
    /// Returns where the value is that is read now.
    #[inline(always)]
    fn use_at(&self, at: u64, end: u64) -> Option<(Position, FirstUse)> {
        let current = self.history.current.as_ref()?;
        let argument = current.argument;
        let (open, is_output) = match current.event.effect {
            EventEffect::Enter(open) => (open, false),
            EventEffect::Leave { open: Some(open), .. } => (open, true),
            EventEffect::Leave { open: None, .. } => return None,
        };
        let position = Position { function: open.function, argument, is_output };
        Some((position, FirstUse { call: open.number, argument, at, end }))
    }

    /// Adds the event at `at.0..at.1` to the uses of its function. Returns whether it is an enter
    /// that lacks an argument which others have: no tracer writes that.
    #[inline(always)]
    pub(super) fn add_usage(&mut self, effect: EventEffect, shape: Shape, at: (u64, u64)) -> bool {
        let (open, is_leave) = match effect {
            EventEffect::Enter(open) => (open, false),
            EventEffect::Leave { open: Some(open), .. } => (open, true),
            EventEffect::Leave { open: None, .. } => return false,
        };
        if !is_leave {
            self.history.latest_enter = shape;
        }
        let first = FirstUse { call: open.number, argument: None, at: at.0, end: at.1 };
        self.values.usage.shapes.add(open.function, is_leave, shape, first)
    }

    /// Returns the only argument that an event lacks, of those that its function has.
    #[cold]
    fn find_missing_argument(
        &self,
        effect: EventEffect,
        shape: Shape,
        count: Option<u64>,
    ) -> Option<u64> {
        let (EventEffect::Enter(open) | EventEffect::Leave { open: Some(open), .. }) = effect
        else {
            return None;
        };
        let is_leave = matches!(effect, EventEffect::Leave { .. });
        self.values.usage.shapes.find_missing(open.function, is_leave, shape, count?)
    }

    /// Warns about a result whose value begins here and cannot be converted.
    #[cold]
    fn warn_about_result(&mut self, conversion: Conversion) {
        let at = self.history.current.map_or(0, |current| current.detail_at);
        let end = at.saturating_add(2);
        self.warn_about(WarningKind::Result(conversion), at, end, Some((at, at)));
    }

    /// Ends a detail with an invalid index, or after warnings.
    #[cold]
    fn end_unusual_detail(&mut self, end: u64) {
        let Some(current) = &mut self.history.current else { return };
        if let Some(index) = current.invalid_index.take() {
            let (at, count) = (current.detail_at, current.argument_count.unwrap_or(0));
            let kind = WarningKind::ArgumentIndex { index, count, missing: None };
            self.warn_about(kind, at, end, Some((at, end)));
        }
        let Some(current) = &mut self.history.current else { return };
        self.warnings.end_detail(current.event.start, current.detail_at, end);
        current.argument = None;
    }

    /// Adds a thread with a number that was not seen before.
    #[cold]
    fn add_thread(&mut self, thread: u64) -> Result<(), StreamError> {
        // Threads are numbered as they come; a trimmed trace may leave some out. Where the
        // beginning is lost, the first one may be any.
        let is_gap = self.calls.threads > 0 && thread > self.calls.threads.saturating_add(1);
        if thread > THREAD_MAX || (is_gap && self.history.is_after_damage) {
            return Err(StreamError::Thread(thread));
        }
        self.calls.threads = thread.saturating_add(1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::limits::Limits;

    #[test]
    fn a_name_of_a_property_that_is_too_long_is_refused() {
        let property = |len: u64| {
            let name = vec![b'a'; crate::kit::num::to_usize(len)];
            StreamTracker::new(&Limits::default(), false).property(&name, true, 2, 2 + len)
        };
        assert_eq!(property(PROPERTY_NAME_MAX), Ok(()));
        assert_eq!(property(PROPERTY_NAME_MAX + 1), Err(StreamError::Properties));
    }
}
