//! Makes fresh recordings with perf, of every kind that this machine allows, and judges them:
//!
//! ```sh
//! cargo run -p tracemend-tools --bin perf_recordings -- [FOLDER [WORDS]]
//! ```
//!
//! Of each kind some recordings end by themselves: the check must find neither an error nor a
//! warning in them. The others are killed (SIGKILL) at several moments: the repair must write a
//! recording without errors that perf reads. Of kinds that perf inject writes, perf inject is
//! killed. Kinds that perf cannot record here are listed with its reason. The recordings stay in
//! FOLDER; without it, they are removed. With WORDS, only kinds whose name has them are recorded.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a tool for developers: a failure should stop it at once"
)]

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tracemend_cli::{Look, Streams};
use tracemend_tests::judge::perf::{End, Perf};

/// Milliseconds after which recordings are killed.
const KILLS: [u64; 8] = [80, 150, 300, 600, 900, 1200, 1800, 2500];
/// Milliseconds after which perf inject is killed; it ends within some ten of them.
const INJECT_KILLS: [u64; 6] = [2, 4, 8, 12, 20, 30];
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

/// Samples of the CPU clock in a pipe.
fn pipe(name: &'static str, options: &[&'static str]) -> Kind {
    clock(name, options).in_pipe()
}

fn stat(name: &'static str, options: &[&'static str]) -> Kind {
    kind(name, Shape::Path, &[&STAT[..], options].concat())
}

const STAT: [&str; 4] = ["stat", "record", "-e", "task-clock,page-faults,context-switches"];
const SWITCHED: [&str; 1] = ["--switch-output=1s"];
const TRACED: [&str; 5] = ["record", "-e", "sched:sched_switch", "-e", "raw_syscalls:sys_enter"];

fn kinds() -> Vec<Kind> {
    let kinds = [samples(), tools(), stats(), pipes(), injections()];
    kinds.into_iter().flatten().collect()
}

/// Recordings of perf record in a file, several or a folder.
fn samples() -> Vec<Kind> {
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
        clock("switch output by size", &["--switch-output=100K"]),
        clock("switch output, all CPUs", &["--switch-output=1s", "-a"]),
        clock("switch output, compressed", &["--switch-output=1s", "-z"]),
        clock("switch output, overwritten", &["--switch-output", "--overwrite"]),
        kind("switch output of tracepoints", Shape::Path, &[&TRACED[..], &SWITCHED].concat()),
        clock("tail synthesis", &["--tail-synthesize", "--overwrite"]),
        clock("build ids in maps", &["--buildid-mmap"]),
        clock("all build ids", &["--buildid-all"]),
        clock("compressed", &["-z"]),
        clock("compressed call graphs", &["-z", "-g"]),
        clock("asynchronous output", &["--aio"]),
        clock("threads", &["--threads"]),
        clock("threads, all CPUs", &["--threads=cpu", "-a"]),
        clock("kcore", &["--kcore", "-a"]),
        kind("tracepoints", Shape::Path, &TRACED),
    ]
}

/// Tools of perf that record by themselves.
fn tools() -> Vec<Kind> {
    vec![
        kind("sched record", Shape::Path, &["sched", "record"]),
        kind("trace record", Shape::Path, &["trace", "record"]),
        tool("kmem record", &["kmem", "record"]),
        tool("kmem record of slabs and pages", &["kmem", "--slab", "--page", "record"]),
        tool("lock record", &["lock", "record"]),
        tool("lock record with call graphs", &["lock", "record", "-g"]),
        tool("lock record in a pipe", &["lock", "record"]).in_pipe(),
        tool("sched record in a pipe", &["sched", "record"]).in_pipe(),
        kind("c2c record", Shape::Path, &["c2c", "record"]),
        kind("kvm stat record", Shape::Path, &["kvm", "stat", "record"]),
        kind("mem record", Shape::Path, &["mem", "record"]),
        kind("timechart record", Shape::Path, &["timechart", "record"]),
    ]
}

/// Counts.
fn stats() -> Vec<Kind> {
    vec![
        stat("stat record", &[]),
        stat("stat record of intervals", &["-I", "100"]),
        stat("stat record of all CPUs", &["-a", "-A"]),
        stat("stat record per socket", &["-a", "--per-socket"]),
        stat("stat record in a pipe", &[]).in_pipe(),
        stat("stat record of intervals in a pipe", &["-I", "100"]).in_pipe(),
    ]
}

/// Recordings of perf record on standard output.
fn pipes() -> Vec<Kind> {
    vec![
        kind("tracepoints in a pipe", Shape::Pipe, &TRACED),
        pipe("pipe", &[]),
        pipe("pipe of call graphs", &["-g"]),
        pipe("pipe of all CPUs", &["-a"]),
        pipe("compressed pipe", &["-z"]),
        pipe("compressed pipe of call graphs", &["-z", "-g"]),
    ]
}

/// Recordings that perf inject makes of others.
fn injections() -> Vec<Kind> {
    vec![
        injected("inject without a change", clock("", &["-g"]), &[]),
        injected("inject of build ids", clock("", &["-B"]), &["-b"]),
        injected("inject of sleep times", kind("", Shape::Path, &["sched", "record"]), &["-s"]),
        injected("inject of a pipe", pipe("", &["-B"]), &["-b"]),
        injected("inject of compressed records", clock("", &["-B", "-z"]), &["-b"]),
        injected("inject of all build ids", clock("", &["-B"]), &["--buildid-all"]),
        injected("inject of a compressed pipe", pipe("", &["-B", "-z"]), &["-b"]),
        injected("inject of stat", stat("", &[]), &[]),
        injected("inject of tracepoints", kind("", Shape::Path, &TRACED), &["-b"]),
    ]
}

/// A tool of perf that records by itself.
fn tool(name: &'static str, command: &[&'static str]) -> Kind {
    kind(name, Shape::Path, command)
}

/// A workload of files below /usr that ends after some seconds.
fn workload(seconds: u32) -> [String; 3] {
    let until = format!("end=$(($(date +%s) + {seconds}))");
    let body = "while [ $(date +%s) -lt $end ]; do find /usr/share/doc >/dev/null; done";
    ["/usr/bin/sh".to_owned(), "-c".to_owned(), format!("{until}; {body}")]
}

impl Kind {
    /// The same kind, written to standard output.
    fn in_pipe(self) -> Self {
        Self { shape: Shape::Pipe, ..self }
    }

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
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut found: Vec<PathBuf> = entries.collect();
        found.sort();
        Ok(found)
    }
}

/// Lets perf inject rewrite a recording, and kills it after some time. Returns whether it was
/// killed, or the reason of perf for not writing.
fn inject(
    options: &[&str],
    (source, target): (&Path, &Path),
    kill: Option<u64>,
) -> Result<bool, String> {
    fs::create_dir_all(target.parent().unwrap()).unwrap();
    let errors = target.with_extension("stderr");
    let mut command = Command::new("perf");
    command.arg("inject").args(options).arg("-i").arg(source).arg("-o").arg(target);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&errors).unwrap());
    let mut child = command.spawn().unwrap();
    if let Some(millis) = kill {
        std::thread::sleep(Duration::from_millis(millis));
        // It may have ended before.
        _ = child.kill();
    }
    let status = child.wait().unwrap();
    let said = fs::read_to_string(&errors).unwrap_or_default();
    fs::remove_file(&errors).unwrap();
    match status.code() {
        Some(0) => Ok(false),
        Some(_) => Err(said.trim().to_owned()),
        None => Ok(true),
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

/// The findings of these severities in a recording.
fn findings_in(path: &Path, severities: &[&str]) -> Vec<String> {
    let (_, text) = tracemend(&["check", "--no-config", "--format", "jsonl"], &[path]);
    let reports = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut found = Vec::new();
    for report in reports.filter(|report| report["path"].is_string()) {
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        let is_meant =
            |finding: &&Value| severities.iter().any(|severity| finding["severity"] == *severity);
        for finding in findings.iter().filter(is_meant) {
            found.push(format!("{} {}", finding["code"], finding["message"]));
        }
    }
    found
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

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sound, refused, alarms, killed, empty, repaired, read } = self;
        write!(f, "| {sound} | {refused} | {alarms} | {killed} | {empty} | {repaired} | {read} |")
    }
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.sound += other.sound;
        self.refused += other.refused;
        self.alarms += other.alarms;
        self.killed += other.killed;
        self.empty += other.empty;
        self.repaired += other.repaired;
        self.read += other.read;
    }

    fn judge_sound(&mut self, perf: &Perf, path: &Path, notes: &mut Vec<String>) {
        self.sound += 1;
        let errors = findings_in(path, &["error", "warning"]);
        if perf.samples(path).end != End::Code(0) {
            self.refused += 1;
            notes.push(format!("perf does not read {}; {errors:?}", path.display()));
        } else if !errors.is_empty() {
            self.alarms += 1;
            notes.push(format!("false alarm: {}: {errors:?}", path.display()));
        }
    }

    /// `before` is a file of the same run that perf has closed.
    fn judge_killed(
        &mut self,
        perf: &Perf,
        (path, before): (&Path, Option<&Path>),
        notes: &mut Vec<String>,
    ) {
        self.killed += 1;
        if is_empty(path) {
            self.empty += 1;
            return;
        }
        let target = path.with_extension("repaired");
        let (mut code, mut text) = tracemend(&["repair", "-o"], &[target.as_path(), path]);
        if let (true, Some(before)) = (text.contains("PD0034"), before) {
            let paths = [before, Path::new("-o"), target.as_path(), path];
            (code, text) = tracemend(&["repair", "--donor"], &paths);
        }
        let (left, read) =
            if target.exists() { (target, true) } else { (path.to_owned(), code == 0) };
        let errors = findings_in(&left, &["error"]);
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
    let words = std::env::args().nth(2).unwrap_or_default();
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
    let mut all = Counts::default();
    for kind in kinds().into_iter().filter(|kind| kind.name.contains(&words)) {
        let place = folder.join(kind.name.replace(' ', "-"));
        let judged = match kind.inject {
            None => judge_recordings(&perf, &kind, &place, &mut notes),
            Some(options) => judge_injected(&perf, (&kind, options), &place, &mut notes),
        };
        match judged {
            Ok(counts) => {
                println!("| {} {counts}", kind.name);
                all.add(&counts);
            }
            Err(reason) => skipped.push(format!("{}: {reason}", kind.name)),
        }
    }
    println!("| all {all}");
    println!("\nskipped, with the reason of perf:");
    skipped.iter().for_each(|line| println!("{line}"));
    println!("\ndisagreements:");
    notes.iter().for_each(|line| println!("{line}"));
}

/// Makes and judges the recordings of a kind. Returns the reason of perf if it cannot record.
fn judge_recordings(
    perf: &Perf,
    kind: &Kind,
    place: &Path,
    notes: &mut Vec<String>,
) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for path in kind.record(&place.join("sound"), None)? {
        counts.judge_sound(perf, &path, notes);
    }
    for millis in KILLS {
        let killed = kind.record(&place.join(format!("killed-{millis}")), Some(millis));
        let killed = killed.unwrap_or_default();
        for path in &killed {
            let before = killed.iter().find(|other| *other != path).map(PathBuf::as_path);
            counts.judge_killed(perf, (path, before), notes);
        }
    }
    Ok(counts)
}

/// Makes a recording, and judges what perf inject writes.
fn judge_injected(
    perf: &Perf,
    (kind, options): (&Kind, &[&str]),
    place: &Path,
    notes: &mut Vec<String>,
) -> Result<Counts, String> {
    let mut counts = Counts::default();
    let sources = kind.record(&place.join("source"), None)?;
    let source = sources.first().ok_or("no recording")?;
    let target = place.join("sound/injected.data");
    inject(options, (source, &target), None)?;
    counts.judge_sound(perf, &target, notes);
    for millis in INJECT_KILLS {
        let target = place.join(format!("killed-{millis}/injected.data"));
        let is_killed = inject(options, (source, &target), Some(millis))?;
        if is_killed && target.exists() {
            counts.judge_killed(perf, (&target, None), notes);
        }
    }
    Ok(counts)
}
