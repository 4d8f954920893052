//! The end of a stream, so that its thread ends there.

use crate::formats::ovni::decode::stream::Header;
use crate::formats::ovni::layout::{STREAM_HEADER, ThreadStep};
use crate::formats::ovni::options::Strategy;
use crate::formats::ovni::recover::older_run::OlderRun;
use crate::formats::ovni::repair::build_fix;
use crate::formats::ovni::repair::close::{self, CloseTerms};
use crate::formats::ovni::repair::encode::{EncodedEvents, EventWriter, encode_header};
use crate::formats::ovni::state::summary::{StreamSummary, TraceSummary};
use crate::formats::ovni::state::thread::Ending;
use crate::kit::span::{Layer, Span};
use crate::kit::words::{agree, byte_count, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::limits::RESYNC;

/// A repair of the end of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TailRepair {
    /// The edits, in order; none if nothing changes.
    pub edits: Vec<Edit>,
    /// Number of events added.
    pub added: u64,
    /// Number of bytes dropped.
    pub dropped: u64,
    /// Number of complete events among them.
    pub lost: u64,
    /// They are all but those of an earlier run.
    pub keeps_older: bool,
}

impl TailRepair {
    /// Describes the repair of one thread.
    pub fn summary(&self) -> String {
        self.describe("the thread")
    }

    /// Describes the repairs of some threads.
    fn describe(&self, threads: &str) -> String {
        let mut words = Vec::new();
        if self.dropped > 0 {
            let all = byte_count(self.dropped);
            words.push(match self.lost {
                0 => format!("drop {all}"),
                lost => format!("drop {all} with {}", plural(lost, "complete event")),
            });
        }
        if self.keeps_older {
            words.push("keep those of the run before".to_string());
        } else if self.added > 0 {
            words.push(format!(
                "add {} that {} {threads}",
                plural(self.added, "event"),
                agree(self.added, "closes", "close")
            ));
        }
        if words.is_empty() { "keep all events".to_string() } else { words.join(", ") }
    }

    /// Returns the repair as a fix of its own.
    pub fn into_fix(self) -> Option<Fix> {
        if self.edits.is_empty() {
            return None;
        }
        let mut fix = build_fix(self.summary(), self.edits);
        fix.records_lost = self.lost;
        Some(fix)
    }
}

/// Returns the edit that ends the thread of a stream.
pub fn repair_tail(summary: &TraceSummary<'_, '_>, stream: &StreamSummary<'_, '_>) -> TailRepair {
    let thread = &stream.thread;
    let is_truncated = matches!(stream.stream.header(), Header::Truncated(_));
    let is_unreadable = thread.end.ending == Ending::Unreadable && !is_truncated;
    // Without a name for the file of events they cannot be written.
    if stream.files.obs.is_none() || is_unreadable {
        return TailRepair::default();
    }
    if let Some(older) = stream.older.filter(|_| summary.decisions.keeps_older) {
        return keep_older(stream, &older);
    }
    let EncodedEvents { bytes, count } = close::end_thread(thread, &close_terms(summary, stream));
    let (from, insert) =
        if is_truncated { (0, [encode_header(), bytes].concat()) } else { (thread.end.at, bytes) };
    let span = Span::new(stream.layer(), from, stream.stream.len());
    let lost = match thread.end.ending {
        Ending::Stale => stream.older.map_or(0, |older| older.all),
        Ending::Cut => stream.stream.count_events(from, summary.limits.of(&RESYNC)),
        _ => 0,
    };
    let dropped = span.len();
    let edit = (!insert.is_empty() || dropped > 0).then(|| Edit::replace(span, insert));
    TailRepair {
        edits: edit.into_iter().collect(),
        added: count,
        dropped,
        lost,
        keeps_older: false,
    }
}

/// Returns the edits that leave the events of the run before the newest one. Its beginning is lost:
/// the thread starts at its first event, and the next round closes what those open.
fn keep_older(stream: &StreamSummary<'_, '_>, older: &OlderRun) -> TailRepair {
    let (layer, len) = (stream.layer(), stream.stream.len());
    let newest = Span::new(layer, STREAM_HEADER, older.from);
    let oldest = Span::new(layer, older.until, len);
    let mut start = EventWriter::new(older.clocks.0, false);
    if older.first_code != *b"OHx" {
        start.put_step(ThreadStep::Execute);
    }
    let mut edits = vec![Edit::replace(newest, start.out.bytes)];
    edits.extend((!oldest.is_empty()).then(|| Edit::drop(oldest)));
    let others = older.all.saturating_sub(older.events);
    TailRepair {
        edits,
        added: start.out.count,
        dropped: newest.len().saturating_add(oldest.len()),
        lost: stream.thread.events.saturating_add(others),
        keeps_older: true,
    }
}

/// Returns a fix that writes a stream in which the thread starts and ends.
pub fn write_stream(summary: &TraceSummary<'_, '_>, stream: &StreamSummary<'_, '_>) -> Option<Fix> {
    let obs = stream.files.obs?;
    let events = close::end_thread(&stream.thread, &close_terms(summary, stream));
    let bytes = [encode_header(), events.bytes].concat();
    let edit = Edit::replace(Span::new(Layer::stored(obs.index), 0, 0), bytes);
    let text = "write a stream in which the thread starts and ends";
    Some(build_fix(text, vec![edit]))
}

/// Returns a fix that replaces a stream without a readable event by one in which the thread starts
/// and ends. A stream by itself is left alone: nothing else would remain of it.
pub fn replace_stream(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
) -> Option<Fix> {
    if summary.trace.files.is_lone_stream || !stream.has_owner {
        return None;
    }
    let events = close::end_thread(&stream.thread, &close_terms(summary, stream));
    let bytes = [encode_header(), events.bytes].concat();
    let whole = Span::new(stream.layer(), 0, stream.stream.len());
    let text = "replace the stream by one in which the thread starts and ends";
    Some(build_fix(text, vec![Edit::replace(whole, bytes)]))
}

/// Returns a fix that adds keys as a lossy one if damage has moved these keys to another object:
/// the recorded values do not count any more.
pub fn weigh_displaced(stream: &StreamSummary<'_, '_>, fix: Fix) -> Fix {
    match stream.metadata.identity.has_displaced_keys {
        true => Fix { safety: Safety::Lossy, ..fix },
        false => fix,
    }
}

/// Returns a fix with the edits of the metadata of a stream, and the repair of its end.
pub fn complete_stream(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
    metadata: Vec<Edit>,
) -> Option<Fix> {
    complete_streams(summary, vec![(stream, metadata)])
}

/// Returns a fix with the edits of the metadata of some streams, and the repairs of their ends. A
/// stream without such an edit, or without an owner, stays as it is.
pub fn complete_streams(
    summary: &TraceSummary<'_, '_>,
    streams: Vec<(&StreamSummary<'_, '_>, Vec<Edit>)>,
) -> Option<Fix> {
    let mut all = TailRepair::default();
    let (mut edits, mut others) = (Vec::new(), 0_u64);
    let (mut completed, mut is_displaced) = (0_u64, false);
    let is_repairable = |(stream, metadata): &(&StreamSummary<'_, '_>, Vec<Edit>)| {
        !metadata.is_empty() && stream.has_owner
    };
    for (stream, metadata) in streams.into_iter().filter(is_repairable) {
        let tail = repair_tail(summary, stream);
        all.added = all.added.saturating_add(tail.added);
        all.dropped = all.dropped.saturating_add(tail.dropped);
        all.lost = all.lost.saturating_add(tail.lost);
        all.keeps_older |= tail.keeps_older;
        edits.extend(metadata);
        edits.extend(tail.edits);
        for tail in cut_other_streams(summary, stream.number) {
            all.lost = all.lost.saturating_add(tail.lost);
            edits.extend(tail.edits);
            others = others.saturating_add(1);
        }
        completed = completed.saturating_add(1);
        is_displaced |= stream.metadata.identity.has_displaced_keys;
    }
    if completed == 0 {
        return None;
    }
    let mut text = all.describe(agree(completed, "the thread", "the threads"));
    if others > 0 {
        text.push_str(&format!(", cut {} at the same clock", plural(others, "other stream")));
    }
    text.push_str(", complete the metadata");
    if completed > 1 {
        text.push_str(&format!(" of {}", plural(completed, "thread")));
    }
    edits.sort_by_key(|edit| (edit.span.layer.file, edit.span.start));
    let mut fix = build_fix(text, edits);
    fix.records_lost = all.lost;
    if is_displaced {
        fix.safety = Safety::Lossy;
    }
    Some(fix)
}

/// With `--strategy cut`: the repairs of streams without a fault of their own, so that all streams
/// end at the same clock. They belong to the first stream that is repaired.
fn cut_other_streams(summary: &TraceSummary<'_, '_>, number: usize) -> Vec<TailRepair> {
    let cuts = summary.decisions.strategy == Some(Strategy::Cut);
    if !cuts || summary.first_in_repair_of_all() != Some(number) {
        return Vec::new();
    }
    let others = summary
        .streams
        .iter()
        .filter(|other| other.thread.end.ending == Ending::Cut && !other.needs_repair);
    others.map(|other| repair_tail(summary, other)).filter(|tail| !tail.edits.is_empty()).collect()
}

/// The facts about the trace that the end of a thread depends on.
fn close_terms(summary: &TraceSummary<'_, '_>, stream: &StreamSummary<'_, '_>) -> CloseTerms {
    let owner = summary.system.owner(stream.number);
    // The earliest clock of the trace, on the clock of this loom.
    let earliest = summary.earliest.saturating_sub(summary.system.clock_offset(stream.number));
    let moved = stream.placement.moved_after_end;
    CloseTerms {
        clock: u64::try_from(earliest).unwrap_or(0),
        tid: owner.and_then(|owner| i32::try_from(owner.tid).ok()),
        is_on_cpu: stream.placement.cpu.is_some_and(|cpu| cpu >= 0),
        moved_after_end: moved.map(|(clock, cpu)| (clock, cpu >= 0)),
    }
}
