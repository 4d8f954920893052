//! The records that are valid by a reading of the events, wherever they lie.

use super::copies::Copies;
use crate::formats::perf::decode::event::{Events, SampleRead};
use crate::formats::perf::decode::expand::{Wrapper, begins_frame, may_hold_blocks};
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::decode::record as body;
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::layout::record;
use crate::kit::cursor::Order;
use crate::kit::span::Layer;
use crate::kit::walk::Item;

/// Valid records.
#[derive(Clone, Debug, Default)]
pub(super) struct Gathered {
    /// Ranges of the file, in order; records that adjoin are one range.
    pub(super) ranges: Vec<(u64, u64)>,
    /// Number of records.
    pub(super) count: u64,
    /// Number of complete records that are not valid.
    pub(super) lost: u64,
    /// The types of the records, as a set of bits.
    pub(super) kinds: u128,
    /// The evidence for the events, by [`Events::weigh`]; a sample that names one of them counts
    /// double.
    pub(super) weight: u64,
}

impl Gathered {
    /// Leaves out the records that end after `at`.
    pub(super) fn end_before(&mut self, at: u64) {
        self.ranges.retain(|(start, _)| *start < at);
        for (_, end) in &mut self.ranges {
            *end = (*end).min(at);
        }
    }
}

/// Gathers the records between the header and `end`; at most `most` places are searched for the
/// next record after damage. If `has_others`, samples of other events may be among them, whose
/// attrs are lost: perf would show these under the only event.
pub(super) fn gather(
    recording: &Recording<'_>,
    (events, has_others): (&Events, bool),
    end: u64,
    most: u64,
) -> Gathered {
    let start = find_start(recording, events);
    let mut gathered = Gathered::default();
    let items = recording.file.records((start, end), most).judged_by(events);
    let (mut before, mut stream) = (start, ZstdStream::default());
    let mut copies = Copies::default();
    for (index, item) in (0_u64..).zip(items) {
        let item = match item {
            Item::Record(item) => item,
            Item::Damage(damage) => {
                stream.is_broken |= stream.is_open && may_hold_blocks(damage.span);
                continue;
            }
        };
        let view = item.view(Layer::stored(0), index);
        if !stream.accepts(&view, events.order()) {
            gathered.lost = gathered.lost.saturating_add(1);
            continue;
        }
        let weight = events.weigh(&view);
        // A record of a newer type counts if it follows a valid one.
        let is_new = body::name(item.frame.kind).is_none() && before == item.offset;
        let named = names_event(events, &view);
        let is_foreign = has_others && named == Some(false);
        let is_of_pipe = item.frame.kind == record::TRACING_DATA && !is_readable(events, &view);
        if is_foreign || is_of_pipe || weight == 0 && !is_new && !is_readable(events, &view) {
            gathered.lost = gathered.lost.saturating_add(1);
            continue;
        }
        if copies.has(events, &view) {
            gathered.lost = gathered.lost.saturating_add(1);
            continue;
        }
        before = item.end();
        gathered.count = gathered.count.saturating_add(1);
        let named = if named == Some(true) { weight } else { 0 };
        gathered.weight = gathered.weight.saturating_add(weight).saturating_add(named);
        gathered.kinds |= 1_u128.checked_shl(item.frame.kind).unwrap_or(0);
        match gathered.ranges.last_mut() {
            Some((_, end)) if *end == item.offset => *end = item.end(),
            _ => gathered.ranges.push((item.offset, item.end())),
        }
    }
    gathered
}

/// The zstd stream of the compressed records: after lost blocks, the next ones expand to other
/// bytes than they did.
#[derive(Clone, Copy, Debug, Default)]
struct ZstdStream {
    is_open: bool,
    is_broken: bool,
}

impl ZstdStream {
    /// Whether a record expands to what it did. One that is not compressed stays as it is.
    fn accepts(&mut self, record: &RecordView<'_>, order: Order) -> bool {
        let Some(wrapper) = Wrapper::of(record.frame.kind) else { return true };
        self.is_open = true;
        self.is_broken &= !begins_frame(wrapper.payload(record.bytes, order));
        !self.is_broken
    }
}

/// Returns where the records begin: where the header has it, if a record is there, else after the
/// header.
fn find_start(recording: &Recording<'_>, events: &Events) -> u64 {
    let (stated, least) = (recording.body.data.offset, recording.header.length());
    let first = recording.file.records((stated, recording.length()), 0).next();
    let first = first.and_then(Item::record);
    let is_valid = first.is_some_and(|record| events.weigh(&record.view(Layer::stored(0), 0)) > 0);
    if stated >= least && is_valid { stated } else { least }
}

/// Whether a sample names an id that an event has; `None` if it names none. Of a single event perf
/// does not ask that, but others may be lost.
pub(super) fn names_event(events: &Events, view: &RecordView<'_>) -> Option<bool> {
    let mut sample = Sample::default();
    let is_sample = view.frame.kind == record::SAMPLE;
    let is_read =
        is_sample && matches!(events.read_sample(view, &mut sample), SampleRead::Complete { .. });
    let id = sample.origin.id.filter(|_| is_read)?;
    Some(events.find(id).is_some())
}

/// Whether a check finds no error in a record.
fn is_readable(events: &Events, record: &RecordView<'_>) -> bool {
    match record.frame.kind {
        record::SAMPLE => {
            let mut sample = Sample::default();
            let read = events.read_sample(record, &mut sample);
            matches!(read, SampleRead::Complete { .. }) && events.has_id_of(&sample)
        }
        record::ID_INDEX if !events.unknown_in_index(record).is_empty() => false,
        // No perf reads it in a file.
        record::TRACING_DATA => events.dialect.is_simpleperf,
        kind => {
            body::name(kind).is_some()
                && !events.lacks_event_of(record)
                && events.read_fields(record).is_ok()
        }
    }
}
