//! A table of looms, processes and threads.
//!
//! ```text
//!  loom node0: 4 CPUs, 1 process
//!  process 8763: 2 threads, 5 events, app 1, undefined: 3 tasks, 1 task type
//!    thread       events          first           last   before end  state
//!    8763              4    1.000000000    1.500000000  0.000000000  dead
//! ```
//!
//! Times are seconds in the time of the trace. The distance between the last event of a thread and
//! the end of the trace is the time of which events can be missing.

use std::fmt::Write as _;

use crate::formats::ovni::check;
use crate::formats::ovni::state::summary::{StreamSummary, TraceSummary};
use crate::formats::ovni::state::system::{Loom, Process};
use crate::formats::ovni::state::thread::{Ending, ThreadStatus};
use crate::kit::num::to_u64;
use crate::kit::text::{Untrusted, UntrustedPath};
use crate::kit::words::plural;
use crate::model::dump::{DumpError, Dumped};
use crate::model::options::Options;
use crate::model::recording::FileSet;

/// Nanoseconds of a second.
const SECOND_NS: i128 = 1_000_000_000;

/// Writes the table.
pub(super) fn write(
    files: &FileSet<'_>,
    options: &Options,
    out: &mut dyn FnMut(&str) -> bool,
) -> Result<Dumped, DumpError> {
    let mut written = None;
    check::view_trace(files, options, |summary| written = Some(write_trace(summary, out)));
    written.ok_or(DumpError::Unreadable)
}

fn write_trace(summary: &TraceSummary<'_, '_>, out: &mut dyn FnMut(&str) -> bool) -> Dumped {
    let mut dumped = Dumped::default();
    for loom in &summary.system.looms {
        if !out(&describe_loom(loom)) {
            return dumped;
        }
        for number in &loom.processes {
            let Some(process) = summary.system.processes.get(*number) else { continue };
            let mut text = describe_process(summary, *number, process);
            write_heads(&mut text);
            for stream in process.streams.iter().filter_map(|stream| summary.stream(*stream)) {
                write_stream(summary, stream, &mut text, &mut dumped);
            }
            if !out(&text) {
                return dumped;
            }
        }
    }
    let mut others = summary.streams.iter().filter(|stream| !stream.has_owner).peekable();
    if others.peek().is_some() {
        let mut text = "streams of unknown threads\n".to_string();
        write_heads(&mut text);
        others.for_each(|stream| write_stream(summary, stream, &mut text, &mut dumped));
        out(&text);
    }
    dumped
}

fn describe_loom(loom: &Loom) -> String {
    let name = Untrusted(loom.name.as_bytes());
    let cpus = plural(to_u64(loom.cpus.len()), "CPU");
    let processes = plural(to_u64(loom.processes.len()), "process");
    let offset = match loom.offset {
        0 => String::new(),
        offset => format!(", clock offset {offset} ns"),
    };
    format!("loom {name}: {cpus}, {processes}{offset}\n")
}

fn describe_process(summary: &TraceSummary<'_, '_>, number: usize, process: &Process) -> String {
    let streams = process.streams.iter().filter_map(|stream| summary.stream(*stream));
    let events = streams.fold(0, |sum: u64, stream| sum.saturating_add(stream.thread.events));
    let threads = plural(to_u64(process.streams.len()), "thread");
    let mut text = format!("process {}: {threads}, {}", process.pid, plural(events, "event"));
    if let Some(app) = &process.app_id {
        let _infallible = write!(text, ", app {}", app.value);
    }
    if let (Some(rank), Some(nranks)) = (&process.rank, &process.nranks) {
        let _infallible = write!(text, ", rank {} of {}", rank.value, nranks.value);
    }
    let definitions = summary.shortages.definitions.iter();
    let missing = definitions.filter(|((process, _), _)| *process == number);
    let (tasks, types) = missing.fold((0, 0), |(tasks, types): (u64, u64), (_, missing)| {
        let more = (to_u64(missing.tasks.len()), to_u64(missing.types.len()));
        (tasks.saturating_add(more.0), types.saturating_add(more.1))
    });
    if tasks > 0 || types > 0 {
        let (tasks, types) = (plural(tasks, "task"), plural(types, "task type"));
        let _infallible = write!(text, ", undefined: {tasks}, {types}");
    }
    text.push('\n');
    text
}

fn write_heads(text: &mut String) {
    let heads = ["thread", "events", "first", "last", "before end", "state"];
    let [thread, events, first, last, left, state] = heads;
    let _infallible =
        writeln!(text, "  {thread:<10} {events:>12} {first:>18} {last:>18} {left:>16}  {state}");
}

fn write_stream(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
    text: &mut String,
    dumped: &mut Dumped,
) {
    let thread = &stream.thread;
    let offset = summary.system.clock_offset(stream.number);
    let owner = summary.system.owner(stream.number);
    let dir = || UntrustedPath(stream.files.dir.as_bytes()).to_string();
    let name = owner.map_or_else(dir, |owner| owner.tid.to_string());
    let times = thread.first_clock.map(|first| {
        let [first, last] =
            [first, thread.last_clock].map(|clock| i128::from(clock).saturating_add(offset));
        [first, last, summary.latest.saturating_sub(last)].map(show_time)
    });
    let [first, last, left] = times.unwrap_or_else(|| ["-", "-", "-"].map(ToString::to_string));
    let (events, state) = (thread.events, describe_state(stream));
    let _infallible =
        writeln!(text, "  {name:<10} {events:>12} {first:>18} {last:>18} {left:>16}  {state}");
    dumped.records = dumped.records.saturating_add(events);
}

/// Returns nanoseconds as seconds with nine digits.
fn show_time(nanoseconds: i128) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let (whole, rest) = (nanoseconds.abs() / SECOND_NS, nanoseconds.abs() % SECOND_NS);
    format!("{sign}{whole}.{rest:09}")
}

/// Returns the state of a thread, everything that it has open, and how its stream ends.
fn describe_state(stream: &StreamSummary<'_, '_>) -> String {
    let status = &stream.thread.status;
    let mut words = vec![status.state.name().to_string()];
    let states = status.stacks.iter().fold(0, |sum: usize, open| sum.saturating_add(open.len()));
    let counted = [(states, "open state"), (count_bodies(status), "open task")];
    for (count, noun) in counted.into_iter().filter(|(count, _)| *count > 0) {
        words.push(plural(to_u64(count), noun));
    }
    words.extend(status.is_off_cpu.then(|| "off its CPU".to_string()));
    let end = match stream.thread.end.ending {
        Ending::Complete | Ending::Cut => None,
        Ending::Truncated(_) => Some("truncated event"),
        Ending::Stale => Some("events of an earlier run follow"),
        Ending::Unreadable => Some("unreadable"),
    };
    words.extend(end.map(ToString::to_string));
    let is_finished = stream.metadata.is_finished || stream.files.layout < 3;
    words.extend((!is_finished).then(|| "not finished".to_string()));
    words.join(", ")
}

fn count_bodies(status: &ThreadStatus) -> usize {
    status.bodies.iter().fold(0, |sum, open| sum.saturating_add(open.len()))
}
