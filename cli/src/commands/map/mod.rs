//! `tracemend map`: every byte of a recording, accounted for.

mod bar;
mod html;
mod json;
mod text;

use std::path::PathBuf;

use clap::{ArgMatches, ValueEnum};
use tracemend::{FileSet, FormatId, Layer, MapStep, Options, Untrusted};

use crate::args::format_options::{FormatOptions, Verb};
use crate::args::limiting::Limiting;
use crate::commands::check::parse_format;
use crate::files::access::Readers;
use crate::files::output::{Pieces, TextFile};
use crate::files::paths::shown;
use crate::files::places::Places;
use crate::files::sandbox::Reach;
use crate::files::single::{open_arrived, pick, recognise_one, within_steps};
use crate::files::streams::Streams;
use crate::kit::exit::{Exit, Failure, HELP};
use crate::show::picture;

/// Levels of a document in JSON or HTML, unless `--depth` asks for others.
const DEPTH_DOCUMENT: usize = 3;
/// Files that a message about a wrong `--file` lists.
const NAMES_SHOWN: usize = 8;

const EXAMPLES: &str = "\
Examples:
  tracemend map perf.data
  tracemend map perf.data --depth 3
  tracemend map perf.data --at 0x30
  tracemend map perf.data --format json -o map.json
  tracemend map perf.data --format html -o map.html
  tracemend map perf.data --format svg -o map.svg

Exits with 0 if the recording was mapped, with 1 if no format recognises it.";

const ABOUT: &str = "\
The regions of a level adjoin and cover their parent exactly: their lengths add up to the length \
of each file. Bytes without a use are regions, too, and the map says whether they are 0. Names and \
values come from the decoders of `check`. Text from the recording is escaped. Memory does not grow \
with the length of the recording.";

/// Show what every byte of a recording is: sections, records, fields, gaps and damage
#[derive(Debug, clap::Args)]
#[command(before_help = ABOUT, after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// A file, a directory that is one recording, or `-` for standard input
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// text, json (one document, schema/map.schema.json), svg (a picture: bytes, records by time,
    /// and what a repair makes of them) or html (one page without a script, with the picture and
    /// the findings of a check)
    #[arg(long, value_enum, default_value_t = Form::Text, hide_possible_values = true)]
    format: Form,
    /// Levels to show: 1 for sections and groups of records, 2 for records, 3 for fields, more for
    /// the fields of fields [default: 1, in JSON and HTML 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    depth: Option<u8>,
    /// Show only the regions that contain the byte at this offset, such as 4096 or 0x1000
    #[arg(long, value_name = "OFFSET", value_parser = parse_offset)]
    at: Option<u64>,
    /// File of the recording that --at counts in, for a directory
    #[arg(long, value_name = "NAME", requires = "at")]
    file: Option<String>,
    /// Count --at in the bytes that the file expands to
    #[arg(long, requires = "at")]
    expanded: bool,
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
    Json,
    Html,
    Svg,
}

/// An offset, decimal or hexadecimal after `0x`.
fn parse_offset(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "expected an offset such as 4096 or 0x1000".to_string())
}

impl Arguments {
    pub(crate) fn run(
        &self,
        matches: &ArgMatches,
        streams: &mut Streams<'_>,
    ) -> Result<Exit, Failure> {
        let given = FormatOptions::read(matches, Verb::Map)?;
        // Before files of the system can no longer be read.
        if self.format == Form::Svg && self.depth.is_some() {
            return Err(Failure::usage("--depth does not apply to --format svg"));
        }
        let jobs = std::thread::available_parallelism().ok();
        streams.confine(|| Reach::default().read(&self.path).write_all(&self.output))?;
        let limiting = &self.limiting;
        let recording =
            open_arrived(&self.path, &limiting.options(), limiting.is_unwrapping(), streams)?;
        let files = recording.file_set();
        let name = shown(&self.path);
        let mut options = self.limiting.options();
        let format = recognise_one(&self.path, &files, self.kind, &options)?;
        options.format = Some(format);
        options.jobs = jobs;
        given.check_format(format)?;
        options.choices = given.choices;
        let files = pick(files, &options)?;
        let mut places = Places::new(streams);
        places.read("the source", &recording)?;
        let file = match &self.output {
            Some(path) => {
                places.write("the output", path)?;
                Some(TextFile::create(path, true, Readers::of(&recording, path))?)
            }
            None => None,
        };
        let look = streams.look;
        let mut out = Pieces::new(streams, file);
        match self.at {
            Some(at) => {
                let layer = self.layer(&files)?;
                let locate = || tracemend::locate(&files, &options, layer, at);
                let path = within_steps(&name, &options, locate)?;
                if path.is_empty() {
                    return Err(Failure::usage(format!("{name}: no byte at {at:#x}")));
                }
                let text = match self.format {
                    Form::Text => text::path(&path),
                    Form::Json => json::path(&name, format, &path)?,
                    Form::Html | Form::Svg => {
                        return Err(Failure::usage("--at applies to --format text and json only"));
                    }
                };
                out.add(&text);
            }
            None => within_steps(&name, &options, || {
                self.map((&name, format), (&files, &options), &mut out, look.unicode)
            })??,
        }
        out.close()?;
        recording.unchanged()?;
        Ok(Exit::Clean)
    }

    fn map(
        &self,
        (name, format): (&str, FormatId),
        (files, options): (&FileSet<'_>, &Options),
        out: &mut Pieces<'_, '_>,
        is_unicode: bool,
    ) -> Result<(), Failure> {
        let default = if self.format == Form::Text { 1 } else { DEPTH_DOCUMENT };
        let depth = self.depth.map_or(default, usize::from);
        let mut failed = None;
        match self.format {
            Form::Text => {
                let mut writer = text::Writer::new(is_unicode);
                out.add(&text::head(name, format, files));
                let each = &mut |step: MapStep<'_>| {
                    out.add(&writer.step(step));
                };
                tracemend::map(files, options, depth, each);
                out.add(&writer.finish(files));
            }
            Form::Html => {
                let repair = tracemend::repair(files, options);
                let drawn = picture::draw_recording(name, format, (files, options), &repair);
                let report = repair.before;
                out.add(&html::head((name, format), files, &report, &drawn));
                let mut writer = html::Writer::new(files);
                let each = &mut |step: MapStep<'_>| {
                    out.add(&writer.step(step));
                };
                tracemend::map(files, options, depth, each);
                out.add(&writer.finish(&report));
            }
            Form::Svg => {
                let repair = tracemend::repair(files, options);
                let drawn = picture::draw_recording(name, format, (files, options), &repair);
                out.add(&picture::alone(&drawn));
            }
            Form::Json => {
                out.add(&json::head(name, format)?);
                for is_expanded in [false, true] {
                    let mut writer = json::Writer::new(is_expanded);
                    let each = &mut |step: MapStep<'_>| match writer.step(step) {
                        Ok(piece) => {
                            out.add(&piece);
                        }
                        Err(failure) => failed = Some(failure),
                    };
                    tracemend::map(files, options, depth, each);
                    out.add(writer.end_layer());
                    out.add(if is_expanded { "]\n}]}\n" } else { "],\n\"layers\": [" });
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// The layer that `--at` counts in.
    fn layer(&self, files: &FileSet<'_>) -> Result<Layer, Failure> {
        let index = match &self.file {
            None => Some(0),
            Some(name) => {
                let mut files = (0_u32..).zip(files.files());
                files.find(|(_, file)| file.name == *name).map(|(index, _)| index)
            }
        };
        let index = index.ok_or_else(|| {
            let shown = |file: &tracemend::File<'_>| Untrusted(file.name.as_bytes()).to_string();
            let names: Vec<String> = files.files().iter().take(NAMES_SHOWN).map(shown).collect();
            Failure::usage(format!("--file: the recording has {}", names.join(", ")))
        })?;
        let layer = Layer::stored(index);
        Ok(if self.expanded { layer.expanded() } else { layer })
    }
}
