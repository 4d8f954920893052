//! The conversion of an older layout to version 3.

use crate::formats::revent::decode::FILE;
use crate::formats::revent::decode::time::Time;
use crate::formats::revent::layout::{Generation, HEADER, MAGIC};
use crate::formats::revent::recover::recording::Recording;
use crate::formats::revent::repair::events::encode_events;
use crate::kit::num::{to_u64, to_usize};
use crate::kit::span::Span;
use crate::kit::words;
use crate::model::edit::{Edit, Fix, Safety, StoredAnew};

/// Writes the recording as version 3, with every event. `range` holds the times of the first and
/// the last event in microseconds.
///
/// # Errors
///
/// The number of bytes to write, if it is more than `max`.
pub(in crate::formats::revent) fn upgrade_fix(
    recording: &Recording<'_>,
    range: Option<(i64, i64)>,
    max: u64,
) -> Result<Fix, u64> {
    let (head, extent) = (&recording.head, &recording.extent);
    let [start, end] = range.map_or([Time::default(); 2], |(first, last)| {
        [Time::from_micros(first), Time::from_micros(last)]
    });
    let times = [start.encode(), end.encode()].concat();
    let times_len = times.len();
    let mut edits = upgrade_header(recording);
    if head.generation == Generation::V2 {
        edits.push(Edit::replace(Span::new(FILE, head.events, head.events), times));
    } else {
        // The pair that the recorder added is written, too, whether it is counted or not.
        let written = extent.pair.map_or(extent.count, |pair| pair.index.saturating_add(2));
        let written = written.max(extent.count);
        let len = written.saturating_mul(Generation::V3.layout().event);
        if len > max {
            return Err(len);
        }
        let mut bytes = extent.count.to_le_bytes().to_vec();
        bytes.extend(times);
        bytes.extend(encode_events(recording, written, Generation::V3));
        edits.push(Edit::replace(Span::new(FILE, head.events, recording.file_len()), bytes));
    }
    let events = words::plural(extent.count, "event");
    let summary = format!("convert {events} to version 3, set start to {start} and end to {end}");
    let mut fix = Fix::new(Safety::Synthetic, summary, edits);
    // Every event is kept, in another layout; start and end are added.
    let stored = fix.edits.iter().fold(0, |sum: u64, edit| sum.saturating_add(edit.span.len()));
    let written = fix.edits.iter().map(|edit| to_u64(edit.insert.len()));
    let written = written.fold(0, u64::saturating_add);
    let inserted = to_u64(times_len);
    fix.anew = StoredAnew { stored, kept: written.saturating_sub(inserted), dropped: 0, inserted };
    Ok(fix)
}

/// Returns the edits that write the header of version 3.
fn upgrade_header(recording: &Recording<'_>) -> Vec<Edit> {
    let head = &recording.head;
    let version = Generation::V3.layout().version.unwrap_or_default().to_le_bytes();
    let (span, bytes) = match head.generation {
        Generation::V2 | Generation::V3 => (Span::new(FILE, 6, 8), version.to_vec()),
        // Version, mode and padding.
        Generation::V1 => (Span::new(FILE, 6, 8), [version.as_slice(), &[0; 8]].concat()),
        _ => {
            let mut bytes = [MAGIC.as_slice(), &version].concat();
            bytes.resize(to_usize(HEADER), 0);
            bytes.extend(u32::try_from(head.device_count()).unwrap_or(0).to_le_bytes());
            (Span::new(FILE, 0, head.generation.layout().device_count), bytes)
        }
    };
    vec![Edit::replace(span, bytes)]
}
