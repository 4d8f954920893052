//! The records of a recording by time, in one walk of bounded memory.
//!
//! The range of the times is not known before the walk, and one wrong time must not hide the
//! others. So counts are kept by interval, for intervals that have a record: if these become too
//! many, each two of them become one. A wrong time takes one interval and leaves the others as they
//! are.

use std::collections::BTreeMap;

use tracemend::{
    Clock, Dump, FileSet, FormatId, Limit, MappedLayer, Options, RegionKind, Row, limits,
};

use crate::show::record::Lines;

/// Counts of records by interval and row: some 4 MB.
const COUNTS_MAX: usize = 65_536;
/// Threads, CPUs or devices that are told apart; further ones are one row.
const ROWS_KEPT: usize = 64;
/// Places where something was lost.
const LOSSES_KEPT: usize = 1_000;

/// The limit on the records that are read.
const RECORDS: &Limit = &limits::TIMELINE;

/// A loss between two times, or at one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    pub(super) first: i128,
    pub(super) last: i128,
    /// Records that the recorder reported as lost; `None` for damaged bytes.
    pub(super) records: Option<u64>,
}

/// Counts of records by interval.
#[derive(Debug)]
pub(super) struct Timeline {
    clock: &'static Clock,
    /// An interval has 2 to the power of this units.
    pub(super) shift: u32,
    /// Counts by interval and row.
    pub(super) counts: BTreeMap<(i128, usize), u64>,
    pub(super) rows: Vec<String>,
    pub(super) losses: Vec<Loss>,
    pub(super) placed: u64,
    pub(super) unplaced: u64,
    /// The number of records at which the walk ended before the recording did.
    pub(super) stopped_at: Option<u64>,
    /// The end and the time of the last record of each stream.
    ends: BTreeMap<(String, u64), (u64, i128)>,
}

/// The damaged bytes of a layer, in order.
pub(super) struct Damage {
    name: String,
    depth: u64,
    spans: Vec<(u64, u64)>,
}

impl Damage {
    /// Of a layer.
    pub(super) fn of(layer: &MappedLayer) -> Self {
        let damaged = layer.portions.iter().filter(|one| one.kind == RegionKind::Damage);
        Self {
            name: layer.name.clone(),
            depth: u64::from(!layer.layer.is_stored()),
            spans: damaged.map(|one| (one.span.start(), one.span.end())).collect(),
        }
    }

    /// Whether bytes between two offsets are damaged.
    fn lies_in(&self, start: u64, end: u64) -> bool {
        let next = self.spans.partition_point(|span| span.1 <= start);
        self.spans.get(next).is_some_and(|span| span.0 < end)
    }
}

impl Timeline {
    pub(super) fn new(clock: &'static Clock) -> Self {
        Self {
            clock,
            shift: 0,
            counts: BTreeMap::new(),
            rows: Vec::new(),
            losses: Vec::new(),
            placed: 0,
            unplaced: 0,
            stopped_at: None,
            ends: BTreeMap::new(),
        }
    }

    /// Reads the records of a recording; `None` if the format has no clock, or nothing can be read.
    pub(super) fn read(
        files: &FileSet<'_>,
        (format, options): (FormatId, &Options),
        damage: &[Damage],
    ) -> Option<Self> {
        let mut timeline = Self::new(format.clock());
        if timeline.clock.readings.is_empty() {
            return None;
        }
        let max = options.limits.of(RECORDS);
        let mut lines = Lines::default();
        let dumped = tracemend::dump(files, options, &Dump::JsonLines, &mut |piece| {
            let each = |line: &str| timeline.add_line(line, damage, max);
            lines.add(piece, each).is_ok()
        });
        timeline.finish(damage);
        (dumped.is_ok() && timeline.placed > 0).then_some(timeline)
    }

    /// Adds one record; fails at the limit.
    fn add_line(&mut self, line: &str, damage: &[Damage], max: u64) -> Result<(), ()> {
        if self.placed.saturating_add(self.unplaced) >= max {
            self.stopped_at = Some(max);
            return Err(());
        }
        match Row::read(line) {
            Some(row) => self.add(&row, damage),
            None => self.unplaced = self.unplaced.saturating_add(1),
        }
        Ok(())
    }

    fn add(&mut self, row: &Row<'_>, damage: &[Damage]) {
        let Some(time) = row.time(self.clock) else {
            self.unplaced = self.unplaced.saturating_add(1);
            return;
        };
        self.placed = self.placed.saturating_add(1);
        let place = self.row(row);
        let count = self.counts.entry((time >> self.shift, place)).or_default();
        *count = count.saturating_add(1);
        while self.counts.len() > COUNTS_MAX {
            self.coarsen(self.shift.saturating_add(1));
        }
        let lost = self.clock.lost.iter().find_map(|member| row.integer(member));
        if let Some(records) = lost.and_then(|lost| u64::try_from(lost).ok()) {
            self.lose(Loss { first: time, last: time, records: Some(records) });
        }
        self.follow(row, time, damage);
    }

    /// The place of the row that a record belongs to.
    fn row(&mut self, row: &Row<'_>) -> usize {
        let name = row.subject(self.clock).unwrap_or_default();
        if let Some(known) = self.rows.iter().position(|known| *known == name) {
            return known;
        }
        if self.rows.len() <= ROWS_KEPT {
            let is_last = self.rows.len() == ROWS_KEPT;
            self.rows.push(if is_last { "others".to_string() } else { name });
        }
        self.rows.len() - 1
    }

    /// Makes the intervals longer.
    pub(super) fn coarsen(&mut self, shift: u32) {
        let by = shift.saturating_sub(self.shift).min(127);
        self.shift = self.shift.saturating_add(by);
        for ((interval, row), count) in std::mem::take(&mut self.counts) {
            let sum = self.counts.entry((interval >> by, row)).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    /// Notes a loss; one that continues the last one of its kind belongs to it.
    fn lose(&mut self, loss: Loss) {
        let kept = self.losses.len();
        let is_kind = |last: &&mut Loss| last.records.is_some() == loss.records.is_some();
        match self.losses.last_mut().filter(is_kind) {
            Some(last) if last.last == loss.first => {
                last.last = last.last.max(loss.last);
                last.records = last.records.zip(loss.records).map(|(a, b)| a.saturating_add(b));
            }
            _ if kept < LOSSES_KEPT => self.losses.push(loss),
            _ => {}
        }
    }

    /// Notes damage between a record and the one before it in its stream.
    fn follow(&mut self, row: &Row<'_>, time: i128, damage: &[Damage]) {
        let number = |name: &str| row.integer(name).and_then(|value| u64::try_from(value).ok());
        let (Some(offset), Some(length)) = (number("offset"), number("length")) else { return };
        let key = (row.text("stream").unwrap_or_default(), number("layer").unwrap_or(0).min(1));
        let before = self.ends.get(&key).copied();
        let (end, last) = before.unwrap_or((0, time));
        if is_damaged(damage, &key, (end, offset)) {
            self.lose(Loss { first: last.min(time), last: last.max(time), records: None });
        }
        if before.is_some() || self.ends.len() < LOSSES_KEPT {
            self.ends.insert(key, (end.max(offset.saturating_add(length)), time));
        }
    }

    /// Notes damage after the last record of each stream.
    fn finish(&mut self, damage: &[Damage]) {
        for (key, (end, time)) in std::mem::take(&mut self.ends) {
            if self.stopped_at.is_none() && is_damaged(damage, &key, (end, u64::MAX)) {
                self.lose(Loss { first: time, last: time, records: None });
            }
        }
    }
}

/// Whether bytes of a stream between two offsets are damaged.
fn is_damaged(
    damage: &[Damage],
    (stream, depth): &(String, u64),
    (start, end): (u64, u64),
) -> bool {
    let mut layers = damage.iter().filter(|layer| layer.depth == *depth);
    start < end && layers.any(|layer| layer.name.starts_with(stream) && layer.lies_in(start, end))
}

#[cfg(test)]
mod tests {
    use tracemend::Limits;

    use super::*;

    fn read(lines: &[String], max: u64) -> Timeline {
        let mut timeline = Timeline::new(FormatId::PERF.clock());
        let damage = [Damage { name: String::new(), depth: 0, spans: vec![(50, 60)] }];
        let _stopped = lines.iter().try_for_each(|line| timeline.add_line(line, &damage, max));
        timeline.finish(&damage);
        timeline
    }

    fn sample(offset: u64, time: u64, cpu: u64) -> String {
        let place = format!("\"offset\":{offset},\"length\":10,\"kind\":\"SAMPLE\"");
        format!("{{{place},\"time\":{time},\"cpu\":{cpu}}}")
    }

    #[test]
    fn damage_lies_between_the_records_around_it_and_losses_where_they_are_reported() {
        let lost = "{\"offset\":70,\"length\":9,\"kind\":\"LOST\",\"lost\":7,\"sample_time\":900}";
        let lines = [sample(40, 100, 0), sample(60, 300, 1), lost.to_string()];
        let timeline = read(&lines, 10);
        let damage = Loss { first: 100, last: 300, records: None };
        assert_eq!(timeline.losses, [damage, Loss { first: 900, last: 900, records: Some(7) }]);
        assert_eq!(timeline.rows, ["CPU 0", "CPU 1", ""]);
        assert_eq!(read(&lines[..1], 10).losses, [Loss { first: 100, last: 100, records: None }]);
    }

    #[test]
    fn a_time_that_is_not_known_is_counted_alone() {
        let none = "{\"offset\":0,\"length\":9,\"kind\":\"MMAP\"}".to_string();
        let timeline = read(&[none, sample(10, 0, 0), "no JSON".into(), sample(20, 5, 0)], 10);
        assert_eq!((timeline.placed, timeline.unplaced), (1, 3));
    }

    #[test]
    fn a_million_times_take_bounded_memory_and_a_wrong_one_hides_nothing() {
        let lines: Vec<String> = (1..200_000_u64)
            .map(|at| sample(0, at * 1_000, at % 3))
            .chain([sample(0, u64::MAX, 0)])
            .collect();
        let timeline = read(&lines, u64::MAX);
        assert!(timeline.counts.len() <= COUNTS_MAX, "{}", timeline.counts.len());
        assert!(timeline.counts.len() > COUNTS_MAX / 8, "{}", timeline.counts.len());
        assert_eq!(timeline.counts.values().sum::<u64>(), 200_000);
    }

    #[test]
    fn the_walk_ends_at_the_limit_and_says_so() {
        let lines = [sample(0, 1, 0), sample(10, 2, 0), sample(20, 3, 0)];
        let timeline = read(&lines, 2);
        assert_eq!((timeline.placed, timeline.stopped_at), (2, Some(2)));
        assert_eq!(read(&lines, 3).stopped_at, None);
        let mut limits = Limits::default();
        limits.set(RECORDS, 2);
        assert_eq!(limits.of(RECORDS), 2);
    }

    #[test]
    fn threads_beyond_the_kept_ones_share_a_row() {
        let lines: Vec<String> = (0..1_000).map(|at| sample(0, 5 + at, at)).collect();
        let timeline = read(&lines, u64::MAX);
        assert_eq!(timeline.rows.len(), ROWS_KEPT + 1);
        assert_eq!(timeline.rows.last().map(String::as_str), Some("others"));
    }
}
