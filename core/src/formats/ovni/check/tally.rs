//! Counts and facts of a trace for the report.

use crate::formats::ovni::layout::{MODELS, ThreadState};
use crate::formats::ovni::state::summary::TraceSummary;
use crate::formats::ovni::state::thread::Ending;
use crate::kit::num::to_u64;
use crate::kit::text::Untrusted;
use crate::kit::words::plural;
use crate::model::Report;

/// Releases of libovni, by the version of the layout.
const RELEASES: [&str; 4] =
    ["", "libovni 1.0 to 1.4", "libovni 1.5 to 1.10", "libovni 1.11 and later"];

/// Name of the fact about events of earlier runs.
pub const EARLIER_RUNS: &str = "earlier runs";

/// Counts streams and events, and adds facts about the trace.
pub(super) fn count_trace(summary: &TraceSummary<'_, '_>, report: &mut Report) {
    count_events(summary, report);
    let older = summary.streams.iter().filter_map(|stream| stream.older);
    let (streams, events) = older.fold((0_u64, 0_u64), |(streams, events), older| {
        (streams.saturating_add(1), events.saturating_add(older.all))
    });
    if streams > 0 {
        report.fact(
            EARLIER_RUNS,
            format!("{} in {}", plural(events, "event"), plural(streams, "stream")),
        );
    }
    if summary.trace.files.is_lone_stream {
        report.fact("metadata", "none (a lone stream)");
        return;
    }
    let layouts = summary.streams.iter().map(|stream| stream.files.layout);
    let layout = layouts.min().unwrap_or(3);
    let release = RELEASES.get(usize::from(layout)).copied().unwrap_or_default();
    report.fact("layout", format!("version {layout} ({release})"));
    let (looms, processes) = (summary.system.looms.len(), summary.system.processes.len());
    let threads = summary.system.owners.iter().flatten().count();
    let system = format!("looms: {looms}, processes: {processes}, threads: {threads}");
    report.fact("system", system);
    let dead = summary.streams.iter().filter(|s| s.thread.status.state == ThreadState::Dead);
    report.fact("threads that ended", format!("{} of {}", dead.count(), summary.streams.len()));
    let is_used = |index: usize| {
        summary.streams.iter().any(|stream| stream.thread.usage.first_of(index).is_some())
    };
    let models = MODELS.iter().enumerate().filter(|(index, _)| is_used(*index));
    let names: Vec<&str> = models.map(|(_, model)| model.name).collect();
    report.fact("models", if names.is_empty() { "none".to_string() } else { names.join(", ") });
    if let Some(lib) = summary.streams.iter().find_map(|stream| stream.metadata.lib.as_ref()) {
        report.fact("libovni", Untrusted(lib.as_bytes()).to_string());
    }
}

fn count_events(summary: &TraceSummary<'_, '_>, report: &mut Report) {
    let readable = summary.streams.iter().filter(|s| s.thread.end.ending != Ending::Unreadable);
    report.tally.samples = to_u64(readable.count());
    for stream in &summary.streams {
        let thread = &stream.thread;
        let older = stream.older.map_or(0, |older| older.all);
        let events = thread.events.saturating_add(older);
        report.tally.records = report.tally.records.saturating_add(events);
        let offset = summary.system.clock_offset(stream.number);
        let in_trace =
            |clock: u64| u64::try_from(i128::from(clock).saturating_add(offset)).unwrap_or(0);
        if let Some(first) = thread.first_clock {
            report.tally.observe_time(in_trace(first));
            report.tally.observe_time(in_trace(thread.last_clock));
        }
    }
}
