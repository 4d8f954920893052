//! Prints a ledger of behaviour: per case the checksums of report, plan, repaired files and dump.
//!
//! ```sh
//! cargo run -p tracemend-tools --bin ledger > before.tsv
//! cargo run -p tracemend-tools --bin ledger -- --against before.tsv
//! cargo run -p tracemend-tools --bin ledger -- --only known/perf/17 --keep after
//! ```
//!
//! `--against FILE` prints the cases that changed since FILE was printed, and which of the four
//! did; the status is 1 if one did. `--cases N` and `--seed S` choose the known originals: 500 of
//! each format and seed 1 unless given. `--only WORD` leaves out the cases whose names do not
//! contain WORD. `--keep FOLDER` writes the products of each case to `FOLDER/CASE`, to be compared
//! with those of another commit.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tracemend_tests::known_originals::SEED;
use tracemend_tests::ledger::{CASES, Ledger, Products, every_case};

const USAGE: &str = "ledger [--cases N] [--seed S] [--only WORD] [--against FILE] [--keep FOLDER]";

struct Arguments {
    cases: usize,
    seed: u64,
    word: String,
    against: Option<PathBuf>,
    keep: Option<PathBuf>,
}

fn main() -> ExitCode {
    let Arguments { cases, seed, word, against, keep } = arguments();
    // A file that cannot be read should be known before minutes of work.
    let older = against.map(|path| {
        let text = std::fs::read_to_string(&path).expect("the older ledger can be read");
        Ledger::parse(&text).expect("the older ledger is valid")
    });
    if let Some(folder) = keep {
        keep_products(&folder, cases, seed, &word);
    }
    let ledger = Ledger::measure(cases, seed, &word);
    let Some(older) = older else {
        print!("{ledger}");
        return ExitCode::SUCCESS;
    };
    if !ledger.has_cases_of(&older) {
        let (cases, seed) = (older.cases, older.seed);
        eprintln!("the older ledger has other cases: --cases {cases} --seed {seed}");
        return ExitCode::from(2);
    }
    let changes = ledger.changes_since(&older, &word);
    changes.iter().for_each(|change| println!("{change}"));
    println!("{} of {} cases changed, seed {seed}", changes.len(), ledger.lines.len());
    ExitCode::from(u8::from(!changes.is_empty()))
}

fn arguments() -> Arguments {
    let (word, against, keep) = Default::default();
    let mut parsed = Arguments { cases: CASES, seed: SEED, word, against, keep };
    let mut words = std::env::args().skip(1);
    while let Some(name) = words.next() {
        let value = words.next().expect(USAGE);
        match name.as_str() {
            "--cases" => parsed.cases = value.parse().expect(USAGE),
            "--seed" => parsed.seed = value.parse().expect(USAGE),
            "--only" => parsed.word = value,
            "--against" => parsed.against = Some(value.into()),
            "--keep" => parsed.keep = Some(value.into()),
            _ => panic!("{USAGE}"),
        }
    }
    parsed
}

fn keep_products(folder: &Path, cases: usize, seed: u64, word: &str) {
    for case in every_case(cases, seed).iter().filter(|case| case.name.contains(word)) {
        Products::of(case).write(&folder.join(&case.name)).expect("the folder can be written");
    }
}
