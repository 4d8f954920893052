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

use std::collections::BTreeMap;

use super::events::{Copies, MOST_RECORDS};
use super::{Correction, Part};
use crate::formats::perf::decode::event::SampleRead;
use crate::formats::perf::decode::tracepoints::{self, Traced};
use crate::formats::perf::layout::{TYPE_TRACEPOINT, feature, record};
use crate::kit::span::Layer;
use crate::limits::Limits;

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

impl Copies<'_> {
    /// Corrects `config` of tracepoints that contradict all of their samples.
    pub(super) fn correct_tracepoints(&self, limits: &Limits) -> Vec<Correction> {
        let is_tracepoint = |attr: &u64| self.peek.u32(*attr) == Some(TYPE_TRACEPOINT);
        if !self.attrs.iter().any(is_tracepoint) {
            return Vec::new();
        }
        let mut corrections = Vec::new();
        for (index, seen) in self.seen_tracepoints() {
            let Some(attr) = self.attrs.get(index).filter(|attr| is_tracepoint(attr)) else {
                continue;
            };
            let at = attr.saturating_add(CONFIG);
            let Some(config) = self.peek.u64(at).filter(|config| *config != seen.id) else {
                continue;
            };
            let is_sure = !seen.is_mixed && seen.samples >= LEAST_SAMPLES;
            if !is_sure || !self.has_format(seen.id, limits) || self.has_format(config, limits) {
                continue;
            }
            let data = self.recording.body.data;
            let meaning = "samples with the data of the tracepoint";
            corrections.push(Correction::new(Part::Attr(index)).word(at, config, seen.id).witness(
                data.offset,
                data.size,
                meaning,
            ));
        }
        corrections
    }

    /// Returns the tracepoints of the samples by the number of their attr.
    fn seen_tracepoints(&self) -> BTreeMap<usize, Seen> {
        let mut seen: BTreeMap<usize, Seen> = BTreeMap::new();
        let Some(events) = self.events(None) else { return seen };
        for (number, record) in (0..).zip(self.records().take(MOST_RECORDS)) {
            if record.frame.kind != record::SAMPLE {
                continue;
            }
            let read = events.read_sample(&record.view(Layer::stored(0), number));
            let SampleRead::Complete { sample, attr, .. } = read else { continue };
            let Some(index) = events.attr_of(&sample, attr) else { continue };
            let id = sample.raw.kind.map_or(0, u64::from);
            let one = seen.entry(index).or_insert(Seen { id, samples: 0, is_mixed: false });
            one.samples = one.samples.saturating_add(1);
            one.is_mixed |= one.id != id;
        }
        seen
    }

    /// Whether TRACING_DATA has the format of a tracepoint.
    fn has_format(&self, id: u64, limits: &Limits) -> bool {
        let end = self.recording.body.data.end().filter(|end| *end <= self.peek.len());
        let section = end.and_then(|end| self.recording.table(end).section(feature::TRACING_DATA));
        let Some(section) = section else { return false };
        let traced: Traced = [(id, 0)].into();
        let sections = [(feature::TRACING_DATA, section)];
        let found = tracepoints::gather(self.recording, &traced, &sections, limits);
        found.iter().any(|one| one.format.is_some())
    }
}
