//! The events of a recording: attrs, their ids, and the layout of their records.

mod cover;
mod ids;
mod update;

use std::collections::BTreeSet;

use super::attr::Attr;
use super::body::BodyError;
use super::feature;
use super::frame::{self, Dialect, RecordView};
use super::record::{self, Named};
use super::sample::{self, PlainSample, Sample, SampleId, SampleLayout};
use crate::formats::perf::layout::attr::{branch_sample_type, sample_type};
use crate::formats::perf::layout::{RECORD_HEADER, record as kind};
use crate::kit::cursor::{Cursor, Order};
use crate::kit::field_log::FieldLog;
use crate::kit::num::to_u64;
use ids::Ids;

/// Most ids of events that are copied for the search after damage.
const MOST_COPIED_IDS: usize = 64 << 10;

/// The attrs of a recording and the layouts that are derived from them.
#[derive(Clone, Debug)]
pub struct Events {
    /// How records are read.
    pub dialect: Dialect,
    attrs: Vec<Attr>,
    layouts: Vec<SampleLayout>,
    ids: Ids,
    /// Whether all attrs have the same layout, so no id has to be looked up.
    is_uniform: bool,
    /// Whether an attr has fields whose layout only a newer version knows.
    has_unknown_layout: bool,
    /// The ids of the events that are tracepoints.
    tracepoints: BTreeSet<u64>,
    /// Whether attrs or ids are missing, so an unknown id is not a fault of the sample.
    is_partial: bool,
    /// Least size of a sample in bytes.
    least_sample: u64,
}

/// The tracepoint whose data a sample has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataOf {
    /// That of its event.
    Event,
    /// That of another event of the recording.
    OtherEvent,
    /// None of the recording.
    Unknown,
}

/// The result of reading a sample.
#[derive(Clone, Copy, Debug)]
pub enum SampleRead {
    /// The recording has no attrs, or their layout is unknown.
    NoLayout,
    /// The id of the sample does not belong to an attr.
    UnknownId,
    /// A field does not fit in the record.
    Malformed(BodyError),
    /// All fields were read.
    Complete {
        /// Index of the attr, if all attrs have one layout: 0.
        attr: usize,
        /// Number of bytes after the last field.
        trailing: u64,
    },
}

impl Events {
    /// Creates an empty collection for a recording of this byte order.
    pub const fn new(order: Order) -> Self {
        Self {
            dialect: Dialect { order, is_simpleperf: false },
            attrs: Vec::new(),
            layouts: Vec::new(),
            ids: Ids::new(),
            is_uniform: false,
            has_unknown_layout: false,
            tracepoints: BTreeSet::new(),
            is_partial: false,
            least_sample: u64::MAX,
        }
    }

    /// Byte order of the recording.
    pub const fn order(&self) -> Order {
        self.dialect.order
    }

    /// Adds an attr with its ids.
    pub fn push(&mut self, attr: Attr, ids: impl IntoIterator<Item = u64>) {
        let index = self.attrs.len();
        self.push_layout(&attr);
        self.has_unknown_layout |= !attr.layout_known();
        // Each field has at least 8 bytes.
        let fields = u64::from(attr.sample_type.count_ones()).saturating_mul(8);
        self.least_sample = self.least_sample.min(RECORD_HEADER.saturating_add(fields));
        self.tracepoints.extend(attr.is_tracepoint().then_some(attr.config));
        self.attrs.push(attr);
        self.ids.push(ids, index);
    }

    fn push_layout(&mut self, attr: &Attr) {
        let counts = attr.branch_sample_type & branch_sample_type::COUNTERS != 0;
        let had_counters = self.layouts.first().is_some_and(SampleLayout::has_likely_counters);
        // One attr with counters in its branches makes them likely in the samples of all.
        if counts && !had_counters {
            self.layouts.iter_mut().for_each(|layout| *layout = layout.with_likely_counters());
            self.is_uniform = self.layouts.iter().all(|one| Some(one) == self.layouts.first());
        }
        let new = SampleLayout::new(attr);
        let layout = if counts || had_counters { new.with_likely_counters() } else { new };
        let is_like = |first: &SampleLayout| self.is_uniform && *first == layout;
        self.is_uniform = self.layouts.first().is_none_or(is_like);
        self.layouts.push(layout);
    }

    /// Notes that attrs or ids are missing. That has a finding of its own, so samples with unknown
    /// ids get none.
    pub const fn mark_partial(&mut self) {
        self.is_partial = true;
    }

    /// Whether attrs or ids are missing.
    pub const fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// Whether records of all events store their id at the same place. perf requires it.
    pub fn places_ids_alike(&self) -> bool {
        self.attrs
            .split_first()
            .is_none_or(|(first, others)| others.iter().all(|other| other.places_ids_like(first)))
    }

    /// Whether perf opens a file with these events.
    pub fn can_be_opened(&self) -> bool {
        self.places_ids_alike() && !self.attrs.iter().any(Attr::reads_without_id)
    }

    /// The attrs in the order of the recording.
    pub fn attrs(&self) -> &[Attr] {
        &self.attrs
    }

    /// Number of event ids, with those that stand twice.
    pub fn id_count(&self) -> u64 {
        to_u64(self.ids.len())
    }

    /// Returns the index of the attr with this event id.
    pub fn find(&self, id: u64) -> Option<usize> {
        self.ids.find(id)
    }

    /// Whether the id of a sample belongs to an attr. With a single attr perf ignores the id, and
    /// the id 0 stands for the first attr.
    #[inline]
    pub fn has_id_of(&self, sample: &Sample) -> bool {
        self.layouts.len() <= 1
            || sample.origin.id.is_none_or(|id| id == 0 || self.find(id).is_some())
    }

    /// Returns the ids of the counter values in a sample that was read with the layout of attr
    /// number `attr`.
    pub fn value_ids<'b>(
        &self,
        record: &RecordView<'b>,
        sample: &Sample,
        attr: usize,
    ) -> impl Iterator<Item = u64> + use<'b> {
        let ids = self
            .layouts
            .get(attr)
            .map(|layout| layout.value_ids(record.body(), sample, self.dialect.order));
        ids.into_iter().flatten()
    }

    /// Whether each counter value of a sample has the id of an event: perf leaves out the others,
    /// also if there is only one event.
    #[inline]
    pub fn has_ids_of_values(&self, record: &RecordView<'_>, sample: &Sample, attr: usize) -> bool {
        sample.values == 0
            || self.is_partial
            || self.value_ids(record, sample, attr).all(|id| self.find(id).is_some())
    }

    /// Returns the index of the attr of a sample that was read with the layout of attr number
    /// `attr`; `None` if several attrs share the layout and the sample has no id.
    pub fn attr_of(&self, sample: &Sample, attr: usize) -> Option<usize> {
        match sample.origin.id {
            Some(id) if id != 0 => self.find(id),
            _ => Some(attr).filter(|_| self.layouts.len() == 1),
        }
    }

    /// Whether an event counts nothing.
    #[inline]
    pub fn is_dummy(&self, attr: usize) -> bool {
        self.attrs.get(attr).is_some_and(Attr::is_dummy)
    }

    /// Returns the values of a sample that was read with the layout of attr number `attr`.
    pub fn values_of(&self, sample: &Sample, attr: usize) -> PlainSample {
        let SampleId { pid, tid, time, id, .. } = sample.origin;
        let attr = self.attr_of(sample, attr).filter(|_| id.is_some_and(|id| id != 0));
        PlainSample { time, ip: sample.ip, thread: pid.zip(tid), attr }
    }

    /// Returns the index of a sample's event if it is a tracepoint with data, and whose data these
    /// are.
    #[inline]
    pub fn judge_tracepoint(&self, sample: &Sample, attr: usize) -> Option<(usize, DataOf)> {
        if self.tracepoints.is_empty() || self.is_partial {
            return None;
        }
        let index = self.attr_of(sample, attr).unwrap_or(0);
        let event = self.attrs.get(index)?;
        let has_data = event.is_tracepoint() && event.samples(sample_type::RAW);
        let data = match sample.raw.kind.map(u64::from) {
            Some(kind) if kind == event.config => DataOf::Event,
            Some(kind) if self.tracepoints.contains(&kind) => DataOf::OtherEvent,
            _ => DataOf::Unknown,
        };
        has_data.then_some((index, data))
    }

    /// Returns the tracepoint of a sample if only the type in its data is wrong: its id gives the
    /// event, and the data have its thread.
    pub fn tracepoint_of(&self, sample: &Sample, attr: usize) -> Option<u16> {
        let event = self.attrs.get(self.attr_of(sample, attr)?)?;
        let has_thread = sample.raw.size >= 8 && sample.raw.pid == sample.origin.tid;
        let is_named = sample.origin.tid.is_some_and(|tid| tid != 0) && has_thread;
        u16::try_from(event.config).ok().filter(|_| is_named)
    }

    /// Reads a sample by the attr that its id names into `sample`, which is a default one before.
    #[inline]
    pub fn read_sample(&self, record: &RecordView<'_>, sample: &mut Sample) -> SampleRead {
        let Some(first) = self.layouts.first().filter(|_| !self.has_unknown_layout) else {
            return SampleRead::NoLayout;
        };
        let (attr, layout) = if self.is_uniform {
            (0, first)
        } else {
            let attr =
                match sample::event_id(record.body(), kind::SAMPLE, first, self.dialect.order) {
                    None | Some(0) => Some(0),
                    Some(id) => self.find(id),
                };
            match attr.and_then(|attr| Some((attr, self.layouts.get(attr)?))) {
                Some(found) => found,
                None => return SampleRead::UnknownId,
            }
        };
        let mut cursor = record.cursor(self.dialect.order);
        match sample::sample(&mut cursor, layout, sample) {
            Ok(()) => SampleRead::Complete { attr, trailing: cursor.left() },
            Err(error) => SampleRead::Malformed(error),
        }
    }

    /// Whether a record that is not a sample names an event that no attr has, and perf looks it up:
    /// there are several attrs.
    pub fn lacks_event_of(&self, record: &RecordView<'_>) -> bool {
        self.layouts.len() > 1 && self.names_unknown_event(record)
    }

    /// Whether a record that is not a sample names an event that no attr has: one of the kernel, if
    /// the first attr has `sample_id_all`, STAT or EVENT_UPDATE.
    pub fn names_unknown_event(&self, record: &RecordView<'_>) -> bool {
        let Some(first) = self.layouts.first().filter(|first| first.trailer_len() > 0) else {
            return false;
        };
        let mut body = record.cursor(self.dialect.order);
        let id = match record.frame.kind {
            kind::STAT => body.u64("stat.id").ok(),
            kind::EVENT_UPDATE => {
                body.skip(1, 8, "event_update.type").and_then(|()| body.u64("event_update.id")).ok()
            }
            other if record.frame.is_kernel() => {
                sample::event_id(record.body(), other, first, self.dialect.order)
            }
            _ => None,
        };
        id.is_some_and(|id| id != 0 && self.find(id).is_none())
    }

    /// Returns the ids of an ID_INDEX record that no attr has.
    pub fn unknown_in_index(&self, record: &RecordView<'_>) -> Vec<u64> {
        let mut cursor = record.cursor(self.dialect.order);
        let count = cursor.u64("id_index.nr").unwrap_or(0);
        let mut ids = Vec::new();
        for _ in 0..count {
            let Ok(id) = cursor.u64("id_index.id") else { break };
            if cursor.skip(3, 8, "id_index.entry").is_err() {
                break;
            }
            if self.find(id).is_none() {
                ids.push(id);
            }
        }
        ids
    }

    /// Reads the fields of a record that is not a sample. Returns the time of its `sample_id`, if
    /// it has one.
    ///
    /// # Errors
    ///
    /// The first field that does not fit in the record.
    pub fn read_fields(&self, record: &RecordView<'_>) -> Result<Option<u64>, BodyError> {
        let frame = record.frame;
        let layout = self.trailer_layout(record).filter(|_| frame.is_kernel());
        let trailer_len = layout.map_or(0, SampleLayout::trailer_len);
        record::body(frame.kind, frame.misc, &mut record.cursor(self.dialect.order), trailer_len)?;
        let trailer = layout.and_then(|l| sample::trailer(record.body(), l, self.dialect.order));
        Ok(trailer.and_then(|origin| origin.time))
    }

    /// Notes the fields of a record: those of its header, its own and those of its `sample_id`.
    pub fn log_fields(&self, record: &RecordView<'_>, log: &FieldLog) {
        let place = record.place;
        let head = Cursor::new(record.bytes, place.layer, place.offset, self.dialect.order);
        frame::log_header(&mut head.with_log(log));
        let mut cursor = record.cursor(self.dialect.order).with_log(log);
        let layout = self.trailer_layout(record);
        if record.frame.kind == kind::SAMPLE {
            let layout = layout.filter(|_| !self.has_unknown_layout);
            let mut sample = Sample::default();
            let _read = layout.map(|layout| sample::sample(&mut cursor, layout, &mut sample));
            return;
        }
        let layout = layout.filter(|_| record.frame.is_kernel());
        let trailer_len = layout.map_or(0, SampleLayout::trailer_len);
        let frame = record.frame;
        if let Some(layout) = self.counts_layout(record) {
            let _read = sample::read_counts(&mut cursor, layout);
            return sample::log_trailer(record, layout, self.dialect.order, log);
        }
        let read = record::body(frame.kind, frame.misc, &mut cursor, trailer_len);
        if let Ok(record::Body { detail: record::Detail::Feature { .. }, .. }) = read {
            feature::log_record(record, self.dialect.order, log);
        }
        if let (Ok(_), Some(layout)) = (read, layout) {
            sample::log_trailer(record, layout, self.dialect.order, log);
        }
    }

    /// Returns the fields of a record that is not a sample, by name.
    pub fn named_fields(&self, record: &RecordView<'_>) -> Named {
        match self.counts_layout(record) {
            Some(layout) => record::counts(record, layout, self.dialect.order),
            None => record::fields(record, self.dialect.order),
        }
    }

    /// Returns the layout of the values of a READ record that has them.
    fn counts_layout(&self, record: &RecordView<'_>) -> Option<&SampleLayout> {
        let layout = self.trailer_layout(record).filter(|_| record.frame.kind == kind::READ)?;
        sample::is_read(record.cursor(self.dialect.order), layout).then_some(layout)
    }

    /// Whether a record that is not a sample is read without a byte left over.
    pub fn fits(&self, record: &RecordView<'_>) -> bool {
        self.read_body(record).is_ok_and(|body| body.extra == 0)
    }

    fn read_body(&self, record: &RecordView<'_>) -> Result<record::Body, BodyError> {
        let frame = record.frame;
        let layout = self.trailer_layout(record).filter(|_| frame.is_kernel());
        let trailer_len = layout.map_or(0, SampleLayout::trailer_len);
        record::body(frame.kind, frame.misc, &mut record.cursor(self.dialect.order), trailer_len)
    }

    /// Returns process, thread, time, event and CPU of a record; `None` if it has none of them or
    /// cannot be read.
    pub fn origin_of(&self, record: &RecordView<'_>) -> Option<SampleId> {
        if record.frame.kind != kind::SAMPLE {
            let layout = self.trailer_layout(record).filter(|_| record.frame.is_kernel())?;
            return sample::trailer(record.body(), layout, self.dialect.order);
        }
        let mut sample = Sample::default();
        match self.read_sample(record, &mut sample) {
            SampleRead::Complete { .. } => Some(sample.origin),
            _ => None,
        }
    }

    /// Returns the index of the attr with this event id. With a single attr perf ignores the id,
    /// and the id 0 stands for the first attr.
    pub fn index_of(&self, id: Option<u64>) -> Option<usize> {
        match id.filter(|id| *id != 0 && self.attrs.len() > 1) {
            Some(id) => self.find(id),
            None => (!self.attrs.is_empty()).then_some(0),
        }
    }

    /// Weighs the evidence that a record is one, for the search after damage: 0 if it contradicts
    /// the events, 4 if its size follows from its fields, which no other bytes do by chance.
    pub fn weigh(&self, record: &RecordView<'_>) -> u64 {
        let mut sample = Sample::default();
        let is_one = match record.frame.kind {
            kind::SAMPLE => match self.read_sample(record, &mut sample) {
                SampleRead::Complete { trailing: 0, .. } => {
                    self.has_id_of(&sample) && sample.is_cpu_possible()
                }
                _ => false,
            },
            other => {
                record::name(other).is_some() && !self.lacks_event_of(record) && self.fits(record)
            }
        };
        match record.frame.kind {
            _ if !is_one => 0,
            kind::SAMPLE | kind::FORK | kind::EXIT => 4,
            _ => 2,
        }
    }

    /// Reads a plain sample of a known event: the short way of [`read_sample`](Self::read_sample)
    /// for most samples. `None` for all others, and if anything in its fields is unusual.
    #[inline(always)]
    pub fn read_plain(&self, record: &RecordView<'_>) -> Option<PlainSample> {
        let body = record.body();
        let first = self.layouts.first().filter(|_| !self.has_unknown_layout)?;
        if self.layouts.len() == 1 {
            return first.read_plain(body, self.dialect.order);
        }
        let attr = match sample::event_id(body, kind::SAMPLE, first, self.dialect.order) {
            None | Some(0) => None,
            Some(id) => Some(self.find(id)?),
        };
        let layout = self.layouts.get(attr.unwrap_or(0));
        let layout = layout.filter(|layout| layout.places_id_like(first))?;
        let values = layout.read_plain(body, self.dialect.order)?;
        Some(PlainSample { attr, ..values })
    }

    /// Returns a copy for the search after damage; `None` if it would be large.
    pub fn sample_copy(&self) -> Option<Self> {
        (self.ids.len() <= MOST_COPIED_IDS && !self.attrs.is_empty()).then(|| self.clone())
    }

    /// Returns the offset of the time in a sample in bytes, if all events have it at the same one.
    pub fn time_at(&self) -> Option<u64> {
        let first = self.layouts.first()?.time_at()?;
        self.layouts.iter().all(|layout| layout.time_at() == Some(first)).then_some(first)
    }

    /// Returns the event id of a record as the first attr places it.
    pub fn id_of(&self, record: &RecordView<'_>) -> Option<u64> {
        let first = self.layouts.first()?;
        let has_id = record.frame.is_kernel();
        sample::event_id(record.body(), record.frame.kind, first, self.dialect.order)
            .filter(|_| has_id)
    }

    /// Returns the layout of the `sample_id` of a kernel record; `None` if no attr has its id.
    pub(super) fn trailer_layout(&self, record: &RecordView<'_>) -> Option<&SampleLayout> {
        let first = self.layouts.first()?;
        if self.is_uniform {
            return Some(first);
        }
        let index =
            match sample::event_id(record.body(), record.frame.kind, first, self.dialect.order) {
                None | Some(0) => 0,
                Some(id) => self.find(id)?,
            };
        self.layouts.get(index)
    }
}
