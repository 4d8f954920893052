//! Stacks of open states, and marks.

use super::reported::is_first;
use super::{ThreadCheck, TraceContext};
use crate::formats::ovni::check::shared_event::SharedEffect;
use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::layout::{
    self, MARK_TYPES, MarkStep, STACK_MAX, Stack, TASK_BODY, TASK_STACKS,
};
use crate::formats::ovni::repair::encode::EventWriter;
use crate::formats::ovni::rules;
use crate::formats::ovni::state::thread::{MarkUse, display_state};

impl ThreadCheck<'_, '_> {
    /// Opens a state; returns whether the event counts.
    pub(super) fn push_state(&mut self, event: &Event<'_>, stack: Stack, state: u16) -> bool {
        let open = self.status.stack(stack);
        let is_repeated = open.last() == Some(&state) && !stack.allows_repeat();
        if open.len() >= STACK_MAX {
            self.report_too_deep(event, stack);
            return false;
        }
        if is_repeated && !self.close_repeated(event, stack, state) {
            return false;
        }
        if let Some(open) = self.status.stacks.get_mut(stack.index()) {
            open.push(state);
        }
        self.note_change();
        true
    }

    /// Reports the first of some states beyond the depth of a stack.
    #[cold]
    fn report_too_deep(&mut self, event: &Event<'_>, stack: Stack) {
        if self.reported.too_deep.get_mut(stack.index()).is_some_and(is_first) {
            let name = stack.name();
            let message = format!(
                "too many {name} states: {} exceeds the depth of {STACK_MAX}",
                event.name()
            );
            self.push_finding(&rules::STACK_MISMATCH, event, "", message);
        }
    }

    /// Reports a state that is opened inside itself; returns whether the event counts.
    #[cold]
    fn close_repeated(&mut self, event: &Event<'_>, stack: Stack, state: u16) -> bool {
        let (code, name) = (event.name(), stack.name());
        let message = format!("unexpected {code}: the same {name} state is open already");
        if let Some(counts) = self.bridge_before((&rules::STACK_MISMATCH, ""), event, &message) {
            return counts;
        }
        let mut lost = self.writer();
        if let Some(closer) = layout::closer(stack, state).filter(|_| state != TASK_BODY) {
            lost.put(&closer.code, &[]);
        }
        let counts = self.report_contradiction((&rules::STACK_MISMATCH, ""), event, message, lost);
        if counts && let Some(open) = self.status.stacks.get_mut(stack.index()) {
            open.pop();
        }
        counts
    }

    /// Closes a state; returns whether the event counts.
    pub(super) fn pop_state(&mut self, event: &Event<'_>, stack: Stack, state: u16) -> bool {
        let Some(open) = self.status.stacks.get_mut(stack.index()) else { return false };
        if open.last() == Some(&state) {
            open.pop();
        } else if !self.pop_other_state(event, stack, state) {
            return false;
        }
        if let Some(flag) = self.reported.too_deep.get_mut(stack.index()) {
            *flag = false;
        }
        self.note_change();
        true
    }

    /// Closes a state that is not the innermost one: either those inside it were not closed, or it
    /// was not opened.
    #[cold]
    fn pop_other_state(&mut self, event: &Event<'_>, stack: Stack, state: u16) -> bool {
        let open = self.status.stack(stack).to_vec();
        let closed = display_state(stack, state);
        let (code, name) = (event.name(), stack.name());
        let message = match open.last() {
            Some(innermost) => {
                let innermost = display_state(stack, *innermost);
                format!("{code} closes {closed}, but the innermost {name} state is {innermost}")
            }
            None => format!("{code} closes {closed}, but no {name} state is open"),
        };
        if let Some(counts) = self.bridge_before((&rules::STACK_MISMATCH, ""), event, &message) {
            let open = self.status.stacks.get_mut(stack.index()).filter(|_| counts);
            return open.is_some_and(|open| open.pop_if(|top| *top == state).is_some());
        }
        let mut lost = self.writer();
        let depth = open.iter().rposition(|value| *value == state);
        let table = TASK_STACKS.iter().position(|shown| *shown == Some(stack));
        let bodies = table.map_or(&[][..], |table| self.status.bodies(table));
        let mut left = bodies.len();
        let inner = depth.map_or(open.len(), |depth| depth.saturating_add(1));
        for value in open.iter().skip(inner).rev() {
            if *value != TASK_BODY {
                layout::closer(stack, *value).into_iter().for_each(|row| lost.put(&row.code, &[]));
            } else if let Some(table) = table {
                left = left.saturating_sub(1);
                bodies.get(left).into_iter().for_each(|body| lost.close_body(table, body));
            }
        }
        if depth.is_none() && state != TASK_BODY {
            let [category, value] = state.to_be_bytes();
            lost.put(&[stack.model_code(), category, value], &[]);
        }
        let counts = self.report_contradiction((&rules::STACK_MISMATCH, ""), event, message, lost);
        if counts {
            self.close_inner(event, (stack, depth), (table, left));
        }
        counts
    }

    /// Closes the states above `depth` as added events do, the bodies among them included.
    fn close_inner(
        &mut self,
        event: &Event<'_>,
        (stack, depth): (Stack, Option<usize>),
        (table, left): (Option<usize>, usize),
    ) {
        if let (Some(depth), Some(open)) = (depth, self.status.stacks.get_mut(stack.index())) {
            open.truncate(depth);
        }
        let Some(table) = table else { return };
        let Some(bodies) = self.status.bodies.get_mut(table) else { return };
        for body in bodies.split_off(left.min(bodies.len())) {
            self.queue_event(event, table, SharedEffect::EndBody(body.task, body.body));
        }
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
            self.report_wrong_event((&rules::BAD_ARGUMENT, "value"), event, message);
            return;
        }
        if !self.check_mark_type(event, step, kind, context) {
            return;
        }
        if self.status.marks.len() >= context.limits.kinds && !self.status.marks.contains_key(&kind)
        {
            return;
        }
        let mut lost = self.writer();
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
            MarkStep::Pop => pop_value(values, value, kind, &mut lost),
        };
        if let Some(message) = message {
            self.report_contradiction((&rules::STACK_MISMATCH, "value"), event, message, lost);
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
        if !(0..MARK_TYPES).contains(&i64::from(kind)) {
            let highest = MARK_TYPES.saturating_sub(1);
            let message = format!("type of {} is {kind}, expected 0 to {highest}", event.name());
            self.report_wrong_event((&rules::BAD_ARGUMENT, "type"), event, message);
            return false;
        }
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
                self.report_wrong_event((&rules::MARK_KIND, "type"), event, message);
                false
            }
            _ => true,
        }
    }
}

/// Pops a value of a mark; returns the fault, and adds what was lost before it.
fn pop_value(
    values: &mut Vec<i64>,
    value: i64,
    kind: i32,
    lost: &mut EventWriter,
) -> Option<String> {
    let innermost = values.last().copied();
    let payload = |value: i64| [&value.to_le_bytes()[..], &kind.to_le_bytes()].concat();
    if let Some(depth) = values.iter().rposition(|open| *open == value) {
        for inner in values.iter().skip(depth.saturating_add(1)).rev() {
            lost.put(b"OM]", &payload(*inner));
        }
        values.truncate(depth);
    } else {
        lost.put(b"OM[", &payload(value));
    }
    match innermost {
        Some(innermost) if innermost == value => None,
        Some(innermost) => Some(format!(
            "OM] pops {value} from mark {kind}, but the innermost value is {innermost}"
        )),
        None => Some(format!("OM] pops {value} from mark {kind}, but no value is open")),
    }
}
