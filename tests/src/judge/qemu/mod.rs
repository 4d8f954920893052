//! `qemu-system-x86_64` (Debian: qemu-system-x86) as a judge of record/replay logs, and as the
//! maker of real ones.
//!
//! A build replays only what the same build recorded, so that tests take every build that they
//! find: that of the PATH and those of `TRACEMEND_QEMU`, paths between colons. A build that is
//! unpacked rather than installed is named by a script that sets the folders of its libraries and
//! firmware.

pub mod breach;
pub mod damaged;
pub mod guest;
mod progress;
pub mod silent;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tracemend::FormatId;
use tracemend::format::Format;
use tracemend::formats::qemu::QEMU;
use tracemend::model::tile::TileKind;
use tracemend::{FileSet, Options, Outcome};

pub use guest::Guest;
use progress::Progress;

use super::Judge;
use crate::mended::mended_as;

/// How long a recording may take: a guest of 20 rounds takes 3 s on an idle machine.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// Bytes of a log that have reached the disk before a recorder is killed: some of its blocks.
const ON_DISK: u64 = 3 << 12;
/// Between two looks at a running process.
const POLL: Duration = Duration::from_millis(20);

/// QEMU as a judge.
pub static JUDGE: Judge = Judge {
    name: "qemu",
    install: "Debian: apt-get install qemu-system-x86, or set TRACEMEND_QEMU",
    probe: || {
        let versions: Vec<String> = Build::all().into_iter().map(|build| build.version).collect();
        if versions.is_empty() { Err(MISSING.into()) } else { Ok(versions.join(", ")) }
    },
};

const MISSING: &str = "qemu-system-x86_64 is not on PATH";

/// An installed build of QEMU.
#[derive(Clone, Debug)]
pub struct Build {
    program: PathBuf,
    /// As in `7.2.22`.
    pub version: String,
}

/// How a run of QEMU ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// It exited with this code.
    Code(i32),
    /// A signal ended it: 6 is SIGABRT, 11 SIGSEGV.
    Signal(i32),
    /// It did not go on and was killed.
    Hung,
}

/// The result of a replay.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// How it ended.
    pub end: End,
    /// Its error output.
    pub stderr: String,
    /// The output of the guest.
    pub printed: Vec<u8>,
}

/// Input to a guest while it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    /// Nothing.
    Off,
    /// Keys, the pointer, and a line to the serial port.
    On,
}

impl Build {
    /// Every build at hand.
    pub fn all() -> Vec<Self> {
        let named = std::env::var_os("TRACEMEND_QEMU").unwrap_or_default();
        let named = std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&path).map(|one| one.join("qemu-system-x86_64"));
        let mut builds: Vec<Self> = Vec::new();
        for program in on_path.chain(named).filter(|program| program.is_file()) {
            let Some(version) = version(&program) else { continue };
            if builds.iter().all(|build| build.version != version) {
                builds.push(Self { program, version });
            }
        }
        builds
    }

    /// Every build at hand; none after a line that the judge is missing.
    pub fn all_or_skip() -> Vec<Self> {
        let builds = Self::all();
        if builds.is_empty() {
            JUDGE.skip(MISSING);
        }
        builds
    }

    /// Major and minor number, as `--qemu-version` takes them.
    pub fn release(&self) -> String {
        self.version.split('.').take(2).collect::<Vec<_>>().join(".")
    }

    /// A guest to record on this build.
    pub fn machine(&self, guest: Guest, rounds: u16) -> Machine {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("disk"), guest.disk(rounds)).expect("a disk");
        Machine { build: self.clone(), guest, folder }
    }
}

fn version(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rest = text.strip_prefix("QEMU emulator version ")?;
    rest.split_whitespace().next().map(str::to_owned)
}

/// A guest with its disk; every recording and replay of it has the same command line.
#[derive(Debug)]
pub struct Machine {
    build: Build,
    guest: Guest,
    folder: TempDir,
}

impl Machine {
    /// Records until the guest switches the machine off.
    ///
    /// # Errors
    ///
    /// The error output of QEMU, if it failed.
    pub fn record(&self, hand: Hand) -> Result<Vec<u8>, String> {
        let log = self.folder.path().join("log");
        let mut child = self.start("record", &log);
        if hand == Hand::On {
            self.touch(&mut child);
        }
        match wait(&mut child, TIME_LIMIT) {
            End::Code(0) => fs::read(&log).map_err(|error| error.to_string()),
            end => Err(format!("{end:?}: {}", self.stderr())),
        }
    }

    /// Records for a while, at least until some of the log is on the disk, and ends QEMU with a
    /// signal: 9 kills it, 15 lets it finish the log.
    ///
    /// # Errors
    ///
    /// If QEMU ended by itself.
    pub fn record_until(
        &self,
        after: Duration,
        signal: i32,
        hand: Hand,
    ) -> Result<Vec<u8>, String> {
        let log = self.folder.path().join("log");
        let started = Instant::now();
        let mut child = self.start("record", &log);
        if hand == Hand::On {
            self.touch(&mut child);
        }
        sleep(after.saturating_sub(started.elapsed()));
        // On a busy machine little happens in a second.
        let is_short = || fs::metadata(&log).map_or(0, |log| log.len()) < ON_DISK;
        let mut has_ended = || child.try_wait().expect("a state").is_some();
        while is_short() && started.elapsed() < TIME_LIMIT && !has_ended() {
            sleep(POLL);
        }
        if has_ended() {
            return Err(format!("it ended by itself: {}", self.stderr()));
        }
        let id = i32::try_from(child.id()).expect("a process id");
        // SAFETY: the child was not waited for, so the id is its own.
        unsafe { libc::kill(id, signal) };
        if wait(&mut child, TIME_LIMIT) == End::Hung {
            return Err("the signal did not end it".into());
        }
        fs::read(&log).map_err(|error| error.to_string())
    }

    /// Records into a file on another file system, which is full soon, and returns how QEMU ended.
    ///
    /// # Errors
    ///
    /// If the log cannot be read afterwards.
    pub fn record_to(&self, log: &Path) -> Result<(End, Vec<u8>), String> {
        let mut child = self.start("record", log);
        let end = wait(&mut child, TIME_LIMIT);
        fs::read(log).map(|bytes| (end, bytes)).map_err(|error| error.to_string())
    }

    /// Replays a log to its end, or until it hangs.
    pub fn replay(&self, log: &[u8]) -> Replayed {
        let path = self.folder.path().join("replayed");
        fs::write(&path, log).expect("a log to replay");
        let mut child = self.start("replay", &path);
        let mut progress = Progress::new(&child, &path);
        let end = wait_while(&mut child, || !progress.is_stalled());
        let printed = fs::read(self.folder.path().join("serial")).unwrap_or_default();
        Replayed { end, stderr: self.stderr(), printed }
    }

    fn stderr(&self) -> String {
        let bytes = fs::read(self.folder.path().join("stderr")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn start(&self, mode: &str, log: &Path) -> Child {
        let file = |name: &str| self.folder.path().join(name);
        let with = |text: &str, path: &Path| {
            let mut option = OsString::from(text);
            option.push(path);
            option
        };
        _ = fs::remove_file(file("monitor"));
        let mut command = Command::new(&self.build.program);
        command.args(["-M", "pc", "-m", "64", "-nodefaults", "-display", "none", "-vga", "none"]);
        let icount = format!("shift=auto,rr={mode},rrfile=");
        command.arg("-icount").arg(with(&icount, log));
        let drive = with("if=none,id=d0,format=raw,snapshot=on,file=", &file("disk"));
        command.arg("-drive").arg(drive);
        command.args(["-drive", "driver=blkreplay,if=none,image=d0,id=d1"]);
        command.args(["-device", "ide-hd,drive=d1", "-serial", "stdio"]);
        command.arg("-monitor");
        command
            .arg(with("unix:", &file("monitor")).into_string().expect("a path") + ",server,nowait");
        command.args(self.guest.devices());
        command.stdin(Stdio::piped());
        command.stdout(File::create(file("serial")).expect("a file for the serial port"));
        command.stderr(File::create(file("stderr")).expect("a file for stderr"));
        command.spawn().expect("QEMU starts")
    }

    /// Types, moves the pointer, and sends bytes to the serial port, over two seconds.
    fn touch(&self, child: &mut Child) {
        sleep(Duration::from_millis(700));
        let Ok(mut monitor) = UnixStream::connect(self.folder.path().join("monitor")) else {
            return;
        };
        let serial = child.stdin.as_mut();
        if let Some(serial) = serial {
            _ = serial.write_all(b"xq").and_then(|()| serial.flush());
        }
        for line in ["sendkey a\n", "sendkey shift-b\n", "mouse_move 3 4\n", "mouse_button 1\n"] {
            _ = monitor.write_all(line.as_bytes());
            sleep(Duration::from_millis(300));
        }
        _ = monitor.write_all(b"mouse_button 0\n");
    }
}

fn wait(child: &mut Child, limit: Duration) -> End {
    let deadline = Instant::now() + limit;
    wait_while(child, || Instant::now() <= deadline)
}

/// Waits for a process, and kills it as soon as it does not go on.
fn wait_while(child: &mut Child, mut goes_on: impl FnMut() -> bool) -> End {
    loop {
        if let Some(status) = child.try_wait().expect("a state") {
            return match (status.code(), status.signal()) {
                (Some(code), _) => End::Code(code),
                (None, signal) => End::Signal(signal.unwrap_or(0)),
            };
        }
        if !goes_on() {
            _ = child.kill();
            _ = child.wait();
            return End::Hung;
        }
        sleep(POLL);
    }
}

/// A repaired log.
#[derive(Clone, Debug)]
pub struct Mended {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Name of the last event that was kept.
    pub last: &'static str,
    /// How the repair ended.
    pub outcome: Outcome,
}

/// Repairs a log of a release.
///
/// # Errors
///
/// The findings that are left, if the log cannot be repaired.
pub fn mend(log: &[u8], release: &str) -> Result<Mended, String> {
    let mut options = Options { format: Some(FormatId::QEMU), ..Options::default() };
    options.choices.set("qemu-version", release).unwrap();
    let (repair, bytes) = mended_as("log", log, &options);
    match repair.outcome {
        Outcome::Repaired | Outcome::RepairedWithLoss => {
            let events = events(&bytes);
            let closing = events
                .iter()
                .rev()
                .skip_while(|event| event.1 == "END" || event.1 == "SHUTDOWN+HOST_SIGNAL");
            let last = closing.map(|event| event.1).next().unwrap_or("the header");
            Ok(Mended { bytes, last, outcome: repair.outcome })
        }
        outcome => Err(format!("{outcome:?} {:?} {:?}", repair.after.counts(), repair.refused)),
    }
}

/// Offset and name of every event of a log, as the core reads it.
pub fn events(log: &[u8]) -> Vec<(u64, &'static str)> {
    let mut events = Vec::new();
    let files = FileSet::single("log", log);
    QEMU.tile(&files, &Options::default(), &mut |tile, _| {
        if tile.kind == TileKind::Record {
            events.push((tile.span.start(), tile.name));
        }
    });
    events
}

/// A log with the version that a killed recorder leaves.
pub fn killed(log: &[u8]) -> Vec<u8> {
    let mut log = log.to_vec();
    log[..4].fill(0);
    log
}

/// Returns the first `len` bytes of a complete log of 5.1 or later, followed by the pair that ends
/// it.
pub fn closed_at(log: &[u8], len: usize) -> Vec<u8> {
    [&log[..len], &log[log.len() - 2..]].concat()
}
