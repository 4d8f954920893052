//! What concerns several threads, in the order of their clocks: who runs on which CPU, what tasks
//! and types there are, which body runs where.
//!
//! Streams are walked side by side until their queues are full; what all of them have reached is
//! taken out in order. Memory is a queue for each stream, whatever the streams hold. At equal clocks
//! what lets go of something comes before what takes it.

use crate::limits::FINDINGS;
use crate::formats::ovni::limits::TASKS;
use crate::formats::ovni::limits::LOOM_CPUS;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Limits;
use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::check::system::{Loom, System};
use crate::formats::ovni::check::thread::{
    Cross, CrossKind, Label, Machine, Shared, State, TASK_MODELS,
};
use crate::formats::ovni::layout::EVENT_HEADER;
use crate::formats::ovni::rules;
use crate::kit::span::{Layer, Span};
use crate::mend::edit::{Edit, Fix, Safety};
use crate::report::rule::common;
use crate::report::{Finding, Rule};

/// Events that wait for each stream.
const QUEUE: usize = 4096;
/// The same for a stream by itself: nothing has to wait for another one.
const QUEUE_ALONE: usize = 1_024;
/// Tasks that one definition puts back.
pub const LOST_MAX: usize = 65_536;

/// A thread as the others see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Where it stands now.
    state: Presence,
    /// Its CPU, if it has one; -1 is the virtual one.
    pub cpu: Option<i32>,
    /// Its stream ended and it did not: it will be closed where it ends.
    closed: bool,
    /// The last time another thread moved it after that, and where to.
    pub late: Option<(u64, i32)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Presence {
    #[default]
    Unknown,
    Running,
    Stopped,
    Dead,
}

/// A CPU that was named and is not in the loom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingCpu {
    /// Number of the stream.
    pub stream: usize,
    /// The event.
    pub span: Span,
    /// Number of the event.
    pub number: u64,
    /// Highest one of the loom.
    pub highest: i32,
}

/// Tasks and types of a process that nothing defines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Stream of the first use.
    pub stream: usize,
    /// The first use.
    pub span: Option<Span>,
    /// Its clock, as it stands in the stream.
    pub clock: u64,
    /// Types.
    pub types: Vec<u32>,
    /// Tasks: id, and whether it has many bodies.
    pub tasks: Vec<(u32, bool)>,
    /// How many there are of both.
    pub count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Task {
    kind: u32,
    parallel: bool,
    body: BodyState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyState {
    New,
    Alive(u32),
    Dead,
}

/// Tasks that lie together.
const PAGE: usize = 32;

/// Tasks by id. Runtimes count their tasks, so that neighbours are used together: a page holds 32 of
/// them, and the page that was used last is looked at first.
#[derive(Debug, Default)]
struct Tasks {
    pages: Vec<[Option<Task>; PAGE]>,
    /// Where the page of 32 ids is.
    places: BTreeMap<u32, usize>,
    last: Option<(u32, usize)>,
}

impl Tasks {
    fn slot(id: u32) -> (u32, usize) {
        (id >> PAGE.ilog2(), usize::try_from(id).unwrap_or(0) % PAGE)
    }

    #[inline]
    fn get_mut(&mut self, id: u32) -> Option<&mut Task> {
        let (page, slot) = Self::slot(id);
        let place = match self.last {
            Some((last, place)) if last == page => place,
            _ => {
                let place = *self.places.get(&page)?;
                self.last = Some((page, place));
                place
            }
        };
        self.pages.get_mut(place)?.get_mut(slot)?.as_mut()
    }

    /// Pages that one more task takes: one or none.
    fn grows_by(&self, id: u32) -> u64 {
        u64::from(!self.places.contains_key(&Self::slot(id).0))
    }

    fn insert(&mut self, id: u32, task: Task) -> Option<Task> {
        let (page, slot) = Self::slot(id);
        let next = self.pages.len();
        let place = *self.places.entry(page).or_insert(next);
        if place == next {
            self.pages.push([None; PAGE]);
        }
        self.last = Some((page, place));
        self.pages.get_mut(place)?.get_mut(slot)?.replace(task)
    }
}

/// Types and tasks of one model in one process.
#[derive(Debug, Default)]
struct Table {
    types: HashMap<u32, u64>,
    tasks: Tasks,
    /// Bodies of parallel tasks.
    bodies: HashMap<(u32, u32), BodyState>,
}

/// All threads together.
#[derive(Debug)]
pub struct Merge<'t> {
    system: &'t System,
    /// Of each stream.
    pub views: Vec<View>,
    /// Number of CPUs of each loom, if they are numbered 0 to N-1.
    counts: Vec<Option<i64>>,
    /// Number of CPUs that a repair can give to each loom.
    rooms: Vec<i64>,
    /// The stream of a thread, by its process, or else by its loom.
    of_process: BTreeMap<(usize, i64), usize>,
    of_loom: BTreeMap<(usize, i64), usize>,
    /// Who runs on each physical CPU of each loom.
    running: Vec<BTreeMap<i32, usize>>,
    tables: Vec<[Table; TASK_MODELS]>,
    entries: u64,
    entries_max: u64,
    /// Findings about several threads.
    pub log: Log,
    /// Of each process and model.
    pub lost: BTreeMap<(usize, usize), Lost>,
    /// Of each loom.
    pub missing_cpus: BTreeMap<usize, MissingCpu>,
    layers: Vec<Layer>,
}

impl<'t> Merge<'t> {
    /// Nothing has happened yet.
    pub fn new(system: &'t System, layers: Vec<Layer>, limits: &Limits) -> Self {
        let room = |loom: &Loom| loom.cpu_room(limits.of(&LOOM_CPUS));
        let streams = layers.len();
        // A stream of which nothing is known is a process of its own.
        let processes = system.processes.len().saturating_add(streams);
        let (mut of_process, mut of_loom) = (BTreeMap::new(), BTreeMap::new());
        for (stream, seat) in system.seats.iter().enumerate() {
            let Some(seat) = seat else { continue };
            of_process.entry((seat.process, seat.tid)).or_insert(stream);
            of_loom.entry((seat.loom, seat.tid)).or_insert(stream);
        }
        Self {
            counts: system.looms.iter().map(Loom::cpu_count).collect(),
            rooms: system.looms.iter().map(room).collect(),
            of_process,
            of_loom,
            system,
            views: vec![View::default(); streams],
            running: vec![BTreeMap::new(); system.looms.len()],
            tables: (0..processes).map(|_| Default::default()).collect(),
            entries: 0,
            entries_max: limits.of(&TASKS),
            log: Log::new(limits.count_of(&FINDINGS)),
            lost: BTreeMap::new(),
            missing_cpus: BTreeMap::new(),
            layers,
        }
    }

    /// Walks all streams to their ends with `jobs` threads.
    pub fn run(&mut self, machines: &mut [Machine<'_, '_>], shared: &Shared, jobs: NonZeroUsize) {
        if let [machine] = machines {
            self.run_one(machine, shared);
            return;
        }
        let mut heap: BinaryHeap<Reverse<(i128, u8, usize)>> = BinaryHeap::new();
        // A stream stands in the heap with its first event, once.
        let mut queued = vec![false; machines.len()];
        loop {
            fill(machines, shared, QUEUE, jobs);
            let mut horizon = i128::MAX;
            let mut open = false;
            for (number, machine) in machines.iter().enumerate() {
                if machine.ended.is_none() {
                    open = true;
                    if let Some(last) = machine.queue.back() {
                        horizon = horizon.min(self.time(number, last));
                    }
                }
                if let (Some(cross), Some(queued)) = (machine.queue.front(), queued.get_mut(number))
                    && !*queued
                {
                    *queued = true;
                    heap.push(Reverse((self.time(number, cross), class(cross), number)));
                }
            }
            // Nothing lies before the horizon: then what lies at it, until a queue runs dry.
            let stuck = heap.peek().is_some_and(|Reverse((time, ..))| *time >= horizon);
            let reached = |time: i128| time < horizon || stuck && time == horizon;
            while let Some(Reverse((time, _, number))) = heap.peek().copied() {
                if !reached(time) {
                    break;
                }
                heap.pop();
                let Some(machine) = machines.get_mut(number) else { continue };
                let mut dry = true;
                while let Some(cross) = machine.queue.pop_front() {
                    self.take(number, &cross);
                    if cross.kind == CrossKind::Close {
                        self.close(number, machine);
                    }
                    let Some(next) = machine.queue.front() else { break };
                    let key = (self.time(number, next), class(next), number);
                    let first = heap.peek().is_none_or(|Reverse(other)| key <= *other);
                    if !(first && reached(key.0)) {
                        heap.push(Reverse(key));
                        dry = false;
                        break;
                    }
                }
                if dry {
                    if let Some(queued) = queued.get_mut(number) {
                        *queued = false;
                    }
                    if machine.ended.is_none() {
                        // It has to be filled before anything later is looked at.
                        break;
                    }
                }
            }
            if !open && heap.is_empty() {
                return;
            }
        }
    }

    /// A stream by itself is its own order.
    fn run_one(&mut self, machine: &mut Machine<'_, '_>, shared: &Shared) {
        loop {
            step(machine, shared, QUEUE_ALONE);
            while let Some(cross) = machine.queue.pop_front() {
                self.take(0, &cross);
                if cross.kind == CrossKind::Close {
                    self.close(0, machine);
                }
            }
            if machine.ended.is_some() {
                return;
            }
        }
    }

    /// What is still open in a stream that ends is closed there.
    fn close(&mut self, stream: usize, machine: &Machine<'_, '_>) {
        for table in 0..TASK_MODELS {
            for body in machine.bodies(table) {
                let end = Cross {
                    table: u8::try_from(table).unwrap_or(0),
                    kind: CrossKind::End(body.task, body.body),
                    ..Cross::close(machine)
                };
                self.take(stream, &end);
            }
        }
    }

    fn time(&self, stream: usize, cross: &Cross) -> i128 {
        let seat = self.system.seats.get(stream).copied().flatten();
        let loom = seat.and_then(|seat| self.system.looms.get(seat.loom));
        let offset = loom.map_or(0, |loom| loom.offset);
        i128::from(cross.clock).saturating_add(i128::from(offset))
    }

    fn take(&mut self, stream: usize, cross: &Cross) {
        match cross.kind {
            CrossKind::Begin(cpu) => {
                self.set_state(stream, Presence::Stopped);
                self.go(stream, cross, cpu);
                self.start(stream, cross);
            }
            CrossKind::Run => self.start(stream, cross),
            CrossKind::Stop => self.stop(stream, Presence::Stopped),
            CrossKind::Dead => {
                self.stop(stream, Presence::Dead);
                if let Some(view) = self.views.get_mut(stream) {
                    view.cpu = None;
                }
            }
            CrossKind::Move(cpu) => {
                let runs = self.views.get(stream).is_some_and(|v| v.state == Presence::Running);
                if self.views.get(stream).is_some_and(|view| view.cpu == Some(cpu)) {
                    return;
                }
                self.stop(stream, Presence::Stopped);
                self.go(stream, cross, cpu);
                if runs {
                    self.start(stream, cross);
                }
            }
            CrossKind::Remote(cpu, tid) => self.remote(stream, cross, cpu, tid),
            CrossKind::Close => {
                if let Some(view) = self.views.get_mut(stream) {
                    view.closed = true;
                }
                let state = self.views.get(stream).map_or(Presence::Unknown, |view| view.state);
                self.stop(stream, state);
            }
            CrossKind::Type(id, label) => self.define(stream, cross, id, label),
            CrossKind::Create(task, kind, parallel) => {
                self.create(stream, cross, task, kind, parallel);
            }
            CrossKind::Execute(task, body) => self.execute(stream, cross, task, body),
            CrossKind::End(task, body) => self.end(stream, cross, task, body),
            CrossKind::Work(kind) => self.use_type(stream, cross, kind),
            CrossKind::Same(top, ended) => {
                let label = |table: &mut Table, label: Label| {
                    let kind = match label {
                        Label::Work(kind) => kind,
                        Label::Task(task) => table.tasks.get_mut(task)?.kind,
                    };
                    table.types.get(&kind).copied()
                };
                let same = self.table_mut(stream, cross).is_some_and(|table| {
                    let top = label(table, top);
                    top.is_some() && top == label(table, ended)
                });
                if !same {
                    let message = "what ends is not the innermost task or worksharing";
                    self.told(&rules::STACK_MISMATCH, stream, cross, message.to_string());
                }
            }
        }
    }

    fn told(&mut self, rule: &'static Rule, stream: usize, cross: &Cross, message: String) {
        let span = self.span(stream, cross);
        let path = format!("event[{}]", cross.number.saturating_sub(1));
        self.log.push(Finding::new(rule, span, path, message));
    }

    fn span(&self, stream: usize, cross: &Cross) -> Span {
        let layer = self.layers.get(stream).copied().unwrap_or(Layer::stored(0));
        Span::sized(layer, cross.at, u64::from(cross.len))
    }

    fn set_state(&mut self, stream: usize, state: Presence) {
        if let Some(view) = self.views.get_mut(stream) {
            view.state = state;
        }
    }

    fn loom(&self, stream: usize) -> Option<usize> {
        self.system.seats.get(stream).copied().flatten().map(|seat| seat.loom)
    }

    /// A thread that does not run comes to another CPU.
    fn go(&mut self, stream: usize, cross: &Cross, cpu: i32) {
        if let Some(view) = self.views.get_mut(stream) {
            view.cpu = Some(cpu);
        }
        let Some(number) = self.loom(stream) else { return };
        let count = self.counts.get(number).copied().flatten();
        if cpu == -1 || count.is_some_and(|count| (0..count).contains(&i64::from(cpu))) {
            return;
        }
        let room = self.rooms.get(number).copied().unwrap_or(0);
        if cpu < -1 || i64::from(cpu) >= room {
            self.no_cpu(stream, cross, cpu, room);
            return;
        }
        let span = self.span(stream, cross);
        let number_of = cross.number.saturating_sub(1);
        let missing = self.missing_cpus.entry(number);
        let missing =
            missing.or_insert(MissingCpu { stream, span, number: number_of, highest: cpu });
        missing.highest = missing.highest.max(cpu);
    }

    /// A number that no CPU has: the thread is on none that is known.
    #[cold]
    fn no_cpu(&mut self, stream: usize, cross: &Cross, cpu: i32, room: i64) {
        let message = format!("CPU {cpu} is neither -1 nor one of the first {room}");
        let fields = match cross.kind {
            CrossKind::Begin(_) => 16,
            CrossKind::Remote(..) => 8,
            _ => 4,
        };
        let span = self.span(stream, cross);
        let path = format!("event[{}].cpu", cross.number.saturating_sub(1));
        let mut finding = Finding::new(&rules::NO_CPU, span, path, message);
        // An event with another payload than its signature's has a finding of its own.
        if u64::from(cross.len) == EVENT_HEADER.saturating_add(fields) {
            let field = Span::sized(span.layer, span.start.saturating_add(EVENT_HEADER), 4);
            let edit = Edit::replace(field, (-1_i32).to_le_bytes());
            finding = finding.fix(Fix::new(Safety::Lossy, "writes -1", vec![edit]));
        }
        self.log.push(finding);
    }

    /// A thread begins to run on the CPU that it is on.
    fn start(&mut self, stream: usize, cross: &Cross) {
        self.set_state(stream, Presence::Running);
        let Some(loom) = self.loom(stream) else { return };
        let Some(cpu) = self.views.get(stream).and_then(|view| view.cpu).filter(|cpu| *cpu >= 0)
        else {
            return;
        };
        let Some(running) = self.running.get_mut(loom) else { return };
        let other = running.insert(cpu, stream);
        if let Some(other) = other.filter(|other| *other != stream) {
            let tid = |stream: usize| {
                let seat = self.system.seats.get(stream).copied().flatten();
                seat.map_or(0, |seat| seat.tid)
            };
            let message = format!(
                "thread {} begins to run on CPU {cpu}, where thread {} runs",
                tid(stream),
                tid(other)
            );
            self.told(&rules::CPU_CONFLICT, stream, cross, message);
        }
    }

    /// A thread does not run any more.
    fn stop(&mut self, stream: usize, state: Presence) {
        self.set_state(stream, state);
        let Some(loom) = self.loom(stream) else { return };
        let cpu = self.views.get(stream).and_then(|view| view.cpu);
        let Some(running) = self.running.get_mut(loom) else { return };
        if let Some(cpu) = cpu.filter(|cpu| running.get(cpu) == Some(&stream)) {
            running.remove(&cpu);
        }
    }

    fn remote(&mut self, stream: usize, cross: &Cross, cpu: i32, tid: i32) {
        let Some(seat) = self.system.seats.get(stream).copied().flatten() else { return };
        let tid = i64::from(tid);
        let target = self.of_process.get(&(seat.process, tid));
        let target = target.or_else(|| self.of_loom.get(&(seat.loom, tid))).copied();
        let Some(target) = target else {
            let message = format!("OAr moves thread {tid}, which is not in the loom");
            self.told(&rules::REMOTE_TARGET, stream, cross, message);
            return;
        };
        let Some(view) = self.views.get(target).copied() else { return };
        if view.closed && view.state != Presence::Dead {
            // It will be closed behind this event, and wait for it off its CPU.
            if let Some(view) = self.views.get_mut(target) {
                view.late = Some((cross.clock, cpu));
            }
            return;
        }
        let wrong = match view.state {
            Presence::Unknown => Some("has not begun".to_string()),
            Presence::Dead => Some("has ended".to_string()),
            _ if view.cpu == Some(cpu) => Some(format!("is on CPU {cpu} already")),
            _ => None,
        };
        if let Some(wrong) = wrong {
            let message = format!("OAr moves thread {tid}, which {wrong}");
            self.told(&rules::REMOTE_TARGET, stream, cross, message);
            return;
        }
        self.stop(target, Presence::Stopped);
        self.go(target, cross, cpu);
        if view.state == Presence::Running {
            self.start(target, cross);
        }
    }

    /// Number of the process that a stream's tasks belong to.
    fn process(&self, stream: usize) -> usize {
        let seat = self.system.seats.get(stream).copied().flatten();
        seat.map_or(self.system.processes.len().saturating_add(stream), |seat| seat.process)
    }

    fn table(&self, stream: usize, cross: &Cross) -> Option<&Table> {
        self.tables.get(self.process(stream))?.get(usize::from(cross.table))
    }

    fn table_mut(&mut self, stream: usize, cross: &Cross) -> Option<&mut Table> {
        let process = self.process(stream);
        self.tables.get_mut(process)?.get_mut(usize::from(cross.table))
    }

    /// Whether this many types, tasks or bodies more may be remembered.
    fn room(&mut self, stream: usize, cross: &Cross, count: u64) -> bool {
        let before = self.entries;
        self.entries = before.saturating_add(count);
        if self.entries > self.entries_max && before <= self.entries_max {
            let message = format!("{} tasks, types and bodies are the limit", self.entries_max);
            self.told(&common::LIMIT_REACHED, stream, cross, message);
        }
        self.entries <= self.entries_max
    }

    fn define(&mut self, stream: usize, cross: &Cross, id: u32, label: u64) {
        if !self.room(stream, cross, 1) {
            return;
        }
        let Some(table) = self.table_mut(stream, cross) else { return };
        if table.types.insert(id, label).is_some() {
            let message = format!("type {id} is defined a second time");
            self.told(&rules::TASK_REDEFINED, stream, cross, message);
        }
    }

    fn use_type(&mut self, stream: usize, cross: &Cross, kind: u32) {
        let known = self.table(stream, cross).is_none_or(|table| table.types.contains_key(&kind));
        if known || kind == 0 || !self.room(stream, cross, 1) {
            return;
        }
        if let Some(table) = self.table_mut(stream, cross) {
            table.types.insert(kind, u64::from(kind));
        }
        let lost = self.lost(stream, cross);
        lost.count = lost.count.saturating_add(1);
        if lost.types.len() < LOST_MAX {
            lost.types.push(kind);
        }
    }

    fn lost(&mut self, stream: usize, cross: &Cross) -> &mut Lost {
        let key = (self.process(stream), usize::from(cross.table));
        let span = self.span(stream, cross);
        self.lost.entry(key).or_insert_with(|| Lost {
            stream,
            span: Some(span),
            clock: cross.clock,
            ..Lost::default()
        })
    }

    /// Remembers a task, if there is room; gives the one that had its id.
    fn remember(
        &mut self,
        stream: usize,
        cross: &Cross,
        id: u32,
        task: Task,
    ) -> Option<Option<Task>> {
        let grows = self.table_mut(stream, cross).map_or(0, |table| table.tasks.grows_by(id));
        let page = u64::try_from(PAGE).unwrap_or(0);
        if !self.room(stream, cross, grows.saturating_mul(page)) {
            return None;
        }
        Some(self.table_mut(stream, cross)?.tasks.insert(id, task))
    }

    fn create(&mut self, stream: usize, cross: &Cross, task: u32, kind: u32, parallel: bool) {
        self.use_type(stream, cross, kind);
        let new = Task { kind, parallel, body: BodyState::New };
        if let Some(Some(old)) = self.remember(stream, cross, task, new) {
            let message = format!("task {task} is created a second time, of type {}", old.kind);
            self.told(&rules::TASK_REDEFINED, stream, cross, message);
        }
    }

    #[inline]
    fn execute(&mut self, stream: usize, cross: &Cross, task: u32, body: u32) {
        let runner = u32::try_from(stream).unwrap_or(u32::MAX);
        let known = self.table_mut(stream, cross).and_then(|table| table.tasks.get_mut(task));
        let mut found = None;
        if let Some(known) = known {
            let again =
                known.body == BodyState::New || known.body == BodyState::Dead && cross.table != 0;
            if !known.parallel && body == 0 && again {
                known.body = BodyState::Alive(runner);
                return;
            }
            found = Some(*known);
        }
        self.execute_other(stream, cross, (task, body), found);
    }

    /// A task that is not known, or that cannot simply begin.
    fn execute_other(
        &mut self,
        stream: usize,
        cross: &Cross,
        (task, body): (u32, u32),
        known: Option<Task>,
    ) {
        let runner = u32::try_from(stream).unwrap_or(u32::MAX);
        let found = match known {
            Some(found) => found,
            None if task == 0 => return,
            None => {
                let found = Task { kind: 0, parallel: body != 0, body: BodyState::New };
                if self.remember(stream, cross, task, found).is_none() {
                    return;
                }
                let lost = self.lost(stream, cross);
                lost.count = lost.count.saturating_add(1);
                if lost.tasks.len() < LOST_MAX {
                    lost.tasks.push((task, body != 0));
                }
                found
            }
        };
        if found.parallel == (body == 0) {
            let kind = if found.parallel { "a parallel task" } else { "a task with one body" };
            let message = format!("task {task} is {kind} and runs body {body}");
            self.told(&rules::BAD_ARGUMENT, stream, cross, message);
            return;
        }
        let state = if found.parallel {
            if !self.room(stream, cross, 1) {
                return;
            }
            let table = self.table_mut(stream, cross);
            let bodies =
                table.and_then(|t| t.bodies.insert((task, body), BodyState::Alive(runner)));
            bodies.unwrap_or(BodyState::New)
        } else {
            let table = self.table_mut(stream, cross);
            if let Some(task) = table.and_then(|table| table.tasks.get_mut(task)) {
                task.body = BodyState::Alive(runner);
            }
            found.body
        };
        let again = !found.parallel && cross.table != 0;
        let wrong = match state {
            BodyState::New => return,
            BodyState::Dead if again => return,
            BodyState::Dead => "has ended and cannot run again".to_string(),
            BodyState::Alive(other) if other == runner => "is begun in this thread".to_string(),
            BodyState::Alive(other) => format!("is begun in stream {other}"),
        };
        let message = format!("task {task} begins, which {wrong}");
        self.told(&rules::BODY_STATE, stream, cross, message);
    }

    #[inline]
    fn end(&mut self, stream: usize, cross: &Cross, task: u32, body: u32) {
        let Some(table) = self.table_mut(stream, cross) else { return };
        let Some(found) = table.tasks.get_mut(task) else { return };
        if !found.parallel {
            found.body = BodyState::Dead;
        } else if let Some(state) = table.bodies.get_mut(&(task, body)) {
            *state = BodyState::Dead;
        }
    }

    /// A type that a process does not use in this model, for tasks whose own is lost.
    pub fn free_type(&self, process: usize, table: usize) -> u32 {
        let table = self.tables.get(process).and_then(|tables| tables.get(table));
        let taken = |id: &u32| table.is_some_and(|table| table.types.contains_key(id));
        (1..=u32::MAX).rev().find(|id| !taken(id)).unwrap_or(1)
    }
}

/// What lets go, or only says something, comes first.
const fn class(cross: &Cross) -> u8 {
    match cross.kind {
        CrossKind::Stop
        | CrossKind::Dead
        | CrossKind::Close
        | CrossKind::Type(..)
        | CrossKind::End(..)
        | CrossKind::Move(-1) => 0,
        CrossKind::Create(..) => 1,
        _ => 2,
    }
}

/// Walks a stream until its queue is full or it ends.
fn step(machine: &mut Machine<'_, '_>, shared: &Shared, capacity: usize) {
    let open = machine.ended.is_none();
    machine.fill(shared, capacity);
    if open && machine.ended.is_some() && machine.state != State::Dead {
        machine.queue.push_back(Cross::close(machine));
    }
}

/// Walks every stream until its queue is full or it ends.
fn fill(machines: &mut [Machine<'_, '_>], shared: &Shared, capacity: usize, jobs: NonZeroUsize) {
    let open =
        |machine: &&mut Machine<'_, '_>| machine.ended.is_none() && machine.queue.len() < capacity;
    let work: Vec<Mutex<&mut Machine<'_, '_>>> =
        machines.iter_mut().filter(open).map(Mutex::new).collect();
    let workers = jobs.get().min(work.len());
    let next = AtomicUsize::new(0);
    let labour = || {
        while let Some(machine) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Ok(mut machine) = machine.lock() {
                step(&mut machine, shared, capacity);
            }
        }
    };
    if workers <= 1 {
        labour();
        return;
    }
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(labour);
        }
        labour();
    });
}
