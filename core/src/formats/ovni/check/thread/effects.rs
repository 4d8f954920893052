//! Effects of events on the thread itself: state machine, CPU, flushes, idle state.

use super::reported::is_first;
use super::{ThreadCheck, TraceContext};
use crate::formats::ovni::check::shared_event::SharedEffect;
use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::layout::{
    Effect, EventRow, EventSummary, MODELS, Needs, ThreadState, ThreadStep, display_version,
    task_table,
};
use crate::formats::ovni::rules;
use crate::formats::ovni::state::thread::ThreadEnd;

impl ThreadCheck<'_, '_> {
    /// Checks whether an event may come now, and applies it.
    pub(super) fn check_and_apply(
        &mut self,
        event: &Event<'_>,
        summary: &EventSummary,
        row: &EventRow,
        context: &TraceContext,
    ) {
        if summary.states & self.status.state.bit() == 0 {
            let needs = MODELS.get(usize::from(summary.model)).map_or(Needs::Nothing, |m| m.needs);
            let needs_running = needs == Needs::Running;
            let expected = if needs_running { "running" } else { "running, cooling or warming" };
            let steps = self.status.state.steps_to_run(needs_running);
            if !self.bridge_state((&rules::EVENT_STATE, expected), event, steps) {
                return;
            }
        }
        if self.status.is_off_cpu && summary.on_cpu {
            let message = format!("unexpected {}: the thread is off its CPU", event.name());
            let mut lost = self.writer();
            lost.put(b"KCI", &[]);
            if !self.report_contradiction((&rules::OUT_OF_CPU, ""), event, message, lost) {
                return;
            }
            self.status.is_off_cpu = false;
        }
        if u64::from(summary.rank) > self.usage.rank(summary.model) {
            self.take_newer_event(event, summary, row);
        }
        self.apply_effect(event, summary, context);
    }

    #[inline]
    pub(super) fn apply_effect(
        &mut self,
        event: &Event<'_>,
        summary: &EventSummary,
        context: &TraceContext,
    ) {
        let model = summary.model;
        match summary.effect {
            Effect::Push(stack) => drop(self.push_state(event, stack, summary.state)),
            Effect::Pop(stack) => drop(self.pop_state(event, stack, summary.state)),
            Effect::Task(step) => self.move_body(event, model, step),
            Effect::Ignore => {}
            Effect::Thread(step) => self.move_thread(event, step),
            Effect::AffinitySet => self.set_affinity(event),
            Effect::AffinityRemote => {
                let (cpu, tid) = (event.i32_at(0), event.i32_at(4));
                self.queue_event(event, 0, SharedEffect::MoveOther(cpu, tid));
            }
            Effect::Flush(opens) => self.take_flush(event, opens),
            Effect::Region(opens) => self.take_region(event, opens, context),
            Effect::Mark(step) => self.take_mark(event, step, context),
            Effect::Kernel(leaves) => self.take_kernel(event, leaves),
            Effect::Idle => self.set_idle(event, model),
            Effect::Type => self.define_type(event, model),
            Effect::Create(is_parallel) => self.create_task(event, model, is_parallel),
            Effect::Work(opens) => self.take_worksharing(event, model, opens),
            Effect::Counters => self.check_counters(event, context),
        }
    }

    /// An event of a higher version of its model than any before it.
    #[cold]
    fn take_newer_event(&mut self, event: &Event<'_>, summary: &EventSummary, row: &EventRow) {
        let index = usize::from(summary.model);
        let shift = u32::from(summary.model).saturating_mul(8);
        self.usage.ranks = self.usage.ranks & !(0xff << shift) | u64::from(summary.rank) << shift;
        let newest = self.usage.newest.get_mut(index);
        if let Some(newest) = newest.filter(|newest| **newest < Some(row.since)) {
            *newest = Some(row.since);
        }
        let Some(Some(required)) = self.terms.required.get(index).copied() else { return };
        if row.since > required && self.reported.newer.get_mut(index).is_some_and(is_first) {
            let message = format!(
                "{} was added in version {}, but the thread requires {}",
                event.name(),
                display_version(row.since),
                display_version(required)
            );
            self.push_finding(&rules::EVENT_NEWER, event, "", message);
        }
    }

    /// OHx, OHe, OHp, OHr, OHc and OHw.
    pub(super) fn move_thread(&mut self, event: &Event<'_>, step: ThreadStep) {
        let state = self.status.state;
        if !state.allows(step) {
            let steps = state.steps_before(step).unwrap_or_default();
            let rule = (&rules::THREAD_STATE, step.expected_states());
            if !self.bridge_state(rule, event, steps) {
                return;
            }
        } else if step == ThreadStep::Execute && state == ThreadState::Dead {
            let message = "OHx follows OHe: the thread starts again";
            self.push_finding(&rules::EVENT_AFTER_END, event, "", message);
        }
        let state = self.status.state;
        self.status.state = step.next_state();
        match step {
            ThreadStep::Execute => {
                let cpu = if event.payload.len() >= 4 { event.i32_at(0) } else { -1 };
                self.status.end = None;
                self.queue_event(event, 0, SharedEffect::Start(cpu));
            }
            ThreadStep::End => {
                let (at, clock) = (event.at, self.timeline.clock);
                self.status.end = Some(ThreadEnd { at, clock, state, is_final: true });
                self.queue_event(event, 0, SharedEffect::End);
            }
            ThreadStep::Pause | ThreadStep::Cool => {
                self.queue_event(event, 0, SharedEffect::Stop);
            }
            ThreadStep::Resume => self.queue_event(event, 0, SharedEffect::Run),
            ThreadStep::Warm => {}
        }
    }

    /// OAs.
    fn set_affinity(&mut self, event: &Event<'_>) {
        if !self.status.state.is_active() {
            let steps = self.status.state.steps_to_run(false);
            let rule = (&rules::THREAD_STATE, "running, cooling or warming");
            if !self.bridge_state(rule, event, steps) {
                return;
            }
        }
        self.queue_event(event, 0, SharedEffect::Move(event.i32_at(0)));
    }

    /// OF[ and OF].
    fn take_flush(&mut self, event: &Event<'_>, opens: bool) {
        if self.status.is_flushing == opens {
            let message = if opens {
                "unexpected OF[: a flush is open already"
            } else {
                "unexpected OF]: no flush is open"
            };
            let mut lost = self.writer();
            lost.put(if opens { b"OF]" } else { b"OF[" }, &[]);
            if !self.report_contradiction((&rules::FLUSH_ORDER, ""), event, message, lost) {
                return;
            }
        }
        self.status.is_flushing = opens;
    }

    /// KCO and KCI.
    fn take_kernel(&mut self, event: &Event<'_>, leaves: bool) {
        if self.status.is_off_cpu == leaves {
            let place = if leaves { "off its CPU already" } else { "on its CPU" };
            let message = format!("unexpected {}: the thread is {place}", event.name());
            let mut lost = self.writer();
            lost.put(if leaves { b"KCI" } else { b"KCO" }, &[]);
            if !self.report_contradiction((&rules::OUT_OF_CPU, ""), event, message, lost) {
                return;
            }
        }
        self.status.is_off_cpu = leaves;
    }

    fn set_idle(&mut self, event: &Event<'_>, model: u8) {
        let [.., value] = event.code;
        let table = task_table(model);
        let idle = table.and_then(|table| self.status.idle.get_mut(table));
        let Some(idle) = idle else { return };
        if std::mem::replace(idle, value) == value {
            let message = format!("{} sets the idle state that is already set", event.name());
            let [first, category, _] = event.code;
            let mut lost = self.writer();
            lost.put(&[first, category, if value == b'p' { b'r' } else { b'p' }], &[]);
            self.report_contradiction((&rules::SAME_IDLE, ""), event, message, lost);
        }
    }
}
