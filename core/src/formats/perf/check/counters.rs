//! The counts of `perf stat record`, and the maps by which perf stores them.
//!
//! ```text
//!  THREAD_MAP, CPU_MAP (the first of each)  ->  STAT { id, cpu, thread, .. }, STAT_ROUND
//! ```
//!
//! perf 6.1, util/stat.c: `perf_event__process_stat_event` refuses a count of a CPU or thread that
//! the maps before it do not list; builtin-script.c ignores all maps but the first. A STAT_ROUND
//! without maps crashes it: `process_counter_maps` reads counts that do not exist.

use std::collections::BTreeSet;

use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::decode::record::{CpuSet, cpu_set};
use crate::formats::perf::layout::record as kind;
use crate::formats::perf::{repair, rules};
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::words::{join_and, plural};
use crate::model::edit::{Edit, Fix, Safety};
use crate::model::limits::{FIXES, Limits};
use crate::model::{Finding, Report};

/// perf.h: the CPUs that perf supports (`MAX_NR_CPUS`).
const CPUS: u32 = 4096;
/// `type` of an EVENT_UPDATE with the CPUs of one event.
const UPDATE_CPUS: u64 = 3;
/// The CPU of a count over all CPUs.
const ANY_CPU: u16 = u16::MAX;

/// The first CPU_MAP and THREAD_MAP before the first count.
#[derive(Default)]
struct Maps {
    cpus: Option<(Span, CpuSet)>,
    /// The number of threads.
    threads: Option<(Span, u64)>,
    /// Whether an event has CPUs of its own.
    has_own_cpus: bool,
}

impl Maps {
    fn lists_cpu(&self, cpu: Option<u16>) -> bool {
        let lists = |(_, set): &(Span, CpuSet)| cpu.is_some_and(|cpu| set.has(cpu));
        self.has_own_cpus || self.cpus.as_ref().is_some_and(lists)
    }

    fn lists_thread(&self, thread: u32) -> bool {
        self.threads.is_some_and(|(_, threads)| u64::from(thread) < threads)
    }
}

/// A count and its place, or a STAT_ROUND.
struct Count {
    span: Span,
    path: String,
    cpu: u32,
    thread: u32,
}

/// The counts of a CPU or thread that no map lists.
#[derive(Default)]
struct Unlisted {
    count: u64,
    first: Option<Count>,
    spans: Vec<Span>,
}

/// Compares the counts with the maps before them.
pub(super) struct Counters {
    maps: Maps,
    first: Option<Count>,
    /// The CPUs of all counts.
    cpus: BTreeSet<u16>,
    last_thread: u32,
    /// Number of counts that the maps list.
    listed: u64,
    unlisted: Unlisted,
    /// Most counts to drop in one round.
    drops: usize,
}

impl Counters {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            maps: Maps::default(),
            first: None,
            cpus: BTreeSet::new(),
            last_thread: 0,
            listed: 0,
            unlisted: Unlisted::default(),
            drops: limits.count_of(&FIXES),
        }
    }

    /// Notes a record whose fields are complete.
    pub(super) fn observe(&mut self, record: &RecordView<'_>, order: Order) {
        if !record.place.layer.is_stored() {
            return;
        }
        let is_before = self.first.is_none();
        let maps = &mut self.maps;
        match record.frame.kind {
            kind::THREAD_MAP if is_before && maps.threads.is_none() => {
                let threads = record.cursor(order).u64("thread_map.nr");
                maps.threads = threads.ok().map(|threads| (record.span(), threads));
            }
            kind::CPU_MAP if is_before && maps.cpus.is_none() => {
                maps.cpus = Some((record.span(), cpu_set(record.body(), order)));
            }
            kind::EVENT_UPDATE => {
                let update = record.cursor(order).u64("event_update.type");
                maps.has_own_cpus |= update.is_ok_and(|update| update == UPDATE_CPUS);
            }
            kind::STAT => self.observe_count(record, order),
            kind::STAT_ROUND if is_before => {
                let (path, cpu) = (record.place.path(""), ANY_CPU.into());
                self.first = Some(Count { span: record.span(), path, cpu, thread: 0 });
            }
            _ => {}
        }
    }

    fn observe_count(&mut self, record: &RecordView<'_>, order: Order) {
        let mut cursor = record.cursor(order);
        let (Ok(()), Ok(cpu), Ok(thread)) =
            (cursor.skip(1, 8, "stat.id"), cursor.u32("stat.cpu"), cursor.u32("stat.thread"))
        else {
            return;
        };
        let known = match cpu {
            u32::MAX => Some(ANY_CPU),
            _ => u16::try_from(cpu).ok().filter(|_| cpu < CPUS),
        };
        self.cpus.extend(known);
        // A damaged number does not decide the size of a map.
        if thread < repair::THREADS {
            self.last_thread = self.last_thread.max(thread);
        }
        let has_cpu = self.maps.lists_cpu(known);
        let has_thread = self.maps.lists_thread(thread);
        let field = if has_cpu { ".thread" } else { ".cpu" };
        let count = || Count { span: record.span(), path: record.place.path(field), cpu, thread };
        self.first.get_or_insert_with(count);
        if has_cpu && has_thread {
            self.listed = self.listed.saturating_add(1);
            return;
        }
        let unlisted = &mut self.unlisted;
        unlisted.count = unlisted.count.saturating_add(1);
        unlisted.first.get_or_insert_with(count);
        if unlisted.spans.len() < self.drops {
            unlisted.spans.push(record.span());
        }
    }

    /// Reports counts that perf refuses.
    pub(super) fn finish(&self, can_move: bool, order: Order, report: &mut Report) {
        let (finding, fix) = if let Some(missing) = self.find_missing(order) {
            missing
        } else if let Some(unlisted) = self.find_unlisted(order) {
            unlisted
        } else {
            return;
        };
        let edits = if can_move { fix.edits } else { Vec::new() };
        report.push(finding.fix(Fix { edits, ..fix }));
    }

    fn find_missing(&self, order: Order) -> Option<(Finding, Fix)> {
        let first = self.first.as_ref()?;
        let mut missing = Vec::new();
        let mut records = Vec::new();
        if self.maps.threads.is_none() {
            missing.push("THREAD_MAP");
            records.extend(repair::thread_map(self.last_thread, order));
        }
        if self.maps.cpus.is_none() {
            missing.push("CPU_MAP");
            records.extend(repair::cpu_map(&self.cpus, order));
        }
        if missing.is_empty() {
            return None;
        }
        let missing = join_and(&missing);
        let message = format!("missing {missing} before the first count");
        let place = Span::sized(first.span.layer, first.span.start, 0);
        let summary = format!("add {missing} with the CPUs and threads of the counts");
        let fix = Fix::new(Safety::Synthetic, summary, vec![Edit::replace(place, records)]);
        let rule = &rules::COUNT_UNLISTED;
        Some((Finding::new(rule, first.span, first.path.clone(), message), fix))
    }

    fn find_unlisted(&self, order: Order) -> Option<(Finding, Fix)> {
        let unlisted = &self.unlisted;
        let (first, (cpu_map, _)) = (unlisted.first.as_ref()?, self.maps.cpus.as_ref()?);
        let (thread_map, _) = self.maps.threads?;
        let counts = plural(unlisted.count, "count");
        let message = format!(
            "{counts} of a CPU or thread that no map lists; the first is of CPU {}, thread {}",
            first.cpu.cast_signed(),
            first.thread.cast_signed()
        );
        let finding = Finding::new(&rules::COUNT_UNLISTED, first.span, first.path.clone(), message)
            .related(*cpu_map, "CPU_MAP")
            .related(thread_map, "THREAD_MAP");
        let mut edits = Vec::new();
        let mut names = Vec::new();
        if !self.maps.lists_thread(self.last_thread) {
            names.push("THREAD_MAP");
            edits.push(Edit::replace(thread_map, repair::thread_map(self.last_thread, order)));
        }
        if !self.cpus.iter().all(|cpu| self.maps.lists_cpu(Some(*cpu))) {
            names.push("CPU_MAP");
            edits.push(Edit::replace(*cpu_map, repair::cpu_map(&self.cpus, order)));
        }
        if self.listed >= unlisted.count || edits.is_empty() {
            let edits = unlisted.spans.iter().copied().map(Edit::drop).collect();
            let fix = Fix::new(Safety::Lossy, format!("drop {counts}"), edits);
            return Some((finding, Fix { records_lost: to_u64(unlisted.spans.len()), ..fix }));
        }
        let summary = format!("write {} with those of the counts", join_and(&names));
        Some((finding, Fix::new(Safety::Lossy, summary, edits)))
    }
}
