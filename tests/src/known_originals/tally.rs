//! Counts of judgements, tables of them, and the bounds that they have to keep.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tracemend::Outcome;

use super::damage::Kind;
use super::{CASES, Case};

/// An upper bound of a count over [`CASES`] cases, with the reason why it is not 0.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The greatest count.
    pub most: u64,
    /// The reason; empty if the bound is 0.
    pub reason: &'static str,
}

impl Bound {
    /// The law holds.
    pub const NONE: Self = Self::new(0, "");

    /// A bound with its reason.
    pub const fn new(most: u64, reason: &'static str) -> Self {
        Self { most, reason }
    }
}

/// The bounds of a format.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Cases with a false label: exact but not equal, or without loss but with harm.
    pub false_labels: Bound,
    /// Cases in which an untouched record is lost.
    pub losing: Bound,
    /// Cases that were given up although a record is left.
    pub given_up: Bound,
    /// Successful outputs that are not clean.
    pub unclean: Bound,
    /// Outputs that a second repair changes.
    pub unstable: Bound,
}

impl Bounds {
    /// Returns whether false labels are expected.
    pub const fn admit_false_labels(&self) -> bool {
        self.false_labels.most > 0
    }
}

/// Counts of judgements.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// All cases.
    pub all: Counts,
    /// The cases in which a kind of damage occurs.
    pub by_kind: BTreeMap<Kind, Counts>,
    /// The cases of each original.
    pub by_original: BTreeMap<String, Counts>,
    /// Why repairs gave up.
    pub reasons: BTreeMap<String, u64>,
    /// The first cases that break a law, with the law.
    pub examples: BTreeMap<&'static str, Vec<String>>,
}

/// Counts of some cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Cases.
    pub cases: u64,
    /// Nothing was found wrong.
    pub clean: u64,
    /// Exact repairs, and those that gave the original back.
    pub exact: [u64; 2],
    /// Other repairs without loss, and those that left untouched bytes alone.
    pub lossless: [u64; 2],
    /// Repairs with loss.
    pub lossy: u64,
    /// Given up, and those of them in which no record is left.
    pub given_up: [u64; 2],
    /// Untouched records of the successful cases, and those that are lost.
    pub records: [u64; 2],
    /// Successful cases that break another law: losing records, not clean, not stable.
    pub broken: [u64; 3],
}

/// Number of examples to keep of each law.
const EXAMPLES: usize = 12;

impl Counts {
    fn add(&mut self, case: &Case) {
        let judgement = &case.judgement;
        let is_true = u64::from(judgement.false_label.is_none());
        self.cases += 1;
        let counted = match judgement.outcome {
            Outcome::Clean => &mut self.clean,
            Outcome::Repaired if judgement.is_exact => {
                self.exact[1] += is_true;
                &mut self.exact[0]
            }
            Outcome::Repaired => {
                self.lossless[1] += is_true;
                &mut self.lossless[0]
            }
            Outcome::RepairedWithLoss => &mut self.lossy,
            Outcome::CannotRepair | Outcome::Incomplete => {
                self.given_up[1] += u64::from(judgement.is_hopeless);
                &mut self.given_up[0]
            }
        };
        *counted += 1;
        self.records[0] += judgement.records;
        self.records[1] += judgement.records_lost;
        self.broken[0] += u64::from(judgement.records_lost > 0);
        self.broken[1] += u64::from(judgement.unclean.is_some());
        self.broken[2] += u64::from(judgement.is_unstable);
    }

    /// Returns the number of false labels.
    pub const fn false_labels(&self) -> u64 {
        self.exact[0] - self.exact[1] + self.lossless[0] - self.lossless[1]
    }

    fn row(&self) -> String {
        let Self { cases, clean, exact, lossless, lossy, given_up, records, broken } = self;
        format!(
            "{cases} | {clean} | {} of {} | {} of {} | {lossy} | {} ({:.1} %) | {} | {} of {} | \
             {} | {} | {}",
            exact[1],
            exact[0],
            lossless[1],
            lossless[0],
            given_up[0],
            given_up[0] as f64 * 100.0 / (*cases).max(1) as f64,
            given_up[1],
            records[1],
            records[0],
            broken[0],
            broken[1],
            broken[2],
        )
    }
}

/// The columns of a table.
const HEAD: &str = "cases | found clean | exact, equal | without loss, untouched | with loss | \
                    given up | of them no record left | \
                    untouched records lost | cases with lost records | not clean | \
                    not stable";

impl Tally {
    /// Counts a case.
    pub fn add(&mut self, case: &Case) {
        self.all.add(case);
        self.by_original.entry(case.original.clone()).or_default().add(case);
        let kinds: std::collections::BTreeSet<Kind> =
            case.damaged.steps.iter().map(|step| step.kind).collect();
        kinds.into_iter().for_each(|kind| self.by_kind.entry(kind).or_default().add(case));
        let judgement = &case.judgement;
        if judgement.gave_up() {
            *self.reasons.entry(judgement.reason.clone()).or_default() += 1;
        }
        let lost = format!("{} of {} records", judgement.records_lost, judgement.records);
        let broken = [
            ("false label", judgement.false_label.clone()),
            ("without loss, other damage is left", judgement.is_other().then(String::new)),
            ("not clean", judgement.unclean.clone()),
            ("not stable", judgement.is_unstable.then(String::new)),
            ("lost records", (judgement.records_lost > 0).then_some(lost)),
            ("given up", (judgement.gave_up() && !judgement.is_hopeless).then(String::new)),
        ];
        for (law, detail) in broken {
            let Some(detail) = detail else { continue };
            let examples = self.examples.entry(law).or_default();
            if examples.len() < EXAMPLES {
                let (number, original) = (case.number, &case.original);
                let (damage, reason) = (case.damaged.describe(), &judgement.reason);
                examples.push(format!("case {number}, {original}: {detail} [{reason}] {damage}"));
            }
        }
    }

    /// Returns one line for a run of the tests.
    pub fn line(&self) -> String {
        let names = HEAD.split(" | ");
        let row = self.all.row();
        let pairs = names.zip(row.split(" | ")).map(|(name, value)| format!("{name} {value}"));
        pairs.collect::<Vec<_>>().join("; ")
    }

    /// Returns tables of all cases, by kind of damage and by original, with examples.
    pub fn tables(&self, name: &str) -> String {
        let mut text = format!("| {name} | {HEAD} |\n|---|{}\n", "---:|".repeat(11));
        writeln!(text, "| all | {} |", self.all.row()).unwrap();
        for (kind, counts) in &self.by_kind {
            writeln!(text, "| {kind:?} | {} |", counts.row()).unwrap();
        }
        for (original, counts) in &self.by_original {
            writeln!(text, "| {original} | {} |", counts.row()).unwrap();
        }
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (reason, count) in reasons.iter().take(30) {
            writeln!(text, "given up {count} times: {reason}").unwrap();
        }
        for (law, examples) in &self.examples {
            writeln!(text, "\n{law}:").unwrap();
            examples.iter().for_each(|example| writeln!(text, "  {example}").unwrap());
        }
        text
    }

    /// Compares the counts with bounds; in an exhaustive run a bound that is no longer needed is
    /// broken as well. Returns what is wrong.
    pub fn broken_bounds(&self, bounds: &Bounds) -> Vec<String> {
        let all = &self.all;
        let laws = [
            ("false label", bounds.false_labels, all.false_labels()),
            ("lost records", bounds.losing, all.broken[0]),
            ("given up", bounds.given_up, all.given_up[0] - all.given_up[1]),
            ("not clean", bounds.unclean, all.broken[1]),
            ("not stable", bounds.unstable, all.broken[2]),
        ];
        let mut wrong = Vec::new();
        for (law, bound, count) in laws {
            let most = bound.most;
            assert_eq!(most == 0, bound.reason.is_empty(), "{law}: a bound has a reason");
            if count > most {
                let examples = self.examples.get(law).map_or(String::new(), |all| all.join("\n"));
                wrong.push(format!("{law}: {count} times, at most {most} allowed\n{examples}"));
            }
            if all.cases >= CASES as u64 && most > 0 && count == 0 {
                wrong.push(format!("{law}: the bound {most} is not needed, set it to 0"));
            }
        }
        wrong
    }
}
