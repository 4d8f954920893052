//! A record that lost its size, or its whole header, to zeros.

use super::Walker;
use crate::formats::perf::decode::event::SampleRead;
use crate::formats::perf::decode::frame::{Frame, Place, Record, RecordView};
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::layout::record as kind;

/// The bits of `misc` that say whose code was interrupted: the kernel's, or that of a user.
const KERNEL: u16 = 1;
const USER: u16 = 2;
/// The largest size of a record.
const MOST: u64 = 0xffff;

impl<'a> Walker<'a> {
    /// Reads the record at the position, whose header is `found`, as one that ends where the next
    /// one begins, at `end`: its fields fill the bytes. Without a header, only a sample with a time
    /// is recognised.
    #[cold]
    pub(super) fn read_up_to(&self, end: u64, found: Frame) -> Option<Record<'a>> {
        let size = end.checked_sub(self.at).filter(|size| *size <= MOST)?;
        let is_blank = (found.kind, found.misc) == (0, 0);
        if self.dialect.is_simpleperf || !is_blank && kind::name(found.kind).is_none() {
            return None;
        }
        let bytes = self.source.read(self.at, end);
        let place = Place { layer: self.layer, offset: self.at, index: 0 };
        let view = |frame| RecordView { frame, place, bytes: &bytes };
        let mut frame = Frame { size, ..found };
        if is_blank {
            frame.kind = kind::SAMPLE;
        }
        if frame.kind == kind::SAMPLE {
            let mut sample = Sample::default();
            let read = self.events?.read_sample(&view(frame), &mut sample);
            let is_whole = matches!(read, SampleRead::Complete { trailing: 0, .. });
            let has_time = sample.origin.time.map_or(!is_blank, |time| time != 0);
            if !is_whole || !has_time {
                return None;
            }
            if is_blank {
                frame.misc = if sample.ip.is_some_and(|ip| ip >> 63 == 1) { KERNEL } else { USER };
            }
        }
        let record = self.with_payload(frame, bytes.clone()).ok()?;
        let fits = record.outside == 0 && self.evidence().fits(&view(frame));
        fits.then_some(Record { found: Some(found), ..record })
    }
}
