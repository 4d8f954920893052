//! Runs a tool on a broken recording, and measures it.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::known_originals::Files;

/// Time that a tool gets for a recording.
const TIME_MAX: Duration = Duration::from_secs(60);
/// Interval between two looks at a running tool.
const POLL: Duration = Duration::from_millis(1);
/// Exit status of a Rust program that panicked.
const PANICKED: i32 = 101;

/// A command with `{in}` and `{out}`.
#[derive(Clone, Debug)]
pub struct Tool {
    words: Vec<String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited by itself.
    Exited,
    /// A signal ended it, or it panicked.
    Crashed,
    /// It was killed after 60 s.
    Hung,
}

/// A run of a tool.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended.
    pub end: End,
    /// The files that it wrote; `None` if it wrote none.
    pub output: Option<Files>,
    /// Its standard output, if that is JSON.
    pub report: Option<Value>,
    /// Seconds that it took.
    pub seconds: f64,
    /// Largest resident set in MB.
    pub megabytes: f64,
}

impl Tool {
    /// A tool that is given words, separated by blanks.
    ///
    /// # Errors
    ///
    /// If `{in}` or `{out}` is missing.
    pub fn new(command: &str) -> Result<Self, String> {
        let mut words: Vec<String> = command.split_whitespace().map(str::to_string).collect();
        for place in ["{in}", "{out}"] {
            if !command.contains(place) {
                return Err(format!("the command has no {place}: {command}"));
            }
        }
        // It runs in another folder.
        let program = words.first().filter(|program| program.contains('/'));
        if let Some(path) = program.and_then(|program| fs::canonicalize(program).ok()) {
            words[0] = path.to_string_lossy().into_owned();
        }
        Ok(Self { words })
    }

    /// Writes a recording to a folder of its own, and runs the tool on it.
    ///
    /// # Panics
    ///
    /// If the tool cannot be started.
    pub fn run(&self, name: &str, files: &Files) -> Run {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (input, output) = (folder.path().join(name), folder.path().join("out"));
        write_files(&input, files);
        let fill = |word: &String| {
            let word = word.replace("{in}", &input.to_string_lossy());
            word.replace("{out}", &output.to_string_lossy())
        };
        let words: Vec<String> = self.words.iter().map(fill).collect();
        let stdout = folder.path().join("stdout");
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(folder.path()).stdin(Stdio::null());
        command.stdout(File::create(&stdout).expect("a file")).stderr(Stdio::null());
        let started = Instant::now();
        let (end, megabytes) = wait(&mut command);
        let seconds = started.elapsed().as_secs_f64();
        let report = fs::read(&stdout).ok().and_then(|text| serde_json::from_slice(&text).ok());
        Run { end, output: read_files(&output, files), report, seconds, megabytes }
    }
}

/// Writes a recording: a file, or a folder if it has several.
///
/// # Panics
///
/// If the disk is full.
pub fn write_files(path: &Path, files: &Files) {
    if let [(name, bytes)] = files.as_slice()
        && !name.contains('/')
    {
        return fs::write(path, bytes).expect("a file");
    }
    for (name, bytes) in files {
        let path = path.join(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }
}

/// Reads what a tool wrote in the place of `files`: those that have the same names, then others.
fn read_files(path: &Path, files: &Files) -> Option<Files> {
    if path.is_file() {
        return Some(vec![(files[0].0.clone(), fs::read(path).ok()?)]);
    }
    let mut found = Vec::new();
    collect(path, "", &mut found);
    (!found.is_empty()).then_some(found)
}

fn collect(folder: &Path, prefix: &str, found: &mut Files) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), found);
        } else if let Ok(bytes) = fs::read(&path) {
            found.push((format!("{prefix}{name}"), bytes));
        }
    }
}

/// Runs a command and returns how it ended, and its largest resident set in MB.
///
/// The resource usage of a child counts the memory of its parent before the program starts, so the
/// high-water mark of its own memory is read while it runs.
fn wait(command: &mut Command) -> (End, f64) {
    let mut child = command.spawn().expect("the tool starts");
    let status = Path::new("/proc").join(child.id().to_string()).join("status");
    let deadline = Instant::now() + TIME_MAX;
    let mut megabytes = 0.0_f64;
    loop {
        if let Some(status) = child.try_wait().expect("a state") {
            let is_crash = status.code().is_none_or(|code| code == PANICKED);
            return (if is_crash { End::Crashed } else { End::Exited }, megabytes);
        }
        megabytes = megabytes.max(high_water_mark(&status).unwrap_or(0.0));
        if Instant::now() > deadline {
            child.kill().expect("it can be killed");
            child.wait().expect("it ends");
            return (End::Hung, megabytes);
        }
        sleep(POLL);
    }
}

/// Returns the high-water mark in the status of a process, in MB.
fn high_water_mark(status: &Path) -> Option<f64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1e3)
}
