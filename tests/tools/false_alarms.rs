//! Prints a table of false alarms: recordings that the format's own reader accepts, and findings on
//! them.
//!
//! ```text
//! cargo run --release -p tracemend-tools --bin false_alarms -- NAME=PATH...
//! ```
//!
//! The recordings are those of the corpus that are called clean, fresh ones by the tools that are
//! here, and those below each PATH, which the table lists as NAME. A recording below a PATH counts
//! only if the format's own reader accepts it, except QEMU logs, whose reader is the machine that
//! they were recorded on: only the fresh ones are replayed. Every alarm is listed after the table.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use tracemend_cli::{Look, Streams};
use tracemend_tests::judge::apitrace::{Apitrace, Recorder};
use tracemend_tests::judge::ovni::Ovniemu;
use tracemend_tests::judge::perf::Perf;
use tracemend_tests::judge::qemu::{Build, End, Guest, Hand};
use tracemend_tests::judge::revent::Wlauto;

/// Options of fresh perf recordings.
const PERF_OPTIONS: [&[&str]; 14] = [
    &["-e", "cpu-clock"],
    &["-e", "cpu-clock", "-g"],
    &["-e", "cpu-clock", "--call-graph", "dwarf"],
    &["-e", "cpu-clock", "-z"],
    &["-e", "cpu-clock", "-z", "-g", "-F", "5000"],
    &["-e", "cpu-clock,task-clock"],
    &["-e", "{cpu-clock,task-clock}:S"],
    &["-e", "page-faults", "-c", "1", "-d"],
    &["-e", "context-switches", "-c", "1", "--switch-events"],
    &["-e", "dummy", "--data", "--phys-data"],
    &["-e", "cpu-clock", "-a", "--per-thread"],
    &["-e", "cpu-clock", "-a", "-s"],
    &["-e", "cpu-clock", "--namespaces", "--all-cgroups"],
    &["-e", "cpu-clock", "-k", "CLOCK_MONOTONIC", "--intr-regs", "--user-regs=ip,sp"],
];
const WORKLOADS: [&[&str]; 3] = [
    &["true"],
    &["sh", "-c", "for i in 1 2 3 4 5; do ls -lR /usr/share/doc >/dev/null; done"],
    &["find", "/usr/lib", "-name", "*.so"],
];
/// Programs of Debian's mesa-utils that draw or ask and end.
const GL_PROGRAMS: [&[&str]; 4] = [&["glxinfo"], &["glxinfo", "-l"], &["eglinfo"], &["es2_info"]];

/// The readers at hand.
struct Readers {
    perf: Option<Perf>,
    apitrace: Option<Apitrace>,
    ovni: Option<Ovniemu>,
    revent: Option<Wlauto>,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    recordings: u64,
    accepted: u64,
    /// Refused by the reader, or not asked.
    refused: u64,
    unasked: u64,
    errors: u64,
    warnings: u64,
}

fn main() {
    let readers = Readers {
        perf: Perf::find_or_skip(),
        apitrace: Apitrace::find_or_skip(),
        ovni: Ovniemu::find_or_skip(),
        revent: Wlauto::find_or_skip(),
    };
    let mut table = BTreeMap::new();
    let mut alarms = Vec::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    for entry in fs::read_dir(&corpus).unwrap() {
        let clean = entry.unwrap().path().join("clean");
        if clean.is_dir() {
            add(&readers, "corpus", &clean, true, &mut table, &mut alarms);
        }
    }
    let fresh = TempDir::new().unwrap();
    record_perf(&readers, fresh.path());
    record_apitrace(fresh.path());
    let replayed = record_qemu(fresh.path());
    add(&readers, "fresh", fresh.path(), false, &mut table, &mut alarms);
    if let Some(counts) = table.get_mut(&("qemu".to_string(), "fresh".to_string())) {
        (counts.accepted, counts.unasked) = (replayed, counts.recordings - replayed);
    }
    for argument in std::env::args().skip(1) {
        let (name, path) = argument.split_once('=').expect("NAME=PATH");
        add(&readers, name, Path::new(path), false, &mut table, &mut alarms);
    }
    println!(
        "| format | recordings | checked | accepted by the reader | refused | not asked | with \
         errors | with warnings |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|");
    for ((format, name), counts) in &table {
        let Counts { recordings, accepted, refused, unasked, errors, warnings } = counts;
        println!(
            "| {format} | {name} | {recordings} | {accepted} | {refused} | {unasked} | {errors} | \
             {warnings} |"
        );
    }
    println!("\nwith errors or warnings, and not refused by the reader:");
    alarms.iter().for_each(|alarm| println!("{alarm}"));
}

/// Checks the recordings below `path`, and asks their readers.
fn add(
    readers: &Readers,
    name: &str,
    path: &Path,
    is_ours: bool,
    table: &mut BTreeMap<(String, String), Counts>,
    alarms: &mut Vec<String>,
) {
    for report in check(path) {
        let Some(format) = report["format"].as_str() else { continue };
        let file = PathBuf::from(report["path"].as_str().unwrap());
        let counts = table.entry((format.to_string(), name.to_string())).or_default();
        counts.recordings += 1;
        match readers.accepts(format, &file) {
            Some(true) => counts.accepted += 1,
            // The corpus has recordings of readers that are not here; the forge made them.
            Some(false) if !is_ours => {
                counts.refused += 1;
                continue;
            }
            Some(false) => counts.refused += 1,
            None => counts.unasked += 1,
        }
        let findings = report["findings"].as_array().unwrap();
        let has = |severity: &str| findings.iter().any(|one| one["severity"] == severity);
        counts.errors += u64::from(has("error"));
        counts.warnings += u64::from(has("warning"));
        for finding in findings.iter().filter(|one| one["severity"] != "info") {
            let (severity, code) = (&finding["severity"], &finding["code"]);
            let message = finding["message"].as_str().unwrap();
            let file = file.strip_prefix(path).unwrap_or(&file).display();
            alarms.push(format!("{format} {name} {file}: {severity} {code}: {message}"));
        }
    }
}

/// The report about every recording below a path.
fn check(path: &Path) -> Vec<Value> {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut input = std::io::empty();
    let args = ["tracemend", "check", "--no-config", "--format", "jsonl"].map(OsString::from);
    let streams = Streams::new(&mut input, &mut out, &mut err, Look::PLAIN);
    let _code = tracemend_cli::run(args.into_iter().chain([path.into()]), streams);
    let text = String::from_utf8(out).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["path"].is_string()).collect()
}

impl Readers {
    /// Whether the format's own reader reads the recording without a complaint; `None` if it is not
    /// here.
    fn accepts(&self, format: &str, path: &Path) -> Option<bool> {
        match format {
            "perf" => {
                let perf = self.perf.as_ref()?;
                let runs = [perf.script_text(path), perf.header(path), perf.dump(path)];
                let complains = |text: &str| {
                    ["unexpected", "incompatible", "corrupt", "truncated", "invalid", "failed"]
                        .iter()
                        .any(|word| text.to_lowercase().contains(word))
                };
                Some(runs.iter().all(|run| run.is_success() && !complains(&run.stderr)))
            }
            "apitrace" => {
                let apitrace = self.apitrace.as_ref()?;
                Some(apitrace.dump(path).is_silent() && apitrace.info(path).is_silent())
            }
            "ovni" => Some(self.ovni.as_ref()?.lint_folder(path).accepted),
            "revent" => {
                let read = self.revent.as_ref()?.read(&[fs::read(path).unwrap()]);
                Some(read.iter().all(Result::is_ok))
            }
            _ => None,
        }
    }
}

/// Records with every set of options that this machine allows.
fn record_perf(readers: &Readers, folder: &Path) {
    let Some(perf) = &readers.perf else { return };
    for (number, options) in PERF_OPTIONS.iter().enumerate() {
        for (other, workload) in WORKLOADS.iter().enumerate() {
            let path = folder.join(format!("perf-{number}-{other}.data"));
            if perf.record(options, workload, &path).is_err() {
                // perf leaves the header of a recording that it could not begin.
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Records programs that end by themselves.
fn record_apitrace(folder: &Path) {
    let Some(recorder) = Recorder::find_or_skip() else { return };
    for (number, program) in GL_PROGRAMS.iter().enumerate() {
        let path = folder.join(format!("gl-{number}.trace"));
        if let Err(reason) = recorder.record_program(program, &path) {
            println!("not recorded: {program:?}: {reason}");
        }
    }
}

/// Records every guest on every build; returns the number of logs that replay to their end.
fn record_qemu(folder: &Path) -> u64 {
    let mut replayed = 0;
    for build in Build::all_or_skip() {
        for guest in Guest::ALL.into_iter().filter(|guest| *guest != Guest::Net) {
            for hand in [Hand::Off, Hand::On] {
                let machine = build.machine(guest, 20);
                let Ok(log) = machine.record(hand) else { continue };
                replayed += u64::from(machine.replay(&log).end == End::Code(0));
                let name = format!("qemu-{}-{guest:?}-{hand:?}.log", build.release());
                fs::write(folder.join(name), log).unwrap();
            }
        }
    }
    replayed
}
