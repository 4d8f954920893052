//! Times against finished rounds.

use crate::formats::perf::decode::frame::RecordView;
use crate::kit::span::Span;

/// Compares the times of records with finished rounds, as perf's ordered queue does.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    latest: u64,
    /// Records may not be older than this time.
    bound: u64,
    /// The bound after the next finished round.
    next_bound: u64,
    late: u64,
    first_late: Option<LateRecord>,
}

/// A record that is older than a finished round.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateRecord {
    /// The record.
    pub(super) span: Span,
    /// Path of its time.
    pub(super) index: u64,
    /// Its time in ns.
    pub(super) time: u64,
    /// The time up to which the round was finished, in ns.
    pub(super) bound: u64,
}

impl Rounds {
    /// Ends a round.
    ///
    /// util/ordered-events.c: a finished round flushes up to the latest time of the round before.
    #[inline]
    pub(super) const fn finish_round(&mut self) {
        self.bound = self.next_bound;
        self.next_bound = self.latest;
    }

    /// Notes the time of a record.
    #[inline]
    pub(super) fn observe_time(&mut self, time: u64, record: &RecordView<'_>) {
        if time < self.bound {
            self.note_late(time, record);
        }
        self.latest = self.latest.max(time);
    }

    #[cold]
    fn note_late(&mut self, time: u64, record: &RecordView<'_>) {
        self.late = self.late.saturating_add(1);
        let (span, index, bound) = (record.span(), record.place.index, self.bound);
        self.first_late.get_or_insert(LateRecord { span, index, time, bound });
    }

    /// Begins the next file of a directory, which has rounds of its own.
    pub(super) fn begin_file(&mut self) {
        *self = Self { late: self.late, first_late: self.first_late, ..Self::default() };
    }

    /// The first late record, and the number of late records.
    pub(super) fn late(&self) -> Option<(LateRecord, u64)> {
        self.first_late.map(|first| (first, self.late))
    }
}
