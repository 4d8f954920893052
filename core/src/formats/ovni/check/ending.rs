//! How each stream ends.

use crate::formats::ovni::check::completion::with_members;
use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::check::metadata::{check_metadata, describe_syntax_error};
use crate::formats::ovni::check::unfinished::{ThreadEnding, describe_older, other_part};
use crate::formats::ovni::decode::files::{JSON, OBS};
use crate::formats::ovni::decode::json::parse;
use crate::formats::ovni::decode::stream::Header;
use crate::formats::ovni::decode::trace::Document;
use crate::formats::ovni::layout::{
    EVENT_HEADER, STREAM_HEADER, STREAM_VERSION, Stack, ThreadState,
};
use crate::formats::ovni::repair::build_fix;
use crate::formats::ovni::repair::close;
use crate::formats::ovni::repair::encode::encode_header;
use crate::formats::ovni::repair::encoding::restore_encoding;
use crate::formats::ovni::repair::metadata::{mandatory_members, new_document};
use crate::formats::ovni::repair::syntax::{apply_edits, restore_syntax};
use crate::formats::ovni::repair::tail::{
    complete_stream, repair_tail, replace_stream, write_stream,
};
use crate::formats::ovni::rules;
use crate::formats::ovni::state::metadata::Located;
use crate::formats::ovni::state::summary::{StreamSummary, TraceSummary};
use crate::formats::ovni::state::thread::Ending;
use crate::kit::holes::describe_trailing;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::kit::words::{agree, byte_count, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::limits::FINDINGS;
use crate::model::{Finding, Severity};

/// Reports how a stream ends.
pub fn check_ending(summary: &TraceSummary<'_, '_>, stream: &StreamSummary<'_, '_>, log: &mut Log) {
    if stream.files.present_obs().is_some() {
        check_header(summary, stream, log);
    }
    if summary.trace.files.is_lone_stream || stream.files.layout < 3 {
        check_tail(summary, stream, log);
        return;
    }
    if stream.metadata.is_other_part() {
        log.push(report_other_part(summary, stream));
        return;
    }
    match (stream.files.present_json(), stream.files.present_obs()) {
        (Some(json), None) => {
            if !summary.trace.is_link(stream.files, OBS) {
                log.push(report_missing_obs(summary, stream, json));
            }
            if stream.needs_repair && !stream.metadata.is_readable {
                check_syntax(summary, stream, json, log);
            }
        }
        (None, Some(_)) if summary.trace.is_link(stream.files, JSON) => {}
        (None, Some(obs)) => log.push(report_missing_json(summary, stream, obs)),
        (Some(json), Some(_)) if !stream.metadata.is_readable => {
            check_syntax(summary, stream, json, log);
        }
        // All unfinished threads of a process are one finding.
        (Some(_), Some(_)) if !stream.metadata.is_finished => {}
        (Some(_), Some(_)) => check_tail(summary, stream, log),
        (None, None) => {}
    }
    let is_dropped = summary.decisions.keeps_older && stream.older.is_some();
    if stream.thread.status.state == ThreadState::Dead && !is_dropped {
        check_open_states(stream, log);
    }
    if stream.stream.header() == Header::OtherByteOrder {
        let span = Span::new(stream.layer(), 4, STREAM_HEADER);
        let message = "version is 1 in the other byte order";
        log.push(Finding::new(&rules::FOREIGN_ORDER, span, "header.version", message));
    }
}

/// The magic and version of a stream. They are restored if events follow.
fn check_header(summary: &TraceSummary<'_, '_>, stream: &StreamSummary<'_, '_>, log: &mut Log) {
    let header = encode_header();
    let (finding, field, bytes) = match stream.stream.header() {
        Header::Magic(magic) => {
            let span = Span::new(stream.layer(), 0, 4);
            let message = format!("invalid magic {:?}, expected `ovni`", Untrusted(&magic));
            let finding = Finding::new(&rules::STREAM_MAGIC, span, "header.magic", message);
            (finding, Span::new(stream.layer(), 0, STREAM_HEADER), header)
        }
        Header::Version(version) => {
            let span = Span::new(stream.layer(), 4, STREAM_HEADER);
            let message =
                format!("unsupported stream version {version}, expected {STREAM_VERSION}");
            let finding = Finding::new(&rules::STREAM_VERSION, span, "header.version", message);
            (finding, span, STREAM_VERSION.to_le_bytes().to_vec())
        }
        _ => return,
    };
    if stream.thread.end.ending == Ending::Unreadable {
        log.push(finding.fix_if(replace_stream(summary, stream)));
        return;
    }
    let edits = vec![replace_differing(stream, field, &bytes)];
    if !stream.stream.has_first_event() {
        log.push(finding.fix(build_fix("write the expected value", edits)));
        return;
    }
    // The first event says that a stream follows, of which every release wrote the same header.
    let event = Span::sized(stream.layer(), STREAM_HEADER, EVENT_HEADER);
    let fix = Fix::new(Safety::Exact, "write the expected value", edits);
    log.push(finding.fix(fix.witness(event, "the first event of the stream")));
}

/// Replaces a field from its first wrong byte to its last one: the others are the recorder's.
fn replace_differing(stream: &StreamSummary<'_, '_>, field: Span, bytes: &[u8]) -> Edit {
    let now = stream.stream.events(0).bytes(field);
    let is_same = |(now, new): &(&u8, &u8)| now == new;
    let before = now.iter().zip(bytes).take_while(is_same).count();
    let differing = bytes.get(before..).unwrap_or_default();
    let (now, new) = (now.iter().rev(), differing.iter().rev());
    let after = now.zip(new).take_while(is_same).count();
    let insert = differing.get(..differing.len().saturating_sub(after)).unwrap_or_default();
    let start = field.start.saturating_add(to_u64(before));
    Edit::replace(Span::new(field.layer, start, field.end.saturating_sub(to_u64(after))), insert)
}

fn report_other_part(summary: &TraceSummary<'_, '_>, stream: &StreamSummary<'_, '_>) -> Finding {
    let span = stream.metadata.object.unwrap_or(Span::new(stream.layer(), 0, 0));
    let part = stream.metadata.identity.part.as_deref().unwrap_or_default();
    let events = stream.thread.events;
    let part = Untrusted(part.as_bytes());
    let message = format!("unknown `ovni.part` {part:?}, expected `thread` (events: {events})");
    let path = "stream.json:ovni.part";
    let mut finding = Finding::new(&rules::UNKNOWN_PART, span, path, message);
    if events > 0 {
        finding.severity = Severity::Error;
    }
    // libovni writes a stream of this name for threads alone, and events of threads alone.
    if events > 0 && stream.files.path_identity.tid.is_some() {
        let members = mandatory_members(summary, stream, &["part"]);
        let text = "set `part` to \"thread\", as its directory and its events are of a thread";
        return with_members(summary, stream, finding, members, text);
    }
    finding
}

/// The end of a stream whose metadata is complete.
fn check_tail(summary: &TraceSummary<'_, '_>, stream: &StreamSummary<'_, '_>, log: &mut Log) {
    let thread = &stream.thread;
    let tail = Span::new(stream.layer(), thread.end.at, stream.stream.len());
    let left = tail.len();
    let next_event = format!("event[{}]", thread.events);
    let (rule, path, message) = match thread.end.ending {
        Ending::Truncated(needed) => (
            &rules::EVENT_TRUNCATED,
            next_event,
            format!("truncated event: {left} of {}", byte_count(needed)),
        ),
        Ending::Stale if stream.ends_in_zeros() => {
            let message = describe_trailing(left, true, "after the end of the thread");
            (&rules::STALE_TAIL, next_event, message)
        }
        Ending::Stale => {
            let bytes = byte_count(left);
            let events = stream.older.map_or(0, |older| older.all);
            let events = plural(events, "complete event");
            let message =
                format!("{bytes} of an earlier run follow the end of the thread, with {events}");
            (&rules::STALE_TAIL, next_event, message)
        }
        Ending::Unreadable => {
            let Header::Truncated(len) = stream.stream.header() else { return };
            let message = format!("truncated header: {len} of {}", byte_count(STREAM_HEADER));
            (&rules::STREAM_HEADER_TRUNCATED, "header".to_string(), message)
        }
        // The rest is dropped on account of another stream.
        Ending::Cut => return,
        Ending::Complete if thread.status.state == ThreadState::Dead => return,
        Ending::Complete => {
            let message = if thread.events == 0 {
                "the stream has no event: the thread's buffer was never flushed".to_string()
            } else {
                "missing OHe: the stream ends before its thread".to_string()
            };
            (&rules::NOT_ENDED, "thread".to_string(), message)
        }
    };
    let mut finding = Finding::new(rule, tail, path, message)
        .note(ThreadEnding::new(summary, stream).to_string());
    let mut fix = repair_tail(summary, stream).into_fix();
    if let Some(older) = stream.older {
        finding = finding.note(describe_older(&older));
        fix = fix.map(|fix| fix.option(other_part(summary)));
    }
    log.push(finding.fix_if(fix));
}

/// States, marks and bodies that are open when the thread ends.
fn check_open_states(stream: &StreamSummary<'_, '_>, log: &mut Log) {
    let status = &stream.thread.status;
    let Some(end) = &status.end else { return };
    let span = Span::sized(stream.layer(), end.at, EVENT_HEADER);
    if close::has_open_states(status) {
        let open: Vec<String> = Stack::ALL
            .iter()
            .map(|stack| (status.stack(*stack).len(), stack.name()))
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        let message = format!("states are open at the end of the thread: {}", open.join(", "));
        let mut finding = Finding::new(&rules::LEFT_OPEN, span, "thread", message);
        if end.is_final {
            let events = close::close_before_end(&stream.thread, end);
            let edit = Edit::replace(Span::new(span.layer, end.at, end.at), events.bytes);
            let count = plural(events.count, "event");
            let verb = agree(events.count, "closes", "close");
            let text = format!("add {count} that {verb} them before OHe");
            finding = finding.fix(build_fix(text, vec![edit]));
        }
        log.push(finding);
        return;
    }
    let marks = status.marks.values().filter(|values| !values.is_empty()).count();
    let bodies: usize = status.bodies.iter().map(Vec::len).sum();
    if marks > 0 || bodies > 0 || !status.labels.is_empty() {
        let message = format!("open at the end of the thread: marks {marks}, task bodies {bodies}");
        log.push(Finding::new(&rules::MARK_LEFT_OPEN, span, "thread", message));
    }
}

/// Metadata that cannot be read.
fn check_syntax(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
    json: u32,
    log: &mut Log,
) {
    let document = summary.trace.document(json);
    if document.json.as_ref().is_err_and(|error| error.limit) {
        return;
    }
    let text = summary.trace.text(json);
    if let Some(edit) = restore_encoding(&text, document.layer, summary.limits)
        && is_restored(summary, stream, json, std::slice::from_ref(&edit))
    {
        let message = "stream.json is UTF-16, expected UTF-8";
        let finding = Finding::new(&rules::JSON_SYNTAX, edit.span, "stream.json", message);
        log.push(finding.fix(Fix::new(Safety::Lossy, "write the text as UTF-8", vec![edit])));
        return;
    }
    let (span, message) = describe_syntax_error(&document);
    let finding = Finding::new(&rules::JSON_SYNTAX, span, "stream.json", message);
    let edits = restore_syntax(&text, document.layer, summary.limits);
    if let Some(edits) = edits.filter(|edits| is_restored(summary, stream, json, edits)) {
        let changed = plural(to_u64(edits.len()), "place");
        // Inserts alone are a loss, too: they take the place of damaged bytes.
        let summary = format!("correct the syntax at {changed}");
        log.push(finding.fix(Fix::new(Safety::Lossy, summary, edits)));
        return;
    }
    let whole = Span::new(document.layer, 0, document.len);
    let edits = new_document(summary, stream).map(|text| Edit::replace(whole, text));
    log.push(finding.fix_if(complete_stream(summary, stream, edits.into_iter().collect())));
}

/// Whether the content of metadata can be repaired after edits that make it valid JSON, and is that
/// of the thread that the path names.
fn is_restored(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
    json: u32,
    edits: &[Edit],
) -> bool {
    let (text, layer) = (summary.trace.text(json), Layer::stored(json));
    let restored = apply_edits(&text, edits);
    let parsed = parse(restored.as_slice().into(), summary.limits);
    let mut found = Log::new(summary.limits.count_of(&FINDINGS));
    let document = Document { layer, len: to_u64(restored.len()), json: parsed };
    let metadata = check_metadata(&document, &mut found);
    let (identity, path) = (&metadata.identity, &stream.files.path_identity);
    let is_same = |read: &Option<Located<i64>>, named: Option<i64>| {
        named.is_none() || read.as_ref().is_none_or(|read| Some(read.value) == named)
    };
    let loom = identity.loom.as_ref().map(|loom| &loom.value);
    let is_same_loom =
        path.loom.is_none() || loom.is_none_or(|loom| Some(loom) == path.loom.as_ref());
    let is_this_thread = is_same(&identity.tid, path.tid) && is_same(&identity.pid, path.pid);
    is_this_thread && is_same_loom && found.is_repairable()
}

fn report_missing_json(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
    obs: u32,
) -> Finding {
    let events = stream.thread.events;
    let dir = Untrusted(stream.files.dir.as_bytes());
    let message = format!("missing stream.json in {dir:?}: no tool reads its events ({events})");
    let span = Span::new(Layer::stored(obs), 0, 0);
    let finding = Finding::new(&rules::JSON_MISSING, span, "stream.json", message);
    let edit = stream
        .files
        .json
        .zip(new_document(summary, stream))
        .map(|(json, text)| Edit::replace(Span::new(Layer::stored(json.index), 0, 0), text));
    finding.fix_if(complete_stream(summary, stream, edit.into_iter().collect()))
}

fn report_missing_obs(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
    json: u32,
) -> Finding {
    let dir = Untrusted(stream.files.dir.as_bytes());
    let message = format!("missing stream.obs in {dir:?}");
    let span = Span::new(Layer::stored(json), 0, 0);
    let finding = Finding::new(&rules::OBS_MISSING, span, "stream.obs", message);
    finding.fix_if(write_stream(summary, stream))
}
