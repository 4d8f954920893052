//! `tracemend diff`: the first records in which two recordings differ.

use std::path::PathBuf;

use clap::{ArgMatches, ValueEnum};
use tracemend::{DumpError, FormatId};

use crate::args::format_options::{FormatOptions, Verb};
use crate::args::limiting::Limiting;
use crate::commands::check::parse_format;
use crate::files::paths::shown;
use crate::files::sandbox::Reach;
use crate::files::single::{open_arrived, recognise_one};
use crate::files::streams::Streams;
use crate::kit::exit::{Exit, Failure, HELP};
use crate::kit::figures::size;
use crate::show::difference::Pair;

const EXAMPLES: &str = "\
Examples:
  tracemend diff night.data night.mended.data
  tracemend diff boot.log again.log
  tracemend diff boot.log repaired.log --qemu-version 7.2
  tracemend diff trace/ other/ --format json | jq -c '.differences[].fields'

Exits with 0 if the recordings are equal, with 1 if they differ.";

const ABOUT: &str = "\
The records are those of `dump`, compared in their order. Up to three places are shown: the first \
record that differs in nothing but clocks, ids and addresses, which differ between two runs of one \
program; the first that differs in another field; and the first of another kind. Each with number, \
offset, time or instructions before it, thread or device, kind, and the fields that differ; `-` \
begins the line of the first recording, `+` that of the second. If one of them lacks up to 63 \
records and both agree after these, their number is shown. If all records are equal, the bytes \
that `dump` does not show are compared.";

/// Show the first records in which two recordings differ, and in which fields
#[derive(Debug, clap::Args)]
#[command(before_help = ABOUT, after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// A recording
    #[arg(value_name = "FIRST")]
    first: PathBuf,
    /// The recording that it is compared with
    #[arg(value_name = "SECOND")]
    second: PathBuf,
    /// text or json (schema/diff.schema.json)
    #[arg(long, value_enum, default_value_t = Form::Text, hide_possible_values = true)]
    format: Form,
    /// Read the files as this format (see `tracemend formats`)
    #[arg(id = "type", long = "type", value_name = "NAME", value_parser = parse_format)]
    kind: Option<FormatId>,
    #[command(flatten)]
    limiting: Limiting,
}

/// Value of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Json,
}

impl Arguments {
    pub(crate) fn run(
        &self,
        matches: &ArgMatches,
        streams: &mut Streams<'_>,
    ) -> Result<Exit, Failure> {
        let given = FormatOptions::read(matches, Verb::Diff)?;
        streams.confine(|| Reach::default().read_all([&self.first, &self.second]))?;
        let mut options = self.limiting.options();
        let is_unwrapped = self.limiting.is_unwrapping();
        let first = open_arrived(&self.first, &options, is_unwrapped, streams)?;
        let second = open_arrived(&self.second, &options, is_unwrapped, streams)?;
        let (one, two) = (first.file_set(), second.file_set());
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
        let compared = tracemend::diff(&one, &two, &options);
        let compared = compared.map_err(|error| describe_failure(format, error))?;
        let names = [shown(&self.first), shown(&self.second)];
        let pair = Pair { format, names: [&names[0], &names[1]] };
        let text = match self.format {
            Form::Text => pair.text(&compared),
            Form::Json => pair.json(&compared)?,
        };
        streams.print(&text)?;
        for (name, left) in names.iter().zip(compared.left_out).filter(|(_, left)| *left > 0) {
            streams.warn(&format!(
                "{name}: {} up to here cannot be read and were left out; `tracemend check` reports \
                 why",
                size(left)
            ));
        }
        first.unchanged()?;
        second.unchanged()?;
        Ok(if compared.is_different() { Exit::Findings } else { Exit::Clean })
    }
}

fn describe_failure(format: FormatId, error: DumpError) -> Failure {
    match error {
        DumpError::Unreadable => {
            let message = "no record can be read; `tracemend check` reports why";
            Failure::new(Exit::Findings, message)
        }
        DumpError::Choice(reason) | DumpError::Limit(reason) => {
            Failure::new(Exit::Incomplete, reason)
        }
        _ => Failure::usage(format!("recordings of {format} cannot be compared yet")),
    }
}
