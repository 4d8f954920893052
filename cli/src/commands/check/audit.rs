//! `tracemend audit`: a check that looks for dangerous and private content instead of faults.

use std::path::PathBuf;

use clap::ArgMatches;
use tracemend::{AuditRequest, Concern, FormatId};

use super::format::{Wanted, WantedParser};
use super::parse_format;
use crate::args::limiting::Limiting;
use crate::files::streams::Streams;
use crate::kit::exit::{Exit, Failure, HELP};
use crate::kit::look::ColorChoice;
use crate::policy::fail_on::FailOn;

const ABOUT: &str = "\
For a recipient: characters that deceive, paths that leave the recording, faults that crash its \
readers, expansion bombs, bytes without a use, programs and archives. Private to the sender: names \
of hosts, users and processes, command lines, secrets, addresses of the kernel, memory, packets, \
keys, positions, random numbers, shaders, textures. One finding stands for all of a kind in a \
field. It is a help for a review, not a proof that nothing else is there.";

const EXAMPLES: &str = "\
Examples:
  tracemend audit perf.data
  tracemend audit perf.data --concern sender --show
  tracemend audit traces/ --format sarif -o audit.sarif

Exits with 0 if nothing was found that concerns a recipient, with 1 otherwise.";

/// List what a recording carries that endangers a recipient or is private to its sender
#[derive(Debug, clap::Args)]
#[command(before_help = ABOUT, after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// Files, directories, or patterns such as 'traces/**/*.data'; `-` reads standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// human (default), json (schema/check.schema.json), sarif, or another format of `check`;
    /// repeatable: all but one name a file
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = WantedParser,
        hide_possible_values = true)]
    format: Vec<Wanted>,
    /// Write the report to FILE, all of it or nothing
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Read every file as this format (see `tracemend formats`)
    #[arg(id = "type", long = "type", value_name = "NAME", value_parser = parse_format)]
    kind: Option<FormatId>,
    /// Show excerpts instead of their first and last character and their length
    #[arg(long)]
    show: bool,
    /// Look for one concern only: recipient or sender
    #[arg(long, value_name = "CONCERN", value_parser = parse_concern)]
    concern: Option<Concern>,
    #[command(flatten)]
    limiting: Limiting,
}

fn parse_concern(word: &str) -> Result<Concern, String> {
    word.parse()
}

impl Arguments {
    pub(crate) fn run(
        &self,
        matches: &ArgMatches,
        color: ColorChoice,
        streams: &mut Streams<'_>,
    ) -> Result<Exit, Failure> {
        let request = AuditRequest::default().with_shown(self.show).with_concern(self.concern);
        let arguments = super::Arguments {
            paths: self.paths.clone(),
            format: self.format.clone(),
            output: self.output.clone(),
            kind: self.kind,
            // Private content has the severity info.
            fail_on: Some(FailOn::Warning),
            no_config: true,
            limiting: self.limiting.clone(),
            audit: Some(request),
            ..super::Arguments::default()
        };
        arguments.run(matches, color, streams)
    }
}
