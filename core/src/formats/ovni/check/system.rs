//! All metadata together: looms, processes, threads, and where streams contradict each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::formats::ovni::decode::files::StreamFiles;
use crate::formats::ovni::decode::trace::Trace;
use crate::formats::ovni::repair::aside::set_aside;
use crate::formats::ovni::rules;
use crate::formats::ovni::state::metadata::{Located, Metadata};
use crate::formats::ovni::state::system::{Loom, Process, StreamOwner, System};
use crate::kit::span::Span;
use crate::kit::text::Untrusted;
use crate::model::{Finding, Report};

/// Puts the streams together and reports where they contradict each other.
pub fn build_system(trace: &Trace<'_, '_>, metas: &[Metadata], report: &mut Report) -> System {
    let streams = &trace.files.streams;
    let mut builder = SystemBuilder {
        trace,
        system: System::default(),
        looms: BTreeMap::new(),
        processes: BTreeMap::new(),
        threads: BTreeMap::new(),
        cpus: BTreeMap::new(),
        report,
    };
    // The model ovni is always enabled.
    if let Some(enabled) = builder.system.enabled.first_mut() {
        *enabled = true;
    }
    for (number, (files, metadata)) in streams.iter().zip(metas).enumerate() {
        let owner = builder.add_stream(number, files, metadata);
        builder.system.owners.push(owner);
    }
    let SystemBuilder { mut system, report, .. } = builder;
    let owned = system.owners.iter().zip(metas);
    let owned = owned.filter(|(owner, metadata)| owner.is_some() && metadata.is_readable);
    let metas: Vec<&Metadata> = owned.map(|(_, metadata)| metadata).collect();
    merge_marks(&mut system, &metas, report);
    merge_counters(&mut system, &metas, report);
    system
}

struct SystemBuilder<'r, 't, 'a> {
    trace: &'t Trace<'t, 'a>,
    system: System,
    /// Number of each loom, by its name.
    looms: BTreeMap<String, usize>,
    /// Number of each process, by its loom and id.
    processes: BTreeMap<(usize, i64), usize>,
    /// Number of the first stream of each thread, and the place of its `tid`, by its process and
    /// id.
    threads: BTreeMap<(usize, i64), (usize, Option<Span>)>,
    /// The CPUs of each loom: index and physical id.
    cpus: BTreeMap<usize, BTreeSet<(i64, i64)>>,
    report: &'r mut Report,
}

impl SystemBuilder<'_, '_, '_> {
    fn add_stream(
        &mut self,
        number: usize,
        files: &StreamFiles,
        metadata: &Metadata,
    ) -> Option<StreamOwner> {
        if metadata.is_other_part() || files.layout < 3 {
            return None;
        }
        let (name, pid, tid) = identify(files, metadata)?;
        let loom = self.loom_number(name);
        let process = self.process_number(loom, pid);
        let span = metadata.identity.tid.as_ref().map(|tid| tid.span);
        match self.threads.get(&(process, tid)).copied() {
            Some((first, place)) => {
                let is_copy = self.report_duplicate((number, first), (pid, tid), (span, place));
                if is_copy {
                    return None;
                }
            }
            None => drop(self.threads.insert((process, tid), (number, span))),
        }
        if let Some(found) = self.system.looms.get_mut(loom) {
            found.streams.push(number);
            merge_cpus(found, self.cpus.entry(loom).or_default(), metadata);
        }
        if let Some(found) = self.system.processes.get_mut(process) {
            found.streams.push(number);
            let keys = &metadata.process;
            merge_shared_value("app_id", &mut found.app_id, &keys.app_id, found.pid, self.report);
            merge_shared_value("rank", &mut found.rank, &keys.rank, found.pid, self.report);
            merge_shared_value("nranks", &mut found.nranks, &keys.nranks, found.pid, self.report);
        }
        for (enabled, version) in self.system.enabled.iter_mut().zip(metadata.required()) {
            *enabled |= version.is_some();
        }
        Some(StreamOwner { loom, process, tid })
    }

    /// Reports the second stream of a thread; returns whether it is a copy of the first one.
    fn report_duplicate(
        &mut self,
        (second, first): (usize, usize),
        (pid, tid): (i64, i64),
        (span, first_span): (Option<Span>, Option<Span>),
    ) -> bool {
        let streams = &self.trace.files.streams;
        let (Some(files), Some(original)) = (streams.get(second), streams.get(first)) else {
            return false;
        };
        let is_copy = self.trace.has_equal_files(files, original);
        let Some(span) = span.or(first_span) else { return is_copy };
        let (dir, other) = (Untrusted(files.dir.as_bytes()), Untrusted(original.dir.as_bytes()));
        let message = if is_copy {
            format!("duplicate thread {tid} of process {pid}: {dir:?} is a copy of {other:?}")
        } else {
            format!("duplicate thread {tid} of process {pid}: {dir:?} is its second stream")
        };
        let path = "stream.json:ovni.tid";
        let mut finding = Finding::new(&rules::DUPLICATE_THREAD, span, path, message);
        if let Some(first) = first_span {
            finding = finding.related(first, "first stream of the thread");
        }
        // Without equal files, the one whose directory has another name than libovni gives it.
        let is_named = |files: &StreamFiles| files.path_identity.tid == Some(tid);
        let extra =
            if is_copy || !is_named(files) || is_named(original) { files } else { original };
        self.report.push(finding.fix_if(set_aside(extra, is_copy)));
        is_copy
    }

    fn loom_number(&mut self, name: String) -> usize {
        let next = self.system.looms.len();
        let number = *self.looms.entry(name.clone()).or_insert(next);
        if number == next {
            self.system.looms.push(Loom { name, ..Loom::default() });
        }
        number
    }

    fn process_number(&mut self, loom: usize, pid: i64) -> usize {
        let next = self.system.processes.len();
        let number = *self.processes.entry((loom, pid)).or_insert(next);
        if number == next {
            self.system.processes.push(Process { loom, pid, ..Process::default() });
            if let Some(loom) = self.system.looms.get_mut(loom) {
                loom.processes.push(number);
            }
        }
        number
    }
}

/// Loom, process and thread of a stream, from its metadata or else from its path.
fn identify(files: &StreamFiles, metadata: &Metadata) -> Option<(String, i64, i64)> {
    let (keys, path) = (&metadata.identity, &files.path_identity);
    let loom = keys.loom.as_ref().map(|loom| loom.value.clone()).or_else(|| path.loom.clone());
    let pid = keys.pid.as_ref().map(|pid| pid.value).or(path.pid);
    let tid = keys.tid.as_ref().map(|tid| tid.value).or(path.tid);
    Some((loom?, pid?, tid?))
}

/// Merges a value that all threads of a process share.
fn merge_shared_value(
    key: &str,
    known: &mut Option<Located<i64>>,
    found: &Option<Located<i64>>,
    pid: i64,
    report: &mut Report,
) {
    let Some(found) = found else { return };
    match known {
        None => *known = Some(found.clone()),
        Some(known) if known.value != found.value => {
            let message = format!(
                "inconsistent `ovni.{key}`: {} here, {} in another thread of process {pid}",
                found.value, known.value
            );
            let path = format!("stream.json:ovni.{key}");
            let finding = Finding::new(&rules::METADATA_CONFLICT, found.span, path, message);
            report.push(finding.related(known.span, "value in the other thread"));
        }
        Some(_) => {}
    }
}

/// Adds the CPUs of a stream that none before it has defined in the same way.
fn merge_cpus(loom: &mut Loom, known: &mut BTreeSet<(i64, i64)>, metadata: &Metadata) {
    let cpus = metadata.definitions.cpus.iter();
    let new = cpus.filter(|cpu| cpu.index < 0 || known.insert((cpu.index, cpu.phyid)));
    loom.cpus.extend(new.map(|cpu| (cpu.index, cpu.phyid, cpu.span)));
}

fn merge_marks(system: &mut System, metas: &[&Metadata], report: &mut Report) {
    let mut known: BTreeMap<i32, (&str, bool, Span)> = BTreeMap::new();
    let mut labels: BTreeMap<(i32, i64), (&str, Span)> = BTreeMap::new();
    for mark in metas.iter().flat_map(|metadata| &metadata.definitions.marks) {
        let path = format!("stream.json:ovni.mark.{}", mark.number);
        let found = (mark.title.as_str(), mark.is_stack, mark.span);
        let (title, is_stack, span) = *known.entry(mark.number).or_insert(found);
        if (title, is_stack) != (found.0, found.1) {
            let message = format!(
                "inconsistent mark type {}: another title or chan_type elsewhere",
                mark.number
            );
            let finding = Finding::new(&rules::METADATA_CONFLICT, mark.span, path.clone(), message);
            report.push(finding.related(span, "other definition"));
        }
        for (value, label, span) in &mark.labels {
            let (other, first) =
                *labels.entry((mark.number, *value)).or_insert((label.as_str(), *span));
            if other != label {
                let message =
                    format!("inconsistent label of value {value} of mark type {}", mark.number);
                let finding = Finding::new(&rules::METADATA_CONFLICT, *span, path.clone(), message);
                report.push(finding.related(first, "other label"));
            }
        }
    }
    system.marks = known.into_iter().map(|(number, (_, is_stack, _))| (number, is_stack)).collect();
}

fn merge_counters(system: &mut System, metas: &[&Metadata], report: &mut Report) {
    let mut names: BTreeMap<i64, (&str, Span)> = BTreeMap::new();
    for metadata in metas {
        let Some(counters) = &metadata.definitions.counters else { continue };
        let count = u64::try_from(counters.len()).unwrap_or(u64::MAX);
        let span = counters.first().map(|counter| counter.span).or(metadata.object);
        if let (Some(known), Some(span)) = (system.counters, span)
            && known != count
        {
            let message =
                format!("inconsistent `nosv.hwc`: {count} counters here, {known} elsewhere");
            let path = "stream.json:nosv.hwc";
            report.push(Finding::new(&rules::METADATA_CONFLICT, span, path, message));
        }
        system.counters.get_or_insert(count);
        for counter in counters {
            let (name, first) =
                *names.entry(counter.index).or_insert((counter.name.as_str(), counter.span));
            if name != counter.name {
                let message = format!("inconsistent name of hardware counter {}", counter.index);
                let path = format!("stream.json:nosv.hwc.{}", counter.index);
                let finding = Finding::new(&rules::METADATA_CONFLICT, counter.span, path, message);
                report.push(finding.related(first, "other name"));
            }
        }
    }
}
