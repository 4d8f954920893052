//! Prints one row per revent recording: its verdict, its repair, and the number of events that
//! Workload Automation's reader reads before and after: `cargo run -p tracemend-tools --bin
//! revent_table -- FILE...`
//!
//! `TRACEMEND_WLAUTO` names the judge, as for the tests.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a tool for developers: a failure should stop it at once"
)]

use tracemend::FormatId;
use tracemend::{Choices, Options};
use tracemend_tests::judge::revent::{Read, Wlauto};
use tracemend_tests::mended::mended_as;

fn shown(read: &Result<Read, String>) -> String {
    match read {
        Ok(read) => read.events.len().to_string(),
        Err(error) => error.split(':').next().unwrap_or_default().to_string(),
    }
}

fn main() {
    let judge = Wlauto::find_or_skip();
    println!(
        "| recording | layout | events | verdict | repair | judge | repair --upgrade | judge |"
    );
    println!("|---|---|---:|---|---|---:|---|---:|");
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.rsplit('/').next().unwrap();
        let mut choices = Choices::default();
        let plain = Options { format: Some(FormatId::REVENT), ..Options::default() };
        let (repair, target) = mended_as(name, &bytes, &plain);
        choices.set("upgrade", "").unwrap();
        let (upgrade, newest) = mended_as(name, &bytes, &Options { choices, ..plain });
        let counts = repair.before.counts().keys();
        let codes: Vec<&str> =
            counts.copied().filter(|code| !["RV0016", "RV0017", "RV1006"].contains(code)).collect();
        let layout = repair.before.facts.iter().find(|(fact, _)| *fact == "layout");
        let layout = layout.map_or("", |(_, layout)| layout.split(',').next().unwrap_or_default());
        let read = judge.as_ref().map(|judge| judge.read(&[bytes, target, newest]));
        let read: Vec<String> = read.iter().flatten().map(shown).collect();
        let [before, after, newest] = read.as_slice() else { continue };
        println!(
            "| {name} | {layout} | {} | {} {} | {:?}, {} events | {before} -> {after} | {:?}, {} \
             events | {newest} |",
            repair.before.tally.records,
            repair.before.verdict().name(),
            codes.join(" "),
            repair.outcome,
            repair.after.tally.records,
            upgrade.outcome,
            upgrade.after.tally.records,
        );
    }
}
