//! Events that concern several threads, in the order of their clocks.
//!
//! Streams are walked in parallel until their queues are full; then everything that all of them
//! have reached is taken in order. Memory is one queue per stream, whatever the streams contain. At
//! equal clocks releases come before uses (see [`SharedEvent::precedence`]). If that matters, the
//! merge is repeated by [`played`](super::played).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::check::occurrence::Occurrence;
use crate::formats::ovni::check::placement::Placement;
use crate::formats::ovni::check::shared_event::{SharedEffect, SharedEvent};
use crate::formats::ovni::check::task_book::TaskBook;
use crate::formats::ovni::check::thread::{ThreadCheck, TraceContext};
use crate::formats::ovni::layout::{TASK_MODELS, ThreadState};
use crate::formats::ovni::state::summary::{Shortages, ThreadPlacement};
use crate::formats::ovni::state::system::System;
use crate::kit::span::Layer;
use crate::kit::steps;
use crate::model::edit::Fix;
use crate::model::limits::{FINDINGS, Limits};

/// Events that wait for each stream, if all streams together stay below the sum.
const QUEUE: usize = 4_096;
const QUEUE_MIN: usize = 64;
const QUEUE_SUM: usize = 1 << 20;
/// Events that wait for a lone stream, which waits for no other one.
const QUEUE_ALONE: usize = 1_024;

/// Results of a merge.
#[derive(Debug)]
pub struct Merged {
    /// CPU of each thread at the end.
    pub placements: Vec<ThreadPlacement>,
    /// CPUs, tasks and types that nothing defines.
    pub shortages: Shortages,
    /// Findings about several threads.
    pub log: Log,
    /// The order of equal clocks matters.
    pub has_ties: bool,
}

/// Order of events with equal clocks.
#[derive(Clone, Copy, Debug)]
pub enum TieOrder<'o> {
    /// Releases before uses.
    Precedence,
    /// As the emulator plays them; the streams in the order of their paths.
    Played(&'o [usize]),
}

/// Walks all streams to their ends with `jobs` threads of execution.
pub fn merge_threads(
    threads: &mut [ThreadCheck<'_, '_>],
    layers: Vec<Layer>,
    system: &System,
    context: &TraceContext,
    limits: &Limits,
    (order, jobs): (TieOrder<'_>, NonZeroUsize),
) -> Merged {
    let streams = layers.iter().enumerate();
    let mut merge = Merge {
        streams: streams.map(|(stream, layer)| (*layer, system.clock_offset(stream))).collect(),
        placement: Placement::new(system, layers.len(), limits),
        tasks: TaskBook::new(system, layers.len(), limits),
        log: Log::new(limits.count_of(&FINDINGS)),
    };
    match (threads, order) {
        ([thread], _) => merge.run_alone(thread, context),
        (threads, TieOrder::Precedence) => merge.run(threads, context, jobs),
        (threads, TieOrder::Played(order)) => merge.run_played(threads, context, (order, jobs)),
    }
    let has_ties = merge.placement.has_ties() || merge.tasks.has_ties();
    let (placements, cpus) = merge.placement.finish();
    let shortages = Shortages { cpus, definitions: merge.tasks.finish() };
    Merged { placements, shortages, log: merge.log, has_ties }
}

/// Clock in the time of the trace, precedence, and stream of the first event of a queue.
type Key = (i128, u8, usize);

/// Streams with events to take, by their first event. Each stream is there at most once.
#[derive(Debug)]
struct Fronts {
    heap: BinaryHeap<Reverse<Key>>,
    queued: Vec<bool>,
}

/// Clocks up to which events can be taken.
#[derive(Clone, Copy, Debug)]
struct Horizon {
    clock: i128,
    /// Nothing lies before the horizon: events at it are taken as well.
    is_inclusive: bool,
}

impl Horizon {
    const fn covers(self, clock: i128) -> bool {
        clock < self.clock || self.is_inclusive && clock == self.clock
    }
}

/// A merge of all streams.
pub(super) struct Merge<'t> {
    /// Layer of each stream, and the offset of its clock.
    streams: Vec<(Layer, i128)>,
    pub(super) placement: Placement<'t>,
    pub(super) tasks: TaskBook,
    pub(super) log: Log,
}

impl Merge<'_> {
    fn run(
        &mut self,
        threads: &mut [ThreadCheck<'_, '_>],
        context: &TraceContext,
        jobs: NonZeroUsize,
    ) {
        let capacity = queue_capacity(threads.len());
        let mut fronts = Fronts { heap: BinaryHeap::new(), queued: vec![false; threads.len()] };
        loop {
            fill_queues(threads, context, capacity, jobs);
            if threads.iter().any(ThreadCheck::must_restart) {
                return;
            }
            let is_open = threads.iter().any(|thread| thread.end.is_none());
            let mut horizon = Horizon { clock: self.reached_by_all(threads), is_inclusive: false };
            self.queue_fronts(threads, &mut fronts);
            let first = fronts.heap.peek();
            horizon.is_inclusive = first.is_some_and(|Reverse((time, ..))| *time >= horizon.clock);
            while let Some(Reverse((time, _, number))) = fronts.heap.peek().copied() {
                if !horizon.covers(time) {
                    break;
                }
                fronts.heap.pop();
                let Some(thread) = threads.get_mut(number) else { continue };
                let is_empty = self.take_from(number, thread, &mut fronts, horizon);
                if is_empty && thread.end.is_none() {
                    // Its queue has to be filled before anything later is taken.
                    break;
                }
            }
            if !is_open && fronts.heap.is_empty() {
                return;
            }
        }
    }

    /// Takes events of a stream as long as they come before those of all others; returns whether
    /// its queue is empty.
    fn take_from(
        &mut self,
        number: usize,
        thread: &mut ThreadCheck<'_, '_>,
        fronts: &mut Fronts,
        horizon: Horizon,
    ) -> bool {
        while let Some(event) = thread.queue.front().copied() {
            thread.queue.pop_front();
            self.take(number, thread, &event);
            let Some(next) = thread.queue.front() else { break };
            let key = self.key(number, next);
            let is_first = fronts.heap.peek().is_none_or(|Reverse(other)| key <= *other);
            if !(is_first && horizon.covers(key.0)) {
                fronts.heap.push(Reverse(key));
                return false;
            }
        }
        if let Some(queued) = fronts.queued.get_mut(number) {
            *queued = false;
        }
        true
    }

    /// The clock that all open streams have reached.
    fn reached_by_all(&self, threads: &[ThreadCheck<'_, '_>]) -> i128 {
        let open = threads.iter().enumerate().filter(|(_, thread)| thread.end.is_none());
        let last = open.filter_map(|(number, thread)| {
            thread.queue.back().map(|event| self.time(number, event))
        });
        last.min().unwrap_or(i128::MAX)
    }

    fn queue_fronts(&self, threads: &[ThreadCheck<'_, '_>], fronts: &mut Fronts) {
        for (number, (thread, queued)) in threads.iter().zip(&mut fronts.queued).enumerate() {
            if let Some(event) = thread.queue.front().filter(|_| !*queued) {
                *queued = true;
                fronts.heap.push(Reverse(self.key(number, event)));
            }
        }
    }

    /// A lone stream is its own order.
    fn run_alone(&mut self, thread: &mut ThreadCheck<'_, '_>, context: &TraceContext) {
        loop {
            fill_queue(thread, context, QUEUE_ALONE);
            if thread.must_restart() {
                return;
            }
            // Where it lies: a copy of each event costs more than the rest of the loop.
            let mut queue = std::mem::take(&mut thread.queue);
            for event in &queue {
                self.take(0, thread, event);
            }
            queue.clear();
            thread.queue = queue;
            if thread.end.is_some() {
                return;
            }
        }
    }

    /// Takes an event. Bodies that are open at the end of a stream end there.
    #[inline]
    pub(super) fn take(
        &mut self,
        number: usize,
        thread: &mut ThreadCheck<'_, '_>,
        event: &SharedEvent,
    ) {
        let compares = matches!(event.effect, SharedEffect::CompareLabels(..));
        let label_fix = if compares { thread.take_label_fix() } else { None };
        self.apply(number, thread, event, label_fix.as_ref());
        if !matches!(event.effect, SharedEffect::EndOfStream) {
            return;
        }
        for table in 0..TASK_MODELS {
            for body in thread.status().bodies(table) {
                let end = SharedEvent {
                    table: u8::try_from(table).unwrap_or(0),
                    effect: SharedEffect::EndBody(body.task, body.body),
                    ..thread.end_of_stream()
                };
                self.apply(number, thread, &end, None);
            }
        }
    }

    #[inline]
    fn apply(
        &mut self,
        stream: usize,
        thread: &ThreadCheck<'_, '_>,
        event: &SharedEvent,
        label_fix: Option<&Fix>,
    ) {
        let (layer, offset) = self.stream(stream);
        let walk = thread.events();
        let time = i128::from(event.clock).saturating_add(offset);
        let occurrence = Occurrence { stream, layer, event, time, walk, label_fix };
        if !self.tasks.apply(&occurrence, &mut self.log) {
            self.placement.apply(&occurrence, &mut self.log);
        }
    }

    fn key(&self, stream: usize, event: &SharedEvent) -> Key {
        (self.time(stream, event), event.precedence(), stream)
    }

    pub(super) fn time(&self, stream: usize, event: &SharedEvent) -> i128 {
        i128::from(event.clock).saturating_add(self.stream(stream).1)
    }

    #[inline]
    fn stream(&self, stream: usize) -> (Layer, i128) {
        self.streams.get(stream).copied().unwrap_or((Layer::stored(0), 0))
    }
}

/// Returns the number of events that wait for each of some streams.
pub(super) fn queue_capacity(streams: usize) -> usize {
    QUEUE_SUM.checked_div(streams).unwrap_or(QUEUE).clamp(QUEUE_MIN, QUEUE)
}

/// Walks a stream until its queue is full or it ends.
fn fill_queue(thread: &mut ThreadCheck<'_, '_>, context: &TraceContext, capacity: usize) {
    let was_open = thread.end.is_none();
    thread.fill_queue(context, capacity);
    let has_ended = thread.status().state == ThreadState::Dead;
    if was_open && thread.end.is_some() && !has_ended {
        thread.queue_end_of_stream();
    }
}

/// Walks every stream until its queue is full or it ends.
pub(super) fn fill_queues(
    threads: &mut [ThreadCheck<'_, '_>],
    context: &TraceContext,
    capacity: usize,
    jobs: NonZeroUsize,
) {
    let has_room =
        |thread: &&mut ThreadCheck<'_, '_>| thread.end.is_none() && thread.queue.len() < capacity;
    let work: Vec<Mutex<&mut ThreadCheck<'_, '_>>> =
        threads.iter_mut().filter(has_room).map(Mutex::new).collect();
    let workers = jobs.get().min(work.len());
    let next = AtomicUsize::new(0);
    let walk = || {
        while let Some(thread) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Ok(mut thread) = thread.lock() {
                fill_queue(&mut thread, context, capacity);
            }
        }
    };
    if workers <= 1 {
        walk();
        return;
    }
    let rest = steps::rest();
    std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..workers)
            .map(|_| {
                scope.spawn(|| {
                    steps::with_rest(rest);
                    walk();
                    steps::take()
                })
            })
            .collect();
        walk();
        helpers.into_iter().for_each(|one| steps::count(one.join().unwrap_or_default()));
    });
}
