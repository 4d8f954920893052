//! Makes fresh recordings with perf, of every kind that this machine allows, and judges them:
//!
//! ```sh
//! cargo run -p tracemend-tests --example perf_recordings -- [FOLDER]
//! ```
//!
//! Of each kind some recordings end by themselves: the check must not find an error in them. The
//! others are killed (SIGKILL) at several moments: the repair must write a recording without errors
//! that perf reads. Kinds that perf cannot record here are listed with its reason. The recordings
//! stay in FOLDER; without it, they are removed.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tracemend_cli::{Look, Streams};
use tracemend_tests::judge::perf::{End, Perf};

/// Milliseconds after which recordings are killed.
const KILLS: [u64; 4] = [150, 600, 1200, 2500];
/// Samples of the CPU clock.
const CLOCK: [&str; 4] = ["-e", "cpu-clock", "-F", "2000"];

/// Where a kind of recording goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// The path after `-o`: a file, several files or a folder.
    Path,
    /// Standard output.
    Pipe,
}

/// A kind of recording: its name, shape and command, and `perf inject` with these options after it.
struct Kind {
    name: &'static str,
    shape: Shape,
    command: Vec<&'static str>,
    inject: Option<&'static [&'static str]>,
}

fn kind(name: &'static str, shape: Shape, command: &[&'static str]) -> Kind {
    Kind { name, shape, command: command.to_vec(), inject: None }
}

/// Samples of the CPU clock with more options.
fn clock(name: &'static str, options: &[&'static str]) -> Kind {
    kind(name, Shape::Path, &[&["record"], &CLOCK[..], options].concat())
}

fn injected(name: &'static str, from: Kind, options: &'static [&'static str]) -> Kind {
    Kind { name, inject: Some(options), ..from }
}

const STAT: [&str; 4] = ["stat", "record", "-e", "task-clock,page-faults,context-switches"];
const TRACED: [&str; 5] = ["record", "-e", "sched:sched_switch", "-e", "raw_syscalls:sys_enter"];

fn kinds() -> Vec<Kind> {
    let pipe = |name, options: &[&'static str]| {
        kind(name, Shape::Pipe, &[&["record"], &CLOCK[..], options].concat())
    };
    let stat =
        |name, options: &[&'static str]| kind(name, Shape::Path, &[&STAT[..], options].concat());
    let traced = |name, shape| kind(name, shape, &TRACED);
    vec![
        clock("cpu-clock", &[]),
        clock("call graphs by frame pointers", &["-g"]),
        clock("call graphs by dwarf", &["--call-graph", "dwarf,4096"]),
        kind("branches", Shape::Path, &["record", "-b"]),
        kind("hardware events", Shape::Path, &["record", "-e", "cycles:P"]),
        kind("group", Shape::Path, &["record", "-e", "{cpu-clock,task-clock}:S"]),
        kind("page faults", Shape::Path, &["record", "-e", "page-faults", "-c", "1", "-d"]),
        clock("switch events", &["--switch-events"]),
        clock("namespaces", &["--namespaces"]),
        clock("cgroups", &["--all-cgroups"]),
        clock("per thread", &["--per-thread"]),
        clock("all CPUs", &["-a"]),
        clock("registers", &["--intr-regs", "--user-regs=ip,sp", "-k", "CLOCK_MONOTONIC"]),
        clock("weights and pages", &["-W", "-d", "--phys-data", "--data-page-size"]),
        clock("switch output", &["--switch-output=1s"]),
        clock("tail synthesis", &["--tail-synthesize", "--overwrite"]),
        clock("build ids in maps", &["--buildid-mmap"]),
        clock("all build ids", &["--buildid-all"]),
        clock("compressed", &["-z"]),
        clock("compressed call graphs", &["-z", "-g"]),
        clock("asynchronous output", &["--aio"]),
        clock("threads", &["--threads"]),
        clock("threads, all CPUs", &["--threads=cpu", "-a"]),
        clock("kcore", &["--kcore", "-a"]),
        traced("tracepoints", Shape::Path),
        traced("tracepoints in a pipe", Shape::Pipe),
        kind("sched record", Shape::Path, &["sched", "record"]),
        kind("trace record", Shape::Path, &["trace", "record"]),
        kind("kmem record", Shape::Path, &["kmem", "record"]),
        kind("lock record", Shape::Path, &["lock", "record"]),
        kind("mem record", Shape::Path, &["mem", "record"]),
        kind("timechart record", Shape::Path, &["timechart", "record"]),
        stat("stat record", &[]),
        stat("stat record of intervals", &["-I", "100"]),
        stat("stat record of all CPUs", &["-a", "-A"]),
        pipe("pipe", &[]),
        pipe("compressed pipe", &["-z"]),
        injected("inject of build ids", clock("", &["-B"]), &["-b"]),
        injected("inject of sleep times", kind("", Shape::Path, &["sched", "record"]), &["-s"]),
        injected("inject of a pipe", pipe("", &["-B"]), &["-b"]),
    ]
}

/// A workload of files below /usr that ends after some seconds.
fn workload(seconds: u32) -> [String; 3] {
    let until = format!("end=$(($(date +%s) + {seconds}))");
    let body = "while [ $(date +%s) -lt $end ]; do find /usr/share/doc >/dev/null; done";
    ["/usr/bin/sh".to_owned(), "-c".to_owned(), format!("{until}; {body}")]
}

impl Kind {
    /// Records into a new folder, and kills perf after some time. Returns the recordings, or the
    /// reason of perf for not recording.
    fn record(&self, folder: &Path, kill: Option<u64>) -> Result<Vec<PathBuf>, String> {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join("perf.data");
        let mut command = Command::new("perf");
        command.args(&self.command);
        let output = match self.shape {
            Shape::Path => {
                command.arg("-o").arg(&path);
                Stdio::null()
            }
            Shape::Pipe => {
                command.args(["-o", "-"]);
                Stdio::from(File::create(&path).unwrap())
            }
        };
        let errors = folder.with_extension("stderr");
        command.arg("--").args(workload(if kill.is_some() { 4 } else { 2 }));
        command.stdin(Stdio::null()).stdout(output).stderr(File::create(&errors).unwrap());
        let mut child = command.spawn().unwrap();
        if let Some(millis) = kill {
            std::thread::sleep(Duration::from_millis(millis));
            child.kill().unwrap();
        }
        let is_success = child.wait().unwrap().success();
        let said = fs::read_to_string(&errors).unwrap_or_default();
        fs::remove_file(&errors).unwrap();
        if kill.is_none() && !is_success {
            let reason = said.lines().find(|line| !line.trim().is_empty() && *line != "Error:");
            return Err(reason.unwrap_or("perf failed without a message").trim().to_owned());
        }
        if let Some(options) = self.inject {
            let target = folder.join("injected.data");
            let mut inject = Command::new("perf");
            inject.arg("inject").args(options).arg("-i").arg(&path).arg("-o").arg(&target);
            let run = inject.stdin(Stdio::null()).output().unwrap();
            if !run.status.success() {
                return Err(String::from_utf8_lossy(&run.stderr).trim().to_owned());
            }
            fs::remove_file(&path).unwrap();
        }
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut found: Vec<PathBuf> = entries.collect();
        found.sort();
        Ok(found)
    }
}

/// Runs the command line. Returns its exit status and its output.
fn tracemend(arguments: &[&str], paths: &[&Path]) -> (u8, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut input = std::io::empty();
    let arguments = ["tracemend"].iter().chain(arguments).map(OsString::from);
    let streams = Streams::new(&mut input, &mut out, &mut err, Look::PLAIN);
    let code = tracemend_cli::run(arguments.chain(paths.iter().map(OsString::from)), streams);
    // The output of a check, and the messages of a repair that fails.
    let said = if out.is_empty() { err } else { out };
    (code, String::from_utf8(said).unwrap())
}

/// The errors that the check finds.
fn errors_in(path: &Path) -> Vec<String> {
    let (_, text) = tracemend(&["check", "--no-config", "--format", "jsonl"], &[path]);
    let reports = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut errors = Vec::new();
    for report in reports.filter(|report| report["path"].is_string()) {
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        for finding in findings.iter().filter(|finding| finding["severity"] == "error") {
            errors.push(format!("{} {}", finding["code"], finding["message"]));
        }
    }
    errors
}

/// Whether perf has not written anything yet.
fn is_empty(path: &Path) -> bool {
    let main = if path.is_dir() { path.join("data") } else { path.to_owned() };
    fs::metadata(main).map_or(0, |facts| facts.len()) == 0
}

/// The counts of a kind.
#[derive(Default)]
struct Counts {
    sound: usize,
    refused: usize,
    alarms: usize,
    killed: usize,
    empty: usize,
    repaired: usize,
    read: usize,
}

impl Counts {
    fn judge_sound(&mut self, perf: &Perf, path: &Path, notes: &mut Vec<String>) {
        self.sound += 1;
        let errors = errors_in(path);
        if perf.samples(path).end != End::Code(0) {
            self.refused += 1;
            notes.push(format!("perf does not read {}; {errors:?}", path.display()));
        } else if !errors.is_empty() {
            self.alarms += 1;
            notes.push(format!("false alarm: {}: {errors:?}", path.display()));
        }
    }

    fn judge_killed(&mut self, perf: &Perf, path: &Path, notes: &mut Vec<String>) {
        self.killed += 1;
        if is_empty(path) {
            self.empty += 1;
            return;
        }
        let target = path.with_extension("repaired");
        let (code, text) = tracemend(&["repair", "-o"], &[target.as_path(), path]);
        let (left, read) =
            if target.exists() { (target, true) } else { (path.to_owned(), code == 0) };
        let errors = errors_in(&left);
        if !read || !errors.is_empty() {
            notes.push(format!("not repaired: {}: {code} {text} {errors:?}", path.display()));
            return;
        }
        self.repaired += 1;
        let verdict = perf.samples(&left);
        if verdict.end == End::Code(0) {
            self.read += 1;
        } else {
            let said = verdict.stderr.lines().last().unwrap_or_default().to_owned();
            notes.push(format!("perf fails: {}: {:?} {said}", left.display(), verdict.end));
        }
    }
}

fn main() {
    let Some(perf) = Perf::find_or_skip() else { return };
    let temporary = tempfile::tempdir().unwrap();
    let folder = std::env::args().nth(1).map_or(temporary.path().to_owned(), PathBuf::from);
    fs::create_dir_all(&folder).unwrap();
    // The judge runs in a folder of its own.
    let folder = folder.canonicalize().unwrap();
    println!("perf {}", perf.version());
    println!(
        "| kind | sound | perf refuses | false alarms | killed | empty | repaired | perf reads \
         them |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    let (mut skipped, mut notes) = (Vec::new(), Vec::new());
    for kind in kinds() {
        let mut counts = Counts::default();
        let place = folder.join(kind.name.replace(' ', "-"));
        match kind.record(&place.join("sound"), None) {
            Ok(paths) => paths.iter().for_each(|path| {
                counts.judge_sound(&perf, path, &mut notes);
            }),
            Err(reason) => {
                skipped.push(format!("{}: {reason}", kind.name));
                continue;
            }
        }
        for millis in KILLS.iter().filter(|_| kind.inject.is_none()) {
            let killed = kind.record(&place.join(format!("killed-{millis}")), Some(*millis));
            let paths = killed.unwrap_or_default();
            paths.iter().for_each(|path| counts.judge_killed(&perf, path, &mut notes));
        }
        let Counts { sound, refused, alarms, killed, empty, repaired, read } = counts;
        println!(
            "| {} | {sound} | {refused} | {alarms} | {killed} | {empty} | {repaired} | {read} |",
            kind.name
        );
    }
    println!("\nskipped, with the reason of perf:");
    skipped.iter().for_each(|line| println!("{line}"));
    println!("\ndisagreements:");
    notes.iter().for_each(|line| println!("{line}"));
}
