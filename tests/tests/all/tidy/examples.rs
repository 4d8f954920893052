//! Generated parts of documents: examples, compared with the output of the program, and the table
//! of limits. `BLESS=1` rewrites them.
//!
//! The commands of a `console` block run one after another in a folder with a few recordings of the
//! corpus. Commands of other programs are not run; their output stays as it is written.

use std::fs;
use std::path::Path;
use std::process::Command;

use tracemend::limits;
use tracemend::{FormatId, Limit};

use crate::tidy::tree::TREE;

/// Documents with examples.
const DOCUMENTS: [&str; 7] = [
    "README.md",
    "docs/ci.md",
    "docs/review.md",
    "docs/salvage.md",
    "docs/start-ci.md",
    "docs/start-review.md",
    "docs/start-salvage.md",
];

/// Recordings in the folder of the examples: name, path in the corpus.
const RECORDINGS: [(&str, &str); 4] = [
    ("night.data", "corpus/perf/crashed/diskfull.data"),
    ("plain.data", "corpus/perf/clean/plain.data"),
    ("boot.log", "corpus/qemu/crashed/cut_11.1.log"),
    ("tap.run.revent", "corpus/revent/clean/v1_timeout.revent"),
];

/// Returns a document with the output of its commands as the program prints it now.
fn run(document: &str, folder: &Path) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut is_console = false;
    let mut is_ours = false;
    for line in document.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
            is_ours = false;
        }
        let command = line.strip_prefix("$ ").filter(|_| is_console);
        is_ours = command.map_or(is_ours, |command| command.starts_with("tracemend "));
        if command.is_some() || !is_ours {
            lines.push(line.to_owned());
        }
        if let Some(command) = command.filter(|_| is_ours) {
            lines.extend(output_of(command, folder).lines().map(str::to_owned));
        }
    }
    lines.join("\n") + "\n"
}

/// Runs one command of this program and returns its standard output and error.
fn output_of(command: &str, folder: &Path) -> String {
    let command = command.split(" # ").next().unwrap_or_default();
    let words: Vec<_> = command.split_whitespace().skip(1).collect();
    let mut program = Command::new(env!("CARGO_BIN_EXE_tracemend-under-test"));
    program.args(&words).current_dir(folder).env("LC_ALL", "C.UTF-8").env("COLUMNS", "100");
    let output = program.output().expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("the output is UTF-8");
    let text = text + &String::from_utf8(output.stderr).expect("the output is UTF-8");
    assert!(!text.contains("No such file"), "an example reads a missing file: {command}\n{text}");
    text
}

/// Document with the table of limits, and the marks around it.
const LIMITS: (&str, &str, &str) = ("SECURITY.md", "<!-- limits:", "<!-- /limits -->");

/// Returns the table of all limits.
fn limits_table() -> String {
    let mut table = "\n| limit | number | reason |\n|---|---:|---|\n".to_owned();
    let formats = FormatId::ALL.iter().flat_map(|format| format.limits());
    for limit in limits::COMMON.iter().chain(formats) {
        let Limit { name, unit, reason, default, .. } = limit;
        table += &format!("| `{name}` | {} {unit} | {reason} |\n", with_separators(*default));
    }
    table + "\n"
}

/// Returns a number with a comma before each group of three digits.
fn with_separators(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups = groups.map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join(",")
}

#[test]
fn the_table_of_limits_is_that_of_the_code() {
    let (path, opening, closing) = LIMITS;
    let path = TREE.root.join(path);
    let document = fs::read_to_string(&path).expect("the document exists");
    let start = document.find(opening).expect("the table has a mark before it");
    let start = start + document[start..].find('\n').expect("the mark is a line") + 1;
    let end = document.find(closing).expect("the table has a mark after it");
    let now = format!("{}{}{}", &document[..start], limits_table(), &document[end..]);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, now).expect("the document can be written");
    } else {
        assert!(document == now, "{}: BLESS=1 rewrites the table", path.display());
    }
    assert_eq!(with_separators(1_234_567), "1,234,567");
}

#[test]
fn examples_in_documents_are_what_the_program_prints() {
    for path in DOCUMENTS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, source) in RECORDINGS {
            let source = TREE.root.join(source);
            fs::copy(&source, folder.path().join(name)).expect("the corpus has it");
        }
        let path = TREE.root.join(path);
        let document = fs::read_to_string(&path).expect("the document exists");
        let now = run(&document, folder.path());
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &now).expect("the document can be written");
        } else {
            assert_eq!(document, now, "{}: BLESS=1 rewrites the examples", path.display());
        }
    }
}

#[test]
fn an_example_that_is_out_of_date_is_found() {
    let sample = "```console\n$ other\nkept\n$ tracemend --version\nold\n```\nend\n";
    let now = run(sample, Path::new("."));
    assert!(now.starts_with("```console\n$ other\nkept\n$ tracemend --version\ntracemend "));
    assert!(now.ends_with("\n```\nend\n") && !now.contains("old"));
}
