//! `perf` (Debian: linux-perf) as a judge of perf.data, and as the maker of real recordings.
//!
//! Every run has a home folder of its own: no `~/.perfconfig`, no `~/.debug` of the user takes
//! part, and nothing of the user's environment reaches a recording.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub mod agreement;
pub mod changes;
mod newer;

pub use newer::NEWER;

use super::Judge;

/// Time limit of one run of `perf`.
pub const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Address space of a run in KiB. perf maps what a damaged length asks for, up to all memory of the
/// machine; it reads the recordings of the tests in a tenth of this.
const MEMORY_KIB: u64 = 4 << 20;
/// Interval between two tests of a running process or a growing file.
const POLL: Duration = Duration::from_millis(5);
/// The options of most recordings: software event, no build ids from the machine, no cache.
pub const CPU_CLOCK: [&str; 6] = ["-q", "-B", "-N", "-e", "cpu-clock", "-F5000"];

/// Commands that show more of a recording than script, report and its header: all fields of the
/// attrs, the build ids, the records that are not samples, and every record as perf decodes it.
pub const FURTHER_VIEWS: [&[&str]; 4] = [
    &["evlist", "-v"],
    &["buildid-list"],
    &[
        "script",
        "--no-itrace",
        "--show-task-events",
        "--show-mmap-events",
        "--show-namespace-events",
        "--show-switch-events",
        "--show-lost-events",
        "--show-round-events",
        "--show-bpf-events",
        "--show-cgroup-events",
        "--show-text-poke-events",
    ],
    &["script", "--no-itrace", "-D"],
];

/// `perf` as a judge.
pub static JUDGE: Judge = Judge {
    name: "perf",
    install: "Debian: apt-get install linux-perf",
    probe: || Perf::find().map(|found| found.version),
};

/// An installed `perf`.
#[derive(Debug)]
pub struct Perf {
    program: PathBuf,
    version: String,
    home: TempDir,
}

/// How a run of `perf` ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this code.
    Code(i32),
    /// A signal ended it: 7 is SIGBUS, 11 SIGSEGV.
    Signal(i32),
    /// It ran into [`TIME_LIMIT`] and was killed.
    TimedOut,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// How it ended.
    pub end: End,
    /// Samples that it printed, for [`Perf::samples`] and [`Perf::stats`]; else lines of stdout.
    pub count: usize,
    /// Its output.
    pub stdout: String,
    /// Its error output.
    pub stderr: String,
}

/// A sample, and the event that perf shows it under.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sample {
    /// Its thread.
    pub thread: String,
    /// Its time.
    pub time: String,
    /// Its event.
    pub event: String,
}

impl Sample {
    /// Reads a line of `perf script -F tid,time,event`.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace().map(ToString::to_string);
        let (thread, time, event) = (words.next()?, words.next()?, words.next()?);
        Some(Self { thread, time, event })
    }
}

impl Verdict {
    /// Whether it exited with 0.
    pub fn is_success(&self) -> bool {
        self.end == End::Code(0)
    }
}

impl Perf {
    /// Finds the `perf` of the PATH and asks it for its version.
    ///
    /// Debian's `/usr/bin/perf` is a program; elsewhere it may be a script that looks for the
    /// running kernel's own perf and fails, hence the trial.
    ///
    /// # Errors
    ///
    /// The reason why perf is missing or does not run.
    pub fn find() -> Result<Self, String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program =
            std::env::split_paths(&path).map(|folder| folder.join("perf")).find(|p| p.is_file());
        Self::of_program(program.ok_or("perf is not on PATH")?)
    }

    /// Asks a program for its version.
    fn of_program(program: PathBuf) -> Result<Self, String> {
        let home = tempfile::tempdir().expect("a temporary folder");
        let mut perf = Self { program, version: String::new(), home };
        let mut command = perf.command();
        command.arg("--version");
        let verdict = perf.finish(command, None);
        match verdict.stdout.trim().strip_prefix("perf version ") {
            Some(version) if verdict.is_success() => perf.version = version.to_owned(),
            _ => return Err(format!("perf --version ended with {:?}", verdict.end)),
        }
        Ok(perf)
    }

    /// Finds `perf`, or writes that it is missing.
    pub fn find_or_skip() -> Option<Self> {
        JUDGE.or_skip(Self::find())
    }

    /// The version, `6.1.192` for example.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Counts samples: `perf script -F event` prints one line for each sample of any kind of event
    /// (a group that is read together gives one line for each of its values). Other fields are not
    /// asked for, since perf refuses a field that one of the events does not sample. AUX traces are
    /// not decoded. Lines of `perf stat` data and of trace errors are not counted.
    pub fn samples(&self, path: &Path) -> Verdict {
        let mut verdict = self.on(path, &["script", "--no-itrace", "-F", "event"]);
        verdict.count = verdict.stdout.lines().filter(|line| is_sample(line)).count();
        verdict
    }

    /// Counts samples by `perf report --stats`: SAMPLE records that perf could attribute, of all
    /// events. A group that is read together counts once. Reports 0 for some valid recordings in
    /// pipe mode: `perf report` 6.1 fails on compressed ones that `perf script` reads.
    pub fn stats(&self, path: &Path) -> Verdict {
        let mut verdict = self.on(path, &["report", "--stats", "--no-itrace", "--stdio"]);
        let count = |line: &str| {
            let number = line.trim().strip_prefix("SAMPLE events:")?;
            number.split_whitespace().next()?.parse::<usize>().ok()
        };
        verdict.count = verdict.stdout.lines().find_map(count).unwrap_or(0);
        verdict
    }

    /// The times of the samples in ns, one line each. perf refuses events without times.
    pub fn times(&self, path: &Path) -> Verdict {
        self.on(path, &["script", "--no-itrace", "--ns", "-F", "time"])
    }

    /// The samples with thread, time and event, as `perf script` prints them; one of a group that
    /// is read together gives one for each of its values. perf refuses events without times.
    pub fn samples_by_event(&self, path: &Path) -> Vec<Sample> {
        let verdict = self.on(path, &["script", "--no-itrace", "--ns", "-F", "tid,time,event"]);
        verdict.stdout.lines().filter_map(Sample::parse).collect()
    }

    /// The text of plain `perf script`, to compare two recordings by.
    pub fn script_text(&self, path: &Path) -> Verdict {
        self.on(path, &["script", "--no-itrace"])
    }

    /// `perf report` on a dumb terminal.
    pub fn report(&self, path: &Path) -> Verdict {
        self.on(path, &["report", "--stdio", "--no-itrace"])
    }

    /// `perf report --header-only`: the header and the features as perf reads them.
    pub fn header(&self, path: &Path) -> Verdict {
        self.on(path, &["report", "--stdio", "--header-only", "-I"])
    }

    /// `perf script -D`: every record as perf reads it.
    pub fn dump(&self, path: &Path) -> Verdict {
        self.on(path, &["script", "-D", "--no-itrace"])
    }

    /// The same with the packets of traces.
    pub fn dump_of_traces(&self, path: &Path) -> Verdict {
        self.on(path, &["script", "-D"])
    }

    /// The same with no more of each script line than the event and a tracepoint's text.
    pub fn dump_with_events(&self, path: &Path) -> Verdict {
        self.on(path, &["script", "-D", "--no-itrace", "-F", "event,trace"])
    }

    /// One of [`FURTHER_VIEWS`]. Lines of bytes in hexadecimal are left out, since nothing reads
    /// the gaps between fields that they show, and so is the path of the recording.
    pub fn view(&self, path: &Path, arguments: &[&str]) -> Verdict {
        let mut verdict = self.on(path, arguments);
        let path = path.to_string_lossy();
        for text in [&mut verdict.stdout, &mut verdict.stderr] {
            let lines = text.lines().filter(|line| !line.starts_with('.'));
            *text = lines.map(|line| line.replace(&*path, "perf.data") + "\n").collect();
        }
        verdict
    }

    /// `perf inject`: returns the feature bits, ids and attrs that it writes. It leaves out a
    /// feature that ends after the file without a message.
    pub fn injected_head(&self, path: &Path) -> (End, Vec<u8>) {
        let folder = tempfile::tempdir_in(self.home.path()).expect("a temporary folder");
        let output = folder.path().join("injected");
        let Some(name) = output.to_str() else { return (End::TimedOut, Vec::new()) };
        let end = self.on(path, &["inject", "-o", name]).end;
        let written = fs::read(&output).unwrap_or_default();
        let number = |at: usize| {
            let bytes = written.get(at..at + 8)?;
            usize::try_from(u64::from_le_bytes(bytes.try_into().ok()?)).ok()
        };
        // The records begin after the feature bits, ids and attrs. A pipe is copied.
        let is_file = number(8) == Some(104);
        let end_of_attrs = number(40).filter(|_| is_file).unwrap_or(0);
        (end, written.get(72..end_of_attrs).unwrap_or_default().to_vec())
    }

    /// Records a workload to its end: `perf record OPTIONS -o PATH -- WORKLOAD`. Choose
    /// [`CPU_CLOCK`] and never `-a`, so that the recording holds nothing of other processes, and a
    /// workload below /usr such as `["/usr/bin/sha256sum", "/usr/bin/perf"]`. perf ends with the
    /// workload's exit code.
    ///
    /// # Errors
    ///
    /// The message of perf if it cannot record here (`perf_event_paranoid`, containers).
    pub fn record(&self, options: &[&str], workload: &[&str], path: &Path) -> Result<(), String> {
        success(&self.finish(self.recorder(&["record"], options, workload, path), None))
    }

    /// As [`Perf::record`] with `perf stat record`.
    ///
    /// # Errors
    ///
    /// The message of perf.
    pub fn record_stat(
        &self,
        options: &[&str],
        workload: &[&str],
        path: &Path,
    ) -> Result<(), String> {
        success(&self.finish(self.recorder(&["stat", "record"], options, workload, path), None))
    }

    /// Records in pipe mode: `perf record OPTIONS -o - -- WORKLOAD > PATH`. perf turns the
    /// workload's stdout to stderr then.
    ///
    /// # Errors
    ///
    /// The message of perf.
    pub fn record_pipe(
        &self,
        options: &[&str],
        workload: &[&str],
        path: &Path,
    ) -> Result<(), String> {
        let command = self.recorder(&["record"], options, workload, Path::new("-"));
        success(&self.finish(command, Some(path)))
    }

    /// Records until the output has grown to `len` bytes, then kills perf with SIGKILL, and after
    /// it the workload, which perf leaves running. Returns the length of the recording.
    ///
    /// perf empties its ring buffers only when they are half full, unless `-m 1` or a small
    /// `--mmap-flush` does not let them grow: choose options such that `len` is reached.
    ///
    /// # Errors
    ///
    /// If perf ended by itself, or the output did not grow that far within [`TIME_LIMIT`].
    pub fn record_and_kill(
        &self,
        options: &[&str],
        workload: &[&str],
        path: &Path,
        len: u64,
    ) -> Result<u64, String> {
        let mut command = self.recorder(&["record"], options, workload, path);
        command.stdout(Stdio::null());
        self.kill_recorder(command, path, len)
    }

    /// As [`Perf::record_and_kill`] in pipe mode.
    ///
    /// # Errors
    ///
    /// As for [`Perf::record_and_kill`].
    pub fn record_pipe_and_kill(
        &self,
        options: &[&str],
        workload: &[&str],
        path: &Path,
        len: u64,
    ) -> Result<u64, String> {
        let mut command = self.recorder(&["record"], options, workload, Path::new("-"));
        command.stdout(File::create(path).map_err(|error| error.to_string())?);
        self.kill_recorder(command, path, len)
    }

    fn kill_recorder(&self, mut command: Command, path: &Path, len: u64) -> Result<u64, String> {
        // The workload must not keep a pipe of the test runner open.
        command.stderr(Stdio::null());
        let mut child = spawn(&mut command).map_err(|error| error.to_string())?;
        let deadline = Instant::now() + TIME_LIMIT;
        let grown = loop {
            if length(path) >= len {
                break Ok(());
            }
            if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
                return Err(format!("perf ended by itself: {:?}", ended(status)));
            }
            if Instant::now() > deadline {
                break Err(format!("the output did not grow to {len} bytes"));
            }
            sleep(POLL);
        };
        // perf first, else it would see its workload end and write a proper end.
        _ = child.kill();
        kill_group(child.id());
        _ = child.wait();
        grown.map(|()| length(path))
    }

    fn on(&self, path: &Path, arguments: &[&str]) -> Verdict {
        let mut command = self.command();
        // --force: recordings of other owners are read as well.
        command.args(arguments).arg("--force").arg("-i").arg(path);
        self.finish(command, None)
    }

    fn recorder(&self, verb: &[&str], options: &[&str], workload: &[&str], path: &Path) -> Command {
        let mut command = self.command();
        command.args(verb).args(options).arg("-o").arg(path).arg("--").args(workload);
        command
    }

    /// perf with a bare environment, its own home and working folder, and bounded memory.
    fn command(&self) -> Command {
        let mut command = Command::new("/bin/sh");
        let limited = format!("ulimit -v {MEMORY_KIB}; exec \"$0\" \"$@\"");
        command.args(["-c", &limited]).arg(&self.program);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("HOME", self.home.path()).env("LC_ALL", "C").env("TERM", "dumb");
        command.env("PAGER", "cat").current_dir(self.home.path());
        command
    }

    /// Runs to the end or to the limit. Output goes to files, so that a full pipe cannot block
    /// perf: stdout to the recording where one is named.
    fn finish(&self, mut command: Command, recording: Option<&Path>) -> Verdict {
        let folder = tempfile::tempdir_in(self.home.path()).expect("a temporary folder");
        let (out, err) = (folder.path().join("out"), folder.path().join("err"));
        command.stdout(File::create(recording.unwrap_or(&out)).expect("a file for stdout"));
        command.stderr(File::create(&err).expect("a file for stderr"));
        let mut child = spawn(&mut command).expect("perf starts");
        let end = wait(&mut child, TIME_LIMIT);
        let stdout = read_lossy(&out);
        Verdict { end, count: stdout.lines().count(), stdout, stderr: read_lossy(&err) }
    }
}

/// Returns the message of a run that failed.
fn success(verdict: &Verdict) -> Result<(), String> {
    if verdict.is_success() {
        return Ok(());
    }
    Err(format!("perf ended with {:?}: {}", verdict.end, verdict.stderr.trim()))
}

/// Whether a line of `perf script -F event` is a sample: an event's name (which may hold colons)
/// and a colon at the end, and no blank between.
fn is_sample(line: &str) -> bool {
    let line = line.trim();
    line.ends_with(':') && !line.contains(char::is_whitespace)
}

fn spawn(command: &mut Command) -> io::Result<Child> {
    // A process group of its own, so that the workload can be found and ended with perf.
    command.stdin(Stdio::null()).process_group(0).spawn()
}

fn wait(child: &mut Child, limit: Duration) -> End {
    let deadline = Instant::now() + limit;
    loop {
        match child.try_wait().expect("perf can be waited for") {
            Some(status) => return ended(status),
            None if Instant::now() > deadline => break,
            None => sleep(POLL),
        }
    }
    kill_group(child.id());
    _ = child.wait();
    End::TimedOut
}

fn ended(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Code(code),
        (None, Some(signal)) => End::Signal(signal),
        (None, None) => End::TimedOut,
    }
}

/// Ends everything in the process group that [`spawn`] made. Its leader must not be reaped yet, so
/// that the number cannot mean another group. The shell does it: std ends only single children.
fn kill_group(leader: u32) {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("kill -s KILL -- -{leader}")]);
    _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

fn read_lossy(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_killed_recording_has_the_length_asked_for_and_leaves_no_workload() {
        let Some(perf) = Perf::find_or_skip() else { return };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("killed");
        let options = [&CPU_CLOCK[..], &["-m", "1"]].concat();
        let workload = ["/usr/bin/sha256sum", "/dev/zero"];
        match perf.record_and_kill(&options, &workload, &path, 8192) {
            Ok(len) => assert!(len >= 8192),
            Err(why) => return crate::notice::skip("killed recordings of perf", &why),
        }
        let recorded = fs::read(&path).unwrap();
        assert_eq!(&recorded[48..56], &[0; 8], "data.size of a killed recording is 0");
        assert_eq!(perf.samples(&path).count, 0);
        assert!(!runs_below(perf.home.path()), "the workload was ended as well");
    }

    /// Whether a process has this working folder.
    fn runs_below(folder: &Path) -> bool {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let mut folders =
            processes.filter_map(|entry| fs::read_link(entry.path().join("cwd")).ok());
        folders.any(|cwd| cwd == folder)
    }

    #[test]
    fn only_lines_that_name_an_event_are_samples() {
        assert!(is_sample("    cpu-clock: "));
        assert!(is_sample("sched:sched_switch: "));
        assert!(is_sample("cpu-clock:HG: "));
        assert!(!is_sample("CPU   THREAD   VAL   ENA   RUN   TIME EVENT"));
        assert!(!is_sample(" instruction trace error type 1 ip 0x401000 code 2: lost data"));
        assert!(!is_sample(""));
    }
}
