//! Types, tasks and bodies of all processes.

use std::collections::{BTreeMap, HashMap};

use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::check::occurrence::Occurrence;
use crate::formats::ovni::check::shared_event::{SharedEffect, SharedEvent};
use crate::formats::ovni::check::task_table::{BodyState, PAGE, Task, TaskPages};
use crate::formats::ovni::check::ties::{SharedThing, Ties};
use crate::formats::ovni::layout::TASK_MODELS;
use crate::formats::ovni::limits::{RESTORED, TASKS};
use crate::formats::ovni::repair::definitions::drop_body;
use crate::formats::ovni::repair::drop_event;
use crate::formats::ovni::rules;
use crate::formats::ovni::state::summary::MissingDefinitions;
use crate::formats::ovni::state::system::System;
use crate::formats::ovni::state::thread::LabelSource;
use crate::kit::span::Span;
use crate::model::limits::{Limits, RESYNC};
use crate::model::rule::common;

/// Types and tasks of one model in one process.
#[derive(Debug, Default)]
struct TaskTable {
    /// Hash of the label of each type.
    types: HashMap<u32, u64>,
    tasks: TaskPages,
    /// Bodies of parallel tasks.
    bodies: HashMap<(u32, u32), BodyState>,
}

/// Something that has to exist, or to end, before an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    process: usize,
    table: u8,
    what: Needed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needed {
    Type(u32),
    Task(u32),
    EndOfBody(u32, u32),
}

/// Types, tasks and bodies of all processes.
#[derive(Debug)]
pub struct TaskBook {
    /// Process of each stream.
    processes: Vec<usize>,
    tables: Vec<[TaskTable; TASK_MODELS]>,
    /// Types, tasks and bodies that are remembered.
    entries: u64,
    entries_max: u64,
    /// Missing definitions of one task table that are listed.
    restored_max: usize,
    /// Bytes that may still be looked at for the ends of bodies.
    search_left: u64,
    missing: BTreeMap<(usize, usize), MissingDefinitions>,
    /// The last place of each stream before which events were lost, and the clock before it.
    losses: BTreeMap<usize, (Span, u64)>,
    ties: Ties,
}

impl TaskBook {
    /// Starts without a task. A stream without an owner is a process of its own.
    pub fn new(system: &System, streams: usize, limits: &Limits) -> Self {
        let known = system.processes.len();
        let process = |stream: usize| {
            let owner = system.owner(stream);
            owner.map_or(known.saturating_add(stream), |owner| owner.process)
        };
        Self {
            processes: (0..streams).map(process).collect(),
            tables: (0..known.saturating_add(streams)).map(|_| Default::default()).collect(),
            entries: 0,
            entries_max: limits.of(&TASKS),
            restored_max: limits.count_of(&RESTORED),
            search_left: limits.of(&RESYNC),
            missing: BTreeMap::new(),
            losses: BTreeMap::new(),
            ties: Ties::default(),
        }
    }

    /// Returns whether two threads have changed a type or a task at one clock.
    pub const fn has_ties(&self) -> bool {
        self.ties.is_found()
    }

    /// Takes note of the types and tasks that an event concerns.
    #[inline]
    fn note_ties(&mut self, occurrence: &Occurrence<'_, '_, '_>) {
        if self.processes.len() < 2 {
            // A lone stream is its own order.
            return;
        }
        let (process, stream) = (self.process(occurrence), occurrence.stream);
        let table = occurrence.event.table;
        let kind = |id: u32| SharedThing::Type(process, table, id);
        let task = |id: u32| SharedThing::Task(process, table, id);
        let source = |source: LabelSource| match source {
            LabelSource::Task(id) => task(id),
            LabelSource::Work(id) => kind(id),
        };
        let (first, second) = match occurrence.event.effect {
            SharedEffect::StartBody(id, _) | SharedEffect::EndBody(id, _) => (task(id), None),
            SharedEffect::DefineType(id, _) | SharedEffect::UseType(id) => (kind(id), None),
            SharedEffect::CreateTask(id, of, _) => (task(id), Some(kind(of))),
            SharedEffect::CompareLabels(one, two) => (source(one), Some(source(two))),
            _ => return,
        };
        self.ties.note(occurrence.time, first, stream);
        if let Some(second) = second {
            self.ties.note(occurrence.time, second, stream);
        }
    }

    /// Returns the effects that an event of a stream has to wait for: a definition that it uses, or
    /// the end of a body.
    pub fn find_need(&mut self, stream: usize, event: &SharedEvent) -> Option<Need> {
        let process = self.processes.get(stream).copied()?;
        let table = self.tables.get_mut(process)?.get_mut(usize::from(event.table))?;
        let what = match event.effect {
            SharedEffect::CreateTask(_, kind, _) | SharedEffect::UseType(kind) => {
                (!table.types.contains_key(&kind)).then_some(Needed::Type(kind))
            }
            SharedEffect::StartBody(task, body) => match table.tasks.get_mut(task) {
                None => Some(Needed::Task(task)),
                Some(known) => {
                    let own = known.body;
                    let state = match known.is_parallel {
                        true => table.bodies.get(&(task, body)).copied(),
                        false => Some(own),
                    };
                    let is_alive = matches!(state, Some(BodyState::Alive(_)));
                    is_alive.then_some(Needed::EndOfBody(task, body))
                }
            },
            _ => None,
        };
        what.map(|what| Need { process, table: event.table, what })
    }

    /// Returns whether an event of a stream gives what another one needs.
    pub fn gives(&self, stream: usize, event: &SharedEvent, need: &Need) -> bool {
        let is_same = self.processes.get(stream) == Some(&need.process);
        is_same
            && event.table == need.table
            && match (event.effect, need.what) {
                (SharedEffect::DefineType(id, _), Needed::Type(wanted)) => id == wanted,
                (SharedEffect::CreateTask(id, ..), Needed::Task(wanted)) => id == wanted,
                (SharedEffect::EndBody(task, body), Needed::EndOfBody(of, wanted)) => {
                    (task, body) == (of, wanted)
                }
                _ => false,
            }
    }

    /// Returns the tasks and types that were used and never created, by process and task table.
    pub fn finish(mut self) -> BTreeMap<(usize, usize), MissingDefinitions> {
        for ((process, table), missing) in &mut self.missing {
            let table = self.tables.get(*process).and_then(|tables| tables.get(*table));
            let is_used =
                |id: &u32| table.is_some_and(|table: &TaskTable| table.types.contains_key(id));
            missing.free_type = (1..=u32::MAX).rev().find(|id| !is_used(id)).unwrap_or(1);
        }
        self.missing
    }

    /// Applies an event about types, tasks and bodies; returns whether it is one.
    #[inline]
    pub fn apply(&mut self, occurrence: &Occurrence<'_, '_, '_>, log: &mut Log) -> bool {
        self.note_ties(occurrence);
        match occurrence.event.effect {
            SharedEffect::StartBody(task, body) => self.start_body(occurrence, task, body, log),
            SharedEffect::EndBody(task, body) => self.end_body(occurrence, task, body),
            SharedEffect::DefineType(id, label) => self.define_type(occurrence, id, label, log),
            SharedEffect::CreateTask(task, kind, is_parallel) => {
                let new = Task { kind, is_parallel, body: BodyState::New };
                self.create_task(occurrence, task, new, log);
            }
            SharedEffect::UseType(kind) => self.use_type(occurrence, kind, log),
            SharedEffect::CompareLabels(innermost, ended) => {
                self.compare_labels(occurrence, innermost, ended, log);
            }
            SharedEffect::Loss => {
                let loss = (occurrence.span(), occurrence.event.clock);
                self.losses.insert(occurrence.stream, loss);
            }
            _ => return false,
        }
        true
    }

    fn process(&self, occurrence: &Occurrence<'_, '_, '_>) -> usize {
        self.processes.get(occurrence.stream).copied().unwrap_or(0)
    }

    #[inline]
    fn table_mut(&mut self, occurrence: &Occurrence<'_, '_, '_>) -> Option<&mut TaskTable> {
        let process = self.process(occurrence);
        self.tables.get_mut(process)?.get_mut(usize::from(occurrence.event.table))
    }

    /// Whether `count` more types, tasks or bodies may be remembered.
    fn has_room(&mut self, occurrence: &Occurrence<'_, '_, '_>, count: u64, log: &mut Log) -> bool {
        let before = self.entries;
        self.entries = before.saturating_add(count);
        if self.entries > self.entries_max && before <= self.entries_max {
            let max = self.entries_max;
            let message = format!("limit reached: more than {max} tasks, types and bodies");
            log.push(occurrence.finding(&common::LIMIT_REACHED, message));
        }
        self.entries <= self.entries_max
    }

    fn define_type(
        &mut self,
        occurrence: &Occurrence<'_, '_, '_>,
        id: u32,
        label: u64,
        log: &mut Log,
    ) {
        if !self.has_room(occurrence, 1, log) {
            return;
        }
        let Some(table) = self.table_mut(occurrence) else { return };
        if table.types.insert(id, label).is_some() {
            let message = format!("duplicate type {id}: the process has defined it before");
            let finding = occurrence.finding(&rules::TASK_REDEFINED, message);
            log.push(finding.fix(drop_event(occurrence.span())));
        }
    }

    fn use_type(&mut self, occurrence: &Occurrence<'_, '_, '_>, kind: u32, log: &mut Log) {
        let table = self.table_mut(occurrence);
        let is_known = table.is_none_or(|table| table.types.contains_key(&kind));
        if is_known || kind == 0 || !self.has_room(occurrence, 1, log) {
            return;
        }
        if let Some(table) = self.table_mut(occurrence) {
            table.types.insert(kind, u64::from(kind));
        }
        let max = self.restored_max;
        let missing = self.missing_mut(occurrence);
        if missing.types.len() < max {
            missing.types.push(kind);
        }
    }

    fn missing_mut(&mut self, occurrence: &Occurrence<'_, '_, '_>) -> &mut MissingDefinitions {
        let key = (self.process(occurrence), usize::from(occurrence.event.table));
        let first_use = (occurrence.span(), occurrence.event.clock);
        let loss = self.losses.get(&occurrence.stream).copied();
        self.missing.entry(key).or_insert_with(|| MissingDefinitions {
            stream: occurrence.stream,
            span: first_use.0,
            place: loss.unwrap_or(first_use),
            types: Vec::new(),
            tasks: Vec::new(),
            free_type: 0,
        })
    }

    /// Remembers a task if there is room; returns the task that had its id.
    fn remember(
        &mut self,
        occurrence: &Occurrence<'_, '_, '_>,
        id: u32,
        task: Task,
        log: &mut Log,
    ) -> Option<Option<Task>> {
        let pages = self.table_mut(occurrence).map_or(0, |table| table.tasks.grows_by(id));
        if !self.has_room(occurrence, pages.saturating_mul(PAGE), log) {
            return None;
        }
        Some(self.table_mut(occurrence)?.tasks.insert(id, task))
    }

    fn create_task(
        &mut self,
        occurrence: &Occurrence<'_, '_, '_>,
        id: u32,
        task: Task,
        log: &mut Log,
    ) {
        self.use_type(occurrence, task.kind, log);
        if let Some(Some(old)) = self.remember(occurrence, id, task, log) {
            let message = format!("duplicate task {id}: created before, with type {}", old.kind);
            let finding = occurrence.finding(&rules::TASK_REDEFINED, message);
            log.push(finding.fix(drop_event(occurrence.span())));
        }
    }

    #[inline]
    fn start_body(
        &mut self,
        occurrence: &Occurrence<'_, '_, '_>,
        task: u32,
        body: u32,
        log: &mut Log,
    ) {
        let runner = u32::try_from(occurrence.stream).unwrap_or(u32::MAX);
        let may_repeat = occurrence.event.table != 0;
        let known = self.table_mut(occurrence).and_then(|table| table.tasks.get_mut(task));
        let mut found = None;
        if let Some(known) = known {
            let can_start =
                known.body == BodyState::New || known.body == BodyState::Dead && may_repeat;
            if !known.is_parallel && body == 0 && can_start {
                known.body = BodyState::Alive(runner);
                return;
            }
            found = Some(*known);
        }
        self.start_unusual_body(occurrence, (task, body), found, log);
    }

    /// A body of a parallel or unknown task, or one that cannot start now.
    fn start_unusual_body(
        &mut self,
        occurrence: &Occurrence<'_, '_, '_>,
        (task, body): (u32, u32),
        known: Option<Task>,
        log: &mut Log,
    ) {
        let known = match known {
            None if task == 0 => return,
            None => self.assume_task(occurrence, task, body, log),
            known => known,
        };
        let Some(found) = known else { return };
        if found.is_parallel == (body == 0) {
            let (kind, expected) =
                if found.is_parallel { ("parallel", "above 0") } else { ("not parallel", "0") };
            let message =
                format!("bodyid is {body}, but task {task} is {kind}, expected {expected}");
            let finding = occurrence.finding(&rules::BAD_ARGUMENT, message);
            let fix = drop_body(occurrence.walk, occurrence.event.at, &mut self.search_left);
            log.push(finding.fix(fix.unwrap_or_else(|| drop_event(occurrence.span()))));
            return;
        }
        let Some(state) = self.replace_body(occurrence, (task, body), found, log) else { return };
        let runner = u32::try_from(occurrence.stream).unwrap_or(u32::MAX);
        let may_repeat = !found.is_parallel && occurrence.event.table != 0;
        let fault = match state {
            BodyState::New => return,
            BodyState::Dead if may_repeat => return,
            BodyState::Dead => "has ended and cannot run again",
            BodyState::Alive(other) if other == runner => "runs in this thread already",
            BodyState::Alive(_) => "runs in another thread already",
        };
        let message = format!("task {task} starts, but it {fault}");
        let fix = drop_body(occurrence.walk, occurrence.event.at, &mut self.search_left);
        log.push(occurrence.finding(&rules::BODY_STATE, message).fix_if(fix));
    }

    /// Adds a task that is used and was never created.
    fn assume_task(
        &mut self,
        occurrence: &Occurrence<'_, '_, '_>,
        task: u32,
        body: u32,
        log: &mut Log,
    ) -> Option<Task> {
        let assumed = Task { kind: 0, is_parallel: body != 0, body: BodyState::New };
        self.remember(occurrence, task, assumed, log)?;
        let max = self.restored_max;
        let missing = self.missing_mut(occurrence);
        if missing.tasks.len() < max {
            missing.tasks.push((task, body != 0));
        }
        Some(assumed)
    }

    /// Marks a body as running; returns its state before.
    fn replace_body(
        &mut self,
        occurrence: &Occurrence<'_, '_, '_>,
        (task, body): (u32, u32),
        found: Task,
        log: &mut Log,
    ) -> Option<BodyState> {
        let runner = u32::try_from(occurrence.stream).unwrap_or(u32::MAX);
        if found.is_parallel {
            if !self.has_room(occurrence, 1, log) {
                return None;
            }
            let table = self.table_mut(occurrence);
            let before =
                table.and_then(|t| t.bodies.insert((task, body), BodyState::Alive(runner)));
            return Some(before.unwrap_or(BodyState::New));
        }
        let table = self.table_mut(occurrence);
        if let Some(task) = table.and_then(|table| table.tasks.get_mut(task)) {
            task.body = BodyState::Alive(runner);
        }
        Some(found.body)
    }

    #[inline]
    fn end_body(&mut self, occurrence: &Occurrence<'_, '_, '_>, task: u32, body: u32) {
        let Some(table) = self.table_mut(occurrence) else { return };
        let Some(found) = table.tasks.get_mut(task) else { return };
        if !found.is_parallel {
            found.body = BodyState::Dead;
        } else if let Some(state) = table.bodies.get_mut(&(task, body)) {
            *state = BodyState::Dead;
        }
    }

    fn compare_labels(
        &mut self,
        occurrence: &Occurrence<'_, '_, '_>,
        innermost: LabelSource,
        ended: LabelSource,
        log: &mut Log,
    ) {
        let label = |table: &mut TaskTable, source: LabelSource| {
            let kind = match source {
                LabelSource::Work(kind) => kind,
                LabelSource::Task(task) => table.tasks.get_mut(task)?.kind,
            };
            table.types.get(&kind).copied()
        };
        let are_equal = self.table_mut(occurrence).is_some_and(|table| {
            let innermost = label(table, innermost);
            innermost.is_some() && innermost == label(table, ended)
        });
        if !are_equal {
            let message = "the task or worksharing that ends is not the innermost one";
            let finding = occurrence.finding(&rules::STACK_MISMATCH, message);
            log.push(finding.fix_if(occurrence.label_fix.cloned()));
        }
    }
}
