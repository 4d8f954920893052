//! Lost events: those with which the events after a place fit what is open before it.
//!
//! One gap can take the openers of states that are closed long after it. Explained one by one, each
//! of those closers would get an event of its own far from the gap, or be dropped. So the events
//! from a place on are looked at together, and what they need is added there, once.

use std::sync::Arc;

use super::ThreadCheck;
use crate::formats::ovni::check::shared_event::SharedEffect;
use crate::formats::ovni::decode::body::Body;
use crate::formats::ovni::decode::event_walk::Event;
use crate::formats::ovni::layout::{
    self, EVENT_HEADER, STREAM_HEADER, Stack, TASK_BODY, TASK_STACKS, TaskStep, model,
};
use crate::formats::ovni::recover::clock_shift::Gap;
use crate::formats::ovni::recover::needs::{OpenState, StackChange};
use crate::formats::ovni::recover::stretch::{Past, find_needs, find_started};
use crate::formats::ovni::recover::stretches::Stretches;
use crate::formats::ovni::repair::build_fix;
use crate::formats::ovni::repair::encode::EncodedEvents;
use crate::kit::span::Span;
use crate::kit::words::plural;
use crate::model::Rule;
use crate::model::edit::Edit;

/// Events that are looked at ahead for each that the stream can hold, and always. Those between two
/// places are looked at twice or three times, and all of them once for the tasks and once for the
/// parts.
const LOOKS: [u64; 2] = [5, 4_096];
/// Events of a stream that are explained by lost ones: a real one needs some dozens, and each walks
/// over the events after it.
const BRIDGES_MAX: u64 = 4_096;

/// The looks at the events after a place, and what they have shown about the stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    /// Events that may still be looked at.
    pub(super) looks: u64,
    /// Events that may still be explained by lost ones.
    bridges: u64,
    /// The tasks of Nanos6 that the stream starts, in order, once they were needed.
    started: Option<Arc<[u32]>>,
    /// The parts of the stream from the first place on that needed lost events.
    stretches: Option<Arc<Stretches>>,
}

impl Ahead {
    /// Begins a stream of this many bytes.
    pub(super) fn new(len: u64) -> Self {
        let [per_event, always] = LOOKS;
        let looks = (len / EVENT_HEADER).saturating_mul(per_event).saturating_add(always);
        Self { looks, bridges: BRIDGES_MAX, started: None, stretches: None }
    }

    /// Explains nothing from here on.
    pub(super) const fn close(&mut self) {
        (self.looks, self.bridges) = (0, 0);
    }
}

/// The changes of all stacks that the events after a place need.
struct Bridge {
    changes: Vec<(Stack, StackChange)>,
    /// Number of events that make them.
    count: usize,
}

impl ThreadCheck<'_, '_> {
    /// Adds what the events after a gap need; returns it encoded.
    pub(super) fn bridge_gap(&mut self, gap: Gap) -> EncodedEvents {
        if self.timeline.gaps().binary_search_by_key(&gap.to, |next| next.from).is_ok() {
            // No event follows before the next gap.
            return EncodedEvents::default();
        }
        let bridge = self.find_bridge(gap.to);
        let lost = bridge.map(|bridge| self.cross(&bridge, gap.from)).unwrap_or_default();
        if self.timeline.first.is_some() {
            self.queue_effect((gap.to, 0), 0, SharedEffect::Loss);
        }
        lost
    }

    /// Reports an event that cannot come now, if what it and the events after it need explains
    /// that. Returns whether it counts; `None` if it is not explained.
    #[cold]
    pub(super) fn bridge_before(
        &mut self,
        (rule, field): (&'static Rule, &str),
        event: &Event<'_>,
        message: &str,
    ) -> Option<bool> {
        if self.repeats_last(event) || self.timeline.ahead.bridges == 0 {
            return None;
        }
        self.timeline.ahead.bridges = self.timeline.ahead.bridges.saturating_sub(1);
        let with = self.find_bridge(event.at).filter(|bridge| bridge.count != 0)?;
        let without = self.find_bridge(event.end())?;
        let finding = self.build_finding(rule, event, field, message);
        if without.count.saturating_add(1) < with.count {
            self.log.push(finding.fix(self.drop_event(event)));
            return Some(false);
        }
        let lost = self.cross(&with, event.at);
        let place = Span::new(self.layer(), event.at, event.at);
        let summary = format!("add {} before it, as if lost", plural(lost.count, "event"));
        let edit = Edit::replace(place, lost.bytes);
        self.log.push(finding.fix(build_fix(summary, vec![edit])));
        Some(true)
    }

    /// Finds the fewest events with which those from a place on fit what is open now.
    fn find_bridge(&mut self, at: u64) -> Option<Bridge> {
        self.find_started();
        self.find_stretches(at);
        let Ahead { looks, started, stretches, .. } = &mut self.timeline.ahead;
        let past = past(started.as_deref(), self.status.bodies(0));
        let next = stretches.as_ref().and_then(|stretches| stretches.end_after(at));
        let end = next.map_or(u64::MAX, |(end, _)| *end);
        let part = find_needs(self.events.restarted(at), end, past, looks);
        let needs = match next {
            Some((_, next)) => next.after(part, looks),
            None => part.needs,
        };
        let mut bridge = Bridge { changes: Vec::new(), count: 0 };
        for stack in Stack::ALL {
            let open = self.open_states(stack)?;
            let (change, count) = needs.bridge(stack, &open, &mut self.timeline.ahead.looks);
            if count != 0 {
                bridge.count = bridge.count.saturating_add(count);
                bridge.changes.push((stack, change));
            }
        }
        Some(bridge)
    }

    /// Finds the parts of the stream from a place on, unless that was done.
    fn find_stretches(&mut self, at: u64) {
        if self.timeline.ahead.stretches.is_some() {
            return;
        }
        let walk = self.events.restarted(at);
        let past = past(self.timeline.ahead.started.as_deref(), self.status.bodies(0));
        let mut looks = self.timeline.ahead.looks;
        let stretches = Stretches::find(walk, self.timeline.gaps(), past, &mut looks);
        self.timeline.ahead.looks = looks;
        self.timeline.ahead.stretches = Some(Arc::new(stretches));
    }

    /// Finds the tasks of Nanos6 that the stream starts, unless that was done or it has none.
    fn find_started(&mut self) {
        let Ahead { looks, started, .. } = &mut self.timeline.ahead;
        if self.usage.has(model::NANOS6) && started.is_none() {
            *started = Some(find_started(self.events.reopened(STREAM_HEADER), looks).into());
        }
    }

    /// Whether the body of a task that is not open has run before, or runs later.
    pub(super) fn is_past(&mut self, body: Body, table: usize) -> bool {
        self.find_started();
        let started = self.timeline.ahead.started.as_deref();
        table == 0 && past(started, self.status.bodies(0)).has(body.task)
    }

    /// Returns what is open on a stack, outermost first; `None` if its bodies are not those that
    /// are open.
    fn open_states(&self, stack: Stack) -> Option<Vec<OpenState>> {
        let table = TASK_STACKS.iter().position(|shown| *shown == Some(stack));
        let mut bodies = table.map_or(&[][..], |table| self.status.bodies(table)).iter();
        let states = self.status.stack(stack).iter();
        let states: Option<Vec<OpenState>> = states
            .map(|state| match *state {
                TASK_BODY => bodies.next().map(|body| OpenState::Body(*body)),
                state => Some(OpenState::Plain(state)),
            })
            .collect();
        states.filter(|_| bodies.next().is_none())
    }

    /// Goes on as if the events of a bridge lay at a place, and returns them encoded.
    fn cross(&mut self, bridge: &Bridge, at: u64) -> EncodedEvents {
        let mut lost = self.writer();
        for (stack, change) in &bridge.changes {
            let open = self.open_states(*stack).unwrap_or_default();
            let table = TASK_STACKS.iter().position(|shown| *shown == Some(*stack));
            let table = table.unwrap_or(0);
            for state in open.iter().skip(change.kept).rev() {
                match state {
                    OpenState::Plain(state) => {
                        let row = layout::closer(*stack, *state);
                        row.into_iter().for_each(|row| lost.put(&row.code, &[]));
                    }
                    OpenState::Body(body) => {
                        lost.close_body(table, body);
                        self.add_body_step(at, (table, TaskStep::End), body);
                    }
                }
            }
            if let Some(states) = self.status.stacks.get_mut(stack.index()) {
                states.truncate(change.kept);
            }
            if let Some(body) = &change.moved {
                let step = if body.is_paused { TaskStep::Resume } else { TaskStep::Pause };
                lost.put_body_step(table, step, body);
                self.add_body_step(at, (table, step), body);
            }
            for state in &change.opens {
                let shown = match state {
                    OpenState::Plain(state) => {
                        let [category, value] = state.to_be_bytes();
                        lost.put(&[stack.model_code(), category, value], &[]);
                        *state
                    }
                    OpenState::Body(body) => {
                        let pause = body.is_paused.then_some(TaskStep::Pause);
                        for step in [TaskStep::Execute].into_iter().chain(pause) {
                            lost.put_body_step(table, step, body);
                            self.add_body_step(at, (table, step), body);
                        }
                        TASK_BODY
                    }
                };
                let open = self.status.stacks.get_mut(stack.index());
                open.into_iter().for_each(|open| open.push(shown));
            }
        }
        self.note_change();
        lost.out
    }

    /// Moves a body as an event at a place does that is added there.
    fn add_body_step(&mut self, at: u64, (table, step): (usize, TaskStep), body: &Body) {
        let Some(bodies) = self.status.bodies.get_mut(table) else { return };
        let effect = match step {
            TaskStep::Pause | TaskStep::Resume => {
                let top = bodies.last_mut();
                top.into_iter().for_each(|top| top.is_paused = step == TaskStep::Pause);
                return;
            }
            TaskStep::Execute => {
                bodies.push(Body { is_paused: false, ..*body });
                SharedEffect::StartBody(body.task, body.body)
            }
            TaskStep::End => {
                bodies.pop();
                SharedEffect::EndBody(body.task, body.body)
            }
        };
        self.queue_effect((at, 0), table, effect);
    }
}

fn past<'p>(started: Option<&'p [u32]>, open: &[Body]) -> Past<'p> {
    let open = if started.is_some() { open } else { &[] };
    let open = open.iter().map(|body| body.task).collect();
    Past { started: started.unwrap_or_default(), open }
}
