//! `tracemend redact`: a recording without its private content, of the same length.

mod batch;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tracemend::json::TOOL;
use tracemend::words::plural;
use tracemend::{
    FileSet, FormatId, Options, Plan, RedactError, RedactRequest, Redaction, Repair, Rule,
    Sighting, proof,
};

use crate::args::limiting::Limiting;
use crate::commands::check::parse_format;
use crate::commands::formats::{Format, pretty};
use crate::files::access::Readers;
use crate::files::output::{Existing, Target, TextFile, beside_source, list_others};
use crate::files::paths::{name_beside, shown};
use crate::files::places::Places;
use crate::files::recording::Recording;
use crate::files::sandbox::Reach;
use crate::files::single::open_arrived;
use crate::files::streams::Streams;
use crate::files::walk;
use crate::kit::command::quote;
use crate::kit::exit::{Exit, Failure, HELP};

/// Version of the layout of `redact --format json`.
const REDACT_SCHEMA: &str = "tracemend.redact.v1";

const ABOUT: &str = "\
Replaces the private content that `audit` finds by fillers of the same length: names by \
pseudonyms (equal names by equal ones), memory, packets, keys and positions by zeros, sources by \
spaces. Addresses of perf recordings move with their maps, so that symbols and stacks stay. Bytes \
whose meaning is not known are private, too. The source stays as it is. The output has the same \
records and no more errors, is checked and audited again, and gets its name only after it was \
read back and compared. Content without a valid filler is listed as left. Compressed records of \
perf are replaced by the records in them, so that such an output is longer. It is a help for a \
review, not a proof that nothing else is there.";

const EXAMPLES: &str = "\
Examples:
  tracemend redact perf.data                     writes perf.data.redacted
  tracemend redact perf.data -o public.data --keep file-path
  tracemend redact perf.data -o moved.data --only address
  tracemend redact boot.log --only network-packet --only key-stroke -o public.log
  tracemend redact perf.data --dry-run --format json
  tracemend redact traces/ --out-dir public/     every recording, one report

KIND is a name or a code that `audit` reports about private content, such as host-name or AU1001, \
or unclaimed-bytes. `address` stands for kernel-address as well.

Bytes that damage covers can be a part of anything: they are replaced by one byte again and again. \
With --keep damage, or --only another kind, they stay and are named as left.

Exits with 0 if nothing that was selected is left; with 3 if damaged bytes were replaced as well; \
with 1 if the output was written, but private content that has no filler is left in it (--keep \
KIND accepts that, except for damage); with 4, without an output, if no record can be read, or the \
recording would be worse.";

/// Replace the private content of a recording by fillers of the same length
#[derive(Debug, clap::Args)]
#[command(before_help = ABOUT, after_help = format!("{EXAMPLES}\n\n{HELP}"))]
pub(crate) struct Arguments {
    /// A file, a directory that is one recording, or `-` for standard input; with --out-dir or
    /// --dry-run also several, and directories with recordings in them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Write the redacted recording to OUT
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Write every redacted recording below DIR, under its path in the directory that was named;
    /// one report about all of them
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,
    /// Replace this kind of content only (repeatable)
    #[arg(long, value_name = "KIND", value_parser = RedactRequest::kind)]
    only: Vec<&'static Rule>,
    /// Leave this kind of content as it is (repeatable)
    #[arg(long, value_name = "KIND", value_parser = RedactRequest::kind)]
    keep: Vec<&'static Rule>,
    /// Show what would be replaced; write nothing
    #[arg(long, conflicts_with = "undo_plan")]
    dry_run: bool,
    /// Also write a plan that undoes the redaction: it HOLDS THE PRIVATE BYTES; for `apply
    /// --reverse`
    #[arg(long, value_name = "FILE")]
    undo_plan: Option<PathBuf>,
    /// Replace an existing output or plan
    #[arg(long)]
    force: bool,
    /// Format of the report: human or json (schema/redact.schema.json; of several recordings
    /// schema/redactions.schema.json)
    #[arg(long, value_enum, default_value_t = Format::Human, hide_possible_values = true)]
    format: Format,
    #[command(flatten)]
    reading: Reading,
}

/// How the recording is read.
#[derive(Debug, clap::Args)]
struct Reading {
    /// Read the file as this format (see `tracemend formats`)
    #[arg(id = "type", long = "type", value_name = "NAME", value_parser = parse_format)]
    kind: Option<FormatId>,
    #[command(flatten)]
    limiting: Limiting,
}

impl Arguments {
    pub(crate) fn run(&self, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        streams.confine(|| self.reach())?;
        match self.paths.as_slice() {
            [path] if self.out_dir.is_none() && !(self.dry_run && walk::is_walked(path)) => {
                self.run_one(path, streams)
            }
            _ => batch::run(self, streams),
        }
    }

    fn run_one(&self, path: &Path, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
        let limiting = &self.reading.limiting;
        let recording = open_arrived(path, &limiting.options(), limiting.is_unwrapping(), streams)?;
        let mut places = Places::new(streams);
        places.read("the source", &recording)?;
        let target = self.target(&recording, &mut places)?;
        let plan_file = self.plan_file(&mut places)?;
        let done = self.redact(&recording, || Ok(target), plan_file)?;
        if let Some(plan) = &self.undo_plan {
            streams.warn(&format!("{} holds the private bytes: do not share it", shown(plan)));
        }
        match self.format {
            Format::Human => streams.print(&self.human(&done))?,
            Format::Json => streams.print(&pretty(&self.json(&done)))?,
        }
        Ok(exit_of(&done.redaction))
    }

    /// Redacts a recording, and writes and proves the output, if there is a target.
    fn redact(
        &self,
        recording: &Recording,
        target: impl FnOnce() -> Result<Option<Target>, Failure>,
        plan_file: Option<TextFile>,
    ) -> Result<Done, Failure> {
        refuse_others(recording)?;
        let mut options = self.reading.limiting.options();
        options.format = self.reading.kind;
        let request =
            self.only.iter().fold(RedactRequest::default(), |all, kind| all.with_only(kind));
        let request = self.keep.iter().fold(request, |all, kind| all.with_kept(kind));
        let files = recording.file_set();
        let redaction = tracemend::redact(&files, &options, &request);
        recording.was_readable()?;
        let redaction = redaction.map_err(|error| refuse(recording, &error))?;
        options.format = redaction.repair.before.format;
        let target = target()?;
        let redacted = Redacted { redaction: &redaction, files: &files, options: &options };
        let is_there = match &target {
            Some(target) => redacted.write(recording, target, plan_file)?,
            None => false,
        };
        let written = target.as_ref().map(|target| shown(target.path()));
        Ok(Done { path: recording.path.clone(), redaction, written, is_there })
    }

    /// The files that a redaction needs.
    fn reach(&self) -> Reach {
        let reach = Reach::default().read_all(&self.paths).write_all(&self.undo_plan);
        if self.dry_run {
            return reach;
        }
        match (&self.output, &self.out_dir) {
            (Some(output), _) => reach.write(output),
            (None, Some(folder)) => reach.write_below(folder),
            (None, None) => {
                let names = self.paths.iter();
                let outputs = names.filter_map(|path| name_beside(path, ".redacted").ok());
                reach.write_all(&outputs.collect::<Vec<PathBuf>>())
            }
        }
    }

    /// Where the output goes; nowhere in a dry run.
    fn target(
        &self,
        recording: &Recording,
        places: &mut Places,
    ) -> Result<Option<Target>, Failure> {
        if self.dry_run {
            return Ok(None);
        }
        let path = match &self.output {
            Some(path) => path.clone(),
            None => beside_source(recording, ".redacted")?,
        };
        places.write("the output", &path)?;
        Target::new(&path, recording, self.existing()).map(Some)
    }

    const fn existing(&self) -> Existing {
        if self.force { Existing::Replaced } else { Existing::Kept }
    }

    /// The plan holds what the source holds: only its owner reads it.
    fn plan_file(&self, places: &mut Places) -> Result<Option<TextFile>, Failure> {
        let Some(path) = &self.undo_plan else { return Ok(None) };
        places.write("the plan", path)?;
        TextFile::create(path, self.force, Readers::OWNER).map(Some)
    }

    fn human(&self, done: &Done) -> String {
        let Done { path, redaction, written, .. } = done;
        let mut text = match written {
            Some(path) if done.is_there => {
                format!("{path}: already there, the same, {}\n", describe_result(redaction))
            }
            Some(path) => format!("{path}: written, {}\n", describe_result(redaction)),
            None => {
                format!("{}: dry run, {}\n", shown(path), describe_result(redaction))
            }
        };
        for (kind, places) in by_kind(&redaction.redacted) {
            text += &format!("  redacted: {} {}: {places}\n", kind.code, kind.name);
        }
        for (kind, places) in by_kind(&redaction.left) {
            let reason = redaction.left.iter().find(|one| one.rule == kind).map(Sighting::reason);
            text += &format!(
                "  not redacted: {} {}: {places}; {}\n",
                kind.code,
                kind.name,
                reason.unwrap_or_default()
            );
        }
        if redaction.shared_names > 0 {
            let names = plural(redaction.shared_names, "name");
            text += &format!("  {names} too short for a number share a pseudonym of `_` alone\n");
        }
        text
    }

    fn json(&self, done: &Done) -> Value {
        let Done { path, redaction, written, .. } = done;
        let entry = |one: &Sighting| {
            json!({
                "code": one.rule.code, "name": one.rule.name, "field": one.field,
                "noun": one.noun, "count": one.count,
            })
        };
        let left = redaction.left.iter().map(|one| {
            let mut entry = entry(one);
            if let Some(members) = entry.as_object_mut() {
                members.insert("reason".to_string(), one.reason().into());
            }
            entry
        });
        json!({
            "schema": REDACT_SCHEMA,
            "tool": TOOL,
            "path": shown(path),
            "format": redaction.repair.before.format.map(FormatId::name),
            "dry_run": self.dry_run,
            "output": written,
            "undo_plan": self.undo_plan.as_deref().map(shown),
            "redacted": redaction.redacted.iter().map(entry).collect::<Vec<_>>(),
            "left": left.collect::<Vec<_>>(),
            "shared_names": redaction.shared_names,
        })
    }
}

/// A recording that was redacted.
struct Done {
    path: PathBuf,
    redaction: Redaction,
    /// The output; `None` in a dry run.
    written: Option<String>,
    /// Whether an earlier run has written it.
    is_there: bool,
}

/// The exit code of a redaction.
fn exit_of(redaction: &Redaction) -> Exit {
    match redaction.left.is_empty() {
        false => Exit::Findings,
        true if redaction.has_blanked_damage() => Exit::Loss,
        true => Exit::Clean,
    }
}

/// The failure of a recording that cannot be redacted.
fn refuse(recording: &Recording, error: &RedactError) -> Failure {
    let exit = match error {
        RedactError::Limit(_) => Exit::Incomplete,
        _ => Exit::Unrepaired,
    };
    let failure = Failure::new(exit, format!("{}: {error}", shown(&recording.path)));
    match error {
        RedactError::Unreadable | RedactError::Harm(_) => {
            let path = quote(&recording.path);
            failure.and(format!("repair it first: tracemend repair {path}"))
        }
        _ => failure,
    }
    .and("nothing was written")
}

/// The places of each kind, in one line.
fn by_kind(sightings: &[Sighting]) -> Vec<(&'static Rule, String)> {
    let mut kinds: Vec<(&'static Rule, String)> = Vec::new();
    for one in sightings {
        let place = format!("{} in {}", plural(one.count, one.noun), one.field);
        match kinds.last_mut().filter(|(rule, _)| *rule == one.rule) {
            Some((_, places)) => *places += &format!(", {place}"),
            None => kinds.push((one.rule, place)),
        }
    }
    kinds
}

fn describe_result(redaction: &Redaction) -> &'static str {
    match (redaction.repair.changes(), redaction.left.is_empty()) {
        (false, true) => "nothing private was found",
        (true, true) => "no private content that was selected is left",
        (_, false) => "private content without a filler is left",
    }
}

/// Fails if the directory has files that are not part of the recording: they would be copied.
fn refuse_others(recording: &Recording) -> Result<(), Failure> {
    if !recording.directory {
        return Ok(());
    }
    let Some(other) = list_others(recording)?.into_iter().next() else { return Ok(()) };
    let path = shown(&recording.path.join(other));
    let message = format!(
        "{path} is not part of the recording, and may be private: move it away; nothing was written"
    );
    Err(Failure::new(Exit::Unrepaired, message))
}

/// A redaction that is written.
struct Redacted<'r> {
    redaction: &'r Redaction,
    files: &'r FileSet<'r>,
    options: &'r Options,
}

impl Redacted<'_> {
    /// Writes the output and proves it, then publishes the plan, if there is one, and the output.
    /// Returns whether it was there already.
    fn write(
        &self,
        recording: &Recording,
        target: &Target,
        plan_file: Option<TextFile>,
    ) -> Result<bool, Failure> {
        let output = self.redaction.repair.output(self.files);
        let prepared = target.prepare(recording, &output, |back| {
            prove(&self.redaction.repair, self.files, back, self.options)
        })?;
        if let Some(mut file) = plan_file {
            let plan = Plan::new(&self.redaction.repair, self.files, &self.options.limits)
                .map_err(|error| Failure::new(Exit::Incomplete, error.to_string()))?;
            let plan = Plan { private: true, ..plan };
            let text = plan.to_json().map_err(|error| Failure::new(Exit::Io, error.to_string()))?;
            file.write(&text)?;
            file.publish().map_err(|failure| failure.and("no output was written"))?;
        }
        prepared.give_name()
    }
}

/// Compares an output, read back, with the source and the edits, and checks it again.
pub(crate) fn prove(
    repair: &Repair,
    files: &FileSet<'_>,
    back: &FileSet<'_>,
    options: &Options,
) -> Result<(), Failure> {
    proof::prove_patches(&repair.patches, files, back).map_err(|error| {
        Failure::new(Exit::Io, format!("the output was not written as planned: {error}"))
    })?;
    if tracemend::check(back, options).counts() == repair.after.counts() {
        return Ok(());
    }
    let message = "the output was not written: a second check gives other findings; the source may \
                   have changed";
    Err(Failure::new(Exit::Io, message))
}
