//! The needs of the events from a place on. They are collected until one contradicts an earlier
//! one.

use std::collections::BTreeSet;

use crate::formats::ovni::decode::body::Body;
use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::layout::{
    self, Effect, STACK_COUNT, STACK_MAX, Stack, TASK_MODELS, TASK_STACKS, TaskStep, ThreadStep,
    model, task_table,
};
use crate::formats::ovni::recover::needs::{Needs, OpenState, Part};
use crate::kit::walk::Item;

/// Tasks that are remembered as started: 4 MB. Further ones may be started a second time.
const STARTED_MAX: usize = 1 << 20;

/// Finds the needs of the events from a place to `until`, or to the first that contradicts an
/// earlier one of them, to damage, or to the end of the thread. Takes each event from `looks`.
/// Events of a task that is `past` count only if the stretch starts it.
pub fn find_needs(walk: EventWalk<'_, '_>, until: u64, past: Past<'_>, looks: &mut u64) -> Part {
    let mut stretch = Stretch::new(past);
    for item in walk {
        let Item::Record(event) = item else { break };
        let Some(left) = looks.checked_sub(1).filter(|_| event.at < until) else { break };
        *looks = left;
        if stretch.take(&event) != Taken::Fits {
            break;
        }
    }
    stretch.finish().0
}

/// Returns the tasks of Nanos6 that a stream starts, in order: they run once. Takes each event from
/// `looks`, which also bound the searches after damage.
pub fn find_started(mut walk: EventWalk<'_, '_>, looks: &mut u64) -> Vec<u32> {
    let mut tasks = Vec::new();
    while let Some(item) = walk.next() {
        let left = looks.checked_sub(1).filter(|_| tasks.len() < STARTED_MAX);
        let Some(left) = left else { break };
        *looks = left;
        match item {
            Item::Record(event) => {
                tasks.extend((event.code == *b"6Tx").then(|| event.u32_at(0)));
            }
            Item::Damage(damage) if walk.resync(damage.at, 0, left).is_some() => {}
            Item::Damage(_) => break,
        }
    }
    tasks.sort_unstable();
    tasks.dedup();
    tasks
}

/// The tasks of Nanos6 that nothing can start at a place: they run once, and start elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Past<'p> {
    /// Those that the stream starts, in order.
    pub started: &'p [u32],
    /// Those that are open at the place.
    pub open: BTreeSet<u32>,
}

impl Past<'_> {
    /// Whether a task is one of them.
    pub fn has(&self, task: u32) -> bool {
        self.started.binary_search(&task).is_ok() && !self.open.contains(&task)
    }
}

/// Whether a stretch takes an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It fits those before it.
    Fits,
    /// It contradicts one of them, and is not taken.
    Contradicts,
    /// The thread ends.
    Ends,
}

/// Events while their needs are collected.
#[derive(Debug, Default)]
pub struct Stretch<'p> {
    needs: Needs,
    past: Past<'p>,
    /// The states that these events have opened.
    own: [Vec<OpenState>; STACK_COUNT],
    /// The bodies that they have started.
    bodies: [Vec<Body>; TASK_MODELS],
    /// A body that they move and have not started: as it was needed, and as it is now.
    needed: [Option<(Body, Body)>; TASK_MODELS],
}

impl<'p> Stretch<'p> {
    /// Begins at a place.
    pub fn new(past: Past<'p>) -> Self {
        Self { past, ..Self::default() }
    }

    /// Takes an event.
    pub fn take(&mut self, event: &Event<'_>) -> Taken {
        let Some(summary) = event.row.and_then(layout::find_summary) else { return Taken::Fits };
        let fits = match summary.effect {
            Effect::Push(stack) => self.open(stack, OpenState::Plain(summary.state)),
            Effect::Pop(stack) => self.close(stack, OpenState::Plain(summary.state)),
            Effect::Task(step) => self.move_body(event, summary.model, step),
            Effect::Thread(ThreadStep::End) => {
                self.needs.is_complete = self.own.iter().all(Vec::is_empty);
                return Taken::Ends;
            }
            _ => true,
        };
        if fits { Taken::Fits } else { Taken::Contradicts }
    }

    fn open(&mut self, stack: Stack, state: OpenState) -> bool {
        let index = stack.index();
        let (Some(own), Some(needs)) = (self.own.get_mut(index), self.needs.stacks.get_mut(index))
        else {
            return false;
        };
        if own.last().is_some_and(|top| top.repeats(&state, stack)) || own.len() >= STACK_MAX {
            return false;
        }
        if own.is_empty() && needs.states.is_empty() {
            needs.first_opened.get_or_insert(state);
        }
        own.push(state);
        true
    }

    fn close(&mut self, stack: Stack, state: OpenState) -> bool {
        let index = stack.index();
        let (Some(own), Some(needs)) = (self.own.get_mut(index), self.needs.stacks.get_mut(index))
        else {
            return false;
        };
        if own.is_empty() && needs.states.len() < STACK_MAX {
            return needs.add(state, stack);
        }
        own.pop_if(|open| open.is(&state)).is_some()
    }

    fn move_body(&mut self, event: &Event<'_>, model: u8, step: TaskStep) -> bool {
        let Some(table) = task_table(model) else { return true };
        let Some(stack) = TASK_STACKS.get(table).copied().flatten() else { return true };
        let body = Body::of(event, model);
        if table == 0 && step != TaskStep::Execute && self.past.has(body.task) {
            return true;
        }
        let (Some(bodies), Some(needed)) = (self.bodies.get_mut(table), self.needed.get_mut(table))
        else {
            return false;
        };
        let current = bodies.last_mut().or(needed.as_mut().map(|(_, now)| now));
        if step == TaskStep::Execute {
            let is_stuck = current.is_some_and(|current| !current.is_paused);
            return !(model == model::NOSV && is_stuck)
                && self.start_body(body, (table, model), stack);
        }
        let is_paused = step == TaskStep::Resume;
        if body.body != 0 && step != TaskStep::End {
            return false;
        }
        match current {
            Some(current) if !current.is(&body) || current.is_paused != is_paused => return false,
            Some(current) => current.is_paused = step == TaskStep::Pause,
            None => {
                let now = Body { is_paused: step == TaskStep::Pause, ..body };
                *needed = Some((Body { is_paused, ..body }, now));
            }
        }
        if let Some(needs) = self.needs.stacks.get_mut(stack.index()) {
            needs.names_body = true;
        }
        step != TaskStep::End || self.end_body(body, table, stack)
    }

    fn start_body(&mut self, body: Body, (table, model): (usize, u8), stack: Stack) -> bool {
        if !self.open(stack, OpenState::Body(body)) {
            return false;
        }
        if let Some(needs) = self.needs.stacks.get_mut(stack.index()) {
            needs.starts_body |= !needs.names_body && model == model::NOSV;
            needs.names_body = true;
        }
        self.past.open.extend((table == 0).then_some(body.task));
        self.bodies.get_mut(table).into_iter().for_each(|bodies| bodies.push(body));
        true
    }

    fn end_body(&mut self, body: Body, table: usize, stack: Stack) -> bool {
        let own = self.bodies.get(table).and_then(|bodies| bodies.last()).copied();
        let needed = self.needed.get(table).copied().flatten();
        let ended = own.or(needed.map(|(first, _)| first)).unwrap_or(body);
        if !self.close(stack, OpenState::Body(ended)) {
            return false;
        }
        if own.is_some() {
            self.bodies.get_mut(table).into_iter().for_each(|bodies| _ = bodies.pop());
        } else {
            self.needed.get_mut(table).into_iter().for_each(|needed| *needed = None);
        }
        if table == 0 {
            self.past.open.remove(&body.task);
        }
        true
    }

    /// Ends the part; returns it, and the tasks that cannot be started after it.
    pub fn finish(mut self) -> (Part, Past<'p>) {
        for (table, needed) in self.needed.into_iter().enumerate() {
            let stack = TASK_STACKS.get(table).copied().flatten();
            let Some(index) = stack.map(|stack| stack.index()) else { continue };
            let (Some((body, now)), Some(needs), Some(own)) =
                (needed, self.needs.stacks.get_mut(index), self.own.get_mut(index))
            else {
                continue;
            };
            needs.states.push(OpenState::Body(body));
            own.insert(0, OpenState::Body(now));
        }
        (Part { needs: self.needs, left: self.own }, self.past)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::ovni::recover::needs::StackChange;
    use crate::kit::source::Source;
    use crate::kit::span::Layer;

    const NANOS6: Stack = Stack::Nanos6Subsystem;

    /// Events of 12 bytes, and of 16 for those with the id of a task.
    fn events(codes: &[(&str, u32)]) -> Vec<u8> {
        let event = |(clock, (code, task)): (u64, &(&str, u32))| {
            let payload = if *task == 0 { Vec::new() } else { task.to_le_bytes().to_vec() };
            let flags = if *task == 0 { 0 } else { 3 };
            [&[flags][..], code.as_bytes(), &clock.to_le_bytes(), &payload].concat()
        };
        (1..).zip(codes).flat_map(event).collect()
    }

    fn find(codes: &[(&str, u32)]) -> Needs {
        let bytes = events(codes);
        let source = Source::new(&bytes);
        let walk = EventWalk::new(&source, Layer::stored(0), 0);
        find_needs(walk, u64::MAX, Past::default(), &mut 1_000).needs
    }

    const fn plain(code: [u8; 2]) -> OpenState {
        OpenState::Plain(u16::from_be_bytes(code))
    }

    const fn body(task: u32, is_paused: bool) -> OpenState {
        OpenState::Body(Body { task, body: 0, is_paused })
    }

    #[test]
    fn open_states_stay_and_missing_ones_are_opened() {
        let needs = find(&[("6Tr", 2), ("6Te", 2), ("6WT", 0), ("6Tr", 1), ("6Te", 1)]);
        let (change, count) = needs.bridge(NANOS6, &[body(1, true)], &mut 0);
        let opens = vec![plain(*b"Wt"), body(2, true)];
        assert_eq!((change, count), (StackChange { kept: 1, moved: None, opens }, 2));
        // A body that runs has to pause before the one inside it is opened.
        let (change, count) = needs.bridge(NANOS6, &[body(1, false)], &mut 0);
        assert_eq!((change.moved.map(|body| body.task), change.kept, count), (Some(1), 1, 3));
    }

    #[test]
    fn bodies_stay_needed_if_the_states_between_them_were_closed_in_a_loss() {
        // Lost is what closes the body of 3 and the state inside the body of 2.
        let codes = [("6Tr", 4), ("6Te", 4), ("6WT", 0), ("6Tr", 3)];
        let next = find(&[("6Tr", 2), ("6Te", 2), ("6WT", 0), ("6Tr", 1), ("6Te", 1)]);
        let bytes = events(&codes);
        let source = Source::new(&bytes);
        let walk = EventWalk::new(&source, Layer::stored(0), 0);
        let part = find_needs(walk, u64::MAX, Past::default(), &mut 1_000);
        let needs = next.after(part, &mut 1_000);
        let tasks = |needs: &Needs| -> Vec<u32> {
            let states = &needs.stacks[NANOS6.index()].states;
            states.iter().map(|state| state.key().map_or(0, |(task, _)| task)).collect()
        };
        assert_eq!(tasks(&needs), [4, 0, 3, 0, 2, 0, 1]);
    }

    #[test]
    fn states_inside_a_needed_one_are_closed() {
        let needs = find(&[("6WT", 0), ("OHe", 0)]);
        let open = [plain(*b"Wt"), plain(*b"C["), body(1, false)];
        let (change, count) = needs.bridge(NANOS6, &open, &mut 0);
        assert_eq!((change.kept, change.opens.len(), count), (1, 0, 2));
    }

    #[test]
    fn a_state_does_not_open_inside_itself() {
        let needs = find(&[("6Wt", 0), ("6WT", 0)]);
        assert_eq!(needs.bridge(NANOS6, &[plain(*b"Wt")], &mut 0).0.kept, 0);
        assert_eq!(needs.bridge(NANOS6, &[plain(*b"C[")], &mut 0).1, 0);
    }

    #[test]
    fn a_stretch_ends_at_its_first_contradiction() {
        let needs = find(&[("6Wt", 0), ("6C]", 0), ("6WT", 0)]);
        assert_eq!(needs.bridge(NANOS6, &[], &mut 0), (StackChange::default(), 0));
    }

    #[test]
    fn a_state_is_not_needed_inside_itself() {
        let needs = find(&[("6WT", 0), ("6WT", 0), ("6C]", 0)]);
        let (change, count) = needs.bridge(NANOS6, &[], &mut 0);
        assert_eq!((change.opens, count), (vec![plain(*b"Wt")], 1));
    }

    #[test]
    fn a_state_that_does_not_fit_far_below_is_left_to_the_events_that_reach_it() {
        let [first, second] = [body(1, false), body(2, false)];
        let open = [first, plain(*b"C["), second, plain(*b"Wt"), body(3, false)];
        let needs = find(&[("6Te", 3), ("6WT", 0), ("6Te", 2), ("6Te", 1)]);
        assert_eq!(needs.bridge(NANOS6, &open, &mut 0).1, 0);
    }
}
