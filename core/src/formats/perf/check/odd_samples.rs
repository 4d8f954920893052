//! Samples with a value that contradicts the rest of the recording.
//!
//! One damaged field leaves a sample that readers show as one of another event, mode, thread or
//! time. Its size and its ids are right, so only the other samples and records show it: an event
//! that has no samples, a mode or a thread that nothing else in a long recording has, a time far
//! from those of its neighbours.

use std::collections::HashMap;

use super::tracepoints::TracepointData;
use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::decode::sample::PlainSample;
use crate::formats::perf::layout::{CPUMODE, CPUMODES, record as kind};
use crate::formats::perf::recover::doubt::{self, Named};
use crate::formats::perf::rules;
use crate::kit::cursor::Order;
use crate::kit::layer::LayerMap;
use crate::kit::num::to_usize;
use crate::kit::span::Span;
use crate::kit::words::plural;
use crate::model::{Finding, Report};

/// Samples that a recording has to have before one of them is odd.
const MANY: u64 = 64;
/// Samples that show in which mode code of one half of the addresses runs.
const SEVERAL: u64 = 8;
/// Threads of samples that are remembered, of some 200 bytes: with more, none is odd. A machine has
/// some thousands.
const THREADS_MAX: usize = 1 << 16;
/// Threads that are compared without a map.
const RECENT: usize = 256;
/// Nanoseconds between samples that follow one another: perf reads all buffers whenever one of them
/// is filled, and at its end.
const NEAR_TIME: u64 = 10_000_000_000;
/// Nanoseconds by which a time is far from both of its neighbours: an hour.
const FAR_TIME: u64 = 3_600_000_000_000;
/// Times that are reported.
const KEPT: usize = 8;
/// The first address of the half that the kernel has.
const KERNEL: u64 = 1 << 63;
/// The page in that half that users run.
const VSYSCALL: u64 = 0xffff_ffff_ff60_0000;
/// The modes, by the lowest bits of `misc`.
const MODES: [&str; 8] = [
    "unknown",
    "kernel",
    "user",
    "hypervisor",
    "guest kernel",
    "guest user",
    "not defined",
    "not defined",
];

/// The evidence of the values of samples.
#[derive(Default)]
pub(super) struct SampleEvidence {
    /// The data of tracepoints against their events.
    pub(super) tracepoints: TracepointData,
    /// Samples that contradict the rest.
    pub(super) odd: OddSamples,
}

/// Where a sample is.
#[derive(Clone, Copy, Debug)]
struct SamplePlace {
    span: Span,
    stored: Option<Span>,
    index: u64,
}

impl SamplePlace {
    fn of(record: &RecordView<'_>, map: &LayerMap) -> Self {
        let span = record.span();
        let stored = map.stored(span).filter(|_| !span.layer.is_stored());
        Self { span, stored, index: record.place.index }
    }
}

/// Samples that share a value, and the first of them.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    count: u64,
    first: Option<SamplePlace>,
}

impl Group {
    #[inline]
    fn add(&mut self, record: &RecordView<'_>, map: &LayerMap) {
        self.count = self.count.saturating_add(1);
        if self.first.is_none() {
            self.first = Some(SamplePlace::of(record, map));
        }
    }

    /// Returns the only sample of the group.
    fn only(&self) -> Option<SamplePlace> {
        self.first.filter(|_| self.count == 1)
    }
}

/// Process and thread.
type Thread = (u32, u32);

/// Collects the values of samples.
#[derive(Default)]
pub(super) struct OddSamples {
    samples: u64,
    /// Samples of each mode, at addresses of users and of the kernel, up to [`SEVERAL`].
    modes: [[Group; 2]; CPUMODES],
    /// The modes and halves of which there are as many, a bit each.
    usual_modes: u16,
    threads: HashMap<Thread, Group>,
    /// The last threads by the lowest bits of `tid`, and whether each has more samples than one:
    /// a map is asked for the others alone.
    recent: Vec<(Thread, bool)>,
    /// The names in other records.
    named: Named,
    /// Records were lost, or threads are not remembered.
    is_partial: bool,
    /// Samples of events that have none.
    dummies: Group,
    /// Samples with the data of another tracepoint of the recording, and those with their own.
    foreign: (Group, u64),
    clock: Clock,
}

impl OddSamples {
    /// Notes a record that is not a sample.
    pub(super) fn note(&mut self, record: &RecordView<'_>, order: Order) {
        self.is_partial |= record.frame.kind == kind::LOST;
        self.named.note_thread(record, order);
    }

    /// Notes whether the data of a tracepoint's sample are those of its event.
    pub(super) fn note_data(&mut self, is_own: bool, record: &RecordView<'_>, map: &LayerMap) {
        let (foreign, own) = &mut self.foreign;
        if is_own {
            *own = own.saturating_add(1);
        } else {
            foreign.add(record, map);
        }
    }

    /// Notes a sample that can be read.
    #[inline]
    pub(super) fn observe(
        &mut self,
        values: &PlainSample,
        events: &Events,
        record: &RecordView<'_>,
        map: &LayerMap,
    ) {
        self.samples = self.samples.saturating_add(1);
        if values.attr.is_some_and(|attr| events.is_dummy(attr)) {
            self.dummies.add(record, map);
        }
        if let Some(ip) = values.ip {
            let half = u16::from((KERNEL..VSYSCALL).contains(&ip));
            let mode = record.frame.misc & CPUMODE;
            let bit = 1_u16.wrapping_shl(u32::from(mode << 1 | half));
            if self.usual_modes & bit == 0 {
                let place = (usize::from(mode), usize::from(half));
                self.count_mode(place, bit, record, map);
            }
        }
        if let Some(thread) = values.thread {
            let slot = to_usize(u64::from(thread.1)) % RECENT;
            if self.recent.get(slot) != Some(&(thread, true)) {
                self.count_thread(slot, thread, record, map);
            }
        }
        if let Some(time) = values.time {
            self.clock.observe(time, record, map);
        }
    }

    #[cold]
    fn count_mode(
        &mut self,
        (mode, half): (usize, usize),
        bit: u16,
        record: &RecordView<'_>,
        map: &LayerMap,
    ) {
        let halves = self.modes.get_mut(mode);
        let Some(group) = halves.and_then(|halves| halves.get_mut(half)) else { return };
        group.add(record, map);
        if group.count >= SEVERAL {
            self.usual_modes |= bit;
        }
    }

    #[cold]
    fn count_thread(
        &mut self,
        slot: usize,
        thread: Thread,
        record: &RecordView<'_>,
        map: &LayerMap,
    ) {
        self.recent.resize(RECENT, ((0, 0), false));
        if self.threads.len() >= THREADS_MAX {
            self.is_partial = true;
            return;
        }
        let group = self.threads.entry(thread).or_default();
        group.add(record, map);
        if let Some(last) = self.recent.get_mut(slot) {
            *last = (thread, group.count > 1);
        }
    }

    /// Reports the samples. `is_timed` tells whether SAMPLE_TIME has the times of the samples,
    /// which then have findings of their own.
    pub(super) fn finish(&mut self, is_timed: bool, report: &mut Report) {
        if let Some(first) = self.dummies.first {
            let samples = plural(self.dummies.count, "sample");
            let message = format!("{samples} of dummy, an event that counts nothing");
            report.push(describe(first, ".id", message));
        }
        let (foreign, own) = &self.foreign;
        if let Some(first) = foreign.first.filter(|_| foreign.count <= *own) {
            let samples = plural(foreign.count, "sample");
            let message = format!("common_type of {samples} is that of another event than the id");
            report.push(describe(first, ".raw", message));
        }
        if self.samples < MANY {
            return;
        }
        self.report_modes(report);
        self.report_thread(report);
        // More than a few are another clock.
        let is_odd = !is_timed && self.clock.odd.len() <= KEPT;
        for (place, time) in self.clock.odd.iter().filter(|_| is_odd) {
            let message = format!(
                "time is {time}, more than an hour from those of the samples before and after it"
            );
            report.push(describe(*place, ".time", message));
        }
    }

    fn count_of(&self, mode: usize, half: usize) -> u64 {
        self.modes.get(mode).and_then(|halves| halves.get(half)).map_or(0, |group| group.count)
    }

    fn report_modes(&self, report: &mut Report) {
        let [kernel, user] = [self.count_of(1, 1), self.count_of(2, 0)];
        let guests = [4, 5].map(|mode| [0, 1].map(|half| self.count_of(mode, half)));
        let guests = guests.as_flattened().iter().fold(0_u64, |sum, one| sum.saturating_add(*one));
        for (mode, halves) in self.modes.iter().enumerate() {
            for (half, group) in halves.iter().enumerate() {
                let is_odd = match (mode, half) {
                    (1, 0) => kernel >= SEVERAL,
                    (2, 1) => user >= SEVERAL,
                    (1 | 2, _) => false,
                    (4 | 5, _) => guests == 1,
                    _ => true,
                };
                let Some(place) = group.only().filter(|_| is_odd) else { continue };
                let name = MODES.get(mode).copied().unwrap_or_default();
                let space = if half == 0 { "user" } else { "kernel" };
                let message = format!(
                    "mode is {mode} ({name}) at an address of the {space}, unlike that of all \
                     other {}",
                    plural(self.samples.saturating_sub(1), "sample")
                );
                report.push(describe(place, ".misc", message));
            }
        }
    }

    /// Reports the only sample of the only thread that no record names.
    fn report_thread(&mut self, report: &mut Report) {
        if self.is_partial || self.threads.len() < 2 {
            return;
        }
        let names = [&self.named];
        let unnamed = self.threads.iter().filter(|((pid, _), _)| *pid != u32::MAX);
        let mut unnamed = unnamed.filter(|(thread, _)| !doubt::has_thread(&names, **thread));
        let (Some(((pid, tid), group)), None) = (unnamed.next(), unnamed.next()) else { return };
        let Some(place) = group.only() else { return };
        let message = format!(
            "pid {pid} and tid {tid} are not in any COMM, FORK or MMAP, unlike those of all other \
             samples"
        );
        report.push(describe(place, ".tid", message));
    }
}

/// Times that are far from those of the sample before and of the one after.
#[derive(Default)]
struct Clock {
    /// The time of the last sample that is not odd.
    before: u64,
    /// A time far from it, until the next one is known.
    pending: Option<(SamplePlace, u64)>,
    odd: Vec<(SamplePlace, u64)>,
}

impl Clock {
    #[inline]
    fn observe(&mut self, time: u64, record: &RecordView<'_>, map: &LayerMap) {
        let is_far = self.before > 0 && time.abs_diff(self.before) > FAR_TIME;
        if self.pending.is_some() || is_far {
            self.observe_far(time, is_far, record, map);
        } else {
            self.before = time;
        }
    }

    #[cold]
    fn observe_far(&mut self, time: u64, is_far: bool, record: &RecordView<'_>, map: &LayerMap) {
        let Some((place, odd)) = self.pending.take() else {
            self.pending = is_far.then(|| (SamplePlace::of(record, map), time));
            return;
        };
        let is_alone = time.abs_diff(self.before) <= NEAR_TIME && time.abs_diff(odd) > FAR_TIME;
        if is_alone && self.odd.len() <= KEPT {
            self.odd.push((place, odd));
        }
        self.before = time;
    }
}

fn describe(place: SamplePlace, field: &str, message: String) -> Finding {
    let stream = if place.span.layer.is_stored() { "data" } else { "expanded" };
    let path = format!("{stream}.record[{}]{field}", place.index);
    let mut finding = Finding::new(&rules::SAMPLE_CONTRADICTED, place.span, path, message);
    finding.stored = place.stored;
    finding
}
