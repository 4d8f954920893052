//! Ranks of the processes of an MPI application.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::ovni::check::completion::{first_readable, with_members};
use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::repair::members::{NewMember, NewValue};
use crate::formats::ovni::repair::metadata::missing_rank;
use crate::formats::ovni::rules;
use crate::formats::ovni::state::summary::TraceSummary;
use crate::formats::ovni::state::system::Process;
use crate::kit::num::to_u64;
use crate::kit::words::plural;
use crate::model::{Finding, Severity};

const RANK: &str = "stream.json:ovni.rank";
const NRANKS: &str = "stream.json:ovni.nranks";
/// Other processes that show that a process is an MPI process, too.
const WITNESSES: usize = 2;

/// Reports processes whose rank or number of ranks does not fit those of the others.
pub fn check_ranks(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    check_missing(summary, log);
    let mut apps: BTreeMap<Option<i64>, Vec<&Process>> = BTreeMap::new();
    for process in &summary.system.processes {
        let app_id = process.app_id.as_ref().map(|app_id| app_id.value);
        apps.entry(app_id).or_default().push(process);
    }
    for processes in apps.values() {
        check_equal(processes, log);
        check_numbers(summary, processes, log);
        check_last(summary, processes, log);
    }
}

/// A rank for every process of a loom, or for none.
fn check_missing(summary: &TraceSummary<'_, '_>, log: &mut Log) {
    for (index, process) in summary.system.processes.iter().enumerate() {
        let members = missing_rank(summary, index);
        if members.is_empty() || summary.first_in_repair(&process.streams).is_some() {
            continue;
        }
        let Some(stream) = first_readable(summary, &process.streams) else { continue };
        let message = format!(
            "missing rank of process {}: other processes of its loom have one",
            process.pid
        );
        let finding = Finding::new(&rules::RANK_MISSING, stream.object_start(), RANK, message);
        let fix = "add a rank that no process has";
        log.push(with_members(summary, stream, finding, members, fix));
    }
}

/// A rank that two processes have.
fn check_equal(processes: &[&Process], log: &mut Log) {
    let mut known: BTreeMap<i64, i64> = BTreeMap::new();
    for process in processes {
        let Some(rank) = &process.rank else { continue };
        let Some(other) = known.insert(rank.value, process.pid) else { continue };
        let message =
            format!("duplicate rank {}: processes {other} and {} have it", rank.value, process.pid);
        log.push(Finding::new(&rules::RANK_TWICE, rank.span, RANK, message));
    }
}

/// Numbers of ranks that differ. With more than two processes, those are reported that fewer of
/// them have.
fn check_numbers(summary: &TraceSummary<'_, '_>, processes: &[&Process], log: &mut Log) {
    let mut numbers: BTreeMap<i64, Vec<&Process>> = BTreeMap::new();
    for process in processes {
        if let Some(nranks) = &process.nranks {
            numbers.entry(nranks.value).or_default().push(process);
        }
    }
    let Some((usual, of_usual)) = numbers.iter().max_by_key(|(_, processes)| processes.len())
    else {
        return;
    };
    for (found, processes) in numbers.iter().filter(|(found, _)| *found != usual) {
        for process in processes {
            let Some(nranks) = &process.nranks else { continue };
            let others = plural(to_u64(of_usual.len()), "other process");
            let pid = process.pid;
            let message = format!(
                "inconsistent `ovni.nranks` of process {pid}: {found}, {usual} in {others}"
            );
            let finding = Finding::new(&rules::NRANKS_DIFFER, nranks.span, NRANKS, message);
            let is_shown = of_usual.len() >= WITNESSES;
            let stream = first_readable(summary, &process.streams).filter(|_| is_shown);
            let Some(stream) = stream else {
                log.push(finding);
                continue;
            };
            let members = vec![NewMember::of_ovni("nranks", NewValue::Raw(usual.to_string()))];
            let fix = format!("set `nranks` to {usual}, as in the other processes");
            log.push(with_members(summary, stream, finding, members, &fix));
        }
    }
}

/// The only process without a rank, if the others have all but one.
fn check_last(summary: &TraceSummary<'_, '_>, processes: &[&Process], log: &mut Log) {
    let mut without = processes.iter().filter(|process| process.rank.is_none());
    let (Some(last), None) = (without.next(), without.next()) else { return };
    let ranks: BTreeSet<i64> =
        processes.iter().filter_map(|process| Some(process.rank.as_ref()?.value)).collect();
    let numbers: BTreeSet<i64> =
        processes.iter().filter_map(|process| Some(process.nranks.as_ref()?.value)).collect();
    let (Some(nranks), 1) = (numbers.first().copied(), numbers.len()) else { return };
    let are_all_but_one = i64::try_from(ranks.len()).ok() == nranks.checked_sub(1);
    let in_loom = summary.system.looms.get(last.loom).is_some_and(|loom| loom.processes.len() > 1);
    if ranks.len() < WITNESSES || !are_all_but_one || in_loom {
        return;
    }
    let is_known = |stream: &usize| {
        summary
            .stream(*stream)
            .is_some_and(|stream| stream.needs_repair || stream.metadata.has_invalid_rank())
    };
    let Some(rank) = (0..nranks).find(|rank| !ranks.contains(rank)) else { return };
    let Some(stream) = first_readable(summary, &last.streams) else { return };
    if last.streams.iter().any(is_known) {
        return;
    }
    let message = format!(
        "missing rank of process {}: the other processes have all of {nranks} but {rank}",
        last.pid
    );
    let mut finding = Finding::new(&rules::RANK_MISSING, stream.object_start(), RANK, message);
    finding.severity = Severity::Warning;
    let raw = |number: i64| NewValue::Raw(number.to_string());
    let members =
        vec![NewMember::of_ovni("rank", raw(rank)), NewMember::of_ovni("nranks", raw(nranks))];
    let fix = "add the rank that no other process has";
    log.push(with_members(summary, stream, finding, members, fix));
}
