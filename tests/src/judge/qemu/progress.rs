//! Whether a replay goes on: it reads its log.
//!
//! A replay that hangs waits, mostly in a busy loop, for an event that does not come next. Time
//! alone does not show that on a busy machine, so that the processor time counts that a replay
//! takes without reading on. A complete replay of the guests here takes less than 2 s of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

/// Processor time without reading on after which a replay hangs.
const BUSY_MAX: Duration = Duration::from_secs(8);
/// Time without reading on after which a replay hangs that takes no processor time, or whose
/// processor time is not known.
const IDLE_MAX: Duration = Duration::from_secs(90);
/// Ticks of a processor in a second, in `/proc`.
const TICKS: u64 = 100;

/// The reading of a log by a running replay.
#[derive(Debug)]
pub(super) struct Progress {
    /// The folder of the process in `/proc`.
    process: PathBuf,
    log: PathBuf,
    /// Bytes of the log that were read.
    read: u64,
    /// Processor time, and time, when they were.
    busy: Duration,
    since: Instant,
}

impl Progress {
    /// The progress of a replay that begins now.
    pub(super) fn new(child: &Child, log: &Path) -> Self {
        let process = Path::new("/proc").join(child.id().to_string());
        let log = log.canonicalize().unwrap_or_else(|_| log.to_path_buf());
        Self { process, log, read: 0, busy: Duration::ZERO, since: Instant::now() }
    }

    /// Looks at the process and returns whether it hangs.
    pub(super) fn is_stalled(&mut self) -> bool {
        let busy = busy(&self.process).unwrap_or(self.busy);
        // A process that has not opened the log yet has read nothing.
        let read = position(&self.process, &self.log).unwrap_or(self.read);
        if read != self.read {
            (self.read, self.busy, self.since) = (read, busy, Instant::now());
        }
        busy.saturating_sub(self.busy) > BUSY_MAX || self.since.elapsed() > IDLE_MAX
    }
}

/// Returns the processor time of a process.
fn busy(process: &Path) -> Option<Duration> {
    let text = fs::read_to_string(process.join("stat")).ok()?;
    // The name of the program, in parentheses, may contain blanks.
    let fields = text.rsplit_once(')')?.1.split_whitespace();
    let times: Vec<u64> = fields.skip(11).take(2).filter_map(|time| time.parse().ok()).collect();
    Some(Duration::from_millis(times.iter().sum::<u64>() * 1000 / TICKS))
}

/// Returns the position of a process in a file that it has open.
fn position(process: &Path, file: &Path) -> Option<u64> {
    let mut open = fs::read_dir(process.join("fd")).ok()?.flatten();
    let found = open.find(|one| fs::read_link(one.path()).is_ok_and(|link| link == file))?;
    let text = fs::read_to_string(process.join("fdinfo").join(found.file_name())).ok()?;
    text.lines().next()?.strip_prefix("pos:")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::thread::sleep;

    use super::*;

    #[test]
    fn the_position_in_a_file_and_the_processor_time_of_a_process_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        fs::write(&log, [0; 100]).unwrap();
        let script = "exec 3< \"$0\"; head -c 40 <&3 > /dev/null; while :; do :; done";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(&log).stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut progress = Progress::new(&child, &log);
        let deadline = Instant::now() + Duration::from_secs(60);
        let process = progress.process.clone();
        let is_busy = || busy(&process).is_some_and(|busy| busy > Duration::from_millis(50));
        while (progress.read == 0 || !is_busy()) && Instant::now() < deadline {
            assert!(!progress.is_stalled());
            sleep(Duration::from_millis(10));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(progress.read > 0 && progress.busy < BUSY_MAX);
        assert_eq!(busy(&process), None);
    }
}
