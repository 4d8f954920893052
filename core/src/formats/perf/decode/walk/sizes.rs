//! A record with a damaged size, or a header that is lost: its fields fill the bytes up to the next
//! record.

use super::{Reach, Walker};
use crate::formats::perf::decode::event::SampleRead;
use crate::formats::perf::decode::expand::Wrapper;
use crate::formats::perf::decode::frame::{Frame, Place, Record, RecordView};
use crate::formats::perf::decode::record;
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::layout::{RECORD_HEADER, record as kind};

/// The bits of `misc` that say whose code was interrupted: the kernel's, or that of a user.
const KERNEL: u16 = 1;
const USER: u16 = 2;
/// Offset of `addr` in the body of an MMAP or MMAP2.
const MAPPED_AT: u64 = 8;
/// The largest size of a record.
const MOST: u64 = 0xffff;
/// Searches in a row for a later end of a record, of up to 64 KiB each, that may be vain. The
/// records around one that a bit made shorter are sound.
const VAIN_MAX: u32 = 4;
/// The records of perf whose lists have the lengths that they state.
const LISTS: [u32; 2] = [kind::THREAD_MAP, kind::CPU_MAP];
/// The highest number of a thread, `PID_MAX_LIMIT` of include/linux/threads.h.
const THREAD_MAX: u32 = 4 << 20;
/// Nanoseconds between records that follow one another: perf writes a buffer at least every second
/// or when it is full.
const NEAR: u64 = 10_000_000_000;
/// Records after one among which a time is sought.
const NEIGHBOURS: usize = 8;

impl<'a> Walker<'a> {
    /// Reads the record at the position, whose header is `found`, as one that ends where the next
    /// one begins, at `end`: its fields fill the bytes. With an invalid type it is a sample with a
    /// time, or of the only type whose fields it has.
    #[cold]
    pub(super) fn read_up_to(&self, end: u64, found: Frame) -> Option<Record<'a>> {
        let size = end.checked_sub(self.at).filter(|size| *size <= MOST)?;
        if self.dialect.is_simpleperf || kind::is_simpleperf(found.kind) {
            return None;
        }
        let frame = Frame { size, ..found };
        if record::name(found.kind).is_some() {
            return self.read_as(frame, found).filter(|record| self.is_size_damaged(record, found));
        }
        if (1..=kind::PLAUSIBLE_LAST).contains(&found.kind) {
            return None;
        }
        let of_kind = |kind| {
            let record = self.read_as(Frame { kind, ..frame }, found)?;
            let has_values = self.evidence().has_values(&record.view(self.layer, 0));
            (has_values && self.has_time_of_neighbours(&record)).then_some(record)
        };
        if let Some(sample) = of_kind(kind::SAMPLE) {
            return Some(sample);
        }
        let is_blank = (found.kind, found.misc, found.size) == (0, 0, 0);
        // Another tool may have a type of its own, of the size that it states.
        if is_blank || found.kind != 0 && found.size == size {
            return None;
        }
        // The kernel writes an event and a time into its records, which proves more.
        let of_kernel = (1..=kind::KERNEL_LAST).filter(|kind| has_own_fields(*kind));
        let mut fitting = of_kernel.filter_map(of_kind).fuse();
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => Some(only),
            (Some(_), Some(_)) => None,
            (None, _) => LISTS.into_iter().find_map(of_kind),
        }
    }

    /// Whether the size of a record, and not its content, is damaged: content that fits other sizes
    /// may have lost bytes, unless one bit makes the difference or the stored size is less
    /// than a header.
    fn is_size_damaged(&self, record: &Record<'_>, found: Frame) -> bool {
        if found.size < RECORD_HEADER {
            return true;
        }
        let Some(events) = self.events else { return false };
        let fits_others = events.fits_other_sizes(&record.view(self.layer, 0));
        let is_flipped = (found.size ^ record.frame.size).count_ones() == 1;
        !fits_others || is_flipped && record.frame.kind != kind::HEADER_ATTR
    }

    /// Whether a record has a time close to that of the ones around it, or is not a sample and has
    /// none: other bytes may fit its fields.
    fn has_time_of_neighbours(&self, record: &Record<'_>) -> bool {
        let Some(events) = self.events else { return false };
        let time_of = |record: &Record<'_>| {
            let origin = events.origin_of(&record.view(self.layer, 0));
            origin.and_then(|origin| origin.time).filter(|time| *time != 0)
        };
        let Some(time) = time_of(record) else { return record.frame.kind != kind::SAMPLE };
        let mut after = Self { at: record.end(), run: &[], ..self.clone() };
        let after = std::iter::from_fn(|| {
            let next = after.read_record().ok()?;
            (after.at, after.run) = (next.end(), &[]);
            Some(next)
        });
        let before = Self { at: self.past.last, run: &[], ..self.clone() }.read_record();
        let mut around = after.take(NEIGHBOURS).chain(before);
        let near = around.find_map(|one| time_of(&one));
        near.is_some_and(|near| near.abs_diff(time) <= NEAR)
    }

    /// Reads the record at the position, whose stored header is `found`, as one with another
    /// header.
    fn read_as(&self, mut frame: Frame, found: Frame) -> Option<Record<'a>> {
        let bytes = self.source.read(self.at, self.at.checked_add(frame.size)?);
        let place = Place { layer: self.layer, offset: self.at, index: 0 };
        let view = |frame| RecordView { frame, place, bytes: &bytes };
        if frame.kind == kind::SAMPLE {
            let mut sample = Sample::default();
            let read = self.events?.read_sample(&view(frame), &mut sample);
            let is_whole = matches!(read, SampleRead::Complete { trailing: 0, .. });
            let is_typed = found.kind == kind::SAMPLE;
            let has_time = sample.origin.time.map_or(is_typed, |time| time != 0);
            let is_named = |id| is_typed || self.events.is_some_and(|all| all.find(id).is_some());
            let has_thread = sample.origin.tid.is_none_or(|tid| is_typed || may_be_thread(tid));
            let is_event = sample.origin.id.is_none_or(is_named);
            if !is_whole || !has_time || !is_event || !has_thread {
                return None;
            }
            if !is_typed && (frame.misc == 0 || frame.has_unused_misc()) {
                frame.misc = mode_of(sample.ip);
            }
        } else if found.kind != frame.kind && frame.has_unused_misc() {
            let mut body = view(frame).cursor(self.dialect.order);
            let address = body.skip(1, MAPPED_AT, "thread").and_then(|()| body.u64("addr"));
            let is_map = matches!(frame.kind, kind::MMAP | kind::MMAP2);
            frame.misc = if is_map { mode_of(address.ok()) } else { 0 };
        }
        let record = self.with_payload(frame, bytes.clone()).ok()?;
        let fits = record.outside == 0 && self.evidence().fits(&view(frame));
        fits.then_some(Record { found: Some(found), ..record })
    }

    /// Reads the record at the position, whose type is 0, as one of the type whose fields it has.
    #[cold]
    pub(super) fn read_untyped(&self, found: Frame) -> Option<Record<'a>> {
        let end = self.at.checked_add(found.size).filter(|end| *end <= self.end)?;
        let record = self.read_up_to(end, found).filter(|_| found.kind == 0)?;
        (end >= self.end || self.is_followed_by_any(&record)).then_some(record)
    }

    /// Reads a record that another one does not follow as one that ends later, where the next one
    /// begins.
    #[cold]
    pub(super) fn read_longer(&mut self, record: &Record<'_>) -> Option<Record<'a>> {
        let is_alone = record.outside == 0 && Wrapper::of(record.frame.kind).is_none();
        let view = record.view(self.layer, 0);
        let may_search = self.events.is_some() && self.past.vain < VAIN_MAX;
        if !may_search || !is_alone || self.evidence().fits(&view) {
            return None;
        }
        let mut budget = self.budget;
        let area = record.end()..self.end.min(self.at.saturating_add(MOST));
        let next = self.search((area, 1), Reach::Few, &mut budget);
        self.budget = budget;
        let longer = next.and_then(|next| self.read_up_to(next, record.frame));
        self.past.vain = if longer.is_some() { 0 } else { self.past.vain.saturating_add(1) };
        longer
    }
}

/// Whether a number may be that of a thread: -1 is one that ended.
const fn may_be_thread(tid: u32) -> bool {
    tid <= THREAD_MAX || tid == u32::MAX
}

/// Returns `misc` for code or data at an address.
fn mode_of(address: Option<u64>) -> u16 {
    if address.is_some_and(|address| address >> 63 == 1) { KERNEL } else { USER }
}

/// Whether the fields of a type of the kernel show that a record is one of it.
fn has_own_fields(kind: u32) -> bool {
    record::name(kind).is_some() && kind != kind::SAMPLE && !kind::ANY_BODY.contains(&kind)
}
