//! Stacks of open states, and marks.

use super::{ThreadCheck, TraceContext};
use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::layout::{MarkStep, STACK_MAX, Stack};
use crate::formats::ovni::rules;
use crate::formats::ovni::state::thread::{MarkUse, display_state};

impl ThreadCheck<'_, '_> {
    /// Opens a state.
    pub(super) fn push_state(&mut self, event: &Event<'_>, stack: Stack, state: u16) {
        let Some(open) = self.status.stacks.get_mut(stack.index()) else { return };
        let is_repeated = open.last() == Some(&state) && !stack.allows_repeat();
        let is_full = open.len() >= STACK_MAX;
        if !is_full {
            open.push(state);
        }
        if is_full {
            let name = stack.name();
            let message = format!(
                "too many {name} states: {} exceeds the depth of {STACK_MAX}",
                event.name()
            );
            self.push_finding(&rules::STACK_MISMATCH, event, "", message);
        } else if is_repeated {
            let message = format!(
                "unexpected {}: the same {} state is open already",
                event.name(),
                stack.name()
            );
            self.push_finding(&rules::STACK_MISMATCH, event, "", message);
        }
        self.note_change();
    }

    /// Closes a state.
    pub(super) fn pop_state(&mut self, event: &Event<'_>, stack: Stack, state: u16) {
        let Some(open) = self.status.stacks.get_mut(stack.index()) else { return };
        if open.last() == Some(&state) {
            open.pop();
        } else {
            self.pop_other_state(event, stack, state);
        }
        self.note_change();
    }

    /// Closes a state that is not the innermost one.
    #[cold]
    fn pop_other_state(&mut self, event: &Event<'_>, stack: Stack, state: u16) {
        let Some(open) = self.status.stacks.get_mut(stack.index()) else { return };
        let innermost = open.last().copied();
        if let Some(depth) = open.iter().rposition(|value| *value == state) {
            open.truncate(depth);
        }
        let closed = display_state(stack, state);
        let (code, name) = (event.name(), stack.name());
        let message = match innermost {
            Some(innermost) => {
                let innermost = display_state(stack, innermost);
                format!("{code} closes {closed}, but the innermost {name} state is {innermost}")
            }
            None => format!("{code} closes {closed}, but no {name} state is open"),
        };
        self.push_finding(&rules::STACK_MISMATCH, event, "", message);
    }

    /// Notes that something has changed which is closed at the end of the thread.
    #[inline]
    pub(super) const fn note_change(&mut self) {
        if let Some(end) = &mut self.status.end {
            end.is_final = false;
        }
    }

    /// OM[, OM] and OM=.
    pub(super) fn take_mark(&mut self, event: &Event<'_>, step: MarkStep, context: &TraceContext) {
        let (value, kind) = (event.i64_at(0), event.i32_at(8));
        if value == 0 {
            let message =
                format!("value of {} for mark {kind} is 0, expected another", event.name());
            self.push_finding(&rules::BAD_ARGUMENT, event, "value", message);
        }
        if !self.check_mark_type(event, step, kind, context) {
            return;
        }
        if self.status.marks.len() >= context.limits.kinds && !self.status.marks.contains_key(&kind)
        {
            return;
        }
        let values = self.status.marks.entry(kind).or_default();
        let message = match step {
            MarkStep::Set => None,
            MarkStep::Push if values.len() >= STACK_MAX => Some(format!(
                "too many values: OM[ exceeds the depth of {STACK_MAX} of mark {kind}"
            )),
            MarkStep::Push => {
                values.push(value);
                None
            }
            MarkStep::Pop => pop_value(values, value, kind),
        };
        if let Some(message) = message {
            self.push_finding(&rules::STACK_MISMATCH, event, "value", message);
        }
    }

    /// Checks that a mark type is defined, and used as defined; returns whether its value counts.
    fn check_mark_type(
        &mut self,
        event: &Event<'_>,
        step: MarkStep,
        kind: i32,
        context: &TraceContext,
    ) -> bool {
        let is_stack = step != MarkStep::Set;
        match context.marks.get(&kind) {
            None if context.has_metadata => {
                let place = self.place_of(event);
                if self.usage.undefined_marks.len() < context.limits.kinds {
                    let used = MarkUse { place, is_stack };
                    self.usage.undefined_marks.entry(kind).or_insert(used);
                }
                true
            }
            Some(defined) if *defined != is_stack => {
                let (defined, event_kind) =
                    if *defined { ("a stack", "a single value") } else { ("single", "a stack") };
                let message =
                    format!("{} is for {event_kind}, but mark {kind} is {defined}", event.name());
                self.push_finding(&rules::MARK_KIND, event, "type", message);
                false
            }
            _ => true,
        }
    }
}

/// Pops a value of a mark; returns the fault.
fn pop_value(values: &mut Vec<i64>, value: i64, kind: i32) -> Option<String> {
    let innermost = values.last().copied();
    if let Some(depth) = values.iter().rposition(|open| *open == value) {
        values.truncate(depth);
    }
    match innermost {
        Some(innermost) if innermost == value => None,
        Some(innermost) => Some(format!(
            "OM] pops {value} from mark {kind}, but the innermost value is {innermost}"
        )),
        None => Some(format!("OM] pops {value} from mark {kind}, but no value is open")),
    }
}
