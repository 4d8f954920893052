//! A ledger of behaviour: one line per case with the checksums of what a user gets for it.
//!
//! ```text
//!  corpus       every recording in it, directories too   corpus/perf/clean/plain.data
//!  specimens    one or more per rule                     specimen/PD0004/0
//!  originals    the sound recordings, undamaged          original/perf/sampling
//!  known        the damaged ones, by number and seed     known/perf/17
//!      |
//!      v    check, repair, plan, dump
//!  name <tab> report <tab> plan <tab> repaired <tab> dump
//! ```
//!
//! Two ledgers that are equal show that a refactoring changed nothing on these cases. The first
//! line names the seed and the number of known originals, since ledgers of other cases cannot be
//! compared.

mod cases;
mod products;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use cases::{Case, every_case};
pub use products::Products;

/// Known originals of each format, unless another number is asked for.
pub const CASES: usize = 500;

/// Names of the four products, in the order of a line.
pub const PRODUCTS: [&str; 4] = ["report", "plan", "repaired", "dump"];

/// The checksums of the four products of a case.
pub type Sums = [String; 4];

/// The checksums of every case by its name, and the cases that were chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// Known originals of each format.
    pub cases: usize,
    /// The seed of their damage.
    pub seed: u64,
    /// The checksums.
    pub lines: BTreeMap<String, Sums>,
}

/// A case that two ledgers do not have in common, or not with the same checksums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The older ledger does not have the case.
    Added(String),
    /// The newer ledger does not have the case.
    Gone(String),
    /// Products differ.
    Differs(String, Vec<&'static str>),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added(name) => write!(f, "{name}: not in the older ledger"),
            Self::Gone(name) => write!(f, "{name}: only in the older ledger"),
            Self::Differs(name, products) => write!(f, "{name}: {}", products.join(", ")),
        }
    }
}

impl Ledger {
    /// Measures the cases whose names contain `word`, on all processors.
    pub fn measure(cases: usize, seed: u64, word: &str) -> Self {
        let chosen: Vec<Case> =
            every_case(cases, seed).into_iter().filter(|case| case.name.contains(word)).collect();
        let (next, lines) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
        let work = || {
            while let Some(case) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                let sums = Products::of(case).sums();
                let doubled = lines.lock().unwrap().insert(case.name.clone(), sums);
                assert!(doubled.is_none(), "two cases are called {}", case.name);
            }
        };
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| (0..workers).for_each(|_| _ = scope.spawn(work)));
        Self { cases, seed, lines: lines.into_inner().unwrap() }
    }

    /// Reads the text of a ledger, as its `Display` writes it.
    ///
    /// # Errors
    ///
    /// If a line is malformed; the message has its number.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let (cases, seed) = lines.next().and_then(parse_head).ok_or("line 1: no ledger")?;
        let mut ledger = Self { cases, seed, lines: BTreeMap::new() };
        for (index, line) in lines.enumerate() {
            let malformed = || format!("line {}: malformed", index + 2);
            let mut words = line.split('\t').map(ToString::to_string);
            let name = words.next().ok_or_else(malformed)?;
            let sums: Vec<String> = words.collect();
            let sums: Sums = sums.try_into().map_err(|_| malformed())?;
            ledger.lines.insert(name, sums);
        }
        Ok(ledger)
    }

    /// Returns whether two ledgers are of the same known originals.
    pub const fn has_cases_of(&self, other: &Self) -> bool {
        self.cases == other.cases && self.seed == other.seed
    }

    /// Returns what changed since `older`, among the cases whose names contain `word`.
    pub fn changes_since(&self, older: &Self, word: &str) -> Vec<Change> {
        let mut changes = Vec::new();
        for (name, sums) in &self.lines {
            let Some(before) = older.lines.get(name) else {
                changes.push(Change::Added(name.clone()));
                continue;
            };
            let pairs = PRODUCTS.into_iter().zip(sums.iter().zip(before));
            let differing: Vec<&str> =
                pairs.filter(|(_, (now, was))| now != was).map(|(product, _)| product).collect();
            if !differing.is_empty() {
                changes.push(Change::Differs(name.clone(), differing));
            }
        }
        let gone = older.lines.keys().filter(|name| !self.lines.contains_key(*name));
        let gone = gone.filter(|name| name.contains(word)).cloned();
        changes.extend(gone.map(Change::Gone));
        changes
    }
}

/// The beginning of the first line.
const HEAD: &str = "# known originals of each format: ";
/// The words after the number of cases there.
const HEAD_SEED: &str = ", seed: ";

fn parse_head(line: &str) -> Option<(usize, u64)> {
    let (cases, seed) = line.strip_prefix(HEAD)?.split_once(HEAD_SEED)?;
    Some((cases.parse().ok()?, seed.parse().ok()?))
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}{}{HEAD_SEED}{}", self.cases, self.seed)?;
        self.lines.iter().try_for_each(|(name, sums)| writeln!(f, "{name}\t{}", sums.join("\t")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(lines: &[(&str, [&str; 4])]) -> Ledger {
        let line =
            |(name, sums): &(&str, [&str; 4])| ((*name).to_string(), sums.map(ToString::to_string));
        Ledger { cases: 3, seed: 7, lines: lines.iter().map(line).collect() }
    }

    #[test]
    fn the_text_of_a_ledger_is_read_back() {
        let one = ledger(&[("known/perf/1", ["a", "b", "c", "d"]), ("x y", ["1", "2", "3", "4"])]);
        assert_eq!(Ledger::parse(&one.to_string()), Ok(one));
        assert_eq!(Ledger::parse("name\ta\tb\tc\td\n"), Err("line 1: no ledger".to_string()));
        let short = format!("{HEAD}3{HEAD_SEED}7\nname\ta\tb\tc\n");
        assert_eq!(Ledger::parse(&short), Err("line 2: malformed".to_string()));
    }

    #[test]
    fn a_change_names_the_case_and_the_products() {
        let older = ledger(&[
            ("gone", ["a", "b", "c", "d"]),
            ("repaired", ["a", "b", "c", "d"]),
            ("same", ["a", "b", "c", "d"]),
        ]);
        let newer = ledger(&[
            ("added", ["a", "b", "c", "d"]),
            ("repaired", ["a", "B", "C", "d"]),
            ("same", ["a", "b", "c", "d"]),
        ]);
        let texts = |word| -> Vec<String> {
            newer.changes_since(&older, word).iter().map(ToString::to_string).collect()
        };
        let expected = [
            "added: not in the older ledger",
            "repaired: plan, repaired",
            "gone: only in the older ledger",
        ];
        assert_eq!(texts(""), expected);
        assert_eq!(texts("ed").len(), 2);
        assert!(newer.changes_since(&newer, "").is_empty());
    }

    #[test]
    fn two_runs_give_the_same_lines_and_another_seed_others() {
        let one = Ledger::measure(2, 1, "known/");
        assert_eq!(one.lines.len(), 10);
        assert_eq!(one, Ledger::measure(2, 1, "known/"));
        assert!(!Ledger::measure(2, 9, "known/").changes_since(&one, "").is_empty());
    }
}
