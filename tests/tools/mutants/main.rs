//! Mutation testing with one build for many mutants. `.ci/mutants` calls it:
//!
//! ```text
//! mutants build LIST TREE FOLDER    # the mutants of LIST (cargo-mutants) into a copy of the tree
//! mutants run FOLDER                # runs those that FOLDER/results.tsv does not have
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for developers: a failure should stop it at once"
)]

mod suite;
mod switch;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};
use suite::{Binary, End, Suite};
use switch::{Mutant, Site};

/// Tests above this run after all others.
const SLOW: Duration = Duration::from_secs(8);

fn main() {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    match arguments.iter().map(PathBuf::as_path).collect::<Vec<_>>()[..] {
        [command, list, tree, folder] if command == Path::new("build") => build(list, tree, folder),
        [command, folder] if command == Path::new("run") => run(folder),
        _ => panic!("expected: build LIST TREE FOLDER, or run FOLDER"),
    }
}

/// Whether slow tests are left out; survivors are undecided then.
fn is_fast() -> bool {
    std::env::var_os("MUTANTS_FAST").is_some()
}

fn build(list: &Path, tree: &Path, folder: &Path) {
    let listed: Value = serde_json::from_slice(&fs::read(list).unwrap()).unwrap();
    let mutants: Vec<Mutant> = listed.as_array().unwrap().iter().map(Mutant::new).collect();
    let originals = prepare(tree, &mutants);
    let mut unviable = BTreeSet::new();
    let (binaries, switched) = loop {
        let sites = write_sources(tree, &originals, &mutants, &unviable);
        let before = unviable.len();
        let messages = compile(tree);
        for message in messages.iter().filter(|message| message["message"]["level"] == "error") {
            unviable.extend(switch::blame(&message["message"], &sites));
        }
        println!("{} of {} mutants do not compile", unviable.len(), mutants.len());
        let is_built = messages.iter().any(|message| message["success"] == true);
        if is_built {
            let switched: BTreeSet<usize> =
                sites.values().flatten().map(|site| site.mutant).collect();
            break (messages.iter().filter_map(test_binary).collect(), switched);
        }
        if unviable.len() == before {
            let errors = messages.iter().map(|message| &message["message"]);
            let errors = errors.filter(|message| message["level"] == "error");
            let errors = errors.filter_map(|message| message["rendered"].as_str());
            panic!("the mutants do not compile:\n{}", errors.collect::<String>());
        }
    };
    // Some tests read the sources.
    for (file, source) in &originals {
        fs::write(tree.join(file), source).unwrap();
    }
    let state = |at: usize| match at {
        _ if unviable.contains(&at) => "unviable",
        _ if switched.contains(&at) => "ready",
        _ => "fixed",
    };
    let rows = mutants
        .iter()
        .enumerate()
        .map(|(at, mutant)| json!({"name": mutant.name, "file": mutant.file, "state": state(at)}));
    let rows: Vec<Value> = rows.collect();
    let logs = folder.join("reached");
    fs::create_dir_all(&logs).unwrap();
    let most = if is_fast() { SLOW } else { Duration::MAX };
    let suite = Suite::record(binaries, &logs, most);
    let plan = json!({"mutants": rows, "suite": suite.to_json()});
    fs::write(folder.join("plan.json"), plan.to_string()).unwrap();
}

/// Adds the module that knows the chosen mutant, and returns the sources to be changed.
fn prepare(tree: &Path, mutants: &[Mutant]) -> BTreeMap<String, String> {
    let files: BTreeSet<&String> = mutants.iter().map(|mutant| &mutant.file).collect();
    let read = |file: &str| fs::read_to_string(tree.join(file)).unwrap();
    let mut sources: BTreeMap<String, String> =
        files.into_iter().map(|file| (file.clone(), read(file))).collect();
    let (library, program) = ("core/src/lib.rs", "cli/src/main.rs");
    for file in [library, program] {
        sources.entry(file.to_string()).or_insert_with(|| read(file));
    }
    fs::write(tree.join("core/src/switch.rs"), include_str!("chosen.rs")).unwrap();
    sources
}

fn write_sources(
    tree: &Path,
    originals: &BTreeMap<String, String>,
    mutants: &[Mutant],
    unviable: &BTreeSet<usize>,
) -> BTreeMap<String, Vec<Site>> {
    let mut all = BTreeMap::new();
    for (file, source) in originals {
        let own = mutants.iter().enumerate();
        let own: Vec<_> =
            own.filter(|(at, mutant)| mutant.file == *file && !unviable.contains(at)).collect();
        let (mut text, sites) = switch::write(source, &own);
        if file == "core/src/lib.rs" {
            text.push_str("#[doc(hidden)]\npub mod switch;\n");
        }
        // A process of its own opens its log before the sandbox closes.
        if file == "cli/src/main.rs" {
            let main = "fn main() -> ExitCode {\n";
            text = text.replace(main, &format!("{main}tracemend::switch::record(0);\n"));
        }
        if fs::read_to_string(tree.join(file)).unwrap() != text {
            fs::write(tree.join(file), text).unwrap();
        }
        all.insert(file.clone(), sites);
    }
    all
}

fn compile(tree: &Path) -> Vec<Value> {
    let output = Command::new("cargo")
        .args(["test", "--workspace", "--lib", "--tests", "--no-run", "--locked"])
        .args(["--message-format", "json"])
        .current_dir(tree)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn test_binary(message: &Value) -> Option<Binary> {
    let program = message["executable"].as_str()?.into();
    let package = Path::new(message["manifest_path"].as_str()?).parent()?.into();
    (message["profile"]["test"] == true).then_some(Binary { program, package })
}

fn run(folder: &Path) {
    let plan: Value = serde_json::from_slice(&fs::read(folder.join("plan.json")).unwrap()).unwrap();
    let suite = Suite::from_json(&plan["suite"]);
    let path = folder.join("results.tsv");
    let held = fs::read_to_string(&path).unwrap_or_default();
    // The last line about a mutant counts.
    let known = held.lines().filter_map(|line| line.split_once('\t'));
    let known: BTreeMap<&str, &str> = known
        .map(|(outcome, rest)| (rest.split_once('\t').map_or(rest, |(name, _)| name), outcome))
        .collect();
    let results = Mutex::new(OpenOptions::new().create(true).append(true).open(&path).unwrap());
    let write = |outcome: &str, name: &str, by: &str| {
        let line = format!("{outcome}\t{name}\t{by}\n");
        results.lock().unwrap().write_all(line.as_bytes()).unwrap();
    };
    let (mut new, mut undecided) = (Vec::new(), Vec::new());
    for (at, row) in plan["mutants"].as_array().unwrap().iter().enumerate() {
        let [name, state] = ["name", "state"].map(|key| row[key].as_str().unwrap());
        match known.get(name) {
            Some(&"undecided") => undecided.push((at, name)),
            Some(_) => {}
            None if state == "ready" => new.push((at, name)),
            None => write(state, name, ""),
        }
    }
    // Most mutants need no slow test.
    undecided.extend(judge(&suite, new, &(Duration::ZERO..SLOW), "undecided", &write));
    if !is_fast() {
        // Spread over the folders, so that an end before the last mutant leaves a sample.
        undecided.sort_by_key(|(at, _)| at.reverse_bits());
        judge(&suite, undecided, &(SLOW..Duration::MAX), "missed", &write);
    }
}

/// Runs mutants against the tests that take as long as `took`; returns those that pass, which get
/// the outcome `passed`.
fn judge<'m>(
    suite: &Suite,
    mutants: Vec<(usize, &'m str)>,
    took: &Range<Duration>,
    passed: &str,
    write: &(impl Fn(&str, &str, &str) + Sync),
) -> Vec<(usize, &'m str)> {
    let left = Mutex::new(Vec::new());
    suite::on_two_threads(mutants, |(at, name)| match suite.judge(at, took) {
        End::Passed => {
            write(passed, name, "");
            left.lock().unwrap().push((at, name));
        }
        End::Failed(by) => write("caught", name, &by),
        End::TimedOut => write("timeout", name, ""),
    });
    left.into_inner().unwrap()
}
