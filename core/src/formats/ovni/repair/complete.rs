//! What the metadata of a stream lacks.
//!
//! Some keys are the trace's, a loom's or a process's: the first stream whose metadata is completed
//! anyway gets them, or else the first one that they are about.

use crate::formats::ovni::limits::LOOM_CPUS;
use std::collections::{BTreeMap, BTreeSet};

use crate::formats::ovni::check::Case;
use crate::formats::ovni::check::thread::{Place, version};
use crate::formats::ovni::layout::{MODELS, Version, model};
use crate::formats::ovni::repair::json::{Add, New, document as text, version as version_member};

/// What stands for a release that is not known.
const UNKNOWN: &str = "unknown";

fn raw(number: impl ToString) -> New {
    New::Raw(number.to_string())
}

/// The members that make the metadata of an unfinished stream whole.
pub fn members(case: &Case<'_, '_, '_>, number: usize) -> Vec<Add> {
    let mut adds = Vec::new();
    let Some(meta) = case.meta(number) else { return adds };
    adds.extend(missing(case, number, &meta.missing));
    if !meta.missing.contains(&"require") && meta.has_require {
        adds.extend(requires(case, number, false));
    }
    let seat = case.system.seats.get(number).copied().flatten();
    if let Some(seat) = seat {
        let loom = case.system.looms.get(seat.loom);
        let first = |streams: &[usize]| case.first_troubled(streams) == Some(number);
        if loom.is_some_and(|loom| first(&loom.streams)) {
            adds.extend(cpus(case, seat.loom));
        }
        if let Some(process) = case.system.processes.get(seat.process)
            && first(&process.streams)
        {
            if process.app_id.is_none() {
                adds.push(Add::ovni("app_id", raw(1)));
            }
            adds.extend(rank(case, seat.process));
        }
    }
    if case.first_troubled(&[]) == Some(number) {
        adds.extend(marks(case));
        adds.extend(counters(case));
    }
    adds.push(Add::ovni("finished", raw(1)));
    adds
}

/// Metadata written anew, if it is known which thread it is of.
pub fn document(case: &Case<'_, '_, '_>, number: usize) -> Option<String> {
    case.system.seats.get(number).copied().flatten()?;
    let mut adds = vec![version_member()];
    let keys = ["lib.version", "lib.commit", "part", "tid", "pid", "loom", "require"];
    adds.extend(missing(case, number, &keys));
    let seat = case.system.seats.get(number).copied().flatten();
    let process = seat.and_then(|seat| case.system.processes.get(seat.process));
    if let Some(app_id) = process.and_then(|process| process.app_id.as_ref()) {
        adds.push(Add::ovni("app_id", raw(app_id.value)));
    }
    // What belongs to the process, the loom and the trace follows as for any other stream.
    let rest = members(case, number);
    adds.extend(rest.into_iter().filter(|add| {
        let key = add.key.as_str();
        !keys.contains(&key) && add.path.as_slice() != ["ovni", "require"]
    }));
    Some(text(adds))
}

/// Members for mandatory keys; none for what nothing says.
pub fn missing(case: &Case<'_, '_, '_>, number: usize, keys: &[&str]) -> Vec<Add> {
    let seat = case.system.seats.get(number).copied().flatten();
    let loom = seat.and_then(|seat| case.system.looms.get(seat.loom));
    let process = seat.and_then(|seat| case.system.processes.get(seat.process));
    let lib = case.metas.iter().find_map(|meta| meta.lib.clone());
    let lib = lib.unwrap_or_else(|| UNKNOWN.to_string());
    let mut adds = Vec::new();
    for key in keys {
        match *key {
            "part" => adds.push(Add::ovni("part", New::Text("thread".to_string()))),
            "tid" => adds.extend(seat.map(|seat| Add::ovni("tid", raw(seat.tid)))),
            "pid" => adds.extend(process.map(|process| Add::ovni("pid", raw(process.pid)))),
            "loom" => {
                adds.extend(loom.map(|loom| Add::ovni("loom", New::Text(loom.name.clone()))));
            }
            "lib.version" => adds.push(lib_member("version", lib.clone())),
            "lib.commit" => adds.push(lib_member("commit", UNKNOWN.to_string())),
            "require" => adds.extend(requires(case, number, true)),
            _ => {}
        }
    }
    adds
}

fn lib_member(key: &str, value: String) -> Add {
    Add { path: vec!["ovni", "lib"], key: key.to_string(), value: New::Text(value) }
}

/// The models that a stream uses: all of them, or those that no thread requires.
fn requires(case: &Case<'_, '_, '_>, number: usize, all: bool) -> Vec<Add> {
    let Some(machine) = case.machines.get(number) else { return Vec::new() };
    let mut adds = Vec::new();
    for (index, model) in MODELS.iter().enumerate() {
        let used = machine.used.get(index).is_some_and(Option::is_some);
        let enabled = case.system.enabled.get(index).copied().unwrap_or(false);
        let base = model.code == b'O';
        let wanted = if all { used || base } else { used && !enabled };
        if wanted {
            adds.push(require(case, number, index));
        }
    }
    adds
}

/// The member that requires a model, in the version that its events ask for.
pub fn require(case: &Case<'_, '_, '_>, number: usize, index: usize) -> Add {
    let required = case.metas.iter().filter_map(|meta| meta.require.get(index).copied().flatten());
    let machine = case.machines.get(number);
    let seen = machine.and_then(|machine| machine.seen.get(index).copied().flatten());
    let least: Version = match u8::try_from(index).unwrap_or(u8::MAX) {
        model::NOSV if machine.is_some_and(|machine| machine.old_nosv) => (1, 1, 0),
        model::NOSV => (2, 0, 0),
        model::OVNI | model::OPENMP => (1, 1, 0),
        _ => (1, 0, 0),
    };
    let wanted = required.max().unwrap_or(least).max(least).max(seen.unwrap_or(least));
    let name = MODELS.get(index).map_or("", |model| model.name);
    let value = New::Text(version(wanted));
    Add { path: vec!["ovni", "require"], key: name.to_string(), value }
}

/// The CPUs that a loom lacks, as a member with those alone.
pub fn cpus(case: &Case<'_, '_, '_>, loom: usize) -> Option<Add> {
    let missing = case.merge.missing_cpus.get(&loom).map_or(-1, |missing| missing.highest);
    let loom = case.system.looms.get(loom)?;
    if loom.cpu_count().is_some_and(|count| i64::from(missing) < count) {
        return None;
    }
    let indices: BTreeSet<i64> = loom.cpus.iter().map(|(index, ..)| *index).collect();
    if indices.len() < loom.cpus.len() {
        // One index of two CPUs: nothing that is added makes that right.
        return None;
    }
    let mut taken: BTreeSet<i64> = loom.cpus.iter().map(|(_, phyid, _)| *phyid).collect();
    let highest = indices.last().copied().unwrap_or(0).max(i64::from(missing)).max(0);
    if highest >= loom.cpu_room(case.limits.of(&LOOM_CPUS)) {
        return None;
    }
    let mut cpus = Vec::new();
    let mut next = 0_i64;
    for index in (0..=highest).filter(|index| !indices.contains(index)) {
        let phyid = if taken.contains(&index) {
            while taken.contains(&next) || (next <= highest && !indices.contains(&next)) {
                next = next.saturating_add(1);
            }
            next
        } else {
            index
        };
        taken.insert(phyid);
        let member = |key: &str, value: i64| (key.to_string(), raw(value));
        cpus.push(New::Object(vec![member("index", index), member("phyid", phyid)]));
    }
    (!cpus.is_empty()).then(|| Add::ovni("loom_cpus", New::Array(cpus)))
}

/// A rank for a process whose loom's other processes have one.
pub fn rank(case: &Case<'_, '_, '_>, number: usize) -> Vec<Add> {
    let processes = &case.system.processes;
    let Some(process) = processes.get(number).filter(|process| process.rank.is_none()) else {
        return Vec::new();
    };
    let ranked = |index: &&usize| processes.get(**index).is_some_and(|other| other.rank.is_some());
    let loom = case.system.looms.get(process.loom);
    if !loom.is_some_and(|loom| loom.processes.iter().any(|index| ranked(&index))) {
        return Vec::new();
    }
    // Processes before this one that lack a rank get theirs first.
    let before = processes.iter().take(number).filter(|process| process.rank.is_none()).count();
    let taken: BTreeSet<i64> =
        processes.iter().filter_map(|p| p.rank.as_ref().map(|rank| rank.value)).collect();
    let rank = (0..).filter(|rank| !taken.contains(rank)).nth(before).unwrap_or(0);
    let nranks = processes.iter().filter_map(|p| p.nranks.as_ref().map(|nranks| nranks.value));
    let nranks = nranks.max().unwrap_or(0).max(rank.saturating_add(1));
    vec![Add::ovni("rank", raw(rank)), Add::ovni("nranks", raw(nranks))]
}

/// Types of marks that are used and not defined: whether each is a stack, and where it is used.
pub fn undefined_marks(case: &Case<'_, '_, '_>) -> BTreeMap<i32, (usize, Place, bool)> {
    let mut found = BTreeMap::new();
    let machines = case.machines.iter().enumerate();
    for (number, machine) in machines.filter(|(number, _)| case.seated(*number)) {
        for (kind, used) in &machine.undefined_marks {
            found.entry(*kind).or_insert((number, used.place, used.stack));
        }
    }
    found
}

/// The members that define them.
pub fn marks(case: &Case<'_, '_, '_>) -> Vec<Add> {
    let mut adds = Vec::new();
    for (kind, (_, _, stack)) in undefined_marks(case) {
        if !(0..100).contains(&kind) {
            continue;
        }
        let chan = if stack { "stack" } else { "single" };
        let member = |key: &str, value: String| (key.to_string(), New::Text(value));
        let value = New::Object(vec![
            member("title", format!("mark {kind}")),
            member("chan_type", chan.to_string()),
        ]);
        adds.push(Add { path: vec!["ovni", "mark"], key: kind.to_string(), value });
    }
    adds
}

/// The first event with counters that are not defined: its stream, its place, their number.
pub fn undefined_counters(case: &Case<'_, '_, '_>) -> Option<(usize, Place, u64)> {
    let machines = case.machines.iter().enumerate();
    let mut machines = machines.filter(|(number, _)| case.seated(*number));
    machines.find_map(|(number, machine)| {
        machine.undefined_counters.map(|(place, count)| (number, place, count))
    })
}

/// The members that name the counters.
pub fn counters(case: &Case<'_, '_, '_>) -> Vec<Add> {
    let Some((_, _, count)) = undefined_counters(case) else { return Vec::new() };
    let named = |index: u64| {
        let value = New::Object(vec![("name".to_string(), New::Text(format!("counter{index}")))]);
        Add { path: vec!["nosv", "hwc"], key: index.to_string(), value }
    };
    if count > 100 { Vec::new() } else { (0..count).map(named).collect() }
}
