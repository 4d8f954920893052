//! `tracemend diff`: the first records in which two recordings differ.

use std::path::PathBuf;

use clap::ArgMatches;
use tracemend::{DumpError, FormatId, Options};

use crate::args::format_options::{FormatOptions, Verb};
use crate::commands::check::parse_format;
use crate::files::paths::shown;
use crate::files::sandbox::Reach;
use crate::files::single::{open_arrived, recognise_one};
use crate::files::streams::Streams;
use crate::kit::exit::{Exit, Failure, HELP};

const EXAMPLES: &str = "\
Examples:
  tracemend diff boot.log again.log
  tracemend diff boot.log repaired.log --qemu-version 7.2

Exits with 0 if the recordings are equal, with 1 if they differ, with 2 if the format has no
comparison.";

const ABOUT: &str = "\
Two recordings of one QEMU guest differ in their clocks from the beginning; the guest diverges \
where another event differs. Both places are shown: number of the event, offset, instructions \
before it, kind and fields; `-` begins the line of the first recording, `+` that of the second.";

/// Show the first records in which two recordings differ
#[derive(Debug, clap::Args)]
#[command(before_help = ABOUT, after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// A recording
    #[arg(value_name = "FIRST")]
    first: PathBuf,
    /// The recording that it is compared with
    #[arg(value_name = "SECOND")]
    second: PathBuf,
    /// Read the files as this format (see `tracemend formats`)
    #[arg(id = "type", long = "type", value_name = "NAME", value_parser = parse_format)]
    kind: Option<FormatId>,
}

impl Arguments {
    pub(crate) fn run(
        &self,
        matches: &ArgMatches,
        streams: &mut Streams<'_>,
    ) -> Result<Exit, Failure> {
        let given = FormatOptions::read(matches, Verb::Diff)?;
        streams.confine(|| Reach::default().read_all([&self.first, &self.second]))?;
        let first = open_arrived(&self.first, Some(&Options::default()), streams)?;
        let second = open_arrived(&self.second, Some(&Options::default()), streams)?;
        let (one, two) = (first.file_set(), second.file_set());
        let mut options = Options::default();
        let format = recognise_one(&self.first, &one, self.kind, &options)?;
        let other = recognise_one(&self.second, &two, self.kind, &options)?;
        if format != other {
            let (first, second) = (shown(&self.first), shown(&self.second));
            let message = format!("{first} is of format {format}, {second} of {other}");
            return Err(Failure::usage(message));
        }
        given.check_format(format)?;
        options.format = Some(format);
        options.choices = given.choices;
        let mut text = String::new();
        let diffed = tracemend::diff(&one, &two, &options, &mut |piece| text += piece);
        let diffed = diffed.map_err(|error| describe_failure(format, &error))?;
        if diffed.is_different {
            text = format!("--- {}\n+++ {}\n{text}", shown(&self.first), shown(&self.second));
        }
        streams.print(&text)?;
        first.unchanged()?;
        second.unchanged()?;
        Ok(if diffed.is_different { Exit::Findings } else { Exit::Clean })
    }
}

fn describe_failure(format: FormatId, error: &DumpError) -> Failure {
    match error {
        DumpError::Unreadable => {
            let message = "no record can be read; `tracemend check` reports why";
            Failure::new(Exit::Findings, message)
        }
        _ => Failure::usage(format!("only QEMU logs can be compared yet, not {format}")),
    }
}
