//! Prints a table of repairs of recorded ovni traces:
//! `cargo run -p tracemend-tools --bin ovni_table -- MANIFEST FOLDER`.
//!
//! The manifest is a table with a header and tabs: `name` is the directory `FOLDER/name`, `emu_rc`
//! and `emu_lint_rc` are the exit statuses of the emulator and of its linter. If
//! `TRACEMEND_OVNIEMU` names the emulator, it judges every trace and its repair again. The last
//! lines count how often the two agree.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::path::Path;

use tracemend::{Options, Outcome, Repair, Report, Severity};
use tracemend_tests::forge::ovni::Trace;
use tracemend_tests::judge::ovni::Ovniemu;

/// Errors that pass the linter, because it does not look for them.
const UNSEEN: [&str; 9] =
    ["OV0005", "OV1005", "OV1006", "OV2001", "OV2006", "OV3007", "OV3008", "OV3009", "OV3012"];

fn column(header: &[&str], name: &str) -> usize {
    header.iter().position(|column| *column == name).unwrap()
}

fn errors(report: &Report) -> Vec<&'static str> {
    let rule = |code: &&str| tracemend::catalogue::rule(code).map(|rule| rule.severity);
    let codes = report.findings().iter().filter(|found| found.severity == Severity::Error);
    let mut codes: Vec<&str> = codes.map(|found| found.rule.code).collect();
    let beyond = report.counts().keys().copied().filter(|c| rule(c) == Some(Severity::Error));
    codes.extend(beyond.filter(|_| report.truncated()));
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Returns whether the verdicts agree, or the reason why not.
fn agreement(accepted: bool, codes: &[&str]) -> &'static str {
    match (accepted, codes.is_empty()) {
        (true, true) | (false, false) => "same",
        (true, false) if codes.iter().all(|code| UNSEEN.contains(code)) => {
            "not checked by the linter"
        }
        _ => "DIFFERS",
    }
}

fn outcome(repair: &Repair) -> String {
    let lost = match repair.outcome {
        Outcome::RepairedWithLoss => format!(", {} events lost", repair.records_lost()),
        _ => String::new(),
    };
    let changed = if repair.changes() { "" } else { ", byte-identical" };
    format!("{:?}{lost}{changed}", repair.outcome)
}

fn word(accepted: bool) -> &'static str {
    if accepted { "accepted" } else { "refused" }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let (manifest, folder) = (args.next().unwrap(), args.next().unwrap());
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let judge = Ovniemu::find_or_skip();
    let mut lines = manifest.lines();
    let header: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let [name, emu, lint] = ["name", "emu_rc", "emu_lint_rc"].map(|name| column(&header, name));
    println!(
        "| trace | ovniemu | ovniemu -l | errors here | verdicts | repair | check of it | \
         ovniemu -l of it |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let (mut rows, mut same, mut clean, mut accepted) = (0, 0, 0, 0);
    for line in lines {
        let row: Vec<&str> = line.split('\t').collect();
        let [name, emu, lint] = [name, emu, lint].map(|column| *row.get(column).unwrap());
        let trace = Trace::below(&Path::new(&folder).join(name));
        let (repair, target) = trace.mended(&Options::default());
        let codes = errors(&repair.before);
        let verdicts = agreement(lint == "0", &codes);
        let now = judge.as_ref().map(|judge| judge.lint(&trace).accepted);
        let manifest =
            if now.is_some_and(|now| now != (lint == "0")) { " (not today)" } else { "" };
        let after = errors(&repair.after);
        let mended = judge.as_ref().map(|judge| judge.lint(&target));
        let judged = mended.as_ref().map_or("-".to_string(), |mended| {
            if mended.accepted { "accepted".to_string() } else { mended.first_error.clone() }
        });
        println!(
            "| {name} | {} | {}{manifest} | {} | {verdicts} | {} | {} | {judged} |",
            word(emu == "0"),
            word(lint == "0"),
            if codes.is_empty() { "none".to_string() } else { codes.join(" ") },
            outcome(&repair),
            if after.is_empty() { "clean".to_string() } else { after.join(" ") },
        );
        rows += 1;
        same += usize::from(verdicts != "DIFFERS");
        clean += usize::from(after.is_empty());
        accepted += usize::from(mended.is_some_and(|mended| mended.accepted));
    }
    println!(
        "\n{rows} traces: {same} with the linter's verdict or a fault that it does not look for, \
         {clean} \
         clean after the repair, {accepted} accepted by ovniemu -l after it"
    );
}
