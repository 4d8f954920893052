//! Counts the places in a release program that can panic, by the part of the code that holds them:
//!
//! ```sh
//! cargo build --release
//! cargo run -p tracemend-tools --bin panics -- target/release/tracemend [COUNTS]
//! ```
//!
//! The source has no `unwrap`, `panic!` or index; what is left comes from overflow checks and from
//! functions of libraries that the compiler put into ours. The table goes to standard output. With
//! the table of an earlier run, COUNTS, it is compared with that, and a count that rose ends the
//! program with 1: `tests/tools/panics.tsv` is the table of the last release. A function is ours if
//! its own path begins with a crate of the project. Failures that abort (memory) and those of a
//! destructor during a panic are not counted. Needs `objdump` of binutils and a program for x86_64
//! with its symbols.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};

/// Kinds of failures, by a part of the names of the functions that end them.
const KINDS: [(&str, &[&str]); 4] = [
    ("overflow", &["core::panicking::panic_const"]),
    ("index", &["slice_index_fail", "panic_bounds_check", "slice_error_fail", "len_mismatch"]),
    ("unwrap", &["unwrap_failed", "expect_failed"]),
    ("other", &["core::panicking::panic", "assert_failed"]),
];
/// Functions that are no failures of the code that calls them.
const LEFT_OUT: [&str; 2] = ["panic_in_cleanup", "panic_cannot_unwind"];
/// The crates of the project.
const OURS: [&str; 2] = ["tracemend::", "tracemend_cli::"];

/// Parts of the code and kinds of failures, with the number of places.
type Counts = BTreeMap<(String, &'static str), u64>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(program) = arguments.first() else {
        eprintln!("usage: panics PROGRAM [COUNTS]");
        return ExitCode::from(2);
    };
    let counts = count(program);
    if counts.is_empty() {
        eprintln!("{program} has no symbols of the project, or calls none of the failures");
        return ExitCode::FAILURE;
    }
    for ((part, kind), count) in &counts {
        println!("{part}\t{kind}\t{count}");
    }
    eprintln!("{} places", counts.values().sum::<u64>());
    let Some(earlier) = arguments.get(1) else { return ExitCode::SUCCESS };
    let earlier = std::fs::read_to_string(earlier).unwrap();
    let rose: Vec<String> = risen(&counts, &earlier);
    rose.iter().for_each(|line| eprintln!("{line}"));
    ExitCode::from(u8::from(!rose.is_empty()))
}

/// Returns a line for each count that is higher than in an earlier table.
fn risen(counts: &Counts, earlier: &str) -> Vec<String> {
    let mut before = BTreeMap::new();
    for line in earlier.lines() {
        let mut columns = line.split('\t');
        let mut next = || columns.next().unwrap().to_string();
        let (part, kind, count) = (next(), next(), next());
        before.insert((part, kind), count.parse::<u64>().unwrap());
    }
    let line = |((part, kind), now): (&(String, &str), &u64)| {
        let key = (part.clone(), (*kind).to_string());
        let before = before.get(&key).copied().unwrap_or_default();
        (*now > before).then(|| format!("{part}, {kind}: {now}, before {before}"))
    };
    counts.iter().filter_map(line).collect()
}

/// Counts the calls of failures in the functions of a program.
fn count(program: &str) -> Counts {
    let symbols = failures(program);
    let slots = slots(program);
    let mut counts = Counts::new();
    let mut part = None;
    read_objdump(&["-d", "-C", "--no-show-raw-insn", program], |line| {
        // `000000000002c0d30 <core::fmt::write>:` begins a function.
        if let Some((_, name)) = line.split_once(" <").filter(|_| line.ends_with(">:")) {
            part = part_of(name.trim_end_matches(">:"));
            return;
        }
        let (Some(part), true) = (&part, line.contains("call") || line.contains("jmp")) else {
            return;
        };
        // Through a slot: `call *0x9a8b27(%rip)  # c69848 <...>`; directly: `call 2c0d30 <...>`.
        let target = match line.split_once("(%rip)") {
            Some((_, rest)) => rest.split_once("# ").map(|(_, rest)| rest),
            None => line.split_once("call").or(line.split_once("jmp")).map(|(_, rest)| rest),
        };
        let target = target.and_then(|text| text.split_whitespace().next());
        let address = target.and_then(|text| u64::from_str_radix(text, 16).ok());
        let address = address.map(|address| slots.get(&address).copied().unwrap_or(address));
        if let Some(kind) = address.and_then(|address| symbols.get(&address)) {
            *counts.entry((part.clone(), *kind)).or_default() += 1;
        }
    });
    counts
}

/// Returns the part of the code that a function belongs to, if it is ours: a crate and a module,
/// or a format and a room of it.
fn part_of(name: &str) -> Option<String> {
    let path = name.trim_start_matches(['<', '&', '(']).trim_start_matches("dyn ");
    OURS.iter().find(|own| path.starts_with(*own))?;
    let is_end = |one: char| !one.is_alphanumeric() && one != '_' && one != ':';
    let path = path.split(is_end).next()?;
    let len = if path.starts_with("tracemend::formats::") { 4 } else { 2 };
    Some(path.split("::").take(len).collect::<Vec<_>>().join("::"))
}

/// Returns the addresses of the functions that end in a failure, with their kinds.
fn failures(program: &str) -> HashMap<u64, &'static str> {
    let mut found = HashMap::new();
    read_objdump(&["-t", "-C", program], |line| {
        let kind = KINDS.iter().find(|(_, parts)| parts.iter().any(|part| line.contains(part)));
        let address = line.split_whitespace().next();
        let address = address.and_then(|text| u64::from_str_radix(text, 16).ok());
        let is_left_out = LEFT_OUT.iter().any(|name| line.contains(name));
        // Functions of ours may have such a name among their types.
        let is_of_core = !OURS.iter().any(|own| line.contains(own));
        if let (Some((kind, _)), Some(address), false, true) =
            (kind, address, is_left_out, is_of_core)
        {
            found.insert(address, *kind);
        }
    });
    found
}

/// Returns the addresses of the slots through which a program calls, with those of the functions.
fn slots(program: &str) -> HashMap<u64, u64> {
    let mut found = HashMap::new();
    read_objdump(&["-R", program], |line| {
        // `0000000000c69848 R_X86_64_RELATIVE  *ABS*+0x00000000002e997e`
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let slot = line.split_whitespace().next().and_then(number);
        let function = line.split_once("*ABS*+0x").and_then(|(_, text)| number(text.trim()));
        found.extend(slot.zip(function));
    });
    found
}

/// Passes each line that `objdump` prints to a function.
fn read_objdump(arguments: &[&str], mut each: impl FnMut(&str)) {
    let mut run = Command::new("objdump").args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(run.stdout.take().unwrap()).split(b'\n');
    lines.for_each(|line| each(&String::from_utf8_lossy(&line.unwrap())));
    assert!(run.wait().unwrap().success(), "objdump {arguments:?}");
}
