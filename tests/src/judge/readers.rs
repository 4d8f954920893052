//! The readers of the formats as commands, which may crash or hang: `corpus/readers` holds inputs
//! on which they do.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::known_originals::Files;

/// Seconds after which a reader hangs, beside others: it reads a recording in a fraction of one.
const PATIENCE: u32 = 10;
/// Memory that a reader gets, in KiB.
const MEMORY_KIB: u64 = 4 << 20;
/// Exit status of `timeout` for a program that it killed, and the one before those of signals.
const KILLED: i32 = 137;
const SIGNALS: i32 = 128;
/// Signals by which a program crashes: SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV.
const CRASHES: [(i32, &str); 6] =
    [(4, "SIGILL"), (5, "SIGTRAP"), (6, "SIGABRT"), (7, "SIGBUS"), (8, "SIGFPE"), (11, "SIGSEGV")];

/// A reader, with the commands that read a recording: the path takes the place of `{in}`.
#[derive(Debug)]
pub struct Reader {
    /// Its name.
    pub name: &'static str,
    /// The format.
    pub format: &'static str,
    /// Its commands.
    pub commands: &'static [&'static [&'static str]],
}

/// The readers that take nothing but a recording.
pub static READERS: [Reader; 3] = [
    Reader {
        name: "perf",
        format: "perf",
        commands: &[
            &["perf", "script", "-i", "{in}"],
            &["perf", "report", "--stdio", "-i", "{in}"],
            &["perf", "report", "--header-only", "-I", "--stdio", "-i", "{in}"],
            &["perf", "script", "-D", "-i", "{in}"],
            &["perf", "evlist", "-v", "-i", "{in}"],
        ],
    },
    Reader {
        name: "apitrace",
        format: "apitrace",
        commands: &[&["apitrace", "dump", "{in}"], &["apitrace", "info", "{in}"]],
    },
    Reader {
        name: "ovni",
        format: "ovni",
        commands: &[&["ovniemu", "-l", "{in}"], &["ovnidump", "{in}"]],
    },
];

/// How a reader ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// With this exit status.
    Status(i32),
    /// With exit status 0, and nothing on its standard output.
    Silent,
    /// By this signal.
    Crash(i32),
    /// Not at all: it was killed.
    Hang,
}

impl End {
    /// Whether it crashed, hung, or says that nothing is wrong and there is nothing.
    pub const fn is_fault(self) -> bool {
        matches!(self, Self::Silent | Self::Crash(_) | Self::Hang)
    }

    /// Describes it in a word or two.
    pub fn describe(self) -> String {
        match self {
            Self::Status(status) => format!("exit {status}"),
            Self::Silent => "exit 0, prints nothing".to_string(),
            Self::Crash(signal) => {
                let name = CRASHES.iter().find(|(number, _)| *number == signal);
                name.map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_string())
            }
            Self::Hang => "hangs".to_string(),
        }
    }
}

impl Reader {
    /// Runs a command of the reader on a recording in a folder of its own.
    ///
    /// # Panics
    ///
    /// If the recording cannot be written.
    pub fn run(&self, command: &[&str], files: &Files) -> End {
        let folder = tempfile::tempdir().unwrap();
        let path = match files.as_slice() {
            [(_, bytes)] => {
                let path = folder.path().join("recording");
                std::fs::write(&path, bytes).unwrap();
                path
            }
            files => {
                for (name, bytes) in files {
                    let path = folder.path().join("recording").join(name);
                    std::fs::create_dir_all(path.parent().unwrap_or(folder.path())).unwrap();
                    std::fs::write(path, bytes).unwrap();
                }
                folder.path().join("recording")
            }
        };
        let words: Vec<String> =
            command.iter().map(|word| word.replace("{in}", &path.to_string_lossy())).collect();
        run(&words, PATIENCE)
    }
}

/// Runs a program, with little memory and for some seconds, and returns how it ended.
///
/// # Panics
///
/// If there is no `timeout` of coreutils.
pub fn run(words: &[String], patience: u32) -> End {
    let limits = format!("ulimit -c 0 -v {MEMORY_KIB}; exec \"$@\"");
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", &patience.to_string(), "bash", "-c", &limits, "bash"]);
    let program = words.first().map(|name| find(name));
    command.args(program).args(words.iter().skip(1));
    // No file of the user takes part.
    let home = tempfile::tempdir().unwrap();
    command.env("HOME", home.path()).current_dir(home.path());
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().unwrap();
    let status = output.status;
    match status.code() {
        Some(KILLED) => End::Hang,
        Some(0) if output.stdout.is_empty() => End::Silent,
        Some(code) => {
            let signal = code - SIGNALS;
            let is_crash = CRASHES.iter().any(|(number, _)| *number == signal);
            if is_crash { End::Crash(signal) } else { End::Status(code) }
        }
        None if status.signal() == Some(9) => End::Hang,
        None => End::Crash(status.signal().unwrap_or(0)),
    }
}

/// Returns the program of a name: those of ovni lie beside the emulator.
fn find(name: &str) -> PathBuf {
    let emulator = std::env::var_os("TRACEMEND_OVNIEMU").map(PathBuf::from);
    match emulator {
        Some(emulator) if name.starts_with("ovni") => emulator.with_file_name(name),
        _ => Path::new(name).to_path_buf(),
    }
}
