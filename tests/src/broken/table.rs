//! Sums of cases, the tables, and the goals.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Case;
use super::damage::{COUNTS, Kind};
use super::names::{first, stored_span};
use super::tool::End;

/// Cases that are named for a goal that was missed.
const WORST: usize = 8;

/// Sums of some cases.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Cases.
    pub cases: u64,
    /// Cases in which a record that is due is lost.
    pub losing: u64,
    /// Records that are due, those that are kept, and those that the reader shows alone.
    pub due: [u64; 3],
    /// The same of all records whose own bytes are undamaged.
    pub spared: [u64; 3],
    /// Files that were written, and those of them that the reader accepts.
    pub written: [u64; 2],
    /// Recordings that the tool refused, and those of them in which a record is due.
    pub refused: [u64; 2],
    /// False records, and those inside the damage: with the tool, and by the reader alone.
    pub shown: [[u64; 2]; 2],
    /// Reports, those with a finding, and those whose first finding fits the kind, those with any
    /// finding that names it, and those whose first one does.
    pub named: [u64; 5],
    /// Runs that crashed, and those that did not end.
    pub broken: [u64; 2],
    /// Seconds and largest resident set in MB of each run.
    pub costs: Vec<[f64; 2]>,
}

impl Sums {
    /// Adds a case.
    pub fn add(&mut self, case: &Case) {
        self.cases += 1;
        let (score, alone) = (&case.score, &case.alone);
        self.losing += u64::from(score.due[1] < score.due[0]);
        add(&mut self.due, &[score.due[0], score.due[1], alone.due[1]]);
        add(&mut self.spared, &[score.spared[0], score.spared[1], alone.spared[1]]);
        match case.run.output {
            Some(_) => add(&mut self.written, &[1, u64::from(case.refused.is_none())]),
            None => add(&mut self.refused, &[1, u64::from(score.due[0] > 0)]),
        }
        for (sum, one) in self.shown.iter_mut().zip([score, alone]) {
            add(sum, &[one.false_records, one.inside]);
        }
        if let Some(named) = case.named {
            let parts = [named.is_found, named.is_kind, named.is_anywhere, named.is_right()];
            let [found, kind, anywhere, right] = parts.map(u64::from);
            add(&mut self.named, &[1, found, kind, anywhere, right]);
        }
        add(&mut self.broken, &[End::Crashed, End::Hung].map(|end| u64::from(case.run.end == end)));
        self.costs.push([case.run.seconds, case.run.megabytes]);
    }

    /// Returns a row of a table, in the order of [`HEAD`].
    fn row(&self) -> String {
        let [due, kept, alone] = self.due;
        let [spared, spared_kept, _] = self.spared;
        let [written, accepted] = self.written;
        let [refused, left] = self.refused;
        let [[false_records, inside], [false_alone, _]] = self.shown;
        let [_, found, _, anywhere, right] = self.named;
        let [crashed, hung] = self.broken;
        let mut seconds: Vec<f64> = self.costs.iter().map(|[seconds, _]| *seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let median = seconds.get(seconds.len() / 2).copied().unwrap_or(0.0);
        let megabytes = self.costs.iter().map(|[_, megabytes]| *megabytes).fold(0.0, f64::max);
        format!(
            "{} | {} | {} | {} | {} | {} | {accepted} of {written} | {left} of {refused} | \
             {false_records} | {inside} | {false_alone} | {} | {} | {} | {} | {:.0} | {:.0} | \
             {:.0}",
            self.cases,
            due,
            percent(kept, due),
            self.losing,
            percent(alone, due),
            percent(spared_kept, spared),
            percent(found, self.named[0]),
            percent(right, found),
            percent(anywhere, found),
            crashed + hung,
            median * 1e3,
            seconds.last().copied().unwrap_or(0.0) * 1e3,
            megabytes,
        )
    }
}

/// The columns of a table.
const HEAD: &str = "cases | records due | kept % | cases with a loss | reader alone % | \
                    kept of all undamaged % | accepted | refused with a record left | false | \
                    inside | false, reader alone | found % | named % | named by any finding % | \
                    crashes, hangs | ms, median | ms, most | MB, most";

/// All cases of a run.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// By row and number of damages.
    by_count: BTreeMap<(&'static str, usize), Sums>,
    /// By row and kind, of single damages.
    by_kind: BTreeMap<(&'static str, Kind), Sums>,
    /// How often a code is the first one of a single damage.
    codes: BTreeMap<(&'static str, Kind), BTreeMap<String, u64>>,
    /// The cases that miss a goal.
    missed: BTreeMap<&'static str, Vec<Missed>>,
}

/// A case that misses a goal.
#[derive(Clone, Debug)]
struct Missed {
    /// How bad it is.
    weight: u64,
    line: String,
}

/// A goal: its name, and what a case lacks of it.
type Goal = (&'static str, fn(&Case) -> u64);

/// The goals that single cases can miss.
const GOALS: [Goal; 6] = [
    ("kept", |case| case.score.due[0] - case.score.due[1]),
    ("false", |case| case.score.false_records),
    ("accepted", |case| u64::from(case.refused.is_some())),
    ("named", |case| {
        let is_wrong = case.named.is_some_and(|one| one.is_found && !one.is_right());
        u64::from(case.number.count == 1 && is_wrong)
    }),
    ("refused", |case| if case.run.output.is_none() { case.score.due[0] } else { 0 }),
    ("crashed", |case| u64::from(case.run.end != End::Exited)),
];

impl Table {
    /// Adds a case.
    pub fn add(&mut self, case: &Case) {
        let (group, number) = (case.group, case.number);
        self.by_count.entry((group, number.count)).or_default().add(case);
        if number.count == 1 {
            self.by_kind.entry((group, number.kind)).or_default().add(case);
            if let Some(code) = first_code(case) {
                let codes = self.codes.entry((group, number.kind)).or_default();
                *codes.entry(code).or_default() += 1;
            }
        }
        for (goal, lacks) in GOALS {
            let weight = lacks(case);
            if weight > 0 {
                let missed = Missed { weight, line: describe(case) };
                self.missed.entry(goal).or_default().push(missed);
            }
        }
    }

    /// Returns whether a case misses a goal.
    pub fn is_missed_by(case: &Case) -> bool {
        GOALS.iter().any(|(_, lacks)| lacks(case) > 0)
    }

    /// Returns the sums of all cases.
    pub fn counts(&self) -> &BTreeMap<(&'static str, usize), Sums> {
        &self.by_count
    }

    /// Returns the tables in Markdown: by number of damages, single damages by kind, the goals and
    /// the worst cases.
    pub fn describe(&self) -> String {
        let rule = "---:|".repeat(HEAD.matches(" | ").count() + 1);
        let mut text = format!("| format | damages | {HEAD} |\n|---|---:|{rule}\n");
        for ((group, count), sums) in &self.by_count {
            _ = writeln!(text, "| {group} | {count} | {} |", sums.row());
        }
        _ = writeln!(text, "\n| format | damage | {HEAD} |\n|---|---|{rule}");
        for ((group, kind), sums) in &self.by_kind {
            _ = writeln!(text, "| {group} | {} | {} |", kind.name(), sums.row());
        }
        text += "\n| format | damage | the first code, with its cases |\n|---|---|---|\n";
        for ((group, kind), codes) in &self.codes {
            let mut codes: Vec<_> = codes.iter().collect();
            codes.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let codes: Vec<String> =
                codes.into_iter().map(|(code, count)| format!("{code} {count}")).collect();
            _ = writeln!(text, "| {group} | {} | {} |", kind.name(), codes.join(", "));
        }
        text += &self.goals();
        for (goal, missed) in &self.missed {
            let mut missed = missed.clone();
            missed.sort_by_key(|one| std::cmp::Reverse(one.weight));
            _ = writeln!(text, "\n{goal}, {} cases miss the goal; the worst:\n", missed.len());
            for one in missed.iter().take(WORST) {
                _ = writeln!(text, "- {}", one.line);
            }
        }
        text
    }

    fn goals(&self) -> String {
        let mut text = "\n| goal | format | reached |\n|---|---|---|\n".to_string();
        let mut groups: Vec<&str> = self.by_count.keys().map(|(group, _)| *group).collect();
        groups.dedup();
        for group in groups {
            let none = Sums::default();
            let of = |count: usize| self.by_count.get(&(group, count)).unwrap_or(&none);
            let all: Vec<&Sums> = COUNTS.iter().map(|count| of(*count)).collect();
            let sum = |part: fn(&Sums) -> u64| all.iter().map(|sums| part(sums)).sum::<u64>();
            let (single, eight) = (of(1), of(8));
            let cases = sum(|sums| sums.cases);
            let goals = [
                ("kept >= 99.9 %, single", share(single.due[1], single.due[0]), 99.9, true),
                ("kept >= 99 %, eight damages", share(eight.due[1], eight.due[0]), 99.0, true),
                ("false records 0", sum(|sums| sums.shown[0][0]) as f64, 0.0, false),
                (
                    "accepted 100 %",
                    share(sum(|sums| sums.written[1]), sum(|sums| sums.written[0])),
                    100.0,
                    true,
                ),
                (
                    "named >= 95 % of those found, single",
                    share(single.named[4], single.named[1]),
                    95.0,
                    true,
                ),
                (
                    "refused though a record is left <= 3 %",
                    share(sum(|sums| sums.refused[1]), cases),
                    3.0,
                    false,
                ),
            ];
            for (goal, value, bound, is_least) in goals {
                let is_reached = if is_least { value >= bound } else { value <= bound };
                let verdict = match () {
                    () if value.is_nan() => "not measured".to_string(),
                    () if is_reached => format!("yes: {value:.2}"),
                    () => format!("**no: {value:.2}**"),
                };
                _ = writeln!(text, "| {goal} | {group} | {verdict} |");
            }
        }
        text
    }
}

fn add<const N: usize>(sums: &mut [u64; N], parts: &[u64; N]) {
    sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
}

/// Returns a share in per cent, not a number if there is nothing to share.
fn share(part: u64, all: u64) -> f64 {
    100.0 * part as f64 / all as f64
}

fn percent(part: u64, all: u64) -> String {
    if all == 0 { "-".to_string() } else { format!("{:.2}", share(part, all)) }
}

/// Describes a case in one line.
fn describe(case: &Case) -> String {
    let score = &case.score;
    let mut text = format!("`{}` {}: ", case.name, case.original);
    _ = write!(text, "kept {} of {}", score.due[1], score.due[0]);
    if case.run.output.is_none() {
        text += ", nothing written";
    }
    if score.false_records > 0 {
        let example = score.example.as_deref().unwrap_or_default().replace('\n', " ");
        let short: String = example.chars().take(90).collect();
        _ = write!(text, ", {} false: `{short}`", score.false_records);
    }
    if let Some(reason) = &case.refused {
        let short: String = reason.chars().take(90).collect();
        _ = write!(text, ", refused: `{short}`");
    }
    if let Some(first) = first_finding(case) {
        _ = write!(text, ", first finding {first}");
    }
    _ = write!(text, "; {}", case.broken.description);
    text
}

/// Returns code and place of the first finding of the tool's report.
fn first_finding(case: &Case) -> Option<String> {
    let first = first(case.run.report.as_ref()?)?;
    let span = stored_span(first);
    let (start, end) = (span["start"].as_u64()?, span["end"].as_u64()?);
    Some(format!("{} at {start:#x}..{end:#x}", first["code"].as_str()?))
}

/// Returns the first code of the report with `!` if it does not name the damage, `@` if its place
/// is another one.
fn first_code(case: &Case) -> Option<String> {
    let named = case.named?;
    let Some(first) = first(case.run.report.as_ref()?) else { return Some("none".to_string()) };
    let code = first["code"].as_str()?;
    let (kind, place) = (named.is_kind, named.is_place);
    let marks = [(!kind).then_some("!"), (!place).then_some("@")];
    Some(format!("{code}{}", marks.into_iter().flatten().collect::<String>()))
}
