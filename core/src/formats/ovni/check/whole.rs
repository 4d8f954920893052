//! What only the whole trace tells.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::check::merge::{LOST_MAX, Lost};
use crate::formats::ovni::check::system::System;
use crate::formats::ovni::check::thread::{TASK_CODES, TASK_MODELS};
use crate::formats::ovni::check::{Case, clock, upgrade};
use crate::formats::ovni::decode::json;
use crate::formats::ovni::layout::{CLOCK_GATE_NS, MODELS};
use crate::formats::ovni::repair::close::{event, jumbo};
use crate::formats::ovni::repair::complete;
use crate::formats::ovni::repair::json::{self as members, Add};
use crate::formats::ovni::rules;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::mend::edit::{Edit, Fix, Safety};
use crate::report::{Finding, Report};

/// Label of the type of tasks whose own is lost.
const LOST_LABEL: &[u8] = b"lost task type\0";

/// Gives looms the offsets of their hosts.
pub fn offsets(source: &Source<'_>, file: u32, system: &mut System, report: &mut Report) {
    let mut hosts: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (number, loom) in system.looms.iter().enumerate() {
        hosts.entry(loom.host().to_string()).or_default().push(number);
    }
    for line in clock::read(source, file, report) {
        let looms = hosts.get(&line.host);
        for number in looms.into_iter().flatten() {
            if let Some(loom) = system.looms.get_mut(*number) {
                loom.offset = line.offset;
            }
        }
        if looms.is_none() {
            let message = format!("no loom is on host {:?}", Untrusted(line.host.as_bytes()));
            let path = "clock-offsets.txt";
            report.push(Finding::new(&rules::CLOCK_OFFSETS, line.span, path, message));
        }
    }
}

/// Reports what the streams together lack or contradict.
pub fn check(case: &Case<'_, '_, '_>, log: &mut Log) {
    lost(case, log);
    if case.trace.alone {
        return;
    }
    upgrade::check(case, log);
    hollow(case, log);
    clock_gate(case, log);
    keys(case, log);
    models(case, log);
    cpus(case, log);
    ranks(case, log);
    marks(case, log);
    counters(case, log);
    libraries(case, log);
}

/// Directories of threads whose stream never came.
fn hollow(case: &Case<'_, '_, '_>, log: &mut Log) {
    for (dir, stream) in &case.trace.hollow {
        let file = stream.json.or(stream.obs).map_or(0, |entry| entry.index);
        let span = Span::new(Layer::stored(file), 0, 0);
        let message =
            format!("{:?} holds neither stream.json nor stream.obs", Untrusted(dir.as_bytes()));
        log.push(Finding::new(&rules::HOLLOW_STREAM, span, "trace", message));
    }
}

/// The edits that add members to the metadata of a stream.
fn edits(case: &Case<'_, '_, '_>, number: usize, adds: Vec<Add>) -> Vec<Edit> {
    let entry = case.stream(number).and_then(|stream| stream.json).filter(|json| json.present);
    let (Some(entry), false) = (entry, adds.is_empty()) else { return Vec::new() };
    let source = case.files.bytes(entry.index);
    let text = source.read(0, source.len());
    json::parse(&text).map_or_else(
        |_| Vec::new(),
        |parsed| members::add(&parsed, Layer::stored(entry.index), adds),
    )
}

/// A finding with a fix that adds members, if there are any.
fn added(
    case: &Case<'_, '_, '_>,
    number: usize,
    finding: Finding,
    adds: Vec<Add>,
    summary: &str,
    safety: Safety,
) -> Finding {
    let edits = edits(case, number, adds);
    if edits.is_empty() { finding } else { finding.fix(Fix::new(safety, summary, edits)) }
}

/// A stream of these whose metadata can be added to.
fn writable(case: &Case<'_, '_, '_>, streams: &[usize]) -> Option<usize> {
    let readable = |number: &usize| case.meta(*number).is_some_and(|meta| meta.readable);
    streams.iter().copied().find(readable)
}

/// The first byte of the object that lacks something.
fn place(case: &Case<'_, '_, '_>, number: usize) -> Span {
    let object = case.meta(number).and_then(|meta| meta.object);
    let file = case.stream(number).and_then(|stream| stream.json.or(stream.obs));
    let layer = Layer::stored(file.map_or(0, |file| file.index));
    let span = object.unwrap_or(Span::new(layer, 0, 0));
    Span::new(span.layer, span.start, span.start.saturating_add(1).min(span.end))
}

fn clock_gate(case: &Case<'_, '_, '_>, log: &mut Log) {
    let mut base: Option<i128> = None;
    let mut told: BTreeSet<Option<usize>> = BTreeSet::new();
    for (number, machine) in case.machines.iter().enumerate() {
        let Some(first) = machine.first else { continue };
        let seat = case.system.seats.get(number).copied().flatten();
        let loom = seat.and_then(|seat| case.system.looms.get(seat.loom));
        let offset = loom.map_or(0, |loom| i128::from(loom.offset));
        let clock = i128::from(first).saturating_add(offset);
        let base = *base.get_or_insert(clock);
        let delta = base.abs_diff(clock);
        let loom = seat.map(|seat| seat.loom);
        if delta > u128::from(CLOCK_GATE_NS) && told.insert(loom) {
            let message = format!(
                "the stream begins {delta} ns away from the first one, {CLOCK_GATE_NS} ns are the limit"
            );
            let span = Span::sized(machine.layer(), 12, 8);
            let span =
                Span::new(span.layer, span.start.min(machine.end), span.end.min(machine.end));
            let fix = Fix::manual("run ovnisync, or write clock-offsets.txt by hand");
            let finding = Finding::new(&rules::CLOCK_GATE, span, "event[0].clock", message);
            log.push(finding.fix(fix));
        }
    }
}

/// Mandatory keys of finished streams, and app_id of processes.
fn keys(case: &Case<'_, '_, '_>, log: &mut Log) {
    for (number, meta) in case.metas.iter().enumerate() {
        if !meta.readable || case.troubled(number) || meta.missing.is_empty() {
            continue;
        }
        let keys: Vec<String> = meta.missing.iter().map(|key| format!("ovni.{key}")).collect();
        let path =
            format!("stream.json:ovni.{}", meta.missing.first().copied().unwrap_or_default());
        let message = match keys.as_slice() {
            [key] => format!("{key} is missing"),
            keys => format!("{} are missing", keys.join(", ")),
        };
        let finding = Finding::new(&rules::MISSING_KEY, place(case, number), path, message);
        let adds = complete::missing(case, number, &meta.missing);
        let exact = meta.missing.iter().all(|key| matches!(*key, "tid" | "pid" | "loom"));
        let safety = if exact { Safety::Exact } else { Safety::Synthetic };
        log.push(added(case, number, finding, adds, "adds the missing keys", safety));
    }
    for process in &case.system.processes {
        if process.app_id.is_some() || case.first_troubled(&process.streams).is_some() {
            continue;
        }
        let Some(number) = writable(case, &process.streams) else { continue };
        let bad = case.meta(number).is_some_and(|meta| {
            meta.object.is_some_and(|object| {
                let source = case.files.bytes(object.layer.file);
                let text = source.read(0, source.len());
                json::parse(&text).is_ok_and(|json| json.root().path("ovni.app_id").is_some())
            })
        });
        if bad {
            continue;
        }
        let message = format!("no thread of process {} has ovni.app_id", process.pid);
        let path = "stream.json:ovni.app_id";
        let finding = Finding::new(&rules::MISSING_KEY, place(case, number), path, message);
        let adds = vec![Add::ovni("app_id", members::New::Raw("1".to_string()))];
        log.push(added(case, number, finding, adds, "adds app_id 1", Safety::Synthetic));
    }
}

fn models(case: &Case<'_, '_, '_>, log: &mut Log) {
    if !case.metas.iter().any(|meta| meta.readable) {
        return;
    }
    for (index, model) in MODELS.iter().enumerate() {
        if case.system.enabled.get(index).copied().unwrap_or(true) {
            continue;
        }
        let uses = |number: &usize| {
            let machine = case.machines.get(*number);
            let used = machine.and_then(|machine| machine.used.get(index).copied().flatten());
            used.is_some() && case.seated(*number)
        };
        let users: Vec<usize> = (0..case.machines.len()).filter(uses).collect();
        let Some(number) = users.first().copied() else { continue };
        let named = |number: &usize| {
            let missing = case.meta(*number).is_some_and(|m| m.missing.contains(&"require"));
            case.seated(*number) && (case.troubled(*number) || missing)
        };
        if users.iter().any(named) {
            // Its metadata gets it anyway.
            continue;
        }
        let Some(machine) = case.machines.get(number) else { continue };
        let Some(used) = machine.used.get(index).copied().flatten() else { continue };
        let span = Span::sized(machine.layer(), used.at, used.len);
        let message = format!("events of {} are used, and no thread requires it", model.name);
        let path = format!("event[{}]", used.number);
        let finding = Finding::new(&rules::MODEL_NOT_REQUIRED, span, path, message)
            .related(place(case, number), "ovni.require");
        let adds = vec![complete::require(case, number, index)];
        let summary = format!("adds {} to ovni.require", model.name);
        log.push(added(case, number, finding, adds, &summary, Safety::Synthetic));
    }
}

fn cpus(case: &Case<'_, '_, '_>, log: &mut Log) {
    for (index, loom) in case.system.looms.iter().enumerate() {
        let count = loom.cpu_count();
        let missing = case.merge.missing_cpus.get(&index);
        let missing = missing.filter(|missing| missing.highest >= 0);
        if (count.is_some() && missing.is_none()) || case.first_troubled(&loom.streams).is_some() {
            continue;
        }
        let name = Untrusted(loom.name.as_bytes());
        let Some(number) = writable(case, &loom.streams) else { continue };
        let (span, path, message) = match (count, missing) {
            (Some(count), Some(missing)) => {
                let highest = missing.highest;
                let message = format!("CPU {highest} is used, loom {name:?} has {count}");
                (missing.span, format!("event[{}].cpu", missing.number), message)
            }
            _ if loom.cpus.is_empty() => {
                let message = format!("loom {name:?} has no CPU");
                (place(case, number), "stream.json:ovni.loom_cpus".to_string(), message)
            }
            _ => {
                let indices: Vec<String> =
                    loom.cpus.iter().take(8).map(|(index, ..)| index.to_string()).collect();
                let message = format!(
                    "the {} CPUs of loom {name:?} have the indices {}",
                    loom.cpus.len(),
                    indices.join(", ")
                );
                let span = loom.cpus.first().map_or(place(case, number), |(.., span)| *span);
                (span, "stream.json:ovni.loom_cpus".to_string(), message)
            }
        };
        let finding = Finding::new(&rules::LOOM_CPUS, span, path, message);
        let adds = complete::cpus(case, index).into_iter().collect();
        let summary = "adds the CPUs that are missing";
        log.push(added(case, number, finding, adds, summary, Safety::Synthetic));
    }
}

fn ranks(case: &Case<'_, '_, '_>, log: &mut Log) {
    for (index, process) in case.system.processes.iter().enumerate() {
        let adds = complete::rank(case, index);
        if adds.is_empty() || case.first_troubled(&process.streams).is_some() {
            continue;
        }
        let Some(number) = writable(case, &process.streams) else { continue };
        let message = format!("process {} has no rank, others of its loom have", process.pid);
        let path = "stream.json:ovni.rank";
        let finding = Finding::new(&rules::RANK_MISSING, place(case, number), path, message);
        let summary = "adds a rank that no process has";
        log.push(added(case, number, finding, adds, summary, Safety::Synthetic));
    }
}

fn marks(case: &Case<'_, '_, '_>, log: &mut Log) {
    let undefined = complete::undefined_marks(case);
    let fixable = undefined.keys().all(|kind| (0..100).contains(kind));
    let Some((kind, (number, used, _))) = undefined.first_key_value() else { return };
    if fixable && case.first_troubled(&[]).is_some() {
        return;
    }
    let Some(machine) = case.machines.get(*number) else { return };
    let span = Span::sized(machine.layer(), used.at, used.len);
    let message =
        format!("{} types of marks are used and not defined, {kind} is one", undefined.len());
    let path = format!("event[{}].type", used.number);
    let finding = Finding::new(&rules::UNDEFINED_MARK, span, path, message);
    let adds = complete::marks(case);
    let summary = "adds the types to ovni.mark";
    log.push(added(case, *number, finding, adds, summary, Safety::Synthetic));
}

fn counters(case: &Case<'_, '_, '_>, log: &mut Log) {
    let Some((number, used, count)) = complete::undefined_counters(case) else { return };
    if count <= 100 && case.first_troubled(&[]).is_some() {
        return;
    }
    let Some(machine) = case.machines.get(number) else { return };
    let span = Span::sized(machine.layer(), used.at, used.len);
    let message = format!("VWC gives {count} counters, nosv.hwc names none");
    let path = format!("event[{}]", used.number);
    let finding = Finding::new(&rules::COUNTERS_UNDEFINED, span, path, message);
    let adds = complete::counters(case);
    log.push(added(case, number, finding, adds, "names the counters", Safety::Synthetic));
}

fn libraries(case: &Case<'_, '_, '_>, log: &mut Log) {
    let mut libs = case
        .metas
        .iter()
        .enumerate()
        .filter_map(|(number, meta)| meta.lib.as_ref().map(|lib| (number, lib)));
    let Some((_, first)) = libs.next() else { return };
    if let Some((number, other)) = libs.find(|(_, lib)| *lib != first) {
        let (first, other) = (Untrusted(first.as_bytes()), Untrusted(other.as_bytes()));
        let message = format!("libovni {other:?} wrote this stream, {first:?} the first one");
        let path = "stream.json:ovni.lib.version";
        log.push(Finding::new(&rules::LIB_MIXED, place(case, number), path, message));
    }
}

/// Tasks and types that nothing creates, with the events that do.
fn lost(case: &Case<'_, '_, '_>, log: &mut Log) {
    for ((process, table), lost) in &case.merge.lost {
        let Some(span) = lost.span else { continue };
        let (tasks, types) = (lost.tasks.len(), lost.types.len());
        let message = format!(
            "{} and {} are used, and no event creates them",
            count(tasks, "task"),
            count(types, "type")
        );
        let mut finding = Finding::new(&rules::LOST_DEFINITION, span, "event", message);
        let old = case.machines.get(lost.stream).is_some_and(|machine| machine.old_nosv);
        let all = tasks.saturating_add(types);
        if *table < TASK_MODELS && all <= LOST_MAX {
            let bytes = definitions(lost, *table, case.merge.free_type(*process, *table), old);
            let edit = Edit::replace(Span::new(span.layer, span.start, span.start), bytes);
            let (tasks, types) = (count(tasks, "task"), count(types, "type"));
            let summary = format!("defines {tasks} and {types} before their first use");
            finding = finding.fix(Fix::new(Safety::Synthetic, summary, vec![edit]));
        }
        log.push(finding);
    }
}

/// `1 task`, `2 tasks`.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn definitions(lost: &Lost, table: usize, kind: u32, old: bool) -> Vec<u8> {
    let first = TASK_CODES.get(table).copied().unwrap_or_default();
    let (of_type, category) = if first == b'P' { (b'O', b'P') } else { (b'Y', b'T') };
    let type_code = [first, of_type, b'c'];
    let mut bytes = Vec::new();
    let own = if lost.tasks.is_empty() { None } else { Some(kind) };
    for id in lost.types.iter().copied().chain(own) {
        let data = [&id.to_le_bytes()[..], LOST_LABEL].concat();
        bytes.extend_from_slice(&jumbo(type_code, lost.clock, &data));
    }
    for (task, parallel) in &lost.tasks {
        let value = if *parallel && !old { b'C' } else { b'c' };
        let payload = [task.to_le_bytes(), kind.to_le_bytes()].concat();
        bytes.extend_from_slice(&event([first, category, value], lost.clock, &payload));
    }
    bytes
}
