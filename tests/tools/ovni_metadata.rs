//! Compares the check with the emulator on traces whose metadata has one unusual value:
//!
//! ```sh
//! export TRACEMEND_OVNIEMU=/path/to/ovniemu
//! cargo run -p tracemend-tools --bin ovni_metadata
//! ```
//!
//! Prints a table by key, then every value on which the two disagree.
#![allow(
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::collections::BTreeMap;

use tracemend::{Options, Severity};
use tracemend_tests::forge::ovni::values;
use tracemend_tests::judge::ovni::Ovniemu;

/// Numbers of a row: both accept, both refuse, only the check refuses, only the emulator refuses.
#[derive(Clone, Copy, Default)]
struct Row([usize; 4]);

fn main() {
    let Some(emulator) = Ovniemu::find_or_skip() else { return };
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let mut all = Row::default();
    let mut disagreements = Vec::new();
    for unusual in values::all() {
        let verdict = emulator.lint(&unusual.trace);
        let report = tracemend::check(&unusual.trace.set(), &Options::default());
        let errors = report.findings().iter().filter(|found| found.severity == Severity::Error);
        let errors: Vec<String> =
            errors.map(|found| format!("{} {}", found.rule.code, found.message)).collect();
        let column = match (verdict.accepted, errors.is_empty()) {
            (true, true) => 0,
            (false, false) => 1,
            (true, false) => 2,
            (false, true) => 3,
        };
        for row in [rows.entry(unusual.key).or_default(), &mut all] {
            row.0[column] += 1;
        }
        let (key, value) = (unusual.key, &unusual.value);
        match column {
            2 => disagreements.push(format!("stricter: {key} {value}: {}", errors.join("; "))),
            3 => disagreements.push(format!("silent: {key} {value}: {}", verdict.first_error)),
            _ => {}
        }
    }
    println!("| key | both accept | both refuse | only the check refuses | only ovniemu refuses |");
    println!("|---|---|---|---|---|");
    for (key, Row([accept, refuse, stricter, silent])) in &rows {
        println!("| {key} | {accept} | {refuse} | {stricter} | {silent} |");
    }
    let Row([accept, refuse, stricter, silent]) = all;
    println!("| all | {accept} | {refuse} | {stricter} | {silent} |");
    for line in disagreements {
        println!("{line}");
    }
}
