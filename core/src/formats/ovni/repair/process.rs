//! Values that all threads of a process share, from its other threads and the other processes.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::ovni::repair::members::{NewMember, NewValue};
use crate::formats::ovni::state::summary::{StreamSummary, TraceSummary};
use crate::formats::ovni::state::system::Process;

/// Value of `app_id` that libovni's examples use.
const APP_ID: i64 = 1;

fn find_process<'s>(
    summary: &'s TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
) -> Option<(usize, &'s Process)> {
    let number = summary.system.owner(stream.number)?.process;
    Some((number, summary.system.processes.get(number)?))
}

/// Returns the application of the process of a stream: that of its other threads, or else of the
/// other processes.
pub fn app_id_member(summary: &TraceSummary<'_, '_>, stream: &StreamSummary<'_, '_>) -> NewMember {
    let value = |process: &Process| process.app_id.as_ref().map(|app_id| app_id.value);
    let own = find_process(summary, stream).and_then(|(_, process)| value(process));
    let mut others = summary.system.processes.iter().filter_map(value);
    let only = others.next().filter(|first| others.all(|other| other == *first));
    NewMember::of_ovni("app_id", NewValue::Raw(own.or(only).unwrap_or(APP_ID).to_string()))
}

/// Returns rank and number of ranks of the process of a stream: those of its other threads, or else
/// the number of the other processes, and the stored rank or one that no other process has.
pub fn find_ranks(
    summary: &TraceSummary<'_, '_>,
    stream: &StreamSummary<'_, '_>,
) -> Option<((i64, i64), &'static str)> {
    let (number, process) = find_process(summary, stream)?;
    let keys = &stream.metadata.process;
    let others = process.streams.iter().filter(|other| **other != stream.number);
    let mut others = others.filter_map(|other| {
        let keys = &summary.stream(*other)?.metadata.process;
        Some((keys.rank.as_ref()?.value, keys.nranks.as_ref()?.value))
    });
    let of_thread = others.find(|(rank, nranks)| rank < nranks);
    if let Some(ranks) = of_thread {
        return Some((ranks, "as in the other threads of the process"));
    }
    let app_id = process.app_id.as_ref().map(|app_id| app_id.value);
    let is_other = |(index, other): &(usize, &Process)| {
        *index != number && other.app_id.as_ref().map(|app_id| app_id.value) == app_id
    };
    let others = summary.system.processes.iter().enumerate().filter(is_other);
    let others: Vec<&Process> = others.map(|(_, other)| other).collect();
    let taken: BTreeSet<i64> =
        others.iter().filter_map(|other| Some(other.rank.as_ref()?.value)).collect();
    let stored = keys.rank.as_ref().map(|rank| rank.value);
    let stored = stored.or(keys.contradicting.map(|(rank, _)| rank));
    let known = most_frequent(others.iter().filter_map(|other| Some(other.nranks.as_ref()?.value)));
    let own = keys.nranks.as_ref().map(|nranks| nranks.value);
    let nranks = match (known.or(own), stored) {
        (Some(nranks), _) => nranks,
        // Nothing shows which of the two is wrong.
        (None, _) if keys.contradicting.is_some() => return None,
        (None, rank) => taken.iter().copied().chain(rank).max()?.checked_add(1)?,
    };
    let is_free = |rank: &i64| *rank < nranks && !taken.contains(rank);
    let before = summary.system.processes.iter().take(number);
    let before = before.filter(|process| process.rank.is_none()).count();
    let rank = match stored.filter(is_free) {
        Some(rank) => rank,
        // Processes before this one that lack a rank get theirs first.
        None => (0..nranks).filter(is_free).take(before.saturating_add(1)).last()?,
    };
    Some(((rank, nranks), "as the other processes show"))
}

/// Returns the value that occurs most often, if only one does.
fn most_frequent(values: impl Iterator<Item = i64>) -> Option<i64> {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for value in values {
        let count = counts.entry(value).or_default();
        *count = count.saturating_add(1);
    }
    let most = counts.values().max().copied()?;
    let mut all = counts.into_iter().filter(|(_, count)| *count == most);
    let (value, _) = all.next()?;
    all.next().is_none().then_some(value)
}
