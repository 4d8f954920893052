//! `tracemend repair PATH... --out-dir DIR`: every recording below the paths, with one report.
//!
//! Recordings are repaired, proven and written on any thread; the report has the order of the input
//! and does not depend on the number of threads.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tracemend::json::TOOL;
use tracemend::words::plural;
use tracemend::{Outcome, Source};

use super::{Arguments, Job, exit_of};
use crate::exit::{Exit, Failure};
use crate::format_options::FormatOptions;
use crate::formats::Format;
use crate::input::{Found, Recording, is_stdin, shown};
use crate::look::{Look, wrap};
use crate::ordered::in_order;
use crate::output::{Existing, Target, parent};
use crate::places::Places;
use crate::progress::{Progress, sum_bytes};
use crate::single::open_one;
use crate::skipped::{SkipReason, Skipped};
use crate::streams::Streams;
use crate::summary::list_skipped;
use crate::walk::{self, Step, Steps, Walk};

/// Version of the layout of the report as JSON.
const REPAIRS_SCHEMA: &str = "tracemend.repairs.v1";
/// Outputs that are written at a time: each needs a slot of the handler that removes unfinished
/// ones.
const OUTPUTS_MAX: usize = 8;

/// A recording, and where its output goes below the folder of outputs.
struct Task {
    step: Step,
    name: PathBuf,
}

/// What became of a task.
enum Done {
    Nothing,
    Repaired(Box<Repaired>),
    Found(Found),
}

/// The report of one repair.
struct Repaired {
    outcome: Outcome,
    length: u64,
    /// For the format that was asked for.
    text: String,
    warning: Option<String>,
}

/// What every thread needs.
struct Batch<'a> {
    arguments: &'a Arguments,
    given: FormatOptions,
    donor: Option<Recording>,
    look: Look,
}

/// All repairs of a run.
#[derive(Default)]
struct Sums {
    skipped: Skipped,
    outcomes: [u64; 5],
    exit: Option<Exit>,
    /// Whether a repair was written to the report.
    began: bool,
}

/// Outcomes as they are counted, with their words in JSON and for people.
const OUTCOMES: [(Outcome, &str, &str); 5] = [
    (Outcome::Clean, "clean", "clean"),
    (Outcome::Repaired, "repaired", "repaired without loss"),
    (Outcome::RepairedWithLoss, "repaired-with-loss", "repaired with loss"),
    (Outcome::CannotRepair, "cannot-repair", "not repaired"),
    (Outcome::Incomplete, "incomplete", "not checked to the end"),
];

/// Repairs everything that the paths lead to.
pub(super) fn run(
    arguments: &Arguments,
    given: FormatOptions,
    jobs: Option<NonZeroUsize>,
    streams: &mut Streams<'_>,
) -> Result<Exit, Failure> {
    check_arguments(arguments)?;
    let mut places = Places::new(streams);
    for path in &arguments.paths {
        places.walk(path)?;
    }
    let donor = given.donor.as_deref().map(|path| open_one(path, streams)).transpose()?;
    let bytes = if streams.look.progress { sum_bytes(&arguments.paths) } else { None };
    let progress = Progress::new(streams.look, "repairing".to_string(), bytes);
    let batch = Batch { arguments, given, donor, look: streams.look };
    let jobs = jobs.map_or(1, NonZeroUsize::get).min(OUTPUTS_MAX);
    let jobs = NonZeroUsize::new(jobs).unwrap_or(NonZeroUsize::MIN);
    let mut sums = Sums::default();
    let work = |task, threads| batch.work(task, threads);
    in_order(jobs, tasks(arguments), work, |done| {
        sums.add(done, arguments.format, &progress, streams)
    })?;
    progress.suspend(|| streams.print(&sums.close(arguments.format, batch.look)))?;
    Ok(sums.exit.unwrap_or(Exit::Clean))
}

fn check_arguments(arguments: &Arguments) -> Result<(), Failure> {
    let single = [
        (arguments.output.is_some(), "-o"),
        (arguments.in_place, "--in-place"),
        (arguments.plan.is_some(), "--plan"),
    ];
    if let Some((_, option)) = single.into_iter().find(|(given, _)| *given) {
        let message = format!("{option} applies to one recording; use --out-dir for several");
        return Err(Failure::usage(message));
    }
    if arguments.paths.iter().any(|path| is_stdin(path)) {
        return Err(Failure::usage("standard input has no name; repair it alone, with -o OUT"));
    }
    let Some(folder) = &arguments.out_dir else {
        return match arguments.dry_run {
            true => Ok(()),
            false => Err(Failure::usage("several recordings need --out-dir DIR, or --dry-run")),
        };
    };
    // The walk must not meet what the run writes.
    let full = |path: &Path| fs::canonicalize(path).ok();
    let around = folder
        .ancestors()
        .find_map(|one| full(if one == Path::new("") { Path::new(".") } else { one }));
    for path in &arguments.paths {
        let is_inside = match (&around, full(path)) {
            (Some(folder), Some(path)) => path.is_dir() && folder.starts_with(path),
            _ => false,
        };
        if is_inside {
            let (folder, path) = (shown(folder), shown(path));
            let message = format!("{folder}, the folder of outputs, lies inside {path}");
            return Err(Failure::usage(message));
        }
    }
    Ok(())
}

/// Everything that the paths lead to, each with its name below the folder of outputs.
fn tasks(arguments: &Arguments) -> impl Iterator<Item = Task> + Send {
    let mut names = BTreeSet::new();
    let steps = arguments.paths.iter().flat_map(|path| -> Box<dyn Iterator<Item = Task> + Send> {
        if !walk::is_walked(path) {
            let name = path.file_name().map_or_else(|| PathBuf::from("recording"), PathBuf::from);
            return Box::new(std::iter::once(Task { step: Step::Named(path.clone()), name }));
        }
        let root = path.clone();
        Box::new(Steps::of(path, walk::WALK_MAX).map(move |step| {
            let below = |path: &Path| path.strip_prefix(&root).unwrap_or(path).to_path_buf();
            let name = match &step {
                Step::Named(path) | Step::Directory(path) | Step::File(path) => below(path),
                Step::Found(_) => PathBuf::new(),
            };
            Task { step, name }
        }))
    });
    steps.map(move |Task { step, name }| match step {
        Step::Named(path) | Step::Directory(path) | Step::File(path)
            if !names.insert(name.clone()) =>
        {
            let message = format!(
                "{}: another recording is written to {} in the folder of outputs",
                shown(&path),
                shown(&name)
            );
            let failure = Failure::new(Exit::Io, message);
            Task { step: Step::Found(Found::Failed { path, failure }), name }
        }
        step => Task { step, name },
    })
}

impl Batch<'_> {
    fn work(&self, task: Task, threads: NonZeroUsize) -> Done {
        let every = self.arguments.kind.is_some();
        match task.step.open(&Walk { exclude: &[], every }) {
            None => Done::Nothing,
            Some(Found::Recording(recording)) => {
                match self.repair(&recording, &task.name, threads) {
                    Ok(repaired) => Done::Repaired(Box::new(repaired)),
                    Err(failure) => {
                        // What exists already is not a usage error of the whole run.
                        let exit = failure.exit.max(Exit::Io);
                        let failure = Failure { exit, ..failure };
                        Done::Found(Found::Failed { path: recording.path, failure })
                    }
                }
            }
            Some(found) => Done::Found(found),
        }
    }

    fn repair(
        &self,
        recording: &Recording,
        name: &Path,
        threads: NonZeroUsize,
    ) -> Result<Repaired, Failure> {
        let arguments = self.arguments;
        let donated: Option<Source<'_>> = self.donor.as_ref().map(|one| one.file_set().bytes(0));
        let files = recording.file_set().with_donor(donated.clone());
        let mut options = arguments.options(&files, &self.given);
        options.jobs = Some(threads);
        let applies = options.format.map(|format| self.given.check_format(format));
        let warning = applies.and_then(Result::err).map(|failure| failure.message);
        let length = files.len();
        let job = Job { recording, files, donated, options, given: self.given.clone() };
        let target = || {
            let folder = arguments.out_dir.as_deref().unwrap_or(Path::new("."));
            let path = folder.join(name);
            let failed = |error| Failure::io(shown(&path), &error);
            fs::create_dir_all(parent(&path)).map_err(failed)?;
            let existing = if arguments.force { Existing::Replaced } else { Existing::Refused };
            let is_linked = arguments.link && recording.directory;
            Ok(Target::new(&path, recording, existing)?.linking(is_linked))
        };
        let (text, outcome) = arguments.repair(&job, target, None, |salvage| {
            match (arguments.format, salvage.repair.outcome) {
                (Format::Human, Outcome::Clean) => Ok(String::new()),
                (Format::Human, _) => Ok(salvage.human(self.look) + "\n"),
                (Format::Json, _) => salvage.json_text(),
            }
        })?;
        Ok(Repaired { outcome, length, text: text?, warning })
    }
}

impl Sums {
    fn add(
        &mut self,
        done: Done,
        format: Format,
        progress: &Progress,
        streams: &mut Streams<'_>,
    ) -> Result<(), Failure> {
        match done {
            Done::Nothing => Ok(()),
            Done::Repaired(repaired) => {
                let Repaired { outcome, length, text, warning } = *repaired;
                let index = OUTCOMES.iter().position(|(one, ..)| *one == outcome);
                if let Some(count) = index.and_then(|index| self.outcomes.get_mut(index)) {
                    *count += 1;
                }
                self.exit = self.exit.max(Some(exit_of(outcome)));
                let text = match format {
                    Format::Human => text,
                    Format::Json => self.begin() + &text,
                };
                progress.suspend(|| {
                    if let Some(warning) = warning {
                        streams.warn(&warning);
                    }
                    streams.print(&text)
                })?;
                progress.advance(length);
                Ok(())
            }
            Done::Found(found) => {
                self.add_found(found, progress, streams);
                Ok(())
            }
        }
    }

    fn add_found(&mut self, found: Found, progress: &Progress, streams: &mut Streams<'_>) {
        let (path, failure) = match found {
            Found::Recording(_) => return,
            Found::Skipped { path, reason } => return self.skipped.add(reason, &path),
            Found::Failed { path, failure } => (path, failure),
            Found::Irregular { path, kind } => {
                let message = format!("{} is {kind}, not a file", shown(&path));
                (path, Failure::new(Exit::Unrepaired, message))
            }
            Found::TooMany { path, max } => {
                let message = format!("{}: more than {}", shown(&path), plural(max, "entry"));
                (path, Failure::new(Exit::Incomplete, message))
            }
        };
        progress.suspend(|| streams.warn(&failure.message));
        self.skipped.add_unread(&path, &failure);
        self.exit = self.exit.max(Some(failure.exit));
    }

    /// The text before the next repair of a document.
    fn begin(&mut self) -> String {
        let head = format!(
            "{{\n\"schema\": \"{REPAIRS_SCHEMA}\",\n\"tool\": \"{TOOL}\",\n\"repairs\": [\n"
        );
        if std::mem::replace(&mut self.began, true) { ",\n".to_string() } else { head }
    }

    fn close(&mut self, format: Format, look: Look) -> String {
        match format {
            Format::Human => self.describe(look),
            Format::Json => {
                let head = if self.began { String::new() } else { self.begin() };
                head + &self.closing()
            }
        }
    }

    fn describe(&self, look: Look) -> String {
        let sum = self.outcomes.iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let counts = OUTCOMES.iter().zip(self.outcomes).filter(|(_, count)| *count > 0);
        let counts: Vec<String> =
            counts.map(|((.., words), count)| format!("{count} {words}")).collect();
        let counts =
            if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
        let text = format!("{}{counts}", plural(sum, "recording"));
        wrap(&text, look.width, "", 2) + &list_skipped(&self.skipped, look)
    }

    fn closing(&self) -> String {
        let mut skipped: Vec<Value> = Vec::new();
        for reason in SkipReason::ALL {
            let paths = self.skipped.of(reason).1.iter();
            skipped.extend(paths.map(|path| json!({ "path": path, "reason": reason.word() })));
        }
        let errors = self.skipped.unread().1.iter();
        let errors: Vec<Value> =
            errors.map(|(path, message)| json!({ "path": path, "message": message })).collect();
        let counts = OUTCOMES.iter().zip(self.outcomes);
        let totals: serde_json::Map<String, Value> =
            counts.map(|((_, word, _), count)| ((*word).to_string(), json!(count))).collect();
        format!(
            "\n],\n\"skipped\": {},\n\"errors\": {},\n\"totals\": {}\n}}\n",
            json!(skipped),
            json!(errors),
            Value::Object(totals)
        )
    }
}
