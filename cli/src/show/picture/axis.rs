//! The time of a recording: records per interval and row, before a repair and after it.

use std::collections::BTreeMap;

use tracemend::words::{plural, plural_noun};
use tracemend::{ClockUnit, FormatId};

use super::class::Class;
use super::sheet::Sheet;
use super::strip::{Stretch, Strip, paint};
use super::svg::percent_up;
use super::timeline::{Loss, Timeline};
use crate::show::finding::shorten_middle;
use crate::show::markup::as_float;

/// Columns along the time, at most.
const COLUMNS: i128 = 200;
/// Rows that are drawn; the others are one.
const ROWS_SHOWN: usize = 12;
/// Characters of the name of a row, before its counts.
const NAME_CHARACTERS: usize = 22;
/// The share of the columns that a stretch without a record has to have to be named.
const HOLE: usize = 20;
/// Records at each end that may lie outside the axis, as a part of all, if the others take less
/// than this part of the whole range: a wrong time is any number of 64 bits.
const OUTSIDE: [(u64, i128); 2] = [(200, 1 << 10), (10, 1 << 20)];

/// The intervals that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Axis {
    /// The first interval, and the number of those that make a column.
    first: i128,
    per_column: i128,
    columns: usize,
    shift: u32,
    unit: ClockUnit,
    /// Records that lie outside.
    outside: u64,
}

impl Axis {
    /// The axis that has nearly all records: a few wrong times do not press the others together.
    fn of(timeline: &Timeline, unit: ClockUnit) -> Self {
        let mut counts: BTreeMap<i128, u64> = BTreeMap::new();
        for ((interval, _), count) in &timeline.counts {
            let sum = counts.entry(*interval).or_default();
            *sum = sum.saturating_add(*count);
        }
        for (part, shorter) in OUTSIDE {
            let most = (timeline.placed / part).max(u64::from(timeline.placed >= 8));
            let ((first, last), (low, high)) = (ends(&counts, 0), ends(&counts, most));
            if low <= high && last.saturating_sub(first) / shorter > high - low {
                // Right times were counted off, too, and lie near.
                let margin = (high - low).saturating_mul(2).saturating_add(1);
                let near = low.saturating_sub(margin)..=high.saturating_add(margin);
                counts.retain(|at, _| near.contains(at));
            }
        }
        let (first, last) = ends(&counts, 0);
        let intervals = last.saturating_sub(first).saturating_add(1);
        let per_column = intervals.saturating_add(COLUMNS - 1) / COLUMNS;
        let columns = intervals.saturating_add(per_column - 1) / per_column;
        let within: u64 = counts.values().fold(0, |sum, count| sum.saturating_add(*count));
        Self {
            first,
            per_column,
            columns: usize::try_from(columns).unwrap_or(1),
            shift: timeline.shift,
            unit,
            outside: timeline.placed.saturating_sub(within),
        }
    }

    fn column(&self, interval: i128) -> Option<usize> {
        let column = interval.checked_sub(self.first)?.div_euclid(self.per_column);
        usize::try_from(column).ok().filter(|column| *column < self.columns)
    }

    /// The time at the left edge of a column.
    fn time(&self, column: usize) -> i128 {
        let columns = i128::try_from(column).unwrap_or(0);
        (self.first.saturating_add(columns.saturating_mul(self.per_column))) << self.shift
    }

    /// The time of the last interval with a record.
    fn last(&self, timeline: &Timeline) -> i128 {
        let mut intervals = timeline.counts.keys().rev().map(|(interval, _)| *interval);
        intervals.find(|one| self.column(*one).is_some()).unwrap_or(self.first) << self.shift
    }

    /// The counts of a row.
    fn counts(&self, timeline: &Timeline, has: impl Fn(usize) -> bool) -> Vec<u64> {
        let mut counts = vec![0_u64; self.columns];
        for ((interval, row), count) in &timeline.counts {
            let column = self.column(*interval).filter(|_| has(*row));
            if let Some(sum) = column.and_then(|column| counts.get_mut(column)) {
                *sum = sum.saturating_add(*count);
            }
        }
        counts
    }
}

/// The first and the last interval, without `most` records at each end.
fn ends(counts: &BTreeMap<i128, u64>, most: u64) -> (i128, i128) {
    let mut sums = [0_u64; 2];
    let [low, high] = &mut sums;
    let is_over = |sum: &mut u64, count: u64| {
        *sum = sum.saturating_add(count);
        *sum > most
    };
    let first = counts.iter().find(|(_, count)| is_over(low, **count));
    let last = counts.iter().rev().find(|(_, count)| is_over(high, **count));
    let at = |found: Option<(&i128, &u64)>| found.map_or(0, |(at, _)| *at);
    (at(first), at(last))
}

/// A thread, CPU or device: its name, and its columns before and after a repair.
struct Row {
    name: String,
    before: Vec<u64>,
    after: Option<Vec<u64>>,
}

/// Draws the records by time; `after` is the recording after a repair that changes it.
pub(super) fn draw(
    sheet: &mut Sheet,
    format: FormatId,
    mut before: Timeline,
    mut after: Option<Timeline>,
) {
    if let Some(after) = &mut after {
        let shift = before.shift.max(after.shift);
        before.coarsen(shift);
        after.coarsen(shift);
    }
    let axis = Axis::of(&before, format.clock().unit);
    let rows = rows(&axis, &before, after.as_ref());
    let tallest = rows.iter().flat_map(|row| row.before.iter().chain(row.after.iter().flatten()));
    let tallest = tallest.copied().max().unwrap_or(1);
    describe(sheet, format, (&axis, &before, after.as_ref()), tallest);
    let holes = holes(&axis, &before);
    let losses = losses(&axis, &before.losses);
    if !holes.is_empty() || !losses.is_empty() {
        let columns = u64::try_from(axis.columns).unwrap_or(1).saturating_mul(SCALE);
        sheet.line("damage, losses, and where no record is");
        let found = paint(holes.into_iter().chain(losses).collect());
        sheet.strip(Strip::lay(found.into_iter(), (0, columns)));
    }
    let [record, _] = format.nouns();
    let heights = |counts: &[u64]| counts.iter().map(|count| percent_up(*count, tallest)).collect();
    let sum = |counts: &[u64]| counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
    for row in &rows {
        let name = shorten_middle(&row.name, NAME_CHARACTERS);
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let now = plural(sum(&row.before), record);
        let line = match &row.after {
            None => format!("{name}{now}"),
            Some(after) => format!("{name}{now}, after the repair {}", sum(after)),
        };
        sheet.line(&line);
        sheet.columns(heights(&row.before), Class::Record, line.clone());
        if let Some(after) = &row.after {
            sheet.columns(heights(after), Class::Kept, line);
        }
    }
    sheet.ends(value(axis.unit, axis.time(0)), value(axis.unit, axis.time(axis.columns)));
}

/// Units of a strip per column, so that a loss has its place inside of one.
const SCALE: u64 = 1_000;

/// The rows with most records, by name, and one of all others.
fn rows(axis: &Axis, before: &Timeline, after: Option<&Timeline>) -> Vec<Row> {
    let mut sums: BTreeMap<usize, u64> = BTreeMap::new();
    for ((_, row), count) in &before.counts {
        let sum = sums.entry(*row).or_default();
        *sum = sum.saturating_add(*count);
    }
    let mut by_sum: Vec<(u64, usize)> = sums.into_iter().map(|(row, sum)| (sum, row)).collect();
    by_sum.sort_by_key(|(sum, row)| (std::cmp::Reverse(*sum), *row));
    let cut = if by_sum.len() > ROWS_SHOWN { ROWS_SHOWN - 1 } else { ROWS_SHOWN };
    let name = |row: usize| before.rows.get(row).cloned().unwrap_or_default();
    let mut shown: Vec<(String, usize)> =
        by_sum.iter().take(cut).map(|(_, row)| (name(*row), *row)).collect();
    // Numbers by their value: a shorter one is smaller.
    shown.sort_by_key(|(name, _)| (name.chars().count(), name.clone()));
    let in_after = |known: &dyn Fn(&str) -> bool| {
        let after = after?;
        let has = |row: usize| after.rows.get(row).is_some_and(|name| known(name));
        Some(axis.counts(after, has))
    };
    let names: Vec<String> = shown.iter().map(|(name, _)| name.clone()).collect();
    let mut rows: Vec<Row> = Vec::new();
    for (name, row) in shown {
        let after = in_after(&|other| other == name);
        rows.push(Row { name, before: axis.counts(before, |one| one == row), after });
    }
    let others = by_sum.len().saturating_sub(cut);
    if others > 0 {
        let is_other = |name: &str| !names.iter().any(|shown| shown == name);
        let has = |row: usize| before.rows.get(row).is_some_and(|name| is_other(name));
        rows.push(Row {
            name: format!("{others} others"),
            before: axis.counts(before, has),
            after: in_after(&is_other),
        });
    }
    rows
}

/// The stretches without a record of any row.
fn holes(axis: &Axis, timeline: &Timeline) -> Vec<Stretch> {
    let counts = axis.counts(timeline, |_| true);
    let mut at = 0;
    let mut holes = Vec::new();
    for run in counts.chunk_by(|one, two| (*one == 0) == (*two == 0)) {
        let (from, to) = (at, at + run.len());
        at = to;
        if run.first() != Some(&0) || run.len() < (axis.columns / HOLE).max(3) {
            continue;
        }
        let place = |column: usize| u64::try_from(column).unwrap_or(0).saturating_mul(SCALE);
        let title = format!(
            "no record from {} to {}",
            value(axis.unit, axis.time(from)),
            value(axis.unit, axis.time(to))
        );
        holes.push(Stretch { title, ..Stretch::new((place(from), place(to)), Class::Hole) });
    }
    holes
}

/// The losses along the axis. One that begins or ends far outside, next to a wrong time, is at its
/// other end.
fn losses(axis: &Axis, losses: &[Loss]) -> Vec<Stretch> {
    let is_near = |time: i128| axis.column(time >> axis.shift).is_some();
    let place = |time: i128| {
        let offset = time.saturating_sub(axis.time(0)).max(0);
        let scaled = offset.saturating_mul(i128::from(SCALE)) / axis.per_column.max(1);
        u64::try_from(scaled >> axis.shift).unwrap_or(u64::MAX)
    };
    let stretch = |loss: &Loss| {
        let (first, last) = match (is_near(loss.first), is_near(loss.last)) {
            (true, true) => (loss.first, loss.last),
            (true, false) => (loss.first, loss.first),
            (false, true) => (loss.last, loss.last),
            (false, false) => return None,
        };
        let (from, to) = (value(axis.unit, loss.first), value(axis.unit, loss.last));
        let range = if from == to { format!("at {from}") } else { format!("from {from} to {to}") };
        let title = match loss.records {
            Some(records) => format!("{} lost {range}", plural(records, "record")),
            None => format!("damage {range}"),
        };
        let class = if loss.records.is_some() { Class::Lost } else { Class::Damage };
        Some(Stretch { title, ..Stretch::new((place(first), place(last)), class) })
    };
    losses.iter().filter_map(stretch).collect()
}

/// The lines above the columns.
fn describe(
    sheet: &mut Sheet,
    format: FormatId,
    (axis, before, after): (&Axis, &Timeline, Option<&Timeline>),
    tallest: u64,
) {
    let [record, _] = format.nouns();
    let records = plural_noun(record);
    let name = match axis.unit {
        ClockUnit::Instructions => "instructions of the guest",
        ClockUnit::Calls => "call numbers",
        _ => "time",
    };
    sheet.heading(&format!("{records} by {name}"));
    let one = (axis.per_column) << axis.shift;
    sheet.line(&format!(
        "a column is {}, the tallest has {}",
        length(axis.unit, one),
        plural(tallest, record)
    ));
    let last = axis.last(before);
    sheet.line(&match after.map(|after| axis.last(after)) {
        Some(repaired) if repaired != last => {
            let [last, repaired] = [last, repaired].map(|last| value(axis.unit, last));
            format!("the last {record} at {last}, after the repair at {repaired}")
        }
        _ => format!("the last {record} at {}", value(axis.unit, last)),
    });
    let lost = before.losses.iter().filter_map(|loss| loss.records);
    let lost = lost.fold(0, |sum: u64, lost| sum.saturating_add(lost));
    let damaged = before.losses.iter().filter(|loss| loss.records.is_none()).count();
    let notes = [
        (before.unplaced, format!("{} without a place in {name}", plural(before.unplaced, record))),
        (axis.outside, format!("{} far outside", plural(axis.outside, record))),
        (lost, format!("{} lost by the recorder", plural(lost, record))),
        (
            u64::try_from(damaged).unwrap_or(0),
            format!("damage in {}", plural(u64::try_from(damaged).unwrap_or(0), "place")),
        ),
    ];
    for (count, note) in notes {
        if count > 0 {
            sheet.line(&note);
        }
    }
    if let Some(max) = before.stopped_at {
        sheet.line(&format!("only the first {} (--limit timeline=N)", plural(max, record)));
    }
}

/// A reading of a clock.
fn value(unit: ClockUnit, value: i128) -> String {
    match unit {
        ClockUnit::Nanoseconds => {
            let sign = if value < 0 { "-" } else { "" };
            let thousandths = value.unsigned_abs() / 1_000;
            format!("{sign}{}.{:06} s", thousandths / 1_000_000, thousandths % 1_000_000)
        }
        _ => value.to_string(),
    }
}

/// A length of time, in the unit that people read.
fn length(unit: ClockUnit, length: i128) -> String {
    let number = u64::try_from(length).unwrap_or(u64::MAX);
    match unit {
        ClockUnit::Instructions => plural(number, "instruction"),
        ClockUnit::Calls => plural(number, "call"),
        _ => {
            let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
            let nanoseconds = as_float(number);
            let found = units.into_iter().find(|(size, _)| nanoseconds >= *size);
            match found {
                Some((size, unit)) => format!("{:.1} {unit}", nanoseconds / size),
                None => format!("{number} ns"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(times: &[(i128, usize)]) -> Timeline {
        let mut timeline = Timeline::new(FormatId::PERF.clock());
        timeline.rows = (0..20).map(|row| format!("CPU {row}")).collect();
        for (time, row) in times {
            *timeline.counts.entry((*time, *row)).or_default() += 1;
            timeline.placed += 1;
        }
        timeline
    }

    #[test]
    fn every_record_is_in_a_column_and_no_column_is_wider_than_another() {
        for count in [1, 2, 199, 200, 201, 1_000, 12_345] {
            let times: Vec<_> = (0..count).map(|at| (500 + at, 0)).collect();
            let timeline = timeline(&times);
            let axis = Axis::of(&timeline, ClockUnit::Calls);
            let counts = axis.counts(&timeline, |_| true);
            assert_eq!(counts.iter().sum::<u64>(), timeline.placed);
            assert!(
                counts.len() <= 200 && counts.iter().all(|one| *one > 0),
                "{count}: {counts:?}"
            );
            let full = u64::try_from(axis.per_column).unwrap();
            assert!(counts[..counts.len() - 1].iter().all(|one| *one == full), "{count}");
        }
    }

    #[test]
    fn wrong_times_do_not_press_the_others_together() {
        let mut times: Vec<_> = (0..1_000).map(|at| (1_000_000 + at, 0)).collect();
        times.extend([(0, 0), (i128::from(u64::MAX), 0)]);
        let few = Axis::of(&timeline(&times), ClockUnit::Nanoseconds);
        assert_eq!((few.first, few.outside), (1_000_000, 2));
        // A tenth of the times is wrong, as after damage all along.
        times.extend((1..100).map(|at| (at << 57, 0)));
        let timeline = timeline(&times);
        let axis = Axis::of(&timeline, ClockUnit::Nanoseconds);
        assert_eq!((axis.first, axis.outside), (1_000_000, 101));
        let lost = |first, last| losses(&axis, &[Loss { first, last, records: None }]);
        assert_eq!((lost(1 << 60, 1_000_500)[0].start, lost(1 << 60, 1 << 61).len()), (100_000, 0));
        assert_eq!(axis.last(&timeline), 1_000_999);
    }

    #[test]
    fn a_hole_is_where_no_row_has_a_record() {
        let times: Vec<_> = (0..100).chain(150..200).flat_map(|at| [(at, 0), (at, 1)]).collect();
        let timeline = timeline(&times);
        let axis = Axis::of(&timeline, ClockUnit::Calls);
        let holes = holes(&axis, &timeline);
        assert_eq!((holes.len(), holes[0].start, holes[0].end), (1, 100_000, 150_000));
        assert_eq!(holes[0].title, "no record from 100 to 150");
        let loss = Loss { first: 99, last: 150, records: None };
        let drawn = losses(&axis, &[loss]);
        assert_eq!((drawn[0].start, drawn[0].end), (99_000, 150_000));
    }

    #[test]
    fn rows_beyond_the_largest_are_one_and_no_record_is_missing() {
        let times: Vec<_> = (0..20).flat_map(|row| (0..=row).map(move |_| (7, row))).collect();
        let before = timeline(&times);
        let axis = Axis::of(&before, ClockUnit::Calls);
        let rows = rows(&axis, &before, Some(&before));
        assert_eq!(rows.len(), ROWS_SHOWN);
        let sum = |rows: &[Row]| rows.iter().flat_map(|row| row.before.clone()).sum::<u64>();
        assert_eq!(sum(&rows), before.placed);
        assert!(rows.iter().all(|row| row.after.as_ref() == Some(&row.before)));
        assert_eq!(rows.last().unwrap().name, "9 others");
    }

    #[test]
    fn lengths_have_the_unit_that_people_read() {
        let length = |number| length(ClockUnit::Nanoseconds, number);
        assert_eq!([length(7), length(1_500), length(2_000_000)], ["7 ns", "1.5 µs", "2.0 ms"]);
        assert_eq!(value(ClockUnit::Nanoseconds, -1_500_000), "-0.001500 s");
        assert_eq!(value(ClockUnit::Calls, 12), "12");
    }
}
