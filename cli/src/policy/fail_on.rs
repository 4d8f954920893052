//! The severity from which on findings make a check fail.

use clap::ValueEnum;
use tracemend::{Report, Severity};

use crate::kit::exit::Exit;

/// Value of `--fail-on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Error,
    Warning,
    Info,
    Never,
}

impl FailOn {
    /// The exit code for a report.
    pub(crate) fn exit(self, report: &Report) -> Exit {
        match report.incomplete() {
            true => Exit::Incomplete,
            false if self.is_reached(report.worst()) => Exit::Findings,
            false => Exit::Clean,
        }
    }

    pub(crate) fn is_reached(self, worst: Option<Severity>) -> bool {
        let least = match self {
            Self::Error => Severity::Error,
            Self::Warning => Severity::Warning,
            Self::Info => Severity::Info,
            Self::Never => return false,
        };
        worst >= Some(least)
    }
}
