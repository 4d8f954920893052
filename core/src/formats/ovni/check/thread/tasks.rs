//! Types, tasks and their bodies, worksharings and hardware counters.

use super::{ThreadCheck, TraceContext};
use crate::formats::ovni::check::shared_event::SharedEffect;
use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::layout::{
    LABEL_MAX, STACK_MAX, TASK_BODY, TASK_STACKS, TaskStep, model, task_table,
};
use crate::formats::ovni::repair::definitions::terminate_label;
use crate::formats::ovni::rules;
use crate::formats::ovni::state::thread::{Body, LabelSource};
use crate::kit::num::to_u64;
use crate::kit::text::Untrusted;
use crate::kit::words::{byte_count, plural};
use crate::mend::edit::{Fix, Safety};

/// Task table of OpenMP.
const OPENMP_TABLE: usize = 2;

impl ThreadCheck<'_, '_> {
    /// VYc, 6Yc and POc.
    pub(super) fn define_type(&mut self, event: &Event<'_>, model: u8) {
        let Some(table) = task_table(model) else { return };
        let id = event.u32_at(0);
        let label = event.payload.get(4..).unwrap_or_default();
        let text = label.split(|byte| *byte == 0).next().unwrap_or_default();
        if id == 0 {
            let message = format!("typeid of {} is 0, expected above 0", event.name());
            self.push_finding(&rules::BAD_ARGUMENT, event, "typeid", message);
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
            finding = finding.fix(Fix::new(Safety::Synthetic, "add a NUL to the label", edits));
        }
        self.log.push(finding);
    }

    /// VTc, VTC, 6Tc and PPc.
    pub(super) fn create_task(&mut self, event: &Event<'_>, model: u8, is_parallel: bool) {
        let Some(table) = task_table(model) else { return };
        let (task, kind) = (event.u32_at(0), event.u32_at(4));
        if model == model::OPENMP && (task == 0 || kind == 0) {
            let message =
                format!("taskid of PPc is {task} and typeid is {kind}, expected both above 0");
            self.push_finding(&rules::BAD_ARGUMENT, event, "taskid", message);
        }
        self.queue_event(event, table, SharedEffect::CreateTask(task, kind, is_parallel));
    }

    /// Starts, ends, pauses or resumes the body of a task.
    pub(super) fn move_body(&mut self, event: &Event<'_>, model: u8, step: TaskStep) {
        let Some(table) = task_table(model) else { return };
        let task = event.u32_at(0);
        // Only bodies of nosv have ids; other models ignore a longer payload.
        let has_id = model == model::NOSV && event.payload.len() >= 8;
        let body = if has_id { event.u32_at(4) } else { 0 };
        if task == 0 {
            let message = format!("taskid of {} is 0, expected above 0", event.name());
            self.push_finding(&rules::BAD_ARGUMENT, event, "taskid", message);
        }
        let Some(bodies) = self.status.bodies.get_mut(table) else { return };
        let moved = Body { task, body, is_paused: false };
        let fault = match step {
            TaskStep::Execute => start_body(bodies, moved, model),
            _ => move_open_body(bodies, moved, step),
        };
        if let Some(fault) = fault {
            let message = format!("unexpected {}: task {task} {fault}", event.name());
            self.push_finding(&rules::TASK_STEP, event, "taskid", message);
        }
        let stack = TASK_STACKS.get(table).copied().flatten();
        match (step, stack) {
            (TaskStep::Execute, Some(stack)) => self.push_state(event, stack, TASK_BODY),
            (TaskStep::Execute, None) => self.push_label(LabelSource::Task(task)),
            (TaskStep::End, Some(stack)) => self.pop_state(event, stack, TASK_BODY),
            (TaskStep::End, None) => self.pop_label(event, LabelSource::Task(task)),
            _ => return,
        }
        let effect = match step {
            TaskStep::Execute => SharedEffect::StartBody(task, body),
            _ => SharedEffect::EndBody(task, body),
        };
        self.queue_event(event, table, effect);
    }

    /// PQx and PQe.
    pub(super) fn take_worksharing(&mut self, event: &Event<'_>, model: u8, opens: bool) {
        let Some(table) = task_table(model) else { return };
        let kind = event.u32_at(0);
        if kind == 0 {
            let message = format!("typeid of {} is 0, expected above 0", event.name());
            self.push_finding(&rules::BAD_ARGUMENT, event, "typeid", message);
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
            self.push_finding(&rules::STACK_MISMATCH, event, "", message);
            return;
        };
        let depth = labels.iter().rposition(|open| *open == label);
        let last = labels.len().saturating_sub(1);
        labels.remove(depth.unwrap_or(last));
        if innermost != label {
            let effect = SharedEffect::CompareLabels(innermost, label);
            self.queue_event(event, OPENMP_TABLE, effect);
        }
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
                self.push_finding(&rules::COUNTERS_SIZE, event, "size", message);
            }
            _ => {}
        }
    }
}

/// Starts a body on top of the open ones; returns the fault.
fn start_body(bodies: &mut Vec<Body>, body: Body, model: u8) -> Option<&'static str> {
    let runs_already = bodies.last().is_some_and(|top| !top.is_paused);
    if bodies.len() < STACK_MAX {
        bodies.push(body);
    }
    (model == model::NOSV && runs_already).then_some("starts while another body runs")
}

/// Ends, pauses or resumes a body; returns the fault.
fn move_open_body(bodies: &mut Vec<Body>, body: Body, step: TaskStep) -> Option<&'static str> {
    let is_top = bodies.last() == Some(&body);
    match step {
        TaskStep::End if is_top => {
            bodies.pop();
            None
        }
        TaskStep::Pause if is_top => {
            set_paused(bodies.last_mut(), true);
            (body.body != 0).then_some("is parallel and cannot pause")
        }
        TaskStep::Resume if bodies.last() == Some(&Body { is_paused: true, ..body }) => {
            set_paused(bodies.last_mut(), false);
            None
        }
        _ => Some(move_wrong_body(bodies, body, step)),
    }
}

/// Moves a body that cannot move now as if it could; returns why it cannot.
fn move_wrong_body(bodies: &mut Vec<Body>, body: Body, step: TaskStep) -> &'static str {
    let depth = bodies.iter().rposition(|open| (open.task, open.body) == (body.task, body.body));
    let is_innermost = depth.is_some_and(|depth| depth.saturating_add(1) == bodies.len());
    if step == TaskStep::End {
        bodies.truncate(depth.unwrap_or(bodies.len()));
    } else if let Some(depth) = depth {
        set_paused(bodies.get_mut(depth), step == TaskStep::Pause);
    }
    match (depth, step) {
        (None, _) => "is not open in this thread",
        _ if !is_innermost => "is not the innermost body",
        (_, TaskStep::Resume) => "is not paused",
        _ => "is paused",
    }
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
