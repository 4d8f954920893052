//! Threads on CPUs: who runs where, and who moves whom.

use std::collections::BTreeMap;

use crate::formats::ovni::check::log::Log;
use crate::formats::ovni::check::occurrence::Occurrence;
use crate::formats::ovni::check::shared_event::SharedEffect;
use crate::formats::ovni::check::ties::{SharedThing, Ties};
use crate::formats::ovni::layout::EVENT_HEADER;
use crate::formats::ovni::limits::LOOM_CPUS;
use crate::formats::ovni::repair::encode::encode_event;
use crate::formats::ovni::repair::{build_fix, drop_event};
use crate::formats::ovni::rules;
use crate::formats::ovni::state::summary::{MissingCpu, ThreadPlacement};
use crate::formats::ovni::state::system::System;
use crate::kit::span::Span;
use crate::model::edit::{Edit, Fix};
use crate::model::limits::Limits;

/// CPU of a thread that is on none: the virtual CPU.
const VIRTUAL_CPU: i32 = -1;

/// A thread as the others see it.
#[derive(Clone, Copy, Debug, Default)]
struct ThreadView {
    presence: Presence,
    placement: ThreadPlacement,
    /// Its stream ended before it: a repair ends it there.
    is_cut: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Presence {
    #[default]
    Unknown,
    Running,
    Stopped,
    Dead,
}

/// CPUs of a loom.
#[derive(Debug)]
struct LoomCpus {
    /// Number of CPUs, if they are numbered 0 to N-1.
    count: Option<i64>,
    /// Number of CPUs after a repair has added as many as it may.
    room: i64,
    /// Stream of the thread that runs on each physical CPU.
    running: BTreeMap<i32, usize>,
    missing: Option<MissingCpu>,
}

/// All threads and CPUs.
#[derive(Debug)]
pub struct Placement<'t> {
    system: &'t System,
    looms: Vec<LoomCpus>,
    views: Vec<ThreadView>,
    /// Stream of each thread, by its process and id.
    by_process: BTreeMap<(usize, i64), usize>,
    /// Stream of each thread, by its loom and id.
    by_loom: BTreeMap<(usize, i64), usize>,
    /// Clock of the event that is applied, in the time of the trace.
    now: i128,
    ties: Ties,
}

impl<'t> Placement<'t> {
    /// Starts with no thread on any CPU.
    pub fn new(system: &'t System, streams: usize, limits: &Limits) -> Self {
        let (mut by_process, mut by_loom) = (BTreeMap::new(), BTreeMap::new());
        for (stream, owner) in system.owners.iter().enumerate() {
            let Some(owner) = owner else { continue };
            by_process.entry((owner.process, owner.tid)).or_insert(stream);
            by_loom.entry((owner.loom, owner.tid)).or_insert(stream);
        }
        let looms = system.looms.iter().map(|loom| LoomCpus {
            count: loom.cpu_count(),
            room: loom.cpu_room(limits.of(&LOOM_CPUS)),
            running: BTreeMap::new(),
            missing: None,
        });
        let views = vec![ThreadView::default(); streams];
        let (looms, now, ties) = (looms.collect(), i128::MIN, Ties::default());
        Self { system, looms, views, by_process, by_loom, now, ties }
    }

    /// Returns the CPU of each thread, and the CPUs that each loom lacks.
    pub fn finish(self) -> (Vec<ThreadPlacement>, BTreeMap<usize, MissingCpu>) {
        let placements = self.views.iter().map(|view| view.placement).collect();
        let missing = self.looms.iter().enumerate();
        (placements, missing.filter_map(|(loom, cpus)| Some((loom, cpus.missing?))).collect())
    }

    /// Returns whether two threads have changed a CPU or a thread at one clock.
    pub const fn has_ties(&self) -> bool {
        self.ties.is_found()
    }

    /// Returns the stream of the thread that runs on the CPU that an event takes, if it is another
    /// one.
    pub fn find_runner(&self, stream: usize, effect: SharedEffect) -> Option<usize> {
        let cpu = match effect {
            SharedEffect::Start(cpu) | SharedEffect::Move(cpu) => Some(cpu),
            SharedEffect::Run => self.view(stream).placement.cpu,
            _ => None,
        };
        let loom = self.looms.get(self.system.owner(stream)?.loom)?;
        loom.running.get(&cpu.filter(|cpu| *cpu >= 0)?).copied().filter(|other| *other != stream)
    }

    /// Applies an event about threads and CPUs.
    pub fn apply(&mut self, occurrence: &Occurrence<'_, '_, '_>, log: &mut Log) {
        let stream = occurrence.stream;
        if occurrence.event.effect == SharedEffect::Nothing {
            return;
        }
        self.now = occurrence.time;
        self.ties.note(self.now, SharedThing::Thread(stream), stream);
        match occurrence.event.effect {
            SharedEffect::Start(cpu) => {
                self.set_presence(stream, Presence::Stopped);
                self.assign_cpu(stream, occurrence, cpu, log);
                self.start(stream, occurrence, log);
            }
            SharedEffect::Run => self.start(stream, occurrence, log),
            SharedEffect::Stop => self.stop(stream, Presence::Stopped, stream),
            SharedEffect::End => {
                self.stop(stream, Presence::Dead, stream);
                if let Some(view) = self.views.get_mut(stream) {
                    view.placement.cpu = None;
                }
            }
            SharedEffect::Move(cpu) => self.move_self(occurrence, cpu, log),
            SharedEffect::MoveOther(cpu, tid) => self.move_other(occurrence, cpu, tid, log),
            SharedEffect::EndOfStream => {
                let Some(view) = self.views.get_mut(stream) else { return };
                view.is_cut = true;
                let presence = view.presence;
                self.stop(stream, presence, stream);
            }
            _ => {}
        }
    }

    fn view(&self, stream: usize) -> ThreadView {
        self.views.get(stream).copied().unwrap_or_default()
    }

    fn set_presence(&mut self, stream: usize, presence: Presence) {
        if let Some(view) = self.views.get_mut(stream) {
            view.presence = presence;
        }
    }

    fn loom_mut(&mut self, stream: usize) -> Option<&mut LoomCpus> {
        let loom = self.system.owner(stream)?.loom;
        self.looms.get_mut(loom)
    }

    /// OAs.
    fn move_self(&mut self, occurrence: &Occurrence<'_, '_, '_>, cpu: i32, log: &mut Log) {
        let stream = occurrence.stream;
        let view = self.view(stream);
        if view.placement.cpu == Some(cpu) {
            return;
        }
        self.stop(stream, Presence::Stopped, stream);
        self.assign_cpu(stream, occurrence, cpu, log);
        if view.presence == Presence::Running {
            self.start(stream, occurrence, log);
        }
    }

    /// Gives a thread that does not run another CPU.
    fn assign_cpu(
        &mut self,
        stream: usize,
        occurrence: &Occurrence<'_, '_, '_>,
        cpu: i32,
        log: &mut Log,
    ) {
        if let Some(view) = self.views.get_mut(stream) {
            view.placement.cpu = Some(cpu);
        }
        let Some(loom) = self.loom_mut(stream) else { return };
        let is_defined = loom.count.is_some_and(|count| (0..count).contains(&i64::from(cpu)));
        if cpu == VIRTUAL_CPU || is_defined {
            return;
        }
        if cpu < VIRTUAL_CPU || i64::from(cpu) >= loom.room {
            report_no_cpu(occurrence, cpu, loom.room, log);
            return;
        }
        let missing = loom.missing.get_or_insert(MissingCpu {
            span: occurrence.span(),
            number: occurrence.number(),
            highest: cpu,
        });
        missing.highest = missing.highest.max(cpu);
    }

    /// A thread starts to run on its CPU.
    fn start(&mut self, stream: usize, occurrence: &Occurrence<'_, '_, '_>, log: &mut Log) {
        self.set_presence(stream, Presence::Running);
        let cpu = self.view(stream).placement.cpu.filter(|cpu| *cpu >= 0);
        let (Some(cpu), Some(loom)) = (cpu, self.loom_mut(stream)) else { return };
        let other = loom.running.insert(cpu, stream).filter(|other| *other != stream);
        self.note_cpu(stream, cpu, occurrence.stream);
        if let Some(other) = other {
            let fix = self.leave_cpu(stream, occurrence);
            if let (Some(_), Some(loom)) = (&fix, self.loom_mut(stream)) {
                // The repair leaves the other thread on the CPU.
                loom.running.insert(cpu, other);
            }
            if let (Some(_), Some(view)) = (&fix, self.views.get_mut(stream)) {
                view.placement.cpu = Some(VIRTUAL_CPU);
            }
            let tid = |stream: usize| self.system.owner(stream).map_or(0, |owner| owner.tid);
            let message = format!(
                "thread {} starts to run on CPU {cpu}, but thread {} runs there",
                tid(stream),
                tid(other)
            );
            log.push(occurrence.finding(&rules::CPU_CONFLICT, message).fix_if(fix));
        }
    }

    /// Takes note that an event of stream `by` changes the CPU of the thread of a stream.
    fn note_cpu(&mut self, stream: usize, cpu: i32, by: usize) {
        if let Some(owner) = self.system.owner(stream) {
            self.ties.note(self.now, SharedThing::Cpu(owner.loom, cpu), by);
        }
    }

    /// Returns the fix that starts a thread on the virtual CPU instead.
    fn leave_cpu(&self, stream: usize, occurrence: &Occurrence<'_, '_, '_>) -> Option<Fix> {
        if occurrence.event.effect != SharedEffect::Run {
            return set_virtual(occurrence);
        }
        let tid = i32::try_from(self.system.owner(stream)?.tid).ok()?;
        let payload = [VIRTUAL_CPU.to_le_bytes(), tid.to_le_bytes()].concat();
        let bytes = encode_event(*b"OAr", occurrence.event.clock, &payload);
        let place = Span::new(occurrence.layer, occurrence.event.at, occurrence.event.at);
        Some(build_fix("move the thread to the virtual CPU", vec![Edit::replace(place, bytes)]))
    }

    /// A thread does not run any more.
    fn stop(&mut self, stream: usize, presence: Presence, by: usize) {
        self.set_presence(stream, presence);
        let cpu = self.view(stream).placement.cpu;
        let (Some(cpu), Some(loom)) = (cpu, self.loom_mut(stream)) else { return };
        if loom.running.get(&cpu) == Some(&stream) {
            loom.running.remove(&cpu);
            self.note_cpu(stream, cpu, by);
        }
    }

    /// OAr.
    fn move_other(
        &mut self,
        occurrence: &Occurrence<'_, '_, '_>,
        cpu: i32,
        tid: i32,
        log: &mut Log,
    ) {
        let Some(owner) = self.system.owner(occurrence.stream) else { return };
        let id = i64::from(tid);
        let target = self.by_process.get(&(owner.process, id));
        let target = target.or_else(|| self.by_loom.get(&(owner.loom, id))).copied();
        let Some(target) = target else {
            let message = format!("OAr moves thread {tid}, which is not in the loom");
            let finding = occurrence.finding(&rules::REMOTE_TARGET, message);
            log.push(finding.fix(drop_event(occurrence.span())));
            return;
        };
        self.ties.note(self.now, SharedThing::Thread(target), occurrence.stream);
        let view = self.view(target);
        if view.is_cut && view.presence != Presence::Dead {
            // A repair ends the thread after this event, and keeps it off its CPU until then.
            if let Some(view) = self.views.get_mut(target) {
                view.placement.moved_after_end = Some((occurrence.event.clock, cpu));
            }
            return;
        }
        let fault = match view.presence {
            Presence::Unknown => Some("has not started".to_string()),
            Presence::Dead => Some("has ended".to_string()),
            _ if view.placement.cpu == Some(cpu) => Some(format!("is on CPU {cpu} already")),
            _ => None,
        };
        if let Some(fault) = fault {
            let message = format!("OAr moves thread {tid}, which {fault}");
            let finding = occurrence.finding(&rules::REMOTE_TARGET, message);
            log.push(finding.fix(drop_event(occurrence.span())));
            return;
        }
        self.stop(target, Presence::Stopped, occurrence.stream);
        self.assign_cpu(target, occurrence, cpu, log);
        if view.presence == Presence::Running {
            self.start(target, occurrence, log);
        }
    }
}

/// Reports a CPU that does not exist and cannot be added.
#[cold]
fn report_no_cpu(occurrence: &Occurrence<'_, '_, '_>, cpu: i32, room: i64, log: &mut Log) {
    let highest = room.saturating_sub(1);
    let message = format!("CPU {cpu} is out of range, expected -1 or 0 to {highest}");
    let mut finding = occurrence.finding(&rules::NO_CPU, message);
    finding.path = format!("event[{}].cpu", occurrence.number()).into();
    log.push(finding.fix_if(set_virtual(occurrence)));
}

/// Returns the fix that sets the CPU of an event to the virtual one. An event with an unexpected
/// payload has a finding of its own.
fn set_virtual(occurrence: &Occurrence<'_, '_, '_>) -> Option<Fix> {
    let payload = match occurrence.event.effect {
        SharedEffect::Start(_) => 16,
        SharedEffect::MoveOther(..) => 8,
        _ => 4,
    };
    let is_usual = u64::from(occurrence.event.len) == EVENT_HEADER.saturating_add(payload);
    let start = occurrence.event.at.saturating_add(EVENT_HEADER);
    let field = Span::sized(occurrence.layer, start, 4);
    let edit = Edit::replace(field, VIRTUAL_CPU.to_le_bytes());
    let summary = "set the CPU to -1 (the virtual CPU)";
    is_usual.then(|| build_fix(summary, vec![edit]).altered(1))
}
