//! The parts of a check of the features; `features`, `cpus` and `feature_faults` judge.

use super::records::Seen;
use crate::formats::perf::decode::feature::{self, Machine};
use crate::formats::perf::decode::header::Section;
use crate::formats::perf::decode::recording::Recording;
use crate::formats::perf::decode::tracing::WantedTracepoints;
use crate::formats::perf::repair::{self, Features, NewFeature};
use crate::kit::cursor::Order;
use crate::kit::span::Span;
use crate::model::limits::Limits;

/// Facts about the records that the features must match.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordFacts {
    /// Longest expansion of a compressed record in bytes, and the ratio.
    pub(super) compressed: Option<(u64, u64)>,
    /// Parts that the records showed.
    pub(super) seen: Seen,
    /// Whether there are `data.N` files.
    pub(super) has_parts: bool,
    /// End of the attrs and their ids; perf inject writes them after the records.
    pub(super) attrs_end: u64,
    /// The tracepoints, which TRACING_DATA has to describe.
    pub(super) tracepoints: WantedTracepoints,
    /// The perf that recorded, as VERSION describes it.
    pub(super) recorder: Machine,
    /// Number of events.
    pub(super) events: usize,
    /// The AUXTRACE records in their order; `None` if not all are known.
    pub(super) traces: Option<Vec<Span>>,
}

impl RecordFacts {
    /// Builds the features that the records need, except those for which `is_kept` holds.
    pub(super) fn needed_features(
        &self,
        order: Order,
        is_kept: impl Fn(u32) -> bool,
    ) -> Vec<NewFeature> {
        let has_stat = self.seen.stat_records > 0;
        let is_kept = |bit| self.seen.features.has(bit) || is_kept(bit);
        repair::needed(self.compressed, has_stat, self.has_parts, order, is_kept)
    }
}

/// Checks the features of a recording whose records end at `end`, as in the header.
pub(super) struct FeatureCheck<'a> {
    pub(super) recording: &'a Recording<'a>,
    pub(super) facts: &'a RecordFacts,
    pub(super) end: u64,
    /// Whether fixes may move the features: nothing else moves them in this round.
    pub(super) can_fix: bool,
    pub(super) limits: &'a Limits,
}

/// The features of a recording that no fix moves.
pub(super) struct Settled {
    /// The end of the records.
    pub(super) end: u64,
    /// The features.
    pub(super) features: Features,
    /// Whether the file ends with the last of them.
    pub(super) is_tight: bool,
}

/// The features of a table, sorted by the place of their sections.
pub(super) struct Placed {
    /// The bytes of the table.
    pub(super) table: Span,
    /// Features whose sections lie after the table and inside the file.
    pub(super) inside: Vec<(u32, Section)>,
    /// Features whose sections do not, or whose entries are missing.
    pub(super) outside: Vec<u32>,
}

/// Returns the name of a feature, or its number.
pub(super) fn title(bit: u32) -> String {
    feature::name(bit).map_or_else(|| format!("feature {bit}"), str::to_string)
}
