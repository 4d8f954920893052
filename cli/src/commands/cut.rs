//! `tracemend cut`: a part of a recording as a recording of its own.

use std::path::PathBuf;

use clap::ArgMatches;
use tracemend::words::{byte_count, plural};
use tracemend::{CutError, FileSet, Repair};

use crate::args::format_options::{FormatOptions, Verb};
use crate::args::limiting::Limiting;
use crate::commands::check::parse_format;
use crate::commands::redact::prove;
use crate::files::output::{Existing, Target};
use crate::files::paths::shown;
use crate::files::places::Places;
use crate::files::recording::Recording;
use crate::files::sandbox::Reach;
use crate::files::single::{open_arrived, recognise_one};
use crate::files::streams::Streams;
use crate::kit::command::quote;
use crate::kit::exit::{Exit, Failure, HELP};
use crate::show::summary::nouns;

const ABOUT: &str = "\
Writes the samples of an interval of a perf.data, with the records by which perf names them: \
processes, maps, namespaces, cgroups, programs of BPF and everything about the machine, up to the \
end of the interval. perf shows each of these samples as in the whole recording, but for one \
number: an event that is read with its group (:S) counts from the sample before, so the first \
sample of the part has all counts since the beginning. Compressed records are expanded. The source \
stays as it is. The output is checked, and gets its name only after it was read back and compared.";

const EXAMPLES: &str = "\
Examples:
  tracemend cut perf.data --time 1034.5..1036 -o part.data
  tracemend cut perf.data --range 0..100000 -o part.data
  tracemend dump perf.data                 shows the times of the samples
  tracemend dump perf.data --format jsonl  shows the numbers of the records

Exits with 0 if the part was written; with 4, without an output, if the recording has errors
(repair it first), hardware traces, or no sample in the interval.";

/// Write a part of a recording as a recording of its own
#[derive(Debug, clap::Args)]
#[command(before_help = ABOUT, after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// A file, a directory that is one recording, or `-` for standard input
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Write the part to OUT
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Replace an existing output
    #[arg(long)]
    force: bool,
    /// Read the file as this format (see `tracemend formats`)
    #[arg(id = "type", long = "type", value_name = "NAME", value_parser = parse_format)]
    kind: Option<tracemend::FormatId>,
    #[command(flatten)]
    limiting: Limiting,
}

impl Arguments {
    pub(crate) fn run(
        &self,
        matches: &ArgMatches,
        streams: &mut Streams<'_>,
    ) -> Result<Exit, Failure> {
        let given = FormatOptions::read(matches, Verb::Cut)?;
        if given.typed.is_empty() {
            return Err(Failure::usage("name the part: --time A..B or --range A..B"));
        }
        streams.confine(|| Reach::default().read(&self.path).write(&self.output))?;
        let limiting = &self.limiting;
        let recording =
            open_arrived(&self.path, &limiting.options(), limiting.is_unwrapping(), streams)?;
        let files = recording.file_set();
        let mut options = self.limiting.options();
        let format = recognise_one(&self.path, &files, self.kind, &options)?;
        options.format = Some(format);
        given.check_format(format)?;
        options.choices = given.choices;
        let mut places = Places::new(streams);
        places.read("the source", &recording)?;
        places.write("the output", &self.output)?;
        let existing = if self.force { Existing::Replaced } else { Existing::Kept };
        let target = Target::new(&self.output, &recording, existing)?;
        let part = tracemend::cut(&files, &options);
        recording.was_readable()?;
        let part = part.map_err(|error| refuse(&recording, &error))?;
        let output = part.output(&files);
        let proved = |back: &FileSet<'_>| prove(&part, &files, back, &options);
        let is_there = target.prepare(&recording, &output, proved)?.give_name()?;
        let name = shown(target.path());
        let told = if is_there { "already there, the same" } else { "written" };
        streams.print(&format!("{name}: {told}, {}\n", describe(&part, &output)))?;
        Ok(Exit::Clean)
    }
}

/// The size of a part: `120 of 3400 samples, 210 of 3490 records, 45678 bytes`.
fn describe(part: &Repair, output: &FileSet<'_>) -> String {
    let [record, sample] = nouns(part.before.format);
    let (before, after) = (&part.before.tally, &part.after.tally);
    let samples = plural(before.samples, sample);
    let records = plural(before.records, record);
    let bytes = byte_count(output.len());
    format!("{} of {samples}, {} of {records}, {bytes}", after.samples, after.records)
}

/// The failure of a recording that cannot be cut.
fn refuse(recording: &Recording, error: &CutError) -> Failure {
    let exit = match error {
        CutError::Limit(_) => Exit::Incomplete,
        _ => Exit::Unrepaired,
    };
    let failure = Failure::new(exit, format!("{}: {error}", shown(&recording.path)));
    match error {
        CutError::Damaged(_) => {
            let path = quote(&recording.path);
            failure.and(format!("repair it first: tracemend repair {path}"))
        }
        _ => failure,
    }
    .and("nothing was written")
}
