//! How each stream ends, and what brings it to an end.

use crate::formats::ovni::options::Strategy;
use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::check::metadata::Meta;
use crate::formats::ovni::check::thread::{Ending, Machine, State};
use crate::formats::ovni::check::{Case, metadata, offset};
use crate::formats::ovni::decode::json;
use crate::formats::ovni::decode::stream::{Header, Step, Walk};
use crate::formats::ovni::layout::{MAGIC, STREAM_HEADER, STREAM_VERSION};
use crate::formats::ovni::repair::close::{self, Closing};
use crate::formats::ovni::repair::{complete, json as members};
use crate::formats::ovni::rules;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::mend::edit::{Edit, Fix, Safety};
use crate::report::Finding;

/// What is done to the end of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Nothing, or the bytes that stand in place of others.
    pub edit: Option<Edit>,
    /// Events added.
    pub added: u64,
    /// Bytes dropped.
    pub dropped: u64,
    /// Whole events among them.
    pub lost: u64,
}

impl Tail {
    fn words(&self) -> String {
        let mut words = Vec::new();
        if self.dropped > 0 {
            words.push(format!("drops {} bytes", self.dropped));
        }
        if self.added > 0 {
            words.push(format!("adds {} events that close the thread", self.added));
        }
        if words.is_empty() { "keeps the events".to_string() } else { words.join(" and ") }
    }

    fn safety(&self) -> Safety {
        if self.dropped > 0 { Safety::Lossy } else { Safety::Synthetic }
    }
}

/// Reports how stream `number` ends.
pub fn check(case: &Case<'_, '_, '_>, number: usize, log: &mut Log) {
    let (Some(stream), Some(meta)) = (case.stream(number), case.meta(number)) else { return };
    let Some(machine) = case.machines.get(number) else { return };
    let obs = stream.obs.filter(|obs| obs.present);
    let json = stream.json.filter(|json| json.present);
    if obs.is_some() {
        header(case, number, machine, log);
    }
    if case.trace.alone || stream.layout < 3 {
        ended(case, number, machine, log);
        return;
    }
    let other_part = meta.part.as_deref().filter(|part| *part != "thread");
    if let Some(part) = other_part {
        let span = meta.object.unwrap_or(Span::new(machine.layer(), 0, 0));
        let part = Untrusted(part.as_bytes());
        let message = format!("part is {part:?} and has {} events", machine.events);
        let path = "stream.json:ovni.part";
        let mut finding = Finding::new(&rules::UNKNOWN_PART, span, path, message);
        if machine.events > 0 {
            finding.severity = crate::report::Severity::Error;
        }
        log.push(finding);
        return;
    }
    match (json, obs) {
        (Some(json), None) => {
            if let Some(finding) = obs_missing(case, number) {
                log.push(finding);
            }
            if case.troubled(number) {
                metadata_incomplete(case, number, json.index, meta, log);
            }
        }
        (None, Some(obs)) => log.push(json_missing(case, number, obs.index)),
        (Some(json), Some(_)) if !(meta.readable && meta.finished) => {
            metadata_incomplete(case, number, json.index, meta, log);
        }
        (Some(_), Some(_)) => ended(case, number, machine, log),
        (None, None) => {}
    }
    if machine.state == State::Dead {
        left_open(machine, log);
    }
    if case.headers.get(number) == Some(&Header::Foreign) {
        let span = Span::new(machine.layer(), 4, STREAM_HEADER);
        let message = "the version is 1 in the other byte order";
        log.push(Finding::new(&rules::FOREIGN_ORDER, span, "header.version", message));
    }
}

fn header(case: &Case<'_, '_, '_>, number: usize, machine: &Machine<'_, '_>, log: &mut Log) {
    let readable = machine.ended != Some(Ending::Unreadable);
    let layer = machine.layer();
    let fixed = |finding: Finding, span: Span, bytes: &[u8]| {
        let fix = || Fix::new(Safety::Exact, "writes the value", vec![Edit::replace(span, bytes)]);
        if readable { finding.fix(fix()) } else { finding }
    };
    match case.headers.get(number) {
        Some(Header::Magic(magic)) => {
            let span = Span::new(layer, 0, 4);
            let message = format!("the stream begins with {:?}", Untrusted(magic));
            let finding = Finding::new(&rules::STREAM_MAGIC, span, "header.magic", message);
            let whole = Span::new(layer, 0, STREAM_HEADER);
            let bytes = [&MAGIC[..], &STREAM_VERSION.to_le_bytes()].concat();
            log.push(fixed(finding, whole, &bytes));
        }
        Some(Header::Version(version)) => {
            let span = Span::new(layer, 4, STREAM_HEADER);
            let message = format!("the stream has version {version}");
            let finding = Finding::new(&rules::STREAM_VERSION, span, "header.version", message);
            log.push(fixed(finding, span, &STREAM_VERSION.to_le_bytes()));
        }
        _ => {}
    }
}

/// What has to be known of the trace to close a stream's thread.
fn closing(case: &Case<'_, '_, '_>, number: usize) -> Closing {
    let seat = case.system.seats.get(number).copied().flatten();
    let view = case.merge.views.get(number).copied().unwrap_or_default();
    // The earliest clock of the trace, as this loom's clock would have shown it.
    let first = case.earliest.saturating_sub(offset(case.system, number));
    Closing {
        clock: u64::try_from(first).unwrap_or(0),
        tid: seat.and_then(|seat| i32::try_from(seat.tid).ok()),
        on_cpu: view.cpu.is_some_and(|cpu| cpu >= 0),
        late: view.late.map(|(clock, cpu)| (clock, cpu >= 0)),
    }
}

/// What is done to the end of a stream so that its thread ends there.
pub fn tail(case: &Case<'_, '_, '_>, number: usize) -> Tail {
    let Some(machine) = case.machines.get(number) else { return Tail::default() };
    if case.stream(number).is_none_or(|stream| stream.obs.is_none()) {
        // Not even a name to write under.
        return Tail::default();
    }
    let source = machine.source();
    let short = matches!(case.headers.get(number), Some(Header::Short(_)));
    if machine.ended == Some(Ending::Unreadable) && !short {
        return Tail::default();
    }
    let (events, added) = close::end(machine, &closing(case, number));
    let (from, insert) = if short {
        let header = [&MAGIC[..], &STREAM_VERSION.to_le_bytes()].concat();
        (0, [header, events].concat())
    } else {
        (machine.end, events)
    };
    let span = Span::new(machine.layer(), from, source.len());
    let dropped = span.len();
    let whole = matches!(machine.ended, Some(Ending::Stale | Ending::Cut));
    let lost = if whole { whole_events(source, from) } else { 0 };
    let edit = (!insert.is_empty() || dropped > 0).then(|| Edit::replace(span, insert));
    Tail { edit, added, dropped, lost }
}

/// Whole events from a place on.
fn whole_events(source: &Source<'_>, from: u64) -> u64 {
    let mut walk = Walk::new(source, from);
    let mut count = 0_u64;
    while let Step::Event(_) = walk.step() {
        count = count.saturating_add(1);
    }
    count
}

/// A stream whose metadata says that its run ended.
fn ended(case: &Case<'_, '_, '_>, number: usize, machine: &Machine<'_, '_>, log: &mut Log) {
    let source = machine.source();
    let tail_span = Span::new(machine.layer(), machine.end, source.len());
    let left = tail_span.len();
    let (rule, path, message) = match machine.ended {
        Some(Ending::Torn(needed)) => {
            let message = format!("an event needs {needed} bytes, {left} are left");
            (&rules::TORN_EVENT, format!("event[{}]", machine.events), message)
        }
        Some(Ending::Stale) => {
            let message = format!("{left} bytes follow the end of the thread, of an older run");
            (&rules::STALE_TAIL, format!("event[{}]", machine.events), message)
        }
        Some(Ending::Unreadable) => {
            let Some(Header::Short(len)) = case.headers.get(number) else { return };
            let message = format!("{len} bytes in place of a header of {STREAM_HEADER}");
            (&rules::STREAM_HEADER_TORN, "header".to_string(), message)
        }
        // The rest is cut off for another stream's sake.
        Some(Ending::Cut) => return,
        _ if machine.state != State::Dead => {
            let message = if machine.events == 0 {
                "the stream holds no event: the thread's buffer was never flushed".to_string()
            } else {
                let state = machine.state.name();
                format!("the stream ends and the thread is {state}")
            };
            (&rules::NOT_ENDED, "thread".to_string(), message)
        }
        _ => return,
    };
    let tail = tail(case, number);
    let mut finding = Finding::new(rule, tail_span, path, message);
    if let Some(edit) = tail.edit.clone() {
        let mut fix = Fix::new(tail.safety(), tail.words(), vec![edit]);
        fix.records_lost = tail.lost;
        finding = finding.fix(fix);
    }
    log.push(finding);
}

fn left_open(machine: &Machine<'_, '_>, log: &mut Log) {
    let Some(died) = &machine.died else { return };
    let span = Span::sized(machine.layer(), died.at, 12);
    if close::is_open(machine) {
        let (events, added) = close::before_end(machine, died);
        let stacks = crate::formats::ovni::layout::Stack::ALL.iter();
        let open: Vec<String> = stacks
            .map(|stack| (machine.stack(*stack).len(), stack.name()))
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} of {name}"))
            .collect();
        let message = format!("the thread ends with states open: {}", open.join(", "));
        let mut finding = Finding::new(&rules::LEFT_OPEN, span, "thread", message);
        if died.last {
            let edit = Edit::replace(Span::new(span.layer, died.at, died.at), events);
            let summary = format!("adds {added} events that close them before the thread ends");
            finding = finding.fix(Fix::new(Safety::Synthetic, summary, vec![edit]));
        }
        log.push(finding);
        return;
    }
    let marks = machine.marks.values().filter(|values| !values.is_empty()).count();
    let bodies: usize = (0..3).map(|table| machine.bodies(table).len()).sum();
    if marks > 0 || bodies > 0 || !machine.labels.is_empty() {
        let message = format!("the thread ends with {marks} marks and {bodies} bodies open");
        log.push(Finding::new(&rules::MARK_LEFT_OPEN, span, "thread", message));
    }
}

/// Cuts and closes streams that are sound themselves, so that all of them agree.
fn cut_others(case: &Case<'_, '_, '_>, number: usize) -> Vec<(Edit, Tail)> {
    let cut = case.strategy == Some(Strategy::Cut);
    if !cut || case.first_troubled(&[]) != Some(number) {
        return Vec::new();
    }
    let others =
        case.machines.iter().enumerate().filter(|(other, machine)| {
            machine.ended == Some(Ending::Cut) && !case.troubled(*other)
        });
    others
        .filter_map(|(other, _)| {
            let tail = tail(case, other);
            Some((tail.edit.clone()?, tail))
        })
        .collect()
}

fn mended(case: &Case<'_, '_, '_>, number: usize, finding: Finding, json: Vec<Edit>) -> Finding {
    let tail = tail(case, number);
    if json.is_empty() || !case.seated(number) {
        return finding;
    }
    let mut safety = tail.safety();
    let mut lost = tail.lost;
    let mut summary = tail.words();
    let mut edits = json;
    edits.extend(tail.edit);
    let others = cut_others(case, number);
    if !others.is_empty() {
        summary.push_str(&format!(", cuts {} other streams at the same clock", others.len()));
    }
    for (edit, tail) in others {
        safety = safety.max(tail.safety());
        lost = lost.saturating_add(tail.lost);
        edits.push(edit);
    }
    edits.sort_by_key(|edit| (edit.span.layer.file, edit.span.start));
    // Metadata that is replaced as a whole is lost where it could be read.
    summary.push_str(", completes the metadata");
    let mut fix = Fix::new(safety, summary, edits);
    fix.records_lost = lost;
    finding.fix(fix)
}

fn unfinished(case: &Case<'_, '_, '_>, number: usize, json: u32) -> Finding {
    let layer = Layer::stored(json);
    let meta = case.meta(number);
    let place = meta.and_then(|meta| meta.finished_span.or(meta.object));
    let span = place.unwrap_or(Span::new(layer, 0, 0));
    let found = match meta.and_then(|meta| meta.finished_span) {
        Some(_) => "ovni.finished is not 1",
        None => "ovni.finished is missing",
    };
    let machine = case.machines.get(number);
    let (events, state) = machine.map_or((0, ""), |m| (m.events, m.state.name()));
    let tail_words = match machine.and_then(|machine| machine.ended) {
        Some(Ending::Torn(_)) => ", then one ends inside",
        Some(Ending::Stale) => ", then an older run follows",
        _ => "",
    };
    let message = format!(
        "{found}: the stream holds {events} whole events{tail_words}, and the thread is {state}"
    );
    let mut finding =
        Finding::new(&rules::UNFINISHED_STREAM, span, "stream.json:ovni.finished", message);
    if let Some(machine) = machine.filter(|machine| !machine.source().is_empty()) {
        let end = machine.end.min(machine.source().len());
        finding =
            finding.related(Span::new(machine.layer(), end, end), "the stream's last event ends");
    }
    let source = case.files.bytes(json);
    let text = source.read(0, source.len());
    let edits = match json::parse(&text) {
        Ok(parsed) => members::add(&parsed, layer, complete::members(case, number)),
        Err(_) => Vec::new(),
    };
    mended(case, number, finding, edits)
}

/// Metadata that cannot be read, or that libovni never completed.
fn metadata_incomplete(
    case: &Case<'_, '_, '_>,
    number: usize,
    json: u32,
    meta: &Meta,
    log: &mut Log,
) {
    if meta.readable {
        log.push(unfinished(case, number, json));
    } else if !json_is_limited(case, json) {
        log.push(json_broken(case, number, json));
    }
}

fn json_is_limited(case: &Case<'_, '_, '_>, json: u32) -> bool {
    let source = case.files.bytes(json);
    let text = source.read(0, source.len().min(json::TEXT_MAX.saturating_add(1)));
    json::parse(&text).is_err_and(|error| error.limit)
}

fn json_broken(case: &Case<'_, '_, '_>, number: usize, json: u32) -> Finding {
    let source = case.files.bytes(json);
    let (span, message) = metadata::fault(&source, json);
    let finding = Finding::new(&rules::JSON_SYNTAX, span, "stream.json", message);
    let whole = Span::new(Layer::stored(json), 0, source.len());
    let edits = complete::document(case, number).map(|text| Edit::replace(whole, text));
    let mut finding = mended(case, number, finding, edits.into_iter().collect());
    if let Some(fix) = finding.fix.as_mut().filter(|_| !source.is_empty()) {
        fix.safety = Safety::Lossy;
    }
    finding
}

fn json_missing(case: &Case<'_, '_, '_>, number: usize, obs: u32) -> Finding {
    let events = case.machines.get(number).map_or(0, |machine| machine.events);
    let dir = case.stream(number).map(|stream| stream.dir.clone()).unwrap_or_default();
    let message = format!(
        "{:?} has no stream.json: its {events} events are seen by no tool",
        Untrusted(dir.as_bytes())
    );
    let span = Span::new(Layer::stored(obs), 0, 0);
    let finding = Finding::new(&rules::JSON_MISSING, span, "stream.json", message);
    let json = case.stream(number).and_then(|stream| stream.json);
    let text = complete::document(case, number);
    let edits = json
        .zip(text)
        .map(|(json, text)| Edit::replace(Span::new(Layer::stored(json.index), 0, 0), text));
    mended(case, number, finding, edits.into_iter().collect())
}

fn obs_missing(case: &Case<'_, '_, '_>, number: usize) -> Option<Finding> {
    let stream = case.stream(number)?;
    let json = stream.json?;
    let span = Span::new(Layer::stored(json.index), 0, 0);
    let message = format!("{:?} has no stream.obs", Untrusted(stream.dir.as_bytes()));
    let finding = Finding::new(&rules::OBS_MISSING, span, "stream.obs", message);
    let Some(obs) = stream.obs else { return Some(finding) };
    let machine = case.machines.get(number)?;
    let (events, _) = close::end(machine, &closing(case, number));
    let bytes = [&MAGIC[..], &STREAM_VERSION.to_le_bytes(), &events].concat();
    let edit = Edit::replace(Span::new(Layer::stored(obs.index), 0, 0), bytes);
    let summary = "writes a stream in which the thread begins and ends";
    Some(finding.fix(Fix::new(Safety::Synthetic, summary, vec![edit])))
}
