//! `tracemend dump`: the records of a recording as text.

use std::path::PathBuf;

use clap::{ArgMatches, ValueEnum};
use tracemend::words::{byte_count, plural};
use tracemend::{Dump, DumpError, FormatId};

use crate::args::format_options::{FormatOptions, Verb};
use crate::args::limiting::Limiting;
use crate::commands::check::parse_format;
use crate::files::access::Readers;
use crate::files::output::{Pieces, TextFile};
use crate::files::paths::shown;
use crate::files::places::Places;
use crate::files::sandbox::Reach;
use crate::files::single::{open_arrived, recognise_one};
use crate::files::streams::Streams;
use crate::kit::exit::{Exit, Failure, HELP};
use crate::show::summary::nouns;

const EXAMPLES: &str = "\
Examples:
  tracemend dump Nexus10.run.revent
  tracemend dump Nexus10.run.revent --style evemu --device 2 -o touch.evemu
  tracemend dump boot.log --kind ASYNC --from-icount 1000000
  tracemend dump boot.log --style statistics
  tracemend dump Nexus10.run.revent --format jsonl | jq -c 'select(.code_name == \"BTN_TOUCH\")'

Exits with 0 if every record was written, with 1 if parts of the recording cannot be read
(`tracemend check` reports why), with 2 if the format has no dump.";

const ABOUT: &str = "\
If the recording is damaged, the readable records are written. Text from the recording is escaped. \
Nothing is held in memory, so the recording may be of any size.";

/// Print the records of a recording as text, in the style of other tools, or as lines of JSON
#[derive(Debug, clap::Args)]
#[command(before_help = ABOUT, after_help = format!("{EXAMPLES}\n\n{}\n\n{HELP}", list_styles()))]
pub(crate) struct Arguments {
    /// A file, a directory that is one recording, or `-` for standard input
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// text, or jsonl: one object per record, one per line, with offset, length and kind
    #[arg(long, value_enum, default_value_t = Form::Text, hide_possible_values = true)]
    format: Form,
    /// Style of a text, the first one of the format if it is not given
    #[arg(long, value_name = "STYLE")]
    style: Option<String>,
    /// Write to FILE, all of it or nothing
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Read the file as this format (see `tracemend formats`)
    #[arg(id = "type", long = "type", value_name = "NAME", value_parser = parse_format)]
    kind: Option<FormatId>,
    #[command(flatten)]
    limiting: Limiting,
}

/// Value of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Jsonl,
}

/// The styles of all formats, one per line.
fn list_styles() -> String {
    let mut text = "Styles:".to_string();
    for format in FormatId::ALL {
        for (style, meaning) in format.dump_styles() {
            text += &format!("\n  {format}: {style:14} {meaning}");
        }
    }
    text
}

impl Arguments {
    pub(crate) fn run(
        &self,
        matches: &ArgMatches,
        streams: &mut Streams<'_>,
    ) -> Result<Exit, Failure> {
        let given = FormatOptions::read(matches, Verb::Dump)?;
        let request = self.request()?;
        streams.confine(|| Reach::default().read(&self.path).write_all(&self.output))?;
        let recording = open_arrived(&self.path, self.limiting.unwrapping().as_ref(), streams)?;
        let files = recording.file_set();
        let name = shown(&self.path);
        let mut options = self.limiting.options();
        let format = recognise_one(&self.path, &files, self.kind, &options)?;
        options.format = Some(format);
        given.check_format(format)?;
        options.choices = given.choices;
        let mut places = Places::new(streams);
        places.read("the source", &recording)?;
        let file = match &self.output {
            Some(path) if !format.dump_styles().is_empty() => {
                places.write("the output", path)?;
                Some(TextFile::create(path, true, Readers::of(&recording, path))?)
            }
            _ => None,
        };
        let mut out = Pieces::new(streams, file);
        let dumped = tracemend::dump(&files, &options, &request, &mut |piece| out.add(piece));
        let dumped = dumped.map_err(|error| describe_failure(&name, format, error))?;
        out.close()?;
        recording.unchanged()?;
        if dumped.left_out == 0 {
            return Ok(Exit::Clean);
        }
        let [record, _] = nouns(Some(format));
        let (records, left) = (plural(dumped.records, record), byte_count(dumped.left_out));
        out.streams.warn(&format!(
            "{name}: {records} written, {left} left out; `tracemend check` reports why"
        ));
        Ok(Exit::Findings)
    }

    fn request(&self) -> Result<Dump, Failure> {
        match (self.format, &self.style) {
            (Form::Text, style) => Ok(Dump::Text { style: style.clone() }),
            (Form::Jsonl, None) => Ok(Dump::JsonLines),
            (Form::Jsonl, Some(_)) => {
                Err(Failure::usage("--style does not apply to --format jsonl"))
            }
        }
    }
}

fn describe_failure(name: &str, format: FormatId, error: DumpError) -> Failure {
    let styles: Vec<&str> = format.dump_styles().iter().map(|(style, _)| *style).collect();
    match error {
        DumpError::Style(_) => {
            let message = format!("unknown style, expected one of {}", styles.join(", "));
            Failure::usage(message)
        }
        DumpError::Choice(reason) => Failure::usage(format!("{name}: {reason}")),
        DumpError::Unreadable => {
            let message = format!("{name}: no record can be read; `tracemend check` reports why");
            Failure::new(Exit::Findings, message)
        }
        _ => Failure::usage(format!("{name}: {format} recordings cannot be dumped yet")),
    }
}
