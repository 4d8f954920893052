//! Threads whose metadata libovni never completed: one finding per process, because a killed
//! process leaves the same fault in every thread.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::layout::{BUFFER, ThreadState};
use crate::formats::ovni::recover::older_run::OlderRun;
use crate::formats::ovni::repair::metadata::complete_metadata;
use crate::formats::ovni::repair::tail::complete_streams;
use crate::formats::ovni::rules;
use crate::formats::ovni::state::summary::{StreamSummary, TraceSummary};
use crate::formats::ovni::state::thread::Ending;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::words::{agree, byte_count, plural, seconds};
use crate::model::Finding;

/// Threads that a finding describes one by one: a screen shows them together with the rest.
const DESCRIBED: usize = 8;

/// Reports the unfinished threads of each process.
pub fn check_unfinished(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    // A stream whose process is unknown stands alone.
    let mut processes: BTreeMap<(Option<usize>, usize), Vec<&StreamSummary<'_, '_>>> =
        BTreeMap::new();
    for stream in summary.streams.iter().filter(|stream| is_unfinished(stream)) {
        let owner = summary.system.owner(stream.number);
        let process = owner.map(|owner| owner.process);
        let alone = if process.is_none() { stream.number } else { 0 };
        processes.entry((process, alone)).or_default().push(stream);
    }
    for streams in processes.into_values() {
        log.push(report_process(summary, &streams));
    }
}

/// Whether the metadata of a thread can be read and does not contain `finished`.
fn is_unfinished(stream: &StreamSummary<'_, '_>) -> bool {
    stream.needs_repair && stream.metadata.is_readable && stream.files.present_json().is_some()
}

fn report_process(summary: &TraceSummary<'_, '_>, streams: &[&StreamSummary<'_, '_>]) -> Finding {
    let mut endings: Vec<ThreadEnding<'_>> =
        streams.iter().map(|stream| ThreadEnding::new(summary, stream)).collect();
    let place = streams.first().map_or(Span::new(Layer::stored(0), 0, 0), |first| place(first));
    let message = describe_process(summary, streams);
    let mut finding =
        Finding::new(&rules::UNFINISHED_STREAM, place, "stream.json:ovni.finished", message);
    if let [stream] = streams {
        let thread = &stream.thread;
        if !stream.stream.is_empty() {
            let end = thread.end.at.min(stream.stream.len());
            let end = Span::new(stream.layer(), end, end);
            finding = finding.related(end, "end of the last complete event");
        }
    }
    // Those that stopped first come first.
    endings.sort_by_key(|ending| (Reverse(ending.before_end_ns), ending.tid));
    let rest = endings.split_off(endings.len().min(DESCRIBED));
    for ending in &endings {
        finding = finding.note(match streams {
            [_] => ending.to_string(),
            _ => ending.describe_by_id(),
        });
    }
    if let Some(first) = rest.first() {
        let more = plural(to_u64(rest.len()), "more thread");
        let verb = agree(to_u64(rest.len()), "ends", "end at most");
        let before = seconds(first.before_end_ns);
        finding = finding.note(format!("{more}, which {verb} {before} before the trace does"));
    }
    if let Some(line) = describe_loss(streams) {
        finding = finding.note(line);
    }
    let parts = streams.iter().map(|stream| (*stream, complete_metadata(summary, stream)));
    let mut fix = complete_streams(summary, parts.collect());
    for older in streams.iter().filter_map(|stream| stream.older).take(DESCRIBED) {
        finding = finding.note(describe_older(&older));
    }
    if streams.iter().any(|stream| stream.older.is_some()) {
        fix = fix.map(|fix| fix.option(other_part(summary)));
    }
    finding.fix_if(fix)
}

/// Describes the events of earlier runs after those of a thread.
pub fn describe_older(older: &OlderRun) -> String {
    let (first, last) = older.clocks;
    let of_older = match older.all.saturating_sub(older.events) {
        0 => String::new(),
        more => format!(", and {more} of runs before that"),
    };
    let events = plural(older.events, "complete event");
    format!("earlier run: {events}, clocks {first} to {last}{of_older}")
}

/// Returns the option that keeps the other run of a stream.
pub fn other_part(summary: &TraceSummary<'_, '_>) -> &'static str {
    if summary.decisions.keeps_older { "--part 1" } else { "--part 2" }
}

/// The place of `finished`, or of the object that lacks it.
fn place(stream: &StreamSummary<'_, '_>) -> Span {
    let file = stream.files.present_json().unwrap_or(0);
    let place = stream.metadata.finished.or(stream.metadata.object);
    place.unwrap_or(Span::new(Layer::stored(file), 0, 0))
}

fn describe_process(summary: &TraceSummary<'_, '_>, streams: &[&StreamSummary<'_, '_>]) -> String {
    let missing = streams.iter().filter(|stream| stream.metadata.finished.is_none()).count();
    let fault = match missing {
        0 => "not 1",
        all if all == streams.len() => "missing",
        _ => "missing or not 1",
    };
    let owner = streams.first().and_then(|first| summary.system.owner(first.number));
    let process = owner.and_then(|owner| summary.system.processes.get(owner.process));
    match (process, streams) {
        (Some(process), [_, _, ..]) => {
            let (count, all) = (streams.len(), to_u64(process.streams.len()));
            let (all, pid) = (plural(all, "thread"), process.pid);
            format!("ovni.finished is {fault} in {count} of {all} of process {pid}")
        }
        _ => format!("ovni.finished is {fault}"),
    }
}

/// The events that were buffered when the process was killed. A thread that ended has flushed them.
fn describe_loss(streams: &[&StreamSummary<'_, '_>]) -> Option<String> {
    let is_cut = |stream: &&&StreamSummary<'_, '_>| {
        stream.metadata.is_initial() && stream.thread.status.state != ThreadState::Dead
    };
    let threads = to_u64(streams.iter().filter(is_cut).count());
    let buffers = agree(threads, "the buffer of the thread was", "the buffers of the threads were");
    let bytes = byte_count(threads.saturating_mul(BUFFER));
    (threads > 0).then(|| format!("up to {bytes} of events are missing: {buffers} never flushed"))
}

/// The end of a thread, as a line for people.
pub struct ThreadEnding<'s> {
    tid: Option<i64>,
    state: ThreadState,
    events: u64,
    ending: &'s Ending,
    /// Whether zeros follow.
    is_blank: bool,
    /// Nanoseconds between the last event of the thread and that of the trace.
    before_end_ns: u64,
}

impl<'s> ThreadEnding<'s> {
    /// Describes the end of the thread of a stream.
    pub fn new(summary: &TraceSummary<'_, '_>, stream: &'s StreamSummary<'_, '_>) -> Self {
        let thread = &stream.thread;
        let offset = summary.system.clock_offset(stream.number);
        let last = i128::from(thread.last_clock).saturating_add(offset);
        let before = if thread.events == 0 { 0 } else { summary.latest.saturating_sub(last) };
        Self {
            tid: summary.system.owner(stream.number).map(|owner| owner.tid),
            state: thread.status.state,
            events: thread.events,
            ending: &thread.end.ending,
            is_blank: stream.ends_in_zeros(),
            before_end_ns: u64::try_from(before).unwrap_or(0),
        }
    }

    /// Returns the line with the id of the thread.
    fn describe_by_id(&self) -> String {
        let tid = self.tid.map_or("?".to_string(), |tid| tid.to_string());
        format!("thread {tid} is {}", self.describe())
    }

    /// State and number of events, and the distance from the end of the trace.
    fn describe(&self) -> String {
        let tail = match self.ending {
            Ending::Truncated(_) => ", then a truncated event",
            Ending::Stale if self.is_blank => ", then a preallocated tail",
            Ending::Stale => ", then events of an earlier run",
            _ => "",
        };
        let (state, events) = (self.state.name(), plural(self.events, "event"));
        if self.before_end_ns == 0 {
            return format!("{state} after {events}{tail}");
        }
        let before = seconds(self.before_end_ns);
        format!("{state} after {events}{tail}; it ends {before} before the trace does")
    }
}

impl fmt::Display for ThreadEnding<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the thread is {}", self.describe())
    }
}
