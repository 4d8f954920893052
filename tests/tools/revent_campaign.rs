//! Compares tracemend with Workload Automation's reader on damaged revent recordings:
//! `cargo run --release -p tracemend-tools --bin revent_campaign -- CASES SEED`.
//!
//! The cases are those of the known originals. The first table sets the verdict of a check against
//! the reader on the damaged recording, the second the outcome of a repair against the reader on
//! its output. `TRACEMEND_WLAUTO` names the reader, as for the tests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::collections::BTreeMap;
use std::sync::Mutex;

use tracemend::{FileSet, Options};
use tracemend_tests::judge::revent::{Read, Wlauto};
use tracemend_tests::known_originals::{Case, SUBJECTS};

/// The answer of a reader that disagrees with a report.
const OTHER_NUMBER: &str = "reads another number of events";

/// Rows of a table with their counts.
type Table = BTreeMap<(String, String), usize>;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let cases = arguments.next().unwrap_or(1_000);
    let seed = arguments.next().unwrap_or(1);
    let judge = Wlauto::find().expect("the reader");
    let subject = SUBJECTS.iter().find(|subject| subject.format.name() == "revent").unwrap();
    let numbers: Vec<usize> = (0..usize::try_from(cases).unwrap()).collect();
    let found = Mutex::new(Vec::new());
    subject.run_all(seed, &numbers, |case| found.lock().unwrap().push(case));
    let mut cases = found.into_inner().unwrap();
    cases.sort_by_key(|case| case.number);

    let damaged: Vec<Vec<u8>> = cases.iter().map(|case| case.damaged.files[0].1.clone()).collect();
    let repaired: Vec<Vec<u8>> = cases.iter().map(|case| case.output[0].1.clone()).collect();
    println!("{} cases, seed {seed}\n", cases.len());
    let rows = cases.iter().zip(judge.read(&damaged)).zip(&damaged);
    print("check", rows.map(|((_, read), bytes)| (verdict(bytes), answer(bytes, &read))));
    let rows = cases.iter().zip(judge.read(&repaired)).zip(&repaired);
    let rows: Vec<_> = rows
        .map(|((case, read), bytes)| (case.number, (outcome(case), answer(bytes, &read))))
        .collect();
    let differs = |row: &&(usize, (String, String))| row.1.1 == OTHER_NUMBER;
    let differing: Vec<usize> = rows.iter().filter(differs).map(|(number, _)| *number).collect();
    print("repair", rows.into_iter().map(|(_, row)| row));
    println!("{OTHER_NUMBER}: cases {differing:?}");
}

/// Prints a table of verdicts and answers.
fn print(name: &str, rows: impl Iterator<Item = (String, String)>) {
    let mut table = Table::new();
    rows.for_each(|row| *table.entry(row).or_default() += 1);
    println!("| {name} | Workload Automation's reader | recordings |\n|---|---|---:|");
    for ((verdict, answer), count) in table {
        println!("| {verdict} | {answer} | {count} |");
    }
    println!();
}

/// Returns the verdict of a check.
fn verdict(bytes: &[u8]) -> String {
    let report = tracemend::check(&FileSet::single("a.run.revent", bytes), &Options::default());
    report.verdict().name().to_string()
}

fn outcome(case: &Case) -> String {
    format!("{:?}", case.judgement.outcome)
}

/// Compares what the reader returns with the number of events in the report.
fn answer(bytes: &[u8], read: &Result<Read, String>) -> String {
    let report = tracemend::check(&FileSet::single("a.run.revent", bytes), &Options::default());
    match read {
        Err(error) if error.contains("does not appear to be") => "refuses: no magic".to_string(),
        Err(error) => format!("refuses: {}", error.split(':').next().unwrap_or_default()),
        Ok(read) if u64::try_from(read.events.len()) == Ok(report.tally.records) => {
            "reads as many events as reported".to_string()
        }
        Ok(_) => OTHER_NUMBER.to_string(),
    }
}
