//! Records with a flipped bit in their type.
//!
//! No kernel and no perf writes a type above 127, so a type with one bit above them names one known
//! type, and the type 0 a few. The record is one of that type if its size and its fields say so.
//! Other tools have types of their own up there, such as simpleperf; their fields do not fit.

use super::attr_record;
use super::event::Events;
use super::expand::{Wrapper, begins_frame};
use super::feature::{self, Machine};
use super::frame::{Frame, RecordView};
use super::record;
use super::record::aux::Aux;
use super::sample;
use crate::formats::perf::layout::{RECORD_HEADER, is_published, record as kind};
use crate::kit::cursor::Order;
use crate::kit::num::to_u64;

/// Size of an AUXTRACE record in bytes.
const AUXTRACE_SIZE: u64 = 48;
/// Sizes of a TRACING_DATA record: since Linux 5.18 it is padded.
const TRACING_SIZES: [u64; 2] = [12, 16];
/// Sizes of a TIME_CONV record: since Linux 5.10 it has three more words.
const TIME_CONV_SIZES: [u64; 2] = [32, 56];

/// The flags of an AUX record are less.
const AUX_FLAGS_END: u64 = 1 << 16;

/// What is known when a record is judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence<'a> {
    /// Byte order of the recording.
    pub(super) order: Order,
    /// The events, if they are known.
    pub(super) events: Option<&'a Events>,
    /// Whether the recording is a pipe.
    pub(super) is_pipe: bool,
    /// Whether a compressed record came before.
    pub(super) is_in_stream: bool,
}

/// Returns the known types that differ from that of a record in one bit. HEADER_ATTR alone if it is
/// one of them and `is_attr`: no other body looks like it.
pub(super) fn kinds(found: u32, is_attr: bool) -> impl Iterator<Item = u32> {
    let flipped = (0..u32::BITS).map(move |bit| found ^ (1 << bit));
    let is_only = is_attr && is_near_attr(found);
    flipped.filter(move |likely| {
        let is_known = record::name(*likely).is_some() && !kind::is_simpleperf(*likely);
        is_known && (!is_only || *likely == kind::HEADER_ATTR)
    })
}

/// Whether a type differs from HEADER_ATTR in one bit.
#[inline]
pub(super) const fn is_near_attr(found: u32) -> bool {
    (found ^ kind::HEADER_ATTR).count_ones() == 1
}

/// Whether a record has the fields of a HEADER_ATTR: an attr of a published size, and whole ids.
pub(super) fn is_attr(record: &RecordView<'_>, order: Order) -> bool {
    let frame = Frame { kind: kind::HEADER_ATTR, ..record.frame };
    let Some((attr, ids)) = attr_record::read_record(&RecordView { frame, ..*record }, order)
    else {
        return false;
    };
    let size = RECORD_HEADER
        .saturating_add(attr.size.into())
        .saturating_add(to_u64(ids.len()).saturating_mul(8));
    is_published(attr.size) && size == record.frame.size && !attr.is_impossible()
}

impl Evidence<'_> {
    /// Whether a record has the fields of its type, and nothing else.
    pub(super) fn fits(&self, record: &RecordView<'_>) -> bool {
        let size = record.frame.size;
        if record.frame.is_misaligned() || record.frame.has_unused_misc() {
            return false;
        }
        match record.frame.kind {
            kind::HEADER_ATTR => self.is_pipe && is_attr(record, self.order),
            kind::HEADER_FEATURE => {
                let read = feature::of_record(record, self.order, Machine::default());
                self.is_pipe && read.is_ok_and(|(bit, _)| bit != u32::MAX)
            }
            kind::FINISHED_ROUND | kind::FINISHED_INIT => size == RECORD_HEADER,
            kind::TRACING_DATA => TRACING_SIZES.contains(&size),
            kind::AUXTRACE => size == AUXTRACE_SIZE,
            kind::TIME_CONV => TIME_CONV_SIZES.contains(&size),
            other => match Wrapper::of(other) {
                Some(wrapper) => self.is_compressed(record, wrapper),
                None if record.frame.is_kernel() => self.is_of_events(record),
                None => self.has_own_fields(record),
            },
        }
    }

    /// Whether a record begins or continues a zstd stream, and has the length that it states.
    fn is_compressed(&self, record: &RecordView<'_>, wrapper: Wrapper) -> bool {
        let room = to_u64(wrapper.room(record.bytes).len());
        let size = wrapper.data_size(record.bytes, self.order).unwrap_or(room);
        let is_sized = size > 0 && (room.saturating_sub(7)..=room).contains(&size);
        let payload = wrapper.payload(record.bytes, self.order);
        is_sized && (self.is_in_stream || begins_frame(payload))
    }

    /// Whether a record of the kernel has all fields, and its event exists. Without events, only
    /// its own fields can be read.
    fn is_of_events(&self, record: &RecordView<'_>) -> bool {
        match self.events {
            Some(events) => {
                let is_one = events.weigh(record) > 0 && !events.may_cover_others(record);
                is_one && (record.frame.kind != kind::READ || self.has_values(record))
            }
            None => record.frame.kind != kind::SAMPLE && self.has_own_fields(record),
        }
    }

    /// Whether a record has the values of its type, if others are as long: the values of a READ,
    /// the event of a LOST or THROTTLE, the flags of an AUX, the type of a BPF_EVENT or KSYMBOL,
    /// the path of a CGROUP, or the thread that its `sample_id` names as well.
    pub(super) fn has_values(&self, record: &RecordView<'_>) -> bool {
        let Some(events) = self.events else { return true };
        let mut body = record.cursor(self.order);
        let is_event = |id: Option<u64>| id.is_some_and(|id| events.find(id).is_some());
        let named = events.origin_of(record).and_then(|origin| origin.tid);
        let names_thread = |at: u64| {
            let mut body = record.cursor(self.order);
            let thread = body.skip(1, at, "process").and_then(|()| body.u32("tid"));
            named.is_none_or(|named| thread == Ok(named))
        };
        let names_thread_0 = || named == Some(0);
        match record.frame.kind {
            kind::READ => {
                let layout = events.trailer_layout(record);
                layout.is_none_or(|layout| sample::is_read(body, layout))
            }
            kind::LOST => is_event(body.u64("id").ok()),
            kind::THROTTLE | kind::UNTHROTTLE => {
                is_event(body.skip(1, 8, "time").and_then(|()| body.u64("id")).ok())
            }
            kind::BPF_EVENT => {
                let (kind, flags) = (body.u16("type"), body.u16("flags"));
                kind.is_ok_and(|kind| (1..=2).contains(&kind)) && flags == Ok(0)
            }
            kind::KSYMBOL => {
                let kind = body.skip(1, 12, "addr").and_then(|()| body.u16("ksym_type"));
                kind.is_ok_and(|kind| kind <= 2)
            }
            kind::AUX => Aux::read(record, self.order).is_some_and(|aux| aux.flags < AUX_FLAGS_END),
            kind::CGROUP => record.body().get(8) == Some(&b'/'),
            // perf writes 0 as the thread of records that it makes up, which no EXIT is. The thread
            // that forks writes a FORK.
            kind::MMAP | kind::MMAP2 => names_thread(4) || names_thread_0(),
            kind::FORK => names_thread(12) || names_thread_0(),
            kind::EXIT => names_thread(8),
            _ => true,
        }
    }

    fn has_own_fields(&self, record: &RecordView<'_>) -> bool {
        let Frame { kind, misc, .. } = record.frame;
        let body = record::body(kind, misc, &mut record.cursor(self.order), 0);
        body.is_ok_and(|body| body.extra == 0)
    }
}
