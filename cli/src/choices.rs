//! The options that decide what bytes alone cannot.

use std::path::PathBuf;

use tracemend::Choices;
use tracemend::choices::{Release, Strategy};
use tracemend::formats::qemu::layout as qemu;

use crate::exit::Failure;
use crate::input::Recording;
use crate::repair::open_one;
use crate::streams::Streams;

/// One option each; which format it is meant for stands first.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Choices of single formats")]
pub(crate) struct ChoiceArguments {
    /// Bring a recording that never ended to its end by adding what is missing (`close`), by
    /// cutting where all parts are whole (`cut`, ovni), or by keeping what stands before the first
    /// damage (`prefix`, qemu)
    #[arg(long, value_name = "WAY", value_parser = strategy)]
    strategy: Option<Strategy>,
    /// revent, ovni: bring the recording to the newest layout of its format
    #[arg(long)]
    upgrade: bool,
    /// revent: let go of what is still held at the end: where the recorder was killed (`auto`),
    /// `always` or `never`
    #[arg(long, value_name = "WHEN", value_parser = release, default_value = "auto")]
    release: Release,
    /// qemu: the release that wrote the log, as in 7.2, where the log alone leaves several
    #[arg(long, value_name = "X.Y", value_parser = qemu_release)]
    qemu_version: Option<String>,
    /// apitrace: add empty leaves to calls that were never left
    #[arg(long)]
    close_calls: bool,
    /// apitrace: which of two traces in one file is kept, 1 or 2
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=2))]
    part: Option<u32>,
    /// a recording to take lost descriptions from: apitrace, of the same build of the tracer; perf,
    /// of the same kernel and tracepoints
    #[arg(long, value_name = "FILE")]
    donor: Option<PathBuf>,
}

impl ChoiceArguments {
    /// What the library is told.
    pub(crate) fn choices(&self) -> Choices {
        let mut choices = Choices::default();
        choices.strategy = self.strategy;
        choices.upgrade = self.upgrade;
        choices.release = self.release;
        choices.qemu_version.clone_from(&self.qemu_version);
        choices.close_calls = self.close_calls;
        choices.part = self.part;
        choices
    }

    /// The recording that lost parts may be taken from.
    pub(crate) fn donor(&self, streams: &mut Streams<'_>) -> Result<Option<Recording>, Failure> {
        self.donor.as_deref().map(|path| open_one(path, streams)).transpose()
    }
}

fn strategy(word: &str) -> Result<Strategy, String> {
    let found = Strategy::ALL.into_iter().find(|way| way.name() == word);
    found.ok_or_else(|| "the ways are: close, cut, prefix".to_string())
}

fn release(word: &str) -> Result<Release, String> {
    let found = Release::ALL.into_iter().find(|when| when.name() == word);
    found.ok_or_else(|| "the choices are: auto, always, never".to_string())
}

fn qemu_release(text: &str) -> Result<String, String> {
    let known = qemu::release(text).is_some();
    known.then(|| text.to_string()).ok_or_else(|| {
        let releases: Vec<String> =
            qemu::RELEASES.iter().map(|(major, minor)| format!("{major}.{minor}")).collect();
        format!("the releases are: {}", releases.join(", "))
    })
}
