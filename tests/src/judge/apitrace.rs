//! apitrace itself: `dump` and `info`, and the tracer below Xvfb.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// An installed `apitrace`.
#[derive(Debug)]
pub struct Apitrace {
    program: PathBuf,
}

/// What `apitrace` said.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Calls by number, for `dump`.
    pub calls: BTreeMap<u64, String>,
    /// Its complaints.
    pub stderr: String,
}

impl Verdict {
    /// Whether it exited with 0 and had nothing to complain of.
    pub fn is_silent(&self) -> bool {
        self.code == Some(0) && self.stderr.is_empty()
    }
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|p| p.is_file())
}

/// Prints that a test is skipped because something is not there.
pub fn skipped(what: &str, test: &str) {
    eprintln!("SKIPPED: {what} is not installed (Debian: apitrace, xvfb, mesa-utils): {test}");
}

impl Apitrace {
    /// The judge, or `None` after [`skipped`] has said so for this test.
    pub fn find_or_skip(test: &str) -> Option<Self> {
        let program = find("apitrace");
        if program.is_none() {
            skipped("judge apitrace", test);
        }
        program.map(|program| Self { program })
    }

    fn run(&self, arguments: &[&str], path: &Path) -> Verdict {
        let mut command = Command::new(&self.program);
        command.args(arguments).arg(path).stdin(Stdio::null());
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

    /// `apitrace dump`: every call, a line each, those that say nothing new included.
    pub fn dump(&self, path: &Path) -> Verdict {
        self.run(&["dump", "--color=never", "--verbose"], path)
    }

    /// `apitrace info`.
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
    /// Starts Xvfb, or says what is missing.
    pub fn find_or_skip(test: &str) -> Option<Self> {
        let tracer = PathBuf::from("/usr/lib/x86_64-linux-gnu/apitrace/wrappers/glxtrace.so");
        let (Some(server), Some(program)) = (find("Xvfb"), find("glxgears")) else {
            skipped("Xvfb or glxgears", test);
            return None;
        };
        if !tracer.is_file() {
            skipped("the tracer of apitrace", test);
            return None;
        }
        let mut command = Command::new(server);
        command.args(["-displayfd", "1", "-screen", "0", "320x240x24", "-nolisten", "tcp"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut screen = command.spawn().ok()?;
        let mut number = String::new();
        let read = BufReader::new(screen.stdout.take()?).read_line(&mut number);
        if read.is_err() || number.trim().is_empty() {
            _ = screen.kill();
            _ = screen.wait();
            eprintln!("SKIPPED: Xvfb does not start here: {test}");
            return None;
        }
        Some(Self { screen, display: format!(":{}", number.trim()), tracer, program })
    }

    /// `apitrace replay` on this screen: its exit code and what it says.
    pub fn replay(&self, judge: &Apitrace, path: &Path) -> Verdict {
        let mut command = Command::new(&judge.program);
        command.env("DISPLAY", &self.display).env("LIBGL_ALWAYS_SOFTWARE", "1");
        command.args(["replay", "--headless"]).arg(path).stdin(Stdio::null());
        let output = command.output().expect("apitrace starts");
        Verdict {
            code: output.status.code(),
            calls: BTreeMap::new(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
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
