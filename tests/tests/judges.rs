//! Lists the judges at the end of `cargo test`, where a missing one cannot be overlooked: a program
//! without the harness, which would keep the lines of a passing test to itself.
//!
//! It fails if `TRACEMEND_REQUIRE_JUDGES` names a judge that is missing.
#![allow(clippy::print_stdout, reason = "the list is the product")]

use std::process::ExitCode;

use tracemend_tests::judge::{ALL, Judge};

fn main() -> ExitCode {
    // Programs that run tests ask for a list first.
    if std::env::args().any(|argument| argument == "--list") {
        println!("judges: test");
        return ExitCode::SUCCESS;
    }
    let found: Vec<(&Judge, Result<String, String>)> =
        ALL.iter().map(|judge| (*judge, (judge.probe)())).collect();
    let mut missing_required = 0;
    println!();
    for (judge, result) in &found {
        match result {
            Ok(version) => println!("judge {}: {version}", judge.name),
            Err(reason) => println!("skipped: {}", judge.describe_missing(reason)),
        }
        missing_required += usize::from(result.is_err() && judge.is_required());
    }
    let present = found.iter().filter(|(_, result)| result.is_ok()).count();
    let verdict = if missing_required == 0 { "ok" } else { "FAILED" };
    println!(
        "\njudges: {verdict}. {present} of {} present; {missing_required} required and missing\n",
        found.len()
    );
    if missing_required == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
