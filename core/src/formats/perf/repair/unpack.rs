//! Writes the records in compressed records as they are, damaged bytes included: then each of them
//! can be dropped or corrected by itself. In a zstd block none can, since later blocks refer to it.

use super::store::{HeldEnd, WrapperPlace, replace_wrappers};
use crate::formats::perf::decode::event::Events;
use crate::formats::perf::decode::expand::{Expansion, Step, Wrapper};
use crate::formats::perf::decode::recording::RecordFile;
use crate::formats::perf::decode::walk::Walker;
use crate::formats::perf::layout::record;
use crate::formats::perf::recover::doubt::{self, Named, Testimony, Verdict};
use crate::kit::cursor::Order;
use crate::kit::source::Source;
use crate::kit::span::{Layer, Span};
use crate::kit::walk::Item;
use crate::model::edit::Edit;
use crate::model::limits::{INSERTED, Limits, RESYNC, ZSTD_WINDOW};

/// Bytes that are expanded per byte of a file: recordings of perf expand to less than 100 (limit
/// `expansion-ratio`), and all of them are held.
const RATIO_MOST: u64 = 100;

/// Records and damage among the expanded bytes that are judged, of some 64 bytes each. Later ones
/// are written, and called doubtful.
const JUDGED_MAX: usize = 1 << 18;

/// The edits that replace the compressed records of a file.
pub struct Unpacked {
    /// One for each compressed record.
    pub edits: Vec<Edit>,
    /// Number of records that they write.
    pub records: u64,
    /// Number of records that they leave out, since others contradict them.
    pub dropped: u64,
    /// Number of samples that they write and that may have wrong values.
    pub doubtful: u64,
}

/// Returns the edits that replace the compressed records in an area of a file by the bytes that
/// they expand to; `None` if not all of them expand, if they take more than the limit `inserted`,
/// or if the places of other records are listed elsewhere. Raises `expanded`, the number of bytes
/// that a check has expanded, to those that are expanded here, since it may have ended earlier.
pub fn unpack(
    file: &RecordFile<'_>,
    area: (u64, u64),
    expanded: &mut u64,
    events: &Events,
    limits: &Limits,
) -> Option<Unpacked> {
    let room = room_of(file, limits);
    if *expanded > room {
        return None;
    }
    let mut expansion = Expansion::new(file.dialect(), limits.of(&ZSTD_WINDOW));
    expansion.begin_file(file.index());
    let (mut wrappers, mut bytes) = (Vec::new(), Vec::new());
    let mut named = Named::default();
    for item in file.records(area, limits.of(&RESYNC)) {
        // Fixes of the bytes between records come first.
        let Item::Record(record) = item else { return None };
        // util/auxtrace.c: auxtrace_index holds the offsets of these records.
        if record.frame.kind == record::AUXTRACE {
            return None;
        }
        let Some(wrapper) = Wrapper::of(record.frame.kind) else {
            named.note(&record.view(file.layer(), 0), file.order());
            continue;
        };
        let span = Span::sized(file.layer(), record.offset, record.frame.size);
        let payload = wrapper.payload(&record.bytes, file.order());
        let fed = expansion.expand(payload, span, |expansion, step| {
            bytes.extend_from_slice(bytes_of(&step));
            expansion.end() <= room
        });
        *expanded = expansion.end().max(*expanded);
        if fed.is_err() || expansion.end() > room {
            return None;
        }
        wrappers.push(WrapperPlace { span, expanded_end: expansion.end() });
    }
    expansion.finish();
    expansion.release(|_, step| {
        bytes.extend_from_slice(bytes_of(&step));
        true
    });
    bytes.extend_from_slice(expansion.incomplete().map_or(&[], |rest| rest.bytes));
    Some(write(bytes, wrappers, named, (events, limits)))
}

const fn bytes_of<'e>(step: &Step<'e>) -> &'e [u8] {
    match step {
        Step::Expanded(_) => &[],
        Step::Record(record) => record.bytes,
        Step::Damage(damage) => damage.bytes,
    }
}

/// Returns the most bytes that a repair writes for compressed records: it does not insert more, and
/// real recordings expand to less.
pub fn room_of(file: &RecordFile<'_>, limits: &Limits) -> u64 {
    file.length().saturating_mul(RATIO_MOST).min(limits.of(&INSERTED))
}

/// Writes the expanded bytes without the records that others contradict.
fn write(
    mut bytes: Vec<u8>,
    wrappers: Vec<WrapperPlace>,
    mut named: Named,
    (events, limits): (&Events, &Limits),
) -> Unpacked {
    let source = Source::new(&bytes);
    let walker = Walker::new(&source, 0, events.order(), false, (0, source.len()));
    let walker = walker.judged_by(events).resyncing(limits.of(&RESYNC));
    let mut groups = vec![Vec::new(); wrappers.len()];
    let (mut ends, mut unjudged) = (Vec::new(), [0_u64; 2]);
    for item in walker {
        let (end, testimony) = match item {
            // A header that is damaged as well makes the values no better.
            Item::Record(record) if record.found.is_some() => (record.end(), Testimony::DAMAGE),
            Item::Record(record) => {
                let view = record.view(Layer::stored(0), 0);
                named.note(&view, events.order());
                (record.end(), Testimony::of(&view, events))
            }
            Item::Damage(damage) => (damage.span.end, Testimony::DAMAGE),
        };
        if ends.len() < JUDGED_MAX {
            let group = wrappers.partition_point(|wrapper| wrapper.expanded_end < end);
            groups.get_mut(group).into_iter().for_each(|group: &mut Vec<_>| group.push(testimony));
        } else {
            let [records, samples] = &mut unjudged;
            *records = records.saturating_add(testimony.is_record().into());
            *samples = samples.saturating_add(testimony.is_sample().into());
        }
        ends.push(end);
    }
    let verdict = doubt::judge(&groups, named);
    let ends = keep_believed(&mut bytes, &ends, &verdict);
    let [records, samples] = unjudged;
    Unpacked {
        edits: replace_wrappers(wrappers, &Source::new(&bytes), &ends),
        records: verdict.kept.saturating_add(records),
        dropped: verdict.dropped,
        doubtful: verdict.doubtful.saturating_add(samples),
    }
}

/// Leaves the bytes of believed records and of damage; returns where each end is then.
fn keep_believed(bytes: &mut Vec<u8>, ends: &[u64], verdict: &Verdict) -> Vec<HeldEnd> {
    let is_believed = |index: usize| verdict.believed.get(index).is_none_or(|one| *one);
    let (mut start, mut held) = (0, 0_u64);
    let held_ends = ends.iter().enumerate().map(|(index, end)| {
        let len = end.saturating_sub(std::mem::replace(&mut start, *end));
        held = held.saturating_add(if is_believed(index) { len } else { 0 });
        HeldEnd { expanded: *end, held }
    });
    let held_ends = held_ends.collect();
    if verdict.dropped > 0 {
        let (mut at, mut index) = (0_u64, 0_usize);
        bytes.retain(|_| {
            while ends.get(index).is_some_and(|end| *end <= at) {
                index = index.saturating_add(1);
            }
            at = at.saturating_add(1);
            is_believed(index)
        });
    }
    held_ends
}

/// Whether the first bytes of a record that is too long for the data hold complete records: then
/// only its size is wrong.
pub fn covers_records(bytes: &[u8], order: Order, events: &Events, limits: &Limits) -> bool {
    /// The weight of a sample.
    const SURE: u64 = 4;
    let source = Source::new(bytes);
    let walker = Walker::new(&source, 0, order, false, (0, source.len()));
    let walker = walker.judged_by(events).resyncing(limits.of(&RESYNC));
    let weights = walker.filter_map(Item::record).map(|record| {
        let view = record.view(Layer::stored(0), 0);
        events.weigh(&view)
    });
    weights.fold(0, u64::saturating_add) >= SURE
}
