//! Which of the records in damaged expanded bytes the rest of the recording contradicts.
//!
//! After a changed byte a zstd block can expand without a fault, to records with fields of others:
//! their sizes and ids are right, and their values never existed. A compressed record holds the
//! bytes of one ring buffer, whose times do not step back, so false times stand out among them.
//! Where most of the times around a record are false, its own is in order by chance.

use std::collections::BTreeSet;

use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::layout::record;
use crate::kit::cursor::Order;

/// Timed records on each side of one that are looked at.
const NEAR: usize = 4;
/// The highest number of a thread, `PID_MAX_LIMIT` of include/linux/threads.h.
const THREAD_MAX: u32 = 4 << 20;

/// A process and one of its threads.
type Thread = (u32, u32);

/// The threads that other records than samples name.
#[derive(Clone, Debug, Default)]
pub struct Threads(BTreeSet<Thread>);

impl Threads {
    /// Notes the threads that a record names.
    pub fn note(&mut self, record: &RecordView<'_>, order: Order) {
        let mut body = record.cursor(order);
        let mut next = || body.u32("thread").ok();
        let named = match record.frame.kind {
            record::COMM | record::MMAP | record::MMAP2 | record::NAMESPACES => {
                next().zip(next())
            }
            record::FORK | record::EXIT => {
                let (pid, _, tid) = (next(), next(), next());
                pid.zip(tid)
            }
            _ => None,
        };
        self.0.extend(named.filter(|(pid, tid)| *pid.max(tid) <= THREAD_MAX));
    }
}

/// What of a record can contradict others.
#[derive(Clone, Copy, Debug)]
pub struct Testimony {
    time: Option<u64>,
    /// The thread of a sample.
    thread: Option<Thread>,
    kind: Kind,
}

/// What bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sample,
    Other,
    /// No record, or one that contradicts the events.
    Damaged,
}

impl Testimony {
    /// That of bytes that are not a record.
    pub const DAMAGE: Self = Self { time: None, thread: None, kind: Kind::Damaged };

    /// Takes that of a record.
    pub fn of(record: &RecordView<'_>, events: &Events) -> Self {
        if events.weigh(record) == 0 {
            return Self::DAMAGE;
        }
        let origin = events.origin_of(record).unwrap_or_default();
        let is_sample = record.frame.kind == record::SAMPLE;
        let time = origin.time.filter(|time| *time > 0);
        let thread = origin.pid.zip(origin.tid).filter(|_| is_sample);
        Self { time, thread, kind: if is_sample { Kind::Sample } else { Kind::Other } }
    }
}

/// The verdict about the records of a stream.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// For each record, whether it is believed.
    pub believed: Vec<bool>,
    /// Number of records that are believed.
    pub kept: u64,
    /// Number of records that are not.
    pub dropped: u64,
    /// Number of samples among those that may have wrong values.
    pub doubtful: u64,
}

impl Verdict {
    fn add(&mut self, one: Testimony, is_believed: bool) {
        self.believed.push(is_believed);
        let (is_record, is_sample) = (one.kind != Kind::Damaged, one.kind == Kind::Sample);
        self.kept = self.kept.saturating_add((is_record && is_believed).into());
        self.dropped = self.dropped.saturating_add((!is_believed).into());
        self.doubtful = self.doubtful.saturating_add((is_sample && is_believed).into());
    }
}

/// Judges the records of a stream, in groups of those that end in one compressed record. The
/// records before the first group with damage are believed.
pub fn judge(groups: &[Vec<Testimony>], mut threads: Threads) -> Verdict {
    let is_damaged = |group: &Vec<Testimony>| group.iter().any(|one| one.kind == Kind::Damaged);
    let first = groups.iter().position(is_damaged).unwrap_or(groups.len());
    let (sound, damaged) = groups.split_at_checked(first).unwrap_or_default();
    let names = !threads.0.is_empty();
    threads.0.extend(sound.iter().flatten().filter_map(|one| one.thread));
    let is_known = |(pid, tid): Thread| {
        !names || tid == 0 || tid == u32::MAX || threads.0.contains(&(pid, tid))
    };
    let mut verdict = Verdict::default();
    sound.iter().flatten().for_each(|one| verdict.add(*one, true));
    verdict.doubtful = 0;
    for group in damaged {
        for (one, fits) in group.iter().zip(fit_times(group)) {
            verdict.add(*one, fits && one.thread.is_none_or(is_known));
        }
    }
    verdict
}

/// For each record of a group, whether the times around it agree with its own.
fn fit_times(group: &[Testimony]) -> Vec<bool> {
    let times: Vec<u64> = group.iter().filter_map(|one| one.time).collect();
    let in_order = find_in_order(&times);
    let is_near = |index: usize| {
        let around = index.saturating_sub(NEAR)..in_order.len().min(index.saturating_add(NEAR + 1));
        let around = in_order.get(around).unwrap_or_default();
        let agreeing = around.iter().filter(|is_in_order| **is_in_order).count();
        agreeing.saturating_mul(3) >= around.len().saturating_mul(2)
    };
    let mut fits = in_order.iter().enumerate().map(|(index, one)| *one && is_near(index));
    group.iter().map(|one| one.time.is_none() || fits.next().unwrap_or(true)).collect()
}

/// Marks the times of a longest sequence that does not step back.
fn find_in_order(times: &[u64]) -> Vec<bool> {
    // For each length, the least time at which a sequence of it ends, and its place.
    let mut ends: Vec<(u64, usize)> = Vec::new();
    let mut before = Vec::new();
    for (at, time) in times.iter().enumerate() {
        let len = ends.partition_point(|(end, _)| end <= time);
        before.push(len.checked_sub(1).and_then(|last| ends.get(last)).map(|(_, at)| *at));
        match ends.get_mut(len) {
            Some(end) => *end = (*time, at),
            None => ends.push((*time, at)),
        }
    }
    let mut marks = vec![false; times.len()];
    let mut last = ends.last().map(|(_, at)| *at);
    while let Some(at) = last {
        marks.get_mut(at).into_iter().for_each(|mark| *mark = true);
        last = before.get(at).copied().flatten();
    }
    marks
}
