//! The parts of a recording that can be trusted, where the outline is beyond restoration.
//!
//! ```text
//!  events    attr table as stored, found again, or in EVENT_DESC; else attrs before the records
//!  records   all that are read by these events to their last byte, wherever they lie
//!  features  sections with the shape of a feature, in the order of the bits
//! ```
//!
//! Several readings of the events race: the one by which most records can be read wins. A
//! recording that is put together from these parts is valid; what does not fit is left out.

mod anchors;
mod attrs;
mod copies;
mod mend;
mod pipe;
mod records;

use std::cmp::Reverse;

pub(super) use self::attrs::{are_ids, attr_size_at};
pub use self::attrs::{described_in, read_events};
use self::mend::EVIDENCE;
pub(super) use self::mend::{gather as gather_evidence, mend_attrs};
pub use self::pipe::salvage_pipe;
use super::flags::{self, Demand};
use super::identity;
use super::peek::Peek;
use super::{shape, table_search};
use crate::formats::perf::decode::attrs::StoredEvent;
use crate::formats::perf::decode::event::{Events, SampleRead};
use crate::formats::perf::decode::feature::Machine;
use crate::formats::perf::decode::frame::Record;
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::decode::tracing::WantedTracepoints;
use crate::formats::perf::layout::{SECTION_SIZE, TYPE_TRACEPOINT, feature, is_published, record};
use crate::formats::perf::recover::tracepoints::{self, Tracepoint, traced};
use crate::kit::num::to_u64;
use crate::kit::span::Layer;
use crate::model::limits::{Limits, RESYNC};

/// Parts of a recording from which a valid one can be put together.
#[derive(Clone, Debug)]
pub struct Salvage {
    /// The events; their attrs have one size.
    pub events: Vec<StoredEvent>,
    /// Whether values of attrs are not those of the file.
    pub is_mended: bool,
    /// Number of events of which nothing tells what they counted.
    pub unknown: u64,
    /// Ranges of the file with valid records, in order.
    pub ranges: Vec<(u64, u64)>,
    /// Number of valid records.
    pub records: u64,
    /// Number of complete records that are left out.
    pub lost: u64,
    /// Features and their sections.
    pub features: Vec<(u32, Section)>,
    /// Number of features that the header flags.
    pub flagged: u64,
    /// Tracepoints whose formats are left, if TRACING_DATA is not among the features.
    pub tracepoints: Vec<Tracepoint>,
}

/// Places that are searched for records by each of up to some dozen readings; the best one then
/// gets all that the limit allows. The right one searches few, since its records follow one
/// another.
const TRIED: u64 = 1 << 20;

/// One of so many records of the evidence has to be explained: noise may be the attr of an event
/// whose samples all have more bytes.
const LEAST_SHARE: u64 = 8;

/// What makes a reading better: the weight of its records, the evidence that it explains, plausible
/// values of it, and few unknown events.
type Merit = (u64, u64, u64, Reverse<usize>);

/// Finds the parts of a recording that can be trusted; `None` without an event or a record.
pub fn salvage(recording: &Recording<'_>, limits: &Limits) -> Option<Salvage> {
    let peek = Peek { source: recording.file.source(), order: recording.order() };
    let table = table_search::find_table(recording, limits);
    let sections = table.as_ref().map(|table| table.sections.clone()).unwrap_or_default();
    let end = peek.len();
    let mut readings = attrs::readings(peek, recording, &sections, end);
    let evidence =
        mend::gather(&recording.file, (mend::find_start(recording, end), end), EVIDENCE, limits);
    readings.extend(anchors::reading(peek, recording, &evidence));
    // The ids are held once: what follows reads them anew.
    let gather = |reading: &attrs::Reading, most: u64| {
        let events = reading.events(recording.order()).filter(Events::can_be_opened)?;
        let has_others = may_have_others(recording, &events, &evidence);
        Some(records::gather(recording, (&events, has_others), end, most))
    };
    let most = limits.of(&RESYNC);
    let mut best: Option<(Merit, attrs::Reading)> = None;
    let mut effort = mend::Effort::new(limits);
    for reading in readings {
        let mended = mend::mend(&reading, &evidence, recording.order(), &mut effort);
        let found: Vec<attrs::Reading> = [Some(reading), mended].into_iter().flatten().collect();
        let alike = found.iter().flat_map(|reading| mend::similar(reading, recording.order()));
        for reading in found.iter().cloned().chain(alike) {
            let Some(gathered) = gather(&reading, most.min(TRIED)) else { continue };
            // Compressed records are as valid by any events; those in them are not.
            let (explained, plausible, _) = mend::score(&reading, &evidence, recording.order());
            let merit = (gathered.weight, explained, plausible, Reverse(reading.unknown));
            if best.as_ref().is_none_or(|(most, _)| merit > *most) {
                best = Some((merit, reading));
            }
        }
    }
    let least = to_u64(evidence.len()).div_ceil(LEAST_SHARE);
    let (_, mut reading) = best.filter(|((_, explained, ..), _)| *explained >= least)?;
    let mut gathered = gather(&reading, most).filter(|gathered| gathered.count > 0)?;
    forget_lone(recording, &mut reading);
    mend::clear_reserved(&mut reading, recording.order());
    name_ids(recording, &mut reading, &evidence);
    let mut features = Vec::new();
    if let Some(table) = table.filter(|table| is_table(peek, &table.sections)) {
        gathered.end_before(table.at);
        features = keep_features(peek, recording, &sections, &reading, &gathered);
        features.retain(|(_, section)| section.offset >= table.at);
    }
    (!gathered.ranges.is_empty()).then(|| Salvage {
        tracepoints: find_tracepoints(recording, &reading, &features, limits),
        features,
        events: reading.events,
        is_mended: reading.is_mended,
        unknown: to_u64(reading.unknown),
        ranges: gathered.ranges,
        records: gathered.count,
        lost: gathered.lost,
        flagged: recording.body.flags.count(),
    })
}

/// Finds the formats of the tracepoints, unless TRACING_DATA is kept.
fn find_tracepoints(
    recording: &Recording<'_>,
    reading: &attrs::Reading,
    kept: &[(u32, Section)],
    limits: &Limits,
) -> Vec<Tracepoint> {
    let is_kept = kept.iter().any(|(bit, _)| *bit == feature::TRACING_DATA);
    let events = reading.events(recording.order()).filter(|_| !is_kept);
    let traced = events.map_or_else(WantedTracepoints::default, |events| traced(events.attrs()));
    if traced.is_empty() {
        return Vec::new();
    }
    let mut found = tracepoints::gather(recording, &traced, kept, limits);
    // Without any, the check of the rebuilt file builds TRACING_DATA.
    if found.iter().all(|one| one.format.is_none()) {
        found.clear();
    }
    found
}

/// Whether other events may be lost beside a single one: it has the ids of some samples, and the
/// header does not say that there is one event.
fn may_have_others(recording: &Recording<'_>, events: &Events, evidence: &[Record<'_>]) -> bool {
    let names = |record: &Record<'_>| {
        records::names_event(events, &record.view(Layer::stored(0), 0)) == Some(true)
    };
    events.attrs().len() == 1 && stated_events(recording) != Some(1) && evidence.iter().any(names)
}

/// Returns the number of events that the header states; `None` if its values are no such.
fn stated_events(recording: &Recording<'_>) -> Option<u64> {
    let (attrs, size) = (recording.body.attrs.size, recording.body.attr_size);
    attr_len(size)?;
    let is_whole = attrs > 0 && attrs.checked_rem(size) == Some(0);
    attrs.checked_div(size).filter(|_| is_whole)
}

/// A single event without ids would have the samples of all that the header states.
fn forget_lone(recording: &Recording<'_>, reading: &mut attrs::Reading) {
    if let [event] = reading.events.as_mut_slice()
        && event.ids.is_empty()
        && stated_events(recording).is_some_and(|count| count > 1)
    {
        identity::forget(&mut event.attr, recording.order());
        reading.unknown = 1;
    }
}

/// Gives the only event the ids that the counter values in samples name: perf leaves out values
/// with other ids.
fn name_ids(recording: &Recording<'_>, reading: &mut attrs::Reading, evidence: &[Record<'_>]) {
    let Some(events) = reading.events(recording.order()) else { return };
    let [event] = reading.events.as_mut_slice() else { return };
    for record in evidence.iter().filter(|record| record.frame.kind == record::SAMPLE) {
        let view = record.view(Layer::stored(0), 0);
        let mut sample = Sample::default();
        let read = events.read_sample(&view, &mut sample);
        let SampleRead::Complete { attr, trailing: 0 } = read else { continue };
        for id in events.value_ids(&view, &sample, attr) {
            if !event.ids.contains(&id) {
                event.ids.push(id);
                reading.is_mended = true;
            }
        }
    }
}

/// Whether most sections have contents: what looks like a table may be other bytes.
fn is_table(peek: Peek<'_>, sections: &[Section]) -> bool {
    let used = sections.iter().filter(|section| section.size > 0);
    let fits = used.clone().filter(|section| shape::is_any(peek, **section)).count();
    fits > 0 && fits.saturating_mul(2) >= used.count()
}

/// Returns the features whose sections have the shapes of the bits that the header flags or that
/// the sections show.
fn keep_features(
    peek: Peek<'_>,
    recording: &Recording<'_>,
    sections: &[Section],
    reading: &attrs::Reading,
    gathered: &records::Gathered,
) -> Vec<(u32, Section)> {
    let stored = recording.body.flags;
    let mut demand = Demand::default();
    let has = |kind: u32| gathered.kinds >> kind & 1 == 1;
    if has(record::COMPRESSED) || has(record::COMPRESSED2) {
        demand.set(feature::COMPRESSED, true);
    }
    if (record::STAT_CONFIG..=record::STAT_ROUND).any(has) {
        demand.set(feature::STAT, true);
    }
    // The index of AUXTRACE records holds offsets of the file, which change.
    demand.set(feature::AUXTRACE, false);
    demand.set(feature::TRACING_DATA, reading.has_type(peek, TYPE_TRACEPOINT));
    demand.set(feature::DIR_FORMAT, !recording.parts.is_empty());
    let bits = match stored.count() == to_u64(sections.len()) {
        true => Some(stored),
        false => flags::assign(peek, sections, stored, &demand),
    };
    let Some(bits) = bits else { return Vec::new() };
    // CPU_TOPOLOGY can stay without NRCPUS, which is then built again.
    let is_accepted = |feature: (u32, Section), machine: &Machine| {
        let refused = recording.refuse_feature(feature, machine, reading.events.len());
        feature.0 == feature::CPU_TOPOLOGY && machine.cpus().is_none() || refused.is_ok()
    };
    let mut last = 0_u64;
    let mut machine = Machine::default();
    let mut kept = Vec::new();
    for (bit, section) in bits.bits().zip(sections) {
        if demand.excluded.has(bit) || section.offset < last || !section.fits(peek.len()) {
            continue;
        }
        let contents =
            recording.read_feature((bit, *section), machine.cpus(), section.size.min(1 << 20));
        let fits = !shape::is_known(bit) || shape::resembles(peek, bit, *section);
        if let Ok(contents) = contents
            && fits
            && is_accepted((bit, *section), &machine)
        {
            machine.note(&contents);
            last = section.end().unwrap_or(u64::MAX);
            kept.push((bit, *section));
        }
    }
    kept
}

/// Returns the size of an attr by the size of an entry of the attr table.
fn attr_len(entry: u64) -> Option<u64> {
    let size = entry.checked_sub(SECTION_SIZE)?;
    is_published(size).then_some(size)
}
