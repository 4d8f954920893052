//! Runs a program and counts what it costs.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Exit statuses from which a command was refused: a wrong call, or one that the version lacks.
const REFUSED: i32 = 2;

/// Cost of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Processor time, user and system.
    pub(crate) seconds: f64,
    /// Largest resident set.
    pub(crate) megabytes: f64,
    /// Most private memory that was seen, looking each millisecond.
    pub(crate) private_megabytes: f64,
}

impl Cost {
    /// More than any run costs.
    pub(crate) const MAX: Self =
        Self { seconds: f64::MAX, megabytes: f64::MAX, private_megabytes: f64::MAX };

    /// Returns the lower time and the lower memory of both.
    pub(crate) fn min(self, other: Self) -> Self {
        Self {
            seconds: self.seconds.min(other.seconds),
            megabytes: self.megabytes.min(other.megabytes),
            private_megabytes: self.private_megabytes.min(other.private_megabytes),
        }
    }
}

/// Runs a program in `folder` to its end. Returns its exit status if it refused the command.
pub(crate) fn run(
    program: &Path,
    folder: &Path,
    args: &[String],
) -> Result<Result<Cost, i32>, Box<dyn Error>> {
    // The output of a repair.
    let _ = std::fs::remove_file(folder.join("out"));
    let _ = std::fs::remove_dir_all(folder.join("out"));
    let mut command = Command::new(program);
    command.args(args).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let pid = libc::pid_t::try_from(command.spawn()?.id())?;
    let watch = std::thread::spawn(move || watch_private(pid));
    let mut status = 0;
    // SAFETY: all fields of a rusage are numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are valid for the call, and nothing else waits for this child.
    if unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } != pid {
        return Err(std::io::Error::last_os_error().into());
    }
    let private_megabytes = watch.join().unwrap_or(0.0);
    let exit = if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -1 };
    if exit < 0 || exit == REFUSED {
        return Ok(Err(exit));
    }
    let seconds = |time: libc::timeval| lossy(time.tv_sec) + lossy(time.tv_usec) / 1e6;
    Ok(Ok(Cost {
        seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        megabytes: lossy(usage.ru_maxrss) / 1e3,
        private_megabytes,
    }))
}

/// Returns the most private memory of a process, until it ends: the pages of mapped files are not
/// in it.
fn watch_private(pid: libc::pid_t) -> f64 {
    let mut most = 0;
    while let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) {
        let mut lines = status.lines();
        // A process that ended has no memory.
        let Some(line) = lines.find_map(|line| line.strip_prefix("RssAnon:")) else { break };
        most = line.trim().trim_end_matches(" kB").parse().map_or(most, |kb: i64| kb.max(most));
        std::thread::sleep(Duration::from_millis(1));
    }
    lossy(most) * 1.024 / 1e3
}

#[expect(clippy::as_conversions, reason = "there is no other way to a float")]
const fn lossy(number: i64) -> f64 {
    number as f64
}
