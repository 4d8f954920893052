//! `tracemend dump`: the records of a recording as text.

use std::path::PathBuf;

use tracemend::{Dump, DumpError, Dumped, FormatId};
use tracemend::{FileSet, Options};

use crate::check::format_name;
use crate::exit::{Exit, Failure, HELP};
use crate::human::{bytes, nouns, plural};
use crate::input::shown;
use crate::output::TextFile;
use crate::repair::open_one;
use crate::streams::Streams;

/// Text that is gathered before it is written.
const PIECE: usize = 64 << 10;

const EXAMPLES: &str = "\
Examples:
  tracemend dump Nexus10.run.revent
  tracemend dump Nexus10.run.revent --style evemu --device 2 -o touch.evemu

Exits with 0 if every record was written, with 1 if bytes of the recording could not be (`tracemend
check` says why), with 2 if the format has no dump.";

/// Write the records of a recording as text, in the form of tools that do something with it
///
/// A damaged recording gives what can be read of it. Text from the recording is escaped; nothing is
/// held in memory, so that the recording may be of any size.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{}\n\n{HELP}", styles()))]
pub(crate) struct Arguments {
    /// A file, a directory that is one recording, or `-` for standard input
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// How records are written; the format's first style if it is not said
    #[arg(long, value_name = "STYLE")]
    style: Option<String>,
    /// Only the records of the device of this number, from 0
    #[arg(long, value_name = "N")]
    device: Option<u64>,
    /// Write to FILE in place of standard output; it appears whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Take the file for a recording of this format
    #[arg(long = "type", value_name = "NAME", value_parser = format_name)]
    kind: Option<FormatId>,
}

/// The styles of all formats, a line each.
fn styles() -> String {
    let mut text = "Styles:".to_string();
    for format in FormatId::ALL {
        for (style, what) in format.dump_styles() {
            text += &format!("\n  {}: {style:14} {what}", format.name());
        }
    }
    text
}

/// Where the text goes.
struct Out<'o, 's> {
    streams: &'o mut Streams<'s>,
    file: Option<TextFile>,
    text: String,
    failure: Option<Failure>,
}

impl Out<'_, '_> {
    /// Takes a piece; false if there is no use in more.
    fn take(&mut self, piece: &str) -> bool {
        self.text += piece;
        if self.text.len() >= PIECE {
            self.write();
        }
        self.failure.is_none()
    }

    fn write(&mut self) {
        let text = std::mem::take(&mut self.text);
        let written = match &mut self.file {
            Some(file) => file.write(&text),
            None => self.streams.print(&text),
        };
        self.failure = self.failure.take().or(written.err());
    }
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let recording = open_one(&self.path, streams)?;
        let files = recording.file_set();
        let name = shown(&self.path);
        let mut options = Options::default();
        options.format = self.kind.or_else(|| tracemend::recognise(&files, &options));
        let Some(format) = options.format else {
            let why = if files.is_empty() { "it is empty" } else { "no format recognises it" };
            return Err(Failure::new(Exit::Findings, format!("{name}: {why}")));
        };
        let inputs = std::slice::from_ref(&self.path);
        let file = match &self.output {
            Some(path) if !format.dump_styles().is_empty() => {
                Some(TextFile::create(path, inputs, true, 0o666)?)
            }
            _ => None,
        };
        let mut out = Out { streams, file, text: String::new(), failure: None };
        let dumped = self.dump(&options, &files, &mut out);
        let dumped = dumped.map_err(|error| failed(&name, format, error))?;
        out.write();
        if let Some(failure) = out.failure {
            return Err(failure);
        }
        if let Some(file) = out.file {
            file.publish()?;
        }
        recording.unchanged()?;
        if dumped.left_out == 0 {
            return Ok(Exit::Clean);
        }
        let [record, _] = nouns(Some(format));
        let (records, left) = (plural(dumped.records, record), bytes(dumped.left_out));
        out.streams.say(&format!(
            "{name}: {records} written, {left} left out; `tracemend check` says why"
        ));
        Ok(Exit::Findings)
    }

    fn dump(
        &self,
        options: &Options,
        files: &FileSet<'_>,
        out: &mut Out<'_, '_>,
    ) -> Result<Dumped, DumpError> {
        let request = Dump { style: self.style.clone(), device: self.device };
        tracemend::dump(files, options, &request, &mut |piece| out.take(piece))
    }
}

fn failed(name: &str, format: FormatId, error: DumpError) -> Failure {
    let styles: Vec<&str> = format.dump_styles().iter().map(|(style, _)| *style).collect();
    match error {
        DumpError::Style(_) => {
            let message = format!("the styles of {} are: {}", format.name(), styles.join(", "));
            Failure::usage(message)
        }
        DumpError::Choice(why) => Failure::usage(format!("{name}: {why}")),
        DumpError::Unreadable => {
            let message = format!("{name}: nothing of it can be read; `tracemend check` says why");
            Failure::new(Exit::Findings, message)
        }
        _ => Failure::usage(format!("{name}: the format {} has no dump yet", format.name())),
    }
}
