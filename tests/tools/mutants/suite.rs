//! Runs the tests that reach a mutant, the fast ones first, until one fails.

use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Tests below this share a process.
const FAST: Duration = Duration::from_millis(500);
/// A mutant has this long, and ten times as long as the tests took before.
const TIMEOUT_LEAST: Duration = Duration::from_secs(40);

/// A test program, and the folder of its package.
#[derive(Clone)]
pub(crate) struct Binary {
    pub(crate) program: PathBuf,
    pub(crate) package: PathBuf,
}

/// A test that passes without a mutant, and the mutants that it reaches.
pub(crate) struct Test {
    binary: usize,
    name: String,
    took: Duration,
    reached: Vec<usize>,
}

pub(crate) struct Suite {
    pub(crate) binaries: Vec<Binary>,
    pub(crate) tests: Vec<Test>,
}

/// The end of a run of tests.
pub(crate) enum End {
    Passed,
    Failed(String),
    TimedOut,
}

/// Calls `work` with each item, two at a time.
pub(crate) fn on_two_threads<T: Send>(items: Vec<T>, work: impl Fn(T) + Sync) {
    let items = Mutex::new(items.into_iter());
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| std::iter::from_fn(next).for_each(&work));
        }
    });
}

impl Suite {
    /// Runs every test by itself and keeps those that pass and take no longer than `most`.
    pub(crate) fn record(binaries: Vec<Binary>, folder: &Path, most: Duration) -> Self {
        let mut names = Vec::new();
        for (binary, program) in binaries.iter().enumerate() {
            let listed = program.command().args(["--list", "--format", "terse"]).output().unwrap();
            let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
            let tests = listed.lines().filter_map(|line| line.strip_suffix(": test"));
            names.extend(tests.map(|name| (binary, name.to_string())));
        }
        let tests = Mutex::new(Vec::new());
        on_two_threads(names, |(binary, name)| {
            let log = folder.join(format!("{binary}-{}", name.replace(':', "-")));
            fs::write(&log, "").unwrap();
            let mut command = binaries[binary].command();
            let begin = Instant::now();
            let end = run(command.env("MUTANTS_SEEN", &log).args(["--exact", &name]), most);
            if !matches!(end, End::Passed) {
                eprintln!("left out, fails without a mutant or is slow: {name}");
                return;
            }
            let reached = fs::read_to_string(&log).unwrap_or_default();
            let mut reached: Vec<_> =
                reached.lines().filter_map(|line| line.parse().ok()).collect();
            reached.sort_unstable();
            reached.dedup();
            let test = Test { binary, name, took: begin.elapsed(), reached };
            tests.lock().unwrap_or_else(PoisonError::into_inner).push(test);
        });
        let mut tests = tests.into_inner().unwrap_or_else(PoisonError::into_inner);
        tests.sort_by_key(|test| test.took);
        Self { binaries, tests }
    }

    /// Runs the tests that reach `mutant` and took as long as `took`.
    pub(crate) fn judge(&self, mutant: usize, took: &Range<Duration>) -> End {
        let tests = || self.tests.iter().filter(|test| took.contains(&test.took));
        let reaching = || tests().filter(|test| test.reached.contains(&mutant));
        let mut groups: Vec<Vec<&Test>> = vec![Vec::new(); self.binaries.len()];
        for test in reaching().filter(|test| test.took < FAST) {
            groups[test.binary].push(test);
        }
        groups.extend(reaching().filter(|test| test.took >= FAST).map(|test| vec![test]));
        for group in groups.iter().filter(|group| !group.is_empty()) {
            let mut command = self.binaries[group[0].binary].command();
            command.env("MUTANT", mutant.to_string()).arg("--exact");
            command.args(["--test-threads", "1"]).args(group.iter().map(|test| &test.name));
            let took: Duration = group.iter().map(|test| test.took).sum();
            match run(&mut command, TIMEOUT_LEAST + took * 10) {
                End::Passed => {}
                End::Failed(name) if name.is_empty() => return End::Failed(group[0].name.clone()),
                end => return end,
            }
        }
        End::Passed
    }

    pub(crate) fn to_json(&self) -> Value {
        let tests = self
            .tests
            .iter()
            .map(|test| json!([test.binary, test.name, test.took.as_millis(), test.reached]));
        let binaries = self.binaries.iter().map(|binary| json!([binary.program, binary.package]));
        json!({"binaries": binaries.collect::<Vec<_>>(), "tests": tests.collect::<Vec<_>>()})
    }

    pub(crate) fn from_json(held: &Value) -> Self {
        let list = |key: &str| held[key].as_array().cloned().unwrap_or_default();
        let path = |value: &Value| PathBuf::from(value.as_str().unwrap());
        let index = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
        let binaries = list("binaries")
            .iter()
            .map(|row| Binary { program: path(&row[0]), package: path(&row[1]) })
            .collect();
        let tests = list("tests")
            .iter()
            .map(|row| Test {
                binary: index(&row[0]),
                name: row[1].as_str().unwrap().to_string(),
                took: Duration::from_millis(row[2].as_u64().unwrap()),
                reached: row[3].as_array().unwrap().iter().map(index).collect(),
            })
            .collect();
        Self { binaries, tests }
    }
}

impl Binary {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.package).env("CARGO_MANIFEST_DIR", &self.package);
        command.stdin(Stdio::null()).stderr(Stdio::null()).process_group(0);
        command
    }
}

/// Runs tests until one of them fails.
fn run(command: &mut Command, limit: Duration) -> End {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let (sender, receiver) = mpsc::channel();
    let output = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let begin = Instant::now();
    loop {
        let left = limit.saturating_sub(begin.elapsed()).min(Duration::from_secs(1_000_000));
        match receiver.recv_timeout(left) {
            Ok(line) => {
                if let Some(name) = line.strip_prefix("test ").and_then(|line| {
                    line.strip_suffix(" ... FAILED")
                        .or(line.strip_suffix(" - should panic ... FAILED"))
                }) {
                    kill(&mut child);
                    return End::Failed(name.to_string());
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                kill(&mut child);
                return End::TimedOut;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = child.wait().unwrap();
    if status.success() { End::Passed } else { End::Failed(String::new()) }
}

/// Ends a program and those that it started.
fn kill(child: &mut Child) {
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
    let _ = child.wait();
}
