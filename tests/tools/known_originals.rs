//! Damages sound recordings, repairs them and compares the results with the originals:
//!
//! ```sh
//! cargo run --release -p tracemend-tools --bin known_originals -- revent 5000 7
//! cargo run -p tracemend-tools --bin known_originals -- revent case 4711 7 /tmp/case
//! cargo run -p tracemend-tools --bin known_originals -- revent input crash-1234 /tmp/case
//! ```
//!
//! `FORMAT CASES SEED` prints tables: all cases, by kind of damage, by original, and the first
//! cases that break a law. `all` runs every format. `judged` after the seed also asks the format's
//! own tool to read what was repaired. `FORMAT case NUMBER SEED FOLDER` describes one case and
//! writes its original, the damaged recording and the output below a folder; `input` does so for an
//! input of the fuzz target `FORMAT_damaged`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use tracemend_tests::known_originals::{Case, Files, SUBJECTS, Subject, Tally, case_of, damaged};

const USAGE: &str = "known_originals FORMAT|all CASES SEED [judged] | \
                     FORMAT case NUMBER SEED FOLDER | FORMAT input FILE FOLDER";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<usize>().expect(USAGE);
    let seed_of = |text: &str| text.parse::<u64>().expect(USAGE);
    match words.as_slice() {
        [format, "case", case, seed, folder] => {
            let subject = named(format).next().expect(USAGE);
            let (seed, number) = (seed_of(seed), number(case));
            // Before the repair, which may not come to an end.
            let (_, broken) = damaged(&subject.originals, seed, number);
            write_files(&Path::new(folder).join("damaged"), &broken.files);
            let case = subject.run(&subject.originals, seed, number);
            write_case(subject, &case, Path::new(folder));
        }
        [format, "input", file, folder] => {
            let subject = named(format).next().expect(USAGE);
            let case = case_of(subject, &std::fs::read(file).expect("an input of the target"));
            write_case(subject, &case, Path::new(folder));
        }
        [format, cases, seed, rest @ ..] => {
            for subject in named(format) {
                run(subject, number(cases), seed_of(seed), rest == ["judged"]);
            }
        }
        _ => println!("{USAGE}"),
    }
}

fn named(name: &str) -> impl Iterator<Item = &'static Subject> {
    let is_named = move |subject: &&Subject| name == "all" || subject.format.name() == name;
    SUBJECTS.iter().copied().filter(is_named)
}

/// Runs cases and prints the tables.
fn run(subject: &Subject, cases: usize, seed: u64, is_judged: bool) {
    let numbers: Vec<usize> = (0..cases).collect();
    let readable = is_judged.then(|| subject.readable_originals()).flatten();
    let found = Mutex::new((Tally::default(), Vec::new()));
    subject.run_all(seed, &numbers, |case| {
        let mut found = found.lock().unwrap();
        found.0.add(&case);
        let is_readable = readable.as_ref().is_some_and(|names| names.contains(&case.original));
        if is_readable && !case.judgement.gave_up() {
            found.1.push((case.number, case.output));
        }
    });
    let (tally, outputs) = found.into_inner().unwrap();
    println!("{}", tally.tables(&format!("{}, seed {seed}", subject.format.name())));
    if is_judged {
        ask_judge(subject, outputs);
    }
}

/// Asks the format's own tool to read outputs.
fn ask_judge(subject: &Subject, outputs: Vec<(usize, Files)>) {
    let (numbers, outputs): (Vec<usize>, Vec<Files>) = outputs.into_iter().unzip();
    let Some(answers) = subject.judge.and_then(|judge| judge(&outputs)) else {
        return println!("no judge");
    };
    let refused: Vec<(usize, String)> = numbers
        .into_iter()
        .zip(&answers)
        .filter_map(|(number, answer)| Some((number, answer.clone().err()?)))
        .collect();
    println!("the judge reads {} of {}", answers.len() - refused.len(), answers.len());
    let mut reasons: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (number, why) in refused {
        reasons.entry(without_numbers(&why)).or_default().push(number);
    }
    for (reason, cases) in reasons {
        let first: Vec<usize> = cases.iter().copied().take(6).collect();
        println!("  {} times: {reason}, cases {first:?}", cases.len());
    }
}

/// Leaves out what differs between answers with the same reason.
fn without_numbers(text: &str) -> String {
    let words = text.split_whitespace();
    let words = words.filter(|word| !word.starts_with("0x") && !word.starts_with("[0x"));
    words.collect::<Vec<_>>().join(" ")
}

/// Describes a case and writes its files.
fn write_case(subject: &Subject, case: &Case, folder: &Path) {
    let original =
        subject.originals.iter().find(|original| original.name == case.original).unwrap();
    let states =
        [("original", &original.files), ("damaged", &case.damaged.files), ("output", &case.output)];
    states.iter().for_each(|(state, files)| write_files(&folder.join(state), files));
    println!("{}: {}\n{:#?}", case.original, case.damaged.describe(), case.judgement);
    describe_repair(subject, case);
}

fn write_files(folder: &Path, files: &Files) {
    for (name, bytes) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// Prints the findings, what the repair applied, and what is left.
fn describe_repair(subject: &Subject, case: &Case) {
    let options = tracemend::Options::default().with_format(subject.format);
    let files = tracemend_tests::known_originals::set(&case.damaged.files);
    let repair = tracemend::repair(&files, &options);
    for (when, report) in [("before", &repair.before), ("after", &repair.after)] {
        for finding in report.findings() {
            let fix = finding.fix.as_ref().map(|fix| (fix.safety, &fix.summary));
            let (code, file, span) = (finding.rule.code, finding.span.layer().file, finding.span);
            let place = format!("file {file} {:#x}..{:#x}", span.start(), span.end());
            println!("{when}: {code} at {place}: {}: {fix:?}", finding.message);
        }
    }
    for applied in &repair.applied {
        let (code, round) = (applied.finding.rule.code, applied.round);
        let fix = applied.fix().map(|fix| (&fix.summary, &fix.edits));
        println!("round {round}: {code} {}: {fix:.200?}", applied.finding.message);
    }
}
