//! Facts to findings.
//!
//! ```text
//!  metadata   one stream.json -> Meta                      system   all of them -> looms, CPUs, marks
//!  thread     one stream.obs  -> Machine, queue of Cross   merge    all queues -> CPUs, tasks, bodies
//!  ending     how each stream ends                         whole    what only the whole trace tells
//! ```
//!
//! Streams are walked side by side; findings are gathered by stream and poured in order, so that the
//! report is the same with any number of threads.

pub mod clock;
pub mod ending;
pub mod log;
pub mod merge;
pub mod metadata;
pub mod system;
pub mod thread;
pub mod upgrade;
pub mod whole;

use crate::limits::RESYNC;
use crate::limits::FINDINGS;
use std::num::NonZeroUsize;

use crate::formats::ovni::options::{self, Strategy};
use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::check::merge::Merge;
use crate::formats::ovni::check::metadata::Meta;
use crate::formats::ovni::check::system::System;
use crate::formats::ovni::check::thread::{Ending, Machine, Shared};
use crate::formats::ovni::decode::files::{StreamFiles, TraceFiles};
use crate::formats::ovni::decode::stream::{self, Header, Step, Walk};
use crate::formats::ovni::layout::{self, MODELS, STREAM_HEADER};
use crate::formats::ovni::rules;
use crate::kit::num::to_u64;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::report::{Finding, Report};
use crate::{FileSet, Limits, Options};

/// Bytes of a trace from which on a second thread is worth its start.
const SIDE_BY_SIDE: u64 = 8 << 20;

/// Everything that is known of a trace once its streams were walked.
#[derive(Debug)]
pub struct Case<'c, 's, 'a> {
    /// The files.
    pub files: &'c FileSet<'a>,
    /// Which is what.
    pub trace: &'c TraceFiles,
    /// Of each stream.
    pub metas: &'c [Meta],
    /// Of each stream.
    pub headers: &'c [Header],
    /// Of each stream.
    pub machines: &'c [Machine<'s, 'a>],
    /// All metadata together.
    pub system: &'c System,
    /// All threads together.
    pub merge: &'c Merge<'c>,
    /// The earliest clock, in the trace's time.
    pub earliest: i128,
    /// What a repair may add.
    pub limits: &'c Limits,
    /// What the user chose.
    pub strategy: Option<Strategy>,
    /// The user wants the newest layout.
    pub upgrade: bool,
}

impl<'c> Case<'c, '_, '_> {
    /// The files of a stream.
    pub fn stream(&self, number: usize) -> Option<&'c StreamFiles> {
        self.trace.streams.get(number)
    }

    /// The metadata of a stream.
    pub fn meta(&self, number: usize) -> Option<&'c Meta> {
        self.metas.get(number)
    }

    /// Whether a stream's run did not end, or its metadata has to be written anew.
    pub fn troubled(&self, number: usize) -> bool {
        match (self.stream(number), self.meta(number)) {
            (Some(stream), Some(meta)) => troubled(self.trace, stream, meta),
            _ => false,
        }
    }

    /// The first of some streams whose metadata is completed anyway.
    pub fn first_troubled(&self, streams: &[usize]) -> Option<usize> {
        let first = |number: &usize| self.troubled(*number) && self.seated(*number);
        if streams.is_empty() {
            return (0..self.metas.len()).find(first);
        }
        streams.iter().copied().find(first)
    }

    /// Whether it is known which thread a stream is of.
    pub fn seated(&self, number: usize) -> bool {
        self.system.seats.get(number).is_some_and(Option::is_some)
    }
}

fn troubled(trace: &TraceFiles, stream: &StreamFiles, meta: &Meta) -> bool {
    let thread = meta.part.as_deref().is_none_or(|part| part == "thread");
    !trace.alone && stream.layout == 3 && thread && !(meta.readable && meta.finished)
}

/// Checks a trace, or a stream by itself.
pub fn check(files: &FileSet<'_>, options: &Options, report: &mut Report) {
    let trace = TraceFiles::of(files);
    if trace.streams.is_empty() {
        let span = Span::new(Layer::stored(0), 0, 0);
        let message = "no stream.json and no stream.obs holds anything";
        report.push(Finding::new(&rules::EMPTY_TRACE, span, "trace", message));
        report.mark_unreadable();
        return;
    }
    let capacity = options.limits.count_of(&FINDINGS);
    let mut logs: Vec<Log> = Vec::new();
    let mut metas: Vec<Meta> = Vec::new();
    for stream in &trace.streams {
        let mut log = Log::new(capacity);
        let json = stream.json.filter(|json| json.present && stream.layout == 3);
        metas.push(json.map_or_else(Meta::default, |json| {
            metadata::read(&files.bytes(json.index), json.index, &mut log)
        }));
        logs.push(log);
    }
    let mut system = system::build(&trace.streams, &metas, report);
    if let Some(index) = trace.clock_offsets {
        whole::offsets(&files.bytes(index), index, &mut system, report);
    }
    let sources: Vec<Source<'_>> = trace
        .streams
        .iter()
        .map(|stream| stream.obs.map(|obs| files.bytes(obs.index)).unwrap_or_default())
        .collect();
    let shared = Shared {
        known: metas.iter().any(|meta| meta.readable),
        enabled: system.enabled,
        marks: system.marks.clone(),
        counters: system.counters,
        resync: options.limits.of(&RESYNC),
        findings: capacity,
    };
    let headers: Vec<Header> = sources.iter().map(stream::header).collect();
    let new = |number: usize, findings: usize| {
        let source = sources.get(number)?;
        let obs = trace.streams.get(number)?.obs;
        let meta = metas.get(number)?;
        let file = obs.map_or(0, |obs| obs.index);
        let shared = Shared { findings, ..Shared::default() };
        let mut machine = Machine::new(source, file, &shared);
        machine.required = meta.require;
        machine.unfinished = troubled(&trace, trace.streams.get(number)?, meta);
        if !followed(source, headers.get(number)?) || obs.is_none_or(|obs| !obs.present) {
            machine.ended = Some(Ending::Unreadable);
        }
        Some(machine)
    };
    let mut machines: Vec<Machine<'_, '_>> =
        (0..sources.len()).filter_map(|number| new(number, capacity)).collect();
    if options::strategy(options) == Some(Strategy::Cut) {
        let quiet = Shared { findings: 0, ..shared.clone() };
        let ends = machines.iter().enumerate().filter(|(_, machine)| machine.unfinished);
        let ends =
            ends.filter_map(|(number, _)| last_clock(new(number, 0)?, number, &system, &quiet));
        if let Some(earliest) = ends.min() {
            for (number, machine) in machines.iter_mut().enumerate() {
                let until = earliest.saturating_sub(offset(&system, number));
                machine.ceiling = u64::try_from(until).unwrap_or(0).min(thread::CLOCK_MAX);
            }
        }
    }
    for machine in &mut machines {
        if machine.ended == Some(Ending::Unreadable) {
            // It has no event: it ends before it begins.
            machine.queue.push_back(thread::Cross::close(machine));
        }
    }
    let layers = machines.iter().map(Machine::layer).collect();
    let mut merge = Merge::new(&system, layers, &options.limits);
    merge.run(&mut machines, &shared, jobs(options, &sources));

    let case = Case {
        files,
        trace: &trace,
        metas: &metas,
        headers: &headers,
        machines: &machines,
        system: &system,
        merge: &merge,
        earliest: earliest(&machines, &system),
        limits: &options.limits,
        strategy: options::strategy(options),
        upgrade: options::has_upgrade(options),
    };
    let mut endings = Log::new(capacity);
    for number in 0..machines.len() {
        ending::check(&case, number, &mut endings);
    }
    whole::check(&case, &mut endings);
    summary(&case, report);
    for log in logs {
        log.pour(report);
    }
    endings.pour(report);
    for machine in &mut machines {
        std::mem::take(&mut machine.log).pour(report);
    }
    merge.log.pour(report);
}

/// How many threads walk the streams.
fn jobs(options: &Options, sources: &[Source<'_>]) -> NonZeroUsize {
    let bytes = sources.iter().fold(0, |sum: u64, source| sum.saturating_add(source.len()));
    let few = sources.len() < 2 || bytes < SIDE_BY_SIDE;
    let machine = || if few { None } else { std::thread::available_parallelism().ok() };
    options.jobs.or_else(machine).unwrap_or(NonZeroUsize::MIN)
}

/// Whether events can be read behind a header.
fn followed(source: &Source<'_>, header: &Header) -> bool {
    match header {
        Header::Sound => true,
        Header::Short(_) | Header::Foreign => false,
        Header::Magic(_) | Header::Version(_) => match Walk::new(source, STREAM_HEADER).step() {
            Step::Event(event) => layout::by_code(event.code).is_some(),
            _ => false,
        },
    }
}

fn offset(system: &System, number: usize) -> i128 {
    let seat = system.seats.get(number).copied().flatten();
    let loom = seat.and_then(|seat| system.looms.get(seat.loom));
    loom.map_or(0, |loom| i128::from(loom.offset))
}

/// The first clock of all streams, in the trace's time.
fn earliest(machines: &[Machine<'_, '_>], system: &System) -> i128 {
    let firsts = machines.iter().enumerate().filter_map(|(number, machine)| {
        Some(i128::from(machine.first?).saturating_add(offset(system, number)))
    });
    firsts.min().unwrap_or(0)
}

/// The last clock of a stream, in the trace's time.
fn last_clock(
    mut machine: Machine<'_, '_>,
    number: usize,
    system: &System,
    shared: &Shared,
) -> Option<i128> {
    while machine.ended.is_none() {
        machine.fill(shared, 1 << 16);
        machine.queue.clear();
    }
    let last = i128::from(machine.clock).saturating_add(offset(system, number));
    (machine.events > 0).then_some(last)
}

/// What was counted, and what else there is to know.
fn summary(case: &Case<'_, '_, '_>, report: &mut Report) {
    let readable = case.machines.iter().filter(|m| m.ended != Some(Ending::Unreadable));
    report.tally.samples = to_u64(readable.count());
    for (number, machine) in case.machines.iter().enumerate() {
        report.tally.records = report.tally.records.saturating_add(machine.events);
        let moved = |clock: u64| {
            let clock = i128::from(clock).saturating_add(offset(case.system, number));
            u64::try_from(clock).unwrap_or(0)
        };
        if let Some(first) = machine.first {
            report.tally.observe_time(moved(first));
            report.tally.observe_time(moved(machine.clock));
        }
    }
    if case.trace.alone {
        report.fact("metadata", "none: a stream by itself");
        return;
    }
    let layouts = case.trace.streams.iter().map(|stream| stream.layout);
    let layout = layouts.min().unwrap_or(3);
    let releases = ["", "libovni 1.0 to 1.4", "libovni 1.5 to 1.10", "libovni 1.11 and later"];
    let release = releases.get(usize::from(layout)).copied().unwrap_or_default();
    report.fact("layout", format!("version {layout} ({release})"));
    let (looms, processes) = (case.system.looms.len(), case.system.processes.len());
    let threads = case.system.seats.iter().flatten().count();
    let system = format!("looms: {looms}, processes: {processes}, threads: {threads}");
    report.fact("system", system);
    let dead = case.machines.iter().filter(|machine| machine.state == thread::State::Dead);
    let all = case.machines.len();
    report.fact("threads that ended", format!("{} of {all}", dead.count()));
    let used = MODELS.iter().enumerate().filter(|(index, _)| {
        case.machines.iter().any(|machine| machine.used.get(*index).is_some_and(Option::is_some))
    });
    let names: Vec<&str> = used.map(|(_, model)| model.name).collect();
    report.fact("models", if names.is_empty() { "none".to_string() } else { names.join(", ") });
    if let Some(lib) = case.metas.iter().find_map(|meta| meta.lib.as_ref()) {
        report.fact("libovni", Untrusted(lib.as_bytes()).to_string());
    }
}
