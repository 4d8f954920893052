//! `tracemend repair`: a recording that is whole again, and what that took.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use clap::ValueEnum;
use tracemend::{Allow, Plan, PlanError, proof};
use tracemend::{FileSet, Options, Outcome, Repair};

use crate::check::format_name;
use crate::exit::{Exit, Failure, HELP};
use crate::formats::Format;
use crate::input::{self, Found, Recording, shown};
use crate::output::{Existing, Target, TextFile, beside};
use crate::salvage::Salvage;
use crate::streams::Streams;

const EXAMPLES: &str = "\
Examples:
  tracemend repair perf.data                     writes perf.data.mended
  tracemend repair perf.data -o mended.data --plan plan.json
  tracemend repair perf.data --in-place          keeps perf.data.orig
  tracemend repair perf.data --dry-run --safety exact";

/// Mend a recording, prove the result, and say what was kept, dropped and added
///
/// Without -o and --in-place the output is NAME.mended beside the source. Nothing appears under the
/// output's name before it was read back, compared with source and plan, and checked again. A sound
/// recording needs nothing: -o then gets an identical copy.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// A file, a directory that is one recording, or `-` for standard input
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Where the mended recording goes
    #[arg(short, long, value_name = "OUT", conflicts_with = "in_place")]
    output: Option<PathBuf>,
    /// Put the mended recording where the source is, and keep the source as NAME.orig
    #[arg(long)]
    in_place: bool,
    /// Write no recording; say what would be done (--plan FILE is still written)
    #[arg(long)]
    dry_run: bool,
    /// Write what was done, byte for byte, for `apply` and `verify` (schema/plan.schema.json)
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// How the report is written
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Apply fixes that are at least this safe: `exact` writes what other bytes determine,
    /// `synthetic` also adds what the format demands, `lossy` also drops recorded bytes
    #[arg(long, value_enum, default_value_t = AtLeast::Lossy)]
    safety: AtLeast,
    /// Write the fixes that apply even if errors are left; the exit code stays 4
    #[arg(long)]
    partial: bool,
    /// Replace an existing OUT, or plan
    #[arg(long)]
    force: bool,
    /// Of a directory: give files that stay as they are a second name (a hard link) in place of a copy
    #[arg(long)]
    link: bool,
    /// Threads that work side by side; the result is the same with any number
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// With --in-place: keep no NAME.orig
    #[arg(long, requires = "in_place")]
    no_backup: bool,
    /// Take the file for a recording of this format
    #[arg(long = "type", value_name = "NAME", value_parser = format_name)]
    kind: Option<tracemend::FormatId>,
    #[command(flatten)]
    choices: crate::choices::ChoiceArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AtLeast {
    Exact,
    Synthetic,
    Lossy,
}

impl From<AtLeast> for Allow {
    fn from(least: AtLeast) -> Self {
        match least {
            AtLeast::Exact => Self::Exact,
            AtLeast::Synthetic => Self::Synthetic,
            AtLeast::Lossy => Self::Lossy,
        }
    }
}

/// The one recording that `path` names.
pub(crate) fn open_one(
    path: &std::path::Path,
    streams: &mut Streams<'_>,
) -> Result<Recording, Failure> {
    match input::open(path, streams.input)? {
        Found::Recording(recording) => Ok(recording),
        Found::Irregular { path, kind } => {
            let message = format!("CM0003 irregular-file: {} is {kind}, not a file", shown(&path));
            Err(Failure::new(Exit::Unrepaired, message))
        }
        Found::TooMany { path, .. } => Err(Failure::new(Exit::Incomplete, shown(&path))),
        Found::Failed(failure) => Err(failure),
    }
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let recording = open_one(&self.path, streams)?;
        let target = self.target(&recording);
        // A name that was asked for is refused before the work; NAME.mended only if it is needed.
        let asked = self.output.is_some() || self.in_place;
        let target = if asked { Ok(target?) } else { target };
        let plan_file = self.plan_file(&recording)?;

        let donor = self.choices.donor(streams)?;
        let donated = donor.as_ref().map(|donor| donor.file_set().bytes(0));
        let files = recording.file_set().with_donor(donated.clone());
        let mut options = Options::default().with_allow(self.safety.into());
        options.format = self.kind;
        options.choices = self.choices.choices()?;
        options.jobs = self.jobs;
        let repair = tracemend::repair(&files, &options);
        let wanted = match repair.outcome {
            Outcome::Clean => self.output.is_some(),
            Outcome::Repaired | Outcome::RepairedWithLoss => true,
            Outcome::CannotRepair | Outcome::Incomplete => self.partial && repair.changes(),
        };
        let plan = match Plan::new(&repair, &files, &options.limits) {
            Ok(plan) => Some(plan),
            Err(error) if plan_file.is_some() || !matches!(error, PlanError::TooLarge { .. }) => {
                return Err(Failure::new(Exit::Incomplete, error.to_string()));
            }
            Err(_) => None,
        };
        let mut salvage = Salvage::new(&self.path, &repair, &files);
        salvage.dry_run = self.dry_run;
        salvage.partial = self.partial;
        let plan_file = plan_file.filter(|_| wanted || repair.outcome == Outcome::Clean);
        let plan_file = match (plan_file, &plan) {
            (Some(mut file), Some(plan)) => {
                let text = plan.to_json().map_err(|e| Failure::new(Exit::Io, e.to_string()))?;
                file.write(&text)?;
                Some(file)
            }
            _ => None,
        };
        if wanted && !self.dry_run {
            let mut target = target?;
            target.link = self.link;
            if let Some(warning) = linked(&recording, self.in_place) {
                streams.say(&warning);
            }
            let output = tracemend::view(&files, &repair.patches);
            target.publish(&recording, &output, |back| {
                let back = back.clone().with_donor(donated.clone());
                proved(plan.as_ref(), &repair, &options, &files, &back)
            })?;
            salvage.written = Some(shown(target.path()));
            if self.in_place && !self.no_backup {
                salvage.original = Some(shown(&target.orig()));
            }
        }
        if let Some(file) = plan_file {
            file.publish()?;
            salvage.plan = self.plan.as_deref().map(shown);
        }
        let text = match self.format {
            Format::Human => salvage.human(streams.look),
            Format::Json => salvage.json(),
        };
        streams.print(&text)?;
        Ok(match repair.outcome {
            Outcome::Clean | Outcome::Repaired => Exit::Clean,
            Outcome::RepairedWithLoss => Exit::Loss,
            Outcome::CannotRepair => Exit::Unrepaired,
            Outcome::Incomplete => Exit::Incomplete,
        })
    }

    /// Where the output goes.
    fn target(&self, recording: &Recording) -> Result<Target, Failure> {
        let replaced = if self.force { Existing::Replaced } else { Existing::Refused };
        if self.in_place {
            if recording.is_stream() {
                return Err(Failure::usage("--in-place needs a file, not standard input"));
            }
            if recording.directory {
                let message = "--in-place is for a recording of one file; use -o for a directory";
                return Err(Failure::usage(message));
            }
            let existing = Existing::Source { backup: !self.no_backup };
            return Target::new(&self.path, &[recording], existing);
        }
        if let Some(path) = &self.output {
            return Target::new(path, &[recording], replaced);
        }
        if recording.is_stream() && !self.dry_run {
            return Err(Failure::usage(
                "standard input has no name to derive one from; use -o OUT",
            ));
        }
        // Without a slash at the end.
        let path: PathBuf = self.path.components().collect();
        Target::new(&beside(&path, ".mended"), &[recording], replaced)
    }

    /// The plan holds recorded bytes: it gets the permissions of the source.
    fn plan_file(&self, recording: &Recording) -> Result<Option<TextFile>, Failure> {
        let Some(path) = &self.plan else { return Ok(None) };
        let mode = recording.files.first().map_or(0o600, |file| file.metadata.mode() & 0o666);
        let inputs = std::slice::from_ref(&self.path);
        TextFile::create(path, inputs, self.force, mode).map(Some)
    }
}

/// What to say about a source that has other names.
fn linked(recording: &Recording, in_place: bool) -> Option<String> {
    let links = recording.files.iter().map(|file| file.metadata.nlink()).max()?;
    (in_place && links > 1).then(|| {
        let path = shown(&recording.path);
        format!("{path} has {links} hard links: the other names keep the unmended recording")
    })
}

/// Compares what was written with source and plan, and checks it again.
fn proved(
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
    if after.counts() != repair.after.counts() {
        let message = "the output was not written: checked again, it has other findings than the \
                       repair promised; the source may have changed";
        return Err(Failure::new(Exit::Io, message));
    }
    Ok(())
}
