//! The options that decide what bytes alone cannot.

use std::path::PathBuf;

use tracemend::Choices;

use crate::exit::Failure;
use crate::input::Recording;
use crate::repair::open_one;
use crate::streams::Streams;

/// One option each; which format it is meant for stands first.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of single formats")]
pub(crate) struct ChoiceArguments {
    /// ovni, qemu: add what is missing (`close`), cut where all parts are complete (`cut`, ovni), or
    /// keep what precedes the first damage (`prefix`, qemu)
    #[arg(long, value_name = "WAY")]
    strategy: Option<String>,
    /// revent, ovni: also convert the recording to the newest layout
    #[arg(long)]
    upgrade: bool,
    /// revent: release what is still held at the end: after a killed recorder (`auto`), `always` or
    /// `never`
    #[arg(long, value_name = "WHEN")]
    release: Option<String>,
    /// qemu: the release that wrote the log, as in 7.2, if the log fits several
    #[arg(long, value_name = "X.Y")]
    qemu_version: Option<String>,
    /// apitrace: add an empty leave to each call that has none
    #[arg(long)]
    close_calls: bool,
    /// apitrace: keep trace 1 or 2 of a file that contains two
    #[arg(long, value_name = "N")]
    part: Option<String>,
    /// a recording to take lost descriptions from: apitrace, of the same build of the tracer; perf,
    /// of the same kernel and tracepoints
    #[arg(long, value_name = "FILE")]
    donor: Option<PathBuf>,
}

impl ChoiceArguments {
    pub(crate) fn choices(&self) -> Result<Choices, Failure> {
        let mut choices = Choices::default();
        let flag = |is_set: bool| is_set.then(String::new);
        let values = [
            ("strategy", self.strategy.clone()),
            ("upgrade", flag(self.upgrade)),
            ("release", self.release.clone()),
            ("qemu-version", self.qemu_version.clone()),
            ("close-calls", flag(self.close_calls)),
            ("part", self.part.clone()),
        ];
        for (name, value) in values {
            if let Some(value) = value {
                choices.set(name, &value).map_err(|error| Failure::usage(error.to_string()))?;
            }
        }
        Ok(choices)
    }

    /// The recording that lost parts may be taken from.
    pub(crate) fn donor(&self, streams: &mut Streams<'_>) -> Result<Option<Recording>, Failure> {
        self.donor.as_deref().map(|path| open_one(path, streams)).transpose()
    }
}
