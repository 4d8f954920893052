//! Damages sound ovni traces, repairs them, and prints the agreement with the originals and with
//! the emulator:
//!
//! ```sh
//! export TRACEMEND_OVNIEMU=/path/to/ovniemu
//! cargo run -p tracemend-tools --bin ovni_campaign -- 1500 1
//! ```
//!
//! The arguments are the number of cases and the first seed. Half of the cases have one damage, and
//! make a line for each kind; the others have 1 to 8. Traces that are given up and broken laws are
//! listed with their seeds after the table. `ovni_campaign show SEED [FOLDER]` describes one case
//! and writes it to a folder.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::collections::BTreeMap;

use tracemend::Options;
use tracemend_tests::forge::ovni::damage::Damage;
use tracemend_tests::judge::ovni::Ovniemu;
use tracemend_tests::properties::ovni::{Case, Results, judge_case};

const COLUMNS: [(&str, &str); 12] = [
    ("cases", "cases"),
    ("refused", "with errors"),
    ("repaired", "repaired"),
    ("lossy", "with loss"),
    ("exact", "exact"),
    ("original", "equal to the original"),
    ("events", "events spared"),
    ("kept", "kept"),
    ("emulator refused", "ovniemu -l refuses"),
    ("silent", "unnoticed"),
    ("stricter", "errors here alone"),
    ("accepted", "accepted after the repair"),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize| arguments.get(index).and_then(|text| text.parse::<u64>().ok());
    if arguments.first().is_some_and(|verb| verb == "show") {
        return show(number(1).unwrap(), arguments.get(2).map(String::as_str));
    }
    let (cases, first) = (number(0).unwrap_or(1_500), number(1).unwrap_or(1));
    let emulator = Ovniemu::find_or_skip();
    let mut lines: BTreeMap<String, Results> = BTreeMap::new();
    for seed in first..first + cases {
        let kind = kind_of(seed);
        let name = kind.map_or("1 to 8 of all".to_string(), |kind| format!("{kind:?}"));
        let results = judge_case(&Case::new(seed, kind), emulator.as_ref());
        lines.entry(name).or_default().merge(&results);
        lines.entry("~ all".to_string()).or_default().merge(&results);
    }
    println!("seeds {first} to {}", first + cases - 1);
    let heads: Vec<&str> = COLUMNS.iter().map(|(_, head)| *head).collect();
    println!("| damage | {} |", heads.join(" | "));
    println!("|---{}|", "|---".repeat(COLUMNS.len()));
    for (name, results) in &lines {
        let cells: Vec<String> =
            COLUMNS.iter().map(|(key, _)| results.of(key).to_string()).collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
    for (seed, reason) in &lines["~ all"].given_up {
        println!("seed {seed} {:?}: given up: {reason}", kind_of(*seed));
    }
    for (seed, law) in &lines["~ all"].broken {
        println!("seed {seed} {:?}: {law}", kind_of(*seed));
    }
}

/// The only damage of a case, or `None` for 1 to 8 of all kinds.
fn kind_of(seed: u64) -> Option<Damage> {
    let index = usize::try_from(seed / 2).unwrap() % Damage::ALL.len();
    seed.is_multiple_of(2).then(|| Damage::ALL[index])
}

fn show(seed: u64, folder: Option<&str>) {
    let case = Case::new(seed, kind_of(seed));
    let damaged = case.damaged.trace();
    let (repair, target) = damaged.mended(&Options::default());
    println!("{:?} {:?} refused {:?}", case.damages, repair.outcome, repair.refused);
    for finding in repair.before.findings() {
        let fix = finding.fix.as_ref().map(|fix| (fix.safety, &fix.summary));
        println!("before {} {} {:?}: {fix:?}", finding.rule.code, finding.message, finding.span);
    }
    for applied in &repair.applied {
        let (code, message) = (applied.finding.rule.code, &applied.finding.message);
        println!(
            "round {} {code} {message}: {:?}",
            applied.round,
            applied.fix().map(|f| &f.summary)
        );
    }
    for finding in repair.after.findings() {
        println!("after {} {} {:?}", finding.rule.code, finding.message, finding.span);
    }
    let Some(folder) = folder else { return };
    for (name, trace) in [("original", &case.original), ("damaged", &damaged), ("target", &target)]
    {
        for (file, bytes) in &trace.files {
            let Some(bytes) = bytes else { continue };
            let path = std::path::Path::new(folder).join(name).join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }
}
