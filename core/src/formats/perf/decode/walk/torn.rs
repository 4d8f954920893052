//! Records in which bytes were lost or added: their header is intact, and the fields after the
//! place are other bytes.

use super::{Damage, Reach, Walker};
use crate::formats::perf::decode::event::{Events, SampleRead};
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::frame::{FrameFault, RecordView};
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::decode::tracing;
use crate::formats::perf::layout::record;
use crate::kit::cursor::Cursor;
use crate::model::limits::{Limits, WINDOW};

/// Nanoseconds between a sample and the one before it in the file, at most: the buffers of the CPUs
/// are written in turns.
const APART: u64 = 600_000_000_000;

impl<'a> Walker<'a> {
    /// Ends the payload of TRACING_DATA before the records that it reaches over: bytes of it are
    /// missing. It describes events, so that no record is part of it.
    #[cold]
    pub(super) fn clip_tracing(&mut self, mut record: Record<'a>) -> Record<'a> {
        // A check does not read a longer one either; in pieces, it would be copied.
        if self.events.is_none() || record.outside > Limits::default().of(&WINDOW) {
            return record;
        }
        let payload = record.end().saturating_sub(record.outside);
        let bytes = self.source.read(payload, record.end());
        let mut cursor = Cursor::new(&bytes, self.layer, payload, self.dialect.order);
        let is_sound = tracing::walk(&mut cursor).is_ok() && self.is_followed(&record);
        if is_sound {
            return record;
        }
        let mut budget = self.budget;
        let reach = Reach::Offset(record.end());
        let next = self.search((payload..record.end(), 1), reach, &mut budget);
        self.budget = budget;
        if let Some(next) = next {
            record.outside = next.saturating_sub(payload);
        }
        record
    }

    /// Passes over a sample before damage, if bytes were lost or added inside it and valid records
    /// follow.
    #[cold]
    pub(super) fn skip_torn(&mut self, record: &Record<'_>) -> Option<Damage> {
        let events = self.events.filter(|_| record.frame.kind == record::SAMPLE)?;
        let before = Self { at: self.past.last, run: &[], ..self.clone() }.read_record().ok();
        let before = before.as_ref().map(|before| before.view(self.layer, 0));
        if !is_torn(events, &record.view(self.layer, 0), before.as_ref()) {
            return None;
        }
        let (at, run) = (self.at, self.run);
        let damage = self.skip_damage(FrameFault::PastEnd(record.frame));
        if !damage.resumes {
            (self.at, self.run) = (at, run);
            return None;
        }
        Some(damage)
    }
}

/// Whether a sample that no record follows, but damage, is part of it: its event is none although
/// others have one, or its time is far from that of the sample before.
fn is_torn(events: &Events, record: &RecordView<'_>, before: Option<&RecordView<'_>>) -> bool {
    let mut sample = Sample::default();
    if !matches!(events.read_sample(record, &mut sample), SampleRead::Complete { .. }) {
        return false;
    }
    let has_no_event = sample.origin.id == Some(0) && events.attrs().len() > 1;
    let earlier = before.and_then(|before| events.origin_of(before)).and_then(|one| one.time);
    let is_far = match (sample.origin.time, earlier) {
        (Some(time), Some(earlier)) => time.abs_diff(earlier) > APART,
        _ => false,
    };
    has_no_event || is_far
}
