//! Looms, processes and threads, as all metadata together has them.

use std::collections::BTreeMap;

use crate::formats::ovni::check::metadata::{Found, Meta};
use crate::formats::ovni::decode::files::StreamFiles;
use crate::formats::ovni::layout::MODEL_COUNT;
use crate::formats::ovni::rules;
use crate::kit::num::to_u64;
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::report::{Finding, Report};

/// A loom: what shares a machine's CPUs.
#[derive(Clone, Debug, Default)]
pub struct Loom {
    /// Its name.
    pub name: String,
    /// CPUs: index, physical id, and where each is defined first.
    pub cpus: Vec<(i64, i64, Span)>,
    /// Numbers of its streams.
    pub streams: Vec<usize>,
    /// Numbers of its processes.
    pub processes: Vec<usize>,
    /// What is added to its clocks.
    pub offset: i64,
}

impl Loom {
    /// The name up to the first dot.
    pub fn host(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// Number of CPUs, if they are numbered 0 to N-1.
    pub fn cpu_count(&self) -> Option<i64> {
        let mut indices: Vec<i64> = self.cpus.iter().map(|(index, ..)| *index).collect();
        indices.sort_unstable();
        let whole = (0_i64..).zip(&indices).all(|(want, index)| want == *index);
        let count = i64::try_from(indices.len()).ok()?;
        (whole && count > 0).then_some(count)
    }

    /// Number of CPUs that it has once a repair has added `added` of them.
    pub fn cpu_room(&self, added: u64) -> i64 {
        let room = added.saturating_add(to_u64(self.cpus.len()));
        i64::try_from(room).unwrap_or(i64::MAX)
    }
}

/// A process of a loom.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// Number of its loom.
    pub loom: usize,
    /// Its id.
    pub pid: i64,
    /// Which application it is of.
    pub app_id: Option<Found<i64>>,
    /// Its MPI rank.
    pub rank: Option<Found<i64>>,
    /// MPI processes there are.
    pub nranks: Option<Found<i64>>,
    /// Numbers of its streams.
    pub streams: Vec<usize>,
}

/// Where a stream belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    /// Number of its loom.
    pub loom: usize,
    /// Number of its process.
    pub process: usize,
    /// Its thread.
    pub tid: i64,
}

/// All of a trace.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// In the order in which streams name them.
    pub looms: Vec<Loom>,
    /// In the order in which streams name them.
    pub processes: Vec<Process>,
    /// Of each stream; `None` if its metadata and path do not say.
    pub seats: Vec<Option<Seat>>,
    /// Models that some thread requires.
    pub enabled: [bool; MODEL_COUNT],
    /// Types of marks: whether each is a stack.
    pub marks: BTreeMap<i32, bool>,
    /// Number of hardware counters.
    pub counters: Option<u64>,
}

/// Puts the streams together and reports where they contradict each other.
pub fn build(streams: &[StreamFiles], metas: &[Meta], report: &mut Report) -> System {
    let mut system = System::default();
    let mut looms: BTreeMap<String, usize> = BTreeMap::new();
    let mut processes: BTreeMap<(usize, i64), usize> = BTreeMap::new();
    let mut threads: BTreeMap<(usize, i64), (usize, Option<Span>)> = BTreeMap::new();
    let mut by_phyid: BTreeMap<usize, BTreeMap<i64, (i64, Span)>> = BTreeMap::new();
    if let Some(enabled) = system.enabled.first_mut() {
        *enabled = true;
    }
    for (number, (files, meta)) in streams.iter().zip(metas).enumerate() {
        let other_part = meta.part.as_deref().is_some_and(|part| part != "thread");
        let seat = if other_part || files.layout < 3 { None } else { identity(files, meta) };
        let Some((loom, pid, tid)) = seat else {
            system.seats.push(None);
            continue;
        };
        let next = system.looms.len();
        let loom_number = *looms.entry(loom.clone()).or_insert(next);
        if loom_number == next {
            system.looms.push(Loom { name: loom, ..Loom::default() });
        }
        let next = system.processes.len();
        let process = *processes.entry((loom_number, pid)).or_insert(next);
        if process == next {
            system.processes.push(Process { loom: loom_number, pid, ..Process::default() });
            if let Some(loom) = system.looms.get_mut(loom_number) {
                loom.processes.push(process);
            }
        }
        let mine = meta.tid.as_ref().map(|tid| tid.span);
        if let Some((_, first)) = threads.get(&(process, tid)) {
            duplicate(files, tid, pid, mine.or(*first), *first, report);
        } else {
            threads.insert((process, tid), (number, mine));
        }
        if let Some(loom) = system.looms.get_mut(loom_number) {
            loom.streams.push(number);
            cpus(loom, by_phyid.entry(loom_number).or_default(), meta, report);
        }
        if let Some(process) = system.processes.get_mut(process) {
            process.streams.push(number);
            agree("app_id", &mut process.app_id, &meta.app_id, report);
            agree("rank", &mut process.rank, &meta.rank, report);
            agree("nranks", &mut process.nranks, &meta.nranks, report);
        }
        for (enabled, version) in system.enabled.iter_mut().zip(meta.require) {
            *enabled |= version.is_some();
        }
        system.seats.push(Some(Seat { loom: loom_number, process, tid }));
    }
    let of_thread = |(seat, meta): (&Option<Seat>, &'_ Meta)| seat.is_some() && meta.readable;
    let threads = system.seats.iter().zip(metas).filter(|(seat, meta)| of_thread((seat, meta)));
    let metas: Vec<&Meta> = threads.map(|(_, meta)| meta).collect();
    marks(&mut system, &metas, report);
    counters(&mut system, &metas, report);
    system
}

/// Loom, process and thread of a stream, from its metadata or else from its path.
fn identity(files: &StreamFiles, meta: &Meta) -> Option<(String, i64, i64)> {
    let loom =
        meta.loom.as_ref().map(|loom| loom.value.clone()).or_else(|| files.hint.loom.clone());
    let pid = meta.pid.as_ref().map(|pid| pid.value).or(files.hint.pid);
    let tid = meta.tid.as_ref().map(|tid| tid.value).or(files.hint.tid);
    Some((loom?, pid?, tid?))
}

fn duplicate(
    files: &StreamFiles,
    tid: i64,
    pid: i64,
    span: Option<Span>,
    first: Option<Span>,
    report: &mut Report,
) {
    let dir = Untrusted(files.dir.as_bytes());
    let message = format!("thread {tid} of process {pid} has another stream than {dir:?}");
    let Some(span) = span else { return };
    let mut finding = Finding::new(&rules::DUPLICATE_THREAD, span, "stream.json:ovni.tid", message);
    if let Some(first) = first {
        finding = finding.related(first, "the first one");
    }
    report.push(finding);
}

/// Merges a value that all threads of a process share.
fn agree(
    key: &str,
    known: &mut Option<Found<i64>>,
    mine: &Option<Found<i64>>,
    report: &mut Report,
) {
    let Some(mine) = mine else { return };
    match known {
        None => *known = Some(mine.clone()),
        Some(known) if known.value != mine.value => {
            let message = format!(
                "{key} is {}, and {} for another thread of the process",
                mine.value, known.value
            );
            let path = format!("stream.json:ovni.{key}");
            let finding = Finding::new(&rules::METADATA_CONFLICT, mine.span, path, message);
            report.push(finding.related(known.span, "the other one"));
        }
        Some(_) => {}
    }
}

fn cpus(
    loom: &mut Loom,
    by_phyid: &mut BTreeMap<i64, (i64, Span)>,
    meta: &Meta,
    report: &mut Report,
) {
    const PATH: &str = "stream.json:ovni.loom_cpus";
    for cpu in &meta.cpus {
        match by_phyid.get(&cpu.phyid) {
            None => {
                by_phyid.insert(cpu.phyid, (cpu.index, cpu.span));
                loom.cpus.push((cpu.index, cpu.phyid, cpu.span));
            }
            Some((index, span)) if *index != cpu.index => {
                let message = format!(
                    "CPU with phyid {} has index {}, and {index} elsewhere",
                    cpu.phyid, cpu.index
                );
                let finding = Finding::new(&rules::METADATA_CONFLICT, cpu.span, PATH, message);
                report.push(finding.related(*span, "elsewhere"));
            }
            Some(_) => {}
        }
    }
}

fn marks(system: &mut System, metas: &[&Meta], report: &mut Report) {
    let mut known: BTreeMap<i32, (&str, bool, Span)> = BTreeMap::new();
    let mut labels: BTreeMap<(i32, i64), (&str, Span)> = BTreeMap::new();
    for mark in metas.iter().flat_map(|meta| &meta.marks) {
        let path = format!("stream.json:ovni.mark.{}", mark.kind);
        let mine = (mark.title.as_str(), mark.stack);
        let (title, stack, span) = *known.entry(mark.kind).or_insert((mine.0, mine.1, mark.span));
        if (title, stack) != mine {
            let message = format!("mark {} has another title or chan_type elsewhere", mark.kind);
            let finding = Finding::new(&rules::METADATA_CONFLICT, mark.span, path.clone(), message);
            report.push(finding.related(span, "elsewhere"));
        }
        for (value, label, span) in &mark.labels {
            let (other, first) =
                *labels.entry((mark.kind, *value)).or_insert((label.as_str(), *span));
            if other != label {
                let message = format!("value {value} of mark {} has two labels", mark.kind);
                let finding = Finding::new(&rules::METADATA_CONFLICT, *span, path.clone(), message);
                report.push(finding.related(first, "the other one"));
            }
        }
    }
    system.marks = known.into_iter().map(|(kind, (_, stack, _))| (kind, stack)).collect();
}

fn counters(system: &mut System, metas: &[&Meta], report: &mut Report) {
    let mut names: BTreeMap<i64, (&str, Span)> = BTreeMap::new();
    for meta in metas {
        let Some(counters) = &meta.counters else { continue };
        let count = u64::try_from(counters.len()).unwrap_or(u64::MAX);
        let span = counters.first().map(|counter| counter.span).or(meta.object);
        if let (Some(known), Some(span)) = (system.counters, span)
            && known != count
        {
            let message = format!("{count} counters are named here, {known} elsewhere");
            let path = "stream.json:nosv.hwc";
            report.push(Finding::new(&rules::METADATA_CONFLICT, span, path, message));
        }
        system.counters.get_or_insert(count);
        for counter in counters {
            let (name, first) =
                *names.entry(counter.index).or_insert((counter.name.as_str(), counter.span));
            if name != counter.name {
                let message = format!("counter {} has two names", counter.index);
                let path = format!("stream.json:nosv.hwc.{}", counter.index);
                let finding = Finding::new(&rules::METADATA_CONFLICT, counter.span, path, message);
                report.push(finding.related(first, "the other one"));
            }
        }
    }
}
