//! The tracepoint of an attr, by the data of its samples.
//!
//! ```text
//!  attr.config 316            sample: ... raw data: common_type 316, ...
//!  TRACING_DATA: the format of tracepoint 316
//! ```
//!
//! The data of a sample begin with the id of its tracepoint, which is `config` of its attr, and
//! TRACING_DATA has the formats of all tracepoints of the recording. If all samples of an event
//! have the data of one tracepoint, and TRACING_DATA has the format of that one but none of the
//! attr's, `config` is damaged.

use std::collections::{BTreeMap, BTreeSet};

use super::attr_copies::{AttrCopies, AttrHome, MOST_RECORDS};
use super::{Correction, Part};
use crate::formats::perf::decode::event::SampleRead;
use crate::formats::perf::decode::sample::Sample;
use crate::formats::perf::decode::tracing::WantedTracepoints;
use crate::formats::perf::layout::{TYPE_TRACEPOINT, feature, record};
use crate::formats::perf::recover::tracepoints;
use crate::kit::span::Layer;
use crate::model::limits::Limits;

/// Offset of `config` in an attr.
const CONFIG: u64 = 8;
/// Samples that must agree.
const LEAST_SAMPLES: u64 = 2;

/// The tracepoint that the samples of an event have.
#[derive(Clone, Copy, Debug)]
struct Seen {
    id: u64,
    samples: u64,
    /// Whether another sample has another one, or no data.
    is_mixed: bool,
}

/// A tracepoint whose samples agree on another one.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    /// Number of the attr.
    index: usize,
    /// Offset of its `config`.
    at: u64,
    stored: u64,
    seen: u64,
}

impl AttrCopies<'_> {
    /// Corrects `config` of tracepoints that contradict all of their samples.
    pub(super) fn correct_tracepoints(&self, limits: &Limits) -> Vec<Correction> {
        let is_tracepoint = |attr: &u64| self.peek.u32(*attr) == Some(TYPE_TRACEPOINT);
        if !self.attrs.iter().any(is_tracepoint) {
            return Vec::new();
        }
        let suspects = self.suspects();
        let ids = suspects.iter().flat_map(|one| [one.stored, one.seen]);
        let known = self.find_formats(ids.map(|id| (id, 0)).collect(), limits);
        let is_wrong = |one: &&Suspect| known.contains(&one.seen) && !known.contains(&one.stored);
        let data = self.data;
        let meaning = "samples with the data of the tracepoint";
        let correct = |one: &Suspect| {
            Correction::new(Part::Attr(one.index)).word(one.at, one.stored, one.seen).witness(
                data.offset,
                data.size,
                meaning,
            )
        };
        suspects.iter().filter(is_wrong).map(correct).collect()
    }

    /// Returns the tracepoints whose samples agree on another one.
    fn suspects(&self) -> Vec<Suspect> {
        let seen = self.seen_tracepoints().into_iter();
        let sure = seen.filter(|(_, seen)| !seen.is_mixed && seen.samples >= LEAST_SAMPLES);
        let suspect = |(index, seen): (usize, Seen)| {
            let attr = *self.attrs.get(index)?;
            let at = attr.saturating_add(CONFIG);
            let stored = self.peek.u64(at).filter(|config| *config != seen.id)?;
            let is_tracepoint = self.peek.u32(attr) == Some(TYPE_TRACEPOINT);
            is_tracepoint.then_some(Suspect { index, at, stored, seen: seen.id })
        };
        sure.filter_map(suspect).collect()
    }

    /// Returns the tracepoints of the samples by the number of their attr.
    fn seen_tracepoints(&self) -> BTreeMap<usize, Seen> {
        let mut seen: BTreeMap<usize, Seen> = BTreeMap::new();
        let Some(events) = self.events(None) else { return seen };
        for (number, record) in (0..).zip(self.records().take(MOST_RECORDS)) {
            if record.frame.kind != record::SAMPLE {
                continue;
            }
            let mut sample = Sample::default();
            let read = events.read_sample(&record.view(Layer::stored(0), number), &mut sample);
            let SampleRead::Complete { attr, .. } = read else { continue };
            let Some(index) = events.attr_of(&sample, attr) else { continue };
            let id = sample.raw.kind.map_or(0, u64::from);
            let one = seen.entry(index).or_insert(Seen { id, samples: 0, is_mixed: false });
            one.samples = one.samples.saturating_add(1);
            one.is_mixed |= one.id != id;
        }
        seen
    }

    /// Returns those of the tracepoints whose formats TRACING_DATA has.
    fn find_formats(&self, traced: WantedTracepoints, limits: &Limits) -> BTreeSet<u64> {
        // Of a pipe, only the copies are compared.
        let AttrHome::Table(recording) = &self.home else { return BTreeSet::new() };
        let end = recording.body.data.end().filter(|end| *end <= self.peek.len());
        let section = end.and_then(|end| recording.table(end).section(feature::TRACING_DATA));
        let Some(section) = section.filter(|_| !traced.is_empty()) else { return BTreeSet::new() };
        let sections = [(feature::TRACING_DATA, section)];
        let found = tracepoints::gather(recording, &traced, &sections, limits).into_iter();
        found.filter(|one| one.format.is_some()).map(|one| one.id).collect()
    }
}
