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

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::ovni::decode::body::Body;
use crate::formats::ovni::layout::{STACK_COUNT, STACK_MAX, Stack};
use crate::kit::steps;

/// The cost, in events, of a state that does not fit below those that do: it is closed or opened
/// where the events reach it.
const LATER: usize = 3;

/// Numbers of closed and opened states that are tried for a look at an event.
const TRIED: u64 = 8;

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
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Body(one), Self::Body(two)) => one.is(two),
            _ => self == other,
        }
    }

    /// Returns task and body, if it is the body of a task.
    pub(super) const fn key(&self) -> Option<(u32, u32)> {
        match self {
            Self::Body(body) => Some((body.task, body.body)),
            Self::Plain(_) => None,
        }
    }

    /// Whether a stack may not show them one inside the other.
    pub(super) fn repeats(&self, other: &Self, stack: Stack) -> bool {
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
    pub(super) first_opened: Option<OpenState>,
    /// They name a body.
    pub(super) names_body: bool,
    /// They start a body before any other is named: none may run.
    pub(super) starts_body: bool,
}

/// The needs of the events of a stretch.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// By the index of the stack.
    pub(super) stacks: [StackNeeds; STACK_COUNT],
    /// The thread ends after them, and they have nothing open then.
    pub(super) is_complete: bool,
}

impl Needs {
    /// Returns the change of a stack that these events need, and how many events make it. Takes the
    /// work from `looks`.
    pub fn bridge(
        &self,
        stack: Stack,
        open: &[OpenState],
        looks: &mut u64,
    ) -> (StackChange, usize) {
        let change = self.find_change(stack, open, false, looks);
        let unchanged = || StackChange { kept: open.len(), ..StackChange::default() };
        let change = change.unwrap_or_else(unchanged);
        let count = open.len().saturating_sub(change.kept).saturating_add(change.opens.len());
        let count = count.saturating_add(usize::from(change.moved.is_some()));
        (change, count)
    }

    /// Finds the cheapest change of a stack. `is_part`: the states are the innermost ones only, and
    /// others may be open around them.
    fn find_change(
        &self,
        stack: Stack,
        open: &[OpenState],
        is_part: bool,
        looks: &mut u64,
    ) -> Option<StackChange> {
        let needs = self.stacks.get(stack.index())?;
        let wanted: Vec<OpenState> = needs.states.iter().rev().copied().collect();
        let must_close = self.is_complete && stack.is_linted();
        let places = open.iter().enumerate();
        let bodies = places.filter(|(_, state)| matches!(state, OpenState::Body(_)));
        let bodies: Vec<usize> = bodies.map(|(place, _)| place).collect();
        let stay = count_needed(open, &bodies, &wanted);
        let twice = find_open(open, &bodies, &wanted);
        let (mut best, mut tried): (Option<(usize, StackChange)>, u64) = (None, 0);
        for events in 0..=open.len().saturating_add(wanted.len()) {
            if best.as_ref().is_some_and(|(cost, _)| *cost <= events) {
                break;
            }
            let least = events.saturating_sub(wanted.len());
            for closed in least..=events.min(open.len().saturating_sub(stay)) {
                tried = tried.saturating_add(1);
                let kept = open.len().saturating_sub(closed);
                let Some(used) = wanted.len().checked_sub(events.saturating_sub(closed)) else {
                    continue;
                };
                let (below, opens) = (open.get(..kept), wanted.split_at_checked(used));
                let (Some(below), Some((used, opens))) = (below, opens) else { continue };
                let is_same = |want| below.last().is_none_or(|top| top.is(want));
                if !used.last().is_none_or(|want| (is_part || kept > 0) && is_same(want)) {
                    continue;
                }
                let same = count_same(below, used);
                let is_repeated = opens.first().zip(below.last());
                let is_refused = twice.get(used.len()).is_some_and(|place| *place < kept)
                    || is_repeated.is_some_and(|(one, top)| one.repeats(top, stack))
                    || opens.is_empty() && needs.is_refused_on(below.last(), stack)
                    || needs.cannot_pause(open, &bodies, kept, same);
                let left = kept.saturating_sub(same);
                let matched = used.get(used.len().saturating_sub(same)..).unwrap_or_default();
                let is_shown = !has_body(used) || has_body(matched);
                let later = match same == used.len() || is_part && left == 0 {
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
        best.map(|(_, change)| change)
    }

    /// Returns the needs of a part and of the events after the loss that ends it, which have these.
    /// They are met by what the part leaves open, by events that were lost there, and for the rest
    /// by what is open before the part.
    pub fn after(&self, part: Part, looks: &mut u64) -> Self {
        let Part { mut needs, left } = part;
        if *looks == 0 {
            return needs;
        }
        needs.is_complete = self.is_complete;
        for stack in Stack::ALL {
            let index = stack.index();
            let (Some(own), Some(left), Some(next)) =
                (needs.stacks.get_mut(index), left.get(index), self.stacks.get(index))
            else {
                continue;
            };
            let Some(change) = self.find_change(stack, left, true, looks) else { continue };
            let used = next.states.len().saturating_sub(change.opens.len());
            let used = next.states.iter().rev().take(used).copied().collect::<Vec<_>>();
            let below = left.get(..change.kept).unwrap_or_default();
            let same = count_same(below, &used);
            if same < change.kept && !are_apart(below, &used, same) {
                continue;
            }
            let met = same.saturating_add(change.opens.len());
            let mut rest = next.states.iter().skip(met).copied().peekable();
            // A state that the part opens first is not open before it.
            let is_own = |state: &OpenState| {
                own.states.is_empty()
                    && own.first_opened.is_some_and(|first| first.repeats(state, stack))
            };
            rest.next_if(is_own);
            own.add_around(rest.collect(), stack);
            if own.states.is_empty() && left.is_empty() && own.first_opened.is_none() {
                own.first_opened = next.first_opened;
            }
            own.starts_body |= !own.names_body && next.starts_body;
            own.names_body |= next.names_body;
        }
        needs
    }
}

/// Returns for each wanted state the first place of an open body that is it, or one that is wanted
/// inside it: while that one is open, none of them can be opened.
fn find_open(open: &[OpenState], bodies: &[usize], wanted: &[OpenState]) -> Vec<usize> {
    let known = bodies.iter().filter_map(|place| Some((open.get(*place)?.key()?, *place)));
    let known: BTreeMap<(u32, u32), usize> = known.collect();
    let mut first = usize::MAX;
    let places = wanted.iter().rev().map(|state| {
        let place = state.key().and_then(|body| known.get(&body).copied());
        first = first.min(place.unwrap_or(usize::MAX));
        first
    });
    let mut places: Vec<usize> = places.collect();
    places.reverse();
    places
}

/// Returns how many states have to stay open so that the bodies stay that are needed, in the order
/// in which they are: the most of them that are in that order.
fn count_needed(open: &[OpenState], bodies: &[usize], wanted: &[OpenState]) -> usize {
    if bodies.is_empty() {
        return 0;
    }
    let wanted = wanted.iter().filter_map(OpenState::key).zip(0_usize..);
    let wanted: BTreeMap<(u32, u32), usize> = wanted.collect();
    // The last of each number of bodies in order, and the state up to which most are.
    let (mut lasts, mut stay): (Vec<usize>, usize) = (Vec::new(), 0);
    for place in bodies {
        let body = open.get(*place).and_then(OpenState::key);
        let Some(order) = body.and_then(|body| wanted.get(&body)) else { continue };
        let length = lasts.partition_point(|last| last < order);
        match lasts.get_mut(length) {
            Some(last) => *last = *order,
            None => {
                lasts.push(*order);
                stay = place.saturating_add(1);
            }
        }
    }
    stay
}

/// Whether two lists that end with the same states, a body among them, have no other body in
/// common: those of the first are closed by events that are lost later.
fn are_apart(one: &[OpenState], two: &[OpenState], same: usize) -> bool {
    let (one, _) = one.split_at(one.len().saturating_sub(same));
    let (two, matched) = two.split_at(two.len().saturating_sub(same));
    let bodies: BTreeSet<(u32, u32)> = one.iter().filter_map(OpenState::key).collect();
    let is_common = |body: (u32, u32)| bodies.contains(&body);
    has_body(matched) && !two.iter().filter_map(OpenState::key).any(is_common)
}

/// Returns the states between the two outermost bodies, if there are any.
fn find_between(states: &[OpenState]) -> Option<&[OpenState]> {
    let is_body = |state: &OpenState| matches!(state, OpenState::Body(_));
    let mut between = states.rsplit(is_body).skip(1);
    let found = between.next().filter(|found| !found.is_empty());
    found.filter(|_| between.next().is_some())
}

/// Counts the states at the end of two lists that are the same.
fn count_same(one: &[OpenState], two: &[OpenState]) -> usize {
    one.iter().rev().zip(two.iter().rev()).take_while(|(one, two)| one.is(two)).count()
}

impl StackNeeds {
    /// Adds a state around those that are needed; returns whether it can be open there.
    pub(super) fn add(&mut self, state: OpenState, stack: Stack) -> bool {
        let fits = self.states.last().is_none_or(|inner| !inner.repeats(&state, stack));
        self.states.extend(fits.then_some(state));
        fits
    }

    /// Adds the states that are needed after a loss. It may have taken the closers of those between
    /// two bodies, or of a body between two equal states.
    fn add_around(&mut self, states: Vec<OpenState>, stack: Stack) {
        let Some((first, rest)) = states.split_first() else { return };
        if !self.add(*first, stack) && matches!(first, OpenState::Body(_)) {
            let between = find_between(&self.states).or_else(|| find_between(&states));
            let between = between.unwrap_or_default().to_vec();
            self.states.extend(between);
            self.add(*first, stack);
        }
        self.states.extend_from_slice(rest);
        self.states.truncate(STACK_MAX);
    }

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

/// Events without a contradiction, as a part of a stream.
#[derive(Debug, Default)]
pub struct Part {
    /// Their needs.
    pub needs: Needs,
    /// The states that they leave open, outermost first. A needed body that they move and do not
    /// end is the first.
    pub(super) left: [Vec<OpenState>; STACK_COUNT],
}

fn has_body(states: &[OpenState]) -> bool {
    states.iter().any(|state| matches!(state, OpenState::Body(_)))
}
