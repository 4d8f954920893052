//! How a run ends: one meaning for each exit code.

use std::fmt::Display;
use std::io;

/// Text about exit codes below every `--help`.
pub(crate) const HELP: &str = "\
Exit codes:
  0  clean, or repaired without loss
  1  findings at or above --fail-on (verify: source, plan and output do not belong together)
  2  usage: nothing was done
  3  repaired, with recorded bytes lost
  4  cannot be repaired (apply: the plan is not for this file)
  5  a file could not be read or written
  6  a limit was reached, so the verdict is incomplete
Over several recordings the highest one counts.";

/// What the exit code says. Ordered: over several recordings the highest one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Clean, or repaired without loss.
    Clean = 0,
    /// Findings at or above `--fail-on`.
    Findings = 1,
    /// The command line is at fault; nothing was done.
    Usage = 2,
    /// Repaired, with recorded bytes lost.
    Loss = 3,
    /// Cannot be repaired.
    Unrepaired = 4,
    /// A file could not be read or written.
    Io = 5,
    /// A limit was reached.
    Incomplete = 6,
}

impl Exit {
    /// The number.
    pub const fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Loss => 3,
            Self::Unrepaired => 4,
            Self::Io => 5,
            Self::Incomplete => 6,
        }
    }
}

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// A sentence without a full stop; empty if there is nobody to tell.
    pub message: String,
}

impl Failure {
    /// Ends with `exit` and says why.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }

    /// The command line is at fault.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// `what` (an escaped path, or what was tried) failed.
    pub fn io(what: impl Display, error: &io::Error) -> Self {
        Self::new(Exit::Io, format!("{what}: {}", describe(error)))
    }
}

/// An error of the system, without what a file could have put into it.
fn describe(error: &io::Error) -> String {
    match error.raw_os_error() {
        // write(2) from a map whose file shrank: the kernel's own way to say SIGBUS.
        Some(libc::EFAULT) => "a file shrank, or its disk failed, while it was read".to_string(),
        Some(code) => io::Error::from_raw_os_error(code).to_string(),
        None => tracemend::Untrusted(error.to_string().as_bytes()).to_string(),
    }
}
