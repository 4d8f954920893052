//! A sample in which bytes were lost or added: its header is intact, and the fields after the place
//! are other bytes.

use super::event::{Events, SampleRead};
use super::frame::RecordView;
use super::sample::Sample;

/// Nanoseconds between a sample and the one before it in the file, at most: the buffers of the CPUs
/// are written in turns.
const APART: u64 = 600_000_000_000;

/// Whether a sample that no record follows, but damage, is part of it: its event is none although
/// others have one, or its time is far from that of the sample before.
pub fn is_torn(events: &Events, record: &RecordView<'_>, before: Option<&RecordView<'_>>) -> bool {
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
