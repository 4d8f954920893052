//! Members that the metadata of a stream lacks.
//!
//! Some keys belong to the trace, a loom or a process: the first stream whose metadata is completed
//! in any case gets them, or else the first stream that they are about.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::ovni::layout::{MARK_TYPES, MODELS, Version, display_version, model};
use crate::formats::ovni::limits::LOOM_CPUS;
use crate::formats::ovni::repair::members::{
    NewMember, NewValue, cpu_value, insert_members, version_member, write_document,
};
use crate::formats::ovni::repair::process::{app_id_member, find_ranks};
use crate::formats::ovni::state::summary::{StreamSummary, TraceSummary};
use crate::formats::ovni::state::thread::EventPlace;
use crate::kit::span::Layer;
use crate::model::edit::Edit;

/// Version of an unknown release.
const UNKNOWN: &str = "unknown";
/// Keys of `ovni` that a new document starts with.
const FIRST_KEYS: [&str; 7] =
    ["lib.version", "lib.commit", "part", "tid", "pid", "loom", "require"];

fn raw(number: impl ToString) -> NewValue {
    NewValue::Raw(number.to_string())
}

fn text(text: impl Into<String>) -> NewValue {
    NewValue::Text(text.into())
}

/// Returns the edits that add members to the metadata of a stream; none if it cannot be read.
pub fn add_members(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
    members: Vec<NewMember>,
) -> Vec<Edit> {
    let Some(index) = stream.files.present_json().filter(|_| !members.is_empty()) else {
        return Vec::new();
    };
    match summary.trace.document(index).json {
        Ok(json) => insert_members(&json, Layer::stored(index), members),
        Err(_) => Vec::new(),
    }
}

/// Returns the edits that complete the metadata of an unfinished stream.
pub fn complete_metadata(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
) -> Vec<Edit> {
    add_members(summary, stream, missing_members(summary, stream))
}

/// Returns the members that complete the metadata of an unfinished stream.
fn missing_members(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
) -> Vec<NewMember> {
    let metadata = stream.metadata;
    let mut members = mandatory_members(summary, stream, &metadata.faults.missing);
    if metadata.require.is_some() {
        members.extend(required_models(summary, stream, false));
    }
    if let Some(owner) = summary.system.owner(stream.number) {
        let is_first = |streams: &[usize]| summary.first_in_repair(streams) == Some(stream.number);
        if summary.system.looms.get(owner.loom).is_some_and(|loom| is_first(&loom.streams)) {
            members.extend(missing_cpus(summary, owner.loom));
        }
        if let Some(process) = summary.system.processes.get(owner.process)
            && is_first(&process.streams)
        {
            if process.app_id.is_none() {
                members.push(app_id_member(summary, stream));
            }
            members.extend(missing_rank(summary, owner.process));
        }
    }
    if summary.first_in_repair_of_all() == Some(stream.number) {
        members.extend(missing_marks(summary));
        members.extend(missing_counters(summary));
    }
    members.push(NewMember::of_ovni("finished", raw(1)));
    members
}

/// Returns a complete text of metadata, if the thread of the stream is known.
pub fn new_document(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
) -> Option<String> {
    let owner = summary.system.owner(stream.number)?;
    let mut members = vec![version_member()];
    members.extend(mandatory_members(summary, stream, &FIRST_KEYS));
    let process = summary.system.processes.get(owner.process);
    if let Some(app_id) = process.and_then(|process| process.app_id.as_ref()) {
        members.push(NewMember::of_ovni("app_id", raw(app_id.value)));
    }
    // Keys of the process, the loom and the trace follow as for any other stream.
    let rest = missing_members(summary, stream).into_iter();
    members.extend(rest.filter(|member| {
        !FIRST_KEYS.contains(&member.key.as_str()) && member.path != ["ovni", "require"]
    }));
    Some(write_document(members))
}

/// Returns members for mandatory keys. Keys whose value is unknown are left out.
pub fn mandatory_members(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
    keys: &[&str],
) -> Vec<NewMember> {
    let owner = summary.system.owner(stream.number);
    let loom = owner.and_then(|owner| summary.system.looms.get(owner.loom));
    let process = owner.and_then(|owner| summary.system.processes.get(owner.process));
    let lib = summary.streams.iter().find_map(|stream| stream.metadata.lib.clone());
    let lib = lib.unwrap_or_else(|| UNKNOWN.to_string());
    let of_ovni = |key: &str, value: NewValue| NewMember::of_ovni(key, value);
    let mut members = Vec::new();
    for key in keys {
        match *key {
            "part" => members.push(of_ovni("part", text("thread"))),
            "tid" => members.extend(owner.map(|owner| of_ovni("tid", raw(owner.tid)))),
            "pid" => members.extend(process.map(|process| of_ovni("pid", raw(process.pid)))),
            "loom" => members.extend(loom.map(|loom| of_ovni("loom", text(&loom.name)))),
            "lib.version" => members.push(lib_member("version", &lib)),
            "lib.commit" => members.push(lib_member("commit", UNKNOWN)),
            "require" => members.extend(required_models(summary, stream, true)),
            "nranks" => {
                let ranks = find_ranks(summary, stream);
                members.extend(ranks.map(|((_, nranks), _)| of_ovni("nranks", raw(nranks))));
            }
            _ => {}
        }
    }
    members
}

fn lib_member(key: &str, value: &str) -> NewMember {
    NewMember { path: vec!["ovni", "lib"], key: key.to_string(), value: text(value) }
}

/// The models that a stream uses: all of them, or only those that no thread requires.
pub fn required_models(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
    all: bool,
) -> Vec<NewMember> {
    let is_needed = |index: usize| {
        let is_used = stream.thread.usage.first_of(index).is_some();
        let is_enabled = summary.system.enabled.get(index).copied().unwrap_or(false);
        let is_base = index == usize::from(model::OVNI);
        if all { is_used || is_base } else { is_used && !is_enabled }
    };
    let models = (0..MODELS.len()).filter(|index| is_needed(*index));
    models.map(|index| required_model(summary, stream, index)).collect()
}

/// Returns the member that requires a model, in the version that its events need.
pub fn required_model(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
    index: usize,
) -> NewMember {
    let required = summary.streams.iter();
    let required = required.filter_map(|s| s.metadata.required().get(index).copied().flatten());
    let usage = &stream.thread.usage;
    let newest = usage.newest.get(index).copied().flatten();
    let least: Version = match u8::try_from(index).unwrap_or(u8::MAX) {
        model::NOSV if usage.has_old_nosv => (1, 1, 0),
        model::NOSV => (2, 0, 0),
        model::OVNI | model::OPENMP => (1, 1, 0),
        _ => (1, 0, 0),
    };
    let version = required.max().unwrap_or(least).max(least).max(newest.unwrap_or(least));
    let name = MODELS.get(index).map_or("", |model| model.name);
    let value = text(display_version(version));
    NewMember { path: vec!["ovni", "require"], key: name.to_string(), value }
}

/// Returns a member with the CPUs that a loom lacks.
pub fn missing_cpus(summary: &TraceSummary<'_, '_>, loom: usize) -> Option<NewMember> {
    let missing = summary.shortages.cpus.get(&loom).map_or(-1, |missing| missing.highest);
    let loom = summary.system.looms.get(loom)?;
    if loom.cpu_count().is_some_and(|count| i64::from(missing) < count) {
        return None;
    }
    let indices: BTreeSet<i64> = loom.cpus.iter().map(|(index, ..)| *index).collect();
    if indices.len() < loom.cpus.len() {
        // Two CPUs have the same index: no further CPU corrects that.
        return None;
    }
    let mut taken: BTreeSet<i64> = loom.cpus.iter().map(|(_, phyid, _)| *phyid).collect();
    let highest = indices.last().copied().unwrap_or(0).max(i64::from(missing)).max(0);
    if highest >= loom.cpu_room(summary.limits.of(&LOOM_CPUS)) {
        return None;
    }
    let mut cpus = Vec::new();
    let mut next = 0_i64;
    for index in (0..=highest).filter(|index| !indices.contains(index)) {
        let is_reserved = |id: i64| id <= highest && !indices.contains(&id);
        let mut phyid = index;
        if taken.contains(&index) {
            while taken.contains(&next) || is_reserved(next) {
                next = next.saturating_add(1);
            }
            phyid = next;
        }
        taken.insert(phyid);
        cpus.push(cpu_value(index, phyid));
    }
    (!cpus.is_empty()).then(|| NewMember::of_ovni("loom_cpus", NewValue::Array(cpus)))
}

/// Returns a rank for a process without one, if other processes of its loom have one.
pub fn missing_rank(summary: &TraceSummary<'_, '_>, number: usize) -> Vec<NewMember> {
    let processes = &summary.system.processes;
    let Some(process) = processes.get(number).filter(|process| process.rank.is_none()) else {
        return Vec::new();
    };
    // Its value is restored instead.
    let has_rank = |stream: &usize| {
        summary.stream(*stream).is_some_and(|stream| stream.metadata.has_invalid_rank())
    };
    if process.streams.iter().any(has_rank) {
        return Vec::new();
    }
    let has_rank = |index: &usize| processes.get(*index).is_some_and(|other| other.rank.is_some());
    let loom = summary.system.looms.get(process.loom);
    if !loom.is_some_and(|loom| loom.processes.iter().any(has_rank)) {
        return Vec::new();
    }
    // Processes before this one that lack a rank get theirs first.
    let before = processes.iter().take(number).filter(|process| process.rank.is_none()).count();
    let taken: BTreeSet<i64> =
        processes.iter().filter_map(|process| Some(process.rank.as_ref()?.value)).collect();
    let rank = (0..).filter(|rank| !taken.contains(rank)).nth(before).unwrap_or(0);
    let nranks = processes.iter().filter_map(|process| Some(process.nranks.as_ref()?.value));
    let nranks = nranks.max().unwrap_or(0).max(rank.saturating_add(1));
    vec![NewMember::of_ovni("rank", raw(rank)), NewMember::of_ovni("nranks", raw(nranks))]
}

/// First use of a mark type that is not defined.
#[derive(Clone, Copy, Debug)]
pub struct UndefinedMark {
    /// Number of the stream.
    pub stream: usize,
    /// The event.
    pub place: EventPlace,
    /// The event uses it as a stack.
    pub is_stack: bool,
}

/// Returns the mark types that are used and not defined.
pub fn undefined_marks(summary: &TraceSummary<'_, '_>) -> BTreeMap<i32, UndefinedMark> {
    let mut found = BTreeMap::new();
    for stream in summary.streams.iter().filter(|stream| stream.has_owner) {
        for (kind, used) in &stream.thread.usage.undefined_marks {
            let (place, is_stack) = (used.place, used.is_stack);
            let mark = UndefinedMark { stream: stream.number, place, is_stack };
            found.entry(*kind).or_insert(mark);
        }
    }
    found
}

/// Returns members that define the missing mark types.
pub fn missing_marks(summary: &TraceSummary<'_, '_>) -> Vec<NewMember> {
    let marks = undefined_marks(summary).into_iter();
    let marks = marks.filter(|(kind, _)| (0..MARK_TYPES).contains(&i64::from(*kind)));
    let member = |(kind, mark): (i32, UndefinedMark)| {
        let chan_type = if mark.is_stack { "stack" } else { "single" };
        let value = NewValue::Object(vec![
            ("title".to_string(), text(format!("mark {kind}"))),
            ("chan_type".to_string(), text(chan_type)),
        ]);
        NewMember { path: vec!["ovni", "mark"], key: kind.to_string(), value }
    };
    marks.map(member).collect()
}

/// Returns the first event with hardware counters that are not defined: its stream, its place, and
/// the number of counters.
pub fn undefined_counters(summary: &TraceSummary<'_, '_>) -> Option<(usize, EventPlace, u64)> {
    let mut streams = summary.streams.iter().filter(|stream| stream.has_owner);
    streams.find_map(|stream| {
        let (place, count) = stream.thread.usage.undefined_counters?;
        Some((stream.number, place, count))
    })
}

/// Returns members that name the missing hardware counters; none if there are more than 100.
pub fn missing_counters(summary: &TraceSummary<'_, '_>) -> Vec<NewMember> {
    let count = undefined_counters(summary).map_or(0, |(.., count)| count);
    if i64::try_from(count).is_ok_and(|count| count > MARK_TYPES) {
        return Vec::new();
    }
    let member = |index: u64| {
        let name = text(format!("counter{index}"));
        let value = NewValue::Object(vec![("name".to_string(), name)]);
        NewMember { path: vec!["nosv", "hwc"], key: index.to_string(), value }
    };
    (0..count).map(member).collect()
}
