//! The states that events close and that none of them opened. They need them from earlier events.
//!
//! ```text
//!  recorded   [A  [B  C]  [C  [D  D]  C]  B]  A]
//!  lost               C]  [C  [D
//!  left       [A  [B              D]  C]  B]  A]
//!  needs                          D   C   B   A      innermost first
//!  open       A   B
//!  bridge                  [C  [D                    the fewest events with which they fit
//! ```

use crate::formats::ovni::decode::body::Body;
use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::layout::{
    self, Effect, STACK_COUNT, STACK_MAX, Stack, TASK_MODELS, TASK_STACKS, TaskStep, ThreadStep,
    model, task_table,
};
use crate::kit::steps;
use crate::kit::walk::Item;

/// The cost, in events, of a state that does not fit below those that do: it is closed or opened
/// where the events reach it.
const LATER: usize = 3;

/// Numbers of closed and opened states that are tried for a look at an event.
const TRIED: u64 = 8;

/// Tasks that are remembered as started: 4 MB. Further ones may be started a second time.
const STARTED_MAX: usize = 1 << 20;

/// A state that a stack shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenState {
    /// The state that an event opens, by its category and value.
    Plain(u16),
    /// The body of a task.
    Body(Body),
}

impl OpenState {
    /// Whether both are the same state; a body may run in one and be paused in the other.
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Body(one), Self::Body(two)) => one.is(two),
            _ => self == other,
        }
    }

    /// Whether a stack may not show them one inside the other.
    fn repeats(&self, other: &Self, stack: Stack) -> bool {
        let are_bodies = matches!((self, other), (Self::Body(_), Self::Body(_)));
        (are_bodies || self == other) && !stack.allows_repeat()
    }
}

/// The needs of some events on one stack.
#[derive(Clone, Debug, Default)]
pub struct StackNeeds {
    /// The states that they close, innermost first. Bodies are paused or not as the first of their
    /// events requires.
    pub states: Vec<OpenState>,
    /// The first state that they open, if they close none before it.
    first_opened: Option<OpenState>,
    /// They start a body before any other is named: none may run.
    starts_body: bool,
}

/// The needs of the events of a stretch.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// By the index of the stack.
    stacks: [StackNeeds; STACK_COUNT],
    /// The thread ends after them, and they have nothing open then.
    is_complete: bool,
}

impl Needs {
    /// Finds the needs of the events from a place on, up to the first that contradicts an earlier
    /// one of them, to damage, or to the end of the thread. Takes each event from `looks`. Events
    /// of a task that is `past` count only if the stretch starts it.
    pub fn find(walk: EventWalk<'_, '_>, past: Past<'_>, looks: &mut u64) -> Self {
        let mut stretch = Stretch { past, ..Stretch::default() };
        for item in walk {
            let Item::Record(event) = item else { break };
            let Some(left) = looks.checked_sub(1) else { break };
            *looks = left;
            if !stretch.take(&event) {
                break;
            }
        }
        stretch.finish()
    }

    /// Returns the change of a stack that these events need, and how many events make it. Takes the
    /// work from `looks`.
    pub fn bridge(
        &self,
        stack: Stack,
        open: &[OpenState],
        looks: &mut u64,
    ) -> (StackChange, usize) {
        let Some(needs) = self.stacks.get(stack.index()) else { return Default::default() };
        let wanted: Vec<OpenState> = needs.states.iter().rev().copied().collect();
        let must_close = self.is_complete && stack.is_linted();
        let places = open.iter().enumerate();
        let bodies = places.filter(|(_, state)| matches!(state, OpenState::Body(_)));
        let bodies: Vec<usize> = bodies.map(|(place, _)| place).collect();
        let (mut best, mut tried): (Option<(usize, StackChange)>, u64) = (None, 0);
        for events in 0..=open.len().saturating_add(wanted.len()) {
            if best.as_ref().is_some_and(|(cost, _)| *cost <= events) {
                break;
            }
            let least = events.saturating_sub(wanted.len());
            for closed in least..=events.min(open.len()) {
                tried = tried.saturating_add(1);
                let kept = open.len().saturating_sub(closed);
                let Some(used) = wanted.len().checked_sub(events.saturating_sub(closed)) else {
                    continue;
                };
                let (below, opens) = (open.get(..kept), wanted.split_at_checked(used));
                let (Some(below), Some((used, opens))) = (below, opens) else { continue };
                let is_same = |want| below.last().is_some_and(|top| top.is(want));
                if !used.last().is_none_or(is_same) {
                    continue;
                }
                let same = count_same(below, used);
                let is_refused = opens.is_empty() && needs.is_refused_on(below.last(), stack)
                    || needs.cannot_pause(open, &bodies, kept, same);
                let left = kept.saturating_sub(same);
                let matched = used.get(used.len().saturating_sub(same)..).unwrap_or_default();
                let is_shown = !has_body(used) || has_body(matched);
                let later = match same == used.len() {
                    true => usize::from(must_close).saturating_mul(left),
                    // The body of a task is unique; many states are equal by chance.
                    false if is_shown => LATER,
                    false => continue,
                };
                let cost = events.saturating_add(later);
                if !is_refused && best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    let moved = needs.moved_body(below, matched);
                    best = Some((cost, StackChange { kept, moved, opens: opens.to_vec() }));
                }
            }
        }
        steps::count(tried / TRIED);
        *looks = looks.saturating_sub(tried / TRIED);
        let unchanged = || StackChange { kept: open.len(), ..StackChange::default() };
        let change = best.map_or_else(unchanged, |(_, change)| change);
        let count = open.len().saturating_sub(change.kept).saturating_add(change.opens.len());
        let count = count.saturating_add(usize::from(change.moved.is_some()));
        (change, count)
    }
}

/// Counts the states at the end of two lists that are the same.
fn count_same(one: &[OpenState], two: &[OpenState]) -> usize {
    one.iter().rev().zip(two.iter().rev()).take_while(|(one, two)| one.is(two)).count()
}

impl StackNeeds {
    /// Whether the first state that is opened may not follow `top`.
    fn is_refused_on(&self, top: Option<&OpenState>, stack: Stack) -> bool {
        self.first_opened.zip(top).is_some_and(|(first, top)| first.repeats(top, stack))
    }

    /// Whether another body starts while a parallel one runs: it would have to pause, and cannot.
    /// `bodies` are the places of the bodies among the open states, of which some are kept and the
    /// last are the `same` as needed ones.
    fn cannot_pause(&self, open: &[OpenState], bodies: &[usize], kept: usize, same: usize) -> bool {
        let count = bodies.partition_point(|place| *place < kept);
        let innermost = count.checked_sub(1).and_then(|last| bodies.get(last).copied());
        let innermost = innermost.filter(|place| place.saturating_add(same) < kept);
        let innermost = innermost.and_then(|place| open.get(place));
        let is_stuck = |state: &OpenState| match state {
            OpenState::Body(body) => body.body != 0 && !body.is_paused,
            OpenState::Plain(_) => false,
        };
        self.starts_body && innermost.is_some_and(is_stuck)
    }

    /// Returns the innermost body that is kept if it has to run or pause first.
    fn moved_body(&self, kept: &[OpenState], used: &[OpenState]) -> Option<Body> {
        let body = |state: &OpenState| match state {
            OpenState::Body(body) => Some(*body),
            OpenState::Plain(_) => None,
        };
        let innermost = kept.iter().rev().find_map(body)?;
        let wanted = match used.iter().rev().find_map(body) {
            Some(wanted) => wanted.is_paused,
            None => self.starts_body || innermost.is_paused,
        };
        (wanted != innermost.is_paused).then_some(innermost)
    }
}

/// A change of what is open on a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackChange {
    /// This many states stay open, outermost first; those inside them are closed.
    pub kept: usize,
    /// The innermost body that stays, if it has to run or pause: its state before.
    pub moved: Option<Body>,
    /// The states that are opened then, outermost first.
    pub opens: Vec<OpenState>,
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
#[derive(Clone, Copy, Debug, Default)]
pub struct Past<'p> {
    /// Those that the stream starts, in order.
    pub started: &'p [u32],
    /// The bodies that are open at the place.
    pub open: &'p [Body],
}

impl Past<'_> {
    /// Whether a task is one of them.
    pub fn has(&self, task: u32) -> bool {
        self.started.binary_search(&task).is_ok() && self.open.iter().all(|body| body.task != task)
    }
}

/// Events while their needs are collected.
#[derive(Debug, Default)]
struct Stretch<'p> {
    needs: Needs,
    past: Past<'p>,
    /// The states that these events have opened.
    own: [Vec<OpenState>; STACK_COUNT],
    /// The bodies that they have started.
    bodies: [Vec<Body>; TASK_MODELS],
    /// A body that they move and have not started: as it was needed, and as it is now.
    needed: [Option<(Body, Body)>; TASK_MODELS],
}

impl Stretch<'_> {
    /// Takes an event; returns whether it fits those before it, and the thread goes on.
    fn take(&mut self, event: &Event<'_>) -> bool {
        let Some(summary) = event.row.and_then(layout::find_summary) else { return true };
        match summary.effect {
            Effect::Push(stack) => self.open(stack, OpenState::Plain(summary.state)),
            Effect::Pop(stack) => self.close(stack, OpenState::Plain(summary.state)),
            Effect::Task(step) => self.move_body(event, summary.model, step),
            Effect::Thread(ThreadStep::End) => {
                self.needs.is_complete = self.own.iter().all(Vec::is_empty);
                false
            }
            _ => true,
        }
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
        match own.pop() {
            Some(open) => open.is(&state),
            None => {
                needs.states.push(state);
                needs.states.len() <= STACK_MAX
            }
        }
    }

    fn move_body(&mut self, event: &Event<'_>, model: u8, step: TaskStep) -> bool {
        let Some(table) = task_table(model) else { return true };
        let Some(stack) = TASK_STACKS.get(table).copied().flatten() else { return true };
        let (Some(bodies), Some(needed)) = (self.bodies.get_mut(table), self.needed.get_mut(table))
        else {
            return false;
        };
        let body = Body::of(event, model);
        let is_past = table == 0 && self.past.has(body.task);
        if is_past && step != TaskStep::Execute && !bodies.iter().any(|own| own.is(&body)) {
            return true;
        }
        let is_alone = bodies.is_empty() && needed.is_none();
        let current = bodies.last_mut().or(needed.as_mut().map(|(_, now)| now));
        if step == TaskStep::Execute {
            if model == model::NOSV && current.is_some_and(|current| !current.is_paused) {
                return false;
            }
            bodies.push(body);
            let needs = self.needs.stacks.get_mut(stack.index());
            if let Some(needs) = needs.filter(|needs| is_alone && !has_body(&needs.states)) {
                needs.starts_body = model == model::NOSV;
            }
            return self.open(stack, OpenState::Body(body));
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
        if step != TaskStep::End {
            return true;
        }
        let ended = match bodies.pop() {
            Some(own) => own,
            None => needed.take().map_or(body, |(first, _)| first),
        };
        self.close(stack, OpenState::Body(ended))
    }

    fn finish(mut self) -> Needs {
        for (table, needed) in self.needed.into_iter().enumerate() {
            let stack = TASK_STACKS.get(table).copied().flatten();
            let needs = stack.and_then(|stack| self.needs.stacks.get_mut(stack.index()));
            if let (Some((body, _)), Some(needs)) = (needed, needs) {
                needs.states.push(OpenState::Body(body));
            }
        }
        self.needs
    }
}

fn has_body(states: &[OpenState]) -> bool {
    states.iter().any(|state| matches!(state, OpenState::Body(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
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
        Needs::find(EventWalk::new(&source, Layer::stored(0), 0), Past::default(), &mut 1_000)
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
    fn a_state_that_does_not_fit_far_below_is_left_to_the_events_that_reach_it() {
        let [first, second] = [body(1, false), body(2, false)];
        let open = [first, plain(*b"C["), second, plain(*b"Wt"), body(3, false)];
        let needs = find(&[("6Te", 3), ("6WT", 0), ("6Te", 2), ("6Te", 1)]);
        assert_eq!(needs.bridge(NANOS6, &open, &mut 0).1, 0);
    }
}
