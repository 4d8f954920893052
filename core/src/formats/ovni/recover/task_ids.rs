//! Which events of a stream define types, and create and start tasks.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::ovni::decode::body::Body;
use crate::formats::ovni::decode::event_walk::{Event, EventWalk};
use crate::formats::ovni::layout::{self, Effect, TaskStep, task_table};
use crate::kit::num::to_u64;
use crate::kit::walk::Item;

/// Names of tasks, types and bodies in events that are remembered, each in at most 100 bytes. Later
/// ones contradict none.
const NAMES_MAX: usize = 1 << 18;
/// Places of events that are copied in the time of a look at an event.
const COPIED: u64 = 8;

/// A type, a task or a body of a task table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    Type(u8, u32),
    Task(u8, u32),
    /// A task with many bodies.
    Parallel(u8, u32),
    /// A body of a parallel task, which its start makes.
    Body(u8, u32, u32),
}

/// How an event names a type, a task or a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Defines, creates or, if it is a body, starts it.
    Makes,
    /// Creates a task of the type, or starts a body of the task.
    Uses,
    /// Pauses, resumes or ends it.
    Moves,
}

/// The events about a type, a task or a body: the offsets of those that make and use it, and the
/// number of the others.
#[derive(Clone, Debug, Default)]
struct Uses {
    made: Vec<u64>,
    used: Vec<u64>,
    moved: u64,
}

impl Uses {
    fn add(&mut self, role: Role, at: u64) {
        let places = match role {
            Role::Makes => &mut self.made,
            Role::Uses => &mut self.used,
            Role::Moves => {
                self.moved = self.moved.saturating_add(1);
                return;
            }
        };
        places.insert(places.partition_point(|place| *place < at), at);
    }

    fn remove(&mut self, role: Role, at: u64) {
        match role {
            Role::Makes => self.made.retain(|place| *place != at),
            Role::Uses => self.used.retain(|place| *place != at),
            Role::Moves => self.moved = self.moved.saturating_sub(1),
        }
    }

    fn len(&self) -> u64 {
        to_u64(self.made.len().saturating_add(self.used.len())).saturating_add(self.moved)
    }
}

/// The events of a stream that define types, and create and start tasks.
#[derive(Debug, Default)]
pub struct TaskIds {
    uses: BTreeMap<Named, Uses>,
    /// All definitions of its process are in the stream.
    is_complete: bool,
}

impl TaskIds {
    /// Reads a stream. Takes each event from `looks`, which also bound the searches after damage.
    pub fn find(mut walk: EventWalk<'_, '_>, is_complete: bool, looks: &mut u64) -> Self {
        let (mut ids, mut count) = (Self { uses: BTreeMap::new(), is_complete }, 0_usize);
        while let Some(item) = walk.next() {
            let Some(left) = looks.checked_sub(1).filter(|_| count < NAMES_MAX) else { break };
            *looks = left;
            match item {
                Item::Record(event) => {
                    count = count.saturating_add(ids.add(&event));
                }
                Item::Damage(damage) => {
                    // Definitions can be lost there.
                    ids.is_complete = false;
                    if walk.resync(damage.at, 0, left).is_none() {
                        break;
                    }
                }
            }
        }
        ids
    }

    fn add(&mut self, event: &Event<'_>) -> usize {
        let names = names_of(event).into_iter().flatten();
        names.map(|(named, role)| self.uses.entry(named).or_default().add(role, event.at)).count()
    }

    /// Puts an event in the place of another one.
    pub fn replace(&mut self, old: &Event<'_>, new: &Event<'_>) {
        for (named, role) in names_of(old).into_iter().flatten() {
            self.uses.entry(named).or_default().remove(role, old.at);
        }
        self.add(new);
    }

    /// Returns the places of the events of which one has a wrong id, if an event makes what another
    /// one made before, uses what none made before, or starts a task of Nanos6 a second time.
    pub fn find_contradiction(&self, event: &Event<'_>) -> Option<Vec<u64>> {
        names_of(event).into_iter().flatten().find_map(|(named, role)| {
            let uses = self.uses.get(&named)?;
            let once = match (role, named) {
                (Role::Makes, _) => &uses.made[..],
                (Role::Uses, Named::Task(0, _)) => &uses.used[..],
                _ => &[],
            };
            if once.first().is_some_and(|first| *first < event.at) {
                return Some(once.to_vec());
            }
            let is_made_late = match uses.made.first() {
                Some(first) => *first > event.at,
                None => self.is_complete,
            };
            if role != Role::Uses || !is_made_late {
                return None;
            }
            let bits = (0..32).filter_map(|bit| 1_u32.checked_shl(bit));
            let near = bits.filter_map(|bit| self.uses.get(&named.with(bit)));
            let near = near.flat_map(|uses| uses.made.iter().copied());
            Some(near.filter(|near| *near < event.at).chain([event.at]).collect())
        })
    }

    /// Returns how many contradictions about types and tasks end if an event takes the place of
    /// `old`; `None` if any about those of both are left or begin, or if it is the only one that
    /// names something.
    pub fn gain(&self, old: &Event<'_>, new: &Event<'_>, looks: &mut u64) -> Option<u64> {
        let (was, now) = (names_of(old), names_of(new));
        if was == now {
            return Some(0);
        }
        let names = was.iter().chain(&now).flatten().map(|(named, _)| *named);
        names.collect::<BTreeSet<Named>>().into_iter().try_fold(0_u64, |gain, named| {
            let mut uses = self.uses.get(&named).cloned().unwrap_or_default();
            *looks = looks.saturating_sub(uses.len() / COPIED);
            let before = self.count(named, &uses);
            for (_, role) in was.iter().flatten().filter(|(other, _)| *other == named) {
                uses.remove(*role, old.at);
            }
            let is_alone = uses.len() == 0;
            for (_, role) in now.iter().flatten().filter(|(other, _)| *other == named) {
                uses.add(*role, new.at);
            }
            let is_right = self.count(named, &uses) == 0 && (!is_alone || uses.len() == 0);
            is_right.then_some(gain.saturating_add(before))
        })
    }

    /// Counts the contradictions of the events about a type or a task.
    fn count(&self, named: Named, uses: &Uses) -> u64 {
        let more = |places: &[u64]| places.len().saturating_sub(1);
        let early = match uses.made.first() {
            Some(first) => uses.used.partition_point(|used| used < first),
            None if self.is_complete => uses.used.len(),
            None => 0,
        };
        let again = if matches!(named, Named::Task(0, _)) { more(&uses.used) } else { 0 };
        to_u64(more(&uses.made).saturating_add(early).saturating_add(again))
    }
}

impl Named {
    /// The one with another id.
    const fn with(self, bits: u32) -> Self {
        match self {
            Self::Type(table, id) => Self::Type(table, id ^ bits),
            Self::Task(table, id) => Self::Task(table, id ^ bits),
            Self::Parallel(table, id) => Self::Parallel(table, id ^ bits),
            Self::Body(table, task, id) => Self::Body(table, task, id ^ bits),
        }
    }
}

/// Returns the types, tasks and bodies that an event names.
fn names_of(event: &Event<'_>) -> [Option<(Named, Role)>; 2] {
    let find = || {
        let summary = event.row.and_then(layout::find_summary)?;
        let table = u8::try_from(task_table(summary.model)?).ok()?;
        let id = event.u32_at(0);
        let task = |is_parallel: bool| match is_parallel {
            true => Named::Parallel(table, id),
            false => Named::Task(table, id),
        };
        Some(match summary.effect {
            Effect::Type => [Some((Named::Type(table, id), Role::Makes)), None],
            Effect::Create(is_parallel) => {
                let kind = Named::Type(table, event.u32_at(4));
                [Some((task(is_parallel), Role::Makes)), Some((kind, Role::Uses))]
            }
            Effect::Work(_) => [Some((Named::Type(table, id), Role::Uses)), None],
            Effect::Task(step) => {
                let body = Body::of(event, summary.model).body;
                let body = (body != 0).then_some(Named::Body(table, id, body));
                let (of_task, of_body) = match step {
                    TaskStep::Execute => (Role::Uses, Role::Makes),
                    _ => (Role::Moves, Role::Moves),
                };
                [Some((task(body.is_some()), of_task)), body.map(|body| (body, of_body))]
            }
            _ => [None, None],
        })
    };
    find().unwrap_or_default()
}
