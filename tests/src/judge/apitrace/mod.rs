//! apitrace itself: `dump` and `info`, and the tracer below Xvfb.

pub mod aborts;
pub mod doubts;
pub mod invented;
pub mod silent;
pub mod survival;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::Judge;

/// `apitrace` as a judge.
pub static JUDGE: Judge = Judge {
    name: "apitrace",
    install: "Debian: apt-get install apitrace",
    probe: || Apitrace::find().and_then(|found| found.version()),
};

/// The recorder of real traces, which needs a screen.
pub static SCREEN: Judge = Judge {
    name: "xvfb",
    install: "Debian: apt-get install xvfb mesa-utils apitrace",
    probe: || Recorder::find().map(|found| format!("glxgears on {}", found.display)),
};

/// Seconds that a replay gets.
const REPLAY_TIME_MAX: &str = "120";
/// The call whose state is dumped.
const STATE_CALL: &str = "--dump-state=100";
/// Memory that `apitrace` gets, in KiB.
const MEMORY_MAX_KIB: u32 = 3 << 20;

/// An installed `apitrace`.
#[derive(Debug)]
pub struct Apitrace {
    /// The program.
    pub program: PathBuf,
}

/// The result of a run of `apitrace`.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Calls by number, for `dump`.
    pub calls: BTreeMap<u64, String>,
    /// Its standard error.
    pub stderr: String,
}

impl Verdict {
    /// Whether it exited with 0 and printed no warning.
    pub fn is_silent(&self) -> bool {
        self.code == Some(0) && self.stderr.is_empty()
    }
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|p| p.is_file())
}

impl Apitrace {
    /// Finds the `apitrace` of the PATH.
    ///
    /// # Errors
    ///
    /// If `apitrace` is not installed.
    pub fn find() -> Result<Self, String> {
        let program = find("apitrace").ok_or("apitrace is not on PATH")?;
        Ok(Self { program })
    }

    /// Finds `apitrace`, or writes that it is missing.
    pub fn find_or_skip() -> Option<Self> {
        JUDGE.or_skip(Self::find())
    }

    fn version(&self) -> Result<String, String> {
        let output = Command::new(&self.program).arg("version").output();
        let output = output.map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.trim().trim_start_matches("apitrace ").to_owned())
    }

    fn run(&self, arguments: &[&str], path: &Path) -> Verdict {
        // A damaged count can ask for all memory of the machine.
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(format!("ulimit -v {MEMORY_MAX_KIB} 2>/dev/null; exec \"$0\" \"$@\""));
        command.arg(&self.program).args(arguments).arg(path).stdin(Stdio::null());
        let output = command.output().expect("apitrace starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let call = |line: &str| {
            let (number, rest) = line.split_once(' ')?;
            Some((number.parse().ok()?, rest.to_owned()))
        };
        Verdict {
            code: output.status.code(),
            calls: text.lines().filter_map(call).collect(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs `apitrace dump --verbose`: one line per call, none left out.
    pub fn dump(&self, path: &Path) -> Verdict {
        self.run(&["dump", "--color=never", "--verbose"], path)
    }

    /// Asks whether `apitrace dump` reads a file to its end without a warning.
    ///
    /// # Errors
    ///
    /// What it complains of.
    pub fn reads(&self, path: &Path) -> Result<(), String> {
        let verdict = self.dump(path);
        match verdict.is_silent() {
            true => Ok(()),
            false => Err(format!("{:?}: {}", verdict.code, verdict.stderr.trim())),
        }
    }

    /// Runs `apitrace info`.
    pub fn info(&self, path: &Path) -> Verdict {
        self.run(&["info"], path)
    }
}

/// A screen without a monitor, and the tracer's library.
#[derive(Debug)]
pub struct Recorder {
    screen: Child,
    display: String,
    tracer: PathBuf,
    program: PathBuf,
}

impl Drop for Recorder {
    fn drop(&mut self) {
        _ = self.screen.kill();
        _ = self.screen.wait();
    }
}

impl Recorder {
    /// Starts Xvfb.
    ///
    /// # Errors
    ///
    /// The reason, if a part is missing or Xvfb does not start.
    pub fn find() -> Result<Self, String> {
        let tracer = PathBuf::from("/usr/lib/x86_64-linux-gnu/apitrace/wrappers/glxtrace.so");
        let server = find("Xvfb").ok_or("Xvfb is not on PATH")?;
        let program = find("glxgears").ok_or("glxgears is not on PATH")?;
        if !tracer.is_file() {
            return Err(format!("{} does not exist", tracer.display()));
        }
        let mut command = Command::new(server);
        command.args(["-displayfd", "1", "-screen", "0", "320x240x24", "-nolisten", "tcp"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut screen = command.spawn().map_err(|error| format!("Xvfb: {error}"))?;
        let mut number = String::new();
        let read = screen.stdout.take().map(|out| BufReader::new(out).read_line(&mut number));
        if !matches!(read, Some(Ok(_))) || number.trim().is_empty() {
            _ = screen.kill();
            _ = screen.wait();
            return Err("Xvfb does not start here".into());
        }
        Ok(Self { screen, display: format!(":{}", number.trim()), tracer, program })
    }

    /// Starts Xvfb, or writes what is missing.
    pub fn find_or_skip() -> Option<Self> {
        SCREEN.or_skip(Self::find())
    }

    /// Runs `apitrace replay` on this screen.
    pub fn replay(&self, judge: &Apitrace, path: &Path) -> Verdict {
        self.run(judge, &["--headless"], path)
    }

    /// Runs `apitrace replay` up to a call and prints the state of GL, as for `diff-state`.
    pub fn dump_state(&self, judge: &Apitrace, path: &Path) -> Verdict {
        self.run(judge, &["--headless", STATE_CALL], path)
    }

    fn run(&self, judge: &Apitrace, options: &[&str], path: &Path) -> Verdict {
        // A damaged timeout or count can make a replay hang.
        let mut command = Command::new("timeout");
        command.arg(REPLAY_TIME_MAX).arg(&judge.program);
        command.env("DISPLAY", &self.display).env("LIBGL_ALWAYS_SOFTWARE", "1");
        command.arg("replay").args(options).arg(path).stdin(Stdio::null());
        let output = command.output().expect("apitrace starts");
        Verdict {
            code: output.status.code(),
            calls: BTreeMap::new(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Records a program, with its arguments, to its end.
    ///
    /// # Errors
    ///
    /// If it is not installed or fails.
    pub fn record_program(&self, words: &[&str], path: &Path) -> Result<(), String> {
        let [program, arguments @ ..] = words else { return Err("no program".into()) };
        let program = find(program).ok_or("it is not on PATH")?;
        // A program of EGL has a library of its own.
        let is_egl = program.file_name().is_some_and(|name| name != "glxinfo");
        let tracer = self.tracer.with_file_name(if is_egl { "egltrace.so" } else { "glxtrace.so" });
        let mut command = Command::new(program);
        command.args(arguments).env("DISPLAY", &self.display).env("LD_PRELOAD", tracer);
        command.env("TRACE_FILE", path).env("LIBGL_ALWAYS_SOFTWARE", "1");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = command.status().map_err(|error| error.to_string())?;
        if status.success() && path.is_file() { Ok(()) } else { Err(format!("{status}")) }
    }

    /// Records glxgears until the trace has `len` bytes, then ends it by a signal.
    ///
    /// # Errors
    ///
    /// If the trace did not grow.
    pub fn record(&self, path: &Path, signal: i32, len: u64) -> Result<(), String> {
        let mut command = Command::new(&self.program);
        command.env("DISPLAY", &self.display).env("LD_PRELOAD", &self.tracer);
        command.env("TRACE_FILE", path).env("LIBGL_ALWAYS_SOFTWARE", "1").env("vblank_mode", "0");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut grown = false;
        while !grown && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
            grown = std::fs::metadata(path).is_ok_and(|metadata| metadata.len() >= len);
            if child.try_wait().is_ok_and(|status| status.is_some()) {
                return Err("glxgears ended by itself".into());
            }
        }
        let pid = i32::try_from(child.id()).expect("a process id");
        let mut kill = Command::new("kill");
        _ = kill.args(["-s", &signal.to_string(), &pid.to_string()]).status();
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            match child.try_wait() {
                Ok(Some(status)) => {
                    let ended = status.signal().is_some() || status.code().is_some();
                    return if grown && ended { Ok(()) } else { Err("it did not grow".into()) };
                }
                _ if Instant::now() > deadline => break,
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
        }
        _ = child.kill();
        _ = child.wait();
        Err(format!("signal {signal} did not end it"))
    }
}
