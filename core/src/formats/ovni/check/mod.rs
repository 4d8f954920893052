//! Items to findings.
//!
//! ```text
//!  metadata   one stream.json -> Metadata              system    all of them -> looms, CPUs, marks
//!  thread     one stream.obs  -> thread, shared events merge     shared events in clock order
//!  ending     how each stream ends                     placement threads on CPUs
//!  unfinished threads that never finished              links     links that were not followed
//!  trace_wide faults that only show in all streams     task_book types, tasks, bodies
//!  ties       equal clocks whose order matters         played    a merge in the emulator's order
//!  ranks      ranks of the processes         invalid_keys        values that are restored
//!  completion findings that add members
//! ```
//!
//! Streams are walked in parallel. Findings are gathered per stream and moved into the report in
//! order, so the report is the same with any number of threads.

pub mod clock_offsets;
pub mod completion;
pub mod ending;
pub mod invalid_keys;
pub mod links;
pub mod log;
pub mod merge;
pub mod metadata;
pub mod occurrence;
pub mod placement;
pub mod played;
pub mod ranks;
pub mod shared_event;
pub mod system;
pub mod task_book;
pub mod task_table;
pub mod thread;
pub mod ties;
pub mod trace_wide;
pub mod unfinished;

mod tally;

pub use tally::EARLIER_RUNS;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::check::merge::{Merged, TieOrder, merge_threads};
use crate::formats::ovni::check::metadata::check_metadata;
use crate::formats::ovni::check::thread::{FlipSearch, ThreadCheck, TraceContext, WalkTerms};
use crate::formats::ovni::decode::files::StreamFiles;
use crate::formats::ovni::decode::stream::Stream;
use crate::formats::ovni::decode::trace::Trace;
use crate::formats::ovni::layout::CLOCK_MAX;
use crate::formats::ovni::limits::WalkLimits;
use crate::formats::ovni::options::{self, Strategy};
use crate::formats::ovni::recover::flips::Flip;
use crate::formats::ovni::recover::older_run::find_older_run;
use crate::formats::ovni::rules;
use crate::formats::ovni::state::metadata::Metadata;
use crate::formats::ovni::state::summary::{Decisions, StreamSummary, TraceSummary};
use crate::formats::ovni::state::system::System;
use crate::formats::ovni::state::thread::{Ending, ThreadSummary};
use crate::kit::span::{Layer, Span};
use crate::model::limits::{FINDINGS, RESYNC};
use crate::model::options::Options;
use crate::model::recording::FileSet;
use crate::model::{Finding, Report};

/// Bytes of a trace from which a second thread of execution is worth its start.
const PARALLEL_BYTES: u64 = 8 << 20;
/// Shared events of a thread that wait while its last clock is looked for.
const QUIET_QUEUE: usize = 1 << 16;

/// Checks a trace, or a lone stream.
pub fn check_recording(files: &FileSet<'_>, options: &Options, report: &mut Report) {
    let trace = Trace::open(files, &options.limits);
    links::check_links(files, report);
    if trace.files.streams.is_empty() {
        let span = Span::new(Layer::stored(0), 0, 0);
        let message = "empty trace: no stream.json or stream.obs has any content";
        report.push(Finding::new(&rules::EMPTY_TRACE, span, "trace", message));
        report.mark_unreadable();
        return;
    }
    let logs = walk_trace(&trace, options, report, |summary, report| {
        tally::count_trace(summary, report);
        check_endings(summary, options.limits.count_of(&FINDINGS))
    });
    for log in logs {
        log.move_into(report);
    }
}

/// Passes everything that is known of a trace to `view`, without the findings. A trace without a
/// stream is not passed.
pub fn view_trace(
    files: &FileSet<'_>,
    options: &Options,
    view: impl FnOnce(&TraceSummary<'_, '_>),
) {
    let trace = Trace::open(files, &options.limits);
    if !trace.files.streams.is_empty() {
        walk_trace(&trace, options, &mut Report::new(None, 0, 0), |summary, _| {
            view(summary);
            Log::default()
        });
    }
}

/// Walks the streams of a trace. Returns the findings about single parts in order; `endings` adds
/// those that need all of them.
fn walk_trace(
    trace: &Trace<'_, '_>,
    options: &Options,
    report: &mut Report,
    endings: impl FnOnce(&TraceSummary<'_, '_>, &mut Report) -> Log,
) -> Vec<Log> {
    let (metas, metadata_logs) = check_all_metadata(trace, options.limits.count_of(&FINDINGS));
    let mut system = system::build_system(trace, &metas, report);
    if let Some(table) = trace.clock_offsets() {
        clock_offsets::apply_offsets(table, &mut system, report);
    }
    let streams: Vec<Stream<'_>> =
        (0..trace.files.streams.len()).map(|number| trace.stream(number)).collect();
    let check = TraceCheck { trace, metas: &metas, streams: &streams, system: &system };
    let (threads, merged) = check.walk_threads(options);
    let (summary, thread_logs) = check.summarise(threads, &merged, options);
    let endings = endings(&summary, report);
    metadata_logs.into_iter().chain([endings]).chain(thread_logs).chain([merged.log]).collect()
}

fn check_all_metadata(trace: &Trace<'_, '_>, findings: usize) -> (Vec<Metadata>, Vec<Log>) {
    let check = |stream: &StreamFiles| {
        let mut log = Log::new(findings);
        let json = stream.present_json().filter(|_| stream.layout == 3);
        let metadata = json.map_or_else(Metadata::default, |index| {
            check_metadata(&trace.document(index), &mut log)
        });
        (metadata, log)
    };
    trace.files.streams.iter().map(check).unzip()
}

fn check_endings(summary: &TraceSummary<'_, '_>, findings: usize) -> Log {
    let mut log = Log::new(findings);
    for stream in &summary.streams {
        ending::check_ending(summary, stream, &mut log);
    }
    unfinished::check_unfinished(summary, &mut log);
    trace_wide::check_trace(summary, &mut log);
    log
}

/// Everything that is known of a trace before its events are walked.
#[derive(Clone, Copy)]
struct TraceCheck<'t, 'a> {
    trace: &'t Trace<'t, 'a>,
    metas: &'t [Metadata],
    streams: &'t [Stream<'a>],
    system: &'t System,
}

impl<'t, 'a> TraceCheck<'t, 'a> {
    /// Walks all streams.
    fn walk_threads(&self, options: &Options) -> (Vec<ThreadCheck<'t, 'a>>, Merged) {
        let mut context = TraceContext {
            has_metadata: self.metas.iter().any(|metadata| metadata.is_readable),
            enabled: self.system.enabled,
            flips: Vec::new(),
            requires_unknown: self.may_require_unknown(),
            marks: self.system.marks.clone(),
            counters: self.system.counters,
            queues_all: false,
            // The cut of a trace can come before the place that requires the outline.
            outlines_first: options::strategy(options) == Some(Strategy::Cut),
            limits: WalkLimits::new(&options.limits),
        };
        let precedence = TieOrder::Precedence;
        let (mut threads, mut merged) = self.merge(options, &context, precedence, Vec::new());
        if threads.iter().any(ThreadCheck::must_restart) {
            context.outlines_first = true;
            (threads, merged) = self.merge(options, &context, precedence, threads);
        }
        context.flips = self.find_flips(&threads, &merged, &context);
        if context.flips.iter().any(|flips| !flips.is_empty()) {
            (threads, merged) = self.merge(options, &context, precedence, Vec::new());
        }
        if !merged.has_ties || threads.len() < 2 {
            return (threads, merged);
        }
        context.queues_all = true;
        let order = self.order_of_paths();
        self.merge(options, &context, TieOrder::Played(&order), Vec::new())
    }

    /// Finds the inverted bits of each stream, if events contradict each other.
    fn find_flips(
        &self,
        threads: &[ThreadCheck<'_, '_>],
        merged: &Merged,
        context: &TraceContext,
    ) -> Vec<Vec<Flip>> {
        let is_shared = merged.log.has_contradiction() || !merged.shortages.definitions.is_empty();
        let process = |number: usize| self.system.owner(number).map(|owner| owner.process);
        let mut of_process: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        for number in 0..threads.len() {
            let count = of_process.entry(process(number)).or_default();
            *count = count.saturating_add(1);
        }
        let mut search = FlipSearch::new(context);
        let streams = threads.iter().enumerate().map(|(number, thread)| {
            let is_alone = of_process.get(&process(number)) == Some(&1);
            let is_needed = is_shared || thread.has_contradiction();
            let start = self.start_thread(number, 1).filter(|_| is_needed);
            start.map_or_else(Vec::new, |start| search.find(start, is_alone))
        });
        streams.collect()
    }

    /// Walks all streams once. `before` has the threads of a walk that has to begin again, or none.
    fn merge(
        &self,
        options: &Options,
        context: &TraceContext,
        order: TieOrder<'_>,
        before: Vec<ThreadCheck<'t, 'a>>,
    ) -> (Vec<ThreadCheck<'t, 'a>>, Merged) {
        let findings = options.limits.count_of(&FINDINGS);
        let numbers = 0..self.streams.len();
        let mut threads: Vec<ThreadCheck<'_, '_>> =
            numbers.filter_map(|number| self.start_thread(number, findings)).collect();
        for (thread, before) in threads.iter_mut().zip(before) {
            thread.take_outline(before);
        }
        for (thread, flips) in threads.iter_mut().zip(&context.flips) {
            thread.set_flips(flips.clone());
        }
        if options::strategy(options) == Some(Strategy::Cut) {
            self.set_ceilings(&mut threads, context);
        }
        let layers = self.streams.iter().map(Stream::layer).collect();
        let how = (order, self.jobs(options));
        let merged =
            merge_threads(&mut threads, layers, self.system, context, &options.limits, how);
        (threads, merged)
    }

    /// The streams in the order in which the emulator sorts them: by the bytes of their paths.
    fn order_of_paths(&self) -> Vec<usize> {
        let streams = &self.trace.files.streams;
        let mut order: Vec<usize> = (0..streams.len()).collect();
        order.sort_by_key(|number| streams.get(*number).map(|files| files.dir.as_bytes()));
        order
    }

    /// Whether any thread requires an unknown model, or may require one: its metadata cannot be
    /// read.
    fn may_require_unknown(&self) -> bool {
        let mut streams = self.trace.files.streams.iter().zip(self.metas);
        streams.any(|(files, metadata)| {
            let has_metadata = files.layout == 3 && files.present_json().is_some();
            metadata.definitions.requires_unknown || has_metadata && !metadata.is_readable
        })
    }

    /// Prepares the walk of one stream.
    fn start_thread(&self, number: usize, findings: usize) -> Option<ThreadCheck<'t, 'a>> {
        let stream = self.streams.get(number)?;
        let files = self.trace.files.streams.get(number)?;
        let metadata = self.metas.get(number)?;
        let terms = WalkTerms {
            is_unfinished: self.needs_repair(files, metadata),
            can_hold_rerun: metadata.is_initial(),
            ceiling: CLOCK_MAX,
            floor: u64::try_from(self.system.clock_offset(number).saturating_neg()).unwrap_or(0),
            required: metadata.required(),
        };
        let mut thread = ThreadCheck::new(stream, terms, findings);
        let resync = self.trace.limits().of(&RESYNC);
        if !stream.is_readable(resync) || files.present_obs().is_none() {
            thread.set_unreadable();
        }
        Some(thread)
    }

    /// Whether the run of a stream did not finish, or its metadata has to be written again.
    fn needs_repair(&self, files: &StreamFiles, metadata: &Metadata) -> bool {
        let is_complete = metadata.is_readable && metadata.is_finished;
        let is_thread = !metadata.is_other_part();
        !self.trace.files.is_lone_stream && files.layout == 3 && is_thread && !is_complete
    }

    /// Ends all streams at the earliest last clock of an unfinished one.
    fn set_ceilings(&self, threads: &mut [ThreadCheck<'_, '_>], context: &TraceContext) {
        let unfinished =
            threads.iter().enumerate().filter(|(_, thread)| thread.terms.is_unfinished);
        let last_clocks = unfinished.filter_map(|(number, _)| self.last_clock(number, context));
        let Some(earliest) = last_clocks.min() else { return };
        for (number, thread) in threads.iter_mut().enumerate() {
            let until = earliest.saturating_sub(self.system.clock_offset(number));
            thread.terms.ceiling = u64::try_from(until).unwrap_or(0).min(CLOCK_MAX);
        }
    }

    /// The last clock of a stream with an event, in the time of the trace.
    fn last_clock(&self, number: usize, context: &TraceContext) -> Option<i128> {
        let mut thread = self.start_thread(number, 0)?;
        while thread.end.is_none() {
            thread.fill_queue(context, QUIET_QUEUE);
            thread.queue.clear();
        }
        let (events, clock) = thread.progress();
        let clock = i128::from(clock).saturating_add(self.system.clock_offset(number));
        (events > 0).then_some(clock)
    }

    /// Number of threads of execution that walk the streams.
    fn jobs(&self, options: &Options) -> NonZeroUsize {
        let bytes = self.streams.iter().fold(0, |sum: u64, s| sum.saturating_add(s.len()));
        let is_small = self.streams.len() < 2 || bytes < PARALLEL_BYTES;
        let available = || if is_small { None } else { std::thread::available_parallelism().ok() };
        options.jobs.or_else(available).unwrap_or(NonZeroUsize::MIN)
    }

    /// Puts together everything that is known once all streams were walked.
    fn summarise(
        &self,
        threads: Vec<ThreadCheck<'_, '_>>,
        merged: &Merged,
        options: &'t Options,
    ) -> (TraceSummary<'t, 'a>, Vec<Log>) {
        let (threads, logs): (Vec<ThreadSummary>, Vec<Log>) =
            threads.into_iter().map(ThreadCheck::finish).unzip();
        let first_clocks = threads.iter().enumerate().filter_map(|(number, thread)| {
            let offset = self.system.clock_offset(number);
            Some(i128::from(thread.first_clock?).saturating_add(offset))
        });
        let earliest = first_clocks.min().unwrap_or(0);
        let last_clocks = threads.iter().enumerate().map(|(number, thread)| {
            i128::from(thread.last_clock).saturating_add(self.system.clock_offset(number))
        });
        let latest = last_clocks.max().unwrap_or(0);
        let parts = self.trace.files.streams.iter().zip(self.metas).zip(self.streams).zip(threads);
        let resync = self.trace.limits().of(&RESYNC);
        let streams = parts.enumerate().map(|(number, (((files, metadata), stream), thread))| {
            let end = Some(thread.end).filter(|end| end.ending == Ending::Stale);
            let older = end.and_then(|end| find_older_run(stream, end.at, resync));
            StreamSummary {
                number,
                files,
                metadata,
                stream,
                thread,
                placement: merged.placements.get(number).copied().unwrap_or_default(),
                needs_repair: self.needs_repair(files, metadata),
                has_owner: self.system.owner(number).is_some(),
                older,
            }
        });
        let summary = TraceSummary {
            trace: self.trace,
            streams: streams.collect(),
            system: self.system,
            shortages: merged.shortages.clone(),
            earliest,
            latest,
            limits: &options.limits,
            decisions: Decisions {
                strategy: options::strategy(options),
                upgrade: options::has_upgrade(options),
                keeps_older: options::keeps_older(&options.choices),
            },
        };
        (summary, logs)
    }
}
