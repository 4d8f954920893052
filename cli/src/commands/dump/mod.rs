//! `tracemend dump`: the records of a recording as text.

mod table;
mod timeline;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, ValueEnum};
use tracemend::{Dump, DumpError, Dumped, FileSet, FormatId, Options};

use crate::args::format_options::{FormatOptions, Verb};
use crate::args::limiting::Limiting;
use crate::commands::check::parse_format;
use crate::files::access::Readers;
use crate::files::output::{Pieces, TextFile};
use crate::files::paths::{ends_with_slash, shown};
use crate::files::places::Places;
use crate::files::recording::Recording;
use crate::files::sandbox::Reach;
use crate::files::single::{open_arrived, pick, recognise_one};
use crate::files::streams::Streams;
use crate::kit::exit::{Exit, Failure, HELP};
use crate::kit::figures::{count, size};
use crate::show::record::Lines;
use crate::show::summary::nouns;
use table::Tables;
use timeline::Timeline;

const EXAMPLES: &str = "\
Examples:
  tracemend dump Nexus10.run.revent
  tracemend dump Nexus10.run.revent --style evemu --device 2 -o touch.evemu
  tracemend dump boot.log --kind ASYNC --from-icount 1000000
  tracemend dump boot.log --style statistics
  tracemend dump perf.data --format csv --kind SAMPLE -o samples.csv
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
    /// text; jsonl: one object per record, one per line, with offset, length and kind; or csv: a
    /// table of one kind of record, or with -o DIR/ one file per kind; lists are JSON in a cell
    #[arg(long, value_enum, default_value_t = Form::Text, hide_possible_values = true)]
    format: Form,
    /// In jsonl: numbers as JSON numbers, or each as a string of its digits, since most readers of
    /// JSON lose digits of integers above 2^53: number or string
    #[arg(long, value_enum, default_value_t = Numbers::Number, hide_possible_values = true)]
    numbers: Numbers,
    /// Style of a text, the first one of the format if it is not given
    #[arg(long, value_name = "STYLE")]
    style: Option<String>,
    /// Write to FILE, all of it or nothing; for csv also a directory
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
    Csv,
}

/// Value of `--numbers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Numbers {
    Number,
    String,
}

/// A recording that is dumped.
struct Job<'a> {
    name: &'a str,
    recording: &'a Recording,
    files: FileSet<'a>,
    options: Options,
    format: FormatId,
}

/// The styles of all formats, one per line.
fn list_styles() -> String {
    let mut text = "Styles:".to_string();
    for format in FormatId::ALL {
        for (style, meaning) in format.dump_styles() {
            text += &format!("\n  {format}: {style:14} {meaning}");
        }
    }
    text + &format!("\n  all: {:14} {}", timeline::STYLE, timeline::MEANING)
}

impl Arguments {
    pub(crate) fn run(
        &self,
        matches: &ArgMatches,
        streams: &mut Streams<'_>,
    ) -> Result<Exit, Failure> {
        let given = FormatOptions::read(matches, Verb::Dump)?;
        let request = self.request()?;
        streams.confine(|| {
            let reach = Reach::default().read(&self.path);
            match self.output.as_deref().filter(|path| self.is_folder(path)) {
                Some(folder) => reach.write_below(folder),
                None => reach.write_all(&self.output),
            }
        })?;
        let limiting = &self.limiting;
        let recording =
            open_arrived(&self.path, &limiting.options(), limiting.is_unwrapping(), streams)?;
        let files = recording.file_set();
        let name = shown(&self.path);
        let mut options = self.limiting.options();
        let format = recognise_one(&self.path, &files, self.kind, &options)?;
        options.format = Some(format);
        given.check_format(format)?;
        options.choices = given.choices;
        let files = pick(files, &options)?;
        let mut places = Places::new(streams);
        places.read("the source", &recording)?;
        let job = Job { name: &name, recording: &recording, files, options, format };
        let dumped = match self.format {
            Form::Csv => self.write_tables(&job, &request, places, streams)?,
            _ => self.write_lines(&job, &request, places, streams)?,
        };
        recording.unchanged()?;
        if dumped.left_out == 0 {
            return Ok(Exit::Clean);
        }
        let [record, _] = nouns(Some(format));
        let (records, left) = (count(dumped.records, record), size(dumped.left_out));
        streams.warn(&format!(
            "{name}: {records} written, {left} left out; `tracemend check` reports why"
        ));
        Ok(Exit::Findings)
    }

    /// Whether tables go to files below this path.
    fn is_folder(&self, path: &Path) -> bool {
        self.format == Form::Csv && (path.is_dir() || ends_with_slash(path))
    }

    /// The file of `-o`.
    fn output(&self, job: &Job<'_>, places: &mut Places) -> Result<Option<TextFile>, Failure> {
        match &self.output {
            Some(path) if !job.format.dump_styles().is_empty() => {
                places.write("the output", path)?;
                TextFile::create(path, true, Readers::of(job.recording, path)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Writes text, events of a timeline, or lines of JSON.
    fn write_lines(
        &self,
        job: &Job<'_>,
        request: &Dump,
        mut places: Places,
        streams: &mut Streams<'_>,
    ) -> Result<Dumped, Failure> {
        let file = self.output(job, &mut places)?;
        let mut out = Pieces::new(streams, file);
        let dumped = match self.numbers {
            _ if self.is_timeline() => {
                let mut timeline = Timeline::new(job.format.clock());
                let dumped = job.each_line(request, |line| out.push(&timeline.add(line)?))?;
                out.push(timeline.end())?;
                dumped
            }
            Numbers::Number => job.dump(request, |piece| Ok(out.add(piece)))?,
            Numbers::String => job.each_line(request, |line| {
                out.push(&(table::with_numbers_as_strings(line) + "\n"))
            })?,
        };
        out.close().map(|()| dumped)
    }

    /// Whether the records are written as events; only a text has a style.
    fn is_timeline(&self) -> bool {
        self.style.as_deref() == Some(timeline::STYLE)
    }

    /// Writes one table, or one for each kind.
    fn write_tables(
        &self,
        job: &Job<'_>,
        request: &Dump,
        mut places: Places,
        streams: &mut Streams<'_>,
    ) -> Result<Dumped, Failure> {
        let mut tables = Tables::default();
        job.each_line(request, |line| tables.learn(line))?;
        let Some(folder) = self.output.as_deref().filter(|path| self.is_folder(path)) else {
            tables.refuse_several()?;
            let file = self.output(job, &mut places)?;
            let mut out = Pieces::new(streams, file);
            tables.heads()?.iter().try_for_each(|(_, head)| out.push(head))?;
            let dumped = job.each_line(request, |line| out.push(&tables.row(line)?.1))?;
            return out.close().map(|()| dumped);
        };
        if !folder.is_dir() {
            let made = Readers::around(&self.path, folder).create_folder(folder);
            made.map_err(|error| Failure::io(shown(folder), &error))?;
        }
        let mut files: BTreeMap<String, TextFile> = BTreeMap::new();
        for (kind, head) in tables.heads()? {
            let path = folder.join(table::file_name(kind));
            places.write("a table", &path)?;
            let mut file = TextFile::create(&path, true, Readers::of(job.recording, &path))?;
            file.write(&head)?;
            files.insert(kind.to_string(), file);
        }
        let dumped = job.each_line(request, |line| {
            let (kind, row) = tables.row(line)?;
            files.get_mut(&kind).map_or(Ok(()), |file| file.write(&row))
        })?;
        files.into_values().try_for_each(TextFile::publish)?;
        Ok(dumped)
    }

    fn request(&self) -> Result<Dump, Failure> {
        if self.numbers == Numbers::String && self.format != Form::Jsonl {
            return Err(Failure::usage("--numbers applies to --format jsonl"));
        }
        match (self.format, &self.style) {
            (Form::Text, Some(_)) if self.is_timeline() => Ok(Dump::JsonLines),
            (Form::Text, style) => Ok(Dump::Text { style: style.clone() }),
            (Form::Jsonl | Form::Csv, None) => Ok(Dump::JsonLines),
            (Form::Jsonl | Form::Csv, Some(_)) => {
                Err(Failure::usage("--style does not apply to --format jsonl or csv"))
            }
        }
    }
}

impl Job<'_> {
    /// Passes on every piece of a dump, until `out` wants no more or fails.
    fn dump(
        &self,
        request: &Dump,
        mut out: impl FnMut(&str) -> Result<bool, Failure>,
    ) -> Result<Dumped, Failure> {
        let mut failure = None;
        let dumped = tracemend::dump(&self.files, &self.options, request, &mut |piece| {
            out(piece).unwrap_or_else(|error| {
                failure = Some(error);
                false
            })
        });
        match failure {
            Some(failure) => Err(failure),
            None => dumped.map_err(|error| describe_failure(self.name, self.format, error)),
        }
    }

    fn each_line(
        &self,
        request: &Dump,
        mut each: impl FnMut(&str) -> Result<(), Failure>,
    ) -> Result<Dumped, Failure> {
        let mut lines = Lines::default();
        self.dump(request, |piece| lines.add(piece, &mut each).map(|()| true))
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
        DumpError::Limit(limit) => Failure::new(Exit::Incomplete, format!("{name}: {limit}")),
        DumpError::Unreadable => {
            let message = format!("{name}: no record can be read; `tracemend check` reports why");
            Failure::new(Exit::Findings, message)
        }
        _ => Failure::usage(format!("{name}: a recording of {format} cannot be dumped yet")),
    }
}
