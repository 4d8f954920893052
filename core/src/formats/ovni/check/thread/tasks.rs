//! Types, tasks and their bodies, worksharings and hardware counters.

use super::{ThreadCheck, TraceContext};
use crate::formats::ovni::check::shared_event::SharedEffect;
use crate::formats::ovni::decode::body::Body;
use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::layout::{
    self, EVENT_HEADER, Effect, LABEL_MAX, STACK_MAX, TASK_BODY, TASK_STACKS, TaskStep, model,
    task_table,
};
use crate::formats::ovni::repair::definitions::terminate_label;
use crate::formats::ovni::repair::{build_fix, drop_event};
use crate::formats::ovni::rules;
use crate::formats::ovni::state::thread::LabelSource;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::kit::walk::Item;
use crate::kit::words::{byte_count, plural};
use crate::model::edit::{Edit, Fix};

/// Task table of OpenMP.
const OPENMP_TABLE: usize = 2;
/// Events after one that are looked at.
const NEAR: usize = 64;

impl ThreadCheck<'_, '_> {
    /// VYc, 6Yc and POc.
    pub(super) fn define_type(&mut self, event: &Event<'_>, model: u8) {
        let Some(table) = task_table(model) else { return };
        let id = event.u32_at(0);
        let label = event.payload.get(4..).unwrap_or_default();
        let text = label.split(|byte| *byte == 0).next().unwrap_or_default();
        if id == 0 {
            let message = format!("typeid of {} is 0, expected above 0", event.name());
            self.report_wrong_event((&rules::BAD_ARGUMENT, "typeid"), event, message);
            return;
        }
        let is_complete = event.payload_len() == to_u64(event.payload.len());
        if text.len() == label.len() && is_complete {
            self.report_unterminated(event, label);
        }
        if text.len() >= LABEL_MAX {
            let message = format!(
                "label of type {id} has {}, expected less than {LABEL_MAX}",
                byte_count(to_u64(text.len()))
            );
            self.push_finding(&rules::LABEL_TOO_LONG, event, "label", message);
        }
        // Labels are compared, not kept; without one the emulator makes one from the id.
        let hash = if text.is_empty() { u64::from(id) } else { hash_label(text) };
        self.queue_event(event, table, SharedEffect::DefineType(id, hash));
    }

    #[cold]
    fn report_unterminated(&mut self, event: &Event<'_>, label: &[u8]) {
        let message = format!("label {:?} is unterminated: no NUL at its end", Untrusted(label));
        let mut finding = self.build_finding(&rules::LABEL_UNTERMINATED, event, "label", message);
        if let Some(edits) = terminate_label(self.layer(), event) {
            finding = finding.fix(build_fix("add a NUL to the label", edits).altered(1));
        }
        self.log.push(finding);
    }

    /// VTc, VTC, 6Tc and PPc.
    pub(super) fn create_task(&mut self, event: &Event<'_>, model: u8, is_parallel: bool) {
        let Some(table) = task_table(model) else { return };
        let (task, kind) = (event.u32_at(0), event.u32_at(4));
        if kind == 0 || model == model::OPENMP && task == 0 {
            let code = event.name();
            let message =
                format!("taskid of {code} is {task} and typeid is {kind}, expected both above 0");
            self.report_wrong_event((&rules::BAD_ARGUMENT, "taskid"), event, message);
            return;
        }
        self.queue_event(event, table, SharedEffect::CreateTask(task, kind, is_parallel));
    }

    /// Starts, ends, pauses or resumes the body of a task.
    pub(super) fn move_body(&mut self, event: &Event<'_>, model: u8, step: TaskStep) {
        let Some(table) = task_table(model) else { return };
        let body = Body::of(event, model);
        if body.task == 0 {
            let message = format!("taskid of {} is 0, expected above 0", event.name());
            self.report_wrong_event((&rules::BAD_ARGUMENT, "taskid"), event, message);
            return;
        }
        let body = if can_move(self.status.bodies(table), body, step, model) {
            body
        } else if let Some(body) = self.explain_body_step(event, (table, model), body, step) {
            body
        } else {
            return;
        };
        self.apply_body_step(event, (table, step), body);
    }

    /// Reports a step of a body that cannot move; returns the body that moves, if one does.
    #[cold]
    fn explain_body_step(
        &mut self,
        event: &Event<'_>,
        (table, model): (usize, u8),
        body: Body,
        step: TaskStep,
    ) -> Option<Body> {
        let body = match self.find_wrong_body(event, table, body, step) {
            Some(right) => {
                self.report_wrong_body(event, body, right);
                right
            }
            None => body,
        };
        if let Some((fault, mut steps)) = lost_steps(self.status.bodies(table), body, step, model) {
            let stack = TASK_STACKS.get(table).copied().flatten();
            let stack = stack.filter(|stack| !stack.allows_repeat());
            let is_on_body = stack.is_some_and(|s| self.status.stack(s).last() == Some(&TASK_BODY));
            if is_on_body && matches!(steps.first(), Some((TaskStep::Execute, _))) {
                // A body directly on another one would be refused.
                steps.clear();
            }
            let task = event.u32_at(0);
            let message = format!("unexpected {}: task {task} {fault}", event.name());
            let is_open = self.status.bodies(table).iter().any(|open| open.is(&body));
            if !is_open && step != TaskStep::Execute && self.is_past(body, table) {
                self.report_wrong_event((&rules::TASK_STEP, "taskid"), event, message);
                return None;
            }
            if let Some(counts) = self.bridge_before((&rules::TASK_STEP, "taskid"), event, &message)
            {
                return counts.then_some(body);
            }
            let mut lost = self.writer();
            for (step, body) in &steps {
                lost.put_body_step(table, *step, body);
            }
            if !self.report_contradiction((&rules::TASK_STEP, "taskid"), event, message, lost) {
                return None;
            }
            for (step, body) in &steps {
                self.apply_added_step(event, table, *step, body);
            }
        }
        Some(body)
    }

    /// Returns the innermost body if an event moves a body that is not open, and the next events
    /// about tasks show that it has the wrong id: they go on as if it had moved the innermost body,
    /// and know no body of its own id.
    fn find_wrong_body(
        &self,
        event: &Event<'_>,
        table: usize,
        body: Body,
        step: TaskStep,
    ) -> Option<Body> {
        let open = self.status.bodies(table);
        let top = open.last().copied().filter(|_| step != TaskStep::Execute)?;
        let is_open = open.iter().any(|other| other.is(&body));
        if is_open || top.is_paused != (step == TaskStep::Resume) {
            return None;
        }
        let steps = self.events.restarted(event.end()).take(NEAR).filter_map(|item| {
            let Item::Record(next) = item else { return None };
            let is_of_model = next.code.first() == event.code.first();
            match next.row.and_then(layout::row_at).filter(|_| is_of_model)?.effect {
                Effect::Task(step) => Some((next.u32_at(0), step)),
                _ => None,
            }
        });
        let mut steps = steps.filter(|(task, _)| *task == top.task || *task == body.task);
        let is_wrong = match (step, steps.next()) {
            (_, Some((task, _))) if task != top.task => false,
            (TaskStep::End, next) => next.is_none_or(|(_, next)| next == TaskStep::Execute),
            (TaskStep::Pause, next) => next.is_some_and(|(_, next)| next == TaskStep::Resume),
            (_, next) => {
                next.is_some_and(|(_, next)| matches!(next, TaskStep::End | TaskStep::Pause))
            }
        };
        is_wrong.then_some(top)
    }

    #[cold]
    fn report_wrong_body(&mut self, event: &Event<'_>, wrong: Body, right: Body) {
        let (wrong, task) = (wrong.task, right.task);
        let message = format!(
            "unexpected {}: task {wrong} is not open in this thread, the innermost is {task}",
            event.name()
        );
        let mut ids = [task.to_le_bytes(), right.body.to_le_bytes()].concat();
        ids.truncate(event.payload.len());
        let at = event.at.saturating_add(EVENT_HEADER);
        let edit = Edit::replace(Span::sized(self.layer(), at, to_u64(ids.len())), ids);
        let fix = build_fix(format!("set the task to {task}"), vec![edit]).altered(1);
        let finding = self.build_finding(&rules::TASK_STEP, event, "taskid", message);
        self.log.push(finding.fix(fix));
    }

    /// Moves a body that can move.
    fn apply_body_step(&mut self, event: &Event<'_>, (table, step): (usize, TaskStep), body: Body) {
        let stack = TASK_STACKS.get(table).copied().flatten();
        let Some(bodies) = self.status.bodies.get_mut(table) else { return };
        let counts = match (step, stack) {
            (TaskStep::Pause | TaskStep::Resume, _) => {
                set_paused(bodies.last_mut(), step == TaskStep::Pause);
                return;
            }
            (TaskStep::Execute, Some(stack)) => self.push_state(event, stack, TASK_BODY),
            (TaskStep::End, Some(stack)) => self.pop_state(event, stack, TASK_BODY),
            (TaskStep::Execute, None) => {
                self.push_label(LabelSource::Task(body.task));
                true
            }
            (TaskStep::End, None) => {
                self.pop_label(event, LabelSource::Task(body.task));
                true
            }
        };
        let Some(bodies) = self.status.bodies.get_mut(table).filter(|_| counts) else { return };
        let effect = if step == TaskStep::Execute {
            if bodies.len() < STACK_MAX {
                bodies.push(body);
            }
            SharedEffect::StartBody(body.task, body.body)
        } else {
            bodies.pop();
            SharedEffect::EndBody(body.task, body.body)
        };
        self.queue_event(event, table, effect);
    }

    /// Moves a body as an added event does.
    fn apply_added_step(&mut self, event: &Event<'_>, table: usize, step: TaskStep, body: &Body) {
        let stack = TASK_STACKS.get(table).copied().flatten();
        let open = stack.and_then(|stack| self.status.stacks.get_mut(stack.index()));
        let Some(bodies) = self.status.bodies.get_mut(table) else { return };
        let effect = match step {
            TaskStep::Pause | TaskStep::Resume => {
                set_paused(bodies.last_mut(), step == TaskStep::Pause);
                return;
            }
            TaskStep::Execute => {
                bodies.push(*body);
                open.into_iter().for_each(|open| open.push(TASK_BODY));
                SharedEffect::StartBody(body.task, body.body)
            }
            TaskStep::End => {
                bodies.pop();
                if let Some(open) = open
                    && let Some(depth) = open.iter().rposition(|state| *state == TASK_BODY)
                {
                    open.truncate(depth);
                }
                SharedEffect::EndBody(body.task, body.body)
            }
        };
        let label = LabelSource::Task(body.task);
        match (stack, step) {
            (None, TaskStep::Execute) => self.push_label(label),
            (None, TaskStep::End) => {
                let labels = &mut self.status.labels;
                let depth = labels.iter().rposition(|open| *open == label);
                if let Some(depth) = depth {
                    labels.remove(depth);
                }
            }
            _ => {}
        }
        self.queue_event(event, table, effect);
    }

    /// PQx and PQe.
    pub(super) fn take_worksharing(&mut self, event: &Event<'_>, model: u8, opens: bool) {
        let Some(table) = task_table(model) else { return };
        let kind = event.u32_at(0);
        if kind == 0 {
            let message = format!("typeid of {} is 0, expected above 0", event.name());
            self.report_wrong_event((&rules::BAD_ARGUMENT, "typeid"), event, message);
            return;
        }
        self.queue_event(event, table, SharedEffect::UseType(kind));
        if opens {
            self.push_label(LabelSource::Work(kind));
        } else {
            self.pop_label(event, LabelSource::Work(kind));
        }
    }

    fn push_label(&mut self, label: LabelSource) {
        if self.status.labels.len() < STACK_MAX {
            self.status.labels.push(label);
        }
    }

    /// Ends a task or worksharing of OpenMP. They end in reverse order, except for those with equal
    /// labels: the emulator compares only the labels.
    fn pop_label(&mut self, event: &Event<'_>, label: LabelSource) {
        let labels = &mut self.status.labels;
        let Some(innermost) = labels.last().copied() else {
            let message = format!("unexpected {}: no task or worksharing is open", event.name());
            self.report_wrong_event((&rules::STACK_MISMATCH, ""), event, message);
            return;
        };
        let depth = labels.iter().rposition(|open| *open == label);
        let last = labels.len().saturating_sub(1);
        labels.remove(depth.unwrap_or(last));
        if innermost != label {
            self.reported.label_fixes.push_back(self.fix_label(event, depth, (innermost, label)));
            let effect = SharedEffect::CompareLabels(innermost, label);
            self.queue_event(event, OPENMP_TABLE, effect);
        }
    }

    /// Returns the fix of an event that ends a task or worksharing that is not the innermost one:
    /// those inside it end first, or if it is not open, its start was lost or its id is wrong.
    /// `depth` is its place among those that are open, which the event has left.
    fn fix_label(
        &self,
        event: &Event<'_>,
        depth: Option<usize>,
        (innermost, ended): (LabelSource, LabelSource),
    ) -> Fix {
        let mut lost = self.writer();
        match (depth, innermost, ended) {
            (Some(depth), ..) => {
                let inner = self.status.labels.iter().skip(depth).rev();
                inner.for_each(|label| lost.put_label_end(*label));
            }
            (None, LabelSource::Work(kind), LabelSource::Work(_)) => {
                let at = event.at.saturating_add(EVENT_HEADER);
                let field = Span::sized(self.layer(), at, 4);
                let summary = format!("set the type to {kind}, that of the innermost worksharing");
                return build_fix(summary, vec![Edit::replace(field, kind.to_le_bytes())])
                    .altered(1);
            }
            (None, _, LabelSource::Work(kind)) => lost.put(b"PQx", &kind.to_le_bytes()),
            (None, ..) => return drop_event(Span::sized(self.layer(), event.at, event.len)),
        }
        let count = plural(lost.out.count, "event");
        let place = Span::new(self.layer(), event.at, event.at);
        let edit = Edit::replace(place, lost.out.bytes);
        build_fix(format!("add {count} before it, as if lost"), vec![edit])
    }

    /// VWC.
    pub(super) fn check_counters(&mut self, event: &Event<'_>, context: &TraceContext) {
        let size = event.payload_len();
        match context.counters {
            None if context.has_metadata => {
                let place = self.place_of(event);
                self.usage.undefined_counters.get_or_insert((place, size / 8));
            }
            Some(count) if size != count.saturating_mul(8) => {
                let expected = count.saturating_mul(8);
                let message = format!(
                    "VWC has {} of values, expected {expected} for {}",
                    byte_count(size),
                    plural(count, "counter")
                );
                self.report_wrong_event((&rules::COUNTERS_SIZE, "size"), event, message);
            }
            _ => {}
        }
    }
}

/// Whether a body can move, as nearly all can: [`lost_steps`] has nothing to add.
#[inline]
fn can_move(open: &[Body], body: Body, step: TaskStep, model: u8) -> bool {
    let top = open.last();
    match step {
        TaskStep::Execute => model != model::NOSV || top.is_none_or(|top| top.is_paused),
        TaskStep::End => top == Some(&body),
        TaskStep::Pause => body.body == 0 && top == Some(&body),
        TaskStep::Resume => body.body == 0 && top == Some(&Body { is_paused: true, ..body }),
    }
}

/// Why a body cannot move, and the steps after which it can; none if no step helps.
type LostSteps = (&'static str, Vec<(TaskStep, Body)>);

/// Returns why a body cannot move, and the steps that were lost before it. `None` if it can move.
fn lost_steps(open: &[Body], body: Body, step: TaskStep, model: u8) -> Option<LostSteps> {
    let end = |body: &Body| {
        let resume = body.is_paused.then_some((TaskStep::Resume, *body));
        resume.into_iter().chain([(TaskStep::End, *body)])
    };
    let top = open.last();
    if step == TaskStep::Execute {
        let runs_already = model == model::NOSV && top.is_some_and(|top| !top.is_paused);
        let steps = || top.into_iter().flat_map(end).collect();
        return runs_already.then(|| ("starts while another body runs", steps()));
    }
    if body.body != 0 && step != TaskStep::End {
        return Some(("is parallel and cannot pause", Vec::new()));
    }
    let needs_paused = step == TaskStep::Resume;
    let Some(depth) = open.iter().rposition(|other| other.is(&body)) else {
        let mut steps = vec![(TaskStep::Execute, body)];
        steps.extend(needs_paused.then_some((TaskStep::Pause, body)));
        return Some(("is not open in this thread", steps));
    };
    let is_paused = open.get(depth).is_some_and(|body| body.is_paused);
    let inner = open.get(depth.saturating_add(1)..).unwrap_or_default();
    let mut steps: Vec<(TaskStep, Body)> = inner.iter().rev().flat_map(end).collect();
    let fault = match (inner.is_empty(), is_paused) {
        (false, _) => "is not the innermost body",
        (true, true) => "is paused",
        (true, false) => "is not paused",
    };
    if is_paused != needs_paused {
        let step = if is_paused { TaskStep::Resume } else { TaskStep::Pause };
        steps.push((step, body));
    }
    (!steps.is_empty()).then_some((fault, steps))
}

fn set_paused(body: Option<&mut Body>, is_paused: bool) {
    if let Some(body) = body {
        body.is_paused = is_paused;
    }
}

/// FNV-1a. Labels are recognised by it, and only where two of them have to be equal.
fn hash_label(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
