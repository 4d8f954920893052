//! Exit codes, one meaning for each.

use std::fmt::Display;
use std::io;

/// Exit codes, as every `--help` lists them.
pub(crate) const HELP: &str = "\
Exit codes:
  0  clean, or repaired without loss
  1  findings at or above --fail-on (verify: plan, source and output do not match; diff: the
     recordings differ; redact: private content is left)
  2  usage error, nothing was done
  3  repaired, with recorded bytes lost (redact: damaged bytes were replaced)
  4  cannot be repaired (apply: the plan was made for another file; redact, cut: nothing was
     written)
  5  a file could not be read or written
  6  a limit was reached, so the verdict is incomplete
With several recordings, the highest applies.";

/// An exit code. They are ordered: with several recordings, the highest applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Clean, or repaired without loss.
    Clean = 0,
    /// Findings at or above `--fail-on`.
    Findings = 1,
    /// The command line is wrong; nothing was done.
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
    /// Returns the number.
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

/// The reason why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// One sentence without a full stop; empty if nobody would read it.
    pub message: String,
}

impl Failure {
    /// A failure with this exit code and message.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }

    /// An error of the command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Returns the failure with a further clause: what stands, or what to do.
    #[must_use]
    pub fn and(mut self, clause: impl Display) -> Self {
        if !self.message.is_empty() {
            self.message += &format!("; {clause}");
        }
        self
    }

    /// A failure to read or write `what`, an escaped path or the name of a stream.
    pub fn io(what: impl Display, error: &io::Error) -> Self {
        Self::new(Exit::Io, format!("{what}: {}", describe(error)))
    }
}

/// Describes an error of the system, without text that may come from a file.
fn describe(error: &io::Error) -> String {
    match error.raw_os_error() {
        // write(2) from the map of a file that shrank fails like this instead of raising SIGBUS.
        Some(libc::EFAULT) => "a file shrank, or its disk failed, while it was read".to_string(),
        Some(code) => io::Error::from_raw_os_error(code).to_string(),
        None => tracemend::Untrusted(error.to_string().as_bytes()).to_string(),
    }
}
