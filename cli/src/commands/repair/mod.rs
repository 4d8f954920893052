//! `tracemend repair`: a recording that its format's tools accept again, and what that took.

mod batch;
mod destination;

use std::fs::File;
use std::num::NonZeroUsize;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, ValueEnum};
use tracemend::json::EDIT_BYTES_MAX;
use tracemend::{Allow, FileSet, FormatId, Options, Outcome, Plan, Repair, Safety, Source, proof};

use crate::args::format_options::{FormatOptions, Verb};
use crate::args::limiting::Limiting;
use crate::commands::check::parse_format;
use crate::commands::formats::Format;
use crate::files::access::Readers;
use crate::files::in_use::{self, BeingWritten};
use crate::files::output::{Prepared, Target, TextFile};
use crate::files::paths::{is_stdin, shown};
use crate::files::places::Places;
use crate::files::recording::Recording;
use crate::files::sandbox::Reach;
use crate::files::single::{open_arrived, open_one};
use crate::files::streams::Streams;
use crate::files::walk;
use crate::kit::command::{LOSSY_WARNINGS, NextCommand, type_option};
use crate::kit::exit::{Exit, Failure, HELP};
use crate::kit::look::Look;
use crate::show::salvage::{Salvage, Written};
use destination::Destination;

const ABOUT: &str = "\
The source stays as it is unless --in-place replaces it. The output gets its name only after it \
was read back, compared with the source and the plan, and checked again. Without -o and --in-place \
it is NAME.mended beside the source. With -o, a clean recording gives an identical copy. A name \
that has this content already is left as it is.";

const EXAMPLES: &str = "\
Examples:
  tracemend repair perf.data                     writes perf.data.mended
  tracemend repair perf.data -o repaired.data --plan plan.json
  tracemend repair perf.data --in-place          keeps perf.data.orig
  tracemend repair perf.data --dry-run --safety exact
  tracemend repair a.data b.data                 writes a.data.mended and b.data.mended
  tracemend repair traces/ --out-dir repaired/   every recording, one report
  tracemend repair traces/ --in-place            every recording, each keeps NAME.orig
  zcat perf.data.gz | tracemend repair - -o - | perf script -i -";

/// Repair a recording, prove the result, and report what was kept, dropped and added
#[derive(Debug, clap::Args)]
#[command(before_help = ABOUT, after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// Files, directories that are one recording or have one in them, or `-` for standard input;
    /// with --out-dir, --in-place or --dry-run also directories with several recordings in them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Write the repaired recording to OUT, into OUT if that is a directory, or for `-` to standard
    /// output, with the report on standard error
    #[arg(short, long, value_name = "OUT", conflicts_with_all = ["in_place", "out_dir"])]
    output: Option<PathBuf>,
    /// Write every repaired recording below DIR, under its path in the directory that was named;
    /// one report about all of them
    #[arg(long, value_name = "DIR", conflicts_with = "in_place")]
    out_dir: Option<PathBuf>,
    /// Replace each source; keep the original as NAME.orig
    #[arg(long)]
    in_place: bool,
    /// With --in-place: do not keep NAME.orig
    #[arg(long, requires = "in_place")]
    no_backup: bool,
    /// Show what a repair would do; write only the plan, if --plan is given
    #[arg(long)]
    dry_run: bool,
    /// Write every edit to FILE, for `apply` and `verify` (schema/plan.schema.json)
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Format of the report: human or json (schema/repair.schema.json; of several recordings
    /// schema/repairs.schema.json)
    #[arg(long, value_enum, default_value_t = Format::Human, hide_possible_values = true)]
    format: Format,
    /// JSON: all bytes that the fixes of the findings insert; without it, edits of more than 64
    /// bytes have their length and CRC-32
    #[arg(long)]
    edits: bool,
    /// Allow fixes up to this class: `exact` writes values that other bytes determine, `synthetic`
    /// also adds what the format requires, `lossy` also drops or replaces recorded bytes
    #[arg(long, value_enum, default_value_t = SafetyArgument::Lossy, hide_possible_values = true)]
    safety: SafetyArgument,
    /// Also drop or replace recorded bytes to repair a warning
    #[arg(long)]
    lossy_warnings: bool,
    /// Write the output even if errors remain; still exits with 4
    #[arg(long)]
    partial: bool,
    /// Replace an existing output or plan
    #[arg(long)]
    force: bool,
    /// Directories: hard-link unchanged files instead of copying them
    #[arg(long)]
    link: bool,
    /// Read the file as this format (see `tracemend formats`)
    #[arg(id = "type", long = "type", value_name = "NAME", value_parser = parse_format)]
    kind: Option<FormatId>,
    /// Number of threads; does not change the result
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    limiting: Limiting,
}

/// Value of `--safety`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SafetyArgument {
    Exact,
    Synthetic,
    Lossy,
}

impl SafetyArgument {
    const fn allow(self) -> Allow {
        match self {
            Self::Exact => Allow::Exact,
            Self::Synthetic => Allow::Synthetic,
            Self::Lossy => Allow::Lossy,
        }
    }

    const fn safety(self) -> Safety {
        match self {
            Self::Exact => Safety::Exact,
            Self::Synthetic => Safety::Synthetic,
            Self::Lossy => Safety::Lossy,
        }
    }
}

/// A recording that is repaired, and what the repair needs besides.
struct Job<'a> {
    recording: &'a Recording,
    files: FileSet<'a>,
    donated: Option<Source<'a>>,
    options: Options,
    given: FormatOptions,
    /// Whether the user named the place of the output.
    is_named: bool,
    /// Whether it is the only one, so that an option that does not apply to it is an error.
    is_single: bool,
}

impl Arguments {
    pub(crate) fn run(
        &self,
        matches: &ArgMatches,
        streams: &mut Streams<'_>,
    ) -> Result<Exit, Failure> {
        let given = FormatOptions::read(matches, Verb::Repair)?;
        if self.edits && self.format != Format::Json {
            return Err(Failure::usage("--edits applies to --format json only"));
        }
        // Before files of the system can no longer be read.
        let jobs = self.jobs.or(std::thread::available_parallelism().ok());
        let destination = Destination::of(self);
        streams.confine(|| self.reach(&given, &destination))?;
        let is_one = !matches!(destination, Destination::Below(_) | Destination::Source { .. });
        let [path] = self.paths.as_slice() else {
            return batch::run(self, destination, given, jobs, streams);
        };
        if walk::is_walked(path) {
            if self.dry_run || !is_one {
                return batch::run(self, destination, given, jobs, streams);
            }
            let path = destination::sole_recording(path, self, streams)?;
            return self.run_one(&path, &destination, (given, jobs), streams);
        }
        if self.out_dir.is_some() {
            return batch::run(self, destination, given, jobs, streams);
        }
        self.run_one(path, &destination, (given, jobs), streams)
    }

    fn run_one(
        &self,
        path: &Path,
        destination: &Destination,
        (given, jobs): (FormatOptions, Option<NonZeroUsize>),
        streams: &mut Streams<'_>,
    ) -> Result<Exit, Failure> {
        let limiting = &self.limiting;
        let recording = open_arrived(path, &limiting.options(), limiting.is_unwrapping(), streams)?;
        if self.in_place {
            in_use::refuse_in_place(&recording)?;
        }
        let donor = given.donor.as_deref().map(|path| open_one(path, streams)).transpose()?;
        let mut places = Places::new(streams);
        places.read("the source", &recording)?;
        if let Some(donor) = &donor {
            places.read("the donor", donor)?;
        }
        let target = self.target(&recording, destination, &mut places, streams);
        // A name that was asked for is refused before the work; NAME.mended only if it is needed.
        let target = if *destination == Destination::Beside { target } else { Ok(target?) };
        let mut plan_file = self.plan_file(&recording, &mut places)?;
        let target = target.map(|target| target.restricted_by(donor.as_ref()));
        if let (Some(file), Some(donor), Some(path)) = (&mut plan_file, &donor, &self.plan) {
            file.restrict(Readers::of(donor, path));
        }
        let donated = donor.as_ref().map(|donor| donor.file_set().bytes(0));
        if self.link && !recording.directory {
            return Err(Failure::usage("--link applies to a recording that is a directory"));
        }
        let files = recording.file_set().with_donor(donated.clone());
        let mut options = self.options(&files, &given);
        options.jobs = jobs;
        if let Some(format) = options.format {
            given.check_format(format)?;
        }
        let is_named = destination.is_named();
        let recording = &recording;
        let job = Job { recording, files, donated, options, given, is_named, is_single: true };
        let links = self.describe_links(recording);
        let show = |salvage: &Salvage<'_>, output: Option<File>| {
            self.show(salvage, (output, links), streams)
        };
        let (printed, outcome) = self.repair(&job, || target, plan_file, show)?;
        printed.map(|()| exit_of(outcome))
    }

    /// Passes on what goes to standard output, and prints warnings and the report.
    fn show(
        &self,
        salvage: &Salvage<'_>,
        (output, links): (Option<File>, Option<String>),
        streams: &mut Streams<'_>,
    ) -> Result<(), Failure> {
        output.map_or(Ok(()), |output| streams.pass_on(output))?;
        let written = &salvage.written;
        if let Some(warning) = links.filter(|_| written.output.is_some()) {
            streams.warn(&warning);
        }
        if let (Some(lost), Some(output)) = (&written.lost, &written.output) {
            streams.warn(&format!("{output}: attributes that could not be kept: {lost}"));
        }
        match self.format {
            _ if self.output.as_deref().is_some_and(is_stdin) => {
                streams.report(&self.text(salvage, streams.look)?);
                Ok(())
            }
            Format::Human => streams.print(&salvage.human(streams.look)),
            Format::Json => streams.print_with(|out| salvage.write_json(out)),
        }
    }

    /// The files that the repair needs.
    fn reach(&self, given: &FormatOptions, destination: &Destination) -> Reach {
        let reach = Reach::default().read_all(self.paths.iter().chain(&given.donor));
        let reach = reach.write_all(&self.plan);
        if self.dry_run {
            return reach;
        }
        let reach = destination.reach(reach, &self.paths);
        match self.link {
            true => self.paths.iter().fold(reach, |reach, path| reach.link_from(path)),
            false => reach,
        }
    }

    /// The options of the library for a recording.
    fn options(&self, files: &FileSet<'_>, given: &FormatOptions) -> Options {
        let mut options = self.limiting.options();
        options.choices = given.choices.clone();
        options.allow = self.safety.allow();
        options.lossy_warnings = self.lossy_warnings;
        options.format = self.kind.or_else(|| tracemend::recognise(files, &options));
        options
    }

    /// Repairs, writes and proves one recording, and passes the report to `show`.
    fn repair<T>(
        &self,
        job: &Job<'_>,
        target: impl FnOnce() -> Result<Target, Failure>,
        plan_file: Option<TextFile>,
        show: impl FnOnce(&Salvage<'_>, Option<File>) -> T,
    ) -> Result<(T, Outcome), Failure> {
        let repair = tracemend::repair(&job.files, &job.options);
        job.recording.was_readable()?;
        if let Some(message) = job.given.find_misapplied(&repair.before).filter(|_| job.is_single) {
            return Err(Failure::usage(message));
        }
        let is_wanted = match repair.outcome {
            Outcome::Clean => job.is_named,
            Outcome::Repaired | Outcome::RepairedWithLoss => true,
            Outcome::CannotRepair | Outcome::Incomplete => self.partial && repair.changes(),
        };
        // A plan holds the dropped bytes in hexadecimal, so it is made only if it is wanted.
        let plan_file = plan_file.filter(|_| is_wanted || repair.outcome == Outcome::Clean);
        let plan = plan_file.as_ref().map(|_| {
            Plan::new(&repair, &job.files, &job.options.limits)
                .map_err(|error| Failure::new(Exit::Incomplete, error.to_string()))
        });
        let plan = plan.transpose()?;
        let mut salvage =
            Salvage::new(&job.recording.path, &repair, &job.files, self.next_command(job));
        salvage.allowed = self.safety.safety();
        salvage.dry_run = self.dry_run;
        salvage.partial = self.partial;
        salvage.edit_bytes = if self.edits { usize::MAX } else { EDIT_BYTES_MAX };
        salvage.being_written = BeingWritten::at_open(job.recording).is_some();
        let plan_file = write_plan(plan_file, plan.as_ref())?;
        let target = if is_wanted && !self.dry_run { Some(target()?) } else { None };
        let prepared = match &target {
            Some(target) => Some(self.prepare(job, target, &repair, plan.as_ref())?),
            None => None,
        };
        let lost = prepared.as_ref().map(|prepared| prepared.lost().to_vec());
        let is_there = prepared.as_ref().is_some_and(Prepared::is_there);
        let passed_on = self.publish(plan_file, prepared)?;
        if is_wanted || repair.outcome == Outcome::Clean {
            salvage.written.plan = self.plan.as_deref().map(shown);
        }
        salvage.written = Written {
            lost: lost.filter(|lost| !lost.is_empty()).map(|lost| lost.join(", ")),
            output: target.as_ref().map(|target| shown(target.path())),
            undo: target.as_ref().and_then(Target::undo),
            original: target.and_then(|target| target.backup()).as_deref().map(shown),
            is_there,
            ..salvage.written
        };
        Ok((show(&salvage, passed_on), repair.outcome))
    }

    /// The report in the format that was asked for.
    fn text(&self, salvage: &Salvage<'_>, look: Look) -> Result<String, Failure> {
        match self.format {
            Format::Human => Ok(salvage.human(look)),
            Format::Json => salvage.json_text().map(|text| text + "\n"),
        }
    }

    /// The command that goes on from here, with the options of this one.
    fn next_command(&self, job: &Job<'_>) -> NextCommand {
        let mut given = type_option(self.kind);
        given.extend(self.limiting.words());
        if self.safety != SafetyArgument::Lossy {
            given.push(format!("--safety {}", self.safety.safety()));
        }
        if self.lossy_warnings {
            given.push(LOSSY_WARNINGS.to_string());
        }
        given.extend(job.given.typed.iter().cloned());
        let path = &job.recording.path;
        let next = NextCommand::new(path, given).with_allowed(self.safety.safety());
        if job.is_single { next } else { next.among_others(path) }
    }

    /// Writes the output and proves it.
    fn prepare<'t>(
        &self,
        job: &Job<'_>,
        target: &'t Target,
        repair: &Repair,
        plan: Option<&Plan>,
    ) -> Result<Prepared<'t>, Failure> {
        let output = repair.output(&job.files);
        target.prepare(job.recording, &output, |back| {
            let back = back.clone().with_donor(job.donated.clone());
            prove_output(plan, repair, &job.options, &job.files, &back)
        })
    }

    /// Gives the plan its name, then the output: the plan holds the bytes that the output lacks.
    /// Returns what goes to standard output.
    fn publish(
        &self,
        plan: Option<TextFile>,
        output: Option<Prepared<'_>>,
    ) -> Result<Option<File>, Failure> {
        let written = plan.is_some().then(|| self.plan.as_deref().map(shown)).flatten();
        if let Some(plan) = plan {
            plan.publish().map_err(|failure| match &output {
                Some(_) => failure.and("no output was written"),
                None => failure,
            })?;
        }
        output.map_or(Ok(None), Prepared::publish).map_err(|failure| match written {
            Some(plan) => failure.and(format!("the plan {plan} was written")),
            None => failure,
        })
    }

    /// A warning about a source that has other names.
    fn describe_links(&self, recording: &Recording) -> Option<String> {
        let links = recording.files.iter().map(|file| file.metadata.nlink()).max()?;
        (self.in_place && links > 1).then(|| {
            let path = shown(&recording.path);
            format!("{path} has {links} hard links: the other names keep the damaged recording")
        })
    }

    /// Where the output goes.
    fn target(
        &self,
        recording: &Recording,
        destination: &Destination,
        places: &mut Places,
        streams: &mut Streams<'_>,
    ) -> Result<Target, Failure> {
        if *destination == Destination::Stream {
            return destination::stream(recording, streams);
        }
        let name = PathBuf::from(recording.path.file_name().unwrap_or_default());
        let place = destination.place(recording, &name, self.dry_run)?;
        if let Destination::Source { .. } = destination {
            let target = destination.target(recording, (&place, &name), self)?;
            if let Some(orig) = target.backup().filter(|orig| !orig.exists()) {
                places.write("the original", &orig)?;
            }
            return Ok(target);
        }
        places.write("the output", &place)?;
        let target = destination.target(recording, (&place, &name), self)?;
        Ok(target.linking(self.link))
    }

    /// The plan holds recorded bytes: it gets the permissions of the source.
    fn plan_file(
        &self,
        recording: &Recording,
        places: &mut Places,
    ) -> Result<Option<TextFile>, Failure> {
        let Some(path) = &self.plan else { return Ok(None) };
        places.write("the plan", path)?;
        let readers = Readers::of(recording, path);
        TextFile::create(path, self.force, readers).map(Some)
    }
}

/// The exit code of an outcome.
const fn exit_of(outcome: Outcome) -> Exit {
    match outcome {
        Outcome::Clean | Outcome::Repaired => Exit::Clean,
        Outcome::RepairedWithLoss => Exit::Loss,
        Outcome::CannotRepair => Exit::Unrepaired,
        Outcome::Incomplete => Exit::Incomplete,
    }
}

/// Writes the plan to its file.
fn write_plan(file: Option<TextFile>, plan: Option<&Plan>) -> Result<Option<TextFile>, Failure> {
    let (Some(mut file), Some(plan)) = (file, plan) else { return Ok(None) };
    let text = plan.to_json().map_err(|error| Failure::new(Exit::Io, error.to_string()))?;
    file.write(&text)?;
    Ok(Some(file))
}

/// Compares the output, read back, with source and plan, and checks it again.
fn prove_output(
    plan: Option<&Plan>,
    repair: &Repair,
    options: &Options,
    source: &FileSet<'_>,
    back: &FileSet<'_>,
) -> Result<(), Failure> {
    let proved = match plan {
        Some(plan) => proof::prove(plan, source, back),
        None => proof::prove_patches(&repair.patches, source, back),
    };
    proved.map_err(|error| {
        Failure::new(Exit::Io, format!("the output was not written as planned: {error}"))
    })?;
    let mut options = options.clone();
    options.format = repair.before.format;
    let after = tracemend::check(back, &options);
    if *after.counts() != repair.counts_of_output() {
        let message = "the output was not written: a second check gives other findings than the \
                       repair; the source may have changed";
        return Err(Failure::new(Exit::Io, message));
    }
    Ok(())
}
