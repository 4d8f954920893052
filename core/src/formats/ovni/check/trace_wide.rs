//! Faults that only show when all streams are compared.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::ovni::check::completion::{first_readable, with_members};
use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::check::{clock_offsets, invalid_keys, ranks};
use crate::formats::ovni::layout::{CLOCK_GATE_NS, MARK_TYPES, MODELS};
use crate::formats::ovni::limits::RESTORED;
use crate::formats::ovni::repair::build_fix;
use crate::formats::ovni::repair::cpus::renumber_cpus;
use crate::formats::ovni::repair::definitions::restore_definitions;
use crate::formats::ovni::repair::metadata::{
    mandatory_members, missing_counters, missing_cpus, missing_marks, required_model,
    undefined_counters, undefined_marks,
};
use crate::formats::ovni::repair::offsets::fix_offsets;
use crate::formats::ovni::repair::process::app_id_member;
use crate::formats::ovni::repair::upgrade::upgrade_trace;
use crate::formats::ovni::repair::values::named_member;
use crate::formats::ovni::rules;
use crate::formats::ovni::state::metadata::Located;
use crate::formats::ovni::state::summary::{MissingCpu, StreamSummary, TraceSummary};
use crate::formats::ovni::state::system::Loom;
use crate::kit::num::to_u64;
use crate::kit::span::{Layer, Span};
use crate::kit::text::Untrusted;
use crate::kit::words::{agree, join_and, plural};
use crate::model::edit::Fix;
use crate::model::{Finding, Severity};

/// Reports faults that only show when all streams are compared.
pub fn check_trace(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    check_definitions(summary, log);
    if summary.trace.files.is_lone_stream {
        return;
    }
    check_layout(summary, log);
    check_empty_dirs(summary, log);
    clock_offsets::check_faults(summary, log);
    check_clock_gate(summary, log);
    check_mandatory_keys(summary, log);
    invalid_keys::check_values(summary, log);
    check_app_ids(summary, log);
    check_models(summary, log);
    check_cpus(summary, log);
    ranks::check_ranks(summary, log);
    check_folders(summary, log);
    check_marks(summary, log);
    check_counters(summary, log);
    check_libraries(summary, log);
}

/// Tasks and types that are used and never created.
fn check_definitions(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    let max = summary.limits.count_of(&RESTORED);
    for ((_, table), missing) in &summary.shortages.definitions {
        let counted = match (missing.tasks.len(), missing.types.len()) {
            (0, types) => count(types, "task type"),
            (tasks, 0) => count(tasks, "task"),
            (tasks, types) => format!("{} and {}", count(tasks, "task"), count(types, "task type")),
        };
        let all = to_u64(missing.tasks.len().saturating_add(missing.types.len()));
        let verb = agree(all, "is", "are");
        let message = format!("undefined: {counted} {verb} used but never created");
        let mut finding = Finding::new(&rules::LOST_DEFINITION, missing.span, "event", message);
        let stream = summary.stream(missing.stream);
        let has_old_nosv = stream.is_some_and(|stream| stream.thread.usage.has_old_nosv);
        if let Some(edit) = restore_definitions(missing, *table, has_old_nosv, max) {
            let text = format!("define {counted} before the first use");
            finding = finding.fix(build_fix(text, vec![edit]));
        }
        log.push(finding);
    }
}

fn count(number: usize, noun: &str) -> String {
    plural(to_u64(number), noun)
}

/// Layouts of libovni before 1.11.
fn check_layout(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    let mut old = summary.streams.iter().filter(|stream| stream.files.layout < 3);
    let Some(first) = old.next() else { return };
    let streams = count(old.count().saturating_add(1), "stream");
    let file = first.files.obs.or(first.files.json).map_or(0, |entry| entry.index);
    let span = Span::new(Layer::stored(file), 0, 0);
    let message = format!("old layout: version {} ({streams})", first.files.layout);
    let mut finding = Finding::new(&rules::OLD_LAYOUT, span, "trace", message);
    if summary.decisions.upgrade {
        // The tools of today read nothing of it.
        finding.severity = Severity::Error;
        if let Some(fix) = upgrade_trace(summary) {
            finding = finding.fix(fix);
        }
    }
    log.push(finding);
}

/// Directories of threads without a stream.
fn check_empty_dirs(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    for files in &summary.trace.files.empty_dirs {
        let file = files.json.or(files.obs).map_or(0, |entry| entry.index);
        let span = Span::new(Layer::stored(file), 0, 0);
        let dir = Untrusted(files.dir.as_bytes());
        let message = format!("missing stream: {dir:?} has neither stream.json nor stream.obs");
        log.push(Finding::new(&rules::THREAD_WITHOUT_STREAM, span, "trace", message));
    }
}

/// First clocks that are more than an hour apart. One finding per loom, and one fix for all.
fn check_clock_gate(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    let mut first_clock: Option<i128> = None;
    let mut looms: BTreeSet<Option<usize>> = BTreeSet::new();
    let mut hosts: BTreeSet<String> = BTreeSet::new();
    let mut findings = Vec::new();
    for stream in &summary.streams {
        let Some(clock) = stream.thread.first_clock else { continue };
        let offset = summary.system.clock_offset(stream.number);
        let clock = i128::from(clock).saturating_add(offset);
        let distance = first_clock.get_or_insert(clock).abs_diff(clock);
        let loom = summary.system.owner(stream.number).map(|owner| owner.loom);
        if distance <= u128::from(CLOCK_GATE_NS) || !looms.insert(loom) {
            continue;
        }
        let host = summary.system.loom_of(stream.number).map(Loom::host);
        hosts.extend(host.map(ToString::to_string));
        let message = format!(
            "first clock is {distance} ns away from the first stream's, expected at most \
             {CLOCK_GATE_NS} ns"
        );
        let end = stream.thread.end.at;
        let span = Span::new(stream.layer(), 12_u64.min(end), 20_u64.min(end));
        findings.push(Finding::new(&rules::CLOCK_GATE, span, "event[0].clock", message));
    }
    let by_hand = || Fix::manual("run ovnisync, or write clock-offsets.txt by hand");
    let mut fix = Some(fix_offsets(summary, &hosts).unwrap_or_else(by_hand));
    for finding in findings {
        log.push(finding.fix_if(fix.take()));
    }
}

/// Mandatory keys of finished streams.
fn check_mandatory_keys(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    for stream in &summary.streams {
        let missing = &stream.metadata.faults.missing;
        let Some(first) = missing.first() else { continue };
        if !stream.metadata.is_readable || stream.needs_repair {
            continue;
        }
        let path = format!("stream.json:ovni.{first}");
        let keys: Vec<String> = missing.iter().map(|key| format!("`ovni.{key}`")).collect();
        let noun = agree(to_u64(keys.len()), "key", "keys");
        let message = format!("missing {noun}: {}", join_and(&keys));
        let finding = Finding::new(&rules::MISSING_KEY, stream.object_start(), path, message);
        let members = mandatory_members(summary, stream, missing);
        let text = format!("add the missing {noun}");
        log.push(with_members(summary, stream, finding, members, &text));
    }
}

/// `ovni.app_id` in any thread of each process.
fn check_app_ids(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    for process in &summary.system.processes {
        if process.app_id.is_some() || summary.first_in_repair(&process.streams).is_some() {
            continue;
        }
        let Some(stream) = first_readable(summary, &process.streams) else { continue };
        if stream.metadata.process.has_app_id {
            continue;
        }
        let message =
            format!("missing key: no thread of process {} has `ovni.app_id`", process.pid);
        let path = "stream.json:ovni.app_id";
        let finding = Finding::new(&rules::MISSING_KEY, stream.object_start(), path, message);
        let members = vec![app_id_member(summary, stream)];
        let fix = "add the missing app_id";
        log.push(with_members(summary, stream, finding, members, fix));
    }
}

/// Models that are used and that no thread requires.
fn check_models(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    if !summary.streams.iter().any(|stream| stream.metadata.is_readable) {
        return;
    }
    for (index, model) in MODELS.iter().enumerate() {
        if summary.system.enabled.get(index).copied().unwrap_or(true) {
            continue;
        }
        let uses = |stream: &&StreamSummary<'_, '_>| {
            stream.has_owner && stream.thread.usage.first_of(index).is_some()
        };
        let mut users = summary.streams.iter().filter(uses);
        let is_added_anyway = |stream: &StreamSummary<'_, '_>| {
            stream.needs_repair || stream.metadata.faults.missing.contains(&"require")
        };
        if users.clone().any(is_added_anyway) {
            continue;
        }
        let Some(stream) = users.next() else { continue };
        let Some(place) = stream.thread.usage.first_of(index) else { continue };
        let message = format!("model {} is used, but no thread requires it", model.name);
        let path = format!("event[{}]", place.number);
        let span = place.span(stream.layer());
        let finding = Finding::new(&rules::MODEL_NOT_REQUIRED, span, path, message)
            .related(stream.object_start(), "ovni.require");
        let members = vec![required_model(summary, stream, index)];
        let text = format!("add {} to ovni.require", model.name);
        let fix = text.as_str();
        log.push(with_members(summary, stream, finding, members, fix));
    }
}

/// CPUs of each loom: numbered 0 to N-1, and all that events name.
fn check_cpus(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    for (index, loom) in summary.system.looms.iter().enumerate() {
        let missing = summary.shortages.cpus.get(&index).filter(|missing| missing.highest >= 0);
        let wrong = renumber_cpus(summary, loom);
        let is_sound = loom.cpu_count().is_some() && missing.is_none() && wrong.is_empty();
        let is_added_anyway = wrong.is_empty() && summary.first_in_repair(&loom.streams).is_some();
        if is_sound || is_added_anyway {
            continue;
        }
        let Some(stream) = first_readable(summary, &loom.streams) else { continue };
        let finding = report_double_cpu(loom).unwrap_or_else(|| report_cpus(loom, missing, stream));
        if wrong.is_empty() {
            let members = missing_cpus(summary, index).into_iter().collect();
            log.push(with_members(summary, stream, finding, members, "add the missing CPUs"));
        } else {
            let text = format!("give {} free numbers", count(wrong.len(), "CPU"));
            log.push(finding.fix(build_fix(text, wrong)));
        }
    }
}

/// Reports a CPU whose index is not the same in all definitions.
fn report_double_cpu(loom: &Loom) -> Option<Finding> {
    let mut known = BTreeMap::new();
    let mut cpus = loom.cpus.iter().filter(|(_, phyid, _)| *phyid >= 0);
    let (index, phyid, span, (other, first)) = cpus.find_map(|(index, phyid, span)| {
        let first = *known.entry(phyid).or_insert((index, span));
        (first.0 != index).then_some((index, phyid, span, first))
    })?;
    let message = format!(
        "inconsistent index of the CPU with phyid {phyid}: {index} here, {other} elsewhere"
    );
    let path = "stream.json:ovni.loom_cpus";
    let finding = Finding::new(&rules::METADATA_CONFLICT, *span, path, message);
    Some(finding.related(*first, "other definition"))
}

fn report_cpus(
    loom: &Loom,
    missing: Option<&MissingCpu>,
    stream: &StreamSummary<'_, '_>,
) -> Finding {
    const PATH: &str = "stream.json:ovni.loom_cpus";
    let name = Untrusted(loom.name.as_bytes());
    if let (Some(cpus), Some(missing)) = (loom.cpu_count(), missing) {
        let (highest, path) = (missing.highest, format!("event[{}].cpu", missing.number));
        let cpus = plural(u64::try_from(cpus).unwrap_or(0), "CPU");
        let message = format!("CPU {highest} is out of range: loom {name:?} has {cpus}");
        return Finding::new(&rules::LOOM_CPUS, missing.span, path, message);
    }
    let Some((.., span)) = loom.cpus.first() else {
        let message = format!("missing CPUs: loom {name:?} has none");
        return Finding::new(&rules::LOOM_CPUS, stream.object_start(), PATH, message);
    };
    let indices: Vec<String> =
        loom.cpus.iter().take(8).map(|(index, ..)| index.to_string()).collect();
    let last = loom.cpus.len().saturating_sub(1);
    let message =
        format!("CPU indices of loom {name:?} are {}, expected 0 to {last}", indices.join(", "));
    Finding::new(&rules::LOOM_CPUS, *span, PATH, message)
}

/// A loom, process or thread that the directory of its stream contradicts.
fn check_folders(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    let directories = Directories::of(&summary.streams);
    for stream in &summary.streams {
        let (keys, path) = (&stream.metadata.identity, &stream.files.path_identity);
        if stream.files.layout < 3 || !stream.metadata.is_readable {
            continue;
        }
        let number = |found: &Option<Located<i64>>| {
            found.as_ref().map(|found| (found.value.to_string(), found.span))
        };
        let loom = keys.loom.as_ref().map(|found| (found.value.clone(), found.span));
        let pairs = [
            ("loom", loom, path.loom.clone()),
            ("pid", number(&keys.pid), path.pid.map(|pid| pid.to_string())),
            ("tid", number(&keys.tid), path.tid.map(|tid| tid.to_string())),
        ];
        let mut differing = pairs.into_iter().filter_map(|(key, found, named)| {
            let ((found, span), named) = (found?, named?);
            // An invalid value has a finding of its own.
            let is_known = stream.metadata.faults.is_invalid(key);
            (found != named && !is_known).then_some((key, found, span, named))
        });
        let Some((key, found, span, named)) = differing.next() else { continue };
        let [found, named] = [found, named].map(|text| Untrusted(text.as_bytes()).to_string());
        let message = format!("`ovni.{key}` is {found}, but the directory is of {named}");
        let path = format!("stream.json:ovni.{key}");
        let finding = Finding::new(&rules::FOLDER_DIFFERS, span, path, message);
        let member = named_member(stream, key).filter(|_| directories.are_right(stream, key));
        let text = format!("set `{key}` to {named}, from the directory");
        log.push(with_members(summary, stream, finding, member.into_iter().collect(), &text));
    }
}

/// The directories of looms and processes that a stream in them names as well.
struct Directories<'s> {
    looms: BTreeSet<&'s str>,
    processes: BTreeSet<(&'s str, i64)>,
}

impl<'s> Directories<'s> {
    fn of(streams: &'s [StreamSummary<'_, '_>]) -> Self {
        let mut found = Self { looms: BTreeSet::new(), processes: BTreeSet::new() };
        for stream in streams {
            let (keys, path) = (&stream.metadata.identity, &stream.files.path_identity);
            let Some(loom) = path.loom.as_deref() else { continue };
            if keys.loom.as_ref().is_some_and(|found| found.value == loom) {
                found.looms.insert(loom);
            }
            if let Some(pid) = path.pid.filter(|pid| is_number(&keys.pid, Some(*pid))) {
                found.processes.insert((loom, pid));
            }
        }
        found
    }

    /// Whether the rest of the trace shows that a stream lies in its directory, so that its loom,
    /// process or thread is damaged: the first thread of a process has its number, and other
    /// streams of the directory name it.
    fn are_right(&self, stream: &StreamSummary<'_, '_>, key: &str) -> bool {
        let (keys, path) = (&stream.metadata.identity, &stream.files.path_identity);
        let Some(loom) = path.loom.as_deref() else { return false };
        let is_first = path.tid == path.pid;
        match key {
            "tid" => is_first && is_number(&keys.pid, path.pid),
            "pid" => {
                let is_named = path.pid.is_some_and(|pid| self.processes.contains(&(loom, pid)));
                is_named || is_first && is_number(&keys.tid, path.tid)
            }
            // libovni writes no empty name.
            _ => {
                let is_empty = keys.loom.as_ref().is_some_and(|found| found.value.is_empty());
                is_empty || self.looms.contains(loom)
            }
        }
    }
}

fn is_number(found: &Option<Located<i64>>, number: Option<i64>) -> bool {
    found.as_ref().map(|found| found.value) == number
}

/// Mark types that are used and not defined.
fn check_marks(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    let undefined = undefined_marks(summary);
    let Some((kind, mark)) = undefined.first_key_value() else { return };
    let is_fixable = undefined.keys().all(|kind| (0..MARK_TYPES).contains(&i64::from(*kind)));
    if is_fixable && summary.first_in_repair_of_all().is_some() {
        return;
    }
    let Some(stream) = summary.stream(mark.stream) else { return };
    let types = count(undefined.len(), "mark type");
    let verb = agree(to_u64(undefined.len()), "is", "are");
    let message = format!("undefined: {types} {verb} used but not in ovni.mark, first {kind}");
    let path = format!("event[{}].type", mark.place.number);
    let span = mark.place.span(stream.layer());
    let finding = Finding::new(&rules::UNDEFINED_MARK, span, path, message);
    let fix = "add the types to ovni.mark";
    log.push(with_members(summary, stream, finding, missing_marks(summary), fix));
}

/// Hardware counters that are used and not named.
fn check_counters(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    let Some((number, place, values)) = undefined_counters(summary) else { return };
    let is_fixable = i64::try_from(values).is_ok_and(|values| values <= MARK_TYPES);
    if is_fixable && summary.first_in_repair_of_all().is_some() {
        return;
    }
    let Some(stream) = summary.stream(number) else { return };
    let values = plural(values, "value");
    let message = format!("undefined hardware counters: VWC has {values}, nosv.hwc has no name");
    let path = format!("event[{}]", place.number);
    let span = place.span(stream.layer());
    let finding = Finding::new(&rules::COUNTERS_UNDEFINED, span, path, message);
    let fix = "add names for the counters";
    log.push(with_members(summary, stream, finding, missing_counters(summary), fix));
}

/// Versions of libovni.
fn check_libraries(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    let mut libs = summary
        .streams
        .iter()
        .filter_map(|stream| stream.metadata.lib.as_ref().map(|lib| (stream, lib)));
    let Some((_, first)) = libs.next() else { return };
    if let Some((stream, other)) = libs.find(|(_, lib)| *lib != first) {
        let (first, other) = (Untrusted(first.as_bytes()), Untrusted(other.as_bytes()));
        let message =
            format!("inconsistent libovni versions: {other:?} here, {first:?} in the first stream");
        let path = "stream.json:ovni.lib.version";
        log.push(Finding::new(&rules::LIB_MIXED, stream.object_start(), path, message));
    }
}
