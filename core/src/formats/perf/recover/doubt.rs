//! Which of the records in damaged expanded bytes the rest of the recording contradicts.
//!
//! After a changed byte a zstd block can expand without a fault, to records with fields of others:
//! their sizes and ids are right, and their values never existed. A compressed record holds the
//! bytes of one ring buffer, whose times do not step back, so false times stand out among them.
//! Where most of the times around a record are false, its own is in order by chance.

use std::collections::BTreeSet;

use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::expand::Wrapper;
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::layout::record;
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;
use crate::kit::walk::Item;
use crate::model::limits::{Limits, RESYNC};

/// Threads and mappings that are remembered, of some 40 bytes: with more, nothing contradicts them.
const NAMES_MAX: usize = 1 << 18;
/// Records on each side of one that are looked at.
const NEAR: usize = 4;
/// The highest number of a thread, `PID_MAX_LIMIT` of include/linux/threads.h.
const THREAD_MAX: u32 = 4 << 20;

/// The first address of the half that the kernel has.
const KERNEL: u64 = 1 << 63;

/// A process and one of its threads.
type Thread = (u32, u32);

/// The threads and the addresses of code that records name which are not samples.
#[derive(Clone, Debug, Default)]
pub struct Named {
    threads: BTreeSet<Thread>,
    /// The start and the end of each mapping.
    code: Vec<(u64, u64)>,
    /// There are more than are remembered.
    is_full: bool,
}

impl Named {
    /// Notes what a record names.
    pub fn note(&mut self, record: &RecordView<'_>, order: Order) {
        self.note_thread(record, order);
        let mut body = record.cursor(order);
        let range = match record.frame.kind {
            record::MMAP | record::MMAP2 => {
                let at = body.skip(2, 4, "thread").and_then(|()| body.u64("addr"));
                at.ok().zip(body.u64("len").ok())
            }
            record::KSYMBOL => body.u64("addr").ok().zip(body.u32("len").ok().map(u64::from)),
            _ => None,
        };
        let range = range.filter(|_| !self.is_full);
        self.code.extend(range.map(|(start, len)| (start, start.saturating_add(len))));
    }

    /// Notes the thread that a record names.
    pub fn note_thread(&mut self, record: &RecordView<'_>, order: Order) {
        self.is_full |= self.threads.len().saturating_add(self.code.len()) >= NAMES_MAX;
        if self.is_full {
            return;
        }
        let mut body = record.cursor(order);
        let mut next = || body.u32("thread").ok();
        let thread = match record.frame.kind {
            record::COMM | record::MMAP | record::MMAP2 | record::NAMESPACES => next().zip(next()),
            record::FORK | record::EXIT => {
                let (pid, _, tid) = (next(), next(), next());
                pid.zip(tid)
            }
            _ => None,
        };
        self.threads.extend(thread.filter(|(pid, tid)| *pid.max(tid) <= THREAD_MAX));
    }

    /// Notes what a sound record shows: besides what it names, the thread of a sample.
    pub fn note_sound(&mut self, record: &RecordView<'_>, events: &Events) {
        self.note(record, events.order());
        let thread = Testimony::of(record, events).thread;
        self.threads.extend(thread.filter(|_| !self.is_full && !self.threads.is_empty()));
    }

    /// Notes what the stored records in an area of a file name, without compressed ones.
    pub fn note_stored(&mut self, file: &RecordFile<'_>, area: (u64, u64), limits: &Limits) {
        let records = file.records(area, limits.of(&RESYNC)).filter_map(Item::record);
        for record in records.filter(|record| Wrapper::of(record.frame.kind).is_none()) {
            self.note(&record.view(file.layer(), 0), file.order());
        }
        self.sort();
    }

    /// Sorts the mappings, each with the last end of those that do not begin after it.
    pub fn sort(&mut self) {
        self.code.sort_unstable();
        let mut last = 0;
        for (_, end) in &mut self.code {
            last = last.max(*end);
            *end = last;
        }
    }

    /// The mappings in the half of an address: that of the kernel or of users.
    fn half_of(&self, ip: u64) -> &[(u64, u64)] {
        let middle = self.code.partition_point(|(start, _)| *start < KERNEL);
        let (users, kernel) = self.code.split_at_checked(middle).unwrap_or_default();
        if ip < KERNEL { users } else { kernel }
    }

    fn maps(&self, ip: u64) -> bool {
        let half = self.half_of(ip);
        let before = half.partition_point(|(start, _)| *start <= ip);
        let last = before.checked_sub(1).and_then(|last| half.get(last));
        last.is_some_and(|(_, end)| ip < *end)
    }
}

/// The names of several parts of a recording.
pub type Names<'a> = &'a [&'a Named];

/// Whether a thread is named, or none is.
pub fn has_thread(names: Names<'_>, thread: Thread) -> bool {
    let (_, tid) = thread;
    let is_nobody = tid == 0 || tid == u32::MAX;
    is_nobody
        || names.iter().any(|named| named.is_full || named.threads.contains(&thread))
        || names.iter().all(|named| named.threads.is_empty())
}

/// Whether an address is mapped, or no mapping is in its half.
fn has_code(names: Names<'_>, ip: u64) -> bool {
    names.iter().any(|named| named.is_full || named.maps(ip))
        || names.iter().all(|named| named.half_of(ip).is_empty())
}

/// The values of a record that can contradict others.
#[derive(Clone, Copy, Debug)]
pub struct Testimony {
    time: Option<u64>,
    /// Of a sample.
    thread: Option<Thread>,
    /// Of a sample.
    ip: Option<u64>,
    kind: Kind,
}

/// The kind of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sample,
    Other,
    /// No record, or one that contradicts the events.
    Damaged,
}

impl Testimony {
    /// That of bytes that are not a record.
    pub const DAMAGE: Self = Self { time: None, thread: None, ip: None, kind: Kind::Damaged };

    /// Whether it is that of a record.
    pub fn is_record(&self) -> bool {
        self.kind != Kind::Damaged
    }

    /// Whether it is that of a sample.
    pub fn is_sample(&self) -> bool {
        self.kind == Kind::Sample
    }

    /// Takes that of a record.
    pub fn of(record: &RecordView<'_>, events: &Events) -> Self {
        Self::weighed(record, events, events.weigh(record))
    }

    /// Takes that of a record whose evidence has a weight.
    pub fn weighed(record: &RecordView<'_>, events: &Events, weight: u64) -> Self {
        if weight == 0 {
            return Self::DAMAGE;
        }
        let mut sample = Sample::default();
        let is_sample = record.frame.kind == record::SAMPLE;
        let (kind, origin) = if is_sample {
            let _read = events.read_sample(record, &mut sample);
            (Kind::Sample, sample.origin)
        } else {
            (Kind::Other, events.origin_of(record).unwrap_or_default())
        };
        let time = origin.time.filter(|time| *time > 0);
        let thread = origin.pid.zip(origin.tid).filter(|_| is_sample);
        Self { time, thread, ip: sample.ip, kind }
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
        self.kept = self.kept.saturating_add((one.is_record() && is_believed).into());
        self.dropped = self.dropped.saturating_add((!is_believed).into());
        self.doubtful = self.doubtful.saturating_add((one.is_sample() && is_believed).into());
    }
}

/// Judges the records of a stream, in groups of those that end in one compressed record. The
/// records before the first group with damage are believed, without those right before it that
/// contradict others: false records can come before the first invalid one.
pub fn judge(groups: &[Vec<Testimony>], mut named: Named) -> Verdict {
    let is_damaged = |group: &Vec<Testimony>| group.iter().any(|one| one.kind == Kind::Damaged);
    let damage = groups.iter().position(is_damaged).unwrap_or(groups.len());
    let before = groups.get(..damage).unwrap_or_default();
    if !named.threads.is_empty() {
        named.threads.extend(before.iter().flatten().filter_map(|one| one.thread));
    }
    named.sort();
    let contradicts = |group: &&Vec<Testimony>| count_contradicted(group, &[&named]) > 0;
    let first = damage.saturating_sub(before.iter().rev().take_while(contradicts).count());
    let (sound, damaged) = groups.split_at_checked(first).unwrap_or_default();
    let mut verdict = Verdict::default();
    for (index, group) in sound.iter().enumerate() {
        // The byte that was changed can lie in the last one, and false values in its records.
        let is_last = index.saturating_add(1) == first && !damaged.is_empty();
        let doubtful = verdict.doubtful;
        group.iter().for_each(|one| verdict.add(*one, true));
        verdict.doubtful = if is_last { verdict.doubtful } else { doubtful };
    }
    for group in damaged {
        let fits = find_fitting(group, &[&named]);
        for (index, one) in group.iter().enumerate() {
            let is_believed = one.kind == Kind::Damaged || is_among_fitting(&fits, index);
            verdict.add(*one, is_believed);
        }
    }
    verdict
}

/// Counts the records of a group that others contradict: those of the group, or what `names` has,
/// each of which is sorted.
pub fn count_contradicted(group: &[Testimony], names: Names<'_>) -> u64 {
    let fits = find_fitting(group, names).into_iter();
    to_u64(fits.filter(|fits| *fits == Some(false)).count())
}

/// Returns whether nothing contradicts each record of a group; `None` for damage.
fn find_fitting(group: &[Testimony], names: Names<'_>) -> Vec<Option<bool>> {
    let times: Vec<u64> = group.iter().filter_map(|one| one.time).collect();
    let mut in_order = find_in_order(&times).into_iter();
    let fits = |one: &Testimony| {
        let is_in_order = one.time.is_none() || in_order.next().unwrap_or(true);
        let fits = is_in_order
            && one.thread.is_none_or(|thread| has_thread(names, thread))
            && one.ip.is_none_or(|ip| has_code(names, ip));
        (one.kind != Kind::Damaged).then_some(fits)
    };
    group.iter().map(fits).collect()
}

/// Whether a record fits, and most of those around it.
fn is_among_fitting(fits: &[Option<bool>], index: usize) -> bool {
    let end = fits.len().min(index.saturating_add(NEAR).saturating_add(1));
    let around = fits.get(index.saturating_sub(NEAR)..end).unwrap_or_default();
    let fitting = around.iter().flatten().filter(|one| **one).count();
    let is_most = fitting.saturating_mul(3) >= around.iter().flatten().count().saturating_mul(2);
    is_most && fits.get(index).copied().flatten() == Some(true)
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

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: (u64, u64) = (0x1000, 0x2000);

    fn sample(time: u64, tid: u32, ip: u64) -> Testimony {
        let (time, thread) = (Some(time), Some((7, tid)));
        Testimony { time, thread, ip: Some(ip), kind: Kind::Sample }
    }

    fn named() -> Named {
        Named { threads: BTreeSet::from([(7, 7)]), code: vec![RANGE], is_full: false }
    }

    /// Samples of which every one is as it should be, after damage.
    fn sound() -> Vec<Testimony> {
        let samples = (0..40).map(|number| sample(1_000 + number, 7, 0x1000 + number));
        std::iter::once(Testimony::DAMAGE).chain(samples).collect()
    }

    fn dropped(group: Vec<Testimony>) -> Vec<usize> {
        let verdict = judge(&[group], named());
        let lost = verdict.believed.iter().enumerate().filter(|(_, believed)| !**believed);
        lost.map(|(index, _)| index).collect()
    }

    #[test]
    fn a_value_that_nothing_else_has_costs_its_sample_alone() {
        assert_eq!(dropped(sound()), [0_usize; 0]);
        let wrong = [
            sample(5, 7, 0x1001),
            sample(9_000, 7, 0x1001),
            sample(1_019, 9, 0x1001),
            sample(1_019, 7, 0x2000),
        ];
        for one in wrong {
            let mut group = sound();
            *group.get_mut(20).unwrap() = one;
            assert_eq!(dropped(group), [20], "{one:?}");
        }
    }

    #[test]
    fn a_sample_that_fits_by_chance_among_false_ones_is_dropped() {
        let mut group = sound();
        for index in (10..30).filter(|index| index % 3 > 0) {
            *group.get_mut(index).unwrap() = sample(7, 7, 0x1001);
        }
        let all: Vec<usize> = (10..30).collect();
        assert!(all.iter().all(|index| dropped(group.clone()).contains(index)));
    }

    #[test]
    fn records_before_the_first_group_with_damage_are_believed() {
        let whole = || sound().split_off(1);
        let verdict = judge(&[whole(), whole(), sound()], named());
        assert_eq!((verdict.kept, verdict.dropped, verdict.doubtful), (120, 0, 80));
    }

    #[test]
    fn false_records_right_before_the_damage_are_dropped() {
        let mut odd = sound().split_off(1);
        odd.extend([sample(9, 8, 0), sample(3, 8, 0)]);
        let verdict = judge(&[odd, sound()], named());
        assert_eq!((verdict.kept, verdict.dropped), (80, 2));
    }
}
